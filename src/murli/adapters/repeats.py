"""An option that is given twice with two values, which frameworks answer with the last of them.

The ResponseEnvelope contracts refuse such a call: one of the values is a mistake. Options that
collect or count are meant to be given more than once, and of two switches the last one counts.
So it does where a tool adds words of its own, from a variable or a file, to those of the caller.
"""

from __future__ import annotations

import sys

from . import stand_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence
    from typing import Any, NoReturn

    from ..call import Invocation


def watch_click_parser(command: Any, invocation: Invocation) -> Callable[[], None]:
    """Refuse repeated options while *command* parses; return what ends that."""
    own = command.make_parser

    def make_parser(ctx: Any) -> Any:
        parser = own(ctx)
        if not ctx.resilient_parsing:
            # A parser of another making is left alone.
            options = {
                **getattr(parser, "_long_opt", {}),
                **getattr(parser, "_short_opt", {}),
            }
            for option in {id(each): each for each in options.values()}.values():
                _watch_option(option, invocation)
        return parser

    return stand_in(command, "make_parser", make_parser)


def _watch_option(option: Any, invocation: Invocation) -> None:
    own = option.process

    def process(value: Any, state: Any) -> None:
        is_scalar = option.action == "store"
        before = state.opts.get(option.dest, value)
        if is_scalar and before != value and _are_typed(invocation, before, value):
            _refuse(invocation, option.obj.opts)
        own(value, state)

    option.process = process


def watch_argparse_parser(
    parser: argparse.ArgumentParser, invocation: Invocation
) -> Callable[[], None]:
    """Refuse repeated options while *parser* parses; return what ends that."""
    from argparse import _StoreAction

    own = parser._get_values
    given: dict[str, list[str]] = {}

    def get_values(action: argparse.Action, words: Any) -> Any:
        is_scalar = isinstance(action, _StoreAction) and action.option_strings
        if is_scalar:
            before, given[action.dest] = given.get(action.dest, list(words)), list(words)
            if before != list(words) and _are_typed(invocation, before, words):
                _refuse(invocation, action.option_strings)
        return own(action, words)

    return stand_in(parser, "_get_values", get_values)


def _refuse(invocation: Invocation, spellings: Sequence[str]) -> NoReturn:
    from ..line.usage import repeated

    invocation.refuse(repeated(max(spellings, key=len)))


def _are_typed(invocation: Invocation, *values: Any) -> bool:
    """Return whether all *values* are the caller's, and none was added by the tool to its words."""
    typed = sys.argv[1:]
    if not typed or any(word not in invocation.request.argv for word in typed):
        return True  # a call within the process, of which nobody knows more
    single = [word for each in values for word in ([each] if isinstance(each, str) else each)]
    return all(any(word.endswith(str(each)) for word in typed) for each in single)
