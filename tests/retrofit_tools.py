"""Tools that have never heard of murli, in an environment without it."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

from harness import Run, environment, run

MURLI = [sys.executable, "-m", "murli", "run"]

CLICK = """
import sys
import click

@click.group()
@click.version_option("3.2.1")
def cli():
    "Keep books."

@cli.command()
@click.argument("name")
def show(name):
    "Show one book."
    click.echo(f"book {name}")

@cli.command()
@click.argument("name")
@click.option("--deep", is_flag=True)
def delete(name, deep):
    "Delete a book."
    click.echo(f"deleted {name}")

@cli.command()
def ask():
    "Ask for a name."
    click.echo("hello " + click.prompt("Name"))

if __name__ == "__main__":
    cli()
"""

ARGPARSE = """
import argparse, sys

def main():
    parser = argparse.ArgumentParser(prog="books", description="Keep books.")
    parser.add_argument("--version", action="version", version="books 3.2.1")
    below = parser.add_subparsers(dest="command", required=True)
    below.add_parser("show", help="Show one book.").add_argument("name")
    below.add_parser("delete", help="Delete a book.").add_argument("name")
    below.add_parser("ask", help="Ask for a name.")
    args = parser.parse_args()
    if args.command == "show":
        print("book", args.name)
    elif args.command == "delete":
        print("deleted", args.name)
    else:
        print("hello", input("Name: "))
    return 0

if __name__ == "__main__":
    sys.exit(main())
"""

TYPER = """
import typer
app = typer.Typer(help="Keep books.")

@app.command()
def show(name: str):
    "Show one book."
    print("book", name)

@app.command()
def delete(name: str):
    "Delete a book."
    print("deleted", name)

@app.command()
def ask():
    "Ask for a name."
    print("hello", typer.prompt("Name"))

if __name__ == "__main__":
    app()
"""

CYCLOPTS = """
import cyclopts
app = cyclopts.App(name="books", help="Keep books.", version="3.2.1")

@app.command
def show(name: str):
    "Show one book."
    print("book", name)

@app.command
def delete(name: str):
    "Delete a book."
    print("deleted", name)

@app.command
def ask():
    "Ask for a name."
    print("hello", input("Name: "))

if __name__ == "__main__":
    app()
"""

TOOLS = {"cyclopts": CYCLOPTS, "click": CLICK, "argparse": ARGPARSE, "typer": TYPER}


def bare_python(folder: Path) -> Path:
    """Make an environment that has the frameworks and no murli; return its interpreter."""
    packages = folder / "packages"
    packages.mkdir(parents=True)
    for each in Path(sysconfig.get_path("purelib")).iterdir():
        if "murli" not in each.name.lower() and each.suffix != ".pth" and "riffle" not in each.name:
            (packages / each.name).symlink_to(each)
    made = folder / "env"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(made)], check=True)
    site = next((made / "lib").glob("python*")) / "site-packages"
    (site / "packages.pth").write_text(f"{packages}\n")
    return made / "bin" / "python"


def install(python: Path, name: str, source: str) -> Path:
    """Put a console script beside *python*; return it."""
    path = python.parent / name
    path.write_text(f"#!{python}\n{source.lstrip()}")
    path.chmod(0o755)
    return path


def served(tool: Path | str, *words: str, options: tuple[str, ...] = (), **more: str | None) -> Run:
    """Run a tool through ``murli run``."""
    return run([*MURLI, *options, str(tool)], *words, env=environment(**more))


def plain(tool: Path | str, *words: str, **more: str | None) -> Run:
    """Run a tool as it is."""
    return run([str(tool)], *words, env=environment(**more))


def on_path(*folders: Path) -> str:
    """Return a PATH that begins with *folders*."""
    return os.pathsep.join([*map(str, folders), os.environ["PATH"]])
