"""Our options in the help of a click-like command."""

from __future__ import annotations

from ..commands.options import our_sections
from .clicklike import is_group

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
    own = {name for param in command.params for name in param.opts}
    metadata = enabled.metadata_at(command, path)
    lines: list[str] = []
    found = our_sections(invocation, metadata, own, is_root=not path, is_group=is_group(command))
    for title, options, closing in found:
        rows = [
            (" ".join(filter(None, (", ".join(option.names), option.metavar))), option.help)
            for option in options
        ]
        width = max(len(names) for names, _ in rows)
        lines += ["", f"{title.capitalize()}:"]
        lines += [f"  {names:<{width}}  {told}" for names, told in rows]
        if closing:
            lines += ["", closing]
    return "\n".join(["", *lines]) if lines else ""
