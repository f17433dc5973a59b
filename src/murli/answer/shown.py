"""What people see of a handler: what it prints, at once, else what it returns."""

from __future__ import annotations

import sys

from ..formats import DescriptorStream, put, put_over, standard

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..call import Invocation
    from ..formats.screen import Screen


class PrintWatch:
    """While it is entered, text that is written to ``sys.stdout`` sets ``printed`` of *invocation*.

    A handler that shows its result itself, and returns it as well, must not have it shown twice.
    Progress that is drawn over is not a result.
    """

    def __init__(self, invocation: Invocation) -> None:
        self._running = invocation.running
        # What is printed behind the last end of a line, and what knows which lines stay, from the
        # first on that is drawn over.
        self._line = ""
        self._screen: Screen | None = None
        self._undo: Callable[[], None] | None = None

    def __enter__(self) -> PrintWatch:
        def write(beneath: Callable[[str], Any], text: str, /) -> Any:
            if not self._running.printed:
                self._note(text)
            return beneath(text)

        try:
            self._undo = put_over(sys.stdout, "write", write)
        except AttributeError:  # absent, or a stream that cannot be watched
            pass
        return self

    def _note(self, text: str, *, at_end: bool = False) -> None:
        """Note whether lines that stay are among what was printed once *text* is."""
        if self._screen is None:
            self._line += text
            if not any(map(self._line.__contains__, ("\r", "\x1b[", "\b"))):
                lines, end, rest = self._line.rpartition("\n")
                self._running.printed = bool((self._line if at_end else lines).strip())
                self._line = rest if end else self._line
                return
            from ..formats.screen import Screen

            self._screen, text = Screen(), self._line
        self._screen.feed(text)
        if at_end:
            self._screen.end()
        self._running.printed = self._screen.has_text

    def __exit__(self, *error: object) -> None:
        if not self._running.printed:
            self._note("", at_end=True)
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
