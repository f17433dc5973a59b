"""What happened, said without knowing who will read it or in which contract.

That it worked, and what all records are made of, is defined where every call needs it: see
`murli.contracts`.
"""

from __future__ import annotations

from .contracts import Record as Record
from .contracts import Success as Success
from .contracts import fill as fill

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .errors import AgentError


class Plan(Record):
    """What the command would do; nothing was done."""

    __slots__ = ("message", "plan")
    message: str
    plan: Any
    is_failure = False

    def __init__(self, message: str = "", plan: Any = None) -> None:
        fill(self, message=message, plan=plan)


class Partial(Record):
    """Some of the work succeeded and some failed; *result* tells which."""

    __slots__ = ("message", "result")
    message: str
    result: Any
    is_failure = False

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
    is_failure = True

    def __init__(self, error: AgentError, phase: str = "", output: Any = None) -> None:
        fill(self, error=error, phase=phase, output=output)


if TYPE_CHECKING:
    Outcome = Success | Plan | Partial | Failure
