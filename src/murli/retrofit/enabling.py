"""In the process of a Python tool: the app that begins is enabled, or the program itself."""

from __future__ import annotations

import os
import sys

from ..adapters import _commands as commands
from ..adapters import enable
from ..core import Settings, mentions_secret, version_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..call import Invocation
    from ..call.host import Host
    from ..errors import AgentError

# How much of a script is read to see what it imports.
_MOST_READ = 1 << 14


def take(app: Any, options: dict[str, str], program: EarlyProgram | None) -> None:
    """Enable *app*, which is about to begin; *program* had the process until now."""
    if program is not None:
        leave()
    chosen = _settings(options)
    sidecar = None
    if "sidecar" in options:
        from .annotating import annotate

        sidecar = annotate(app, options["sidecar"])
    if sidecar is not None:
        chosen = {"exit_codes": sidecar.exit_codes(), **sidecar.timeout(), **chosen}
    # As if the program itself had called it, whose version is not ours.
    function: Any = type(take)
    function(_enable.__code__, {"__name__": "__main__"})(enable, app, chosen)
    if sidecar is not None:
        sidecar.redirect(app)


def _enable(enable: Any, app: Any, chosen: dict[str, Any]) -> None:
    enable(app, **chosen)


def own(options: dict[str, str]) -> EarlyProgram:
    """Have the rest of the program answered for, as long as no app of it begins."""
    chosen = {**(enable.__kwdefaults__ or {}), **_settings(options), "exit_codes": {}}
    # Nothing is known of its words yet: none is ours, and none names what it does.
    chosen |= {"guard": "declared", "mount": False, "is_program": True, "commands": commands}
    made = EarlyProgram(Settings(**chosen))
    made.begin()
    return made


def leave() -> None:
    """Leave the process as it was before `own`; what was printed by then goes to stderr."""
    from ..call.ending.succession import release_program

    release_program()


class EarlyProgram:
    """A program of which nothing is known yet: its words are its own."""

    def __init__(self, settings: Settings) -> None:
        self.murli_settings = settings

    def begin(self) -> None:
        """Make the rest of the process the handler."""
        from ..call import Invocation
        from ..call.ending import adopt_program
        from ..formats import take_bursts_as_one

        take_bursts_as_one(begin=True)
        try:
            invocation = Invocation(self, self.murli_settings, []).begin()
        finally:
            take_bursts_as_one(begin=False)
        words = sys.argv[1:]
        if mentions_secret("\0".join((*words, ""))):
            from ..line.option_words import hide_unknown

            hide_unknown(words, set(), invocation)
        adopt_program(invocation)
        invocation.admit(None)

    # -- what the runtime asks --------------------------------------------------------------------

    def name(self) -> str:
        """Return the name people type to call the program."""
        return self.host().name()

    def version(self) -> str:
        """Return no version: that of the script is among the settings."""
        return ""

    @property
    def app(self) -> EarlyProgram:
        """What was enabled."""
        return self

    def translated(self, error: BaseException) -> BaseException:
        """Return *error*: no framework is known that it could be of."""
        return error

    def known_exit(
        self, invocation: Invocation, ending: SystemExit, status: int
    ) -> AgentError | None:
        """Return what an exit means by the conventions of programs, ``None`` where there is none.

        docopt and fire have exits of their own for words that do not fit.
        """
        from .supervising import known_failure, usage_failure

        text = ending.code if isinstance(ending.code, str) else ""
        if not text and invocation.capture is not None:
            for part in invocation.capture.errors:
                text += part if isinstance(part, str) else part.decode(errors="replace")
        name = os.path.basename(sys.argv[0])
        if type(ending).__name__ in ("DocoptExit", "FireExit"):
            return usage_failure(text, status, name)
        return known_failure(status, text, name)

    def host(self) -> Host:
        """Return what answers whatever else the runtime asks about the tool."""
        from ..adapters.program import Program

        made = Program({}, "", "__main__")
        made.murli_settings = self.murli_settings
        return made


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
