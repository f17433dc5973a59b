"""Where the calls of a tool run: forks of a process that has loaded it, or processes of their own.

Both give what a process wrote, and end it with all that it has started: when its time is up, when
it writes too much, or when the one who waits for it is cancelled.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import struct
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from typing import Any

from ..platform import SIGKILL, SIGTERM
from ..wire.async_running import pump
from ..wire.collecting import Collector
from ..wire.limits import Limits
from ..wire.running import Child, ProcessResult, never_ran

# As `murli.mcp.warm_calls` has it, which is another process.
_REQUEST, _ANSWER = struct.Struct("!cQ"), struct.Struct("!Qi")
_CALL, _STOP, _KILL = b"C", b"S", b"K"
_NOT_STARTED = 1 << 16
_CHUNK = 1 << 16
# How long what a call has left running may still write.
_LINGER_SECONDS = 0.5
_AGAIN_SECONDS = 0.3
# How long to wait for the process of the calls to end.
_END_SECONDS = 5.0


class Processes:
    """A process for each call. *prefix* runs the tool; *describing* does, where it is described."""

    def __init__(self, prefix: Sequence[str], describing: Sequence[str] = ()) -> None:
        self.prefix = tuple(prefix)
        self._describing = tuple(describing)
        self.env = {**os.environ, "MURLI_MODE": "agent"}

    def argv(self, words: Sequence[str]) -> tuple[str, ...]:
        """Return everything that is run for a call of *words*."""
        if self._describing and words and words[0] == "describe":
            return (*self._describing, *words[1:])
        return (*self.prefix, *words)

    async def run(
        self, words: Sequence[str], limits: Limits, out: Collector, err: Collector
    ) -> ProcessResult:
        """Run a call of *words* in a process of its own."""
        argv = self.argv(words)
        try:
            child = Child(argv, limits, out, err, env=self.env)
        except (OSError, ValueError) as error:
            return never_ran(error if isinstance(error, OSError) else OSError(str(error)), argv)
        async for _ in pump(child):
            pass
        return child.ran()

    async def close(self) -> None:
        """Do nothing: a call ends with who waits for it."""


class WarmCalls:
    """Forks of the process at the other end of *connection*; *process* is what was started there.

    `lost` is set when that process has ended, after which there are no more calls.
    """

    def __init__(
        self, connection: socket.socket, process: asyncio.subprocess.Process | None = None
    ) -> None:
        self._connection = connection
        self.process = process
        self._number = 0
        self._ended: dict[int, asyncio.Future[int]] = {}
        self._buffer = b""
        self.lost = asyncio.Event()
        connection.setblocking(False)
        asyncio.get_running_loop().add_reader(connection, self._receive)

    async def run(
        self, words: Sequence[str], limits: Limits, out: Collector, err: Collector
    ) -> ProcessResult:
        """Run a call of *words* in a fork."""
        started = time.monotonic()
        self._number += 1
        number = self._number
        loop = asyncio.get_running_loop()
        ended = self._ended[number] = loop.create_future()
        reading: list[_Reader] = []
        try:
            try:
                reading = self._ask(number, words, out, err)
            except OSError as error:
                return ProcessResult(b"", str(error).encode(), None, "start")
            reason = await self._wait(ended, reading, limits)
            if reason:
                await self._stop(number, ended, limits)
            await self._listen_to_end(reading, limits)
        except asyncio.CancelledError:
            await self._stop(number, ended, limits)
            await self._listen_to_end(reading, limits)
            raise
        finally:
            del self._ended[number]
            for each in reading:
                each.close()
        status = ended.result() if ended.done() else None
        if status == _NOT_STARTED:
            return ProcessResult(b"", b"No process could be started.", None, "start")
        elapsed = round((time.monotonic() - started) * 1000)
        return ProcessResult(out.data(), err.data(), status, reason, elapsed)

    def _ask(
        self, number: int, words: Sequence[str], out: Collector, err: Collector
    ) -> list[_Reader]:
        """Ask for a call; return what reads its output."""
        if self.lost.is_set():
            raise OSError("The tool's process has ended.")
        reading: list[_Reader] = []
        given: list[int] = []
        with tempfile.TemporaryFile() as request:
            request.write(json.dumps(list(words)).encode("utf-8", "surrogatepass"))
            request.seek(0)
            try:
                for sink in (out, err):
                    source, target = os.pipe()
                    given.append(target)
                    reading.append(_Reader(source, sink))
                message = _REQUEST.pack(_CALL, number)
                socket.send_fds(self._connection, [message], [request.fileno(), *given])
            except OSError:
                for each in reading:
                    each.close()
                raise
            finally:
                for descriptor in given:
                    os.close(descriptor)
        return reading

    async def _wait(
        self, ended: asyncio.Future[int], reading: Sequence[_Reader], limits: Limits
    ) -> str:
        """Wait for the end of a call; return why it has to be ended."""
        trouble = [each.trouble for each in reading]
        waiting: list[asyncio.Future[Any]] = [ended, *trouble]
        await asyncio.wait(waiting, timeout=limits.seconds, return_when=asyncio.FIRST_COMPLETED)
        if ended.done():
            return ""
        return next((each.result() for each in trouble if each.done()), "time")

    async def _stop(self, number: int, ended: asyncio.Future[int], limits: Limits) -> None:
        """Have a call end, asked first and then by force.

        It is asked twice: a thread other than the one that sleeps may get the signal first.
        """
        grace = max(limits.grace_seconds, 1.0)
        for kind, seconds in ((_STOP, _AGAIN_SECONDS), (_STOP, grace), (_KILL, grace)):
            if ended.done() or self.lost.is_set():
                return
            try:
                self._connection.send(_REQUEST.pack(kind, number))
            except OSError:  # it has just ended
                return
            await asyncio.wait([ended], timeout=seconds)

    async def _listen_to_end(self, reading: Sequence[_Reader], limits: Limits) -> None:
        """Read what a call still writes that has ended, or is ending along with its process.

        Who could not write any more might end before it has cleaned up.
        """
        pending = [each.over for each in reading if not each.over.done()]
        if pending:
            seconds = limits.grace_seconds if self.lost.is_set() else _LINGER_SECONDS
            await asyncio.wait(pending, timeout=seconds)

    def _receive(self) -> None:
        try:
            data = self._connection.recv(_CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._lose()
            return
        self._buffer += data
        while len(self._buffer) >= _ANSWER.size:
            number, status = _ANSWER.unpack_from(self._buffer)
            self._buffer = self._buffer[_ANSWER.size :]
            ended = self._ended.get(number)
            if ended is not None and not ended.done():
                ended.set_result(status)

    def _lose(self) -> None:
        """Take note that there are no more calls."""
        self.lost.set()
        asyncio.get_running_loop().remove_reader(self._connection)
        for ended in self._ended.values():
            if not ended.done():
                ended.set_result(-SIGKILL)

    async def close(self) -> None:
        """End the process that makes the calls, if it was started for them."""
        if not self.lost.is_set():
            asyncio.get_running_loop().remove_reader(self._connection)
            self.lost.set()
        self._connection.close()
        process = self.process
        if process is None:
            return
        try:
            await asyncio.wait_for(process.wait(), _END_SECONDS)
        except asyncio.TimeoutError:
            process.send_signal(SIGTERM)
            await process.wait()


class _Reader:
    """Reads a pipe into a collector; *trouble* is done when that wants no more, *over* at the end.

    It is not read faster than the loop turns.
    """

    def __init__(self, descriptor: int, sink: Collector) -> None:
        self._descriptor = descriptor
        self._sink = sink
        loop = asyncio.get_running_loop()
        self.trouble: asyncio.Future[str] = loop.create_future()
        self.over: asyncio.Future[None] = loop.create_future()
        os.set_blocking(descriptor, False)
        loop.add_reader(descriptor, self._read)

    def _read(self) -> None:
        try:
            data = os.read(self._descriptor, self._sink.chunk)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self.close()
            return
        self._sink.feed(data)
        if self._sink.trouble and not self.trouble.done():
            self.trouble.set_result(self._sink.trouble)

    def close(self) -> None:
        """Read no more."""
        if self._descriptor >= 0:
            asyncio.get_running_loop().remove_reader(self._descriptor)
            os.close(self._descriptor)
            self._descriptor = -1
            self._sink.end()
        if not self.over.done():
            self.over.set_result(None)


async def started(argv: Sequence[str], env: Mapping[str, str]) -> WarmCalls | None:
    """Start *argv*, which has ``mcp calls``, and return its calls; ``None`` where it ends at once.

    What it writes goes to our stderr.
    """
    if not hasattr(os, "fork"):
        return None
    ours, theirs = socket.socketpair()
    with theirs:
        process = await asyncio.create_subprocess_exec(
            *(*argv, "mcp", "calls", str(theirs.fileno())),
            env=env,
            pass_fds=[theirs.fileno()],
            stdin=asyncio.subprocess.DEVNULL,
            stdout=sys.stderr.fileno(),
        )
    return WarmCalls(ours, process)
