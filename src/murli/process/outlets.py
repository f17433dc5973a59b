"""Streams that take nothing any more: whose reader is gone, or whose buffer must be dropped."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def reader_is_gone(descriptor: int) -> bool:
    """Return whether *descriptor* is a pipe that nobody reads any more."""
    import select

    try:
        poll = select.poll()
        poll.register(descriptor, 0)
        # Not so where the program has closed what is not its own.
        return any(found & ~select.POLLNVAL for _, found in poll.poll(0))
    except (OSError, AttributeError):
        return False


def forget_output() -> None:
    """Let what is still in the buffers of stdout go nowhere: its reader is gone."""
    if sys.stdout is sys.__stdout__ and reader_is_gone(1):
        _send_nowhere(1)


def forget_both() -> None:
    """Let what a stream does not take go nowhere: Python would make it an exit code of its own."""
    for number, stream, own in ((1, sys.stdout, sys.__stdout__), (2, sys.stderr, sys.__stderr__)):
        if stream is own:
            _send_nowhere(number)


def drop_pending(stream: Any) -> None:
    """Empty the buffer of a *stream* that takes nothing; afterwards it is what it was."""
    try:
        descriptor = stream.fileno()
        real = os.dup(descriptor)
    except (OSError, ValueError, AttributeError):
        return
    try:
        _send_nowhere(descriptor)
        stream.flush()
    except (OSError, ValueError):
        pass
    finally:
        os.dup2(real, descriptor)
        os.close(real)


def _send_nowhere(descriptor: int) -> None:
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        if nowhere != descriptor:
            os.dup2(nowhere, descriptor)
            os.close(nowhere)
    except OSError:  # no descriptor left
        pass
