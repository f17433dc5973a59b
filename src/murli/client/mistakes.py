"""What is raised: a mistake in the caller's own arguments, and, on request, a tool's failure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..formats.text import clean_line

if TYPE_CHECKING:
    from .decisions import Decision
    from .response import Response


class ArgumentMistake(ValueError):
    """A call that the tool would refuse; no process was started.

    *field* is the flag or argument, *valid_values* what it accepts, *suggestion* what to do.
    """

    def __init__(
        self,
        message: str,
        field: str = "",
        suggestion: str = "",
        valid_values: tuple[str, ...] = (),
    ) -> None:
        super().__init__(f"{message} {suggestion}".rstrip())
        self.message = message
        self.field = field
        self.suggestion = suggestion
        self.valid_values = valid_values


class ToolFailed(Exception):
    """A call that failed, with the answer and what the client decided about it last."""

    def __init__(self, response: Response[Any], decision: Decision) -> None:
        self.response = response
        self.decision = decision
        super().__init__(self._message())

    def __reduce__(self) -> tuple[type[ToolFailed], tuple[Response[Any], Decision]]:
        return (ToolFailed, (self.response, self.decision))

    def _message(self) -> str:
        problem = self.response.problem
        what = problem.code or problem.kind if problem is not None else self.response.state
        message = problem.message if problem is not None else ""
        advice = getattr(self.decision, "advice", "")
        name = self.response.argv[0] if self.response.argv else "the tool"
        # The tool's words may hold anything, and end up at somebody's terminal.
        return " ".join(
            part for part in (f"{name}: {what}.", clean_line(message), clean_line(advice)) if part
        )
