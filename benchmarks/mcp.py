"""``make bench``: what a call of an MCP server costs, warm and as a process of its own.

Processor time of the server, the tool and its calls together, from calls made in turns in one run;
the protocol itself, which costs the same for both, is left out. Ends with 1 when a limit is
exceeded. ``--json PATH`` writes the figures.
"""

from __future__ import annotations

import asyncio
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

from murli.mcp.backends import Processes, started
from murli.mcp.calls import Calls
from murli.wire.limits import Limits

from .figures import Figure, report_figures

# Twenty times as many calls in the same time.
LIMIT = 1 / 20
CALLS, PROCESSES, TURNS = 200, 10, 5


@dataclass(frozen=True)
class Case:
    """A tool, by what it loads."""

    name: str
    loads: str
    limit: float


class Cost(NamedTuple):
    """The seconds of one call: of processors, and until it is over."""

    busy: float
    took: float


CASES = [
    Case(
        "a tool that loads typer, rich, httpx and pydantic", "httpx, pydantic, rich.table", 1 / 15
    ),
    Case("a tool that loads pandas", "pandas", LIMIT),
    # Starting Python is most of what its processes do.
    Case("a tool that loads typer alone", "sys", 1 / 8),
]
SOURCE = """
import {loads}
import typer, murli

app = typer.Typer()
murli.enable(app, name="tool")


@app.command()
@murli.about(mutating=False)
def show(number: int = 1) -> dict[str, int]:
    return {{"number": number}}


@app.command()
def other() -> None: ...


app()
"""


def costs(calls: int = CALLS, processes: int = PROCESSES, loads: str = "pandas") -> dict[str, Cost]:
    """Return what a call costs, ``warm`` and as a ``process``."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tool.py"
        path.write_text(SOURCE.format(loads=loads))
        return asyncio.run(_costs([sys.executable, str(path)], calls, processes))


async def _costs(argv: list[str], calls: int, processes: int) -> dict[str, Cost]:
    env = {**os.environ, "MURLI_MODE": "agent"}
    forks = await started(argv, env)
    assert forks is not None and forks.process is not None
    warm, fresh = (Calls(each, "tool", Limits(), 1) for each in (forks, Processes(argv)))
    await warm.learn()
    await _make(warm, 10)  # which tell what they had to load
    kinds: dict[str, tuple[Calls, int, Callable[[], float]]] = {
        "warm": (warm, calls, partial(_tree, forks.process.pid)),
        "process": (fresh, processes, _children),
    }
    spent = dict.fromkeys(kinds, Cost(0.0, 0.0))
    for _ in range(TURNS):
        for kind, (each, count, below) in kinds.items():
            busy, began = below() + time.process_time(), time.perf_counter()
            await _make(each, count // TURNS)
            took = time.perf_counter() - began
            busy = below() + time.process_time() - busy
            made = count // TURNS * TURNS
            spent[kind] = Cost(spent[kind].busy + busy / made, spent[kind].took + took / made)
    await forks.close()
    return spent


async def _make(calls: Calls, count: int) -> None:
    for number in range(count):
        done = await calls.call(("show", f"--number={number}"), None)
        assert done.data == {"number": number}, done


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _tree(process: int) -> float:
    """Return the time of a process and of those that it has waited for."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def main() -> int:
    """Measure, and print; return 1 when a limit is exceeded."""
    figures = []
    for case in CASES:
        found = costs(loads=case.loads)
        warm, process = found["warm"], found["process"]
        ratio = warm.busy / process.busy
        note = f"{warm.busy * 1000:.1f} ms, {process.busy * 1000:.0f} ms; "
        note += f"{1 / warm.took:.0f} and {1 / process.took:.1f} calls a second"
        figures.append(
            Figure(f"a warm call of {case.name}", ratio, case.limit, "a process for it", note=note)
        )
    return report_figures(figures, ("mcp", "typer", "pandas", "httpx", "pydantic"))


if __name__ == "__main__":
    sys.exit(main())
