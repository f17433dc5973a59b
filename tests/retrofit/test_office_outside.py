"""The office of the examples, whose plain click tool is called through `murli run`."""

from __future__ import annotations

import importlib
import sys
from typing import Any

import pytest

from harness import HOME, REPOSITORY
from retrofit_tools import MURLI

OFFICE = REPOSITORY / "examples" / "office"


@pytest.mark.slow
def test_from_outside_a_tool_does_as_well_as_with_the_one_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The ten questions need the same calls, and are answered rightly."""
    monkeypatch.syspath_prepend(str(OFFICE))
    monkeypatch.setenv("HOME", HOME)
    questions: Any = importlib.import_module("questions")

    class Outside(questions.Line):  # type: ignore[misc]
        def words(self) -> list[str]:
            return [*MURLI, sys.executable, str(OFFICE / "office_plain.py")]

    monkeypatch.setitem(questions.WAY_OF, "outside", Outside)
    monkeypatch.setitem(questions.WAYS, "outside", "office_plain.py")
    from_outside, with_line = questions.measure("outside"), questions.measure("one line")
    for question, calls in with_line.items():
        assert [call for call, _ in from_outside[question]] == [call for call, _ in calls]
