"""The tests that other authors wrote for their tools pass as well when murli is enabled."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests_real.suites import SUITES, Suite, run_suite


@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.requirement)
def test_own_tests(
    suite: Suite, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    """With agents="flag" not one test of a tool fails that passes without murli."""
    plain, done = tmp_path / "plain", tmp_path / "enabled"
    for each in (plain, done):
        each.mkdir()
    before = run_suite(suite, plain, is_enabled=False)
    after = run_suite(suite, done, is_enabled=True)
    new = sorted(after.failed - before.failed)
    counts = " ".join(
        f"{len(each.passed):>5} pass {len(each.failed):>3} fail" for each in (before, after)
    )
    record_property("suite", f"{suite.requirement:<20}{counts}  {', '.join(new)}")
    assert (done / "tally").exists(), "murli was not enabled"
    assert len(before.passed) >= suite.at_least, before.output[-4000:]
    assert new == [], after.output[-4000:]
    assert before.passed - before.failed <= after.passed
