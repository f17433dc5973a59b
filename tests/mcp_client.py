"""The client of the official SDK, of either generation, as the tests call it.

As a program it makes one round of calls of the server that its words run, for an SDK that is
installed elsewhere: nothing else of the tests, nor pytest, is needed there.
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import anyio
from mcp.client import streamable_http
from mcp.client.stdio import stdio_client

from mcp import ClientSession, StdioServerParameters

IS_SECOND = find_spec("mcp_types") is not None
types: Any = import_module("mcp_types" if IS_SECOND else "mcp.types")


def wire(model: Any) -> Any:
    """Return what a model is on the wire."""
    return model.model_dump(by_alias=True, mode="json", exclude_none=True)


class Caller:
    """A client that is connected to a server; everything it returns is as it is on the wire."""

    def __init__(self, session: Any, noted: dict[str, list[Any]]) -> None:
        self.session = session
        self.progress = noted["progress"]
        self.logs = noted["logs"]
        self.asked = noted["asked"]

    async def tools(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        cursor = None
        while True:
            part = wire(await self._list_tools(cursor))
            found |= {each["name"]: each for each in part["tools"]}
            cursor = part.get("nextCursor")
            if not cursor:
                return found

    async def _list_tools(self, cursor: str | None) -> Any:
        if cursor is None:
            return await self.session.list_tools()
        if IS_SECOND:
            return await self.session.list_tools(cursor=cursor)
        return await self.session.list_tools(cursor)

    async def set_level(self, level: str) -> None:
        """Ask for log entries from *level* on."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that the protocol is about to drop it
            setting = self.session.set_logging_level(level)
        await setting

    async def call(self, name: str, /, **arguments: Any) -> dict[str, Any]:
        """Call a tool, whose progress is noted."""

        async def note(progress: float, total: float | None, message: str | None) -> None:
            self.progress.append((progress, total, message))

        found = await self.session.call_tool(name, arguments, progress_callback=note)
        return dict(wire(found))

    async def cancel_last(self) -> None:
        """Cancel the latest request, which the second generation does by itself."""
        if not IS_SECOND:
            params = {"requestId": self.session._request_id - 1}
            message = {"method": "notifications/cancelled", "params": params}
            await self.session.send_notification(types.ClientNotification.model_validate(message))

    async def data(self, name: str, /, **arguments: Any) -> Any:
        """Call a tool, and return its structured content."""
        return (await self.call(name, **arguments))["structuredContent"]


Answer = Callable[[str], dict[str, Any]]


@asynccontextmanager
async def connected(
    streams: tuple[Any, ...], *, answer: Answer | None = None, modern: bool = False
) -> AsyncIterator[Caller]:
    """Connect over *streams*; *answer* is what the user says who is asked."""
    noted: dict[str, list[Any]] = {"progress": [], "logs": [], "asked": []}

    async def log(params: Any) -> None:
        noted["logs"].append((params.level, params.data))

    async def elicit(context: Any, params: Any) -> Any:
        noted["asked"].append(params.message)
        assert answer is not None
        return types.ElicitResult.model_validate(answer(params.message))

    options: dict[str, Any] = {"logging_callback": log}
    if answer is not None:
        options["elicitation_callback"] = elicit
    async with ClientSession(streams[0], streams[1], **options) as session:
        await session.initialize()
        yield Caller(session, noted)


@asynccontextmanager
async def over_stdio(argv: Sequence[str], **options: Any) -> AsyncIterator[Caller]:
    """Start a server, and connect to it."""
    env = options.pop("env", None) or dict(os.environ)
    parameters = StdioServerParameters(command=argv[0], args=list(argv[1:]), env=env)
    async with stdio_client(parameters) as streams, connected(streams, **options) as caller:
        yield caller


@asynccontextmanager
async def over_http(
    url: str, headers: dict[str, str] | None = None, **options: Any
) -> AsyncIterator[Caller]:
    """Connect to a server that is running."""
    async with _http(url, headers or {}) as streams, connected(streams, **options) as caller:
        yield caller


@asynccontextmanager
async def _http(url: str, headers: dict[str, str]) -> AsyncIterator[Any]:
    transport: Any = streamable_http
    if not IS_SECOND:
        async with transport.streamablehttp_client(url, headers=headers) as streams:
            yield streams
        return
    from mcp.shared._httpx_utils import create_mcp_http_client

    async with (
        create_mcp_http_client(headers=headers) as client,
        transport.streamable_http_client(url, http_client=client) as streams,
    ):
        yield streams


def run(scenario: Callable[..., Awaitable[Any]], *args: Any, within: float = 45) -> Any:
    """Run *scenario* to its end, within so many seconds."""

    async def limited() -> Any:
        with anyio.fail_after(within):
            return await scenario(*args)

    return anyio.run(limited)


async def _round(caller: Caller, place: str) -> dict[str, Any]:
    """Return what a round of calls of `tests/tools/served.py` gives."""
    tools = await caller.tools()
    document = {
        "tools": sorted(tools),
        "echo": await caller.data("served_echo", text="a", count=3),
        "busy": await caller.data("served_fail", what="busy"),
        "plan": await caller.data("served_wipe", path=place, dry_run=True),
        "refused": await caller.data("served_wipe", path=place),
        "work": await caller.data("served_work", mark=place),
        "wrong": (await caller.call("served_echo", text=["a"])).get("isError"),
        "resources": len(wire(await caller.session.list_resources())["resources"]),
        "prompts": len(wire(await caller.session.list_prompts())["prompts"]),
        "progress": len(caller.progress),
        "logs": caller.logs,
    }
    return document


async def _main(place: str, argv: list[str]) -> None:
    async with over_stdio(argv) as caller:
        by_stdio = await _round(caller, place)
    async with over_stdio(argv, answer=lambda _: {"action": "decline"}) as caller:
        declined = await caller.data("served_wipe", path=place)
    with anyio.fail_after(30):
        async with await anyio.open_process([*argv, "--http", "0"], stdout=None) as process:
            assert process.stderr is not None
            line = (await process.stderr.receive()).decode()
            async with over_http(line.split()[-1]) as caller:
                by_http = await _round(caller, place)
            process.terminate()
    json.dump({"stdio": by_stdio, "http": by_http, "declined": declined}, sys.stdout)


if __name__ == "__main__":
    anyio.run(_main, sys.argv[1], sys.argv[2:])
