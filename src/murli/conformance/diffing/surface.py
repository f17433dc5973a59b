"""One model for describe and manifest documents, whatever their content."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...wire.listing import listed_in, walked
from ...wire.values import list_in, object_in, text_in
from .documents import kind_of
from .remarks import arguments_in, remarks_in
from .types import UNDECLARED, Type, type_of

#: a value that is not there, since ``null`` is one
NOTHING: Any = ...

_FLAG_KEYS = {
    *("name", "type", "default", "description", "env", "env_vars", "sensitive", "persistent"),
    *("mutually_exclusive_with", "enum", "enum_values", "pattern", "pattern_type", "profileable"),
    *("required", "short", "minimum", "maximum", "negation", "schema", "variadic", "deprecated"),
    *("media_types", "metavar", "standard", "spelling"),
}
# Keys of a command that promise nothing, and keys that are in the model.
_COMMAND_KEYS = {
    *("name", "summary", "description", "when_to_use", "agent_description", "examples", "builtin"),
    *("idempotent", "mutating", "danger_level", "safety", "arguments", "flags", "positionals"),
    *("path", "returns", "subcommands", "aliases", "exit_codes", "output_schema", "requires"),
}
# The same for a tool; versions are no promise.
_TOOL_KEYS = {
    *("name", "summary", "schema_version", "tool_version", "framework_version", "etag", "murli"),
    *("capabilities", "profiles", "commands", "flags", "exit_codes", "env_vars", "arguments"),
    *("secret_env_vars", "dependencies", "returns", "examples", "safety", "idempotent", "mutating"),
}


@dataclass(frozen=True, slots=True)
class Parameter:
    """A flag or an argument. *rest* are the keys that are not in the model."""

    name: str
    type: Type = UNDECLARED
    required: bool = False
    values: tuple[str, ...] = ()
    pattern: str = ""
    minimum: float | None = None
    maximum: float | None = None
    default: Any = NOTHING
    short: str = ""
    negation: str = ""
    spelling: str = ""
    env: tuple[str, ...] = ()
    excludes: tuple[str, ...] = ()
    profileable: bool = False
    sensitive: bool = False
    persistent: bool = False
    deprecated: bool = False
    description: str = ""
    schema: Any = None
    media_types: Mapping[str, Any] = field(default_factory=dict)
    rest: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Entry:
    """A command. *arguments* is ``None`` if the document has them only as text we cannot read.

    *exclusions* are pairs of flags that exclude each other, *rules* the other conditions on flags,
    *rest* the keys that are not in the model.
    """

    path: tuple[str, ...]
    aliases: tuple[str, ...] = ()
    flags: Mapping[str, Parameter] = field(default_factory=dict)
    arguments: tuple[Parameter, ...] | None = ()
    usage: str = ""
    exclusions: frozenset[frozenset[str]] = frozenset()
    rules: tuple[Mapping[str, Any], ...] = ()
    danger: str = ""
    idempotent: bool = False
    reveals: bool = False
    exit_codes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    returns_type: str = ""
    shape: Any = None
    schema: Mapping[str, Any] | None = None
    examples: Mapping[str, Any] = field(default_factory=dict)
    is_group: bool = False
    is_builtin: bool = False
    rest: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Surface:
    """A tool. *flags* and *exit_codes* are those of every command."""

    kind: str
    name: str
    version: str
    commands: Mapping[tuple[str, ...], Entry]
    flags: Mapping[str, Parameter] = field(default_factory=dict)
    exit_codes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    document: Mapping[str, Any] = field(default_factory=dict)
    rest: Mapping[str, Any] = field(default_factory=dict)
    _places: dict[tuple[str, ...], tuple[str, ...]] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        paths = sorted(self.commands)
        for path in paths:
            for end in range(len(path) + 1):
                self._places[path[:end]] = path[:end]
        for path in paths:
            for alias in self.commands[path].aliases:
                self._places.setdefault(alias_path(path, alias), path)

    def resolve(self, path: Sequence[str]) -> tuple[str, ...] | None:
        """Return the path of the command that *path* calls, aliases resolved, or ``None``."""
        whole = self._places.get(tuple(path))
        if whole is not None:
            return whole
        found: tuple[str, ...] | None = ()
        for word in path:
            found = self._places.get((*found, word)) if found is not None else None
        return found

    def inherited(self, path: tuple[str, ...]) -> dict[str, Parameter]:
        """Return the flags that a command takes without listing them."""
        found = dict(self.flags)
        for end in range(len(path)):
            above = self.commands.get(path[:end])
            for name, flag in above.flags.items() if above is not None else ():
                if flag.persistent:
                    found[name] = flag
        return found


def alias_path(path: tuple[str, ...], alias: str) -> tuple[str, ...]:
    """Return the words that call the command at *path* by its *alias*."""
    words = tuple(alias.replace(".", " ").split())
    return words if len(words) > 1 else (*path[:-1], alias)


def read(document: Any, name: str = "") -> Surface:
    """Return the model of *document*; raises `NotADescription` if it is incomplete.

    *name* is the name of the tool, for a manifest without one.
    """
    kind = kind_of(document)
    version = text_in(document.get("schema_version"))
    rest = {key: each for key, each in document.items() if key not in _TOOL_KEYS}
    if kind == "describe":
        commands = dict(_described(document))
        return Surface(kind, document["name"], version, commands, document=document, rest=rest)
    name, entries = listed_in(document, name)
    commands = {
        path: _entry(path, entry, bool(entry.get("subcommands")))
        for path, entry in ((path, object_in(each)) for path, each in entries.items())
    }
    shared = dict(_parameters(document.get("flags")))
    codes = _codes(document.get("exit_codes"))
    return Surface(kind, name, version, commands, shared, codes, document, rest)


def _described(document: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], Entry]]:
    """Yield every command of a describe document by its path; the first of two with one path."""
    children = list_in(document.get("commands"))
    if not children or not {"flags", "arguments"}.isdisjoint(document):
        yield (), _entry((), document, bool(children), True)
    met: set[tuple[str, ...]] = set()
    for path, entry in walked(document):
        if "" not in path and path not in met:
            met.add(path)
            yield path, _entry(path, entry, bool(list_in(entry.get("subcommands"))), True)


def _entry(
    path: tuple[str, ...], entry: Mapping[str, Any], is_group: bool, is_described: bool = False
) -> Entry:
    safety, returns = object_in(entry.get("safety")), object_in(entry.get("returns"))
    flags = dict(_parameters(entry.get("flags")))
    if safety.get("dry_run_supported") is True:
        # Defined by us, but part of the command for callers.
        flags.setdefault("dry-run", Parameter("dry-run", Type("boolean")))
    rules = [each for each in list_in(entry.get("requires")) if isinstance(each, dict)]
    usage, arguments = _arguments(path, entry)
    schema = object_in(entry.get("output_schema", returns.get("output_schema")))
    # If the tool is a single command, its other keys are those of the document.
    rest = {} if is_described and not path else entry
    return Entry(
        path,
        distinct_texts(entry.get("aliases")),
        flags,
        arguments,
        usage,
        frozenset(_exclusions(flags, rules)),
        tuple(each for each in rules if "prohibited" not in each),
        _danger(entry, safety) if is_described else text_in(entry.get("danger_level")),
        entry.get("idempotent") is True or safety.get("idempotent") is True,
        safety.get("reveals_secrets") is True,
        _codes(entry.get("exit_codes")),
        text_in(returns.get("type")),
        returns.get("shape") or None,
        schema or None,
        {
            text_in(each.get("command")): each.get("expected_exit_code", 0)
            for each in map(object_in, list_in(entry.get("examples")))
        },
        is_group,
        entry.get("builtin") is True,
        {
            key: each
            for key, each in rest.items()
            # In a manifest this key is a word, the way arguments are passed.
            if key not in _COMMAND_KEYS or (key == "arguments" and isinstance(each, str))
        },
    )


def _danger(entry: Mapping[str, Any], safety: Mapping[str, Any]) -> str:
    """Return the danger level of a described command, ``""`` if it is undeclared."""
    if safety.get("declared") is False:
        return ""
    if safety.get("destructive") is True:
        return "destructive"
    changes = entry.get("mutating") is True or safety.get("read_only") is False
    return "mutating" if changes else "safe"


def _arguments(
    path: tuple[str, ...], entry: Mapping[str, Any]
) -> tuple[str, tuple[Parameter, ...] | None]:
    value = entry.get("positionals", entry.get("arguments"))
    if isinstance(value, list):
        found = [object_in(each) for each in value]
        return "", tuple(_parameter(text_in(each.get("name")), each) for each in found)
    _, mark, usage = text_in(entry.get("description")).rpartition("Call: ")
    if not mark:
        return "", ()
    entries = arguments_in(usage, len(path) + 1)
    if entries is None:
        return usage, None
    return usage, tuple(_parameter(each["name"], each) for each in entries)


def _parameters(value: Any) -> Iterator[tuple[str, Parameter]]:
    """Yield flags by name, from a list or an object."""
    if isinstance(value, dict):
        pairs = [(name, object_in(each)) for name, each in value.items()]
    else:
        found = [object_in(each) for each in list_in(value)]
        pairs = [(text_in(each.get("name")), each) for each in found]
    for given, entry in pairs:
        name = given.lstrip("-")
        # The contract's own flags are accepted whether or not they are listed.
        if name and entry.get("standard") is not True:
            # Only a manifest puts facts into the description.
            yield name, _parameter(name, entry, isinstance(value, dict))


def _parameter(name: str, entry: Mapping[str, Any], has_remarks: bool = False) -> Parameter:
    description = text_in(entry.get("description"))
    remarks: Mapping[str, Any] = remarks_in(description) if has_remarks else {}
    kind = type_of({**entry, "schema": remarks["schema"]} if "schema" in remarks else entry)
    variables = [text_in(object_in(each).get("name")) for each in list_in(entry.get("env_vars"))]
    variables += [text_in(entry.get("env")), remarks.get("env", "")]
    pattern = text_in(entry.get("pattern")) or text_in(entry.get("pattern_type"))
    return Parameter(
        name,
        kind,
        entry.get("required") is True,
        _words(entry.get("enum", entry.get("enum_values"))),
        pattern or remarks.get("pattern", ""),
        comparable(entry.get("minimum", remarks.get("minimum"))),
        comparable(entry.get("maximum", remarks.get("maximum"))),
        entry.get("default", NOTHING),
        text_in(entry.get("short")).lstrip("-"),
        text_in(entry.get("negation")).lstrip("-"),
        text_in(entry.get("spelling")) or remarks.get("spelling", ""),
        tuple(dict.fromkeys(each for each in variables if each)),
        tuple(each.lstrip("-") for each in distinct_texts(entry.get("mutually_exclusive_with")))
        + tuple(remarks.get("excludes", ())),
        entry.get("profileable") is True,
        entry.get("sensitive") is True,
        entry.get("persistent") is True,
        entry.get("deprecated") not in (None, False),
        description,
        None if _says_items_only(entry) else entry.get("schema"),
        object_in(entry.get("media_types")),
        {key: each for key, each in entry.items() if key not in _FLAG_KEYS},
    )


def _says_items_only(entry: Mapping[str, Any]) -> bool:
    """Return whether a schema only says which items a list has, as the type does."""
    schema = object_in(entry.get("schema"))
    items = object_in(schema.get("items"))
    return entry.get("type") == "array" and schema.keys() <= {"type", "items"} >= items.keys()


def _exclusions(
    flags: Mapping[str, Parameter], rules: Sequence[Mapping[str, Any]]
) -> Iterator[frozenset[str]]:
    for name, flag in flags.items():
        yield from (frozenset((name, other)) for other in flag.excludes if other != name)
    for rule in rules:
        name = text_in(rule.get("if_flag")).lstrip("-")
        for other in distinct_texts(rule.get("prohibited")):
            if other.lstrip("-") != name:
                yield frozenset((name, other.lstrip("-")))


def _codes(value: Any) -> dict[str, Mapping[str, Any]]:
    return {number: object_in(each) for number, each in object_in(value).items()}


def _words(value: Any) -> tuple[str, ...]:
    """Return a list of accepted values as they are written on a command line."""
    return tuple(
        dict.fromkeys(
            str(each).lower() if isinstance(each, bool) else str(each)
            for each in list_in(value)
            if isinstance(each, (str, float, bool))
            or (isinstance(each, int) and abs(each) < 1 << 64)
        )
    )


# -- values of any type --------------------------------------------------------------------------


def distinct_texts(value: Any) -> tuple[str, ...]:
    """Return the texts in a list, each once."""
    return tuple(dict.fromkeys(each for each in list_in(value) if isinstance(each, str)))


def comparable(value: Any) -> float | None:
    """Return *value* if it is a number that others can be compared with."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value != value:
        return None
    return value
