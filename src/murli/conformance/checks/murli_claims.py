"""What a murli tool claims about its commands: that they are safe, have previews, can be saved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...safety import suggests_change
from ..checking import MURLI, NotApplicable, check, judged
from ..results import Finding
from ..target import Target
from .murli_calls import described, each_described, needed, previewing
from .murli_shapes import PROFILES, flags_in, misfits, shown, summed_up


@check(
    "murli.describe.safety",
    "What is said about safety does not contradict itself",
    level=2,
    contracts=MURLI,
    requirements=("10.1", "12"),
)
def safety(target: Target) -> Iterator[Finding]:
    """``read_only`` is the opposite of ``mutating``, and what destroys does not only read."""
    found = []
    for name, command, evidence in each_described(target):
        block = command.get("safety")
        told: Mapping[str, Any] = block if isinstance(block, dict) else {}
        mutating, reads = command.get("mutating") is True, told.get("read_only")
        idempotent = command.get("idempotent")
        trouble = ""
        if reads is mutating and ("mutating" in command or name):
            trouble = f"mutating is {shown(mutating)} and safety.read_only {shown(reads)}"
        elif reads is True and told.get("destructive") is True:
            trouble = "it only reads and is destructive"
        elif isinstance(idempotent, bool) and told.get("idempotent") is (not idempotent):
            trouble = "idempotent and safety.idempotent differ"
        found.append(judged(trouble, name, evidence))
    yield from needed(found, "no command is described")


@check(
    "murli.describe.safety-honest",
    "A command that is called like a change is declared as one",
    level=3,
    contracts=MURLI,
    requirements=("17.23",),
)
def safety_honest(target: Target) -> Iterator[Finding]:
    """A name such as delete or create belongs to a command that is declared mutating."""
    for command in target.leaves:
        name = " ".join(command.path)
        vouched = name in target.profile.safe
        suspicious = suggests_change(command.path) and not command.mutating and not vouched
        trouble = f"{name} is declared to only read" if suspicious else ""
        yield judged(trouble, name, target.run("describe"), warn=True)


@check(
    "murli.describe.dry-run",
    "Whether the tool has previews is told",
    level=3,
    contracts=MURLI,
    requirements=("10.1", "17.22"),
)
def dry_run(target: Target) -> Iterator[Finding]:
    """``capabilities.dry_run`` is true exactly when some command has a preview."""
    document, evidence = described(target)
    able = document.get("capabilities")
    said = able.get("dry_run") if isinstance(able, dict) else None
    if not isinstance(said, bool):
        raise NotApplicable("capabilities.dry_run is not there")
    has = bool(previewing(target))
    trouble = "" if said is has else f"capabilities.dry_run is {shown(said)}, which is not so"
    yield judged(trouble, "", evidence, warn=True)


@check(
    "murli.describe.profiles",
    "What profiles may hold is told",
    level=3,
    contracts=MURLI,
    requirements=("10.1", "16.20"),
)
def profiles(target: Target) -> Iterator[Finding]:
    """``profiles`` lists, in order, the flags that say they may be saved."""
    document, evidence = described(target)
    block = document.get("profiles")
    if block is None:
        raise NotApplicable("it has no profiles")
    if not isinstance(block, dict):
        yield judged(f"profiles is {shown(block)} instead of an object", "", evidence)
        return
    trouble = summed_up(misfits(block, PROFILES, "profiles."))
    names = block.get("profileable_flags")
    if not trouble and isinstance(names, list):
        declared = {
            flag
            for _, command, _ in each_described(target)
            for flag, entry in flags_in(command)
            if entry.get("profileable") is True
        }
        missing = sorted(declared.difference(names))
        if names != sorted(names):
            trouble = "profiles.profileable_flags is not sorted"
        elif missing:
            trouble = f"profiles.profileable_flags lacks {', '.join(missing[:3])}"
    yield judged(trouble, "", evidence)
