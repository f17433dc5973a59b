"""Black-box checks of any executable: which contract it speaks, and what it breaks.

`check` runs a tool of any language in an empty home and an empty folder, each process under a
deadline in a group of its own, and never runs a command that changes something, but for seeing it
refuse. ``murli check`` and ``python -m murli.conformance`` are the same from a shell.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from .examining import NotRunnable, opened
from .profile import BadProfile, Profile, load
from .results import Evidence, Finding, Node, Report, Result

if TYPE_CHECKING:
    from .target import Target

__all__ = [
    "BadProfile",
    "Evidence",
    "Finding",
    "Node",
    "NotRunnable",
    "Profile",
    "Report",
    "Result",
    "check",
    "load",
]


def check(
    tool: Sequence[str],
    *,
    contract: str = "",
    profile: Profile | None = None,
    env: Mapping[str, str] | None = None,
    only: Sequence[str] = (),
    on_result: Callable[[Result], None] | None = None,
) -> Report:
    """Check *tool*, the words that run it, and report.

    *contract* is the one to check, ``""`` for whatever it speaks; a tool that speaks several is
    asked for it with ``MURLI_CONTRACT``. A tool that speaks none is measured by murli. *only* are
    the beginnings of the ids of the checks to make. Raises `NotRunnable` for what cannot start.
    """
    from .checking import checks_for, results_of

    profile = profile or Profile()
    started = time.monotonic()
    results = []
    with opened(tool, profile, contract or profile.contract, env or {}) as subject:
        target = subject.target
        wanted = [
            each
            for each in checks_for(target.contract)
            if not only or each.id.startswith(tuple(only))
        ]
        for result in results_of(target, wanted):
            results.append(result)
            if on_result is not None:
                on_result(result)
    return Report(
        tuple(tool),
        target.name,
        target.speaks,
        target.contract,
        target.wire,
        target.version,
        tuple(sorted(results, key=lambda each: (each.level, each.id))),
        _nodes(target),
        round((time.monotonic() - started) * 1000),
        len(target.prober.seen),
        subject.notes,
        is_complete=not only,
    )


def _nodes(target: Target) -> tuple[Node, ...]:
    nodes = {"": Node("")}
    for command in target.commands:
        danger = {True: "mutating", False: "safe", None: "unknown"}[command.mutating]
        danger = "destructive" if command.destructive else danger
        path = " ".join(command.path)
        nodes[path] = Node(path, command.description, danger)
    return tuple(nodes.values())
