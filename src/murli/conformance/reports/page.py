"""A report as one self-contained HTML page: the tree of commands with their findings.

All content is in the HTML, so the page can be read, searched and printed without its script. The
content security policy of the page forbids every request and every other script.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from hashlib import sha256

from ..results import (
    BROKEN,
    FAIL,
    INCOMPLETE,
    LEVELS,
    NOT_APPLICABLE,
    NOT_VERIFIED,
    PASS,
    REACHED,
    WARN,
    Report,
    Result,
)
from . import wording
from .page_commands import Branch, Words, command_sections, grown, remedy, tree, words_of
from .page_text import asset_text, attribute, badge, lines, piece, shown, slug

# How many places are linked from the entry of one check.
_MOST_LINKED = 200
_LEVEL_STATUS = {REACHED: PASS, BROKEN: FAIL, INCOMPLETE: NOT_VERIFIED}
# The symbol and colour of the icon for each overall status; the default asks for attention.
_ICONS = {PASS: ("M5 8.5l2 2 4-5", "%231c673c"), FAIL: ("M5.5 5.5l5 5m0-5l-5 5", "%23a9211a")}
# Sets the class before anything is shown, so that the page does not flicker.
_EARLY = "document.documentElement.className='js'"


def page(report: Report) -> str:
    """Return the report as a complete HTML document; text of the tool cannot become markup."""
    root = grown(report)
    style, script = asset_text("page.css"), asset_text("page.js")
    line, colour = _ICONS.get(wording.overall(report), ("M8 4v5m0 2.6v.2", "%2356459c"))
    whole = piece(
        "page",
        policy=_policy(style, script),
        title=attribute(report.name),
        icon=piece("icon", line=line, colour=colour),
        style=style,
        early=_EARLY,
        name=shown(report.name),
        version=f" <small>{shown(report.version)}</small>" if report.version else "",
        spoken=shown(wording.spoken(report)),
        notes=lines(f'<p class="note">{shown(note)}</p>' for note in report.notes),
        levels="\n".join(_levels(report)),
        overall=wording.overall(report),
        score=report.score,
        filters="\n".join(_filters(report)),
        tree="\n".join(tree(root, report.name)),
        overview="\n".join(_overview(report, root)),
        sections="\n".join(command_sections(root, report)),
        processes=report.processes,
        seconds=report.duration_ms / 1000,
        words=shown(" ".join(report.tool)),
        script=script,
    )
    return whole + "\n"


def _policy(style: str, script: str) -> str:
    return (
        f"default-src 'none'; style-src {_hash(style)}; "
        f"script-src {_hash(_EARLY)} {_hash(script)}; img-src data:; "
        "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'"
    )


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _levels(report: Report) -> Iterator[str]:
    for level, state in report.levels.items():
        status, word = _LEVEL_STATUS[state], wording.LEVEL_WORDS[state]
        yield piece("level", status=status, sign=wording.SYMBOLS[status], level=level, word=word)


def _filters(report: Report) -> Iterator[str]:
    """Yield the filter; only the script shows its controls, which do nothing without it."""
    for status in wording.ORDER:
        facts = {"status": status, "sign": wording.SYMBOLS[status], "word": wording.WORDS[status]}
        number = report.count(status)
        yield piece("filter", **facts, number=number, state="" if number else " disabled")


def _overview(report: Report, root: Branch) -> Iterator[str]:
    anchors = {each.words: each.anchor for each in root.all()}
    by_status = {
        each: [one for one in report.results if one.status == each] for each in wording.ORDER
    }
    yield from _checks("Failures", by_status[FAIL], anchors)
    yield from _checks("Warnings", by_status[WARN], anchors)
    yield from _grouped(report, NOT_VERIFIED, "Not verified")
    for level in LEVELS:
        passed = [each for each in by_status[PASS] if each.level == level]
        yield from _checks(f"Passes of level {level}", passed, anchors)
    yield from _grouped(report, NOT_APPLICABLE, "Not applicable")


def _checks(title: str, results: list[Result], anchors: dict[Words, str]) -> Iterator[str]:
    if results:
        yield f'<h3 class="level">{title}</h3>'
    for result in results:
        yield from _check(result, anchors)


def _grouped(report: Report, status: str, title: str) -> Iterator[str]:
    """Yield one entry for each reason why checks are of *status*."""
    reasons = wording.by_reason(report.results, status)
    if reasons:
        yield f'<h3 class="level">{title}</h3>'
    for reason, results in reasons.items():
        number = f"{len(results):,} check{'s' * (len(results) != 1)}"
        facts = {"status": status, "badge": badge(status), "reason": shown(reason)}
        yield piece("alike", **facts, number=number, items="\n".join(map(_alike, results)))


def _alike(result: Result) -> str:
    name = f'<code class="id">{shown(result.id)}</code>'
    address = wording.reference_of(result)
    name = f'<a href="{address}">{name}</a>' if address else name
    return f'<li id="k-{slug(result.id)}">{shown(result.title)} {name}</li>'


def _check(result: Result, anchors: dict[Words, str]) -> Iterator[str]:
    troubles = result.troubles
    places = f"{len(result.findings):,} place{'s' * (len(result.findings) != 1)}"
    found = places if result.findings else ""
    if troubles:
        found = f"level {result.level}, {len(troubles):,} of {places}"
    yield piece(
        "check",
        status=result.status,
        slug=slug(result.id),
        state=" open" if result.status == FAIL else "",
        badge=badge(result.status),
        title=shown(result.title),
        id=shown(result.id),
        found=found,
        body=lines(_details(result, anchors, places)),
    )


def _details(result: Result, anchors: dict[Words, str], places: str) -> Iterator[str]:
    troubles = result.troubles
    if result.reason:
        yield f'<p class="detail">{shown(result.reason)}</p>'
    if troubles:
        yield from remedy(result)
        yield '<ul class="places">'
        for finding in troubles[:_MOST_LINKED]:
            anchor = f"{anchors[words_of(finding.command)]}:{slug(result.id)}"
            yield (
                f'<li><a href="#{anchor}">{shown(wording.command_name(finding.command))}</a> '
                f"{shown(finding.detail)}</li>"
            )
        yield "</ul>"
        if (more := len(troubles) - _MOST_LINKED) > 0:
            yield f'<p class="more">and {more:,} more, each in the tree</p>'
    elif result.findings:
        yield f'<p class="more">Holds in {places}.</p>'
    details = []
    if result.requirements:
        details.append(f"Requirements: {shown(', '.join(result.requirements))}")
    if (address := wording.reference_of(result)) and not troubles:
        details.append(f'<a href="{address}">reference</a>')
    if details:
        yield f'<p class="requirements">{"; ".join(details)}</p>'
