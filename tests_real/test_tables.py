"""Tables arrive as rows from the libraries of years ago as they do from the newest."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from harness import environment as variables
from harness import run, tool
from libraries.test_tables import FRAMES, PRINTED
from tests_real.environments import environment

LIBRARIES = {
    "old": [
        "rich==13.0.1",
        "tabulate==0.8.10",
        "prettytable==2.5.0",
        "texttable==1.6.7",
        "pandas==1.5.3",
        "numpy<2",
    ],
    "before": ["rich==14.0.0", "tabulate==0.9.0", "prettytable==3.10.0", "pandas==2.2.3"],
    "newest": ["rich", "tabulate", "prettytable", "texttable", "pandas"],
}


@pytest.mark.parametrize("libraries", LIBRARIES)
def test_tables_are_rows(libraries: str) -> None:
    """Every way of printing a table has the same rows from every version of its library."""
    needed = ["click", *LIBRARIES[libraries]]
    python = environment(f"tables-{libraries}", sys.executable, needed)
    wrong: dict[str, Any] = {}
    for call, result in PRINTED + FRAMES:
        if libraries == "before" and call == "texttable":
            continue
        done = run([python, tool("tables")[1]], *call.split(), env=variables())
        if done.code or done.document["result"] != result:
            wrong[call] = done.out or done.err
    assert wrong == {}
