"""Finding many texts in much data, at a cost that depends on the data and hardly on the texts.

A few texts are looked for one by one, which takes less the longer they are. Where that would cost
more, the data is sampled: every occurrence of a text covers one of the blocks that stand at
multiples of a stride, so looking each of those blocks up in a table finds them all. Either way in
pieces, between which signals and other threads get their turn.
"""

from __future__ import annotations

from bisect import bisect_left

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MASK = "[REDACTED]"
MASK_BYTES = MASK.encode()
# How many characters of a document are looked at together.
BATCH = 1 << 18
_PIECE = 1 << 17
# By how much of it the beginning of a long needle is found.
_HEAD = 32
# Below this much data in all, making tables costs more than they save, however many the needles.
_FEW_BYTES = 1 << 16
# As much as a call without data costs.
_CALL_BYTES = 1 << 10
# What looking for one text costs: this, divided by its length, and a little. The unit is seconds
# for 100 MB, as it is below.
_FIND_COST = 0.4
# Ways to sample: the size of a block, the stride in blocks, and the cost. A text must be as long
# as a stride and a block, less one.
_SAMPLINGS = (
    *((8, 6, 0.08), (8, 4, 0.12), (8, 3, 0.16), (8, 2, 0.23), (8, 1, 0.46)),
    *((4, 2, 0.3), (4, 1, 0.56)),
)
# More than any way to sample costs.
_DEAR = 1.0

# Needles that begin with so many equal bytes are looked for together.
_ALIKE = 8

Span = tuple[int, int]
_Group = tuple[bytes, list[bytes]]


class Matcher:
    """Finds *needles*, none of them empty, in data."""

    def __init__(self, needles: Iterable[bytes]) -> None:
        self._needles = sorted(set(needles))
        self._seen = 0
        self._is_settled = False
        self._table: _Table | None = None
        self._groups: list[_Group] = [(needle, [needle]) for needle in self._needles]
        # What may be torn apart by separate writes; of more lines than one, each is a needle too.
        self._lines = [needle for needle in self._needles if b"\n" not in needle]
        self._longest = max(map(len, self._lines), default=0)
        self._longest_of_all = max(map(len, self._needles), default=0)
        self._shortest = min(map(len, self._needles), default=1)
        self._first_bytes = frozenset(line[0] for line in self._lines)
        self._heads: Matcher | None = None

    def spans(self, data: bytes) -> list[Span]:
        """Return where needles stand in *data*, in order; those that overlap are one."""
        found = self._occurrences(data)
        if len(found) > 1:
            found.sort()
            found = list(_merged(found))
        return found

    def is_in(self, text: str) -> bool:
        """Return whether there are needles in *text*, without a copy of it as bytes."""
        step = max(_PIECE, 8 * self._longest_of_all)
        for start in range(0, len(text), step):
            piece = text[start : start + step + self._longest_of_all]
            if self._occurrences(piece.encode("utf-8", "surrogatepass")):
                return True
        return False

    def replace(self, data: bytes, mask: bytes) -> bytes:
        """Return *data* with *mask* in the place of needles; itself where there are none."""
        spans = self.spans(data)
        return replaced(data, spans, mask) if spans else data

    def begun(self, data: bytes) -> int:
        """Return how many bytes at the end of *data* may be the beginning of a needle."""
        if data.endswith(b"\n") or not self._lines:
            return 0
        window = data[max(0, len(data) - self._longest + 1) :]
        near = max(0, len(window) - _HEAD + 1)
        if near:  # needles that are longer than a head, by which they are found
            if self._heads is None:
                self._heads = Matcher(line[:_HEAD] for line in self._lines if len(line) > _HEAD)
            # Another may begin inside one that was found.
            far = {place for span in self._heads._occurrences(window) for place in range(*span)}
            for place in sorted(far):
                if self._begins(window[place:]):
                    return len(window) - place
        for place in range(near, len(window)):
            if window[place] in self._first_bytes and self._begins(window[place:]):
                return len(window) - place
        return 0

    def _begins(self, tail: bytes) -> bool:
        place = bisect_left(self._lines, tail)
        return place < len(self._lines) and self._lines[place].startswith(tail)

    def _occurrences(self, data: bytes) -> list[Span]:
        if len(data) < self._shortest:
            return []
        self._seen += len(data) + _CALL_BYTES
        if not self._is_settled and self._seen > _FEW_BYTES:
            self._choose()
        # What is short, a line say, most often holds none; looking closer costs more than looking.
        found = [
            span
            for begin, needles in self._groups
            if len(data) > _PIECE or begin in data
            for span in _find(begin, needles, data)
        ]
        if self._table is not None:
            found += self._table.find(data)
        return found

    def _choose(self) -> None:
        """Choose the cheapest way to find the needles in much data."""
        self._is_settled = True
        plans = [(_cost(self._needles), 0, 0), *map(self._planned, _SAMPLINGS)]
        _, size, step = min(plans)
        rest = self._needles
        if size:
            least = size * (step + 1) - 1
            self._table = _Table([each for each in self._needles if len(each) >= least], size, step)
            rest = [each for each in self._needles if len(each) < least]
        self._groups = list(_grouped(rest))

    def _planned(self, sampling: tuple[int, int, float]) -> tuple[float, int, int]:
        """Return what *sampling* costs, with what is too short for it, and what it is."""
        size, step, cost = sampling
        rest = [each for each in self._needles if len(each) < size * (step + 1) - 1]
        return cost + _cost(rest), size, step


def _cost(needles: list[bytes]) -> float:
    """Return what it costs to look for *needles* one by one, or that it costs too much."""
    cost = 0.0
    for begin, _ in _grouped(needles):
        cost += _FIND_COST / len(begin) + 0.002
        if cost > _DEAR:
            break
    return cost


def _grouped(needles: list[bytes]) -> Iterator[_Group]:
    """Yield the sorted *needles* by what those that look alike begin with."""
    alike: list[bytes] = []
    for needle in needles:
        if alike and needle[:_ALIKE] != alike[0][:_ALIKE]:
            yield _beginning(alike), alike
            alike = []
        alike.append(needle)
    if alike:
        yield _beginning(alike), alike


def _beginning(needles: list[bytes]) -> bytes:
    first, last = needles[0], needles[-1]  # which, being sorted, have least in common
    if last.startswith(first):
        return first
    size = _ALIKE
    while first[size : size + 1] == last[size : size + 1]:
        size += 1
    return first[:size]


def replaced(data: bytes, spans: Iterable[Span], mask: bytes) -> bytes:
    """Return *data* with *mask* in the place of *spans*."""
    parts: list[bytes] = []
    position = 0
    for start, end in spans:
        parts += (data[position:start], mask)
        position = end
    return b"".join((*parts, data[position:]))


class _Table:
    """Finds *needles* by the blocks that they begin with, whatever those are aligned to."""

    def __init__(self, needles: list[bytes], size: int, step: int) -> None:
        self._needles = needles
        self._size = size
        self._step = step
        stride = size * step
        begins = (
            b"".join([needle[first : first + stride] for needle in needles])
            for first in range(size)
        )
        known: frozenset[int] = frozenset()
        self._known = known.union(*(_blocks_of(memoryview(each), size) for each in begins))
        # Where each block stands in which needles: made for the first data that have one.
        self._places: dict[int, list[tuple[int, bytes]]] | None = None

    def find(self, data: bytes) -> Iterator[Span]:
        """Yield where needles stand in *data*."""
        whole = memoryview(data)[: len(data) - len(data) % self._size]
        stride = self._size * self._step
        for start in range(0, len(whole), _PIECE):
            blocks = _blocks_of(whole[start : start + _PIECE], self._size)[:: self._step]
            if self._known.isdisjoint(blocks):
                continue
            if self._places is None:
                self._places = self._located()
            for number, block in enumerate(blocks):
                for offset, needle in self._places.get(block, ()):
                    position = start + number * stride - offset
                    if position >= 0 and data.startswith(needle, position):
                        yield position, position + len(needle)

    def _located(self) -> dict[int, list[tuple[int, bytes]]]:
        places: dict[int, list[tuple[int, bytes]]] = {}
        for needle in self._needles:
            for first in range(self._size):
                begin = memoryview(needle)[first : first + self._size * self._step]
                for number, block in enumerate(_blocks_of(begin, self._size)):
                    places.setdefault(block, []).append((first + number * self._size, needle))
        return places


def _blocks_of(data: memoryview[int], size: int) -> memoryview[int]:
    return data.cast("Q") if size == 8 else data.cast("I")


def _find(begin: bytes, needles: list[bytes], data: bytes) -> Iterator[Span]:
    """Yield where *needles*, which all begin in one way, stand in *data*."""
    size = len(begin)
    if size > len(data):
        return
    for start in range(0, len(data), _PIECE * 8):
        end = start + _PIECE * 8 + size - 1
        position = data.find(begin, start, end)
        while position >= 0:
            found = [len(needle) for needle in needles if data.startswith(needle, position)]
            if found:
                yield position, position + max(found)
            position = data.find(begin, position + max(found, default=1), end)


def _merged(spans: list[Span]) -> Iterator[Span]:
    """Yield sorted *spans* so that none overlaps the next."""
    start, end = spans[0]
    for another, its_end in spans:
        if another < end:
            end = max(end, its_end)
        else:
            yield start, end
            start, end = another, its_end
    yield start, end


def redacted(text: str, matcher: Matcher) -> str:
    """Return *text* with a mask in the place of all that *matcher* finds."""
    if len(text) > BATCH and not matcher.is_in(text):
        return text
    data = text.encode("utf-8", "surrogatepass")
    scrubbed = matcher.replace(data, MASK_BYTES)
    return text if scrubbed is data else scrubbed.decode("utf-8", "surrogatepass")
