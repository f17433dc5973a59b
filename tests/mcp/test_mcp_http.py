"""A tool that serves itself over streamable HTTP, to its clients and to hostile callers."""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import anyio
import pytest

import mcp_client
from harness import environment, run, tool
from mcp_client import Caller

SERVE = [*tool("served"), "mcp", "serve", "--http", "0"]
TOKEN = "a-token-that-nobody-guesses"
_POST = {
    "Content-Type": "application/json",
    "Accept": "application/json, text/event-stream",
    "Authorization": f"Bearer {TOKEN}",
}


class Server(NamedTuple):
    url: str
    process: subprocess.Popen[bytes]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Serve with a token, and bodies of 100 kB at most."""
    token = tmp_path_factory.mktemp("token") / "token"
    token.write_text(f"{TOKEN}\n")
    argv = [*SERVE, "--token-file", str(token), "--max-body", "100000"]
    argv += ["--allow-origin", "https://app.example", "--allow-host", "tools.example"]
    process = subprocess.Popen(argv, stderr=subprocess.PIPE, env=environment())
    with process:
        assert process.stderr is not None
        served = Server(process.stderr.readline().decode().split()[-1], process)
        # Nobody is refused once the address is there.
        socket.create_connection(("127.0.0.1", urlsplit(served.url).port or 0), timeout=20).close()
        yield served
        process.terminate()
        assert process.wait(20) == 143


def drive(server: Server, scenario: Any, **options: Any) -> Any:
    headers = {"Authorization": f"Bearer {TOKEN}"}

    async def connect() -> Any:
        async with mcp_client.over_http(server.url, headers, **options) as caller:
            return await scenario(caller)

    return mcp_client.run(connect)


def request(server: Server, body: bytes, method: str = "POST", **headers: str | None) -> str:
    """Return the status line and the rest of what a raw request is answered with."""
    url = urlsplit(server.url)
    assert url.port is not None
    given: dict[str, str | None] = {"Host": url.netloc, "Content-Length": str(len(body)), **_POST}
    given |= {name.replace("_", "-"): value for name, value in headers.items()}
    lines = [f"{method} {url.path} HTTP/1.1"]
    lines += [f"{name}: {value}" for name, value in given.items() if value is not None]
    with socket.create_connection(("127.0.0.1", url.port), timeout=30) as connection:
        connection.sendall("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
        return connection.recv(1 << 16).decode()


def test_calls_work_as_over_stdio(server: Server, tmp_path: Path) -> None:
    """Listing, calling, progress, logs, errors, confirmation and a preview work over HTTP."""
    target = tmp_path / "file"
    target.touch()

    async def scenario(caller: Caller) -> None:
        assert len(await caller.tools()) == 9
        assert (await caller.data("served_echo", text="a"))["result"]["text"] == "a"
        await caller.data("served_work", mark=str(tmp_path / "mark"), seconds=0.3)
        assert caller.progress[-1] == (4, 4, "work")
        assert caller.logs == [("info", "begun")]
        assert (await caller.data("served_fail", what="denied"))["error"]["retryable"] is False
        refused = await caller.data("served_wipe", path=str(target))
        assert refused["error"]["code"] == "confirmation_required"
        plan = await caller.data("served_wipe", path=str(target), dry_run=True)
        assert plan["status"] == "plan"
        many = await asyncio.gather(
            *(caller.data("served_echo", text=f"<{n}>", count=200) for n in range(50))
        )
        for n, each in enumerate(many):
            assert each["result"]["text"] == f"<{n}>" * 200
        done = await caller.data("served_wipe", path=str(target), confirm=True)
        assert done["status"] == "ok" and not target.exists()

    drive(server, scenario)


def test_the_user_of_a_client_is_asked(server: Server, tmp_path: Path) -> None:
    """Where the client can ask its user, that decides over HTTP as well."""
    target = tmp_path / "file"
    target.touch()
    answers = [{"action": "decline"}, {"action": "accept", "content": {"confirm": True}}]

    async def scenario(caller: Caller) -> None:
        refused = await caller.data("served_wipe", path=str(target))
        assert refused["error"]["code"] == "DECLINED" and target.exists()
        assert (await caller.data("served_wipe", path=str(target)))["status"] == "ok"

    drive(server, scenario, answer=lambda _: answers.pop(0))


@pytest.mark.skipif(not mcp_client.IS_SECOND, reason="a protocol of the second generation")
def test_the_newest_protocol_works_without_sessions(server: Server, tmp_path: Path) -> None:
    """In the protocol that has no sessions, calls, progress and questions work as well."""
    from mcp.shared._httpx_utils import create_mcp_http_client

    from mcp import Client

    types = mcp_client.types
    target = tmp_path / "file"
    target.touch()
    from mcp.client import streamable_http as transport

    seen: list[Any] = []

    async def elicit(context: Any, params: Any) -> Any:
        seen.append(params.message)
        return types.ElicitResult(action="accept", content={"confirm": True})

    async def note(progress: float, total: float | None, message: str | None) -> None:
        seen.append(progress)

    async def scenario() -> None:
        async with create_mcp_http_client(headers={"Authorization": f"Bearer {TOKEN}"}) as http:
            streams: Any = transport.streamable_http_client(server.url, http_client=http)
            async with Client(streams, mode="2026-07-28", elicitation_callback=elicit) as client:
                found = await client.call_tool("served_echo", {"text": "a"})
                assert found.structured_content["result"]["text"] == "a"
                work = {"mark": str(tmp_path / "mark"), "seconds": 0.3}
                await client.call_tool("served_work", work, progress_callback=note)
                assert seen and seen[-1] == 4
                done = await client.call_tool("served_wipe", {"path": str(target)})
                assert done.structured_content["status"] == "ok"
                assert str(target) in seen[-1] and not target.exists()

    mcp_client.run(scenario)


def test_callers_who_may_not_are_refused(server: Server) -> None:
    """A wrong Origin or Host, no token or a wrong one, another path and long bodies are refused."""
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}).encode()
    port = str(urlsplit(server.url).port)
    for headers, status in (
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "http://localhost.evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Host": "evil.example"}, 421),
        ({"Host": f"evil.example:{port}"}, 421),
        ({"Host": "127.0.0.1@evil.example"}, 421),
        ({"Host": "["}, 421),
        ({"Authorization": None}, 401),
        ({"Authorization": "Bearer wrong"}, 401),
        ({"Authorization": f"Basic {TOKEN}"}, 401),
        ({"Content-Length": "10000000"}, 413),
    ):
        answer = request(server, body, **headers)
        assert answer.startswith(f"HTTP/1.1 {status} "), (headers, answer)
        assert "served" not in answer
    chunked = b"".join(b"10000\r\n" + b"x" * 0x10000 + b"\r\n" for _ in range(3))
    sent = request(server, chunked, Content_Length=None, Transfer_Encoding="chunked")
    assert sent.startswith("HTTP/1.1 413 ")
    for headers in (
        {"Origin": "https://app.example"},
        {"Origin": f"http://localhost:{port}"},
        {"Host": "tools.example"},
        {"Host": f"localhost:{port}"},
    ):
        status_line = request(server, body, **headers).split("\r\n")[0]
        assert not any(f" {status} " in status_line for status in (401, 403, 421)), headers


def test_wrong_messages_do_no_harm(server: Server) -> None:
    """What is no JSON, or no message, is refused, and the server goes on."""
    deep = b"[" * 50_000
    for body in (b"", b"{", b"[]", b"\xff\xfe", b'{"jsonrpc":"2.0"}', deep, b"0", b'"text"'):
        answer = request(server, body)
        assert answer.startswith("HTTP/1.1 4"), (body[:20], answer)

    async def scenario(caller: Caller) -> None:
        assert (await caller.data("served_echo", text="a"))["status"] == "ok"

    drive(server, scenario)


@pytest.mark.slow
def test_slow_callers_are_cut_off(server: Server) -> None:
    """Headers and bodies that do not arrive within seconds end the connection."""
    url = urlsplit(server.url)
    assert url.port is not None
    head = f"POST {url.path} HTTP/1.1\r\nHost: {url.netloc}\r\nAuthorization: Bearer {TOKEN}\r\n"
    for given in (head, f"{head}Content-Length: 1000\r\n\r\n{{", ""):
        began = time.monotonic()
        with socket.create_connection(("127.0.0.1", url.port), timeout=40) as connection:
            connection.sendall(given.encode())
            answer = connection.recv(1 << 16)
        assert time.monotonic() - began < 35
        assert answer == b"" or answer.startswith(b"HTTP/1.1 408 ")


def test_a_call_ends_with_its_client(server: Server, tmp_path: Path) -> None:
    """A call whose client cancels it over HTTP ends, and cleans up."""
    mark = tmp_path / "mark"

    async def scenario(caller: Caller) -> None:
        async with anyio.create_task_group() as group:

            async def call() -> None:
                await caller.call("served_work", mark=str(mark), seconds=60)

            group.start_soon(call)
            while not mark.exists():
                await anyio.sleep(0.02)
            await caller.cancel_last()
            group.cancel_scope.cancel()
        with anyio.fail_after(20):
            while mark.exists():
                await anyio.sleep(0.02)

    drive(server, scenario)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--http", "0.0.0.0:0"), "token"),
        (("--http", "127.0.0.1:0", "--token-file", "/nowhere"), "cannot be read"),
        (("--http", "203.0.113.1:0"), "token"),
    ],
)
def test_unsafe_servers_do_not_start(words: tuple[str, ...], message: str) -> None:
    """A server that others can reach asks for a token, and one without its token does not start."""
    failed = run([*tool("served"), "mcp", "serve"], *words)
    assert failed.code not in (0, None)
    assert message in failed.err and failed.out == ""
