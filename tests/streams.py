"""Tools that give one item after the other, and how their lines are read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from harness import environment, script

FAMILY = ["response", "agent-spec-1.6", "agent-spec-2"]
CONTRACTS = ["murli", *FAMILY]
# What the three tools below have in common.
CORE = """
import asyncio, os, sys, time
import murli

def items(n, pause, bad, gate=""):
    try:
        for number in range(n):
            while gate and not os.path.exists(f"{gate}{number}"):
                time.sleep(0.005)
            yield {"id": number}
            if pause:
                time.sleep(pause)
        if bad == "stubborn":
            while True:
                try: time.sleep(60)
                except BaseException: pass
        if bad:
            raise FileNotFoundError(2, "No such file", "items.db")
        print("a stray print")
    finally:
        os.write(2, b"closed\\n")
"""
TOOLS = {
    "argparse": """
import argparse
parser = argparse.ArgumentParser(prog="items")
parser.add_argument("command")
parser.add_argument("--n", type=int, default=3)
parser.add_argument("--pause", type=float, default=0)
parser.add_argument("--bad", default="")
parser.add_argument("--gate", default="")
murli.enable(parser)
with murli.session(parser) as (args, writer):
    writer.write_success("", items(args.n, args.pause, args.bad, args.gate))
""",
    "click": """
import click
@click.group()
def cli(): pass
murli.enable(cli, name="items")
@cli.command()
@click.option("--n", default=3)
@click.option("--pause", default=0.0)
@click.option("--bad", default="")
@click.option("--gate", default="")
def count(n, pause, bad, gate):
    yield from items(n, pause, bad, gate)
cli()
""",
    "typer": """
import typer
app = typer.Typer()
murli.enable(app, name="items")
@app.callback()
def main(): pass
@app.command()
def count(n: int = 3, pause: float = 0, bad: str = "", gate: str = ""):
    return items(n, pause, bad, gate)
@app.command()
async def slowly(n: int = 3, pause: float = 0.0, gate: str = ""):
    try:
        for number in range(n):
            while gate and not os.path.exists(f"{gate}{number}"):
                await asyncio.sleep(0.005)
            yield {"id": number}
            await asyncio.sleep(pause)
    finally:
        await asyncio.sleep(0)
        os.write(2, b"closed\\n")
murli.annotate(count, murli.Metadata(streams=True))
app()
""",
}
HEAD = "import asyncio, click, os, sys, time\nimport murli\n"


def program(tmp_path: Path, *lines: str) -> list[str]:
    return script(tmp_path, HEAD + "\n".join(lines) + "\n")


def spoken(contract: str, **changes: str | None) -> dict[str, str]:
    return environment(MURLI_CONTRACT=contract, **changes)


def is_end(line: Any) -> bool:
    """Tell whether a line is one by which a reader knows that a stream is over."""
    if not isinstance(line, dict):
        return False
    if line.get("_summary") is True:
        return True
    return line.keys() >= {"ok", "error"} or line.keys() >= {"status", "schema_version"}


def end_of(out: str) -> tuple[list[Any], Any]:
    """Give the items and the one line that ends them."""
    *items, end = [json.loads(line) for line in out.splitlines()]
    assert is_end(end), out
    assert not any(map(is_end, items)), out
    return items, end
