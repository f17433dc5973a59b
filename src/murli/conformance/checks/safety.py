"""Commands that change something: declared, refused unconfirmed, with a dry run.

No check confirms anything. Variants of a call that a guard may overlook are tried only where the
guard was seen to work, and never where tools are known to overlook them.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...declare.safety import inferred_danger, suggests_change
from ...wire.catalogue import Command
from ...wire.documents import parsed
from ...wire.values import object_in, text_in
from ..calls.descriptions import claiming, described, each_described, formats, gaps_in
from ..calls.guards import is_guarded, is_refusal, only_foretells, unconfirmed
from ..calls.making import Call, Target, named, over, unlike, unsuccessful
from ..judging import NotApplicable, NotVerified, all_seen, finding, or_not_applicable
from ..results import Finding
from ..shapes.kinds import shown
from .mistakes import USAGE

_LEVELS = ("safe", "mutating", "destructive")
_UNSEEN = "name its words in [arguments] of the profile, or exclude it"
_EFFECTS = ("created", "updated", "deleted", "noop")
#: findings, and reasons why something could not be decided
Looked = Iterator[Finding | str]


def _guarded(target: Target) -> list[Command]:
    """Return the commands that must refuse to run unconfirmed."""
    target.need_commands()
    if not target.guarded and target.is_enveloped:
        raise NotApplicable("no command is declared to be destructive")
    if not target.guarded:
        _need_declarations(target)
        raise NotApplicable("no command is declared to change anything")
    return target.guarded


def _need_declarations(target: Target) -> None:
    """Raise `NotVerified` if nothing is declared, which must not look better than a declaration."""
    if target.undeclared:
        raise NotVerified(_undeclared(target))


def _undeclared(target: Target) -> str:
    names = ", ".join(named(each) or "the tool itself" for each in target.undeclared[:3])
    return f"what {names} may do is not declared"


# -- declarations --------------------------------------------------------------------------------


def honest(target: Target) -> Iterator[Finding]:
    """A command with a name such as delete or create is declared as a change."""
    reading = set() if target.is_enveloped else claiming(target, "read_only")
    for command in target.leaves:
        name, trouble = named(command), ""
        if not suggests_change(command.path) or command.mutating or name in target.profile.safe:
            pass
        elif target.is_enveloped:
            claims = command.mutating is False
            trouble = "it is declared safe, and called like a change" if claims else ""
        elif name in reading:
            trouble = f"{name} is declared to only read"
        elif not inferred_danger(command.path):  # which another check reports
            trouble = f"{name} is not declared, and may be a change by its name"
        evidence = None if target.is_enveloped else target.run("describe")
        yield finding(trouble, name, evidence, warn=True)


def declared_description(target: Target) -> Iterator[Finding]:
    """No command with the name of a change, or in a mutating group, is undeclared."""
    document, evidence = described(target)
    known = {*target.profile.safe, *target.profile.exclude}
    gaps = {path: sentence for path, sentence in gaps_in(document) if path not in known}
    names = [name for name, _, _ in each_described(target) if name]
    found = [finding(gaps.pop(name, ""), name, evidence) for name in names]
    # The rest is about the tool itself.
    found += [finding(sentence, "", evidence) for sentence in gaps.values()]
    return or_not_applicable(found, "no command is described")


def declared_level(target: Target) -> Iterator[Finding]:
    """Every entry has a danger level, and that of a change is not just the default."""
    for name, entry in target.listed().items():
        known = entry.get("danger_level") in list(_LEVELS)
        yield finding("" if known else "danger_level is none of the three", name)
    # Only the description, where there is one, marks what is undeclared.
    evidence = target.run("describe")
    description = object_in(parsed(evidence.stdout)).get("data")
    if isinstance(description, dict):
        for path, sentence in gaps_in(description):
            if path not in target.profile.safe:
                yield finding(sentence, path, evidence)


# -- guards of murli -----------------------------------------------------------------------------


def _unguarded(command: Command, call: Call) -> str | None:
    """Return why an unconfirmed call was not refused, ``None`` if it failed otherwise."""
    if call.target.is_enveloped:
        return _unguarded_envelope(command, call)
    if call.error_name in USAGE:  # which proves nothing about the guard
        return None
    return call.changed or unlike(call, call.dialect.confirmation, call.dialect.wrong_call)


def _unguarded_envelope(command: Command, call: Call) -> str | None:
    code, wanted = call.exit_code, call.dialect.wrong_call
    if only_foretells(call):
        return ""
    if code == 0:
        return "it ended with exit 0, without confirmation"
    if is_refusal(call):
        return "" if code == wanted else f"it is refused with exit {code} instead of {wanted}"
    if code == wanted and call.error and call.target.is_complete(command):
        return f"it is refused as {call.error_name}, not as {call.dialect.confirmation}"
    return None


def _unseen(command: Command, call: Call | None) -> str:
    """Return why a call shows nothing about the guard."""
    ended = call.ended if call is not None else "was not seen to be refused, or to end"
    return f"`{named(command)}` {ended}; {_UNSEEN}"


@all_seen
def refuses(target: Target) -> Looked:
    """What has to be confirmed does nothing without the flag that confirms it, and asks for it."""
    for command in _guarded(target):
        call = unconfirmed(target, command)
        trouble = None if call is None else _unguarded(command, call)
        if call is None or trouble is None:
            yield _unseen(command, call)
        else:
            yield finding(trouble, call.command, call.evidence)
    if target.undeclared and not target.is_enveloped:
        yield _undeclared(target)


def _held(target: Target) -> list[Command]:
    """Return the commands that may be called in ways that some guards overlook."""
    found = [each for each in _guarded(target) if is_guarded(target, each)]
    if target.wire == "go":
        # Some ``go`` tools run what they should refuse, unless they see a pipe and no format.
        found = [each for each in found if named(each) in target.profile.arguments]
    if not found:
        raise NotVerified("no command was seen to refuse whose arguments its author vouches for")
    return found


def _let_through(target: Target, *more: str, **how: str) -> Iterator[Finding]:
    """Yield whether calls that are refused otherwise succeed."""
    for command in _held(target):
        call, usual = target.called(command, *more, **how), target.called(command)
        same = call.evidence.exit_code == usual.evidence.exit_code
        trouble = call.changed or ("" if same else f"{call.ended}, and refused otherwise")
        yield finding(trouble, call.command, call.evidence)


def guard_text(target: Target) -> Iterator[Finding]:
    """With ``--output text`` an unconfirmed call is refused too."""
    if "text" not in formats(target):
        raise NotApplicable("it has no text format")
    yield from _let_through(target, "--output", "text")


def guard_null_device(target: Target) -> Iterator[Finding]:
    """An unconfirmed call is refused also if stdout is the null device."""
    return _let_through(target, event="null-device")


def guard_schema(target: Target) -> Iterator[Finding]:
    """``--schema`` after a complete call prints the schema."""
    for command in _guarded(target):
        if is_guarded(target, command):
            call = target.called(command, "--schema")
            refused = call.error_name == call.dialect.confirmation
            yield finding("--schema is refused" if refused else "", call.command, call.evidence)


# -- previews of murli ---------------------------------------------------------------------------


def _previewed(target: Target) -> Iterator[tuple[Command, Call | None]]:
    """Make the dry runs that are declared; ``None`` if the words of a call would confirm it."""
    target.need_commands()
    able = claiming(target, "dry_run_supported")
    # Commands that only read may define the flag themselves.
    declared = [
        each
        for each in target.leaves
        if named(each) in able and (each.mutating or "dry-run" not in each.flags)
    ]
    if not declared:
        _need_declarations(target)
        raise NotApplicable("no command declares a preview")
    for command in declared:
        yield command, unconfirmed(target, command, "--dry-run")


@all_seen
def dry_run_plans(target: Target) -> Looked:
    """A declared ``--dry-run`` exits with 0 and returns a plan."""
    for command, call in _previewed(target):
        name = named(command)
        if call is None:
            yield f"the arguments of {name} would confirm it"
        elif call.error_name == call.dialect.confirmation:
            yield finding("a preview has to be confirmed", name, call.evidence, warn=True)
        elif call.error and not _is_about_preview(command, call):
            trouble = shown(call.error.get("error"))
            yield f"{name} --dry-run: {trouble}; name its words in [arguments]"
        else:
            is_plan = call.status == "plan"
            trouble = "" if is_plan else f"status is {shown(call.status)} instead of plan"
            yield finding(unsuccessful(call) or trouble, name, call.evidence)


def _is_about_preview(command: Command, call: Call) -> bool:
    """Return whether a dry run fails for being one: without the flag the error is another."""
    name = call.error.get("error")
    if name not in USAGE:
        return False
    usual = call.target.called(command) if is_guarded(call.target, command) else call
    return not usual.error or usual.error.get("error") != name


def dry_run_undeclared(target: Target) -> Iterator[Finding]:
    """A command that only reads, and declares no dry run, refuses ``--dry-run``."""
    able = claiming(target, "dry_run_supported")
    commands = [each for each in target.working("dry-run") if named(each) not in able]
    if not commands:
        raise NotApplicable("every command that may be run has a preview")
    for command in commands:
        call = target.called(command, "--dry-run")
        runs = call.evidence.exit_code == 0 and call.status != "plan"
        trouble = "--dry-run is accepted, and it runs for real" if runs else ""
        yield finding(trouble, call.command, call.evidence)


# -- guards and dry runs of envelopes ------------------------------------------------------------


def _foretellings(target: Target) -> Looked:
    for command in _guarded(target):
        call = unconfirmed(target, command)
        if call is not None and is_refusal(call):
            context = object_in(call.error.get("context"))
            trouble = "" if "would_affect" in context else "the context has no would_affect"
            yield finding(trouble, call.command, call.evidence)
        elif call is None or not only_foretells(call):
            yield _unseen(command, call)


@all_seen
def refusal_foretells(target: Target) -> Looked:
    """A refusal lists what would be affected."""
    found = list(_foretellings(target))
    if not found:
        raise NotApplicable("nothing is refused: what destroys only foretells unconfirmed")
    return iter(found)


def _rehearsed(target: Target, command: Command) -> Call | None:
    """Make the dry run of a command that was seen to refuse; ``None`` if there is none."""
    if not is_guarded(target, command):
        return None
    return target.made(*target.words(command, "--dry-run"))


@all_seen
def dry_run_foretells(target: Target) -> Looked:
    """A destructive command has a dry run, and that reports the effect."""
    for command in _guarded(target):
        name = named(command)
        if target.flag_of(command, "dry-run") is None:
            yield finding("it lists no --dry-run", name)
            continue
        call = _rehearsed(target, command)
        if call is not None and call.exit_code == 0:
            foretold = text_in(object_in(call.data).get("effect")).startswith("would_")
            trouble = "" if foretold else "data.effect does not say what it would do"
            yield finding(trouble, name, call.evidence)
        elif call is not None and call.exit_code == call.dialect.wrong_call:
            # Without the flag only the confirmation was missing, so the failure is the dry run's.
            yield finding(f"--dry-run: {call.ended}", name, call.evidence)
        else:
            yield _unseen(command, call)


def _rehearsals(target: Target) -> Iterator[tuple[Command, Call | None]]:
    able = [each for each in _guarded(target) if target.flag_of(each, "dry-run") is not None]
    if not able:
        raise NotApplicable("no destructive command lists --dry-run")
    return ((command, _rehearsed(target, command)) for command in able)


@all_seen
def dry_run_no_trace(target: Target) -> Looked:
    """``--dry-run`` changes no files."""
    for command, call in (_rehearsals if target.is_enveloped else _previewed)(target):
        if call is not None and (call.evidence.exit_code == 0 or call.changed):
            yield finding(call.changed, named(command), call.evidence)
        elif target.is_enveloped:
            yield _unseen(command, call)
        else:
            yield f"no preview of {named(command)} was seen; name its words in [arguments]"


def _changes(target: Target) -> Iterator[Call]:
    """Yield the calls of the profile that changed something."""
    target.listed()
    changing = {named(each) for each in target.leaves if each.mutating}
    for call in target.all_calls():
        if call.command not in changing or call.exit_code != 0 or call.kind != "answer":
            continue
        asked = not {"--dry-run", "--schema"}.isdisjoint(call.words)
        if not (asked or call.meta.get("dry_run") is True or isinstance(call.data, list)):
            yield call


@over(_changes, otherwise="the profile changes nothing")
def effect(call: Call) -> str:
    """Changes made by calls of the profile report their effect."""
    known = object_in(call.data).get("effect") in list(_EFFECTS)
    return "" if known else f"data.effect is none of {', '.join(_EFFECTS)}"
