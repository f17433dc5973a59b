"""Cleaning: whatever text comes in, what goes out is Unicode without terminal control."""

from __future__ import annotations

import time

from fuzz.targets import require
from murli.formats import cleaned
from murli.formats.text import clean, clean_line, strip_ansi

WORDS = ["\x1b[31m", "\x1b]0;t\x07", "\x1b\\", "\x9b1m", "\x9d", "\x90", "\x9c", "\r\n", "\0"]
# Long enough for a cost that grows with the square of the length to show.
LONG = 6_000


def check(data: bytes) -> None:
    """Clean the text that *data* is: UTF-8 with strays, or UTF-16 with lone surrogates."""
    text = text_of(data)
    once = clean(text)
    require(clean(once) == once, "cleaning clean text changes nothing", text)
    require(not set(once) & set("\x1b\x9b\x90\x9d\r\0"), "clean text has no control", text)
    once.encode()  # nothing that is not Unicode
    require(cleaned(text) == once, "the short way to clean text gives the same", text)
    if text.isprintable():
        require(once == text, "printable text stays as it is", text)
    bare = strip_ansi(text)
    require("\x1b" not in bare and strip_ansi(bare) == bare, "no escape is left", text)
    line = clean_line(text)
    require(
        all(char in "\n\t" or char.isprintable() or char >= "\xa0" for char in line),
        "a line for people has no control",
        text,
    )
    _require_speed(text)


def text_of(data: bytes) -> str:
    """Return *data* as text of any kind: the first byte says which."""
    if data[:1] < b"\x80":
        return data[1:].decode("utf-8", "surrogateescape")
    if data[:1] < b"\xc0":
        return data[1:].decode("utf-16-le", "surrogatepass" if len(data) % 2 else "replace")
    return data[1:].decode("latin-1")


def _require_speed(text: str) -> None:
    if not text or text.isprintable():
        return
    long = (text * (LONG // len(text) + 1))[:LONG]
    started = time.thread_time()
    clean(long)
    took = time.thread_time() - started
    require(took < 0.1, "cleaning takes time in proportion to the text", (text, round(took, 2)))
