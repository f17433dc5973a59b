"""What changes something: declared as such, refused unconfirmed, foretold by a dry run."""

from __future__ import annotations

from collections.abc import Iterator

from ...client.catalogue import Command
from ...client.documents import parsed
from ...client.envelopes import object_in, text_in
from ...safety import suggests_change
from ..checking import NotApplicable, check, judged
from ..results import Finding
from ..target import FAMILY, Target
from .calls import confirms, gaps_in, settled
from .family_calls import (
    ARG_ERROR,
    TELLING,
    Call,
    all_calls,
    entry_of,
    flag_of,
    heeded,
    is_complete,
    listed,
    made,
)

_REFUSED = "CONFIRMATION_REQUIRED"
_LEVELS = ("safe", "mutating", "destructive")
_UNSEEN = "a profile can tell its arguments, or exclude it"
_EFFECTS = ("created", "updated", "deleted", "noop")


@check(
    "family.danger.declared",
    "Every command declares whether it changes something",
    level=2,
    contracts=FAMILY,
    requirements=("C-002",),
)
def danger_is_declared(target: Target) -> Iterator[Finding]:
    """Every entry has one of the three levels, which for a change is not just the default."""
    for name, entry in listed(target).items():
        known = entry.get("danger_level") in list(_LEVELS)
        yield judged("" if known else "danger_level is none of the three", name)
    # Only the description, where there is one, tells what nobody declared.
    evidence = target.run("describe")
    envelope = parsed(evidence.stdout)
    description = envelope.get("data") if isinstance(envelope, dict) else None
    if isinstance(description, dict):
        for path, sentence in gaps_in(description):
            if path not in target.profile.safe:
                yield judged(sentence, path, evidence)


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
    """Call what must be refused; ``None`` when its words would confirm it, or it does not end."""
    words = target.words(command)
    return None if confirms(command, words) else made(target, *words)


def _is_refusal(call: Call | None) -> bool:
    return call is not None and call.exit_code > 0 and call.error_code == _REFUSED


def _only_foretells(target: Target, call: Call | None) -> bool:
    """Tell whether a call is a dry run by itself, as its command declares."""
    if call is None or call.exit_code != 0 or call.meta.get("dry_run") is not True:
        return False
    entry = entry_of(target, call.command)
    return entry.get("safe_default") is True or bool(text_in(entry.get("confirm_flag")))


def is_guarded(target: Target, command: Command) -> bool:
    """Tell whether *command* was seen to do nothing unconfirmed."""
    call = _unconfirmed(target, command)
    return _is_refusal(call) or _only_foretells(target, call)


def may_be_asked(target: Target, command: Command, flag: str) -> bool:
    """Tell whether *flag*, which must keep a command from running, can do no harm here.

    What may change something is asked only if it was seen to be guarded, or if all that only
    reads was seen to heed the flag.
    """
    if command.is_group or target.is_safe(command):
        return True
    if command in target.guarded and is_guarded(target, command):
        return True
    return target.heeds(flag) and heeded(target, flag)


def _unseen(command: Command, call: Call | None) -> str:
    """Tell of a call that shows nothing about the guard."""
    ended = call.evidence.ended if call is not None else "was not seen to be refused, or to end"
    return f"`{' '.join(command.path)}` {ended}; {_UNSEEN}"


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
    found, unclear = [], []
    wanted = ARG_ERROR[target.contract]
    for command in target.guarded:
        call = _unconfirmed(target, command)
        if call is None:
            unclear.append(_unseen(command, call))
            continue
        if _only_foretells(target, call):
            trouble = ""
        elif call.exit_code == 0:
            trouble = "it ended with exit 0, without confirmation"
        elif _is_refusal(call):
            refused = f"it is refused with exit {call.exit_code} instead of {wanted}"
            trouble = "" if call.exit_code == wanted else refused
        elif call.exit_code == wanted and call.error and is_complete(target, command):
            trouble = f"it is refused as {call.error_code}, not as {_REFUSED}"
        else:
            unclear.append(_unseen(command, call))
            continue
        found.append(judged(trouble, " ".join(command.path), call.evidence))
    yield from settled(found, unclear)


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
    found, unclear = [], []
    for command in target.guarded:
        call = _unconfirmed(target, command)
        if call is not None and _is_refusal(call):
            context = object_in(call.error.get("context"))
            trouble = "" if "would_affect" in context else "the context has no would_affect"
            found.append(judged(trouble, " ".join(command.path), call.evidence))
        elif not _only_foretells(target, call):
            unclear.append(_unseen(command, call))
    if not found and not unclear:
        raise NotApplicable("nothing is refused: what destroys only foretells unconfirmed")
    yield from settled(found, unclear)


# -- the dry run ---------------------------------------------------------------------------------


def _rehearsed(target: Target, command: Command) -> Call | None:
    """Make the dry run of what was seen to be guarded; ``None`` when there is none to look at."""
    if not is_guarded(target, command):
        return None
    return made(target, *target.words(command, "--dry-run"))


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
    found, unclear = [], []
    for command in target.guarded:
        name = " ".join(command.path)
        if flag_of(target, command, "dry-run") is None:
            found.append(judged("it lists no --dry-run", name))
            continue
        call = _rehearsed(target, command)
        if call is not None and call.exit_code == 0:
            told = text_in(object_in(call.data).get("effect")).startswith("would_")
            trouble = "" if told else "data.effect does not tell what it would do"
            found.append(judged(trouble, name, call.evidence))
        elif call is not None and call.exit_code == ARG_ERROR[target.contract]:
            # Without it nothing but the confirmation was missing; and what it is about may be.
            found.append(judged(f"--dry-run: {call.evidence.ended}", name, call.evidence))
        else:
            unclear.append(_unseen(command, call))
    yield from settled(found, unclear)


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
    able = [each for each in target.guarded if flag_of(target, each, "dry-run") is not None]
    if not able:
        raise NotApplicable("no destructive command lists --dry-run")
    found, unclear = [], []
    for command in able:
        call = _rehearsed(target, command)
        if call is not None and (call.exit_code == 0 or call.evidence.changed):
            changed = ", ".join(call.evidence.changed[:3])
            trouble = f"it changed {changed}" if changed else ""
            found.append(judged(trouble, " ".join(command.path), call.evidence))
        else:
            unclear.append(_unseen(command, call))
    yield from settled(found, unclear)


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
