"""Contracts: pure functions from an outcome to a document and an exit code.

A contract is chosen by name. It never asks the runtime, reads no stream and no argv. The default,
murli 1.0, is here; the others are in `agent_spec`, loaded when one of them is chosen.
"""

from __future__ import annotations

from ..outcome import Failure, Partial, Plan
from ..record import Record, fill

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..asides import Notice, Page
    from ..outcome import Outcome

    Respond = Callable[["Outcome", "Facts"], "Answer"]

SCHEMA_VERSION = "1.0"
CONTRACT_NAMES = ("murli", "response", "agent-spec-1.6", "agent-spec-2")


class Facts(Record):
    """What a document says about the invocation rather than about its outcome."""

    __slots__ = ("tool_version", "duration_ms", "notices", "meta", "page")
    tool_version: str
    duration_ms: int
    notices: tuple[Notice, ...]
    meta: dict[str, Any]
    page: Page | None

    def __init__(
        self,
        tool_version: str = "",
        duration_ms: int = 0,
        notices: tuple[Notice, ...] = (),
        meta: dict[str, Any] | None = None,
        page: Page | None = None,
    ) -> None:
        fill(
            self,
            tool_version=tool_version,
            duration_ms=duration_ms,
            notices=notices,
            meta=meta or {},
            page=page,
        )


class Answer(Record):
    """A document, the exit code that goes with it, and the stream it belongs on."""

    __slots__ = ("document", "exit_code", "stream")
    document: dict[str, Any]
    exit_code: int
    stream: str

    def __init__(
        self, document: dict[str, Any], exit_code: int = 0, stream: str = "stdout"
    ) -> None:
        fill(self, document=document, exit_code=exit_code, stream=stream)


def respond_in(contract: str) -> Respond:
    """Give the function that answers in *contract*; `ValueError` for a name that is none."""
    if contract == "murli":
        return respond_in_murli
    from .agent_spec import REVISIONS, respond_as

    if contract not in REVISIONS:
        raise ValueError(f"contract is one of {', '.join(CONTRACT_NAMES)}, not {contract!r}")
    return respond_as(REVISIONS[contract])


# -- murli 1.0: ``status`` says what happened; errors are documents of their own ------------------


def respond_in_murli(outcome: Outcome, facts: Facts) -> Answer:
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
    document = _envelope(status, outcome.message, "result", outcome.result, facts)
    for name in ("etag", "not_modified"):
        if name in facts.meta:
            document[name] = facts.meta[name]
    return Answer(document)


def _envelope(status: str, message: str, key: str, payload: Any, facts: Facts) -> dict[str, Any]:
    document = {
        "status": status,
        "schema_version": SCHEMA_VERSION,
        "tool_version": facts.tool_version,
        "message": message,
        key: payload,
    }
    if facts.page is not None and not facts.page.whole:
        document["page"] = facts.page.facts()
    return document


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
