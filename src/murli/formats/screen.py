"""Which part of printed text stays on a screen, and which is progress that was drawn over.

A line that returns to its beginning is a progress bar or a spinner; so is all that is drawn while
the cursor is hidden. Everything else is text.
"""

from __future__ import annotations

_HIDE, _SHOW = "\x1b[?25l", "\x1b[?25h"
# What moves the cursor back or erases, as the last character of an escape sequence.
_DRAWING = "ABCDEFGHJKSTfsu"


class Screen:
    """Takes text as it is printed; ``text`` are the lines that stay, ``progress`` the others."""

    def __init__(self) -> None:
        self.text: list[str] = []
        self.progress: list[str] = []
        self._line = ""
        self._is_hidden = False

    @property
    def has_text(self) -> bool:
        """Whether any line that stays is not blank."""
        return any(not line.isspace() for line in self.text)

    def feed(self, printed: str) -> None:
        """Take more text."""
        parts = (self._line + printed).split("\n")
        self._line = parts.pop()
        for line in parts:
            self._take(f"{line}\n")

    def end(self) -> None:
        """Take what is left: a line without an end."""
        if self._line:
            self._take(self._line)
            self._line = ""

    def _take(self, line: str) -> None:
        hidden = self._is_hidden or _HIDE in line
        last_hide, last_show = line.rfind(_HIDE), line.rfind(_SHOW)
        if last_hide != last_show:
            self._is_hidden = last_hide > last_show
        body = line.rstrip("\r\n") if line.endswith("\n") else line
        (self.progress if hidden or "\r" in body or _draws(body) else self.text).append(line)


def is_drawn(printed: str) -> bool:
    """Return whether *printed* may hold anything but text."""
    return "\x1b[" in printed or "\r" in printed.replace("\r\n", "")


def split(printed: str) -> tuple[str, str]:
    """Return the text of *printed*, and its progress."""
    if not is_drawn(printed):
        return printed, ""
    screen = Screen()
    screen.feed(printed)
    screen.end()
    return "".join(screen.text), "".join(screen.progress)


def _draws(line: str) -> bool:
    """Return whether *line* moves the cursor or erases something."""
    for part in line.split("\x1b[")[1:]:
        final = part.lstrip("0123456789;?")[:1]
        if final and final in _DRAWING:
            return True
    return False
