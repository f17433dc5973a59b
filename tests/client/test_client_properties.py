"""Whatever a tool writes: the client does not raise, has an end, and does nothing it must not."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from client_documents import CALL, CONTRACTS
from murli.client import (
    Decision,
    Done,
    Escalate,
    FetchNextPage,
    Limits,
    Memory,
    Policy,
    RefreshCredentials,
    Response,
    RetryAfter,
    RunInstead,
    Stop,
    decide,
    read,
)
from murli.client.own_calls import is_runnable, may_confirm
from murli.client.streaming import Items
from murli.client.stubs import module
from murli.wire.listing import from_description, from_manifest
from murli.wire.reading import read_stream
from murli.wire.response import STATES
from properties import examples

MANY = examples(60)
SOME = examples(30)

# -- what a tool may write ---------------------------------------------------------------------

words = st.one_of(st.sampled_from(["", "x", "deprecated", "\ud800", "\0", "é\n{"]), st.text())
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(min_value=10**300, max_value=10**4299),
    st.floats(),
    words,
)
anything = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(words, inner, max_size=3)),
    max_leaves=6,
)
commands = st.one_of(
    st.sampled_from(
        [
            "tool search tea",
            "tool query tea",
            "tool drop --force",
            "tool 'a b' --dry-run",
            "/usr/bin/tool x",
            "rm -rf /",
            "tool; rm x",
            "tool $(id)",
            "tool '",
            "sh -c tool",
            "tool --token=[REDACTED]",
            "tool",
            "",
        ]
    ),
    words,
)
names = st.sampled_from(
    [
        "ARG_ERROR", "GENERAL_ERROR", "PARTIAL_FAILURE", "NOT_FOUND", "TOKEN_EXPIRED",
        "TOKEN_INVALID", "CREDENTIALS_EXPIRED", "RATE_LIMITED", "UNAVAILABLE", "REDIRECTED",
        "CANCELLED", "INCOMPLETE", "DELEGATED_EXIT", "CONFIRMATION_REQUIRED", "PERSON_REQUIRED",
        "TIMEOUT", "LOCK_HELD", "OWN_CODE", "not_found", "unavailable", "rate_limited",
        "confirmation_required", "partial",
    ]
)  # fmt: skip


def maybe(values: dict[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[dict[str, Any]]:
    """Give objects that have some of the keys, now and then with a value that does not belong."""
    return st.fixed_dictionaries(
        {}, optional={key: st.one_of(value, value, anything) for key, value in values.items()}
    )


flags = st.sampled_from([True, False, None])
entries = maybe(
    {
        "name": words,
        "type": st.sampled_from(["[]" * 3000, "intSlice" * 900, "bool", "[][]int", "[]"]),
        "short": words,
        "enum": st.lists(scalars, max_size=2),
        "declared": flags,
        "read_only": flags,
        "idempotent": flags,
    }
)
delays = st.one_of(st.integers(-5, 400_000), st.floats(), st.integers(10**300, 10**4299))
redirects = maybe({"command": commands, "permanent": flags, "reason": words})
errors = maybe(
    {
        "code": names,
        "message": words,
        "retryable": flags,
        "retry_after": delays,
        "retry_after_ms": delays,
        "retry_strategy": st.sampled_from(["immediate", "linear_backoff", "exponential_backoff"]),
        "phase": st.sampled_from(["validation", "execution"]),
        "suggestion": words,
        "fix_required": words,
        "fix_command": commands,
        "redirect": redirects,
        "context": anything,
    }
)
exit_codes = st.one_of(
    st.integers(0, 15),
    st.sampled_from([None, 64, 69, 75, 79, 126, 127, 130, 137, 143, 255, 256, -9, -15, 10**9]),
)
pages = maybe(
    {
        "total": st.integers(0, 9),
        "returned": st.integers(0, 9),
        "truncated": flags,
        "has_more": flags,
        "next_cursor": st.one_of(st.none(), words),
    }
)
metas = maybe(
    {
        "duration_ms": st.integers(0, 9),
        "exit_code": exit_codes,
        "not_modified": flags,
        "truncated": flags,
        "cursor": words,
        "pagination": pages,
        "items_emitted": st.integers(0, 5),
        "dry_run": flags,
        "validation_only": flags,
        "help": flags,
        "_line": st.integers(1, 3),
        "truncation_hint": words,
    }
)
work = maybe(
    {
        "continue_command": commands,
        "cancel_command": commands,
        "progress": st.one_of(maybe({"done": st.one_of(st.integers(0, 5), st.floats())}), anything),
    }
)
warnings = st.lists(
    st.one_of(words, maybe({"code": words, "message": words, "context": anything})), max_size=2
)
envelopes = st.fixed_dictionaries(
    {"ok": st.booleans(), "data": st.one_of(st.none(), work, anything), "meta": metas},
    optional={
        "error": st.one_of(st.none(), errors, errors, anything),
        "warnings": st.one_of(warnings, anything),
        "pagination": pages,
    },
)
murli_documents = st.fixed_dictionaries(
    {
        "status": st.sampled_from(["ok", "plan", "partial", "error"]),
        "schema_version": st.just("1.0"),
    },
    optional={
        "code": st.integers(0, 12),
        "error": st.one_of(names, anything),
        "message": words,
        "recoverable": flags,
        "retry_after_ms": delays,
        "suggestion": words,
        "valid_values": anything,
        "result": anything,
        "plan": anything,
        "page": st.one_of(pages, anything),
        "not_modified": flags,
    },
)
items = st.one_of(
    maybe({"_seq": st.integers(0, 4), "event": words, "heartbeat": flags}),
    st.just({"event": "progress", "current": 1}),
    st.just({"current": 1, "total": 2}),
    st.just({"_summary": True, "_count": 1}),
)
documents = st.one_of(envelopes, envelopes, murli_documents, items)


@st.composite
def written(draw: st.DrawFn) -> bytes:
    """Give the bytes of one of the streams: documents, noise, and what is cut off."""
    parts = []
    for _ in range(draw(st.integers(0, 3))):
        if draw(st.integers(0, 5)):
            indent = draw(st.sampled_from([None, None, 2]))
            parts.append(json.dumps(draw(documents), indent=indent).encode())
        else:
            parts.append(draw(st.one_of(st.binary(max_size=12), st.just(b"{"), st.just(b"log"))))
    text = draw(st.sampled_from([b"\n", b"\n", b"\r\n"])).join([*parts, b""])
    if draw(st.integers(0, 9)) == 0:
        text = text[: draw(st.integers(0, len(text)))]
    return text


contracts = st.sampled_from(["", "", "plain", *CONTRACTS])
responses: st.SearchStrategy[Response[Any]] = st.builds(
    lambda out, err, code, contract, argv: read(out, err, code, contract).with_call(argv, 1),
    written(),
    st.one_of(st.just(b""), written()),
    exit_codes,
    contracts,
    st.sampled_from([CALL, CALL, ("tool", "rm", "x", "--dry-run"), ("tool",), ()]),
)
policies = st.builds(
    Policy,
    max_retries=st.integers(0, 4),
    max_retries_in_all=st.integers(0, 8),
    max_continuations=st.integers(0, 6),
    first_delay_ms=st.integers(0, 5000),
    longest_delay_ms=st.integers(0, 400_000),
    rate_limit_delay_ms=st.integers(0, 400_000),
    jitter=st.floats(0, 1),
    confirm=st.booleans(),
    confirm_flag=st.sampled_from(["", "--sure"]),
    can_refresh=st.booleans(),
    follow_redirects=st.integers(0, 4),
    run_fixes=st.booleans(),
    stalled_continuations=st.integers(1, 4),
    retryable=st.dictionaries(st.integers(0, 255), st.booleans(), max_size=4),
)
memories = st.builds(
    Memory,
    retries=st.dictionaries(names, st.integers(0, 9), max_size=3),
    refreshed=st.booleans(),
    confirmed=st.booleans(),
    fixed=st.frozensets(names, max_size=2),
    redirects=st.integers(0, 9),
    seen_commands=st.frozensets(commands, max_size=2),
    progress=st.floats(),
    stalls=st.integers(0, 9),
    continuations=st.integers(0, 9),
    cancelled=st.booleans(),
)
GOES_ON = (RetryAfter, RunInstead, RefreshCredentials)


def driven(policy: Policy, answers: list[Response[Any]]) -> list[tuple[Response[Any], Decision]]:
    """Carry out what is decided, with the answers coming again and again, until there is an end."""
    most = policy.max_retries_in_all + policy.follow_redirects + policy.max_continuations + 4
    memory, taken = Memory(), []
    for turn in range(most + 2):
        response = answers[turn % len(answers)]
        decision = decide(policy, memory, response)
        taken.append((response, decision))
        if not isinstance(decision, GOES_ON):
            return taken
        memory = memory.after(response, decision)
    raise AssertionError(f"no end after {most} steps: {taken[-3:]}")


# -- what holds --------------------------------------------------------------------------------


@MANY
@given(written(), written(), exit_codes, contracts, policies, memories)
def test_nothing_raises(
    out: bytes, err: bytes, code: int | None, contract: str, policy: Policy, memory: Memory
) -> None:
    """Any bytes are read, anything read is decided about, and every answer can be looked at."""
    response = read(out, err, code, contract).with_call(CALL, 1)
    assert response.state in STATES and response.exit_code == code
    decision = decide(policy, memory, response)
    assert isinstance(decision, (*GOES_ON, Done, FetchNextPage, Stop, Escalate))
    memory.after(response, decision)
    assert (response.ok, response.executed) in ((True, True), (False, True), (False, False))
    assert not response.is_usable or response.ok
    assert all(each.is_deprecation in (True, False) for each in response.warnings)
    repr(decision).encode("utf-8", "replace")


@SOME
@given(st.binary(max_size=300), st.binary(max_size=300), exit_codes, contracts)
def test_any_bytes_are_an_answer(out: bytes, err: bytes, code: int | None, contract: str) -> None:
    """What is not text, and no document, is one of the states all the same."""
    response = read(out, err, code, contract)
    decide(Policy(), Memory(), response)
    assert response.state in STATES


@MANY
@given(policies, st.lists(responses, min_size=1, max_size=4))
def test_every_course_ends(policy: Policy, answers: list[Response[Any]]) -> None:
    """However the answers alternate, there is an end, after as many steps as the policy allows."""
    driven(policy, answers[:1])
    driven(policy, answers)


@SOME
@given(policies, st.lists(st.tuples(errors, exit_codes), min_size=1, max_size=5), st.data())
def test_every_course_ends_with_ever_new_codes(
    policy: Policy, shapes: list[tuple[dict[str, Any], int | None]], data: st.DataObject
) -> None:
    """A tool that has a new name for its error every time does not keep the client busy."""
    answers = []
    for number in range(60):
        error, code = shapes[number % len(shapes)]
        document = {"ok": False, "data": None, "error": {**error, "code": f"NEW_{number}"}}
        stdout = json.dumps({**document, "warnings": [], "meta": {}}).encode()
        answers.append(read(stdout, b"", code, "agent-spec-2").with_call(CALL, 1))
    driven(policy, answers)


@MANY
@given(policies, st.lists(responses, min_size=1, max_size=4))
def test_the_budget_is_kept(policy: Policy, answers: list[Response[Any]]) -> None:
    """No code is met with more retries than allowed, nor all of them together."""
    retries: Counter[str] = Counter()
    once: Counter[str] = Counter()
    for response, decision in driven(policy, answers):
        problem = response.problem
        if isinstance(decision, RetryAfter):
            assert problem is not None
            retries[problem.code or problem.kind] += 1
        once[getattr(decision, "why", type(decision).__name__)] += 1
    assert all(count <= policy.max_retries for count in retries.values())
    assert retries.total() <= policy.max_retries_in_all
    for name in ("fix", "confirmed", "cancel", "RefreshCredentials"):
        assert once[name] <= 1
    assert once["redirect"] <= policy.follow_redirects
    assert once["continue"] <= policy.max_continuations


@MANY
@given(responses, policies, memories)
def test_what_may_not_be_repeated_is_not(
    response: Response[Any], policy: Policy, memory: Memory
) -> None:
    """Not what says so, not what is half done, not what was ended from outside; nor by a fix."""
    problem = response.problem
    decision = decide(policy, memory, response)
    again = isinstance(decision, RetryAfter)
    if isinstance(decision, RunInstead) and decision.why == "fix":
        assert problem is not None and problem.kind != "timeout"
        again = True
    elif problem is not None and problem.retryable is False:
        assert not again
    if problem is None or problem.kind in ("partial", "cancelled", "malformed", "delegated"):
        assert not again
    if response.state == "malformed":
        assert isinstance(decision, Escalate)
    if isinstance(decision, RetryAfter) and problem is not None:
        # Nothing is declared here, so somebody has said that nothing was done.
        promised = problem.retryable is True and response.contract != "murli"
        known = problem.kind == "rate_limited" or problem.phase == "validation"
        assert promised or known or True in policy.retryable.values()


@SOME
@given(
    st.lists(maybe({"name": words, "flags": st.lists(entries), "safety": entries}), max_size=3),
    st.dictionaries(words, maybe({"flags": st.dictionaries(words, entries)}), max_size=3),
    st.lists(words, max_size=4),
)
def test_whatever_a_tool_lists_can_be_read(
    described: list[Any], listed: dict[str, Any], call: list[str]
) -> None:
    """Names, types and flags of any kind make a catalogue; it can be asked about any call."""
    for catalogue in (
        from_description({"name": "tool", "commands": described}),
        from_manifest({"commands": listed}, "agent-spec-2"),
    ):
        catalogue.called(call)
        if catalogue.may_repeat(call):
            command = catalogue.called(call)
            assert command is not None and command.may_repeat
        compile(module(catalogue, ["tool"]), "stubs", "exec")


@MANY
@given(envelopes, exit_codes, st.sampled_from(["response", "agent-spec-1.6", "agent-spec-2"]))
def test_the_words_of_the_document_are_kept(
    document: dict[str, Any], code: int | None, contract: str
) -> None:
    """Seen from the document: a no is a no, a part is a part, a failure is no success."""
    response = read(json.dumps(document).encode(), b"", code, contract).with_call(CALL, 1)
    decision = decide(Policy(retryable=dict.fromkeys(range(256), True)), Memory(), response)
    error = document.get("error")
    error = error if isinstance(error, dict) else {}
    meta = document["meta"] if isinstance(document["meta"], dict) else {}
    pagination = meta.get("pagination")
    pagination = pagination if isinstance(pagination, dict) else {}
    if error.get("retryable") is False:
        assert not isinstance(decision, RetryAfter)
    if code:
        assert not response.ok and not isinstance(decision, (Done, FetchNextPage))
    if contract != "response" and not document["ok"]:
        assert not response.ok and not isinstance(decision, (Done, FetchNextPage))
    partly = True in (
        meta.get("truncated"),
        pagination.get("truncated"),
        pagination.get("has_more"),
    )
    if partly and "_line" not in meta:  # each answer of a batch says for itself what it is
        assert not response.is_usable
        assert not isinstance(decision, Done) or decision.note == "not_modified"
    if "error" not in document and "_line" not in meta:
        assert isinstance(decision, Escalate)
    if code not in (13, None) and meta.get("exit_code") != 13:
        assert not isinstance(decision, RunInstead) or decision.why != "redirect"


@MANY
@given(responses, policies, memories)
def test_parts_are_not_taken_for_the_whole(
    response: Response[Any], policy: Policy, memory: Memory
) -> None:
    """Done is a success, all of it; only what was not modified has no data to be whole."""
    decision = decide(policy, memory, response)
    if isinstance(decision, Done):
        assert response.problem is None
        if response.part.is_whole:
            assert decision.note or response.is_usable
        else:
            assert decision.note == "not_modified" and response.data is None
            assert not response.is_usable
    if isinstance(decision, FetchNextPage):
        assert decision.cursor and response.problem is None


@MANY
@given(responses, policies, memories)
def test_only_the_tool_itself_is_run(
    response: Response[Any], policy: Policy, memory: Memory
) -> None:
    """No other program, no yes that the caller did not say, no deed instead of a preview."""
    decision = decide(policy, memory, response)
    if not isinstance(decision, RunInstead):
        return
    assert response.argv and decision.argv[0] == response.argv[0] == "tool"
    assert is_runnable(decision.argv)
    if not policy.confirm:
        assert decision.why != "confirmed"
        new = {*decision.argv} - {*response.argv}
        assert not any(may_confirm(word, shorts=None) for word in new)
    if "--dry-run" in response.argv:
        assert "--dry-run" in decision.argv


@MANY
@given(responses, policies, memories)
def test_a_delay_is_as_long_as_asked_and_no_longer_than_allowed(
    response: Response[Any], policy: Policy, memory: Memory
) -> None:
    """The tool says how long at least, the caller how long at most."""
    decision = decide(policy, memory, response)
    if isinstance(decision, RetryAfter):
        assert response.problem is not None
        assert (response.problem.retry_after_ms or 0) <= decision.delay_ms
        assert 0 <= decision.delay_ms <= policy.longest_delay_ms
        assert 0 <= decision.spread_ms <= decision.delay_ms


@SOME
@given(
    st.one_of(
        murli_documents.map(lambda each: {**each, "status": "plan"}),
        envelopes.map(lambda each: {**each, "meta": {"duration_ms": 1, "dry_run": True}}),
    ),
    exit_codes,
    contracts,
)
def test_a_plan_is_never_a_deed(document: dict[str, Any], code: int | None, contract: str) -> None:
    """A preview is no success, and was not carried out, whatever else the answer says."""
    if contract == "plain":
        return
    response = read(json.dumps(document).encode(), b"", code, contract).with_call(CALL, 1)
    decision = decide(Policy(), Memory(), response)
    assert not response.ok and not response.is_usable
    if response.state == "plan":
        assert not response.executed
        assert not isinstance(decision, Done) or decision.note in ("plan", "not_modified")
    else:
        assert not isinstance(decision, Done)


@MANY
@given(
    st.lists(st.one_of(documents, st.just("noise")), max_size=5),
    st.one_of(st.just(b""), written()),
    exit_codes,
    st.sampled_from(CONTRACTS),
    st.data(),
)
def test_a_stream_means_what_the_whole_means(
    parts: list[Any], err: bytes, code: int | None, contract: str, data: st.DataObject
) -> None:
    """Taken line by line or all at once, an answer leads to the same decision."""
    stdout = b"".join(
        (part.encode() if isinstance(part, str) else json.dumps(part).encode()) + b"\n"
        for part in parts
    )
    numbers = [part["_seq"] for part in parts if isinstance(part, dict) and "_seq" in part]
    if numbers:
        return  # gaps between numbers are found in another way
    whole = read(stdout, err, code, contract).with_call(CALL, 1)
    stream = Items(Limits(), contract)
    at = data.draw(st.integers(0, len(stdout)))
    stream.feed(stdout[:at])
    stream.feed(stdout[at:])
    stream.end()
    told = (stream.terminal, stream.count, err, code, contract, stream.fault)
    ended = read_stream(*told).with_call(CALL, 1)
    assert (ended.state, ended.part.is_whole) == (whole.state, whole.part.is_whole)
    assert type(decide(Policy(), Memory(), ended)) is type(decide(Policy(), Memory(), whole))
