"""The tests that other authors wrote for their tools pass as well when murli is enabled."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests_real.suites import SUITES, Suite, run_suite


@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.requirement)
def test_own_tests(suite: Suite, tmp_path: Path, record_property: pytest.RecordProperty) -> None:
    """With agents="flag" not one test of a tool fails that passes without murli."""
    plain, done = tmp_path / "plain", tmp_path / "enabled"
    for each in (plain, done):
        each.mkdir()
    before = run_suite(suite, plain, is_enabled=False)
    after = run_suite(suite, done, is_enabled=True)
    record_property(
        "suite", f"{suite.requirement}: {len(before.passed)} pass, {len(before.failed)} fail"
    )
    assert (done / "tally").exists(), "murli was not enabled"
    assert len(before.passed) >= suite.at_least, before.output[-4000:]
    assert sorted(after.failed - before.failed) == [], after.output[-4000:]
    assert before.passed - before.failed <= after.passed
