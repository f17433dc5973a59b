"""``Tool.call(…, until=…)``: one answer for a command that is asked again and again."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from harness import environment, run, script
from murli.client import ArgumentMistake, AsyncTool, Decision, Response, Tool

# Counts its runs, and the processes that make them, in files; done at the third.
SOURCE = """
import json, os, sys
open("processes", "a").write("x")

def state():
    open("runs", "a").write("x")
    return ["busy", "busy", "done"][min(os.path.getsize("runs"), 3) - 1]
"""
MURLI = (
    SOURCE
    + """
import click
import murli

@click.group()
def cli():
    pass

@cli.command()
def status():
    return {"status": state()}

@cli.command()
def deploy():
    return {"status": state()}

murli.enable(cli)
cli()
"""
)
PLAIN = (
    SOURCE
    + """
if sys.argv[1] == "text":
    print("Build 7\\nStatus:", state())
elif sys.argv[1] == "fails":
    state()
    sys.exit(3)
else:
    print(json.dumps({"status": state(), "args": sys.argv[1:]}))
"""
)
QUICK: dict[str, Any] = {"every": 0.1, "timeout": 20}


def counts(tmp_path: Path) -> tuple[int, int]:
    """Return how many calls were made, by how many processes."""
    runs, processes = (tmp_path / name for name in ("runs", "processes"))
    return runs.stat().st_size, processes.stat().st_size


def made(tmp_path: Path, source: str, **options: Any) -> Tool:
    argv = script(tmp_path, source)
    return Tool(argv, cwd=tmp_path, memory=False, cache=False, **options)


@pytest.mark.parametrize("contract", ["murli", "agent-spec-2"])
def test_a_tool_that_can_waits_itself(tmp_path: Path, contract: str) -> None:
    """Where the tool lists --until the calls are one process, and time is up as asked."""
    env = environment(MURLI_CONTRACT=contract)
    tool = made(tmp_path, MURLI, contract=contract, env=env)
    assert tool.commands
    asked = counts_of_processes(tmp_path)
    response = tool.call("status", until={"status": ["done", "failed"]}, **QUICK)
    assert (response.ok, response.data) == (True, {"status": "done"})
    assert (counts(tmp_path)[0], counts_of_processes(tmp_path) - asked) == (3, 1)
    late = tool.call("status", until={"status": "gone"}, every=0.1, timeout=0.4)
    assert late.problem is not None and late.problem.kind == "timeout"
    assert [type(each).__name__ for each in late.decisions] == ["Stop"]  # not tried once more


def counts_of_processes(tmp_path: Path) -> int:
    path = tmp_path / "processes"
    return path.stat().st_size if path.exists() else 0


def test_any_tool_is_called_again(tmp_path: Path) -> None:
    """A tool without a contract is run again and again, and what it prints is looked at."""
    told: list[tuple[Decision, Response[Any]]] = []
    tool = made(tmp_path, PLAIN, on_decision=lambda *each: told.append(each))
    response = tool.call("text", until_not={"status": "busy"}, **QUICK)
    assert (response.data, counts(tmp_path)) == ("Build 7\nStatus: done\n", (3, 3))
    assert len(told) == 1
    # Only an object with fields is a condition: anything else is an option of the tool's.
    response = tool.call("json", until="friday", every=2)
    assert response.data["args"] == ["json", "--until=friday", "--every=2"]


def test_what_ends_the_wait(tmp_path: Path) -> None:
    """A failure, a field that is nowhere and the time that is up end it, and say why."""
    tool = made(tmp_path, PLAIN)
    failed = tool.call("fails", until={"status": "done"}, **QUICK)
    assert (failed.exit_code, counts(tmp_path)[0]) == (3, 1)
    missing = tool.call("json", until={"stat": "done"}, **QUICK)
    assert missing.problem is not None and missing.problem.code == "UNTIL_FIELD"
    assert missing.problem.valid_values == ("status", "args")
    late = tool.call("json", until={"status": "gone"}, every=0.1, timeout=0.3)
    assert late.problem is not None
    assert (late.problem.kind, late.problem.code) == ("timeout", "UNTIL_TIMEOUT")
    assert "status: done" in late.problem.message
    with pytest.raises(ArgumentMistake, match="seconds"):
        tool.call("json", until={"status": "done"}, every="5s")


def test_what_may_change_something_is_not_repeated(tmp_path: Path) -> None:
    """A command that is declared to change something, or named so, is not even called once."""
    known = made(tmp_path, MURLI, contract="murli")
    asked = known.commands
    assert "deploy" in asked
    for tool in (known, made(tmp_path, PLAIN)):
        with pytest.raises(ArgumentMistake, match="may change something"):
            tool.call("deploy", until={"status": "done"}, **QUICK)
    assert not (tmp_path / "runs").exists()


def test_the_async_twin(tmp_path: Path) -> None:
    """`AsyncTool` waits by the same rules."""
    tool = AsyncTool(script(tmp_path, PLAIN), cwd=tmp_path, memory=False, cache=False)
    response = asyncio.run(tool.call("json", until={"status": ["done"]}, **QUICK))
    assert (response.data["status"], counts(tmp_path)) == ("done", (3, 3))


def test_from_a_shell(tmp_path: Path) -> None:
    """`murli call --until` does the same, and hands on the tool's own answer."""
    argv = [sys.executable, "-m", "murli", "call", "--until", "status=done", "--every", "0.1"]
    program = " ".join(script(tmp_path, MURLI))
    done = run(argv, program, "status", cwd=tmp_path)
    assert (done.code, done.document["result"]) == (0, {"status": "done"})
    wrong = run(argv, "--until-not", "status", program, "status", cwd=tmp_path)
    assert json.loads(wrong.err)["field"] == "until"
