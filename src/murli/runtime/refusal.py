"""A call that the tool's own parser found wrong, until it is known what the tool makes of that.

The parser ends the program, and a tool may catch that: to exit with another status, or to go on.
What it does is the answer, so the document waits for the end of the process.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

    from ..errors import AgentError
    from .invocation import Invocation


class Refusal:
    """What is wrong with a call, and what ended its parse: an exit with *status*, or *raised*."""

    def __init__(
        self, error: AgentError, status: int = 1, raised: BaseException | None = None
    ) -> None:
        self.error = error
        self.status = status
        self.raised = raised

    def ended(self, status: int) -> AgentError:
        """Return the failure of a program that exits with *status* behind it."""
        if self.raised is not None or status != self.status:
            self.error.code = status
        return self.error


def refuse(invocation: Invocation, error: AgentError, status: int) -> NoReturn:
    """Answer that the call is wrong, for which the parser exits with *status*.

    Where the end of the process answers, it does; until then the program is the tool's.
    """
    if not invocation.owned or invocation.writer.answered:
        invocation.refuse(error)
    usage_code = invocation.settings.usage_exit_code
    if usage_code and error.error_type in ("flag_error", "command_error"):
        error.code = usage_code
    invocation.refusal = Refusal(error, status)
    import sys

    sys.exit(status)
