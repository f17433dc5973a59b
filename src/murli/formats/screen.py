"""Which part of printed text stays on a screen, and which is progress that was drawn over.

A line that returns to its beginning, or moves the cursor, is drawn in parts, of which the last one
stays. It is text, unless it looks like those before it: then it is the last state of a progress
bar or a spinner. What is drawn while the cursor is hidden is progress. Of progress only the state
that a line ends with is kept.
"""

from __future__ import annotations

import re

_HIDE, _SHOW = "\x1b[?25l", "\x1b[?25h"
# What begins a part: returning, moving the cursor, erasing what is there. Colours do not, nor does
# erasing the rest of a line, which stands beside the colours of grep and gcc.
_BETWEEN = re.compile(r"(\r|\x1b\[(?:\?25[lh]|[0-9;]*[ABCDEFGHJSTfsu]|[12]K))")
_STYLE = re.compile(r"\x1b\[[0-9;]*[mK]")
_WORD = re.compile(r"[^\W\d_]+")
# What a progress bar counts.
_COUNT = re.compile(r"\d ?%|\d ?/ ?\d")
_OVERSTRUCK = re.compile("[^\b]\b")


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
            self._take(line, "\n")

    def end(self) -> None:
        """Take what is left: a line without an end."""
        if self._line:
            self._take(self._line, "")
            self._line = ""

    def _take(self, line: str, end: str) -> None:
        body = line.rstrip("\r") if end else line
        parts = _BETWEEN.split(body) if "\r" in body or "\x1b[" in body else [body]
        if len(parts) == 1:
            kept = _without_overstriking(line) if "\b" in line else line
            (self.progress if self._is_hidden else self.text).append(kept + end)
            return
        drawn: list[str] = []
        last = parts[0]
        is_hidden, goes_up = self._is_hidden, False
        for between, part in zip(parts[1::2], parts[2::2], strict=True):
            drawn.append("" if is_hidden else last)
            last = part
            is_hidden = is_hidden if between not in (_HIDE, _SHOW) else between == _HIDE
            goes_up = goes_up or between[-1] in "AF"  # to draw over the lines above
        self._is_hidden = is_hidden
        if is_hidden or goes_up or not _stays(last, [part for part in drawn if part]):
            self.progress.append(_last_state(parts[::2]) + end)
            return
        self.text.append(last + end)
        before = _last_state(parts[:-1:2])
        if before.strip():
            self.progress.append(before + "\n")


def _last_state(parts: list[str]) -> str:
    """Return what a line shows that was drawn in *parts*: the last one, as far as it shows any."""
    return next((part for part in reversed(parts) if part), "")


def is_drawn(printed: str) -> bool:
    """Return whether *printed* may hold anything but text."""
    return "\x1b[" in printed or "\b" in printed or "\r" in printed.replace("\r\n", "")


def split(printed: str) -> tuple[str, str]:
    """Return the text of *printed*, and the last states of its progress."""
    if not is_drawn(printed):
        return printed, ""
    screen = Screen()
    screen.feed(printed)
    screen.end()
    return "".join(screen.text), "".join(screen.progress)


def result_in(printed: str) -> tuple[str, str]:
    """Return the text of *printed* and its progress; without any text, its last state is that."""
    text, progress = split(printed)
    if not text.strip():
        states = [state for state in progress.split("\n") if state.strip()]
        return (states[-1], "") if states else (text, progress)
    return text, progress


def _stays(last: str, drawn: list[str]) -> bool:
    """Return whether *last*, which was drawn over the others, is no further state of the same."""
    shown = _STYLE.sub("", last)
    if not shown.strip():
        return False
    if drawn and drawn[-1].isspace():
        return True  # they were wiped out to make room for it
    if _COUNT.search(shown) and any(map(_COUNT.search, drawn)):
        return False
    words = set(_WORD.findall(shown.lower()))
    before = [set(_WORD.findall(_STYLE.sub("", part).lower())) for part in drawn]
    return bool(words - set().union(*before)) or (bool(before) and words not in before)


def _without_overstriking(line: str) -> str:
    """Return *line* as it is seen: what a backspace goes back to is written over."""
    while "\b" in line:
        shorter = _OVERSTRUCK.sub("", line)
        if shorter == line:  # there is nothing to go back to
            return line.replace("\b", "")
        line = shorter
    return line
