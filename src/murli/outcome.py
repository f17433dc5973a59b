"""What happened, independent of the reader and of the contract.

That it worked, and what all records are made of, is defined where every call needs it: see
`murli.core`.
"""

from __future__ import annotations

from .core import Record as Record
from .core import Success as Success
from .core import field as field
from .core import fill as fill
from .core import layout_of, or_empty

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dataclasses import KW_ONLY
    from inspect import Signature
    from typing import Any

    from .errors import AgentError
    from .type_checking import Given, Several


def signature_of(kind: type[Record]) -> Signature:
    """Return what the constructor of *kind* takes."""
    from inspect import Parameter, Signature, signature

    if kind.__init__ is not Record.__init__:
        own = list(signature(kind.__init__).parameters.values())
        return Signature(own[1:])
    defaults, positional, required, *_ = layout_of(kind)
    kinds = (Parameter.KEYWORD_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    found = []
    for name, value in defaults.items():
        default = Parameter.empty if name in required else value
        found.append(Parameter(name, kinds[name in positional], default=default))
    return Signature(found)


class Plan(Record):
    """What the command would do; nothing was done."""

    message: str = ""
    plan: Any = None
    is_failure = False
    next = ()


class Partial(Record):
    """Some of the work succeeded and some failed; *result* has the details.

    *next* is the call that looks at the state.
    """

    message: str = ""
    result: Any = None
    next: Several[str] = field(default=(), convert=tuple)
    is_failure = False


class Failure(Record):
    """The command failed with *error*.

    *phase* is ``validation`` only when nothing has happened yet, ``execution`` or ``cleanup``
    otherwise, and empty when nobody knows. *output* is what the command had printed by then.
    *usage* is how the command is called, *next* the call that looks at the state.
    """

    error: AgentError
    phase: str = ""
    output: Any = None
    usage: str = ""
    next: Several[str] = field(default=(), convert=tuple)
    is_failure = True


if TYPE_CHECKING:
    Outcome = Success | Plan | Partial | Failure


class ProgressEvent(Record):
    """How far a long operation has come; leave out what is unknown."""

    stage: str = ""
    current: int = 0
    total: int = 0
    percent: float = 0.0
    eta_ms: int = 0
    message: str = ""


class Notice(Record):
    """A warning that does not change the outcome."""

    code: str
    message: str
    context: Given[dict[str, Any] | None, dict[str, Any]] = field(default=None, convert=or_empty)


class Page(Record):
    """Which part of a list an answer holds: ``write_success(text, items, page=Page(118, …))``.

    *total* is ``None`` where nobody has counted, *returned* where it is as many as the list has.
    *has_more* means that more follows this part, as a *next_cursor* does; *cut* that a
    limit on the size, and not the caller, decided what it holds. *rest* is the exact call that
    returns what is missing, *next_cursor* its value of ``--cursor``; *left_out* are the fields
    that were too large for the answer.
    """

    total: int | None = None
    returned: int | None = None
    _: KW_ONLY
    has_more: bool = False
    cut: bool = False
    next_cursor: str = ""
    rest: str = ""
    left_out: Several[str] = field(default=(), convert=tuple)

    def _check(self, given: dict[str, Any]) -> None:
        if self.next_cursor:
            fill(self, has_more=True)

    @property
    def whole(self) -> bool:
        """Whether nothing is missing behind this part."""
        return not (self.has_more or self.cut)

    def sentence(self) -> str:
        """Return the sentence for a part whose author wrote none."""
        text = f"{self.returned}" if self.total is None else f"{self.returned} of {self.total}"
        return f"{text}; the rest: {self.rest}" if self.rest else f"{text}."

    def facts(self) -> dict[str, Any]:
        """Return what a caller must know about a part of the whole."""
        document: dict[str, Any] = {"total": self.total, "returned": self.returned}
        if self.next_cursor:
            document["next_cursor"] = self.next_cursor
        if self.left_out:
            document["left_out"] = list(self.left_out)
        if self.rest:
            document["rest"] = self.rest
        return document


def status_of(code: object) -> int:
    """Return the exit status Python makes of ``SystemExit(code)``."""
    if code is None:
        return 0
    if not isinstance(code, int):
        return 1
    # What does not fit a C long is -1 to Python.
    return code & 0xFF if -(2**63) <= code < 2**63 else 0xFF


class Refusal:
    """What is wrong with a call, and what ended its parse: an exit with *status*, or *raised*.

    *usage* is how the command is called, where that is not the one of the command line.
    """

    def __init__(
        self,
        error: AgentError,
        status: int = 1,
        raised: BaseException | None = None,
        usage: str | None = None,
    ) -> None:
        self.error = error
        self.status = status
        self.raised = raised
        self.usage = usage

    def ended(self, status: int) -> AgentError:
        """Return the failure of a program that exits with *status* behind it."""
        if self.raised is not None or status != self.status:
            self.error.code = status
        return self.error
