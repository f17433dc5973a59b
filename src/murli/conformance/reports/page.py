"""A report as one self-contained HTML page: the tree of commands with their findings.

All content is in the HTML, so the page can be read, searched and printed without its script. The
content security policy of the page forbids every request and every other script.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from hashlib import sha256
from importlib.resources import files

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
from .page_commands import command_sections, remedy, tree
from .page_text import attribute, badge, shown, slug
from .page_tree import Branch, Words, grown, words_of
from .wording import (
    LEVEL_WORDS,
    ORDER,
    SYMBOLS,
    WORDS,
    by_reason,
    command_name,
    overall,
    reference_of,
    spoken,
)

# How many places are linked from the entry of one check.
_MOST_LINKED = 200
_LEVEL_STATUS = {REACHED: PASS, BROKEN: FAIL, INCOMPLETE: NOT_VERIFIED}
# The symbol and colour of the icon for each overall status; the default asks for attention.
_ICONS = {
    PASS: ("M5 8.5l2 2 4-5", "%231c673c"),
    FAIL: ("M5.5 5.5l5 5m0-5l-5 5", "%23a9211a"),
}
# Sets the class before anything is shown, so that the page does not flicker.
_EARLY = "document.documentElement.className='js'"


def page(report: Report) -> str:
    """Return the report as a complete HTML document; text of the tool cannot become markup."""
    root = grown(report)
    parts = [
        *_head(report),
        "<body>",
        '<a class="skip" href="#results">To the results</a>',
        *_masthead(report),
        *_toolbar(report),
        '<div class="columns">',
        '<nav aria-label="Commands">',
        '<a class="home" href="#overview">All checks</a>',
        *tree(root, report.name),
        "</nav>",
        '<main id="results" tabindex="-1">',
        *_overview(report, root),
        *command_sections(root, report),
        '<p class="none" hidden>Nothing here fits the filter.</p>',
        "</main>",
        "</div>",
        *_foot(report),
        f"<script>{_asset('page.js')}</script>",
        "</body>",
        "</html>",
    ]
    return "\n".join(parts) + "\n"


def _asset(name: str) -> str:
    return files(__package__).joinpath(name).read_text("utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _head(report: Report) -> Iterator[str]:
    style = _asset("page.css")
    policy = "; ".join(
        (
            "default-src 'none'",
            f"style-src {_hash(style)}",
            f"script-src {_hash(_EARLY)} {_hash(_asset('page.js'))}",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
        )
    )
    yield "<!doctype html>"
    yield '<html lang="en">'
    yield "<head>"
    yield '<meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield '<meta name="referrer" content="no-referrer">'
    yield '<meta name="color-scheme" content="light dark">'
    yield f"<title>{attribute(report.name)}: murli check</title>"
    yield f'<link rel="icon" href="{_icon(report)}">'
    yield f"<style>{style}</style>"
    yield f"<script>{_EARLY}</script>"
    yield "</head>"


def _icon(report: Report) -> str:
    """Return the icon of the page, which shows the overall status."""
    line, colour = _ICONS.get(overall(report), ("M8 4v5m0 2.6v.2", "%2356459c"))
    return (
        "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E"
        f"%3Crect width='16' height='16' rx='4' fill='{colour}'/%3E%3Cpath d='{line}' fill='none' "
        "stroke='%23fff' stroke-width='2' stroke-linecap='round'/%3E%3C/svg%3E"
    )


def _masthead(report: Report) -> Iterator[str]:
    version = f" <small>{shown(report.version)}</small>" if report.version else ""
    yield '<header class="masthead">'
    yield '<div class="who">'
    yield '<p class="kicker">murli check</p>'
    yield f"<h1>{shown(report.name)}{version}</h1>"
    yield f'<p class="spoken">{shown(spoken(report))}</p>'
    for note in report.notes:
        yield f'<p class="note">{shown(note)}</p>'
    yield "</div>"
    yield '<ol class="levels" aria-label="Levels">'
    for level, state in report.levels.items():
        status = _LEVEL_STATUS[state]
        yield (
            f'<li class="{status}"><span class="sign" aria-hidden="true">{SYMBOLS[status]}</span>'
            f"<b>Level {level}</b> <span>{LEVEL_WORDS[state]}</span></li>"
        )
    yield "</ol>"
    yield f'<div class="score {overall(report)}">'
    yield (
        '<svg viewBox="0 0 36 36" aria-hidden="true"><circle cx="18" cy="18" r="15.5"/>'
        '<circle class="part" cx="18" cy="18" r="15.5" pathLength="100" '
        f'stroke-dasharray="{report.score} 100"/></svg>'
    )
    yield f"<p><b>{report.score}</b><span> of 100</span></p>"
    yield "</div>"
    yield "</header>"


def _toolbar(report: Report) -> Iterator[str]:
    """Yield the filter; only the script shows its controls, which do nothing without it."""
    yield '<div class="toolbar">'
    yield '<div class="filters" role="group" aria-label="Show checks that ended as">'
    for status in ORDER:
        number = report.count(status)
        yield (
            f'<button type="button" class="filter {status}" data-status="{status}" '
            f'aria-pressed="false"{"" if number else " disabled"}>'
            f'<span aria-hidden="true">{SYMBOLS[status]}</span>'
            f"<b>{number}</b> {WORDS[status]}</button>"
        )
    yield "</div>"
    yield '<label class="search"><span class="hidden">Filter by text</span>'
    yield '<input type="search" placeholder="Filter: command, check, words" spellcheck="false" '
    yield 'autocomplete="off" aria-keyshortcuts="/"></label>'
    yield '<p class="told" role="status"></p>'
    yield '<p class="said hidden" role="status"></p>'
    yield "</div>"


def _overview(report: Report, root: Branch) -> Iterator[str]:
    anchors = {each.words: each.anchor for each in root.all()}
    yield '<section id="overview" class="here" aria-label="All checks">'
    yield "<h2>All checks</h2>"
    for status, title in ((FAIL, "Failures"), (WARN, "Warnings")):
        own = [each for each in report.results if each.status == status]
        if own:
            yield f'<h3 class="level">{title}</h3>'
        for result in own:
            yield from _check(result, anchors)
    yield from _grouped(report, NOT_VERIFIED, "Not verified")
    for level in LEVELS:
        own = [each for each in report.results if each.level == level and each.status == PASS]
        if own:
            yield f'<h3 class="level">Passes of level {level}</h3>'
        for result in own:
            yield from _check(result, anchors)
    yield from _grouped(report, NOT_APPLICABLE, "Not applicable")
    yield "</section>"


def _grouped(report: Report, status: str, title: str) -> Iterator[str]:
    """Yield one entry for each reason why checks are of *status*."""
    reasons = by_reason(report.results, status)
    if reasons:
        yield f'<h3 class="level">{title}</h3>'
    for reason, results in reasons.items():
        number = f"{len(results):,} check{'s' * (len(results) != 1)}"
        yield f'<details class="item" data-status="{status}">'
        yield (
            f'<summary>{badge(status)}<span class="title">{shown(reason)}</span>'
            f'<span class="found">{number}</span></summary>'
        )
        yield '<div class="body"><ul class="alike">'
        for each in results:
            name = f'<code class="id">{shown(each.id)}</code>'
            address = reference_of(each)
            name = f'<a href="{address}">{name}</a>' if address else name
            yield f'<li id="k-{slug(each.id)}">{shown(each.title)} {name}</li>'
        yield "</ul></div>"
        yield "</details>"


def _check(result: Result, anchors: dict[Words, str]) -> Iterator[str]:
    troubles = result.troubles
    places = f"{len(result.findings):,} place{'s' * (len(result.findings) != 1)}"
    found = places if result.findings else ""
    if troubles:
        found = f"level {result.level}, {len(troubles):,} of {places}"
    state = " open" if result.status == FAIL else ""
    yield f'<details class="item" data-status="{result.status}" id="k-{slug(result.id)}"{state}>'
    yield (
        f'<summary>{badge(result.status)}<span class="title">{shown(result.title)} '
        f'<code class="id">{shown(result.id)}</code></span>'
        f'<span class="found">{found}</span></summary>'
    )
    yield '<div class="body">'
    if result.reason:
        yield f'<p class="detail">{shown(result.reason)}</p>'
    if troubles:
        yield from remedy(result)
        yield '<ul class="places">'
        for finding in troubles[:_MOST_LINKED]:
            anchor = f"{anchors[words_of(finding.command)]}:{slug(result.id)}"
            yield (
                f'<li><a href="#{anchor}">{shown(command_name(finding.command))}</a> '
                f"{shown(finding.detail)}</li>"
            )
        yield "</ul>"
        if (more := len(troubles) - _MOST_LINKED) > 0:
            yield f'<p class="more">and {more:,} more, each in the tree</p>'
    elif result.findings:
        yield f'<p class="more">Holds in {places}.</p>'
    details = (
        [f"Requirements: {shown(', '.join(result.requirements))}"] if result.requirements else []
    )
    if (address := reference_of(result)) and not troubles:
        details.append(f'<a href="{address}">reference</a>')
    if details:
        yield f'<p class="requirements">{"; ".join(details)}</p>'
    yield "</div>"
    yield "</details>"


def _foot(report: Report) -> Iterator[str]:
    seconds = report.duration_ms / 1000
    words = " ".join(report.tool)
    yield (
        f"<footer><p>{report.processes:,} processes in {seconds:.1f} s of "
        f"<code>{shown(words)}</code></p></footer>"
    )
