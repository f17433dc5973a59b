"""What a murli tool answers when all goes well: one document, whole, strict, of one dialect."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...client.documents import is_aside, is_terminal, parsed
from ..checking import MURLI, NotApplicable, NotVerified, check, judged
from ..results import Evidence, Finding
from ..target import NO_SUCH_FLAG, Target
from .murli_calls import (
    PARTIAL,
    answered,
    asks_for_text,
    described,
    name_of,
    named,
    needed,
    unknown_commands,
    unknown_flags,
)
from .murli_shapes import (
    SUCCESS,
    answer_of,
    documents,
    error_of,
    errors_in,
    is_error,
    laxity,
    misfits,
    shown,
    summed_up,
)

_STATES = ("ok", "plan", "partial")
# Letters and signs that some encoders escape without need.
_ODD = "murli-check-<ö&>"


def _successes(target: Target) -> Iterator[tuple[str, Evidence]]:
    found = False
    for name, evidence in answered(target):
        found = True
        yield name, evidence
    if not found:
        raise NotVerified("no call that may be made worked; name one in a profile")


@check(
    "murli.answer.failure",
    "A call that fails says why",
    level=1,
    contracts=MURLI,
    requirements=("3.3", "5.3"),
)
def failure(target: Target) -> Iterator[Finding]:
    """A call that may be made ends, and not badly without an error document."""
    for name, evidence in target.answers():
        trouble = ""
        if evidence.exit_code is None or evidence.exit_code < 0:
            trouble = f"it ended by {evidence.ended}" if evidence.exit_code else evidence.ended
        elif evidence.exit_code and error_of(evidence) is None:
            state = (answer_of(evidence) or {}).get("status")
            if evidence.exit_code != PARTIAL or state != "partial":
                trouble = f"{evidence.ended}, and no error document"
        yield judged(trouble, name, evidence)


@check(
    "murli.answer.one-document",
    "An answer is one document and nothing else",
    level=1,
    contracts=MURLI,
    requirements=("3.2", "3.5", "17.38"),
)
def one_document(target: Target) -> Iterator[Finding]:
    """Stdout is one object; before it only progress and events, one a line."""
    for name, evidence in _successes(target):
        found, noise = documents(evidence.stdout)
        ends = [each for each in found if is_terminal(each) and not is_error(each)]
        trouble = ""
        if not found:
            trouble = "stdout is no JSON document"
        elif noise:
            trouble = f"{noise} lines on stdout are not JSON"
        elif len(ends) > 1:
            trouble = f"{len(ends)} answers on stdout"
        yield judged(trouble, name, evidence)


@check(
    "murli.success.shape",
    "Answers are whole",
    level=1,
    contracts=MURLI,
    requirements=("3.2", "3.4"),
)
def success_shape(target: Target) -> Iterator[Finding]:
    """A status, the schema version and the result are there, of their kinds."""
    for name, evidence in _successes(target):
        document = answer_of(evidence)
        if document is None:
            continue
        trouble = summed_up(misfits(document, SUCCESS))
        state = document.get("status")
        if not trouble and state not in _STATES:
            trouble = f"status is {shown(state)}"
        if (
            not trouble
            and "result" not in document
            and not (state == "plan" and "plan" in document)
        ):
            trouble = "result is missing"
        if not trouble and (state == "partial") is not (evidence.exit_code == PARTIAL):
            trouble = f"status is {shown(state)}, and {evidence.ended}"
        yield judged(trouble, name, evidence)


@check(
    "murli.answer.strict-json",
    "Every document is strict JSON",
    level=1,
    contracts=MURLI,
    requirements=("3.1",),
    in_hindsight=True,
)
def strict_json(target: Target) -> Iterator[Finding]:
    """No NaN, no infinity, no key twice in one object, on either stream."""
    for _ in target.answers():
        pass
    for evidence in target.prober.seen:
        if not asks_for_text(evidence):
            trouble = laxity(evidence.stdout) or laxity(evidence.stderr)
            yield judged(trouble, name_of(target, evidence), evidence)


@check(
    "murli.answer.newline",
    "A document ends with one newline",
    level=2,
    contracts=MURLI,
    requirements=("3.1",),
)
def newline(target: Target) -> Iterator[Finding]:
    """Descriptions, answers and errors end with exactly one line feed."""
    calls = [("", target.run("describe")), *answered(target), *unknown_flags(target)]
    for name, evidence in calls:
        for stream, data in (("stdout", evidence.stdout), ("stderr", evidence.stderr)):
            found, _ = documents(data)
            if found and data.rstrip().endswith(b"}"):
                one = data.endswith(b"}\n")
                trouble = "" if one else f"the document on {stream} does not end with one newline"
                yield judged(trouble, name, evidence)


@check(
    "murli.answer.version",
    "The version of the tool is the same everywhere",
    level=3,
    contracts=MURLI,
    requirements=("3.2", "16.3"),
    in_hindsight=True,
)
def version(target: Target) -> Iterator[Finding]:
    """``tool_version`` is in every answer of the documented wire, and never another one."""
    document, evidence = described(target)
    told = document.get("tool_version", "")
    able = document.get("capabilities")
    inner = able.get("tool_version", told) if isinstance(able, dict) else told
    trouble = "" if inner == told else f"capabilities.tool_version is {shown(inner)}"
    yield judged(trouble, "", evidence)
    for evidence in target.prober.seen:
        document = error_of(evidence) or answer_of(evidence) or {}
        if not (is_error(document) or document.get("status") in _STATES):
            continue
        said = document.get("tool_version")
        trouble = ""
        if said is None and (target.wire != "go" or told):
            trouble = "tool_version is missing"
        elif said is not None and said != told:
            trouble = f"tool_version is {shown(said)}, described as {shown(told)}"
        yield judged(trouble, name_of(target, evidence), evidence)


@check(
    "murli.answer.indented",
    "An answer is indented where nothing else was asked for",
    level=3,
    contracts=MURLI,
    requirements=("3.1", "3.2"),
)
def indented(target: Target) -> Iterator[Finding]:
    """A single document is spread over lines, by two spaces a level."""
    found = []
    for name, evidence in _successes(target):
        if isinstance(parsed(evidence.stdout), dict):
            is_so = bool(re.match(rb'\{\r?\n  "', evidence.stdout))
            found.append(judged("" if is_so else "it is not indented", name, evidence, warn=True))
    yield from needed(found, "no answer is a single document")


@check(
    "murli.answer.literal",
    "Letters and signs are written as they are",
    level=3,
    contracts=MURLI,
    requirements=("3.1", "17.19"),
)
def literal(target: Target) -> Iterator[Finding]:
    """What an error repeats of a call is not escaped."""
    if any(each.is_group and not each.path for each in target.commands):
        evidence, name = target.run(_ODD), ""
    elif target.safe:
        command = target.safe[0]
        evidence = target.run(*target.words(command, f"--{_ODD}"))
        name = named(command)
    else:
        raise NotVerified("no command is known that could repeat anything")
    error = error_of(evidence)
    if error is None or _ODD not in f"{error.get('message')} {error.get('suggestion')}":
        raise NotApplicable("it repeats nothing of what it is given")
    written = evidence.stderr + evidence.stdout
    trouble = "" if _ODD.encode() in written else "letters outside ASCII, <, > or & are escaped"
    yield judged(trouble, name, evidence, warn=True)


@check(
    "murli.answer.wire",
    "One dialect is spoken throughout",
    level=3,
    contracts=MURLI,
    requirements=("15", "16.1", "16.13"),
    in_hindsight=True,
)
def wire(target: Target) -> Iterator[Finding]:
    """Answers with a message and errors with a status go together, or neither."""
    for _ in (*target.answers(), *unknown_flags(target), *unknown_commands(target)):
        pass
    for evidence in target.prober.seen:
        document = error_of(evidence) or answer_of(evidence)
        if document is None or is_aside(document):
            continue
        found = _wire(document)
        if found:
            other = f"a document of the {found} wire, errors are of the {target.wire} wire"
            trouble = "" if found == target.wire else other
            yield judged(trouble, name_of(target, evidence), evidence, warn=True)


def _wire(document: dict[str, object]) -> str:
    """Tell the dialect of a document, ``""`` where it does not show."""
    if is_error(document):
        return "docs" if "status" in document else "go"
    if document.get("status") not in _STATES or "schema_version" not in document:
        return ""
    return "docs" if "message" in document else "go"


@check(
    "murli.output.null-device",
    "Nobody reads as a person from the null device",
    level=3,
    contracts=MURLI,
    requirements=("2", "17.6"),
)
def null_device(target: Target) -> Iterator[Finding]:
    """An error is a document also when stdout is the null device."""
    if not errors_in(target.run(NO_SUCH_FLAG).stderr):
        raise NotVerified("a mistake gives no error on stderr")
    evidence = target.run(NO_SUCH_FLAG, event="null-device")
    there = bool(errors_in(evidence.stderr))
    yield judged("" if there else "no error document on stderr", "", evidence)
