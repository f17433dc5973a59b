"""Bars are progress events with the libraries of years ago as with the newest."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from harness import environment as variables
from harness import run, tool
from libraries.test_library_progress import TYPER
from progress_samples import PRINTED, assert_reported
from tests_real.environments import environment

LIBRARIES = {
    "old": [
        "tqdm==4.60.0",
        "rich==12.6.0",
        "click==8.1.8",
        "typer==0.12.5",
        "alive-progress==2.4.1",
    ],
    "before": [
        "tqdm==4.66.6",
        "rich==13.7.1",
        "click==8.2.1",
        "typer==0.16.0",
        "alive-progress==3.1.5",
    ],
    "newest": ["tqdm", "rich", "click", "typer", "alive-progress"],
}


@pytest.mark.parametrize("libraries", LIBRARIES)
def test_bars_are_events(libraries: str, tmp_path: Path) -> None:
    """Every bar begins and ends with the same states, and is no text, in every version."""
    python = environment(f"progress-{libraries}", sys.executable, LIBRARIES[libraries])
    with_typer = tmp_path / "tool.py"
    with_typer.write_text(TYPER)
    calls = {library: [tool("bars")[1], "show", library] for library in PRINTED}
    calls["typer"] = [str(with_typer)]
    for library, words in calls.items():
        done = run([python, *words], env=variables())
        like = "click" if library == "typer" else library
        assert done.document["result"] == PRINTED[like], library
        assert_reported([json.loads(line) for line in done.err.splitlines()], like)
