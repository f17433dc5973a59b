"""How much of an answer its reader takes: bytes, tokens, or both.

Without a tokenizer tokens are estimated: one for each part of a word of at most six letters, for
each three digits, for each sign and for each run of spaces that is not a single one, and for each
two bytes that are not ASCII. For JSON that is as many as the tokenizers of models count, or up to
a third more. With ``MURLI_TOKENIZER``, the ``tokenizer.json`` of a model, they are counted by that
(`tokenizers`, the extra ``tokens``); nothing is ever downloaded.
"""

from __future__ import annotations

import os

from ..formats import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Callable
    from typing import Any

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


class Measure:
    """How many bytes an answer may have."""

    def __init__(self, cap: int) -> None:
        self.cap = cap

    @property
    def bytes(self) -> int:
        """How many bytes an answer may have that surely is not too much."""
        return self.cap

    def of(self, text: str) -> int:
        """Return how much *text* is."""
        return len(text.encode("utf-8", "replace"))

    def of_value(self, value: Any) -> int:
        """Return how much plain data is on one line."""
        return self.of(dumps(value, pretty=False))

    def __str__(self) -> str:
        return f"{self.cap:,} bytes"


class Tokens(Measure):
    """How many tokens an answer may have."""

    def __init__(self, cap: int, count: Callable[[str], int]) -> None:
        super().__init__(cap)
        self._count = count

    def of(self, text: str) -> int:
        """Return how many tokens *text* has."""
        return self._count(text)

    def __str__(self) -> str:
        return f"{self.cap:,} tokens"


class Both(Measure):
    """How many bytes and how many tokens an answer may have, in units of tokens."""

    def __init__(self, size: Measure, tokens: Measure) -> None:
        super().__init__(tokens.cap)
        self._size = size
        self._tokens = tokens

    @property
    def bytes(self) -> int:
        """How many bytes an answer may have that surely is not too much."""
        return min(self._size.cap, self.cap)

    def of(self, text: str) -> int:
        """Return the share of *text* in what is scarcer."""
        share = -(-self._size.of(text) * self.cap // self._size.cap)
        return max(share, self._tokens.of(text))

    def __str__(self) -> str:
        return f"{self._size} and {self._tokens}"


def measure_of(size: int, tokens: int, count: Callable[[str], int] | None) -> Measure | None:
    """Return what measures an answer of at most *size* bytes and *tokens* tokens; 0 is any."""
    by_size = Measure(size) if size else None
    by_tokens = Tokens(tokens, count) if tokens and count is not None else None
    if by_size is not None and by_tokens is not None:
        return Both(by_size, by_tokens)
    return by_tokens or by_size


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
