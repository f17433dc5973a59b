"""The last step: text onto a stream, whole, in UTF-8, or an exception that says why not."""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # signal itself loads enum first
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Protocol

    class TextStream(Protocol):
        """Anything with ``write`` and ``flush``: a file, a StringIO, our descriptor stream."""

        def write(self, text: str, /) -> Any:
            """Take *text*."""

        def flush(self) -> Any:
            """Let what was taken go out."""


class OutputFailed(Exception):
    """The answer did not get through to stdout; *reader_gone* when nobody is there to read it."""

    def __init__(self, error: OSError) -> None:
        super().__init__(f"The answer could not be written to stdout: {error.strerror or error}.")
        self.reader_gone = isinstance(error, BrokenPipeError)


# What surely fits into a pipe that nobody has read from yet.
_ROOM = 60_000
# What a pipe takes whole or not at all.
_WHOLE = 4096
_INTERRUPTING = (2, 15, 1, 14)  # SIGINT, SIGTERM, SIGHUP, and SIGALRM, which is a deadline


def put_off_signals() -> Callable[[], None]:
    """Let signals wait until what this gives is called; for a step that must not be half done.

    Their handlers are put aside, because blocking the signals would leave those that another
    thread receives.
    """
    came: list[int] = []
    aside: dict[int, Any] = {}

    def note(number: int, frame: object) -> None:
        came.append(number)

    def come() -> None:
        for number, handler in aside.items():
            try:
                _signal.signal(number, handler)
            except KeyboardInterrupt:  # one more, as soon as its handler was back
                came.append(number)
        for number in came[:1]:
            aside[number](number, None)

    try:
        for number in _INTERRUPTING:
            handler = _signal.getsignal(number)
            if callable(handler):
                aside[number] = handler
                _signal.signal(number, note)
    except ValueError:  # not in the main thread, which is the one that is interrupted
        aside.clear()
    except KeyboardInterrupt:  # just before
        come()
        raise
    return come


class DescriptorStream:
    """A text stream straight onto a file descriptor, with no buffer that could be lost."""

    __slots__ = ("_sent", "descriptor")
    encoding = "utf-8"

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self._sent = 0

    def write(self, text: str) -> int:
        """Write all of *text*."""
        self.write_bytes(text.encode("utf-8", "replace"))
        return len(text)

    def write_bytes(self, data: bytes) -> None:
        """Write all of *data*, waiting for a slow reader, but not for ever for one who stopped.

        A signal does not come between its parts: half a document is worse than none.
        """
        if len(data) <= _WHOLE:
            self._write(data)
            return
        come = put_off_signals()
        try:
            self._write(data)
        finally:
            come()

    def _write(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            most = _ROOM - self._sent
            if most <= 0:
                from .patience import wait_for_reader

                most = wait_for_reader(self.descriptor)
            try:
                written = os.write(self.descriptor, rest[:most])
            except BlockingIOError:
                self._sent = _ROOM  # it is full already
                continue
            self._sent += written
            rest = rest[written:]

    def write_part(self, data: memoryview, sizes: list[int]) -> None:
        """Write what fits of *data*; its size is in *sizes* as soon as it is out.

        No signal comes between the two: within one call of C code Python handles none.
        """
        most = _ROOM - self._sent
        if most <= 0:
            from .patience import wait_for_reader

            most = wait_for_reader(self.descriptor)
        try:
            sizes.extend(map(os.write, (self.descriptor,), (data[:most],)))
            self._sent += sizes[-1]
        except BlockingIOError:
            self._sent = _ROOM

    def flush(self) -> None:
        """Do nothing: every write has reached the descriptor already."""

    def isatty(self) -> bool:
        """Tell whether a terminal is at the other end."""
        return os.isatty(self.descriptor)


def put(stream: TextStream | None, text: str) -> None:
    """Write *text* to *stream* and flush it, as UTF-8 whatever the locale says.

    Raises `OSError` when it does not get through; a stream of ``None`` is a closed descriptor.
    """
    if stream is None:
        raise OSError(9, "the stream is closed")
    raw = getattr(stream, "buffer", None)
    try:
        if raw is None:
            stream.write(text)
        else:
            stream.flush()
            _write(raw, text.encode("utf-8", "replace"))
        stream.flush()
    except ValueError as error:  # "I/O operation on closed file"
        raise OSError(9, str(error)) from error


def _write(raw: Any, data: bytes) -> None:
    """Write *data* beneath the buffers, where what fails is not tried again at exit."""
    file = getattr(raw, "raw", None)
    if file is None:
        raw.write(data)
        raw.flush()
        return
    rest = memoryview(data)
    while rest:
        written = file.write(rest)
        if written is None:  # a pipe that does not block, and is full
            from .patience import wait_for_reader

            wait_for_reader(file.fileno())
        else:
            rest = rest[written:]


def put_for_people(stream: TextStream | None, text: str) -> None:
    """Write *text* in the terminal's own encoding; what it cannot show becomes an escape."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    if encoding.lower() not in ("utf-8", "utf8"):
        text = text.encode(encoding, "backslashreplace").decode(encoding, "replace")
    put(stream, text)


def is_terminal(stream: Any) -> bool:
    """Tell whether *stream* really ends at a terminal; closed and odd streams do not."""
    try:
        return bool(stream.isatty())
    except (AttributeError, ValueError, OSError):
        return False


def standard(name: str) -> Any:
    """Give ``sys.stdout`` or ``sys.stderr`` as it is now: test runners swap them."""
    return getattr(sys, name)
