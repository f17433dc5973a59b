"""A terminal of 100 columns and 40 lines, for one program at a time."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import termios
import time
from pathlib import Path

COLUMNS, LINES = 100, 40
LIMIT = 30.0


def run_at_terminal(argv: list[str], folder: Path, env: dict[str, str]) -> tuple[bytes, int]:
    """Run *argv* as a person does; return what the terminal got, and the status.

    stdin, stdout and stderr are the terminal that controls the process. Its first word is a path.
    """
    pid, screen = pty.fork()
    if pid == 0:
        try:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
            os.chdir(folder)
            os.execve(argv[0], argv, {**env, "TERM": "xterm-256color"})
        finally:
            os._exit(127)
    try:
        shown = _drain(screen)
    except BaseException:
        os.kill(pid, signal.SIGKILL)
        raise
    finally:
        _, status = os.waitpid(pid, 0)
        os.close(screen)  # earlier, it would hang up
    return shown, os.waitstatus_to_exitcode(status)


def _drain(screen: int) -> bytes:
    shown = bytearray()
    deadline = time.monotonic() + LIMIT
    while time.monotonic() < deadline:
        if select.select([screen], [], [], 0.1)[0]:
            try:
                part = os.read(screen, 65536)
            except OSError:  # nobody holds the other side any more
                part = b""
            if not part:
                return bytes(shown)
            shown += part
    raise AssertionError(f"no end after {LIMIT} s; so far: {bytes(shown)!r}")
