"""What a manifest has to look like: the first shape, and the third. Pure.

The level of danger and what exit codes promise are the business of other checks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from .family_shapes import COUNT, OBJECT, TEXT, TRUTH, Kind, is_code, others_in, wrong_kinds

_NUMBER = re.compile(r"0|[1-9][0-9]*")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PLACE = re.compile(r"[a-z][a-z0-9_-]*")
_PROTOCOL = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_MEDIA_TYPE = re.compile(r"[a-z0-9][a-z0-9!#$&^_.+-]*/[a-z0-9][a-z0-9!#$&^_.+-]*")
_VERSIONS = {"1": re.compile(r"\d+\.\d+"), "3": re.compile(r"3\.(0|[1-9][0-9]*)")}
_TYPES = ("string", "integer", "number", "boolean", "array", "enum")


def _one_of(*values: Any) -> Kind:
    return (" or ".join(map(str, values)), lambda value: value in list(values))


def _matches(pattern: re.Pattern[str], told: str) -> Kind:
    return told, lambda value: isinstance(value, str) and pattern.fullmatch(value) is not None


def _array(kind: Kind, least: int = 0) -> Kind:
    return (
        f"an array, each {kind[0]}",
        lambda value: isinstance(value, list) and len(value) >= least and all(map(kind[1], value)),
    )


def _map(kind: Kind) -> Kind:
    return (
        f"an object, each {kind[0]}",
        lambda value: isinstance(value, dict) and all(map(kind[1], value.values())),
    )


def _shape(required: Mapping[str, Kind], optional: Mapping[str, Kind] | None = None) -> Kind:
    """Give the kind of a closed object."""
    fields = {**required, **(optional or {})}
    told = f"an object of {', '.join(fields)}"
    return (
        told,
        lambda value: (
            isinstance(value, dict)
            and next(_misfits(value, required, optional or {}), None) is None
        ),
    )


def _misfits(
    value: Mapping[str, Any],
    required: Mapping[str, Kind],
    optional: Mapping[str, Kind],
    where: str = "it",
    *,
    is_open: bool = False,
) -> Iterator[str]:
    for name in required:
        if name not in value:
            yield f"{where} has no {name}"
    fields = {**required, **optional}
    yield from wrong_kinds(value, fields, where)
    if not is_open:
        yield from others_in(value, tuple(fields), where)


_TEXTS = _array(TEXT)
_POSITIVE: Kind = ("a whole number, 1 or more", lambda value: COUNT[1](value) and value >= 1)
_CODES = _array(("a code in capitals", is_code))
_MEDIA_TYPES: Kind = (
    "an object of media types",
    lambda value: (
        _map(_matches(_MEDIA_TYPE, ""))[1](value) and bool(value) and "" not in list(value)
    ),
)
_VARIABLE_NAME = _matches(_VARIABLE, "the name of a variable")
_OF_VARIABLE: Mapping[str, Kind] = {"deprecated": TRUTH, "description": TEXT}

_EXAMPLES = _array(_shape({"description": TEXT, "command": TEXT}))
_EXIT_CODE: Mapping[str, Kind] = {
    "description": TEXT,
    "retryable": TRUTH,
    "side_effects": _one_of("none", "partial", "complete"),
}
_FLAG: Mapping[str, Kind] = {"required": TRUTH, "description": TEXT}
_ANYTHING: Kind = ("anything but null", lambda value: value is not None)
_MORE_OF_FLAG: Mapping[str, Kind] = {
    "default": _ANYTHING,
    "short": ("one letter", lambda value: isinstance(value, str) and len(value) <= 1),
}
_THIRD_OF_FLAG: Mapping[str, Kind] = {
    **_MORE_OF_FLAG,
    "enum_values": _array(("a text or a whole number", lambda value: type(value) in (str, int))),
    "pattern": TEXT,
    "pattern_type": _one_of("alphanumeric_id", "uuid", "semver", "filepath", "url"),
    "env_vars": _array(_shape({"name": _VARIABLE_NAME}, _OF_VARIABLE), 1),
    "schema": OBJECT,
    "media_types": _MEDIA_TYPES,
}
_ENTRY: Mapping[str, Kind] = {"description": TEXT, "flags": OBJECT, "exit_codes": OBJECT}
_MORE_OF_ENTRY: Mapping[str, Kind] = {
    "danger_level": ("", lambda value: True),  # another check's
    "output_schema": OBJECT,
    "examples": _EXAMPLES,
    **dict.fromkeys(("aliases", "output_formats", "subcommands", "required_scopes"), _TEXTS),
}
_RULES: tuple[Kind, ...] = (
    _shape({"if_flag": TEXT, "if_value": ("", lambda value: True), "then_required": _TEXTS}),
    _shape({"if_flag": TEXT, "prohibited": _TEXTS}),
    _shape({"if_flag": TEXT, "target_flag": TEXT, "default": ("", lambda value: True)}),
    *(_shape({name: _array(TEXT, 2)}) for name in ("any_of", "one_of")),
)
_THIRD_OF_ENTRY: Mapping[str, Kind] = {
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
        _TEXTS,
    ),
    "positionals": _array(OBJECT),
    "output_media_types": _MEDIA_TYPES,
    "output_file": _one_of("formatted", "binary", "handler", "envelope"),
    "output_file_base": _one_of("cwd", "project_root", "resource"),
    "stdin": OBJECT,
    "arguments": _one_of("declared", "passthrough"),
    "help_argv": _array(("a word", lambda value: isinstance(value, str) and value != ""), 1),
    "stderr": _one_of("child_log"),
    "stdout": _one_of("protocol"),
    "protocol": _matches(_PROTOCOL, "the name of a protocol"),
    "mcp": ("false", lambda value: value is False),
    "option_placement": _one_of("any", "strict"),
    "cleanup_command": TEXT,
    "max_lifetime_seconds": _POSITIVE,
    "filesystem_side_effects": _array(
        _shape(
            {
                "path": TEXT,
                "type": _one_of("cache", "log", "temp", "credential", "config", "output"),
            },
            {"ttl_seconds": COUNT, "clearable_with": TEXT},
        )
    ),
    "required_tools": _map(TEXT),
    "subprocess": _shape(
        {"binary": TEXT}, {"user_controlled_args": _TEXTS, "hardcoded_args": _TEXTS}
    ),
    "job_descriptor_schema": OBJECT,
    "headless_behavior": _one_of("emit_in_output", "skip", "error"),
    "config_write_scope": _one_of("local", "global", "session"),
    "requires": _array(("a rule", lambda value: any(fits(value) for _, fits in _RULES))),
    "confirm_flag": (
        "the name of a flag",
        lambda value: isinstance(value, str) and value[:1] not in ("", "-"),
    ),
    "requires_person": ("true", lambda value: value is True),
    "interruption": _shape(
        {"detach": TRUTH, "resume": TRUTH},
        {"idle_timeout_ms": _POSITIVE, "max_lifetime_ms": _POSITIVE},
    ),
}
# What cannot be said of a command beside something else: at all, and when it is true.
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
    """Give which shape *manifest* has: ``1`` or ``3``."""
    version = manifest.get("schema_version")
    return "3" if isinstance(version, str) and version.startswith("3.") else "1"


def manifest_troubles(manifest: Mapping[str, Any], shape: str) -> Iterator[str]:
    """Tell what is wrong with *manifest* but for its entries."""
    version = _matches(_VERSIONS[shape], "the version of this shape")
    required = {"schema_version": version, "framework_version": TEXT, "etag": TEXT}
    optional: dict[str, Kind] = {}
    if shape == "3":
        variable = _shape({"name": _VARIABLE_NAME, "description": TEXT}, {"deprecated": TRUTH})
        dependency = _shape(
            {"name": TEXT, "check_command": TEXT, "min_version": TEXT},
            {"version_regex": TEXT, "fix_command": TEXT},
        )
        optional = {"flags": OBJECT, "exit_codes": OBJECT, "secret_env_vars": _TEXTS}
        optional |= {"env_vars": _array(variable, 1), "dependencies": _array(dependency)}
    commands: Kind = _map(OBJECT)
    yield from _misfits(manifest, {**required, "commands": commands}, optional, "the manifest")
    yield from _flags(manifest.get("flags"), shape, "format")
    yield from _exit_codes(manifest.get("exit_codes"), shape)


def entry_troubles(entry: Mapping[str, Any], shape: str) -> Iterator[str]:
    """Tell what is wrong with *entry*, which describes a command."""
    if shape == "1":
        # Other revisions of this shape name more.
        yield from _misfits(entry, _ENTRY, _MORE_OF_ENTRY, "the entry", is_open=True)
    else:
        required = {**_ENTRY, "required_scopes": _TEXTS}
        yield from _misfits(entry, required, _THIRD_OF_ENTRY, "the entry")
        yield from _conditions(entry)
        for each in _objects(entry.get("positionals")):
            yield from _positional(each)
        yield from _stdin(entry.get("stdin"))
    yield from _flags(entry.get("flags"), shape, "")
    yield from _exit_codes(entry.get("exit_codes"), shape)


def _exit_codes(codes: Any, shape: str) -> Iterator[str]:
    for number, code in codes.items() if isinstance(codes, dict) else ():
        where = f"exit_codes.{number}"
        if shape == "3" and not _NUMBER.fullmatch(number):
            yield f"{where} is no number"
        if not isinstance(code, dict):
            yield f"{where} is no object"
            continue
        more = {"name": TEXT, "error_codes": _CODES} if shape == "3" else {"name": TEXT}
        yield from _misfits(code, _EXIT_CODE, more, where)


def _flags(flags: Any, shape: str, with_media_types: str) -> Iterator[str]:
    for name, flag in flags.items() if isinstance(flags, dict) else ():
        where = f"flags.{name}"
        if not isinstance(flag, dict):
            yield f"{where} is no object"
            continue
        if shape == "1":
            required = {"type": _one_of(*_TYPES), **_FLAG}
            yield from _misfits(flag, required, {**_MORE_OF_FLAG, "enum_values": _TEXTS}, where)
            continue
        required = {"type": _one_of(*_TYPES, "object"), **_FLAG}
        yield from _misfits(flag, required, _THIRD_OF_FLAG, where)
        if {"pattern", "pattern_type"} <= flag.keys():
            yield f"{where} has both pattern and pattern_type"
        if (flag.get("type") == "object") and "schema" not in flag:
            yield f"{where} is an object without a schema"
        if "schema" in flag and flag.get("type") not in ("object", "array"):
            yield f"{where} has a schema, and is no object"
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
        "name": _matches(_PLACE, "a name in small letters"),
        "type": _one_of("string", "integer", "number", "enum"),
        **_FLAG,
    }
    optional = {"enum_values": _THIRD_OF_FLAG["enum_values"], "variadic": TRUTH}
    yield from _misfits(entry, required, optional, "a positional")
    if entry.get("type") == "enum" and "enum_values" not in entry:
        yield "a positional is an enum without values"
    yield from _values(entry, "a positional")


def _stdin(stdin: Any) -> Iterator[str]:
    if not isinstance(stdin, dict):
        return
    own = {
        "buffered": {"max_bytes": _POSITIVE},
        "lines": {"max_line_bytes": _POSITIVE},
        "records": {"max_line_bytes": _POSITIVE, "record_schema": OBJECT},
    }
    mode = stdin.get("mode")
    optional = own.get(mode, {}) if isinstance(mode, str) else {}
    yield from _misfits(stdin, {"mode": _one_of(*own)}, optional, "stdin")
    if mode == "records" and "record_schema" not in stdin:
        yield "stdin reads records without a record_schema"


def _conditions(entry: Mapping[str, Any]) -> Iterator[str]:
    """Tell what in *entry* does not go together."""
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
    for each in _objects(entry.get("filesystem_side_effects")):
        if each.get("type") == "output" and ("ttl_seconds" in each or "clearable_with" in each):
            yield "what is put out is nobody's to clear"
    yield from _passing_on(entry)


def _passing_on(entry: Mapping[str, Any]) -> Iterator[str]:
    """Tell what does not go with handing all arguments to another program."""
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


def _objects(value: Any) -> list[Mapping[str, Any]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
