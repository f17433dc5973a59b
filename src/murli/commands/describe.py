"""``describe`` and ``CMD --schema``: raw documents on stdout, in every mode."""

from __future__ import annotations

from ..formats import dumps, plain
from ..runtime import usage
from ..runtime.argv import offers_profiles
from . import show_help, write_raw
from .discretion import discreet
from .schema import command_schema, describe_document, described, profileable_flags

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

    from ..runtime.invocation import Invocation
    from ..tree import Command


# From how many characters on a description of a whole tool says that there are shorter ones, and
# what stands before that.
_LONG = 20_000
_FIRST = ("name", "summary", "schema_version", "tool_version")
_HELP = """\
usage: {name} describe [COMMAND ...] [--depth N] [--agents-md]

Print the commands of {name} as one JSON document.

arguments:
  COMMAND      only this command, and what is below it

options:
  --depth N    spell commands out down to this depth, name the others
  --agents-md  print an AGENTS.md to keep instead
"""


def run(invocation: Invocation) -> NoReturn:
    """Answer ``describe [COMMAND …] [--depth N] [--agents-md]``."""
    path, depth, agents_md = _arguments(invocation)
    if agents_md:
        from .agents_md import format_agents_md

        document = discreet(plain(build(invocation)))
        # By this line, which the other contract's format has not, a reader tells a stale file.
        version = document.get("tool_version") or document["murli"]["version"]
        stamp = f"<!-- cli-version: {version} -->\n" if invocation.in_family else ""
        _print(invocation, stamp + format_agents_md(document))
    if not path:
        document = build(invocation, depth)
        _print_json(invocation, document if depth else _with_hint(invocation, document))
    command = invocation.host.tree()
    known = _by_name(command)
    if offers_profiles(invocation):
        known.setdefault("profile", _profile_command(invocation, []))
    for name in path:
        if name not in known:
            visible = [child.name for child in command.visible]
            invocation.refuse(usage.unknown_command(name, visible))
        command = known[name]
        known = _by_name(command)
    _print_json(invocation, described(command, depth))


def _with_hint(invocation: Invocation, document: dict[str, Any]) -> dict[str, Any]:
    """Return a whole *document* that says how to be told less, before the rest, if it is long."""
    size = len(dumps(plain(document), pretty=False))
    if size <= _LONG:
        return document
    call = f"{invocation.host.name()} describe"
    hint = f"These are {size // 1000} KB. `{call} --depth 1` is an overview"
    if "commands" in document:
        hint += f", `{call} COMMAND` one command"
    first = {key: document[key] for key in _FIRST if key in document}
    return {**first, "hint": f"{hint}.", **document}


def _by_name(command: Command) -> dict[str, Command]:
    """Give the commands below *command* by every name they answer to."""
    return {name: child for child in command.commands for name in (child.name, *child.aliases)}


def _arguments(invocation: Invocation) -> tuple[list[str], int | None, bool]:
    path: list[str] = []
    depth: int | None = None
    agents_md = False
    words = iter(invocation.call.rest)
    for word in words:
        option, equals, value = word.partition("=")
        if word in ("--help", "-h"):
            show_help(invocation, _HELP.format(name=invocation.host.name()))
        elif option == "--depth":
            text = value if equals else next(words, "")
            if not text.isdecimal() or text == "0":
                invocation.refuse(usage.bad_value("--depth", text, "expected a number from 1 on"))
            depth = int(text)
        elif word == "--agents-md":
            agents_md = True
        elif word.startswith("-"):
            invocation.refuse(usage.unknown_option(word, ["--agents-md", "--depth"]))
        else:
            path.append(word)
    return path, depth, agents_md


def show_schema(invocation: Invocation) -> NoReturn:
    """Answer ``--schema``, or ``--output-schema``, for the command that was named."""
    call = invocation.call
    if invocation.in_family or not call.schema:
        from .manifest import output_of_command, schema_of_command

        find = schema_of_command if call.schema else output_of_command
        _print_json(invocation, find(invocation))
    if call.mounted == "profile":
        _print_json(invocation, command_schema(_profile_command(invocation, call.rest)))
    _print_json(invocation, command_schema(invocation.host.command(call.level)))


def _profile_command(invocation: Invocation, words: list[str]) -> Command:
    """Give the ``profile`` group, or the command of it that *words* name."""
    from .profile import ALIASES, command_tree

    group = command_tree(invocation.host.name())
    verb = ALIASES.get(words[0], words[0]) if words else ""
    return next((command for command in group.commands if command.name == verb), group)


def build(invocation: Invocation, depth: int | None = None) -> dict[str, Any]:
    """Give the describe document of the running tool."""
    from .. import __version__

    root = invocation.host.tree()
    return describe_document(
        root,
        invocation.tool_version(),
        __version__,
        depth,
        profiles_block(invocation, root),
        has_profiles=offers_profiles(invocation),
        agents=invocation.settings.agents,
        statuses=invocation.settings.exit_codes,
    )


def profiles_block(invocation: Invocation, root: Command) -> dict[str, Any]:
    """Give which profiles there are, and which flags they can hold."""
    block: dict[str, Any] = {}
    flags = profileable_flags(root)
    if flags:
        from ..runtime.saved import read_store

        store = read_store(invocation, must=False)
        if store.names():
            block["available"] = store.names()
        if store.default in store.names():
            block["default"] = store.default
    block["profileable_flags"] = flags
    return block


def _print_json(invocation: Invocation, document: dict[str, Any]) -> NoReturn:
    shown = discreet(plain(document))
    if invocation.in_family:
        from ..outcome import Success

        invocation.end(invocation.writer.answer(Success("", shown), ""))
    pretty = invocation.writer.format() != "ndjson"
    _print(invocation, dumps(shown, pretty=pretty) + "\n")


def _print(invocation: Invocation, text: str) -> NoReturn:
    if invocation.in_family:
        from ..outcome import Success

        invocation.end(invocation.writer.answer(Success("", text), ""))
    write_raw(invocation.writer, text)
    invocation.end(0)
