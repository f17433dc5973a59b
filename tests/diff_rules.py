"""Pairs of minimal documents that differ in one thing, and what is told of it both ways."""

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

#: rule -> (old, new, what is told of old to new, what of new to old)
RULES: dict[str, tuple[Any, Any, str | list[str], str | list[str]]] = {
    # the tool
    "tool renamed": (
        described(go()),
        described(go(), name="other"),
        "breaking tool_renamed name",
        "breaking tool_renamed name",
    ),
    "tool renamed in a manifest": (
        listed(examples=[{"command": "tool go", "description": ""}]),
        listed(examples=[{"command": "other go", "description": ""}]),
        "breaking tool_renamed name",
        "breaking tool_renamed name",
    ),
    "another example": (
        listed(examples=[{"command": "tool go", "description": ""}]),
        listed(examples=[{"command": "echo x | tool go", "description": ""}]),
        [],
        "breaking tool_renamed name",
    ),
    "major version": (
        described(go()),
        described(go(), schema_version="2.0"),
        "breaking schema_version_changed schema_version",
        "breaking schema_version_changed schema_version",
    ),
    "minor version": (
        listed("3.0"),
        listed("3.1"),
        "note schema_version_changed schema_version",
        "note schema_version_changed schema_version",
    ),
    "capability": (
        described(go(), capabilities={"dry_run": True}),
        described(go(), capabilities={"dry_run": False}),
        "breaking capability_lost capability dry_run",
        "compatible capability_gained capability dry_run",
    ),
    "capability of a list": (
        described(go(), capabilities=["agent", "schema"]),
        described(go(), capabilities=["schema"]),
        "breaking capability_lost capability agent",
        "compatible capability_gained capability agent",
    ),
    "capability that is no switch": (
        described(go(), capabilities={"depth": 1}),
        described(go(), capabilities={"depth": 2}),
        "note capability_changed capability depth",
        "note capability_changed capability depth",
    ),
    "capabilities told": (
        described(go(), capabilities=None),
        described(go(), capabilities=["agent"]),
        "compatible capability_gained capability agent",
        "breaking capability_lost capability agent",
    ),
    "capability that became a word": (
        described(go(), capabilities={"depth": True}),
        described(go(), capabilities={"depth": "x"}),
        "note capability_changed capability depth",
        "note capability_changed capability depth",
    ),
    "form of capabilities": (
        described(go(), capabilities=["agent"]),
        described(go(), capabilities={"agent": True}),
        "breaking capabilities_changed capabilities",
        "breaking capabilities_changed capabilities",
    ),
    "protocol version": (
        described(go(), capabilities={"protocol_version": "0.2"}),
        described(go(), capabilities={"protocol_version": "0.3"}),
        "breaking protocol_version_changed protocol_version",
        "breaking protocol_version_changed protocol_version",
    ),
    "protocol version told": (
        described(go()),
        described(go(), capabilities={"protocol_version": "0.2"}),
        "compatible protocol_version_changed protocol_version",
        "breaking protocol_version_changed protocol_version",
    ),
    "output format": (
        described(go(), capabilities={"output_formats": ["json", "text"]}),
        described(go(), capabilities={"output_formats": ["json"]}),
        "breaking output_formats_removed output format text",
        "compatible output_formats_added output format text",
    ),
    "profileable flag that is not listed": (
        described(go(), profiles={"profileable_flags": ["region"]}),
        described(go(), profiles={"profileable_flags": []}),
        "note flag_profileable_lost --region",
        [],
    ),
    "variable of the tool": (
        listed(root={"env_vars": [{"name": "A", "description": ""}]}),
        listed(root={"env_vars": []}),
        "breaking env_vars_removed variable A",
        "compatible env_vars_added variable A",
    ),
    "variable of the tool, deprecated": (
        listed(root={"env_vars": [{"name": "A", "description": ""}]}),
        listed(root={"env_vars": [{"name": "A", "description": "", "deprecated": True}]}),
        "note env_vars_deprecated variable A",
        [],
    ),
    "secret variable of the tool": (
        listed(root={"secret_env_vars": ["A", "B"]}, secret_env_vars=["B"]),
        listed(root={"secret_env_vars": ["B"]}, secret_env_vars=["B"]),
        "breaking secret_env_vars_removed variable A",
        "compatible secret_env_vars_added variable A",
    ),
    "dependency": (
        listed(root={"dependencies": []}),
        listed(root={"dependencies": [{"name": "git", "min_version": "2"}]}),
        "breaking dependency_changed dependency git",
        "compatible dependency_changed dependency git",
    ),
    "dependency, newer": (
        listed(root={"dependencies": [{"name": "git", "min_version": "2"}]}),
        listed(root={"dependencies": [{"name": "git", "min_version": "3"}]}),
        "breaking dependency_changed dependency git",
        "breaking dependency_changed dependency git",
    ),
    "a key of the tool that nobody knows": (
        described(go(), moon=1),
        described(go()),
        "note other_changed moon",
        "note other_changed moon",
    ),
    # commands
    "command": (
        described(go(), go(name="stop")),
        described(go()),
        "breaking command_removed stop command",
        "compatible command_added stop command",
    ),
    "command below": (
        described(go(name="group", subcommands=[go(name="a"), go(name="b")])),
        described(go(name="group", subcommands=[go(name="a")])),
        "breaking command_removed group b command",
        "compatible command_added group b command",
    ),
    "command renamed, and still known": (
        described(go()),
        described(go(name="run", aliases=["go"])),
        "compatible command_renamed go command",
        ["breaking command_removed run command", "compatible command_added go command"],
    ),
    "group renamed, and still known": (
        described(GROUP),
        described({**GROUP, "name": "set", "aliases": ["group"]}),
        "compatible command_renamed group command",
        [
            "breaking command_removed set command",
            "breaking command_removed set below command",
            "compatible command_added group command",
            "compatible command_added group below command",
        ],
    ),
    "alias": (
        described(go(aliases=["run"])),
        described(go()),
        "breaking alias_removed go alias run",
        "compatible alias_added go alias run",
    ),
    "alias that is another command now": (
        described(go(aliases=["run"])),
        described(go(), go(name="run")),
        ["breaking alias_removed go alias run", "compatible command_added run command"],
        ["compatible alias_added go alias run", "compatible command_renamed run command"],
    ),
    "alias below": (
        described(go(name="group", subcommands=[go(aliases=["run"])])),
        described(go(name="group", subcommands=[go()])),
        "breaking alias_removed group go alias run",
        "compatible alias_added group go alias run",
    ),
    "alias that is a whole call": (
        described(go(name="group", subcommands=[go(aliases=["group.run"])])),
        described(go(name="group", subcommands=[go(aliases=["run"])])),
        "compatible alias_added group go alias run",
        "compatible alias_added group go alias group.run",
    ),
    "flag of a tool that has commands": (
        described(go(), flags=[{"name": "top", "type": "int"}]),
        described(go(), flags=[]),
        "breaking flag_removed --top",
        "compatible flag_added --top",
    ),
    "command that is listed twice": (
        described(go(), go(flags=[{"name": "x"}])),
        described(go()),
        [],
        [],
    ),
    "command that became a group": (
        described(go()),
        described(go(subcommands=[go(name="below")])),
        [
            "breaking command_became_group go command",
            "compatible command_added go below command",
        ],
        "breaking command_removed go below command",
    ),
    "tool that became a group": (
        {**TOOL, "capabilities": {}, "flags": [], "safety": SAFETY},
        described(go()),
        ["breaking command_removed command", "compatible command_added go command"],
        ["breaking command_removed go command", "compatible command_added command"],
    ),
    "group that is not listed": (
        {**listed(), "commands": {"a": {"subcommands": ["a.b"]}, "a.b": {}}},
        {**listed(), "commands": {"a.b": {}}},
        [],
        "compatible command_added a command",
    ),
    "deprecated command": (
        described(go()),
        described(go(deprecated=True)),
        "note deprecated_changed go deprecated",
        "compatible deprecated_changed go deprecated",
    ),
    "a key of a command that nobody knows": (
        described(go(moon=1)),
        described(go(moon=2)),
        "note other_changed go moon",
        "note other_changed go moon",
    ),
    "example": (
        described(go(examples=[{"command": "tool go"}])),
        described(go(examples=[{"command": "tool go", "expected_exit_code": 3}])),
        "note example_changed go example",
        "note example_changed go example",
    ),
    # flags
    "flag": (
        flagged(),
        NO_FLAG,
        "breaking flag_removed go --top",
        "compatible flag_added go --top",
    ),
    "required flag": (
        NO_FLAG,
        flagged(required=True),
        "breaking required_flag_added go --top",
        "breaking flag_removed go --top",
    ),
    "flag renamed": (
        flagged(description="How many"),
        flagged(name="most", description="How many"),
        "breaking flag_renamed go --top",
        "breaking flag_renamed go --most",
    ),
    "flag renamed, by its letter": (
        flagged(short="t"),
        flagged(name="most", short="t"),
        "breaking flag_renamed go --top",
        "breaking flag_renamed go --most",
    ),
    "flag replaced by another": (
        flagged(description="How many"),
        flagged(name="most", description="How few"),
        ["breaking flag_removed go --top", "compatible flag_added go --most"],
        ["breaking flag_removed go --most", "compatible flag_added go --top"],
    ),
    "flag that became required": (
        flagged(),
        flagged(required=True),
        "breaking flag_required go --top",
        "compatible flag_optional go --top",
    ),
    "short option": (
        flagged(short="t"),
        flagged(),
        "breaking flag_short_removed go --top",
        "compatible flag_short_added go --top",
    ),
    "another short option": (
        flagged(short="t"),
        flagged(short="n"),
        "breaking flag_short_removed go --top",
        "breaking flag_short_removed go --top",
    ),
    "negation": (
        flagged(type="bool", negation="no-top"),
        flagged(type="bool"),
        "breaking flag_negation_removed go --top",
        "compatible flag_negation_added go --top",
    ),
    "flag that became a negation": (
        described(go(flags=[{"name": "no-top", "type": "bool"}])),
        flagged(type="bool", negation="no-top"),
        "compatible flag_added go --top",
        ["breaking flag_removed go --top", "compatible flag_added go --no-top"],
    ),
    "negation that became a flag": (
        flagged(type="bool", negation="no-top"),
        described(go(flags=[{"name": "top", "type": "bool"}, {"name": "no-top", "type": "bool"}])),
        "compatible flag_added go --no-top",
        ["compatible flag_negation_added go --top"],
    ),
    "enum value": (
        flagged(enum=["a", "b"]),
        flagged(enum=["a"]),
        "breaking flag_enum_narrowed go --top",
        "compatible flag_enum_widened go --top",
    ),
    "enum": (
        flagged(),
        flagged(enum=["a"]),
        "breaking flag_enum_narrowed go --top",
        "compatible flag_enum_widened go --top",
    ),
    "enum of a manifest": (
        said("", type="enum", enum_values=["a", "b"]),
        said("", type="enum", enum_values=["b"]),
        "breaking flag_enum_narrowed go --top",
        "compatible flag_enum_widened go --top",
    ),
    "enum in another order": (flagged(enum=["a", "b"]), flagged(enum=["b", "a"]), [], []),
    "enum of a string": (said(""), said("", type="enum"), [], []),
    "pattern": (
        flagged(),
        flagged(pattern="^a"),
        "breaking flag_pattern_changed go --top",
        "compatible flag_pattern_removed go --top",
    ),
    "another pattern": (
        flagged(pattern="^a"),
        flagged(pattern="^b"),
        "breaking flag_pattern_changed go --top",
        "breaking flag_pattern_changed go --top",
    ),
    "minimum": (
        flagged(type="int", minimum=1),
        flagged(type="int", minimum=2),
        "breaking flag_range_narrowed go --top",
        "compatible flag_range_widened go --top",
    ),
    "maximum": (
        flagged(type="int", maximum=9),
        flagged(type="int", maximum=8.5),
        "breaking flag_range_narrowed go --top",
        "compatible flag_range_widened go --top",
    ),
    "minimum that is none": (flagged(type="int", minimum=True), flagged(type="int"), [], []),
    "minimum that is a word": (flagged(type="int", minimum="1"), flagged(type="int"), [], []),
    "new minimum": (
        flagged(type="int"),
        flagged(type="int", minimum=0),
        "breaking flag_range_narrowed go --top",
        "compatible flag_range_widened go --top",
    ),
    "default": (
        flagged(default="a"),
        flagged(default="b"),
        "note flag_default_changed go --top",
        "note flag_default_changed go --top",
    ),
    "default limit": (
        listed(root={"flags": {"limit": {"type": "integer", "default": 20}}}),
        listed(root={"flags": {"limit": {"type": "integer", "default": 10}}}),
        "note flag_default_changed --limit",
        "note flag_default_changed --limit",
    ),
    "default that is the same number": (
        flagged(type="float64", default=5),
        flagged(type="float64", default=5.0),
        [],
        [],
    ),
    "default that is false": (
        flagged(default=False),
        flagged(),
        "note flag_default_changed go --top",
        "note flag_default_changed go --top",
    ),
    "default of a switch that is on": (
        flagged(type="bool", default=True),
        flagged(type="bool"),
        "note flag_default_changed go --top",
        "note flag_default_changed go --top",
    ),
    "default of a switch": (flagged(type="bool", default=False), flagged(type="bool"), [], []),
    "variable": (
        flagged(env="TOP"),
        flagged(),
        "breaking flag_env_removed go --top",
        "compatible flag_env_added go --top",
    ),
    "variables of a manifest": (
        listed(flags={"top": {"type": "string", "env_vars": [{"name": "A"}, {"name": "B"}]}}),
        listed(flags={"top": {"type": "string", "env_vars": [{"name": "B"}]}}),
        "breaking flag_env_removed go --top",
        "compatible flag_env_added go --top",
    ),
    "profileable": (
        flagged(profileable=True),
        flagged(),
        "note flag_profileable_lost go --top",
        "compatible flag_profileable_gained go --top",
    ),
    "sensitive": (
        flagged(sensitive=True),
        flagged(),
        "note flag_sensitive_lost go --top",
        "compatible flag_sensitive_gained go --top",
    ),
    "persistent": (
        flagged(persistent=True),
        flagged(),
        "breaking flag_persistent_lost go --top",
        "compatible flag_persistent_gained go --top",
    ),
    "deprecated flag": (
        flagged(),
        flagged(deprecated=True),
        "note flag_deprecated go --top",
        [],
    ),
    "a key of a flag that nobody knows": (
        flagged(moon=1),
        flagged(),
        "note flag_other_changed go --top",
        "note flag_other_changed go --top",
    ),
    "exclusion": (
        TWO,
        EXCLUSIVE,
        "breaking flag_exclusion_added go --a and --b",
        "compatible flag_exclusion_removed go --a and --b",
    ),
    "exclusion of a new flag": (
        described(go(flags=[{"name": "a", "type": "bool"}])),
        EXCLUSIVE,
        "compatible flag_added go --b",
        "breaking flag_removed go --b",
    ),
    "exclusion as a rule": (
        ruled(),
        ruled({"if_flag": "a", "prohibited": ["b"]}),
        "breaking flag_exclusion_added go --a and --b",
        "compatible flag_exclusion_removed go --a and --b",
    ),
    "rule": (
        ruled(),
        ruled({"any_of": ["a", "b"]}),
        'breaking rule_added go condition {"any_of": ["a", "b"]}',
        'compatible rule_removed go condition {"any_of": ["a", "b"]}',
    ),
    "rule on a new flag": (
        ruled(),
        ruled({"if_flag": "c", "prohibited": ["b"]}, {"if_flag": "c", "then_required": ["b"]}),
        [],
        'compatible rule_removed go condition {"if_flag": "c", "then_required": ["b"]}',
    ),
    "rule that is a default": (
        ruled(),
        ruled({"if_flag": "a", "target_flag": "b", "default": 1}),
        'note rule_added go condition {"if_flag": "a", "target_flag": "b", "default": 1}',
        'note rule_removed go condition {"if_flag": "a", "target_flag": "b", "default": 1}',
    ),
    "flag that all commands take now": (
        listed(flags={"top": {"type": "string", "required": False}}),
        listed(root={"flags": {"top": {"type": "string", "required": False}}}),
        [],
        [],
    ),
    "flag of all commands": (
        listed(root={"flags": {"top": {"type": "string"}}}),
        listed(root={"flags": {}}),
        "breaking flag_removed --top",
        "compatible flag_added --top",
    ),
    "flag of all commands that one has itself": (
        listed(root={"flags": {"top": {"default": 1}}}, flags={"top": {"default": 1}}),
        listed(root={"flags": {"top": {"default": 2}}}, flags={"top": {"default": 1}}),
        "note flag_default_changed --top",
        "note flag_default_changed --top",
    ),
    "flag that moved to the group": (
        described(go(name="group", subcommands=[go(flags=[{"name": "top", "type": "int"}])])),
        described(
            go(
                name="group",
                flags=[{"name": "top", "type": "int", "persistent": True}],
                subcommands=[go()],
            )
        ),
        "compatible flag_added group --top",
        "breaking flag_removed group --top",
    ),
    "media type": (
        listed(root={"flags": {"format": {"type": "enum", "media_types": {"a": "text/a"}}}}),
        listed(root={"flags": {"format": {"type": "enum", "media_types": {"a": "text/b"}}}}),
        "breaking flag_media_type_changed --format",
        "breaking flag_media_type_changed --format",
    ),
    "new media type": (
        listed(root={"flags": {"format": {"type": "enum"}}}),
        listed(root={"flags": {"format": {"type": "enum", "media_types": {"a": "text/b"}}}}),
        "compatible flag_media_type_changed --format",
        "breaking flag_media_type_changed --format",
    ),
    "items of a list told": (
        listed(flags={"top": {"type": "array"}}),
        listed(flags={"top": {"type": "array", "schema": {"items": {"type": "string"}}}}),
        [],
        [],
    ),
    "items of a list": (
        listed(flags={"top": {"type": "array", "schema": {"items": {"type": "number"}}}}),
        listed(flags={"top": {"type": "array", "schema": {"items": {"type": "integer"}}}}),
        "breaking flag_type_changed go --top",
        "compatible flag_type_widened go --top",
    ),
    "items of a list, bound": (
        listed(flags={"top": {"type": "array"}}),
        listed(flags={"top": {"type": "array", "schema": {"items": {"maxLength": 3}}}}),
        "breaking flag_schema_changed go --top",
        [],
    ),
    "new schema of a flag": (
        listed(flags={"top": {"type": "object"}}),
        listed(flags={"top": {"type": "object", "schema": {"required": ["a"]}}}),
        "breaking flag_schema_changed go --top",
        [],
    ),
    "schema of a flag": (
        listed(flags={"top": {"type": "object", "schema": {"required": []}}}),
        listed(flags={"top": {"type": "object", "schema": {"required": ["a"]}}}),
        "breaking flag_schema_changed go --top",
        [],
    ),
    # what a manifest tells in words
    "range in words": (
        said("How many (1 to 9)"),
        said("How many (2 to 9)"),
        "breaking flag_range_narrowed go --top",
        "compatible flag_range_widened go --top",
    ),
    "least in words": (
        said("How many (at least 1)"),
        said("How many"),
        "compatible flag_range_widened go --top",
        "breaking flag_range_narrowed go --top",
    ),
    "variable in words": (
        said("How many (at most 5; env TOP)"),
        said("How many (at most 5)"),
        "breaking flag_env_removed go --top",
        "compatible flag_env_added go --top",
    ),
    "pattern in words": (
        said("How many (pattern ^(a|b)$)"),
        said("How many (pattern ^(a)$)"),
        "breaking flag_pattern_changed go --top",
        "breaking flag_pattern_changed go --top",
    ),
    "items in words": (
        said("How many (each of type number)", type="array"),
        said("How many (each of type integer)", type="array"),
        "breaking flag_type_changed go --top",
        "compatible flag_type_widened go --top",
    ),
    "spelling in words": (
        said("How many (written +top)"),
        said("How many (written -top)"),
        "breaking flag_spelling_removed go --top",
        "breaking flag_spelling_removed go --top",
    ),
    "exclusion in words": (
        listed("1.0", flags={"a": {"description": "A"}, "b": {"description": "B"}}),
        listed("1.0", flags={"a": {"description": "A (not with --b)"}, "b": {"description": "B"}}),
        "breaking flag_exclusion_added go --a and --b",
        "compatible flag_exclusion_removed go --a and --b",
    ),
    "no arguments in words": (
        listed("1.0", description="Go. Call: tool go"),
        listed("1.0", description="Go. Call: tool go FROM"),
        "breaking required_argument_added go argument from",
        "breaking argument_removed go argument from",
    ),
    "argument in words that takes several": (
        listed("1.0", description="Go. Call: tool go FROM ..."),
        listed("1.0", description="Go. Call: tool go FROM"),
        "breaking argument_type_changed go argument from",
        "compatible argument_type_widened go argument from",
    ),
    "argument in words that takes two": (
        listed("1.0", description="Go. Call: tool go FROM FROM"),
        listed("1.0", description="Go. Call: tool go FROM"),
        "breaking argument_type_changed go argument from",
        "compatible argument_type_widened go argument from",
    ),
    "optional argument in words that takes two": (
        listed("1.0", description="Go. Call: tool go [FROM FROM]"),
        listed("1.0", description="Go. Call: tool go [FROM]"),
        "breaking argument_type_changed go argument from",
        "compatible argument_type_widened go argument from",
    ),
    "arguments in words": (
        listed("1.0", description="Go. Call: tool go FROM [TO]"),
        listed("1.0", description="Go. Call: tool go FROM TO"),
        "breaking argument_required go argument to",
        "compatible argument_optional go argument to",
    ),
    "several arguments in words": (
        listed("1.0", description="Go. Call: tool go FROM {a,b} [TO ...]"),
        listed("1.0", description="Go. Call: tool go FROM {a} [TO]"),
        [
            "breaking argument_enum_narrowed go argument #2",
            "breaking argument_type_changed go argument to",
        ],
        [
            "compatible argument_enum_widened go argument #2",
            "compatible argument_type_widened go argument to",
        ],
    ),
    "arguments in words that one understands": (
        listed("1.0", description="Go. Call: tool go [[x] y]"),
        listed("1.0", description="Go. Call: tool go x"),
        "note usage_changed go usage",
        "note usage_changed go usage",
    ),
    "call in words that is none": (
        listed("1.0", description="Go. Call: go", examples=[{"command": "tool go"}]),
        listed("1.0", description="Go. Call: tool", examples=[{"command": "tool go"}]),
        "note usage_changed go usage",
        "note usage_changed go usage",
    ),
    "arguments in words that nobody understands": (
        listed("1.0", description="Go. Call: tool go [[x] y]"),
        listed("1.0", description="Go. Call: tool go [[x] z]"),
        "note usage_changed go usage",
        "note usage_changed go usage",
    ),
    # arguments
    "optional argument": (
        placed("a"),
        placed("a", "b?"),
        "compatible argument_added go argument b",
        "breaking argument_removed go argument b",
    ),
    "required argument": (
        placed("a"),
        placed("a", "b"),
        "breaking required_argument_added go argument b",
        "breaking argument_removed go argument b",
    ),
    "argument in between": (
        placed("a?", "b?"),
        placed("a?", "x?", "b?"),
        "breaking argument_inserted go argument x",
        "breaking argument_removed go argument x",
    ),
    "argument behind several": (
        placed({"name": "a", "variadic": True}),
        placed({"name": "a", "variadic": True}, "b?"),
        "breaking argument_inserted go argument b",
        "breaking argument_removed go argument b",
    ),
    "arguments in another order": (
        placed("a", "b"),
        placed("b", "a"),
        "breaking arguments_reordered go arguments",
        "breaking arguments_reordered go arguments",
    ),
    "arguments that moved up": (
        placed("a", "b"),
        placed("b", "c"),
        [
            "breaking argument_removed go argument a",
            "breaking required_argument_added go argument c",
        ],
        [
            "breaking required_argument_added go argument a",
            "breaking argument_removed go argument c",
        ],
    ),
    "argument with another name": (
        placed("a", "b"),
        placed("a", "c"),
        "note argument_renamed go argument b",
        "note argument_renamed go argument c",
    ),
    "argument that became required": (
        placed("a?"),
        placed("a"),
        "breaking argument_required go argument a",
        "compatible argument_optional go argument a",
    ),
    "several values": (
        placed({"name": "a", "type": "[]string"}),
        placed("a"),
        "breaking argument_type_changed go argument a",
        "compatible argument_type_widened go argument a",
    ),
    "enum of an argument": (
        placed({"name": "a", "enum": ["x", "y"]}),
        placed({"name": "a", "enum": ["x"]}),
        "breaking argument_enum_narrowed go argument a",
        "compatible argument_enum_widened go argument a",
    ),
    # safety
    "mutating": (
        described(go()),
        described(go(mutating=True)),
        "breaking danger_raised go command",
        "compatible danger_lowered go command",
    ),
    "mutating tool that is one command": (
        {**TOOL, "capabilities": {}, "safety": SAFETY},
        {**TOOL, "capabilities": {}, "safety": {**SAFETY, "read_only": False}},
        "breaking danger_raised command",
        "compatible danger_lowered command",
    ),
    "not read-only": (
        safe(),
        safe(read_only=False),
        "breaking danger_raised go command",
        "compatible danger_lowered go command",
    ),
    "destructive": (
        safe(read_only=False),
        safe(read_only=False, destructive=True),
        "breaking danger_raised go command",
        "compatible danger_lowered go command",
    ),
    "danger level": (
        listed(danger_level="safe"),
        listed(danger_level="mutating"),
        "breaking danger_raised go command",
        "compatible danger_lowered go command",
    ),
    "danger that one does not tell": (
        listed(danger_level=None),
        listed(danger_level="destructive"),
        "note danger_changed go command",
        "note danger_changed go command",
    ),
    "idempotence": (
        described(go(idempotent=True)),
        described(go()),
        "breaking idempotence_lost go command",
        "compatible idempotence_gained go command",
    ),
    "idempotence of a manifest": (
        listed(idempotent=True),
        listed(),
        "breaking idempotence_lost go command",
        "compatible idempotence_gained go command",
    ),
    "dry run": (
        safe(dry_run_supported=True),
        safe(),
        "breaking dry_run_lost go --dry-run",
        "compatible dry_run_gained go --dry-run",
    ),
    "dry run of a manifest": (
        listed(flags={"dry-run": {"type": "boolean"}}),
        listed(),
        "breaking dry_run_lost go --dry-run",
        "compatible dry_run_gained go --dry-run",
    ),
    "dry run of its own": (
        described(go(flags=[{"name": "dry-run", "type": "bool", "default": False}])),
        safe(dry_run_supported=True),
        [],
        [],
    ),
    "secrets": (
        safe(),
        safe(reveals_secrets=True),
        "note secrets_changed go command",
        "note secrets_changed go command",
    ),
    # exit codes
    "exit code": (
        ending(_5={}),
        ending(),
        "breaking exit_code_removed go exit code 5",
        "compatible exit_code_added go exit code 5",
    ),
    "exit code renumbered": (
        ending(_5={"name": "GONE"}),
        ending(_6={"name": "GONE"}),
        "breaking exit_code_renumbered go exit code 5",
        "breaking exit_code_renumbered go exit code 6",
    ),
    "exit code without a name": (
        ending(_5={}),
        ending(_6={}),
        [
            "breaking exit_code_removed go exit code 5",
            "compatible exit_code_added go exit code 6",
        ],
        [
            "breaking exit_code_removed go exit code 6",
            "compatible exit_code_added go exit code 5",
        ],
    ),
    "two exit codes of one name": (
        ending(_130={"name": "STOPPED"}, _143={"name": "STOPPED"}),
        ending(_9={"name": "STOPPED"}),
        [
            "breaking exit_code_removed go exit code 130",
            "breaking exit_code_removed go exit code 143",
            "compatible exit_code_added go exit code 9",
        ],
        [
            "breaking exit_code_removed go exit code 9",
            "compatible exit_code_added go exit code 130",
            "compatible exit_code_added go exit code 143",
        ],
    ),
    "exit code with another name": (
        ending(_5={"name": "GONE"}),
        ending(_5={"name": "AWAY"}),
        "breaking exit_code_renamed go exit code 5",
        "breaking exit_code_renamed go exit code 5",
    ),
    "exit code that can be tried again": (
        ending(_5={"retryable": True}),
        ending(_5={}),
        "breaking exit_code_retryable_changed go exit code 5",
        "compatible exit_code_retryable_changed go exit code 5",
    ),
    "exit code that leaves something": (
        ending(_5={}),
        ending(_5={"side_effects": "partial"}),
        "breaking exit_code_side_effects_changed go exit code 5",
        "compatible exit_code_side_effects_changed go exit code 5",
    ),
    "error code": (
        ending(_5={"error_codes": ["A", "B"]}),
        ending(_5={"error_codes": ["B"]}),
        "breaking exit_code_error_code_removed go exit code 5",
        "compatible exit_code_error_code_added go exit code 5",
    ),
    "exit code in other words": (ending(_5={}), ending(_5={"description": "Gone."}), [], []),
    "exit code that all commands have now": (
        listed(exit_codes={"5": code()}),
        listed(root={"exit_codes": {"5": code()}}),
        [],
        [],
    ),
    "exit code of all commands": (
        listed(root={"exit_codes": {"5": code()}}),
        listed(root={"exit_codes": {}}),
        "breaking exit_code_removed exit code 5",
        "compatible exit_code_added exit code 5",
    ),
    "exit code of all commands that one has otherwise": (
        listed(root={"exit_codes": {"5": code(retryable=True)}}),
        listed(root={"exit_codes": {"5": code(retryable=True)}}, exit_codes={"5": code()}),
        "breaking exit_code_retryable_changed go exit code 5",
        "compatible exit_code_retryable_changed go exit code 5",
    ),
    "exit code that the table has now": (
        listed(root={"exit_codes": {"5": code()}}, exit_codes={"5": code(retryable=True)}),
        listed(root={"exit_codes": {"5": code(retryable=True)}}),
        [],
        [],
    ),
    "exit code that nobody inherits": (
        listed(root={"exit_codes": {"5": code()}}, builtin=True),
        listed(root={"exit_codes": {"5": code(retryable=True)}}, builtin=True),
        [],
        [],
    ),
    # the rarer facts
    "scope": (
        listed(required_scopes=["read"]),
        listed(required_scopes=["read", "write"]),
        "breaking required_scopes_added go required scope write",
        "compatible required_scopes_removed go required scope write",
    ),
    "output format of a command": (
        listed(output_formats=["toon", "yaml"]),
        listed(output_formats=["yaml"]),
        "breaking output_formats_removed go output format toon",
        "compatible output_formats_added go output format toon",
    ),
    "step": (
        listed(steps=["a", "b"]),
        listed(steps=["a"]),
        "breaking steps_removed go step b",
        "compatible steps_added go step b",
    ),
    "order of steps": (
        listed(steps=["a", "b"]),
        listed(steps=["b", "a"]),
        "note steps_reordered go steps",
        "note steps_reordered go steps",
    ),
    "confirmation": (
        listed(confirm_flag="really"),
        listed(confirm_flag="surely"),
        "breaking confirm_flag_changed go confirm_flag",
        "breaking confirm_flag_changed go confirm_flag",
    ),
    "media types": (
        listed(output_media_types={"a": "text/a"}),
        listed(output_media_types={}),
        "breaking output_media_types_changed go output_media_types",
        "compatible output_media_types_changed go output_media_types",
    ),
    "program": (
        listed(required_tools={}),
        listed(required_tools={"git": "2"}),
        "breaking required_tools_changed go required_tools",
        "compatible required_tools_changed go required_tools",
    ),
    "newer program": (
        listed(required_tools={"git": "2"}),
        listed(required_tools={"git": "3"}),
        "breaking required_tools_changed go required_tools",
        "breaking required_tools_changed go required_tools",
    ),
    "platform": (
        listed(platform=["linux", "darwin"]),
        listed(platform=["linux"]),
        "breaking platform_changed go platform",
        "compatible platform_changed go platform",
    ),
    "platforms": (
        listed(),
        listed(platform=["linux"]),
        "breaking platform_changed go platform",
        "compatible platform_changed go platform",
    ),
    "stdin": (
        listed(stdin={"mode": "lines"}),
        listed(),
        "breaking stdin_changed go stdin",
        "compatible stdin_changed go stdin",
    ),
    "size of stdin": (
        listed(stdin={"mode": "buffered", "max_bytes": 9}),
        listed(stdin={"mode": "buffered", "max_bytes": 8}),
        "breaking stdin_changed go stdin",
        "compatible stdin_changed go stdin",
    ),
    "records on stdin": (
        listed(stdin={"mode": "records", "record_schema": {"required": []}}),
        listed(stdin={"mode": "records", "record_schema": {"required": ["a"]}}),
        "breaking stdin_changed go stdin",
        "compatible stdin_changed go stdin",
    ),
    "job": (
        listed(job_descriptor_schema={"required": ["id"], "properties": {"id": {}}}),
        listed(job_descriptor_schema={"properties": {"id": {}}}),
        "breaking job_descriptor_schema_changed go job_descriptor_schema",
        "compatible job_descriptor_schema_changed go job_descriptor_schema",
    ),
    "job told": (
        listed(),
        listed(job_descriptor_schema={"type": "object"}),
        "compatible job_descriptor_schema_changed go job_descriptor_schema",
        "breaking job_descriptor_schema_changed go job_descriptor_schema",
    ),
    "placement": (
        listed(),
        listed(option_placement="strict"),
        "breaking option_placement_changed go option_placement",
        "compatible option_placement_changed go option_placement",
    ),
    "passing": (
        listed(arguments="passthrough"),
        listed(),
        "breaking arguments_changed go arguments",
        "breaking arguments_changed go arguments",
    ),
    "file": (
        listed(output_file="binary"),
        listed(output_file="formatted"),
        "breaking output_file_changed go output_file",
        "breaking output_file_changed go output_file",
    ),
    "secret variable": (
        listed(secret_env_vars=["A"]),
        listed(),
        "breaking secret_env_vars_removed go variable A",
        "compatible secret_env_vars_added go variable A",
    ),
    "secret variable of a flag": (
        listed(flags={"a": {"type": "string", "env_vars": [{"name": "A"}]}}, secret_env_vars=["A"]),
        listed(flags={"a": {"type": "string", "env_vars": []}}),
        "breaking flag_env_removed go --a",
        ["compatible flag_env_added go --a", "compatible secret_env_vars_added go variable A"],
    ),
    # answers; their schemas have a file of their own
    "output schema": (
        listed(output_schema={"type": "object", "properties": {"a": {"type": "string"}}}),
        listed(output_schema={"type": "object", "properties": {"a": {"type": "integer"}}}),
        "breaking output_type_changed go result.a",
        "breaking output_type_changed go result.a",
    ),
    "output schema of a description": (
        described(go(returns={"type": "json", "output_schema": {"type": "array"}})),
        described(go(returns={"type": "json", "output_schema": {"type": "object"}})),
        "breaking output_type_changed go result",
        "breaking output_type_changed go result",
    ),
    "output schema told": (
        listed(),
        listed(output_schema={"type": "object"}),
        "compatible output_schema_added go result",
        "breaking output_schema_removed go result",
    ),
    "kind of result": (
        described(go(returns={"type": "json"})),
        described(go(returns={"type": "text"})),
        "breaking output_kind_changed go result",
        "breaking output_kind_changed go result",
    ),
    "kind of result that is not told": (
        described(go(returns={"type": "json"})),
        described(go()),
        "note output_kind_changed go result",
        [],
    ),
    "shape beside the same schema": (
        described(go(returns={"shape": {"a": "int"}, "output_schema": {"type": "object"}})),
        described(go(returns={"shape": {"a": "string"}, "output_schema": {"type": "object"}})),
        "breaking output_type_changed go result.a",
        "breaking output_type_changed go result.a",
    ),
    "schema beside the same shape": (
        described(go(returns={"shape": {"a": "int"}, "output_schema": {"type": "object"}})),
        described(go(returns={"shape": {"a": "int"}, "output_schema": {"type": "array"}})),
        "breaking output_type_changed go result",
        "breaking output_type_changed go result",
    ),
    "shape that became the schema of an object": (
        described(go(returns={"shape": {"a": ["int"]}})),
        described(
            go(
                returns={
                    "output_schema": {
                        "properties": {"a": {"type": "array", "items": {"type": "integer"}}}
                    }
                }
            )
        ),
        [],
        [],
    ),
    "shape": (
        described(go(returns={"shape": {"a": "string", "b": "int"}})),
        described(go(returns={"shape": {"a": "string"}})),
        "breaking output_property_removed go result.b",
        "compatible output_property_added go result.b",
    ),
    "type in a shape": (
        described(go(returns={"shape": {"a": "float64"}})),
        described(go(returns={"shape": {"a": "int"}})),
        "compatible output_narrowed go result.a",
        "breaking output_widened go result.a",
    ),
    "size in a shape": (
        described(go(returns={"shape": {"a": "float64"}})),
        described(go(returns={"shape": {"a": "float32"}})),
        [],
        [],
    ),
    "word in a shape": (
        described(go(returns={"shape": {"a": "a path"}})),
        described(go(returns={"shape": {"a": "a name"}})),
        "breaking output_unjudged go result.a",
        "breaking output_unjudged go result.a",
    ),
    "shape that became a schema": (
        described(go(returns={"shape": {"a": "string"}})),
        described(
            go(
                returns={
                    "output_schema": {
                        "type": "array",
                        "items": {"properties": {"a": {"type": "string"}}},
                    }
                }
            )
        ),
        [],
        [],
    ),
}
SWITCHES = {
    "async": ("breaking", "breaking"),
    "has_network_io": ("note", "compatible"),
    "interactive": ("breaking", "compatible"),
    "requires_editor": ("breaking", "compatible"),
    "requires_person": ("breaking", "compatible"),
    "safe_default": ("breaking", "breaking"),
    "spawns_background_process": ("note", "compatible"),
    "streaming_default": ("breaking", "breaking"),
}
