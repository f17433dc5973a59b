"""What people see of a handler: what it prints, at once, else what it returns."""

from __future__ import annotations

import sys

from ..formats import DescriptorStream, put, standard
from ..formats.screen import Screen
from .capture import put_over

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .invocation import Invocation


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
            if not invocation.printed:
                screen.feed(text)
                invocation.printed = screen.has_text
            return beneath(text)

        try:
            self._undo = put_over(sys.stdout, "write", write)
        except AttributeError:  # absent, or a stream that cannot be watched
            pass
        return self

    def __exit__(self, *error: object) -> None:
        self._screen.end()
        self._invocation.printed = self._invocation.printed or self._screen.has_text
        if self._undo is not None:
            self._undo()


def show_returned(invocation: Invocation) -> None:
    """Show a person what a handler only returned."""
    from ..formats.people import readable, show

    value = invocation.returned
    if value is not None:
        value = readable(value)
    if invocation.shaper is not None:
        value = invocation.shaper.show(value)
    if not (invocation.printed or value is None or isinstance(value, (int, float))):
        show(invocation.writer.scrubbed_value(value), standard("stdout"))


def release(invocation: Invocation) -> None:
    """Stop collecting without answering; what was printed goes out as it was."""
    writer = invocation.writer
    invocation.leave()
    if writer.ending is not None:
        from .streaming import end

        end(invocation, "")
    if writer.notices:
        from ..asides import flush_notices

        flush_notices(writer)
    writer.flush()
    invocation._unwatch()
    if invocation.capture is None:
        invocation._unguard()
        return
    capture, invocation.capture = invocation.capture, None
    capture.stop_watching()
    printed = invocation._without_secrets(invocation.end_capture(capture, restore=True))
    invocation._unguard()
    if isinstance(printed, str) and (invocation.explained or invocation.shows_help):
        from .secret_shapes import without_secrets

        printed = without_secrets(printed)  # a help text shows defaults
    try:
        if isinstance(printed, bytes):
            DescriptorStream(1).write_bytes(printed)
        else:
            put(capture.stream, printed)
    except OSError:  # nobody is there to read it
        pass
    capture.close()
