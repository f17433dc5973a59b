"""A call that the tool's own parser found wrong, until it is known what the tool makes of that.

The parser ends the program, and a tool may catch that: to exit with another status, or to go on.
What it does is the answer, so the document waits for the end of the process.
"""

from __future__ import annotations

from ...outcome import Refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

    from ...errors import AgentError
    from .. import Invocation


def refuse(invocation: Invocation, error: AgentError, status: int) -> NoReturn:
    """Answer that the call is wrong, for which the parser exits with *status*.

    Where the end of the process answers, it does; until then the program is the tool's.
    """
    if not invocation.process.is_owned or invocation.writer._reply.answered:
        invocation.refuse(error)
    usage_code = invocation.settings.usage_exit_code
    if usage_code and error.error_type in ("flag_error", "command_error"):
        error.code = usage_code
    invocation.running.refusal = Refusal(error, status)
    import sys

    sys.exit(status)
