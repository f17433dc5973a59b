"""All definitions of a tool in one document: a JSON Schema, or an OpenAPI description."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ..schemas.definitions import Definition

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_OPENAPI = "3.1.1"
# What stands for a version that the tool does not have; the format wants one.
_NO_VERSION = "0"


def as_json_schema(
    name: str, definitions: Sequence[Definition], described: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the schema of a call of the tool: an object with the arguments of one command.

    Under ``$defs`` are the arguments of each command, by its name, and its result, as
    ``NAME.result``.
    """
    calls = {each.name: {"$ref": f"#/$defs/{each.name}"} for each in definitions}
    return {
        "$schema": _DIALECT,
        "title": name,
        "description": described.get("summary") or f"A call of {name}.",
        "type": "object",
        "properties": calls,
        "minProperties": 1,
        "maxProperties": 1,
        "additionalProperties": False,
        "$defs": dict(_schemas(definitions, "#/$defs")),
    }


def as_openapi(
    name: str, definitions: Sequence[Definition], described: Mapping[str, Any]
) -> dict[str, Any]:
    """Return an OpenAPI description with a POST for each command, which takes its arguments."""
    info = {"title": name, "version": described.get("tool_version") or _NO_VERSION}
    if described.get("summary"):
        info["description"] = described["summary"]
    return {
        "openapi": _OPENAPI,
        "info": info,
        "paths": {_path_of(each): {"post": _operation(each)} for each in definitions},
        "components": {"schemas": dict(_schemas(definitions, "#/components/schemas"))},
    }


def _path_of(definition: Definition) -> str:
    # A brace would be a parameter of the path, in any writing.
    words = [word.replace("{", "(").replace("}", ")") for word in definition.path]
    return "/" + "/".join(quote(word, safe="") for word in words)


def _operation(definition: Definition) -> dict[str, Any]:
    schemas = "#/components/schemas"
    result = {"$ref": f"{schemas}/{definition.name}.result"} if definition.output_schema else {}
    operation: dict[str, Any] = {
        "operationId": definition.name,
        "summary": definition.title,
        "description": definition.description,
        "requestBody": {
            "required": bool(definition.input_schema.get("required")),
            "content": {"application/json": {"schema": {"$ref": f"{schemas}/{definition.name}"}}},
        },
        "responses": {
            "200": {
                "description": "The result of the command.",
                "content": {"application/json": {"schema": result}},
            }
        },
        "x-murli-hints": dict(definition.hints),
    }
    if definition.command.described.get("deprecated") is True:
        operation["deprecated"] = True
    return operation


def _schemas(definitions: Sequence[Definition], place: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the arguments and the result of each command by name, as they stand at *place*."""
    for each in definitions:
        about = {"title": each.title, "description": each.description}
        yield each.name, {**about, **each.input_schema}
        if each.output_schema:
            result = f"{each.name}.result"
            yield result, _moved(each.output_schema, f"{place}/{result}")


def _moved(node: Any, place: str) -> Any:
    """Return a schema whose references into itself are good where it stands at *place*."""
    if isinstance(node, list):
        return [_moved(each, place) for each in node]
    if not isinstance(node, dict):
        return node
    found = {key: _moved(value, place) for key, value in node.items()}
    pointer = node.get("$ref")
    if isinstance(pointer, str) and (pointer == "#" or pointer.startswith("#/")):
        found["$ref"] = f"{place}{pointer[1:]}"
    return found
