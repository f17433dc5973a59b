"""The plan function of a parser's command, called where the handler would begin."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

    from ..metadata import Metadata
    from ..runtime.invocation import Invocation


def answer(invocation: Invocation, metadata: Metadata, parsed: Any) -> NoReturn:
    """Answer with what the plan function makes of *parsed*, and end the program."""
    planned: Any = metadata.plan(parsed) if metadata.plan is not None else None
    if type(planned).__name__ == "coroutine":
        from ..runtime.loops import run

        planned = run(planned, invocation.writer)
    invocation.returned = planned
    if invocation.capture is None:  # a person reads it, or nobody would come back to it
        code = invocation.succeed("")
        invocation.returned = None
        invocation.end(code)
    sys.exit(invocation.standing if invocation.writer.answered else 0)
