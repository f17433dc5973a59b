"""Deprecations in a parser: those of argparse itself, which has them from 3.13, and ours.

argparse writes its own as text to stderr. Where the answer has a place for them they go there; what
they are about is still in the frame that writes.
"""

from __future__ import annotations

import argparse
import sys

from ...answer.python_warnings import note_command, note_parameter
from ...core import metadata_of, subparsers_of
from .. import stand_in
from .noted import path_to
from .values import names_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from ...call import Invocation


def listen(
    parser: argparse.ArgumentParser,
    chosen: Sequence[argparse.ArgumentParser],
    invocation: Invocation,
) -> Callable[[], None]:
    """Put what *parser* would write to stderr into the answer; return what ends that.

    *chosen* are the parsers that the parse has gone through so far.
    """

    def warning(message: str) -> None:
        seen = sys._getframe(1).f_locals
        action: Any = seen.get("action")
        if "parser_name" in seen:
            name = str(seen["parser_name"])
            called = seen["self"]._name_parser_map[name]
            # From 3.14 on argparse says so before it goes on to that parser.
            path = path_to(chosen) if chosen[-1] is called else (*path_to(chosen), name)
            if _declared(called) is None:
                note_command(invocation, path, None, True)
        elif isinstance(action, argparse.Action):
            name = seen["option_string"] if action.option_strings else action.dest
            if not action.option_strings or not _is_noted(parser, action):
                note_parameter(invocation, str(name), None, True)
        else:
            invocation.writer.warn("PARSER_WARNING", message)

    return stand_in(parser, "_warning", warning)


def note_commands(chosen: Sequence[argparse.ArgumentParser], invocation: Invocation) -> None:
    """Warn of the parsers that a parse went through and that are deprecated in our words."""
    for count, parser in enumerate(chosen, 1):
        declared = _declared(parser)
        if declared is None:
            continue
        path = path_to(chosen[:count])
        above = subparsers_of(chosen[count - 2]) if count > 1 else None
        # argparse has warned a person in its own way.
        is_deprecated = bool(path) and path[-1] in getattr(above, "_deprecated", ())
        if invocation.contract.has_warnings or not is_deprecated:
            note_command(invocation, path, declared)


def _declared(parser: Any) -> Any:
    metadata = metadata_of(parser)
    return metadata.deprecated if metadata is not None else None


def _is_noted(parser: argparse.ArgumentParser, action: argparse.Action) -> bool:
    """Return whether our words about *action* say that it is deprecated: then they are used."""
    metadata = metadata_of(parser)
    note = metadata.flag_annotations.get(names_of(action)[0]) if metadata is not None else None
    return note is not None and note.deprecated is not None
