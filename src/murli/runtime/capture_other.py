"""Collecting where stdout is not the process's own: in a test runner, or closed."""

from __future__ import annotations

import io
import sys

from ..streams import DescriptorStream
from .capture import as_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class StreamCapture:
    """Collects what is written to a ``sys.stdout`` that somebody, a test runner say, replaced."""

    is_process = False
    lost: OSError | None = None

    def __init__(self) -> None:
        self.stream: Any = sys.stdout
        self._bytes = io.BytesIO()
        # With a buffer beneath it, because binary output goes there.
        self._held = io.TextIOWrapper(self._bytes, "utf-8", write_through=True)
        sys.stdout = self._held

    def end(self, *, restore: bool) -> str | bytes:
        """Stop collecting; the replaced stream is always restored."""
        if sys.stdout is self._held:
            sys.stdout = self.stream
        return as_text(self._bytes.getvalue())

    def close(self) -> None:
        """Do nothing: the replaced stream belongs to somebody else."""


class ClosedStdout:
    """A stdout that was closed before we came: descriptor 1 may be anybody's file by now."""

    is_process = True
    lost: OSError | None = None

    def __init__(self) -> None:
        self.stream = DescriptorStream(-1)

    def end(self, *, restore: bool) -> str:
        """Give nothing: there was nowhere to print."""
        return ""

    def close(self) -> None:
        """Do nothing."""
