"""What an agent reads to know a real tool, in bytes, beside the help of all its commands."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests_real.conftest import Real
from tests_real.release import NEWEST, Release
from tests_real.tools import tool_called

#: what the card may be of the help of all commands, and how long it may be in any case
SHARE, MOST = 0.6, 8_000
#: click, typer and argparse; large and small; with commands and without
NAMES = (
    *("sqlite-utils", "flask", "black", "towncrier", "uvicorn", "llm"),
    *("typer", "weasel", "mcp", "fastapi"),
    *("pre-commit", "csvcut", "bandit", "http", "pipx", "alembic", "yamllint", "dvc"),
)
RELEASES = [Release(tool_called(name), NEWEST) for name in NAMES]


def recursive_help(real: Real) -> int:
    """Return the size of the help of all commands, as they are without murli."""
    calls = [(*real.tool.before, *command["path"], "--help") for command in real.commands]
    return sum(len(done.stdout) for done in real.all_calls(calls, "plain", columns=80))


def card(real: Real) -> int:
    """Return by how much the tool's help is longer for an agent."""
    words = (*real.tool.before, "--help")
    return len(real.piped(*words).stdout) - len(real.piped(*words, mode="plain").stdout)


#: column -> what it shows of a tool; the first is what the others are compared with
COLUMNS: dict[str, Callable[[Real], int]] = {"recursive help": recursive_help, "card": card}


@pytest.mark.parametrize("real", RELEASES, ids=str, indirect=True)
def test_sizes(real: Real, request: pytest.FixtureRequest) -> None:
    """The card is at most 0.6 times as long as the help of all commands, and at most 8 kB."""
    sizes = {name: measure(real) for name, measure in COLUMNS.items()}
    whole = sizes["recursive help"]
    cells = [f"{name} {size:>7,} ({size / whole:4.2f})" for name, size in sizes.items()]
    line = f"{real.tool.name:<14}{'  '.join(cells)}"
    request.node.user_properties.append(("sizes", line))
    assert 0 < sizes["card"] <= min(SHARE * whole, MOST + 2), line
