"""Compares texts, apart from what a program varies by itself: times, and names by chance."""

from __future__ import annotations

import re
from collections.abc import Callable

_PIECE = re.compile(rb"\w+|\W")
# How long something took, which on a fast machine is the same more often than not.
_DURATION = re.compile(rb"\b\d+\.\d+(?= seconds\b)")
#: how often a program is run again to see what it varies
TRIES = 6


def is_same(first: bytes, other: bytes, again: Callable[[], bytes]) -> bool:
    """Return whether *other* is *first*, but for what differs when a program prints it *again*.

    What differs may only be a word or a number in its place.
    """
    kept: list[bytes | None] = list(_pieces(first))
    pieces = _pieces(other)
    for tries in range(TRIES + 1):
        if len(kept) == len(pieces) and all(
            each in (None, found) for each, found in zip(kept, pieces, strict=True)
        ):
            return True
        if tries < TRIES:
            found_again = _pieces(again())
            if len(found_again) == len(kept):
                pairs = zip(kept, found_again, strict=True)
                kept = [each if each == found else None for each, found in pairs]
    return False


def _pieces(text: bytes) -> list[bytes]:
    return [bytes(each) for each in _PIECE.findall(_DURATION.sub(b"0", text))]


def difference(first: bytes, other: bytes) -> str:
    """Return both texts from shortly before the place where they begin to differ."""
    pairs = enumerate(zip(first, other, strict=False))
    same = next((i for i, (a, b) in pairs if a != b), min(len(first), len(other)))
    return " became ".join(repr(text[max(same - 30, 0) : same + 170]) for text in (first, other))
