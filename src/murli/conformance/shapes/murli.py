"""What murli documents have to look like: descriptions, answers, errors, progress, logs. Pure.

Nothing here raises; every value may be of any type.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...wire import listing
from ...wire.values import objects_in
from .from_schema import Shapes
from .kinds import SCHEMA, misfits, shown

_DESCRIBE, _ANSWER, _LINES = Shapes("describe"), Shapes("murli"), Shapes("event-lines")
COMMAND = _DESCRIBE.loose(
    "command",
    "*name! path! summary when_to_use agent_description idempotent mutating arguments flags "
    "returns examples next state subcommands *safety",
)
SAFETY = _DESCRIBE.loose("safety", "*read_only *idempotent destructive dry_run_supported")
#: of a command without a declaration
UNDECLARED = _DESCRIBE.loose("safety", "*declared inferred dry_run_supported")
CAPABILITIES = _DESCRIBE.loose(
    "capabilities",
    "streaming dry_run profiles until *output_formats schema_version tool_version protocol_version",
)
PROFILES = _DESCRIBE.loose("profiles", "available default *profileable_flags")
ERROR = _ANSWER.loose(
    "error",
    "*code *error! *message *recoverable *schema_version! suggestion valid_values retry_after_ms "
    "field doc_url usage next tool_version",
)
SUCCESS = _ANSWER.loose("success", "*schema_version! tool_version message next")
PROGRESS = _LINES.loose("progress", "stage current total percent eta_ms message")
LOG = _LINES.loose("log", "*ts! *level! *msg repeated")
_ARGUMENT = _DESCRIBE.loose("argument", "*name! *type required description metavar")
_FLAG = _DESCRIBE.loose(
    "flag",
    "*name! *type default description env sensitive persistent mutually_exclusive_with enum "
    "pattern profileable required short! spelling! aliases metavar standard",
)
_RETURNS = _DESCRIBE.loose("returns", "*type description shape output_schema", output_schema=SCHEMA)
_EXAMPLE = _DESCRIBE.loose("example", "*command! description expected_exit_code")
_PARTS = {
    "arguments": _ARGUMENT,
    "flags": _FLAG,
    "returns": _RETURNS,
    "examples": _EXAMPLE,
    "safety": SAFETY,
}


def command_misfits(command: Mapping[str, Any], where: str = "") -> Iterator[str]:
    """Yield what is wrong with a described command, its flags, arguments and examples."""
    yield from misfits(command, COMMAND, where)
    if "idempotent" not in command and not is_undeclared(command):
        yield f"{where}idempotent is missing"
    for key, shape in _PARTS.items():
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
    for path, command in listing.walked(description):
        yield " ".join(each or "?" for each in path), command
