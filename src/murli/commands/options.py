"""The options murli adds to a command, as help shows them."""

from __future__ import annotations

import sys

from ..core import program_name
from ..line.flags import CommandFacts, listed
from ..line.scanning import has_profileable, offers, offers_profiles

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from ..call import Invocation
    from ..declare import Metadata
    from ..line.flags import OwnFlag


_ORDER = ("caller", "describe", "format", "part", "wait", "safety", "profile")
# More are too many to be spelled out at once.
_MANY_COMMANDS = 15


def our_sections(
    invocation: Invocation,
    metadata: Metadata | None,
    own: Collection[str],
    path: tuple[str, ...],
    *,
    is_root: bool,
    is_group: bool,
) -> list[tuple[str, list[OwnFlag], str]]:
    """Return what to add to a command's help: titled lists of options, each with a closing line.

    People see what they can use, agents everything. *own* are the names the command defines
    itself; those are not ours there. *path* is how it is reached, below the tool. A command that
    *is_group* does nothing itself.
    """
    name, for_people = as_called(invocation), invocation.writer.is_tty()
    with_profiles = _has_profiles(invocation, metadata, is_root)
    mutating = metadata is not None and metadata.mutating
    facts = CommandFacts(
        acts=not is_group,
        lists=not is_group,
        reads=not (is_group or for_people) and _reads(invocation, metadata, path),
        mutating=mutating,
        confirmable=mutating,
        dry_runnable=metadata is not None and metadata.dry_runnable,
        has_profiles=with_profiles,
        needs_agent_flag=True,
        format_flag=invocation.contract.format_flag,
    )
    to_save = f"Run '{name} profile --help' to save flag values." if is_root else ""
    if for_people:
        sections = [
            ("safety", list(listed("help", facts, ["safety"])), ""),
            ("profiles", list(listed("help", facts, ["profile"])), to_save),
        ]
    else:
        closing = _pointer(invocation, name) if is_root else ""
        if with_profiles and closing:
            closing += f"\n{to_save}"
        sections = [("agent options", list(listed("help", facts, _ORDER)), closing)]
    taken = set(own)
    kept = [
        (title, [each for each in options if taken.isdisjoint(each.names)], closing)
        for title, options, closing in sections
    ]
    return [section for section in kept if section[1]]


def _reads(invocation: Invocation, metadata: Metadata | None, path: tuple[str, ...]) -> bool:
    from ..declare.safety import only_reads

    return only_reads(metadata, path or (invocation.host.name(),))


def _pointer(invocation: Invocation, name: str) -> str:
    """Return where all commands are described; of many an overview comes first."""
    level = invocation.host.level()
    batch = f"\nRun '{name} exec' for many calls at once, one JSON object a line on stdin."
    batch = batch if offers(invocation, "exec") else ""
    if len(level.names()) <= _MANY_COMMANDS:
        return f"Run '{name} describe' for all commands as JSON.{batch}"
    overview = f"Run '{name} describe --depth 1' for an overview of all commands as JSON"
    if level.takes_words:  # "describe" would be one of them, and the command would run
        return f"{overview}.{batch}"
    return f"{overview},\n'{name} describe COMMAND' for one of them.{batch}"


def as_called(invocation: Invocation) -> str:
    """Return the words that call the tool again: a script has no name of its own."""
    name, script = invocation.host.name(), sys.argv[0]
    if invocation.settings.name or name != program_name() or not script.endswith(".py"):
        return name
    is_module = script.endswith("__main__.py")
    return f"python -m {name}" if is_module else f"python {script}"


def _has_profiles(invocation: Invocation, metadata: Metadata | None, is_root: bool) -> bool:
    # Who declares nothing never loads what declarations are made of, and has no tree to search.
    if "murli.declare" not in sys.modules or not offers_profiles(invocation):
        return False
    host = invocation.host
    if has_profileable(metadata) or has_profileable(host.metadata()):
        return True
    from ..call.settable import settable_flags

    return is_root and bool(settable_flags(host.tree()))
