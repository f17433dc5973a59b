"""Answers: one document, complete, strict JSON, of one dialect; also for help and version."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from ...wire.documents import is_aside, is_terminal, parsed
from ...wire.values import object_in
from ..calls.descriptions import described
from ..calls.documents import (
    answer_of,
    documents,
    error_of,
    errors_in,
    is_error,
    json_strictness,
    strictness_of_stream,
)
from ..calls.guards import may_be_asked
from ..calls.making import Call, Target, is_half_done, over, unsuccessful
from ..calls.mistaken import unknown_commands, unknown_flags
from ..judging import NotApplicable, NotVerified, finding
from ..results import Finding
from ..shapes.kinds import misfits, shown, summed_up
from ..shapes.murli import SUCCESS
from ..target import NO_SUCH_FLAG

_STATES = ("ok", "plan", "partial")
# Characters that some encoders escape needlessly.
_ODD = "murli-check-<ö&>"
# How many lines of a stream are read.
_MOST_LINES = 200


# -- of murli ------------------------------------------------------------------------------------


def _successes(target: Target) -> list[Call]:
    found = list(target.answered())
    if not found:
        raise NotVerified("no call that may be made worked; name one in a [[probe]] of the profile")
    return found


@over(Target.answers)
def failure(call: Call) -> str:
    """Every call ends, and a failed one has an error document."""
    code = call.evidence.exit_code
    if code is None or code < 0:
        return f"it ended by {call.ended}" if code else call.ended
    is_explained = code == 0 or call.error or is_half_done(call)
    return "" if is_explained else f"{call.ended}, and no error document"


@over(_successes)
def only_answer(call: Call) -> str:
    """Stdout is one object, preceded only by progress events, one per line."""
    found, noise = documents(call.evidence.stdout)
    ends = [each for each in found if is_terminal(each) and not is_error(each)]
    if not found:
        return "stdout is not a JSON document"
    if noise:
        return f"{noise} lines on stdout are not JSON"
    return f"{len(ends)} answers on stdout" if len(ends) > 1 else ""


@over(_successes)
def success_shape(call: Call) -> str | None:
    """The status, the schema version and the result are there and have their types."""
    document = answer_of(call.evidence)
    if document is None:
        return None
    state = document.get("status")
    trouble = summed_up(misfits(document, SUCCESS))
    if trouble:
        return trouble
    if state not in _STATES:
        return f"status is {shown(state)}"
    if "result" not in document and not (state == "plan" and "plan" in document):
        return "result is missing"
    agrees = (state == "partial") is (call.evidence.exit_code == call.dialect.partial)
    return "" if agrees else f"status is {shown(state)}, and {call.ended}"


def _for_programs(target: Target) -> Iterator[Call]:
    return (call for call in target.seen(target.answers()) if not asks_for_text(call))


def asks_for_text(call: Call) -> bool:
    """Return whether a call asked for text."""
    return ("--output", "text") in pairwise(call.evidence.argv)


@over(_for_programs)
def strict_on_both_streams(call: Call) -> str:
    """No NaN, no infinity and no duplicate key on either stream."""
    return strictness_of_stream(call.evidence.stdout) or strictness_of_stream(call.evidence.stderr)


def one_newline(target: Target) -> Iterator[Finding]:
    """Descriptions, answers and errors end with exactly one line feed."""
    describing = Call(target, "", target.run("describe"))
    for call in (describing, *target.answered(), *unknown_flags(target)):
        for stream in ("stdout", "stderr"):
            data = getattr(call.evidence, stream)
            if documents(data)[0] and data.rstrip().endswith(b"}"):
                one = data.endswith(b"}\n")
                trouble = "" if one else f"the document on {stream} does not end with one newline"
                yield finding(trouble, call.command, call.evidence)


def version(target: Target) -> Iterator[Finding]:
    """``tool_version`` is in every answer of the ``docs`` wire, and always the same."""
    document, evidence = described(target)
    known = document.get("tool_version", "")
    inner = object_in(document.get("capabilities")).get("tool_version", known)
    trouble = "" if inner == known else f"capabilities.tool_version is {shown(inner)}"
    yield finding(trouble, "", evidence)
    for call in target.seen():
        document = error_of(call.evidence) or answer_of(call.evidence) or {}
        if not (is_error(document) or document.get("status") in _STATES):
            continue
        found = document.get("tool_version")
        trouble = ""
        if found is None and (target.wire != "go" or known):
            trouble = "tool_version is missing"
        elif found is not None and found != known:
            trouble = f"tool_version is {shown(found)}, described as {shown(known)}"
        yield finding(trouble, call.command, call.evidence)


@over(_successes, warn=True, otherwise="no answer is a single document")
def indented(call: Call) -> str | None:
    """A single document is indented by two spaces per level."""
    if not isinstance(parsed(call.evidence.stdout), dict):
        return None
    return "" if re.match(rb'\{\r?\n  "', call.evidence.stdout) else "it is not indented"


def literal(target: Target) -> Iterator[Finding]:
    """An error quotes words of the call without escapes."""
    if any(each.is_group and not each.path for each in target.commands):
        call = Call(target, "", target.run(_ODD))
    elif target.safe:
        call = target.called(target.safe[0], f"--{_ODD}")
    else:
        raise NotVerified("no command is known that could repeat anything")
    if _ODD not in f"{call.error.get('message')} {call.error.get('suggestion')}":
        raise NotApplicable("it repeats nothing of its arguments")
    written = call.evidence.stderr + call.evidence.stdout
    trouble = "" if _ODD.encode() in written else "letters outside ASCII, <, > or & are escaped"
    yield finding(trouble, call.command, call.evidence, warn=True)


def _spoken(target: Target) -> list[Call]:
    return target.seen(target.answers(), unknown_flags(target), unknown_commands(target))


@over(_spoken, warn=True)
def dialect(call: Call) -> str | None:
    """All answers have a message and all errors a status, or none of them."""
    document = error_of(call.evidence) or answer_of(call.evidence)
    if document is None or is_aside(document):
        return None
    if is_error(document):
        found = "docs" if "status" in document else "go"
    elif document.get("status") not in _STATES or "schema_version" not in document:
        return None
    else:
        found = "docs" if "message" in document else "go"
    other = f"a document of the {found} wire, errors are of the {call.target.wire} wire"
    return "" if found == call.target.wire else other


def null_device(target: Target) -> Iterator[Finding]:
    """An error is a document even if stdout is the null device."""
    if not errors_in(target.run(NO_SUCH_FLAG).stderr):
        raise NotVerified("a mistake has no error on stderr")
    evidence = target.run(NO_SUCH_FLAG, event="null-device")
    there = bool(errors_in(evidence.stderr))
    yield finding("" if there else "no error document on stderr", "", evidence)


# -- of envelopes --------------------------------------------------------------------------------


@over(Target.all_calls)
def one_document(call: Call) -> str | None:
    """An answer other than a stream is one object on stdout, for success and failure."""
    return _surplus(call.evidence.stdout) if call.kind == "answer" else None


def _surplus(stdout: bytes) -> str:
    if not stdout.strip():
        return "stdout is empty"
    whole = parsed(stdout)
    if isinstance(whole, dict):
        return ""
    if whole is not None:
        return "stdout is JSON, and no object"
    lines = [parsed(each) for each in stdout.splitlines()[:_MOST_LINES] if each.strip()]
    found = sum(isinstance(each, dict) for each in lines)
    if found > 1:
        return f"stdout has {found} documents"
    return "stdout has more than the document" if found else "stdout is not JSON"


@over(Target.all_calls)
def strict_on_stdout(call: Call) -> str | None:
    """No NaN, no duplicate key, no lone surrogate and no byte order mark."""
    stdout = call.evidence.stdout
    pieces = [stdout] if parsed(stdout) is not None else stdout.splitlines()[:_MOST_LINES]
    found = [each for each in pieces if isinstance(parsed(each), (dict, list))]
    return next(filter(None, map(json_strictness, found)), "") if found else None


@over(Target.all_calls)
def line_ends(call: Call) -> str | None:
    """Stdout ends with a line feed, and lines have no carriage returns."""
    stdout = call.evidence.stdout
    if b"\r\n" in stdout:
        return "lines end with a carriage return"
    return ("" if stdout.endswith(b"\n") else "the last line has no end") if stdout else None


def _no_envelope(call: Call) -> str:
    """Return why stdout is not an envelope; its content is checked elsewhere."""
    if call.document is None or not is_terminal(call.document) or not call.evidence.stdout.strip():
        return "there is no envelope on stdout"
    return _surplus(call.evidence.stdout)


def help_envelope(target: Target) -> Iterator[Finding]:
    """Help without a terminal is an envelope on stdout, and text on stderr."""
    asked = [each for each in target.commands if may_be_asked(target, each, "--help")]
    paths = {each.path: None for each in asked} | {(): None}
    for path in paths:
        call = target.call_of(target.run(*path, "--help"), " ".join(path))
        if call is None or call.exit_code != 0:
            continue
        trouble = _no_envelope(call)
        if not trouble and call.meta.get("help") is not True:
            trouble = "meta.help is not true"
        if not trouble and not call.evidence.stderr.strip():
            trouble = "there is no text on stderr"
        yield finding(trouble, call.command, call.evidence)


def version_envelope(target: Target) -> Iterator[Finding]:
    """``--version`` returns an envelope."""
    call = target.made("--version")
    if call is None or call.exit_code != 0:
        raise NotVerified("there is no --version")
    yield finding(_no_envelope(call), "", call.evidence)


def bare_envelope(target: Target) -> Iterator[Finding]:
    """The tool without a command returns its help."""
    target.listed()
    if not target.is_group:
        raise NotApplicable("the tool is a command itself, or does not say that it is none")
    call = Call(target, "", target.run())
    shows = target.call_of(call.evidence) is not None
    trouble = unsuccessful(call) or ("" if shows else f"{call.ended} instead of exit 0")
    yield finding(trouble or _no_envelope(call), "", call.evidence)


@over(Target.all_calls)
def asking_no_trace(call: Call) -> str | None:
    """Calls for help, the version or a schema create or change no file."""
    asks = call.kind in ("help", "version", "bare") or "--schema" in call.words
    return call.changed if asks else None
