"""The schema documents: one command, or the whole tool, as an agent reads it."""

from __future__ import annotations

import os
from functools import lru_cache

from ..contracts import VALID_PROTOCOL_VERSIONS
from ..core import INTENT, current
from ..declare import Metadata, flag_key
from ..declare.described import ReturnSchema
from ..declare.exit_codes import meanings_of
from ..declare.tree import first_line
from ..formats import VALID_OUTPUT_FORMATS, plain
from ..line.discretion import shown_default
from ..line.flags import CommandFacts, listed
from .safety_block import does_something, has_own_dry_run, safety_block

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from ..declare import FlagAnnotation
    from ..declare.exit_codes import ExitCode
    from ..declare.tree import Argument, Command, Flag

    # Parameters that are described already, by their ids, each with its description.
    Known = dict[int, tuple[Any, dict[str, Any]]]

SCHEMA_VERSION = "1.0"
_UNDECLARED = Metadata()
# What these documents say about an annotation; the rest is in the manifest of the other contracts.
_FLAG_FACTS = (
    *("description", "env", "sensitive", "persistent", "mutually_exclusive_with", "enum"),
    *("pattern", "profileable"),
)
# What an overview says about a flag, and how much of its description.
_BRIEFLY = ("name", "type", "default", "description", "required", "short", "spelling", "sensitive")
_LONGEST_BRIEF = 80
# Keys of a flag whose 0 or false is a value; any other is left out when there is nothing to say.
_EVEN_ZERO = ("default", "minimum", "maximum", "values")


def command_schema(command: Command) -> dict[str, Any]:
    """Return the document of ``CMD --schema``; subcommands are named, not spelled out."""
    return described(command, 1, {})


def describe_document(
    root: Command,
    tool_version: str,
    murli_version: str,
    depth: int | None = None,
    profiles: dict[str, Any] | None = None,
    *,
    has_profiles: bool = True,
    has_exec: bool = False,
    has_mcp: bool = False,
    agents: str = "pipe",
    statuses: Mapping[int, str | ExitCode] | None = None,
) -> dict[str, Any]:
    """Return the document of ``describe``: the whole tool, spelled out down to *depth*.

    *profiles* is what is known of them; without it, only which flags they can hold is shown.
    *has_profiles*, *has_exec* and *has_mcp* say which commands of ours the tool has, *agents* by
    what the tool knows an agent, *statuses* what the exit statuses of all its commands mean.
    """
    document: dict[str, Any] = {
        "name": root.name,
        "summary": root.summary,
        "schema_version": SCHEMA_VERSION,
    }
    if tool_version:
        document["tool_version"] = tool_version
    if root.source:
        document["source"] = root.source
    # At depth 1 an agent looks around; it asks again for what it wants to call.
    overview = depth == 1
    if not overview:
        document["capabilities"] = capabilities(root, tool_version, has_profiles)
        for name, is_there in (("exec", has_exec), ("mcp", has_mcp)):
            if is_there:
                document["capabilities"][name] = True
        if agents != "pipe":
            document["capabilities"]["agents"] = agents
        document["profiles"] = profiles or {"profileable_flags": profileable_flags(root)}
    known: Known = {}
    if root.visible:
        if root.metadata is not None and root.metadata.mutating and not overview:
            document["mutating"] = True
        # What is said before the command's name; many a tool needs it for every call.
        own = _parameters(root, known)
        document.update(_briefly(own) if overview else own)
        below = [described(each, depth and depth - 1, known) for each in root.visible]
        document["commands"] = below
        if does_something(root) and not overview:
            document["runs"] = True
    else:
        # A tool without subcommands is one command; without its flags nobody could call it.
        own = _command(root, [], known)
        own = _briefly(own) if overview else own
        for key in (
            *("when_to_use", "agent_description", "arguments", "flags", "requires_one_of"),
            *("returns", "examples", "next", "state", "safety", "deprecated"),
        ):
            if key in own:
                document[key] = own[key]
        statuses = {**(statuses or {}), **meanings_of(root.metadata)}
    if statuses and not overview:
        document["exit_statuses"] = exit_statuses(statuses)
    if not overview:
        document["murli"] = {"version": murli_version}
    return document


def _briefly(document: dict[str, Any]) -> dict[str, Any]:
    """Return *document* with what an overview has of its flags."""
    if "flags" not in document:
        return document
    return {**document, "flags": [_brief(flag) for flag in document["flags"]]}


def _brief(flag: dict[str, Any]) -> dict[str, Any]:
    """Return what an overview has of a described *flag*: enough to know whether one wants it."""
    brief = {key: each for key, each in flag.items() if key in _BRIEFLY}
    line = first_line(brief.get("description"))
    if line:
        fits = len(line) <= _LONGEST_BRIEF
        brief["description"] = line if fits else f"{line[: _LONGEST_BRIEF - 1]}…"
    return brief


def capabilities(root: Command, tool_version: str, has_profiles: bool) -> dict[str, Any]:
    """Return what this build of the tool can do."""
    document: dict[str, Any] = {
        "streaming": True,
        "dry_run": _any_dry_runnable(root),
        "output_formats": list(VALID_OUTPUT_FORMATS),
        "schema_version": SCHEMA_VERSION,
    }
    if tool_version:
        document["tool_version"] = tool_version
    document["protocol_version"] = VALID_PROTOCOL_VERSIONS[-1]
    document["profiles"] = has_profiles
    if hasattr(os, "fork"):
        document["until"] = True
    return document


def profileable_flags(root: Command) -> list[str]:
    """Return the names of all flags, anywhere in the tool, that a profile may hold."""
    from ..call.settable import settable_flags

    return list(settable_flags(root))


def described(command: Command, depth: int | None, known: Known) -> dict[str, Any]:
    """Return *command* with everything below it; from *depth* 0 on by name and summary only.

    *known* are the parameters that are described already.
    """
    if depth == 0:
        return named(command)
    below = [described(each, depth and depth - 1, known) for each in command.visible]
    return _command(command, below, known)


def named(command: Command) -> dict[str, Any]:
    """Return the name of *command*, its path where that is more than the name, and its summary."""
    document = {"name": command.name}
    if len(command.path) > 2:
        document["path"] = " ".join(command.path[1:])
    if command.summary:
        document["summary"] = command.summary
    return document


def _command(command: Command, subcommands: list[dict[str, Any]], known: Known) -> dict[str, Any]:
    metadata = command.metadata or _UNDECLARED
    document: dict[str, Any] = named(command)
    if command.source:
        document["source"] = command.source
    if command.aliases:
        document["aliases"] = list(command.aliases)
    if metadata.when_to_use:
        document["when_to_use"] = metadata.when_to_use
    if metadata.agent_description:
        document["agent_description"] = metadata.agent_description
    safety = safety_block(command)
    # Where nothing is declared, "not idempotent" would be a claim that nobody made.
    if metadata.idempotent or "idempotent" in safety:
        document["idempotent"] = safety.get("idempotent", True)
    if metadata.mutating:
        document["mutating"] = True
    document.update(_parameters(command, known))
    returns = returns_of(command, metadata)
    if returns:
        document["returns"] = returns
    if metadata is not _UNDECLARED:
        of_calls = {
            "examples": [_example(example) for example in metadata.examples],
            "next": list(metadata.next),
            "state": metadata.state,
            "exit_statuses": exit_statuses(meanings_of(metadata)),
        }
        document.update((key, value) for key, value in of_calls.items() if value)
    if subcommands:
        document["subcommands"] = subcommands
    document["safety"] = safety
    if command.runs and command.visible and does_something(command):
        document["runs"] = True
    if command.deprecated:
        document["deprecated"] = True
    return document


def _parameters(command: Command, known: Known) -> dict[str, Any]:
    """Return the arguments and flags of *command*, murli's own that mean something there too."""
    if command.metadata is not None and command.metadata.names_parameters:
        known = {}  # what is declared about them holds for this command alone
    flags = (*command.flags, *standard_flags(command))
    one_of = [list(names) for names in _one_of(command)]
    found: dict[str, Any] = {}
    if command.arguments:
        found["arguments"] = [_once(_argument, each, command, known) for each in command.arguments]
    if flags:
        found["flags"] = [_once(_flag, each, command, known) for each in flags]
    if one_of:
        found["requires_one_of"] = one_of
    return found


def _once(describe: Any, parameter: Any, command: Command, known: Known) -> dict[str, Any]:
    """Return what *describe* makes of *parameter*, made once where several commands have it."""
    found = known.get(id(parameter))
    if found is None:
        # Kept together: no other has its id as long as it is there.
        found = known[id(parameter)] = (parameter, describe(parameter, command))
    return found[1]


def _one_of(command: Command) -> Iterator[tuple[str, ...]]:
    """Yield the names of which exactly one must be given: the parser's groups, declared rules."""
    yield from command.one_of
    metadata = command.metadata
    yield from (rule.one_of for rule in (metadata.requires if metadata else ()) if rule.one_of)


def standard_flags(command: Command) -> list[Flag]:
    """Return the flags that murli adds to *command* for what it declares, but not its own ones."""
    if not command.is_called:
        return []
    metadata = command.metadata or _UNDECLARED
    by_person = metadata.traits is not None and metadata.traits.requires_person
    confirmable = is_guarded(command) and not by_person
    lists, limit = metadata.lists is not None, _usual_limit(metadata)
    found = _standard_flags(confirmable, metadata.dry_runnable, metadata.mutating, lists, limit)
    known = {flag_key(flag.name) for flag in command.flags} if found else ()
    return [flag for flag in found if flag.name not in known]


@lru_cache(typed=True)
def _standard_flags(
    confirmable: bool, dry_runnable: bool, mutating: bool, lists: bool, limit: int | None
) -> tuple[Flag, ...]:
    """Return our flags that mean something on a command of which these `CommandFacts` are true.

    *limit* is how many items a page of it has.
    """
    facts = CommandFacts(
        confirmable=confirmable, dry_runnable=dry_runnable, mutating=mutating, lists=lists
    )
    return tuple(
        flag.documented(limit if flag.key == "limit" else None, standard=True)
        for flag in listed("describe", facts, ("safety", "part"))
    )


def is_guarded(command: Command) -> bool:
    """Return whether an agent must confirm a call of *command*."""
    invocation = current()
    if invocation is None:
        return command.metadata is not None and command.metadata.mutating
    from ..call import guard

    return guard.is_guarded(invocation, command.metadata, command.telling_path)


def _usual_limit(metadata: Metadata) -> int | None:
    """Return how many items a page has; what ``lists=True`` leaves open each contract decides."""
    paging = metadata.lists
    if paging is None:
        return None
    from ..declare.declarations import USUAL_PAGING

    return None if paging is USUAL_PAGING else paging.limit


def _argument(argument: Argument, command: Command) -> dict[str, Any]:
    note = command.note_about(argument)
    description = argument.description
    kind = argument.type
    if note is not None:
        description = note.description or description
        # "string" is what an annotation says when it says nothing.
        kind = note.type if note.type != "string" else kind
    document: dict[str, Any] = {"name": argument.name, "type": kind}
    rest: dict[str, Any] = {
        "required": argument.required,
        "description": description,
        "metavar": argument.metavar,
        "enum": list(argument.choices),
        "mutually_exclusive_with": list(argument.excludes),
    }
    if argument.batch:
        rest["batch"] = True
        document["type"] = f"[]{kind.removeprefix('[]')}"
    document.update((key, value) for key, value in rest.items() if value)
    return document


def _flag(flag: Flag, command: Command) -> dict[str, Any]:
    note = command.note_on(flag)
    document: dict[str, Any] = {
        "name": flag.name,
        "type": flag.type,
        "default": None,
        "description": flag.description,
        "metavar": flag.metavar,
        "env": flag.env,
        "sensitive": command.is_secret(flag),
        "persistent": False,
        "mutually_exclusive_with": list(flag.excludes),
        "enum": list(flag.choices),
        "pattern": "",
        "profileable": False,
        "required": flag.required,
        # One that has no other name is known by that: it is not written with two dashes.
        "short": flag.short or (flag.name if flag.spelling == f"-{flag.name}" else ""),
        "spelling": flag.spelling,
        "aliases": list(flag.aliases),
        "minimum": flag.minimum,
        "maximum": flag.maximum,
        "negation": flag.negation,
        "negation_aliases": list(flag.negation_aliases),
        "values": _words_of(flag),
        "standard": flag.standard,
        "batch": flag.batch,
    }
    if note is not None and not flag.standard:
        apply_flag_annotation(document, note)
    default, document["description"] = shown_default(flag, command, document["description"])
    if _is_telling(default, flag):
        document["default"] = default
    if f"--{flag_key(flag.name)}" in INTENT:
        document["profileable"] = False
    return {
        key: value
        for key, value in document.items()
        if value or (key in _EVEN_ZERO and value is not None)
    }


def _words_of(flag: Flag) -> int | None:
    """Return how many words follow *flag* each time, ``None`` where its type says that."""
    if flag.type == "bool" or flag.values == 1 or (flag.values < 0 and flag.repeats):
        return None
    return flag.values


def _is_telling(default: Any, flag: Flag) -> bool:
    """Return whether *default* is more than what an option comes to that is left out anyway."""
    if default is False:
        return bool(flag.negation)  # which says that it is not undecided
    return default is not None and not (isinstance(default, (str, list, dict)) and not default)


def apply_flag_annotation(flag_schema: dict[str, Any], annotation: FlagAnnotation) -> None:
    """Put what *annotation* says on top of *flag_schema*; a switch is only ever raised."""
    for name in _FLAG_FACTS:
        value = getattr(annotation, name)
        if value:
            flag_schema[name] = list(value) if isinstance(value, tuple) else value


def returns_of(command: Command, metadata: Metadata) -> dict[str, Any]:
    """Return what a call returns: as declared, or as the handler's own annotation says."""
    from ..schemas.derive import return_schema_of, schema_of

    returns = metadata.returns
    if isinstance(returns, ReturnSchema):
        document: dict[str, Any] = {"type": returns.type}
        if returns.description:
            document["description"] = returns.description
        if returns.shape:
            document["shape"] = plain(returns.shape)
        schema = returns.output_schema
        if schema is not None:
            document["output_schema"] = plain(
                schema if isinstance(schema, dict) else schema_of(schema)
            )
        return document
    schema = return_schema_of(command.handler) if returns is None else schema_of(returns)
    if schema is None:
        return {}
    return {"type": "json", "output_schema": plain(schema)}


def _example(example: Any) -> dict[str, Any]:
    document: dict[str, Any] = {"command": example.command}
    if example.description:
        document["description"] = example.description
    if example.expected_exit_code:
        document["expected_exit_code"] = example.expected_exit_code
    return document


def exit_statuses(declared: Mapping[int, str | ExitCode]) -> list[dict[str, Any]]:
    """Return what the statuses of the tool itself mean, those of failures too."""
    return [
        {
            "status": status,
            "ok": isinstance(meaning, str),
            "meaning": meaning if isinstance(meaning, str) else meaning.value,
        }
        for status, meaning in sorted(declared.items())
    ]


def _any_dry_runnable(command: Command) -> bool:
    if (command.metadata and command.metadata.dry_runnable) or has_own_dry_run(command):
        return True
    return any(_any_dry_runnable(child) for child in command.commands)
