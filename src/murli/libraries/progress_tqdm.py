"""Bars of tqdm: what they display is reported instead, and nothing is drawn."""

from __future__ import annotations

from functools import partial
from weakref import proxy

from .progress import Bar, Reporter, Unseen, bar_of, is_seen_by_agents, replace_in, state_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

    from ..call import Invocation
    from ..outcome import ProgressEvent


def hook(invocation: Invocation, module: ModuleType) -> None:
    """Report what the bars of *module* show."""
    bars: Any = module.tqdm
    reporter = Reporter(invocation)
    own_display, own_close = bars.display, bars.close

    def display(shown: Any, msg: str | None = None, pos: int | None = None) -> Any:
        bar = bar_of(getattr(shown, "fp", None)) or _taken(shown, reporter)
        if bar is None:
            return own_display(shown, msg, pos)
        if msg is None:
            bar.report()
        return True

    def close(shown: Any) -> Any:
        bar = bar_of(getattr(shown, "fp", None))
        if bar is not None and not getattr(shown, "disable", True):
            bar.state = partial(_state, shown)  # which nobody else may hold any more
            bar.report(is_end=True)
        return own_close(shown)

    replace_in(bars, {"display": display, "close": close}, invocation)


def _taken(shown: Any, reporter: Reporter) -> Bar | None:
    """Have *shown* draw nothing any more; ``None`` where it draws on something else."""
    if not (hasattr(shown, "sp") and hasattr(shown, "fp") and is_seen_by_agents(shown.fp)):
        return None
    # Without a hold on it: it is closed when nobody else has one.
    bar = Bar(reporter, partial(_state, proxy(shown)))
    shown.fp = Unseen(shown.fp, bar)
    shown.sp = shown.fp.write
    return bar


def _state(shown: Any) -> ProgressEvent:
    stage = str(shown.desc or "").rstrip().removesuffix(":")
    return state_of(stage, shown.n, shown.total, getattr(shown, "postfix", None) or "")
