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
from dataclasses import dataclass
from pathlib import Path

from murli.mcp.backends import Processes, started
from murli.mcp.calls import Calls
from murli.wire.limits import Limits

from .figures import Figure, report_figures

# Twenty times as many calls in the same time.
LIMIT = 1 / 20
CALLS, PROCESSES = 200, 10


@dataclass(frozen=True)
class Case:
    """A tool, by what it loads."""

    name: str
    loads: str
    limit: float


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


def costs(
    calls: int = CALLS, processes: int = PROCESSES, loads: str = "pandas"
) -> dict[str, float]:
    """Return the seconds of processor time that a call takes, ``warm`` and as a ``process``."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tool.py"
        path.write_text(SOURCE.format(loads=loads))
        return asyncio.run(_costs([sys.executable, str(path)], calls, processes))


async def _costs(argv: list[str], calls: int, processes: int) -> dict[str, float]:
    env = {**os.environ, "MURLI_MODE": "agent"}
    forks = await started(argv, env)
    assert forks is not None and forks.process is not None
    warm, fresh = (Calls(each, "tool", Limits(), 1) for each in (forks, Processes(argv)))
    await warm.learn()
    await _make(warm, 10)  # which tell what they had to load
    spent = {"warm": 0.0, "process": 0.0}
    turns = min(processes, 5)
    for _ in range(turns):
        began = _tree(forks.process.pid) + time.process_time()
        await _make(warm, calls // turns)
        spent["warm"] += _tree(forks.process.pid) + time.process_time() - began
        began = _children() + time.process_time()
        await _make(fresh, processes // turns)
        spent["process"] += _children() + time.process_time() - began
    await forks.close()
    return {
        "warm": spent["warm"] / (calls // turns * turns),
        "process": spent["process"] / (processes // turns * turns),
    }


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
        ratio = found["warm"] / found["process"]
        note = f"{found['warm'] * 1000:.1f} ms, {found['process'] * 1000:.0f} ms"
        figures.append(
            Figure(f"a warm call of {case.name}", ratio, case.limit, "a process for it", note=note)
        )
    return report_figures(figures, ("mcp", "typer", "pandas", "httpx", "pydantic"))


if __name__ == "__main__":
    sys.exit(main())
