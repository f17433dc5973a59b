"""``make fuzz``: look for inputs that break murli's word, guided by coverage.

Each target of `fuzz.targets` runs in a process of its own under atheris. An input that breaks a
rule is written to ``tests/corpus/<target>/``, where ``tests/test_corpus.py`` replays it from then
on. Ends with 1 when there was one.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

from fuzz.targets import TARGETS

ROOT = Path(__file__).parent.parent
GROWN = ROOT / ".cache" / "fuzz"
JOBS = 2


@dataclass
class Report:
    """What became of one target."""

    target: str
    runs: int = 0
    coverage: int = 0
    findings: list[dict[str, str]] = field(default_factory=list)
    failure: str = ""


def run(target: str, seconds: int) -> Report:
    """Fuzz *target* for so long."""
    command = [sys.executable, "-m", "fuzz.one", target, str(seconds), str(GROWN)]
    log = GROWN / f"{target}.log"
    with log.open("wb") as errors:
        done = subprocess.run(
            command,
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            timeout=seconds + 300,
            check=False,
        )
    report = Report(target)
    for line in done.stdout.decode("utf-8", "replace").splitlines():
        if line.startswith('{"rule"'):
            report.findings.append(json.loads(line))
    told = log.read_text("utf-8", "replace")
    runs = re.findall(r"number_of_executed_units: (\d+)", told)
    covered = re.findall(r"\bft: (\d+)", told)
    report.runs = int(runs[-1]) if runs else 0
    report.coverage = int(covered[-1]) if covered else 0
    if done.returncode:
        report.failure = f"ended with {done.returncode}; see {log}"
    return report


def main() -> int:
    """Fuzz, print the table, give 1 when something was found."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=5.0, help="for all targets (default: 5)")
    parser.add_argument("--target", action="append", choices=[*TARGETS], help="only this one")
    args = parser.parse_args()
    if find_spec("atheris") is None:
        print("make fuzz needs atheris: pip install --group fuzz.", file=sys.stderr)
        return 2
    targets = args.target or list(TARGETS)
    # So many at a time, and all of them within the minutes.
    rounds = -(-len(targets) // JOBS)
    seconds = max(5, int(args.minutes * 60 / rounds))
    GROWN.mkdir(parents=True, exist_ok=True)
    print(f"{len(targets)} targets, {seconds} s each, {JOBS} at a time", flush=True)
    with ThreadPoolExecutor(JOBS) as pool:
        reports = list(pool.map(lambda target: run(target, seconds), targets))
    print(f"{'target':<12}{'inputs':>12}{'features':>10}{'findings':>10}")
    for report in reports:
        print(
            f"{report.target:<12}{report.runs:>12,}{report.coverage:>10,}"
            f"{len(report.findings):>10}  {report.failure}"
        )
    for report in reports:
        for finding in report.findings:
            print(f"\n{report.target}: {finding['rule']}\n  {finding['error']}")
            print(f"  {finding['file']}")
    return int(any(report.findings or report.failure for report in reports))


if __name__ == "__main__":
    sys.exit(main())
