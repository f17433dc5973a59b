"""What a failure tells: its code, whether to try again, where to go instead, how to mend it."""

from __future__ import annotations

from collections.abc import Iterator

from ..checking import check, judged
from ..results import Finding
from ..target import FAMILY, Target
from .family_calls import ARG_ERROR, PARTIAL_FAILURE, Call, all_calls
from .family_shapes import error_shape, first, is_text, redirect, retry_advice

# Names that are codes of the table; any other is finer, and may come with any of them.
_NUMBERS = {
    "SUCCESS": 0,
    "GENERAL_ERROR": 1,
    "PRECONDITION": 4,
    "NOT_FOUND": 5,
    "CONFLICT": 6,
    "PERMISSION_DENIED": 7,
    "AUTH_REQUIRED": 8,
    "PAYMENT_REQUIRED": 9,
    "TIMEOUT": 10,
    "RATE_LIMITED": 11,
    "UNAVAILABLE": 12,
    "REDIRECTED": 13,
}
_AUTH_REQUIRED = 8
_TOKEN = ("TOKEN_EXPIRED", "TOKEN_INVALID", "TOKEN_MISSING")
_SIGNALLED = (130, 143)
_LAST_OF_TOOLS = 125


def _failures(target: Target) -> Iterator[Call]:
    """Give the calls that failed and say why, but those of a batch, which speak for themselves."""
    for call in all_calls(target):
        if call.error and call.exit_code > 0 and "_line" not in call.meta:
            yield call


@check(
    "family.error.shape",
    "An error has a code for programs and a message for people",
    level=1,
    contracts=FAMILY,
    requirements=("C-013",),
    in_hindsight=True,
)
def errors_have_a_shape(target: Target) -> Iterator[Finding]:
    """The fields of an error are what they have to be."""
    for call in all_calls(target):
        if isinstance((call.document or {}).get("error"), dict):
            trouble = first(error_shape(call.error, target.contract))
            yield judged(trouble, call.command, call.evidence)


@check(
    "family.error.code",
    "An error that is called like an exit code ends with it",
    level=1,
    contracts=FAMILY,
    requirements=("F-001", "F-063"),
    in_hindsight=True,
)
def codes_agree(target: Target) -> Iterator[Finding]:
    """What an error is called and the number of the exit code mean the same."""
    contract = target.contract
    numbers = {
        **_NUMBERS,
        "ARG_ERROR": ARG_ERROR[contract],
        "PARTIAL_FAILURE": PARTIAL_FAILURE[contract],
    }
    for call in _failures(target):
        code, ended = call.error_code, call.exit_code
        meant = numbers.get(code, ended)
        if code == "CANCELLED" and ended not in _SIGNALLED:
            meant = _SIGNALLED[0]
        if meant != ended:
            trouble = f"error.code is {code}, which is exit {meant}, and it ended with {ended}"
            yield judged(trouble, call.command, call.evidence)
        elif ended == _AUTH_REQUIRED and code not in _TOKEN:
            trouble = f"error.code is {code}, which is none of {', '.join(_TOKEN)}"
            yield judged(trouble, call.command, call.evidence, warn=True)
        else:
            yield judged("", call.command, call.evidence)


@check(
    "family.error.retry",
    "An error tells whether and how to try again",
    level=3,
    contracts=FAMILY,
    requirements=("C-014", "C-030"),
    in_hindsight=True,
)
def retry_is_told(target: Target) -> Iterator[Finding]:
    """The advice about another try is complete, and does not contradict itself."""
    for call in _failures(target):
        trouble = first(retry_advice(call.error, call.exit_code, target.contract))
        yield judged(trouble, call.command, call.evidence)


@check(
    "family.error.redirect",
    "A redirect comes with exit 13, and with nothing else",
    level=1,
    contracts=FAMILY,
    requirements=("F-001", "C-013"),
    in_hindsight=True,
)
def redirects_lead_on(target: Target) -> Iterator[Finding]:
    """Who is redirected learns the call to make instead."""
    for call in _failures(target):
        trouble = first(redirect(call.error, call.exit_code))
        yield judged(trouble, call.command, call.evidence)


@check(
    "family.error.instructive",
    "Who made a mistake learns how to mend it",
    level=1,
    contracts=FAMILY,
    requirements=("F-002", "C-013"),
    in_hindsight=True,
)
def mistakes_are_mended(target: Target) -> Iterator[Finding]:
    """The error about a wrong call tells what to change."""
    name = "suggestion" if target.contract == "response" else "fix_required"
    for call in _failures(target):
        if call.exit_code == ARG_ERROR[target.contract]:
            trouble = "" if is_text(call.error.get(name)) else f"the error has no {name}"
            yield judged(trouble, call.command, call.evidence)


@check(
    "family.exit-code.range",
    "Exit codes are those of the table",
    level=1,
    contracts=FAMILY,
    requirements=("F-001",),
    in_hindsight=True,
)
def codes_are_known(target: Target) -> Iterator[Finding]:
    """No code above 125, which are the shell's, and no death by a signal; but who is stopped."""
    for call in all_calls(target):
        stopped = "SIGINT" in call.evidence.event
        known = 0 <= call.exit_code <= _LAST_OF_TOOLS
        trouble = "" if known or stopped else f"it ended with {call.evidence.ended}"
        yield judged(trouble, call.command, call.evidence)
