"""What holds for every command of the tool: the flags of ours, and what exit codes mean."""

from __future__ import annotations

from ..call.guard.handler_code import may_ask
from ..contracts import Facts
from ..declare.safety import only_reads
from ..errors import KINDS, AgentError
from ..line.flags import CommandFacts, OwnFlag, flags_in
from ..line.scanning import offers_profiles
from ..outcome import Failure, Partial
from .schema import is_guarded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..call import Invocation
    from ..declare.tree import Command


def own_flags(invocation: Invocation, root: Command) -> list[str]:
    """Return the flags of ours that mean something on some command, with what they take."""
    known = [each for each in all_of(root) if each.is_called]
    declared = [each.metadata for each in known if each.metadata is not None]
    guarded = any(map(is_guarded, known))
    reading = [only_reads(each.metadata, each.telling_path) for each in known]
    common = {
        "lists": True,
        "reads": any(reading),
        "has_timeout": True,
        "needs_agent_flag": True,
        "format_flag": invocation.contract.format_flag,
        "has_profiles": has_profiles(invocation, root),
        "streams": any(each.streams for each in declared),
        "destructive": any(each.destructive for each in declared),
        "dry_runnable": any(each.dry_runnable for each in declared),
        # A command that nobody declared may ask whether it should.
        "confirmable": guarded or not all(reading) or any(may_ask(each.handler) for each in known),
    }
    facts = [CommandFacts(**common)]
    if any(each.mutating for each in declared):
        facts.append(CommandFacts(**{**common, "mutating": True, "lists": False}))
    pages = any(each.lists is not None for each in declared)
    own = {flag.spelling or f"--{flag.name}" for flag in root.flags}
    found = (
        f"{flag.names[-1]} {flag.metavar.replace(',', '|')}".rstrip()
        + _note(invocation, flag, guarded=guarded, pages=pages)
        for flag in flags_in(invocation.contract).values()
        if flag.views and any(map(flag.applies, facts)) and own.isdisjoint(flag.names)
    )
    return list(dict.fromkeys(found))


def _note(invocation: Invocation, flag: OwnFlag, *, guarded: bool, pages: bool) -> str:
    """Return what holds without *flag*, or where it means something; ``""`` where that is plain."""
    if flag.effect == "confirms":
        return "" if guarded else " (where a command asks)"
    if flag.key == "dry-run":
        return " (where listed)"
    contract = invocation.contract
    usual = {
        "limit": contract.list_limit,
        "max-bytes": contract.size_limit,
        "timeout": invocation.settings.timeout or contract.default_timeout,
    }.get(flag.key)
    if usual:
        return f"={usual:.10g} (0: no limit)"
    return " (0: no limit)" if flag.key == "limit" and pages else ""


def has_profiles(invocation: Invocation, root: Command) -> bool:
    """Return whether values of the flags of the tool can be saved."""
    from ..call.settable import settable_flags

    return bool(settable_flags(root)) and offers_profiles(invocation)


def exit_codes(invocation: Invocation) -> dict[int, str]:
    """Return what exit codes mean: those of the contract, and those of the tool's own."""
    meanings = {0: "ok"}
    for kind in KINDS:
        meanings.setdefault(number(invocation, kind), kind)
    for status, meaning in invocation.settings.exit_codes.items():
        meanings[status] = meaning if isinstance(meaning, str) else str(meaning.value)
    return {code: meanings[code] for code in sorted(meanings)}


def number(invocation: Invocation, kind: str) -> int:
    """Return the exit code that *kind* has in the contract in force."""
    if kind == "success":
        return 0
    if kind == "user_error" and (usage_code := invocation.settings.usage_exit_code):
        return usage_code
    partial = kind == "partial"
    outcome = Partial("x", None) if partial else Failure(AgentError.of_kind(kind, "x"), "")
    return invocation.contract.respond(outcome, Facts()).exit_code


def all_of(command: Command) -> Iterator[Command]:
    """Yield *command*, and every visible command below it."""
    yield command
    for child in command.visible:
        yield from all_of(child)
