"""The envelope of every answer: five keys that agree with each other."""

from __future__ import annotations

import os
from collections.abc import Iterator

from ...wire.documents import is_terminal
from ...wire.values import text_in
from ..calls.documents import envelope_of
from ..calls.making import Call, Target, over
from ..judging import NotApplicable
from ..results import Finding
from ..shapes.envelope import keys as key_troubles
from ..shapes.envelope import kinds, meta_kinds
from ..shapes.envelope import outcome as outcome_troubles
from ..shapes.kinds import first, is_count, repr_of

# The tool and this process read different clocks.
_LEEWAY_MS = 100
#: what meta must have in the later revisions
_IDENTITY = ("request_id", "schema_version", "tool_version", "command", "timestamp", "cwd")


def _envelopes(target: Target) -> Iterator[Call]:
    for call in target.all_calls():
        if call.document is not None and is_terminal(call.document):
            yield call


def _of_process(call: Call) -> bool:
    """Return whether the envelope is about the process: it ended itself, and made one call."""
    return call.exit_code >= 0 and "_line" not in call.meta


def _has_meta(call: Call) -> bool:
    return isinstance((call.document or {}).get("meta"), dict)


@over(Target.all_calls)
def keys(call: Call) -> str | None:
    """The document of every call has the same five keys."""
    # Also a document that is not meant as an envelope.
    if call.document is None or not (is_terminal(call.document) or call.kind == "answer"):
        return None
    return first(key_troubles(call.document))


@over(_envelopes)
def types(call: Call) -> str:
    """Each of the five keys has its type, and so have the warnings."""
    return first(kinds(call.document or {}, call.dialect))


@over(_envelopes)
def ok(call: Call) -> str:
    """``ok`` agrees with the exit code."""
    claim = (call.document or {}).get("ok")
    if not isinstance(claim, bool) or not _of_process(call) or claim == (call.exit_code == 0):
        return ""
    return f"ok is {str(claim).lower()}, and it ended with {call.ended}"


@over(_envelopes)
def outcome(call: Call) -> str:
    """Success and failure differ in which of data and error is null."""
    if not _of_process(call):
        return ""
    return first(outcome_troubles(call.document or {}, call.exit_code, call.dialect))


@over(_envelopes)
def exit_code(call: Call) -> str:
    """``meta.exit_code`` is the exit code, for callers behind a pipe."""
    if not _has_meta(call) or not _of_process(call):
        return ""
    found = call.meta.get("exit_code")
    if is_count(found) and found == call.exit_code:
        return ""
    return f"meta.exit_code is {_short(found)}, and it ended with {call.ended}"


@over(_envelopes)
def duration(call: Call) -> str:
    """Every answer has its milliseconds, no more than the process took."""
    if not _has_meta(call):
        return ""
    found, lived = call.meta.get("duration_ms"), call.evidence.duration_ms
    if not is_count(found):
        return f"meta.duration_ms is {_short(found)}"
    is_longer = found > lived + _LEEWAY_MS
    return f"meta.duration_ms is {_short(found)}, and it lived {lived}" if is_longer else ""


@over(_envelopes)
def meta_types(call: Call) -> str:
    """The fields of meta that the contract names have their types."""
    return first(meta_kinds(call.meta))


@over(_envelopes)
def identity(call: Call) -> str:
    """Every answer has the request, command, time, folder and both versions."""
    missing = [each for each in _IDENTITY if each not in call.meta]
    return f"meta has no {', '.join(missing)}" if missing and _has_meta(call) else ""


def truthful(target: Target) -> Iterator[Finding]:
    """Request ids are unique, the version is that of ``--version``, the folder is the real one."""
    asked = target.run("--version")
    written = b"" if asked.exit_code else asked.stdout + asked.stderr
    version = written.decode("utf-8", "replace")
    data = (envelope_of(asked) or {}).get("data")
    if isinstance(data, dict):  # not the meta of a description
        version = text_in(data.get("version")) or str(data)[:1000]
    known: set[str] = set()

    @over(_envelopes)
    def look(call: Call) -> str:
        found = text_in(call.meta.get("request_id"))
        # The calls of a batch share one request.
        again = found in known and "_line" not in call.meta
        known.add(found)
        if found and again:
            return f"meta.request_id is {found!r} once more"
        found = text_in(call.meta.get("tool_version"))
        if found and version and found not in version:
            return f"meta.tool_version is {_short(found)}, and --version another"
        found = text_in(call.meta.get("cwd"))
        if found and _real(found) != os.path.realpath(call.evidence.cwd):
            return f"meta.cwd is {_short(found)}, and it ran elsewhere"
        return ""

    if not any(
        text_in(call.meta.get(each))
        for call in target.all_calls()
        for each in ("request_id", "tool_version", "cwd")
    ):
        raise NotApplicable("meta says nothing about the calls")
    yield from look(target)


def _real(path: str) -> str:
    try:
        return os.path.realpath(path)
    except ValueError:  # a path has no null byte and no lone surrogate
        return ""


def _short(value: object) -> str:
    return "missing" if value is None else repr_of(value)
