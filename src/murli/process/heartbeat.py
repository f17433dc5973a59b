"""A sign of life of a call that takes long, for who waits for its answer.

A progress line in the log on stderr, after some seconds and then ever more rarely, of a command
that prints or has started other programs. None where the program itself writes to stderr meanwhile,
where stderr is no stream of its own (a terminal, or where the answer goes), or where nobody reads.
"""

from __future__ import annotations

import os
import sys
import time
from _thread import allocate_lock

from ..core import CONCLUDING, current
from ..formats import identity
from ..platform import can_write
from .outlets import reader_is_gone
from .process_guard import start_undisturbed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..call import Invocation

# When the first sign is given, from the start of the call on, and the longest time between two.
FIRST_SECONDS = 5.0
MOST_SECONDS = 60.0


def begin() -> None:
    """Report to the caller, from now on, that the running call goes on, if it does."""
    invocation = current()
    if (
        invocation is None
        or invocation.process.end_heartbeat is not None
        or invocation.running.lines is not None
    ):
        return
    capture = invocation.capture
    is_silent = invocation.contract.silences_stderr and not invocation.call.extra.get("verbose")
    if capture is None or not (capture.is_process and capture.collects) or is_silent:
        return
    over, gone = allocate_lock(), allocate_lock()
    over.acquire()
    gone.acquire()

    def watch() -> None:
        try:
            _report(invocation, capture, over)
        finally:
            gone.release()

    def end() -> None:
        # No thread is left: Python warns of a fork that leaves one behind, and may crash at its
        # end while one begins.
        invocation.process.end_heartbeat = None
        over.release()
        gone.acquire(timeout=1.0)

    try:
        start_undisturbed(watch)
        invocation.process.end_heartbeat = end
    except RuntimeError:  # no thread to be had
        pass


def _report(invocation: Invocation, capture: Any, over: Any) -> None:
    """Report that the call goes on, ever more rarely, until *over* is free."""
    writer = invocation.writer
    began, wait, known = writer._reply.started, FIRST_SECONDS, None
    pause = max(FIRST_SECONDS - (time.monotonic() - began), 0.0)
    while not (
        over.acquire(timeout=pause) or invocation.state >= CONCLUDING or writer._reply.answered
    ):
        if _last(capture) is known and _is_read(capture) and not sys.is_finalizing():
            writer.progress(_text(invocation, capture, time.monotonic() - began))
            writer.flush()
        known = _last(capture)
        pause, wait = wait, min(2 * wait, MOST_SECONDS)


def _last(capture: Any) -> object:
    """Return what was written to stderr last."""
    return capture.errors[-1] if capture.errors else None


def _is_read(capture: Any) -> bool:
    """Return whether stderr is a stream of its own that takes a line without blocking."""
    place = identity(2)
    if place == (0, 0, 0) or place == capture.stream.opened_on or os.isatty(2):
        return False
    return can_write(2, 0) and not reader_is_gone(2)


def _text(invocation: Invocation, capture: Any, seconds: float) -> str:
    try:
        size = os.fstat(capture.spool).st_size
    except OSError:  # closed by the program
        size = 0
    text = f"running for {seconds:.0f} s, {size:,} bytes printed so far"
    own = "--stream" in invocation.host.options(invocation.running.command)
    if not size or own or (invocation.metadata is not None and invocation.metadata.destructive):
        return text
    return f"{text}; --stream shows them as they come"
