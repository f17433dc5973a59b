"""What is on its way to the standard streams is scrubbed, whichever way it takes.

Whatever is written to one descriptor is one text, and a secret may be torn apart in it: by flushes,
by writes to different files on the same descriptor, by single bytes. So the end of what was written
waits while it may be the beginning of a secret.
"""

from __future__ import annotations

import sys
from _thread import RLock
from weakref import WeakSet, ref

from ..formats import flush, put_over, write_some

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .redaction import Secrets

    Write = Callable[[bytes], object]

LIKE_UTF_8 = ("utf-8", "utf8", "ascii", "us-ascii")


class Flow:
    """The text that goes to one standard stream, through whatever was opened on its descriptor.

    *descriptor* is its number, 0 where the stream is a host's own. On stdout (*answers*) a command
    may reveal what it is for.
    """

    def __init__(self, secrets: Secrets, descriptor: int, *, answers: bool) -> None:
        self._secrets = secrets
        self._descriptor = descriptor
        self.answers = answers
        self._held = b""
        # How the stream itself is written to, for what waits.
        self._outlet: Write | None = None
        # Not a plain lock: a signal's handler may print while its thread does.
        self._lock = RLock()

    @property
    def passes(self) -> bool:
        """Whether what the running thread writes needs no scrubbing here."""
        return self._secrets.passes(answers=self.answers)

    def write(
        self, data: bytes, write: Write, encoding: str = "utf-8", outlet: Write | None = None
    ) -> None:
        """Write *data*, text in *encoding* or none, by *write*; what waits goes to *outlet*."""
        if encoding.lower() not in LIKE_UTF_8:
            self.let_out()
            write(self._secrets.scrub_bytes(data, encoding))
            return
        if not self.enter():
            write(self._secrets.scrub_bytes(data))
            return
        try:
            scrubbed = self._secrets.scrub_bytes(self._held + data if self._held else data)
            begun = self._secrets.matcher.begun(scrubbed)
            if begun:
                self._held, scrubbed = scrubbed[-begun:], scrubbed[:-begun]
            else:
                self._held = b""
            self._outlet = outlet
            if scrubbed:
                write(scrubbed)
        finally:
            self.leave()

    def let_out(self) -> None:
        """Write what waits for more."""
        if not self._held or not self.enter():
            return
        held, self._held = self._held, b""
        try:
            if self._outlet is not None:
                self._outlet(held)
            elif self._descriptor:
                write_whole(write_some, self._descriptor, held)
        except (OSError, ValueError):  # nobody is there to read it
            pass
        finally:
            self.leave()

    def enter(self) -> bool:
        """Let nobody else write until `leave`; return whether that was possible."""
        # At the end a daemon thread that was stopped for good may have it.
        return self._lock.acquire(blocking=not sys.is_finalizing())

    def leave(self) -> None:
        """Let others write again."""
        self._lock.release()

    def on_being_forked(self) -> None:
        """Leave the lock to the process that we are a copy of."""
        self._lock = RLock()


def write_whole(write: Callable[[int, Any], int], descriptor: int, data: bytes) -> None:
    """Write all of *data* by a function that may write less."""
    rest = memoryview(data)
    while rest:
        rest = rest[write(descriptor, rest) :]


class StreamGuard:
    """From its making until `remove`, what is written to *stream* is scrubbed as a part of *flow*.

    Beneath the text layer, where both text and bytes pass, and everything that kept the stream, a
    logging handler say, still uses it. What a child writes passes by.
    """

    def __init__(self, stream: Any, secrets: Secrets, flow: Flow) -> None:
        self._stream = stream
        self._target = getattr(stream, "buffer", None) or stream
        self._secrets = secrets
        self._awaits_end = False
        self.flow = flow
        try:
            self._undo = put_over(self._target, "write", self._scrubbed)
        except AttributeError:  # a host's own stream that cannot be watched
            self._undo = lambda: None

    def _scrubbed(self, beneath: Callable[[Any], Any], data: Any, /) -> Any:
        flow = self.flow
        if (flow.answers or flow.passes) and flow.enter():
            try:
                if flow.passes:  # still: another thread may just end the collecting
                    flow.let_out()
                    return beneath(data)
            finally:
                flow.leave()
        # All of it was taken, as far as the writer is concerned.
        if isinstance(data, str):
            beneath(self._secrets.scrub(data))
            return len(data)
        given = bytes(data)
        # As it is now: it may have been changed since.
        encoding = getattr(self._stream, "encoding", None) or "utf-8"
        flow.write(given, beneath, encoding, lambda held: self._let_out(beneath, held))
        return len(given)

    def _let_out(self, beneath: Callable[[Any], Any], held: bytes) -> None:
        beneath(held)
        self._target.flush()

    def await_end(self) -> None:
        """Let what waits out when Python flushes its streams for the last time.

        Functions that are called at exit after ours still print, and none of it is to be lost.
        """
        own = getattr(self._stream, "flush", None)
        if own is None or self._awaits_end:
            return
        self._awaits_end = True
        frame = sys._getframe  # modules may be gone by then

        def flush() -> Any:
            done = own()
            if frame().f_back is None:  # called by the interpreter itself
                self.flow.let_out()
            return done

        try:
            setattr(self._stream, "flush", flush)
        except AttributeError:  # it cannot be watched
            self.flow.let_out()

    def remove(self) -> None:
        """Leave the stream as it was, all that was written to it being out."""
        flush(self._stream)
        self.flow.let_out()
        self._undo()


class FileGuards:
    """Scrubs what is written to files that are open on a standard descriptor.

    They are not kept alive by it: a file that nobody holds is closed, and what is in it comes out.
    """

    def __init__(self) -> None:
        self._streams: WeakSet[Any] = WeakSet()

    def add(self, stream: Any, flow: Flow) -> None:
        """Scrub what is written to *stream* as a part of *flow*."""
        target = getattr(stream, "buffer", None) or stream
        own, found = type(target).write, ref(target)
        encoding = getattr(stream, "encoding", None) or "utf-8"

        def write(data: Any, /) -> int:
            file: Any = found()
            if flow.passes:
                return int(own(file, data))
            given = bytes(data)
            flow.write(given, lambda scrubbed: own(file, scrubbed), encoding)
            return len(given)

        target.write = write
        self._streams.add(stream)

    def remove(self) -> None:
        """Leave the files as they were, all that was written to them being out."""
        for stream in list(self._streams):
            flush(stream)
            try:
                target = getattr(stream, "buffer", None) or stream
            except ValueError:  # it was detached; nobody knows whose it is now
                continue
            target.__dict__.pop("write", None)
        self._streams.clear()
