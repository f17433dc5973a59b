"""All checks: the rows of ``checks.json``, each with its function."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module

from ..judging import Check, Look
from ..results import CONTRACTS
from ..target import ENVELOPES, NONE
from .rows import QUESTIONS

#: for checks that apply also to tools without a contract
ANY = (*CONTRACTS, NONE)
_CONTRACTS = {
    "any": ANY,
    "murli": CONTRACTS[:1],
    "murli or none": (*CONTRACTS[:1], NONE),
    "envelopes": ENVELOPES,
    "envelopes or none": (*ENVELOPES, NONE),
    # The revisions in which meta describes the call, and the last of them.
    "later envelopes": ENVELOPES[1:],
    "newest envelope": ENVELOPES[2:],
}


def _checks() -> Iterator[Check]:
    for question in QUESTIONS:
        for id, level, contracts, requirements, look, when, title in question["checks"]:
            yield Check(
                id,
                title,
                level,
                _CONTRACTS[contracts],
                tuple(requirements.split()),
                _function(look),
                in_hindsight=when == "in hindsight",
                is_alone=when == "alone",
            )


def _function(name: str) -> Look:
    """Return a function by the name of its module here and its own."""
    module, _, function = name.partition(".")
    found: Look = getattr(import_module(f".{module}", __package__), function)
    return found


def _order(check: Check) -> tuple[bool, int, str]:
    room = ("process", "family", "murli").index(check.id.partition(".")[0])
    return check.in_hindsight, room, check.id


CHECKS = tuple(sorted(_checks(), key=_order))
