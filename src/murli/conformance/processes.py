"""One process of a tool: in a group of its own, under a deadline, with what may happen to it."""

from __future__ import annotations

import os
import selectors
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from subprocess import DEVNULL, PIPE, Popen
from tempfile import TemporaryFile
from typing import IO

#: what may happen to a process, by name, and how that is told
EVENTS = {
    "": "",
    "reader-gone": "nobody reads its stdout",
    "null-device": "stdout is the null device",
    "interrupt": "SIGINT after its first line",
    "interrupt-at-work": "SIGINT after half a second",
}
_CHUNK = 1 << 16
# What is kept of each stream, and what is more than any answer.
_MOST_KEPT = 16 << 20
_MOST_WRITTEN = 64 << 20
# How long others may hold the output of a tool open once it has ended.
_LINGER_SECONDS = 0.5
_AT_WORK_SECONDS = 0.5
_SMALLEST_PIPE = 4096


@dataclass(frozen=True, slots=True)
class Ended:
    """How a process ended; *exit_code* is ``None`` when it had to be killed or never ran."""

    stdout: bytes
    stderr: bytes
    exit_code: int | None
    timed_out: bool
    duration_ms: int


def run(
    argv: Sequence[str],
    *,
    env: Mapping[str, str],
    cwd: str,
    seconds: float,
    stdin: str = "null",
    text: bytes = b"",
    event: str = "",
) -> Ended:
    """Run *argv* to its end, or kill it and all it started; raises nothing about the program."""
    started = time.monotonic()
    reader, writer = _stdout(event)
    source = _stdin(stdin, text)
    try:
        process = Popen(
            list(argv),
            stdin=source,
            stdout=writer,
            stderr=PIPE,
            env=dict(env),
            cwd=cwd,
            start_new_session=True,
            bufsize=0,
            # A system call or two, and nothing that another thread could hold a lock of.
            preexec_fn=_preparation(stdin),  # noqa: PLW1509
        )
    except (OSError, ValueError) as error:  # a word may hold what no process can be given
        if reader is not None:
            reader.close()
        reason = error.strerror if isinstance(error, OSError) else error
        return Ended(b"", f"{argv[0]}: {reason}".encode(), None, False, 0)
    finally:
        if not isinstance(source, int):
            source.close()
        if writer != DEVNULL:
            os.close(writer)
    process.stdout = reader
    attended = _Attended(process, started, seconds, event)
    try:
        attended.listen()
    finally:
        attended.close()
    elapsed = round((time.monotonic() - started) * 1000)
    out, err = (bytes(each) for each in attended.kept)
    code = None if attended.timed_out else process.returncode
    return Ended(out, err, code, attended.timed_out, elapsed)


def _stdin(kind: str, text: bytes) -> int | IO[bytes]:
    """Give what a process reads: a file for a text of any length, so that nobody has to feed it."""
    if kind != "text":
        return PIPE if kind == "silent" else DEVNULL
    file = TemporaryFile()  # noqa: SIM115 -- the process has its own by the time it is closed
    file.write(text)
    file.seek(0)
    return file


def _stdout(event: str) -> tuple[IO[bytes] | None, int]:
    """Give what reads the stdout of a process, and what it writes to, as *event* wants them.

    Before there is a process: a quick one would have written all it has to say.
    """
    if event == "null-device":
        return None, DEVNULL
    reader, writer = os.pipe()
    if event == "interrupt":
        _shrink(writer)
    if event == "reader-gone":
        os.close(reader)
        return None, writer
    return open(reader, "rb", buffering=0), writer


def _preparation(stdin: str) -> Callable[[], None] | None:
    """Give what has to be done in a process before the tool is run in it, ``None`` for nothing."""
    # What a shell starts behind its back is deaf to interrupts, and so is what that starts.
    deaf = signal.getsignal(signal.SIGINT) is signal.SIG_IGN

    def prepare() -> None:
        if deaf:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
        if stdin == "closed":
            os.close(0)

    return prepare if deaf or stdin == "closed" else None


class _Attended:
    """A process that is listened to until it ends or its time is over."""

    def __init__(self, process: Popen[bytes], started: float, seconds: float, event: str) -> None:
        self.process = process
        self.timed_out = False
        self.kept = (bytearray(), bytearray())
        self._written = 0
        self._deadline = started + seconds
        self._exited: float | None = None
        self._event = event
        self._signal_at = started + _AT_WORK_SECONDS if event == "interrupt-at-work" else None
        self._selector = selectors.DefaultSelector()
        for stream, kept in ((process.stdout, self.kept[0]), (process.stderr, self.kept[1])):
            if stream is not None:
                os.set_blocking(stream.fileno(), False)
                self._selector.register(stream, selectors.EVENT_READ, kept)

    def listen(self) -> None:
        """Read what it writes until nobody can write any more."""
        while self._selector.get_map():
            now = time.monotonic()
            if now >= self._deadline or self._written > _MOST_WRITTEN:
                self.timed_out = True
                return
            if self._exited is not None and now >= self._exited + _LINGER_SECONDS:
                return
            if self._signal_at is not None and now >= self._signal_at:
                self._signal_at = None
                self._send(signal.SIGINT)
            for key, _ in self._selector.select(min(self._deadline - now, 0.05)):
                self._take(key)
            if self._exited is None and self._has_exited():
                self._exited = time.monotonic()
        pause = 0.0005
        while not self._has_exited():  # it has closed its streams, and goes on
            if time.monotonic() >= self._deadline:
                self.timed_out = True
                return
            time.sleep(pause)
            pause = min(2 * pause, 0.02)

    def close(self) -> None:
        """End the process and all it started, and let go of its streams."""
        # Before its status is taken: until then its number is nobody else's.
        self._send(signal.SIGKILL)
        self._selector.close()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()
        self.process.wait()

    def _take(self, key: selectors.SelectorKey) -> None:
        stream, kept = key.fileobj, key.data
        # Byte by byte until the first line is there, so that a quick stream is still under way.
        waiting = self._event == "interrupt" and kept is self.kept[0]
        try:
            data = os.read(key.fd, 1 if waiting else _CHUNK)
        except BlockingIOError:
            return
        if not data:
            self._selector.unregister(stream)
            return
        self._written += len(data)
        kept += data[: _MOST_KEPT - len(kept)]
        if waiting and data == b"\n":
            self._event = ""
            self._send(signal.SIGINT)

    def _has_exited(self) -> bool:
        flags = os.WEXITED | os.WNOHANG | os.WNOWAIT
        return os.waitid(os.P_PID, self.process.pid, flags) is not None

    def _send(self, number: int) -> None:
        try:
            os.killpg(self.process.pid, number)
        except (ProcessLookupError, PermissionError):  # nobody of ours is left
            pass


def _shrink(descriptor: int) -> None:
    """Make a pipe as small as the system lets it be: who writes more has to wait for the reader."""
    try:
        from fcntl import F_SETPIPE_SZ, fcntl

        fcntl(descriptor, F_SETPIPE_SZ, _SMALLEST_PIPE)
    except (ImportError, OSError):  # another system; then it is as quick as it is
        pass
