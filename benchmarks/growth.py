"""``make bench``: whether what murli adds to a call grows linearly with what the call brings.

Counted by callgrind: what a call costs more with murli than without, for so many words, options,
variables and profiles, and for half as many, over what it costs for ten. Twice as many may cost
little more than twice as much.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from .figures import Figure, report_figures, selected
from .startup import PROCESSES, counted_run

LIMIT, FEW_OF_EACH = 2.3, 10

WORDS = """
import click
@click.command()
@click.argument("words", nargs=-1)
def tool(words):
    print(len(words))
tool()
"""
OPTIONS = """
import click
def tool(**given):
    print(len(given))
for number in range({count}):
    tool = click.option(f"--option-{{number}}")(tool)
tool = click.command()(tool)
tool()
"""
FEW = """
import click
@click.command()
@click.option("--name", default="world")
def tool(name):
    print(name)
tool()
"""
NOTED = """murli.annotate(tool, murli.Metadata(flag_annotations={
    "name": murli.FlagAnnotation(profileable=True)}))
"""


def _profiles(count: int) -> str:
    profiles = {f"p{number}": {"flags": {"name": f"n{number}"}} for number in range(count)}
    return json.dumps({"default": "p1", "profiles": profiles})


def added(kind: str, count: int, folder: Path) -> int:
    """Return the instructions that murli adds to a call with so many of *kind*."""
    source, words, env, profile = FEW, list[str](), dict[str, str](), ""
    if kind == "words of argv":
        source, words = WORDS, [f"word-{number}" for number in range(count)]
    elif kind == "options":
        source, words = OPTIONS.format(count=count), ["--option-1", "x"]
    elif kind == "environment variables":
        env = {f"VARIABLE_{number}": f"value {number}" for number in range(count)}
    else:
        profile = _profiles(count)
    notes = NOTED if profile else ""
    ours = source.replace("\ntool()\n", f"\nimport murli\n{notes}murli.enable(tool)\ntool()\n")
    without = counted_run(source, words, folder, env=env)
    return counted_run(ours, words, folder, env=env, profile=profile) - without


CASES = (
    ("words of argv", 10_000),
    ("options", 1_000),
    ("environment variables", 5_000),
    ("profiles", 10_000),
)


def main() -> int:
    """Print the table; return 1 when something grows faster than it may."""
    if shutil.which("valgrind") is None:
        print("make bench needs valgrind: install it and run again.", file=sys.stderr)
        return 2
    cases = selected(CASES, lambda each: each[0])
    with tempfile.TemporaryDirectory() as place, ThreadPoolExecutor(PROCESSES) as pool:
        runs = [(kind, part) for kind, count in cases for part in (FEW_OF_EACH, count // 2, count)]
        costs = dict(
            zip(runs, pool.map(lambda run: added(run[0], run[1], Path(place)), runs), strict=True)
        )
    figures = []
    for kind, count in cases:
        none, half, whole = (costs[kind, part] for part in (FEW_OF_EACH, count // 2, count))
        figures.append(
            Figure(
                f"{count:,} {kind}, what murli adds",
                (whole - none) / max(half - none, 1),
                LIMIT,
                f"half as many {kind}",
                note=f"{none:,}, {half:,}, {whole:,}",
            )
        )
    return report_figures(figures, ("click",))


if __name__ == "__main__":
    sys.exit(main())
