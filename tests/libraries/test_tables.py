"""Tables that libraries print arrive as rows, and nothing that a tool sees is changed by that."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest
import rich.json
import rich.table
import rich.tree
from click.testing import CliRunner
from rich.console import Console

import murli
from harness import ADAPTERS, environment, run, script, tool
from murli.testing import run as run_tool

pytestmark = pytest.mark.warm

PACKAGES = [{"Name": f"n{n}", "Version": f"1.{n}0"} for n in range(3)]


@pytest.fixture(scope="module")
def cli() -> Any:
    sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))
    try:
        import tables
    finally:
        sys.path.pop(0)
    return tables.cli


def _table(rows: list[Any], **more: Any) -> dict[str, Any]:
    return {"columns": list(rows[0]), "rows": rows, **more}


ROWS = [
    {"Name": "a", "Count": 1, "Share": 1.5, "Since": None},
    {"Name": "b", "Count": 20, "Share": 2.25, "Since": "2026-01-02"},
]
UNNAMED = [
    dict(zip(("column_1", "column_2", "column_3", "column_4"), row.values(), strict=True))
    for row in ROWS
]
LONG = [{"Name": f"{'x' * 200}{n}", "Version": f"1.{n}0"} for n in range(3)]
SIDE = [
    _table([{"Name": f"{name}{n}", "Version": f"1.{n}0"} for n in range(count)], title=title)
    for title, name, count in (("A", "a", 2), ("B", "b", 3))
]
TREE = {"label": "root", "children": [{"label": "one", "children": [{"label": "leaf"}]}]}
TREE["children"] += [{"label": "two"}]  # type: ignore[operator]
PRINTED: list[tuple[str, Any]] = [
    ("rich one", PACKAGES),
    ("rich text", {"text": "Before\nafter\nthe end", "tables": [_table(PACKAGES)]}),
    ("rich panel", {"text": "Users", "tables": [_table(PACKAGES)]}),
    ("rich columns", {"tables": SIDE}),
    ("rich wide", LONG),
    ("rich cropped", [{"Key": "a", "Value": "long " * 40}]),
    ("rich colour", PACKAGES),
    ("rich nested", [{"Key": "deps", "Value": PACKAGES}]),
    ("rich names", [{"Name": "a", "Name_2": "b", "column_3": "c"}]),
    (
        "rich headless",
        [dict(zip(("column_1", "column_2"), row.values(), strict=True)) for row in PACKAGES],
    ),
    ("rich empty", []),
    (
        "rich footer",
        {"tables": [_table(PACKAGES[:1], caption="All", footer={"Name": "Sum"})]},
    ),
    (
        "rich twice",
        {"tables": [_table(PACKAGES[:1], title="One"), _table(PACKAGES[:1], title="Two")]},
    ),
    ("rich grid", "Name: murli  \n             \nKind: library"),
    ("rich tree", TREE),
    (
        "rich framed",
        {"text": "Config", "values": [{"numbers": [1, 2]}] * 2, "trees": [{"label": "leaf"}]},
    ),
    ("rich json", {"numbers": [1, 2], "text": "long " * 40}),
    ("rich config", {"text": "Config:", "values": [{"numbers": [1, 2]}]}),
    ("rich returns", PACKAGES),
    ("tabulate one", ROWS),
    ("tabulate grid", {"text": "Result:\nthe end", "tables": [_table(ROWS)]}),
    ("tabulate plain", UNNAMED),
    ("tabulate keys", [{"a": "1.10", "b": True}, {"a": "2", "b": False}]),
    ("tabulate indent", {"text": "List:", "tables": [_table(ROWS)]}),
    (
        "prettytable one",
        [
            {"City": "Ulm", "People": 126, "Since": "1200-05-01"},
            {"City": "Bern", "People": 133.5, "Since": None},
        ],
    ),
    (
        "prettytable sorted",
        {
            "text": "Cities",
            "tables": [
                _table([{"City": "Bern", "People": 133.5}, {"City": "Ulm", "People": 126}]),
            ],
        },
    ),
    ("texttable", [{"Name": "Xa\nvier", "Age": "32"}, {"Name": "Bob", "Age": "1.500"}]),
]

FRAMES: list[tuple[str, Any]] = [
    (
        "pandas one",
        [
            {"n": 1, "share": 1.5, "name": "x", "day": "2026-01-01T00:00:00"},
            {"n": 2, "share": None, "name": "y", "day": None},
            {"n": 3, "share": 3.0, "name": None, "day": "2026-01-03T00:00:00"},
        ],
    ),
    ("pandas index", [{"name": "x", "n": 1}, {"name": "y", "n": 2}, {"name": None, "n": 3}]),
    (
        "pandas some",
        {"text": "Found:", "tables": [_table([{"index": 1, "n": 2}, {"index": 2, "n": 3}])]},
    ),
    ("pandas cut", [{f"c{number}": n for number in range(30)} for n in range(500)]),
    (
        "pandas huge",
        {
            "lines": [
                "         c",
                *(f"{n:<4} {n:>5}" for n in range(5)),
                "...    ...",
                *(f"{n:<4} {n:>5}" for n in range(4995, 5000)),
                "",
                "[5000 rows x 1 columns]",
            ]
        },
    ),
    (
        "pandas groups",
        [
            {"n": 1, "share.sum": 1.5, "share.max": 1.5},
            {"n": 2, "share.sum": 0.0, "share.max": None},
            {"n": 3, "share.sum": 3.0, "share.max": 3.0},
        ],
    ),
]


@pytest.mark.parametrize(("call", "result"), PRINTED, ids=[call for call, _ in PRINTED])
def test_a_table_is_its_rows(cli: Any, call: str, result: Any) -> None:
    """A table is rows with its column names, and the values that the library still has."""
    done = run_tool(cli, *call.split())
    assert done.data == result
    assert done.message == ("Packages" if call == "rich one" else "")


def test_what_is_not_found_again_stays_text(cli: Any) -> None:
    """A part of a table, a grid, markup, and what a failed command printed are text."""
    for call in ("tabulate part", "tabulate html", "rich grid"):
        data = run_tool(cli, *call.split()).data
        assert isinstance(data, str) or list(data) == ["lines"]
    failed = run_tool(cli, "rich", "fails")
    assert failed.error.kind == "tool_error"
    assert "1.10" in failed.document["result"]


@pytest.mark.parametrize("contract", ["murli", "agent-spec-2"])
def test_a_row_is_a_line_of_the_document(cli: Any, contract: str) -> None:
    """Line tools find whole rows of a printed table, alone and amid text; a size counts them."""
    for words in (("tabulate", "many"), ("rich", "text")):
        document = run_tool(cli, *words, "--limit", "0", contract=contract).stdout
        lines = document.splitlines()
        rows = [line.strip().rstrip(",") for line in lines if line.strip()[:2] == '{"']
        assert len(rows) == (100 if words[1] == "many" else 3)
        found = json.loads(document)["data" if contract != "murli" else "result"]
        assert list(map(json.loads, rows)) == (found if words[1] == "many" else _rows_in(found))
    cut = run_tool(
        cli, "tabulate", "many", "--limit", "0", "--max-bytes", "2500", contract=contract
    )
    assert 2300 < len(cut.stdout_bytes) <= 2500


def test_many_rows_are_counted_above_them(tmp_path: Path) -> None:
    """Of more than a hundred rows the message says how many, unless the page does."""
    source = """
import click, murli
from rich.console import Console
from rich.table import Table
@click.command()
@click.argument("count", type=int)
def show(count):
    table = Table("n", title="Numbers")
    for number in range(count):
        table.add_row(str(number))
    Console().print(table)
murli.enable(show)
show()
"""
    argv = script(tmp_path, source)
    assert run(argv, "100").document["message"] == "Numbers"
    whole = run(argv, "101")
    assert whole.document["message"] == "Numbers; 101 rows"
    assert whole.out.index("101 rows") < whole.out.index('{"n": "0"}')
    part = run(argv, "101", "--limit", "5").document
    assert (part["message"], part["page"]["total"]) == ("Numbers", 101)


def test_a_row_with_lists_in_it_is_a_line_too(tmp_path: Path) -> None:
    """A cell that is a list or an object does not break its row into lines."""
    source = """
import click, murli
from tabulate import tabulate
@click.command()
def show():
    rows = [{"id": 1, "tags": ["x", "y"]}, {"id": 2, "tags": {"a": 1}}, {"id": 3, "tags": []}]
    print(tabulate(rows, headers="keys"))
murli.enable(show)
show()
"""
    done = run(script(tmp_path, source))
    lines = [line.strip().rstrip(",") for line in done.out.splitlines() if '"id"' in line]
    assert list(map(json.loads, lines)) == done.document["result"]
    assert [row["tags"] for row in done.document["result"]] == [["x", "y"], {"a": 1}, []]


def test_a_cell_is_what_was_shown(tmp_path: Path) -> None:
    """A list or an object that a tool changes once its table is printed is answered as printed."""
    source = """
import click, murli, pandas, prettytable
from tabulate import tabulate
@click.command()
@click.argument("library")
def show(library):
    tags, more = [1, [2]], {"k": [3]}
    if library == "tabulate":
        print(tabulate([[tags, more]], ["tags", "more"]))
    elif library == "pandas":
        print(pandas.DataFrame({"tags": [tags], "more": [more]}))
    else:
        table = prettytable.PrettyTable(["tags", "more"])
        table.add_row([tags, more])
        print(table)
    tags[1].clear()
    tags.append(4)
    more["k"].append(object())
murli.enable(show)
show()
"""
    argv = script(tmp_path, source)
    for library in ("tabulate", "pandas", "prettytable"):
        done = run(argv, library)
        assert done.document["result"] == [{"tags": [1, [2]], "more": {"k": [3]}}], library


def _rows_in(result: dict[str, Any]) -> Any:
    return result["tables"][0]["rows"]


@pytest.mark.parametrize("contract", ["murli", "response", "agent-spec-2"])
def test_rows_are_a_list_like_any(cli: Any, contract: str) -> None:
    """Rows obey `--limit`, the cursor, `--fields` and a size, alone and amid text."""

    def answer(*words: str) -> Any:
        return run_tool(cli, *words, contract=contract).response

    first = answer("tabulate", "many", "--limit", "2", "--fields", "n")
    assert first.data == [{"n": 0}, {"n": 1}]
    assert (first.part.total, first.part.has_more) == (100, True)
    words = ("--limit", "2", "--fields", "n", "--cursor", first.part.next_cursor)
    assert answer("tabulate", "many", *words).data == [{"n": 2}, {"n": 3}]
    cut = answer("tabulate", "many", "--limit", "0", "--max-bytes", "2000")
    assert 5 < len(cut.data) < 100
    amid = answer("rich", "text", "--limit", "1", "--fields", "Version")
    assert amid.data["tables"] == [_table([{"Version": "1.00"}])]
    assert (amid.part.total, amid.text) == (3, "Before\nafter\nthe end")
    assert list(answer("rich", "text", "--fields", "text").data) == ["text"]
    if contract == "murli":
        told = answer("rich", "one", "--fields", "nme").message
        assert told == "Packages. None of the fields nme exists; there are: Name, Version."


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_every_framework_has_rows(tmp_path: Path, adapter: str) -> None:
    """A library that a handler imports itself is hooked as one that is loaded before."""
    work = "from tabulate import tabulate\nprint(tabulate([[1, 'x']], headers=['n', 'c']))\n"
    lazy = "".join(f"    {line}\n" for line in work.splitlines())
    sources = {
        "click": f"import click\n@click.command()\ndef tool():\n{lazy}murli.enable(tool)\ntool()\n",
        "typer": "import typer\ntool = typer.Typer()\n@tool.command()\ndef main():\n"
        f"{lazy}murli.enable(tool)\ntool()\n",
        "argparse": "import argparse\np = argparse.ArgumentParser()\nmurli.enable(p)\n"
        f"p.parse_args()\n{work}",
    }
    lines = f"import murli\n{sources[adapter]}"
    for source in (lines, f"import tabulate\n{lines}"):
        assert run(script(tmp_path, source)).document["result"] == [{"n": 1, "c": "x"}]


def test_rows_are_items_of_a_stream() -> None:
    """With `--stream` the rows of a table are items between the lines around it."""
    done = run(tool("tables"), "rich", "text", "--stream")
    assert done.lines[:-1] == [
        {"event": "line", "data": "Before"},
        *PACKAGES,
        {"event": "line", "data": "after"},
        {"event": "line", "data": "the end"},
    ]
    panel = run(tool("tables"), "rich", "panel", "--stream").lines[:-1]
    assert all(each["event"] == "line" for each in panel)


def test_people_and_readers_of_text_see_the_table(tmp_path: Path) -> None:
    """A pipe that is a person's, and `--output text`, have what the tool prints, byte for byte."""
    plain = (Path(tool("tables")[1]).read_text()).replace("murli.enable(cli)\n", "")
    for call in (("rich", "text"), ("tabulate", "one")):
        expected = run(script(tmp_path, plain), *call).stdout
        flag = plain.replace("if __name__", 'murli.enable(cli, agents="flag")\nif __name__')
        assert run(script(tmp_path, flag, "flag.py"), *call).stdout == expected
        assert run(tool("tables"), *call, "--output", "text").stdout == expected


def test_a_tool_sees_what_it_always_did(tmp_path: Path) -> None:
    """A string that is measured, sliced, written to a file and recorded is the library's own."""
    source = (
        "import sys, io, click, murli, tabulate\n"
        "from rich.console import Console\nfrom rich.table import Table\n"
        "def work():\n"
        "    text = tabulate.tabulate([[1, 2]], headers=['a', 'b'])\n"
        "    console = Console(file=io.StringIO(), record=True, width=60)\n"
        "    table = Table('a')\n"
        "    table.add_row('x')\n"
        "    console.print(table)\n"
        "    return [type(text).__name__, text, console.export_text(clear=False), "
        "console.export_html(), console.file.getvalue()]\n"
        "@click.command()\n"
        "def tool(): return work()\n"
        "if len(sys.argv) > 1: print(__import__('json').dumps(work())); sys.exit()\n"
        "murli.enable(tool)\ntool()\n"
    )
    argv = script(tmp_path, source)
    assert run(argv).document["result"] == run(argv, "plain").document


def test_hooks_are_taken_back() -> None:
    """After a call, one that fails too, the libraries are as they were; before, nobody hooked."""
    import prettytable
    import tabulate
    import texttable

    seen: list[Any] = []

    def parts() -> list[Any]:
        return [
            rich.table.Table.__dict__["__rich_console__"],
            rich.tree.Tree.__dict__["__rich_console__"],
            rich.json.JSON.__dict__["__rich__"],
            tabulate._format_table,
            tabulate._normalize_tabular_data,
            prettytable.PrettyTable.__dict__["get_string"],
            texttable.Texttable.__dict__["draw"],
            *sys.meta_path,
        ]

    @click.command()
    @click.argument("what")
    def command(what: str) -> None:
        seen[:] = parts()
        Console(file=sys.stdout).print(rich.table.Table("a"))
        if what == "fails":
            raise ValueError(what)

    murli.enable(command)
    before = parts()
    for what in ("works", "fails", "works"):
        CliRunner().invoke(command, [what])
        assert parts() == before
        assert not set(map(id, before[:7])) & set(map(id, seen[:7]))
        assert len(seen) == len(before) + 1
    run_tool(command, "works", mode="person")
    assert seen[:7] == before[:7]


def test_what_is_loaded_behind_a_call_is_not_hooked(tmp_path: Path) -> None:
    """A module that was found in a call, and is loaded when that is over, stays as it is."""
    source = """
import click, sys, murli
from importlib.util import find_spec, module_from_spec
from click.testing import CliRunner
found = []
@click.command()
def show(): found.append(find_spec("texttable"))
murli.enable(show)
CliRunner().invoke(show, [])
sys.modules["texttable"] = module = module_from_spec(found[0])
found[0].loader.exec_module(module)
print(module.Texttable.draw.__module__, type(module.__loader__).__name__)
"""
    assert run(script(tmp_path, source)).out == "texttable SourceFileLoader\n"


def test_a_library_that_changed_leaves_text(tmp_path: Path) -> None:
    """Where the parts are missing, raise, or return something else, the tool works and is text."""
    future = "'a table\\nof the future'"
    broken = {
        "rich one": "import rich.table as it\ndel it.Table.__rich_console__\n"
        f"it.Table.__rich__ = lambda self: {future}\n",
        "texttable": f"import texttable as it\nit.Texttable.draw = lambda self: {future}\n"
        "it.Texttable.__init__ = it.Texttable.add_rows = lambda *args: None\n",
        "tabulate one": f"import tabulate as it\nit._format_table = lambda: {future}\n"
        "it._normalize_tabular_data = lambda: None\n"
        "it.tabulate = lambda *a, **b: it._normalize_tabular_data() or it._format_table()\n",
        "tabulate plain": "import tabulate as it\ndel it._normalize_tabular_data\n"
        f"it.tabulate = lambda *a, **b: {future}\n",
    }
    source = Path(tool("tables")[1]).read_text().replace("from __future__", "# from __future__")
    for call, change in broken.items():
        done = run(script(tmp_path, change + source), *call.split())
        assert (done.code, done.err) == (0, "")
        assert done.document["result"] == "a table\nof the future"


def test_secrets_in_cells_are_hidden(tmp_path: Path) -> None:
    """A secret in a cell is masked in the rows, also where the table shows only half of it."""
    source = (
        "import click, murli\nfrom rich.console import Console\nfrom rich.table import Table\n"
        "@click.command()\n@click.option('--token', envvar='TOKEN')\n"
        "def tool(token):\n"
        "    table = Table('Name', 'Token')\n"
        "    table.add_row('x' * 60, token)\n"
        "    Console().print(table)\n"
        "murli.enable(tool)\ntool()\n"
    )
    secret = "tok-5f0c9a1b2d3e4f50617283"
    done = run(script(tmp_path, source), env=environment(TOKEN=secret))
    assert b"5f0c9a" not in done.stdout
    assert list(done.document["result"][0]) == ["Name", "Token"]


def test_threads_have_their_own_tables(tmp_path: Path) -> None:
    """Tables that several threads make at once are each found with its own rows."""
    source = (
        "import threading, click, murli\nfrom tabulate import tabulate\n"
        "texts = {}\n"
        "def make(n):\n"
        "    for _ in range(20): texts[n] = tabulate([[n, n * n]] * 20, headers=['n', f'of {n}'])\n"
        "@click.command()\n"
        "def tool():\n"
        "    threads = [threading.Thread(target=make, args=(n,)) for n in range(8)]\n"
        "    for each in threads: each.start()\n"
        "    for each in threads: each.join()\n"
        "    for n in range(8): print(texts[n])\n"
        "murli.enable(tool)\ntool()\n"
    )
    tables = run(script(tmp_path, source)).document["result"]["tables"]
    assert [each["rows"][0] for each in tables] == [{"n": n, f"of {n}": n * n} for n in range(8)]


def test_only_calls_that_meet_a_library_load_anything() -> None:
    """A call that loads none of the libraries loads nothing of ours for them."""
    source = (
        "import sys, click, murli\n@click.command()\ndef tool():\n"
        "    print([name for name in sys.modules if name.startswith('murli.libraries')])\n"
        "murli.enable(tool)\ntool()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", source], capture_output=True, env=environment(), check=True
    )
    assert b'"result": "[]"' in done.stdout or b'"result": []' in done.stdout


@pytest.mark.slow
def test_a_frame_of_pandas_is_rows() -> None:
    """A frame is its rows, those that were left out of the display too, its own index a column."""
    source = Path(tool("tables")[1]).read_text().replace("cli()\n", "pass\n")
    source += (
        "import json\nfrom murli.testing import run\n"
        f"for kind in {[call.split()[1] for call, _ in FRAMES]}:\n"
        "    print(json.dumps(run(cli, 'pandas', kind).data))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", source], capture_output=True, env=environment(), check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    results = [json.loads(line) for line in done.stdout.splitlines()]
    assert results == [result for _, result in FRAMES]


def test_cells_that_are_no_data_are_shown_as_they_are(tmp_path: Path) -> None:
    """A cell that cannot be compared is its text; of what is drawn no padding is kept."""
    source = """
import click, murli
from rich.console import Console
from rich.syntax import Syntax
from rich.table import Table
from tabulate import tabulate
class Odd:
    def __eq__(self, other): raise RuntimeError("not comparable")
    def __str__(self): return "odd"
@click.command()
def show():
    print(tabulate([[Odd(), 1]], ["a", "b"]))
    table = Table("code")
    table.add_row(Syntax("a = 1", "python"))
    Console().print(table)
murli.enable(show)
show()
"""
    rows = [each["rows"] for each in run(script(tmp_path, source)).document["result"]["tables"]]
    assert rows == [[{"a": "odd", "b": 1}], [{"code": "a = 1"}]]


def test_what_is_printed_elsewhere_is_no_table_here(cli: Any) -> None:
    """A table that goes to a file or to stderr leaves what is on stdout alone."""

    @click.command()
    def command() -> None:
        Console(file=io.StringIO()).print(rich.table.Table("a"))
        click.echo("done")

    murli.enable(command)
    assert run_tool(command).data == "done"
