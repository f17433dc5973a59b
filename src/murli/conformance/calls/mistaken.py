"""Wrong calls that can do no harm, each with what is wrong about it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from ...declare.safety import suggests_change
from ...wire.catalogue import Command, Flag
from ..judging import NotApplicable, NotVerified
from ..target import NO_SUCH_COMMAND, NO_SUCH_FLAG, NO_SUCH_FORMAT, Target
from .guards import is_guarded, unconfirmed
from .making import Call, all_calls, call_of, called, listed, made, named, readers, seen

# How many flags of one command are tried with a wrong value: some tools list tens of thousands.
_MOST_FLAGS = 16
_SHORTEST_TYPED = 4
_BAD_VALUE = "murli-check-no-such-value"
#: an invalid number
_NO_VALUE = "murli-check"

Wrong = Iterator[tuple[Call, str]]

# -- of murli ------------------------------------------------------------------------------------


def unknown_flags(target: Target) -> Iterator[Call]:
    """Make calls with an unknown option."""
    if not any(not each.path for each in target.commands):
        yield Call(target, "", target.run(NO_SUCH_FLAG))
    for command in target.commands:
        if command.is_group or not command.path:
            yield Call(target, named(command), target.run(*command.path, NO_SUCH_FLAG))
        elif target.is_safe(command) or is_guarded(target, command):
            yield called(target, command, NO_SUCH_FLAG)


def unknown_commands(target: Target) -> Iterator[Call]:
    """Make calls of an unknown command, where that word cannot be an argument."""
    for path in target.group_paths:
        yield Call(target, " ".join(path), target.run(*path, NO_SUCH_COMMAND))


def bad_formats(target: Target) -> Iterator[Call]:
    """Make calls with an unknown output format."""
    commands = [each for each in target.safe if "output" not in each.flags]
    for command in commands:
        yield called(target, command, "--output", NO_SUCH_FORMAT)
    if not commands:
        yield Call(target, "", target.run("describe", "--output", NO_SUCH_FORMAT))


def bad_types(target: Target) -> Iterator[Call]:
    """Make calls with a word in the place of a number."""
    for command in target.safe:
        for flag in islice(filter(_is_number, command.flags.values()), _MOST_FLAGS):
            # In one word: a counting flag would leave a second one as an argument.
            yield called(target, command, f"--{flag.name}={_NO_VALUE}")


def _is_number(flag: Flag) -> bool:
    kind = flag.item if flag.kind == "array" else flag.kind
    return kind in ("integer", "number") and not flag.values


def bad_choices(target: Target) -> Iterator[tuple[Command, Flag, Call]]:
    """Make calls with a value that is not among the choices of a flag."""
    for command in target.safe:
        choosy = (each for each in command.flags.values() if each.values and each.kind != "boolean")
        for flag in islice(choosy, _MOST_FLAGS):
            yield command, flag, called(target, command, f"--{flag.name}", _NO_VALUE)


def is_about(target: Target, command: Command, flag: str, error: Mapping[str, Any]) -> bool:
    """Return whether *error* is about *flag*: it names it, or the call is right otherwise."""
    field = error.get("field")
    if isinstance(field, str) and field:
        return field.lstrip("-").replace("_", "-") == flag.lstrip("-").replace("_", "-")
    return target.run(*target.words(command)).exit_code == 0


def missing_arguments(target: Target) -> Iterator[Call]:
    """Make calls of commands without their required arguments."""
    for command in target.safe:
        places = any(each.required for each in command.positionals or ())
        options = any(
            each.required and not each.env and not each.profileable
            for each in command.flags.values()
        )
        if places or options:
            yield Call(target, named(command), target.run(*command.path))


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
    for _ in usage_errors(target):  # so that there are some
        pass
    found = [call for call in seen(target) if call.error]
    if not found:
        raise NotVerified("no error document was met")
    yield from found


# -- of envelopes --------------------------------------------------------------------------------


def unknown_flags_of_all(target: Target) -> Wrong:
    """Pass an unknown flag to the tool, its groups and the commands where it is harmless."""
    for name, evidence in target.mistakes():
        if call := call_of(target, evidence, name):
            yield call, NO_SUCH_FLAG
    for command in target.guarded:
        words = (*command.path, NO_SUCH_FLAG)
        if is_guarded(target, command) and (call := made(target, *words, command=command)):
            yield call, NO_SUCH_FLAG


def unknown_commands_of_groups(target: Target) -> Wrong:
    """Pass an unknown command to the tool and its groups."""
    listed(target)
    groups = target.group_paths
    if not groups:
        raise NotApplicable("nothing is known to be a group, which does nothing alone")
    for path in groups:
        if call := call_of(target, target.run(*path, NO_SUCH_COMMAND), " ".join(path)):
            yield call, NO_SUCH_COMMAND
    _mistype(target)


def _mistype(target: Target) -> None:
    """Mistype a command that only reads, to see the redirect; some tools accept prefixes."""
    names = {
        (*each.path[:-1], name)
        for each in target.commands
        for name in (*each.path[-1:], *each.aliases)
    }
    groups = target.group_paths
    for command in readers(target):
        # After a command that is not a group the word would be an argument.
        is_below = bool(command.path) and command.path[:-1] in groups
        if is_below and len(command.path[-1]) >= _SHORTEST_TYPED:
            typed = (*command.path[:-1], command.path[-1][:-1])
            if typed not in names and not suggests_change(typed):
                target.run(*typed)
                return


def bad_values(target: Target) -> Wrong:
    """Pass a wrong value to a flag that takes a number, and to one with choices."""
    listed(target)
    tried = False
    for command in readers(target):
        words = target.words(command)
        free = [each for each in command.flags.values() if f"--{each.name}" not in words]
        numbers = [each for each in free if each.kind in ("integer", "number")]
        choices = [each for each in free if each.values and each.kind == "text"]
        for flag in numbers[:1] + choices[:1]:
            tried = True
            wrong = (f"--{flag.name}", _BAD_VALUE)
            if call := made(target, *words, *wrong, command=command):
                yield call, " ".join(wrong)
    if not tried:
        raise NotApplicable("no flag of a command that may be run is of a type")


def missing_needs(target: Target) -> Wrong:
    """Call commands without their required arguments."""
    listed(target)
    tried = False
    for command in readers(target):
        needs = [each.name for each in command.flags.values() if each.required and not each.env]
        needs += [each.name for each in command.positionals or () if each.required]
        if needs and command.path:
            tried = True
            if call := made(target, *command.path, command=command):
                yield call, f"without {needs[0]}"
    if not tried:
        raise NotApplicable("no command that may be run is known to need anything")


def format_flag(target: Target, command: Command) -> str:
    """Return the option for the format, ``""`` if the command uses its name otherwise."""
    name = target.dialect.format_flag
    own = command.flags.get(name)
    return f"--{name}" if own is None or "json" in own.values else ""


def bad_formats_of_readers(target: Target) -> Wrong:
    """Ask every command that may be run for an unknown format."""
    for command in readers(target):
        if flag := format_flag(target, command):
            wrong = (flag, NO_SUCH_FORMAT)
            if call := made(target, *target.words(command, *wrong), command=command):
                yield call, " ".join(wrong)


def wrong_calls(target: Target) -> Iterator[Call]:
    """Yield the calls that exited with the code for a wrong call."""
    return (call for call in all_calls(target) if call.exit_code == call.dialect.wrong_call)


def failures(target: Target) -> Iterator[Call]:
    """Yield the failed calls that have an error, except those of a batch."""
    for call in all_calls(target):
        if call.error and call.exit_code > 0 and "_line" not in call.meta:
            yield call
