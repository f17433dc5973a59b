"""What a parameter of a click-like command is called, takes, and was given."""

from __future__ import annotations

from ...declare import flag_key, spelled_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Any


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
