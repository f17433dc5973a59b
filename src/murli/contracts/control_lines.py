"""How the lines that steer a stream differ from its items, for writers and readers.

A stream is lines of JSON. Most are items, which are any value at all; some are control lines:
progress, heartbeats, and the document that ends the stream. A reader knows control lines by their
keys (`is_aside`, `is_terminal`), so an item with such keys is written inside another object, its
wrapper (`wrapped`), and taken out of it again by the reader (`unwrapped`). For every JSON value
``unwrapped(wrapped(item)) == item``, and no wrapped item is a control line.

Nothing is imported here: the writer needs this at the first item of a stream.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: what the ``status`` of a murli document can be
MURLI_STATUSES = ("ok", "plan", "partial", "error")
# Error documents of the Go wire have no status.
_GO_ERROR = {"code", "error", "message", "schema_version"}
_ENVELOPE = {"ok", "data", "error", "warnings", "meta", "pagination"}
# Progress of the Go wire has no name: it is nothing but these, and how far the work has come.
_GO_PROGRESS = {"stage", "current", "total", "percent", "eta_ms", "message"}


def is_terminal(line: Any) -> bool:
    """Return whether *line* ends a stream: an envelope, or the summary behind the last item."""
    if not isinstance(line, dict):
        return False
    if isinstance(line.get("ok"), bool):
        return not {"data", "error", "meta"}.isdisjoint(line)
    if line.get("_summary") is True:
        return True
    if "schema_version" not in line:
        # An envelope that has lost its "ok" is still one, and nothing else.
        return {"data", "error", "meta"} <= line.keys() <= _ENVELOPE
    if line.get("status") in list(MURLI_STATUSES):
        return True
    return line.keys() >= _GO_ERROR and isinstance(line.get("code"), int)


def is_aside(line: Any) -> bool:
    """Return whether *line* is progress or a heartbeat, which stand between items.

    A line with a number (``_seq``) is an item: nothing else is counted.
    """
    if not isinstance(line, dict) or is_numbered(line):
        return False
    if line.get("event") == "progress" or line.get("heartbeat") is True:
        return True
    return "current" in line and line.keys() <= _GO_PROGRESS


def envelope_of(summary: dict[str, Any]) -> dict[str, Any]:
    """Return the envelope that says what *summary*, the bare last line of a stream, says."""
    names = ("_summary", "_count", "total")
    facts = {name: summary[name] for name in names if name in summary}
    beside = {key: value for key, value in summary.items() if key not in (*names, *_ENVELOPE)}
    if "pagination" in summary:
        beside["pagination"] = summary["pagination"]
    return {
        "ok": True,
        "data": summary.get("data", facts),
        "error": None,
        "warnings": summary.get("warnings", []),
        "meta": {**beside, "items_emitted": summary.get("_count")},
    }


def is_control_line(line: Any) -> bool:
    """Return whether *line* is no item of a stream."""
    return is_terminal(line) or is_aside(line)


def is_numbered(line: Any) -> bool:
    """Return whether *line* has the number that items of a stream may have."""
    number = line.get("_seq") if isinstance(line, dict) else None
    return isinstance(number, int) and not isinstance(number, bool)


def with_number(item: Any, number: int) -> dict[str, Any]:
    """Return *item* as a line with its number; `without_number` gives it back.

    What is not an object, or could be taken for one in its wrapper, stands under ``value``.
    """
    is_plain = isinstance(item, dict) and item.keys().isdisjoint(("_seq", "_summary"))
    if is_plain and item.keys() != {"value"}:
        return {"_seq": number, **item}
    return {"_seq": number, "value": item}


def without_number(line: dict[str, Any]) -> Any:
    """Return the item in *line*, which its tool has numbered."""
    item = {key: value for key, value in line.items() if key != "_seq"}
    return item["value"] if item.keys() == {"value"} else item


def wrapped(item: Any) -> Any:
    """Return *item* as a line that no reader takes for a control line."""
    return {"event": "item", "data": item} if _needs_wrapper(item) else item


def unwrapped(line: Any) -> Any:
    """Return the item that *line* is, without the wrapper that `wrapped` put around it."""
    return line["data"] if _is_wrapper(line) and _needs_wrapper(line["data"]) else line


# Every object that `wrapped` or `with_number` has to look at has one of these keys.
MARKS = frozenset(
    ("ok", "_summary", "schema_version", "data", "event", "heartbeat", "current", "_seq")
)


def _needs_wrapper(item: Any) -> bool:
    # An item that looks like a wrapped one has to survive being unwrapped.
    while _is_wrapper(item):
        item = item["data"]
    return is_control_line(item)


def _is_wrapper(value: Any) -> bool:
    if not isinstance(value, dict) or value.get("event") != "item":
        return False
    return value.keys() - {"_seq"} == {"event", "data"}
