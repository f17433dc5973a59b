"""Tests that the authors of real tools wrote, which are to pass as well with murli enabled."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from harness import environment as neutral
from tests_real.environments import cache, environment, run_checked, slug
from tests_real.release import PARSER

#: what the newest of them were written for
PYTEST = "pytest<9"
#: seconds for one run of one suite
LIMIT = 600


@dataclass(frozen=True)
class Suite:
    """The tests in the source distribution of a tool."""

    requirement: str
    #: what is enabled; for `PARSER` every parser that *package* calls
    app: str
    package: str
    tests: tuple[str, ...]
    #: how many of the tests pass without murli; fewer mean that something else is wrong
    at_least: int
    #: what the tests need beside the tool and pytest
    needs: tuple[str, ...] = ()


SUITES = [
    Suite("black", "black:main", "black", ("tests/test_black.py",), 100, ("aiohttp",)),
    Suite(
        "bump-my-version",
        "bumpversion.cli:cli",
        "bumpversion",
        ("tests/test_cli",),
        45,
        ("pytest-mock", "freezegun"),
    ),
    Suite(
        "cookiecutter",
        "cookiecutter.cli:main",
        "cookiecutter",
        ("tests/test_cli.py",),
        40,
        ("freezegun", "pytest-mock"),
    ),
    Suite("csvkit", PARSER, "csvkit", ("tests",), 330),
    Suite("flask", "flask.cli:cli", "flask", ("tests/test_cli.py",), 40, ("python-dotenv",)),
    Suite(
        "sqlite-utils", "sqlite_utils.cli:cli", "sqlite_utils", ("tests",), 1400, ("hypothesis",)
    ),
    Suite(
        "towncrier",
        "towncrier._shell:cli",
        "towncrier",
        ("src/towncrier/test",),
        150,
        ("hatchling", "twisted"),
    ),
    Suite("twine", PARSER, "twine", ("tests",), 220, ("pretend", "jaraco.envs", "munch", "build")),
    Suite("weasel", "weasel.cli:app", "weasel", ("weasel/tests/cli",), 25),
    Suite("yamllint", PARSER, "yamllint", ("tests/test_cli.py", "tests/test_config.py"), 60),
]


@dataclass(frozen=True)
class Outcome:
    """How a run of a suite went: the names of its tests."""

    passed: frozenset[str]
    failed: frozenset[str]
    output: str


def run_suite(suite: Suite, place: Path, *, is_enabled: bool) -> Outcome:
    """Run *suite* in a copy of its own below *place*."""
    requirements = [suite.requirement, PYTEST, *suite.needs]
    python = environment(f"suite-{slug(suite.requirement)}", sys.executable, requirements)
    source = place / "source"
    shutil.copytree(_source(suite.requirement, python), source, symlinks=True)
    (place / "home").mkdir()
    report = place / "report.xml"
    env = neutral(HOME=str(place / "home"), MURLI_TEST=None)
    env["PATH"] = f"{Path(python).parent}{os.pathsep}{env['PATH']}"
    if is_enabled:
        env |= {"ENABLE_APP": suite.app, "ENABLE_NAME": suite.package, "ENABLE_AGENTS": "flag"}
        env |= {"ENABLE_EVERY": suite.package, "ENABLE_TALLY": str(place / "tally")}
    options = ["-q", "--tb=short", "-o", "addopts=", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [python, "-m", "pytest", *options, f"--junitxml={report}", *suite.tests],
        cwd=source,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=LIMIT,
        check=False,
    )
    output = done.stdout + done.stderr
    if not report.exists():
        raise AssertionError(output[-4000:])
    passed, failed = set(), set()
    for case in ElementTree.parse(report).iter("testcase"):
        name = f"{case.get('classname')}::{case.get('name')}"
        kinds = {each.tag for each in case}
        if kinds & {"failure", "error"}:
            failed.add(name)
        elif "skipped" not in kinds:
            passed.add(name)
    return Outcome(frozenset(passed), frozenset(failed), output)


def _source(requirement: str, python: str) -> Path:
    """Return the unpacked source distribution of the version that is installed."""
    tell = f"from importlib.metadata import version; print(version({requirement!r}))"
    exact = f"{requirement}=={run_checked([python, '-c', tell]).strip()}"
    folder = cache() / "sources" / exact
    if not folder.exists():
        fetched = folder.with_name(f"{exact}-{os.getpid()}")
        pip = [python, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-deps"]
        run_checked([*pip, "--no-binary", requirement, "-d", str(fetched), exact])
        (archive,) = fetched.glob("*.tar.gz")
        with tarfile.open(archive) as packed:
            packed.extractall(fetched, filter="data")
        (unpacked,) = (each for each in fetched.iterdir() if each.is_dir())
        unpacked.rename(folder)
        shutil.rmtree(fetched)
    return folder
