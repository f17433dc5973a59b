"""Fixtures that run real tools, with and without murli, in a folder of their own."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness import Run, environment, run, run_at_terminal
from tests_real.tools import LAUNCHER, TOOLS, Tool, lay_out, settings, tools_python


class Real:
    """A real tool in a folder with something to read."""

    def __init__(self, tool: Tool, python: str, folder: Path) -> None:
        self.tool = tool
        self.folder = folder
        self._start = [python, str(LAUNCHER)]
        self._env = environment(**settings(folder))

    def piped(self, *words: str, mode: str = "murli") -> Run:
        """Run it as an agent does."""
        return run(self._argv(mode), *words, env=self._env, cwd=self.folder)

    def at_terminal(self, *words: str, mode: str = "murli") -> Run:
        """Run it as a person does."""
        there = ["sh", "-c", 'cd "$0" && exec "$@"', str(self.folder), *self._argv(mode)]
        return run_at_terminal(there, *words, env=self._env)

    def walk(self) -> list[dict[str, Any]]:
        """Ask the framework, in a process without murli, for every visible command."""
        found: list[dict[str, Any]] = json.loads(self.piped(mode="walk").stdout)
        return found

    def _argv(self, mode: str) -> list[str]:
        return [*self._start, mode, self.tool.name]


Filter = Callable[[Tool], object]


def tools(wanted: Filter = lambda tool: True) -> pytest.MarkDecorator:
    """Parametrise a test over the tools that *wanted* holds for."""
    chosen = [tool for tool in TOOLS if wanted(tool)]
    return pytest.mark.parametrize("real", chosen, indirect=True, ids=lambda tool: tool.name)


@pytest.fixture
def real(request: pytest.FixtureRequest, tmp_path: Path) -> Real:
    """The tool in turn, installed from the package index by the first test that needs it."""
    return Real(request.param, tools_python(), lay_out(tmp_path))
