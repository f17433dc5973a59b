"""What the scanner and the guard must know about a parser, without walking all of it."""

from __future__ import annotations

import argparse
import os

from ...core import (
    EVERYTHING,
    INTENT,
    SEPARATOR,
    UNBOUNDED,
    metadata_of,
    note_parses,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any


def subparsers_of(parser: argparse.ArgumentParser) -> Any:
    """Return the action that holds the subcommands of *parser*, or ``None``."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            return action
    return None


def path_to(chosen: Sequence[argparse.ArgumentParser]) -> tuple[str, ...]:
    """Return the names by which each of *chosen* is reached from the one before."""
    from itertools import pairwise

    return tuple(
        name_in(getattr(subparsers_of(above), "choices", {}), below)
        for above, below in pairwise(chosen)
    )


def names_in(parser: argparse.ArgumentParser) -> str:
    """Return the names of the options of *parser*, a NUL behind each."""
    names = [action.dest for action in parser._actions if action.option_strings]
    return "\0".join((*parser._option_string_actions, *names, ""))


def reached(parser: argparse.ArgumentParser) -> list[argparse.ArgumentParser]:
    """Return *parser* and the subparsers that its last parse went through."""
    subparsers = subparsers_of(parser)
    routes = subparsers._name_parser_map if subparsers is not None else None
    return list(routes.chosen) if isinstance(routes, Routes) else [parser]


class ParserLevel:
    """One parser as the scanner sees it; *path* and *origin* are how it was reached."""

    __slots__ = ("forwards", "origin", "parser", "path", "_subparsers")

    def __init__(
        self,
        parser: argparse.ArgumentParser,
        path: tuple[str, ...] = (),
        origin: Any = None,
        *,
        forwards: bool = False,
    ) -> None:
        self.parser = parser
        self.forwards = forwards
        self.path = path
        self.origin = origin
        self._subparsers = subparsers_of(parser)

    takes_any_value = False
    is_lost = False

    @property
    def has_options(self) -> bool:
        """Whether words with dashes are options here."""
        return "-" in self.parser.prefix_chars

    def owns(self, option: str) -> bool:
        """Return whether *option* is the parser's own, spelled out."""
        return option in self.parser._option_string_actions

    def abbreviates(self, option: str, with_value: bool) -> bool:
        """Return whether the parser takes *option* for a longer one of its own."""
        longer = self._longer(option)
        metadata = metadata_of(self.parser)
        if len(longer) != 1 or (option in INTENT and metadata and metadata.mutating):
            return False  # a command under guard has these by their full names
        # An abbreviation that lacks its value would be refused; it is no loss to take it.
        return with_value or longer[0].nargs in (0, "?", "*")

    def width(self, option: str) -> tuple[int, int]:
        """Return how many values *option* takes at least and at most."""
        action = self._action(option)
        if action is None and self.forwards and not self.routes:
            return 0, 1  # it is another program's, and so may be the word behind it
        if action is None or action.nargs == 0:
            return 0, 0
        if action.nargs == argparse.REMAINDER:
            return 0, EVERYTHING
        fixed = 1 if action.nargs is None else action.nargs
        if isinstance(fixed, int):
            return fixed, fixed
        return int(fixed == "+"), 1 if fixed == "?" else UNBOUNDED

    def negates(self, option: str) -> bool:
        """Return whether *option* is the spelling that turns a switch off."""
        action = self._action(option)
        return isinstance(action, argparse.BooleanOptionalAction) and option.startswith("--no-")

    def without_value(self, option: str) -> str | None:
        """Return that an option knows where its values end."""
        return ""

    def named(self, option: str) -> str:
        """Return the long name of the option that *option* stands for, or ``""``."""
        action = self._action(option)
        longs = [name for name in action.option_strings if name.startswith("--")] if action else []
        return longs[0] if longs else option if action else ""

    @property
    def routes(self) -> bool:
        """Whether the first word names a subcommand."""
        return self._subparsers is not None

    @property
    def takes_words(self) -> bool:
        """Whether a word may be an argument of the parser itself."""
        positionals = self.parser._get_positional_actions()
        return any(action is not self._subparsers for action in positionals)

    def takes_any_word(self, words_before: int) -> bool:
        """Return that what looks like an option is one."""
        return False

    @property
    def words_first(self) -> int:
        """How many words the parser takes at least before one names a subcommand."""
        return self._words_before(self._subparsers) if self._subparsers is not None else 0

    def lists(self, word: str) -> bool:
        """Return whether the parser has a subcommand of that name."""
        return self._subparsers is not None and word in self._subparsers.choices

    def names(self) -> list[str]:
        """Return the names of the subcommands."""
        return list(self._subparsers.choices) if self._subparsers is not None else []

    def inform(self, before: Sequence[str]) -> None:
        """Do nothing: what a parser has does not depend on its words."""

    def child(self, word: str, words_before: int) -> ParserLevel | None:
        """Return the subcommand that *word* names."""
        if self._subparsers is None or words_before < self._words_before(self._subparsers):
            return None
        routes = self._subparsers.choices
        parser = dict.get(routes, word)
        if parser is None:
            return None
        name = name_in(routes, parser)
        path = (*self.path, name)
        return ParserLevel(parser, path, self._subparsers, forwards=self.forwards)

    def beside(self) -> list[ParserLevel]:
        """Return the other subcommands of the same parser."""
        found: dict[int, ParserLevel] = {}
        for name, parser in dict.items(self.origin.choices) if self.origin is not None else ():
            path = (*self.path[:-1], name)
            found.setdefault(id(parser), ParserLevel(parser, path, self.origin))
        found.pop(id(self.parser), None)
        return list(found.values())

    def hands_down(self, option: str, behind: Sequence[str]) -> bool:
        """Return that every command is called by its name."""
        return False

    def passes_on(self, words_before: int) -> bool:
        """Return whether a word here starts a ``REMAINDER``."""
        for action in self.parser._get_positional_actions():
            if action.nargs == argparse.REMAINDER:
                return words_before >= self._words_before(action)
        return False

    def _action(self, option: str) -> argparse.Action | None:
        """Return the action of *option*: spelled out, abbreviated, or last of a cluster."""
        known = self.parser._option_string_actions
        if option in known:
            return known[option]
        if option.startswith("--"):
            longer = self._longer(option)
            return longer[0] if len(longer) == 1 else None
        action = None
        for position, letter in enumerate(option[1:], 2):
            action = known.get(f"-{letter}")
            if action is None or action.nargs != 0:
                # What follows an option with a value, in the same word, is its value.
                return action if position == len(option) else None
        return action

    def _longer(self, option: str) -> list[argparse.Action]:
        if not self.parser.allow_abbrev or not option.startswith("--"):
            return []
        known = self.parser._option_string_actions
        return [action for name, action in known.items() if name.startswith(option)]

    def _words_before(self, last: argparse.Action) -> int:
        """Return how many words the positionals before *last* take at least."""
        count = 0
        for action in self.parser._get_positional_actions():
            if action is last:
                break
            if isinstance(action.nargs, int):
                count += action.nargs
            elif action.nargs in (None, "+"):
                count += 1
        return count


class Routes(dict[str, argparse.ArgumentParser]):
    """The subcommands of a parser, each of which reports when it parses.

    Code that looks one up, argparse's or an action of the author's, may let it parse; that it does
    is what counts. What the scanner believes is not good enough for the guard.
    """

    chosen: list[argparse.ArgumentParser]

    @classmethod
    def watch(
        cls,
        parser: argparse.ArgumentParser,
        chosen: list[argparse.ArgumentParser],
        *,
        all_at_once: bool = False,
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

    def __getitem__(self, name: str) -> argparse.ArgumentParser:
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


def name_in(routes: dict[str, Any], parser: argparse.ArgumentParser) -> str:
    """Return the name of *parser* in *routes*: the first is its own, the others are aliases."""
    return next((name for name, each in dict.items(routes) if each is parser), "")


def commands_in(
    chosen: Sequence[argparse.ArgumentParser],
) -> list[tuple[tuple[str, ...], argparse.ArgumentParser]]:
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


class Separators:
    """While it is entered, the parsers of *levels* know an option that does nothing.

    It stands where a flag of ours stood behind an option that takes as many values as come:
    without it the words on both sides would run together.
    """

    def __init__(self, levels: Sequence[Any]) -> None:
        self._parsers = {id(level.parser): level.parser for level in levels}
        self._added: list[tuple[argparse.ArgumentParser, argparse.Action]] = []

    def __enter__(self) -> None:
        for parser in self._parsers.values():
            added = parser.add_argument(
                SEPARATOR,
                action=_Nothing,
                nargs=0,
                dest=argparse.SUPPRESS,
                default=argparse.SUPPRESS,
                help=argparse.SUPPRESS,
            )
            self._added.append((parser, added))

    def __exit__(self, *error: object) -> None:
        for parser, action in self._added:
            parser._actions.remove(action)
            parser._optionals._group_actions.remove(action)
            del parser._option_string_actions[SEPARATOR]


class _Nothing(argparse.Action):
    def __call__(self, *call: object, **options: object) -> None:
        pass


def expand_files(parser: argparse.ArgumentParser, argv: list[str]) -> list[str]:
    """Return *argv* with the files read that ``fromfile_prefix_chars`` lets it name."""
    prefixes = parser.fromfile_prefix_chars
    if not prefixes:
        return argv
    names = [word[1:] for word in argv if word and word[0] in prefixes]
    if not all(os.access(name, os.R_OK) for name in names):
        return argv  # argparse will say what is wrong with them
    return list(parser._read_args_from_files(argv))


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
        from ..standing_in import stand_in

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


def value_in(parsed: Any, name: str) -> Any:
    """Return the value of *name* in what a parser returned."""
    return parsed.get(name) if isinstance(parsed, dict) else getattr(parsed, name, None)


def _is_on(action: argparse.Action, value: object) -> bool:
    """Return whether a switch that was typed is on; what takes a value expresses no intent."""
    if isinstance(action, argparse._StoreConstAction):
        return bool(action.const) and value == action.const
    if isinstance(action, argparse.BooleanOptionalAction):
        return value is True
    return action.nargs == 0
