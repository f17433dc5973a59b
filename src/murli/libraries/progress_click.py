"""Bars of click, and of the click that typer brings along.

On a pipe they print their label, and count nothing while somebody iterates over them.
"""

from __future__ import annotations

from itertools import compress, count
from operator import length_hint
from weakref import proxy

from .progress import Bar, Reporter, Unseen, bar_of, is_seen_by_agents, replace_in, state_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType
    from typing import Any

    from ..call import Invocation


def hook(invocation: Invocation, module: ModuleType) -> None:
    """Report what the bars of *module* show."""
    bars: Any = module.ProgressBar
    reporter = Reporter(invocation)
    own_init, own_enter, own_finish = bars.__init__, bars.__enter__, bars.render_finish

    def init(shown: Any, *args: Any, **named: Any) -> None:
        own_init(shown, *args, **named)
        try:
            _take(shown, reporter)
        except AttributeError:  # a library that is not as it was known
            pass

    def enter(shown: Any) -> Any:
        bar = bar_of(getattr(shown, "file", None))
        if bar is not None:
            bar.open()
        return own_enter(shown)

    def finish(shown: Any) -> None:
        own_finish(shown)
        bar = bar_of(getattr(shown, "file", None))
        if bar is not None:
            bar.close()

    own = {"__init__": init, "__enter__": enter, "render_finish": finish}
    replace_in(bars, own, invocation)


def _take(shown: Any, reporter: Reporter) -> None:
    """Have *shown* draw nothing, and its items counted, if agents would see it."""
    if getattr(shown, "hidden", False) or not is_seen_by_agents(shown.file):
        return
    shown.iter, taken = _counted(shown.iter)
    weak = proxy(shown)
    bar = Bar(reporter, lambda: state_of(weak.label, weak.pos + taken(), weak.length))
    shown.file = Unseen(shown.file, bar)


def _counted(items: Any) -> tuple[Any, Callable[[], int]]:
    """Return *items*, and how many of them have been taken so far; nothing runs for each."""
    if type(items).__module__ == "builtins" and hasattr(items, "__length_hint__"):
        whole = length_hint(items)
        return items, lambda: whole - length_hint(items)
    counter = count(1)
    counted = _Items(items, counter)
    if hasattr(items, "close"):
        counted.close = items.close
    return counted, lambda: int(repr(counter)[len("count(") : -1]) - 1


class _Items(compress):  # type: ignore[type-arg]
    """Items that a counter goes along with, closed as they are."""

    close: Callable[[], Any]
