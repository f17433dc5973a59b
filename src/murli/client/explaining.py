"""A decision in words: what would be done about an answer, why, and by which rule. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..formats.text import clean_line
from ..wire.dialects import dialect_of
from ..wire.reading import read
from ..wire.response import Problem, WireResponse
from ..wire.tables import TRANSIENT, retryable_by_default
from ..wire.values import text_in
from .calling import with_option
from .decisions import (
    PERHAPS_DONE,
    Decision,
    Done,
    Escalate,
    FetchNextPage,
    Memory,
    Policy,
    RefreshCredentials,
    RetryAfter,
    RunInstead,
    decide,
)
from .own_calls import MASK

_NAMES = {
    "Done": "done",
    "RetryAfter": "retry",
    "RunInstead": "run_instead",
    "RefreshCredentials": "refresh_credentials",
    "FetchNextPage": "fetch_next_page",
    "Stop": "stop",
    "Escalate": "escalate",
}
_NOTES = {
    "": "The answer stands.",
    "plan": "It is a plan: nothing was done.",
    "not_modified": "Nothing has changed since.",
    "field_truncated": "The answer stands, but one of its fields is not whole.",
}
_WHY = {
    "redirect": "The command lives elsewhere.",
    "continue": "The work is not finished.",
    "confirmed": "The caller has confirmed the change.",
    "fix": "The tool says how to mend it; after that the call is made again.",
    "cancel": "The work does not get on.",
}
_ELSEWHERE = {
    "redirect": "A redirect is followed, and remembered if it is permanent.",
    "continue": "Unfinished work is continued, as long as it gets on.",
    "confirmed": "A change is confirmed when the caller said so, once.",
    "fix": "A fix that the tool declares is run once.",
    "cancel": "Work that does not get on is cancelled.",
}
_ASKED = {
    "CONFIRMATION_REQUIRED": "Only who asked for a change confirms it; no flag is added unasked.",
    "PERSON_REQUIRED": "What needs a person is left to one.",
}
_NOT_REPEATED = {
    "auth_required": "Credentials are not guessed; expired ones are renewed once, where one can.",
    "payment_required": "Money is spent by people.",
    "never_ran": "What does not start is not tried again.",
    "delegated": "Another tool's exit code means what that tool says.",
    "redirected": "A redirect is followed when it leads somewhere new.",
    "incomplete": "Work is continued when the tool says how, and gets on.",
    "cancelled": "What was ended from outside may be half done: it is not repeated.",
    "timeout": "What ran out of time may be half done: it is not repeated.",
    "partial": "What is half done is not repeated.",
}


@dataclass(frozen=True, slots=True)
class Explanation:
    """What would be done.

    *decision* is its name, *rule* what a client goes by. *next* are the words to run, ``()`` for
    nothing, and *delay_ms* how long to wait before. *provided* is what could not be known here;
    *oddities* are what is wrong with the answer.
    """

    decision: str
    reason: str
    advice: str
    rule: str
    next: tuple[str, ...] = ()
    delay_ms: int | None = None
    provided: str = ""
    oddities: tuple[str, ...] = ()

    def document(self) -> dict[str, Any]:
        """Return the whole explanation, for an agent."""
        document: dict[str, Any] = {
            "decision": self.decision,
            "reason": self.reason,
            "advice": self.advice,
            "rule": self.rule,
            "next": list(self.next) or None,
        }
        if self.delay_ms is not None:
            document["delay_ms"] = self.delay_ms
        more = {"provided": self.provided, "oddities": list(self.oddities)}
        return {**document, **{key: value for key, value in more.items() if value}}

    def text(self) -> str:
        """Return the same for a person."""
        wait = "" if self.delay_ms is None else f" in {self.delay_ms} ms"
        lines = [
            f"{self.decision.replace('_', ' ')}{wait}: {self.reason}",
            self.advice and f"advice: {self.advice}",
            self.provided and f"if: {self.provided}",
            *(f"odd: {each}" for each in self.oddities),
            f"rule: {self.rule}",
        ]
        # Much of it was written by the tool.
        shown = [one_line(line) for line in lines if line]
        if self.next:
            shown.append(f"next: {clean_line(shlex.join(self.next))}")
        return "\n".join(shown)


def explained(
    response: WireResponse[Any], decision: Decision, tool: Sequence[str] = ()
) -> Explanation:
    """Explain *decision* about *response*; *tool* are the words that run it."""
    prefix = tuple(tool) or response.argv[:1]
    call = (*prefix, *response.argv[1:]) if len(response.argv) > 1 or tool else ()
    words: tuple[str, ...] = ()
    delay, advice = None, getattr(decision, "advice", "")
    if isinstance(decision, RetryAfter):
        delay, words = decision.delay_ms, call
        advice = "" if call else "Make the same call again."
    elif isinstance(decision, RefreshCredentials):
        words, advice = call, "Renew the credentials, then make the same call once more."
    elif isinstance(decision, FetchNextPage):
        words = with_option(call, "cursor", decision.cursor) if call else ()
        advice = f"Make the call again with --cursor={decision.cursor}."
    elif isinstance(decision, RunInstead):
        # What the tool has masked was the caller's secret, and is nobody else's.
        call_words = shlex.split(decision.command) if MASK in decision.command else decision.argv
        words = (*prefix, *call_words[1:])
        if decision.remember:
            advice = "The old call is gone for good: remember the new one."
    return Explanation(
        _NAMES[type(decision).__name__],
        reason_of(decision),
        advice,
        rule_of(response, decision),
        words,
        delay,
        oddities=response.oddities,
    )


def explained_answer(
    stdout: bytes, stderr: bytes, exit_code: int, contract: str = "", name: str = ""
) -> Explanation:
    """Explain what to do about an answer that was kept; *name* is the tool's."""
    response = read(stdout, stderr, exit_code, contract)
    provided = ""
    name = name or text_in(response.meta.get("command")).partition(" ")[0]
    if not name and (named := _named_command(response)):
        name = named.partition(" ")[0]
        provided = f"{name} is the tool that was called."
    response = replace(response, argv=(name,)) if name else response
    explanation = explained(response, decide(Policy(), Memory(), response))
    return replace(explanation, provided=provided) if explanation.next else explanation


def reason_of(decision: Decision) -> str:
    """Return why, in a sentence."""
    if isinstance(decision, Done):
        return _NOTES.get(decision.note, decision.note)
    if isinstance(decision, RunInstead):
        return _WHY.get(decision.why, decision.why)
    if isinstance(decision, FetchNextPage):
        return "This is a part of the answer."
    return decision.reason or "The tool does not say why."


def rule_of(response: WireResponse[Any], decision: Decision) -> str:
    """Return the rule that *decision* about *response* follows."""
    problem = response.problem
    if response.state == "malformed":
        return "An answer that breaks its contract is not acted on."
    if problem is None:
        return _rule_of_success(response, decision)
    if isinstance(decision, RetryAfter):
        if problem.retry_after_ms is not None:
            return "The tool says when the same call may work: not sooner, and not for ever."
        if problem.kind in TRANSIENT:
            return "What passes by itself is tried again, a few times, with growing delays."
        return "What the tool, or its contract, calls retryable is tried again, a few times."
    if isinstance(decision, RunInstead):
        return _ELSEWHERE.get(decision.why, "")
    if isinstance(decision, RefreshCredentials):
        return "Expired credentials are renewed once."
    asked = _ASKED.get(problem.code.upper())
    if asked:
        return asked
    if isinstance(decision, Escalate) and _named_command(response):
        return "A tool may send its caller to itself alone: no shell, and no confirmation."
    if problem.kind in _NOT_REPEATED:
        return _NOT_REPEATED[problem.kind]
    if problem.fix_command and problem.retryable is not True:
        return _ELSEWHERE["fix"]
    return _rule_of_giving_up(response, problem, decision)


def _rule_of_success(response: WireResponse[Any], decision: Decision) -> str:
    if not isinstance(decision, Done):
        return "A part is not the whole: no conclusions before the rest is there."
    if decision.note == "plan":
        return "A plan is not a result."
    if decision.note == "not_modified":
        return "What has not changed is not sent again: the copy at hand is right."
    if response.state == "plain":
        return "A tool without a contract is judged by its exit code."
    return "Exit code 0, and the whole of the answer: it is taken."


def _rule_of_giving_up(response: WireResponse[Any], problem: Problem, decision: Decision) -> str:
    if problem.retryable is False and dialect_of(response.contract).is_enveloped:
        return "The tool says that the same call will fail again."
    retryable = problem.retryable
    if retryable is None:
        retryable = retryable_by_default(response.contract, problem.kind)
    if retryable and reason_of(decision).endswith(PERHAPS_DONE):
        return (
            "What may have changed something is not repeated, unless the tool declares that the "
            "command only reads, or is idempotent."
        )
    if retryable:
        return "What may work later is tried again, but not too often and not too late."
    if response.state == "plain":
        return "A tool without a contract is judged by its exit code, and not called again."
    return "What does not pass by itself is not repeated: something has to change first."


def _named_command(response: WireResponse[Any]) -> str:
    """Return the command that a failure sends its caller to, ``""`` for none."""
    problem = response.problem
    if problem is None:
        return ""
    if problem.redirect is not None:
        return problem.redirect.command
    if problem.kind == "incomplete" and isinstance(response.data, dict):
        return str(response.data.get("continue_command") or "")
    return problem.fix_command


def one_line(text: str) -> str:
    """Return *text*, which somebody else wrote, as one line that is safe to show."""
    return " ".join(clean_line(text).split())
