"""Processes that run on while a test does something to them."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness import DEADLINE, Run, environment


@dataclass
class Started:
    """A process that runs, and what it has written to stderr so far."""

    process: subprocess.Popen[bytes]
    seen: bytes = b""

    def wait_for(self, text: bytes) -> bytes:
        """Return the line of stderr that begins with *text*."""
        stderr = self.process.stderr
        assert stderr is not None
        while True:
            line = stderr.readline()
            assert line, f"it ended before it said {text!r}: {self.seen!r}"
            self.seen += line
            if line.startswith(text):
                return line

    def send(self, number: int) -> None:
        self.process.send_signal(number)

    def end(self) -> Run:
        """Wait for its end, and give everything it wrote."""
        out, err = self.process.communicate(timeout=DEADLINE)
        return Run(out, self.seen + err, self.process.returncode)


class Starter:
    """Starts processes, and leaves none behind."""

    def __init__(self) -> None:
        self._started: list[subprocess.Popen[bytes]] = []

    def __call__(self, argv: list[str], *args: str, env: Any = None, **options: Any) -> Started:
        settings: dict[str, Any] = {
            "stdin": subprocess.DEVNULL,
            "stdout": subprocess.PIPE,
            "stderr": subprocess.PIPE,
            "env": env or environment(),
            "start_new_session": True,
            **options,
        }
        process = subprocess.Popen([*argv, *args], **settings)
        self._started.append(process)
        return Started(process)

    def stop(self) -> None:
        for process in self._started:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait(DEADLINE)
            for stream in (process.stdout, process.stderr, process.stdin):
                if stream is not None:
                    stream.close()


def is_running(process: int) -> bool:
    """Tell whether a process runs; a zombie does not."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def ends_soon(process: int) -> bool:
    """Tell whether a process that was told to end does so."""
    deadline = time.monotonic() + 5
    while is_running(process) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not is_running(process)
