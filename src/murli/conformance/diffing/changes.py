"""A change between two descriptions of a tool, and how values are compared and printed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

T = TypeVar("T")
#: a call or a reader that worked before may fail now
BREAKING = "breaking"
#: everything still works, but not quite as before
NOTE = "note"
#: no user of the old document notices it
COMPATIBLE = "compatible"
SEVERITIES = (BREAKING, NOTE, COMPATIBLE)

# How much of a value is printed.
_MOST_SHOWN = 60


class NotADescription(ValueError):
    """A document that cannot be compared; the message says why, and what to do."""


@dataclass(frozen=True, slots=True)
class Change:
    """One difference. *command* are the words after the tool's name, ``""`` for the tool itself.

    *subject* is what changed (``--top``, ``exit code 5``, ``result[].score``), *detail* one
    complete sentence. *before* and *after* are ``None`` where there was nothing.
    """

    kind: str
    severity: str
    command: str
    subject: str
    detail: str
    before: Any = None
    after: Any = None


@dataclass(frozen=True, slots=True)
class Subject:
    """What changes are about; *name* is the subject of a `Change`, *start* begins its sentence."""

    command: str
    name: str
    start: str

    def change(
        self, kind: str, severity: str, text: str, before: Any = None, after: Any = None
    ) -> Change:
        """Return a change; *text* is the rest of its sentence."""
        detail = f"{self.start} {text}."
        return Change(kind, severity, self.command, self.name, detail, before, after)


def moved(old: Iterable[T], new: Iterable[T]) -> Iterator[tuple[T, bool]]:
    """Yield each value that only *old* has, with false, then what only *new* has, with true."""
    before, after = ({canonical(each) for each in values} for values in (old, new))
    yield from ((each, False) for each in old if canonical(each) not in after)
    yield from ((each, True) for each in new if canonical(each) not in before)


def in_order(changes: Iterable[Change]) -> tuple[Change, ...]:
    """Return *changes* without duplicates, the worst first, then by command and subject."""
    found = {_place(each): each for each in changes}
    return tuple(found[place] for place in sorted(found))


def _place(change: Change) -> tuple[Any, ...]:
    rank = SEVERITIES.index(change.severity)
    words = tuple(change.command.split())
    return rank, words, change.subject, change.kind, change.detail


def canonical(value: Any) -> Any:
    """Return a hashable key that is the same for equal JSON values.

    The order of keys is ignored, and ``1`` equals ``1.0``, but not true.
    """
    if isinstance(value, Mapping):
        return ("object", frozenset((key, canonical(each)) for key, each in value.items()))
    if isinstance(value, (list, tuple)):
        return ("array", tuple(map(canonical, value)))
    if isinstance(value, bool) or value is None:
        return ("constant", str(value))
    if isinstance(value, float):
        # NaN equals nothing, not even itself.
        return ("number", int(value)) if value.is_integer() else ("number", repr(value))
    return ("number" if isinstance(value, int) else "text", value)


def same(one: Any, other: Any) -> bool:
    """Return whether two JSON values mean the same."""
    return bool(canonical(one) == canonical(other))


def shown(value: Any) -> str:
    """Return *value* for a sentence: truncated, without control characters."""
    return "nothing" if value is None else _written(value)


def listed(values: Iterable[Any]) -> str:
    """Return *values* as one text, separated by commas."""
    return ", ".join(map(_written, values))


def _written(value: Any) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False)
    except ValueError:  # a number with too many digits to convert
        text = "a very long number"
    text = printable(text)
    return text if len(text) <= _MOST_SHOWN else f"{text[: _MOST_SHOWN - 1]}…"


def printable(text: str) -> str:
    """Return *text* with control and invisible characters escaped."""
    if text.isprintable():
        return text
    return "".join(
        each if each.isprintable() else each.encode("unicode_escape").decode() for each in text
    )
