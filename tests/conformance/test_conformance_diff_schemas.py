"""Two output schemas are compared: what a reader was promised must still come."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from murli.conformance.diffing.schemas import output_changes, takes_as_before
from properties import examples

TEXT, WHOLE, NUMBER, NULL = ({"type": each} for each in ("string", "integer", "number", "null"))


def held(schema: Any, **facts: Any) -> dict[str, Any]:
    """The schema of an object that has *schema* for ``a``."""
    return {"type": "object", "properties": {"a": schema}, **facts}


def tree(schema: Any) -> dict[str, Any]:
    """The schema of a tree with *schema* for what a node holds."""
    node = {"properties": {"below": {"type": "array", "items": {"$ref": "#"}}, "a": schema}}
    return {"type": "object", **node}


def named(schema: Any, name: str) -> dict[str, Any]:
    """The same object as `held`, with ``a`` defined elsewhere under *name*."""
    return {**held({"$ref": f"#/$defs/{name}"}), "$defs": {name: schema}}


#: rule -> (old, new, what is told of old to new, what of new to old)
RULES: dict[str, tuple[Any, Any, list[str], list[str]]] = {
    "type": (
        held(TEXT),
        held(WHOLE),
        ["breaking output_type_changed result.a"],
        ["breaking output_type_changed result.a"],
    ),
    "whole number": (
        held(NUMBER),
        held(WHOLE),
        ["compatible output_narrowed result.a"],
        ["breaking output_widened result.a"],
    ),
    "null": (
        held(TEXT),
        held({"type": ["string", "null"]}),
        ["breaking output_widened result.a"],
        ["compatible output_narrowed result.a"],
    ),
    "null as an alternative": (
        held(TEXT),
        held({"anyOf": [TEXT, NULL]}),
        ["breaking output_widened result.a"],
        ["compatible output_narrowed result.a"],
    ),
    "null as in OpenAPI": (
        held(TEXT),
        held({"type": "string", "nullable": True}),
        ["breaking output_widened result.a"],
        ["compatible output_narrowed result.a"],
    ),
    "null in another form": (
        held({"type": ["string", "null"], "maxLength": 3}),
        held({"oneOf": [NULL, {"type": "string", "maxLength": 3}]}),
        [],
        [],
    ),
    "anything": (
        held(TEXT),
        held({}),
        ["breaking output_type_changed result.a"],
        ["compatible output_narrowed result.a"],
    ),
    "value": (
        held({"enum": ["x", "y"]}),
        held({"enum": ["x", "y", None]}),
        ["breaking output_value_added result.a"],
        ["compatible output_narrowed result.a"],
    ),
    "constant": (
        held({"const": "x"}),
        held({"type": "string"}),
        ["breaking output_widened result.a"],
        ["compatible output_narrowed result.a"],
    ),
    "constant that is a list": (held({"const": "x"}), held({"enum": ["x"]}), [], []),
    "property": (
        held(TEXT),
        {"type": "object"},
        ["breaking output_property_removed result.a"],
        ["compatible output_property_added result.a"],
    ),
    "property of a closed object": (
        {"type": "object", "properties": {}, "additionalProperties": False},
        held(TEXT, additionalProperties=False),
        ["breaking output_property_added result.a"],
        ["breaking output_property_removed result.a"],
    ),
    "property of a map": (
        {"type": "object", "additionalProperties": WHOLE},
        held(TEXT, additionalProperties=WHOLE),
        ["breaking output_type_changed result.a"],
        ["breaking output_property_removed result.a"],
    ),
    "required property": (
        held(TEXT, required=["a"]),
        held(TEXT),
        ["breaking output_property_optional result.a"],
        ["compatible output_property_required result.a"],
    ),
    "required property that nobody describes": (
        {"required": ["a"]},
        {"required": []},
        ["breaking output_property_removed result.a"],
        ["compatible output_property_added result.a"],
    ),
    "closed object": (
        held(TEXT, additionalProperties=False),
        held(TEXT),
        ["breaking output_widened result"],
        ["compatible output_narrowed result"],
    ),
    "values of a map": (
        {"additionalProperties": TEXT},
        {"additionalProperties": {"type": ["string", "null"]}},
        ["breaking output_widened result.*"],
        ["compatible output_narrowed result.*"],
    ),
    "patterns of a map": (
        {"patternProperties": {"^a": TEXT}},
        {"patternProperties": {"^b": TEXT}},
        ["breaking output_unjudged result./^a/", "compatible output_narrowed result./^b/"],
        ["compatible output_narrowed result./^a/", "breaking output_unjudged result./^b/"],
    ),
    "items": (
        {"type": "array", "items": TEXT},
        {"type": "array", "items": WHOLE},
        ["breaking output_type_changed result[]"],
        ["breaking output_type_changed result[]"],
    ),
    "items told": (
        {"type": "array"},
        {"type": "array", "items": TEXT},
        ["compatible output_narrowed result[]"],
        ["breaking output_type_changed result[]"],
    ),
    "one item of a row": (
        {"prefixItems": [TEXT, WHOLE]},
        {"prefixItems": [TEXT, NUMBER]},
        ["breaking output_widened result[1]"],
        ["compatible output_narrowed result[1]"],
    ),
    "a row as it was written once": (
        {"items": [TEXT], "additionalItems": WHOLE},
        {"prefixItems": [TEXT], "items": WHOLE},
        [],
        [],
    ),
    "least": (
        held({"minimum": 1}),
        held({"minimum": 0}),
        ["breaking output_widened result.a"],
        ["compatible output_narrowed result.a"],
    ),
    "most": (
        held({"type": "string", "maxLength": 5}),
        held({"type": "string"}),
        ["breaking output_widened result.a"],
        ["compatible output_narrowed result.a"],
    ),
    "more than": (
        held({"minimum": 1}),
        held({"minimum": 1, "exclusiveMinimum": 1}),
        ["compatible output_narrowed result.a"],
        ["breaking output_widened result.a"],
    ),
    "more than, instead": (
        held({"minimum": 1}),
        held({"exclusiveMinimum": 1}),
        ["compatible output_narrowed result.a", "compatible output_narrowed result.a"],
        ["compatible output_narrowed result.a", "breaking output_widened result.a"],
    ),
    "more than, as it was written once": (
        held({"minimum": 1, "exclusiveMinimum": True}),
        held({"minimum": 1}),
        ["breaking output_unjudged result.a"],
        ["compatible output_narrowed result.a"],
    ),
    "bound that is none": (
        held({"maxLength": "5", "type": "string"}),
        held({"maxLength": "6", "type": "string"}),
        ["breaking output_unjudged result.a"],
        ["breaking output_unjudged result.a"],
    ),
    "whole number with a point": (
        held(WHOLE),
        held({"enum": [1.0]}),
        ["compatible output_narrowed result.a"],
        ["breaking output_widened result.a"],
    ),
    "longer row": (
        {"prefixItems": [TEXT], "items": NUMBER},
        {"prefixItems": [TEXT, WHOLE], "items": NUMBER},
        ["compatible output_narrowed result[1]"],
        ["breaking output_widened result[1]"],
    ),
    "property that a map must have": (
        {"type": "object", "additionalProperties": TEXT},
        {"type": "object", "additionalProperties": TEXT, "required": ["a"]},
        [],
        ["breaking output_property_removed result.a"],
    ),
    "property that a pattern is about": (
        {"patternProperties": {"^a": TEXT, "^[": {}}},
        {"patternProperties": {"^a": TEXT, "^[": {}}, "properties": {"ab": WHOLE}},
        ["breaking output_type_changed result.ab", "compatible output_narrowed result.ab"],
        ["breaking output_property_removed result.ab"],
    ),
    "pattern": (
        held({"type": "string", "pattern": "^a"}),
        held({"type": "string", "pattern": "^b"}),
        ["breaking output_unjudged result.a"],
        ["breaking output_unjudged result.a"],
    ),
    "format": (
        held(TEXT),
        held({"type": "string", "format": "date"}),
        ["compatible output_narrowed result.a"],
        ["breaking output_unjudged result.a"],
    ),
    "condition": (
        {"type": "object", "if": {"required": ["a"]}, "then": {"required": ["b"]}},
        {"type": "object", "if": {"required": ["a"]}, "then": {"required": ["c"]}},
        ["breaking output_unjudged result"],
        ["breaking output_unjudged result"],
    ),
    "remarks": (held({"title": "A", "default": 1}), held({"description": "a", "x-b": 2}), [], []),
    "definition by another name": (named(TEXT, "A"), named(TEXT, "B"), [], []),
    "definition in place": (named(TEXT, "A"), held(TEXT), [], []),
    "definition": (
        named(TEXT, "A"),
        named(WHOLE, "A"),
        ["breaking output_type_changed result.a"],
        ["breaking output_type_changed result.a"],
    ),
    "definition with more beside it": (
        {**named(TEXT, "A"), "properties": {"a": {"$ref": "#/$defs/A", "maxLength": 3}}},
        held({"type": "string", "maxLength": 4}),
        ["breaking output_widened result.a"],
        ["compatible output_narrowed result.a"],
    ),
    "anchor": (
        {**held({"$ref": "#it"}), "$defs": {"A": {"$anchor": "it", **TEXT}}},
        {**held({"$ref": "#it"}), "$defs": {"A": {"$anchor": "it", **WHOLE}}},
        ["breaking output_type_changed result.a"],
        ["breaking output_type_changed result.a"],
    ),
    "definition elsewhere": (
        held({"$ref": "https://example.com/a"}),
        held({"$ref": "https://example.com/b"}),
        ["breaking output_unjudged result.a"],
        ["breaking output_unjudged result.a"],
    ),
    "definition by the name of the whole": (
        {"$id": "https://example.com/x", **held({"$ref": "https://example.com/x#/$defs/A"})}
        | {"$defs": {"A": TEXT}},
        {"$id": "https://example.com/x", **held({"$ref": "https://example.com/x#/$defs/A"})}
        | {"$defs": {"A": WHOLE}},
        ["breaking output_type_changed result.a"],
        ["breaking output_type_changed result.a"],
    ),
    "definition that is one of a list": (
        {**held({"$ref": "#/$defs/A/anyOf/1"}), "$defs": {"A": {"anyOf": [NULL, TEXT]}}},
        {**held({"$ref": "#/$defs/A/anyOf/1"}), "$defs": {"A": {"anyOf": [NULL, WHOLE]}}},
        ["breaking output_type_changed result.a"],
        ["breaking output_type_changed result.a"],
    ),
    "definition that is not there": (
        {**held({"$ref": "#/$defs/A/2"}), "$defs": {"A": [TEXT, TEXT], "2": TEXT}},
        {**held({"$ref": "#/$defs/B/x"}), "$defs": {"B": [TEXT, TEXT]}},
        ["breaking output_unjudged result.a"],
        ["breaking output_unjudged result.a"],
    ),
    "parts that say one thing twice": (
        held({"allOf": [{"pattern": "a"}, {"pattern": "b"}, {"pattern": "b"}]}),
        held({"allOf": [{"pattern": "a"}, {"pattern": "c"}]}),
        ["breaking output_unjudged result.a"],
        ["breaking output_unjudged result.a"],
    ),
    "parts": (
        {"allOf": [held(TEXT), {"properties": {"b": TEXT}, "required": ["a"]}]},
        {"type": "object", "properties": {"a": TEXT, "b": TEXT}, "required": ["a"]},
        [],
        [],
    ),
    "parts that both speak of one thing": (
        {"allOf": [held(TEXT), held({"maxLength": 3})]},
        held({"type": "string", "maxLength": 3}),
        [],
        [],
    ),
    "alternative": (
        held({"anyOf": [held(TEXT), held(WHOLE)]}),
        held({"anyOf": [held(TEXT), held(WHOLE), held(NULL)]}),
        ["breaking output_widened result.a"],
        ["compatible output_narrowed result.a"],
    ),
    "alternatives in another order": (
        held({"anyOf": [held(TEXT), WHOLE, NULL]}),
        held({"anyOf": [NULL, held(TEXT), WHOLE]}),
        [],
        [],
    ),
    "inside an alternative": (
        held({"anyOf": [held(TEXT), NULL]}),
        held({"anyOf": [held(WHOLE), NULL]}),
        ["breaking output_type_changed result.a.a"],
        ["breaking output_type_changed result.a.a"],
    ),
    "more inside an alternative": (
        held({"anyOf": [held(TEXT), NULL]}),
        held({"anyOf": [{"properties": {"a": TEXT, "b": TEXT}, "type": "object"}, NULL]}),
        ["compatible output_property_added result.a.b"],
        ["breaking output_property_removed result.a.b"],
    ),
    "tree": (
        tree(TEXT),
        tree(WHOLE),
        ["breaking output_type_changed result.a"],
        ["breaking output_type_changed result.a"],
    ),
    "tree with alternatives": (
        tree({"anyOf": [{"$ref": "#"}, TEXT]}),
        tree({"anyOf": [{"$ref": "#"}, TEXT, NULL]}),
        ["breaking output_widened result.a"],
        ["compatible output_narrowed result.a"],
    ),
    "never": (
        held(False),
        held(TEXT),
        ["breaking output_type_changed result.a"],
        ["compatible output_narrowed result.a"],
    ),
}


def told(old: Any, new: Any) -> list[str]:
    """What is told of a change, in one line each."""
    return [f"{each.severity} {each.kind} {each.subject}" for each in output_changes(old, new)]


@pytest.mark.parametrize("name", RULES)
def test_rule(name: str) -> None:
    """Each rule finds its own change and no other, in both directions, and none in itself."""
    old, new, forward, backward = RULES[name]
    assert told(old, new) == forward
    assert told(new, old) == backward
    # Not merely the same text: followed to the end, they are found to be the same.
    for each in (old, new):
        assert told({**each, "title": "old"}, {**each, "title": "new"}) == []


@pytest.mark.parametrize(
    ("old", "new", "kept"),
    [
        (held(TEXT), held(TEXT, required=["a"]), False),
        (held(TEXT), {**held(TEXT), "properties": {"a": TEXT, "b": WHOLE}}, True),
        (held(TEXT), {"type": "object"}, True),
        (held(TEXT), {"type": "object", "additionalProperties": False}, False),
        (held(WHOLE), held(NUMBER), True),
        (held(NUMBER), held(WHOLE), False),
        (held({"enum": ["x"]}), held({"enum": ["x", "y"]}), True),
        (held({"enum": ["x", "y"]}), held({"enum": ["x"]}), False),
    ],
)
def test_what_is_taken(old: Any, new: Any, kept: bool) -> None:
    """What a command takes may grow: whatever could be given before is still accepted."""
    assert takes_as_before(old, new) is kept


def grammar(kinds: int, more: dict[str, Any]) -> dict[str, Any]:
    """A schema as of the tree of a program: every kind of node may hold every other."""
    anyone = {"anyOf": [{"$ref": f"#/$defs/n{kind}"} for kind in range(kinds)]}
    nodes = {
        f"n{kind}": {
            "type": "object",
            "required": ["kind"],
            "properties": {"kind": {"const": kind}, "below": anyone, **(more if not kind else {})},
        }
        for kind in range(kinds)
    }
    return {**anyone, "$defs": nodes}


def test_grammar() -> None:
    """A schema that holds itself in many ways is followed to the end, and judged."""
    old = grammar(12, {})
    assert told(old, {**old, "title": "x"}) == []
    assert told(old, grammar(12, {"x": TEXT})) == ["compatible output_property_added result.x"]
    assert "breaking output_property_removed result.x" in told(grammar(12, {"x": TEXT}), old)
    assert told(old, grammar(13, {}))[0].startswith("breaking output_widened result")


def test_words() -> None:
    """What is said of a schema names what is meant, before and after."""
    for old, new, words in (
        (held(TEXT), held({}), "result.a is anything now, it was string."),
        (held(NUMBER), held(False), "result.a is always nothing now."),
        (held({"type": ["string", "null"]}), held(NUMBER), "is number now, it was null or string."),
        (held({"anyOf": [TEXT, NULL]}), held(TEXT), "result.a is no longer null."),
        (held({"enum": [1]}), held({"enum": [None, 1]}), "result.a may be null now."),
        (held({"enum": [1]}), held(WHOLE), "result.a may be anything now, not only 1."),
        (held({"minimum": 1}), held({}), "result.a is no longer bound by minimum 1."),
    ):
        (found,) = output_changes(old, new)
        assert found.detail.endswith(words)


def doubled(depth: int) -> dict[str, Any]:
    """A schema that refers to itself twice at every step: all of it is too much."""
    steps = {f"s{n}": {"allOf": [{"$ref": f"#/$defs/s{n + 1}"}] * 2} for n in range(depth)}
    return {"$ref": "#/$defs/s0", "$defs": {**steps, f"s{depth}": TEXT}}


def forked(depth: int) -> dict[str, Any]:
    """A schema that comes to more alternatives than anybody can count."""
    pairs = [{"anyOf": [held(TEXT), held(WHOLE)]} for _ in range(depth)]
    return {"allOf": pairs}


@pytest.mark.parametrize("make", [doubled, forked])
def test_too_intricate(make: Any) -> None:
    """What would take for ever to judge is not judged, and said to break."""
    assert told(make(40), make(41)) == ["breaking output_unjudged result"]
    assert told(make(3), make(3)) == []


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}},
        {"anyOf": [{"$ref": "#"}, NULL]},
        {"allOf": [{"$ref": "#"}, {"properties": {"a": {"$ref": "#"}}}]},
        {"not": {"$ref": "#"}, "items": {"$ref": "#"}},
        {"properties": {"a": {"allOf": [{"$ref": "#"}, held({"$ref": "#"})]}}},
    ],
)
def test_schema_that_holds_itself(schema: dict[str, Any]) -> None:
    """A schema that leads back to itself ends, whatever it is compared with."""
    for other in ({**schema, "title": "x"}, held(TEXT), True, tree(schema)):
        assert isinstance(told(schema, other), list)
        assert isinstance(told(other, schema), list)


# -- against a validator -------------------------------------------------------------------------

VALUES: list[Any] = [
    None,
    True,
    0,
    1,
    2,
    1.5,
    "",
    "x",
    "xyz",
    [],
    [1],
    ["x", None],
    {},
    {"a": 1},
    {"a": "x"},
]
VALUES += [{"a": None, "b": 1}, {"b": {"a": 1}}, {"a": {"a": "x"}}, {"a": ["x"]}, [{"a": 1}], [[1]]]
SMALL = st.integers(0, 2)
SCHEMAS = st.recursive(
    st.sampled_from([True, {}, TEXT, WHOLE, NUMBER, NULL, {"$ref": "#/$defs/d"}, {"$ref": "#"}])
    | st.fixed_dictionaries(
        {"enum": st.lists(st.sampled_from(VALUES[:10]), min_size=1, max_size=3)}
    )
    | st.fixed_dictionaries({}, optional={"minimum": SMALL, "maxLength": SMALL, "maxItems": SMALL}),
    lambda inner: (
        st.fixed_dictionaries(
            {},
            optional={
                "type": st.sampled_from(
                    ["object", "array", ["object", "null"], ["array", "string"]]
                ),
                "properties": st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
                "required": st.lists(st.sampled_from("ab"), max_size=2, unique=True),
                "additionalProperties": inner | st.just(False),
                "items": inner,
            },
        )
        | st.lists(inner, min_size=1, max_size=2).map(lambda some: {"anyOf": some})
        | st.lists(inner, min_size=1, max_size=2).map(lambda some: {"allOf": some})
    ),
    max_leaves=5,
)
WHOLES = st.builds(
    lambda schema, below: {**(schema if isinstance(schema, dict) else {}), "$defs": {"d": below}},
    SCHEMAS,
    SCHEMAS.filter(lambda each: "$ref" not in json.dumps(each)),
)


# Without those that lead back to themselves.
ENDING = WHOLES.filter(lambda each: '"#"' not in json.dumps(each))


def allowed(schema: Any, value: Any) -> bool:
    """Whether a validator lets *value* pass."""
    try:
        return jsonschema.Draft202012Validator(schema).is_valid(value)
    except RecursionError:  # a schema that is nothing but itself says nothing
        return True


@examples(70)
@given(WHOLES, WHOLES)
def test_what_is_called_compatible_is(old: Any, new: Any) -> None:
    """Where nothing is said to break, every answer of the new schema is one of the old one."""
    if any(each.startswith("breaking") for each in told(old, new)):
        return
    for value in VALUES:
        assert allowed(old, value) or not allowed(new, value), value


@examples(40)
@given(ENDING, st.sampled_from(["narrow", "name", "both"]))
def test_what_cannot_break_is_not_said_to(schema: Any, how: str) -> None:
    """Defining a part elsewhere, or demanding more of it, is never said to break a reader."""
    new = json.loads(json.dumps(schema))
    if how != "narrow":
        new = {"$ref": "#/$defs/it", "$defs": {"it": new, **new.pop("$defs")}}
    if how != "name":
        new = {**new, "allOf": [*new.get("allOf", []), {"type": ["object", "array", "string"]}]}
    assert not [each for each in told(schema, new) if each.startswith("breaking")]
