"""How much a command may print, and how to read it as it comes."""

from __future__ import annotations

import os

from ..contracts import MURLI
from ..core import current
from .outlets import reader_is_gone

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..call import Invocation


# What one document may hold of printed text; MURLI_MAX_PRINTED says otherwise.
MOST_PRINTED = 1 << 26


def check_printing(descriptor: int, printed: int) -> None:
    """Raise when a program that has printed this much had better stop."""
    if reader_is_gone(descriptor):
        raise BrokenPipeError(32, "Broken pipe")
    given = os.environ.get("MURLI_MAX_PRINTED", "")
    most = int(given) if given.isdecimal() else MOST_PRINTED
    if printed > most:
        from ..errors import AgentError

        raise AgentError.tool_error(
            f"The command printed more than {most:,} bytes, which is no answer.",
            f"{_sentence(ways_to_text(current()))} to read it as it comes, or ask for less.",
            error_type="output_too_large",
        )


def ways_to_text(invocation: Invocation | None, *, streams: bool = True) -> str:
    """Return what to do to get what a command prints as it comes: ``pass --output text``.

    With *streams* also to get its lines as events.
    """
    contract = MURLI if invocation is None else invocation.request.contract
    name, form = contract.format_flag, contract.text_format
    level = invocation.call.level if invocation is not None else None
    own = invocation.host.options(invocation.running.command) if invocation is not None else []
    way = f"pass {name} {form}"
    if name in own or (level is not None and level.owns(name)):
        way = "set MURLI_MODE=human"
    return f"{way}, or --stream," if streams and "--stream" not in own else way


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:]
