"""``describe --export FORMAT``: the commands in the formats of others."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from ...declare.tree import Command


def export(document: Mapping[str, Any], commands: Sequence[Command], name: str) -> Any:
    """Return the commands in a describe *document* in the format called *name*.

    Where *commands* are named, only these, and what is below them.
    """
    from ...exports import exported
    from ...wire.listing import from_description

    only = [command.path[1:] for command in commands]
    return exported(from_description(document), name, document, only=only)
