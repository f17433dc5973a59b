"""Many calls in one program under the murli contract: a request a line, a murli document a line."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from harness import ADAPTERS, Run, environment, run, script, tool
from murli import load_schema

pytestmark = pytest.mark.warm

REPORT = {"_cmd": "report", "what": "all"}
MISSING = {"_cmd": "report", "what": "missing"}
TASKS = tool("tasks_click")


def dispatch(argv: list[str], *requests: Any, words: tuple[str, ...] = ()) -> Run:
    """Run *requests* through ``exec``; what is not text is written as JSON."""
    lines = [each if isinstance(each, str) else json.dumps(each) for each in requests]
    return run(argv, "exec", *words, stdin="\n".join(lines).encode())


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_each_line_is_a_murli_document(adapter: str) -> None:
    """Each answer is a line of stdout that begins with its request, failures and streams too."""
    jsonschema = pytest.importorskip("jsonschema")
    done = dispatch(
        tool(f"tasks_{adapter}"),
        REPORT,
        MISSING,
        {"_cmd": "task.create", "title": "Saw", "weight": 1.5},
        {"_cmd": "task create", "title": "Saw", "weight": 1.5, "_opts": {"yes": True}},
        {"_cmd": "report", "what": "stream"},
        {"_cmd": "repotr"},
        "{",
        words=("--ignore-errors",),
    )
    assert (done.code, done.err) == (3, "")
    answers = [each for each in done.lines if "status" in each]
    for each in answers:
        jsonschema.validate(each, load_schema("murli"))
    assert [next(iter(each)) for each in answers] == ["_cmd"] * 6 + ["_line"]
    assert [each["_line"] for each in answers] == [1, 2, 3, 4, 5, 6, 7]
    assert [each.get("error", "") for each in answers] == [
        *("", "not_found", "confirmation_required", "", "", "command_error"),
        "dispatch_parse_error",
    ]
    assert [each["index"] for each in done.lines if "index" in each] == [0, 1]


def test_exit_codes() -> None:
    """All worked is 0, some 3, none 2, and 1 where a line was no request and nothing worked."""
    assert dispatch(TASKS, REPORT).code == 0
    assert dispatch(TASKS, REPORT, MISSING, REPORT).code == 3
    done = dispatch(TASKS, MISSING, REPORT)
    assert (done.code, len(done.lines)) == (2, 1)
    assert dispatch(TASKS, "nothing", REPORT).code == 1
    assert dispatch(TASKS).code == 0


def test_descriptions_are_results() -> None:
    """What a single call prints bare, a schema say, is the result of the answer to its line."""
    done = dispatch(
        TASKS,
        {"_cmd": "describe", "command": ["report"]},
        {"_cmd": "report", "_opts": {"schema": True}},
        {"_cmd": "describe", "_opts": {"agents-md": True}},
    )
    assert done.code == 0
    first, second, third = (each["result"] for each in done.lines)
    assert first["name"] == second["name"] == "report"
    assert third.startswith("# ")


def test_what_exec_takes(tmp_path: Path) -> None:
    """--input-file, --dry-run, --timeout and --help mean under murli what they mean elsewhere."""
    (tmp_path / "calls").write_text(json.dumps(REPORT))
    done = run(TASKS, "exec", "--input-file", "calls", cwd=tmp_path)
    assert [each["result"]["what"] for each in done.lines] == ["all"]
    assert run(TASKS, "exec", "--input-file=nowhere").error["error"] == "input_file_missing"
    create = {"_cmd": "task.create", "title": "Saw", "weight": 1.5, "_opts": {"yes": True}}
    done = dispatch(TASKS, create, REPORT, words=("--dry-run",))
    assert [each["status"] for each in done.lines] == ["plan", "error"]
    assert done.lines[1]["field"] == "dry-run"
    assert run(TASKS, "exec", "--help").out.startswith("usage: tasks exec")
    assert run(TASKS, "exec", "--nope").error["field"] == "nope"
    assert "exec" in run(TASKS, "describe").document["capabilities"]
    assert (
        "exec [--ignore-errors] [--dry-run] [--input-file TEXT] < many" in run(TASKS, "--help").out
    )


OWN = """
import click, murli
@click.group()
def cli(): pass
@cli.command("exec")
@click.argument("words", nargs=-1)
def own(words): click.echo(" ".join(words))
murli.enable(cli)
cli()
"""
BARE = {
    "click": """
import click, murli
@click.command()
@click.argument("word")
def cli(word): click.echo(word)
murli.enable(cli)
cli()
""",
    "argparse": """
import argparse, murli
parser = argparse.ArgumentParser()
parser.add_argument("word")
murli.enable(parser)
print(parser.parse_args().word)
""",
}


def test_what_is_the_tools_own(tmp_path: Path) -> None:
    """A command exec of the tool's own, and a tool of one command, are called as without us."""
    own = script(tmp_path, OWN, "own.py")
    assert run(own, "exec", "a", "b").document["result"] == "a b"
    assert "exec" not in run(own, "describe").document["capabilities"]
    for framework, source in BARE.items():
        argv = script(tmp_path, source, f"{framework}_bare.py")
        assert run(argv, "exec").document["result"] == "exec"


LINGERING = """
import os, threading, time
import click, murli
@click.group()
def cli(): pass
@cli.command()
@click.argument("how")
def change(how):
    if how == "thread":
        threading.Thread(target=time.sleep, args=(20,)).start()
    elif how == "closed":
        os.close(1)
        time.sleep(20)
    elif how == "slow":
        open("begun", "w").close()
        time.sleep(1)
        open("done", "w").close()
    return {"how": how}
murli.annotate(change, murli.Metadata(danger_level="mutating"))
murli.enable(cli, name="tool")
cli()
"""


@pytest.mark.parametrize("how", ["thread", "closed"])
def test_the_deadline_holds_for_what_lingers(tmp_path: Path, how: str) -> None:
    """A call that has answered, or closed its stdout, is ended in time; a change is not retried."""
    request = {"_cmd": "change", "how": how, "_opts": {"yes": True}}
    began = time.monotonic()
    done = dispatch(script(tmp_path, LINGERING), request, words=("--timeout", "1.2"))
    assert time.monotonic() - began < 10
    if how == "thread":
        assert (done.code, done.document["result"]) == (0, {"how": "thread"})
    else:
        assert done.document["error"] == "timeout"
        assert (done.code, done.document["recoverable"]) == (4, False)
        assert done.document["suggestion"].startswith("It may have changed something")


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a process of its parent")
def test_a_call_ends_with_a_program_that_is_killed(tmp_path: Path) -> None:
    """SIGKILL for exec is the end of the call that runs as well."""
    argv = script(tmp_path, LINGERING)
    request = json.dumps({"_cmd": "change", "how": "slow", "_opts": {"yes": True}})
    with subprocess.Popen(
        [*argv, "exec"], cwd=tmp_path, env=environment(), stdin=-1, stdout=-1, stderr=-1
    ) as process:
        assert process.stdin is not None
        process.stdin.write(f"{request}\n".encode())
        process.stdin.flush()
        while not (tmp_path / "begun").exists():
            time.sleep(0.01)
        process.kill()
        process.communicate(timeout=5)  # both pipes are closed only when the call has ended, too
    assert not (tmp_path / "done").exists()


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_arguments_are_called_as_the_card_shows_them(adapter: str) -> None:
    """A request may name an argument in capitals, as usage lines do; the answer is the same."""
    tasks = tool(f"tasks_{adapter}")
    assert "report [WHAT]" in run(tasks, "--help").out
    done = dispatch(tasks, REPORT, {"_cmd": "report", "WHAT": "all"})
    assert [each["status"] for each in done.lines] == ["ok", "ok"]
    assert done.lines[0]["result"] == done.lines[1]["result"]


PARTS = """\
import argparse, murli
parser = argparse.ArgumentParser()
commands = parser.add_subparsers()
move = commands.add_parser("move")
move.add_argument("src", metavar="<from>")
move.add_argument("dst", metavar="TO_PATH")
move.set_defaults(run=lambda args: [args.src, args.dst])
join = commands.add_parser("join")
join.add_argument("one", metavar="PART")
join.add_argument("two", metavar="PART")
join.set_defaults(run=lambda args: [args.one, args.two])
murli.enable(parser)
args = parser.parse_args()
murli.get_writer().write_success("", args.run(args))
"""


def test_metavars_name_arguments(tmp_path: Path) -> None:
    """A metavar names its argument with or without what is around it, unless two have the same."""
    parts = script(tmp_path, PARTS)
    done = dispatch(
        parts,
        {"_cmd": "move", "<from>": "a", "TO_PATH": "b"},
        {"_cmd": "move", "from": "a", "to_path": "b"},
        {"_cmd": "join", "PART": "a"},
        words=("--ignore-errors",),
    )
    assert [each.get("result") for each in done.lines] == [["a", "b"], ["a", "b"], None]
    assert done.lines[2]["valid_values"] == ["one", "two"]
