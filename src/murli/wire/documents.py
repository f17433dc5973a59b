"""The JSON documents in what a tool wrote, between whatever else it wrote.

Pure, and quick also with what was written to make it slow.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from ..contracts.control_lines import is_aside as is_aside
from ..contracts.control_lines import is_numbered as is_numbered
from ..contracts.control_lines import is_terminal as is_terminal
from ..contracts.control_lines import unwrapped as unwrapped
from ..contracts.control_lines import without_number as without_number

MURLI_STATES = {"ok": "ok", "plan": "plan", "partial": "partial", "error": "failed"}
#: stands for what is not JSON, where null is a value like others
NOT_JSON: Any = object()
_MARK = b"\xef\xbb\xbf"  # of UTF-8, as some systems put it before a text
# How many places on stderr may look like the start of an error before it is given up.
_MOST_TRIED = 64
# How many lines of an answer may look like documents without being any.
_MOST_FAILURES = 10_000


class DuplicateKeys(dict[str, Any]):
    """A document with an object that has the same key twice, so that nobody knows which counts."""


class _DuplicateKey(Exception):
    """An object has the same key twice."""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise _DuplicateKey
    return made


_DECODER = json.JSONDecoder()
_STRICT = json.JSONDecoder(object_pairs_hook=_unique)


def documents_in(stdout: bytes) -> tuple[list[dict[str, Any]], int]:
    """Return the JSON objects on stdout, and how many lines are something else.

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
    """Return what a tool answered, item by item, and how many lines are no part of it.

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
        if value is NOT_JSON:
            return list(documents), noise
        values.append(value)
    return [*values, *([last] if is_spread else [])], 0


def _spread(text: bytes, start: int) -> tuple[Any, int]:
    """Return the document that opens at *start*, and where it ends."""
    # Decoded so that the bytes can be counted, also those that are no text.
    rest = text[start + 1 :].decode("utf-8", "surrogateescape")
    try:
        _, length = _DECODER.raw_decode(rest)
    except (ValueError, RecursionError):
        return None, start + 2
    end = start + 1 + len(rest[:length].encode("utf-8", "surrogateescape"))
    return parsed(text[start + 1 : end]), end


def begins_at(text: bytes, start: int) -> bool:
    """Return whether a whole JSON value begins at *start*, whatever follows it."""
    try:
        _DECODER.raw_decode(text[start:].decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return False
    return True


def _lines(text: bytes) -> int:
    text = text.strip()
    return text.count(b"\n") + 1 if text else 0


def value_in(text: bytes) -> Any:
    """Return the JSON value *text* is, `NOT_JSON` for anything else.

    Bytes that are no text are replaced, so that one of them does not spoil the rest.
    """
    try:
        # As `json.loads` does it, which takes UTF-16 as well.
        written = text.decode(json.detect_encoding(text), "surrogatepass")
    except UnicodeDecodeError:
        written = text.decode("utf-8", "replace")
    return _decoded(lambda decoder: decoder.decode(written))


def _decoded(decode: Callable[[json.JSONDecoder], Any]) -> Any:
    """Return the value that *decode* gives, `DuplicateKeys` where a key stands twice in it."""
    try:
        try:
            return decode(_STRICT)
        except _DuplicateKey:
            value = decode(_DECODER)
            return DuplicateKeys(value) if isinstance(value, dict) else value
    except (ValueError, RecursionError):
        return NOT_JSON


def parsed(text: bytes) -> Any:
    """Return the JSON value *text* is, ``None`` for anything else."""
    value = value_in(text)
    return None if value is NOT_JSON else value


def _is_error(document: Any) -> bool:
    """Return whether *document* ends an answer, and not well: a success is never on stderr."""
    if not is_terminal(document):
        return False
    if "ok" in document or "schema_version" not in document:
        return document.get("ok") is False or isinstance(document.get("error"), dict)
    return bool(document.get("status", "error") == "error")


def claims_success(terminal: Mapping[str, Any]) -> bool:
    """Return whether the document that ends an answer says that all went well."""
    return True in (terminal.get("ok"), terminal.get("_summary")) or (
        terminal.get("status") in ("ok", "plan")
    )


def terminal_of(
    stdout: bytes, stderr: bytes, exit_code: int = 0
) -> tuple[dict[str, Any] | None, str]:
    """Return the document that ends an answer, and the stream it is on; ``None`` if there is none.

    It is on stdout, or on stderr where stdout does not show a failure that *exit_code* says.
    """
    documents, _ = documents_in(stdout)
    last = next((each for each in reversed(documents) if is_terminal(each)), None)
    if last is None or (exit_code and claims_success(last)):
        error = error_in(stderr.decode("utf-8", "replace"))
        if error is not None:
            return error, "stderr"
    return last, "stdout" if last is not None else ""


def _raw(text: str, start: int, decoder: json.JSONDecoder) -> Any:
    return decoder.raw_decode(text, start)[0]


def error_in(stderr_text: str) -> dict[str, Any] | None:
    """Return the last error document on stderr, whatever was logged before or behind it."""
    found = last_document(stderr_text, _is_error)
    return found[0] if found is not None else None


def last_document(
    text: str, is_wanted: Callable[[Any], bool]
) -> tuple[dict[str, Any], int, int] | None:
    """Return the last document in *text* that is wanted, where it begins, and where it ends."""
    end = len(text)
    for _ in range(_MOST_TRIED):
        start = 0 if end == 0 else text.rfind("\n{", 0, end) + 1
        if not text.startswith("{", start):
            return None
        document = _decoded(partial(_raw, text, start))
        if is_wanted(document):
            return document, start, _DECODER.raw_decode(text, start)[1]
        if not start:
            return None
        end = start - 1
    return None
