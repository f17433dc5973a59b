"""Several parsers in one process, and parsers that parse more than once.

A program may parse its configuration first, read a few options before it knows the others, or hand
what one parser left to another. The call is the one on the program's own words; there is one answer
to it, and everything else that is parsed is a part of the program.
"""

from __future__ import annotations

from ... import core
from ...call import Invocation
from ...call.ending import answer_stream
from ...call.ending.succession import running
from ...core import Settings, mentions_secret
from ...line.calls import scan_again
from ...line.flags import names_where
from ...line.option_words import hide_unknown
from ..nested import Inside, enclosing, intent_in, owner_of, stays
from .later import add_intent
from .levels import ParserLevel, Separators
from .signatures import with_words, words_in
from .values import secret_options

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from . import Enabled


# The flags that ask what the tool is.
_DESCRIBING = names_where(lambda flag: flag.group == "describe")


def invocation_among(enabled: Enabled, argv: list[str]) -> Invocation:
    """Return the invocation that *enabled* parses *argv* for, a new one or the running one.

    Behind an answer of ours there is none: a program that goes on all the same is ended.
    """
    enabled.joins = False
    around = enclosing()
    if around is not None:
        enabled.joins = True
        return around
    above, stream = running(), answer_stream()
    whose = owner_of(argv)
    if above is not None and not argv and above.request.runner is not enabled:
        whose = "part"  # another parser led here, and left nothing
    if above is not None and stays(above, whose):
        enabled.joins = True
        return above
    settings = enabled.settings
    if above is not None and above.settings.is_program:
        settings = above.settings
    changes: dict[str, Any] = {}
    is_ahead = enabled.forwards and reads_ahead(enabled.parser)
    if whose == "part" or is_ahead:  # a word that led here is before them, or comes after them
        changes["mount"] = False
    if above is not None and (whose == "other" or owner_of(above.request.argv) == "other"):
        above = None
    if above is not None and not settings.tool_version:
        changes["tool_version"] = enabled.version() or above.request.tool_version()
    if changes:
        settings = Settings(**{**vars(settings), **changes})
    invocation = Invocation(enabled, settings, argv, stream, above=above)
    invocation.request.is_part = whose == "part"
    if is_ahead and not _DESCRIBING.isdisjoint(argv):
        # Left to the parser that comes after it, which is the tool.
        invocation.request.call = scan_again(invocation, argv, _DESCRIBING)
    return invocation


def reads_ahead(parser: Any) -> bool:
    """Return whether *parser* only looks for options before another one parses the call.

    It has no help to show, and takes no word: the tool alone knows the words.
    """
    return not (
        parser._get_positional_actions()
        or {"-h", "--help"}.intersection(parser._option_string_actions)
    )


def parse_within(
    enabled: Enabled,
    invocation: Invocation,
    method: Callable[..., Any],
    given: tuple[Any, ...],
    named: dict[str, Any],
) -> Any:
    """Return what *method* parses while *invocation* is the call, of which it is a part.

    Flags of ours that confirm or preview are taken from its words, where commands need them.
    """
    changes = core.declares_changes or invocation.settings.infers
    separated: list[Any] = []
    words = words_in(method, given, named)
    if words and mentions_secret("\0".join((*words, ""))):
        secret_options(enabled.parser).hide_in(words, invocation)
        hide_unknown(words, set(), invocation)
    if changes and words:
        level = ParserLevel(enabled.parser)
        found = intent_in(words, level, invocation)
        add_intent(invocation.call, found, level)
        given, named = with_words(method, given, named, found.rest)
        separated = found.separated

    def parse() -> Any:
        with Separators(separated):
            return method(*given, **named)

    enabled.parsing = True
    with Inside(invocation, enabled):
        return enabled.guide(invocation, enabled.parser, parse, admits=changes)
