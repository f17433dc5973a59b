"""The same tool under an event loop."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import aclosing
from typing import Any, TypeVar, overload

from .async_running import pump, run
from .catalogue import Command
from .decisions import Decision
from .response import Response
from .running import Child, never_ran
from .session import PageTurner
from .settings import Bound, Settings, is_renewed, seconds_of
from .steps import Refresh, Remember, Run, Step, Steps, Wait
from .streaming import Items, items_of_whole
from .tool import typed

T = TypeVar("T")


class AsyncTool(Bound):
    """`Tool`, awaited. *refresh* may be a coroutine function; all else is the same there.

    A call that is cancelled ends its process, and all that this has started, before it is left.
    """

    async def commands(self) -> Mapping[str, Command]:
        """Give the commands of the tool; see `Tool.commands`."""
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
        argv = await self._drive(self._session.built(words, flags))
        return typed(await self._drive(self._session.call(argv, stdin)), as_type)

    async def run(
        self, *argv: str, stdin: bytes | None = None, follow: bool = True
    ) -> Response[Any]:
        """Make a call whose words are options and arguments already; nothing is checked.

        Without *follow* the tool is run once: its answer tells what would be done about it.
        """
        return await self._drive(self._session.call(argv, stdin, follow=follow))

    def stream(
        self, *words: object, stdin: bytes | None = None, raises: bool = True, **flags: object
    ) -> AsyncStream:
        """Make a call, and give its items as they come; see `Tool.stream`."""

        def calling() -> Steps[Response[Any]]:
            argv = yield from self._session.built(words, flags, streams=True)
            return (yield from self._session.call(argv, stdin, streams=True))

        return AsyncStream(self._settings, calling(), self._do, raises=raises)

    def pages(self, *words: object, as_type: Any = None, **flags: object) -> AsyncPages:
        """Make a call, and those for the pages behind it; see `Pages`."""

        def first() -> Awaitable[tuple[str, ...]]:
            return self._drive(self._session.built(words, flags))

        def call(argv: tuple[str, ...]) -> Awaitable[Response[Any]]:
            return self._drive(self._session.call(argv))

        return AsyncPages(first, call, as_type, self._settings.limits.pages)

    async def _drive(self, steps: Steps[T]) -> T:
        answer: Any = None
        while True:
            try:
                step = steps.send(answer)
            except StopIteration as end:
                result: T = end.value
                return result
            answer = await self._do(step)

    async def _do(self, step: Step) -> Any:
        settings = self._settings
        if isinstance(step, Run):
            argv = settings.argv(step.words)
            return await run(
                argv, settings.limits, stdin=step.stdin, env=settings.child_env, cwd=settings.cwd
            )
        if isinstance(step, Wait):
            return await asyncio.sleep(seconds_of(step.delay_ms, step.spread_ms))
        if isinstance(step, Refresh):
            answer = settings.refresh(step.response) if settings.refresh is not None else False
            return is_renewed(await answer if inspect.isawaitable(answer) else answer)
        if isinstance(step, Remember):
            # The one file that others may have locked.
            return await asyncio.to_thread(settings.do, step)
        return settings.do(step)


class AsyncStream(AsyncIterator[Any]):
    """`Stream` for ``async for``; left early, with ``aclose`` or by ``async with``, it is ended."""

    def __init__(
        self,
        settings: Settings,
        steps: Steps[Response[Any]],
        do: Callable[[Step], Awaitable[Any]],
        *,
        raises: bool = True,
    ) -> None:
        self._settings = settings
        self._raises = raises
        self._items: Items | None = None
        self._response: Response[Any] | None = None
        self._flow = self._flowing(steps, do)

    async def __anext__(self) -> Any:
        return await self._flow.__anext__()

    async def __aenter__(self) -> AsyncStream:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """End the tool, unless it has ended."""
        await self._flow.aclose()

    @property
    def progress(self) -> Mapping[str, Any] | None:
        """What the tool told last about how far it has come."""
        return self._items.progress if self._items is not None else None

    @property
    def response(self) -> Response[Any]:
        """How the call ended; there is an answer when all items have been taken."""
        if self._response is None:
            raise RuntimeError("the stream has not ended: take all its items first")
        return self._response

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
            settings = self._settings
            argv, limits = settings.argv(step.words), settings.limits
            items = self._items = Items(limits, settings.session.contract)
            try:
                child = Child(
                    argv,
                    limits,
                    items,
                    stdin=step.stdin,
                    env=settings.child_env,
                    cwd=settings.cwd,
                    silence=True,
                )
            except OSError as error:
                answer = never_ran(error, argv), items
                continue
            async with aclosing(pump(child)) as turns:
                async for _ in turns:
                    for item in items.take():
                        yield item
            for item in items.take():
                yield item
            answer = child.ran(b""), items
        for item in items_of_whole(response, self._items):
            yield item
        self._response = response
        if self._raises:
            response.raise_for_failure()


class AsyncPages(AsyncIterator[Response[Any]]):
    """`Pages` for ``async for``."""

    def __init__(
        self,
        first: Callable[[], Awaitable[tuple[str, ...]]],
        call: Callable[[tuple[str, ...]], Awaitable[Response[Any]]],
        as_type: Any,
        most: int,
    ) -> None:
        self._first = first
        self._call = call
        self._words: tuple[str, ...] | None = None
        self._as_type = as_type
        self._turner = PageTurner(most)

    async def __anext__(self) -> Response[Any]:
        if self._turner.count == 0:
            self._words = await self._first()
        if self._words is None:
            raise StopAsyncIteration
        response = await self._call(self._words)
        self._words = self._turner.next(response)
        return typed(response, self._as_type)

    @property
    def decision(self) -> Decision | None:
        """What was decided about the latest page."""
        return self._turner.decision
