"""What can be chosen about a server; loads nothing of the SDK."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import NoReturn

from ..core import Record
from ..errors import AgentError

#: what is wrong where the SDK is missing, and what to do about it
MISSING = ("The MCP SDK is not installed.", "Run `pip install 'murli[mcp]'`.")
#: where a bearer token is looked up unless a file is named
TOKEN_VARIABLE = "MURLI_MCP_TOKEN"
_PORT = 8000
_MOST_PORT = 65_535


class Options(Record):
    """The choices for one server.

    *http* is ``HOST:PORT``, ``""`` for stdio. *only* are the commands that are offered, with all
    below them; *depth* is how many words their names have at most; with more than *most_tools* of
    them two tools stand for all. *concurrency* is how many calls run at once, *timeout* how long
    one may take, *max_body* how long a request over HTTP may be. *allow_host* and *allow_origin* may be in
    the headers of a request besides those of this machine.
    """

    http: str = ""
    only: tuple[str, ...] = ()
    depth: int = 0
    most_tools: int = 40
    concurrency: int = 8
    timeout: float = 300.0
    max_body: int = 4 << 20
    token_file: str = ""
    allow_host: tuple[str, ...] = ()
    allow_origin: tuple[str, ...] = ()

    def address(self) -> tuple[str, int]:
        """Return the host and the port to listen at."""
        host, _, port = self.http.rpartition(":")
        return host.strip("[]"), int(port)

    def words(self) -> list[str]:
        """Return the options as they are typed."""
        found: list[str] = []
        for name, value in self.__dict__.items():
            values = value if isinstance(value, tuple) else (value,) if value else ()
            found += [f"--{name.replace('_', '-')}={each}" for each in values]
        return found


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise AgentError.user_error(f"{message[:1].upper()}{message[1:].rstrip('.')}.")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of a server to *parser*."""
    usual = Options()
    add = parser.add_argument
    add(
        "--http",
        type=_address,
        default="",
        metavar="[HOST:]PORT",
        help="serve streamable HTTP instead of stdio; on this machine alone unless HOST says more",
    )
    add(
        "--only",
        action="append",
        default=[],
        metavar="COMMAND",
        help="offer this command and what is below it; repeat it for more",
    )
    add("--depth", type=_count, default=0, metavar="N", help="offer names of at most N words")
    add(
        "--most-tools",
        type=_count,
        default=usual.most_tools,
        metavar="N",
        help="with more commands than this, offer search_commands and call_command for all "
        f"(default: {usual.most_tools})",
    )
    add(
        "--concurrency",
        type=_count,
        default=usual.concurrency,
        metavar="N",
        help=f"calls at once; others wait (default: {usual.concurrency})",
    )
    add(
        "--max-body",
        type=_count,
        default=usual.max_body,
        metavar="BYTES",
        help=f"the longest request over HTTP (default: {usual.max_body})",
    )
    add(
        "--token-file",
        default="",
        metavar="FILE",
        help=f"ask for the bearer token in this file (or in {TOKEN_VARIABLE})",
    )
    add(
        "--allow-host",
        action="append",
        default=[],
        metavar="HOST",
        help="a name by which this server is called, where that is not localhost",
    )
    add(
        "--allow-origin",
        action="append",
        default=[],
        metavar="ORIGIN",
        help="a web page's origin that may call, such as https://app.example",
    )


def options_in(parsed: argparse.Namespace) -> Options:
    """Return the options that a parser with `add_options` has *parsed*."""
    found = {name: getattr(parsed, name) for name in Options().__dict__ if hasattr(parsed, name)}
    for name, value in found.items():
        found[name] = tuple(value) if isinstance(value, list) else value
    return Options(**found)


def from_words(words: Sequence[str]) -> Options:
    """Return the options that *words* are; `AgentError` for what is none."""
    parser = _Parser(add_help=False, allow_abbrev=False)
    add_options(parser)
    parser.add_argument("--timeout", type=float, default=Options().timeout, help=argparse.SUPPRESS)
    return options_in(parser.parse_args(list(words)))


def usage_text(program: str) -> str:
    """Return the help of a command that serves."""
    parser = _Parser(prog=program, add_help=False, allow_abbrev=False)
    parser.description = "Serve the commands over the Model Context Protocol, on stdio."
    add_options(parser)
    parser.add_argument("--timeout", metavar="TIME", help="how long a call may take (default: 5m)")
    return parser.format_help()


def is_installed() -> bool:
    """Return whether there is an SDK; it is not loaded."""
    from importlib.util import find_spec

    return find_spec("mcp") is not None and find_spec("anyio") is not None


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("it is a number from 1 on")
    return number


def _address(text: str) -> str:
    host, _, port = text.rpartition(":")
    if not port.isdecimal() or int(port) > _MOST_PORT:
        raise argparse.ArgumentTypeError(f"{text!r} has no port, such as {_PORT}")
    return f"{host or '127.0.0.1'}:{port}"
