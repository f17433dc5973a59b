"""How much things take of what a reader counts, and what to leave out so that they take less."""

from __future__ import annotations

from ..formats import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from ..answer import Reply
    from ..answer.paging import Part
    from ..contracts import Facts
    from ..outcome import Outcome
    from .caps import Measure

    Step = str | int

# How many values are left out one by one before all of it is.
MOST_LEFT_OUT = 16
# A value of fewer bytes is not worth leaving out.
_LEAST = 64


def size_on_wire(reply: Reply, outcome: Outcome, facts: Facts, measure: Measure) -> int:
    """Return how much an answer would be."""
    return measure.of(f"{reply.text_of(reply.render(outcome, facts))}\n")


def is_surely_below(most: int, *values: Any) -> bool:
    """Return whether *values* take fewer bytes than *most* however they are spelled.

    A quick look that saves the exact one; it may say no where a yes would be right.
    """
    return _left(list(values), 3, most) > 0


def _left(value: Any, depth: int, most: int) -> int:
    """Return what *value* at that *depth* leaves of *most*, or something below 0."""
    if isinstance(value, str):
        return most - 6 * len(value) - 8  # six is the longest escape
    if isinstance(value, (dict, list)):
        children = value.items() if isinstance(value, dict) else ((None, each) for each in value)
        most -= 4 + 2 * depth
        for key, child in children:
            most = _left(child, depth + 1, most - 2 * depth - 8 - 6 * len(key or ""))
            if most < 0:
                break
        return most
    return most - (32 if not isinstance(value, int) else 8 + value.bit_length() // 3)


def size_of(value: Any) -> int:
    """Return how many bytes *value* takes on one line."""
    return len(dumps(value, pretty=False).encode("utf-8", "surrogatepass"))


def piece_sizes(part: Part, reply: Reply, measure: Measure) -> Iterator[int]:
    """Return about how much each piece of *part* adds to an answer."""
    if part.is_text:
        return (measure.of_value(line) for line in part.pieces)
    if reply.one_line:
        return (measure.of_value(item) + 1 for item in part.pieces)
    if reply.format == "tsv":
        from ..formats import tsv

        return (measure.of(f"{tsv.row_text(item)}\n") for item in part.pieces)
    if reply.format == "toon":
        from . import toon

        return (measure.of(f"{toon.row_text(item)}\n") for item in part.pieces)
    depth = 2 if part.frame is None else 3
    if not reply.has_rows:
        return (measure.of(_indented(dumps(item), depth)) for item in part.pieces)
    from ..formats.rows import is_row, row_text

    texts = (row_text(item) if is_row(item) else dumps(item) for item in part.pieces)
    return (measure.of(_indented(text, depth)) for text in texts)


def _indented(text: str, depth: int) -> str:
    """Return *text* as it stands in a list at that *depth*."""
    space = "  " * depth
    return f"{space}{text},\n".replace("\n", f"\n{space}", text.count("\n"))


def how_many_fit(sizes: Iterable[int], room: int) -> int:
    """Return how many of these *sizes*, from the first on, *room* has place for."""
    count = 0
    for size in sizes:
        room -= size
        if room < 0:
            break
        count += 1
    return count


class LeftOut:
    """A value that is missing where it was: its *field*, and its *size* in bytes."""

    __slots__ = ("field", "size")

    def __init__(self, field: str, size: int) -> None:
        self.field = field
        self.size = size


def leave_out(
    value: Any, excess_of: Callable[[Any, list[LeftOut]], int], measure: Measure
) -> tuple[Any, list[LeftOut]] | None:
    """Return *value* with ``None`` in place of as little as possible, so that nothing is too much.

    *excess_of* returns by how much a value is too large, given what was left out of it. No
    value is ever shortened. ``None`` when not even leaving out all of it helps.
    """
    whole, left_out = value, list[LeftOut]()
    for _ in range(MOST_LEFT_OUT):
        excess = excess_of(value, left_out)
        if excess <= 0:
            return value, left_out
        way = _heaviest(value, excess, measure)
        if not way:
            break
        size = size_of(_at(value, way))
        if size < _LEAST:
            break
        value = _without(value, way)
        left_out = [*left_out, LeftOut(spelled(way), size)]
    everything = [LeftOut("", size_of(whole))]
    return (None, everything) if excess_of(None, everything) <= 0 else None


def _heaviest(value: Any, excess: int, measure: Measure) -> list[Step]:
    """Return the path to the smallest value whose absence saves *excess*, or the largest."""
    nothing = measure.of_value(None)
    way: list[Step] = []
    node = value
    while isinstance(node, (dict, list)) and node:
        children = list(node.items() if isinstance(node, dict) else enumerate(node))
        step, size = max(
            ((key, measure.of_value(child)) for key, child in children),
            key=lambda found: found[1],
        )
        if size - nothing < excess:
            # Not enough by itself; at the top it is a beginning, below it takes the whole node.
            return way or [step]
        way.append(step)
        node = node[step]
    return way


def _at(value: Any, way: list[Step]) -> Any:
    for step in way:
        value = value[step]
    return value


def _without(value: Any, way: list[Step]) -> Any:
    """Return a copy of *value* with ``None`` at the end of *way*."""
    if not way:
        return None
    copy = value.copy()
    copy[way[0]] = _without(value[way[0]], way[1:])
    return copy


def spelled(way: Iterable[Step]) -> str:
    """Return a way into a value as people write it: ``items[3].name``."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in way)
    return text.removeprefix(".")
