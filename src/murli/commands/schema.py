"""The schema documents: one command, or the whole tool, as an agent reads it."""

from __future__ import annotations

from ..formats import plain
from ..metadata import Metadata, ReturnSchema, flag_key
from ..runtime import INTENT
from ..writer import VALID_OUTPUT_FORMATS, VALID_PROTOCOL_VERSIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..metadata import FlagAnnotation
    from ..tree import Argument, Command, Flag

SCHEMA_VERSION = "1.0"
REDACTED = "[REDACTED]"
# What these documents tell of an annotation; the rest is in the manifest of the other contracts.
_TOLD_OF_FLAGS = (
    "env",
    "sensitive",
    "persistent",
    "mutually_exclusive_with",
    "enum",
    "pattern",
    "profileable",
)


def command_schema(command: Command) -> dict[str, Any]:
    """Give the document of ``CMD --schema``; subcommands are named, not spelled out."""
    return described(command, 1)


def describe_document(
    root: Command,
    tool_version: str,
    murli_version: str,
    depth: int | None = None,
    profiles: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Give the document of ``describe``: the whole tool, spelled out down to *depth*.

    *profiles* is what is known of them; without it, only which flags they can hold is told.
    """
    document: dict[str, Any] = {
        "name": root.name,
        "summary": root.summary,
        "schema_version": SCHEMA_VERSION,
    }
    if tool_version:
        document["tool_version"] = tool_version
    # At depth 1 an agent looks around; it asks again for what it wants to call.
    overview = depth == 1 and bool(root.visible)
    if not overview:
        document["capabilities"] = capabilities(root, tool_version)
        document["profiles"] = profiles or {"profileable_flags": profileable_flags(root)}
    if root.visible:
        document["commands"] = [described(command, _below(depth)) for command in root.visible]
    else:
        # A tool without subcommands is one command; without its flags nobody could call it.
        own = _command(root, [])
        for key in ("arguments", "flags", "returns", "examples", "safety"):
            if key in own:
                document[key] = own[key]
    if not overview:
        document["murli"] = {"version": murli_version}
    return document


def capabilities(root: Command, tool_version: str) -> dict[str, Any]:
    """Give what this build of the tool can do."""
    document: dict[str, Any] = {
        "streaming": True,
        "dry_run": _any_dry_runnable(root),
        "output_formats": list(VALID_OUTPUT_FORMATS),
        "schema_version": SCHEMA_VERSION,
    }
    if tool_version:
        document["tool_version"] = tool_version
    document["protocol_version"] = VALID_PROTOCOL_VERSIONS[-1]
    document["profiles"] = all(command.name != "profile" for command in root.commands)
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
    if metadata.when_to_use:
        document["when_to_use"] = metadata.when_to_use
    if metadata.agent_description:
        document["agent_description"] = metadata.agent_description
    document["idempotent"] = metadata.idempotent
    if metadata.mutating:
        document["mutating"] = True
    notes = {note.name: note for note in metadata.arguments}
    rest: dict[str, Any] = {
        "arguments": [_argument(argument, notes) for argument in command.arguments],
        "flags": [_flag(flag, command) for flag in command.flags],
        "returns": returns_of(command, metadata),
        "examples": [_example(example) for example in metadata.examples],
        "subcommands": subcommands,
    }
    document.update((key, value) for key, value in rest.items() if value)
    document["safety"] = _safety(command, metadata)
    if command.deprecated:
        document["deprecated"] = True
    return document


def _argument(argument: Argument, notes: dict[str, Any]) -> dict[str, Any]:
    note = notes.get(argument.name)
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
    if argument.choices:
        document["enum"] = list(argument.choices)
    return document


def _flag(flag: Flag, command: Command) -> dict[str, Any]:
    note, sensitive = command.note_on(flag), command.is_secret(flag)
    default, description = flag.default, flag.description
    if sensitive and default is not None:
        description = description.replace(str(default) or REDACTED, REDACTED)
        default = REDACTED
    document: dict[str, Any] = {
        "name": flag.name,
        "type": flag.type,
        "default": default,
        "description": description,
        "env": flag.env,
        "sensitive": sensitive,
        "persistent": False,
        "mutually_exclusive_with": list(flag.excludes),
        "enum": list(flag.choices),
        "pattern": "",
        "profileable": False,
        "required": flag.required,
        "short": flag.short,
        "minimum": flag.minimum,
        "maximum": flag.maximum,
        "negation": flag.negation,
    }
    if note is not None:
        apply_flag_annotation(document, note)
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


def _safety(command: Command, metadata: Metadata) -> dict[str, Any]:
    document: dict[str, Any] = {
        "read_only": not metadata.mutating,
        "idempotent": metadata.idempotent,
    }
    if metadata.destructive:
        document["destructive"] = True
    if metadata.reveals_secrets:
        document["reveals_secrets"] = True
    if metadata.dry_runnable or _has_own_dry_run(command):
        document["dry_run_supported"] = True
    return document


def _has_own_dry_run(command: Command) -> bool:
    return any(flag.name == "dry-run" for flag in command.flags)


def _any_dry_runnable(command: Command) -> bool:
    if (command.metadata and command.metadata.dry_runnable) or _has_own_dry_run(command):
        return True
    return any(_any_dry_runnable(child) for child in command.commands)
