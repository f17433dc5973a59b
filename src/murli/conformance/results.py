"""The results of checking a tool: evidence, findings, results, and the report.

Every finding carries its evidence: the words of the call, its exit and its output.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ..wire import CONTRACTS as CONTRACTS

PASS, FAIL, WARN = "pass", "fail", "warn"
NOT_APPLICABLE, NOT_VERIFIED = "not_applicable", "not_verified"
STATUSES = (PASS, FAIL, WARN, NOT_APPLICABLE, NOT_VERIFIED)
#: the states of a level: reached, broken, or unknown because a check of it could not run
REACHED, BROKEN, INCOMPLETE = "pass", "fail", "incomplete"
LEVELS = (1, 2, 3)
# What a status adds to the score; checks that do not apply are left out.
_WORTH = {PASS: 1.0, WARN: 0.5, FAIL: 0.0, NOT_VERIFIED: 0.0}


@dataclass(frozen=True, slots=True)
class Evidence:
    """One process of the tool: its words, its end and its output.

    *stdin* is ``null`` (nothing to read), ``closed``, ``silent`` (open without data) or ``text``,
    which is *given*. *event* describes what was done to the process. *exit_code* is the negative
    number of the signal that ended it, ``None`` if it had to be killed or never ran. *changed* are
    the files it created, changed or removed in its folder, *cwd*.
    """

    argv: tuple[str, ...]
    stdin: str = "null"
    env: Mapping[str, str] = field(default_factory=dict)
    event: str = ""
    stdout: bytes = b""
    stderr: bytes = b""
    exit_code: int | None = 0
    timed_out: bool = False
    duration_ms: int = 0
    changed: tuple[str, ...] = ()
    given: str = ""
    cwd: str = ""

    @property
    def ended(self) -> str:
        """How the process ended, in words."""
        if self.timed_out:
            return f"did not end within {self.duration_ms / 1000:.1f} s"
        if self.exit_code is None:
            return "never ran"
        if self.exit_code < 0:
            return f"signal {-self.exit_code}"
        return f"exit {self.exit_code}"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing a check looked at: *status* is pass, fail or warn.

    *command* are the words after the tool's name, ``""`` for the tool itself; *detail* says what is
    wrong, in one sentence.
    """

    status: str
    command: str = ""
    detail: str = ""
    evidence: Evidence | None = None


@dataclass(frozen=True, slots=True)
class Result:
    """The result of one check. *reason* says why it does not apply or could not be verified."""

    id: str
    title: str
    level: int
    requirements: tuple[str, ...]
    status: str
    reason: str = ""
    findings: tuple[Finding, ...] = ()

    @property
    def troubles(self) -> tuple[Finding, ...]:
        """The failures, then the warnings."""
        bad = [each for each in self.findings if each.status == FAIL]
        return (*bad, *(each for each in self.findings if each.status == WARN))


@dataclass(frozen=True, slots=True)
class Node:
    """A command of the tool; *path* is ``""`` for the tool itself."""

    path: str
    summary: str = ""
    danger: str = "unknown"  # safe, mutating, destructive or unknown


@dataclass(frozen=True, slots=True)
class Report:
    """The results of one tool under one contract.

    *contract* is what the tool speaks, ``none`` if it speaks none; *measured* the one that was
    checked. *wire* is the dialect of murli: ``docs`` or ``go``.
    """

    tool: tuple[str, ...]
    name: str
    contract: str
    measured: str
    wire: str = ""
    version: str = ""
    results: tuple[Result, ...] = ()
    nodes: tuple[Node, ...] = ()
    duration_ms: int = 0
    processes: int = 0
    notes: tuple[str, ...] = ()
    #: whether all checks were made; otherwise no level is reached
    is_complete: bool = True

    def count(self, status: str) -> int:
        """Return how many checks have *status*."""
        return sum(1 for each in self.results if each.status == status)

    @property
    def score(self) -> int:
        """The percentage of applicable checks that passed, rounded down; a warning counts half."""
        worth = [_WORTH[each.status] for each in self.results if each.status != NOT_APPLICABLE]
        return int(100 * sum(worth) / len(worth)) if worth else 0

    @property
    def levels(self) -> dict[int, str]:
        """The state of each level; one is reached only together with all below it."""
        found: dict[int, str] = {}
        below = REACHED if self.is_complete else INCOMPLETE
        if self.contract != self.measured:
            below = BROKEN
        for level in LEVELS:
            own = [each.status for each in self.results if each.level == level]
            if FAIL in own or below == BROKEN:
                below = BROKEN
            elif NOT_VERIFIED in own or PASS not in own or below == INCOMPLETE:
                below = INCOMPLETE
            found[level] = below
        return found

    @property
    def level(self) -> int:
        """The highest level that is reached, 0 for none."""
        return max((level for level, state in self.levels.items() if state == REACHED), default=0)

    @property
    def ok(self) -> bool:
        """Whether nothing failed."""
        return not self.count(FAIL)


def worst(findings: Sequence[Finding]) -> str:
    """Return the status of a check with these *findings*; without any it is not verified."""
    for status in (FAIL, WARN, PASS):
        if any(each.status == status for each in findings):
            return status
    return NOT_VERIFIED
