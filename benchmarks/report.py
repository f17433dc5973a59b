"""Writes docs/performance.md and its chart from the figures that the benchmarks have left as JSON.

``python -m benchmarks.report FOLDER``: every ``*.json`` in it is the list of one benchmark; `NOTES`
says of a row why it is above its limit, where that is known.
"""

from __future__ import annotations

import datetime
import json
import math
import platform
import sys
from html import escape
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parents[1] / "docs"
TITLES = {
    "work": "While a tool works",
    "startup": "When a tool starts",
    "describe": "What an agent reads",
    "client": "Calling a tool from Python",
    "redaction": "With secrets in the environment",
    "growth": "As a call grows",
    "check": "Checking a tool",
    "mcp": "Serving over MCP",
}
NOTES = Path(__file__).with_name("above_limits.json")

HEAD = """# Performance

What murli costs, measured by the programs that `make bench` runs, on {date} with {versions} on
{system}. A value is what a tool takes with murli, divided by what its baseline takes in the same
run: instructions for starting (callgrind), processor time for working, so that other work on the
machine hardly matters. **Bold** values are above the limit that the project has set itself; why, is
said below.

![What murli costs, as a multiple of the baseline](performance.svg)
"""


def rows_in(folder: Path) -> dict[str, list[dict[str, Any]]]:
    """Return the figures of each benchmark that has left some, in the order of `TITLES`."""
    return {
        name: json.loads((folder / f"{name}.json").read_text())
        for name in TITLES
        if (folder / f"{name}.json").exists()
    }


def table(rows: list[dict[str, Any]]) -> str:
    """Return *rows* as a table in Markdown."""
    lines = ["| measured | baseline | value | limit |", "|---|---|---:|---:|"]
    for each in rows:
        value = f"{each['value']:.2f} {each['unit']}".replace(" x", "×")
        shown = f"**{value}**" if each["value"] > each["limit"] else value
        limit = f"{each['limit']:.2f} {each['unit']}".replace(" x", "×")
        lines.append(f"| {each['measure']} | {each['baseline']} | {shown} | {limit} |")
    return "\n".join(lines)


def page(found: dict[str, list[dict[str, Any]]], date: str) -> str:
    """Return the page: a table for each benchmark, and why some values are above their limits."""
    versions = {
        name: v for rows in found.values() for e in rows for name, v in e["versions"].items()
    }
    named = ", ".join(f"{name} {version}" for name, version in sorted(versions.items()))
    parts = [HEAD.format(date=date, versions=named, system=platform.system())]
    for name, rows in found.items():
        parts.append(f"## {TITLES[name]}\n\n{table(rows)}\n")
    notes: dict[str, str] = json.loads(NOTES.read_text())
    above = [e["measure"] for rows in found.values() for e in rows if e["value"] > e["limit"]]
    lines = [
        f"- **{beginning}**: {why}"
        for beginning, why in notes.items()
        if any(measure.startswith(beginning) for measure in above)
    ]
    if lines:
        parts.append("## Why some are above their limits\n\n" + "\n".join(lines) + "\n")
    return "\n".join(parts)


def chart(found: dict[str, list[dict[str, Any]]], date: str) -> str:
    """Return a bar for each ratio, on a logarithmic scale, with a mark where its limit is."""
    rows = [each for rows in found.values() for each in rows if each["unit"] == "x"]
    height, left, width = 16, 330, 760
    high = max([2.0, *(each["value"] for each in rows), *(each["limit"] for each in rows)])
    low = min([0.5, *(each["value"] for each in rows), *(each["limit"] for each in rows)])

    def place(value: float) -> float:
        part = math.log(max(value, low) / low) / math.log(high / low)
        return left + part * (width - left - 50)

    total = (len(rows) + 3) * height
    shapes = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {total}" role="img" '
        'font-family="sans-serif" font-size="10">',
        f"<title>What murli costs, as a multiple of the baseline, {date}</title>",
        f'<rect width="{width}" height="{total}" fill="#fff"/>',
    ]
    for mark in (0.25, 0.5, 1, 1.5, 2, 3, 5, 8):
        if low <= mark <= high:
            x = place(mark)
            shapes.append(
                f'<path d="M{x:.1f} 8V{total - 22}" stroke="#ddd"/>'
                f'<text x="{x:.1f}" y="{total - 8}" text-anchor="middle">{mark:g}×</text>'
            )
    for number, each in enumerate(rows):
        y = 12 + number * height
        begin, end, limit = place(low), place(each["value"]), place(each["limit"])
        size = f'width="{max(end - begin, 1):.1f}" height="{height - 5}"'
        colour = "#c2410c" if each["value"] > each["limit"] else "#2563eb"
        shapes.append(
            f'<text x="{left - 6}" y="{y + 9}" text-anchor="end">{escape(each["measure"])}</text>'
            f'<rect x="{begin:.1f}" y="{y}" {size} fill="{colour}"/>'
            f'<path d="M{limit:.1f} {y - 2}v{height - 1}" stroke="#111"/>'
            f'<text x="{max(end, limit) + 4:.1f}" y="{y + 9}">{each["value"]:.2f}</text>'
        )
    return "\n".join([*shapes, "</svg>\n"])


def main() -> int:
    """Write the page and the chart."""
    found = rows_in(Path(sys.argv[1]))
    date = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
    (DOCS / "performance.md").write_text(page(found, date))
    (DOCS / "performance.svg").write_text(chart(found, date))
    above = [e for rows in found.values() for e in rows if e["value"] > e["limit"]]
    print(f"docs/performance.md is written; {len(above)} values are above their limits:")
    for each in above:
        print(f"  {each['measure']}: {each['value']:.2f}, limit {each['limit']:.2f} {each['unit']}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
