"""Tables that tabulate renders.

A tool has its function under a name of its own, so what is hooked are the two beneath: the one
that makes rows of any data, and the one that makes the text of them.
"""

from __future__ import annotations

from _thread import _local

from ..formats import put_over
from .tables import Rendering, as_shown, remember, table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

    from ..call import Invocation

# What is text for another program, and no table to look at.
_MARKUP = ("<", "\\begin", "{|")
_SEPARATING_LINE = "\001"


def hook(invocation: Invocation, module: ModuleType) -> None:
    """Remember what *module* renders."""
    latest = _local()

    def normalize(beneath: Any, *args: Any, **named: Any) -> Any:
        found = beneath(*args, **named)
        try:
            rows, headers = found[:2]
            latest.table = list(headers), as_shown(rows)
        except Exception:  # it returns something else now
            latest.table = None
        return found

    def format_table(beneath: Any, *args: Any, **named: Any) -> Any:
        text = beneath(*args, **named)
        found, latest.table = getattr(latest, "table", None), None
        if found is not None and isinstance(text, str) and not text.startswith(_MARKUP):
            remember(invocation, Rendering(text, lambda: _read(*found)))
        return text

    invocation.undo.append(put_over(module, "_format_table", format_table))
    invocation.undo.append(put_over(module, "_normalize_tabular_data", normalize))


def _read(headers: list[Any], rows: list[list[Any]]) -> dict[str, Any]:
    return table(headers, (row for row in rows if not _is_separating(row)))


def _is_separating(row: list[Any]) -> bool:
    return any(isinstance(each, str) and each == _SEPARATING_LINE for each in row[:2])
