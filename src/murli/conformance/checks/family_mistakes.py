"""Calls that are wrong: each is refused before anything is done, with the code for it."""

from __future__ import annotations

from collections.abc import Iterator

from ...client.catalogue import Command, Flag
from ...safety import suggests_change
from ..checking import NotApplicable, check, judged
from ..results import Finding
from ..target import FAMILY, NO_SUCH_COMMAND, NO_SUCH_FLAG, NO_SUCH_FORMAT, NONE, Target
from .family_calls import (
    ARG_ERROR,
    FORMAT_FLAG,
    NEWEST,
    REDIRECTED,
    Call,
    all_calls,
    call_of,
    entry_of,
    is_steady,
    listed,
    made,
    readers,
    same,
)
from .family_danger import is_guarded

_PRECONDITION = 4
#: how a tool says that it would have asked a person
_WOULD_ASK = ("INPUT_REQUIRED", "INTERACTIVE_BLOCKED")
_BAD_VALUE = "murli-check-no-such-value"
_SHORTEST_TYPED = 4


def _refused(call: Call, target: Target, what: str) -> str:
    """Tell that *what* was not refused as it has to be; that there is a document is not judged."""
    wanted = ARG_ERROR[target.contract]
    if call.exit_code == wanted:
        return ""
    return f"{what}: {call.evidence.ended} instead of exit {wanted}"


@check(
    "family.mistake.unknown-flag",
    "A flag that does not exist is refused",
    level=1,
    contracts=(*FAMILY, NONE),
    requirements=("F-002",),
)
def unknown_flag(target: Target) -> Iterator[Finding]:
    """The tool, its groups, and what can do no harm: all refuse a flag nobody knows."""
    for name, evidence in target.mistakes():
        call = call_of(target, evidence)
        if call is not None:
            yield judged(_refused(call, target, NO_SUCH_FLAG), name, evidence)
    for command in target.guarded:
        if is_guarded(target, command):
            call = made(target, *command.path, NO_SUCH_FLAG)
            if call is not None:
                trouble = _refused(call, target, NO_SUCH_FLAG)
                yield judged(trouble, " ".join(command.path), call.evidence)


@check(
    "family.mistake.unknown-command",
    "A command that does not exist is refused",
    level=1,
    contracts=FAMILY,
    requirements=("F-002",),
)
def unknown_command(target: Target) -> Iterator[Finding]:
    """The tool and its groups refuse a command nobody knows, or tell the one that was meant."""
    listed(target)
    groups = target.group_paths
    if not groups:
        raise NotApplicable("nothing is known to be a group, which does nothing alone")
    for path in groups:
        call = made(target, *path, NO_SUCH_COMMAND)
        if call is not None:
            trouble = _refused(call, target, NO_SUCH_COMMAND)
            if call.exit_code == REDIRECTED and "redirect" in call.error:
                trouble = ""
            yield judged(trouble, " ".join(path), call.evidence)
    _mistype(target)


def _mistype(target: Target) -> None:
    """Mistype a command that only reads, to see where that leads; some tools take it as it is."""
    names = {(*each.path[:-1], name) for each in target.commands for name in _names(each)}
    groups = target.group_paths
    for command in readers(target):
        # Behind what is no group the word would be an argument.
        is_below = bool(command.path) and command.path[:-1] in groups
        if is_below and len(command.path[-1]) >= _SHORTEST_TYPED:
            typed = (*command.path[:-1], command.path[-1][:-1])
            if typed not in names and not suggests_change(typed):
                target.run(*typed)
                return


def _names(command: Command) -> tuple[str, ...]:
    return (*command.path[-1:], *command.aliases)


@check(
    "family.mistake.phase",
    "A wrong call fails in validation",
    level=1,
    contracts=FAMILY,
    requirements=("F-002",),
    in_hindsight=True,
)
def fails_in_validation(target: Target) -> Iterator[Finding]:
    """The error about a wrong call says that nothing was done, and that it stays wrong."""
    for call in all_calls(target):
        if call.exit_code != ARG_ERROR[target.contract] or not call.error:
            continue
        trouble = ""
        if call.error.get("phase") != "validation":
            trouble = "the phase of the error is not validation"
        elif target.contract != "response" and call.error.get("retryable") is True:
            trouble = "the same call is told to be worth another try"
        yield judged(trouble, call.command, call.evidence)


@check(
    "family.mistake.no-trace",
    "A refused call has changed nothing",
    level=1,
    contracts=FAMILY,
    requirements=("F-001", "F-002"),
    in_hindsight=True,
)
def refusal_leaves_no_trace(target: Target) -> Iterator[Finding]:
    """Whatever ends with the code for a wrong call leaves the files as they were."""
    for call in all_calls(target):
        if call.exit_code == ARG_ERROR[target.contract]:
            changed = ", ".join(call.evidence.changed[:3])
            yield judged(f"it changed {changed}" if changed else "", call.command, call.evidence)


# -- values --------------------------------------------------------------------------------------


@check(
    "family.mistake.bad-type",
    "A value of the wrong type is refused",
    level=2,
    contracts=FAMILY,
    requirements=("F-015", "C-006"),
)
def bad_type(target: Target) -> Iterator[Finding]:
    """A word for a number, and a word that is not among the values of a flag, are refused."""
    listed(target)
    tried = False
    for command in readers(target):
        words = target.words(command)
        for flag in _picky(command, words):
            tried = True
            call = made(target, *words, f"--{flag.name}", _BAD_VALUE)
            if call is not None:
                trouble = _refused(call, target, f"--{flag.name} {_BAD_VALUE}")
                yield judged(trouble, " ".join(command.path), call.evidence)
    if not tried:
        raise NotApplicable("no flag of a command that may be run is of a type")


def _picky(command: Command, words: tuple[str, ...]) -> list[Flag]:
    """Give a flag that takes numbers and one that takes certain values, as far as there are."""
    free = [each for each in command.flags.values() if f"--{each.name}" not in words]
    numbers = [each for each in free if each.kind in ("integer", "number")]
    choices = [each for each in free if each.values and each.kind == "text"]
    return numbers[:1] + choices[:1]


@check(
    "family.mistake.missing-argument",
    "A call that lacks what it needs is refused",
    level=2,
    contracts=FAMILY,
    requirements=("F-009", "C-006"),
)
def missing_argument(target: Target) -> Iterator[Finding]:
    """A command that needs something does not go without, nor ask for it."""
    listed(target)
    tried = False
    for command in readers(target):
        needs = [each.name for each in command.flags.values() if each.required and not each.env]
        needs += [each.name for each in command.positionals or () if each.required]
        if not needs or not command.path:
            continue
        tried = True
        call = made(target, *command.path)
        if call is None:
            continue
        trouble = _refused(call, target, f"without {needs[0]}")
        if call.exit_code == _PRECONDITION and call.error_code in _WOULD_ASK:
            trouble = ""
        yield judged(trouble, " ".join(command.path), call.evidence)
    if not tried:
        raise NotApplicable("no command that may be run is known to need anything")


# -- the format ----------------------------------------------------------------------------------


def _format_flag(target: Target, command: Command) -> str:
    """Give the option for the format; ``""`` when the command means something else by it."""
    name = FORMAT_FLAG[target.contract]
    own = command.flags.get(name)
    return f"--{name}" if own is None or "json" in own.values else ""


@check(
    "family.mistake.format",
    "A format that does not exist is refused",
    level=2,
    contracts=FAMILY,
    requirements=("O-001",),
)
def bad_format(target: Target) -> Iterator[Finding]:
    """Every command that may be run refuses to write what nobody can read."""
    for command in readers(target):
        if flag := _format_flag(target, command):
            call = made(target, *target.words(command, flag, NO_SUCH_FORMAT))
            if call is not None:
                trouble = _refused(call, target, f"{flag} {NO_SUCH_FORMAT}")
                yield judged(trouble, " ".join(command.path), call.evidence)


@check(
    "family.argument-order",
    "Options mean the same before and behind the command",
    level=3,
    contracts=FAMILY,
    requirements=("F-067",),
)
def argument_order(target: Target) -> Iterator[Finding]:
    """The format gives the same answer wherever it is named."""
    for command in readers(target):
        name = " ".join(command.path)
        flag = _format_flag(target, command)
        if not flag or entry_of(target, name).get("option_placement") == "strict":
            continue
        words = target.words(command)
        behind = made(target, *words, flag, "json")
        before = made(target, flag, "json", *words)
        if behind is None or before is None:
            continue
        trouble = ""
        if before.exit_code != behind.exit_code:
            trouble = f"before it {before.evidence.ended}, behind it {behind.evidence.ended}"
        elif is_steady(target, words) and not same(before.data, behind.data):
            trouble = "before it the data is another than behind it"
        yield judged(trouble, name, before.evidence)


@check(
    "family.argument-repeat",
    "An option with two values is refused",
    level=3,
    contracts=NEWEST,
    requirements=("F-067",),
)
def argument_repeat(target: Target) -> Iterator[Finding]:
    """Who says two things about the format is not understood as having said one."""
    call = made(target, "manifest", "--format", "json", "--format", "jsonl")
    if call is not None:
        yield judged(_refused(call, target, "--format twice"), "manifest", call.evidence)
