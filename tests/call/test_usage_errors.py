"""What is wrong with a call, in one voice, with the way out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from harness import environment, run, run_at_terminal, script

pytestmark = pytest.mark.warm


CREATE = ("task", "create")
WEIGHT = ("--weight", "1")


def test_bad_option_value(tasks: list[str]) -> None:
    """A bad option value is a flag_error with code 1, the field and a suggestion."""
    done = run(tasks, *CREATE, "Saw", *WEIGHT, "--count", "abc")
    assert (done.code, done.out) == (1, "")
    assert done.error == {
        "status": "error",
        "code": 1,
        "error": "flag_error",
        "message": 'Invalid value "abc" for --count: expected an integer.',
        "suggestion": "Check command usage with --schema or --help.",
        "recoverable": True,
        "field": "count",
        "usage": "tasks task create TITLE --weight FLOAT [--status {todo|doing|done}=todo]"
        " [--count INT=1 | [--tag TEXT]...] [--token TEXT]",
        "schema_version": "1.0",
        "tool_version": "2.1.0",
    }


@pytest.mark.parametrize(
    ("words", "error", "message", "field", "values", "hint"),
    [
        (
            [*CREATE, "Saw", *WEIGHT, "--status", "dong"],
            "flag_error",
            'Invalid value "dong" for --status.',
            "status",
            ["todo", "doing", "done"],
            "Did you mean doing or done?",
        ),
        (
            [*CREATE, "Saw", *WEIGHT, "--status", "x"],
            "flag_error",
            'Invalid value "x" for --status.',
            "status",
            ["todo", "doing", "done"],
            "Use one of: todo, doing, done.",
        ),
        (
            [*CREATE, "Saw", *WEIGHT, "--colnt", "3"],
            "flag_error",
            "Unknown option --colnt.",
            "colnt",
            ["--count"],
            "Did you mean --count?",
        ),
        (
            ["report", "--agnet"],
            "flag_error",
            "Unknown option --agnet.",
            "agnet",
            ["--agent"],
            "Did you mean --agent?",
        ),
        (
            ["raport"],
            "command_error",
            'Unknown command "raport".',
            "command",
            ["report", "run", "task"],
            "Did you mean report?",
        ),
        (
            ["task", "remove"],
            "command_error",
            'Unknown command "remove".',
            "command",
            ["create", "list", "delete", "purge"],
            "Check command usage",
        ),
        (
            ["task"],
            "command_error",
            "Missing command.",
            "command",
            ["create", "list", "delete", "purge"],
            "Use one of: create",
        ),
        (
            [*CREATE, "Saw"],
            "flag_error",
            "Missing required option --weight.",
            "weight",
            None,
            "Check command usage",
        ),
        (
            [*CREATE],
            "flag_error",
            "Missing required option --weight and argument title.",
            "weight",
            None,
            "Check command usage",
        ),
        (
            [*CREATE, *WEIGHT],
            "command_error",
            "Missing required argument title.",
            "title",
            None,
            "Check command usage",
        ),
        (
            [*CREATE, "Saw", "--weight"],
            "flag_error",
            "Option --weight needs a value.",
            "weight",
            None,
            "Check command usage",
        ),
        (
            ["report", "all", "more", "and more"],
            "command_error",
            'Unexpected arguments "more" "and more".',
            None,
            None,
            "Check command usage",
        ),
        (
            ["task", "purge", "--force=yes"],
            "flag_error",
            'Option --force takes no value, got "yes".',
            "force",
            None,
            "Check command usage",
        ),
        (
            ["report", "--agent=yes"],
            "flag_error",
            'Option --agent takes no value, got "yes".',
            "agent",
            None,
            "Check command usage",
        ),
        (
            ["report", "--profile"],
            "flag_error",
            "Option --profile needs a value.",
            "profile",
            None,
            "Check command usage",
        ),
        (
            ["report", "--output", "xml"],
            "invalid_output_format",
            'unknown --output value "xml"',
            "output",
            ["json", "ndjson", "text"],
            "Use --output json, ndjson, or text",
        ),
        (
            ["report", "--protocol-version", "0.1"],
            "invalid_protocol_version",
            'unknown --protocol-version "0.1"',
            "protocol-version",
            ["0.2"],
            "Use --protocol-version 0.2",
        ),
        (
            ["report", "--contract", "none"],
            "invalid_contract",
            'unknown --contract "none"',
            "contract",
            ["murli", "response", "agent-spec-1.6", "agent-spec-2"],
            "Use --contract murli",
        ),
    ],
)
def test_usage_error(
    tasks: list[str],
    words: list[str],
    error: str,
    message: str,
    field: str | None,
    values: list[str] | None,
    hint: str,
) -> None:
    """Every ordinary mistake has our words, its field, its accepted values and a way out."""
    done = run(tasks, *words)
    document = done.error
    assert (done.code, done.out, document["code"]) == (1, "", 1)
    assert (document["error"], document["message"]) == (error, message)
    assert document.get("field") == field
    assert document.get("valid_values") == values
    assert document["suggestion"].startswith(hint)


@pytest.mark.parametrize(
    ("words", "place"),
    [
        (["report", "--region", "us"], "--region is an option of tasks: put it before report."),
        (
            ["task", "create", "Saw", *WEIGHT, "--region=us"],
            "--region is an option of tasks: put it before task.",
        ),
        (
            [*WEIGHT, *CREATE, "Saw"],
            "--weight is an option of tasks task create: put it behind create.",
        ),
        (
            ["task", *WEIGHT, "create", "Saw"],
            "--weight is an option of tasks task create: put it behind create.",
        ),
    ],
)
def test_an_option_in_the_wrong_place(tasks: list[str], words: list[str], place: str) -> None:
    """An option that another command of the call has is unknown, and where it belongs is said."""
    error = run(tasks, *words).error
    assert error["message"] == f"Unknown option {place.split()[0]}."
    assert (error["suggestion"], error.get("valid_values")) == (place, None)


def test_a_misspelled_option_in_the_wrong_place(tasks: list[str]) -> None:
    """The nearest name of an option comes with its place, where that is another one."""
    error = run(tasks, "report", "--regoin", "us").error
    place = "--region is an option of tasks: put it before report."
    assert error["suggestion"].startswith(f"Did you mean --region? {place}")


def test_an_argument_typed_as_an_option(tasks: list[str]) -> None:
    """An argument's name with dashes is unknown, and that it is an argument is said."""
    error = run(tasks, "report", "--what", "all").error
    assert error["message"] == "Unknown option --what."
    assert error["suggestion"] == "what is an argument: pass its value without --what."


@pytest.mark.parametrize(("typed", "advised"), [("--source", False), ("--forse", True)])
def test_no_mistake_becomes_a_confirmation(tasks: list[str], typed: str, advised: bool) -> None:
    """What confirms a change is advised only to somebody who has begun to type it."""
    advice = run(tasks, "task", "delete", "1", typed).error["suggestion"]
    assert ("--force" in advice) == advised


CITIES = {
    "click": """
import click, murli
@click.group()
@click.option("--city", type=click.Choice([f"city-{n}" for n in range(400)]))
def cli(city): pass
@cli.command()
def show(): pass
murli.enable(cli, name="tool")
cli()
""",
    "typer": """
import enum, typer, murli
City = enum.Enum("City", {f"c{n}": f"city-{n}" for n in range(400)})
app = typer.Typer()
@app.callback()
def main(city: City = None): pass
@app.command()
def show(): pass
murli.enable(app, name="tool")
app()
""",
    "argparse": """
import argparse, murli
parser = argparse.ArgumentParser("tool")
parser.add_argument("--city", choices=[f"city-{n}" for n in range(400)])
parser.add_subparsers(required=True).add_parser("show")
murli.enable(parser)
parser.parse_args()
""",
}


@pytest.mark.parametrize("adapter", CITIES)
def test_a_long_list_of_choices_is_not_repeated(tmp_path: Path, adapter: str) -> None:
    """Of hundreds of choices an error names the nearest, or the first, and usage three."""
    argv = script(tmp_path, CITIES[adapter])
    near = run(argv, "--city", "citty-399", "show").error
    assert near["message"] == 'Invalid value "citty-399" for --city.'
    assert near["suggestion"].startswith("Did you mean city-399")
    assert "city-399" in near["valid_values"] and len(near["valid_values"]) < 10
    other = run(argv, "--city", "zzz", "show").error
    assert other["suggestion"].startswith("Use one of: city-0, city-1, ")
    assert other["suggestion"].endswith(", … (400 in all).")
    assert "valid_values" not in other and len(str(other)) < 1000
    assert "--city {city-0|city-1|city-2|...}" in other["usage"]


def test_the_usage_is_of_the_command_whose_option_is_wrong(tmp_path: Path) -> None:
    """A wrong option of a group shows the usage of the group, not of the command below it."""
    argv = script(tmp_path, CITIES["click"])
    assert run(argv, "--city", "x", "show").error["usage"].startswith("tool [--city ")
    assert run(argv, "--city", "city-1", "show", "--x").error["usage"] == "tool show"


def test_people_get_the_words_of_the_framework(tasks: list[str]) -> None:
    """At a terminal a mistake has the framework's usage line, its status, and its suggestion.

    Ours stands there only where the framework has none.
    """
    done = run_at_terminal(tasks, "raport")
    assert (done.out, done.code) == ("", 2)
    shown = done.err.lower()
    assert "usage: " in shown
    ours = re.findall("hint: +did you mean", shown)
    theirs = len(re.findall("did you mean", shown)) - len(ours)
    # Some typers add theirs to that of a newer click.
    most = 2 if "typer" in tasks[-1] else 1
    assert (len(ours), theirs) in ((1, 0), *((0, count) for count in range(1, most + 1)))
    assert "--schema" not in done.err


@pytest.mark.parametrize("words", [["--bad", "--agent", "report"], ["report", "--bad", "--agent"]])
def test_agent_flag_counts_even_when_parsing_fails(tasks: list[str], words: list[str]) -> None:
    """--agent before or after the mistake makes the error a document at a terminal too."""
    assert '"error": "flag_error"' in run_at_terminal(tasks, *words).err


def test_ndjson_errors_are_one_line(tasks: list[str]) -> None:
    """Under ndjson an error is one line, so that stderr can be read line by line."""
    done = run(tasks, "raport", "--output", "ndjson")
    assert done.err.count("\n") == 1
    assert done.error["error"] == "command_error"


@pytest.mark.parametrize("word", ["-=", "-=x", "-=--x"])
def test_an_option_without_a_name(tasks: list[str], word: str) -> None:
    """An option that is nothing but a dash and an equals sign is a usage error like any other."""
    done = run(tasks, "report", word)
    assert (done.code, done.error["error"]) == (1, "flag_error")
    assert "Traceback" not in done.err


def test_unknown_profile_is_not_found(tasks: list[str]) -> None:
    """An explicit profile that does not exist stops the call with code 5 before it runs."""
    done = run(tasks, "report", "--profile", "prod")
    assert (done.code, done.error["error"], done.error["field"]) == (5, "not_found", "profile")
    assert done.error["message"] == 'profile "prod" not found'


def test_usage_exit_code_can_be_set() -> None:
    """A tool whose callers expect another code for usage errors can keep it."""
    source = (
        "import argparse, murli\n"
        "p = argparse.ArgumentParser(prog='t')\n"
        "murli.enable(p, usage_exit_code=2)\n"
        "p.parse_args()\n"
    )
    import sys

    done = run([sys.executable, "-c", source], "--bad", env=environment())
    assert (done.code, done.error["code"]) == (2, 2)


def test_a_scalar_option_given_twice_is_a_mistake(tasks: list[str]) -> None:
    """The ResponseEnvelope contracts refuse two values for one option of the tool's own."""
    call = (*CREATE, "Saw", *WEIGHT)
    env = environment(MURLI_CONTRACT="agent-spec-2")
    for words in (["--status", "todo", "--status=done"], ["--count=1", "--count=2"]):
        done = run(tasks, *call, *words, "--yes", env=env)
        assert (done.code, done.document["error"]["phase"]) == (2, "validation")
        assert done.document["error"]["context"]["field"] == words[0].strip("-").partition("=")[0]
        # Frameworks take the last one, and so do people.
        assert run(tasks, *call, *words, "--yes").code == 0
    assert run(tasks, *call, "--count=1", "--count=1", "--yes", env=env).code == 0
