"""Who reads decides how it is written; the bytes are the contract."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from harness import environment, run, run_at_terminal, script

pytestmark = [pytest.mark.adapters("argparse", "click"), pytest.mark.warm]


def test_piped_success_is_pretty_json(tasks: list[str]) -> None:
    """Piped stdout without flags gets pretty JSON, indented by two, with one newline at the end."""
    done = run(tasks, "report", "all")
    assert done.code == 0
    assert done.out == json.dumps(done.document, indent=2) + "\n"
    assert done.document["result"] == {"what": "all"}


def test_a_person_reads_only_the_text(tasks: list[str]) -> None:
    """A terminal without flags shows the human text and a newline, nothing else."""
    done = run_at_terminal(tasks, "report", "all")
    assert (done.out, done.err, done.code) == ("Reported all\n", "", 0)


@pytest.mark.adapters("argparse", "click", "typer")
@pytest.mark.parametrize("position", [0, 1, 2])
def test_agent_flag_at_a_terminal(tasks: list[str], position: int) -> None:
    """--agent at a terminal gives JSON, before, between and after the words."""
    words = ["report", "all"]
    words.insert(position, "--agent")
    assert run_at_terminal(tasks, *words).document["status"] == "ok"


def test_ndjson_is_one_line_without_spaces(tasks: list[str]) -> None:
    """--output ndjson is exactly one line with no space after a separator."""
    done = run(tasks, "report", "all", "--output", "ndjson")
    assert done.out.count("\n") == 1
    assert done.out == json.dumps(done.document, separators=(",", ":")) + "\n"


@pytest.mark.parametrize("flags", [["--output", "text"], ["--agent", "--output=text"]])
def test_text_in_a_pipe_is_plain_text(tasks: list[str], flags: list[str]) -> None:
    """--output text outranks the pipe and --agent."""
    done = run(tasks, *flags, "report", "all")
    assert (done.out, done.err) == ("Reported all\n", "")


def test_json_at_a_terminal(tasks: list[str]) -> None:
    """--output json at a terminal is agent mode."""
    assert run_at_terminal(tasks, "report", "--output", "json").document["result"]


def test_the_null_device_is_no_terminal(tasks: list[str]) -> None:
    """Stdout sent to the null device counts as agent mode, so the guard holds."""
    with open(os.devnull, "wb") as nowhere:
        done = subprocess.run(
            [*tasks, "task", "delete", "1"],
            stdout=nowhere,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            env=environment(),
            check=False,
        )
    assert done.returncode == 1
    assert json.loads(done.stderr)["error"] == "confirmation_required"


def test_piped_stdin_does_not_make_an_agent(tasks: list[str]) -> None:
    """A person who pipes data into a tool at a terminal is still a person."""
    line = f"printf x | {' '.join(tasks)} task delete 3"
    done = run_at_terminal(["sh", "-c", line])
    assert (done.out, done.code) == ("Ran delete\n", 0)


@pytest.mark.parametrize("form", ["json", "ndjson"])
def test_text_stays_literal(tasks: list[str], form: str) -> None:
    """Non-ASCII, <, > and & stand literally in every JSON form, whatever the locale."""
    env = environment(LC_ALL="C", PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    done = run(tasks, "report", "naïve <b>&</b> 木工", "--output", form, env=env)
    assert "naïve <b>&</b> 木工" in done.out
    assert done.document["result"]["what"] == "naïve <b>&</b> 木工"


def test_a_stream_ends_in_one_line(tasks: list[str]) -> None:
    """After an event the closing envelope is a single line, and every line is JSON."""
    done = run(tasks, "report", "stream")
    assert [line.get("event") or line["status"] for line in done.lines] == [
        "chunk",
        "chunk",
        "progress",
        "ok",
    ]


def test_explicit_json_is_one_document(tasks: list[str]) -> None:
    """Who asks for --output json gets progress on stderr."""
    done = run(tasks, "report", "stream", "--output", "json")
    assert '"event":"progress"' in done.err
    assert '"event":"progress"' not in done.out


@pytest.mark.parametrize(("where", "stream"), [("stdout", "out"), ("stderr", "err")])
def test_progress_stream_can_be_set(tasks: list[str], where: str, stream: str) -> None:
    """MURLI_PROGRESS decides where agents read progress."""
    done = run(tasks, "report", "stream", env=environment(MURLI_PROGRESS=where))
    assert '"event":"progress"' in getattr(done, stream)


def test_stray_output_is_not_lost(tasks: list[str]) -> None:
    """What a handler prints beside its answer goes to stderr; logs come before the answer."""
    done = run(tasks, "report", "noisy")
    assert done.document["result"] == {"what": "noisy"}
    assert "stray\n" in done.err
    assert [(entry["msg"], entry["repeated"]) for entry in done.logs] == [("connecting", 1)]


AROUND = """
import click, murli
NUMBERS = [number for number in range(2)]

@click.group()
def cli(): pass

@cli.command()
def ls(): return [{"id": number} for number in NUMBERS]

murli.enable(cli)
try:
    cli()
except ValueError:
    pass
"""


def test_a_program_around_the_framework_keeps_the_text(tmp_path: Path) -> None:
    """A returned value is text with --output text also where code around the call may catch."""
    done = run(script(tmp_path, AROUND), "ls", "--output", "text")
    assert (done.out.split(), done.code) == (["id", "0", "1"], 0)
    assert run(script(tmp_path, AROUND), "ls").document["result"] == [{"id": 0}, {"id": 1}]
