"""What users read is plain English: short sentences, and the words of the field."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest

from harness import REPOSITORY
from murli.conformance.checks.rows import REMEDIES
from murli.conformance.checks.table import CHECKS
from murli.line.flags import OWN_FLAGS

# Turns that readers had to read twice, and what to write instead.
BANNED = {
    r"told|tells?|telling": "say, show, report, list",
    r"heed(s|ed)?|heard": "read, handle, obey",
    r"whoever|whosoever": "a caller that, a reader that",
    r"what is no(ne)?|that is none": "is not a",
    r"(?<!there )is no (file|JSON|list|object|number|text|flag)": "is not a",
    r"who (reads|asks|calls|chose|passes|prefers|wants)": "a reader that, a caller that",
    r"hands? on|handed on": "pass on",
    r"given out|is given (back|for)|gives? (it|that|them) to": "return, yield, pass",
    r"without further ado|say otherwise, the first": "by default",
    r"of what (it|he|they) (is|are) (told|given)": "of its arguments",
    r"kept, not only": "checked",
    r"by what (it|an answer) is known": "with this etag",
    r"would that|be it (by|in|on)|lest|thereof|hitherto|whilst": "plain words",
}
PAGES = [
    *(
        REPOSITORY / name
        for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")
    ),
    *sorted((REPOSITORY / "docs").rglob("*.md")),
]


def prose(text: str) -> Iterator[tuple[int, str]]:
    """Return the lines of a page outside of code, with their numbers."""
    in_code = False
    for number, line in enumerate(text.splitlines(), 1):
        in_code ^= line.lstrip().startswith("```")
        if not in_code:
            yield number, re.sub(r"`[^`]*`", "`", line)


def messages() -> Iterator[tuple[str, str]]:
    """Return the texts in the code of murli that are no docstrings, with where they are.

    Reports of ``murli check --diff`` are golden files, and change with those alone.
    """
    yield from ((f"the title of {check.id}", check.title) for check in CHECKS)
    yield from ((f"the remedy of {id}", text) for id, text in REMEDIES.items())
    source = REPOSITORY / "src" / "murli"
    for path in sorted(source.rglob("*.py")):
        if "diffing" in path.parts:
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        bare = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if not (isinstance(node, ast.Constant) and isinstance(node.value, str)):
                continue
            if id(node) not in bare and " " in node.value.strip() and "<" not in node.value:
                yield f"{path.relative_to(REPOSITORY)}:{node.lineno}", node.value


@pytest.mark.parametrize("turn", BANNED)
def test_nobody_reads_a_riddle(turn: str) -> None:
    """README, docs, changelog, messages, help and titles use none of the banned turns."""
    found = [
        f"{page.relative_to(REPOSITORY)}:{number}: {line.strip()}"
        for page in PAGES
        for number, line in prose(page.read_text(encoding="utf-8"))
        if re.search(rf"\b({turn})\b", line, re.IGNORECASE)
    ]
    found += [
        f"{place}: {text}"
        for place, text in messages()
        if re.search(rf"\b({turn})\b", text, re.IGNORECASE)
    ]
    assert not found, f"write {BANNED[turn]!r} instead:\n" + "\n".join(found)


def test_help_and_titles_are_one_short_sentence() -> None:
    """A help text begins with a capital letter; it and the title of a check fit on a line."""
    assert all(flag.help[0].isupper() for flag in OWN_FLAGS)
    for text in [*(flag.help for flag in OWN_FLAGS), *(check.title for check in CHECKS)]:
        assert len(text) <= 100, text
