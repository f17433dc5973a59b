"""What a command prints, as a stream: each line is an item as soon as it is whole.

Descriptor 1 is a pipe then (`process.conduit`), so that children, threads and C libraries stream as
well as the handler does, and what is out stays out, however the process ends. A line that is a JSON
object is that object; any other one is ``{"event": "line", "data": "the line"}``. What is drawn
over with carriage returns is progress, not a line; its last state is reported. A document that
is spread over several lines is not streamed: it is kept, and its items come at the end.
"""

from __future__ import annotations

import os
import sys
import time
from json import JSONDecodeError, loads

from ..formats import defer_signals, flush, put_over, write_some
from ..formats.screen import Screen
from ..outcome import ProgressEvent
from ..process import as_text
from . import payload_of
from .event_lines import write_progress
from .printed import value_in
from .streaming import ItemStream

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from ..call import Invocation
    from ..process.conduit import Conduit
    from ..secrets.streams import Flow

# A line of more bytes comes in parts.
_LONGEST_LINE = 1 << 20
# How much of what is drawn over is kept before it is forgotten.
_MOST_DRAWN = 1 << 16
_UNBUFFERED = "PYTHONUNBUFFERED"
# How long somebody who prints waits for another thread that streams.
_TURN_SECONDS = 0.05
# How often to report the state of a line that is being drawn over.
_DRAWN_SECONDS = 5.0


def begin(invocation: Invocation) -> None:
    """Stream what the running command prints from now on."""
    capture: Any = invocation.capture
    if capture is None or not capture.collects or invocation.running.lines is not None:
        return
    lines = PrintedLines(invocation)
    if capture.is_process:
        from ..process.conduit import stream_lines

        lines.is_live = stream_lines(capture, lines)
    if lines.is_live:
        invocation.undo += _without_buffers(capture.conduit)
    invocation.running.lines = lines


def _without_buffers(conduit: Conduit) -> list[Callable[[], None]]:
    """Have lines leave the buffers of this program, and of those in Python that it starts.

    What Python itself prints is out when it is printed: the next line may be the last one.
    """
    before = os.environ.get(_UNBUFFERED)
    os.environ[_UNBUFFERED] = "1"

    def put_back() -> None:
        os.environ.pop(_UNBUFFERED, None)
        if before is not None:
            os.environ[_UNBUFFERED] = before

    undo = [put_back]
    stream = sys.stdout
    if hasattr(stream, "reconfigure") and not stream.line_buffering:
        stream.reconfigure(line_buffering=True)
        undo.append(lambda: stream.reconfigure(line_buffering=False))

    def write(beneath: Any, data: Any, /) -> Any:
        written = beneath(data)
        resume = defer_signals()
        try:
            conduit.empty(_TURN_SECONDS)
        finally:
            resume()
        return written

    try:
        # Without buffers of its own, it is the file itself.
        file = getattr(stream.buffer, "raw", stream.buffer)
        undo.append(put_over(file, "write", write))
    except AttributeError:  # a stream of the program's own
        pass
    return undo


class PrintedLines:
    """The lines that one command prints, on their way out."""

    def __init__(self, invocation: Invocation) -> None:
        self._invocation = invocation
        self._writer = invocation.writer
        # Taken by each writer.
        self.turn = invocation.writer._outlet.lock
        # Whether they come as they are printed, and not at the end.
        self.is_live = False
        # How many there were, also of those that a limit left out.
        self.count = 0
        # A line that has begun.
        self._rest = b""
        self._screen = Screen()
        self._stream: ItemStream | None = None
        self._guard: Flow | None = None
        self._is_full = self._has_begun = self._is_document = False
        # The array in the first line, which may be the whole answer.
        self._first: list[Any] | None = None
        self._drawn_reported = time.monotonic()

    def take(self, data: bytes) -> bool:
        """Stream the lines of *data*; False where it is to be kept instead.

        `BrokenPipeError` when nobody takes lines any more.
        """
        reply = self._writer._reply
        streams_itself = reply.is_streaming and self._stream is None
        is_over = reply.answered or reply.stream_summary is not None
        if self._is_document or streams_itself or is_over:
            return False
        from ..errors import OutputFailed

        try:
            self._scrubbed(data)
        except OutputFailed as lost:  # which the writer remembers
            raise BrokenPipeError(32, "Broken pipe") from lost
        return True

    def catch_up(self) -> ItemStream | None:
        """Stream what has been printed by now, as far as its lines are whole; return the stream."""
        capture: Any = self._invocation.capture
        if self.is_live and capture is not None:
            flush(sys.stdout)
            capture.conduit.empty(-1)
        return self._stream

    def drop_question(self, prompt: str) -> str:
        """Take back *prompt*, which was just printed, or a blank one's whole line; return it."""
        self.catch_up()
        line = self._rest.decode("utf-8", "replace")
        question = prompt if prompt.strip() else line
        if line.endswith(question):
            self._rest = line.removesuffix(question).encode()
        return question

    def end(self, printed: str | bytes) -> str | bytes:
        """Stream what is left, with *printed*, which was kept; return what is not part of it."""
        from ..errors import OutputFailed

        capture: Any = self._invocation.capture
        try:
            if self.is_live:
                capture.conduit.empty(-1)
            if self._guard is not None:
                self._guard.let_out()
            if self._rest:
                rest, self._rest = self._rest, b""
                self._take_line(rest)
            if self._invocation.running.tables is not None:
                self._take_rows(self._invocation.running.tables.taken(None))
            for item in self._first or ():
                self._put(item)
            self._first = None
            if self.is_live and not self._is_document:
                return printed
            if self._writer._reply.is_streaming and self._stream is None:
                return printed
            return self._stream_whole(printed)
        except OutputFailed:  # the writer remembers it
            return ""

    def conclude(self, returned: Any) -> None:
        """Leave what the last line will say, unless that is for the handler to say.

        It has *returned* something, or begun a stream of its own.
        """
        reply = self._writer._reply
        if returned is not None and not (self.count and isinstance(returned, int)):
            return
        if reply.stream_summary is None and (self._stream is not None or not reply.is_streaming):
            self._opened().end("", self.count)

    def _stream_whole(self, printed: str | bytes) -> str | bytes:
        """Stream what came as a whole: the value that it is, else its lines."""
        value = payload_of(printed, self._invocation.metadata)
        if isinstance(value, list) or (isinstance(value, dict) and isinstance(printed, str)):
            if self._invocation.running.returned is not None:
                return printed
            self._invocation.running.returned = value
        elif value is not None:
            data = printed.encode() if isinstance(printed, str) else printed
            self._has_begun, self._is_document = True, False
            self._split(data.removesuffix(b"\n") + b"\n")
        return ""

    # -- lines ---------------------------------------------------------------------------------

    def _scrubbed(self, data: bytes) -> None:
        """Take *data* without the secrets in it, which may be torn apart by lines."""
        secrets = self._invocation.secrets
        if secrets is None or secrets.revealed:
            self._split(data)
            return
        if self._guard is None:
            from ..secrets.streams import Flow

            self._guard = Flow(secrets, 0, answers=True)
        self._guard.write(data, self._split, outlet=self._split)
        if self._is_document:  # the rest of which is kept past it
            self._guard.let_out()

    def _split(self, data: bytes) -> None:
        whole, newline, self._rest = (self._rest + data).rpartition(b"\n")
        if newline:
            for line in whole.split(b"\n"):
                self._take_line(line)
        if self._is_document:
            rest, self._rest = self._rest, b""
            self._keep(rest)
        if b"\r" in self._rest[:-1]:
            self._report_drawn()
        while len(self._rest) > _LONGEST_LINE:
            end = _boundary(self._rest[:_LONGEST_LINE])
            part, self._rest = self._rest[:end], self._rest[end:]
            self._put_text(as_text(part), continues=True)

    def _report_drawn(self) -> None:
        """Report, now and then, the state of a line that is being drawn over."""
        now = time.monotonic()
        if now - self._drawn_reported > _DRAWN_SECONDS:
            self._drawn_reported = now
            states = self._rest.decode("utf-8", "replace").split("\r")
            self._report_progress(next((each for each in reversed(states) if each.strip()), ""))
        if len(self._rest) > _MOST_DRAWN:
            self._rest = self._rest[self._rest.rfind(b"\r", 0, -1) :]

    def _take_line(self, raw: bytes) -> None:
        if self._is_document:
            self._keep(raw + b"\n")
            return
        text = as_text(raw)
        if isinstance(text, bytes):
            self._put_text(text)
            return
        self._screen.feed(text + "\n")
        shown, self._screen.text = self._screen.text, []
        drawn, self._screen.progress = self._screen.progress, []
        for state in drawn:
            self._report_progress(state.strip())
        tables = self._invocation.running.tables
        for line in shown:
            if tables is None:
                self._take_shown(line.removesuffix("\n"), raw)
            else:
                self._take_rows(tables.taken(line.removesuffix("\n")))

    def _take_rows(self, found: Iterator[tuple[bool, Any]]) -> None:
        """Stream rows of tables, and lines that are in none, once it is known what they are."""
        for is_row, item in found:
            if is_row:
                self._has_begun = True
                self._put(item)
            else:
                self._take_shown(item, item.encode())

    def _take_shown(self, line: str, raw: bytes) -> None:
        value = value_in(line)
        if not self._has_begun and line.strip():
            self._has_begun = True
            if value is None and _is_begun_value(line):
                self._is_document = True
                self._keep(raw + b"\n")
                return
            if isinstance(value, list):
                self._first = value
                return
        if self._first is not None and line.strip():
            first, self._first = self._first, None
            self._put(first)
        if value is not None:
            self._put(value)
        else:
            self._put_text(line.removesuffix("\r"))

    def _keep(self, data: bytes) -> None:
        """Keep a part of a document with what else was collected."""
        capture: Any = self._invocation.capture
        rest = memoryview(data)
        while rest:
            rest = rest[write_some(capture.spool, rest) :]

    # -- items ---------------------------------------------------------------------------------

    def _put_text(self, text: str | bytes, *, continues: bool = False) -> None:
        item: dict[str, Any] = {"event": "line", "data": text}
        if continues:
            item["continues"] = True
        self._put(item, is_text=True)

    def _put(self, item: Any, *, is_text: bool = False) -> None:
        self.count += 1
        if not self._is_full:
            self._is_full = self._opened().put_printed(item, is_text=is_text)

    def _opened(self) -> ItemStream:
        if self._stream is None:
            self._stream = self._writer._reply.stream or ItemStream(self._writer)
        return self._stream

    def _report_progress(self, state: str) -> None:
        if state:
            self.write_progress(ProgressEvent(message=state))

    def write_progress(self, event: ProgressEvent) -> None:
        """Write *event* in the middle of the lines, which it neither is nor begins."""
        self._opened()
        write_progress(self._writer, event)


def _is_begun_value(line: str) -> bool:
    """Return whether *line* is the beginning of a JSON value that goes on in the next one."""
    if line.lstrip()[:1] not in ("{", "["):
        return False
    try:
        loads(line)
    except JSONDecodeError as error:
        return error.pos >= len(line.rstrip())
    except (ValueError, RecursionError):
        pass
    return False


def _boundary(data: bytes) -> int:
    """Return where *data* can be cut without tearing a character of UTF-8 apart."""
    for back in range(1, 4):
        if data[-back] >= 0xC0:
            return len(data) - back
        if data[-back] < 0x80:
            break
    return len(data)
