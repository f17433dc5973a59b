"""The same tool under an event loop."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import aclosing
from typing import Any, TypeVar, overload

from ..wire.async_running import pump, run
from ..wire.catalogue import Command
from ..wire.running import ProcessResult
from .response import Response
from .settings import ToolBase, is_renewed, seconds_of
from .steps import Refresh, Remember, Run, Step, Steps, Wait
from .streaming import items_of_whole
from .tool import PagedCall, StreamedCall, typed
from .waiting import called

T = TypeVar("T")


class AsyncTool(ToolBase):
    """`Tool`, awaited. *refresh* may be a coroutine function; all else is the same there.

    A call that is cancelled ends its process, and all that this has started, before it is left.
    """

    async def commands(self) -> Mapping[str, Command]:
        """Return the commands of the tool; see `Tool.commands`."""
        catalogue = await self._drive(self._session.discovery.wanted())
        return catalogue.commands if catalogue is not None else {}

    @overload
    async def call(
        self, *words: object, as_type: type[T], stdin: bytes | None = None, **flags: object
    ) -> Response[T]: ...

    @overload
    async def call(
        self, *words: object, as_type: None = None, stdin: bytes | None = None, **flags: object
    ) -> Response[Any]: ...

    async def call(
        self, *words: object, as_type: Any = None, stdin: bytes | None = None, **flags: object
    ) -> Response[Any]:
        """Make a call, and give its last answer; see `Tool.call`."""
        return typed(await self._drive(called(self._session, words, flags, stdin)), as_type)

    async def run(
        self, *argv: str, stdin: bytes | None = None, follow: bool = True
    ) -> Response[Any]:
        """Make a call whose words are options and arguments already; nothing is checked.

        Without *follow* the tool is run once: its answer says what would be done about it.
        """
        return await self._drive(self._session.call(argv, stdin, follow=follow))

    def stream(
        self, *words: object, stdin: bytes | None = None, raises: bool = True, **flags: object
    ) -> AsyncStream:
        """Make a call, and give its items as they come; see `Tool.stream`."""

        def calling() -> Steps[Response[Any]]:
            argv = yield from self._session.built(words, flags, streams=True)
            return (yield from self._session.call(argv, stdin, streams=True))

        return AsyncStream(self, calling(), raises=raises)

    def pages(self, *words: object, as_type: Any = None, **flags: object) -> AsyncPages:
        """Make a call, and those for the pages behind it; see `Pages`."""

        def first() -> Awaitable[tuple[str, ...]]:
            return self._drive(self._session.built(words, flags))

        def call(argv: tuple[str, ...]) -> Awaitable[Response[Any]]:
            return self._drive(self._session.call(argv))

        return AsyncPages(first, call, as_type, self._settings.limits.pages)

    async def definitions(self, form: str, *, strict: bool | None = None) -> Any:
        """Return the commands as tools of a model; see `Tool.definitions`."""
        from .dispatching import definitions

        return await self._drive(definitions(self._session, form, strict))

    async def dispatch(
        self, call: object, arguments: object = None, *, stdin: bytes | None = None
    ) -> Response[Any]:
        """Make the call that a model asks for; see `Tool.dispatch`."""
        from .dispatching import dispatched

        return await self._drive(dispatched(self._session, call, arguments, stdin))

    async def _drive(self, steps: Steps[T]) -> T:
        return await driven(steps, self._do)

    async def _do(self, step: Step) -> Any:
        settings = self._settings
        if isinstance(step, Run):
            argv = settings.argv(step.words)
            limits, env = settings.limits_of(step), settings.child_env
            return await run(argv, limits, stdin=step.stdin, env=env, cwd=settings.cwd)
        if isinstance(step, Wait):
            return await asyncio.sleep(seconds_of(step.delay_ms, step.spread_ms))
        if isinstance(step, Refresh):
            answer = settings.refresh(step.response) if settings.refresh is not None else False
            return is_renewed(await answer if inspect.isawaitable(answer) else answer)
        if isinstance(step, Remember):
            # The one file that others may have locked.
            return await asyncio.to_thread(settings.do, step)
        return settings.do(step)


async def driven(steps: Steps[T], do: Callable[[Step], Awaitable[Any]]) -> T:
    """Return what *steps* return, each of which *do* carries out."""
    answer: Any = None
    while True:
        try:
            step = steps.send(answer)
        except StopIteration as end:
            result: T = end.value
            return result
        answer = await do(step)


class AsyncStream(StreamedCall, AsyncIterator[Any]):
    """`Stream` for ``async for``; left early, with ``aclose`` or by ``async with``, it is ended."""

    def __init__(
        self, tool: AsyncTool, steps: Steps[Response[Any]], *, raises: bool = True
    ) -> None:
        super().__init__(tool, raises=raises)
        self._flow = self._flowing(steps, tool._do)

    async def __anext__(self) -> Any:
        return await self._flow.__anext__()

    async def __aenter__(self) -> AsyncStream:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """End the tool, unless it has ended."""
        await self._flow.aclose()

    async def _flowing(
        self, steps: Steps[Response[Any]], do: Callable[[Step], Awaitable[Any]]
    ) -> AsyncGenerator[Any, None]:
        answer: Any = None
        while True:
            try:
                step = steps.send(answer)
            except StopIteration as end:
                response: Response[Any] = end.value
                break
            if not (isinstance(step, Run) and step.streams):
                answer = await do(step)
                continue
            child, items = self._start(step)
            if isinstance(child, ProcessResult):
                answer = child, items
                continue
            async with aclosing(pump(child)) as turns:
                async for _ in turns:
                    for item in items.take():
                        yield item
            for item in items.take():
                yield item
            answer = child.ran(), items
        for item in items_of_whole(response, self._items):
            yield item
        self._end(response)


class AsyncPages(PagedCall, AsyncIterator[Response[Any]]):
    """`Pages` for ``async for``."""

    def __init__(
        self,
        first: Callable[[], Awaitable[tuple[str, ...]]],
        call: Callable[[tuple[str, ...]], Awaitable[Response[Any]]],
        as_type: Any,
        most: int,
    ) -> None:
        super().__init__(as_type, most)
        self._first = first
        self._call = call

    async def __anext__(self) -> Response[Any]:
        if self._turner.count == 0:
            self._words = await self._first()
        if self._words is None:
            raise StopAsyncIteration
        return self._taken(await self._call(self._words))
