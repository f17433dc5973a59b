"""What a parameter of a click-like command is called, takes, and was given; what was typed."""

from __future__ import annotations

from ...core import INTENT
from ...declare import flag_key, spelled_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Any


# Where a context keeps the options that were typed.
TYPED = "_murli_typed"


def given_values(
    ctx: Any, applied: Collection[str], kind: str = "option"
) -> dict[str, tuple[Any, bool]]:
    """Return the value of each option by its name, and whether it is more than a default.

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
    """Return the long name of an option without its dashes, and its short one or ``""``."""
    return spelled_name(param.opts, str(param.name or ""))


def variables_of(param: Any) -> list[str]:
    """Return the variables that are named for *param*."""
    names = getattr(param, "envvar", None)
    names = names if isinstance(names, (list, tuple)) else [names]
    return [name for name in names if name and isinstance(name, str)]


def names_of_option(param: Any) -> tuple[str, ...]:
    """Return all spellings of an option, also those that turn it off."""
    return (*param.opts, *param.secondary_opts)


def is_switch(param: Any) -> bool:
    """Return whether an option takes no value."""
    return bool(getattr(param, "is_flag", False) or getattr(param, "count", False))


def intent_given(ctx: Any) -> dict[str, bool]:
    """Return which of the command's own switches for force and dry-run were typed."""
    given: set[str] = set()
    while ctx is not None:
        switches = {name for p in ctx.command.params if is_switch(p) for name in names_of_option(p)}
        given |= getattr(ctx, TYPED, set()) & INTENT & switches
        ctx = ctx.parent
    return {"forced": bool(given & {"--force", "--yes"}), "previews": "--dry-run" in given}


def note_typed(command: Any) -> None:
    """Have the contexts of *command* keep which of its options stood on the command line.

    The source of a value does not say that: options may share a parameter.
    """
    own_make = command.make_parser

    def make_parser(ctx: Any) -> Any:
        parser = own_make(ctx)
        own_parse = parser.parse_args

        def parse_args(args: Any) -> Any:
            values, rest, order = own_parse(args)
            last = {param.name: param for param in order}
            setattr(ctx, TYPED, {
                name
                for param in last.values()
                for name in (
                    param.secondary_opts if values.get(param.name) is False else param.opts
                )
            })  # fmt: skip
            return values, rest, order

        parser.parse_args = parse_args
        return parser

    setattr(command, "make_parser", make_parser)


def telling_path(command: Any, path: tuple[str, ...], call: Any) -> tuple[str, ...]:
    """Return the path of *command*, with its own name where that says more than an alias."""
    path = path or (str(command.name or call.host().name()),)
    if not call.enabled.settings.infers:
        return path
    from ...declare.safety import inferred_danger

    own = (*path[:-1], str(command.name or path[-1]))
    return own if inferred_danger(own) == "destructive" else path
