"""Ends that wait for nobody: a call that does not stop when it is to is answered for and ended.

Whatever interrupts a handler (a deadline, a signal) gives it a moment to clean up. What still runs
then, be it a ``finally`` block that waits, a handler that swallows everything or a thread that
Python waits for at its end, is ended here: its cleanups run, its children end, the one answer
there may be is written, and the process exits with its code.
"""

from __future__ import annotations

from _thread import allocate_lock, start_new_thread

from ..errors import AgentError
from ..formats import DescriptorStream, identity
from ..outcome import Failure
from .custody import real_hard_exit
from .endings import answer_descriptor, note_children, stop_children

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .invocation import Invocation
    from .watchdog import Writes

# What a handler gets to clean up when it is interrupted.
GRACE_SECONDS = 1.5
# What exec gets, which first stops the call that runs.
GRACE_SECONDS_OF_EXEC = 6.0
# What cleanups get when the handler does not let go: they may wait for what it holds; and children.
CLEANUP_SECONDS = 1.0
CHILDREN_SECONDS = 0.5
# What an answer that another thread is just giving gets to be given.
ANSWER_SECONDS = 0.5

_is_ending = allocate_lock()


def end_after(invocation: Invocation, error: BaseException, over: Any) -> None:
    """Give the call that *error* interrupts a moment to end, until *over* can be acquired."""
    note_children(invocation.writer.started)
    is_exec = invocation.call.mounted == "exec"
    if over.acquire(timeout=GRACE_SECONDS_OF_EXEC if is_exec else GRACE_SECONDS):
        return
    from .failures import error_for

    end(invocation, lambda: error_for(invocation, error))


def end(invocation: Invocation, failure: Callable[[], AgentError]) -> None:
    """End the process, with the answer it gave, or with *failure* if it has not ended its call.

    Returns only where another thread does so already.
    """
    if not _is_ending.acquire(blocking=False):
        return
    writer = invocation.writer
    if not invocation.is_finishing and invocation.cleanups is not None:
        invocation.cleanups.run_within(CLEANUP_SECONDS)
    stop_children(writer.started, CHILDREN_SECONDS)
    seized = writer.seize(ANSWER_SECONDS)
    if invocation.is_finishing and writer.answered and not writer.is_writing:
        real_hard_exit(writer.exit_code)
    if not seized and writer.is_writing:
        _tell(invocation, unread(invocation))
    error = failure()
    if invocation.steps is not None:
        error.context = {**invocation.steps.context(), **error.context}
    _tell(invocation, error)


def unread(invocation: Invocation) -> AgentError:
    """Return the failure of a call whose answer nobody reads."""
    deadline = invocation.deadline
    within = f" within {deadline.seconds:g} s" if deadline is not None else ""
    return AgentError.tool_error(f"Nobody read the answer{within}.", error_type="output_failed")


def _tell(invocation: Invocation, error: AgentError) -> None:
    stages, code = last_words(invocation, error)
    for stage in stages:
        written = [_written(descriptor, data) for descriptor, data in stage]
        if all(written):
            break
    real_hard_exit(code)


def last_words(
    invocation: Invocation, error: AgentError, elapsed: float | None = None
) -> tuple[list[Writes], int]:
    """Return what to write where when *error* ends the process, and the exit code.

    The second stage is for the first one being impossible. *elapsed* is how long the call will have
    taken by then, in seconds.
    """
    writer = invocation.writer
    if invocation.in_family:
        from .verdict import weigh

        weigh(invocation, error)
    answer = writer.document_of(Failure(error, writer.phase), elapsed)
    text = writer.text_of(answer)
    if writer.is_tty():
        text = writer.scrubbed(f"Error: {error}")
    data = f"{text}\n".encode("utf-8", "replace")
    capture = invocation.capture
    stdout, stderr = (answer_descriptor(invocation), data), (2, data)
    if capture is not None and not capture.stderr_is_ours:
        return [[] if writer.answered else [stdout]], answer.exit_code
    # An answer, or half of one, may be on stdout; or nothing can be there.
    aside = writer.is_tty() or answer.stream == "stderr" or writer.answered
    aside = aside or identity(stdout[0]) == (0, 0, 0)
    if not aside:
        return [[stdout], [stderr]], answer.exit_code
    # Who reads a stream line by line must meet its end there.
    streaming = writer.is_streaming and not writer.answered and identity(stdout[0]) != (0, 0, 0)
    return [[stderr, stdout] if streaming else [stderr]], answer.exit_code


def _written(descriptor: int, data: bytes) -> bool:
    """Write *data* unless that blocks; return whether it is out."""
    done = allocate_lock()
    done.acquire()
    result: list[bool] = []

    def write() -> None:
        try:
            DescriptorStream(descriptor).write_bytes(data)
            result.append(True)
        except OSError:  # there is nobody left to tell
            pass
        done.release()

    start_new_thread(write, ())
    return done.acquire(timeout=1.0) and bool(result)
