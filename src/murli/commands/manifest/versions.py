"""Which minor version of the manifest has which field; a manifest says the lowest that has its own.

The major version is 3. A field that is not listed here has been there from 3.0 on.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

MAJOR = 3
ROOT = {"env_vars": 5, "secret_env_vars": 13}
COMMAND = {
    "builtin": 1,
    "output_file": 3,
    "output_file_base": 7,
    "stdin": 8,
    "arguments": 9,
    "help_argv": 9,
    "stderr": 11,
    "output_media_types": 12,
    "confirm_flag": 14,
    "idempotent": 15,
    "stdout": 16,
    "protocol": 16,
    "mcp": 17,
    "interruption": 20,
    "requires_person": 21,
}
FLAG = {"env_vars": 4, "schema": 7, "media_types": 12}
RULE = {"any_of": 2, "one_of": 2}
EXIT_CODE = {"error_codes": 19}
# Values that came later than their fields.
OUTPUT_FILES = {"handler": 6, "envelope": 6}
FLAG_TYPES = {"object": 7}
SIDE_EFFECTS = {"output": 10}
INTEGER_VALUES = 18


def lowest_version(manifest: dict[str, Any]) -> str:
    """Return the lowest version whose fields are all that *manifest* uses."""
    return f"{MAJOR}.{max(_needed(manifest), default=0)}"


def _needed(manifest: dict[str, Any]) -> Iterator[int]:
    yield from _fields(manifest, ROOT)
    for flag in manifest.get("flags", {}).values():
        yield from _of_parameter(flag)
    yield from _of_exit_codes(manifest)
    for entry in manifest.get("commands", {}).values():
        yield from _of_command(entry)


def _of_command(entry: dict[str, Any]) -> Iterator[int]:
    yield from _fields(entry, COMMAND)
    yield OUTPUT_FILES.get(entry.get("output_file", ""), 0)
    for parameter in (*entry.get("flags", {}).values(), *entry.get("positionals", ())):
        yield from _of_parameter(parameter)
    for rule in entry.get("requires", ()):
        yield from _fields(rule, RULE)
    for effect in entry.get("filesystem_side_effects", ()):
        yield SIDE_EFFECTS.get(effect.get("type", ""), 0)
    yield from _of_exit_codes(entry)


def _of_parameter(entry: dict[str, Any]) -> Iterator[int]:
    yield from _fields(entry, FLAG)
    yield FLAG_TYPES.get(entry.get("type", ""), 0)
    if entry.get("type") == "integer" and "enum_values" in entry:
        yield INTEGER_VALUES


def _of_exit_codes(holder: dict[str, Any]) -> Iterator[int]:
    for code in holder.get("exit_codes", {}).values():
        yield from _fields(code, EXIT_CODE)


def _fields(entry: dict[str, Any], since: dict[str, int]) -> Iterator[int]:
    yield from (minor for name, minor in since.items() if name in entry)
