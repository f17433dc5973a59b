"""``make bench``: what an agent reads to learn a real tool, by ``describe`` and by ``--help``.

Compact describe, whole and at ``--depth 1``, against the help of every command. Uses the tools
that ``make test-real`` has installed. Ends with 1 when a limit is exceeded.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests_real.tools import LAUNCHER, TOOLS, Tool, lay_out, settings, tools_environment

WHOLE_LIMIT = 1.2
DEPTH_1_LIMIT = 0.1
BYTES_PER_TOKEN = 4  # a rule of thumb


def size(tool: Tool, mode: str, *words: str, folder: Path) -> int:
    """Give the bytes that a real tool prints."""
    python = tools_environment() / "bin" / "python"
    done = subprocess.run(
        [str(python), str(LAUNCHER), mode, tool.name, *words],
        cwd=folder,
        env={**os.environ, **settings(folder), "COLUMNS": "80"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{tool.name} {' '.join(words)}: {done.stderr.decode()}")
    return len(done.stdout)


def main() -> int:
    """Print the table; give 1 when describe is larger than its limits."""
    if not (tools_environment() / ".ready").exists():
        print("No real tools to describe: run `make test-real` first. Skipped.")
        return 0
    heads = ("help", "tokens", "describe", "tokens", "ratio", "--depth 1", "ratio")
    print(f"{'bytes':<14}" + "".join(f"{head:>10}" for head in heads))
    exceeded = False
    with tempfile.TemporaryDirectory() as place:
        folder = lay_out(Path(place))
        for tool in TOOLS:
            compact = ("describe", "--output", "ndjson")
            try:
                spoken = size(tool, "helps", folder=folder)
                whole = size(tool, "murli", *compact, folder=folder)
                named = size(tool, "murli", *compact, "--depth", "1", folder=folder)
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
