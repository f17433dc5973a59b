"""What the parts of envelopes, manifests and streams have to look like, rule by rule."""

from __future__ import annotations

import json
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from murli.conformance import Profile
from murli.conformance.calls.documents import json_strictness
from murli.conformance.calls.making import Target
from murli.conformance.checking import checks_for, results_of
from murli.conformance.checks.manifests import unsound
from murli.conformance.checks.streaming import stream_troubles
from murli.conformance.examining import detect
from murli.conformance.judging import NotVerified
from murli.conformance.probing import Prober
from murli.conformance.results import Evidence
from murli.conformance.shapes import envelope as shapes
from murli.conformance.shapes.manifest import entry_troubles, manifest_troubles
from murli.conformance.shapes.output_schema import misfit
from murli.conformance.target import ENVELOPES as FAMILY
from murli.wire.dialects import Dialect, dialect_of
from properties import examples

FIRST, MIDDLE, NEWEST = map(dialect_of, FAMILY)


def trouble(found: Iterator[str]) -> str:
    return "; ".join(found)


# -- envelopes -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("warnings", "dialect", "told"),
    [
        ([], NEWEST, ""),
        (["old"], FIRST, ""),
        ([{"code": "OLD", "message": "old", "context": {}}], NEWEST, ""),
        ([{"code": "OLD", "message": "old"}], MIDDLE, "warnings[0] is an object, not a text"),
        (["old"], NEWEST, "warnings[0] is 'old', not an object"),
        ([{"code": "old", "message": "old"}], NEWEST, "not a code in capitals"),
        ([{"code": "OLD"}], NEWEST, "warnings[0].message is None"),
        ([{"code": "OLD", "message": "old", "hint": 1}], NEWEST, "'hint', which has no place"),
        ([{"code": "OLD", "message": "old", "context": 1}], NEWEST, "context is 1, not an object"),
        (None, FIRST, "the document.warnings is None"),
    ],
)
def test_warnings(warnings: Any, dialect: Dialect, told: str) -> None:
    """Warnings are texts, and closed objects in the newest revision."""
    found = trouble(shapes.kinds({"warnings": warnings}, dialect))
    assert (told in found) if told else not found


@pytest.mark.parametrize(
    ("data", "error", "meta", "code", "dialect", "told"),
    [
        ({}, None, {}, 0, FIRST, ""),
        (None, {}, {}, 5, FIRST, ""),
        ({}, {}, {}, 0, FIRST, "exit 0, and the error is not null"),
        (None, None, {}, 5, FIRST, "exit 5, and the error is null"),
        (None, None, {}, 0, NEWEST, "both null"),
        (None, None, {"not_modified": True}, 0, FIRST, ""),
        (None, None, {"help": True}, 0, MIDDLE, ""),
        (None, None, {"help": True}, 0, FIRST, "both null"),
        ({}, {}, {}, 5, NEWEST, "exit 5, and there is data"),
        ({}, {}, {}, 3, NEWEST, ""),
        ({}, {}, {}, 3, MIDDLE, "exit 3, and there is data"),
        ({"partial": True}, {}, {}, 130, MIDDLE, ""),
        ({"partial": True}, {}, {}, 130, FIRST, "exit 130, and there is data"),
    ],
)
def test_outcomes(data: Any, error: Any, meta: Any, code: int, dialect: Dialect, told: str) -> None:
    """A success has data and no error, a failure the other way round, but for its payloads."""
    document = {"data": data, "error": error, "meta": meta}
    found = trouble(shapes.outcome(document, code, dialect))
    assert (told in found) if told else not found


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("timestamp", "2026-02-28T23:59:60Z", "2026-02-30T00:00:00Z"),
        ("timestamp", "2026-01-02T03:04:05.678+01:00", "2026-01-02 03:04"),
        ("schema_version", "1.0", "1.0.0"),
        ("not_modified", False, "no"),
        ("timeout_ms", 0, -1),
        ("_line", 1, 0),
        ("effects", {"created": 2}, {"created": True}),
        ("update_available", "2.0", None),
        ("cursor", "abc", 7),
    ],
)
def test_meta(name: str, good: Any, bad: Any) -> None:
    """What has a name in meta has its type."""
    assert not trouble(shapes.meta_kinds({name: good}))
    assert f"meta.{name}" in trouble(shapes.meta_kinds({name: bad}))


# -- errors --------------------------------------------------------------------------------------

ERROR = {"code": "BAD_FLAG", "message": "There is no such flag.", "retryable": False}


@pytest.mark.parametrize(
    ("more", "dialect", "told"),
    [
        ({}, NEWEST, ""),
        ({"code": "bad flag"}, FIRST, ""),
        ({"code": "bad flag"}, MIDDLE, "not a code in capitals"),
        ({"code": ""}, FIRST, "error.code is ''"),
        ({"code": None}, FIRST, "error.code is missing"),
        ({"message": " "}, NEWEST, "error.message"),
        ({"detail": {}}, NEWEST, "error.detail is an object"),
        ({"phase": "later"}, NEWEST, "error.phase"),
        ({"phase": []}, NEWEST, "error.phase"),
        ({"context": {}}, FIRST, "'context', which has no place"),
        ({"context": []}, MIDDLE, "error.context is an array"),
    ],
)
def test_error_shapes(more: dict[str, Any], dialect: Dialect, told: str) -> None:
    """An error has a code and a message, and nothing of another type."""
    found = trouble(shapes.error_shape({**ERROR, **more}, dialect))
    assert (told in found) if told else not found


@pytest.mark.parametrize(
    ("more", "code", "dialect", "told"),
    [
        ({}, 2, NEWEST, ""),
        ({"retryable": True, "retry_after": 3}, 11, FIRST, ""),
        ({"retryable": True, "retry_after": 3}, 11, MIDDLE, "here it is retry_after_ms"),
        ({"retryable": True, "retry_after_ms": 3}, 11, MIDDLE, ""),
        ({"retryable": True, "retry_after_ms": 0.5}, 11, MIDDLE, "error.retry_after_ms is 0.5"),
        ({"retry_after_ms": 3}, 2, NEWEST, "and it is not retryable"),
        ({"retry_strategy": "immediate"}, 2, NEWEST, "and it is not retryable"),
        ({"retryable": True, "retry_strategy": "soon"}, 11, NEWEST, "error.retry_strategy"),
        ({"retryable": True, "fix_required": "x"}, 2, NEWEST, "retryable as it stands"),
        ({"retryable": True}, 3, NEWEST, "half done"),
        ({"retryable": True}, 2, FIRST, "half done"),
        ({"retryable": None}, 2, FIRST, "error.retryable is None"),
        ({"fix_command": "tool login --as <name>"}, 8, NEWEST, "cannot be run as it stands"),
        ({"fix_command": "tool login"}, 8, NEWEST, ""),
    ],
)
def test_retry_advice(more: dict[str, Any], code: int, dialect: Dialect, told: str) -> None:
    """The advice about another try is in the revision's words, and never contradicts itself."""
    found = trouble(shapes.retry_advice({**ERROR, **more}, code, dialect))
    assert (told in found) if told else not found


def test_whether_to_retry_is_told() -> None:
    """The later revisions tell of every error whether to try again."""
    error = {"code": "A_B", "message": "x"}
    assert not trouble(shapes.retry_advice(error, 3, FIRST))
    assert trouble(shapes.retry_advice(error, 2, MIDDLE))


@pytest.mark.parametrize(
    ("redirect", "code", "told"),
    [
        ({"command": "tool new", "permanent": True, "reason": "renamed"}, 13, ""),
        ({"command": "tool new", "permanent": True}, 2, "exit 2, and there is a redirect"),
        (None, 13, "the redirect is None"),
        ({"command": "", "permanent": True}, 13, "redirect.command"),
        ({"command": "tool new"}, 13, "redirect.permanent"),
        ({"command": "tool new", "permanent": True, "reason": "fun"}, 13, "redirect.reason"),
        ({"command": "tool new", "permanent": True, "to": 1}, 13, "'to', which has no place"),
    ],
)
def test_redirects(redirect: Any, code: int, told: str) -> None:
    """A redirect comes with its exit code, and tells the call to make."""
    found = trouble(shapes.redirect({"redirect": redirect}, code))
    assert (told in found) if told else not found


# -- lists and streams ---------------------------------------------------------------------------

PAGE = {"total": 5, "returned": 2, "truncated": True, "has_more": True, "next_cursor": "x"}


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({}, ""),
        ({"total": None}, ""),
        ({"returned": 3}, "there are 2 items"),
        ({"total": 1}, "total is 1"),
        ({"next_cursor": None}, "does not go with next_cursor"),
        ({"has_more": False, "next_cursor": None}, "there are 2 items and no more"),
        ({"truncated": "no"}, "pagination.truncated"),
    ],
)
def test_pagination(more: dict[str, Any], told: str) -> None:
    """The numbers of a page agree with its items."""
    found = trouble(shapes.pagination({**PAGE, **more}, 2, True))
    assert (told in found) if told else not found


def test_pagination_is_whole() -> None:
    """All five are there, on every list."""
    assert "no total" in trouble(shapes.pagination({"returned": 2}, 2, True))
    assert "no pagination" in trouble(shapes.pagination(None, 2, True))
    last = {**PAGE, "has_more": False, "next_cursor": None}
    assert not trouble(shapes.pagination(last, 2, False))


DONE = {"_summary": True, "_count": 2, "total": 2}
FAILED = {"ok": False, "data": None, "error": {"code": "X"}, "meta": {"items_emitted": 2}}


def streamed(*lines: Any, code: int = 0) -> str:
    text = "".join(f"{json.dumps(each)}\n" for each in lines)
    return trouble(stream_troubles(Evidence((), stdout=text.encode(), exit_code=code)))


def test_streams() -> None:
    """A stream is items, numbered from 1 without a gap or not at all, and one last line."""
    one, two = {"_seq": 1}, {"_seq": 2}
    assert not streamed(one, two, DONE)
    assert not streamed({"a": 1}, {"a": 2}, DONE)
    assert not streamed({"a": 1}, {"a": 2}, {"_summary": True})
    assert not streamed(one, {"event": "progress"}, two, DONE)
    assert not streamed(one, two, FAILED, code=1)
    assert "begins with 0" in streamed({"_seq": 0}, {"_seq": 1}, DONE)
    assert "begins with 2" in streamed({"_seq": 2}, {"_seq": 3}, DONE)
    envelope = {"ok": True, "data": {**DONE}, "error": None, "warnings": [], "meta": {}}
    assert "not the bare summary" in streamed(one, two, envelope)
    assert "not the bare summary" in streamed(one, two, {**DONE, "ok": True, "data": None})
    assert "only items have" in streamed(one, two, {**DONE, "_seq": 3})
    assert "does not end it" in streamed(one, two)
    assert "does not end it" in streamed()
    assert "before the last ends it" in streamed(one, DONE, two, DONE)
    assert "one by one" in streamed(one, {"_seq": 3}, DONE)
    assert "one by one" in streamed(one, {"_seq": "2"}, DONE)
    assert "some have none" in streamed(one, {"a": 1}, DONE)
    assert "_count is not 1" in streamed(one, DONE)
    assert "has no _count" in streamed(one, two, {"_summary": True})
    assert "items_emitted is not 1" in streamed(one, FAILED, code=1)
    assert "not an object" in streamed(one, two, 7, DONE)
    assert "is a success" in streamed({"_summary": True, "_count": 0}, code=1)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (b'{"a": [1, 2.5, null]}', ""),
        (b'{"a": NaN}', "NaN"),
        (b'{"a": [-Infinity]}', "-Infinity"),
        (b'{"a": {"b": 1, "b": 1}}', "twice"),
        (b'\xef\xbb\xbf{"a": 1}', "byte-order mark"),
        (b'{"a": "\\ud800"}', "surrogate"),
        (b"[" * 100_000 + b"]" * 100_000, "too deep"),
    ],
)
def test_strict_json(text: bytes, told: str) -> None:
    """What some parsers read and others do not is not JSON."""
    found = json_strictness(text)
    assert (told in found) if told else not found


# -- the manifest --------------------------------------------------------------------------------

FLAG = {"type": "string", "required": False, "description": "what it is"}
ENTRY: dict[str, Any] = {
    "description": "To list.",
    "danger_level": "safe",
    "required_scopes": [],
    "flags": {"name": FLAG},
    "exit_codes": {"0": {"description": "Done.", "retryable": False, "side_effects": "none"}},
}
MANIFEST: dict[str, Any] = {
    "schema_version": "3.0",
    "framework_version": "1.0",
    "etag": "abc",
    "commands": {"list": ENTRY},
}


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({}, ""),
        ({"schema_version": "1.0"}, "schema_version"),
        ({"schema_version": "3.01"}, "schema_version"),
        ({"etag": 7}, "etag"),
        ({"commands": {"list": []}}, "commands"),
        ({"motd": "hello"}, "'motd', which has no place"),
        ({"env_vars": []}, "env_vars"),
        ({"env_vars": [{"name": "TOOL_FORMAT", "description": "how"}]}, ""),
        ({"flags": {"format": {**FLAG, "media_types": {"json": "a/b"}}}}, "only the format has"),
        ({"exit_codes": {"x": {}}}, "exit_codes.x is not a number"),
    ],
)
def test_manifests(more: dict[str, Any], told: str) -> None:
    """A manifest of the third shape has its keys, and no other."""
    found = trouble(manifest_troubles({**MANIFEST, **more}, "3"))
    assert (told in found) if told else not found


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({}, ""),
        ({"flags": {"n": {**FLAG, "default": None}}}, "flags.n.default"),
        ({"flags": {"n": {**FLAG, "type": "object"}}}, "without a schema"),
        ({"flags": {"n": {**FLAG, "pattern": "a", "pattern_type": "url"}}}, "both pattern"),
        ({"flags": {"n": {**FLAG, "type": "integer", "enum_values": ["1"]}}}, "another type"),
        ({"flags": {"n": {**FLAG, "short": "nn"}}}, "flags.n.short"),
        ({"flags": {"n": 7}}, "flags.n is not an object"),
        ({"positionals": [{**FLAG, "name": "Name"}]}, "positional.name"),
        ({"positionals": [{**FLAG, "name": "a", "type": "enum"}]}, "enum without values"),
        ({"aliases": "ls"}, "aliases"),
        ({"mcp": True}, "mcp"),
        ({"nonsense": 1}, "'nonsense', which has no place"),
        ({"requires": [{"any_of": ["a", "b"]}]}, ""),
        ({"requires": [{"any_of": ["a"]}]}, "requires"),
        ({"stdin": {"mode": "records"}}, "without a record_schema"),
        ({"stdin": {"mode": "lines", "max_bytes": 1}}, "'max_bytes', which has no place"),
        ({"requires_editor": True}, "no non_interactive_alternatives"),
        ({"stdout": "protocol"}, "no protocol"),
        ({"stdout": "protocol", "protocol": "lsp", "stdin": {"mode": "lines"}}, "stdin beside"),
        ({"arguments": "passthrough"}, "options in their place"),
        ({"help_argv": ["help"]}, "passes nothing on"),
        ({"confirm_flag": "yes"}, "nothing to confirm"),
        ({"interruption": {"detach": False, "resume": False}}, "neither detaches"),
        ({"requires_person": True}, "no interactive"),
        ({"exit_codes": {"1": {"description": "x"}}}, "exit_codes.1 has no retryable"),
    ],
)
def test_entries(more: dict[str, Any], told: str) -> None:
    """An entry of the third shape has its keys, and what goes together."""
    found = trouble(entry_troubles({**ENTRY, **more}, "3"))
    assert (told in found) if told else not found


def test_entries_of_the_first_shape() -> None:
    """The first shape knows fewer types, and closes only flags and exit codes."""
    entry = {key: value for key, value in ENTRY.items() if key != "required_scopes"}
    assert not trouble(entry_troubles({**entry, "steps": []}, "1"))
    wrong: list[dict[str, Any]] = [{"env_vars": []}, {"type": "object"}, {"enum_values": [1]}]
    for more in wrong:
        assert trouble(entry_troubles({**entry, "flags": {"n": {**FLAG, **more}}}, "1"))


CODES: dict[str, Any] = {
    "0": {"description": "Done.", "retryable": False, "side_effects": "complete"},
    "130": {"description": "Stopped.", "retryable": False, "side_effects": "partial"},
    "143": {"description": "Stopped.", "retryable": False, "side_effects": "partial"},
}
SOUND = {"description": "It is so.", "retryable": False, "side_effects": "none"}


@pytest.mark.parametrize(
    ("number", "more", "told"),
    [
        ("2", {}, ""),
        ("2", {"side_effects": "partial"}, "for wrong calls"),
        ("3", {"retryable": True}, "half done"),
        ("5", {"side_effects": "complete"}, "is complete"),
        ("12", {"retryable": True, "side_effects": "partial"}, "and has side effects"),
        ("5", {"description": "Failed."}, "says nothing"),
        ("5", {"description": "x" * 121}, "too much"),
        ("80", {}, "has no name"),
        ("80", {"name": "NO_TEA"}, ""),
        ("130", {}, "listed for a signal"),
    ],
)
def test_exit_codes(number: str, more: dict[str, Any], told: str) -> None:
    """Exit codes promise what can be kept."""
    found = trouble(unsound({**CODES, number: {**SOUND, **more}}, NEWEST))
    assert (told in found) if told else not found


def test_a_schema_is_applied_and_nothing_is_fetched() -> None:
    """Data is held against its schema; one that refers to elsewhere is not followed."""
    assert not misfit([1], {"type": "array"})
    assert "does not fit" in misfit({}, {"type": "array"})
    assert "is none" in misfit({}, {"type": "nothing"})
    with pytest.raises(NotVerified):
        misfit({}, {"$ref": "http://localhost:1/schema.json"})
    with pytest.raises(NotVerified):
        misfit({"a": {}}, {"$ref": "#/definitions/x", "definitions": {"x": {"$ref": "#"}}})


# -- whatever there is ---------------------------------------------------------------------------

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from([*shapes.KEYS, "commands", "code", "list"]), inner)
    ),
    max_leaves=12,
)
NAMES = st.sampled_from(
    [*ENTRY, *FLAG, *SOUND, *ERROR, *PAGE, "subcommands", "redirect", "stdin", "positionals"]
)
OBJECTS = st.dictionaries(NAMES, VALUES, max_size=6)


class Canned:
    """Stands in for the processes of a tool: whatever is called, the answer is known."""

    tool = ("canned",)
    scratch = SimpleNamespace(work="/")

    def __init__(self, answers: dict[str, bytes], code: int) -> None:
        self.answers, self.code = answers, code
        self.seen: list[Evidence] = []

    def run(self, *words: str, stdin: str = "null", event: str = "", **how: Any) -> Evidence:
        said = self.answers.get(words[0] if words else "", self.answers["else"])
        code = 0 if words[:1] == ("manifest",) else self.code
        self.seen.append(Evidence((*self.tool, *words), stdin, {}, event, said, b"", code))
        return self.seen[-1]


@examples(30, suppress_health_check=list(HealthCheck))
@given(
    contract=st.sampled_from(FAMILY),
    entry=OBJECTS,
    rest=OBJECTS,
    parts=st.tuples(VALUES, OBJECTS | VALUES, VALUES, OBJECTS | VALUES),
    code=st.sampled_from([0, 1, 2, 3, 13, 130, -9, 200]),
)
def test_no_document_stops_a_check(
    contract: str, entry: Any, rest: Any, parts: tuple[Any, ...], code: int
) -> None:
    """Whatever stands in envelopes and manifests, of any type, every check comes to a result."""
    listed = {"list": {"danger_level": "safe", **entry}, "drop": {"danger_level": "destructive"}}
    manifest = {**rest, "commands": {**listed, "a.b": entry, "x": 7}}
    envelope = {"ok": True, "data": manifest, "error": None, "warnings": [], "meta": parts[3]}
    answers = {
        "manifest": json.dumps(envelope).encode(),
        "else": json.dumps(dict(zip(shapes.KEYS, (True, *parts), strict=True))).encode(),
    }
    prober = cast("Prober", Canned(answers, code))
    found = detect(prober)
    target = Target(prober, Profile(), contract, contract, "", found.catalogue, found.description)
    for result in results_of(target, checks_for(contract)):
        assert result.status in ("pass", "fail", "warn", "not_applicable", "not_verified")
