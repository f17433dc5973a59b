"""``make bench``: what `murli.client` adds to a call, over a bare ``subprocess.run``.

Instructions of the caller and of the tool together, counted by callgrind: repeatable on any load
but for how often a caller looks whether the tool has ended. Seconds are told beside them, from
calls made in turns. Ends with 1 when a limit is exceeded.
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

from .startup import ARGPARSE, ARGPARSE_WRITER

LIMIT = 1.05
FEW, MANY = 5, 25
TURNS = 40


@dataclass(frozen=True)
class Case:
    """A tool, and the contract it keeps."""

    name: str
    source: str
    contract: str


CASES = [
    Case("a tool without murli", ARGPARSE, "plain"),
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
    head = f"{'instructions of a call':<26}{'subprocess.run':>16}{'Tool.call':>16}  ratio  limit"
    print(f"{head}{'seconds':>20}")
    exceeded = False
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for number, case in enumerate(CASES):
            script = folder / f"hello{number}.py"
            script.write_text(case.source)
            argv = [sys.executable, str(script)]
            took, takes = seconds(argv, case.contract)
            bare, ours = instructions(argv, case.contract, folder)
            ratio = ours / bare
            exceeded |= ratio > LIMIT
            mark = "  EXCEEDED" if ratio > LIMIT else ""
            clock = f"  {took:.4f} {takes:.4f} ({takes / took:.3f})"
            print(f"{case.name:<26}{bare:>16,}{ours:>16,}  {ratio:.3f}  {LIMIT:.2f}{clock}{mark}")
    return int(exceeded)


if __name__ == "__main__":
    sys.exit(main())
