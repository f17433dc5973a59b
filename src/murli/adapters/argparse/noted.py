"""What is noted of a parse: the subcommands it goes through, and which switches are typed."""

from __future__ import annotations

import argparse

from ...core import INTENT, note_parses, subparsers_of, value_in
from .. import stand_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser
    from collections.abc import Callable, Sequence
    from typing import Any


def path_to(chosen: Sequence[ArgumentParser]) -> tuple[str, ...]:
    """Return the names by which each of *chosen* is reached from the one before."""
    from itertools import pairwise

    return tuple(
        name_in(getattr(subparsers_of(above), "choices", {}), below)
        for above, below in pairwise(chosen)
    )


def reached(parser: ArgumentParser) -> list[ArgumentParser]:
    """Return *parser* and the subparsers that its last parse went through."""
    subparsers = subparsers_of(parser)
    routes = subparsers._name_parser_map if subparsers is not None else None
    return list(routes.chosen) if isinstance(routes, Routes) else [parser]


class Routes(dict[str, argparse.ArgumentParser]):
    """The subcommands of a parser, each of which reports when it parses.

    Code that looks one up, argparse or an action of the author's own, may let it parse; that it
    does is what counts. What the scanner believes is not good enough for the guard.
    """

    chosen: list[ArgumentParser]

    @classmethod
    def watch(
        cls, parser: ArgumentParser, chosen: list[ArgumentParser], *, all_at_once: bool = False
    ) -> None:
        """Note from now on when a subcommand of *parser* parses.

        With *all_at_once* also those that nobody will look up here.
        """
        subparsers = subparsers_of(parser)
        if subparsers is None:
            return
        routes = subparsers._name_parser_map
        if not isinstance(routes, Routes):
            routes = Routes(routes)
            # Two names for one dictionary, as argparse has it.
            subparsers._name_parser_map = subparsers.choices = routes
        routes.chosen = chosen
        if all_at_once:
            routes._note_all()

    def __getitem__(self, name: str) -> ArgumentParser:
        parser = super().__getitem__(name)
        note_parses(parser)
        return parser

    def get(self, name: str, default: Any = None) -> Any:
        """Return the subcommand *name*, or *default*."""
        parser = super().get(name, default)
        if name in self:
            note_parses(parser)
        return parser

    def values(self) -> Any:
        """Return the subcommands."""
        self._note_all()
        return super().values()

    def items(self) -> Any:
        """Return the subcommands with their names."""
        self._note_all()
        return super().items()

    def _note_all(self) -> None:
        for parser in super().values():
            note_parses(parser)


def name_in(routes: dict[str, Any], parser: ArgumentParser) -> str:
    """Return the name of *parser* in *routes*: the first is its own, the others are aliases."""
    return next((name for name, each in dict.items(routes) if each is parser), "")


def commands_in(chosen: Sequence[ArgumentParser]) -> list[tuple[tuple[str, ...], ArgumentParser]]:
    """Return the commands among the parsers that parsed, with their paths; the others route.

    There is one, unless an action of the author's own lets several parse.
    """
    paths: dict[int, tuple[str, ...]] = {id(chosen[0]): ()}
    routing: set[int] = set()
    for parser in chosen:
        subparsers = subparsers_of(parser)
        for below in chosen if subparsers is not None else ():
            name = name_in(subparsers.choices, below)
            if name:
                routing.add(id(parser))
                paths[id(below)] = (*paths.get(id(parser), ()), name)
    if len(chosen) > 1:
        routing.add(id(chosen[0]))
    return [(paths.get(id(each), ()), each) for each in chosen if id(each) not in routing]


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

    def intents(self, parser: ArgumentParser, parsed: Any) -> set[str]:
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
