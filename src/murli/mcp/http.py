"""Who may connect over HTTP, and how much one request may ask for.

A request is let through to the SDK when it is from this machine's own pages or from none, names
this machine, has the token that is asked for, and has arrived whole, short and in time.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any
from urllib.parse import urlsplit

from ..errors import AgentError
from .options import LOCAL, Options

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

PATH = "/mcp"
# How long the headers and the body of a request may take to arrive.
_ARRIVAL_SECONDS = 10.0
# How many connections there may be, sessions, and for how long one that nobody uses is kept.
_MOST_CONNECTIONS = 200
_MOST_SESSIONS = 100
_IDLE_SECONDS = 1800.0
_SESSION = b"mcp-session-id"


class Gate:
    """An ASGI app in front of *app*, which `options` protects."""

    def __init__(self, app: App, options: Options, token: str) -> None:
        self._app = app
        self._most = options.max_body
        self._token = token.encode()
        host, _ = options.address()
        self._hosts = {*LOCAL, *options.allow_host}
        if host not in ("", "0.0.0.0", "::"):
            self._hosts.add(host)
        self._origins = set(options.allow_origin)
        # Sessions by their names -> when they were last used, and how many requests are open.
        self._used: dict[bytes, float] = {}
        self._open: Counter[bytes] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or have it answered."""
        if scope["type"] != "http":
            return
        headers = dict(scope["headers"])
        wrong = self._refusal(scope, headers)
        if wrong is not None:
            await _refuse(send, *wrong)
            return
        body = b""
        if scope["method"] == "POST":
            try:
                found = await asyncio.wait_for(self._body(headers, receive), _ARRIVAL_SECONDS)
            except asyncio.TimeoutError:
                await _refuse(send, 408, "The request took too long to arrive.")
                return
            if found is None:
                await _refuse(send, 413, f"A request has at most {self._most} bytes.")
                return
            body = found
        session = headers.get(_SESSION)
        if session is None:
            await self._end_idle()
            if len(self._used) >= _MOST_SESSIONS:
                await _refuse(send, 503, "There are too many sessions.")
                return
        await self._pass_on(scope, body, receive, send, session)

    def _refusal(self, scope: Scope, headers: Mapping[bytes, bytes]) -> tuple[int, str] | None:
        """Return the status and the reason with which a request is refused, if it is."""
        if scope["path"].rstrip("/") != PATH:
            return 404, f"The server is at {PATH}."
        if sum(name == b"host" for name, _ in scope["headers"]) != 1 or not self._is_host(
            headers[b"host"].decode("latin-1")
        ):
            return 421, "The Host of the request is not this server."
        origin = headers.get(b"origin")
        if origin is not None and not self._is_origin(origin.decode("latin-1")):
            return 403, "Pages of this Origin may not call."
        if self._token:
            kind, _, given = headers.get(b"authorization", b"").partition(b" ")
            if kind.lower() != b"bearer" or not hmac.compare_digest(given.strip(), self._token):
                return 401, "A bearer token is required."
        return None

    def _is_host(self, host: str) -> bool:
        try:
            found = urlsplit(f"//{host}")
            _ = found.port
        except ValueError:
            return False
        return found.hostname in self._hosts and found.username is None

    def _is_origin(self, origin: str) -> bool:
        if origin in self._origins:
            return True
        try:
            found = urlsplit(origin)
        except ValueError:
            return False
        return found.scheme in ("http", "https") and found.hostname in LOCAL

    async def _body(self, headers: Mapping[bytes, bytes], receive: Receive) -> bytes | None:
        """Return the whole body; ``None`` where it is too long."""
        length = headers.get(b"content-length", b"")
        if length.isdigit() and int(length) > self._most:
            return None
        parts: list[bytes] = []
        size = 0
        while True:
            message = await receive()
            if message["type"] != "http.request":
                return b""
            parts.append(message.get("body", b""))
            size += len(parts[-1])
            if size > self._most:
                return None
            if not message.get("more_body"):
                return b"".join(parts)

    async def _pass_on(
        self, scope: Scope, body: bytes, receive: Receive, send: Send, session: bytes | None
    ) -> None:
        given = False

        async def receive_whole() -> Message:
            nonlocal given
            if given or scope["method"] != "POST":
                return await receive()
            given = True
            return {"type": "http.request", "body": body, "more_body": False}

        async def send_noting(message: Message) -> None:
            nonlocal session
            if message["type"] == "http.response.start" and session is None:
                session = dict(message.get("headers", ())).get(_SESSION)
                if session is not None:
                    self._open[session] += 1
                    self._used[session] = time.monotonic()
            await send(message)

        if session in self._used:
            self._open[session] += 1
        try:
            await self._app(scope, receive_whole, send_noting)
        finally:
            if session in self._used:
                self._open[session] -= 1
                self._used[session] = time.monotonic()
                if scope["method"] == "DELETE":
                    self._forget(session)

    def _forget(self, session: bytes) -> None:
        self._used.pop(session, None)
        self._open.pop(session, None)

    async def _end_idle(self) -> None:
        """End the sessions that nobody has used for long."""
        before = time.monotonic() - _IDLE_SECONDS
        for session, used in list(self._used.items()):
            if used < before and not self._open.get(session):
                self._forget(session)
                await self._delete(session)

    async def _delete(self, session: bytes) -> None:
        """Have the SDK end a session, as its client would."""
        headers = [(_SESSION, session), (b"accept", b"application/json, text/event-stream")]
        scope = {
            "type": "http",
            "method": "DELETE",
            "path": PATH,
            "raw_path": PATH.encode(),
            "query_string": b"",
            "headers": headers,
            "scheme": "http",
            "root_path": "",
            "http_version": "1.1",
            "server": None,
            "client": None,
            "asgi": {"version": "3.0"},
        }

        async def receive() -> Message:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: Message) -> None:
            """Drop the answer."""

        await self._app(scope, receive, send)


async def _refuse(send: Send, status: int, reason: str) -> None:
    body = json.dumps({"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": reason}})
    headers = [(b"content-type", b"application/json"), (b"connection", b"close")]
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body.encode()})


async def serve(app: App, options: Options, on_ready: Callable[[str], object]) -> None:
    """Serve *app* until this is cancelled; *on_ready* is called with the address.

    `AgentError` where the address cannot be had.
    """
    import socket

    import uvicorn

    host, port = options.address()
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen()  # the address is shown before uvicorn accepts
    except OSError as error:
        listening.close()
        where = f"{host}:{port}"
        raise AgentError.precondition(
            f"The server cannot listen at {where}: {error.strerror}.", "Choose another port."
        ) from None
    config = uvicorn.Config(
        app,
        http=_patient_protocol(),
        ws="none",
        lifespan="off",
        log_level="warning",
        access_log=False,
        server_header=False,
        limit_concurrency=_MOST_CONNECTIONS,
        timeout_keep_alive=5,
        timeout_graceful_shutdown=2,
    )
    server = uvicorn.Server(config)
    setattr(server, "install_signal_handlers", lambda: None)  # as some versions call it
    shown = f"[{host}]" if ":" in host else host
    on_ready(f"http://{shown}:{listening.getsockname()[1]}{PATH}")
    try:
        await getattr(server, "_serve", server.serve)([listening])
    finally:
        listening.close()


def _patient_protocol() -> Any:
    """Return the protocol of uvicorn, which waits for headers as long as for a body."""
    from uvicorn.protocols.http.h11_impl import H11Protocol

    class Patient(H11Protocol):
        _timer: Any = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._timer = self.loop.call_later(_ARRIVAL_SECONDS, self._look, None)

        def connection_lost(self, exc: Exception | None) -> None:
            self._timer.cancel()
            super().connection_lost(exc)

        def _look(self, before: Any) -> None:
            """Close a connection on which no request has begun since the last time."""
            cycle = self.cycle
            waits = cycle is None or (cycle is before and cycle.response_complete)
            if waits and not self.transport.is_closing():
                self.transport.close()
                return
            self._timer = self.loop.call_later(_ARRIVAL_SECONDS, self._look, cycle)

    return Patient
