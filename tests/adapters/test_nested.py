"""Enabled tools that are called while another call runs: one owner, one document."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness import environment, run, run_at_terminal, script

pytestmark = pytest.mark.warm

TOOL = """
import argparse, os, sys
import click, typer
import murli

def enable(app):
    if not os.environ.get("PLAIN"):
        murli.enable(app)

@click.group()
def inner():
    pass

@inner.command()
@murli.about(destructive=True)
@click.argument("name")
def drop(name):
    click.echo(f"dropped {name}")

@inner.command()
@click.argument("name")
def show(name):
    click.echo(f"shown {name}")
    if name == "boom":
        raise RuntimeError("boom")

app = typer.Typer()

@app.command("show")
def show_typed(name: str):
    print(f"shown {name}")

@app.command("drop")
@murli.about(destructive=True)
def drop_typed(name: str):
    print(f"dropped {name}")

below = argparse.ArgumentParser(prog="tool")
commands = below.add_subparsers(dest="command", required=True)
commands.add_parser("show").add_argument("name")
murli.about(commands.add_parser("drop"), destructive=True)
commands.choices["drop"].add_argument("name")

def parse(words=None):
    found = below.parse_args(words)
    print({"show": "shown", "drop": "dropped"}[found.command], found.name)

CALLED = {"click": inner, "typer": app, "argparse": parse}[os.environ["INNER"]]
enable({"argparse": below}.get(os.environ["INNER"], CALLED))

def call(words):
    print("begun")
    CALLED(words)

@click.command(context_settings={"ignore_unknown_options": True, "help_option_names": []})
@click.argument("words", nargs=-1, type=click.UNPROCESSED)
def outer(words):
    call(list(words))
    print("ended")

def by_click():
    enable(outer)
    outer()

def by_argparse():
    parser = argparse.ArgumentParser(prog="tool", add_help=False)
    parser.add_argument("words", nargs=argparse.REMAINDER)
    enable(parser)
    call(parser.parse_args().words)

def by_program():
    if os.environ.get("PLAIN"):
        return call(None)
    with murli.program("tool"):
        call(None)

{"click": by_click, "argparse": by_argparse, "program": by_program}[os.environ["OUTER"]]()
"""

OUTERS, INNERS = ("click", "argparse", "program"), ("click", "typer", "argparse")


@pytest.fixture(scope="module")
def tool(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    return script(tmp_path_factory.mktemp("nested"), TOOL)


@pytest.mark.parametrize("inner", INNERS)
@pytest.mark.parametrize("outer", OUTERS)
def test_one_document_holds_everything(tool: list[str], outer: str, inner: str) -> None:
    """What is printed around a tool that is called inside, and by it, is one result."""
    env = environment(OUTER=outer, INNER=inner)
    plain = run(tool, "show", "x", env=env | {"PLAIN": "1"})
    done = run(tool, "show", "x", env=env)
    assert (done.code, done.err) == (plain.code, plain.err) == (0, "")
    assert done.document["result"] == plain.out.rstrip("\n")
    # Also where the call asked for text.
    assert run(tool, "--output", "text", "show", "x", env=env).out == plain.out


@pytest.mark.parametrize("inner", INNERS)
@pytest.mark.parametrize("outer", OUTERS)
def test_the_guard_stands_inside(tool: list[str], outer: str, inner: str) -> None:
    """A destructive command that is called inside is refused, and runs when it is confirmed."""
    env = environment(OUTER=outer, INNER=inner)
    refused = run(tool, "drop", "x", env=env)
    assert (refused.out, refused.code) == ("", 1)
    assert '"error": "confirmation_required"' in refused.err
    assert "begun" in refused.err
    assert "dropped" not in refused.err
    other = run(tool, "drop", "x", env=env | {"MURLI_CONTRACT": "agent-spec-2"})
    assert (other.code, other.document["error"]["code"]) == (2, "CONFIRMATION_REQUIRED")
    confirmed = run(tool, "drop", "x", "--yes", env=env)
    assert "dropped x" in confirmed.document["result"]


@pytest.mark.parametrize("inner", INNERS)
@pytest.mark.parametrize("outer", OUTERS)
def test_failures_inside_are_the_calls(tool: list[str], outer: str, inner: str) -> None:
    """A mistyped option of a tool that is called inside is one usage error."""
    env = environment(OUTER=outer, INNER=inner)
    wrong = run(tool, "show", "x", "--nope", env=env)
    assert (wrong.out, wrong.code) == ("", wrong.error["code"])
    assert json.loads(wrong.err)["error"] == "flag_error"  # and nothing stands beside it
    assert "--nope" in wrong.error["message"]
    if "click" in (inner, outer) and inner != "argparse":
        assert wrong.error["usage"].endswith(" NAME")


@pytest.mark.parametrize("outer", OUTERS)
def test_an_exception_inside_is_the_calls(tool: list[str], outer: str) -> None:
    """What a handler inside raises is the one failure, with what was printed by then."""
    done = run(tool, "show", "boom", env=environment(OUTER=outer, INNER="click"))
    assert (done.out, done.code, done.error["message"]) == ("", 2, "boom")
    assert done.error["result"] == "begun\nshown boom"


def test_what_a_tool_inside_returns_is_the_result(tmp_path: Path) -> None:
    """What an enabled tool returns to no one is the result; that of another is printed."""
    tool = script(
        tmp_path,
        """
import click, murli

@click.command()
@click.argument("name")
def inner(name):
    if name == "wrong":
        raise click.ClickException("no such thing")
    return {"name": name}

@click.command()
@click.argument("names", nargs=-1)
def outer(names):
    for name in names:
        try:
            inner([name])
        except SystemExit as end:
            if end.code:
                raise

murli.enable(inner)
murli.enable(outer)
outer()
""",
    )
    assert run(tool, "a").document["result"] == {"name": "a"}
    both = run(tool, "a", "b")
    assert (both.document["result"], both.err.split()) == ({"name": "a"}, ["name", "b"])
    assert run_at_terminal(tool, "a", "b").out.count("name") == 2
    wrong = run(tool, "wrong")
    assert json.loads(wrong.err)["message"] == "no such thing"


@pytest.mark.parametrize("words", [["show", "x"], ["drop", "x"], ["show", "x", "--nope"]])
@pytest.mark.parametrize("outer", OUTERS)
def test_a_person_does_not_notice(tool: list[str], outer: str, words: list[str]) -> None:
    """At a terminal tools that call one another print what they printed."""
    env = environment(OUTER=outer, INNER="click")
    shown = run_at_terminal(tool, *words, env=env)
    assert shown == run_at_terminal(tool, *words, env=env | {"PLAIN": "1"})


def test_the_guard_stands_before_words_of_the_programs_own(tmp_path: Path) -> None:
    """A destructive command that a program calls another parser with is refused unconfirmed."""
    tool = script(
        tmp_path,
        """
import argparse, murli

first = argparse.ArgumentParser(prog="tool")
first.add_argument("name")
other = argparse.ArgumentParser(prog="other")
drop = other.add_subparsers(dest="command").add_parser("drop")
drop.add_argument("name")
murli.about(drop, destructive=True)
murli.enable(first)
murli.enable(other)
print(first.parse_args())
print(other.parse_args(["drop", "everything"]))
""",
    )
    refused = run(tool, "x")
    assert (refused.out, refused.code) == ("", 1)
    assert '"error": "confirmation_required"' in refused.err
    assert "command='drop'" in run(tool, "x", "--yes").document["result"]


def test_a_second_call_of_the_program_is_a_part(tmp_path: Path) -> None:
    """A program that calls a tool again, with words of its own, is answered once."""
    again = script(
        tmp_path,
        """
import click, murli

@click.command()
@click.argument("name")
def greet(name):
    click.echo(f"hello {name}")

murli.enable(greet)
try:
    greet()
except SystemExit as end:
    if end.code:
        raise
greet(["again"])
""",
    )
    assert run(again, "ann").document["result"] == "hello ann\nhello again"
    assert run(again, "--nope").error["error"] == "flag_error"
