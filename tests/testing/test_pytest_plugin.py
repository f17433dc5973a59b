"""The pytest plugin, in real runs of pytest: what it does, and that it does nothing unasked."""

from __future__ import annotations

import re
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from harness import REPOSITORY, Run, environment, lay_out, run

DOCS = REPOSITORY / "docs"
SHOP = """
import click
import murli


@click.group()
def cli():
    pass


@cli.command()
def good():
    return {"good": True}


@cli.command()
def bad():
    raise murli.AgentError.user_error("Not so fast.", retry_after_ms=-1)


murli.enable(cli, name="shop")

if __name__ == "__main__":
    cli()
"""


def run_pytest(folder: Path, *args: str, plugins: tuple[str, ...] = ()) -> Run:
    """Run pytest in *folder*, with our plugin and no other that happens to be installed."""
    chosen = [word for name in ("murli.pytest_plugin", *plugins) for word in ("-p", name)]
    argv = [sys.executable, "-m", "pytest", *chosen, "-rA", "-W", "error"]
    env = environment(PYTEST_DISABLE_PLUGIN_AUTOLOAD="1", PYTHONPATH=str(folder))
    return run(argv, *args, env=env, cwd=folder)


def outcomes(done: Run) -> dict[str, str]:
    """Give what became of each test, by the end of its name."""
    lines = re.findall(r"^(PASSED|FAILED|ERROR|SKIPPED|XFAIL) (.*?)(?: - .*)?$", done.out, re.M)
    return {name.partition("::")[2]: outcome for outcome, name in lines}


WATCHED = """
import sys
import pytest
from click.testing import CliRunner
from murli.testing import InvalidDocument, run
from shop import cli


def invoke(*words):
    return CliRunner().invoke(cli, words)


def test_nobody_watches():
    assert invoke("bad").exit_code == 1


@pytest.mark.murli
def test_marked():
    assert invoke("bad").exit_code == 1


@pytest.mark.murli
def test_marked_and_good():
    assert invoke("good").exit_code == 0


@pytest.mark.murli
def test_that_fails_by_itself():
    assert invoke("bad").exit_code == 7


@pytest.mark.murli
@pytest.mark.xfail
def test_that_is_expected_to_fail():
    assert invoke("bad").exit_code == 7


@pytest.fixture
def prepared():
    invoke("bad")
    yield
    invoke("bad", "--contract", "response")
    invoke("bad")


@pytest.mark.murli
def test_that_prepares(prepared):
    pass


@pytest.fixture
def cleared():
    yield
    invoke("bad")


@pytest.mark.murli
def test_that_clears(cleared):
    pass


def test_with_the_fixture(murli_run):
    assert invoke("bad").exit_code == 1


def test_that_runs_it(murli_run):
    murli_run(cli, "bad")


def test_that_runs_a_process(murli_run):
    murli_run([sys.executable, "shop.py"], "bad")


def test_that_looks(murli_run):
    assert murli_run(cli, "bad", check=False).faults
    with pytest.raises(InvalidDocument):
        murli_run(cli, "bad")


def test_in_each(murli_run, murli_contract):
    assert murli_run(cli, "good").contract == murli_contract


@pytest.mark.murli(contract="response")
def test_in_the_chosen(murli_run):
    assert murli_run(cli, "good").contract == "response"
"""

EXPECTED = {
    "test_nobody_watches": "PASSED",
    "test_marked": "FAILED",
    "test_marked_and_good": "PASSED",
    "test_that_fails_by_itself": "FAILED",
    "test_that_is_expected_to_fail": "XFAIL",
    "test_that_prepares": "FAILED",
    "test_that_clears": "ERROR",
    "test_with_the_fixture": "FAILED",
    "test_that_runs_it": "FAILED",
    "test_that_runs_a_process": "FAILED",
    "test_that_looks": "PASSED",
    "test_in_each[murli]": "PASSED",
    "test_in_each[response]": "PASSED",
    "test_in_the_chosen": "PASSED",
}


# A tool that leaves a note of who has started it.
NOTED = "echo $PPID >> {folder}/callers\n"
POLITE = "echo hello"
RUDE = "printf '\\033[1mhello\\033[0m\\n'"
CHECKS = "--contract murli --only process.no-escapes --only process.no-pager"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with a tool, with tests of it that do not look at what it writes, and with more."""
    settings = f"""[pytest]
murli_contracts = murli response
murli_check =
  {CHECKS} sh polite.sh
  {CHECKS} sh rude.sh
  --only process.help no-such-tool
"""
    files = {
        "shop.py": SHOP,
        "test_shop.py": WATCHED,
        "pytest.ini": settings,
        "polite.sh": POLITE,
        "rude.sh": NOTED.format(folder=tmp_path) + RUDE,
    }
    return lay_out(tmp_path, files)


def test_a_test_that_writes_an_invalid_document_fails(project: Path) -> None:
    """Watched tests fail for invalid documents in every phase, and say which; others do not."""
    done = run_pytest(project, "test_shop.py")
    assert outcomes(done) == EXPECTED, done.out
    by_itself = done.out.partition("_ test_that_fails_by_itself _")[2].partition("\n____")[0]
    assert "assert 1 == 7" in by_itself
    assert "What murli wrote breaks its contract:" in by_itself
    assert "- in the murli document (error): at retry_after_ms: -1 is less than" in by_itself
    # What a test sees of a failure is its own line, the call and its output; not the kit.
    process = done.out.partition("_ test_that_runs_a_process _")[2].partition("\n____")[0]
    assert "shop.py bad\n" in process
    assert "exit code 1\n" in process
    assert "src/murli" not in process


def test_everything_may_be_watched_and_checked_side_by_side(project: Path) -> None:
    """With murli_validate = all every test is watched, and each line of murli_check makes tests.

    Also in the workers of xdist, and with -s; a tool is checked once, however many workers ask.
    """
    args = ("-s", "--dist=each", "--tx=2*popen", "-o", "murli_validate=all")
    done = run_pytest(project, *args, plugins=("xdist.plugin",))
    found = outcomes(done)
    assert found.pop("process.help") == "FAILED"  # of the tool that is nowhere
    assert "cannot be started: there is no program 'no-such-tool'" in done.out
    assert {name: found.pop(name) for name in EXPECTED} == {
        **EXPECTED,
        "test_nobody_watches": "FAILED",
    }, done.out
    told = set(re.findall(r"^(PASSED|FAILED) murli check .*?(\S+)::(\S+)", done.out, re.M))
    assert told == {
        ("PASSED", "polite.sh", "process.no-escapes"),
        ("PASSED", "polite.sh", "process.no-pager"),
        ("FAILED", "rude.sh", "process.no-escapes"),
        ("PASSED", "rude.sh", "process.no-pager"),
        ("FAILED", "no-such-tool", "process.help"),
    }, done.out
    assert re.search(r"\$ .*rude\.sh .*\n +ended +exit 0\n +stdout +\\x1b\[1mhello", done.out)
    assert len(set((project / "callers").read_text().split())) == 1


LOADED = """
import sys

def pytest_sessionfinish(session):
    loaded = sorted(name for name in sys.modules if name.split(".")[0] in ("murli", "jsonschema"))
    print("LOADED", *loaded)
    print("WATCHER", session.config.pluginmanager.get_plugin("murli-watcher"))
"""


def test_a_suite_without_murli_pays_nothing(tmp_path: Path) -> None:
    """Where nothing of it is used the plugin loads none of murli, and hooks into no test."""
    lay_out(tmp_path, {"conftest.py": LOADED, "test_own.py": "def test_own():\n    assert True\n"})
    done = run_pytest(tmp_path, "--strict-markers", "--strict-config", "-s")
    assert "LOADED murli murli.pytest_plugin\nWATCHER None" in done.out
    assert outcomes(done) == {"test_own": "PASSED"}


def test_settings_are_checked(project: Path) -> None:
    """A wrong setting is told, with what is right."""
    done = run_pytest(project, "-o", "murli_validate=some")
    assert "murli_validate is use or all, not 'some'" in done.err


def test_it_is_found_by_pytest() -> None:
    """The plugin is installed with murli, under its name, so that -p no:murli turns it off."""
    (found,) = entry_points(group="pytest11", name="murli")
    assert found.value == "murli.pytest_plugin"


# -- the documentation ---------------------------------------------------------------------------


def test_the_example_in_the_documentation_passes(tmp_path: Path) -> None:
    """The tool and its tests in docs/guides/testing.md are a project that passes as it stands."""
    text = (DOCS / "guides" / "testing.md").read_text()
    files = dict(re.findall(r'```python title="(\S+\.py)"\n(.*?)```', text, re.DOTALL))
    assert set(files) == {"shop.py", "test_shop.py"}
    done = run_pytest(lay_out(tmp_path, files))
    assert done.code == 0, done.out
    assert len(outcomes(done)) == 8
