"""The programs that this one has started, and how they are ended with it."""

from __future__ import annotations

import os
import time

from ..platform import SIGKILL, SIGTERM

# How long children get to end by themselves when we end.
GRACE_SECONDS = 1.0

# In which times of processes are counted; nothing is known of processes where there is none.
_TICK_SECONDS = 1 / os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 0.01
_NEVER = float("inf")


def stop_children(since: float = 0.0, grace: float = GRACE_SECONDS) -> None:
    """End the programs that this one started and that would outlive it, after *grace* by force.

    Those with a session of their own were meant to. Those from before *since*, on the monotonic
    clock, belong to the caller of a tool inside of a process: to its tests, say.
    """
    asked: dict[int, float] = {}
    deadline = time.monotonic() + grace
    while True:
        note_children(since)  # each time: one that does not end may start others
        alive = {child: birth for child, birth in _noted.items() if _is_alive(child, birth)}
        for child in alive.keys() - asked.keys():
            _send(child, SIGTERM)
        asked = alive
        if not alive or time.monotonic() >= deadline:
            break
        time.sleep(0.01)
    _noted.clear()
    for child in alive:
        _send(child, SIGKILL)


# The children that are to be ended, with when they began: a number may be used again.
_noted: dict[int, float] = {}


def note_children(since: float) -> None:
    """Remember the programs that this one has started, for `stop_children`.

    When an interrupt has ended some of them, nobody knows any more what those had started.
    """
    if not hasattr(os, "getsid"):
        return
    own = os.getsid(0)
    born = _uptime() - (time.monotonic() - since)
    for child in _children(os.getpid()):
        birth = _birth(child)
        if _session(child) == own and born - _TICK_SECONDS <= birth < _NEVER:
            _noted[child] = birth


def _children(process: int) -> list[int]:
    """Return the descendants of *process*, the nearest first; none where that cannot be known."""
    found: list[int] = []
    try:
        for task in os.listdir(f"/proc/{process}/task"):
            with open(f"/proc/{process}/task/{task}/children", encoding="ascii") as listing:
                found += map(int, listing.read().split())
    except OSError:  # another system, or it has just ended
        pass
    return found + [below for child in found for below in _children(child)]


def _uptime() -> float:
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


def _birth(process: int) -> float:
    """Return when a process began, in seconds since the system did; ``inf`` unless it runs."""
    try:
        with open(f"/proc/{process}/stat", "rb") as file:
            # The name, in parentheses, may hold anything.
            facts = file.read().rpartition(b")")[2].split()
        return int(facts[19]) * _TICK_SECONDS if facts[0] not in b"ZX" else _NEVER
    except (OSError, ValueError, IndexError):  # it is gone, or this system does not say
        return _NEVER


def _session(process: int) -> int:
    try:
        return os.getsid(process)
    except OSError:  # it has ended
        return -1


def _send(process: int, number: int) -> None:
    try:
        os.kill(process, number)
    except OSError:  # as above
        pass


def _is_alive(process: int, birth: float) -> bool:
    """Return whether the process that began at *birth* still runs; one of ours is waited for."""
    try:
        if os.waitpid(process, os.WNOHANG)[0] == process:
            return False
    except ChildProcessError:  # a child's child, or somebody has waited for it
        pass
    return _birth(process) == birth
