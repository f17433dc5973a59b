"""How far a tool of the soak has come, told on a descriptor of its own.

Letters in their order: ``s`` the program has started, ``p`` it is about to parse, ``h`` the handler
runs, ``d`` it is done or ``e`` it was ended by an exception, ``x`` the interpreter ends, and behind
that the descriptors that are open.
Who was killed before ``h`` was killed before murli could do anything about it.
"""

from __future__ import annotations

import atexit
import os
import time

DESCRIPTOR = 200
# The standard ones, and our own.
_EXPECTED = 4

_pid = os.getpid()


def mark(letter: str) -> None:
    """Record that a point has been reached."""
    try:
        os.write(DESCRIPTOR, letter.encode())
    except OSError:  # called by hand, without anybody to tell
        pass


def start() -> None:
    """Begin to tell; call it before murli is loaded, so that its end comes after murli's."""
    try:
        os.set_inheritable(DESCRIPTOR, False)
    except OSError:  # as above
        return
    mark("s")
    atexit.register(_tell_end)


def _tell_end() -> None:
    if os.getpid() != _pid:
        return
    try:
        found = _open_files()
        if len(found) > _EXPECTED:  # what a thread is just looking at is not left open
            time.sleep(0.05)
            found &= _open_files()
    except OSError:  # there is no descriptor left to look with
        return
    mark(f"x{','.join(number for number, _ in sorted(found))};")


def _open_files() -> set[tuple[str, str]]:
    """Return the number and the file of each descriptor, but for the one that lists them."""
    found = set()
    for number in os.listdir("/proc/self/fd"):
        try:
            found.add((number, os.readlink(f"/proc/self/fd/{number}")))
        except OSError:  # closed meanwhile
            pass
    return found
