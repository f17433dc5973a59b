"""A tool that is called while a call of this process runs, by its handler or by its program."""

from __future__ import annotations

import sys

from ... import core
from ...answer.streaming import take
from ...call import Invocation
from ...call.ending import answer_stream
from ...core import Settings
from ...failures.exceptions import as_agent_error
from ...line.scanning import scan
from ...line.usage_line import MOST_BYTES, usage_line
from ...outcome import Refusal
from ...process.stdin import is_abort
from ..nested import Inside, enclosing, intent_in, owner, owner_of
from .errors import note_usage_error, translate
from .levels import CommandLevel

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from . import Call


def run_within(call: Call, own_main: Callable[..., Any]) -> Any:
    """Run the tool as a part of the call that runs, in the place of it, or as one of its own."""
    argv = _words_of(call)
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
    call.above = above if call.standalone else None
    call.standalone = False
    above.running.refusal = None  # what was wrong with a call before this one has been dealt with
    with Inside(above, call):
        try:
            return own_main(**{**call.named, "args": argv})
        except SystemExit as end:
            if call.above is not None and not end.code and call.returned is not None:
                _keep_returned(above, call.returned)
            raise
        except BaseException as error:
            note_usage_error(above, error)
            raise


def end_inside(call: Call, above: Invocation, error: BaseException) -> None:
    """End a tool inside as its framework would, but with nothing shown beside the answer.

    What its framework does not show is left to it.
    """
    names = {base.__name__ for base in type(error).__mro__}
    if "Abort" in names and is_abort(error):
        status = 1
    elif "ClickException" in names and hasattr(error, "exit_code"):
        status = error.exit_code
    else:
        return
    failure = as_agent_error(translate(error, above))
    above.running.refusal = Refusal(failure, status, usage=_usage(above, _words_of(call)))
    raise SystemExit(status) from error


def _words_of(call: Call) -> list[str]:
    words = call.named.get("args")
    return sys.argv[1:] if words is None else list(words)


def _usage(above: Invocation, words: list[str]) -> str:
    """Return how the command inside is called that *words* name, ``""`` where that fails."""
    try:
        level = scan(words, above.host.level(), thorough=True).level
        return usage_line(above.host.command(level, deep=False), MOST_BYTES)
    except (Exception, SystemExit):  # code of the tool's own, asked for its parameters
        return ""


def _keep_returned(above: Invocation, returned: Any) -> None:
    """Have *above* answer with what the handler of a tool inside has *returned*.

    With that of the first, unless its own handler returns something; others are printed.
    """
    if above.running.returned is None:
        above.running.returned = take(above.writer, returned)
        return
    from ...formats.people import readable, show

    value = readable(returned)
    if value is not None and not isinstance(value, (int, float)):
        show(above.writer._outlet.scrubbed_value(value), sys.stdout)


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
