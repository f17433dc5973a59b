"""What a murli tool writes on the way: items, progress, logs; and how it ends if it is stopped."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from typing import Any

from ...client.documents import is_aside, is_terminal, parsed
from ..checking import MURLI, NotApplicable, NotVerified, check, judged
from ..profile import ProfileProbe
from ..results import Evidence, Finding
from ..target import Target
from .calls import has_lines
from .murli_calls import asks_for_text, name_of, named
from .murli_shapes import LOG, PROGRESS, code_in, documents, error_of, misfits, shown, summed_up

_TIMEOUT, _CANCELLED = 4, 9
# Less than a slow call takes, more than a tool needs to start.
_SECONDS = "0.3"


def _streamed(target: Target, event: str = "") -> Iterator[tuple[str, Evidence]]:
    """Make the calls that are known to stream."""
    found = False
    for probe in target.probes("stream"):
        found = True
        yield target.command_of(probe.words), target.vouched(probe, event=event)
    for command in target.safe:
        # A flag that is only called so is none that makes a stream.
        words = target.words(command, "--stream")
        if command.takes_stream and has_lines(target.run(*words)):
            found = True
            yield named(command), target.run(*words, event=event)
    if not found:
        raise NotVerified("no stream is known; name one in a profile")


def _stopped(evidence: Evidence, word: str, code: int) -> str:
    """Tell how the end of a call that was stopped is not what it should be."""
    error = error_of(evidence)
    if error is None:
        return f"{evidence.ended}, and no error document"
    if error.get("error") != word:
        return f"{shown(error.get('error'))} instead of {word}"
    said = code_in(error, evidence)
    return "" if said == code else f"code {shown(said)} instead of {code}"


# -- streams ---------------------------------------------------------------------------------------


@check(
    "murli.stream.lines",
    "A stream is one object a line, the last one its end",
    level=3,
    contracts=MURLI,
    requirements=("3.5", "16.11"),
)
def stream_lines(target: Target) -> Iterator[Finding]:
    """Every line is an object; an envelope is the last, and the only one."""
    for name, evidence in _streamed(target):
        lines = [parsed(each) for each in evidence.stdout.splitlines()]
        ends = [isinstance(each, dict) and is_terminal(each) for each in lines]
        trouble = ""
        if not evidence.stdout.strip():
            trouble = "nothing is on stdout"
        elif not all(isinstance(each, dict) for each in lines):
            trouble = "a line is no JSON object"
        elif not ends[-1]:
            trouble = "the last line is no envelope"
        elif sum(ends) > 1:
            trouble = f"{sum(ends)} envelopes in one stream"
        yield judged(trouble, name, evidence)


@check(
    "murli.stream.interrupt",
    "A stream that is interrupted says so",
    level=3,
    contracts=MURLI,
    requirements=("5.4", "16.11"),
)
def stream_interrupt(target: Target) -> Iterator[Finding]:
    """Behind SIGINT the last line is the error, cancelled, with code 9."""
    for name, evidence in _streamed(target, event="interrupt"):
        found, _ = documents(evidence.stdout)
        if evidence.exit_code == 0 and found and is_terminal(found[-1]):
            raise NotVerified("the stream was over before it could be interrupted")
        trouble = _stopped(evidence, "cancelled", _CANCELLED)
        last = parsed(evidence.stdout.rstrip(b"\r\n").rpartition(b"\n")[2])
        if not trouble and not (isinstance(last, dict) and is_terminal(last)):
            trouble = "the last line of the stream is not its error"
        yield judged(trouble, name, evidence)


@check(
    "murli.progress.shape",
    "Progress has its keys, and no empty ones",
    level=3,
    contracts=MURLI,
    requirements=("3.6",),
    in_hindsight=True,
)
def progress_shape(target: Target) -> Iterator[Finding]:
    """Progress is told by numbers and texts under their names, where there is something to tell."""
    found = []
    for evidence in target.prober.seen:
        asides = [
            each
            for stream in (evidence.stdout, evidence.stderr)
            for each in documents(stream)[0]
            if is_aside(each) and "heartbeat" not in each
        ]
        if asides:
            trouble = next(filter(None, map(_misfit, asides)), "")
            if not trouble and target.wire != "go" and any("event" not in each for each in asides):
                trouble = "progress without its event"
            found.append(judged(trouble, name_of(target, evidence), evidence))
    if not found:
        raise NotApplicable("no progress was met")
    yield from found


def _misfit(aside: dict[str, Any]) -> str:
    empty = [key for key in PROGRESS if key in aside and aside[key] in (0, "", None)]
    return summed_up(misfits(aside, PROGRESS)) or (f"{empty[0]} is empty" if empty else "")


@check(
    "murli.log.lines",
    "What is logged is one object a line",
    level=3,
    contracts=MURLI,
    requirements=("3.7", "6"),
    in_hindsight=True,
)
def log_lines(target: Target) -> Iterator[Finding]:
    """Beside an answer, stderr has nothing but log lines and progress."""
    found = []
    for name, evidence in target.answers():
        if evidence.exit_code == 0 and evidence.stderr.strip() and not asks_for_text(evidence):
            found.append(judged(_log_trouble(evidence.stderr), name, evidence))
    if not found:
        raise NotApplicable("nothing was logged")
    yield from found


def _log_trouble(stderr: bytes) -> str:
    for text in stderr.splitlines():
        line = parsed(text)
        if not isinstance(line, dict):
            if text.strip():
                return "a line on stderr is no JSON object"
            continue
        if is_aside(line):
            continue
        trouble = summed_up(misfits(line, LOG))
        if trouble or not _is_moment(line["ts"]):
            return trouble or f"ts is {shown(line['ts'])}"
    return ""


def _is_moment(text: str) -> bool:
    """Tell whether *text* is a moment in UTC as RFC 3339 writes it."""
    moment, _, fraction = text.removesuffix("Z").removesuffix("+00:00").partition(".")
    if not text.endswith(("Z", "+00:00")) or not (fraction.isdecimal() or not fraction):
        return False
    try:
        datetime.strptime(moment, "%Y-%m-%dT%H:%M:%S")
    except ValueError:
        return False
    return True


# -- what takes long -------------------------------------------------------------------------------


@check(
    "murli.deadline.interrupt",
    "Work that is interrupted says so",
    level=3,
    contracts=MURLI,
    requirements=("5.4",),
)
def deadline_interrupt(target: Target) -> Iterator[Finding]:
    """Behind SIGINT a call ends as cancelled, with code 9."""
    for probe in _slow(target):
        evidence = target.vouched(probe, event="interrupt-at-work")
        if evidence.exit_code == 0:
            raise NotVerified("the call was over before it could be interrupted")
        trouble = _stopped(evidence, "cancelled", _CANCELLED)
        yield judged(trouble, target.command_of(probe.words), evidence)


@check(
    "murli.deadline.time",
    "Work that is given too little time says so",
    level=3,
    contracts=MURLI,
    requirements=("5.3", "5.4"),
)
def deadline_time(target: Target) -> Iterator[Finding]:
    """With ``--timeout`` a call ends in time, with code 4."""
    for probe in _slow(target):
        words = (*probe.words, "--timeout", _SECONDS)
        evidence = target.vouched(replace(probe, words=words))
        error = error_of(evidence)
        if error is not None and error.get("error") in ("flag_error", "command_error"):
            raise NotApplicable("it has no --timeout")
        trouble = _stopped(evidence, "timeout", _TIMEOUT)
        yield judged(trouble, target.command_of(probe.words), evidence)


def _slow(target: Target) -> list[ProfileProbe]:
    found = target.probes("slow")
    if not found:
        raise NotApplicable("no slow call is known; name one in a profile")
    return found
