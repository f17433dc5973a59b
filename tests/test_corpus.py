"""What the fuzzer found once, or was told to start from, holds from then on."""

from __future__ import annotations

from pathlib import Path

import pytest
from fuzz.targets import CORPUS, TARGETS, judge

FILES = sorted(path for path in CORPUS.glob("*/*") if path.is_file())


@pytest.mark.parametrize("path", FILES, ids=[f"{path.parent.name}-{path.name}" for path in FILES])
def test_an_input_of_the_corpus_holds(path: Path) -> None:
    """Every kept input keeps the rules of its target."""
    judge(path.parent.name, path.read_bytes())


def test_every_target_has_a_corpus() -> None:
    """No target is without inputs, and no input without a target."""
    assert {path.parent.name for path in FILES} == set(TARGETS)
