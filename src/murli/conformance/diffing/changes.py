"""A change between two descriptions of a tool, and values made fit to be compared and shown."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

#: a call or a reader that was right before may fail now
BREAKING = "breaking"
#: everything still works, but not quite as before: somebody should know
NOTE = "note"
#: nobody who relied on the old document can tell
COMPATIBLE = "compatible"
SEVERITIES = (BREAKING, NOTE, COMPATIBLE)

# How much of a value a sentence shows.
_MOST_SHOWN = 60


class NotADescription(ValueError):
    """What was given cannot be compared; the message says why, and what to do."""


@dataclass(frozen=True, slots=True)
class Change:
    """One difference. *command* is what stands behind the tool's name, ``""`` for the tool itself.

    *subject* is what changed (``--top``, ``exit code 5``, ``result[].score``), *detail* one
    sentence that stands by itself. *before* and *after* are ``None`` where there was nothing.
    """

    kind: str
    severity: str
    command: str
    subject: str
    detail: str
    before: Any = None
    after: Any = None


def in_order(changes: Iterable[Change]) -> tuple[Change, ...]:
    """Return *changes* the worst first, then by command and by what changed; each once."""
    found = {_place(each): each for each in changes}
    return tuple(found[place] for place in sorted(found))


def _place(change: Change) -> tuple[Any, ...]:
    rank = SEVERITIES.index(change.severity)
    words = tuple(change.command.split())
    return rank, words, change.subject, change.kind, change.detail


def canonical(value: Any) -> Any:
    """Return a key that is equal for equal JSON: key order is ignored, ``1`` is ``1.0``, not true.

    It can be a key of a dictionary.
    """
    if isinstance(value, Mapping):
        return ("object", frozenset((key, canonical(each)) for key, each in value.items()))
    if isinstance(value, (list, tuple)):
        return ("array", tuple(map(canonical, value)))
    if isinstance(value, bool) or value is None:
        return ("constant", str(value))
    if isinstance(value, float):
        # What is no number equals nothing, not even itself.
        return ("number", int(value)) if value.is_integer() else ("number", repr(value))
    return ("number" if isinstance(value, int) else "text", value)


def same(one: Any, other: Any) -> bool:
    """Return whether two JSON values mean the same."""
    return bool(canonical(one) == canonical(other))


def shown(value: Any) -> str:
    """Return *value* as a sentence can have it: short, and nothing that a terminal obeys."""
    return "nothing" if value is None else _written(value)


def listed(values: Iterable[Any]) -> str:
    """Return *values* one behind the other."""
    return ", ".join(map(_written, values))


def _written(value: Any) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False)
    except ValueError:  # a number of thousands of digits
        text = "a very long number"
    text = printable(text)
    return text if len(text) <= _MOST_SHOWN else f"{text[: _MOST_SHOWN - 1]}…"


def printable(text: str) -> str:
    """Return *text* with everything spelled out that a terminal would obey or hide."""
    if text.isprintable():
        return text
    return "".join(
        each if each.isprintable() else each.encode("unicode_escape").decode() for each in text
    )
