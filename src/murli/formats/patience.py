"""How long others are waited for, and in which encoding they are spoken to."""

from __future__ import annotations

import errno
import os
import stat
import sys

from ..platform import NOCTTY, can_write, is_drained
from . import LONGEST_SECONDS, ROOM

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


# A person at a pager reads when they like; where there is no terminal, nobody does that.
STALLED_SECONDS = 60.0
_WITHOUT_BLOCKING = 4096  # what a pipe that is ready takes for sure
_AT_ONCE = 1 << 20


def wait_for_reader(descriptor: int) -> int:
    """Return when *descriptor* takes more, with how many bytes it takes without blocking.

    `OSError` when nobody has read from it for too long.
    """
    kind = os.fstat(descriptor).st_mode
    if not stat.S_ISFIFO(kind) and not stat.S_ISSOCK(kind):
        return _AT_ONCE
    if not can_write(descriptor, 0) and not can_write(descriptor, _patience()):
        raise OSError(errno.ETIMEDOUT, "nobody reads it")
    return ROOM if stat.S_ISFIFO(kind) and is_drained(descriptor) else _WITHOUT_BLOCKING


def _patience() -> float | None:
    """Return how many seconds to wait; ``None`` for ever."""
    seconds = seconds_from("MURLI_WRITE_TIMEOUT")
    if seconds is not None:
        return seconds or None
    try:
        os.close(os.open("/dev/tty", os.O_RDONLY | NOCTTY))
        return None
    except OSError:
        return STALLED_SECONDS


def seconds_from(variable: str) -> float | None:
    """Return the seconds in an environment variable, at most `LONGEST_SECONDS`, or ``None``."""
    given = os.environ.get(variable, "")
    return min(float(given), LONGEST_SECONDS) if given.replace(".", "", 1).isdecimal() else None


# The encoding of stdout before `speak_utf8`; children may still write in it.
native_encoding = ""
_VARIABLE = "PYTHONIOENCODING"


def speak_utf8() -> Callable[[], None]:
    """Make the standard streams UTF-8, whatever the locale says; return what takes that back.

    Python programs that are started meanwhile do the same, where a variable said otherwise.
    """
    global native_encoding
    changed: list[tuple[Any, str]] = []
    named = os.environ.get(_VARIABLE)
    if named:
        os.environ[_VARIABLE] = "utf-8"
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        encoding = str(getattr(stream, "encoding", None) or "utf-8")
        if encoding.lower() not in ("utf-8", "utf8") and hasattr(stream, "reconfigure"):
            try:
                stream.reconfigure(encoding="utf-8", errors=stream.errors)
            except (OSError, ValueError):  # full, closed, or read from already
                continue
            changed.append((stream, encoding))
            if stream is sys.stdout:
                native_encoding = encoding

    def undo() -> None:
        if named and os.environ.get(_VARIABLE) == "utf-8":
            os.environ[_VARIABLE] = named
        for stream, encoding in changed:
            try:
                stream.reconfigure(encoding=encoding, errors=stream.errors)
            except (OSError, ValueError):  # as above
                pass

    return undo


def decoded(printed: bytes) -> str | bytes:
    """Return text that is not all UTF-8, line by line; *printed* itself where it is not text.

    A child may write in the locale's encoding where we write in UTF-8.
    """
    encoding = native_encoding or getattr(sys.__stdout__, "encoding", None) or "utf-8"
    try:
        return "\n".join(_line_of(line, encoding) for line in printed.split(b"\n"))
    except UnicodeDecodeError:  # in no encoding that anybody named
        return printed


def _line_of(line: bytes, encoding: str) -> str:
    try:
        return line.decode()
    except UnicodeDecodeError:
        return line.decode(encoding)
