"""TOON, a compact notation for the data of JSON: answers that take fewer tokens.

Written by the library of the format itself (`toon_format`, the extra ``toon``), which is loaded
with this module. What it writes is read back as the same data, but for the order of the keys in
the rows of one table.
"""

from __future__ import annotations

from toon_format import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def render(value: Any) -> str | None:
    """Return plain data as TOON, without a line end; ``None`` where it is nested too deep."""
    try:
        return dumps(value)
    except ValueError:
        return None


def row_text(item: Any) -> str:
    """Return about what *item* adds to a list of others like it."""
    head, _, rows = (render([item]) or "").partition("\n")
    return f"    {rows}" if rows else head
