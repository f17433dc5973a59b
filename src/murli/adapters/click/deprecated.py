"""Deprecations that a click-like framework knows of, reported where the answer has a place.

Without that, click writes them to stderr, in its own way.
"""

from __future__ import annotations

from ...answer.python_warnings import note_command, note_parameter
from ...declare import flag_key
from . import running
from .params import typed_name
from .values import names_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from ...call import Invocation
    from ...declare import FlagAnnotation
    from ...declare.declarations import Deprecation

_GIVEN = ("COMMANDLINE", "ENVIRONMENT")
_NOTED = "_murli_noted"


def noting_use(
    invocation: Invocation,
    command: Any,
    path: Sequence[str],
    declared: Deprecation | None,
    own_invoke: Callable[[Any], Any],
) -> Callable[[Any], Any]:
    """Warn that *command* is deprecated; return what invokes it without a second warning."""
    deprecated = getattr(command, "deprecated", False)
    if deprecated and not invocation.contract.has_warnings:
        return own_invoke
    note_command(invocation, path, declared, deprecated)
    return own_invoke if not deprecated else lambda ctx: _silently(command, lambda: own_invoke(ctx))


def watch(command: Any, notes: Mapping[str, FlagAnnotation]) -> None:
    """Report the use of the parameters that *command* knows to be deprecated."""
    for param in command.params:
        if getattr(param, "deprecated", False) and _NOTED not in param.__dict__:
            setattr(param, _NOTED, True)
            note = notes.get(flag_key(names_of(param)[0]))
            _stand_in(param, note is not None and note.deprecated is not None)


def _stand_in(param: Any, declared: bool) -> None:
    own, deprecated = param.handle_parse_result, param.deprecated

    def handle_parse_result(ctx: Any, opts: Any, args: Any) -> Any:
        invocation = running()
        if invocation is None or ctx.resilient_parsing or not invocation.contract.has_warnings:
            return own(ctx, opts, args)
        try:
            return _silently(param, lambda: own(ctx, opts, args))
        finally:
            source = ctx.get_parameter_source(param.name)
            # What is declared in our words too is reported with those.
            if source is not None and source.name in _GIVEN and not declared:
                note_parameter(invocation, typed_name(param), None, deprecated)

    setattr(param, "handle_parse_result", handle_parse_result)


def _silently(holder: Any, action: Callable[[], Any]) -> Any:
    """Do *action* while *holder* does not know that it is deprecated."""
    deprecated, holder.deprecated = holder.deprecated, False
    try:
        return action()
    finally:
        holder.deprecated = deprecated
