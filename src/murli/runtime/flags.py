"""Our own flags, checked before the framework sees the rest."""

from __future__ import annotations

import os

from ..writer import VALID_OUTPUT_FORMATS, VALID_PROTOCOL_VERSIONS
from .usage import invalid_setting

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .invocation import Invocation


def check(invocation: Invocation) -> None:
    """Refuse flags of ours that make no sense, and act on the others."""
    call = invocation.call
    if call.mistake is not None:
        invocation.refuse(call.mistake)
    for name, value, accepted in (
        ("protocol-version", call.protocol_version, VALID_PROTOCOL_VERSIONS),
        ("output", call.output, VALID_OUTPUT_FORMATS),
    ):
        if value is not None and value not in accepted:
            invocation.refuse(invalid_setting(name, value, accepted))
    timeout = call.timeout or os.environ.get("MURLI_TIMEOUT")
    if timeout:
        from .deadline import seconds_in

        seconds = seconds_in(timeout)
        if seconds is None:
            invocation.refuse(invalid_setting("timeout", timeout, ("30", "500ms", "2m")))
        invocation.allow(seconds)
    if call.profile is not None and not call.mounted:
        # Running without the values the caller asked for would be worse than not running.
        _ = invocation.saved
