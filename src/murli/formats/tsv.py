r"""Plain data as tab-separated values: a header, and one line for each item.

What is not a list is lines of a key and its value, a text of several lines a list of them.
In a cell ``\t``, ``\n``, ``\r`` and ``\\`` stand
for a tab, line breaks and a backslash; what is nested is JSON in one line; null is an empty cell.
"""

from __future__ import annotations

from . import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})
# The column of what has no name of its own.
VALUE = "value"


def render(value: Any) -> str:
    """Return *value* as lines, without a line break at the end."""
    if value is None:
        return ""
    if isinstance(value, dict) and value.keys() == {"lines"} and isinstance(value["lines"], list):
        value = value["lines"]  # a text
    if isinstance(value, dict):
        return "\n".join(f"{_escaped(key)}\t{_cell(each)}" for key, each in value.items())
    items = value if isinstance(value, list) else [value]
    rows = [item if isinstance(item, dict) else {VALUE: item} for item in items]
    names = list(dict.fromkeys(name for row in rows for name in row))
    if not names:
        return ""
    lines = ["\t".join(map(_escaped, names))]
    lines += ["\t".join(_cell(row.get(name)) for name in names) for row in rows]
    return "\n".join(lines)


def row_text(item: Any) -> str:
    """Return the line of *item*, but for the columns only others have."""
    cells = item.values() if isinstance(item, dict) else [item]
    return "\t".join(map(_cell, cells))


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return _escaped(value if isinstance(value, str) else dumps(value, pretty=False))


def _escaped(text: str) -> str:
    return text.translate(_ESCAPES)
