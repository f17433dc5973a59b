"""Definitions as the tools of those who offer models.

In strict mode a vendor lets a model write nothing but what the schema allows, and takes only a part
of JSON Schema. What it does not take is put into the descriptions, in words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..formats import dumps

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..schemas.definitions import Definition

# What the vendors publish: beyond that the whole request is refused.
_ANTHROPIC_TOOLS = 20
_ANTHROPIC_OPTIONAL = 24
_OPENAI_PROPERTIES = 5_000
_LONGEST_OPENAI_DESCRIPTION = 1024
# Keywords that no strict mode is sure to take.
_LOOSE = ("pattern", "minimum", "maximum", "default")
_HINTS = {
    "read_only": "readOnlyHint",
    "destructive": "destructiveHint",
    "idempotent": "idempotentHint",
}


def for_anthropic(definitions: Sequence[Definition], strict: bool | None) -> list[dict[str, Any]]:
    """Return *definitions* as ``tools`` of the Messages API.

    By default they are strict where the API takes them all: few tools, few optional properties.
    """
    if strict is None:
        schemas = [each.input_schema for each in definitions]
        optional = sum(len(each["properties"]) - len(each.get("required", ())) for each in schemas)
        few = len(definitions) <= _ANTHROPIC_TOOLS and optional <= _ANTHROPIC_OPTIONAL
        strict = few and all(map(_can_be_strict, definitions))
    tools = []
    for each in definitions:
        is_strict = strict and _can_be_strict(each)
        schema = _restricted(each) if is_strict else dict(each.input_schema)
        tool = {"name": each.name, "description": each.description, "input_schema": schema}
        tools.append({**tool, "strict": True} if is_strict else tool)
    return tools


def for_openai(definitions: Sequence[Definition], strict: bool | None) -> list[dict[str, Any]]:
    """Return *definitions* as functions among the ``tools`` of the Responses API."""
    return [{"type": "function", **_function(each, strict)} for each in definitions]


def for_openai_chat(definitions: Sequence[Definition], strict: bool | None) -> list[dict[str, Any]]:
    """Return *definitions* as functions among the ``tools`` of Chat Completions."""
    return [{"type": "function", "function": _function(each, strict)} for each in definitions]


def for_mcp(definition: Definition) -> dict[str, Any]:
    """Return *definition* as a tool in the list of an MCP server."""
    tool: dict[str, Any] = {
        "name": definition.name,
        "title": definition.title,
        "description": definition.description,
        "inputSchema": dict(definition.input_schema),
    }
    if definition.output_schema.get("type") == "object":  # all that older clients allow
        tool["outputSchema"] = dict(definition.output_schema)
    if definition.hints:
        tool["annotations"] = {_HINTS[key]: value for key, value in definition.hints.items()}
    return tool


def _function(definition: Definition, strict: bool | None) -> dict[str, Any]:
    is_strict = strict is not False and _can_be_strict(definition)
    description = definition.description
    if len(description) > _LONGEST_OPENAI_DESCRIPTION:
        description = f"{description[: _LONGEST_OPENAI_DESCRIPTION - 2].rstrip()} …"
    schema = _nullable(_restricted(definition)) if is_strict else dict(definition.input_schema)
    tool = {"name": definition.name, "description": description}
    return {**tool, "parameters": schema, "strict": is_strict}


# -- strict mode --------------------------------------------------------------------------------


def _can_be_strict(definition: Definition) -> bool:
    """Return whether strict mode can describe the inputs: objects of any keys it cannot."""
    schemas = definition.input_schema["properties"].values()
    values = [each["items"] if each["type"] == "array" else each for each in schemas]
    objects = any(each["type"] in ("object", "array") for each in values)
    return len(schemas) <= _OPENAI_PROPERTIES and not objects


def _restricted(definition: Definition) -> dict[str, Any]:
    """Return the schema of the inputs with nothing in it but what every strict mode takes."""
    schema = definition.input_schema
    properties = {key: _loosened(each) for key, each in schema["properties"].items()}
    return {**schema, "properties": properties}


def _loosened(schema: Mapping[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in schema.items() if key not in _LOOSE}
    items = schema.get("items", {})
    loose = ((key, of[key]) for of in (schema, items) for key in _LOOSE if key in of)
    rules = [f"{key}: {dumps(value, pretty=False)}" for key, value in loose]
    if items:
        kept["items"] = {key: value for key, value in items.items() if key not in _LOOSE}
    parts = [str(schema.get("description", "")), f"({', '.join(rules)})" if rules else ""]
    description = " ".join(filter(None, parts))
    return {**kept, "description": description} if description else kept


def _nullable(schema: dict[str, Any]) -> dict[str, Any]:
    """Return *schema* with every property required, and those that may be left out nullable."""
    known, required = schema["properties"], schema.get("required", ())
    properties = {key: known[key] if key in required else _or_null(known[key]) for key in known}
    return {**schema, "properties": properties, "required": list(properties)}


def _or_null(schema: Mapping[str, Any]) -> dict[str, Any]:
    found = {**schema, "type": [schema["type"], "null"]}
    if "enum" in found:
        found["enum"] = [*found["enum"], None]
    return found
