"""Everything that is wrong with a call, where its parser stops at the first thing.

Only what is certain is reported: an option that does not exist, a word for a number, a value that
is not among those accepted, an option that is required and missing. What a parser makes of the rest
it says itself, once these are mended.
"""

from __future__ import annotations

import os

from ..declare import flag_key
from ..line import usage
from ..line.calls import command_line
from ..line.command_line import CommandLine
from ..line.payload import together
from .guard.enforcement import problem_with

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from ..declare.tree import Command, Flag
    from ..errors import AgentError
    from . import Invocation

_NUMBERS: dict[str, tuple[Callable[[str], Any], str]] = {
    "int": (int, "an integer"),
    "float": (float, "a number"),
    "float64": (float, "a number"),
}


def add_others(invocation: Invocation, first: AgentError) -> None:
    """Add to what the parser found *first* what else is wrong with the same call."""
    call = invocation.call
    if "errors" in first.context or call.mounted or call.mistake is not None:
        return
    level = call.level
    if level is None or level.routes or level.forwards or call.separated:
        return
    try:
        found = list(_problems(invocation, invocation.host.command(level)))
    except Exception:  # a tool's own code, which is asked for its names; the first problem will do
        return
    covered = _named_in(first)
    others = {each.field: each for each in found if each.field not in covered}
    if others:
        together([first, *others.values()])


def _named_in(error: AgentError) -> set[str]:
    """Return what *error* is about; one that lists what is missing is about all of that."""
    words = error.message.replace(",", " ").split()
    options = {flag_key(word.rstrip(".:")) for word in words if word.startswith("--")}
    return {error.field, *options}


def _problems(invocation: Invocation, command: Command) -> Iterator[AgentError]:
    level = invocation.call.level
    flags: dict[str, Flag] = {}
    for flag in command.flags:
        flags.update(dict.fromkeys(_spellings(flag), flag))
    call = invocation.call  # whose words hold the secrets that were fetched
    line = CommandLine(call) if call.is_thorough else command_line(invocation)
    path = tuple(getattr(level, "path", ()))
    before = [word.text for word in line.words if word.owner != "ours"][: len(path)]
    if command.strict or tuple(before) != path:
        return  # what is an option of this command is not for us to say
    seen: set[str] = set()
    for word, values in line.options():
        name, equals, value = word.text.partition("=")
        if not name.startswith("--"):
            continue
        known = flags.get(name)
        if known is None:
            if not level.owns(name) and not level.abbreviates(name, bool(equals)):
                yield usage.unknown_option(name, [each for each in flags if each.startswith("--")])
            continue
        seen.add(known.name)
        if known.values != 1 or not (equals or values):
            continue
        value = value if equals else values[0]
        if not command.is_secret(known):
            yield from _unfit(name, value, known)
            note = command.note_on(known)
            problem = problem_with(name, value, note) if note is not None else None
            yield from () if problem is None else (problem,)
    for flag in command.flags:
        note = command.note_on(flag)
        variable = flag.env or (note.env if note is not None else "")
        given = flag.name in seen or (variable and os.environ.get(variable))
        if flag.required and not given and not (note is not None and note.profileable):
            yield usage.missing([_spellings(flag)[0]], [])


def _spellings(flag: Flag) -> list[str]:
    names = [flag.spelling or f"--{flag.name}"]
    names += [f"--{flag.negation}"] if flag.negation else []
    return names + ([f"-{flag.short}"] if flag.short else [])


def _unfit(name: str, value: str, flag: Flag) -> Iterator[AgentError]:
    """Return what no parser would accept in *value*."""
    convert, expected = _NUMBERS.get(flag.type, (str.lower, ""))
    try:
        meant = convert(value)
    except ValueError:
        yield usage.bad_value(name, value, f"expected {expected}")
        return
    try:
        accepted = [convert(choice) for choice in flag.choices]
    except ValueError:  # numbers with names
        return
    if accepted and meant not in accepted:
        yield usage.bad_choice(name, value, flag.choices)
