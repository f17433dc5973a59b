"""However many tables there are, and however alike, finding them takes time in proportion."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from harness import run, script

pytestmark = pytest.mark.warm

TABLES = """
import sys, argparse, murli
from tabulate import tabulate
from rich import print_json
parser = argparse.ArgumentParser()
murli.enable(parser)
parser.parse_args()
"""


@pytest.mark.parametrize("flags", [(), ("--stream",)])
@pytest.mark.parametrize(
    ("source", "count"),
    [
        # Headers that are all the same.
        (
            "for n in range(600): print(tabulate([[n, m] for m in range(5)], ['a', 'b'], 'grid'))",
            3000,
        ),
        # Rows that are all the same, and more of them than the table has.
        ("print(tabulate([['x', 'y']] * 9000, tablefmt='plain') + chr(10) + 'x z')", 9000),
        ("print(tabulate([['x', 'y']] * 9000, ['a', 'b'], 'grid'))", 9000),
    ],
)
def test_much_is_found_in_little_time(
    tmp_path: Path, source: str, count: int, flags: tuple[str, ...]
) -> None:
    """Every row of every table is there, in seconds."""
    begun = time.monotonic()
    done = run(script(tmp_path, TABLES + source), *flags)
    assert time.monotonic() - begun < 15
    if flags:
        rows = [line for line in done.out.splitlines() if "event" not in line]
        assert len(rows) == count + 1  # and the last line
        return
    result = done.document["result"]
    tables = [result] if isinstance(result, list) else [each["rows"] for each in result["tables"]]
    assert sum(map(len, tables)) == count


def test_much_json_is_found_in_little_time(tmp_path: Path) -> None:
    """Many values, and a large one, are all there."""
    source = "for n in range(500): print_json(data={'n': n})\nprint_json(data=[{'n': 1}] * 5000)"
    begun = time.monotonic()
    done = run(script(tmp_path, TABLES + source))
    assert time.monotonic() - begun < 15
    values = done.document["result"]["values"]
    assert [len(each) for each in values] == [1] * 500 + [5000]


@pytest.mark.slow
def test_tables_that_go_elsewhere_keep_little_memory(tmp_path: Path) -> None:
    """What is rendered and not printed is forgotten above a size."""
    source = """
import resource
for n in range(150): tabulate([['x' * 20000, n] for _ in range(20)], tablefmt='plain')
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""
    done = run(script(tmp_path, TABLES + source))
    assert int(done.document["result"]) < 130
