"""The call that reads on from an answer that is kept: ``murli get HANDLE``, as it stands."""

from __future__ import annotations

import os
import sys

from ..formats import cleaned
from ..line.calls import mark_of
from ..line.flags import FORMATS
from . import kept
from .cursors import cursor_at

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..answer.filters import Marks
    from ..call import Invocation
    from ..outcome import Page

# Where ``murli get`` finds its program, and the name by which it knows itself.
PROGRAM = "murli"


def program() -> list[str]:
    """Return the words that run the ``murli`` of this Python; none where there are none."""
    from shutil import which

    beside = os.path.join(os.path.dirname(sys.executable), PROGRAM) if sys.executable else ""
    found = which(PROGRAM)
    if found is not None and os.path.exists(beside) and os.path.samefile(found, beside):
        return [PROGRAM]
    if os.path.exists(beside):
        return [beside]
    # Elsewhere only a package where Python itself looks for packages is found again.
    here = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    if sys.executable and not hasattr(sys, "frozen") and here in _places():
        return [sys.executable, "-m", PROGRAM]
    return []


def _places() -> list[str]:
    import site

    return [
        *site.getsitepackages(),
        *([site.getusersitepackages()] if site.ENABLE_USER_SITE else ()),
    ]


def data_of(invocation: Invocation, result: Any, marks: Marks) -> bytes:
    """Return what is kept of a *result*, without its secrets; nothing where it may hold some.

    Where it comes from outside is marked again by who reads it.
    """
    if invocation.running.reveals:
        return b""
    metadata = invocation.metadata
    is_external = metadata is not None and bool(metadata.external)
    value = result if is_external else marks(result)[0]
    if invocation.secrets is not None:
        value = invocation.secrets.scrub_value(value)
    return kept.encoded({"external": is_external, "result": value})


class KeptWhole:
    """An answer of which a document has a part; *start* is how much came before that part."""

    def __init__(
        self, invocation: Invocation, data: bytes, words: list[str], start: int, shape: Any
    ) -> None:
        self._invocation = invocation
        self._words = words
        self._start = start
        self._about = {"handle": kept.handle_of(data), "bytes": len(data), "shape": shape}

    def about(self, page: Page) -> dict[str, Any]:
        """Return what a document that has *page* of it says about it."""
        return {**self._about, "expires_in": kept.seconds(), "call": self._call(page)}

    def _call(self, page: Page) -> str:
        """Return the call for what *page* lacks, within the same limits if it is a next part."""
        from shlex import join

        invocation = self._invocation
        call, contract = invocation.call, invocation.contract
        asked = ["get", self._about["handle"]]
        if "query" in call.extra:
            asked += ["--query", call.extra["query"]]
        mark = mark_of((PROGRAM, *asked))
        words = [*self._words, *asked, *_form(invocation)]
        if contract.name != PROGRAM:
            words += ["--contract", contract.name]
        if call.fields is not None:
            words += ["--fields", call.fields]
        # What was too large by itself is had without a limit.
        caps = invocation.shaper.caps if invocation.shaper is not None else None
        is_next = page.has_more and bool(page.returned) and not page.left_out
        if is_next:
            if call.limit is not None:
                words += ["--limit", call.limit]
            words += caps.words() if caps is not None else []
            words += ["--cursor", cursor_at(self._start + (page.returned or 0), mark)]
        else:
            for name, value in (caps.uncapped() if caps is not None else {}).items():
                words += [name, value or ""]
            if page.has_more:
                words += ["--limit", "1"] if page.returned else []
                words += ["--cursor", cursor_at(self._start, mark)]
        if invocation.secrets is not None:
            words = invocation.secrets.scrub_words(words)
        text = join(words)
        return text if cleaned(text) == text else ""


def _form(invocation: Invocation) -> list[str]:
    """Return the flag by which the next answer is written like this one."""
    form = invocation.writer.format()
    if not form or form == "json":
        return []
    if not invocation.contract.adds_flags:
        return ["--output", form]
    return ["--format", next(name for name, ours in FORMATS.items() if ours == form)]
