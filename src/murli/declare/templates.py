"""Calls that an author declares with places for values: ``shop orders show {id}``.

Loaded when one is declared.
"""

from __future__ import annotations

import re
import shlex

from ..core import INTENT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

# A place for a value: a name, or the way to it through objects and lists.
PLACE = re.compile(r"\{(\w[\w-]*(?:\.\w[\w-]*)*)\}")
# What a shell would act on, or a reader would fill in, were it not quoted.
_NO_CALL = re.compile(r"[|;<>`$]|^&+$")


def templates_in(value: Sequence[str] | str) -> tuple[str, ...]:
    """Return *value* as templates of calls that follow a success; `ValueError` for any other."""
    templates = (value,) if isinstance(value, str) else tuple(value)
    for each in templates:
        words_of(each, "next")
    return templates


def state_template(value: str) -> str:
    """Return *value* as the template of a call that looks at the state; `ValueError` otherwise."""
    for word in words_of(value, "state"):
        if any("." in place for place in PLACE.findall(word)):
            raise ValueError(f"state is filled with the call's own arguments, so not {value!r}")
    return value


def words_of(template: object, field: str = "next") -> list[str]:
    """Return the words of *template*, the tool's name first; `ValueError` if it is not a call."""
    if not isinstance(template, str):
        raise TypeError(f"{field} holds calls as text, not {template!r}")
    try:
        words = shlex.split(template)
    except ValueError as error:
        raise ValueError(f"{field} holds {template!r}, which is no call: {error}") from None
    wrong = "" if words and words[0] else "it begins with the tool's name"
    for word in words:
        bare = PLACE.sub("", word)
        if "{" in bare or "}" in bare:
            wrong = "a value's place is {name}, or {order.id}"
        elif _NO_CALL.search(bare) or not bare.isprintable():
            wrong = "it is one call, without what a shell would act on"
        elif word.partition("=")[0] in INTENT:
            wrong = f"{word.partition('=')[0]} is for the caller to add"
        elif "{" in word.partition("=")[0] and (word[0] == "-" or word is words[0]):
            wrong = "values stand for arguments and for values of options"
    if wrong:
        raise ValueError(f"{field} holds {template!r}: {wrong}")
    return words
