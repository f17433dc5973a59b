"""How long others are waited for."""

from __future__ import annotations

import errno
import os
import select
import stat

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
    poll = select.poll()
    poll.register(descriptor, select.POLLOUT)
    if not poll.poll(_patience()):
        raise OSError(errno.ETIMEDOUT, "nobody reads it")
    return _WITHOUT_BLOCKING


def _patience() -> float | None:
    """Give how long to wait, in milliseconds; ``None`` for ever."""
    seconds = seconds_from("MURLI_WRITE_TIMEOUT")
    if seconds is not None:
        return seconds * 1000 or None
    try:
        os.close(os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY))
        return None
    except OSError:
        return STALLED_SECONDS * 1000


def seconds_from(variable: str) -> float | None:
    """Give the number in an environment variable; ``None`` when there is none."""
    given = os.environ.get(variable, "")
    return float(given) if given.replace(".", "", 1).isdecimal() else None
