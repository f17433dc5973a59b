"""What is declared about the options of a click-like command, where it parses and is called."""

from __future__ import annotations

from ...core import INTENT, mentions_secret
from ...declare import flag_key, names_nothing_but, restricts, spelled_name
from . import SECRET_OPTIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from typing import Any

    from ...call import Invocation
    from ...call.misnamed import Parameters
    from ...declare import FlagAnnotation, Metadata

_WATCHED = "_murli_watched"


def bind(command: Any, notes: Mapping[str, FlagAnnotation]) -> None:
    """Let the options of *command* take their values from where *notes* say."""
    secret: list[tuple[Any, bool]] = []
    names = [note.env for note in notes.values()]
    for param in command.params:
        names += (param.name or "", *param.opts, *variables_of(param))
    mentioned = mentions_secret("\0".join((*names, "")))
    for param in command.params:
        if param.param_type_name != "option":
            continue
        key = flag_key(names_of(param)[0])
        note = notes.get(key)
        is_intent = not INTENT.isdisjoint(param.opts)
        if note is not None and note.env and not param.envvar and not is_intent:
            param.envvar = note.env
        profileable = note is not None and note.profileable and not is_intent
        known = (note is not None and note.sensitive) or getattr(param, "hide_input", False)
        declared = is_secret(param, note) if mentioned or known else None
        if (profileable or declared is not None) and _WATCHED not in param.__dict__:
            setattr(param, _WATCHED, True)
            from .supplied import stand_before

            stand_before(param, key, notes, profileable, declared)
        if declared is not None:
            secret.append((param, declared))
    if secret:
        setattr(command, SECRET_OPTIONS, secret)


def enforce_in(ctx: Any, invocation: Invocation, metadata: Metadata) -> None:
    """Refuse what *ctx* holds against the annotations; return it the values that rules have."""
    values = given_values(ctx, invocation.request.applied)
    if not restricts(metadata, values):
        return
    from ...call.guard.enforcement import enforce

    arguments = given_values(ctx, (), "argument")
    defaults = enforce(invocation, metadata, values, arguments, _typed_options(ctx))
    for param in ctx.command.params:
        key = flag_key(names_of(param)[0])
        if key in defaults:
            ctx.params[param.name] = defaults[key]


def names_of(param: Any) -> tuple[str, str]:
    """Return the long name of an option without its dashes, and its short one or ``""``."""
    return spelled_name(param.opts, str(param.name or ""))


def variables_of(param: Any) -> list[str]:
    """Return the variables that are named for *param*."""
    names = getattr(param, "envvar", None)
    names = names if isinstance(names, (list, tuple)) else [names]
    return [name for name in names if name and isinstance(name, str)]


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


def _typed_options(ctx: Any) -> set[str]:
    """Return the options that stand on the command line."""
    from .params import TYPED

    found: set[str] = set()
    while ctx is not None:
        typed: set[str] = getattr(ctx, TYPED, set())
        found |= {
            flag_key(names_of(param)[0])
            for param in ctx.command.params
            if not typed.isdisjoint(param.opts)
        }
        ctx = ctx.parent
    return found


def check_names(command: Any, metadata: Metadata, parent: Any, invocation: Invocation) -> None:
    """Refuse a call of *command*, below the context *parent*, that declares what is not there."""
    options = (param for param in command.params if param.param_type_name == "option")
    if names_nothing_but(metadata, {flag_key(names_of(param)[0]) for param in options}):
        return
    from ...call.misnamed import refuse_misnamed
    from .levels import parameters_of

    above: list[Parameters] = []
    while parent is not None:
        # One that is not the tool's own may stand above it all.
        enabled, path = getattr(parent.command, "_murli_hooked", (None, ()))
        facts = enabled.metadata_at(parent.command, path) if enabled is not None else None
        above.insert(0, parameters_of(parent.command, facts))
        parent = parent.parent
    refuse_misnamed(invocation, parameters_of(command, metadata), above)


def is_secret(param: Any, note: FlagAnnotation | None) -> bool | None:
    """Return ``None`` if the value of *param* is no secret, else whether somebody declared it."""
    if (note is not None and note.sensitive) or getattr(param, "hide_input", False):
        return True
    names = (param.name or "", *param.opts, *variables_of(param))
    if not mentions_secret("\0".join((*names, ""))):
        return None
    from ...secrets.names import is_secret_name
    from .params import is_switch

    if is_switch(param) or not any(map(is_secret_name, names)):
        return None
    from .tree import choices_of

    return None if choices_of(param) else False
