"""What happened, said without knowing who will read it or in which contract."""

from __future__ import annotations

from .record import Record, fill

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .errors import AgentError


class Success(Record):
    """The command did what it was asked; *result* is plain JSON data or ``None``.

    *attention* marks a result that somebody must act on, such as a report of failed checks.
    """

    __slots__ = ("message", "result", "attention")
    message: str
    result: Any
    attention: bool

    def __init__(self, message: str = "", result: Any = None, attention: bool = False) -> None:
        fill(self, message=message, result=result, attention=attention)


class Plan(Record):
    """What the command would do; nothing was done."""

    __slots__ = ("message", "plan")
    message: str
    plan: Any

    def __init__(self, message: str = "", plan: Any = None) -> None:
        fill(self, message=message, plan=plan)


class Partial(Record):
    """Some of the work succeeded and some failed; *result* tells which."""

    __slots__ = ("message", "result")
    message: str
    result: Any

    def __init__(self, message: str = "", result: Any = None) -> None:
        fill(self, message=message, result=result)


class Failure(Record):
    """The command failed with *error*.

    *phase* is ``validation`` only when nothing has happened yet, ``execution`` or ``cleanup``
    otherwise, and empty when nobody knows. *output* is what the command had printed by then.
    """

    __slots__ = ("error", "phase", "output")
    error: AgentError
    phase: str
    output: Any

    def __init__(self, error: AgentError, phase: str = "", output: Any = None) -> None:
        fill(self, error=error, phase=phase, output=output)


if TYPE_CHECKING:
    Outcome = Success | Plan | Partial | Failure
