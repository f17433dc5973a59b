"""Pairs that differ in what is promised of a command: words, safety, exit codes, answers."""

from __future__ import annotations

from typing import Any

from diff_documents import (
    SAFETY,
    TOOL,
    code,
    described,
    ending,
    go,
    listed,
    safe,
    said,
)

#: rule -> (old, new, what is told of old to new, what of new to old)
FACT_RULES: dict[str, tuple[Any, Any, str | list[str], str | list[str]]] = {
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
