"""``--until``: a call that only reads is repeated until its result says so, and answers once."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from harness import ADAPTERS, environment, run, run_at_terminal, script

pytestmark = pytest.mark.warm

QUICK = ("--every", "100ms")
# Counts its calls in a file; the third finds what is waited for.
STATE = """
import json, os, sys, threading, time
import murli
from murli import AgentError, Metadata

def calls():
    with open("calls", "a") as file:
        file.write(f"{os.getpid()}\\n")
    with open("calls") as file:
        return len(file.readlines())

def state():
    return ["queued", "queued", "done"][min(calls(), 3) - 1]
"""
CLICK = (
    STATE
    + """
import click

@click.group()
def cli():
    pass

@cli.command()
def status():
    "Tell how far it is."
    found = state()
    click.echo("looking", err=True)
    return {"status": found, "job": {"id": 7, "log": "x" * 20}}

@cli.command("list")
def jobs():
    first = state()
    return [{"name": "a", "state": first}, {"name": "b", "state": "done"}]

@cli.command("show")
def show():
    click.echo(f"Build 7\\n  Current state: {state()}")

@cli.command()
def deploy():
    calls()

@cli.command()
def frob():
    calls()

@cli.command()
def frobbed():
    return {"status": state()}

@cli.command()
def look():
    calls()

@cli.command("get")
@click.argument("how")
def get(how):
    number = calls()
    if how == "gone":
        raise AgentError.not_found("There is no such job.")
    if how == "slow":
        time.sleep(30)
    if how == "thread":
        threading.Thread(target=time.sleep, args=(20,)).start()
        return {"status": "done"}
    if how == "hidden":
        os.environ["NOTHING"] = "1"
        return {"token": os.environ["JOB_TOKEN"] if number > 1 else "none"}
    if how == "vanishing":
        return {"status": "running"} if number == 1 else {}
    if number < 3 or how == "down":
        raise AgentError.unavailable("The server is restarting.")
    return {"status": "done"}

@cli.command("logs")
@click.option("--until")
@click.option("--every")
def logs(until, every):
    return {"until": until, "every": every, "calls": calls()}

murli.annotate(frobbed, Metadata(danger_level="safe"))
murli.annotate(look, Metadata(mutating=True))
murli.enable(cli)
cli()
"""
)
OTHERS = {
    "argparse": STATE
    + """
import argparse
parser = argparse.ArgumentParser()
parser.add_subparsers(dest="command").add_parser("status")
murli.enable(parser)
parser.parse_args()
print(json.dumps({"status": state()}))
""",
    "typer": STATE
    + """
import typer
app = typer.Typer()

@app.callback()
def main():
    pass

@app.command()
def status():
    return {"status": state()}

murli.enable(app)
app()
""",
}


@pytest.fixture
def tool(tmp_path: Path) -> list[str]:
    return script(tmp_path, CLICK)


def calls(tmp_path: Path) -> list[str]:
    """Return the processes that made the calls so far."""
    path = tmp_path / "calls"
    return path.read_text().split() if path.exists() else []


def test_it_answers_once(tool: list[str], tmp_path: Path) -> None:
    """One process makes the calls, reports each change on stderr, and writes the last answer."""
    done = run(tool, "status", "--until", "status=done,failed", *QUICK, cwd=tmp_path)
    assert (done.code, len(set(calls(tmp_path)))) == (0, 3)
    assert [each["msg"] for each in done.logs] == ["status: queued"]
    assert done.err.splitlines()[1:] == ["looking"]  # of the last call alone
    alone = run(tool, "status", cwd=tmp_path)
    assert done.stdout == alone.stdout


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_every_framework_and_contract(adapter: str, tmp_path: Path) -> None:
    """Also where the rest of the program is the handler, and in an envelope that tells the time."""
    argv = script(tmp_path, OTHERS.get(adapter, CLICK))
    env = environment(MURLI_CONTRACT="agent-spec-2")
    done = run(argv, "status", "--until-not=status=queued", *QUICK, cwd=tmp_path, env=env)
    assert (done.code, done.document["data"]["status"]) == (0, "done")
    assert done.document["meta"]["duration_ms"] >= 200
    assert '"progress"' not in done.err  # silent, unless it is to be verbose
    assert len(calls(tmp_path)) == 3


@pytest.mark.parametrize(
    ("words", "data"),
    [
        (("list", "--until", "state=done", "--fields", "name"), [{"name": "a"}, {"name": "b"}]),
        (("list", "--until", "0.state=done", "--limit", "1"), [{"name": "a", "state": "done"}]),
        (("show", "--until", "current-state=done"), "Build 7\n  Current state: done"),
        (("frobbed", "--until", "status=done"), {"status": "done"}),
        (("get", "late", "--until", "status=done"), {"status": "done"}),
    ],
)
def test_what_is_looked_at(
    tool: list[str], tmp_path: Path, words: tuple[str, ...], data: object
) -> None:
    """Fields of all items, of one, of printed lines; before any are left out of the answer."""
    done = run(tool, *words, *QUICK, cwd=tmp_path)
    assert (done.code, done.document["result"], len(calls(tmp_path))) == (0, data, 3)


@pytest.mark.parametrize(
    ("words", "told", "made"),
    [
        (("status", "--until", "stat=done"), "no field", 1),
        (("get", "gone", "--until", "status=done"), "no such job", 1),
        (("get", "down", "--until", "status=done"), "restarting", 5),
        (("deploy", "--until", "status=done"), "named like one that changes", 0),
        (("look", "--yes", "--until", "status=done"), "changes something", 0),
        (("frob", "--until", "status=done"), "Nobody declared", 0),
        (("status", "--until", "done"), "expected FIELD=VALUE", 0),
        (("status", "--every", "5s"), "--every needs --until", 0),
        (("status", "--until", "a=b", "--every", "1ms"), "the least", 0),
        (("status", "--until", "a=b", "--dry-run"), "cannot be combined", 0),
        (("status", "--until", "a=b", "--stream"), "cannot be combined", 0),
        (("describe", "--until", "a=b"), "Unknown option --until", 0),
    ],
)
def test_what_ends_at_once(
    tool: list[str], tmp_path: Path, words: tuple[str, ...], told: str, made: int
) -> None:
    """A typo, a failure that lasts, and what may change something are answered, not waited for."""
    every = () if "--every" in words else QUICK
    done = run(tool, *words, *(every if words[0] != "describe" else ()), cwd=tmp_path)
    assert told in done.error["message"]
    assert done.code == done.error["code"] != 0
    assert len(calls(tmp_path)) == made


def test_a_field_may_go_away(tool: list[str], tmp_path: Path) -> None:
    """A field that was there counts as null once it is gone."""
    done = run(tool, "get", "vanishing", "--until-not", "status=running", *QUICK, cwd=tmp_path)
    assert (done.document["result"], len(calls(tmp_path))) == ({}, 2)


def test_the_tools_own_flags_stay_its_own(tool: list[str], tmp_path: Path) -> None:
    """A command that has an --until of its own is called once, with it."""
    done = run(tool, "logs", "--until", "a=b", "--every", "2", cwd=tmp_path)
    assert done.document["result"] == {"until": "a=b", "every": "2", "calls": 1}


@pytest.mark.parametrize("contract", ["murli", "agent-spec-2"])
def test_the_time_is_up(tool: list[str], tmp_path: Path, contract: str) -> None:
    """At the deadline the failure is a timeout that names the last value and how to go on."""
    words = ("status", "--until", "status=never", "--timeout", "600ms", *QUICK)
    done = run(tool, *words, cwd=tmp_path, env=environment(MURLI_CONTRACT=contract))
    error = done.error if contract == "murli" else done.document["error"]
    assert error["message"].startswith("The time for waiting is up after 0.6 s; status: ")
    assert "same call again" in error["suggestion"]
    assert done.code == {"murli": 4, "agent-spec-2": 10}[contract]


def test_a_result_counts_though_threads_go_on(tool: list[str], tmp_path: Path) -> None:
    """What is waited for is the answer at the deadline if only threads keep the call."""
    words = ("get", "thread", "--until", "status=done", "--timeout", "800ms")
    done = run(tool, *words, cwd=tmp_path)
    assert (done.code, done.document["result"]) == (0, {"status": "done"})


def test_a_call_that_hangs_is_ended(tool: list[str], tmp_path: Path) -> None:
    """The deadline and a signal end the call that runs as well as the waiting."""
    words = ("get", "slow", "--until", "status=done", *QUICK)
    done = run(tool, *words, "--timeout", "500ms", cwd=tmp_path)
    assert (done.code, done.error["error"]) == (4, "timeout")
    waiting = subprocess.Popen(
        [*tool, *words],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    )
    while len(calls(tmp_path)) < 2:
        time.sleep(0.02)
    waiting.send_signal(signal.SIGTERM)
    _, told = waiting.communicate(timeout=20)
    assert json.loads(told)["error"] == "cancelled"
    assert waiting.returncode == 9
    for process in calls(tmp_path):
        with pytest.raises(ProcessLookupError):
            os.kill(int(process), 0)


def test_a_person_waits_too(tool: list[str], tmp_path: Path) -> None:
    """At a terminal changes replace one another, and the call itself shows what there is then."""
    done = run_at_terminal(
        ["env", "-C", str(tmp_path), *tool], "show", "--until", "current state=done", *QUICK
    )
    assert (done.out, done.code) == ("Build 7\n  Current state: done\n", 0)
    assert done.err.count("current state: queued") == 1
    assert len(calls(tmp_path)) == 4
    refused = run_at_terminal(
        ["env", "-C", str(tmp_path), *tool], "deploy", "--until", "status=done"
    )
    assert "named like one that changes" in refused.err and refused.code == 1
    assert len(calls(tmp_path)) == 4


def test_secrets_are_not_reported(tool: list[str], tmp_path: Path) -> None:
    """What is reported about a value that is a secret does not tell it, nor whether it is it."""
    env = environment(JOB_TOKEN="s3cr3t-value-1234")
    words = ("get", "hidden", "--timeout", "1s", *QUICK)
    done = run(tool, *words, "--until", "token=s3cr3t-value-1234", cwd=tmp_path, env=env)
    assert done.code == 4
    assert "s3cr3t" not in done.out + done.err


def test_without_fork(tmp_path: Path) -> None:
    """A system without fork says so, and makes no call."""
    argv = script(tmp_path, "import os\ndel os.fork\n" + CLICK)
    done = run(argv, "status", "--until", "status=done", cwd=tmp_path)
    assert (done.error["error"], calls(tmp_path)) == ("precondition", [])
    assert "fork" in done.error["message"]


def test_in_exec(tool: list[str], tmp_path: Path) -> None:
    """A request of exec may wait; its answer is one line like any other."""
    request = {"_cmd": "status", "_opts": {"until": "status=done", "every": "100ms"}}
    env = environment(MURLI_CONTRACT="agent-spec-2")
    done = run(tool, "exec", stdin=json.dumps(request).encode(), cwd=tmp_path, env=env)
    assert [each["data"]["status"] for each in done.lines] == ["done"]
    assert len(calls(tmp_path)) == 3


def test_a_failure_in_exec(tool: list[str], tmp_path: Path) -> None:
    """What ends the waiting of a request of exec is the line of that request, a failure too."""
    requests = [
        {"_cmd": "get", "HOW": "gone", "_opts": {"until": "status=done"}},
        {"_cmd": "status", "_opts": {"until": "stat=done"}},
        {"_cmd": "status", "_opts": {"until": "status=x", "every": "100ms", "timeout": "400ms"}},
    ]
    lines = "\n".join(map(json.dumps, requests)).encode()
    done = run(tool, "exec", "--ignore-errors", stdin=lines, cwd=tmp_path)
    told = [each["message"] for each in done.lines]
    assert "no such job" in told[0] and "no field" in told[1] and "time for waiting" in told[2]
    assert '"error"' not in done.err


SEVERAL = """
import click, murli, pathlib
@click.group()
def cli(): pass
@cli.command()
@click.argument("job")
def status(job):
    path = pathlib.Path(job)
    if not path.exists():
        raise murli.AgentError.not_found(f"no job {job}")
    looks = int(path.read_text()) - 1
    path.write_text(str(looks))
    return {"status": "done" if looks <= 0 else "running"}
murli.annotate(status, murli.Metadata(batch="job", danger_level="safe"))
murli.enable(cli, name="tool")
cli(prog_name="tool")
"""


@pytest.mark.parametrize("jobs", [("5", "1"), ("1", "5")])
def test_several_values_are_waited_for_until_all_agree(
    tmp_path: Path, jobs: tuple[str, str]
) -> None:
    """A call with several values ends when the field of each has the value, in any order."""
    argv = script(tmp_path, SEVERAL)
    for name, looks in zip("ab", jobs, strict=True):
        (tmp_path / name).write_text(looks)
    done = run(argv, "status", "a", "b", "--until", "status=done", *QUICK, cwd=tmp_path)
    results = done.document["result"]["results"]
    assert [(each["item"], each["result"]["status"]) for each in results] == [
        ("a", "done"),
        ("b", "done"),
    ]
    assert (
        "status: running (1), done (1)" in done.err or "status: done (1), running (1)" in done.err
    )


def test_one_of_several_values_that_fails_ends_the_waiting(tmp_path: Path) -> None:
    """Where the call for one value has failed, the answer is partial at once."""
    argv = script(tmp_path, SEVERAL)
    (tmp_path / "a").write_text("99")
    done = run(argv, "status", "a", "gone", "--until", "status=done", *QUICK, cwd=tmp_path)
    assert (done.code, done.document["status"]) == (3, "partial")
    wrong = run(argv, "status", "a", "a", "--until", "stat=done", *QUICK, cwd=tmp_path).error
    assert (wrong["message"], wrong["valid_values"]) == (
        'The result has no field "stat".',
        ["status"],
    )
