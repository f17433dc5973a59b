"""A parser of its own that the program lets parse the words which the enabled one left."""

from __future__ import annotations

import argparse

from ..nested import intent_in
from .levels import ParserLevel, Separators

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ...call import Invocation
    from ...core import Call
    from . import Enabled


def parse_later(
    enabled: Enabled, invocation: Invocation, parser: Any, words: list[str], *more: Any
) -> Any:
    """Return what *parser* makes of *words*, admitted by the guard like a command of the tool."""
    level = ParserLevel(parser)
    found = intent_in(words, level, invocation)

    def parse() -> Any:
        with Separators(found.separated):
            return parser._parse_known_args(found.rest, *more)

    add_intent(invocation.call, found, level)
    is_admitted = any(parser is each for each in enabled.admitted)
    if is_admitted or _reads_options_only(parser):
        return enabled.guide(invocation, parser, parse, admits=False)
    # The enabled parser only led here: no handler has begun.
    invocation.writer._expects_plan = False
    invocation.writer._reply.phase = "validation"
    if found.mistake is not None:
        invocation.refuse(found.mistake)
    enabled.admitted.append(parser)
    return enabled.guide(invocation, parser, parse, _path(enabled, parser))


def add_intent(call: Call, found: Call, level: ParserLevel) -> None:
    """Make *call* that of the parser at *level*, on which *found* was typed."""
    if call.level is not None and call.level.forwards:
        # What the enabled parser passed on is an option of this one, if it has such an option.
        call.force = call.force and not (level.owns("--force") or level.owns("--yes"))
        call.dry_run = call.dry_run and not level.owns("--dry-run")
    call.force |= found.force
    call.dry_run |= found.dry_run
    call.extra.update(found.extra)
    call.level = level


def _reads_options_only(parser: argparse.ArgumentParser) -> bool:
    """Return whether this is the first of the two passes of intermixed parsing."""
    return any(each.nargs == argparse.SUPPRESS for each in parser._get_positional_actions())


def _path(enabled: Enabled, parser: argparse.ArgumentParser) -> tuple[str, ...]:
    """Return the names of *parser* below the tool's own, taken from its ``prog``."""
    first, *below = parser.prog.split() or [""]
    return tuple(below) if first == enabled.name() and below else (parser.prog,)
