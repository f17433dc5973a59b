"""click, and what typer has in common with it, whichever click it is.

Newer typers bring a click of their own, whose classes are not click's. So nothing here asks what
class a command is: a group is what can list and get commands. Commands are hooked through
attributes of their instances, those below the root when their group gives them out.
"""

from __future__ import annotations

import os
import sys

from ... import core
from ...call import Invocation
from ...core import (
    ENDED,
    INTENT,
    current,
    is_group,
    mentions_secret,
    metadata_of,
    program_name,
    version_of,
)
from ...formats import take_bursts_as_one

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType
    from typing import Any

    from ...core import Settings
    from ...declare import Metadata
    from .levels import ClickHost

    MetadataAt = Callable[[Any, tuple[str, ...]], Metadata | None]

HOOKED = "_murli_hooked"
# What finds the commands of a group, beneath what hooks them.
BENEATH = "_murli_beneath_hook"
ENABLED = "_murli_enabled"
_MAIN_PARAMETERS = ("args", "prog_name", "complete_var", "standalone_mode", "windows_expand_args")
# The packages between a program and its handler.
_NOT_THE_PROGRAM = ("murli", "click", "typer", "rich_click", "runpy")
_SETUP_FINALLY = 122  # in 3.10, the only version without tables of its handlers
# Where a command keeps its options whose values are secrets.
SECRET_OPTIONS = "_murli_secret_options"
# inspect.CO_COROUTINE and CO_VARKEYWORDS
_COROUTINE = 0x80
_NAMED = 0x08


def enable(command: Any, settings: Settings, caller: str) -> None:
    """Make *command*, a ``click.Command`` or ``click.Group``, agent-native."""
    if ENABLED in command.__dict__:
        return
    enabled = Enabled(settings, caller)
    own_main = command.main
    code = getattr(own_main, "__code__", None)
    if code is not None and code.co_flags & _COROUTINE:  # asyncclick: nobody would await it
        raise TypeError(
            f"{type(command).__module__}.{type(command).__qualname__} has an async main(), which "
            "murli.enable() cannot run: call it inside murli.program() instead"
        )

    def main(*args: Any, **named: Any) -> Any:
        return enabled.main(command, own_main, *args, **named)

    own_complete = getattr(command, "_main_shell_completion", None)
    setattr(command, ENABLED, enabled)
    setattr(command, "main", main)
    if own_complete is not None:

        def complete(*args: Any, **named: Any) -> Any:
            return enabled.complete(own_complete, *args, **named)

        setattr(command, "_main_shell_completion", complete)
    if "click_extra" in sys.modules:
        from .stack import look_past_murli

        look_past_murli(command)


def declared(command: Any, path: tuple[str, ...] = ()) -> Metadata | None:
    """Return what an author declared about *command*: on itself, or on the function behind it."""
    found = metadata_of(command)
    function = getattr(command, "callback", None)
    while found is None and function is not None:
        found = metadata_of(function)
        function = getattr(function, "__wrapped__", None)
    return found


class Enabled:
    """An app and what was chosen for it."""

    def __init__(
        self,
        settings: Settings,
        caller: str,
        metadata_at: MetadataAt = declared,
        *,
        answers_to_command: bool = False,
        app: Any = None,
    ) -> None:
        self.settings = settings
        # What builds the root command, where that is not all there is.
        self.app = app
        self.caller = caller
        self.metadata_at = metadata_at
        # Whether a tool of one command may also be called by that command's name.
        self.answers_to_command = answers_to_command
        # Whether a command notes which of its options are typed.
        self.notes_typed = False

    def main(self, root: Any, own_main: Callable[..., Any], *args: Any, **named: Any) -> Any:
        """Stand in for the root's own ``main``."""
        take_bursts_as_one(begin=True)
        try:
            code = getattr(own_main, "__code__", None)
            if code is not None and not ("args" in code.co_varnames or code.co_flags & _NAMED):
                from .signatures import taking_words

                own_main = taking_words(own_main, args, dict(named))
            named.update(zip(_MAIN_PARAMETERS, args, strict=False))
            call = Call(self, root, named)
            if current() is None:
                return call.run(own_main)
            from .within import run_within

            return run_within(call, own_main)
        finally:
            take_bursts_as_one(begin=False)

    def complete(
        self,
        own: Callable[..., Any],
        ctx_args: Any,
        prog_name: str,
        complete_var: str | None = None,
    ) -> None:
        """Stand in for the root's own step that answers a shell, inside the invocation.

        The framework's ``main`` comes here with the names it looks at.
        """
        invocation = running()
        asked = None
        if complete_var:
            asked = os.environ.get(complete_var)
        elif invocation is None or "_COMPLETE\0" in invocation.request.variables:
            # Which of the two it looks at depends on the framework and its version.
            name = f"_{prog_name}_COMPLETE".replace("-", "_").upper()
            asked = os.environ.get(name) or os.environ.get(name.replace(".", "_"))
        if asked:
            from .completion import complete

            complete(invocation, own, ctx_args, prog_name, complete_var)
        else:
            own(ctx_args, prog_name, complete_var)


class Call:
    """One call of a root command; what the runtime knows of the tool while it runs."""

    def __init__(self, enabled: Enabled, root: Any, named: dict[str, Any]) -> None:
        self.enabled = enabled
        self.root = root
        self.named = named
        self.returned: Any = None
        # What left the root command by an exception, for the framework to deal with.
        self.raised: BaseException | None = None
        # Whether what the handler returned has been made, or streamed, where it was returned.
        self.is_complete = False
        # The commands that were let run, and the contexts of groups that only route.
        self.admitted: set[int] = set()
        self.routing: dict[int, Any] = {}
        # Whether a handler is running, rather than what leads to one.
        self.is_running = False
        self.standalone = named.get("standalone_mode", True)
        # Whether the rest of the program is the handler, and its end is answered.
        self.is_programs = False
        # Whether what a handler raises takes its usual way, through the framework.
        self.passes = not self.standalone
        # The outer call, where the framework is to end the program after it.
        self.above: Invocation | None = None

    def hook(self) -> None:
        """Have the commands of the tool ask the guard."""
        hook(self.root, self.enabled, ())
        if core.declares_changes or self.enabled.settings.infers:
            from .guard import hook_guarded

            hook_guarded(self.root, self.enabled, ())

    def run(self, own_main: Callable[..., Any], above: Invocation | None = None) -> Any:
        """Run the tool, answer, and end the program as click would have.

        *above* is the call whose place it takes, whose answer is that of the program's end.
        """
        words = self.named.get("args")
        self.hook()
        argv = sys.argv[1:] if words is None else list(words)
        invocation = self._invocation(argv, above)
        ending: BaseException | None = None
        process = os.getpid()
        try:
            invocation = invocation.begin()
            process = os.getpid()  # a call of many begins in a fork
            # From here on a refusal comes back to us, and is answered with what was printed.
            invocation.request.raises = True
            if above is not None:
                from ...call.ending import adopt_program

                adopt_program(invocation)
                self.is_programs = True
            if not self.standalone:
                if not (invocation.is_for_people or self.is_programs):
                    from ...call.ending import adopt_own_program

                    self.is_programs = adopt_own_program(invocation, words)
                returned = own_main(**{**self.named, "args": self._words(invocation)})
                if self.is_programs and self.raised is not None:  # the framework has handled it
                    from .errors import translate

                    translate(self.raised, invocation)
                return returned
            # A person sees what the framework, or the author's own main, shows.
            self.passes = invocation.is_for_people
            ending = self._handle(own_main, invocation)
        except SystemExit as ended:  # answered already
            if self.standalone:
                from ...call.ending.succession import end_early

                end_early(invocation, ended, words)
            raise
        except BaseException as error:
            if not self.standalone:
                if invocation.is_for_people:
                    from ...call.ending.for_people import let_tool_handle

                    let_tool_handle(invocation, error)
                elif self.is_programs:
                    from .errors import note_usage_error

                    note_usage_error(invocation, error)
                raise
            invocation.process.block_signals_after_interrupt(error)
            ending = error
        finally:
            if not self.is_programs:
                invocation.deactivate()
            if not self.standalone:
                if invocation.cleanups is not None:
                    invocation.cleanups.run(sys.exc_info()[1])
                if not self.is_programs:
                    invocation.abandon()
        if os.getpid() != process:
            from .errors import end_fork

            end_fork(ending)
        if invocation.is_for_people:
            if ending is not None:
                from ...call.ending.for_people import let_tool_handle

                let_tool_handle(invocation, ending)
        elif self.is_programs:
            from ...call.ending import leave

            invocation.running.returned = self.returned
            leave(invocation, ending)
        elif _may_be_caught(sys._getframe()) or _is_reported(ending):
            from ...call.ending import let_program_end

            invocation.running.returned = self.returned
            let_program_end(invocation, ending, words)
        # With no words given the program is the tool, and over: what is printed late goes aside.
        returned, self.returned = self.returned, None
        code = invocation.finish(ending, returned=returned, restore=words is not None)
        del returned  # the garbage collector would look through it while the process ends
        if (
            isinstance(ending, SystemExit)
            and invocation.writer.is_tty()
            and (ending.code or not code)
        ):
            raise ending
        sys.exit(code)

    def _invocation(self, argv: list[str], above: Invocation | None) -> Invocation:
        settings = self.enabled.settings
        if above is not None:
            from .within import succeeding

            return succeeding(self, argv, above)
        try:
            return Invocation(self, settings, argv, raises=not self.standalone)
        except KeyboardInterrupt as error:  # typer has replaced the hook that would answer it
            if self.standalone:
                from ...call.ending.early_interrupt import answer_interrupt

                answer_interrupt(settings, error)
            raise

    def _handle(self, own_main: Callable[..., Any], invocation: Invocation) -> BaseException | None:
        """Let the framework run the handler; return what ended it, ``None`` for nothing bad."""
        if not self.is_programs:
            invocation.process.begin_handler()
        early = sys.modules.get("murli.adapters.early_prints")
        if early is not None:
            early.let_out(sys.stdout)
        raised: BaseException
        try:
            own_main(**{**self.named, "args": self._words(invocation)})
            return None
        except SystemExit as end:
            if not end.code:
                return None
            if self.passes:
                from .errors import as_shown

                return as_shown(end, self.raised, invocation)
            from ...process.process_guard import noted_interruption

            # A signal outside the root command, whose end comes past the framework.
            return noted_interruption() or end
        except BaseException as error:
            invocation.process.block_signals_after_interrupt(error)
            raised = error
        finally:
            invocation.process.end_handler()
        from .errors import ending_of

        return ending_of(raised, invocation)

    def _words(self, invocation: Invocation) -> list[str]:
        """Return the words for the framework."""
        words, root = invocation.call.rest, self.root
        if (
            not self.enabled.answers_to_command
            or is_group(root)
            or not words
            or words[0] != root.name
        ):
            return words
        for param in root.params if len(words) == 1 else ():
            if param.param_type_name == "argument" and param.required:
                return words
        return words[1:]

    # -- what the runtime asks -------------------------------------------------------------

    def name(self) -> str:
        """Return the name people type to call the tool."""
        given = self.enabled.settings.name or self.named.get("prog_name") or ""
        if given:
            return str(given).rpartition(" ")[2]
        program = program_name()
        return str(self.root.name or "cli") if program in ("-c", "") else program

    def version(self) -> str:
        """Return the version that ``--version`` prints, else that of the tool's own package."""
        below = getattr(self.root, "commands", None)
        inner = next(iter(below.values()), None) if isinstance(below, dict) else None
        own = self.root.callback or getattr(inner, "callback", None)
        home = str(getattr(own, "__module__", ""))
        for param in self.root.params:
            names = getattr(getattr(param.callback, "__code__", None), "co_freevars", ())
            if "version" in names and "version" in (param.name, *names):
                cells = dict(zip(names, param.callback.__closure__, strict=True))
                version = cells["version"].cell_contents
                if isinstance(version, str):
                    return version
                package = cells["package_name"].cell_contents if "package_name" in cells else ""
                if isinstance(package, str) and (found := version_of(package, home)):
                    return found
        return version_of(self.enabled.caller) or version_of(home)

    @property
    def app(self) -> Any:
        """What was enabled: the root command, or the Typer it was made from."""
        return self.enabled.app if self.enabled.app is not None else self.root

    def translated(self, error: BaseException) -> BaseException:
        """Return what *error*, which left the tool, means to us; itself if it is not click's."""
        from .errors import translate

        invocation = running()
        return translate(error, invocation) if invocation is not None else error

    def host(self) -> ClickHost:
        """Return what answers whatever else the runtime asks about the tool."""
        from .levels import ClickHost

        return ClickHost(self)


def _is_reported(ending: BaseException | None) -> bool:
    """Return whether a hook of the author's own is called with *ending*, which nobody catches."""
    if isinstance(ending, (SystemExit, KeyboardInterrupt, type(None))):
        return False
    from ...call.ending.for_people import is_authors

    return is_authors(sys.excepthook)


def _may_be_caught(frame: FrameType | None) -> bool:
    """Return whether code of the program around *frame* may catch what ends the call."""
    while frame is not None:
        package = str(frame.f_globals.get("__name__", "")).partition(".")[0]
        if package not in _NOT_THE_PROGRAM:
            code = frame.f_code
            table = getattr(code, "co_exceptiontable", None)
            if table or (table is None and _SETUP_FINALLY in code.co_code[::2]):
                return True
        frame = frame.f_back
    return False


def hook(command: Any, enabled: Enabled, path: tuple[str, ...]) -> None:
    """Make *command* ask the guard before it runs, and those it gives out as well."""
    hooked = HOOKED in command.__dict__
    # Where it was reached from this time: a command may be shared, and is hooked only once.
    setattr(command, HOOKED, (enabled, path))
    guards = core.declares_changes or enabled.settings.infers
    if hooked and not guards:
        return
    metadata = enabled.metadata_at(command, path)
    if guards:
        from .guard import guard

        guard(command, enabled, path, metadata)
    if hooked:
        return
    notes = metadata.flag_annotations if metadata is not None else {}
    naming = metadata if metadata is not None and metadata.names_parameters else None
    names: set[str] = set()
    hides = deprecated = prompts = False
    for param in command.params:
        names.update(param.opts, param.secondary_opts, (param.name or "",))
        hides = hides or getattr(param, "hide_input", False)
        deprecated = deprecated or getattr(param, "deprecated", False)
        prompts = prompts or getattr(param, "prompt", False)
    if notes or hides or mentions_secret("\0".join((*names, ""))):
        from .values import bind

        bind(command, notes)
    if deprecated:
        from .deprecated import watch

        watch(command, notes)
    leads = metadata is not None and (metadata.traits or is_group(command))
    if leads or not INTENT.isdisjoint(names):
        from .params import note_typed

        enabled.notes_typed = True
        note_typed(command)
    if prompts:
        from .guard import guard_prompts

        guard_prompts(command)
    own_invoke, own_help, own_make = command.invoke, command.get_help, command.make_context

    def invoke(ctx: Any, *args: Any, **named: Any) -> Any:
        invocation = running()
        if invocation is None:
            return own_invoke(ctx, *args, **named)
        call: Any = invocation.request.runner

        def run(ctx: Any) -> Any:
            return own_invoke(ctx, *args, **named)

        step = _invoke_root if command is call.root else _invoke
        return _past_the_framework(call, command, step, invocation, command, ctx, run)

    def make_context(*args: Any, **named: Any) -> Any:
        invocation = running()
        if invocation is None:
            return own_make(*args, **named)
        make = own_make
        if invocation.call.is_undecided and not named.get("resilient_parsing"):
            from .levels import deciding, take_late_flags

            args, named = take_late_flags(invocation, command, args, named)
            make = deciding(invocation, command, own_make)
        if SECRET_OPTIONS in command.__dict__:
            from .supplied import hide_secrets

            hide_secrets(command, notes, args[1] if len(args) > 1 else named["args"], invocation)
        if naming is not None and not named.get("resilient_parsing"):
            from .values import check_names

            check_names(command, naming, named.get("parent"), invocation)
        if not invocation.contract.refuses_repeats:
            return _past_the_framework(invocation.request.runner, command, make, *args, **named)
        from ..repeats import watch_click_parser

        undo = watch_click_parser(command, invocation)
        try:
            return _past_the_framework(invocation.request.runner, command, make, *args, **named)
        finally:
            undo()

    def get_help(ctx: Any, *args: Any, **named: Any) -> Any:
        text = own_help(ctx, *args, **named)
        invocation = running()
        if invocation is None or args or named:  # as only the tool itself calls it
            return text
        from .help import is_for_own_help, our_section

        if is_for_own_help(sys._getframe(1)):  # behind which more may be printed
            return text
        enabled, path = getattr(command, HOOKED)
        return text + our_section(enabled, path, command, invocation)

    setattr(command, "invoke", invoke)
    setattr(command, "make_context", make_context)
    setattr(command, "get_help", get_help)
    if is_group(command):
        _await_callback(command)
        _hook_commands_of(command)


def running() -> Invocation | None:
    """Return the running invocation if it is one of a click-like tool."""
    invocation = current()
    return invocation if invocation and isinstance(invocation.request.runner, Call) else None


def _hook_commands_of(group: Any) -> None:
    own_get, own_resolve = group.get_command, group.resolve_command

    def reached(found: Any, name: str) -> Any:
        if found is not None and running() is not None:
            enabled, path = getattr(group, HOOKED)
            known = getattr(group, "commands", None)
            if known and known.get(name) is not found:  # an alias, or an abbreviation
                for key, each in known.items():
                    if each is found:
                        name = key
                        break
            hook(found, enabled, (*path, name))
        return found

    def get_command(ctx: Any, name: str, *args: Any, **named: Any) -> Any:
        return reached(own_get(ctx, name, *args, **named), name)

    def resolve_command(*args: Any, **named: Any) -> Any:
        name, found, rest = own_resolve(*args, **named)
        return name, reached(found, name), rest

    setattr(get_command, BENEATH, own_get)
    setattr(group, "get_command", get_command)
    setattr(group, "resolve_command", resolve_command)


def _invoke(
    invocation: Invocation, command: Any, ctx: Any, own_invoke: Callable[[Any], Any]
) -> Any:
    """Run *command* once the guard lets it."""
    enabled, path = getattr(command, HOOKED)
    metadata = enabled.metadata_at(command, path)
    for param, is_declared in command.__dict__.get(SECRET_OPTIONS, ()):
        invocation.hide(ctx.params.get(param.name), named=not is_declared)  # as it was converted
    if metadata is not None and metadata.has_checks:
        from .values import enforce_in

        enforce_in(ctx, invocation, metadata)
    declared = metadata.deprecated if metadata is not None else None
    if declared is not None or getattr(command, "deprecated", False):
        from .deprecated import noting_use

        own_invoke = noting_use(invocation, command, path, declared, own_invoke)
    call: Any = invocation.request.runner
    if not is_leaf_call(command, ctx):
        call.routing[id(command)] = ctx
        return own_invoke(ctx)
    if call.is_running:  # a handler runs it; if need be, the guard stands before its callback
        return own_invoke(ctx)
    invocation.running.command, invocation.running.parsed = command, ctx
    invocation.running.handler = command.callback
    typed = {}
    if enabled.notes_typed or enabled.settings.infers:
        from .params import intent_given, telling_path

        typed, path = intent_given(ctx), telling_path(command, path, call)
    invocation.admit(metadata, path or (str(command.name),), **typed)
    call.admitted.add(id(command))
    if invocation.running.plans and metadata is not None:
        from .guard import planning

        own_invoke = planning(command.callback, metadata.plan)
    call.is_running = True
    try:
        if not invocation.writer.is_tty():
            returned = awaited(own_invoke(ctx))
        else:
            from ...answer.shown import PrintWatch

            with PrintWatch(invocation):
                returned = awaited(own_invoke(ctx))
    finally:
        call.is_running = False
    if _is_processed(ctx):
        return returned
    call.is_complete = True
    return _completed(invocation, returned)


def _invoke_root(
    invocation: Invocation, command: Any, ctx: Any, own_invoke: Callable[[Any], Any]
) -> Any:
    """Run the root *command*; what it returned is complete then, and its handler at its end."""
    call: Any = invocation.request.runner
    try:
        returned = _invoke(invocation, command, ctx, own_invoke)
        if not call.is_complete:
            many = returned if type(returned) is list else ()
            returned = _completed(invocation, returned, *many)
        # click's own list of what a chain returned; the code of another might do anything.
        many = returned if type(returned) is list else ()
        # A chain of those that return nothing returns nothing.
        call.returned = None if set(map(type, many)) == {type(None)} else returned
        return returned
    finally:
        if call.standalone and not call.passes:
            invocation.state = ENDED  # the framework would answer a signal from now on


def _past_the_framework(
    call: Any, command: Any, function: Callable[..., Any], /, *args: Any, **named: Any
) -> Any:
    """Call *function*; what it raises at the root comes to us unless somebody else is to see it."""
    try:
        return function(*args, **named)
    except BaseException as error:
        invocation = running() if isinstance(error, KeyboardInterrupt) else None
        if invocation is not None and call.standalone:
            invocation.process.block_signals_after_interrupt(error)
        # The framework would take the end of a deadline for Ctrl-C.
        expired = call.standalone and type(error).__name__ == "Expired"
        if command is not call.root or (call.passes and not expired):
            if command is call.root:
                call.raised = error
                if call.above is not None:
                    from .within import end_inside

                    end_inside(call, call.above, error)
            raise
        from .errors import Ended

        if isinstance(error, Ended):
            raise
        raise Ended(error) from error


def _is_processed(ctx: Any) -> bool:
    """Return whether groups do something with what their commands return."""
    while ctx.parent is not None:
        ctx = ctx.parent
        if getattr(ctx.command, "chain", False) or getattr(ctx.command, "_result_callback", None):
            return True
    return False


def _completed(invocation: Any, returned: Any, *each: Any) -> Any:
    """Return what a handler returned, its items made; ``None`` when they are streamed already.

    *each* are the results that *returned* consists of, where there are several.
    """
    lazy = False
    for one in (returned, *each):
        kind = type(one)  # which runs no code of the value's own
        lazy = lazy or hasattr(kind, "__next__") or hasattr(kind, "__anext__")
    if not invocation.request.runner.standalone or not (lazy or invocation.writer._reply.streams):
        return returned
    from ...answer.streaming import take, until_exit

    if type(returned).__name__ == "generator":
        returned = until_exit(returned)
    return take(invocation.writer, returned)


def awaited(returned: Any) -> Any:
    """Return what a handler returned, or what it comes to where that is a coroutine."""
    if type(returned).__name__ != "coroutine":
        return returned
    from ...process.event_loops import run

    invocation = running()
    return run(returned, invocation.writer if invocation is not None else None)


def _await_callback(group: Any) -> None:
    """Let the function of a group be async: click drops what it returns."""
    callback = group.callback
    function = callback
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    code = getattr(function, "__code__", None)
    if code is None or not code.co_flags & _COROUTINE:
        return
    from .guard import awaiting

    group.callback = awaiting(callback)


def is_leaf_call(command: Any, ctx: Any) -> bool:
    """Return whether invoking *command* in *ctx* runs it, rather than a command below it."""
    if not is_group(command):
        return True
    waiting = getattr(ctx, "_protected_args", None)
    if waiting is None:
        waiting = ctx.protected_args
    return not waiting and not ctx.args
