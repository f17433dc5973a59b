"""Our options in the help of a click-like command."""

from __future__ import annotations

from ..commands.options import our_options

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..runtime.invocation import Invocation
    from .clicklike import Enabled


def add_our_options(
    formatter: Any, enabled: Enabled, command: Any, path: tuple[str, ...], invocation: Invocation
) -> None:
    """Write the section that a person, or an agent, can use of ours."""
    for_agents = not invocation.writer.is_tty()
    own = {name for param in command.params for name in param.opts}
    options = our_options(enabled.metadata_at(command, path), for_agents, own)
    if not options:
        return
    with formatter.section("Agent options" if for_agents else "Safety"):
        formatter.write_dl(
            [(" ".join(filter(None, (", ".join(option.names), option.metavar))), option.help)
             for option in options]
        )  # fmt: skip
    if for_agents and not path:
        formatter.write_paragraph()
        formatter.write_text(f"Run '{enabled.name()} describe' for all commands as JSON.")
