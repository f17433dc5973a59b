"""Black-box checks of any executable: which contract it speaks, and what it breaks.

`check` runs a tool of any language in an empty home and an empty folder, each process under a
deadline in a group of its own. It never confirms a change: commands that change something are only
called to see that they refuse. ``murli check`` and ``python -m murli.conformance`` do the same.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from .examining import NotRunnable, opened
from .profile import BadProfile, Profile, load
from .results import CONTRACTS, Evidence, Finding, Node, Report, Result

if TYPE_CHECKING:
    from .calls.making import Target

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


#: called with each result and with the number of checks; again where checks are repeated
OnResult = Callable[[Result, int], None]


def check(
    tool: Sequence[str],
    *,
    contract: str = "",
    profile: Profile | None = None,
    env: Mapping[str, str] | None = None,
    only: Sequence[str] = (),
    on_result: OnResult | None = None,
    jobs: int = 1,
) -> Report:
    """Check *tool*, the words that run it, and return the report.

    *contract* is the one to check, ``""`` for whatever it speaks; a tool that speaks several is
    asked for it with ``MURLI_CONTRACT``. A tool that speaks none is measured by murli. *only* are
    prefixes of the ids of the checks to make. *jobs* is how many processes of the tool may run at
    once; the report is the same for any number. *on_result* is called with every result and with
    the number of checks. Raises `NotRunnable` for a tool that cannot be started.
    """
    profile = profile or Profile()
    asked = contract or profile.contract
    if not tool or not tool[0]:
        raise ValueError("a tool is a list of words that begins with a program")
    if asked and asked not in CONTRACTS:
        raise ValueError(f"contract is one of {', '.join(CONTRACTS)}, not {asked!r}")
    if jobs < 1:
        raise ValueError(f"jobs is 1 or more, not {jobs}")
    if profile.keep_home:  # there is only one home, and changes in it are not noticed
        jobs = 1
    from .probing import Disturbed

    def report(jobs: int) -> Report:
        return _report(tool, profile, asked, env or {}, tuple(only), on_result, jobs)

    started = time.monotonic()
    try:
        found = report(jobs)
    except Disturbed:  # never with one process at a time
        found = report(1)
    return replace(found, duration_ms=round((time.monotonic() - started) * 1000))


def _report(
    tool: Sequence[str],
    profile: Profile,
    contract: str,
    env: Mapping[str, str],
    only: tuple[str, ...],
    on_result: OnResult | None,
    jobs: int,
) -> Report:
    from .checking import checks_for, results_of, results_side_by_side

    results = []
    with opened(tool, profile, contract, env) as subject:
        target = subject.target
        known = checks_for(target.contract)
        wanted = [each for each in known if not only or each.id.startswith(only)]
        made = results_of(target, wanted)
        if jobs > 1:
            made = results_side_by_side(target, wanted, jobs, subject.new_place)
        for result in made:
            results.append(result)
            if on_result is not None:
                on_result(result, len(wanted))
    return Report(
        tuple(tool),
        target.name,
        target.speaks,
        target.contract,
        target.wire,
        target.version,
        tuple(sorted(results, key=lambda each: (each.level, each.id))),
        _nodes(target),
        processes=len(target.prober.seen),
        notes=(*subject.notes, *_remarks(target)),
        is_complete=not only and target.was_run,
    )


def _remarks(target: Target) -> list[str]:
    """Return notes for the reader about how the report was made."""
    found = []
    if not target.was_run and target.speaks == target.contract:
        found.append(
            "No command of the tool itself could be run, so no level is reached; "
            "write a profile with `murli check --init FILE`, and name calls in it."
        )
    profile = target.profile
    if profile.exclude:
        found.append(f"Left out by the profile: {', '.join(profile.exclude)}.")
    listed = target.catalogue.commands if target.catalogue is not None else {}
    named = {*profile.exclude, *profile.safe, *profile.arguments}
    unknown = sorted(named - set(listed)) if listed else []
    if unknown:
        found.append(f"The profile names a command that does not exist: {', '.join(unknown)}.")
    return found


def _nodes(target: Target) -> tuple[Node, ...]:
    nodes = {"": Node("")}
    for command in target.commands:
        danger = {True: "mutating", False: "safe", None: "unknown"}[command.mutating]
        danger = "destructive" if command.destructive else danger
        path = " ".join(command.path)
        nodes[path] = Node(path, command.description, danger)
    return tuple(nodes.values())
