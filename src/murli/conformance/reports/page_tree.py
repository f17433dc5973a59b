"""The commands of a report as a tree with their findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from ..results import FAIL, PASS, WARN, Finding, Node, Report, Result, worst
from .page_text import slug

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
