"""Tables that libraries rendered, found again in what was printed, as the rows that they show.

Nothing that a tool sees is changed: what a library renders is remembered beside its values, and
looked for in the text when that is answered. It is found at any column, so also behind an indent
and inside the frames of other tables' cells; what is not found stays text.
"""

from __future__ import annotations

from collections import deque
from itertools import chain
from itertools import count as count_from

from ..formats import cleaned, plain
from ..formats.text import Printed, TextWithTables, strip_ansi
from .printed_page import Page

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from ..call import Invocation

# A command that renders more, or more characters, is no report; what it prints is text.
_MOST, _MOST_CHARACTERS = 2000, 1 << 24
# How many lines of a stream that were taken for the beginning of a table are looked at again.
_MOST_AGAIN = 1_000_000
# More rows may be more than a shell passes on to its agent.
_MANY_ROWS = 100


class Rendering:
    """The text of a table, tree or value, and the function that returns what it shows.

    *kind* is the key under which an answer lists it. A console may have cropped the lines of one
    that *crops*, and folded those of one that *folds*.
    """

    __slots__ = ("crops", "folds", "kind", "lines", "value", "width")

    def __init__(
        self,
        text: str,
        value: Callable[[], Any],
        kind: str = "tables",
        *,
        crops: bool = False,
        folds: bool = False,
    ) -> None:
        lines = cleaned(strip_ansi(text)).rstrip("\n").split("\n")
        self.width = max(map(len, lines))
        self.lines = tuple(line.rstrip() for line in lines)
        self.value = value
        self.kind = kind
        self.crops = crops
        self.folds = folds


class Renderings:
    """What libraries have rendered in one call, the first first."""

    def __init__(self) -> None:
        self.all: list[Rendering] = []
        self._characters = 0
        # Of a stream: how many of them are known by the hashes of their lines, those of their
        # beginnings and of the whole; the lines that may become one, and their hash.
        self._known = 0
        self._beginnings: set[int] = set()
        self._whole: dict[int, list[Rendering]] = {}
        self._held: list[str] = []
        self._hash = 0
        self._again = _MOST_AGAIN

    def add(self, rendering: Rendering) -> None:
        """Remember *rendering*, unless there is very much."""
        self._characters += len(rendering.lines) * rendering.width
        if len(self.all) < _MOST and self._characters < _MOST_CHARACTERS:
            self.all.append(rendering)

    def taken(self, line: str | None) -> Iterator[tuple[bool, Any]]:
        """Yield what is known once *line* has come, the last being ``None``.

        That is ``True`` and a row of a table, or ``False`` and a line that is in none.
        """
        self._know()
        waiting = deque([] if line is None else [line])
        while waiting or (line is None and self._held):
            if waiting:
                self._held.append(waiting.popleft())
                self._hash = hash((self._hash, self._held[-1].rstrip()))
                whole = self._whole.get(self._hash)
                if whole is not None:
                    lines = self._release()
                    yield from _rows_of(whole.pop(0) if len(whole) > 1 else whole[0], lines)
                    continue
                if self._hash in self._beginnings:
                    continue
            # The first line begins nothing; one behind it may.
            lines = self._release()
            self._again -= len(lines) - 1
            count = 1 if self._again > 0 else len(lines)
            yield from ((False, each) for each in lines[:count])
            waiting.extendleft(reversed(lines[count:]))

    def _release(self) -> list[str]:
        lines, self._held, self._hash = self._held, [], 0
        return lines

    def _know(self) -> None:
        """Know the beginnings of what was rendered since the last line."""
        for rendering in self.all[self._known :]:
            if rendering.kind == "tables":
                known = 0
                for line in rendering.lines:
                    known = hash((known, line))
                    self._beginnings.add(known)
                self._whole.setdefault(known, []).append(rendering)
        self._known = len(self.all)


def _rows_of(rendering: Rendering, lines: list[str]) -> Iterator[tuple[bool, Any]]:
    try:
        rows = plain(rendering.value()["rows"])
    except Exception:  # a library that is not as it was known
        yield from ((False, line) for line in lines)
        return
    yield from ((True, row) for row in rows)


def remember(invocation: Invocation, rendering: Rendering) -> None:
    """Have what *invocation* prints searched for *rendering*."""
    running = invocation.running
    if running.tables is None:
        running.tables = Renderings()
    running.tables.add(rendering)


def answer_of(
    invocation: Invocation, renderings: Renderings, printed: str
) -> tuple[str, Any] | None:
    """Return the message and the result of a command that *printed* tables; ``None`` if none."""
    from ..answer.printed import is_text, lines_of

    if is_text(invocation.metadata):
        return None
    try:
        page = Page(printed.replace("\r\n", "\n").split("\n"))
        found = page.found(renderings.all)
        if not found:
            return None
        shown = [(each.kind, plain(each.value())) for each in found]
    except Exception:  # a library that is not as it was known: all of it is text
        return None
    invocation.writer._reply.has_rows = True
    text = cleaned("\n".join(page.rest()))
    if "\r\n" in printed:
        text = Printed(text.replace("\n", "\r\n"))
    if not text.strip() and len(shown) == 1:
        kind, value = shown[0]
        if kind != "tables":
            return "", value
        if "footer" not in value:
            facts = (value.get("title"), value.get("caption"), _count(invocation, value["rows"]))
            return "; ".join(filter(None, facts)).replace("\n", " "), value["rows"]
    result: dict[str, Any] = {}
    if text.strip():
        lines = lines_of(invocation, text)
        result.update(lines if isinstance(lines, dict) else {"text": lines})
    for kind, value in shown:
        result.setdefault(kind, []).append(value)
    return "", TextWithTables(result)


def _count(invocation: Invocation, rows: list[Any]) -> str:
    """Return how many *rows* there are, where all of many are shown: a reader may see the first."""
    call, metadata = invocation.call, invocation.metadata
    given = (call.limit, call.cursor, call.max_bytes, call.extra.get("max_tokens"))
    asked = any(each is not None for each in (*given, call.extra.get("query")))
    is_page = asked or (metadata is not None and metadata.lists is not None)
    return f"{len(rows)} rows" if len(rows) > _MANY_ROWS and not is_page else ""


# -- what the libraries have in common ---------------------------------------------------------


def table(
    names: Iterable[Any],
    rows: Iterable[Iterable[Any]],
    *,
    title: str = "",
    caption: str = "",
    footer: Iterable[Any] = (),
) -> dict[str, Any]:
    """Return a table as it is answered: rows are objects, their keys the unique *names*."""
    cells = [[cell(value) for value in row] for row in rows]
    columns = unique(names, max(map(len, cells), default=0))
    last = {key: text for key, text in zip(columns, footer, strict=False) if text}
    found = [dict(zip(columns, row, strict=False)) for row in cells]
    parts = {"title": title, "caption": caption, "columns": columns, "rows": found, "footer": last}
    return {key: value for key, value in parts.items() if value or key in ("columns", "rows")}


def unique(names: Iterable[Any], count: int) -> list[str]:
    """Return at least *count* names for columns, each of them another one, and none empty."""
    given = [" ".join(cleaned(str(name)).split()) for name in names]
    given += [""] * (count - len(given))
    found: dict[str, None] = {}
    for number, title in enumerate(given, 1):
        base = title or f"column_{number}"
        others = (f"{base}_{copy}" for copy in count_from(2))
        found[next(name for name in chain((base,), others) if name not in found)] = None
    return list(found)


def as_shown(rows: Iterable[Iterable[Any]]) -> list[list[Any]]:
    """Return *rows* as they are now: the tool may change what is in their cells once it is shown.

    None of the tool's code runs for it.
    """
    return [[_as_it_is(value) for value in row] for row in rows]


def _as_it_is(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _as_it_is(each) for key, each in dict.items(value)}
    if isinstance(value, list):
        return [_as_it_is(each) for each in list.__iter__(value)]
    if type(value) is tuple:
        return tuple(map(_as_it_is, value))
    return type(value)(value) if type(value) in (set, bytearray) else value


def cell(value: Any) -> Any:
    """Return the plain data that a cell holds; what is not a number, or not there, is ``None``."""
    if value is None or isinstance(value, (str, bool, dict, list)):
        return strip_ansi(value) if isinstance(value, str) else value
    if type(value).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(value, (bytes, bytearray)):
        return value.decode("utf-8", "replace")
    try:
        if value != value:
            return None
        return plain(value)
    except Exception:  # no data, or code of the tool's that fails: as it is displayed
        return strip_ansi(str(value))
