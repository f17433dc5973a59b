"""A refusal that shows what was refused, and a call that is only checked."""

from __future__ import annotations

from ...answer.presentation import code_of, ran_for_real
from ...errors import AgentError
from ...outcome import Failure, Plan, Success
from ..inputs import commands_along

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn

    from ...outcome import Outcome
    from .. import Invocation


def preview(invocation: Invocation, reason: AgentError) -> bool:
    """Prepare a refusal that shows what it refuses; return whether a dry run is to find that out.

    Whatever that answers, the answer is *reason*, with the plan in it if there is one; unless the
    handler ran for real, which the answer does not hide.
    """
    if not can_preview(invocation):
        return False
    writer = invocation.writer
    invocation.running.refused_exit_code = code_of(writer, reason)

    def refused(outcome: Outcome) -> Outcome:
        if isinstance(outcome, Failure) and outcome.error.kind == "cancelled":
            return outcome
        if writer._forgot_dry_run() and not isinstance(outcome, Plan):
            return Failure(ran_for_real(), "execution")
        affected = _affected(outcome)
        if affected is not None:
            _show(reason, affected, closed=invocation.contract.error_is_closed)
        return Failure(reason, "validation")

    prepare_plan(invocation, refused)
    return True


def can_preview(invocation: Invocation) -> bool:
    """Return whether the command can be previewed before it is confirmed.

    Its plan function can always run. A handler is run only where its code asks for a dry run: one
    that does not would do for real what nobody confirmed.
    """
    metadata = invocation.metadata
    if (
        metadata is None
        or not metadata.dry_runnable
        or invocation.settings.guard_dry_run
        or invocation.call.extra.get("validate_only")
        or not getattr(invocation.request.runner, "standalone", True)
    ):
        return False
    if metadata.plan is not None:
        return True
    # A flag of its own is what such a command looks at; without it, it would run for real.
    host = invocation.host
    own = host.options(invocation.running.command)
    if "--dry-run" in own or host.level().owns("--dry-run"):
        return False
    if any(flag.name == "dry-run" for each in commands_along(invocation) for flag in each.flags):
        return False
    from .handler_code import asks_dry_run

    return asks_dry_run(invocation)


def prepare_plan(
    invocation: Invocation, intercept: Callable[[Outcome], Outcome] | None = None
) -> None:
    """Make the call a dry run: by the plan function in the place of the handler, if there is one.

    What it answers is the plan.
    """
    writer = invocation.writer
    writer._intend(force=False, dry_run=True)
    # A plan is one document: items are collected, not streamed.
    writer._reply.streams, invocation.call.no_stream = False, True
    if invocation.metadata is not None and invocation.metadata.plan is not None:
        invocation.running.plans = True
        intercept = intercept or _as_plan
    else:
        writer._expects_plan = True
    if intercept is not None:
        writer._reply.replace_outcome = intercept


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
        from ...formats import dumps

        reason.detail = dumps({"would_affect": affected}, pretty=False)
    else:
        reason.context = {**reason.context, "would_affect": affected}


def end_validated(invocation: Invocation) -> NoReturn:
    """Answer that the call would have been let through, and end without running it."""
    invocation.meta["validation_only"] = True
    writer = invocation.writer
    # What is declared of the command's own answers does not hold for this one.
    writer._reply.filters.clear()
    writer._exit(writer._answer(Success("", {"valid": True}), ""))
