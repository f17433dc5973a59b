"""What the process writes past ``sys.stdout`` and ``sys.stderr``, onto the same descriptors.

``os.write``, and files that are opened on a descriptor or a copy of it, are scrubbed like the
streams themselves. A pipe in the place of descriptor 2 would see children and C libraries too, but
would need a process to read it: a thread cannot while C code holds the interpreter, and what is in
the pipe is lost with the process. Beneath the buffer of ``sys.stderr`` nothing is watched: our code
would run while the buffer is locked, and a daemon thread in it aborts the interpreter at its end.
"""

from __future__ import annotations

import builtins
import io
import os

from .capture import put_over

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .redaction import Secrets

_DEVICES = ("/dev/stderr", "/dev/stdout", "/dev/fd/", "/proc/self/fd/")


def guard_descriptors(secrets: Secrets) -> list[Callable[[], None]]:
    """Scrub what is written to the standard descriptors by number; return what ends that."""

    def write(own: Callable[..., int], descriptor: int, data: Any, /) -> int:
        standard = _standard(descriptor)
        if not standard or secrets.passes(answers=standard == 1):
            return own(descriptor, data)
        given = bytes(data)
        scrubbed = secrets.scrub_bytes(given)
        if scrubbed == given:
            return own(descriptor, data)
        rest = memoryview(scrubbed)
        while rest:
            rest = rest[own(descriptor, rest) :]
        return len(given)

    def opened(own: Any, file: Any, *args: Any, **named: Any) -> Any:
        stream = own(file, *args, **named)
        if isinstance(file, int) or (isinstance(file, str) and file.startswith(_DEVICES)):
            standard = _standard(stream.fileno()) if stream.writable() else 0
            if standard:
                secrets.guard_file(stream, answers=standard == 1)
        return stream

    return [
        put_over(os, "write", write),
        put_over(builtins, "open", opened),
        put_over(io, "open", opened),
    ]


def _standard(descriptor: int) -> int:
    """Return which standard descriptor *descriptor* is, or is a copy of; 0 for neither."""
    if descriptor in (1, 2):
        return descriptor
    place = _place(descriptor)
    return next((each for each in (2, 1) if place and _place(each) == place), 0)


def _place(descriptor: int) -> tuple[int, int] | None:
    try:
        found = os.fstat(descriptor)
    except OSError:  # closed
        return None
    return found.st_dev, found.st_ino
