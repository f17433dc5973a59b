"""The lines of a stream that a writer writes: its items, and how far the work has come."""

from __future__ import annotations

from .control_lines import wrapped
from .formats import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .asides import ProgressEvent
    from .writer import Put, Writer


def as_event(writer: Writer, v: Any, name: str = "event") -> Any:
    """Return *v* as a line of a stream that nobody takes for anything but an item."""
    return wrapped(writer._plain(v, name))


def stream_item(writer: Writer, item: Any) -> None:
    """Write *item*, made by `as_event`, and count it."""
    with writer._lock:
        if writer.flow is not None:
            writer.flow.write(item)
        else:
            stream_line(writer, item, "stdout")
            writer.events += 1


def stream_line(writer: Writer, document: Any, target: str, way: Put | None = None) -> None:
    """Write *document* in one line, at once; *way* is how, should the usual one not do."""
    with writer._lock:
        if target == "stdout" and not writer.is_streaming:
            begin_stream(writer)
        text = dumps(writer.scrubbed_value(document), pretty=False)
        writer._put(target, text + "\n", way)


def begin_stream(writer: Writer) -> None:
    """Write lines from now on, of which the last one ends the call."""
    writer.is_streaming = writer.in_lines = True
    if writer.invocation is not None and writer.invocation.deadline is not None:
        writer.invocation.deadline.arm()  # whose last words are to be in the stream


def write_progress(writer: Writer, evt: ProgressEvent) -> None:
    """Report how far a long operation has come."""
    from .presentation import progress_document, progress_text

    if writer.is_tty():
        writer._logger.show_line(progress_text(evt))
    else:
        stream_line(writer, progress_document(evt), _progress_target(writer))


def _progress_target(writer: Writer) -> str:
    if writer._progress_stream != "auto":
        return writer._progress_stream
    if writer.contract != "murli":
        return "stdout" if writer.is_streaming else "stderr"
    # Who asked for exactly one document gets it.
    return "stderr" if writer.format() == "json" else "stdout"
