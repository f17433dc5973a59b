"""Options whose values come from the saved profile, or are secrets.

click finds the value of an option in one place, ``consume_value``; ours stands in front of it.
"""

from __future__ import annotations

from ...call.saved_profile import excluded_by, saved_switch, words_in
from ...core import is_group
from ...declare import flag_key
from . import SECRET_OPTIONS, running
from .params import from_framework, is_switch
from .values import is_secret, names_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from ...call import Invocation
    from ...declare import FlagAnnotation
    from ...line.option_words import Options


def hide_secrets(
    command: Any, notes: Mapping[str, FlagAnnotation], words: Sequence[str], invocation: Invocation
) -> None:
    """Learn the secrets of *command*: what its options have by default, and what is in *words*."""
    for param, declared in getattr(command, SECRET_OPTIONS):
        if isinstance(param.default, (str, int)):
            invocation.hide(param.default, named=not declared)
    secret_options(command, notes).hide_in(words, invocation)


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


def stand_before(
    param: Any,
    key: str,
    notes: Mapping[str, FlagAnnotation],
    profileable: bool,
    declared: bool | None,
) -> None:
    """Have *param* take its value from the saved profile as well, and its secrets be learnt."""
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
    return from_framework(param, "ParameterSource")[name]
