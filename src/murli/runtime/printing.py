"""Noticing whether a handler prints, without keeping a person from seeing it at once."""

from __future__ import annotations

import io
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .invocation import Invocation


class PrintWatch:
    """While it is entered, what is written to ``sys.stdout`` sets ``printed`` of *invocation*.

    A handler that shows its result itself, and returns it as well, must not have it shown twice.
    """

    def __init__(self, invocation: Invocation) -> None:
        self._invocation = invocation
        self._own: Any = None
        self._noticing: _Noticing | None = None

    def __enter__(self) -> PrintWatch:
        self._own = sys.stdout
        if isinstance(self._own, io.TextIOWrapper):
            self._own.flush()
            sys.stdout = self._noticing = _Noticing(self._own, self._invocation)
        return self

    def __exit__(self, *error: object) -> None:
        if self._noticing is None:
            return
        try:
            self._noticing.flush()
        finally:
            if sys.stdout is self._noticing:
                sys.stdout = self._own


class _Noticing(io.TextIOWrapper):
    """Another way to the same buffer that tells an invocation when it is used."""

    def __init__(self, own: io.TextIOWrapper, invocation: Invocation) -> None:
        super().__init__(
            own.buffer,
            encoding=own.encoding,
            errors=own.errors,
            newline="",
            line_buffering=own.line_buffering,
            write_through=True,
        )
        self._invocation = invocation

    def close(self) -> None:
        """Let the text out; the buffer is somebody else's, and the tool may have kept this."""
        self.flush()

    def write(self, text: str, /) -> int:
        """Write, and note it."""
        if text:
            self._invocation.printed = True
        return super().write(text)
