"""How many tokens a text has.

Without a tokenizer they are estimated: one for each part of a word of at most six letters, for
each three digits, for each sign and for each run of spaces that is not a single one, and for each
two bytes that are not ASCII. For JSON that is as many as the tokenizers of models count, or up to
a third more. With ``MURLI_TOKENIZER``, the ``tokenizer.json`` of a model, they are counted by that
(`tokenizers`, the extra ``tokens``); nothing is ever downloaded.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Callable

TOKENIZER = "MURLI_TOKENIZER"
_PARTS = (
    r"[A-Z]?[a-z]+|[A-Z]+|(?P<digits>[0-9]+)|(?P<space>\s+)|(?P<sign>[!-/:-@\[-`{-~])|(?P<other>.)"
)
_parts: re.Pattern[str] | None = None


class TokenizerError(Exception):
    """The tokenizer that was asked for cannot be used; *needs_package* is whether it is missing."""

    def __init__(self, message: str, *, needs_package: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.needs_package = needs_package


def counter() -> Callable[[str], int]:
    """Return what counts tokens: the tokenizer that is named, else the estimate."""
    path = os.environ.get(TOKENIZER, "")
    if not path:
        return estimated
    try:
        from tokenizers import Tokenizer
    except ImportError:
        raise TokenizerError(f"{TOKENIZER} is set", needs_package=True) from None
    try:
        tokenizer = Tokenizer.from_file(path)
    except Exception as error:  # the library raises nothing more exact
        raise TokenizerError(f"{TOKENIZER} names no tokenizer: {error}") from None
    tokenizer.no_truncation()
    tokenizer.no_padding()

    def count(text: str) -> int:
        return len(tokenizer.encode(text, add_special_tokens=False).ids)

    return count


def estimated(text: str) -> int:
    """Return about how many tokens *text* has; never more than it has bytes."""
    global _parts
    if _parts is None:
        import re

        _parts = re.compile(_PARTS, re.DOTALL)
    number, wide = 0, 0
    for part in _parts.finditer(text):
        kind, size = part.lastgroup, part.end() - part.start()
        if kind is None:
            number += -(-size // 6)
        elif kind == "digits":
            number += -(-size // 3)
        elif kind == "space":
            number += part.group() != " "
        elif kind == "sign":
            number += 1
        else:
            wide += len(part.group().encode("utf-8", "replace"))
    return number + -(-wide // 2)
