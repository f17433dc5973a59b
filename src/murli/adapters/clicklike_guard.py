"""A click-like command that must be confirmed, whichever way it is reached.

The guard decides where a group hands a command out to be invoked. An author may call one in
another way: through ``ctx.invoke``, ``ctx.forward``, ``group.commands`` or the command's own
``main``. All of them end in the command's callback, so that is guarded too.
"""

from __future__ import annotations

import types

from .clicklike import TYPED, intent_given, is_group, running, show_options, telling_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from ..errors import AgentError
    from ..runtime.invocation import Invocation

_WATCHED = "_murli_prompts"


def guard_callback(command: Any) -> None:
    """Have the callback of *command* ask the guard, unless the guard has let the command run."""
    callback = command.callback
    if callback is None:
        return
    from functools import update_wrapper

    from ..runtime import METADATA
    from ..runtime.guard import admit_nested

    def guarded(*args: Any, **named: Any) -> Any:
        invocation = running()
        if invocation is None or _is_admitted(invocation, command):
            return callback(*args, **named)
        enabled, path = command._murli_hooked
        metadata = enabled.metadata_at(command, path)
        show_options(invocation, command)
        if admit_nested(invocation, metadata, telling_path(command, path, invocation.host)):
            return callback(*args, **named)
        return planned(callback, metadata.plan)(*args, **named)

    update_wrapper(guarded, callback)
    # What is declared is asked of the author's own function.
    guarded.__dict__.pop(METADATA, None)
    command.callback = guarded


def _is_admitted(invocation: Invocation, command: Any) -> bool:
    """Return whether *command* was let run, or is a group on the way to a command."""
    call: Any = invocation.host
    if id(command) in call.admitted:
        return True
    ctx = call.routing.get(id(command)) if is_group(command) else None
    return ctx is not None and ctx.invoked_subcommand is not None


# -- prompts -----------------------------------------------------------------------------------


def guard_prompts(command: Any) -> None:
    """Have *command* ask for values only once it is certain that it may run."""
    for param in command.params:
        if getattr(param, "prompt", None) and _WATCHED not in param.__dict__:
            setattr(param, _WATCHED, True)
            _guard_prompt(param)


def _guard_prompt(param: Any) -> None:
    own = param.prompt_for_value

    def prompt_for_value(ctx: Any) -> Any:
        invocation = running()
        if invocation is not None and not ctx.resilient_parsing:
            reason = _refusal_ahead(invocation, ctx)
            if reason is not None:
                invocation.refuse(reason)
        return own(ctx)

    setattr(param, "prompt_for_value", prompt_for_value)


def _refusal_ahead(invocation: Invocation, ctx: Any) -> AgentError | None:
    """Return why the command that *ctx* belongs to, or leads to, will be refused."""
    from ..runtime.guard import refusal

    call: Any = invocation.host
    command = ctx.command
    _, path = command._murli_hooked
    given = intent_given(ctx)
    if is_group(command):
        from ..runtime import INTENT
        from ..runtime.argv import scan

        words = invocation.call.rest
        if not INTENT.isdisjoint(word.partition("=")[0] for word in words):
            return None  # of the command below, perhaps; it will be asked
        level: Any = scan(words, call.level(), thorough=True).level
        command, path = level.command, level.path
        if is_group(command):
            return None
    metadata = call.enabled.metadata_at(command, path)
    traits = metadata.traits if metadata is not None else None
    flag = f"--{traits.confirm_flag}" if traits is not None and traits.confirm_flag else ""
    forced = invocation.call.force or given["forced"] or flag in getattr(ctx, TYPED, ())
    show_options(invocation, command)
    return refusal(
        invocation,
        metadata,
        telling_path(command, path, call),
        forced=forced,
        dry_run=invocation.call.dry_run,
        previews=given["previews"],
    )


# -- plans -------------------------------------------------------------------------------------


def planned(callback: Any, plan: Any) -> Callable[..., Any]:
    """Return *callback* with *plan* in the place of the function that it leads to.

    What decorators and the framework do with the arguments is done for *plan* as well.
    """
    handler = callback
    while hasattr(handler, "__wrapped__"):
        handler = handler.__wrapped__
    return _replaced(callback, handler, _taking_fewer(plan, handler))


def _replaced(function: Any, handler: Any, instead: Callable[..., Any]) -> Callable[..., Any]:
    """Return a copy of *function*, a chain of wrappers, that ends in *instead*."""
    if function is handler:
        return instead
    inner = function.__wrapped__
    cells = getattr(function, "__closure__", None) or ()
    found = [index for index, cell in enumerate(cells) if _content(cell) is inner]
    if not found:
        return instead  # a wrapper that keeps what it wraps in a way of its own
    below = types.CellType(_replaced(inner, handler, instead))
    closure = tuple(below if index in found else cell for index, cell in enumerate(cells))
    copy = types.FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__, closure
    )
    copy.__kwdefaults__ = function.__kwdefaults__
    return copy


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not filled yet
        return None


def _taking_fewer(plan: Any, handler: Any) -> Callable[..., Any]:
    """Return *plan*, called with those of the handler's arguments that it has parameters for."""
    from inspect import Parameter, signature

    def call(*args: Any, **named: Any) -> Any:
        try:
            taken = signature(plan).parameters.values()
            given = signature(handler).bind(*args, **named).arguments
        except (TypeError, ValueError):  # nobody can say which arguments these are
            return plan(*args, **named)
        for parameter in signature(handler).parameters.values():
            if parameter.kind is Parameter.VAR_KEYWORD:
                given |= given.pop(parameter.name, {})
        if any(p.kind is Parameter.VAR_KEYWORD for p in taken):
            return plan(**given)
        names = {p.name for p in taken if p.kind is not Parameter.POSITIONAL_ONLY}
        if all(p.name in given or p.default is not Parameter.empty for p in taken):
            return plan(**{name: value for name, value in given.items() if name in names})
        return plan(*args, **named)

    return call


# -- what cannot be guarded --------------------------------------------------------------------


def unguardable(group: Any, path: tuple[str, ...] = ()) -> Iterator[str]:
    """Yield the groups below *group*, itself included, that run commands nobody can follow."""
    code = getattr(_own_invoke(group), "__code__", None)
    if code is not None and "super" not in code.co_names and _FINDING.isdisjoint(code.co_names):
        yield " ".join(path)
    for name, command in (getattr(group, "commands", None) or {}).items():
        if is_group(command):
            yield from unguardable(command, (*path, name))


# By one of these a group that invokes commands itself finds them where they are hooked.
_FINDING = frozenset(("get_command", "resolve_command", "commands"))


def _own_invoke(group: Any) -> Any:
    """Return the ``invoke`` that an author wrote for *group*, or ``None``."""
    if not is_group(group):
        return None
    for base in type(group).__mro__:
        if "invoke" in base.__dict__:
            theirs = base.__module__.partition(".")[0] in ("click", "typer")
            return None if theirs else base.__dict__["invoke"]
    return None
