"""Contracts: pure functions from an outcome to a document and an exit code.

A contract is chosen by name. It never asks the runtime, reads no stream and no argv. The default,
murli 1.0, is here; the others are in `agent_spec`, loaded when one of them is chosen.

What they speak of, the outcomes, is here as well, and so is `Record`, the base of every small value
that crosses a room's door, because each module more is paid for at start-up; others get them from
`murli.outcome`. (``dataclasses`` would do for records, and costs a hello-world tool as much as
argparse.)
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from typing_extensions import Self

    from ..asides import Notice, Page
    from ..outcome import Failure, Outcome

    Respond = Callable[[Outcome, "Facts"], "Answer"]

SCHEMA_VERSION = "1.0"
CONTRACT_NAMES = ("murli", "response", "agent-spec-1.6", "agent-spec-2")


# -- what there is to say -------------------------------------------------------------------------


class Record:
    """An immutable value made of its ``__slots__``: comparable, printable, copyable, picklable."""

    __slots__ = ()

    def __setattr__(self, name: str, value: object = None) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable; use replace({name}=...)")

    __delattr__ = __setattr__

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self._values() == other._values()

    __hash__ = None  # type: ignore[assignment]  # the payload of an outcome may be unhashable

    def __repr__(self) -> str:
        values = self._values()
        shown = ", ".join(map("{}={!r}".format, values, values.values()))
        return f"{type(self).__name__}({shown})"

    def __reduce__(self) -> tuple[object, ...]:
        return _restore, (type(self), self._values())

    def _values(self) -> dict[str, Any]:
        names: tuple[str, ...] = self.__slots__
        return dict(zip(names, map(self.__getattribute__, names), strict=True))

    def replace(self, **changes: Any) -> Self:
        """Give a copy with *changes* applied."""
        unknown = set(changes) - set(self.__slots__)
        if unknown:
            raise TypeError(f"{type(self).__name__} has no {', '.join(sorted(unknown))}")
        copied: Self = _restore(type(self), {**self._values(), **changes})
        return copied


def fill(record: Record, **values: object) -> None:
    """Set the slots of a record that is being built; nothing else may."""
    for name, value in values.items():
        object.__setattr__(record, name, value)


def _restore(kind: Any, values: dict[str, Any]) -> Any:
    record = kind.__new__(kind)
    fill(record, **values)
    return record


class Success(Record):
    """The command did what it was asked; *result* is plain JSON data or ``None``.

    *attention* marks a result that somebody must act on, such as a report of failed checks.
    """

    __slots__ = ("message", "result", "attention")
    message: str
    result: Any
    attention: bool
    is_failure = False

    def __init__(self, message: str = "", result: Any = None, attention: bool = False) -> None:
        fill(self, message=message, result=result, attention=attention)


class Facts(Record):
    """What a document says about the invocation rather than about its outcome.

    *streamed* is how many items went out before it, ``None`` where the answer is no stream.
    """

    __slots__ = ("tool_version", "duration_ms", "notices", "meta", "page", "streamed")
    tool_version: str
    duration_ms: int
    notices: tuple[Notice, ...]
    meta: dict[str, Any]
    page: Page | None
    streamed: int | None

    def __init__(
        self,
        tool_version: str = "",
        duration_ms: int = 0,
        notices: tuple[Notice, ...] = (),
        meta: dict[str, Any] | None = None,
        page: Page | None = None,
        streamed: int | None = None,
    ) -> None:
        fill(
            self,
            tool_version=tool_version,
            duration_ms=duration_ms,
            notices=notices,
            meta=meta or {},
            page=page,
            streamed=streamed,
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
    if isinstance(outcome, Success):
        status = "plan" if outcome.attention else "ok"
        # What a status of the tool's own means stands where nothing else is said.
        message = outcome.message or facts.meta.get("message", "")
        document = _envelope(status, message, "result", outcome.result, facts)
        for name in ("exit_status", "etag", "not_modified"):
            if name in facts.meta:
                document[name] = facts.meta[name]
        return Answer(document)
    from ..outcome import Failure, Plan

    if isinstance(outcome, Failure):
        return Answer(_error(outcome, facts), outcome.error.code, "stderr")
    if isinstance(outcome, Plan):
        return Answer(_envelope("plan", outcome.message, "plan", outcome.plan, facts))
    from ..errors import EXIT_PARTIAL

    document = _envelope("partial", outcome.message, "result", outcome.result, facts)
    return Answer(document, EXIT_PARTIAL)


def _envelope(status: str, message: str, key: str, payload: Any, facts: Facts) -> dict[str, Any]:
    document: dict[str, Any] = {
        "status": status,
        "schema_version": SCHEMA_VERSION,
        "tool_version": facts.tool_version,
        "message": message,
    }
    page = facts.page
    if page is not None and not page.whole:
        # Before the result, so that who reads the beginning knows that it is not all.
        document["message"] = message or ("" if page.left_out else page.sentence())
        document["page"] = page.facts()
    document[key] = payload
    return document


def _error(failure: Failure, facts: Facts) -> dict[str, Any]:
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
    if failure.output is not None:
        document["result"] = failure.output
    document["schema_version"] = SCHEMA_VERSION
    document["tool_version"] = facts.tool_version
    return document
