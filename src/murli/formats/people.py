"""Plain JSON data as a person likes to read it: tables, aligned fields, one item per line.

=========================  =============================================================
data                       text
=========================  =============================================================
list of objects            a table; blocks of fields when it cannot fit
object                     ``key  value`` lines, what is nested indented below its key
any other list             one item per line; ``(none)`` when empty
text, number               itself
true, false, null          yes, no, nothing
nested in a table's cell   compact JSON
=========================  =============================================================

Texts in a table are shortened to fit; numbers never are, since half a number is a wrong one.
"""

from __future__ import annotations

from . import dumps, is_terminal, put_for_people, text_of
from .plainer import Plainer
from .text import clean_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, Literal

    from . import TextStream

MIN_COLUMN = 8
NOTHING = "(none)"

_GAP = "  "
# Line breaks of any kind, and what turns the direction of the text around it.
_FLAT: dict[int, str | None] = {
    **dict.fromkeys(map(ord, "\n\t\u2028\u2029"), " "),
    **dict.fromkeys([*range(0x202A, 0x202F), *range(0x2066, 0x206A)]),
}
_KEEPING_BREAKS = {**_FLAT, **dict.fromkeys(map(ord, "\n\u2028\u2029"), "\n")}


def render(value: Any, columns: int = 80) -> str:
    """Return plain data as text, without a line break at the end."""
    return "\n".join(_lines(value, columns))


def readable(value: object) -> Any:
    """Return *value* as plain data in which what has no JSON form is text.

    ``None`` for an object that has none as a whole: it is for other Python code.
    """
    try:
        return _Readable("result").convert(value, 0)
    except (ValueError, RecursionError):
        return None


class _Readable(Plainer):
    """A conversion that goes on where a part cannot be converted."""

    __slots__ = ()

    def convert(self, value: Any, depth: int) -> Any:
        """Return *value* as plain data."""
        depth_of_way = len(self.way)
        try:
            return super().convert(value, depth)
        except ValueError:
            if depth == 0:
                raise
            del self.way[depth_of_way:]
            if id(value) in self.open or isinstance(value, (dict, list, tuple)):
                return "…"  # a cycle, or nested too deep
            return text_of(value)


def show(value: Any, stream: TextStream) -> None:
    """Write *value* to *stream*; on a terminal with rich's tables, where rich is installed."""
    put_for_people(stream, drawn(value, stream))


def drawn(value: Any, stream: TextStream) -> str:
    """Return *value* as it is shown on *stream*."""
    columns = _columns_of(stream)
    text = _rich(value, stream, columns) if is_terminal(stream) else None
    return render(value, columns) + "\n" if text is None else text


def table_lines(rows: list[dict[str, Any]], columns: int) -> list[str] | None:
    """Return *rows* as an aligned table with a header, or ``None`` when *columns* are too few."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    cells = [[_cell(row.get(name)) for name in names] for row in rows]
    numeric = [_is_numeric(row.get(name) for row in rows) for name in names]
    lines = [[_flat(name) for name in names], *cells]
    natural = [max(_width(line[index]) for line in lines) for index in range(len(names))]
    least = [
        max(map(_width, (line[index] for line in cells))) if number else MIN_COLUMN
        for index, number in enumerate(numeric)
    ]
    widths = _fitted(natural, least, columns - len(_GAP) * (len(names) - 1))
    if not widths:
        return None
    return [_GAP.join(map(_aligned, line, widths, numeric)).rstrip() for line in lines]


def _lines(value: Any, columns: int, room: int | None = None) -> list[str]:
    """Return the lines of *value*; *room* is what is left of *columns* after the indent."""
    room = columns if room is None else room
    if isinstance(value, dict):
        return _fields(value, columns, room)
    if not isinstance(value, list):
        return _text(value).split("\n")
    if _is_table(value):
        table = table_lines(value, room)
        if table is not None:
            return table
        blocks = [_fields(row, columns, room) for row in value]
        return [line for block in blocks for line in ("", *block)][1:]
    return [_cell(item) for item in value] or [NOTHING]


def _fields(fields: dict[str, Any], columns: int, room: int) -> list[str]:
    names = {name: _flat(name) for name in fields}
    widest = max((_width(name) for name in names.values()), default=0)
    margin = min(widest, max(room // 2, MIN_COLUMN)) + len(_GAP)
    lines = []
    for key, value in fields.items():
        name = names[key]
        beside = _beside(value, columns, room - margin)
        if beside is None:
            lines.append(name)
            lines += [_GAP + line for line in _lines(value, columns, room - len(_GAP))]
        else:
            first = name + " " * max(margin - _width(name), len(_GAP)) + beside[0]
            lines.append(first.rstrip())
            lines += [(" " * margin + line).rstrip() for line in beside[1:]]
    return lines or [NOTHING]


def _beside(value: Any, columns: int, room: int) -> list[str] | None:
    """Return what stands to the right of a key, or ``None`` for what goes below it."""
    if not isinstance(value, (dict, list)):
        return _text(value).split("\n")
    if not value:
        return [NOTHING]
    if isinstance(value, list) and not any(isinstance(item, (dict, list)) for item in value):
        joined = ", ".join(map(_cell, value))
        return [joined] if _width(joined) <= room else None
    # Nested so deep that half of the line is indent: better one line of JSON.
    return [_cell(value)] if room < columns // 2 else None


def _is_table(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(row, dict) for row in value) and any(value)


def _is_numeric(values: Iterable[Any]) -> bool:
    kinds = {type(value) for value in values if value is not None}
    return bool(kinds) and kinds <= {int, float}


def _text(value: Any) -> str:
    if value is None or value is True or value is False:
        return {None: "", True: "yes", False: "no"}[value]
    if isinstance(value, str):
        return clean_line(value).translate(_KEEPING_BREAKS)
    return dumps(value, pretty=False)


def _cell(value: Any) -> str:
    return _flat(_text(value))


def _flat(text: str) -> str:
    return clean_line(text).translate(_FLAT)


def _aligned(text: str, width: int, right: bool) -> str:
    text = _shortened(text, width)
    space = " " * (width - _width(text))
    return space + text if right else text + space


def _fitted(natural: list[int], least: list[int], room: int) -> list[int] | None:
    """Shrink the widest columns until all fit in *room*, none below its *least*."""
    floors = list(map(min, natural, least))
    if sum(floors) > room:
        return None
    cap = min(max(natural), room)
    widths = natural
    while sum(widths) > room:
        widths = [max(floor, min(wish, cap)) for floor, wish in zip(floors, natural, strict=True)]
        cap -= 1
    spare = room - sum(widths)  # the last step took one from every wide column, perhaps too many
    for index, wish in enumerate(natural):
        if spare and widths[index] < wish:
            widths[index] += 1
            spare -= 1
    return widths


def _shortened(text: str, width: int) -> str:
    if _width(text) <= width:
        return text
    kept, used = [], 1  # one for the ellipsis
    for char in text:
        used += _width(char)
        if used > width:
            break
        kept.append(char)
    return "".join(kept).rstrip() + "…"


def _width(text: str) -> int:
    """Count the cells that *text* takes on a terminal."""
    if text.isascii():
        return len(text)
    from unicodedata import category, east_asian_width

    return sum(
        0
        if category(char) in ("Mn", "Me", "Cf") and char != "\xad"
        else 2
        if east_asian_width(char) in "WF"
        else 1
        for char in text
    )


def _columns_of(stream: Any) -> int:
    import os

    try:
        descriptor = getattr(stream, "descriptor", None)
        wide = os.get_terminal_size(stream.fileno() if descriptor is None else descriptor).columns
    except (AttributeError, ValueError, OSError):
        wide = 0
    asked = os.environ.get("COLUMNS", "")
    return int(asked) if asked.isdecimal() and 0 < int(asked) < 10_000 else wide or 80


def _rich(value: Any, stream: Any, columns: int) -> str | None:
    """Return *value* as rich draws it, or ``None`` when rich is missing or has nothing to add."""
    if not value or not (isinstance(value, dict) or _is_table(value)):
        return None
    try:
        from rich import box
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text
    except ImportError:
        return None
    if isinstance(value, dict):
        table = Table.grid(padding=(0, len(_GAP), 0, 0))
        table.add_column(style="bold", overflow="fold")
        table.add_column(overflow="fold")
        room = columns - max(_width(_flat(name)) for name in value) - len(_GAP)
        for name, item in value.items():
            beside = _beside(item, columns, room) or _lines(item, columns, room)
            table.add_row(Text(_flat(name)), Text("\n".join(beside)))
    else:
        if table_lines(value, columns - 2) is None:
            return None
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        names = list(dict.fromkeys(name for row in value for name in row))
        for name in names:
            number = _is_numeric(row.get(name) for row in value)
            side: Literal["left", "right"] = "right" if number else "left"
            table.add_column(Text(_flat(name)), justify=side, overflow="fold", no_wrap=number)
        for row in value:
            table.add_row(*(Text(_cell(row.get(name))) for name in names))
    console = Console(file=stream, width=columns)
    with console.capture() as drawn:
        console.print(table)
    return drawn.get()
