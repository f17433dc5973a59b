"""Text as HTML: escaped, with invisible characters made visible and marked as such."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.resources import files

from ..results import Evidence
from . import wording

_NOT_IN_ANCHORS = re.compile(r"[^A-Za-z0-9_.-]+")
# A check may pass a very long word on purpose.
_LONGEST_LINE = 8000


def asset_text(name: str) -> str:
    """Return the content of a file beside this module."""
    return files(__package__).joinpath(name).read_text("utf-8")


@cache
def _pieces() -> dict[str, str]:
    _, *parts = re.split(r"(?m)^<!-- (\w+) -->\n", asset_text("page.html"))
    return {
        name: text.removesuffix("\n") for name, text in zip(parts[::2], parts[1::2], strict=True)
    }


def piece(name: str, /, **values: object) -> str:
    """Return a piece of ``page.html`` with *values*, which are HTML already."""
    return _pieces()[name].format(**values)


def lines(parts: Iterable[str]) -> str:
    """Return *parts*, each on a line of its own."""
    return "".join(f"{each}\n" for each in parts)


def shown(text: str, *, lines: bool = False) -> str:
    """Return *text* as HTML; escapes are elements, so they cannot be mistaken for letters."""
    parts, end = [], 0
    for match in (wording.UNSEEN_IN_LINES if lines else wording.UNSEEN).finditer(text):
        parts.append(html.escape(text[end : match.start()]))
        parts.append(f"<i>{wording.escape(match)}</i>")
        end = match.end()
    return "".join(parts) + html.escape(text[end:])


def prose(text: str) -> str:
    """Return a sentence of ours as HTML, in which backticks mark code."""
    words = shown(text).split("`")
    return "".join(f"<code>{each}</code>" if at % 2 else each for at, each in enumerate(words))


def attribute(text: str) -> str:
    """Return *text* for an attribute, or for an element that holds only text."""
    return html.escape(wording.visible(text))


def slug(text: str) -> str:
    """Return the part of *text* that can be in a fragment identifier."""
    return _NOT_IN_ANCHORS.sub("-", text)[:80]


def badge(status: str) -> str:
    """Return a status as a symbol and a word; colour only repeats it."""
    sign = f'<span aria-hidden="true">{wording.SYMBOLS[status]}</span>'
    return f'<span class="badge {status}">{sign}{wording.WORDS[status]}</span>'


def command_line(evidence: Evidence) -> str:
    """Return the line that runs a process again; the prompt is not copied with it."""
    line = wording.shell_line(evidence)
    more = ""
    if len(line) > _LONGEST_LINE:
        more = f"<small> … {len(line) - _LONGEST_LINE} characters more</small>"
        line = line[:_LONGEST_LINE]
    return f'<code class="run">{html.escape(line)}</code>{more}'


def process(evidence: Evidence, most: int) -> Iterator[str]:
    """Yield a process as blocks: its line, its end, and *most* bytes of its output."""
    yield f'<pre class="line">{command_line(evidence)}</pre>'
    rows = dict(wording.facts(evidence))
    rows.setdefault("stdin", wording.STDIN_WORDS.get(evidence.stdin, evidence.stdin))
    if not evidence.timed_out and evidence.duration_ms:
        rows["took"] = f"{evidence.duration_ms} ms"
    pairs = "".join(
        f"<div><dt>{name}</dt><dd>{shown(text)}</dd></div>" for name, text in rows.items()
    )
    yield f'<dl class="facts">{pairs}</dl>'
    for name, data in (("stdout", evidence.stdout), ("stderr", evidence.stderr)):
        yield _output(name, data, most)


def _output(name: str, data: bytes, most: int) -> str:
    if not data:
        return f'<p class="stream">{name} <small>nothing</small></p>'
    text, more = wording.excerpt(data, most)
    size = f"first {most:,} of {len(data):,} bytes" if more else f"{len(data):,} bytes"
    # HTML ignores a newline right after the tag.
    return (
        f'<p class="stream">{name} <small>{size}</small></p>'
        f'<pre class="output">\n{shown(text, lines=True)}</pre>'
    )
