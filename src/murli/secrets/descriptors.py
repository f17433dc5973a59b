"""What the process writes past ``sys.stdout`` and ``sys.stderr``, onto the same descriptors.

What functions of ``os`` write, and files that are opened on a descriptor or a copy of it, is
scrubbed like the streams themselves. A pipe in the place of descriptor 2 would see children and C
libraries too, but would need a process to read it: a thread cannot while C code holds the
interpreter, and what is in the pipe is lost with the process. Beneath the buffer of ``sys.stderr``
nothing is watched: our code would run while the buffer is locked, and a daemon thread in it aborts
the interpreter at its end.
"""

from __future__ import annotations

import builtins
import io
import os
import sys

from ..formats import put_over
from .streams import FileGuards, write_whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from .streams import Flow

_DEVICES = ("/dev/", "/proc/")
# What starts another process, whose words come behind ours; and what ends this one at once.
_STARTING = (
    ("os", "forkpty"),
    ("os", "posix_spawn"),
    ("os", "posix_spawnp"),
    ("_posixsubprocess", "fork_exec"),
    ("subprocess", "_fork_exec"),
)
_ENDING = (("os", "_exit"), ("os", "execv"), ("os", "execve"))


class Descriptors:
    """Scrubs what is written by number to the descriptors of *flows*, from its making on.

    *ends* says that nobody else has an eye on functions that end the process at once.
    """

    def __init__(self, flows: Mapping[int, Flow], *, ends: bool) -> None:
        self._flows = flows
        self._files = FileGuards()
        functions: list[tuple[Any, str, Any]] = [
            (builtins, "open", self._open),
            (io, "open", self._open),
            # Which keeps the function of its own in Python 3.10.
            (getattr(sys.modules.get("pathlib"), "_normal_accessor", None), "open", self._open),
            (os, "fork", self._fork),
        ]
        for module in (os, sys.modules.get(os.name)):  # posix, whose functions os has
            functions += ((module, "write", self._write), (module, "writev", self._writev))
        functions.append((os, "sendfile", self._sendfile))
        for name, function in (*_STARTING, *(_ENDING if ends else ())):
            functions.append((sys.modules.get(name), function, self._letting_out))
        self._undo: list[Callable[[], None]] = [
            put_over(module, name, ours)
            for module, name, ours in functions
            if hasattr(module, name)
        ]

    def remove(self) -> None:
        """Leave everything as it was."""
        while self._undo:
            self._undo.pop()()
        self._files.remove()

    def _flow(self, descriptor: int) -> Flow | None:
        """Return what is on its way to *descriptor*, ``None`` where it is not ours to look at."""
        standard = _standard(descriptor)
        flow = self._flows[standard] if standard else None
        return None if flow is None or flow.passes else flow

    def _write(self, own: Callable[[int, Any], int], descriptor: int, data: Any, /) -> int:
        flow = self._flow(descriptor)
        if flow is None:
            return own(descriptor, data)
        given = bytes(data)
        flow.write(given, lambda scrubbed: write_whole(own, descriptor, scrubbed))
        return len(given)

    def _writev(self, own: Callable[[int, Any], int], descriptor: int, buffers: Any, /) -> int:
        if self._flow(descriptor) is None:
            return own(descriptor, buffers)
        return os.write(descriptor, b"".join(buffers))

    def _sendfile(self, own: Any, out_fd: int, in_fd: int, *args: Any, **named: Any) -> int:
        names = ("offset", "count")
        given = {**dict(zip(names, args, strict=False)), **named}
        if self._flow(out_fd) is None or given.keys() != set(names):
            return int(own(out_fd, in_fd, *args, **named))
        offset, count = given["offset"], given["count"]
        read = os.read(in_fd, count) if offset is None else os.pread(in_fd, count, offset)
        return os.write(out_fd, read)

    def _open(self, own: Any, file: Any, *args: Any, **named: Any) -> Any:
        stream = own(file, *args, **named)
        path = file if isinstance(file, int) else os.fsdecode(file)
        if isinstance(path, int) or path.startswith(_DEVICES):
            standard = _standard(stream.fileno()) if stream.writable() else 0
            if standard:
                self._files.add(stream, self._flows[standard])
        return stream

    def _letting_out(self, own: Any, *args: Any, **named: Any) -> Any:
        for flow in self._flows.values():
            flow.let_out()
        return own(*args, **named)

    def _fork(self, own: Callable[[], int]) -> int:
        child: int = self._letting_out(own)
        if not child:
            for flow in self._flows.values():
                flow.on_being_forked()
        return child


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
