"""riffle on typer."""

from collections.abc import Callable
from typing import Annotated, Optional

import murli
import typer
from murli import Writer

from . import __version__, commands
from .engine import default_index_path

app = typer.Typer(help="Find the folders and files that are about a topic.")
index_app = typer.Typer(help="Build, inspect or delete the index")

Where = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option(metavar="FILE", help="index file (default: ~/.riffle/index.db)"),
]


def _tell_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"riffle {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[bool, typer.Option("--version", callback=_tell_version, is_eager=True)] = (
        False
    ),
) -> None:
    pass


@app.command(help="Find what is about a topic")
@murli.pass_writer
def query(
    writer: Writer,
    text: str,
    index: Where = None,
    top: Annotated[int, typer.Option(help="Maximum results to return")] = 5,
) -> None:
    _run(lambda place: commands.query(writer, text, top, place), index)


@app.command(help="Show an indexed file or folder")
@murli.pass_writer
def show(writer: Writer, path: str, index: Where = None) -> None:
    _run(lambda place: commands.show(writer, path, place), index)


app.add_typer(index_app, name="index")


@index_app.command(help="Index the text files below a folder")
@murli.pass_writer
def build(writer: Writer, folder: str, index: Where = None) -> None:
    _run(lambda place: commands.build(writer, folder, place), index)


@index_app.command(help="Tell what the index holds")
@murli.pass_writer
def status(writer: Writer, index: Where = None) -> None:
    _run(lambda place: commands.status(writer, place), index)


@index_app.command(help="Delete the index")
@murli.pass_writer
def delete(writer: Writer, index: Where = None) -> None:
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
murli.enable(app, name="riffle", tool_version=__version__)

if __name__ == "__main__":
    app()
