"""Diagnostics on stderr: readable lines for people, NDJSON without repetition for agents."""

from __future__ import annotations

import time
from _thread import RLock

from ..formats import dumps, put, put_for_people, standard
from ..formats.text import clean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from ..formats import TextStream
    from ..secrets.redaction import Secrets

# How long a line waits for its repetitions before it is shown anyway.
HOLD_SECONDS = 0.2
_ERASE_LINE = "\r\x1b[K"


class Logger:
    """Writes diagnostic lines; consecutive equal lines are written once.

    For agents a line is held for a moment. Repetitions that arrive meanwhile share its entry
    as ``repeated``; later ones are counted and reported in one closing entry when the run ends.
    For people a repeated `log` line is dropped, and a progress line replaces the one before.
    Nothing is lost as long as `flush` is called at the end, which the runtime does.
    """

    def __init__(
        self,
        stream: TextStream | None = None,
        is_tty: bool = False,
        *,
        lock: RLock | None = None,
    ) -> None:
        self._stream = stream
        self._is_tty = is_tty
        # What must not be written, if anything.
        self.secrets: Secrets | None = None
        # What every line goes through, if anything.
        self.mask: Callable[[str], str] | None = None
        # What every entry belongs to, if anything.
        self.trace_id = ""
        # Shared with the writer, so that no line is torn by an envelope.
        self._lock = lock or RLock()
        self._key: tuple[str, str] | None = None
        self._since = 0.0
        self._waiting = 0
        self._shown = False
        self._watched = False
        self._line_open = False

    def log(self, line: str) -> None:
        """Log something that happened."""
        self._write("info", line)

    def log_progress(self, line: str) -> None:
        """Log what is going on now; at a terminal it replaces the line before."""
        self._write("progress", line)

    progress = log_progress

    def flush(self) -> None:
        """Write what is still held, and leave a terminal at the start of a clean line."""
        with self._lock:
            self._end_run()
            self.end_line()

    def show_line(self, text: str) -> None:
        """Show *text* as the terminal's current progress line."""
        with self._lock:
            self._write_line(_ERASE_LINE + self._scrubbed(text))
            self._line_open = True

    def end_line(self) -> None:
        """Erase a progress line that is still on the terminal; other output may follow."""
        if self._line_open:
            self._line_open = False
            self._write_line(_ERASE_LINE)

    def _write(self, level: str, line: str) -> None:
        with self._lock:
            if self._is_tty:
                self._write_to_person(level, line)
                return
            key = (level, self._scrubbed(clean(str(line))))
            if key == self._key:
                if not self._waiting:
                    self._since = time.time()
                self._waiting += 1
                return
            self._end_run()
            self._key, self._since, self._waiting, self._shown = key, time.time(), 1, False
            self._watch()

    def _write_to_person(self, level: str, line: str) -> None:
        line = self._scrubbed(line)
        if level == "progress":
            self.show_line(line)
        elif (level, line) != self._key:
            self.end_line()
            self._write_line(f"{line}\n")
        self._key = (level, line)

    def _watch(self) -> None:
        """See to it that a held line is shown in time although nothing else may happen."""
        if self._watched:
            return
        from _thread import start_new_thread

        try:
            # Not threading.Thread: its import is dear, and nobody must wait for this one.
            start_new_thread(self._show_in_time, ())
            self._watched = True
        except RuntimeError:  # no more threads: the line waits for the end of its run
            pass

    def _show_in_time(self) -> None:
        while True:
            with self._lock:
                wait = self._since + HOLD_SECONDS - time.time()
                held = self._waiting and not self._shown
                if held and wait <= 0:
                    self._write_entry()
                if not held or wait <= 0:
                    self._watched = False
                    return
            time.sleep(min(wait, HOLD_SECONDS))

    def _end_run(self) -> None:
        if self._waiting:
            self._write_entry()
        self._key = None

    def _write_entry(self) -> None:
        level, text = self._key or ("info", "")
        # An entry stands for its first line unless that one was shown already.
        repeated = self._waiting if self._shown else self._waiting - 1
        entry = {"ts": timestamp(self._since), "level": level, "msg": text}
        if repeated:
            entry["repeated"] = repeated  # type: ignore[assignment]
        if self.trace_id:
            entry["trace_id"] = self.trace_id
        self._waiting, self._shown = 0, True
        write = put if self.secrets is None else self.secrets.put
        try:
            write(self._stream or standard("stderr"), dumps(entry, pretty=False) + "\n")
        except OSError:  # nobody reads the diagnostics; the answer matters more
            pass

    def _scrubbed(self, text: str) -> str:
        text = text if self.mask is None else self.mask(text)
        return text if self.secrets is None else self.secrets.scrub(text)

    def _write_line(self, text: str) -> None:
        try:
            put_for_people(self._stream or standard("stderr"), text)
        except OSError:  # as above
            pass


def timestamp(seconds: float) -> str:
    """Return *seconds* since the epoch as RFC 3339 in UTC, to the microsecond."""
    whole = int(seconds)
    fraction = int((seconds - whole) * 1_000_000)
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(whole)) + f".{fraction:06d}Z"
