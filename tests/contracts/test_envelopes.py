"""The envelopes byte for byte, the typed model behind them, and the rules they are held to."""

from __future__ import annotations

import copy
import io
from typing import TYPE_CHECKING, Any

import pytest

from harness import GOLDEN, golden
from murli import (
    AgentError,
    ErrorDetail,
    ProgressEvent,
    Redirect,
    ResponseEnvelope,
    ResponseMeta,
    Writer,
)
from murli.contracts import CONTRACT_NAMES, Answer, Facts, respond_in
from murli.contracts.checks import InvalidDocument, check
from murli.formats import dumps
from murli.outcome import Failure, Partial, Plan, Success

if TYPE_CHECKING:
    from murli.outcome import Outcome

TOOL = Facts("1.0.2")
FOUND = Success("Found 1 result", [{"path": "/docs/woodworking", "score": 0.95}])
CHECK = {
    "name": "schema_version",
    "status": "fail",
    "message": 'schema_version is "2", want "1.0"',
}
MURLI: dict[str, tuple[Outcome, Facts]] = {
    "success.json": (FOUND, TOOL),
    "success.ndjson": (FOUND, TOOL),
    "error-not-found.json": (
        Failure(
            AgentError.not_found(
                "index file does not exist at ~/.mytool/index.db",
                "Run `mytool index build` to create the index.",
            )
        ),
        TOOL,
    ),
    "error-invalid-value.json": (
        Failure(
            AgentError.user_error(
                'flag --top: invalid value "abc" for int flag',
                "Valid values are 5, 10, 20, 50.",
                valid_values=[5, 10, 20, 50],
            )
        ),
        TOOL,
    ),
    "error-every-key.ndjson": (
        Failure(
            AgentError.rate_limited(
                "throttled",
                "Ask for less.",
                valid_values=["a"],
                field="top",
                doc_url="https://example.com/top",
            ),
            output="half",
        ),
        Facts(),
    ),
    "plan.json": (
        Plan(
            "Would delete 3 files",
            {"would_delete": ["/tmp/a.db", "/tmp/b.db", "/tmp/c.db"], "count": 3},
        ),
        TOOL,
    ),
    "plan.ndjson": (
        Plan("Would delete 3 files", {"would_delete": ["a.db", "b.db", "c.db"], "count": 3}),
        TOOL,
    ),
    "partial.ndjson": (Partial("1 of 2 failed", {"failed": ["b"]}), TOOL),
    "report.ndjson": (
        Success(
            "1 check(s) failed",
            {"checks": [CHECK], "passed": 0, "warnings": 0, "failed": 1},
            attention=True,
        ),
        TOOL,
    ),
}
FAMILY: dict[str, tuple[Outcome, Facts]] = {
    "success.json": (
        Success("Deployed", {"id": "deploy-42", "status": "complete"}),
        Facts(duration_ms=340, meta={"request_id": "req_abc123"}),
    ),
    "arg-error.json": (
        Failure(
            AgentError.user_error(
                "Unknown target environment 'prodution'",
                "Valid environments: prod, staging, dev",
                error_type="invalid_environment",
            ),
            "validation",
        ),
        Facts(duration_ms=5),
    ),
    "token-expired.json": (
        Failure(AgentError.auth_required("Access token has expired", reason="expired")),
        Facts(duration_ms=4),
    ),
    "redirected.json": (
        Failure(
            AgentError.redirected(
                "'tool user create' was renamed in v2.0",
                "tool users add --name alice",
                permanent=True,
                reason="renamed",
                error_type="command_renamed",
            )
        ),
        Facts(duration_ms=2),
    ),
    "rate-limited.json": (
        Failure(
            AgentError.rate_limited(
                "API rate limit reached",
                retry_after_ms=30_000,
                error_type="rate_limit_exceeded",
            )
        ),
        Facts(duration_ms=6),
    ),
}
STREAMS = {"events.ndjson", "progress.ndjson"}


def written(name: str, contract: str, outcome: Outcome, facts: Facts) -> str:
    answer = respond_in(contract)(outcome, facts)
    check(contract, answer)
    return dumps(answer.document, pretty=name.endswith(".json")) + "\n"


@pytest.mark.parametrize("name", MURLI)
def test_murli_documents(name: str) -> None:
    """Every murli sample comes out byte for byte; a retry_after_ms of 0 only with code 8."""
    assert written(name, "murli", *MURLI[name]) == golden(f"envelopes/murli/{name}")


@pytest.mark.parametrize("contract", CONTRACT_NAMES[1:])
@pytest.mark.parametrize("name", FAMILY)
def test_family_documents(name: str, contract: str) -> None:
    """The five ResponseEnvelope samples come out byte for byte, in the later revisions too."""
    assert written(name, contract, *FAMILY[name]) == golden(f"envelopes/{contract}/{name}")


def test_an_event_stream() -> None:
    """Events go out as they are, one line each, and one line ends the stream."""
    out = io.StringIO()
    writer = Writer(out, io.StringIO(), True, tool_version="1.0.2")
    writer.write_event({"event": "chunk", "index": 0, "data": "first batch of results"})
    writer.write_event({"event": "chunk", "index": 1, "data": "second batch of results"})
    writer.write_success("Done", {"total": 2})
    assert out.getvalue() == golden("envelopes/murli/events.ndjson")


def test_a_progress_stream() -> None:
    """Progress names its event first, leaves zeros out and writes whole percents whole."""
    out = io.StringIO()
    writer = Writer(out, io.StringIO(), True, tool_version="1.0.2")
    writer.write_progress(ProgressEvent("read", 1, 3, 33.0, message="reading corpus"))
    writer.write_progress(ProgressEvent("embed", 2, 3, 66, eta_ms=4200))
    writer.write_progress(ProgressEvent("write", 3, 3, 100.0))
    writer.write_success("Reindexed 4213 docs", {"count": 4213})
    assert out.getvalue() == golden("envelopes/murli/progress.ndjson")


def test_no_golden_file_is_forgotten() -> None:
    """Every golden envelope on disk is one of those compared above."""
    folders = GOLDEN / "envelopes"
    found = {path.relative_to(folders).as_posix() for path in folders.rglob("*.*json")}
    family = {f"{contract}/{name}" for contract in CONTRACT_NAMES[1:] for name in FAMILY}
    assert found == family | {f"murli/{name}" for name in [*MURLI, *STREAMS]}


META = ResponseMeta(3)
WHY = ErrorDetail("NOT_FOUND", "no such task")


def test_the_envelope_is_generic() -> None:
    """ResponseEnvelope[T] can be written, and called, with the command's declared output."""
    envelope = ResponseEnvelope[dict[str, int]](0, {"id": 1}, None, META)
    assert envelope == ResponseEnvelope(0, {"id": 1}, None, META)
    assert list(envelope.document()) == ["ok", "data", "error", "warnings", "meta"]


def test_ok_is_computed() -> None:
    """Ok follows from the exit code; nobody can pass it in or set it."""
    envelope: Any = ResponseEnvelope(0, {}, None, META)
    assert envelope.ok is True
    assert ResponseEnvelope(5, None, WHY, META).ok is False
    with pytest.raises(TypeError):
        ResponseEnvelope(0, {}, None, META, ok=False)  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        envelope.replace(ok=False)
    with pytest.raises(AttributeError):
        envelope.ok = False


@pytest.mark.parametrize(
    "record", [ResponseEnvelope(0, {}, None, META), WHY, META, Redirect("x", True), Facts()]
)
def test_the_model_is_immutable(record: Any) -> None:
    """Every part of the model is fixed once built; a copy is changed instead."""
    name = next(iter(record.__dict__))
    before = copy.deepcopy(record)
    with pytest.raises(AttributeError, match="immutable"):
        setattr(record, name, 9)
    with pytest.raises(AttributeError, match="immutable"):
        delattr(record, name)
    assert record == before


@pytest.mark.parametrize(
    ("code", "data", "error", "why"),
    [
        (4, None, None, "needs an error"),
        (4, {}, None, "needs an error"),
        (0, {}, WHY, "cannot carry an error"),
        (0, None, None, "both null"),
    ],
)
def test_the_envelope_refuses_contradictions(
    code: int, data: Any, error: ErrorDetail | None, why: str
) -> None:
    """A failure without an error, a success with one, and nothing at all are refused."""
    with pytest.raises(ValueError, match=why):
        ResponseEnvelope(code, data, error, META)


def test_a_copy_is_refused_like_the_original() -> None:
    """A contradiction cannot be had by changing a copy either."""
    sound: ResponseEnvelope[Any] = ResponseEnvelope(0, {}, None, META)
    assert sound.replace(data=[1]).data == [1]
    with pytest.raises(ValueError, match="needs an error"):
        sound.replace(exit_code=4)


def answers(outcome: Outcome) -> dict[str, Answer]:
    return {name: respond_in(name)(outcome, Facts()) for name in CONTRACT_NAMES}


SUCCESS = answers(Success("m", {"a": 1}))
FAILURE = answers(Failure(AgentError.not_found("m")))
REDIRECT = answers(Failure(AgentError.redirected("m", "x")))["agent-spec-1.6"].document["error"]


@pytest.mark.parametrize(
    ("contract", "answer", "changes", "rule"),
    [
        ("murli", FAILURE, {"code": 6}, "code is the exit code"),
        ("murli", FAILURE, {"exit_code": 0, "code": 0}, "and not 0"),
        ("murli", FAILURE, {"stream": "stdout"}, "goes to stderr"),
        ("murli", FAILURE, {"error": ...}, "error is present"),
        ("murli", FAILURE, {"message": ...}, "message is present"),
        ("murli", FAILURE, {"recoverable": ...}, "recoverable is present"),
        ("murli", FAILURE, {"tool_version": ...}, "tool_version is present"),
        ("murli", SUCCESS, {"status": "fine"}, "'fine' is unknown"),
        ("murli", SUCCESS, {"status": ...}, "None is unknown"),
        ("murli", SUCCESS, {"exit_code": 2}, "fits the status"),
        ("murli", SUCCESS, {"status": "partial"}, "fits the status"),
        ("murli", SUCCESS, {"result": ...}, "exactly one payload"),
        ("murli", SUCCESS, {"status": "plan", "plan": {}}, "exactly one payload"),
        ("murli", SUCCESS, {"message": ...}, "message is present"),
        ("murli", SUCCESS, {"schema_version": ...}, "schema_version is present"),
        ("response", SUCCESS, {"warnings": ...}, "five keys"),
        ("response", SUCCESS, {"extra": 1}, "five keys"),
        ("response", SUCCESS, {"ok": False}, "ok says"),
        ("response", SUCCESS, {"ok": 1}, "ok says"),
        ("response", SUCCESS, {"error": {"code": "A", "message": "m"}}, "only a failure"),
        ("response", FAILURE, {"error": None}, "only a failure"),
        ("response", SUCCESS, {"data": "text"}, "data is an object"),
        ("response", SUCCESS, {"data": None}, "both null"),
        ("response", SUCCESS, {"warnings": None}, "warnings is an array"),
        ("response", SUCCESS, {"meta": {}}, "duration_ms"),
        ("agent-spec-2", SUCCESS, {"meta": {"duration_ms": 1}}, "meta.exit_code"),
        ("agent-spec-2", FAILURE, {"meta": {"duration_ms": 1, "exit_code": 6}}, "meta.exit_code"),
        ("agent-spec-1.6", FAILURE, {"error": {"code": "A"}}, "code and message"),
        ("agent-spec-1.6", FAILURE, {"error": {"code": "", "message": ""}}, "code and message"),
        ("agent-spec-1.6", FAILURE, {"error": REDIRECT}, "redirect goes with"),
        ("agent-spec-1.6", FAILURE, {"exit_code": 13}, "redirect goes with"),
    ],
)
def test_a_broken_document_is_not_written(
    contract: str, answer: dict[str, Answer], changes: dict[str, Any], rule: str
) -> None:
    """Each rule of a contract is checked: a document that breaks it raises and names the rule."""
    check(contract, answer[contract])
    document = dict(answer[contract].document)
    code = changes.get("exit_code", answer[contract].exit_code)
    stream = changes.get("stream", answer[contract].stream)
    for name in changes.keys() - {"exit_code", "stream"}:
        document[name] = changes[name]
        if changes[name] is ...:
            del document[name]
    with pytest.raises(InvalidDocument, match=rule):
        check(contract, Answer(document, code, stream))


def test_what_later_revisions_add_to_an_error_keeps_its_order() -> None:
    """Unknown keywords of an error are its last fields, in the order in which they were given."""
    detail: Any = ErrorDetail
    more = dict.fromkeys(["expires_at", "zone", "alternatives", "foo", "bar"], 1)
    assert list(detail("C", "m", **more).document()) == ["code", "message", *more]
    assert detail("C", "m", **more) == detail("C", "m", more=more)
