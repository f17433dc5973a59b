"""Parses a stream as it comes: items, the lines between them, and the last line. Pure."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any

from ..wire import documents
from ..wire.collecting import Collector, Line
from ..wire.dialects import dialect_of
from ..wire.limits import Limits, in_words
from ..wire.reading import KEY_TWICE, SEVERAL_ENDS, counts_in_result, is_of_batch
from ..wire.response import Part, WireResponse


class Items(Collector):
    """Collects the lines of a stream; `take` gives the items that have come since the last time.

    *terminal* is the last line once it is there, *progress* the latest line about how far the tool
    has come, *count* how many items there were. *fault* is what makes the answer malformed,
    *missing* how many numbers were left out by a tool that numbers its items. Of a ``plain`` tool
    every line is an item.
    """

    def __init__(self, limits: Limits, contract: str = "") -> None:
        super().__init__()
        self.terminal: Mapping[str, Any] | None = None
        self.progress: Mapping[str, Any] | None = None
        self.fault = ""
        self.missing = 0
        self._is_numbered = False
        self._sent = 0  # the number of the last item, by the tool's own count
        self.oddities: list[str] = []
        self._limits = limits
        self._is_plain = contract == "plain"
        self._may_number = dialect_of(contract).is_enveloped
        self._line = Line(limits.line_bytes)
        self._partial: list[bytes] = []
        self._spread: list[bytes] = []  # a document of several lines, as it comes
        self._spread_size = 0
        self._noise = 0
        self._begun = False
        # Whether a document that ends an answer has come, and whether one of those was no batch's.
        self._has_ended = self._has_ended_alone = False
        self._ready: deque[Any] = deque()

    def feed(self, data: bytes) -> None:
        """Take the next bytes."""
        if self.trouble:
            return
        if self._line.is_too_long(data):
            self.trouble = f"it wrote a line longer than {in_words(self._limits.line_bytes)}"
            self._partial.clear()
            return
        *whole, rest = data.split(b"\n")
        if whole:
            self._take_line(b"".join((*self._partial, whole[0])))
            self._partial.clear()
            for line in whole[1:]:
                self._take_line(line)
        if rest:
            self._partial.append(rest)

    def end(self) -> None:
        """Note that nothing comes any more."""
        if not self.trouble and self._partial:
            self._take_line(b"".join(self._partial))
            self._partial.clear()
        if self._noise:
            self.oddities.append(f"{self._noise} lines on stdout are not JSON")

    def take(self) -> list[Any]:
        """Return the items that nobody has taken yet."""
        found = list(self._ready)
        self._ready.clear()
        return found

    def _take_line(self, line: bytes) -> None:
        if not self._begun:  # a mark of the encoding, which some put in front
            self._begun, line = True, line.removeprefix(b"\xef\xbb\xbf")
        if self._is_plain:
            self.count += 1
            self._ready.append(line.decode("utf-8", "replace"))
        elif self._spread or line.rstrip() == b"{":
            self._gather(line)
        elif line.strip():
            self._take_document(documents.value_in(line))

    def _gather(self, line: bytes) -> None:
        """Take a line of a document that is spread over several: the last one, in some tools."""
        self._spread.append(line)
        self._spread_size += len(line)
        if line.rstrip() == b"}":
            self._take_document(documents.value_in(b"\n".join(self._spread)))
            self._spread.clear()
            self._spread_size = 0
        elif self._spread_size > self._limits.stdout_bytes:
            self.trouble = f"it wrote a document of more than {in_words(self._spread_size)}"
            self._spread.clear()

    def _take_document(self, document: Any) -> None:
        # A number among words is no item; where every line is a value, it is.
        if document is documents.NOT_JSON or (self._noise and not isinstance(document, dict)):
            self._noise += 1
        elif isinstance(document, documents.DuplicateKeys):
            self.fault = KEY_TWICE
        elif documents.is_aside(document):
            self.activity += 1
            self.progress = document
        elif documents.is_terminal(document):
            in_batch = is_of_batch(document)
            if self._has_ended_alone or (self._has_ended and not in_batch):
                self.fault = SEVERAL_ENDS
            if in_batch:
                self.terminal = None
                self._take_item(document)
            else:
                self._has_ended_alone = True
            self.terminal, self._has_ended = document, True
        else:
            self._take_item(document)

    def _take_item(self, item: Any) -> None:
        if self.terminal is not None:
            # What was taken for the end was none; without another one the stream has no end.
            self.oddities.append("items came behind an envelope")
            self.terminal = None
        self.count += 1
        is_numbered = self._may_number and documents.is_numbered(item)
        number = item["_seq"] if is_numbered else self._sent + 1
        if number > self._sent + 1:
            if not self.missing:  # those behind the first gap are only counted
                self.oddities.append(f"items {self._sent + 1} to {number - 1} are missing")
            self.missing += number - self._sent - 1
        if self.count == 1:  # a tool numbers all of its items or none, from 1 on
            self._is_numbered = number == 1 and is_numbered
        self._sent = number
        if self._is_numbered and is_numbered:
            item = documents.without_number(item)
        self._ready.append(documents.unwrapped(item))


def items_of_whole(response: WireResponse[Any], items: Items | None) -> list[Any]:
    """Return the items of a success that came as one document instead of lines, else nothing.

    They are the elements of a list, and those of the only list in an object that the tool calls a
    page of one; any other result is one item. The document that ends a stream has none.
    """
    if items is None or items.count or response.state != "ok" or response.not_modified:
        return []
    data = response.data
    # An envelope without a result has null or an empty object.
    if data in (None, {}) or "items_emitted" in response.meta:
        return []
    if isinstance(data, list):
        return data
    if isinstance(data, dict):
        if data.get("_summary") is True or counts_in_result(response):
            return []
        lists = [value for value in data.values() if isinstance(value, list)]
        part = response.part
        if part != Part() and len(lists) == 1 and part.returned in (None, len(lists[0])):
            return lists[0]
    return [data]
