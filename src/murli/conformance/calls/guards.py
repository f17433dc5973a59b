"""Guarded commands: whether they were seen to refuse, and what they may be called with then."""

from __future__ import annotations

from ...wire.catalogue import Command
from ...wire.documents import parsed
from ...wire.values import text_in
from .making import Call, Target, confirms, named


def unconfirmed(target: Target, command: Command, *more: str) -> Call | None:
    """Call *command* unconfirmed; ``None`` if its words would confirm it, or it does not end."""
    words = target.words(command, *more)
    if confirms(command, words):
        return None
    return target.call_of(target.run(*words), named(command))


def is_refusal(call: Call) -> bool:
    """Return whether a call was refused because it was not confirmed."""
    # With murli the document counts even if a signal ended the process.
    failed = call.exit_code > 0 if call.target.is_enveloped else call.exit_code != 0
    return failed and bool(call.error_name == call.dialect.confirmation)


def only_foretells(call: Call) -> bool:
    """Return whether a call was a dry run although none was asked for, as its command declares."""
    if call.exit_code != 0 or call.meta.get("dry_run") is not True:
        return False
    entry = call.target.entry_of(call.command)
    return entry.get("safe_default") is True or bool(text_in(entry.get("confirm_flag")))


def is_guarded(target: Target, command: Command) -> bool:
    """Return whether *command*, which must be guarded, was seen to do nothing unconfirmed."""
    call = unconfirmed(target, command) if command in target.guarded else None
    if call is None:
        return False
    return is_refusal(call) or (target.is_enveloped and only_foretells(call))


def may_be_asked(target: Target, command: Command, flag: str) -> bool:
    """Return whether calling *command* with *flag*, which should keep it from running, is harmless.

    A command that may change something is called only if it was seen to refuse, or if all commands
    that only read were seen to support the flag.
    """
    if command.is_group or target.is_safe(command) or is_guarded(target, command):
        return True
    if target.is_enveloped:
        return target.understands(flag) and target.is_understood(flag)
    if command in target.guarded:
        return False
    known = [each.path for each in target.commands if each.is_group or target.is_safe(each)]
    return target.understands(flag) and all(_answers(target, path, flag) for path in known or [()])


def _answers(target: Target, path: tuple[str, ...], flag: str) -> bool:
    evidence = target.run(*path, flag)
    document = parsed(evidence.stdout)
    return evidence.exit_code == 0 and isinstance(document, dict) and "name" in document
