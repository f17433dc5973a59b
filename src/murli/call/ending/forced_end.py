"""Ends that wait for nobody: a call that does not stop when it is to is answered for and ended.

Whatever interrupts a handler (a deadline, a signal) gives it a moment to clean up. What still runs
then, be it a ``finally`` block that waits, a handler that swallows everything or a thread that
Python waits for at its end, is ended here: its cleanups run, its children end, the one answer
there may be is written, and the process exits with its code.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # signal itself loads enum first
import os
import sys
import time
from _thread import allocate_lock, start_new_thread

from ...core import CONCLUDING
from ...errors import AgentError
from ...formats import DescriptorStream, flush
from ...outcome import Failure
from ...process.children import stop_children
from ...process.deadline import GRACE_SECONDS
from ...process.process_guard import interruption_by, real_hard_exit
from .endings import answer_descriptor, hint_at_text, printed_end

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ...contracts import Answer
    from ...process.watchdog import Writes
    from .. import Invocation

# What a program gets that runs calls in processes of their own, and first stops the one that runs.
GRACE_SECONDS_OF_CALLS = 6.0
# What cleanups get when the handler does not let go: they may wait for what it holds; and children.
CLEANUP_SECONDS = 1.0
CHILDREN_SECONDS = 0.5
# What an answer that another thread is just giving gets to be given.
ANSWER_SECONDS = 0.5
# What the program's own stdout gets to let out what it still holds, and each stream to take it all.
FLUSH_SECONDS = 0.2
WRITE_SECONDS = 1.0
# How often to look for signals that the program blocks.
_LOOK_SECONDS = 0.2

_is_ending = allocate_lock()


class ForcedEnd:
    """What ends a call that does not end by itself, for those who notice that."""

    def __init__(self, invocation: Invocation) -> None:
        self._invocation = invocation

    @property
    def grace_seconds(self) -> float:
        """How long a call that is interrupted may take to end."""
        waits = self._invocation.running.awaits_calls
        return GRACE_SECONDS_OF_CALLS if waits else GRACE_SECONDS

    def end_after(self, error: BaseException) -> None:
        """End the call that *error* has interrupted, and that has not ended since."""
        from .failures import error_for

        self.end(lambda: error_for(self._invocation, error))

    def look_for_blocked(self) -> None:
        """End the call should a signal come that the program keeps from being handled.

        Who waits for it themselves has taken it before this looks a second time.
        """
        invocation, before = self._invocation, set[int]()
        while invocation.state < CONCLUDING:
            time.sleep(_LOOK_SECONDS)
            now = _signal.sigpending()
            for number in before & now & {1, 2, 15}:
                invocation.process.give_grace(interruption_by(number))
                return
            before = now

    def end(self, failure: Callable[[], AgentError]) -> None:
        """End the process, with the answer it gave, or with *failure* if it has not ended its call.

        Returns only where another thread does so already.
        """
        if not _is_ending.acquire(blocking=False):
            return
        invocation, reply = self._invocation, self._invocation.writer._reply
        if invocation.state < CONCLUDING and invocation.cleanups is not None:
            invocation.cleanups.run_within(CLEANUP_SECONDS)
        stop_children(reply.started, CHILDREN_SECONDS)
        seized = invocation.writer._outlet.lock.acquire(timeout=ANSWER_SECONDS)  # for good
        if invocation.state >= CONCLUDING and reply.answered and not reply.is_writing:
            real_hard_exit(reply.exit_code)
        if not seized and reply.is_writing:
            self._write_last_words(unread(invocation))
        error = failure()
        if invocation.running.steps is not None:
            error.context = {**invocation.running.steps.context(), **error.context}
        _within(FLUSH_SECONDS, lambda: flush(sys.stdout))
        self._write_last_words(error)

    def _write_last_words(self, error: AgentError) -> None:
        stages, code = self.last_words(error)
        for stage in stages:
            written = [_written(descriptor, data) for descriptor, data in stage]
            if all(written):
                break
        real_hard_exit(code)

    def last_words(
        self, error: AgentError, elapsed: float | None = None
    ) -> tuple[list[Writes], int]:
        """Return what to write where when *error* ends the process, and the exit code.

        The second stage is for the first one being impossible. *elapsed* is how long the call will
        have taken by then, in seconds.
        """
        invocation, writer = self._invocation, self._invocation.writer
        invocation.extras.weigh(error)
        answer = _document_of(invocation, error, elapsed)
        text = writer._reply.text_of(answer)
        if writer.is_tty():
            from ...answer.presentation import error_text

            text = writer._outlet.scrubbed(error_text(error))
        data = f"{text}\n".encode("utf-8", "replace")
        capture = invocation.capture
        stdout, stderr = (answer_descriptor(invocation), data), (2, data)
        # An answer, or half of one, may be on stdout; or nothing can be there.
        is_open = not writer._reply.answered and _is_open(invocation, stdout[0])
        if (capture is not None and not capture.stderr_is_ours) or not _takes(2):
            return [[stdout] if is_open else []], answer.exit_code
        if is_open and not writer.is_tty() and answer.stream != "stderr":
            return [[stdout], [stderr]], answer.exit_code
        # A reader of single lines must find the end of the stream there.
        streaming = writer._reply.is_streaming and is_open
        return [[stderr, stdout] if streaming else [stderr]], answer.exit_code


def unread(invocation: Invocation) -> AgentError:
    """Return the failure of a call whose answer nobody reads."""
    deadline = invocation.deadline
    within = f" within {deadline.seconds:g} s" if deadline is not None else ""
    return AgentError.tool_error(f"Nobody read the answer{within}.", error_type="output_failed")


def _is_open(invocation: Invocation, descriptor: int) -> bool:
    """Return whether *descriptor* is the caller's stdout, as far as can be known beforehand."""
    stream = invocation.capture.stream if invocation.capture is not None else None
    if isinstance(stream, DescriptorStream) and not stream.is_ours:
        return False
    return _takes(descriptor)


def _takes(descriptor: int) -> bool:
    """Return whether *descriptor* can be written to: it is open, and on no device that is full."""
    try:
        os.write(descriptor, b"")
    except OSError:
        return False
    return True


def _document_of(invocation: Invocation, error: AgentError, elapsed: float | None) -> Answer:
    """Return the answer that *error* is, with what was printed by now; nothing else is changed."""
    writer, capture = invocation.writer, invocation.capture
    output: Any = None
    if capture is not None and not writer._reply.answered:
        output = printed_end(capture.so_far(), invocation.metadata)
        if output is not None:
            hint_at_text(invocation, error)
    invocation.running.shows_printed = True
    failure = Failure(error, writer._reply.phase, output)
    if invocation.metadata is not None and invocation.metadata.state:
        from ...answer.advice import with_state

        failure = with_state(writer, failure, declared=True)
    try:
        return writer._reply.document_of(failure, elapsed)
    finally:
        invocation.running.shows_printed = False


def _written(descriptor: int, data: bytes) -> bool:
    """Write *data* unless that blocks; return whether it is out."""
    result: list[bool] = []

    def write() -> None:
        try:
            DescriptorStream(descriptor).write_bytes(data)
            result.append(True)
        except OSError:  # there is nobody left to report to
            pass

    return _within(WRITE_SECONDS, write) and bool(result)


def _within(seconds: float, function: Callable[[], None]) -> bool:
    """Call *function*, which may block; return whether it has ended within this many *seconds*."""
    done = allocate_lock()
    done.acquire()

    def call() -> None:
        try:
            function()
        finally:
            done.release()

    start_new_thread(call, ())
    return done.acquire(timeout=seconds)
