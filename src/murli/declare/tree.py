"""The neutral command tree: adapters produce it, everything that explains the tool reads it."""

from __future__ import annotations

from ..outcome import Record, field, fill
from . import flag_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, TypeVar

    from ..type_checking import Several

    T = TypeVar("T", "Argument", "Flag")
    from . import FlagAnnotation, Metadata
    from .described import ArgumentMetadata


class Argument(Record):
    """A positional argument as the framework knows it, of ``values`` words, -1 for any number.

    ``metavar`` stands for its value, where it is more specific than the name. ``batch`` marks one
    that is declared to take several, for each of which the command runs.
    """

    name: str
    type: str = "string"
    required: bool = True
    description: str = ""
    choices: Several[str] = field(default=(), convert=tuple)
    values: int = 1
    metavar: str = ""
    excludes: Several[str] = field(default=(), convert=tuple)
    batch: bool = False


class Flag(Record):
    """An option as the framework knows it.

    ``name`` has no dashes; ``values`` is how many words follow it each time, -1 for any number, and
    with ``repeats`` it adds to what was typed before.
    ``spelling`` is how it is written where that is not ``--name``, ``aliases`` and
    ``negation_aliases`` are its other spellings, and those that turn it off, as they are written.
    ``dest`` is what the tool calls its value. ``metavar`` and ``batch`` are as in `Argument`.
    ``standard`` marks a flag that murli adds to the command.
    """

    name: str
    type: str = "string"
    default: Any = None
    description: str = ""
    short: str = ""
    required: bool = False
    env: str = ""
    sensitive: bool = False
    choices: Several[str] = field(default=(), convert=tuple)
    excludes: Several[str] = field(default=(), convert=tuple)
    minimum: Any = None
    maximum: Any = None
    negation: str = ""
    values: int = 1
    repeats: bool = False
    spelling: str = ""
    metavar: str = ""
    standard: bool = False
    aliases: Several[str] = field(default=(), convert=tuple)
    negation_aliases: Several[str] = field(default=(), convert=tuple)
    dest: str = ""
    batch: bool = False


class Command(Record):
    """A command or a group of commands; ``path`` is how it is called, the tool's name first.

    ``runs`` means that a group does something when it is called by itself, ``strict`` that
    options stand before the first other word. ``own_name`` is what the framework calls it,
    which may not be how it is called, ``source`` where the facts are from, if not from the
    framework: ``help``. Of each of ``one_of``, names of flags and arguments, exactly one must be
    given. ``has_more_help`` is whether its help has more text than the summary.
    """

    path: Several[str] = field(convert=tuple)
    summary: str = ""
    arguments: Several[Argument] = field(default=(), convert=tuple)
    flags: Several[Flag] = field(default=(), convert=tuple)
    commands: Several[Command] = field(default=(), convert=tuple)
    hidden: bool = False
    deprecated: bool = False
    metadata: Metadata | None = None
    handler: Any = None
    aliases: Several[str] = field(default=(), convert=tuple)
    runs: bool = False
    strict: bool = False
    own_name: str = ""
    source: str = ""
    one_of: Several[tuple[str, ...]] = field(default=(), convert=tuple)
    has_more_help: bool = False

    def _check(self, given: dict[str, Any]) -> None:
        metadata = self.metadata
        if metadata is not None and metadata.batch:
            key = metadata.batch
            arguments = tuple(_taking_many(each, key, values=-1) for each in self.arguments)
            flags = tuple(_taking_many(each, key) for each in self.flags)
            fill(self, arguments=arguments, flags=flags)

    @property
    def name(self) -> str:
        """The command's own name."""
        return self.path[-1]

    @property
    def telling_path(self) -> tuple[str, ...]:
        """The names that describe what the command does, as `murli.declare.safety` takes them.

        Those of a tool that is one command are its own and that of the function behind it.
        """
        if len(self.path) > 1:
            return self.path[1:]
        return (" ".join((self.name, self.own_name, getattr(self.handler, "__name__", ""))),)

    @property
    def is_called(self) -> bool:
        """Whether a call can end at this command, rather than at one below it."""
        return self.runs or not self.visible

    def note_on(self, flag: Flag) -> FlagAnnotation | None:
        """Return what was declared about one of the command's flags."""
        notes = self.metadata.flag_annotations if self.metadata is not None else {}
        return notes.get(flag_key(flag.name)) if notes else None

    def note_about(self, argument: Argument) -> ArgumentMetadata | None:
        """Return what was declared about one of the command's arguments."""
        notes = self.metadata.arguments if self.metadata is not None else ()
        if not notes:
            return None
        key = flag_key(argument.name)
        return next((note for note in notes if flag_key(note.name) == key), None)

    def is_secret(self, flag: Flag) -> bool:
        """Return whether the value of one of the command's flags is a secret."""
        note = self.note_on(flag)
        return flag.sensitive or (note is not None and note.sensitive)

    @property
    def visible(self) -> tuple[Command, ...]:
        """The subcommands that are not hidden, in the order they were defined."""
        if not self.commands:
            return ()
        return tuple([command for command in self.commands if not command.hidden])


def _taking_many(parameter: T, key: str, **changes: Any) -> T:
    """Return *parameter* as one that takes several values, if it is called *key* and takes one."""
    is_one = parameter.values == 1 and not parameter.type.startswith("[]")
    if flag_key(parameter.name) != key or not is_one:
        return parameter
    return parameter.replace(type=f"[]{parameter.type}", batch=True, **changes)


def spellings(written: Sequence[str], name: str, short: str) -> dict[str, Any]:
    """Return the facts of a `Flag` about how it is written."""
    spelling = f"--{name}"
    if spelling not in written:
        spelling = next((each for each in written if each.lstrip("-+/") == name), written[0])
    return {
        "short": short,
        "spelling": "" if spelling == f"--{name}" else spelling,
        "aliases": [each for each in written if each not in (spelling, f"-{short}")],
    }


def with_own_names(flags: Sequence[Flag]) -> list[Flag]:
    """Return *flags*, each with a name that no other has: ``-x`` and ``+x`` are two options."""
    found: dict[str, Flag] = {}
    for flag in flags:
        name, number = flag.name, 1
        while name in found:
            number += 1
            name = f"{flag.name}-{number}"
        spelling = flag.spelling or f"--{flag.name}"
        found[name] = flag if name == flag.name else flag.replace(name=name, spelling=spelling)
    return list(found.values())


def first_line(text: str | None) -> str:
    """Return the summary that a help text starts with."""
    lines = (text or "").strip().splitlines()
    return lines[0].strip() if lines else ""


# Names of types that add nothing to the type of a flag.
_COMMON_TYPES = frozenset(
    """
    any bool boolean choice complex count datetime directory float int integer path str string
    text uuid
    """.split()  # noqa: SIM905
)


def telling_metavar(given: object, type_name: str, name: str) -> str:
    """Return what stands for a value: as the author wrote it, or the name of a type of its own.

    ``""`` where that adds nothing to *name*, that of the flag or argument.
    """
    words = given if isinstance(given, (list, tuple)) else [given]
    text = " ".join([word for word in words if isinstance(word, str)])
    if not text:
        kind = type_name.lower()
        common = kind.removesuffix(" range") in _COMMON_TYPES or kind.startswith("file")
        if common or kind[:1] in ("", "<"):
            return ""
        text = type_name.upper()
    says_name = flag_key(text.strip("<>[]{}")).lower() == flag_key(name).lower()
    return "" if says_name else text
