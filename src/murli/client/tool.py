"""A tool to call: the rules carried out, one process after the other."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing
from typing import Any, TypeVar, overload

from ..wire.catalogue import Command
from ..wire.running import Child, ProcessResult, never_ran, pump, run
from .decisions import Decision
from .response import Response
from .session import PageTurner
from .settings import ToolBase, is_renewed, seconds_of
from .steps import Refresh, Run, Step, Steps, Wait
from .streaming import Items, items_of_whole
from .waiting import called

T = TypeVar("T")


class Tool(ToolBase):
    """A command-line tool, called as its contract wants it.

    ::

        riffle = Tool("riffle")
        response = riffle.call("query", "woodworking", top=5)
        if response.is_usable:
            use(response.data)

    *tool* is the name or path of a program, or the words that run it. *policy* says what the client
    may do by itself, *limits* how much a process may write and how long it may take. *contract* is
    what the tool keeps, when that is known: ``murli``, ``response``, ``agent-spec-1.6``,
    ``agent-spec-2``, or ``plain`` for none. *env* takes the place of the environment. *refresh* is
    called with the answer when credentials have expired, and renews them (or returns ``False``).
    *on_decision* is called with every decision and the answer it is about. *memory* is the file of
    permanent redirects and *cache* the folder of catalogues: ``None`` for the usual places,
    ``False`` for none. *check*: whether arguments are checked before a process is started; by
    default as soon as the tool is known to keep a contract.
    """

    @property
    def commands(self) -> Mapping[str, Command]:
        """The commands of the tool, by what stands behind its name; empty when that is unknown.

        The first time, unless that is kept from before, the tool is run with ``describe`` or
        ``manifest``: ask for it only of a tool that may be asked.
        """
        catalogue = self._drive(self._session.discovery.wanted())
        return catalogue.commands if catalogue is not None else {}

    @overload
    def call(
        self, *words: object, as_type: type[T], stdin: bytes | None = None, **flags: object
    ) -> Response[T]: ...

    @overload
    def call(
        self, *words: object, as_type: None = None, stdin: bytes | None = None, **flags: object
    ) -> Response[Any]: ...

    def call(
        self, *words: object, as_type: Any = None, stdin: bytes | None = None, **flags: object
    ) -> Response[Any]:
        """Make a call, and give its last answer, a failure's too.

        *words* are the command and its arguments; *flags* become options: ``top=5`` is ``--top=5``,
        ``True`` the option alone, ``False`` its opposite where there is one, ``None`` nothing, a
        list one option each, a tuple one option with several values. A name that is taken, or a
        Python keyword, is written with an underscore behind it. Raises `ArgumentMistake` for a call
        that the tool would refuse; nothing a tool does raises.

        *until* repeats a call that only reads, until each field that it names has one of the
        values: ``until={"status": ["done", "failed"]}``; *until_not* until none has. *every* are
        the seconds from one call to the next (5), *timeout* those for all of them (600).
        """
        return typed(self._drive(called(self._session, words, flags, stdin)), as_type)

    def run(self, *argv: str, stdin: bytes | None = None, follow: bool = True) -> Response[Any]:
        """Make a call whose words are options and arguments already; nothing is checked.

        Without *follow* the tool is run once: its answer says what would be done about it.
        """
        return self._drive(self._session.call(argv, stdin, follow=follow))

    def stream(
        self, *words: object, stdin: bytes | None = None, raises: bool = True, **flags: object
    ) -> Stream:
        """Make a call, and give its items as they come; see `Stream`.

        A call that fails raises `ToolFailed` behind its last item, unless *raises* is false.
        """
        argv = self._drive(self._session.built(words, flags, streams=True))
        steps = self._session.call(argv, stdin, streams=True)
        return Stream(self, steps, raises=raises)

    def pages(self, *words: object, as_type: Any = None, **flags: object) -> Pages:
        """Make a call, and those for the pages behind it; see `Pages`."""
        argv = self._drive(self._session.built(words, flags))
        most = self._settings.limits.pages
        return Pages(lambda each: self._drive(self._session.call(each)), argv, as_type, most)

    def definitions(self, form: str, *, strict: bool | None = None) -> Any:
        """Return the commands as tools of a model: for ``anthropic``, ``openai`` or ``mcp``.

        Any other format of ``describe --export`` is one document. *strict* is whether the model is
        held to the schemas; by default where the vendor takes them all. The tool is run with
        ``describe``, unless what it says is kept from before.
        """
        from .dispatching import definitions

        return self._drive(definitions(self._session, form, strict))

    def dispatch(
        self, call: object, arguments: object = None, *, stdin: bytes | None = None
    ) -> Response[Any]:
        """Make the call that a model asks for, and give its last answer; see `call`.

        *call* is the name of a definition, with its *arguments*; or a call as a vendor's library
        has it. What cannot be called is a failed answer, which says what to change. A change is
        confirmed only where its arguments say so, or the policy does. ``for_model`` of the answer
        is what to give back to the model.
        """
        from .dispatching import dispatched

        return self._drive(dispatched(self._session, call, arguments, stdin))

    def _drive(self, steps: Steps[T]) -> T:
        answer: Any = None
        while True:
            try:
                step = steps.send(answer)
            except StopIteration as end:
                result: T = end.value
                return result
            answer = self._do(step)

    def _do(self, step: Step) -> Any:
        settings = self._settings
        if isinstance(step, Run):
            argv = settings.argv(step.words)
            env, cwd = settings.child_env, settings.cwd
            return run(argv, settings.limits_of(step), stdin=step.stdin, env=env, cwd=cwd)
        if isinstance(step, Wait):
            return time.sleep(seconds_of(step.delay_ms, step.spread_ms))
        if isinstance(step, Refresh):
            return settings.refresh is not None and is_renewed(settings.refresh(step.response))
        return settings.do(step)


class StreamedCall:
    """What `Stream` and `AsyncStream` have in common: a call whose items are taken one by one."""

    def __init__(self, tool: ToolBase, *, raises: bool) -> None:
        self._settings = tool._settings
        self._raises = raises
        self._items: Items | None = None
        self._response: Response[Any] | None = None

    @property
    def progress(self) -> Mapping[str, Any] | None:
        """The latest progress that the tool reported."""
        return self._items.progress if self._items is not None else None

    @property
    def response(self) -> Response[Any]:
        """How the call ended; there is an answer when all items have been taken."""
        if self._response is None:
            raise RuntimeError("the stream has not ended: take all its items first")
        return self._response

    def _start(self, step: Run) -> tuple[Child | ProcessResult, Items]:
        """Start the tool; what cannot be started has ended."""
        settings = self._settings
        argv, limits = settings.argv(step.words), settings.limits
        items = self._items = Items(limits, settings.session.contract)
        env, cwd = settings.child_env, settings.cwd
        try:
            child = Child(argv, limits, items, stdin=step.stdin, env=env, cwd=cwd, silence=True)
        except OSError as error:
            return never_ran(error, argv), items
        return child, items

    def _end(self, response: Response[Any]) -> None:
        self._response = response
        if self._raises:
            response.raise_for_failure()


class Stream(StreamedCall, Iterator[Any]):
    """The items of a call as they come, progress and heartbeats left out.

    The tool is read no faster than the items are taken. *progress* is the latest that it
    reported, *response* how it ended, once the items have. Before the first item the client acts
    on a failure as in a call; behind it nothing is done again. A call that failed in the end raises
    `ToolFailed` in place of the next item, so that it is not taken for one without items. Left
    early, with ``close`` or at the end of a ``with``, the tool is ended.
    """

    def __init__(self, tool: Tool, steps: Steps[Response[Any]], *, raises: bool = True) -> None:
        super().__init__(tool, raises=raises)
        self._flow = self._flowing(steps, tool._do)

    def __next__(self) -> Any:
        return next(self._flow)

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """End the tool, unless it has ended."""
        self._flow.close()

    def _flowing(
        self, steps: Steps[Response[Any]], do: Callable[[Step], Any]
    ) -> Generator[Any, None, None]:
        answer: Any = None
        while True:
            try:
                step = steps.send(answer)
            except StopIteration as end:
                response: Response[Any] = end.value
                break
            if isinstance(step, Run) and step.streams:
                answer = yield from self._run(step)
            else:
                answer = do(step)
        yield from items_of_whole(response, self._items)
        self._end(response)

    def _run(self, step: Run) -> Generator[Any, None, tuple[ProcessResult, Items]]:
        child, items = self._start(step)
        if isinstance(child, ProcessResult):
            return child, items
        with closing(pump(child)) as turns:
            for _ in turns:
                yield from items.take()
        yield from items.take()
        return child.ran(), items


class PagedCall:
    """What `Pages` and `AsyncPages` have in common: the words to call with next, if any."""

    def __init__(self, as_type: Any, most: int) -> None:
        self._words: tuple[str, ...] | None = None
        self._as_type = as_type
        self._turner = PageTurner(most)

    @property
    def decision(self) -> Decision | None:
        """What was decided about the latest page."""
        return self._turner.decision

    def _taken(self, response: Response[Any]) -> Response[Any]:
        self._words = self._turner.next(response)
        return typed(response, self._as_type)


class Pages(PagedCall, Iterator[Response[Any]]):
    """The pages of an answer, one call each; the last may be a failure.

    *decision* is why there are no more: only after ``Done`` were these all.
    """

    def __init__(
        self,
        call: Callable[[tuple[str, ...]], Response[Any]],
        words: tuple[str, ...],
        as_type: Any,
        most: int,
    ) -> None:
        super().__init__(as_type, most)
        self._call = call
        self._words = words

    def __next__(self) -> Response[Any]:
        if self._words is None:
            raise StopIteration
        return self._taken(self._call(self._words))


def typed(response: Response[Any], as_type: Any) -> Response[Any]:
    """Return *response* with its data as *as_type*, if one is wanted."""
    if as_type is None:
        return response
    from .converting import converted

    return converted(response, as_type)
