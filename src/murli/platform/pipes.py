"""Pipes read and fed on threads, where a system cannot wait for them."""

from __future__ import annotations

import os
import threading
from collections import deque

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import IO

_CHUNK = 1 << 16
# How much is read ahead.
_MOST_PARTS = 64
# How often to look at what no thread reports, such as the end of a process.
_LOOK_SECONDS = 0.02

_something = threading.Event()


def wait(seconds: float) -> None:
    """Wait until a pipe has something to read, at most for *seconds*, and never for long."""
    if _something.wait(min(seconds, _LOOK_SECONDS)):
        _something.clear()


class PipeReader:
    """Reads a pipe on a thread until its end, or `stop`; the descriptor may be closed meanwhile."""

    def __init__(self, descriptor: int) -> None:
        # The thread's own: the number of one closed meanwhile may be that of another file.
        self._descriptor = os.dup(descriptor)
        self._parts: deque[bytes] = deque()
        self._room = threading.Semaphore(_MOST_PARTS)
        self._is_over = False
        threading.Thread(target=self._read, daemon=True).start()

    def read(self) -> bytes:
        """Return what came, ``b""`` at the end; `BlockingIOError` when nothing came yet."""
        if not self._parts:
            raise BlockingIOError
        part = self._parts.popleft()
        self._room.release()
        if self._parts:
            _something.set()
        return part

    def stop(self) -> None:
        """Read no more, as soon as what the thread waits for has come."""
        self._is_over = True
        self._room.release()

    def _read(self) -> None:
        part = b"."
        try:
            while part and self._room.acquire() and not self._is_over:
                try:
                    part = os.read(self._descriptor, _CHUNK)
                except OSError:
                    part = b""
                self._parts.append(part)
                _something.set()
        finally:
            os.close(self._descriptor)


def feed(stream: IO[bytes], data: bytes) -> None:
    """Write *data* to *stream* on a thread, and close it; a reader that goes away ends that."""

    def write() -> None:
        try:
            stream.write(data)
        except OSError:
            pass
        finally:
            try:
                stream.close()
            except OSError:
                pass

    threading.Thread(target=write, daemon=True).start()
