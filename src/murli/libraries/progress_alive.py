"""Bars of alive-progress: reported, and neither drawn nor followed by a receipt."""

from __future__ import annotations

import sys
from contextlib import contextmanager

from .progress import Bar, Reporter, is_seen_by_agents, replace_in, state_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType
    from typing import Any

    from ..call import Invocation
    from ..outcome import ProgressEvent

_BAR = "__alive_bar"


def hook(invocation: Invocation, module: ModuleType) -> None:
    """Report what the bars of *module* show."""
    own = getattr(module, _BAR)
    reporter = Reporter(invocation)

    def alive_bar(config: Any, total: Any = None, **more: Any) -> Any:
        # Where it has no stream of its own it is stdout.
        stream = getattr(config, "file", None) or sys.stdout
        if config.disable or not is_seen_by_agents(stream):
            return own(config, total, **more)
        return _reported(own(config._replace(disable=True), total, **more), config, total, reporter)

    replace_in(module, {_BAR: alive_bar}, invocation)


@contextmanager
def _reported(unseen: Any, config: Any, total: Any, reporter: Reporter) -> Iterator[Any]:
    """Be the bar *unseen*, which is reported."""
    with unseen as handle:
        texts = {"_title": config.title, "_text": ""}
        known = total if isinstance(total, int) and total > 0 else None
        bar = Bar(reporter, lambda: _state(handle, texts, known, is_manual=config.manual))
        for name in texts:
            if hasattr(handle, name):
                setattr(handle, name, _noted(getattr(handle, name), texts, name))
        bar.open()
        try:
            yield handle
        finally:
            bar.close()


def _noted(own: Any, texts: dict[str, Any], name: str) -> Any:
    """Return *own*, which sets a text of a bar, as what also notes it."""

    def set_text(text: Any = None) -> Any:
        texts[name] = text
        return own(text)

    return set_text


def _state(
    handle: Any, texts: dict[str, Any], total: int | None, *, is_manual: bool
) -> ProgressEvent:
    current, title, text = handle._current(), texts["_title"], texts["_text"]
    if not is_manual:
        return state_of(title, current, total, text)
    found = state_of(title, int(current * (total or 0)), total, text)
    return found.replace(percent=int(1000 * min(current, 1.0)) / 10)
