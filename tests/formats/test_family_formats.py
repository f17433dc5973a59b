"""How answers of the ResponseEnvelope contracts are written: json, jsonl, tsv, plain, table."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

import murli
from harness import ADAPTERS, environment, run, run_at_terminal, script, tool
from in_process import FAMILY, GIVEN, SHOPS, ask, make_tool
from murli.formats.tsv import render

pytestmark = [pytest.mark.adapters("argparse", "click"), pytest.mark.warm]

TOOLS = {contract: make_tool(contract) for contract in FAMILY}


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_a_format_is_chosen_on_any_command(tmp_path: Path, adapter: str) -> None:
    """--format stands anywhere: indented JSON, one line, rows, or what a person would see."""
    argv = script(tmp_path, SHOPS[adapter])
    env = environment(MURLI_CONTRACT="agent-spec-2")
    words = ["items", "--n", "2", "--fields", "id,name"]
    assert run(argv, *words, "--format", "json", env=env).out.startswith('{\n  "ok": true')
    line = run(argv, "--format=jsonl", *words, env=env)
    assert (line.out.count("\n"), line.document["data"][1]["id"]) == (1, 1)
    rows = run(argv, *words, "--format", "tsv", env=env)
    assert (rows.out, rows.err) == ("id\tname\n0\titem 0\n1\titem 1\n", "")
    if adapter != "argparse":  # there a handler shows what it likes
        table = run(argv, *words, "--format", "table", env=env)
        assert table.out == "id  name\n 0  item 0\n 1  item 1\n"


@pytest.mark.parametrize("contract", FAMILY)
def test_an_unknown_format_is_an_argument_error(contract: str) -> None:
    """What is no format is refused with those there are, before the handler runs."""
    GIVEN.clear()
    done = ask(TOOLS[contract], "give", "--format", "xml")
    assert done.code == (3 if contract == "response" else 2)
    error = done.document["error"]
    assert (error["code"], error["phase"]) == ("INVALID_FORMAT", "validation")
    if contract != "response":
        formats = ["json", "jsonl", "plain", "table", "tsv", "toon"]
        assert error["context"]["valid_values"] == formats


def test_in_revision_2_output_is_for_paths() -> None:
    """--output json is refused with the flag that chooses a format; the others still take it."""
    GIVEN["result"] = {"id": 1}
    for contract in ("response", "agent-spec-1.6"):
        assert ask(TOOLS[contract], "give", "--output", "ndjson").out.count("\n") == 1
        done = ask(TOOLS[contract], "give", "--output", "ndjson", "--format", "tsv")
        assert "cannot be combined" in done.document["error"]["message"]
    for value, instead in (("json", "json"), ("ndjson", "jsonl"), ("text", "plain")):
        done = ask(TOOLS["agent-spec-2"], "give", "--output", value)
        assert (done.code, done.document["error"]["suggestion"]) == (2, f"Use --format {instead}")
    done = ask(TOOLS["agent-spec-2"], "give", "--output", "notes.txt")
    assert (done.code, done.document["error"]["message"]) == (2, "Unknown option --output.")


def test_options_of_these_names_are_the_tools_own() -> None:
    """A command that defines --output keeps it, whatever the value."""
    env = environment(MURLI_CONTRACT="agent-spec-2")
    done = run(tool("tasks_click"), "task", "list", "--output", "csv", env=env)
    assert done.document["data"]["output"] == "csv"


@pytest.mark.parametrize("variable", ["TOOL_FORMAT", "MY_SHOP_FORMAT"])
def test_the_environment_says_how_answers_are_written(variable: str) -> None:
    """A variable of the tool's, or of all tools, is the default; what it cannot mean is told."""
    shop = click.Group("my-shop", commands=make_tool("agent-spec-2").commands)
    murli.enable(shop, name="my-shop", contract="agent-spec-2")
    GIVEN["result"] = [{"id": 1}]
    assert ask(shop, "give", **{variable: "tsv"}).out == "id\n1\n"
    assert ask(shop, "give", "--format", "jsonl", **{variable: "tsv"}).out.count("\n") == 1
    done = ask(shop, "give", **{variable: "yaml"}).document
    assert (done["data"], done["warnings"][0]["code"]) == ([{"id": 1}], "INVALID_SETTING")
    murli_tool = make_tool("murli")
    assert ask(murli_tool, "give", **{variable: "tsv"}).document["result"] == [{"id": 1}]


def test_the_older_revisions_call_the_variable_output() -> None:
    """<TOOL>_OUTPUT is a default format where it names one, and something else where not."""
    GIVEN["result"] = [{"id": 1}]
    # The tool of these tests is called tool.
    assert ask(TOOLS["agent-spec-1.6"], "give", TOOL_OUTPUT="tsv").out == "id\n1\n"
    done = ask(TOOLS["agent-spec-1.6"], "give", TOOL_OUTPUT="/tmp/x").document
    assert (done["data"], done["warnings"]) == ([{"id": 1}], [])
    assert ask(TOOLS["agent-spec-2"], "give", TOOL_OUTPUT="tsv").document["ok"]


def test_what_is_left_of_rows_is_told_on_stderr() -> None:
    """Rows have no place for pages and warnings: the rest, and what was left out, are logged."""
    GIVEN["result"] = [{"id": number} for number in range(30)]
    tool, words, rows = TOOLS["agent-spec-2"], ["give", "--format", "tsv"], []
    for _ in range(2):
        done = ask(tool, *words)
        rows += done.out.splitlines()[1:]
        told = [each["msg"] for each in done.logs]
        words = shlex.split(told[0].partition("rest: ")[2])[1:] if told else []
    assert rows == [str(number) for number in range(30)]
    assert words == []
    GIVEN["result"] = {"id": 1, "blob": "x" * 5000}
    done = ask(tool, "give", "--format", "tsv", "--max-bytes", "100")
    assert done.out == "id\t1\nblob\t\n"
    assert "blob (5,002 bytes) was left out" in done.logs[0]["msg"]


def test_rows_that_the_caller_has() -> None:
    """What rows are known by is on stderr; asked with that, there are none."""
    GIVEN["result"] = [{"id": 1}]
    told = ask(TOOLS["agent-spec-2"], "give", "--format=tsv", "--etag=").logs[0]["msg"]
    done = ask(TOOLS["agent-spec-2"], "give", "--format=tsv", "--etag", told.split()[1])
    assert (done.out, done.logs[0]["msg"]) == ("", f"{told}, not modified")


def test_rows_fit_as_well() -> None:
    """A cap in bytes is one on the rows; they are cut at the end of a line."""
    GIVEN["result"] = [{"id": number, "name": "é" * 10} for number in range(100)]
    done = ask(TOOLS["agent-spec-2"], "give", "--limit=0", "--format=tsv", "--max-bytes", "1000")
    assert 900 < len(done.stdout) <= 1000
    assert all(line.count("\t") == 1 for line in done.out.splitlines())


def test_errors_stay_documents_unless_text_was_asked_for(tmp_path: Path) -> None:
    """In tsv a failure is an envelope on stdout, in plain a sentence on stderr; one exit code."""
    argv = script(tmp_path, SHOPS["click"])
    env = environment(MURLI_CONTRACT="agent-spec-2")
    done = run(argv, "items", "--n", "x", "--format", "tsv", env=env)
    assert (done.code, done.document["error"]["phase"]) == (2, "validation")
    done = run(argv, "items", "--n", "x", "--format", "plain", env=env)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("Error: Invalid value")


def test_who_asks_for_text_may_ask_for_a_part(tmp_path: Path) -> None:
    """--format plain takes --limit and --fields; the rest is told on stderr and runs."""
    argv = script(tmp_path, SHOPS["click"])
    env = environment(MURLI_CONTRACT="agent-spec-2")
    done = run(argv, "items", "--fields=id", "--limit=2", "--n=3", "--format=plain", env=env)
    assert done.out == "id\n 0\n 1\n"
    rest = shlex.split(done.err.partition("rest: ")[2])
    assert run(argv, *rest[1:], env=env).out == "id\n 2\n"
    assert len(run(argv, "items", "--format=plain", env=env).out.splitlines()) == 46


def test_a_part_of_text_that_a_handler_writes_is_not_taken(tmp_path: Path) -> None:
    """What a command writes for people itself is whole, and that is said."""
    argv = script(tmp_path, SHOPS["argparse"].replace('success("",', 'success("text",'))
    env = environment(MURLI_CONTRACT="agent-spec-2")
    done = run(argv, "items", "--limit=2", "--format=plain", env=env)
    assert (done.out, done.code) == ("text\n", 0)
    assert "--limit had nothing to apply to: the command writes its own text" in done.err


def test_a_person_who_asks_for_a_format_gets_it(tmp_path: Path) -> None:
    """At a terminal --format json answers in JSON, as --output json does."""
    argv = script(tmp_path, SHOPS["click"])
    env = environment(MURLI_CONTRACT="agent-spec-2")
    done = run_at_terminal(argv, "items", "--n", "1", "--format", "jsonl", env=env)
    assert json.loads(done.out)["data"][0]["id"] == 0


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        ([], ""),
        ({}, ""),
        ([{"a": 1}, {"b": None, "a": True}], "a\tb\n1\t\ntrue\t"),
        (["x", 1.5], "value\nx\n1.5"),
        ([{"a": "tab\there\nand\\there"}], "a\ntab\\there\\nand\\\\there"),
        ([{"a": {"b": [1, "x"]}}], 'a\n{"b":[1,"x"]}'),
        ({"k": "v", "n": [1, 2]}, "k\tv\nn\t[1,2]"),
    ],
)
def test_rows(value: Any, text: str) -> None:
    """A header and a line for each item; keys and values where there is no list."""
    assert render(value) == text


@given(st.lists(st.fixed_dictionaries({"a": st.text(), "b": st.text()}), min_size=1))
def test_rows_can_be_read_back(items: list[dict[str, str]]) -> None:
    """Split at line breaks and tabs and unescaped, rows give the texts back."""
    escapes = {"t": "\t", "n": "\n", "r": "\r", "\\": "\\"}

    def read(cell: str) -> str:
        letters = iter(cell)
        return "".join(escapes[next(letters)] if char == "\\" else char for char in letters)

    header, *rows = render(items).split("\n")
    names = header.split("\t")
    assert [dict(zip(names, map(read, row.split("\t")), strict=True)) for row in rows] == items
