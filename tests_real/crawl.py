"""Asks a tool about all of its commands, inside the environment of the tool.

``crawl.py walk SCRIPT APP`` lists commands and options as the framework knows them, without murli.
``crawl.py calls SCRIPT`` reads lists of words from stdin and prints how each call went: the tool is
loaded once, and every call is a fork of its own.
"""

from __future__ import annotations

import argparse
import atexit
import importlib
import importlib.metadata
import json
import os
import runpy
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

from enabled_from_outside import find

LIMIT = 20


def entry_point(script: str) -> Callable[[], Any]:
    """Load what the console script calls."""
    found = [*importlib.metadata.entry_points(group="console_scripts", name=script)]
    if not found:  # a script that is installed as it is
        path = os.path.join(os.path.dirname(sys.executable), script)
        return lambda: runpy.run_path(path, run_name="__main__")
    run: Callable[[], Any] = found[0].load()
    return run


def walk(script: str, app: str) -> None:
    """Print path and options of every visible command as the framework itself knows them."""

    def list_when_complete(found: Any) -> None:
        if isinstance(found, argparse.ArgumentParser):  # may get options until help is shown
            atexit.register(_list, script, found)
        elif hasattr(found, "main"):  # may get commands until it is called
            found.main = lambda *args, **named: _list(script, found)
        else:
            _list(script, found)

    sys.argv[:] = [script, "--help"]
    run = entry_point(script)
    module, _, name = app.partition(":")
    find(importlib.import_module(module), name, list_when_complete)
    run()
    raise RuntimeError(f"{script} ended before {app} was called")


def _list(script: str, app: Any) -> None:
    if isinstance(app, argparse.ArgumentParser):
        commands = [
            {"path": path, "options": _parser_options(parser)} for path, parser in _parsers(app)
        ]
    else:
        if hasattr(app, "registered_commands"):
            app = importlib.import_module("typer.main").get_command(app)
        with app.make_context(script, [], resilient_parsing=True) as ctx:
            commands = list(_commands(app, ctx, []))
    print(json.dumps(commands), file=sys.__stdout__, flush=True)
    os._exit(0)  # the tool is not meant to run


def calls(script: str) -> None:
    """Make the calls that stdin lists; print status, stdout and stderr of each."""
    wanted = json.load(sys.stdin)
    run = entry_point(script)
    answers = []
    for words in wanted:
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            pid = os.fork()
            if pid == 0:
                _call(run, [script, *words], out.fileno(), err.fileno())
            _, status = os.waitpid(pid, 0)
            texts = [_text(file) for file in (out, err)]
        answers.append((os.waitstatus_to_exitcode(status), *texts))
    print(json.dumps(answers))


def _call(run: Callable[[], Any], argv: list[str], out: int, err: int) -> None:
    """Be the tool, in this process, until it ends as it ends by itself."""
    signal.alarm(LIMIT)
    sys.argv[:] = argv  # in place: some tools have bound the list when they were loaded
    for source, target in ((os.open(os.devnull, os.O_RDONLY), 0), (out, 1), (err, 2)):
        os.dup2(source, target)
    sys.exit(run())


def _text(file: Any) -> str:
    file.seek(0)
    text: str = file.read().decode(errors="replace")
    return text


def _commands(command: Any, ctx: Any, path: list[str]) -> Iterator[dict[str, Any]]:
    yield {"path": path, "options": _options(command)}
    for name in command.list_commands(ctx) if hasattr(command, "list_commands") else ():
        # What the framework does with the word, lazy commands included.
        _, found, _ = command.resolve_command(ctx, [name])
        if found is not None and not found.hidden:
            kind = getattr(found, "context_class", None) or type(ctx)
            below = kind(found, info_name=name, parent=ctx)
            yield from _commands(found, below, [*path, name])


def _options(command: Any) -> list[list[str]]:
    return [
        [*param.opts, *param.secondary_opts]
        for param in command.params
        if param.param_type_name == "option"
        and not getattr(param, "hidden", False)
        # What only prints and ends is no option of the command.
        and not (
            {"--help", "--version"}.intersection(param.opts)
            and param.is_flag
            and (param.is_eager or param.callback is not None)
        )
        and param.name not in ("install_completion", "show_completion")
    ]


def _parsers(
    parser: argparse.ArgumentParser, path: tuple[str, ...] = ()
) -> Iterator[tuple[list[str], argparse.ArgumentParser]]:
    yield list(path), parser
    for action in parser._actions:
        if not isinstance(action, argparse._SubParsersAction):
            continue
        hidden = {each.dest for each in action._choices_actions if each.help == argparse.SUPPRESS}
        seen: set[int] = set()
        for name, below in action.choices.items():
            if id(below) not in seen and name not in hidden:  # an alias is no other command
                seen.add(id(below))
                yield from _parsers(below, (*path, name))


def _parser_options(parser: argparse.ArgumentParser) -> list[list[str]]:
    return [
        list(action.option_strings)
        for action in parser._actions
        if action.option_strings
        and action.help != argparse.SUPPRESS
        and not isinstance(action, (argparse._HelpAction, argparse._VersionAction))
    ]


if __name__ == "__main__":
    sys.path[0] = ""  # as a console script leaves it to the tool
    if sys.argv[1] == "walk":
        walk(*sys.argv[2:])
    else:
        calls(sys.argv[2])
