"""JSON as people and agents type it: with trailing commas, comments, bare keys, single quotes."""

from __future__ import annotations

import json
import re
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any, NoReturn

# Strings come first, so that nothing inside of them is taken for something else.
_STRING = r'"(?:[^"\\]|\\.)*"'
_LOOSE = re.compile(
    rf"(?P<string>{_STRING})|(?P<single>'(?:[^'\\]|\\.)*')"
    r"|(?P<comment>//[^\n]*|/\*.*?\*/)|(?P<key>[A-Za-z_$][\w$-]*)(?=\s*:)",
    re.DOTALL,
)
_TRAILING = re.compile(rf"({_STRING})|,(?=\s*[}}\]])", re.DOTALL)
_ESCAPE_OR_QUOTE = re.compile(r'\\.|"', re.DOTALL)


def json_value(text: Any) -> Any:
    """Return the value that *text* spells in JSON, or nearly; a type for click and argparse.

    ``parser.add_argument("--filter", type=murli.json_value)``. Trailing commas, comments, keys
    without quotes and single quotes are understood.
    """
    if not isinstance(text, str):  # a default
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        better = corrected(text)
        if better is not None:
            return json.loads(better)
        _refuse(text, str(error))


def corrected(text: str) -> str | None:
    """Return the JSON that *text* means, or ``None`` when that is not certain."""
    strict = _TRAILING.sub(lambda found: found[1] or "", _LOOSE.sub(_strict, text)).strip()
    try:
        json.loads(strict)
    except (ValueError, RecursionError):
        return None
    return strict


def _strict(found: re.Match[str]) -> str:
    if found["single"]:
        body = _ESCAPE_OR_QUOTE.sub(_requoted, found["single"][1:-1])
        return f'"{body}"'
    if found["key"]:
        return f'"{found["key"]}"'
    return " " if found["comment"] else found[0]


def _requoted(found: re.Match[str]) -> str:
    return {"\\'": "'", '"': '\\"'}.get(found[0], found[0])


def _refuse(text: str, reason: str) -> NoReturn:
    """Refuse *text* in the words of every usage error, naming the option it was meant for."""
    from ..core import current
    from ..line.usage import bad_value

    invocation = current()
    if invocation is None or invocation.writer._reply.phase != "validation":
        raise ValueError(f"not JSON: {reason}")
    invocation.refuse(bad_value(_option(), text, f"not JSON: {reason}"))


def _option() -> str:
    """Return what the value is for: frameworks call a type without telling, but know it."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        for name in ("param", "action", "self"):
            holder: Any = frame.f_locals.get(name)
            names = getattr(holder, "opts", None) or getattr(holder, "option_strings", None)
            if isinstance(names, list) and names:
                return str(next((each for each in names if each.startswith("--")), names[0]))
            if names == [] and hasattr(holder, "dest"):
                return str(holder.dest)
        frame = frame.f_back
    return "JSON"
