"""A whole command line through an enabled tool: whatever it says, one document answers.

An input is lines: the framework, then the words. What reads words here is ours: the flags, and the
commands ``describe``, ``profile`` and ``doctor``; the handler only tells what it was given.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import tempfile
from collections.abc import Callable
from typing import Any

import click
import jsonschema
import typer

import murli
from fuzz.targets import require
from murli.contracts import CONTRACT_NAMES
from murli.core import FLAG_NAMES, MOUNTED

WORDS = [
    *(f"\n{name}" for name in (*sorted(FLAG_NAMES), *MOUNTED)),
    *(f"={name}" for name in (*CONTRACT_NAMES, "json", "ndjson", "text", "0.2", "1")),
    *("argparse\n", "click\n", "typer\n", "\ndescribe\n--depth\n", "\n--agents-md", "\n--help"),
    *("\nsave", "\nuse", "\nlist", "\nshow", "\ndelete", "\nset", "\nregion=eu"),
    *("\nchange", "\nname", "\n--region", "\n--token", "\n--count", "\n--", "\n--allow-plaintext"),
    "\ntoken=env:HOME",
]
FACTS = murli.Metadata(
    flag_annotations={
        "region": murli.FlagAnnotation(profileable=True, enum=["eu", "us"]),
        "token": murli.FlagAnnotation(profileable=True, sensitive=True),
    }
)
CHANGE = murli.Metadata(mutating=True, dry_runnable=True)


def check(data: bytes) -> None:
    """Call the tool that the first line names with the words of the others."""
    name, *lines = data.split(b"\n")
    names = list(_TOOLS)
    key = name.decode("latin-1")
    if key not in _TOOLS:
        key = names[sum(name) % len(names)]
    words = [os.fsdecode(line.replace(b"\0", b"")) for line in lines[:12]]
    with tempfile.TemporaryDirectory(prefix="murli-fuzz-") as home:
        os.environ["MURLI_PROFILE_PATH"] = os.path.join(home, "profiles.json")
        out, err, code = _call(_TOOLS[key], words)
        left = [entry for entry in os.listdir(home) if not entry.startswith("profiles.json")]
    require(not left, "nothing is left beside the profiles", (words, left))
    require("Traceback" not in out + err, "no traceback", words)
    _require_document(words, out, err, code)


def _call(tool: Callable[[list[str]], Any], words: list[str]) -> tuple[str, str, int]:
    out, err, code = io.StringIO(), io.StringIO(), 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            tool(words)
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(bool(end.code))
    return out.getvalue(), err.getvalue(), code


def _require_document(words: list[str], out: str, err: str, code: int) -> None:
    if any(word.startswith("--output") for word in words) or out.lower().startswith(_EXPLAINING):
        return  # text was asked for, or may have been
    text = out or err.rstrip("\n").rpartition("\n{\n")[2]
    if not out and not text.startswith("{"):
        text = "{\n" + text
    try:
        document = json.loads(text)
    except ValueError:
        require(False, "the answer is one document", (words, out, err))
    name = "murli" if "status" in document else "response"
    if "ok" in document:
        ended = bool(document["ok"]) == (code == 0)
    elif "status" in document:
        ended = document.get("code", 3 if document["status"] == "partial" else 0) == code
    else:
        name, ended = "describe" if "commands" in document else "", code == 0
    require(ended, "the exit code is the document's", (words, code, document))
    if name == "response":
        name = next((each for each in _FAMILY if _VALIDATORS[each].is_valid(document)), "")
        require(name, "the document keeps its contract", (words, document))
    elif name:
        problem = next(_VALIDATORS[name].iter_errors(document), None)
        require(problem is None, "the document keeps its contract", (words, problem))


_EXPLAINING = ("usage: ", "# agents.md")
_FAMILY = CONTRACT_NAMES[1:]
_VALIDATORS = {
    name: jsonschema.Draft202012Validator(murli.load_schema(name))
    for name in (*CONTRACT_NAMES, "describe")
}


def _tell(**given: Any) -> None:
    murli.get_writer().write_success("Told.", given)


def _argparse_tool() -> Callable[[list[str]], Any]:
    parser = argparse.ArgumentParser(prog="t")
    parser.add_argument("--region", default="eu")
    parser.add_argument("--token")
    commands = parser.add_subparsers(dest="command", required=True)
    name = commands.add_parser("name", help="tell a name")
    name.add_argument("--count", type=int, default=1)
    name.add_argument("words", nargs="*")
    change = commands.add_parser("change", help="change things")
    change.add_argument("what", nargs="?")
    murli.annotate(parser, FACTS)
    murli.annotate(change, CHANGE)
    murli.enable(parser, tool_version="1.0")

    def call(words: list[str]) -> None:
        with murli.session(parser, words) as (args, _):
            _tell(**vars(args))

    return call


def _click_tool() -> Callable[[list[str]], Any]:
    @click.group("t")
    @click.option("--region", default="eu")
    @click.option("--token")
    def tool(**given: Any) -> None:
        pass

    @tool.command("name", help="tell a name")
    @click.option("--count", type=int, default=1)
    @click.argument("words", nargs=-1)
    def name(**given: Any) -> None:
        _tell(**given)

    @tool.command("change", help="change things")
    @click.argument("what", required=False)
    def change(**given: Any) -> None:
        _tell(**given)

    murli.annotate(tool, FACTS)
    murli.annotate(change, CHANGE)
    murli.enable(tool, name="t", tool_version="1.0")
    return lambda words: tool.main(words, prog_name="t")


def _typer_tool() -> Callable[[list[str]], Any]:
    app = typer.Typer(add_completion=False, rich_markup_mode=None)

    @app.callback()
    def root(region: str = "eu", token: str = "") -> None:
        pass

    @app.command("name", help="tell a name")
    def name(words: list[str], count: int = 1) -> None:
        _tell(words=words, count=count)

    @app.command("change", help="change things")
    def change(what: str = "") -> None:
        _tell(what=what)

    murli.annotate(app, FACTS)
    murli.annotate(change, CHANGE)
    murli.enable(app, name="t", tool_version="1.0")
    return lambda words: app(words, prog_name="t")


_TOOLS = {"argparse": _argparse_tool(), "click": _click_tool(), "typer": _typer_tool()}
