"""Whether a command may run at all: what was declared about it, and said about this call."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..errors import AgentError
    from ..metadata import Metadata
    from .invocation import Invocation


def admit(invocation: Invocation, metadata: Metadata | None, previews: bool) -> bool:
    """Prepare what the command about to run declares, or refuse it.

    False when it runs only to tell what it would do, and the refusal stands.
    """
    call, writer = invocation.call, invocation.writer
    if not invocation.timed and not writer.is_tty():
        seconds = (metadata.timeout if metadata is not None else 0.0) or invocation.settings.timeout
        # Only of a call that is followed to its end, where somebody stops the clock.
        assumed = not seconds and invocation.in_family and invocation.capture is not None
        if assumed:
            from .family import default_timeout

            seconds = default_timeout(metadata)
        invocation.allow(seconds, assumed=assumed)
    if call.stream or call.no_stream or (metadata is not None and metadata.streams):
        from .streaming import prepare

        prepare(invocation)
    invocation.reveals = metadata is not None and metadata.reveals_secrets
    if invocation.secrets is not None:
        invocation.secrets.revealed = invocation.reveals
    if metadata is not None and metadata.traits:
        from .traits import examine

        examine(invocation, metadata)
    dry_run = call.dry_run
    if dry_run and not (metadata and metadata.dry_runnable) and call.level.forwards:
        dry_run = False  # it is among the words the tool passes on
    reason = refusal(
        metadata,
        unattended=not invocation.stdout_is_terminal or not writer.is_tty(),
        forced=writer.is_forced(),
        previews=previews,
        dry_run=dry_run,
        guard_dry_run=invocation.settings.guard_dry_run,
    )
    if reason is not None:
        if invocation.in_family and reason.error_type == "confirmation_required":
            from .confirmation import preview

            if preview(invocation, reason):
                return False
        invocation.refuse(reason)
    if invocation.in_family or call.extra:
        from .family import complete

        complete(invocation)
    if invocation.shaper is not None or (metadata is not None and metadata.lists is not None):
        from .asking import check_command

        check_command(invocation)
    if metadata is not None and metadata.traits and metadata.traits.protocol:
        from .protocols import leave_stdout

        leave_stdout(invocation)
    return True


def refusal(
    metadata: Metadata | None,
    *,
    unattended: bool,
    forced: bool,
    dry_run: bool,
    previews: bool = False,
    guard_dry_run: bool,
) -> AgentError | None:
    """Give the reason a command may not run, or ``None``.

    *unattended* is true unless a person sits at a terminal in human mode: a flag that only
    changes the rendering must not open the guard. *previews* says that the command has a
    ``--dry-run`` of its own and was given it.
    """
    if dry_run and not (metadata and metadata.dry_runnable):
        from ..errors import AgentError

        # Running for real is the one thing the caller did not want.
        return AgentError.user_error(
            "This command cannot preview: it does not support --dry-run.",
            "Leave --dry-run out to run it for real.",
            error_type="flag_error",
            field="dry-run",
        )
    if metadata is None or not metadata.mutating or not unattended or forced:
        return None
    if (dry_run or previews) and not guard_dry_run:
        return None
    from ..errors import AgentError

    traits = metadata.traits
    own = f"--{traits.confirm_flag}, " if traits is not None and traits.confirm_flag else ""
    return AgentError.user_error(
        "This command mutates state and requires explicit confirmation.",
        f"Pass {own}--force or --yes to proceed without a TTY.",
        error_type="confirmation_required",
    )
