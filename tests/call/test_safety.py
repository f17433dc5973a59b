"""Dangerous operations need explicit intent."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness import environment, run, run_at_terminal, script

pytestmark = [pytest.mark.adapters("argparse", "click"), pytest.mark.warm]

CREATE = ("task", "create", "Saw", "--weight", "1")

MARKING = """
import argparse, pathlib, murli
parser = argparse.ArgumentParser(prog="mark")
commands = parser.add_subparsers(dest="command")
group = commands.add_parser("group")
inner = group.add_subparsers(dest="inner")
leaf = inner.add_parser("leaf", aliases=["l"])
leaf.add_argument("--forceful", action="store_true")
inner.add_parser("look")
murli.annotate(leaf, murli.Metadata(mutating=True, dry_runnable=True))
murli.annotate(group, murli.Metadata(mutating=True))
murli.enable(parser, guard_dry_run={guard_dry_run})
args, writer = murli.parse(parser)
pathlib.Path("ran").touch()
writer.write_success("ran", {{"dry_run": writer.is_dry_run()}})
"""


@pytest.fixture
def marker(tmp_path: Path) -> list[str]:
    return script(tmp_path, MARKING.format(guard_dry_run=False))


def test_a_mutation_is_refused(tmp_path: Path, marker: list[str]) -> None:
    """Without force an agent's mutation is refused before the handler runs."""
    done = run(marker, "group", "leaf", cwd=tmp_path)
    assert (done.code, done.out) == (1, "")
    assert done.error == {
        "status": "error",
        "code": 1,
        "error": "confirmation_required",
        "message": "This command mutates state and requires explicit confirmation.",
        "suggestion": "Pass --force or --yes to proceed without a TTY. "
        "Pass --dry-run to see what it would do.",
        "recoverable": True,
        "schema_version": "1.0",
        "tool_version": "",
    }
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("flag", ["--force", "--yes"])
@pytest.mark.parametrize("position", [0, 1, 2])
def test_force_lets_it_run(tmp_path: Path, marker: list[str], flag: str, position: int) -> None:
    """--force and --yes each let it run, wherever they stand."""
    words = ["group", "leaf"]
    words.insert(position, flag)
    assert run(marker, *words, cwd=tmp_path).code == 0
    assert (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    "words",
    [
        ["group", "leaf", "--output", "text"],
        ["--output=text", "group", "l"],
        ["group", "l", "--forceful"],
        ["group", "leaf", "--", "--force"],
        ["group", "leaf", "--forc"],
    ],
)
def test_nothing_else_opens_the_guard(tmp_path: Path, marker: list[str], words: list[str]) -> None:
    """Neither a rendering flag, an alias, a look-alike nor a word after -- opens the guard."""
    assert run(marker, *words, cwd=tmp_path).code == 1
    assert not (tmp_path / "ran").exists()


def test_forced_is_told_to_the_handler(tasks: list[str]) -> None:
    """is_forced() is true for --yes and for a command's own --force."""
    done = run(tasks, "task", "delete", "3", "--yes")
    assert done.document["result"] == {"region": "eu", "id": 3, "forced": True, "ran": "delete"}
    done = run(tasks, "task", "purge", "--force")
    assert done.document["result"] == {
        "region": "eu",
        "force": True,
        "forced": True,
        "ran": "purge",
    }


def test_a_person_is_not_guarded(tasks: list[str]) -> None:
    """At a terminal the handler runs, and may ask on its own."""
    assert run_at_terminal(tasks, "task", "delete", "3").out == "Ran delete\n"


@pytest.mark.parametrize("flag", [["--agent"], ["--output", "json"]])
def test_agent_mode_at_a_terminal_is_guarded(tasks: list[str], flag: list[str]) -> None:
    """Agent mode at a terminal is agent mode in full."""
    done = run_at_terminal(tasks, "task", "delete", "3", *flag)
    assert done.code == 1
    assert "confirmation_required" in done.err


def test_dry_run_passes_the_guard(tasks: list[str]) -> None:
    """--dry-run on a command that can preview runs without force and gives a plan."""
    done = run(tasks, *CREATE, "--dry-run")
    assert (done.code, done.document["status"]) == (0, "plan")
    assert done.document["plan"]["title"] == "Saw"


@pytest.mark.parametrize("words", [["task", "delete", "3", "--yes"], ["report"]])
def test_dry_run_never_runs_for_real(tasks: list[str], words: list[str]) -> None:
    """--dry-run on a command that cannot preview is refused, forced or not."""
    done = run(tasks, *words, "--dry-run")
    assert (done.code, done.out) == (1, "")
    assert (done.error["error"], done.error["field"]) == ("flag_error", "dry-run")


def test_dry_run_can_be_guarded(tmp_path: Path) -> None:
    """guard_dry_run asks for force even for a preview."""
    strict = script(tmp_path, MARKING.format(guard_dry_run=True))
    assert run(strict, "group", "leaf", "--dry-run", cwd=tmp_path).code == 1
    done = run(strict, "group", "leaf", "--dry-run", "--yes", cwd=tmp_path)
    assert done.document["result"] == {"dry_run": True}


def test_groups_are_not_guarded(tmp_path: Path, marker: list[str]) -> None:
    """A group is a router: what is said of it does not guard its leaves."""
    assert run(marker, "group", "look", cwd=tmp_path).code == 0


def test_a_group_that_runs_bare_is_a_command(tmp_path: Path, marker: list[str]) -> None:
    """A mutating group that may be called without a command is guarded when it is."""
    assert run(marker, "group", cwd=tmp_path).error["error"] == "confirmation_required"
    assert not (tmp_path / "ran").exists()


def test_harmless_commands_need_no_force(tasks: list[str]) -> None:
    """Commands that do not mutate need no force, and ignore it."""
    assert run(tasks, "report").code == 0
    assert run(tasks, "report", "--force").document["result"] == {"what": "all"}


@pytest.mark.parametrize("flag", ["--schema", "--help"])
def test_questions_are_never_guarded(tasks: list[str], flag: str) -> None:
    """--schema and --help on a mutating command are answered."""
    assert run(tasks, "task", "delete", flag).code == 0


def test_the_environment_does_not_open_the_guard(tmp_path: Path, marker: list[str]) -> None:
    """No environment variable of ours confirms a mutation."""
    env = environment(
        MURLI_DEV="1", MURLI_DEBUG="1", MURLI_FORCE="1", MURLI_YES="1", MURLI_PROGRESS="stderr"
    )
    assert run(marker, "group", "leaf", cwd=tmp_path, env=env).code == 1
    assert not (tmp_path / "ran").exists()
