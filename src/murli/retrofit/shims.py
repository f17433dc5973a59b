"""Shims: small scripts that run a tool through ``murli run`` under the tool's own name."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

# By this line a script is known to be ours.
_MARK = "# A shim of murli; `murli unwrap {name}` removes it."


def shim_folder() -> str:
    """Return the folder that goes on PATH."""
    base = os.environ.get("XDG_DATA_HOME") or os.path.join(os.path.expanduser("~"), ".local/share")
    return os.environ.get("MURLI_SHIMS") or os.path.join(base, "murli", "shims")


def wrap(name: str, folder: str) -> str:
    """Install a shim for the program that *name* is without it; return the shim.

    `ValueError` for a name that is a path, or that is taken by something else in the folder.
    """
    from ..files import make_folders, replace_with

    if not name or os.sep in name or name.startswith((".", "-")):
        raise ValueError(f"{name!r} is not the name of a program on PATH.")
    path = os.path.join(folder, name)
    if os.path.lexists(path) and not is_shim(path):
        raise ValueError(f"{path} is there already, and no shim.")
    program = beneath(name, folder)
    if not program:
        raise LookupError(f"There is no program {name!r} on PATH.")
    words = [sys.executable, "-c", _START, program]
    text = f'#!/bin/sh\n{_MARK.format(name=name)}\nexec {" ".join(map(_quoted, words))} "$@"\n'
    make_folders(folder)
    replace_with(path, f"{path}.{os.getpid()}", text.encode("utf-8", "surrogateescape"), mode=0o700)
    return path


# How a shim starts murli: never from the folder of the call.
_START = (
    "import sys; '' in sys.path[:1] and sys.path.pop(0); "
    'sys.argv.insert(1, "run"); import murli.__main__ as m; m.main()'
)


def unwrap(name: str, folder: str) -> str:
    """Remove a shim; return where it was. `LookupError` where there is none."""
    path = os.path.join(folder, name)
    if not name or os.sep in name or not is_shim(path):
        raise LookupError(f"There is no shim for {name!r} in {folder}.")
    os.unlink(path)
    return path


def shims(folder: str) -> list[str]:
    """Return the names of the tools that are wrapped."""
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return []
    return [name for name in names if is_shim(os.path.join(folder, name))]


def is_shim(path: str) -> bool:
    """Return whether the file at *path* is a shim of murli."""
    try:
        with open(path, "rb") as file:
            head = file.read(500).decode("utf-8", "replace")
    except OSError:
        return False
    return _MARK.format(name=os.path.basename(path)) in head.splitlines()[1:2]


def beneath(name: str, folder: str) -> str:
    """Return the program that *name* is where the shims are not on PATH, ``""`` for none."""
    for path in _candidates(name):
        same = os.path.exists(folder) and os.path.samefile(os.path.dirname(path), folder)
        if not same and not is_shim(path):
            return os.path.abspath(path)
    return ""


def _candidates(name: str) -> Iterator[str]:
    for place in os.environ.get("PATH", os.defpath).split(os.pathsep):
        path = os.path.join(place or ".", name)
        if os.path.isfile(path) and os.access(path, os.X_OK):
            yield path


def _quoted(word: str) -> str:
    return "'" + word.replace("'", "'\\''") + "'"
