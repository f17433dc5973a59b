"""What the less common ends of a program mean, and what they leave to be done."""

from __future__ import annotations

import os
import signal
import sys
import time

from ..formats import text_of
from .capture import flush

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType
    from typing import Any

    from ..errors import AgentError
    from ..exit_codes import ExitCode
    from ..metadata import Metadata
    from .invocation import Invocation

# What one document may hold of printed text; MURLI_MAX_PRINTED says otherwise.
MOST_PRINTED = 1 << 26
# What a failure tells of it: who wants to know why looks at the end.
MOST_TOLD = 1 << 15
# How long children get to end by themselves when we end.
GRACE_SECONDS = 1.0
_TICK_SECONDS = 1 / os.sysconf("SC_CLK_TCK")


def status_of(code: object) -> int:
    """Give the exit status Python makes of ``SystemExit(code)``."""
    if code is None:
        return 0
    if not isinstance(code, int):
        return 1
    # What does not fit a C long is -1 to Python.
    return code & 0xFF if -(2**63) <= code < 2**63 else 0xFF


def exit_failure(invocation: Invocation, ending: SystemExit) -> AgentError | None:
    """Return the failure that *ending* means; ``None`` when it means success.

    Its message is what the author said with it, or before it on stderr; its kind what the author
    declares of the status, else that of what it was raised from. The number is the author's own,
    and means nothing by itself.
    """
    status = status_of(ending.code)
    if status == 0 or is_declared_success(invocation, ending):
        return None
    if invocation.refusal is not None:
        return invocation.refusal.ended(status)
    said = "" if isinstance(ending.code, int) else text_of(ending.code).strip()
    said = said or reason_on_stderr(invocation)
    meaning = _declared_meaning(invocation, ending)
    if meaning is not None and not isinstance(meaning, str):
        from ..errors import AgentError

        said = said or f"The command ended with exit status {status}."
        failure = AgentError.of_kind(meaning.value, said, context={"exit_status": status})
        failure.is_translated = True  # what was done by then, nobody has declared
        return failure
    return caused_failure(ending, said, status)


def reason_on_stderr(invocation: Invocation) -> str:
    """Return the last words on stderr, the program's own or those of one it started, or ``""``."""
    if invocation.capture is None:
        return ""
    from .last_words import reason_in

    flush(sys.stderr)
    said = reason_in(invocation.capture.errors, invocation.writer.scrubbed)
    if said and invocation.in_family:
        from .surroundings import masked

        return masked(said)
    return said


def is_declared_success(invocation: Invocation, ending: SystemExit) -> bool:
    """Return whether the author declares that the status of *ending* is no failure.

    The answer then says which it was and what it means; for who reads the answer it is a success
    like any other, so that the process ends with 0.
    """
    meaning = _declared_meaning(invocation, ending)
    if not isinstance(meaning, str):
        return False
    invocation.meta.update(exit_status=status_of(ending.code), message=meaning)
    if invocation.writer.about is None:
        invocation.writer.about = lambda: invocation.meta
    return True


def _declared_meaning(invocation: Invocation, ending: SystemExit) -> str | ExitCode | None:
    metadata, declared = invocation.metadata, invocation.settings.exit_codes
    if not isinstance(ending.code, int) or not (declared or (metadata and metadata.ok_codes)):
        return None  # words are a failure, whatever Python makes of them
    from ..exit_codes import meaning_of

    return meaning_of(status_of(ending.code), metadata, declared)


def caused_failure(error: BaseException, message: str, status: int) -> AgentError:
    """Return the failure of a program that ends with *status* because of *error*.

    A status of 1 says only that it failed, and one of 3 to 9 would be read as what the contract
    means by it, so that a cause decides what the number is.
    """
    from ..errors import EXIT_CANCELLED, EXIT_TOOL_ERROR, AgentError
    from .exceptions import of_cause

    found = of_cause(error, message)
    if found is None:
        message = message or f"The command ended with exit status {status}."
        return AgentError(status, "execution_error", message, kind="tool_error")
    if status == EXIT_TOOL_ERROR or status > EXIT_CANCELLED:
        found.code = status  # the others mean something of their own to who knows the contract
    return found


def frames_of(error: BaseException) -> Iterator[FrameType]:
    """Return the frames that *error* has passed, the innermost last."""
    traceback = error.__traceback__
    while traceback is not None:
        yield traceback.tb_frame
        traceback = traceback.tb_next


def exit_like(error: BaseException, code: object) -> SystemExit:
    """Return an exit with *code* that was raised where *error* was, and from what it was."""
    ending = SystemExit(code).with_traceback(error.__traceback__)
    ending.__cause__, ending.__context__ = error.__cause__, error.__context__
    ending.__suppress_context__ = error.__suppress_context__
    return ending


def told_of(printed: str | bytes, metadata: Metadata | None) -> object:
    """Give what a failed command had printed: all of it, or its end and how much came before."""
    from .invocation import payload_of

    omitted = len(printed) - MOST_TOLD
    if isinstance(printed, bytes) and omitted > 0:
        return {"omitted_bytes": omitted, "end": payload_of(printed[omitted:])}
    told = payload_of(printed, metadata)
    if not isinstance(told, str) or len(told) <= MOST_TOLD:
        return told
    return {"omitted_characters": len(told) - MOST_TOLD, "end": told[-MOST_TOLD:]}


def check_printing(descriptor: int, printed: int) -> None:
    """Raise when a program that has printed this much had better stop."""
    if reader_is_gone(descriptor):
        raise BrokenPipeError(32, "Broken pipe")
    given = os.environ.get("MURLI_MAX_PRINTED", "")
    most = int(given) if given.isdecimal() else MOST_PRINTED
    if printed > most:
        from ..errors import AgentError
        from .invocation import current

        raise AgentError.tool_error(
            f"The command printed more than {most:,} bytes, which is no answer.",
            f"{_sentence(ways_to_text(current()))} to read it as it comes, or ask for less.",
            error_type="output_too_large",
        )


def ways_to_text(invocation: Invocation | None, *, streams: bool = True) -> str:
    """Return what to do to get what a command prints as it comes: ``pass --output text``.

    With *streams* also to get its lines as events.
    """
    name, form = "--output", "text"
    if invocation is not None and invocation.writer.contract == "agent-spec-2":
        name, form = "--format", "plain"
    level = invocation.call.level if invocation is not None else None
    own = invocation.host.options(invocation.command) if invocation is not None else []
    way = f"pass {name} {form}"
    if name in own or (level is not None and level.owns(name)):
        way = "set MURLI_MODE=human"
    return f"{way}, or --stream," if streams and "--stream" not in own else way


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:]


def hint_at_text(invocation: Invocation, failure: AgentError) -> None:
    """Have the *failure* of a call that ran out of time say how to see more of what it prints."""
    if failure.kind == "timeout" and not invocation.writer.is_streaming:
        ways = _sentence(ways_to_text(invocation))
        failure.suggestion = f"{failure.suggestion} {ways} to have what it prints as it comes."


def reader_is_gone(descriptor: int) -> bool:
    """Tell whether *descriptor* is a pipe that nobody reads any more."""
    import select

    try:
        poll = select.poll()
        poll.register(descriptor, 0)
        # Not so where the program has closed what is not its own.
        return any(found & ~select.POLLNVAL for _, found in poll.poll(0))
    except (OSError, AttributeError):
        return False


def forget_output() -> None:
    """Let what is still in the buffers of stdout go nowhere: its reader is gone."""
    if sys.stdout is sys.__stdout__ and reader_is_gone(1):
        _send_nowhere(1)


def answer_descriptor(invocation: Invocation) -> int:
    """Give where the reader of stdout is, also while stdout is being collected."""
    capture = invocation.capture
    return getattr(capture.stream, "descriptor", 1) if capture is not None else 1


def forget_both() -> None:
    """Let what a stream does not take go nowhere: Python would make it an exit code of its own."""
    for descriptor, stream, own in (
        (1, sys.stdout, sys.__stdout__),
        (2, sys.stderr, sys.__stderr__),
    ):
        if stream is own:
            _send_nowhere(descriptor)


def drop_pending(stream: Any) -> None:
    """Empty the buffer of a *stream* that takes nothing; afterwards it is what it was."""
    try:
        descriptor = stream.fileno()
        real = os.dup(descriptor)
    except (OSError, ValueError, AttributeError):
        return
    try:
        _send_nowhere(descriptor)
        stream.flush()
    except (OSError, ValueError):
        pass
    finally:
        os.dup2(real, descriptor)
        os.close(real)


def _send_nowhere(descriptor: int) -> None:
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        if nowhere != descriptor:
            os.dup2(nowhere, descriptor)
            os.close(nowhere)
    except OSError:  # no descriptor left
        pass


def lost_printing(error: OSError) -> AgentError:
    """Give the failure of a command whose printed result there was no room for."""
    from ..errors import AgentError

    return AgentError.tool_error(
        f"What the command printed could not be kept: {error.strerror or error}.",
        "Free some space for temporary files, or set TMPDIR to where there is some.",
        error_type="output_failed",
    )


def unanswered(invocation: Invocation, error: Exception, error_type: str) -> AgentError:
    """Return the failure of an answer that could not be given for *error*.

    What the command did by then is not undone by it, and the message says so.
    """
    from ..errors import AgentError
    from .repeating import effect_of

    effect = effect_of(invocation)
    if not effect:
        return AgentError.tool_error(str(error), error_type=error_type)
    done = "what it changes is changed" if effect == "changed" else "it may have changed something"
    return AgentError.tool_error(
        f"{error} The command itself had run: {done}.",
        "Look at the state before you run it again.",
        error_type=error_type,
        recoverable=False,
    )


def stop_children(since: float = 0.0, grace: float = GRACE_SECONDS) -> None:
    """End the programs that this one started and that would outlive it, after *grace* by force.

    Those with a session of their own were meant to. Those from before *since*, on the monotonic
    clock, belong to whoever called a tool inside of a process: to its tests, say.
    """
    note_children(since)
    waiting = [child for child, birth in _noted.items() if _birth(child) == birth]
    _noted.clear()
    for child in waiting:
        _send(child, signal.SIGTERM)
    deadline = time.monotonic() + grace
    while waiting and time.monotonic() < deadline:
        time.sleep(0.01)
        waiting = [child for child in waiting if not _has_ended(child)]
    for child in waiting:
        _send(child, signal.SIGKILL)


# The children that are to be ended, with when they began: a number may be used again.
_noted: dict[int, float] = {}


def note_children(since: float) -> None:
    """Remember the programs that this one has started, for `stop_children`.

    When an interrupt has ended some of them, nobody knows any more what those had started.
    """
    own = os.getsid(0)
    born = _uptime() - (time.monotonic() - since)
    for child in _children(os.getpid()):
        birth = _birth(child)
        if _session(child) == own and birth >= born - _TICK_SECONDS:
            _noted[child] = birth


def _children(process: int) -> list[int]:
    """Give the descendants of *process*, the nearest first; none where that cannot be known."""
    found: list[int] = []
    try:
        for task in os.listdir(f"/proc/{process}/task"):
            with open(f"/proc/{process}/task/{task}/children", encoding="ascii") as listing:
                found += map(int, listing.read().split())
    except OSError:  # another system, or it has just ended
        pass
    return found + [below for child in found for below in _children(child)]


def _uptime() -> float:
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


def _birth(process: int) -> float:
    """Give when a process began, in seconds since the system did; the latest if nobody knows."""
    try:
        with open(f"/proc/{process}/stat", "rb") as file:
            # The name, in parentheses, may hold anything.
            facts = file.read().rpartition(b")")[2].split()
        return int(facts[19]) * _TICK_SECONDS
    except (OSError, ValueError, IndexError):  # it has ended, or this system does not tell
        return float("inf")


def _session(process: int) -> int:
    try:
        return os.getsid(process)
    except OSError:  # it has ended
        return -1


def _send(process: int, number: int) -> None:
    try:
        os.kill(process, number)
    except OSError:  # as above
        pass


def _has_ended(process: int) -> bool:
    try:
        return os.waitpid(process, os.WNOHANG)[0] == process
    except ChildProcessError:  # a child's child, or somebody has waited for it
        return _session(process) == -1
