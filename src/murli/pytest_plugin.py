"""The pytest plugin: fixtures, a marker, and tests that fail for invalid documents.

Installed with murli and loaded in every run of pytest, so it imports nothing of murli and hooks
into no test until one of these is used:

* ``murli_run``: `murli.testing.run` with a home of the test's own
* ``murli_contract``: the test, once for every contract
* ``@pytest.mark.murli``, or ``murli_validate = all``: the documents a test writes are watched
* ``murli_check = riffle``: a test for every check of ``murli check riffle``
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from .conformance import Profile, Report
    from .conformance import Result as CheckResult
    from .testing import Runner, Verdict

_WATCHED_FIXTURES = {"murli_run", "murli_contract"}


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the settings."""
    parser.addini(
        "murli_validate",
        "whose documents are watched: of tests that `use` murli's fixtures or marker, or `all`",
        default="use",
    )
    parser.addini("murli_contracts", "what murli_contract goes through", "args", [])
    parser.addini(
        "murli_check",
        "calls of `murli check`, one a line, of which each check is a test",
        "linelist",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known."""
    config.addinivalue_line(
        "markers",
        "murli(contract=''): fail when murli writes an invalid document; "
        "contract is the one that murli_run asks for",
    )


# -- running -------------------------------------------------------------------------------------


@pytest.fixture
def murli_run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Runner:
    """Run a tool: ``murli_run(app, "query", "wood")``. See `murli.testing.run`."""
    from .testing import Runner

    marker = request.node.get_closest_marker("murli")
    contract = marker.kwargs.get("contract", "") if marker is not None else ""
    if "murli_contract" in request.fixturenames:
        contract = request.getfixturevalue("murli_contract")
    return Runner(tmp_path_factory.mktemp("murli-home"), contract)


@pytest.fixture
def murli_contract(request: pytest.FixtureRequest) -> str:
    """The name of a contract; the test runs once for each. ``murli_run`` asks for it by itself."""
    contract: str = request.param
    return contract


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test that asks for it once for every contract."""
    if "murli_contract" in metafunc.fixturenames:
        from .contracts import CONTRACT_NAMES

        names = metafunc.config.getini("murli_contracts") or CONTRACT_NAMES
        metafunc.parametrize("murli_contract", names, indirect=True)


# -- watching ------------------------------------------------------------------------------------


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(
    session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Add the checks that are asked for, and watch the tests that want to be watched."""
    validate = config.getini("murli_validate")
    if validate not in ("use", "all"):
        raise pytest.UsageError(f"murli_validate is use or all, not {validate!r}")
    watched = [each for each in items if validate == "all" or _wants_watching(each)]
    if watched:
        config.pluginmanager.register(_Watcher(watched), "murli-watcher")
    # Who names files or tests to run has not named these.
    if not any("::" in each or each.endswith(".py") for each in config.args):
        for line in config.getini("murli_check"):
            items += _Tool.of(session, line).collect()


def _wants_watching(item: pytest.Item) -> bool:
    fixtures = getattr(item, "fixturenames", ())
    return not _WATCHED_FIXTURES.isdisjoint(fixtures) or (
        item.get_closest_marker("murli") is not None
    )


class _Watcher:
    """Judges what is written from the setup of a test to its teardown."""

    def __init__(self, items: list[pytest.Item]) -> None:
        self._items = set(items)
        self._watch: Any = None
        self._verdict: Verdict | None = None
        self._shown = 0

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Begin to watch."""
        if item in self._items:
            from .testing import watch

            self._watch = watch()
            self._verdict, self._shown = self._watch.__enter__(), 0

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_call(self) -> None:
        """Fail a test that would have passed, for what it wrote."""
        self._fail()

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_teardown(self) -> None:
        """Fail the teardown of a test for what was written behind it."""
        self._fail()

    def pytest_runtest_logfinish(self) -> None:
        """End watching, whatever became of the test."""
        watch, self._watch = self._watch, None
        if watch is not None:
            watch.__exit__(None, None, None)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self) -> Iterator[None]:
        """Add what the tool wrote to the report of a test that failed."""
        outcome: Any = yield
        report = outcome.get_result()
        faults = "" if report.passed else self._unreported()
        if faults:
            report.sections.append(("murli", faults))

    def _fail(self) -> None:
        faults = self._unreported()
        if faults:
            pytest.fail(faults, pytrace=False)

    def _unreported(self) -> str:
        """Return what was found since this was last asked, in words."""
        faults = self._verdict.faults[self._shown :] if self._verdict is not None else []
        self._shown += len(faults)
        lines = [f"- {each}" for each in faults]
        return "\n".join(["What murli wrote breaks its contract:", *lines]) if faults else ""


# -- conformance ---------------------------------------------------------------------------------


class _Tool(pytest.Collector):
    """A tool that is checked as a black box; its tests are the checks."""

    words: list[str]
    contract: str
    only: tuple[str, ...]
    profile: Profile
    _report: Report | None = None

    @classmethod
    def of(cls, session: pytest.Session, line: str) -> _Tool:
        """Return the tool of a line in the settings: the arguments of ``murli check``."""
        import argparse
        import shlex

        from .conformance import BadProfile, Profile, load

        parser = argparse.ArgumentParser(prog="murli_check", add_help=False)
        parser.add_argument("--contract", default="")
        parser.add_argument("--profile", default="")
        parser.add_argument("--only", action="append", default=[])
        parser.add_argument("words", nargs=argparse.REMAINDER)
        given = parser.parse_args(shlex.split(line))
        name = f"murli check {line}"
        tool: _Tool = cls.from_parent(session, name=name, nodeid=name)
        tool.words, tool.only = given.words, tuple(given.only)
        if not given.words:
            raise pytest.UsageError(f"murli_check names no tool: {line!r}")
        try:
            path = tool.config.rootpath / given.profile
            tool.profile = load(path) if given.profile else Profile()
        except BadProfile as error:
            raise pytest.UsageError(str(error)) from None
        tool.contract = given.contract or tool.profile.contract
        return tool

    def collect(self) -> list[pytest.Item]:
        """Return a test for every check of the contract, or of all where none is named."""
        from .conformance.checking import checks_for
        from .contracts import CONTRACT_NAMES

        contracts = [self.contract] if self.contract else CONTRACT_NAMES
        titles = {each.id: each.title for name in contracts for each in checks_for(name)}
        items: list[pytest.Item] = []
        for id, title in titles.items():
            if not self.only or id.startswith(self.only):
                item: _Check = _Check.from_parent(self, name=id)
                item.title = title
                items.append(item)
        return items

    def report(self) -> Report:
        """Return what the checks found; they are made once, also where tests run side by side."""
        if self._report is None:
            self._report = _shared(self.config, self.name, self._checked)
        return self._report

    def _checked(self) -> Report:
        from .conformance import NotRunnable, check
        from .testing import program

        try:
            return check(
                program(self.words), contract=self.contract, profile=self.profile, only=self.only
            )
        except (NotRunnable, FileNotFoundError) as error:
            raise _Broken(f"The tool cannot be started: {error}") from None


class _Check(pytest.Item):
    """One check of one tool."""

    title = ""

    def runtest(self) -> None:
        """Pass, fail, or skip what does not apply or could not be verified: that is no pass."""
        tool = self.parent
        assert isinstance(tool, _Tool)
        report = tool.report()
        found = next((each for each in report.results if each.id == self.name), None)
        if found is None:
            pytest.skip(f"no check of {report.measured}")
        if found.status == "fail":
            raise _Broken(_shown(found))
        if found.status in ("not_applicable", "not_verified"):
            pytest.skip(f"{found.status.replace('_', ' ')}: {found.reason}")
        if found.status == "warn":
            self.add_report_section("call", "murli", _shown(found))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Show what was found, rather than where in here it was."""
        if isinstance(excinfo.value, _Broken):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Return where the test comes from: the settings."""
        path = self.config.inipath or self.config.rootpath
        return path, None, f"{self.parent.name if self.parent else ''}: {self.title}"


class _Broken(AssertionError):
    """A check that failed."""


def _shown(result: CheckResult) -> str:
    """Return what a check has to complain of, with what reproduces it."""
    from .conformance.reports.terminal import reproduction
    from .conformance.reports.wording import fix_of, reference_of

    lines = [result.title]
    for finding in result.troubles:
        lines += ["", f"{finding.command or 'the tool itself'}: {finding.detail}"]
        if finding.evidence is not None:
            lines += [f"  {line}" for line in reproduction(finding.evidence)]
    if fix_of(result):
        lines += ["", f"Fix: {fix_of(result)}", f"See: {reference_of(result)}"]
    return "\n".join(lines)


def _shared(config: pytest.Config, name: str, make: Callable[[], Report]) -> Report:
    """Return what *make* gives; of many workers one makes it, and the others wait for it."""
    base = getattr(config.option, "basetemp", None)
    if not hasattr(config, "workerinput") or not base:
        return make()
    import hashlib
    import os
    import pickle

    from .platform import locked

    folder = os.path.dirname(base)  # of all workers
    path = os.path.join(folder, f"murli-{hashlib.sha256(name.encode()).hexdigest()[:16]}")
    with open(path, "a+b") as file:
        locked(file.fileno(), wait=True)
        file.seek(0)
        kept = file.read()
        if kept:
            report: Report = pickle.loads(kept)
            return report
        made = make()
        file.write(pickle.dumps(made))
    return made
