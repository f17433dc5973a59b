"""The neutral command tree: adapters produce it, everything that explains the tool reads it."""

from __future__ import annotations

from .metadata import flag_key
from .outcome import Record, fill

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from .metadata import FlagAnnotation, Metadata


class Argument(Record):
    """A positional argument as the framework knows it, of ``values`` words, -1 for any number."""

    __slots__ = ("name", "type", "required", "description", "choices", "values")
    name: str
    type: str
    required: bool
    description: str
    choices: tuple[str, ...]
    values: int

    def __init__(
        self,
        name: str,
        type: str = "string",
        required: bool = True,
        description: str = "",
        choices: Sequence[str] = (),
        values: int = 1,
    ) -> None:
        fill(
            self,
            name=name,
            type=type,
            required=required,
            description=description,
            choices=tuple(choices),
            values=values,
        )


class Flag(Record):
    """An option as the framework knows it.

    ``name`` has no dashes; ``values`` is how many words follow it each time, -1 for any number.
    ``spelling`` is how it is written where that is not ``--name``.
    """

    __slots__ = (
        "name",
        "type",
        "default",
        "description",
        "short",
        "required",
        "env",
        "sensitive",
        "choices",
        "excludes",
        "minimum",
        "maximum",
        "negation",
        "values",
        "spelling",
    )
    name: str
    type: str
    default: Any
    description: str
    short: str
    required: bool
    env: str
    sensitive: bool
    choices: tuple[str, ...]
    excludes: tuple[str, ...]
    minimum: Any
    maximum: Any
    negation: str
    values: int
    spelling: str

    def __init__(
        self,
        name: str,
        type: str = "string",
        default: Any = None,
        description: str = "",
        short: str = "",
        required: bool = False,
        env: str = "",
        sensitive: bool = False,
        choices: Sequence[str] = (),
        excludes: Sequence[str] = (),
        minimum: Any = None,
        maximum: Any = None,
        negation: str = "",
        values: int = 1,
        spelling: str = "",
    ) -> None:
        fill(
            self,
            name=name,
            type=type,
            default=default,
            description=description,
            short=short,
            required=required,
            env=env,
            sensitive=sensitive,
            choices=tuple(choices),
            excludes=tuple(excludes),
            minimum=minimum,
            maximum=maximum,
            negation=negation,
            values=values,
            spelling=spelling,
        )


class Command(Record):
    """A command or a group of commands; ``path`` is how it is called, the tool's name first.

    ``runs`` says of a group that it does something when it is called by itself, ``strict`` that
    options stand before the first word that is none.
    """

    __slots__ = (
        "path",
        "summary",
        "arguments",
        "flags",
        "commands",
        "hidden",
        "deprecated",
        "metadata",
        "handler",
        "aliases",
        "runs",
        "strict",
    )
    path: tuple[str, ...]
    summary: str
    arguments: tuple[Argument, ...]
    flags: tuple[Flag, ...]
    commands: tuple[Command, ...]
    hidden: bool
    deprecated: bool
    metadata: Metadata | None
    handler: Any
    aliases: tuple[str, ...]
    runs: bool
    strict: bool

    def __init__(
        self,
        path: Sequence[str],
        summary: str = "",
        arguments: Sequence[Argument] = (),
        flags: Sequence[Flag] = (),
        commands: Sequence[Command] = (),
        hidden: bool = False,
        deprecated: bool = False,
        metadata: Metadata | None = None,
        handler: Any = None,
        aliases: Sequence[str] = (),
        runs: bool = False,
        strict: bool = False,
    ) -> None:
        fill(
            self,
            path=tuple(path),
            summary=summary,
            arguments=tuple(arguments),
            flags=tuple(flags),
            commands=tuple(commands),
            hidden=hidden,
            deprecated=deprecated,
            metadata=metadata,
            handler=handler,
            aliases=tuple(aliases),
            runs=runs,
            strict=strict,
        )

    @property
    def name(self) -> str:
        """The command's own name."""
        return self.path[-1]

    def note_on(self, flag: Flag) -> FlagAnnotation | None:
        """Give what was declared about one of the command's flags."""
        notes = self.metadata.flag_annotations if self.metadata is not None else {}
        return notes.get(flag_key(flag.name))

    def is_secret(self, flag: Flag) -> bool:
        """Tell whether the value of one of the command's flags is a secret."""
        note = self.note_on(flag)
        return flag.sensitive or (note is not None and note.sensitive)

    @property
    def visible(self) -> tuple[Command, ...]:
        """The subcommands that are not hidden, in the order they were defined."""
        return tuple(command for command in self.commands if not command.hidden)


def first_line(text: str | None) -> str:
    """Give the summary that a help text starts with."""
    lines = (text or "").strip().splitlines()
    return lines[0].strip() if lines else ""
