"""``make test-matrix``: the tests of the adapters on every interpreter and framework version.

Prints one table; ends with 1 when anything failed. Environments are kept between runs.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tests_real.environments import REPOSITORY, environment

NEWEST = "click newest, typer newest"
INTERPRETERS = ("3.10", "3.11", "3.12", "3.13", "3.14")
FRAMEWORKS = {
    "click 8.1.8, typer 0.12.5": ["click==8.1.8", "typer==0.12.5"],
    "click 8.2.1, typer 0.16.0": ["click==8.2.1", "typer==0.16.0"],
    "click newest, typer 0.25.1": ["click", "typer==0.25.1"],
    NEWEST: ["click", "typer"],
}
NEEDED = ["pytest", "hypothesis", "jsonschema"]
TESTS = [
    f"tests/{name}.py"
    for name in (
        "call/test_modes",
        "line/test_flags",
        "call/test_usage_errors",
        "call/test_safety",
        "commands/test_introspection",
        "process/test_process",
    )
]
PROCESSES = 2


@dataclass(frozen=True)
class Cell:
    """How the tests went on one interpreter with one set of frameworks."""

    python: str
    frameworks: str
    passed: int
    failed: int
    output: str
    seconds: float

    @property
    def is_good(self) -> bool:
        """Whether everything ran, and passed."""
        return self.passed > 0 and self.failed == 0

    @property
    def text(self) -> str:
        """What the table shows."""
        return f"{self.passed} passed" if self.is_good else f"{self.failed or '?'} FAILED"


def interpreter(version: str) -> str | None:
    """Find a Python of *version*: on the path, or among pyenv's."""
    places = [shutil.which(f"python{version}")]
    kept = (Path.home() / ".pyenv" / "versions").glob(f"{version}.*/bin/python3")
    for place in (*places, *map(str, sorted(kept, reverse=True))):
        if place is not None and _version(place) == version:
            return place
    return None


def _version(python: str) -> str:
    # A pyenv shim is on the path for versions that are not switched on, and fails.
    tell = "import sys; print('%d.%d' % sys.version_info[:2])"
    done = subprocess.run([python, "-c", tell], capture_output=True, text=True, check=False)
    return done.stdout.strip()


def run_cell(version: str, python: str, frameworks: str) -> Cell:
    """Run the tests on one interpreter with one set of frameworks."""
    started = time.monotonic()
    name = f"matrix-{version}"
    try:
        ours = environment(name, python, [*FRAMEWORKS[frameworks], *NEEDED])
    except RuntimeError as error:
        return Cell(version, frameworks, 0, 0, str(error), time.monotonic() - started)
    # What argparse does depends on the interpreter only.
    chosen = [] if frameworks == NEWEST else ["-k", "not argparse"]
    done = subprocess.run(
        [ours, "-m", "pytest", "-q", "--tb=short", "-p", "no:cacheprovider", *chosen, *TESTS],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )
    counts = {
        kind: sum(int(number) for number in re.findall(rf"(\d+) {kind}", done.stdout[-500:]))
        for kind in ("passed", "failed", "errors?")
    }
    failed = counts["failed"] + counts["errors?"]
    if done.returncode and not failed:
        failed = 1
    output = done.stdout + done.stderr
    return Cell(version, frameworks, counts["passed"], failed, output, time.monotonic() - started)


def main() -> int:
    """Run every cell, print the table and what failed; return the exit code."""
    found = {version: interpreter(version) for version in INTERPRETERS}
    missing = [version for version, python in found.items() if python is None]
    if missing:
        print(f"no interpreter for {', '.join(missing)}; left out", file=sys.stderr)
    jobs = [
        (version, python, frameworks)
        for frameworks in FRAMEWORKS
        for version, python in found.items()
        if python is not None
    ]
    started = time.monotonic()
    with ThreadPoolExecutor(PROCESSES) as pool:
        cells = list(pool.map(lambda job: run_cell(*job), jobs))
    for cell in cells:
        if not cell.is_good:
            print(f"== Python {cell.python}, {cell.frameworks}\n{cell.output[-3000:]}\n")
    versions = [version for version in INTERPRETERS if version not in missing]
    print(f"{'':<28}" + "".join(f"{version:>14}" for version in versions))
    for frameworks in FRAMEWORKS:
        row = {cell.python: cell.text for cell in cells if cell.frameworks == frameworks}
        print(f"{frameworks:<28}" + "".join(f"{row[version]:>14}" for version in versions))
    print(f"{len(cells)} environments in {time.monotonic() - started:.0f} s")
    return int(not cells or not all(cell.is_good for cell in cells))


if __name__ == "__main__":
    sys.exit(main())
