"""What a profile brings to a call: who wins, and what a profile can never do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness import ADAPTERS, environment, run, tool
from profile_home import RAN, RUN, SHOW, Home, program

pytestmark = [pytest.mark.adapters("argparse", "click"), pytest.mark.warm]

LOOKED_AT = {
    "color": False,
    "depth": 1,
    "region": "eu",
    "token": None,
    "trace": False,
    "verbose": False,
}

# -- who wins -------------------------------------------------------------------------------------


@pytest.mark.parametrize("command_line", [False, True])
@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("variable", [False, True])
@pytest.mark.parametrize("default", [False, True])
def test_precedence(
    home: Home, command_line: bool, named: bool, variable: bool, default: bool
) -> None:
    """The command line beats --profile, that the environment, that the default profile."""
    home.hold("usual" if default else "", usual={"depth": "5"}, named={"depth": "3"})
    words = [*SHOW, *(["--depth", "2"] if command_line else [])]
    words += ["--profile", "named"] if named else []
    expected = 2 if command_line else 3 if named else 4 if variable else 5 if default else 1
    result = home.result(*words, DEPLOY_DEPTH="4" if variable else None)
    assert result == {**LOOKED_AT, "depth": expected}


def test_a_named_profile_stands_instead_of_the_default(home: Home) -> None:
    """With --profile nothing of the default profile is applied, for that call."""
    home.hold("a", a={"region": "asia", "depth": "5"}, b={"region": "us"})
    assert home.result(*SHOW, "--profile", "b") == {**LOOKED_AT, "region": "us"}
    assert home.result(*SHOW, "--profile", "b", DEPLOY_DEPTH="4")["depth"] == 4
    assert home.result(*SHOW) == {**LOOKED_AT, "region": "asia", "depth": 5}


def test_an_empty_variable_is_none(home: Home) -> None:
    """A variable that is set to nothing does not beat the default profile."""
    home.hold("a", a={"depth": "5"})
    assert home.result(*SHOW, DEPLOY_DEPTH="")["depth"] == 5


@pytest.mark.parametrize("position", [0, 1, 2])
def test_profile_may_stand_anywhere(home: Home, position: int) -> None:
    """The flag --profile works before, between and behind the words of a command."""
    home.hold(p={"depth": "5", "region": "us"})
    words = list(SHOW)
    words[position:position] = ["--profile", "p"]
    assert home.result(*words) == {**LOOKED_AT, "region": "us", "depth": 5}


def test_the_values_have_their_types(home: Home) -> None:
    """Integers, choices, lists, switches and a required option come from a profile as given."""
    flags = ["replicas=3", "mode=fast", "--label", "a", "--label", "b", "--verbose", "region=us"]
    home.result("profile", "save", "p", *flags, "depth=2", "--color")
    home.result("profile", "use", "p")
    ran = {**RAN, "replicas": 3, "mode": "fast", "label": ["a", "b"], "verbose": True}
    assert home.result("run") == {**ran, "region": "us"}
    looked_at = {**LOOKED_AT, "verbose": True, "region": "us", "depth": 2, "color": True}
    assert home.result(*SHOW) == looked_at


def test_a_required_option_is_still_required(home: Home) -> None:
    """Without a value in the profile a required option is missing, as it was."""
    home.hold("p", p={"region": "us"})
    refusal = home.refusal("run")
    assert refusal["message"] == "Missing required option --replicas."


@pytest.mark.parametrize(
    ("flags", "words", "expected"),
    [
        ({"label": '["a", "b"]'}, ["--label", "z"], {"label": ["z"]}),
        ({"verbose": "false"}, [], {"verbose": False}),
        ({"replicas": "7"}, [], {"replicas": 1}),
        ({"mode": "fast"}, ["--mode", "safe"], {"mode": "safe"}),
        ({"label": "one"}, [], {"label": ["one"]}),
        ({"label": "[1, true]"}, [], {"label": ["1", "true"]}),
        ({"label": ["a", 1]}, [], {"label": ["a", "1"]}),
        ({"label": "[a"}, [], {"label": ["[a"]}),
        ({"label": '{"a": 1}'}, [], {"label": ['{"a": 1}']}),
        ({"label": "[]"}, [], {"label": None}),
        ({"replicas": 5, "verbose": True}, [], {"verbose": True}),
    ],
)
def test_what_a_call_is_given(
    home: Home, flags: Any, words: list[str], expected: dict[str, Any]
) -> None:
    """Lists are replaced, not extended; switches can be off; one text is a list of one."""
    home.hold("p", p=flags)
    assert home.result(*RUN, *words) == {**RAN, **expected}


@pytest.mark.parametrize("state", ["true", "TRUE", "1", "yes", "on", True, 1])
def test_words_for_on(one: Home, state: Any) -> None:
    """A switch is on by any of the usual words, in any case."""
    one.hold("p", p={"verbose": state, "color": state})
    assert one.result(*SHOW) == {**LOOKED_AT, "verbose": True, "color": True}


@pytest.mark.parametrize("adapter", ADAPTERS)
@pytest.mark.parametrize("state", ["true", "false"])
def test_a_switch_on_the_command_line_wins(tmp_path: Path, adapter: str, state: str) -> None:
    """A switch and its negation beat what the profile says, either way."""
    home = Home(tool(f"deploy_{adapter}"), tmp_path / "home")
    home.hold("p", p={"color": state, "verbose": state})
    assert home.result(*SHOW)["color"] is (state == "true")
    assert home.result(*SHOW, "--no-color")["color"] is False
    assert home.result("--verbose", *SHOW, "--color") == {
        **LOOKED_AT,
        "color": True,
        "verbose": True,
    }


def test_what_the_command_line_rules_out_steps_back(home: Home) -> None:
    """A saved value that cannot go with a flag on the command line is not applied."""
    home.hold("p", p={"mode": "fast"})
    assert home.result(*RUN)["mode"] == "fast"
    for words in ([], ["--profile", "p"]):
        assert home.result(*RUN, "--plain", *words) == {**RAN, "plain": True}
    refusal = home.refusal(*RUN, "--plain", "--mode", "fast")
    assert refusal["message"] == "Options --mode and --plain cannot be combined."


@pytest.mark.parametrize(
    ("flag", "value", "words", "accepted"),
    [
        ("replicas", "x", ["run"], "expected an integer"),
        ("replicas", "", ["run"], "expected an integer"),
        ("replicas", [1, 2], ["run"], "expected an integer"),
        ("region", "mars", RUN, ["eu", "us", "asia"]),
        ("region", 5, RUN, ["eu", "us", "asia"]),
        ("mode", "slow", RUN, ["fast", "safe"]),
        ("verbose", "perhaps", RUN, "expected true or false"),
        ("verbose", "", RUN, "expected true or false"),
        ("color", "2", SHOW, "expected true or false"),
        ("depth", "two", SHOW, "expected an integer"),
    ],
)
def test_a_bad_stored_value_is_an_error(
    home: Home, flag: str, value: Any, words: tuple[str, ...], accepted: str | list[str]
) -> None:
    """A stored value the option refuses is a flag_error with profile, flag and what is accepted."""
    home.hold("p", p={flag: value})
    default = home.refusal(*words)
    assert (default["code"], default["error"], default["field"]) == (1, "flag_error", flag)
    assert f"for --{flag}" in default["message"]
    assert 'profile "p"' in default["message"]
    assert f"profile set p --merge {flag}=" in default["suggestion"]
    if isinstance(accepted, str):
        assert accepted in default["message"]
    else:
        assert default["valid_values"] == accepted


def test_a_bad_value_of_a_named_profile_is_the_same_error(home: Home) -> None:
    """Whether a profile is the default or named, its bad value is told in the same words."""
    home.hold("p", p={"region": "mars"})
    assert home.refusal(*RUN, "--profile", "p") == home.refusal(*RUN)


def test_a_bad_stored_value_does_no_harm_where_it_is_not_used(home: Home) -> None:
    """A value that the command line replaces, or another command has, is not looked at."""
    home.hold("p", p={"replicas": "x", "depth": "y", "color": "z"})
    assert home.result(*RUN) == RAN
    assert home.result(*SHOW, "--depth", "2", "--color")["depth"] == 2


def test_an_error_about_something_else_does_not_blame_the_profile(home: Home) -> None:
    """A mistake on the command line is told as such, though a profile has a value of that name."""
    home.hold("p", p={"region": "us"})
    refusal = home.refusal(*RUN, "--region", "eu")
    assert refusal["message"] == "Unknown option --region."
    refusal = home.refusal("--region", "mars", *RUN)
    assert refusal["message"] == 'Invalid value "mars" for --region.'


@pytest.mark.adapters("argparse")
def test_a_person_is_told_about_a_bad_stored_value(home: Home) -> None:
    """At a terminal the error names the profile and the way out."""
    home.hold("p", p={"region": "mars"})
    done = home.at_terminal(*RUN)
    assert (done.code, done.out) == (1, "")
    assert done.err == (
        'Error: Invalid value "mars" for --region. The value comes from profile "p".\n'
        "Hint:  Correct it with 'profile set p --merge region=VALUE', or pass --region.\n"
    )
    home.result("profile", "set", "p", "--merge", "region=us")
    assert home.result(*RUN)["region"] == "us"


@pytest.mark.adapters("argparse")
def test_the_fix_that_is_suggested_works_for_any_name(home: Home) -> None:
    """The suggested command can be pasted, also when the profile's name has a space."""
    home.hold("my prod", **{"my prod": {"region": "mars"}})
    suggestion = home.refusal(*RUN)["suggestion"]
    command = suggestion.partition("'")[2].rpartition("'")[0].replace("VALUE", "us")
    shell = ["sh", "-c", f'"$0" "$1" {command}', *home.argv]
    assert run(shell, env=environment(HOME=str(home.folder))).code == 0
    assert home.result(*RUN)["region"] == "us"


INTENT = {"force": "true", "yes": "true", "dry-run": "true", "dry_run": "true"}
CAREFUL = {
    "argparse": """
import argparse, pathlib, murli
parser = argparse.ArgumentParser(prog="t")
for name in ("--force", "--yes", "--dry-run"):
    parser.add_argument(name, action="store_true")
murli.annotate(parser, NOTES)
murli.enable(parser)
given = vars(parser.parse_args())
answer(given)
""",
    "click": """
import click, murli
@click.command()
@click.option("--force", is_flag=True)
@click.option("--yes", is_flag=True)
@click.option("--dry-run", is_flag=True)
def t(**given):
    answer(given)
murli.annotate(t, NOTES)
murli.enable(t, name="t")
t()
""",
    "typer": """
import typer, murli
app = typer.Typer()
@app.command()
def t(force: bool = typer.Option(False, "--force"), yes: bool = typer.Option(False, "--yes"),
      dry_run: bool = typer.Option(False, "--dry-run")):
    answer({"force": force, "yes": yes, "dry_run": dry_run})
murli.annotate(t, NOTES)
murli.enable(app, name="t")
app()
""",
}
CAREFUL_HEAD = """
import murli
NOTES = murli.Metadata(mutating=True, flag_annotations={
    "force": murli.FlagAnnotation(profileable=True, env="T_FORCE"),
    "yes": murli.FlagAnnotation(profileable=True, env="T_YES"),
    "dry-run": murli.FlagAnnotation(profileable=True, env="T_DRY_RUN"),
})
def answer(given):
    writer = murli.get_writer()
    writer.write_success("ran", {**given, "forced": writer.is_forced()})
"""

# -- what a profile can never do ------------------------------------------------------------------


def test_a_profile_cannot_confirm(home: Home) -> None:
    """Whatever is in the store, a mutating command asks for confirmation."""
    home.hold("p", p={**INTENT, "region": "us"})
    for words in (["purge"], ["purge", "--profile", "p"], ["purge", "--output", "text"]):
        refused = home.run(*words)
        assert (refused.code, refused.out) == (1, "")
    assert home.result("purge", "--yes")["region"] == "us"
    assert home.result(*RUN) == {**RAN, "region": "us"}  # its own --force is marked profileable


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_intent_comes_from_the_command_line_alone(tmp_path: Path, adapter: str) -> None:
    """A tool's own switches for intent, though annotated, are set by no profile or variable."""
    home = program(tmp_path, CAREFUL_HEAD + CAREFUL[adapter])
    home.hold("p", p=INTENT)
    variables = {"T_FORCE": "1", "T_YES": "1", "T_DRY_RUN": "1"}
    for words in ([], ["--profile", "p"]):
        assert home.refusal(*words, **variables)["error"] == "confirmation_required"
    off = {"force": False, "yes": False, "dry_run": False}
    assert home.result("--force", **variables) == {**off, "force": True, "forced": True}
    assert home.refusal("profile", "save", "q", "force=1")["error"] == "user_error"
    assert home.run("describe").document["profiles"]["profileable_flags"] == []


def test_infrastructure_is_never_set_by_a_profile(home: Home) -> None:
    """Keys of murli's own flags, unknown ones and unmarked flags in the store change nothing."""
    own = ["agent", "schema", "output", "profile", "contract", "protocol-version", "help"]
    flags = {**dict.fromkeys(own, "text"), "plain": "true", "trace": "true", "how": "x", "": "y"}
    home.hold("p", p={**flags, "--region": "us", "Region": "us", "command": "leak"})
    plain = home.run(*RUN)
    assert (plain.code, plain.document["result"]) == (0, RAN)
    assert home.run(*RUN, "--profile", "p").document["result"] == RAN


def test_what_is_ignored_is_told(one: Home) -> None:
    """Show and use tell which keys are ignored, and show hides what it does not know."""
    one.hold(p={"region": "us", "tokn": "hunter22", "output": "text"})
    done = one.run("profile", "show", "p")
    assert done.document["result"] == {
        "name": "p",
        "flags": {"region": "us", "tokn": "[REDACTED]", "output": "[REDACTED]"},
        "ignored": ["output", "tokn"],
    }
    for told in (done, one.run("profile", "use", "p")):
        messages = sorted(entry["msg"] for entry in told.logs)
        assert [message.split(",")[0] for message in messages] == [
            'warning: Profile "p" has "output"',
            'warning: Profile "p" has "tokn"',
        ]
        assert b"hunter22" not in told.stdout + told.stderr
    assert one.saved["p"]["tokn"] == "hunter22"


EXCLUSIVE = {
    "argparse": """
import argparse, murli
parser = argparse.ArgumentParser(prog="t")
parser.add_argument("--fast")
parser.add_argument("--slow")
murli.annotate(parser, NOTES)
murli.enable(parser)
given = vars(parser.parse_args())
murli.get_writer().write_success("", given)
""",
    "click": """
import click, murli
@click.command()
@click.option("--fast")
@click.option("--slow")
def t(**given):
    murli.get_writer().write_success("", given)
murli.annotate(t, NOTES)
murli.enable(t, name="t")
t()
""",
    "typer": """
import typer, murli
app = typer.Typer()
@app.command()
def t(fast: str = typer.Option(None), slow: str = typer.Option(None)):
    murli.get_writer().write_success("", {"fast": fast, "slow": slow})
murli.annotate(t, NOTES)
murli.enable(app, name="t")
app()
""",
}
EXCLUSIVE_HEAD = """
import murli
NOTES = murli.Metadata(flag_annotations={
    "fast": murli.FlagAnnotation(profileable=True, mutually_exclusive_with=["slow"]),
    "slow": murli.FlagAnnotation(profileable=True, env="T_SLOW"),
})
"""

# -- exclusion and several commands ---------------------------------------------------------------


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_either_side_of_an_exclusion_steps_back(tmp_path: Path, adapter: str) -> None:
    """A stored value gives way to what excludes it, whichever of the two was annotated."""
    home = program(tmp_path, EXCLUSIVE_HEAD + EXCLUSIVE[adapter])
    home.hold(f={"fast": "1"}, s={"slow": "1"}, both={"fast": "1", "slow": "1"})
    assert home.result("--profile", "f", "--slow", "2") == {"fast": None, "slow": "2"}
    assert home.result("--profile", "s", "--fast", "2") == {"fast": "2", "slow": None}
    assert home.result("--profile", "both", "--fast", "2") == {"fast": "2", "slow": None}
    refusal = home.refusal("--profile", "both")
    assert (refusal["error"], "--fast and --slow" in refusal["message"]) == ("flag_error", True)
    assert 'profile "both"' in refusal["message"]


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_an_exclusion_follows_the_precedence(tmp_path: Path, adapter: str) -> None:
    """A variable beats what the default profile holds for a flag that it excludes."""
    home = program(tmp_path, EXCLUSIVE_HEAD + EXCLUSIVE[adapter])
    home.hold("f", f={"fast": "1"})
    assert home.result(T_SLOW="3") == {"fast": None, "slow": "3"}
    assert home.result("--profile", "f", T_SLOW="3") == {"fast": "1", "slow": None}
