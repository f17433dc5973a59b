"""What to do about an answer: a pure function from (policy, memory, response) to a decision.

No process is started here, no clock read, no random number drawn; so every rule can be tested by
itself, and the sync and the async client cannot disagree.

The rules, in the order in which they are asked:

1. an answer that breaks its contract is not acted on
2. a success is taken when it is the whole; a part of it leads to the next part
3. who must be asked first (a person, credentials, a confirmation) is asked, never worked around
4. a redirect is followed, a declared fix is run once, unfinished work is continued
5. what may work later is tried again, within a budget for each error code
6. everything else stops, with the tool's advice
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from .own_calls import adds_confirmation, drops_preview, with_flag, with_secrets
from .own_calls import same_tool as same_tool
from .response import Problem, Response
from .tables import EXPIRED, TRANSIENT, retryable_by_default

SECOND = 1000
MINUTE = 60 * SECOND
# No call is longer, so there is no need to take a longer one apart.
_LONGEST_COMMAND = 100_000
# Kinds that may have done a part of the work, so that the same call would do it twice.
_HALF_DONE = frozenset(("partial", "cancelled", "timeout"))


@dataclass(frozen=True, slots=True)
class Policy:
    """What the caller allows.

    *confirm* lets the client confirm a change the tool asks about: only a caller who means it says
    so; *confirm_flag* is the flag for that, if it is not the usual one. *can_refresh* tells that
    there is a way to renew credentials. *retryable* overrides, by exit code, what the contract says
    about retrying where the answer itself does not: a command's own declarations. *max_retries* is
    for each error code, and *max_retries_in_all* for a tool that has a new one every time.
    """

    max_retries: int = 3
    max_retries_in_all: int = 9
    max_continuations: int = 100
    first_delay_ms: int = SECOND
    longest_delay_ms: int = 5 * MINUTE
    rate_limit_delay_ms: int = MINUTE
    jitter: float = 0.1
    confirm: bool = False
    confirm_flag: str = ""
    can_refresh: bool = False
    follow_redirects: int = 5
    run_fixes: bool = True
    stalled_continuations: int = 3
    retryable: Mapping[int, bool] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Memory:
    """What has happened so far in this one call; immutable, `after` gives the next."""

    retries: Mapping[str, int] = field(default_factory=dict)
    refreshed: bool = False
    confirmed: bool = False
    fixed: frozenset[str] = frozenset()
    redirects: int = 0
    seen_commands: frozenset[str] = frozenset()
    progress: float = -1.0
    stalls: int = 0
    continuations: int = 0
    cancelled: bool = False

    def after(self, response: Response[Any], decision: Decision) -> Memory:
        """Give the memory once *decision* about *response* has been carried out."""
        code = _code(response)
        if isinstance(decision, RetryAfter):
            return replace(self, retries={**self.retries, code: self.retries.get(code, 0) + 1})
        if isinstance(decision, RefreshCredentials):
            return replace(self, refreshed=True)
        if isinstance(decision, RunInstead):
            if decision.why == "confirmed":
                return replace(self, confirmed=True)
            if decision.why == "fix":
                return replace(self, fixed=self.fixed | {code})
            if decision.why == "cancel":
                return replace(self, cancelled=True)
            if decision.why == "continue":
                done = _progress(response)
                return replace(
                    self,
                    progress=max(done, self.progress),
                    stalls=0 if done > self.progress else self.stalls + 1,
                    continuations=self.continuations + 1,
                )
            seen = self.seen_commands | {decision.command}
            return replace(self, redirects=self.redirects + 1, seen_commands=seen)
        return self


@dataclass(frozen=True, slots=True)
class Done:
    """Take the answer.

    *note* tells what is special about it: ``plan`` (nothing was done), ``not_modified`` (the data
    is what was there before), ``field_truncated`` (a warning tells which field is not whole).
    """

    note: str = ""


@dataclass(frozen=True, slots=True)
class RetryAfter:
    """Make the same call again after *delay_ms*, plus up to *spread_ms* to spread the callers."""

    delay_ms: int
    spread_ms: int = 0
    reason: str = ""


@dataclass(frozen=True, slots=True)
class RunInstead:
    """Run *argv*, whose first word stands for the tool itself, in place of the call.

    *why* is ``redirect``, ``continue``, ``confirmed``, ``cancel``, or ``fix``: then the call itself
    is made once more afterwards. *remember* tells that the old call is gone for good.
    """

    argv: tuple[str, ...]
    why: str
    remember: bool = False
    command: str = ""


@dataclass(frozen=True, slots=True)
class RefreshCredentials:
    """Renew the credentials, then make the same call once more."""

    reason: str = ""


@dataclass(frozen=True, slots=True)
class FetchNextPage:
    """Ask for what is missing with *cursor*; until then no conclusions."""

    cursor: str
    rest: str = ""


@dataclass(frozen=True, slots=True)
class Stop:
    """Do not go on by yourself; *advice* is what would have to change, in the tool's words."""

    reason: str
    advice: str = ""


@dataclass(frozen=True, slots=True)
class Escalate:
    """Somebody else has to act: a person, or who runs the agent."""

    reason: str
    advice: str = ""


Decision = (
    Done | RetryAfter | RunInstead | RefreshCredentials | FetchNextPage | Stop | Escalate
)  # fmt: skip


def decide(policy: Policy, memory: Memory, response: Response[Any]) -> Decision:
    """Give what to do about *response*; never raises, whatever a tool wrote."""
    if response.state == "malformed":
        reason = response.problem.message if response.problem else "The answer is malformed."
        return Escalate(reason, "Do not act on it; look at what the tool printed.")
    if response.problem is None:
        return _about_success(response)
    problem = response.problem
    for rule in (_ask_first, _go_elsewhere, _try_again):
        decision = rule(policy, memory, response, problem)
        if decision is not None:
            return decision
    return Stop(_reason(response, problem), _advice(problem))


def _about_success(response: Response[Any]) -> Decision:
    if response.not_modified and response.data is None:
        return Done("not_modified")
    part = response.part
    if not part.is_whole:
        if part.next_cursor:
            return FetchNextPage(part.next_cursor, part.rest)
        count = "" if part.returned is None else f": {part.returned} of {part.total or 'more'}"
        return Stop(
            f"The answer is not the whole{count}.",
            f"Run `{part.rest}`." if part.rest else "Narrow the call.",
        )
    if response.state == "plan":
        return Done("plan")
    if response.not_modified:
        return Done("not_modified")
    return Done("field_truncated" if any(each.is_cut for each in response.warnings) else "")


def _ask_first(
    policy: Policy, memory: Memory, response: Response[Any], problem: Problem
) -> Decision | None:
    """Who has to be asked before anything else happens."""
    code = problem.code.upper()
    if code == "CONFIRMATION_REQUIRED":
        if policy.confirm and not memory.confirmed and response.argv:
            usual = "--force" if response.contract == "murli" else "--confirm-destructive"
            flag = policy.confirm_flag or usual
            return RunInstead(with_flag(response.argv, flag), "confirmed")
        return Escalate("The change must be confirmed by who asked for it.", problem.suggestion)
    if code == "PERSON_REQUIRED":
        return Escalate("A person has to do this.", problem.suggestion)
    if problem.kind == "auth_required":
        if code in EXPIRED and policy.can_refresh and not memory.refreshed:
            return RefreshCredentials(problem.message)
        return Escalate("New credentials are needed.", _advice(problem))
    if problem.kind == "payment_required":
        return Escalate("It has to be paid for.", _advice(problem))
    if problem.kind == "never_ran":
        return Escalate("The tool did not start.", "Repair its installation.")
    if problem.kind == "delegated":
        return Stop("Another tool's exit code came through.", "Look at what it left behind.")
    return None


def _go_elsewhere(
    policy: Policy, memory: Memory, response: Response[Any], problem: Problem
) -> Decision | None:
    """Another call, that the tool itself names."""
    if problem.kind == "redirected":
        if problem.redirect is None or not problem.redirect.command:
            told = "The command lives elsewhere, and the tool does not say where."
            return Stop(told, _advice(problem))
        command = problem.redirect.command
        if memory.redirects >= policy.follow_redirects or command in memory.seen_commands:
            return Stop("The redirects lead in a circle.", f"Look at `{command}`.")
        remember = problem.redirect.permanent
        return _run(policy, response, command, "redirect", remember=remember)
    if problem.kind == "incomplete":
        return _continue(policy, memory, response, problem)
    if problem.fix_command and problem.retryable is not True and policy.run_fixes:
        if problem.kind in _HALF_DONE:
            # The fix may be harmless; the call behind it would repeat what has been done.
            return Stop(_reason(response, problem), _advice(problem) or problem.fix_command)
        if memory.fixed:
            # One fix for a call: who has a new one every time would have them run for ever.
            return Stop("The fix did not help.", _advice(problem) or problem.fix_command)
        return _run(policy, response, problem.fix_command, "fix")
    return None


def _continue(
    policy: Policy, memory: Memory, response: Response[Any], problem: Problem
) -> Decision | None:
    data: Mapping[str, Any] = response.data if isinstance(response.data, dict) else {}
    command = data.get("continue_command")
    if not isinstance(command, str) or not command:
        if response.contract == "agent-spec-2" and problem.retryable is True:
            return None  # work that only reads may be tried again
        return Stop(_reason(response, problem), _advice(problem))
    stalled = memory.stalls + (0 if _progress(response) > memory.progress else 1)
    if stalled >= policy.stalled_continuations:
        cancel = data.get("cancel_command")
        if memory.cancelled or not isinstance(cancel, str) or not cancel:
            told = "It was cancelled." if memory.cancelled else ""
            return Escalate("The work does not get on.", told)
        return _run(policy, response, cancel, "cancel")
    if memory.continuations >= policy.max_continuations:
        return Stop("The work goes on for too long.", f"Continue with `{command[:500]}`.")
    return _run(policy, response, command, "continue")


def _try_again(
    policy: Policy, memory: Memory, response: Response[Any], problem: Problem
) -> Decision | None:
    """The same call once more, if that may help and was not done too often."""
    if not _is_retryable(policy, response, problem):
        return None
    tried = memory.retries.get(_code(response), 0)
    if tried >= policy.max_retries:
        return Stop(f"Tried {tried} times more, and the same error came back.", _advice(problem))
    if sum(memory.retries.values()) >= policy.max_retries_in_all:
        return Stop("Tried often enough, with an error after the other.", _advice(problem))
    delay = _delay(policy, response, problem, tried)
    if delay > policy.longest_delay_ms:
        return Stop("It may work later, but that is too long to wait.", f"Try in {delay} ms.")
    return RetryAfter(delay, int(delay * policy.jitter), problem.message)


def _is_retryable(policy: Policy, response: Response[Any], problem: Problem) -> bool:
    # What the answer itself says comes first: it knows what was done.
    if problem.retryable is False:
        return False
    if problem.kind in ("partial", "cancelled", "malformed"):
        return False
    number = response.exit_code or response.meta.get("exit_code")
    number = number if isinstance(number, int) else 0
    declared = policy.retryable.get(number)
    if problem.kind == "timeout" and response.contract != "response":
        # It may have done half of it; only who knows that nothing was written may repeat it.
        return declared is not False and (problem.retryable is True or declared is True)
    if problem.retryable is True:
        return True
    if declared is not None:
        return declared
    return retryable_by_default(response.contract, problem.kind, number)


def _delay(policy: Policy, response: Response[Any], problem: Problem, tried: int) -> int:
    if problem.retry_after_ms is not None and problem.retry_after_ms >= 0:
        base = problem.retry_after_ms
    elif problem.kind == "rate_limited":
        base = policy.rate_limit_delay_ms
    elif problem.retry_strategy == "immediate" or (
        # What the first revision calls ARG_ERROR, and nothing like it.
        response.contract == "response" and response.exit_code == 3
    ):
        base = 0
    else:
        base = policy.first_delay_ms
    growing = problem.retry_strategy == "exponential_backoff" or (
        problem.kind in TRANSIENT - {"rate_limited"} and not problem.retry_strategy
    )
    if growing:
        base *= 2 ** min(tried, 30)
    elif problem.retry_strategy == "linear_backoff":
        base *= tried + 1
    # Never sooner than the tool says; how long is too long is the caller's to say.
    return max(min(base, policy.longest_delay_ms), problem.retry_after_ms or 0)


def _run(
    policy: Policy, response: Response[Any], command: str, why: str, *, remember: bool = False
) -> Decision:
    """Run *command*, when it is a call of the same tool and nothing but that."""
    argv = None
    if len(command) <= _LONGEST_COMMAND:
        argv = same_tool(command, response.argv, response.names)
    wrong = ""
    if argv is None:
        wrong = "is not a plain call of itself"
    elif (argv := with_secrets(argv, response.argv)) is None:
        wrong = "lacks a secret that the call did not have"
    elif adds_confirmation(argv, response.argv) and not policy.confirm:
        wrong = "confirms a change nobody has confirmed"
    elif drops_preview(argv, response.argv):
        wrong = "does what was only to be looked at"
    if wrong or argv is None:
        return Escalate(f"The tool names a command that {wrong}.", f"Not run: {command[:500]}")
    return RunInstead(argv, why, remember, command)


def _code(response: Response[Any]) -> str:
    problem = response.problem
    return (problem.code or problem.kind) if problem else ""


def _progress(response: Response[Any]) -> float:
    data = response.data
    progress = data.get("progress") if isinstance(data, dict) else None
    done = progress.get("done") if isinstance(progress, dict) else None
    if isinstance(done, bool) or not isinstance(done, (int, float)) or done != done:
        return 0.0
    try:
        return float(done)
    except OverflowError:
        return 0.0


def _reason(response: Response[Any], problem: Problem) -> str:
    if problem.kind == "cancelled":
        return "The call was ended from outside; it may have done part of its work."
    if problem.kind in ("tool_error", "timeout", "partial"):
        return f"{problem.message or 'It failed.'} Part of the work may have been done."
    return problem.message or f"It failed with exit code {response.exit_code}."


def _advice(problem: Problem) -> str:
    return problem.fix_required or problem.suggestion
