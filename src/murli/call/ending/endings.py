"""What the less common ends of a program mean, and what they leave to be done."""

from __future__ import annotations

import sys

from ...errors import EXIT_CANCELLED, EXIT_TOOL_ERROR, AgentError
from ...formats import flush, text_of
from ...outcome import status_of
from ...process.printing import _sentence, ways_to_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...declare import Metadata
    from ...declare.exit_codes import ExitCode
    from .. import Invocation

# How much of it a failure shows: the reason is at the end.
_MOST_PRINTED = 1 << 15


def exit_failure(invocation: Invocation, ending: SystemExit) -> AgentError | None:
    """Return the failure that *ending* means; ``None`` when it means success.

    Its message is what the author said with it, or before it on stderr; its kind what the author
    declares of the status, else that of what it was raised from. The number is the author's own,
    and means nothing by itself.
    """
    status = status_of(ending.code)
    if status == 0 or is_declared_success(invocation, ending):
        return None
    if invocation.running.refusal is not None:
        return invocation.running.refusal.ended(status)
    reason = "" if isinstance(ending.code, int) else text_of(ending.code).strip()
    reason = reason or reason_on_stderr(invocation)
    meaning = _declared_meaning(invocation, ending)
    if meaning is not None and not isinstance(meaning, str):
        reason = reason or f"The command ended with exit status {status}."
        failure = AgentError.of_kind(meaning.value, reason, context={"exit_status": status})
        failure.is_translated = True  # what was done by then, nobody has declared
        return failure
    known_exit = getattr(invocation.request.runner, "known_exit", None)
    known = known_exit(invocation, ending, status) if known_exit is not None else None
    return known or caused_failure(ending, reason, status)


def reason_on_stderr(invocation: Invocation) -> str:
    """Return the last words on stderr, the program's own or those of one it started, or ``""``."""
    if invocation.capture is None:
        return ""
    from ...process.last_words import reason_in

    flush(sys.stderr)
    reason = reason_in(invocation.capture.errors, invocation.writer._outlet.scrubbed)
    return invocation.extras.masked(reason) if reason else reason


def is_declared_success(invocation: Invocation, ending: SystemExit) -> bool:
    """Return whether the author declares that the status of *ending* is no failure.

    The answer then says which it was and what it means; for its reader it is a success
    like any other, so that the process ends with 0.
    """
    meaning = _declared_meaning(invocation, ending)
    if not isinstance(meaning, str):
        return False
    invocation.meta.update(exit_status=status_of(ending.code), message=meaning)
    if invocation.writer._reply.meta_source is None:
        invocation.writer._reply.meta_source = lambda: invocation.meta
    return True


def _declared_meaning(invocation: Invocation, ending: SystemExit) -> str | ExitCode | None:
    metadata, declared = invocation.metadata, invocation.settings.exit_codes
    own = metadata is not None and (metadata.ok_codes or hasattr(metadata, "meanings"))
    if not isinstance(ending.code, int) or not (declared or own):
        return None  # words are a failure, whatever Python makes of them
    from ...declare.exit_codes import meaning_of

    return meaning_of(status_of(ending.code), metadata, declared)


def caused_failure(error: BaseException, message: str, status: int) -> AgentError:
    """Return the failure of a program that ends with *status* because of *error*.

    A status of 1 says only that it failed, and one of 3 to 9 would be read as what the contract
    means by it, so that a cause decides what the number is.
    """
    from ...failures.exceptions import of_cause

    found = of_cause(error, message)
    if found is None:
        message = message or f"The command ended with exit status {status}."
        return AgentError(status, "execution_error", message, kind="tool_error")
    if status == EXIT_TOOL_ERROR or status > EXIT_CANCELLED:
        found.code = status  # the others mean something of their own to who knows the contract
    return found


def exit_like(error: BaseException, code: object) -> SystemExit:
    """Return an exit with *code* that was raised where *error* was, and from what it was."""
    ending = SystemExit(code).with_traceback(error.__traceback__)
    ending.__cause__, ending.__context__ = error.__cause__, error.__context__
    ending.__suppress_context__ = error.__suppress_context__
    return ending


def printed_end(printed: str | bytes, metadata: Metadata | None) -> object:
    """Return what a failed command had printed: all of it, or its end and how much came before."""
    from ...answer import payload_of

    omitted = len(printed) - _MOST_PRINTED
    if isinstance(printed, bytes) and omitted > 0:
        return {"omitted_bytes": omitted, "end": payload_of(printed[omitted:])}
    shown = payload_of(printed, metadata)
    if not isinstance(shown, str) or len(shown) <= _MOST_PRINTED:
        return shown
    return {"omitted_characters": len(shown) - _MOST_PRINTED, "end": shown[-_MOST_PRINTED:]}


def hint_at_text(invocation: Invocation, failure: AgentError) -> None:
    """Have the *failure* of a call that ran out of time say how to see more of what it prints."""
    if failure.kind == "timeout" and not invocation.writer._reply.is_streaming:
        ways = _sentence(ways_to_text(invocation))
        failure.suggestion = f"{failure.suggestion} {ways} to have what it prints as it comes."


def answer_descriptor(invocation: Invocation) -> int:
    """Return where the reader of stdout is, also while stdout is being collected."""
    capture = invocation.capture
    return getattr(capture.stream, "descriptor", 1) if capture is not None else 1


def lost_printing(error: OSError) -> AgentError:
    """Return the failure of a command whose printed result there was no room for."""
    return AgentError.tool_error(
        f"What the command printed could not be kept: {error.strerror or error}.",
        "Free some space for temporary files, or set TMPDIR to where there is some.",
        error_type="output_failed",
    )


def unanswered(invocation: Invocation, error: Exception, error_type: str) -> AgentError:
    """Return the failure of an answer that could not be given for *error*.

    What the command did by then is not undone by it, and the message says so.
    """
    from ...failures.repeating import effect_of

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
