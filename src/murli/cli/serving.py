"""``murli mcp``: the commands of a tool of any author over the Model Context Protocol."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import murli

from ..mcp.options import add_options, check, options_in, server_argv
from ..wire import CONTRACTS

if TYPE_CHECKING:
    from ..answer import Writer


def add_parser(
    command: Callable[..., argparse.ArgumentParser], seconds: Callable[[str], float]
) -> None:
    """Add the parser of the command."""
    from . import split_tool

    def handle(args: argparse.Namespace, writer: Writer) -> NoReturn:
        serve(args, *split_tool(args.tool, args.words))

    parser = command("mcp", "Serve the commands of a tool over the Model Context Protocol", handle)
    add_options(parser)
    parser.add_argument("--timeout", type=seconds, help="seconds for each call (default: 300)")
    parser.add_argument(
        "--contract", choices=CONTRACTS, help="the contract that the tool itself answers in"
    )
    parser.add_argument(
        "--processes",
        action="store_true",
        help="start a process for each call, also where the tool could be loaded once",
    )
    parser.add_argument("--trust", action="store_true", help="ask no confirmation by names alone")
    parser.add_argument(
        "tool", help='a program or a script; quote it with its first words: "python -m shop"'
    )
    words = parser.add_argument(
        "words", nargs=argparse.REMAINDER, help="words that stand before every call"
    )
    words.required = False
    murli.annotate(
        parser,
        murli.Metadata(
            agent_description="Serves a tool to clients that have no shell.",
            when_to_use="Use where a client speaks MCP; with a shell, call the tool itself.",
            timeout=86_400.0,
            examples=[murli.Example("murli mcp sqlite-utils --only tables", "Serve one command")],
        ),
    )


def serve(args: argparse.Namespace, program: Sequence[str], words: Sequence[str]) -> NoReturn:
    """Become the server of a tool."""
    from ..retrofit.launch import AGAIN, Options, execute
    from ..retrofit.resolving import NotFound, resolve

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
