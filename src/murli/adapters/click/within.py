"""A tool that is called while a call of this process runs, by its handler or by its program."""

from __future__ import annotations

import sys

from ... import core
from ...call import Invocation
from ...call.ending import answer_stream
from ...core import Settings
from ...outcome import status_of
from ..nested import Inside, enclosing, intent_in, owner, owner_of
from .errors import note_usage_error
from .levels import CommandLevel

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from . import Call


def run_within(call: Call, own_main: Callable[..., Any]) -> Any:
    """Run the tool as a part of the call that runs, in the place of it, or as one of its own."""
    words = call.named.get("args")
    argv = sys.argv[1:] if words is None else list(words)
    above = enclosing()
    if above is None:
        above, stays = owner(argv)
        if above is None or not stays:
            return call.run(own_main, above)
    call.hook()
    if core.declares_changes or above.settings.infers or call.enabled.settings.infers:
        found = intent_in(argv, CommandLevel(call.root, call.host().name()), above)
        if found.force:  # typed for this tool, and on the way to the handler that has called it
            argv, writer = found.rest, above.writer
            writer._intend(force=True, dry_run=writer._dry_run)
    # A command of it is one that a handler calls: the guard stands before its function.
    call.passes = call.is_running = True
    call.standalone = False
    with Inside(above, call):
        try:
            return own_main(**{**call.named, "args": argv})
        except BaseException as end:
            if call.raised is not None:
                status = status_of(end.code) if isinstance(end, SystemExit) else 0
                note_usage_error(above, call.raised, status)
            raise


def succeeding(call: Call, argv: list[str], above: Invocation) -> Invocation:
    """Return the invocation of *call* that takes the place of *above*, which led to it."""
    settings = above.settings if above.settings.is_program else call.enabled.settings
    is_part = owner_of(argv) == "part"
    changes: dict[str, Any] = {}
    if is_part:  # the word that led here is before them
        changes["mount"] = False
    if not settings.tool_version:
        changes["tool_version"] = call.version() or above.request.tool_version()
    settings = Settings(**{**vars(settings), **changes})
    made = Invocation(
        call, settings, argv, answer_stream(), raises=not call.standalone, above=above
    )
    made.request.is_part = is_part
    return made
