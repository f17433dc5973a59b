"""Progress bars of libraries as the progress events of the running call.

What a library draws is progress for a reader without a screen, too: `Reporter` writes it as
`Writer.write_progress` does, each bar at most four times a second, and always its first and its
last state. Bars that go to a terminal, or to a file of the tool's own, are none of its business.
"""

from __future__ import annotations

import os
from _thread import allocate_lock
from time import monotonic

from ..answer.event_lines import write_progress
from ..core import CONCLUDING
from ..formats.text import clean_line
from ..outcome import ProgressEvent
from ..process.process_guard import replace, start_undisturbed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..call import Invocation

# The time between two events of a bar: a share of the time since the first one, within limits. An
# agent reads them all, and of a long call needs no more of them than of a short one.
_LEAST_SECONDS, _MOST_SECONDS, _SHARE = 0.25, 10.0, 40
# How many bars may use that time to the full; more of them take turns.
_BARS = 4
# How many first and last states are written at once, before they too have to wait for their turn.
_MOST_ENDS = 200
_LONGEST_TEXT = 200
# How long to wait for others who write; a bar may come to its end in the middle of anything.
_TURN_SECONDS = 1.0


class Reporter:
    """Writes the states of all bars of one library, as long as its call has no answer.

    Bars that are open are looked at by a thread, so that what counts for them costs nothing. There
    is none while the program forks: see `pause`.
    """

    def __init__(self, invocation: Invocation) -> None:
        self._invocation = invocation
        self._began = self._due = 0.0
        self._ends = 0
        self._is_over = False
        self._open: dict[Bar, None] = {}
        # Ends the thread, and is free when that has ended; both are changed under the guard.
        self._stop: Any = None
        self._gone: Any = None
        self._guard = allocate_lock()

    # -- looking ---------------------------------------------------------------------------

    def watch(self, bar: Bar) -> None:
        """Report *bar* now and then."""
        if self._is_writing():
            self._open[bar] = None
            self._invocation.process.reporters |= {self}
            self.resume()

    def forget(self, bar: Bar) -> None:
        """Look at *bar* no more."""
        self._open.pop(bar, None)

    def resume(self) -> None:
        """Have a thread look at the bars that are open."""
        if not self._guard.acquire(timeout=_TURN_SECONDS):
            return
        try:
            if self._open and self._stop is None:
                stop, gone = allocate_lock(), allocate_lock()
                stop.acquire()
                gone.acquire()
                start_undisturbed(self._look, stop, gone)
                self._stop, self._gone = stop, gone
        except RuntimeError:  # no thread to be had
            pass
        finally:
            self._guard.release()

    def pause(self) -> None:
        """Leave no thread behind, until `resume`: Python warns of a fork while there is one."""
        stop, self._stop = self._stop, None
        if stop is not None:
            stop.release()
            self._gone.acquire(timeout=_TURN_SECONDS)

    def _look(self, stop: Any, gone: Any) -> None:
        """Report the bars that are open, until there are none, or *stop* is free."""
        try:
            while not stop.acquire(timeout=_LEAST_SECONDS):
                for bar in list(self._open):
                    bar.report()
                with self._guard:
                    if not (self._open and self._is_writing()) and self._stop is stop:
                        self._stop = None
                        return
        finally:
            gone.release()

    # -- writing ---------------------------------------------------------------------------

    def write(self, bar: Bar, *, is_end: bool) -> None:
        """Write the state of *bar*, unless that has to wait or is known."""
        lock = self._invocation.writer._outlet.lock
        if not lock.acquire(timeout=_TURN_SECONDS):
            return
        try:
            now = monotonic()
            if now < bar.due and not is_end:  # another thread was first
                return
            if not self._is_writing():
                bar.due = float("inf")
                return
            if (is_end or bar.last is None) and self._ends < _MOST_ENDS:
                self._ends += 1
            elif now < self._due:
                bar.due = self._due
                return
            self._began = self._began or now
            pause = min(max(_LEAST_SECONDS, (now - self._began) / _SHARE), _MOST_SECONDS)
            bar.due, self._due = now + pause, now + pause / _BARS
            event = bar.state()
            if event != bar.last and any(vars(event).values()):
                self._put(event)
            bar.last = event
        finally:
            lock.release()

    def _is_writing(self) -> bool:
        """Return whether an event may still be written: no answer is out, or on its way."""
        invocation, reply = self._invocation, self._invocation.writer._reply
        is_answered = reply.answered or reply.is_writing or reply.stream_summary is not None
        is_forked = invocation.writer._outlet.is_forked
        return not (self._is_over or is_answered or is_forked or invocation.state >= CONCLUDING)

    def _put(self, event: ProgressEvent) -> None:
        outlet, lines = self._invocation.writer._outlet, self._invocation.running.lines
        before = outlet.write_error
        try:
            if lines is not None:
                lines.write_progress(event)
            else:
                write_progress(self._invocation.writer, event, self._target())
        except Exception:  # nobody reads: the tool goes on, as it does where a bar is not seen
            self._is_over = True
            outlet.write_error = before

    def _target(self) -> str:
        """Return the stream of events that nobody asked for: stdout only where it is lines anyway.

        A tool whose author never thought of events has one document there.
        """
        writer = self._invocation.writer
        if writer._reply.is_streaming or writer._progress_stream == "stdout":
            return "stdout"
        return "stderr"


class Bar:
    """One bar: what returns its state, when that is next due, and what it was last."""

    def __init__(self, reporter: Reporter, state: Callable[[], ProgressEvent]) -> None:
        self._reporter = reporter
        self.state = state
        self.due = 0.0
        self.last: ProgressEvent | None = None

    def report(self, *, is_end: bool = False) -> None:
        """Report the state, if it is time for that; the tool never fails for it."""
        if is_end or monotonic() >= self.due:
            try:
                self._reporter.write(self, is_end=is_end)
            except Exception:  # a library that is not as it was known
                pass

    def open(self) -> None:
        """Report the state from now on, until `close`."""
        self.report()
        self._reporter.watch(self)

    def close(self) -> None:
        """Report the last state."""
        self._reporter.forget(self)
        self.report(is_end=True)


class Unseen:
    """Stands for the stream of a bar, and takes what the bar draws on it."""

    def __init__(self, stream: Any, bar: Bar) -> None:
        self._stream = stream
        self.bar = bar

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Drop *text*."""
        return len(text)

    def flush(self) -> None:
        """Do nothing."""


def bar_of(stream: Any) -> Bar | None:
    """Return the bar that *stream* belongs to, ``None`` where it is a stream like any other."""
    return stream.bar if type(stream) is Unseen else None


def replace_in(target: Any, functions: dict[str, Any], invocation: Invocation) -> None:
    """Put *functions* in the place of those of *target* until *invocation* is over."""
    for name, function in functions.items():
        invocation.undo.append(replace(target, name, function))


def state_of(
    stage: object, current: float, total: float | None = None, message: object = ""
) -> ProgressEvent:
    """Return the state of a bar; a *total* that is unknown, or was wrong, is left out."""
    if total is None or not 0 < total < float("inf"):
        total = 0
    share = 100 * current / total if 0 <= current <= total and total else 0.0
    known = int(total) if share or not current else 0
    done, percent = max(int(current), 0), int(share * 10) / 10
    return ProgressEvent(_short(stage), done, known, percent, message=_short(message))


def is_seen_by_agents(stream: Any) -> bool:
    """Return whether *stream* is stdout or stderr of the process, and no terminal."""
    try:
        number = stream.fileno()
        return number in (1, 2) and not os.isatty(number)
    except Exception:  # memory, closed, or nothing of the kind
        return False


def _short(text: object) -> str:
    return clean_line(str(text or "")).strip()[:_LONGEST_TEXT]
