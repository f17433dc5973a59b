"""A click-like command that must be confirmed, whichever way it is reached.

The guard decides where a group hands a command out to be invoked. An author may call one in
another way: through ``ctx.invoke``, ``ctx.forward``, ``group.commands`` or the command's own
``main``. All of them end in the command's callback, so that is guarded too.
"""

from __future__ import annotations

import types

from ...core import INTENT, METADATA, is_group
from . import awaited, hook, running
from .params import TYPED, intent_given, telling_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from ...call import Invocation
    from ...declare import Metadata
    from ...errors import AgentError
    from . import Enabled

# Where a command and a context class keep that they are guarded.
_GUARDED = "_murli_guarded"
# The guarded subclasses of the frameworks' and authors' context classes.
_contexts: dict[Any, Any] = {}
_WATCHED = "_murli_prompts"


def hook_guarded(group: Any, enabled: Enabled, path: tuple[str, ...]) -> None:
    """Hook the commands below *group* that must be confirmed, however they will be reached."""
    for name, command in (getattr(group, "commands", None) or {}).items():
        leads_on = "commands" in command.__dict__
        # Of a tool with many commands most say nothing, and are only looked at.
        if leads_on or enabled.settings.infers or _is_annotated(command):
            below = (*path, name)
            if _may_be_guarded(command, enabled, below, enabled.metadata_at(command, below)):
                hook(command, enabled, below)
            if leads_on:
                hook_guarded(command, enabled, below)


def _is_annotated(command: Any) -> bool:
    """Return whether something is declared about *command*, or about a function it wraps."""
    holder, further = command, "callback"
    while holder is not None and not hasattr(holder, METADATA):
        holder, further = getattr(holder, further, None), "__wrapped__"
    return holder is not None


def guard(command: Any, enabled: Enabled, path: tuple[str, ...], metadata: Metadata | None) -> None:
    """Guard what the handler of *command* calls, and its own callback where that must be."""
    if hasattr(command, "context_class"):
        command.context_class = _guarded_context(command.context_class)
    if _GUARDED not in command.__dict__ and _may_be_guarded(command, enabled, path, metadata):
        setattr(command, _GUARDED, True)
        _guard_callback(command)


def _may_be_guarded(
    command: Any, enabled: Enabled, path: tuple[str, ...], metadata: Metadata | None
) -> bool:
    """Return whether *command* is declared to change something, or named like it where that counts.

    By what name it is called does not matter: it has one of its own.
    """
    if metadata is not None and metadata.mutating:
        return True
    if not enabled.settings.infers:
        return False
    from ...declare.safety import inferred_danger

    own = (*path[:-1], str(command.name or ""))
    return "destructive" in (inferred_danger(path), inferred_danger(own))


def _guarded_context(kind: Any) -> Any:
    """Return a subclass of *kind*, a context class, that hooks the commands handlers call."""
    if _GUARDED in kind.__dict__:
        return kind
    found = _contexts.get(kind)
    if found is not None:
        return found

    def invoke(self: Any, callback: Any, /, *args: Any, **named: Any) -> Any:
        invocation = running()
        if invocation is not None and hasattr(callback, "make_context"):
            call: Any = invocation.request.runner
            hook(callback, call.enabled, (str(callback.name or ""),))
        return super(guarded, self).invoke(callback, *args, **named)

    # The name is kept: it shows in messages, and somebody may look for it.
    body = {"invoke": invoke, _GUARDED: True, "__module__": kind.__module__}
    guarded: Any = type(kind.__name__, (kind,), body)
    _contexts[kind] = guarded
    return guarded


def _guard_callback(command: Any) -> None:
    """Have the callback of *command* ask the guard, unless the guard has let the command run."""
    callback = command.callback
    if callback is None:
        return
    from functools import update_wrapper

    from ...call.guard import admit_nested

    def guarded(*args: Any, **named: Any) -> Any:
        invocation = running()
        if invocation is None or _is_admitted(invocation, command):
            return callback(*args, **named)
        enabled, path = command._murli_hooked
        metadata = enabled.metadata_at(command, path)
        invocation.running.command = command
        declared_path = telling_path(command, path, invocation.request.runner)
        if admit_nested(invocation, metadata, declared_path):
            return callback(*args, **named)
        return planned(callback, metadata.plan)(*args, **named)

    update_wrapper(guarded, callback)
    # What is declared is asked of the author's own function.
    guarded.__dict__.pop(METADATA, None)
    command.callback = guarded


def _is_admitted(invocation: Invocation, command: Any) -> bool:
    """Return whether *command* was let run, or is a group on the way to a command."""
    call: Any = invocation.request.runner
    if id(command) in call.admitted:
        return True
    ctx = call.routing.get(id(command)) if is_group(command) else None
    return ctx is not None and ctx.invoked_subcommand is not None


def awaiting(callback: Any) -> Any:
    """Return *callback*, an async function, as one that ends when its work has."""
    from functools import wraps

    @wraps(callback)
    def run(*args: Any, **named: Any) -> Any:
        return awaited(callback(*args, **named))

    return run


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
    from ...call.guard import refusal

    call: Any = invocation.request.runner
    command = ctx.command
    _, path = command._murli_hooked
    given = intent_given(ctx)
    if is_group(command):
        from ...line.scanning import scan

        words = invocation.call.rest
        if not INTENT.isdisjoint(word.partition("=")[0] for word in words):
            return None  # of the command below, perhaps; it will be asked
        level: Any = scan(words, invocation.host.level(), thorough=True).level
        command, path = level.command, level.path
        if is_group(command):
            return None
    metadata = call.enabled.metadata_at(command, path)
    traits = metadata.traits if metadata is not None else None
    flag = f"--{traits.confirm_flag}" if traits is not None and traits.confirm_flag else ""
    forced = invocation.call.force or given["forced"] or flag in getattr(ctx, TYPED, ())
    invocation.running.command = command
    return refusal(
        invocation,
        metadata,
        telling_path(command, path, call),
        forced=forced,
        dry_run=invocation.call.dry_run,
        previews=given["previews"],
    )


# -- plans -------------------------------------------------------------------------------------


def planning(callback: Any, plan: Any) -> Callable[[Any], Any]:
    """Return what invokes a command in its context so that *plan* runs, see `planned`."""
    function = planned(callback, plan)
    return lambda ctx: ctx.invoke(function, **ctx.params)


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
