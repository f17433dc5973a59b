"""Types of flags and arguments, in the words of any language, and which accepts which."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ...wire.values import object_in, text_in
from .changes import BREAKING, COMPATIBLE, NOTE

_KINDS = {
    **dict.fromkeys(("bool", "boolean"), "boolean"),
    **dict.fromkeys(("decimal", "double", "float", "float32", "float64", "number"), "number"),
    **dict.fromkeys(("enum", "choice", "file", "path", "str", "string", "text"), "text"),
    "integer": "integer",
}
_WHOLE = re.compile(r"(u?)int(8|16|32|64)?")
#: kinds that take no value on a command line
_BARE = ("boolean", "count")


@dataclass(frozen=True, slots=True)
class Type:
    """The type of a value: *kind* is the word itself if it is unknown, ``""`` if there is none.

    *many* is whether it may be repeated; *split* the separator of several values in one word, where
    that is known. *bits* is the size of an integer, negative if it is unsigned. *word* is the
    word in the document.
    """

    kind: str = ""
    many: bool = False
    split: str = ""
    bits: int = 0
    word: str = field(default="", compare=False)


#: nothing is declared
UNDECLARED = Type()


def type_of(entry: Mapping[str, Any]) -> Type:
    """Return the type of the *entry* of a flag or argument."""
    word = entry.get("type")
    if not isinstance(word, str) or not word:
        return UNDECLARED
    written, many, split = word, entry.get("variadic") is True, ""
    if many:
        written += " ..."
    if word.startswith("[]"):
        many, word = True, word[2:]
    elif word.endswith("Slice"):  # in cobra a Slice is split at commas, an Array is not
        many, split, word = True, "commas", word.removesuffix("Slice")
    elif word.endswith("Array"):
        many, split, word = True, "nothing", word.removesuffix("Array")
    elif word == "array":
        items = object_in(object_in(entry.get("schema")).get("items"))
        many, word = True, text_in(items.get("type")) or "string"
        written = f"array of {word}"
    whole = _WHOLE.fullmatch(word.lower())
    if whole:
        bits = int(whole[2] or 64)
        return Type("integer", many, split, -bits if whole[1] else bits, written)
    return Type(_KINDS.get(word.lower(), word), many, split, word=written)


def type_change(old: Type, new: Type) -> tuple[str, str] | None:
    """Return the severity of a change from *old* to *new* and a sentence, or ``None``."""
    if old == new:
        return None
    if not old.kind or not new.kind:
        return NOTE, "only one of the documents tells its type"
    if old.many and not new.many:
        return BREAKING, "it can no longer be given several times"
    if old.split and new.split and old.split != new.split:
        return (
            BREAKING,
            f"several values in one word were separated by {old.split}, now {new.split}",
        )
    found = _kind_change(old, new)
    if found is not None or old.many == new.many:
        return found
    return COMPATIBLE, "it can be given several times now"


def _kind_change(old: Type, new: Type) -> tuple[str, str] | None:
    was, now = old.kind, new.kind
    if was == now:
        if was != "integer" or old.bits == new.bits:
            return None
        wider = _holds(new.bits, old.bits)
        was, now = _sized(old), _sized(new)
    else:
        wider = (was, now) == ("integer", "number") or (now == "text" and was not in _BARE)
    return (COMPATIBLE if wider else BREAKING), f"it was {was}, it is {now}"


def _holds(new: int, old: int) -> bool:
    """Return whether an integer of *new* bits holds every integer of *old* bits."""
    if new == 0 or old == 0:
        return new == 0
    if new < 0:
        return old < 0 and new <= old
    return new > -old if old < 0 else new >= old


def _sized(kind: Type) -> str:
    if not kind.bits:
        return "an integer of any size"
    return f"an {'un' * (kind.bits < 0)}signed integer of {abs(kind.bits)} bits"
