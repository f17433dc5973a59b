"""A report as Markdown, short enough for a review comment."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..results import LEVELS, NOT_APPLICABLE, NOT_VERIFIED, PASS, Finding, Report, Result
from .terminal import reproduction
from .wording import (
    LEVEL_WORDS,
    SYMBOLS,
    WORDS,
    by_reason,
    by_urgency,
    command_name,
    fix_of,
    overall,
    reference_of,
    spoken,
    summary,
    visible,
)

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
    head = "\n".join(_head(report))
    listed = [each for each in by_urgency(report.results) if each.status != PASS]
    parts = [head, _table(listed)] if listed else [head]
    room = _MOST_CHARACTERS - sum(map(len, parts))
    left_out = 0
    for result in listed:
        if not result.troubles:
            continue
        block = "\n".join(_block(result))
        if len(block) > room:
            left_out += 1
            continue
        room -= len(block)
        parts.append(block)
    if left_out:
        parts.append(f"The details of {left_out} more checks do not fit in here.")
    return "\n\n".join(parts) + "\n"


def _head(report: Report) -> Iterator[str]:
    name = " ".join(filter(None, (report.name, report.version)))
    yield f"## {SYMBOLS[overall(report)]} murli check: {code(name)}"
    yield ""
    yield (
        f"**Level {report.level} of {LEVELS[-1]}**, score **{report.score}** of 100; "
        f"{prose(spoken(report))}."
    )
    yield ""
    yield (
        ", ".join(
            f"level {level} {LEVEL_WORDS[state]}" for level, state in report.levels.items()
        ).capitalize()
        + "."
    )
    yield ""
    yield f"{summary(report)}."
    for note in report.notes:
        yield ""
        yield f"Note: {prose(note)}"


def _table(results: list[Result]) -> str:
    rows = ["| | check | level | what | found |", "|---|---|---|---|---|"]
    for each in results:
        if each.status not in (NOT_VERIFIED, NOT_APPLICABLE):
            what = prose(each.title) + (f" ({prose(each.reason)})" if each.reason else "")
            found = f"{len(each.troubles)} of {len(each.findings)}" if each.troubles else ""
            rows.append(f"| {_status(each)} | {_linked(each)} | {each.level} | {what} | {found} |")
    for status in (NOT_VERIFIED, NOT_APPLICABLE):
        for reason, same in by_reason(results, status).items():
            levels = ", ".join(str(level) for level in sorted({each.level for each in same}))
            ids = " ".join(map(_linked, same[:_MOST_NAMED]))
            ids += f" and {len(same) - _MOST_NAMED} more" if len(same) > _MOST_NAMED else ""
            rows.append(f"| {_status(same[0])} | {ids} | {levels} | {prose(reason)} | |")
    return "\n".join(rows)


def _status(result: Result) -> str:
    return f"{SYMBOLS[result.status]} {WORDS[result.status]}"


def _linked(result: Result) -> str:
    """Return the id of a check as a link to what the reference says about it."""
    address = reference_of(result)
    return f"[{code(result.id)}]({address})" if address else code(result.id)


def _block(result: Result) -> Iterator[str]:
    number = len(result.troubles)
    yield "<details>"
    yield (
        f"<summary>{SYMBOLS[result.status]} {code(result.id, html=True)} "
        f"{prose(result.title)} ({number})</summary>"
    )
    for finding in result.troubles[:_MOST_FINDINGS]:
        yield ""
        yield fenced("\n".join(_finding(finding)))
    if number > _MOST_FINDINGS:
        yield ""
        yield f"And {number - _MOST_FINDINGS} more."
    if fix_of(result):
        yield ""
        yield f"**Fix:** {fix_of(result)}"
    yield ""
    yield "</details>"


def _finding(finding: Finding) -> Iterator[str]:
    name = command_name(finding.command)
    yield visible(f"{name}: {finding.detail}" if finding.detail else name)
    if finding.evidence is not None:
        yield from reproduction(finding.evidence)


def prose(text: str) -> str:
    """Return *text* on one line, so that Markdown shows it unchanged and mentions nobody."""
    text = visible(_shortened(text))
    text = _SPECIAL.sub(_number, text)
    for each in _CALLING:
        text = text.replace(each, f"<code>{each}</code>")
    return text


def code(text: str, *, html: bool = False) -> str:
    """Return *text* as inline code; with *html* as an element, for a place without Markdown."""
    text = visible(_shortened(text))
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
