"""What the scanner must know about a parser, without walking all of it."""

from __future__ import annotations

import argparse

from ...core import EVERYTHING, INTENT, SEPARATOR, UNBOUNDED, metadata_of, subparsers_of
from .noted import name_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


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


class Separators:
    """While it is entered, the parsers of *levels* know an option that does nothing.

    It stands where a flag of ours stood behind an option that takes as many values as come:
    without it the words on both sides would run together.
    """

    def __init__(self, levels: Sequence[Any]) -> None:
        self._parsers = {id(level.parser): level.parser for level in levels}
        self._added: list[tuple[argparse.ArgumentParser, argparse.Action]] = []

    def __enter__(self) -> None:
        hidden = argparse.SUPPRESS
        for parser in self._parsers.values():
            added = parser.add_argument(
                SEPARATOR, action=_Nothing, nargs=0, dest=hidden, default=hidden, help=hidden
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
