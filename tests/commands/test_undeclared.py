"""What nobody declared is never claimed: in describe, AGENTS.md, doctor, and by the client."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

import murli
from harness import ADAPTERS, COMPILED, environment, run, script
from murli.conformance import check
from murli.wire.listing import from_description

pytestmark = pytest.mark.warm


# One tool three times: HONEST says what its commands do, else nobody says anything.
COMMANDS = {
    "list": "danger_level='safe', idempotent=True",
    "greet": "danger_level='safe'",
    "deploy": "mutating=True",
    "db purge": "destructive=True, dry_runnable=True",
    "db show": "danger_level='safe', lists=murli.Paging(limit=5)",
}
HEAD = """
import os, murli
def answer():
    writer = murli.get_writer()
    if not writer.is_dry_run():
        return [1]
    writer.write_plan("Would answer", [1])
"""
TAIL = """
if os.environ.get("HONEST"):
    for name, facts in FACTS.items():
        murli.annotate(FOUND[name], facts)
"""
LISTED = ", ".join(f"{name!r}: murli.Metadata({facts})" for name, facts in COMMANDS.items())
FACTS = f"FACTS = {{{LISTED}}}\n"
SOURCES = {
    "argparse": """
import argparse
parser = argparse.ArgumentParser(prog="ship", description="Ship things.")
parser.add_argument("--region", default="eu", metavar="REGION:ZONE")
commands = parser.add_subparsers(required=True)
FOUND = {name: commands.add_parser(name, help=name) for name in ("list", "greet", "deploy")}
db = commands.add_parser("db", help="db").add_subparsers(required=True)
FOUND.update({f"db {name}": db.add_parser(name, help=name) for name in ("purge", "show")})
murli.enable(parser, name="ship")
""",
    "click": """
import click
@click.group()
@click.option("--region", default="eu", metavar="REGION:ZONE")
def cli(region): "Ship things."
@cli.group()
def db(): "db"
FOUND = {}
def add(group, path):
    @group.command(path.split()[-1], help=path)
    def command(): return answer()
    FOUND[path] = command
for path in ("list", "greet", "deploy"): add(cli, path)
for path in ("db purge", "db show"): add(db, path)
murli.enable(cli, name="ship")
""",
    "typer": """
import typer
from typing import Annotated
app, db = typer.Typer(), typer.Typer()
@app.callback()
def main(region: Annotated[str, typer.Option(metavar="REGION:ZONE")] = "eu"): "Ship things."
app.add_typer(db, name="db", help="db")
FOUND = {}
def add(group, path):
    @group.command(path.split()[-1], help=path)
    def command(): return answer()
    FOUND[path] = command
for path in ("list", "greet", "deploy"): add(app, path)
for path in ("db purge", "db show"): add(db, path)
murli.enable(app, name="ship")
""",
}
CALLS = {"argparse": "args = parser.parse_args()\n", "click": "cli()\n", "typer": "app()\n"}
ANSWERING = """
if (found := answer()) is not None:
    murli.get_writer().write_success("Here it is", found)
"""


@pytest.fixture(scope="module", params=ADAPTERS)
def ship(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The words that run the tool on one of the frameworks."""
    source = HEAD + FACTS + SOURCES[request.param] + TAIL + CALLS[request.param]
    return script(tmp_path_factory.mktemp(request.param), source, "ship.py")


HONEST = environment(HONEST="1")


def walked(commands: list[Any], above: str = "") -> dict[str, Any]:
    """Every described command by the words that call it."""
    found: dict[str, Any] = {}
    for each in commands:
        path = f"{above}{each['name']}"
        found[path] = each
        found.update(walked(each.get("subcommands", []), f"{path} "))
    return found


def test_what_nobody_declared_has_no_read_only(ship: list[str]) -> None:
    """An undeclared command says so, with what its name suggests; nothing says it only reads."""
    told = walked(run(ship, "describe").document["commands"])
    assert {path: each["safety"] for path, each in told.items()} == {
        "list": {"declared": False},
        "greet": {"declared": False},
        "deploy": {"declared": False, "inferred": "mutating"},
        "db": {"declared": False, "inferred": "destructive"},
        "db purge": {"declared": False, "inferred": "destructive"},
        "db show": {"declared": False},
    }
    assert not any("yes" in str(each.get("flags", "")) for each in told.values())
    purge = run(ship, "db", "purge", "--schema").document
    assert purge == told["db purge"]
    text = run(ship, "describe", "--agents-md").out
    assert "**Safety:** not declared, looks mutating\n" in text
    assert "`purge` (not declared, looks destructive), `show` (not declared)" in text
    assert "### db purge\n" in text


def test_what_is_declared_is_told_with_the_flags_it_brings(ship: list[str]) -> None:
    """Declared commands keep their block; --yes, --dry-run and paging are among their flags."""
    document = run(ship, "describe", env=HONEST).document
    told = walked(document["commands"])
    assert told["list"]["safety"] == {"read_only": True, "idempotent": True}
    assert told["deploy"]["safety"] == {"read_only": False, "idempotent": False}
    gone = {"read_only": False, "idempotent": False, "destructive": True}
    assert told["db"]["safety"] == gone
    assert told["db purge"]["safety"] == {**gone, "dry_run_supported": True}
    flags = {path: [flag["name"] for flag in each.get("flags", [])] for path, each in told.items()}
    assert flags["deploy"] == ["yes"] and flags["db purge"] == ["yes", "dry-run"]
    assert flags["db show"] == ["limit", "cursor"] and not flags["db"] and not flags["list"]
    assert told["db show"]["flags"][0] == {
        "name": "limit",
        "type": "int",
        "default": 5,
        "description": "Return at most N items of a list; 0 for all",
        "standard": True,
    }
    # The options of the tool itself, and what stands for their values.
    assert [(each["name"], each["metavar"]) for each in document["flags"]] == [
        ("region", "REGION:ZONE")
    ]


def test_the_client_takes_the_undeclared_for_unknown(ship: list[str]) -> None:
    """In the catalogue an undeclared command is neither safe nor mutating, and not idempotent."""
    silent = from_description(run(ship, "describe").document)
    purge = silent.commands["db purge"]
    assert (purge.mutating, purge.idempotent, purge.inferred) == (None, None, "destructive")
    assert silent.commands["list"].mutating is None and silent.commands["list"].inferred == ""
    assert silent.knows_root and "region" in silent.commands[""].flags
    honest = from_description(run(ship, "describe", env=HONEST).document)
    purge = honest.commands["db purge"]
    assert (purge.mutating, purge.destructive, purge.inferred) == (True, True, "")
    assert honest.commands["list"].mutating is False
    # murli's own flags are known, and are not the command's.
    assert (set(purge.flags), set(purge.standard)) == (set(), {"yes", "dry-run"})
    assert honest.commands["db show"].takes_cursor


def test_doctor_fails_what_looks_like_a_change_until_it_is_declared(ship: list[str]) -> None:
    """Doctor names undeclared changes with the declaration to add, and passes once they have it."""
    report = run(ship, "doctor").document["result"]
    safety = next(each for each in report["checks"] if each["name"] == "safety")
    assert safety["status"] == "fail" and report["failed"] == 1
    assert '"deploy" looks mutating' in safety["message"]
    assert '"db purge" looks destructive and is not declared' in safety["message"]
    assert 'Metadata(danger_level="destructive")' in safety["message"]
    assert "list" not in safety["message"] and "greet" not in safety["message"]
    assert run(ship, "doctor", "--strict").code == 1
    honest = run(ship, "doctor", env=HONEST).document["result"]
    assert honest["failed"] == 0 and all(each["name"] != "safety" for each in honest["checks"])


def test_the_manifest_does_not_contradict(ship: list[str]) -> None:
    """What describe calls undeclared, a manifest calls mutating, and what reads is safe in both."""
    for env, safe in ((environment(), {"db"}), (HONEST, {"list", "greet", "db", "db.show"})):
        told = run(ship, "manifest", env={**env, "MURLI_CONTRACT": "agent-spec-2"}).document
        own = {
            name: each for name, each in told["data"]["commands"].items() if "builtin" not in each
        }
        own.pop("ship", None)
        assert {name for name, each in own.items() if each["danger_level"] == "safe"} == safe


def test_silence_is_never_scored_above_honesty(tmp_path: Path) -> None:
    """The same tool has a higher score and level with honest declarations than with none."""
    source = HEAD + FACTS + SOURCES["argparse"] + TAIL + CALLS["argparse"] + ANSWERING
    tool = script(tmp_path, source, "ship.py")
    silent, honest = (check(tool, env=COMPILED | more) for more in ({}, {"HONEST": "1"}))
    assert silent.level < 2 <= honest.level
    assert silent.score < honest.score
    failed = {each.id: each for each in silent.results if each.status == "fail"}
    assert set(failed) == {"murli.describe.declared"}
    details = [each.detail for each in failed["murli.describe.declared"].troubles]
    assert len(details) == 2 and not any("declared to only read" in each for each in details)
    assert not any(each.status == "fail" for each in honest.results)


GROUP = """
import click, murli, os
@click.group()
def cli(): "Users."
@cli.group()
def users(): "Users."
@users.command()
def look(): "Look."
murli.annotate({group}, murli.Metadata(mutating=True))
if os.environ.get("HONEST"):
    murli.annotate(look, murli.Metadata(danger_level="safe"))
murli.enable(cli, name="t")
cli()
"""


@pytest.mark.parametrize("group", ["users", "cli"])
def test_a_mutating_group_says_nothing_about_its_commands(tmp_path: Path, group: str) -> None:
    """Doctor and check fail a tool with undeclared commands in a group declared mutating."""
    tool = script(tmp_path, GROUP.replace("{group}", group), "t.py")
    report = run(tool, "doctor").document["result"]
    message = next(each["message"] for each in report["checks"] if each["name"] == "safety")
    assert "is declared mutating, which says nothing about users look" in message
    assert run(tool, "doctor", env=HONEST).document["result"]["failed"] == 0
    result = check(tool, only=["murli.describe.declared"], env=COMPILED).results[0]
    assert (result.status, result.level) == ("fail", 2)
    honest = check(tool, only=["murli.describe.declared"], env=COMPILED | {"HONEST": "1"})
    assert honest.results[0].status == "pass"


RUNNABLE = {
    "argparse": """
import argparse, murli
parser = argparse.ArgumentParser(prog="tool")
commands = parser.add_subparsers(required=True)
purge = commands.add_parser("purge")
status = purge.add_subparsers().add_parser("status")
murli.annotate(status, murli.Metadata(danger_level="safe"))
murli.enable(parser)
parser.parse_args()
""",
    "click": """
import click, murli
@click.group()
def cli(): pass
@cli.group(invoke_without_command=True)
def purge(): pass
@purge.command()
def status(): pass
murli.annotate(status, murli.Metadata(danger_level="safe"))
murli.enable(cli, name="tool")
cli()
""",
}


@pytest.mark.parametrize("adapter", RUNNABLE)
def test_a_group_that_may_be_called_by_itself_is_undeclared_too(
    tmp_path: Path, adapter: str
) -> None:
    """Commands below it that only read do not make it one that only reads; doctor names it."""
    argv = script(tmp_path, RUNNABLE[adapter])
    [purge] = run(argv, "describe").document["commands"]
    assert purge["safety"] == {"declared": False, "inferred": "destructive"}
    safety = run(argv, "doctor").document["result"]["checks"][-1]
    assert safety["status"] == "fail" and '"purge" looks destructive' in safety["message"]


def test_a_tool_of_one_command_is_known_by_its_own_names(tmp_path: Path) -> None:
    """The name of the tool, of the command or of its function tells what one command does."""
    source = "import click, murli\n@click.command({name})\ndef {function}(): 'x'\n"
    source += "murli.enable({function})\n{function}()\n"
    inferred = []
    for file, name, function in (
        ("wipe.py", "", "main"),
        ("tool.py", "'purge'", "main"),
        ("tool.py", "", "delete_all"),
        ("deploy.py", "", "main"),
        ("tool.py", "", "main"),
    ):
        text = source.replace("{name}", name).replace("{function}", function)
        tool = script(tmp_path, text, file)
        inferred.append(run(tool, "describe").document["safety"].get("inferred"))
    assert inferred == ["destructive", "destructive", "destructive", "mutating", None]


def test_the_other_wires_are_still_read() -> None:
    """A command of the Go wire is what it says; what a TypeScript tool lists is not its own."""
    ours = [
        {"name": name, "type": "bool", "default": None, "description": ""}
        for name in ("agent", "schema", "profile", "yes")
    ]
    output = {"name": "output", "type": "string", "default": None, "description": ""}
    told = "output format: json|ndjson|text"
    go = {"read_only": True, "idempotent": False}
    command = {"name": "list", "summary": "", "idempotent": False, "safety": go}
    flags = [*ours, {**output, "description": told}, {**output, "name": "top"}]
    listing = from_description(
        {"name": "t", "schema_version": "1.0", "commands": [{**command, "flags": flags}]}
    )
    read = listing.commands["list"]
    assert (read.mutating, read.idempotent, read.inferred) == (False, False, "")
    assert set(read.flags) == {"top"}
    # An --output of its own knows no ndjson, and one without the others is the tool's.
    for own in ([*ours, output], [{**output, "description": told}]):
        document = {"name": "t", "schema_version": "1.0", "commands": [{**command, "flags": own}]}
        assert "output" in from_description(document).commands["list"].flags


def test_a_described_flag_has_the_words_for_agents(tmp_path: Path) -> None:
    """FlagAnnotation(description=…) is what agents read, and --help keeps the framework's."""
    source = """
import click, murli
class Sku(click.ParamType):
    name = "sku:quantity"
class Place(click.ParamType):
    name = "place"
    def get_metavar(self, param, ctx=None): return "SHELF:ROW"
@click.command()
@click.option("--line", type=Sku(), help="for people")
@click.argument("place", type=Place(), required=False)
def t(line, place): "T."
note = murli.FlagAnnotation(description="for agents")
murli.annotate(t, murli.Metadata(danger_level="safe", flag_annotations={"line": note}))
murli.enable(t, name="t")
t()
"""
    tool = script(tmp_path, source, "t.py")
    schema = run(tool, "--schema").document
    flag = schema["flags"][0]
    assert schema["arguments"][0]["metavar"] == "SHELF:ROW"
    assert (flag["description"], flag["metavar"]) == ("for agents", "SKU:QUANTITY")
    env = environment(MURLI_CONTRACT="agent-spec-2")
    entry = run(tool, "--schema", env=env).document["data"]["flags"]["line"]
    assert entry["description"] == "for agents (value SKU:QUANTITY)"
    assert "for people" in run(tool, "--help").out
    assert "for agents" not in run(tool, "--help").out


def test_profiles_are_promised_only_where_they_can_be_saved(tmp_path: Path) -> None:
    """Without a profile command capabilities.profiles is false, and no hint names that command."""
    one = "import click, murli\n@click.command()\ndef t(): 'T.'\nmurli.enable(t, name='t')\nt()\n"
    own = (
        "import click, murli\n@click.group()\ndef t(): 'T.'\n@t.command()\ndef profile(): 'P.'\n"
        "murli.enable(t, name='t')\nt()\n"
    )
    for name, source in (("one.py", one), ("own.py", own)):
        tool = script(tmp_path, source, name)
        assert run(tool, "describe").document["capabilities"]["profiles"] is False
    refused = run(script(tmp_path, one, "one.py"), "--profile", "x")
    assert refused.error["suggestion"] == "Leave --profile out; this tool saves none."


def test_help_tells_how_the_tool_was_called(tmp_path: Path) -> None:
    """A script is called again by its file; a group lists no paging; --version is no protocol."""
    source = """
import click, murli
@click.group()
def cli(): "T."
@cli.group()
def sub(): "S."
@sub.command("list")
def list_(): "L."
murli.enable(cli)
cli()
"""
    tool = script(tmp_path, source, "main.py")
    assert f"'python {tool[1]} describe'" in run(tool, "--help").out
    assert "--limit" not in run(tool, "sub", "--help").out
    assert "--limit" in run(tool, "sub", "list", "--help").out
    assert "protocol" not in run(tool, "--version").err


def test_public_doctor_takes_any_document() -> None:
    """run_doctor finds the same in a document, and nothing in one without safety blocks."""
    command = {"name": "delete", "summary": "D", "safety": {"declared": False}}
    able = {"output_formats": ["json"]}
    document = {"schema_version": "1.0", "capabilities": able, "commands": [command]}
    assert murli.run_doctor(document)["failed"] == 1
    del command["safety"]
    assert murli.run_doctor(document)["failed"] == 0


DEEP = """
import json, os, sys
for _ in range(1200):
    try:
        os.mkdir("d")
        os.chdir("d")
    except OSError:
        break
flags = [{"name": f"f{i}", "type": "int", "default": 1, "description": ""} for i in range(60000)]
reads = {"read_only": True, "idempotent": True}
command = {"name": "list", "summary": "L", "idempotent": True, "flags": flags, "safety": reads}
print(json.dumps({"name": "t", "summary": "", "schema_version": "1.0", "commands": [command],
                  "capabilities": {"output_formats": ["json"]}}))
"""


@pytest.mark.slow
def test_a_tool_that_is_deep_and_wide_is_checked_to_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thousand nested folders and 60,000 flags leave a report, and nothing behind."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    tool = [sys.executable, "-S", "-E", *script(tmp_path, DEEP)[1:]]
    report = check(tool, only=["murli.describe.commands", "murli.mistake.bad-type"])
    assert report.results and report.processes < 100
    assert [each.name for each in tmp_path.iterdir()] == ["tool.py"]
