"""A refusal that shows what was refused, and a call that is only checked."""

from __future__ import annotations

from ..errors import AgentError
from ..outcome import Failure, Plan, Success
from .intake import commands_along

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

    from ..outcome import Outcome
    from .invocation import Invocation

_ADVICE = "Pass {own}--confirm-destructive, --yes or --force to do it."


def preview(invocation: Invocation, reason: AgentError) -> bool:
    """Prepare the refusal of a command that nobody confirmed; tell whether it is to run.

    It may run where it can preview: then it does so as a dry run, and whatever it answers, the
    answer is *reason*, with the plan in it if there was one.
    """
    metadata = invocation.metadata
    traits = metadata.traits if metadata is not None else None
    own = f"--{traits.confirm_flag}, " if traits is not None and traits.confirm_flag else ""
    reason.suggestion = _ADVICE.format(own=own)
    if not can_preview(invocation):
        return False
    writer = invocation.writer
    writer.intend(force=False, dry_run=True)
    # A refusal is one document: items are collected, not streamed.
    writer.streams, invocation.call.no_stream = False, True
    invocation.standing = writer.code_of(reason)

    def refused(outcome: Outcome) -> Outcome:
        if isinstance(outcome, Failure) and outcome.error.kind == "cancelled":
            return outcome
        affected = _affected(outcome)
        if affected is not None:
            _show(reason, affected, closed=writer.contract == "response")
        return Failure(reason, "validation")

    writer.interceptor = refused
    return True


def can_preview(invocation: Invocation) -> bool:
    """Tell whether a dry run of the command is in our hands, and wanted."""
    metadata = invocation.metadata
    if metadata is None or not metadata.dry_runnable or invocation.settings.guard_dry_run:
        return False
    if invocation.call.extra.get("validate_only") or not getattr(
        invocation.host, "standalone", True
    ):
        return False
    # A flag of its own is what such a command looks at; without it, it would run for real.
    return (
        "--dry-run" not in invocation.options()
        and not invocation.host.level().owns("--dry-run")
        and not any(
            flag.name == "dry-run"
            for command in commands_along(invocation)
            for flag in command.flags
        )
    )


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
