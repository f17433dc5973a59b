"""What must be undone, however a call ends.

The functions given to `on_cleanup` run when the invocation ends and before it is answered: after a
return, an exception, ``SystemExit``, a signal or a deadline, also one that ends the process under
a handler that does not let go. Each runs once, the last one first. One that fails is reported in a
warning, and keeps neither the others nor the answer from their course.

Outside of an invocation they run at interpreter exit. A program that replaces itself (``os.exec*``)
keeps what it made: the other one may be there for it.
"""

from __future__ import annotations

import os
import sys
from _thread import RLock, allocate_lock, start_new_thread

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType
    from typing import Any, TypeVar

    from ..answer import Writer

    F = TypeVar("F", bound=Callable[..., object])


def on_cleanup(function: F, *args: Any) -> F:
    """Call ``function(*args)`` when the running call ends, whatever ends it.

    Gives *function* back, so that ``@murli.on_cleanup`` may stand above one without arguments.
    """
    if not callable(function):
        raise TypeError(f"on_cleanup() takes a function to call, not {function!r}")
    current_cleanups().add(function, *args)
    return function


class Due:
    """A function that is to be called at the end; equal to nothing but itself."""

    __slots__ = ("function", "args")

    def __init__(self, function: Callable[..., object], args: tuple[Any, ...]) -> None:
        self.function = function
        self.args = args

    @property
    def name(self) -> str:
        """What to call it in a warning."""
        return str(getattr(self.function, "__qualname__", type(self.function).__name__))


class Cleanups:
    """What is due at the end of one invocation; without a *writer*, at the end of the process."""

    # Whether one of them is being called, which a signal may interrupt.
    is_calling = False

    def __init__(self, writer: Writer | None = None) -> None:
        self._writer = writer
        self._pid = os.getpid()
        self._due: list[Due] = []
        self._unhook: Callable[[], None] | None = None

    def add(self, function: Callable[..., object], *args: Any) -> Due:
        """Have ``function(*args)`` called; return what `drop` takes."""
        due = Due(function, args)
        self._due.append(due)
        return due

    def drop(self, due: Due) -> None:
        """Take back what `add` gave, if it has not been called."""
        try:
            self._due.remove(due)
        except ValueError:
            pass

    def run(self, error: BaseException | None = None) -> None:
        """Call all that is due, once; never raises. *error* is what ended the handler."""
        if os.getpid() != self._pid:
            return  # a fork of the program, which itself cleans up
        release_signals = self._hold_signals(error)
        while True:
            try:
                while (due := self._next()) is not None:
                    self._call(due)
                break
            except KeyboardInterrupt:  # just between two of them
                continue
        release_signals()
        if self._unhook is not None:
            self._unhook()

    def run_within(self, seconds: float) -> None:
        """Call all that is due, and wait no longer than this for it.

        For who ends the process under a handler that hangs, and must not hang with it.
        """
        done = allocate_lock()
        done.acquire()

        def work() -> None:
            self.run()
            done.release()

        start_new_thread(work, ())
        done.acquire(timeout=seconds)

    def hook_signals(self) -> None:
        """Let SIGTERM and SIGHUP end the program only after this, where they would end it at once.

        They do so for people: for agents the runtime unwinds the program, and ends the call.
        """
        import _signal  # type: ignore[import-not-found]  # signal itself loads enum first

        def end(number: int, frame: FrameType | None) -> None:
            self.run()
            _signal.signal(number, _signal.SIG_DFL)
            os.kill(os.getpid(), number)

        taken = []
        try:
            for number in filter(None, (_signal.SIGTERM, getattr(_signal, "SIGHUP", None))):
                if _signal.getsignal(number) == _signal.SIG_DFL:
                    _signal.signal(number, end)
                    taken.append(number)
        except ValueError:  # not in the main thread: signals are somebody else's business
            return

        def undo() -> None:
            try:
                for number in taken:
                    if _signal.getsignal(number) is end:
                        _signal.signal(number, _signal.SIG_DFL)
            except ValueError:  # as above; the process is about to end
                pass

        self._unhook = undo

    def _hold_signals(self, error: BaseException | None) -> Callable[[], None]:
        """Let no second signal cut short what the first one started; a person's Ctrl-C may."""
        interrupted = isinstance(error, KeyboardInterrupt)
        if not interrupted or self._writer is None or self._writer.is_tty():
            return lambda: None
        from ..process.process_guard import hold_signals

        return hold_signals()

    def _next(self) -> Due | None:
        try:
            return self._due.pop()
        except IndexError:
            return None

    def _call(self, due: Due) -> None:
        try:
            self.is_calling = True
            due.function(*due.args)
            self.is_calling = False
        except BaseException as trouble:  # the others must run, and the answer must go out
            self.is_calling = False
            try:
                self._report(due, trouble)
            except Exception:  # there is nobody left to report to
                pass

    def _report(self, due: Due, trouble: BaseException) -> None:
        from ..failures.exceptions import as_agent_error

        message = f"The cleanup {due.name} failed: {as_agent_error(trouble).message}"
        writer = self._writer
        if writer is None:
            from ..answer import get_writer

            writer = get_writer()
        if writer._reply.answered:
            writer.log(f"warning: {message}")  # the answer has no more room for it
        else:
            writer.warn("CLEANUP_FAILED", message, cleanup=due.name)
        writer.flush()


def current_cleanups() -> Cleanups:
    """Return what is due at the end of the running invocation, or of the process."""
    from ..core import current

    invocation = current()
    with _one_at_a_time:
        if invocation is None:
            return _at_exit()
        if invocation.cleanups is None:
            invocation.cleanups = Cleanups(invocation.writer)
            # A test runner keeps its process as it is.
            if sys.stdout is sys.__stdout__:
                invocation.cleanups.hook_signals()
        return invocation.cleanups


# A signal may come while it is held, and what that runs may come here too.
_one_at_a_time = RLock()
_of_process: Cleanups | None = None


def _at_exit() -> Cleanups:
    global _of_process
    if _of_process is None:
        import atexit

        _of_process = Cleanups()
        atexit.register(_of_process.run)
    return _of_process


def adopt() -> None:
    """Let this fork of the program do at its end what the program was to do."""
    if _of_process is not None:
        _of_process._pid = os.getpid()
