"""Tables that texttable renders."""

from __future__ import annotations

from ..formats import put_over
from .tables import Rendering, remember, table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

    from ..call import Invocation


def hook(invocation: Invocation, module: ModuleType) -> None:
    """Remember what the tables of *module* render."""

    def draw(beneath: Any, self: Any) -> Any:
        text = beneath(self)
        try:
            if text:
                # Values are text as soon as they are in the table.
                header, rows = list(self._header), [list(row) for row in self._rows]
                remember(invocation, Rendering(text, lambda: table(header, rows)))
        except Exception:  # not the attributes that we know
            pass
        return text

    invocation.undo.append(put_over(module.Texttable, "draw", draw))
