"""What a command prints is its result: values, text and bytes, as a whole or line by line."""

from __future__ import annotations

import base64
import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from harness import ADAPTERS, environment, run, script

pytestmark = pytest.mark.warm

# Every adapter and every contract, and all combinations of them where there is time.
USUAL = [("argparse", "response"), ("click", "agent-spec-1.6"), ("typer", "agent-spec-2")]
SOME = [
    pytest.param(adapter, contract, marks=[] if pair in USUAL else pytest.mark.slow)
    for adapter in ADAPTERS
    for contract in ("response", "agent-spec-1.6", "agent-spec-2")
    for pair in [(adapter, contract)]
]

# One command, which prints the bytes it is given, in the ways that programs have.
CORE = """
import os, subprocess, sys, time
def work(what):
    if what == "slowly":
        print("one")
        subprocess.run(["sh", "-c", "echo two; sleep 0.1; echo three"])
        sys.stdout.write("10%\\r50%\\r100%\\n")
        os.write(1, b"four\\n")
        time.sleep(60)
    else:
        sys.stdout.buffer.write(eval(what))
"""
TOOLS = {
    "click": "import click\n@click.command()\n@click.argument('what')\n"
    "def cli(what): work(what)\nmurli.enable(cli)\ncli()",
    "typer": "import typer\napp = typer.Typer()\n@app.command()\n"
    "def cli(what: str): work(what)\nmurli.enable(app)\napp()",
    "argparse": "import argparse\np = argparse.ArgumentParser()\np.add_argument('what')\n"
    "murli.enable(p)\nwork(p.parse_args().what)",
}


def program(folder: Path, adapter: str = "argparse") -> list[str]:
    return script(folder, "import murli\n" + CORE + TOOLS[adapter], f"{adapter}_tool.py")


def binary(data: bytes) -> dict[str, Any]:
    value = base64.b64encode(data).decode()
    return {"type": "binary", "encoding": "base64", "value": value, "size_bytes": len(data)}


PRINTED: list[tuple[bytes, Any]] = [
    (b"words\n", "words"),
    (b"a\nb\n", "a\nb"),
    (b"", None),
    (b"\n\n", None),
    # JSON, and JSON Lines
    (b'{"a": 1}\n', {"a": 1}),
    (b'{"a": 1}\n{"a": 2}\n', [{"a": 1}, {"a": 2}]),
    (b'{"a": 1}\r\n\n[2]\n\n', [{"a": 1}, [2]]),
    (b'{"a": 1}\nwords\n', '{"a": 1}\nwords'),
    (b'{"a": 1}\n2\n', '{"a": 1}\n2'),
    (b'{"a": NaN}\n{"a": 2}\n', '{"a": NaN}\n{"a": 2}'),
    (b"1\n2\n", "1\n2"),
    # line ends
    (b"a,b\r\n1,2\r\n", "a,b\r\n1,2\r\n"),
    (b"a\r\n\x1b[1mb\x1b[m\n", "a\r\nb\n"),
    (b"words\n\n\n", "words"),
    (b"a,b\n1,2\n", "a,b\n1,2\n"),
    (b'a\tb\n1\t"x\ty"\n\n', 'a\tb\n1\t"x\ty"\n\n'),
    (b"Hello, Ada\nHello, Bob\n", "Hello, Ada\nHello, Bob"),
    # progress
    (b"10%\r50%\r100%", "100%"),
    (b"10%\r50%\r100%\ndone\n", "done"),
    # no text
    ("café\n".encode("latin-1"), binary(b"caf\xe9\n")),
    (b"a\0b\n", binary(b"a\0b\n")),
    (b"\x89PNG\r\n\x1a\n\0\xff", binary(b"\x89PNG\r\n\x1a\n\0\xff")),
]


@pytest.mark.parametrize(("printed", "result"), PRINTED)
def test_what_is_printed_is_the_result(tmp_path: Path, printed: bytes, result: Any) -> None:
    """Values are values, text is text with its line ends, and bytes are bytes."""
    done = run(program(tmp_path), repr(printed))
    assert (done.code, done.document["result"]) == (0, result)
    assert b"50%" not in done.stderr


@pytest.mark.parametrize(("adapter", "contract"), SOME)
def test_every_contract_keeps_what_is_printed(tmp_path: Path, adapter: str, contract: str) -> None:
    """Lines of JSON, CRLF and bytes are the same in every contract, and untouched as text."""
    argv, env = program(tmp_path, adapter), environment(MURLI_CONTRACT=contract)
    for printed, data in (
        (b"a,b\r\n1,2\r\n", {"text": "a,b\r\n1,2\r\n"}),
        (b'{"a": 1}\n{"a": 2}\n', [{"a": 1}, {"a": 2}]),
        (b"caf\xe9\n", binary(b"caf\xe9\n")),
    ):
        assert run(argv, repr(printed), env=env).document["data"] == data
    words = ("--format", "plain") if contract == "agent-spec-2" else ("--output", "text")
    assert run(argv, repr(b"caf\xe9\0\r\n"), *words, env=env).stdout == b"caf\xe9\0\r\n"


def test_one_line_is_a_list_where_that_is_declared(tmp_path: Path) -> None:
    """A single line of JSON Lines is a list for a command that declares one."""
    source = (
        "import click, murli\n"
        "@click.group()\ndef cli(): pass\n"
        "def lines(): click.echo('{\"a\": 1}')\n"
        "for name, metadata in {\n"
        "    'array': murli.Metadata(returns=murli.ReturnSchema(type='array')),\n"
        "    'paged': murli.Metadata(lists=murli.Paging(limit=5)),\n"
        "    'neither': murli.Metadata(),\n"
        "}.items(): murli.annotate(cli.command(name)(lines), metadata)\n"
        "murli.enable(cli)\ncli()\n"
    )
    argv = script(tmp_path, source)
    results = [run(argv, name).document["result"] for name in ("array", "paged", "neither")]
    assert results == [[{"a": 1}], [{"a": 1}], {"a": 1}]


def test_a_failure_tells_the_end_of_what_was_printed(tmp_path: Path) -> None:
    """Of many bytes that are no text, a failed command tells the last ones."""
    source = (
        "import sys, argparse, murli\n"
        "p = argparse.ArgumentParser()\nmurli.enable(p)\np.parse_args()\n"
        "sys.stdout.buffer.write(b'\\xff' * 40000)\nsys.exit(1)\n"
    )
    output = run(script(tmp_path, source)).error["result"]
    assert output == {"omitted_bytes": 40000 - 32768, "end": binary(b"\xff" * 32768)}


# -- as it comes -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("adapter", "contract"), [("argparse", "murli"), *SOME])
def test_lines_are_out_before_the_process_is_killed(
    tmp_path: Path, adapter: str, contract: str
) -> None:
    """--stream gives each line as an event at once, those of children too, and no redrawn one."""
    process = subprocess.Popen(
        [*program(tmp_path, adapter), "slowly", "--stream"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        env=environment(MURLI_CONTRACT=contract),
    )
    assert process.stdout is not None
    lines = [json.loads(process.stdout.readline()) for _ in range(5)]
    process.send_signal(signal.SIGKILL)
    assert process.stdout.read() == b""
    process.wait(10)
    process.stdout.close()
    progress = lines.pop(3)
    assert progress == {"event": "progress", "message": "100%"}
    wanted = [{"event": "line", "data": each} for each in ("one", "two", "three", "four")]
    if contract == "agent-spec-2":
        assert [line.pop("_seq") for line in lines] == [1, 2, 3, 4]
    assert lines == wanted


def test_the_last_line_of_a_process_is_out(tmp_path: Path) -> None:
    """A line is out when it is printed, whatever happens in the next moment."""
    dies = "print('last words') or os.kill(os.getpid(), 9)"
    for buffers in ("", "1"):
        done = run(program(tmp_path), dies, "--stream", env=environment(PYTHONUNBUFFERED=buffers))
        assert (done.code, done.lines) == (-9, [{"event": "line", "data": "last words"}])


STREAMED: list[tuple[bytes, list[Any]]] = [
    (b"", []),
    (b"a\n\nb", [{"event": "line", "data": "a"}, {"event": "line", "data": ""},
                 {"event": "line", "data": "b"}]),
    (b'{"a": 1}\n{"a": 2}\n', [{"a": 1}, {"a": 2}]),
    (b'[{"a": 1}, {"a": 2}]\n', [{"a": 1}, {"a": 2}]),
    (b"[1]\n[2]\n", [[1], [2]]),
    (b'[\n  {"a": 1},\n  {"a": 2}\n]\n', [{"a": 1}, {"a": 2}]),
    (b"[INFO] up\n", [{"event": "line", "data": "[INFO] up"}]),
    (b"{\nup\n", [{"event": "line", "data": "{"}, {"event": "line", "data": "up"}]),
    (b"caf\xe9\nup\n", [{"event": "line", "data": binary(b"caf\xe9")},
                        {"event": "line", "data": "up"}]),
    (b'{"status": "ok", "schema_version": "1.0"}\n',
     [{"event": "item", "data": {"status": "ok", "schema_version": "1.0"}}]),
]  # fmt: skip


@pytest.mark.parametrize(("printed", "items"), STREAMED)
def test_which_events_lines_are(tmp_path: Path, printed: bytes, items: list[Any]) -> None:
    """A JSON object is itself, the items of a printed array are items, other lines are text."""
    *found, end = run(program(tmp_path), repr(printed), "--stream").lines
    assert (found, end["result"]) == (items, {"count": len(items)})


SPEAKING = """
import click, murli, os, sys, time
@click.group()
def cli(): pass
@cli.command()
def rows():
    print("first")
    return [{"a": 1}]
@cli.command()
def made():
    print("noise")
    yield {"a": 1}
@cli.command()
def status() -> int:
    print("first")
    return 0
@cli.command()
@murli.pass_writer
def answers(writer):
    for number in range(500): os.write(1, b"line\\n")
    writer.write_success("Done", {"b": 2})
@cli.command()
def fails():
    print("first")
    sys.exit(7)
@cli.command()
@click.option("--token")
def tells(token):
    for part in (token[:5], token[5:]):
        sys.stdout.write(part)
        sys.stdout.flush()
        time.sleep(0.05)
    print(" told", input("Name? "))
murli.enable(cli)
cli()
"""


def test_a_handler_that_prints_and_answers(tmp_path: Path) -> None:
    """Lines come before what the handler answers with; noise beside its own items is none."""
    argv, line = script(tmp_path, SPEAKING), {"event": "line", "data": "first"}

    def streamed(*words: str) -> tuple[list[Any], Any]:
        *items, end = run(argv, *words, "--stream", stdin=b"Ada\n").lines
        return items, end

    items, end = streamed("rows")
    assert (items, end["result"]) == ([line, {"a": 1}], {"count": 2})
    items, end = streamed("made")
    assert (items, end["result"]) == ([{"a": 1}], {"count": 1})
    items, end = streamed("status")
    assert (items, end["result"]) == ([line], {"count": 1})
    items, end = streamed("answers")
    assert (len(items), end["result"]) == (500, {"b": 2})
    items, end = streamed("fails")
    assert (items, end["status"], end["code"]) == ([line], "error", 7)
    items, end = streamed("tells", "--token", "s3cr3t-v4lue")
    assert items == [{"event": "line", "data": "[REDACTED] told Ada"}]


def test_a_limit_leaves_lines_out(tmp_path: Path) -> None:
    """--limit ends the lines, and tells how many there are and how to go on."""
    argv = program(tmp_path)
    *items, end = run(argv, repr(b"a\nb\nc\n"), "--stream", "--limit", "2").lines
    assert [item["data"] for item in items] == ["a", "b"]
    assert (end["page"]["total"], end["page"]["returned"]) == (3, 2)


def test_a_reader_of_lines_may_go_away(tmp_path: Path) -> None:
    """Who reads no more lines ends the program, quietly and soon."""
    argv = program(tmp_path)
    began = time.monotonic()
    endless = "__import__('itertools').takewhile(lambda each: print('x') is None, iter(int, 1))"
    process = subprocess.Popen(
        [*argv, f"bytes(list({endless}))", "--stream"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    )
    assert process.stdout is not None
    assert process.stderr is not None
    os.read(process.stdout.fileno(), 100)
    process.stdout.close()
    assert (process.wait(20), process.stderr.read()) == (0, b"")
    process.stderr.close()
    assert time.monotonic() - began < 15
