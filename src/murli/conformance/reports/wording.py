"""Words that all reports share: statuses, levels, command lines; and bytes made harmless.

Most text in a report was written by the tool under test. It must not move the cursor, change the
direction of text, or be invisible.
"""

from __future__ import annotations

import re
import shlex
import unicodedata
from collections.abc import Iterable

from ..checks.rows import REMEDIES
from ..results import (
    BROKEN,
    FAIL,
    INCOMPLETE,
    NOT_APPLICABLE,
    NOT_VERIFIED,
    PASS,
    REACHED,
    WARN,
    Evidence,
    Finding,
    Report,
    Result,
)

#: the page of the documentation that explains every check, at an anchor that is its id
REFERENCE = "https://murli-cli.github.io/murli-py/reference/checks.html"

#: the order of attention
ORDER = (FAIL, WARN, NOT_VERIFIED, PASS, NOT_APPLICABLE)
WORDS = {
    PASS: "pass",
    FAIL: "fail",
    WARN: "warn",
    NOT_VERIFIED: "not verified",
    NOT_APPLICABLE: "not applicable",
}
SYMBOLS = {PASS: "✓", FAIL: "✗", WARN: "!", NOT_VERIFIED: "?", NOT_APPLICABLE: "–"}
ASCII_SYMBOLS = {PASS: "+", FAIL: "x", WARN: "!", NOT_VERIFIED: "?", NOT_APPLICABLE: "-"}
LEVEL_WORDS = {REACHED: "reached", BROKEN: "broken", INCOMPLETE: "not shown"}
STDIN_WORDS = {
    "null": "nothing to read",
    "closed": "closed",
    "silent": "open and silent",
    "text": "text",
}

# Control characters, direction marks, characters without width, lone surrogates, and what XML does
# not allow. Newline and tab are among them; a caller may keep those.
UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\ud800-\udfff\ufeff\ufff9-\ufffb\ufffe\uffff\U000e0000-\U000e0fff]"
)
UNSEEN_IN_LINES = re.compile(UNSEEN.pattern.replace("\x00-\x1f", "\x00-\x08\x0b-\x1f"))
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def escape(match: re.Match[str]) -> str:
    """Return the escape sequence for a character that cannot be printed."""
    return _escaped(match.group())


def _escaped(character: str) -> str:
    if character in _SHORT:
        return _SHORT[character]
    number = ord(character)
    if 0xDC80 <= number <= 0xDCFF:  # a byte that is not UTF-8, as Python decodes it
        return f"\\x{number - 0xDC00:02x}"
    if number <= 0xFF:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number <= 0xFFFF else f"\\U{number:08x}"


def visible(text: str, *, lines: bool = False, ascii: bool = False) -> str:
    """Return *text* with invisible characters escaped; with *lines* newlines and tabs are kept."""
    text = (UNSEEN_IN_LINES if lines else UNSEEN).sub(escape, text)
    if not ascii:
        return text
    return "".join(each if each < "\x80" else _escaped(each) for each in text)


def decoded(data: bytes) -> str:
    """Return bytes as text; bytes that are not UTF-8 become surrogates, see `visible`."""
    return data.decode("utf-8", "surrogateescape")


def excerpt(data: bytes, most: int) -> tuple[str, int]:
    """Return the first *most* bytes as whole characters, and how many bytes are left out.

    The text is not yet harmless.
    """
    if len(data) <= most:
        return decoded(data), 0
    end = most
    # A character is a first byte and at most three continuation bytes.
    while end > most - 3 and data[end] & 0xC0 == 0x80:
        end -= 1
    return decoded(data[:end]), len(data) - end


def columns(text: str) -> int:
    """Return how many columns of a terminal *text* takes."""
    return sum(2 if unicodedata.east_asian_width(each) in "WF" else 1 for each in text)


def bytes_of(text: str) -> bytes:
    """Return the bytes of *text*, those that are not UTF-8 included."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def quoted(word: str, *, ascii: bool = False) -> str:
    """Quote *word* for a shell so that it can be read and pasted."""
    if not UNSEEN.search(word) and not (ascii and not word.isascii()):
        return shlex.quote(word)
    # Octal, because a shell reads exactly three digits.
    parts = []
    for each in word:
        if each in "\\'":
            parts.append("\\" + each)
        elif UNSEEN.match(each) or (ascii and each >= "\x80"):
            parts.append("".join(f"\\{byte:03o}" for byte in bytes_of(each)))
        else:
            parts.append(each)
    return f"$'{''.join(parts)}'"


def shell_line(evidence: Evidence, *, ascii: bool = False) -> str:
    """Return the line that runs the process again: its variables, words and stdin."""
    words = " ".join(quoted(each, ascii=ascii) for each in evidence.argv)
    if evidence.env:
        pairs = (quoted(f"{key}={value}", ascii=ascii) for key, value in evidence.env.items())
        words = f"env {' '.join(pairs)} {words}"
    if evidence.stdin == "silent":
        return f"tail -f /dev/null | {words}"
    if evidence.stdin == "text":
        return f"printf %s {quoted(evidence.given, ascii=ascii)} | {words}"
    return words + {"null": " </dev/null", "closed": " <&-"}.get(evidence.stdin, "")


def facts(evidence: Evidence) -> list[tuple[str, str]]:
    """Return other facts about a process as pairs of name and text."""
    found = [("ended", evidence.ended)]
    if evidence.event:
        found.append(("event", evidence.event))
    if evidence.stdin not in ("null", "closed", "silent"):
        found.append(("stdin", STDIN_WORDS.get(evidence.stdin, evidence.stdin)))
    if evidence.changed:
        found.append(("changed", ", ".join(evidence.changed)))
    return found


def spoken(report: Report) -> str:
    """Return which contract the tool speaks and which one was checked, in one line."""
    wire = f" ({report.wire} wire)" if report.wire else ""
    if report.contract == report.measured:
        return f"speaks {report.contract}{wire}"
    found = "keeps no contract" if report.contract == "none" else f"speaks {report.contract}{wire}"
    return f"{found}, measured by {report.measured}"


def fix_of(result: Result) -> str:
    """Return how to fix what a check found, ``""`` for a check that is not ours."""
    return REMEDIES.get(result.id, "")


def reference_of(result: Result) -> str:
    """Return where a check is explained, ``""`` for one that is not ours."""
    return f"{REFERENCE}#{result.id}" if result.id in REMEDIES else ""


def by_reason(results: Iterable[Result], status: str) -> dict[str, list[Result]]:
    """Return the results of *status* by why that is so, the most frequent reason first."""
    found: dict[str, list[Result]] = {}
    for each in results:
        if each.status == status:
            found.setdefault(each.reason or "nothing of this tool is concerned", []).append(each)
    return dict(sorted(found.items(), key=lambda pair: -len(pair[1])))


def by_urgency(results: Iterable[Result]) -> list[Result]:
    """Return *results* with what failed first, then by their levels."""
    return sorted(results, key=lambda each: (ORDER.index(each.status), each.level))


def counts(report: Report) -> list[tuple[str, int]]:
    """Return the number of checks with each status, in the order of a summary."""
    return [(each, report.count(each)) for each in (PASS, WARN, FAIL, NOT_VERIFIED, NOT_APPLICABLE)]


def overall(report: Report) -> str:
    """Return the status of the whole report; a pass only if everything was verified."""
    if report.contract != report.measured:
        return FAIL
    seen = (each for each in (FAIL, NOT_VERIFIED, WARN) if report.count(each))
    return next(seen, PASS if report.count(PASS) else NOT_VERIFIED)


def summary(report: Report) -> str:
    """Return the counts of all statuses in one line."""
    numbers = ", ".join(f"{number} {WORDS[status]}" for status, number in counts(report))
    return f"{len(report.results)} checks: {numbers}"


def titled(report: Report) -> str:
    """Return the name and the version of the tool."""
    return " ".join(filter(None, (report.name, report.version)))


def levels(report: Report) -> str:
    """Return the states of all levels in one line."""
    states = report.levels.items()
    return ", ".join(f"level {level} {LEVEL_WORDS[state]}" for level, state in states).capitalize()


def described(finding: Finding) -> str:
    """Return the command that a finding is about, and what is wrong with it."""
    name = command_name(finding.command)
    return f"{name}: {finding.detail}" if finding.detail else name


def command_name(command: str) -> str:
    """Return the name of a command in a report; the tool itself has none."""
    return command or "(the tool itself)"
