"""The flags of a tool that a profile may set, wherever they are, and what they accept."""

from __future__ import annotations

from ..core import INTENT
from ..declare import flag_key
from ..line import usage
from ..line.payload import has_secret
from .guard.enforcement import problem_with
from .saved_profile import switch, words_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..declare import FlagAnnotation
    from ..declare.tree import Command, Flag
    from ..errors import AgentError


class Settable:
    """A profileable flag; several commands may have one of the same name."""

    __slots__ = ("key", "named", "places", "sensitive")

    def __init__(self, key: str) -> None:
        self.key = key
        self.places: list[tuple[Flag, FlagAnnotation]] = []
        # Whether its value is declared a secret, and whether its name says so, on any command.
        self.sensitive = self.named = False

    @property
    def flags(self) -> list[Flag]:
        """The flag, as each command has it."""
        return [flag for flag, _ in self.places]

    @property
    def is_switch(self) -> bool:
        """Whether it takes no value."""
        return bool(self.flags) and all(flag.type == "bool" for flag in self.flags)

    @property
    def values(self) -> int:
        """How many words follow it each time."""
        return self.flags[0].values if self.flags else 1

    @property
    def takes_many(self) -> bool:
        """Whether it may be given several times, or several values."""
        return any(flag.type.startswith("[]") for flag in self.flags)

    def problem_with(self, text: str) -> AgentError | None:
        """Return what is wrong with *text* as a value; ``None`` if one command would take it."""
        problems = [self._problem(flag, note, text) for flag, note in self.places]
        return problems[0] if problems and all(problems) else None

    def _problem(self, flag: Flag, note: FlagAnnotation, text: str) -> AgentError | None:
        name = f"--{self.key}"
        for word in words_in(text) if flag.type.startswith("[]") else [text]:
            for each in word if isinstance(word, list) else [word]:
                problem = _unfit(name, flag, each) or problem_with(name, each, note)
                if problem is not None:
                    return problem
        return None


def settable_flags(root: Command) -> dict[str, Settable]:
    """Return the flags a profile may set, anywhere in the tool, by their names in order."""
    found: dict[str, Settable] = {}
    _collect(root, found)
    return dict(sorted(found.items()))


def _collect(command: Command, found: dict[str, Settable]) -> None:
    notes = command.metadata.flag_annotations if command.metadata is not None else {}
    flags = {flag_key(flag.name): flag for flag in command.flags}
    for key, note in notes.items():
        if note.profileable and f"--{key}" not in INTENT:
            entry = found.setdefault(key, Settable(key))
            if key in flags:
                entry.places.append((flags[key], note))
                entry.sensitive |= command.is_secret(flags[key])
                entry.named |= has_secret(command, flags[key])
    for child in command.commands:
        _collect(child, found)


def _unfit(name: str, flag: Flag, word: str) -> AgentError | None:
    if flag.choices and word not in flag.choices:
        return usage.bad_choice(name, word, flag.choices)
    kind = flag.type.removeprefix("[]")
    if kind == "bool" and switch(word) is None:
        return usage.bad_value(name, word, "expected true or false")
    if kind not in ("int", "float64"):
        return None
    try:
        number = int(word) if kind == "int" else float(word)
    except ValueError:
        wanted = "an integer" if kind == "int" else "a number"
        return usage.bad_value(name, word, f"expected {wanted}")
    low, high = flag.minimum, flag.maximum
    if (low is not None and number < low) or (high is not None and number > high):
        return usage.out_of_range(name, word, low, high)
    return None
