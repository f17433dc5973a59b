"""Runs a real tool as it is, or with one line of murli, or asks its framework what it has.

``launch.py plain|murli|flag TOOL WORD…`` runs it; ``launch.py walk TOOL`` lists its commands and
options, ``launch.py helps TOOL`` prints the help of every command. Runs inside the environment of
the tools; the source of no tool is touched.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import io
import json
import sys
from collections.abc import Iterator
from typing import Any

# The app object of each tool; for argparse, the function that makes the parser, and the one
# that the console script calls.
APPS = {
    "sqlite-utils": ("sqlite_utils.cli", "cli"),
    "flask": ("flask.cli", "cli"),
    "black": ("black", "main"),
    "mkdocs": ("mkdocs.__main__", "cli"),
    "hf": ("huggingface_hub.cli.hf", "app"),
    "mcp": ("mcp.cli", "app"),
    "fastapi": ("fastapi_cli.cli", "app"),
    "uvicorn": ("uvicorn.main", "main"),
}
PARSERS = {
    "pip-licenses": ("piplicenses", "create_parser", "main"),
    "pipx": ("pipx.main", "get_command_parser", "cli"),
}


def run(tool: str, with_murli: bool, agents: str = "pipe") -> Any:
    """Run *tool* on the words in ``sys.argv``; give what its entry point gives."""
    if tool in APPS:
        app = _attribute(*APPS[tool])
        if with_murli:
            import murli

            murli.enable(app, name=tool, agents=agents)
        return app()
    module, make, entry = PARSERS[tool]
    made = _attribute(module, make)

    def make_enabled(*args: Any, **named: Any) -> Any:
        import murli

        result = made(*args, **named)
        murli.enable(_parser(result), name=tool, agents=agents)
        return result

    if with_murli:
        setattr(sys.modules[module], make, make_enabled)
    return _attribute(module, entry)()


def walk(tool: str) -> list[dict[str, Any]]:
    """Give path, visibility and options of every command, as the framework itself knows them."""
    if tool in PARSERS:
        return [
            {"path": path, "options": _parser_options(parser)}
            for path, parser in _parsers(_parser(_attribute(*PARSERS[tool][:2])()))
        ]
    root = _command(tool)
    with root.make_context(tool, [], resilient_parsing=True) as ctx:
        return list(_commands(root, ctx, []))


def helps(tool: str) -> str:
    """Give the help of every visible command, one after the other, as a pipe gets it."""
    if tool in PARSERS:
        parsers = _parsers(_parser(_attribute(*PARSERS[tool][:2])()))
        return "".join(parser.format_help() for _, parser in parsers)
    text = io.StringIO()
    root = _command(tool)
    with contextlib.redirect_stdout(text):
        for each in walk(tool):
            root.main([*each["path"], "--help"], prog_name=tool, standalone_mode=False)
    return text.getvalue()


def _attribute(module: str, name: str) -> Any:
    return getattr(importlib.import_module(module), name)


def _parser(made: Any) -> argparse.ArgumentParser:
    return made[0] if isinstance(made, tuple) else made  # type: ignore[no-any-return]


def _command(tool: str) -> Any:
    app = _attribute(*APPS[tool])
    if hasattr(app, "registered_commands"):
        return importlib.import_module("typer.main").get_command(app)
    return app


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
        # The help option is no param of a command, unless it was given one.
        and not {"--help", "--version"}.intersection(param.opts)
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
    mode, name, *words = sys.argv[1:]
    sys.argv = [name, *words]
    sys.path[0] = ""  # as a console script leaves it to the tool
    if mode == "walk":
        print(json.dumps(walk(name)))
    elif mode == "helps":
        print(helps(name))
    else:
        sys.exit(run(name, mode != "plain", "flag" if mode == "flag" else "pipe"))
