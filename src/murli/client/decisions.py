"""What to do about an answer: a pure function from (policy, memory, response) to a decision.

What the tool declares about its commands, its catalogue, is a fourth argument where it is known.

No process is started here, no clock read, no random number drawn; so every rule can be tested by
itself, and the sync and the async client cannot disagree.

The rules, in the order in which they are asked:

1. an answer that breaks its contract is not acted on
2. a success is taken when it is the whole; a part of it leads to the next part
3. who must be asked first (a person, credentials, a confirmation) is asked, never worked around
4. a redirect is followed, a declared fix is run once, unfinished work is continued
5. what may work later is tried again, within a budget for each error code, where nothing was done
   or where doing it twice is declared to be harmless
6. everything else stops, with the tool's advice
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ..wire.catalogue import Catalogue, Command
from ..wire.dialects import dialect_of
from ..wire.response import Problem, WireResponse
from ..wire.tables import EXPIRED, TRANSIENT, retryable_by_default
from .own_calls import (
    adds_confirmation,
    drops_preview,
    has_key,
    is_runnable,
    option_names,
    previews,
    with_flag,
    with_secrets,
)
from .own_calls import same_tool as same_tool

SECOND = 1000
MINUTE = 60 * SECOND
# No call is longer, so there is no need to take a longer one apart.
_LONGEST_COMMAND = 100_000
# Kinds that have done a part of the work, so that the same call would do it twice.
_HALF_DONE = frozenset(("partial", "cancelled", "timeout"))
# Kinds that say nothing about how far the work had come. All others name what was missing.
_BEGUN = frozenset(("timeout", "tool_error", "unavailable"))
#: follows the tool's own message where nobody knows how far the work had come
PERHAPS_DONE = "Part of the work may have been done."
# Flags of murli that only confirm, the better one first, unless the command has such a flag itself.
_CONFIRM_FLAGS = ("yes", "force")


@dataclass(frozen=True, slots=True)
class Policy:
    """What the caller allows.

    *confirm* lets the client confirm a change the tool asks about: only a caller who means it says
    so; *confirm_flag* is the flag for that, if it is not the usual one. *can_refresh* is whether
    there is a way to renew credentials. *retryable* overrides, by exit code, what the contract and
    the command declare about retrying where the answer itself does not; ``True`` is the caller's
    word that a second run does no harm. *max_retries* is for each error code, and
    *max_retries_in_all* for a tool that has a new one every time.
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

    def after(self, response: WireResponse[Any], decision: Decision) -> Memory:
        """Return the memory once *decision* about *response* has been carried out."""
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

    *note* is what is special about it: ``plan`` (nothing was done), ``not_modified`` (the data
    is what was there before), ``field_truncated`` (a warning names the field that is not whole).
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
    is made once more afterwards. *remember* is whether the old call is gone for good.
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


@dataclass(frozen=True, slots=True)
class _Case:
    """One answer to decide about, and everything that counts.

    *command* is what the catalogue lists for the call. *may_repeat* is whether making the call
    twice is known to do no more than making it once.
    """

    policy: Policy
    memory: Memory
    response: WireResponse[Any]
    catalogue: Catalogue | None
    command: Command | None
    may_repeat: bool


def decide(
    policy: Policy,
    memory: Memory,
    response: WireResponse[Any],
    catalogue: Catalogue | None = None,
) -> Decision:
    """Return what to do about *response*; never raises, whatever a tool wrote.

    Without a *catalogue* nothing is known about the command: it may change something.
    """
    words = response.argv[1:]
    command = catalogue.called(words) if catalogue is not None else None
    may_repeat = catalogue is not None and catalogue.may_repeat(words)
    case = _Case(policy, memory, response, catalogue, command, may_repeat or has_key(response.argv))
    return _decided(case)


def needs_catalogue(policy: Policy, memory: Memory, response: WireResponse[Any]) -> bool:
    """Return whether the decision about *response* depends on what the tool declares."""
    case = _Case(policy, memory, response, None, None, may_repeat=False)
    decision = _decided(case)
    if isinstance(decision, RunInstead) and decision.why == "confirmed":
        return not policy.confirm_flag  # the command may own the usual one
    if response.state == "plan" and policy.confirm and not memory.confirmed:
        return not previews(response.argv)
    if isinstance(decision, Escalate) and _names_a_command(response):
        return True  # it may go by a name, or have short options, that only the catalogue has
    # Another reason alone is not worth another process.
    return type(_decided(replace(case, may_repeat=True))) is not type(decision)


def _decided(case: _Case) -> Decision:
    response, problem = case.response, case.response.problem
    if response.state == "malformed":
        reason = problem.message if problem else "The answer is malformed."
        return Escalate(reason, "Do not act on it; look at what the tool printed.")
    if problem is None:
        return _about_success(case)
    for rule in (_ask_first, _go_elsewhere, _try_again):
        decision = rule(case, problem)
        if decision is not None:
            return decision
    return Stop(_reason(case, problem), _advice(problem))


def _about_success(case: _Case) -> Decision:
    response = case.response
    if response.not_modified and response.data is None:
        return Done("not_modified")
    part = response.part
    if not part.is_whole:
        if part.next_cursor and is_runnable((part.next_cursor,)):
            return FetchNextPage(part.next_cursor, part.rest)
        if part.returned is not None and part.total is not None and part.returned > part.total:
            reason = f"The tool counted {part.total} items, and {part.returned} arrived."
            return Stop(reason, "Do not rely on them.")
        count = "" if part.returned is None else f": {part.returned} of {part.total or 'more'}"
        return Stop(
            f"The answer is not the whole{count}.",
            f"Run `{part.rest}`." if part.rest else "Narrow the call.",
        )
    if response.state == "plan":
        return _confirmed_plan(case) or Done("plan")
    if response.not_modified:
        return Done("not_modified")
    return Done("field_truncated" if any(each.is_cut for each in response.warnings) else "")


def _confirmed_plan(case: _Case) -> Decision | None:
    """Return the confirmed call where a plan is how the tool asks for confirmation."""
    flag = case.command.confirm_flag if case.command is not None else ""
    argv = case.response.argv
    if not flag or not case.policy.confirm or case.memory.confirmed:
        return None
    if previews(argv) or f"--{flag}" in option_names(argv):
        return None
    return RunInstead(with_flag(argv, f"--{flag}"), "confirmed")


def _ask_first(case: _Case, problem: Problem) -> Decision | None:
    """Who has to be asked before anything else happens."""
    policy, memory, response = case.policy, case.memory, case.response
    code = problem.code.upper()
    if code == "CONFIRMATION_REQUIRED":
        if not policy.confirm or memory.confirmed or not response.argv:
            return Escalate("The change must be confirmed by who asked for it.", problem.suggestion)
        flag = _confirm_flag(case)
        if not flag:
            return Escalate(
                "The command has an option of its own for every flag that confirms.",
                problem.suggestion,
            )
        return RunInstead(with_flag(response.argv, flag), "confirmed")
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


def _confirm_flag(case: _Case) -> str:
    """Return the flag that confirms the call and does nothing else, ``""`` if there is none."""
    command = case.command
    if case.policy.confirm_flag or (command is not None and command.confirm_flag):
        return confirm_flag(case.policy, command)
    if dialect_of(case.response.contract).is_enveloped:
        return "--confirm-destructive"
    free = (name for name in _CONFIRM_FLAGS if command is None or name not in command.flags)
    return next((f"--{name}" for name in free), "")


def confirm_flag(policy: Policy, command: Command | None) -> str:
    """Return the flag that confirms a call of *command*, by what it lists."""
    if policy.confirm_flag or command is None:
        return policy.confirm_flag or "--yes"
    listed = command.flags.keys() | command.standard.keys()
    known = (name for name in ("confirm-destructive", *_CONFIRM_FLAGS) if name in listed)
    return f"--{command.confirm_flag or next(known, 'yes')}"


def _go_elsewhere(case: _Case, problem: Problem) -> Decision | None:
    """Another call, that the tool itself names."""
    policy, memory = case.policy, case.memory
    if problem.kind == "redirected":
        if problem.redirect is None or not problem.redirect.command:
            reason = "The command lives elsewhere, and the tool does not say where."
            return Stop(reason, _advice(problem))
        command = problem.redirect.command
        if memory.redirects >= policy.follow_redirects or command in memory.seen_commands:
            return Stop("The redirects lead in a circle.", f"Look at `{command[:500]}`.")
        return _run(case, command, "redirect", remember=problem.redirect.permanent)
    if problem.kind == "incomplete":
        return _continue(case, problem)
    if problem.fix_command and problem.retryable is not True and policy.run_fixes:
        if problem.kind in _HALF_DONE or not _is_harmless(case, problem):
            # The fix may be harmless; the call behind it would repeat what has been done.
            return Stop(_reason(case, problem), _advice(problem) or problem.fix_command)
        if memory.fixed:
            # One fix for a call: who has a new one every time would have them run for ever.
            return Stop("The fix did not help.", _advice(problem) or problem.fix_command)
        return _run(case, problem.fix_command, "fix")
    return None


def _continue(case: _Case, problem: Problem) -> Decision | None:
    policy, memory, response = case.policy, case.memory, case.response
    data: Mapping[str, Any] = response.data if isinstance(response.data, dict) else {}
    command = data.get("continue_command")
    if not isinstance(command, str) or not command:
        if problem.retryable is True and dialect_of(response.contract).numbers_incomplete:
            return None  # work that only reads may be tried again
        return Stop(_reason(case, problem), _advice(problem))
    stalled = memory.stalls + (0 if _progress(response) > memory.progress else 1)
    if stalled >= policy.stalled_continuations:
        cancel = data.get("cancel_command")
        if memory.cancelled or not isinstance(cancel, str) or not cancel:
            reason = "It was cancelled." if memory.cancelled else ""
            return Escalate("The work does not get on.", reason)
        return _run(case, cancel, "cancel")
    if memory.continuations >= policy.max_continuations:
        return Stop("The work goes on for too long.", f"Continue with `{command[:500]}`.")
    return _run(case, command, "continue")


def _try_again(case: _Case, problem: Problem) -> Decision | None:
    """The same call once more, if that may help and was not done too often."""
    policy, memory, response = case.policy, case.memory, case.response
    if not _is_retryable(case, problem):
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


def _is_retryable(case: _Case, problem: Problem) -> bool:
    # What the answer itself says comes first: it knows what was done.
    if problem.retryable is False:
        return False
    if problem.kind in ("partial", "cancelled", "malformed"):
        return False
    response = case.response
    number = _number(response)
    allowed = case.policy.retryable.get(number)
    if allowed is not True and not (_is_promise(response, problem) or case.may_repeat):
        return False
    declared = allowed
    if declared is None and case.command is not None:
        declared = case.command.retryable.get(number)
    if problem.kind == "timeout" and not dialect_of(response.contract).is_first_envelope:
        return declared is not False and (problem.retryable is True or declared is True)
    if problem.retryable is True:
        return True
    if declared is not None:
        return declared
    return retryable_by_default(response.contract, problem.kind, number)


def _is_promise(response: WireResponse[Any], problem: Problem) -> bool:
    """Return whether the answer promises that nothing was done.

    An envelope does with ``retryable: true``. murli's ``recoverable`` says that a way out exists,
    which may be to look first; so the client takes it for no promise.
    """
    if problem.phase == "validation":
        return True
    if problem.kind == "rate_limited":
        return bool(problem.code)  # as an error that has a name, not as a bare number
    return problem.retryable is True and dialect_of(response.contract).is_enveloped


def _is_harmless(case: _Case, problem: Problem) -> bool:
    """Return whether a second run of a failed call cannot do again what the first has done."""
    return problem.kind not in _BEGUN or problem.phase == "validation" or case.may_repeat


def _number(response: WireResponse[Any]) -> int:
    number = response.exit_code or response.meta.get("exit_code")
    return number if isinstance(number, int) else 0


def _delay(policy: Policy, response: WireResponse[Any], problem: Problem, tried: int) -> int:
    dialect = dialect_of(response.contract)
    if problem.retry_after_ms is not None and problem.retry_after_ms >= 0:
        base = problem.retry_after_ms
    elif problem.kind == "rate_limited":
        base = policy.rate_limit_delay_ms
    elif problem.retry_strategy == "immediate" or (
        # What the first revision calls ARG_ERROR, and nothing like it.
        dialect.is_first_envelope and response.exit_code == dialect.wrong_call
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


def _run(case: _Case, command: str, why: str, *, remember: bool = False) -> Decision:
    """Run *command*, when it is a call of the same tool and nothing but that."""
    response = case.response
    argv = None
    if len(command) <= _LONGEST_COMMAND:
        argv = same_tool(command, response.argv, response.names)
    wrong = ""
    if argv is None or not is_runnable(argv):
        wrong = "is not a plain call of itself"
    elif (argv := with_secrets(argv, response.argv)) is None:
        wrong = "lacks a secret that the call did not have"
    elif _confirms(case, argv) and not case.policy.confirm:
        wrong = "confirms a change nobody has confirmed"
    elif drops_preview(argv, response.argv):
        wrong = "does what was only to be looked at"
    if wrong or argv is None:
        return Escalate(f"The tool names a command that {wrong}.", f"Not run: {command[:500]}")
    return RunInstead(argv, why, remember, command)


def _confirms(case: _Case, argv: tuple[str, ...]) -> bool:
    """Return whether *argv*, which the tool names, may confirm what the call itself did not."""
    catalogue = case.catalogue
    target = catalogue.called(argv[1:]) if catalogue is not None else None
    flags = target.flags if target is not None else None
    also = {case.policy.confirm_flag.lstrip("-")}
    if catalogue is not None:
        also.update(each.confirm_flag for each in catalogue.commands.values())
    return adds_confirmation(argv, case.response.argv, flags, also - {""})


def _names_a_command(response: WireResponse[Any]) -> bool:
    problem = response.problem
    return problem is not None and (
        problem.kind in ("redirected", "incomplete") or bool(problem.fix_command)
    )


def _code(response: WireResponse[Any]) -> str:
    problem = response.problem
    return (problem.code or problem.kind) if problem else ""


def _progress(response: WireResponse[Any]) -> float:
    data = response.data
    progress = data.get("progress") if isinstance(data, dict) else None
    done = progress.get("done") if isinstance(progress, dict) else None
    if isinstance(done, bool) or not isinstance(done, (int, float)) or done != done:
        return 0.0
    try:
        return float(done)
    except OverflowError:
        return 0.0


def _reason(case: _Case, problem: Problem) -> str:
    response = case.response
    if problem.kind == "cancelled":
        return "The call was ended from outside; it may have done part of its work."
    if problem.kind == "partial" or not (_is_harmless(case, problem) or response.state == "plain"):
        return f"{problem.message or 'It failed.'} {PERHAPS_DONE}"
    return problem.message or f"It failed with exit code {response.exit_code}."


def _advice(problem: Problem) -> str:
    return problem.fix_required or problem.suggestion
