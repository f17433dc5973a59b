"""What a tool can be asked: one model for ``describe`` and both shapes of ``manifest``. Pure.

`listing` reads it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..declare.safety import inferred_danger, suggests_reading
from .values import scalars_in

#: by what a call says that an agent makes it
AGENT_FLAG = "--agent"


@dataclass(frozen=True, slots=True)
class Flag:
    """An option of a command. *item* is the kind of the values of an array.

    A *kind* is ``text``, which is anything, ``integer``, ``number``, ``boolean``, ``array`` or
    ``object``.
    """

    name: str
    kind: str = "text"
    item: str = "text"
    required: bool = False
    values: tuple[str, ...] = ()
    default: Any = None
    negation: str = ""
    short: str = ""
    env: tuple[str, ...] = ()
    #: whether a saved profile may give it, so that a call without it can still be complete
    profileable: bool = False
    description: str = ""
    #: how it is written, where that is not two dashes and its name
    spelling: str = ""
    #: its other spellings
    aliases: tuple[str, ...] = ()
    #: how many words follow it each time, -1 for any number; 0 and a number: it is counted
    words: int = 1
    #: all that the tool says of it
    described: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def option(self) -> str:
        """How it is written: by its long name, or by its short one where it has no other."""
        if self.spelling:
            return self.spelling
        return f"-{self.name}" if self.name == self.short else f"--{self.name}"


@dataclass(frozen=True, slots=True)
class Positional:
    """An argument by its place."""

    name: str
    kind: str = "text"
    required: bool = True
    variadic: bool = False
    values: tuple[str, ...] = ()
    description: str = ""
    #: all that the tool says of it
    described: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Command:
    """One command: *path* is what stands behind the tool's name, ``()`` for the tool itself.

    ``None`` for *positionals*, *mutating* or *idempotent*: it is not known. *inferred* is
    then what its name suggests to the tool: ``mutating``, ``destructive`` or ``""``. *retryable* is
    what it declares about its exit codes. *standard* are the flags of the contract that it lists
    beside its own.
    """

    path: tuple[str, ...]
    description: str = ""
    flags: Mapping[str, Flag] = field(default_factory=dict)
    positionals: tuple[Positional, ...] | None = None
    mutating: bool | None = None
    destructive: bool = False
    idempotent: bool | None = None
    requires_person: bool = False
    confirm_flag: str = ""
    retryable: Mapping[int, bool] = field(default_factory=dict)
    aliases: tuple[str, ...] = ()
    is_group: bool = False
    output_schema: Mapping[str, Any] = field(default_factory=dict)
    inferred: str = ""
    standard: Mapping[str, Flag] = field(default_factory=dict)
    #: whether a call can end at it; a group says so itself
    runs: bool = True
    #: all that the tool says of it
    described: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def may_repeat(self) -> bool:
        """Whether the tool declares that running it twice does no more than running it once.

        A group declares nothing about the commands below it.
        """
        reads = self.mutating is False and not self.destructive
        return not self.is_group and (self.idempotent is True or reads)

    @property
    def reads(self) -> bool:
        """Whether it is declared to change nothing, or, undeclared, named like that."""
        if self.is_group or self.mutating is not None:
            return not self.is_group and not self.mutating and not self.destructive
        return suggests_reading(self.path or ("",))

    @property
    def changes(self) -> bool:
        """Whether it is declared to change something, or, undeclared, named like that."""
        if self.mutating is not None:
            return self.mutating or self.destructive
        return self.destructive or bool(self.inferred or inferred_danger(self.path))

    @property
    def takes_cursor(self) -> bool:
        """Whether its answer can be asked for page by page."""
        return "cursor" in self.flags or "cursor" in self.standard

    @property
    def takes_stream(self) -> bool:
        """Whether it can be asked for one line an item."""
        return "stream" in self.flags


# The path of a command, and what the tool says of it.
Entry = tuple[tuple[str, ...], Mapping[str, Any]]


class Commands(Mapping[str, Command]):
    """The commands of a tool, each read when it is first looked up: most callers need a few.

    *entries* are the path of each command and what the tool says of it, by what stands behind the
    tool's name; *read* returns the command that they are.
    """

    def __init__(self, entries: Mapping[str, Entry], read: Callable[..., Command]) -> None:
        self._entries = entries
        self._read = read
        self._known: dict[str, Command] = {}

    def __getitem__(self, name: str) -> Command:
        found = self._known.get(name)
        if found is None:
            found = self._known[name] = self._read(*self._entries[name])
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __repr__(self) -> str:
        return f"Commands({', '.join(map(repr, self))})"

    def part(self, keeps: Callable[[tuple[str, ...]], bool]) -> Commands:
        """Return the commands whose paths *keeps* returns true for."""
        kept = {name: each for name, each in self._entries.items() if keeps(each[0])}
        return Commands(kept, self._read)

    def by_path(self) -> dict[tuple[str, ...], str]:
        """Return the name of each command by its path, and by those of its aliases."""
        paths: dict[tuple[str, ...], str] = {}
        for name, (path, entry) in self._entries.items():
            for alias in scalars_in(entry["aliases"]) if "aliases" in entry else ():
                paths.setdefault((*path[:-1], alias), name)
        paths.update((path, name) for name, (path, _) in self._entries.items())
        return paths


@dataclass(frozen=True, slots=True)
class Catalogue:
    """All commands of a tool, by what stands behind its name: ``"index build"``.

    *shared* are flags every command takes; ``None`` when the tool does not list its contract's own.
    *knows_root* is whether the options of the tool itself are known, *wants_agent* whether the
    tool takes a pipe for a person's unless ``--agent`` is passed; ``None``: it is not known.
    *has_until* is whether its commands that only read take ``--until``.
    """

    name: str
    contract: str
    commands: Commands
    shared: Mapping[str, Flag] | None = None
    knows_root: bool = False
    etag: str = ""
    wants_agent: bool | None = None
    has_until: bool = False
    _names: dict[tuple[str, ...], str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_names", self.commands.by_path())

    def _at(self, *path: str) -> Command | None:
        """Return the command at *path*, also by an alias of its last word."""
        name = self._names.get(path)
        return self.commands[name] if name is not None else None

    def find(self, words: Sequence[str]) -> tuple[Command, int] | None:
        """Return the command that *words* begin with, and how many of them name it.

        ``None`` when they name none that is listed: it may be hidden, or have moved.
        """
        found, count = self._at(), 0
        path: tuple[str, ...] = ()
        for word in words:
            child = self._at(*path, word)
            if child is None:
                break
            path, found, count = child.path, child, count + 1
        if found is None or (found.is_group and not found.positionals and len(words) > count):
            return None
        return found, count

    def called(self, words: Sequence[str]) -> Command | None:
        """Return the command that a call of *words* runs, ``None`` where that is not certain.

        Options may stand before its name, if it is plain that they take no word behind them.
        """
        found = self._at()
        path: tuple[str, ...] = ()
        for word in words:
            if len(word) > 1 and word.startswith("-"):
                if found is not None and not found.is_group:
                    break
                if not _stands_alone(word, found):
                    return None
                continue
            child = self._at(*path, word)
            if child is None:
                if found is not None and found.is_group and not found.positionals:
                    return None
                break
            found, path = child, child.path
        return found

    def with_agent(self, words: tuple[str, ...]) -> tuple[str, ...]:
        """Return *words* with the flag that has the tool answer an agent, where it needs one.

        It stands first: behind a command, or a ``--``, it might be somebody else's.
        """
        if not self.wants_agent or AGENT_FLAG in words:
            return words
        if any("agent" in command.flags for command in self.commands.values()):
            return words
        return (AGENT_FLAG, *words)

    def may_repeat(self, words: Sequence[str]) -> bool:
        """Return whether a call of *words* is declared to do no more when it is made twice."""
        command = self.called(words)
        if command is None or not command.may_repeat:
            return False
        # Some tools run several commands in one call.
        rest = [word for word in words if word not in (*command.path, *command.aliases)]
        return not any((*command.path[:-1], word) in self._names for word in rest)

    def along(self, command: Command) -> list[Command]:
        """Return the commands above *command*, the tool itself first, and *command*."""
        above = (self.commands.get(" ".join(command.path[:n])) for n in range(len(command.path)))
        return [*(each for each in above if each is not None), command]


def _stands_alone(option: str, command: Command | None) -> bool:
    """Return whether *option* takes no value."""
    if option.startswith("--") and "=" in option:
        return True
    flag = command.flags.get(option.removeprefix("--")) if command is not None else None
    return flag is not None and flag.kind == "boolean"
