"""Whether a command may run at all: dangerous operations need explicit intent."""

from __future__ import annotations

from ..errors import AgentError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..metadata import Metadata


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
    traits = metadata.traits
    own = f"--{traits.confirm_flag}, " if traits is not None and traits.confirm_flag else ""
    return AgentError.user_error(
        "This command mutates state and requires explicit confirmation.",
        f"Pass {own}--force or --yes to proceed without a TTY.",
        error_type="confirmation_required",
    )
