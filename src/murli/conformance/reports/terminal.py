"""A report as text: the problems, and how to reproduce them."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from ..results import (
    FAIL,
    LEVELS,
    NOT_APPLICABLE,
    NOT_VERIFIED,
    PASS,
    WARN,
    Evidence,
    Finding,
    Report,
    Result,
)
from . import wording

_WIDTH = 100
# How many findings of one check are printed, and how much of one stream.
_MOST_FINDINGS = 3
_MOST_NAMED = 8
_MOST_BYTES = 600
_MOST_LINES = 8
# A check may pass a very long word on purpose.
_LONGEST_LINE = 2000
_TITLES = {
    FAIL: "Failures",
    WARN: "Warnings",
    NOT_VERIFIED: "Not verified",
    NOT_APPLICABLE: "Not applicable",
    PASS: "Passes",
}


def text(report: Report, *, verbose: bool = False, ascii: bool = False) -> str:
    """Return the report as plain lines; with *verbose* every check and finding.

    The text has no control characters and no colours; with *ascii* it is ASCII.
    """
    lines = [*_Table(report, verbose, ascii).lines()]
    return "\n".join(wording.visible(line, ascii=ascii) for line in lines) + "\n"


def reproduction(evidence: Evidence, *, ascii: bool = False) -> list[str]:
    """Return the lines that describe one process: its command line, its end, its output."""
    line = wording.shell_line(evidence, ascii=ascii)
    if len(line) > _LONGEST_LINE:
        line = f"{line[:_LONGEST_LINE]} [{len(line) - _LONGEST_LINE} characters more]"
    lines = [f"$ {line}"]
    for name, fact in wording.facts(evidence):
        lines += _labelled(name, wording.visible(fact, ascii=ascii))
    for name, data in (("stdout", evidence.stdout), ("stderr", evidence.stderr)):
        lines += _output(name, data, ascii)
    return lines


def _output(name: str, data: bytes, ascii: bool) -> Iterator[str]:
    if not data:
        yield f"{name:8}(nothing)"
        return
    text, more = wording.excerpt(data, _MOST_BYTES)
    whole = wording.visible(text.removesuffix("\n"), lines=True, ascii=ascii).expandtabs(8)
    rows = [row for line in whole.split("\n") for row in _chopped(line, _WIDTH - 20)]
    for number, row in enumerate(rows[:_MOST_LINES]):
        yield f"{'' if number else name:8}{row}".rstrip()
    if more or len(rows) > _MOST_LINES:
        yield f"{'':8}[cut; {len(data)} bytes in all]"


def _chopped(line: str, width: int) -> Iterator[str]:
    """Yield *line* in pieces of at most *width* columns, without losing a character."""
    start = taken = 0
    for at, character in enumerate(line):
        wide = wording.columns(character)
        if taken + wide > width:
            yield line[start:at]
            start, taken = at, 0
        taken += wide
    yield line[start:]


def _wrapped(text: str, width: int) -> list[str]:
    """Return prose in lines of at most *width* columns, wrapped at spaces if there are any."""
    lines = textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False)
    return [piece for line in lines or [""] for piece in _chopped(line, width)]


def _labelled(name: str, text: str) -> list[str]:
    rows = _wrapped(text, _WIDTH - 20)
    return [f"{'' if number else name:8}{row}" for number, row in enumerate(rows)]


class _Table:
    """The lines of one report."""

    def __init__(self, report: Report, verbose: bool, ascii: bool) -> None:
        self._report = report
        self._verbose = verbose
        self._ascii = ascii
        self._symbols = wording.ASCII_SYMBOLS if ascii else wording.SYMBOLS
        shown = (PASS, FAIL, WARN) if verbose else (FAIL, WARN)
        ids = [each.id for each in report.results if each.status in shown]
        self._id_width = max((len(self._safe(each)) for each in ids), default=0)

    def lines(self) -> Iterator[str]:
        yield from self._head()
        for status in (FAIL, WARN):
            if self._report.count(status):
                yield from self._listed(status)
        for status in (NOT_VERIFIED, NOT_APPLICABLE):
            yield from self._grouped(status)
        if self._verbose:
            yield from self._listed(PASS)
        yield ""
        yield wording.summary(self._report)
        seconds = self._report.duration_ms / 1000
        yield f"{self._report.processes} processes in {seconds:.1f} s"

    def _listed(self, status: str) -> Iterator[str]:
        """Yield the results of *status* in the order of their levels."""
        yield ""
        yield f"{_TITLES[status]} ({self._report.count(status)})"
        for result in wording.by_urgency(self._report.results):
            if result.status == status:
                yield from self._check(result)

    def _grouped(self, status: str) -> Iterator[str]:
        """Yield a line for each reason why checks are of *status*, with their ids."""
        reasons = wording.by_reason(self._report.results, status)
        if reasons:
            yield ""
            yield f"{_TITLES[status]} ({sum(map(len, reasons.values()))})"
        for reason, results in reasons.items():
            ids = [each.id for each in results]
            if not self._verbose and len(ids) > _MOST_NAMED:
                ids[_MOST_NAMED:] = [f"and {len(ids) - _MOST_NAMED} more"]
            yield from self._indented(f"{self._symbols[status]} {reason}: {', '.join(ids)}", 2)

    def _head(self) -> Iterator[str]:
        report = self._report
        first = f"{wording.titled(report)} {wording.spoken(report)}"
        yield from _wrapped(self._safe(first), _WIDTH)
        yield f"Level {report.level} of {LEVELS[-1]}, score {report.score} of 100"
        yield wording.levels(report)
        for note in report.notes:
            yield from self._indented(f"Note: {note}", 0)

    def _check(self, result: Result) -> Iterator[str]:
        symbol = self._symbols[result.status]
        start = f"  {symbol} {self._safe(result.id):{self._id_width}}  "
        title = f"{self._safe(result.title)}, level {result.level}"
        troubles = result.troubles
        if troubles:
            title += f" ({len(troubles)} of {len(result.findings)})"
        first, *rest = _wrapped(title, max(_WIDTH - len(start), 24))
        yield start + first
        for row in rest:
            yield " " * len(start) + row
        if result.reason:
            yield from self._indented(result.reason, 6)
        shown = result.findings if self._verbose else troubles[:_MOST_FINDINGS]
        for finding in shown:
            yield from self._finding(finding)
        if len(troubles) > len(shown):
            yield from self._indented(_others(troubles[len(shown) :]), 6)
        if troubles and wording.fix_of(result):
            yield from self._indented(f"Fix: {wording.fix_of(result)}", 6)
            yield from self._indented(f"See: {wording.reference_of(result)}", 6)

    def _finding(self, finding: Finding) -> Iterator[str]:
        mark = f"{self._symbols[finding.status]} " if self._verbose else ""
        yield from self._indented(mark + wording.described(finding), 6)
        if finding.evidence is None:
            return
        lines = reproduction(finding.evidence, ascii=self._ascii)
        if finding.status == PASS:  # only the command line is of interest
            how = filter(None, (finding.evidence.ended, self._safe(finding.evidence.event)))
            lines = [f"{lines[0]}  # {'; '.join(how)}"]
        for line in lines:
            yield f"        {line}"

    def _indented(self, text: str, by: int) -> Iterator[str]:
        for number, row in enumerate(_wrapped(self._safe(text), _WIDTH - by - 2)):
            yield " " * (by + 2 * bool(number)) + row

    def _safe(self, text: str) -> str:
        return wording.visible(text, ascii=self._ascii)


def _others(findings: tuple[Finding, ...]) -> str:
    names = [wording.command_name(each.command) for each in findings]
    more = f" and {len(names) - _MOST_NAMED} more" * (len(names) > _MOST_NAMED)
    return f"also: {', '.join(names[:_MOST_NAMED])}{more}"
