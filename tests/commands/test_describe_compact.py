"""What describes a tool says what is so and nothing else, and any part of it can be asked for."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import murli
from harness import ADAPTERS, environment, run, run_at_terminal, script, tool
from murli.commands.finding.by_words import search
from murli.commands.schema import describe_document
from murli.conformance.diffing import compare
from murli.contracts import CONTRACT_NAMES
from murli.declare import Metadata
from murli.declare.tree import Argument, Command, Flag
from murli.wire.listing import from_description

pytestmark = pytest.mark.warm

SHOP = {adapter: tool(f"shop_{adapter}") for adapter in ADAPTERS}
# What the contract always has, whatever it is.
ALWAYS = {"read_only", "idempotent", "declared", "ok", "dry_run", "profiles", "profileable_flags"}


@cache
def validator(name: str) -> Draft202012Validator:
    return Draft202012Validator(murli.load_schema(name))


def asked(adapter: str, *words: str, contract: str = "murli") -> Any:
    """Return the document of a call, out of the envelope where its contract has one."""
    env = environment(MURLI_CONTRACT=contract)
    done = run(SHOP[adapter], *words, env=env)
    assert done.code == 0, done
    return done.document["data"] if contract != "murli" else done.document


def padding(value: Any, where: str = "") -> Iterator[str]:
    """Yield the places of what says nothing: null, false, an empty text, list or object."""
    if isinstance(value, dict):
        for key, each in value.items():
            # A schema is the author's; a switch that something turns off is not undecided.
            is_undone = key == "default" and "negation" in value
            if not is_undone and key not in {*ALWAYS, "output_schema"}:
                yield from padding(each, f"{where}.{key}")
    elif isinstance(value, list):
        for at, each in enumerate(value):
            yield from padding(each, f"{where}[{at}]")
    if value is None or value is False or value in ("", [], {}):
        yield where


def entries(document: dict[str, Any], above: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every command in a document with its path, by the names on the way."""
    for each in (*document.get("commands", ()), *document.get("subcommands", ())):
        path = f"{above} {each['name']}".strip()
        yield path, each
        yield from entries(each, path)


@pytest.mark.parametrize("contract", CONTRACT_NAMES)
@pytest.mark.parametrize("adapter", ADAPTERS)
def test_nothing_is_padding_and_names_carry_their_path(adapter: str, contract: str) -> None:
    """No document says null, false or nothing; below the first level a command has its path."""
    calls = {
        "describe": ["describe"],
        "command": ["describe", "stock"],
        "commands": ["describe", "find", "plain"],
    }
    found = {name: asked(adapter, *words, contract=contract) for name, words in calls.items()}
    for name, document in found.items():
        assert list(padding(document)) == []
        validator(name).validate(document)
    for path, entry in entries(found["describe"]):
        assert entry.get("path", entry["name"]) == path
        assert ("path" in entry) is (" " in path)
    (plain,) = (each for each in found["describe"]["commands"] if each["name"] == "plain")
    assert plain["safety"] == {"declared": False} and "idempotent" not in plain
    brief = asked(adapter, "describe", "--depth", "1", contract=contract)
    assert list(padding(brief)) == []
    assert brief["commands"][0] == {"name": "find", "summary": "Find items"}


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_schema_of_a_command_is_what_describe_says_of_it(adapter: str) -> None:
    """--schema, and describe of one command by any spelling of its path, are one document."""
    schema = asked(adapter, "--region", "eu", "stock", "add", "--schema")
    assert (schema["name"], schema["path"]) == ("add", "stock add")
    for words in (["stock", "add"], ["stock add"], ["stock.add"]):
        assert asked(adapter, "describe", *words) == schema


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_several_commands_at_once(adapter: str) -> None:
    """Words that are no path are several commands, each once, in the order they are named."""
    for words in (["find", "stock", "add", "move"], ["find", "stock.add", "move", "find"]):
        document = asked(adapter, "describe", *words)
        validator("commands").validate(document)
        paths = [each.get("path", each["name"]) for each in document["commands"]]
        assert paths == ["find", "stock add", "move"]
        assert document["commands"][2] == asked(adapter, "describe", "move")
    short = asked(adapter, "describe", "stock", "find", "--depth", "1")
    assert [each["name"] for each in short["commands"]] == ["stock", "find"]
    assert short["commands"][0]["subcommands"][0].keys() == {"name", "path", "summary"}


def test_a_path_wins_over_several_commands(tmp_path: Path) -> None:
    """Where a word names a command below the last and one at the top, it is the one below."""
    source = """
import click, murli
@click.group()
def cli(): pass
@cli.group()
def orders(): pass
@orders.command("list")
def below(): pass
@cli.command("list")
def top(): pass
@cli.command("v1.0")
def dotted(): pass
murli.enable(cli, name="tool")
cli()
"""
    argv = script(tmp_path, source)
    assert run(argv, "describe", "orders", "list").document["path"] == "orders list"
    assert run(argv, "describe", "v1.0").document["name"] == "v1.0"
    both = run(argv, "describe", "list", "orders").document["commands"]
    assert [each["name"] for each in both] == ["list", "orders"]
    manifest = run(argv, "manifest", "list", "orders.list", "--contract", "agent-spec-2").document
    assert list(manifest["data"]["commands"]) == ["list", "orders.list"]


@pytest.mark.parametrize("words", [["stokc"], ["find", "stokc"], ["stock", "ad"], ["find.ad"]])
def test_an_unknown_name_is_named(words: list[str]) -> None:
    """Of several names the one that is unknown is in the refusal, with the nearest known ones."""
    done = run(SHOP["click"], "describe", *words)
    assert done.code == 1 and done.error["message"] == f'Unknown command "{words[-1]}".'
    near = {"stokc": "stock", "ad": "add"}.get(words[-1], "")
    assert near in done.error["suggestion"]
    assert "find" in done.error["valid_values"]


def test_padding_of_older_versions_is_read_as_its_absence() -> None:
    """A description with padding and one without mean the same to the client and to diffs."""
    flags = [Flag("top", "int"), Flag("all", "bool", False), Flag("tag", "[]string", [])]
    one = Command(("t", "a", "b"), arguments=[Argument("x", required=False)], flags=flags)
    root = Command(("t",), commands=[Command(("t", "a"), commands=[one])])
    compact = describe_document(root, "", "1")
    assert list(padding(compact)) == [".summary"]  # the contract's own, of the tool itself
    padded = json.loads(json.dumps(compact))
    for command in (each for _, each in entries(padded)):
        command.pop("path", None)
        command |= {"summary": "", "idempotent": False}
        command.get("arguments", [{}])[0].update({"required": False, "description": ""})
        nothings: list[Any] = [None, False, []]
        for flag, nothing in zip(command.get("flags", ()), nothings, strict=False):
            flag.update({"default": nothing, "description": ""})
    validator("describe").validate(padded)
    before, now = from_description(padded), from_description(compact)
    defaults = {name: flag.default for name, flag in now.commands["a b"].flags.items()}
    assert defaults == dict.fromkeys(("top", "all", "tag"))
    for path, old in before.commands.items():
        new = now.commands[path]
        assert (old.positionals, old.idempotent, old.mutating) == (
            (new.positionals, new.idempotent, new.mutating)
        )
        assert [*old.flags] == [*new.flags]
    assert compare(padded, compact) == compare(compact, padded) == ()


@pytest.mark.parametrize("contract", CONTRACT_NAMES)
@pytest.mark.parametrize("adapter", ADAPTERS)
def test_search_finds_commands_by_meaning(adapter: str, contract: str) -> None:
    """The best match is first, whether it is named so, described so, or only means the same."""
    wanted = {
        "deleting": "stock purge",
        "inserting into the stock": "stock add",
        "count the stock": "stock count",
        "relocated things": "move",
        "searched items": "find",
    }
    for words, path in wanted.items():
        document = asked(adapter, "describe", "--search", *words.split(), contract=contract)
        validator("commands").validate(document)
        assert (document["query"], document["commands"][0]["path"]) == (words, path)
        assert "message" not in document and list(padding(document)) == []
    assert document["commands"][0]["summary"] == "Find items"
    usage = document["commands"][0]["usage"]
    assert usage.startswith("shop find WORDS... --level {1|2")


def test_search_knows_forms_and_things(tmp_path: Path) -> None:
    """A form with a doubled letter is its verb; a thing is found by another usual name for it."""
    source = """
import click, murli
@click.group()
def cli(): pass
for name, text in {"orders cancel": "Cancel an order.", "orders list": "List the orders.",
                   "hosts stop": "Stop it.", "invoices install": "Set up."}.items():
    group, below = name.split()
    within = cli.commands.get(group) or click.Group(group)
    cli.add_command(within)
    within.add_command(click.Command(below, help=text))
murli.enable(cli, name="t")
cli(prog_name="t")
"""
    argv = script(tmp_path, source)
    for words, path in {
        "cancelled orders": "orders cancel",
        "stopping a machine": "hosts stop",
        "installed bills": "invoices install",
    }.items():
        found = run(argv, "describe", "--search", words).document["commands"]
        assert found[0]["path"] == path, words


def test_search_is_never_silent() -> None:
    """What nothing matches is answered with the nearest words, or with the way to all names."""
    near, far = (asked("click", "describe", f"--search={word}") for word in ("stokc", "quux"))
    assert near["message"] == 'No command is about "stokc". These are about stock.'
    assert near["commands"][0]["path"] == "stock"
    assert far["commands"] == [] and "`shop describe --depth 1`" in far["message"]
    for document in (near, far):
        validator("commands").validate(document)
    done = run(SHOP["click"], "describe", "--search")
    assert done.error["message"] == "Option --search needs a value."
    shown = run_at_terminal(SHOP["click"], "describe", "--search", "purge").out
    assert json.loads(shown) == asked("click", "describe", "--search", "purge")


def test_search_of_ten_thousand_commands() -> None:
    """Ten times as many commands take about ten times as long, and the right one is first."""

    def tool_of(count: int) -> Command:
        verbs = ("create", "remove", "show", "export", "rename")
        groups = [
            Command(
                ("t", f"thing{at}"),
                f"Work with things of kind {at}",
                commands=[
                    Command(
                        ("t", f"thing{at}", verb),
                        f"{verb.title()} a thing{at}",
                        flags=[Flag("owner", description="whose it is")],
                        metadata=Metadata(when_to_use=f"Use it for thing{at}."),
                    )
                    for verb in verbs
                ],
            )
            for at in range(count // len(verbs))
        ]
        return Command(("t",), commands=groups)

    def seconds(root: Command, text: str) -> float:
        started = time.process_time()
        found = search(root, text)
        assert found["commands"][0]["path"] == "thing77 remove"
        assert len(found["commands"]) <= 10
        return time.process_time() - started

    small, large = tool_of(1_000), tool_of(10_000)
    seconds(small, "delete thing77")
    fewer, more = seconds(small, "delete thing77"), seconds(large, "delete thing77")
    assert more < 30 * fewer + 0.2
    every = search(large, "removal of an owner")
    assert every["total"] > 1_000 and len(every["commands"]) == 10


def test_a_tool_of_one_command_is_found_itself(tmp_path: Path) -> None:
    """A tool without commands is one command, which has no path."""
    source = """
import argparse, murli
p = argparse.ArgumentParser(prog="tool", description="Convert pictures.")
p.add_argument("file")
murli.enable(p)
p.parse_args()
"""
    found = run(script(tmp_path, source), "describe", "--search", "picture").document
    assert found["commands"] == [{"summary": "Convert pictures.", "usage": "tool FILE"}]


def test_a_default_command_takes_no_flags_from_describe(tmp_path: Path) -> None:
    """Where options may be those of a command without a name, those behind describe are ours."""
    source = """
import click, murli
class Defaulting(click.Group):
    def parse_args(self, ctx, args):
        return super().parse_args(ctx, args if args[:1] == ["run"] else ["run", *args])
@click.group(cls=Defaulting)
def cli(): pass
@cli.command()
@click.option("--output")
def run(output): pass
murli.enable(cli, name="tool")
cli()
"""
    done = run(script(tmp_path, source), "describe", "--output", "ndjson")
    assert done.out.count("\n") == 1 and done.document["name"] == "tool"


def test_the_shared_parts_of_the_schemas_are_the_same() -> None:
    """What the documents about commands have in common is defined alike in each schema."""
    names = ("describe", "command", "commands")
    whole, one, several = (murli.load_schema(name)["$defs"] for name in names)
    for name, shape in one.items():
        assert whole[name] == several[name] == shape
    assert several["command"] == whole["command"]
