"""A skill that a tool writes: valid, complete, and no larger than one reads."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from harness import Run, golden, run, run_at_terminal
from murli.exports.skill import skill_files, skill_name

pytestmark = [pytest.mark.adapters("argparse", "click", "typer"), pytest.mark.warm]


def wrong_with(folder: Path) -> list[str]:
    """Return what the published rules have against a skill."""
    if sys.version_info >= (3, 11):
        from skills_ref import validate

        problems: list[str] = validate(folder)
    else:
        problems = []
    text = (folder / "SKILL.md").read_text()
    _, head, body = text.split("---\n", 2)
    fields = dict(line.split(": ", 1) for line in head.splitlines())
    description = json.loads(fields["description"])
    if fields["name"] != folder.name or not re.fullmatch("[a-z0-9]+(-[a-z0-9]+)*", fields["name"]):
        problems.append("name")
    if not 0 < len(description) <= 1024 or set("<>") & set(description):
        problems.append("description")
    if len(body.splitlines()) >= 500 or len(body) > 20_000:
        problems.append("body")
    linked = set(re.findall(r"\]\((references/[^)]+)\)", body))
    there = {f"references/{each.name}" for each in folder.glob("references/*")}
    if linked != there:
        problems.append("references")
    return problems


def write(words: list[str], folder: Path, *more: str) -> Run:
    return run(words, "describe", "--skill", str(folder), *more)


def test_golden_and_idempotent(tasks: list[str], tmp_path: Path) -> None:
    """A small tool's skill is one file, valid, the same on every framework, written once."""
    folder = tmp_path / "skills" / "tasks"
    done = write(tasks, folder)
    assert done.document["result"]["changed"] == ["SKILL.md"]
    assert (folder / "SKILL.md").read_text() == golden("exports/SKILL.md")
    assert wrong_with(folder) == []
    before = (folder / "SKILL.md").stat()
    assert write(tasks, folder).document["result"]["changed"] == []
    assert (folder / "SKILL.md").stat().st_ino == before.st_ino
    assert os.listdir(folder) == ["SKILL.md"]
    assert write(tasks, folder, "--check").code == 0


@pytest.mark.adapters("click")
def test_drift(tasks: list[str], tmp_path: Path) -> None:
    """--check fails with the lines that differ; writing mends them and leaves one's own text."""
    folder = tmp_path / "tasks"
    missing = write(tasks, folder, "--check")
    assert (missing.code, json.loads(missing.err)["error"]) == (5, "not_found")
    write(tasks, folder)
    path = folder / "SKILL.md"
    path.write_text(path.read_text().replace("Delete a task", "Drop a task") + "\nAsk Ada first.\n")
    drifted = write(tasks, folder, "--check")
    error = json.loads(drifted.err)
    assert (drifted.code, error["error"]) == (1, "skill_drifted")
    assert "- Drop a task" in error["message"] and "+ Delete a task" in error["message"]
    assert str(folder) in error["suggestion"]
    assert write(tasks, folder).document["result"]["changed"] == ["SKILL.md"]
    assert path.read_text() == golden("exports/SKILL.md") + "\nAsk Ada first.\n"
    assert run(tasks, "describe", "--check", "--skill", str(folder)).code == 0


@pytest.mark.adapters("click")
def test_both_families_and_people(tasks: list[str], tmp_path: Path) -> None:
    """In an envelope it tells the codes and flags of that; a person reads one line."""
    folder = tmp_path / "tasks"
    run(tasks, "describe", "--skill", str(folder), env={"MURLI_CONTRACT": "agent-spec-2"})
    text = (folder / "SKILL.md").read_text()
    assert wrong_with(folder) == []
    assert "`--format" in text and "`ok` in it says" in text
    assert text != golden("exports/SKILL.md")
    shown = run_at_terminal(tasks, "describe", "--skill", str(folder))
    assert shown.out.strip() == "Wrote SKILL.md."


@pytest.mark.adapters("click")
def test_nothing_of_others_is_lost(tasks: list[str], tmp_path: Path) -> None:
    """A file that it did not write, and a link that leads elsewhere, are refused and kept."""
    own = tmp_path / "own"
    own.mkdir()
    (own / "SKILL.md").write_text("---\nname: own\n---\nMine.\n")
    done = write(tasks, own)
    assert (done.code, (own / "SKILL.md").read_text()) == (7, "---\nname: own\n---\nMine.\n")
    linked, elsewhere = tmp_path / "linked", tmp_path / "elsewhere.md"
    elsewhere.write_text("not yours")
    linked.mkdir()
    (linked / "SKILL.md").symlink_to(elsewhere)
    assert write(tasks, linked).code == 7
    assert elsewhere.read_text() == "not yours"
    for wrong in ("Tasks", "a--b", "claude-tasks"):
        refused = write(tasks, tmp_path / wrong)
        assert (refused.code, (tmp_path / wrong).exists()) == (1, False)
        assert "Write it into" in json.loads(refused.err)["suggestion"]


LARGE = """
import argparse, murli
parser = argparse.ArgumentParser("large", description="Look after <everything> --- always.")
groups = parser.add_subparsers()
for g in range(GROUPS):
    group = groups.add_parser(f"group{g}", help=f"Group {g}").add_subparsers()
    for c in range(COMMANDS):
        each = group.add_parser(f"show{c}", help=f"Show thing {c} of group {g}")
        for o in range(6):
            each.add_argument(f"--option{o}", help=f"option {o} of {c}")
        each.set_defaults(run=lambda args: None)
murli.enable(parser, name="large")
parser.parse_args()
"""


@pytest.mark.parametrize(("groups", "commands"), [(3, 20), (30, 10), (1, 200)])
def test_large_trees_are_split(tmp_path: Path, groups: int, commands: int) -> None:
    """Of a large tool SKILL.md leads to files, in which every command is, and no old one stays."""
    script = tmp_path / "large.py"
    script.write_text(LARGE.replace("GROUPS", str(groups)).replace("COMMANDS", str(commands)))
    folder = tmp_path / "large"
    done = write([sys.executable, str(script)], folder)
    files: list[str] = done.document["result"]["files"]
    assert files[0] == "SKILL.md" and len(files) > 1
    assert wrong_with(folder) == []
    texts = [(folder / each).read_text() for each in files]
    assert max(len(text.splitlines()) for text in texts) <= 500
    everything = "\n".join(texts)
    for g in range(groups):
        for c in range(commands):
            assert f"\n### group{g} show{c}\n" in everything
    script.write_text(LARGE.replace("GROUPS", "1").replace("COMMANDS", "2"))
    stale = write([sys.executable, str(script)], folder, "--check")
    assert "is about commands that are gone" in json.loads(stale.err)["message"]
    done = write([sys.executable, str(script)], folder)
    assert (done.document["result"]["files"], list(folder.glob("references/*"))) == (
        ["SKILL.md"],
        [],
    )


def test_hostile_texts_stay_texts() -> None:
    """What a tool says of itself ends neither the frontmatter nor the description."""
    command: dict[str, Any] = {
        "name": "x",
        "summary": 'quote " and \\ and: colon # no comment --- <b>' + "\n---\nname: other",
        "safety": {"declared": False},
    }
    document = {
        "name": "odd",
        "summary": "---\n- [x]: {y} 'z' \t\x1b[31mred " + "long " * 400,
        "schema_version": "1.0",
        "commands": [command],
        "exit_codes": {},
        "failures": "stderr",
    }
    text = skill_files(document, "odd")["SKILL.md"]
    head = text.split("---\n", 2)[1]
    lines = head.splitlines()
    assert [line.partition(":")[0] for line in lines] == ["name", "description"]
    assert len(json.loads(lines[1].partition(": ")[2])) <= 1024
    assert "\x1b" not in text


def test_names() -> None:
    """A name for a skill is made of what its rules allow, and none where nothing is left."""
    assert skill_name("My_Tool 2") == "my-tool-2"
    assert skill_name("x" * 80) == "x" * 64
    assert skill_name("Ünïcode") == "n-code"
    assert (skill_name("***"), skill_name("claude")) == ("", "")


@pytest.mark.adapters("click")
def test_tool_of_another_author(tmp_path: Path) -> None:
    """A tool that nobody edits gets a skill from outside, too."""
    script = tmp_path / "greet.py"
    script.write_text(
        "import click\n@click.group()\ndef cli(): 'Greet people.'\n"
        "@cli.command()\ndef hello(): 'Say hello'\nif __name__ == '__main__': cli()\n"
    )
    words = [sys.executable, "-m", "murli", "describe", str(script)]
    folder = tmp_path / "greet"
    done = run(words, "--skill", str(folder))
    assert done.code == 0, done.err
    assert wrong_with(folder) == []
    text = (folder / "SKILL.md").read_text()
    assert (
        "### hello" in text and "`murli run greet ...`" in text and "murli describe greet" in text
    )
