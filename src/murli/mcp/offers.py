"""What a server offers: a tool for each command, or two for all of them where they are many."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..schemas.definitions import Definition
from .options import Options
from .results import output_schema

SEARCH, CALL = "search_commands", "call_command"
# How many commands a search returns.
_MOST_FOUND = 20


class Offers:
    """The commands of a tool that *options* select, as tools of a server."""

    def __init__(self, definitions: Sequence[Definition], options: Options, name: str) -> None:
        self._name = name
        self._chosen = {
            each.name: each for each in definitions if _is_chosen(each.command.path, options)
        }
        #: whether two tools stand for all commands
        self.are_searched = len(self._chosen) > options.most_tools
        self._schemas = {
            key: schema
            for key, each in self._chosen.items()
            if (schema := output_schema(each.output_schema)) is not None
        }

    def __len__(self) -> int:
        return len(self._chosen)

    def find(self, name: str) -> Definition | None:
        """Return the command that is offered as *name*."""
        return self._chosen.get(name)

    def promised(self, name: str) -> dict[str, Any] | None:
        """Return the schema of what *name* answers, where there is one."""
        return self._schemas.get(name)

    def definitions(self) -> list[Definition]:
        """Return every command that is offered."""
        return list(self._chosen.values())

    def tools(self) -> list[dict[str, Any]]:
        """Return the tools, as the protocol lists them."""
        if self.are_searched:
            return [self._search_tool(), self._call_tool()]
        return list(map(self.tool, self._chosen.values()))

    def tool(self, definition: Definition) -> dict[str, Any]:
        """Return one command as a tool."""
        annotations = {
            _HINTS[name]: value for name, value in definition.hints.items() if name in _HINTS
        }
        tool: dict[str, Any] = {
            "name": definition.name,
            "title": definition.title,
            "description": definition.description,
            "inputSchema": definition.input_schema,
        }
        if annotations:
            tool["annotations"] = annotations
        promised = self._schemas.get(definition.name)
        return tool if promised is None else {**tool, "outputSchema": promised}

    def matches(self, query: str, paths: Sequence[tuple[str, ...]]) -> list[Definition]:
        """Return the commands about *query*, best first: those of *paths*, which a search found.

        Without *paths*, those that have its words in their names or descriptions.
        """
        by_path = {each.command.path: each for each in self._chosen.values()}
        found = [by_path[path] for path in paths if path in by_path]
        if not paths:
            words = query.lower().split()
            scored = [(_score(words, each), each) for each in self._chosen.values()]
            scored.sort(key=lambda pair: -pair[0])
            found = [each for score, each in scored if score or not words]
        return found[:_MOST_FOUND]

    def _search_tool(self) -> dict[str, Any]:
        return {
            "name": SEARCH,
            "title": f"Find commands of {self._name}",
            "description": f"Finds commands of {self._name}, which has {len(self)}, with the names "
            f"and schemas that {CALL} takes.",
            "inputSchema": {
                "type": "object",
                "properties": {
                    "query": {
                        "type": "string",
                        "description": "words about what the command does, or its name; "
                        "empty for the first commands",
                    }
                },
                "required": ["query"],
                "additionalProperties": False,
            },
            "annotations": {"readOnlyHint": True, "idempotentHint": True},
        }

    def _call_tool(self) -> dict[str, Any]:
        return {
            "name": CALL,
            "title": f"Call a command of {self._name}",
            "description": f"Calls a command that {SEARCH} has found. What it does depends on the "
            "command; its description says whether it changes something.",
            "inputSchema": {
                "type": "object",
                "properties": {
                    "name": {"type": "string", "description": "the name of the command"},
                    "arguments": {"type": "object", "description": "as its input schema has them"},
                },
                "required": ["name"],
                "additionalProperties": False,
            },
        }


_HINTS = {
    "read_only": "readOnlyHint",
    "destructive": "destructiveHint",
    "idempotent": "idempotentHint",
}


def _is_chosen(path: tuple[str, ...], options: Options) -> bool:
    if options.depth and len(path) > options.depth:
        return False
    chosen = [tuple(each.replace(".", " ").split()) for each in options.only]
    return not chosen or any(path[: len(each)] == each for each in chosen)


def unknown(definitions: Sequence[Definition], options: Options) -> Iterator[str]:
    """Yield the commands that *options* select though there are none."""
    for each in options.only:
        words = tuple(each.replace(".", " ").split())
        if not any(one.command.path[: len(words)] == words for one in definitions):
            yield each


def _score(words: Sequence[str], definition: Definition) -> int:
    name, text = " ".join(definition.command.path).lower(), definition.description.lower()
    return sum(3 * (word in name) + (word in text) for word in words)
