"""The end of a forked call without taking the program apart, where that would change nothing.

At its end Python clears every module, which for a fork means to copy most of what it shares with
the process it came from: a large part of what a call costs. By then threads have ended, exit
functions have run and the standard streams are flushed; what is left to happen are the finalizers
of what the call has made. Where there are none, the process ends at once.
"""

from __future__ import annotations

import gc
import os
import sys
from itertools import islice
from types import AsyncGeneratorType, CoroutineType, GeneratorType

from ..core import OVER
from ..process.process_guard import real_hard_exit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Container
    from typing import Any, NoReturn

    from ..call import Invocation

# The first attributes that Python clears are some of `sys`; programs have no use for this one.
_FIRST_CLEARED = "__interactivehook__"
# Suspended ones may have something left to do; what their types have besides is not looked at.
_SUSPENDABLE = (GeneratorType, CoroutineType, AsyncGeneratorType)
# What a fork may load that the process it comes from has not: nothing of the tool's own, which may
# do anything when it is loaded.
_SHARED = frozenset(
    (*sys.stdlib_module_names, "murli", "click", "typer", "cyclopts", "rich", "orjson", "pydantic")
)


def arrange(invocation: Invocation, descriptor: int, known: Container[str]) -> None:
    """Have the process of *invocation*, a fork that has just begun, end quickly.

    The names of the modules that it has loaded go to *descriptor*, a pipe, first, and the path of
    its command behind a space, its words apart by NUL, unless that is *known*.
    """
    setattr(sys, _FIRST_CLEARED, _End(invocation, descriptor, known))


class _End:
    """What Python deletes first when it begins to take the program apart."""

    def __init__(self, invocation: Invocation, descriptor: int, known: Container[str]) -> None:
        self._invocation = invocation
        self._descriptor = descriptor
        self._known = known
        # Only counted: to take note of their names would copy the pages that those are on.
        self._loaded = len(sys.modules)
        self._process = os.getpid()
        # With what the program, which may go on behind its answer, has wanted to end.
        self._wanted = _noted_exits()

    def __del__(self, leave: Callable[[int], Any] = real_hard_exit) -> None:
        if os.getpid() != self._process:
            return
        new = islice(reversed(sys.modules), max(len(sys.modules) - self._loaded, 0))
        learnt = [name for name in new if name.partition(".")[0] in _SHARED]
        path = " " + "\0".join(self._invocation.running.path)
        if path not in self._known:
            learnt.append(path)
        if learnt:
            try:
                os.write(self._descriptor, "".join(f"{each}\n" for each in learnt).encode())
            except OSError:  # full: another call will report them
                pass
        code = self._invocation.writer._reply.exit_code
        ends = self._invocation.state == OVER and all(
            each in (None, 0, code) for each in self._wanted
        )
        if ends and not _finalizers():
            leave(code)


def _noted_exits() -> list[Any]:
    """Return a list of what `sys.exit` will be called with in this process."""
    noted: list[Any] = []
    own = sys.exit

    def exit(status: Any = None, /) -> NoReturn:
        noted.append(status)
        own(status)

    sys.exit = exit
    return noted


def _finalizers() -> bool:
    """Return whether anything that was made since the fork has something left to do."""
    made = gc.get_objects()  # what was there before is frozen
    kinds = {kind for kind in set(map(type, made)) if hasattr(kind, "__del__")}
    return any(type(each) in kinds and _is_unfinished(each) for each in made)


def _is_unfinished(value: Any) -> bool:
    if isinstance(value, _SUSPENDABLE):
        frame = getattr(value, "gi_frame", None) or getattr(value, "cr_frame", None)
        return frame is not None or getattr(value, "ag_frame", None) is not None
    try:
        is_file = callable(value.writable)
    except AttributeError:
        return type(value) is not _End
    try:
        return is_file and not value.closed and value.writable() and value.fileno() > 2
    except (ValueError, OSError):
        return False
