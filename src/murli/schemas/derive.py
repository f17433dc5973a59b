"""The JSON Schema (draft 2020-12) of a Python type, as `plain` writes its values.

It describes output: a field that is always written is required even when it has a default, and
no object is closed, since the tool may say more later. Nothing here ever raises.

===============================  =========================================================
Python                           JSON Schema
===============================  =========================================================
str, int, float, bool, None      string, integer, number, boolean, null
datetime, date, UUID             string with its format
time, Path, Decimal              string (RFC 3339's time needs an offset; ours seldom has one)
timedelta                        number, in seconds
bytes, bytearray, memoryview     the binary object
Enum, Literal; Flag              enum of the values, or const; integer
list, set, Sequence, Iterator …  array, with items when the element says something
tuple[A, B]                      array of that length, with prefixItems
dict, Mapping[K, V]              object, with additionalProperties when V says something
X | Y, Optional[X]               anyOf, or a list of types when that says the same
Annotated[X, …]                  X, with the description of a ``Doc`` or ``msgspec.Meta``
NewType, Final, Awaitable[X] …   what they stand for
dataclass, attrs, NamedTuple,    object with all its fields required
msgspec Struct
TypedDict                        object with its required keys
pydantic model                   its own schema, corrected where `plain` writes otherwise
recursive, or met twice          ``$ref`` into ``$defs``
Any, object, TypeVar, what has   nothing: ``None``, and left open inside something
no JSON form
===============================  =========================================================
"""

from __future__ import annotations

import collections.abc as abc
import dataclasses
import enum
import functools
import json
import re
import sys
import types
import typing
from collections import ChainMap, Counter
from typing import Any

from ..formats import dumps, plain

Schema = dict[str, Any]

# Beyond these a type is taken for one that grows without end, and left open.
MAX_DEPTH = 60
MAX_DEFINITIONS = 400

_POINTER = "#/$defs/"
_POINTERS = re.compile(r'"#/\$defs/([^"]+)"')  # as they stand in JSON text
_BINARY_FIELDS: Schema = {
    "type": {"const": "binary"},
    "encoding": {"const": "base64"},
    "value": {"type": "string", "contentEncoding": "base64"},
    "size_bytes": {"type": "integer", "minimum": 0},
}
_BINARY = {"type": "object", "properties": _BINARY_FIELDS, "required": list(_BINARY_FIELDS)}
_SECONDS: Schema = {"type": "number", "description": "seconds"}
# By name, as in the encoder, so that no module is loaded for the sake of a comparison.
_FORMATS = {"datetime.datetime": "date-time", "datetime.date": "date", "uuid.UUID": "uuid"}
_TEXTS = ("datetime.time", "decimal.Decimal", "_pydecimal.Decimal")
_ITERABLES = (abc.Iterable, abc.Iterator, abc.Generator, abc.Collection, abc.Reversible)
_COLLECTIONS = (abc.Sequence, abc.MutableSequence, abc.Set, abc.MutableSet)
_OBJECTS = (abc.Mapping, abc.MutableMapping, ChainMap, types.MappingProxyType)
_AWAITABLES = (abc.Awaitable, abc.Coroutine, types.CoroutineType)
# Typing's forms that only qualify what they hold; by name, since typing_extensions has its own.
_QUALIFIERS = ("ClassVar", "Final", "NotRequired", "ReadOnly", "Required")


def schema_of(kind: object) -> dict[str, Any] | None:
    """Return the schema of what `plain` makes of a *kind*, or ``None`` when it says nothing."""
    try:
        deriver = _Deriver()
        root = {} if kind is None else deriver.schema(kind)
        return _assembled(root, deriver.definitions) or None
    except Exception:  # a foreign class may do anything when it is looked at
        return None


def return_schema_of(function: object) -> dict[str, Any] | None:
    """Return the schema of what *function* is annotated to return, or ``None``, as `schema_of`."""
    try:
        found = _returned(function)
        return None if found is type(None) or found is Any else schema_of(found)
    except Exception:  # see schema_of
        return None


class _Deriver:
    """One derivation. Inside it a schema that says nothing is ``{}``."""

    def __init__(self) -> None:
        self.definitions: dict[str, Schema] = {}
        self.names: dict[object, str] = {}
        self.foreign: dict[str, Schema] = {}
        self.bound: dict[object, Schema] = {}
        self.owner: object = None
        self.depth = 0

    def schema(self, kind: Any) -> Schema:
        """Derive one type; one that cannot be read is left open and spoils no other."""
        if self.depth > MAX_DEPTH:
            return {}
        self.depth += 1
        try:
            return self.form(kind)
        except Exception:  # see schema_of
            return {}
        finally:
            self.depth -= 1

    def form(self, kind: Any) -> Schema:
        """Derive what typing's forms say, and hand classes on."""
        if kind is None or kind is type(None):
            return {"type": "null"}
        if isinstance(kind, typing.TypeVar):
            return self.bound.get(kind, {})
        if isinstance(kind, typing.NewType):
            return self.schema(kind.__supertype__)
        origin, args = typing.get_origin(kind), typing.get_args(kind)
        known = kind if origin is None else origin
        if origin is typing.Annotated:
            return _described(self.schema(args[0]), args[1:])
        if origin is typing.Literal:
            found = _choice(args)
            return {"const": found["enum"][0]} if len(found["enum"]) == 1 else found
        if origin is typing.Union or origin is types.UnionType:
            return _union([self.schema(arg) for arg in args])
        if getattr(origin, "_name", None) in _QUALIFIERS or known in _AWAITABLES:
            return self.schema(args[-1]) if args else {}
        if type(known).__name__ == "TypeAliasType":
            return self.named(known, args, lambda: self.schema(known.__value__))
        known = self.owner if known is getattr(typing, "Self", self) else known
        return self.known(known, args) if isinstance(known, type) else {}

    def known(self, kind: Any, args: tuple[Any, ...]) -> Schema:
        """Derive a class, asking in the order in which the encoder asks about values."""
        if issubclass(kind, enum.Enum):
            return {"type": "integer"} if issubclass(kind, enum.Flag) else _choice(list(kind))
        for base, name in ((str, "string"), (bool, "boolean"), (int, "integer"), (float, "number")):
            if issubclass(kind, base):
                return {"type": name}
        if issubclass(kind, tuple) and hasattr(kind, "_fields"):
            return self.named(kind, args, lambda: self.fields(kind, kind._fields))
        if issubclass(kind, dict) and hasattr(kind, "__required_keys__"):
            return self.named(kind, args, lambda: self.typed_dict(kind))
        if issubclass(kind, dict) or kind in _OBJECTS:
            counts = issubclass(kind, Counter)
            value = {"type": "integer"} if counts else self.schema(args[1]) if args[1:] else {}
            return {"type": "object", **({"additionalProperties": value} if value else {})}
        if issubclass(kind, tuple):
            return self.row(args)
        if issubclass(kind, (list, range, set, frozenset)) or kind in _ITERABLES + _COLLECTIONS:
            return self.array(args)
        if issubclass(kind, (bytes, bytearray, memoryview)):
            return _BINARY
        names = _field_names(kind)
        if names is not None:
            return self.named(kind, args, lambda: self.fields(kind, names))
        if callable(getattr(kind, "model_dump", None)):
            return self.named(kind, (), lambda: self.model(kind))
        for base in kind.__mro__:
            place = f"{base.__module__}.{base.__qualname__}"
            if place in _FORMATS:
                return {"type": "string", "format": _FORMATS[place]}
            if place == "datetime.timedelta":
                return _SECONDS
            if place in _TEXTS or hasattr(base, "__fspath__"):
                return {"type": "string"}
        if callable(getattr(kind, "keys", None)) and hasattr(kind, "__getitem__"):
            return {"type": "object"}
        ours = kind.__module__ in ("builtins", "collections", "array")
        if hasattr(kind, "__next__") or (ours and hasattr(kind, "__iter__")):
            return self.array(args if len(args) == 1 else ())
        return {}

    def array(self, args: tuple[Any, ...]) -> Schema:
        items = self.schema(args[0]) if args else {}
        return {"type": "array", "items": items} if items else {"type": "array"}

    def row(self, args: tuple[Any, ...]) -> Schema:
        if len(args) == 2 and args[1] is Ellipsis:
            return self.array(args)
        if args in ((), ((),)) or any(str(arg).startswith(("*", "typing.Unp")) for arg in args):
            return {"type": "array"}
        items = [self.schema(arg) for arg in args]
        return {"type": "array", "prefixItems": items, "minItems": len(args), "maxItems": len(args)}

    def fields(self, kind: Any, names: typing.Iterable[str]) -> Schema:
        hints = _hints(kind)
        return self.object(kind, {name: hints.get(name, Any) for name in names}, list(names))

    def typed_dict(self, kind: Any) -> Schema:
        hints = _hints(kind)
        required = set(kind.__required_keys__)
        for name, hint in hints.items():
            # A string annotation hides the qualifier from the class, but not from its hints.
            marked = re.match(r"typing\w*\.(?:ReadOnly\[typing\w*\.)?(Not)?Required\[", repr(hint))
            if marked:
                (required.discard if marked[1] else required.add)(name)
        return self.object(kind, hints, [name for name in hints if name in required])

    def object(self, kind: Any, fields: dict[str, Any], required: list[str]) -> Schema:
        found: Schema = {"type": "object"}
        text = (kind.__dict__.get("__doc__") or "").strip()
        if text and not text.startswith(f"{kind.__name__}("):  # what dataclasses make up
            found["description"] = " ".join(text.partition("\n\n")[0].split())
        found["properties"] = {name: self.schema(hint) for name, hint in fields.items()}
        return {**found, "required": required} if required else found

    def model(self, kind: Any) -> Schema:
        """Take a pydantic model's own schema, and its definitions among ours."""
        schema, own = _model_schema(kind), self.names[kind, "[]"]
        theirs = schema.pop("$defs", {})
        names: dict[str, str] = {}
        root = str(schema.get("$ref", "")).removeprefix(_POINTER)
        if root in theirs:  # a recursive model is a reference to itself
            schema, names[root] = theirs.pop(root), own
        self.foreign[own] = schema
        for name, definition in theirs.items():
            names[name] = _safe(name)
            if self.foreign.get(names[name]) != definition:
                names[name] = self.free_name(names[name])
                self.foreign[names[name]] = definition
        for name, definition in theirs.items():
            self.definitions[names[name]] = _renamed(definition, names)
        return _renamed(schema, names)

    def named(self, kind: Any, args: tuple[Any, ...], build: typing.Callable[[], Schema]) -> Schema:
        """Refer to the definition of *kind*, which is built when it is first met."""
        given = [self.schema(arg) for arg in args]
        key = (kind, dumps(plain(given), pretty=False))
        if key not in self.names:
            if len(self.names) >= MAX_DEFINITIONS:
                return {}
            of = [getattr(arg, "__name__", "") for arg in args]
            name = self.names[key] = self.free_name(_safe("_".join([kind.__name__, *of])))
            outer, owner = self.bound, self.owner
            parameters = getattr(kind, "__type_params__", ()) or getattr(kind, "__parameters__", ())
            self.bound, self.owner = dict(zip(parameters, given, strict=False)), kind
            try:
                self.definitions[name].update(build())
            finally:
                self.bound, self.owner = outer, owner
        return {"$ref": _POINTER + self.names[key]}

    def free_name(self, wish: str) -> str:
        name = wish
        while name in self.definitions:
            name += "2"
        self.definitions[name] = {}
        return name


def _safe(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.-]+", "_", name).strip("_") or "value"


def _choice(values: typing.Iterable[Any]) -> Schema:
    written = {dumps(value, pretty=False): value for value in map(plain, values)}
    texts = all(isinstance(value, str) for value in written.values())
    kind = {"type": "string"} if texts else {}
    return {**kind, "enum": list(written.values())} if written else {}


def _union(members: list[Schema]) -> Schema:
    found = [member for index, member in enumerate(members) if member not in members[:index]]
    if {} in found or len(found) == 1:
        return {} if {} in found else found[0]
    kinds = [member.get("type") for member in found]
    full = [member for member in found if len(member) > 1]
    simple = len(set(map(str, kinds))) == len(kinds) and all(isinstance(k, str) for k in kinds)
    # Every other keyword speaks of one type only, except those that name values.
    if simple and len(full) <= 1 and not any("enum" in member for member in full):
        return {**(full[0] if full else {}), "type": kinds}
    return {"anyOf": found}


def _described(schema: Schema, notes: tuple[Any, ...]) -> Schema:
    for note in notes if schema else ():
        description = getattr(note, "description", None) or getattr(note, "documentation", None)
        if isinstance(description, str):
            return {**schema, "description": description}
    return schema


def _field_names(kind: Any) -> list[str] | None:
    if dataclasses.is_dataclass(kind):
        return [field.name for field in dataclasses.fields(kind)]
    names = getattr(kind, "__struct_fields__", None)
    if names is None and hasattr(kind, "__attrs_attrs__"):
        names = [attribute.name for attribute in kind.__attrs_attrs__]
    return None if names is None else list(names)


def _hints(kind: Any) -> dict[str, Any]:
    """Return the annotations of a class, resolved; one that cannot be says nothing."""
    given = {each.name: each.type for each in getattr(kind, "__attrs_attrs__", ())}
    try:
        return {**given, **typing.get_type_hints(kind, include_extras=True)}
    except Exception:  # one bad name spoils them all: resolve them one by one
        found: dict[str, Any] = given
    for base in reversed(kind.__mro__):
        scope = {**vars(sys.modules.get(base.__module__, types)), **vars(base), kind.__name__: kind}
        scope.update({each.__name__: each for each in getattr(base, "__type_params__", ())})
        for name, annotation in getattr(base, "__annotations__", {}).items():
            found[name] = _resolved(annotation, scope)
    return found


def _resolved(annotation: Any, scope: dict[str, Any]) -> Any:
    holder = types.SimpleNamespace(__annotations__={"it": annotation})
    try:
        return typing.get_type_hints(holder, scope, scope, include_extras=True)["it"]
    except Exception:  # a name that exists for type checkers only, say
        return Any


def _returned(function: Any) -> Any:
    for _ in range(50):  # wrappers around wrappers; an object may pretend to have them forever
        if isinstance(function, type):
            return function
        around = function
        if isinstance(function, (functools.partial, functools.partialmethod)):
            function = function.func
        else:
            function = getattr(function, "__wrapped__", getattr(function, "__func__", function))
        if function is around:
            break
    function = function if hasattr(function, "__globals__") else type(function).__call__
    annotation = function.__annotations__.get("return", Any)
    if annotation is None or annotation is Any:
        return type(None) if annotation is None else Any
    return _resolved(annotation, function.__globals__)


def _model_schema(kind: Any) -> Schema:
    from pydantic.json_schema import GenerateJsonSchema

    class AsWritten(GenerateJsonSchema):
        """What differs between pydantic's JSON and ours, which starts from ``model_dump()``."""

        def bytes_schema(self, schema: Any) -> Any:
            return dict(_BINARY)

        def timedelta_schema(self, schema: Any) -> Any:
            return dict(_SECONDS)

        def decimal_schema(self, schema: Any) -> Any:
            return {"type": "string"}

        time_schema = decimal_schema

        def ser_schema(self, schema: Any) -> Any:
            only_json = str(schema.get("when_used", "")).startswith("json")
            return None if only_json else super().ser_schema(schema)

        def handle_invalid_for_json_schema(self, schema: Any, error_info: str) -> Any:
            return {}

    by_alias = bool(kind.model_config.get("serialize_by_alias"))
    found: Schema = kind.model_json_schema(by_alias, "#/$defs/{model}", AsWritten, "serialization")
    return found


def _renamed(schema: Schema, names: dict[str, str]) -> Schema:
    def renamed(found: re.Match[str]) -> str:
        return f'"{_POINTER}{names.get(found[1], found[1])}"'

    changed: Schema = json.loads(_POINTERS.sub(renamed, dumps(plain(schema), pretty=False)))
    return changed


def _assembled(root: Schema, definitions: dict[str, Schema]) -> Schema:
    """Write in place what is referred to once; the rest goes under ``$defs``."""
    uses: Counter[str] = Counter()
    todo = [root]
    while todo:
        for name in _POINTERS.findall(dumps(plain(todo.pop()), pretty=False)):
            uses[name] += 1
            if uses[name] == 1 and name in definitions:
                todo.append(definitions[name])

    def inlined(node: Schema) -> Schema:
        name = str(node.get("$ref")).removeprefix(_POINTER)
        if uses[name] != 1 or name not in definitions:
            return node
        del node["$ref"]
        return {**read(definitions[name]), **node}

    def read(node: Schema) -> Schema:
        found: Schema = json.loads(dumps(plain(node), pretty=False), object_hook=inlined)
        return found

    shared = {name: read(definitions[name]) for name in definitions if uses[name] > 1}
    return {**read(root), "$defs": shared} if shared else read(root)
