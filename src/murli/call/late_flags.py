"""Flags of ours behind a word that only the framework's own parse knows the meaning of."""

from __future__ import annotations

from ..core import end_of_own_flags
from ..line.flags import flags_in, part_flags
from ..line.scanning import flag_value, scan, set_flag
from ..line.usage import other
from .own_flags import check, useless_for_people

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..answer import Writer
    from ..line.scanning import Level
    from . import Invocation


def take(
    invocation: Invocation, level: Level, above: Sequence[Level], words: Sequence[str]
) -> list[str]:
    """Act on our flags in *words*, the command line of *level*; return the words without them.

    *above* are the commands above. May answer and end the program.
    """
    flags = flags_in(invocation.request.contract)
    if not end_of_own_flags(words, (), flags):
        return list(words)
    call = invocation.call
    without = useless_for_people(invocation.writer) if invocation.writer.is_tty() else ()
    repeats = not invocation.request.contract.refuses_repeats
    found = scan(words, level, (), flags, repeats=repeats, without=without, above=above)
    call.is_undecided, call.level, call.above = found.is_undecided, found.level, found.above
    call.rest = found.rest
    if not found.taken:
        return found.rest
    start = len(invocation.request.argv) - len(words)
    for name, position, count in found.taken:
        flag = flags[name]
        value = flag_value(found, flag.destination)
        # What decides how everything is answered has been decided when the framework parses.
        is_late = flag.is_early and not _is_in_force(invocation.writer, name, value)
        if is_late or flag.group == "wait":  # and what is repeated is the whole call
            word = (invocation.host.name(), *level.path)[-1]
            invocation.refuse(other(f'{name} must stand before "{word}" in this call.', name))
        call.taken.append((name, start + position, count))
        set_flag(call, flag.destination, value)
    call.mistake = call.mistake or found.mistake
    invocation.request.is_scanned = True
    invocation.writer._reply.one_line |= call.stream
    if not part_flags().isdisjoint(name for name, _, _ in found.taken):
        invocation.running.shaper = None
    if call.schema or "output_schema" in call.extra:
        invocation.settings.commands().show_schema(invocation)
    check(invocation)
    invocation.extras.take_in()
    return call.rest


def _is_in_force(writer: Writer, name: str, value: object) -> bool:
    """Return whether the call is answered that way also without the flag *name*."""
    if name == "--agent":
        return not writer.is_tty()
    if name == "--contract":
        return value == writer.contract
    if name == "--protocol-version":
        return True  # there is one; any other is refused wherever it stands
    return value == (writer.format() or ("text" if writer.is_tty() else "json"))
