"""What is said when something other than a plain return ended the handler."""

from __future__ import annotations

import sys

from ...answer.presentation import code_of
from ...core import is_on
from ...errors import AgentError, EncodingError, OutputFailed, correct
from ...failures.exceptions import TRACEBACK_HINT, as_agent_error, is_authored
from ...failures.repeating import withhold_retry
from ...outcome import Failure, status_of
from ...process.children import stop_children
from ...process.outlets import forget_output, reader_is_gone
from ...process.printing import ways_to_text
from .endings import (
    answer_descriptor,
    exit_failure,
    hint_at_text,
    is_declared_success,
    printed_end,
    reason_on_stderr,
    unanswered,
)
from .for_people import ABORTED, INTERRUPTED, interrupt_behind, is_aborted, is_expired

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

    from .. import Invocation


def refuse(invocation: Invocation, error: AgentError) -> NoReturn:
    """Answer that the call cannot be done as it stands."""
    settings, writer = invocation.settings, invocation.writer
    if settings.usage_exit_code and error.error_type in ("flag_error", "command_error"):
        error.code = settings.usage_exit_code
    if error.field in invocation.request.applied:
        from ..saved_profile import explained

        error = explained(error, invocation)
    withhold_retry(invocation, error)
    _hide_by_shape(error)
    if "--schema" in error.suggestion:
        _name_description(invocation, error)
    if invocation.request.raises:
        raise error
    code = invocation.extras.answer_bare_call(error)
    if code is not None:
        invocation.exit(code)
    error = invocation.extras.finalize(error)
    invocation.exit(writer._fail(Failure(error, writer._reply.phase)))


def conclude(invocation: Invocation, error: BaseException | None, printed: str | bytes) -> int:
    """Answer for what ended the handler, and return the exit code."""
    writer = invocation.writer
    if isinstance(error, SystemExit):
        # Who has answered, or speaks to a person, chose the number himself.
        if writer._reply.answered or (writer.is_tty() and not writer._forgot_dry_run()):
            invocation.pass_on(printed)
            returned = invocation.running.returned
            if returned is not None and not (writer._reply.answered or error.code):
                from ...answer.shown import show_returned

                show_returned(invocation)  # the program went on behind its framework's call
            refused = invocation.running.refused_exit_code
            return refused or writer._reply.exit_code or _own_status(invocation, error)
        error = exit_failure(invocation, error)
        if error is not None:
            _hide_by_shape(error)
    error = error or writer._outlet.write_error
    if error is None:
        return invocation.conclude(None, printed)
    if is_aborted(error):  # of click, in a tool that is not click's
        if invocation.is_for_people:
            error = interrupt_behind(error)
        else:
            from ...process.stdin import unanswered_prompt

            error = unanswered_prompt(error) or error
    gone = isinstance(error, OutputFailed) and error.reader_gone
    if gone or (
        isinstance(error, BrokenPipeError) and reader_is_gone(answer_descriptor(invocation))
    ):
        forget_output()
        return 0
    is_interrupt = isinstance(error, KeyboardInterrupt)
    if is_interrupt:
        stop_children(invocation.writer._reply.started)
    if invocation.is_for_people and (is_interrupt or is_aborted(error)) and not is_expired(error):
        writer._outlet.show("Aborted!", "stderr")
        return INTERRUPTED if is_interrupt else ABORTED
    return _fail(invocation, error, printed)


def _fail(invocation: Invocation, error: BaseException, printed: str | bytes) -> int:
    writer = invocation.writer
    output = None
    if writer._reply.answered:
        invocation.pass_on(printed)
    else:
        output = printed_end(printed, invocation.metadata)
    failure = error_for(invocation, error)
    if failure.error_type == "subprocess_failed" and not getattr(error, "stderr", None):
        failure.message = f"{failure.message} {reason_on_stderr(invocation)}".rstrip()
    if invocation.running.steps is not None or (invocation.metadata and invocation.metadata.steps):
        from ...answer.declared_results import with_steps

        failure = with_steps(invocation, failure)
    code = invocation.extras.answer_bare_call(failure)
    if code is not None:
        return code
    failure = invocation.extras.finalize(failure)
    if failure.error_type == "input_required" and isinstance(error, EOFError):
        from ...process.stdin import STALLED, input_failure

        question = printed if isinstance(printed, str) else ""
        failure = input_failure(
            question,
            invocation.host.options(invocation.running.command),
            getattr(error, "asked", ""),
            stalled=error.args == (STALLED,),
            advice=getattr(error, "advice", ""),
            waiting=ways_to_text(invocation, streams=False),
        )
    elif output is not None and failure.kind == "timeout":
        hint_at_text(invocation, failure)
    elif not isinstance(error, AgentError) and failure.kind != "cancelled":
        _keep_traceback(invocation, error, failure)
    if not isinstance(error, AgentError) or failure.error_type in ("flag_error", "command_error"):
        _hide_by_shape(failure)  # unlike what the author wrote, it may repeat any value
        if "--schema" in failure.suggestion:
            _name_description(invocation, failure)
    try:
        return writer._fail(Failure(failure, writer._reply.phase, output))
    except OutputFailed as lost:
        if lost.reader_gone:
            forget_output()
            return code_of(writer, failure)
        return writer._fail(Failure(error_for(invocation, lost), "cleanup"))


# One of these is in every text that `secret_shapes` changes, and in few others.
_SUSPICIOUS = tuple(
    """
    :// = BEGIN earer asic igest sk- sk_ rk_ whsec gh glpat A xox xapp ya29 npm_ pypi- hf_ dop_ SG.
    eyJ
    """.split()  # noqa: SIM905
)


def _hide_by_shape(error: AgentError) -> None:
    """Mask what looks like a secret in the words of *error*, which may repeat a value."""
    words = " ".join((error.message, error.suggestion, *error.valid_values))
    if any(map(words.__contains__, _SUSPICIOUS)):
        from ...secrets.shapes import without_secrets

        error.message = without_secrets(error.message)
        error.suggestion = without_secrets(error.suggestion)
        error.valid_values = [without_secrets(each) for each in error.valid_values]


def _name_description(invocation: Invocation, error: AgentError) -> None:
    """Name the call that describes the command where ``--schema`` is an option of its own."""
    from ...core import MOUNTED
    from ...line.scanning import mounted_on, scan

    host = invocation.host
    root = host.level()
    level = scan(invocation.request.argv, root, thorough=True).level
    if not level.owns("--schema"):
        return
    mounted = mounted_on(root, host, MOUNTED) if invocation.settings.mount else ()
    if "describe" in mounted and not root.lists("describe"):
        # Before a command's name the word would be an argument of the tool, and the command run.
        path = () if root.takes_words else getattr(level, "path", ())
        call = " ".join((host.name(), "describe", *path))
        error.suggestion = error.suggestion.replace("--schema", f"`{call}`")
    else:
        text = error.suggestion.replace("--schema or --help", "--help")
        error.suggestion = text.replace("--schema", "--help")


def _keep_traceback(invocation: Invocation, error: BaseException, failure: AgentError) -> None:
    """Show the traceback of an exception to who asked for it, or keep it in a file."""
    if is_on("MURLI_DEBUG") or invocation.call.debug:
        import traceback

        lines = "".join(traceback.format_exception(type(error), error, error.__traceback__))
        lines = invocation.extras.masked(lines)
        if invocation.secrets is not None:
            lines = invocation.secrets.scrub(lines)  # the streams may be the program's again
        try:
            sys.stderr.write(lines)
        except (AttributeError, OSError, ValueError):  # there is none, or nobody reads it
            pass
        if invocation.writer.is_tty() and failure.suggestion == TRACEBACK_HINT:
            failure.suggestion = ""  # they have just seen it
        return
    is_known = failure.suggestion != TRACEBACK_HINT
    if is_known and (not invocation.is_for_people or is_authored(error)):
        return  # the failure is understood, and says what to do
    # Also where a command may reveal secrets, or a person reads: the file outlives the call.
    from ...failures.tracebacks import keep
    from ...secrets.redaction import scrub_for_file

    path = keep(error, invocation.host.name(), lambda text: scrub_for_file(text, invocation))
    if path:
        is_own = "--debug" in invocation.host.options(invocation.running.command)
        way = "MURLI_DEBUG=1" if is_own else "--debug"
        place = f"The traceback is in {path}; {way} shows it."
        failure.suggestion = f"{failure.suggestion} {place}" if is_known else place


def error_for(invocation: Invocation, error: BaseException) -> AgentError:
    """Return the failure that *error* means."""
    if invocation.running.refusal is not None and error is invocation.running.refusal.raised:
        return invocation.running.refusal.error
    if isinstance(error, OutputFailed):
        return unanswered(invocation, error, "output_failed")
    if isinstance(error, EncodingError):
        return unanswered(invocation, error, "execution_error")
    if isinstance(error, KeyboardInterrupt):
        failure = AgentError.cancelled(signal=getattr(error, "signal", "SIGINT"))
        if invocation.deadline is not None and is_expired(error):
            failure = invocation.deadline.failure()
        failed = getattr(error, "failed", None)
        if failed is not None and not is_aborted(failed):
            text = as_agent_error(failed).message
            failure.message = f"{failure.message} Ending it failed: {text}"
        return failure
    found = as_agent_error(error)
    correct(found)
    withhold_retry(invocation, found)
    if type(found.field) is str and found.field in invocation.request.applied:
        from ..saved_profile import explained

        return explained(found, invocation)
    return found


def exit_code_for(invocation: Invocation, ending: SystemExit) -> int:
    """Return the code the process ends with when the tool exits with *ending*."""
    writer = invocation.writer
    is_answered = writer._reply.answered or writer.is_tty()
    failure = None if is_answered else exit_failure(invocation, ending)
    refused = invocation.running.refused_exit_code
    if failure is None:
        return refused or writer._reply.exit_code or _own_status(invocation, ending)
    return refused or code_of(writer, failure)


def _own_status(invocation: Invocation, ending: SystemExit) -> int:
    """Return the status of a program that exits and has answered, or speaks to a person."""
    if not invocation.writer.is_tty() and is_declared_success(invocation, ending):
        return 0
    return status_of(ending.code)
