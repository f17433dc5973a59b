"""Adds the one line of murli to a tool whose source is not touched.

Every environment of the tools imports this module when a process starts whose variables ask for
it (see ``environments.py``), so the console script, ``python -m`` and the tool's own tests all run
as they were installed. Nothing outlives the process.

* ``ENABLE_APP``: ``module:attribute`` of an app or a parser. A class stands for the first of its
  instances that is called with the program's own words, ``function()`` for what it returns, and a
  function for a program that dispatches by hand.
* ``ENABLE_NAME``, ``ENABLE_AGENTS``: what `murli.enable` is called with.
* ``ENABLE_EVERY``: a package; every parser that one of its modules calls is enabled then, whatever
  words it is given. For tests, which call a tool many times in one process.
* ``ENABLE_ANNOTATED``: if set, every command is annotated as an author would do it.
* ``ENABLE_TALLY``: a file that gets a line for everything that was enabled.
"""

from __future__ import annotations

import argparse
import functools
import importlib
import importlib.util
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any

_CALLED = ("parse_args", "parse_known_args", "__call__")


def enable(app: Any) -> None:
    """Make *app* speak to agents, as the variables ask for."""
    import murli

    agents: Any = os.environ["ENABLE_AGENTS"]
    murli.enable(app, name=os.environ["ENABLE_NAME"], agents=agents)
    if "ENABLE_ANNOTATED" in os.environ:
        for path, command in _commands_below(app):
            murli.annotate(command, _annotation(path))
    if "ENABLE_TALLY" in os.environ:
        with open(os.environ["ENABLE_TALLY"], "a") as tally:
            print(type(app).__name__, file=tally)


def _commands_below(app: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the commands of an app with their paths: what there is to be annotated."""
    if hasattr(app, "registered_commands"):  # a Typer
        for each in app.registered_commands:
            yield (*path, each.name or each.callback.__name__.replace("_", "-")), each.callback
        below = {each.name or "": each.typer_instance for each in app.registered_groups}
    else:
        below = dict(getattr(app, "commands", {}))
        for action in getattr(app, "_actions", ()):
            if isinstance(action, argparse._SubParsersAction):
                below.update(action.choices)
        if not below:
            yield path, app
    for name, each in below.items():
        yield from _commands_below(each, (*path, name))


def _annotation(path: tuple[str, ...]) -> Any:
    import murli
    from murli.declare.safety import inferred_danger

    call = " ".join((os.environ["ENABLE_NAME"], *path))
    danger: Any = inferred_danger(path) or "safe"
    return murli.Metadata(
        when_to_use=f"Use it when you have to {' '.join(reversed(path))} something.",
        danger_level=danger,
        idempotent=danger == "safe",
        returns=murli.ReturnSchema(shape={"name": "string", "count": "int"}),
        examples=[murli.Example(f"{call} --verbose", "With every detail")],
    )


def when_loaded(place: str, act: Callable[[Any, str], None]) -> None:
    """Call *act* with the module and the attribute in *place*, as soon as the module is loaded."""
    module, _, name = place.partition(":")
    if module in sys.modules:
        act(sys.modules[module], name)
    else:
        sys.meta_path.insert(0, _Finder(module, lambda loaded: act(loaded, name)))


class _Finder:
    """Finds one module, once, and has *act* called with it when it is complete."""

    def __init__(self, wanted: str, act: Callable[[Any], None]) -> None:
        self.wanted = wanted
        self.act = act

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name != self.wanted:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            run = spec.loader.exec_module

            def run_and_act(module: Any) -> None:
                run(module)
                self.act(module)

            setattr(spec.loader, "exec_module", run_and_act)
        return spec


def watch(kind: type, act: Callable[[Any], None], package: str = "") -> None:
    """Call *act* with the instance of *kind* that is called with the program's own words.

    With *package* instead with every instance that a module of that package calls.
    """
    own = {name: vars(kind)[name] for name in _CALLED if name in vars(kind)}

    def stand_in(name: str) -> Callable[..., Any]:
        method = own[name]

        @functools.wraps(method)
        def call(self: Any, *args: Any, **named: Any) -> Any:
            if package:
                caller = sys._getframe(1).f_globals.get("__name__", "")
                is_meant = caller.partition(".")[0] == package and name not in vars(self)
            else:
                words = args[0] if args else named.get("args")
                is_meant = words in (None, sys.argv[1:]) and not _only_looks(kind, self)
            if not is_meant:
                return method(self, *args, **named)
            if not package:
                for each, before in own.items():
                    setattr(kind, each, before)
            act(self)
            return getattr(self, name)(*args, **named)

        return call

    for name in own:
        setattr(kind, name, stand_in(name))


def _only_looks(kind: type, called: Any) -> bool:
    """Return whether *called* is a parser that only looks for what the real one needs.

    It has no help text. A tool with a kind of parser of its own has one of that kind.
    """
    return kind is argparse.ArgumentParser and "--help" not in called._option_string_actions


def find(module: Any, name: str, act: Callable[[Any], None], package: str = "") -> None:
    """Call *act* with the app that *name* of *module* is, or once there is one."""
    found = getattr(module, name.removesuffix("()"))
    if name.endswith("()"):

        @functools.wraps(found)
        def make(*args: Any, **named: Any) -> Any:
            made = found(*args, **named)
            act(made)
            return made

        setattr(module, found.__name__, make)
    elif isinstance(found, type):
        watch(found, act, package)
    else:
        act(found)


def _take_on(module: Any, name: str) -> None:
    found = getattr(module, name, None)
    if found is not None and hasattr(found, "__code__"):
        setattr(module, name, _as_program(found))
    else:
        find(module, name, enable, os.environ.get("ENABLE_EVERY", ""))


def _as_program(main: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(main)
    def run(*args: Any, **named: Any) -> Any:
        murli = importlib.import_module("murli")
        with murli.program(os.environ["ENABLE_NAME"], agents=os.environ["ENABLE_AGENTS"]):
            return main(*args, **named)

    return run


if "ENABLE_APP" in os.environ:
    when_loaded(os.environ["ENABLE_APP"], _take_on)
