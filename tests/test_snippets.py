"""The published snippets run as they stand."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness import run, run_at_terminal, script

QUICKSTART = """
import argparse
import murli

parser = argparse.ArgumentParser()
murli.enable(parser)
parser.add_argument("text")

args, writer = murli.parse(parser)
writer.log("searching...")
results = [{"path": "/docs/woodworking", "score": 0.95}]
writer.write_success("Found 1 result", results)
"""

DEPLOY = """
import argparse
import murli

parser = argparse.ArgumentParser()
murli.enable(parser)
parser.add_argument("--env", required=True)

args, writer = murli.parse(parser)
writer.write_success(f"Deployed to {args.env}", {"env": args.env})
"""

# Each handler below holds the lines of one snippet, unchanged.
HANDLERS = """
import argparse
import os
from types import SimpleNamespace

import murli

index_exists = False
chunks = [SimpleNamespace(index=0, text="a"), SimpleNamespace(index=1, text="b")]
items = [SimpleNamespace(name="one"), SimpleNamespace(name="two"), SimpleNamespace(name="three")]
summary = {"total": 2}


def process(item):
    pass


def success(writer):
    results = [{"path": "/docs/woodworking", "score": 0.95}]
    writer.write_success("Found 1 result", results)


def missing(writer):
    if not index_exists:
        raise murli.AgentError.not_found(
            "index not found",
            "Run `mytool index build` to create the index.",
        )


def internal(writer):
    err = RuntimeError("disk on fire")
    # For internal errors:
    raise murli.AgentError.tool_error(str(err))


def events(writer):
    for chunk in chunks:
        writer.write_event({"event": "chunk", "index": chunk.index, "data": chunk.text})
    writer.write_success("Processed all chunks", summary)


def progress(writer):
    for i, item in enumerate(items):
        writer.write_progress(murli.ProgressEvent(
            stage="processing",
            current=i + 1,
            total=len(items),
            percent=(i + 1) / len(items) * 100,
            message=item.name,
        ))
        process(item)
    writer.write_success("Done", summary)


def clean(writer):
    files_to_delete = [name for name in ("a.db", "b.db", "c.db") if os.path.exists(name)]
    if writer.is_dry_run():
        writer.write_plan("Would delete 3 files", {
            "would_delete": files_to_delete,
            "count": len(files_to_delete),
        })
        return
    for f in files_to_delete:
        os.remove(f)
    writer.write_success("Deleted 3 files", None)


def log(writer):
    writer.log("connecting to index...")
    # repeated identical calls are deduplicated
    writer.log("connecting to index...")


parser = argparse.ArgumentParser(prog="mytool")
commands = parser.add_subparsers(dest="command")
for name in ("success", "missing", "internal", "events", "progress", "clean", "log"):
    command = commands.add_parser(name)
    if name == "clean":
        murli.annotate(command, murli.Metadata(mutating=True, dry_runnable=True))
murli.enable(parser, tool_version="1.0.2")
args, writer = murli.parse(parser)
globals()[args.command](writer)
"""


@pytest.fixture
def mytool(tmp_path: Path) -> list[str]:
    return script(tmp_path, HANDLERS, "mytool.py")


def test_the_argparse_quickstart(tmp_path: Path) -> None:
    """The quickstart answers an agent, a person, describe and --schema."""
    argv = script(tmp_path, QUICKSTART, "mytool.py")
    done = run(argv, "woodworking")
    assert done.document["message"] == "Found 1 result"
    assert done.document["result"] == [{"path": "/docs/woodworking", "score": 0.95}]
    assert done.logs[0]["msg"] == "searching..."
    assert run_at_terminal(argv, "woodworking").out == "Found 1 result\n"
    assert run(argv, "describe").document["name"] == "mytool"
    assert run(argv, "--schema").document["arguments"][0]["name"] == "text"
    assert run(argv).error["message"] == "Missing required argument text."


def test_the_deploy_quickstart(tmp_path: Path) -> None:
    """A required option keeps neither describe nor doctor from answering."""
    argv = script(tmp_path, DEPLOY, "mytool.py")
    assert run(argv, "--env", "prod").document["result"] == {"env": "prod"}
    assert run(argv, "describe").document["flags"][0]["required"] is True
    assert run(argv, "doctor").code == 0


def test_success(mytool: list[str]) -> None:
    """The success snippet prints the envelope of the guide."""
    assert run(mytool, "success").document == {
        "status": "ok",
        "schema_version": "1.0",
        "tool_version": "1.0.2",
        "message": "Found 1 result",
        "result": [{"path": "/docs/woodworking", "score": 0.95}],
    }


def test_errors(mytool: list[str]) -> None:
    """The error snippets give their categories and codes."""
    done = run(mytool, "missing")
    assert (done.code, done.error["error"], done.error["recoverable"]) == (5, "not_found", True)
    done = run(mytool, "internal")
    assert (done.code, done.error["message"]) == (2, "disk on fire")


def test_events(mytool: list[str]) -> None:
    """The streaming snippet gives two events and one closing line."""
    first_keys = [next(iter(line)) for line in run(mytool, "events").lines]
    assert first_keys == ["event", "event", "status"]


def test_progress(mytool: list[str]) -> None:
    """The progress snippet counts to three and closes."""
    *told, end = run(mytool, "progress").lines
    assert [line["current"] for line in told] == [1, 2, 3]
    assert told[2] == {
        "event": "progress",
        "stage": "processing",
        "current": 3,
        "total": 3,
        "percent": 100,
        "message": "three",
    }
    assert end["result"] == {"total": 2}


def test_dry_run(mytool: list[str], tmp_path: Path) -> None:
    """The dry-run snippet plans without deleting, and deletes when confirmed."""
    for name in ("a.db", "b.db", "c.db"):
        (tmp_path / name).touch()
    done = run(mytool, "clean", "--dry-run", cwd=tmp_path)
    assert done.document["plan"] == {"would_delete": ["a.db", "b.db", "c.db"], "count": 3}
    assert (tmp_path / "a.db").exists()
    done = run(mytool, "clean", "--yes", cwd=tmp_path)
    assert (done.document["result"], (tmp_path / "a.db").exists()) == (None, False)


def test_log(mytool: list[str]) -> None:
    """The log snippet's repetition is told once, and the call still gets its answer."""
    done = run(mytool, "log")
    assert [(entry["msg"], entry.get("repeated")) for entry in done.logs] == [
        ("connecting to index...", 1)
    ]
    assert done.document["result"] is None


def test_agents_md(mytool: list[str]) -> None:
    """Describe --agents-md prints a file to keep."""
    assert run(mytool, "describe", "--agents-md").out.startswith("# AGENTS.md\n")
