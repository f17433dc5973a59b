"""What is kept of the bytes a tool writes: fed piece by piece, bounded, without any I/O.

A collector says in ``trouble`` why it wants no more; from then on it keeps nothing.
"""

from __future__ import annotations

from .limits import Limits, in_words


class Collector:
    """Takes bytes as they come, at most *chunk* at once.

    *activity* counts what shows that the tool is alive, *count* the items that were waited for.
    """

    chunk = 1 << 16

    def __init__(self) -> None:
        self.trouble = ""
        self.activity = self.count = 0

    def feed(self, data: bytes) -> None:
        """Take the next bytes."""
        raise NotImplementedError

    def end(self) -> None:
        """Note that nothing comes any more."""

    def data(self) -> bytes:
        """Return the bytes that are kept."""
        return b""


class Line:
    """Measures lines: how long the one is that has not ended yet."""

    __slots__ = ("_longest", "_run")

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._run = 0

    def is_too_long(self, data: bytes) -> bool:
        """Return whether a line is longer than allowed once *data* has come."""
        longest = self._longest
        first = data.find(b"\n")
        if first < 0:
            self._run += len(data)
            return self._run > longest
        if self._run + first > longest:
            return True
        self._run = len(data) - data.rfind(b"\n") - 1
        if len(data) <= longest:  # then every line within it is short enough
            return False
        return any(len(line) > longest for line in data[first + 1 :].split(b"\n"))


class WholeOutput(Collector):
    """All that was written, as long as that is not too much."""

    def __init__(self, limits: Limits) -> None:
        super().__init__()
        self._limits = limits
        self._line = Line(limits.line_bytes)
        self._parts: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> None:
        """Take the next bytes."""
        if self.trouble:
            return
        self._size += len(data)
        if self._size > self._limits.stdout_bytes:
            self._give_up(f"it wrote more than {in_words(self._limits.stdout_bytes)}")
        elif self._line.is_too_long(data):
            self._give_up(f"it wrote a line longer than {in_words(self._limits.line_bytes)}")
        else:
            self._parts.append(data)

    def data(self) -> bytes:
        """Return what is kept; nothing after trouble, because a part would mislead."""
        return b"".join(self._parts)

    def _give_up(self, reason: str) -> None:
        self.trouble = reason
        self._parts.clear()


class HeadAndTail(Collector):
    """The first and the last bytes of what was written; what lies between is counted.

    There is never trouble: what a tool says on the side does not spoil its answer.
    """

    def __init__(self, head: int, tail: int) -> None:
        super().__init__()
        self._head = bytearray()
        self._tail = bytearray()
        self._most_head = head
        self._most_tail = tail
        self._dropped = 0

    def feed(self, data: bytes) -> None:
        """Take the next bytes."""
        self.activity += 1
        room = self._most_head - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        self._tail += data
        # Not on every piece: moving the whole tail for a few bytes would be slow.
        if len(self._tail) > 2 * self._most_tail + 65536:
            self._cut()

    def data(self) -> bytes:
        """Return what is kept, with a line that says what is not."""
        self._cut()
        if not self._dropped:
            return bytes(self._head + self._tail)
        gap = f"\n[{self._dropped} bytes left out]\n".encode()
        return bytes(self._head) + gap + bytes(self._tail)

    def _cut(self) -> None:
        excess = len(self._tail) - self._most_tail
        if excess > 0:
            del self._tail[:excess]
            self._dropped += excess
