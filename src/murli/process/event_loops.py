"""Handlers that are awaited: how they are run and interrupted, and what they leave behind."""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # signal itself loads enum first
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from types import FrameType
    from typing import Any

    from ..answer import Writer

# More names than this are no help to anybody.
_MANY = 10
# For so long a second signal does not disturb what the first one started.
_CLEANUP_SECONDS = 1.0


def run(work: Coroutine[Any, Any, Any], writer: Writer | None) -> Any:
    """Run *work* to its end in a loop of its own, and give its result.

    Tasks that nobody has awaited by then are cancelled, as always; an agent gets a warning.
    """
    import asyncio

    left: list[str] = []
    for_agents = writer is not None and not writer.is_tty()
    interruptions = Interruptions()

    async def to_the_end() -> Any:
        interruptions.aim(asyncio.get_running_loop(), asyncio.current_task())
        result = await work
        await asyncio.sleep(0)  # what was cancelled may end
        others = asyncio.all_tasks() - {asyncio.current_task()}
        left.extend(sorted(_name(task) for task in others))
        return result

    main = to_the_end()
    if for_agents:
        interruptions.begin()
    try:
        result = asyncio.run(main)
    except BaseException as error:
        if interruptions.first in (None, error):
            raise
        raise interruptions.first from error
    finally:
        interruptions.end()
        main.close()  # where there is a loop already, neither has begun
        work.close()
    if interruptions.first is not None:
        raise interruptions.first
    if left and writer is not None and for_agents:
        noun = "task was" if len(left) == 1 else "tasks were"
        writer.warn(
            "TASKS_NOT_AWAITED",
            f"{len(left)} {noun} still running when the handler ended, and cancelled: "
            f"{', '.join(left[:_MANY])}.",
            tasks=left[:_MANY],
        )
    return result


async def pour(items: Any, take: Callable[[Any], bool]) -> None:
    """Return each of *items* to *take* until it says that it has enough; close what is left."""
    iterator = items.__aiter__()
    try:
        async for item in iterator:
            if take(item):
                break
    finally:
        close = getattr(iterator, "aclose", None)
        if close is not None:
            await close()


class Interruptions:
    """Signals while a loop runs: they cancel its task where raising would break the loop itself.

    An exception between two steps of a loop loses what was to be done next, and with it what
    waits for that, the cleanup included. Inside the handler's own code it is raised as ever. After
    the first one the handler cleans up, and is left to it for a while.
    """

    def __init__(self) -> None:
        self.first: KeyboardInterrupt | None = None
        self._before: dict[int, Any] = {}
        self._patience = 0.0
        self._loop: Any = None
        self._task: Any = None

    def begin(self) -> None:
        """Stand in for what interrupts an invocation; handlers of the tool's own stay."""
        try:
            for number in (1, 2, 14, 15):
                handler = _signal.getsignal(number)
                ours = str(getattr(handler, "__module__", "")).startswith("murli.")
                if ours or handler is _signal.default_int_handler:
                    self._before[number] = handler
                    _signal.signal(number, self._arrive)
        except ValueError:  # not in the main thread, where none would arrive
            pass

    def aim(self, loop: Any, task: Any) -> None:
        """Let what arrives cancel *task* from now on."""
        self._loop, self._task = loop, task

    def end(self) -> None:
        """Leave everything as it was."""
        for number, handler in self._before.items():
            if _signal.getsignal(number) == self._arrive:
                _signal.signal(number, handler)

    def _arrive(self, number: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        if now < self._patience:
            return
        try:
            self._before[number](number, frame)
        except KeyboardInterrupt as error:
            self.first = self.first or error
            self._patience = now + _CLEANUP_SECONDS
            if self._task is None or not _between_steps(frame):
                raise
            self._task.cancel()
            self._loop.call_soon_threadsafe(lambda: None)  # it may be waiting for something else


def _between_steps(frame: FrameType | None) -> bool:
    """Return whether *frame* is the loop's own code."""
    above = frame
    while above is not None:
        if above.f_code is Interruptions._arrive.__code__:
            frame = above.f_back  # two signals came at once: the second found us with the first
        above = above.f_back
    module = str(frame.f_globals.get("__name__", "")) if frame is not None else ""
    return module.partition(".")[0] in ("asyncio", "selectors")


def _name(task: Any) -> str:
    coroutine = task.get_coro()
    return str(getattr(coroutine, "__qualname__", None) or task.get_name())
