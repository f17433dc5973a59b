"""What click and typer have in common, whichever click it is.

Newer typers bring a click of their own, whose classes are not click's. So nothing here asks what
class a command is: a group is what can list and get commands. Commands are hooked through
attributes of their instances, those below the root when they are resolved.
"""

from __future__ import annotations

import os
import sys

from ..errors import AgentError
from ..metadata import metadata_of
from ..runtime.invocation import Invocation, current
from ..runtime.settings import version_of
from .clicklike_levels import (
    CommandLevel,
    bind_environment,
    intent_given,
    is_group,
    is_leaf_call,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, NoReturn

    from ..metadata import Metadata
    from ..runtime.settings import Settings
    from ..tree import Command

    MetadataAt = Callable[[Any, tuple[str, ...]], Metadata | None]

_HOOKED = "_murli_hooked"
_COROUTINE = 0x80  # inspect.CO_COROUTINE


def declared(command: Any, path: tuple[str, ...] = ()) -> Metadata | None:
    """Give what an author declared about *command*: on itself, or on the function behind it."""
    found = metadata_of(command)
    function = getattr(command, "callback", None)
    while found is None and function is not None:
        found = metadata_of(function)
        function = getattr(function, "__wrapped__", None)
    return found


class Enabled:
    """A root command and what was chosen for it; what the runtime knows of the tool."""

    def __init__(self, settings: Settings, caller: str, metadata_at: MetadataAt = declared) -> None:
        self.settings = settings
        self.caller = caller
        self.metadata_at = metadata_at
        self.root: Any = None
        self._prog_name = ""
        self._exit: BaseException | None = None

    def main(
        self,
        root: Any,
        own_main: Callable[..., Any],
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        """Stand in for the root's own ``main``."""
        self.root = root
        self._exit = None
        self._prog_name = prog_name or ""
        if _is_completing(self.name(), prog_name, complete_var):
            return own_main(args, prog_name, complete_var, standalone_mode, **extra)
        argv = sys.argv[1:] if args is None else list(args)
        hook(root, self)
        invocation = Invocation(self, self.settings, argv, raises=not standalone_mode)
        invocation.begin()
        rest = self._without_own_name(invocation.call.rest)
        if not standalone_mode:
            try:
                return own_main(rest, prog_name, complete_var, False, **extra)
            finally:
                invocation.leave()
        invocation.collect()
        # From here on a refusal comes back to us, and is answered with what was printed by then.
        invocation.raises = True
        ending: BaseException | None = None
        try:
            returned = own_main(rest, prog_name, complete_var, False, **extra)
            # An exit is swallowed on the way, and its code returned as if it were a result.
            ending, returned = self._exit, None if self._exit else returned
            if isinstance(returned, list) and all(each is None for each in returned):
                returned = None  # what a chain of commands returns that return nothing
        except BaseException as error:
            ending, returned = error, None
        self._end(invocation, ending, returned)

    def _end(self, invocation: Invocation, error: BaseException | None, returned: Any) -> NoReturn:
        """Answer, and end the program as click would have."""
        if error is not None and not isinstance(error, SystemExit):
            from .clicklike_errors import translate

            error = translate(error, invocation)
        sys.exit(invocation.finish(error, returned=returned, restore=True))

    def noting_exit(self, call: Callable[..., Any]) -> Callable[..., Any]:
        """Give *call* with what it raises noted, before the framework deals with it."""

        def noted(*args: Any, **named: Any) -> Any:
            try:
                return call(*args, **named)
            except KeyboardInterrupt as error:
                # click would break the line on stderr, which is for documents here.
                self._exit = error
                raise AgentError.cancelled() from error
            except BaseException as error:
                self._exit = error
                raise

        return noted

    def _without_own_name(self, words: list[str]) -> list[str]:
        """Let a tool of one command be called by that command's name as well."""
        root = self.root
        if is_group(root) or not words or words[0] != root.name or root.name == self.name():
            return words
        needs_words = any(
            param.param_type_name == "argument" and param.required for param in root.params
        )
        return words if len(words) == 1 and needs_words else words[1:]

    # -- what the runtime asks -------------------------------------------------------------

    def name(self) -> str:
        """Give the name people type to call the tool."""
        if self.settings.name or self._prog_name:
            return (self.settings.name or self._prog_name).rpartition(" ")[2]
        program = os.path.basename(sys.argv[0]).removesuffix(".py")
        spec = getattr(sys.modules.get("__main__"), "__spec__", None)
        if program == "__main__" and spec is not None:
            return str(spec.parent or program)
        if program in ("-c", ""):
            return str(self.root.name or "cli")
        return program

    def version(self) -> str:
        """Give the version that ``--version`` tells, else that of the caller's package."""
        for param in self.root.params:
            names = getattr(getattr(param.callback, "__code__", None), "co_freevars", ())
            if param.name == "version" and "version" in names:
                told = param.callback.__closure__[names.index("version")].cell_contents
                if isinstance(told, str):
                    return told
        return version_of(self.caller)

    def level(self) -> CommandLevel:
        """Give the root as the scanner sees it."""
        return CommandLevel(self.root, self.name())

    def tree(self) -> Command:
        """Walk the whole tool."""
        from .clicklike_tree import walk

        return walk(self.level(), (self.name(),), self.metadata_at)

    def command(self, level: Any) -> Command:
        """Walk the command that *level* stands for."""
        from .clicklike_tree import walk

        return walk(level, (self.name(), *level.path), self.metadata_at)


def hook(command: Any, enabled: Enabled, path: tuple[str, ...] = ()) -> None:
    """Make *command* ask the guard before it runs, and the commands it resolves as well."""
    if command.__dict__.get(_HOOKED) is enabled:
        return
    setattr(command, _HOOKED, enabled)
    bind_environment(command, enabled.metadata_at(command, path))
    own_invoke, own_help = command.invoke, command.format_help

    def invoke(ctx: Any) -> Any:
        invocation = current()
        if invocation is None:
            return own_invoke(ctx)
        if is_leaf_call(command, ctx):
            metadata = enabled.metadata_at(command, path)
            invocation.admit(metadata, **intent_given(ctx))
            if metadata is not None and metadata.flag_annotations:
                from ..runtime.enforce import enforce
                from .clicklike_tree import given_values

                enforce(invocation, metadata, given_values(ctx))
        if not invocation.writer.is_tty():
            return _awaited(own_invoke(ctx))
        from ..runtime.printing import PrintWatch

        with PrintWatch() as watch:
            returned = _awaited(own_invoke(ctx))
        invocation.printed |= watch.printed
        return returned

    def format_help(ctx: Any, formatter: Any) -> None:
        own_help(ctx, formatter)
        invocation = current()
        if invocation is not None:
            from .clicklike_help import add_our_options

            add_our_options(formatter, enabled, command, path, invocation)

    setattr(command, "invoke", invoke)
    setattr(command, "format_help", format_help)
    if not path:
        setattr(command, "invoke", enabled.noting_exit(invoke))
        setattr(command, "make_context", enabled.noting_exit(command.make_context))
    if is_group(command):
        own_resolve = command.resolve_command
        _await_callback(command)

        def resolve_command(ctx: Any, args: Any) -> Any:
            name, found, rest = own_resolve(ctx, args)
            if found is not None and current() is not None:
                hook(found, enabled, (*path, name))
            return name, found, rest

        setattr(command, "resolve_command", resolve_command)


def _awaited(returned: Any) -> Any:
    if type(returned).__name__ != "coroutine":
        return returned
    import asyncio

    return asyncio.run(returned)


def _await_callback(group: Any) -> None:
    """Let the function of a group be async: click drops what it returns."""
    callback = group.callback
    function = callback
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    code = getattr(function, "__code__", None)
    if code is None or not code.co_flags & _COROUTINE:
        return
    from functools import wraps

    @wraps(callback)
    def run(*args: Any, **named: Any) -> Any:
        import asyncio

        return asyncio.run(callback(*args, **named))

    group.callback = run


def _is_completing(name: str, prog_name: str | None, complete_var: str | None) -> bool:
    if complete_var is None:
        complete_var = f"_{prog_name or name}_COMPLETE".replace("-", "_").replace(".", "_").upper()
    return bool(os.environ.get(complete_var))
