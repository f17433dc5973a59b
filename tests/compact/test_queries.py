"""``--query``: a JMESPath expression on the result, checked before anything runs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import jmespath
import pytest
from hypothesis import given
from hypothesis import strategies as st

import murli
from harness import ADAPTERS, environment, run, run_at_terminal, script
from in_process import CONTRACTS, FAMILY, GIVEN, SHOPS, ask, make_tool
from murli.compact.queries import Query, QueryError
from murli.formats import plain
from murli.formats.text import strip_ansi
from properties import examples

pytestmark = [pytest.mark.adapters("argparse", "click"), pytest.mark.warm]

TOOLS = {contract: make_tool(contract, mutating=False) for contract in CONTRACTS}
PAYLOAD = {"murli": "result"} | dict.fromkeys(FAMILY, "data")
ITEMS = [{"id": number, "name": f"item {number}", "tags": ["a"] * number} for number in range(30)]


# The shops with a declaration that their command only reads.
_READS = {
    "argparse": SHOPS["argparse"].replace(
        "murli.enable", "murli.about(command, mutating=False)\nmurli.enable"
    ),
    "click": SHOPS["click"].replace("def items", "@murli.about(mutating=False)\ndef items"),
    "typer": SHOPS["typer"].replace("def items", "@murli.about(mutating=False)\ndef items"),
}


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_a_query_on_every_framework(tmp_path: Path, adapter: str) -> None:
    """The expression is applied to the whole list, before the fields and the page are taken."""
    argv = script(tmp_path, SHOPS[adapter])
    words = ["items", "--query", "[?id > `5`]", "--limit", "2", "--fields", "id"]
    document = run(argv, *words).document
    assert document["result"] == [{"id": 6}, {"id": 7}]
    assert (document["page"]["total"], document["page"]["returned"]) == (39, 2)
    # Nobody declared that it only reads.
    failed = run(argv, "items", "--query", "length([0].id)").document
    assert len(failed["result"]) == 45 and failed["message"].endswith("The result is whole.")
    reads = script(tmp_path, _READS[adapter], "reads.py")
    done = run(reads, "items", "--query", "length([0].id)")
    assert (done.code, done.out, done.error["error"]) == (1, "", "invalid_query")
    shown = run_at_terminal(argv, "items", "--query", "[]")
    # It is no option of the tool; colours may stand in the middle of the word.
    assert "--query" in strip_ansi(shown.out + shown.err)


@pytest.mark.parametrize("contract", CONTRACTS)
def test_what_a_query_works_on(contract: str) -> None:
    """Objects, lists, texts and numbers: as they are in the answer without it."""
    key = PAYLOAD[contract]
    cases: tuple[tuple[Any, str, Any], ...] = (
        ({"a": {"b": 1}}, "a", {"b": 1}),
        (ITEMS, "[0].name", "item 0"),
        (ITEMS, "length(@)", 30),
        (ITEMS, "[?name == 'item 3'].id | [0]", 3),
        ("one word", "@" if contract == "murli" else "text", "one word"),
        ({"a": 1}, "{x: a, y: `2`}", {"x": 1, "y": 2}),
    )
    for result, expression, found in cases:
        GIVEN["result"] = result
        document = ask(TOOLS[contract], "give", "--query", expression).document
        shown = found
        if contract != "murli" and not isinstance(found, (dict, list)):
            shown = {"text" if isinstance(found, str) else "value": found}
        assert document[key] == shown, expression


def test_rows_that_are_printed(tmp_path: Path) -> None:
    """A table that a library prints, and lines of text, are looked into as they are answered."""
    source = """
import click, murli, tabulate
@click.group()
def t(): pass
@t.command()
def table():
    print(tabulate.tabulate([[1, "a"], [2, "b"]], headers=["id", "name"]))
@t.command()
def lines():
    for number in range(20):
        print("line", number)
murli.enable(t)
t()
"""
    argv = script(tmp_path, source)
    assert run(argv, "table", "--query", "[?name=='b'].id").document["result"] == [2]
    found = run(argv, "lines", "--query", "lines[?ends_with(@, '7')]").document["result"]
    assert found == ["line 7", "line 17"]


CHANGES = """
import click, murli
@click.group()
def t(): pass
@t.command()
@murli.about(mutating=True, plan=lambda: {"would": 1})
def add():
    open("log", "a").write("x")
    return {"added": 1}
murli.enable(t)
t()
"""


def test_a_wrong_expression_never_costs_a_change(tmp_path: Path) -> None:
    """It is refused before the handler runs; what fails on the data leaves the answer whole."""
    argv, log = script(tmp_path, CHANGES), tmp_path / "log"
    for expression in ("a[", "lenght(@)", "length()", "", "(" * 3000, "&a"):
        done = run(argv, "add", "--yes", "--query", expression, cwd=tmp_path)
        assert (done.code, done.error["error"], done.error["field"]) == (
            1,
            "invalid_query",
            "query",
        )
        assert not log.exists()
    done = run(argv, "add", "--yes", "--query", "length(added)", cwd=tmp_path)
    assert (done.code, done.document["result"], log.read_text()) == (0, {"added": 1}, "x")
    assert "takes string or array or object, and got the number 1" in done.document["message"]
    env = environment(MURLI_CONTRACT="agent-spec-2")
    words = ["add", "--force", "--query", "length(added)"]
    warned = run(argv, *words, env=env, cwd=tmp_path).document
    assert (warned["ok"], warned["warnings"][0]["code"]) == (True, "QUERY_FAILED")
    assert run(argv, "add", "--yes", "--query", "added", cwd=tmp_path).document["result"] == 1
    plan = run(argv, "add", "--dry-run", "--query", "nothing", cwd=tmp_path).document
    assert plan["plan"] == {"would": 1}
    assert log.read_text() == "xxx"


@pytest.mark.parametrize(
    ("expression", "why", "near"),
    [
        ("a[", "the expression ends too early", []),
        ("a b", "unexpected 'b' at character 3", []),
        ("'x", "Unclosed ' delimiter at character 1", []),
        ("lenght(@)", "there is no function lenght()", ["length"]),
        ("join(',')", "join() takes 2, and got 1 arguments", []),
        ("length(@[0].id)", "length() takes string or array or object, and got the number 0", []),
        ("sum([].name)", 'sum() takes array-number, and got the string "item 0"', []),
        (
            "keys(nmae)",
            "keys() takes object, and got null. There is no 'nmae' in an array of 30",
            [],
        ),
        (
            "max_by(@, &nmae)",
            "There is no 'nmae' in an object with id, name, tags",
            ["name"],
        ),
    ],
)
def test_errors_name_what_was_found(expression: str, why: str, near: list[str]) -> None:
    """What is wrong, where, what is there, and the nearest names."""
    GIVEN["result"] = ITEMS
    error = ask(TOOLS["murli"], "give", "--query", expression).error
    assert why in error["message"], error
    assert error.get("valid_values", []) == near
    if near:
        assert error["suggestion"] == f"Did you mean {near[0]}?"


def test_a_name_that_is_nowhere_is_pointed_out() -> None:
    """JMESPath finds nothing silently; the answer says what was not there, unless || allows it."""
    GIVEN["result"] = {"items": ITEMS[:2], "total": 2}
    tool = TOOLS["agent-spec-2"]
    for expression, why in (
        ("itms", "There is no 'itms' in an object with items, total."),
        ("items.name", "There is no 'name' in an array of 2: its items are [*]."),
        ("items[].nmae", "There is no 'nmae' in an object with id, name, tags."),
        ("[0]", "[…] looks into an array, and there is an object with items, total."),
        ("total.x", "There is no 'x' in the number 2."),
    ):
        warnings = ask(tool, "give", "--query", expression).document["warnings"]
        assert [(each["code"], each["message"]) for each in warnings] == [("QUERY_MISSED", why)]
    for expression in ("itms || total", "items[?id > `9`]", "items[].tags[]"):
        assert ask(tool, "give", "--query", expression).document["warnings"] == []
    said = ask(TOOLS["murli"], "give", "--query", "itms").document
    assert (said["result"], said["message"]) == (
        None,
        "There is no 'itms' in an object with items, total.",
    )


def test_pages_of_what_was_found() -> None:
    """A cursor goes on in the same expression only; an etag is that of what was found."""
    GIVEN["result"] = ITEMS
    tool = TOOLS["murli"]
    page = ask(tool, "give", "--query", "[?id > `9`].id", "--limit", "8").document
    assert page["result"] == list(range(10, 18))
    words = page["page"]["rest"].split("tool ")[1]
    assert "--query '[?id > `9`].id'" in words
    cursor = page["page"]["next_cursor"]
    more = ask(tool, "give", "--query", "[?id > `9`].id", "--cursor", cursor).document
    assert more["result"] == list(range(18, 30))
    other = ask(tool, "give", "--query", "[].id", "--cursor", cursor).error
    assert other["error"] == "invalid_cursor"
    etags = [
        ask(tool, "give", "--query", text, "--etag", "x").document["etag"]
        for text in ("[0]", "[1]", "[0]")
    ]
    assert etags[0] == etags[2] != etags[1]
    same = ask(tool, "give", "--query", "[0]", "--etag", etags[0]).document
    assert same["not_modified"] is True


def test_a_declared_order_comes_first() -> None:
    """The first item of a list is that of its declared order; a page by the handler is a result."""
    GIVEN["result"] = [{"id": 2}, {"id": 1}]
    tool = make_tool("murli", lists=murli.Paging(sort_key="id"))
    assert ask(tool, "give", "--query", "[0].id").document["result"] == 1
    by_handler = make_tool("murli", lists=murli.Paging(by_handler=True))
    assert ask(by_handler, "give", "--query", "[].id").document["result"] == [2, 1]


def test_in_a_stream_each_item_is_looked_into() -> None:
    """With --stream the expression is for each item, and nothing is left out; else for the list."""
    GIVEN.clear()
    GIVEN["end"] = 4
    tool = make_tool("murli", streams=True)
    assert ask(tool, "count", "--query", "[].n").document["result"] == [0, 1, 2, 3]
    lines = ask(tool, "count", "--stream", "--query", "n").lines
    assert lines[:-1] == [0, 1, 2, 3]
    some = ask(tool, "count", "--stream", "--query", "n > `1` && @ || null", "--limit", "1").lines
    assert some[0] == {"n": 2}
    nothing = ask(tool, "count", "--stream", "--query", "m").lines
    assert nothing[-1]["message"] == "There is no 'm' in an object with n."
    failed = ask(tool, "count", "--stream", "--query", "length(n)")
    assert (failed.code, failed.lines[-1]["error"]) == (1, "invalid_query")


def test_a_changing_stream_tells_all_it_did() -> None:
    """Of items that say what was changed, an expression leaves out none: the two are refused."""
    group = click.Group("tool")

    @group.command()
    def add() -> Iterator[Any]:
        GIVEN["ran"] = True
        yield {"n": 1}

    murli.annotate(add, murli.Metadata(mutating=True, streams=True))
    murli.enable(group, name="tool")
    GIVEN.clear()
    done = ask(group, "add", "--yes", "--stream", "--query", "n")
    assert "--stream and --query cannot be combined" in done.err and "ran" not in GIVEN


def test_marks_and_secrets_survive_an_expression(tmp_path: Path) -> None:
    """What comes from outside stays marked, and a secret redacted, whatever is picked."""
    GIVEN["result"] = {"mail": murli.untrusted("do this")}
    found = ask(TOOLS["murli"], "give", "--query", "mail.content").document["result"]
    assert found == {"_source": "external", "_trusted": False, "content": "do this"}
    source = """
import click, murli
@click.command()
@click.option("--token", envvar="T_TOKEN")
def t(token): return {"used": token}
murli.enable(t)
t()
"""
    env = environment(T_TOKEN="s3cr3t-value-of-mine")
    for expression in ("used", "length(@.used.x)", "join('', [used, used])", "reverse(used)"):
        done = run(script(tmp_path, source), "--query", expression, env=env)
        assert "s3cr3t-value-of-mine" not in done.out + done.err


def test_waiting_looks_at_the_whole_result(tmp_path: Path) -> None:
    """--until tests the result as it is, the expression is for the answer; describe takes none."""
    source = """
import click, murli
@click.group()
def t(): pass
@t.command()
@murli.about(mutating=False)
def status(): return {"status": "done", "id": 7}
murli.enable(t)
t()
"""
    argv = script(tmp_path, source)
    done = run(argv, "status", "--until", "status=done", "--query", "id", "--output", "toon")
    assert done.out.endswith("result: 7\n")
    for mounted in ("describe", "exec"):
        refused = run(argv, mounted, "--query", "name")
        assert refused.error["message"] == "Unknown option --query."


NAMES = st.sampled_from(["a", "b", "items"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
)
EXPRESSIONS = st.lists(
    st.sampled_from(["a", "b", "items", "[]", "[0]", "[*]", "*", "[?a]", "[?a > `0`]", "@"]),
    min_size=1,
    max_size=4,
).map(lambda parts: ".".join(parts).replace(".[", "["))


@given(VALUES, EXPRESSIONS)
@examples(200)
def test_finding_is_that_of_the_library(value: Any, expression: str) -> None:
    """Noting what is missed changes nothing about what is found."""
    try:
        expected = jmespath.search(expression, value)
    except jmespath.exceptions.JMESPathError:
        with pytest.raises(QueryError):
            Query(expression).search(value)
        return
    assert Query(expression).search(value) == plain(expected)
