"""What a handler gave us, made fit to be read: errors and progress."""

from __future__ import annotations

from ..contracts import Facts
from ..errors import correct
from ..formats import cleaned, dumps, plain, plain_copy, text_of
from ..formats.text import clean, clean_line
from ..outcome import Failure, Notice

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from ..call import Invocation
    from ..contracts import Answer, Respond
    from ..errors import AgentError
    from ..outcome import Outcome, Page, ProgressEvent
    from . import Outlet, Reply, Writer

_TEXTS = (
    "error_type",
    "message",
    "suggestion",
    "detail",
    "doc_url",
    "field",
    "fix_required",
    "fix_command",
    "reason",
    "redirect_to",
)


# The largest that every reader of JSON keeps exactly.
_LARGEST_INTEGER = (1 << 53) - 1


def fail(writer: Writer, failure: Failure) -> int:
    """Answer *failure* and return its exit code, without ending the program."""
    error = failure.error
    if writer._reply.phase == "execution" and writer._forgot_dry_run():
        error = also_ran(error)
    error = presentable(error)
    failure = failure.replace(error=error)
    if not writer._outlet.for_people and writer._invocation is not None:
        from .advice import with_state, with_usage

        failure = with_state(writer, with_usage(writer, failure))
    return writer._answer(failure, error_text(error))


def checked(contract: str, respond: Respond) -> Respond:
    """Return *respond* as a function that raises where a document breaks its *contract*."""
    from ..contracts import checks

    def respond_validly(outcome: Outcome, facts: Facts) -> Answer:
        answer = respond(outcome, facts)
        checks.check(contract, answer)
        return answer

    return respond_validly


def code_of(writer: Writer, error: AgentError) -> int:
    """Return the exit code of *error* in the contract of *writer*."""
    return writer._reply._respond(Failure(presentable(error)), Facts()).exit_code


def encoded(reply: Reply, document: dict[str, Any], *, one_line: bool) -> str:
    """Return *document* in the notation that was asked for, or in *one_line* of JSON."""
    if reply.format == "toon" and not one_line:
        from ..compact.toon import render

        text = render(document)
        if text is not None:
            return text
    return dumps(document, pretty=not one_line)


def stderr_is_closed(outlet: Outlet, invocation: Invocation | None) -> bool:
    """Return whether nobody can read stderr: it is closed, or became another file."""
    if outlet.stream_of("stderr") is None:
        return True
    capture = invocation.capture if invocation is not None else None
    return capture is not None and not capture.stderr_is_ours


def error_text(error: AgentError) -> str:
    """Return *error* as people read it: what happened, and what to do."""
    shown = f"Error: {clean_line(error.message)}"
    return f"{shown}\nHint:  {clean_line(error.advice)}" if error.advice else shown


def presentable(error: AgentError) -> AgentError:
    """Return a copy of *error* whose every part may stand in a document."""
    from copy import copy

    error = copy(error)
    for name in _TEXTS:
        setattr(error, name, clean(text_of(getattr(error, name))))
    correct(error)
    try:
        error.valid_values = [clean(text_of(value)) for value in error.valid_values]
    except Exception:  # its author put something else there
        error.valid_values = []
    error.retry_after_ms = _milliseconds(error.retry_after_ms)
    error.recoverable = bool(error.recoverable)
    error.context = readable_context(error.context)
    return error


def _milliseconds(value: Any) -> int:
    """Return a delay an author gave as a number for the answer, 0 if it is not one."""
    try:
        return min(int(value), _LARGEST_INTEGER)
    except (TypeError, ValueError, OverflowError):  # text, NaN or infinity
        return 0


def progress_document(evt: ProgressEvent) -> dict[str, Any]:
    """Return progress as a line agents read; without what is unknown."""
    document: dict[str, Any] = {"event": "progress"}
    for name in evt.__dict__:
        value = getattr(evt, name)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if value:
            document[name] = plain(value)
    return document


def progress_text(evt: ProgressEvent) -> str:
    """Return progress as a line people read."""
    text = f"[{evt.stage}] {evt.message}" if evt.stage else str(evt.message)
    if evt.total > 0:
        share = f", {evt.percent:.0f}%" if evt.percent > 0 else ""
        text += f" ({evt.current}/{evt.total}{share})"
    return clean_line(text)


def with_payload(writer: Writer, text: str | Callable[[], str], payload: Any) -> str:
    """Return *text* with *payload* below it as people read it."""
    from ..formats.people import drawn, readable

    shown = text() if callable(text) else str(text)
    value = readable(list(payload) if hasattr(type(payload), "__next__") else payload)
    if writer._invocation is not None and writer._invocation.shaper is not None:
        value = writer._invocation.shaper.show(value)
    value = writer._outlet.scrubbed_value(value)
    below = "" if value is None else drawn(value, writer._outlet.stream_of("stdout"))
    return "\n".join(part.rstrip("\n") for part in (shown, below) if part)


def log_rest(writer: Writer, page: Page) -> None:
    """Log what is missing, where the answer has no place for it."""
    total = "more" if page.total is None else page.total
    rest = f"; for the rest: {page.rest}" if page.rest else ""
    writer.log(f"{page.returned} of {total} given{rest}")


def result_text(writer: Writer, result: Any) -> str:
    """Return *result* as people read it, where its handler wrote no text for them."""
    from ..formats.people import readable, render

    invocation, value = writer._invocation, readable(result)
    if invocation is None or invocation.running.printed or value is None:
        return ""
    if writer._reply.own_page is not None:
        from ..outcome import Success
        from .own_paging import completed

        page = completed(writer, Success("", value), writer._reply.own_page)
        if not page.whole:
            log_rest(writer, page)
    value = value if invocation.shaper is None else invocation.shaper.show(value)
    return render(writer._outlet.scrubbed_value(value))


def log_beside(writer: Writer, facts: Facts, meta: dict[str, Any]) -> None:
    """Log what data alone does not say."""
    for notice in facts.notices:
        writer.log(f"warning: {notice.message}")
    writer._reply.notices.clear()
    writer.flush()
    if facts.page is not None and not facts.page.whole:
        log_rest(writer, facts.page)
    if "etag" in meta:
        same = ", not modified" if meta.get("not_modified") else ""
        writer.log(f"etag {meta['etag']}{same}")
    writer.flush()


def ran_for_real() -> AgentError:
    """Return the failure of a dry run whose handler never asked whether it was one."""
    from ..errors import AgentError

    return AgentError.tool_error(
        "The command ran for real: its handler never asked whether this is a dry run.",
        "Look at what it changed. Its author must declare Metadata(plan=…), or ask is_dry_run().",
        error_type="dry_run_ignored",
    )


def also_ran(error: AgentError) -> AgentError:
    """Return *error*, by which such a handler failed, as one that says that it ran."""
    from copy import copy

    real = ran_for_real()
    if error.error_type == real.error_type:
        return error
    error = copy(error)
    message = str(error.message).rstrip()
    error.message = f"{message}{'' if message.endswith(('.', '!', '?')) else '.'} {real.message}"
    hint = str(error.suggestion)
    error.suggestion = (
        real.suggestion if "try again" in hint.lower() else f"{real.suggestion} {hint}".rstrip()
    )
    error.recoverable = error.explicit_recoverable = error.promised = False
    error.retry_after_ms = 0
    return error


def warning(code: str, message: object, context: Mapping[str, Any]) -> Notice:
    """Return a warning whose every part may stand in a document."""
    return Notice(code, cleaned(text_of(message)), readable_context(context))


def readable_context(context: Mapping[str, Any]) -> dict[str, Any]:
    """Return *context* as plain data, a copy: a warning is kept until the answer.

    What cannot be encoded never fails the answer it is in.
    """
    try:
        found: dict[str, Any] = plain_copy(context, "context")
    except ValueError as unreadable:
        return {"unreadable": cleaned(str(unreadable))}
    return found


def flush_notices(writer: Writer) -> None:
    """Write the warnings of *writer* to stderr where no document has a place for them."""
    for notice in writer._reply.notices:
        writer.log(f"warning: {notice.message}")
    writer._reply.notices.clear()
    writer.flush()
