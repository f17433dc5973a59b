"""A tool that is called while another call runs: what is one call, and what is a part of it.

A program may dispatch to several enabled tools, and a handler may call one. There is one owner and
one document: what is called inside is a part of the call that runs, unless it is the tool that the
words of the program were meant for.
"""

from __future__ import annotations

import sys

from ..call.ending.succession import running
from ..core import BEGUN, ENDED, current
from ..line.flags import flags_in
from ..line.scanning import scan
from ..process import stdout_is_ours

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ..call import Invocation
    from ..core import Call
    from ..line.scanning import Level


def enclosing() -> Invocation | None:
    """Return the call of an agent that runs now, of which what is called is a part.

    The end of the program does not answer it: see `owner`. Somebody who has redirected stdout wants
    the answer of a call inside for himself.
    """
    found = current()
    if found is None or found.is_for_people or not BEGUN <= found.state < ENDED:
        return None
    # A parser that a test calls collects nothing, and nobody says when what it led to is over.
    is_left = found.capture is None and hasattr(found.request.runner, "parser")
    return None if is_left or not stdout_is_ours() or found is running() else found


def owner(argv: Sequence[str]) -> tuple[Invocation | None, bool]:
    """Return the call of an agent that the end of the program answers, and whether it stays that.

    If not, a tool that is called with *argv* takes its place: these are words of the program. Ends
    a program for which murli has answered.
    """
    found = running()
    if found is None or found.is_for_people or not stdout_is_ours():
        return None, False
    return found, stays(found, owner_of(argv))


def stays(above: Invocation, whose: str) -> bool:
    """Return whether *above* stays the call when *whose* words are parsed after it."""
    reply = above.writer._reply
    if reply.answered or reply.is_streaming or reply.stream_summary is not None:
        return True
    return whose == "other" and owner_of(above.request.argv) != "other"


def owner_of(words: Sequence[str]) -> str:
    """Return what *words* are of those the program was called with.

    ``all`` of them, or all but some options; a ``part``, where a word led to them; or ``other``
    ones, from a configuration say.
    """
    if list(words) == sys.argv[1:]:
        return "all"
    left = list(words)
    is_missing = behind_option = False
    for word in sys.argv[1:]:
        if word in left:  # in any order: some tools put options first
            left.remove(word)
            behind_option = False
            continue
        is_missing = is_missing or not (word[:1] == "-" or behind_option)
        behind_option = word[:1] == "-" and "=" not in word
    if left or not words:
        return "other"
    return "part" if is_missing else "all"


class Inside:
    """While it is entered, *runner* is the tool that *invocation* asks; the call is what it was."""

    _KEPT = ("command", "parsed", "handler", "metadata", "path")

    def __init__(self, invocation: Invocation, runner: Any) -> None:
        self._request, self._running = invocation.request, invocation.running
        self._runner = runner

    def __enter__(self) -> None:
        request = self._request
        self._before = request.runner, request._host
        self._kept = [(name, getattr(self._running, name)) for name in self._KEPT]
        request.runner, request._host = self._runner, None

    def __exit__(self, *raised: object) -> None:
        self._request.runner, self._request._host = self._before
        for name, value in self._kept:
            setattr(self._running, name, value)


def intent_in(words: Sequence[str], level: Level, invocation: Invocation) -> Call:
    """Return *words* without our flags that confirm or preview, and which these were.

    All others were taken where the call began, or are none of ours here.
    """
    known = invocation.call.flags or flags_in()
    flags = {name: flag for name, flag in known.items() if flag.intent}
    return scan(words, level, (), flags, repeats=False)
