"""riffle is checked as any other tool is, by the profile beside it."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from harness import COMPILED, REPOSITORY
from murli.conformance import check, load

MODULES = {"argparse": "riffle", "click": "riffle.cli_click", "typer": "riffle.cli_typer"}
CONTRACTS = ["murli", "response", "agent-spec-1.6", "agent-spec-2"]
PROFILE = REPOSITORY / "examples" / "riffle" / "check.toml"
#: what is seen to hold on every change
OFTEN = [("argparse", "murli")]


def tool(adapter: str) -> list[str]:
    """Give the words that run one of riffle's front ends."""
    return [sys.executable, "-m", MODULES[adapter]]


def every_way() -> list[Any]:
    """Give front ends and contracts, most of them for the long run only."""
    ways = [(adapter, contract) for adapter in MODULES for contract in CONTRACTS]
    return [each if each in OFTEN else pytest.param(*each, marks=pytest.mark.slow) for each in ways]


@pytest.mark.parametrize(("adapter", "contract"), every_way())
def test_riffle_reaches_the_highest_level(adapter: str, contract: str) -> None:
    """Nothing fails, nothing is worth a warning, and nothing that applies is left unseen."""
    report = check(tool(adapter), contract=contract, profile=load(PROFILE), env=COMPILED)
    found = {
        each.id: (each.status, each.reason, [trouble.detail for trouble in each.troubles])
        for each in report.results
        if each.status not in ("pass", "not_applicable")
    }
    assert found == {}
    assert (report.contract, report.level, report.notes) == (contract, 3, ())


@pytest.mark.slow
@pytest.mark.parametrize("adapter", MODULES)
def test_riffle_without_a_profile_is_not_said_to_be_more_than_was_seen(adapter: str) -> None:
    """Where no index is there to be searched, nothing fails, and no level is claimed."""
    report = check(tool(adapter))
    assert (report.contract, report.wire) == ("murli", "docs")
    assert (report.count("fail"), report.level) == (0, 0)
    unseen = {each.id for each in report.results if each.status == "not_verified"}
    assert {"murli.success.shape", "murli.stream.lines"} <= unseen
