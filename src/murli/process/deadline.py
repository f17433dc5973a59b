"""A deadline that holds: also for a handler that blocks, or that swallows exceptions.

At the deadline the main thread is interrupted by a real signal, so that a system call it waits in
returns, its ``finally`` blocks run and the answer is given in the ordinary way. What has not ended
a moment later is ended here, with the same answer.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # signal itself loads enum first
import atexit
import os
import sys
import time
from _thread import allocate_lock, get_ident

from ..core import CONCLUDING
from ..errors import AgentError
from ..formats import LONGEST_SECONDS, defer_signals, is_deferred
from ..platform import interrupt
from .process_guard import (
    handler_has_ended,
    note_interruption,
    program_has_ended,
    start_undisturbed,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

    from ..call import Invocation
    from .watchdog import Watchdog

# What a handler gets to clean up when it is interrupted.
GRACE_SECONDS = 1.5
# What Python gets to notice that the time is up, and then that the grace is over, before it is held
# to be stuck; and what it gets for ending the process.
STUCK_SECONDS = 1.0
NOTICING_SECONDS = 0.4
ENDING_SECONDS = 6.0
# A time that is only assumed is guarded from here on: most calls are over by then.
ASSUMED_SECONDS = 1.0
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


class Expired(KeyboardInterrupt):
    """The time is up. Like Ctrl-C, because whatever must stop for that must stop for this."""


def seconds_in(text: str) -> float | None:
    """Return the seconds that ``30``, ``1.5s``, ``500ms``, ``2m`` or ``1h`` mean, else ``None``.

    What is longer than `LONGEST_SECONDS` means that.
    """
    number = text.strip().rstrip("smh")
    factor = _UNITS.get(text.strip()[len(number) :] or "s")
    if factor is None or not number.replace(".", "", 1).isdecimal():
        return None
    return min(float(number) * factor, LONGEST_SECONDS)


def allow(invocation: Invocation, seconds: float, *, assumed: bool = False) -> None:
    """Let the call take this long, counted from its start; 0 for as long as it likes.

    A time that is only *assumed* is the handler's: reading the answer takes its own.
    """
    if seconds > 0:  # NaN is no time either
        is_process = sys.stdout is sys.__stdout__
        invocation.deadline = Deadline(
            invocation, seconds, may_end_process=is_process, assumed=assumed
        )


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
        self.seconds = min(seconds, LONGEST_SECONDS)
        self._assumed = assumed
        self._due = False
        self._invocation = invocation
        self._may_end_process = may_end_process
        self._main = get_ident()
        self._over = allocate_lock()
        self._over.acquire()
        self._stopped = False
        self._sending = allocate_lock()
        self._arming = allocate_lock()
        self._begun = allocate_lock()
        self._begun.acquire()
        self._before: object = None
        self._answering = False
        self._watchdog: Watchdog | None = None
        self._pid = os.getpid()
        try:
            self._before = _signal.signal(_signal.SIGALRM, self._interrupt)
        except (ValueError, AttributeError):  # not in the main thread, or not on this system
            self._main = 0
        invocation.deadline = self  # should it be over before anybody could say so
        start_undisturbed(self._watch)

    def arm(self) -> None:
        """Have the process ended from outside should Python be stuck when the time is up.

        Called again when what would be reported then has changed.
        """
        if self._may_end_process and not self._assumed and self._invocation.state < CONCLUDING:
            if self._invocation.writer._reply.answered:
                # Before what the program has registered for its end so far.
                atexit.unregister(self._end_behind_answer)
                atexit.register(self._end_behind_answer)
            self._arm(self.seconds - self._elapsed() + STUCK_SECONDS)

    def _end_behind_answer(self) -> None:
        """Stop, where the program has come to its end: what that takes is not the call's time."""
        if os.getpid() == self._pid:
            self.stop()

    def disarm(self) -> None:
        """Leave the end of the process to Python."""
        if self._watchdog is not None:
            self._undisturbed(self._watchdog.disarm)

    def abandon(self) -> None:
        """Leave everything, in a fork of the program, to the program itself."""
        if self._watchdog is not None:
            self._watchdog.abandon()

    def see_off(self, code: int) -> None:
        """Have the process, which has been interrupted and has answered, end with *code* soon."""
        watchdog = self._watchdog
        if watchdog is not None:
            self._undisturbed(lambda: watchdog.arm(GRACE_SECONDS + NOTICING_SECONDS, [], code))

    def _arm(self, seconds: float) -> None:
        self._undisturbed(lambda: self._arm_again(seconds))

    def _arm_again(self, seconds: float) -> None:
        # Loads what it needs before there is no time.
        forced_end = self._invocation.process.forced_end
        if self._stopped:
            return
        try:
            from .watchdog import Watchdog

            self._watchdog = self._watchdog or Watchdog()
        except (ImportError, OSError):  # a system, or a Python, without what it needs
            return
        elapsed = self._elapsed() + seconds
        stages, code = forced_end.last_words(self.failure(elapsed), elapsed)
        self._watchdog.arm(max(seconds, 0.0), stages, code)

    def _undisturbed(self, step: Callable[[], None]) -> None:
        """Do *step* as a whole: a timer that nobody remembers could not be stopped."""
        resume = defer_signals()
        try:
            with self._arming:
                step()
        finally:
            resume()

    def _elapsed(self) -> float:
        return time.monotonic() - self._invocation.writer._reply.started

    def let_answer(self) -> None:
        """Interrupt no more: the handler is done, and its answer is being made."""
        self._answering = True
        self._meet()

    def stop(self) -> None:
        """Let the invocation take the time it needs."""
        self._meet()
        with self._sending:
            if self._stopped:
                return
            self._stopped = True
            self._over.release()
        atexit.unregister(self._end_behind_answer)
        self.disarm()
        if self._due:
            time.sleep(0)  # behind a system call, what was sent has arrived
        if self._main and _signal.getsignal(_signal.SIGALRM) == self._interrupt:
            _signal.signal(_signal.SIGALRM, self._before or _signal.SIG_DFL)

    def _meet(self) -> None:
        """Wait until the watch has begun: should Python end just then, it may crash (3.10)."""
        if os.getpid() == self._pid and self._begun.acquire(timeout=1.0):
            self._begun.release()

    def failure(self, elapsed: float | None = None) -> AgentError:
        """Return the failure of a call that took too long, *elapsed* seconds or until now."""
        from ..failures.repeating import may_be_repeated, promises_retry

        invocation, shown = self._invocation, f"{self.seconds:g} s"
        elapsed = self._elapsed() if elapsed is None else elapsed
        running = invocation.writer._reply.phase == "execution"
        advice = "It may have changed something: look at the state before you try again."
        fix = ""
        recoverable: bool | None = False
        if may_be_repeated(invocation) or promises_retry(invocation.metadata, "timeout"):
            advice = f"Try again with a longer --timeout than {self.seconds:g}."
            fix = f"Pass a larger --timeout than {self.seconds:g}."
            recoverable = None if running else True
        if running and invocation.contract.retry_means_unchanged:
            from ..declare.exit_codes import entry_of

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
        elif not (self._stopped or self._answering or self._is_met) and os.getpid() == self._pid:
            if is_deferred(number, frame):
                return
            if handler_has_ended(self._invocation):
                note_interruption(Expired())
            elif not program_has_ended(frame):
                raise note_interruption(Expired())
            elif self._invocation.writer._reply.answered:
                self.stop()
            else:
                note_interruption(Expired())

    @property
    def _is_met(self) -> bool:
        """Whether nobody has set the limit, and the answer is on its way."""
        return self._assumed and self._invocation.writer._reply.answered

    def _watch(self) -> None:
        self._begun.release()
        if self._assumed:
            if self._over.acquire(timeout=min(ASSUMED_SECONDS, self.seconds)):
                return
            self._arm(self.seconds - self._elapsed() + STUCK_SECONDS)
        if self._over.acquire(timeout=max(self.seconds - self._elapsed(), 0)):
            return
        forced_end = self._invocation.process.forced_end
        if self._watchdog is not None:
            self._arm(GRACE_SECONDS + NOTICING_SECONDS)
        from .children import note_children

        note_children(self._invocation.writer._reply.started)
        with self._sending:
            if self._stopped:
                return
            self._due = True
            if self._main:
                interrupt(self._main, _signal.SIGALRM)
        if self._over.acquire(timeout=GRACE_SECONDS) or not self._may_end_process:
            return
        if self._is_met:
            self.disarm()
            return
        if self._watchdog is not None:
            self._arm(ENDING_SECONDS)
        forced_end.end(self.failure)
