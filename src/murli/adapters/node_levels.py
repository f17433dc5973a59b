"""A tool that is known by plain facts about each command, as the scanner sees it."""

from __future__ import annotations

from .program_levels import NOT_MOUNTED, UnknownLevel

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, Protocol

    class Nodes(Protocol):
        """Who knows the facts."""

        def node(self, path: Sequence[str] = ()) -> dict[str, Any]:
            """Return what is known of the command at *path*: ``flags`` and ``commands``."""


class NodeLevel(UnknownLevel):
    """One command; it is asked about when a word might be the tool's or ours.

    Where no option is known, every one is the tool's own. One that *describes* is known to have no
    command of that name.
    """

    def __init__(
        self, known: Nodes, path: tuple[str, ...] = (), *, describes: bool = False
    ) -> None:
        super().__init__(path)
        self._known = known
        self._describes = describes

    @property
    def node(self) -> dict[str, Any]:
        """What is known of the command."""
        return self._known.node(self.path)

    @property
    def forwards(self) -> bool:  # type: ignore[override]
        """Whether options that are not known may be the tool's, or another's."""
        return not self.node.get("flags")

    @property
    def routes(self) -> bool:  # type: ignore[override]
        """Whether the first word names a command."""
        return bool(self.node.get("commands"))

    def _flag(self, option: str) -> dict[str, Any] | None:
        for flag in self.node.get("flags", ()):
            if option in flag["spellings"]:
                found: dict[str, Any] = flag
                return found
        return None

    def _commands(self) -> dict[str, str]:
        return {
            word: each["name"]
            for each in self.node.get("commands", ())
            for word in (each["name"], *each["aliases"])
        }

    def lists(self, word: str) -> bool:
        """Return whether the command has, or may have, a subcommand of that name."""
        if self._describes and word == "describe":
            return False
        return word in self._commands() or word in NOT_MOUNTED

    def names(self) -> list[str]:
        """Return the names of the subcommands."""
        return list(self._commands())

    def child(self, word: str, words_before: int) -> NodeLevel | None:
        """Return the subcommand that *word* names."""
        name = "" if words_before else self._commands().get(word, "")
        return NodeLevel(self._known, (*self.path, name)) if name else None

    def owns(self, option: str) -> bool:
        """Return whether *option* is the tool's own, or may be."""
        if not self.node.get("flags"):
            return option not in ("--agent", "--schema")
        if self._flag(option) is not None:
            return True
        # What stands before the commands is often taken behind them as well.
        return bool(self.path) and NodeLevel(self._known, self.path[:-1]).owns(option)

    def named(self, option: str) -> str:
        """Return the long name of an option."""
        flag = self._flag(option)
        return f"--{flag['name']}" if flag is not None else ""

    def abbreviates(self, option: str, with_value: bool) -> bool:
        """Return that an option is written out."""
        return False

    def width(self, option: str) -> tuple[int, int]:
        """Return how many values *option* takes, at least and at most."""
        flag = self._flag(option)
        if flag is None:
            return 0, 1
        return (0, 0) if flag["type"] == "bool" else (1, 1)

    def inform(self, before: Sequence[str]) -> None:
        """Do nothing: what is known does not depend on any words."""
