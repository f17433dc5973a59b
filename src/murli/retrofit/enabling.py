"""In the process of a Python tool: the app that begins is enabled, or the program itself."""

from __future__ import annotations

import os
import sys

from ..adapters import enable
from ..adapters.program import Program
from ..core import mentions_secret, version_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..call import Invocation

# How much of a script is read to see what it imports.
_MOST_READ = 1 << 14


def take(app: Any, options: dict[str, str], program: Program | None) -> None:
    """Enable *app*, which is about to begin; *program* had the process until now."""
    if program is not None:
        leave(program)
    chosen = _settings(options)
    if "sidecar" in options:
        from .annotating import annotate

        chosen |= annotate(app, options["sidecar"])
    enable(app, **chosen)


def own(options: dict[str, str]) -> Program:
    """Have the rest of the program answered for, as long as no app of it begins."""
    made = EarlyProgram({}, "", "__main__")
    enable(made, **{**_settings(options), "guard": "declared", "mount": False})
    made.__enter__()
    return made


def leave(program: Program) -> None:
    """Leave the process as it was before `own`; what was printed by then goes to stderr."""
    from ..call.ending.succession import release_program

    release_program()


class EarlyProgram(Program):
    """A program of which nothing is known yet: its words are its own."""

    def _words(self) -> list[str]:
        return []

    def _take_ours_away(self, invocation: Invocation) -> None:
        words = sys.argv[1:]
        if mentions_secret("\0".join((*words, ""))):
            from ..line.option_words import hide_unknown

            hide_unknown(words, set(), invocation)


def _settings(options: dict[str, str]) -> dict[str, Any]:
    """Return the options of `enable`."""
    chosen: dict[str, Any] = {"guard": options["guard"]}
    if "contract" in options:
        chosen["contract"] = options["contract"]
    if "timeout" in options:
        chosen["timeout"] = float(options["timeout"])
    version = _version()
    return {**chosen, "tool_version": version} if version else chosen


def _version() -> str:
    """Return the version of the package whose script runs, or ``""``."""
    main: Any = sys.modules["__main__"]
    spec = getattr(main, "__spec__", None)
    if spec is not None:
        return version_of(spec.name)
    try:
        with open(main.__file__, encoding="utf-8") as script:
            lines = script.read(_MOST_READ).splitlines()
    except (AttributeError, OSError, ValueError):
        return ""
    for line in lines:
        words = line.split()
        if words[:1] == ["from"] and words[2:3] == ["import"]:  # as installers write it
            return version_of(words[1]) or _version_by_script(os.path.basename(main.__file__))
    return ""


def _version_by_script(name: str) -> str:
    """Return the version of the distribution that has installed a script of that *name*."""
    for folder in sys.path:
        try:
            entries = os.listdir(folder)
        except OSError:
            continue
        for entry in entries:
            if not entry.endswith(".dist-info"):
                continue
            try:
                with open(
                    os.path.join(folder, entry, "entry_points.txt"), encoding="utf-8"
                ) as file:
                    scripts = [line.partition("=")[0].strip() for line in file]
            except (OSError, ValueError):
                continue
            if name in scripts:
                return entry[: -len(".dist-info")].partition("-")[2]
    return ""
