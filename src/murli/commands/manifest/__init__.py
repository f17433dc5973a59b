"""``manifest``, and ``CMD --schema`` where answers are ResponseEnvelopes: how to call what."""

from __future__ import annotations

from ...contracts.agent_spec import REVISIONS
from ...declare import Metadata
from ...formats import dumps, plain
from ...line import usage
from ...line.discretion import discreet
from ...line.flags import flag_named
from ...outcome import Success
from ..finding import find_commands
from ..own import AGENT, global_flags, global_variables, own_commands
from ..raw import show_help
from .codes import share_exit_codes
from .entries import Entries, key_of
from .schemas import input_schema, output_schema
from .versions import lowest_version

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any, NoReturn

    from ...call import Invocation
    from ...declare.tree import Command

_HELP = """\
usage: {name} manifest [COMMAND ...] [--etag ETAG]

List every command of {name} with its flags and exit codes, in one call.

arguments:
  COMMAND      only these commands, and what is below them

options:
  --etag ETAG  {etag}
"""


def run(invocation: Invocation) -> NoReturn:
    """Answer ``manifest [COMMAND …] [--etag E]``."""
    document = build(invocation, _path(invocation))
    if invocation.call.etag == document["etag"]:
        invocation.meta["not_modified"] = True
        invocation.exit(invocation.writer._answer(Success(), "Not modified."))
    shown = plain(document)
    invocation.exit(invocation.writer._answer(Success("", shown), lambda: dumps(shown)))


def _path(invocation: Invocation) -> list[str]:
    path: list[str] = []
    for word in invocation.call.rest:
        if word in ("--help", "-h"):
            etag = flag_named("--etag").help
            show_help(invocation, _HELP.format(name=invocation.host.name(), etag=etag))
        if word.startswith("-"):
            invocation.refuse(usage.unknown_option(word, ["--etag"]))
        path.append(word)
    return path


def build(invocation: Invocation, path: Sequence[str] = ()) -> dict[str, Any]:
    """Return the manifest of the running tool, or of what *path* names and what is below that."""
    from ... import __version__

    revision = REVISIONS[invocation.writer.contract]
    entries = Entries(revision, invocation.settings.exit_codes)
    root, own = invocation.host.tree(), own_commands(invocation)
    found = _found(invocation, root, own, path)
    ours = {command.path for each in own for command in _listed(each)}
    made = [(each, entries.entry(each, builtin=each.path in ours)) for each in found]
    document: dict[str, Any] = {"schema_version": revision.manifest_version}
    if entries.detailed:
        document.update(_facts_of_all(invocation, root, made, entries, ours))
    elif invocation.settings.agents != "pipe":  # the first shape has no place for what all share
        for command, entry in made:
            if command.is_called:
                entry["flags"].setdefault(AGENT.name, entries.flag(AGENT))
    commands = {key_of(command): entry for command, entry in made if command is not root}
    if found[0] is root:
        # A command may have the name of its tool; the tool itself has the empty path then.
        commands = {"" if root.name in commands else root.name: made[0][1], **commands}
    document["commands"] = commands
    if entries.detailed:
        document["schema_version"] = lowest_version(document)
    # Over what is registered, and nothing that may differ between two runs.
    etag = _etag(discreet(document))
    entries.declare_order()
    version = invocation.request.tool_version() or __version__
    facts = {"schema_version": "", "framework_version": version, "etag": etag}
    return {**facts, **discreet(document)}


def _found(
    invocation: Invocation, root: Command, own: list[Command], path: Sequence[str]
) -> list[Command]:
    """Return the commands the manifest is about."""
    if not path:
        return [command for each in (root, *own) for command in _listed(each)]
    top = [*root.visible, *own]
    found: dict[tuple[str, ...], Command] = {}
    for chain in find_commands(invocation, path, top, lambda each: each.visible):
        for each in (root, *chain[:-1]):
            if any(flag.required for flag in each.flags) or each.arguments:
                found[each.path] = each  # without what it needs, nothing below it can be called
        found.update((each.path, each) for each in _listed(chain[-1]))
    return list(found.values())


def _listed(command: Command) -> Iterator[Command]:
    """Return *command* and everything below it that can be called; nothing that is hidden."""
    below = command.visible
    is_tool = len(command.path) == 1
    if not (is_tool and below) or command.runs or command.flags or command.arguments:
        yield command
    for child in below:
        yield from _listed(child)


def _facts_of_all(
    invocation: Invocation,
    root: Command,
    made: list[tuple[Command, dict[str, Any]]],
    entries: Entries,
    ours: set[tuple[str, ...]],
) -> dict[str, Any]:
    """Return what is true of every command, and take it out of their entries."""
    shared = {flag.name: entries.flag(flag) for flag in global_flags(invocation, root)}
    variables = global_variables(invocation).items()
    facts: dict[str, Any] = {
        "flags": _share_flags(made, shared, ours),
        "exit_codes": share_exit_codes(made),
        "env_vars": [{"name": name, "description": text} for name, text in variables],
    }
    secret: dict[str, None] = {}
    needed: list[dict[str, Any]] = []
    for command, entry in made:
        secret.update(dict.fromkeys(entry.get("secret_env_vars", ())))
        traits = command.metadata.traits if command.metadata is not None else None
        if traits is not None:
            needed += [each for each in traits.dependencies or () if each not in needed]
    found = {"secret_env_vars": list(secret), "dependencies": needed}
    return {**facts, **{key: value for key, value in found.items() if value}}


def _share_flags(
    made: list[tuple[Command, dict[str, Any]]],
    shared: dict[str, Any],
    ours: set[tuple[str, ...]],
) -> dict[str, Any]:
    """Return those of *shared* that mean the same on every command, and stand nowhere else.

    An option of the tool's own has the name to itself on its command, so that one of ours with the
    same name is an option of each of the others.
    """
    taken = _names_taken([command for command, _ in made], ours)
    for command, entry in made:
        own = _names_taken([command], ours)
        flags = entry["flags"]
        for name in shared:
            if name in own:
                continue
            if name not in taken:
                flags.pop(name, None)
            elif command.is_called:
                flags.setdefault(name, shared[name])
    return {name: entry for name, entry in shared.items() if name not in taken}


def _names_taken(commands: list[Command], ours: set[tuple[str, ...]]) -> set[str]:
    """Return the names of the options that the tool's own among *commands* define."""
    return {flag.name for each in commands if each.path not in ours for flag in each.flags}


def _etag(document: dict[str, Any]) -> str:
    import hashlib
    import json
    import os

    text = json.dumps(document, sort_keys=True, separators=(",", ":"), default=str)
    # Where the tool is called is in no registration, though a default may be made of it.
    for place in (os.path.abspath("."), os.path.expanduser("~")):
        text = text.replace(json.dumps(place)[1:-1], ".") if len(place) > 1 else text
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:16]


# -- one command -------------------------------------------------------------------------------


def schema_of_command(invocation: Invocation) -> dict[str, Any]:
    """Return what ``CMD --schema`` answers: the command's entry, and what a manifest leaves out."""
    command, builtin = _called(invocation)
    metadata = command.metadata or Metadata()
    entries = Entries(REVISIONS[invocation.writer.contract], invocation.settings.exit_codes)
    entry = entries.entry(command, builtin=builtin)
    entries.declare_order()
    at_root = _flags_at_root(invocation, entry) if entries.detailed else {}
    document: dict[str, Any] = {
        "name": command.name,
        "command": " ".join(command.path),
        **entry,
        "required_scopes": list(metadata.required_scopes),
        "positionals": entries.positionals(command),
        "schema_version": metadata.schema_version,
        "input_schema": input_schema(command),
        "output_schema": entry.get("output_schema", {}),
    }
    if at_root:
        document["root_flags"] = at_root
    for name in ("agent_description", "when_to_use"):
        if getattr(metadata, name):
            document[name] = getattr(metadata, name)
    deprecation = metadata.deprecated
    if deprecation is not None or command.deprecated:
        document["deprecated"] = True
    if deprecation is not None:
        document |= {"deprecated_in": deprecation.since, "replacement": deprecation.replacement}
    return document


def _flags_at_root(invocation: Invocation, entry: dict[str, Any]) -> dict[str, Any]:
    """Take the flags out of *entry* that a manifest has at its root; here with their defaults."""
    root, own = invocation.host.tree(), own_commands(invocation)
    ours = {each.path for group in own for each in _listed(group)}
    taken = _names_taken(_found(invocation, root, own, ()), ours)
    shared = {flag.name for flag in global_flags(invocation, root)} - taken
    return {name: entry["flags"].pop(name) for name in list(entry["flags"]) if name in shared}


def output_of_command(invocation: Invocation) -> dict[str, Any]:
    """Return what ``CMD --output-schema`` answers; ``{}`` when nothing is declared."""
    command, _ = _called(invocation)
    return output_schema(command, command.metadata or Metadata())


def _called(invocation: Invocation) -> tuple[Command, bool]:
    """Return the command that was called, and whether it is ours."""
    call = invocation.call
    if not call.mounted:
        return invocation.host.command(call.level), False
    own = next(each for each in own_commands(invocation) if each.name == call.mounted)
    below = {name: child for child in own.commands for name in (child.name, *child.aliases)}
    return below.get(call.rest[0] if call.rest else "", own), True
