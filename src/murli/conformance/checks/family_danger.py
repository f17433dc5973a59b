"""What changes something: declared as such, refused unconfirmed, foretold by a dry run."""

from __future__ import annotations

from collections.abc import Iterator

from ...client.catalogue import Command
from ...client.envelopes import object_in, text_in
from ..checking import NotApplicable, NotVerified, check, judged
from ..danger import suggests_change
from ..results import Finding
from ..target import FAMILY, Target
from .family_calls import (
    ARG_ERROR,
    TELLING,
    Call,
    all_calls,
    entry_of,
    flag_of,
    is_complete,
    listed,
    made,
)

_REFUSED = "CONFIRMATION_REQUIRED"
_CONFIRMING = ("yes", "force", "confirm", "confirm-destructive", "live")
_LEVELS = ("safe", "mutating", "destructive")
_UNSEEN = "no refusal was seen; a profile can tell the arguments, or exclude the command"
_EFFECTS = ("created", "updated", "deleted", "noop")


@check(
    "family.danger.declared",
    "Every command declares whether it changes something",
    level=2,
    contracts=FAMILY,
    requirements=("C-002",),
)
def danger_is_declared(target: Target) -> Iterator[Finding]:
    """Every entry of the manifest has one of the three levels."""
    for name, entry in listed(target).items():
        known = entry.get("danger_level") in list(_LEVELS)
        yield judged("" if known else "danger_level is none of the three", name)


@check(
    "family.danger.honest",
    "What is called like a change is declared as one",
    level=3,
    contracts=FAMILY,
    requirements=("C-002",),
)
def danger_is_honest(target: Target) -> Iterator[Finding]:
    """A command with the name of a change that says it only reads deserves a look."""
    for command in target.leaves:
        name = " ".join(command.path)
        declared = command.mutating is not False or name in target.profile.safe
        suspect = suggests_change(command.path) and not declared
        trouble = "it is declared safe, and called like a change" if suspect else ""
        yield judged(trouble, name, warn=True)


def _need_guarded(target: Target) -> None:
    listed(target)
    if not target.guarded:
        raise NotApplicable("no command is declared to be destructive")


# -- the guard -----------------------------------------------------------------------------------


def _unconfirmed(target: Target, command: Command) -> Call | None:
    """Call what must be refused; ``None`` when its words would confirm it."""
    words = target.words(command)
    confirming = {f"--{each}" for each in (*_CONFIRMING, command.confirm_flag)}
    if not confirming.isdisjoint(each.partition("=")[0] for each in words):
        return None
    return made(target, *words)


def is_guarded(target: Target, command: Command) -> bool:
    """Tell whether *command* was seen to refuse to run unconfirmed."""
    call = _unconfirmed(target, command)
    return call is not None and call.exit_code > 0 and call.error_code == _REFUSED


@check(
    "family.danger.refused",
    "What destroys is refused without confirmation",
    level=2,
    contracts=FAMILY,
    requirements=("O-021",),
)
def refused_unconfirmed(target: Target) -> Iterator[Finding]:
    """A destructive command does nothing, and asks for its flag, until it gets it."""
    _need_guarded(target)
    unclear = []
    for command in target.guarded:
        name = " ".join(command.path)
        call = _unconfirmed(target, command)
        if call is None:
            continue
        wanted = ARG_ERROR[target.contract]
        is_refusal = call.error_code == _REFUSED
        by_default = entry_of(target, name).get("safe_default") is True
        if call.exit_code == 0 and not (by_default and call.meta.get("dry_run") is True):
            trouble = "it ended with exit 0, without confirmation"
        elif call.exit_code == 0 or (is_refusal and call.exit_code == wanted):
            trouble = ""
        elif is_refusal:
            trouble = f"it is refused with exit {call.exit_code} instead of {wanted}"
        elif call.exit_code == wanted and call.error and is_complete(target, command):
            trouble = f"it is refused as {call.error_code}, not as {_REFUSED}"
        else:
            unclear.append(f"`{name}` {call.evidence.ended}")
            continue
        yield judged(trouble, name, call.evidence)
    if len(unclear) == len(target.guarded):
        raise NotVerified(f"{_UNSEEN}: {', '.join(unclear)}")


@check(
    "family.danger.preview",
    "A refusal tells what would be affected",
    level=2,
    contracts=TELLING,
    requirements=("O-021",),
)
def refusal_foretells(target: Target) -> Iterator[Finding]:
    """Who has to confirm learns what it is about."""
    _need_guarded(target)
    refused = [each for each in target.guarded if is_guarded(target, each)]
    for command in refused:
        call = _unconfirmed(target, command)
        if call is not None:
            context = object_in(call.error.get("context"))
            trouble = "" if "would_affect" in context else "the context has no would_affect"
            yield judged(trouble, " ".join(command.path), call.evidence)
    if not refused:
        raise NotVerified(_UNSEEN)


# -- the dry run ---------------------------------------------------------------------------------


def _rehearsals(target: Target) -> Iterator[tuple[Command, Call | None]]:
    """Make the dry runs of what was seen to be guarded, and lists the flag."""
    for command in target.guarded:
        if flag_of(target, command, "dry-run") is None:
            yield command, None
        elif is_guarded(target, command):
            call = made(target, *target.words(command, "--dry-run"))
            if call is not None:
                yield command, call


@check(
    "family.dry-run.effect",
    "A dry run tells what would happen",
    level=1,
    contracts=FAMILY,
    requirements=("C-004",),
)
def dry_run_foretells(target: Target) -> Iterator[Finding]:
    """What destroys can be rehearsed, and the rehearsal names the effect."""
    _need_guarded(target)
    for command, call in _rehearsals(target):
        name = " ".join(command.path)
        if call is None:
            yield judged("it lists no --dry-run", name)
        elif call.exit_code == 0:
            told = text_in(object_in(call.data).get("effect")).startswith("would_")
            trouble = "" if told else "data.effect does not tell what it would do"
            yield judged(trouble, name, call.evidence)
        elif call.exit_code == ARG_ERROR[target.contract]:
            # Without it nothing but the confirmation was missing; and what it is about may be.
            yield judged(f"--dry-run: {call.evidence.ended}", name, call.evidence)
    if not any(_rehearsals(target)):
        raise NotVerified(_UNSEEN)


@check(
    "family.dry-run.no-trace",
    "A dry run changes nothing",
    level=1,
    contracts=FAMILY,
    requirements=("C-004",),
)
def dry_run_leaves_no_trace(target: Target) -> Iterator[Finding]:
    """After a rehearsal the files are as they were."""
    _need_guarded(target)
    if not any(flag_of(target, each, "dry-run") for each in target.guarded):
        raise NotApplicable("no destructive command lists --dry-run")
    for command, call in _rehearsals(target):
        if call is not None:
            changed = ", ".join(call.evidence.changed[:3])
            trouble = f"it changed {changed}" if changed else ""
            yield judged(trouble, " ".join(command.path), call.evidence)
    if not any(call for _, call in _rehearsals(target)):
        raise NotVerified(_UNSEEN)


@check(
    "family.effect.told",
    "A change tells its effect",
    level=2,
    contracts=FAMILY,
    requirements=("C-003",),
    in_hindsight=True,
)
def effect_is_told(target: Target) -> Iterator[Finding]:
    """What the profile had done, to prepare or to see, says what has become of it."""
    listed(target)
    changing = {" ".join(each.path) for each in target.leaves if each.mutating}
    known = False
    for call in all_calls(target):
        if call.command not in changing or call.exit_code != 0 or call.kind != "answer":
            continue
        asked = not {"--dry-run", "--schema"}.isdisjoint(call.words)
        if asked or call.meta.get("dry_run") is True or isinstance(call.data, list):
            continue
        known = True
        told = object_in(call.data).get("effect") in list(_EFFECTS)
        trouble = "" if told else f"data.effect is none of {', '.join(_EFFECTS)}"
        yield judged(trouble, call.command, call.evidence)
    if not known:
        raise NotApplicable("the profile changes nothing")
