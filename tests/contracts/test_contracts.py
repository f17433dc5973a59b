"""One outcome, four contracts: the number, the code, and what a caller may do next."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

import pytest

from murli import AgentError, Writer
from murli.contracts import CONTRACT_NAMES, Answer, Facts, respond_in
from murli.contracts.checks import check
from murli.errors import KINDS
from murli.failures.exceptions import as_agent_error
from murli.outcome import Failure, Notice, Partial, Plan, Success

if TYPE_CHECKING:
    from murli.outcome import Outcome

FAMILY = CONTRACT_NAMES[1:]

# What was raised, its number in each contract, the code of the family, and whether a caller
# may retry in each revision of the family.
TABLE = """
user_error        1   3   2   2  ARG_ERROR          yes no  no
tool_error        2   1   1   1  GENERAL_ERROR      no  no  no
uncaught          2   1   1   1  GENERAL_ERROR      no  no  no
partial           3   2   3   3  PARTIAL_FAILURE    no  no  no
precondition      1   4   4   4  PRECONDITION       yes no  no
not_found         5   5   5   5  NOT_FOUND          no  no  no
conflict          7   6   6   6  CONFLICT           no  no  no
permission_denied 6   7   7   7  PERMISSION_DENIED  no  no  no
auth_required     6   8   8   8  TOKEN_MISSING      yes no  no
payment_required  6   9   9   9  PAYMENT_REQUIRED   yes no  no
timeout           4  10  10  10  TIMEOUT            yes no  no
rate_limited      8  11  11  11  RATE_LIMITED       yes yes yes
unavailable       2  12  12  12  UNAVAILABLE        yes yes yes
redirected        1  13  13  13  REDIRECTED         yes no  no
cancelled         9 130 130 130  CANCELLED          no  no  no
SIGINT            9 130 130 130  CANCELLED          no  no  no
SIGTERM           9 143 143 143  CANCELLED          no  no  no
incomplete        3   2   3  14  INCOMPLETE         no  no  no
"""
ROWS = {words[0]: words[1:] for words in map(str.split, TABLE.strip().splitlines())}


def raised(name: str) -> AgentError:
    if name == "uncaught":
        return as_agent_error(ValueError("m"))
    if name.startswith("SIG"):
        return AgentError.cancelled(signal=name)
    extra = ("tool new",) if name == "redirected" else ()
    error: AgentError = getattr(AgentError, name)("m", *extra)
    return error


def say(outcome: Outcome, contract: str, **facts: Any) -> Answer:
    answer = respond_in(contract)(outcome, Facts(**facts))
    check(contract, answer)
    return answer


def detail(error: AgentError, contract: str, **failure: Any) -> dict[str, Any]:
    said: dict[str, Any] = say(Failure(error, **failure), contract).document["error"]
    return said


@pytest.mark.parametrize("contract", CONTRACT_NAMES)
@pytest.mark.parametrize("name", ROWS)
def test_one_raise_four_numbers(name: str, contract: str) -> None:
    """What was raised has its own number, and its own word, in every contract."""
    error = raised(name)
    *numbers, code = ROWS[name][:5]
    answer = say(Failure(error), contract)
    assert answer.exit_code == int(numbers[CONTRACT_NAMES.index(contract)])
    if contract == "murli":
        word = "execution_error" if name == "uncaught" else error.kind
        assert (answer.document["error"], answer.stream) == (word, "stderr")
    else:
        assert (answer.document["error"]["code"], answer.stream) == (code, "stdout")


def test_the_table_knows_every_kind() -> None:
    """No kind of error is left out of the table above."""
    assert {raised(name).kind for name in ROWS} == set(KINDS)


@pytest.mark.parametrize("contract", FAMILY)
@pytest.mark.parametrize("name", ROWS)
def test_retry_and_fix_exclude_each_other(name: str, contract: str) -> None:
    """Each revision says whether to retry; a delay goes with yes, a fix with no."""
    error = raised(name)
    error.retry_after_ms, error.fix_command = 5, "tool fix"
    said = detail(error, contract)
    retryable = ROWS[name][5 + FAMILY.index(contract)] == "yes"
    delay = "retry_after" if contract == "response" else "retry_after_ms"
    assert said["retryable"] is retryable
    assert (delay in said) is retryable
    assert ("fix_command" in said) is (not retryable and contract != "response")


@pytest.mark.parametrize(("wait", "seconds"), [(1, 1), (1000, 1), (1001, 2), (30_000, 30)])
@pytest.mark.parametrize("contract", FAMILY)
def test_delays_have_the_unit_of_their_revision(contract: str, wait: int, seconds: int) -> None:
    """The first revision waits whole seconds, never too few; later ones milliseconds."""
    said = detail(AgentError.rate_limited("m", retry_after_ms=wait), contract)
    delay = {name: value for name, value in said.items() if name.startswith("retry_after")}
    assert delay == (
        {"retry_after": seconds} if contract == "response" else {"retry_after_ms": wait}
    )


@pytest.mark.parametrize("contract", FAMILY)
def test_an_unknown_delay_is_not_invented(contract: str) -> None:
    """Without a known delay there is none; a service that is down asks for a back-off."""
    said = detail(AgentError.unavailable("m"), contract)
    assert not {"retry_after", "retry_after_ms"} & said.keys()
    assert said.get("retry_strategy") == (None if contract == "response" else "exponential_backoff")
    assert "retry_after_ms" not in detail(AgentError.timeout("m", retry_after_ms=5), "agent-spec-2")


@pytest.mark.parametrize("contract", FAMILY)
@pytest.mark.parametrize("kind", ["timeout", "tool_error"])
def test_the_author_knows_better(kind: str, contract: str) -> None:
    """Where retrying depends on the command, what its author said decides."""
    assert detail(AgentError.of_kind(kind, "m", recoverable=True), contract)["retryable"] is True
    assert detail(AgentError.of_kind(kind, "m", recoverable=False), contract)["retryable"] is False


@pytest.mark.parametrize("contract", FAMILY)
@pytest.mark.parametrize("kind", ["unavailable", "rate_limited"])
def test_an_author_can_rule_a_retry_out(kind: str, contract: str) -> None:
    """An error its author calls not recoverable is retryable in no revision."""
    assert detail(AgentError.of_kind(kind, "m", recoverable=False), contract)["retryable"] is False


@pytest.mark.parametrize("contract", FAMILY)
def test_a_held_lock_is_retryable(contract: str) -> None:
    """A precondition its author calls recoverable, such as a lock, passes without a fix."""
    error = AgentError.precondition("m", error_type="lock_held", recoverable=True)
    said = detail(error, contract)
    assert (said["code"], said["retryable"], "fix_required" in said) == ("LOCK_HELD", True, False)


@pytest.mark.parametrize("contract", FAMILY)
def test_partial_work_is_never_retryable(contract: str) -> None:
    """Half-done work is not to be repeated unchanged, whatever its author says."""
    assert detail(AgentError.partial("m", recoverable=True), contract)["retryable"] is False


@pytest.mark.parametrize(
    ("error", "fix"),
    [
        (AgentError.user_error("m", "Give --top 5."), "Give --top 5."),
        (AgentError.precondition("not logged in"), "not logged in"),
        (AgentError.user_error("m", "s", fix_required="a number"), "a number"),
        (AgentError.user_error(""), None),
        (AgentError.not_found("m", "s"), None),
        (AgentError.tool_error("m", "s"), None),
    ],
)
def test_only_what_a_caller_can_correct_has_a_fix(error: AgentError, fix: str | None) -> None:
    """A failure the caller can correct says what; the first revision has no word for it."""
    for contract in ("agent-spec-1.6", "agent-spec-2"):
        assert detail(error, contract).get("fix_required") == fix
    assert "fix_required" not in detail(error, "response")


def test_a_fix_command_stands_beside_the_fix() -> None:
    """The command that corrects a failure is given as it was written."""
    error = AgentError.precondition("no index", fix_command="riffle index build")
    assert detail(error, "agent-spec-1.6")["fix_command"] == "riffle index build"


@pytest.mark.parametrize("contract", FAMILY)
@pytest.mark.parametrize("reason", ["missing", "invalid", "expired"])
def test_why_credentials_failed_is_the_code(reason: str, contract: str) -> None:
    """The number says that credentials are needed, the code why; expired ones wait for nothing."""
    said = detail(AgentError.auth_required(reason=reason), contract)  # type: ignore[arg-type]
    assert said["code"] == f"TOKEN_{reason.upper()}"
    at_once = contract == "response" and reason == "expired"
    assert said.get("retry_after") == (0 if at_once else None)


@pytest.mark.parametrize("contract", FAMILY)
def test_a_redirect_names_the_command(contract: str) -> None:
    """A moved command says where it went; nothing else carries a redirect."""
    error = AgentError.redirected("moved", "tool users add", permanent=True, reason="renamed")
    said = detail(error, contract)
    assert said["redirect"] == {
        "command": "tool users add",
        "permanent": True,
        "reason": "renamed",
    }
    assert detail(AgentError.redirected("m", "x"), contract)["redirect"] == {
        "command": "x",
        "permanent": False,
    }
    assert "redirect" not in detail(AgentError.user_error("m", redirect_to="x"), contract)


def test_murli_has_the_replacement_in_words_and_as_a_field() -> None:
    """The suggestion is for whoever reads, the field for a program, which reads no prose."""
    moved = AgentError.redirected("moved", "tool users add", permanent=True, reason="renamed")
    document = say(Failure(moved), "murli").document
    assert document["suggestion"] == "Run `tool users add` instead."
    assert document["redirect"] == {
        "command": "tool users add",
        "permanent": True,
        "reason": "renamed",
    }
    other = say(Failure(AgentError.user_error("m", redirect_to="x")), "murli").document
    assert "redirect" not in other


def test_the_first_revision_is_closed() -> None:
    """An error of the first revision has its eight keys at most, whatever is known."""
    error = AgentError.redirected(
        "m", "x", suggestion="s", detail="d", doc_url="https://d", field="f", context={"a": 1}
    )
    error.valid_values, error.retry_after_ms, error.fix_command = ["v"], 1500, "c"
    assert list(detail(error, "response", phase="validation")) == [
        *("code", "message", "detail", "retryable", "retry_after"),
        *("phase", "suggestion", "redirect"),
    ]
    later = detail(error, "agent-spec-1.6")
    assert later["context"] == {"a": 1, "field": "f", "valid_values": ["v"]}
    assert (later["docs_url"], later["fix_command"]) == ("https://d", "c")


def test_plan_in_each_contract() -> None:
    """A plan is a success that says that nothing was done."""
    plan = Plan("Would delete", {"count": 3})
    murli = say(plan, "murli")
    assert (murli.exit_code, murli.document["status"]) == (0, "plan")
    assert murli.document["plan"] == {"count": 3} and "result" not in murli.document
    for contract in FAMILY:
        document = say(plan, contract).document
        assert (document["ok"], document["data"]) == (True, {"count": 3})
        assert document["meta"]["dry_run"] is True


def test_partial_in_each_contract() -> None:
    """What worked and what failed is told in every contract, where that contract has room."""
    partial = Partial("1 of 2 failed", {"failed": ["b"]})
    murli = say(partial, "murli")
    assert (murli.exit_code, murli.stream, murli.document["status"]) == (3, "stdout", "partial")
    assert murli.document["result"] == {"failed": ["b"]}
    first, later, last = (say(partial, contract) for contract in FAMILY)
    assert [answer.exit_code for answer in (first, later, last)] == [2, 3, 3]
    assert first.document["data"] is None
    assert json.loads(first.document["error"]["detail"]) == {"failed": ["b"]}
    assert later.document["data"] is None
    assert later.document["error"]["context"] == {"result": {"failed": ["b"]}}
    assert last.document["data"] == {"failed": ["b"]}
    for answer in (first, later, last):
        assert answer.document["error"]["code"] == "PARTIAL_FAILURE"
        assert answer.document["error"]["retryable"] is False


@pytest.mark.parametrize("contract", FAMILY)
def test_a_failure_without_payload_has_no_data(contract: str) -> None:
    """On failure data is null unless there is something to give, and nothing is said twice."""
    document = say(Partial("1 of 2 failed"), contract).document
    assert document["data"] is None
    assert "message" not in document["meta"]


def test_a_report_with_failures_is_a_failure_of_the_family() -> None:
    """Failed checks are a plan under murli, exit code 4 in revision 2 and 1 before it."""
    report = Success("1 check(s) failed", {"failed": 1}, attention=True)
    murli = say(report, "murli").document
    assert (murli["status"], murli["result"]) == ("plan", {"failed": 1})
    assert [say(report, contract).exit_code for contract in CONTRACT_NAMES] == [0, 1, 1, 4]
    assert say(report, "agent-spec-2").document["data"] == {"failed": 1}


def test_success_without_payload() -> None:
    """Nothing to give is null under murli and {} elsewhere, where the sentence is not lost."""
    assert say(Success("Done"), "murli").document["result"] is None
    for contract in FAMILY:
        document = say(Success("Done"), contract).document
        assert (document["data"], document["meta"]["message"]) == ({}, "Done")
        assert "message" not in say(Success("Done", {"a": 1}), contract).document["meta"]


@pytest.mark.parametrize(
    ("payload", "data"),
    [
        *(("two words", {"text": "two words"}), ("", {"text": ""}), (0, {"value": 0})),
        *((False, {"value": False}), (1.5, {"value": 1.5}), ([], []), ([1], [1]), ({}, {})),
    ],
)
def test_data_is_an_object_or_an_array(payload: Any, data: Any) -> None:
    """A scalar is wrapped where data must be an object or an array; murli takes any JSON."""
    assert say(Success("", payload), "murli").document["result"] == payload
    for contract in FAMILY:
        assert say(Success("", payload), contract).document["data"] == data


@pytest.mark.parametrize("status", [1, 3, 13, 42, 255])
def test_foreign_exit_statuses(status: int) -> None:
    """Another program's status passes through murli and means a general error elsewhere."""
    error = AgentError(status, "execution_error", "It ended.", kind="tool_error")
    assert [say(Failure(error), contract).exit_code for contract in CONTRACT_NAMES] == [
        status,
        1,
        1,
        1,
    ]
    assert detail(error, "agent-spec-2")["code"] == "GENERAL_ERROR"


@pytest.mark.parametrize(
    ("category", "code"),
    [
        ("index_missing", "INDEX_MISSING"),
        ("Rate-limit.exceeded", "RATE_LIMIT_EXCEEDED"),
        ("x", "E_X"),
        ("3d", "E_3D"),
        ("木工", "E_"),
    ],
)
def test_an_own_category_in_capitals(category: str, code: str) -> None:
    """An author's category is murli's error and, in capitals, the code of the others."""
    error = AgentError.not_found("m", error_type=category)
    assert say(Failure(error), "murli").document["error"] == category
    assert [detail(error, contract)["code"] for contract in FAMILY] == [code] * 3
    assert say(Failure(error), "response").exit_code == 5


def test_warnings_are_text_or_objects() -> None:
    """Warnings are text in the first revisions and objects with a code in the last."""
    notices = (Notice("deprecated_flag", "old", {"replacement": "--new"}), Notice("SLOW", "slow"))
    said = [say(Success(), contract, notices=notices).document["warnings"] for contract in FAMILY]
    assert said[:2] == [["old", "slow"]] * 2
    assert said[2] == [
        {"code": "DEPRECATED_FLAG", "message": "old", "context": {"replacement": "--new"}},
        {"code": "SLOW", "message": "slow"},
    ]


def test_meta_has_the_exit_code_in_revision_2_only() -> None:
    """Revision 2 repeats the exit code in meta, first; the others leave it to the process."""
    metas = [say(Failure(AgentError.conflict("m")), name, duration_ms=7) for name in FAMILY]
    assert [list(answer.document["meta"].items()) for answer in metas] == [
        [("duration_ms", 7)],
        [("duration_ms", 7)],
        [("exit_code", 6), ("duration_ms", 7)],
    ]


@pytest.mark.parametrize("contract", FAMILY)
def test_not_modified(contract: str) -> None:
    """A cache hit is the one success in which data and error are both null."""
    document = say(Success("", [1]), contract, meta={"not_modified": True}).document
    assert (document["ok"], document["data"], document["error"]) == (True, None, None)
    assert document["meta"]["not_modified"] is True


@pytest.mark.parametrize("contract", FAMILY)
def test_what_was_printed_is_not_lost(contract: str) -> None:
    """What a command had printed when it failed is told beside the error's own detail."""
    assert detail(AgentError.tool_error("m"), contract, output={"n": 1})["detail"] == '{"n":1}'
    both = detail(
        AgentError.tool_error("m", detail="upstream: 502"), contract, output="half a table"
    )
    assert "upstream: 502" in both["detail"]
    assert "half a table" in json.dumps(both)


@pytest.mark.parametrize("part", ["fix_required", "fix_command"])
def test_every_part_of_an_error_is_clean(part: str) -> None:
    """No part of an error carries terminal control or broken text into a document."""
    out = io.StringIO()
    writer = Writer(out, io.StringIO(), True, contract="agent-spec-1.6", tool_version="")
    with pytest.raises(SystemExit):
        details: Any = {part: "\x1b[31mred\udcff"}
        writer.write_error(AgentError.user_error("m", **details))
    assert json.loads(out.getvalue())["error"][part] == "red\ufffd"


def test_an_unknown_contract_is_refused() -> None:
    """A contract that does not exist is refused with the names of those that do."""
    with pytest.raises(ValueError, match="murli, response, agent-spec-"):
        respond_in("agent-spec-3")
