"""How a format is chosen: the option for it, ``--agent``, and where they may stand."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...wire.catalogue import Command
from ...wire.documents import is_aside, is_terminal, parsed
from ..calls.descriptions import formats
from ..calls.documents import documents, has_lines
from ..calls.making import Call, Target, named, over, same, unsuccessful
from ..calls.mistaken import format_flag
from ..judging import NotApplicable, finding, or_not_applicable
from ..results import Evidence, Finding

_TEXTS = re.compile(rb'"(?:[^"\\]|\\.)*"')


def _asked(target: Target, form: str) -> Iterator[tuple[Command, Call]]:
    """Call every command that may be run with one format."""
    if form not in formats(target):
        raise NotApplicable(f"it has no {form} format")
    for command in target.working("output"):
        yield command, target.called(command, "--output", form)


def _as_single(target: Target) -> Iterator[Call]:
    for command, call in _asked(target, "json"):
        # A command that writes events never writes a single document.
        if not has_lines(target.called(command).evidence):
            yield call


@over(_as_single, otherwise="everything that may be run writes more than its answer")
def as_json(call: Call) -> str:
    """Stdout is one object without progress, unless events precede the usual answer too."""
    is_one = isinstance(parsed(call.evidence.stdout), dict)
    return unsuccessful(call) or ("" if is_one else "stdout is not one JSON document")


def as_ndjson(target: Target) -> Iterator[Finding]:
    """Every line is an object without spaces outside of strings."""
    for _, call in _asked(target, "ndjson"):
        stdout = call.evidence.stdout
        trouble = unsuccessful(call)
        if not trouble and not stdout.splitlines():
            trouble = "stdout is empty"
        elif not (trouble or all(isinstance(parsed(each), dict) for each in stdout.splitlines())):
            trouble = "a line is not a JSON object"
        yield finding(trouble, call.command, call.evidence)
        if not trouble and b" " in _TEXTS.sub(b"", stdout):
            yield finding("spaces between keys and values", call.command, call.evidence, warn=True)


def _as_text(target: Target) -> Iterator[Call]:
    for command, call in _asked(target, "text"):
        beside = target.called(command, "--agent", "--output", "text")
        yield from (call, beside) if beside.evidence.exit_code == 0 else (call,)


@over(_as_text)
def as_text(call: Call) -> str:
    """Stdout is not an envelope, also with ``--agent``."""
    has_envelope = any(map(is_terminal, documents(call.evidence.stdout)[0]))
    return unsuccessful(call) or ("an envelope where text was asked for" if has_envelope else "")


def agent_flag(target: Target) -> Iterator[Finding]:
    """A call with ``--agent`` is answered like one without."""
    for command in target.working("agent"):
        usual, call = target.called(command), target.called(command, "--agent")
        yield finding(_difference(call.evidence, usual.evidence), call.command, call.evidence)


def flag_order(target: Target) -> Iterator[Finding]:
    """``--agent`` and ``--output`` mean the same before and after the command."""
    return or_not_applicable(_reordered(target), "there is no command they could stand before")


def _reordered(target: Target) -> Iterator[Finding]:
    for command in target.working("output"):
        for flags in (("--agent",), ("--output", "ndjson")):
            usual = target.called(command, *flags).evidence
            if command.path and usual.exit_code == 0:
                evidence = target.run(*flags, *target.words(command))
                yield finding(_difference(evidence, usual), named(command), evidence)


def _difference(evidence: Evidence, usual: Evidence) -> str:
    """Return how an answer differs from *usual* in exit code and form; data may change."""
    if evidence.exit_code != usual.exit_code:
        return f"{evidence.ended}, {usual.ended} otherwise"
    return "" if _form(evidence) == _form(usual) else "it is answered in another form"


def _form(evidence: Evidence) -> tuple[int, bool]:
    found, _ = documents(evidence.stdout)
    ends = sum(1 for each in found if not is_aside(each))
    return ends, evidence.stdout.count(b"\n") > len(found)


def argument_order(target: Target) -> Iterator[Finding]:
    """The envelope's option for the format has the same effect in any position."""
    for command in target.readers():
        flag = format_flag(target, command)
        if not flag or target.entry_of(named(command)).get("option_placement") == "strict":
            continue
        words = target.words(command)
        behind = target.made(*words, flag, "json")
        before = target.made(flag, "json", *words)
        if behind is None or before is None:
            continue
        trouble = ""
        if before.exit_code != behind.exit_code:
            trouble = f"before it {before.ended}, behind it {behind.ended}"
        elif target.is_steady(words) and not same(before.data, behind.data):
            trouble = "before it the data is another than behind it"
        yield finding(trouble, named(command), before.evidence)
