"""The murli 1.0 contract: ``status`` says what happened; errors are documents of their own."""

from __future__ import annotations

from ..outcome import Failure, Partial, Plan
from . import Answer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..outcome import Outcome
    from . import Facts

SCHEMA_VERSION = "1.0"


def respond(outcome: Outcome, facts: Facts) -> Answer:
    """Say *outcome* as a murli document."""
    if isinstance(outcome, Failure):
        return Answer(_error(outcome, facts), outcome.error.code, "stderr")
    if isinstance(outcome, Plan):
        return Answer(_envelope("plan", outcome.message, "plan", outcome.plan, facts))
    if isinstance(outcome, Partial):
        from ..errors import EXIT_PARTIAL

        document = _envelope("partial", outcome.message, "result", outcome.result, facts)
        return Answer(document, EXIT_PARTIAL)
    status = "plan" if outcome.attention else "ok"
    return Answer(_envelope(status, outcome.message, "result", outcome.result, facts))


def _envelope(status: str, message: str, key: str, payload: Any, facts: Facts) -> dict[str, Any]:
    return {
        "status": status,
        "schema_version": SCHEMA_VERSION,
        "tool_version": facts.tool_version,
        "message": message,
        key: payload,
    }


def _error(failure: Failure, facts: Facts) -> dict[str, Any]:
    from ..errors import EXIT_RATE_LIMITED

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
    # A throttled caller must know how long to wait, also when the answer is "no time at all".
    if error.retry_after_ms or error.code == EXIT_RATE_LIMITED:
        document["retry_after_ms"] = error.retry_after_ms
    if error.field:
        document["field"] = error.field
    if error.doc_url:
        document["doc_url"] = error.doc_url
    if failure.output is not None:
        document["result"] = failure.output
    document["schema_version"] = SCHEMA_VERSION
    document["tool_version"] = facts.tool_version
    return document
