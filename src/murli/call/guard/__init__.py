"""Whether a command may run at all: what was declared about it, and typed on this call."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...contracts import Contract
    from ...declare import Metadata
    from ...errors import AgentError
    from .. import Invocation


def admit(invocation: Invocation, metadata: Metadata | None, previews: bool) -> None:
    """Prepare what the command about to run declares, or refuse it.

    Where only its plan function may run, `Running.plans` is true afterwards.
    """
    call, writer = invocation.call, invocation.writer
    if invocation.running.waits_for or "until" in call.extra or "until_not" in call.extra:
        from ..waiting import check_reads

        check_reads(invocation, metadata)
    if not invocation.running.is_timed and not writer.is_tty():
        seconds = (metadata.timeout if metadata is not None else 0.0) or invocation.settings.timeout
        # Only of a call that is followed to its end, where somebody stops the clock.
        assumed = not seconds and invocation.capture is not None
        if assumed:
            seconds = usual_seconds(invocation.contract, metadata)
        if seconds > 0:
            from ...process.deadline import allow

            allow(invocation, seconds, assumed=assumed)
    if call.stream or call.no_stream or (metadata is not None and metadata.streams):
        from ...answer.streaming import prepare

        prepare(invocation)
    invocation.running.reveals = metadata is not None and metadata.reveals_secrets
    if invocation.secrets is not None:
        invocation.secrets.revealed = invocation.running.reveals
    if metadata is not None and metadata.traits:
        from .requirements import examine

        examine(invocation, metadata, metadata.traits)
    if writer._forgot_dry_run():  # the command before it in a chain
        from ...answer.presentation import ran_for_real

        invocation.refuse(ran_for_real())
    writer._expects_plan = writer._asked_dry_run = False
    # The command's own --dry-run is its handler's business, unless a plan function takes its place.
    dry_run = writer._dry_run and not previews
    dry_runnable = metadata is not None and metadata.dry_runnable
    if dry_run and not dry_runnable and call.level is not None and call.level.forwards:
        dry_run = False  # it is among the words the tool passes on
    reason = refusal(
        invocation, metadata, forced=writer.is_forced(), dry_run=dry_run, previews=previews
    )
    if reason is not None:
        shows_plan = invocation.contract.previews_unconfirmed
        if shows_plan and reason.error_type == "confirmation_required":
            from .confirmation import preview

            if preview(invocation, reason):
                return
        invocation.refuse(reason)
    if (dry_run and dry_runnable) or (previews and metadata is not None and metadata.plan):
        _expect_plan(invocation, metadata)
    invocation.extras.complete()
    if call.cursor is not None or (metadata is not None and metadata.lists is not None):
        from ...answer.requested import check_command

        check_command(invocation)
    if metadata is not None and metadata.traits and metadata.traits.protocol:
        from ...answer.protocols import leave_stdout

        leave_stdout(invocation)
    if metadata is not None and metadata.next and not writer.is_tty():
        from ...answer.advice import prepare

        prepare(invocation)


def usual_seconds(contract: Contract, metadata: Metadata | None) -> float:
    """Return the seconds a command may take that nobody has given a time; 0 for any."""
    if metadata is None:
        return contract.default_timeout
    serves = metadata.traits is not None and metadata.traits.protocol
    return 0.0 if serves or "timeout" in metadata.explicit else contract.default_timeout


def admit_nested(invocation: Invocation, metadata: Metadata | None, path: tuple[str, ...]) -> bool:
    """Let a command run that a handler calls, or refuse it; false where only its plan may run.

    What the caller typed for the command that was called holds for what its handler calls.
    """
    writer = invocation.writer
    invocation.running.begun.append((metadata, path))
    if not is_guarded(invocation, metadata, path):
        return True
    if writer._dry_run:
        if metadata is not None and metadata.plan is not None:
            return False
        if metadata is None or not metadata.dry_runnable:
            invocation.refuse(_no_preview(f"it runs {path[-1]!r}, which"))
        return True
    reason = refusal(invocation, metadata, path, forced=writer.is_forced())
    if reason is not None:
        invocation.refuse(reason)
    return True


def refusal(
    invocation: Invocation,
    metadata: Metadata | None,
    path: tuple[str, ...] | None = None,
    *,
    forced: bool,
    dry_run: bool = False,
    previews: bool = False,
) -> AgentError | None:
    """Return the reason a command may not run, or ``None``.

    *forced* says that the caller confirmed the change, *dry_run* that ``--dry-run`` was typed and
    is ours, *previews* that it was typed and is the command's own.
    """
    guard_dry_run = invocation.settings.guard_dry_run
    if dry_run and not (metadata and metadata.dry_runnable):
        return _no_preview("it")
    if dry_run and "--dry-run" in invocation.host.options(invocation.running.command):
        from ...line.usage import wrong_call

        # The command looks at its own, which was not typed: it would run for real.
        message = "--dry-run is an option of the command itself here."
        return wrong_call(message, "dry-run", "Pass --dry-run behind the command's name.")
    path = invocation.running.path if path is None else path
    if invocation.is_attended or forced or not is_guarded(invocation, metadata, path):
        return None
    if (dry_run or previews) and not guard_dry_run:
        return None
    from ...errors import AgentError

    declared = metadata is not None and metadata.mutating
    return AgentError.user_error(
        "This command mutates state and requires explicit confirmation."
        if declared
        else "This command is named like one that destroys, and requires explicit confirmation.",
        _advice(invocation, metadata),
        error_type="confirmation_required",
    )


def is_guarded(invocation: Invocation, metadata: Metadata | None, path: tuple[str, ...]) -> bool:
    """Return whether the command must be confirmed where nobody attends."""
    if metadata is not None and metadata.mutating:
        return True
    return invocation.settings.infers and _is_inferred(metadata, path or (invocation.host.name(),))


def _is_inferred(metadata: Metadata | None, path: tuple[str, ...]) -> bool:
    from ...declare.safety import declared_danger, inferred_danger

    return inferred_danger(path) == "destructive" and not declared_danger(metadata, path)


def _no_preview(what: str) -> AgentError:
    from ...line.usage import wrong_call

    # Running for real is the one thing the caller did not want.
    message = f"This command cannot preview: {what} does not support --dry-run."
    return wrong_call(message, "dry-run", "Nothing was run. Read what it does with --schema.")


def _advice(invocation: Invocation, metadata: Metadata | None) -> str:
    """Return what to type to confirm the call, and to see first what it would do."""
    host, command = invocation.host, invocation.running.command
    own, switches = set(host.options(command)), set(host.switches(command))
    # A --force of the command's own has a meaning of its own beside confirming.
    ways = [] if "--force" in own else ["--force"]
    if "--yes" not in own or "--yes" in switches:
        ways.append("--yes")
    elif not ways and "--force" in switches:
        ways.append("--force")
    place = ""
    if not ways:
        ways, place = ["--yes"], " before the command's name"
    advice = [f"Pass {' or '.join(ways)}{place} to proceed without a TTY."]
    traits = metadata.traits if metadata is not None else None
    others = [f"--{traits.confirm_flag}"] if traits is not None and traits.confirm_flag else []
    if "--confirm-destructive" in invocation.call.flags and not invocation.writer.is_tty():
        others.append("--confirm-destructive")
    if others:
        advice.append(f"{' and '.join(others)} {'confirm' if others[1:] else 'confirms'} as well.")
    can_preview = (metadata is not None and metadata.dry_runnable) or "--dry-run" in switches
    if can_preview and not invocation.settings.guard_dry_run:
        advice.append("Pass --dry-run to see what it would do.")
    return " ".join(advice)


def _expect_plan(invocation: Invocation, metadata: Metadata | None) -> None:
    """Have the plan function run, or see to it that the handler asks."""
    if metadata is None or metadata.plan is None:
        invocation.writer._expects_plan = True
        return
    from .confirmation import prepare_plan

    prepare_plan(invocation)
