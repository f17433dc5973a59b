"""Minimal descriptions and manifests, each of one command, for pairs that differ in one thing."""

from __future__ import annotations

from typing import Any

TOOL = {"name": "tool", "summary": "", "schema_version": "1.0"}
SAFETY = {"read_only": True, "idempotent": False}


def go(**facts: Any) -> dict[str, Any]:
    """A described command; a fact that is None is missing."""
    found = {"name": "go", "summary": "Go", "idempotent": False, "safety": SAFETY, **facts}
    return {key: each for key, each in found.items() if each is not None}


def described(*commands: dict[str, Any], **facts: Any) -> dict[str, Any]:
    """What ``describe`` prints."""
    return {**TOOL, "capabilities": {}, "commands": list(commands), **facts}


def flagged(**facts: Any) -> dict[str, Any]:
    """The description of a tool with one command that has one flag."""
    return described(go(flags=[{"name": "top", "type": "string", "default": None, **facts}]))


def placed(*arguments: str | dict[str, Any]) -> dict[str, Any]:
    """The description of a tool with one command that takes *arguments*; ``x?`` is optional."""
    return described(
        go(
            arguments=[
                {"name": each.rstrip("?"), "type": "string", "required": not each.endswith("?")}
                if isinstance(each, str)
                else {"type": "string", "required": True, **each}
                for each in arguments
            ]
        )
    )


def safe(**facts: Any) -> dict[str, Any]:
    """The description of a tool whose one command has a ``safety`` with *facts*."""
    return described(go(safety={**SAFETY, **facts}))


def listed(
    version: str = "3.0", root: dict[str, Any] | None = None, **facts: Any
) -> dict[str, Any]:
    """A manifest with one command that has *facts*."""
    entry = {
        "description": "Go",
        "danger_level": "mutating",
        "flags": {},
        "exit_codes": {},
        **facts,
    }
    versions = {"schema_version": version, "framework_version": "1", "etag": "e"}
    return {**versions, **(root or {}), "commands": {"go": entry}}


def said(description: str, **facts: Any) -> dict[str, Any]:
    """A manifest of the first version with one command that has one flag."""
    flag = {"type": "string", "required": False, "description": description, **facts}
    return listed("1.0", flags={"top": flag})


def ending(**codes: Any) -> dict[str, Any]:
    """A manifest with one command that ends like this: ``_5={"name": …}``."""
    return listed(exit_codes={number[1:]: code(**each) for number, each in codes.items()})


def code(**facts: Any) -> dict[str, Any]:
    return {"description": "It ended.", "retryable": False, "side_effects": "none", **facts}


def ruled(*rules: dict[str, Any]) -> dict[str, Any]:
    """A manifest with one command that has two flags and *rules* on them."""
    flag = {"type": "string", "required": False, "description": ""}
    return listed(flags={"a": flag, "b": flag}, requires=list(rules))


NO_FLAG = described(go())
TWO = described(go(flags=[{"name": "a", "type": "bool"}, {"name": "b", "type": "bool"}]))
EXCLUSIVE = described(
    go(
        flags=[
            {"name": "a", "type": "bool", "mutually_exclusive_with": ["b"]},
            {"name": "b", "type": "bool", "mutually_exclusive_with": ["a"]},
        ]
    )
)
GROUP = go(name="group", subcommands=[go(name="below")])
