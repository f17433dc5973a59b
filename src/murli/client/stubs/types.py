"""From the JSON Schema of a result to a type; ``Any`` for what is not simple."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from keyword import iskeyword
from typing import Any

from ...wire.values import list_in, object_in
from .names import Scope, class_name

# A built-in is marked with a NUL until it is known what else has its name, see `spelled`; texts of
# the tool, which are quoted in ASCII, cannot hold one.
_SIMPLE = {
    "string": "\0str",
    "integer": "\0int",
    "number": "\0float",
    "boolean": "\0bool",
    "null": "None",
}
#: built-ins that types are written with
BUILTINS = frozenset(("bool", "bytes", "dict", "float", "int", "list", "str", "tuple"))
_MOST_LEVELS = 12
_MOST_KEYS = 200
_MOST_DICTS = 500
_MOST_VALUES = 100
_MOST_LETTERS = 4000


class Types:
    """The types of one module; *source* is each `TypedDict`, before it is used."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._known: dict[str, str] = {}
        self._referred: dict[str, str] = {}
        self.source: list[str] = []

    def of(self, schema: Any, name: str) -> str:
        """Return the type of what *schema* describes; a new one gets *name*, or its own title."""
        self._referred = {}
        return self._of(schema, name, schema, 0)

    def _of(self, schema: Any, name: str, root: Any, level: int) -> str:
        found = self._written(schema, name, root, level)
        return found if len(found) <= _MOST_LETTERS else "Any"

    def _written(self, schema: Any, name: str, root: Any, level: int) -> str:
        if not isinstance(schema, dict) or level > _MOST_LEVELS:
            return "Any"
        reference = schema.get("$ref")
        if isinstance(reference, str):
            if reference not in self._referred:
                self._referred[reference] = "Any"  # where it leads back to itself
                found = _referred(reference, root)
                own = class_name(reference.rpartition("/")[2])
                self._referred[reference] = self._of(found, own, root, level + 1)
            return self._referred[reference]
        if "const" in schema:
            return literal([schema["const"]])
        if isinstance(schema.get("enum"), list):
            return literal(schema["enum"])
        for key in ("anyOf", "oneOf", "allOf"):
            choices = schema.get(key)
            if isinstance(choices, list) and choices:
                if key == "allOf" and len(choices) > 1:
                    return "Any"
                return union(self._of(each, name, root, level + 1) for each in choices)
        kind = schema.get("type")
        if isinstance(kind, list) and kind:
            each_alone = ({**schema, "type": each} for each in dict.fromkeys(map(str, kind)))
            return union(self._of(each, name, root, level + 1) for each in each_alone)
        if kind == "array":
            return f"\0list[{self._of(schema.get('items'), f'{name}Item', root, level + 1)}]"
        if kind == "object":
            return self._object(schema, name, root, level)
        return _SIMPLE.get(kind, "Any") if isinstance(kind, str) else "Any"

    def _object(self, schema: Mapping[str, Any], name: str, root: Any, level: int) -> str:
        properties = schema.get("properties")
        if not isinstance(properties, dict) or not 0 < len(properties) <= _MOST_KEYS:
            value = schema.get("additionalProperties")
            return f"\0dict[\0str, {self._of(value, f'{name}Value', root, level + 1)}]"
        if len(self._known) >= _MOST_DICTS:
            return "\0dict[\0str, Any]"
        title = schema.get("title")
        if isinstance(title, str) and title:
            name = class_name(title)
        fields = {
            key: self._of(each, class_name(name, key), root, level + 1)
            for key, each in properties.items()
        }
        required = schema.get("required")
        required_keys = {each for each in list_in(required) if isinstance(each, str)}
        # The same shape has one name.
        shape = json.dumps([fields, sorted(required_keys & fields.keys())])
        if shape not in self._known:
            self._known[shape] = self._scope.take(name)
            self.source.append(spelled(_typed_dict(self._known[shape], fields, required_keys)))
        return self._known[shape]


def spelled(text: str, hidden: Collection[str] = ()) -> str:
    """Return source with its types written out; names in *hidden* mean something else there."""

    def name(found: re.Match[str]) -> str:
        return f"_builtins.{found[1]}" if found[1] in hidden else found[1]

    return re.sub("\0([a-z]+)", name, text)


def union(types: Any) -> str:
    """Return the type of what is one of *types*."""
    found: dict[str, None] = {}
    for each in types:
        found.update(dict.fromkeys(_choices(each)))
    return "Any" if "Any" in found or not found else " | ".join(found)


def literal(values: list[Any]) -> str:
    """Return the type of what is one of *values*; ``Any`` where Python has none for it."""
    if not values or len(values) > _MOST_VALUES:
        return "Any"
    if not all(each is None or type(each) in (str, int, bool) for each in values):
        return "Any"
    return f"Literal[{', '.join(dict.fromkeys(map(ascii, values)))}]"


def _typed_dict(name: str, fields: Mapping[str, str], required_keys: set[str]) -> str:
    """Write a `TypedDict`; as a call where a key is no name."""
    if not all(map(_is_plain, fields)):
        # A call cannot show which keys may be missing: any, or none.
        total = "" if required_keys >= fields.keys() else ", total=False"
        pairs = "".join(f"        {key!a}: {kind},\n" for key, kind in fields.items())
        return f'{name} = TypedDict(\n    "{name}",\n    {{\n{pairs}    }}{total},\n)\n'
    always = {key: kind for key, kind in fields.items() if key in required_keys}
    maybe = {key: kind for key, kind in fields.items() if key not in required_keys}
    if always and maybe:
        derived = _fields(name, f"_{name}, total=False", maybe)
        return f"{_fields(f'_{name}', 'TypedDict', always)}\n\n{derived}"
    return _fields(name, "TypedDict" if always else "TypedDict, total=False", fields)


def _fields(name: str, bases: str, fields: Mapping[str, str]) -> str:
    body = "".join(f"    {key}: {kind}\n" for key, kind in fields.items())
    return f"class {name}({bases}):\n{body}"


def _is_plain(key: str) -> bool:
    named = key.isascii() and key.isidentifier() and not iskeyword(key)
    return named and not key.startswith("_") and key not in BUILTINS


def _choices(kind: str) -> list[str]:
    """Return the members of a type: a union is taken apart at its own level."""
    parts, depth, start = [], 0, 0
    if "'" in kind or '"' in kind:
        return [kind]  # text of the tool's may hold anything
    for place, letter in enumerate(kind):
        depth += (letter == "[") - (letter == "]")
        if letter == "|" and not depth:
            parts.append(kind[start:place].strip())
            start = place + 1
    return [*parts, kind[start:].strip()]


def _referred(reference: str, root: Any) -> Any:
    """Return the part of *root* that ``#/$defs/Name`` leads to, ``None`` for any other."""
    if not reference.startswith("#/"):
        return None
    found = root
    for part in reference[2:].split("/"):
        found = object_in(found).get(part.replace("~1", "/").replace("~0", "~"))
    return found
