"""What a call says while it runs: how far it has come, and what it logs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..contracts.control_lines import is_aside
from ..wire.collecting import Collector
from ..wire.documents import value_in
from ..wire.values import number_in, text_in

# Nothing that is said on the side is longer.
_LONGEST_LINE = 1 << 16
_LEVELS = {"debug": "debug", "warning": "warning", "warn": "warning", "error": "error"}


class Progress:
    """How far a call has come: a number that only grows, however many stages there are."""

    def __init__(self) -> None:
        self._base = self._latest = 0.0
        self._stage = ""
        self.value = 0.0
        self.total: float | None = None
        self.message = ""

    def note(self, event: Mapping[str, Any]) -> bool:
        """Take a report of the tool; return whether the call has come any further."""
        current, total = number_in(event.get("current")), number_in(event.get("total"))
        if current is None and (percent := number_in(event.get("percent"))) is not None:
            current, total = percent, 100
        stage, message = text_in(event.get("stage")), text_in(event.get("message"))
        if current is None:
            return False
        if stage != self._stage or current < self._latest:
            self._base, self._stage = self._base + self._latest, stage
        self._latest = current
        value = self._base + current
        if value <= self.value:
            return False
        self.value = value
        self.total = self._base + total if total else None
        self.message = ": ".join(filter(None, (stage, message)))
        return True


class Listener:
    """Takes what a call says on the side; *on_progress* and *on_log* must not take long."""

    def __init__(
        self, on_progress: Callable[[Progress], object], on_log: Callable[[str, str], object]
    ) -> None:
        self._progress = Progress()
        self._on_progress = on_progress
        self._on_log = on_log

    def take(self, line: bytes, *, logs: bool) -> None:
        """Take one line; *logs* is whether what is no progress may be a log entry."""
        document = value_in(line) if line[:1] == b"{" else None
        if isinstance(document, dict) and is_aside(document):
            if self._progress.note(document):
                self._on_progress(self._progress)
        elif logs and isinstance(document, dict) and {"ts", "level", "msg"} <= document.keys():
            level = _LEVELS.get(text_in(document["level"]), "info")
            self._on_log(level, text_in(document["msg"]))
        elif logs and document is None and line.strip():
            self._on_log("info", line.decode("utf-8", "replace").rstrip())


class Overheard(Collector):
    """Hands the lines that come to *listener*, and everything to *sink*, which keeps it."""

    def __init__(self, sink: Collector, listener: Listener, *, logs: bool = False) -> None:
        super().__init__()
        self._sink = sink
        self._listener = listener
        self._logs = logs
        self._rest = b""
        self._in_document = False

    def feed(self, data: bytes) -> None:
        """Take the next bytes."""
        self._sink.feed(data)
        self.trouble, self.activity = self._sink.trouble, self._sink.activity
        first, *others = data.split(b"\n")
        self._rest = self._rest[:_LONGEST_LINE] + first[:_LONGEST_LINE]
        for line in others:
            self._take(self._rest)
            self._rest = line[:_LONGEST_LINE]

    def end(self) -> None:
        """Note that nothing comes any more."""
        self._sink.end()
        self._take(self._rest)
        self._rest = b""

    def data(self) -> bytes:
        """Return the bytes that are kept."""
        return self._sink.data()

    def _take(self, line: bytes) -> None:
        if len(line) >= _LONGEST_LINE:
            return
        # A document of many lines, which is an answer.
        if line.rstrip() == b"{":
            self._in_document = True
        elif not self._in_document:
            self._listener.take(line, logs=self._logs)
        elif line.rstrip() == b"}":
            self._in_document = False
