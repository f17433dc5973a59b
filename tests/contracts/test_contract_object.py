"""A contract is one object: a further revision is one entry of data, and nobody asks for names."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from jsonschema import Draft202012Validator

import murli
from harness import ADAPTERS, run, run_at_terminal, script
from murli.contracts import CONTRACT_NAMES, MURLI, Contract, contract_named, find_contract
from murli.contracts.agent_spec import REVISIONS
from murli.schemas import load_schema

pytestmark = pytest.mark.warm

if TYPE_CHECKING:
    from collections.abc import Iterator

# A revision that nobody has published: one entry, and nothing else.
ENTRY = """
from murli.contracts.agent_spec import REVISIONS, Revision

REVISIONS["agent-spec-9"] = Revision(
    "agent-spec-9",
    codes={**Revision.codes, "not_found": (55, "NOT_FOUND")},
    meta_has_exit_code=True,
    warnings_are_objects=True,
    failure_may_have_data=True,
    meta_has_pagination=True,
    list_limit=2,
    numbers_items=True,
    format_flag="--format",
    text_format="plain",
    manifest_version="3.0",
)
"""
TOOLS = {
    "argparse": """
import argparse, murli
parser = argparse.ArgumentParser(prog="tool")
commands = parser.add_subparsers(dest="command", required=True)
for name in ("items", "lost"):
    commands.add_parser(name)
murli.enable(parser, contract="agent-spec-9")
with murli.session(parser) as (args, writer):
    if args.command == "lost":
        raise murli.AgentError.not_found("There is no such item.")
    writer.write_success("Three items.", [{"id": n} for n in range(3)])
""",
    "click": """
import click, murli
@click.group(name="tool")
def tool(): pass
@tool.command()
def items(): murli.get_writer().write_success("Three items.", [{"id": n} for n in range(3)])
@tool.command()
def lost(): raise murli.AgentError.not_found("There is no such item.")
murli.enable(tool, contract="agent-spec-9")
tool()
""",
    "typer": """
import typer, murli
tool = typer.Typer(name="tool")
@tool.command()
def items(): murli.get_writer().write_success("Three items.", [{"id": n} for n in range(3)])
@tool.command()
def lost(): raise murli.AgentError.not_found("There is no such item.")
murli.enable(tool, contract="agent-spec-9")
tool()
""",
}


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_a_further_revision_is_one_entry(adapter: str, tmp_path: Path) -> None:
    """A tool answers in a revision that only an entry of data describes."""
    argv = script(tmp_path, ENTRY + TOOLS[adapter])
    # Its schema is that of the revision it resembles, the number aside.
    schema = Draft202012Validator(load_schema("agent-spec-2"))
    items, lost = run(argv, "items"), run(argv, "lost")
    for done, code in ((items, 0), (lost, 55)):
        assert (done.code, done.document["meta"]["exit_code"]) == (code, code)
        schema.validate(done.document)
    assert items.document["data"] == [{"id": 0}, {"id": 1}]
    assert items.document["meta"]["pagination"]["total"] == 3
    assert lost.document["error"]["code"] == "NOT_FOUND"
    streamed = run(argv, "items", "--stream", "--format", "jsonl")
    assert [line.get("_seq") for line in streamed.lines][:3] == [1, 2, 3]
    manifest = run(argv, "manifest", "--contract", "agent-spec-9").document["data"]
    assert manifest["schema_version"].startswith("3.")
    assert manifest["flags"]["limit"]["default"] == 2
    assert (
        "--format plain" in run(argv, "items", "--output", "text").document["error"]["suggestion"]
    )
    assert run_at_terminal(argv, "items").out == "Three items.\n"
    unknown = run(argv, "items", "--contract", "agent-spec-10").error
    assert unknown["valid_values"] == [*CONTRACT_NAMES, "agent-spec-9"]


def test_a_further_revision_is_read_and_checked(tmp_path: Path) -> None:
    """The client and murli check know a revision that only an entry describes."""
    tool = script(tmp_path, ENTRY + TOOLS["argparse"])
    reading = (
        ENTRY
        + """
import json, sys
from murli.client import Tool
from murli.conformance import check
argv = sys.argv[1:]
answer = Tool(argv, contract="agent-spec-9", check=False).call("lost")
only = ["family.envelope", "family.error", "family.mistake"]
report = check(argv, contract="agent-spec-9", only=only)
failed = [[each.id, each.troubles[0].detail] for each in report.results if each.troubles]
print(json.dumps([answer.problem.kind, failed, report.count("pass")]))
"""
    )
    (tmp_path / "reading").mkdir()
    done = run(script(tmp_path / "reading", reading), *tool)
    assert not done.err
    kind, failed, passed = json.loads(done.out)
    assert (kind, failed) == ("not_found", [])
    assert passed > 10


def test_the_names_are_those_of_the_data() -> None:
    """The names of the contracts are murli's and those of the entries; each finds its object."""
    assert ("murli", *REVISIONS) == CONTRACT_NAMES
    assert [contract_named(name).name for name in CONTRACT_NAMES] == list(CONTRACT_NAMES)
    assert find_contract("murli") is MURLI and find_contract("agent-spec-10") is None


def test_an_entry_says_nothing_that_no_contract_has() -> None:
    """Every attribute that an entry sets is one that its class has."""
    for revision in REVISIONS.values():
        assert [name for name in vars(revision) if not hasattr(type(revision), name)] == []
    assert isinstance(MURLI, Contract)


def _comparisons() -> Iterator[str]:
    package = Path(murli.__file__).parent
    for path in sorted(package.rglob("*.py")):
        room = path.relative_to(package).parts[0]
        if room == "contracts":
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.Compare):
                continue
            texts = {each.value for each in ast.walk(node) if isinstance(each, ast.Constant)}
            about = "contract" in ast.unparse(node) and texts & set(CONTRACT_NAMES)
            if about or texts & set(CONTRACT_NAMES[1:]):
                yield f"{path.relative_to(package)}:{node.lineno}: {ast.unparse(node)}"


def test_nobody_compares_the_name_of_a_contract() -> None:
    """Outside of the contracts themselves no name of one is compared with anything."""
    assert list(_comparisons()) == []
