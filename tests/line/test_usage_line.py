"""A command in one line, as it is shown beside the error of a mistyped call."""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import Any

import click
import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st

import murli
from harness import run, script
from murli.adapters.argparse.tree import walk
from murli.adapters.click import declared
from murli.adapters.click.levels import CommandLevel
from murli.adapters.click.tree import walk as walk_click
from murli.declare.tree import Command, Flag
from murli.line.usage_line import MOST_BYTES, usage_line
from properties import examples

pytestmark = pytest.mark.warm

ELIDED = "… (--help for all)"


def of_parser(parser: argparse.ArgumentParser) -> str:
    return usage_line(walk(parser, ("shop", "add")))


def of_click(command: Any, path: tuple[str, ...] = ("shop", "add")) -> str:
    return usage_line(walk_click(CommandLevel(command, path[-1]), path, declared))


def test_a_parser_in_one_line() -> None:
    """Arguments come first, then what is required; choices, defaults and repeats are told."""
    parser = argparse.ArgumentParser("shop")
    parser.add_argument("sku")
    parser.add_argument("extra", nargs="*")
    parser.add_argument("--count", "-c", type=int, default=0)
    parser.add_argument("--color", choices=["red", "blue"])
    parser.add_argument("--tag", action="append")
    parser.add_argument("-v", "--verbose", action="count", default=0)
    parser.add_argument("--cache", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--title", metavar="WORDS", default="two words")
    parser.add_argument("--at", nargs=2, type=int, metavar=("X", "Y"))
    parser.add_argument("--hidden", help=argparse.SUPPRESS)
    parser.add_argument("-n", type=float, required=True)
    way = parser.add_mutually_exclusive_group(required=True)
    way.add_argument("--file")
    way.add_argument("--all", action="store_true")
    assert of_parser(parser) == (
        "shop add SKU [EXTRA...] -n FLOAT (--file TEXT | --all) [--count INT=0]"
        " [--color {red|blue}] [--tag TEXT]... [--verbose]... [--cache/--no-cache=on]"
        ' [--title WORDS="two words"] [--at X Y]'
    )


def test_a_click_command_in_one_line() -> None:
    """A click command is told alike, in the spellings it is called by."""

    @click.command()
    @click.argument("sku")
    @click.argument("more", nargs=-1)
    @click.option("--shout/--no-shout", " /-S", default=False)
    @click.option("--size", type=click.Choice(["s", "m"]), required=True)
    @click.option("-x", type=int)
    @click.option("--tag", multiple=True)
    @click.option("--hide", hidden=True)
    @click.option("--pin", hide_input=True, default="1234")
    def add(**given: object) -> None: ...

    assert of_click(add) == (
        "shop add SKU [MORE...] --size {s|m} [--shout/--no-shout] [-x INT] [--tag TEXT]..."
        " [--pin TEXT]"
    )
    group = click.Group("shop", params=[click.Option(["--db"])], commands={"add": add})
    assert of_click(group, ("shop",)) == "shop [--db TEXT] COMMAND ..."


def test_a_typer_command_in_one_line() -> None:
    """A typer command is told alike."""
    app = typer.Typer()

    @app.command()
    def add(sku: str, count: int = 1, dry: bool = False, tag: list[str] | None = None) -> None: ...

    assert of_click(typer.main.get_command(app)) == (
        "shop add SKU [--count INT=1] [--dry/--no-dry] [--tag TEXT]..."
    )


def test_odd_choices_metavars_and_repeats() -> None:
    """What would be read as several values or words is quoted or joined; pairs repeat too."""
    parser = argparse.ArgumentParser("shop")
    parser.add_argument("file", metavar="FILE NAME")
    parser.add_argument("--mode", choices=["a b", "c|d", "", "e"])
    parser.add_argument("--at", nargs=2, action="append", metavar=("X", "Y"))
    parser.add_argument("--fast", dest="how", action="append_const", const=1)
    parser.add_argument("--host", metavar="HOST PORT")
    expected = (
        'shop add FILE_NAME [--mode {"a b"|"c|d"|""|e}] [--at X Y]... [--fast]...'
        " [--host HOST_PORT]"
    )
    assert of_parser(parser) == expected
    options = [
        click.Argument(["file"], metavar="FILE NAME"),
        click.Option(["--mode"], type=click.Choice(["a b", "c|d", "", "e"])),
        click.Option(["--at"], nargs=2, multiple=True),
        click.Option(["--pair"], type=(str, int)),
    ]
    assert of_click(click.Command("add", params=options)) == (
        'shop add FILE_NAME [--mode {"a b"|"c|d"|""|e}] [--at TEXT TEXT]... [--pair TEXT TEXT]'
    )


def test_no_default_that_is_secret_is_shown() -> None:
    """A default that is a secret by declaration, name or looks is left out; choices are masked."""
    notes = {"code": murli.FlagAnnotation(sensitive=True)}
    flags = [
        Flag("code", default="hunter22"),
        Flag("token", default="hunter22"),
        Flag("key", default="hunter22", env="TOOL_API_KEY"),
        Flag("url", default="https://u:hunter22@x"),
        Flag("way", choices=["a", "https://u:hunter22@x"], required=True),
    ]
    command = Command(("t",), flags=flags, metadata=murli.Metadata(flag_annotations=notes))
    assert usage_line(command) == (
        "t --way {a|https://u:[REDACTED]@x} [--code TEXT] [--token TEXT] [--key TEXT] [--url TEXT]"
    )


def test_a_long_line_leaves_out_what_is_optional() -> None:
    """Of more bytes than there is room for optional options go first, and that is told."""
    parser = argparse.ArgumentParser("shop")
    parser.add_argument("sku")
    parser.add_argument("--to", required=True)
    for number in range(50):
        parser.add_argument(f"--ö-{number}", choices=range(99))
    command = walk(parser, ("shop", "add"))
    line = usage_line(command, MOST_BYTES)
    assert line.startswith("shop add SKU --to TEXT [--ö-0 {0|1|2|3|")
    assert line.endswith(f"] {ELIDED}")
    assert MOST_BYTES - 200 < len(line.encode()) <= MOST_BYTES
    assert usage_line(command, 50) == f"shop add SKU --to TEXT {ELIDED}"
    assert usage_line(command, 33) == f"shop add {ELIDED}"


NAMES = st.lists(st.sampled_from("abcdefghij"), min_size=1, max_size=7, unique=True)
KINDS = st.sampled_from(["text", "int", "choice", "switch", "count", "list", "pair", "onoff"])
VALUES = {"INT": "3", "FLOAT": "0.5", "TEXT": "word", "BOOL": "true"}


def _add(parser: argparse.ArgumentParser, name: str, kind: str, required: bool) -> None:
    ways: dict[str, dict[str, Any]] = {
        "text": {"default": "a b"},
        "int": {"type": int, "default": 4},
        "choice": {"choices": ["r", "g"]},
        "switch": {"action": "store_true"},
        "count": {"action": "count"},
        "list": {"action": "append"},
        "pair": {"nargs": 2, "type": int},
        "onoff": {"action": argparse.BooleanOptionalAction},
    }
    parser.add_argument(f"--{name}x", required=required, **ways[kind])


def _option(name: str, kind: str, required: bool) -> click.Option:
    ways: dict[str, dict[str, Any]] = {
        "text": {"default": None if required else "a b"},
        "int": {"type": int},
        "choice": {"type": click.Choice(["r", "g"])},
        "switch": {"is_flag": True},
        "count": {"count": True},
        "list": {"multiple": True},
        "pair": {"nargs": 2, "type": int},
        "onoff": {"is_flag": True},
    }
    spelling = f"--{name}x/--no-{name}x" if kind == "onoff" else f"--{name}x"
    return click.Option([spelling, name], required=required, **ways[kind])


def filled(line: str, *, everything: bool) -> list[str]:
    """Give the words of a usage *line* with values in it; optional ones too with *everything*."""
    line = re.sub(r'="[^"]*"|=[^\] ]+', "", line)
    pattern = r"\[([^\]]*)\](?:\.\.\.)?"
    line = re.sub(pattern, r" \1 " if everything else "", line)
    words = []
    for each in line.replace("...", "").split():
        word = each.partition("/")[0] if each[:1] == "-" else each
        choice = re.fullmatch(r"\{([^|}]+).*\}", word)
        words.append(choice[1] if choice else VALUES.get(word, word if word[0] == "-" else "w"))
    return words


@examples(60)
@given(NAMES, st.lists(st.tuples(KINDS, st.booleans()), min_size=7, max_size=7), st.booleans())
def test_a_line_that_is_filled_in_parses(
    names: list[str], kinds: list[tuple[str, bool]], everything: bool
) -> None:
    """Whatever options a command has, the words of its line are a call that its parser takes."""
    parser = argparse.ArgumentParser("t", add_help=False, exit_on_error=False)
    params: list[click.Parameter] = [click.Argument(["sku"])]
    parser.add_argument("sku")
    for name, (kind, required) in zip(names, kinds, strict=False):
        _add(parser, name, kind, required)
        params.append(_option(name, kind, required))
    line = usage_line(walk(parser, ("t",)))
    assert parser.parse_args(filled(line, everything=everything)[1:]).sku == "w"
    command = click.Command("t", params=params)
    shown = of_click(command, ("t",))
    context = command.make_context("t", filled(shown, everything=everything)[1:])
    assert context.params["sku"] == "w"


TOOL = """
import sys
import murli
kind = sys.argv.pop(1)
if kind == "argparse":
    import argparse
    parser = argparse.ArgumentParser("shop")
    parser.add_argument("--db")
    parser.add_argument("--broken", default=None)
    commands = parser.add_subparsers(dest="command", required=True)
    add = commands.add_parser("add")
    add.add_argument("sku")
    add.add_argument("--count", type=int, default=1)
    murli.enable(parser)
    parser.parse_args()
else:
    import click
    class Lazy(click.Group):
        def list_commands(self, ctx):
            return ["add", "dear"]
        def get_command(self, ctx, name):
            if name == "dear":
                raise RuntimeError("loaded")
            return super().get_command(ctx, name)
    @click.group(cls=Lazy)
    @click.option("--db")
    def shop(db): ...
    @shop.command()
    @click.argument("sku")
    @click.option("--count", type=int, default=1)
    def add(sku, count):
        if sku == "odd":
            raise click.BadParameter("odd")
    murli.enable(shop)
    shop(prog_name="shop")
"""
ADD = "shop add SKU [--count INT=1]"


@pytest.mark.parametrize("kind", ["argparse", "click"])
def test_a_mistyped_call_is_answered_with_the_line(tmp_path: Path, kind: str) -> None:
    """Whatever is wrong with a call, the error has the line of the command it got to."""
    argv = [*script(tmp_path, TOOL), kind]
    for words in (["add"], ["add", "x", "--cuont", "2"], ["add", "x", "--count", "z"],
                  ["add", "x", "y"], ["--db", "d", "add", "x", "--count"]):  # fmt: skip
        assert run(argv, *words).error["usage"] == ADD, words
    group = run(argv, "ad").error
    assert group["usage"].startswith("shop [--db TEXT] ")
    assert group["usage"].endswith(" COMMAND ...")
    assert "dear" not in group["usage"]
    for contract in ("agent-spec-1.6", "agent-spec-2"):
        error = run(argv, "add", "--contract", contract).document["error"]
        assert error["context"]["usage"] == ADD
    closed = run(argv, "add", "--contract", "response").document["error"]
    assert closed["detail"] == f"Usage: {ADD}"
    assert "usage" not in run(argv, "add", "x", "--output", "odd").error


def test_what_a_handler_finds_wrong_has_the_line_too(tmp_path: Path) -> None:
    """A value that only the handler refuses is answered like one that the parser refuses."""
    argv = [*script(tmp_path, TOOL), "click"]
    assert run(argv, "add", "odd").error["usage"] == ADD
