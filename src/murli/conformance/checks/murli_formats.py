"""How a murli tool is asked for an answer: ``--output``, ``--agent``, and where they may stand."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...client.catalogue import Command
from ...client.documents import is_aside, is_terminal, parsed
from ..checking import MURLI, NotApplicable, check, judged
from ..results import Evidence, Finding
from ..target import Target
from .calls import has_lines
from .murli_calls import described, formats, named, needed, working
from .murli_shapes import documents

_TEXTS = re.compile(rb'"(?:[^"\\]|\\.)*"')


def _asked(target: Target, form: str) -> Iterator[tuple[Command, Evidence]]:
    """Call what may be called for one format."""
    document, _ = described(target)
    if form not in formats(document):
        raise NotApplicable(f"it has no {form} format")
    for command in working(target, "output"):
        yield command, target.run(*target.words(command, "--output", form))


def _unaccepted(evidence: Evidence) -> str:
    return "" if evidence.exit_code == 0 else f"{evidence.ended} instead of exit 0"


@check(
    "murli.output.json",
    "--output json gives exactly one document",
    level=2,
    contracts=MURLI,
    requirements=("2", "16.4"),
)
def as_json(target: Target) -> Iterator[Finding]:
    """Stdout is one object, without progress, where nothing comes before the answer otherwise."""
    found = []
    for command, evidence in _asked(target, "json"):
        if has_lines(target.run(*target.words(command))):
            continue  # what writes events is never one document
        trouble = _unaccepted(evidence)
        if not trouble and not isinstance(parsed(evidence.stdout), dict):
            trouble = "stdout is not one JSON document"
        found.append(judged(trouble, named(command), evidence))
    yield from needed(found, "everything that may be run writes more than its answer")


@check(
    "murli.output.ndjson",
    "--output ndjson gives one document a line",
    level=2,
    contracts=MURLI,
    requirements=("2", "3.2"),
)
def as_ndjson(target: Target) -> Iterator[Finding]:
    """Every line is an object, and has no spaces but those within texts."""
    for command, evidence in _asked(target, "ndjson"):
        lines = evidence.stdout.splitlines()
        trouble = _unaccepted(evidence)
        if not trouble and not lines:
            trouble = "stdout is empty"
        elif not trouble and not all(isinstance(parsed(each), dict) for each in lines):
            trouble = "a line is no JSON object"
        yield judged(trouble, named(command), evidence)
        if not trouble and b" " in _TEXTS.sub(b"", evidence.stdout):
            yield judged("spaces between keys and values", named(command), evidence, warn=True)


@check(
    "murli.output.text",
    "--output text gives text",
    level=3,
    contracts=MURLI,
    requirements=("2", "3.2"),
)
def as_text(target: Target) -> Iterator[Finding]:
    """There is no envelope on stdout, also where ``--agent`` stands beside it."""
    for command, evidence in _asked(target, "text"):
        beside = target.run(*target.words(command, "--agent", "--output", "text"))
        for each in (evidence, beside) if beside.exit_code == 0 else (evidence,):
            trouble = _unaccepted(each)
            if not trouble and any(map(is_terminal, documents(each.stdout)[0])):
                trouble = "an envelope where text was asked for"
            yield judged(trouble, named(command), each)


@check(
    "murli.output.agent-flag",
    "--agent is understood behind the command",
    level=2,
    contracts=MURLI,
    requirements=("8", "2"),
)
def agent_flag(target: Target) -> Iterator[Finding]:
    """With ``--agent`` a call is answered as it is without."""
    for command in working(target, "agent"):
        usual = target.run(*target.words(command))
        evidence = target.run(*target.words(command, "--agent"))
        yield judged(_difference(evidence, usual), named(command), evidence)


@check(
    "murli.output.flag-order",
    "The contract's options may stand before the command",
    level=3,
    contracts=MURLI,
    requirements=("8",),
)
def flag_order(target: Target) -> Iterator[Finding]:
    """``--agent`` and ``--output`` mean the same before the command as behind it."""
    found = []
    for command in working(target, "output"):
        words = target.words(command)
        for flags in (("--agent",), ("--output", "ndjson")):
            usual = target.run(*words, *flags)
            if command.path and usual.exit_code == 0:
                evidence = target.run(*flags, *words)
                found.append(judged(_difference(evidence, usual), named(command), evidence))
    if not found:
        raise NotApplicable("there is no command they could stand before")
    yield from found


def _difference(evidence: Evidence, usual: Evidence) -> str:
    """Tell how an answer differs from *usual*, in its end and in its form; its data may change."""
    if evidence.exit_code != usual.exit_code:
        return f"{evidence.ended}, {usual.ended} otherwise"
    if _form(evidence) != _form(usual):
        return "it is answered in another form"
    return ""


def _form(evidence: Evidence) -> tuple[int, bool]:
    found, _ = documents(evidence.stdout)
    ends = sum(1 for each in found if not is_aside(each))
    return ends, evidence.stdout.count(b"\n") > len(found)
