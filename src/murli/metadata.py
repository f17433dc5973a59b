"""What authors declare about a command, beyond what its parser already knows."""

from __future__ import annotations

from . import runtime
from .outcome import Record, fill
from .runtime import METADATA, metadata_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from .declarations import Deprecation, Paging, Rule
    from .exit_codes import CommandCode, ExitCode, ExitCodeEntry
    from .traits import Traits


# The rarer fields of a `Metadata` as they are when nobody speaks of them.
_UNSAID = {
    "effect": "",
    "steps": (),
    "required_scopes": (),
    "requires": (),
    "deprecated": None,
    "lists": None,
    "streams": False,
    "external": False,
    "schema_version": "1.0",
    "traits": None,
    "plan": None,
}


class ArgumentMetadata(Record):
    """What a positional argument means, and which values it takes (as in `FlagAnnotation`)."""

    __slots__ = (
        "name",
        "type",
        "required",
        "description",
        "pattern",
        "pattern_type",
        "kind",
        "max_bytes",
        "reaches_child",
    )
    name: str
    type: str
    required: bool
    description: str
    pattern: str
    pattern_type: str
    kind: str
    max_bytes: int
    reaches_child: bool

    def __init__(
        self,
        name: str,
        type: str = "string",
        required: bool = False,
        description: str = "",
        *,
        pattern: str = "",
        pattern_type: str = "",
        kind: str = "",
        max_bytes: int = 0,
        reaches_child: bool = False,
    ) -> None:
        _check_values(kind, pattern, pattern_type, max_bytes)
        fill(
            self,
            name=name,
            type=type,
            required=required,
            description=description,
            pattern=pattern,
            pattern_type=pattern_type,
            kind=kind,
            max_bytes=max_bytes,
            reaches_child=reaches_child,
        )

    @property
    def has_checks(self) -> bool:
        """Whether anything is said about the values it takes."""
        pattern = self.pattern or self.pattern_type
        return bool(pattern or self.kind or self.max_bytes or self.reaches_child)


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
    """What a flag means, beyond its name, type and default.

    What is said about its values is checked before the command runs: ``pattern`` is searched for,
    ``pattern_type`` (alphanumeric_id, uuid, semver, filepath, url) fits all of it, ``max_bytes``
    is its greatest length. ``kind`` is what it is: an ``id`` or a ``path``, which cannot smuggle a
    traversal or a query in, or ``json``. ``reaches_child`` refuses what a shell would act on, in a
    value that another program is given. ``description`` is what agents read in place of the
    option's help.
    """

    __slots__ = (
        "env",
        "sensitive",
        "persistent",
        "mutually_exclusive_with",
        "enum",
        "pattern",
        "profileable",
        "deprecated",
        "max_bytes",
        "kind",
        "pattern_type",
        "reaches_child",
        "description",
    )
    env: str
    sensitive: bool
    persistent: bool
    mutually_exclusive_with: tuple[str, ...]
    enum: tuple[str, ...]
    pattern: str
    profileable: bool
    deprecated: Deprecation | None
    max_bytes: int
    kind: str
    pattern_type: str
    reaches_child: bool
    description: str

    def __init__(
        self,
        env: str = "",
        sensitive: bool = False,
        persistent: bool = False,
        mutually_exclusive_with: Sequence[str] = (),
        enum: Sequence[str] = (),
        pattern: str = "",
        profileable: bool = False,
        *,
        deprecated: Deprecation | str | None = None,
        max_bytes: int = 0,
        kind: str = "",
        pattern_type: str = "",
        reaches_child: bool = False,
        description: str = "",
    ) -> None:
        _check_values(kind, pattern, pattern_type, max_bytes)
        if deprecated is not None:
            from .declarations import deprecation_in

            deprecated = deprecation_in(deprecated)
        fill(
            self,
            env=env,
            sensitive=sensitive,
            persistent=persistent,
            mutually_exclusive_with=tuple(mutually_exclusive_with),
            enum=tuple(enum),
            pattern=pattern,
            profileable=profileable,
            deprecated=deprecated,
            max_bytes=max_bytes,
            kind=kind,
            pattern_type=pattern_type,
            reaches_child=reaches_child,
            description=description,
        )


def _check_values(kind: str, pattern: str, pattern_type: str, max_bytes: int) -> None:
    if kind or pattern_type or max_bytes:
        from .declaration_checks import check_value_facts

        check_value_facts(kind, pattern, pattern_type, max_bytes)


class Metadata(Record):
    """What an agent should know about a command; every field is optional.

    ``danger_level`` (safe, mutating or destructive) is another way to say ``mutating`` and
    ``destructive``; read, it is ``""`` when nobody said anything.

    ``returns`` is a `ReturnSchema`, or a type (a dataclass, a TypedDict, a pydantic model …) whose
    JSON Schema is derived; ``schema_version`` is the version of that shape.

    ``reveals_secrets`` is for a command whose purpose is to print a secret: its own answer is then
    not redacted. ``external`` is for one whose data comes from outside.

    ``timeout`` is how many seconds the command may take when an agent calls it.

    ``exit_codes`` are all the ways it can end. ``ok_codes`` are the statuses other than 0 that its
    handler exits with though nothing failed, and what each means: ``{1: "found something"}``.

    ``effect`` is what a success does (created, updated,
    deleted or noop), ``steps`` are the names given to `murli.step`. ``requires`` are conditions on
    its flags. ``deprecated`` is a `Deprecation`, or the name of the replacement. ``lists`` says
    that it answers with a list, ``streams`` that it does so item by item. The rarer facts are
    ``traits``.

    ``plan`` is a function that murli calls on ``--dry-run`` in the place of the handler, with the
    handler's arguments (on argparse, with the namespace); what it returns is the plan. It says that
    the command is ``dry_runnable``. Without it, a handler of a ``dry_runnable`` command must ask
    ``writer.is_dry_run()``.

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
        "exit_codes",
        "ok_codes",
        "effect",
        "steps",
        "required_scopes",
        "requires",
        "deprecated",
        "lists",
        "streams",
        "external",
        "schema_version",
        "traits",
        "plan",
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
    exit_codes: dict[ExitCode | CommandCode, ExitCodeEntry]
    ok_codes: dict[int, str]
    effect: str
    steps: tuple[str, ...]
    required_scopes: tuple[str, ...]
    requires: tuple[Rule, ...]
    deprecated: Deprecation | None
    lists: Paging | None
    streams: bool
    external: bool
    schema_version: str
    traits: Traits | None
    plan: Callable[..., Any] | None
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
        *,
        danger_level: str | None = None,
        exit_codes: Mapping[Any, ExitCodeEntry] | None = None,
        ok_codes: Mapping[int, str] | None = None,
        effect: str | None = None,
        steps: Sequence[str] | None = None,
        required_scopes: Sequence[str] | None = None,
        requires: Sequence[Rule] | None = None,
        deprecated: Deprecation | str | None = None,
        lists: Paging | bool | None = None,
        streams: bool | None = None,
        external: bool | None = None,
        schema_version: str | None = None,
        traits: Traits | None = None,
        plan: Callable[..., Any] | None = None,
    ) -> None:
        if danger_level is not None:
            mutating, destructive = _danger(danger_level, mutating, destructive)
        given: dict[str, Any] = locals()
        said = frozenset(name for name in self.__slots__ if given.get(name) is not None)
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
            exit_codes={},
            ok_codes={},
            **_UNSAID,
            said=said,
        )
        rare = [name for name in ("exit_codes", "ok_codes", *_UNSAID) if name in said]
        if rare:
            from .declarations import check_together, settled

            fill(self, **settled({name: given[name] for name in rare}))
            if dry_runnable is None and _implies_dry_run(self):
                fill(self, dry_runnable=True)
            check_together(self)

    @property
    def danger_level(self) -> str:
        """What a call may do: ``safe``, ``mutating``, ``destructive``, or ``""``: nobody said."""
        if self.mutating:
            return "destructive" if self.destructive else "mutating"
        return "safe" if "mutating" in self.said else ""

    @property
    def names_parameters(self) -> bool:
        """Whether something is declared that speaks of flags or arguments by their names."""
        return bool(self.has_checks or self.arguments)

    @property
    def has_checks(self) -> bool:
        """Whether something is declared that depends on the values a call gives."""
        return bool(
            self.flag_annotations
            or self.requires
            or self.traits
            or any(argument.has_checks for argument in self.arguments)
        )

    def merged_with(self, later: Metadata) -> Metadata:
        """Give these facts with those that *later* really says on top."""
        changes = {name: getattr(later, name) for name in later.said}
        if "destructive" in later.said:
            changes["mutating"] = later.mutating or (self.mutating and "mutating" not in later.said)
        elif "mutating" in later.said:
            changes["mutating"] = later.mutating or self.destructive
        said = self.said | later.said
        if _implies_dry_run(later) and "dry_runnable" not in said:
            changes["dry_runnable"] = True
        merged = self.replace(**changes, said=said)
        if merged.effect or merged.streams or merged.plan or merged.traits is not None:
            from .declarations import check_together

            check_together(merged)
        return merged


def _implies_dry_run(metadata: Metadata) -> bool:
    """Return whether something is declared that only a command with a dry run can have."""
    traits = metadata.traits
    return metadata.plan is not None or bool(traits is not None and traits.safe_default)


def _danger(level: str, mutating: bool | None, destructive: bool | None) -> tuple[bool, bool]:
    """Give what *level* says about mutating and destroying; nothing else may have been said."""
    from .declaration_checks import DANGER_LEVELS, require_one_of

    require_one_of("danger_level", level, DANGER_LEVELS)
    meant = (level != "safe", level == "destructive")
    if mutating not in (None, meant[0]) or destructive not in (None, meant[1]):
        raise ValueError(
            f'danger_level="{level}" contradicts mutating={mutating}, destructive={destructive}; '
            "the level alone says it all"
        )
    return meant


def flag_key(name: str) -> str:
    """Give the one spelling of a flag's name: authors write ``dry_run`` and ``--dry-run`` too."""
    return name.lstrip("-").replace("_", "-")


def annotate(command: Any, metadata: Metadata) -> None:
    """Attach *metadata* to a command: a parser, or whatever object stands for the command.

    A second call overrides the fields it gives and leaves the others.
    """
    if not isinstance(metadata, Metadata):
        raise TypeError(f"annotate() takes a murli.Metadata, not {type(metadata).__name__}")
    if hasattr(command, "_parse_known_args"):
        # A parser may be let parse in a way of the author's own, where nobody meets it otherwise.
        from .adapters.argparse_levels import note_parses

        note_parses(command)
    if metadata.mutating:
        runtime.declares_changes = True
    earlier = metadata_of(command)
    setattr(command, METADATA, earlier.merged_with(metadata) if earlier else metadata)
