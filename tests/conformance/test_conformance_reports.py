"""A report says the same in every format, and what a tool wrote never becomes part of its form."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shlex
import subprocess
from collections.abc import Callable
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from typing import Any
from xml.etree import ElementTree as Xml

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from harness import GOLDEN, REPOSITORY, golden
from murli.conformance.checks.rows import REMEDIES
from murli.conformance.checks.table import CHECKS
from murli.conformance.reports import FORMATS, document, junit, markdown, page, text
from murli.conformance.reports.page_text import asset_text
from murli.conformance.reports.wording import (
    REFERENCE,
    columns,
    overall,
    quoted,
    shell_line,
    visible,
)
from murli.conformance.results import (
    FAIL,
    NOT_APPLICABLE,
    NOT_VERIFIED,
    PASS,
    STATUSES,
    WARN,
    Evidence,
    Finding,
    Node,
    Report,
    Result,
)
from properties import examples
from report_samples import CRIES, call, hostile, large, small

FEW = examples(25)
# Surrogates too: Python carries bytes that are not UTF-8 in them.
anything = st.text(st.characters(exclude_categories=()), max_size=40)
CONTROLS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def without_assets(written: str) -> str:
    """Give a page with marks in place of its style and script, which have tests of their own."""
    for name in ("page.css", "page.js"):
        asset = asset_text(name)
        digest = base64.b64encode(hashlib.sha256(asset.encode()).digest()).decode()
        assert written.count(asset) == 1
        written = written.replace(asset, f"@{name}@").replace(digest, f"@hash of {name}@")
    return written


GOLDEN_REPORTS: dict[str, Callable[[], str]] = {
    "report.txt": lambda: text(small()),
    "report-verbose-ascii.txt": lambda: text(small(), verbose=True, ascii=True),
    "report.json": lambda: json.dumps(document(small()), indent=1, ensure_ascii=False) + "\n",
    "report.xml": lambda: junit(small()),
    "report.md": lambda: markdown(small()),
    "report.html": lambda: without_assets(page(small())),
}


@pytest.mark.parametrize("name", GOLDEN_REPORTS)
def test_golden(name: str) -> None:
    """One report is written in every format as it always was."""
    assert GOLDEN_REPORTS[name]() == golden(f"conformance/{name}")


def test_no_golden_report_is_forgotten() -> None:
    """Every golden report on disk is one of those compared above."""
    assert {each.name for each in (GOLDEN / "conformance").iterdir()} == set(GOLDEN_REPORTS)


def test_formats_are_pure() -> None:
    """Every format gives the same for the same report."""
    for write in FORMATS.values():
        assert write(small()) == write(small())


# -- words -------------------------------------------------------------------------------------


def test_words_survive_a_shell() -> None:
    """A quoted word is read by a shell as exactly the bytes it was, whatever these are."""
    words = [each.replace("\0", "") for each in CRIES]
    words += [
        "a b",
        "$HOME",
        "it's",
        "\\",
        "\x1b7",
        "-n",
        "",
        "\udcff\udc80",
        "é\n",
        "\x01\x31",
        "\x1b\\n'\\",
    ]
    # Halves of pairs that stand for no byte cannot be in the words of any process.
    words = [re.sub("[\ud800-\udc7f\udd00-\udfff]", "", each) for each in words]
    for ascii in (False, True):
        line = " ".join(quoted(each, ascii=ascii) for each in words)
        assert not CONTROLS.search(line) and "\n" not in line
        assert line.isascii() or not ascii
        answer = subprocess.run(
            ["bash", "-c", f"printf '%s\\0' {line}"], capture_output=True, check=True
        )
        wanted = [each.encode("utf-8", "surrogateescape") for each in words]
        assert answer.stdout.split(b"\0")[:-1] == wanted


@pytest.mark.parametrize(("stdin", "code"), [("null", 1), ("closed", 9), ("silent", 124)])
def test_lines_give_the_same_standard_input(stdin: str, code: int) -> None:
    """The line that reproduces a process has its variables and its standard input."""
    # `read` meets an end, a closed descriptor, or nothing at all.
    script = 'test -e /dev/fd/0 || exit 9; test "$X" = "a b" || exit 8; head -c1 | grep .'
    argv = ("timeout", "0.3", "sh", "-c", script)
    line = shell_line(Evidence(argv, stdin=stdin, env={"X": "a b"}))
    assert subprocess.run(["bash", "-c", line], check=False, timeout=20).returncode == code


@pytest.mark.parametrize(
    ("kept", "contract", "wanted"),
    [
        ({PASS}, "murli", PASS),
        ({PASS, NOT_APPLICABLE}, "murli", PASS),
        ({PASS, WARN}, "murli", WARN),
        ({PASS, WARN, NOT_VERIFIED}, "murli", NOT_VERIFIED),
        (set(STATUSES), "murli", FAIL),
        ({NOT_APPLICABLE}, "murli", NOT_VERIFIED),
        ({PASS}, "none", FAIL),
    ],
)
def test_overall(kept: set[str], contract: str, wanted: str) -> None:
    """One status stands for a report: a pass only where all was seen to hold."""
    results = tuple(each for each in small().results if each.status in kept)
    assert overall(replace(small(), results=results, contract=contract)) == wanted


# -- the terminal ------------------------------------------------------------------------------


def test_text_shows_how_to_see_it_again() -> None:
    """Under a failing check are its command, what is wrong, the line, the end, and the output."""
    told = text(small())
    assert shlex.join(["teller", "account", "import", "my file.csv"]) in told
    assert "did not end within 10.0 s" in told
    assert "stderr  Enter the IBAN:" in told
    assert "8 checks: 2 pass, 1 warn, 2 fail, 2 not verified, 1 not applicable" in told


def test_text_lists_what_is_not_a_pass() -> None:
    """Only with *verbose* are passing checks listed; nothing else is ever left out."""
    ids = {each.id: each.status for each in small().results}
    for verbose in (False, True):
        told = text(small(), verbose=verbose)
        seen = {id for id in ids if re.search(rf" {id}(  |,|\n)", told)}
        assert seen == {id for id, status in ids.items() if verbose or status != PASS}


def test_what_failed_comes_first_with_how_to_fix_it() -> None:
    """Failures stand above warnings and above what was not verified, each with its remedy."""
    told = text(small())
    titles = re.findall(r"^(\w[\w ]+) \(\d+\)$", told, re.MULTILINE)
    assert titles == ["Failures", "Warnings", "Not verified", "Not applicable"]
    assert told.count("Fix: ") == 2 and "      Fix: Write only the document to stdout" in told
    for way in (text, junit, markdown, page):
        assert REMEDIES["murli.answer.one-document"] in unescape(way(small())), way
    checks = document(small())["checks"]
    assert [each["status"] for each in checks[:3]] == ["fail", "fail", "warn"]
    assert checks[0]["fix"] == REMEDIES[checks[0]["id"]]
    assert checks[0]["reference"].endswith("/reference/checks.html#murli.answer.one-document")


def test_what_was_not_verified_for_one_reason_is_one_line() -> None:
    """Checks that could not be made for the same reason share a line, an entry, a row."""
    reason = "no command that may be run streams; name one in the profile"
    for told in (text(small()), markdown(small()), page(small())):
        assert told.count(reason) == 1 and "murli.stream.lines" in told
    results = tuple(replace(small().results[5], id=f"c{n}") for n in range(70))
    many = replace(small(), results=results)
    assert re.search(r"\? no command .*: c0, .* and 62 more\n", text(many), re.DOTALL)
    assert f"{reason} |" in markdown(many) and " and 62 more |" in markdown(many)


def test_every_check_has_a_remedy_and_a_place_in_the_reference() -> None:
    """How to fix it is known of every check, and where that is explained is part of the site."""
    assert REMEDIES.keys() == {each.id for each in CHECKS}
    site = re.search(r"^site_url: (.*)$", (REPOSITORY / "mkdocs.yml").read_text(), re.MULTILINE)
    assert site is not None and f"{site[1]}reference/checks.html" == REFERENCE


def test_text_is_short_about_much() -> None:
    """Of many findings the first are shown, some are named, and the rest is counted."""
    told = text(large(60, poor=True))
    first = told[told.index("check-00") : told.index("check-01")]
    assert first.count("$ teller") == 3
    assert re.search(r"also: group-01 command-001, .* and 48 more\n", first, re.DOTALL)


@pytest.mark.parametrize("size", [600, 601, 5000])
def test_text_says_what_is_cut(size: int) -> None:
    """Output that is not shown whole says how much there is."""
    finding = Finding(FAIL, "x", "long", call("x", out=b"a" * size))
    report = replace(small(), results=(Result("i", "t", 1, (), FAIL, findings=(finding,)),))
    assert (f"[cut; {size} bytes in all]" in text(report)) is (size > 600)


def test_text_is_short_about_long_output() -> None:
    """Of many lines the first are shown."""
    finding = Finding(FAIL, "x", "long", call("x", out=b"line\n" * 50, err=b"\n" * 8))
    told = text(replace(small(), results=(Result("i", "t", 1, (), FAIL, findings=(finding,)),)))
    assert told.count("  line\n") == 8
    assert told.count("bytes in all]") == 1


@pytest.mark.parametrize("ascii", [False, True])
@pytest.mark.parametrize("cry", CRIES)
def test_text_of_a_hostile_tool(cry: str, ascii: bool) -> None:
    """No control character reaches a terminal, and only a line to be pasted is wider than it."""
    for verbose in (False, True):
        told = text(hostile(cry), verbose=verbose, ascii=ascii)
        assert not CONTROLS.search(told)
        assert told.isascii() or not ascii
        lines = [each for each in told.splitlines() if not each.lstrip().startswith("$ ")]
        assert max(map(columns, lines)) <= 100


def test_text_of_a_tool_without_a_contract() -> None:
    """A tool that keeps no contract is told so, and by which one it was measured."""
    report = replace(small(), contract="none", wire="")
    assert text(report).startswith(
        "teller 2.4.0 keeps no contract, measured by murli\nLevel 0 of 3"
    )


# -- the document ------------------------------------------------------------------------------


def test_document_leaves_out_what_passes() -> None:
    """The usual document has what is wrong, and counts what is not; the full one has it all."""
    usual, full = document(small()), document(small(), full=True)
    found = next(each for each in usual["checks"] if each["id"] == "murli.answer.one-document")
    assert [each["status"] for each in found["findings"]] == ["fail"]
    assert found["left_out"] == {"pass": 2}
    every = next(each for each in full["checks"] if each["id"] == "murli.answer.one-document")
    assert [each["status"] for each in every["findings"]] == ["fail", "pass", "pass"]
    assert "left_out" not in every
    assert every["findings"][1]["evidence"]["argv"] == ["teller", "account", "show", "7"]


def test_document_is_bounded() -> None:
    """However much fails, a document has twenty findings of a check, and counts the others."""
    found = document(large(60, poor=True))["checks"][0]
    assert len(found["findings"]) == 20
    assert found["left_out"] == {"fail": 39}


def unpacked(value: str | dict[str, Any]) -> tuple[bytes, int]:
    """Give the bytes a document speaks of, and how many are missing."""
    if isinstance(value, str):
        return value.encode(), 0
    data = value["value"]
    raw = base64.b64decode(data) if value["encoding"] == "base64" else data.encode()
    return raw, value.get("truncated", 0)


@FEW
@given(
    st.one_of(st.binary(max_size=80), anything.map(lambda each: each.encode("utf-8", "replace")))
)
def test_document_gives_the_bytes_back(data: bytes) -> None:
    """Output can be had back byte for byte; where it is cut, the number of bytes is told."""
    for times in (1, 40):
        out = data * times
        result = Result("i", "t", 1, (), FAIL, findings=(Finding(FAIL, "", "", call(out=out)),))
        report = replace(small(), results=(result,))
        for full in (False, True):
            evidence = document(report, full=full)["checks"][0]["findings"][0]["evidence"]
            kept, missing = unpacked(evidence["stdout"])
            assert kept == out[: len(kept)] and len(kept) + missing == len(out)
            assert not missing or len(out) > 1000


def test_document_cuts_between_characters() -> None:
    """Text that is cut is still text."""
    for size in range(996, 1004):
        out = b"a" * (size % 4) + "🎺".encode() * 400
        result = Result("i", "t", 1, (), FAIL, findings=(Finding(FAIL, "", "", call(out=out)),))
        evidence = document(replace(small(), results=(result,)))["checks"][0]["findings"][0][
            "evidence"
        ]
        assert evidence["stdout"]["encoding"] == "utf-8"
        assert evidence["stdout"]["truncated"] >= len(out) - 1000


@pytest.mark.parametrize("cry", CRIES)
def test_document_of_a_hostile_tool(cry: str) -> None:
    """A document is JSON that any encoder takes, and has the words of a process exactly."""
    told = document(hostile(cry), full=True)
    assert json.loads(json.dumps(told, ensure_ascii=False, allow_nan=False).encode()) == told
    argv = told["checks"][0]["findings"][0]["evidence"]["argv"]
    wanted = hostile(cry).results[0].findings[0].evidence
    assert wanted is not None
    for word, value in zip(wanted.argv, argv, strict=True):
        errors = (
            "surrogateescape" if not re.search("[\ud800-\udc7f\udd00-]", word) else "surrogatepass"
        )
        assert unpacked(value)[0] == word.encode("utf-8", errors)


# -- JUnit -------------------------------------------------------------------------------------


def cases(written: str) -> dict[str, Xml.Element]:
    """Give the test cases of a suite by the id of their check."""
    found = Xml.fromstring(written).iter("testcase")
    return {(each.get("name") or "").split(":")[0]: each for each in found}


def test_junit_never_passes_what_was_not_verified() -> None:
    """A check that could not run is skipped with its reason; a warning passes and says why."""
    found = cases(junit(small()))
    assert {id: [each.tag for each in case] for id, case in found.items()} == {
        "describe": [],
        "unknown-flag": [],
        "no-colour": ["system-out"],
        "murli.answer.one-document": ["failure"],
        "process.stdin-silent": ["failure"],
        "interrupt": ["skipped"],
        "murli.stream.lines": ["skipped"],
        "paging": ["skipped"],
    }
    assert (found["interrupt"][0].get("message") or "").startswith("not verified: no command")
    suite = Xml.fromstring(junit(small()))[0]
    assert [suite.get(each) for each in ("tests", "failures", "errors", "skipped")] == list("8203")


@pytest.mark.parametrize("cry", CRIES)
def test_junit_of_a_hostile_tool(cry: str) -> None:
    """Whatever a tool writes, the XML is well-formed and says it."""
    found = cases(junit(hostile(cry)))
    failure = found["failing"][0]
    assert visible(cry) in (failure.get("message") or "")
    assert [each.tag for each in found["open"]] == ["skipped"]


@FEW
@given(anything)
def test_junit_of_anything(cry: str) -> None:
    """No text at all breaks the XML."""
    assert len(cases(junit(hostile(cry)))) == 5


# -- Markdown ----------------------------------------------------------------------------------


def parsed(written: str) -> list[Token]:
    return (
        MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).parse(written)
    )


def form(written: str) -> list[str]:
    """Give what a comment is made of, down to the cells; code within a line counts as text."""
    found = []
    for token in parsed(written):
        found.append(token.type)
        inside = (
            each.content if each.type == "html_inline" else each.type
            for each in token.children or ()
            if each.type not in ("text", "text_special", "code_inline")
        )
        found += (each for each in inside if each not in ("<code>", "</code>"))
    return found


@pytest.mark.parametrize("cry", CRIES)
def test_markdown_of_a_hostile_tool(cry: str) -> None:
    """The form of a comment does not depend on what the tool wrote."""
    assert form(markdown(hostile(cry))) == form(markdown(hostile("words")))


@FEW
@given(anything)
def test_markdown_of_anything(cry: str) -> None:
    """No text at all leaves its cell or its fence."""
    assert form(markdown(hostile(cry))) == form(markdown(hostile("words")))


@pytest.mark.parametrize("name", ["`", "```", "````````", "~~~"])
def test_markdown_is_not_ended_by_a_name(name: str) -> None:
    """A command that is called like the end of a block does not end it."""
    finding = Finding(FAIL, name, "", call("x"))
    report = replace(small(), results=(Result("i", "t", 1, (), FAIL, findings=(finding,)),))
    fences = [each.content for each in parsed(markdown(report)) if each.type == "fence"]
    assert len(fences) == 1 and fences[0].startswith(f"{name}\n$ teller x")


def test_markdown_calls_nobody() -> None:
    """A person or another change is named in code only, where no name is a call."""
    told = markdown(hostile("@everyone #1"))
    fences = re.sub(r"(?s)(`{3,})text\n.*?\n\1", "", told)
    bare = re.sub(r"<code>.*?</code>|`[^`]*`", "", fences)
    assert "everyone" in bare
    assert not re.search(r"[@#]\w|&#64;|&#35;", bare)


def test_markdown_fits_into_a_comment() -> None:
    """However much is wrong, a comment is not longer than it may be, and says what is missing."""
    results = tuple(
        Result(
            f"check-{number}",
            "t",
            1,
            (),
            FAIL,
            findings=(Finding(FAIL, "", "d", call(out=b"x" * 599)),),
        )
        for number in range(120)
    )
    told = markdown(replace(small(), results=results))
    assert len(told) < 65_536
    assert re.search(r"The details of \d+ more checks do not fit in here\.\n$", told)


# -- the page ----------------------------------------------------------------------------------

EMPTY = {"meta", "link", "input", "br", "circle"}


class Page(HTMLParser):
    """What a page is made of; fails where an element is not closed in order."""

    def __init__(self, written: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self._open: list[str] = []
        self.feed(written)
        self.close()
        assert not self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in EMPTY:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self._open:
            self.texts.setdefault(self._open[-1], []).append(data)

    def values(self, name: str) -> list[str]:
        """Give all values of one attribute."""
        return [found for _, each in self.elements if (found := each.get(name)) is not None]


def test_page_runs_only_its_own_scripts() -> None:
    """The policy of a page lets nothing in; its own style and scripts it knows by their hashes."""
    found = Page(page(small()))
    policy = next(
        each["content"] or "" for _, each in found.elements if each.get("http-equiv") is not None
    )
    directives = dict(each.split(" ", 1) for each in policy.split("; "))
    assert directives["default-src"] == "'none'"
    assert "unsafe" not in policy and "http" not in policy and "*" not in policy
    for tag, number in (("script", 2), ("style", 1)):
        hashes = [
            f"'sha256-{base64.b64encode(hashlib.sha256(each.encode()).digest()).decode()}'"
            for each in found.texts[tag]
        ]
        assert len(hashes) == number
        assert directives[f"{tag}-src"].split() == hashes


def test_page_links_lead_somewhere() -> None:
    """Every link leads to a place in the page, and every place has a name of its own."""
    for report in (small(), large(60), *map(hostile, CRIES)):
        found = Page(page(report))
        places = found.values("id")
        assert len(places) == len(set(places))
        links = [
            each
            for each in found.values("href")
            if not each.startswith(("data:image/svg+xml,", f"{REFERENCE}#"))
        ]
        assert {each[:1] for each in links} == {"#"}
        assert {each[1:] for each in links} <= set(places)


def test_page_has_every_command_and_every_finding() -> None:
    """All commands are in the tree, also those only a finding speaks of; all findings are below."""
    report = replace(
        small(),
        nodes=(*small().nodes, Node("deep in there")),
        results=(
            *small().results,
            Result("x", "t", 1, (), FAIL, findings=(Finding(FAIL, "odd one"),)),
        ),
    )
    found = Page(page(report))
    words = re.findall(r'class="word">([^<]*)<', page(report))
    assert words == [
        *("teller", "account", "import", "list", "remove", "show", "rate"),
        *("deep", "in", "there", "odd", "one"),
    ]
    sections = page(report).split("<section ")[2:]
    assert len(sections) == len(words)
    wrong = sum(len(each.troubles) for each in report.results)
    assert sum(each.count('<details class="item"') for each in sections) == wrong
    right = sum(1 for each in report.results for one in each.findings if one.status == PASS)
    assert sum(each.count('<div class="line">') for each in sections) == right
    assert "c-odd-one:x" in found.values("id")


@pytest.mark.parametrize("cry", CRIES)
def test_page_of_a_hostile_tool(cry: str) -> None:
    """No text of a tool becomes an element or an attribute, and none can be unseen."""
    written = page(hostile(cry))
    assert not CONTROLS.search(written.replace("\t", ""))  # it is kept where lines are
    found = Page(written)
    assert {tag for tag, _ in found.elements} <= {
        *("html", "head", "meta", "title", "link", "style", "script", "body", "header", "footer"),
        *("nav", "main", "section", "div", "p", "a", "span", "b", "i", "small", "code", "pre"),
        *("h1", "h2", "h3", "ol", "ul", "li", "dl", "dt", "dd", "br", "details", "summary"),
        *("svg", "circle", "button", "label", "input"),
    }
    assert len(found.texts["script"]) == 2
    for _, attributes in found.elements:
        assert not any(name.startswith("on") or name in ("style", "src") for name in attributes)


@FEW
@given(anything)
def test_page_of_anything(cry: str) -> None:
    """No text at all breaks the page."""
    assert len(Page(page(hostile(cry))).texts["script"]) == 2


def test_page_of_a_thousand_commands_is_small() -> None:
    """A page of a thousand commands stays small, and even the worst one can be sent around."""
    assert len(page(large())) < 2_000_000
    assert len(page(large(poor=True))) < 10_000_000


def test_page_of_a_tree_without_end() -> None:
    """Commands that claim to be deeper than any tool is do not break the page."""
    path = " ".join(["x"] * 3000)
    finding = Finding(FAIL, path, "too deep")
    report = Report(
        ("t",), "t", "none", "murli", results=(Result("i", "t", 1, (), FAIL, findings=(finding,)),)
    )
    assert Page(page(report)).values("id").count(f"c-{'x-' * 40}:i") == 1
