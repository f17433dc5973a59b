"""A deadline that holds: also for a handler that blocks, or that swallows what it is told.

At the deadline the main thread is interrupted by a real signal, so that a system call it waits in
returns, its ``finally`` blocks run and the answer is given in the ordinary way. What has not ended
a moment later is ended here, with the same answer.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # signal itself loads enum first
import os
import time
from _thread import allocate_lock, get_ident, start_new_thread

from ..errors import AgentError
from ..formats import DescriptorStream
from ..outcome import Failure
from .custody import note_interruption, real_hard_exit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType
    from typing import NoReturn

    from .invocation import Invocation

# What a handler gets to clean up, and what the answer gets to be written.
GRACE_SECONDS = 2.0
# What cleanups get when the handler does not let go: they may wait for what it holds.
CLEANUP_SECONDS = 1.0
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


class Expired(KeyboardInterrupt):
    """The time is up. Like Ctrl-C, because whatever must stop for that must stop for this."""


def seconds_in(text: str) -> float | None:
    """Give the seconds that ``30``, ``1.5s``, ``500ms``, ``2m`` or ``1h`` mean, else ``None``."""
    number = text.strip().rstrip("smh")
    factor = _UNITS.get(text.strip()[len(number) :] or "s")
    if factor is None or not number.replace(".", "", 1).isdecimal():
        return None
    return float(number) * factor


class Deadline:
    """From its making until `stop`, the invocation has this much time."""

    def __init__(
        self,
        invocation: Invocation,
        seconds: float,
        *,
        may_end_process: bool,
        assumed: bool = False,
    ) -> None:
        self.seconds = seconds
        self._assumed = assumed
        self._due = False
        self._invocation = invocation
        self._may_end_process = may_end_process
        self._main = get_ident()
        self._over = allocate_lock()
        self._over.acquire()
        self._begun = allocate_lock()
        self._begun.acquire()
        self._before: object = None
        self._answering = False
        self._pid = os.getpid()
        try:
            self._before = _signal.signal(_signal.SIGALRM, self._interrupt)
        except (ValueError, AttributeError):  # not in the main thread, or not on this system
            self._main = 0
        invocation.deadline = self  # should it be over before anybody could say so
        _start_undisturbed(self._watch)

    def let_answer(self) -> None:
        """The handler is done: from here on the time is for getting the answer out."""
        self._answering = True
        self._meet()
        if self._assumed:
            self.stop()

    def stop(self) -> None:
        """Let the invocation take the time it needs."""
        if not self._over.locked():
            return
        self._meet()
        self._over.release()
        if self._main and _signal.getsignal(_signal.SIGALRM) == self._interrupt:
            _signal.signal(_signal.SIGALRM, self._before or _signal.SIG_DFL)

    def _meet(self) -> None:
        """Wait until the watch has begun: should Python end just then, it may crash (3.10)."""
        if os.getpid() == self._pid and self._begun.acquire(timeout=1.0):
            self._begun.release()

    def failure(self) -> AgentError:
        """Give the failure of a call that took too long."""
        from .repeating import may_be_repeated, promises_retry

        invocation, shown = self._invocation, f"{self.seconds:g} s"
        elapsed = time.monotonic() - invocation.writer.started
        running = invocation.writer.phase == "execution"
        advice = "It may have changed something: look at the state before you try again."
        fix = ""
        recoverable: bool | None = False
        if may_be_repeated(invocation) or promises_retry(invocation.metadata, "timeout"):
            advice = f"Try again with a longer --timeout than {self.seconds:g}."
            fix = f"Pass a larger --timeout than {self.seconds:g}."
            recoverable = None if running else True
        if running and invocation.in_family:
            # There "retry" promises that nothing was written.
            from ..exit_codes import entry_of

            entry = entry_of(invocation.metadata, "timeout")
            if entry is None or entry.side_effects != "none":
                recoverable = False
        return AgentError.timeout(
            f"The command did not finish within {shown}.",
            advice,
            recoverable=recoverable,
            context={"timeout_ms": round(self.seconds * 1000), "elapsed_ms": int(elapsed * 1000)},
            fix_required=fix,
        )

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        if not self._due and callable(self._before):
            self._before(number, frame)  # an alarm of the tool's own
        elif self._over.locked() and not self._is_for_reader and os.getpid() == self._pid:
            raise note_interruption(Expired())

    @property
    def _is_for_reader(self) -> bool:
        """Whether what takes so long is no longer the handler."""
        return self._answering or (self._assumed and self._invocation.writer.answered)

    def _watch(self) -> None:
        self._begun.release()
        elapsed = time.monotonic() - self._invocation.writer.started
        if self._over.acquire(timeout=max(self.seconds - elapsed, 0)):
            return
        self._due = True
        if self._main:
            _signal.pthread_kill(self._main, _signal.SIGALRM)
        if self._over.acquire(timeout=GRACE_SECONDS) or not self._may_end_process:
            return
        if self._assumed and self._is_for_reader:
            return
        self._end_process()

    def _end_process(self) -> NoReturn:
        """Answer for a handler that does not let go, and end the process under it."""
        invocation = self._invocation
        if invocation.cleanups is not None:
            invocation.cleanups.run_within(CLEANUP_SECONDS)
        from .endings import answer_descriptor

        writer = invocation.writer
        error = self.failure()
        if invocation.steps is not None:
            error.context = {**invocation.steps.context(), **error.context}
        if invocation.in_family:
            from .verdict import weigh

            weigh(invocation, error)
        if self._answering:
            error = AgentError.tool_error(
                f"Nobody read the answer within {self.seconds:g} s.", error_type="output_failed"
            )
        error = writer.complete(error)
        answer = writer.document_of(Failure(error, writer.phase))
        text = f"Error: {error}" if writer.is_tty() else writer.text_of(answer)
        data = f"{text}\n".encode("utf-8", "replace")
        # Half an answer may be on stdout, or nobody may be reading there.
        begun = self._answering or writer.answered
        aside = writer.is_tty() or answer.stream == "stderr" or begun
        ends_stream = writer.is_streaming and not begun
        told = (ends_stream or not aside) and _written(answer_descriptor(invocation), data)
        if aside or not told:
            _written(2, data)
        real_hard_exit(answer.exit_code)


def _start_undisturbed(watch: Callable[[], None]) -> None:
    """Start a thread that receives no signal: one that went there would not wake the main one."""
    mask = getattr(_signal, "pthread_sigmask", None)
    before = mask(_signal.SIG_BLOCK, (1, 2, 15)) if mask is not None else ()
    start_new_thread(watch, ())
    if mask is not None:
        mask(_signal.SIG_SETMASK, before)


def _written(descriptor: int, data: bytes) -> bool:
    """Write *data* unless that blocks; tell whether it is out."""
    done = allocate_lock()
    done.acquire()

    def write() -> None:
        try:
            DescriptorStream(descriptor).write_bytes(data)
        except OSError:  # there is nobody left to tell
            pass
        done.release()

    start_new_thread(write, ())
    return done.acquire(timeout=1.0)
