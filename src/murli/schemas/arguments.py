"""What a model passes for the properties of a definition: checked, and explained where it is wrong.

Only what definitions are made of is understood: types, ``enum``, ``items``, ``required``.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from ..errors import AgentError

if TYPE_CHECKING:
    from collections.abc import Mapping

_NAMES = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
}
# How much of a wrong value is shown.
_MOST_SHOWN = 60


def checked(arguments: Mapping[str, Any], schema: Mapping[str, Any], title: str) -> dict[str, Any]:
    """Return *arguments* as *schema* means them, without what is ``None``.

    A number that is passed as text is a number. `AgentError` for what does not fit; *title* is how
    the command is called.
    """
    if not hasattr(arguments, "items"):
        message = f"The arguments of {title} are an object, not {_shown(arguments)}."
        raise AgentError.user_error(message, "Pass an object with the properties of its schema.")
    properties = schema["properties"]
    given = {key: value for key, value in arguments.items() if value is not None}
    for key in given.keys() - properties.keys():
        from difflib import get_close_matches

        near, known = get_close_matches(str(key), properties, 1, 0.6), list(properties)
        message = f"{title} has no argument {_shown(key)}."
        advice = f"Did you mean {near[0]}?" if near else f"It has: {', '.join(known) or 'none'}."
        raise AgentError.user_error(message, advice, field=str(key), valid_values=known)
    missing = [key for key in schema.get("required", ()) if key not in given]
    if missing:
        first, advice = missing[0], f"Pass {', '.join(missing)}."
        choices = properties[first].get("enum")
        raise AgentError.user_error(
            f"{first} is required.", advice, field=first, valid_values=choices
        )
    return {key: _fitting(key, value, properties[key]) for key, value in given.items()}


def _fitting(key: str, value: Any, schema: Mapping[str, Any]) -> Any:
    kind = schema["type"]
    if kind == "array":
        if not isinstance(value, (list, tuple)):
            raise _wrong(key, value, "a list")
        items = schema.get("items") or {"type": "string"}
        return [_fitting(f"{key}[{at}]", each, items) for at, each in enumerate(value)]
    found = _as_kind(value, kind)
    if found is None:
        raise _wrong(key, value, _NAMES[kind])
    choices = schema.get("enum")
    # Some tools take capitals for small letters; those that do not say so themselves.
    if choices and str(found).casefold() not in {str(each).casefold() for each in choices}:
        message = f"{key} cannot be {_shown(value)}."
        advice = f"Pass one of {', '.join(map(str, choices))}."
        raise AgentError.user_error(message, advice, field=key, valid_values=choices)
    return found


def _as_kind(value: Any, kind: str) -> Any:
    """Return *value* as one of *kind*, ``None`` where it is none."""
    if kind == "object":
        return value if isinstance(value, dict) else None
    if kind == "boolean" or isinstance(value, bool):
        return value if isinstance(value, bool) and kind == "boolean" else None
    if kind == "string" and isinstance(value, str):
        return value
    try:
        number = float(value) if isinstance(value, (int, float, str)) else math.nan
    except (ValueError, OverflowError):
        return None
    if not math.isfinite(number):
        return None
    if kind in ("number", "string"):
        return value if kind == "number" else str(value)
    if isinstance(value, str):
        return value if value.strip().lstrip("+-").isdecimal() else None
    return int(value) if number == int(number) else None


def _wrong(key: str, value: Any, expected: str) -> AgentError:
    message, field = f"{key} is {expected}, not {_shown(value)}.", key.partition("[")[0]
    return AgentError.user_error(message, f"Pass {expected}.", field=field)


def _shown(value: Any) -> str:
    try:
        text = json.dumps(value, ensure_ascii=True)
    except (TypeError, ValueError, RecursionError):
        text = f"a {type(value).__name__}"
    return text if len(text) <= _MOST_SHOWN else f"{text[: _MOST_SHOWN - 1]}…"
