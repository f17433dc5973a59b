"""What authors declare about a command, beyond what its parser already knows."""

from __future__ import annotations

from .record import Record, fill
from .runtime import METADATA, metadata_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any


class ArgumentMetadata(Record):
    """What a positional argument means."""

    __slots__ = ("name", "type", "required", "description")
    name: str
    type: str
    required: bool
    description: str

    def __init__(
        self, name: str, type: str = "string", required: bool = False, description: str = ""
    ) -> None:
        fill(self, name=name, type=type, required=required, description=description)


class ReturnSchema(Record):
    """What a successful call gives; ``properties`` is another name for ``shape``."""

    __slots__ = ("type", "description", "shape", "output_schema")
    type: str
    description: str
    shape: dict[str, Any]
    output_schema: Any

    def __init__(
        self,
        type: str = "json",
        description: str = "",
        properties: Mapping[str, Any] | None = None,
        shape: Mapping[str, Any] | None = None,
        output_schema: Any = None,
    ) -> None:
        if properties is not None and shape is not None:
            raise TypeError("ReturnSchema takes shape= or properties=, not both")
        given = shape if shape is not None else properties
        fill(
            self,
            type=type,
            description=description,
            shape=dict(given or {}),
            output_schema=output_schema,
        )


class Example(Record):
    """A call worth showing, and the exit code it gives."""

    __slots__ = ("command", "description", "expected_exit_code")
    command: str
    description: str
    expected_exit_code: int

    def __init__(self, command: str, description: str = "", expected_exit_code: int = 0) -> None:
        fill(self, command=command, description=description, expected_exit_code=expected_exit_code)


class FlagAnnotation(Record):
    """What a flag means, beyond its name, type and default."""

    __slots__ = (
        "env",
        "sensitive",
        "persistent",
        "mutually_exclusive_with",
        "enum",
        "pattern",
        "profileable",
    )
    env: str
    sensitive: bool
    persistent: bool
    mutually_exclusive_with: tuple[str, ...]
    enum: tuple[str, ...]
    pattern: str
    profileable: bool

    def __init__(
        self,
        env: str = "",
        sensitive: bool = False,
        persistent: bool = False,
        mutually_exclusive_with: Sequence[str] = (),
        enum: Sequence[str] = (),
        pattern: str = "",
        profileable: bool = False,
    ) -> None:
        fill(
            self,
            env=env,
            sensitive=sensitive,
            persistent=persistent,
            mutually_exclusive_with=tuple(mutually_exclusive_with),
            enum=tuple(enum),
            pattern=pattern,
            profileable=profileable,
        )


class Metadata(Record):
    """What an agent should know about a command; every field is optional.

    ``returns`` is a `ReturnSchema`, or a type (a dataclass, a TypedDict, a pydantic model …) whose
    JSON Schema is derived.

    ``reveals_secrets`` is for a command whose purpose is to print a secret: its own answer is then
    not redacted.

    ``timeout`` is how many seconds the command may take when an agent calls it.

    ``said`` names the fields that were given, so that a later `annotate` overrides those alone.
    """

    __slots__ = (
        "agent_description",
        "when_to_use",
        "idempotent",
        "mutating",
        "arguments",
        "returns",
        "examples",
        "flag_annotations",
        "dry_runnable",
        "destructive",
        "reveals_secrets",
        "timeout",
        "said",
    )
    agent_description: str
    when_to_use: str
    idempotent: bool
    mutating: bool
    arguments: tuple[ArgumentMetadata, ...]
    returns: Any
    examples: tuple[Example, ...]
    flag_annotations: dict[str, FlagAnnotation]
    dry_runnable: bool
    destructive: bool
    reveals_secrets: bool
    timeout: float
    said: frozenset[str]

    def __init__(
        self,
        agent_description: str | None = None,
        when_to_use: str | None = None,
        idempotent: bool | None = None,
        mutating: bool | None = None,
        arguments: Sequence[ArgumentMetadata] | None = None,
        returns: Any = None,
        examples: Sequence[Example] | None = None,
        flag_annotations: Mapping[str, FlagAnnotation] | None = None,
        dry_runnable: bool | None = None,
        destructive: bool | None = None,
        reveals_secrets: bool | None = None,
        timeout: float | None = None,
    ) -> None:
        given = {
            "agent_description": agent_description,
            "when_to_use": when_to_use,
            "idempotent": idempotent,
            "mutating": mutating,
            "arguments": arguments,
            "returns": returns,
            "examples": examples,
            "flag_annotations": flag_annotations,
            "dry_runnable": dry_runnable,
            "destructive": destructive,
            "reveals_secrets": reveals_secrets,
            "timeout": timeout,
        }
        fill(
            self,
            agent_description=agent_description or "",
            when_to_use=when_to_use or "",
            idempotent=bool(idempotent),
            # What cannot be undone certainly changes something.
            mutating=bool(mutating or destructive),
            arguments=tuple(arguments or ()),
            returns=returns,
            examples=tuple(examples or ()),
            flag_annotations={
                flag_key(name): note for name, note in (flag_annotations or {}).items()
            },
            dry_runnable=bool(dry_runnable),
            destructive=bool(destructive),
            reveals_secrets=bool(reveals_secrets),
            timeout=float(timeout or 0.0),
            said=frozenset(name for name, value in given.items() if value is not None),
        )

    def merged_with(self, later: Metadata) -> Metadata:
        """Give these facts with those that *later* really says on top."""
        changes = {name: getattr(later, name) for name in later.said}
        if "destructive" in later.said:
            changes["mutating"] = later.mutating or (self.mutating and "mutating" not in later.said)
        return self.replace(**changes, said=self.said | later.said)


def flag_key(name: str) -> str:
    """Give the one spelling of a flag's name: authors write ``dry_run`` and ``--dry-run`` too."""
    return name.lstrip("-").replace("_", "-")


def annotate(command: Any, metadata: Metadata) -> None:
    """Attach *metadata* to a command: a parser, or whatever object stands for the command.

    A second call overrides the fields it gives and leaves the others.
    """
    if not isinstance(metadata, Metadata):
        raise TypeError(f"annotate() takes a murli.Metadata, not {type(metadata).__name__}")
    earlier = metadata_of(command)
    setattr(command, METADATA, earlier.merged_with(metadata) if earlier else metadata)
