"""Declarations and redirects that name what is not there fail; redirects can move options."""

from __future__ import annotations

from pathlib import Path

import pytest

import murli
from harness import ADAPTERS, environment, run, run_at_terminal, script

pytestmark = [pytest.mark.adapters("argparse", "click"), pytest.mark.warm]

CONTRACTS = ["murli", "response", "agent-spec-1.6", "agent-spec-2"]
# One tool three times; DECLARE is what is declared about its command, TO where "old" has gone.
SOURCES = {
    "argparse": """
import argparse
app = argparse.ArgumentParser(prog="t")
app.add_argument("--region")
commands = app.add_subparsers(required=True)
add = commands.add_parser("add")
add.add_argument("--api-key")
add.add_argument("--title")
add.add_argument("-s", "--size")
add.add_argument("--pair", nargs=2)
add.add_argument("-v", "--verbose", action="store_true")
add.add_argument("words", nargs="*")
commands.add_parser("look")
def start(): print(vars(app.parse_args()))
""",
    "click": """
import click
@click.group()
@click.option("--region")
def app(region): pass
@app.command()
@click.option("--api-key")
@click.option("--title")
@click.option("-s", "--size")
@click.option("--pair", nargs=2)
@click.option("-v", "--verbose", is_flag=True)
@click.argument("words", nargs=-1)
def add(**given): click.echo(str(given))
@app.command()
def look(): pass
start = app
""",
    "typer": """
import typer
from typing import Annotated, List, Optional, Tuple
app = typer.Typer()
@app.callback()
def main(region: Optional[str] = None): pass
@app.command()
def add(
    words: Annotated[Optional[List[str]], typer.Argument()] = None,
    api_key: Optional[str] = None,
    title: Optional[str] = None,
    size: Annotated[Optional[str], typer.Option("-s", "--size")] = None,
    pair: Annotated[Optional[Tuple[str, str]], typer.Option()] = None,
    verbose: Annotated[bool, typer.Option("-v", "--verbose")] = False,
): print(dict(locals()))
@app.command()
def look(): pass
start = app
""",
}
TAIL = """
import os, murli
from murli import ArgumentMetadata, FlagAnnotation, Metadata, Rule, Traits
murli.annotate(add, eval(os.environ.get("DECLARE", "Metadata()")))
murli.annotate(app, eval(os.environ.get("ROOT", "Metadata()")))
murli.redirect(
    app, "old", os.environ.get("TO", "add"),
    options={
        "--name": "--title", "-n": "--title", "--legacy": None, "--gone WORD": None, "-q": None,
        "-z": "-v", "--couple": "--pair", "--secret": os.environ.get("KEY", "--api-key"),
    },
    values={"--size": {"s": "small"}, "--name": str.upper},
)
murli.redirect(app, "older", "old", options={"--call": "--name"})
murli.enable(app, name="t")
start()
"""


@pytest.fixture(scope="module", params=ADAPTERS)
def tool(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The words that run the tool on one of the frameworks."""
    return script(tmp_path_factory.mktemp(request.param), SOURCES[request.param] + TAIL)


def notes(name: str, more: str = "") -> str:
    return f"Metadata(flag_annotations={{'{name}': FlagAnnotation({more or 'sensitive=True'})}})"


WRONG = {
    notes("apikey"): 'flag_annotations names "apikey"; the command has --api-key',
    notes("title", "mutually_exclusive_with=['sise']"): (
        'mutually_exclusive_with names "sise"; the command has --size'
    ),
    "Metadata(requires=[Rule('titel', then_required=['size'])])": (
        'requires names "titel"; the command has --title'
    ),
    "Metadata(arguments=[ArgumentMetadata('word')])": (
        'arguments names "word"; the command has words'
    ),
    "Metadata(mutating=True, traits=Traits(confirm_flag='verbos'))": (
        'confirm_flag names "verbos"; the command has --verbose'
    ),
    notes("region"): "--region is an option of a group above, declare it there",
    notes("s"): 'flag_annotations names "s"; use --size',
}
RIGHT = [
    notes("api_key"),
    notes("--api-key"),
    notes("region", "pattern='^e'"),
    notes("title", "mutually_exclusive_with=['region', 'api_key']"),
    "Metadata(requires=[Rule('dry-run', prohibited=['words', 'region'])])",
    "Metadata(arguments=[ArgumentMetadata('words')])",
]


def test_a_misspelled_name_refuses_every_call_for_an_agent(tool: list[str]) -> None:
    """A declaration that names nothing is a tool error with the name that may be meant."""
    for declared, message in WRONG.items():
        done = run(tool, "add", "--api-key", "supersecret", "x", env=environment(DECLARE=declared))
        assert (done.code, done.out) == (2, "")
        assert (done.error["error"], done.error["recoverable"]) == ("invalid_declaration", False)
        assert message in done.error["message"]
        assert "supersecret" not in done.err
    # A format for people makes nobody a person.
    words = ("add", "--api-key", "supersecret", "x", "--output", "text")
    done = run(tool, *words, env=environment(DECLARE=notes("apikey")))
    assert done.code == 2 and "supersecret" not in done.out + done.err
    for declared in RIGHT:
        done = run(tool, "add", "x", env=environment(DECLARE=declared))
        assert (done.code, done.document["status"]) == (0, "ok")
    # What the group that has the option declares, a command may say again.
    again = environment(DECLARE=notes("region"), ROOT=notes("region"))
    assert run(tool, "add", "x", env=again).code == 0
    # The commands beside it are none the worse.
    assert run(tool, "look", env=environment(DECLARE=notes("apikey"))).code == 0


@pytest.mark.adapters("argparse", "click", "typer")
def test_doctor_looks_at_every_command(tool: list[str]) -> None:
    """Doctor fails what is misnamed anywhere, redirects included, and names the command."""
    env = environment(DECLARE=notes("apikey"), TO="ad", KEY="--api-kee")
    report = run(tool, "doctor", env=env).document["result"]
    message = next(each["message"] for each in report["checks"] if each["name"] == "declarations")
    assert '"add": flag_annotations names "apikey"; the command has --api-key' in message
    assert 'redirect "old" leads to "ad", which is no command; did you mean "add"' in message
    fine = run(tool, "doctor", env=environment(DECLARE=RIGHT[0])).document["result"]
    assert all(each["name"] != "declarations" for each in fine["checks"])


def test_a_person_is_not_kept_from_a_call(tool: list[str]) -> None:
    """At a terminal a misspelled declaration changes nothing, but in tests it is refused."""
    env = environment(DECLARE=notes("apikey"), MURLI_TEST=None)
    assert "'title'" in run_at_terminal(tool, "add", "--title", "x", env=env).out
    tested = run_at_terminal(tool, "add", env={**env, "MURLI_TEST": "1"})
    assert tested.code == 2 and 'names "apikey"' in tested.out + tested.err


MOVED = {
    "old --name x y": "add --title X y",
    "old --name=x --legacy y": "add --title=X y",
    "old -nfoo -q": "add --title foo",
    "old -n foo --gone abc arg": "add --title foo arg",
    "old -zq x": "add -v x",
    "old --size s --couple a b c --unknown z": "add --size small --pair a b c --unknown z",
    "old --size=l -- --name x": "add --size=l -- --name x",
    "--region eu older --call a": "--region eu add --title A",
}


def test_a_redirect_moves_options(tool: list[str]) -> None:
    """Options are renamed, dropped or get other values, in every spelling; others stay."""
    for call, moved in MOVED.items():
        error = run(tool, *call.split()).error
        assert error["suggestion"] == f"Run `t {moved}` instead.", call


@pytest.mark.parametrize("contract", CONTRACTS)
def test_a_moved_secret_is_not_told(tool: list[str], contract: str) -> None:
    """The value of an option that becomes a secret is redacted, under every contract."""
    env = environment(DECLARE=RIGHT[0], MURLI_CONTRACT=contract)
    done = run(tool, "old", "--secret", "supersecret", env=env)
    assert "supersecret" not in done.out + done.err
    assert "t add --api-key '[REDACTED]'" in done.out + done.err
    # Nor where its declaration is misspelled, or the command mistyped as well.
    env = environment(DECLARE=notes("apikey"), MURLI_CONTRACT=contract)
    for words in (("old", "--secret"), ("adf", "--api-key")):
        done = run(tool, *words, "supersecret", env=env)
        assert done.code and "supersecret" not in done.out + done.err


@pytest.mark.adapters("argparse", "click", "typer")
def test_a_redirect_to_nowhere_is_refused(tool: list[str]) -> None:
    """What leads to a command or an option that does not exist is the tool's own mistake."""
    for env, told in (
        ({"TO": "ad"}, 'did you mean "add"'),
        ({"TO": "add --titel x"}, 'the redirect of "old" names "--titel"; the command has --title'),
        ({"KEY": "--api-kee"}, "the command has --api-key"),
    ):
        error = run(tool, "old", "x", env=environment(**env)).error
        assert error["error"] == "invalid_declaration" and told in error["message"]
    assert run(tool, "old", env=environment(TO="describe")).error["error"] == "command_renamed"


def test_a_lazy_group_loads_only_the_target_of_a_redirect(tmp_path: Path) -> None:
    """Where a redirect leads is looked up by its name; no other command is loaded for it."""
    source = """
import click, murli, sys
class Lazy(click.Group):
    def list_commands(self, ctx): return ["new", "heavy"]
    def get_command(self, ctx, name):
        if name not in self.list_commands(ctx): return None
        if name == "heavy": raise RuntimeError("loaded")
        return click.Command(name)
app = Lazy("t")
murli.redirect(app, "old", "new")
murli.enable(app, name="t")
app()
"""
    assert run(script(tmp_path, source), "old").error["error"] == "command_renamed"


@pytest.mark.parametrize(
    "named",
    [
        {"options": {"name": "--title"}},
        {"options": {"--name": "title"}},
        {"options": {"--name": ""}},
        {"options": {"--": "--title"}},
        {"values": {"--size": "small"}},
        {"options": {"--size": None}, "values": {"--size": {"s": "small"}}},
    ],
)
def test_options_of_a_redirect_are_checked_where_they_are_written(named: dict[str, object]) -> None:
    """What is no option, no function and no dict is a ValueError at once."""
    import argparse

    with pytest.raises(ValueError, match=r"options maps|values maps|is gone"):
        murli.redirect(argparse.ArgumentParser(), "old", "new", **named)  # type: ignore[arg-type]
