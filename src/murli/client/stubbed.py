"""What the classes in a written module stand on; see `murli.client.stubs`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .async_tool import AsyncTool
from .response import Response
from .tool import Tool

Words = tuple[str, ...]
Flags = Mapping[str, object]


class Stubbed:
    """The commands of a tool, or of a group of them, as methods; *tool* does all the rest."""

    def __init__(self, tool: Tool) -> None:
        self.tool = tool

    def _call(
        self, path: Words, arguments: Sequence[object], flags: Flags, stdin: bytes | None
    ) -> Response[Any]:
        return self.tool.call(*path, *_spread(arguments), stdin=stdin, **_named(flags))


class AsyncStubbed:
    """The same, awaited."""

    def __init__(self, tool: AsyncTool) -> None:
        self.tool = tool

    async def _call(
        self, path: Words, arguments: Sequence[object], flags: Flags, stdin: bytes | None
    ) -> Response[Any]:
        return await self.tool.call(*path, *_spread(arguments), stdin=stdin, **_named(flags))


def _spread(arguments: Sequence[object]) -> Iterator[object]:
    """Return the arguments that were given; `Tool` refuses one that is missing before another."""
    given = list(arguments)
    while given and given[-1] is None:
        given.pop()
    for each in given:
        if isinstance(each, (list, tuple)):
            yield from each
        else:
            yield each


def _named(flags: Flags) -> dict[str, Any]:
    # The underscore that `Tool.call` takes off again: no flag has the name of a parameter there.
    return {f"{name.replace('-', '_')}_": value for name, value in flags.items()}
