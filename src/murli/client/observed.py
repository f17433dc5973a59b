"""A tool whose answers can be handed on as they were written."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from ..wire.catalogue import Catalogue
from ..wire.documents import error_in, is_aside, is_terminal, last_document, values_in
from ..wire.running import ProcessResult
from .own_calls import may_confirm, options_in, previews
from .response import Response
from .steps import Report, Run, Step
from .tool import Tool
from .waiting import Wanted, waited

# Beyond what JSON escapes: what a terminal would obey, and what is not text.
_UNSAFE = re.compile("[\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


class ObservedTool(Tool):
    """`Tool`, which keeps what the process wrote that gave the latest answer: *ran*."""

    ran: ProcessResult | None = None

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._runs: dict[tuple[str, ...], ProcessResult] = {}

    def _do(self, step: Step) -> Any:
        answer = super()._do(step)
        if isinstance(step, Run):
            self._runs[step.words] = answer
        elif isinstance(step, Report):
            # The answer of a fix is not that of the call.
            self.ran = self._runs.get(step.response.argv[1:], self.ran)
            self._runs.clear()
        return answer

    def wait(self, words: Sequence[str], stdin: bytes | None, wanted: Wanted) -> Response[Any]:
        """Make the call again and again; see `murli.client.waiting`."""
        return self._drive(waited(self._session, tuple(words), stdin, wanted))

    @property
    def words(self) -> tuple[str, ...]:
        """The words that run the tool."""
        return self._settings.prefix

    def catalogue(self) -> Catalogue | None:
        """Return what the tool can do, if it is known or may be asked."""
        return self._drive(self._session.discovery.known())

    def catalogue_anew(self) -> Catalogue | None:
        """Ask the tool what it can do, all of it."""
        return self._drive(self._session.discovery.anew())


def documents_of(ran: ProcessResult) -> list[dict[str, Any]]:
    """Return the items of an answer and, last, its end; nothing when it has no end."""
    documents, _ = values_in(ran.stdout)
    if documents and is_terminal(documents[-1]):
        end = documents.pop()
    else:
        found = error_in(ran.stderr.decode("utf-8", "replace"))
        if found is None:
            return []
        end = found
    return [*(each for each in documents if not is_aside(each)), end]


def stderr_beside(ran: ProcessResult, end: dict[str, Any]) -> str:
    """Return what is on stderr beside *end*, if that is there."""
    text = ran.stderr.decode("utf-8", "replace")
    found = last_document(text, lambda document: bool(document == end))
    return text if found is None else text[: found[1]] + text[found[2] :]


def serialized(documents: Sequence[dict[str, Any]], *, pretty: bool = True) -> str:
    """Return *documents* as JSON, the same values as they were; `ValueError` for anything else."""
    lines = []
    for document in documents:
        indent = 2 if pretty and len(documents) == 1 else None
        separators = None if indent else (",", ":")
        try:
            how: Any = {"indent": indent, "separators": separators}
            text = json.dumps(document, ensure_ascii=False, allow_nan=False, **how)
        except RecursionError:
            raise ValueError("it is nested too deeply") from None
        lines.append(_UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text) + "\n")
    return "".join(lines)


def confirms_itself(catalogue: Catalogue | None, words: Sequence[str]) -> bool:
    """Return whether a call may confirm a change by itself."""
    command = catalogue.called(words) if catalogue is not None else None
    flags = command.flags if command is not None else None
    also = [command.confirm_flag] if command is not None and command.confirm_flag else []
    return any(may_confirm(word, flags, also) for word in options_in(words))


def is_known_to_change(catalogue: Catalogue | None, words: Sequence[str]) -> bool:
    """Return whether *words* call a command that changes something, or may be such a call."""
    if catalogue is None or previews(words):
        return False
    named = catalogue.find(words)
    if named is not None:
        return named[0].mutating is True or named[0].destructive
    # Options may stand between the words that name it.
    return any(
        (each.mutating is True or each.destructive) and _is_within((*each.path[:-1], name), words)
        for each in catalogue.commands.values()
        for name in (*each.path[-1:], *each.aliases)
    )


def _is_within(path: Sequence[str], words: Sequence[str]) -> bool:
    rest = iter(words)
    return all(word in rest for word in path)
