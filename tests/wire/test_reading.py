"""What tools write, byte by byte, and what the client understands of it."""

from __future__ import annotations

import json
import math
import time
from typing import Any

import pytest

from client_documents import (
    CONTRACTS,
    FAMILY,
    decided,
    envelope,
    murli_answer,
    murli_error,
    refusal,
    understood,
)
from murli.client import Done, Escalate, Limits, Stop, read
from murli.client.streaming import Items
from murli.contracts import Facts, respond_in
from murli.errors import AgentError
from murli.formats import dumps
from murli.outcome import Failure, Partial, Plan, Success

# -- murli, as each language writes it ---------------------------------------------------------

DOCS_SUCCESS = b"""{
  "status": "ok",
  "schema_version": "1.0",
  "tool_version": "1.0.2",
  "message": "Found 1 result",
  "result": [
    {
      "path": "/docs/woodworking",
      "score": 0.95
    }
  ]
}
"""
DOCS_ERROR = b"""{
  "status": "error",
  "code": 5,
  "error": "not_found",
  "message": "index file does not exist",
  "suggestion": "Run `mytool index build` to create the index.",
  "valid_values": ["a", 2],
  "recoverable": true,
  "field": "index",
  "schema_version": "1.0",
  "tool_version": "1.0.2"
}
"""
DOCS_PLAN = (
    b'{"status":"plan","schema_version":"1.0","tool_version":"1.0.2","message":"Would delete 3 '
    b'files","plan":{"would_delete":["a.db","b.db","c.db"],"count":3}}\n'
)
GO_SUCCESS = (
    b'{\n  "result": {\n    "count": 1,\n    "key": "value"\n  },\n'
    b'  "schema_version": "1.0",\n  "status": "ok"\n}\n'
)
GO_PLAN = (
    b'{\n  "result": {\n    "count": 3,\n    "files": [\n      "a",\n      "b",\n      "c"\n    ]\n'
    b'  },\n  "schema_version": "1.0",\n  "status": "plan"\n}\n'
)
GO_ERROR = (
    b'{\n  "code": 1,\n  "error": "invalid_input",\n  "message": "the --region flag is required",\n'
    b'  "suggestion": "Pass --region us-east-1",\n  "recoverable": true,\n'
    b'  "schema_version": "1.0"\n}\n'
)
OLD_PYTHON_SUCCESS = (
    b'{"schema_version": "1.0", "tool_version": "", "status": "ok", "message": "m", "result": 5}\n'
)
OLD_PYTHON_ERROR = (
    b'{"schema_version": "1.0", "tool_version": "", "status": "error", "code": 7, "error": '
    b'"conflict", "message": "It exists.", "suggestion": "", "recoverable": false}\n'
)
RUST_SUCCESS = b'{"message":"m","result":[1],"schema_version":"1.0","status":"ok"}\n'
RUST_ERROR = (
    b'{"code":8,"error":"rate_limited","message":"Slow down.","recoverable":true,'
    b'"retry_after_ms":250,"schema_version":"1.0","status":"error"}\n'
)


@pytest.mark.parametrize(
    ("written", "state", "data", "message"),
    [
        (DOCS_SUCCESS, "ok", [{"path": "/docs/woodworking", "score": 0.95}], "Found 1 result"),
        (GO_SUCCESS, "ok", {"count": 1, "key": "value"}, ""),
        (OLD_PYTHON_SUCCESS, "ok", 5, "m"),
        (RUST_SUCCESS, "ok", [1], "m"),
        (
            DOCS_PLAN,
            "plan",
            {"would_delete": ["a.db", "b.db", "c.db"], "count": 3},
            "Would delete 3 files",
        ),
        (GO_PLAN, "plan", {"count": 3, "files": ["a", "b", "c"]}, ""),
        (murli_answer("ok"), "ok", None, ""),
    ],
)
@pytest.mark.parametrize("known", ["", "murli", "agent-spec-2"])
def test_murli_answers_of_every_language(
    written: bytes, state: str, data: Any, message: str, known: str
) -> None:
    """Keys may stand in any order, and some be missing: the answer is the same."""
    found = understood(written, 0, known)
    assert (found.contract, found.state, found.data, found.message) == (
        "murli",
        state,
        data,
        message,
    )
    assert (found.problem, found.oddities, found.items) == (None, (), ())


MISSING_REGION = "the --region flag is required"


@pytest.mark.parametrize(
    ("written", "code", "expected"),
    [
        (DOCS_ERROR, 5, ("not_found", "not_found", "index file does not exist", False, None)),
        (GO_ERROR, 1, ("user_error", "invalid_input", MISSING_REGION, False, None)),
        (OLD_PYTHON_ERROR, 7, ("conflict", "conflict", "It exists.", False, None)),
        (RUST_ERROR, 8, ("rate_limited", "rate_limited", "Slow down.", True, 250)),
    ],
)
def test_murli_errors_of_every_language(written: bytes, code: int, expected: Any) -> None:
    """An error is on stderr, with or without its status; at the end of a stream on stdout too."""
    for stdout, stderr in ((b"", written), (written, b""), (written, written)):
        found = understood(stdout, code, stderr=stderr)
        problem = found.problem
        assert (found.contract, found.state, found.oddities) == ("murli", "failed", ())
        assert problem is not None
        assert expected == (
            problem.kind,
            problem.code,
            problem.message,
            problem.retryable,
            problem.retry_after_ms,
        )


def test_murli_what_an_error_knows() -> None:
    """Advice, field and accepted values are kept."""
    problem = understood(b"", 5, stderr=DOCS_ERROR).problem
    assert problem is not None
    assert (problem.field, problem.valid_values) == ("index", ("a", "2"))
    assert problem.suggestion == "Run `mytool index build` to create the index."


def test_murli_the_golden_bytes_of_go() -> None:
    """Success, plan and error exactly as the published fixtures have them."""
    assert understood(GO_SUCCESS).ok and not understood(GO_PLAN).executed
    failed = understood(b"", 1, stderr=GO_ERROR)
    assert failed.problem is not None and failed.problem.suggestion == "Pass --region us-east-1"
    versioned = GO_SUCCESS.replace(b'"ok"\n}', b'"ok",\n  "tool_version": "2.1"\n}')
    assert understood(versioned).meta == {"schema_version": "1.0", "tool_version": "2.1"}


def test_an_error_stands_behind_logs_and_before_them() -> None:
    """Logs, warnings and words stand around the error on stderr; it is still found."""
    log = b'{"ts":"2026-06-03T15:53:11Z","level":"info","msg":"Scanning"}\n'
    words = b"warning: {not json\nTraceback (most recent call last):\n"
    for error in (GO_ERROR, DOCS_ERROR.replace(b'"code": 5', b'"code": 1'), murli_error(1)):
        for stderr in (log + error, words + log * 20 + error + log * 20 + words, words + error):
            found = understood(b"", 1, "murli", stderr=stderr)
            assert found.problem is not None and found.problem.kind == "user_error"
    family = log + envelope(None, refusal("NOT_FOUND"), meta={"exit_code": 5}) + log
    assert understood(b"", 5, stderr=family).contract == "agent-spec-2"


def test_the_last_of_several_errors_counts() -> None:
    """What a tool passes on from another stands before its own error."""
    stderr = murli_error(5, "not_found") + b"so:\n" + murli_error(2, "tool_error")
    found = understood(b"", 2, stderr=stderr)
    assert found.problem is not None and found.problem.code == "tool_error"


def test_a_success_on_stderr_is_somebody_elses() -> None:
    """What a child of the tool answered is not the tool's answer."""
    for stderr in (GO_SUCCESS, envelope({"child": 1}), DOCS_PLAN, b'{"_summary": true}\n'):
        found = understood(b"hello\n", 0, stderr=stderr)
        assert (found.state, found.data) == ("plain", "hello\n")


def test_a_success_on_stdout_does_not_hide_the_error_on_stderr() -> None:
    """The process failed; why, stderr says."""
    for stdout in (GO_SUCCESS, envelope({"n": 1}), DOCS_PLAN, b'{"_summary": true, "_count": 0}\n'):
        found = understood(stdout, 5, stderr=DOCS_ERROR)
        assert found.problem is not None and found.problem.code == "not_found"
        assert "stdout reports a success, stderr a failure" in found.oddities
    assert understood(GO_SUCCESS, 0, stderr=DOCS_ERROR).ok


# -- the family --------------------------------------------------------------------------------

SEED_SAMPLES = [
    (
        0,
        {"ok": True, "data": {"id": "deploy-42"}, "error": None, "warnings": [],
         "meta": {"duration_ms": 340, "request_id": "req_abc123"}},
        ("ok", None, None, None),
    ),
    (
        3,
        {"ok": False, "data": None, "error": {
            "code": "INVALID_ENVIRONMENT", "message": "Unknown target", "retryable": True,
            "phase": "validation", "suggestion": "Valid environments: prod, staging, dev"},
         "warnings": [], "meta": {"duration_ms": 5}},
        ("failed", "user_error", True, None),
    ),
    (
        8,
        {"ok": False, "data": None, "error": {
            "code": "TOKEN_EXPIRED", "message": "Access token has expired", "retryable": True,
            "retry_after": 0}, "warnings": [], "meta": {"duration_ms": 4}},
        ("failed", "auth_required", True, 0),
    ),
    (
        11,
        {"ok": False, "data": None, "error": {
            "code": "RATE_LIMIT_EXCEEDED", "message": "API rate limit reached", "retryable": True,
            "retry_after": 30}, "warnings": [], "meta": {"duration_ms": 6}},
        ("failed", "rate_limited", True, 30_000),
    ),
]  # fmt: skip


@pytest.mark.parametrize(("exit_code", "document", "expected"), SEED_SAMPLES)
def test_the_samples_of_the_first_revision(
    exit_code: int, document: dict[str, Any], expected: tuple[Any, ...]
) -> None:
    """The published samples are recognised for what they are; seconds become milliseconds."""
    for written in (json.dumps(document), json.dumps(document, indent=2, sort_keys=True)):
        found = understood(written.encode(), exit_code)
        problem = found.problem
        assert found.contract == "response"
        facts = [getattr(problem, name, None) for name in ("kind", "retryable", "retry_after_ms")]
        assert (found.state, *facts) == expected


@pytest.mark.parametrize(
    ("exit_code", "error", "meta", "warnings", "expected"),
    [
        (0, None, {"exit_code": 0}, [], "agent-spec-2"),
        (0, None, {"pagination": {}}, [], "agent-spec-2"),
        (0, None, {}, [{"code": "SLOW", "message": "m"}], "agent-spec-2"),
        (0, None, {"timestamp": "2026-01-01T00:00:00Z"}, [], "agent-spec-1.6"),
        (0, None, {}, ["Slow."], "response"),
        (4, {"fix_required": "Do."}, {}, [], "agent-spec-1.6"),
        (4, {"retry_strategy": "immediate"}, {}, [], "agent-spec-1.6"),
        (11, {"retry_after_ms": 5}, {}, [], "agent-spec-1.6"),
        (11, {"retry_after": 5}, {}, [], "response"),
        (2, {"code": "ARG_ERROR"}, {}, [], "agent-spec-1.6"),
        (3, {"code": "ARG_ERROR"}, {}, [], "response"),
        (3, {"code": "PARTIAL_FAILURE"}, {}, [], "agent-spec-1.6"),
        (2, {"code": "PARTIAL_FAILURE"}, {}, [], "response"),
        (2, {"phase": "validation"}, {}, [], "agent-spec-1.6"),
        (3, {"phase": "validation"}, {}, [], "response"),
        (3, {"phase": "execution"}, {}, [], "agent-spec-1.6"),
        (12, {}, {}, [], "agent-spec-1.6"),
    ],
)
def test_a_revision_is_known_by_what_only_it_has(
    exit_code: int, error: Any, meta: Any, warnings: Any, expected: str
) -> None:
    """Keys, units and numbers tell the revisions apart; the caller's word is worth more."""
    told = None if error is None else {"code": "X", "message": "m", **error}
    stdout = envelope({} if told is None else None, told, meta=meta, warnings=warnings)
    assert understood(stdout, exit_code).contract == expected
    for known in FAMILY:
        assert understood(stdout, exit_code, known).contract == known


OUTCOMES: list[tuple[Success | Plan | Partial | Failure, str, str]] = [
    (Success("Fine.", {"n": 1}), "ok", ""),
    (Success("Fine.", [1, 2]), "ok", ""),
    (Plan("Would.", {"count": 3}), "plan", ""),
    (Partial("Some.", {"failed": [3]}), "", "partial"),
    *(
        (Failure(AgentError.of_kind(kind, "It failed.")), "failed", kind)
        for kind in (
            "user_error",
            "tool_error",
            "not_found",
            "conflict",
            "permission_denied",
            "auth_required",
            "payment_required",
            "timeout",
            "rate_limited",
            "unavailable",
            "precondition",
            "cancelled",
        )
    ),
]


@pytest.mark.parametrize("contract", CONTRACTS)
@pytest.mark.parametrize("pretty", [True, False])
def test_what_our_own_tools_say_is_understood(contract: str, pretty: bool) -> None:
    """Every outcome goes out by the contract and comes in again as what it was."""
    for outcome, state, kind in OUTCOMES:
        answer = respond_in(contract)(outcome, Facts("1.0", 5))
        written = dumps(answer.document, pretty=pretty).encode()
        streams = (written, b"") if answer.stream == "stdout" else (b"", written)
        found = read(*streams, answer.exit_code, contract)
        assert found.contract == contract and not found.oddities
        assert not state or found.state == state
        assert (found.problem.kind if found.problem else "") == kind, (contract, outcome)
        if not kind:
            assert found.data == (outcome.plan if isinstance(outcome, Plan) else outcome.result)  # type: ignore[union-attr]


# -- what contradicts itself, or is not all there ----------------------------------------------


def test_an_envelope_without_ok_is_still_one() -> None:
    """The exit code tells what ``ok`` would."""
    for ok in ({}, {"ok": None}, {"ok": "yes"}):
        document: dict[str, Any] = {"data": {"n": 1}, "error": None, "warnings": [], "meta": {}}
        document |= ok
        found = understood(json.dumps(document).encode(), 0)
        assert (found.data, found.ok, "ok missing" in found.oddities) == ({"n": 1}, True, True)
        assert not understood(json.dumps(document).encode(), 5).ok
        document |= {"error": refusal(), "data": None}
        assert not understood(json.dumps(document).encode(), 0).ok


def test_an_error_beside_a_success_is_told() -> None:
    """Exit code and ``ok`` agree that it worked: it did, and the error is odd."""
    found = understood(envelope({"n": 1}, refusal(), ok=True), 0)
    assert found.ok and "an error stands beside a success" in found.oddities


@pytest.mark.parametrize("contract", FAMILY)
def test_values_of_the_wrong_type_do_no_harm(contract: str) -> None:
    """Anything may stand where something else belongs; what is unclear counts as the worse."""
    odd: list[Any] = [None, True, 5, -1.5, "x", [], [[]], {}, {"a": 1}, 10**400]
    keys = ("code", "message", "retryable", "retry_after", "retry_after_ms", "retry_strategy")
    more = ("phase", "suggestion", "fix_required", "fix_command", "redirect", "context")
    for value in odd:
        for key in (*keys, *more):
            for exit_code in (1, 11, 13):
                decided(understood(envelope(None, {**refusal(), key: value}), exit_code, contract))
        for key in ("warnings", "meta", "error", "data"):
            document = {**json.loads(envelope({})), key: value}
            decided(understood(json.dumps(document).encode(), 0, contract))
        meta = dict.fromkeys(("exit_code", "cursor", "pagination", "items_emitted"), value)
        decided(understood(envelope({}, meta=meta), 0, contract))
    for truthy in (1, "yes", [0]):
        assert not understood(envelope([1], meta={"truncated": truthy}), 0, contract).is_usable
        pagination = {"has_more": truthy}
        assert not understood(envelope([1], meta={"pagination": pagination}), 0, contract).is_usable


def test_a_murli_document_of_wrong_types_does_no_harm() -> None:
    """The same, where the keys are murli's."""
    odd: list[Any] = [None, True, 5, -1.5, "x", [], [[]], {}, {"a": 1}, 10**400]
    for value in odd:
        for key in ("status", "code", "error", "message", "recoverable", "retry_after_ms", "page"):
            document = {**json.loads(murli_error(1)), key: value, "valid_values": [value]}
            decided(understood(b"", 1, stderr=json.dumps(document).encode()))
            decided(understood(json.dumps({**document, "status": "ok"}).encode(), 0))
            decided(understood(json.dumps(document).encode(), 0))


@pytest.mark.parametrize("known", ["", *CONTRACTS])
@pytest.mark.parametrize(
    "written",
    [
        envelope({"n": [1, 2, 3]})[:-9],
        envelope({"n": [1, 2, 3]})[:20],
        DOCS_SUCCESS[:-20],
        GO_SUCCESS[:30],
        RUST_SUCCESS[:-4],
        b'{"a": 1}\n' + envelope({})[:30],
        b"Working ...\n" + GO_SUCCESS[:40],
    ],
)
def test_a_document_that_breaks_off_is_malformed(written: bytes, known: str) -> None:
    """Half an envelope is nobody's text, and not acted on."""
    for exit_code in (0, 1):
        found = understood(written, exit_code, known)
        assert (found.state, found.is_usable) == ("malformed", False)
        assert isinstance(decided(found), Escalate)


@pytest.mark.parametrize("known", CONTRACTS)
@pytest.mark.parametrize("written", [b"", b"\n\n", b"hello\n", b"[1, 2]\n", b"null", b"{}", b"\0"])
def test_a_tool_with_a_contract_owes_a_document(written: bytes, known: str) -> None:
    """Where an answer is due, silence and text are malformed, at any exit code."""
    for exit_code in (0, 1, 11):
        found = understood(written, exit_code, known)
        assert found.state == "malformed" and isinstance(decided(found), Escalate)
    killed = understood(written, -9, known)
    assert killed.problem is not None
    assert (killed.state, killed.problem.kind) == ("failed", "cancelled")
    assert killed.problem.message == "It ended by signal 9."


# -- streams -----------------------------------------------------------------------------------

ITEMS = b'{"event":"chunk","index":0}\n{"event":"chunk","index":1}\n'
BESIDE = (
    b'{"event":"progress","stage":"read","current":1,"total":3,"percent":33}\n'
    b'{"stage":"embed","current":2,"total":3,"percent":66,"eta_ms":4200}\n'
    b'{"status":"running","heartbeat":true,"elapsed_ms":10000}\n'
)


@pytest.mark.parametrize(
    "end",
    [
        RUST_SUCCESS,
        GO_SUCCESS,  # Go closes a stream with a document of many lines
        DOCS_SUCCESS,
        envelope([1]),
        json.dumps(json.loads(envelope([1])), indent=2).encode(),
    ],
)
def test_items_are_told_from_what_is_said_beside_them(end: bytes) -> None:
    """Progress, with or without its mark, and heartbeats are no items, wherever they stand."""
    for stdout in (
        ITEMS + BESIDE + end,
        BESIDE + ITEMS + end,
        BESIDE + ITEMS + end + b"\n" + BESIDE,
    ):
        for written in (stdout, stdout.replace(b"\n", b"\r\n")):
            found = understood(written)
            assert [item["index"] for item in found.items] == [0, 1]
            assert (found.ok, found.oddities, decided(found)) == (True, (), Done())


@pytest.mark.parametrize("pretty", [False, True])
def test_items_may_be_any_value(pretty: bool) -> None:
    """Where every line is JSON any value is an item; a number among words is none."""
    values = [1, "two", [3], None, True]
    end = {"status": "ok", "schema_version": "1.0", "result": {"count": 5}}
    written = b"".join(json.dumps(each).encode() + b"\n" for each in values)
    written += json.dumps(end, indent=2 if pretty else None).encode() + b"\n"
    found = read(written, b"", 0)
    assert (found.items, found.oddities, found.data) == (tuple(values), (), {"count": 5})
    noisy = read(b"Working\n" + written, b"", 0)
    assert noisy.items == () and "6 lines" in noisy.oddities[0]
    for text, expected in ((written, values), (b"Working\n" + written, [])):
        stream = Items(Limits(), "")
        stream.feed(text)
        stream.end()
        assert stream.take() == expected and stream.terminal == end


def test_progress_alone_is_no_stream() -> None:
    """A program that could not be run is told so, whatever progress was told before."""
    progress = b'{"event":"progress","current":1}\n'
    for known in ("murli", "response"):
        assert read(progress * 2, b"", 126, known).state == read(progress, b"", 126, known).state


def test_items_that_look_like_logs_are_items() -> None:
    """A tool whose results are log entries loses none of them."""
    log = b'{"ts":"2026-06-03T15:53:11Z","level":"info","msg":"Scanning"}\n'
    found = understood(log + log + RUST_SUCCESS)
    assert len(found.items) == 2 and found.ok


@pytest.mark.parametrize("known", ["", *CONTRACTS])
def test_a_stream_without_an_end_is_malformed(known: str) -> None:
    """Without its last line nobody knows whether all came."""
    for stdout in (ITEMS, BESIDE + ITEMS, ITEMS + BESIDE, ITEMS + b'{"event":"ch'):
        for exit_code in (0, 1):
            found = understood(stdout, exit_code, known)
            assert (found.state, found.is_usable) == ("malformed", False)
            assert [item["index"] for item in found.items] == [0, 1]


def test_items_behind_an_envelope_make_it_no_end() -> None:
    """What was taken for the end was none."""
    found = understood(envelope({}) + ITEMS)
    assert found.state == "malformed" and len(found.items) == 2


def test_two_envelopes_are_one_too_many() -> None:
    """Nobody knows which of them counts, so neither does; read as a stream or as a whole."""
    for stdout in (envelope({"n": 1}) + envelope({"n": 2}), DOCS_SUCCESS + RUST_SUCCESS):
        found = understood(stdout)
        assert (found.state, found.data, found.is_usable) == ("malformed", None, False)
        assert "there is more than one envelope on stdout" in found.oddities
        items = Items(Limits())
        items.feed(stdout)
        items.end()
        assert items.fault == "there is more than one envelope on stdout"


TWICE = [
    (b'{"ok": false, "ok": true, "data": 1, "error": null, "warnings": [], "meta": {}}\n', b""),
    (b'{"ok": true, "data": {"a": {"b": 1, "b": 2}}, "error": null, "meta": {}}\n', b""),
    (b'{"status": "error", "status": "ok", "schema_version": "1.0", "result": 1}\n', b""),
    (b'{"a": 1, "a": 2}\n{"status": "ok", "schema_version": "1.0", "result": 1}\n', b""),
    (b"", b'{"code": 1, "code": 8, "error": "e", "message": "m", "schema_version": "1.0"}\n'),
]


@pytest.mark.parametrize(("stdout", "stderr"), TWICE)
@pytest.mark.parametrize("contract", ["", "murli", "agent-spec-2"])
def test_a_key_that_stands_twice_makes_an_answer_malformed(
    stdout: bytes, stderr: bytes, contract: str
) -> None:
    """What one reader takes for a success is a failure for the next: nobody acts on it."""
    found = understood(stdout, 8 if stderr else 0, contract, stderr=stderr)
    assert (found.state, found.ok, found.oddities) == (
        "malformed",
        False,
        ("a document has the same key twice",),
    )
    items = Items(Limits(), contract)
    items.feed(stdout)
    items.end()
    assert items.fault or not stdout


def test_a_long_answer_with_a_proper_end_is_whole() -> None:
    """There is no number of lines above which a stream has no end."""
    stdout = b'{"n": 1}\n' * 120_000 + b'{"_summary": true, "_count": 120000}\n'
    found = understood(stdout)
    assert (found.state, len(found.items), found.is_usable) == ("ok", 120_000, True)


def test_text_of_a_plain_tool_with_a_key_twice_stays_text() -> None:
    """A tool without a contract breaks none; what its JSON means nobody knows."""
    found = understood(b'{"a": 1, "a": 2}\n')
    assert (found.state, found.data) == ("plain", '{"a": 1, "a": 2}\n')


def test_a_bare_summary_ends_a_stream() -> None:
    """The short form of the last line; how many there were is compared."""
    found = understood(ITEMS + b'{"_summary": true, "_count": 2}\n')
    assert (found.ok, len(found.items), found.is_usable) == (True, 2, True)
    short = understood(ITEMS + b'{"_summary": true, "_count": 3}\n')
    assert (short.is_usable, decided(short)) == (
        False,
        Stop("The answer is not the whole: 2 of 3.", "Narrow the call."),
    )
    assert not understood(ITEMS + b'{"_summary": true, "_count": 2}\n', 12).ok


def test_a_stream_may_end_with_an_error() -> None:
    """On stdout as its last line, on stderr, or both; the items before it are kept."""
    for stdout, stderr in (
        (ITEMS + RUST_ERROR, b""),
        (ITEMS, RUST_ERROR),
        (ITEMS + RUST_ERROR, RUST_ERROR),
        (ITEMS + envelope(None, refusal(), meta={"exit_code": 11}), b""),
    ):
        found = understood(stdout, 11 if b'"ok"' in stdout else 8, stderr=stderr)
        assert found.problem is not None and found.problem.kind == "rate_limited"
        assert len(found.items) == 2


def test_noise_is_counted_and_left_out() -> None:
    """Lines that are no documents do not spoil the others, and are told."""
    noise = b"Loading model\n[INFO] {\n{broken\n"
    for stdout in (noise + ITEMS + envelope({}), ITEMS + noise + GO_SUCCESS, GO_SUCCESS + noise):
        found = understood(stdout)
        assert found.ok and "3 lines on stdout are not JSON" in found.oddities
        assert len(found.items) == 2 * (ITEMS in stdout)


# -- bytes -------------------------------------------------------------------------------------


def test_a_byte_order_mark_is_nothing() -> None:
    """Some systems put one before every text; the first line counts all the same."""
    for stdout in (DOCS_SUCCESS, envelope([1]), ITEMS + RUST_SUCCESS):
        found = understood(b"\xef\xbb\xbf" + stdout)
        assert found.ok and found.oddities == ()
        assert len(found.items) == 2 * (ITEMS in stdout)


def test_windows_ends_its_lines_in_its_own_way() -> None:
    """CR LF is a line's end too, on either stream."""
    for written in (DOCS_SUCCESS, envelope([1]), ITEMS + GO_SUCCESS):
        found = understood(written.replace(b"\n", b"\r\n"))
        assert found.ok and found.oddities == ()
    failed = understood(b"", 1, stderr=(b"log\n" + GO_ERROR).replace(b"\n", b"\r\n"))
    assert failed.problem is not None and failed.problem.code == "invalid_input"


@pytest.mark.parametrize("bad", [b"\xff", b"\xc3", b"\xed\xa0", b"\xf5\x80"])
def test_bytes_that_are_no_text_do_not_hide_the_answer(bad: bytes) -> None:
    """They are replaced, and told; what stands behind them is found."""
    line = envelope({"name": "caf?"}).replace(b"?", bad)
    spread = GO_SUCCESS.replace(b"value", b"v" + bad)
    for stdout in (line, spread, ITEMS + spread, ITEMS + line):
        found = understood(stdout)
        assert (found.state, found.ok) == ("ok", True)
        assert "stdout is not UTF-8" in found.oddities
    assert "\ufffd" in str(understood(line).data)
    error = understood(b"", 1, stderr=bad + b"\n" + GO_ERROR.replace(b"region", bad))
    assert error.problem is not None and error.problem.code == "invalid_input"


def test_numbers_that_are_none_are_read_as_what_they_are() -> None:
    """NaN and infinities are not JSON; whoever writes them is understood, and believed nothing."""
    found = understood(b'{"ok":true,"data":{"x":NaN},"error":null,"warnings":[],"meta":{}}')
    assert found.ok and isinstance(found.data, dict) and math.isnan(found.data["x"])
    for delay in ("NaN", "Infinity", "-Infinity", "1e999"):
        stdout = envelope(None, refusal(retryable=True, retry_after_ms=7), meta={"exit_code": 12})
        found = understood(stdout.replace(b": 7", b": " + delay.encode()), 12)
        assert isinstance(decided(found), Stop) or decided(found).delay_ms == 1000  # type: ignore[union-attr]


def test_numbers_of_any_size_are_survived() -> None:
    """What no clock could wait for is too long; what no program can write breaks the document."""
    for digits in (20, 400, 4299):
        found = understood(envelope(None, refusal(retry_after=10**digits)), 11, "response")
        assert isinstance(decided(found), Stop)
        numbered = b'{"_seq": -%b}\n{"_seq": %b}\n' % ((b"9" * digits,) * 2)
        understood(numbered + envelope({}, meta={"items_emitted": 10**digits}))
    endless = b'{"ok": true, "data": %b, "error": null, "warnings": [], "meta": {}}' % (b"9" * 5000)
    assert understood(endless).state == "malformed"


@pytest.mark.parametrize("depth", [500, 985, 5_000, 100_000])
def test_nesting_of_any_depth_is_survived(depth: int) -> None:
    """As deep as Python goes it is data; deeper, the answer is malformed."""
    deep = b"[" * depth + b"]" * depth
    for stdout in (
        b'{"ok":true,"data":%b,"error":null,"warnings":[],"meta":{}}' % deep,
        b'{"status":"ok","schema_version":"1","result":%b}' % deep,
    ):
        found = understood(stdout)
        assert found.state in ("ok", "malformed")
        decided(found)
    for key in (b"valid_values", b"status", b"error", b"code"):
        stderr = b'{"code":1,"error":"e","message":"m","schema_version":"1","%b":%b}' % (key, deep)
        decided(understood(b"", 1, stderr=stderr))


def test_what_is_written_to_be_slow_is_read_quickly() -> None:
    """A million opened documents, on either stream, take no more than a moment."""
    began = time.monotonic()
    for evil in (b"{\n" * 500_000, b'{"a":\n' * 200_000, b"[" * 1_000_000, b'{"ok":{' * 150_000):
        for stdout, stderr in ((evil, b""), (b"", evil), (evil + envelope({}), evil)):
            decided(understood(stdout, 1, stderr=stderr))
    assert time.monotonic() - began < 20


# -- tools that keep no contract ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "data"),
    [
        (b"", ""),
        (b"hello\n", "hello\n"),
        (b'{"a": 1}\n', {"a": 1}),
        (b'{"status": "ok", "uptime": 5}', {"status": "ok", "uptime": 5}),
        (b'{"status": [], "schema_version": "1"}', {"status": [], "schema_version": "1"}),
        (b'{"ok": true, "channel": "x"}', {"ok": True, "channel": "x"}),
        (b'{"data": [], "errors": []}', {"data": [], "errors": []}),
        (b"[1, 2]", [1, 2]),
        (b"5", "5"),
        (b"{{ template }}", "{{ template }}"),
        (b'before\n{"message": "x"}\nbehind\n', 'before\n{"message": "x"}\nbehind\n'),
        (b"\xff\n", "\ufffd\n"),
    ],
)
def test_plain_tools_give_their_text_or_their_json(written: bytes, data: Any) -> None:
    """What is no envelope is data, and the exit code all there is to go by."""
    found = understood(written)
    assert (found.contract, found.state, found.data) == ("", "plain", data)
    assert decided(found) == Done()
    failed = understood(written, 3, stderr=b"first\nit broke\n")
    assert failed.problem is not None and failed.problem.message == "it broke"
    assert isinstance(decided(failed), Stop)


def test_trouble_while_reading_is_no_answer() -> None:
    """Who wrote too much is not believed, whatever could be read of it."""
    for contract in ("", "plain", *CONTRACTS):
        found = read(envelope({}), b"", 0, contract, "it wrote more than 1 MiB")
        assert (found.state, found.ok) == ("malformed", False)
        assert isinstance(decided(found), Escalate)


def test_a_stream_with_a_gap_or_a_mark_in_front() -> None:
    """An item behind a byte-order mark is an item, and one that is missing is missed."""
    items = Items(Limits())
    items.feed(b'\xef\xbb\xbf{"_seq": 1, "a": 1}\n{"_seq": 4, "a": 4}\n{"_seq": 5, "a": 5}\n')
    items.end()
    assert items.take() == [{"a": 1}, {"a": 4}, {"a": 5}]
    assert (items.count, items.oddities) == (3, ["items 2 to 3 are missing"])
