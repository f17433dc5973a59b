"""Nothing waits for a person who is not there."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest

from harness import environment, run, run_at_terminal, script, tool
from starting import Starter

pytestmark = pytest.mark.adapters("argparse", "click")

ASKING = ["ask", "confirm", "password"]


@pytest.mark.adapters("argparse", "click", "typer")
@pytest.mark.parametrize("what", ASKING)
def test_a_prompt_without_input_fails_at_once(faults: list[str], what: str) -> None:
    """With stdin closed or empty a prompt is input_required, and names the option when it can."""
    done = run(faults, "do", what)
    assert (done.code, done.out) == (1, "")
    assert done.error["error"] == "input_required"
    advice = {"ask": "Pass --name.", "confirm": "Pass --yes to confirm."}.get(what, "see --schema")
    assert advice in done.error["suggestion"]


@pytest.mark.parametrize("what", [*ASKING, "read", "lines"])
def test_no_stdin_at_all_is_an_empty_one(faults: list[str], what: str) -> None:
    """With descriptor 0 closed a handler ends as it does where there is nothing to read."""
    empty = run(faults, "do", what)
    closed = run(["sh", "-c", 'exec "$@" <&-', "sh", *faults], "do", what)
    assert (closed.code, closed.out, closed.err) == (empty.code, empty.out, empty.err)


def test_a_silent_stdin_is_not_waited_for(faults: list[str], start: Starter) -> None:
    """With stdin open and nobody writing, reading from it fails within moments."""
    began = time.monotonic()
    calls = [
        start(faults, "do", what, stdin=subprocess.PIPE) for what in (*ASKING, "read", "lines")
    ]
    for running in calls:
        running.process.wait(15)
        assert running.end().error["error"] == "input_required"
    assert time.monotonic() - began < 12


def test_a_caller_may_write_late(faults: list[str], start: Starter) -> None:
    """Who starts a program and writes a second later is heard; a question is not waited for."""
    asks = start(faults, "do", "ask", stdin=subprocess.PIPE)
    reads = start(faults, "do", "read", stdin=subprocess.PIPE)
    assert reads.process.stdin is not None
    time.sleep(1.5)
    assert asks.process.poll() == 1
    reads.process.stdin.write(b"late")
    reads.process.stdin.close()
    reads.process.stdin = None
    assert reads.end().document["result"] == "4"
    advice = asks.end().error["suggestion"]
    assert advice == "Pass --name."


@pytest.mark.parametrize(("what", "answer"), [("ask", "hello Ada"), ("confirm", "Ada")])
def test_a_piped_answer_is_heard(faults: list[str], what: str, answer: str) -> None:
    """What the caller pipes in answers the prompt, as it would without murli."""
    done = run(faults, "do", what, stdin=b"Ada\n")
    assert done.code == 0
    assert done.document["result"].endswith(answer)


@pytest.mark.parametrize(("what", "result"), [("read", "200000"), ("lines", "100000")])
def test_piped_input_is_read_whole(faults: list[str], what: str, result: str) -> None:
    """A command that reads stdin gets all of it."""
    done = run(faults, "do", what, stdin=b"x\n" * 100_000)
    assert done.document["result"] == result


def test_a_slow_producer_is_waited_for(faults: list[str], tmp_path: Path) -> None:
    """In a pipeline the program before may take its time."""
    reader, writer = os.pipe()
    producer = subprocess.Popen(["sh", "-c", "sleep 1.5; echo x"], stdout=writer)
    os.close(writer)
    done = subprocess.run(
        [*faults, "do", "read"], stdin=reader, capture_output=True, env=environment(),
        timeout=30, check=False,
    )  # fmt: skip
    os.close(reader)
    producer.wait(10)
    assert done.returncode == 0
    assert b'"result": "2"' in done.stdout


@pytest.mark.adapters("argparse", "click", "typer")
@pytest.mark.parametrize(("what", "kind"), [("browse", "http://127.0.0.1/login"), ("console", "")])
def test_browsers_and_consoles_do_not_open(faults: list[str], what: str, kind: str) -> None:
    """A browser or an interactive console is refused, with what to do instead."""
    done = run(faults, "do", what)
    assert done.error["error"] == "interactive_blocked"
    assert kind in done.error["suggestion"]


@pytest.mark.adapters("argparse", "click", "typer")
def test_a_person_is_asked(faults: list[str]) -> None:
    """At a terminal a prompt is a prompt."""
    shown = run_at_terminal(faults, "do", "ask", keys=b"Ada\n")
    assert shown.code == 0
    assert "Name? " in shown.out + shown.err
    assert "hello Ada" in shown.out


@pytest.mark.adapters("argparse", "click", "typer")
def test_agent_mode_at_a_terminal_does_not_ask(faults: list[str]) -> None:
    """With --agent a prompt fails although somebody could type."""
    shown = run_at_terminal(faults, "do", "ask", "--agent")
    assert shown.code == 1
    assert "input_required" in shown.err


CLICK = """
import click, murli
@click.group()
def cli(): pass
@cli.command()
@click.option("--who", prompt="Your name")
def option(who): click.echo(who)
@cli.command()
@click.password_option()
def password(password): click.echo("*")
@cli.command()
@click.option("--yes", is_flag=True)
def confirm(yes): click.confirm("Sure?", abort=True)
@cli.command()
def edit(): click.echo(click.edit("text"))
@cli.command()
def launch(): click.launch("http://127.0.0.1/")
@cli.command()
def key(): click.getchar()
@cli.command()
def pause(): click.pause(); click.echo("on")
@cli.command()
def pager(): click.echo_via_pager("page\\n" * 3)
murli.enable(cli, name="asker")
cli()
"""


@pytest.mark.parametrize(
    ("words", "error", "advice"),
    [
        ("option", "input_required", "Pass --who."),
        ("password", "input_required", "Pass --password."),
        ("confirm", "input_required", "Pass --yes to confirm."),
        ("edit", "interactive_blocked", "Give the text"),
        ("launch", "interactive_blocked", "http://127.0.0.1/"),
        ("key", "interactive_blocked", "option"),
    ],
)
def test_what_click_asks_with(tmp_path: Path, words: str, error: str, advice: str) -> None:
    """Every way click has of waiting for a person fails at once and says what to pass."""
    done = run(script(tmp_path, CLICK), words)
    assert (done.code, done.error["error"]) == (1, error)
    assert advice in done.error["suggestion"]


@pytest.mark.parametrize(("words", "result"), [("pause", "on"), ("pager", "page\npage\npage")])
def test_what_click_does_not_wait_for(tmp_path: Path, words: str, result: str) -> None:
    """A pause and a pager are passed by when nobody is there."""
    assert run(script(tmp_path, CLICK), words).document["result"] == result


TYPER_TOOL = """
import typer, murli
app = typer.Typer()
@app.command()
def option(who: str = typer.Option(..., prompt=True)): print(who)
@app.command()
def prompt(name: str = ""): print(typer.prompt("Name"))
@app.command()
def confirm(yes: bool = False): typer.confirm("Sure?", abort=True)
@app.command()
def launch(): typer.launch("http://127.0.0.1/")
murli.enable(app, name="asker")
app()
"""


@pytest.mark.parametrize(
    ("words", "error", "advice"),
    [
        ("option", "input_required", "Pass --who."),
        ("prompt", "input_required", "Pass --name."),
        ("confirm", "input_required", "Pass --yes to confirm."),
        ("launch", "interactive_blocked", "http://127.0.0.1/"),
    ],
)
def test_what_typer_asks_with(tmp_path: Path, words: str, error: str, advice: str) -> None:
    """Typer's own prompts, whichever click it brings, fail in the same way."""
    opener = tmp_path / "xdg-open"  # which typer uses where there is one
    opener.write_text('#!/bin/sh\n: > "$0.used"\n')
    opener.chmod(0o755)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    done = run(script(tmp_path, TYPER_TOOL), words, env=environment(PATH=path))
    assert (done.code, done.error["error"]) == (1, error)
    assert advice in done.error["suggestion"]
    assert not opener.with_suffix(".used").exists()


@pytest.mark.parametrize("framework", ["click", "typer"])
def test_what_others_ask_with_inside_argparse(framework: str) -> None:
    """A prompt of click or typer in an argparse tool is input_required, and not cancelled."""
    done = run(tool("faults_argparse"), "do", "click_prompt", "--name", framework)
    assert (done.code, done.error["error"]) == (1, "input_required")
    assert "Your name" in done.error["message"]


def test_a_writer_that_stops(faults: list[str], start: Starter) -> None:
    """A stdin whose writer stops in the middle is an error in time; a slow one is not."""
    env = environment(MURLI_STDIN_TIMEOUT="0.5")
    stalled = start(faults, "do", "read", stdin=subprocess.PIPE, env=env)
    steady = start(faults, "do", "read", stdin=subprocess.PIPE, env=env)
    assert stalled.process.stdin is not None
    assert steady.process.stdin is not None
    for count in range(8):
        for each in (stalled, steady) if count < 2 else (steady,):
            assert each.process.stdin is not None
            each.process.stdin.write(b"x")
            each.process.stdin.flush()
        time.sleep(0.15)
    stalled.process.wait(20)
    assert steady.end().document["result"] == "8"
    done = stalled.end()
    assert (done.code, done.error["error"]) == (1, "input_required")
    assert "stopped without closing" in done.error["message"]
