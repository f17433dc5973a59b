"""Where a tool runs while it is tested: in a home that is nobody's, and a neutral environment."""

from __future__ import annotations

import os
from collections.abc import Mapping

from ..core import AGENT_VARIABLES

# What would make a tool behave as it does not for everybody, or write where the user keeps things.
_DROPPED = ("MURLI_", "XDG_")
_DROPPED_NAMES = (
    *AGENT_VARIABLES,
    *("NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS", "LINES"),
)

Snapshot = dict[str, tuple[int, int, int]]


def environment(
    home: str, contract: str, *, person: bool, changes: Mapping[str, str | None]
) -> dict[str, str]:
    """Return the environment a tool is tested in; *changes* come last, ``None`` takes one out."""
    env = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(_DROPPED) and name not in _DROPPED_NAMES
    }
    # Programs that were installed for one person are found through the real home.
    for name, place in (("PYTHONUSERBASE", ".local"), ("PYENV_ROOT", ".pyenv")):
        env.setdefault(name, os.path.join(os.path.expanduser("~"), place))
    env["HOME"] = home
    env.update({"TERM": "xterm-256color"} if person else {"MURLI_MODE": "agent"})
    if contract:
        env["MURLI_CONTRACT"] = contract
    for name, value in changes.items():
        env.pop(name, None)
        if value is not None:
            env[name] = value
    return env


def snapshot(home: str, cwd: str | None) -> Snapshot:
    """Return every file below *home* and *cwd*, with what shows that it has changed."""
    found = _below(home, "~/")
    return {**found, **_below(cwd, "")} if cwd is not None else found


def _below(folder: str, prefix: str) -> Snapshot:
    found = {}
    for place, folders, files in os.walk(folder):
        # Python's own notes on modules are no trace of the tool.
        folders[:] = [name for name in folders if name != "__pycache__"]
        for name in (*folders, *files):
            path = os.path.join(place, name)
            try:
                facts = os.lstat(path)
            except OSError:  # gone meanwhile
                continue
            # What a folder says, its files say better.
            own = (facts.st_size, facts.st_mtime_ns) if name in files else (0, 0)
            found[prefix + os.path.relpath(path, folder)] = (*own, facts.st_mode)
    return found


def changed(before: Snapshot, after: Snapshot) -> tuple[str, ...]:
    """Return what was made, changed or removed between the two; of a folder, what is in it."""
    names = sorted(
        name for name in before.keys() | after.keys() if before.get(name) != after.get(name)
    )
    return tuple(
        name for name in names if not any(each.startswith(f"{name}{os.sep}") for each in names)
    )
