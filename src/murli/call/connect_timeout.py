"""How long a command that talks to the network waits for a connection."""

from __future__ import annotations

from ..line.usage import invalid_setting
from ..process.deadline import seconds_in
from ..process.process_guard import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..declare.traits import Traits
    from . import Invocation


def limit(invocation: Invocation, traits: Traits) -> None:
    """Let no connection of the running command take longer than its caller or author says."""
    value = invocation.call.extra.get("connect_timeout")
    seconds = traits.connect_timeout or 0.0
    if value is not None:
        given = seconds_in(value)
        if given is None:
            invocation.refuse(invalid_setting("connect-timeout", value, ("5", "500ms")))
        seconds = given
    if value is not None or seconds:
        invocation.meta["connect_timeout_ms"] = int(seconds * 1000)
    if seconds:
        _bound(invocation, seconds)


def _bound(invocation: Invocation, seconds: float) -> None:
    # Every client connects through this one method, which is Python's own.
    import socket

    own = socket.socket.connect

    def connect(self: socket.socket, address: Any, /) -> Any:
        waits = self.gettimeout()
        if waits == 0.0:  # somebody else does the waiting
            return own(self, address)
        self.settimeout(seconds if waits is None else min(waits, seconds))
        try:
            return own(self, address)
        finally:
            self.settimeout(waits)

    invocation.undo.append(replace(socket.socket, "connect", connect))
