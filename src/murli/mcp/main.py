"""The process of a server, which a tool has started for its own calls, or ``murli mcp``."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import queue
import signal
import socket
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING, Any

from ..errors import AgentError
from ..wire.limits import Limits
from .backends import Processes, WarmCalls, started
from .calls import Calls, Nothing
from .options import Options, from_words, token_of

if TYPE_CHECKING:
    from .server import ToolServer

# How long one message on stdin may be.
_LONGEST_MESSAGE = 64 << 20
# How long calls that run may go on when no more can come.
_FAREWELL_SECONDS = 5.0
# How often to look whether there are any, and how often there are none before that is believed.
_LOOK_SECONDS = 0.05
_QUIET_LOOKS = 3
_SIGNALS = ("SIGTERM", "SIGINT", "SIGHUP")


def main() -> None:
    """Be the server that the only word of this process describes, as JSON.

    ``options`` are those of the server, as words, and ``name`` is the tool's. ``calls`` is the
    number of the socket by which to ask for calls the process that has started this one; else
    ``prefix`` runs the tool, ``describing`` does where it is described, and ``warm`` is whether it
    may be loaded once for all calls.
    """
    asked: dict[str, Any] = json.loads(sys.argv[1])
    options = from_words(asked["options"])

    async def connected() -> Calls:
        if asked.get("calls") is None:
            processes = Processes(asked["prefix"], asked["describing"])
            return await calls_of(processes, asked["name"], options, warm=asked["warm"])
        warm = WarmCalls(socket.socket(fileno=asked["calls"]))
        return await _learned(warm, asked["name"], options)

    try:
        status = asyncio.run(_serve(connected, options))
    except AgentError as error:
        report(error)
        status = error.code
    os._exit(status)  # a thread may still be reading


def report(error: AgentError) -> None:
    """Write why there is no server on stderr."""
    from ..formats import put, standard

    line = f"murli mcp: {error.message} {error.suggestion}".rstrip()
    try:
        put(standard("stderr"), f"{line}\n")
    except OSError:  # nobody is there to read it
        pass


async def calls_of(processes: Processes, name: str, options: Options, *, warm: bool) -> Calls:
    """Return the calls of a tool, *warm* ones where it can do that."""
    calls = await _learned(processes, name, options)
    able = calls.description.get("capabilities")
    if warm and isinstance(able, dict) and able.get("mcp") is True:
        forks = await started(processes.prefix, processes.env)
        if forks is not None:
            try:
                return await _learned(forks, name, options)
            except AgentError:  # it has no process of its own to fork
                pass
    return calls


async def _learned(backend: Processes | WarmCalls, name: str, options: Options) -> Calls:
    """Return the calls that *backend* makes, of a tool that has said what it can do."""
    calls = Calls(backend, name, Limits(seconds=options.timeout), options.concurrency)
    try:
        await calls.learn()
    except Nothing:
        await backend.close()
        raise AgentError.not_found(
            f"{name} does not say what it can do.", "Name a tool that has `describe` or a help."
        ) from None
    return calls


async def _serve(connect: Callable[[], Awaitable[Calls]], options: Options) -> int:
    from anyio import CancelScope, create_task_group

    from .sdk import make_server
    from .server import ToolServer

    stopped: list[int] = []
    calls = await connect()
    backend = calls.backend
    try:
        tool = ToolServer(calls, options)
        server = make_server(tool.name, tool.version, tool.instructions, tool)
        async with create_task_group() as group:
            _end_on_signals(group.cancel_scope, stopped)
            if isinstance(backend, WarmCalls):
                group.start_soon(_end_with, backend, group.cancel_scope, stopped)
            if options.http:
                await _serve_http(server, options)
            else:
                await _serve_stdio(server, tool)
            group.cancel_scope.cancel()
    finally:
        with CancelScope(shield=True):
            await backend.close()
    return stopped[0] if stopped else 0


def _end_on_signals(scope: Any, stopped: list[int]) -> None:
    """Have signals end the calls that run, and then this process."""

    def end(number: int) -> None:
        logging.disable()  # of what the SDK thinks of connections that end
        stopped.append(128 + number)
        scope.cancel()

    for name in _SIGNALS:
        number = getattr(signal, name, None)
        if number is not None:
            try:
                asyncio.get_running_loop().add_signal_handler(number, end, int(number))
            except NotImplementedError:  # a system without
                return


async def _end_with(backend: WarmCalls, scope: Any, stopped: list[int]) -> None:
    """End when the tool's process has ended, without which there are no calls."""
    await backend.lost.wait()
    await asyncio.sleep(_LOOK_SECONDS)  # which a signal may have ended that we get as well
    if stopped:
        return
    stopped.append(1)
    report(AgentError.tool_error("The process of the tool has ended.", "Start the server again."))
    scope.cancel()


# -- stdio --------------------------------------------------------------------------------------


async def _serve_stdio(server: Any, tool: ToolServer) -> None:
    from .sdk import stdio

    async with stdio(_Lines(tool)) as (source, target):
        await server.run(source, target, server.create_initialization_options())


class _Lines:
    """The lines of stdin, read by a thread that ends with the process.

    They end when what they asked for is answered, or has had time for that: the SDK gives up what
    it is still at. One that is too long becomes one that is no message, which the SDK refuses.
    """

    def __init__(self, tool: ToolServer) -> None:
        self._tool = tool
        self._loop = asyncio.get_running_loop()
        self._lines: queue.Queue[bytes] = queue.Queue(16)
        self._ready = asyncio.Event()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        source = sys.stdin.buffer
        while True:
            try:
                line = source.readline(_LONGEST_MESSAGE)
            except (OSError, ValueError):
                line = b""
            if len(line) == _LONGEST_MESSAGE:
                while line and not line.endswith(b"\n"):
                    line = source.readline(_LONGEST_MESSAGE)
                line = line and b"{"
            self._lines.put(line)
            try:
                self._loop.call_soon_threadsafe(self._ready.set)
            except RuntimeError:  # the loop has ended
                return
            if not line:
                return

    async def _wait_for_answers(self) -> None:
        until = self._loop.time() + _FAREWELL_SECONDS
        quiet = 0
        while quiet < _QUIET_LOOKS and self._loop.time() < until:
            await asyncio.sleep(_LOOK_SECONDS)
            quiet = 0 if self._tool.open_requests else quiet + 1

    async def __aiter__(self) -> AsyncIterator[str]:
        while True:
            await self._ready.wait()
            try:
                line = self._lines.get_nowait()
            except queue.Empty:
                self._ready.clear()
                continue
            if not line:
                await self._wait_for_answers()
                return
            yield line.decode("utf-8", "replace")


# -- HTTP ---------------------------------------------------------------------------------------


async def _serve_http(server: Any, options: Options) -> None:
    from .http import Gate, serve
    from .sdk import http_manager

    token = token_of(options)
    manager = http_manager(server, options.max_body)
    async with manager.run():
        await serve(Gate(manager.handle_request, options, token), options, _announce)


def _announce(address: str) -> None:
    sys.stderr.write(f"Serving MCP at {address}\n")
    sys.stderr.flush()
