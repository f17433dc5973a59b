"""What an answer points to: the right description, the right option, the right version."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import murli
from harness import environment, lay_out, run, script

pytestmark = pytest.mark.warm


# What typer shares with click is tried with click.
FEW = ["argparse", "click", pytest.param("typer", marks=pytest.mark.slow)]
OWNS_SCHEMA = {
    "argparse": """
import argparse, murli
p = argparse.ArgumentParser(prog="tool")
below = p.add_subparsers(dest="command")
prompt = below.add_parser("prompt")
prompt.add_argument("--schema")
prompt.add_argument("--top", type=int)
prompt.add_argument("--no-input", action="store_true")
murli.enable(p, mount=MOUNT)
given = p.parse_args()
if not given.no_input:
    input("Project name: ")
""",
    "click": """
import click, murli
@click.group()
def cli(): pass
@cli.command()
@click.option("--schema")
@click.option("--top", type=int)
@click.option("--no-input", is_flag=True)
def prompt(schema, top, no_input):
    if not no_input:
        click.prompt("Project name")
murli.enable(cli, name="tool", mount=MOUNT)
cli()
""",
    "typer": """
import typer, murli
app = typer.Typer()
@app.callback()
def main(): pass
@app.command()
def prompt(schema: str = "", top: int = 1, no_input: bool = False):
    if not no_input:
        typer.prompt("Project name")
murli.enable(app, name="tool", mount=MOUNT)
app()
""",
}
# A group that adds words of its own to click's, as click-didyoumean does; one that looks itself.
OWN_WORDS = """
import sys, click, murli
class Adds(click.Group):
    def resolve_command(self, ctx, args):
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            raise click.UsageError(f"{error}\\n\\nDid you mean one of these?", error.ctx)
class Looks(click.Group):
    def get_command(self, ctx, name):
        found = super().get_command(ctx, name)
        return found or ctx.fail(f"Too many matches: {name}")
@click.group(cls=Adds if sys.argv.pop(1) == "adds" else Looks)
def cli(): pass
@cli.command()
def worker(): pass
@cli.command()
def beat(): pass
murli.enable(cli)
cli()
"""
IMPORTS = """
import argparse, importlib, murli
p = argparse.ArgumentParser()
p.add_argument("module")
murli.enable(p)
given = p.parse_args()
name = given.module.removesuffix(".py")
importlib.import_module("absent_package" if name == "x" else name)
"""
VERSIONED = """
import click
@click.group()
OPTION
def cli(): "Do it."
@cli.command()
def go(): pass
"""


@pytest.mark.parametrize("adapter", FEW)
def test_a_command_that_owns_schema_is_described_by_describe(tmp_path: Path, adapter: str) -> None:
    """Where --schema is the command's own, advice names the call that describes the command."""
    argv = script(tmp_path, OWNS_SCHEMA[adapter].replace("MOUNT", "True"))
    refused = run(argv, "prompt", "--top", "x").error
    assert refused["suggestion"].endswith(
        "Check command usage with `tool describe prompt` or --help."
    )
    assert run(argv, "describe", "prompt").document["name"] == "prompt"
    alone = script(tmp_path, OWNS_SCHEMA[adapter].replace("MOUNT", "False"), "alone.py")
    refused = run(alone, "prompt", "--top", "x").error
    assert refused["suggestion"].endswith("Check command usage with --help.")


@pytest.mark.parametrize("adapter", FEW)
def test_an_option_with_which_nothing_is_asked_is_named(tmp_path: Path, adapter: str) -> None:
    """A question that nobody answers names --no-input where the command has it."""
    argv = script(tmp_path, OWNS_SCHEMA[adapter].replace("MOUNT", "True"))
    asked = run(argv, "prompt").error
    assert asked["error"] == "input_required" and "--no-input" in asked["suggestion"]


@pytest.mark.parametrize("way", ["adds", "looks"])
def test_a_group_with_words_of_its_own_refuses_a_command(tmp_path: Path, way: str) -> None:
    """An unknown command is one whoever looks for it: its field and the known ones are told."""
    refused = run(script(tmp_path, OWN_WORDS), way, "wroker").error
    assert (refused["error"], refused["field"]) == ("command_error", "command")
    assert refused["valid_values"] == ["worker", "beat"]


def test_a_module_that_the_call_names_is_not_found(tmp_path: Path) -> None:
    """What the caller names and is not there is no dependency to install."""
    argv = script(tmp_path, IMPORTS)
    for word in ("nofile.py", "nofile"):
        assert run(argv, word).error["error"] == "not_found"
    assert run(argv, "x").error["error"] == "dependency_missing"


def test_a_long_description_says_how_to_be_told_less(tmp_path: Path) -> None:
    """A description of more than 20 KB names shorter ones, and the help of many commands too."""
    source = """
import click, murli
@click.group()
def cli(): pass
for number in range(80):
    @cli.command(f"c{number}")
    @click.option("--one", help="x" * 200)
    def f(one): pass
murli.enable(cli, name="tool")
cli()
"""
    argv = script(tmp_path, source)
    whole = run(argv, "describe").document
    assert list(whole)[3] == "hint"
    for shorter in ("--depth 1", "COMMAND", "--search WORDS"):
        assert f"`tool describe {shorter}`" in whole["hint"]
    assert "tool describe --depth 1" in run(argv, "--help").out
    for document in (whole, run(argv, "describe", "--depth", "1").document):
        Draft202012Validator(murli.load_schema("describe")).validate(document)


def test_an_overview_of_a_tool_without_commands_is_short(tmp_path: Path) -> None:
    """``--depth 1`` names the flags of a tool that is one command, with a line about each."""
    source = f"""
import argparse, murli
p = argparse.ArgumentParser(prog="tool")
p.add_argument("-m", "--mode", choices=["a", "b"], help={"word " * 50!r})
murli.enable(p)
p.parse_args()
"""
    argv = script(tmp_path, source)
    brief = run(argv, "describe", "--depth", "1").document
    Draft202012Validator(murli.load_schema("describe")).validate(brief)
    (flag,) = brief["flags"]
    assert (flag["name"], flag["short"]) == ("mode", "m") and len(flag["description"]) == 80
    assert "enum" not in flag and "capabilities" not in brief


@pytest.mark.parametrize(
    ("option", "version"),
    [
        ("@click.version_option('3.4')", "3.4"),
        ("@click.version_option(package_name='grown-tool')", "7.1"),
        ("@click.version_option()", "7.1"),
        ("", "7.1"),
    ],
)
def test_the_version_of_a_tool_enabled_from_outside_is_known(
    tmp_path: Path, option: str, version: str
) -> None:
    """What click's own option tells, or the package of the command, is the tool's version."""
    where = lay_out(
        tmp_path,
        {
            "grown_tool/__init__.py": "",
            "grown_tool/cli.py": VERSIONED.replace("OPTION", option),
            "grown_tool-7.1.dist-info/METADATA": "Name: grown-tool\nVersion: 7.1\n",
        },
    )
    source = "import murli\nfrom grown_tool.cli import cli\nmurli.enable(cli)\ncli()\n"
    argv = script(where, source)
    found: Any = run(argv, "describe", env=environment(PYTHONPATH=str(where))).document
    assert json.dumps(found["tool_version"]) == f'"{version}"'
