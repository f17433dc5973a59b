"""From the document that ends an answer to a `WireResponse`, for murli and for the family.

Pure. Whatever stands in the document is data, of any type; nothing here raises on it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import ceil
from typing import Any

from .dialects import REDIRECTED, dialect_of, is_envelope
from .documents import MURLI_STATES
from .response import Part, Problem, Replacement, Warned, WireResponse
from .tables import kind_of
from .values import MOST, list_in, number_in, object_in, objects_in, text_in, texts_in

# Errors of murli that refuse a call before it runs.
_REFUSALS = ("confirmation_required", "CONFIRMATION_REQUIRED", "flag_error", "command_error")
# Says no more than that the process ended with this status, whatever the number means elsewhere.
_FOREIGN = "execution_error"
# What a document of murli says about the call rather than about its outcome.
_MURLI_META = ("schema_version", "tool_version", "exit_status")
_REDIRECTED_IN_MURLI = 1

# -- murli -------------------------------------------------------------------------------------


def from_murli(document: Mapping[str, Any], exit_code: int | None) -> WireResponse[Any]:
    """Understand a murli *document*, in the spelling of any of its languages."""
    state = MURLI_STATES.get(text_in(document.get("status")), "failed")
    stated = number_in(document.get("code"))
    expected = {"failed": stated, "partial": 3}.get(state, 0)
    oddities: tuple[str, ...] = ()
    if exit_code is not None and expected not in (None, exit_code):
        claim = stated if state == "failed" else document.get("status")
        oddities = (f"the document says {claim}, the process {exit_code}",)
    problem = None
    if state == "failed":
        # The process's own code comes first; a pipe may have eaten it.
        problem = _murli_problem(document, exit_code or stated)
    elif state == "partial":
        problem = Problem("partial", "partial", text_in(document.get("message")), retryable=False)
    elif exit_code:
        problem = Problem(
            kind_of("murli", exit_code),
            message="The exit code says it failed.",
            # A preview has done nothing, whatever became of it.
            phase="validation" if state == "plan" else "",
        )
        state = "failed"
    page = document.get("page")
    return WireResponse(
        "murli",
        state,
        exit_code,
        document.get("plan", document.get("result")),
        text_in(document.get("message")) if state != "failed" else "",
        problem,
        meta={key: document[key] for key in _MURLI_META if key in document},
        part=_murli_part(page) if isinstance(page, dict) else Part(),
        not_modified=document.get("not_modified") is True,
        oddities=oddities,
        next=texts_in(document.get("next")),
    )


def _murli_problem(document: Mapping[str, Any], number: int | None) -> Problem:
    code = text_in(document.get("error"))
    kind = "tool_error" if code == _FOREIGN else kind_of("murli", number, code)
    redirect = None
    if number == _REDIRECTED_IN_MURLI:
        redirect = _replacement(object_in(document.get("redirect")))
    if redirect is not None:
        kind = "redirected"
    recoverable = document.get("recoverable")
    delay = _delay_in(document)
    # "recoverable" includes what works only after a correction; a delay, or a kind that passes by
    # itself, is what makes the same call worth repeating.
    retryable: bool | None = False
    if recoverable is True and (delay or kind in ("rate_limited", "timeout", "unavailable")):
        retryable = True
    elif not isinstance(recoverable, bool):
        retryable = None
    return Problem(
        kind,
        code,
        text_in(document.get("message")),
        retryable,
        delay,
        suggestion=text_in(document.get("suggestion")),
        phase="validation" if redirect is not None or code in _REFUSALS else "",
        redirect=redirect,
        field=text_in(document.get("field")),
        valid_values=texts_in(document.get("valid_values")),
        usage=text_in(document.get("usage")),
    )


def _murli_part(page: Mapping[str, Any]) -> Part:
    cursor = text_in(page.get("next_cursor"))
    return Part(
        has_more=bool(cursor),
        truncated=not cursor,
        next_cursor=cursor,
        total=number_in(page.get("total")),
        returned=number_in(page.get("returned")),
        rest=text_in(page.get("rest")),
    )


# -- the family --------------------------------------------------------------------------------


def from_family(
    document: Mapping[str, Any], exit_code: int | None, known: str
) -> WireResponse[Any]:
    """Understand an envelope of the family, in the revision that is *known* or that it shows."""
    meta = object_in(document.get("meta"))
    data, error = document.get("data"), document.get("error")
    contract = revision_of(document, exit_code, known)
    # The first revision trusts the exit code; later, a failure anywhere is a failure.
    trusting = dialect_of(contract).is_first_envelope
    failed, code, oddities = _outcome(document, exit_code, trusting)
    not_modified = meta.get("not_modified") is True
    missing = [key for key in ("data", "error") if key not in document]
    if missing:
        oddities.append(f"{' and '.join(missing)} missing")
    if error is not None and not failed:
        oddities.append("an error stands beside a success")
    problem = _family_problem(object_in(error), code, contract) if failed else None
    if problem is not None:
        state = "partial" if problem.kind == "partial" and data is not None else "failed"
    else:
        state = "plan" if meta.get("dry_run") or meta.get("validation_only") else "ok"
    without_data = not_modified or meta.get("help")
    if "error" not in document:
        problem = Problem("tool_error", "GENERAL_ERROR", "The answer has no error key.")
        state = "malformed"
    elif data is None and error is None and (failed or (trusting and not without_data)):
        problem = Problem("malformed", "MALFORMED", "data and error are both null.")
        state = "malformed"
    return WireResponse(
        contract,
        state,
        exit_code,
        data,
        text_in(meta.get("message")),
        problem,
        tuple(_warnings(document.get("warnings"))),
        meta,
        _family_part(meta, object_in(document.get("pagination"))),
        not_modified,
        oddities=tuple(oddities),
        next=texts_in(meta.get("next")),
    )


def _outcome(
    document: Mapping[str, Any], exit_code: int | None, trusting: bool
) -> tuple[bool, int, list[str]]:
    """Return whether a call failed, the code to classify it by, and what contradicts what."""
    oddities: list[str] = []
    stated = number_in(object_in(document.get("meta")).get("exit_code"))
    ok = document.get("ok")
    if not isinstance(ok, bool):
        oddities.append("ok missing")
        ok = document.get("error") is None
    code = exit_code if exit_code is not None else stated
    if code is None:
        code = 0 if ok else 1
    failed = code != 0
    if ok != (code == 0):
        oddities.append(f"ok is {str(ok).lower()}, the exit code {code}")
        failed = failed or not trusting
    if stated is not None and exit_code is not None and stated != exit_code:
        oddities.append(f"meta.exit_code is {stated}, the exit code {exit_code}")
        if not trusting:
            # Where the process says 0, a pipe has eaten its code.
            failed, code = True, exit_code or stated
    return failed, code, oddities


def revision_of(document: Mapping[str, Any], exit_code: int | None, known: str = "") -> str:
    """Return which revision of the family *document* is in."""
    if is_envelope(known):
        return known
    meta, error = object_in(document.get("meta")), object_in(document.get("error"))
    if "exit_code" in meta or "pagination" in meta or objects_in(document.get("warnings")):
        return "agent-spec-2"
    fixes = {"retry_after_ms", "retry_strategy", "fix_required", "fix_command", "context"}
    if not fixes.isdisjoint(error) or "pagination" in document:
        return "agent-spec-1.6"
    if "retry_after" in error:
        return "response"
    # The two that were renumbered show in their numbers, for only one of them promises that
    # nothing was done.
    for name, (wrong_call, partial) in (("agent-spec-1.6", (2, 3)), ("response", (3, 2))):
        checked = error.get("code") == "ARG_ERROR" or error.get("phase") == "validation"
        if exit_code == wrong_call and checked:
            return name
        if exit_code == partial and error.get("code") == "PARTIAL_FAILURE":
            return name
    if not {"timestamp", "command", "cwd"}.isdisjoint(meta):
        return "agent-spec-1.6"
    # A failure that shows nothing is read as the later one, which repeats nothing half done.
    return "agent-spec-1.6" if exit_code or document.get("ok") is not True else "response"


def _family_problem(error: Mapping[str, Any], exit_code: int, contract: str) -> Problem:
    code = text_in(error.get("code"))
    kind = kind_of(contract, exit_code, code)
    retryable = error.get("retryable")
    context = object_in(error.get("context"))
    return Problem(
        kind,
        code,
        text_in(error.get("message")),
        retryable if isinstance(retryable, bool) else None,
        _delay_in(error),
        text_in(error.get("retry_strategy")),
        text_in(error.get("phase")),
        text_in(error.get("suggestion")),
        text_in(error.get("fix_required")),
        text_in(error.get("fix_command")),
        # At any other exit code a redirect means nothing.
        _replacement(object_in(error.get("redirect")))
        if kind == "redirected" and exit_code == REDIRECTED
        else None,
        text_in(context.get("field")),
        texts_in(context.get("valid_values")),
        context,
        text_in(context.get("usage")),
    )


def _replacement(redirect: Mapping[str, Any]) -> Replacement | None:
    command = text_in(redirect.get("command"))
    if not command:
        return None
    return Replacement(command, redirect.get("permanent") is True, text_in(redirect.get("reason")))


def _family_part(meta: Mapping[str, Any], beside: Mapping[str, Any]) -> Part:
    """Return which part the data is; some tools put it *beside* the data, not in ``meta``."""
    pagination = object_in(meta.get("pagination")) or beside
    cursor = text_in(pagination.get("next_cursor")) or text_in(meta.get("cursor"))
    # A value of the wrong type still says that this is not the whole.
    return Part(
        has_more=bool(pagination.get("has_more") or cursor),
        truncated=bool(meta.get("truncated") or pagination.get("truncated")),
        next_cursor=cursor,
        total=number_in(pagination.get("total", meta.get("total_count"))),
        returned=number_in(pagination.get("returned", meta.get("returned_count"))),
        rest=text_in(meta.get("truncation_hint")),
    )


def _warnings(warnings: Any) -> Iterator[Warned]:
    for each in list_in(warnings):
        if isinstance(each, dict):
            context = object_in(each.get("context"))
            yield Warned(
                text_in(each.get("message")),
                text_in(each.get("code")),
                text_in(context.get("replacement")),
                text_in(context.get("field")) or text_in(context.get("path")),
            )
        elif isinstance(each, str):
            yield Warned(each)


def _delay_in(error: Mapping[str, Any]) -> int | None:
    """Return how many milliseconds to wait at least, whatever the unit and the spelling."""
    delays = [
        ceil(min(value, MOST) * unit)
        for key, unit in (("retry_after_ms", 1), ("retry_after", 1000))
        if isinstance(value := error.get(key), (int, float))
        and not isinstance(value, bool)
        and value >= 0
    ]
    return max(delays, default=None)
