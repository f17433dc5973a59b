"""The commands of a tool in the formats of others, held to what those publish."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from anthropic.lib._parse._transform import transform_schema
from anthropic.types import ToolParam
from openai.types.chat import ChatCompletionFunctionToolParam
from openai.types.responses import FunctionToolParam
from openapi_spec_validator import OpenAPIV31SpecValidator
from pydantic import TypeAdapter

from harness import golden, run, tool
from murli.exports import FORMATS, exported, tools_for
from murli.schemas.definitions import definitions_of
from murli.wire.listing import from_description

try:
    from mcp_types import Tool as McpTool
except ImportError:  # the library before its second version
    from mcp.types import Tool as McpTool  # type: ignore[no-redef,unused-ignore]

pytestmark = [pytest.mark.adapters("argparse", "click", "typer"), pytest.mark.warm]

ENVELOPE = {"MURLI_CONTRACT": "agent-spec-2"}
# What a property may have in the strict mode of both vendors.
STRICT = {"type", "enum", "items", "description", "properties", "required", "additionalProperties"}


def shop() -> list[str]:
    return tool("shop_click")


def described(words: list[str]) -> dict[str, Any]:
    document: dict[str, Any] = run(words, "describe").document
    return document


@pytest.mark.parametrize("name", FORMATS)
def test_golden(tasks: list[str], name: str) -> None:
    """Every format is its golden file, byte for byte, on every framework."""
    wanted = golden(f"exports/{name}.json")
    if "argparse" in tasks[1] and name == "opencli":  # the one that has another name for a command
        listed = json.loads(wanted)
        group = listed["commands"][-1]["commands"]
        at = next(at for at, each in enumerate(group) if each["name"] == "list")
        group[at] = {"name": "list", "aliases": ["ls"], **group[at]}
        wanted = json.dumps(listed, indent=2, ensure_ascii=False) + "\n"
    assert run(tasks, "describe", "--export", name).out == wanted


@pytest.mark.adapters("click")
@pytest.mark.parametrize("name", ["anthropic", "opencli"])
def test_other_family(tasks: list[str], name: str) -> None:
    """In an envelope the same document is the data."""
    done = run(tasks, "describe", "--export", name, env=ENVELOPE)
    data = done.document["data"]
    if name == "opencli" and "argparse" in tasks[1]:
        data["commands"][-1]["commands"][1].pop("aliases")
    assert data == json.loads(golden(f"exports/{name}.json"))


def test_anthropic_takes_them() -> None:
    """They are tools of the Messages API, and strict ones have what its own library leaves in."""
    definitions = definitions_of(from_description(described(shop())))
    for strict in (None, True, False):
        tools = tools_for(definitions, "anthropic", strict)
        TypeAdapter(list[ToolParam]).validate_python(tools)
        assert ["strict" in each for each in tools] == [strict is not False] * len(tools)
        for each in tools if strict else ():
            # What that library does not know it writes into descriptions, in braces.
            assert "{" not in json.dumps([*descriptions(transform_schema(each["input_schema"]))])
            assert {key for found in schemas(each["input_schema"]) for key in found} <= STRICT


def descriptions(schema: dict[str, Any]) -> list[str]:
    return [each.get("description", "") for each in schemas(schema)]


def schemas(schema: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a schema of arguments and all the schemas in it."""
    found = [schema]
    for each in schema.get("properties", {}).values():
        found += [each, *([each["items"]] if "items" in each else [])]
    return found


def test_openai_takes_them() -> None:
    """They are functions of both APIs, with every property required in strict mode."""
    definitions = definitions_of(from_description(described(shop())))
    for strict in (None, False):
        flat = tools_for(definitions, "openai", strict)
        chat = tools_for(definitions, "openai-chat", strict)
        TypeAdapter(list[FunctionToolParam]).validate_python(flat)
        TypeAdapter(list[ChatCompletionFunctionToolParam]).validate_python(chat)
        assert [{"type": "function", **each["function"]} for each in chat] == flat
        for each in flat:
            assert each["strict"] is (strict is None)
            if strict is None:
                parameters = each["parameters"]
                assert parameters["required"] == list(parameters["properties"])
                assert parameters["additionalProperties"] is False
                assert {key for found in schemas(parameters) for key in found} <= STRICT
    find = tools_for(definitions, "openai")[0]["parameters"]["properties"]
    assert find["sort"]["type"] == ["string", "null"]
    assert None in find["sort"]["enum"]
    assert "default: " in find["sort"]["description"]


def test_mcp_takes_them() -> None:
    """They are tools of the protocol, with the hints that were declared and no others."""
    tools = {
        each["name"]: each for each in exported(from_description(described(shop())), "mcp", {})
    }
    for each in tools.values():
        found = McpTool.model_validate(each)
        assert found.model_dump(by_alias=True, exclude_none=True) == each
    assert tools["shop_find"]["annotations"] == {"readOnlyHint": True}
    purge = tools["shop_stock_purge"]
    assert purge["annotations"] == {"readOnlyHint": False, "destructiveHint": True}
    # Its name suggests a change, which nobody declared.
    assert "annotations" not in tools["shop_move"]
    assert "(inferred)" in tools["shop_move"]["description"]


# With a result that refers to itself, and to what it is nested in.
TREE = """
from __future__ import annotations
from typing import TypedDict
import click, murli

class Node(TypedDict):
    name: str
    children: list[Node]

class Forest(TypedDict):
    trees: list[Node]
    spare: list[Node]

@click.group()
def cli(): "Look at trees."
murli.enable(cli, name="forest")

@cli.command()
@click.argument("name", required=False)
def show(name) -> Forest: "Show {one} tree."

@cli.command("a/{b}")
@click.argument("name")
def odd(name) -> None: "Odd"

cli()
"""


def test_openapi_is_valid(tmp_path: Path) -> None:
    """The OpenAPI document is valid, its references too, and holds results to their schemas."""
    (tmp_path / "forest.py").write_text(TREE)
    for words in (shop(), [sys.executable, str(tmp_path / "forest.py")]):
        document = run(words, "describe", "--export", "openapi").document
        OpenAPIV31SpecValidator(document).validate()
    assert set(document["paths"]) == {"/show", "/a%2F%28b%29"}
    operation = document["paths"]["/show"]["post"]
    assert operation["operationId"] == "forest_show"


def test_json_schema_is_a_call(tmp_path: Path) -> None:
    """The JSON Schema accepts an object with one command and its arguments, and nothing else."""
    (tmp_path / "forest.py").write_text(TREE)
    words = [sys.executable, str(tmp_path / "forest.py")]
    document = run(words, "describe", "--export", "jsonschema").document
    jsonschema.Draft202012Validator.check_schema(document)
    validator = jsonschema.Draft202012Validator(document)
    assert validator.is_valid({"forest_show": {"name": "oak"}})
    wrongs: list[dict[str, Any]] = [
        {},
        {"forest_show": {"nme": "oak"}},
        {"forest_show": {}, "forest_cut": {}},
    ]
    for wrong in wrongs:
        assert not validator.is_valid(wrong)
    leaf = {"name": "leaf", "children": []}
    at = {"$ref": "#/$defs/forest_show.result", "$defs": document["$defs"]}
    held = jsonschema.Draft202012Validator(at)
    assert held.is_valid({"trees": [{**leaf, "children": [leaf]}], "spare": []})
    assert not held.is_valid({"trees": [{**leaf, "children": ["leaf"]}], "spare": []})


# The keys of each object of OpenCLI 0.1, with the kind of their values; * is required.
OPENCLI = {
    "document": "opencli*:text info*:info arguments:[argument options:[option commands:[command "
    "exitCodes:[code examples:[text interactive:bool metadata:[metadata",
    "info": "title*:text version*:text summary:text description:text",
    "command": "name*:text aliases:[text options:[option arguments:[argument commands:[command "
    "exitCodes:[code description:text examples:[text interactive:bool metadata:[metadata",
    "argument": "name*:text required:bool ordinal:int arity:arity acceptedValues:[text "
    "description:text metadata:[metadata",
    "option": "name*:text required:bool aliases:[text arguments:[argument description:text "
    "metadata:[metadata",
    "arity": "minimum:int maximum:int",
    "code": "code*:int description:text",
    "metadata": "name*:text value:any",
}
SIMPLE = {"text": "string", "bool": "boolean", "int": "integer"}


def opencli_schema() -> dict[str, Any]:
    def schema_of(kind: str) -> dict[str, Any]:
        if kind.startswith("["):
            return {"type": "array", "items": schema_of(kind[1:])}
        if kind == "any":
            return {}
        return {"type": SIMPLE[kind]} if kind in SIMPLE else {"$ref": f"#/$defs/{kind}"}

    def object_of(keys: str) -> dict[str, Any]:
        pairs = [each.split(":") for each in keys.split()]
        return {
            "type": "object",
            "properties": {key.rstrip("*"): schema_of(kind) for key, kind in pairs},
            "required": [key.rstrip("*") for key, _ in pairs if key.endswith("*")],
            "additionalProperties": False,
        }

    return {"$ref": "#/$defs/document", "$defs": {k: object_of(v) for k, v in OPENCLI.items()}}


def test_opencli_is_valid(tasks: list[str]) -> None:
    """The OpenCLI document has the keys of the format, groups, and options as they are typed."""
    document = run(tasks, "describe", "--export", "opencli").document
    jsonschema.validate(document, opencli_schema())
    group = document["commands"][-1]
    create = group["commands"][0]
    assert (group["name"], create["name"]) == ("task", "create")
    names = [each["name"] for each in create["options"]]
    assert names[:2] == ["--status", "--count"]
    assert create["options"][1]["aliases"] == ["-n"]
    assert create["options"][2]["required"] is True


def test_part_of_a_tool(tasks: list[str]) -> None:
    """Named commands are exported with what is below them, by the names that they have anyway."""
    whole = run(tasks, "describe", "--export", "mcp").document
    part = run(tasks, "describe", "task.create", "--export", "mcp").document
    assert part == [each for each in whole if each["name"] == "tasks_task_create"]
    listed = run(tasks, "describe", "task", "list", "--export=opencli").document["commands"]
    assert [each["name"] for each in listed] == ["task"]
    assert [each["name"] for each in listed[0]["commands"]] == ["list"]


def test_unknown_format(tasks: list[str]) -> None:
    """A format that is not known is refused with those that are."""
    done = run(tasks, "describe", "--export", "openapi3")
    assert (done.code, done.out) == (1, "")
    error = json.loads(done.err)
    assert (error["field"], error["valid_values"]) == ("export", list(FORMATS))


@pytest.mark.adapters("click")
def test_tool_of_another_author(tmp_path: Path) -> None:
    """A program that nobody edits is exported from its help, from outside."""
    script = tmp_path / "greet.sh"
    script.write_text(
        "#!/bin/sh\n"
        "cat <<'X'\n"
        "usage: greet.sh [--loud] [--times N] NAME\n\nSay hello.\n\noptions:\n"
        "  --loud       shout\n  --times N    how often\n"
        "X\n"
    )
    script.chmod(0o755)
    murli_words = [sys.executable, "-m", "murli", "describe", str(script), "--export", "anthropic"]
    tools = run(murli_words).document
    assert len(tools) == 1
    assert {"loud", "times"} <= tools[0]["input_schema"]["properties"].keys()
    assert "not declared" in tools[0]["description"]


def test_strict_needs_room(tmp_path: Path) -> None:
    """Where the vendor would refuse so many, tools are not strict; one of any keys never is."""
    commands = [
        {
            "name": f"c{number}",
            "safety": {"declared": False},
            "flags": [{"name": "x", "type": "int"}],
        }
        for number in range(25)
    ]
    described = {"name": "many", "summary": "", "schema_version": "1.0", "commands": commands}
    many = exported(from_description(described), "anthropic", {})
    assert not any("strict" in each for each in many)
    few = exported(from_description({**described, "commands": commands[:5]}), "anthropic", {})
    assert all(each["strict"] is True for each in few)
    commands[0]["flags"] = [{"name": "x", "type": "object"}]
    loose = exported(from_description(described), "openai", {})
    assert [each["strict"] for each in loose] == [False, *[True] * 24]
