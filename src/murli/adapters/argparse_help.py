"""What our options add to a tool's help: nothing a person at a terminal cannot use."""

from __future__ import annotations

import argparse

from ..metadata import metadata_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..metadata import Metadata
    from ..runtime.invocation import Invocation


def our_options(parser: argparse.ArgumentParser, invocation: Invocation) -> str:
    """Give the section to append to the help of *parser*, or ``""``."""
    metadata = metadata_of(parser)
    actions = _safety_options(metadata) if metadata else []
    if not invocation.writer.is_tty():
        actions = [*_agent_options(), *actions]
    known = parser._option_string_actions
    actions = [
        action for action in actions if not any(name in known for name in action.option_strings)
    ]
    if not actions:
        return ""
    formatter = parser._get_formatter()
    formatter.start_section("agent options" if not invocation.writer.is_tty() else "safety")
    formatter.add_arguments(actions)
    formatter.end_section()
    text = formatter.format_help()
    if not invocation.writer.is_tty() and parser is getattr(invocation.host, "parser", None):
        text += f"\nRun '{invocation.host.name()} describe' for all commands as JSON.\n"
    return "\n" + text


def _agent_options() -> list[argparse.Action]:
    return [
        _switch("--agent", help="answer in JSON, at a terminal too"),
        _switch("--schema", help="describe this command in JSON and exit"),
        _option("--output", "{json,ndjson,text}", "choose how the answer is written"),
    ]


def _safety_options(metadata: Metadata) -> list[argparse.Action]:
    options = []
    if metadata.mutating:
        options.append(_switch("--force", "--yes", help="confirm the change"))
    if metadata.dry_runnable:
        options.append(_switch("--dry-run", help="show what would be done, and do nothing"))
    return options


def _switch(*names: str, help: str) -> argparse.Action:
    return argparse.Action(names, dest=names[0].lstrip("-"), nargs=0, help=help)


def _option(name: str, metavar: str, help: str) -> argparse.Action:
    return argparse.Action((name,), dest=name.lstrip("-"), metavar=metavar, help=help)
