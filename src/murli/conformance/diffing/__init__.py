"""What changed between two saved descriptions of a tool, and whom it breaks.

`load` finds the document in a file, `compare` tells the changes, `text` and `document` show them.
All are pure functions. Only like is compared with like: ``describe`` with ``describe``, a manifest
with one of the same major version.

What counts as breaking is judged from the caller's side. *A call that was right must stay right*:
commands, aliases, flags, short options, negations and variables stay, what they take does not
shrink, nothing more must be given, no flag excludes another, nothing becomes more dangerous or less
repeatable. *An answer that was promised must still come*: exit codes keep number and meaning, and
the output schema allows no more than before (see `schemas`). What cannot be judged in an
output schema is breaking, so that nobody overlooks it.

A note is what changes a tool without breaking a call: another default, an example that ends
otherwise, a flag that profiles no longer hold, an argument with another name in the same place,
anything in keys that no rule knows. Words for people, versions and the order of keys are nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
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
    """Return what changed from *old* to *new*, the worst first.

    Raise `NotADescription` for what cannot be compared.
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
    # One manifest may show the name of the tool where the other does not.
    if not before.name:
        before = read(old, after.name)
    elif not after.name:
        after = read(new, before.name)
    yield from tool_changes(before, after)
    yield from shared_changes(before, after)
    yield from command_changes(before, after)


def text(changes: Iterable[Change]) -> str:
    """Return *changes* for people: a line each, and a line that counts them."""
    found = list(changes)
    if not found:
        return "No changes."
    lines = [
        f"{each.severity:<10}  {printable(each.command) or 'the tool'}: {each.detail}"
        for each in found
    ]
    return "\n".join([*lines, "", f"{_counted(found)}."])


def _counted(changes: list[Change]) -> str:
    counts = {severity: _count(changes, severity) for severity in SEVERITIES}
    return ", ".join(
        f"{count} {_COUNTED[severity][count != 1]}" for severity, count in counts.items() if count
    )


def _count(changes: list[Change], severity: str) -> int:
    return sum(1 for each in changes if each.severity == severity)


def document(changes: Iterable[Change]) -> dict[str, Any]:
    """Return *changes* as plain data: how many of each severity, and all of them."""
    found = list(changes)
    return {
        "breaking": _count(found, BREAKING),
        "notes": _count(found, NOTE),
        "compatible": _count(found, COMPATIBLE),
        "changes": [
            {
                "kind": each.kind,
                "severity": each.severity,
                "command": each.command,
                "subject": each.subject,
                "detail": each.detail,
                "before": each.before,
                "after": each.after,
            }
            for each in found
        ],
    }
