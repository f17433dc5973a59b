"""riffle on argparse."""

from __future__ import annotations

import argparse

import murli

from . import __version__, commands
from .engine import default_index_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def make_parser() -> argparse.ArgumentParser:
    """Return the parser, with what agents should know about each command."""
    where = argparse.ArgumentParser(add_help=False)
    where.add_argument("--index", metavar="FILE", help="index file (default: ~/.riffle/index.db)")
    parser = argparse.ArgumentParser(
        prog="riffle", description="Find the folders and files that are about a topic."
    )
    parser.add_argument("--version", action="version", version=f"riffle {__version__}")
    top = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    query = top.add_parser("query", parents=[where], help="Find what is about a topic")
    query.add_argument("text", help="topic to look for")
    query.add_argument("--top", type=int, default=5, help="Maximum results to return")
    show = top.add_parser("show", parents=[where], help="Show an indexed file or folder")
    show.add_argument("path", help="indexed file or folder")

    index = top.add_parser("index", help="Build, inspect or delete the index")
    inner = index.add_subparsers(dest="index_command", required=True, metavar="COMMAND")
    build = inner.add_parser("build", parents=[where], help="Index the text files below a folder")
    build.add_argument("folder", help="folder to index")
    status = inner.add_parser("status", parents=[where], help="Tell what the index holds")
    delete = inner.add_parser("delete", parents=[where], help="Delete the index")

    for name, command in (
        ("index build", build),
        ("index status", status),
        ("index delete", delete),
        ("query", query),
        ("show", show),
    ):
        murli.annotate(command, commands.METADATA[name])
    # On argparse a plan function is called with the namespace.
    build_plan = murli.Metadata(plan=lambda args: commands.plan_build(args.folder, args.index))
    delete_plan = murli.Metadata(plan=lambda args: commands.plan_delete(args.index))
    murli.annotate(build, build_plan)
    murli.annotate(delete, delete_plan)
    murli.enable(parser, tool_version=__version__)
    return parser


def main(argv: Sequence[str] | None = None) -> None:
    """Run riffle."""
    with murli.session(make_parser(), argv) as (args, writer):
        index = args.index or default_index_path()
        if args.command == "query":
            commands.guarded(lambda: commands.query(writer, args.text, args.top, index))
        elif args.command == "show":
            commands.guarded(lambda: commands.show(writer, args.path, index))
        elif args.index_command == "build":
            commands.guarded(lambda: commands.build(writer, args.folder, index))
        elif args.index_command == "status":
            commands.guarded(lambda: commands.status(writer, index))
        else:
            commands.guarded(lambda: commands.delete(writer, index))
