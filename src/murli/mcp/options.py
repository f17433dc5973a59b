"""What can be chosen about a server; loads nothing of the SDK."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any, NoReturn

from ..core import Record
from ..errors import AgentError

#: where a bearer token is looked up unless a file is named
TOKEN_VARIABLE = "MURLI_MCP_TOKEN"
_START = (
    "import sys; '' in sys.path[:1] and sys.path.pop(0); "
    "sys.path += [each for each in {path!r} if each not in sys.path]; "
    "from murli.mcp.main import main; main()"
)
#: the addresses and names of this machine for itself
LOCAL = ("localhost", "127.0.0.1", "::1")
_PORT = 8000
_MOST_PORT = 65_535


class Options(Record):
    """The choices for one server.

    *http* is ``HOST:PORT``, ``""`` for stdio. *only* are the commands that are offered, with all
    below them; *depth* is how many words their names have at most; with more than *most_tools* of
    them two tools stand for all. *concurrency* is how many calls run at once, *timeout* how long
    one may take, *max_body* how long a request over HTTP may be. *allow_host* and *allow_origin*
    may be in the headers of a request besides those of this machine.
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
    add = parser.add_argument

    def add_number(name: str, metavar: str, about: str) -> None:
        usual = getattr(Options(), name)
        shown = f"{about} (default: {usual})"
        add(f"--{name.replace('_', '-')}", type=_count, default=usual, metavar=metavar, help=shown)

    several: Any = {"action": "append", "default": []}
    about = "serve streamable HTTP instead of stdio; on this machine alone unless HOST says more"
    add("--http", type=_address, metavar="[HOST:]PORT", help=about)
    about = "offer this command and what is below it; repeat it for more"
    add("--only", **several, metavar="COMMAND", help=about)
    add("--depth", type=_count, default=0, metavar="N", help="offer names of at most N words")
    about = "with more commands than this, offer search_commands and call_command for all"
    add_number("most_tools", "N", about)
    add_number("concurrency", "N", "calls at once; others wait")
    add_number("max_body", "BYTES", "the longest request over HTTP")
    about = f"ask for the bearer token in this file (or in {TOKEN_VARIABLE})"
    add("--token-file", default="", metavar="FILE", help=about)
    about = "a name by which this server is called, where that is not localhost"
    add("--allow-host", **several, metavar="HOST", help=about)
    about = "a web page's origin that may call, such as https://app.example"
    add("--allow-origin", **several, metavar="ORIGIN", help=about)


def options_in(parsed: argparse.Namespace) -> Options:
    """Return the options that a parser with `add_options` has *parsed*."""
    found = {name: getattr(parsed, name) for name in Options().__dict__ if hasattr(parsed, name)}
    for name, value in found.items():
        found[name] = tuple(value) if isinstance(value, list) else value
    found["http"] = found.get("http") or ""
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


def token_of(options: Options) -> str:
    """Return the token that a server over HTTP asks for, ``""`` for none.

    `AgentError` where it cannot be read, or where others could reach a server without one.
    """
    import os

    token = os.environ.get(TOKEN_VARIABLE, "")
    if options.token_file:
        try:
            with open(options.token_file, encoding="utf-8") as file:
                token = file.read().strip()
        except (OSError, UnicodeDecodeError) as error:
            raise AgentError.precondition(f"The token cannot be read: {error}.") from None
        if not token:
            raise AgentError.precondition("The file of the token is empty.", "Write one into it.")
    if options.http and not token and options.address()[0] not in LOCAL:
        raise AgentError.precondition(
            "Others could reach this server, and it asks nobody for a token.",
            "Pass --token-file, or listen at 127.0.0.1.",
        )
    return token


def check(options: Options) -> None:
    """Raise `AgentError` where there can be no server; the SDK is not loaded."""
    from importlib.util import find_spec

    token_of(options)

    if find_spec("mcp") is None or find_spec("anyio") is None:
        raise AgentError.precondition(
            "The MCP SDK is not installed.", "Run `pip install 'murli[mcp]'`."
        )


def server_argv(name: str, options: Options, **asked: Any) -> list[str]:
    """Return what runs the server of the tool *name*; see `murli.mcp.main.main`.

    The process finds the modules that this one finds, whichever way that does it, but none in the
    folder of a script: something there may be called like a module of the SDK.
    """
    import json
    import sys

    path = [each for each in sys.path[1:] if each]
    document = {"name": name, "options": options.words(), **asked}
    return [sys.executable, "-c", _START.format(path=path), json.dumps(document)]


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
