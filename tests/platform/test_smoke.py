"""What every system must do, with nothing but pytest, click and typer: Windows runs this in CI."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ARGPARSE = """
import argparse, murli
parser = argparse.ArgumentParser(prog="hello")
parser.add_argument("--name", default="world")
murli.about(parser, mutating=False)
murli.enable(parser)
args, writer = murli.parse(parser)
if args.name == "nobody":
    raise murli.AgentError.not_found("There is no such person.", "Name somebody else.")
writer.write_success("Hello", {"hello": args.name})
"""

CLICK = """
import click, murli

@click.command()
@click.option("--name", default="world")
@murli.about(destructive=True, plan=lambda name: {"would_greet": name})
def hello(name):
    return {"hello": name}

murli.enable(hello)
hello()
"""

TYPER = """
import typer, murli
app = typer.Typer()

@app.command()
def hello(name: str = "world") -> dict[str, str]:
    print("noise")
    return {"hello": name}

murli.enable(app)
app()
"""

CLIENT = """
import sys
from murli.client import Tool
tool = Tool([sys.executable, sys.argv[1]], contract="murli")
print(tool.call(name="you").data, tool.call(name="nobody").problem.kind)
"""


def run(folder: Path, source: str, *words: str) -> tuple[int, Any, bytes]:
    """Return the exit code of a program, its document, and what it wrote to stdout."""
    path = folder / "tool.py"
    path.write_text(source, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(path), *words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env={**os.environ, "HOME": str(folder), "MURLI_TEST": "1"},
        timeout=60,
        check=False,
    )
    text = (done.stdout or done.stderr).decode()
    return done.returncode, json.loads(text[text.index("{") :]), done.stdout


@pytest.mark.parametrize(
    ("source", "confirmed"),
    [(ARGPARSE, ()), (CLICK, ("--yes",)), (TYPER, ())],
    ids=["argparse", "click", "typer"],
)
def test_a_call_has_one_document(tmp_path: Path, source: str, confirmed: tuple[str, ...]) -> None:
    """A call is answered with one document, and its lines end as they do everywhere."""
    code, document, stdout = run(tmp_path, source, "--name", "you", *confirmed)
    assert (code, document["result"]) == (0, {"hello": "you"})
    assert b"\r" not in stdout


def test_errors_and_the_guard(tmp_path: Path) -> None:
    """A wrong call, a failure, an unconfirmed change and a dry run have their codes."""
    assert run(tmp_path, ARGPARSE, "--nme", "x")[1]["error"] == "flag_error"
    assert run(tmp_path, ARGPARSE, "--name", "nobody")[0] == 5
    assert run(tmp_path, CLICK)[1]["error"] == "confirmation_required"
    assert run(tmp_path, CLICK, "--dry-run")[1]["plan"] == {"would_greet": "world"}


@pytest.mark.parametrize("source", [ARGPARSE, CLICK, TYPER], ids=["argparse", "click", "typer"])
def test_descriptions(tmp_path: Path, source: str) -> None:
    """A tool describes itself."""
    assert run(tmp_path, source, "describe")[1]["name"]
    assert run(tmp_path, source, "--schema")[1]["flags"]


def test_the_client(tmp_path: Path) -> None:
    """The client reads a result and an error."""
    (tmp_path / "hello.py").write_text(ARGPARSE, encoding="utf-8")
    (tmp_path / "client.py").write_text(CLIENT, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "client.py", "hello.py"],
        cwd=tmp_path,
        env={**os.environ, "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stdout.split() == ["{'hello':", "'you'}", "not_found"], done.stderr
