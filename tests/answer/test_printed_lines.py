"""Printed text of many lines: each is a line of the document, and together they are the text."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from harness import ADAPTERS, environment, run, script
from murli.client import Tool
from murli.client.response import Response
from murli.testing import run as run_tool

pytestmark = pytest.mark.warm

WORK = """
import sys
TEXTS = {
    "few": "n\\n" * 10,
    "eleven": "n\\n" * 11,
    "one": "only\\n",
    "csv": "a,b\\n1,2\\n" * 6,
    "crlf": "a\\r\\nb\\r\\n" * 6,
    "blank": "\\n\\nfirst" + "\\n" * 9 + "third\\n\\n",
    "odd": 'a "b"\\n\\\\n \\u00e9\\t\\u2028c\\n' * 6,
    "many": "".join(f"line {n}\\n" for n in range(100)),
}
def work(what):
    if what == "fails":
        print("n\\n" * 11)
        raise ValueError("no")
    if what == "returns":
        return "\\n".join("n" * 11)
    sys.stdout.buffer.write(TEXTS[what].encode())
"""
TOOLS = {
    "click": "import click\n@click.command()\n@click.argument('what')\ndef tool(what):\n"
    "    return work(what)\nmurli.enable(tool)\ntool()\n",
    "typer": "import typer\ntool = typer.Typer()\n@tool.command()\ndef main(what: str):\n"
    "    return work(what)\nmurli.enable(tool)\ntool()\n",
    "argparse": "import argparse\np = argparse.ArgumentParser()\np.add_argument('what')\n"
    "murli.enable(p)\nwork(p.parse_args().what)\n",
}
# What is printed, and the text that the answer holds of it.
WHOLE = {
    "few": "\n".join("n" * 10),
    "eleven": "\n".join("n" * 11),
    "one": "only",
    "csv": "a,b\n1,2\n" * 6,
    "crlf": "a\r\nb\r\n" * 6,
    "blank": "\n\nfirst" + "\n" * 9 + "third",
    "odd": 'a "b"\n\\n é\t\u2028c\n' * 5 + 'a "b"\n\\n é\t\u2028c',
    "many": "\n".join(f"line {n}" for n in range(100)),
}


def program(folder: Path, adapter: str = "click") -> list[str]:
    return script(folder, "import murli\n" + WORK + TOOLS[adapter])


@pytest.mark.parametrize("adapter", ADAPTERS)
@pytest.mark.parametrize("contract", ["murli", "agent-spec-2"])
def test_the_lines_are_exactly_the_text(tmp_path: Path, adapter: str, contract: str) -> None:
    """Joined by line feeds the lines are the text; a few lines are the string they were."""
    argv, env = program(tmp_path, adapter), environment(MURLI_CONTRACT=contract)
    key, name = ("result", "") if contract == "murli" else ("data", "text")
    for what in (
        ("eleven", "one", "few", "csv", "crlf", "blank", "odd")
        if adapter == "click"
        else ("eleven",)
    ):
        found = run(argv, what, env=env).document[key]
        if what in ("one", "few"):
            assert found == ({name: WHOLE[what]} if name else WHOLE[what])
        else:
            assert (list(found), "\n".join(found["lines"])) == (["lines"], WHOLE[what])


def test_line_tools_read_what_a_pipe_has(tmp_path: Path) -> None:
    """`grep`, `head` and `wc -l` find one line of the document for each line that was printed."""
    command = subprocess.list2cmdline(program(tmp_path))
    for pipe, expected in (
        (f"{command} many | grep -c 'line [0-9]'", "100"),
        (f"{command} many | grep 'line 42\"'", '"line 42",'),
        (f"{command} eleven | wc -l", "21"),
    ):
        done = subprocess.run(
            ["sh", "-c", pipe], capture_output=True, env=environment(), text=True, check=False
        )
        assert done.stdout.strip() == expected, done.stderr


def test_lines_are_paged_and_have_no_fields(tmp_path: Path) -> None:
    """`--limit` and the cursor count lines, a size cuts between them, and `--fields` is refused."""
    argv = program(tmp_path)
    for contract in ("murli", "response"):

        def answer(*words: str, contract: str = contract) -> Response[Any]:
            return run_tool(argv, *words, contract=contract).response

        first = answer("many", "--limit", "60")
        assert (first.part.total, first.part.returned) == (100, 60)
        second = answer("many", "--limit", "60", "--cursor", first.part.next_cursor)
        assert f"{first.text}\n{second.text}" == WHOLE["many"]
        cut = answer("many", "--max-bytes", "1500")
        assert 10 < len(cut.data["lines"]) < 100
        assert WHOLE["many"].startswith(f"{cut.text}\n")
        unchanged = answer("eleven", "--fields", "words")
        assert unchanged.text == WHOLE["eleven"]


def test_text_is_read_in_either_form(tmp_path: Path) -> None:
    """A client and a test read the printed text without looking at the form it came in."""
    argv = program(tmp_path)
    assert Tool(argv).run("eleven").text == WHOLE["eleven"]
    for contract in ("murli", "agent-spec-1.6"):
        for what in ("one", "eleven", "crlf"):
            assert run_tool(argv, what, contract=contract).text == WHOLE[what]


def test_a_failure_quotes_lines(tmp_path: Path) -> None:
    """What a failed command had printed is in lines as well, and text where a contract wants it."""
    argv = program(tmp_path)
    assert run(argv, "fails").error["result"] == {"lines": ["n"] * 11}
    document = run(argv, "fails", env=environment(MURLI_CONTRACT="response")).document
    assert "n\nn\nn" in document["error"]["detail"]


def test_what_is_returned_or_declared_a_string_stays_one(tmp_path: Path) -> None:
    """A text that a handler returns, or whose command declares a string, is that string."""
    argv = program(tmp_path)
    assert run(argv, "returns").document["result"] == "\n".join("n" * 11)
    declared = script(
        tmp_path,
        "import click, murli\n@click.command()\ndef tool(): print('\\n'.join('n' * 11))\n"
        "murli.annotate(tool, murli.Metadata(returns=murli.ReturnSchema(type='string')))\n"
        "murli.enable(tool)\ntool()\n",
        "declared.py",
    )
    assert run(declared).document["result"] == "\n".join("n" * 11)


def test_a_secret_in_two_lines_is_hidden(tmp_path: Path) -> None:
    """A secret that holds a line break is found though its lines stand each for itself."""
    source = (
        "import click, murli\n@click.command()\n@click.option('--token', envvar='TOKEN')\n"
        "def tool(token): print(f'begin\\n{token}' + '\\n.' * 9)\nmurli.enable(tool)\ntool()\n"
    )
    done = run(script(tmp_path, source), env=environment(TOKEN="s3cr\net-0f-m1ne"))
    assert (b"s3cr" in done.stdout, b"et-0f" in done.stdout) == (False, False)
    assert done.document["result"]["lines"][0] == "begin"


def test_much_text_goes_out_line_by_line(tmp_path: Path) -> None:
    """Megabytes of lines go from the file to the reader, a line each, and are the same text."""
    source = (
        "import argparse, murli\np = argparse.ArgumentParser()\nmurli.enable(p)\np.parse_args()\n"
        "for n in range(120_000): print(f'{n} line \\\\n \"of\" text' if n % 3 else 'x' * 90)\n"
    )
    argv = script(tmp_path, source)
    expected = "\n".join(f'{n} line \\n "of" text' if n % 3 else "x" * 90 for n in range(120_000))
    for words in ((), ("--output", "ndjson")):
        done = run(argv, *words)
        assert "\n".join(done.document["result"]["lines"]) == expected
        assert done.out.count("\n") == (1 if words else 120_010)
