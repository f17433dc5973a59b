"""Kinds of values, read from the shipped JSON Schemas.

The schemas describe what murli itself writes. Other tools may leave out more and add more: the
tables in `murli` and `manifest` say what they must have, and where a kind differs. Empty texts
count as written, and so does an empty list, unless a table says otherwise.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ...schemas import load_schema
from . import kinds
from .kinds import Fields, Kind

_SIMPLE: Mapping[Any, Kind] = {
    "string": kinds.TEXT,
    "boolean": kinds.TRUTH,
    "integer": kinds.WHOLE,
    "number": kinds.NUMBER,
    "object": kinds.OBJECT,
}
_OF_VALUES: Mapping[type, Kind] = {str: kinds.TEXT, bool: kinds.TRUTH, list: kinds.TEXTS}
_COUNTED: Mapping[Any, Kind] = {0: kinds.COUNT, 1: kinds.POSITIVE}
#: what the patterns of the schemas are called in findings
_PATTERNS = {
    "^[A-Z][A-Z0-9_]+$": "a code in capitals",
    "^[A-Za-z_][A-Za-z0-9_]*$": "the name of a variable",
    "^[a-z][a-z0-9]*(-[a-z0-9]+)*$": "the name of a protocol",
    "^[a-z][a-z0-9_-]*$": "a name in small letters",
    "^[0-9]+\\.[0-9]+$": "MAJOR.MINOR",
}
_NOT_NULL: Kind = ("anything but null", lambda value: value is not None)


class Shapes:
    """The definitions of one schema."""

    def __init__(self, name: str) -> None:
        self._document = load_schema(name)
        self._known: Mapping[str, Any] = self._document["$defs"]

    def loose(self, name: str, keys: str, /, **other: Kind) -> Fields:
        """Return the kinds of *keys*: a star marks required ones, ``!`` texts that are not empty.

        Only the types of the schema count: not its limits, nor which values it lists. *other* are
        the kinds of some keys, where the schema is narrower.
        """
        properties = self._known[name]["properties"]
        return {
            key.rstrip("!"): kinds.WORD
            if key.endswith("!")
            else other.get(key.strip("*")) or self._loose(properties[key.strip("*")])
            for key in keys.split()
        }

    def _loose(self, schema: Mapping[str, Any]) -> Kind:
        schema = self._resolved(schema)
        if "const" in schema or "enum" in schema:
            return _OF_VALUES[type(schema["const"] if "const" in schema else schema["enum"][0])]
        if schema.get("type") == "array":
            return kinds.TEXTS if schema["items"].get("type") == "string" else kinds.OBJECTS
        return _SIMPLE.get(schema.get("type"), kinds.ANYTHING)

    def fields(self, name: str, /, **other: Kind) -> tuple[Fields, Fields]:
        """Return the required and the optional keys of an object, each with its kind.

        *other* are the kinds of some keys, and keys that the schema has not, which are optional. A
        key of any kind is optional too.
        """
        return self._fields(self._known[name], other)

    def _fields(self, schema: Mapping[str, Any], other: Fields) -> tuple[Fields, Fields]:
        own = {key: other.get(key) or self.kind(each) for key, each in schema["properties"].items()}
        both, needed = {**own, **other}, schema.get("required", ())
        required = {key: both.pop(key) for key in needed if other.get(key) != kinds.ANYTHING}
        return required, both

    def together(self, name: str) -> dict[str, list[str]]:
        """Return which keys of an object must be there beside another key."""
        return dict(self._known[name]["dependentRequired"])

    def kind_of(self, key: str) -> Kind:
        """Return the kind of a key of the document itself."""
        return self.kind(self._document["properties"][key])

    def kind(self, schema: Any) -> Kind:
        """Return the kind of values that are valid by *schema*."""
        if schema is True:
            return kinds.ANYTHING
        schema = self._resolved(schema)
        if "const" in schema:
            value = schema["const"]
            words = value if isinstance(value, str) else json.dumps(value)
            return words, lambda each: type(each) is type(value) and each == value
        if "enum" in schema:
            return kinds.one_of(*schema["enum"])
        if "oneOf" in schema:
            rules = [self.kind(each) for each in schema["oneOf"]]
            return "a rule", lambda value: any(fits(value) for _, fits in rules)
        if "properties" in schema:
            return kinds.closed(*self._fields(schema, {}))
        if "pattern" in schema:
            return kinds.matches(schema["pattern"], _PATTERNS[schema["pattern"]])
        if schema.get("type") == "array":
            least = schema.get("minItems", 0)
            return kinds.list_of(self.kind(schema["items"]), least if least > 1 else 0)
        if "additionalProperties" in schema:
            return kinds.map_of(self.kind(schema["additionalProperties"]))
        if "minimum" in schema:
            return _COUNTED[schema["minimum"]]
        return _NOT_NULL if "not" in schema else _SIMPLE[schema["type"]]

    def _resolved(self, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        while "$ref" in schema:
            schema = self._known[schema["$ref"].rpartition("/")[2]]
        return schema
