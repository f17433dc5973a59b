"""The words of a tool that stand behind our own on the command line."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import murli

Add = Callable[..., argparse.ArgumentParser]

#: what is said of the argument that names the tool
PROGRAM = 'the program; quote it with its first words: "python -m shop"'
#: stands for ``--`` while argparse looks at words that are not its own: no argument holds a NUL,
#: and what argparse does with a ``--`` differs between versions of Python
DASHES = "\0"


def add_tool(parser: argparse.ArgumentParser, tool: str, words: str, **options: Any) -> None:
    """Add the arguments for a tool and its words, each with what is said of it."""
    parser.add_argument("tool", help=tool, **options)
    rest = parser.add_argument("words", nargs=argparse.REMAINDER, help=words)
    rest.required = False  # argparse would ask for it where the tool is missing


def split_tool(args: argparse.Namespace) -> tuple[list[str], list[str]]:
    """Return the words that run the tool, and those it is called with."""
    tool, words = args.tool, ["--" if word == DASHES else word for word in args.words]
    if tool == DASHES:  # the end of our own options
        if not words:
            raise murli.AgentError.user_error("There is no tool to call.", field="tool")
        tool, *words = words
    return program_of(tool), words


def program_of(tool: str) -> list[str]:
    """Return the words in *tool*, unless that is the name of a program."""
    from shlex import split
    from shutil import which

    if not any(map(str.isspace, tool)) or which(tool) is not None:
        found = [tool] if tool else []
    else:
        try:
            found = split(tool)
        except ValueError as error:
            raise murli.AgentError.user_error(
                f"{tool!r} cannot be taken apart into words: {error}.", field="tool"
            ) from None
    if not found or not found[0]:
        raise murli.AgentError.user_error("A tool has a name.", field="tool")
    return found
