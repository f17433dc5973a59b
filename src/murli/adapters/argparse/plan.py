"""The plan function of a parser's command, called where the handler would begin."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

    from ...call import Invocation
    from ...declare import Metadata


def answer(invocation: Invocation, metadata: Metadata, parsed: Any) -> NoReturn:
    """Answer with what the plan function makes of *parsed*, and end the program."""
    planned: Any = metadata.plan(parsed) if metadata.plan is not None else None
    if type(planned).__name__ == "coroutine":
        from ...process.event_loops import run

        planned = run(planned, invocation.writer)
    invocation.running.returned = planned
    if invocation.capture is None:  # a person reads it, or nobody would come back to it
        from ...call import succeed

        code = succeed(invocation, "")
        invocation.running.returned = None
        invocation.exit(code)
    sys.exit(invocation.running.refused_exit_code if invocation.writer._reply.answered else 0)
