"""Text that may leave the process: no terminal control, nothing that is not Unicode."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from typing import Any, Protocol

    class TextStream(Protocol):
        """Anything with ``write`` and ``flush``: a file, a StringIO, our descriptor stream."""

        def write(self, text: str, /) -> Any:
            """Take *text*."""

        def flush(self) -> Any:
            """Let what was taken go out."""


class Printed(str):
    """Text that a program printed with carriage returns that belong to it, and is clean already."""

    __slots__ = ()


class PlainObject(dict[str, "Any"]):
    """An object that is plain data and clean already."""

    __slots__ = ()


class TextLines(PlainObject):
    """The ``{"lines": […]}`` that is the form of a text of several lines."""

    __slots__ = ()


class TextWithTables(PlainObject):
    """The ``{"text": …, "tables": […]}`` that is the form of a text with tables in it."""

    __slots__ = ()


# What only the end is held of.
_ENDS = ({"omitted_characters", "end"}, {"omitted_bytes", "end"})


# How many lines a text has at most that stays a string.
FEW_LINES = 10


def in_lines(value: Any) -> Any:
    """Return *value* with its lines each for itself if it is a text, or the end of one, of many.

    So that each is a line of the document too; joined by line feeds they are the text. A few lines
    stay the string that readers compare: nobody counts them with a tool.
    """
    if isinstance(value, dict) and value.keys() in _ENDS:
        return {**value, "end": in_lines(value["end"])}
    if not isinstance(value, str) or value.count("\n") < FEW_LINES:
        return value
    # What is clean may hold carriage returns, and is not looked at again.
    kind = Printed if isinstance(value, Printed) else str
    return TextLines(lines=[kind(line) for line in value.split("\n")])


# In order: strings that end with BEL or ST (OSC titles and links, DCS, APC …), CSI sequences,
# the remaining escapes of one or more characters, and introducers that introduce nothing.
# An unterminated string loses its introducer only: the text behind it may be an answer. A string
# ends at the next introducer too, or many of them would be searched for an end again and again.
_ESCAPES = (
    r"(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x90\x98\x9c-\x9f]*(?:\x07|\x1b\\|\x9c)"
    r"|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
    r"|\x1b[ -/]*[0-~]"
    r"|[\x1b\x90\x98\x9b-\x9f]"
)
_escapes: re.Pattern[str] | None = None
# Embeddings, overrides and isolates: they make text read otherwise than it is written. The marks,
# which languages written from right to left need, stay.
_DIRECTIONS = dict.fromkeys((*range(0x202A, 0x202F), *range(0x2066, 0x206A)))
_CONTROLS = dict.fromkeys({*range(32), *range(0x7F, 0xA0)} - {*b"\n\t"})


def strip_ansi(text: str) -> str:
    """Remove every ANSI sequence and every stray escape character from *text*."""
    if text.isprintable():
        return text
    global _escapes
    if _escapes is None:
        # Compiled on first need: most invocations never meet an escape.
        import re

        _escapes = re.compile(_ESCAPES)
    return _escapes.sub("", text)


def clean(text: str) -> str:
    """Return *text* as it may stand in a document.

    No ANSI, no carriage return, no overriding of the direction of writing, and U+FFFD in place of
    NUL and of what is not Unicode.
    """
    if text.isprintable():
        return text
    text = strip_ansi(_without_surrogates(text))
    if not text.isascii():
        text = text.translate(_DIRECTIONS)
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "")
    return text.replace("\0", "\ufffd")


def clean_line(text: str) -> str:
    """Return *text* as it may be shown to a person when somebody else wrote it.

    Beyond `clean`, other control characters go, so that a message can neither move the cursor
    nor ring; line breaks and tabs stay.
    """
    text = clean(text)
    if text.isprintable():
        return text
    return text.translate(_CONTROLS)


def _without_surrogates(text: str) -> str:
    try:
        text.encode()
        return text
    except UnicodeEncodeError:
        pass
    try:
        # Bytes that Python could not decode, in a C locale say, may well be UTF-8.
        return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
