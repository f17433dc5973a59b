"""What is said when something other than a plain return ended the handler."""

from __future__ import annotations

import sys

from ..errors import AgentError, EncodingError, OutputFailed, kind_of
from ..outcome import Failure
from ..presentation import code_of
from . import is_on
from .endings import (
    answer_descriptor,
    exit_failure,
    forget_output,
    hint_at_text,
    is_declared_success,
    reader_is_gone,
    reason_on_stderr,
    status_of,
    stop_children,
    told_of,
    unanswered,
    ways_to_text,
)
from .exceptions import TRACEBACK_HINT, as_agent_error, is_authored
from .for_people import ABORTED, INTERRUPTED, interrupt_behind, is_aborted, is_expired
from .repeating import withhold_retry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

    from .invocation import Invocation


def refuse(invocation: Invocation, error: AgentError) -> NoReturn:
    """Answer that the call cannot be done as it stands."""
    settings, writer = invocation.settings, invocation.writer
    if settings.usage_exit_code and error.error_type in ("flag_error", "command_error"):
        error.code = settings.usage_exit_code
    if error.field in invocation.applied:
        from .saved import explained

        error = explained(error, invocation)
    withhold_retry(invocation, error)
    _hide_by_shape(error)
    if "--schema" in error.suggestion:
        _name_description(invocation, error)
    if invocation.raises:
        raise error
    if invocation.in_family:
        from .family import explain_tool, is_bare, reconsider

        if is_bare(invocation, error):
            invocation.end(explain_tool(invocation))
        error = reconsider(invocation, error)
    invocation.end(writer.fail(Failure(error, writer.phase)))


def conclude(invocation: Invocation, error: BaseException | None, printed: str | bytes) -> int:
    """Answer for what ended the handler, and give the exit code."""
    writer = invocation.writer
    if isinstance(error, SystemExit):
        # Who has answered, or speaks to a person, chose the number himself.
        if writer.answered or (writer.is_tty() and not writer.forgot_dry_run()):
            invocation.pass_on(printed)
            return invocation.standing or writer.exit_code or _own_status(invocation, error)
        error = exit_failure(invocation, error)
        if error is not None:
            _hide_by_shape(error)
    error = error or writer.trouble
    if error is None:
        return invocation.succeed(printed)
    if is_aborted(error):  # of click, in a tool that is not click's
        if invocation.is_for_people:
            error = interrupt_behind(error)
        else:
            from .stdin import unanswered_prompt

            error = unanswered_prompt(error) or error
    gone = isinstance(error, OutputFailed) and error.reader_gone
    if gone or (
        isinstance(error, BrokenPipeError) and reader_is_gone(answer_descriptor(invocation))
    ):
        forget_output()
        return 0
    is_interrupt = isinstance(error, KeyboardInterrupt)
    if is_interrupt:
        stop_children(invocation.writer.started)
    if invocation.is_for_people and (is_interrupt or is_aborted(error)) and not is_expired(error):
        writer.show("Aborted!", "stderr")
        return INTERRUPTED if is_interrupt else ABORTED
    return _fail(invocation, error, printed)


def _fail(invocation: Invocation, error: BaseException, printed: str | bytes) -> int:
    writer = invocation.writer
    output = None
    if writer.answered:
        invocation.pass_on(printed)
    else:
        output = told_of(printed, invocation.metadata)
    failure = error_for(invocation, error)
    if failure.error_type == "subprocess_failed" and not getattr(error, "stderr", None):
        failure.message = f"{failure.message} {reason_on_stderr(invocation)}".rstrip()
    if invocation.steps is not None or (invocation.metadata and invocation.metadata.steps):
        from ..steps import tell

        failure = tell(invocation, failure)
    if invocation.in_family:
        from .family import explain_tool, is_bare, reconsider

        if is_bare(invocation, failure):
            return explain_tool(invocation)
        failure = reconsider(invocation, failure)
    if failure.error_type == "input_required" and isinstance(error, EOFError):
        from .stdin import STALLED, input_failure

        question = printed if isinstance(printed, str) else ""
        failure = input_failure(
            question,
            invocation.host.options(invocation.command),
            getattr(error, "asked", ""),
            stalled=error.args == (STALLED,),
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
        return writer.fail(Failure(failure, writer.phase, output))
    except OutputFailed as lost:
        if lost.reader_gone:
            forget_output()
            return code_of(writer, failure)
        return writer.fail(Failure(error_for(invocation, lost), "cleanup"))


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
        from .secret_shapes import without_secrets

        error.message = without_secrets(error.message)
        error.suggestion = without_secrets(error.suggestion)
        error.valid_values = [without_secrets(each) for each in error.valid_values]


def _name_description(invocation: Invocation, error: AgentError) -> None:
    """Name the call that describes the command where ``--schema`` is an option of its own."""
    from . import MOUNTED
    from .argv import mounted_on, scan

    host = invocation.host
    root = host.level()
    level = scan(invocation.argv, root, thorough=True).level
    if not level.owns("--schema"):
        return
    mounted = mounted_on(root, host, MOUNTED) if invocation.settings.mount else ()
    if "describe" in mounted and not root.lists("describe"):
        call = " ".join((host.name(), "describe", *getattr(level, "path", ())))
        error.suggestion = error.suggestion.replace("--schema", f"`{call}`")
    else:
        text = error.suggestion.replace("--schema or --help", "--help")
        error.suggestion = text.replace("--schema", "--help")


def _keep_traceback(invocation: Invocation, error: BaseException, failure: AgentError) -> None:
    """Show the traceback of an exception to who asked for it, or keep it in a file."""
    if is_on("MURLI_DEBUG") or invocation.call.debug:
        import traceback

        told = "".join(traceback.format_exception(type(error), error, error.__traceback__))
        if invocation.in_family:
            from .surroundings import masked

            told = masked(told)
        if invocation.secrets is not None:
            told = invocation.secrets.scrub(told)  # the streams may be the program's again
        try:
            sys.stderr.write(told)
        except (AttributeError, OSError, ValueError):  # there is none, or nobody reads it
            pass
        if invocation.writer.is_tty() and failure.suggestion == TRACEBACK_HINT:
            failure.suggestion = ""  # they have just seen it
        return
    is_known = failure.suggestion != TRACEBACK_HINT
    if is_known and (not invocation.is_for_people or is_authored(error)):
        return  # the failure is understood, and tells what to do
    # Also where a command may reveal secrets, or a person reads: the file outlives the call.
    from .redaction import scrub_for_file
    from .tracebacks import keep

    path = keep(error, invocation.host.name(), lambda text: scrub_for_file(text, invocation))
    if path:
        is_own = "--debug" in invocation.host.options(invocation.command)
        way = "MURLI_DEBUG=1" if is_own else "--debug"
        place = f"The traceback is in {path}; {way} shows it."
        failure.suggestion = f"{failure.suggestion} {place}" if is_known else place


def error_for(invocation: Invocation, error: BaseException) -> AgentError:
    """Give the failure that *error* means."""
    if invocation.refusal is not None and error is invocation.refusal.raised:
        return invocation.refusal.error
    if isinstance(error, OutputFailed):
        return unanswered(invocation, error, "output_failed")
    if isinstance(error, EncodingError):
        return unanswered(invocation, error, "execution_error")
    if isinstance(error, KeyboardInterrupt):
        if invocation.deadline is not None and is_expired(error):
            return invocation.deadline.failure()
        return AgentError.cancelled(signal=getattr(error, "signal", "SIGINT"))
    found = as_agent_error(error)
    found.kind = kind_of(found)
    withhold_retry(invocation, found)
    if found.field in invocation.applied:
        from .saved import explained

        return explained(found, invocation)
    return found


def exit_code_for(invocation: Invocation, ending: SystemExit) -> int:
    """Give the code the process ends with when the tool exits with *ending*."""
    writer = invocation.writer
    told = writer.answered or writer.is_tty()
    failure = None if told else exit_failure(invocation, ending)
    if failure is None:
        return invocation.standing or writer.exit_code or _own_status(invocation, ending)
    return invocation.standing or code_of(writer, failure)


def _own_status(invocation: Invocation, ending: SystemExit) -> int:
    """Return the status of a program that exits and has answered, or speaks to a person."""
    if not invocation.writer.is_tty() and is_declared_success(invocation, ending):
        return 0
    return status_of(ending.code)
