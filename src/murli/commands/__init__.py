"""The commands murli mounts on every tool, written once over the command tree."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

    from ..runtime.invocation import Invocation


def run_mounted(invocation: Invocation) -> NoReturn:
    """Run the mounted command that was called, and end the program."""
    if invocation.call.mounted == "describe":
        from .describe import run
    elif invocation.call.mounted == "profile":
        from .profile import run
    else:
        from .doctor import run
    run(invocation)
