"""Whether a command may run at all: what was declared about it, and typed on this call."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..errors import AgentError
    from ..metadata import Metadata
    from .invocation import Invocation


def admit(invocation: Invocation, metadata: Metadata | None, previews: bool) -> None:
    """Prepare what the command about to run declares, or refuse it.

    Where only its plan function may run, `Invocation.plans` is true afterwards.
    """
    call, writer = invocation.call, invocation.writer
    if not invocation.timed and not writer.is_tty():
        seconds = (metadata.timeout if metadata is not None else 0.0) or invocation.settings.timeout
        # Only of a call that is followed to its end, where somebody stops the clock.
        assumed = not seconds and invocation.in_family and invocation.capture is not None
        if assumed:
            from .family import default_timeout

            seconds = default_timeout(metadata)
        if seconds > 0:
            from .deadline import allow

            allow(invocation, seconds, assumed=assumed)
    if call.stream or call.no_stream or (metadata is not None and metadata.streams):
        from .streaming import prepare

        prepare(invocation)
    invocation.reveals = metadata is not None and metadata.reveals_secrets
    if invocation.secrets is not None:
        invocation.secrets.revealed = invocation.reveals
    if metadata is not None and metadata.traits:
        from .traits import examine

        examine(invocation, metadata)
    if writer.forgot_dry_run():  # the command before it in a chain
        invocation.refuse(ran_for_real())
    writer.expects_plan = writer.asked_dry_run = False
    # The command's own --dry-run is its handler's business, unless a plan function takes its place.
    dry_run = writer.dry_run and not previews
    dry_runnable = metadata is not None and metadata.dry_runnable
    if dry_run and not dry_runnable and call.level is not None and call.level.forwards:
        dry_run = False  # it is among the words the tool passes on
    reason = refusal(
        invocation, metadata, forced=writer.is_forced(), dry_run=dry_run, previews=previews
    )
    if reason is not None:
        if invocation.in_family and reason.error_type == "confirmation_required":
            from .confirmation import preview

            if preview(invocation, reason):
                return
        invocation.refuse(reason)
    if (dry_run and dry_runnable) or (previews and metadata is not None and metadata.plan):
        _expect_plan(invocation, metadata)
    if invocation.in_family or call.extra:
        from .family import complete

        complete(invocation)
    if invocation.shaper is not None or (metadata is not None and metadata.lists is not None):
        from .asking import check_command

        check_command(invocation)
    if metadata is not None and metadata.traits and metadata.traits.protocol:
        from .protocols import leave_stdout

        leave_stdout(invocation)


def admit_nested(invocation: Invocation, metadata: Metadata | None, path: tuple[str, ...]) -> bool:
    """Let a command run that a handler calls, or refuse it; false where only its plan may run.

    What the caller typed for the command that was called holds for what its handler calls.
    """
    writer = invocation.writer
    invocation.begun.append((metadata, path))
    if not is_guarded(invocation, metadata, path):
        return True
    if writer.dry_run:
        if metadata is not None and metadata.plan is not None:
            return False
        if metadata is None or not metadata.dry_runnable:
            invocation.refuse(_no_preview(f"It runs {path[-1]!r}, which"))
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
        return _no_preview("It")
    if dry_run and "--dry-run" in invocation.host.options(invocation.command):
        from ..errors import AgentError

        # The command looks at its own, which was not typed: it would run for real.
        return AgentError.user_error(
            "--dry-run is an option of the command itself here.",
            "Pass --dry-run behind the command's name.",
            error_type="flag_error",
            field="dry-run",
        )
    path = invocation.path if path is None else path
    if invocation.is_attended or forced or not is_guarded(invocation, metadata, path):
        return None
    if (dry_run or previews) and not guard_dry_run:
        return None
    from ..errors import AgentError

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
    from ..safety import declared_danger, inferred_danger

    return inferred_danger(path) == "destructive" and not declared_danger(metadata, path)


def _no_preview(what: str) -> AgentError:
    from ..errors import AgentError

    # Running for real is the one thing the caller did not want.
    return AgentError.user_error(
        f"This command cannot preview: {what[0].lower()}{what[1:]} does not support --dry-run.",
        "Nothing was run. Read what it does with --schema.",
        error_type="flag_error",
        field="dry-run",
    )


def _advice(invocation: Invocation, metadata: Metadata | None) -> str:
    """Return what to type to confirm the call, and to see first what it would do."""
    own, switches = (
        set(invocation.host.options(invocation.command)),
        set(invocation.host.switches(invocation.command)),
    )
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
    if invocation.in_family:
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
        invocation.writer.expects_plan = True
        return
    from .confirmation import prepare_plan

    prepare_plan(invocation)


def ran_for_real() -> AgentError:
    """Return the failure of a dry run whose handler never asked whether it was one."""
    from ..errors import AgentError

    return AgentError.tool_error(
        "The command ran for real: its handler never asked whether this is a dry run.",
        "Look at what it changed. Its author must declare Metadata(plan=…), or ask is_dry_run().",
        error_type="dry_run_ignored",
    )


def also_ran(error: AgentError) -> AgentError:
    """Return *error*, by which such a handler failed, as one that says that it ran."""
    from copy import copy

    real = ran_for_real()
    if error.error_type == real.error_type:
        return error
    error = copy(error)
    message = str(error.message).rstrip()
    error.message = f"{message}{'' if message.endswith(('.', '!', '?')) else '.'} {real.message}"
    hint = str(error.suggestion)
    error.suggestion = (
        real.suggestion if "try again" in hint.lower() else f"{real.suggestion} {hint}".rstrip()
    )
    error.recoverable = error.recoverable_said = error.promised = False
    error.retry_after_ms = 0
    return error
