"""Which options of a click-like command were typed; loaded where something depends on that."""

from __future__ import annotations

import sys

from ...core import INTENT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


# Where a context keeps the options that were typed.
TYPED = "_murli_typed"


def is_switch(param: Any) -> bool:
    """Return whether an option takes no value."""
    return bool(getattr(param, "is_flag", False) or getattr(param, "count", False))


def typed_name(param: Any) -> str:
    """Return the name a caller uses: ``--top``, ``-t`` or ``text``."""
    if param.param_type_name != "option":
        return str(param.name)
    return next((name for name in param.opts if name.startswith("--")), str(param.opts[0]))


def from_framework(thing: Any, name: str) -> Any:
    """Return what is called *name* in the framework that *thing*, a command or parameter, is of."""
    for base in type(thing).__mro__:
        found = getattr(sys.modules.get(base.__module__), name, None)
        if found is not None:
            return found
    raise TypeError(f"{type(thing).__name__} is of no framework murli knows")


def names_of_option(param: Any) -> tuple[str, ...]:
    """Return all spellings of an option, also those that turn it off."""
    return (*param.opts, *param.secondary_opts)


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
