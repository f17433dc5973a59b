"""riffle on click."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
import murli

from . import __version__, commands
from .engine import default_index_path

if TYPE_CHECKING:
    from collections.abc import Callable

    from murli import Writer


def where(function: Any) -> Any:
    """Add the option that every command has."""
    told = "index file (default: ~/.riffle/index.db)"
    return click.option("--index", metavar="FILE", help=told)(function)


@click.group(help="Find the folders and files that are about a topic.")
@click.version_option(__version__, prog_name="riffle", message="%(prog)s %(version)s")
def main() -> None:
    """Run riffle."""


@main.command(help="Find what is about a topic")
@where
@click.argument("text")
@click.option("--top", type=int, default=5, help="Maximum results to return")
@murli.pass_writer
def query(writer: Writer, text: str, top: int, index: str | None) -> None:
    _run(lambda place: commands.query(writer, text, top, place), index)


@main.command(help="Show an indexed file or folder")
@where
@click.argument("path")
@murli.pass_writer
def show(writer: Writer, path: str, index: str | None) -> None:
    _run(lambda place: commands.show(writer, path, place), index)


@main.group("index", help="Build, inspect or delete the index")
def index_group() -> None:
    pass


@index_group.command(help="Index the text files below a folder")
@where
@click.argument("folder")
@murli.pass_writer
def build(writer: Writer, folder: str, index: str | None) -> None:
    _run(lambda place: commands.build(writer, folder, place), index)


@index_group.command(help="Tell what the index holds")
@where
@murli.pass_writer
def status(writer: Writer, index: str | None) -> None:
    _run(lambda place: commands.status(writer, place), index)


@index_group.command(help="Delete the index")
@where
@murli.pass_writer
def delete(writer: Writer, index: str | None) -> None:
    _run(lambda place: commands.delete(writer, place), index)


def _run(command: Callable[[str], None], index: str | None) -> None:
    commands.guarded(lambda: command(index or default_index_path()))


for name, function in (
    ("query", query),
    ("show", show),
    ("index build", build),
    ("index status", status),
    ("index delete", delete),
):
    murli.annotate(function, commands.METADATA[name])
murli.enable(main, name="riffle", tool_version=__version__)

if __name__ == "__main__":
    main()
