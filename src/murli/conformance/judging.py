"""What a check is: it looks, and everything it looked at is a finding.

A check that found nothing to look at has verified nothing, and never counts as a pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import wraps

from .results import (
    FAIL,
    NOT_APPLICABLE,
    NOT_VERIFIED,
    PASS,
    WARN,
    Evidence,
    Finding,
    Result,
    worst,
)
from .target import NONE, Target

Look = Callable[[Target], Iterable[Finding]]


class NotApplicable(Exception):
    """The tool has nothing a check could be about."""


class NotVerified(Exception):
    """A check could not be made."""


@dataclass(frozen=True, slots=True)
class Check:
    """One thing a contract asks for. *requirements* are its names in the contract's own text."""

    id: str
    title: str
    level: int
    contracts: tuple[str, ...]
    requirements: tuple[str, ...]
    look: Look
    #: whether it looks at what the other checks have run, and so comes behind them
    in_hindsight: bool = False
    #: whether it depends on how long something takes, and so is made while nothing else is
    is_alone: bool = False

    def made_on(self, target: Target) -> Result:
        """Make the check."""
        reason = target.profile.skip.get(self.id, "")
        findings: tuple[Finding, ...] = ()
        status = NOT_VERIFIED
        if reason:
            reason = f"left out by the profile: {reason}"
        elif target.speaks == NONE and NONE not in self.contracts:
            # Whatever else was called might do anything.
            reason = "the tool speaks no contract"
        else:
            try:
                findings = tuple(self.look(target))
                status = worst(findings)
                reason = "" if findings else "there was nothing to look at"
            except NotApplicable as error:
                status, reason = NOT_APPLICABLE, str(error)
            except NotVerified as error:
                reason = str(error)
            except Exception as error:  # what a tool prints must never end the check of it
                findings = ()
                reason = f"the check itself failed: {type(error).__name__}: {error}"
        return Result(self.id, self.title, self.level, self.requirements, status, reason, findings)


def judged(
    trouble: str, command: str = "", evidence: Evidence | None = None, *, warn: bool = False
) -> Finding:
    """Return the finding for *trouble* in words, a pass when there is none."""
    status = (WARN if warn else FAIL) if trouble else PASS
    return Finding(status, command, trouble, evidence)


def or_not_applicable(found: Iterable[Finding], reason: str) -> Iterator[Finding]:
    """Yield what was found; where there was nothing to find, the check is not about this tool."""
    any_found = False
    for each in found:
        any_found = True
        yield each
    if not any_found:
        raise NotApplicable(reason)


def all_seen(look: Callable[[Target], Iterable[Finding | str]]) -> Look:
    """Make a check of what yields findings, and for everything that stayed unclear a reason.

    It is `NotVerified` when nothing is wrong, and something stayed unclear.
    """

    @wraps(look)
    def looked(target: Target) -> list[Finding]:
        seen = list(look(target))
        found = [each for each in seen if isinstance(each, Finding)]
        unclear = [each for each in seen if isinstance(each, str)]
        if unclear and all(each.status == PASS for each in found):
            raise NotVerified("; ".join(unclear[:3]))
        return found

    return looked
