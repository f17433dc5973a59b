"""Profiles in what argcomplete completes of a parser.

argcomplete lets the parser parse the words before the cursor, and then looks at which actions
could take one more. So ours leave the words before that parse, as they do in a real call, and
what may be completed of them is put among the actions after it.
"""

from __future__ import annotations

import argparse

from ...commands.completion import OPTION_HELP, WORD, Profiles
from ...core import metadata_of, subparsers_of
from ...line.scanning import has_profileable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from . import Enabled


def prepare(enabled: Enabled, own_parse: Callable[..., Any]) -> None:
    """Let argcomplete find ours in the parser, should it ask.

    *own_parse* is the parser's own ``parse_known_args``: a parse that completes is no call, and
    must not be answered as one.
    """
    parser: Any = enabled.parser
    our_parse = parser.parse_known_args

    def parse_known_args(args: Any = None, namespace: Any = None, *more: Any, **named: Any) -> Any:
        if args is None or not _asks(parser):
            return our_parse(args, namespace, *more, **named)
        profiles = Profiles(enabled.host(), enabled.settings)
        if not profiles.exist():
            return own_parse(args, namespace, *more, **named)
        typed = profiles.read(args)
        try:
            words = typed.before if typed.mounted else typed.rest
            return own_parse(words, namespace, *more, **named)
        finally:  # a line that is not complete does not parse
            if typed.mounted:
                parser.active_actions = [_Taker(profiles.words_behind(typed.rest))]
            elif typed.profile == WORD:
                typed.level.parser.active_actions = [_Taker(profiles.names())]
            else:
                _add(parser, profiles, args)

    parser.parse_known_args = parse_known_args


def _asks(parser: Any) -> bool:
    """Return whether argcomplete parses; it leaves its mark on the parser before it does."""
    return any(base.__name__ == "IntrospectiveArgumentParser" for base in type(parser).__mro__)


def _add(root: Any, profiles: Profiles, words: Sequence[str]) -> None:
    """Add the words of ours that may follow *words*."""
    level = profiles.level_of_option(words)
    if level is not None and _makes_a_difference(root, level.path):
        level.parser._actions.append(_Taker({}))
    first_words = profiles.first_words(words)
    if first_words:
        root.active_actions.append(_Taker(first_words, is_option=False))


def _makes_a_difference(parser: argparse.ArgumentParser, path: Sequence[str]) -> bool:
    """Return whether a profile may hold a flag of one of the parsers on *path*."""
    found = [parser]
    for name in path:
        found.append(subparsers_of(found[-1]).choices[name])
    return any(has_profileable(metadata_of(each)) for each in found)


class _Taker(argparse.Action):
    """What argcomplete takes for an action waiting for one of *words*; argparse never meets it.

    An option has the next word for itself, anything else shares it.
    """

    # What argcomplete notes about an action when it prepares a parser; this one comes later.
    _orig_class = argparse.Action

    def __init__(self, words: Mapping[str, str], *, is_option: bool = True) -> None:
        names = ["--profile"] if is_option else []
        super().__init__(names, dest=argparse.SUPPRESS, help=OPTION_HELP)
        self._words = words

    def completer(self, **asked: object) -> Mapping[str, str]:
        """Return the words, with what they mean."""
        return self._words
