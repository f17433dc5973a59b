"""``murli mcp``: the commands of a tool of any author over the Model Context Protocol."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

import murli

from ..mcp.options import add_options, check, options_in, server_argv
from ..wire import CONTRACTS
from .words import Add, add_tool, split_tool

if TYPE_CHECKING:
    from ..answer import Writer


def add_parser(command: Add, seconds: Callable[[str], float]) -> None:
    """Add the parser of the command."""
    parser = command(
        "mcp",
        "Serve the commands of a tool over the Model Context Protocol",
        serve,
        agent_description="Serves a tool to clients that have no shell.",
        when_to_use="Use where a client speaks MCP; with a shell, call the tool itself.",
        timeout=86_400.0,
        examples=[murli.Example("murli mcp sqlite-utils --only tables", "Serve one command")],
    )
    add_options(parser)
    add = parser.add_argument
    add("--timeout", type=seconds, help="seconds for each call (default: 300)")
    about = "the contract that the tool itself answers in"
    add("--contract", choices=CONTRACTS, help=about)
    about = "start a process for each call, also where the tool could be loaded once"
    add("--processes", action="store_true", help=about)
    add("--trust", action="store_true", help="ask no confirmation by names alone")
    program = 'a program or a script; quote it with its first words: "python -m shop"'
    add_tool(parser, program, "words that stand before every call")


def serve(args: argparse.Namespace, writer: Writer) -> NoReturn:
    """Become the server of a tool."""
    from ..retrofit.launch import AGAIN, Options, execute
    from ..retrofit.resolving import NotFound, resolve

    program, words = split_tool(args)
    options = options_in(args)
    check(options)
    tool = [*program, *words]
    try:
        name = resolve(tool[0], tool[1:]).name
    except NotFound as missing:
        raise murli.AgentError.not_found(str(missing), "Name a program or a script.") from None
    if args.timeout is not None:
        options = options.replace(timeout=args.timeout)
    asked: dict[str, Any] = {"prefix": tool, "describing": []}
    if args.contract is None:
        run = Options()
        run.switches |= {"--trust"} if args.trust else set()
        again = [sys.executable, "-c", AGAIN]
        asked = {
            "prefix": [*again, "run", *run.words(), *tool],
            "describing": [*again, "describe", *run.words(), *tool],
        }
    execute(server_argv(name, options, warm=not args.processes, **asked))
