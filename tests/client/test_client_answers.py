"""How a call is written, and how its answer reads: by what the tool lists, without invention."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from client_fakes import Answer, Client, fake, murli_error, murli_ok, spec_error, spec_ok
from harness import environment
from murli.client import Done, RunInstead, Stop
from murli.client.explaining import explained_answer
from murli.client.stubs.names import Scope
from murli.client.stubs.types import Types

pytestmark = pytest.mark.usefixtures("own_places")

# The same command in three frameworks: a number with a long name, and one with a short name alone.
TOOLS = {
    "typer": """
import typer, murli

app = typer.Typer()

@app.command()
def logs(name: str, n: int = 5, m: int = typer.Option(1, "-m")):
    return {"n": n, "m": m}

@app.command()
def other(): ...
""",
    "click": """
import click, murli

@click.group()
def app(): ...

@app.command()
@click.argument("name")
@click.option("--n", type=int)
@click.option("-m", type=int)
def logs(name, n, m):
    return {"n": n, "m": m}
""",
    "argparse": """
import argparse, murli

app = argparse.ArgumentParser()
logs = app.add_subparsers(dest="command").add_parser("logs")
logs.add_argument("name")
logs.add_argument("--n", type=int)
logs.add_argument("-m", type=int)
""",
}
_RUN = """
murli.redirect(app, "log", "logs")
murli.enable(app, name="tool")
if isinstance(app, __import__("argparse").ArgumentParser):
    with murli.session(app) as (args, writer):
        writer.write_success("", {"n": args.n, "m": args.m})
else:
    app()
"""


@pytest.mark.parametrize(
    "adapter", ["click", "argparse", pytest.param("typer", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize(
    "contract",
    [
        "murli",
        "agent-spec-2",
        pytest.param("response", marks=pytest.mark.slow),
        pytest.param("agent-spec-1.6", marks=pytest.mark.slow),
    ],
)
def test_a_flag_of_one_letter_is_written_as_the_tool_lists_it(
    tmp_path: Path, adapter: str, contract: str
) -> None:
    """With two dashes where that is its name, and with one where it has no other."""
    script = tmp_path / "tool.py"
    script.write_text(TOOLS[adapter] + _RUN)
    tool = Client(adapter == "click", tmp_path / "state")(
        [sys.executable, str(script)],
        env=environment(MURLI_CONTRACT=contract),
        contract=contract,
    )
    for found in (
        tool.call("logs", "web", n=2, m=3),
        tool.stream("logs", "web", n=2, m=3)[1].response,
    ):
        assert found.data == {"n": 2, "m": 3}
        assert {"--n=2", "-m"} <= set(found.argv)
    # A command that has moved is followed under every contract, and remembered.
    moved = tool.run("log", "web", "--n=4")
    assert [type(each) for each in moved.decisions] == [RunInstead, Done]
    assert moved.argv[1] == "logs" and moved.data["n"] == 4
    assert len(tool.run("log", "web", "--n=4").decisions) == 1


def test_a_redirect_of_murli_is_a_field_and_never_prose(client: Client, tmp_path: Path) -> None:
    """A suggestion is advice for whoever reads it; only the field is followed, at its own code."""
    prose = murli_error(1, "command_renamed", suggestion="Run `tool search` instead.")
    one = fake(tmp_path, prose, murli_ok(1))
    assert isinstance(client(one, check=False).call("query").decisions[-1], Stop)
    away = {"command": "tool search", "permanent": True, "reason": "renamed"}
    elsewhere = fake(tmp_path, murli_error(2, "tool_error", redirect=away), murli_ok(1))
    assert isinstance(client(elsewhere, check=False).call("query").decisions[-1], Stop)
    moved = fake(tmp_path, murli_error(1, "command_renamed", redirect=away), murli_ok(1))
    for _ in range(2):
        assert client(moved, check=False).call("query").data == 1
    assert moved.calls == [["query"], ["search"], ["search"]]


@pytest.mark.parametrize("code", [1, 2, 3, 4, 5, 8, 9, 66, 75])
def test_a_foreign_exit_status_means_nothing_else(
    client: Client, tmp_path: Path, code: int
) -> None:
    """A status that a tool passes on, or that has no contract, is a failure and nothing more."""
    passed_on = murli_error(code, "execution_error", recoverable=False)
    for answer in (passed_on, Answer(b"", b"oh no\n", code)):
        found = client(fake(tmp_path, answer), check=False).call("go")
        assert (found.exit_code, found.problem.kind) == (code, "tool_error")
        assert [type(each) for each in found.decisions] == [Stop]
        told = explained_answer(answer.stdout, answer.stderr, code)
        assert "half done" not in told.rule
    plain = client(["ls"]).call("/nonexistent")
    assert "No such file" in plain.decisions[-1].reason
    assert "may have been done" not in plain.decisions[-1].reason


@pytest.mark.parametrize(
    ("answer", "line"),
    [
        (murli_ok({"a": "x" * 500}), "tool go: ok"),
        (murli_ok(1, message="Did\nit"), "tool go: ok: Did it"),
        (spec_error(5, "NOT_FOUND"), "tool go: failed (5): NOT_FOUND: It is NOT_FOUND."),
        (Answer(b"", b"ls: no\x1b[2J such\n", 2), "tool go: plain (2): ls: no such"),
        (murli_error(2, "e", message="m" * 900), "tool go: failed (2): e: " + "m" * 176),
    ],
)
def test_an_answer_prints_as_one_line(tmp_path: Path, answer: Answer, line: str) -> None:
    """What was called, what became of it, and why."""
    made = Client(False, tmp_path / "state")(fake(tmp_path, answer), check=False)
    assert str(made.call("go")) == line


def test_a_type_that_is_referred_to_keeps_its_name() -> None:
    """The name that a schema has for a type is better than one made of the command's."""
    types = Types(Scope())
    customer = {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}
    schema: Any = {
        "type": "array",
        "items": {"$ref": "#/$defs/Customer"},
        "$defs": {"Customer": customer},
    }
    assert types.of(schema, "CustomersListResult") == "\0list[Customer]"


_RETURNS = """
import click, murli

@click.group()
def cli(): ...

for name, value in {"lst": [1, {"a": 1}], "dct": {"a": [1]}, "empty": [], "nothing": None}.items():
    cli.command(name)(lambda value=value: value)
murli.enable(cli, name="cli")
cli()
"""


@pytest.mark.parametrize("contract", ["murli", "response", "agent-spec-1.6", "agent-spec-2"])
def test_a_stream_answered_in_one_document_has_its_items(
    client: Client, tmp_path: Path, contract: str
) -> None:
    """A command that returns its result whole streams the list that it is, or else one item."""
    script = tmp_path / "cli.py"
    script.write_text(_RETURNS)
    tool = client([sys.executable, str(script)], env=environment(MURLI_CONTRACT=contract))
    items, stream = tool.stream("lst")
    assert (items, stream.response.is_usable) == ([1, {"a": 1}], True)
    assert [tool.stream(name)[0] for name in ("dct", "empty", "nothing")] == [[{"a": [1]}], [], []]


@pytest.mark.parametrize(
    ("answer", "items"),
    [
        (spec_ok({"rows": [1, 2], "of": 9}, pagination={"returned": 2, "has_more": True}), [1, 2]),
        (spec_ok({"rows": [1, 2], "of": 9}), [{"rows": [1, 2], "of": 9}]),
        (spec_ok({"_summary": True}, items_emitted=0), []),
        (murli_ok({"count": 0}), []),
        (murli_ok("text"), ["text"]),
    ],
)
def test_only_a_page_is_taken_out_of_its_object(
    client: Client, tmp_path: Path, answer: Answer, items: list[Any]
) -> None:
    """The list in an object is its items where the tool says that it is a page of one."""
    assert client(fake(tmp_path, answer)).stream("list")[0] == items
