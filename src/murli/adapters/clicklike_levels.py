"""What the scanner and the guard must know about a click-like command."""

from __future__ import annotations

from ..runtime import program_name
from ..runtime.invocation import current
from .clicklike import is_group

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ..metadata import Metadata
    from ..runtime.misnamed import Parameters
    from ..runtime.option_words import Options
    from ..tree import Command
    from .clicklike import Call


def resolved(group: Any, context: Any, name: str) -> Any:
    """Give the command *name* as the group gives it to be run: some load it only then."""
    found = group.get_command(context, name)
    if found is None:
        return None
    try:
        return group.resolve_command(context, [name])[1] or found
    except Exception:  # a group that finds commands in a way of its own
        return found


class CommandLevel:
    """One command as the scanner sees it; *path* is how it was reached."""

    __slots__ = ("command", "context", "parent", "path")
    context: Any

    def __init__(
        self,
        command: Any,
        name: str,
        path: tuple[str, ...] = (),
        parent: CommandLevel | None = None,
    ) -> None:
        self.command = command
        self.path = path
        self.parent = parent
        settings = dict(getattr(command, "context_settings", None) or {})
        above = parent.context if parent else None
        # A context without a parse: enough to ask a group for its commands.
        kind = getattr(command, "context_class", None) or _context_class(command)
        self.context = kind(command, info_name=name, parent=above, **settings)

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
        """Tell whether the command has a command of that name; some answer to every name."""
        return word in self.names()

    def names(self) -> list[str]:
        """Return the names of the commands below."""
        if not is_group(self.command):
            return []
        try:
            return list(self.command.list_commands(self.context))
        except Exception:  # the tool's own code; it will be reported when it is called
            return []

    def owns(self, option: str) -> bool:
        """Tell whether *option* is the command's own."""
        return self._param(option) is not None

    def abbreviates(self, option: str, with_value: bool) -> bool:
        """Tell that nothing is abbreviated here."""
        return False

    def width(self, option: str) -> tuple[int, int]:
        """Give how many values *option* takes, at least and at most."""
        param = self._param(option) or self._last_of_cluster(option)
        if param is None or is_switch(param):
            return 0, 0
        if getattr(param, "_flag_needs_value", False):
            return 0, 1
        return param.nargs, param.nargs

    def negates(self, option: str) -> bool:
        """Tell whether *option* is the spelling that turns a switch off."""
        param = self._param(option)
        return param is not None and option in param.secondary_opts

    def without_value(self, option: str) -> str | None:
        """Give *option* with the value it has when none is given."""
        value = getattr(self._param(option), "flag_value", None)
        return f"{option}={value}" if isinstance(value, (str, int)) else None

    def named(self, option: str) -> str:
        """Give the long name of the option that *option* stands for, or ``""``."""
        param = self._param(option) or self._last_of_cluster(option)
        longs = [name for name in param.opts if name.startswith("--")] if param else []
        return longs[0] if longs else option if param else ""

    def child(
        self, word: str, words_before: int, before: Sequence[str] = ()
    ) -> CommandLevel | None:
        """Give the command that *word* names."""
        group: CommandLevel | None = self
        if not is_group(self.command):
            # In a chain the next command follows the arguments of the one before.
            group = self.parent if self.parent and _is_chain(self.parent.command) else None
        if group is None or (words_before and group is self):
            return None
        found = group._find(word)
        if found is None and before and group.parent is None:
            group.inform(before)
            found = group._find(word)
        return None if found is None else CommandLevel(found, word, (*group.path, word), group)

    def passes_on(self, words_before: int) -> bool:
        """Tell whether options behind the first word are words as well."""
        interspersed = getattr(self.context, "allow_interspersed_args", True)
        return (
            words_before > 0 and not is_group(self.command) and (self.forwards or not interspersed)
        )

    def inform(self, before: Sequence[str]) -> None:
        """Let the root know what was said to it: some find their commands by that."""
        make = type(self.command).make_context
        try:
            self.context = make(
                self.command, self.context.info_name, list(before), resilient_parsing=True
            )
        except Exception:  # as above
            pass

    def _find(self, word: str) -> Any:
        names = dict.fromkeys((word, self._normalise(word)))
        try:
            for name in names:
                found = resolved(self.command, self.context, name)
                if found is not None:
                    return found
        except Exception:  # as above
            pass
        return None

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


def _looks_itself(group: Any) -> bool:
    """Return whether a group finds its commands in a way of its own, by its options say."""
    own = [getattr(type(group), name, None) for name in ("list_commands", "get_command")]
    homes = {str(getattr(each, "__module__", "")).partition(".")[0] for each in own}
    return not homes <= {"click", "typer", "rich_click", "asyncclick", "murli"}


def _is_chain(command: Any) -> bool:
    return bool(getattr(command, "chain", False))


def _context_class(command: Any) -> Any:
    """Find the context class in the module that made *command*'s class."""
    import sys

    for base in type(command).__mro__:
        found = getattr(sys.modules.get(base.__module__), "Context", None)
        if found is not None:
            return found
    raise TypeError(f"{type(command).__name__} is no command murli knows")


class ClickHost:
    """What the runtime asks about a tool beyond what every call needs; see `runtime.host`."""

    def __init__(self, call: Call) -> None:
        self._call = call
        self._root = call.root
        self._enabled = call.enabled
        self.version = call.version
        self.app = call.app

    def name(self) -> str:
        """Return the name people type to call the tool."""
        given = self._enabled.settings.name or self._call.named.get("prog_name") or ""
        if given:
            return str(given).rpartition(" ")[2]
        program = program_name()
        return str(self._root.name or "cli") if program in ("-c", "") else program

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
        if before and _looks_itself(self._root):
            level.inform(before)  # which runs callbacks and functions that give defaults
        return self.command(level)

    def help(self) -> str:
        """Return the help text of the tool."""
        return f"{self._root.get_help(self.level().context)}\n"

    def unguardable(self) -> list[str]:
        """Return the groups that run commands where the guard cannot follow them."""
        from .clicklike_guard import unguardable

        return list(unguardable(self._root))

    def secret_options(self, level: Any) -> Options:
        """Return the options of a command, and which of them have secrets for values."""
        from .clicklike_values import secret_options

        metadata = self._enabled.metadata_at(level.command, level.path)
        notes = metadata.flag_annotations if metadata is not None else {}
        return secret_options(level.command, notes)

    def parameters(self, level: Any) -> Parameters:
        """Return the options and arguments of a command by their names."""
        from .clicklike_values import parameters_of

        facts = self._enabled.metadata_at(level.command, level.path)
        return parameters_of(level.command, facts)

    def command(self, level: Any) -> Command:
        """Walk the command that *level* stands for."""
        from .clicklike_tree import walk

        return walk(level, (self.name(), *level.path), self._enabled.metadata_at)

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
        from .clicklike_values import values_in

        return values_in(parsed)


def names_of_option(param: Any) -> tuple[str, ...]:
    """Return all spellings of an option, also those that turn it off."""
    return (*param.opts, *param.secondary_opts)


def is_switch(param: Any) -> bool:
    """Return whether an option takes no value."""
    return bool(getattr(param, "is_flag", False) or getattr(param, "count", False))
