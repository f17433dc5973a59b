"""What a handler says on the way to its answer: progress and warnings."""

from __future__ import annotations

from .record import Record, fill

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


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
