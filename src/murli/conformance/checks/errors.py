"""Errors: name and number, whether to try again, where to go, what to do."""

from __future__ import annotations

from collections.abc import Iterator

from ...wire.documents import is_terminal
from ..calls.documents import documents, errors_in
from ..calls.making import Call, Target, by_wire, over
from ..calls.mistaken import errors, failures, usage_errors
from ..judging import finding
from ..results import Finding
from ..shapes.envelope import error_shape, retry_advice
from ..shapes.envelope import redirect as redirect_troubles
from ..shapes.kinds import first, is_text, misfits, shown, summed_up
from ..shapes.murli import ERROR

# Fields that are left out rather than empty.
_LEFT_OUT_IF_EMPTY = ("suggestion", "valid_values", "field", "doc_url")
# Error codes that may come with any exit code, though one is usual.
_FREE = ("INCOMPLETE", "CANCELLED")
_TOKEN = ("TOKEN_EXPIRED", "TOKEN_INVALID", "TOKEN_MISSING")
_SIGNALLED = (130, 143)
_LAST_OF_TOOLS = 125
_LAST_OF_MURLI = 9


def _with_error(target: Target) -> Iterator[Call]:
    for call in target.all_calls():
        if isinstance((call.document or {}).get("error"), dict):
            yield call


@over(by_wire(errors, _with_error))
def shape(call: Call) -> str:
    """The fields of an error are there and have their types."""
    if call.target.is_enveloped:
        return first(error_shape(call.error, call.dialect))
    trouble = summed_up(misfits(call.error, ERROR))
    if not trouble and call.error.get("status", "error") != "error":
        trouble = f"status is {shown(call.error['status'])}"
    return trouble


@over(errors)
def exit_code(call: Call) -> str | None:
    """A process exits with the code of its error document."""
    code = call.error.get("code")
    if type(code) is not int or call.evidence.timed_out:
        return None
    differs = code != call.evidence.exit_code
    return f"the document says {code}, the process {call.ended}" if differs else ""


@over(errors)
def stream(call: Call) -> str:
    """An error is on stderr, and stdout is empty unless a stream had begun."""
    if not errors_in(call.evidence.stderr):
        return "the error is not on stderr"
    found, _ = documents(call.evidence.stdout)
    has_begun = any(not is_terminal(each) for each in found)
    is_empty = has_begun or not call.evidence.stdout.strip()
    return "" if is_empty else "an error, and stdout is not empty"


@over(by_wire(errors, Target.all_calls))
def exit_range(call: Call) -> str | None:
    """Every process exits with a code of its contract.

    With envelopes codes above 125 are the shell's, and only a stopped call may die by a signal.
    """
    code = call.exit_code
    if call.target.is_enveloped:
        is_known = 0 <= code <= _LAST_OF_TOOLS or "SIGINT" in call.evidence.event
        return "" if is_known else f"it ended with {call.ended}"
    if code <= 0:
        return None
    return "" if code <= _LAST_OF_MURLI else f"exit code {code}"


def _mistaken(target: Target) -> Iterator[Call]:
    return (call for call in failures(target) if call.exit_code == call.dialect.wrong_call)


@over(by_wire(usage_errors, _mistaken))
def instructive(call: Call) -> str:
    """The error about a wrong call says what to change."""
    advice = call.error.get(call.dialect.advice)
    if call.target.is_enveloped:
        return "" if is_text(advice) else f"the error has no {call.dialect.advice}"
    return "" if advice else "no suggestion"


# -- of murli ------------------------------------------------------------------------------------


@over(usage_errors)
def recoverable(call: Call) -> str | None:
    """The errors of wrong calls are recoverable."""
    if not isinstance(call.error.get("recoverable"), bool):
        return None
    return "" if call.error["recoverable"] else "a wrong call, and not recoverable"


@over(errors, warn=True)
def omits_empty(call: Call) -> str:
    """An error has no empty fields."""
    empty = [key for key in _LEFT_OUT_IF_EMPTY if call.error.get(key, key) in ("", [], None)]
    return f"{', '.join(empty)} is empty" if empty else ""


# -- of envelopes --------------------------------------------------------------------------------


def code(target: Target) -> Iterator[Finding]:
    """The name of the error and the exit code mean the same."""
    codes = target.dialect.codes
    numbers = {"SUCCESS": 0, **{name: codes[name] for name in codes if name not in _FREE}}
    for call in failures(target):
        name, ended, trouble = call.error_name, call.exit_code, ""
        meant = numbers.get(name, ended)
        if name == "CANCELLED" and ended not in _SIGNALLED:
            meant = _SIGNALLED[0]
        if meant != ended:
            trouble = f"error.code is {name}, which is exit {meant}, and it ended with {ended}"
        elif ended == codes["AUTH_REQUIRED"] and name not in _TOKEN:
            trouble = f"error.code is {name}, which is none of {', '.join(_TOKEN)}"
        yield finding(trouble, call.command, call.evidence, warn=meant == ended)


@over(failures)
def retry(call: Call) -> str:
    """The advice about retrying is complete and does not contradict itself."""
    return first(retry_advice(call.error, call.exit_code, call.dialect))


@over(failures)
def redirect(call: Call) -> str:
    """A redirect names the call to make instead."""
    return first(redirect_troubles(call.error, call.exit_code))
