"""The schemas we ship accept every document we write, and nothing that breaks a contract."""

from __future__ import annotations

import copy
import json
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

import murli.schemas
from harness import GOLDEN, environment, run
from murli import AgentError, ArgumentMetadata, Example, FlagAnnotation, Metadata, ReturnSchema
from murli.commands.schema import command_schema, describe_document
from murli.contracts import CONTRACT_NAMES, Answer, Facts, respond_in
from murli.contracts.checks import check
from murli.declare.tree import Argument, Command, Flag
from murli.errors import AUTH_REASONS, KINDS, REDIRECT_REASONS
from murli.outcome import Failure, Notice, Partial, Plan, Success
from murli.schemas import SCHEMA_NAMES, load_schema

if TYPE_CHECKING:
    from collections.abc import Iterator

    from murli.outcome import Outcome

ENVELOPES = GOLDEN / "envelopes"


@cache
def validator(name: str) -> Draft202012Validator:
    return Draft202012Validator(load_schema(name))


def complaints(name: str, document: Any) -> list[str]:
    return [error.message for error in validator(name).iter_errors(document)]


# -- what there is to validate -----------------------------------------------------------------


def documents() -> Iterator[tuple[str, str, Any]]:
    """Give every golden document: what it is, its schema, itself."""
    for path in sorted(ENVELOPES.rglob("*.json")):
        yield f"{path.parent.name}/{path.stem}", path.parent.name, json.loads(path.read_text())
    for path in sorted(ENVELOPES.rglob("*.ndjson")):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            document = json.loads(line)
            schema = "event-lines" if "event" in document else path.parent.name
            if document.get("event") != "chunk":  # a tool's own events are its own business
                yield f"{path.parent.name}/{path.name}:{number}", schema, document


def tool() -> Command:
    """Give a tool that says everything that can be said about a command."""
    search = Command(
        ("riffle", "index", "build"),
        "Build the index",
        arguments=[Argument("folder", choices=["docs", "src"]), Argument("more", required=False)],
        flags=[
            Flag("top", "int", 5, "how many", short="n", required=True, env="TOP"),
            Flag("token", sensitive=True, default="s3cr3t", excludes=["top"], choices=["a"]),
        ],
        metadata=Metadata(
            agent_description="Builds it.",
            when_to_use="Use it first.",
            arguments=[ArgumentMetadata("folder", description="what to read")],
            returns=ReturnSchema(shape={"count": "int"}, output_schema={"type": "object"}),
            examples=[Example("riffle index build docs"), Example("riffle index", "none", 1)],
            flag_annotations={
                "top": FlagAnnotation(pattern="^5$", profileable=True, persistent=True)
            },
            dry_runnable=True,
            destructive=True,
        ),
    )
    index = Command(("riffle", "index"), "Work with the index", commands=[search])
    return Command(("riffle",), "Semantic search", commands=[index])


BUILD = tool().commands[0].commands[0]
SAMPLES: dict[str, tuple[str, Any]] = {
    label: (schema, document) for label, schema, document in documents()
} | {
    "describe": ("describe", describe_document(tool(), "1.2.3", "0.1.0")),
    "describe-bare": ("describe", describe_document(Command(("x",)), "", "0.1.0")),
    "describe-one": ("describe", describe_document(BUILD, "", "0.1.0")),
    "command": ("command", command_schema(BUILD)),
    "group": ("command", command_schema(tool())),
    "log": ("event-lines", {"ts": "2026-06-03T15:53:11.482913Z", "level": "info", "msg": ""}),
    "log-repeated": (
        "event-lines",
        {"ts": "2026-06-03T15:53:11Z", "level": "progress", "msg": "Scanning", "repeated": 2},
    ),
}


def answer_of(contract: str, document: Any) -> Answer:
    """Give *document* with the exit code and the stream it must have had."""
    if contract == "murli":
        code = {"error": document.get("code"), "partial": 3}.get(document["status"], 0)
        return Answer(document, code, "stderr" if document["status"] == "error" else "stdout")
    code = 13 if "redirect" in (document["error"] or {}) else 1
    return Answer(document, document["meta"].get("exit_code", 0 if document["ok"] else code))


@pytest.mark.parametrize("label", SAMPLES)
def test_samples_are_valid(label: str) -> None:
    """Every golden document, and every form of the explaining ones, fits its schema."""
    schema, document = SAMPLES[label]
    assert complaints(schema, document) == []
    if schema in CONTRACT_NAMES:
        check(schema, answer_of(schema, document))


@pytest.mark.parametrize("name", ["describe", "schema-create", "schema-root"])
def test_documents_of_a_real_tool_are_valid(name: str) -> None:
    """What describe and --schema print for a real tool fits the schemas."""
    document = json.loads((GOLDEN / f"{name}.json").read_text())
    assert complaints("describe" if name == "describe" else "command", document) == []


# -- any outcome at all ------------------------------------------------------------------------

words = st.text(min_size=1)
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
payloads = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
objects = st.dictionaries(st.text(), payloads, max_size=3)
details = st.fixed_dictionaries(
    {},
    optional={
        **dict.fromkeys(("suggestion", "doc_url", "field", "detail", "error_type"), st.text()),
        "fix_required": st.text(),
        "fix_command": st.text(st.characters(exclude_characters="<>$\n\r")),
        "recoverable": st.booleans(),
        "valid_values": st.lists(st.text(), max_size=3),
        "retry_after_ms": st.integers(0, 10**9),
        "context": objects,
    },
)


@st.composite
def errors(draw: st.DrawFn) -> AgentError:
    kind = draw(st.sampled_from(sorted(KINDS)))
    more: dict[str, Any] = dict(draw(details))
    if kind == "redirected":
        more["permanent"] = draw(st.booleans())
        more["reason"] = draw(st.sampled_from(["", *REDIRECT_REASONS]))
        return AgentError.redirected(draw(words), draw(words), **more)
    if kind == "auth_required":
        more["reason"] = draw(st.sampled_from(AUTH_REASONS))
    if kind == "cancelled":
        more["context"] = {"signal": draw(st.sampled_from(["SIGINT", "SIGTERM", "SIGHUP"]))}
    if kind == "tool_error" and draw(st.booleans()):
        return AgentError(draw(st.integers(10, 255)), "execution_error", draw(words), kind=kind)  # type: ignore[arg-type]
    return AgentError.of_kind(kind, draw(words), **more)


outcomes: st.SearchStrategy[Outcome] = st.one_of(
    st.builds(Success, st.text(), payloads, st.booleans()),
    st.builds(Plan, st.text(), payloads),
    st.builds(Partial, st.text(), payloads),
    st.builds(
        Failure, errors(), st.sampled_from(["", "validation", "execution", "cleanup"]), payloads
    ),
)
facts = st.builds(
    Facts,
    st.text(),
    st.integers(0, 10**9),
    st.lists(st.builds(Notice, st.text(), st.text(), objects), max_size=2).map(tuple),
    st.sampled_from([{}, {"request_id": "r", "truncated": True, "schema_version": "1.0"}]),
)


@settings(max_examples=150, deadline=None)
@given(outcome=outcomes, said=facts)
def test_any_outcome_is_valid_in_every_contract(outcome: Outcome, said: Facts) -> None:
    """Whatever happened, the document fits its schema and keeps its rules in all four contracts."""
    for contract in CONTRACT_NAMES:
        answer = respond_in(contract)(outcome, said)
        check(contract, answer)
        assert complaints(contract, answer.document) == []


@pytest.mark.parametrize("contract", CONTRACT_NAMES[1:])
def test_a_cache_hit_is_valid(contract: str) -> None:
    """The one success without data fits the schema because it says why."""
    document = respond_in(contract)(Success(), Facts(meta={"not_modified": True})).document
    assert complaints(contract, document) == []
    del document["meta"]["not_modified"]
    assert complaints(contract, document) != []


# -- nothing else ------------------------------------------------------------------------------

OPTIONAL = {
    "error": "suggestion valid_values retry_after_ms field doc_url result",
    "describe": "tool_version when_to_use agent_description arguments flags returns examples",
    "command": "path summary when_to_use agent_description mutating arguments flags returns "
    "examples subcommands",
    "event-lines": "stage current total percent eta_ms message repeated",
}


def required(schema: str, document: Any) -> list[str]:
    kind = "error" if document.get("status") == "error" else schema
    return [key for key in document if key not in OPTIONAL.get(kind, "").split()]


@pytest.mark.parametrize(
    ("label", "key"), [(label, key) for label in SAMPLES for key in required(*SAMPLES[label])]
)
def test_a_missing_key_is_rejected(label: str, key: str) -> None:
    """No document lacks a key that its contract always has."""
    schema, document = SAMPLES[label]
    assert complaints(schema, {name: document[name] for name in document if name != key}) != []


@pytest.mark.parametrize("label", SAMPLES)
def test_an_unknown_key_is_rejected(label: str) -> None:
    """No document has a key that its contract does not know."""
    schema, document = SAMPLES[label]
    assert complaints(schema, {**document, "extra": 1}) != []


@pytest.mark.parametrize(
    ("label", "key"),
    [
        (label, key)
        for label, (_, document) in SAMPLES.items()
        for key in document
        if key not in ("result", "plan")
    ],
)
def test_a_value_of_the_wrong_type_is_rejected(label: str, key: str) -> None:
    """No value is of another type than its contract says."""
    schema, document = SAMPLES[label]
    wrong: Any = ["wrong", 1] if isinstance(document[key], (str, int, float)) else "wrong"
    assert complaints(schema, {**document, key: wrong}) != []


@pytest.mark.parametrize(
    "label", [label for label, (_, sample) in SAMPLES.items() if "ok" in sample]
)
def test_a_flipped_ok_is_rejected(label: str) -> None:
    """Ok says the same as the rest of the document."""
    schema, document = SAMPLES[label]
    assert complaints(schema, {**document, "ok": not document["ok"]}) != []


WARNING = {"code": "SLOW", "message": "slow"}
PAGE = {"total": None, "returned": 1, "truncated": False, "has_more": False, "next_cursor": None}
BROKEN: list[tuple[str, str, Any]] = [
    ("murli/success", "status", "done"),
    ("murli/success", "status", "error"),
    ("murli/success", "schema_version", "1.1"),
    ("murli/success", "plan", {}),
    ("murli/plan", "status", "ok"),
    ("murli/error-not-found", "code", 0),
    ("murli/error-not-found", "code", 256),
    ("murli/error-not-found", "code", 8),
    ("murli/error-not-found", "code", True),
    ("murli/error-not-found", "status", "ok"),
    ("murli/error-not-found", "suggestion", ""),
    ("murli/error-not-found", "retry_after_ms", 0),
    ("murli/error-not-found", "result", None),
    ("murli/error-invalid-value", "valid_values", []),
    ("murli/error-invalid-value", "valid_values", [5]),
    ("murli/error-every-key.ndjson:1", "retry_after_ms", ...),
    ("response/success", "data", None),
    ("response/success", "error", {"code": "A", "message": ""}),
    ("response/success", "warnings", [WARNING]),
    ("response/success", "meta.duration_ms", ...),
    ("response/success", "meta.duration_ms", -1),
    ("response/success", "meta.schema_version", "1"),
    ("response/success", "meta.not_modified", True),
    ("response/arg-error", "data", {}),
    ("response/arg-error", "error", None),
    ("response/arg-error", "error.code", ...),
    ("response/arg-error", "error.message", ...),
    ("response/arg-error", "error.context", {}),
    ("response/arg-error", "error.retry_after_ms", 1),
    ("response/arg-error", "error.phase", "later"),
    ("response/rate-limited", "error.retryable", False),
    ("response/rate-limited", "error.retryable", ...),
    ("response/rate-limited", "error.retry_after", 1.5),
    ("response/redirected", "error.redirect.command", ...),
    ("response/redirected", "error.redirect.permanent", "yes"),
    ("response/redirected", "error.redirect.reason", "moved"),
    ("response/redirected", "error.redirect.extra", 1),
    ("agent-spec-1.6/arg-error", "data", {}),
    ("agent-spec-1.6/arg-error", "error.retryable", True),
    ("agent-spec-1.6/arg-error", "error.retry_after_ms", 1),
    ("agent-spec-1.6/arg-error", "error.context", []),
    ("agent-spec-1.6/redirected", "error.redirect.extra", 1),
    ("agent-spec-1.6/rate-limited", "error.fix_command", "x"),
    ("agent-spec-1.6/rate-limited", "error.retry_strategy", "hope"),
    ("agent-spec-1.6/success", "warnings", [WARNING]),
    ("agent-spec-2/success", "warnings", ["slow"]),
    ("agent-spec-2/success", "warnings", [{"message": "slow"}]),
    ("agent-spec-2/success", "warnings", [{**WARNING, "code": "slow"}]),
    ("agent-spec-2/success", "warnings", [{**WARNING, "extra": 1}]),
    ("agent-spec-2/success", "meta.exit_code", ...),
    ("agent-spec-2/success", "meta.exit_code", 5),
    ("agent-spec-2/success", "meta.pagination", {**PAGE, "returned": None}),
    ("agent-spec-2/success", "meta.pagination", {"total": 1}),
    ("agent-spec-2/arg-error", "meta.exit_code", 0),
    ("agent-spec-2/arg-error", "meta.exit_code", 256),
    ("agent-spec-2/arg-error", "meta.exit_code", 13),
    ("agent-spec-2/arg-error", "error.code", "invalid_environment"),
    ("agent-spec-2/redirected", "meta.exit_code", 5),
    ("agent-spec-2/redirected", "error.redirect", ...),
    ("agent-spec-2/rate-limited", "meta.exit_code", 3),
    ("describe", "safety", {"read_only": True, "idempotent": True}),
    ("describe", "capabilities.output_formats", ["json"]),
    ("describe", "profiles.profileable_flags", ...),
    ("describe", "murli.version", ...),
    ("describe", "commands.0.safety", ...),
    ("describe", "commands.0.subcommands.0.safety.destructive", False),
    ("describe", "commands.0.subcommands.0.extra", 1),
    ("command", "safety.idempotent", ...),
    ("command", "flags.0.type", ...),
    ("command", "flags.0.profileable", False),
    ("command", "arguments.0.required", "yes"),
    ("command", "returns.description", 1),
    ("command", "examples.1.expected_exit_code", 0),
    ("group", "subcommands.0.safety", {}),
    ("log", "level", "debug"),
    ("log", "ts", "2026-06-03 15:53:11"),
    ("log", "repeated", 0),
    ("murli/progress.ndjson:1", "event", "tick"),
    ("murli/progress.ndjson:1", "percent", 0),
    ("murli/progress.ndjson:1", "stage", ""),
]


@pytest.mark.parametrize(("label", "path", "value"), BROKEN)
def test_a_broken_document_is_rejected(label: str, path: str, value: Any) -> None:
    """One change that breaks the contract is enough to be rejected."""
    schema, document = SAMPLES[label]
    broken = copy.deepcopy(document)
    *way, last = [int(step) if step.isdigit() else step for step in path.split(".")]
    place: Any = broken
    for step in way:
        place = place[step]
    if value is ...:
        del place[last]
    else:
        place[last] = value
    assert complaints(schema, broken) != []


# -- the schemas themselves --------------------------------------------------------------------


@pytest.mark.parametrize("name", SCHEMA_NAMES)
def test_a_schema_is_valid(name: str) -> None:
    """Each schema is a valid one of draft 2020-12 and says whose it is."""
    schema = load_schema(name)
    Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == Draft202012Validator.META_SCHEMA["$id"]
    assert schema["$id"] == f"urn:murli:schema:{name}"


def test_describe_and_command_agree() -> None:
    """What describe and --schema have in common is defined alike in both."""
    described, command = (load_schema(name)["$defs"] for name in ("describe", "command"))
    shared = described.keys() & command.keys()
    names = {"argument", "brief", "flag", "returns", "example", "exit_status", "safety"}
    assert shared == names
    assert all(described[name] == command[name] for name in shared)


def test_an_unknown_schema_is_refused() -> None:
    """A name that is none, a path above all, is refused with those that are."""
    with pytest.raises(ValueError, match=r"murli, response, .*sidecar, not '\.\./murli'"):
        load_schema("../murli")


def test_schemas_ship_in_the_package(tmp_path: Path) -> None:
    """The names are exactly the packaged files, and another program can load them anywhere."""
    packaged = Path(murli.schemas.__file__).parent.glob("*.json")
    assert sorted(path.stem for path in packaged) == sorted(SCHEMA_NAMES)
    source = "from murli.schemas import *; print(*(load_schema(n)['$id'] for n in SCHEMA_NAMES))"
    done = run([sys.executable, "-c", source], cwd=tmp_path, env=environment())
    assert done.out.split() == [f"urn:murli:schema:{name}" for name in SCHEMA_NAMES]
