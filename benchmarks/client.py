"""``make bench``: what `murli.client` adds to a call, over a bare ``subprocess.run``.

Instructions of the caller and of the tool together, counted by callgrind: repeatable on any load
but for how often a caller looks whether the tool has ended. Seconds are told beside them, from
calls made in turns, and so is how long it takes to read a large catalogue that was kept. Ends with
1 when a limit is exceeded. ``--json PATH`` writes the figures.
"""

from __future__ import annotations

import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from murli.client import Tool

from .figures import Figure, report_figures
from .startup import ARGPARSE_JSON, ARGPARSE_WRITER

LIMIT, MOST_MILLISECONDS = 1.05, 0.5
COMMANDS, MOST_FOR_CATALOGUE = 10_000, 20.0
FEW, MANY = 5, 25
TURNS = 40


@dataclass(frozen=True)
class Case:
    """A tool, and the contract it keeps."""

    name: str
    source: str
    contract: str


CASES = [
    Case("a tool without murli", ARGPARSE_JSON, "plain"),
    Case("a tool with murli", ARGPARSE_WRITER, "murli"),
]

# The words say how often, which contract, and what is run.
CALLERS = {
    "subprocess.run": """
import subprocess, sys
count, _, *argv = sys.argv[1:]
for _ in range(int(count)):
    subprocess.run([*argv, "--name=you"], stdin=subprocess.DEVNULL, capture_output=True)
""",
    # The first call learns what the tool takes; the others are checked against that.
    "Tool.call": """
import subprocess, sys
from murli.client import Tool
count, contract, *argv = sys.argv[1:]
tool = Tool(argv, contract=contract, memory=False, cache=False)
for _ in range(int(count)):
    tool.call(name="you")
""",
}


def counted(*argv: str) -> int:
    """Return the instructions of a program, without those of what it runs."""
    told = subprocess.run(
        ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *argv],
        stdin=subprocess.DEVNULL,
        env=_environment(),
        check=True,
        capture_output=True,
        text=True,
    ).stderr
    found = re.search(r"Collected : (\d+)", told)
    if found is None:
        raise RuntimeError(f"callgrind told no count: {told}")
    return int(found[1])


def instructions(argv: list[str], contract: str, folder: Path) -> tuple[int, int]:
    """Return what one more call costs, caller and tool together: bare, and by the client."""
    tool = counted(*argv, "--name=you")
    costs = []
    for name, source in CALLERS.items():
        caller = folder / f"{name}.py"
        caller.write_text(source)
        few, many = (
            counted(sys.executable, str(caller), str(count), contract, *argv)
            for count in (FEW, MANY)
        )
        costs.append(tool + (many - few) // (MANY - FEW))
    return costs[0], costs[1]


def seconds(argv: list[str], contract: str) -> tuple[float, float]:
    """Return how long a call takes, bare and by the client: medians of calls made in turns."""
    env = _environment()
    tool = Tool(argv, contract=contract, memory=False, cache=False, env=env)
    tool.call(name="you")
    bare, ours = [], []
    for _ in range(TURNS):
        start = time.perf_counter()
        subprocess.run(
            [*argv, "--name=you"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env=env,
            check=False,
        )
        between = time.perf_counter()
        response = tool.call(name="you")
        ours.append(time.perf_counter() - between)
        bare.append(between - start)
        if response.data != {"hello": "you"}:
            raise RuntimeError(f"the tool answered {response}")
    return statistics.median(bare), statistics.median(ours)


MANY_COMMANDS = f"""
import argparse, murli
parser = argparse.ArgumentParser(prog="many")
commands = parser.add_subparsers()
for number in range({COMMANDS}):
    commands.add_parser(f"command-{{number}}", help="Do something.").add_argument("--name")
murli.enable(parser)
parser.parse_args()
"""


def catalogue_milliseconds(folder: Path) -> float:
    """Return the processor time it takes to have the catalogue of a large tool, kept before."""
    script = folder / "many.py"
    script.write_text(MANY_COMMANDS)

    def had() -> float:
        tool = Tool([sys.executable, str(script)], memory=False, cache=folder / "kept")
        start = time.process_time()
        if len(tool.commands) < COMMANDS:
            raise RuntimeError("the tool tells too few commands")
        return (time.process_time() - start) * 1000

    had()
    return min(had() for _ in range(5))


def _environment() -> dict[str, str]:
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("MURLI_", "PYTHON"))
    }
    return {**kept, "PYTHONHASHSEED": "0"}


def main() -> int:
    """Print the table; give 1 when the client costs more than its limit."""
    if shutil.which("valgrind") is None:
        print("make bench needs valgrind: install it and run again.", file=sys.stderr)
        return 2
    figures = []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for number, case in enumerate(CASES):
            script = folder / f"hello{number}.py"
            script.write_text(case.source)
            argv = [sys.executable, str(script)]
            took, takes = seconds(argv, case.contract)
            bare, ours = instructions(argv, case.contract, folder)
            figures += [
                Figure(
                    f"client call of {case.name}, instructions",
                    ours / bare,
                    LIMIT,
                    "subprocess.run",
                    note=f"{bare:,}, {ours:,}",
                ),
                Figure(
                    f"client call of {case.name}, more time",
                    (takes - took) * 1000,
                    MOST_MILLISECONDS,
                    "subprocess.run",
                    unit="ms",
                    note=f"{took:.4f}, {takes:.4f} s",
                ),
            ]
        kept = catalogue_milliseconds(folder)
        measure = f"catalogue of {COMMANDS:,} commands, from the cache"
        figures.append(Figure(measure, kept, MOST_FOR_CATALOGUE, unit="ms"))
    return report_figures(figures)


if __name__ == "__main__":
    sys.exit(main())
