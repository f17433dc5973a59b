"""Our options in the help of a click-like command."""

from __future__ import annotations

from ...commands.options import our_sections
from ...core import is_group
from . import HOOKED
from .levels import CommandLevel
from .tree import explains

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any

    from ...call import Invocation
    from ...declare.tree import Command
    from . import Enabled


def our_section(
    enabled: Enabled, path: tuple[str, ...], command: Any, invocation: Invocation
) -> str:
    """Return what to append to the help of *command*: what its reader can use of ours.

    Plain text, because some frameworks draw their help in a way of their own.
    """
    invocation.running.explains_ours = True

    def sections() -> str:
        return _sections(enabled, path, command, invocation)

    if invocation.writer.is_tty():
        return sections()
    from ...commands.card import with_card

    def find() -> Command:
        host = invocation.host
        return host.command(CommandLevel(command, path[-1], path)) if path else host.tree()

    text = with_card(invocation, sections, find, is_root=not path)
    return f"\n\n{text}" if text else ""


def is_for_own_help(frame: FrameType | None) -> bool:
    """Return whether a --help of the tool's own asks for the help text; *frame* is who asks."""
    from .errors import in_framework

    while frame is not None and in_framework(frame):
        frame = frame.f_back
    while frame is not None and not in_framework(frame):  # the callback of the tool, else ours
        frame = frame.f_back
    while frame is not None and in_framework(frame):
        if explains(frame.f_locals.get("self"), frame.f_locals.get("ctx")):
            return True
        frame = frame.f_back
    return False


def add_to_own_help(option: Any, ctx: Any, invocation: Invocation) -> None:
    """Print our part of the help where *option* is a --help by which a tool prints its own."""
    hooked = getattr(ctx.command, HOOKED, None)
    if hooked is None or "--help" not in option.opts:
        return
    enabled, path = hooked
    print(our_section(enabled, path, ctx.command, invocation).removeprefix("\n"))


def _sections(enabled: Enabled, path: tuple[str, ...], command: Any, invocation: Invocation) -> str:
    own = {name for param in command.params for name in param.opts}
    metadata = enabled.metadata_at(command, path)
    lines: list[str] = []
    found = our_sections(
        *(invocation, metadata, own, path), is_root=not path, is_group=is_group(command)
    )
    for title, options, closing in found:
        rows = [
            (" ".join(filter(None, (", ".join(option.names), option.metavar))), option.help)
            for option in options
        ]
        width = max(len(names) for names, _ in rows)
        lines += ["", f"{title.capitalize()}:"]
        lines += [f"  {names:<{width}}  {explanation}" for names, explanation in rows]
        if closing:
            lines += ["", closing]
    return "\n".join(["", *lines]) if lines else ""
