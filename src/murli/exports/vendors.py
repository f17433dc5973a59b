"""Definitions as the tools of those who offer models.

In strict mode a vendor lets a model write nothing but what the schema allows, and takes only a part
of JSON Schema. What it does not take is put into the descriptions, in words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..formats import dumps

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

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
        optional = sum(len(_properties(each)) - len(_required(each)) for each in definitions)
        few = len(definitions) <= _ANTHROPIC_TOOLS and optional <= _ANTHROPIC_OPTIONAL
        strict = few and all(map(_can_be_strict, definitions))
    return [
        {
            "name": each.name,
            "description": each.description,
            "input_schema": _restricted(each) if strict and _can_be_strict(each) else _whole(each),
            **({"strict": True} if strict and _can_be_strict(each) else {}),
        }
        for each in definitions
    ]


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
        "inputSchema": _whole(definition),
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
    return {
        "name": definition.name,
        "description": description,
        "parameters": _nullable(_restricted(definition)) if is_strict else _whole(definition),
        "strict": is_strict,
    }


def _whole(definition: Definition) -> dict[str, Any]:
    return dict(definition.input_schema)


def _properties(definition: Definition) -> Mapping[str, Any]:
    found: Mapping[str, Any] = definition.input_schema["properties"]
    return found


def _required(definition: Definition) -> Sequence[str]:
    found: Sequence[str] = definition.input_schema.get("required", ())
    return found


# -- strict mode --------------------------------------------------------------------------------


def _can_be_strict(definition: Definition) -> bool:
    """Return whether strict mode can describe the inputs: objects of any keys it cannot."""
    properties = _properties(definition)
    return len(properties) <= _OPENAI_PROPERTIES and not any(
        kind in ("object", "array") for each in properties.values() for kind in _item_types(each)
    )


def _item_types(schema: Mapping[str, Any]) -> Iterator[str]:
    """Yield the type of the values of *schema*, or of the items in its list."""
    yield schema["items"]["type"] if schema["type"] == "array" else schema["type"]


def _restricted(definition: Definition) -> dict[str, Any]:
    """Return the schema of the inputs with nothing in it but what every strict mode takes."""
    properties = {key: _loosened(each) for key, each in _properties(definition).items()}
    return {**definition.input_schema, "properties": properties}


def _loosened(schema: Mapping[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in schema.items() if key not in _LOOSE}
    items = schema.get("items", {})
    rules = [
        f"{key}: {dumps(of[key], pretty=False)}"
        for of in (schema, items)
        for key in _LOOSE
        if key in of
    ]
    if items:
        kept["items"] = {key: value for key, value in items.items() if key not in _LOOSE}
    parts = [str(schema.get("description", "")), f"({', '.join(rules)})" if rules else ""]
    description = " ".join(filter(None, parts))
    return {**kept, "description": description} if description else kept


def _nullable(schema: dict[str, Any]) -> dict[str, Any]:
    """Return *schema* with every property required, and those that may be left out nullable."""
    required = schema.get("required", ())
    properties = {
        key: each if key in required else _or_null(each)
        for key, each in schema["properties"].items()
    }
    return {**schema, "properties": properties, "required": list(properties)}


def _or_null(schema: Mapping[str, Any]) -> dict[str, Any]:
    found = {**schema, "type": [schema["type"], "null"]}
    if "enum" in found:
        found["enum"] = [*found["enum"], None]
    return found
