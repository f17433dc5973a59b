"""Our flags stand anywhere and take nothing that is the tool's; the same on every framework."""

from __future__ import annotations

import pytest

from harness import environment, run, run_at_terminal
from murli import strip_ansi

pytestmark = [pytest.mark.adapters("argparse", "click"), pytest.mark.warm]


@pytest.mark.parametrize("position", range(5))
@pytest.mark.parametrize(
    "flag",
    [
        ["--agent"],
        ["--output", "ndjson"],
        ["--output=json"],
        ["--yes"],
        ["--force"],
        ["--protocol-version", "0.2"],
    ],
)
def test_flags_in_any_position(tasks: list[str], position: int, flag: list[str]) -> None:
    """Every flag of ours is taken before, between and after the tool's own words."""
    words = ["--region=us", "task", "delete", "7", "--yes"]
    words[position:position] = flag
    result = run(tasks, *words).document["result"]
    assert result == {"region": "us", "id": 7, "forced": True, "ran": "delete"}


def test_an_option_of_the_same_name_is_the_commands_own(tasks: list[str]) -> None:
    """--output on a command that defines it is that command's; before the command it is ours."""
    done = run(tasks, "task", "list", "--output", "csv")
    assert done.document["result"]["output"] == "csv"
    done = run(tasks, "--output", "ndjson", "task", "list", "--output", "csv")
    assert done.out.count("\n") == 1
    assert done.document["result"]["output"] == "csv"
    done = run(tasks, "task", "list", "--output", "json")
    assert (done.code, done.error["valid_values"]) == (1, ["table", "csv"])


def test_what_is_passed_on_is_not_touched(tasks: list[str]) -> None:
    """Words for another program keep their flags; ours count before them."""
    words = ["ls", "--output", "json", "--agent", "--", "--schema"]
    assert run(tasks, "run", *words).document["result"] == words
    assert run(tasks, "run", "--agent", "ls", "--force").document["result"] == ["ls", "--force"]


def test_two_dashes_end_our_flags(tasks: list[str]) -> None:
    """Behind -- a flag of ours is a word."""
    assert run(tasks, "report", "--", "--agent").document["result"] == {"what": "--agent"}


def test_help_for_agents_tells_more(tasks: list[str]) -> None:
    """Piped help also lists our flags, and describe; annotated commands list theirs for all."""
    done = run(tasks, "--help")
    assert done.code == 0
    for word in ("--agent", "--schema", "--output", "tasks describe"):
        assert word in done.out
    # argparse has colours from Python 3.14 on.
    shown = strip_ansi(run_at_terminal(tasks, "task", "create", "--help").out)
    assert "--force, --yes" in shown
    assert "--dry-run" in shown
    assert "--agent" not in shown
    assert run(tasks, "--version").out == "tasks 2.1.0\n"


def test_an_unknown_contract_in_the_environment(tasks: list[str]) -> None:
    """A contract nobody knows is an error, in the contract everybody reads."""
    done = run(tasks, "report", env=environment(MURLI_CONTRACT="v9"))
    assert (done.code, done.error["error"]) == (1, "invalid_contract")
