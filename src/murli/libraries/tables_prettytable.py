"""Tables that prettytable renders."""

from __future__ import annotations

from _thread import _local

from ..formats import put_over
from .tables import Rendering, as_shown, remember, table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

    from ..call import Invocation


def hook(invocation: Invocation, module: ModuleType) -> None:
    """Remember what the tables of *module* render."""
    latest = _local()

    def get_rows(beneath: Any, self: Any, options: Any) -> Any:
        rows = beneath(self, options)
        latest.table = options, rows  # those that are shown, in the order they are
        return rows

    def get_string(beneath: Any, self: Any, *args: Any, **named: Any) -> Any:
        latest.table = None
        text = beneath(self, *args, **named)
        try:
            if latest.table is not None and text:
                options, rows = latest.table
                found = _read(self, options, rows)
                remember(invocation, Rendering(text, lambda: table(**found)))
        except Exception:  # not the attributes that we know
            pass
        return text

    invocation.undo.append(put_over(module.PrettyTable, "_get_rows", get_rows))
    invocation.undo.append(put_over(module.PrettyTable, "get_string", get_string))


def _read(self: Any, options: Any, rows: Any) -> dict[str, Any]:
    names = list(self.field_names)
    shown = options["fields"] or names
    numbers = [number for number, name in enumerate(names) if name in shown]
    return {
        "names": [names[number] for number in numbers] if options["header"] else (),
        "rows": as_shown([row[number] for number in numbers] for row in rows),
        "title": str(options["title"] or ""),
    }
