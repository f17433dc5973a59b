"""Reads ``describe`` and both shapes of ``manifest`` into a `Catalogue`. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..declare.safety import inferred_danger
from .catalogue import Catalogue, Command, Commands, Entry, Flag, Positional
from .values import list_in, object_in, objects_in, scalars_in, text_in

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
    **dict.fromkeys(("bool", "boolean"), "boolean"),
    **dict.fromkeys(("count", "int", "integer"), "integer"),
    **dict.fromkeys(("number", "float"), "number"),
    "array": "array",
    "object": "object",
}


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
    entries: dict[str, Entry] = {}
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
        aliases=scalars_in(document.get("aliases")),
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
        and (below := scalars_in(object_in(entry).get("subcommands")))
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
        scalars_in(entry.get("aliases")),
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
        scalars_in(entry.get("enum", entry.get("enum_values"))),
        entry.get("default"),
        text_in(entry.get("negation")).lstrip("-") or negation,
        text_in(entry.get("short")).lstrip("-"),
        tuple(each for each in (text_in(entry.get("env")), *variables) if each),
        entry.get("profileable") is True,
        description,
        text_in(entry.get("spelling")) or (written[1] if written else ""),
        scalars_in(entry.get("aliases")) or tuple(also[1].split(", ") if also else ()),
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
        scalars_in(entry.get("enum", entry.get("enum_values"))),
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
