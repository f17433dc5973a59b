"""What our options add to a tool's help: nothing a person at a terminal cannot use."""

from __future__ import annotations

import argparse

from ..commands.options import our_sections
from ..runtime import metadata_of
from .argparse_levels import subparsers_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..runtime.invocation import Invocation


def our_section(parser: argparse.ArgumentParser, invocation: Invocation) -> str:
    """Give what to append to the help of *parser*, or ``""``."""
    runner: Any = invocation.runner
    # One that is handed a part of the words, or keeps what it does not know, may not see ours.
    sees_all = invocation.settings.mount and not getattr(runner, "forwards", False)
    is_root = sees_all and parser is getattr(runner, "parser", None)
    own = parser._option_string_actions
    text = ""
    found = our_sections(
        invocation,
        metadata_of(parser),
        own,
        is_root=is_root,
        is_group=subparsers_of(parser) is not None,
    )
    for title, options, closing in found:
        formatter = parser._get_formatter()
        formatter.start_section(title)
        for option in options:
            formatter.add_argument(
                argparse.Action(
                    option.names,
                    dest=option.names[0].lstrip("-"),
                    nargs=None if option.metavar else 0,
                    default=argparse.SUPPRESS,  # or a formatter that shows defaults names one
                    metavar=option.metavar or None,
                    help=option.help,
                )
            )
        formatter.end_section()
        text += "\n" + formatter.format_help()
        if closing:
            text += f"\n{closing}\n"
    return text
