"""An answer that is much printed text: it goes from the file where it was collected to the reader.

A document that is made as a whole takes several times its size in memory. Here the document is made
with a mark in the place of the text, and the text is put there piece by piece. What is not plain
text (JSON, bytes, progress), or has to be shaped first, is answered in the usual way.
"""

from __future__ import annotations

from codecs import getincrementaldecoder
from secrets import token_hex

from ..formats import cleaned, dumps
from ..formats.text import FEW_LINES, TextLines
from ..platform import read_at
from .printed import is_table, is_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ..call import Invocation
    from ..process import DescriptorCapture

    # Clean text; as bytes where it is ASCII that JSON has as it is, but for its line feeds.
    Piece = str | bytes

_PIECE = 1 << 17
# In more text tables are not looked for.
_MOST_WITH_TABLES = 1 << 24
# What is more than text: NUL, and what draws.
_NO_TEXT = (b"\0", b"\b", b"\x1b")
# In ASCII, what JSON has another form for, beside the line feed.
_ESCAPED = bytes({*range(32), *b'"\\'} - {*b"\n"})


def answer(invocation: Invocation, *, restore: bool) -> int | None:
    """Answer with what was collected, and return the exit code; ``None`` where that is no way."""
    capture: Any = invocation.capture
    if not _is_plain_answer(invocation, capture):
        return None
    keeps_end = _looks_plain(capture.spool)
    if keeps_end is None:
        return None
    has_lines = not is_text(invocation.metadata) and _has_lines(capture.spool, keeps_end)
    if invocation.secrets is not None:
        invocation.secrets.end_collecting()
    if invocation.process.end_heartbeat is not None:
        invocation.process.end_heartbeat()
    capture.stop(restore=restore)
    capture.catch_up()
    writer, mark = invocation.writer, token_hex(16)
    writer.flush()
    if invocation.secrets is not None:
        invocation.secrets.let_out()
    text = _trimmed(_scrubbed(invocation, _read(capture.spool)), keeps_end=keeps_end)
    writer._outlet.stdout = _Filled(capture.stream, f'"{mark}"', text)
    code = 0
    try:
        writer.write_success("", TextLines(lines=[mark]) if has_lines else mark)
    except (Exception, KeyboardInterrupt) as error:  # it could not be written
        code = invocation.conclude(error, "")
    finally:
        writer._outlet.stdout = capture.stream
    capture.close_spool()
    invocation.process.drop(capture, restore=restore)
    return code


class _Filled:
    """A stream on which *text* is written in the place of a *mark*."""

    def __init__(self, stream: Any, mark: str, text: Iterator[Piece]) -> None:
        self._stream = stream
        self._mark = mark
        self._text = text

    def write(self, document: str) -> None:
        """Write *document*."""
        before, _, behind = document.partition(self._mark)
        self._stream.write(f'{before}"')
        # Between two lines, if they stand each for itself in an array.
        margin = before[len(before.rstrip()) :]
        between = f'",{margin}"' if before.rstrip()[-1:] == "[" else "\\n"
        for piece in self._text:
            self._stream.write_bytes(_in_json(piece, between))
        self._stream.write(f'"{behind}')

    def flush(self) -> None:
        """Do nothing: every write has reached the descriptor already."""


def _is_plain_answer(invocation: Invocation, capture: DescriptorCapture) -> bool:
    """Return whether what was printed is all there is to answer, as it is."""
    writer, reply = invocation.writer, invocation.writer._reply
    shaped = (
        reply.filters
        or reply.format == "toon"
        or reply.replace_outcome
        or reply.own_page
        or invocation.contract.has_object_payload
    )
    other = reply.answered or reply.stream_summary or reply.hide_success or reply.streams
    own = invocation.running.returned is not None and not isinstance(
        invocation.running.returned, int
    )
    tables = invocation.running.tables and capture.size() < _MOST_WITH_TABLES
    special = (
        tables
        or invocation.running.lines
        or capture.questions
        or invocation.running.refused_exit_code
    )
    lost = capture.lost or writer._outlet.write_error
    return not (shaped or other or own or special or lost or writer._forgot_dry_run())


def _looks_plain(spool: int) -> bool | None:
    """Return whether the end of the text in *spool* belongs to it; ``None`` if it is not text."""
    decoder = getincrementaldecoder("utf-8")()
    begun, crlf = "", False
    position = 0
    while data := read_at(spool, _PIECE, position):
        position += len(data)
        if b"\r" in data or any(each in data for each in _NO_TEXT):
            more = read_at(spool, 1, position) if data.endswith(b"\r") else b""
            if b"\r" in (data + more).replace(b"\r\n", b"") or any(e in data for e in _NO_TEXT):
                return None
            crlf = True
        try:
            text = decoder.decode(data)
        except UnicodeDecodeError:
            return None
        begun = begun or text
    if decoder.getstate()[0] or begun.lstrip()[:1] in ("", "{", "["):
        return None
    return crlf or is_table(begun)


def _has_lines(spool: int, keeps_end: bool) -> bool:
    """Return whether the text in *spool* has so many lines that each stands for itself."""
    position, breaks, last = 0, 0, 0
    while breaks < FEW_LINES and (data := read_at(spool, _PIECE, position)):
        position += len(data)
        text = data if keeps_end else data.rstrip(b"\n")
        if text:  # the line breaks behind the text before it belong to it
            breaks += last + text.count(b"\n")
            last = 0
        last += len(data) - len(text)
    return breaks >= FEW_LINES


def _read(spool: int) -> Iterator[bytes]:
    """Yield the text in pieces, which end where a line does, if there are lines."""
    kept: list[bytes] = []  # of a line that goes on
    position = 0
    while data := read_at(spool, _PIECE, position):
        position += len(data)
        end = data.rfind(b"\n") + 1
        if end:
            yield b"".join((*kept, data[:end]))
            kept.clear()
        kept.append(data[end:])
    if rest := b"".join(kept):
        yield rest


def _scrubbed(invocation: Invocation, pieces: Iterator[bytes]) -> Iterator[Piece]:
    """Yield *pieces* as clean text without the secrets of the call."""
    secrets = invocation.secrets
    taken: list[bytes] = []
    guard = None
    if secrets is not None and not secrets.revealed:
        from ..secrets.streams import Flow

        guard = Flow(secrets, 0, answers=True)
    for piece in pieces:
        if guard is None:
            taken.append(piece)
        else:
            guard.write(piece, taken.append, outlet=taken.append)
        yield _text(taken)
    if guard is not None:
        guard.let_out()
        yield _text(taken)


def _text(taken: list[bytes]) -> Piece:
    data = b"".join(taken)
    taken.clear()
    if data.isascii() and not any(map(data.__contains__, _ESCAPED)):
        return data
    return "\r\n".join(map(cleaned, data.decode("utf-8", "replace").split("\r\n")))


def _trimmed(pieces: Iterator[Piece], *, keeps_end: bool) -> Iterator[Piece]:
    """Yield *pieces*, without the line ends behind the last line unless they belong to it."""
    ends = 0
    for piece in pieces:
        line_feed: Any = "\n" if isinstance(piece, str) else b"\n"
        kept = piece if keeps_end else piece.rstrip(line_feed)
        if kept and ends:
            yield b"\n" * ends
            ends = 0
        ends += len(piece) - len(kept)
        yield kept


def _in_json(piece: Piece, between: str) -> bytes:
    """Return *piece* as it stands in a text in JSON, with *between* for its line feeds."""
    if isinstance(piece, bytes):
        return piece.replace(b"\n", between.encode())
    if "\\" in piece:
        text = between.join(dumps(line)[1:-1] for line in piece.split("\n"))
    else:
        text = dumps(piece)[1:-1].replace("\\n", between)
    return text.encode("utf-8", "replace")
