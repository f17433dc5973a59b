"""What the scanner and the guard must know about a parser, without walking all of it."""

from __future__ import annotations

import argparse
import os
import sys

from ..runtime import AS_MANY_AS_COME, EVERYTHING, INTENT, SEPARATOR, metadata_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any


_TAKES_COMMAND = argparse._SubParsersAction.__call__.__code__


def subparsers_of(parser: argparse.ArgumentParser) -> Any:
    """Give the action that holds the subcommands of *parser*, or ``None``."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            return action
    return None


def reached(parser: argparse.ArgumentParser) -> list[argparse.ArgumentParser]:
    """Give *parser* and the subparsers that its last parse went through."""
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

    @property
    def has_options(self) -> bool:
        """Whether words with dashes are options here."""
        return "-" in self.parser.prefix_chars

    def owns(self, option: str) -> bool:
        """Tell whether *option* is the parser's own, spelled out."""
        return option in self.parser._option_string_actions

    def abbreviates(self, option: str, with_value: bool) -> bool:
        """Tell whether the parser takes *option* for a longer one of its own."""
        longer = self._longer(option)
        metadata = metadata_of(self.parser)
        if len(longer) != 1 or (option in INTENT and metadata and metadata.mutating):
            return False  # a command under guard has these by their full names
        # An abbreviation that lacks its value would be refused; it is no loss to take it.
        return with_value or longer[0].nargs in (0, "?", "*")

    def width(self, option: str) -> tuple[int, int]:
        """Give how many values *option* takes at least and at most."""
        action = self._action(option)
        if action is None or action.nargs == 0:
            return 0, 0
        if action.nargs == argparse.REMAINDER:
            return 0, EVERYTHING
        fixed = 1 if action.nargs is None else action.nargs
        if isinstance(fixed, int):
            return fixed, fixed
        return int(fixed == "+"), 1 if fixed == "?" else AS_MANY_AS_COME

    def negates(self, option: str) -> bool:
        """Tell whether *option* is the spelling that turns a switch off."""
        action = self._action(option)
        return isinstance(action, argparse.BooleanOptionalAction) and option.startswith("--no-")

    def without_value(self, option: str) -> str | None:
        """Tell that an option knows where its values end."""
        return ""

    def named(self, option: str) -> str:
        """Give the long name of the option that *option* stands for, or ``""``."""
        action = self._action(option)
        longs = [name for name in action.option_strings if name.startswith("--")] if action else []
        return longs[0] if longs else option if action else ""

    @property
    def routes(self) -> bool:
        """Whether the first word names a subcommand."""
        return self._subparsers is not None

    @property
    def words_first(self) -> int:
        """How many words the parser takes at least before one names a subcommand."""
        return self._words_before(self._subparsers) if self._subparsers is not None else 0

    def lists(self, word: str) -> bool:
        """Tell whether the parser has a subcommand of that name."""
        return self._subparsers is not None and word in self._subparsers.choices

    def names(self) -> list[str]:
        """Return the names of the subcommands."""
        return list(self._subparsers.choices) if self._subparsers is not None else []

    def child(self, word: str, words_before: int, before: Sequence[str] = ()) -> ParserLevel | None:
        """Give the subcommand that *word* names."""
        if self._subparsers is None or words_before < self._words_before(self._subparsers):
            return None
        routes = self._subparsers.choices
        parser = dict.get(routes, word)
        if parser is None:
            return None
        # The first name is the command's own; the others are aliases.
        name = next(name for name, each in routes.items() if each is parser)
        path = (*self.path, name)
        return ParserLevel(parser, path, self._subparsers, forwards=self.forwards)

    def passes_on(self, words_before: int) -> bool:
        """Tell whether a word here starts a ``REMAINDER``."""
        for action in self.parser._get_positional_actions():
            if action.nargs == argparse.REMAINDER:
                return words_before >= self._words_before(action)
        return False

    def _action(self, option: str) -> argparse.Action | None:
        """Give the action of *option*: spelled out, abbreviated, or last of a cluster."""
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
        """Give how many words the positionals before *last* take at least."""
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
    """The subcommands of a parser, noting which one argparse takes.

    argparse looks the chosen subcommand up here, and nowhere else says which it was; what the
    scanner believes is not good enough for the guard.
    """

    chosen: list[argparse.ArgumentParser]
    hook: Callable[[argparse.ArgumentParser], None]

    @classmethod
    def watch(
        cls,
        parser: argparse.ArgumentParser,
        chosen: list[argparse.ArgumentParser],
        hook: Callable[[argparse.ArgumentParser], None],
    ) -> None:
        """From now on note in *chosen* the subcommands of *parser* that argparse takes."""
        subparsers = subparsers_of(parser)
        if subparsers is None:
            return
        routes = subparsers._name_parser_map
        if not isinstance(routes, Routes):
            routes = Routes(routes)
            # Two names for one dictionary, as argparse has it.
            subparsers._name_parser_map = subparsers.choices = routes
        routes.chosen, routes.hook = chosen, hook

    def __getitem__(self, name: str) -> argparse.ArgumentParser:
        parser = super().__getitem__(name)
        # Others may look at the subcommands as well; only argparse chooses.
        if sys._getframe(1).f_code is _TAKES_COMMAND:
            self.hook(parser)
            self.chosen.append(parser)
            Routes.watch(parser, self.chosen, self.hook)
        return parser


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
    """Give *argv* with the files read that ``fromfile_prefix_chars`` lets it name."""
    prefixes = parser.fromfile_prefix_chars
    if not prefixes:
        return argv
    names = [word[1:] for word in argv if word and word[0] in prefixes]
    if not all(os.access(name, os.R_OK) for name in names):
        return argv  # argparse will say what is wrong with them
    return list(parser._read_args_from_files(argv))


def intent_given(parser: argparse.ArgumentParser, parsed: Any) -> Iterator[str]:
    """Give the names of the parser's own switches for force and dry-run that were given."""
    for action in parser._actions:
        names = INTENT.intersection(action.option_strings)
        if names and _is_on(action, value_in(parsed, action.dest)):
            yield from names


def value_in(parsed: Any, name: str) -> Any:
    """Give the value of *name* in what a parser returned."""
    return parsed.get(name) if isinstance(parsed, dict) else getattr(parsed, name, None)


def _is_on(action: argparse.Action, value: object) -> bool:
    """Tell whether a switch was given; what takes a value is no expression of intent."""
    if isinstance(action, argparse._StoreConstAction):
        return bool(action.const) and value == action.const and value != action.default
    if isinstance(action, argparse.BooleanOptionalAction):
        return value is True
    if isinstance(action, argparse._CountAction):
        return isinstance(value, int) and value > (action.default or 0)
    return False
