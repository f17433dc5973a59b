"""Small facts about click-like commands that every call needs."""

from __future__ import annotations

from ..annotations import flag_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..metadata import Metadata


def is_group(command: Any) -> bool:
    """Tell whether *command* has commands below it."""
    return hasattr(command, "list_commands") and hasattr(command, "get_command")


def is_leaf_call(command: Any, ctx: Any) -> bool:
    """Tell whether invoking *command* in *ctx* runs it, rather than a command below it."""
    if not is_group(command):
        return True
    waiting = getattr(ctx, "_protected_args", None)
    if waiting is None:
        waiting = ctx.protected_args
    return not waiting and not ctx.args


def intent_given(ctx: Any) -> dict[str, bool]:
    """Tell which of a command's own switches for force and dry-run were given."""
    given: set[str] = set()
    while ctx is not None:
        for param in ctx.command.params:
            names = {"--force", "--yes", "--dry-run"}.intersection(param.opts)
            if names and is_switch(param) and ctx.params.get(param.name):
                source = ctx.get_parameter_source(param.name)
                if source is not None and source.name == "COMMANDLINE":
                    given |= names
        ctx = ctx.parent
    return {"forced": bool(given & {"--force", "--yes"}), "previews": "--dry-run" in given}


def is_switch(param: Any) -> bool:
    """Tell whether an option takes no value."""
    return bool(getattr(param, "is_flag", False) or getattr(param, "count", False))


def bind_environment(command: Any, metadata: Metadata | None) -> None:
    """Let options take their values from the variables their annotations name."""
    notes = metadata.flag_annotations if metadata is not None else {}
    for param in command.params if notes else ():
        for name in param.opts:
            note = notes.get(flag_key(name))
            if note is not None and note.env and not param.envvar:
                param.envvar = note.env
