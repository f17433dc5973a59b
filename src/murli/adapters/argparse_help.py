"""What our options add to a tool's help: nothing a person at a terminal cannot use."""

from __future__ import annotations

import argparse

from ..commands.options import our_options
from ..runtime.settings import metadata_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..runtime.invocation import Invocation


def our_section(parser: argparse.ArgumentParser, invocation: Invocation) -> str:
    """Give the section to append to the help of *parser*, or ``""``."""
    for_agents = not invocation.writer.is_tty()
    options = our_options(metadata_of(parser), for_agents, parser._option_string_actions)
    if not options:
        return ""
    formatter = parser._get_formatter()
    formatter.start_section("agent options" if for_agents else "safety")
    for option in options:
        formatter.add_argument(
            argparse.Action(
                option.names,
                dest=option.names[0].lstrip("-"),
                nargs=None if option.metavar else 0,
                metavar=option.metavar or None,
                help=option.help,
            )
        )
    formatter.end_section()
    text = formatter.format_help()
    if for_agents and parser is getattr(invocation.host, "parser", None):
        text += f"\nRun '{invocation.host.name()} describe' for all commands as JSON.\n"
    return "\n" + text
