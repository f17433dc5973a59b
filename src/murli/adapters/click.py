"""click: a command or group that was enabled runs for both audiences."""

from __future__ import annotations

from .clicklike import Enabled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..runtime.settings import Settings

_ENABLED = "_murli_enabled"


def enable(command: Any, settings: Settings, caller: str) -> None:
    """Make *command*, a ``click.Command`` or ``click.Group``, agent-native."""
    if _ENABLED in command.__dict__:
        return
    enabled = Enabled(settings, caller)
    own_main = command.main

    def main(*args: Any, **named: Any) -> Any:
        return enabled.main(command, own_main, *args, **named)

    setattr(command, _ENABLED, enabled)
    setattr(command, "main", main)
