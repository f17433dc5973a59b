"""Our own flags, checked before the framework sees the rest."""

from __future__ import annotations

import os

from ..writer import VALID_OUTPUT_FORMATS, VALID_PROTOCOL_VERSIONS
from .argv import said
from .usage import exclusive, invalid_setting, unknown_option

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..writer import Writer
    from .invocation import Invocation


# The flags that choose a part of an answer, which a person has no use for.
PARTS = frozenset(
    ("--limit", "--cursor", "--fields", "--etag", "--max-bytes", "--stream", "--no-stream")
)
# Mounted commands whose answers have no parts.
_WHOLE = ("describe", "profile", "doctor")


def leave_to_the_tool(invocation: Invocation) -> None:
    """For a person, read the command line as if flags that only agents use were none of ours."""
    useless = useless_for_people(invocation.writer)
    if any(name in useless for name, _, _ in invocation.call.taken):
        from .calls import scan_again

        invocation.call = scan_again(invocation, invocation.argv, useless)


def useless_for_people(writer: Writer) -> frozenset[str]:
    """Return the flags that mean nothing to a person who reads what *writer* writes."""
    # Who asked for text may ask for a part of it.
    useless = frozenset() if writer.format() == "text" else PARTS
    if writer.contract == "murli":
        return useless
    from .family import FOR_AGENTS

    return useless | FOR_AGENTS


def heed(invocation: Invocation, redirects: Any) -> bool:
    """Do what the command line says to us; may answer and end the program.

    *redirects* are those of which the call may be one. False when the invocation has become that
    of another call.
    """
    call = invocation.call
    if invocation.writer.contract != "murli":
        from .family import take_secrets

        take_secrets(invocation)
    if redirects:
        from .redirects import follow

        follow(invocation, redirects)
    asks_schema = call.schema or "output_schema" in call.extra
    if asks_schema or call.mounted:
        from .succession import stand_aside

        stand_aside(invocation)
    if asks_schema:
        from ..commands.describe import show_schema

        show_schema(invocation)
    check(invocation)
    if call.mounted:
        from ..commands import run_mounted

        run_mounted(invocation)
        return False
    if call.extra:
        from .family import take_in

        take_in(invocation)
    return True


def check(invocation: Invocation) -> None:
    """Refuse flags of ours that make no sense, and act on the others."""
    call = invocation.call
    if call.mistake is not None:
        invocation.refuse(call.mistake)
    if invocation.writer.contract != "murli":
        from .family import check_format

        check_format(invocation)
    for name, value, accepted in (
        ("protocol-version", call.protocol_version, VALID_PROTOCOL_VERSIONS),
        ("output", call.output, VALID_OUTPUT_FORMATS),
    ):
        if value is not None and value not in accepted:
            invocation.refuse(invalid_setting(name, value, accepted))
    loudness = [name for name in ("quiet", "verbose", "debug") if said(call, name)]
    if len(loudness) > 1:
        invocation.refuse(exclusive(f"--{loudness[0]}", f"--{loudness[1]}"))
    timeout = call.timeout or os.environ.get("MURLI_TIMEOUT")
    if not timeout and invocation.in_family:
        from .family import timeout_of_tool

        timeout = timeout_of_tool(invocation)
    if timeout:
        from .deadline import allow, seconds_in

        seconds = seconds_in(timeout)
        if seconds is None:
            invocation.refuse(invalid_setting("timeout", timeout, ("30", "500ms", "2m")))
        invocation.timed = True
        allow(invocation, seconds)
    if call.profile is not None and not call.mounted:
        # Running without the values the caller asked for would be worse than not running.
        _ = invocation.saved
    given = [name for name, _, _ in call.taken if name in PARTS]
    if call.mounted in _WHOLE and given:
        invocation.refuse(unknown_option(given[0], ()))
    if not call.mounted and (invocation.in_family or given or invocation.capped):
        from .asking import prepare

        prepare(invocation)
