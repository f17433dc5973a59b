"""From a click-like command to the neutral command tree."""

from __future__ import annotations

from ..metadata import flag_key
from ..tree import Argument, Command, Flag, first_line, telling_metavar
from .clicklike import is_group
from .clicklike_levels import CommandLevel, is_switch, resolved

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from typing import Any

    from .clicklike import MetadataAt

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


def walk(level: CommandLevel, path: tuple[str, ...], metadata_at: MetadataAt) -> Command:
    """Give the command of *level* and everything below it."""
    command = level.command
    params = [param for param in command.params if _is_listed(param, level.context)]
    metadata = metadata_at(command, level.path)
    return Command(
        path,
        first_line((getattr(command, "short_help", "") or command.help or "").partition("\f")[0]),
        arguments=[_argument(param) for param in params if param.param_type_name == "argument"],
        flags=[
            _flag(param, level.context) for param in params if param.param_type_name == "option"
        ],
        commands=list(_commands(level, path, metadata_at)),
        hidden=bool(getattr(command, "hidden", False)),
        deprecated=bool(getattr(command, "deprecated", False)),
        metadata=metadata,
        handler=getattr(command, "callback", None),
        runs=bool(getattr(command, "invoke_without_command", False)),
        strict=not getattr(level.context, "allow_interspersed_args", True),
        own_name=str(getattr(command, "name", "") or ""),
    )


def _commands(
    level: CommandLevel, path: tuple[str, ...], metadata_at: MetadataAt
) -> Iterator[Command]:
    if not is_group(level.command):
        return
    above = _commands_above(level)
    for name in command_names(level.command, level.context):
        try:
            found = resolved(level.command, level.context, name)
            if found is not None and found not in above:
                below = CommandLevel(found, name, (*level.path, name), level)
                yield walk(below, (*path, name), metadata_at)
        except Exception as error:  # one plugin that cannot be loaded must not hide the others
            yield Command((*path, name), f"Cannot be loaded: {error}")


def _commands_above(level: CommandLevel | None) -> list[Any]:
    found = []
    while level is not None:
        found.append(level.command)
        level = level.parent
    return found


def command_names(group: Any, context: Any) -> list[str]:
    """Give the names of a group's commands, as they were defined rather than sorted."""
    names = list(group.list_commands(context))
    defined = list(getattr(group, "commands", ()))
    return defined if sorted(defined) == sorted(names) else names


def given_values(
    ctx: Any, applied: Collection[str], kind: str = "option"
) -> dict[str, tuple[Any, bool]]:
    """Give the value of each option by its name, and whether it is more than a default.

    *applied* are the options whose values a profile gave; *kind* may be ``argument`` instead.
    """
    values: dict[str, tuple[Any, bool]] = {}
    while ctx is not None:
        for param in ctx.command.params:
            if param.param_type_name == kind and param.name in ctx.params:
                source = ctx.get_parameter_source(param.name)
                name = names_of(param)[0]
                given = source is not None and source.name in ("COMMANDLINE", "ENVIRONMENT")
                given = given or flag_key(name) in applied
                values.setdefault(name, (ctx.params[param.name], given))
        ctx = ctx.parent
    return values


def names_of(param: Any) -> tuple[str, str]:
    """Give the long name of an option without its dashes, and its one-letter name or ``""``."""
    longs = [name for name in param.opts if name.startswith("--")]
    shorts = [name for name in param.opts if not name.startswith("--")]
    name = (longs or shorts or [param.name])[0].lstrip("-/+")
    return name, shorts[0].lstrip("-/+") if longs and shorts else ""


def choices_of(param: Any) -> list[str]:
    """Give the values *param* accepts, as a caller writes them."""
    found = getattr(getattr(param, "type", None), "choices", None)
    if found is not None:
        # click takes the members of an Enum by their names, newer typers by their values.
        return [str(getattr(choice, "name", choice)) for choice in found]
    found = getattr(getattr(param, "type_descriptor", None), "choices", None)
    return [str(getattr(choice, "value", choice)) for choice in found or ()]


def explains(param: Any, context: Any) -> bool:
    """Tell whether *param* is --help or --version, which answer by themselves."""
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
    if getattr(param, "hidden", False) or param.name in _COMPLETION:
        return False
    return not explains(param, context)


def _argument(param: Any) -> Argument:
    return Argument(
        str(param.name),
        _type(param),
        required=bool(param.required),
        description=str(getattr(param, "help", None) or "").strip(),
        choices=choices_of(param),
        values=param.nargs,
        metavar=_metavar(param, str(param.name)),
    )


def _flag(param: Any, context: Any) -> Flag:
    name, short = names_of(param)
    minimum, maximum = range_of(param)
    negations = [each.lstrip("-/+") for each in param.secondary_opts if each.startswith("--")]
    return Flag(
        name,
        _type(param),
        _default(param),
        (param.help or "").strip(),
        short=short,
        required=bool(param.required),
        env=_env(param, context),
        sensitive=bool(getattr(param, "hide_input", False)),
        choices=choices_of(param),
        minimum=minimum,
        maximum=maximum,
        negation=negations[0] if negations else "",
        values=0 if is_switch(param) else param.nargs,
        spelling="" if f"--{name}" in param.opts else next(iter(param.opts), ""),
        metavar="" if is_switch(param) else _metavar(param, name),
    )


def _metavar(param: Any, name: str) -> str:
    """Return what stands for the value of *param*, ``""`` where it says nothing more."""
    given = getattr(param, "metavar", None)
    if not given and choices_of(param):
        return ""
    descriptor = getattr(param, "type_descriptor", None)
    for holder in (getattr(param, "type", None), getattr(descriptor, "parameter_info", None)):
        formats = getattr(holder, "formats", None)
        if formats and not given and list(formats) != _USUAL_FORMATS:
            given = f"[{'|'.join(map(str, formats))}]"
    return telling_metavar(given or _own_metavar(param), type_name(param), name)


def _own_metavar(param: Any) -> str | None:
    """Return what a type of the author's own calls its values, as ``--help`` would."""
    own = getattr(getattr(param, "type", None), "get_metavar", None)
    theirs = str(getattr(own, "__module__", "")).partition(".")[0] in ("click", "typer")
    if own is None or theirs:
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
    """Give the framework's name for the type of *param*, or of its elements."""
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
    if type(default).__name__ == "Sentinel":  # click's own word for "nobody said"
        default = False if _type(param) == "bool" else None
    if callable(default) or default in ((), []):
        return None
    from ..errors import EncodingError
    from ..formats import plain

    try:
        return plain(default)
    except EncodingError:  # an object only the tool understands
        return None


def range_of(param: Any) -> tuple[Any, Any]:
    """Give the least and the greatest number *param* takes."""
    if getattr(param, "count", False):
        return None, None
    kind = getattr(param, "type", None)
    for holder in (kind, param):
        low, high = getattr(holder, "min", None), getattr(holder, "max", None)
        if low is not None or high is not None:
            return low, high
    return None, None


def _env(param: Any, context: Any) -> str:
    env = getattr(param, "envvar", None)
    prefix = getattr(context, "auto_envvar_prefix", None)
    if not env and prefix and getattr(param, "allow_from_autoenv", False):
        return f"{prefix}_{param.name.upper()}"
    if not env:
        return ""
    return env if isinstance(env, str) else str(next(iter(env)))
