"""Keeping stray output away from the answer, and losing none of it.

While a handler runs for an agent, whatever it, a C library or a child process prints to stdout
is collected; the answer itself goes around the collection. Collected at the file descriptor,
spooled to a file without a name, so that neither size nor speed can block the printer.
"""

from __future__ import annotations

import os
import sys

from ..streams import DescriptorStream

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class DescriptorCapture:
    """Collects everything written to file descriptor 1."""

    def __init__(self) -> None:
        try:
            # Not inheritable: a child must not be able to write beside the answer.
            self._real = os.dup(1)
        except OSError:  # descriptor 1 is closed; writing the answer will say so
            self._real = -1
        self._spool = _open_spool()
        os.dup2(self._spool, 1)
        self.stream: Any = DescriptorStream(self._real)

    def end(self, *, restore: bool) -> str:
        """Stop collecting and give the text.

        With *restore* descriptor 1 is what it was before; otherwise what is printed from now on,
        at interpreter exit say, goes to stderr, because the answer is out.
        """
        _flush(sys.stdout)
        text = self._read()
        os.close(self._spool)
        if restore and self._real >= 0:
            os.dup2(self._real, 1)
        else:
            _send_to_stderr()
        return text

    def close(self) -> None:
        """Let go of the real stdout; the answer is out."""
        if self._real >= 0:
            os.close(self._real)
            self._real = self.stream.descriptor = -1

    def _read(self) -> str:
        os.lseek(self._spool, 0, os.SEEK_SET)
        parts = []
        while part := os.read(self._spool, 1 << 20):
            parts.append(part)
        return b"".join(parts).decode("utf-8", "replace")


class StreamCapture:
    """Collects what is written to a ``sys.stdout`` that somebody, a test runner say, replaced."""

    def __init__(self) -> None:
        import io

        self.stream: Any = sys.stdout
        self._held = io.StringIO()
        sys.stdout = self._held

    def end(self, *, restore: bool) -> str:
        """Stop collecting and give the text; the replaced stream is always restored."""
        if sys.stdout is self._held:
            sys.stdout = self.stream
        return self._held.getvalue()

    def close(self) -> None:
        """Do nothing: the replaced stream belongs to somebody else."""


def stdout_is_ours() -> bool:
    """Tell whether ``sys.stdout`` still is the process's own: nobody redirected it in Python."""
    return sys.stdout is sys.__stdout__


def _open_spool() -> int:
    folder = os.environ.get("TMPDIR") or "/tmp"
    nameless = getattr(os, "O_TMPFILE", 0)
    if nameless:
        try:
            return os.open(folder, os.O_RDWR | nameless, 0o600)
        except OSError:  # not on this file system, or no such folder
            pass
    if hasattr(os, "memfd_create"):
        return os.memfd_create("murli-stdout")
    import tempfile

    descriptor, path = tempfile.mkstemp()
    os.unlink(path)
    return descriptor


def _send_to_stderr() -> None:
    try:
        os.dup2(2, 1)
    except OSError:  # stderr is closed too
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.close(nowhere)


def _flush(stream: Any) -> None:
    try:
        stream.flush()
    except (AttributeError, ValueError, OSError):  # absent, closed by the handler, or full
        pass
