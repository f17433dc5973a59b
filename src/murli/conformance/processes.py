"""Runs one process of a tool, in a group of its own, under a deadline, with an optional event."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from subprocess import DEVNULL, PIPE
from tempfile import TemporaryFile
from typing import IO

from ..wire.collecting import Collector
from ..wire.limits import MIB, Limits, in_words
from ..wire.running import Child, wait_for_end
from .results import Evidence

#: what may happen to a process, by name, and how reports describe it
EVENTS = {
    "": "",
    "reader-gone": "nobody reads its stdout",
    "null-device": "stdout is the null device",
    "interrupt": "SIGINT after its first line",
    "interrupt-at-work": "SIGINT after half a second",
}
# How much of each stream is kept, and more than any answer should have.
_MOST_KEPT = 16 * MIB
_MOST_WRITTEN = 64 * MIB
_AT_WORK_SECONDS = 0.5
_SMALLEST_PIPE = 4096


def run(
    argv: Sequence[str],
    *,
    env: Mapping[str, str],
    cwd: str,
    seconds: float,
    stdin: str = "null",
    text: bytes = b"",
    event: str = "",
    on_start: Callable[[Child], object] = lambda _: None,
) -> Evidence:
    """Run *argv* to its end, or kill it and its children; raises nothing about the program.

    *on_start* is called with the process.
    """
    given = text.decode("utf-8", "replace")
    evidence = Evidence(tuple(argv), stdin, event=EVENTS[event], given=given, cwd=cwd)
    out = _Beginning(by_byte=event == "interrupt")
    with ExitStack() as theirs:  # descriptors that only the child needs
        try:
            child = Child(
                argv,
                Limits(seconds=seconds, grace_seconds=0),
                out,
                _Beginning(out.written),
                env=env,
                cwd=cwd,
                interrupt_after=_AT_WORK_SECONDS if event == "interrupt-at-work" else None,
                popen={
                    "stdin": _stdin(stdin, text, theirs),
                    "stdout": _stdout(event, theirs),
                    # A process that writes more has to wait for the reader, and so has not ended.
                    "pipesize": _SMALLEST_PIPE if event == "interrupt" else -1,
                    # A system call or two, and nothing for which another thread could hold a lock.
                    "preexec_fn": _preparation(stdin),
                },
            )
        except (OSError, ValueError) as error:  # a word may have a null byte
            reason = error.strerror if isinstance(error, OSError) else error
            return replace(evidence, stderr=f"{argv[0]}: {reason}".encode(), exit_code=None)
    on_start(child)
    ran = wait_for_end(child, lambda: out.has_new_line() and child.send(signal.SIGINT))
    timed_out = bool(ran.reason)
    evidence = replace(
        evidence, exit_code=None if timed_out else ran.exit_code, timed_out=timed_out
    )
    return replace(evidence, stdout=ran.stdout, stderr=ran.stderr, duration_ms=ran.duration_ms)


class _Beginning(Collector):
    """Keeps the beginning of a stream; reports when both streams together are too long.

    With *by_byte* nothing after the first line is read, so that a fast stream has not ended yet.
    """

    def __init__(self, written: list[int] | None = None, *, by_byte: bool = False) -> None:
        super().__init__()
        self.written = [0] if written is None else written
        self._kept = bytearray()
        if by_byte:
            self.chunk = 1

    def feed(self, data: bytes) -> None:
        """Add the next bytes."""
        self.written[0] += len(data)
        self._kept += data[: _MOST_KEPT - len(self._kept)]
        if self.written[0] > _MOST_WRITTEN:
            self.trouble = f"it wrote more than {in_words(_MOST_WRITTEN)}"

    def has_new_line(self) -> bool:
        """Return whether the first line has just been completed, if that is waited for."""
        is_there = self.chunk == 1 and self._kept.endswith(b"\n")
        if is_there:
            self.chunk = Collector.chunk
        return is_there

    def data(self) -> bytes:
        """Return the bytes that are kept."""
        return bytes(self._kept)


def _stdin(kind: str, text: bytes, theirs: ExitStack) -> int | IO[bytes]:
    """Return the stdin of a process: a file, so that text of any length needs no writer."""
    if kind != "text":
        return PIPE if kind == "silent" else DEVNULL
    file = theirs.enter_context(TemporaryFile())  # noqa: SIM115
    file.write(text)
    file.seek(0)
    return file


def _stdout(event: str, theirs: ExitStack) -> int:
    """Return the stdout of a process; a closed reader is closed before the process starts."""
    if event != "reader-gone":
        return DEVNULL if event == "null-device" else PIPE
    reader, writer = os.pipe()
    os.close(reader)
    theirs.callback(os.close, writer)
    return writer


def _preparation(stdin: str) -> Callable[[], None] | None:
    """Return what to do in the child before the tool is executed, or ``None``."""
    # Background jobs of a shell ignore SIGINT, and their children inherit that.
    deaf = signal.getsignal(signal.SIGINT) is signal.SIG_IGN

    def prepare() -> None:
        if deaf:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
        if stdin == "closed":
            os.close(0)

    return prepare if deaf or stdin == "closed" else None
