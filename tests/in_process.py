"""Calls of tools in the process of the test, and the shops that several rooms call."""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import sys
from collections.abc import Iterator
from typing import Any

import click
from click.testing import CliRunner

import murli
from documents import hold_to_schema
from harness import HOME, Run

CONTRACTS = ["murli", "response", "agent-spec-1.6", "agent-spec-2"]
FAMILY = CONTRACTS[1:]

ITEMS = "[{'id': i, 'name': f'item {i}', 'owner': {'name': 'x', 'mail': 'y'}} for i in range(n)]"
SHOPS = {
    "argparse": f"""
import argparse, murli
parser = argparse.ArgumentParser(prog="shop")
commands = parser.add_subparsers(dest="command", required=True)
command = commands.add_parser("items")
command.add_argument("--n", type=int, default=45)
murli.enable(parser)
n = parser.parse_args().n
murli.get_writer().write_success("", {ITEMS})
""",
    "click": f"""
import click, murli
@click.group()
def shop(): pass
@shop.command()
@click.option("--n", type=int, default=45)
def items(n):
    return {ITEMS}
murli.enable(shop)
shop(prog_name="shop")
""",
    "typer": f"""
import typer, murli
shop = typer.Typer(name="shop")
@shop.callback()
def main(): pass
@shop.command()
def items(n: int = 45):
    return {ITEMS}
murli.enable(shop)
shop(prog_name="shop")
""",
}


class listening:  # noqa: N801
    """Calls in process: what they write, and how they end."""

    def __enter__(self) -> listening:
        self.out = io.StringIO()
        self.err = io.StringIO()
        self.code: object = 0
        self._streams = contextlib.ExitStack()
        self._streams.enter_context(contextlib.redirect_stdout(self.out))
        self._streams.enter_context(contextlib.redirect_stderr(self.err))
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        self._streams.close()
        if isinstance(error, SystemExit):
            self.code = error.code
            return True
        return False

    @property
    def document(self) -> Any:
        return json.loads(self.out.getvalue())

    @property
    def error(self) -> Any:
        return json.loads(self.err.getvalue())


def make(**settings: Any) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="t")
    murli.enable(parser, **settings)
    return parser


# -- one tool, whose commands give what a test wants

GIVEN: dict[str, Any] = {}


def make_tool(contract: str, **metadata: Any) -> click.Group:
    """Give a tool whose commands answer with what is in `GIVEN`."""
    group = click.Group("tool")

    @group.command()
    def give() -> Any:
        return GIVEN["result"]

    @group.command()
    def count() -> Iterator[Any]:
        try:
            for number in range(GIVEN.get("end", sys.maxsize)):
                GIVEN["made"] = number + 1
                yield {"n": number}
        finally:
            GIVEN["closed"] = True

    if metadata:
        murli.annotate(give, murli.Metadata(**metadata))
    murli.enable(group, name="tool", contract=contract)  # type: ignore[arg-type]
    return group


def ask(tool: click.Group, *words: str, **env: str) -> Run:
    """Call *tool* in this process."""
    home = {"HOME": HOME, "XDG_CACHE_HOME": None}
    done = CliRunner().invoke(tool, list(words), env={"MURLI_TEST": "1", **home, **env})
    for text in (done.stdout, done.stderr):
        hold_to_schema(text.encode(), words, {})
    return Run(done.stdout.encode(), done.stderr.encode(), done.exit_code)
