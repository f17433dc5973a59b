"""What a session wants done: each step says what it is, and the docstring what to send back."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from .decisions import Decision
    from .response import Response

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Run:
    """Run the tool with *words*: a `ProcessResult`, with the `Items` of one that *streams*.

    It may take as long as any process, and the seconds that it *waits* besides, but no more than
    *most*.
    """

    words: tuple[str, ...]
    stdin: bytes | None = None
    streams: bool = False
    waits: float = 0.0
    most: float = float("inf")


@dataclass(frozen=True, slots=True)
class Wait:
    """Wait *delay_ms*, and up to *spread_ms* more, so that many callers do not come at once."""

    delay_ms: int
    spread_ms: int = 0


@dataclass(frozen=True, slots=True)
class Refresh:
    """Renew the credentials that *response* found expired: whether that worked."""

    response: Response[Any]


@dataclass(frozen=True, slots=True)
class Recall:
    """Look up the permanent redirects of the tool: the rules."""


@dataclass(frozen=True, slots=True)
class Remember:
    """Keep a permanent redirect."""

    old: tuple[str, ...]
    new: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Load:
    """Look up what is kept of the tool's catalogue: a `Kept`, or ``None``."""


@dataclass(frozen=True, slots=True)
class Save:
    """Keep the tool's catalogue."""

    entry: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Report:
    """Report what was decided to the observers."""

    decision: Decision
    response: Response[Any]


@dataclass(frozen=True, slots=True)
class Kept:
    """A catalogue that was kept; *is_certain* when the tool cannot have changed since."""

    entry: Mapping[str, Any]
    is_certain: bool


Step = Run | Wait | Refresh | Recall | Remember | Load | Save | Report
#: yields steps, is sent what they gave, returns its result
Steps = Generator[Step, Any, T]
