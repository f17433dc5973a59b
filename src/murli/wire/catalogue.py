"""What a tool can be asked: one model for ``describe`` and both shapes of ``manifest``. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..declare.safety import inferred_danger, suggests_reading
from .values import list_in, object_in, objects_in, text_in

#: what a flag or argument can be; ``text`` is anything
KINDS = ("text", "integer", "number", "boolean", "array", "object")

#: by what a call says that an agent makes it
AGENT_FLAG = "--agent"
# Flags of the murli contract that some tools list like their own.
_LISTED_BY_SOME = frozenset(
    ("agent", "schema", "protocol-version", "profile", "force", "yes", "dry-run")
)
# Of the longest exit code.
_MOST_DIGITS = 3
# A manifest has no key for how a flag is written; murli's have it in remarks behind the rest.
_REMARK = r"[(; ]{} ([-+/][^;()]*)(?:;[^()]*)?\)$"
# How deep the documents of a tool may be nested: what reads them goes down level by level.
_MOST_LEVELS = 100
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


class Commands(Mapping[str, Command]):
    """The commands of a tool, each read when it is first looked up: most callers need a few.

    *entries* are the path of each command and what the tool says of it, by what stands behind the
    tool's name; *read* returns the command that they are.
    """

    def __init__(self, entries: Mapping[str, _Entry], read: Callable[..., Command]) -> None:
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
            for alias in _texts(entry["aliases"]) if "aliases" in entry else ():
                paths.setdefault((*path[:-1], alias), name)
        paths.update((path, name) for name, (path, _) in self._entries.items())
        return paths


# The path of a command, and what the tool says of it.
_Entry = tuple[tuple[str, ...], Mapping[str, Any]]


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


# -- from describe ------------------------------------------------------------------------------


def is_description(document: Any) -> bool:
    """Return whether *document* is what ``describe`` prints."""
    return (
        isinstance(document, dict)
        and isinstance(document.get("name"), str)
        and isinstance(document.get("schema_version"), str)
        and ("capabilities" in document or isinstance(document.get("commands"), list))
    )


def from_description(
    document: Mapping[str, Any], contract: str = "murli", root: Mapping[str, Any] | None = None
) -> Catalogue:
    """Return the catalogue in a ``describe`` document; *root* is the ``--schema`` of the tool."""
    entries: dict[str, _Entry] = {}
    children = list_in(document.get("commands"))
    describes_itself = not children or not document.keys().isdisjoint(("arguments", "flags"))
    describes_itself = describes_itself or document.get("runs") is True
    own = root if root is not None else document if describes_itself else None
    if own is not None:
        entries[""] = (), own
    for path, entry in walked(document):
        if "" not in path and len(path) <= _MOST_LEVELS:
            entries[" ".join(path)] = path, entry

    def described(path: tuple[str, ...], entry: Mapping[str, Any]) -> Command:
        below = list_in(entry.get("subcommands")) if path else children
        return _described(entry, path, bool(below))

    name = text_in(document.get("name"))
    able = object_in(document.get("capabilities"))
    wants_agent = able.get("agents") in ("flag", "detect")
    return Catalogue(
        *(name, contract, Commands(entries, described), None, own is not None),
        wants_agent=wants_agent,
        has_until=able.get("until") is True,
    )


def walked(description: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], dict[str, Any]]]:
    """Yield every command of a description with its path, in which ``""`` stands for a bad name.

    Not by recursion: the depth of a document is unknown.
    """
    waiting: list[tuple[tuple[str, ...], dict[str, Any]]]
    waiting = [((), each) for each in reversed(objects_in(description.get("commands")))]
    while waiting:
        above, command = waiting.pop()
        path = (*above, text_in(command.get("name")))
        yield path, command
        if "subcommands" in command:
            waiting += [(path, each) for each in reversed(objects_in(command["subcommands"]))]


def _described(document: Mapping[str, Any], path: tuple[str, ...], is_group: bool) -> Command:
    safety = object_in(document.get("safety"))
    returns = object_in(document.get("returns"))
    listed = [
        (flag, entry)
        for entry in objects_in(document.get("flags"))
        if (flag := _flag(text_in(entry.get("name")), entry)).name
    ]
    standard = _standard(listed)
    undeclared = safety.get("declared") is False
    idempotent = _truth(document.get("idempotent", safety.get("idempotent")))
    return Command(
        path,
        text_in(document.get("summary")),
        {flag.name: flag for flag, _ in listed if flag.name not in standard},
        tuple(_positional(each) for each in objects_in(document.get("arguments"))),
        _changes(document, safety, path),
        safety.get("destructive") is True,
        # Where nothing is declared, "not idempotent" is not declared either.
        idempotent or (None if undeclared else idempotent),
        aliases=_texts(document.get("aliases")),
        is_group=is_group,
        output_schema=object_in(returns.get("output_schema")),
        inferred=text_in(safety.get("inferred")) if undeclared else "",
        standard=standard,
        runs=not is_group or document.get("runs") is True,
        described=document,
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


def _changes(
    document: Mapping[str, Any], safety: Mapping[str, Any], path: tuple[str, ...]
) -> bool | None:
    """Return whether a command declares that it changes something, ``None`` if it does not.

    The first murli calls every command read-only that nobody has declared. So a command that is
    named as if it changed something is not believed to read only.
    """
    if safety.get("declared") is False:
        return None
    if document.get("mutating") is True or safety.get("read_only") is False:
        return True
    if "mutating" not in document and "read_only" not in safety:
        return None
    return None if inferred_danger(path) else False


# -- from manifest ------------------------------------------------------------------------------


def is_manifest(document: Any) -> bool:
    """Return whether *document* is the data of ``manifest``."""
    return isinstance(document, dict) and isinstance(document.get("commands"), dict)


def from_manifest(document: Mapping[str, Any], contract: str, name: str = "") -> Catalogue:
    """Return the catalogue in a ``manifest`` of a tool called *name*, as far as known."""
    name, entries = listed_in(document, name)
    codes = object_in(document.get("exit_codes"))
    # The first shape of a manifest has no place for arguments.
    knows_arguments = text_in(document.get("schema_version")).startswith("3.")

    def listed(path: tuple[str, ...], entry: Mapping[str, Any]) -> Command:
        return _listed(entry, path, codes, knows_arguments)

    known = {
        " ".join(path): (path, entry) for path, entry in entries.items() if isinstance(entry, dict)
    }
    commands = Commands(known, listed)
    shared = document.get("flags")
    flags = _flags(shared) if isinstance(shared, dict) else None
    etag = text_in(document.get("etag"))
    # By the variable beside it one knows that the flag is murli's.
    variables = [text_in(each.get("name")) for each in objects_in(document.get("env_vars"))]
    wants_agent = "MURLI_MODE" in variables and "agent" in (flags or {}) if variables else None
    has_until = {"until-not", "every"} <= (flags or {}).keys()
    return Catalogue(name, contract, commands, flags, True, etag, wants_agent, has_until)


def listed_in(
    document: Mapping[str, Any], name: str = ""
) -> tuple[str, dict[tuple[str, ...], Any]]:
    """Return the name of a tool in its manifest, else *name*, and its entries by path."""
    entries = object_in(document.get("commands"))
    name = _name_in(entries) or name
    # The tool itself is listed by its own name, or by none where a command has that name.
    root = "" if "" in entries else name
    paths = (() if key == root else tuple(key.split(".")) for key in entries)
    return name, dict(zip(paths, entries.values(), strict=True))


def _name_in(entries: Mapping[str, Any]) -> str:
    """Return what a tool calls itself in its manifest, ``""`` when that is not certain."""
    above_all = {
        key
        for key, entry in entries.items()
        if key
        and (below := _texts(object_in(entry).get("subcommands")))
        and not any(each.startswith(f"{key}.") for each in below)
    }
    names = above_all or {call.split()[0] for call in calls_in(entries)}
    return names.pop() if len(names) == 1 else ""


def calls_in(entries: Mapping[str, Any]) -> list[str]:
    """Return the complete calls among the examples of a manifest."""
    found = []
    for entry in map(object_in, entries.values()):
        found += [text_in(each.get("command")) for each in objects_in(entry.get("examples"))]
        _, mark, call = text_in(entry.get("description")).rpartition("Call: ")
        found += [call] if mark else []
    return [call for call in found if call.strip()]


def _listed(
    entry: Mapping[str, Any],
    path: tuple[str, ...],
    shared_codes: Mapping[str, Any],
    knows_arguments: bool,
) -> Command:
    is_declared = object_in(entry.get("safety")).get("declared") is not False
    danger = text_in(entry.get("danger_level")) if is_declared else ""
    flags = _flags(object_in(entry.get("flags")))
    positionals = entry.get("positionals")
    knows_positionals = knows_arguments or isinstance(positionals, list)
    codes = {**shared_codes, **object_in(entry.get("exit_codes"))}
    confirm = text_in(entry.get("confirm_flag")).lstrip("-")
    return Command(
        path,
        text_in(entry.get("description")),
        flags,
        tuple(map(_positional, objects_in(positionals))) if knows_positionals else None,
        danger != "safe" if danger else None,
        danger == "destructive",
        _truth(entry.get("idempotent")) if is_declared else None,
        entry.get("requires_person") not in (None, False),
        confirm,
        {
            int(number): code["retryable"]
            for number, code in codes.items()
            if number.isdecimal()
            and len(number) <= _MOST_DIGITS
            and isinstance(object_in(code).get("retryable"), bool)
        },
        _texts(entry.get("aliases")),
        bool(entry.get("subcommands")),
        object_in(entry.get("output_schema")),
        runs=not entry.get("subcommands"),
        described=entry,
    )


def _flags(entries: Mapping[str, Any]) -> dict[str, Flag]:
    return {
        name: _flag(name, entry, negation=f"no-{name}" if f"no-{name}" in entries else "")
        for name, entry in entries.items()
        if isinstance(entry, dict)
    }


# -- from either --------------------------------------------------------------------------------


def _flag(name: str, entry: Mapping[str, Any], negation: str = "") -> Flag:
    kind, item = kind_in(text_in(entry.get("type")))
    variables = [text_in(each.get("name")) for each in objects_in(entry.get("env_vars"))]
    description = text_in(entry.get("description"))
    written, also = (re.search(_REMARK.format(word), description) for word in ("written", "also"))
    return Flag(
        name.lstrip("-"),
        kind,
        item,
        entry.get("required") is True,
        _texts(entry.get("enum", entry.get("enum_values"))),
        entry.get("default"),
        text_in(entry.get("negation")).lstrip("-") or negation,
        text_in(entry.get("short")).lstrip("-"),
        tuple(each for each in (text_in(entry.get("env")), *variables) if each),
        entry.get("profileable") is True,
        description,
        text_in(entry.get("spelling")) or (written[1] if written else ""),
        _texts(entry.get("aliases")) or tuple(also[1].split(", ") if also else ()),
        _words(entry, description),
        entry,
    )


def _words(entry: Mapping[str, Any], description: str) -> int:
    """Return how many words follow an option each time; a manifest has a remark on that."""
    words = entry.get("values")
    if isinstance(words, int):
        return words
    if "repeat it for more" in description and entry.get("type") == "boolean":
        return 0
    several = re.search(r"[(; ]takes (several|\d{1,3}) values[;)]", description)
    if several is None:
        return 1
    return -1 if several[1] == "several" else int(several[1])


def _positional(entry: Mapping[str, Any]) -> Positional:
    kind, item = kind_in(text_in(entry.get("type")))
    many = kind == "array"
    return Positional(
        text_in(entry.get("name")),
        item if many else kind,
        entry.get("required") is True,
        many or entry.get("variadic") is True,
        _texts(entry.get("enum", entry.get("enum_values"))),
        text_in(entry.get("description")),
        entry,
    )


def kind_in(name: str) -> tuple[str, str]:
    """Return the kind that a tool calls *name*, and that of its items."""
    item = _item_in(name)
    if item is None:
        return _plain_kind(name), "text"
    return "array", _plain_kind(item) if _item_in(item) is None else "array"


def _item_in(name: str) -> str | None:
    """Return the element type of the list type *name*, ``None`` for any other type."""
    if name.startswith("[]"):
        return name[2:]
    return name[:-5] if name.endswith(("Slice", "Array")) else None


def _plain_kind(name: str) -> str:
    return _KINDS.get(re.sub(r"(?<=[a-z])(8|16|32|64)$", "", name.removeprefix("u")), "text")


def is_shallow(document: Any) -> bool:
    """Return whether *document* is nested no deeper than any real one."""
    level = [document]
    for _ in range(_MOST_LEVELS):
        level = [
            each
            for container in level
            for each in (container.values() if isinstance(container, dict) else container)
            if isinstance(each, (dict, list))
        ]
        if not level:
            return True
    return False


def _truth(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(str(each) for each in list_in(value) if not isinstance(each, (dict, list)))
