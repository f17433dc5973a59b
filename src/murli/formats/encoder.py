"""The one encoder: any Python value to plain JSON data, and plain JSON data to text.

`plain` is where foreign types and hostile values are dealt with; it either gives data that
`dumps` can write, or raises `EncodingError` saying where the trouble is. What is known:

==============================  ==========================================================
Python                          JSON
==============================  ==========================================================
str, int, float, bool, None     themselves; text is cleaned, NaN and infinities are refused
dict and mappings               object in the caller's order
list, tuple, iterators, range   array
set, frozenset                  array, sorted so that the bytes are stable
Enum                            its value
date, datetime, time            ISO 8601 text
timedelta                       seconds
Path, UUID                      text
Decimal                         text, so that no digit is lost
bytes                           ``{"type": "binary", "encoding": "base64", …}``
dataclass, attrs, namedtuple,   object of its fields
msgspec, pydantic-like
numpy-like                      what ``tolist()`` gives
==============================  ==========================================================
"""

from __future__ import annotations

from .text import clean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from ..errors import EncodingError

# jq, the reader agents use most, stops at 256 levels; the envelope needs a few of them.
MAX_DEPTH = 240
# Python's own readers refuse integers of more than 4300 digits.
MAX_INT_BITS = 14_280

_INFINITY = float("inf")


def plain(value: object) -> Any:
    """Turn *value* into dicts with text keys, lists, text, numbers, booleans and ``None``.

    Raises `EncodingError`, and nothing else, when there is no JSON form.
    """
    return _Plainer().convert(value, 0)


def dumps(data: Any, *, pretty: bool = True) -> str:
    """Write plain data as JSON text: two spaces of indent, or one line without spaces."""
    parts: list[str] = []
    if pretty:
        _write_pretty(data, parts.append, "\n")
    else:
        _write_compact(data, parts.append)
    return "".join(parts)


class _Plainer:
    """One conversion: remembers the way to the current value and the containers on it."""

    __slots__ = ("open", "way")

    def __init__(self) -> None:
        self.way: list[str | int] = []
        self.open: set[int] = set()

    def convert(self, value: Any, depth: int) -> Any:
        kind = type(value)
        if kind is str:
            return value if value.isprintable() else clean(value)
        if kind is bool or value is None:
            return value
        if kind is int:
            return self.integer(value)
        if kind is float:
            return self.number(value)
        if depth > MAX_DEPTH:
            raise self.trouble(f"nested deeper than {MAX_DEPTH} levels", "Flatten it.")
        if id(value) in self.open:
            raise self.trouble("contains itself", "Return a copy without the cycle.")
        self.open.add(id(value))
        try:
            if kind is dict:
                return self.object(value, depth)
            if kind is list or kind is tuple:
                return self.array(value, depth)
            return self.foreign(value, depth)
        finally:
            self.open.discard(id(value))

    def integer(self, value: int) -> int:
        if value.bit_length() > MAX_INT_BITS:
            raise self.trouble("is an integer of more than 4300 digits", "Return it as text.")
        return value

    def number(self, value: float) -> float:
        if value != value or value in (_INFINITY, -_INFINITY):
            name = "NaN" if value != value else "infinity"
            raise self.trouble(f"is {name}, which JSON cannot hold", "Return null or text instead.")
        return value

    def array(self, values: Iterable[Any], depth: int) -> list[Any]:
        items: list[Any] = []
        way = self.way
        way.append(0)
        for index, value in enumerate(values):
            way[-1] = index
            items.append(self.convert(value, depth + 1))
        way.pop()
        return items

    def object(self, mapping: Any, depth: int) -> dict[str, Any]:
        fields: dict[str, Any] = {}
        way = self.way
        way.append("")
        for name, value in mapping.items():
            key = name if type(name) is str and name.isprintable() else self.key(name)
            way[-1] = key
            if key in fields:
                raise self.trouble("is a key that occurs twice once written as JSON text", "")
            fields[key] = self.convert(value, depth + 1)
        way.pop()
        return fields

    def key(self, name: Any) -> str:
        if name is None or name is True or name is False:
            return {None: "null", True: "true", False: "false"}[name]
        if isinstance(name, (str, int, float)) or _knows_text(name):
            text = self.convert(name, 0)
            return text if isinstance(text, str) else _scalar(text)
        raise self.trouble(f"has a key of type {type(name).__name__}", "Use text keys.")

    def foreign(self, value: Any, depth: int) -> Any:
        """Convert what is not a plain type; what its own code raises is trouble, not a crash."""
        try:
            return self.known(value, depth)
        except Exception as error:  # the value's own code, which may raise anything
            from ..errors import EncodingError

            if isinstance(error, EncodingError):
                raise
            told = f"{type(error).__name__} while it was read"
            raise self.trouble(f"({_name(value)}) raised {told}", "") from error

    def known(self, value: Any, depth: int) -> Any:
        from enum import Enum  # loaded by re, hence by argparse, already

        if isinstance(value, Enum):
            return self.convert(value.value, depth + 1)
        if isinstance(value, str):
            return clean(str.__str__(value))
        if isinstance(value, int):
            return self.integer(int.__int__(value))
        if isinstance(value, float):
            return self.number(float.__float__(value))
        if isinstance(value, tuple) and hasattr(value, "_asdict"):
            return self.object(value._asdict(), depth)
        if isinstance(value, dict):
            return self.object(value, depth)
        if isinstance(value, (list, tuple, range)):
            return self.array(value, depth)
        if isinstance(value, (set, frozenset)):
            return _stable(self.array(value, depth))
        if isinstance(value, (bytes, bytearray, memoryview)):
            return _binary(bytes(value))
        names = _field_names(value)
        if names is not None:
            return self.object({name: getattr(value, name) for name in names}, depth)
        if callable(getattr(value, "model_dump", None)) and not isinstance(value, type):
            return self.convert(value.model_dump(), depth + 1)
        text = _text_of(value)
        if text is not None:
            return self.convert(text, depth + 1)
        if hasattr(value, "tolist") and hasattr(value, "dtype"):
            return self.convert(value.tolist(), depth + 1)
        if callable(getattr(value, "keys", None)) and hasattr(value, "__getitem__"):
            return self.object({name: value[name] for name in list(value.keys())}, depth)
        if hasattr(value, "__next__") or _is_plain_collection(value):
            return self.array(value, depth)
        raise self.trouble(
            f"is a {_name(value)}, which has no JSON form",
            "Return a dict, a list, text, a number, a dataclass or an object with model_dump().",
        )

    def trouble(self, what: str, advice: str) -> EncodingError:
        where = "".join(
            f"[{step}]" if isinstance(step, int) else f".{step}" for step in self.way[:12]
        )
        if len(self.way) > 12:
            where += "…"
        from ..errors import EncodingError

        told = f"The result cannot be written as JSON: ${where} {what}. {advice}"
        return EncodingError(told.strip())


def _name(value: object) -> str:
    return type(value).__qualname__


def _field_names(value: Any) -> Iterable[str] | None:
    kind = type(value)
    for marker in ("__dataclass_fields__", "__struct_fields__"):
        names = getattr(kind, marker, None)
        if names is not None:
            # A dataclass also lists its ClassVar pseudo-fields; those carry another marker.
            return [
                name
                for name in names
                if not isinstance(names, dict)
                or getattr(names[name], "_field_type", None) is None
                or names[name]._field_type.name == "_FIELD"
            ]
    attributes = getattr(kind, "__attrs_attrs__", None)
    return None if attributes is None else [attribute.name for attribute in attributes]


def _knows_text(value: object) -> bool:
    from enum import Enum

    return isinstance(value, Enum) or _text_of(value) is not None


def _text_of(value: Any) -> str | float | None:
    """Give the text of a date, a path, a UUID or a Decimal without importing their modules."""
    for base in type(value).__mro__:
        place = f"{base.__module__}.{base.__qualname__}"
        if place in ("datetime.datetime", "datetime.date", "datetime.time"):
            return str(value.isoformat())
        if place == "datetime.timedelta":
            return float(value.total_seconds())
        if place == "uuid.UUID":
            return str(value)
        if place in ("decimal.Decimal", "_pydecimal.Decimal"):
            return str(value) if value.is_finite() else float("nan")
    if hasattr(type(value), "__fspath__"):
        import os

        return os.fsdecode(os.fspath(value))
    return None


def _is_plain_collection(value: Any) -> bool:
    place = type(value).__module__
    return place in ("builtins", "collections", "array") and hasattr(value, "__iter__")


def _binary(data: bytes) -> dict[str, object]:
    from binascii import b2a_base64

    value = b2a_base64(data, newline=False).decode("ascii")
    return {"type": "binary", "encoding": "base64", "value": value, "size_bytes": len(data)}


def _stable(items: list[Any]) -> list[Any]:
    try:
        return sorted(items)
    except TypeError:  # values of several kinds have no order of their own; their text has
        return sorted(items, key=lambda item: dumps(item, pretty=False))


def _quote(text: str) -> str:
    if text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    quoted: str = _escape()(text)
    return quoted


_escaper: Any = None


def _escape() -> Any:
    """Give the accelerated quoting of text, loaded when there is text that needs it."""
    global _escaper
    if _escaper is None:
        try:
            from _json import encode_basestring as found
        except ImportError:  # an interpreter without the accelerator
            from json.encoder import encode_basestring as found
        _escaper = found
    return _escaper


def _scalar(value: Any) -> str:
    if value is None:
        return "null"
    if value is True:
        return "true"
    if value is False:
        return "false"
    return float.__repr__(value) if isinstance(value, float) else int.__repr__(value)


def _write_compact(value: Any, write: Any) -> None:
    if isinstance(value, str):
        write(_quote(value))
    elif isinstance(value, dict):
        mark = "{"
        for key, item in value.items():
            write(f"{mark}{_quote(key)}:")
            _write_compact(item, write)
            mark = ","
        write("}" if value else "{}")
    elif isinstance(value, list):
        mark = "["
        for item in value:
            write(mark)
            _write_compact(item, write)
            mark = ","
        write("]" if value else "[]")
    else:
        write(_scalar(value))


def _write_pretty(value: Any, write: Any, margin: str) -> None:
    if isinstance(value, str):
        write(_quote(value))
    elif isinstance(value, dict) and value:
        inner = margin + "  "
        mark = "{"
        for key, item in value.items():
            write(f"{mark}{inner}{_quote(key)}: ")
            _write_pretty(item, write, inner)
            mark = ","
        write(margin + "}")
    elif isinstance(value, list) and value:
        inner = margin + "  "
        mark = "["
        for item in value:
            write(mark + inner)
            _write_pretty(item, write, inner)
            mark = ","
        write(margin + "]")
    else:
        _write_compact(value, write)
