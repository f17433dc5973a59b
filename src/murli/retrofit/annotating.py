"""What a sidecar declares, on the commands of an app whose author has declared nothing."""

from __future__ import annotations

import sys

from ..core import metadata_of
from ..declare import annotate as declare
from .sidecars import Invalid, load
from .watching import WITHIN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any


def annotate(app: Any, place: str) -> dict[str, Any]:
    """Declare what the sidecar at *place* says of each command; return options for `enable`.

    One that makes no sense is reported, and the tool runs without it.
    """
    try:
        sidecar = load(*place.split(WITHIN))
        for path, command in _commands_below(app):
            found = sidecar.metadata(path)
            if found is not None and metadata_of(command) is None:
                declare(command, found)
        chosen: dict[str, Any] = {"exit_codes": sidecar.exit_codes()}
    except Invalid as wrong:
        print(f"murli: {wrong}", file=sys.stderr)
        return {}
    return chosen


def _commands_below(app: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the commands of an app that are loaded, with their names below the tool's own."""
    if hasattr(app, "assemble_argument_collection"):  # of cyclopts
        if app.default_command is not None:
            yield path, app.default_command
        for name in app:
            if name[:1] != "-":
                yield from _commands_below(app[name], (*path, name))
        return
    if not hasattr(app, "registered_commands"):
        yield path, app
    below = dict(getattr(app, "commands", None) or {})
    for each in getattr(app, "registered_commands", ()):  # a Typer
        name = each.name or each.callback.__name__.replace("_", "-")
        yield (*path, name), each.callback
    for each in getattr(app, "registered_groups", ()):
        below[each.name or each.typer_instance.info.name or ""] = each.typer_instance
    for action in getattr(app, "_actions", ()):
        if isinstance(getattr(action, "choices", None), dict):
            below.update(action.choices)
    for name, command in below.items():
        yield from _commands_below(command, (*path, name))
