"""What our options add to a tool's help: nothing a person at a terminal cannot use."""

from __future__ import annotations

import argparse

from ...commands.options import our_sections
from ...core import metadata_of, subparsers_of
from .levels import ParserLevel

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ...call import Invocation
    from ...declare.tree import Command


def our_section(parser: argparse.ArgumentParser, invocation: Invocation) -> str:
    """Return what to append to the help of *parser*, or ``""``."""
    runner: Any = invocation.request.runner
    root = getattr(runner, "parser", None)
    # One that is handed a part of the words, or keeps what it does not know, may not see ours.
    sees_all = invocation.settings.mount and not getattr(runner, "forwards", False)

    def sections() -> str:
        return _sections(parser, invocation, is_root=sees_all and parser is root)

    if invocation.writer.is_tty():
        return sections()
    from ...commands.card import with_card

    def find() -> Command | None:
        if parser is root:
            return invocation.host.tree()
        level = next((each for each in _levels(root) if each.parser is parser), None)
        return invocation.host.command(level) if level is not None else None

    is_root = parser is root
    text = with_card(invocation, sections, find, is_root=is_root, offers_own=sees_all)
    return f"\n{text}\n" if text else ""


def _levels(
    root: argparse.ArgumentParser | None, path: tuple[str, ...] = ()
) -> Iterator[ParserLevel]:
    """Yield the parsers below *root*, each by the name it was defined with."""
    subparsers = subparsers_of(root) if root is not None else None
    for name, parser in subparsers.choices.items() if subparsers is not None else ():
        yield ParserLevel(parser, (*path, name), subparsers)
        yield from _levels(parser, (*path, name))


def _sections(parser: argparse.ArgumentParser, invocation: Invocation, *, is_root: bool) -> str:
    own = parser._option_string_actions
    text = ""
    found = our_sections(
        invocation,
        metadata_of(parser),
        own,
        tuple(parser.prog.split()[1:]),
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
