"""What authors declare is checked where they say it, kept when a call comes, and told."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import murli
from harness import run, script
from murli import (
    CommandCode,
    Deprecation,
    ExitCode,
    ExitCodeEntry,
    FlagAnnotation,
    Metadata,
    Paging,
    Rule,
    Traits,
)
from murli.declare.declarations import as_external, with_effect
from murli.declare.exit_codes import danger_of, default_exit_codes, entry_of, own_code, undeclared
from murli.errors import KINDS

pytestmark = pytest.mark.adapters("argparse", "click")

DONE = ExitCodeEntry("The index is built.", side_effects="complete")
QUOTA = CommandCode(81, "QUOTA_SPENT")

# -- danger ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "level", "mutating", "destructive"),
    [
        ({}, "", False, False),
        ({"mutating": False}, "safe", False, False),
        ({"mutating": True}, "mutating", True, False),
        ({"destructive": True}, "destructive", True, True),
        ({"destructive": False}, "", False, False),
        ({"danger_level": "safe"}, "safe", False, False),
        ({"danger_level": "mutating"}, "mutating", True, False),
        ({"danger_level": "destructive", "mutating": True}, "destructive", True, True),
    ],
)
def test_danger_is_said_in_one_way_or_the_other(
    said: dict[str, Any], level: str, mutating: bool, destructive: bool
) -> None:
    """danger_level and mutating/destructive say the same; what nobody said is known as that."""
    facts = Metadata(**said)
    assert (facts.danger_level, facts.mutating, facts.destructive) == (level, mutating, destructive)


@pytest.mark.parametrize(
    "said",
    [
        {"danger_level": "safe", "mutating": True},
        {"danger_level": "mutating", "destructive": True},
        {"danger_level": "destructive", "mutating": False},
        {"danger_level": "harmless"},
        {"danger_level": "safe", "effect": "deleted"},
        {"danger_level": "destructive", "streams": True},
        {"danger_level": "safe", "traits": Traits(confirm_flag="really")},
        {"dry_runnable": False, "traits": Traits(safe_default=True)},
        {"streams": True, "traits": Traits(protocol="lsp")},
    ],
)
def test_contradictions_are_refused(said: dict[str, Any]) -> None:
    """Two facts that cannot both be true are a ValueError where they are declared."""
    with pytest.raises(ValueError, match=r"\w"):
        Metadata(**said)


def test_what_nobody_declared_is_not_harmless() -> None:
    """Where a contract must choose, an undeclared command counts as mutating."""
    assert danger_of(None) == danger_of(Metadata()) == "mutating"
    assert danger_of(Metadata(mutating=False)) == "safe"


def test_a_later_annotation_overrides_what_it_says() -> None:
    """A second annotate() changes the danger and the new fields it names, and no other."""
    early = Metadata(destructive=True, steps=["a"], effect="deleted")
    late = early.merged_with(Metadata(danger_level="mutating"))
    assert (late.danger_level, late.steps, late.effect) == ("mutating", ("a",), "deleted")
    assert early.merged_with(Metadata(mutating=False)).danger_level == "destructive"
    assert Metadata(mutating=True).merged_with(Metadata(danger_level="safe")).danger_level == "safe"
    assert Metadata().merged_with(Metadata(traits=Traits(safe_default=True))).dry_runnable
    with pytest.raises(ValueError, match="safe command"):
        Metadata(effect="created").merged_with(Metadata(mutating=False))


# -- the other fields -----------------------------------------------------------------------------


def test_nothing_said_is_known_as_that() -> None:
    """The new fields have their defaults, and are not in `said`, unless they were given."""
    facts = Metadata(mutating=True)
    assert facts.explicit == {"mutating"}
    assert (facts.exit_codes, facts.effect, facts.steps, facts.requires) == ({}, "", (), ())
    assert (facts.deprecated, facts.lists, facts.traits) == (None, None, None)
    assert (facts.streams, facts.external, facts.schema_version) == (False, False, "1.0")
    assert not facts.has_checks


def test_who_declares_nothing_new_loads_nothing(tmp_path: Path) -> None:
    """A tool whose declarations are the ordinary ones does not load what the others need."""
    source = """
import sys, murli
note = murli.FlagAnnotation(env="X", pattern="x")
murli.Metadata(mutating=True, flag_annotations={"x": note}).merged_with(murli.Metadata())
print(sorted(name for name in sys.modules if name.startswith("murli.")))
"""
    loaded = run(script(tmp_path, source)).out
    assert loaded == "['murli.core', 'murli.declare']\n"


def test_short_forms_become_the_long_ones() -> None:
    """A text is one name or a replacement, True the ordinary paging."""
    facts = Metadata(deprecated="new", lists=True, required_scopes=["read"], steps=["one", "two"])
    assert facts.deprecated == Deprecation("new")
    assert facts.lists == Paging(limit=20, sort_key="")
    assert (facts.required_scopes, facts.steps) == (("read",), ("one", "two"))
    assert Metadata(lists=False, streams=False).lists is None
    assert FlagAnnotation(deprecated="--new").deprecated == Deprecation("--new")


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ({"effect": "changed"}, ValueError),
        ({"steps": ["a", "a"]}, ValueError),
        ({"requires": ["mode"]}, TypeError),
        ({"deprecated": 3}, TypeError),
        ({"lists": 20}, TypeError),
        ({"schema_version": "1"}, ValueError),
        ({"schema_version": "v1.0"}, ValueError),
        ({"traits": {"mcp": False}}, TypeError),
    ],
)
def test_fields_of_the_wrong_form_are_refused(said: Any, kind: type[Exception]) -> None:
    """What cannot be meant is refused when it is declared."""
    with pytest.raises(kind):
        Metadata(**said)


@pytest.mark.parametrize(
    "said",
    [
        {"kind": "name"},
        {"pattern_type": "email"},
        {"pattern": "x", "pattern_type": "uuid"},
        {"max_bytes": -1},
    ],
)
def test_checks_of_the_wrong_form_are_refused(said: Any) -> None:
    """A kind or a pattern type that does not exist is told, for flags and for arguments."""
    for declare in (FlagAnnotation, lambda **facts: murli.ArgumentMetadata("x", **facts)):
        with pytest.raises(ValueError, match=r"\w"):
            declare(**said)


def test_declarations_are_values() -> None:
    """What is declared can be compared, copied and pickled like every other record."""
    facts = Metadata(
        exit_codes={ExitCode.SUCCESS: DONE, QUOTA: ExitCodeEntry("The quota is spent.")},
        requires=[Rule("mode", "remote", then_required=["host"])],
        traits=Traits(requires_person=True),
    )
    assert copy.deepcopy(facts) == pickle.loads(pickle.dumps(facts)) == facts
    assert {QUOTA: 1}[CommandCode(81, "QUOTA_SPENT")] == 1


# -- exit codes -----------------------------------------------------------------------------------


def test_exit_codes_are_our_kinds_by_other_names() -> None:
    """Every kind of failure has one name, and success has one too."""
    assert {code.value for code in ExitCode} == {"success", *KINDS}


@pytest.mark.parametrize(
    ("codes", "kind", "told"),
    [
        ({0: DONE}, TypeError, "murli.ExitCode.NOT_FOUND"),
        ({True: DONE}, TypeError, "ExitCode"),
        ({}, ValueError, "SUCCESS"),
        ({ExitCode.SUCCESS: "it works"}, TypeError, "ExitCodeEntry"),
        ({ExitCode.TIMEOUT: DONE}, ValueError, "SUCCESS says"),
        (
            {ExitCode.ARG_ERROR: ExitCodeEntry("A flag is wrong.", side_effects="partial")},
            ValueError,
            "promises that nothing was done",
        ),
        (
            {ExitCode.PARTIAL_FAILURE: ExitCodeEntry("Half is done.", retryable=True)},
            ValueError,
            "never retryable",
        ),
        ({QUOTA: DONE}, ValueError, "QUOTA_SPENT is a failure"),
        (
            {
                ExitCode.SUCCESS: DONE,
                QUOTA: ExitCodeEntry("It is spent."),
                CommandCode(81, "OTHER"): ExitCodeEntry("It is not."),
            },
            ValueError,
            "81 is both",
        ),
    ],
)
def test_exit_codes_are_checked_when_declared(codes: Any, kind: type[Exception], told: str) -> None:
    """A map that promises too much, or uses bare numbers, is refused with what to do."""
    with pytest.raises(kind, match=told):
        Metadata(exit_codes=codes)


@pytest.mark.parametrize(
    "said",
    [
        {"description": ""},
        {"description": "x y " * 31},
        {"description": "Error"},
        {"description": "Failed."},
        {"description": "Something went wrong."},
        {"description": "It timed out.", "retryable": True, "side_effects": "partial"},
        {"description": "It timed out.", "side_effects": "some"},
        {"description": "It timed out.", "error_codes": ["quota-spent"]},
    ],
)
def test_an_entry_must_tell_something_true(said: dict[str, Any]) -> None:
    """An entry that tells nothing, or promises a retry after writing, is refused."""
    with pytest.raises(ValueError, match=r"\w"):
        ExitCodeEntry(**said)


@pytest.mark.parametrize(
    ("number", "name"), [(5, "QUOTA"), (126, "QUOTA"), (True, "QUOTA"), (80, "quota"), (80, "")]
)
def test_a_code_of_ones_own(number: int, name: str) -> None:
    """A command's own code is 79 to 125, has a name, and no name that is taken."""
    with pytest.raises(ValueError, match=r"\w"):
        CommandCode(number, name)
    with pytest.raises(ValueError, match=r"ExitCode\.TIMEOUT"):
        CommandCode(80, "TIMEOUT")


@pytest.mark.parametrize(
    ("facts", "success", "timeout"),
    [
        (None, "complete", (False, "partial")),
        (Metadata(), "complete", (False, "partial")),
        (Metadata(mutating=True), "complete", (False, "partial")),
        (Metadata(danger_level="safe"), "none", (False, "none")),
    ],
)
def test_default_exit_codes(
    facts: Metadata | None, success: str, timeout: tuple[bool, str]
) -> None:
    """Without a map of its own a command has a careful one, itself a valid declaration."""
    codes = default_exit_codes(facts)
    assert Metadata(exit_codes=codes).exit_codes == codes
    assert codes[ExitCode.SUCCESS].side_effects == success
    entry = codes[ExitCode.TIMEOUT]
    assert (entry.retryable, entry.side_effects) == timeout
    assert codes[ExitCode.ARG_ERROR].side_effects == "none"
    assert codes[ExitCode.CANCELLED].side_effects == "partial"


def test_network_commands_may_find_nobody() -> None:
    """A command that talks to the network has its codes, retryable where repeating is harmless."""
    network = Traits(has_network_io=True)
    for facts, path, passes in (
        (Metadata(traits=network), ("sync",), False),
        (Metadata(traits=network), ("list",), True),
        (Metadata(traits=network, mutating=True), ("list",), False),
        (Metadata(traits=network, danger_level="safe"), ("sync",), True),
        (Metadata(traits=network, mutating=True, idempotent=True), ("sync",), True),
    ):
        entry = default_exit_codes(facts, path)[ExitCode.UNAVAILABLE]
        assert (entry.retryable, entry.side_effects) == (passes, "none" if passes else "partial")
    assert ExitCode.UNAVAILABLE not in default_exit_codes(Metadata())


def test_an_undeclared_end_is_noticed() -> None:
    """Who declares exit codes is told of an end that is not among them; others are not."""
    facts = Metadata(exit_codes={ExitCode.SUCCESS: DONE, QUOTA: ExitCodeEntry("It is spent.")})
    assert undeclared(facts, "success") is None
    assert "NOT_FOUND" in str(undeclared(facts, "not_found"))
    assert undeclared(facts, "tool_error", 81) is None
    assert own_code(facts, 81) == QUOTA
    assert own_code(facts, 82) is None
    assert undeclared(Metadata(), "not_found") is undeclared(None, "timeout") is None


def test_an_entry_is_found_by_kind() -> None:
    """The declared map is asked first, and alone if there is one."""
    facts = Metadata(exit_codes={ExitCode.SUCCESS: DONE})
    assert entry_of(facts, "success") == DONE
    assert entry_of(facts, "timeout") is None
    assert entry_of(None, "timeout") == default_exit_codes(None)[ExitCode.TIMEOUT]


# -- rules, traits and what a manifest has of them ------------------------------------------------


@pytest.mark.parametrize(
    "said",
    [
        {},
        {"if_flag": "mode"},
        {"then_required": ["host"]},
        {"if_flag": "mode", "any_of": ["a", "b"]},
        {"if_flag": "mode", "then_required": ["a"], "prohibited": ["b"]},
        {"if_flag": "mode", "value": "x", "prohibited": ["b"]},
        {"one_of": ["a"]},
        {"any_of": ["a", "a"]},
    ],
)
def test_a_rule_says_one_thing(said: dict[str, Any]) -> None:
    """A rule without a condition, without a consequence or with two of them is refused."""
    with pytest.raises(ValueError, match=r"\w"):
        Rule(**said)
    with pytest.raises(TypeError, match="a dict"):
        Rule("ci", default="plain")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "said",
    [
        {"requires_editor": True},
        {"gui_operations": ["opens a browser"]},
        {"gui_operations": ["opens a browser"], "headless_behavior": "cry"},
        {"headless_supported": False},
        {"requires_person": True, "interactive": False},
        {"requires_person": True, "mcp": True},
        {"confirm_flag": "really", "safe_default": True},
        {"confirm_flag": "--"},
        {"job_descriptor_schema": {}, "spawns_background_process": True},
        {"job_descriptor_schema": {"type": "object"}},
        {"spawns_background_process": True},
        {"max_lifetime_seconds": 0},
        {"connect_timeout": 3},
        {"connect_timeout": -1, "has_network_io": True},
        {"config_write_scope": "universe"},
        {"option_placement": "first"},
        {"subprocess": {"user_controlled_args": []}},
        {"subprocess": {"binary": "git", "shell": True}},
        {"dependencies": [{"name": "git"}]},
        {"filesystem_side_effects": [{"path": "~/.x", "type": "junk"}]},
        {"filesystem_side_effects": [{"path": "x", "type": "output", "ttl_seconds": 1}]},
        {"stdin": {"mode": "all"}},
        {"stdin": {"mode": "lines", "max_bytes": 5}},
        {"stdin": {"mode": "records"}},
        {"protocol": "MCP stdio"},
        {"protocol": "lsp", "stdin": {"mode": "lines"}},
        {"protocol": "lsp", "safe_default": True},
    ],
)
def test_traits_are_checked_when_declared(said: dict[str, Any]) -> None:
    """A trait that leaves out what its caller needs, or contradicts another, is refused."""
    with pytest.raises(ValueError, match=r"\w"):
        Traits(**said)


ALL_TRAITS = Traits(
    has_network_io=True,
    connect_timeout=5,
    subprocess={"binary": "git", "user_controlled_args": ["ref"], "hardcoded_args": ["fetch"]},
    headless_supported=False,
    token_env_vars="BOX_TOKEN",  # one name, not its letters
    asynchronous=True,
    job_descriptor_schema={"type": "object"},
    requires_editor=True,
    non_interactive_alternatives=["--message TEXT"],
    gui_operations=["opens a browser"],
    headless_behavior="emit_in_output",
    config_write_scope="local",
    option_placement="strict",
    requires_person="I know what this does",
    confirm_flag="--really",
    dependencies=[{"name": "git", "check_command": "git --version", "min_version": "2.30"}],
    filesystem_side_effects=[{"path": "~/.cache/box", "type": "cache", "ttl_seconds": 60}],
    required_tools={"git": "2.30", "sh": "*"},
    platform=["linux", "macos"],
    secret_env_vars=["BOX_TOKEN"],
    spawns_background_process=True,
    cleanup_command="box stop",
    max_lifetime_seconds=3600,
    stdin={"mode": "records", "record_schema": {"type": "object"}},
)
RULES = [
    Rule("mode", "remote", then_required=["--host"]),
    Rule("verbose", then_required=["log_file"]),
    Rule("all", prohibited=["name"]),
    Rule("ci", default={"format": "plain"}),
    Rule(any_of=["file", "text"]),
    Rule(one_of=["id", "name"]),
]


@pytest.mark.parametrize(
    "traits", [ALL_TRAITS, Traits(protocol="mcp-stdio"), Traits(mcp=True, safe_default=True)]
)
def test_traits_and_rules_fit_a_manifest(traits: Traits) -> None:
    """Everything declared has the names and shapes that a manifest's entry of a command has."""
    facts = Metadata(mutating=True, requires=RULES, traits=traits)
    document = {
        "description": "",
        "danger_level": facts.danger_level,
        "required_scopes": [],
        "flags": {},
        "exit_codes": {
            str(number): entry.document(code.name)
            for number, (code, entry) in enumerate(default_exit_codes(facts).items())
        },
        "requires": [each for rule in facts.requires for each in rule.documents()],
        **traits.manifest(),
    }
    schema = {"$defs": murli.load_schema("manifest-3")["$defs"], "$ref": "#/$defs/command"}
    jsonschema.validate(document, schema)


def test_the_manifest_has_what_was_said() -> None:
    """Traits export what was said, under the names of the manifest, and nothing else."""
    assert Traits().manifest() == {}
    assert Traits(asynchronous=True, mcp=True).manifest() == {"async": True}
    assert Traits(protocol="lsp").manifest() == {"protocol": "lsp", "stdout": "protocol"}
    person = Traits(requires_person="I mean it").manifest()
    assert person == {"interactive": True, "mcp": False, "requires_person": True}
    document = ALL_TRAITS.manifest()
    assert document["token_env_vars"] == ["BOX_TOKEN"]
    assert document["confirm_flag"] == "really"
    assert not {"dependencies", "connect_timeout", "asynchronous"} & set(document)
    assert RULES[1].documents() == [
        {"if_flag": "verbose", "if_value": True, "then_required": ["log-file"]}
    ]


# -- what is added to results ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("result", "effect", "dry_run", "wanted"),
    [
        ({"id": 3}, "created", False, {"effect": "created", "id": 3}),
        ({"id": 3}, "deleted", True, {"effect": "would_delete", "id": 3}),
        ({}, "noop", True, {"effect": "noop"}),
        (None, "updated", False, {"effect": "updated"}),
        ({"effect": "noop"}, "created", False, {"effect": "noop"}),
        ({"id": 3}, "", False, {"id": 3}),
        ([1], "created", False, [1]),
        ("text", "created", False, "text"),
    ],
)
def test_a_declared_effect_is_in_the_result(
    result: Any, effect: str, dry_run: bool, wanted: Any
) -> None:
    """A result without an effect gets the declared one; one that has its own keeps it."""
    assert with_effect(result, effect, dry_run) == wanted


def test_external_data_cannot_call_itself_trusted() -> None:
    """External data is marked at its top, whatever it says about itself."""
    marks = {"_source": "external", "_trusted": False}
    assert as_external({"title": "x", "_trusted": True}) == {**marks, "title": "x"}
    assert list(as_external({"title": "x"})) == ["_source", "_trusted", "title"]
    assert as_external(["x"]) == {**marks, "content": ["x"]}
    assert as_external(None) is None


# -- JSON as it is typed --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": [1, 2]}', {"a": [1, 2]}),
        ('{"a": 1, "b": [1, 2,],}', {"a": 1, "b": [1, 2]}),
        ("{a: 1, $b_2-c: null}", {"a": 1, "$b_2-c": None}),
        ("// all of it\n{a: /* one */ 1, // end\n}", {"a": 1}),
        ("{'a': 'it\\'s \"x\"'}", {"a": 'it\'s "x"'}),
        ('{"url": "http://x/*y*/, ]", }', {"url": "http://x/*y*/, ]"}),
        ("[1,]", [1]),
        ("3", 3),
    ],
)
def test_json_as_people_type_it(text: str, value: Any) -> None:
    """Trailing commas, comments, bare keys and single quotes are understood outside of strings."""
    assert murli.json_value(text) == value


@pytest.mark.parametrize("text", ["", "{", "{a: }", "word", "[1 2]", "[" * 100_000])
def test_what_is_no_json_is_refused(text: str) -> None:
    """Outside of a call, what cannot be understood is a ValueError, as a type raises it."""
    with pytest.raises(ValueError, match="not JSON"):
        murli.json_value(text)
    default = {"a": 1}
    assert murli.json_value(default) is default
