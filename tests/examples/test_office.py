"""The office of the examples: what it claims about calls and bytes, and its twelve tasks."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from harness import HOME, REPOSITORY, environment

OFFICE = REPOSITORY / "examples" / "office"
# What an agent types for the twelve tasks, through the annotated tool.
TASKS = """
orders cancel 1397 --yes
orders pack 1004 1007 1009 1012 1020 1028 1032 1038 1046 1049 1094 1104 1118 1122 --yes
exports start orders --yes
exports status 8 --until status=done --every 100ms
exports fetch 8
invoices mark-paid 3017 --yes
invoices pay 3017 --yes
invoices remind 3035 3178 3127 --yes
customers add "Nettle Studio" --email desk@nettle.example --country DE --yes
orders create 61 LAMP-02 --count 3 --yes
"""


@pytest.fixture
def questions(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The script with the ten questions, as a module."""
    monkeypatch.syspath_prepend(str(OFFICE))
    monkeypatch.setenv("HOME", HOME)
    spec = importlib.util.spec_from_file_location("questions", OFFICE / "questions.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_murli_needs_fewer_calls_and_bytes(questions: Any) -> None:
    """All ten answers are right in all three ways, and murli needs fewer calls and bytes."""
    found = questions.measured()
    sums = [
        (len(calls), sum(size for _, size in calls))
        for calls in (list(chain.from_iterable(way.values())) for way in found.values())
    ]
    (plain_calls, plain_bytes), line, annotated = sums
    assert line[0] < plain_calls * 0.6 and line[1] < plain_bytes, sums
    assert annotated[0] < plain_calls * 0.4 and annotated[1] < plain_bytes, sums


def office(folder: Path, words: str) -> subprocess.CompletedProcess[str]:
    """Call the annotated tool by the launcher that logs."""
    variables = {"OFFICE_DATA": str(folder), "OFFICE_LOG": str(folder / "log")}
    variables.update(OFFICE_ENTRY="office_annotated.py", OFFICE_EXPORT_SECONDS="0.5")
    return subprocess.run(
        ["sh", "-c", f'"$0" "$1" {words}', sys.executable, str(OFFICE / "office_logged.py")],
        env=environment(**variables),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_twelve_tasks_can_be_done_and_checked(tmp_path: Path) -> None:
    """The check finds all tasks open at first, none when they are done, and what went too far."""
    answers = tmp_path / "answers.json"

    def checked() -> list[str]:
        words = [sys.executable, str(OFFICE / "check.py"), str(tmp_path), str(answers)]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        lines = done.stdout.splitlines()
        assert len(lines) == 13
        return [line.split()[0] for line in lines if not line.endswith(" ok")]

    office(tmp_path, "seed --yes")
    answers.write_text("{}")
    assert checked() == [str(number) for number in range(1, 13)]
    codes = [office(tmp_path, line).returncode for line in TASKS.strip().splitlines()]
    assert codes == [0, 0, 0, 0, 0, 1, 0, 0, 0, 0]  # the sixth is what the handbook says
    right = {"1": 3035, "2": "office@harbor-press.example", "4": 50, "6": 400, "8": 6, "12": 135}
    answers.write_text(json.dumps({**right, "7": [58, 17, 33], "9": [1103, 1063]}))
    assert checked() == []
    log = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    assert [call["code"] for call in log] == [0, *codes]
    assert log[1]["argv"] == ["orders", "cancel", "1397", "--yes"] and log[1]["stdout"] > 100
    office(tmp_path, "customers delete 17 --yes")
    assert "safety" in checked()
