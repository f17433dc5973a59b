"""How a process ends otherwise than Python has settled on: as the last of all it does.

Not earlier, since Python takes everything apart first, and so writes out files that nobody has
closed. Nor by a `SystemExit` out of ``sys.excepthook``: while Python acts on that, it keeps the
exception, and with it the files of the frames that were left.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # signal itself loads enum first
import os
import sys

from ...process.process_guard import real_hard_exit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class _Key:
    """A key that is not a string, and that `dir()` sorts after every string."""

    def __lt__(self, other: object) -> bool:
        return False

    def __gt__(self, other: object) -> bool:
        return True


_KEY = _Key()


def end_with(code: int) -> None:
    """Have the process exit with *code*, or end by a signal if it is that, negative."""
    # What is ours, and so all of the program, is not to be kept by `sys` until then.
    sys.excepthook = sys.__excepthook__
    # Python clears string keys before its last garbage collection, and other keys after it.
    names: dict[Any, Any] = vars(sys)
    names[_KEY] = _LastAct(code)


class _LastAct:
    """What Python deletes at last, with `sys` itself; what it needs then are its defaults."""

    def __init__(self, code: int) -> None:
        self.code, self.pid = code, os.getpid()

    def __del__(
        self,
        streams: tuple[Any, ...] = (sys.__stdout__, sys.__stderr__),
        pid: Callable[[], int] = os.getpid,
        leave: Callable[[int], Any] = real_hard_exit,
        kill: Callable[[int, int], None] = os.kill,
        handle: Callable[[int, Any], Any] = _signal.signal,
        default: Any = _signal.SIG_DFL,
        errors: Any = (AttributeError, TypeError, ValueError, OSError),
    ) -> None:
        if pid() != self.pid:  # a fork of the program, which ends in its own way
            return
        for stream in streams:
            try:
                stream.flush()
            except errors:  # absent, closed or full
                pass
        if self.code >= 0:
            leave(self.code)
        try:
            handle(-self.code, default)
        except errors:  # Python has seen to that
            pass
        kill(self.pid, -self.code)
