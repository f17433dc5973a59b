"""What the parts of an envelope have to look like, in each of its revisions. Pure.

Every function takes values of any type and yields sentences about what is wrong. Types are checked
only by the function that owns the value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from ...wire.dialects import REDIRECTED, Dialect
from ...wire.values import list_in, object_in
from .kinds import (
    COUNT,
    LIST,
    OBJECT,
    POSITIVE,
    TEXT,
    TRUTH,
    Fields,
    first,
    is_code,
    is_count,
    is_text,
    map_of,
    matches,
    one_of,
    or_null,
    others_in,
    repr_of,
    wrong_kinds,
)

KEYS = ("ok", "data", "error", "warnings", "meta")
PAGINATION = ("total", "returned", "truncated", "has_more", "next_cursor")
_PHASE = one_of("validation", "execution", "cleanup")
_STRATEGY = one_of("immediate", "linear_backoff", "exponential_backoff")
_REASON = one_of("renamed", "restructured", "deprecated", "typo_corrected")
# The first revision allows no other fields in an error.
_FIRST_ERROR = (
    *("code", "message", "detail", "retryable"),
    *("retry_after", "phase", "suggestion", "redirect"),
)
# Failures that may carry data: partial results, failed reports, conflicts.
_STOPPED = (130, 143)
_WITH_PAYLOAD = (3, 4, 6, 14)
_PLACEHOLDERS = re.compile(r"[<>$]")


def _is_time(value: Any) -> bool:
    """Return whether *value* is a timestamp as in RFC 3339."""
    if not isinstance(value, str) or not re.fullmatch(
        r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)", value
    ):
        return False
    try:
        datetime.strptime(value[:19].upper().replace(" ", "T"), "%Y-%m-%dT%H:%M:%S")
    except ValueError:
        return value[17:19] == "60"  # a leap second
    return True


_META: Fields = {
    **dict.fromkeys(
        ("request_id", "trace_id", "command", "tool_version", "update_available", "cursor", "cwd"),
        TEXT,
    ),
    **dict.fromkeys(("project_root", "audit_log_path", "truncation_hint", "_cmd"), TEXT),
    **dict.fromkeys(("not_modified", "truncated", "help", "dry_run", "confirmed"), TRUTH),
    **dict.fromkeys(("timeout_ms", "budget_ms", "items_emitted", "retries"), COUNT),
    **dict.fromkeys(("total_count", "returned_count"), COUNT),
    "schema_version": matches(r"\d+\.\d+", "MAJOR.MINOR"),
    "timestamp": ("a time as RFC 3339 writes it", _is_time),
    "config_sources": LIST,
    "effects": map_of(COUNT, "an object of whole numbers"),
    "_line": POSITIVE,
}


# -- the envelope --------------------------------------------------------------------------------


def keys(document: Mapping[str, Any]) -> Iterator[str]:
    """Yield which of the five keys are missing, and which others there are."""
    missing = [each for each in KEYS if each not in document]
    if missing:
        yield f"the document has no {', '.join(missing)}"
    yield from others_in(document, KEYS, "the document")


def kinds(document: Mapping[str, Any], dialect: Dialect) -> Iterator[str]:
    """Yield which of the five keys have the wrong type."""
    nested = ("an object, an array", lambda value: isinstance(value, (dict, list)))
    five = {"ok": TRUTH, "data": or_null(nested), "error": or_null(OBJECT)}
    five |= {"warnings": LIST, "meta": OBJECT}
    yield from wrong_kinds(document, five, "the document")
    for at, each in enumerate(list_in(document.get("warnings"))):
        yield from _warning(each, f"warnings[{at}]", dialect)


def _warning(warning: Any, where: str, dialect: Dialect) -> Iterator[str]:
    if not dialect.rules.warnings_are_objects:
        if not isinstance(warning, str):
            yield f"{where} is {repr_of(warning)}, not a text"
        return
    if not isinstance(warning, dict):
        yield f"{where} is {repr_of(warning)}, not an object"
        return
    if not is_code(warning.get("code")):
        yield f"{where}.code is {repr_of(warning.get('code'))}, not a code in capitals"
    yield from wrong_kinds({"message": None, **warning}, {"message": TEXT}, where)
    yield from wrong_kinds(warning, {"context": OBJECT}, where)
    yield from others_in(warning, ("code", "message", "context"), where)


def outcome(document: Mapping[str, Any], exit_code: int, dialect: Dialect) -> Iterator[str]:
    """Yield contradictions between data, error and the exit code."""
    if not {"data", "error"} <= document.keys():
        return
    data, error = document["data"], document["error"]
    if exit_code == 0:
        if error is not None:
            yield "exit 0, and the error is not null"
        known = object_in(document.get("meta"))
        reasons = ["not_modified"] if dialect.is_first_envelope else ["not_modified", "help"]
        if data is None and error is None and not any(known.get(each) is True for each in reasons):
            yield f"data and error are both null, and meta has no {' or '.join(reasons)}"
        return
    if error is None:
        yield f"exit {exit_code}, and the error is null"
    payload = exit_code in _STOPPED and not dialect.is_first_envelope
    payload |= exit_code in _WITH_PAYLOAD and dialect.rules.failure_may_have_data
    if data is not None and not payload:
        yield f"exit {exit_code}, and there is data"


def meta_kinds(meta: Mapping[str, Any]) -> Iterator[str]:
    """Yield which known fields of *meta* have the wrong type."""
    yield from wrong_kinds(meta, _META, "meta")


# -- errors --------------------------------------------------------------------------------------


def error_shape(error: Mapping[str, Any], dialect: Dialect) -> Iterator[str]:
    """Yield what is wrong with the code and the texts of *error*."""
    code = error.get("code")
    if not is_text(code):
        yield "error.code is missing" if code is None else f"error.code is {repr_of(code)}"
    elif not dialect.is_first_envelope and not is_code(code):
        yield f"error.code is {repr_of(code)}, not a code in capitals"
    if not is_text(error.get("message")):
        yield f"error.message is {repr_of(error.get('message'))}, not a text"
    texts = dict.fromkeys(("detail", "cause", "docs_url", "suggestion"), TEXT)
    yield from wrong_kinds(error, {**texts, "phase": _PHASE, "context": OBJECT}, "error")
    if dialect.is_first_envelope:
        yield from others_in(error, _FIRST_ERROR, "error")


def retry_advice(error: Mapping[str, Any], exit_code: int, dialect: Dialect) -> Iterator[str]:
    """Yield what is wrong with the advice whether, when and how to retry."""
    retryable, is_first = error.get("retryable"), dialect.is_first_envelope
    if not isinstance(retryable, bool):
        if "retryable" in error:
            yield f"error.retryable is {repr_of(retryable)}, not true or false"
        elif not is_first:
            yield "the error does not say whether it is retryable"
    delay, gone = "retry_after_ms", "retry_after"
    if is_first:
        delay, gone = gone, delay
    if gone in error and not is_first:  # later revisions removed it
        yield f"error.{gone} is of another revision: here it is {delay}"
    yield from wrong_kinds(error, {delay: COUNT, "retry_strategy": _STRATEGY}, "error")
    yield from wrong_kinds(error, dict.fromkeys(("fix_required", "fix_command"), TEXT), "error")
    if retryable is not True:
        for name in (delay, "retry_strategy"):
            if name in error:
                yield f"error.{name}, and it is not retryable"
    else:
        for name in ("fix_required", "fix_command"):
            if name in error and not is_first:
                yield f"error.{name}, and it is retryable as it stands"
        if exit_code == dialect.partial:
            yield "work that is half done is called retryable"
    command = error.get("fix_command")
    if isinstance(command, str) and _PLACEHOLDERS.search(command):
        yield f"error.fix_command cannot be run as it stands: {repr_of(command)}"


def redirect(error: Mapping[str, Any], exit_code: int) -> Iterator[str]:
    """Yield what is wrong with the redirect of *error*."""
    if exit_code != REDIRECTED:
        if "redirect" in error:
            yield f"exit {exit_code}, and there is a redirect"
        return
    found = error.get("redirect")
    if not isinstance(found, dict):
        yield f"exit {REDIRECTED}, and the redirect is {repr_of(found)}"
        return
    if not is_text(found.get("command")):
        yield f"redirect.command is {repr_of(found.get('command'))}, not a call"
    if not isinstance(found.get("permanent"), bool):
        yield f"redirect.permanent is {repr_of(found.get('permanent'))}, not true or false"
    yield from wrong_kinds(found, {"reason": _REASON}, "redirect")
    yield from others_in(found, ("command", "permanent", "reason"), "redirect")


# -- lists ---------------------------------------------------------------------------------------


def pagination(page: Any, count: int, is_first: bool) -> Iterator[str]:
    """Yield what is wrong with the pagination *page* of *count* items; *is_first* of all pages."""
    if not isinstance(page, dict):
        yield "a list, and meta has no pagination"
        return
    missing = [each for each in PAGINATION if each not in page]
    if missing:
        yield f"meta.pagination has no {', '.join(missing)}"
        return
    five = {
        "total": or_null(("a whole number", is_count)),
        "returned": COUNT,
        "truncated": TRUTH,
        "has_more": TRUTH,
    }
    wrong = first(wrong_kinds(page, {**five, "next_cursor": or_null(TEXT)}, "pagination"))
    if wrong:
        yield wrong
        return
    if page["returned"] != count:
        yield f"pagination.returned is {page['returned']}, and there are {count} items"
    if page["has_more"] != bool(page["next_cursor"]):
        yield "pagination.has_more does not go with next_cursor"
    whole = page["total"]
    if whole is not None and whole < count:
        yield f"pagination.total is {whole}, and there are {count} items"
    if whole is not None and is_first and not page["has_more"] and whole > count:
        yield f"pagination.total is {whole}, there are {count} items and no more"
