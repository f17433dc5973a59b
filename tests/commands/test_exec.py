"""Many calls in one program: a request a line, an envelope a line."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from documents import FAMILY
from harness import ADAPTERS, Run, environment, run, script, tool

pytestmark = [pytest.mark.adapters("argparse", "click"), pytest.mark.warm]

SPEC_2 = environment(MURLI_CONTRACT="agent-spec-2")
ARG_ERROR = {"response": 3, "agent-spec-1.6": 2, "agent-spec-2": 2}
# Every adapter and every contract once: what they have to do with each other is tested elsewhere.
DIAGONAL = list(zip(ADAPTERS, FAMILY, strict=True))


@pytest.fixture(params=ADAPTERS)
def faults(request: pytest.FixtureRequest) -> list[str]:
    return tool(f"faults_{request.param}")


def dispatch(
    argv: list[str],
    *requests: Any,
    words: tuple[str, ...] = (),
    env: dict[str, str] = SPEC_2,
    cwd: Path | None = None,
) -> Run:
    """Run *requests* through ``exec``; what is not text is written as JSON."""
    lines = [each if isinstance(each, str) else json.dumps(each) for each in requests]
    return run(argv, "exec", *words, stdin="\n".join(lines).encode(), env=env, cwd=cwd)


def create(title: str, *, line: int = 0, **options: Any) -> dict[str, Any]:
    return {"_cmd": "task.create", "title": title, "weight": 1.5, "_opts": options}


def codes(done: Run) -> list[str]:
    """Give the error code of every answer, ``""`` for a success."""
    return [document["error"]["code"] if document["error"] else "" for document in done.lines]


@pytest.mark.parametrize(("adapter", "contract"), DIAGONAL)
def test_each_line_is_a_call(adapter: str, contract: str) -> None:
    """Every request is answered by one compact envelope that names its command and its line."""
    done = dispatch(
        tool(f"tasks_{adapter}"),
        {"_cmd": "report", "what": "all"},
        "",
        {"_cmd": "task.create", "title": "-x", "weight": 1.5, "_opts": {"yes": True, "count": 2}},
        {"_cmd": "task list", "_opts": {"region": "us", "output": "csv"}},
        env=environment(MURLI_CONTRACT=contract),
    )
    assert (done.code, done.err) == (0, "")
    told = [(each["meta"]["_cmd"], each["meta"]["_line"]) for each in done.lines]
    assert told == [("report", 1), ("task.create", 3), ("task list", 4)]
    data = [each["data"] for each in done.lines]
    assert data[0] == {"what": "all"}
    assert data[1]["title"] == "-x"
    assert (data[2]["region"], data[2]["output"]) == ("us", "csv")
    requests = {each["meta"]["request_id"] for each in done.lines}
    assert len(requests) == 3


@pytest.mark.parametrize(
    ("variable", "value"),
    [("TOOL_FORMAT", "tsv"), ("TASKS_FORMAT", "plain"), ("TOOL_FORMAT", "table")],
)
def test_a_format_variable_is_not_for_exec(variable: str, value: str) -> None:
    """Whatever form a variable asks for, what was done is answered in JSON lines."""
    env = environment(MURLI_CONTRACT="agent-spec-2", **{variable: value})
    request = {"_cmd": "task.create", "title": "x", "weight": 1.5, "_opts": {"yes": True}}
    done = dispatch(tool("tasks_click"), request, {"_cmd": "report", "what": "all"}, env=env)
    assert (done.code, [each["ok"] for each in done.lines]) == (0, [True, True])


def test_words_that_are_no_text(tasks: list[str]) -> None:
    """A lone surrogate in a command, a key or an option is one error line; the others go on."""
    done = dispatch(
        tasks,
        {"_cmd": "\ud800"},
        {"_cmd": "report", "what": "all", "\ud800": 1},
        {"_cmd": "report", "what": "all", "_opts": {"\ud800": 1}},
        {"_cmd": "report", "what": "all"},
        words=("--ignore-errors",),
    )
    assert codes(done) == ["COMMAND_ERROR", "FLAG_ERROR", "FLAG_ERROR", ""]
    assert [each["meta"]["_line"] for each in done.lines] == [1, 2, 3, 4]


@pytest.mark.parametrize(("adapter", "contract"), DIAGONAL)
def test_the_first_failure_ends_it(adapter: str, contract: str) -> None:
    """A failed call is the last one, and the exit code is that of a general error."""
    env = environment(MURLI_CONTRACT=contract)
    tasks = tool(f"tasks_{adapter}")
    done = dispatch(tasks, {"_cmd": "report", "what": "missing"}, {"_cmd": "report"}, env=env)
    assert (done.code, codes(done)) == (1, ["NOT_FOUND"])


def test_errors_can_be_ignored(tasks: list[str]) -> None:
    """--ignore-errors goes on behind failed calls, and the exit code still tells of them."""
    done = dispatch(
        tasks,
        {"_cmd": "report", "what": "missing"},
        create("Saw"),
        {"_cmd": "task.create", "titel": "Saw", "wait": 1},
        {"_cmd": "repotr"},
        {"_cmd": "task.creat", "title": "x", "_opts": {"yes": True}},
        {"_cmd": "report all --yes"},
        {"_cmd": "task..create"},
        {"_cmd": "report", "_opts": {"format": "plain"}},
        {"_cmd": "report", "_opts": {"yes": "no"}},
        {"_cmd": "report"},
        words=("--ignore-errors",),
    )
    assert done.code == 1
    found = codes(done)
    assert found[:3] == ["NOT_FOUND", "CONFIRMATION_REQUIRED", "FLAG_ERROR"]
    assert found[5:] == [*["COMMAND_ERROR"] * 2, *["FLAG_ERROR"] * 2, ""]
    # Everything that is wrong with a request is told at once.
    assert [each["field"] for each in done.lines[2]["error"]["errors"]] == [
        "titel",
        "wait",
    ]
    # A command that does not exist is answered as on any other command line.
    assert "report" in json.dumps(done.lines[3]["error"])
    assert all(each["meta"]["_line"] == number for number, each in enumerate(done.lines, 1))


@pytest.mark.parametrize("contract", FAMILY)
def test_a_line_that_is_no_request(contract: str) -> None:
    """What is no request is answered with DISPATCH_PARSE_ERROR, and the exit code of ARG_ERROR."""
    wrong = [
        b"{",
        b"[]",
        b"{}",
        b'"\xff"',
        b'{"_cmd": 3}',
        b'{"_cmd": "."}',
        b'{"_cmd": "report", "_opts": []}',
        b'{"_cmd": "report", "what": NaN}',
        b'"%s"' % (b"x" * (1 << 20)),
    ]
    done = run(
        tool("tasks_argparse"),
        "exec",
        "--ignore-errors",
        stdin=b"\n".join([*wrong, b'{"_cmd": "report"}']),
        env=environment(MURLI_CONTRACT=contract),
    )
    assert done.code == ARG_ERROR[contract]
    assert codes(done) == ["DISPATCH_PARSE_ERROR"] * len(wrong) + [""]
    assert [each["meta"]["_line"] for each in done.lines] == list(range(1, len(wrong) + 2))


def test_nothing_to_do(tasks: list[str]) -> None:
    """Without requests there are no answers, and no failure; help is asked for as anywhere."""
    done = run(tasks, "exec", env=SPEC_2)
    assert (done.code, done.out) == (0, "")
    assert run(tasks, "exec", "--help", env=SPEC_2).document["meta"]["help"] is True
    assert run(tasks, "exec", "--nope", env=SPEC_2).code == 2
    assert run(tasks, "exec", "now", env=SPEC_2).code == 2


def test_dry_run_changes_nothing(tasks: list[str]) -> None:
    """With --dry-run exec previews what can be previewed, and only checks the rest."""
    done = dispatch(
        tasks,
        create("Saw"),
        {"_cmd": "report", "what": "all"},
        {"_cmd": "task.delete", "id": 3, "_opts": {"yes": True}},
        words=("--dry-run",),
    )
    assert done.code == 0
    planned, *checked = done.lines
    assert planned["meta"]["dry_run"] is True
    assert planned["data"]["title"] == "Saw"
    assert [each["data"] for each in checked] == [{"valid": True}] * 2
    assert all(each["meta"]["validation_only"] for each in checked)


def test_what_is_said_to_exec_means_every_call(tasks: list[str]) -> None:
    """Options of the tool before exec, and a confirmation, hold for each call."""
    delete = {"_cmd": "task.delete", "id": 3}
    lines = json.dumps(delete).encode()
    done = run(tasks, "--region", "us", "exec", "--yes", stdin=lines, env=SPEC_2)
    assert [each["data"]["region"] for each in done.lines] == ["us"]
    done = dispatch(tasks, delete, words=("--confirm-destructive",))
    assert done.lines[0]["meta"]["confirmed"] is True


def test_commands_of_murli_are_called_too(deploy: list[str]) -> None:
    """What murli mounts can be called like any other command, but not exec itself."""
    done = dispatch(
        deploy,
        {"_cmd": "manifest", "command": ["site"]},
        {"_cmd": "describe", "_opts": {"depth": 1}},
        {"_cmd": "profile.list"},
        {"_cmd": "profile.show", "name": "nobody"},
        {"_cmd": "profile.nothing"},
        {"_cmd": "exec"},
        words=("--ignore-errors",),
    )
    assert codes(done) == ["", "", "", "NOT_FOUND", "COMMAND_ERROR", "FLAG_ERROR"]
    assert list(done.lines[0]["data"]["commands"]) != []


def test_requests_from_a_file(tasks: list[str], tmp_path: Path) -> None:
    """--input-file names a file of requests; one that is missing is an argument error."""
    (tmp_path / "calls").write_text('{"_cmd": "report"}\n{"_cmd": "report", "what": "x"}')
    done = run(tasks, "exec", "--input-file", "calls", cwd=tmp_path, env=SPEC_2)
    assert [each["data"]["what"] for each in done.lines] == ["all", "x"]
    done = run(tasks, "exec", "--input-file", "nowhere", cwd=tmp_path, env=SPEC_2)
    assert (done.code, done.document["error"]["code"]) == (2, "INPUT_FILE_MISSING")


def test_calls_cannot_hurt_each_other(faults: list[str]) -> None:
    """A call that crashes, exits, streams, prints or leaves a thread has one answer, as alone."""
    done = dispatch(
        faults,
        {"_cmd": "do", "what": "crash"},
        {"_cmd": "do", "what": "late_thread"},
        {"_cmd": "do", "what": "atexit"},
        {"_cmd": "do", "what": "read"},
        {"_cmd": "do", "what": "fork"},
        {"_cmd": "do", "what": "nothing"},
        words=("--ignore-errors",),
    )
    assert done.code == 1
    assert codes(done) == ["GENERAL_ERROR", "", "", "", "", ""]
    # Nobody reads the requests but exec.
    assert done.lines[3]["data"] == {"text": "0"}
    assert done.lines[5]["data"] == {"text": "done"}


def test_a_stream_is_passed_on(tasks: list[str]) -> None:
    """The lines of a call that streams come as they are; its last one is its answer."""
    done = dispatch(tasks, {"_cmd": "report", "what": "stream"}, {"_cmd": "report"})
    assert [each.get("index") for each in done.lines[:2]] == [0, 1]
    ended = [each for each in done.lines if "ok" in each]
    assert [each["meta"]["_line"] for each in ended] == [1, 2]
    assert ended[0]["data"] == {"total": 2}


DYING = """
import argparse, atexit, os, signal, subprocess, sys, time, murli
parser = argparse.ArgumentParser(prog="dying")
commands = parser.add_subparsers(dest="command", required=True)
commands.add_parser("kill")
commands.add_parser("leave")
commands.add_parser("look")
murli.enable(parser, contract="agent-spec-2")
loaded = os.getpid()
atexit.register(lambda: print("bye", os.getpid() == loaded))
args = parser.parse_args()
if args.command == "kill":
    os.kill(os.getpid(), signal.SIGKILL)
elif args.command == "leave":
    subprocess.Popen(["sleep", "2"], stdout=2)
murli.get_writer().write_success("", {"argv": sys.argv[1:], "fork": os.getpid() != loaded})
"""


def test_a_call_that_is_killed(tmp_path: Path) -> None:
    """A call without an answer is answered for, and says what ended it; the next one runs."""
    done = dispatch(
        script(tmp_path, DYING), {"_cmd": "kill"}, {"_cmd": "look"}, words=("--ignore-errors",)
    )
    assert codes(done) == ["GENERAL_ERROR", ""]
    assert done.lines[0]["error"]["detail"] == "it was ended by SIGKILL."
    assert done.lines[0]["meta"]["_cmd"] == "kill"
    assert done.lines[1]["data"] == {"argv": ["look"], "fork": True}
    # What the program does at its end it does in every process, beside the answers.
    assert done.err.splitlines() == ["bye False", "bye True"]


def test_what_a_call_leaves_behind_holds_nobody_up(tmp_path: Path) -> None:
    """No call waits for a program that the one before started and left running."""
    argv = script(tmp_path, DYING)
    process = subprocess.Popen(
        [*argv, "exec"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=SPEC_2
    )
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(b'{"_cmd": "leave"}\n')
    process.stdin.flush()
    assert json.loads(process.stdout.readline())["ok"] is True
    assert _children_of(process.pid) == []
    # It is a conversation: the answer came before the next request.
    process.stdin.write(b'{"_cmd": "look"}\n')
    process.stdin.close()
    assert json.loads(process.stdout.readline())["meta"]["_line"] == 2
    assert process.wait(10) == 0
    process.stdout.close()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_running_call(faults: list[str], number: signal.Signals) -> None:
    """A signal to exec ends the call that runs, whose answer says so; nothing is left behind."""
    process = subprocess.Popen(
        [*faults, "exec"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=SPEC_2,
    )
    assert process.stdin is not None and process.stderr is not None
    process.stdin.write(b'{"_cmd": "do", "what": "child"}\n{"_cmd": "do", "what": "nothing"}\n')
    process.stdin.flush()
    started = int(process.stderr.readline().split()[1])
    calls = _children_of(process.pid)
    process.send_signal(number)
    out, _ = process.communicate(timeout=20)
    assert process.returncode == 128 + number
    (answer,) = map(json.loads, out.splitlines())
    assert (answer["error"]["code"], answer["meta"]["_line"]) == ("CANCELLED", 1)
    assert calls and not any(map(_runs, (started, *calls)))


def test_all_calls_together_have_a_deadline(tmp_path: Path) -> None:
    """A --timeout of exec ends the call that runs; a timeout of a call ends only that call."""
    faults = tool("faults_click")
    done = dispatch(faults, {"_cmd": "do", "what": "sleep"}, words=("--timeout", "0.5"))
    assert (done.code, codes(done)) == (10, ["TIMEOUT"])
    assert "cleaned" in done.err
    done = dispatch(
        faults,
        {"_cmd": "quick"},
        {"_cmd": "do", "what": "sleep", "_opts": {"timeout": "300ms"}},
        {"_cmd": "do", "what": "nothing"},
        words=("--ignore-errors",),
    )
    assert (done.code, codes(done)) == (1, ["TIMEOUT", "TIMEOUT", ""])


def test_a_reader_that_goes_away(tmp_path: Path) -> None:
    """When nobody reads the answers any more, exec ends, quietly, and so does its call."""
    process = subprocess.Popen(
        [*tool("faults_argparse"), "exec"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=SPEC_2,
    )
    assert process.stdout is not None
    process.stdout.close()
    process.stdout = None
    _, err = process.communicate(b'{"_cmd": "do", "what": "nothing"}\n' * 3, timeout=20)
    assert (process.returncode, err) == (0, b"")


def test_a_stdin_that_nobody_feeds() -> None:
    """Nobody waits for requests of a caller who has none."""
    reading, writing = os.pipe()
    with open(reading, "rb") as source:
        done = subprocess.run(
            [*tool("tasks_click"), "exec"],
            stdin=source,
            capture_output=True,
            env=SPEC_2,
            timeout=20,
            check=False,
        )
    os.close(writing)
    assert done.returncode == 4
    assert json.loads(done.stdout)["error"]["code"] == "INPUT_REQUIRED"


IN_PROCESS = """
import click, murli
from click.testing import CliRunner
@click.group()
def cli(): pass
@cli.command()
def look(): return {"seen": 1}
murli.enable(cli, contract="agent-spec-2")
print(CliRunner().invoke(cli, ["exec"], input='{"_cmd": "look"}\\n').output)
print("once")
"""


def test_a_test_runner_is_not_forked(tmp_path: Path) -> None:
    """Inside of another program exec is refused: a fork of that would go on as a second one."""
    done = run(script(tmp_path, IN_PROCESS))
    assert done.out.count("once") == 1
    assert "exec needs a process of its own." in done.out


SLOW_TO_LOAD = """
import argparse, time, murli
end = time.process_time() + 0.5
while time.process_time() < end:
    pass
parser = argparse.ArgumentParser(prog="slow")
parser.add_subparsers(dest="command").add_parser("look")
murli.enable(parser, contract="agent-spec-2")
parser.parse_args()
"""


@pytest.mark.fresh
def test_the_program_is_loaded_once(tmp_path: Path) -> None:
    """Thirty calls in one exec cost less than five processes of a tool that loads slowly."""
    argv = script(tmp_path, SLOW_TO_LOAD)
    once = _processor_seconds(lambda: run(argv, "look", env=SPEC_2))
    many = _processor_seconds(lambda: dispatch(argv, *[{"_cmd": "look"}] * 30))
    assert many < 5 * once


def _processor_seconds(action: Any) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = action()
    assert done.code == 0
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _children_of(process: int) -> list[int]:
    text = Path(f"/proc/{process}/task/{process}/children").read_text()
    return [int(word) for word in text.split()]


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True
