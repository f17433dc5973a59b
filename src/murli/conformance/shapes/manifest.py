"""What a manifest has to look like, in its first and its third version. Pure.

Danger levels and exit codes are checked elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ...wire.values import object_in, objects_in, text_in
from . import kinds
from .from_schema import Shapes
from .kinds import OBJECT, POSITIVE, TEXT, TRUTH, Fields, Kind, closed, list_of, misfits_of, one_of

_FIRST, _THIRD = Shapes("manifest-1"), Shapes("manifest-3")
_NUMBER = re.compile(r"0|[1-9][0-9]*")
_MEDIA_TYPE = r"[a-z0-9][a-z0-9!#$&^_.+-]*/[a-z0-9][a-z0-9!#$&^_.+-]*"
_VERSIONS = {"1": r"\d+\.\d+", "3": r"3\.(0|[1-9][0-9]*)"}
_TYPES = ("string", "integer", "number", "boolean", "array", "enum", "object")

_EACH_TEXT = list_of(TEXT)
_VALUES = list_of(("a text or a whole number", lambda value: type(value) in (str, int)))
_MEDIA_TYPES: Kind = (
    "an object of media types",
    lambda value: (
        kinds.map_of(kinds.matches(_MEDIA_TYPE, ""))[1](value) and bool(value) and "" not in value
    ),
)
_VARIABLE_NAME = kinds.matches(r"[A-Za-z_][A-Za-z0-9_]*", "the name of a variable")
_SHORT: Kind = ("one letter", lambda value: isinstance(value, str) and len(value) <= 1)
_OF_EVERY_ENTRY: Fields = {
    "danger_level": kinds.ANYTHING,  # another check's
    "flags": OBJECT,
    "exit_codes": OBJECT,
    "output_formats": _EACH_TEXT,
}
# Where other tools may write more than murli does.
_SHAPES: Mapping[str, Mapping[str, tuple[Fields, Fields]]] = {
    "1": {
        "command": _FIRST.fields("command", required_scopes=_EACH_TEXT, **_OF_EVERY_ENTRY),
        "flag": _FIRST.fields("flag", short=_SHORT),
        "exit_code": _FIRST.fields("exit_code", name=TEXT),
    },
    "3": {
        "command": _THIRD.fields(
            "command",
            **_OF_EVERY_ENTRY,
            **dict.fromkeys(("secret_env_vars", "token_env_vars"), _EACH_TEXT),
            builtin=TRUTH,
            positionals=list_of(OBJECT),
            output_media_types=_MEDIA_TYPES,
            output_file=one_of("formatted", "binary", "handler", "envelope"),
            output_file_base=one_of("cwd", "project_root", "resource"),
            stdin=OBJECT,
            arguments=one_of("declared", "passthrough"),
            help_argv=list_of(("a word", lambda value: isinstance(value, str) and value != ""), 1),
            stderr=one_of("child_log"),
            confirm_flag=(
                "the name of a flag",
                lambda value: isinstance(value, str) and value[:1] not in ("", "-"),
            ),
            interruption=closed(
                {"detach": TRUTH, "resume": TRUTH},
                {"idle_timeout_ms": POSITIVE, "max_lifetime_ms": POSITIVE},
            ),
        ),
        "flag": _THIRD.fields(
            "flag",
            type=one_of(*_TYPES),
            short=_SHORT,
            enum_values=_VALUES,
            env_vars=list_of(
                closed({"name": _VARIABLE_NAME}, {"deprecated": TRUTH, "description": TEXT}), 1
            ),
            media_types=_MEDIA_TYPES,
        ),
        "exit_code": _THIRD.fields("exit_code", name=TEXT),
        "positional": _THIRD.fields("positional", enum_values=_VALUES, variadic=TRUTH),
    },
}
_MORE_OF_MANIFEST: Mapping[str, Fields] = {
    "1": {},
    "3": {
        "dependencies": _THIRD.kind_of("dependencies"),
        **dict.fromkeys(("flags", "exit_codes"), OBJECT),
        "secret_env_vars": _EACH_TEXT,
        "env_vars": list_of(
            closed({"name": _VARIABLE_NAME, "description": TEXT}, {"deprecated": TRUTH}), 1
        ),
    },
}
# Which fields an entry must have besides another.
_TOGETHER = {**_THIRD.together("command"), "output_file_base": ["output_file"]}
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
    return "3" if text_in(manifest.get("schema_version")).startswith("3.") else "1"


def manifest_troubles(manifest: Mapping[str, Any], shape: str) -> Iterator[str]:
    """Yield what is wrong with *manifest*, without its entries."""
    version = kinds.matches(_VERSIONS[shape], "the version of this shape")
    required = {"schema_version": version, "framework_version": TEXT, "etag": TEXT}
    required["commands"] = kinds.map_of(OBJECT)
    yield from misfits_of(manifest, required, _MORE_OF_MANIFEST[shape], "the manifest")
    yield from _flags(manifest.get("flags"), shape, "format")
    yield from _exit_codes(manifest.get("exit_codes"), shape)


def entry_troubles(entry: Mapping[str, Any], shape: str) -> Iterator[str]:
    """Yield what is wrong with *entry*, which describes a command."""
    # Other revisions of the first version have more fields.
    yield from misfits_of(entry, *_SHAPES[shape]["command"], "the entry", is_open=shape == "1")
    if shape == "3":
        yield from _conditions(entry)
        for each in objects_in(entry.get("positionals")):
            yield from misfits_of(each, *_SHAPES["3"]["positional"], "a positional")
            if each.get("type") == "enum" and "enum_values" not in each:
                yield "a positional is an enum without values"
            yield from _values(each, "a positional")
        yield from _stdin(entry.get("stdin"))
    yield from _flags(entry.get("flags"), shape, "")
    yield from _exit_codes(entry.get("exit_codes"), shape)


def _exit_codes(codes: Any, shape: str) -> Iterator[str]:
    for number, code in object_in(codes).items():
        if shape == "3" and not _NUMBER.fullmatch(number):
            yield f"exit_codes.{number} is not a number"
        yield from _part(code, shape, "exit_code", f"exit_codes.{number}")


def _part(part: Any, shape: str, name: str, where: str) -> Iterator[str]:
    if isinstance(part, dict):
        yield from misfits_of(part, *_SHAPES[shape][name], where)
    else:
        yield f"{where} is not an object"


def _flags(flags: Any, shape: str, with_media_types: str) -> Iterator[str]:
    for name, flag in object_in(flags).items():
        where = f"flags.{name}"
        yield from _part(flag, shape, "flag", where)
        if shape == "1" or not isinstance(flag, dict):
            continue
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
    needed = [name for key, names in _TOGETHER.items() if key in entry for name in names]
    needed += ["non_interactive_alternatives"] * (entry.get("requires_editor") is True)
    needed += ["token_env_vars"] * (entry.get("headless_supported") is False)
    for name in needed:
        if name not in entry:
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
