"""What can be read in what a process wrote, and secrets of every kind."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any

from hypothesis import strategies as st

from harness import Run
from murli.formats.text import clean, clean_line
from murli.secrets.names import is_usual
from murli.secrets.redaction import MASK

SECRET = "hunter2-Zq_9x"


def strings(value: Any) -> Iterator[str]:
    """Give every text in a JSON value, keys and numbers too, and what is in base64."""
    if isinstance(value, dict):
        if value.get("encoding") == "base64":
            yield base64.b64decode(value["value"]).decode("utf-8", "surrogateescape")
        for key, each in value.items():
            yield key
            yield from strings(each)
    elif isinstance(value, list):
        for each in value:
            yield from strings(each)
    elif value is not None and not isinstance(value, bool):
        yield str(value)


def readings(data: bytes) -> Iterator[str]:
    """Give what *data* says: as it is, and every text in the JSON documents that are in it."""
    text = data.decode("utf-8", "surrogateescape")
    yield text
    decoder, start = json.JSONDecoder(), 0
    while (start := text.find("{", start)) >= 0:
        try:
            document, start = decoder.raw_decode(text, start)
            yield from strings(document)
        except ValueError:
            start += 1


def is_read(secret: str, done: Run) -> bool:
    """Tell whether *secret* can be read in what a process wrote; long enough to be known by."""
    spellings = {secret, clean(secret), clean_line(secret)}
    texts = [*readings(done.stdout), *readings(done.stderr)]
    return any(each in text for each in spellings if len(each) >= 4 for text in texts)


def touches_mask(secret: str) -> bool:
    """Tell whether *secret* and the mask run into each other: then it would appear to be there."""
    if secret in MASK or MASK in secret:
        return True
    sizes = range(1, len(MASK) + 1)
    return any(secret.startswith(MASK[-n:]) or secret.endswith(MASK[:n]) for n in sizes)


LETTERS = st.characters(codec="utf-8", exclude_characters="\0")
NASTY = st.sampled_from("\"'\\\n\r\t\x07\x1b\x7f\x9b%+ =éß€😀\u2028\ufeff`$[]{}<>&:,0")
secrets_of_any_kind = st.one_of(
    st.text(LETTERS, min_size=4, max_size=30),
    st.text(st.one_of(LETTERS, NASTY), min_size=4, max_size=30),
    st.text("0123456789", min_size=4, max_size=12),
    st.text(st.one_of(st.just(" "), LETTERS), min_size=4).map(lambda text: f"  {text} "),
    st.lists(st.text(LETTERS, min_size=4), min_size=2, max_size=4).map("\n".join),
).filter(lambda text: not (touches_mask(text) or touches_mask(clean(text)) or is_usual(text)))
