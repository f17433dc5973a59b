"""What a command printed, as a result; loaded when it is not just some plain lines.

The rule, which ``docs/guides/output.md`` states for users:

* A JSON object or array is that value. Several lines of which each is one are a list (JSON Lines);
  a single line is a list of one only where the command declares that it answers with a list.
* Anything else is text. Line ends behind the last line are left out; where they belong to the text
  they stay: where lines end in CRLF, and in tables (lines with equally many separators).
* What is not UTF-8, or holds a NUL, is not text: its bytes are kept, in base64.
"""

from __future__ import annotations

from ..formats import cleaned, is_large, plain
from ..formats.text import Printed, in_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

    from ..call import Invocation
    from ..declare import Metadata

_CRLF = "\r\n"
# How much of a text is looked at.
_BEGINNING = 1 << 14


def result_of(printed: str | bytes, metadata: Metadata | None = None) -> Any:
    """Return the result that a command of this *metadata* has *printed*, as plain data."""
    if isinstance(printed, bytes):
        return plain(printed)
    if not printed.strip(_CRLF):
        return None
    # Not numbers or words: "1.10" is a version, and must not come back as 1.1.
    if printed[:256].lstrip()[:1] in ("{", "["):
        found = _values_in(printed, metadata)
        if found is not None:
            return found
    if _CRLF in printed:
        return Printed(_CRLF.join(cleaned(part) for part in printed.split(_CRLF)))
    return cleaned(printed if is_table(printed) else printed.rstrip("\n"))


def lines_of(invocation: Invocation, text: str) -> Any:
    """Return the result that a printed *text* of several lines is: its lines, each for itself.

    A line is one in the document too then, for programs that count or search lines.
    Where the command declares that it answers with a string, it is the text.
    """
    if is_text(invocation.metadata):
        return text
    secrets = invocation.secrets
    if secrets is not None and not secrets.revealed:
        clean = type(text)(secrets.scrub(text))  # one may be in more than one line
        return in_lines(clean)
    return in_lines(text)


def is_table(printed: str) -> bool:
    """Return whether *printed* are rows of values, judged by the first of them."""
    import re

    begun = re.sub(r'"[^"]*"', "", printed[:_BEGINNING])
    lines = [
        line for line in begun.split("\n")[: None if len(printed) < _BEGINNING else -1] if line
    ]
    # A comma in a sentence is followed by a space.
    counts = [{len(re.findall(mark + r"(?! )", line)) for line in lines} for mark in ",;\t"]
    return len(lines) > 1 and any(len(found) == 1 and found != {0} for found in counts)


def value_in(line: str) -> Any:
    """Return the object or the array that *line* is; ``None`` for anything else."""
    if line[:256].lstrip()[:1] not in ("{", "["):
        return None
    from json import loads

    try:
        return plain(loads(line, parse_constant=_refuse_constant))
    except (ValueError, RecursionError):  # not JSON, or nothing JSON readers agree on
        return None


def is_text(metadata: Metadata | None) -> bool:
    """Return whether *metadata* declares that the command answers with a string."""
    return metadata is not None and getattr(metadata.returns, "type", "") == "string"


def is_list(metadata: Metadata | None) -> bool:
    """Return whether *metadata* declares that the command answers with a list."""
    if metadata is None:
        return False
    declared = getattr(metadata.returns, "type", "")
    return bool(metadata.lists or metadata.streams or declared == "array")


def _values_in(printed: str, metadata: Metadata | None) -> Any:
    """Return the value that *printed* is, or the list of those in its lines, else ``None``."""
    from json import JSONDecodeError, loads

    try:
        value = loads(printed, parse_constant=_refuse_constant)
        if not (is_large(value) and _is_prepared(value)):
            value = plain(value)
    except JSONDecodeError as error:
        # Behind a whole value comes something else: the first of several lines, perhaps.
        return _values_of_lines(printed) if error.msg == "Extra data" else None
    except (ValueError, RecursionError):
        return None
    is_item = isinstance(value, dict) and is_list(metadata) and "\n" not in printed.strip(_CRLF)
    return [value] if is_item else value


def _is_prepared(value: Any) -> bool:
    from ..formats import quick

    quick.prepared(value)
    return quick.kept is not None


def _values_of_lines(printed: str) -> list[Any] | None:
    values = []
    start = 0
    while start < len(printed):
        end = printed.find("\n", start)
        end = len(printed) if end < 0 else end
        line = printed[start:end]
        start = end + 1
        if not line.strip():
            continue
        value = value_in(line)
        if value is None:
            return None
        values.append(value)
    return values


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
