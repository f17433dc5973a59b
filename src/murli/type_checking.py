"""What type checkers and editors read, and no program ever loads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Generic, Literal, TypedDict, TypeVar

from typing_extensions import dataclass_transform

from .core import field

# -- the words that arguments take; each checks them when it runs, against the same words --------

ContractName = Literal["murli", "response", "agent-spec-1.6", "agent-spec-2"]
OutputFormat = Literal["", "json", "ndjson", "text", "toon", "tsv"]
ProgressStream = Literal["auto", "stdout", "stderr"]
GuardMode = Literal["declared", "inferred"]
AgentsMode = Literal["pipe", "flag", "detect"]
DangerLevel = Literal["safe", "mutating", "destructive"]
Effect = Literal["created", "updated", "deleted", "noop"]
SideEffects = Literal["none", "partial", "complete"]
ValueKind = Literal["", "id", "path", "json"]
PatternType = Literal["", "alphanumeric_id", "uuid", "semver", "filepath", "url"]
AuthReason = Literal["missing", "invalid", "expired"]
RedirectReason = Literal["renamed", "restructured", "deprecated", "typo_corrected"]
Kind = Literal[
    "user_error",
    "tool_error",
    "partial",
    "incomplete",
    "precondition",
    "not_found",
    "conflict",
    "permission_denied",
    "auth_required",
    "payment_required",
    "timeout",
    "rate_limited",
    "unavailable",
    "redirected",
    "cancelled",
]


class CommonDetails(TypedDict, total=False):
    """The keywords of every constructor of an `AgentError`."""

    error_type: str
    recoverable: bool | None
    valid_values: Iterable[object] | None
    doc_url: str
    field: str
    detail: str
    context: Mapping[str, Any] | None
    fix_required: str
    fix_command: str


class Details(CommonDetails, total=False):
    """Those of the constructors that name none of them among their parameters."""

    retry_after_ms: int
    reason: str
    redirect_to: str
    permanent: bool


# -- records -------------------------------------------------------------------------------------

T = TypeVar("T")
Taken = TypeVar("Taken")
Stored = TypeVar("Stored")


class Given(Generic[Taken, Stored]):
    """The type of a field whose argument is of one type and whose attribute is of another."""

    def __get__(self, record: Any, owner: Any) -> Stored:
        raise NotImplementedError

    def __set__(self, record: Any, value: Taken) -> None:
        raise NotImplementedError


Several = Given[Sequence[T], tuple[T, ...]]
OrNone = Given[T | None, T]
SeveralOrNone = Given[Sequence[T] | None, tuple[T, ...]]


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
class Dataclass:
    """The base of `murli.core.Record`, by which a checker knows the parameters of each record."""


# How a record is made, see `murli.core.Record`.
Layout = tuple[
    dict[str, Any],  # parameter -> default, in their order; ... where there is none
    list[str],  # those that may be given by position
    set[str],  # those that must be given
    dict[str, Callable[[Any], Any]],  # what makes the stored value from the given one
    list[str],  # those that are not stored
]
