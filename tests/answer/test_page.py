"""What an answer says of the part it is, be it cut by us or paged by its handler."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from documents import FAMILY
from harness import ADAPTERS, Run, environment, run, run_at_terminal, script

pytestmark = [pytest.mark.adapters("argparse", "click"), pytest.mark.warm]

CONTRACTS = ["murli", *FAMILY]
CORE = """
import murli
ROWS = [{"id": number, "name": f"row {number}"} for number in range(7)]
LISTS = murli.Metadata(lists=murli.Paging(limit=3), flag_annotations={
    "q": murli.FlagAnnotation(profileable=True)})
PAGES = murli.Metadata(lists=murli.Paging(limit=3, by_handler=True))

def pages():
    writer = murli.get_writer()
    start = int(writer.cursor() or 0)
    end = start + (writer.limit() or len(ROWS))
    follows = str(end) if end < len(ROWS) else ""
    page = murli.Page(len(ROWS), next_cursor=follows)
    writer.write_success("", ROWS[start:end], page=page)

def own(cursor):
    end = int(cursor) + 4
    page = murli.Page(has_more=end < 7, next_cursor=str(end) if end < 7 else "")
    murli.get_writer().write_success("Some rows", {"rows": ROWS[int(cursor):end]}, page=page)
"""
TOOLS = {
    "click": CORE
    + """
import click
@click.group()
def cli(): pass
murli.enable(cli, name="rows")
@cli.command()
@click.option("--q", default="")
def ls(q): return ROWS
murli.annotate(ls, LISTS)
murli.annotate(cli.command("pages")(pages), PAGES)
cli.command("own")(click.option("--cursor", default="0")(own))
cli()
""",
    "typer": CORE
    + """
import typer
app = typer.Typer()
murli.enable(app, name="rows")
@app.command()
def ls(q: str = ""): return ROWS
murli.annotate(ls, LISTS)
app.command("pages")(pages)
murli.annotate(pages, PAGES)
@app.command("own")
def owned(cursor: str = "0"): own(cursor)
app()
""",
    "argparse": CORE
    + """
import argparse
parser = argparse.ArgumentParser(prog="rows")
commands = parser.add_subparsers(dest="command", required=True)
ls = commands.add_parser("ls")
ls.add_argument("--q", default="")
murli.annotate(ls, LISTS)
murli.annotate(commands.add_parser("pages"), PAGES)
commands.add_parser("own").add_argument("--cursor", default="0")
murli.enable(parser)
with murli.session(parser) as (args, writer):
    if args.command == "ls":
        writer.write_success("", ROWS)
    elif args.command == "pages":
        pages()
    else:
        own(args.cursor)
""",
}


def tool(tmp_path: Path, adapter: str = "click") -> list[str]:
    return script(tmp_path, TOOLS[adapter])


def spoken(contract: str, **changes: str) -> dict[str, str]:
    return environment(MURLI_CONTRACT=contract, **changes)


def part_of(done: Run, contract: str) -> tuple[Any, dict[str, Any]]:
    """Return the items of an answer, and what it says of them, by the names of one contract."""
    document = done.document
    if contract == "murli":
        return document["result"], document.get("page", {})
    meta = document["meta"]
    told = {"total": meta.get("total_count"), "returned": meta.get("returned_count")}
    cursor = (meta.get("pagination") or {}).get("next_cursor") or meta.get("cursor")
    told |= {"next_cursor": cursor, "rest": meta.get("truncation_hint")}
    return document["data"], {key: value for key, value in told.items() if value is not None}


def test_a_cut_list_says_so_before_it_begins(tmp_path: Path) -> None:
    """The page stands before the result, and says in words what nobody else says."""
    argv = tool(tmp_path)
    document = run(argv, "ls").document
    names = ["status", "schema_version", "tool_version", "message", "page", "result"]
    assert list(document) == names
    assert document["message"] == f"3 of 7; the rest: {document['page']['rest']}"
    # What the author says is kept, and a whole list says nothing.
    assert run(argv, "own").document["message"] == "Some rows"
    whole = run(argv, "ls", "--limit", "0").document
    assert (whole["message"], "page" in whole) == ("", False)


WORDS = ["--q", "a b'c --", "--profile", "odd one"]
WAYS = [
    *(("murli", words) for words in ([], ["--output", "text"], ["--output=ndjson"])),
    ("murli", ["--output", "text", "--fields", "id"]),
    ("murli", ["--max-bytes", "400", "--agent"]),
    *(("agent-spec-2", ["--format", name]) for name in ("json", "jsonl", "tsv", "plain", "table")),
    ("agent-spec-2", ["--format=tsv", "--fields=id", "--limit=2"]),
    ("agent-spec-1.6", ["--max-bytes", "1200", "--fields=id"]),
    ("response", ["--output", "text", "--limit", "4"]),
]


@pytest.mark.parametrize(("contract", "words"), WAYS)
def test_the_call_for_the_rest_works_as_it_stands(
    tmp_path: Path, contract: str, words: list[str]
) -> None:
    """Following the advised calls gives every row, in every format, whatever words they have."""
    argv = tool(tmp_path)
    env = spoken(contract, HOME=str(tmp_path))
    run(argv, "profile", "save", "odd one", "q=saved", env=environment(HOME=str(tmp_path)))
    call, seen = ["ls", *WORDS, *words], ""
    for _ in range(9):
        done = run(argv, *call, env=env)
        assert done.code == 0, (call, done.err)
        seen += done.out
        # In a document, or beside text that has no place for it.
        found = re.search(r'(?:rest|truncation_hint)": ?"(rows ls .*?[^\\])"', done.out)
        found = found or re.search(r"for the rest: (rows ls .*?)\"?\}?$", done.err, re.M)
        if found is None:
            break
        call = shlex.split(found[1].replace('\\"', '"'))[1:]
    assert found is None
    rows = re.findall(r"^\s*(\d)(?:\s|$)|\"id\": ?(\d)", seen, re.M)
    assert sorted({one or other for one, other in rows}) == list("0123456"), seen


@pytest.mark.parametrize("contract", CONTRACTS)
def test_fields_that_select_nothing_are_told(tmp_path: Path, contract: str) -> None:
    """Where no field is there, the answer lists those that are; streamed or not."""
    argv = tool(tmp_path)
    told = "None of the fields nme exists; there are: id, name."
    for words in (["ls"], ["ls", "--stream", "--limit=9"]):
        done = run(argv, *words, "--fields", "nme", env=spoken(contract))
        last = done.lines[-1] if "--stream" in words else done.document
        if contract == "murli":
            assert last["message"].startswith(told)
        elif contract == "agent-spec-2":
            assert [each["message"] for each in last["warnings"]] == [told]
        else:
            assert last["warnings"] == [told]
    assert told in run(argv, "ls", "--fields=nme", "--output=text").err
    assert told not in run(argv, "ls", "--fields=id", env=spoken(contract)).out


@pytest.mark.parametrize(
    ("adapter", "contract"),
    [
        pytest.param(adapter, contract, marks=[pytest.mark.slow] * (number % 2 != place % 2))
        for place, contract in enumerate(CONTRACTS)
        for number, adapter in enumerate(ADAPTERS)
    ],
)
def test_a_handler_that_pages_by_itself(tmp_path: Path, adapter: str, contract: str) -> None:
    """The caller's limit and cursor reach the handler, and its page is told as it gave it."""
    argv, env = tool(tmp_path, adapter), spoken(contract)
    items, told = part_of(run(argv, "pages", env=env), contract)
    assert [each["id"] for each in items] == [0, 1, 2]
    expected = {"total": 7, "returned": 3, "next_cursor": "3", "rest": "rows pages --cursor 3"}
    assert told == expected
    items, told = part_of(run(argv, *shlex.split(told["rest"])[1:], env=env), contract)
    assert ([each["id"] for each in items], told["next_cursor"]) == ([3, 4, 5], "6")
    items, told = part_of(run(argv, "pages", "--cursor=6", "--limit", "5", env=env), contract)
    assert ([each["id"] for each in items], told.get("rest")) == ([6], None)
    items, told = part_of(run(argv, "pages", "--limit=5", "--fields=id", env=env), contract)
    assert (items[-1], told["rest"]) == ({"id": 4}, "rows pages --limit=5 --fields=id --cursor 5")
    # An option of the tool's own is used in the same way; nobody has counted there.
    items, told = part_of(run(argv, "own", env=env), contract)
    assert (len(items["rows"]), told.get("total"), told["rest"]) == (4, None, "rows own --cursor 4")
    items, told = part_of(run(argv, "own", "--cursor", "4", env=env), contract)
    assert ([each["id"] for each in items["rows"]], told.get("rest")) == ([4, 5, 6], None)


def test_people_are_told_nothing_of_pages(tmp_path: Path) -> None:
    """At a terminal a list is whole, and a handler's page is the handler's business."""
    argv = tool(tmp_path)
    shown = run_at_terminal(argv, "ls")
    assert ("row 6" in shown.out, shown.err) == (True, "")
    assert run_at_terminal(argv, "own").out.strip() == "Some rows"


UNDECLARED = """
import click, murli
@click.group()
def cli(): pass
@cli.command()
@click.option("--loud", is_flag=True)
@murli.pass_writer
def some(writer, loud):
    if loud: click.echo("printed")
    writer.write_success("", [{"a": 5}], page=murli.Page(9, 1, next_cursor="zz"))
murli.annotate(some, murli.Metadata(danger_level="safe", lists=murli.Paging(limit=50)))
murli.enable(cli, name="cli")
cli()
"""


def test_a_cursor_that_does_not_reach_the_handler_is_not_advised(tmp_path: Path) -> None:
    """Without by_handler a page is counted, and nobody is sent for the rest; text has its rows."""
    argv = script(tmp_path, UNDECLARED)
    document = run(argv, "some", env=environment()).document
    assert document["page"] == {"total": 9, "returned": 1, "next_cursor": "zz"}
    assert document["message"] == "1 of 9."
    for contract in FAMILY:
        told = run(argv, "some", env=environment(MURLI_CONTRACT=contract))
        assert "--cursor" not in told.out
        shown = run(argv, "some", "--format", "table", env=environment(MURLI_CONTRACT=contract))
        assert ("5" in shown.out, "for the rest" in shown.err) == (True, False)
    shown = run(argv, "some", "--output", "text", env=environment())
    assert ("5" in shown.out, "1 of 9 given" in shown.err) == (True, True)
    # A handler that wrote its own text has shown its rows.
    assert run(argv, "some", "--loud", "--output", "text", env=environment()).out.split() == [
        "printed"
    ]
