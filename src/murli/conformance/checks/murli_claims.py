"""What a murli tool claims about its commands: that they are safe, have previews, can be saved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...client.envelopes import object_in
from ...safety import inferred_danger, suggests_change
from ..checking import MURLI, NotApplicable, check, judged
from ..results import Finding
from ..target import Target
from .calls import gaps_in
from .murli_calls import described, each_described, each_with_flags, needed, previewing
from .murli_shapes import PROFILES, flags_in, is_undeclared, misfits, shown, summed_up


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
        if mutating and is_undeclared(command) and not command.get("subcommands"):
            trouble = "mutating is true and safety.declared false"
        elif command.get("subcommands"):
            # What a group declares is about itself, its safety about what is below it.
            trouble = "mutating is true and safety.read_only true" if mutating and reads else ""
        elif reads is mutating and ("mutating" in command or name):
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
    reading = {
        name
        for name, entry, _ in each_described(target)
        if object_in(entry.get("safety")).get("read_only") is True
    }
    for command in target.leaves:
        name = " ".join(command.path)
        vouched = name in target.profile.safe
        trouble = ""
        if suggests_change(command.path) and not command.mutating and not vouched:
            if name in reading:
                trouble = f"{name} is declared to only read"
            elif not inferred_danger(command.path):  # which is a failure of its own
                trouble = f"{name} is not declared, and may be a change by its name"
        yield judged(trouble, name, target.run("describe"), warn=True)


@check(
    "murli.describe.declared",
    "Commands that look like changes are declared",
    level=2,
    contracts=MURLI,
    requirements=("0.1", "17.23"),
)
def declared(target: Target) -> Iterator[Finding]:
    """No command looks like a change undeclared, nor stands undeclared in a mutating group."""
    document, evidence = described(target)
    gaps = {
        path: sentence
        for path, sentence in gaps_in(document)
        if path not in target.profile.safe and path not in target.profile.exclude
    }
    found = [
        judged(gaps.pop(name, ""), name, evidence) for name, _, _ in each_described(target) if name
    ]
    # What is left is about the tool itself.
    found += [judged(sentence, "", evidence) for sentence in gaps.values()]
    yield from needed(found, "no command is described")


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
            for _, command, _ in each_with_flags(target)
            for flag, entry in flags_in(command)
            if entry.get("profileable") is True
        }
        missing = sorted(declared.difference(names))
        if names != sorted(names):
            trouble = "profiles.profileable_flags is not sorted"
        elif missing:
            trouble = f"profiles.profileable_flags lacks {', '.join(missing[:3])}"
    yield judged(trouble, "", evidence)
