"""What people see of a handler: what it prints, at once, else what it returns."""

from __future__ import annotations

import sys

from ..formats import DescriptorStream, put, put_over, standard
from ..formats.screen import Screen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..call import Invocation


class PrintWatch:
    """While it is entered, text that is written to ``sys.stdout`` sets ``printed`` of *invocation*.

    A handler that shows its result itself, and returns it as well, must not have it shown twice.
    Progress that is drawn over is not a result.
    """

    def __init__(self, invocation: Invocation) -> None:
        self._invocation = invocation
        self._screen = Screen()
        self._undo: Callable[[], None] | None = None

    def __enter__(self) -> PrintWatch:
        invocation, screen = self._invocation, self._screen

        def write(beneath: Callable[[str], Any], text: str, /) -> Any:
            if not invocation.running.printed:
                screen.feed(text)
                invocation.running.printed = screen.has_text
            return beneath(text)

        try:
            self._undo = put_over(sys.stdout, "write", write)
        except AttributeError:  # absent, or a stream that cannot be watched
            pass
        return self

    def __exit__(self, *error: object) -> None:
        self._screen.end()
        self._invocation.running.printed = self._invocation.running.printed or self._screen.has_text
        if self._undo is not None:
            self._undo()


def show_returned(invocation: Invocation) -> None:
    """Show a person what a handler only returned."""
    from ..formats.people import readable, show

    value = invocation.running.returned
    if value is not None:
        value = readable(value)
    if invocation.shaper is not None:
        value = invocation.shaper.show(value)
    if not (invocation.running.printed or value is None or isinstance(value, (int, float))):
        show(invocation.writer._outlet.scrubbed_value(value), standard("stdout"))


def release(invocation: Invocation) -> None:
    """Stop collecting without answering; what was printed goes out as it was."""
    writer = invocation.writer
    invocation.deactivate()
    if writer._reply.stream_summary is not None:
        from .streaming import end

        end(invocation, "")
    if writer._reply.notices:
        from .presentation import flush_notices

        flush_notices(writer)
    writer.flush()
    invocation.stop_watching()
    if invocation.capture is None:
        if invocation.secrets is not None:
            invocation.secrets.unguard()
        return
    capture, invocation.capture = invocation.capture, None
    capture.stop_watching()
    printed = invocation.process.end_capture(capture, restore=True)
    if invocation.secrets is not None:
        printed = invocation.secrets.scrub_printed(printed)
        invocation.secrets.unguard()
    if isinstance(printed, str) and (invocation.running.explained or invocation.running.shows_help):
        from ..secrets.shapes import without_secrets

        printed = without_secrets(printed)  # a help text shows defaults
    try:
        if isinstance(printed, bytes):
            DescriptorStream(1).write_bytes(printed)
        else:
            put(capture.stream, printed)
    except OSError:  # nobody is there to read it
        pass
    capture.close()
