"""Values in documents that anybody may have written: of the type that is expected, or nothing."""

from __future__ import annotations

from typing import Any

# Nobody waits for longer, or counts further; what has thousands of digits cannot even be written.
MOST = 10**15


def object_in(value: Any) -> dict[str, Any]:
    """Return *value* if it is an object, an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def objects_in(value: Any) -> list[dict[str, Any]]:
    """Return the objects in a list, nothing for anything else."""
    return [each for each in list_in(value) if isinstance(each, dict)]


def list_in(value: Any) -> list[Any]:
    """Return *value* if it is a list, an empty one for anything else."""
    return value if isinstance(value, list) else []


def text_in(value: Any) -> str:
    """Return *value* if it is a text, an empty one for anything else."""
    return value if isinstance(value, str) else ""


def printed_in(value: Any) -> str | None:
    """Return the text that the data of an answer is: as it is, as ``text``, or as ``lines``."""
    if isinstance(value, dict):
        lines = value.get("lines", value.get("text"))
        if isinstance(lines, list) and all(isinstance(each, str) for each in lines):
            return "\n".join(lines)
        value = lines
    return value if isinstance(value, str) else None


def texts_in(value: Any) -> tuple[str, ...]:
    """Return what in a list can be written as a word."""
    return tuple(str(each) for each in list_in(value) if isinstance(each, (str, int, float)))


def number_in(value: Any) -> int | None:
    """Return *value* if it is a whole number, within reason."""
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return max(min(value, MOST), -MOST)


def scalars_in(value: Any) -> tuple[str, ...]:
    """Return the items of a list as texts, null included, but for its lists and objects."""
    return tuple(str(each) for each in list_in(value) if not isinstance(each, (dict, list)))
