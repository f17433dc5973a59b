"""What a command asks with yes and no is answered by whoever confirmed the call."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness import run, script

pytestmark = [pytest.mark.adapters("argparse", "click"), pytest.mark.warm]

CLICK = """
import click, murli
@click.group()
def cli(): pass
@cli.command()
def cancel():
    click.confirm("Cancel it?", abort=True)
    click.echo("cancelled")
@cli.command()
@click.confirmation_option(prompt="Delete it?")
def delete(): click.echo("deleted")
@cli.group()
def db():
    if click.confirm("Migrate it?"):
        open("migrated", "w").close()
@db.command("drop")
def drop(): pass
@cli.command()
def rename():
    click.confirm("Rename it?", abort=True)
    click.echo(click.prompt("New name"))
murli.annotate(cancel, murli.Metadata(danger_level="mutating", dry_runnable=True))
DELETES = murli.Metadata(danger_level="destructive", plan=lambda: {"deletes": 1})
murli.annotate(delete, DELETES)
murli.annotate(drop, DELETES)
murli.enable(cli, name="tool")
cli()
"""
OTHERS = {
    "typer": """
import typer, murli
app = typer.Typer()
@app.command()
def go():
    typer.confirm("Go on?", abort=True)
    print("gone on")
murli.enable(app)
app()
""",
    "argparse": """
import argparse, murli
parser = argparse.ArgumentParser()
murli.enable(parser)
parser.parse_args()
print("gone on" if input("Go on (yes/no)? ") == "yes" else "stayed")
""",
    "rich": """
import click, murli
from rich.prompt import Confirm
@click.command()
def go(): print("gone on" if Confirm.ask("Go on?") else "stayed")
murli.enable(go)
go()
""",
}


def test_confirming_a_call_answers_what_it_asks(tmp_path: Path) -> None:
    """`--yes` agrees to a yes-or-no question; an answer that is piped in counts more."""
    argv = script(tmp_path, CLICK)
    assert run(argv, "cancel", "--yes").document["result"] == "cancelled"
    assert run(argv, "cancel", "--yes", stdin=b"n\n").error["error"] == "cancelled"


def test_what_needs_more_than_yes_is_still_asked(tmp_path: Path) -> None:
    """A question for a word is input_required, and so is any question of an unconfirmed call."""
    argv = script(tmp_path, CLICK)
    asked = run(argv, "rename", "--yes").error
    assert asked["error"] == "input_required" and "New name" in asked["message"]
    unconfirmed = run(argv, "rename").error
    assert unconfirmed["suggestion"] == "Pass --yes to confirm."


def test_a_dry_run_is_not_asked_for_its_options(tmp_path: Path) -> None:
    """A dry run shows the plan of a command whose option asks; no handler is agreed to."""
    argv = script(tmp_path, CLICK)
    assert run(argv, "delete", "--dry-run").document["plan"] == {"deletes": 1}
    assert run(argv, "delete").error["error"] == "confirmation_required"
    asked = run(argv, "cancel", "--dry-run").error
    assert asked["error"] == "input_required" and "Pass --yes" not in asked["suggestion"]
    assert run(argv, "db", "drop", "--dry-run", cwd=tmp_path).error["error"] == "input_required"
    assert not (tmp_path / "migrated").exists()


@pytest.mark.parametrize("asker", OTHERS)
def test_every_way_of_asking(tmp_path: Path, asker: str) -> None:
    """Typer, rich, and a plain `input` with yes and no in its question hear `--yes` as well."""
    argv = script(tmp_path, OTHERS[asker])
    assert run(argv, "--yes").document["result"] == "gone on"
    assert run(argv).error["suggestion"].startswith("Pass --yes")


ASKING = """
import getpass, click, murli
@click.command()
@click.argument("how")
def cli(how):
    if how == "choice":
        found = click.prompt("Conflict", type=click.Choice(["y", "n", "all"]))
    elif how == "password":
        found = getpass.getpass("Unlock? [y/n] ")
    elif how == "again":
        found = 0
        while click.confirm("Once more?"):
            with open("done", "a") as file:
                file.write("x")
    else:
        found = input(how)
    return {"found": found}
murli.enable(cli)
cli()
"""


@pytest.mark.parametrize(
    ("how", "found"),
    [
        ("Go on? [Y]es/[n]o: ", "y"),
        ("Go on (Y/N)? ", "Y"),
        ("Proceed ([y]/n)? ", "y"),
        ("Go on? [y/n] (n): ", "y"),
        ("Connect (yes/no/[fingerprint])? ", ""),
        ("Which axis, x/y/n? ", ""),
        ("[A]ll/[y]es/[n]o: ", ""),
        ("A name, or y to be guest, n to stop: ", ""),
        ("choice", ""),
        ("password", ""),
    ],
)
def test_only_yes_or_no_is_answered(tmp_path: Path, how: str, found: str) -> None:
    """A choice of more than yes and no, a text and a password are not answered by `--yes`."""
    done = run(script(tmp_path, ASKING), "--yes", "--", how)
    if found:
        assert done.document["result"] == {"found": found}
    else:
        assert done.error["error"] == "input_required"


def test_a_question_is_answered_once(tmp_path: Path) -> None:
    """What asks the same again and again is not agreed to for ever, and its reader learns why."""
    done = run(script(tmp_path, ASKING), "again", "--yes", cwd=tmp_path)
    assert done.error["suggestion"].startswith("--yes answers a question once.")
    assert (tmp_path / "done").read_text() == "x"
