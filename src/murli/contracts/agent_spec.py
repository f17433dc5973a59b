"""The ResponseEnvelope family: three revisions of one contract, which differ in data.

``response`` is the envelope as first published, ``agent-spec-1.6`` renumbered two exit codes and
separated "retry" from "fix", ``agent-spec-2`` put the exit code into the envelope.
"""

from __future__ import annotations

from ..core import MOUNTED
from ..errors import KINDS
from ..outcome import Failure, Partial, Plan, Success
from . import Answer, Contract
from .envelope import ErrorDetail, Redirect, ResponseEnvelope, ResponseMeta

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..errors import AgentError
    from ..outcome import Notice, Outcome, Page
    from . import Facts

# kind -> (exit code, name) as most revisions have it.
_CODES: dict[str, tuple[int, str]] = {
    "user_error": (2, "ARG_ERROR"),
    "tool_error": (1, "GENERAL_ERROR"),
    "partial": (3, "PARTIAL_FAILURE"),
    "incomplete": (3, "INCOMPLETE"),
    "precondition": (4, "PRECONDITION"),
    "not_found": (5, "NOT_FOUND"),
    "conflict": (6, "CONFLICT"),
    "permission_denied": (7, "PERMISSION_DENIED"),
    "auth_required": (8, "AUTH_REQUIRED"),
    "payment_required": (9, "PAYMENT_REQUIRED"),
    "timeout": (10, "TIMEOUT"),
    "rate_limited": (11, "RATE_LIMITED"),
    "unavailable": (12, "UNAVAILABLE"),
    "redirected": (13, "REDIRECTED"),
    "cancelled": (130, "CANCELLED"),
}
_SIGNAL_CODES = {"SIGTERM": 143, "SIGHUP": 143}

# What the first revision calls retryable includes what works only after a correction.
_RETRYABLE_FIRST = frozenset(
    """
    user_error auth_required payment_required timeout rate_limited unavailable redirected
    """.split()  # noqa: SIM905
)
_RETRYABLE = frozenset(("rate_limited", "unavailable"))
# Here only the author knows; "recoverable" is his word for it.
_DEPENDS = frozenset(("tool_error", "precondition"))

_FIXABLE = frozenset(
    ("user_error", "precondition", "auth_required", "payment_required", "redirected")
)


# Facts about a failure that have a place of their own beside its context.
_OWN_PLACES = (
    *("errors", "network_context", "corrected_input", "alternatives", "expires_at"),
    *("refresh_command", "required_permission"),
)

# What the first revision's meta has a place for, besides the duration.
_KNOWN_FIRST = frozenset(
    """
    request_id schema_version not_modified dry_run help schema_ref message confirmed items_emitted
    effects headless etag validation_only replayed kept exit_status _cmd _line
    """.split()  # noqa: SIM905
)


class Revision(Contract):
    """One revision of the family; the attributes are what most of them have in common."""

    payload_key, has_object_payload = "data", True
    has_warnings = annotates_results = counts_items = retry_means_unchanged = True
    mixes_progress, silences_stderr = False, True
    adds_flags = refuses_repeats = answers_help = previews_unconfirmed = True
    mounted = (*MOUNTED, "manifest")
    list_limit, size_limit, default_timeout = 20, 1 << 20, 300.0
    wraps_descriptions = checks_dependencies = True
    partly_failed = ""
    failed_checks = "tool_error"
    retries_timed_out_reads = True
    manifest_version = "1.0"
    # kind -> (exit code, name), and the kinds that the same call may get past.
    codes = _CODES
    retryable = _RETRYABLE
    delay_in_ms = True
    meta_has_pagination = False
    # Which facts about a call have a place; ``None`` for all of it.
    meta_knows: frozenset[str] | None = None

    def __init__(self, name: str, **differences: Any) -> None:
        super().__init__(name=name, **differences)

    def respond(self, outcome: Outcome, facts: Facts) -> Answer:
        """Return the document and the exit code that say *outcome*."""
        envelope = envelope_for(outcome, facts, self)
        if facts.streamed is not None and envelope.ok:
            return Answer(_summary(envelope, facts), 0)
        return Answer(envelope.document(), envelope.exit_code)

    def labelled(self, document: dict[str, Any], labels: dict[str, Any]) -> dict[str, Any]:
        """Return *document* with *labels* among what it says of its call."""
        return {**document, "meta": {**document.get("meta", {}), **labels}}


REVISIONS = {
    revision.name: revision
    for revision in (
        Revision(
            "response",
            codes={**_CODES, "user_error": (3, "ARG_ERROR"), "partial": (2, "PARTIAL_FAILURE")}
            | {"incomplete": (2, "INCOMPLETE")},
            retryable=_RETRYABLE_FIRST,
            delay_in_ms=False,
            error_is_closed=True,
            meta_knows=_KNOWN_FIRST,
        ),
        Revision("agent-spec-1.6"),
        Revision(
            "agent-spec-2",
            codes={**_CODES, "incomplete": (14, "INCOMPLETE")},
            meta_has_exit_code=True,
            warnings_are_objects=True,
            failure_may_have_data=True,
            meta_has_pagination=True,
            failed_checks="precondition",
            retries_timed_out_reads=False,
            numbers_items=True,
            format_flag="--format",
            text_format="plain",
            manifest_version="3.0",
        ),
    )
}


def envelope_for(outcome: Outcome, facts: Facts, revision: Revision) -> ResponseEnvelope[Any]:
    """Build the one envelope that says *outcome* in *revision*."""
    exit_code, data, error = 0, None, None
    more = {
        name: value
        for name, value in facts.meta.items()
        if revision.meta_knows is None or name in revision.meta_knows
    }
    if facts.streamed is not None and isinstance(outcome, Failure | Partial):
        more["items_emitted"] = facts.streamed
    if outcome.next:
        more["next"] = list(outcome.next)
    if facts.page is not None and not isinstance(outcome, Failure):
        more.update(_paging(facts.page, revision))
    if isinstance(outcome, Failure):
        exit_code = exit_code_of(outcome.error, revision)
        error = _detail(outcome, revision)
        if revision.failure_may_have_data:
            data = _failure_payload(outcome.error)
    elif isinstance(outcome, Partial):
        exit_code = revision.codes["partial"][0]
        data, error = _with_payload(outcome, revision.codes["partial"][1], revision)
    elif isinstance(outcome, Success) and outcome.attention:
        exit_code = revision.codes[revision.failed_checks][0]
        data, error = _with_payload(outcome, "DOCTOR_CHECKS_FAILED", revision)
    elif isinstance(outcome, Plan):
        data = _data(outcome.plan)
        more["dry_run"] = True
    elif not more.get("not_modified") and not (more.get("help") and revision.delay_in_ms):
        data = _data(outcome.result)
    if data == {} and not isinstance(outcome, Failure) and outcome.message:
        # With no data at all, the sentence for people is the whole answer.
        more["message"] = outcome.message
    meta = ResponseMeta(
        facts.duration_ms, exit_code=exit_code if revision.meta_has_exit_code else None, **more
    )
    warnings = tuple(_warning(notice, revision) for notice in facts.notices)
    return ResponseEnvelope(exit_code, data, error, meta, warnings)


def _summary(envelope: ResponseEnvelope[Any], facts: Facts) -> dict[str, Any]:
    """Return the bare line that ends a stream in place of *envelope*; it is flat like an item."""
    page = facts.page
    summary: dict[str, Any] = {
        "_summary": True,
        "_count": facts.streamed,
        "total": facts.streamed if page is None else page.total,
    }
    if envelope.data not in (None, {}):
        summary["data"] = envelope.data
    if envelope.warnings:
        summary["warnings"] = list(envelope.warnings)
    # In a flat line a schema_version would be read as the murli contract's.
    return {**summary, **envelope.meta.replace(schema_version=None).document()}


def _paging(page: Page, revision: Revision) -> dict[str, Any]:
    """Return what ``meta`` says of the part that ``data`` is."""
    more: dict[str, Any] = {}
    if revision.meta_has_pagination:
        more["pagination"] = {
            "total": page.total,
            "returned": page.returned,
            "truncated": not page.whole,
            "has_more": page.has_more,
            "next_cursor": page.next_cursor or None,
        }
    if page.whole:
        return more
    # Without a page of its own, the first revisions know only "not all of it".
    if page.cut or not revision.meta_has_pagination:
        more["truncated"] = True
    if page.next_cursor and not revision.meta_has_pagination:
        more["cursor"] = page.next_cursor
    if page.total is not None:
        more["total_count"] = page.total
    more["returned_count"] = page.returned
    if page.rest:
        more["truncation_hint"] = page.rest
    return more


def _failure_payload(error: AgentError) -> Any:
    """Return what is known of the work although it failed; never the result that was asked for."""
    if error.kind == "cancelled":
        return {"partial": True}
    existing = error.context.get("existing")
    return existing if isinstance(existing, (dict, list)) else None


def exit_code_of(error: AgentError, revision: Revision) -> int:
    """Return the number of *error* in *revision*."""
    if error.number:
        return error.number
    if error.kind == "cancelled":
        return _SIGNAL_CODES.get(str(error.context.get("signal")), 130)
    return revision.codes[error.kind][0]


def error_code(error: AgentError) -> str:
    """Return the stable identifier: the author's own category, or the name of the kind."""
    if error.error_type not in KINDS and error.error_type != "execution_error":
        return _screaming(error.error_type)
    if error.kind == "auth_required":
        return f"TOKEN_{error.reason.upper() or 'MISSING'}"
    return _CODES[error.kind][1]


def _screaming(name: str) -> str:
    letters = [char.upper() if char.isascii() and char.isalnum() else "_" for char in name]
    code = "".join(letters).strip("_")
    return code if len(code) > 1 and code[0].isalpha() else f"E_{code}"


def _detail(failure: Failure, revision: Revision) -> ErrorDetail:
    error = failure.error
    retryable = _retryable(error, revision)
    # The code of a wrong call promises that nothing was done.
    phase = "validation" if failure.phase and error.kind == "user_error" else failure.phase
    # Where a context has no place, the words have one.
    usage = f"Usage: {failure.usage}" if failure.usage and revision.error_is_closed else ""
    known: dict[str, Any] = {
        "detail": "\n".join(filter(None, (usage, error.detail, _text(failure.output)))) or None,
        "retryable": retryable,
        "phase": phase or None,
        "suggestion": error.suggestion or None,
    }
    if error.kind == "redirected":
        known["redirect"] = Redirect(error.redirect_to, error.permanent, error.reason)
    if retryable:
        known.update(_delay(error, revision))
    if not revision.error_is_closed:
        known["context"] = _context(error, failure.usage)
        known["more"] = {key: error.context[key] for key in _OWN_PLACES if key in error.context}
        known["docs_url"] = error.doc_url or None
        if not retryable:
            known["fix_required"] = error.fix_required or _fix(error)
            known["fix_command"] = error.fix_command or None
    return ErrorDetail(error_code(error), error.message, **known)


def _retryable(error: AgentError, revision: Revision) -> bool:
    if error.explicit_recoverable is False:
        return False
    if error.promised:
        return True
    if error.kind in _DEPENDS:
        # A default is no promise: only a lock its author calls recoverable opens by itself.
        return bool(error.explicit_recoverable) if revision.delay_in_ms else error.recoverable
    if error.kind == "timeout" and error.explicit_recoverable is not None:
        return error.explicit_recoverable
    return error.kind in revision.retryable


def _delay(error: AgentError, revision: Revision) -> dict[str, Any]:
    # A fresh token works at once, and saying so is what lets the caller skip its back-off.
    known = error.retry_after_ms > 0 or error.reason == "expired"
    if revision.delay_in_ms:
        delay: dict[str, Any] = {"retry_after_ms": error.retry_after_ms} if known else {}
        if error.kind == "unavailable" or not known:
            # What somebody holds, or what was too slow, is no busier for being asked for again.
            steady = error.kind in ("precondition", "timeout")
            delay["retry_strategy"] = "linear_backoff" if steady else "exponential_backoff"
        return delay
    return {"retry_after": -(-error.retry_after_ms // 1000)} if known else {}


def _context(error: AgentError, usage: str) -> dict[str, Any] | None:
    context = {key: value for key, value in error.context.items() if key not in _OWN_PLACES}
    if error.field:
        context["field"] = error.field
    if error.valid_values:
        context["valid_values"] = list(error.valid_values)
    if usage:
        context["usage"] = usage
    return context or None


def _fix(error: AgentError) -> str | None:
    return (error.advice or error.message or None) if error.kind in _FIXABLE else None


def _with_payload(
    outcome: Partial | Success, code: str, revision: Revision
) -> tuple[Any, ErrorDetail]:
    message = outcome.message or "Some of the work failed."
    if revision.failure_may_have_data:
        data = None if outcome.result is None else _data(outcome.result)
        return data, ErrorDetail(code, message, retryable=False)
    if revision.error_is_closed or outcome.result is None:
        return None, ErrorDetail(code, message, detail=_text(outcome.result), retryable=False)
    context = {"result": outcome.result}
    return None, ErrorDetail(code, message, context=context, retryable=False)


def _data(payload: Any) -> Any:
    """Fit *payload* into ``data``, which is an object or an array: ``{}`` for nothing."""
    if payload is None:
        return {}
    if isinstance(payload, str):
        return {"text": payload}
    return payload if isinstance(payload, (dict, list)) else {"value": payload}


def _text(value: Any) -> str | None:
    """Return *value* as the text a ``detail`` must be."""
    if value is None or isinstance(value, str):
        return value
    from ..formats import dumps

    return dumps(value, pretty=False)


def _warning(notice: Notice, revision: Revision) -> str | dict[str, Any]:
    if not revision.warnings_are_objects:
        return notice.message
    warning: dict[str, Any] = {"code": _screaming(notice.code), "message": notice.message}
    if notice.context:
        warning["context"] = notice.context
    return warning
