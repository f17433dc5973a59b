"""Which part of a list an answer holds: found in the result, put in order, taken out of it."""

from __future__ import annotations

from ..formats import dumps, plain
from ..formats.text import TextWithTables

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ..compact.caps import Measure


class Part:
    """A stretch of what a result is made of: items of a list, or lines of a text.

    *start* is how many come before it, *total* how many there are, where somebody has counted;
    *more* is whether some come behind it. *frame* is the object the list stands in under *key*,
    if it does not stand for itself; *table* that of which they are the rows, if it is the only one
    there.
    """

    __slots__ = ("frame", "is_text", "key", "more", "pieces", "start", "table", "total")

    def __init__(
        self,
        pieces: list[Any],
        start: int = 0,
        total: int | None = None,
        *,
        more: bool = False,
        frame: dict[str, Any] | None = None,
        key: str = "",
        is_text: bool = False,
        table: dict[str, Any] | None = None,
    ) -> None:
        self.table = table
        self.pieces = pieces
        self.start = start
        self.total = total
        self.more = more
        self.frame = frame
        self.key = key
        self.is_text = is_text

    def holding(self, pieces: list[Any]) -> Any:
        """Return the result with exactly these *pieces* in it."""
        if self.is_text:
            return "\n".join(pieces)
        if self.table is not None:
            pieces = [{**self.table, "rows": pieces}]
        return pieces if self.frame is None else {**self.frame, self.key: pieces}

    @property
    def result(self) -> Any:
        """The result with the pieces of this part in it."""
        return self.holding(self.pieces)

    @property
    def end(self) -> int:
        """How many come before what is behind it."""
        return self.start + len(self.pieces)

    def first(self, count: int) -> Part:
        """Return the part of the first *count* of its pieces."""
        if count >= len(self.pieces):
            return self
        return self.replaced(self.pieces[:count], more=True)

    def replaced(self, pieces: list[Any], *, more: bool | None = None) -> Part:
        """Return the same part with other *pieces*."""
        return Part(
            pieces,
            self.start,
            self.total,
            more=self.more if more is None else more,
            frame=self.frame,
            key=self.key,
            is_text=self.is_text,
            table=self.table,
        )

    def between(self, start: int, limit: int | None) -> Part:
        """Return the part from *start* on, of at most *limit* pieces; ``None`` and 0 for all."""
        stop = start + limit if limit else len(self.pieces)
        found = self.replaced(self.pieces[start:stop], more=stop < len(self.pieces))
        found.start = start
        return found


def list_in(result: Any, *, inside: bool) -> Part | None:
    """Return the list that *result* is; *inside* an object too, if it is the only one there."""
    if isinstance(result, list):
        return Part(result, 0, len(result))
    if isinstance(result, TextWithTables) and len(result.get("tables", ())) == 1:
        table = result["tables"][0]
        rows = table["rows"]
        return Part(rows, 0, len(rows), frame=result, key="tables", table=table)
    if inside and isinstance(result, dict):
        keys = [key for key, value in result.items() if isinstance(value, list)]
        if len(keys) == 1:
            items = result[keys[0]]
            return Part(items, 0, len(items), frame=result, key=keys[0])
    return None


def divided_in(result: Any) -> Part | None:
    """Return the parts that a result may be divided into though nobody called it a list."""
    return lines_of(result) if isinstance(result, str) else list_in(result, inside=True)


def lines_of(text: str) -> Part:
    """Return *text* as the lines it is made of."""
    lines = text.split("\n")
    return Part(list(lines), 0, len(lines), is_text=True)


def in_order(items: list[Any], sort_key: str) -> list[Any]:
    """Return *items* by the field *sort_key*, dots for nesting; those without it come last."""
    way = sort_key.split(".")
    return sorted(items, key=lambda item: _rank(_at(item, way)))


def _at(value: Any, way: Sequence[str]) -> Any:
    for name in way:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _rank(value: Any) -> tuple[int, Any]:
    """Return what to compare: values of one kind with each other, the kinds in a fixed order."""
    if value is None:
        return 4, 0
    if isinstance(value, bool):
        return 0, value
    if isinstance(value, (int, float)):
        return 1, value
    return (2, value) if isinstance(value, str) else (3, dumps(value, pretty=False))


class Drawing:
    """What one answer holds of an iteration: no more is made of it than is going to be said.

    With neither a *limit* nor a *measure* of what fits it takes everything.
    """

    def __init__(self, start: int, limit: int | None, measure: Measure | None) -> None:
        self.items: list[Any] = []
        self._start = start
        self._limit = limit
        self._measure = None if limit else measure
        self._cap = 0 if self._measure is None else self._measure.cap
        self._skipped = self._size = 0
        self._more = False

    def put(self, item: Any) -> bool:
        """Take *item*, if it belongs to the answer; return whether that was enough."""
        if self._skipped < self._start:
            self._skipped += 1
        elif (self._limit and len(self.items) >= self._limit) or self._size > self._cap > 0:
            self._more = True
        else:
            self.items.append(item)
            self._size += self._least_size(item)
        return self._more

    def _least_size(self, item: Any) -> int:
        if self._measure is None:
            return 0
        try:
            return self._measure.of_value(plain(item))
        except ValueError:  # what is wrong with it is reported when the answer is made
            return 0

    def part_of(self, items: list[Any]) -> Part | None:
        """Return *items* as the part they are; ``None`` when they are not what was taken."""
        if len(items) != len(self.items):
            return None
        total = None if self._more else self._skipped + len(items)
        return Part(items, self._skipped, total, more=self._more)
