"""Values that would do harm, or that cannot be what they are said to be."""

from __future__ import annotations

import re

from ...declare.checks import PATTERN_TYPES
from ...line import usage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...declare import FlagAnnotation
    from ...declare.described import ArgumentMetadata
    from ...errors import AgentError

# What a shell acts on; a line break ends a command there.
_FOR_A_SHELL = re.compile(r"[;&|$`<>(){}\[\]*?!~#'\"\\\x00\r\n]")
_ENCODED = re.compile(r"%[0-9A-Fa-f]{2}")
_UPWARDS = re.compile(r"(?:^|[/\\])\.\.(?:[/\\]|$)")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def unfit(option: str, text: str, note: FlagAnnotation | ArgumentMetadata) -> AgentError | None:
    """Return what is wrong with *text* as a value of *option*, or ``None``."""
    size = len(text.encode("utf-8", "surrogateescape"))
    if note.max_bytes and size > note.max_bytes:
        # The value itself would be the longest part of the answer.
        return usage.wrong_call(
            f"The value of {option} has {size:,} bytes; at most {note.max_bytes:,} are taken.",
            option,
        )
    if note.kind == "json":
        problem = _not_json(option, text)
        if problem is not None:
            return problem
    reason = _objection(text, note)
    return usage.bad_value(option, text, reason) if reason else None


def _objection(text: str, note: FlagAnnotation | ArgumentMetadata) -> str:
    if note.pattern_type and not re.fullmatch(PATTERN_TYPES[note.pattern_type], text):
        return f"expected {_EXPECTED[note.pattern_type]}"
    if note.kind in ("id", "path"):
        if _UPWARDS.search(text) or (note.kind == "id" and "../" in text):
            return "it leads out of where it starts (..)"
        if _ENCODED.search(text):
            return "it is percent-encoded; give it as it is"
        if _CONTROL.search(text):
            return "it has a control character"
    if note.kind == "id":
        query = next((each for each in "?&#" if each in text), "")
        if query:
            return f"an id has no {query}"
    if note.reaches_child:
        found = _FOR_A_SHELL.search(text)
        if found is not None:
            return f"{found[0]!r} has a meaning to a shell and is not taken"
    return ""


_EXPECTED = {
    "alphanumeric_id": "letters, digits, - and _",
    "uuid": "a UUID",
    "semver": "a version such as 1.2.3",
    "filepath": "the path of a file",
    "url": "a URL such as https://example.com",
}


def _not_json(option: str, text: str) -> AgentError | None:
    import json

    from ...handlers.lenient_json import corrected

    try:
        json.loads(text)
    except (ValueError, RecursionError) as error:
        problem = usage.bad_value(option, text, f"not JSON: {error}")
        better = corrected(text)
        if better is not None:
            problem.suggestion = f"Pass {better} instead."
            problem.context = {"corrected_input": better}
        return problem
    return None
