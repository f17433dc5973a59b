"""Runs real tools, with and without murli, and tells in a table how each of them did."""

from __future__ import annotations

import importlib
import json
import os
import re
import subprocess
import sys
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from documents import hold_to_schema
from harness import Run, environment
from tests_real.environments import CRAWLER
from tests_real.release import Release, Tool
from tests_real.scene import lay_out, settings
from tests_real.terminal import run_at_terminal
from tests_real.tools import enabling, releases

#: seconds that a call may take
LIMIT = 20
#: seconds that the calls of all commands may take together
CRAWL_LIMIT = 600
#: what stands before a tool that is not enabled
MURLI_RUN = (sys.executable, "-m", "murli", "run")


class Real:
    """A real tool in a folder with something to read."""

    def __init__(self, release: Release, folder: Path) -> None:
        self.release = release
        self.tool = release.tool
        self._folder = folder
        self._python = release.python()
        self._runs: dict[tuple[str, tuple[str, ...]], Run] = {}

    def piped(self, *words: str, mode: str = "pipe", again: bool = False) -> Run:
        """Run it as an agent does: stdin is a pipe that stays open, and silent.

        *mode* is ``plain``, ``run`` for a tool behind ``murli run``, or whom the tool takes for an
        agent. The same call is made once, unless it is asked for *again*.
        """
        if again or (mode, words) not in self._runs:
            self._runs[mode, words] = self._piped([*self._called(mode), *words], mode)
        return self._runs[mode, words]

    def at_terminal(self, *words: str, mode: str = "pipe", **more: str) -> tuple[bytes, int]:
        """Run it as a person does; return what the terminal got, and the status.

        *more* are further variables.
        """
        env = {**self._environment(mode), **more}
        return run_at_terminal([*self._called(mode), *words], lay_out(self._folder), env)

    def all_calls(
        self, calls: list[tuple[str, ...]], mode: str = "pipe", columns: int = 300
    ) -> list[Run]:
        """Run it once for each of *calls*, without a pipe to read from.

        In 300 *columns* nothing is cut short or wrapped.
        """
        done = self._crawl(["calls", self.tool.name], mode, json.dumps(calls), columns)
        return [Run(out.encode(), err.encode(), code) for code, out, err in json.loads(done)]

    @cached_property
    def commands(self) -> list[dict[str, Any]]:
        """Every visible command, as the framework knows it in a process without murli."""
        found: list[dict[str, Any]] = json.loads(
            self._crawl(["walk", self.tool.name, self.tool.app], "plain")
        )
        return found

    @cached_property
    def version(self) -> str:
        """The version that is installed."""
        name = re.match(r"[\w.-]+", self.tool.requirement)
        assert name is not None
        tell = f"from importlib.metadata import version; print(version({name[0]!r}))"
        return subprocess.check_output([self._python, "-c", tell], text=True).strip()

    def _script(self) -> str:
        return str(Path(self._python).with_name(self.tool.name))

    def _called(self, mode: str) -> list[str]:
        return [*(MURLI_RUN if mode == "run" else ()), self._script()]

    def _environment(self, mode: str) -> dict[str, str]:
        chosen = {**settings(self._folder), **self.tool.variables}
        # As an activated environment has it; some tools run others.
        chosen["PATH"] = f"{Path(self._python).parent}{os.pathsep}{os.environ['PATH']}"
        if mode not in ("plain", "run"):
            chosen |= enabling(self.tool, mode)
        return environment(**chosen)

    def _piped(self, argv: list[str], mode: str) -> Run:
        env = self._environment(mode)
        unfed, feeder = os.pipe()
        try:
            done = subprocess.run(
                argv,
                stdin=unfed,
                capture_output=True,
                cwd=lay_out(self._folder),
                env=env,
                # Whose help is learnt is run once for every command.
                timeout=LIMIT * (9 if mode == "run" else 1),
                check=False,
            )
        finally:
            os.close(unfed)
            os.close(feeder)
        for written in (done.stdout, done.stderr):
            hold_to_schema(written, argv, env)
        return Run(done.stdout, done.stderr, done.returncode)

    def _crawl(self, words: list[str], mode: str, text: str = "", columns: int = 300) -> str:
        width = str(columns)
        done = subprocess.run(
            [self._python, str(CRAWLER), *words],
            input=text,
            capture_output=True,
            text=True,
            cwd=lay_out(self._folder),
            env={**self._environment(mode), "COLUMNS": width, "TERMINAL_WIDTH": width},
            timeout=CRAWL_LIMIT,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()[-1]


def each_of(tools: list[Tool]) -> pytest.MarkDecorator:
    """Parametrise a test over *tools*, in every version."""
    return pytest.mark.parametrize("real", releases(tools), ids=str, indirect=True)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Have all tests of a tool run by one process, which makes the same call once."""
    scheduler: Any = importlib.import_module("xdist.scheduler")

    class ByTool(scheduler.LoadScopeScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            return nodeid.rpartition("[")[2]

    return ByTool(config, log)


@pytest.fixture(scope="module")
def real(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Real:
    """The tool in turn, installed from the package index by the first test that needs it."""
    return Real(request.param, tmp_path_factory.mktemp("real") / "scene")


@pytest.fixture(autouse=True)
def _tell_version(request: pytest.FixtureRequest) -> None:
    """Leave a note of the tool and its version in the report of a test."""
    if "real" in request.fixturenames:
        notes = request.node.user_properties
        notes.append(("release", str(request.node.callspec.params["real"])))
        notes.append(("version", request.getfixturevalue("real").version))


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print a line for every tool and version: what was tried, and what of it failed."""
    rows: dict[str, dict[str, str]] = {}
    suites: list[str] = []
    sizes: list[str] = []
    versions: dict[str, str] = {}
    for outcome in ("passed", "failed", "error"):
        for report in terminalreporter.stats.get(outcome, ()):
            known = dict(report.user_properties)
            suites += [known["suite"]] if "suite" in known else []
            sizes += [known["sizes"]] if "sizes" in known else []
            if "release" not in known:
                continue
            test = report.nodeid.rpartition("::")[2].partition("[")[0].removeprefix("test_")
            rows.setdefault(known["release"], {})[test] = "ok" if outcome == "passed" else "FAILED"
            versions[known["release"]] = known.get("version", "not installed")
    if suites:
        terminalreporter.section("their own tests")
        for line in sorted(suites):
            terminalreporter.write_line(line)
    if sizes:
        terminalreporter.section("bytes to read")
        for line in sizes:
            terminalreporter.write_line(line)
    if not rows:
        return
    terminalreporter.section("real tools")
    for release, tests in sorted(rows.items()):
        failed = [test for test, outcome in tests.items() if outcome != "ok"]
        verdict = f"FAILED: {', '.join(failed)}" if failed else "ok"
        line = f"{release:<28}{versions[release]:<14}{len(tests) - len(failed):>3} of {len(tests)}"
        terminalreporter.write_line(f"{line}  {verdict}")
    good = sum(set(tests.values()) == {"ok"} for tests in rows.values())
    terminalreporter.write_line(f"{len(rows)} tools and versions, {good} of them without a fault")
