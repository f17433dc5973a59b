"""What ``--until`` waits for: ``FIELD=VALUE[,VALUE]``, tested against a result. Pure.

A field is a path as in ``--fields``: ``status``, ``job.state``, ``items.0.state``. What lies below
a list is looked up in each of its items, and all of them have to agree. Values are compared as
text, whatever its case: ``true``, ``3``, ``null``. Of printed text the fields are its lines
``Label: value``, and
``result`` is a result that is not an object as a whole.
"""

from __future__ import annotations

import re

from ..core import Record
from ..formats import dumps
from .field_names import key_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

# The name of a result that has no names in it.
WHOLE = "result"
# What stands where an object lacks the field; compared as ``null``.
_MISSING: Any = object()
_MOST_KNOWN = 40
_LONGEST = 200
_LABEL = re.compile(r"^[^\w\n]*(\w[\w .-]{0,38}?)\s*[:=]\s+(\S[^\n]*?)\s*$", re.MULTILINE)


class Condition(Record):
    """A *field*, and the *values* that are waited for; *negated*: any other value is."""

    field: str
    values: tuple[str, ...]
    negated: bool = False

    def holds(self, found: Sequence[str]) -> bool:
        """Return whether the values *found* are those that are waited for."""
        values = {value.casefold() for value in self.values}
        matching = [each.casefold() in values for each in found]
        return not any(matching) if self.negated else bool(found) and all(matching)


class Look(Record):
    """What one look at a result has shown.

    *met* is whether all conditions hold, *values* what the fields are now, as a reader is shown
    them. *missing* is a field that is nowhere in the result though ``null`` is not waited for,
    *known* the fields that are there.
    """

    met: bool
    values: dict[str, str]
    missing: str
    known: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """What the fields are now, in one line."""
        return "; ".join(f"{field}: {value}" for field, value in self.values.items())


def condition_in(text: str, *, negated: bool = False) -> Condition | None:
    """Return the condition that *text* is, ``None`` where it is not one."""
    field, equals, values = text.partition("=")
    field = field.strip()
    if not equals or not field:
        return None
    return Condition(field, tuple(each.strip() for each in values.split(",")), negated)


def looked_at(result: Any, conditions: Sequence[Condition]) -> Look:
    """Return what *result*, plain data, says about *conditions*."""
    result = _with_names(result)
    met, missing, shown = True, "", {}
    for each in conditions:
        found = list(_found(result, each.field))
        if found and all(value is _MISSING for value in found) and "null" not in each.values:
            missing = missing or each.field
        texts = [text_of(value) for value in found]
        met = met and each.holds(texts)
        shown[each.field] = _summary(texts)
    return Look(met, shown, missing, tuple(_names_in(result))[:_MOST_KNOWN])


def text_of(value: Any) -> str:
    """Return *value* as it is compared."""
    if value is _MISSING:
        return "null"
    return value.strip() if isinstance(value, str) else dumps(value, pretty=False)


def _with_names(result: Any) -> Any:
    """Return *result*, text and numbers as an object with names."""
    if isinstance(result, dict) and result.keys() == {"lines"}:  # printed, line by line
        result = "\n".join(map(str, result["lines"]))
    if isinstance(result, str):
        labels: dict[str, Any] = {WHOLE: result}
        for label, value in _LABEL.findall(result):
            labels.setdefault(_name_of(label), value)
        return labels
    return result if isinstance(result, (dict, list)) else {WHOLE: result}


def _name_of(label: str) -> str:
    return re.sub(r"[ _-]+", "_", label.strip().lower())


def _found(value: Any, path: str) -> Iterator[Any]:
    """Yield what *path* leads to in *value*: one thing, or one for each item of a list."""
    if not path:
        yield value
        return
    first, _, rest = path.partition(".")
    if isinstance(value, dict):
        whole, key = key_in(value, path), key_in(value, first)
        if whole is not None:
            yield value[whole]
        elif key is not None:
            yield from _found(value[key], rest)
        else:
            yield _MISSING
    elif not isinstance(value, list):
        yield _MISSING
    elif first.isdecimal():
        at = int(first[:9])
        yield from _found(value[at], rest) if at < len(value) else (_MISSING,)
    else:
        for item in value:
            yield from _found(item, path)


def _names_in(value: Any, above: str = "") -> Iterator[str]:
    """Yield the fields of *value* and those one level below."""
    if isinstance(value, list):
        value = value[0] if value else None
    if isinstance(value, dict):
        for name, below in value.items():
            yield f"{above}{name}"
            if not above:
                yield from _names_in(below, f"{name}.")


def _summary(texts: Sequence[str]) -> str:
    """Return *texts*, the values of one field, in few words."""
    counts = {text: texts.count(text) for text in dict.fromkeys(texts)}
    if len(texts) == 1:
        shown = texts[0]
    else:
        shown = ", ".join(f"{text} ({count})" for text, count in counts.items()) or "no items"
    return shown if len(shown) <= _LONGEST else f"{shown[: _LONGEST - 1]}…"
