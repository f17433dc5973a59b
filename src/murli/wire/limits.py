"""How much a tool may write, and how long it may take, before the client ends it."""

from __future__ import annotations

from dataclasses import dataclass

KIB = 1024
MIB = 1024 * KIB


@dataclass(frozen=True, slots=True)
class Limits:
    """What one process of a tool is allowed.

    *seconds* is how long it may take; of a stream, which may go on for ever, how long it may give
    nothing: no item, no progress, no log, and ten times that without an item. *stdout_bytes* is the
    largest answer, *line_bytes* the longest line; a tool that writes more is ended, and what it
    wrote is not acted on. A stream is limited by the line alone. Of stderr the first
    *stderr_head_bytes* and the last *stderr_tail_bytes* are kept.

    A tool that has to end is asked to (SIGTERM) and, *grace_seconds* later, killed; both reach its
    whole process group. Without any grace it is killed at once. When it has ended, others that hold
    its output open are waited for *linger_seconds*; then what is left of the group is ended the
    same way, unless *leave_children*. *pages* is how many pages are fetched of one answer.
    """

    seconds: float = 300.0
    stdout_bytes: int = 16 * MIB
    line_bytes: int = 8 * MIB
    stderr_head_bytes: int = 16 * KIB
    stderr_tail_bytes: int = MIB
    grace_seconds: float = 2.0
    linger_seconds: float = 0.5
    leave_children: bool = False
    pages: int = 1000


def in_words(size: int) -> str:
    """Return a number of bytes as people say it."""
    for unit, name in ((MIB, "MiB"), (KIB, "KiB")):
        if size >= unit:
            return f"{size / unit:g} {name}"
    return f"{size} bytes"
