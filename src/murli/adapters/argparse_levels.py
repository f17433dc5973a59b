"""What the scanner and the guard must know about a parser, without walking all of it."""

from __future__ import annotations

import argparse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_AS_MANY_AS_COME = -1


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

    __slots__ = ("origin", "parser", "path", "_subparsers")

    def __init__(
        self, parser: argparse.ArgumentParser, path: tuple[str, ...] = (), origin: Any = None
    ) -> None:
        self.parser = parser
        self.path = path
        self.origin = origin
        self._subparsers = subparsers_of(parser)

    def owns(self, option: str) -> bool:
        """Tell whether *option* is the parser's own, spelled out."""
        return option in self.parser._option_string_actions

    def abbreviates(self, option: str) -> bool:
        """Tell whether the parser takes *option* for a longer one."""
        return bool(self._longer(option))

    def width(self, option: str) -> int:
        """Give how many values *option* takes."""
        action = self.parser._option_string_actions.get(option)
        if action is None:
            longer = self._longer(option)
            if len(longer) != 1:
                return 0
            action = longer[0]
        if action.nargs is None or action.nargs == "?":
            return 1
        return action.nargs if isinstance(action.nargs, int) else _AS_MANY_AS_COME

    def child(self, word: str, words_before: int) -> ParserLevel | None:
        """Give the subcommand that *word* names."""
        if self._subparsers is None or words_before < self._words_before(self._subparsers):
            return None
        routes = self._subparsers.choices
        parser = dict.get(routes, word)
        if parser is None:
            return None
        # The first name is the command's own; the others are aliases.
        name = next(name for name, each in routes.items() if each is parser)
        return ParserLevel(parser, (*self.path, name), self._subparsers)

    def passes_on(self, words_before: int) -> bool:
        """Tell whether a word here starts a ``REMAINDER``."""
        for action in self.parser._get_positional_actions():
            if action.nargs == argparse.REMAINDER:
                return words_before >= self._words_before(action)
        return False

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
        self.hook(parser)
        self.chosen.append(parser)
        Routes.watch(parser, self.chosen, self.hook)
        return parser
