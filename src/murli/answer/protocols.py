"""Commands whose stdout is not for us to write on: it carries a protocol, such as MCP's.

What such a command prints goes out as it is, its stdin waits for as long as it likes, and so does
the command. Only a failure is reported, in the last line of stderr.
"""

from __future__ import annotations

import os

from ..formats import standard

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..call import Invocation


def leave_stdout(invocation: Invocation) -> None:
    """Leave stdout to the command, where it was being collected."""
    writer = invocation.writer
    if writer.is_tty():
        return
    writer._reply.hide_success = writer._reply.one_line = True
    writer._outlet.stdout = standard("stderr")
    if invocation.capture is not None:
        invocation.capture.let_through()
    before = os.environ.get("MURLI_STDIN_TIMEOUT")
    os.environ["MURLI_STDIN_TIMEOUT"] = "0"

    def undo() -> None:
        if before is None:
            os.environ.pop("MURLI_STDIN_TIMEOUT", None)
        else:
            os.environ["MURLI_STDIN_TIMEOUT"] = before

    invocation.undo.append(undo)
