"""What all workers told, counted and shown."""

from __future__ import annotations

import shlex
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

# One kind of finding is shown so many times; all are counted.
SHOWN = 2


@dataclass
class Tally:
    """What was done under a *seed*, and what came of it."""

    seed: int
    outcomes: Counter[tuple[str, str]] = field(default_factory=Counter)
    tools: Counter[str] = field(default_factory=Counter)
    ways: Counter[str] = field(default_factory=Counter)
    findings: list[dict[str, Any]] = field(default_factory=list)
    #: what went wrong with the soak itself, or in the long run
    failures: list[str] = field(default_factory=list)
    notes: set[str] = field(default_factory=set)
    slowest: list[tuple[float, int, str]] = field(default_factory=list)
    bytes: int = 0
    took: dict[str, float] = field(default_factory=dict)

    def take(self, told: dict[str, Any]) -> None:
        """Count what a worker told."""
        if "failure" in told:
            self.failures.append(told["failure"])
        elif "note" in told:
            self.notes.add(told["note"])
        elif "ways" in told:
            self.ways.update(told["ways"])
        elif "number" in told:
            self.outcomes[told["fault"], told["outcome"]] += 1
            self.tools[f"{told['adapter']}, {told['contract']}"] += 1
            self.bytes += told["bytes"]
            self.slowest.append((told["took"], told["number"], told["deed"]))
            self.slowest = sorted(self.slowest, reverse=True)[:3]
        if told.get("findings"):
            self.findings.append(told)
            print(
                f"found in {told.get('number', told.get('call'))}: {told['findings'][0]}",
                flush=True,
            )

    def count(self, part: str) -> int:
        """Return how many of *part* were done."""
        return (self.outcomes if part == "processes" else self.ways).total()

    def progress(self, part: str, last: int, seconds: float) -> str:
        """Return one line about how far *part* has come."""
        done = self.count(part)
        return (
            f"{done:,} of {last:,} {part}, {done / seconds:.0f} a second, "
            f"{len(self.findings)} findings"
        )


def show(tally: Tally) -> None:
    """Print the figures, and the findings."""
    if tally.outcomes:
        _show_processes(tally)
    if tally.ways:
        print(f"\n{'calls inside one process':<30}{'calls':>10}")
        for way, count in sorted(tally.ways.items()):
            print(f"{way:<30}{count:>10,}")
    for part, seconds in tally.took.items():
        done = tally.count(part)
        print(f"{done:,} {part} in {seconds:.0f} s, {done / seconds:.1f} a second")
    for note in sorted(tally.notes):
        print(f"NOTE {note}")
    kinds: Counter[str] = Counter()
    for finding in tally.findings:
        kind = _kind(finding)
        kinds[kind] += 1
        if kinds[kind] <= SHOWN:
            _show_finding(finding, tally.seed)
    for failure in tally.failures:
        print(f"\nFAILURE {failure}")
    print(f"\n{len(tally.findings)} findings of {len(kinds)} kinds, seed {tally.seed}")
    for kind, count in kinds.most_common():
        print(f"{count:>6}  {kind}")


def _show_processes(tally: Tally) -> None:
    print(f"\n{'fault':<22}{'processes':>10}  outcomes")
    for fault in sorted({fault for fault, _ in tally.outcomes}):
        counts = {end: count for (each, end), count in tally.outcomes.items() if each == fault}
        told = ", ".join(f"{count} {end}" for end, count in sorted(counts.items()))
        print(f"{fault:<22}{sum(counts.values()):>10,}  {told}")
    print(f"\n{'tool':<30}{'processes':>10}")
    for tool, count in sorted(tally.tools.items()):
        print(f"{tool:<30}{count:>10,}")
    print(f"{tally.bytes / 1e6:,.0f} MB were read")
    for seconds, number, deed in tally.slowest:
        print(f"slowest: {seconds:.1f} s, case {number}, {deed}")


def _kind(finding: dict[str, Any]) -> str:
    """Return what *finding* has in common with others."""
    first = finding["findings"][0].partition(":")[0][:70]
    if "number" not in finding:
        return f"{finding['way']}: {first}"
    style = " session" if finding["case"]["session"] else ""
    return f"{finding['fault']}, {finding['adapter']}{style}, {finding['deed']}: {first}"


def _show_finding(finding: dict[str, Any], seed: int) -> None:
    print()
    for line in finding["findings"]:
        print(f"FINDING {_ascii(line)}")
    facts = finding["facts"]
    if "number" not in finding:
        print(f"  call {finding['call']}, {finding['way']}, {finding['words']!a}, {facts}")
        return
    print(f"  {finding['fault']}, {finding['adapter']}, {finding['contract']}, {finding['case']}")
    print(f"  again: python -m soak --seed {seed} --only {finding['number']}")
    print(f"  argv:  {_ascii(shlex.join(word[:300] for word in finding['argv'][1:]))}")
    print(f"  exit {facts['exit']}, marks {facts['marks']}, sent {facts['sent']}")
    for name in ("stdout", "stderr"):
        if facts[name]:
            print(f"  {name}: {facts[name][:600]!a}")


def _ascii(text: str) -> str:
    return text.encode("ascii", "backslashreplace").decode()
