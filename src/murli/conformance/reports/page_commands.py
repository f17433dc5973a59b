"""The commands of the page: the tree, and a section for each with its findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from ..results import FAIL, PASS, WARN, Finding, Node, Report, Result, worst
from .page_text import attribute, badge, command_line, lines, piece, process, prose, shown, slug
from .wording import SYMBOLS, WORDS, fix_of, reference_of

# A page of a thousand commands must open quickly, so these are limited: the bytes of all processes
# together, the bytes of one stream, and the findings of one check.
_MOST_BYTES_OF_ALL = 2_000_000
_BYTES = (300, 4000)
_MOST_PROCESSES = 40
# Up to this many, passed checks are shown with the line that reproduces them, then only by name.
_MOST_PASSES = 3000
_DANGERS = ("safe", "mutating", "destructive")
# No real tool is deeper; deeper commands are shown flat.
_DEEPEST = 20

Words = tuple[str, ...]


@dataclass(slots=True)
class Branch:
    """One command; *below* counts the findings of it and its subcommands by status."""

    words: Words
    anchor: str
    node: Node
    findings: list[tuple[Result, Finding]] = field(default_factory=list)
    children: list["Branch"] = field(default_factory=list)
    below: Counter[str] = field(default_factory=Counter)

    @property
    def path(self) -> str:
        """The words after the name of the tool."""
        return " ".join(self.words)

    @property
    def status(self) -> str:
        """The worst status found here, ``""`` if nothing was checked."""
        return worst([finding for _, finding in self.findings]) if self.findings else ""

    @property
    def worst(self) -> str:
        """The worst of what was found here and below, ``""`` where nothing was looked at."""
        return next((each for each in (FAIL, WARN, PASS) if self.below[each]), "")

    def all(self) -> Iterator["Branch"]:
        """Yield this branch and all below it, in order."""
        yield self
        for child in self.children:
            yield from child.all()


def grown(report: Report) -> Branch:
    """Return the tool as the root of its commands, those that only findings name included."""
    known = {words_of(each.path): each for each in report.nodes}
    found: dict[Words, list[tuple[Result, Finding]]] = {}
    for result in report.results:
        for finding in result.findings:
            found.setdefault(words_of(finding.command), []).append((result, finding))
    paths: dict[Words, None] = {(): None}
    for words in (*known, *found):
        for end in range(1, len(words) + 1):
            paths.setdefault(words[:end])
    anchors: Counter[str] = Counter()
    branches: dict[Words, Branch] = {}
    for words in paths:
        path = " ".join(words)
        node = known.get(words, Node(path))
        anchor = f"c-{slug(path)}" if words else "tool"
        anchors[anchor] += 1
        if anchors[anchor] > 1:  # no slug has a tilde, so a numbered name is unique
            anchor = f"{anchor}~{anchors[anchor]}"
        branches[words] = Branch(words, anchor, node, found.get(words, []))
        if words:
            branches[words[:-1]].children.append(branches[words])
    _count(branches[()])
    return branches[()]


def words_of(path: str) -> Words:
    """Return the words of *path*, its place in the tree."""
    words = tuple(path.split())
    return words if len(words) <= _DEEPEST else (path,)


def _count(branch: Branch) -> None:
    branch.below.update(finding.status for _, finding in branch.findings)
    for child in branch.children:
        _count(child)
        branch.below.update(child.below)


# -- as HTML ---------------------------------------------------------------------------------------


def tree(root: Branch, name: str) -> Iterator[str]:
    """Yield the tree as nested lists of links."""
    yield "<ul>"
    yield from _item(root, name)
    yield "</ul>"


def _item(branch: Branch, label: str) -> Iterator[str]:
    status = branch.worst
    sign = ""
    if status:
        where = "" if status == branch.status else " below"
        sign = f'<span aria-hidden="true">{SYMBOLS[status]}</span><span class="hidden">'
        sign += f"{WORDS[status]}{where}</span>"
    facts = {"anchor": branch.anchor, "status": status, "sign": sign, "tally": _tally(branch)}
    yield piece("branch", **facts, label=shown(label))
    if branch.children:
        yield "<ul>"
        for child in branch.children:
            yield from _item(child, child.words[-1])
        yield "</ul>"
    yield "</li>"


def _tally(branch: Branch) -> str:
    """Return the number of problems in this branch, which is hidden while it is closed."""
    for status, what in ((FAIL, "failures"), (WARN, "warnings")):
        if number := branch.below[status]:
            title = f"{number} {what} here and below"
            return f'<span class="tally {status}" title="{title}">{number}</span>'
    return ""


def remedy(result: Result) -> Iterator[str]:
    """Yield how to fix what a check found, and where that is explained."""
    if text := fix_of(result):
        yield piece("remedy", text=prose(text), address=reference_of(result))


def command_sections(root: Branch, report: Report) -> Iterator[str]:
    """Yield a section for every command of the tree."""
    sections = _Sections(report)
    for branch in root.all():
        yield from sections.section(branch)


class _Sections:
    """Writes the sections, within the room of the page."""

    def __init__(self, report: Report) -> None:
        self._name = report.name
        troubled = sum(min(len(each.troubles), _MOST_PROCESSES) for each in report.results)
        found = [each for result in report.results for each in result.findings]
        least, most = _BYTES
        # How much is shown of one stream, and whether that passes are shown line by line.
        self._share = max(least, min(_MOST_BYTES_OF_ALL // max(2 * troubled, 1), most))
        self._has_lines = sum(each.status == PASS for each in found) <= _MOST_PASSES
        self._shown_times: dict[str, int] = {}

    def section(self, branch: Branch) -> Iterator[str]:
        """Yield the findings about one command: problems first."""
        name = " ".join((self._name, branch.path)).strip()
        yield f'<section id="{branch.anchor}" aria-label="{attribute(name)}">'
        own = f" <b>{shown(branch.path)}</b>" if branch.path else ""
        danger = branch.node.danger
        chip = f' <small class="danger">{danger}</small>' if danger in _DANGERS else ""
        yield f'<h2 class="command">{shown(self._name)}{own}{chip}</h2>'
        if branch.node.summary:
            yield f'<p class="about">{shown(branch.node.summary)}</p>'
        brief: list[str] = []
        anchored: set[str] = set()
        for status in (FAIL, WARN):
            for result, finding in branch.findings:
                if finding.status != status:
                    continue
                place = ""
                if result.id not in anchored:
                    anchored.add(result.id)
                    place = f' id="{branch.anchor}:{slug(result.id)}"'
                number = self._shown_times[result.id] = self._shown_times.get(result.id, 0) + 1
                if number <= _MOST_PROCESSES:
                    yield from self._trouble(result, finding, place)
                else:
                    short = _brief(result, finding)
                    brief.append(f'<li data-status="{status}"{place}>{short}</li>')
        if brief:
            yield f'<p class="more">In brief; elsewhere {_MOST_PROCESSES} of each are in full.</p>'
            yield f'<ul class="brief">{"".join(brief)}</ul>'
        passes = [each for each in branch.findings if each[1].status == PASS]
        if passes:
            yield from self._passes(passes)
        if not branch.findings:
            yield '<p class="more">No check looked at this command by itself.</p>'
        if branch.children:
            links = (
                f'<li><a href="#{each.anchor}">{shown(each.words[-1])}</a>{_tally(each)}</li>'
                for each in branch.children
            )
            yield f'<h3>Commands below</h3><ul class="children">{"".join(links)}</ul>'
        yield "</section>"

    def _trouble(self, result: Result, finding: Finding, place: str) -> Iterator[str]:
        facts = {"status": finding.status, "place": place, "badge": badge(finding.status)}
        body = lines(self._details(result, finding))
        yield piece("trouble", **facts, title=_titled(result), body=body)

    def _details(self, result: Result, finding: Finding) -> Iterator[str]:
        if finding.detail:
            yield f'<p class="detail">{shown(finding.detail)}</p>'
        yield from remedy(result)
        if finding.evidence is not None:
            yield from process(finding.evidence, self._share)

    def _passes(self, passes: list[tuple[Result, Finding]]) -> Iterator[str]:
        by_check: dict[str, list[tuple[Result, Finding]]] = {}
        for result, finding in passes:
            by_check.setdefault(result.id, []).append((result, finding))
        number = len(by_check)
        word = "check passes" if number == 1 else "checks pass"
        if len(passes) > number:
            word += f" <small>in {len(passes):,} places</small>"
        body = f'<p data-status="pass">{shown(", ".join(by_check))}</p>'
        if self._has_lines:
            body = f"<ul>\n{lines(map(_passed, by_check.values()))}</ul>"
        yield piece("passes", badge=badge(PASS), title=f"{number} {word}", body=body)


def _passed(same: list[tuple[Result, Finding]]) -> str:
    html = "".join(_passing(finding) for _, finding in same)
    return f'<li data-status="pass">{_titled(same[0][0])}{html}</li>'


def _titled(result: Result) -> str:
    return f'{shown(result.title)} <code class="id">{shown(result.id)}</code>'


def _brief(result: Result, finding: Finding) -> str:
    """Return a short form of a finding that many commands share and the page has shown often."""
    html = f"{SYMBOLS[finding.status]} {WORDS[finding.status]} <b>{shown(result.id)}</b> "
    html += shown(finding.detail)
    if finding.evidence is not None:
        html += f"; {shown(finding.evidence.ended)} {command_line(finding.evidence)}"
    return html


def _passing(finding: Finding) -> str:
    html = f'<p class="detail">{shown(finding.detail)}</p>' if finding.detail else ""
    if finding.evidence is not None:
        ended = "; ".join(filter(None, (finding.evidence.ended, finding.evidence.event)))
        html += f'<div class="line">{command_line(finding.evidence)} '
        html += f"<small>{shown(ended)}</small></div>"
    return html
