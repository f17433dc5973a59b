"""Documents on the streams of a tool: which is the answer, which the error, is it strict JSON.

Nothing here raises on what a tool printed; every value may be of any type.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from ...wire.documents import documents_in, error_in, is_aside, is_terminal, parsed
from ..results import Evidence
from ..shapes.kinds import is_whole, shown

# How many places of a stream may look like the start of a document without being one.
_MOST_FAILURES = 64
_LONG = 1 << 16
# How many log lines may follow an error.
_MOST_BEHIND = 20
_ERROR_KEYS = ("code", "error", "message", "recoverable")
_MARK = b"\xef\xbb\xbf"  # the byte order mark of UTF-8
# How many envelopes are kept parsed.
_MOST_REMEMBERED = 1024


def documents(stream: bytes) -> tuple[list[dict[str, Any]], int]:
    """Return the objects on a stream, not to be changed, and how many lines belong to none."""
    # Every check reads the same streams again. Few of the long ones are kept, to save memory.
    return _short(stream) if len(stream) < _LONG else _long(stream)


_short = lru_cache(maxsize=512)(documents_in)
_long = lru_cache(maxsize=16)(documents_in)


def has_lines(evidence: Evidence) -> bool:
    """Return whether stdout has several lines that are not one document."""
    lines = [each for each in evidence.stdout.splitlines() if each.strip()]
    return len(lines) > 1 and parsed(evidence.stdout) is None


# -- murli ---------------------------------------------------------------------------------------


def is_error(document: Mapping[str, Any]) -> bool:
    """Return whether *document* is meant as an error, even if half of its keys are missing."""
    if "level" in document or "event" in document:
        return False  # a log line, or an item of a stream
    if "status" in document:
        if document["status"] == "error":
            return True
        if document["status"] in ("ok", "plan", "partial"):
            return False
    return sum(key in document for key in _ERROR_KEYS) >= 3


def errors_in(stream: bytes) -> list[dict[str, Any]]:
    """Return the error documents at the end of a stream."""
    return [each for each in documents(stream)[0][-_MOST_BEHIND:] if is_error(each)]


def error_of(evidence: Evidence) -> dict[str, Any] | None:
    """Return the error document of a call, on whichever stream it is."""
    for stream in (evidence.stderr, evidence.stdout):
        found = errors_in(stream)
        if found:
            return found[-1]
    return None


def answer_of(evidence: Evidence) -> dict[str, Any] | None:
    """Return the last document on stdout that is not a progress event."""
    found = [each for each in documents(evidence.stdout)[0] if not is_aside(each)]
    return found[-1] if found else None


def code_in(document: Mapping[str, Any], evidence: Evidence) -> int | None:
    """Return the code in an error document, or else that of the process."""
    code = document.get("code")
    return code if is_whole(code) else evidence.exit_code


# -- envelopes -----------------------------------------------------------------------------------


def envelope_of(evidence: Evidence) -> dict[str, Any] | None:
    """Return the envelope of a call, on whichever stream it is, or ``None``."""
    is_small = len(evidence.stdout) + len(evidence.stderr) <= _LONG
    return (_remembered if is_small else _envelope)(evidence.stdout, evidence.stderr)


def _envelope(stdout: bytes, stderr: bytes) -> dict[str, Any] | None:
    whole = parsed(stdout)
    found: dict[str, Any] | None = whole if isinstance(whole, dict) else _last_of(stdout)
    if found is None:
        found = error_in(stderr.decode("utf-8", "replace"))
    # The last line of a stream may be only a summary.
    return None if found is not None and found.get("_summary") is True else found


def _last_of(stdout: bytes) -> dict[str, Any] | None:
    """Return the envelope at the end of *stdout*, or wherever it is."""
    last = parsed(stdout.rstrip().rpartition(b"\n")[2])
    if isinstance(last, dict) and is_terminal(last):  # so a stream is not read to its last line
        return last
    return next((each for each in reversed(documents_in(stdout)[0]) if is_terminal(each)), None)


_remembered = lru_cache(maxsize=_MOST_REMEMBERED)(_envelope)


# -- strictly ------------------------------------------------------------------------------------


class _Lax(ValueError):
    """A document that only lenient parsers accept."""


def _no_constant(name: str) -> Any:
    raise _Lax(f"{name} is not JSON")


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise _Lax(f"the key {shown(name)} is there twice")
        found[name] = value
    return found


_LENIENT = json.JSONDecoder()
_STRICT = json.JSONDecoder(parse_constant=_no_constant, object_pairs_hook=_no_duplicates)
_OPENING = re.compile(r"^\{", re.MULTILINE)


def strictness_of_stream(stream: bytes) -> str:
    """Return why a strict parser would reject the documents on a stream, or ``""``."""
    text = stream.decode("utf-8", "replace")
    position = failures = 0
    while failures < _MOST_FAILURES:
        opening = _OPENING.search(text, position)
        if opening is None:
            break
        position = opening.end()
        try:
            _, position = _LENIENT.raw_decode(text, opening.start())
            _STRICT.raw_decode(text, opening.start())
        except _Lax as error:
            return str(error)
        except (ValueError, RecursionError):  # not a document
            failures += 1
    return ""


def json_strictness(text: bytes) -> str:
    """Return why some parsers would reject the document in *text*, or ``""``."""
    if text.startswith(_MARK):
        return "there is a byte-order mark before it"
    try:
        value = _STRICT.decode(text.decode("utf-8", "replace"))
        json.dumps(value, ensure_ascii=False).encode()
    except _Lax as error:
        return str(error)
    except UnicodeEncodeError:
        return "half of a surrogate pair stands alone"
    except (ValueError, RecursionError):
        return "it is nested too deep, or a number is too long"
    return ""
