"""Programs in a row, from their start to their end.

Beneath `murli.handlers.processes`, which knows what may be run, and what it means that something
failed.
"""

from __future__ import annotations

import os
import selectors
import time
from _thread import allocate_lock
from subprocess import DEVNULL, PIPE, Popen, TimeoutExpired

from ..formats import defer_signals
from ..platform import SIGKILL, SIGTERM, can_wait_for_pipes, signal_group
from .cleanup import current_cleanups

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import IO, Any

    from ..platform.pipes import PipeReader

# What programs get to end by themselves: less than cleanups get at a deadline.
GRACE_SECONDS = 0.75
# How long a program that has ended may be outlived by others that hold its output open.
LINGER_SECONDS = 0.5
_POLL_SECONDS = 0.05
_CHUNK = 1 << 16


class TimeUp(Exception):
    """The programs did not end in the time they had; by now they have."""


class CallOver(Exception):
    """The call that they were started for has ended, and so have they."""


class Limit:
    """The time that programs have, if it is limited."""

    def __init__(self, seconds: float | None) -> None:
        self._end = None if seconds is None else time.monotonic() + seconds

    def pause(self) -> float:
        """Return how long to wait for something now; `TimeUp` when there is no time left.

        Never for long: a signal that comes just before a system call does not interrupt it.
        """
        if self._end is None:
            return _POLL_SECONDS
        left = self._end - time.monotonic()
        if left <= 0:
            raise TimeUp
        return min(left, _POLL_SECONDS)


class Work:
    """The programs of a pipeline, from their start to their end."""

    def __init__(
        self, stages: list[tuple[str, ...]], cwd: str | None, environment: dict[str, str]
    ) -> None:
        self._stages = stages
        self._children: list[Popen[bytes]] = []
        self._options: Any = {"cwd": cwd, "env": environment, "start_new_session": True}
        self._starting = allocate_lock()
        self._over = False

    def done(self, given: bytes | None, limit: Limit) -> tuple[bytes, list[bytes]]:
        """Run everything to its end; return the last one's output, and what each complained of.

        Whatever interrupts that, nothing keeps running.
        """
        cleanups = current_cleanups()
        due = cleanups.add(self.stop_for_good)
        try:
            for words in self._stages:
                self._start(words, fed=given is not None)
            talk = _Conversation(self._children, given)
            try:
                ended = talk.hold(limit)
            finally:
                talk.close()
            if not ended:
                _stop(self._children)
            for child in self._children:
                _wait(child, limit)
            if self._over:
                raise CallOver
            return talk.heard()
        except BaseException:
            _stop(self._children)
            raise
        finally:
            cleanups.drop(due)
            for child in self._children:
                _close(child)

    def stop_for_good(self) -> None:
        """End everything and start nothing more: the call is over."""
        # A program that is just being started is known in a moment; or never, if we are in its way.
        acquired = self._starting.acquire(timeout=GRACE_SECONDS / 3)
        self._over = True
        if acquired:
            self._starting.release()
        _stop(self._children)

    def statuses(self) -> list[int]:
        """Return how each ended: its exit status, or minus the number of a signal."""
        return [child.returncode for child in self._children]

    def _start(self, words: tuple[str, ...], *, fed: bool) -> None:
        above = self._children[-1].stdout if self._children else None
        source = above or (PIPE if fed else DEVNULL)
        # A signal after a program has started, and before its number is known, would leave it
        # running; and one that is blocked would stay so in the program.
        resume = defer_signals()
        try:
            with self._starting:
                if self._over:
                    raise CallOver
                child = Popen(words, stdin=source, stdout=PIPE, stderr=PIPE, **self._options)
                self._children.append(child)
        finally:
            resume()
        if above is not None:
            above.close()  # the next one alone reads it


class _Conversation:
    """Feeds the first program and listens to all, so that nobody waits for somebody who waits."""

    def __init__(self, children: list[Popen[bytes]], given: bytes | None) -> None:
        self._children = children
        self._rest = memoryview(given or b"")
        self._stdin = children[0].stdin
        self._heard: dict[IO[bytes], bytearray] = {}
        self._readers: dict[IO[bytes], PipeReader] = {}
        self._selector = selectors.DefaultSelector()
        for stream in [children[-1].stdout, *(child.stderr for child in children)]:
            if stream is not None:
                self._heard[stream] = bytearray()
                self._await(stream)
        if self._stdin is not None and not can_wait_for_pipes():
            from ..platform.pipes import feed

            feed(self._stdin, bytes(self._rest))
        elif self._stdin is not None:
            os.set_blocking(self._stdin.fileno(), False)
            self._selector.register(self._stdin, selectors.EVENT_WRITE)

    def hold(self, limit: Limit) -> bool:
        """Read to the end of every stream; False when others keep the pipes of ended programs."""
        silent_since = None
        while self._readers or self._selector.get_map():
            ready = self._turn(limit.pause())
            if ready or any(child.poll() is None for child in self._children):
                silent_since = None
            elif silent_since is None:
                silent_since = time.monotonic()
            elif time.monotonic() - silent_since > LINGER_SECONDS:
                return False
        return True

    def _await(self, stream: IO[bytes]) -> None:
        if can_wait_for_pipes():
            self._selector.register(stream, selectors.EVENT_READ)
        else:
            from ..platform.pipes import PipeReader

            self._readers[stream] = PipeReader(stream.fileno())

    def _turn(self, seconds: float) -> bool:
        """Deal with what happens within *seconds*; return whether anything did."""
        if self._readers:
            from ..platform.pipes import wait

            wait(seconds)
            came = [self._listen_to(stream) for stream in list(self._readers)]
            return any(came)
        ready = self._selector.select(seconds)
        for key, _ in ready:
            stream: Any = key.fileobj
            if key.events & selectors.EVENT_WRITE:
                self._feed(stream)
            else:
                self._take(stream, os.read(stream.fileno(), _CHUNK))
        return bool(ready)

    def heard(self) -> tuple[bytes, list[bytes]]:
        """Return what was written to stdout, and to the stderr of each."""
        stdout, *errors = map(bytes, self._heard.values())
        return stdout, errors

    def close(self) -> None:
        """Listen no more."""
        self._selector.close()
        for reader in self._readers.values():
            reader.stop()

    def _feed(self, stream: IO[bytes]) -> None:
        try:
            self._rest = self._rest[os.write(stream.fileno(), self._rest[:_CHUNK]) :]
        except BlockingIOError:
            return
        except BrokenPipeError:  # it has read enough; whether that is well, its status says
            self._rest = self._rest[:0]
        if not self._rest:
            self._end(stream)

    def _listen_to(self, stream: IO[bytes]) -> bool:
        try:
            self._take(stream, self._readers[stream].read())
        except BlockingIOError:
            return False
        return True

    def _take(self, stream: IO[bytes], part: bytes) -> None:
        self._heard[stream] += part
        if not part:
            self._end(stream)

    def _end(self, stream: IO[bytes]) -> None:
        if self._readers.pop(stream, None) is None:
            self._selector.unregister(stream)
        stream.close()


def _wait(child: Popen[bytes], limit: Limit) -> None:
    while True:
        try:
            child.wait(limit.pause())
            return
        except TimeoutExpired:
            continue


def _close(child: Popen[bytes]) -> None:
    for stream in (child.stdin, child.stdout, child.stderr):
        if stream is not None:
            stream.close()


def _stop(children: list[Popen[bytes]]) -> None:
    """End what still runs of *children*, with what they started: asked first, then killed."""
    try:
        running = [child for child in children if signal_group(child, SIGTERM)]
        until = time.monotonic() + GRACE_SECONDS
        while running and time.monotonic() < until:
            time.sleep(0.01)
            running = [child for child in running if _is_running(child)]
    finally:
        for child in children:
            if _is_running(child):
                signal_group(child, SIGKILL)
        for child in children:
            try:
                child.wait(GRACE_SECONDS)
            except TimeoutExpired:  # it hangs in the system, where nothing reaches it
                pass


def _is_running(child: Popen[bytes]) -> bool:
    """Return whether *child*, or anything of its group, has not ended."""
    return child.poll() is None or signal_group(child, 0)
