"""Wrong calls that can do no harm, each with what is wrong about it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from ...declare.safety import suggests_change
from ...wire.catalogue import Command, Flag
from ..judging import NotVerified
from ..target import NO_SUCH_COMMAND, NO_SUCH_FLAG, NO_SUCH_FORMAT
from .guards import is_guarded, unconfirmed
from .making import Call, Target

# How many flags of one command are tried with a wrong value: some tools list tens of thousands.
_MOST_FLAGS = 16
_SHORTEST_TYPED = 4
#: an invalid number, and no choice of any flag
_NO_VALUE = "murli-check-no-such-value"


def unknown_flags(target: Target) -> Iterator[Call]:
    """Pass an unknown option to the tool, its groups and the commands where that does no harm."""
    yield from target.mistakes()
    for command in target.guarded:
        words = (*command.path, NO_SUCH_FLAG)  # without arguments, which might be acted on
        if is_guarded(target, command) and (call := target.made(*words, command=command)):
            yield call


def wrong(target: Target, command: Command, *more: str) -> Call | None:
    """Make a complete call of *command* with *more*; ``None`` if it shows nothing."""
    return target.made(*target.words(command, *more), command=command)


def unknown_commands(target: Target) -> Iterator[Call]:
    """Call an unknown command of the tool and its groups, where it cannot be an argument."""
    for path in target.group_paths:
        if call := target.call_of(target.run(*path, NO_SUCH_COMMAND), " ".join(path)):
            yield call
    if target.is_enveloped:
        _mistype(target)


def _mistype(target: Target) -> None:
    """Mistype a command that only reads, to see the redirect; some tools accept prefixes."""
    names = {
        (*each.path[:-1], name)
        for each in target.commands
        for name in (*each.path[-1:], *each.aliases)
    }
    groups = target.group_paths
    for command in target.readers():
        # After a command that is not a group the word would be an argument.
        is_below = bool(command.path) and command.path[:-1] in groups
        if is_below and len(command.path[-1]) >= _SHORTEST_TYPED:
            typed = (*command.path[:-1], command.path[-1][:-1])
            if typed not in names and not suggests_change(typed):
                target.run(*typed)
                return


def format_flag(target: Target, command: Command) -> str:
    """Return the option for the format, ``""`` if the command uses its name otherwise."""
    name = target.dialect.format_flag
    own = command.flags.get(name)
    is_ours = own is None or (target.is_enveloped and "json" in own.values)
    return f"--{name}" if is_ours else ""


def bad_formats(target: Target) -> Iterator[Call]:
    """Ask every command that may be run for an unknown format."""
    flags = [(command, format_flag(target, command)) for command in target.readers()]
    for command, flag in flags:
        if flag and (call := wrong(target, command, flag, NO_SUCH_FORMAT)):
            yield call
    if not target.is_enveloped and not any(flag for _, flag in flags):
        yield Call(target, "", target.run("describe", "--output", NO_SUCH_FORMAT))


def bad_types(target: Target) -> Iterator[Call]:
    """Make calls with a word in the place of a number."""
    for command in target.readers():
        for flag in islice(filter(_is_number, command.flags.values()), _MOST_FLAGS):
            words: tuple[str, ...] = (f"--{flag.name}", _NO_VALUE)
            if not target.is_enveloped:
                # In one word: a counting flag would leave a second one as an argument.
                words = ("=".join(words),)
            if call := wrong(target, command, *words):
                yield call


def _is_number(flag: Flag) -> bool:
    kind = flag.item if flag.kind == "array" else flag.kind
    return kind in ("integer", "number") and not flag.values


def bad_choices(target: Target) -> Iterator[tuple[Command, Flag, Call]]:
    """Make calls with a value that is not among the choices of a flag."""
    for command in target.readers():
        choosy = (each for each in command.flags.values() if each.values and each.kind != "boolean")
        for flag in islice(choosy, _MOST_FLAGS):
            if call := wrong(target, command, f"--{flag.name}", _NO_VALUE):
                yield command, flag, call


def missing_arguments(target: Target) -> Iterator[Call]:
    """Make calls of commands without their required arguments."""
    for command in target.readers():
        needs = any(each.required for each in command.positionals or ()) or any(
            each.required and not each.env and not each.profileable
            for each in command.flags.values()
        )
        # Under the envelopes a call without words is answered with help.
        if not needs or (target.is_enveloped and not command.path):
            continue
        if call := target.made(*command.path, command=command):
            yield call


# -- of murli ------------------------------------------------------------------------------------


def is_about(target: Target, command: Command, flag: str, error: Mapping[str, Any]) -> bool:
    """Return whether *error* is about *flag*: it names it, or the call is right otherwise."""
    field = error.get("field")
    if isinstance(field, str) and field:
        return field.lstrip("-").replace("_", "-") == flag.lstrip("-").replace("_", "-")
    return target.run(*target.words(command)).exit_code == 0


def refusals(target: Target) -> Iterator[Call]:
    """Make unconfirmed calls of the commands that must refuse them."""
    for command in target.guarded:
        call = unconfirmed(target, command)
        if call is not None:
            yield call


def usage_errors(target: Target) -> Iterator[Call]:
    """Make every wrong call, and yield those that returned an error."""
    for calls in (
        unknown_flags,
        unknown_commands,
        bad_formats,
        bad_types,
        missing_arguments,
        refusals,
    ):
        yield from (call for call in calls(target) if call.error)


def errors(target: Target) -> Iterator[Call]:
    """Yield every call that returned an error."""
    # After the wrong calls, so that there are some.
    found = [call for call in target.seen(usage_errors(target)) if call.error]
    if not found:
        raise NotVerified("no error document was met")
    yield from found


# -- of envelopes --------------------------------------------------------------------------------


def wrong_calls(target: Target) -> Iterator[Call]:
    """Yield the calls that exited with the code for a wrong call."""
    return (call for call in target.all_calls() if call.exit_code == call.dialect.wrong_call)


def failures(target: Target) -> Iterator[Call]:
    """Yield the failed calls that have an error, except those of a batch."""
    for call in target.all_calls():
        if call.error and call.exit_code > 0 and "_line" not in call.meta:
            yield call
