"""Which switches of parsers were typed; loaded where something depends on that."""

from __future__ import annotations

import argparse

from ...core import INTENT
from .. import stand_in
from .values import value_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class TypedSwitches:
    """Which switches of parsers were typed, by their own names in full.

    What a namespace holds does not say that: it may be a default, or another option's.
    """

    def __init__(self) -> None:
        # How often the option of an action was acted on, and how often it was abbreviated.
        self._acted: dict[int, int] = {}
        self._shortened: dict[int, int] = {}
        self._undo: list[Callable[[], None]] = []

    def watch(self, parser: Any) -> None:
        """Note from now on what *parser* acts on."""
        own_values, own_tuples = parser._get_values, parser._get_option_tuples

        def get_values(action: argparse.Action, words: Any) -> Any:
            self._acted[id(action)] = self._acted.get(id(action), 0) + 1
            return own_values(action, words)

        def get_option_tuples(word: str) -> Any:
            found = own_tuples(word)
            # A word with one dash is a cluster of short options, not an abbreviation.
            for action in {id(each[0]) for each in found} if word[:2] == "--" else ():
                self._shortened[action] = self._shortened.get(action, 0) + 1
            return found

        self._undo.append(stand_in(parser, "_get_values", get_values))
        self._undo.append(stand_in(parser, "_get_option_tuples", get_option_tuples))

    def release(self) -> None:
        """Leave the parsers as they were."""
        while self._undo:
            self._undo.pop()()

    def is_shortened(self, action: argparse.Action) -> bool:
        """Return whether the option was given, and only by an abbreviation of its name."""
        return 0 < self._acted.get(id(action), 0) <= self._shortened.get(id(action), 0)

    def intents(self, parser: argparse.ArgumentParser, parsed: Any) -> set[str]:
        """Return the names of the parser's own switches for force and dry-run that were typed."""
        found: set[str] = set()
        for action in parser._actions:
            names = INTENT.intersection(action.option_strings)
            given = id(action) in self._acted and not self.is_shortened(action)
            if names and given and _is_on(action, value_in(parsed, action.dest)):
                found |= names
        return found


def _is_on(action: argparse.Action, value: object) -> bool:
    """Return whether a switch that was typed is on; what takes a value expresses no intent."""
    if isinstance(action, argparse._StoreConstAction):
        return bool(action.const) and value == action.const
    if isinstance(action, argparse.BooleanOptionalAction):
        return value is True
    return action.nargs == 0
