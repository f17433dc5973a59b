"""``describe`` and ``CMD --schema``: raw documents on stdout, in every mode."""

from __future__ import annotations

from ..formats.encoder import dumps, plain
from ..runtime import usage
from .schema import command_schema, describe_document

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

    from ..runtime.invocation import Invocation


_HELP = """\
usage: {name} describe [--agents-md]

Print all commands of {name} as one JSON document.

options:
  --agents-md  print an AGENTS.md to keep instead
"""


def run(invocation: Invocation) -> NoReturn:
    """Answer ``describe [--agents-md]``."""
    words = invocation.call.rest
    if "--help" in words or "-h" in words:
        _print(invocation, _HELP.format(name=invocation.host.name()))
    for word in words:
        if word != "--agents-md":
            _refuse(invocation, word)
    document = build(invocation)
    if words:
        from .agents_md import format_agents_md

        _print(invocation, format_agents_md(document))
    _print_json(invocation, document)


def show_schema(invocation: Invocation) -> NoReturn:
    """Answer ``--schema`` for the command that was named."""
    command = invocation.host.command(invocation.call.level)
    _print_json(invocation, command_schema(command))


def build(invocation: Invocation) -> dict[str, Any]:
    """Give the describe document of the running tool."""
    from .. import __version__

    return describe_document(invocation.host.tree(), invocation.tool_version(), __version__)


def _refuse(invocation: Invocation, word: str) -> NoReturn:
    if word.startswith("-"):
        invocation.refuse(usage.unknown_option(word, ["--agents-md"]))
    invocation.refuse(usage.extra_argument([word]))


def _print_json(invocation: Invocation, document: dict[str, Any]) -> NoReturn:
    pretty = invocation.writer.format() != "ndjson"
    _print(invocation, dumps(plain(document), pretty=pretty) + "\n")


def _print(invocation: Invocation, text: str) -> NoReturn:
    invocation.writer.write_raw(text)
    invocation.end(0)
