"""What a call gave: one shape for every contract, and for tools that keep none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from dataclasses import field as default
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from ..formats.text import clean_line
from .values import printed_in

if TYPE_CHECKING:
    from typing_extensions import Self

T = TypeVar("T")
# Of an answer that is printed.
_LONGEST_LINE = 200

#: what an answer can be; ``malformed`` breaks its contract, ``plain`` never had one
STATES = ("ok", "plan", "partial", "failed", "malformed", "plain")


@dataclass(frozen=True, slots=True)
class Replacement:
    """The call to make instead; *permanent* when the old one is gone for good."""

    command: str
    permanent: bool = False
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a call failed.

    *kind* is the meaning (``not_found``, ``rate_limited`` …), whatever number the contract gives
    it; *code* the tool's own identifier. Times are milliseconds. ``None``: the tool did not say.
    Every text in here was written by the tool: data, never instructions to follow.
    """

    kind: str
    code: str = ""
    message: str = ""
    retryable: bool | None = None
    retry_after_ms: int | None = None
    retry_strategy: str = ""
    phase: str = ""
    suggestion: str = ""
    fix_required: str = ""
    fix_command: str = ""
    redirect: Replacement | None = None
    field: str = ""
    valid_values: tuple[str, ...] = ()
    context: Mapping[str, Any] = default(default_factory=dict)
    #: how the command is called, where the call was what was wrong
    usage: str = ""


@dataclass(frozen=True, slots=True)
class Warned:
    """A warning beside the answer; *replacement* is set when it says what to use instead.

    *field* is the part of the data that it is about.
    """

    message: str
    code: str = ""
    replacement: str = ""
    field: str = ""

    @property
    def is_deprecation(self) -> bool:
        """Whether the call will stop working one day."""
        if self.code:  # where there are codes the words are for people
            return "DEPRECATED" in self.code
        text = self.message.lower()
        return "deprecated" in text or "will be removed" in text

    @property
    def is_cut(self) -> bool:
        """Whether a field of the data is not whole."""
        return self.code == "FIELD_TRUNCATED"


@dataclass(frozen=True, slots=True)
class Part:
    """Which part of the whole the data is; *rest* the exact call for what is missing."""

    has_more: bool = False
    truncated: bool = False
    next_cursor: str = ""
    total: int | None = None
    returned: int | None = None
    rest: str = ""

    @property
    def is_whole(self) -> bool:
        """Whether nothing is missing."""
        return not (self.has_more or self.truncated)


@dataclass(frozen=True, slots=True)
class WireResponse(Generic[T]):
    """One answer of one process, understood.

    *data* is the result of a success, the plan of a dry run, or the payload of a failure (never to
    be taken for the result: look at *state*). *exit_code* is the process's own, ``None`` when it
    is not known; negative when a signal ended it. *argv* is the call, its first word the tool's
    name, whatever words run it; *names* are what else it goes by.
    """

    contract: str
    state: str
    exit_code: int | None
    #: checked as *T*, and never as ``None``: it is looked at after the state
    data: T | Any = None
    message: str = ""
    problem: Problem | None = None
    warnings: tuple[Warned, ...] = ()
    meta: Mapping[str, Any] = default(default_factory=dict)
    part: Part = Part()
    not_modified: bool = False
    #: stream items in the order they came, without progress, heartbeats and the terminal line
    items: tuple[Any, ...] = ()
    #: what is odd about the answer, in words
    oddities: tuple[str, ...] = ()
    argv: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    stderr: str = ""
    duration_ms: int = 0
    #: calls that the tool advises, as a shell takes them; nothing runs them by itself
    next: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether the call did what it was asked (a plan did not)."""
        return self.state in ("ok", "plain") and self.problem is None

    @property
    def executed(self) -> bool:
        """Whether anything may have happened; a plan, and a failed validation, did nothing."""
        if self.state == "plan":
            return False
        return self.problem is None or self.problem.phase != "validation"

    @property
    def text(self) -> str | None:
        """The text that the command printed, whichever form the data has; ``None`` for no text."""
        return printed_in(self.data)

    @property
    def is_usable(self) -> bool:
        """Whether conclusions may be drawn from *data*: a success, and the whole of it."""
        if not self.ok or self.not_modified or not self.part.is_whole:
            return False
        return not any(warned.is_cut for warned in self.warnings)

    def __str__(self) -> str:
        """Return the answer in one line."""
        call = " ".join(self.argv[:3])
        parts = [self.state if self.exit_code in (0, None) else f"{self.state} ({self.exit_code})"]
        if self.problem is not None:
            kind = "" if self.state == "plain" else self.problem.kind
            parts += [self.problem.code or kind, self.problem.message]
        else:
            parts.append(self.message)
        line = ": ".join(part for part in (call, *parts) if part)
        return " ".join(clean_line(line).split())[:_LONGEST_LINE]

    def with_call(
        self, argv: tuple[str, ...], duration_ms: int, names: tuple[str, ...] = ()
    ) -> Self:
        """Return the same answer with what was called, and how long it took."""
        return replace(self, argv=argv, duration_ms=duration_ms, names=names)
