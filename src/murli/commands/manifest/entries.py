"""A command as a manifest has it, in the shape of either of its two versions.

Both are closed. What the first has no key for (positional arguments, variables, exclusions) is
written in words, so that a reader of either can call every command.
"""

from __future__ import annotations

from ...declare import FlagAnnotation, Metadata
from ...declare.described import ArgumentMetadata
from ...declare.safety import declared_danger
from ...declare.tree import Flag
from ...line.discretion import shown_default
from ...line.payload import has_secret, spelled
from ...secrets.shapes import MASK
from ..own import added_flags, secret_sources
from .codes import ExitCodes
from .schemas import output_schema

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from ...contracts.agent_spec import Revision
    from ...declare.exit_codes import ExitCode
    from ...declare.tree import Argument, Command

# What an entry has only if there is something to say.
_OPTIONAL = ("aliases", "positionals", "output_schema", "examples", "subcommands", "builtin")
_TYPES = {"int": "integer", "float64": "number", "float": "number", "bool": "boolean"}
# What is declared of a flag, or of an argument, of which nothing is.
_NO_NOTE, _NO_ARGUMENT_NOTE = FlagAnnotation(), ArgumentMetadata("")


class Entries:
    """Makes the entries of one manifest.

    ``enumerations`` are the lists of accepted values, sorted in the entries: some tools keep theirs
    in sets, and a hash must not depend on the order of those. `declare_order` undoes it.
    """

    def __init__(
        self, revision: Revision, statuses: Mapping[int, str | ExitCode] | None = None
    ) -> None:
        self.detailed = revision.manifest_version != "1.0"
        # What the exit statuses of all commands of the tool mean.
        self._statuses = statuses or {}
        self.codes = ExitCodes(revision)
        self._enumerations: list[tuple[dict[str, Any], list[Any]]] = []

    def declare_order(self) -> None:
        """Return accepted values in the order in which the tool declares them."""
        for entry, declared in self._enumerations:
            entry["enum_values"] = declared

    def entry(self, command: Command, *, builtin: bool = False) -> dict[str, Any]:
        """Return the entry of *command*; a *builtin* is ours."""
        metadata = command.metadata or Metadata()
        danger = self.danger(command)
        entry: dict[str, Any] = {
            "description": self._description(command, metadata),
            "aliases": list(command.aliases),
            "danger_level": danger,
        }
        if self.detailed:
            if "idempotent" in metadata.explicit or danger == "safe":
                entry["idempotent"] = metadata.idempotent or danger == "safe"
            entry["required_scopes"] = list(metadata.required_scopes)
        schema = output_schema(command, metadata)
        lists = metadata.lists is not None or metadata.streams or schema.get("type") == "array"
        entry["flags"] = self._flags(command, builtin=builtin, lists=lists)
        entry["positionals"] = self.positionals(command) if self.detailed else []
        if danger == "safe" and not metadata.danger_level:
            metadata = metadata.merged_with(Metadata(danger_level="safe"))
        path, is_group = command.path[1:], not command.is_called
        entry["exit_codes"] = self.codes.of(metadata, path, builtin=builtin, group=is_group)
        entry["output_schema"] = schema
        entry["examples"] = [
            {"description": example.description, "command": example.command}
            for example in metadata.examples
            if not example.expected_exit_code  # a call to imitate is one that works
        ]
        entry["subcommands"] = sorted(map(key_of, command.visible))
        if self.detailed:
            entry.update(self._details(command, metadata))
            entry["builtin"] = builtin
        return {key: value for key, value in entry.items() if value or key not in _OPTIONAL}

    def danger(self, command: Command) -> str:
        """Return what a call may do; only what does nothing by itself is harmless undeclared."""
        declared = declared_danger(command.metadata, command.telling_path)
        return declared or ("mutating" if command.is_called else "safe")

    def _flags(self, command: Command, *, builtin: bool, lists: bool) -> dict[str, Any]:
        """Return every flag *command* takes, ours that mean something there included."""
        entries = {flag.name: self.flag(flag, command) for flag in command.flags}
        added: list[Flag] = []
        for flag in command.flags:
            if flag.negation:
                action = f"turn --{flag.name} off"
                added.append(Flag(flag.negation, "bool", description=action, values=0))
            if has_secret(command, flag) and not builtin:
                added += secret_sources(flag)
        if not builtin:
            added += added_flags(command, self.danger(command), self.codes.revision, lists=lists)
        for flag in added:
            entries.setdefault(flag.name, self.flag(flag))
        return entries

    def flag(self, flag: Flag, command: Command | None = None) -> dict[str, Any]:
        """Return the entry of *flag*, of *command* or ours."""
        note = (command.note_on(flag) if command is not None else None) or _NO_NOTE
        text, default = note.description or flag.description, flag.default
        if command is not None:
            default, text = shown_default(flag, command, text)
        secret = command is not None and (_is_secret(command, flag) or default == MASK)
        choices = note.enum or flag.choices
        kind, values = self._type(flag.type, choices, takes_value=flag.values != 0)
        entry: dict[str, Any] = {
            "type": kind,
            "required": flag.required,
            "description": _with_remarks(text, self._flag_remarks(flag, note, command)),
        }
        if default is not None and not secret and not (flag.values == 0 and not default):
            written = kind == "enum" and isinstance(default, bool)
            entry["default"] = str(default).lower() if written else default
        self._enumerate(entry, values)
        element = _TYPES.get(flag.type.removeprefix("[]"), "string")
        if self.detailed and kind == "array" and element != "string":
            entry["schema"] = {"type": "array", "items": {"type": element}}
        short = flag.short or (flag.spelling[1:] if flag.spelling[:1] == "-" else "")
        if len(short) == 1:
            entry["short"] = short
        if self.detailed:
            if note.pattern:
                entry["pattern"] = note.pattern
            elif note.pattern_type:
                entry["pattern_type"] = note.pattern_type
            if note.env or flag.env:
                entry["env_vars"] = [{"name": note.env or flag.env}]
        return entry

    def positionals(self, command: Command) -> list[dict[str, Any]]:
        """Return the positional arguments of *command*, in their order."""
        return [self._positional(argument, command) for argument in command.arguments]

    def _positional(self, argument: Argument, command: Command) -> dict[str, Any]:
        note = command.note_about(argument) or _NO_ARGUMENT_NOTE
        text = note.description or argument.description
        kind, values = self._type(argument.type.removeprefix("[]"), argument.choices)
        entry: dict[str, Any] = {
            "name": positional_name(argument.name),
            "type": kind,
            "required": argument.required,
            "description": _with_remarks(text, _argument_remarks(argument, note)),
        }
        self._enumerate(entry, values)
        if argument.values != 1:
            entry["variadic"] = True
        return entry

    def _type(
        self, kind: str, choices: tuple[str, ...], takes_value: bool = True
    ) -> tuple[str, list[Any]]:
        """Return the manifest's word for a type, and the values it accepts if that is a list."""
        choices = tuple(map(str, choices))
        if not takes_value:
            return "boolean", []
        if kind.startswith("[]"):
            return "array", list(choices)
        name = _TYPES.get(kind, "string")
        if name == "boolean":  # one that is written with a value
            return "enum", ["true", "false"]
        if not choices:
            return name, []
        if name == "integer" and self.detailed:
            try:
                return name, list(map(int, choices))
            except ValueError:  # numbers with names
                pass
        return "enum", list(choices)

    def _enumerate(self, entry: dict[str, Any], values: list[Any]) -> None:
        if values:
            entry["enum_values"] = sorted(values)
            self._enumerations.append((entry, values))

    def _description(self, command: Command, metadata: Metadata) -> str:
        text = command.summary or metadata.agent_description.partition("\n")[0]
        parts = [text]
        if metadata.deprecated is not None:
            parts.append(metadata.deprecated.sentence("It"))
        elif command.deprecated:
            parts.append("It is deprecated.")
        if command.visible and command.flags:
            parts.append("Its options stand before the subcommand.")
        for status, meaning in sorted({**self._statuses, **metadata.ok_codes}.items()):
            if isinstance(meaning, str) and command.is_called:
                parts.append(f"exit_status {status} in meta is a success: {meaning}.")
        if not self.detailed:
            for names in command.one_of:
                parts.append(f"Exactly one of {_written(names, command)} must be given.")
        # A key joined by dots is no call; what has no example, and no key for its arguments, shows
        # how it is written.
        unshown = len(command.path) > 2 and not metadata.examples and not command.visible
        if unshown or (command.arguments and not self.detailed):
            parts.append(f"Call: {usage(command)}")
        return " ".join(_sentence(part) for part in parts[:-1] if part) + (
            f" {parts[-1]}" if len(parts) > 1 else text
        )

    def _flag_remarks(
        self, flag: Flag, note: FlagAnnotation, command: Command | None
    ) -> Iterator[str]:
        yield f"written {flag.spelling}" if flag.spelling else ""
        yield f"also {', '.join(flag.aliases)}" if flag.aliases else ""
        off = ", ".join(flag.negation_aliases)
        yield f"{off} turns it off" if off else ""
        yield f"value {flag.metavar}" if flag.metavar else ""
        is_list = flag.type.startswith("[]")
        if flag.values > 1:
            yield f"takes {flag.values} values"
        elif is_list and flag.values < 0:
            yield "takes several values"
        elif is_list or (flag.type == "int" and flag.values == 0):
            yield "repeat it for more"
        yield "each is answered for itself" if flag.batch else ""
        if flag.minimum is not None and flag.maximum is not None:
            yield f"{flag.minimum} to {flag.maximum}"
        elif flag.minimum is not None:
            yield f"at least {flag.minimum}"
        elif flag.maximum is not None:
            yield f"at most {flag.maximum}"
        yield from _value_remarks(note)
        if note.deprecated is not None:
            yield note.deprecated.sentence(f"--{flag.name}").rstrip(".")
        if self.detailed:
            return
        element = _TYPES.get(flag.type.removeprefix("[]"), "")
        yield f"each of type {element}" if is_list and element else ""
        pattern, env = note.pattern or note.pattern_type, note.env or flag.env
        yield f"pattern {pattern}" if pattern else ""
        yield f"env {env}" if env else ""
        excluded = excluded_by(flag, note)
        yield f"not with {_written(excluded, command)}" if excluded and command is not None else ""

    def _details(self, command: Command, metadata: Metadata) -> dict[str, Any]:
        """Return what only the detailed shape has keys for."""
        details: dict[str, Any] = {}
        if metadata.steps:
            details["steps"] = list(metadata.steps)
        rules = list(_rules(command, metadata))
        if rules:
            details["requires"] = rules
        secrets = secret_variables(command)
        if metadata.streams:
            details["streaming_default"] = True
        if command.strict and command.flags:
            details["option_placement"] = "strict"
        if metadata.traits is not None:
            details.update(metadata.traits.manifest())
            secrets += [name for name in details.get("secret_env_vars", ()) if name not in secrets]
        if secrets:
            details["secret_env_vars"] = secrets
        return details


def key_of(command: Command) -> str:
    """Return the key of *command*: its path below the tool, or the tool's name for the tool."""
    return ".".join(command.path[1:]) or command.name


def usage(command: Command) -> str:
    """Return how *command* is called, its arguments in their places."""
    words = list(command.path)
    for argument in command.arguments:
        name = positional_name(argument.name).upper()
        word = f"{{{','.join(argument.choices)}}}" if argument.choices else name
        word = " ".join([word] * max(argument.values, 1)) + (" ..." if argument.values < 0 else "")
        words.append(word if argument.required else f"[{word}]")
    return " ".join(words)


def positional_name(name: str) -> str:
    """Return *name* as a manifest may have it: small letters, digits and dashes."""
    fitting = "".join(
        char if char.isascii() and (char.isalnum() or char in "_-") else "_"
        for char in name.lower()
    )
    return fitting if fitting[:1].isalpha() else f"arg_{fitting.strip('_-')}".rstrip("_")


def excluded_by(flag: Flag, note: FlagAnnotation) -> list[str]:
    """Return the flags that cannot be given together with *flag*."""
    names = (*flag.excludes, *note.mutually_exclusive_with)
    return list(dict.fromkeys(name.lstrip("-") for name in names))


def _written(names: Sequence[str], command: Command) -> str:
    """Return flags and arguments of *command* as they are written in a call."""
    flags = {flag.name: spelled(flag) for flag in command.flags}
    places = {argument.name: argument.name.upper() for argument in command.arguments}
    return ", ".join(flags.get(name) or places.get(name) or f"--{name}" for name in names)


def secret_variables(command: Command) -> list[str]:
    """Return the variables that hold secrets of *command*."""
    secrets = (flag for flag in command.flags if _is_secret(command, flag))
    found = ((command.note_on(flag) or _NO_NOTE).env or flag.env for flag in secrets)
    return list(dict.fromkeys(filter(None, found)))


def _is_secret(command: Command, flag: Flag) -> bool:
    """Return whether *flag* holds a secret: nobody has to declare what its name says."""
    return command.is_secret(flag) or has_secret(command, flag)


def _rules(command: Command, metadata: Metadata) -> Iterator[dict[str, Any]]:
    """Return the conditions on the flags of *command*: declared, or known to its parser."""
    for rule in metadata.requires:
        yield from rule.documents()
    excluded: set[frozenset[str]] = set()
    for flag in command.flags:
        others = [
            name
            for name in excluded_by(flag, command.note_on(flag) or _NO_NOTE)
            if frozenset((flag.name, name)) not in excluded
        ]
        excluded |= {frozenset((flag.name, name)) for name in others}
        if others:
            yield {"if_flag": flag.name, "prohibited": others}
    yield from ({"one_of": list(names)} for names in command.one_of)


def _argument_remarks(argument: Argument, note: ArgumentMetadata) -> Iterator[str]:
    yield f"value {argument.metavar}" if argument.metavar else ""
    yield "each is answered for itself" if argument.batch else ""
    yield f"{argument.values} values" if argument.values > 1 else ""
    pattern = note.pattern or note.pattern_type
    yield f"pattern {pattern}" if pattern else ""
    yield from _value_remarks(note)


def _value_remarks(note: FlagAnnotation | ArgumentMetadata) -> Iterator[str]:
    yield "JSON" if note.kind == "json" else ""
    yield f"at most {note.max_bytes} bytes" if note.max_bytes else ""


def _with_remarks(text: str, remarks: Iterator[str]) -> str:
    found = "; ".join(filter(None, remarks))
    return " ".join(filter(None, (text.strip(), f"({found})" if found else "")))


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?", ":")) else f"{text}."
