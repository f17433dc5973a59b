"""One definition for each command that can be called: a name, a description, a schema of inputs.

They are what a model is offered as its tools, by ``describe --export``, the
client, an MCP server. All of it is derived from the catalogue of a tool (`murli.wire.catalogue`),
so from ``describe`` or a manifest, and claims nothing that the tool does not declare.

A name is that of the tool and those of the command, joined by ``_``: letters, digits, ``_`` and
``-``, at most 64. Where it has to be changed to fit, or another command has the same, it ends in a
digest of the path; so it is always the same, and belongs to one command.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from ..declare.safety import inferred_danger
from ..errors import AgentError
from ..formats.text import clean_line
from .arguments import checked

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ..wire.catalogue import Catalogue, Command, Flag, Positional

#: how long a name may be, that of a definition and that of a property
LONGEST_NAME = 64

_DIGEST = 6
# How much is taken of a text that the tool writes about itself.
_LONGEST_TEXT = 2000
# Flags that confirm a change, and one that previews it: by a property of their own.
_CONFIRMS = frozenset(("confirm-destructive", "yes", "force"))
_PREVIEWS = "dry-run"
# The flags of a contract that choose a part of the answer; the others are not for a model.
_PARTS = ("limit", "cursor")
_TYPES = {"text": "string", "integer": "integer", "number": "number", "boolean": "boolean"}
_EFFECTS = {"mutating": "changes something", "destructive": "destroys something"}


class Call(NamedTuple):
    """What a model asks for: words and flags, as `murli.client.calling.build` takes them.

    *confirmed* is whether the change is confirmed; by which flag, the contract decides.
    """

    words: tuple[str, ...]
    flags: dict[str, Any]
    confirmed: bool


@dataclass(frozen=True, slots=True)
class Definition:
    """A command as the tool of a model.

    *title* is how it is called. *hints* is what is declared about its effects: any of
    ``read_only``, ``destructive`` and ``idempotent``; nobody declared what is missing.
    *parameters* are the arguments and options that properties of *input_schema* stand for;
    *confirm* is the property that confirms a change, *dry_run* the one that previews it, ``""``
    for none. *output_schema* is that of the result, empty where it is not declared.
    """

    name: str
    title: str
    description: str
    input_schema: Mapping[str, Any]
    output_schema: Mapping[str, Any]
    hints: Mapping[str, bool]
    parameters: Mapping[str, Flag | Positional]
    confirm: str
    dry_run: str
    command: Command

    @property
    def path(self) -> tuple[str, ...]:
        """The words behind the tool's name that call the command."""
        return self.command.path

    def call(self, arguments: Mapping[str, Any]) -> Call:
        """Return the call that *arguments*, an object of *input_schema*, ask for.

        A property that is ``None`` is left out. `AgentError` for what does not fit the schema: its
        ``field`` is the property, its suggestion says what would fit.
        """
        given = checked(arguments, self.input_schema, self.title)
        words = list(self.path)
        flags: dict[str, Any] = {}
        missing = ""
        for name, parameter in self.parameters.items():
            if not hasattr(parameter, "variadic"):
                if name in given:
                    flags[parameter.name] = given[name]
            elif name not in given:
                missing = missing or name
            elif missing:
                message = f"{name} stands behind {missing}, which is missing."
                raise AgentError.user_error(message, f"Pass {missing} as well.", field=missing)
            else:
                value = given[name]
                words += value if isinstance(value, list) else [value]
        if self.dry_run and given.get(self.dry_run):
            flags[_PREVIEWS] = True
        return Call(tuple(words), flags, bool(self.confirm and given.get(self.confirm)))


def definitions_of(catalogue: Catalogue, prefix: str | None = None) -> list[Definition]:
    """Return a definition for each command of *catalogue* that can be called, in its order.

    Their names begin with *prefix*, by default the tool's name; ``""`` for none.
    """
    first = catalogue.name if prefix is None else prefix
    commands = [
        each
        for each in catalogue.commands.values()
        # Our own are for the user of the model.
        if each.runs and each.described.get("builtin") is not True
    ]
    names = names_of([(first, *each.path) if first else each.path for each in commands])
    return [_definition(catalogue, *each) for each in zip(commands, names, strict=True)]


def names_of(paths: Sequence[tuple[str, ...]]) -> list[str]:
    """Return a name for each of *paths*, which are all different, as are the names."""
    whole = ["_".join(path) for path in paths]
    fitting = [re.sub(r"[^A-Za-z0-9_-]+", "-", name)[:LONGEST_NAME] for name in whole]
    # Some readers of names ignore case.
    alike = [name.casefold() for name in fitting]
    return [
        fits if fits and fits == name and alike.count(fits.casefold()) == 1 else _apart(fits, path)
        for name, fits, path in zip(whole, fitting, paths, strict=True)
    ]


def _apart(name: str, path: Iterable[str]) -> str:
    """Return *name* with a digest of *path* at its end."""
    digest = hashlib.sha256("\0".join(path).encode("utf-8", "replace")).hexdigest()[:_DIGEST]
    return "_".join(filter(None, (name[: LONGEST_NAME - _DIGEST - 1].strip("_-"), digest)))


# -- one command --------------------------------------------------------------------------------


def _definition(catalogue: Catalogue, command: Command, name: str) -> Definition:
    flags = list(_flags_for(catalogue, command))
    own: list[Flag | Positional] = [*(command.positionals or ()), *flags]
    parameters = dict(zip(_keys([each.name for each in own]), own, strict=True))
    properties = {key: _property(each) for key, each in parameters.items()}
    required = [key for key, each in parameters.items() if _must_be_given(each)]
    confirm = dry_run = ""
    if _has(command, _PREVIEWS) and _PREVIEWS not in [flag.name for flag in flags]:
        dry_run = _free("dry_run", properties)
        text = "Only show what would be done."
        properties[dry_run] = {"type": "boolean", "description": text}
    if _is_guarded(command):
        confirm = _free("confirm", properties)
        effect = "changes something" if command.mutating else "may change something"
        effect = _EFFECTS["destructive"] if command.destructive else effect
        properties[confirm] = {
            "type": "boolean",
            "description": f"True runs the command, which {effect}. Without it the call is "
            "refused. Pass true only where the user wants exactly this change.",
        }
    title = " ".join((catalogue.name, *command.path))
    description = "\n".join(filter(None, _description(command, parameters)))
    needed = {"required": required} if required else {}
    inputs = {"type": "object", "properties": properties, **needed, "additionalProperties": False}
    result, hints = command.output_schema, _hints(command)
    return Definition(
        name, title, description, inputs, result, hints, parameters, confirm, dry_run, command
    )


def _flags_for(catalogue: Catalogue, command: Command) -> Iterator[Flag]:
    """Yield the options that a call of *command* can have, its own before those above it."""
    known: set[str] = set()
    for level in reversed(catalogue.along(command)):
        negations = {flag.negation for flag in level.flags.values()}
        for flag in level.flags.values():
            confirms = flag.name == command.confirm_flag or (
                flag.name in _CONFIRMS and command.described.get("danger_level")
            )
            if not (flag.name in known or flag.name in negations or confirms):
                yield flag
        known |= level.flags.keys()
    yield from (command.standard[name] for name in _PARTS if name in command.standard)


def _is_guarded(command: Command) -> bool:
    """Return whether a call of *command* has to be confirmed."""
    # Some list these flags with every command; who marks them does not.
    marked = (each for name, each in command.standard.items() if name in _CONFIRMS)
    if any(each.described.get("standard") is True for each in marked):
        return True
    can = command.confirm_flag or any(_has(command, each) for each in _CONFIRMS)
    return command.changes and bool(can)


def _has(command: Command, flag: str) -> bool:
    return flag in command.standard or flag in command.flags


def _must_be_given(parameter: Flag | Positional) -> bool:
    """Return whether a value can come from nowhere else, a variable or a saved profile."""
    elsewhere = getattr(parameter, "env", ()) or getattr(parameter, "profileable", False)
    return parameter.required and not elsewhere


def _keys(names: Sequence[str]) -> list[str]:
    """Return a property for each of *names*, all different, as vendors allow them."""
    keys: list[str] = []
    for name in names:
        key = re.sub(r"[^A-Za-z0-9_]+", "_", name)[:LONGEST_NAME].strip("_")
        keys.append(_free(key or "value", keys))
    return keys


def _free(key: str, taken: Iterable[str]) -> str:
    used, found, number = set(taken), key, 1
    while found in used:
        number += 1
        found = f"{key[: LONGEST_NAME - 4]}_{number}"
    return found


def _hints(command: Command) -> dict[str, bool]:
    hints: dict[str, bool] = {}
    if command.mutating is not None:
        hints["read_only"] = not (command.mutating or command.destructive)
        # Who declares a change does not always say of which kind.
        if command.destructive or (command.mutating and not _looks_destructive(command)):
            hints["destructive"] = command.destructive
    if command.idempotent is True:
        hints["idempotent"] = True
    return hints


def _description(command: Command, parameters: Mapping[str, Flag | Positional]) -> Iterator[str]:
    """Yield the lines of a description: what it does, when to use it, and what it may change."""
    described = command.described
    yield text_of(described.get("agent_description")) or text_of(command.description)
    when = text_of(described.get("when_to_use"))
    yield f"When to use: {when}" if when else ""
    yield effects_of(command)
    keys = {each.name: key for key, each in parameters.items()}
    for group in described.get("requires_one_of") or ():
        if isinstance(group, list):
            names = ", ".join(keys.get(str(name), str(name)) for name in group)
            yield f"Exactly one of these must be passed: {names}."
    yield "Deprecated." if described.get("deprecated") is True else ""


def effects_of(command: Command) -> str:
    """Return in words what a call of *command* may do, and whether somebody declared that."""
    if command.requires_person:
        return "Only a person can run it."
    if command.mutating is None and not command.destructive:
        inferred = _EFFECTS.get(command.inferred or inferred_danger(command.path))
        suggests = f", its name suggests that it {inferred} (inferred)" if inferred else ""
        return f"Effects: not declared{suggests}."
    if not (command.mutating or command.destructive):
        return "Effects: only reads."
    effect = _EFFECTS["destructive" if command.destructive else "mutating"]
    again = "; a second call changes nothing more" if command.idempotent else ""
    if not command.destructive and _looks_destructive(command):
        again += f"; its name suggests that it {_EFFECTS['destructive']} (inferred)"
    return f"Effects: {effect}{again}."


def _looks_destructive(command: Command) -> bool:
    return inferred_danger(command.path) == "destructive"


# -- one property -------------------------------------------------------------------------------


def _property(parameter: Flag | Positional) -> dict[str, Any]:
    """Return the schema of the values that an argument or an option takes."""
    described = parameter.described
    is_list = parameter.kind == "array" or getattr(parameter, "variadic", False)
    item = getattr(parameter, "item", parameter.kind) if is_list else parameter.kind
    schema: dict[str, Any] = {"type": _TYPES.get(item, "string")}
    if item in ("array", "object"):
        schema = {"type": item}
    if parameter.values:
        schema["enum"] = _choices(parameter.values, item)
    pattern = described.get("pattern")
    if item == "text" and isinstance(pattern, str) and pattern:
        schema["pattern"] = pattern
    for key in ("minimum", "maximum"):
        bound = described.get(key)
        if item in ("integer", "number") and isinstance(bound, (int, float)):
            schema[key] = bound
    if is_list:
        schema = {"type": "array", "items": schema}
    elif getattr(parameter, "words", 1) == 0 and item == "integer":
        schema["minimum"] = 0
    default = getattr(parameter, "default", None)
    if default is not None and described.get("sensitive") is not True and _fits(default, schema):
        schema["default"] = default
    text = "; ".join(filter(None, _remarks(parameter)))
    return {**schema, "description": text} if text else schema


def _remarks(parameter: Flag | Positional) -> Iterator[str]:
    described = parameter.described
    yield text_of(parameter.description).rstrip(".")
    metavar = text_of(described.get("metavar"))
    yield f"value: {metavar}" if metavar else ""
    yield "the command runs for each" if described.get("batch") is True else ""
    yield "a secret" if described.get("sensitive") is True else ""
    variables = ", ".join(getattr(parameter, "env", ()))
    yield f"by default the value of the variable {variables}" if variables else ""
    others = described.get("mutually_exclusive_with")
    if isinstance(others, list) and others:
        yield f"not with {', '.join(map(str, others))}"


def _choices(values: Sequence[str], item: str) -> list[Any]:
    try:
        return [int(each) for each in values] if item == "integer" else list(values)
    except ValueError:  # numbers that have names
        return list(values)


def _fits(default: Any, schema: Mapping[str, Any]) -> bool:
    """Return whether *default* is a value that *schema* allows."""
    try:
        checked({"": default}, {"properties": {"": schema}}, "")
    except AgentError:
        return False
    return True


def text_of(value: Any) -> str:
    """Return a text that a tool writes about itself, safe to show and not too long."""
    text = clean_line(value[: 2 * _LONGEST_TEXT]).strip() if isinstance(value, str) else ""
    return text if len(text) <= _LONGEST_TEXT else f"{text[: _LONGEST_TEXT - 2].rstrip()} …"
