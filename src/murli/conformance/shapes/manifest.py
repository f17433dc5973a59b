"""What a manifest has to look like, in its first and its third version. Pure.

Danger levels and exit codes are checked elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ...wire.values import objects_in
from .kinds import (
    ANYTHING,
    COUNT,
    OBJECT,
    POSITIVE,
    TEXT,
    TRUTH,
    Fields,
    Kind,
    closed,
    is_code,
    list_of,
    map_of,
    matches,
    misfits_of,
    one_of,
)

# Not the shipped schemas: these findings explain contradictions, and need no jsonschema.

_NUMBER = re.compile(r"0|[1-9][0-9]*")
_MEDIA_TYPE = r"[a-z0-9][a-z0-9!#$&^_.+-]*/[a-z0-9][a-z0-9!#$&^_.+-]*"
_VERSIONS = {"1": r"\d+\.\d+", "3": r"3\.(0|[1-9][0-9]*)"}
_TYPES = ("string", "integer", "number", "boolean", "array", "enum")

_EACH_TEXT = list_of(TEXT)
_CODES = list_of(("a code in capitals", is_code))
_MEDIA_TYPES: Kind = (
    "an object of media types",
    lambda value: map_of(matches(_MEDIA_TYPE, ""))[1](value) and bool(value) and "" not in value,
)
_VARIABLE_NAME = matches(r"[A-Za-z_][A-Za-z0-9_]*", "the name of a variable")
_OF_VARIABLE: Fields = {"deprecated": TRUTH, "description": TEXT}

_EXAMPLES = list_of(closed({"description": TEXT, "command": TEXT}))
_EXIT_CODE: Fields = {
    "description": TEXT,
    "retryable": TRUTH,
    "side_effects": one_of("none", "partial", "complete"),
}
_FLAG: Fields = {"required": TRUTH, "description": TEXT}
_ANYTHING: Kind = ("anything but null", lambda value: value is not None)
_MORE_OF_FLAG: Fields = {
    "default": _ANYTHING,
    "short": ("one letter", lambda value: isinstance(value, str) and len(value) <= 1),
}
_THIRD_OF_FLAG: Fields = {
    **_MORE_OF_FLAG,
    "enum_values": list_of(("a text or a whole number", lambda value: type(value) in (str, int))),
    "pattern": TEXT,
    "pattern_type": one_of("alphanumeric_id", "uuid", "semver", "filepath", "url"),
    "env_vars": list_of(closed({"name": _VARIABLE_NAME}, _OF_VARIABLE), 1),
    "schema": OBJECT,
    "media_types": _MEDIA_TYPES,
}
_ENTRY: Fields = {"description": TEXT, "flags": OBJECT, "exit_codes": OBJECT}
_MORE_OF_ENTRY: Fields = {
    "danger_level": ANYTHING,  # another check's
    "output_schema": OBJECT,
    "examples": _EXAMPLES,
    **dict.fromkeys(("aliases", "output_formats", "subcommands", "required_scopes"), _EACH_TEXT),
}
_RULES: tuple[Kind, ...] = (
    closed({"if_flag": TEXT, "if_value": ANYTHING, "then_required": _EACH_TEXT}),
    closed({"if_flag": TEXT, "prohibited": _EACH_TEXT}),
    closed({"if_flag": TEXT, "target_flag": TEXT, "default": ANYTHING}),
    *(closed({name: list_of(TEXT, 2)}) for name in ("any_of", "one_of")),
)
_THIRD_OF_ENTRY: Fields = {
    **_MORE_OF_ENTRY,
    **dict.fromkeys(
        (
            *("idempotent", "builtin", "interactive", "has_network_io", "headless_supported"),
            *("spawns_background_process", "async", "requires_editor", "streaming_default"),
            "safe_default",
        ),
        TRUTH,
    ),
    **dict.fromkeys(
        (
            *("steps", "secret_env_vars", "platform", "token_env_vars", "gui_operations"),
            "non_interactive_alternatives",
        ),
        _EACH_TEXT,
    ),
    "positionals": list_of(OBJECT),
    "output_media_types": _MEDIA_TYPES,
    "output_file": one_of("formatted", "binary", "handler", "envelope"),
    "output_file_base": one_of("cwd", "project_root", "resource"),
    "stdin": OBJECT,
    "arguments": one_of("declared", "passthrough"),
    "help_argv": list_of(("a word", lambda value: isinstance(value, str) and value != ""), 1),
    "stderr": one_of("child_log"),
    "stdout": one_of("protocol"),
    "protocol": matches(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", "the name of a protocol"),
    "mcp": ("false", lambda value: value is False),
    "option_placement": one_of("any", "strict"),
    "cleanup_command": TEXT,
    "max_lifetime_seconds": POSITIVE,
    "filesystem_side_effects": list_of(
        closed(
            {
                "path": TEXT,
                "type": one_of("cache", "log", "temp", "credential", "config", "output"),
            },
            {"ttl_seconds": COUNT, "clearable_with": TEXT},
        )
    ),
    "required_tools": map_of(TEXT),
    "subprocess": closed(
        {"binary": TEXT}, {"user_controlled_args": _EACH_TEXT, "hardcoded_args": _EACH_TEXT}
    ),
    "job_descriptor_schema": OBJECT,
    "headless_behavior": one_of("emit_in_output", "skip", "error"),
    "config_write_scope": one_of("local", "global", "session"),
    "requires": list_of(("a rule", lambda value: any(fits(value) for _, fits in _RULES))),
    "confirm_flag": (
        "the name of a flag",
        lambda value: isinstance(value, str) and value[:1] not in ("", "-"),
    ),
    "requires_person": ("true", lambda value: value is True),
    "interruption": closed(
        {"detach": TRUTH, "resume": TRUTH},
        {"idle_timeout_ms": POSITIVE, "max_lifetime_ms": POSITIVE},
    ),
}
# Which fields an entry cannot have besides another: if that is there, or if it is true.
_NEVER_WITH: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "stdout": (
        (
            *("stderr", "stdin", "output_file", "output_schema", "output_formats"),
            *("output_media_types", "cleanup_command", "max_lifetime_seconds", "confirm_flag"),
        ),
        (
            *("interactive", "streaming_default", "async", "spawns_background_process"),
            "safe_default",
        ),
    ),
    "interruption": (("stdout",), ("async", "streaming_default")),
}


def shape_of(manifest: Mapping[str, Any]) -> str:
    """Return the version of *manifest*: ``1`` or ``3``."""
    version = manifest.get("schema_version")
    return "3" if isinstance(version, str) and version.startswith("3.") else "1"


def manifest_troubles(manifest: Mapping[str, Any], shape: str) -> Iterator[str]:
    """Yield what is wrong with *manifest*, without its entries."""
    version = matches(_VERSIONS[shape], "the version of this shape")
    required = {"schema_version": version, "framework_version": TEXT, "etag": TEXT}
    optional: dict[str, Kind] = {}
    if shape == "3":
        variable = closed({"name": _VARIABLE_NAME, "description": TEXT}, {"deprecated": TRUTH})
        dependency = closed(
            {"name": TEXT, "check_command": TEXT, "min_version": TEXT},
            {"version_regex": TEXT, "fix_command": TEXT},
        )
        optional = {"flags": OBJECT, "exit_codes": OBJECT, "secret_env_vars": _EACH_TEXT}
        optional |= {"env_vars": list_of(variable, 1), "dependencies": list_of(dependency)}
    commands: Kind = map_of(OBJECT)
    yield from misfits_of(manifest, {**required, "commands": commands}, optional, "the manifest")
    yield from _flags(manifest.get("flags"), shape, "format")
    yield from _exit_codes(manifest.get("exit_codes"), shape)


def entry_troubles(entry: Mapping[str, Any], shape: str) -> Iterator[str]:
    """Yield what is wrong with *entry*, which describes a command."""
    if shape == "1":
        # Other revisions of this version have more fields.
        yield from misfits_of(entry, _ENTRY, _MORE_OF_ENTRY, "the entry", is_open=True)
    else:
        required = {**_ENTRY, "required_scopes": _EACH_TEXT}
        yield from misfits_of(entry, required, _THIRD_OF_ENTRY, "the entry")
        yield from _conditions(entry)
        for each in objects_in(entry.get("positionals")):
            yield from _positional(each)
        yield from _stdin(entry.get("stdin"))
    yield from _flags(entry.get("flags"), shape, "")
    yield from _exit_codes(entry.get("exit_codes"), shape)


def _exit_codes(codes: Any, shape: str) -> Iterator[str]:
    for number, code in codes.items() if isinstance(codes, dict) else ():
        where = f"exit_codes.{number}"
        if shape == "3" and not _NUMBER.fullmatch(number):
            yield f"{where} is not a number"
        if not isinstance(code, dict):
            yield f"{where} is not an object"
            continue
        more = {"name": TEXT, "error_codes": _CODES} if shape == "3" else {"name": TEXT}
        yield from misfits_of(code, _EXIT_CODE, more, where)


def _flags(flags: Any, shape: str, with_media_types: str) -> Iterator[str]:
    for name, flag in flags.items() if isinstance(flags, dict) else ():
        where = f"flags.{name}"
        if not isinstance(flag, dict):
            yield f"{where} is not an object"
            continue
        if shape == "1":
            required = {"type": one_of(*_TYPES), **_FLAG}
            yield from misfits_of(
                flag, required, {**_MORE_OF_FLAG, "enum_values": _EACH_TEXT}, where
            )
            continue
        required = {"type": one_of(*_TYPES, "object"), **_FLAG}
        yield from misfits_of(flag, required, _THIRD_OF_FLAG, where)
        if {"pattern", "pattern_type"} <= flag.keys():
            yield f"{where} has both pattern and pattern_type"
        if (flag.get("type") == "object") and "schema" not in flag:
            yield f"{where} is an object without a schema"
        if "schema" in flag and flag.get("type") not in ("object", "array"):
            yield f"{where} has a schema, and is not an object"
        if "media_types" in flag and (name != with_media_types or flag.get("type") != "enum"):
            yield f"{where} has media_types, which only the format has"
        yield from _values(flag, where)


def _values(entry: Mapping[str, Any], where: str) -> Iterator[str]:
    values = entry.get("enum_values")
    kind = int if entry.get("type") == "integer" else str
    if isinstance(values, list) and not all(type(each) is kind for each in values):
        yield f"{where} has values of another type"


def _positional(entry: Mapping[str, Any]) -> Iterator[str]:
    required = {
        "name": matches(r"[a-z][a-z0-9_-]*", "a name in small letters"),
        "type": one_of("string", "integer", "number", "enum"),
        **_FLAG,
    }
    optional = {"enum_values": _THIRD_OF_FLAG["enum_values"], "variadic": TRUTH}
    yield from misfits_of(entry, required, optional, "a positional")
    if entry.get("type") == "enum" and "enum_values" not in entry:
        yield "a positional is an enum without values"
    yield from _values(entry, "a positional")


def _stdin(stdin: Any) -> Iterator[str]:
    if not isinstance(stdin, dict):
        return
    own = {
        "buffered": {"max_bytes": POSITIVE},
        "lines": {"max_line_bytes": POSITIVE},
        "records": {"max_line_bytes": POSITIVE, "record_schema": OBJECT},
    }
    mode = stdin.get("mode")
    optional = own.get(mode, {}) if isinstance(mode, str) else {}
    yield from misfits_of(stdin, {"mode": one_of(*own)}, optional, "stdin")
    if mode == "records" and "record_schema" not in stdin:
        yield "stdin reads records without a record_schema"


def _conditions(entry: Mapping[str, Any]) -> Iterator[str]:
    """Yield fields of *entry* that contradict each other."""
    needs = (
        (entry.get("requires_editor") is True, "non_interactive_alternatives"),
        (entry.get("headless_supported") is False, "token_env_vars"),
        ("gui_operations" in entry, "headless_behavior"),
        ("output_file_base" in entry, "output_file"),
        ("stdout" in entry, "protocol"),
        ("protocol" in entry, "stdout"),
        ("requires_person" in entry, "interactive"),
        ("requires_person" in entry, "mcp"),
    )
    for applies, name in needs:
        if applies and name not in entry:
            yield f"the entry has no {name}, which comes with the rest"
    for name, (never, never_true) in _NEVER_WITH.items():
        if name in entry:
            beside = [each for each in never if each in entry]
            beside += [each for each in never_true if entry.get(each) is True]
            yield from (f"the entry has {each} beside {name}" for each in beside)
    if "requires_person" in entry and entry.get("interactive") is False:
        yield "the entry needs a person, and is not interactive"
    harmless = entry.get("danger_level") == "safe" or entry.get("safe_default") is True
    if "confirm_flag" in entry and harmless:
        yield "the entry has a confirm_flag, and nothing to confirm"
    stops, codes = entry.get("interruption"), entry.get("exit_codes")
    if isinstance(stops, dict):
        if not (stops.get("detach") or stops.get("resume")):
            yield "an interruption neither detaches nor resumes"
        if isinstance(codes, dict) and "14" not in codes:
            yield "what can be interrupted has no exit code 14"
    for each in objects_in(entry.get("filesystem_side_effects")):
        if each.get("type") == "output" and ("ttl_seconds" in each or "clearable_with" in each):
            yield "what is put out is nobody's to clear"
    yield from _passing_on(entry)


def _passing_on(entry: Mapping[str, Any]) -> Iterator[str]:
    """Yield fields that contradict forwarding all arguments to another program."""
    if entry.get("arguments") != "passthrough":
        if "help_argv" in entry:
            yield "the entry has help_argv, and passes nothing on"
        return
    if entry.get("option_placement") != "strict":
        yield "what passes its arguments on takes options in their place"
    if entry.get("flags") or entry.get("positionals") or "confirm_flag" in entry:
        yield "what passes its arguments on has none of its own"
    if entry.get("danger_level") == "destructive" or not {"stderr", "stdout"}.isdisjoint(entry):
        yield "what passes its arguments on neither destroys nor speaks for another"
