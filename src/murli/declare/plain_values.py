"""What can be shown of a value in a parser without running, reading or consuming anything.

Defaults and choices are whatever an author put there: a stream, an iterator, an object that asks a
server when it is looked at. Only the types below are looked at, known by their class and read with
the methods of the built-in class, never with those of a subclass. The rest is left out:

* text, numbers, booleans, and members of an ``Enum``
* dates and times, ``Decimal``, ``UUID``, paths
* lists, tuples, sets and dictionaries of those, of up to 100 items
"""

from __future__ import annotations

import sys
from enum import Enum, EnumMeta

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# More are no list to read: a range of ports, say.
MOST_ITEMS = 100
# How many choices are compared with a value that is not among them.
MOST_COMPARED = 10_000
# How many choices of a list that is too long to read are shown as examples.
_EXAMPLES = 3
_MOST_CHARACTERS = 10_000
_MOST_BITS = 4300 * 3
_DEEPEST = 5
# What stands for a standard stream where a file is expected.
STANDARD_STREAM = "-"
_VIEWS = (type(sys.__dict__.keys()), type(sys.__dict__.values()))
_PROXY = type(Enum.__dict__)
# Classes of the standard library whose values are written as text, if their modules are loaded.
_TEXTS = {
    "decimal": ("Decimal",),
    "uuid": ("UUID",),
    "pathlib": ("PosixPath", "WindowsPath", "PurePosixPath", "PureWindowsPath"),
}


class _Unshowable(Exception):
    """A value that is no plain data."""


def shown(value: object) -> Any:
    """Return *value* as plain JSON data, ``None`` where it is not."""
    try:
        return _plain(value, 0)
    except _Unshowable:
        return None


def shown_choices(choices: object, *, by_name: bool = False, most: int = MOST_ITEMS) -> list[str]:
    """Return accepted values as a caller writes them; empty where there is no list of them.

    There is none of more than *most*. Members of an ``Enum`` are written by their values, or
    *by_name*. A set is in another order in every process, and a description must not be: it is
    sorted.
    """
    if choices is None:
        return []
    key = "_name_" if by_name else "_value_"
    try:
        texts = [str(_plain(choice, 0, key)) for choice in _items_of(choices, most)]
    except _Unshowable:
        return []
    return sorted(texts) if issubclass(type(choices), (set, frozenset)) else texts


def choices_metavar(choices: list[str]) -> str:
    """Return what stands for a value whose *choices* are too many to be listed: ``{a|b|c|...}``."""
    return f"{{{'|'.join([*choices[:_EXAMPLES], '...'])}}}" if len(choices) > MOST_ITEMS else ""


def is_standard_stream(value: object) -> bool:
    """Return whether *value* is stdin or stdout themselves, as text or as bytes."""
    for name in ("stdin", "stdout", "__stdin__", "__stdout__"):
        stream = getattr(sys, name, None)
        if stream is not None and (value is stream or value is getattr(stream, "buffer", None)):
            return True
    return False


def _plain(value: Any, depth: int, of_member: str = "_value_") -> Any:
    kind = type(value)  # isinstance() would ask the value what it is
    if value is None or kind is bool:
        return value
    if issubclass(kind, Enum):
        return _plain(object.__getattribute__(value, "__dict__").get(of_member), depth)
    if issubclass(kind, str):
        return _kept(str.__str__(value), str.__len__(value) <= _MOST_CHARACTERS)
    if issubclass(kind, int):
        return _kept(int.__int__(value), int.bit_length(value) <= _MOST_BITS)
    if issubclass(kind, float):
        number = float.__float__(value)
        return _kept(number, number - number == 0)  # neither NaN nor infinite
    if depth > _DEEPEST:
        raise _Unshowable
    if issubclass(kind, dict):
        _kept(value, dict.__len__(value) <= MOST_ITEMS)
        return {_key(name): _plain(each, depth + 1) for name, each in dict.items(value)}
    if issubclass(kind, (list, tuple, set, frozenset)):
        items = [_plain(each, depth + 1) for each in _items_of(value)]
        return sorted(items, key=str) if issubclass(kind, (set, frozenset)) else items
    return _written(value, kind)


def _kept(value: Any, fits: bool) -> Any:
    if not fits:
        raise _Unshowable
    return value


def _key(name: object) -> str:
    data = _plain(name, _DEEPEST + 1)
    return data if isinstance(data, str) else str(data)


def _items_of(value: Any, most: int = MOST_ITEMS) -> list[Any]:
    """Return what is in one of the built-in containers, of at most *most* items."""
    kind = type(value)
    if issubclass(kind, EnumMeta):
        members = type.__getattribute__(value, "_member_map_")
        return [members[name] for name in type.__getattribute__(value, "_member_names_")]
    if kind is _PROXY:
        import gc

        value = gc.get_referents(value)[0]  # its own methods are those of what is behind it
        kind = type(value)
    if kind is range:
        count = (value.stop - value.start) // value.step
        return list(_kept(value, count < most))
    if kind in _VIEWS:
        return list(_kept(value, len(value) <= most))
    for known in (str, list, tuple, set, frozenset, dict):
        if issubclass(kind, known):
            return list(known.__iter__(_kept(value, known.__len__(value) <= most)))
    raise _Unshowable


def _written(value: Any, kind: type) -> Any:
    """Return how a value of the standard library is written."""
    for module, names in _TEXTS.items():
        loaded = sys.modules.get(module)
        if any(kind is getattr(loaded, name, None) for name in names):
            return str(value)
    dates = sys.modules.get("datetime")
    if dates is not None and kind is dates.timedelta:
        return value.total_seconds()
    if dates is not None and kind in (dates.date, dates.datetime, dates.time):
        zone = getattr(value, "tzinfo", None)
        own = zone is not None and type(zone).__module__ not in ("datetime", "zoneinfo")
        return _kept(value, not own).isoformat()
    raise _Unshowable
