"""`murli.about` declares facts where a command is written, whatever its framework."""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import Any, get_type_hints

import click
import pytest

import murli
from harness import run, script
from murli import Metadata
from murli.adapters.click import declared
from murli.core import metadata_of
from murli.declare.keywords import MetadataFields

_CLICK = """
import asyncio, functools
import click
import murli

def timed(function):
    @functools.wraps(function)
    def run(*args, **named):
        return function(*args, **named)
    return run

class Deleting(click.Command):
    pass

murli.about(destructive=True)(Deleting)

@murli.about(agent_description="Works with disks.")
@click.group()
def cli(): pass

@murli.about(destructive=True)
@cli.command()
@click.option("--name")
def above(name): return 1

@cli.command()
@murli.about(destructive=True)
@click.option("--name")
def below(name): return 1

@cli.command()
@click.option("--name")
@timed
@murli.about(destructive=True)
def wrapped(name): return 1

@murli.about(destructive=True)
@cli.command()
@click.pass_context
@murli.about(agent_description="Deletes.", mutating=True)
def both(ctx): return 1

@cli.command()
@murli.about(destructive=True)
async def waits():
    await asyncio.sleep(0)
    return 1

@cli.command(cls=Deleting)
def by_class(): return 1

@cli.command()
@murli.about(destructive=True)
@murli.pass_writer
def writes(writer): writer.write_success("Done", 1)

murli.about(destructive=True, agent_description="Erases all.")(cli.command("late")(lambda: 1))
murli.enable(cli)
cli()
"""
_TYPER = """
import asyncio
import typer
import murli

app = typer.Typer()
sub = typer.Typer()
app.add_typer(sub, name="disks")
murli.about(app, agent_description="Works with disks.")
murli.about(sub, when_to_use="For disks.")

@murli.about(destructive=True)
@app.command()
def above(name: str = ""): return 1

@app.command()
@murli.about(destructive=True)
def below(name: str = ""): return 1

@murli.about(destructive=True)
@app.command()
@murli.about(agent_description="Deletes.", mutating=True)
def both(): return 1

@app.command()
@murli.about(destructive=True)
async def waits():
    await asyncio.sleep(0)
    return 1

@app.command()
@murli.pass_writer
@murli.about(destructive=True)
def writes(writer: murli.Writer): writer.write_success("Done", 1)

@sub.command()
@murli.about(destructive=True, agent_description="Erases all.")
def late(): return 1

murli.enable(app)
app()
"""
_ARGPARSE = """
import argparse
import murli

parser = argparse.ArgumentParser(prog="t")
commands = parser.add_subparsers(required=True)
murli.about(parser, agent_description="Works with disks.")

def below(args): return 1

@murli.about(destructive=True)
def above(args): print(1)

@murli.about(agent_description="Deletes.", mutating=True)
def both(args): print(1)

first = commands.add_parser("above")
first.set_defaults(run=above)
second, third = commands.add_parser("both"), commands.add_parser("late")
second.set_defaults(run=both, other={})
third.set_defaults(run=lambda args: print(1))
murli.about(second, third, destructive=True)
murli.about(third, agent_description="Erases all.")
murli.enable(parser)
args = parser.parse_args()
args.run(args)
"""
_SOURCES = {"argparse": _ARGPARSE, "click": _CLICK, "typer": _TYPER}
_COMMANDS = {
    "argparse": ["above", "both", "late"],
    "click": ["above", "below", "wrapped", "both", "waits", "by-class", "writes", "late"],
    "typer": ["above", "below", "both", "waits", "writes", "disks late"],
}


@pytest.mark.parametrize("adapter", _SOURCES)
@pytest.mark.warm
def test_about_stands_wherever_a_command_is_made(tmp_path: Path, adapter: str) -> None:
    """Above or below the framework's decorator, twice, around an async handler, on a class, on a
    group or an app: what is declared is described, and guards the command.
    """
    argv = script(tmp_path, _SOURCES[adapter])
    described = {each["name"]: each for each in _below(run(argv, "describe").document)}
    for path in _COMMANDS[adapter]:
        words = path.split()
        assert described[words[-1]]["safety"]["destructive"] is True, path
        refused = run(argv, *words)
        assert (refused.code, refused.error["error"]) == (1, "confirmation_required"), path
    done = run(argv, _COMMANDS[adapter][1], "--yes")
    assert done.document["result"] == (1 if adapter != "argparse" else "1")
    assert described["both"]["agent_description"] == "Deletes."
    assert described["late"]["agent_description"] == "Erases all."
    assert "Works with disks." in run(argv, "--schema").out


def _below(document: dict[str, Any]) -> list[dict[str, Any]]:
    found = []
    for each in document.get("commands", document.get("subcommands", [])):
        found += [each, *_below(each)]
    return found


def test_what_stands_higher_overrides_what_it_names() -> None:
    """Facts of several decorators add up; of the same field the highest counts."""

    @murli.about(timeout=3)
    @click.command()
    @murli.about(timeout=1, mutating=True, steps=["a"])
    def one() -> None: ...

    found = declared(one)
    assert found == Metadata(timeout=3, mutating=True, steps=["a"])
    assert metadata_of(one.callback) == Metadata(timeout=1, mutating=True, steps=["a"])
    with pytest.raises(ValueError, match="safe command"):
        murli.about(mutating=False, effect="created")
    with pytest.raises(ValueError, match="destructive command"):
        murli.about(destructive=True)(click.command()(murli.about(streams=True)(lambda: 0)))


def test_about_keeps_what_it_decorates() -> None:
    """The decorator returns its function, which can be called and registered as before."""

    def plain(name: str) -> int:
        return len(name)

    assert murli.about(mutating=True)(plain) is plain
    assert plain("x") == 1


def test_wrong_facts_and_wrong_places_are_errors() -> None:
    """A misspelled fact, none at all, and what no command can be are errors where they stand."""
    with pytest.raises(TypeError, match=r"'destructiv'; did you mean 'destructive'\?"):
        murli.about(destructiv=True)  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="safe, mutating, destructive"):
        murli.about(danger_level="dire")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="takes facts by keyword"):
        murli.about(argparse.ArgumentParser())
    with pytest.raises(TypeError, match=r"takes facts by keyword"):

        @murli.about
        def bare() -> None: ...

    for wrong in ("delete", None, object(), [].append):
        with pytest.raises(TypeError, match=r"about a command, its function or a parser"):
            murli.about(wrong, mutating=True)


def test_the_keywords_are_the_fields_of_metadata() -> None:
    """Type checkers know the same keywords for about() as for Metadata, of the same types."""
    fields = {
        name: _taken(kind)
        for name, kind in Metadata.__annotations__.items()
        if name not in ("explicit", "_")
    }
    known = MetadataFields.__annotations__
    assert list(known) == list(fields)
    for name, kind in known.items():
        assert kind.__forward_arg__ == fields[name], name
    assert "destructive" in get_type_hints(MetadataFields)


def _taken(kind: str) -> str:
    """Return what may be passed for a field whose declared type is *kind*."""
    kind = re.sub(r"^SeveralOrNone\[(.*)]$", r"Sequence[\1] | None", kind)
    kind = re.sub(r"^OrNone\[(.*)]$", r"\1 | None", kind)
    return re.sub(r"^Given\[(.*? \| None), .*]$", r"\1", kind)
