"""``--output toon``: documents in fewer tokens, in every contract, and never in a stream."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
import toon_format
from hypothesis import given
from hypothesis import strategies as st

import murli
from harness import ADAPTERS, environment, run, run_at_terminal, script, tool
from in_process import CONTRACTS, GIVEN, SHOPS, ask, make_tool
from murli.compact.toon import render
from murli.contracts import contract_named
from murli.formats import MAX_DEPTH, cleaned, plain
from properties import examples

pytestmark = [pytest.mark.adapters("argparse", "click"), pytest.mark.warm]

TOOLS = {contract: make_tool(contract) for contract in CONTRACTS}
# What a notation without quotation marks could take for something else.
HARD = st.sampled_from(
    """null true false - -0 05 0x1 1e5 1e400 [3]: [] {} [2]{a,b}: key: a,b a|b NaN \ufeff "
    \\ # - -5a .5 ٣ 1_000 a.b “q” \u2028 \x85""".split()  # noqa: SIM905
) | st.sampled_from(["", " ", "- a", "a: b", " lead", "trail ", "\n", "\t", "a\tb", "\x0b"])
TEXT = HARD | st.text(max_size=9).map(cleaned)
LEAF = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT
)
ROWS = st.lists(TEXT, min_size=1, max_size=3, unique=True).flatmap(
    lambda names: st.lists(st.fixed_dictionaries(dict.fromkeys(names, LEAF)), max_size=4)
)
DATA = st.recursive(
    LEAF,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4) | ROWS,
)


def is_same(one: Any, other: Any) -> bool:
    """Return whether two values are the same data; 1 and 1.0 are one number, 1 and true are not."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(is_same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(is_same, one, other))
    return bool(one == other)


@given(DATA)
@examples(300)
def test_what_is_written_is_read_back(value: Any) -> None:
    """Any data in a document comes back from TOON as it was, hostile texts included."""
    document = {"status": "ok", "result": plain(value)}
    text = render(document)
    assert text is not None and is_same(toon_format.loads(text), document)


def test_what_is_nested_too_deep_is_written_as_json() -> None:
    """An answer that TOON cannot hold is not lost: it is JSON."""
    value: Any = []
    for _ in range(5000):
        value = [value]
    assert render(value) is None
    deep: Any = 1
    for _ in range(MAX_DEPTH - 2):
        deep = {"a": deep}
    GIVEN["result"] = deep
    done = ask(TOOLS["murli"], "give", "--output", "toon")
    try:
        found = toon_format.loads(done.out)
    except toon_format.ToonDecodeError:
        found = done.document
    assert found["result"] == deep


@pytest.mark.parametrize("contract", CONTRACTS)
def test_every_contract_answers_and_fails_in_toon(contract: str) -> None:
    """A success and a failure hold what they hold in JSON; both are shorter than indented JSON."""
    GIVEN["result"] = [{"id": number, "name": f"item {number}"} for number in range(9)]
    flag = contract_named(contract).format_flag
    for words in (["give"], ["give", "--limit", "x"], ["nope"]):
        as_json, as_toon = ask(TOOLS[contract], *words), ask(TOOLS[contract], *words, flag, "toon")
        assert as_toon.code == as_json.code
        texts = (as_json.out or as_json.err, as_toon.out or as_toon.err)
        documents = [json.loads(texts[0]), toon_format.loads(texts[1])]
        for each in documents:
            each.pop("meta", None)  # which has the time and the words
        assert documents[0] == documents[1]
        assert len(texts[1]) < len(texts[0])
    assert not ask(TOOLS[contract], "give", flag, "toon", "--limit", "3").out.startswith("{")


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_toon_on_every_framework_and_at_a_terminal(tmp_path: Path, adapter: str) -> None:
    """The rows of a list are a table, on a pipe and, where it is asked for, at a terminal."""
    argv = script(tmp_path, SHOPS[adapter])
    words = ["items", "--n", "2", "--fields", "id,name", "--output", "toon"]
    rows = "result[2]{id,name}:\n  0,item 0\n  1,item 1\n"
    done = run(argv, *words)
    assert (done.out.endswith(rows), done.err) == (True, "")
    shown = run_at_terminal(argv, *words[:-2], "--output", "toon")
    assert "status: ok" in shown.out.replace("\r", "")


def test_a_stream_is_lines_and_toon_is_none() -> None:
    """Items are one document under TOON; --stream with it is refused, and exec refuses it."""
    GIVEN.clear()
    GIVEN["end"] = 3
    tools = {name: make_tool(name, streams=True) for name in ("murli", "agent-spec-2")}
    for name, each in tools.items():
        flag = contract_named(name).format_flag
        done = ask(each, "count", flag, "toon")
        found = toon_format.loads(done.out)
        assert found[contract_named(name).payload_key] == [{"n": 0}, {"n": 1}, {"n": 2}]
        refused = ask(each, "count", "--stream", flag, "toon")
        assert f"Options --stream and {flag} toon cannot be combined" in refused.out + refused.err
    refused = run(tool("tasks_click"), "exec", "--output", "toon")
    assert refused.error["message"] == "exec answers in lines of JSON, not with --output toon."
    line = b'{"_cmd": "nothing"}\n'
    env = environment(MURLI_CONTRACT="agent-spec-2", TASKS_FORMAT="toon")
    answers = run(tool("tasks_click"), "exec", env=env, stdin=line)
    assert answers.lines[0]["error"]["code"] == "COMMAND_ERROR"


def test_events_stay_lines_of_json(tmp_path: Path) -> None:
    """What a handler streams itself, and what ends that, are lines that a reader can tell apart."""
    source = """
import argparse, murli
parser = argparse.ArgumentParser(prog="t")
murli.enable(parser)
parser.parse_args()
writer = murli.get_writer()
writer.write_event({"n": 1})
writer.write_success("", {"n": 1})
"""
    done = run(script(tmp_path, source), "--output", "toon")
    assert [line.get("status", line.get("n")) for line in done.lines] == [1, "ok"]


@pytest.mark.fresh
def test_a_missing_package_is_named_before_anything_runs(tmp_path: Path) -> None:
    """Without the extra the call is refused, in JSON, with what to install; others are as ever."""
    for flag, package, extra in (
        ("--output toon", "toon-format", "toon"),
        ("--query a", "jmespath", "query"),
    ):
        module = package.replace("-", "_")
        source = f"import sys\nsys.modules[{module!r}] = None\n{SHOPS['click']}"
        argv = script(tmp_path, source)
        done = run(argv, "items", *flag.split())
        shown = flag if extra == "toon" else "--query"
        assert done.error["error"] == "extra_missing"
        assert (
            done.error["message"] == f"{shown} needs the package {package}, which is not installed."
        )
        assert done.error["suggestion"] == f"Install it: pip install 'murli[{extra}]'"
        assert run(argv, "items").document["status"] == "ok"


def test_a_cap_cuts_toon_at_rows() -> None:
    """As many rows as fit into the bytes that the reader takes, and the call for the others."""
    GIVEN["result"] = [{"id": number, "name": f"item {number}"} for number in range(200)]
    done = ask(TOOLS["murli"], "give", "--output", "toon", "--max-bytes", "1200")
    found = toon_format.loads(done.out)
    assert 900 < len(done.stdout) <= 1200
    assert found["result"] == GIVEN["result"][: found["page"]["returned"]]
    assert found["page"]["total"] == 200


def test_a_writer_made_by_hand_writes_toon() -> None:
    """A writer in a test or a library takes the format like any other."""
    out = io.StringIO()
    murli.Writer(out, output_format="toon").write_success("", {"a": 1})
    assert toon_format.loads(out.getvalue())["result"] == {"a": 1}
