"""Contexts of click-like commands that know nothing yet, and notice who depends on more.

Some groups find their commands by what was parsed: the values of their parameters, an object that
a callback left. Asked before the framework parses, such a group may find another command than it
will run, or do its work twice. So it is asked with a context that ends the question as soon as it
depends on a parse.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

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


class Unparsed(BaseException):
    """A group has asked for what is known only when the command line is parsed."""


def kind_for(kind: type) -> type:
    """Return a subclass of the context class *kind* that can be closed, see `close`."""
    if kind not in _kinds:
        properties = {name: _guarded(name) for name in _PARSED}
        _kinds[kind] = type(kind.__name__, (kind,), properties)
    return _kinds[kind]


def close(context: Any) -> list[str]:
    """Let *context* and those above it raise `Unparsed` when they are asked what was parsed.

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
        return False  # it is no group
    return any(is_its_own(group, name) for name in ("get_command", "resolve_command", *more))


def is_its_own(group: Any, method: str) -> bool:
    """Return whether the class of *group* has a *method* that is no framework's."""
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
            raise Unparsed(name)
        try:
            return context.__dict__[name]
        except KeyError:
            raise AttributeError(name) from None

    def put(context: Any, value: Any) -> None:
        context.__dict__[name] = value

    return property(get, put)
