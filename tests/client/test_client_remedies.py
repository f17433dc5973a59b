"""The rules for what is done about an answer: wait, renew, follow, and how that is carried out."""

from __future__ import annotations

import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from client_documents import (
    CONTRACTS,
    FAMILY,
    LATER,
    READS,
    STEADY,
    course,
    decided,
    delays,
    envelope,
    failed,
    kinds,
    moved,
    murli_error,
    refusal,
    understood,
    unfinished,
)
from harness import TOOLS, environment
from murli.client import (
    Done,
    Escalate,
    Limits,
    Memory,
    Policy,
    RefreshCredentials,
    RetryAfter,
    RunInstead,
    Stop,
    Tool,
)

# -- retry ----------------------------------------------------------------------------------------


def test_without_a_delay_the_first_revision_repeats_a_wrong_call_at_once() -> None:
    """Retryable without a delay: at once for ARG_ERROR, a second for all others."""
    assert delays(course(failed("response", 3, retryable=True), STEADY)) == [0, 0, 0]
    assert delays(course(failed("response", 1, retryable=True), STEADY)) == [1000] * 3
    assert delays(course(failed("response", 10, retryable=True), STEADY)) == [1000] * 3


@pytest.mark.parametrize("contract", LATER)
@pytest.mark.parametrize("exit_code", [1, 2, 4, 5, 10])
def test_without_a_delay_the_later_revisions_wait_a_second(contract: str, exit_code: int) -> None:
    """Retryable without a delay: a second, for a wrong call too."""
    assert delays(course(failed(contract, exit_code, retryable=True), STEADY)) == [1000] * 3


def test_the_delay_of_the_tool_is_kept() -> None:
    """Seconds in the first revision, milliseconds later; never sooner, whatever the strategy."""
    assert (
        delays(course(failed("response", 11, retryable=True, retry_after=30), STEADY))
        == [30_000] * 3
    )
    for strategy in ("immediate", "linear_backoff", "exponential_backoff", "unheard_of"):
        found = failed("agent-spec-2", 4, retryable=True, retry_after_ms=700)
        assert delays(course(found, STEADY)) == [700] * 3
        found = failed(
            "agent-spec-2", 4, retryable=True, retry_after_ms=700, retry_strategy=strategy
        )
        assert all(each >= 700 for each in delays(course(found, STEADY)))
    for odd, expected in ((1500.2, 1501), ("5", 1000), (-5, 1000), (True, 1000), (None, 1000)):
        found = failed("agent-spec-2", 4, retryable=True, retry_after_ms=odd)
        assert delays(course(found, STEADY))[0] == expected


def test_a_strategy_says_how_delays_grow() -> None:
    """At once, by the same step, or twice as long every time."""
    for strategy, expected in (
        ("immediate", [0, 0, 0]),
        ("linear_backoff", [1000, 2000, 3000]),
        ("exponential_backoff", [1000, 2000, 4000]),
    ):
        found = failed("agent-spec-1.6", 4, retryable=True, retry_strategy=strategy)
        assert delays(course(found, STEADY)) == expected


@pytest.mark.parametrize("contract", FAMILY)
def test_where_the_answer_does_not_say_the_exit_code_does(contract: str) -> None:
    """``retryable`` is missing: the table of the revision is asked, of a command that reads."""
    first = {3, 10, 11, 12}
    expected = first if contract == "response" else {11, 12}
    answers = {code: failed(contract, code) for code in range(1, 14)}
    found = {
        code
        for code, each in answers.items()
        if isinstance(decided(each, catalogue=READS), RetryAfter)
    }
    assert found == expected
    # Of one that may change something only a rate limit promises that nothing was done.
    unknown = {code for code, each in answers.items() if isinstance(decided(each), RetryAfter)}
    assert unknown == {11}


@pytest.mark.parametrize("contract", FAMILY)
@pytest.mark.parametrize("exit_code", [3, 10, 11, 12, 75])
def test_not_retryable_beats_a_retryable_exit_code(contract: str, exit_code: int) -> None:
    """The answer knows what was done; no table and no declaration overrules its no."""
    found = failed(contract, exit_code, retryable=False, retry_after_ms=5, retry_after=5)
    assert isinstance(decided(found, Policy(retryable={exit_code: True})), Stop)


@pytest.mark.parametrize("contract", CONTRACTS)
def test_an_error_code_is_met_with_three_retries(contract: str) -> None:
    """After the third the tool is not asked again, unless something else has changed."""
    if contract == "murli":
        stderr = murli_error(8, recoverable=True, retry_after_ms=5)
        found = understood(b"", 8, contract, stderr=stderr)
    else:
        found = failed(contract, 12, retryable=True)
    decisions = course(found)
    assert [type(each) for each in decisions] == [*[RetryAfter] * 3, Stop]
    assert [type(each) for each in course(found, Policy(max_retries=0))] == [Stop]


def test_another_error_code_has_retries_of_its_own() -> None:
    """The budget is for each code; there is one for all of them, too."""
    memory, count = Memory(), 0
    for turn in range(40):
        found = failed("agent-spec-2", 12, f"EXCUSE_{turn % 4}", retryable=True)
        decision = decided(found, memory=memory)
        if isinstance(decision, RetryAfter):
            count += 1
            memory = memory.after(found, decision)
    assert count == Policy().max_retries_in_all == 9
    assert set(memory.retries.values()) <= {2, 3}


@pytest.mark.parametrize("contract", LATER)
def test_a_fix_that_only_people_understand_stops(contract: str) -> None:
    """``fix_required`` is advice in words: handed on, not interpreted; so is a suggestion."""
    found = failed(contract, 2, retryable=False, fix_required="Give --region.")
    assert decided(found) == Stop("It is SOMETHING.", "Give --region.")
    found = failed(contract, 5, retryable=False, suggestion="tool list; rm -rf /")
    assert decided(found) == Stop("It is SOMETHING.", "tool list; rm -rf /")
    assert decided(failed(contract, 5, retryable=False)) == Stop("It is SOMETHING.")


@pytest.mark.parametrize("contract", LATER)
def test_a_fix_command_is_run_once_and_the_call_made_once_more(contract: str) -> None:
    """Whoever still fails behind its fix has no second one, by whatever name."""
    broken = failed(contract, 4, "NO_INDEX", retryable=False, fix_command="tool index build")
    fix = RunInstead(("tool", "index", "build"), "fix", False, "tool index build")
    assert [type(each) for each in course(broken)] == [RunInstead, Stop]
    assert decided(broken) == fix
    memory = Memory().after(broken, fix)
    other = failed(contract, 4, "NO_LOCK", retryable=False, fix_command="tool unlock")
    assert decided(other, memory=memory) == Stop("The fix did not help.", "tool unlock")
    assert isinstance(decided(broken, Policy(run_fixes=False)), Stop)
    # What may be repeated as it is needs no fix.
    busy = failed(contract, 4, "LOCK_HELD", retryable=True, fix_command="tool unlock")
    assert isinstance(decided(busy), RetryAfter)


@pytest.mark.parametrize(("exit_code", "code"), [(3, "X"), (130, "CANCELLED"), (10, "TIMEOUT")])
def test_a_fix_does_not_repeat_what_is_half_done(exit_code: int, code: str) -> None:
    """The call behind a fix would be a retry of what must not be retried."""
    found = failed("agent-spec-2", exit_code, code, retryable=False, fix_command="tool clean")
    assert isinstance(decided(found), Stop)


@pytest.mark.parametrize("contract", FAMILY)
def test_a_rate_limit_without_a_delay_is_waited_for_a_minute(contract: str) -> None:
    """Whoever is asked too often is not asked again soon, also when it says at once."""
    assert delays(course(failed(contract, 11, retryable=True), STEADY)) == [60_000] * 3
    hasty = failed(contract, 11, retryable=True, retry_strategy="immediate")
    assert delays(course(hasty, STEADY)) == [60_000] * 3


@pytest.mark.parametrize("contract", FAMILY)
def test_what_is_unavailable_is_asked_ever_more_rarely(contract: str) -> None:
    """From a second on, twice as long every time, five minutes at most."""
    patient = Policy(jitter=0.0, max_retries=12, max_retries_in_all=12)
    found = delays(course(failed(contract, 12), patient, READS))
    assert found == [1000 * 2**n for n in range(9)] + [300_000] * 3


def test_delays_are_spread() -> None:
    """Callers that were refused together do not come back together."""
    decision = decided(failed("agent-spec-2", 12), Policy(jitter=0.5), catalogue=READS)
    assert decision == RetryAfter(1000, 500, "It is SOMETHING.")


@pytest.mark.parametrize("contract", FAMILY)
def test_longer_than_the_caller_waits_is_not_waited(contract: str) -> None:
    """The tool's delay is never cut short: rather nothing is done, and the caller hears of it."""
    facts: dict[str, Any] = (
        {"retry_after": 600} if contract == "response" else {"retry_after_ms": 600_000}
    )
    found = failed(contract, 11, retryable=True, **facts)
    assert decided(found) == Stop(
        "It may work later, but that is too long to wait.", "Try in 600000 ms."
    )
    assert isinstance(decided(found, Policy(longest_delay_ms=600_000)), RetryAfter)


@pytest.mark.parametrize("contract", FAMILY)
def test_a_general_error_may_have_done_a_part(contract: str) -> None:
    """It is repeated only on the tool's word, and told with that warning."""
    decision = decided(failed(contract, 1))
    assert decision == Stop("It is SOMETHING. Part of the work may have been done.")
    assert isinstance(decided(failed(contract, 1, retryable=True)), RetryAfter)


@pytest.mark.parametrize("contract", LATER)
def test_behind_a_timeout_the_state_is_looked_at(contract: str) -> None:
    """A timeout is repeated only when the answer or the command says that nothing was written."""
    late = failed(contract, 10, "TIMEOUT")
    assert isinstance(decided(late), Stop)
    assert isinstance(decided(late, Policy(retryable={10: True})), RetryAfter)
    promised = failed(contract, 10, "TIMEOUT", retryable=True)
    assert isinstance(decided(promised), RetryAfter)
    assert isinstance(decided(promised, Policy(retryable={10: False})), Stop)


@pytest.mark.parametrize("contract", FAMILY)
def test_what_a_command_declares_overrides_the_table(contract: str) -> None:
    """Its own entry for an exit code counts; the answer itself counts more."""
    declared = Policy(retryable={5: True, 79: True, 12: False, 4: False})
    assert isinstance(decided(failed(contract, 5), declared), RetryAfter)
    assert isinstance(decided(failed(contract, 79), declared), RetryAfter)
    assert isinstance(decided(failed(contract, 12), declared), Stop)
    # One number, several errors: of a precondition only the lock opens by itself.
    held = failed(contract, 4, "LOCK_HELD", retryable=True)
    assert isinstance(decided(held, declared), RetryAfter)
    eaten = understood(envelope(None, refusal(), meta={"exit_code": 79}), 0, contract)
    if contract != "response":
        assert isinstance(decided(eaten, declared), RetryAfter)


@pytest.mark.parametrize("contract", CONTRACTS)
def test_nothing_makes_a_partial_failure_or_a_cancelled_call_retryable(contract: str) -> None:
    """The same call would do again what was done: not by the answer, not by a declaration."""
    eager = Policy(retryable=dict.fromkeys(range(256), True))
    if contract == "murli":
        for code in (3, 9, 130, 143, -9):
            stderr = murli_error(code, recoverable=True, retry_after_ms=1)
            assert isinstance(decided(understood(b"", code, stderr=stderr), eager), Stop)
        return
    partial = 2 if contract == "response" else 3
    for code in (partial, 130, 143, 137, 129, 159, -15):
        assert isinstance(decided(failed(contract, code, retryable=True), eager), Stop)
    for name in ("PARTIAL_FAILURE", "CANCELLED"):
        assert isinstance(decided(failed(contract, 1, name, retryable=True), eager), Stop)


@pytest.mark.parametrize("contract", FAMILY)
def test_unknown_codes_have_their_ranges(contract: str) -> None:
    """What no table has is like its neighbours, and repeated only if it is clearly transient."""
    decisions = {
        code: decided(failed(contract, code), catalogue=READS if code == 75 else None)
        for code in (*range(15, 126), 126, 127, 128, *range(160, 257), 1000, -1, *range(129, 160))
    }
    assert [code for code, each in decisions.items() if isinstance(each, RetryAfter)] == [75]
    assert [code for code, each in decisions.items() if isinstance(each, Escalate)] == [126, 127]
    for code in (15, 63, 79, 125, 200, 255, 1000):
        assert "Part of the work" in decisions[code].reason  # type: ignore[union-attr]
    for code in (-1, 129, 130, 137, 143, 159):
        assert "ended from outside" in decisions[code].reason  # type: ignore[union-attr]
    # Their names do not make them what they are not.
    named = failed(contract, 20, "UNAVAILABLE")
    assert isinstance(decided(named), Stop)


RENEWING = Policy(can_refresh=True)

# -- credentials ----------------------------------------------------------------------------------


@pytest.mark.parametrize("contract", FAMILY)
@pytest.mark.parametrize("code", ["TOKEN_EXPIRED", "CREDENTIALS_EXPIRED"])
def test_an_expired_token_is_renewed_once(contract: str, code: str) -> None:
    """Renew, call again once; if it has expired again it counts as invalid."""
    expired = failed(contract, 8, code, retryable=True, retry_after=0)
    assert [type(each) for each in course(expired, RENEWING)] == [RefreshCredentials, Escalate]
    assert [type(each) for each in course(expired)] == [Escalate]


@pytest.mark.parametrize("contract", FAMILY)
@pytest.mark.parametrize("code", ["TOKEN_INVALID", "TOKEN_MISSING", "UNAUTHENTICATED", "OTHER"])
def test_without_good_credentials_nothing_is_repeated(contract: str, code: str) -> None:
    """New ones have to come from somewhere else, whatever the answer says about retrying."""
    found = failed(contract, 8, code, retryable=True, fix_command="tool login")
    assert isinstance(decided(found, RENEWING), Escalate)


def test_a_token_may_be_something_else() -> None:
    """Not every code that begins with TOKEN is about credentials."""
    found = failed("agent-spec-2", 2, "TOKEN_LIMIT_EXCEEDED", suggestion="Ask for less.")
    assert decided(found, RENEWING) == Stop("It is TOKEN_LIMIT_EXCEEDED.", "Ask for less.")


@pytest.mark.parametrize("contract", FAMILY)
def test_what_costs_money_is_not_bought(contract: str) -> None:
    """Whoever pays decides."""
    assert isinstance(decided(failed(contract, 9, retryable=True)), Escalate)


# -- redirects ------------------------------------------------------------------------------------


@pytest.mark.parametrize("contract", FAMILY)
def test_a_redirect_is_run_verbatim(contract: str) -> None:
    """The words the tool gives are the next call: all of them, and no others."""
    command = "tool 'users' add --name='a b' -- \"-x\""
    assert decided(moved(contract, command)) == RunInstead(
        ("tool", "users", "add", "--name=a b", "--", "-x"), "redirect", False, command
    )
    # Between quotes a shell's signs are words like any other.
    quoted = """tool 'it;s' "a|b" 'c$d' "it's" '"' e\\;f g~h"""
    decision = decided(moved(contract, quoted))
    assert isinstance(decision, RunInstead)
    assert decision.argv[1:] == ("it;s", "a|b", "c$d", "it's", '"', "e;f", "g~h")


@pytest.mark.parametrize("contract", FAMILY)
def test_only_a_permanent_redirect_is_remembered(contract: str) -> None:
    """``permanent`` is to be recorded; anything but a plain yes is not."""
    for permanent in (True, False, "true", 1, None):
        decision = decided(moved(contract, "tool search", permanent=permanent))
        assert isinstance(decision, RunInstead) and decision.remember is (permanent is True)


@pytest.mark.parametrize("contract", FAMILY)
@pytest.mark.parametrize("exit_code", [0, 1, 4, 5, 12, 14, 20, 75, 113, 130])
def test_a_redirect_at_any_other_exit_code_is_ignored(contract: str, exit_code: int) -> None:
    """Only 13 redirects, whatever the error is called."""
    for name in ("REDIRECTED", "COMMAND_RENAMED"):
        redirect = {"command": "tool search", "permanent": True}
        found = failed(contract, exit_code, name, redirect=redirect)
        assert not isinstance(decided(found), RunInstead)


@pytest.mark.parametrize("contract", FAMILY)
def test_redirects_do_not_lead_in_a_circle(contract: str) -> None:
    """The same one twice, or too many, is the end."""
    assert [type(each) for each in course(moved(contract, "tool a"))] == [RunInstead, Stop]
    memory, count = Memory(), 0
    for number in range(20):
        found = moved(contract, f"tool a{number}")
        decision = decided(found, memory=memory)
        count += isinstance(decision, RunInstead)
        memory = memory.after(found, decision)
    assert count == Policy().follow_redirects


@pytest.mark.parametrize(
    "command",
    [
        "rm -rf /",
        "toolbox query",
        "sh -c 'tool query'",
        "sudo tool query",
        "env X=1 tool query",
        "X=1 tool query",
        "tool a; rm b",
        "tool a && rm b",
        "tool a | sh",
        "tool a > b",
        "tool `id`",
        "tool $(id)",
        'tool "$HOME"',
        "tool a\nrm b",
        "tool 'a';rm b",
        'tool "a";rm b',
        "tool 'a' \"b\" ~/c",
        "tool 'a' \"b\" > c",
        "tool 'open",
        "tool a\0b",
        "tool " + "x" * 200_000,
        "   ",
    ],
)
def test_only_the_same_tool_is_run(command: str) -> None:
    """A command that is another program's, or a shell's, is not run but handed to people."""
    for found in (
        moved("agent-spec-2", command),
        failed("agent-spec-2", 4, retryable=False, fix_command=command),
        failed("agent-spec-2", 14, data=unfinished(1, continue_command=command)),
    ):
        assert isinstance(decided(found), (Escalate, Stop))


def test_what_was_only_to_be_looked_at_is_not_done() -> None:
    """A tool that forgets ``--dry-run`` in the call it names turns no preview into a deed."""
    for flag in ("--dry-run", "--validate-only"):
        redirect: dict[str, Any] = {"command": "tool remove x", "permanent": True}
        stdout = envelope(None, refusal("MOVED", redirect=redirect), meta={"exit_code": 13})
        found = understood(stdout, 13, argv=("tool", "rm", "x", flag))
        assert isinstance(decided(found), Escalate)
        redirect["command"] += f" {flag}"
        stdout = envelope(None, refusal("MOVED", redirect=redirect), meta={"exit_code": 13})
        found = understood(stdout, 13, argv=("tool", "rm", "x", flag))
        assert isinstance(decided(found), RunInstead)


@dataclass
class Scripted:
    """A tool that answers by a script, and the words it was called with."""

    path: Path

    @property
    def calls(self) -> list[list[str]]:
        """What it was called with, call by call."""
        return [json.loads(line) for line in Path(f"{self.path}.calls").read_text().splitlines()]

    def tool(self, **options: Any) -> Tool:
        """Give a client of it, that keeps what it learns beside it."""
        words = [sys.executable, "-SE", str(TOOLS / "scripted.py"), str(self.path)]
        options = {
            "memory": self.path.with_name("redirects.json"),
            "policy": Policy(first_delay_ms=1, rate_limit_delay_ms=1),
            "limits": Limits(seconds=20.0),
            **options,
        }
        return Tool(words, cache=False, check=False, env=environment(), **options)


def scripted(folder: Path, *answers: dict[str, Any]) -> Scripted:
    """Write a script; each answer is what a call writes, and how it ends."""
    path = folder / "tool"
    path.write_text(
        json.dumps(
            [
                {key: value.decode("latin-1") if isinstance(value, bytes) else value
                 for key, value in answer.items()}
                for answer in answers
            ]
        )
    )  # fmt: skip
    return Scripted(path)


def says(exit_code: int, code: str, **facts: Any) -> dict[str, Any]:
    """Give a failure of agent-spec-2, as an entry of a script."""
    data = facts.pop("data", None)
    stdout = envelope(data, refusal(code, **facts), meta={"exit_code": exit_code})
    return {"stdout": stdout, "exit": exit_code}


WELL = {"stdout": envelope({"n": 1}, meta={"exit_code": 0})}

# -- carried out ----------------------------------------------------------------------------------


def test_carried_out_a_retry_waits_as_long_as_the_tool_wants(tmp_path: Path) -> None:
    """The same words again, no sooner than the tool said, until it works."""
    one = scripted(tmp_path, says(11, "RATE_LIMITED", retryable=True, retry_after_ms=150), WELL)
    began = time.monotonic()
    found = one.tool().call("query", "tea")
    assert time.monotonic() - began >= 0.15
    assert (found.data, kinds(found)) == ({"n": 1}, [RetryAfter, Done])
    assert one.calls == [["query", "tea"]] * 2


def test_carried_out_the_budget_ends_the_calls(tmp_path: Path) -> None:
    """Four calls in all, and the last answer is the one that is given."""
    one = scripted(tmp_path, says(12, "UNAVAILABLE", retryable=True))
    found = one.tool().call("query")
    assert (kinds(found), len(one.calls)) == ([*[RetryAfter] * 3, Stop], 4)
    assert found.problem is not None and found.problem.code == "UNAVAILABLE"


def test_carried_out_a_redirect_is_followed_and_remembered(tmp_path: Path) -> None:
    """Permanent: recorded before the call, and applied in the next session. Else forgotten."""
    away = {"command": "tool search tea", "permanent": True, "reason": "renamed"}
    one = scripted(tmp_path, says(13, "RENAMED", redirect=away), WELL)
    assert kinds(one.tool().call("query", "tea")) == [RunInstead, Done]
    assert one.tool().call("query", "coffee").ok
    assert one.calls == [["query", "tea"], ["search", "tea"], ["search", "coffee"]]


def test_carried_out_a_redirect_for_now_is_forgotten(tmp_path: Path) -> None:
    """Not permanent: this call only."""
    away = {"command": "tool search tea", "permanent": False}
    one = scripted(tmp_path, says(13, "MOVED", redirect=away), WELL)
    assert kinds(one.tool().call("query", "tea")) == [RunInstead, Done]
    assert one.tool().call("query", "coffee").ok
    assert one.calls[2] == ["query", "coffee"]


def test_carried_out_credentials_are_renewed_once(tmp_path: Path) -> None:
    """Renewed, called again; expired again: escalated."""
    renewed: list[str] = []
    one = scripted(tmp_path, says(8, "TOKEN_EXPIRED", retryable=True))
    found = one.tool(refresh=lambda response: renewed.append(response.state)).call("query")
    assert (kinds(found), len(one.calls), len(renewed)) == ([RefreshCredentials, Escalate], 2, 1)


def test_carried_out_a_fix_is_run_and_the_call_made_again(tmp_path: Path) -> None:
    """The fix, then the call; a second fix is not run."""
    broken = says(4, "NO_INDEX", retryable=False, fix_command="tool index build")
    other = says(4, "NO_LOCK", retryable=False, fix_command="tool unlock")
    one = scripted(tmp_path, broken, WELL, other)
    found = one.tool().call("query")
    assert kinds(found) == [RunInstead, Stop]
    assert one.calls == [["query"], ["index", "build"], ["query"]]


def test_carried_out_unfinished_work_is_continued(tmp_path: Path) -> None:
    """Until it is done; the last answer is the answer."""
    one = scripted(
        tmp_path,
        says(14, "INCOMPLETE", data=unfinished(1)),
        says(14, "INCOMPLETE", data=unfinished(2)),
        WELL,
    )
    found = one.tool().call("import")
    assert (found.data, one.calls) == ({"n": 1}, [["import"], ["resume", "7"], ["resume", "7"]])


def test_carried_out_a_killed_tool_is_not_called_again(tmp_path: Path) -> None:
    """Ended by a signal in the midst of it: it may have done a part, so nothing is repeated."""
    one = scripted(tmp_path, {"stdout": b'{"a": 1}\n', "signal": "KILL"}, WELL)
    found = one.tool(contract="agent-spec-2").call("query")
    assert (found.exit_code, kinds(found), len(one.calls)) == (-9, [Stop], 1)


def test_carried_out_bytes_that_are_no_text_are_survived(tmp_path: Path) -> None:
    """One bad byte does not hide a failure, and is told."""
    bad = envelope(None, refusal("NOT_FOUND", detail="?"), meta={"exit_code": 5})
    one = scripted(tmp_path, {"stdout": bad.replace(b"?", b"\xff"), "exit": 5})
    found = one.tool().call("query")
    assert found.problem is not None and found.problem.kind == "not_found"
    assert "stdout is not UTF-8" in found.oddities
