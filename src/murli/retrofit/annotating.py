"""What a sidecar declares, on the commands of an app whose author has declared nothing."""

from __future__ import annotations

import sys

from ..core import metadata_of
from ..declare import FlagAnnotation, spelled_name
from ..declare import annotate as declare
from .declared import Declaration
from .sidecars import Invalid, load
from .watching import WITHIN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from .sidecars import Sidecar


def annotate(app: Any, place: str) -> Sidecar | None:
    """Declare what the sidecar at *place* says of each command; return it.

    One that makes no sense is reported, and the tool runs without it.
    """
    try:
        sidecar = load(*place.split(WITHIN))
        is_typer = hasattr(app, "registered_commands")
        for path, command in _commands_below(app):
            if metadata_of(command) is None:
                _declare(command, path, sidecar, is_typer)
    except Invalid as wrong:
        print(f"murli: {wrong}", file=sys.stderr)
        return None
    return sidecar


def _declare(command: Any, path: tuple[str, ...], sidecar: Sidecar, is_typer: bool) -> None:
    """Declare what the sidecar says of one command; of its options only those that it has."""
    secret = sidecar.sensitive_at(path)
    found = sidecar.metadata(path, notes=False)
    if secret:
        notes = {}
        for spellings, dest in _options_of(command, is_typer):
            if not secret.isdisjoint(spellings):
                notes[spelled_name(spellings, dest)[0]] = FlagAnnotation(sensitive=True)
        if notes or found is not None:
            found = (found or Declaration()).replace(flag_annotations=notes)
    if found is not None:
        declare(command, found)


def _options_of(command: Any, is_typer: bool) -> Iterator[tuple[list[str], str]]:
    """Yield how each option of a command can be written, and the name of its value."""
    for action in getattr(command, "_actions", ()):
        if action.option_strings:
            yield list(action.option_strings), action.dest
    for param in getattr(command, "params", ()):
        if param.param_type_name == "option":
            yield [*param.opts, *param.secondary_opts], param.name or ""
    if callable(command) and not hasattr(command, "params"):  # a function of typer or cyclopts
        from inspect import signature

        try:
            found_parameters = signature(command, eval_str=True).parameters
        except (NameError, TypeError, ValueError):  # names that only type checkers know
            found_parameters = signature(command).parameters
        for name, parameter in found_parameters.items():
            found = [parameter.default, *getattr(parameter.annotation, "__metadata__", ())]
            kinds = {type(each).__name__ for each in found}
            is_place = "ArgumentInfo" in kinds or parameter.default is parameter.empty
            if is_typer and is_place and "OptionInfo" not in kinds:
                continue
            written = [word for each in found for word in getattr(each, "param_decls", None) or ()]
            spelled = [word for word in written if word[:1] == "-"]
            yield spelled or [f"--{name.replace('_', '-')}"], name


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
