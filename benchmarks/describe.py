"""``make bench``: what an agent reads to learn a tool, by ``describe`` and by ``--help``.

Compact describe, whole and at ``--depth 1``, against the help of every command, as the framework
prints it without murli. Of real tools, as far as ``make test-real`` has installed them: with
murli's one line, and with every command annotated. Ends with 1 when a limit is exceeded.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests_real.environments import CRAWLER
from tests_real.release import NEWEST, Release, Tool
from tests_real.scene import lay_out, settings
from tests_real.tools import enabling, tool_called

#: tools with the one line
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
    "llm",
    "datasette",
    "pre-commit",
    "alembic",
)
LIMIT, ANNOTATED_LIMIT = 1.2, 1.6
# An overview is a tenth of the help; of a small tool, where the options of the root are most of
# it, it is no more than so many bytes.
DEPTH_1_LIMIT, SMALL = 0.1, 2_000
BYTES_PER_TOKEN = 4  # a rule of thumb


@dataclass(frozen=True)
class Size:
    """Bytes of the help of all commands, of compact describe, and of its overview."""

    name: str
    help: int
    whole: int
    overview: int
    limit: float
    has_commands: bool = True

    @property
    def ratio(self) -> float:
        """How much larger the description is than the help."""
        return self.whole / self.help

    @property
    def fits(self) -> bool:
        """Whether no limit is exceeded."""
        most = max(DEPTH_1_LIMIT * self.help, SMALL)
        # A tool of one command has nothing that a depth could leave out.
        return self.ratio <= self.limit and not (self.has_commands and self.overview > most)


def sizes_of(tool: Tool, folder: Path) -> Iterator[Size]:
    """Yield how large the description of a real tool is: with one line, and annotated."""
    compact = ("describe", "--output", "ndjson")
    spoken = _help_of(tool, folder)
    for label, limit, more in (
        ("", LIMIT, {}),
        (" annotated", ANNOTATED_LIMIT, {"ENABLE_ANNOTATED": "1"}),
    ):
        whole, overview = (
            len(_output(tool, tool.name, *compact, *words, folder=folder, **more))
            for words in ((), ("--depth", "1"))
        )
        yield Size(tool.name + label, spoken, whole, overview, limit, tool.has_commands)


def _run(argv: Sequence[str], text: str = "", **more: Any) -> bytes:
    env = {**os.environ, **more.pop("env", {}), "COLUMNS": "80"}
    done = subprocess.run(
        argv, input=text.encode(), capture_output=True, check=False, env=env, **more
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(argv[-4:])}: {done.stderr.decode()}")
    out: bytes = done.stdout
    return out


def _output(
    tool: Tool, program: str, *words: str, text: str = "", folder: Path, **more: str
) -> bytes:
    """Return what a program in the environment of *tool* prints; *more* are variables."""
    python = Path(Release(tool, NEWEST).python())
    enabled = {} if program == "python" else enabling(tool, "pipe")
    argv = [str(python.with_name(program)), *words]
    return _run(
        argv, text, cwd=folder, env={**settings(folder), **tool.variables, **enabled, **more}
    )


def _help_of(tool: Tool, folder: Path) -> int:
    """Return the bytes that the help texts of all commands take."""
    crawl = str(CRAWLER)
    walked = _output(tool, "python", crawl, "walk", tool.name, tool.app, folder=folder)
    commands = json.loads(walked.splitlines()[-1])  # behind what the tool itself has printed
    calls = json.dumps([[*tool.command(each["path"]), "--help"] for each in commands])
    answers = _output(tool, "python", crawl, "calls", tool.name, text=calls, folder=folder)
    return sum(len(text.encode()) for _, text, _ in json.loads(answers.splitlines()[-1]))


def row(size: Size) -> str:
    """Return the line of the table about one tool."""
    figures = (
        f"{size.help:,}",
        f"{size.help // BYTES_PER_TOKEN:,}",
        f"{size.whole:,}",
        f"{size.whole // BYTES_PER_TOKEN:,}",
        f"{size.ratio:.2f}",
        f"{size.overview:,}" if size.has_commands else "-",
        f"{size.overview / size.help:.3f}" if size.has_commands else "-",
    )
    return (
        f"{size.name:<24}"
        + "".join(f"{each:>10}" for each in figures)
        + ("" if size.fits else "  EXCEEDED")
    )


def main() -> int:
    """Print the table; give 1 when describe is larger than its limits."""
    tools = [tool_called(name) for name in TOOLS]
    installed = [tool for tool in tools if Release(tool, NEWEST).is_installed]
    if not installed:
        print("No real tools to describe: run `make test-real` first. Skipped.")
        return 0
    heads = ("help", "tokens", "describe", "tokens", "ratio", "--depth 1", "ratio")
    print(f"{'bytes':<24}" + "".join(f"{head:>10}" for head in heads))
    exceeded = False
    with tempfile.TemporaryDirectory() as place:
        folder = lay_out(Path(place) / "scene")
        for tool in installed:
            try:
                for size in sizes_of(tool, folder):
                    print(row(size))
                    exceeded |= not size.fits
            except RuntimeError as error:
                print(f"{tool.name:<24}FAILED: {error}")
                exceeded = True
    print(
        f"limits: describe {LIMIT} of the help text, {ANNOTATED_LIMIT} where commands are "
        f"annotated; --depth 1 {DEPTH_1_LIMIT}, or {SMALL:,} bytes"
    )
    return int(exceeded)


if __name__ == "__main__":
    sys.exit(main())
