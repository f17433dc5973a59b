"""The commands murli mounts on every tool, written once over the command tree."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

    from ..call import Invocation
    from ..declare.tree import Command


def run_mounted(invocation: Invocation) -> Invocation:
    """Run the mounted command that was called, and end the program.

    Comes back only from ``exec`` and ``mcp``, in the process of one of their calls, with that.
    """
    host, call = invocation.host, invocation.call
    if call.before:  # the secrets that were given to the tool itself
        host.secret_options(host.level()).hide_in(call.before, invocation)
    if call.mounted == "exec":
        from .dispatch import run
    elif call.mounted == "mcp":
        from .serving import run
    elif call.mounted == "describe":
        from .describe import run
    elif call.mounted == "profile":
        from .profile import run
    elif call.mounted == "manifest":
        from .manifest import run
    else:
        from .doctor import run
    return run(invocation)


def run_for_each_value(invocation: Invocation) -> Invocation | None:
    """Run the command for each of several values, where it was given such, and end the program.

    Returns a call for one of them, in its own process; ``None`` where there is nothing to do.
    """
    from .batches import run

    return run(invocation)


def refuse_several_values(invocation: Invocation) -> None:
    """Refuse a call with several values of a command that is known too late to run for each."""
    from .batches import refuse_several

    refuse_several(invocation)


def show_schema(invocation: Invocation) -> NoReturn:
    """Answer ``--schema``, and end the program."""
    from .describe import show_schema as show

    show(invocation)


def own_commands(invocation: Invocation) -> list[Command]:
    """Return the commands that murli mounts on the running tool."""
    from .own import own_commands as listed

    return listed(invocation)


def advise(invocation: Invocation) -> None:
    """Show the author at the terminal what ``doctor`` would change."""
    from .doctor import advise as show

    show(invocation)
