"""Facts that a manifest has only in descriptions, in the wording of murli.

The first version of a manifest has no keys for arguments, variables, patterns, ranges and
exclusions; the third has none for ranges. Without the descriptions such a change is not noticed.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

_NUMBER = r"(-?\d{1,30}(?:\.\d{1,30})?)"
_RANGE = re.compile(rf"{_NUMBER} to {_NUMBER}")
_WORD = re.compile(
    r"\[(?P<optional>[^\[\]]+)\]|(?P<plain>\{[^{}]*\}|[^\s\[\]{}]+)(?P<more> \.\.\.)?"
)


def _bound(key: str) -> Callable[[str], dict[str, Any]]:
    return lambda text: {key: float(text)} if re.fullmatch(_NUMBER, text) else {}


_REMARKS: dict[str, Callable[[str], dict[str, Any]]] = {
    "at least ": _bound("minimum"),
    "at most ": _bound("maximum"),
    "env ": lambda text: {"env": text},
    "pattern ": lambda text: {"pattern": text},
    "not with ": lambda text: {"excludes": [_named(each) for each in text.split(", ")]},
    "each of type ": lambda text: {"schema": {"items": {"type": text}}},
    "written ": lambda text: {"spelling": text},
}


def _named(written: str) -> str:
    """Return the name in *written*: an option, or an argument in capitals."""
    return written.lstrip("-") if written.startswith("-") else written.lower()


def remarks_in(description: str) -> dict[str, Any]:
    """Return the facts in brackets at the end of *description*, by key."""
    found: dict[str, Any] = {}
    for remark in _bracketed(description).split("; "):
        between = _RANGE.fullmatch(remark)
        if between:
            found.update(minimum=float(between[1]), maximum=float(between[2]))
        for start, read in _REMARKS.items():
            if remark.startswith(start):
                found.update(read(remark.removeprefix(start)))
    return found


def _bracketed(text: str) -> str:
    """Return the content of the brackets at the end of *text*."""
    if not text.endswith(")"):
        return ""
    depth = 0
    for place in range(len(text) - 1, -1, -1):
        depth += {")": 1, "(": -1}.get(text[place], 0)
        if depth == 0:
            return text[place + 1 : -1]
    return ""


def arguments_in(usage: str, skipped: int) -> list[dict[str, Any]] | None:
    """Return the arguments after the first *skipped* words of *usage*, or ``None`` if unclear."""
    words = usage.split(None, skipped)
    if len(words) < skipped:
        return None
    text = words[skipped] if len(words) > skipped else ""
    found: list[dict[str, Any]] = []
    place = 0
    for match in _WORD.finditer(text):
        if text[place : match.start()].strip():
            return None
        place = match.end()
        required = match["optional"] is None
        word = match["plain"] if required else match["optional"]
        many = match["more"] is not None
        if not required and word.endswith(" ..."):
            many, word = True, word.removesuffix(" ...")
        names = word.split() if not word.startswith("{") else [word]
        if not names:
            return None
        if found and required and found[-1]["name"] == word.lower():
            found[-1]["variadic"] = True  # a usage line repeats such an argument
            continue
        entry: dict[str, Any] = {"type": "string", "name": names[0].lower(), "required": required}
        if word.startswith("{"):
            entry["name"] = f"#{len(found) + 1}"
            entry["enum"] = word.strip("{}").split(",")
        entry["variadic"] = many or len(names) > 1
        found.append(entry)
    return None if text[place:].strip() else found
