"""An option that is unknown where it was typed, and known elsewhere or as an argument."""

from __future__ import annotations

from ..core import current
from ..declare import flag_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..call import Invocation
    from .scanning import Level


def place_of(option: str, typed: str = "") -> str:
    """Return how the running call has to pass *option*, ``""`` where nothing has its name.

    So it does where that is the right place already; *typed* is what was typed for it.
    """
    invocation = current()
    if invocation is None:
        return ""
    try:
        return _place_in(invocation, option, typed or option)
    except (Exception, SystemExit):  # code of the tool's own that looks for its commands
        return ""


def _place_in(invocation: Invocation, option: str, as_typed: str) -> str:
    words, root = invocation.call.rest, invocation.host.level()
    typed = next((at for at, word in enumerate(words) if word.partition("=")[0] == as_typed), None)
    if typed is None:
        return ""
    above: str = invocation.host.name()
    level: Level = root
    for at, child in _commands_in(words, root):
        if typed > at and level.owns(option):
            return f"{option} is an option of {above}: put it before {words[at]}."
        level, above = child, f"{above} {words[at]}"
        if typed < at and level.owns(option):
            return f"{option} is an option of {above}: put it behind {words[at]}."
    names = [each.name for each in invocation.host.command(level, deep=False).arguments]
    argument = next((name for name in names if flag_key(name) == flag_key(option)), "")
    return f"{argument} is an argument: pass its value without {option}." if argument else ""


def _commands_in(words: Sequence[str], root: Level) -> list[tuple[int, Level]]:
    """Return the commands that *words* name one below the other, with the places of their names.

    What stands between them may be the values of options that nobody knows.
    """
    found: list[tuple[int, Level]] = []
    level = root
    for at, word in enumerate(words):
        if word == "--" or not level.routes:
            break
        child = None if word.startswith("-") else level.child(word, level.words_first)
        if child is not None:
            found.append((at, child))
            level = child
    return found
