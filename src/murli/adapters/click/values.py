"""Values that nobody typed, in a click-like command: from the environment, from the saved profile.

A parameter is asked for its value in one place, ``consume_value``; ours stands in front of it, on
the parameters that annotations speak of.
"""

from __future__ import annotations

import os
import sys

from ...core import INTENT, mentions_secret
from ...declare import excluded_by, flag_key
from . import SECRET_OPTIONS, is_group, running
from .params import TYPED, given_values, is_switch, names_of, variables_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from ...call import Invocation
    from ...call.misnamed import Parameters
    from ...declare import FlagAnnotation, Metadata
    from ...line.option_words import Options

_WATCHED = "_murli_watched"


def bind(command: Any, notes: Mapping[str, FlagAnnotation]) -> None:
    """Let the options of *command* take their values from where *notes* say."""
    secret: list[tuple[Any, bool]] = []
    for param in command.params:
        if param.param_type_name != "option":
            continue
        key = flag_key(names_of(param)[0])
        note = notes.get(key)
        is_intent = not INTENT.isdisjoint(param.opts)
        if note is not None and note.env and not param.envvar and not is_intent:
            param.envvar = note.env
        profileable = note is not None and note.profileable and not is_intent
        declared = is_secret(param, note)
        if (profileable or declared is not None) and _WATCHED not in param.__dict__:
            setattr(param, _WATCHED, True)
            _stand_in(param, key, notes, profileable, declared)
        if declared is not None:
            secret.append((param, declared))
    if secret:
        setattr(command, SECRET_OPTIONS, secret)


def hide_secrets(
    command: Any,
    notes: Mapping[str, FlagAnnotation],
    words: Sequence[str],
    invocation: Invocation,
) -> None:
    """Learn the secrets of *command*: what its options have by default, and what is in *words*."""
    for param, declared in getattr(command, SECRET_OPTIONS):
        if isinstance(param.default, (str, int)):
            invocation.hide(param.default, named=not declared)
    secret_options(command, notes).hide_in(words, invocation)


def enforce_in(ctx: Any, invocation: Invocation, metadata: Metadata) -> None:
    """Refuse what *ctx* holds against the annotations; return it the values that rules have."""
    values = given_values(ctx, invocation.request.applied)
    if not metadata.restricts(values):
        return
    from ...call.guard.enforcement import enforce

    arguments = given_values(ctx, (), "argument")
    defaults = enforce(invocation, metadata, values, arguments, _typed_options(ctx))
    for param in ctx.command.params:
        key = flag_key(names_of(param)[0])
        if key in defaults:
            ctx.params[param.name] = defaults[key]


def _typed_options(ctx: Any) -> set[str]:
    """Return the options that stand on the command line."""
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


def parameters_of(command: Any, metadata: Metadata | None = None) -> Parameters:
    """Return the options and arguments of *command* by their names."""
    from ...call.misnamed import Parameters

    options = [param for param in command.params if param.param_type_name == "option"]
    arguments = [param for param in command.params if param.param_type_name == "argument"]
    return Parameters(
        metadata,
        [(f"--{names_of(param)[0]}", *param.opts, *param.secondary_opts) for param in options],
        [str(param.name) for param in arguments],
    )


def check_names(command: Any, metadata: Metadata, parent: Any, invocation: Invocation) -> None:
    """Refuse a call of *command*, below the context *parent*, that declares what is not there."""
    options = [param for param in command.params if param.param_type_name == "option"]
    if metadata.names_nothing_but({flag_key(names_of(param)[0]) for param in options}):
        return
    from ...call.misnamed import refuse_misnamed

    above: list[Parameters] = []
    while parent is not None:
        # One that is not the tool's own may stand above it all.
        enabled, path = getattr(parent.command, "_murli_hooked", (None, ()))
        facts = enabled.metadata_at(parent.command, path) if enabled is not None else None
        above.insert(0, parameters_of(parent.command, facts))
        parent = parent.parent
    refuse_misnamed(invocation, parameters_of(command, metadata), above)


def secret_options(command: Any, notes: Mapping[str, FlagAnnotation]) -> Options:
    """Return the options of *command*, and which of them have secrets for values."""
    from ...line.option_words import Options

    group = is_group(command)
    options = Options(lambda word: group)
    for param in command.params:
        if param.param_type_name == "option":
            most = 0 if is_switch(param) else abs(param.nargs)
            declared = is_secret(param, notes.get(flag_key(names_of(param)[0])))
            options.add((*param.opts, *param.secondary_opts), most, declared)
    return options


def is_secret(param: Any, note: FlagAnnotation | None) -> bool | None:
    """Return ``None`` if the value of *param* is no secret, else whether somebody declared it."""
    if (note is not None and note.sensitive) or getattr(param, "hide_input", False):
        return True
    names = (param.name or "", *param.opts, *variables_of(param))
    if is_switch(param) or not mentions_secret("\0".join((*names, ""))):
        return None
    from ...secrets.names import is_secret_name

    if not any(map(is_secret_name, names)):
        return None
    from .tree import choices_of

    return None if choices_of(param) else False


def _stand_in(
    param: Any,
    key: str,
    notes: Mapping[str, FlagAnnotation],
    profileable: bool,
    declared: bool | None,
) -> None:
    own = param.consume_value
    named, sensitive = not declared, declared is not None
    excluded = excluded_by(key, notes)

    def consume_value(ctx: Any, opts: Any) -> Any:
        invocation = running()
        if invocation is None or ctx.resilient_parsing:
            return own(ctx, opts)
        given = _given(opts, param)
        in_environment = None if given is not None else param.value_from_envvar(ctx)
        if sensitive:
            invocation.hide([given, in_environment], named=named)
        if given is None and profileable:
            saved = invocation.saved
            ruled_out = any(
                flag_key(names_of(other)[0]) in excluded
                and _is_stronger(other, ctx, opts, saved.explicit)
                for other in ctx.command.params
                if other.param_type_name == "option"
            )
            if not ruled_out and saved.applies(key, in_environment=in_environment is not None):
                text = saved.value(key, sensitive=bool(declared)) or ""
                if declared is False:
                    invocation.hide(text, named=True)
                invocation.request.applied[key] = saved.name
                value = _typed(param, text, invocation)
                if value is not None:
                    return value, _source(param)
        in_doubt = in_environment is not None and profileable and invocation.saved.explicit
        if in_doubt and any(map(invocation.saved.holds, excluded)):  # the profile counts more
            return param.get_default(ctx), _source(param, "DEFAULT")
        value, source = own(ctx, opts)
        if sensitive:  # prompted for, perhaps
            _hide_plain(value, invocation, named)
        return value, source

    setattr(param, "consume_value", consume_value)
    if sensitive:
        process = param.process_value

        def process_value(ctx: Any, value: Any) -> Any:
            converted, invocation = process(ctx, value), running()
            if invocation is not None and not ctx.resilient_parsing:
                _hide_plain(converted, invocation, named)
            return converted

        setattr(param, "process_value", process_value)


def _hide_plain(value: Any, invocation: Invocation, named: bool) -> None:
    """Learn the secret *value*, unless it is an object of which nobody knows what it shows."""
    if isinstance(value, (str, int, float, bytes, list, tuple)):
        invocation.hide(value, named=named)


def _is_stronger(other: Any, ctx: Any, opts: Any, explicit: bool) -> bool:
    """Return whether *other* has a value from where a profile's value comes after it."""
    if _given(opts, other) is not None:
        return True
    return not explicit and other.value_from_envvar(ctx) is not None


def _given(opts: Any, param: Any) -> Any:
    """Return what the command line says, ``None`` for nothing."""
    value = opts.get(param.name)
    return None if type(value).__name__ == "Sentinel" or value == () else value


def _typed(param: Any, text: str, invocation: Invocation) -> Any:
    """Return a stored text in the form the parameter takes from a command line."""
    from ...call.saved_profile import saved_switch, words_in

    if getattr(param, "is_flag", False):
        state = saved_switch(invocation, f"--{names_of(param)[0]}", text)
        if getattr(param, "is_bool_flag", True):
            return state
        return param.flag_value if state else None
    if getattr(param, "multiple", False):
        return tuple(tuple(word) if isinstance(word, list) else word for word in words_in(text))
    if param.nargs != 1:
        return tuple(words_in(text))
    return text


def _source(param: Any, name: str = "DEFAULT_MAP") -> Any:
    """Return the framework's word for where a value comes from: a configuration, say."""
    for base in type(param).__mro__:
        found = getattr(sys.modules.get(base.__module__), "ParameterSource", None)
        if found is not None:
            return found[name]
    raise TypeError(f"{type(param).__name__} is no parameter murli knows")


def values_in(ctx: Any) -> dict[str, Any]:
    """Return the values of all parameters on the way to the command of *ctx*, by their places.

    Paths that are given as text are paths here, so that they are told from other text.
    """
    found: dict[str, Any] = {}
    while ctx is not None:
        # By what only click's Path has; the parameters of some typers have no type, but real paths.
        kinds = {param.name: getattr(param, "type", None) for param in ctx.command.params}
        for name, value in ctx.params.items():
            is_path = hasattr(kinds.get(name), "resolve_path")
            found[f"{ctx.command_path} {name}"] = _as_path(value) if is_path else value
        ctx = ctx.parent
    return found


def _as_path(value: Any) -> Any:
    """Return *value*, a text or several, as what it is the path of."""
    if isinstance(value, (list, tuple)):
        return [_as_path(each) for each in value]
    if not value or not isinstance(value, (str, bytes)):
        return value
    from pathlib import PurePath

    return PurePath(os.fsdecode(value))
