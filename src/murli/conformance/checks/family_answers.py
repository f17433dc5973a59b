"""How an answer is written, and what is answered when nothing is done: help, version, nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ...client.documents import parsed
from ..checking import NotApplicable, NotVerified, check, judged
from ..results import Finding
from ..target import FAMILY, Target
from .family_calls import Call, all_calls, call_of, is_envelope, listed, made, seen
from .family_danger import may_be_asked

# How many lines of a stream are looked at.
_MOST_LINES = 200
_MARK = b"\xef\xbb\xbf"  # of UTF-8, as some systems put it before a text


@check(
    "family.answer.one-document",
    "stdout is one JSON document, and nothing else",
    level=1,
    contracts=FAMILY,
    requirements=("F-003", "F-006"),
    in_hindsight=True,
)
def one_document(target: Target) -> Iterator[Finding]:
    """An answer that is no stream is one object on stdout, whether it succeeds or fails."""
    for call in all_calls(target):
        if call.kind == "answer":
            yield judged(_surplus(call.evidence.stdout), call.command, call.evidence)


def _surplus(stdout: bytes) -> str:
    if not stdout.strip():
        return "stdout is empty"
    whole = parsed(stdout)
    if isinstance(whole, dict):
        return ""
    if whole is not None:
        return "stdout is JSON, and no object"
    lines = [parsed(each) for each in stdout.splitlines()[:_MOST_LINES] if each.strip()]
    documents = sum(isinstance(each, dict) for each in lines)
    if documents > 1:
        return f"stdout has {documents} documents"
    return "stdout has more than the document" if documents else "stdout is no JSON"


@check(
    "family.answer.strict-json",
    "Every document can be read by any JSON parser",
    level=1,
    contracts=FAMILY,
    requirements=("F-003", "F-016"),
    in_hindsight=True,
)
def strict_json(target: Target) -> Iterator[Finding]:
    """No NaN, no key twice, no half of a letter, and no mark before the text."""
    for call in all_calls(target):
        stdout = call.evidence.stdout
        pieces = [stdout] if parsed(stdout) is not None else stdout.splitlines()[:_MOST_LINES]
        documents = [each for each in pieces if isinstance(parsed(each), (dict, list))]
        if documents:
            troubles = (trouble for each in documents if (trouble := strictness(each)))
            yield judged(next(troubles, ""), call.command, call.evidence)


class _Loose(ValueError):
    """What a strict parser would not read."""


def strictness(text: bytes) -> str:
    """Tell what in *text*, a document that can be read, not every parser would read."""
    if text.startswith(_MARK):
        return "there is a byte-order mark before it"

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            raise _Loose("a key is there twice")
        return found

    def never(constant: str) -> Any:
        raise _Loose(f"{constant} is no number in JSON")

    try:
        value = json.loads(
            text.decode("utf-8", "replace"), object_pairs_hook=once, parse_constant=never
        )
        json.dumps(value, ensure_ascii=False).encode()
    except _Loose as error:
        return str(error)
    except UnicodeEncodeError:
        return "half of a surrogate pair stands alone"
    except (ValueError, RecursionError):
        return "it is nested too deep, or a number is too long"
    return ""


@check(
    "family.answer.newline",
    "Lines end as lines do everywhere",
    level=3,
    contracts=FAMILY,
    requirements=("F-072",),
    in_hindsight=True,
)
def ends_with_newline(target: Target) -> Iterator[Finding]:
    """What is written on stdout ends with a line feed, and no line with anything more."""
    for call in all_calls(target):
        stdout = call.evidence.stdout
        if not stdout:
            continue
        trouble = "" if stdout.endswith(b"\n") else "the last line has no end"
        if b"\r\n" in stdout:
            trouble = "lines end with a carriage return"
        yield judged(trouble, call.command, call.evidence)


# -- what is asked without doing anything ---------------------------------------------------------


def _envelope_alone(call: Call) -> str:
    """Tell why stdout is no envelope; what is wrong within it is told elsewhere."""
    if not is_envelope(call.document) or not call.evidence.stdout.strip():
        return "there is no envelope on stdout"
    return _surplus(call.evidence.stdout)


@check(
    "family.help.envelope",
    "Help is an envelope on stdout and a text on stderr",
    level=1,
    contracts=FAMILY,
    requirements=("F-048",),
)
def help_is_an_envelope(target: Target) -> Iterator[Finding]:
    """Who asks for help without a terminal gets a document that says so, and the text aside."""
    names = {
        " ".join(each.path): each.path
        for each in target.commands
        if may_be_asked(target, each, "--help")
    }
    names.setdefault("", ())
    for name, path in names.items():
        call = made(target, *path, "--help")
        if call is None or call.exit_code != 0:
            continue
        trouble = _envelope_alone(call)
        if not trouble and call.meta.get("help") is not True:
            trouble = "meta.help is not true"
        if not trouble and not call.evidence.stderr.strip():
            trouble = "there is no text on stderr"
        yield judged(trouble, name, call.evidence)


@check(
    "family.version.envelope",
    "The version comes in an envelope",
    level=2,
    contracts=FAMILY,
    requirements=("F-003", "F-068"),
)
def version_is_an_envelope(target: Target) -> Iterator[Finding]:
    """``--version`` is answered like anything else."""
    call = made(target, "--version")
    if call is None or call.exit_code != 0:
        raise NotVerified("there is no --version")
    yield judged(_envelope_alone(call), "", call.evidence)


@check(
    "family.bare.envelope",
    "A call without a command is answered, and ends with 0",
    level=2,
    contracts=FAMILY,
    requirements=("F-047", "F-068"),
)
def bare_call(target: Target) -> Iterator[Finding]:
    """The tool alone, where it has commands, is a call for help."""
    listed(target)
    if not target.is_group:
        raise NotApplicable("the tool is a command itself, or does not say that it is none")
    evidence = target.run()
    call = call_of(target, evidence)
    if call is None or call.exit_code != 0:
        yield judged(f"{evidence.ended} instead of exit 0", "", evidence)
    else:
        yield judged(_envelope_alone(call), "", evidence)


@check(
    "family.asking.no-trace",
    "Asking for help, the version or a schema leaves no trace",
    level=2,
    contracts=FAMILY,
    requirements=("F-068", "F-076"),
    in_hindsight=True,
)
def asking_leaves_no_trace(target: Target) -> Iterator[Finding]:
    """Nothing is made or changed for who only asks."""
    all_calls(target)
    for call in seen(target):
        if call.kind in ("help", "version", "bare") or "--schema" in call.words:
            changed = ", ".join(call.evidence.changed[:3])
            yield judged(f"it changed {changed}" if changed else "", call.command, call.evidence)
