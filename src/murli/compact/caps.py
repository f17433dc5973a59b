"""How much of an answer its caller takes, in bytes and tokens: by flags, else by variables."""

from __future__ import annotations

import os

from ..formats import dumps
from ..line.calls import variable_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn

    from ..call import Invocation

_MOST_DIGITS = 15
_VARIABLES = {"bytes": "MURLI_MAX_OUTPUT_BYTES", "tokens": "MURLI_MAX_OUTPUT_TOKENS"}


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


class Caps:
    """How much the caller takes of an answer: by flags, else by variables."""

    def __init__(self, invocation: Invocation) -> None:
        call = invocation.call
        size = number(invocation, "--max-bytes", call.max_bytes)
        tokens = number(invocation, "--max-tokens", call.extra.get("max_tokens"))
        self._size = size if size is not None else _cap_set(invocation, "bytes")
        self._tokens = tokens if tokens is not None else _cap_set(invocation, "tokens")
        self._count: Callable[[str], int] | None = None
        if self._tokens:
            self._count = _counter(invocation)

    def words(self) -> list[str]:
        """Return the flags that set the same limits, none where the caller has set none."""
        asked = (("--max-bytes", self._size), ("--max-tokens", self._tokens))
        return [word for name, cap in asked if cap for word in (name, str(cap))]

    def uncapped(self) -> dict[str, str | None]:
        """Return the flags with which an answer is as long as it is."""
        return {"--max-bytes": "0", **({"--max-tokens": "0"} if self._tokens else {})}

    def measure(self, usual: int) -> Measure | None:
        """Return how much an answer may be; of bytes as many as is *usual* where nobody says."""
        size = usual if self._size is None else self._size
        if not size and not self._tokens:
            return None
        return measure_of(size, self._tokens or 0, self._count)


def _counter(invocation: Invocation) -> Callable[[str], int]:
    """Return what counts tokens, or refuse a call whose tokenizer cannot be used."""
    from .tokens import TOKENIZER, TokenizerError, counter

    try:
        return counter()
    except TokenizerError as error:
        if error.needs_package:
            from ..line.usage import missing_extra

            invocation.refuse(missing_extra(TOKENIZER, "tokenizers", "tokens"))
        from ..errors import AgentError

        advice = f"Name a file tokenizer.json, or unset {TOKENIZER} to have tokens estimated."
        kind = "invalid_setting"
        invocation.refuse(AgentError.precondition(error.message, advice, error_type=kind))


def _cap_set(invocation: Invocation, unit: str) -> int | None:
    """Return how much the environment lets an answer be, 0 for any amount; ``None``: not said."""
    # One that is set while the handler runs comes too late: what it refuses has been done by then.
    if "_MAX_OUTPUT_" not in invocation.request.variables:
        return None
    general = _VARIABLES[unit]
    own = general.removeprefix("MURLI_")
    for name in (variable_of(invocation, own), f"TOOL_{own}", general):
        text = os.environ.get(name, "")
        if text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS:
            return int(text)
        if text:
            note = f"{name} is not a number of {unit}, and was ignored: {text[:40]}"
            invocation.writer.warn("invalid_setting", note, variable=name)
    return None


def number(invocation: Invocation, name: str, text: str | None) -> int | None:
    """Return the number that is the value of flag *name*, or refuse it."""
    if text is None:
        return None
    if not (text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS):
        refuse_value(invocation, name, text, "expected a whole number from 0 on, 0 for all")
    return int(text)


def refuse_value(invocation: Invocation, name: str, text: str, reason: str) -> NoReturn:
    """Refuse the value of a flag of ours."""
    from ..line.usage import bad_value

    invocation.refuse(bad_value(name, text, reason))
