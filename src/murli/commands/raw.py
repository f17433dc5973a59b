"""Answers of our commands that are no outcome: texts, and documents without an envelope."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

    from ..answer import Writer
    from ..call import Invocation


def show_help(invocation: Invocation, text: str) -> NoReturn:
    """Show the help of a command of ours, and end the program."""
    code = invocation.extras.explain(text)
    if code is None:
        write_raw(invocation.writer, text)
    invocation.exit(code or 0)


def write_raw(writer: Writer, text: str) -> None:
    """Answer with a document without an envelope, such as a schema."""
    from ..answer.presentation import flush_notices

    with writer._outlet.lock:
        flush_notices(writer)
        writer._reply.answered = True
        writer._outlet.put("stdout", writer._outlet.scrubbed(text))
