"""Secrets stay secret: what a caller, a variable or a profile gave is taken out of all we write.

A secret becomes known when its flag is met, before anything can go wrong with it. From then on it
is replaced in documents, messages, logs and captured output, and in what is written to
``sys.stdout`` and ``sys.stderr`` directly.
"""

from __future__ import annotations

from _thread import get_ident

from ..formats import dumps, put
from ..formats.text import clean, clean_line
from .capture import write_through

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from typing import Any

    from .invocation import Invocation

MASK = "[REDACTED]"
# Taken out wherever it stands, a shorter text would tear words and numbers apart.
SHORTEST = 4
_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-~")
# Words of the contracts; a secret of the same spelling does not make an answer unreadable.
_STRUCTURAL = ("status", "schema_version", "error", "code", "ok", "phase")


class Secrets:
    """The secrets of one invocation."""

    def __init__(self) -> None:
        # Whether the running command is one whose purpose is to show a secret.
        self.revealed = False
        # Whether stdout is being collected: what is printed is scrubbed as a part of the answer.
        self.collected = False
        # The thread that writes what has been scrubbed already.
        self._trusted = 0
        self._guards: list[StreamGuard] = []
        self._texts: set[str] = set()
        self._short: set[str] = set()
        self._pattern: Any = None

    def add(self, value: Any) -> None:
        """Learn a secret: a text, or several in a list."""
        if value is None or isinstance(value, bool):
            return
        if isinstance(value, (list, tuple, set)):
            for each in value:
                self.add(each)
            return
        text = str(value)
        if len(text) < SHORTEST:
            self._short.update({text} - {""})
            return
        self._texts.update(each for each in _spellings(text) if len(each) >= SHORTEST)
        self._pattern = None

    def guard(self, *streams: Any) -> None:
        """Scrub what is written to *streams*, stdout first, until `unguard`."""
        stdout = streams[0]
        for stream in {id(each): each for each in reversed(streams) if each}.values():
            self._guards.append(StreamGuard(stream, self, answers=stream is stdout))

    def unguard(self) -> None:
        """Leave the streams to the program that goes on without us."""
        while self._guards:
            self._guards.pop().remove()

    def scrub_printed(self, printed: str | bytes) -> str | bytes:
        """Give what a handler printed without the secrets, unless it is to reveal them."""
        if self.revealed:
            return printed
        return self.scrub_bytes(printed) if isinstance(printed, bytes) else self.scrub(printed)

    def scrub(self, text: str) -> str:
        """Give *text* without the secrets in it."""
        if text in self._short:
            return MASK
        return self._compiled().sub(MASK, text) if self._texts else text

    def scrub_bytes(self, data: bytes, encoding: str = "utf-8") -> bytes:
        """Give *data*, text in *encoding* or not, without the secrets in it."""
        # Letters outside the encoding are escaped by the stream; byte for byte nothing is lost.
        text = data.decode(encoding, "surrogateescape")
        scrubbed = self.scrub(text)
        return data if scrubbed == text else scrubbed.encode(encoding, "surrogateescape")

    def scrub_document(self, document: Any) -> Any:
        """Give a document of a contract without the secrets in it; its own words stay."""
        if not isinstance(document, dict):
            return self.scrub_value(document)
        found: dict[str, Any] = {}
        for key, value in document.items():
            if key in ("error", "meta") and isinstance(value, dict):
                found[key] = self.scrub_document(value)
            elif key in _STRUCTURAL or isinstance(value, (int, float)):
                found[key] = value
            else:
                found[key] = self.scrub_value(value)
        return found

    def scrub_value(self, value: Any) -> Any:
        """Give plain data without the secrets in it."""
        if isinstance(value, str):
            return self.scrub(value)
        if isinstance(value, dict):
            return {self.scrub(key): self.scrub_value(each) for key, each in value.items()}
        if isinstance(value, list):
            return [self.scrub_value(each) for each in value]
        if value is None or isinstance(value, bool):
            return value
        return MASK if self._texts and self._compiled().search(str(value)) else value

    def put(self, stream: Any, text: str) -> None:
        """Write *text*, which has been scrubbed, past our own guards."""
        self._trusted = get_ident()
        try:
            put(stream, text)
        finally:
            self._trusted = 0

    def trusts(self) -> bool:
        """Tell whether the running thread writes what has been scrubbed already."""
        return self._trusted == get_ident()

    def _compiled(self) -> Any:
        if self._pattern is None:
            import re

            longest_first = sorted(self._texts, key=len, reverse=True)
            self._pattern = re.compile("|".join(map(re.escape, longest_first)))
        return self._pattern


def _spellings(secret: str) -> Iterator[str]:
    """Give *secret* as it may come out: as it is, cleaned, escaped, and line by line."""
    plain = {secret, secret.strip(), clean(secret), clean_line(secret)}
    # A key in many lines is shown line by line.
    plain.update(line.strip() for line in secret.splitlines() if len(line) >= 2 * SHORTEST)
    for text in plain:
        yield text
        yield repr(text)[1:-1]
        yield ascii(text)[1:-1]
        yield text.encode("ascii", "backslashreplace").decode()
        yield dumps(text, pretty=False)[1:-1]
        yield "".join(_ascii_escape(letter) for letter in dumps(text, pretty=False)[1:-1])
        quoted = _percent(text)
        yield quoted
        yield quoted.replace("%20", "+")


def _ascii_escape(letter: str) -> str:
    if letter.isascii() and letter != "\x7f":
        return letter
    units = letter.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[start : start + 4]}" for start in range(0, len(units), 4))


def _percent(text: str) -> str:
    data = text.encode("utf-8", "surrogatepass")
    return "".join(chr(byte) if byte in _UNRESERVED else f"%{byte:02X}" for byte in data)


def hide_given(names: Collection[str], words: Sequence[str], invocation: Invocation) -> None:
    """Learn the secrets among *words*, before something can go wrong with the others.

    *names* are the options whose values they are.
    """
    for position, word in enumerate(words):
        option, equals, value = word.partition("=")
        if option in names:
            invocation.hide(value if equals else words[position + 1 : position + 2])
        elif word[:2] in names:
            invocation.hide(word[2:])


class StreamGuard:
    """From its making until `remove`, what is written to a standard stream is scrubbed.

    Beneath the text layer, where both text and bytes pass, and whoever kept the stream, a logging
    handler say, still uses it. What a child writes passes by. *answers* tells that it is stdout,
    where a command may reveal what it is for.
    """

    def __init__(self, stream: Any, secrets: Secrets, *, answers: bool) -> None:
        encoding = getattr(stream, "encoding", None) or "utf-8"

        def write(data: Any, beneath: Any) -> Any:
            if secrets.trusts() or (answers and (secrets.revealed or secrets.collected)):
                return beneath(data)
            # All of it was taken, as far as the writer is concerned.
            if isinstance(data, str):
                beneath(secrets.scrub(data))
            else:
                beneath(secrets.scrub_bytes(bytes(data), encoding))
            return len(data)

        try:
            self.remove = write_through(getattr(stream, "buffer", None) or stream, write)
        except AttributeError:  # a host's own stream that cannot be watched
            self.remove = lambda: None
