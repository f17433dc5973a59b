"""The folder in which a tool is checked: an empty home, a working folder, and traps.

Changes to files are noticed here.
"""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
from collections.abc import Mapping
from pathlib import Path

# Variables that name a program a tool might start for a person.
_TRAPPED = ("PAGER", "GIT_PAGER", "MANPAGER", "EDITOR", "VISUAL", "BROWSER")
# Variables that change what a tool prints.
_DROPPED = ("NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE")
# Of our own variables the tool sees only the one that chooses the contract.
_OURS, _KEPT = "MURLI_", "MURLI_CONTRACT"
# How many files and folders are compared.
_MOST_SEEN = 20_000
#: the variable that identifies processes which a tool has left behind
_MARK = "MURLI_CHECK_SCRATCH"


class Scratch:
    """A folder with ``home``, ``work`` and ``tmp`` in it, removed when it is closed.

    *bytecode* is where Python keeps compiled files, ``""`` for a folder of its own.
    """

    def __init__(self, *, keep_home: bool = False, bytecode: str = "") -> None:
        self.root = tempfile.mkdtemp(prefix="murli-check-")
        self.work = self._made("work")
        self._home = "" if keep_home else self._made("home")
        self._tmp = self._made("tmp")
        self._marks = self._made("traps")
        self.bytecode = bytecode or os.path.join(self._marks, "bytecode")
        self._trap = os.path.join(self._marks, "trap")
        Path(self._trap).write_text('#!/bin/sh\n: > "$0.sprung"\n', "utf-8")
        os.chmod(self._trap, 0o755)

    def __enter__(self) -> Scratch:
        return self

    def __exit__(self, *error: object) -> None:
        """Remove the folder, and kill the processes that were left behind in it."""
        _end_strays(f"{_MARK}={self.root}".encode())
        _remove(self.root)

    def environment(self, given: Mapping[str, str], tool: tuple[str, ...]) -> dict[str, str]:
        """Return the environment of the tool, updated with *given*."""
        env = {
            name: value
            for name, value in os.environ.items()
            if name not in _DROPPED and (name == _KEPT or not name.startswith(_OURS))
        }
        env[_MARK] = self.root
        env.update(dict.fromkeys(_TRAPPED, self._trap))
        env.update(TERM="xterm-256color", TMPDIR=self._tmp)
        # Nothing is written beside a tool's sources, and they are compiled only once.
        if "PYTHONPYCACHEPREFIX" in env:
            env["PYTHONDONTWRITEBYTECODE"] = "1"
        else:
            env.pop("PYTHONDONTWRITEBYTECODE", None)
            env["PYTHONPYCACHEPREFIX"] = self.bytecode
        if self._home:
            for name in [name for name in env if name.startswith("XDG_")]:
                del env[name]
            # Programs that were installed for one user are found through the real home.
            for name, place in (("PYTHONUSERBASE", ".local"), ("PYENV_ROOT", ".pyenv")):
                env.setdefault(name, os.path.join(os.path.expanduser("~"), place))
            env["HOME"] = self._home
        if "-m" in tool:  # a module in the current folder is found from there
            env["PYTHONPATH"] = os.pathsep.join(filter(None, (os.getcwd(), env.get("PYTHONPATH"))))
        env.update(given)
        return env

    def write(self, name: str, text: str) -> None:
        """Create a file in the folder where the tool runs."""
        path = os.path.realpath(os.path.join(self.work, name))
        if not path.startswith(os.path.realpath(self.work) + os.sep):
            raise ValueError(f"{name} is outside of the folder where the tool runs")
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            Path(path).write_text(text, "utf-8")
        except OSError as error:
            raise ValueError(f"{name} cannot be written there: {error.strerror}") from None

    def snapshot(self) -> dict[str, tuple[int, int, int]]:
        """Return every file and folder, with size, time and mode.

        Only the first ones, if there are very many or the paths are too long.
        """
        found: dict[str, tuple[int, int, int]] = {}
        waiting = [self.root]
        while waiting and len(found) < _MOST_SEEN:  # not by recursion: the depth is unknown
            for entry in _entries(waiting.pop()):
                try:
                    facts = entry.stat(follow_symlinks=False)
                    is_folder = entry.is_dir(follow_symlinks=False)
                except OSError:  # gone meanwhile
                    continue
                if is_folder and entry.path != self._marks:
                    waiting.append(entry.path)
                # The time of a folder changes only with its files, which are listed themselves.
                when = 0 if is_folder else facts.st_mtime_ns
                size = 0 if is_folder else facts.st_size
                found[entry.path[len(self.root) + 1 :]] = (size, when, facts.st_mode)
        return found

    def take_sprung(self) -> bool:
        """Return whether a pager, an editor or a browser was started since the last call."""
        try:
            os.unlink(f"{self._trap}.sprung")
        except OSError:
            return False
        return True

    def _made(self, name: str) -> str:
        path = os.path.join(self.root, name)
        os.mkdir(path)
        return path


def _entries(folder: str) -> list[os.DirEntry[str]]:
    """Return the entries of *folder*; none if it is gone or its path is too long."""
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []


def _remove(root: str) -> None:
    """Remove *root* and everything in it, at any depth and with any permissions."""
    # Paths may be longer than the system accepts, and deeper than Python can recurse. So folders
    # within the folders of the root are moved up into the root until there are none.
    count = 0
    while folders := [each.path for each in _entries(root) if each.is_dir(follow_symlinks=False)]:
        for folder in folders:
            os.chmod(folder, 0o700)
            for entry in _entries(folder):
                if entry.is_dir(follow_symlinks=False):
                    count += 1
                    os.chmod(entry.path, 0o700)  # a folder without write permission cannot be moved
                    os.rename(entry.path, os.path.join(root, f"{_MARK}-{count}"))
                else:
                    os.unlink(entry.path)
            os.rmdir(folder)
    for entry in _entries(root):
        os.unlink(entry.path)
    os.rmdir(root)


def _end_strays(mark: bytes) -> None:
    """Kill the processes that have *mark* in their environment: those that left their group."""
    for number in filter(str.isdecimal, os.listdir("/proc") if os.path.isdir("/proc") else ()):
        try:
            if mark in Path(f"/proc/{number}/environ").read_bytes().split(b"\0"):
                os.kill(int(number), signal.SIGKILL)
        except OSError:  # it has ended, or belongs to another user
            continue


def absolute(tool: tuple[str, ...]) -> tuple[str, ...]:
    """Return *tool* with absolute paths, so that it can be run from any folder."""
    found = list(tool)
    for at, word in enumerate(tool):
        beside = at > 0 or os.sep in word
        is_module = at > 0 and tool[at - 1] == "-m"
        is_there = os.path.exists(word) if os.sep in word else os.path.isfile(word)
        if beside and is_there and not is_module and not word.startswith("-"):
            found[at] = os.path.abspath(word)
    if found[0] == tool[0] and os.sep not in tool[0]:
        found[0] = shutil.which(tool[0]) or tool[0]
    return tuple(found)
