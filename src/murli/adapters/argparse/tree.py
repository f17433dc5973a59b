"""From an argparse parser to the neutral command tree."""

from __future__ import annotations

import argparse
from types import BuiltinFunctionType, FunctionType, MethodType

from ...core import metadata_of, subparsers_of
from ...declare.plain_values import (
    MOST_COMPARED,
    MOST_ITEMS,
    STANDARD_STREAM,
    choices_metavar,
    is_standard_stream,
    shown,
    shown_choices,
)
from ...declare.tree import (
    Argument,
    Command,
    Flag,
    first_line,
    spellings,
    telling_metavar,
    with_own_names,
)
from .values import argument_name, names_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

_TYPES = {"int": "int", "float": "float64", "bool": "bool", "complex": "string"}
# What simple_parsing puts where an author wrote no help, for its formatter to leave out.
_NO_HELP = "<__TEMP__>"
_LEFT_OUT = (argparse._HelpAction, argparse._VersionAction, argparse._SubParsersAction)


def walk(
    parser: argparse.ArgumentParser,
    path: tuple[str, ...],
    summary: str | None = None,
    hidden: bool = False,
    deprecated: bool = False,
    aliases: Sequence[str] = (),
    *,
    deep: bool = True,
) -> Command:
    """Return *parser* and everything below it as a command.

    Unless *deep*, one command of no name stands for what is below.
    """
    actions = [action for action in parser._actions if not isinstance(action, _LEFT_OUT)]
    listed = [action for action in actions if not is_hidden(action)]
    subparsers = subparsers_of(parser)
    if summary is None:
        summary = first_line(_expand(parser, parser.description))
    return Command(
        path,
        summary,
        arguments=[_argument(parser, action) for action in listed if not action.option_strings],
        flags=with_own_names([_flag(parser, action) for action in listed if action.option_strings]),
        commands=_commands(parser, path) if deep else [Command((*path, ""))] * bool(subparsers),
        hidden=hidden,
        deprecated=deprecated,
        metadata=metadata_of(parser),
        aliases=aliases,
        runs=subparsers is not None and not subparsers.required,
        strict=subparsers is not None
        or any(action.nargs == argparse.REMAINDER for action in actions),
        one_of=_one_of(parser),
        has_more_help=not {parser.description, parser.epilog} <= {None, "", summary},
    )


def _commands(parser: argparse.ArgumentParser, path: tuple[str, ...]) -> list[Command]:
    subparsers = subparsers_of(parser)
    if subparsers is None:
        return []
    commands = []
    found: dict[int, tuple[argparse.ArgumentParser, list[str]]] = {}
    for name, child in subparsers.choices.items():
        found.setdefault(id(child), (child, []))[1].append(name)
    helps = _helps(subparsers)
    for child, (name, *aliases) in found.values():
        hidden = helps.get(name) == argparse.SUPPRESS
        summary = _summary(child, helps.get(name))
        deprecated = name in getattr(subparsers, "_deprecated", ())
        commands.append(walk(child, (*path, name), summary, hidden, deprecated, aliases))
    return commands


def summary_of(subparsers: Any, name: str, parser: argparse.ArgumentParser) -> str | None:
    """Return what *subparsers* says about its command *name*; ``None`` when it says nothing."""
    return _summary(parser, _helps(subparsers).get(name)) if subparsers is not None else None


def _summary(parser: argparse.ArgumentParser, text: str | None) -> str | None:
    return None if not text or text == argparse.SUPPRESS else first_line(_expand(parser, text))


def _helps(subparsers: Any) -> dict[str, str | None]:
    """Return what *subparsers* says about its commands, by their names; the first counts."""
    return {entry.dest: entry.help for entry in reversed(subparsers._choices_actions)}


def is_hidden(action: argparse.Action) -> bool:
    """Return whether *action* is left out of the help."""
    return isinstance(action.help, str) and action.help == argparse.SUPPRESS


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
        excludes=_excluded(parser, action),
    )


def _flag(parser: argparse.ArgumentParser, action: argparse.Action) -> Flag:
    name, short = names_of(action)
    negations = _negations(action)
    written = [each for each in action.option_strings if each not in negations]
    return Flag(
        name,
        _type(action),
        _default(parser, action),
        _describe(parser, action),
        required=action.required,
        choices=choices_of(action),
        excludes=_excluded(parser, action),
        negation=negations[0][2:] if negations else "",
        negation_aliases=negations[1:],
        values=_values(action),
        repeats=isinstance(action, (argparse._AppendAction, argparse._AppendConstAction)),
        metavar="" if action.nargs == 0 else _metavar(action, name),
        dest=action.dest,
        **spellings(written, name, short),
    )


def _metavar(action: argparse.Action, name: str) -> str:
    """Return what stands for the value of *action*, ``""`` where it says nothing more."""
    if action.metavar is None and action.choices is not None:
        return choices_metavar(choices_of(action, MOST_COMPARED))
    kind = action.type
    # What is written in C has the name of what it does, and a lambda has none.
    type_name = "" if isinstance(kind, BuiltinFunctionType) else _name_of(kind)
    return telling_metavar(action.metavar, "" if "<" in type_name else type_name, name)


def _name_of(kind: Any) -> str:
    """Return what a class or a function is called, ``""`` for any other callable."""
    known = (type, FunctionType, MethodType, BuiltinFunctionType)
    return str(kind.__name__) if isinstance(kind, known) else ""


def _type(action: argparse.Action) -> str:
    if isinstance(action, argparse._CountAction):
        return "int"
    if action.nargs == 0:
        return "bool"
    if isinstance(action, argparse.BooleanOptionalAction):
        return "bool"
    element = _TYPES.get(_name_of(action.type), "string")
    appends = isinstance(action, (argparse._AppendAction, argparse._AppendConstAction))
    many = action.nargs not in (None, "?", 0)
    return f"[]{element}" if appends or many else element


def _default(parser: argparse.ArgumentParser, action: argparse.Action) -> Any:
    default = parser._defaults.get(action.dest, action.default)
    if default is None or default is argparse.SUPPRESS:
        return None
    if isinstance(action, argparse._StoreConstAction):
        # Whether the switch is given, not what it stores: --no-color is off until somebody
        # turns it on.
        return False
    if isinstance(action.type, argparse.FileType) and is_standard_stream(default):
        return STANDARD_STREAM
    found = shown(default)
    kind = action.type
    if isinstance(found, str) and (kind is int or kind is float):
        try:
            return kind(found)  # argparse converts a textual default the same way
        except ValueError:
            pass
    return found


def choices_of(action: argparse.Action, most: int = MOST_ITEMS) -> list[str]:
    """Return the values *action* accepts, as a caller writes them; empty when any will do.

    There are none where they are more than *most*, either.
    """
    return shown_choices(action.choices, most=most)


def _values(action: argparse.Action) -> int:
    if isinstance(action.nargs, int):
        return action.nargs
    return 1 if action.nargs in (None, "?") else -1


def _negations(action: argparse.Action) -> list[str]:
    if not isinstance(action, argparse.BooleanOptionalAction):
        return []
    return [name for name in action.option_strings if name.startswith("--no-")]


def _excluded(parser: argparse.ArgumentParser, action: argparse.Action) -> list[str]:
    return [
        _called(other)
        for group in parser._mutually_exclusive_groups
        if action in group._group_actions
        for other in group._group_actions
        if other is not action and not is_hidden(other)
    ]


def _one_of(parser: argparse.ArgumentParser) -> list[tuple[str, ...]]:
    """Return the names of which exactly one must be given, of each group that says so."""
    found = [
        tuple(_called(action) for action in group._group_actions if not is_hidden(action))
        for group in parser._mutually_exclusive_groups
        if group.required
    ]
    return [names for names in found if names]


def _called(action: argparse.Action) -> str:
    return names_of(action)[0] if action.option_strings else argument_name(action)


def _describe(parser: argparse.ArgumentParser, action: argparse.Action) -> str:
    """Return the help of *action*, with what is known of the action in its places."""
    text = action.help if isinstance(action.help, str) else ""
    text = text.replace(_NO_HELP, "")
    if "%" in text:
        facts = {name: _mentioned(value) for name, value in vars(action).items()}
        facts.update(prog=parser.prog, choices=", ".join(choices_of(action)))
        facts["type"] = _name_of(action.type)
        if is_standard_stream(action.default):
            facts["default"] = STANDARD_STREAM
        try:
            text = text % facts
        except (ValueError, TypeError, KeyError):  # a format error of the author's
            pass
    return text.strip()


def _mentioned(value: Any) -> Any:
    found = shown(value)
    return "…" if found is None and value is not None else found


def _expand(parser: argparse.ArgumentParser, text: str | None) -> str:
    return (text or "").replace("%(prog)s", parser.prog).replace("%%", "%")
