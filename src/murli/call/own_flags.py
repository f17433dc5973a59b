"""Our own flags, checked before the framework sees the rest."""

from __future__ import annotations

import os

from .. import core
from ..formats import VALID_OUTPUT_FORMATS
from ..line.flags import UNPAGED_COMMANDS, flag_named, flags_in, names_where, part_flags
from ..line.scanning import flag_value, scan, set_flag
from ..line.usage import exclusive, invalid_setting, missing_extra, unknown_option, wrong_call

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ..answer import Writer
    from ..core import Call
    from ..line.scanning import Level
    from . import Invocation


# Flags that no command of ours has a use for.
_OF_RESULTS = ("--query", "--max-tokens")


def leave_to_the_tool(invocation: Invocation) -> None:
    """For a person, read the command line as if flags that only agents use were none of ours."""
    useless = useless_for_people(invocation.writer)
    if any(name in useless for name, _, _ in invocation.call.taken):
        from ..line.calls import scan_again

        invocation.request.call = scan_again(invocation, invocation.request.argv, useless)


def useless_for_people(writer: Writer) -> frozenset[str]:
    """Return the flags that mean nothing to a person who reads what *writer* writes."""
    # Who asked for text may ask for a part of it.
    useless = frozenset() if writer.format() == "text" else part_flags()
    return useless | names_where(lambda flag: flag.for_agents)


def handle_own_flags(invocation: Invocation, redirects: Any) -> Invocation | None:
    """Do what the command line says to us; may answer and end the program.

    *redirects* are those of which the call may be one. Returns the call to go on with where that
    is another one.
    """
    call = invocation.call
    if invocation.writer.format() == "toon":
        _check_toon(invocation)
    invocation.extras.take_secrets()
    if redirects:
        from .redirects import follow

        follow(invocation, redirects)
    asks_schema = call.schema or "output_schema" in call.extra
    if asks_schema or call.mounted:
        from .ending.succession import stand_aside

        stand_aside(invocation)
    if asks_schema:
        invocation.settings.commands().show_schema(invocation)
    check(invocation)
    if call.mounted:
        return invocation.settings.commands().run_mounted(invocation)
    if waits(call):
        from .waiting import wait

        look = wait(invocation)
        if look is not None:
            return look
    invocation.extras.take_in()
    if core.declares_batch and not invocation.is_for_people:
        invocation.running.notices_values = True
        return invocation.settings.commands().run_for_each_value(invocation)
    return None


def _check_toon(invocation: Invocation) -> None:
    """Refuse TOON where nothing can write it, and where answers are lines."""
    reply, flag = invocation.writer._reply, f"{invocation.contract.format_flag} toon"
    try:
        from ..compact.toon import render  # noqa: F401
    except ImportError:
        reply.format = "json"
        invocation.refuse(missing_extra(flag, "toon-format", "toon"))
    if invocation.call.mounted == "exec":
        reply.format = "json"
        invocation.refuse(wrong_call(f"exec answers in lines of JSON, not with {flag}.", flag[:8]))


def waits(call: Call) -> bool:
    """Return whether *call* is to be repeated until its result is what somebody waits for."""
    return not call.extra.keys().isdisjoint(("until", "until_not", "every"))


def check(invocation: Invocation) -> None:
    """Refuse flags of ours that make no sense, and act on the others."""
    call = invocation.call
    if call.mistake is not None:
        invocation.refuse(call.mistake)
    invocation.extras.check_format()
    for name, value in (("protocol-version", call.protocol_version), ("output", call.output)):
        accepted = flag_named(f"--{name}").claimed_values
        if value is not None and value not in accepted:
            listed = VALID_OUTPUT_FORMATS if name == "output" else accepted
            invocation.refuse(invalid_setting(name, value, listed))
    loudness = [name for name in ("quiet", "verbose", "debug") if flag_value(call, name)]
    if len(loudness) > 1:
        invocation.refuse(exclusive(f"--{loudness[0]}", f"--{loudness[1]}"))
    timeout = call.timeout or os.environ.get("MURLI_TIMEOUT") or invocation.extras.timeout()
    if timeout:
        from ..process.deadline import allow, seconds_in

        seconds = seconds_in(timeout)
        if seconds is None:
            invocation.refuse(invalid_setting("timeout", timeout, ("30", "500ms", "2m")))
        invocation.running.is_timed = True
        allow(invocation, seconds)
    if call.profile is not None and not call.mounted:
        # Running without the values the caller asked for would be worse than not running.
        _ = invocation.saved
    given = [name for name, _, _ in call.taken if name in part_flags()]
    if call.mounted and waits(call):
        given += [name for name, _, _ in call.taken if flag_named(name).group == "wait"]
    unpaged = call.mounted in UNPAGED_COMMANDS or waits(call)
    useless = given if unpaged else [name for name in given if name in _OF_RESULTS]
    if call.mounted and useless:
        invocation.refuse(unknown_option(useless[-1], ()))
    if not call.mounted and (given or invocation.request.is_capped):
        from ..answer.requested import prepare

        prepare(invocation)


# -- behind a word that only the framework's own parse knows the meaning of ----------------------


def take_late(
    invocation: Invocation, level: Level, above: Sequence[Level], words: Sequence[str]
) -> list[str]:
    """Act on our flags in *words*, the command line of *level*; return the words without them.

    *above* are the commands above. May answer and end the program.
    """
    flags = flags_in(invocation.request.contract)
    if not core.end_of_own_flags(words, (), flags):
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
            invocation.refuse(wrong_call(f'{name} must stand before "{word}" in this call.', name))
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
