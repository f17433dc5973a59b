"""The envelope that every answer comes in: five keys, and what they say of each other."""

from __future__ import annotations

import os
from collections.abc import Iterator

from ...wire.documents import is_terminal
from ...wire.envelopes import text_in
from ..calls.documents import envelope_of
from ..calls.making import Call, all_calls, over
from ..judging import NotApplicable
from ..results import Finding
from ..shapes.envelope import keys as key_troubles
from ..shapes.envelope import kinds, meta_kinds
from ..shapes.envelope import outcome as outcome_troubles
from ..shapes.kinds import first, is_count
from ..target import Target

# A clock is read in the tool and another outside of it.
_LEEWAY_MS = 100
#: what meta says of every call in the later revisions
_IDENTITY = ("request_id", "schema_version", "tool_version", "command", "timestamp", "cwd")


def _envelopes(target: Target) -> Iterator[Call]:
    for call in all_calls(target):
        if call.document is not None and is_terminal(call.document):
            yield call


def _of_process(call: Call) -> bool:
    """Return whether the envelope speaks for the process: it ended itself, and made one call."""
    return call.exit_code >= 0 and "_line" not in call.meta


def _has_meta(call: Call) -> bool:
    return isinstance((call.document or {}).get("meta"), dict)


@over(all_calls)
def keys(call: Call) -> str | None:
    """The document of every call has the same five keys."""
    # Also one that is not meant as an envelope.
    if call.document is None or not (is_terminal(call.document) or call.kind == "answer"):
        return None
    return first(key_troubles(call.document))


@over(_envelopes)
def types(call: Call) -> str:
    """Each of the five keys has its type, down to the warnings."""
    return first(kinds(call.document or {}, call.target.contract))


@over(_envelopes)
def ok(call: Call) -> str:
    """What the envelope says and how the process ended are the same."""
    claim = (call.document or {}).get("ok")
    if not isinstance(claim, bool) or not _of_process(call) or claim == (call.exit_code == 0):
        return ""
    return f"ok is {str(claim).lower()}, and it ended with {call.ended}"


@over(_envelopes)
def outcome(call: Call) -> str:
    """What is null tells a success from a failure."""
    if not _of_process(call):
        return ""
    return first(outcome_troubles(call.document or {}, call.exit_code, call.target.contract))


@over(_envelopes)
def exit_code(call: Call) -> str:
    """The exit code survives where a pipe would eat it."""
    if not _has_meta(call) or not _of_process(call):
        return ""
    found = call.meta.get("exit_code")
    if is_count(found) and found == call.exit_code:
        return ""
    return f"meta.exit_code is {_short(found)}, and it ended with {call.ended}"


@over(_envelopes)
def duration(call: Call) -> str:
    """Every answer has its milliseconds, and no more than the process lived."""
    if not _has_meta(call):
        return ""
    found, lived = call.meta.get("duration_ms"), call.evidence.duration_ms
    if not is_count(found):
        return f"meta.duration_ms is {_short(found)}"
    is_longer = found > lived + _LEEWAY_MS
    return f"meta.duration_ms is {_short(found)}, and it lived {lived}" if is_longer else ""


@over(_envelopes)
def meta_types(call: Call) -> str:
    """The fields of meta that have a name in the contract have its type."""
    return first(meta_kinds(call.meta))


@over(_envelopes)
def identity(call: Call) -> str:
    """Every answer has its request, command, time, folder and both versions."""
    missing = [each for each in _IDENTITY if each not in call.meta]
    return f"meta has no {', '.join(missing)}" if missing and _has_meta(call) else ""


def truthful(target: Target) -> Iterator[Finding]:
    """A request id comes once, the version is that of ``--version``, the folder is where it ran."""
    asked = target.run("--version")
    version = (
        (asked.stdout + asked.stderr).decode("utf-8", "replace") if not asked.exit_code else ""
    )
    data = (envelope_of(asked) or {}).get("data")
    if isinstance(data, dict):  # not what meta says of itself
        version = text_in(data.get("version")) or str(data)[:1000]
    known: set[str] = set()

    @over(_envelopes)
    def look(call: Call) -> str:
        found = text_in(call.meta.get("request_id"))
        # The calls of a batch have one request between them.
        again = found in known and "_line" not in call.meta
        known.add(found)
        if found and again:
            return f"meta.request_id is {found!r} once more"
        found = text_in(call.meta.get("tool_version"))
        if found and version and found not in version:
            return f"meta.tool_version is {_short(found)}, and --version tells another"
        found = text_in(call.meta.get("cwd"))
        if found and _real(found) != os.path.realpath(call.evidence.cwd):
            return f"meta.cwd is {_short(found)}, and it ran elsewhere"
        return ""

    if not any(
        text_in(call.meta.get(each))
        for call in all_calls(target)
        for each in ("request_id", "tool_version", "cwd")
    ):
        raise NotApplicable("meta tells nothing of the calls")
    yield from look(target)


def _real(path: str) -> str:
    try:
        return os.path.realpath(path)
    except ValueError:  # no path has a null byte, or half of a letter
        return ""


def _short(value: object) -> str:
    if isinstance(value, (dict, list)):
        return "an object" if isinstance(value, dict) else "an array"
    try:
        return "missing" if value is None else repr(value)[:60]
    except ValueError:  # a number with more digits than can be written
        return "a huge number"
