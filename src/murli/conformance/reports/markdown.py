"""A report as Markdown, short enough for a review comment."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..results import LEVELS, NOT_APPLICABLE, NOT_VERIFIED, PASS, Finding, Report, Result
from . import wording
from .terminal import reproduction

# Hosts of such comments allow 65,536 characters.
_MOST_CHARACTERS = 60_000
_MOST_FINDINGS = 3
_MOST_NAMED = 8
_LONGEST_CELL = 300
# Characters with a meaning in Markdown; as a numeric entity each is only a character.
_SPECIAL = re.compile(r"[\\`*_{}\[\]<>|~&!$:@#]|(?<=www)\.")
# Entities that mention people or other changes nevertheless, except in code.
_CALLING = ("&#64;", "&#35;")
_PLAIN = re.compile(r"[\w ./=,+-]+")
_BACKTICKS = re.compile("`+")


def markdown(report: Report) -> str:
    """Return the report as a heading, a table of checks, and details of those that did not pass.

    Text of the tool stays in its cell or fence. Passing checks are only counted; details that
    would make a comment too long are left out, and their number is printed.
    """
    head = "\n\n".join(_head(report))
    listed = [each for each in wording.by_urgency(report.results) if each.status != PASS]
    parts = [head, _table(listed)] if listed else [head]
    room = _MOST_CHARACTERS - sum(map(len, parts))
    left_out = 0
    for result in listed:
        if not result.troubles:
            continue
        block = "\n\n".join(_block(result))
        if len(block) > room:
            left_out += 1
            continue
        room -= len(block)
        parts.append(block)
    if left_out:
        parts.append(f"The details of {left_out} more checks do not fit in here.")
    return "\n\n".join(parts) + "\n"


def _head(report: Report) -> Iterator[str]:
    symbol = wording.SYMBOLS[wording.overall(report)]
    yield f"## {symbol} murli check: {code(wording.titled(report))}"
    level, score = f"**Level {report.level} of {LEVELS[-1]}**", f"score **{report.score}** of 100"
    yield f"{level}, {score}; {prose(wording.spoken(report))}."
    yield f"{wording.levels(report)}."
    yield f"{wording.summary(report)}."
    yield from (f"Note: {prose(note)}" for note in report.notes)


def _table(results: list[Result]) -> str:
    rows = ["| | check | level | what | found |", "|---|---|---|---|---|"]
    for each in results:
        if each.status not in (NOT_VERIFIED, NOT_APPLICABLE):
            what = prose(each.title) + (f" ({prose(each.reason)})" if each.reason else "")
            found = f"{len(each.troubles)} of {len(each.findings)}" if each.troubles else ""
            rows.append(f"| {_status(each)} | {_linked(each)} | {each.level} | {what} | {found} |")
    for status in (NOT_VERIFIED, NOT_APPLICABLE):
        for reason, same in wording.by_reason(results, status).items():
            of_levels = ", ".join(map(str, sorted({each.level for each in same})))
            ids = " ".join(map(_linked, same[:_MOST_NAMED]))
            ids += f" and {len(same) - _MOST_NAMED} more" if len(same) > _MOST_NAMED else ""
            rows.append(f"| {_status(same[0])} | {ids} | {of_levels} | {prose(reason)} | |")
    return "\n".join(rows)


def _status(result: Result) -> str:
    return f"{wording.SYMBOLS[result.status]} {wording.WORDS[result.status]}"


def _linked(result: Result) -> str:
    """Return the id of a check as a link to what the reference says about it."""
    address = wording.reference_of(result)
    return f"[{code(result.id)}]({address})" if address else code(result.id)


def _block(result: Result) -> Iterator[str]:
    number = len(result.troubles)
    title = f"{code(result.id, html=True)} {prose(result.title)} ({number})"
    yield f"<details>\n<summary>{wording.SYMBOLS[result.status]} {title}</summary>"
    for finding in result.troubles[:_MOST_FINDINGS]:
        yield fenced("\n".join(_finding(finding)))
    if number > _MOST_FINDINGS:
        yield f"And {number - _MOST_FINDINGS} more."
    if wording.fix_of(result):
        yield f"**Fix:** {wording.fix_of(result)}"
    yield "</details>"


def _finding(finding: Finding) -> Iterator[str]:
    yield wording.visible(wording.described(finding))
    if finding.evidence is not None:
        yield from reproduction(finding.evidence)


def prose(text: str) -> str:
    """Return *text* on one line, so that Markdown shows it unchanged and mentions nobody."""
    text = wording.visible(_shortened(text))
    text = _SPECIAL.sub(_number, text)
    for each in _CALLING:
        text = text.replace(each, f"<code>{each}</code>")
    return text


def code(text: str, *, html: bool = False) -> str:
    """Return *text* as inline code; with *html* as an element, for a place without Markdown."""
    text = wording.visible(_shortened(text))
    if not html and _PLAIN.fullmatch(text) and text == text.strip():
        return f"`{text}`"
    return f"<code>{_SPECIAL.sub(_number, text)}</code>"


def fenced(text: str) -> str:
    """Return *text* as a code block, with a fence that it does not contain."""
    longest = max(map(len, _BACKTICKS.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{text}\n{fence}"


def _number(match: re.Match[str]) -> str:
    return f"&#{ord(match.group())};"


def _shortened(text: str) -> str:
    if len(text) <= _LONGEST_CELL:
        return text
    return f"{text[:_LONGEST_CELL]} … ({len(text) - _LONGEST_CELL} characters more)"
