"""The rest of the program as a handler.

A tool that keeps calling its own ``parse_args()`` hands us no function to wrap: its handler is
whatever the program does afterwards. So the end of the process is where we answer: an uncaught
exception through ``sys.excepthook``, everything else at interpreter exit.

There, one fact is hard to come by: the status of a `SystemExit`. Three sources, in order:

* ``sys.exit`` is ours while the invocation runs. It raises a subclass whose ``code`` is asked
  for by the interpreter itself when it ends the program, and by nobody else in that way.
* From Python 3.12 ``sys.monitoring`` tells us what leaves the outermost frame.
* Before that, a frame that did not end in a return was left by a `SystemExit` we did not see
  (``sys.exit(main())`` looks ``sys.exit`` up before ``main`` runs). The process then forks at
  the very end: the child goes on to exit as it would have, the parent waits for its status.
"""

from __future__ import annotations

import atexit
import os
import sys

from .capture import DescriptorCapture, stdout_is_ours
from .invocation import status_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import CodeType, FrameType, TracebackType
    from typing import Any, NoReturn

    from .invocation import Invocation

_MONITOR_IDS = (4, 3)  # the two that sys.monitoring leaves to nobody in particular

_RETURN_VALUE = 83  # in 3.10 and 3.11, the only versions that look; importing opcode is dear

_owner: Ownership | None = None


def may_own(argv: Sequence[str] | None) -> bool:
    """Tell whether the program is ours to the end: a real command line, a real stdout.

    A test that calls ``main([...])``, or that captures ``sys.stdout``, keeps its process.
    """
    if argv is not None and list(argv) != sys.argv[1:]:
        return False
    threading = sys.modules.get("threading")
    if threading is not None and threading.current_thread() is not threading.main_thread():
        return False
    return stdout_is_ours()


def answer_stream() -> Any:
    """Give the stream answers go to when stdout is being collected already, else ``None``."""
    return _owner.capture.stream if _owner and _owner.capture else None


def own(invocation: Invocation) -> None:
    """Treat the rest of the program as the handler of *invocation*."""
    global _owner
    if _owner is None:
        _owner = Ownership(invocation)
    _owner.take(invocation)


class Ownership:
    """What is installed in the process between parsing and its end."""

    def __init__(self, invocation: Invocation) -> None:
        self.pid = os.getpid()
        self.capture: DescriptorCapture | None = None
        self.invocation = invocation
        self.outermost = _outermost(sys._getframe())
        self.status: object = None
        self.ended_by_exit = False
        self.done = False
        self.unwatch: Any = None
        self.real_exit: Any = None
        sys.excepthook, self.previous_hook = self.on_uncaught, sys.excepthook
        atexit.register(self.on_exit)

    def take(self, invocation: Invocation) -> None:
        """Make *invocation* the one that will be answered at the end."""
        self.invocation = invocation
        if invocation.writer.is_tty():
            return
        if self.capture is None:
            self.capture = DescriptorCapture()
            self.watch_for_exit()
        invocation.capture = self.capture
        invocation.writer.send_to(self.capture.stream)

    def watch_for_exit(self) -> None:
        """Arrange that the status of a `SystemExit` will be known."""
        owner = self

        class Exit(SystemExit):
            @property
            def code(self) -> object:  # type: ignore[override]
                status = self.args[0] if self.args else None
                if sys._getframe().f_back is None:  # asked by the interpreter: this is the end
                    owner.note_exit(status)
                    return status_of(status)
                return status

        def exit(status: object = None, /) -> NoReturn:
            raise Exit(status)

        sys.exit, self.real_exit = exit, sys.exit
        monitoring = getattr(sys, "monitoring", None)
        if monitoring is not None:
            self.unwatch = _monitor(monitoring, self.outermost.f_code, self.note_exit)

    def note_exit(self, status: object) -> None:
        """Remember that the program is being ended with *status*."""
        self.status = status
        self.ended_by_exit = True

    def on_uncaught(
        self,
        kind: type[BaseException],
        error: BaseException,
        traceback: TracebackType | None,
    ) -> None:
        """Answer an exception nobody caught, and end with the code that says so."""
        if os.getpid() != self.pid or self.done:
            self.previous_hook(kind, error, traceback)
            return
        # The interpreter honours a SystemExit from its hook.
        raise SystemExit(self.answer(error))

    def on_exit(self) -> None:
        """Answer at interpreter exit, unless an exception was answered already."""
        if os.getpid() != self.pid or self.done:
            return
        if self.capture is not None and not self.ended_by_exit and self.unwatch is None:
            self.learn_status()
            if os.getpid() != self.pid:
                return
        status = status_of(self.status)
        code = self.answer(SystemExit(self.status) if self.ended_by_exit else None)
        if code != status or self.waited:
            # Python has made up its mind about the status by now; ours must win.
            _flush_streams()
            os._exit(code)

    waited = False

    def learn_status(self) -> None:
        """Find out, where nothing else can, whether and with what status the program exits."""
        if self.invocation.writer.answered or _returned(self.outermost):
            return
        _flush_streams()
        child = os.fork()
        if child == 0:
            return
        _, wait_status = os.waitpid(child, 0)
        code = os.waitstatus_to_exitcode(wait_status)
        self.note_exit(code if code >= 0 else 128 - code)
        self.waited = True

    def answer(self, error: BaseException | None) -> int:
        """Finish the invocation and take everything down again; give the exit code."""
        self.done = True
        if self.unwatch is not None:
            self.unwatch()
        if self.real_exit is not None:
            sys.exit = self.real_exit
        code = self.invocation.finish(error)
        self.capture = None
        return code


def _outermost(frame: FrameType) -> FrameType:
    while frame.f_back is not None:
        frame = frame.f_back
    return frame


def _returned(frame: FrameType) -> bool:
    """Tell whether *frame* ended in a return rather than by an exception."""
    return frame.f_code.co_code[frame.f_lasti] == _RETURN_VALUE


def _monitor(monitoring: Any, outermost: CodeType, note: Any) -> Any:
    """Have *note* called with the status of a `SystemExit` that leaves *outermost*."""
    identity = next((free for free in _MONITOR_IDS if monitoring.get_tool(free) is None), None)
    if identity is None:
        return None
    event = monitoring.events.PY_UNWIND

    def on_unwind(code: CodeType, offset: int, error: BaseException) -> None:
        if code is outermost and isinstance(error, SystemExit):
            note(error.code)

    monitoring.use_tool_id(identity, "murli")
    monitoring.register_callback(identity, event, on_unwind)
    monitoring.set_events(identity, event)

    def stop() -> None:
        monitoring.set_events(identity, 0)
        monitoring.register_callback(identity, event, None)
        monitoring.free_tool_id(identity)

    return stop


def _flush_streams() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (AttributeError, ValueError, OSError):  # absent, closed or full
            pass
