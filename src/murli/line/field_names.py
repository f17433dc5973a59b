"""Which key of a result a caller means: a heading is ``Order Id``, they type ``order_id``."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_IGNORED = str.maketrans("", "", " _-")


def folded(name: str) -> str:
    """Return *name* without what does not distinguish names: case, spaces, dashes, underscores."""
    return name.casefold().translate(_IGNORED)


def key_in(keys: Iterable[str], name: str) -> str | None:
    """Return the one of *keys* that *name* is, or else the only one that it is when folded."""
    if name in keys:
        return name
    wanted = folded(name)
    alike = [key for key in keys if folded(key) == wanted] if wanted else []
    return alike[0] if len(alike) == 1 else None
