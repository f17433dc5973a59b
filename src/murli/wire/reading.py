"""From the bytes of a process to a `WireResponse`: every wire in, whatever is wrong with it.

Pure: no process, no clock. Nothing here raises on what a tool printed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from ..contracts.control_lines import envelope_of
from .dialects import dialect_of
from .documents import (
    DuplicateKeys,
    begins_at,
    claims_success,
    error_in,
    is_aside,
    is_numbered,
    is_terminal,
    parsed,
    unwrapped,
    values_in,
    without_number,
)
from .envelopes import from_family, from_murli
from .response import Part, Problem, WireResponse
from .tables import kind_of
from .values import number_in, object_in

# How much of stderr an answer keeps.
_MOST_KEPT = 65536
#: what makes an answer malformed, however it is read
KEY_TWICE = "a document has the same key twice"
SEVERAL_ENDS = "there is more than one envelope on stdout"
# How a document begins that ends an answer, whatever order its keys are in.
_ENVELOPE = re.compile(rb'\{\s*"(?:ok|data|status|schema_version|result|message)"\s*:')


def read(
    stdout: bytes, stderr: bytes, exit_code: int | None, contract: str = "", trouble: str = ""
) -> WireResponse[Any]:
    """Understand what a process wrote.

    *contract* is what the tool is known to speak, ``""`` to find out, ``plain`` for none. *trouble*
    says why reading stopped early (too much output, too long a line); such an answer is malformed.
    """
    process = _Process(contract, exit_code, stderr.decode("utf-8", "replace"))
    if trouble:
        return process.malformed(trouble)
    if contract == "plain":
        return process.plain(stdout)
    documents, noise = values_in(stdout)
    terminal = _pop_terminal(documents)
    lines = [each for each in documents if not is_aside(each) and not is_terminal(each)]
    items = tuple(map(unwrapped, lines))
    ends = [each for each in (*documents, terminal) if is_terminal(each)]
    if len(ends) > 1 and not all(map(is_of_batch, ends)):
        return process.malformed(SEVERAL_ENDS)
    found = process.ended_by(terminal, len(items))
    if found is None:
        return process.without_end(items, stdout, streams=len(items) > 1)
    if any(isinstance(each, DuplicateKeys) for each in documents):
        return process.malformed(KEY_TWICE)
    if terminal is not None and is_of_batch(terminal):
        return replace(found, items=(*documents, terminal))
    oddities = [*found.oddities]
    if noise:
        oddities.append(f"{noise} lines on stdout are not JSON")
    if not _is_text(stdout):
        oddities.append("stdout is not UTF-8")
    part, is_enveloped = found.part, dialect_of(found.contract).is_enveloped
    if is_enveloped and (missed := _gaps(lines)) and part.is_whole:
        oddities.append(f"{missed} items are missing between those that arrived")
        part = Part(truncated=True, returned=len(items), total=len(items) + missed)
    if is_enveloped and lines and is_numbered(lines[0]) and lines[0]["_seq"] == 1:
        bare = (without_number(each) if is_numbered(each) else each for each in lines)
        items = tuple(map(unwrapped, bare))
    return replace(found, items=items, oddities=tuple(oddities), part=part)


def read_stream(
    terminal: Mapping[str, Any] | None,
    count: int,
    stderr: bytes,
    exit_code: int | None,
    contract: str,
    trouble: str = "",
) -> WireResponse[Any]:
    """Understand how a stream ended of which *count* items have come."""
    process = _Process(contract, exit_code, stderr.decode("utf-8", "replace"))
    if trouble:
        return process.malformed(trouble)
    if contract == "plain":
        return process.plain(b"")
    found = process.ended_by(terminal, count, streams=True)
    return found or process.without_end((), b"", streams=count > 0)


class _Process(NamedTuple):
    """How a process ended of which an answer is read."""

    contract: str
    exit_code: int | None
    stderr: str

    def response(self, state: str, **more: Any) -> WireResponse[Any]:
        """Return an answer in *state*."""
        stderr = self.stderr[-_MOST_KEPT:]
        return WireResponse(self.contract, state, self.exit_code, stderr=stderr, **more)

    def malformed(self, reason: str, items: tuple[Any, ...] = ()) -> WireResponse[Any]:
        """Return an answer that breaks its contract for *reason*."""
        problem = Problem("malformed", "MALFORMED", f"The answer cannot be trusted: {reason}.")
        return self.response("malformed", problem=problem, oddities=(reason,), items=items)

    def plain(self, stdout: bytes) -> WireResponse[Any]:
        """Return the answer of a tool without a contract: its data or text, and its status."""
        data: Any = parsed(stdout)
        if not isinstance(data, (dict, list)) or isinstance(data, DuplicateKeys):
            data = stdout.decode("utf-8", "replace")
        problem = None
        if self.exit_code != 0:
            last = self.stderr.strip().splitlines()[-1:] or [f"exit code {self.exit_code}"]
            problem = Problem(kind_of("", self.exit_code), message=last[0][:2000])
        return self._replace(contract="").response("plain", data=data, problem=problem)

    def ended_by(
        self, terminal: Mapping[str, Any] | None, count: int, *, streams: bool = False
    ) -> WireResponse[Any] | None:
        """Understand the last word of a tool, behind *count* items; ``None`` when there is none.

        *terminal* is the last document on stdout, if it is one that ends an answer; errors may also
        be at the end of stderr. *streams* is whether items were asked for.
        """
        oddities: tuple[str, ...] = ()
        if terminal is None or (self.exit_code and claims_success(terminal)):
            error = error_in(self.stderr)
            if error is not None and terminal is not None:
                oddities = ("stdout reports a success, stderr a failure",)
            terminal = error or terminal
        if terminal is None:
            return None
        if isinstance(terminal, DuplicateKeys):
            return self.malformed(KEY_TWICE)
        if is_of_batch(terminal):
            return self._batch(terminal)
        if terminal.get("_summary") is True and "ok" not in terminal:
            # The bare line that ends a stream; what an envelope would add, the exit code says.
            terminal = {**envelope_of(dict(terminal)), "ok": self.exit_code in (0, None)}
        if "ok" in terminal or "schema_version" not in terminal:
            found = from_family(terminal, self.exit_code, self.contract)
        else:
            found = from_murli(terminal, self.exit_code)
        oddities = (*found.oddities, *oddities)
        found = replace(found, oddities=oddities, stderr=self.stderr[-_MOST_KEPT:])
        emitted = _counted(found, is_stream=streams or count > 0)
        if emitted in (None, count):
            return found
        return replace(
            found,
            oddities=(*oddities, f"{emitted} items were sent, {count} arrived"),
            part=Part(truncated=True, returned=count, total=emitted),
        )

    def _batch(self, terminal: Mapping[str, Any]) -> WireResponse[Any]:
        """Understand the answers of a batch: each is an item, and none of them speaks for all."""
        last = from_family(terminal, None, self.contract)
        process = self._replace(contract=last.contract)
        if not self.exit_code and last.ok:
            return process.response("ok")
        # To repeat the batch would repeat what has worked.
        problem = Problem("partial", "BATCH_FAILED", "Not all calls worked.", retryable=False)
        return process.response("partial", problem=problem)

    def without_end(
        self, items: tuple[Any, ...], stdout: bytes, *, streams: bool
    ) -> WireResponse[Any]:
        """Return the answer of a tool that has no last word."""
        code = self.exit_code or 0
        kind = kind_of("", code) if code else ""
        came = bool(items or streams)
        if self.contract and (kind == "cancelled" or (kind == "never_ran" and not came)):
            # Who was killed, or never ran, had no chance to say anything.
            how = f"exit code {code}" if code > 0 else f"signal {-code}"
            problem = Problem(kind, message=f"It ended by {how}.", retryable=False)
            return self.response("failed", problem=problem, items=items)
        reason = ""
        if self.contract or streams:
            # A tool that keeps a contract, or a stream: without a last word nothing is certain.
            reason = "the stream has no terminal line" if came else "there is no document"
        if _breaks_off(stdout):
            reason = "the last document breaks off"
        return self.malformed(reason, items) if reason else self.plain(stdout)


# -- the last word -----------------------------------------------------------------------------


def _pop_terminal(documents: list[Any]) -> dict[str, Any] | None:
    """Take the document that ends the answer out of *documents*; progress may still follow it."""
    for at in reversed(range(len(documents))):
        if not is_aside(documents[at]):
            found: dict[str, Any] | None = documents.pop(at) if is_terminal(documents[at]) else None
            return found
    return None


def _gaps(lines: Sequence[Any]) -> int:
    """Return how many items are missing up to the last, if they are numbered, from 1 on."""
    if not lines or not (is_numbered(lines[0]) and is_numbered(lines[-1])):
        return 0
    first: int = min(lines[0]["_seq"], 1)
    last: int = lines[-1]["_seq"]
    return max(last - first + 1 - len(lines), 0)


def _counted(found: WireResponse[Any], *, is_stream: bool) -> int | None:
    """Return how many items the tool says it has sent, ``None`` if it does not."""
    emitted = number_in(found.meta.get("items_emitted"))
    if emitted is None and is_stream and found.ok and counts_in_result(found):
        return number_in(object_in(found.data).get("count"))
    return emitted


def counts_in_result(found: WireResponse[Any]) -> bool:
    """Return whether a result says how many items there were, as murli ends a stream."""
    is_bare = isinstance(found.data, dict) and found.data.keys() == {"count"}
    return is_bare and not dialect_of(found.contract).is_enveloped


def is_of_batch(terminal: Mapping[str, Any]) -> bool:
    """Return whether *terminal* answers one of several calls that were made at once."""
    return "_line" in object_in(terminal.get("meta"))


def _breaks_off(stdout: bytes) -> bool:
    """Return whether *stdout* ends in what was to become an envelope."""
    start = stdout.rfind(b"\n{") + 1
    return _ENVELOPE.match(stdout, start) is not None and not begins_at(stdout, start)


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
