"""The options murli adds to a command, as help tells about them."""

from __future__ import annotations

import sys

from ..outcome import Record, fill
from ..runtime import program_name
from ..runtime.argv import has_profileable, offers_profiles

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from ..metadata import Metadata
    from ..runtime.invocation import Invocation


class Option(Record):
    """One option of ours: its names, what stands for its value, and what it does."""

    __slots__ = ("names", "metavar", "help")
    names: tuple[str, ...]
    metavar: str
    help: str

    def __init__(self, *names: str, metavar: str = "", help: str = "") -> None:
        fill(self, names=names, metavar=metavar, help=help)


_FOR_AGENTS = (
    Option("--agent", help="answer in JSON, at a terminal too"),
    Option("--schema", help="describe this command in JSON and exit"),
)
_OUTPUT = Option("--output", metavar="{json,ndjson,text}", help="choose how the answer is written")
_FORMAT = Option("--format", metavar="{json,jsonl,tsv,plain,table}", help=_OUTPUT.help)
_FIELDS = Option("--fields", metavar="NAMES", help="give these fields alone: id,owner.name")
_PARTS = (
    Option("--limit", metavar="N", help="give at most N items of a list, 0 for all"),
    Option("--cursor", metavar="CURSOR", help="go on where an answer ended"),
    Option("--max-bytes", metavar="N", help="leave out what makes the answer longer, and say so"),
    Option("--etag", metavar="ETAG", help="tell by what an answer is known, or that you have it"),
)
_FORCE = Option("--force", "--yes", help="confirm the change")
_DRY_RUN = Option("--dry-run", help="show what would be done, and do nothing")


# More are too many to be spelled out at once.
_MANY_COMMANDS = 15
PROFILE = Option("--profile", metavar="NAME", help="use the flag values saved under this name")


def our_sections(
    invocation: Invocation,
    metadata: Metadata | None,
    own: Collection[str],
    *,
    is_root: bool,
    is_group: bool,
) -> list[tuple[str, list[Option], str]]:
    """Give what to add to a command's help: titled lists of options, each with a closing line.

    People are told what they can use, agents everything. *own* are the names the command defines
    itself; those are not ours there. A command that *is_group* does nothing itself.
    """
    name = _as_called(invocation)
    writer = invocation.writer
    safety = [_FORCE] if metadata is not None and metadata.mutating else []
    if metadata is not None and metadata.dry_runnable:
        safety.append(_DRY_RUN)
    with_profiles = _has_profiles(invocation, metadata, is_root)
    profiles = [PROFILE] if with_profiles else []
    to_save = f"Run '{name} profile --help' to save flag values." if is_root else ""
    if writer.is_tty():
        sections = [("safety", safety, ""), ("profiles", profiles, to_save)]
    else:
        closing = _pointer(invocation, name) if is_root else ""
        if with_profiles and closing:
            closing += f"\n{to_save}"
        shaping = [] if is_group else _shaping(metadata)
        formats = _FORMAT if writer.contract == "agent-spec-2" else _OUTPUT
        options = [*_FOR_AGENTS, formats, *shaping, *safety, *profiles]
        sections = [("agent options", options, closing)]
    kept = [
        (title, [option for option in options if not set(option.names) & set(own)], closing)
        for title, options, closing in sections
    ]
    return [section for section in kept if section[1]]


def _pointer(invocation: Invocation, name: str) -> str:
    """Return where all commands are described; of many an overview comes first."""
    if len(invocation.host.level().names()) <= _MANY_COMMANDS:
        return f"Run '{name} describe' for all commands as JSON."
    return (
        f"Run '{name} describe --depth 1' for an overview of all commands as JSON,\n"
        f"'{name} describe COMMAND' for one of them."
    )


def _shaping(metadata: Metadata | None) -> list[Option]:
    """Return the options that choose a part of an answer, where there is one to choose from."""
    whole = metadata is not None and metadata.mutating
    return [_FIELDS] if whole else [_FIELDS, *_PARTS]


def _as_called(invocation: Invocation) -> str:
    """Return the words that call the tool again: a script has no name of its own."""
    name, script = invocation.host.name(), sys.argv[0]
    if invocation.settings.name or name != program_name() or not script.endswith(".py"):
        return name
    is_module = script.endswith("__main__.py")
    return f"python -m {name}" if is_module else f"python {script}"


def _has_profiles(invocation: Invocation, metadata: Metadata | None, is_root: bool) -> bool:
    # Who declares nothing never loads what declarations are made of, and has no tree to search.
    if "murli.metadata" not in sys.modules or not offers_profiles(invocation):
        return False
    host = invocation.host
    if has_profileable(metadata) or has_profileable(host.metadata()):
        return True
    from .settable import settable_flags

    return is_root and bool(settable_flags(host.tree()))
