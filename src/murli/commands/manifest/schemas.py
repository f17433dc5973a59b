"""The JSON Schemas of one command: of what it takes, and of the ``data`` it answers with."""

from __future__ import annotations

from ...declare import FlagAnnotation
from ...formats import plain
from ...line.discretion import shown_default
from ...line.payload import has_secret
from ...secrets.shapes import MASK
from ..schema import returns_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ...declare import Metadata
    from ...declare.tree import Argument, Command, Flag

_TYPES = {
    **dict.fromkeys(("int", "int64", "integer"), "integer"),
    **dict.fromkeys(("float", "float32", "float64", "number"), "number"),
    **dict.fromkeys(("bool", "boolean"), "boolean"),
    **dict.fromkeys(("str", "string"), "string"),
}
# What a result that is neither object nor array becomes in an envelope.
_WRAPPED = {"string": "text", "integer": "value", "number": "value", "boolean": "value"}


def output_schema(command: Command, metadata: Metadata) -> dict[str, Any]:
    """Return the schema of ``data`` after a success, ``{}`` when nothing is declared."""
    returns = returns_of(command, metadata)
    schema = returns.get("output_schema")
    if schema is None and returns.get("shape"):
        schema = _shaped(returns["shape"])
        if metadata.lists is not None:
            schema = {"type": "array", "items": schema}
        if "description" in returns:
            schema = {"description": returns["description"], **schema}
    schema = _in_envelope(schema if isinstance(schema, dict) else {}, metadata)
    if metadata.effect and "properties" not in schema.get("items", {}):
        from ...declare.declarations import EFFECTS

        effects = dict.fromkeys((metadata.effect, EFFECTS[metadata.effect], "noop"))
        properties = {"effect": {"enum": list(effects)}, **schema.get("properties", {})}
        if schema.get("type", "object") == "object":
            schema = {**schema, "properties": properties}
    return schema


def _in_envelope(schema: dict[str, Any], metadata: Metadata) -> dict[str, Any]:
    """Return the schema of the ``data`` that a result of *schema* becomes."""
    kind = schema.get("type")
    values = schema.get("enum", [schema["const"]] if "const" in schema else [])
    if kind is None and values and all(isinstance(value, (str, int)) for value in values):
        kind = "string" if isinstance(values[0], str) else "integer"
    if isinstance(kind, list):
        return {} if set(kind) - {"object", "array"} else schema
    if kind in _WRAPPED:
        return _holding(_WRAPPED[kind], schema)
    if kind == "array" and metadata.external:
        return _holding("content", schema)
    return {} if kind == "null" else schema


def _holding(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    inner = {key: value for key, value in schema.items() if key != "$defs"}
    outer: dict[str, Any] = {"type": "object", "properties": {name: inner}, "required": [name]}
    if "$defs" in schema:
        outer["$defs"] = schema["$defs"]  # pointers count from the root
    return outer


def _shaped(shape: Any) -> dict[str, Any]:
    """Return the schema of a declared shape; it allows what the shape does not name."""
    if isinstance(shape, dict):
        return {"properties": {str(key): _shaped(value) for key, value in shape.items()}}
    if isinstance(shape, list):
        return {"type": "array", "items": _shaped(shape[0])} if shape else {"type": "array"}
    if not isinstance(shape, str):
        return {}
    if shape.startswith("[]"):
        return {"type": "array", "items": _shaped(shape[2:])}
    return {"type": _TYPES[shape]} if shape in _TYPES else {"description": shape}


def input_schema(command: Command) -> dict[str, Any]:
    """Return the schema of the flags and arguments of *command*, by their names."""
    properties: dict[str, Any] = {}
    for argument in command.arguments:
        properties[argument.name] = _argument(argument, command)
    for flag in command.flags:
        properties[flag.name] = _flag(flag, command)
    parameters: tuple[Argument | Flag, ...] = (*command.arguments, *command.flags)
    required = [each.name for each in parameters if each.required]
    needed = {"required": required} if required else {}
    return {"type": "object", "properties": properties, **needed, "additionalProperties": False}


def _argument(argument: Argument, command: Command) -> dict[str, Any]:
    schema, note = _typed(argument.type, argument.choices), command.note_about(argument)
    description = argument.description or (note.description if note is not None else "")
    return {**schema, "description": description} if description else schema


def _flag(flag: Flag, command: Command) -> dict[str, Any]:
    note = command.note_on(flag) or FlagAnnotation()
    secret = command.is_secret(flag) or has_secret(command, flag)
    kind = "bool" if flag.values == 0 and flag.type != "int" else flag.type
    schema = _typed(kind, note.enum or flag.choices)
    text = note.description or flag.description
    default, description = shown_default(flag, command, text)
    if description and not secret:
        schema["description"] = description
    if default is not None and not secret and default != MASK:
        schema["default"] = plain(default)
    if flag.minimum is not None:
        schema["minimum"] = flag.minimum
    if flag.maximum is not None:
        schema["maximum"] = flag.maximum
    if note.pattern:
        schema["pattern"] = note.pattern
    if secret:
        schema["writeOnly"] = True
    return schema


def _typed(kind: str, choices: tuple[str, ...]) -> dict[str, Any]:
    if kind.startswith("[]"):
        return {"type": "array", "items": _typed(kind[2:], choices)}
    name = _TYPES.get(kind, "string")
    if choices and name == "integer" and all(choice.lstrip("-").isdigit() for choice in choices):
        return {"type": name, "enum": [int(choice) for choice in choices]}
    return {"enum": list(choices)} if choices else {"type": name}
