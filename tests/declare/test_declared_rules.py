"""What authors declare is kept when a call comes, and told to its caller."""

from __future__ import annotations

import sys
from pathlib import Path

import jsonschema
import pytest

import murli
from harness import ADAPTERS, environment, run, run_at_terminal, script

pytestmark = [pytest.mark.adapters("argparse", "click"), pytest.mark.warm]

CORE = """
import os, sys, time
import murli
from murli import Deprecation, FlagAnnotation, Metadata, Rule, Traits

PUSH = Metadata(
    arguments=[murli.ArgumentMetadata("target", kind="id", max_bytes=12)],
    requires=[
        Rule("mode", "remote", then_required=["host"]),
        Rule("all", prohibited=["name"]),
        Rule("ci", default={"format": "plain"}),
        Rule(any_of=["all", "name", "raw", "where"]),
    ],
    flag_annotations={
        "host": FlagAnnotation(reaches_child=True),
        "raw": FlagAnnotation(kind="json"),
        "name": FlagAnnotation(deprecated=Deprecation("--where", since="2.0")),
    },
)
RELEASE = Metadata(mutating=True, steps=["build", "upload", "announce"])

def push(**values):
    murli.get_writer().write_success("", values)

def release(how):
    with murli.step("build"):
        pass
    with murli.step("upload"):
        if how == "hang":
            time.sleep(20)
        if how == "fail":
            raise murli.AgentError.unavailable("The server is down.")
    murli.get_writer().write_success("", {"released": True})
"""
ARGPARSE = """
import argparse
parser = argparse.ArgumentParser(prog="box")
parser.add_argument("--verbose", action="store_true")
commands = parser.add_subparsers(dest="command", required=True)
sub = commands.add_parser("push")
sub.add_argument("target")
for name in ("host", "name", "raw"):
    sub.add_argument(f"--{name}")
sub.add_argument("--mode", default="local")
sub.add_argument("--format", default="json")
sub.add_argument("--all", action="store_true")
sub.add_argument("--ci", action="store_true")
sub.add_argument("--where", type=murli.json_value)
murli.annotate(sub, PUSH)
sub = commands.add_parser("release")
sub.add_argument("how")
murli.annotate(sub, RELEASE)
murli.enable(parser)
values = vars(parser.parse_args())
values.pop("verbose")
(push if values.pop("command") == "push" else release)(**values)
"""
CLICK = """
import click

@click.group()
@click.option("--verbose", is_flag=True)
def box(verbose): pass

@box.command("push")
@click.argument("target")
@click.option("--host")
@click.option("--name")
@click.option("--raw")
@click.option("--mode", default="local")
@click.option("--format", default="json")
@click.option("--all", is_flag=True)
@click.option("--ci", is_flag=True)
@click.option("--where", type=murli.json_value)
def push_command(**values): push(**values)

@box.command("release")
@click.argument("how")
def release_command(how): release(how)

murli.annotate(push_command, PUSH)
murli.annotate(release_command, RELEASE)
murli.enable(box)
box()
"""
TYPER = """
import typer
from typing import Any, Optional
box = typer.Typer()

@box.callback()
def main(verbose: bool = False): pass

@box.command("push")
def push_command(
    target: str,
    host: Optional[str] = None,
    name: Optional[str] = None,
    raw: Optional[str] = None,
    mode: str = "local",
    format: str = "json",
    all: bool = False,
    ci: bool = False,
    where: Any = typer.Option(None, parser=murli.json_value),
):
    push(**locals())

@box.command("release")
def release_command(how: str): release(how)

murli.annotate(push_command, PUSH)
murli.annotate(release_command, RELEASE)
murli.enable(box)
box()
"""
TOOLS = {"argparse": ARGPARSE, "click": CLICK, "typer": TYPER}
FAMILY = environment(MURLI_CONTRACT="agent-spec-2")


@pytest.fixture(params=ADAPTERS)
def box(request: pytest.FixtureRequest, tmp_path: Path) -> list[str]:
    return script(tmp_path, CORE + TOOLS[request.param])


# -- kept when a call comes -----------------------------------------------------------------------


def test_a_call_that_keeps_the_rules(box: list[str]) -> None:
    """A call within the rules runs; a conditional default fills in, a loose JSON is read."""
    done = run(box, "push", "a-1", "--ci", "--where", "{a: [1,],}")
    assert done.code == 0, done.err
    result = done.document["result"]
    assert (result["format"], result["where"]) == ("plain", {"a": [1]})
    done = run(box, "push", "a-1", "--ci", "--all", "--format", "json")
    assert done.document["result"]["format"] == "json"


def test_everything_wrong_is_told_at_once(box: list[str]) -> None:
    """The first problem is the error, all of them are in its context, and nothing has run."""
    words = ("push", "../etc", "--mode", "remote", "--all", "--name", "x", "--raw", "{a: 1}")
    done = run(box, *words, env=FAMILY)
    error = done.document["error"]
    assert (done.code, error["phase"], error["retryable"]) == (2, "validation", False)
    problems = error["errors"]
    assert error["message"] == problems[0]["message"]
    assert [each["field"] for each in problems] == ["raw", "target", "host", "all"]
    assert problems[2]["message"] == "--host is needed with --mode remote."
    assert problems[3]["message"] == "Options --all and --name cannot be combined."
    assert error["corrected_input"] == '{"a": 1}'


@pytest.mark.parametrize(
    ("words", "field", "told"),
    [
        (["a%2e", "--all"], "target", "percent-encoded"),
        (["a?b=1", "--all"], "target", "an id has no ?"),
        (["a-very-long-name", "--all"], "target", "16 bytes; at most 12"),
        (["a", "--all", "--host", "x; rm -rf /"], "host", "a shell"),
        (["a", "--all", "--host", "x\ny"], "host", "a shell"),
        (["a", "--where", "{"], "where", "not JSON"),
        (["a"], "all", "At least one of --all, --name, --raw, --where is needed."),
    ],
)
def test_one_thing_wrong(box: list[str], words: list[str], field: str, told: str) -> None:
    """Values that would do harm are usage errors that name the flag or argument."""
    done = run(box, "push", *words)
    assert (done.code, done.error["error"], done.error["field"]) == (1, "flag_error", field)
    assert told in done.error["message"]


def test_a_deprecated_flag_works_and_warns(box: list[str]) -> None:
    """A deprecated flag is told with its replacement, in the answer where there is a place."""
    done = run(box, "push", "a", "--name", "x", env=FAMILY)
    (warning,) = done.document["warnings"]
    assert warning["code"] == "DEPRECATED_FLAG"
    assert warning["message"] == "--name is deprecated since 2.0; use --where instead."
    assert warning["context"]["replacement"] == "--where"
    done = run(box, "push", "a", "--name", "x")
    assert done.code == 0
    assert "--name is deprecated since 2.0" in done.err


def test_steps_tell_how_far_it_came(box: list[str]) -> None:
    """A failure tells the steps that were completed, the one that failed, and the others."""
    done = run(box, "release", "fail", "--yes", env=FAMILY)
    assert (done.code, done.document["error"]["code"]) == (12, "UNAVAILABLE")
    assert done.document["error"]["context"] == {
        "completed_steps": ["build"],
        "failed_step": "upload",
        "skipped_steps": ["announce"],
    }
    assert run(box, "release", "well", "--yes").document["result"] == {"released": True}


def test_a_timeout_tells_the_steps(tmp_path: Path) -> None:
    """A command that runs out of time tells the step it was in, as one that failed."""
    tool = script(tmp_path, CORE + ARGPARSE)
    done = run(tool, "release", "hang", "--yes", "--timeout", "2s", env=FAMILY)
    context = done.document["error"]["context"]
    assert (done.code, context["failed_step"]) == (10, "upload")
    assert (context["completed_steps"], context["skipped_steps"]) == (["build"], ["announce"])


def test_the_schema_knows_nothing_new(box: list[str]) -> None:
    """--schema and describe fit their closed schemas, whatever else is declared."""
    document = run(box, "push", "--schema").document
    jsonschema.validate(document, murli.load_schema("command"))
    jsonschema.validate(run(box, "describe").document, murli.load_schema("describe"))


DOOR = """
import argparse, sys, murli
from murli import FlagAnnotation, Metadata, Traits
parser = argparse.ArgumentParser(prog="door")
for name in ("global", "really", "live-of-its-own"):
    parser.add_argument(f"--{name}", action="store_true")
parser.add_argument("--message")
parser.add_argument("--token")
murli.annotate(parser, %s)
murli.enable(parser)
args, writer = murli.parse(parser)
writer.write_success("ran", {"dry_run": writer.is_dry_run(), "forced": writer.is_forced()})
"""
SURE = """
import murli
from murli import FlagAnnotation, Metadata, Traits
NOTES = Metadata(
    mutating=True,
    traits=Traits(confirm_flag="really"),
    flag_annotations={"really": FlagAnnotation(env="BOX_REALLY")},
)
"""
SURE_TOOLS = {
    "argparse": """
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--really", action="store_true")
murli.annotate(parser, NOTES)
murli.enable(parser)
parser.parse_args()
print("ran")
""",
    "click": """
import click
@click.command()
@click.option("--really", is_flag=True)
def sure(really):
    print("ran")
murli.annotate(sure, NOTES)
murli.enable(sure)
sure()
""",
    "typer": """
import typer
sure = typer.Typer()
@sure.command()
def main(really: bool = False):
    print("ran")
murli.annotate(main, NOTES)
murli.enable(sure)
sure()
""",
}


def door(tmp_path: Path, declared: str) -> list[str]:
    return script(tmp_path, DOOR % declared)


TOKEN_FLAG = 'flag_annotations={"token": FlagAnnotation(env="BOX_T", sensitive=True)}'

# -- traits at the door ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("declared", "words", "error"),
    [
        ("Metadata(traits=Traits(requires_person=True))", ["--yes", "--force"], "person_required"),
        ("Metadata(traits=Traits(token_env_vars=['BOX_T']))", [], "token_missing"),
        (
            "Metadata(traits=Traits(requires_editor=True,"
            " non_interactive_alternatives=['--message TEXT']))",
            [],
            "editor_required",
        ),
        (
            "Metadata(traits=Traits(gui_operations=['a window'], headless_behavior='error'))",
            [],
            "headless",
        ),
        ("Metadata(traits=Traits(required_tools={'no-such-tool': '2'}))", [], "tool_missing"),
    ],
)
def test_what_must_be_true_first(
    tmp_path: Path, declared: str, words: list[str], error: str
) -> None:
    """With nobody at the terminal, what only a person could do is a precondition, at once."""
    done = run(door(tmp_path, declared), *words, env=environment(MURLI_CONTRACT="agent-spec-1.6"))
    assert (done.code, done.document["error"]["code"]) == (4, error.upper())
    assert done.document["error"]["phase"] == "validation"


@pytest.mark.parametrize(
    ("declared", "words", "env"),
    [
        ("Metadata(traits=Traits(token_env_vars=['BOX_T', 'BOX_U']))", [], {"BOX_U": "x"}),
        (f"Metadata({TOKEN_FLAG}, traits=Traits(token_env_vars=['BOX_T']))", ["--token=t"], {}),
        (
            "Metadata(traits=Traits(requires_editor=True,"
            " non_interactive_alternatives=['--message TEXT']))",
            ["--message", "x"],
            {},
        ),
        (
            "Metadata(traits=Traits(gui_operations=['a window'], headless_behavior='skip'))",
            [],
            {},
        ),
        ("Metadata(traits=Traits(required_tools={'sh': '*'}))", [], {}),
    ],
)
def test_what_is_there_opens_the_door(
    tmp_path: Path, declared: str, words: list[str], env: dict[str, str | None]
) -> None:
    """A token, an alternative or a tool that is there lets the command run."""
    done = run(door(tmp_path, declared), *words, env=environment(**env))
    assert done.code == 0, done.err


def test_a_person_attests(tmp_path: Path) -> None:
    """At a terminal the exact words let it run, others do not; agent mode has no person."""
    tool = door(tmp_path, "Metadata(traits=Traits(requires_person='I mean it'))")
    assert run_at_terminal(tool, keys=b"I mean it\n").out.endswith("ran\n")
    done = run_at_terminal(tool, keys=b"yes\n")
    assert done.code == 1
    assert "typed exactly" in done.err
    done = run_at_terminal(tool, "--agent", "--yes", keys=b"I mean it\n")
    assert "person_required" in done.err


def test_a_safe_default(tmp_path: Path) -> None:
    """A command that is safe by default previews; --yes, or --live where it exists, runs it."""
    tool = door(tmp_path, "Metadata(mutating=True, traits=Traits(safe_default=True))")
    assert run(tool).document["result"] == {"dry_run": True, "forced": False}
    assert run(tool, "--yes").document["result"] == {"dry_run": False, "forced": True}
    assert run(tool, "--yes", "--dry-run").document["result"]["dry_run"]
    answer = run(tool, "--yes", env=FAMILY).document
    assert (answer["data"]["dry_run"], answer["meta"]["dry_run"]) == (True, True)
    assert "pass --live to do it" in answer["warnings"][0]["message"]
    answer = run(tool, "--live", env=FAMILY).document
    assert (answer["data"]["dry_run"], answer["meta"]["dry_run"]) == (False, False)
    tool = door(tmp_path, "Metadata(destructive=True, traits=Traits(safe_default=True))")
    assert run(tool, "--live", env=FAMILY).document["error"]["code"] == "CONFIRMATION_REQUIRED"
    assert run(tool, "--live", "--confirm-destructive", env=FAMILY).code == 0


def test_a_flag_that_confirms(tmp_path: Path) -> None:
    """A command's own confirm_flag confirms like --yes, and the refusal names it."""
    tool = door(tmp_path, "Metadata(mutating=True, traits=Traits(confirm_flag='really'))")
    done = run(tool)
    assert (done.error["error"], done.code) == ("confirmation_required", 1)
    assert "--really" in done.error["suggestion"]
    assert run(tool, "--really").document["result"]["forced"]


@pytest.mark.parametrize("framework", ADAPTERS)
def test_a_variable_confirms_nothing(tmp_path: Path, framework: str) -> None:
    """A confirm_flag that only the environment sets leaves the guard closed."""
    source = SURE + SURE_TOOLS[framework]
    tool = script(tmp_path, source)
    done = run(tool, env=environment(BOX_REALLY="1"))
    assert (done.code, done.error["error"]) == (1, "confirmation_required")
    assert run(tool, "--really").out


def test_global_configuration_is_asked_for(tmp_path: Path) -> None:
    """What changes the configuration of everything needs --global, and says so."""
    tool = door(tmp_path, "Metadata(traits=Traits(config_write_scope='global'))")
    assert run(tool).error["error"] == "global_required"
    warnings = run(tool, "--global", env=FAMILY).document["warnings"]
    assert [each["code"] for each in warnings] == ["GLOBAL_CONFIG_MODIFIED"]
    assert run_at_terminal(tool).code == 0


def test_warnings_at_the_door(tmp_path: Path) -> None:
    """A deprecated command and the wrong platform are told, and the command runs."""
    platform = "darwin" if sys.platform != "darwin" else "linux"
    declared = f"Metadata(deprecated='door open', traits=Traits(platform=['{platform}']))"
    done = run(door(tmp_path, declared), env=FAMILY)
    assert done.code == 0
    warnings = {each["code"]: each for each in done.document["warnings"]}
    assert warnings.keys() == {"DEPRECATED_COMMAND", "PLATFORM_UNSUPPORTED"}
    assert warnings["DEPRECATED_COMMAND"]["context"]["replacement"] == "door open"
