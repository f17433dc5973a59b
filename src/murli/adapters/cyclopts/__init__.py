"""cyclopts: an app that was enabled answers to both audiences.

An App has slots and is called itself, so its class is what is hooked: that of this one app becomes
a subclass without slots of its own. To the call it is a program whose commands are known.
"""

from __future__ import annotations

import itertools
import sys

from ...core import Settings, current, metadata_of, version_of
from ...declare.tree import Argument, Command, Flag, with_own_names
from ..node_levels import NodeLevel
from ..program import Program

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from ...call import Invocation
    from ...call.misnamed import Parameters
    from ...declare import Metadata
    from ...errors import AgentError
    from ...line.option_words import Options

_ENABLED = "_murli_enabled"
# Errors of cyclopts about the words of a command; the others are about its options.
_OF_COMMANDS = (
    *("UnknownCommandError", "InvalidCommandError"),
    *("MissingArgumentError", "UnusedCliTokensError"),
)


def enable(app: Any, settings: Settings, caller: str) -> None:
    """Make *app*, a ``cyclopts.App``, agent-native."""
    kind = type(app)
    if _ENABLED in kind.__dict__:
        return
    enabled = Enabled(app, caller)
    enabled.murli_settings = Settings(**vars(settings), is_program=True)
    own = kind.__call__

    def call(self: Any, *args: Any, **named: Any) -> Any:
        if self is not app:  # one that was made from it
            return own(self, *args, **named)
        return enabled.call(own, args, named)

    body = {"__call__": call, "__slots__": (), "__module__": kind.__module__, _ENABLED: enabled}
    app.__class__ = _AsBefore(kind.__name__, (kind,), body)


class _AsBefore(type):
    """The class of a class whose instances look like any others of the class below it.

    cyclopts asks whether one app is of the class of another.
    """

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, cls.__mro__[1])


class Enabled(Program):
    """An app and what was chosen for it."""

    def __init__(self, app: Any, caller: str) -> None:
        super().__init__({}, "", caller)
        self.root = app

    def call(self, own: Callable[..., Any], args: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """Stand in for the app's own call."""
        words = args[0] if args else named.pop("tokens", None)
        is_own = words is None or (not isinstance(words, str) and list(words) == sys.argv[1:])
        if not is_own or current() is not None:
            return own(self.root, words, **named)
        with self:
            invocation = current()
            if invocation is None or invocation.is_for_people:
                return own(self.root, sys.argv[1:], **named)
            return self._answered(invocation, own, named)

    def _answered(
        self, invocation: Invocation, own: Callable[..., Any], named: dict[str, Any]
    ) -> Any:
        words = sys.argv[1:]
        explains = {*self.root.help_flags, *self.root.version_flags}
        invocation.running.explained = not explains.isdisjoint(words)
        chosen: dict[str, Any] = {"print_error": False, "exit_on_error": False, **named}
        takes_action = "result_action" in own.__code__.co_varnames
        is_default = takes_action and getattr(self.root, "result_action", None) is None
        if is_default:
            chosen.setdefault("result_action", "return_value")
        errors: Any = __import__("cyclopts").CycloptsError
        try:
            returned = own(self.root, words, **chosen)
        except errors as error:
            invocation.refuse(_refused(error))
        if not takes_action:  # before version 4 the program goes on
            invocation.running.returned = returned
        if not is_default:
            return returned
        if isinstance(returned, int) and not isinstance(returned, bool):
            sys.exit(returned)  # as an app does by itself
        invocation.running.returned = returned
        sys.exit(0)

    # -- what is called ---------------------------------------------------------------------------

    def called(self, invocation: Invocation) -> tuple[Metadata | None, tuple[str, ...]]:
        """Return what is declared of the command that is called, and its names.

        Which one that is, the app itself says: a guard trusts no scan of ours.
        """
        chain, *_ = self.root.parse_commands(sys.argv[1:])
        typed = tuple(name for name in chain if name[:1] != "-")
        names = [str(self._app_at(typed[: depth + 1]).name[0]) for depth in range(len(typed))]
        return self._metadata_at(typed), tuple(names)

    def intent(self) -> tuple[bool, bool]:
        """Return whether options of the app's own confirm, and preview."""
        words = sys.argv[1:]
        return any(word in words for word in ("--yes", "--force")), "--dry-run" in words

    def _app_at(self, path: Sequence[str]) -> Any:
        app = self.root
        for name in path:
            app = app[name]
        return app

    def _metadata_at(self, path: Sequence[str]) -> Metadata | None:
        return metadata_of(self._app_at(path).default_command)

    def node(self, path: Sequence[str] = ()) -> dict[str, Any]:
        """Return the options and commands at *path*, as the scanner asks for them."""
        app = self._app_at(path)
        own = [(flag.name, flag.type, _written(flag)) for flag in _flags_of(app)]
        own += [(each, "bool", [each]) for each in (*app.help_flags, *app.version_flags)]
        flags = [{"name": name, "type": kind, "spellings": written} for name, kind, written in own]
        commands = [{"name": each, "aliases": []} for each in _commands_of(app)]
        return {"flags": flags, "commands": commands}

    # -- what the runtime asks --------------------------------------------------------------------

    def name(self) -> str:
        """Return the name people type to call the tool."""
        return self._settings.name or str(self.root.name[0])

    def version(self) -> str:
        """Return the version of the app, else that of the caller's package."""
        version = self.root.version
        return version if isinstance(version, str) else version_of(self.caller)

    def level(self) -> NodeLevel:  # type: ignore[override]
        """Return the root as the scanner sees it."""
        return NodeLevel(self)

    def metadata(self) -> Metadata | None:
        """Return what was declared about the app itself."""
        return self._metadata_at(())

    def tree(self) -> Command:
        """Walk the whole app."""
        return self._described((), deep=True)

    def command(self, level: Any, *, deep: bool = True) -> Command:
        """Walk the command at *level*."""
        return self._described(level.path, deep=deep)

    def help(self) -> str:
        """Return the help text of the app."""
        return f"usage: {self.name()} ...\n\n{self.root.help}\n"

    def _described(self, path: tuple[str, ...], *, deep: bool) -> Command:
        app = self._app_at(path)
        names = _commands_of(app) if deep else []
        below = [self._described((*path, name), deep=True) for name in names]
        function = app.default_command
        return Command(
            (self.name(), *path),
            (app.help or "").strip().partition("\n")[0],
            _arguments_of(app),
            with_own_names(_flags_of(app)),
            below,
            hidden=not app.show,
            metadata=self._metadata_at(path),
            handler=function,
            runs=function is not None,
            has_more_help="\n" in (app.help or "").strip(),
        )

    def secret_options(self, level: Any) -> Options:
        """Return the options of a command, and which of them have secrets for values."""
        from ...declare import flag_key
        from ...line.option_words import Options
        from ...secrets.names import is_secret_name

        found = Options(lambda word: False)
        path = getattr(level, "path", ())
        declared = self._metadata_at(path)
        notes = declared.flag_annotations if declared is not None else {}
        for flag in _flags_of(self._app_at(path)):
            note = notes.get(flag_key(flag.name))
            is_declared = note is not None and note.sensitive
            is_secret = flag.type != "bool" and (is_declared or is_secret_name(f"--{flag.name}"))
            found.add(_written(flag), int(flag.type != "bool"), is_declared if is_secret else None)
        return found

    def parameters(self, level: Any) -> Parameters:
        """Return the options and arguments of a command by their names."""
        from ...call.misnamed import Parameters

        app = self._app_at(getattr(level, "path", ()))
        names = [each.name for each in _arguments_of(app)]
        return Parameters(None, [_written(flag) for flag in _flags_of(app)], names)

    def _take_ours_away(self, invocation: Invocation) -> None:
        super()._take_ours_away(invocation)
        self.secret_options(invocation.call.level or self.level()).hide_in(sys.argv[1:], invocation)


def _refused(error: Any) -> AgentError:
    """Return what *error*, a ``CycloptsError``, means in our words."""
    from ...errors import AgentError

    argument = getattr(error, "argument", None)
    name = str(getattr(argument, "name", "") or "").lstrip("-")
    message, advice = " ".join(str(error).split()), "Check command usage with --schema or --help."
    kind = "command_error" if type(error).__name__ in _OF_COMMANDS else "flag_error"
    return AgentError.user_error(message, advice, error_type=kind, field=name)


def _commands_of(app: Any) -> list[str]:
    return [name for name in app if name[:1] != "-"]


def _parameters_of(app: Any) -> list[Any]:
    if app.default_command is None:
        return []
    return [each for each in app.assemble_argument_collection() if each.show]


def _facts_of(parameter: Any) -> dict[str, Any]:
    count, takes_all = parameter.token_count()
    choices = parameter.get_choices() if hasattr(parameter, "get_choices") else None
    kind = {int: "int", float: "float", bool: "bool"}.get(parameter.hint, "string")
    return {
        "type": f"[]{kind}" if takes_all else kind,
        "required": bool(parameter.required),
        "description": str(parameter.parameter.help or ""),
        "choices": [str(each) for each in choices or ()],
        "values": -1 if takes_all else max(count, 1),
    }


def _is_positional(parameter: Any) -> bool:
    by_name = parameter.index is None or "KEYWORD_ONLY" in str(parameter.field_info.kind)
    return not (by_name and parameter.name.startswith("-"))


def _arguments_of(app: Any) -> list[Argument]:
    found = filter(_is_positional, _parameters_of(app))
    return [Argument(each.name.lstrip("-"), **_facts_of(each)) for each in found]


def _flags_of(app: Any) -> list[Flag]:
    found = []
    for each in itertools.filterfalse(_is_positional, _parameters_of(app)):
        negatives = [*each.negatives]
        names = [name for name in each.names if name not in negatives]
        longs = [name for name in names if name[:2] == "--"] or names
        shorts = [name for name in names if name[:2] != "--"]
        default = each.field_info.default
        is_plain = isinstance(default, (str, int, float, bool))
        found.append(
            Flag(
                longs[0].lstrip("-"),
                **_facts_of(each),
                default=default if is_plain else None,
                short=shorts[0][1:] if shorts and longs[0] not in shorts else "",
                spelling=longs[0] if longs[0][:2] != "--" else "",
                aliases=[*longs[1:], *shorts[1:]],
                negation=negatives[0].lstrip("-") if negatives else "",
            )
        )
    return found


def _written(flag: Flag) -> list[str]:
    """Return every spelling of an option."""
    short = [f"-{flag.short}"] if flag.short else []
    negation = [f"--{flag.negation}"] if flag.negation else []
    return [flag.spelling or f"--{flag.name}", *short, *flag.aliases, *negation]
