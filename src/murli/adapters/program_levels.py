"""What the scanner knows of a program that reads its words itself: what its author has listed."""

from __future__ import annotations

from ..core import is_parser

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

# Commands of ours that such a program has not: it may have commands of these names itself.
NOT_MOUNTED = ("profile", "doctor", "exec", "mcp")


class UnknownLevel:
    """A command whose options are unknown, or only a function *value* that makes its parser.

    What may be an option of the program's own stays with it; the function is asked where a word may
    be the program's or ours.
    """

    def __init__(self, path: tuple[str, ...] = (), value: Any = "") -> None:
        self.path = path
        self.value = value
        self._made: Any = None

    has_options = True
    takes_any_value = False
    routes = False
    forwards = True
    takes_words = True
    words_first = 0
    is_lost = False

    def takes_any_word(self, words_before: int) -> bool:
        """Return that what looks like an option is one."""
        return False

    def inform(self, before: Sequence[str]) -> None:
        """Do nothing: what is known does not depend on any words."""

    def lists(self, word: str) -> bool:
        """Return that it has no subcommands that we know of."""
        return False

    def names(self) -> list[str]:
        """Return none, as above."""
        return []

    def beside(self) -> list[Any]:
        """Return none, as above."""
        return []

    def named(self, option: str) -> str:
        """Return no name to an option that we do not know."""
        return ""

    def owns(self, option: str) -> bool:
        """Return whether *option* is known to be its own."""
        return self._parser is not None and self._parser.owns(option)

    def abbreviates(self, option: str, with_value: bool) -> bool:
        """Return whether *option* is known to stand for a longer one of its own."""
        return self._parser is not None and self._parser.abbreviates(option, with_value)

    @property
    def _parser(self) -> Any:
        """What the function makes, as the scanner sees it; ``None`` where there is none."""
        if self._made is None and callable(self.value):
            try:
                self._made = level_of(self.path, self.value())
            except Exception:  # the program's own code; it will be reported when it is described
                self._made = UnknownLevel(self.path)
        return self._made

    def width(self, option: str) -> tuple[int, int]:
        """Allow for a value behind every option: it must not be taken for a command of ours."""
        return 0, 1

    def negates(self, option: str) -> bool:
        """Return that no option is known to turn a switch off."""
        return False

    def without_value(self, option: str) -> str | None:
        """Return the option as it is: how it ends is its own business."""
        return option

    def child(self, word: str, words_before: int) -> Any:
        """Return no subcommand."""
        return None

    def hands_down(self, option: str, behind: Sequence[str]) -> bool:
        """Return that every command is called by its name."""
        return False

    def passes_on(self, words_before: int) -> bool:
        """Return that ours may stand anywhere."""
        return False


class ProgramLevel(UnknownLevel):
    """The program itself: its commands, and its options where they are listed under ``""``."""

    def __init__(self, parsers: Mapping[str, Any]) -> None:
        super().__init__()
        self._parsers = parsers
        self._own: Any = level_of((), parsers.get("", ""))

    @property
    def routes(self) -> bool:  # type: ignore[override]
        """Whether the first word names a command."""
        return any(self._parsers)

    def lists(self, word: str) -> bool:
        """Return whether the program has, or may have, a command of that name."""
        return (bool(word) and word in self._parsers) or word in NOT_MOUNTED

    def names(self) -> list[str]:
        """Return the names of the commands."""
        return [word for word in self._parsers if word]

    def child(self, word: str, words_before: int) -> Any:
        """Return the command that *word* names."""
        if words_before or not word or word not in self._parsers:
            return None
        return level_of((word,), self._parsers[word])

    def named(self, option: str) -> str:
        """Return the long name of an option of the program itself."""
        return str(self._own.named(option))

    def owns(self, option: str) -> bool:
        """Return whether *option* is the program's own."""
        return bool(self._own.owns(option))

    def abbreviates(self, option: str, with_value: bool) -> bool:
        """Return whether the program takes *option* for a longer one of its own."""
        return bool(self._own.abbreviates(option, with_value))

    def width(self, option: str) -> tuple[int, int]:
        """Return how many values *option* takes, at least and at most."""
        least, most = self._own.width(option)
        return (least, most) if self._own.owns(option) else (0, 1)

    def negates(self, option: str) -> bool:
        """Return whether *option* is the spelling that turns a switch off."""
        return bool(self._own.negates(option))


def level_of(path: tuple[str, ...], value: Any) -> Any:
    """Return *value*, one of the parsers of a program, as the scanner sees it."""
    if is_parser(value):
        from .argparse.levels import ParserLevel

        return ParserLevel(value, path)
    if is_click(value):
        from .click.levels import CommandLevel

        return CommandLevel(value, path[-1] if path else "", path)
    return UnknownLevel(path, value)


def is_click(value: Any) -> bool:
    """Return whether *value* is a click command, whichever click it is."""
    return callable(getattr(value, "main", None)) and hasattr(value, "params")
