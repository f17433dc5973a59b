"""Where options stand, for commands that say where they must."""

from __future__ import annotations

from . import usage
from .calls import command_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..call import Invocation


def check(invocation: Invocation) -> None:
    """Refuse an option that stands behind an argument of the command; ours may stand anywhere."""
    seen = ""
    for word in command_line(invocation).words:
        if word.owner == "passed":
            return
        if word.owner == "ours" or word.is_value:
            continue
        if not word.option or word.text[1].isdigit():
            seen = "" if word.child is not None else seen or word.text
        elif seen:
            sentence = f'{word.option} must stand before "{seen}".'
            invocation.refuse(usage.other(sentence, word.option))
