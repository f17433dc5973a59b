"""Tools from the package index, checked as their users installed them, with and without murli."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from murli.conformance import Report, check
from murli.conformance.results import NOT_VERIFIED, STATUSES
from tests_real.release import NEWEST, Release
from tests_real.tools import enabling, tool_called

#: programs, by the tool whose environment has them
PLAIN = {
    "black": "black",
    "flask": "flask",
    "hf": "hf",
    "httpx": "datasette",
    "jsonschema": "mcp",
    "mcp": "mcp",
    "mkdocs": "mkdocs",
    "pip": "black",
    "pip-licenses": "pip-licenses",
    "pipx": "pipx",
    "sqlite-utils": "sqlite-utils",
    "typer": "typer",
    "uvicorn": "uvicorn",
}
#: those that murli is added to
ENABLED = (
    "black",
    "fastapi",
    "flask",
    "hf",
    "mcp",
    "mkdocs",
    "pip-licenses",
    "pipx",
    "sqlite-utils",
    "uvicorn",
)
#: of those that murli is added to, the ones with few commands
SMALL = ("black", "flask", "mkdocs", "pip-licenses")


def program_of(name: str, script: str = "") -> Path:
    """Return a console script in the environment of the tool called *name*."""
    return Path(Release(tool_called(name), NEWEST).python()).with_name(script or name)


def listing(folder: Path) -> dict[str, int]:
    """Return every file below *folder*, with the moment it was last changed."""
    return {
        os.path.join(place, name): os.lstat(os.path.join(place, name)).st_mtime_ns
        for place, _, names in os.walk(folder)
        for name in names
    }


def sound(report: Report) -> None:
    """Fail unless every check of a report tells why it is what it is."""
    assert report.results and report.processes
    for result in report.results:
        assert result.status in STATUSES
        assert result.findings or result.reason, result.id
        assert all(each.detail for each in result.troubles), result.id


@pytest.mark.parametrize("name", PLAIN)
def test_a_tool_without_murli(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A plain tool is told to keep no contract, quickly, and nothing is left behind."""
    program = program_of(PLAIN[name], name)
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.chdir(home)
    before = listing(program.parent.parent)
    report = check([str(program)])
    sound(report)
    assert (report.contract, report.level) == ("none", 0)
    assert report.score < 50 and report.count(NOT_VERIFIED) > 10
    assert not any(
        each.evidence is not None and each.evidence.timed_out
        for result in report.results
        for each in result.findings
    )
    assert listing(home) == {} and listing(program.parent.parent) == before


@pytest.mark.parametrize("name", ENABLED)
def test_the_same_with_murli(name: str) -> None:
    """With one line of murli the same tool speaks the contract, and breaks nothing of level 1."""
    # The others have so many commands, and start so slowly, that all of it takes many minutes.
    only = () if name in SMALL else ("murli.describe", "process.version")
    report = check([str(program_of(name))], env=enabling(tool_called(name), "pipe"), only=only)
    sound(report)
    assert report.contract == "murli"
    troubles = [
        (result.id, each.command, each.detail)
        for result in report.results
        if result.level == 1
        for each in result.troubles
        if each.status == "fail"
    ]
    assert troubles == []
