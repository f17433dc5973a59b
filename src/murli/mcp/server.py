"""The server of one tool: what the SDK asks is answered by calls of that."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import quote

from ..client.calling import build
from ..client.mistakes import ArgumentMistake
from ..client.response import Response
from ..errors import AgentError
from ..schemas.definitions import Call, Definition, definitions_of
from ..wire.values import objects_in
from .calls import Calls
from .listening import Listener, Progress
from .offers import CALL, SEARCH, Offers, unknown
from .options import Options
from .results import failed, mistaken, result_of
from .sdk import INVALID_PARAMS, NOT_FOUND, Data, Peer, refusal

# How long all words of a call may be together.
_MOST_BYTES = 1 << 20
# How much of what is to be confirmed is shown.
_MOST_SHOWN = 2000
# How many tools, resources or prompts a page of a list has.
_PAGE = 100
# How often progress is reported at most, and how many log entries may wait to be sent.
_REPORT_SECONDS = 0.05
_MOST_LOGS = 1000
# Errors that a confirmation would have prevented.
_UNCONFIRMED = ("confirmation_required", "input_required")
# Flags that confirm, the one that is meant for it first.
_CONFIRMING = ("confirm-destructive", "yes", "force")

Texts = dict[str, tuple[str, str, str]]


class ToolServer:
    """What a server of the SDK does for one tool.

    Handlers take and return what is on the wire; *open_requests* is counted by `murli.mcp.sdk`.
    """

    def __init__(self, calls: Calls, options: Options) -> None:
        catalogue = calls.catalogue
        assert catalogue is not None
        self._calls = calls
        self._catalogue = catalogue
        self.name = calls.name
        self.version = str(calls.description.get("tool_version") or "")
        definitions = definitions_of(catalogue)
        for name in unknown(definitions, options):
            raise AgentError.user_error(
                f"{self.name} has no command {name!r}.", "Name one that it has.", field="only"
            )
        self.offers = Offers(definitions, options, self.name)
        if not len(self.offers):
            raise AgentError.user_error("No command is left to offer.", "Select others.")
        self._texts: Texts | None = None
        #: how many requests are being answered
        self.open_requests = 0

    @property
    def instructions(self) -> str:
        """What a model should know before it sees any tool."""
        lines = [f"{self.name}: {self._calls.description.get('summary') or 'a command-line tool'}"]
        if self.offers.are_searched:
            lines.append(f"Find a command with {SEARCH}, then call it with {CALL}.")
        lines.append(
            "A failed call says in error.kind what happened, in error.retryable whether the same "
            "call may work later, and in error.suggestion what to do."
        )
        return "\n".join(lines)

    # -- tools -----------------------------------------------------------------------------

    async def list_tools(self, params: Data, peer: Peer) -> Data:
        """Return the tools."""
        return _page("tools", self.offers.tools(), params)

    async def call_tool(self, params: Data, peer: Peer) -> Data:
        """Call a tool; whatever is wrong with the call is an answer."""
        name, arguments = params["name"], params.get("arguments") or {}
        if self.offers.are_searched:
            if name == SEARCH:
                return await self._search(arguments)
            if name == CALL:
                name, arguments = arguments.get("name"), arguments.get("arguments") or {}
                if not isinstance(name, str) or self.offers.find(name) is None:
                    wrong = AgentError.user_error(
                        f"There is no command {name!r:.80}.", f"Find one with {SEARCH}."
                    )
                    return mistaken(wrong)
        definition = self.offers.find(name)
        if definition is None:
            raise refusal(INVALID_PARAMS, f"There is no tool {name!r:.80}.")
        try:
            call = definition.call(arguments)
            words = self._words(call, definition)
        except (AgentError, ArgumentMistake) as mistake:
            return mistaken(mistake)
        unconfirmed = definition.confirm and not (call.confirmed or "dry-run" in call.flags)
        if unconfirmed and peer.can_elicit:
            if not await self._asked(definition, arguments, peer):
                return failed(_DECLINED)
            call = call._replace(confirmed=True)
            words = self._words(call, definition)
        response = await self._call(words, peer)
        response_schema = self.offers.promised(definition.name)
        if not call.confirmed and _is_unconfirmed(response) and definition.confirm:
            response = _advised(response, definition)
        return result_of(response, response_schema if not self.offers.are_searched else None)

    def _words(self, call: Call, definition: Definition) -> tuple[str, ...]:
        flags = dict(call.flags)
        if call.confirmed:
            command = definition.command
            known = command.standard.keys() | command.flags.keys()
            names = (command.confirm_flag.lstrip("-"), *_CONFIRMING)
            flags[next((name for name in names if name in known), "yes")] = True
        words = build(call.words, flags, self._catalogue)
        if sum(map(len, words)) > _MOST_BYTES:
            raise AgentError.user_error(
                f"The arguments are longer than {_MOST_BYTES >> 20} MiB.",
                "Pass the name of a file where the command takes one.",
            )
        return words

    async def _asked(self, definition: Definition, arguments: Data, peer: Peer) -> bool:
        """Return whether the user of the client confirms a call."""
        effect = definition.input_schema["properties"][definition.confirm]["description"]
        shown = json.dumps(arguments, ensure_ascii=False, default=str)[:_MOST_SHOWN]
        summary = definition.command.description
        schema = {
            "type": "object",
            "properties": {
                "confirm": {"type": "boolean", "title": "Run it", "description": effect}
            },
            "required": ["confirm"],
        }
        found = await peer.elicit(f"Run `{definition.title}` with {shown}? {summary}", schema)
        return found is not None and found.get("confirm") is True

    async def _call(self, words: tuple[str, ...], peer: Peer) -> Response[Any]:
        """Make a call, and report to the client meanwhile how it goes."""
        reports = _Reports(peer, self.name)
        telling = asyncio.ensure_future(reports.send())
        try:
            response = await self._calls.call(words, Listener(reports.progress, reports.log))
        except BaseException:
            telling.cancel()
            raise
        reports.over.set()
        try:
            await telling
        except Exception:  # nobody listens any more; the answer matters more
            pass
        return response

    async def _search(self, arguments: Mapping[str, Any]) -> Data:
        query = arguments.get("query")
        if not isinstance(query, str):
            return mistaken(AgentError.user_error("query is text.", "Pass words.", field="query"))
        paths: list[tuple[str, ...]] = []
        if query.strip() and len(query) < _MOST_SHOWN:
            text = await self._calls.text("describe", f"--search={query}")
            try:
                found = json.loads(text)["commands"]
                paths = [tuple(each["path"].split(" ")) for each in found]
            except (ValueError, LookupError, TypeError, AttributeError):
                pass
        tools = [self.offers.tool(each) for each in self.offers.matches(query, paths)]
        document = {"commands": tools, "total": len(self.offers)}
        text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
        return {"content": [{"type": "text", "text": text}], "structuredContent": document}

    # -- resources and prompts -------------------------------------------------------------

    async def list_resources(self, params: Data, peer: Peer) -> Data:
        """Return the card and AGENTS.md, where the tool has them."""
        texts = await self._known_texts()
        resources = [
            {"uri": uri, "name": name, "mimeType": kind} for uri, (name, kind, _) in texts.items()
        ]
        return _page("resources", resources, params)

    async def read_resource(self, params: Data, peer: Peer) -> Data:
        """Return a text about the tool."""
        uri = str(params["uri"])
        found = (await self._known_texts()).get(uri)
        if found is None:
            raise refusal(NOT_FOUND, f"There is no resource {uri!r:.80}.")
        _, kind, text = found
        return {"contents": [{"uri": uri, "mimeType": kind, "text": text}]}

    async def _known_texts(self) -> Texts:
        if self._texts is None:
            texts: Texts = {}
            for option, place, kind in (
                ("--card", "card", "text/plain"),
                ("--agents-md", "AGENTS.md", "text/markdown"),
            ):
                text = await self._calls.text("describe", option)
                if text:
                    uri = f"murli://{quote(self.name.lower(), safe='-._')}/{place}"
                    texts[uri] = (place, kind, text)
            self._texts = texts
        return self._texts

    async def list_prompts(self, params: Data, peer: Peer) -> Data:
        """Return the examples of the commands."""
        prompts = [
            {"name": name, "title": title, "description": title}
            for name, (title, _) in self._examples().items()
        ]
        return _page("prompts", prompts, params)

    async def get_prompt(self, params: Data, peer: Peer) -> Data:
        """Return an example, as what a user would ask for."""
        found = self._examples().get(params["name"])
        if found is None:
            raise refusal(INVALID_PARAMS, f"There is no prompt {params['name']!r:.80}.")
        title, text = found
        message = {"role": "user", "content": {"type": "text", "text": text}}
        return {"description": title, "messages": [message]}

    def _examples(self) -> dict[str, tuple[str, str]]:
        found: dict[str, tuple[str, str]] = {}
        for definition in self.offers.definitions():
            listed = objects_in(definition.command.described.get("examples"))
            examples = [each for each in listed if isinstance(each.get("command"), str)]
            for number, each in enumerate(examples, 1):
                title = each.get("description") or each["command"]
                tool = CALL if self.offers.are_searched else definition.name
                text = (
                    f"{title}. Use the tool {tool}: on a command line this is `{each['command']}`."
                )
                found[f"{definition.name}-{number}"] = (str(title), text)
        return found


_DECLINED = {
    "kind": "cancelled",
    "code": "DECLINED",
    "message": "The user did not confirm the call. Nothing was run.",
    "retryable": False,
    "phase": "validation",
}


class _Reports:
    """What a call says while it runs, on its way to the client."""

    def __init__(self, peer: Peer, name: str) -> None:
        self._peer = peer
        self._name = name
        self._progress: tuple[float, float | None, str] | None = None
        self._logs: list[tuple[str, str]] = []
        self._news = asyncio.Event()
        # Set when no more will come.
        self.over = asyncio.Event()

    def progress(self, progress: Progress) -> None:
        """Have the latest progress reported."""
        if self._peer.wants_progress:
            self._progress = (progress.value, progress.total, progress.message)
            self._news.set()

    def log(self, level: str, text: str) -> None:
        """Have a log entry sent."""
        if len(self._logs) < _MOST_LOGS:
            self._logs.append((level, text))
            self._news.set()

    async def send(self) -> None:
        """Send what comes, until the end; of progress between two reports only the last."""
        is_over = False
        while not is_over:
            news = [asyncio.ensure_future(each.wait()) for each in (self._news, self.over)]
            await asyncio.wait(news, return_when=asyncio.FIRST_COMPLETED)
            for each in news:
                each.cancel()
            is_over = self.over.is_set()
            self._news.clear()
            logs, self._logs = self._logs, []
            for level, text in logs:
                await self._peer.log(level, text, self._name)
            if self._progress is not None:
                progress, self._progress = self._progress, None
                await self._peer.progress(*progress)
            if not is_over:
                try:
                    await asyncio.wait_for(self.over.wait(), _REPORT_SECONDS)
                except asyncio.TimeoutError:
                    pass


def _page(key: str, entries: list[Data], params: Data) -> Data:
    """Return the part of *entries* that *params* ask for."""
    cursor = params.get("cursor") or "0"
    if not (cursor.isdecimal() and int(cursor) <= len(entries)):
        raise refusal(INVALID_PARAMS, "There is no such cursor.")
    start = int(cursor)
    found: Data = {key: entries[start : start + _PAGE]}
    if start + _PAGE < len(entries):
        found["nextCursor"] = str(start + _PAGE)
    return found


def _is_unconfirmed(response: Response[Any]) -> bool:
    problem = response.problem
    return problem is not None and problem.code.lower() in _UNCONFIRMED


def _advised(response: Response[Any], definition: Definition) -> Response[Any]:
    """Return the refusal of a change with the advice that holds here."""
    problem = response.problem
    assert problem is not None
    advice = f"Call it with {definition.confirm}: true if the user wants exactly this"
    if definition.dry_run:
        advice += f", or {definition.dry_run}: true to see what it would do"
    problem = replace(problem, suggestion=f"{advice}.", fix_required="")
    return replace(response, problem=problem)
