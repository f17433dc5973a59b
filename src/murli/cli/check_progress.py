"""How far ``murli check`` has come, on stderr: a bar or one line for people, events for agents."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..answer import Writer
    from ..conformance import OnResult, Result

# How often progress is reported to an agent: it reads every line.
_SECONDS = 2.0


@contextmanager
def reported(writer: Writer) -> Iterator[OnResult | None]:
    """Enter with what to call with every result, ``None`` where nobody is to see it."""
    if not writer.is_tty():
        yield _for_agents(writer)
    elif not sys.stderr.isatty():
        yield None
    else:
        try:
            from rich.console import Console
            from rich.progress import Progress
        except ImportError:
            yield _counted(lambda line, done, total: writer.progress(line))
            return
        own = Console(stderr=True)
        with Progress(console=own, transient=True, redirect_stdout=False) as bar:
            task = bar.add_task("checks", total=None)
            yield _counted(lambda line, done, total: bar.update(task, completed=done, total=total))


def _counted(show: Callable[[str, int, int], object]) -> OnResult:
    """Return what calls *show* with a line, how many results there are, and how many will be."""
    seen: set[str] = set()

    def on_result(result: Result, total: int) -> None:
        seen.add(result.id)
        show(f"{len(seen)} of {total} checks, {result.status}: {result.id}", len(seen), total)

    return on_result


def _for_agents(writer: Writer) -> OnResult:
    latest = time.monotonic()

    def show(line: str, done: int, total: int) -> None:
        nonlocal latest
        now = time.monotonic()
        if now - latest >= _SECONDS:
            latest = now
            writer.progress(line)

    return _counted(show)
