"""A check looks at a tool, and everything it looked at is a finding.

A check that found nothing to look at has verified nothing, and never counts as a pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING

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
from .target import NONE

if TYPE_CHECKING:
    from .calls.making import Target

Look = Callable[["Target"], Iterable[Finding]]


class NotApplicable(Exception):
    """The tool has nothing that the check is about."""


class NotVerified(Exception):
    """The check could not be made."""


@dataclass(frozen=True, slots=True)
class Check:
    """One requirement of a contract. *requirements* are its ids in the contract's own text."""

    id: str
    title: str
    level: int
    contracts: tuple[str, ...]
    requirements: tuple[str, ...]
    look: Look
    #: whether it looks at the calls of other checks, and so runs after them
    in_hindsight: bool = False
    #: whether it depends on timing, and so runs while nothing else does
    is_alone: bool = False

    def made_on(self, target: Target) -> Result:
        """Run the check, and return its result."""
        reason = target.profile.skip.get(self.id, "")
        findings: tuple[Finding, ...] = ()
        status = NOT_VERIFIED
        if reason:
            reason = f"left out by the profile: {reason}"
        elif target.speaks == NONE and NONE not in self.contracts:
            # Any other call might change something.
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
            except Exception as error:  # the output of a tool must never end the check of it
                findings = ()
                reason = f"the check itself failed: {type(error).__name__}: {error}"
        return Result(self.id, self.title, self.level, self.requirements, status, reason, findings)


def finding(
    trouble: str, command: str = "", evidence: Evidence | None = None, *, warn: bool = False
) -> Finding:
    """Return a finding: failed, or with *warn* a warning, for the reason *trouble*; else a pass."""
    status = (WARN if warn else FAIL) if trouble else PASS
    return Finding(status, command, trouble, evidence)


def or_not_applicable(found: Iterable[Finding], reason: str) -> Iterator[Finding]:
    """Yield *found*; raises `NotApplicable` if there is nothing in it."""
    any_found = False
    for each in found:
        any_found = True
        yield each
    if not any_found:
        raise NotApplicable(reason)


def all_seen(look: Callable[[Target], Iterable[Finding | str]]) -> Look:
    """Turn a function that yields findings, and reasons why it could not decide, into a check.

    The check raises `NotVerified` if nothing is wrong and something could not be decided.
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
