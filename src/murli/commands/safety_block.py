"""The ``safety`` block of a described command: what was declared, else what its name suggests."""

from __future__ import annotations

from ..declare.safety import declared_danger, inferred_danger

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ..declare.tree import Command

# Each level leaves room for one that is declared, which counts more.
_STRENGTH = {"safe": 0, "": 2, "mutating": 4, "destructive": 6}


def safety_block(command: Command) -> dict[str, Any]:
    """Return what is known about the danger of *command*.

    A group is as dangerous as the most dangerous command below it, or as itself where it is
    declared or may be called by itself. A declaration outweighs an inference of the same strength,
    and no declaration at all outweighs ``safe``: one undeclared command makes a group of reading
    ones undeclared.
    """
    found = list(_dangers(command))
    level, declared, _ = max(found, key=lambda each: _STRENGTH[each[0]] + each[1])
    document: dict[str, Any] = {"declared": False}
    if declared:
        idempotent = all(each[2] for each in found)
        document = {"read_only": level == "safe", "idempotent": idempotent}
        if level == "destructive":
            document["destructive"] = True
    elif level:
        document["inferred"] = level
    metadata = command.metadata
    if metadata is not None and metadata.reveals_secrets:
        document["reveals_secrets"] = True
    if (metadata is not None and metadata.dry_runnable) or has_own_dry_run(command):
        document["dry_run_supported"] = True
    return document


def has_own_dry_run(command: Command) -> bool:
    """Return whether *command* defines ``--dry-run`` itself."""
    return "dry-run" in [flag.name for flag in command.flags]


def does_something(command: Command) -> bool:
    """Return whether a group does something when it is called by itself.

    It has a function for that, or at least a name.
    """
    return command.runs and bool(command.handler or inferred_danger(command.telling_path))


def _dangers(command: Command) -> Iterator[tuple[str, bool, bool]]:
    """Yield level, whether it is declared, and idempotence of everything that can be called."""
    path, below = command.telling_path, command.visible
    declared = declared_danger(command.metadata, path)
    inferred = inferred_danger(path)
    if declared or not below or does_something(command):
        idempotent = command.metadata is not None and command.metadata.idempotent
        yield declared or inferred, bool(declared), idempotent
    for child in below:
        yield from _dangers(child)
