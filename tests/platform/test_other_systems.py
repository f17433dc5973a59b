"""murli on a system without fcntl, fork, poll and most signals: weaker, never broken."""

from __future__ import annotations

import ast
import json
import os
import re
import time
from pathlib import Path

import pytest

from harness import REPOSITORY, TOOLS, Run, environment, run, script
from murli.platform.pipes import PipeReader

WEAK = str(TOOLS / "weak_platform")
# What only POSIX has; `murli.platform` alone may import it.
POSIX_ONLY = {"fcntl", "grp", "posix", "pty", "pwd", "resource", "syslog", "termios", "tty"}

CLICK = """
import sys, time
import click, murli

@click.group()
@click.option("--region", default="eu")
def cli(region): pass

murli.about(cli, flag_annotations={"region": murli.FlagAnnotation(profileable=True)})

@cli.command()
@murli.about(mutating=False)
def show():
    return [{"id": 1}, {"id": 2}]

@cli.command()
def printed():
    print("hello")
    print("x" * 5000, file=sys.stderr)

@cli.command()
@click.argument("lines", type=int)
def much(lines):
    for number in range(lines):
        print("line", number, "abcdefghij" * 10)

@cli.command()
def bug():
    raise RuntimeError("boom")

@cli.command()
def crash():
    open("/no/such/file")

@cli.command()
def ask():
    click.confirm("Really?", abort=True)

@cli.command()
def follow():
    yield {"n": 1}
    yield {"n": 2}

@cli.command()
@murli.about(destructive=True, plan=lambda: {"would_delete": 2})
def delete():
    return {"deleted": 2}

@cli.command()
@click.argument("seconds", type=float)
def wait(seconds):
    time.sleep(seconds)

@cli.command()
def child():
    return murli.run([sys.executable, "-c", "print(input())"], input="tea").stdout

@cli.command()
def written():
    return murli.write_file("note.txt", "tea")

@cli.command()
def read():
    return sys.stdin.read()

murli.enable(cli, name="weak", tool_version="1.0")
cli()
"""

ARGPARSE = """
import argparse, murli
parser = argparse.ArgumentParser(prog="hello")
parser.add_argument("--name", default="world")
murli.enable(parser)
args = parser.parse_args()
print("Hello", args.name)
"""

TYPER = """
import typer, murli
app = typer.Typer()

@app.command()
def hello(name: str = "world") -> dict[str, str]:
    return {"hello": name}

murli.enable(app)
app()
"""

CLIENT = """
import asyncio, sys, time
from murli.client import AsyncTool, Limits, Tool

tool = Tool([sys.executable, sys.argv[1]], contract="murli", limits=Limits(seconds=20.0))
print(tool.call("show").data)
print(tool.call("read", stdin=b"tea " * 50_000).data == "tea " * 50_000)
print(tool.call("crash").problem.kind)
print([item["n"] for item in tool.stream("follow", stream=True)])
began = time.monotonic()
quick = Tool([sys.executable, sys.argv[1]], contract="murli", limits=Limits(seconds=1.5))
print(quick.call("wait", 30.0).problem.kind, time.monotonic() - began < 15)
print(asyncio.run(AsyncTool([sys.executable, sys.argv[1]], contract="murli").call("show")).data)
"""


@pytest.fixture
def weak(tmp_path: Path) -> list[str]:
    return script(tmp_path, CLICK)


def call(argv: list[str], *words: str, stdin: bytes | None = None, contract: str = "") -> Run:
    """Run a tool on a system without what only POSIX has."""
    home = Path(argv[1]).parent
    env = environment(PYTHONPATH=WEAK, HOME=str(home), MURLI_CONTRACT=contract or None)
    return run(argv, *words, env=env, cwd=home, stdin=stdin)


def test_the_system_is_weak(tmp_path: Path) -> None:
    """What is tested here really runs without fork, locks, alarms and poll."""
    source = """
import json, os, select, signal
print(json.dumps([hasattr(os, "fork"), hasattr(signal, "SIGALRM"), hasattr(select, "poll")]))
try:
    import fcntl
except ImportError:
    print("no fcntl")
"""
    done = call(script(tmp_path, source))
    assert done.out == "[false, false, false]\nno fcntl\n"


def test_no_other_module_imports_what_only_posix_has() -> None:
    """Modules that only POSIX has are imported in murli.platform, and nowhere else."""
    source = REPOSITORY / "src" / "murli"
    for path in source.rglob("*.py"):
        if path.is_relative_to(source / "platform"):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module or ""]
            assert not POSIX_ONLY & set(names), f"{path}:{getattr(node, 'lineno', 0)}"


@pytest.mark.parametrize("contract", ["murli", "agent-spec-2"])
def test_answers_and_errors(weak: list[str], contract: str) -> None:
    """Results, printed text, streams, crashes, wrong calls and prompts are answered as ever."""
    key = "result" if contract == "murli" else "data"
    assert call(weak, "show", contract=contract).document[key] == [{"id": 1}, {"id": 2}]
    assert "hello" in json.dumps(call(weak, "printed", contract=contract).document[key])
    assert [line["n"] for line in call(weak, "follow", "--stream").lines[:2]] == [1, 2]
    codes = {"crash": 5, "delte": 1 if contract == "murli" else 2, "ask": 1}
    for words, code in codes.items():
        done = call(weak, words, contract=contract)
        if contract == "murli" or words != "ask":
            assert done.code == code, done
        text = done.out or done.err
        assert json.loads(text[text.index("{") :])


def test_variables_are_text(tmp_path: Path) -> None:
    """Where the environment is text and its names are in capitals, secrets in it are masked."""
    source = """
import os, click, murli

@click.command()
@click.option("--token", envvar="APP_TOKEN")
def cli(token):
    print("token", token, os.environ["site"])

murli.enable(cli)
cli()
"""
    argv = script(tmp_path, source)
    login = "https://ann:hunter2hunter2@example.org/"
    env = environment(PYTHONPATH=WEAK, HOME=str(tmp_path), APP_TOKEN="s3cr3t-s3cr3t", SITE=login)
    done = run(argv, env=env, cwd=tmp_path)
    assert done.code == 0, done
    assert "token" in json.dumps(done.document["result"])
    assert "s3cr3t-s3cr3t" not in done.out + done.err
    assert "hunter2hunter2" not in done.out + done.err


def test_much_printed_text(weak: list[str]) -> None:
    """Printed text too long to be held as a whole is answered without pread, to its last line."""
    lines = 200_000
    result = call(weak, "much", str(lines), contract="murli").document["result"]
    assert len(result["lines"]) == lines
    assert result["lines"][-1].startswith(f"line {lines - 1} ")


def test_tracebacks_are_kept(weak: list[str]) -> None:
    """A traceback is kept in a file without open folders and owners; the oldest make room."""
    for _ in range(22):
        error = call(weak, "bug").error
    path = re.search(r"is in (\S+\.txt);", error["suggestion"])
    assert path
    kept = Path(path[1])
    assert kept.is_relative_to(Path(weak[1]).parent / ".local" / "state" / "murli" / "weak")
    assert "RuntimeError: boom" in kept.read_text(encoding="utf-8")
    assert len(list(kept.parent.iterdir())) == 20


def test_a_tool_in_the_process_of_its_test(tmp_path: Path) -> None:
    """Without fchdir a tool runs in the process of its test, which gets its folder back."""
    source = """
import os, click, murli
from murli.testing import run

@click.command()
def cli():
    return os.getcwd()

murli.enable(cli)
before = os.getcwd()
print(run(cli, cwd=os.path.dirname(before)).document["result"] == os.path.dirname(before))
print(os.getcwd() == before)
"""
    done = call(script(tmp_path, source))
    assert done.out == "True\nTrue\n", done


def test_a_reader_of_a_pipe_reads_nothing_else() -> None:
    """A pipe read on a thread goes on to be read where its number is now that of another file."""
    source, sink = os.pipe()
    other, other_sink = os.pipe()
    reader = PipeReader(source)
    try:
        os.write(other_sink, b"of another")
        os.dup2(other, source)
        for sent in (b"one", b"two"):
            os.write(sink, sent)
            assert _next_part(reader) == sent
        assert os.read(other, 100) == b"of another"
    finally:
        reader.stop()
        for descriptor in (source, sink, other, other_sink):
            os.close(descriptor)


def _next_part(reader: PipeReader) -> bytes:
    latest = time.monotonic() + 15
    while True:
        try:
            return reader.read()
        except BlockingIOError:
            assert time.monotonic() < latest
            time.sleep(0.01)


def test_descriptions(weak: list[str]) -> None:
    """Describe, --schema, help, doctor and AGENTS.md work."""
    names = [command["name"] for command in call(weak, "describe").document["commands"]]
    assert "delete" in names
    assert call(weak, "show", "--schema").document["safety"]["read_only"] is True
    assert "delete  # " in call(weak, "--help").out
    assert call(weak, "describe", "--agents-md").out.startswith("# AGENTS.md")
    assert call(weak, "doctor").code == 0


def test_the_guard_and_dry_runs(weak: list[str]) -> None:
    """A change is refused, planned, and made when it is confirmed."""
    assert call(weak, "delete").error["error"] == "confirmation_required"
    assert call(weak, "delete", "--dry-run").document["plan"] == {"would_delete": 2}
    assert call(weak, "delete", "--yes").document["result"] == {"deleted": 2}


def test_profiles(weak: list[str]) -> None:
    """Profiles are saved, listed and used; files are replaced as a whole."""
    assert call(weak, "profile", "save", "p", "region=us").code == 0
    assert call(weak, "profile", "list").document["result"]["profiles"] == ["p"]
    assert call(weak, "show", "--profile", "p").code == 0


def test_input_and_children(weak: list[str]) -> None:
    """Stdin is read, files are written, and other programs are run."""
    assert call(weak, "read", stdin=b"tea").document["result"] == "tea"
    assert call(weak, "child").document["result"].strip() == "tea"
    assert Path(call(weak, "written").document["result"]).read_text() == "tea"


def test_a_deadline_ends_the_call(weak: list[str]) -> None:
    """Without alarms the handler is not interrupted; the process ends with the same answer."""
    began = time.monotonic()
    done = call(weak, "wait", "30", "--timeout", "0.5")
    assert (done.code, done.error["error"]) == (4, "timeout")
    assert time.monotonic() - began < 15


def test_repeated_and_many_calls_say_what_is_missing(weak: list[str]) -> None:
    """A key for repeated calls is kept; what needs fork is refused in words, not by a crash."""
    key = ("delete", "--yes", "--idempotency-key", "k")
    first, again = (call(weak, *key, contract="agent-spec-2").document for _ in range(2))
    assert (first["ok"], again["meta"]["replayed"]) == (True, True)
    for words in (("exec",), ("show", "--until", "0.id=1")):
        done = call(weak, *words, stdin=b'{"_cmd": "show"}\n')
        assert done.code in (1, 2), done
        assert "fork" in json.dumps(done.error)


@pytest.mark.parametrize("source", [ARGPARSE, TYPER], ids=["argparse", "typer"])
def test_the_other_frameworks(tmp_path: Path, source: str) -> None:
    """A tool of argparse or typer answers, describes itself and explains a wrong call."""
    argv = script(tmp_path, source)
    assert "world" in json.dumps(call(argv).document["result"])
    assert call(argv, "describe").document["name"]
    assert call(argv, "--nme", "x").error["error"] == "flag_error"


def test_the_client(weak: list[str], tmp_path: Path) -> None:
    """The client calls, feeds, streams from and ends tools, also under an event loop."""
    done = call(script(tmp_path, CLIENT, "client.py"), weak[1])
    assert done.out.splitlines() == [
        "[{'id': 1}, {'id': 2}]",
        "True",
        "not_found",
        "[1, 2]",
        "timeout True",
        "[{'id': 1}, {'id': 2}]",
    ], done.err
