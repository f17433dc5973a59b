"""Parsers that add options only when they parse, as those of ``simple_parsing`` do.

Which words are the tool's has to be known before that, and what the tool has to be described. So
they are made to add their options a little earlier, by the method they do it with; it does nothing
when they come to it themselves.
"""

from __future__ import annotations

import contextlib
import io

from ...core import subparsers_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def fill(parser: Any, argv: list[str]) -> None:
    """Let *parser*, and those of its commands, add the options they have for *argv*.

    Which there are may depend on the values of others. A parser that reads a configuration before
    is left alone: it takes defaults from there.
    """
    if getattr(parser, "config_path", None) or getattr(parser, "add_config_path_arg", None):
        return
    try:
        # A wrong value is refused again, and for all to see, when the tool parses.
        with contextlib.redirect_stderr(io.StringIO()):
            parser._preprocessing(argv)
    except (SystemExit, Exception):
        return
    subparsers = subparsers_of(parser)
    for name, each in dict.items(subparsers.choices) if subparsers is not None else ():
        if hasattr(each, "_preprocessing"):
            fill(each, argv[argv.index(name) + 1 :] if name in argv else [])
