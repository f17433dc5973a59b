"""What a murli tool does before it changes anything: refuse, or foretell.

Nothing here confirms anything. What a guard may let through is tried only where it was seen to
hold, and never where tools are known to let it through.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...client.catalogue import Command
from ..checking import MURLI, NotApplicable, NotVerified, check, judged
from ..results import Evidence, Finding
from ..target import Target
from .calls import confirms, settled
from .murli_calls import (
    CONFIRMATION,
    described,
    formats,
    named,
    previewing,
    refuses,
    unconfirmed,
    working,
)
from .murli_shapes import answer_of, code_in, error_of, shown

_USER_ERROR = 1
_USAGE = ("flag_error", "command_error")


def _guarded(target: Target) -> list[Command]:
    if not target.commands:
        raise NotVerified("no command is known")
    if not target.guarded:
        _need_declarations(target)
        raise NotApplicable("no command is declared to change anything")
    return target.guarded


def _need_declarations(target: Target) -> None:
    """Raise `NotVerified` where silence must not look better than an honest declaration."""
    if target.undeclared:
        raise NotVerified(_undeclared(target.undeclared))


def _undeclared(commands: list[Command]) -> str:
    names = ", ".join(named(each) or "the tool itself" for each in commands[:3])
    return f"what {names} may do is not declared"


def _passed(evidence: Evidence) -> str:
    """Tell what an unconfirmed call got through with, ``""`` when it was refused."""
    if evidence.changed:
        return f"it changed {', '.join(evidence.changed[:3])}"
    error = error_of(evidence)
    if error is None:
        return f"{evidence.ended}, and no error document"
    if error.get("error") != CONFIRMATION:
        return f"{shown(error.get('error'))} instead of {CONFIRMATION}"
    code = code_in(error, evidence)
    return "" if code == _USER_ERROR else f"code {shown(code)} instead of {_USER_ERROR}"


@check(
    "murli.guard.refuses",
    "What changes something refuses to run unconfirmed",
    level=2,
    contracts=MURLI,
    requirements=("14", "12"),
)
def guard_refuses(target: Target) -> Iterator[Finding]:
    """A mutating command without ``--force`` is refused, and nothing has changed."""
    found, unclear = [], []
    for command in _guarded(target):
        evidence = unconfirmed(target, command)
        if evidence is None:
            unclear.append(f"the arguments of {named(command)} would confirm it")
            continue
        error = error_of(evidence)
        # A call that was not understood shows nothing about the guard.
        if error is not None and error.get("error") in _USAGE:
            unclear.append(f"{named(command)} was called wrongly; give it arguments")
            continue
        found.append(judged(_passed(evidence), named(command), evidence))
    if target.undeclared:
        unclear.append(_undeclared(target.undeclared))
    yield from settled(found, unclear)


def _held(target: Target) -> list[Command]:
    """Give the commands that may be tried in ways that have let some through."""
    found = [each for each in _guarded(target) if refuses(target, each)]
    if target.wire == "go":
        # Some of its tools run what they should refuse, unless they see a pipe and no format.
        found = [each for each in found if named(each) in target.profile.arguments]
    if not found:
        raise NotVerified("no command was seen to refuse whose arguments its author vouches for")
    return found


def _let_through(target: Target, command: Command, evidence: Evidence) -> str:
    """Tell what a call got through with that is refused otherwise."""
    if evidence.changed:
        return f"it changed {', '.join(evidence.changed[:3])}"
    same = evidence.exit_code == target.run(*target.words(command)).exit_code
    return "" if same else f"{evidence.ended}, and refused otherwise"


@check(
    "murli.guard.text",
    "Asking for text confirms nothing",
    level=3,
    contracts=MURLI,
    requirements=("17.6", "12"),
)
def guard_text(target: Target) -> Iterator[Finding]:
    """With ``--output text`` an unconfirmed call is refused all the same."""
    document, _ = described(target)
    if "text" not in formats(document):
        raise NotApplicable("it has no text format")
    for command in _held(target):
        evidence = target.run(*target.words(command, "--output", "text"))
        yield judged(_let_through(target, command, evidence), named(command), evidence)


@check(
    "murli.guard.null-device",
    "Writing to the null device confirms nothing",
    level=3,
    contracts=MURLI,
    requirements=("17.6", "2"),
)
def guard_null_device(target: Target) -> Iterator[Finding]:
    """An unconfirmed call is refused also when nobody sees its answer."""
    for command in _held(target):
        evidence = target.run(*target.words(command), event="null-device")
        yield judged(_let_through(target, command, evidence), named(command), evidence)


@check(
    "murli.guard.schema",
    "What refuses to run still explains itself",
    level=2,
    contracts=MURLI,
    requirements=("12",),
)
def guard_schema(target: Target) -> Iterator[Finding]:
    """``--schema`` behind a complete call is answered and not refused."""
    for command in _guarded(target):
        if refuses(target, command):
            evidence = target.run(*target.words(command, "--schema"))
            error = error_of(evidence)
            refused = error is not None and error.get("error") == CONFIRMATION
            yield judged("--schema is refused" if refused else "", named(command), evidence)


# -- previews --------------------------------------------------------------------------------------


def _previewed(target: Target) -> Iterator[tuple[Command, Evidence | None]]:
    """Make the previews that are declared; ``None`` for one whose words would confirm it."""
    if not target.commands:
        raise NotVerified("no command is known")
    able = previewing(target)
    # What only reads may mean anything by a flag of its own.
    declared = [
        each
        for each in target.leaves
        if named(each) in able and (each.mutating or "dry-run" not in each.flags)
    ]
    if not declared:
        _need_declarations(target)
        raise NotApplicable("no command declares a preview")
    for command in declared:
        words = target.words(command, "--dry-run")
        yield command, None if confirms(command, words) else target.run(*words)


@check(
    "murli.dry-run.plans",
    "A preview is a plan",
    level=2,
    contracts=MURLI,
    requirements=("3.4", "16.10"),
)
def dry_run_plans(target: Target) -> Iterator[Finding]:
    """``--dry-run``, where it is declared, ends with 0 and tells what would be done."""
    found, unclear = [], []
    for command, evidence in _previewed(target):
        name = named(command)
        if evidence is None:
            unclear.append(f"the arguments of {name} would confirm it")
            continue
        error = error_of(evidence)
        said = error.get("error") if error is not None else ""
        if said == CONFIRMATION:
            trouble = "a preview has to be confirmed"
            found.append(judged(trouble, name, evidence, warn=True))
        elif error is not None and not _is_about_preview(target, command, error):
            unclear.append(f"{name} --dry-run: {shown(said)}; give it arguments")
        else:
            state = (answer_of(evidence) or {}).get("status")
            trouble = "" if state == "plan" else f"status is {shown(state)} instead of plan"
            if evidence.exit_code != 0:
                trouble = f"{evidence.ended} instead of exit 0"
            found.append(judged(trouble, name, evidence))
    yield from settled(found, unclear)


def _is_about_preview(target: Target, command: Command, error: dict[str, Any]) -> bool:
    """Tell whether a preview fails for being one: without it, the same call does not so fail."""
    if error.get("error") not in _USAGE:
        return False
    usual = error_of(target.run(*target.words(command))) if refuses(target, command) else error
    return usual is None or usual.get("error") != error.get("error")


@check(
    "murli.dry-run.no-trace",
    "A preview changes nothing",
    level=2,
    contracts=MURLI,
    requirements=("12", "16.10"),
)
def dry_run_no_trace(target: Target) -> Iterator[Finding]:
    """``--dry-run`` leaves the files as they were."""
    found, unclear = [], []
    for command, evidence in _previewed(target):
        if evidence is None or (evidence.exit_code != 0 and not evidence.changed):
            unclear.append(f"no preview of {named(command)} was seen; give it arguments")
            continue
        trouble = f"it changed {', '.join(evidence.changed[:3])}" if evidence.changed else ""
        found.append(judged(trouble, named(command), evidence))
    yield from settled(found, unclear)


@check(
    "murli.dry-run.undeclared",
    "What has no preview does not pretend to give one",
    level=3,
    contracts=MURLI,
    requirements=("16.10", "16.16"),
)
def dry_run_undeclared(target: Target) -> Iterator[Finding]:
    """A command that only reads, and declares no preview, refuses ``--dry-run``."""
    able = previewing(target)
    commands = [each for each in working(target, "dry-run") if named(each) not in able]
    if not commands:
        raise NotApplicable("every command that may be run has a preview")
    for command in commands:
        evidence = target.run(*target.words(command, "--dry-run"))
        state = (answer_of(evidence) or {}).get("status")
        runs = evidence.exit_code == 0 and state != "plan"
        trouble = "--dry-run is accepted, and it runs for real" if runs else ""
        yield judged(trouble, named(command), evidence)
