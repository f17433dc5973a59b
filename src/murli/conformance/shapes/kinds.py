"""Kinds of values, each a description and a test; which fields of an object do not match.

Nothing here raises, whatever the type of a value.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeGuard

_MOST_SHOWN = 60
Kind = tuple[str, Callable[[Any], bool]]
#: the keys of an object, each with the kind of its value
Fields = Mapping[str, Kind]


def is_whole(value: Any) -> TypeGuard[int]:
    """Return whether *value* is an integer, and not a boolean."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_count(value: Any, least: int = 0) -> TypeGuard[int]:
    """Return whether *value* is an integer of at least *least*."""
    return is_whole(value) and value >= least


def is_text(value: Any) -> bool:
    """Return whether *value* is a text that is not empty."""
    return isinstance(value, str) and bool(value.strip())


def is_code(value: Any) -> bool:
    """Return whether *value* is a code in upper case."""
    return isinstance(value, str) and re.fullmatch(r"[A-Z][A-Z0-9_]+", value) is not None


# -- kinds ---------------------------------------------------------------------------------------

ANYTHING: Kind = ("anything", lambda value: True)
TEXT: Kind = ("a text", lambda value: isinstance(value, str))
WORD: Kind = ("a text that is not empty", is_text)
TRUTH: Kind = ("true or false", lambda value: isinstance(value, bool))
WHOLE: Kind = ("a whole number", is_whole)
COUNT: Kind = ("a whole number, 0 or more", is_count)
POSITIVE: Kind = ("a whole number, 1 or more", lambda value: is_count(value, 1))
NUMBER: Kind = ("a number", lambda value: is_whole(value) or isinstance(value, float))
OBJECT: Kind = ("an object", lambda value: isinstance(value, dict))
LIST: Kind = ("an array", lambda value: isinstance(value, list))
SCHEMA: Kind = ("a schema", lambda value: isinstance(value, (dict, bool)))


def one_of(*values: Any) -> Kind:
    """Return the kind of one of *values*."""
    return (" or ".join(map(str, values)), lambda value: value in list(values))


def matches(pattern: str, words: str) -> Kind:
    """Return the kind of a text that matches *pattern*, described by *words*."""
    compiled = re.compile(pattern)
    return words, lambda value: isinstance(value, str) and compiled.fullmatch(value) is not None


def list_of(kind: Kind, least: int = 0, words: str = "") -> Kind:
    """Return the kind of a list of at least *least* values of *kind*."""
    return (
        words or f"an array, each {kind[0]}",
        lambda value: isinstance(value, list) and len(value) >= least and all(map(kind[1], value)),
    )


def map_of(kind: Kind, words: str = "") -> Kind:
    """Return the kind of an object whose values are of *kind*."""
    return (
        words or f"an object, each {kind[0]}",
        lambda value: isinstance(value, dict) and all(map(kind[1], value.values())),
    )


def or_null(kind: Kind) -> Kind:
    """Return the kind of a value that is null or of *kind*."""
    return f"{kind[0]} or null", lambda value: value is None or kind[1](value)


def closed(required: Fields, optional: Fields | None = None) -> Kind:
    """Return the kind of an object with these keys and no others."""
    return (
        f"an object of {', '.join({**required, **(optional or {})})}",
        lambda value: (
            isinstance(value, dict) and not first(misfits_of(value, required, optional or {}))
        ),
    )


TEXTS = list_of(TEXT, words="a list of texts")
OBJECTS = list_of(OBJECT, words="a list of objects")

# -- in words ------------------------------------------------------------------------------------


def shown(value: Any) -> str:
    """Return *value* printable on any stream, truncated if it is long."""
    if isinstance(value, (dict, list)) and value:
        return "an object" if isinstance(value, dict) else "a list"
    try:
        text = json.dumps(value)
    except ValueError:  # a number with too many digits to convert
        return "a number"
    return text if len(text) <= _MOST_SHOWN else f"{text[: _MOST_SHOWN - 1]}…"


def repr_of(value: Any) -> str:
    """Return *value* as findings about envelopes print it, truncated if it is long."""
    if isinstance(value, (dict, list)):
        return "an object" if isinstance(value, dict) else "an array"
    try:
        text = repr(value)
    except ValueError:  # a number with too many digits to convert
        return "a huge number"
    return text if len(text) <= _MOST_SHOWN else f"{text[: _MOST_SHOWN - 3]}..."


def first(troubles: Iterator[str]) -> str:
    """Return the first of *troubles*, ``""`` if there is none."""
    return next(troubles, "")


def summed_up(troubles: Iterator[str]) -> str:
    """Return the first few of *troubles* in one sentence, ``""`` if there are none."""
    found = list(troubles)
    more = f"; and {len(found) - 3} more" if len(found) > 3 else ""
    return "; ".join(found[:3]) + more


# -- objects of envelopes and manifests ----------------------------------------------------------


def wrong_kinds(value: Mapping[str, Any], fields: Fields, where: str) -> Iterator[str]:
    """Yield which fields of *value* are of the wrong kind."""
    for name, (words, fits) in fields.items():
        if name in value and not fits(value[name]):
            yield f"{where}.{name} is {repr_of(value[name])}, not {words}"


def others_in(value: Mapping[str, Any], known: tuple[str, ...], where: str) -> Iterator[str]:
    """Yield which fields of *value* are not *known*."""
    for name in value:
        if name not in known:
            yield f"{where} has {repr_of(name)}, which has no place there"


def misfits_of(
    value: Mapping[str, Any],
    required: Fields,
    optional: Fields,
    where: str = "it",
    *,
    is_open: bool = False,
) -> Iterator[str]:
    """Yield which fields of *value* are missing, wrong or, unless *is_open*, unknown."""
    for name in required:
        if name not in value:
            yield f"{where} has no {name}"
    fields = {**required, **optional}
    yield from wrong_kinds(value, fields, where)
    if not is_open:
        yield from others_in(value, tuple(fields), where)


# -- objects of murli ----------------------------------------------------------------------------


def misfits(document: Mapping[str, Any], shape: Fields, where: str = "") -> Iterator[str]:
    """Yield sentences about fields of *document* that are missing or wrong; *where* is its place.

    A star marks the required keys of *shape*. A null counts as left out, and other keys are
    allowed.
    """
    for key, (words, fits) in shape.items():
        name = key.removeprefix("*")
        value = document.get(name)
        if (name not in document) if words == ANYTHING[0] else (value is None):
            if key != name:
                yield f"{where}{name} is missing"
        elif not fits(value):
            yield f"{where}{name} is {shown(value)} instead of {words}"
