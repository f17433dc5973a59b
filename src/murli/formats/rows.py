"""A pretty document whose rows of a table are a line each, as they were when they were printed.

So `grep`, `head` and `awk` find whole rows in it, and it is a third smaller.
"""

from __future__ import annotations

from . import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

# What stands for a row until the rest is written; nothing that is clean holds a NUL.
_MARK = "\0row"


def dumps_in_rows(document: Any) -> str:
    """Return plain data as pretty JSON text, the rows in its lists on a line each."""
    rows: list[str] = []
    parts = dumps(_marked(document, rows)).split(dumps(_MARK))
    return "".join(part + row for part, row in zip(parts, [*rows, ""], strict=True))


def _marked(value: Any, rows: list[str]) -> Any:
    """Return *value* with a mark in the place of each row; *rows* gets their text."""
    if isinstance(value, dict):
        return {key: _marked(each, rows) for key, each in value.items()}
    if not isinstance(value, list):
        return value
    marked = []
    for each in value:
        if is_row(each):
            rows.append(row_text(each))
            marked.append(_MARK)
        else:
            marked.append(_marked(each, rows))
    return marked


def is_row(value: Any) -> bool:
    """Return whether *value* is an object of scalars, and of lists and objects of scalars."""
    return isinstance(value, dict) and all(
        not any(isinstance(part, (dict, list)) for part in _parts(each)) for each in value.values()
    )


def _parts(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def row_text(row: dict[str, Any]) -> str:
    """Return *row* in one line."""
    fields = (f"{dumps(key)}: {dumps(each, pretty=False)}" for key, each in row.items())
    return f"{{{', '.join(fields)}}}"
