"""An answer that is not the whole says so, and how to get the rest; nothing is lost or cut."""

from __future__ import annotations

import json
import os
import shlex
import sys
from base64 import urlsafe_b64encode
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import murli
from harness import ADAPTERS, environment, run, run_at_terminal, script
from in_process import CONTRACTS, FAMILY, GIVEN, SHOPS, ask, make_tool
from murli.compact.cursors import cursor_at, offset_in
from murli.errors import AgentError
from murli.line.calls import mark_of

pytestmark = [pytest.mark.adapters("argparse", "click"), pytest.mark.warm]


def front_end(tmp_path: Path, source: str, name: str = "shop") -> dict[str, str]:
    """Install *source* under *name*; give an environment in which it can be called."""
    path = tmp_path / "bin" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!{sys.executable}\n{source}")
    path.chmod(0o755)
    return environment(PATH=f"{path.parent}{os.pathsep}{os.environ['PATH']}")


def follow(env: dict[str, str], contract: str, *words: str) -> tuple[list[Any], list[Any]]:
    """Run what each answer says until nothing is left; give all items, and the totals told."""
    env = env | {"MURLI_CONTRACT": contract}
    call, items = ["shop", *words], list[Any]()
    totals: list[Any] = []
    while call:
        assert len(totals) < 20, call
        done = run(call, env=env)
        assert done.code == 0, done.err
        items += done.document["result" if contract == "murli" else "data"]
        facts = done.document.get("page" if contract == "murli" else "meta", {})
        rest = facts.get("rest") or facts.get("truncation_hint") or ""
        totals.append(facts.get("total", facts.get("total_count")))
        call = shlex.split(rest)
    return items, totals


def test_a_list_command_gives_twenty_items_under_the_family() -> None:
    """A list ends after 20 items, and says how many there are; under murli it is whole."""
    GIVEN["result"] = [{"id": number} for number in range(45)]
    for contract in FAMILY:
        document = ask(make_tool(contract), "give").document
        assert [item["id"] for item in document["data"]] == list(range(20))
        meta = document["meta"]
        assert (meta["total_count"], meta["returned_count"]) == (45, 20)
        assert meta["truncation_hint"].startswith("tool give --limit 20 --cursor ")
    document = ask(make_tool("murli"), "give").document
    assert (len(document["result"]), "page" in document) == (45, False)
    assert len(ask(make_tool("agent-spec-2"), "give", "--limit", "0").document["data"]) == 45


def test_every_list_of_revision_2_says_which_part_it_is() -> None:
    """meta.pagination is there, with its five keys, also when nothing is left; not elsewhere."""
    tool = make_tool("agent-spec-2")
    for result in ([], [1, 2]):
        GIVEN["result"] = result
        assert ask(tool, "give").document["meta"]["pagination"] == {
            "total": len(result),
            "returned": len(result),
            "truncated": False,
            "has_more": False,
            "next_cursor": None,
        }
    GIVEN["result"] = {"id": 1}
    assert "pagination" not in ask(tool, "give").document["meta"]


@pytest.mark.parametrize(
    ("adapter", "contract"),
    [("argparse", "agent-spec-2"), ("click", "response"), ("typer", "agent-spec-1.6")],
)
def test_the_rest_is_a_call_that_runs(tmp_path: Path, adapter: str, contract: str) -> None:
    """Running what each answer tells, as it stands, gives every item once and then ends."""
    items, totals = follow(front_end(tmp_path, SHOPS[adapter]), contract, "items", "--fields=id")
    assert items == [{"id": number} for number in range(45)]
    assert totals[:2] == [45, 45]
    assert len(totals) == 3


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_under_murli_a_page_is_one_key(tmp_path: Path, adapter: str) -> None:
    """With --limit a murli answer has a page while something is left, and none at the end."""
    argv = script(tmp_path, SHOPS[adapter])
    first = run(argv, "items", "--n", "5", "--limit=3", "--fields", "id").document
    page = first.pop("page")
    assert (first["result"], page["total"], page["returned"]) == (
        [{"id": 0}, {"id": 1}, {"id": 2}],
        5,
        3,
    )
    assert list(page) == ["total", "returned", "next_cursor", "rest"]
    words = shlex.split(page["rest"])
    assert words[:-1] == shlex.split("shop items --n 5 --fields id --limit 3 --cursor")
    assert words[-1] == page["next_cursor"]
    last = run(argv, *words[1:]).document
    assert (last["result"], "page" in last) == ([{"id": 3}, {"id": 4}], False)


ODD = """
import click, murli
@click.group()
def shop(): pass
@shop.command()
@click.option("--tag", multiple=True)
@click.argument("words", nargs=-1)
def echo(tag, words):
    return [*tag, *words] * 3
@shop.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.argument("words", nargs=-1)
def send(words):
    return list(words) * 3
@shop.command()
@click.option("--limit", type=int, default=30)
def own(limit):
    return list(range(limit))
murli.enable(shop)
shop()
"""


SPELLINGS = [
    (["echo", "--limit", "2", "--", "--limit", "7"], ["--limit", "7"]),
    (
        ["echo", "--tag", "--limit", "it's", "a b", "$HOME", "", "--limit=5"],
        ["--limit", "it's", "a b", "$HOME", ""],
    ),
    (["--limit", "3", "send", "ls", "--limit", "2"], ["ls", "--limit", "2"]),
]


@pytest.mark.parametrize(("words", "items"), SPELLINGS)
def test_the_rest_is_spelled_for_its_command(
    tmp_path: Path, words: list[str], items: list[str]
) -> None:
    """Our flags are put where they are ours: before --, and before what is passed on."""
    found, totals = follow(front_end(tmp_path, ODD), "murli", *words)
    assert found == items * 3
    assert len(totals) == 3


def test_a_command_with_a_limit_of_its_own_pages_in_its_own_way(tmp_path: Path) -> None:
    """Where a command defines --limit we do not cut by number."""
    env = front_end(tmp_path, ODD) | {"MURLI_CONTRACT": "agent-spec-2"}
    document = run(["shop", "own"], env=env).document
    assert document["data"] == list(range(30))
    assert document["meta"]["pagination"]["has_more"] is False
    assert run(["shop", "own", "--limit", "2"], env=env).document["data"] == [0, 1]


@pytest.mark.parametrize("contract", CONTRACTS)
def test_a_wrong_cursor_is_an_argument_error(contract: str) -> None:
    """What is no cursor, or another call's, is refused before the handler runs."""
    tool = make_tool(contract)
    foreign = cursor_at(3, mark_of(["tool", "give", "--other"]))
    for cursor in ("x", "", "eyJ9", "%%%", foreign):
        GIVEN.clear()  # a handler that ran would fail
        done = ask(tool, "give", "--cursor", cursor)
        assert done.code == {"murli": 1, "response": 3}.get(contract, 2)
        if contract == "murli":
            assert (done.error["error"], done.error["field"]) == ("invalid_cursor", "cursor")
        else:
            error = done.document["error"]
            assert (error["code"], error["phase"]) == ("INVALID_CURSOR", "validation")


@pytest.mark.parametrize("flag", ["--limit", "--max-bytes"])
def test_a_limit_is_a_number(flag: str) -> None:
    """Anything but a whole number from 0 on is refused."""
    for value in ("x", "-1", "1.5", "", "٣", "9" * 30):
        done = ask(make_tool("murli"), "give", f"{flag}={value}")
        assert (done.code, done.error["error"]) == (1, "flag_error"), value


@given(st.integers(0, 2**53), st.lists(st.text()))
def test_a_cursor_comes_back(offset: int, words: list[str]) -> None:
    """A cursor is url-safe text that gives its offset back to the call it belongs to."""
    cursor = cursor_at(offset, mark_of(words))
    assert set(cursor) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
    assert offset_in(cursor, mark_of(words)) == offset
    with pytest.raises(AgentError, match="another call"):
        offset_in(cursor, mark_of([*words, "more"]))


def encoded(told: str | bytes) -> str:
    """Give *told* as a cursor would hold it."""
    return urlsafe_b64encode(told if isinstance(told, bytes) else told.encode()).decode()


documents = st.recursive(st.none() | st.integers() | st.text(), st.lists).map(json.dumps)
offsets = st.sampled_from(["-1", "true", "1.0", '"1"', "9" * 30, "1e3", "NaN", "[" * 9000])


@given(
    st.one_of(
        st.text(),
        st.binary().map(encoded),
        documents.map(encoded),
        offsets.map(lambda at: encoded(f'{{"at":{at},"of":"mark"}}')),
    )
)
def test_no_cursor_raises_anything_else(garbage: str) -> None:
    """Whatever is given as a cursor is refused in one way."""
    with pytest.raises(AgentError) as refusal:
        offset_in(garbage, "mark")
    assert refusal.value.error_type == "invalid_cursor"


@pytest.mark.parametrize("contract", CONTRACTS)
def test_no_more_is_made_than_is_said(contract: str) -> None:
    """A generator gives one item more than the page holds, and is closed; nobody has counted."""
    tool = make_tool(contract)
    GIVEN.clear()
    document = ask(tool, "count", "--limit", "3").document
    payload, facts = ("result", "page") if contract == "murli" else ("data", "meta")
    assert [item["n"] for item in document[payload]] == [0, 1, 2]
    assert (GIVEN["made"], GIVEN["closed"]) == (4, True)
    assert document[facts].get("total", document[facts].get("total_count")) is None
    rest = document[facts].get("rest") or document[facts]["truncation_hint"]
    GIVEN["end"] = 5
    last = ask(tool, *shlex.split(rest)[1:]).document
    assert [item["n"] for item in last[payload]] == [3, 4]
    assert "rest" not in last.get("page", {}) and "truncation_hint" not in last.get("meta", {})


def test_a_generator_without_end_has_an_end_under_the_family() -> None:
    """Twenty items are taken unasked; with --limit 0, what fits."""
    GIVEN.clear()
    assert len(ask(make_tool("agent-spec-2"), "count").document["data"]) == 20
    done = ask(make_tool("agent-spec-2"), "count", "--limit", "0", "--max-bytes", "5000")
    meta = done.document["meta"]
    assert len(done.stdout) <= 5000
    assert (meta["pagination"]["has_more"], meta["truncated"]) == (True, True)


@pytest.mark.parametrize("contract", ["murli", "agent-spec-2"])
def test_what_is_behind_a_stream_is_a_page(contract: str) -> None:
    """A stream that --limit ends says how to go on; --fields holds for each of its items."""
    tool = make_tool(contract)
    GIVEN.clear()
    done = ask(tool, "count", "--stream", "--limit", "2", "--fields", "n")
    assert [line.get("n") for line in done.lines] == [0, 1, None]
    last = done.lines[-1]
    rest = last["page"]["rest"] if contract == "murli" else last["truncation_hint"]
    document = ask(tool, *shlex.split(rest)[1:]).document
    assert document["result" if contract == "murli" else "data"] == [{"n": 2}, {"n": 3}]


def test_a_page_behind_the_end_is_empty() -> None:
    """A cursor behind the last item gives no item and no error."""
    tool = make_tool("agent-spec-2")
    GIVEN["result"] = list(range(30))
    cursor = ask(tool, "give").document["meta"]["pagination"]["next_cursor"]
    GIVEN["result"] = list(range(10))
    document = ask(tool, "give", "--cursor", cursor).document
    assert (document["data"], document["meta"]["pagination"]["has_more"]) == ([], False)


def test_what_an_author_declares_about_a_list() -> None:
    """Paging gives the limit and the order, under murli too, and finds the list in an object."""
    GIVEN["result"] = {"of": "x", "tasks": [{"id": 3}, {"id": 1}, {}, {"id": 2}]}
    lists = murli.Paging(limit=2, sort_key="id")
    document = ask(make_tool("murli", lists=lists), "give").document
    assert document["result"] == {"of": "x", "tasks": [{"id": 1}, {"id": 2}]}
    assert (document["page"]["total"], document["page"]["returned"]) == (4, 2)
    rest = shlex.split(document["page"]["rest"])[1:]
    document = ask(make_tool("murli", lists=lists), *rest).document
    assert document["result"] == {"of": "x", "tasks": [{"id": 3}, {}]}
    # Who says only that it is a list leaves the number to the contract.
    GIVEN["result"] = list(range(30))
    assert len(ask(make_tool("murli", lists=True), "give").document["result"]) == 30
    assert len(ask(make_tool("response", lists=True), "give").document["data"]) == 20


def test_what_changes_something_is_never_given_in_parts() -> None:
    """A mutating command is not asked twice: its answer is whole, and has no cursor."""
    GIVEN["result"] = list(range(30))
    tool = make_tool("agent-spec-2", mutating=True)
    document = ask(tool, "give", "--yes", "--limit", "2").document
    assert document["data"] == list(range(30))
    assert document["warnings"][0]["code"] == "PAGING_NOT_APPLIED"
    own = cursor_at(2, mark_of(["tool", "give", "--yes"]))
    done = ask(tool, "give", "--yes", "--cursor", own)
    assert (done.code, done.document["error"]["code"]) == (2, "INVALID_CURSOR")


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_a_person_sees_none_of_it(tmp_path: Path, adapter: str) -> None:
    """At a terminal our flags are unknown options like any other, and lists are whole."""
    argv = script(tmp_path, SHOPS[adapter])
    env = environment(MURLI_CONTRACT="agent-spec-2")
    told = run_at_terminal(argv, "items", "--limit", "3", env=env)
    other = run_at_terminal(argv, "items", "--qwxyz", "3", env=env)
    assert (told.code, told.out) == (other.code, other.out)
    # typer colours the dashes apart
    assert told.err == other.err.replace("qwxyz", "limit")
    if adapter != "argparse":  # there a handler shows what it likes
        assert "item 44" in run_at_terminal(argv, "items", env=env).out


@pytest.mark.fresh
def test_a_plain_call_loads_nothing_of_this(tmp_path: Path) -> None:
    """Under murli, who asks for no part loads nothing that could give one."""
    source = SHOPS["click"].replace(
        "shop(prog",
        "import atexit, sys\natexit.register(lambda: "
        "print(*(m for m in sys.modules if m.startswith('murli')), file=sys.stderr))\nshop(prog",
    )
    env = environment(MURLI_TEST=None)  # which would load what checks documents
    loaded = set(run(script(tmp_path, source), "items", env=env).err.split())
    assert "murli.call" in loaded
    assert not {each for each in loaded if each.startswith(("murli.answer.", "murli.line"))}
    assert "murli.call.own_flags" not in loaded
