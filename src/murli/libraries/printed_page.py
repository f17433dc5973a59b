"""What was printed, as a page on which the text of what libraries have rendered is found again."""

from __future__ import annotations

import sys
from bisect import bisect_left, bisect_right
from functools import cached_property
from itertools import accumulate

from ..formats import cleaned

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from .tables import Rendering

    Lines = list[str | None]

# The shortest part of a line by which one that was cropped is known.
_SHORTEST = 20
# How many lines are compared in vain, and how many pieces of text searched through, before what has
# not been found is left as text.
_MOST_EFFORT, _PIECE = 1_000_000, 1 << 9
# What frames are drawn with.
_FRAMES = "".join(map(chr, range(0x2500, 0x2580))) + "+|"


class Page:
    """The lines that were printed, and which parts of them are taken by what was found."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = [cleaned(line) for line in lines]
        self._taken: dict[int, list[tuple[int, int]]] = {}
        self._effort = _MOST_EFFORT

    @cached_property
    def _numbers(self) -> dict[str, list[int]]:
        """Where each line is, by its text without an indent."""
        numbers: dict[str, list[int]] = {}
        for number, line in enumerate(self._lines):
            numbers.setdefault(line.strip(), []).append(number)
        return numbers

    @cached_property
    def _whole(self) -> tuple[str, list[int]]:
        """The text of all lines, and where each of them begins in it."""
        return _joined(f"{line}\n" for line in self._lines)

    @cached_property
    def _folded(self) -> tuple[str, list[int]]:
        """The text of all lines without the spaces in it, and where each of them begins."""
        return _joined(map(_squeezed, self._lines))

    def found(self, renderings: Sequence[Rendering]) -> list[Rendering]:
        """Return those of *renderings* that are on the page, in the order they are."""
        # Of those that look alike the first printed is the first rendered.
        alike: dict[tuple[str, ...], list[Rendering]] = {}
        for each in renderings:
            alike.setdefault(each.lines, []).append(each)
        places: list[tuple[int, int, Rendering]] = []
        # The largest first: what stands in another one is part of it.
        for same in sorted(alike.values(), key=lambda same: -len(same[0].lines) * same[0].width):
            for number, (top, column) in enumerate(self._places_of(same[0])):
                places.append((top, column, same[min(number, len(same) - 1)]))
        return [each for _, _, each in sorted(places, key=lambda place: place[:2])]

    def _places_of(self, rendering: Rendering) -> Iterator[tuple[int, int]]:
        """Take the places where *rendering* stands, and yield their first lines and columns."""
        if rendering.folds:
            yield from self._folded_places_of(rendering)
            if len(rendering.lines) == 1:  # a number, say, which may be part of anything
                return
        # Something may stand before the first; and what is said of tables is often alike above.
        middle = len(rendering.lines) // 2
        numbers = (*range(middle or 1, len(rendering.lines)), *range(1, middle), 0)
        telling = [each for each in numbers if any(map(str.isalnum, rendering.lines[each]))]
        if not telling or self._effort < 0:
            return
        is_found = False
        for likely in (self._alone, self._beside):
            for top, column in likely(rendering, telling):
                if self._effort < 0:
                    return
                spans = self._spans(rendering, top, column)
                for taken, span in enumerate(spans, top):
                    self._taken.setdefault(taken, []).append(span)
                if spans:
                    is_found = True
                    yield top, column
            if is_found:
                return

    def _alone(self, rendering: Rendering, telling: Sequence[int]) -> Iterator[tuple[int, int]]:
        """Yield where *rendering* may stand with nothing beside it."""
        places = {each: self._numbers.get(rendering.lines[each].strip(), ()) for each in telling}
        number = min(telling, key=lambda each: len(places[each]))
        for place in places[number]:
            column = _indent(self._lines[place]) - _indent(rendering.lines[number])
            if column >= 0:
                yield place - number, column

    def _beside(self, rendering: Rendering, telling: Sequence[int]) -> Iterator[tuple[int, int]]:
        """Yield where *rendering* may stand in a frame, or be cropped."""
        number, (text, starts) = telling[0], self._whole
        line = rendering.lines[number]
        for at in self._all_of(line[: 2 * _SHORTEST] if rendering.crops else line, text):
            place = bisect_right(starts, at) - 1
            yield place - number, at - starts[place]

    def _folded_places_of(self, rendering: Rendering) -> Iterator[tuple[int, int]]:
        """Take the lines that are *rendering* but for the spaces in them, and yield the first."""
        (text, starts), expected = self._folded, _squeezed("".join(rendering.lines))
        for at in self._all_of(expected, text):
            top, end = bisect_right(starts, at) - 1, bisect_left(starts, at + len(expected))
            whole = starts[top] == at and starts[end] == at + len(expected)
            if whole and self._taken.keys().isdisjoint(range(top, end)):
                self._taken.update({number: [(0, sys.maxsize)] for number in range(top, end)})
                yield top, 0

    def _all_of(self, part: str, text: str) -> Iterator[int]:
        """Yield where *part* is in *text*, as long as there is effort left."""
        at = -1
        while self._effort >= 0:
            before, at = at, text.find(part, at + 1)
            self._effort -= 1 + ((len(text) if at < 0 else at) - before) // _PIECE
            if at < 0:
                return
            yield at

    def _spans(self, rendering: Rendering, top: int, column: int) -> list[tuple[int, int]]:
        """Return which part of each line *rendering* has if it stands there, else nothing."""
        spans: list[tuple[int, int]] = []
        if top < 0 or top + len(rendering.lines) > len(self._lines):
            return []
        for number, expected in enumerate(rendering.lines, top):
            line = self._lines[number]
            start, end = column, column + rendering.width
            found = line[start:end].rstrip()
            if found != expected:
                self._effort -= number - top + 1
                if number == top and line.rstrip().endswith(expected):
                    start = len(line.rstrip()) - len(expected)
                    end = start + rendering.width
                elif not (rendering.crops and _is_cropped(expected, found, line[end:])):
                    return []
            if any(start < other[1] and other[0] < end for other in self._taken.get(number, ())):
                return []
            spans.append((start, end))
        return spans

    def rest(self) -> list[str]:
        """Return the lines beside what was found, without its frames."""
        lines: Lines = list(self._lines)
        framed: set[int] = set()
        for number, spans in self._taken.items():
            left = self._lines[number]
            for start, end in sorted(spans, reverse=True):
                left = left[:start] + left[end:]
            if left.strip():
                framed.add(number)
            lines[number] = left.rstrip() if any(map(str.isalnum, left)) else None
        seen: set[int] = set()
        for number in sorted(framed):
            _unframe(lines, range(number, -1, -1), seen)
            _unframe(lines, range(number + 1, len(lines)), seen)
        text = "\n".join(line for line in lines if line is not None)
        kept = text.strip("\n").split("\n")
        while kept and not kept[0].strip():
            kept.pop(0)
        while kept and not kept[-1].strip():
            kept.pop()
        return kept


def _joined(parts: Iterable[str]) -> tuple[str, list[int]]:
    """Return all *parts* as one text, and where each begins and the last one ends."""
    known = list(parts)
    return "".join(known), list(accumulate(map(len, known), initial=0))


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _is_cropped(expected: str, found: str, behind: str) -> bool:
    return len(found) >= _SHORTEST and expected.startswith(found) and not behind.strip()


def _squeezed(text: str) -> str:
    return "".join(text.split())


def _unframe(lines: Lines, numbers: Iterable[int], seen: set[int]) -> None:
    """Take the frame off the lines next to a table in a panel, and what was only frame out.

    Those that were *seen* before, and all behind them, are done.
    """
    for number in numbers:
        if number in seen:
            break
        seen.add(number)
        line = lines[number]
        if line is None:
            continue
        text = line.strip()
        if len(text) < 2 or not (text[0] in _FRAMES and text[-1] in _FRAMES):
            break
        lines[number] = text.strip(f"{_FRAMES} ") or None
