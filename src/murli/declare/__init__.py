"""What authors declare about a command, beyond what its parser already knows."""

from __future__ import annotations

from .. import core
from ..core import METADATA, Record, field, fill, metadata_of, or_empty

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from dataclasses import KW_ONLY
    from typing import Any, Literal, TypeVar

    from typing_extensions import Unpack

    from ..type_checking import (
        DangerLevel,
        Effect,
        Given,
        OrNone,
        PatternType,
        Several,
        SeveralOrNone,
        ValueKind,
    )
    from .declarations import Deprecation, Paging, Rule
    from .described import ArgumentMetadata, Example
    from .exit_codes import CommandCode, ExitCode, ExitCodeEntry
    from .keywords import MetadataFields
    from .traits import Traits

    T = TypeVar("T")


# The rarer fields of a `Metadata`; `declarations` knows their forms, and is loaded for them alone.
_RARE = (
    *("exit_codes", "ok_codes", "effect", "steps", "required_scopes", "requires", "deprecated"),
    *("lists", "streams", "external", "schema_version", "traits", "plan"),
    *("next", "state", "batch"),
)
# Those that the guard looks at when the command is about to run.
_GUARDED = (
    *("mutating", "destructive", "dry_runnable", "plan", "timeout", "streams", "reveals_secrets"),
    *("traits", "lists", "next"),
)


def flag_key(name: str) -> str:
    """Return the one spelling of a flag's name: authors write ``dry_run`` and ``--dry-run`` too."""
    return name.lstrip("-").replace("_", "-")


def spelled_name(written: Sequence[str], dest: str) -> tuple[str, str]:
    """Return the long name of an option without its dashes, and its short one or ``""``.

    *written* is how it can be written; what is nothing but a prefix is called by its *dest*.
    """
    if len(written) == 1 and written[0][:2] == "--":  # as most have it
        return written[0].lstrip("-+/") or dest.replace("_", "-"), ""
    longs = [each for each in written if each[:1] == each[1:2]]
    name = (longs or [*written, dest])[0].lstrip("-+/") or dest.replace("_", "-")
    shorts = [each[1:] for each in written if each[:1] == "-" and each[1:2] not in ("-", "")]
    shorts = [each for each in shorts if each != name] if longs else []
    return name, next((each for each in shorts if len(each) == 1), shorts[0] if shorts else "")


def _deprecation(value: Deprecation | str | None) -> Deprecation | None:
    if value is None:
        return None
    from .declarations import deprecation_in

    return deprecation_in(value)


def check_values(note: ArgumentMetadata | FlagAnnotation) -> None:
    """Raise if what *note* says about values contradicts itself."""
    if note.kind or note.pattern_type or note.max_bytes:
        from .checks import check_value_facts

        check_value_facts(note.kind, note.pattern, note.pattern_type, note.max_bytes)


class FlagAnnotation(Record):
    """What a flag means, beyond its name, type and default.

    ::

        murli.FlagAnnotation(env="TOOL_TOKEN", sensitive=True)
        murli.FlagAnnotation(enum=["json", "csv"], description="how rows are written")

    * *env*: the variable that holds its value when the flag is not given.
    * *sensitive*: its value is a secret, and is redacted wherever it would be written.
    * *persistent*: commands below take it too; only described.
    * *mutually_exclusive_with*: names of flags that may not be given with it.
    * *enum*: the values it takes.
    * *pattern*: a regular expression that is searched for in its value.
    * *profileable*: its value may be saved in a profile.
    * *deprecated*: a `Deprecation`, or the name of the flag to use instead.
    * *max_bytes*: the greatest length of its value.
    * *kind*: what its value is: an ``id`` or a ``path``, which cannot smuggle a traversal or a
      query in, or ``json``.
    * *pattern_type*: a well-known form of the whole value: ``alphanumeric_id``, ``uuid``,
      ``semver``, ``filepath`` or ``url``.
    * *reaches_child*: its value is passed to another program; what a shell would act on is refused.
    * *description*: what agents read in place of the option's help.

    Values are checked before the command runs.
    """

    env: str = ""
    sensitive: bool = False
    persistent: bool = False
    mutually_exclusive_with: Several[str] = field(default=(), convert=tuple)
    enum: Several[str] = field(default=(), convert=tuple)
    pattern: str = ""
    profileable: bool = False
    _: KW_ONLY
    deprecated: Given[Deprecation | str | None, Deprecation | None] = field(
        default=None, convert=_deprecation
    )
    max_bytes: int = 0
    kind: ValueKind = ""
    pattern_type: PatternType = ""
    reaches_child: bool = False
    description: str = ""

    def _check(self, given: dict[str, Any]) -> None:
        check_values(self)

    @property
    def has_checks(self) -> bool:
        """Whether something must hold for a call that has the flag, or is to be noted of it."""
        values = self.enum or self.pattern or self.pattern_type or self.kind or self.max_bytes
        return bool(values or self.reaches_child or self.mutually_exclusive_with or self.deprecated)


def _or(default: Any) -> Callable[[Any], Any]:
    """Return a converter that replaces ``None``, which means "not declared", by *default*."""
    return lambda value: default if value is None else value


def _tuple_of(value: Sequence[Any] | None) -> tuple[Any, ...]:
    return tuple(value or ())


def _seconds(value: float | None) -> float:
    return float(value or 0.0)


def _by_flag_key(notes: Mapping[str, FlagAnnotation] | None) -> dict[str, FlagAnnotation]:
    return {flag_key(name): note for name, note in (notes or {}).items()}


def _danger_level(metadata: Metadata) -> DangerLevel | Literal[""]:
    """Return what a call may do: safe, mutating, destructive, or "" if undeclared."""
    if metadata.mutating:
        return "destructive" if metadata.destructive else "mutating"
    return "safe" if "mutating" in metadata.explicit else ""


# Fields of the same form; ``None`` means "not declared".
_TEXT: Any = field(default=None, convert=_or(""))
_TRUTH: Any = field(default=None, convert=bool)
_SEVERAL: Any = field(default=None, convert=_or(()))
_TUPLE: Any = field(default=None, convert=_tuple_of)


class Metadata(Record):
    """What an agent should know about a command; every field is optional.

    ::

        murli.Metadata(
            agent_description="Delete an index and its files.",
            danger_level="destructive",
            dry_runnable=True,
            flag_annotations={"token": murli.FlagAnnotation(env="TOOL_TOKEN", sensitive=True)},
            examples=[murli.Example("tool delete books --yes", "Delete without asking.")],
        )

    `murli.about` takes the same fields and declares them of a command; `murli.annotate` takes a
    `Metadata`, which several commands may share.

    What it is for:

    * *agent_description*: what it does, in place of the help text.
    * *when_to_use*: when to call it rather than another command.
    * *arguments*: an `ArgumentMetadata` for each positional argument worth a word.
    * *flag_annotations*: a `FlagAnnotation` for each such flag, by its name.
    * *examples*: calls worth showing, each an `Example`.
    * *returns*: a `ReturnSchema`, or a type (a dataclass, a TypedDict, a pydantic model …) whose
      JSON Schema is derived. *schema_version* is the version of that shape, ``"1.0"`` unless given.
    * *deprecated*: a `Deprecation`, or the name of the replacement.

    What a call does:

    * *danger_level*: ``safe``, ``mutating`` or ``destructive``; read, it is ``""`` if nobody
      declared anything. *mutating* and *destructive* are the same in two booleans.
    * *idempotent*: a second call changes nothing more.
    * *effect*: what a success does: ``created``, ``updated``, ``deleted`` or ``noop``.
    * *steps*: the names of its parts, as `murli.step` takes them.
    * *dry_runnable*: the handler asks ``writer.is_dry_run()`` and then changes nothing.
    * *plan*: a function that is called on ``--dry-run`` in place of the handler, with the handler's
      arguments (on argparse, with the namespace), and returns the plan; implies *dry_runnable*.
    * *timeout*: the seconds it may take when an agent calls it.
    * *required_scopes*: what the caller's credentials must allow; not checked.
    * *requires*: conditions on its flags, each a `Rule`.
    * *batch*: the name of an argument or option that takes one value: an agent may pass several,
      the command runs once for each, and the answer has an item for each.
    * *traits*: the rarer facts, a `Traits`.

    What it answers:

    * *lists*: the result is a list: ``True``, or a `Paging`. *streams*: item by item.
    * *exit_codes*: every way it can end, an `ExitCodeEntry` for each `ExitCode` or `CommandCode`.
    * *ok_codes*: statuses other than 0 that its handler exits with though nothing failed, and what
      each means: ``{1: "found something"}``.
    * *external*: its data comes from outside, and is marked as such.
    * *reveals_secrets*: its purpose is to print a secret, so its own answer is not redacted.
    * *next*: calls that usually follow a success, with places for values of the result
      (``{id}``, ``{order.id}``, ``{0.id}`` in a list) or of the call's own arguments and options:
      ``["shop orders show {id}"]``. One with a value that is not there is left out of the answer.
    * *state*: the call that looks at what this one changes, filled with the call's own arguments:
      ``"shop orders show {order}"``. A failure that may have left traces names it.

    ``explicit`` are the names of the fields that were given: a later `annotate` overrides those.
    """

    agent_description: OrNone[str] = _TEXT
    when_to_use: OrNone[str] = _TEXT
    idempotent: OrNone[bool] = _TRUTH
    mutating: OrNone[bool] = _TRUTH
    arguments: SeveralOrNone[ArgumentMetadata] = _TUPLE
    returns: Any = None
    examples: SeveralOrNone[Example] = _TUPLE
    flag_annotations: Given[Mapping[str, FlagAnnotation] | None, dict[str, FlagAnnotation]] = field(
        default=None, convert=_by_flag_key
    )
    dry_runnable: OrNone[bool] = _TRUTH
    destructive: OrNone[bool] = _TRUTH
    reveals_secrets: OrNone[bool] = _TRUTH
    timeout: OrNone[float] = field(default=None, convert=_seconds)
    _: KW_ONLY
    danger_level: Given[DangerLevel | None, DangerLevel | Literal[""]] = field(
        default=None, read=_danger_level
    )
    exit_codes: Given[
        Mapping[Any, ExitCodeEntry] | None, dict[ExitCode | CommandCode, ExitCodeEntry]
    ] = field(default=None, convert=or_empty)
    ok_codes: Given[Mapping[int, str] | None, dict[int, str]] = field(
        default=None, convert=or_empty
    )
    effect: Given[Effect | None, Effect | Literal[""]] = _TEXT
    steps: SeveralOrNone[str] = _SEVERAL
    required_scopes: SeveralOrNone[str] = _SEVERAL
    requires: SeveralOrNone[Rule] = _SEVERAL
    deprecated: Given[Deprecation | str | None, Deprecation | None] = field(default=None)
    lists: Given[Paging | bool | None, Paging | None] = field(default=None)
    streams: OrNone[bool] = field(default=None, convert=_or(False))
    external: OrNone[bool] = field(default=None, convert=_or(False))
    schema_version: OrNone[str] = field(default=None, convert=_or("1.0"))
    traits: Traits | None = None
    plan: Callable[..., Any] | None = None
    next: SeveralOrNone[str] = _SEVERAL
    state: OrNone[str] = _TEXT
    batch: OrNone[str] = _TEXT
    explicit: frozenset[str] = field(init=False)

    def _check(self, given: dict[str, Any]) -> None:
        explicit = {name for name, value in given.items() if value is not None}
        if "danger_level" in explicit:
            from .checks import meant_by_level

            mutating, destructive = meant_by_level(given)
            fill(self, mutating=mutating, destructive=destructive)
            explicit = (explicit | {"mutating", "destructive"}) - {"danger_level"}
        # What cannot be undone certainly changes something.
        fill(self, mutating=self.mutating or self.destructive, explicit=frozenset(explicit))
        rare = {name: given[name] for name in _RARE if name in explicit}
        if rare:
            from .declarations import check_together, normalized

            fill(self, **normalized(rare))
            if "dry_runnable" not in explicit and _implies_dry_run(self):
                fill(self, dry_runnable=True)
            check_together(self)

    @property
    def names_parameters(self) -> bool:
        """Whether something is declared about flags or arguments by their names."""
        named = self.flag_annotations or self.arguments or self.batch
        return bool(named or self.requires or self.traits)

    @property
    def has_checks(self) -> bool:
        """Whether something is declared that depends on the values of a call."""
        notes: Any = (*self.flag_annotations.values(), *self.arguments)
        return bool(self.requires or self.traits or any(note.has_checks for note in notes))

    def merged_with(self, later: Metadata) -> Metadata:
        """Return these declarations, overridden by the fields that were given to *later*."""
        changes = {name: getattr(later, name) for name in later.explicit}
        if "destructive" in later.explicit:
            changes["mutating"] = later.mutating or (
                self.mutating and "mutating" not in later.explicit
            )
        elif "mutating" in later.explicit:
            changes["mutating"] = later.mutating or self.destructive
        explicit = self.explicit | later.explicit
        if _implies_dry_run(later) and "dry_runnable" not in explicit:
            changes["dry_runnable"] = True
        merged = self.replace(**changes, explicit=explicit)
        rare = merged.effect or merged.streams or merged.plan or merged.batch
        if rare or merged.traits is not None:
            from .declarations import check_together

            check_together(merged)
        return merged


def runs_plainly(metadata: Metadata) -> bool:
    """Return whether nothing is declared that the guard would look at before a command runs."""
    return metadata.explicit.isdisjoint(_GUARDED)


def names_nothing_but(metadata: Metadata, flags: Collection[str]) -> bool:
    """Return whether what is declared names only *flags*, known by their `flag_key`."""
    notes = metadata.flag_annotations
    others = metadata.arguments or metadata.requires or metadata.traits or metadata.batch
    return not others and all(
        name in flags and not notes[name].mutually_exclusive_with for name in notes
    )


def restricts(metadata: Metadata, given: Mapping[str, tuple[Any, bool]]) -> bool:
    """Return whether something must hold for a call with these flags.

    They come by name, each with whether it was given.
    """
    if metadata.requires or metadata.traits or any(a.has_checks for a in metadata.arguments):
        return True
    keys = {flag_key(name) for name in given if given[name][1]}
    notes = metadata.flag_annotations
    return any(name in keys and notes[name].has_checks for name in notes)


def _implies_dry_run(metadata: Metadata) -> bool:
    """Return whether something is declared that only a command with a dry run can have."""
    traits = metadata.traits
    return metadata.plan is not None or bool(traits is not None and traits.safe_default)


def about(*commands: Any, **fields: Unpack[MetadataFields]) -> Callable[[T], T]:
    """Declare facts about a command; the keywords are the fields of `Metadata`.

    ::

        @app.command()
        @murli.about(destructive=True, dry_runnable=True)
        def delete(name: str) -> None: ...

        murli.about(parser, mutating=True)  # argparse

    As a decorator it may stand above or below those of click and typer, more than once; what
    stands higher overrides the same field below it. It is for handlers, command objects and
    classes of commands. *commands* are what is there already: a parser, a group, a Typer, a
    command. With argparse, a function that ``set_defaults`` attaches to a parser may be decorated.
    """
    if not fields:
        raise TypeError("murli.about() takes facts by keyword, such as about(destructive=True)")
    metadata = Metadata(**fields)

    def decorate(command: T) -> T:
        annotate(command, metadata)
        return command

    for command in commands:
        decorate(command)
    return decorate


def annotate(command: Any, metadata: Metadata) -> None:
    """Attach *metadata* to a command: a parser, or whatever object stands for the command.

    A second call overrides the fields that its *metadata* was given, and leaves the others.
    """
    if not isinstance(metadata, Metadata):
        raise TypeError(f"annotate() takes a murli.Metadata, not {type(metadata).__name__}")
    earlier, function = metadata_of(command), getattr(command, "callback", command)
    while earlier is None and function is not None:
        earlier, function = metadata_of(function), getattr(function, "__wrapped__", None)
    try:
        setattr(command, METADATA, earlier.merged_with(metadata) if earlier else metadata)
    except AttributeError:
        raise TypeError(
            f"what is declared is about a command, its function or a parser, "
            f"not about {core.kind_of(command)}"
        ) from None
    if hasattr(command, "_parse_known_args"):
        # A parser may be let parse in a way of the author's own, where nobody meets it otherwise.
        from ..core import note_parses

        note_parses(command)
    if metadata.mutating:
        core.declares_changes = True
    if metadata.batch:
        core.declares_batch = True
