"""What murli documents are made of, and where they stand in what a tool wrote. Pure.

Nothing here raises on what a tool printed; whatever stands in a document may be of any type.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from ...client.documents import documents_in, is_aside
from ..results import Evidence

_MOST_SHOWN = 60
# How many places on one stream may look like the start of a document without being one.
_MOST_FAILURES = 64
_LONG = 1 << 16
# How many log lines may stand behind an error.
_MOST_BEHIND = 20
_ERROR_KEYS = ("code", "error", "message", "recoverable")

# -- kinds of values -----------------------------------------------------------------------------

_KINDS: dict[str, Callable[[Any], bool]] = {
    "anything": lambda value: True,
    "a text": lambda value: isinstance(value, str),
    "a text that is not empty": lambda value: isinstance(value, str) and bool(value.strip()),
    "true or false": lambda value: isinstance(value, bool),
    "a whole number": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "a number": lambda value: isinstance(value, (int, float)) and not isinstance(value, bool),
    "an object": lambda value: isinstance(value, dict),
    "a list of objects": lambda value: (
        isinstance(value, list) and all(isinstance(each, dict) for each in value)
    ),
    "a list of texts": lambda value: (
        isinstance(value, list) and all(isinstance(each, str) for each in value)
    ),
    "a schema": lambda value: isinstance(value, (dict, bool)),
}
ANYTHING, TEXT, WORD, TRUTH, WHOLE, NUMBER, OBJECT, OBJECTS, TEXTS, SCHEMA = _KINDS
#: the keys of an object, each with the kind of its value; a star marks those that must be there
Shape = Mapping[str, str]

COMMAND: Shape = {
    "*name": WORD,
    "*summary": TEXT,
    "when_to_use": TEXT,
    "agent_description": TEXT,
    "*idempotent": TRUTH,
    "mutating": TRUTH,
    "arguments": OBJECTS,
    "flags": OBJECTS,
    "returns": OBJECT,
    "examples": OBJECTS,
    "subcommands": OBJECTS,
    "*safety": OBJECT,
}
ARGUMENT: Shape = {
    "*name": WORD,
    "*type": TEXT,
    "*required": TRUTH,
    "*description": TEXT,
    "metavar": TEXT,
}
FLAG: Shape = {
    "*name": WORD,
    "*type": TEXT,
    "*default": ANYTHING,
    "*description": TEXT,
    "env": TEXT,
    "sensitive": TRUTH,
    "persistent": TRUTH,
    "mutually_exclusive_with": TEXTS,
    "enum": TEXTS,
    "pattern": TEXT,
    "profileable": TRUTH,
    "required": TRUTH,
    "short": WORD,
    "spelling": WORD,
    "aliases": TEXTS,
    "metavar": TEXT,
    "standard": TRUTH,
}
RETURNS: Shape = {"*type": TEXT, "*description": TEXT, "shape": OBJECT, "output_schema": SCHEMA}
EXAMPLE: Shape = {"*command": WORD, "description": TEXT, "expected_exit_code": WHOLE}
SAFETY: Shape = {
    "*read_only": TRUTH,
    "*idempotent": TRUTH,
    "destructive": TRUTH,
    "dry_run_supported": TRUTH,
}
#: of a command that nobody declared
UNDECLARED: Shape = {"*declared": TRUTH, "inferred": TEXT, "dry_run_supported": TRUTH}
CAPABILITIES: Shape = {
    "streaming": TRUTH,
    "dry_run": TRUTH,
    "profiles": TRUTH,
    "*output_formats": TEXTS,
    "schema_version": TEXT,
    "tool_version": TEXT,
    "protocol_version": TEXT,
}
PROFILES: Shape = {"available": TEXTS, "default": TEXT, "*profileable_flags": TEXTS}
ERROR: Shape = {
    "*code": WHOLE,
    "*error": WORD,
    "*message": TEXT,
    "*recoverable": TRUTH,
    "*schema_version": WORD,
    "suggestion": TEXT,
    "valid_values": TEXTS,
    "retry_after_ms": WHOLE,
    "field": TEXT,
    "doc_url": TEXT,
    "tool_version": TEXT,
}
SUCCESS: Shape = {"*schema_version": WORD, "tool_version": TEXT, "message": TEXT}
PROGRESS: Shape = {
    "stage": TEXT,
    "current": WHOLE,
    "total": WHOLE,
    "percent": NUMBER,
    "eta_ms": WHOLE,
    "message": TEXT,
}
LOG: Shape = {"*ts": WORD, "*level": WORD, "*msg": TEXT, "repeated": WHOLE}
_PARTS = (
    ("arguments", ARGUMENT),
    ("flags", FLAG),
    ("returns", RETURNS),
    ("examples", EXAMPLE),
    ("safety", SAFETY),
)


def misfits(document: Mapping[str, Any], shape: Shape, where: str = "") -> Iterator[str]:
    """Tell in words what of *document* is missing or of the wrong kind; *where* is its place.

    A null counts as left out, and keys beside those of *shape* as nobody's business.
    """
    for key, kind in shape.items():
        name = key.removeprefix("*")
        value = document.get(name)
        if (name not in document) if kind == ANYTHING else (value is None):
            if key != name:
                yield f"{where}{name} is missing"
        elif not _KINDS[kind](value):
            yield f"{where}{name} is {shown(value)} instead of {kind}"


def command_misfits(command: Mapping[str, Any], where: str = "") -> Iterator[str]:
    """Tell what is wrong with one described command, and with everything of its own in it."""
    yield from misfits(command, COMMAND, where)
    for key, shape in _PARTS:
        value = command.get(key)
        if isinstance(value, dict):
            used = UNDECLARED if key == "safety" and is_undeclared(command) else shape
            yield from misfits(value, used, f"{where}{key}.")
        for at, each in enumerate(value if isinstance(value, list) else ()):
            if isinstance(each, dict):
                label = each.get("name")
                place = shown(label) if isinstance(label, str) else str(at)
                yield from misfits(each, shape, f"{where}{key}[{place}].")


def is_undeclared(command: Mapping[str, Any]) -> bool:
    """Return whether a described command says that nobody declared what it may do."""
    safety = command.get("safety")
    return isinstance(safety, dict) and safety.get("declared") is False


def summed_up(troubles: Iterator[str]) -> str:
    """Give the first few of *troubles* as one sentence, ``""`` for none."""
    found = list(troubles)
    more = f"; and {len(found) - 3} more" if len(found) > 3 else ""
    return "; ".join(found[:3]) + more


def shown(value: Any) -> str:
    """Give a value so that it can be told on any stream, shortened if need be."""
    if isinstance(value, (dict, list)) and value:
        return "an object" if isinstance(value, dict) else "a list"
    try:
        text = json.dumps(value)
    except ValueError:  # a number too long to be written
        return "a number"
    return text if len(text) <= _MOST_SHOWN else f"{text[: _MOST_SHOWN - 1]}…"


def objects(value: Any) -> list[dict[str, Any]]:
    """Give the objects in what should be a list of them."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def flags_in(command: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Give the flags of a described command by name."""
    for flag in objects(command.get("flags")):
        name = flag.get("name")
        yield name.lstrip("-") if isinstance(name, str) else "?", flag


def walked(description: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Give every command in a description, with what stands behind the tool's name."""
    waiting = [("", each) for each in reversed(objects(description.get("commands")))]
    while waiting:  # not by recursion: nobody knows how deep it is
        above, command = waiting.pop()
        name = command.get("name")
        path = f"{above} {name if isinstance(name, str) else '?'}".strip()
        yield path, command
        waiting += [(path, each) for each in reversed(objects(command.get("subcommands")))]


# -- documents on streams ------------------------------------------------------------------------


def documents(stream: bytes) -> tuple[list[dict[str, Any]], int]:
    """Give the objects on a stream, and how many lines are something else; nobody changes them."""
    # Every check looks at the same streams again. Of the long ones few are kept, for the memory.
    return _short(stream) if len(stream) < _LONG else _long(stream)


_short = lru_cache(maxsize=512)(documents_in)
_long = lru_cache(maxsize=16)(documents_in)


def is_error(document: Mapping[str, Any]) -> bool:
    """Tell whether *document* means to be an error, also one that has lost half of its keys."""
    if "level" in document or "event" in document:
        return False  # a log line, or an item of a stream
    if "status" in document:
        if document["status"] == "error":
            return True
        if document["status"] in ("ok", "plan", "partial"):
            return False
    return sum(key in document for key in _ERROR_KEYS) >= 3


def errors_in(stream: bytes) -> list[dict[str, Any]]:
    """Give the error documents at the end of a stream."""
    return [each for each in documents(stream)[0][-_MOST_BEHIND:] if is_error(each)]


def error_of(evidence: Evidence) -> dict[str, Any] | None:
    """Give the error a call ended in, on whichever stream it stands."""
    for stream in (evidence.stderr, evidence.stdout):
        found = errors_in(stream)
        if found:
            return found[-1]
    return None


def answer_of(evidence: Evidence) -> dict[str, Any] | None:
    """Give the last document on stdout that is no progress, whatever it is."""
    found = [each for each in documents(evidence.stdout)[0] if not is_aside(each)]
    return found[-1] if found else None


def code_in(document: Mapping[str, Any], evidence: Evidence) -> int | None:
    """Give the code an error says it has, or else that of the process."""
    code = document.get("code")
    return code if _KINDS[WHOLE](code) else evidence.exit_code


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
    """Tell what a strict reader would refuse in the documents on a stream, ``""`` for nothing."""
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
