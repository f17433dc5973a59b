"""What a tool prints while it is asked for its commands, before anybody collects it.

Loading a command may print. Until the framework runs, that has no place: an answer of ours would
stand beside it, and nothing may be lost.
"""

from __future__ import annotations

import io
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_kept: list[str] = []


class EarlyPrints:
    """While it is entered, what is written to ``sys.stdout`` is kept for `let_out`."""

    def __enter__(self) -> EarlyPrints:
        self._own, self._bytes = sys.stdout, io.BytesIO()
        self._stream = io.TextIOWrapper(self._bytes, "utf-8", newline="", write_through=True)
        sys.stdout = self._stream
        return self

    def __exit__(self, *error: object) -> None:
        sys.stdout = self._own
        text = self._bytes.getvalue().decode("utf-8", "replace")
        if text:
            _kept.append(text)


def let_out(stream: Any) -> None:
    """Write to *stream* what has been kept."""
    text = "".join(_kept)
    _kept.clear()
    if text and stream is not None:
        stream.write(text)
