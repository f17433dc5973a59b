"""The reason that a program printed on stderr before it exited with a failure.

Programs say there what is wrong, and say nothing with their exit status. The end of what they wrote
is the message of the failure: without control characters, prompts, progress and warnings.
"""

from __future__ import annotations

import re
import sys

from ..failures.http import without_credentials
from ..formats.text import clean_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_MOST_LINES = 5
_MOST_CHARACTERS = 1000
# What a line contains that says what is wrong: the lines from there on are the reason.
_MARKED = re.compile(r"\b(error|fatal|critical|failed|exception)\b", re.IGNORECASE)
# Bars and spinners, and what Python says of the code rather than of the call.
_PROGRESS = re.compile(r"[\u2588-\u2593\u2578-\u257f\u2800-\u28ff\u2501]|\d%\|")
_WARNING = re.compile(r"^\S.*:\d+: \w*Warning: ")
_LOG_ENTRY = re.compile(r'^\{"(ts|event)":')
# The frame that rich draws around an error.
_FRAME = re.compile(r"^[\u256d\u2570\u250c\u2514].*[\u256e\u256f\u2510\u2518]$")
_SIDES = "\u2502\u2503| "
_ASKING = (":", "?", "]", ">")
_ASKING_WITH_SPACE = tuple(f"{end} " for end in _ASKING)
_TRACEBACK = "Traceback (most recent call last)"


def reason_in(written: Iterable[str | bytes], scrub: Callable[[str], str] = str) -> str:
    """Return the reason in what was *written* to stderr, part by part; ``""`` for none.

    *scrub* takes secrets out of it, while all of them is there to be known by.
    """
    text = _joined([part if isinstance(part, str) else _decoded(part) for part in written])
    lines = _behind_traceback(list(_telling(text.split("\n"))))
    kept = [line for line in lines if line][-_MOST_LINES:]
    marked = [index for index, line in enumerate(kept) if _MARKED.search(line)]
    if marked:
        kept = kept[marked[0] :]
    else:
        paragraph = "\n".join(lines).strip("\n").rpartition("\n\n")[2]
        kept = paragraph.split("\n")[-_MOST_LINES:]
    reason = without_credentials(scrub("\n".join(kept).strip()))
    return reason if len(reason) <= _MOST_CHARACTERS else f"…{reason[1 - _MOST_CHARACTERS :]}"


def _decoded(part: bytes) -> str:
    return part.decode(getattr(sys.stderr, "encoding", None) or "utf-8", "replace")


def _joined(parts: list[str]) -> str:
    """Return *parts* as one text, without those that ask somebody for something.

    A question ends in a space, or waits at the end of its line; a printed line may end like one.
    """
    return "".join(
        part
        for part, following in zip(parts, (*parts[1:], ""), strict=False)
        if not part.endswith(_ASKING_WITH_SPACE)
        and not (part.endswith(_ASKING) and not following.startswith(("\n", "\r\n")))
    )


def _telling(lines: list[str]) -> Iterator[str]:
    """Return the lines that a person would have read in the end, without their decoration."""
    is_warning = False
    for line in lines:
        shown = line.rstrip("\r")
        if "\r" in shown or _PROGRESS.search(shown) or _LOG_ENTRY.match(shown):
            continue  # overwritten, a bar, or an entry of a log for programs
        shown = clean_line(shown).rstrip()
        if is_warning and shown.startswith("  "):  # the source it is about
            continue
        is_warning = _WARNING.match(shown) is not None
        if is_warning or _FRAME.match(shown):
            continue
        yield shown.strip(_SIDES) if shown[:1] in _SIDES[:2] else shown


def _behind_traceback(lines: list[str]) -> list[str]:
    """Return *lines* from the last line of the last traceback on, all of them without one."""
    begins = [index for index, line in enumerate(lines) if line.startswith(_TRACEBACK)]
    if not begins:
        return lines
    behind = begins[-1] + 1
    while behind < len(lines) and (not lines[behind] or lines[behind].startswith(" ")):
        behind += 1
    return lines[behind:]
