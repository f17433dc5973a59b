"""Interrupts the profile store at every call that touches a file, and looks at what is left.

``profile_faults.py WHAT HOW UMASK FOLDER`` tries each call in turn, on a home of its own, and
prints one JSON document: the calls, and what was lost or left open at which of them.

WHAT is ``save``, ``first`` (a save where there is no folder yet), ``aside`` (reading a corrupt
store) or ``over`` (saving over one). HOW is ``kill``, before and after the call and in the middle
of a write, or the name of the error that the call gives instead.
"""

from __future__ import annotations

import errno
import fcntl  # noqa: F401  # loaded now: later we may not be allowed to read it
import json
import os
import signal
import sys
import time  # noqa: F401  # as above
from collections.abc import Callable
from pathlib import Path
from typing import Any

from murli.profiles.store import Profile, StoreError, StoreFile

CALLS = ["open", "write", "fsync", "replace", "rename", "close"]
CALLS += ["fchmod", "chmod", "mkdir", "unlink"]
CORRUPT = b'{"profiles": {"prod": {"flags": {"token": "s3cret'
NOBODY = 65534
TOOL = "tool"


def become_nobody(folder: Path) -> None:
    """Give up what lets root pass every mode, if one has it and may; keep *folder*."""
    if os.geteuid() != 0:
        return
    try:
        for path in [folder, *folder.rglob("*")]:
            os.chown(path, NOBODY, NOBODY)
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    except OSError:  # in some containers there is nobody else
        pass


def save(name: str) -> None:
    StoreFile(TOOL).update(lambda store: store.set(name, Profile({"region": name})))


def prepare(what: str, home: Path) -> None:
    home.mkdir(0o700)
    home.chmod(0o700)
    os.environ["HOME"] = str(home)
    if what == "first":
        return
    save("old")
    if what in ("aside", "over"):
        (home / f".{TOOL}/profiles.json").write_bytes(CORRUPT)


def act(what: str) -> None:
    if what == "aside":
        StoreFile(TOOL).read()
    else:
        save("new")


class Fault:
    """Lets *how* happen at the call number *point*; counts the calls."""

    def __init__(self, point: int, how: str) -> None:
        self.point = point
        self.how = how
        self.calls: list[str] = []

    def install(self) -> Callable[[], None]:
        real = {name: getattr(os, name) for name in CALLS}
        for name in CALLS:
            setattr(os, name, self._watched(name, real[name]))

        def undo() -> None:
            for name in CALLS:
                setattr(os, name, real[name])

        return undo

    def _watched(self, name: str, real: Any) -> Any:
        def call(*args: Any, **options: Any) -> Any:
            self.calls.append(name)
            due = len(self.calls) == self.point
            if due and self.how == "before":
                os.kill(os.getpid(), signal.SIGKILL)
            if due and self.how.isupper():
                number = getattr(errno, self.how)
                raise OSError(number, os.strerror(number))
            try:
                if due and self.how == "within":
                    real(args[0], args[1][: len(args[1]) // 2])
                    os.kill(os.getpid(), signal.SIGKILL)
                return real(*args, **options)
            finally:
                if due and self.how == "after":
                    os.kill(os.getpid(), signal.SIGKILL)

        return call


def calls_of(what: str, home: Path) -> list[str]:
    """Give every call that an undisturbed run makes."""
    prepare(what, home)
    fault = Fault(0, "")
    undo = fault.install()
    act(what)
    undo()
    return fault.calls


def interrupt(what: str, point: int, how: str) -> int:
    """Run in a process of its own; give how that ended: 0, 10 for a `StoreError`, -9."""
    child = os.fork()
    if child == 0:
        try:
            Fault(point, how).install()
            act(what)
            os._exit(0)
        except StoreError:
            os._exit(10)
        finally:
            os._exit(11)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def modes(home: Path, umask: int) -> list[str]:
    """Give what others could get at, and, under a umask in its senses, what the owner cannot."""
    folder = home / f".{TOOL}"
    wrong = []
    inside = folder.iterdir() if os.access(folder, os.R_OK | os.X_OK) else []
    for path in [folder, *inside] if folder.exists() else []:
        mode = path.stat().st_mode & 0o7777
        wanted = 0o700 if path == folder else 0o600
        if mode & ~wanted or (mode != wanted and not umask & 0o700):
            wrong.append(f"{path.name} has mode {mode:o}")
    return wrong


def contents(home: Path) -> dict[str, bytes]:
    folder = home / f".{TOOL}"
    if not os.access(folder, os.X_OK):  # missing, or shut by the umask
        return {}
    return {path.name: path.read_bytes() for path in folder.iterdir() if os.access(path, os.R_OK)}


def check(what: str, home: Path, umask: int, complete: dict[str, bytes]) -> list[str]:
    """Give what is wrong with what was left, and with a save that comes later."""
    wrong = modes(home, umask)
    left = contents(home)
    kept = [name for name, data in left.items() if data == CORRUPT]
    now = left.get("profiles.json")
    absent = [None] if what != "save" else []
    if now not in [complete["before"], complete["after"], *absent]:
        wrong.append(f"profiles.json is {now!r}")
    if what in ("aside", "over") and len(kept) != 1:
        wrong.append(f"the corrupt file is kept as {kept}")
    save("later")
    wrong += modes(home, 0)
    left = contents(home)
    kept = [name for name, data in left.items() if data == CORRUPT]
    if what in ("aside", "over") and not (len(kept) == 1 and ".corrupt-" in kept[0]):
        wrong.append(f"afterwards the corrupt file is kept as {kept}")
    names = set(json.loads(left["profiles.json"])["profiles"])
    wanted = {"later"} | ({"old"} if what == "save" else set())
    if not wanted <= names <= wanted | {"new"}:
        wrong.append(f"afterwards the profiles are {sorted(names)}")
    if "profiles.json.new" in left:
        wrong.append("profiles.json.new is left over")
    return wrong


def before_and_after(what: str, home: Path) -> dict[str, bytes]:
    """Give the two texts that ``profiles.json`` may have at any moment."""
    prepare(what, home)
    before = contents(home).get("profiles.json", b"")
    act(what)
    return {"before": before, "after": contents(home).get("profiles.json", b"")}


def ways(how: str, name: str) -> tuple[str, ...]:
    if how != "kill":
        return (how,)
    return ("before", "within", "after") if name == "write" else ("before", "after")


def main(what: str, how: str, umask: int, folder: Path) -> dict[str, Any]:
    become_nobody(folder)
    os.umask(umask)
    complete = before_and_after(what, folder / "complete")
    calls = calls_of(what, folder / "counted")
    lost = []
    for point, name in enumerate(calls, 1):
        for each in ways(how, name):
            home = folder / f"{point}-{each}"
            prepare(what, home)
            ending = interrupt(what, point, each)
            wrong = []
            if how != "kill":
                # A mode that may not be changed stops nothing; everything else is told.
                if ending not in ((0,) if "chmod" in name else (0, 10)):
                    wrong.append(f"it ended with {ending}")
                if (home / f".{TOOL}/profiles.json.new").exists():
                    wrong.append("profiles.json.new was not removed")
            elif ending != -signal.SIGKILL:
                wrong.append(f"it was not killed but ended with {ending}")
            wrong += check(what, home, umask, complete)
            lost += [f"{each} {name} ({point}): {problem}" for problem in wrong]
    return {"calls": calls, "lost": lost, "uid": os.geteuid()}


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], sys.argv[2], int(sys.argv[3], 8), Path(sys.argv[4]))))
