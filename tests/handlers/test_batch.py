"""Work on many items is answered with what became of each."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

import murli
from harness import run, script
from murli import AgentError

pytestmark = pytest.mark.warm

TOOL = """
import argparse
import murli
parser = argparse.ArgumentParser()
parser.add_argument("names", nargs="*")
murli.enable(parser)
args, writer = murli.parse(parser)
batch = murli.Batch()
for name in args.names:
    try:
        with open(name) as file:
            batch.ok({"name": name, "size": len(file.read())})
    except OSError as error:
        batch.failed(name, error)
batch.finish(writer)
"""


@pytest.fixture
def sizes(tmp_path: Path) -> list[str]:
    """The argv of a tool that tells the sizes of files, beside which there is one."""
    (tmp_path / "here").write_text("1234")
    return script(tmp_path, TOOL)


def test_when_all_work(sizes: list[str], tmp_path: Path) -> None:
    """A batch without a failure is a success, with the numbers and each result."""
    done = run(sizes, "here", "here", cwd=tmp_path)
    each = {"ok": True, "item": {"name": "here", "size": 4}}
    assert (done.code, done.document["status"]) == (0, "ok")
    assert done.document["message"] == "2 of 2 items done."
    summary = {"total": 2, "succeeded": 2, "failed": 0}
    assert done.document["result"] == {"summary": summary, "results": [each, each]}


@pytest.mark.parametrize(
    ("contract", "code"),
    [("murli", 3), ("agent-spec-1.6", 3), ("agent-spec-2", 3), ("response", 2)],
)
def test_when_some_fail(sizes: list[str], tmp_path: Path, contract: str, code: int) -> None:
    """A failure among them makes it partial, in every contract; the rest is told all the same."""
    done = run(sizes, "here", "gone", "--contract", contract, cwd=tmp_path)
    assert done.code == code
    assert '"failed": 1' in done.out or '\\"failed\\":1' in done.out
    if contract == "murli":
        ok, failed = done.document["result"]["results"]
        assert ok["ok"] is True
        assert failed == {
            "ok": False,
            "item": "gone",
            "error": {"code": "NOT_FOUND", "message": "No such file or directory: 'gone'"},
        }
        assert done.document["message"] == "1 of 2 items done."


def test_when_there_is_nothing_to_do(sizes: list[str]) -> None:
    """No items is a success with nothing in it."""
    done = run(sizes)
    assert (done.code, done.document["message"]) == (0, "0 of 0 items done.")
    assert done.document["result"]["results"] == []


def answered(batch: murli.Batch, message: str = "") -> dict[str, Any]:
    out = io.StringIO()
    writer = murli.Writer(out, io.StringIO(), True, tool_version="", exit_func=lambda code: None)
    try:
        batch.finish(writer, message)
    except SystemExit:
        pass
    document: dict[str, Any] = json.loads(out.getvalue())
    return document


def test_the_author_may_say_it() -> None:
    """A message of the author's takes the place of ours."""
    batch = murli.Batch()
    batch.ok(1)
    assert answered(batch)["message"] == "1 of 1 item done."
    assert answered(batch, "Uploaded.")["message"] == "Uploaded."
    batch.failed(2, "it is too large")
    assert answered(batch, "Uploaded some.")["message"] == "Uploaded some."
    assert answered(batch)["status"] == "partial"


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        ("words", "GENERAL_ERROR", "words"),
        (AgentError.conflict("it changed"), "CONFLICT", "it changed"),
        (AgentError.user_error("bad", error_type="index_missing"), "INDEX_MISSING", "bad"),
        (TimeoutError("slow"), "TIMEOUT", "slow"),
        (ValueError("odd"), "GENERAL_ERROR", "odd"),
        (AgentError.auth_required(reason="expired"), "TOKEN_EXPIRED", "Credentials are expired."),
    ],
)
def test_why_an_item_failed(error: BaseException | str, code: str, message: str) -> None:
    """Each failure has the code and the message it would have had as an answer."""
    batch = murli.Batch()
    batch.failed("x", error)
    (failed,) = batch.result()["results"]
    assert failed["error"] == {"code": code, "message": message}


def test_results_are_plain_data() -> None:
    """Items are encoded as any result is, and the batch can be looked at on the way."""
    batch = murli.Batch()
    batch.ok(Path("/x"))
    batch.ok()
    before = batch.result()
    batch.failed({"ok": 1, "error": None}, "no")
    assert len(before["results"]) == 2
    assert answered(batch)["result"]["results"] == [
        {"ok": True, "item": "/x"},
        {"ok": True, "item": None},
        {
            "ok": False,
            "item": {"ok": 1, "error": None},
            "error": {"code": "GENERAL_ERROR", "message": "no"},
        },
    ]
