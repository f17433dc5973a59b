"""Draws the picture of the README: the same commands, run by a person and by an agent.

``python scripts/picture.py`` runs the program of the README, at a terminal and on a pipe, and
writes docs/assets/person-and-agent.svg. With ``--check`` it writes nothing, and fails where the
picture is not what the program shows now.
"""

from __future__ import annotations

import sys
import tempfile
import textwrap
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests")]

from snippets import blocks_of, shown_at_terminal, write_file  # noqa: E402

PICTURE = ROOT / "docs" / "assets" / "person-and-agent.svg"
PROGRAM = "tasks.py"
BEFORE = ("python tasks.py add 'Buy tea' --yes", "python tasks.py add 'Sharpen the saw' --yes")
# What both run; on the pipe, whatever is written.
CALLS = {"python tasks.py list": "", "python tasks.py clear": "n"}  # and what the person types

COLUMNS, FONT, LINE, PAD, GAP = 58, 13, 18, 16, 20
WIDTH = 8  # of a character, whatever font the reader has


def main() -> int:
    """Write the picture, or compare it."""
    picture = drawn(*run())
    if "--check" in sys.argv[1:]:
        return int(picture != PICTURE.read_text(encoding="utf-8"))
    PICTURE.write_text(picture, encoding="utf-8")
    return 0


def run() -> tuple[list[str], list[str]]:
    """Return the lines that a person sees, and those that an agent reads."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / ".home").mkdir()
        for block in blocks_of(ROOT / "README.md"):
            if block.title.removeprefix("in ") == PROGRAM:
                write_file(block, folder)
        for call in BEFORE:
            shown_at_terminal(call, folder)
        person: list[str] = []
        agent: list[str] = []
        for call, keys in CALLS.items():
            shown = _lines(shown_at_terminal(call, folder, keys))
            read = _lines(shown_at_terminal(f"{call} 2>&1 | cat", folder))
            height = max(len(shown), len(read)) + 1  # a call begins at the same height for both
            for lines, of_call in ((person, shown), (agent, read)):
                lines += [f"$ {call}", *of_call, *[""] * (height - len(of_call))]
    return person[:-1], agent[:-1]


def _lines(text: str) -> list[str]:
    lines = [line.rstrip() for line in text.strip("\n").splitlines()]
    return [part for line in lines for part in _wrap(line) or [""]]


def _wrap(line: str) -> list[str]:
    return textwrap.wrap(
        line, COLUMNS, drop_whitespace=False, replace_whitespace=False, subsequent_indent="    "
    )


def drawn(person: list[str], agent: list[str]) -> str:
    """Return the picture: two terminals, side by side."""
    width = COLUMNS * WIDTH + 2 * PAD
    height = max(len(person), len(agent)) * LINE + 2 * PAD + 34
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {2 * width + GAP} {height}" '
            f'width="{2 * width + GAP}" height="{height}" role="img" '
            'aria-label="The same two commands: a person sees a table and a question, an agent '
            'reads JSON and a refusal that says what to do.">',
            "<!-- Drawn by scripts/picture.py from a real run. -->",
            f"<style>text{{font:{FONT}px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;"
            "fill:#e6edf3;white-space:pre}.title{font-family:system-ui,sans-serif;fill:#9aa7b4}"
            ".call{fill:#5eead4}.key{fill:#8ab4f8}</style>",
            *_terminal(0, width, height, "a person at a terminal", person),
            *_terminal(width + GAP, width, height, "an agent on a pipe", agent),
            "</svg>\n",
        ]
    )


def _terminal(left: int, width: int, height: int, title: str, lines: list[str]) -> list[str]:
    parts = [
        f'<rect x="{left}" width="{width}" height="{height}" rx="10" fill="#0d1b24"/>',
        *(
            f'<circle cx="{left + 20 + 18 * n}" cy="20" r="5" fill="{colour}"/>'
            for n, colour in enumerate(("#ff5f57", "#febc2e", "#28c840"))
        ),
        f'<text class="title" x="{left + width // 2}" y="24" text-anchor="middle">{title}</text>',
    ]
    for number, line in enumerate(lines):
        if line.strip():
            indent = len(line) - len(line.lstrip())
            text = line.strip()
            kind = ' class="call"' if line.startswith("$ ") else ""
            parts.append(
                f'<text{kind} x="{left + PAD + indent * WIDTH}" y="{PAD + 46 + number * LINE}" '
                f'textLength="{len(text) * WIDTH}">{_coloured(text)}</text>'
            )
    return parts


def _coloured(text: str) -> str:
    key, colon, rest = text.partition(": ")
    if colon and key.startswith('"'):
        return f'<tspan class="key">{escape(key, quote=False)}</tspan>: {escape(rest, quote=False)}'
    return escape(text, quote=False)


if __name__ == "__main__":
    sys.exit(main())
