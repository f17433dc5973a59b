"""Calls that take long: streams, progress, logs, interrupted calls, batches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from typing import Any

from ...wire.documents import is_aside, is_terminal, parsed
from ...wire.values import object_in
from ..calls.documents import documents, has_lines
from ..calls.making import Call, Target, named, over, unlike
from ..judging import NotApplicable, NotVerified, finding
from ..profile import ProfileProbe
from ..results import Evidence, Finding
from ..shapes.kinds import is_count, misfits, shown, summed_up
from ..shapes.murli import LOG, PROGRESS
from .answers import asks_for_text
from .mistakes import USAGE

# Shorter than a slow call, longer than a tool needs to start.
_SECONDS = "0.3"
#: the timeout in seconds of a slow call, and how much later it may report that
_GIVEN, _GRACE_MS = 1, 5000
_REQUEST = b'{"_cmd": "manifest"}\n'
_NO_REQUEST = b"this is no request\n"


def _streams(target: Target, event: str = "") -> Iterator[Call]:
    """Make the calls that stream: those of the profile, and of commands with a ``--stream``."""
    vouched = set()
    for probe in target.probes("stream"):
        name = target.command_of(probe.words)
        vouched.add(name)
        yield Call(target, name, target.vouched(probe, event=event))
    if target.is_enveloped and not vouched:
        target.listed()
    for command in target.readers() if target.is_enveloped else target.safe:
        if command.takes_stream and not (target.is_enveloped and named(command) in vouched):
            # A flag with that name may not make a stream.
            words = target.words(command, "--stream")
            if has_lines(target.run(*words)):
                yield Call(target, named(command), target.run(*words, event=event))


def _slow(target: Target) -> list[ProfileProbe]:
    if not target.probes("slow"):
        raise NotApplicable("no slow call is known; name one in a [[probe]] of the profile")
    return target.probes("slow")


def _known_streams(target: Target, event: str = "") -> list[Call]:
    found = list(_streams(target, event))
    if not found and target.is_enveloped:
        raise NotApplicable("no command that may be run is known to stream")
    if not found:
        raise NotVerified("no stream is known; name one in a [[probe]] of the profile")
    return found


# -- interrupted calls ---------------------------------------------------------------------------


def stream_cancelled(target: Target) -> Iterator[Finding]:
    """SIGINT ends a stream with the error and exit code of a cancelled call in its last line."""
    # A call that fails by itself cannot be interrupted.
    works = [call.evidence.exit_code == 0 for call in _known_streams(target)]
    stopped = zip(works, _streams(target, "interrupt"), strict=True)
    calls = [call for is_working, call in stopped if is_working or not target.is_enveloped]
    if not calls:
        raise NotVerified("no stream works as it was called")
    return _all_cancelled(calls, is_stream=True)


def work_cancelled(target: Target) -> Iterator[Finding]:
    """SIGINT ends a slow call with the error and exit code of a cancelled call."""
    event = "interrupt-at-work"
    return _all_cancelled(
        [
            Call(target, target.command_of(each.words), target.vouched(each, event=event))
            for each in _slow(target)
        ]
    )


def _all_cancelled(calls: list[Call], *, is_stream: bool = False) -> Iterator[Finding]:
    stopped = [
        each
        for each in calls
        if each.evidence.exit_code != 0 or (is_stream and not _is_whole(each))
    ]
    if not stopped:
        raise NotVerified("it was done before the signal came")
    for call in stopped:
        yield finding(_uncancelled(call, is_stream), call.command, call.evidence)


def _is_whole(call: Call) -> bool:
    """Return whether a stream that succeeded has its last line."""
    found, _ = documents(call.evidence.stdout)
    return call.target.is_enveloped or bool(found and is_terminal(found[-1]))


def _uncancelled(call: Call, is_stream: bool) -> str:
    """Return why an interrupted call did not end as it has to."""
    code = call.dialect.cancelled
    if call.evidence.exit_code is None:
        return f"it {call.ended} after the signal"
    if call.target.is_enveloped and call.exit_code != code:
        return f"it ended with {call.ended} instead of exit {code}"
    # A single answer may be spread over several lines; an error of murli's is on stderr.
    last = parsed(call.evidence.stdout) or _last_line(call.evidence.stdout)
    has_end = isinstance(last, dict) and is_terminal(last)
    if (call.target.is_enveloped or is_stream) and not has_end:
        return "its last line does not say that it was stopped"
    return unlike(call, "cancelled", code)


def _last_line(stdout: bytes) -> dict[str, Any] | None:
    """Return the document in the last line of a stream."""
    last = parsed(stdout.rstrip(b"\r\n").rpartition(b"\n")[2])
    return last if isinstance(last, dict) and is_terminal(last) else None


# -- streams of murli ----------------------------------------------------------------------------


@over(_known_streams)
def stream_lines(call: Call) -> str:
    """Every line is an object, and only the last is an envelope."""
    lines = [parsed(each) for each in call.evidence.stdout.splitlines()]
    ends = [isinstance(each, dict) and is_terminal(each) for each in lines]
    if not call.evidence.stdout.strip():
        return "nothing is on stdout"
    if not all(isinstance(each, dict) for each in lines):
        return "a line is not a JSON object"
    if not ends[-1]:
        return "the last line is no envelope"
    return f"{sum(ends)} envelopes in one stream" if sum(ends) > 1 else ""


@over(Target.seen, otherwise="no progress was met")
def progress(call: Call) -> str | None:
    """Progress events have their fields and types, and report something."""
    asides = [
        each
        for stream in (call.evidence.stdout, call.evidence.stderr)
        for each in documents(stream)[0]
        if is_aside(each) and "heartbeat" not in each
    ]
    if not asides:
        return None
    trouble = next(filter(None, map(_misfit, asides)), "")
    if not trouble and call.target.wire != "go" and any("event" not in each for each in asides):
        return "progress without its event"
    return trouble


def _misfit(aside: dict[str, Any]) -> str:
    empty = [key for key in PROGRESS if key in aside and aside[key] in (0, "", None)]
    return summed_up(misfits(aside, PROGRESS)) or (f"{empty[0]} is empty" if empty else "")


@over(Target.answers, otherwise="nothing was logged")
def log_lines(call: Call) -> str | None:
    """With an answer, stderr has only log lines and progress events."""
    evidence = call.evidence
    if evidence.exit_code != 0 or not evidence.stderr.strip() or asks_for_text(call):
        return None
    for text in filter(bytes.strip, evidence.stderr.splitlines()):
        line = parsed(text)
        if not isinstance(line, dict):
            return "a line on stderr is not a JSON object"
        if is_aside(line):
            continue
        trouble = summed_up(misfits(line, LOG))
        if trouble or not _is_moment(line["ts"]):
            return trouble or f"ts is {shown(line['ts'])}"
    return ""


def _is_moment(text: str) -> bool:
    """Return whether *text* is a UTC timestamp as in RFC 3339."""
    moment, _, fraction = text.removesuffix("Z").removesuffix("+00:00").partition(".")
    if not text.endswith(("Z", "+00:00")) or not (fraction.isdecimal() or not fraction):
        return False
    try:
        datetime.strptime(moment, "%Y-%m-%dT%H:%M:%S")
    except ValueError:
        return False
    return True


def deadline(target: Target) -> Iterator[Finding]:
    """With ``--timeout`` a call ends in time, with exit code 4."""
    for probe in _slow(target):
        hurried = replace(probe, words=(*probe.words, "--timeout", _SECONDS))
        call = Call(target, target.command_of(probe.words), target.vouched(hurried))
        if call.error_name in USAGE:
            raise NotApplicable("it has no --timeout")
        yield finding(unlike(call, "timeout", call.dialect.timeout), call.command, call.evidence)


# -- streams of envelopes ------------------------------------------------------------------------


def stream_contract(target: Target) -> Iterator[Finding]:
    """Every line is an item but the last, which ends the stream and counts the items."""
    for call in _known_streams(target):
        if call.evidence.exit_code is not None:
            trouble = next(stream_troubles(call.evidence), "")
            yield finding(trouble, call.command, call.evidence)


def stream_troubles(evidence: Evidence) -> Iterator[str]:
    """Yield what is wrong with the lines of a stream.

    A successful stream ends with a bare summary, a failed one with the envelope of its error.
    """
    lines = [parsed(each) for each in evidence.stdout.split(b"\n") if each.strip()]
    found = [each for each in lines if isinstance(each, dict)]
    if len(found) < len(lines):
        yield "a line is not an object"
    found = [each for each in found if not is_aside(each)]
    last = found[-1] if found else {}
    if not is_terminal(last):
        yield "the last line does not end it"
        return
    items = found[:-1]
    if any(map(is_terminal, items)):
        yield "a line before the last ends it"
    is_summary = last.get("_summary") is True and "ok" not in last
    if not is_summary and last.get("ok") is not False:
        yield "the last line is an envelope of a success, and not the bare summary"
    if is_summary and evidence.exit_code != 0:
        yield f"the last line is a success, and it ended with {evidence.ended}"
    if "_seq" in last:
        yield "the last line has a _seq, which only items have"
    yield from _counts(items, last, is_summary)


def _counts(items: list[dict[str, Any]], last: dict[str, Any], is_summary: bool) -> Iterator[str]:
    numbered = [each["_seq"] for each in items if "_seq" in each]
    if numbered and len(numbered) < len(items):
        yield "some items have a _seq, and some have none"
    elif numbered and numbered[0] != 1:
        yield f"_seq begins with {numbered[0]}, not with 1"
    elif not all(is_count(each) and each == at for at, each in enumerate(numbered, 1)):
        yield "_seq does not count one by one"
    place, name = (last, "_count") if is_summary else (object_in(last.get("meta")), "items_emitted")
    if name in place and place[name] != len(items):
        yield f"{name} is not {len(items)}, the number of items"
    elif numbered and name not in place:
        yield f"the items are numbered, and the last line has no {name}"


def out_of_time(target: Target) -> Iterator[Finding]:
    """A slow call with a timeout of a second ends with exit code 10 and an answer."""
    for probe in _slow(target):
        hurried = replace(probe, words=(*probe.words, "--timeout", str(_GIVEN)))
        evidence = target.vouched(hurried)
        if evidence.exit_code != 0:
            trouble = _untimely(target, evidence)
            yield finding(trouble, target.command_of(probe.words), evidence)


def _untimely(target: Target, evidence: Evidence) -> str:
    code = target.dialect.timeout
    if evidence.exit_code is None or evidence.duration_ms > _GIVEN * 1000 + _GRACE_MS:
        return f"with a second it {evidence.ended}, after {evidence.duration_ms} ms"
    if evidence.exit_code != code:
        return f"with a second it ended with {evidence.ended} instead of exit {code}"
    call = target.call_of(evidence)
    if call is None:
        return "it does not say that its time was over"
    if trouble := unlike(call, "timeout", code):
        return trouble
    if not target.dialect.is_first_envelope and call.meta.get("timeout_ms") != _GIVEN * 1000:
        return "meta.timeout_ms does not say how much time it had"
    return ""


def batch(target: Target) -> Iterator[Finding]:
    """``exec --dry-run`` answers each request with its name and line, and reports invalid lines."""
    target.listed()
    command = next((each for each in target.commands if each.path == ("exec",)), None)
    if command is None or not {"dry-run", "ignore-errors"} <= command.flags.keys():
        raise NotApplicable("there is no exec for batches")
    words = ("exec", "--dry-run")
    if call := target.made(*words, stdin="text", text=_REQUEST):
        fits = call.meta.get("_cmd") == "manifest" and call.meta.get("_line") == 1
        trouble = "" if fits else "the answer has no _cmd and _line of its request"
        if call.exit_code != 0:
            trouble = f"a request for the manifest: {call.ended}"
        yield finding(trouble, "exec", call.evidence)
    if call := target.made(*words, stdin="text", text=_NO_REQUEST):
        fits = call.exit_code != 0 and call.error_name == "DISPATCH_PARSE_ERROR"
        wrong = "a line that is not a request is not answered with DISPATCH_PARSE_ERROR"
        yield finding("" if fits else wrong, "exec", call.evidence)
