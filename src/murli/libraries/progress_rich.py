"""Progress of rich: its tasks are reported, and its live display never begins.

Off a terminal that would print the last state of all tasks where the results are.
"""

from __future__ import annotations

from functools import partial

from .progress import Bar, Reporter, is_seen_by_agents, replace_in, state_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType
    from typing import Any

    from ..call import Invocation
    from ..outcome import ProgressEvent


def hook(invocation: Invocation, module: ModuleType) -> None:
    """Report the tasks of every ``Progress`` of *module*."""
    kind: Any = module.Progress
    reporter = Reporter(invocation)
    own_start, own_stop, own_refresh = kind.start, kind.stop, kind.refresh
    own_add, own_remove, own_rich = kind.add_task, kind.remove_task, kind.__rich__

    def start(shown: Any) -> None:
        bars = _bars_of(shown)
        if bars is None:
            own_start(shown)
            return
        shown.live._started = True  # or `track` counts nothing
        for bar in list(bars.values()):
            bar.open()

    def stop(shown: Any) -> None:
        bars = _bars_of(shown)
        if bars is None:
            own_stop(shown)
        else:
            shown.live._started = False
            _close(bars)

    def refresh(shown: Any) -> None:
        if _bars_of(shown) is None:
            own_refresh(shown)

    def add_task(shown: Any, *args: Any, **named: Any) -> Any:
        number = own_add(shown, *args, **named)
        bars = _bars_of(shown)
        if bars is not None:
            bars[number] = Bar(reporter, partial(_state, shown, number))
            # Not when it is started: it may be shown as a part of something else.
            bars[number].open()
        return number

    def remove_task(shown: Any, task_id: Any) -> None:
        bars = _bars_of(shown)
        if bars and task_id in bars:
            bars.pop(task_id).close()
        own_remove(shown, task_id)

    def rendered(shown: Any) -> Any:
        whole, bars = own_rich(shown), _bars_of(shown)
        return whole if bars is None else _Unseen(whole, bars)

    own = {"start": start, "stop": stop, "refresh": refresh, "add_task": add_task}
    replace_in(kind, {**own, "remove_task": remove_task, "__rich__": rendered}, invocation)


def _close(bars: dict[Any, Bar]) -> None:
    for bar in list(bars.values()):
        bar.close()


class _Unseen:
    """What a reported ``Progress`` shows as a part of something else: nothing."""

    def __init__(self, whole: Any, bars: dict[Any, Bar]) -> None:
        self._whole = whole
        self._bars = bars

    def __rich_console__(self, console: Any, options: Any) -> Iterator[Any]:
        if not is_seen_by_agents(console.file):
            yield self._whole
        elif not console.is_terminal:  # where it is shown once, in the end
            _close(self._bars)


def _bars_of(shown: Any) -> dict[Any, Bar] | None:
    """Return what reports the tasks of *shown*; ``None`` where that is left to rich."""
    bars: Any = getattr(shown, "_murli_bars", False)
    if bars is False:
        bars = shown._murli_bars = {} if _is_ours(shown) else None
    return bars  # type: ignore[no-any-return]


def _is_ours(shown: Any) -> bool:
    try:
        console = shown.console
        is_off = shown.disable or console.quiet or shown.live.is_started
        return not is_off and is_seen_by_agents(console.file)
    except AttributeError:  # a library that is not as it was known
        return False


def _state(shown: Any, number: Any) -> ProgressEvent:
    from rich.markup import render

    task = shown._tasks[number]
    description = task.description
    try:
        description = render(description).plain
    except Exception:  # no markup
        pass
    return state_of(description, task.completed, task.total)
