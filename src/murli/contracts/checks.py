"""The invariants every document keeps, checked before it is written when testing.

Set ``MURLI_TEST=1`` and a document that breaks its contract raises instead of being written.
This is a net for us and for authors of contracts; a schema of each document ships in
``murli/schemas`` for everybody else.
"""

from __future__ import annotations

from . import MURLI, contract_named

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from . import Answer, Contract

_ENVELOPE_KEYS = ["ok", "data", "error", "warnings", "meta"]
_PAYLOAD_KEYS = {"ok": {"result"}, "partial": {"result"}, "plan": {"plan", "result"}}


class InvalidDocument(AssertionError):
    """A document that breaks its contract: a bug of the library, or of what an author gave it."""


def check(contract: str, answer: Answer) -> None:
    """Raise `InvalidDocument` unless *answer* keeps the invariants of *contract*."""
    rules = contract_named(contract)
    if rules is MURLI:
        _check_murli(answer.document, answer.exit_code, answer.stream)
    else:
        _check_envelope(rules, answer.document, answer.exit_code)


def _check_murli(document: dict[str, Any], exit_code: int, stream: str) -> None:
    status = document.get("status")
    if status == "error":
        _require(document.get("code") == exit_code != 0, "code is the exit code, and not 0")
        _require(stream == "stderr", "an error goes to stderr")
        wanted: tuple[str, ...] = ("error", "message", "recoverable")
    else:
        _require(status in _PAYLOAD_KEYS, f"status {status!r} is unknown")
        _require((exit_code == 0) == (status != "partial"), "the exit code fits the status")
        payload = _PAYLOAD_KEYS[str(status)] & document.keys()
        _require(len(payload) == 1, "exactly one payload is present")
        wanted = ("message",)
    for key in (*wanted, "schema_version", "tool_version"):
        _require(key in document, f"{key} is present")


def _check_envelope(rules: Contract, document: dict[str, Any], exit_code: int) -> None:
    if document.get("_summary") is True:
        _check_summary(document, exit_code)
        return
    _require(list(document) == _ENVELOPE_KEYS, "the five keys are present, in order, and no other")
    data, error, meta = document["data"], document["error"], document["meta"]
    _require(document["ok"] is (exit_code == 0), "ok says whether the exit code is 0")
    _require((error is None) == (exit_code == 0), "a failure, and only a failure, has an error")
    _require(data is None or isinstance(data, (dict, list)), "data is an object, array or null")
    both_null = data is None and error is None
    is_explained = meta.get("not_modified") is True or meta.get("help") is True
    _require(not both_null or is_explained, "data and error are not both null")
    _require(isinstance(document["warnings"], list), "warnings is an array")
    _require(isinstance(meta.get("duration_ms"), int), "meta.duration_ms is an integer")
    if rules.meta_has_exit_code:
        _require(meta.get("exit_code") == exit_code, "meta.exit_code is the exit code")
    if error is not None:
        _require(bool(error.get("code")) and "message" in error, "error has code and message")
        _require(("redirect" in error) == (exit_code == 13), "redirect goes with exit code 13")


def _check_summary(document: dict[str, Any], exit_code: int) -> None:
    _require(exit_code == 0, "a stream that failed ends with an envelope, not with a summary")
    _require(document.keys().isdisjoint(("ok", "error", "_seq")), "a summary is no envelope")
    count = document.get("_count", 0)
    _require(isinstance(count, int) and count >= 0, "_count is how many items there were")


def _require(truth: bool, rule: str) -> None:
    if not truth:
        raise InvalidDocument(f"a document breaks its contract: {rule}")
