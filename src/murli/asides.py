"""What is said beside the answer: progress, warnings, and which part of the whole it is."""

from __future__ import annotations

from .formats import cleaned, plain
from .outcome import Record, fill

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from .writer import Writer


class ProgressEvent(Record):
    """How far a long operation has come; say what is known, leave the rest out."""

    __slots__ = ("stage", "current", "total", "percent", "eta_ms", "message")
    stage: str
    current: int
    total: int
    percent: float
    eta_ms: int
    message: str

    def __init__(
        self,
        stage: str = "",
        current: int = 0,
        total: int = 0,
        percent: float = 0.0,
        eta_ms: int = 0,
        message: str = "",
    ) -> None:
        fill(
            self,
            stage=stage,
            current=current,
            total=total,
            percent=percent,
            eta_ms=eta_ms,
            message=message,
        )


class Notice(Record):
    """A warning that does not change the outcome."""

    __slots__ = ("code", "message", "context")
    code: str
    message: str
    context: dict[str, Any]

    def __init__(self, code: str, message: str, context: dict[str, Any] | None = None) -> None:
        fill(self, code=code, message=message, context=context or {})


def readable_context(context: Mapping[str, Any]) -> dict[str, Any]:
    """Return *context* as plain data; what cannot be encoded never fails the answer it is in."""
    try:
        found: dict[str, Any] = plain(context, "context")
    except ValueError as unreadable:
        return {"unreadable": cleaned(str(unreadable))}
    return found


def flush_notices(writer: Writer) -> None:
    """Write the warnings of *writer* to stderr where no document has a place for them."""
    for notice in writer.notices:
        writer.log(f"warning: {notice.message}")
    writer.notices.clear()
    writer.flush()


class Page(Record):
    """Which part of a list an answer holds: ``write_success(text, items, page=Page(118, …))``.

    *total* is ``None`` where nobody has counted, *returned* where it is as many as the list has.
    *has_more* tells that there is more behind this part, as a *next_cursor* does; *cut* that a
    limit on the size, and not the caller, decided what it holds. *rest* is the exact call that
    gives what is missing, *next_cursor* what it says after ``--cursor``; *left_out* are the fields
    that were too large for the answer.
    """

    __slots__ = ("total", "returned", "has_more", "cut", "next_cursor", "rest", "left_out")
    total: int | None
    returned: int | None
    has_more: bool
    cut: bool
    next_cursor: str
    rest: str
    left_out: tuple[str, ...]

    def __init__(
        self,
        total: int | None = None,
        returned: int | None = None,
        *,
        has_more: bool = False,
        cut: bool = False,
        next_cursor: str = "",
        rest: str = "",
        left_out: Sequence[str] = (),
    ) -> None:
        fill(
            self,
            total=total,
            returned=returned,
            has_more=has_more or bool(next_cursor),
            cut=cut,
            next_cursor=next_cursor,
            rest=rest,
            left_out=tuple(left_out),
        )

    @property
    def whole(self) -> bool:
        """Whether nothing is missing behind this part."""
        return not (self.has_more or self.cut)

    def sentence(self) -> str:
        """Return what there is to say of a part, where its author says nothing."""
        told = f"{self.returned}" if self.total is None else f"{self.returned} of {self.total}"
        return f"{told}; the rest: {self.rest}" if self.rest else f"{told}."

    def facts(self) -> dict[str, Any]:
        """Give what a caller must know who holds a part of the whole."""
        document: dict[str, Any] = {"total": self.total, "returned": self.returned}
        if self.next_cursor:
            document["next_cursor"] = self.next_cursor
        if self.left_out:
            document["left_out"] = list(self.left_out)
        if self.rest:
            document["rest"] = self.rest
        return document
