"""What a handler gave us, made fit to be read: errors and progress."""

from __future__ import annotations

import copy

from .asides import flush_notices, readable_context
from .contracts import Facts
from .errors import kind_of
from .formats import plain, text_of
from .formats.text import clean, clean_line
from .outcome import Failure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .asides import Page, ProgressEvent
    from .errors import AgentError
    from .writer import Writer

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
    if writer.phase == "execution" and writer.forgot_dry_run():
        from .runtime.guard import also_ran

        error = also_ran(error)
    error = presentable(error)
    return writer.answer(failure.replace(error=error), error_text(error))


def code_of(writer: Writer, error: AgentError) -> int:
    """Return the exit code of *error* in the contract of *writer*."""
    return writer._respond(Failure(presentable(error)), Facts()).exit_code


def stderr_is_closed(writer: Writer) -> bool:
    """Return whether nobody can read stderr: it is closed, or became another file."""
    if writer.stream_of("stderr") is None:
        return True
    capture = writer.invocation.capture if writer.invocation is not None else None
    return capture is not None and not capture.stderr_is_ours


def error_text(error: AgentError) -> str:
    """Give *error* as people read it: what happened, and what to do."""
    shown = f"Error: {clean_line(error.message)}"
    return f"{shown}\nHint:  {clean_line(error.advice)}" if error.advice else shown


def presentable(error: AgentError) -> AgentError:
    """Give a copy of *error* whose every part may stand in a document."""
    error = copy.copy(error)
    for name in _TEXTS:
        setattr(error, name, clean(text_of(getattr(error, name))))
    error.kind = kind_of(error)
    try:
        error.valid_values = [clean(text_of(value)) for value in error.valid_values]
    except Exception:  # its author put something else there
        error.valid_values = []
    error.code, error.retry_after_ms = int(error.code), _milliseconds(error.retry_after_ms)
    error.recoverable = bool(error.recoverable)
    error.context = readable_context(error.context)
    return error


def _milliseconds(value: Any) -> int:
    """Return a delay an author gave as a number that may be told, 0 where it is none."""
    try:
        return min(int(value), _LARGEST_INTEGER)
    except (TypeError, ValueError, OverflowError):  # text, NaN or infinity
        return 0


def progress_document(evt: ProgressEvent) -> dict[str, Any]:
    """Give progress as a line agents read; what was not said is not there."""
    document: dict[str, Any] = {"event": "progress"}
    for name in evt.__slots__:
        value = getattr(evt, name)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if value:
            document[name] = plain(value)
    return document


def progress_text(evt: ProgressEvent) -> str:
    """Give progress as a line people read."""
    text = f"[{evt.stage}] {evt.message}" if evt.stage else str(evt.message)
    if evt.total > 0:
        share = f", {evt.percent:.0f}%" if evt.percent > 0 else ""
        text += f" ({evt.current}/{evt.total}{share})"
    return clean_line(text)


def with_payload(writer: Writer, text: str | Callable[[], str], payload: Any) -> str:
    """Return *text* with *payload* below it as people read it."""
    from .formats.people import drawn, readable

    shown = text() if callable(text) else str(text)
    value = readable(list(payload) if hasattr(payload, "__next__") else payload)
    if writer.invocation is not None and writer.invocation.shaper is not None:
        value = writer.invocation.shaper.show(value)
    value = writer.scrubbed_value(value)
    below = "" if value is None else drawn(value, writer.stream_of("stdout"))
    return "\n".join(part.rstrip("\n") for part in (shown, below) if part)


def tell_rest(writer: Writer, page: Page) -> None:
    """Say on stderr what is missing, where the answer has no place for it."""
    total = "more" if page.total is None else page.total
    rest = f"; for the rest: {page.rest}" if page.rest else ""
    writer.log(f"{page.returned} of {total} given{rest}")


def result_text(writer: Writer, result: Any) -> str:
    """Return *result* as people read it, where its handler wrote no text for them."""
    from .formats.people import readable, render

    invocation, value = writer.invocation, readable(result)
    if invocation is None or invocation.printed or value is None:
        return ""
    if writer.own_page is not None:
        from .outcome import Success
        from .runtime.own_paging import completed

        page = completed(writer, Success("", value), writer.own_page)
        if not page.whole:
            tell_rest(writer, page)
    value = value if invocation.shaper is None else invocation.shaper.show(value)
    return render(writer.scrubbed_value(value))


def tell_beside(writer: Writer, page: Page | None, meta: dict[str, Any]) -> None:
    """Say on stderr what data alone does not say."""
    flush_notices(writer)
    if page is not None and not page.whole:
        tell_rest(writer, page)
    if "etag" in meta:
        same = ", not modified" if meta.get("not_modified") else ""
        writer.log(f"etag {meta['etag']}{same}")
    writer.flush()
