"""The lines of a stream that a writer writes: its items, and how far the work has come."""

from __future__ import annotations

from ..contracts import contract_named
from ..contracts.control_lines import MARKS, wrapped
from ..formats import DescriptorStream, dumps
from ..formats.quick import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..outcome import ProgressEvent
    from ..secrets.redaction import Secrets
    from . import Outlet, Put, Writer


def write_event(writer: Writer, v: Any) -> None:
    """Write *v* in a line of its own, at once."""
    outlet, reply = writer._outlet, writer._reply
    if reply.is_streaming and reply.stream is None:
        with outlet.lock:
            line = plain_line(outlet, v)
            if line is not None:
                put_line(outlet, line)
                reply.events += 1
                return
    stream_item(writer, as_event(writer, v))


def plain_line(outlet: Outlet, item: Any, number: int = 0) -> str | None:
    """Return the line of an *item* that only has to be encoded, else ``None``.

    With its *number*, unless that is 0.
    """
    text = one_line(item)
    if text is None or (type(item) is dict and not MARKS.isdisjoint(item)):
        return None
    if number:
        if type(item) is not dict or not item or "value" in item:
            return None
        text = f'{{"_seq":{number},{text[1:]}'
    secrets = outlet.secrets
    if secrets is not None and not secrets.revealed:
        for each in secrets.spelled or _spelled(secrets):
            if each in text:
                return None
    return text + "\n"


def put_line(outlet: Outlet, line: str, way: Put | None = None) -> None:
    """Write *line*, which holds no secrets, to stdout; *way* replaces the usual way."""
    stream = outlet.stdout
    if type(stream) is not DescriptorStream:
        outlet.put("stdout", line, way)
        return
    if outlet.secrets is not None:
        outlet.secrets.let_out()
    try:
        (way or DescriptorStream.write)(stream, line)
    except OSError as error:
        outlet.lose(error)


def _spelled(secrets: Secrets) -> tuple[str, ...]:
    from ..secrets.redaction import spell

    return spell(secrets)


def as_event(writer: Writer, v: Any, name: str = "event") -> Any:
    """Return *v* as a line of a stream that nobody takes for anything but an item."""
    return wrapped(writer._outlet.plain(v, name))


def stream_item(writer: Writer, item: Any) -> None:
    """Write *item*, made by `as_event`, and count it."""
    with writer._outlet.lock:
        if writer._reply.stream is not None:
            writer._reply.stream.write(item)
        else:
            stream_line(writer, item, "stdout")
            writer._reply.events += 1


def stream_line(writer: Writer, document: Any, target: str, way: Put | None = None) -> None:
    """Write *document* in one line, at once; *way* is how, should the usual one not do."""
    with writer._outlet.lock:
        if target == "stdout" and not writer._reply.is_streaming:
            begin_stream(writer)
        text = dumps(writer._outlet.scrubbed_value(document), pretty=False)
        writer._outlet.put(target, text + "\n", way)


def begin_stream(writer: Writer) -> None:
    """Write lines from now on, of which the last one ends the call."""
    writer._reply.is_streaming = writer._reply.one_line = True
    if writer._invocation is not None and writer._invocation.deadline is not None:
        writer._invocation.deadline.arm()  # whose last words are to be in the stream


def write_progress(writer: Writer, evt: ProgressEvent, target: str = "") -> None:
    """Report how far a long operation has come; agents read it on *target*, or where it belongs."""
    from .presentation import progress_document, progress_text

    if writer.is_tty():
        writer._outlet.logger.show_line(progress_text(evt))
    else:
        stream_line(writer, progress_document(evt), target or _progress_target(writer))


def _progress_target(writer: Writer) -> str:
    if writer._progress_stream != "auto":
        return writer._progress_stream
    if not contract_named(writer.contract).mixes_progress:
        return "stdout" if writer._reply.is_streaming else "stderr"
    # Who asked for exactly one document gets it.
    return "stderr" if writer.format() in ("json", "toon") else "stdout"
