"""From a click-like command to the neutral command tree."""

from __future__ import annotations

from enum import Enum

from ...core import is_group
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
from .levels import CommandLevel, resolved
from .params import is_switch
from .values import names_of, variables_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from . import MetadataAt

    # What parameters are described by, and the description.
    Known = dict[tuple[Any, ...], tuple[list[Any], Argument | Flag]]

_TYPES = {
    "integer": "int",
    "integer range": "int",
    "int": "int",
    "float": "float64",
    "float range": "float64",
    "boolean": "bool",
    "bool": "bool",
}
# Of a point in time, unless the author chose others.
_USUAL_FORMATS = ["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S"]
_COMPLETION = ("install_completion", "show_completion")
# By which attributes a parameter is described, besides its spellings, the context, and what its
# class may only compute. Nothing else is asked of it: an attribute may be code of the author's.
_OF_ALL = (
    *("name", "type", "type_descriptor", "required", "nargs", "multiple", "metavar"),
    *("short_help", "help", "is_flag", "count"),
)
_FACTS = {
    "argument": _OF_ALL,
    "option": (*_OF_ALL, "default", "envvar", "hide_input", "allow_from_autoenv"),
}
# Of these two values are the same if they are equal; to compare others may run an author's code.
_PLAIN = frozenset((str, int, bool, type(None)))


def walk(
    level: CommandLevel,
    path: tuple[str, ...],
    metadata_at: MetadataAt,
    aliases: Sequence[str] = (),
    *,
    deep: bool = True,
    known: Known | None = None,
) -> Command:
    """Return the command of *level* and everything below it; *aliases* are its other names.

    Unless *deep*, nothing below is looked at: one command of no name stands for that. *known* are
    the parameters that were met before: those that are alike are one object in the tree.
    """
    command, context = level.command, level.context
    known = {} if known is None else known
    params = [_once(each, context, known) for each in command.params if _is_listed(each, context)]
    summary = first_line(_help(command))
    texts = (getattr(command, "help", None), getattr(command, "epilog", None))
    below: Sequence[Command] = ()
    if is_group(command):  # of which one that has no name stands for all
        below = [*_commands(level, path, metadata_at, known)] if deep else [Command((*path, ""))]
    return Command(
        path,
        summary,
        arguments=[each for each in params if isinstance(each, Argument)],
        flags=with_own_names([each for each in params if isinstance(each, Flag)]),
        commands=below,
        hidden=bool(getattr(command, "hidden", False)),
        deprecated=bool(getattr(command, "deprecated", False)),
        metadata=metadata_at(command, level.path),
        handler=getattr(command, "callback", None),
        aliases=aliases,
        runs=bool(getattr(command, "invoke_without_command", False)),
        strict=not getattr(context, "allow_interspersed_args", True),
        own_name=str(getattr(command, "name", "") or ""),
        has_more_help=any(isinstance(each, str) and each.strip() != summary for each in texts),
    )


def _once(param: Any, context: Any, known: Known) -> Argument | Flag:
    """Return *param* as it is described, the same object for all that are like it."""
    facts: list[Any] = [getattr(param, name, None) for name in _FACTS[param.param_type_name]]
    facts += (param.__dict__.get("min"), param.__dict__.get("max"))
    facts += (getattr(context, "auto_envvar_prefix", None), *param.opts, None)
    facts += (*param.secondary_opts, None)
    choices: Any = getattr(getattr(param, "type", None), "__dict__", {}).get("choices")
    if type(choices) in (list, tuple):  # a plugin may add its own to them on the way
        facts += choices
    comparable = [each if type(each) in _PLAIN else id(each) for each in facts]
    key = (type(param), *map(type, facts), *comparable)
    found = known.get(key)
    if found is None:
        # Kept together: no other fact has one of their ids as long as they are there.
        found = (facts, _DESCRIBING[param.param_type_name](param, context))
        if _authors_metavar(param) is None:  # which may depend on anything
            known[key] = found
    return found[1]


def _commands(
    level: CommandLevel, path: tuple[str, ...], metadata_at: MetadataAt, known: Known
) -> Iterator[Command]:
    above = _commands_above(level)
    for name in command_names(level.command, level.context):
        try:
            found = resolved(level.command, level.context, name, is_described=True)
            if found is not None and found not in above:
                below = CommandLevel(found, name, (*level.path, name), level)
                aliases = _aliases(level.command, name, found)
                yield walk(below, (*path, name), metadata_at, aliases, known=known)
        except Exception as error:  # one plugin that cannot be loaded must not hide the others
            yield Command((*path, name), f"Cannot be loaded: {error}")


def _aliases(group: Any, name: str, command: Any) -> list[str]:
    """Return the other names of *command*, where its group keeps them as some libraries do."""
    found: list[str] = []
    # rich-click keeps them with the command, click-aliases with the group.
    kept = getattr(group, "_commands", None)
    for names in (getattr(command, "aliases", None), kept.get(name) if type(kept) is dict else ()):
        if isinstance(names, (list, tuple)):
            found += [each for each in names if isinstance(each, str) and each != name]
    return list(dict.fromkeys(found))


def _commands_above(level: CommandLevel | None) -> list[Any]:
    found = []
    while level is not None:
        found.append(level.command)
        level = level.parent
    return found


def command_names(group: Any, context: Any) -> list[str]:
    """Return the names of a group's commands, as they were defined rather than sorted."""
    names = list(group.list_commands(context))
    defined = list(getattr(group, "commands", ()))
    return defined if sorted(defined) == sorted(names) else names


def choices_of(param: Any, most: int = MOST_ITEMS) -> list[str]:
    """Return the values *param* accepts, as a caller writes them; those that are known as such.

    There are none where they are more than *most*. A type may look its values up somewhere; who
    only describes the tool does not make it do so.
    """
    found = getattr(getattr(param, "type", None), "__dict__", {}).get("choices")
    if found is not None:
        # click takes the members of an Enum by their names, newer typers by their values.
        return shown_choices(found, by_name=True, most=most)
    found = getattr(getattr(param, "type_descriptor", None), "choices", None)
    return [] if found is None else shown_choices(found, most=most)


def explains(param: Any, context: Any) -> bool:
    """Return whether *param* is --help or --version, which answer by themselves."""
    is_version = getattr(param, "name", "") == "version" and getattr(param, "callback", None)
    if not getattr(param, "is_eager", False):
        return bool(is_version and getattr(param, "is_flag", False))
    callback = getattr(param.callback, "__qualname__", "")
    return (
        param.name in ("help", "version")
        or bool(set(param.opts) & set(getattr(context, "help_option_names", ())))
        or callback.startswith(("version_option.", "help_option."))
        or callback == "show_help"
    )


def _is_listed(param: Any, context: Any) -> bool:
    is_left_out = param.param_type_name not in _DESCRIBING or param.name in _COMPLETION
    if is_left_out or getattr(param, "hidden", False):
        return False
    return not explains(param, context)


def _argument(param: Any, context: Any) -> Argument:
    choices = choices_of(param)
    return Argument(
        str(param.name),
        _type(param),
        required=bool(param.required),
        description=_help(param),
        choices=choices,
        values=param.nargs,
        metavar=_metavar(param, str(param.name), choices),
    )


def _flag(param: Any, context: Any) -> Flag:
    name, short = names_of(param)
    minimum, maximum = range_of(param)
    off = param.secondary_opts
    negation = next((each for each in off if each.startswith("--")), "") if off else ""
    choices = choices_of(param)
    switch = is_switch(param)
    return Flag(
        name,
        _type(param),
        _default(param),
        _help(param),
        required=bool(param.required),
        env=_env(param, context),
        sensitive=bool(getattr(param, "hide_input", False)),
        choices=choices,
        minimum=None if minimum is None else shown(minimum),
        maximum=None if maximum is None else shown(maximum),
        negation=negation[2:],
        negation_aliases=[each for each in off if each != negation],
        values=0 if switch else param.nargs,
        repeats=bool(getattr(param, "multiple", False)),
        metavar="" if switch else _metavar(param, name, choices),
        dest=str(param.name or ""),
        **spellings(param.opts, name, short),
    )


_DESCRIBING: dict[str, Any] = {"argument": _argument, "option": _flag}


def _help(described: Any) -> str:
    """Return the help of a command or parameter; what is not text may have to be looked up."""
    texts = (getattr(described, "short_help", None), getattr(described, "help", None))
    text = next((each for each in texts if isinstance(each, str) and each), "")
    text = text.partition("\f")[0]
    if "\b" in text:  # click's mark of lines that it must not wrap
        text = "\n".join(line for line in text.splitlines() if line.strip() != "\b")
    return text.strip()


def _metavar(param: Any, name: str, choices: list[str]) -> str:
    """Return what stands for the value of *param*, ``""`` where it says nothing more."""
    given = getattr(param, "metavar", None)
    if not given and choices:
        return ""
    descriptor = getattr(param, "type_descriptor", None)
    for holder in (getattr(param, "type", None), getattr(descriptor, "parameter_info", None)):
        formats = getattr(holder, "formats", None)
        if formats and not given and list(formats) != _USUAL_FORMATS:
            given = f"[{'|'.join(map(str, formats))}]"
    given = given or choices_metavar(choices_of(param, MOST_COMPARED))
    return telling_metavar(given or _own_metavar(param), type_name(param), name)


def _authors_metavar(param: Any) -> Any:
    """Return the method of a type of the author's own that returns what its values are called."""
    own = getattr(getattr(param, "type", None), "get_metavar", None)
    theirs = str(getattr(own, "__module__", "")).partition(".")[0] in ("click", "typer")
    return None if theirs else own


def _own_metavar(param: Any) -> str | None:
    """Return what a type of the author's own calls its values, as ``--help`` would."""
    own = _authors_metavar(param)
    if own is None:
        return None
    # Newer clicks pass the context as well.
    for arguments in ((param, None), (param,)):
        try:
            found = own(*arguments)
        except Exception:  # it wants what only a running call has
            continue
        return str(found) if found else None
    return None


def _type(param: Any) -> str:
    if getattr(param, "count", False):
        return "int"
    if getattr(param, "is_flag", False):
        return "bool"
    element = _TYPES.get(type_name(param), "string")
    many = getattr(param, "multiple", False) or param.nargs != 1
    return f"[]{element}" if many else element


def type_name(param: Any) -> str:
    """Return the framework's name for the type of *param*, or of its elements."""
    named = getattr(getattr(param, "type", None), "name", None)
    if named:
        return str(named)
    annotation = getattr(getattr(param, "type_descriptor", None), "annotation", None)
    inner = getattr(annotation, "__args__", None)
    if inner and len(set(inner)) > 1:
        return ""  # a tuple of several kinds
    element: Any = inner[0] if inner else annotation
    return str(getattr(element, "__name__", ""))


def _default(param: Any) -> Any:
    default = param.default
    if type(default).__name__ == "Sentinel":  # click's own word for "not set"
        return False if _type(param) == "bool" else None
    if type_name(param).lower().startswith("file") and is_standard_stream(default):
        return STANDARD_STREAM
    if issubclass(type(default), Enum) and (names := choices_of(param)):
        written = shown_choices([default], by_name=True)
        return written[0] if written[0] in names else shown(default)
    found = shown(default)
    return None if found == [] else found


def range_of(param: Any) -> tuple[Any, Any]:
    """Return the least and the greatest number *param* takes."""
    if getattr(param, "count", False):
        return None, None
    kind = getattr(param, "type", None)
    for holder in (kind, param):
        low, high = getattr(holder, "min", None), getattr(holder, "max", None)
        if low is not None or high is not None:
            return low, high
    return None, None


def _env(param: Any, context: Any) -> str:
    env = variables_of(param)
    prefix = getattr(context, "auto_envvar_prefix", None)
    if not env and prefix and getattr(param, "allow_from_autoenv", False):
        return f"{prefix}_{param.name.upper()}"
    return env[0] if env else ""
