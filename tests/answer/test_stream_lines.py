"""What the lines of a stream are: items whatever their keys, effects, and one line at the end."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import ADAPTERS, environment, run, script
from murli.contracts.control_lines import is_control_line, unwrapped, wrapped

pytestmark = [pytest.mark.adapters("argparse", "click"), pytest.mark.warm]

FAMILY = ["response", "agent-spec-1.6", "agent-spec-2"]
CONTRACTS = ["murli", *FAMILY]
HEAD = "import click, os, sys\nimport murli\n"
# Items that look like lines by which a stream is steered, in any of the contracts.
LOOKALIKES: list[Any] = [
    {"ok": True, "error": None},
    {"ok": True, "meta": {}},
    {"ok": False, "data": 1},
    {"data": 1, "error": None, "meta": {}},
    {"status": "ok", "schema_version": "1.0"},
    {"status": "error", "schema_version": "1.0", "code": 1},
    {"code": 1, "error": "x", "message": "m", "schema_version": "1.0"},
    {"_summary": True, "_count": 9},
    {"current": 3, "total": 9},
    {"stage": "read", "current": 1},
    {"heartbeat": True, "status": "running"},
    {"event": "progress", "current": 1},
    {"event": "item", "data": {"ok": True, "meta": {}}},
    {"event": "item", "data": {"event": "item", "data": {"heartbeat": True}}},
]
OTHERS: list[Any] = [{"_seq": 7}, {"event": "item", "data": 1}, {"status": "ok"}, 5, [1], None]


def program(tmp_path: Path, *lines: str) -> list[str]:
    return script(tmp_path, HEAD + "\n".join(lines) + "\n")


def spoken(contract: str) -> dict[str, str]:
    return environment(MURLI_CONTRACT=contract)


def end_of(out: str) -> tuple[list[Any], Any]:
    """Return the items and the one line that ends them."""
    *items, end = [json.loads(line) for line in out.splitlines()]
    assert is_control_line(end), out
    assert not any(map(is_control_line, items)), out
    return items, end


@pytest.mark.parametrize("contract", CONTRACTS)
def test_an_item_is_an_item_whatever_its_keys(tmp_path: Path, contract: str) -> None:
    """An item that looks like a control line is wrapped, and comes back as it was."""
    argv = program(
        tmp_path,
        "@click.command()",
        "@click.argument('how')",
        "@murli.pass_writer",
        "def cli(writer, how):",
        f"    items = {LOOKALIKES + OTHERS!r}",
        "    if how == 'returned': return items",
        "    for item in items: writer.write_event(item)",
        "murli.enable(cli); cli()",
    )
    returned, end = end_of(run(argv, "returned", "--stream", env=spoken(contract)).out)
    count = len(LOOKALIKES + OTHERS)
    if contract == "murli":
        assert end["result"] == {"count": count}
    else:
        assert (end["_count"], end["total"]) == (count, count)
    if contract == "agent-spec-2":
        assert [line["_seq"] for line in returned] == list(range(1, count + 1))
        assert [unwrapped(line) for line in returned[: len(LOOKALIKES)]] == LOOKALIKES
        assert [line.get("value") for line in returned[-4:]] == [None, 5, [1], None]
    else:
        assert [*map(unwrapped, returned)] == LOOKALIKES + OTHERS
    written, end = end_of(run(argv, "written", env=spoken(contract)).out)
    assert [*map(unwrapped, written)] == LOOKALIKES + OTHERS
    assert contract == "murli" or end["_count"] == count


KEYS = st.sampled_from(
    ["ok", "data", "error", "meta", "status", "schema_version", "event", "_summary", "current"]
)
VALUES = st.sampled_from([True, False, None, 1, "ok", "item", "progress", "error"])
JSON = st.recursive(VALUES, lambda inner: st.dictionaries(KEYS, inner, max_size=4), max_leaves=8)


@given(JSON)
def test_wrapping_is_undone(item: Any) -> None:
    """Whatever an item is, its line is no control line, and gives the item back."""
    assert not is_control_line(wrapped(item))
    assert unwrapped(wrapped(item)) == item


def test_items_outside_and_inside_of_a_stream_count_together(tmp_path: Path) -> None:
    """Lines of write_event() count as items, and either all items have numbers or none."""
    argv = program(
        tmp_path,
        "@click.command()",
        "@click.argument('how')",
        "@murli.pass_writer",
        "def cli(writer, how):",
        "    if how == 'before': writer.write_event({'id': 0})",
        "    def items():",
        "        yield {'id': 1}",
        "        if how == 'among': writer.write_event({'id': 2})",
        "        yield {'id': 3}",
        "    writer.stream(items())",
        "murli.enable(cli); cli()",
    )
    items, end = end_of(run(argv, "before", env=spoken("agent-spec-2")).out)
    assert ([each.get("_seq") for each in items], end["_count"]) == ([None] * 3, 3)
    items, end = end_of(run(argv, "among", env=spoken("agent-spec-2")).out)
    assert ([each.get("_seq") for each in items], end["_count"]) == ([1, 2, 3], 3)


def test_items_tell_their_effect_and_the_end_counts_them(tmp_path: Path) -> None:
    """A command that streams its changes says what each did; a dry run is one to its end."""
    argv = program(
        tmp_path,
        "@click.command()",
        "@murli.pass_writer",
        "def cli(writer):",
        "    writer.is_dry_run()",
        "    yield {'id': 1}",
        "    yield {'id': 2, 'effect': 'noop'}",
        "    yield {'id': 3}",
        "murli.annotate(cli, murli.Metadata(mutating=True, effect='updated', streams=True,",
        "                                   dry_runnable=True))",
        "murli.enable(cli); cli()",
    )
    for contract in FAMILY:
        items, end = end_of(run(argv, "--yes", "--fields=id", env=spoken(contract)).out)
        assert [each["effect"] for each in items] == ["updated", "noop", "updated"]
        assert (end["_count"], end["effects"]) == (3, {"updated": 2, "noop": 1})
        assert "dry_run" not in end
        items, end = end_of(run(argv, "--dry-run", env=spoken(contract)).out)
        assert [each["effect"] for each in items] == ["would_update", "noop", "would_update"]
        assert end["dry_run"] is True
    whole = run(argv, "--yes", "--no-stream", env=spoken("agent-spec-2")).document
    assert whole["meta"]["effects"] == {"updated": 2, "noop": 1}
    assert whole["data"][0] == {"effect": "updated", "id": 1}
    items, end = end_of(run(argv, "--dry-run").out)
    assert (len(items), end["status"], end["plan"]) == (3, "plan", {"count": 3})


def test_a_stream_of_changes_takes_no_idempotency_key(tmp_path: Path) -> None:
    """Of a stream no answer could be given again, so a key is refused before anything is done."""
    argv = program(
        tmp_path,
        "@click.group()",
        "def cli(): pass",
        "murli.enable(cli)",
        "def changes():",
        "    open('done', 'w'); yield 1",
        "for name, streams in (('declared', True), ('asked', False)):",
        "    made = cli.command(name)(changes)",
        "    murli.annotate(made, murli.Metadata(mutating=True, streams=streams))",
        "cli()",
    )
    for words in (["declared"], ["declared", "--no-stream"], ["asked", "--stream"]):
        words += ["--yes", "--idempotency-key=k"]
        done = run(argv, *words, env=spoken("agent-spec-2"), cwd=tmp_path)
        assert (done.code, done.document["error"]["phase"]) == (2, "validation")
        assert "--idempotency-key" in done.document["error"]["message"]
    assert not (tmp_path / "done").exists()
    manifest = run(argv, "manifest", env=spoken("agent-spec-2")).document["data"]["commands"]
    assert "idempotency-key" not in manifest["declared"]["flags"]
    assert "idempotency-key" in manifest["asked"]["flags"]


UNANNOTATED = """
def rows(): return [{"id": 1}, {"id": 2}]
def made(): return [{"id": each} for each in (1, 2)]
def passed(): return (each for each in rows())
def mapped(): return map(dict, rows())
def iterated(): return iter(rows())
def helped(): return made()
def either(): return rows() if rows else {"id": 0}
def one(): return make_one()
def make_one(): return {"id": 1}
HANDLERS = [rows, made, passed, mapped, iterated, helped, either, one]
"""
ON_ADAPTERS = {
    "click": "import click\n@click.group()\ndef cli(): pass\nmurli.enable(cli)\n"
    "for each in HANDLERS: cli.command()(each)\ncli()",
    "typer": "import typer\napp = typer.Typer()\nmurli.enable(app)\n"
    "for each in HANDLERS: app.command()(each)\napp()",
    "argparse": "import argparse\np = argparse.ArgumentParser()\np.add_argument('command')\n"
    "murli.enable(p)\nwith murli.session(p) as (args, writer):\n"
    "    writer.write_success('', globals()[args.command]())",
}


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_what_an_unannotated_handler_returns_is_streamed(tmp_path: Path, adapter: str) -> None:
    """--stream gives the items of a returned list or iterator that nobody declared."""
    argv = script(tmp_path, "import murli\n" + UNANNOTATED + ON_ADAPTERS[adapter])
    for command in ("rows", "made", "passed", "mapped", "iterated", "helped", "either"):
        items, end = end_of(run(argv, command, "--stream", env=spoken("agent-spec-1.6")).out)
        assert (items, end["_count"]) == ([{"id": 1}, {"id": 2}], 2), command
    # It has run, so it is answered; and the caller is told that this is no stream.
    done = run(argv, "one", "--stream", env=spoken("agent-spec-2"))
    assert (done.code, done.document["data"]) == (0, {"id": 1})
    assert done.document["warnings"][0]["code"] == "STREAMING_NOT_SUPPORTED"


DESCRIPTORS = """
import argparse, os, sys, murli
parser = argparse.ArgumentParser()
parser.add_argument("folder")
murli.enable(parser)
args, writer = murli.parse(parser)
writer.write_event({"n": 1})
os.closerange(3, 40)
files = [open(os.path.join(args.folder, str(n)), "w") for n in range(20)]
for file in files:
    file.write("data")
    file.flush()
try:
    writer.write_event({"n": 2})
except Exception:  # its own descriptor was among those
    pass
for file in files:
    file.write(" and more")
    file.close()
"""


def test_a_stream_closes_no_file_of_the_tool(tmp_path: Path) -> None:
    """A tool that closes every descriptor and opens files keeps them whatever it streams."""
    done = run(script(tmp_path, DESCRIPTORS), str(tmp_path))
    assert "Traceback" not in done.err, done.err
    assert [(tmp_path / str(n)).read_text() for n in range(20)] == ["data and more"] * 20
