"""The table of requirements is complete, and each of its claims has a test that exists."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
TABLE = ROOT / "docs" / "reference" / "agent-spec-coverage.md"
STATUSES = ("done", "declared", "opt-in", "not applicable", "not yet")
# How many requirements there are in each group.
NUMBERS = {"F": 82, "C": 36, "O": 50}

# What must be kept: priority P0 and P1, by the framework itself or where an author declares it.
REQUIRED = {
    "F": (
        "001 002 003 004 005 006 007 008 009 010 011 012 013 014 015 016 017 018 019 021 022 023 "
        "028 029 034 035 037 039 044 045 046 047 048 049 050 051 052 053 054 055 056 057 059 060 "
        "062 063 064 065 066 067 068 069 070 071 072 073 074 075 079"
    ),
    "C": (
        "001 002 003 004 005 006 007 008 009 012 013 014 015 016 017 019 020 021 022 023 024 025 "
        "026 027 028 029 030 032 036"
    ),
    "O": "001 003 008 009 013 020 021 022 026 031 032 033 039 041 043 045 048",
}


class Row:
    """One requirement, and what is said about it."""

    def __init__(self, cells: list[str]) -> None:
        self.number, self.priority, self.clause, self.status, proof = cells
        self.tests = re.findall(r"`([^`]+)`", proof)


def rows() -> list[Row]:
    found = []
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if re.fullmatch(r"[FCO]-\d{3}", cells[0]):
            found.append(Row([*cells, ""][:5] if len(cells) < 5 else cells))
    return found


@cache
def defined_in(path: str) -> frozenset[str]:
    """Give the names of the tests that *path* defines."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return frozenset(
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    )


def test_every_requirement_has_one_row() -> None:
    """Each number of the three groups is there once, in its order, with a known status."""
    wanted = [
        f"{group}-{number:03}" for group, most in NUMBERS.items() for number in range(1, most + 1)
    ]
    assert [row.number for row in rows()] == wanted
    for row in rows():
        assert row.status in STATUSES, row.number
        assert re.fullmatch("P[0-3]", row.priority), row.number
        assert row.clause, row.number


def test_what_must_be_kept_is() -> None:
    """Of priority P0 and P1, what a framework can do is done, or done where it is declared."""
    required = {f"{group}-{each}" for group, told in REQUIRED.items() for each in told.split()}
    assert len(required) == 105
    table = {row.number: row for row in rows()}
    assert [n for n in sorted(required) if table[n].status not in ("done", "declared")] == []
    assert {table[number].priority for number in required} == {"P0", "P1"}


def test_no_claim_without_a_proof() -> None:
    """What is said to be kept names a test; what is not built names none."""
    for row in rows():
        kept = row.status in ("done", "declared", "opt-in")
        assert bool(row.tests) or not kept, row.number
        assert not row.tests or row.status != "not yet", row.number


def test_the_counts_are_those_of_the_table() -> None:
    """The summary counts what stands below it."""
    text = TABLE.read_text(encoding="utf-8")
    for status in STATUSES:
        (told,) = re.findall(rf"^\| {status} \| .* \| (\d+) \|$", text, re.MULTILINE)
        assert int(told) == sum(row.status == status for row in rows()), status


def test_every_test_that_is_named_exists() -> None:
    """The files are there, and define the tests that are named."""
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", TABLE.read_text(encoding="utf-8"))
    assert named
    assert [f"{path}::{name}" for path, name in named if name not in defined_in(path)] == []
