"""What programs that the handler starts write to stderr: passed on as it comes, and remembered.

The reason of a failure is often a child's. Its stderr is a pipe where it would have been ours: the
child alone has it, so that nothing changes for what this program writes itself. Not where a person
reads stderr at a terminal, and not for a child that was started to stay (in a session of its own).
"""

from __future__ import annotations

import os

from ..formats import identity, put_over
from ..secrets.streams import write_whole
from . import note_error
from .conduit import Conduit
from .heartbeat import begin

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from . import DescriptorCapture

# Among the arguments of fork_exec: the child's stderr, and whether it gets a session.
_STDERR, _SESSION = 11, 15
_real_write = os.write


class ErrorConduit(Conduit):
    """A pipe that children write their stderr to."""

    def place(self, writing: int) -> None:
        """Keep the end that is written to, for children."""
        self._writing = writing

    @property
    def writing(self) -> int:
        """The end that children write to; -1 once the program has closed what is not its own."""
        return self._writing if identity(self._writing) == self._identity else -1

    def abandon(self) -> None:
        """Leave both ends to the program of which this process is a fork."""
        super().abandon()
        self._close_writing()

    def close(self) -> None:
        """End, the call being over; see `Conduit.close`."""
        self._close_writing()
        super().close()

    def _close_writing(self) -> None:
        if self.writing >= 0:
            os.close(self.writing)
        self._writing = -1


def connected(
    capture: DescriptorCapture, function: str, args: tuple[Any, ...], named: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments with which *function* starts a program whose stderr we see."""
    begin()  # others take their time
    if identity(2) == (0, 0, 0) or os.isatty(2):
        return args, named
    if "spawn" in function:
        if not (named.get("setsid") or named.get("setpgroup") is not None):
            writing = _writing_end(capture)
            if writing >= 0:
                actions = [(os.POSIX_SPAWN_DUP2, writing, 2), *(named.get("file_actions") or ())]
                return args, {**named, "file_actions": actions}
    elif len(args) > _SESSION and args[_STDERR] == -1 and not args[_SESSION]:
        writing = _writing_end(capture)
        return (*args[:_STDERR], writing, *args[_STDERR + 1 :]), named
    return args, named


def watched(capture: DescriptorCapture, file: Any) -> Any:
    """Return *file*, which the program has opened; what it writes to stderr there is remembered."""

    def write(beneath: Any, data: Any, /) -> Any:
        note_error(capture.errors, data)
        return beneath(data)

    try:
        if identity(file.fileno()) == identity(2) != (0, 0, 0):
            put_over(getattr(file, "buffer", file), "write", write)
    except (AttributeError, OSError):  # a descriptor, or a file that cannot be watched
        pass
    return file


def _writing_end(capture: DescriptorCapture) -> int:
    """Return what a child may write to, -1 where there is no descriptor to be had."""
    if capture.child_errors is None:
        try:
            capture.child_errors = ErrorConduit(lambda data: _pass_on(capture, data))
            capture.child_errors.start()
        except (OSError, RuntimeError):
            return -1
    return capture.child_errors.writing


def _pass_on(capture: DescriptorCapture, data: bytes) -> None:
    note_error(capture.errors, data)
    try:
        write_whole(_real_write, 2, data)
    except OSError:  # nobody reads it
        pass
