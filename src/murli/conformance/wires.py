"""What the contracts say differently where they ask for the same: numbers, names, options."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Wire:
    """The numbers and words of one contract."""

    #: the exit codes of a wrong call, of what is done by half, of too little time, of an interrupt
    wrong_call: int
    partial: int
    timeout: int
    cancelled: int
    #: what an error is called that asks for a confirmation
    confirmation: str
    #: the option that names the format
    format_flag: str
    #: where an error says how to mend a wrong call
    advice: str


WIRES = {
    "murli": Wire(1, 3, 4, 9, "confirmation_required", "output", "suggestion"),
    "response": Wire(3, 2, 10, 130, "CONFIRMATION_REQUIRED", "output", "suggestion"),
    "agent-spec-1.6": Wire(2, 3, 10, 130, "CONFIRMATION_REQUIRED", "output", "fix_required"),
    "agent-spec-2": Wire(2, 3, 10, 130, "CONFIRMATION_REQUIRED", "format", "fix_required"),
}
#: the exit code of a call that is led elsewhere, and of what only a person could have answered
REDIRECTED, PRECONDITION = 13, 4
