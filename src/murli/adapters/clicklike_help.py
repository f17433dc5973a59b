"""Our options in the help of a click-like command."""

from __future__ import annotations

from ..commands.options import our_options

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..runtime.invocation import Invocation
    from .clicklike import Enabled


def our_section(
    enabled: Enabled, path: tuple[str, ...], command: Any, invocation: Invocation
) -> str:
    """Give what to append to the help of *command*: what its reader can use of ours.

    Plain text, because some frameworks draw their help in a way of their own.
    """
    for_agents = not invocation.writer.is_tty()
    own = {name for param in command.params for name in param.opts}
    options = our_options(enabled.metadata_at(command, path), for_agents, own)
    if not options:
        return ""
    rows = [
        (" ".join(filter(None, (", ".join(option.names), option.metavar))), option.help)
        for option in options
    ]
    width = max(len(names) for names, _ in rows)
    lines = ["", "", "Agent options:" if for_agents else "Safety:"]
    lines += [f"  {names:<{width}}  {told}" for names, told in rows]
    if for_agents and not path:
        lines += ["", f"Run '{invocation.host.name()} describe' for all commands as JSON."]
    return "\n".join(lines)
