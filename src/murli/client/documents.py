"""The JSON documents in what a tool wrote, between whatever else it wrote.

Pure, and quick also with what was written to make it slow.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any

from ..control_lines import is_aside as is_aside
from ..control_lines import is_numbered as is_numbered
from ..control_lines import is_terminal as is_terminal
from ..control_lines import unwrapped as unwrapped
from ..control_lines import without_number as without_number

MURLI_STATES = {"ok": "ok", "plan": "plan", "partial": "partial", "error": "failed"}
#: stands for what is no JSON, where null is a value like others
NOTHING: Any = object()
_MARK = b"\xef\xbb\xbf"  # of UTF-8, as some systems put it before a text
# How many places on stderr may look like the start of an error before it is given up.
_MOST_TRIED = 64
# How many lines of an answer may look like documents without being any.
_MOST_FAILURES = 10_000


class Doubled(dict[str, Any]):
    """A document with an object that has the same key twice, so that nobody knows which counts."""


class _KeyTwice(Exception):
    """An object has the same key twice."""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise _KeyTwice
    return made


_DECODER = json.JSONDecoder()
_STRICT = json.JSONDecoder(object_pairs_hook=_unique)


def documents_in(stdout: bytes) -> tuple[list[dict[str, Any]], int]:
    """Give the JSON objects on stdout, and how many lines are something else.

    Each fills a line; the last may be spread over several (some tools do that). What begins like a
    document again and again is given up in the end.
    """
    stdout = stdout.removeprefix(_MARK)
    whole = parsed(stdout)
    if isinstance(whole, dict):
        return [whole], 0
    found: list[dict[str, Any]] = []
    noise = behind = failures = 0
    text = b"\n" + stdout
    # Only the last line of its own can open the last one: what is nested is indented.
    opening = max(text.rfind(b"\n{\n"), text.rfind(b"\n{\r\n"))
    start = text.find(b"\n{")
    while start >= 0 and failures < _MOST_FAILURES:
        end = text.find(b"\n", start + 1)
        end = len(text) if end < 0 else end
        document = parsed(text[start:end])
        if document is None and start == opening:
            document, end = _spread(text, start)
        if isinstance(document, dict):
            noise += _lines(text[behind:start])
            behind = end
            found.append(document)
        else:
            failures += 1
        start = text.find(b"\n{", end)
    return found, noise + _lines(text[behind:])


def values_in(stdout: bytes) -> tuple[list[Any], int]:
    """Give what a tool answered, item by item, and how many lines are no part of it.

    Items may be any JSON value, where every line is one: a number among words is no item.
    """
    documents, noise = documents_in(stdout)
    if not noise:
        return list(documents), 0
    text = b"\n" + stdout.removeprefix(_MARK)
    opening = max(text.rfind(b"\n{\n"), text.rfind(b"\n{\r\n"))
    last, end = _spread(text, opening) if opening >= 0 else (None, 0)
    is_spread = isinstance(last, dict) and not text[end:].strip()
    values: list[Any] = []
    for line in filter(bytes.strip, (text[:opening] if is_spread else text).split(b"\n")):
        value = value_in(line)
        if value is NOTHING:
            return list(documents), noise
        values.append(value)
    return [*values, *([last] if is_spread else [])], 0


def _spread(text: bytes, start: int) -> tuple[Any, int]:
    """Give the document that opens at *start*, and where it ends."""
    # Decoded so that the bytes can be counted, also those that are no text.
    rest = text[start + 1 :].decode("utf-8", "surrogateescape")
    try:
        _, length = _DECODER.raw_decode(rest)
    except (ValueError, RecursionError):
        return None, start + 2
    end = start + 1 + len(rest[:length].encode("utf-8", "surrogateescape"))
    return parsed(text[start + 1 : end]), end


def begins_at(text: bytes, start: int) -> bool:
    """Tell whether a whole JSON value begins at *start*, whatever follows it."""
    try:
        _DECODER.raw_decode(text[start:].decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return False
    return True


def _lines(text: bytes) -> int:
    text = text.strip()
    return text.count(b"\n") + 1 if text else 0


def value_in(text: bytes) -> Any:
    """Give the JSON value *text* is, `NOTHING` for anything else.

    Bytes that are no text are replaced, so that one of them does not spoil the rest.
    """
    try:
        # As `json.loads` does it, which takes UTF-16 as well.
        written = text.decode(json.detect_encoding(text), "surrogatepass")
    except UnicodeDecodeError:
        written = text.decode("utf-8", "replace")
    return _decoded(lambda decoder: decoder.decode(written))


def _decoded(decode: Callable[[json.JSONDecoder], Any]) -> Any:
    """Return the value that *decode* gives, `Doubled` where a key stands twice in it."""
    try:
        try:
            return decode(_STRICT)
        except _KeyTwice:
            value = decode(_DECODER)
            return Doubled(value) if isinstance(value, dict) else value
    except (ValueError, RecursionError):
        return NOTHING


def parsed(text: bytes) -> Any:
    """Give the JSON value *text* is, ``None`` for anything else."""
    value = value_in(text)
    return None if value is NOTHING else value


def _is_error(document: Any) -> bool:
    """Tell whether *document* ends an answer, and not well: a success is never on stderr."""
    if not is_terminal(document):
        return False
    if "ok" in document or "schema_version" not in document:
        return document.get("ok") is False or isinstance(document.get("error"), dict)
    return bool(document.get("status", "error") == "error")


def _raw(text: str, start: int, decoder: json.JSONDecoder) -> Any:
    return decoder.raw_decode(text, start)[0]


def error_in(told: str) -> dict[str, Any] | None:
    """Give the last error document on stderr, whatever was logged before or behind it."""
    end = len(told)
    for _ in range(_MOST_TRIED):
        start = 0 if end == 0 else told.rfind("\n{", 0, end) + 1
        if not told.startswith("{", start):
            return None
        document = _decoded(partial(_raw, told, start))
        if _is_error(document):
            found: dict[str, Any] = document
            return found
        if not start:
            return None
        end = start - 1
    return None
