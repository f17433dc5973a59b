"""typer: an app that was enabled builds agent-native commands.

A Typer makes its command anew on every call, from classes its author may choose. So the choice
is where we come in: the class of the root, and of the command of a one-command app, is a
subclass of what it would have been.
"""

from __future__ import annotations

from functools import partial

from ..core import metadata_of
from .click import ENABLED, Enabled, declared

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..core import Settings
    from ..declare import Metadata

_CALLBACK = "_murli_callback"


def enable(app: Any, settings: Settings, caller: str) -> None:
    """Make *app*, a ``typer.Typer``, agent-native."""
    if ENABLED in app.__dict__:
        return
    metadata = partial(_metadata_at, app)
    enabled = Enabled(settings, caller, metadata, answers_to_command=True, app=app)
    setattr(app, ENABLED, enabled)
    core = __import__("typer.core", None, None, ["TyperGroup"])
    chosen = app.info.cls
    app.info.cls = _native(chosen if isinstance(chosen, type) else core.TyperGroup, enabled)
    app.registered_commands = _Commands(app.registered_commands)
    app.registered_commands.enabled = enabled
    app.registered_commands.default = core.TyperCommand
    app.__dict__[_CALLBACK] = app.__dict__.pop("registered_callback", None)
    app.__class__ = _watching_callback(type(app), enabled)


class _Commands(list["Any"]):
    """The commands of an app; the first is the root when there is no other."""

    enabled: Enabled
    default: type

    def __getitem__(self, index: Any) -> Any:
        info = super().__getitem__(index)
        if not isinstance(index, slice):
            info.cls = _native(info.cls or self.default, self.enabled)
        return info


def _watching_callback(kind: Any, enabled: Enabled) -> Any:
    """Return a subclass of *kind*, a Typer, whose callback may choose the class of the root too."""

    def get(app: Any) -> Any:
        info = app.__dict__.get(_CALLBACK)
        if isinstance(getattr(info, "cls", None), type):
            info.cls = _native(info.cls, enabled)
        return info

    def set_to(app: Any, info: Any) -> None:
        app.__dict__[_CALLBACK] = info

    body = {"registered_callback": property(get, set_to), "__module__": kind.__module__}
    return type(kind.__name__, (kind,), body)


def _native(kind: Any, enabled: Enabled) -> Any:
    """Return a subclass of *kind*, a command class, whose ``main`` is ours."""
    if kind.__dict__.get("_murli_native") is enabled:
        return kind

    def main(self: Any, *args: Any, **named: Any) -> Any:
        return enabled.main(self, super(native, self).main, *args, **named)

    def complete(self: Any, *args: Any, **named: Any) -> Any:
        return enabled.complete(super(native, self)._main_shell_completion, *args, **named)

    # The name is kept: it shows in messages, and somebody may look for it.
    body = {
        "main": main,
        "_main_shell_completion": complete,
        "_murli_native": enabled,
        "__module__": kind.__module__,
    }
    native: Any = type(kind.__name__, (kind,), body)
    return native


def _metadata_at(app: Any, command: Any, path: tuple[str, ...]) -> Metadata | None:
    """Return what an author declared: on the function of *command*, on *app*, or on a sub-app."""
    own, below = declared(command), _metadata_of_app(app, path)
    if own is None or below is None:
        return own or below
    return below.merged_with(own)


def _metadata_of_app(app: Any, path: tuple[str, ...]) -> Metadata | None:
    for name in path:
        for info in getattr(app, "registered_groups", ()):
            app = info.typer_instance
            if name in (info.name, getattr(app.info, "name", None)):
                break
        else:
            return None
    return metadata_of(app)
