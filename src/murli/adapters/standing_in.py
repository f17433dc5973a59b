"""Something of ours in the place of an attribute, for as long as a call takes."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def stand_in(holder: Any, name: str, ours: Any) -> Callable[[], None]:
    """Put *ours* in the place of an attribute; return what takes it back."""
    missing = object()
    before = holder.__dict__.get(name, missing)
    setattr(holder, name, ours)

    def undo() -> None:
        if before is missing:
            delattr(holder, name)
        else:
            setattr(holder, name, before)

    return undo
