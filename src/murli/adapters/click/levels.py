"""What the scanner and the guard must know about a click-like command."""

from __future__ import annotations

import os
import sys

from ...core import UNBOUNDED, current, is_group
from ..early_prints import EarlyPrints, let_out
from . import BENEATH, HOOKED
from .params import from_framework, is_switch, names_of_option

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from ...call import Invocation
    from ...call.misnamed import Parameters
    from ...declare import Metadata
    from ...declare.tree import Command
    from ...line.option_words import Options
    from . import Call


# What a context holds once a command line, or a callback, has been there.
_PARSED = (
    *("params", "obj", "args", "_protected_args", "protected_args", "invoked_subcommand"),
    *("_meta", "_parameter_source"),
)
# Where a context keeps what it was asked for, from the moment when it may not be asked.
_ASKED = "_murli_asked"
_kinds: dict[type, type] = {}
# The packages whose groups find commands only among those that were added.
_FRAMEWORKS = ("click", "typer", "rich_click")


def resolved(group: Any, context: Any, name: str, *, is_described: bool = False) -> Any:
    """Return the command *name* as the group gives it to be run: some load it only then.

    One that is only described is not made ready to be run by us as well.
    """
    get = group.get_command
    found = (getattr(get, BENEATH, get) if is_described else get)(context, name)
    own = str(getattr(type(group).resolve_command, "__module__", ""))
    if found is None or own.endswith("click.core"):  # which would ask for the command once more
        return found
    try:
        return group.resolve_command(context, [name])[1] or found
    except Exception:  # a group that finds commands in a way of its own
        return found


class CommandLevel:
    """One command as the scanner sees it; *path* is how it was reached.

    *above* is the context of a command above that the framework has parsed already.
    """

    __slots__ = ("_is_parsed", "command", "context", "has_default", "is_lost", "parent", "path")
    context: Any

    def __init__(
        self,
        command: Any,
        name: str,
        path: tuple[str, ...] = (),
        parent: CommandLevel | None = None,
        above: Any = None,
    ) -> None:
        self.command = command
        self.path = path
        self.parent = parent
        # Whether the last word that `child` was asked for may name a command all the same.
        self.is_lost = False
        # Whether it may have a command that is called without its name.
        self.has_default = True
        self._is_parsed = False
        # A context without a parse: enough to ask a group for its commands.
        self.context = self._new_context(name, parent.context if parent else above)

    def _new_context(self, name: str, above: Any, kind: Any = None) -> Any:
        settings = dict(getattr(self.command, "context_settings", None) or {})
        kind = kind or _context_class(self.command)
        return kind(self.command, info_name=name, parent=above, **settings)

    has_options = True
    takes_any_value = True

    @property
    def forwards(self) -> bool:
        """Whether options it does not know are the command's business."""
        return bool(getattr(self.context, "ignore_unknown_options", False))

    @property
    def routes(self) -> bool:
        """Whether the first word names a command."""
        return is_group(self.command)

    def lists(self, word: str) -> bool:
        """Return whether the command has a command of that name; some answer to every name."""
        return word in self.names()

    def names(self) -> list[str]:
        """Return the names of the commands below."""
        if not is_group(self.command):
            return []
        try:
            with EarlyPrints():
                return list(self.command.list_commands(self.context))
        except Exception:  # the tool's own code; it will be reported when it is called
            return []

    def owns(self, option: str) -> bool:
        """Return whether *option* is the command's own."""
        return self._param(option) is not None

    def abbreviates(self, option: str, with_value: bool) -> bool:
        """Return that nothing is abbreviated here."""
        return False

    def width(self, option: str) -> tuple[int, int]:
        """Return how many values *option* takes, at least and at most."""
        param = self._param(option) or self._last_of_cluster(option)
        if param is None or is_switch(param):
            return 0, 0
        if getattr(param, "_flag_needs_value", False):
            return 0, 1
        return param.nargs, param.nargs

    def negates(self, option: str) -> bool:
        """Return whether *option* is the spelling that turns a switch off."""
        param = self._param(option)
        return param is not None and option in param.secondary_opts

    def without_value(self, option: str) -> str | None:
        """Return *option* with the value it has when none is given."""
        value = getattr(self._param(option), "flag_value", None)
        return f"{option}={value}" if isinstance(value, (str, int)) else None

    def named(self, option: str) -> str:
        """Return the long name of the option that *option* stands for, or ``""``."""
        param = self._param(option) or self._last_of_cluster(option)
        longs = [name for name in param.opts if name.startswith("--")] if param else []
        return longs[0] if longs else option if param else ""

    @property
    def takes_words(self) -> bool:
        """Whether a word may be an argument of the command itself."""
        return self.words_first > 0

    def takes_any_word(self, words_before: int) -> bool:
        """Return whether the next word is an argument of the command though it has dashes.

        The options of a group, and of a command in a chain, end with its first argument.
        """
        ends_early = is_group(self.command) or (self.parent and _is_chain(self.parent.command))
        return bool(ends_early) and 0 < words_before < self.words_first

    @property
    def words_first(self) -> int:
        """How many words the command takes before one names a command below it."""
        count = 0
        for param in self.command.params:
            if param.param_type_name == "argument":
                if param.nargs < 0:
                    return UNBOUNDED
                count += param.nargs
        return count

    def child(self, word: str, words_before: int) -> CommandLevel | None:
        """Return the command that *word* names."""
        self.is_lost = False
        group: CommandLevel | None = self
        if not is_group(self.command):
            # In a chain the next command follows the arguments of the one before.
            group = self.parent if self.parent and _is_chain(self.parent.command) else None
        if group is None or words_before != self.words_first:
            return None
        found = group._find(word)
        self.is_lost = group.is_lost
        return None if found is None else CommandLevel(found, word, (*group.path, word), group)

    def beside(self) -> list[CommandLevel]:
        """Return the commands of the same group that are loaded already."""
        loaded = getattr(self.parent.command, "commands", None) if self.parent else None
        return [
            CommandLevel(command, name, (*self.path[:-1], name), self.parent)
            for name, command in (loaded.items() if isinstance(loaded, dict) else ())
            if name != self.path[-1] and hasattr(command, "params")
        ]

    def passes_on(self, words_before: int) -> bool:
        """Return whether options behind the first word are words as well."""
        if not words_before:
            return False
        if is_group(self.command):
            return self.words_first == UNBOUNDED
        return self.forwards or not getattr(self.context, "allow_interspersed_args", True)

    def hands_down(self, option: str, behind: Sequence[str]) -> bool:
        """Return whether *option* may be that of a command which is called without its name.

        A group that keeps options it does not know has them for its default command: the one that
        it finds for a word which names none. Another may put the name before its words, if those
        *behind* name no command.
        """
        if not self.has_default:
            return False
        if self.forwards:
            if not finds_by_itself(self.command, "parse_args"):
                return False
        elif not is_its_own(self.command, "parse_args") or any(map(self.lists, behind)):
            return False
        default = self._find(option) if self.forwards else None
        below = [default] if default else [self._find(name) for name in self.names()]
        return any(
            option in names_of_option(param)
            for each in below
            for param in getattr(each, "params", ())
        )

    def inform(self, before: Sequence[str]) -> None:
        """Let the command know the words that are its own: some find commands by them."""
        make = type(self.command).make_context
        above = {"parent": self.context.parent} if self.context.parent else {}
        try:
            with EarlyPrints():
                self.context = make(
                    *(self.command, self.context.info_name, list(before)),
                    resilient_parsing=True,
                    **above,
                )
            self._is_parsed = True
        except Exception:  # the tool's own code; it will be reported when it is called
            pass

    def _find(self, word: str) -> Any:
        """Return the command *word* of the group.

        ``is_lost`` is whether one that is not found may be there once the group has parsed.
        """
        context, asked = self.context, []
        if not self._is_parsed:
            context = self._unparsed_context()
            asked = _close(context)
        found = None
        try:
            with EarlyPrints():
                for name in dict.fromkeys((word, self._normalise(word))):
                    found = found or resolved(self.command, context, name)
        except (Exception, _Unparsed):  # as above
            pass
        if asked:  # whatever it has made of that
            found = None
        # Parsed or not: what a callback leaves in ``ctx.obj`` is there only when the tool runs.
        own = finds_by_itself(self.command, "parse_args")
        self.is_lost = found is None and (bool(asked) or own)
        return found

    def _unparsed_context(self) -> Any:
        """Return a context that notices whether it is asked what was parsed."""
        if self._is_parsed:
            return self.context
        above = self.parent._unparsed_context() if self.parent else self.context.parent
        kind = _kind_for(_context_class(self.command))
        return self._new_context(self.context.info_name, above, kind)

    def _normalise(self, word: str) -> str:
        function = getattr(self.context, "token_normalize_func", None)
        return word if function is None else str(function(word))

    def _param(self, option: str) -> Any:
        dashes = option[: len(option) - len(option.lstrip("-"))]
        spellings = {option, dashes + self._normalise(option.lstrip("-"))}
        for param in self.command.params:
            if not spellings.isdisjoint((*param.opts, *param.secondary_opts)):
                return param
        return None

    def _last_of_cluster(self, option: str) -> Any:
        param = None
        if option.startswith("--"):
            return None
        for position, letter in enumerate(option[1:], 2):
            param = self._param(f"-{letter}")
            if param is None or not is_switch(param):
                return param if position == len(option) else None
        return param


def _is_chain(command: Any) -> bool:
    return bool(getattr(command, "chain", False))


def _context_class(command: Any) -> Any:
    """Return the context class of *command*, else find it in the module of the command's class."""
    return getattr(command, "context_class", None) or from_framework(command, "Context")


# -- contexts that know nothing yet, and notice who depends on more ------------------------------

# Some groups find their commands by what was parsed: the values of their parameters, an object that
# a callback left. Asked before the framework parses, such a group may find another command than it
# will run, or do its work twice. So it is asked with a context that ends the question as soon as it
# depends on a parse.


class _Unparsed(BaseException):
    """A group has asked for what is known only when the command line is parsed."""


def _kind_for(kind: type) -> type:
    """Return a subclass of the context class *kind* that can be closed, see `_close`."""
    if kind not in _kinds:
        properties = {name: _guarded(name) for name in _PARSED}
        _kinds[kind] = type(kind.__name__, (kind,), properties)
    return _kinds[kind]


def _close(context: Any) -> list[str]:
    """Let *context* and those above it raise `_Unparsed` when they are asked what was parsed.

    Those that the framework itself has made are left alone. Returns the list of what is asked for.
    """
    asked: list[str] = []
    while context is not None:
        if type(context) in _kinds.values():
            context.__dict__[_ASKED] = asked
        context = context.parent
    return asked


def finds_by_itself(group: Any, *more: str) -> bool:
    """Return whether *group*, if it is one, has a way of its own to find commands.

    *more* are further methods that may be its own: ``parse_args`` may put a name before the words.
    """
    if not hasattr(type(group), "get_command"):
        return False  # it is not a group
    return any(is_its_own(group, name) for name in ("get_command", "resolve_command", *more))


def is_its_own(group: Any, method: str) -> bool:
    """Return whether the class of *group* has a *method* that no framework defines."""
    own = getattr(type(group), method, None)
    if own is None:
        return False
    module = str(own.__module__)
    # The command of typer's own is a tool like any other.
    return module.partition(".")[0] not in _FRAMEWORKS or module == "typer.cli"


def _guarded(name: str) -> property:
    def get(context: Any) -> Any:
        asked = context.__dict__.get(_ASKED)
        if asked is not None:
            asked.append(name)
            raise _Unparsed(name)
        try:
            return context.__dict__[name]
        except KeyError:
            raise AttributeError(name) from None

    def put(context: Any, value: Any) -> None:
        context.__dict__[name] = value

    return property(get, put)


def deciding(
    invocation: Invocation, command: Any, own_make: Callable[..., Any]
) -> Callable[..., Any]:
    """Return *own_make*, the ``make_context`` of a group, for a call that is undecided.

    A flag of ours that was left for a command without a name is taken where the group refuses it:
    it has no such command.
    """

    def make(*args: Any, **named: Any) -> Any:
        words = list(args[1] if len(args) > 1 else named["args"])  # which the parser uses up
        try:
            return own_make(*args, **named)
        except Exception as error:
            kinds = {base.__name__ for base in type(error).__mro__}
            from ...line.flags import flags_in

            flag = flags_in(invocation.contract).get(getattr(error, "option_name", ""))
            if "NoSuchOption" not in kinds or flag is None or flag.is_early:
                raise
        named = {**dict(zip(("info_name", "args", "parent"), args, strict=False)), **named}
        named["args"] = words
        _, named = take_late_flags(invocation, command, (), named, has_default=False)
        return own_make(**named)

    return make


def take_late_flags(
    invocation: Invocation,
    command: Any,
    args: tuple[Any, ...],
    named: dict[str, Any],
    *,
    has_default: bool = True,
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Take our flags out of the words that ``make_context`` of *command* is called with.

    *args* and *named* are its arguments, and so is what is returned. The scan could not know that
    this command would be called.
    """
    from ...call.own_flags import take_late

    parent = named.get("parent")
    name = str(args[0] if args else named.get("info_name"))
    _, path = getattr(command, HOOKED)
    if not path and parent is not None:  # one that a handler has called
        path = (name,)
    level = CommandLevel(command, name, path, above=parent)
    level.has_default = has_default
    above: list[CommandLevel] = []
    while parent is not None:
        path = path[:-1]
        above.insert(0, CommandLevel(parent.command, parent.info_name, path, above=parent.parent))
        parent = parent.parent
    if len(args) > 1:
        return (args[0], take_late(invocation, level, above, args[1]), *args[2:]), named
    return args, {**named, "args": take_late(invocation, level, above, named["args"])}


class ClickHost:
    """What the runtime asks about a tool beyond what every call needs; see `call.host`."""

    def __init__(self, call: Call) -> None:
        self._call = call
        self._root = call.root
        self._enabled = call.enabled
        self.name = call.name
        self.version = call.version
        self.app = call.app

    def level(self) -> CommandLevel:
        """Return the root as the scanner sees it."""
        return CommandLevel(self._root, self.name())

    def metadata(self) -> Metadata | None:
        """Return what was declared about the tool itself."""
        return self._enabled.metadata_at(self._root, ())

    def tree(self) -> Command:
        """Walk the whole tool, as it is after the options that stood before ``describe``."""
        level, invocation = self.level(), current()
        before = invocation.call.before if invocation is not None else []
        if before and finds_by_itself(self._root):
            level.inform(before)  # which runs callbacks and functions that give defaults
        return self.command(level)

    def help(self) -> str:
        """Return the help text of the tool."""
        return f"{self._root.get_help(self.level().context)}\n"

    def prepare(self, path: tuple[str, ...]) -> None:
        """Have the parameters along *path* made that a typer makes when it first parses them."""
        command: Any = self._root
        for name in (*path, ""):
            for param in getattr(command, "params", ()):
                getattr(param, "get_runtime_param", bool)()
            command = getattr(command, "commands", {}).get(name)

    def unguardable(self) -> list[str]:
        """Return the groups that run commands where the guard cannot follow them."""
        from .guard import unguardable

        return list(unguardable(self._root))

    def secret_options(self, level: Any) -> Options:
        """Return the options of a command, and which of them have secrets for values."""
        from .supplied import secret_options

        metadata = self._enabled.metadata_at(level.command, level.path)
        notes = metadata.flag_annotations if metadata is not None else {}
        return secret_options(level.command, notes)

    def parameters(self, level: Any) -> Parameters:
        """Return the options and arguments of a command by their names."""
        facts = self._enabled.metadata_at(level.command, level.path)
        return parameters_of(level.command, facts)

    def command(self, level: Any, *, deep: bool = True) -> Command:
        """Walk the command that *level* stands for."""
        from .tree import walk

        path = (self.name(), *level.path)
        with EarlyPrints():
            found = walk(level, path, self._enabled.metadata_at, deep=deep)
        let_out(sys.stderr)
        return found

    def options(self, command: Any) -> list[str]:
        """Return the options of *command*, ``None`` for no command."""
        params = command.params if command is not None else ()
        return [name for param in params for name in param.opts]

    def switches(self, command: Any) -> list[str]:
        """Return those of its options that take no value."""
        params = command.params if command is not None else ()
        return [name for param in params if is_switch(param) for name in names_of_option(param)]

    def values(self, parsed: Any) -> dict[str, Any]:
        """Return the values of all parameters, wherever they come from, in a context."""
        return values_in(parsed)


def parameters_of(command: Any, metadata: Metadata | None = None) -> Parameters:
    """Return the options and arguments of *command* by their names."""
    from ...call.misnamed import Parameters
    from .values import names_of

    options = [param for param in command.params if param.param_type_name == "option"]
    arguments = [param for param in command.params if param.param_type_name == "argument"]
    return Parameters(
        metadata,
        [(f"--{names_of(param)[0]}", *param.opts, *param.secondary_opts) for param in options],
        [str(param.name) for param in arguments],
    )


def values_in(ctx: Any) -> dict[str, Any]:
    """Return the values of all parameters on the way to the command of *ctx*, by their places.

    Paths that are given as text are paths here, to distinguish them from other text.
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
