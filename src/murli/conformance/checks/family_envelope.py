"""The envelope that every answer comes in: five keys, and what they say of each other."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

from ...client.envelopes import text_in
from ..checking import NotApplicable, check, judged
from ..results import Finding
from ..target import FAMILY, Target
from .family_calls import NEWEST, TELLING, Call, all_calls, document_of, is_envelope
from .family_shapes import first, is_count, keys, kinds, meta_kinds, outcome

# A clock is read in the tool and another outside of it.
_LEEWAY_MS = 100
#: what meta tells of every call in the later revisions
_TOLD = ("request_id", "schema_version", "tool_version", "command", "timestamp", "cwd")

Trouble = Callable[[Call], str]


def _each(target: Target, trouble_in: Trouble, *, bare: bool = False) -> Iterator[Finding]:
    """Look at the document of every call; *bare* also at those that are not meant as envelopes."""
    for call in all_calls(target):
        if call.document is None:
            continue
        if is_envelope(call.document) or (bare and call.kind == "answer"):
            yield judged(trouble_in(call), call.command, call.evidence)


def _of_process(call: Call) -> bool:
    """Tell whether the envelope speaks for the process: it ended itself, and made one call."""
    return call.exit_code >= 0 and "_line" not in call.meta


@check(
    "family.envelope.keys",
    "Every answer has the five keys, and no other",
    level=1,
    contracts=FAMILY,
    requirements=("F-004",),
    in_hindsight=True,
)
def five_keys(target: Target) -> Iterator[Finding]:
    """The document of every call has the same five keys."""
    return _each(target, lambda call: first(keys(call.document or {})), bare=True)


@check(
    "family.envelope.types",
    "The five keys hold what they have to hold",
    level=1,
    contracts=FAMILY,
    requirements=("F-004",),
    in_hindsight=True,
)
def five_types(target: Target) -> Iterator[Finding]:
    """Each of the five keys has its type, down to the warnings."""
    return _each(target, lambda call: first(kinds(call.document or {}, target.contract)))


@check(
    "family.envelope.ok",
    "ok is true exactly when the exit code is 0",
    level=1,
    contracts=FAMILY,
    requirements=("F-001",),
    in_hindsight=True,
)
def ok_is_told(target: Target) -> Iterator[Finding]:
    """What the envelope says and how the process ended are the same."""

    def trouble_in(call: Call) -> str:
        ok = (call.document or {}).get("ok")
        if not isinstance(ok, bool) or not _of_process(call) or ok == (call.exit_code == 0):
            return ""
        return f"ok is {str(ok).lower()}, and it ended with {call.evidence.ended}"

    return _each(target, trouble_in)


@check(
    "family.envelope.outcome",
    "A success has no error, a failure has one and no data",
    level=1,
    contracts=FAMILY,
    requirements=("F-004",),
    in_hindsight=True,
)
def outcome_is_clear(target: Target) -> Iterator[Finding]:
    """What is null tells a success from a failure."""

    def trouble_in(call: Call) -> str:
        if not _of_process(call):
            return ""
        return first(outcome(call.document or {}, call.exit_code, target.contract))

    return _each(target, trouble_in)


@check(
    "family.envelope.exit-code",
    "meta.exit_code is the exit code of the process",
    level=1,
    contracts=NEWEST,
    requirements=("F-001", "F-004"),
    in_hindsight=True,
)
def exit_code_is_told(target: Target) -> Iterator[Finding]:
    """The exit code survives where a pipe would eat it."""

    def trouble_in(call: Call) -> str:
        if not isinstance((call.document or {}).get("meta"), dict) or not _of_process(call):
            return ""
        told = call.meta.get("exit_code")
        if is_count(told) and told == call.exit_code:
            return ""
        return f"meta.exit_code is {_short(told)}, and it ended with {call.evidence.ended}"

    return _each(target, trouble_in)


@check(
    "family.meta.duration",
    "meta.duration_ms tells how long it took",
    level=1,
    contracts=FAMILY,
    requirements=("F-004", "F-039"),
    in_hindsight=True,
)
def duration_is_told(target: Target) -> Iterator[Finding]:
    """Every answer tells its milliseconds, and no more than the process lived."""

    def trouble_in(call: Call) -> str:
        if not isinstance((call.document or {}).get("meta"), dict):
            return ""
        told = call.meta.get("duration_ms")
        if not is_count(told):
            return f"meta.duration_ms is {_short(told)}"
        if told > call.evidence.duration_ms + _LEEWAY_MS:
            return f"meta.duration_ms is {_short(told)}, and it lived {call.evidence.duration_ms}"
        return ""

    return _each(target, trouble_in)


@check(
    "family.meta.types",
    "What else is in meta is of its type",
    level=3,
    contracts=FAMILY,
    requirements=("F-022", "F-023", "F-024"),
    in_hindsight=True,
)
def meta_types(target: Target) -> Iterator[Finding]:
    """The fields of meta that have a name in the contract have its type."""
    return _each(target, lambda call: first(meta_kinds(call.meta)))


@check(
    "family.meta.identity",
    "meta tells which call of which version this was",
    level=3,
    contracts=TELLING,
    requirements=("F-022", "F-023", "F-024", "F-027"),
    in_hindsight=True,
)
def identity_is_told(target: Target) -> Iterator[Finding]:
    """Every answer tells its request, command, time, folder and both versions."""

    def trouble_in(call: Call) -> str:
        missing = [each for each in _TOLD if each not in call.meta]
        is_object = isinstance((call.document or {}).get("meta"), dict)
        return f"meta has no {', '.join(missing)}" if missing and is_object else ""

    return _each(target, trouble_in)


@check(
    "family.meta.truthful",
    "What meta tells of the call is so",
    level=3,
    contracts=FAMILY,
    requirements=("F-023", "F-024", "F-027"),
    in_hindsight=True,
)
def meta_is_truthful(target: Target) -> Iterator[Finding]:
    """A request id comes once, the version is that of ``--version``, the folder is where it ran."""
    told = target.run("--version")
    version = (told.stdout + told.stderr).decode("utf-8", "replace") if not told.exit_code else ""
    data = (document_of(told) or {}).get("data")
    if isinstance(data, dict):  # not what meta says of itself
        version = text_in(data.get("version")) or str(data)[:1000]
    folder = os.path.realpath(target.prober.scratch.work)
    known: set[str] = set()

    def trouble_in(call: Call) -> str:
        said = text_in(call.meta.get("request_id"))
        # The calls of a batch have one request between them.
        again = said in known and "_line" not in call.meta
        known.add(said)
        if said and again:
            return f"meta.request_id is {said!r} once more"
        said = text_in(call.meta.get("tool_version"))
        if said and version and said not in version:
            return f"meta.tool_version is {_short(said)}, and --version tells another"
        said = text_in(call.meta.get("cwd"))
        if said and _real(said) != folder:
            return f"meta.cwd is {_short(said)}, and it ran elsewhere"
        return ""

    if not any(
        text_in(call.meta.get(each))
        for call in all_calls(target)
        for each in ("request_id", "tool_version", "cwd")
    ):
        raise NotApplicable("meta tells nothing of the calls")
    yield from _each(target, trouble_in)


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
