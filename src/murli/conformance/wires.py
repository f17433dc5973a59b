"""Numbers, names and options in which the contracts differ."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Wire:
    """The numbers and words of one contract."""

    #: the exit codes of a wrong call, a partial success, a timeout and an interrupted call
    wrong_call: int
    partial: int
    timeout: int
    cancelled: int
    #: the error that asks for a confirmation
    confirmation: str
    #: the option that names the format
    format_flag: str
    #: the field of an error that says what to do
    advice: str


WIRES = {
    "murli": Wire(1, 3, 4, 9, "confirmation_required", "output", "suggestion"),
    "response": Wire(3, 2, 10, 130, "CONFIRMATION_REQUIRED", "output", "suggestion"),
    "agent-spec-1.6": Wire(2, 3, 10, 130, "CONFIRMATION_REQUIRED", "output", "fix_required"),
    "agent-spec-2": Wire(2, 3, 10, 130, "CONFIRMATION_REQUIRED", "format", "fix_required"),
}
#: the exit codes of a redirect, and of a call that only a person could answer
REDIRECTED, PRECONDITION = 13, 4
