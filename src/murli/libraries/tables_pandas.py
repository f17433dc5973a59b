"""Frames of pandas as they are printed."""

from __future__ import annotations

from ..formats import put_over
from .tables import Rendering, as_shown, remember, table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

    from ..call import Invocation

# A frame of more rows that is shown in part is answered as it is shown.
_MOST_ROWS = 1000


def hook(invocation: Invocation, module: ModuleType) -> None:
    """Remember the text of frames, which `repr` is made of as well."""

    def to_string(beneath: Any, self: Any, *args: Any, **named: Any) -> Any:
        text = beneath(self, *args, **named)
        try:
            if isinstance(text, str) and not (len(self) > _MOST_ROWS > text.count("\n")):
                found = _read(self, *args[1:2], **named)
                remember(invocation, Rendering(text, lambda: table(**found)))
        except Exception:  # not the frame that we know
            pass
        return text

    invocation.undo.append(put_over(module.DataFrame, "to_string", to_string))


def _read(
    frame: Any, columns: Any = None, *, index: bool = True, header: Any = True, **_: Any
) -> dict[str, Any]:
    """Return the arguments of `table` for *frame*, shown with those of ``to_string``."""
    shown = frame if columns is None else frame[columns]
    names = [_label(each) for each in shown.columns]
    values = [shown.iloc[:, number].tolist() for number in range(len(names))]
    if isinstance(header, (list, tuple)):
        names = list(header)
    elif not header:
        names = [""] * len(names)
    if index and not _is_default(frame.index):
        levels = range(frame.index.nlevels)
        values = [*(frame.index.get_level_values(each).tolist() for each in levels), *values]
        names = [*_index_names(frame.index), *names]
    return {"names": names, "rows": as_shown(zip(*values, strict=True))}


def _is_default(index: Any) -> bool:
    numbers = type(index).__name__ == "RangeIndex" and index.name is None
    return numbers and (index.start, index.step) == (0, 1)


def _index_names(index: Any) -> list[str]:
    if index.nlevels == 1:
        return [_label(index.name) if index.name is not None else "index"]
    return [
        _label(name) if name is not None else f"level_{number}"
        for number, name in enumerate(index.names)
    ]


def _label(name: Any) -> str:
    return ".".join(map(str, name)) if isinstance(name, tuple) else str(name)
