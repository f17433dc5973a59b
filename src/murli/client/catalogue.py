"""What a tool can be asked: one model for ``describe`` and both shapes of ``manifest``. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as default
from typing import Any

#: what a flag or argument can be; ``text`` is anything
KINDS = ("text", "integer", "number", "boolean", "array", "object")

# Flags of the murli contract that some tools list like their own.
_LISTED_BY_SOME = frozenset(
    ("agent", "schema", "protocol-version", "profile", "force", "yes", "dry-run")
)
# Of the longest exit code.
_MOST_DIGITS = 3
_KINDS = {
    "bool": "boolean",
    "boolean": "boolean",
    "count": "integer",
    "int": "integer",
    "integer": "integer",
    "number": "number",
    "float": "number",
    "array": "array",
    "object": "object",
}


@dataclass(frozen=True, slots=True)
class Flag:
    """An option of a command. *item* is the kind of the values of an array."""

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


@dataclass(frozen=True, slots=True)
class Positional:
    """An argument by its place."""

    name: str
    kind: str = "text"
    required: bool = True
    variadic: bool = False
    values: tuple[str, ...] = ()
    description: str = ""


@dataclass(frozen=True, slots=True)
class Command:
    """One command: *path* is what stands behind the tool's name, ``()`` for the tool itself.

    ``None`` for *positionals*, *mutating* or *idempotent*: the tool does not tell. *inferred* is
    then what its name suggests to the tool: ``mutating``, ``destructive`` or ``""``. *retryable* is
    what it declares about its exit codes. *standard* are the flags of the contract that it lists
    beside its own.
    """

    path: tuple[str, ...]
    description: str = ""
    flags: Mapping[str, Flag] = default(default_factory=dict)
    positionals: tuple[Positional, ...] | None = None
    mutating: bool | None = None
    destructive: bool = False
    idempotent: bool | None = None
    requires_person: bool = False
    confirm_flag: str = ""
    retryable: Mapping[int, bool] = default(default_factory=dict)
    aliases: tuple[str, ...] = ()
    is_group: bool = False
    output_schema: Mapping[str, Any] = default(default_factory=dict)
    inferred: str = ""
    standard: Mapping[str, Flag] = default(default_factory=dict)

    @property
    def takes_cursor(self) -> bool:
        """Whether its answer can be asked for page by page."""
        return "cursor" in self.flags or "cursor" in self.standard

    @property
    def takes_limit(self) -> bool:
        """Whether it can be told how many items to give."""
        return "limit" in self.flags or "limit" in self.standard

    @property
    def takes_stream(self) -> bool:
        """Whether it can be asked for one line an item."""
        return "stream" in self.flags


@dataclass(frozen=True, slots=True)
class Catalogue:
    """All commands of a tool, by what stands behind its name: ``"index build"``.

    *shared* are flags every command takes; ``None`` when the tool does not list its contract's own.
    *knows_root* tells whether the options of the tool itself are known.
    """

    name: str
    contract: str
    commands: Mapping[str, Command]
    shared: Mapping[str, Flag] | None = None
    knows_root: bool = False
    etag: str = ""
    _paths: dict[tuple[str, ...], Command] = default(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        paths: dict[tuple[str, ...], Command] = {}
        for command in self.commands.values():
            for alias in command.aliases:
                paths.setdefault((*command.path[:-1], alias), command)
        paths.update((command.path, command) for command in self.commands.values())
        object.__setattr__(self, "_paths", paths)

    def find(self, words: Sequence[str]) -> tuple[Command, int] | None:
        """Give the command that *words* begin with, and how many of them name it.

        ``None`` when they name none that is listed: it may be hidden, or have moved.
        """
        found, count = self._paths.get(()), 0
        path: tuple[str, ...] = ()
        for word in words:
            child = self._paths.get((*path, word))
            if child is None:
                break
            path, found, count = child.path, child, count + 1
        if found is None or (found.is_group and not found.positionals and len(words) > count):
            return None
        return found, count

    def along(self, command: Command) -> list[Command]:
        """Give the commands above *command*, the tool itself first, and *command*."""
        above = (self.commands.get(" ".join(command.path[:n])) for n in range(len(command.path)))
        return [*(each for each in above if each is not None), command]


# -- from describe ------------------------------------------------------------------------------


def is_description(document: Any) -> bool:
    """Tell whether *document* is what ``describe`` prints."""
    return (
        isinstance(document, dict)
        and isinstance(document.get("name"), str)
        and isinstance(document.get("schema_version"), str)
        and ("capabilities" in document or isinstance(document.get("commands"), list))
    )


def from_description(
    document: Mapping[str, Any], contract: str = "murli", root: Mapping[str, Any] | None = None
) -> Catalogue:
    """Give the catalogue in a ``describe`` document; *root* is the ``--schema`` of the tool."""
    commands: dict[str, Command] = {}
    children = _list(document.get("commands"))
    is_told = not children or not document.keys().isdisjoint(("arguments", "flags"))
    own = root if root is not None else document if is_told else None
    if own is not None:
        commands[""] = _described(own, (), bool(children))
    _walk(children, (), commands)
    name = _text(document.get("name"))
    return Catalogue(name, contract, commands, None, own is not None)


def _walk(children: list[Any], above: tuple[str, ...], commands: dict[str, Command]) -> None:
    for child in children:
        if not isinstance(child, dict) or not _text(child.get("name")):
            continue
        path = (*above, _text(child["name"]))
        below = _list(child.get("subcommands"))
        commands[" ".join(path)] = _described(child, path, bool(below))
        _walk(below, path, commands)


def _described(document: Mapping[str, Any], path: tuple[str, ...], is_group: bool) -> Command:
    safety = _object(document.get("safety"))
    returns = _object(document.get("returns"))
    listed = [
        (flag, entry)
        for entry in _objects(document.get("flags"))
        if (flag := _flag(_text(entry.get("name")), entry)).name
    ]
    standard = _standard(listed)
    undeclared = safety.get("declared") is False
    idempotent = _truth(document.get("idempotent", safety.get("idempotent")))
    return Command(
        path,
        _text(document.get("summary")),
        {flag.name: flag for flag, _ in listed if flag.name not in standard},
        tuple(_positional(each) for each in _objects(document.get("arguments"))),
        _changes(document, safety),
        safety.get("destructive") is True,
        # Where nothing is declared, "not idempotent" is not declared either.
        idempotent or (None if undeclared else idempotent),
        aliases=_texts(document.get("aliases")),
        is_group=is_group,
        output_schema=_object(returns.get("output_schema")),
        inferred=_text(safety.get("inferred")) if undeclared else "",
        standard=standard,
    )


def _standard(listed: Sequence[tuple[Flag, Mapping[str, Any]]]) -> dict[str, Flag]:
    """Return those of the *listed* flags that are the contract's and not the command's own."""
    names = {flag.name for flag, _ in listed}
    # Some list all of the contract's; nobody else has a use for these two.
    lists_all = names >= {"agent", "schema"}
    return {
        flag.name: flag
        for flag, entry in listed
        if entry.get("standard") is True
        or (lists_all and (flag.name in _LISTED_BY_SOME or _is_format(flag)))
    }


def _is_format(flag: Flag) -> bool:
    """Return whether *flag* is the contract's ``--output``: one of a tool's own has no ndjson."""
    return flag.name == "output" and ("ndjson" in flag.values or "ndjson" in flag.description)


def _changes(document: Mapping[str, Any], safety: Mapping[str, Any]) -> bool | None:
    """Tell whether a command changes something, ``None`` when it does not say."""
    if safety.get("declared") is False:
        return None
    if document.get("mutating") is True or safety.get("read_only") is False:
        return True
    return False if "mutating" in document or "read_only" in safety else None


# -- from manifest ------------------------------------------------------------------------------


def is_manifest(document: Any) -> bool:
    """Tell whether *document* is the data of ``manifest``."""
    return isinstance(document, dict) and isinstance(document.get("commands"), dict)


def from_manifest(document: Mapping[str, Any], contract: str, name: str = "") -> Catalogue:
    """Give the catalogue in a ``manifest`` of a tool that is called *name*, as far as one knows."""
    entries = _object(document.get("commands"))
    codes = _object(document.get("exit_codes"))
    name = _name_in(entries) or name
    # The tool itself is listed by its own name, or by none where a command has that name.
    root = "" if "" in entries else name if name in entries else None
    commands: dict[str, Command] = {}
    # The first shape of a manifest has no place for arguments.
    knows_arguments = _text(document.get("schema_version")).startswith("3.")
    for key, entry in entries.items():
        if isinstance(entry, dict):
            path = () if key == root else tuple(key.split("."))
            commands[" ".join(path)] = _listed(entry, path, codes, knows_arguments)
    shared = document.get("flags")
    flags = _flags(shared) if isinstance(shared, dict) else None
    etag = _text(document.get("etag"))
    return Catalogue(name, contract, commands, flags, True, etag)


def _name_in(entries: Mapping[str, Any]) -> str:
    """Give what a tool calls itself in its manifest, ``""`` when that is nowhere."""
    for key, entry in entries.items():
        below = _texts(_object(entry).get("subcommands"))
        if below and not any(each.startswith(f"{key}.") for each in below):
            return key  # what is above all others
    for entry in map(_object, entries.values()):
        calls = [_text(each.get("command")) for each in _objects(entry.get("examples"))]
        calls.append(_text(entry.get("description")).partition("Call: ")[2])
        for call in calls:
            if call:
                return call.split()[0]
    return ""


def _listed(
    entry: Mapping[str, Any],
    path: tuple[str, ...],
    shared_codes: Mapping[str, Any],
    knows_arguments: bool,
) -> Command:
    danger = _text(entry.get("danger_level"))
    flags = _flags(_object(entry.get("flags")))
    positionals = entry.get("positionals")
    told = knows_arguments or isinstance(positionals, list)
    codes = {**shared_codes, **_object(entry.get("exit_codes"))}
    confirm = _text(entry.get("confirm_flag"))
    usual = (each for each in ("confirm-destructive", "yes", "force") if each in flags)
    return Command(
        path,
        _text(entry.get("description")),
        flags,
        tuple(map(_positional, _objects(positionals))) if told else None,
        danger != "safe" if danger else None,
        danger == "destructive",
        _truth(entry.get("idempotent")),
        entry.get("requires_person") not in (None, False),
        confirm or next(usual, ""),
        {
            int(number): code["retryable"]
            for number, code in codes.items()
            if number.isdecimal()
            and len(number) <= _MOST_DIGITS
            and isinstance(_object(code).get("retryable"), bool)
        },
        _texts(entry.get("aliases")),
        bool(entry.get("subcommands")),
        _object(entry.get("output_schema")),
    )


def _flags(entries: Mapping[str, Any]) -> dict[str, Flag]:
    return {
        name: _flag(name, entry, negation=f"no-{name}" if f"no-{name}" in entries else "")
        for name, entry in entries.items()
        if isinstance(entry, dict)
    }


# -- from either --------------------------------------------------------------------------------


def _flag(name: str, entry: Mapping[str, Any], negation: str = "") -> Flag:
    kind, item = kind_in(_text(entry.get("type")))
    variables = [_text(each.get("name")) for each in _objects(entry.get("env_vars"))]
    return Flag(
        name.lstrip("-"),
        kind,
        item,
        entry.get("required") is True,
        _texts(entry.get("enum", entry.get("enum_values"))),
        entry.get("default"),
        _text(entry.get("negation")).lstrip("-") or negation,
        _text(entry.get("short")).lstrip("-"),
        tuple(each for each in (_text(entry.get("env")), *variables) if each),
        entry.get("profileable") is True,
        _text(entry.get("description")),
    )


def _positional(entry: Mapping[str, Any]) -> Positional:
    kind, item = kind_in(_text(entry.get("type")))
    many = kind == "array"
    return Positional(
        _text(entry.get("name")),
        item if many else kind,
        entry.get("required") is True,
        many or entry.get("variadic") is True,
        _texts(entry.get("enum", entry.get("enum_values"))),
        _text(entry.get("description")),
    )


def kind_in(name: str) -> tuple[str, str]:
    """Give the kind that a tool calls *name*, and that of its items."""
    if name.startswith("[]"):
        return "array", kind_in(name[2:])[0]
    if name.endswith(("Slice", "Array")):
        return "array", kind_in(name.removesuffix("Slice").removesuffix("Array"))[0]
    plain = re.sub(r"(?<=[a-z])(8|16|32|64)$", "", name.removeprefix("u"))
    return _KINDS.get(plain, "text"), "text"


def _truth(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _objects(value: Any) -> Iterable[Mapping[str, Any]]:
    return [each for each in _list(value) if isinstance(each, dict)]


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(str(each) for each in _list(value) if not isinstance(each, (dict, list)))
