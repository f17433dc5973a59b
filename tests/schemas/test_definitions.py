"""A definition for each command: what it is called, what it claims, and the call it comes to."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from client_documents import DESCRIBE
from murli.client.calling import build
from murli.errors import AgentError
from murli.schemas.definitions import Definition, definitions_of, names_of
from murli.wire.listing import from_description, from_manifest

NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
CATALOGUE = from_description(DESCRIBE)


def defined(**command: Any) -> Definition:
    """Return the definition of one command of a tool."""
    one = {"name": "do", "safety": {"declared": False}, **command}
    document = {"name": "t", "summary": "", "schema_version": "1.0", "commands": [one]}
    return definitions_of(from_description(document))[0]


paths = st.lists(
    st.lists(st.text(max_size=12), min_size=1, max_size=4).map(tuple), unique=True, max_size=8
)


@given(paths)
def test_names_fit_and_differ(found: list[tuple[str, ...]]) -> None:
    """Whatever commands are called, names fit the vendors' limits, differ, and stay the same."""
    names = names_of(found)
    assert all(map(NAME.fullmatch, names))
    assert len({name.casefold() for name in names}) == len(found)
    assert names_of(found) == names
    assert sorted(names_of(found[::-1])) == sorted(names)


def test_names_are_those_of_commands() -> None:
    """A name is the tool's and the command's, and only where that does not fit has it a digest."""
    assert names_of([("t", "user", "add"), ("t", "dry-run"), ("t",)]) == [
        "t_user_add",
        "t_dry-run",
        "t",
    ]
    one, other = names_of([("a_b", "c"), ("a", "b_c")])
    assert one != other
    assert all(name.startswith("a_b_c_") for name in (one, other))
    assert names_of([("x" * 80,)])[0].startswith("x" * 57 + "_")
    assert [each.name for each in definitions_of(CATALOGUE, "")] == [
        "query",
        "user_add",
        "user_list",
    ]


def test_groups_are_no_commands() -> None:
    """A group is offered where it says that it does something by itself, and only there."""
    below = [{"name": "list", "safety": {"declared": False}}]
    assert defined(subcommands=below).path == ("do", "list")
    assert defined(subcommands=below, runs=True).path == ("do",)


@pytest.mark.parametrize(
    ("command", "hints", "text"),
    [
        ({}, {}, "Effects: not declared."),
        ({"name": "delete"}, {}, "it destroys something (inferred)"),
        ({"name": "add"}, {}, "it changes something (inferred)"),
        ({"safety": {"read_only": True}}, {"read_only": True}, "only reads"),
        (
            {"safety": {"read_only": False, "idempotent": True}, "mutating": True},
            {"read_only": False, "destructive": False, "idempotent": True},
            "changes something; a second call changes nothing more",
        ),
        (
            {"name": "purge", "safety": {"read_only": False}, "mutating": True},
            {"read_only": False},
            "changes something; its name suggests that it destroys something (inferred)",
        ),
        (
            {"safety": {"read_only": False, "destructive": True}},
            {"read_only": False, "destructive": True},
            "destroys something",
        ),
    ],
)
def test_nothing_is_claimed(command: dict[str, Any], hints: dict[str, bool], text: str) -> None:
    """Hints are what is declared; what a name suggests is only described, as inferred."""
    found = defined(**command)
    assert found.hints == hints
    assert text in found.description


def test_properties() -> None:
    """Properties have types, choices, bounds and defaults, and names that the vendors allow."""
    found = defined(
        arguments=[{"name": "file.name", "type": "string", "required": True}],
        flags=[
            {"name": "file-name", "type": "string", "env": "FILE", "required": True},
            {"name": "level", "type": "int", "enum": ["1", "2"], "default": 2},
            {"name": "size", "type": "int", "minimum": 1, "maximum": 9, "default": "x"},
            {"name": "tag", "type": "[]int", "description": "a\x1b[31m label"},
            {"name": "loud", "type": "int", "values": 0},
            {"name": "key", "type": "string", "default": "k", "sensitive": True},
            {"name": "confirm", "type": "bool"},
            {"name": "yes", "type": "bool", "standard": True},
            {"name": "dry-run", "type": "bool", "standard": True},
        ],
        mutating=True,
    )
    schema = found.input_schema
    assert schema["required"] == ["file_name"]
    properties = schema["properties"]
    assert list(properties)[:2] == ["file_name", "file_name_2"]
    assert "variable FILE" in properties["file_name_2"]["description"]
    assert properties["level"] == {"type": "integer", "enum": [1, 2], "default": 2}
    assert properties["size"] == {"type": "integer", "minimum": 1, "maximum": 9}
    assert properties["tag"]["items"] == {"type": "integer"}
    assert "\x1b" not in properties["tag"]["description"]
    assert properties["loud"] == {"type": "integer", "minimum": 0}
    assert properties["key"] == {"type": "string", "description": "a secret"}
    # An option of the tool keeps its name.
    assert (found.confirm, found.dry_run) == ("confirm_2", "dry_run")
    call = found.call({"file_name": "a", "confirm": True, "confirm_2": True, "dry_run": True})
    assert call == (("do", "a"), {"confirm": True, "dry-run": True}, True)


def test_calls_are_those_of_the_client() -> None:
    """Arguments become the words of a call: options of groups before, lists as they are taken."""
    document = {
        "name": "t",
        "summary": "",
        "schema_version": "1.0",
        "flags": [{"name": "region", "type": "string", "required": True}],
        "commands": [
            {
                "name": "find",
                "arguments": [{"name": "words", "type": "[]string", "required": True}],
                "flags": [
                    {"name": "near", "type": "[]int", "values": 2},
                    {"name": "tag", "type": "[]string"},
                    {"name": "loud", "type": "int", "values": 0},
                    {"name": "color", "type": "bool", "default": True, "negation": "no-color"},
                ],
                "safety": {"read_only": True},
            }
        ],
    }
    catalogue = from_description(document)
    given = {
        "region": "eu",
        "words": ["-x", "y"],
        "near": [1, "2"],
        "tag": ["a", "b"],
        "loud": 2,
        "color": False,
    }
    words, flags, confirmed = definitions_of(catalogue)[0].call(given)
    argv = "--region=eu find --near 1 2 --tag=a --tag=b --loud --loud --no-color -- -x y"
    assert (build(words, flags, catalogue), confirmed) == (tuple(argv.split()), False)


@pytest.mark.parametrize(
    ("arguments", "field", "message", "suggestion"),
    [
        ({"text": "x", "tpo": 1}, "tpo", 'has no argument "tpo"', "Did you mean top?"),
        ({}, "text", "text is required", "Pass text."),
        ({"text": ["x"]}, "text", "text is text", "Pass text."),
        ({"text": "x", "top": "many"}, "top", 'a whole number, not "many"', "a whole number"),
        ({"text": "x", "top": True}, "top", "a whole number, not true", "a whole number"),
        ({"text": "x", "top": 1.5}, "top", "a whole number", "a whole number"),
        ({"text": "x", "near": float("nan")}, "near", "a number", "a number"),
        ({"text": "x", "colour": "yes"}, "colour", "true or false", "true or false"),
        ({"text": "x", "tag": "a"}, "tag", "a list", "a list"),
        ({"text": "x", "tag": [["a"]]}, "tag", "tag[0] is text", "Pass text."),
        ({"text": "x", "sort": "age"}, "sort", 'cannot be "age"', "one of name, size"),
        ([1], "", "are an object", "an object"),
    ],
)
def test_wrong_arguments(arguments: Any, field: str, message: str, suggestion: str) -> None:
    """What does not fit is refused with the property, what is wrong with it, and what would fit."""
    query = definitions_of(CATALOGUE)[0]
    with pytest.raises(AgentError) as raised:
        query.call(arguments)
    assert raised.value.field == field
    assert message in raised.value.message
    assert suggestion in raised.value.suggestion


def test_left_out() -> None:
    """A property that is null is left out, as strict mode writes it, and text may be a number."""
    query = definitions_of(CATALOGUE)[0]
    call = query.call({"text": "x", "top": "7", "near": None, "sort": None})
    assert call == (("query", "x"), {"top": "7"}, False)


def test_manifest() -> None:
    """From a manifest the same is derived, without the commands that murli adds to a tool."""
    flags = {
        "force-it": {"type": "boolean"},
        "yes": {"type": "boolean"},
        "color": {"type": "boolean"},
        "no-color": {"type": "boolean"},
        "near": {"type": "array", "description": "a place (takes 2 values)"},
        "loud": {"type": "boolean", "description": "more (repeat it for more)"},
    }
    commands = {
        "t": {"description": "T", "subcommands": ["drop"]},
        "drop": {"description": "Drop", "danger_level": "destructive", "flags": flags},
        "exec": {"description": "Many", "danger_level": "mutating", "builtin": True},
    }
    document = {"schema_version": "3.0", "commands": commands}
    (found,) = definitions_of(from_manifest(document, "agent-spec-2", "t"))
    assert found.name == "t_drop"
    assert found.hints == {"read_only": False, "destructive": True}
    assert list(found.input_schema["properties"]) == [
        "force_it",
        "color",
        "near",
        "loud",
        "confirm",
    ]
    assert found.call({"near": ["1", "2"], "color": False}).flags == {
        "near": ["1", "2"],
        "color": False,
    }
