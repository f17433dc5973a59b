"""Parsers of subclasses whose methods take other arguments than argparse's own.

What a tool calls them with is handed through as it came. Only the words, once ours are out of them,
go in where the words were; where those are not among the arguments, they are exchanged where
argparse itself comes to see them.
"""

from __future__ import annotations

import sys

from ...line.calls import scan_again
from .. import stand_in
from . import is_own
from .levels import Separators

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from ...call import Invocation
    from . import Enabled


def words_in(method: Callable[..., Any], given: tuple[Any, ...], named: dict[str, Any]) -> Any:
    """Return the words among the arguments of *method*; ``None`` for the program's own."""
    place = _place_of_words(method, given, named)
    if place is None:
        return None
    return named[place] if isinstance(place, str) else given[place]


def parse_by_signature(
    enabled: Enabled,
    invocation: Invocation,
    method: Callable[..., Any],
    given: tuple[Any, ...],
    named: dict[str, Any],
) -> Any:
    """Return what *method* makes of the call, with the words that are not ours."""
    rest, words = invocation.call.rest, words_in(method, given, named)
    take_back = None
    if words is not None and rest != list(words):
        given, named = with_words(method, given, named, rest)
    elif words is None and rest != sys.argv[1:]:
        take_back = _exchange_words(enabled.parser, invocation)

    def parse() -> Any:
        with Separators(invocation.call.separated):
            return method(*given, **named)

    try:
        return enabled.guide(invocation, enabled.parser, parse)
    finally:
        if take_back is not None:
            take_back()


def with_words(
    method: Callable[..., Any], given: tuple[Any, ...], named: dict[str, Any], words: list[str]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments of *method* with these *words* where its own were."""
    place = _place_of_words(method, given, named)
    if isinstance(place, str):
        return given, {**named, place: words}
    return (given if place is None else (*given[:place], words, *given[place + 1 :])), named


def _place_of_words(
    method: Callable[..., Any], given: tuple[Any, ...], named: dict[str, Any]
) -> int | str | None:
    """Return where the words stand: a position in *given*, a name in *named*, or nowhere."""
    if _are_words(named.get("args")):
        return "args"
    if is_own(method):
        return 0 if given and _are_words(given[0]) else None
    import inspect

    try:
        parameters = list(inspect.signature(method).parameters.values())
    except (TypeError, ValueError):  # written in C, or no function at all
        return None
    for position, parameter in enumerate(parameters[: len(given)]):
        is_rest = parameter.kind is parameter.VAR_POSITIONAL  # handed on to argparse as they are
        if (parameter.name == "args" or is_rest) and _are_words(given[position]):
            return position
    return None


def _are_words(value: object) -> bool:
    return isinstance(value, (list, tuple)) and all(isinstance(word, str) for word in value)


def _exchange_words(parser: Any, invocation: Invocation) -> Callable[[], None]:
    """Let *parser* see its words without ours, wherever they come from; return the end of that."""
    own = parser._parse_known_args

    def parse_known_args(words: Sequence[str], *more: Any, **named: Any) -> Any:
        if list(words) == list(invocation.request.argv):
            return own(list(invocation.call.rest), *more, **named)
        return own(scan_again(invocation, list(words)).rest, *more, **named)

    return stand_in(parser, "_parse_known_args", parse_known_args)
