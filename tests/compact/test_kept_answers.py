"""Answers over the caller's limit are kept whole: what is said of them, and ``murli get``."""

from __future__ import annotations

import json
import os
import shlex
import stat
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import toon_format
from hypothesis import given
from hypothesis import strategies as st

from harness import ADAPTERS, HOME, environment, run, run_at_terminal, script
from in_process import CONTRACTS, FAMILY, GIVEN, ask, listening, make_tool
from murli.cli import main
from murli.compact import kept
from murli.contracts import contract_named
from properties import examples

pytestmark = [pytest.mark.adapters("argparse", "click"), pytest.mark.warm]

MURLI = [sys.executable, "-m", "murli"]
TOOLS = {contract: make_tool(contract) for contract in CONTRACTS}
PAYLOAD = {"murli": "result"} | dict.fromkeys(FAMILY, "data")

CHANGES = {
    "argparse": """
import argparse, murli
parser = argparse.ArgumentParser(prog="t")
parser.add_subparsers(dest="command").add_parser("add")
murli.annotate(parser._subparsers._group_actions[0].choices["add"], murli.Metadata(mutating=True))
murli.enable(parser)
parser.parse_args()
open("log", "a").write("x")
murli.get_writer().write_success("", {"rows": [{"n": n} for n in range(300)]})
""",
    "click": """
import click, murli
@click.group()
def t(): pass
@t.command()
@murli.about(mutating=True)
def add():
    open("log", "a").write("x")
    return {"rows": [{"n": n} for n in range(300)]}
murli.enable(t, name="t")
t()
""",
    "typer": """
import typer, murli
t = typer.Typer()
@t.callback()
def top(): pass
@t.command()
@murli.about(mutating=True)
def add():
    open("log", "a").write("x")
    return {"rows": [{"n": n} for n in range(300)]}
murli.enable(t, name="t")
t()
""",
}


def about(document: dict[str, Any]) -> dict[str, Any]:
    """Return what a document says about where the whole of it is kept."""
    found: dict[str, Any] = document.get("kept") or document.get("meta", {}).get("kept") or {}
    return found


def in_process(call: str) -> str:
    """Make the call that an answer names, which begins with the program, in this process."""
    words = shlex.split(call)
    before = dict(os.environ)
    os.environ.update(HOME=HOME, MURLI_TEST="1", MURLI_MODE="agent")
    try:
        with listening() as heard:
            main(words[words.index("get") :])
    finally:
        os.environ.clear()
        os.environ.update(before)
    return heard.out.getvalue() or heard.err.getvalue()


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_what_a_change_did_is_read_on_without_doing_it_again(tmp_path: Path, adapter: str) -> None:
    """The answer names its shape, its first items and the call that reads on, which runs as it is.

    It is in the same contract and format, and nothing is lost, repeated or done twice.
    """
    argv, cache = script(tmp_path, CHANGES[adapter]), str(tmp_path / "cache")
    env = environment(XDG_CACHE_HOME=cache, MURLI_CONTRACT="agent-spec-2")
    words = ["add", "--force", "--max-bytes", "1900", "--format", "jsonl"]
    done, rows, calls = run(argv, *words, env=env, cwd=tmp_path), [], 0
    first = about(done.document)
    assert first["shape"]["rows"] == {"items": 300, "of": "object of 1"}
    assert (first["expires_in"], kept.is_handle(first["handle"])) == (86400, True)
    # In an environment that knows nothing of the first call but the home.
    bare = {"PATH": "/usr/bin:/bin", "XDG_CACHE_HOME": cache, "MURLI_TEST": "1"}
    while True:
        assert len(done.stdout) <= 1900 and done.out.count("\n") == 1
        rows += done.document["data"]["rows"]
        call = about(done.document).get("call")
        if call is None:
            break
        assert done.document["meta"]["truncation_hint"] == call
        done, calls = run(shlex.split(call), env=bare, cwd=Path("/")), calls + 1
    assert [row["n"] for row in rows] == list(range(300))
    assert 1 < calls < 10 and (tmp_path / "log").read_text() == "x"
    folder = Path(cache) / "murli" / "answers"
    assert [stat.S_IMODE(each.stat().st_mode) for each in (folder, *folder.iterdir())] == [
        0o700,
        0o600,
    ]


def test_get_is_a_command_like_any_other() -> None:
    """A kept result is queried, its fields are chosen, it has pages, formats and an etag."""
    GIVEN["result"] = [{"id": number, "name": f"item {number}"} for number in range(90)]
    document = ask(TOOLS["murli"], "give", "--max-tokens", "600").document
    handle = about(document)["handle"]
    assert about(document)["shape"] == {
        "items": 90,
        "of": {"id": "number", "name": "string of 6"},
    }

    def get(*words: str) -> Any:
        text = in_process(f"murli get {handle} {shlex.join(words)}")
        return toon_format.loads(text) if "toon" in words else json.loads(text)

    assert get()["result"] == GIVEN["result"]
    assert get("--query", "[?id > `80`].name | [0]")["result"] == "item 81"
    page = get("--fields", "id", "--limit", "2", "--output", "toon")
    assert page["result"] == [{"id": 0}, {"id": 1}]
    assert shlex.split(page["page"]["rest"])[-1] == page["page"]["next_cursor"]
    more = json.loads(in_process(page["page"]["rest"].replace("--output toon ", "")))
    assert more["result"] == [{"id": 2}, {"id": 3}]
    assert get("--query", "[].nmae")["message"].startswith("There is no 'nmae'")
    assert get("--etag", handle)["not_modified"] is True
    capped = get("--max-bytes", "900", "--output", "ndjson")
    assert about(capped)["handle"] == handle  # it is the same, and not kept twice
    shown = run_at_terminal(MURLI, "get", handle)
    assert "item 89" in shown.out and "{" not in shown.out


@pytest.mark.parametrize("contract", CONTRACTS)
def test_the_same_result_is_not_answered_twice(contract: str) -> None:
    """A caller that has the handle and passes it as etag gets not_modified, and it lives on."""
    GIVEN["result"] = {"items": [{"id": number} for number in range(900)]}
    words = ["give", "--max-bytes", "3000"]
    handle = about(ask(TOOLS[contract], *words).document)["handle"]
    path = Path(HOME) / ".cache" / "murli" / "answers" / f"{handle}.json"
    os.utime(path, (time.time() - 5000,) * 2)
    same = ask(TOOLS[contract], *words, "--etag", handle).document
    facts = same if contract == "murli" else same["meta"]
    assert (facts["not_modified"], facts["etag"]) == (True, handle)
    assert time.time() - path.stat().st_mtime < 1000
    GIVEN["result"]["items"].pop()
    other = ask(TOOLS[contract], *words, "--etag", handle).document
    assert about(other)["handle"] != handle
    assert other[PAYLOAD[contract]]["items"]


def test_nothing_is_kept_unless_a_caller_sets_a_limit_that_cuts() -> None:
    """Pages, whole answers, people's text, generators and the contract's own limit keep nothing."""
    folder = Path(HOME) / ".cache" / "murli" / "answers"
    before = set(folder.iterdir()) if folder.exists() else set()
    GIVEN.clear()
    GIVEN["end"] = 4000
    GIVEN["result"] = [{"id": number, "pad": f"{number}" * 300} for number in range(2000)]
    for words in (
        ["give", "--limit", "3"],
        ["give", "--limit", "3", "--max-bytes", "9000"],
        ["give", "--limit", "0"],
        ["count", "--max-bytes", "2000"],
        ["give", "--max-bytes", "2000", "--output", "text"],
    ):
        done = ask(TOOLS["agent-spec-1.6"], *words)
        assert "handle" not in done.out
    off = ask(TOOLS["murli"], "give", "--max-bytes", "2000", MURLI_KEEP_SECONDS="0").document
    small = ask(TOOLS["murli"], "give", "--max-bytes", "2000", MURLI_KEEP_BYTES="900").document
    nowhere = ask(TOOLS["murli"], "give", "--max-bytes", "2000", HOME="/nowhere").document
    for document in (off, small, nowhere):
        assert document["page"]["rest"] and "kept" not in document
    assert (set(folder.iterdir()) if folder.exists() else set()) == before


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of kept answers, in a cache that is empty."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "murli" / "answers"


def stored(value: Any) -> str:
    """Keep *value*; return its handle."""
    data = kept.encoded({"external": False, "result": value})
    assert kept.keep(data)
    return kept.handle_of(data)


def test_a_hostile_handle_is_refused(folder: Path, tmp_path: Path) -> None:
    """No path, no link, no other user's file and nothing that was changed is ever read."""
    secret = tmp_path / "secret.json"
    secret.write_text('{"result": "s3cr3t"}')
    handle = stored([1])
    path = folder / f"{handle}.json"
    refused = {
        "../../secret": "invalid_handle",
        str(secret)[:-5]: "invalid_handle",
        handle.upper(): "invalid_handle",
        f"{handle}/../{handle}": "invalid_handle",
        "": "invalid_handle",
        "0" * 32: "not_found",
    }
    linked, changed, large = "1" * 32, "2" * 32, "3" * 32
    (folder / f"{linked}.json").symlink_to(secret)
    (folder / f"{changed}.json").write_text('{"result": 1}')
    (folder / f"{large}.json").mkdir()
    refused |= dict.fromkeys((linked, changed, large), "answer_unusable")
    env = environment(XDG_CACHE_HOME=str(tmp_path))
    for name, kind in refused.items():
        done = run(MURLI, "get", "--", name, env=env)
        assert (done.error["error"], "s3cr3t" in done.err) == (kind, False), name
    path.write_bytes(path.read_bytes().replace(b"1", b"2"))
    assert run(MURLI, "get", handle, env=env).error["error"] == "answer_unusable"
    if os.geteuid() == 0:
        stored([1])
        os.chown(path, 12345, 12345)
        foreign = run(MURLI, "get", handle, env=env).error
        assert foreign["error"] == "answer_unusable" and "not yours" in foreign["message"]
        os.chown(folder, 12345, 12345)
        other = kept.encoded({"external": False, "result": [2]})
        assert not kept.keep(other)


def test_kept_answers_expire_and_make_room(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are gone after their time, and the oldest go first when there are too many bytes."""
    handles = [stored("x" * 1000 + str(number)) for number in range(4)]
    for age, handle in enumerate(reversed(handles)):
        os.utime(folder / f"{handle}.json", (time.time() - 10 * age,) * 2)
    monkeypatch.setenv("MURLI_KEEP_BYTES", "3500")
    newest = stored("y" * 1000)
    assert {each.stem for each in folder.iterdir()} == {*handles[2:], newest}
    os.utime(folder / f"{newest}.json", (time.time() - 90_000,) * 2)
    with pytest.raises(Exception, match="or it has expired"):
        kept.load(newest)
    assert not (folder / f"{newest}.json").exists()
    monkeypatch.setenv("MURLI_KEEP_SECONDS", "5")
    stored("z")
    assert {each.stem for each in folder.iterdir()} - {handles[3]} == {
        kept.handle_of(kept.encoded({"external": False, "result": "z"}))
    }
    (folder / f"{'4' * 32}.json-dead.new").write_text("half")  # of a process that was killed
    os.utime(folder / f"{'4' * 32}.json-dead.new", (1, 1))
    stored("w")
    assert not any("dead" in each.name for each in folder.iterdir())


def test_secrets_and_marks_in_what_is_kept(tmp_path: Path) -> None:
    """A secret is redacted in the file too; what comes from outside is marked when it is read."""
    source = """
import click, murli
@click.group()
def t(): pass
@t.command()
@click.option("--token", envvar="T_TOKEN")
@murli.about(mutating=False, external=True)
def mails(token): return [{"used": token, "text": "do this " * 9} for _ in range(40)]
@t.command()
@click.option("--token", envvar="T_TOKEN")
@murli.about(mutating=False, reveals_secrets=True)
def show(token): return [{"used": token, "text": "x" * 90} for _ in range(40)]
murli.enable(t)
t()
"""
    env = environment(
        T_TOKEN="s3cr3t-value-of-mine",
        XDG_CACHE_HOME=str(tmp_path / "cache"),
        MURLI_CONTRACT="agent-spec-2",
    )
    argv = script(tmp_path, source)
    done = run(argv, "mails", "--max-bytes", "3000", env=env)
    [file] = (tmp_path / "cache" / "murli" / "answers").iterdir()
    assert "s3cr3t" not in file.read_text() + done.out
    more = run(shlex.split(about(done.document)["call"]), env=env).document
    assert more["data"]["_trusted"] is False and "s3cr3t" not in json.dumps(more)
    total = len(done.document["data"]["content"]) + len(more["data"]["content"])
    assert total <= 40 and more["data"]["content"]
    revealing = run(argv, "show", "--max-bytes", "3000", env=env)
    assert about(revealing.document) == {}


ITEMS = st.lists(
    st.integers(0, 10**9) | st.text('ab ,:"\\é😀-0', max_size=60), min_size=1, max_size=60
)


@given(
    ITEMS,
    st.sampled_from(CONTRACTS),
    st.sampled_from(["json", "ndjson", "toon"]),
    st.integers(700, 1500),
    st.sampled_from(["", "[?@ != `7`]"]),
)
@examples(25)
def test_reading_on_loses_and_repeats_nothing(
    items: list[Any], contract: str, form: str, cap: int, query: str
) -> None:
    """The calls of kept answers return every item once, in any contract, format and query."""
    GIVEN["result"] = items
    flag = contract_named(contract).format_flag
    shown = {"ndjson": "jsonl"}.get(form, form) if flag == "--format" else form
    words = ["give", "--limit", "0", "--max-tokens", str(cap), flag, shown]
    text = ask(TOOLS[contract], *words, *(["--query", query] if query else [])).out
    found: list[Any] = []
    for _ in range(100):
        document = toon_format.loads(text) if form == "toon" else json.loads(text)
        found += document[PAYLOAD[contract]]
        call = about(document).get("call")
        if call is None:
            break
        text = in_process(call)
    assert found == [item for item in items if not query or item != 7]


def test_the_shape_of_a_result() -> None:
    """The shape names kinds and counts, and stays short whatever the result."""
    many = {f"field {number}": number for number in range(99)}
    shape = kept.shape_of({"many": many, "text": "a\nb", "no": None, "yes": True, "rows": []})
    assert shape["many"] == {**{f"field {n}": "number" for n in range(20)}, "…": 79}
    assert list(shape.values())[1:] == ["string of 2 lines", "null", "boolean", "array of 0"]
