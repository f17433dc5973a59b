"""The official SDK, in its two generations: servers whose handlers take and return plain data.

In 1.x handlers are registered by the class of a request, and a client is asked while its request
waits. In 2.x they are registered by name; in its newest protocol a client is asked by an answer
that it answers with the same request once more.
"""

from __future__ import annotations

import warnings
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from contextlib import AbstractAsyncContextManager
from importlib import import_module
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from mcp.server.lowlevel import Server
from mcp.shared import exceptions

if TYPE_CHECKING:
    from .server import ToolServer

#: whether this is the second generation
IS_SECOND = hasattr(exceptions, "MCPError")
# What is called the same in both, whichever is installed where types are checked.
types: Any = import_module("mcp_types" if IS_SECOND else "mcp.types")
_SdkError: Any = getattr(exceptions, "MCPError" if IS_SECOND else "McpError")
_LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
_USUAL_LEVEL = "info"
#: what is wrong with a request that names what is not there, or passes what it may not
INVALID_PARAMS, NOT_FOUND = -32602, -32002

Data = dict[str, Any]
# The least level of log entries that each connection wants.
Levels = MutableMapping[Any, str]


class InputRequired(Exception):
    """The client is asked by the answer to its request, *result*."""

    def __init__(self, result: Data) -> None:
        super().__init__("input required")
        self.result = result


def refusal(code: int, message: str) -> Exception:
    """Return what is raised where a request, and not a tool, failed."""
    given = (code, message) if IS_SECOND else (types.ErrorData(code=code, message=message),)
    error: Exception = _SdkError(*given)
    return error


class Peer:
    """The client of one request."""

    def __init__(self, context: Any, levels: Levels, params: Data) -> None:
        self._context = context
        self._levels = levels
        self._answers = params.get("inputResponses") or {}
        meta = params.get("_meta") or {}
        self._token = meta.get("progressToken") if isinstance(meta, Mapping) else None

    @property
    def connection(self) -> Any:
        """What stands for the connection, as long as it lasts."""
        session = self._context.session
        return getattr(session, "_connection", session)

    @property
    def wants_progress(self) -> bool:
        """Whether the client has asked for progress."""
        return self._token is not None

    async def progress(self, progress: float, total: float | None, message: str) -> None:
        """Report how far the request has come."""
        if IS_SECOND:
            await self._context.session.report_progress(progress, total, message or None)
            return
        params: Data = {"progressToken": self._token, "progress": progress}
        params |= {"total": total} if total is not None else {}
        params |= {"message": message} if message else {}
        await self._notify("notifications/progress", params, types.ProgressNotification)

    async def log(self, level: str, text: str, name: str) -> None:
        """Send what the tool has logged, if the client wants as much."""
        session = self._context.session
        if self._is_modern:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # that the protocol is about to drop it
                sending = session.send_log_message(level, text, name)
            await sending
            return
        least = self._levels.get(self.connection, _USUAL_LEVEL)
        if _LEVELS.index(level) >= _LEVELS.index(least):
            params = {"level": level, "data": text, "logger": name}
            await self._notify("notifications/message", params, types.LoggingMessageNotification)

    @property
    def can_elicit(self) -> bool:
        """Whether the client can ask its user."""
        session = self._context.session
        found = getattr(session, "client_capabilities", None)
        if found is None:
            params = session.client_params
            found = params.capabilities if params is not None else None
        return found is not None and found.elicitation is not None

    async def elicit(self, message: str, schema: Data) -> Data | None:
        """Have the client ask its user; ``None`` where that is not answered with yes."""
        params = {"message": message, "requestedSchema": schema}
        if self._is_modern:
            answer = self._answers.get("confirm")
            if answer is None:
                asked = {"method": "elicitation/create", "params": {**params, "mode": "form"}}
                raise InputRequired(
                    {"resultType": "input_required", "inputRequests": {"confirm": asked}}
                )
            return answer.get("content") if answer.get("action") == "accept" else None
        elicit = getattr(self._context.session, "elicit_form", self._context.session.elicit)
        found = await elicit(message, schema, related_request_id=self._context.request_id)
        return found.content if found.action == "accept" else None

    @property
    def _is_modern(self) -> bool:
        """Whether the server may not send requests of its own."""
        return IS_SECOND and not self._context.session.can_send_request

    async def _notify(self, method: str, params: Data, kind: Any) -> None:
        notification = kind.model_validate({"method": method, "params": params})
        if not IS_SECOND:
            notification = types.ServerNotification(notification)
        # Which has it sent along with the answer, where there are several streams.
        await self._context.session.send_notification(notification, self._context.request_id)


def make_server(name: str, version: str, instructions: str, handlers: ToolServer) -> Any:
    """Return a server of the SDK that does what *handlers* do."""
    server: Any = Server(name, version=version, instructions=instructions)
    levels: Levels = WeakKeyDictionary()

    async def set_level(params: Data, peer: Peer) -> Data:
        levels[peer.connection] = str(params["level"])
        return {}

    table: dict[str, tuple[str, Callable[[Data, Peer], Awaitable[Data]]]] = {
        "tools/list": ("ListTools", handlers.list_tools),
        "tools/call": ("CallTool", handlers.call_tool),
        "resources/list": ("ListResources", handlers.list_resources),
        "resources/read": ("ReadResource", handlers.read_resource),
        "prompts/list": ("ListPrompts", handlers.list_prompts),
        "prompts/get": ("GetPrompt", handlers.get_prompt),
        "logging/setLevel": ("SetLevel", set_level),
    }

    def counted(handle: Callable[[Data, Peer], Awaitable[Data]]) -> Any:
        async def handle_counted(params: Data, peer: Peer) -> Data:
            handlers.open_requests += 1
            try:
                return await handle(params, peer)
            finally:
                handlers.open_requests -= 1

        return handle_counted

    for method, (kind, handle) in table.items():
        _register(server, method, kind, counted(handle), levels)
    return server


def _register(
    server: Any,
    method: str,
    kind: str,
    handle: Callable[[Data, Peer], Awaitable[Data]],
    levels: Levels,
) -> None:
    result_kind: Any = getattr(types, f"{kind}Result", types.EmptyResult)
    if IS_SECOND:
        usual = types.PaginatedRequestParams
        params_kind = getattr(types, f"{kind}RequestParams", usual)

        async def answer(context: Any, params: Any) -> Any:
            given = _data_of(params)
            try:
                found = await handle(given, Peer(context, levels, given))
            except InputRequired as asked:
                return types.InputRequiredResult.model_validate(asked.result)
            return result_kind.model_validate(found)

        server.add_request_handler(method, params_kind, answer)
        return
    request_kind: Any = getattr(types, f"{kind}Request")

    async def respond(request: Any) -> Any:
        given = _data_of(getattr(request, "params", None))
        found = await handle(given, Peer(server.request_context, levels, given))
        return types.ServerResult(result_kind.model_validate(found))

    server.request_handlers[request_kind] = respond


def _data_of(params: Any) -> Data:
    if params is None:
        return {}
    found: Data = params.model_dump(by_alias=True, mode="json", exclude_none=True)
    arguments = getattr(params, "arguments", None)
    if arguments is not None:
        found["arguments"] = arguments  # with what is null in them
    return found


def stdio(stdin: Any) -> AbstractAsyncContextManager[Any]:
    """Return the streams of stdio, of which *stdin* yields the lines."""
    from mcp.server.stdio import stdio_server

    return stdio_server(stdin=stdin)


def http_manager(server: Any, max_body: int) -> Any:
    """Return what serves streamable HTTP; it is called as an ASGI app, within its ``run``."""
    from inspect import signature

    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    known = signature(StreamableHTTPSessionManager).parameters
    limits: Data = {"max_request_body_size": max_body} if "max_request_body_size" in known else {}
    return StreamableHTTPSessionManager(app=server, **limits)
