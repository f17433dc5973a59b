"""The options murli adds to a command, as help tells about them."""

from __future__ import annotations

from ..record import Record, fill

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from ..metadata import Metadata


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
    Option("--output", metavar="{json,ndjson,text}", help="choose how the answer is written"),
)
_FORCE = Option("--force", "--yes", help="confirm the change")
_DRY_RUN = Option("--dry-run", help="show what would be done, and do nothing")


def our_options(metadata: Metadata | None, for_agents: bool, own: Collection[str]) -> list[Option]:
    """Give the options to list: what a person can use, and for agents the rest.

    *own* are the names the command defines itself; those are not ours there.
    """
    options = list(_FOR_AGENTS) if for_agents else []
    if metadata is not None and metadata.mutating:
        options.append(_FORCE)
    if metadata is not None and metadata.dry_runnable:
        options.append(_DRY_RUN)
    return [option for option in options if not set(option.names) & set(own)]
