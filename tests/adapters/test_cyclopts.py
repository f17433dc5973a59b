"""cyclopts: an app that was enabled answers to both audiences."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness import run, run_at_terminal, script

pytestmark = pytest.mark.warm

APP = """
import os
from typing import Literal
import cyclopts, murli

app = cyclopts.App(name="books", help="Keep books.", version="3.2.1")
order = cyclopts.App(name="order", help="Orders.")
app.command(order)

@app.command
def show(name: str, *, deep: bool = False, limit: int = 3, style: Literal["a", "b"] = "a"):
    "Show one book."
    return {"book": name, "deep": deep, "limit": limit, "style": style}

@order.command(name=["remove", "rm"])
@murli.about(destructive=True)
def remove(*names: str):
    "Remove orders."
    print("removed", *names)

@order.command
def delete(name: str): print("deleted", name)

@app.command
async def wait(name: str): return [name]

@app.command
def fail(kind: str, *, token: str = ""):
    if kind == "missing": raise murli.AgentError.not_found("no such book", "Name another.")
    if kind == "crash": raise ValueError("boom")
    if kind == "status": raise SystemExit(7)
    if kind == "number": return 4
    print("token", token)

if not os.environ.get("PLAIN"):
    murli.enable(app)
app()
"""


@pytest.fixture(scope="module")
def books(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    return script(tmp_path_factory.mktemp("cyclopts"), APP)


def test_what_is_returned_or_printed_is_the_result(books: list[str]) -> None:
    """Of plain and async functions, with flags of ours among the words."""
    done = run(books, "show", "emma", "--limit", "2", "--output", "ndjson")
    expected = {"book": "emma", "deep": False, "limit": 2, "style": "a"}
    assert [each["result"] for each in done.lines] == [expected]
    assert done.lines[0]["tool_version"] == "3.2.1"
    assert run(books, "wait", "emma").document["result"] == ["emma"]
    assert run(books, "order", "delete", "tea").document["result"] == "deleted tea"
    answer = run(books, "show", "emma", "--fields", "book").document
    assert answer["result"] == {"book": "emma"}


@pytest.mark.parametrize(
    ("words", "error", "field"),
    [
        (("shwo",), "command_error", None),
        (("show",), "command_error", "name"),
        (("show", "emma", "--limit", "x"), "flag_error", "limit"),
        (("show", "emma", "--nope"), "flag_error", None),
        (("show", "emma", "--style", "z"), "flag_error", "style"),
        (("fail", "missing"), "not_found", None),
        (("fail", "crash"), "execution_error", None),
        (("fail", "status"), "execution_error", None),
        (("fail", "number"), "execution_error", None),
    ],
)
def test_what_goes_wrong_is_a_failure(
    books: list[str], words: tuple[str, ...], error: str, field: str | None
) -> None:
    """What cyclopts finds wrong, what a function raises, and the status it exits with."""
    done = run(books, *words)
    assert (done.stdout, done.error["error"]) == (b"", error)
    assert done.error.get("field") == field
    assert done.code == done.error["code"] != 0


def test_the_guard_asks_the_app_which_command_runs(books: list[str]) -> None:
    """A declared change is confirmed, by whichever of its names the command is called."""
    for name in ("remove", "rm"):
        refused = run(books, "order", name, "tea")
        assert (refused.stdout, refused.error["error"]) == (b"", "confirmation_required")
        assert run(books, "order", name, "tea", "--yes").document["result"] == "removed tea"


def test_it_describes_itself(books: list[str]) -> None:
    """Every command with its options; the names of an alias are no commands of their own."""
    described = run(books, "describe").document
    show = next(each for each in described["commands"] if each["name"] == "show")
    assert [each["name"] for each in show["arguments"]] == ["name"]
    flags = {each["name"]: each for each in show["flags"]}
    assert (flags["limit"]["type"], flags["limit"]["default"]) == ("int", 3)
    assert flags["style"]["enum"] == ["a", "b"]
    assert flags["deep"]["negation"] == "no-deep"
    assert run(books, "show", "--schema").document["name"] == "show"
    assert "destructive" in str(run(books, "order", "remove", "--schema").document["safety"])


def test_a_secret_is_not_echoed(books: list[str]) -> None:
    """The value of an option that is named like one is taken out of what is printed."""
    done = run(books, "fail", "no", "--token", "hunter2hunter2")
    assert done.code == 0
    assert "hunter2" not in done.out


@pytest.mark.parametrize(
    "words", [("show", "emma"), ("--help",), ("show", "--help"), ("shwo",), ("fail", "status"), ()]
)
def test_a_person_sees_the_same(
    books: list[str], words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At a terminal nothing changes."""
    after = run_at_terminal(books, *words)
    monkeypatch.setenv("PLAIN", "1")
    before = run_at_terminal(books, *words)
    assert (after.stdout, after.stderr, after.code) == (before.stdout, before.stderr, before.code)
