"""From an argparse parser to the neutral command tree."""

from __future__ import annotations

import argparse

from ..runtime import metadata_of
from ..tree import Argument, Command, Flag, first_line, telling_metavar
from .argparse_levels import subparsers_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

_TYPES = {"int": "int", "float": "float64", "bool": "bool", "complex": "string"}
MANY_CHOICES = 100
_LEFT_OUT = (argparse._HelpAction, argparse._VersionAction, argparse._SubParsersAction)


def walk(
    parser: argparse.ArgumentParser,
    path: tuple[str, ...],
    summary: str | None = None,
    hidden: bool = False,
    deprecated: bool = False,
    aliases: Sequence[str] = (),
) -> Command:
    """Give *parser* and everything below it as a command."""
    actions = [action for action in parser._actions if not isinstance(action, _LEFT_OUT)]
    shown = [action for action in actions if action.help != argparse.SUPPRESS]
    subparsers = subparsers_of(parser)
    if summary is None:
        summary = first_line(_expand(parser, parser.description))
    return Command(
        path,
        summary,
        arguments=[_argument(parser, action) for action in shown if not action.option_strings],
        flags=[_flag(parser, action) for action in shown if action.option_strings],
        commands=_commands(parser, path),
        hidden=hidden,
        deprecated=deprecated,
        metadata=metadata_of(parser),
        aliases=aliases,
        runs=subparsers is not None and not subparsers.required,
        strict=subparsers is not None
        or any(action.nargs == argparse.REMAINDER for action in actions),
    )


def _commands(parser: argparse.ArgumentParser, path: tuple[str, ...]) -> list[Command]:
    subparsers = subparsers_of(parser)
    if subparsers is None:
        return []
    commands = []
    found: dict[int, tuple[argparse.ArgumentParser, list[str]]] = {}
    for name, child in subparsers.choices.items():
        found.setdefault(id(child), (child, []))[1].append(name)
    for child, (name, *aliases) in found.values():
        hidden = _help(subparsers, name) == argparse.SUPPRESS
        summary = summary_of(subparsers, name, child)
        deprecated = name in getattr(subparsers, "_deprecated", ())
        commands.append(walk(child, (*path, name), summary, hidden, deprecated, aliases))
    return commands


def summary_of(subparsers: Any, name: str, parser: argparse.ArgumentParser) -> str | None:
    """Give what *subparsers* says about its command *name*; ``None`` when it says nothing."""
    told = _help(subparsers, name)
    return None if not told or told == argparse.SUPPRESS else first_line(_expand(parser, told))


def _help(subparsers: Any, name: str) -> str:
    entries = subparsers._choices_actions if subparsers is not None else ()
    return next((entry.help or "" for entry in entries if entry.dest == name), "")


def names_of(action: argparse.Action) -> tuple[str, str]:
    """Give the long name of an option without its dashes, and its one-letter name or ``""``."""
    longs = [name for name in action.option_strings if name.startswith("--")]
    shorts = [name for name in action.option_strings if not name.startswith("--")]
    name = (longs or shorts)[0].lstrip("-+/")
    short = shorts[0].lstrip("-+/") if longs and shorts else ""
    return name, short


def argument_name(action: argparse.Action) -> str:
    """Return what a positional argument is called."""
    return action.dest if action.dest != argparse.SUPPRESS else str(action.metavar or "")


def _argument(parser: argparse.ArgumentParser, action: argparse.Action) -> Argument:
    optional = action.nargs in ("?", "*", argparse.REMAINDER)
    return Argument(
        argument_name(action),
        _type(action),
        required=not optional,
        description=_describe(parser, action),
        choices=choices_of(action),
        values=_values(action),
        metavar=_metavar(action, action.dest),
    )


def _flag(parser: argparse.ArgumentParser, action: argparse.Action) -> Flag:
    name, short = names_of(action)
    return Flag(
        name,
        _type(action),
        _default(parser, action),
        _describe(parser, action),
        short=short,
        required=action.required,
        choices=choices_of(action),
        excludes=_excluded(parser, action),
        negation=_negation(action),
        values=_values(action),
        spelling="" if f"--{name}" in action.option_strings else action.option_strings[0],
        metavar="" if action.nargs == 0 else _metavar(action, name),
    )


def _metavar(action: argparse.Action, name: str) -> str:
    """Return what stands for the value of *action*, ``""`` where it says nothing more."""
    if action.metavar is None and action.choices is not None:
        return ""
    kind = action.type
    # What is written in C has the name of what it does, and a lambda has none.
    is_named = isinstance(kind, type) or hasattr(kind, "__code__")
    type_name = str(getattr(kind, "__name__", "")) if is_named else ""
    return telling_metavar(action.metavar, "" if "<" in type_name else type_name, name)


def _type(action: argparse.Action) -> str:
    if isinstance(action, argparse._CountAction):
        return "int"
    if action.nargs == 0:
        return "bool"
    if isinstance(action, argparse.BooleanOptionalAction):
        return "bool"
    element = _TYPES.get(getattr(action.type, "__name__", ""), "string")
    appends = isinstance(action, (argparse._AppendAction, argparse._AppendConstAction))
    many = action.nargs not in (None, "?", 0)
    return f"[]{element}" if appends or many else element


def _default(parser: argparse.ArgumentParser, action: argparse.Action) -> Any:
    default = parser._defaults.get(action.dest, action.default)
    if default is None or default is argparse.SUPPRESS or callable(default):
        return None
    if isinstance(action, argparse._StoreConstAction):
        # Whether the switch is given, not what it stores: --no-color is off until somebody
        # turns it on.
        return False
    if isinstance(default, str) and action.type in (int, float):
        try:
            return action.type(default)  # argparse converts a textual default the same way
        except ValueError:
            return default
    return _readable(default)


def _readable(value: Any) -> Any:
    from ..errors import EncodingError
    from ..formats import plain

    try:
        return plain(value)
    except EncodingError:  # an object only the tool understands
        return None


def choices_of(action: argparse.Action) -> list[str]:
    """Give the values *action* accepts, as a caller writes them; empty when any will do."""
    from enum import Enum
    from itertools import islice

    try:
        found = list(islice(action.choices or (), MANY_CHOICES + 1))
    except TypeError:  # a container that cannot be looped over
        return []
    if len(found) > MANY_CHOICES:  # a range of ports, say: no list to read
        return []
    texts = [str(choice.value if isinstance(choice, Enum) else choice) for choice in found]
    # A set is in another order in every process, and a description must not be.
    return sorted(texts) if isinstance(action.choices, (set, frozenset)) else texts


def _values(action: argparse.Action) -> int:
    if isinstance(action.nargs, int):
        return action.nargs
    return 1 if action.nargs in (None, "?") else -1


def _negation(action: argparse.Action) -> str:
    if not isinstance(action, argparse.BooleanOptionalAction):
        return ""
    return next((name[2:] for name in action.option_strings if name.startswith("--no-")), "")


def _excluded(parser: argparse.ArgumentParser, action: argparse.Action) -> list[str]:
    return [
        names_of(other)[0]
        for group in parser._mutually_exclusive_groups
        if action in group._group_actions
        for other in group._group_actions
        if other is not action and other.option_strings
    ]


def _describe(parser: argparse.ArgumentParser, action: argparse.Action) -> str:
    text = action.help or ""
    if "%" in text:
        formatter = parser._get_formatter()
        try:
            text = formatter._expand_help(action)
        except (ValueError, TypeError, KeyError):  # a format error of the author's
            pass
    return text.strip()


def _expand(parser: argparse.ArgumentParser, text: str | None) -> str:
    return (text or "").replace("%(prog)s", parser.prog).replace("%%", "%")
