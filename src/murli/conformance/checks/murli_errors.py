"""Error documents of a murli tool, wherever one was met: what is in them, and where they stand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...client.documents import is_terminal
from ..checking import MURLI, NotVerified, check, judged
from ..results import Evidence, Finding
from ..target import Target
from .murli_calls import name_of, usage_errors
from .murli_shapes import ERROR, documents, error_of, errors_in, misfits, shown, summed_up

# What a tool leaves out rather than saying nothing with it.
_LEFT_OUT_IF_EMPTY = ("suggestion", "valid_values", "field", "doc_url")


def _errors(target: Target) -> Iterator[tuple[str, Evidence, dict[str, Any]]]:
    """Give every error that was met, with the command."""
    for _ in usage_errors(target):  # so that there are some
        pass
    met = False
    for evidence in target.prober.seen:
        error = error_of(evidence)
        if error is not None:
            met = True
            yield name_of(target, evidence), evidence, error
    if not met:
        raise NotVerified("no error document was met")


@check(
    "murli.error.shape",
    "Error documents are whole",
    level=1,
    contracts=MURLI,
    requirements=("3.3", "4.1"),
    in_hindsight=True,
)
def shape(target: Target) -> Iterator[Finding]:
    """Code, error, message, recoverable and the schema version are there, of their kinds."""
    for name, evidence, error in _errors(target):
        trouble = summed_up(misfits(error, ERROR))
        if not trouble and error.get("status", "error") != "error":
            trouble = f"status is {shown(error['status'])}"
        yield judged(trouble, name, evidence)


@check(
    "murli.error.exit-code",
    "The exit code is that of the document",
    level=1,
    contracts=MURLI,
    requirements=("3.3", "14"),
    in_hindsight=True,
)
def exit_code(target: Target) -> Iterator[Finding]:
    """A process ends with the code its error document has."""
    for name, evidence, error in _errors(target):
        code = error.get("code")
        if type(code) is not int or evidence.timed_out:
            continue
        trouble = f"the document says {code}, the process {evidence.ended}"
        yield judged("" if code == evidence.exit_code else trouble, name, evidence)


@check(
    "murli.error.stream",
    "Errors are on stderr",
    level=1,
    contracts=MURLI,
    requirements=("3.3", "14", "16.11"),
    in_hindsight=True,
)
def stream(target: Target) -> Iterator[Finding]:
    """An error is on stderr, and stdout is empty, unless a stream had begun there."""
    for name, evidence, _ in _errors(target):
        trouble = ""
        if not errors_in(evidence.stderr):
            trouble = "the error is not on stderr"
        elif evidence.stdout.strip():
            found, _ = documents(evidence.stdout)
            has_begun = any(not is_terminal(each) for each in found)
            trouble = "" if has_begun else "an error, and stdout is not empty"
        yield judged(trouble, name, evidence)


@check(
    "murli.error.range",
    "Exit codes are those of the contract",
    level=1,
    contracts=MURLI,
    requirements=("1.1",),
    in_hindsight=True,
)
def exit_range(target: Target) -> Iterator[Finding]:
    """Whatever ends by itself with an error document ends with 1 to 9."""
    for name, evidence, _ in _errors(target):
        code = evidence.exit_code
        if code is not None and code > 0:
            yield judged("" if code < 10 else f"exit code {code}", name, evidence)


@check(
    "murli.error.instructive",
    "Who made a mistake is told what to do",
    level=2,
    contracts=MURLI,
    requirements=("5.3",),
)
def instructive(target: Target) -> Iterator[Finding]:
    """The errors of wrong calls carry a suggestion."""
    for name, evidence, error in usage_errors(target):
        yield judged("" if error.get("suggestion") else "no suggestion", name, evidence)


@check(
    "murli.error.recoverable",
    "Mistakes can be put right",
    level=2,
    contracts=MURLI,
    requirements=("5.3", "4.2"),
)
def recoverable(target: Target) -> Iterator[Finding]:
    """The errors of wrong calls are recoverable."""
    for name, evidence, error in usage_errors(target):
        if isinstance(error.get("recoverable"), bool):
            trouble = "" if error["recoverable"] else "a wrong call, and not recoverable"
            yield judged(trouble, name, evidence)


@check(
    "murli.error.omits-empty",
    "Error documents carry nothing that is empty",
    level=3,
    contracts=MURLI,
    requirements=("3.3",),
    in_hindsight=True,
)
def omits_empty(target: Target) -> Iterator[Finding]:
    """What an error has nothing to say about is left out of it."""
    for name, evidence, error in _errors(target):
        empty = [key for key in _LEFT_OUT_IF_EMPTY if key in error and error[key] in ("", [], None)]
        trouble = f"{', '.join(empty)} is empty" if empty else ""
        yield judged(trouble, name, evidence, warn=True)
