"""What calls in processes of their own write, as the program that waits for them reads it."""

from __future__ import annotations

import json
from signal import SIGTERM

from ..call.forked_call import Late
from ..contracts.control_lines import MURLI_STATUSES, envelope_of
from ..errors import EXIT_PARTIAL
from ..formats import plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..call.forked_call import Branch

_ENVELOPE = {"ok", "data", "error", "warnings", "meta"}


class Ended:
    """How a call ended: its ``answer``, ``None`` for none, what else it wrote, its exit status."""

    def __init__(self, answer: dict[str, Any] | None, rest: bytes, status: int) -> None:
        self.answer = answer
        self.rest = rest
        self.status = status


def ended(branch: Branch, deadline: float | None, pass_on: Callable[[bytes], None]) -> Ended:
    """Return how the call of *branch* ended, which is read to its last line.

    Those before its answer that are JSON are handed to *pass_on* as they come. Raises `Late` at
    *deadline*, unless it has answered: then it is ended, and its answer counts.
    """
    answer: Any = None
    rest: list[bytes] = []
    for line in branch.lines(deadline):
        document = None if rest else json_in(line)
        if document is None:
            rest.append(line)  # of a document in many lines, or of none
        elif (found := answer_in(document)) is not None:
            answer = found
        else:
            pass_on(line)
    whole = b"\n".join(rest)
    if rest and answer is None and (answer := answer_in(json_in(whole))) is not None:
        rest = []
    try:
        status = branch.wait(deadline)
        branch.close()
    except Late:
        if answer is None:
            raise
        branch.stop(SIGTERM)  # what is left of it are threads
        status = 0 if answer.get("ok", answer.get("status") in ("ok", "plan")) else 1
    return Ended(answer, b"\n".join([*rest, b""]) if rest else b"", status)


def last_answer(lines: list[bytes]) -> dict[str, Any] | None:
    """Return the answer among the last *lines* of a call."""
    found = [answer_in(json_in(b"\n".join(lines))), *map(answer_in, map(json_in, lines))]
    return next((each for each in reversed(found) if each is not None), None)


def json_in(line: bytes) -> Any:
    """Return what *line* is in JSON, ``None`` if it is nothing."""
    try:
        return json.loads(line) if line.strip() else None
    except (ValueError, RecursionError):
        return None


def answer_in(document: Any) -> dict[str, Any] | None:
    """Return the answer that *document* is, if a call ends with it."""
    if not isinstance(document, dict):
        return None
    if document.get("_summary") is True:
        return envelope_of(document)
    is_murli = "schema_version" in document and document.get("status") in list(MURLI_STATUSES)
    return document if is_murli or document.keys() >= _ENVELOPE else None


def result_in(text: bytes) -> Any:
    """Return what a call that ended well wrote where that is no answer: JSON, or text."""
    document = json_in(text)
    return text.decode("utf-8", "replace").rstrip("\n") if document is None else plain(document)


# What a murli document says of its call rather than of what that did.
_ABOUT = ("status", "schema_version", "tool_version", "result")
# What meta says of a part of a list.
_PAGE = ("pagination", "truncated", "cursor", "total_count", "returned_count", "truncation_hint")


def is_plan(document: dict[str, Any]) -> bool:
    """Return whether *document* answers a dry run."""
    return document.get("status") == "plan" or document.get("meta", {}).get("dry_run") is True


def item_in(document: dict[str, Any], value: str) -> dict[str, Any]:
    """Return what *document*, the answer for *value*, says as one of many, as `Batch` does.

    The error is the one that its contract has.
    """
    if "status" in document:
        status = document["status"]
        ok, payload = status in ("ok", "plan"), document.get("plan", document.get("result"))
        found = {key: document[key] for key in ("message", "page", "kept") if document.get(key)}
        if status == "error":
            found = {"error": {key: each for key, each in document.items() if key not in _ABOUT}}
        elif status == "partial":
            found["error"] = {"code": EXIT_PARTIAL, "error": status, **found}
    else:
        ok, payload, meta = document["ok"], document["data"], document["meta"]
        found = {key: document[key] for key in ("error", "warnings") if document.get(key)}
        if meta.get("truncated"):
            found["page"] = {key: meta[key] for key in _PAGE if key in meta}
            if "kept" in meta:
                found["kept"] = meta["kept"]
    result = {"result": payload} if ok or payload is not None else {}
    return {"ok": ok, "item": value, **result, **found}
