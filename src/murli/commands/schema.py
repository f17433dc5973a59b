"""The schema documents: one command, or the whole tool, as an agent reads it."""

from __future__ import annotations

from ..formats import plain
from ..metadata import Metadata, ReturnSchema, flag_key
from ..runtime import INTENT
from ..runtime.invocation import current
from ..tree import Flag, first_line
from ..writer import VALID_OUTPUT_FORMATS, VALID_PROTOCOL_VERSIONS
from .discretion import shown_default
from .safety_block import has_own_dry_run, safety_block

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from ..exit_codes import ExitCode
    from ..metadata import FlagAnnotation
    from ..tree import Argument, Command

SCHEMA_VERSION = "1.0"
# What these documents tell of an annotation; the rest is in the manifest of the other contracts.
_TOLD_OF_FLAGS = (
    "description",
    "env",
    "sensitive",
    "persistent",
    "mutually_exclusive_with",
    "enum",
    "pattern",
    "profileable",
)
# What an overview tells of a flag, and how much of its description.
_BRIEFLY = ("name", "type", "default", "description", "required", "short", "spelling", "sensitive")
_LONGEST_BRIEF = 80


def command_schema(command: Command) -> dict[str, Any]:
    """Give the document of ``CMD --schema``; subcommands are named, not spelled out."""
    return described(command, 1)


def describe_document(
    root: Command,
    tool_version: str,
    murli_version: str,
    depth: int | None = None,
    profiles: dict[str, Any] | None = None,
    *,
    has_profiles: bool = True,
    agents: str = "pipe",
    statuses: Mapping[int, str | ExitCode] | None = None,
) -> dict[str, Any]:
    """Give the document of ``describe``: the whole tool, spelled out down to *depth*.

    *profiles* is what is known of them; without it, only which flags they can hold is told.
    *has_profiles* says that the tool has a ``profile`` command of ours, *agents* by what the tool
    knows an agent, *statuses* what the exit statuses of all its commands mean.
    """
    document: dict[str, Any] = {
        "name": root.name,
        "summary": root.summary,
        "schema_version": SCHEMA_VERSION,
    }
    if tool_version:
        document["tool_version"] = tool_version
    # At depth 1 an agent looks around; it asks again for what it wants to call.
    overview = depth == 1
    if not overview:
        document["capabilities"] = capabilities(root, tool_version, has_profiles)
        if agents != "pipe":
            document["capabilities"]["agents"] = agents
        document["profiles"] = profiles or {"profileable_flags": profileable_flags(root)}
    if root.visible:
        if not overview:
            if root.metadata is not None and root.metadata.mutating:
                document["mutating"] = True
            # What is said before the command's name; many a tool needs it for every call.
            document.update(_parameters(root))
        document["commands"] = [described(command, _below(depth)) for command in root.visible]
    else:
        # A tool without subcommands is one command; without its flags nobody could call it.
        own = _command(root, [])
        if overview and "flags" in own:
            own["flags"] = [_brief(flag) for flag in own["flags"]]
        for key in ("arguments", "flags", "requires_one_of", "returns", "examples", "safety"):
            if key in own:
                document[key] = own[key]
        statuses = {**(statuses or {}), **(root.metadata.ok_codes if root.metadata else {})}
    if statuses and not overview:
        document["exit_statuses"] = exit_statuses(statuses)
    if not overview:
        document["murli"] = {"version": murli_version}
    return document


def _brief(flag: dict[str, Any]) -> dict[str, Any]:
    """Return what an overview has of a described *flag*: enough to know whether one wants it."""
    told = {key: each for key, each in flag.items() if key in _BRIEFLY}
    line = first_line(told["description"])
    told["description"] = line if len(line) <= _LONGEST_BRIEF else f"{line[: _LONGEST_BRIEF - 1]}…"
    return told


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
    return document


def profileable_flags(root: Command) -> list[str]:
    """Give the names of all flags, anywhere in the tool, that a profile may hold."""
    from .settable import settable_flags

    return list(settable_flags(root))


def described(command: Command, depth: int | None = None) -> dict[str, Any]:
    """Give *command* with everything below it; from *depth* 0 on by name and summary only."""
    if depth == 0:
        return {"name": command.name, "summary": command.summary}
    return _command(command, [described(child, _below(depth)) for child in command.visible])


def _below(depth: int | None) -> int | None:
    return None if depth is None else depth - 1


def _command(command: Command, subcommands: list[dict[str, Any]]) -> dict[str, Any]:
    metadata = command.metadata or Metadata()
    document: dict[str, Any] = {"name": command.name, "summary": command.summary}
    if command.aliases:
        document["aliases"] = list(command.aliases)
    if metadata.when_to_use:
        document["when_to_use"] = metadata.when_to_use
    if metadata.agent_description:
        document["agent_description"] = metadata.agent_description
    safety = safety_block(command)
    document["idempotent"] = safety.get("idempotent", metadata.idempotent)
    if metadata.mutating:
        document["mutating"] = True
    document.update(_parameters(command))
    rest: dict[str, Any] = {
        "returns": returns_of(command, metadata),
        "examples": [_example(example) for example in metadata.examples],
        "exit_statuses": exit_statuses(metadata.ok_codes),
        "subcommands": subcommands,
    }
    document.update((key, value) for key, value in rest.items() if value)
    document["safety"] = safety
    if command.deprecated:
        document["deprecated"] = True
    return document


def _parameters(command: Command) -> dict[str, Any]:
    """Return the arguments and flags of *command*, murli's own that mean something there too."""
    flags = (*command.flags, *standard_flags(command))
    found = {
        "arguments": [_argument(argument, command) for argument in command.arguments],
        "flags": [_flag(flag, command) for flag in flags],
        "requires_one_of": [list(names) for names in _one_of(command)],
    }
    return {key: value for key, value in found.items() if value}


def _one_of(command: Command) -> Iterator[tuple[str, ...]]:
    """Yield the names of which exactly one must be given: the parser's groups, declared rules."""
    yield from command.one_of
    metadata = command.metadata
    yield from (rule.one_of for rule in (metadata.requires if metadata else ()) if rule.one_of)


def standard_flags(command: Command) -> Iterator[Flag]:
    """Yield the flags that murli adds to *command* for what it declares, but not its own ones."""
    if not command.is_called:
        return
    metadata = command.metadata or Metadata()
    known = {flag_key(flag.name) for flag in command.flags}
    by_person = metadata.traits is not None and metadata.traits.requires_person
    wanted = []
    if _is_guarded(command, metadata) and not by_person:
        wanted.append(Flag("yes", "bool", False, "confirm the change", standard=True))
    if metadata.dry_runnable:
        told = "show what would be done, and do nothing"
        wanted.append(Flag("dry-run", "bool", False, told, standard=True))
    if metadata.lists is not None and not metadata.mutating:
        wanted += _paging(metadata)
    yield from (flag for flag in wanted if flag.name not in known)


def _is_guarded(command: Command, metadata: Metadata) -> bool:
    """Return whether an agent must confirm a call of *command*."""
    invocation = current()
    if invocation is None:
        return metadata.mutating
    from ..runtime.guard import is_guarded

    return is_guarded(invocation, metadata, command.telling_path)


def _paging(metadata: Metadata) -> list[Flag]:
    from ..declarations import USUAL_PAGING

    paging = metadata.lists
    # What ``lists=True`` leaves open each contract decides.
    limit = None if paging is None or paging is USUAL_PAGING else paging.limit
    return [
        Flag("limit", "int", limit, "how many items to return, 0 for all", standard=True),
        Flag("cursor", description="continue where a previous answer ended", standard=True),
    ]


def _argument(argument: Argument, command: Command) -> dict[str, Any]:
    note = command.note_about(argument)
    description = argument.description
    kind = argument.type
    if note is not None:
        description = note.description or description
        # "string" is what an annotation says when it says nothing.
        kind = note.type if note.type != "string" else kind
    document: dict[str, Any] = {
        "name": argument.name,
        "type": kind,
        "required": argument.required,
        "description": description,
    }
    if argument.metavar:
        document["metavar"] = argument.metavar
    if argument.choices:
        document["enum"] = list(argument.choices)
    if argument.excludes:
        document["mutually_exclusive_with"] = list(argument.excludes)
    return document


def _flag(flag: Flag, command: Command) -> dict[str, Any]:
    note, sensitive = command.note_on(flag), command.is_secret(flag)
    document: dict[str, Any] = {
        "name": flag.name,
        "type": flag.type,
        "default": flag.default,
        "description": flag.description,
        "metavar": flag.metavar,
        "env": flag.env,
        "sensitive": sensitive,
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
        "standard": flag.standard,
    }
    if note is not None and not flag.standard:
        apply_flag_annotation(document, note)
    shown = shown_default(flag, command, document["description"])
    document["default"], document["description"] = shown
    if f"--{flag_key(flag.name)}" in INTENT:
        document["profileable"] = False
    kept = ("name", "type", "default", "description")
    numbers = ("minimum", "maximum")
    return {
        key: value
        for key, value in document.items()
        if value or key in kept or (key in numbers and value is not None)
    }


def apply_flag_annotation(flag_schema: dict[str, Any], annotation: FlagAnnotation) -> None:
    """Put what *annotation* says on top of *flag_schema*; a switch is only ever raised."""
    for name in _TOLD_OF_FLAGS:
        value = getattr(annotation, name)
        if value:
            flag_schema[name] = list(value) if isinstance(value, tuple) else value


def returns_of(command: Command, metadata: Metadata) -> dict[str, Any]:
    """Give what a call returns: as declared, or as the handler's own annotation says."""
    from ..schemas.derive import return_schema_of, schema_of

    returns = metadata.returns
    if isinstance(returns, ReturnSchema):
        document: dict[str, Any] = {"type": returns.type, "description": returns.description}
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
    return {"type": "json", "description": "", "output_schema": plain(schema)}


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
