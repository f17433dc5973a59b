"""A refusal that shows what was refused, and a call that is only checked."""

from __future__ import annotations

from ..errors import AgentError
from ..outcome import Failure, Plan, Success

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn

    from ..outcome import Outcome
    from .invocation import Invocation


def preview(invocation: Invocation, reason: AgentError) -> bool:
    """Prepare a refusal that shows what it refuses; return whether the plan function is to run.

    Whatever that answers, the answer is *reason*, with the plan in it if there is one. A handler is
    never run to find out: nobody knows whether it would ask for a dry run.
    """
    metadata = invocation.metadata
    if (
        metadata is None
        or metadata.plan is None
        or invocation.settings.guard_dry_run
        or invocation.call.extra.get("validate_only")
        or not getattr(invocation.host, "standalone", True)
    ):
        return False
    writer = invocation.writer
    invocation.standing = writer.code_of(reason)

    def refused(outcome: Outcome) -> Outcome:
        if isinstance(outcome, Failure) and outcome.error.kind == "cancelled":
            return outcome
        affected = _affected(outcome)
        if affected is not None:
            _show(reason, affected, closed=writer.contract == "response")
        return Failure(reason, "validation")

    prepare_plan(invocation, refused)
    return True


def prepare_plan(
    invocation: Invocation, intercept: Callable[[Outcome], Outcome] | None = None
) -> None:
    """Have the plan function run in the place of the handler; what it answers is the plan."""
    writer = invocation.writer
    invocation.plans = True
    writer.intend(force=False, dry_run=True)
    # A plan is one document: items are collected, not streamed.
    writer.streams, invocation.call.no_stream = False, True
    writer.interceptor = intercept or _as_plan


def _as_plan(outcome: Outcome) -> Outcome:
    return Plan(outcome.message, outcome.result) if isinstance(outcome, Success) else outcome


def _affected(outcome: Outcome) -> Any:
    plan: Any = None
    if isinstance(outcome, Plan):
        plan = outcome.plan if outcome.plan is not None else outcome.message or None
    elif isinstance(outcome, Success):
        plan = outcome.result
    return plan["would_affect"] if isinstance(plan, dict) and "would_affect" in plan else plan


def _show(reason: AgentError, affected: Any, *, closed: bool) -> None:
    """Put what would be *affected* where the contract has a place for it."""
    if closed:
        from ..formats import dumps

        reason.detail = dumps({"would_affect": affected}, pretty=False)
    else:
        reason.context = {**reason.context, "would_affect": affected}


def end_validated(invocation: Invocation) -> NoReturn:
    """Answer that the call would have been let through, and end without running it."""
    invocation.meta["validation_only"] = True
    writer = invocation.writer
    # What is declared of the command's own answers does not hold for this one.
    writer.shape = lambda outcome: (outcome, None)
    writer.exit(writer.answer(Success("", {"valid": True}), ""))
