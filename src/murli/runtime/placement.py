"""Where options stand, for commands that say where they must."""

from __future__ import annotations

from . import SEPARATOR, usage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .invocation import Invocation


def check(invocation: Invocation) -> None:
    """Refuse an option that stands behind an argument of the command; ours may stand anywhere."""
    option, before = _misplaced(invocation)
    if option:
        invocation.refuse(usage.other(f'{option} must stand before "{before}".', option))


def _misplaced(invocation: Invocation) -> tuple[str, str]:
    """Give the first such option, and the argument it should stand before."""
    level = invocation.host.level()
    words = [word for word in invocation.call.rest if word != SEPARATOR]
    position, seen, count = 0, "", 0
    while position < len(words) and words[position] != "--":
        word = words[position]
        if len(word) > 1 and word[0] == "-" and level.has_options and not word[1].isdigit():
            name, equals, _ = word.partition("=")
            if seen:
                return name, seen
            position += 1 if equals else 1 + level.width(name)[0]
            continue
        child = level.child(word, count)
        level, seen, count = (level, seen or word, count + 1) if child is None else (child, "", 0)
        position += 1
    return "", ""
