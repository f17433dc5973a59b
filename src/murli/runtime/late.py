"""Flags of ours behind a word that only the framework's own parse could tell the meaning of."""

from __future__ import annotations

from . import behind_the_last_of_ours
from .argv import put, said, scan
from .flags import PARTS, check, useless_for_people
from .usage import other

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..writer import Writer
    from .argv import Level
    from .invocation import Invocation

# What decides how everything is answered: it has been decided when the framework parses.
_EARLY = ("--agent", "--output", "--format", "--contract", "--protocol-version")


def take(
    invocation: Invocation, level: Level, above: Sequence[Level], words: Sequence[str]
) -> list[str]:
    """Act on our flags in *words*, the command line of *level*; return the words without them.

    *above* are the commands above. May answer and end the program.
    """
    vocabulary = None
    more: tuple[str, ...] = ()
    if invocation.writer.contract != "murli":
        from .family import VOCABULARY

        vocabulary, more = VOCABULARY, (*VOCABULARY.switches, *VOCABULARY.valued)
    if not behind_the_last_of_ours(words, (), more):
        return list(words)
    call = invocation.call
    without = useless_for_people(invocation.writer) if invocation.writer.is_tty() else ()
    found = scan(words, level, (), vocabulary, without=without, above=above)
    call.is_undecided, call.level, call.above = found.is_undecided, found.level, found.above
    call.rest = found.rest
    if not found.taken:
        return found.rest
    start = len(invocation.argv) - len(words)
    for name, position, count in found.taken:
        key = found.switches.get(name) or found.valued[name]
        value = said(found, key)
        if name in _EARLY and not _is_in_force(invocation.writer, name, value):
            word = level.path[-1]
            invocation.refuse(other(f'{name} must stand before "{word}" in this call.', name))
        call.taken.append((name, start + position, count))
        put(call, key, value)
    call.mistake = call.mistake or found.mistake
    invocation.scanned = True
    invocation.writer.in_lines |= call.stream
    if not PARTS.isdisjoint(name for name, _, _ in found.taken):
        invocation.shaper = None
    if call.schema or "output_schema" in call.extra:
        from ..commands.describe import show_schema

        show_schema(invocation)
    check(invocation)
    if call.extra:
        from .family import take_in

        take_in(invocation)
    return call.rest


def _is_in_force(writer: Writer, name: str, value: object) -> bool:
    """Return whether the call is answered as the flag *name* asks anyway."""
    if name == "--agent":
        return not writer.is_tty()
    if name == "--contract":
        return value == writer.contract
    if name == "--protocol-version":
        return True  # there is one; any other is refused wherever it stands
    return value == (writer.format() or ("text" if writer.is_tty() else "json"))
