"""The calls that several checks of the murli contract look at, and what may be asked of whom."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice, pairwise
from typing import Any

from ...client.catalogue import Command, Flag
from ...client.documents import parsed
from ..checking import NotApplicable, NotVerified
from ..results import Evidence, Finding
from ..target import NO_SUCH_COMMAND, NO_SUCH_FLAG, NO_SUCH_FORMAT, Target
from .calls import confirms
from .murli_shapes import TEXTS, answer_of, error_of, misfits, walked

PARTIAL = 3
# Of how many flags of one command a wrong value is tried: some tools list tens of thousands.
_MOST_FLAGS = 16
CONFIRMATION = "confirmation_required"
#: what every tool has, however few commands it lists
_NO_VALUE = "murli-check"


def named(command: Command) -> str:
    """Give what stands behind the tool's name for *command*."""
    return " ".join(command.path)


def name_of(target: Target, evidence: Evidence) -> str:
    """Give the name of the command that was called."""
    return target.command_of(words_of(target, evidence))


def words_of(target: Target, evidence: Evidence) -> tuple[str, ...]:
    """Give what stood behind the words that run the tool."""
    return evidence.argv[len(target.prober.tool) :]


def asks_for_text(evidence: Evidence) -> bool:
    """Tell whether a call asked for what people read."""
    words = evidence.argv
    return ("--output", "text") in pairwise(words)


def described(target: Target) -> tuple[dict[str, Any], Evidence]:
    """Give what ``describe`` prints; that it does is a check of its own."""
    evidence = target.run("describe")
    document = parsed(evidence.stdout)
    if not isinstance(document, dict) or is_wrapped(document):
        raise NotVerified("describe prints no description")
    return document, evidence


def is_wrapped(document: dict[str, Any]) -> bool:
    """Tell whether a document that should be raw is inside of an envelope."""
    return "status" in document and "result" in document


def each_described(target: Target) -> Iterator[tuple[str, dict[str, Any], Evidence]]:
    """Give every described command; a tool that is one itself is described as such."""
    document, evidence = described(target)
    listed = list(walked(document))
    if not listed and ("flags" in document or "arguments" in document or "safety" in document):
        yield "", document, evidence
    for name, command in listed:
        yield name, command, evidence


def each_with_flags(target: Target) -> Iterator[tuple[str, dict[str, Any], Evidence]]:
    """Yield every described command, and the tool itself where its options are described."""
    document, evidence = described(target)
    if document.get("commands") and "flags" in document:
        yield "", document, evidence
    yield from each_described(target)


def previewing(target: Target) -> set[str]:
    """Give the commands that declare that they can foretell what they would do."""
    found = set()
    for name, command, _ in each_described(target):
        safety = command.get("safety")
        if isinstance(safety, dict) and safety.get("dry_run_supported") is True:
            found.add(name)
    return found


def formats(document: Mapping[str, Any]) -> list[str]:
    """Give the output formats a description lists."""
    able = document.get("capabilities")
    listed = able.get("output_formats") if isinstance(able, dict) else None
    fits = not list(misfits({"listed": listed}, {"*listed": TEXTS}))
    return listed if fits and isinstance(listed, list) else []


def needed(found: list[Finding], otherwise: str) -> list[Finding]:
    """Give what was found; where there was nothing to find, the check is not about this tool."""
    if not found:
        raise NotApplicable(otherwise)
    return found


# -- what went well --------------------------------------------------------------------------------


def answered(target: Target) -> Iterator[tuple[str, Evidence]]:
    """Give the calls that may be made and worked, with the command."""
    for name, evidence in target.answers():
        if evidence.exit_code == 0:
            yield name, evidence
        elif evidence.exit_code == PARTIAL and error_of(evidence) is None:
            document = answer_of(evidence) or {}
            if document.get("status") == "partial":
                yield name, evidence


def working(target: Target, taken: str = "") -> list[Command]:
    """Give the commands that may be run and work; not those with a flag *taken* of their own."""
    found = [
        each
        for each in target.safe
        if taken not in each.flags and target.run(*target.words(each)).exit_code == 0
    ]
    if not found:
        raise NotVerified("no command that only reads works as it was called; give it arguments")
    return found


# -- mistakes --------------------------------------------------------------------------------------


def unknown_flags(target: Target) -> Iterator[tuple[str, Evidence]]:
    """Give the calls with an option no tool has, where that can do no harm."""
    if not any(not each.path for each in target.commands):
        yield "", target.run(NO_SUCH_FLAG)
    for command in target.commands:
        if command.is_group or not command.path:
            yield named(command), target.run(*command.path, NO_SUCH_FLAG)
        elif target.is_safe(command) or refuses(target, command):
            yield named(command), target.run(*target.words(command, NO_SUCH_FLAG))


def unknown_commands(target: Target) -> Iterator[tuple[str, Evidence]]:
    """Give the calls of a command no tool has, where that can be no argument."""
    for path in target.group_paths:
        yield " ".join(path), target.run(*path, NO_SUCH_COMMAND)


def bad_formats(target: Target) -> Iterator[tuple[str, Evidence]]:
    """Give the calls for an output format no tool has."""
    commands = [each for each in target.safe if "output" not in each.flags]
    for command in commands:
        yield named(command), target.run(*target.words(command, "--output", NO_SUCH_FORMAT))
    if not commands:
        yield "", target.run("describe", "--output", NO_SUCH_FORMAT)


def bad_types(target: Target) -> Iterator[tuple[str, Evidence]]:
    """Give the calls with a word where a number belongs."""
    for command in target.safe:
        for flag in islice(filter(_is_number, command.flags.values()), _MOST_FLAGS):
            # In one word: some numbers are only counted, and would leave the other alone.
            words = target.words(command, f"--{flag.name}={_NO_VALUE}")
            yield named(command), target.run(*words)


def _is_number(flag: Flag) -> bool:
    kind = flag.item if flag.kind == "array" else flag.kind
    return kind in ("integer", "number") and not flag.values


def bad_choices(target: Target) -> Iterator[tuple[Command, Flag, Evidence]]:
    """Give the calls with a value that is not among those a flag lists."""
    for command in target.safe:
        choosy = (each for each in command.flags.values() if each.values and each.kind != "boolean")
        for flag in islice(choosy, _MOST_FLAGS):
            words = target.words(command, f"--{flag.name}", _NO_VALUE)
            yield command, flag, target.run(*words)


def is_about(target: Target, command: Command, flag: str, error: Mapping[str, Any]) -> bool:
    """Tell whether the error of a call is about *flag*: it says so, or nothing else is wrong."""
    field = error.get("field")
    if isinstance(field, str) and field:
        return field.lstrip("-").replace("_", "-") == flag.lstrip("-").replace("_", "-")
    return target.run(*target.words(command)).exit_code == 0


def missing_arguments(target: Target) -> Iterator[tuple[str, Evidence]]:
    """Give the calls of commands without what they cannot do without."""
    for command in target.safe:
        places = any(each.required for each in command.positionals or ())
        options = any(
            each.required and not each.env and not each.profileable
            for each in command.flags.values()
        )
        if places or options:
            yield named(command), target.run(*command.path)


def usage_errors(target: Target) -> Iterator[tuple[str, Evidence, dict[str, Any]]]:
    """Give every wrong call that was answered by an error, with that."""
    for calls in (
        unknown_flags,
        unknown_commands,
        bad_formats,
        bad_types,
        missing_arguments,
        refusals,
    ):
        for name, evidence in calls(target):
            error = error_of(evidence)
            if error is not None:
                yield name, evidence, error


# -- what changes something ------------------------------------------------------------------------


def unconfirmed(target: Target, command: Command) -> Evidence | None:
    """Call what must refuse to run; ``None`` when its words would confirm it."""
    words = target.words(command)
    return None if confirms(command, words) else target.run(*words)


def refusals(target: Target) -> Iterator[tuple[str, Evidence]]:
    """Give the calls of commands that must refuse to run unconfirmed."""
    for command in target.guarded:
        evidence = unconfirmed(target, command)
        if evidence is not None:
            yield named(command), evidence


def refuses(target: Target, command: Command) -> bool:
    """Tell whether *command* has been seen to refuse to run unconfirmed."""
    evidence = unconfirmed(target, command) if command in target.guarded else None
    error = error_of(evidence) if evidence is not None else None
    if evidence is None or error is None:
        return False
    return error.get("error") == CONFIRMATION and bool(evidence.exit_code)


def may_be_asked(target: Target, command: Command) -> bool:
    """Tell whether ``--schema`` can do no harm behind *command*, even where it is not understood.

    What may change something is asked only if it was seen to refuse, or, where nothing guards it,
    if others were seen to answer, and not as they do without it.
    """
    if command.is_group or target.is_safe(command) or refuses(target, command):
        return True
    if command in target.guarded:
        return False
    known = [each.path for each in target.commands if each.is_group or target.is_safe(each)]
    return target.heeds("--schema") and all(_answers(target, path) for path in known or [()])


def _answers(target: Target, path: tuple[str, ...]) -> bool:
    evidence = target.run(*path, "--schema")
    document = parsed(evidence.stdout)
    return evidence.exit_code == 0 and isinstance(document, dict) and "name" in document
