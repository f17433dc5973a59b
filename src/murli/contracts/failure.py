"""A failure in murli 1.0: a document of its own, loaded when there is one."""

from __future__ import annotations

from ..formats.text import in_lines
from . import SCHEMA_VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..outcome import Failure
    from . import Facts


def error_document(failure: Failure, facts: Facts) -> dict[str, Any]:
    """Return the document that says *failure*."""
    error = failure.error
    document: dict[str, Any] = {
        "status": "error",
        "code": error.code,
        "error": error.error_type,
        "message": error.message,
    }
    if error.advice:
        document["suggestion"] = error.advice
    if error.valid_values:
        document["valid_values"] = list(error.valid_values)
    document["recoverable"] = error.recoverable
    # A throttled caller must know how long to wait, also when the answer is "no time at all". The
    # same number is no such answer where it is the tool's own exit status.
    if error.retry_after_ms or error.kind == "rate_limited":
        document["retry_after_ms"] = error.retry_after_ms
    if error.field:
        document["field"] = error.field
    if error.doc_url:
        document["doc_url"] = error.doc_url
    if error.kind == "redirected":
        from .envelope import Redirect

        moved = Redirect(error.redirect_to, error.permanent, error.reason)
        document["redirect"] = moved.document()
    if failure.usage:
        document["usage"] = failure.usage
    if failure.next:
        document["next"] = list(failure.next)
    if failure.output is not None:
        document["result"] = in_lines(failure.output)
    document["schema_version"] = SCHEMA_VERSION
    document["tool_version"] = facts.tool_version
    return document
