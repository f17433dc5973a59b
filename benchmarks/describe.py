"""``make bench``: what an agent reads to learn a real tool, by ``describe`` and by ``--help``.

Compact describe, whole and at ``--depth 1``, against the help of every command. Uses the tools
that ``make test-real`` has installed. Ends with 1 when a limit is exceeded.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests_real.environments import CRAWLER
from tests_real.scene import lay_out, settings
from tests_real.tools import NEWEST, Release, Tool, enabling, tool_called

TOOLS = (
    "sqlite-utils",
    "flask",
    "black",
    "mkdocs",
    "hf",
    "mcp",
    "fastapi",
    "uvicorn",
    "pip-licenses",
    "pipx",
)
WHOLE_LIMIT = 1.2
DEPTH_1_LIMIT = 0.1
BYTES_PER_TOKEN = 4  # a rule of thumb


def output(tool: Tool, program: str, *words: str, text: str = "", folder: Path) -> bytes:
    """Return what a program in the environment of *tool* prints."""
    python = Path(Release(tool, NEWEST).python())
    enabled = {} if program == "python" else enabling(tool, "pipe")
    done = subprocess.run(
        [str(python.with_name(program)), *words],
        cwd=folder,
        env={**os.environ, **settings(folder), **enabled, "COLUMNS": "80"},
        input=text.encode(),
        capture_output=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{tool.name} {' '.join(words)}: {done.stderr.decode()}")
    return done.stdout


def helps(tool: Tool, folder: Path) -> int:
    """Return the bytes that the help texts of all commands take."""
    crawl = str(CRAWLER)
    walked = output(tool, "python", crawl, "walk", tool.name, tool.app, folder=folder)
    commands = json.loads(walked.splitlines()[-1])  # behind what the tool itself has printed
    calls = json.dumps([[*each["path"], "--help"] for each in commands])
    answers = json.loads(
        output(tool, "python", crawl, "calls", tool.name, text=calls, folder=folder)
    )
    return sum(len(text.encode()) for _, text, _ in answers)


def main() -> int:
    """Print the table; give 1 when describe is larger than its limits."""
    tools = [tool_called(name) for name in TOOLS]
    if not all(Release(tool, NEWEST).is_installed for tool in tools):
        print("No real tools to describe: run `make test-real` first. Skipped.")
        return 0
    heads = ("help", "tokens", "describe", "tokens", "ratio", "--depth 1", "ratio")
    print(f"{'bytes':<14}" + "".join(f"{head:>10}" for head in heads))
    exceeded = False
    with tempfile.TemporaryDirectory() as place:
        folder = lay_out(Path(place) / "scene")
        for tool in tools:
            compact = ("describe", "--output", "ndjson")
            try:
                spoken = helps(tool, folder)
                whole = len(output(tool, tool.name, *compact, folder=folder))
                named = len(output(tool, tool.name, *compact, "--depth", "1", folder=folder))
            except RuntimeError as error:
                print(f"{tool.name:<14}FAILED: {error}")
                exceeded = True
                continue
            # A tool of one command has nothing that a depth could leave out.
            too_large = whole > WHOLE_LIMIT * spoken or (
                tool.has_commands and named > DEPTH_1_LIMIT * spoken
            )
            exceeded |= too_large
            figures = (
                f"{spoken:,}",
                f"{spoken // BYTES_PER_TOKEN:,}",
                f"{whole:,}",
                f"{whole // BYTES_PER_TOKEN:,}",
                f"{whole / spoken:.2f}",
                f"{named:,}" if tool.has_commands else "-",
                f"{named / spoken:.3f}" if tool.has_commands else "-",
            )
            row = "".join(f"{figure:>10}" for figure in figures)
            print(f"{tool.name:<14}{row}{'  EXCEEDED' if too_large else ''}")
    print(f"limits: describe {WHOLE_LIMIT}, --depth 1 {DEPTH_1_LIMIT} of the help text")
    return int(exceeded)


if __name__ == "__main__":
    sys.exit(main())
