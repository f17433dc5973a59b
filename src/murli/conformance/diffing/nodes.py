"""JSON Schemas in a form that can be compared: references resolved, ``allOf`` merged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote

from ...wire.values import list_in, object_in, text_in
from .changes import canonical, same

#: the types of JSON; an integral number is also an integer
TYPES = ("null", "boolean", "integer", "number", "string", "array", "object")
ALL = frozenset(TYPES)
_NUMBERS = frozenset({"integer", "number"})

# Keywords that say nothing about the allowed values.
_REMARKS = {
    *("title", "description", "examples", "example", "default", "deprecated", "readOnly"),
    *("writeOnly", "$comment", "$schema", "$id", "id", "$defs", "definitions", "$anchor"),
    *("discriminator", "externalDocs", "xml", "$vocabulary", "$dynamicAnchor"),
}
_POINTING = {*_REMARKS, "$ref"}
# Keywords that are rewritten as others.
_READ = {"$ref", "allOf", "anyOf", "oneOf", "const", "nullable", "additionalItems"}
#: the keywords that are bounds
LEAST = ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties", "minContains")
MOST = ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties", "maxContains")
# How one keyword of two schemas is merged.
_JOINED = {
    *("type", "required", "enum", "properties", "patternProperties", "items"),
    *("additionalProperties", *LEAST, *MOST),
}
# How many schemas are read, references included, before the comparison stops.
_MOST_READ = 20_000
# How many alternatives one schema may have, and how deep they may be nested.
_MOST_ALTERNATIVES = 64
_DEEPEST = 16


class TooIntricate(Exception):
    """A schema that would take too long to analyse."""


class Node:
    """A schema without references: *words* by keyword, and *unions*, of each of which one holds."""

    __slots__ = ("alternatives", "unions", "words")

    def __init__(self, words: dict[str, Any], unions: tuple[tuple[Any, ...], ...] = ()) -> None:
        self.words = words
        self.unions = unions
        self.alternatives: list[Node] | None = None


class Reader:
    """Reads the schemas below one root; equal schemas are one object."""

    def __init__(self, root: Any) -> None:
        self.root = root
        self._nodes: dict[int, Node] = {}
        self._anything, self._nothing = Node({}), Node({"type": frozenset()})
        # Merged schemas by their parts, and their parts; kept, so that ids stay unique.
        self._made: dict[frozenset[int], Any] = {}
        self._parts: dict[int, list[Any]] = {}
        self._anchors: dict[str, Any] | None = None
        self._left = _MOST_READ

    def node(self, schema: Any) -> Node:
        """Return *schema* as a `Node`."""
        schema = self._followed(schema)
        if not isinstance(schema, dict):
            return self._nothing if schema is False else self._anything
        if id(schema) not in self._nodes:
            self._nodes[id(schema)] = self._read(schema, (id(schema),))
        return self._nodes[id(schema)]

    def _followed(self, schema: Any) -> Any:
        """Return the target of a schema that is nothing but a reference."""
        for _ in range(_DEEPEST):
            if not isinstance(schema, dict) or "$ref" not in schema or schema.keys() - _POINTING:
                break
            target = self._target(schema["$ref"])
            schema = schema if target is None else target
        return schema

    def _read(self, schema: Mapping[str, Any], above: tuple[int, ...]) -> Node:
        self._left -= 1
        if not self._left:
            raise TooIntricate
        node = _own(schema)
        parts = [each for each in list_in(schema.get("allOf")) if isinstance(each, (dict, bool))]
        if "$ref" in schema:
            target = self._target(schema["$ref"])
            if target is None:
                node.words["$ref"] = schema["$ref"]  # into another document
            else:
                parts.append(target)
        for part in parts:
            if part is False:
                node = self._together(node, self._nothing)
            elif isinstance(part, dict) and id(part) not in above:
                node = self._together(node, self._read(part, (*above, id(part))))
        return node

    def _target(self, reference: Any) -> Any:
        if not isinstance(reference, str):
            return None
        own = text_in(object_in(self.root).get("$id"))
        if own:
            reference = reference.removeprefix(own) if "#" in reference else reference
        if not reference.startswith("#"):
            return None
        pointer = unquote(reference[1:])
        if pointer and not pointer.startswith("/"):
            return self._anchored(pointer)
        found = self.root
        for step in pointer.split("/")[1:]:
            name = step.replace("~1", "/").replace("~0", "~")
            if isinstance(found, list) and name.isascii() and name.isdigit() and len(name) < 7:
                found = found[int(name)] if int(name) < len(found) else None
            else:
                found = object_in(found).get(name)
        return found if isinstance(found, (dict, bool)) else None

    def _anchored(self, name: str) -> Any:
        if self._anchors is None:
            self._anchors = {}
            waiting = [self.root]
            while waiting:
                each = waiting.pop()
                if isinstance(each, dict):
                    anchor = each.get("$anchor")
                    if isinstance(anchor, str):
                        self._anchors.setdefault(anchor, each)
                    waiting += each.values()
                elif isinstance(each, list):
                    waiting += each
        return self._anchors.get(name)

    def _together(self, one: Node, other: Node) -> Node:
        """Return what holds if both schemas hold."""
        if not one.words and not one.unions:
            return other
        words = dict(one.words)
        for word, value in other.words.items():
            if word not in words:
                words[word] = value
            elif word in _JOINED:
                words[word] = self._joined(word, words[word], value)
            elif not same(words[word], value):
                # There is one place for the keyword, so the second value gets a made-up one.
                other_place = f"{word}'"
                while other_place in words and not same(words[other_place], value):
                    other_place += "'"
                words[other_place] = value
        return Node(words, one.unions + other.unions)

    def _joined(self, word: str, one: Any, other: Any) -> Any:
        if word == "type":
            return one & other
        if word == "required":
            return one | other
        if word == "enum":
            kept = {canonical(each) for each in other}
            return [each for each in one if canonical(each) in kept]
        if word in LEAST:
            return max(one, other)
        if word in MOST:
            return min(one, other)
        if word in ("items", "additionalProperties"):
            return self._both(one, other)
        met = {name: self._both(one[name], each) for name, each in other.items() if name in one}
        return {**one, **other, **met}

    def _both(self, one: Any, other: Any) -> Any:
        """Return the schema of what both allow; the same object for the same parts."""
        parts: dict[int, Any] = {}
        for each in map(self._followed, (one, other)):
            parts.update((id(part), part) for part in self._parts.get(id(each), [each]))
        if len(parts) == 1:
            return next(iter(parts.values()))
        key = frozenset(parts)
        if key not in self._made:
            made = self._made[key] = {"allOf": list(parts.values())}
            self._parts[id(made)] = made["allOf"]
        return self._made[key]

    # -- one of several --------------------------------------------------------------------------

    def alternatives(self, node: Node) -> list[Node]:
        """Return schemas of which *node* allows one, each without alternatives of its own."""
        if node.alternatives is None:
            found = [part for each in self._expanded(node, 0) for part in _parted(each)]
            node.alternatives = [each for each in found if kinds_in(each)]
        return node.alternatives

    def _expanded(self, node: Node, depth: int) -> list[Node]:
        if not node.unions:
            return [node]
        if depth > _DEEPEST:
            raise TooIntricate
        rest = Node(node.words, node.unions[1:])
        found: list[Node] = []
        for each in node.unions[0]:
            found += self._expanded(self._together(rest, self.node(each)), depth + 1)
            if len(found) > _MOST_ALTERNATIVES:
                raise TooIntricate
        return found


def kinds_in(node: Node) -> frozenset[str]:
    """Return the types that *node* allows."""
    values = values_in(node)
    if values is not None:
        return frozenset(map(_kind_of, values))
    kinds: frozenset[str] = node.words.get("type", ALL)
    return kinds


def values_in(node: Node) -> list[Any] | None:
    """Return the values that *node* enumerates, or ``None``."""
    if "enum" not in node.words:
        return None
    kinds = node.words.get("type", ALL)
    return [each for each in node.words["enum"] if _kind_of(each) in kinds]


def _parted(node: Node) -> Iterator[Node]:
    """Yield one schema for each type, if *node* names several."""
    kinds = kinds_in(node)
    if kinds == ALL:
        yield node
        return
    groups = [kinds & _NUMBERS, *(frozenset({each}) for each in sorted(kinds - _NUMBERS))]
    for group in groups:
        if group == kinds:
            yield node
        elif group:
            yield Node({**node.words, "type": group})


def _own(schema: Mapping[str, Any]) -> Node:
    """Return the keywords of *schema* itself, without its references."""
    words = {
        word: each
        for word, each in schema.items()
        if word not in _REMARKS and word not in _READ and not word.startswith("x-")
    }
    kinds = _types(words.pop("type", None))
    if kinds is not None:
        words["type"] = kinds | {"null"} if schema.get("nullable") is True else kinds
    if "const" in schema:
        words["enum"] = [schema["const"]]
    elif not isinstance(words.get("enum"), list):
        words.pop("enum", None)
    required = words.pop("required", None)
    if isinstance(required, list):
        words["required"] = frozenset(each for each in required if isinstance(each, str))
    for word in ("properties", "patternProperties"):
        if not isinstance(words.get(word, {}), dict):
            del words[word]
    if isinstance(words.get("items"), list):  # the form before prefixItems
        words["prefixItems"] = words.pop("items")
        if "additionalItems" in schema:
            words["items"] = schema["additionalItems"]
    if not isinstance(words.get("prefixItems", []), list):
        del words["prefixItems"]
    if words.get("uniqueItems") is False:
        del words["uniqueItems"]
    for word in (*LEAST, *MOST):
        bound = words.get(word, 0)
        if isinstance(bound, bool) or not isinstance(bound, (int, float)) or bound != bound:
            words[f"{word}'"] = words.pop(word)
    # ``oneOf`` is read as ``anyOf``.
    unions = [schema[word] for word in ("anyOf", "oneOf") if isinstance(schema.get(word), list)]
    return Node(words, tuple(tuple(each) for each in unions if each))


def _types(value: Any) -> frozenset[str] | None:
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, list):
        return None
    found = {each for each in names if isinstance(each, str)}
    return frozenset(found | {"integer"} if "number" in found else found)


def _kind_of(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, (int, float)):
        return "integer" if isinstance(value, int) or value.is_integer() else "number"
    if isinstance(value, str):
        return "string"
    return "array" if isinstance(value, list) else "object"
