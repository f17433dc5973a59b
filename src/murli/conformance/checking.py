"""What a check is, and how it is made: it looks, and everything it looked at is a finding.

A check that found nothing to look at has verified nothing, and never counts as a pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

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
from .target import FAMILY, NONE, Target

MURLI = ("murli",)
ALL = (*MURLI, *FAMILY)
#: for checks that can also be made of a tool that speaks no contract at all
ANY = (*ALL, NONE)
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


_CHECKS: dict[str, Check] = {}


def check(
    id: str,
    title: str,
    *,
    level: int,
    contracts: tuple[str, ...] = ALL,
    requirements: tuple[str, ...] = (),
    in_hindsight: bool = False,
) -> Callable[[Look], Look]:
    """Register a function that looks at a target as the check called *id*."""

    def register(look: Look) -> Look:
        if id in _CHECKS:
            raise ValueError(f"there are two checks called {id}")
        _CHECKS[id] = Check(id, title, level, contracts, requirements, look, in_hindsight)
        return look

    return register


def checks_for(contract: str) -> list[Check]:
    """Give the checks of a contract, in the order they have to be made in."""
    from . import checks  # registers them all  # noqa: F401

    own = [each for each in _CHECKS.values() if contract in each.contracts]
    return sorted(own, key=lambda each: (each.in_hindsight, each.level, each.id))


def results_of(target: Target, checks: Iterable[Check]) -> Iterator[Result]:
    """Make *checks*, and give what became of each."""
    for each in checks:
        yield each.made_on(target)


# -- findings ------------------------------------------------------------------------------------


def judged(
    trouble: str, command: str = "", evidence: Evidence | None = None, *, warn: bool = False
) -> Finding:
    """Give the finding for *trouble* in words, a pass when there is none."""
    status = (WARN if warn else FAIL) if trouble else PASS
    return Finding(status, command, trouble, evidence)
