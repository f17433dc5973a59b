"""Documents on the streams of a tool: which is the answer, which the error, which is strict JSON.

Nothing here raises on what a tool printed; whatever stands in a document may be of any type.
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

# How many places on one stream may look like the start of a document without being one.
_MOST_FAILURES = 64
_LONG = 1 << 16
# How many log lines may stand behind an error.
_MOST_BEHIND = 20
_ERROR_KEYS = ("code", "error", "message", "recoverable")
_MARK = b"\xef\xbb\xbf"  # of UTF-8, as some systems put it before a text
# How many envelopes are kept parsed.
_MOST_REMEMBERED = 1024


def documents(stream: bytes) -> tuple[list[dict[str, Any]], int]:
    """Return the objects on a stream, and how many lines are something else; read-only."""
    # Every check looks at the same streams again. Of the long ones few are kept, for the memory.
    return _short(stream) if len(stream) < _LONG else _long(stream)


_short = lru_cache(maxsize=512)(documents_in)
_long = lru_cache(maxsize=16)(documents_in)


def has_lines(evidence: Evidence) -> bool:
    """Return whether stdout is more than one line, and not one document spread over lines."""
    lines = [each for each in evidence.stdout.splitlines() if each.strip()]
    return len(lines) > 1 and parsed(evidence.stdout) is None


# -- murli ---------------------------------------------------------------------------------------


def is_error(document: Mapping[str, Any]) -> bool:
    """Return whether *document* means to be an error, also one that has lost half of its keys."""
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
    """Return the error a call ended in, on whichever stream it stands."""
    for stream in (evidence.stderr, evidence.stdout):
        found = errors_in(stream)
        if found:
            return found[-1]
    return None


def answer_of(evidence: Evidence) -> dict[str, Any] | None:
    """Return the last document on stdout that is no progress, whatever it is."""
    found = [each for each in documents(evidence.stdout)[0] if not is_aside(each)]
    return found[-1] if found else None


def code_in(document: Mapping[str, Any], evidence: Evidence) -> int | None:
    """Return the code an error says it has, or else that of the process."""
    code = document.get("code")
    return code if is_whole(code) else evidence.exit_code


# -- envelopes -----------------------------------------------------------------------------------


def envelope_of(evidence: Evidence) -> dict[str, Any] | None:
    """Return the envelope of an answer, on whichever stream it is; ``None`` for none."""
    is_small = len(evidence.stdout) + len(evidence.stderr) <= _LONG
    return (_remembered if is_small else _envelope)(evidence.stdout, evidence.stderr)


def _envelope(stdout: bytes, stderr: bytes) -> dict[str, Any] | None:
    whole = parsed(stdout)
    found: dict[str, Any] | None = whole if isinstance(whole, dict) else _last_of(stdout)
    if found is None:
        found = error_in(stderr.decode("utf-8", "replace"))
    # The last line of a stream may be a mere summary.
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
    """A document that only a lenient reader takes."""


def _no_constant(name: str) -> Any:
    raise _Lax(f"{name} is no JSON")


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


def laxity(stream: bytes) -> str:
    """Return what a strict reader would refuse in the documents on a stream, ``""`` for nothing."""
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
        except (ValueError, RecursionError):  # no document at all
            failures += 1
    return ""


def strictness(text: bytes) -> str:
    """Return what in *text*, a document that can be read, not every parser would read."""
    if text.startswith(_MARK):
        return "there is a byte-order mark before it"

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            raise _Lax("a key is there twice")
        return found

    def never(constant: str) -> Any:
        raise _Lax(f"{constant} is no number in JSON")

    try:
        value = json.loads(
            text.decode("utf-8", "replace"), object_pairs_hook=once, parse_constant=never
        )
        json.dumps(value, ensure_ascii=False).encode()
    except _Lax as error:
        return str(error)
    except UnicodeEncodeError:
        return "half of a surrogate pair stands alone"
    except (ValueError, RecursionError):
        return "it is nested too deep, or a number is too long"
    return ""
