"""typer: an app that was enabled builds agent-native commands.

A Typer makes its command anew on every call, from classes its author may choose. So the choice
is where we come in: the class of the root, and of the command of a one-command app, is a
subclass of what it would have been.
"""

from __future__ import annotations

from ..metadata import metadata_of
from .clicklike import Enabled, declared

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..metadata import Metadata
    from ..runtime.settings import Settings

_ENABLED = "_murli_enabled"


def enable(app: Any, settings: Settings, caller: str) -> None:
    """Make *app*, a ``typer.Typer``, agent-native."""
    if _ENABLED in app.__dict__:
        return
    enabled = Enabled(settings, caller, _MetadataOf(app))
    setattr(app, _ENABLED, enabled)
    core = __import__("typer.core", None, None, ["TyperGroup"])
    chosen = app.info.cls
    group = chosen if isinstance(chosen, type) else core.TyperGroup
    app.info.cls = _agent_native(group, enabled)
    app.registered_commands = _Commands(app.registered_commands, enabled, core.TyperCommand)


class _Commands(list["Any"]):
    """The commands of an app; each is prepared for being the only one, and so the root."""

    def __init__(self, infos: list[Any], enabled: Enabled, default: type) -> None:
        super().__init__()
        self._enabled = enabled
        self._default = default
        for info in infos:
            self.append(info)

    def append(self, info: Any) -> None:
        info.cls = _agent_native(info.cls or self._default, self._enabled)
        super().append(info)


def _agent_native(kind: Any, enabled: Enabled) -> Any:
    """Give a subclass of *kind*, a command class, whose ``main`` is ours."""

    def main(self: Any, *args: Any, **named: Any) -> Any:
        return enabled.main(self, super(native, self).main, *args, **named)

    # The name is kept: it shows in messages, and somebody may look for it.
    native: Any = type(kind.__name__, (kind,), {"main": main, "__module__": kind.__module__})
    return native


class _MetadataOf:
    """Looks up what an author declared: on a function, on an app, or on a sub-app."""

    def __init__(self, app: Any) -> None:
        self._app = app

    def __call__(self, command: Any, path: tuple[str, ...]) -> Metadata | None:
        own, below = declared(command), self._of_app(path)
        if own is None or below is None:
            return own or below
        return below.merged_with(own)

    def _of_app(self, path: tuple[str, ...]) -> Metadata | None:
        app = self._app
        for name in path:
            app = next(
                (
                    info.typer_instance
                    for info in getattr(app, "registered_groups", ())
                    if name in (info.name, getattr(info.typer_instance.info, "name", None))
                ),
                None,
            )
            if app is None:
                return None
        return metadata_of(app)
