"""Collecting where stdout is not the process's own: in a test runner, or closed."""

from __future__ import annotations

import io
import sys

from ..formats import DescriptorStream
from . import as_text, watch_errors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class StreamCapture:
    """Collects what is written to a ``sys.stdout`` that somebody, a test runner say, replaced."""

    is_process = False
    stderr_is_ours = True
    lost: OSError | None = None
    collects = True

    def __init__(self) -> None:
        self.stream: Any = sys.stdout
        self.errors: list[str | bytes] = []
        self.stop_watching = watch_errors(self.errors)
        self._bytes = io.BytesIO()
        # With a buffer beneath it, because binary output goes there.
        self._held = io.TextIOWrapper(self._bytes, "utf-8", write_through=True)
        sys.stdout = self._held

    def end(self, *, restore: bool) -> str | bytes:
        """Stop collecting; the replaced stream is always restored."""
        self.let_through()
        collected, self._bytes = self._bytes.getvalue(), io.BytesIO()
        return as_text(collected)

    def so_far(self) -> str | bytes:
        """Return what has been printed by now."""
        return as_text(self._bytes.getvalue())

    def size(self) -> int:
        """Return how many bytes have been collected so far; 0 once that is over."""
        return len(self._bytes.getvalue())

    def let_through(self) -> None:
        """Let what is printed from now on reach the stream that replaced it."""
        self.collects = False
        if sys.stdout is self._held:
            sys.stdout = self.stream

    def close(self) -> None:
        """Do nothing: the replaced stream belongs to somebody else."""


class ClosedStdout:
    """A stdout that was closed before we came: descriptor 1 may be anybody's file by now."""

    is_process = True
    stderr_is_ours = True
    lost: OSError | None = None
    collects = False

    def __init__(self) -> None:
        self.stream = DescriptorStream(-1)
        self.errors: list[str | bytes] = []
        self.stop_watching = watch_errors(self.errors)

    def end(self, *, restore: bool) -> str:
        """Return nothing: there was nowhere to print."""
        return ""

    def so_far(self) -> str:
        """Return nothing, as above."""
        return ""

    def size(self) -> int:
        """Return nothing, as above."""
        return 0

    def let_through(self) -> None:
        """Do nothing: nobody reads."""

    def close(self) -> None:
        """Do nothing."""
