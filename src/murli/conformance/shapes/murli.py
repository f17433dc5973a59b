"""What murli documents have to look like: descriptions, answers, errors, progress, logs. Pure.

Nothing here raises; every value may be of any type.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...wire import catalogue
from ...wire.values import objects_in
from .kinds import (
    ANYTHING,
    NUMBER,
    OBJECT,
    OBJECTS,
    SCHEMA,
    TEXT,
    TEXTS,
    TRUTH,
    WHOLE,
    WORD,
    Fields,
    misfits,
    shown,
)

# The shipped schemas describe what murli itself writes; other tools may leave out fields and add
# some. A missing field is read as empty, false or undeclared.

COMMAND: Fields = {
    "*name": WORD,
    "path": WORD,
    "summary": TEXT,
    "when_to_use": TEXT,
    "agent_description": TEXT,
    "idempotent": TRUTH,
    "mutating": TRUTH,
    "arguments": OBJECTS,
    "flags": OBJECTS,
    "returns": OBJECT,
    "examples": OBJECTS,
    "next": TEXTS,
    "state": TEXT,
    "subcommands": OBJECTS,
    "*safety": OBJECT,
}
ARGUMENT: Fields = {
    "*name": WORD,
    "*type": TEXT,
    "required": TRUTH,
    "description": TEXT,
    "metavar": TEXT,
}
FLAG: Fields = {
    "*name": WORD,
    "*type": TEXT,
    "default": ANYTHING,
    "description": TEXT,
    "env": TEXT,
    "sensitive": TRUTH,
    "persistent": TRUTH,
    "mutually_exclusive_with": TEXTS,
    "enum": TEXTS,
    "pattern": TEXT,
    "profileable": TRUTH,
    "required": TRUTH,
    "short": WORD,
    "spelling": WORD,
    "aliases": TEXTS,
    "metavar": TEXT,
    "standard": TRUTH,
}
RETURNS: Fields = {"*type": TEXT, "description": TEXT, "shape": OBJECT, "output_schema": SCHEMA}
EXAMPLE: Fields = {"*command": WORD, "description": TEXT, "expected_exit_code": WHOLE}
SAFETY: Fields = {
    "*read_only": TRUTH,
    "*idempotent": TRUTH,
    "destructive": TRUTH,
    "dry_run_supported": TRUTH,
}
#: of a command without a declaration
UNDECLARED: Fields = {"*declared": TRUTH, "inferred": TEXT, "dry_run_supported": TRUTH}
CAPABILITIES: Fields = {
    "streaming": TRUTH,
    "dry_run": TRUTH,
    "profiles": TRUTH,
    "until": TRUTH,
    "*output_formats": TEXTS,
    "schema_version": TEXT,
    "tool_version": TEXT,
    "protocol_version": TEXT,
}
PROFILES: Fields = {"available": TEXTS, "default": TEXT, "*profileable_flags": TEXTS}
ERROR: Fields = {
    "*code": WHOLE,
    "*error": WORD,
    "*message": TEXT,
    "*recoverable": TRUTH,
    "*schema_version": WORD,
    "suggestion": TEXT,
    "valid_values": TEXTS,
    "retry_after_ms": WHOLE,
    "field": TEXT,
    "doc_url": TEXT,
    "usage": TEXT,
    "next": TEXTS,
    "tool_version": TEXT,
}
SUCCESS: Fields = {
    "*schema_version": WORD,
    "tool_version": TEXT,
    "message": TEXT,
    "next": TEXTS,
}
PROGRESS: Fields = {
    "stage": TEXT,
    "current": WHOLE,
    "total": WHOLE,
    "percent": NUMBER,
    "eta_ms": WHOLE,
    "message": TEXT,
}
LOG: Fields = {"*ts": WORD, "*level": WORD, "*msg": TEXT, "repeated": WHOLE}
_PARTS = (
    ("arguments", ARGUMENT),
    ("flags", FLAG),
    ("returns", RETURNS),
    ("examples", EXAMPLE),
    ("safety", SAFETY),
)


def command_misfits(command: Mapping[str, Any], where: str = "") -> Iterator[str]:
    """Yield what is wrong with a described command, its flags, arguments and examples."""
    yield from misfits(command, COMMAND, where)
    if "idempotent" not in command and not is_undeclared(command):
        yield f"{where}idempotent is missing"
    for key, shape in _PARTS:
        value = command.get(key)
        if isinstance(value, dict):
            used = UNDECLARED if key == "safety" and is_undeclared(command) else shape
            yield from misfits(value, used, f"{where}{key}.")
        for at, each in enumerate(value if isinstance(value, list) else ()):
            if isinstance(each, dict):
                label = each.get("name")
                place = shown(label) if isinstance(label, str) else str(at)
                yield from misfits(each, shape, f"{where}{key}[{place}].")


def is_undeclared(command: Mapping[str, Any]) -> bool:
    """Return whether a described command has no declaration."""
    safety = command.get("safety")
    return isinstance(safety, dict) and safety.get("declared") is False


def flags_in(command: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the flags of a described command by name."""
    for flag in objects_in(command.get("flags")):
        name = flag.get("name")
        yield name.lstrip("-") if isinstance(name, str) else "?", flag


def walked(description: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every command of a description, and its words after the tool's name."""
    for path, command in catalogue.walked(description):
        yield " ".join(each or "?" for each in path), command
