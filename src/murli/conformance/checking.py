"""Runs the checks of a contract on a tool, in order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, as_completed

from .calls.making import Target
from .checks.table import CHECKS
from .judging import Check
from .probing import Place
from .results import Result

# A check mostly waits for processes, often those of another check.
_CHECKS_FOR_EACH_JOB = 8


def checks_for(contract: str) -> list[Check]:
    """Return the checks of a contract in the order in which they have to run."""
    own = [each for each in CHECKS if contract in each.contracts]
    return sorted(own, key=lambda each: (each.in_hindsight, each.is_alone, each.level, each.id))


def results_of(target: Target, checks: Iterable[Check]) -> Iterator[Result]:
    """Run *checks*, and yield the result of each."""
    for each in checks:
        yield each.made_on(target)


def results_side_by_side(
    target: Target, checks: Iterable[Check], jobs: int, new_place: Callable[[], Place]
) -> Iterator[Result]:
    """Run *checks* with *jobs* processes at once, and yield each result when it is there.

    Raises `Disturbed` if they have to run one after the other.
    """

    def made(number: int, check: Check) -> Result:
        target.prober.asked_by(number)
        return check.made_on(target)

    ordered = list(enumerate(checks, 1))
    beside = [each for each in ordered if not (each[1].is_alone or each[1].in_hindsight)]
    with (
        ThreadPoolExecutor(jobs * _CHECKS_FOR_EACH_JOB) as pool,
        target.prober.side_by_side(jobs, new_place),
    ):
        futures = [pool.submit(made, *each) for each in beside]
        try:
            yield from map(Future.result, as_completed(futures))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    yield from (made(*each) for each in ordered if each not in beside)
