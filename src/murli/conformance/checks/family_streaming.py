"""What takes its time: streams to their last line, calls that are stopped, calls in a batch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...client.documents import is_aside, is_terminal, parsed
from ...client.envelopes import object_in, text_in
from ..checking import NotApplicable, NotVerified, check, judged
from ..results import Evidence, Finding
from ..target import FAMILY, Target
from .calls import has_lines
from .family_calls import CANCELLED, TELLING, call_of, listed, made, readers
from .family_shapes import is_count

_TIMEOUT = 10
#: seconds that a slow call is given, and how much longer it may take to say so
_GIVEN, _GRACE_MS = 1, 5000
_REQUEST = b'{"_cmd": "manifest"}\n'
_NO_REQUEST = b"this is no request\n"


# -- streams -------------------------------------------------------------------------------------


def _streams(target: Target, event: str = "") -> Iterator[tuple[str, Evidence]]:
    """Make the calls that stream: the author's, and those of commands that list the flag."""
    if not target.probes("stream"):
        listed(target)
    vouched = set()
    for probe in target.probes("stream"):
        name = target.command_of(probe.words)
        vouched.add(name)
        yield name, target.vouched(probe, event=event)
    for command in readers(target):
        name = " ".join(command.path)
        if command.takes_stream and name not in vouched:
            # A flag that is only called so is none that makes a stream.
            words = target.words(command, "--stream")
            if has_lines(target.run(*words)):
                yield name, target.run(*words, event=event)


@check(
    "family.stream.contract",
    "A stream is items and then one last line",
    level=3,
    contracts=FAMILY,
    requirements=("O-004",),
)
def stream_contract(target: Target) -> Iterator[Finding]:
    """Every line is an item but the last, which ends it and tells how many there were."""
    known = False
    for name, evidence in _streams(target):
        known = True
        if evidence.exit_code is not None:
            trouble = next(stream_troubles(evidence), "")
            yield judged(trouble, name, evidence)
    if not known:
        raise NotApplicable("no command that may be run is known to stream")


def stream_troubles(evidence: Evidence) -> Iterator[str]:
    """Yield what is wrong with the lines of a stream.

    A stream that worked ends with a bare summary, one that failed with the envelope of its error.
    """
    lines = [parsed(each) for each in evidence.stdout.split(b"\n") if each.strip()]
    documents = [each for each in lines if isinstance(each, dict)]
    if len(documents) < len(lines):
        yield "a line is no object"
    documents = [each for each in documents if not is_aside(each)]
    last = documents[-1] if documents else {}
    if not is_terminal(last):
        yield "the last line does not end it"
        return
    items = documents[:-1]
    if any(map(is_terminal, items)):
        yield "a line before the last ends it"
    is_summary = last.get("_summary") is True and "ok" not in last
    if not is_summary and last.get("ok") is not False:
        yield "the last line is an envelope of a success, and not the bare summary"
    if is_summary and evidence.exit_code != 0:
        yield f"the last line tells of a success, and it ended with {evidence.ended}"
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


@check(
    "family.stream.interrupt",
    "A stream that is interrupted says so in its last line",
    level=3,
    contracts=FAMILY,
    requirements=("F-069", "O-004"),
)
def stream_interrupt(target: Target) -> Iterator[Finding]:
    """SIGINT in mid-stream ends it with 130 and an error for everybody who still reads."""
    whole = [evidence.exit_code for _, evidence in _streams(target)]
    if not whole:
        raise NotApplicable("no command that may be run is known to stream")
    # What fails by itself cannot be interrupted.
    stopped = zip(whole, _streams(target, "interrupt"), strict=True)
    return _all_stopped([each for code, each in stopped if code == 0])


def _all_stopped(calls: list[tuple[str, Evidence]]) -> Iterator[Finding]:
    if not calls:
        raise NotVerified("no stream works as it was called")
    if all(evidence.exit_code == 0 for _, evidence in calls):
        raise NotVerified("it was done before the signal came")
    for name, evidence in calls:
        if evidence.exit_code != 0:
            yield judged(_stopped(evidence), name, evidence)


def _stopped(evidence: Evidence) -> str:
    """Tell why an interrupted call did not end as it has to."""
    if evidence.exit_code is None:
        return f"it {evidence.ended} after the signal"
    if evidence.exit_code != CANCELLED:
        return f"it ended with {evidence.ended} instead of exit {CANCELLED}"
    lines = [parsed(each) for each in evidence.stdout.strip().split(b"\n")[-1:]]
    last = parsed(evidence.stdout) or lines[0]
    if not isinstance(last, dict) or not is_terminal(last):
        return "its last line does not tell that it was stopped"
    code = text_in(object_in(last.get("error")).get("code"))
    return "" if code == "CANCELLED" else f"error.code is {code!r}, not CANCELLED"


# -- time ----------------------------------------------------------------------------------------


@check(
    "family.deadline.time",
    "Who is given too little time ends in time, and says so",
    level=2,
    contracts=FAMILY,
    requirements=("F-011", "F-012"),
)
def deadline(target: Target) -> Iterator[Finding]:
    """A slow call that is given a second ends with 10 and an answer."""
    probes = target.probes("slow")
    if not probes:
        raise NotApplicable("the profile names no slow call")
    for probe in probes:
        name = target.command_of(probe.words)
        words = (*probe.words, "--timeout", str(_GIVEN))
        how = {"stdin": "text", "text": probe.stdin.encode()} if probe.stdin else {}
        evidence = target.run(*words, **how)  # type: ignore[arg-type]
        if evidence.exit_code != 0:
            yield judged(_out_of_time(target, evidence), name, evidence)


def _out_of_time(target: Target, evidence: Evidence) -> str:
    if evidence.exit_code is None or evidence.duration_ms > _GIVEN * 1000 + _GRACE_MS:
        return f"with a second it {evidence.ended}, after {evidence.duration_ms} ms"
    if evidence.exit_code != _TIMEOUT:
        return f"with a second it ended with {evidence.ended} instead of exit {_TIMEOUT}"
    call = call_of(target, evidence)
    if call is None or not call.error:
        return "it does not tell that its time was over"
    if call.error_code != "TIMEOUT":
        return f"error.code is {call.error_code!r}, not TIMEOUT"
    if target.contract in TELLING and call.meta.get("timeout_ms") != _GIVEN * 1000:
        return "meta.timeout_ms does not tell how much time it had"
    return ""


@check(
    "family.deadline.interrupt",
    "Who is interrupted at work says so",
    level=2,
    contracts=FAMILY,
    requirements=("F-069",),
)
def interrupt_at_work(target: Target) -> Iterator[Finding]:
    """SIGINT ends a slow call with 130 and an answer."""
    probes = target.probes("slow")
    if not probes:
        raise NotApplicable("the profile names no slow call")
    event = "interrupt-at-work"
    return _all_stopped(
        [(target.command_of(each.words), target.vouched(each, event=event)) for each in probes]
    )


# -- batches -------------------------------------------------------------------------------------


@check(
    "family.exec.dispatch",
    "Calls in a batch are answered line by line",
    level=3,
    contracts=TELLING,
    requirements=("O-050",),
)
def exec_dispatches(target: Target) -> Iterator[Finding]:
    """``exec --dry-run`` answers each request with its name and its line, and what is none."""
    listed(target)
    command = next((each for each in target.commands if each.path == ("exec",)), None)
    if command is None or not {"dry-run", "ignore-errors"} <= command.flags.keys():
        raise NotApplicable("there is no exec for batches")
    words = ("exec", "--dry-run")
    call = made(target, *words, stdin="text", text=_REQUEST)
    if call is not None:
        fits = call.meta.get("_cmd") == "manifest" and call.meta.get("_line") == 1
        trouble = "" if fits else "the answer does not tell _cmd and _line of its request"
        if call.exit_code != 0:
            trouble = f"a request for the manifest: {call.evidence.ended}"
        yield judged(trouble, "exec", call.evidence)
    call = made(target, *words, stdin="text", text=_NO_REQUEST)
    if call is not None:
        fits = call.exit_code != 0 and call.error_code == "DISPATCH_PARSE_ERROR"
        trouble = "" if fits else "what is no request is not answered with DISPATCH_PARSE_ERROR"
        yield judged(trouble, "exec", call.evidence)
