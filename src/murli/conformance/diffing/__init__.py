"""What changed between two saved descriptions of a tool, and which callers it breaks.

`load` finds the document in a file, `compare` returns the changes, `text` and `document` format
them. All are pure functions. Only documents of one kind are compared: ``describe`` with
``describe``, a manifest with one of the same major version.

What counts as breaking is decided from the caller's side. *A valid call must stay valid*: commands,
aliases, flags, short options, negations and variables stay, they accept at least what they did,
nothing more is required, no flag excludes another, nothing becomes more dangerous or less
repeatable. *A promised answer must still come*: exit codes keep number and meaning, and the output
schema allows no more than before (see `schemas`). A change in an output schema that cannot be
decided is breaking, so that it is not overlooked.

A note is a change that breaks no call: another default, an example with another exit code, a flag
that profiles no longer hold, an argument renamed in place, unknown keys. Descriptions, versions and
the order of keys are not compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from typing import Any

from .changes import (
    BREAKING,
    COMPATIBLE,
    NOTE,
    SEVERITIES,
    Change,
    NotADescription,
    in_order,
    printable,
)
from .commands import command_changes, shared_changes
from .documents import load
from .surface import read
from .tool import tool_changes

__all__ = [
    "BREAKING",
    "COMPATIBLE",
    "NOTE",
    "Change",
    "NotADescription",
    "compare",
    "document",
    "load",
    "text",
]

_COUNTED = {
    BREAKING: ("breaking change", "breaking changes"),
    NOTE: ("note", "notes"),
    COMPATIBLE: ("compatible change", "compatible changes"),
}


def compare(old: Mapping[str, Any], new: Mapping[str, Any]) -> tuple[Change, ...]:
    """Return the changes from *old* to *new*, the worst first.

    Raises `NotADescription` for documents that cannot be compared.
    """
    try:
        return in_order(_changes(old, new))
    except RecursionError:
        raise NotADescription("The documents are nested too deeply to be compared.") from None


def _changes(old: Any, new: Any) -> Iterator[Change]:
    before, after = read(old), read(new)
    if before.kind != after.kind:
        kinds = [printable(each.kind) for each in (before, after)]
        raise NotADescription(
            f"The old document is a {kinds[0]}, the new one a {kinds[1]}: they say different "
            "things. Save the same kind from both versions of the tool, under the same contract."
        )
    # One of two manifests may have the name of the tool.
    if not before.name:
        before = read(old, after.name)
    elif not after.name:
        after = read(new, before.name)
    yield from tool_changes(before, after)
    yield from shared_changes(before, after)
    yield from command_changes(before, after)


def text(changes: Iterable[Change]) -> str:
    """Return *changes* as text: a line for each, and a line that counts them."""
    found = list(changes)
    if not found:
        return "No changes."
    lines = [
        f"{each.severity:<10}  {printable(each.command) or 'the tool'}: {each.detail}"
        for each in found
    ]
    return "\n".join([*lines, "", f"{_counted(found)}."])


def _counted(changes: list[Change]) -> str:
    counts = Counter(each.severity for each in changes)
    return ", ".join(
        f"{counts[each]} {_COUNTED[each][counts[each] != 1]}" for each in SEVERITIES if counts[each]
    )


def document(changes: Iterable[Change]) -> dict[str, Any]:
    """Return *changes* as JSON types: the count of each severity, and all changes."""
    found = list(changes)
    counts = Counter(each.severity for each in found)
    return {
        "breaking": counts[BREAKING],
        "notes": counts[NOTE],
        "compatible": counts[COMPATIBLE],
        "changes": [
            {field.name: getattr(each, field.name) for field in fields(each)} for each in found
        ],
    }
