"""Who is an agent: ``enable(agents=…)``, and what a pipe is where it alone makes none."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

import murli
from harness import COMPILED, environment, run, run_at_terminal, script
from murli.client import Tool
from murli.conformance import check
from murli.testing import run as run_as_tested

pytestmark = pytest.mark.warm

CLICK = """
import os, sys, time, click, murli

@click.group()
@click.version_option("1.2")
def cli(): pass

@cli.command()
@click.option("--count", type=int, default=1)
def hello(count):
    "Greet."
    for _ in range(count):
        click.secho("Hällo", fg="red")

@cli.command()
def rows():
    "List."
    return [{"a": 1}, {"a": 2}]

@cli.command()
def nested():
    "Run this tool."
    import subprocess
    text = subprocess.run([sys.executable, __file__, "hello"], capture_output=True).stdout.decode()
    return {"argv": sys.argv[1:], "is_text": text == "Hällo\\n"}

@cli.command()
def wipe():
    "Wipe."
    click.echo("wiped")

@cli.command()
def slow():
    "Wait."
    click.echo("first")
    sys.stdin.read()

@cli.command()
def mixed():
    "Write to both streams and to the descriptor."
    sys.stderr.write("err\\n"); sys.stdout.flush(); os.write(1, b"raw \\xff\\n"); print("\\ttext ")

@cli.command()
def crash():
    "Crash."
    1 / 0

@cli.command()
def boom():
    "Fail."
    raise click.ClickException("broken")

if "MAPPED" in os.environ: murli.map_exception(ZeroDivisionError, "not_found")
if "PLAIN" not in os.environ:
    murli.annotate(wipe, murli.Metadata(destructive=True))
    murli.enable(cli, agents=os.environ.get("AGENTS", "flag"))
"""
TYPER = """
import os, sys, typer, murli
app = typer.Typer()

@app.callback()
def root(): pass

@app.command()
def hello(count: int = 1):
    for _ in range(count): typer.echo("Hello")

@app.command()
def slow():
    typer.echo("first")
    sys.stdin.read()

@app.command()
def crash(): 1 / 0

if "MAPPED" in os.environ: murli.map_exception(ZeroDivisionError, "not_found")
if "PLAIN" not in os.environ:
    murli.enable(app, agents="flag")
app()
"""
ARGPARSE = """
import argparse, os, sys, murli
parser = argparse.ArgumentParser()
commands = parser.add_subparsers(dest="command", required=True)
commands.add_parser("hello").add_argument("--count", type=int, default=1)
commands.add_parser("slow")
commands.add_parser("crash")
if "MAPPED" in os.environ: murli.map_exception(ZeroDivisionError, "not_found")
if "PLAIN" not in os.environ:
    murli.enable(parser, agents="flag")
args = parser.parse_args()
if args.command == "hello":
    for _ in range(args.count): print("Hello")
elif args.command == "crash":
    1 / 0
else:
    print("first", flush=True)
    sys.stdin.read()
"""
SOURCES = {"click": CLICK + "cli()\n", "typer": TYPER, "argparse": ARGPARSE}
CALLS = [
    ["hello"],
    ["hello", "--count", "2"],
    ["hello", "--count", "x"],
    ["hello", "--coutn", "2"],
    ["helo"],
    ["crash"],
    [],
    ["--help"],
    ["hello", "--help"],
]


@pytest.fixture
def tool(tmp_path: Path) -> list[str]:
    return script(tmp_path, SOURCES["click"])


@pytest.mark.adapters("argparse", "click")
@pytest.mark.parametrize("adapter", SOURCES)
def test_a_pipe_stays_text(tmp_path: Path, adapter: str) -> None:
    """With agents="flag" a pipe gets on both streams what it got without murli, and its status.

    Usage errors have no line of ours there, and an exception that nobody handles has the traceback
    that it had.
    """
    argv = script(tmp_path, SOURCES[adapter])
    more = [["mixed"], ["boom"], ["--version"]] if adapter == "click" else []
    for words in [*CALLS, *more]:
        plain, enabled = (run(argv, *words, env=environment(PLAIN=each)) for each in ("1", None))
        assert enabled == plain, words
    assert b"Traceback" in run(argv, "crash").stderr
    meant = run(argv, "crash", env=environment(MAPPED="1"))
    assert (meant.out, meant.err, meant.code) == ("", "Error: division by zero\n", 5)


def test_ctrl_c_on_a_pipe(tmp_path: Path) -> None:
    """With agents="flag" an interrupt on a pipe ends as it did without murli."""
    for source in SOURCES.values():
        ends = []
        for plain in ("1", None):
            process = subprocess.Popen(
                [*script(tmp_path, source), "slow"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environment(PYTHONUNBUFFERED="1", PLAIN=plain),
            )
            assert process.stdout is not None
            process.stdout.readline()
            process.send_signal(signal.SIGINT)
            out, err = process.communicate()
            ends.append((out, err.splitlines()[:1], err.splitlines()[-1:], process.returncode))
        assert ends[0] == ends[1]


@pytest.mark.parametrize("adapter", SOURCES)
def test_a_pipe_stays_live(tmp_path: Path, adapter: str) -> None:
    """What a handler writes reaches a pipe while the handler still runs."""
    process = subprocess.Popen(
        [*script(tmp_path, SOURCES[adapter]), "slow"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment(PYTHONUNBUFFERED="1"),
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"first\n"
    assert process.poll() is None
    process.communicate(b"")
    assert process.returncode == 0


@pytest.mark.parametrize(
    ("agents", "words", "env", "is_agent"),
    [
        ("pipe", [], {}, True),
        ("flag", [], {}, False),
        ("flag", [], {"CLAUDECODE": "1"}, False),
        ("flag", ["--agent"], {}, True),
        ("flag", [], {"MURLI_MODE": "agent"}, True),
        ("flag", ["--output", "json"], {}, True),
        ("flag", [], {"CLAUDECODE": "1", "MURLI_DETECT_AGENTS": "1"}, True),
        ("detect", [], {}, False),
        ("detect", [], {"CLAUDECODE": "1"}, True),
        ("detect", ["--agent"], {}, True),
        ("detect", [], {"CLAUDECODE": "1", "MURLI_MODE": "human"}, False),
    ],
)
@pytest.mark.parametrize("contract", ["murli", "agent-spec-2"])
def test_who_is_an_agent(
    tool: list[str],
    agents: str,
    words: list[str],
    env: dict[str, str],
    is_agent: bool,
    contract: str,
) -> None:
    """A pipe, a flag, a variable or a format makes an agent, as the author chose."""
    if contract != "murli" and words == ["--output", "json"]:
        words = ["--format", "json"]
    done = run(tool, "rows", *words, env=environment(AGENTS=agents, MURLI_CONTRACT=contract, **env))
    if is_agent:
        assert done.document["result" if contract == "murli" else "data"] == [{"a": 1}, {"a": 2}]
    else:
        assert done.out.split() == ["a", "1", "2"]
    assert (done.err, done.code) == ("", 0)


def test_agents_at_a_terminal(tool: list[str]) -> None:
    """With agents="detect" an agent that announces itself is one at a terminal too."""
    env = environment(AGENTS="detect", CLAUDECODE="1")
    assert run_at_terminal(tool, "hello", env=env).document["result"] == "Hällo"


def test_the_guard_is_for_declared_agents(tool: list[str]) -> None:
    """A person's pipe runs what changes something; an agent that says so has to confirm."""
    assert run(tool, "wipe").out == "wiped\n"
    announced = environment(AGENTS="detect", CLAUDECODE="1", MURLI_MODE="human")
    for words, env in (
        (["--agent"], environment()),
        ([], environment(MURLI_MODE="agent")),
        (["--agent", "--output", "text"], environment()),
        (["--output", "json"], environment()),
        ([], announced),
    ):
        done = run(tool, "wipe", *words, env=env)
        assert (done.out, done.code) == ("", 1), words
        assert "confirm" in done.err.lower()
    assert run(tool, "wipe", "--agent", "--yes").document["result"] == "wiped"


def test_a_tool_describes_itself_all_the_same(tool: list[str]) -> None:
    """Describe, --schema and manifest are documents on any pipe; describe says to pass --agent."""
    assert run(tool, "describe").document["capabilities"]["agents"] == "flag"
    assert (
        "agents"
        not in run(tool, "describe", env=environment(AGENTS="pipe")).document["capabilities"]
    )
    assert run(tool, "hello", "--schema").document["name"] == "hello"
    for contract, where in (("agent-spec-2", []), ("agent-spec-1.6", ["commands", "rows"])):
        for agents in ("flag", "pipe"):
            env = environment(AGENTS=agents, MURLI_CONTRACT=contract, MURLI_MODE="agent")
            entry = run(tool, "manifest", env=env).document["data"]
            assert ("MURLI_MODE" in str(entry)) == (agents == "flag" and not where)
            for key in where:
                entry = entry[key]
            assert ("agent" in entry["flags"]) == (agents == "flag")
    assert run(tool, "doctor", "--agent").document["status"] == "ok"


def test_callers_of_ours_are_agents(tool: list[str]) -> None:
    """The client, murli check and murli.testing get documents without being told how to ask."""
    rows = [{"a": 1}, {"a": 2}]
    for contract in ("murli", "agent-spec-2", "response"):
        called = Tool(tool, env=environment(MURLI_CONTRACT=contract), cache=False)
        # What the tool runs is not the client's to speak to, once the tool has told what it needs.
        nested = [called.call("nested").data for _ in range(2)]
        assert called.call("rows").data == rows
        tells = contract != "response"
        assert nested[1] == {"argv": ["--agent"] * tells + ["nested"], "is_text": tells}
    assert run_as_tested(tool, "rows").document["result"] == [{"a": 1}, {"a": 2}]
    report = check(tool, only=["murli.describe", "murli.success"], env=COMPILED)
    assert report.contract == "murli"
    assert [each.id for each in report.results if each.status == "fail"] == []
    seen = [each.evidence for result in report.results for each in result.findings]
    assert any(each is not None and "--agent" in each.argv for each in seen)


def test_existing_tests_stay_green(monkeypatch: pytest.MonkeyPatch) -> None:
    """CliRunner sees what it saw: text, the framework's statuses, and the exceptions themselves."""
    import click
    from click.testing import CliRunner

    def made() -> Any:
        @click.group()
        def cli() -> None: ...

        @cli.command()
        @click.option("--name", prompt=True)
        def hello(name: str) -> None:
            click.echo(f"Hello, {name}!")
            click.echo("aside", err=True)

        @cli.command()
        def boom() -> None:
            raise ZeroDivisionError("x")

        @cli.command()
        def sure() -> None:
            click.confirm("Sure?", abort=True)

        return cli

    plain, enabled = made(), made()
    murli.enable(enabled, agents="flag")
    monkeypatch.delenv("MURLI_MODE", raising=False)
    for words, keys in (
        (["hello", "--name", "Ada"], ""),
        (["hello"], "Ada\n"),
        (["hello"], ""),
        (["hello", "--nope"], ""),
        (["boom"], ""),
        (["sure"], "n\n"),
        (["sure"], "y\n"),
        (["--help"], ""),
    ):
        before, after = (CliRunner().invoke(app, words, input=keys) for app in (plain, enabled))
        assert after.output == before.output, words
        assert after.exit_code == before.exit_code, words
        assert type(after.exception) is type(before.exception), words


def test_an_unknown_choice_is_refused() -> None:
    """Whoever misspells the choice learns it where the tool is built."""
    import argparse

    with pytest.raises(ValueError, match="agents is pipe, flag or detect, not 'never'"):
        murli.enable(argparse.ArgumentParser(), agents="never")  # type: ignore[arg-type]
