"""``make bench``: how long ``murli check`` takes, of riffle and of a tool with a hundred commands.

Other work on the machine spoils a clock, so what counts is the processor time of the checker and of
every process of the tool, on two cores: half of it. The clock is told beside it, and so is what the
same calls take one after the other. Ends with 1 when a limit is exceeded, or when the reports with
one job and with two are not the same. ``--json PATH`` writes the figures.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from murli.conformance import Profile, Report, check, load

from .figures import Figure, report_figures

CORES = 2
COMMANDS = 100
RIFFLE = Path(__file__).parents[1] / "examples" / "riffle" / "check.toml"

# Eight of ten only read; of the others half destroy.
TOOL = """
import argparse, murli
parser = argparse.ArgumentParser(prog="hundred")
commands = parser.add_subparsers(required=True)
for number in range({count}):
    kind = ("create", "delete")[number // 10 % 2] if number % 10 > 7 else "show"
    command = commands.add_parser(f"{{kind}}-{{number}}", help="Do something.")
    command.add_argument("what", nargs="?")
    command.add_argument("--count", type=int, default=1)
    murli.annotate(command, murli.Metadata(
        mutating=kind != "show", destructive=kind == "delete", idempotent=kind == "show"))
murli.enable(parser)
args = parser.parse_args()
murli.get_writer().write_success("Done.", {{"what": args.what}})
"""


@dataclass(frozen=True)
class Case:
    """A tool, and the most seconds that checking it may take on two cores."""

    name: str
    tool: list[str]
    profile: Profile
    limit: float


def checked(case: Case, jobs: int) -> tuple[Report, float, float]:
    """Return the report with the processor time and the time that it took."""
    start, before = time.monotonic(), os.times()
    report = check(case.tool, profile=case.profile, jobs=jobs)
    after, took = os.times(), time.monotonic() - start
    return report, sum(after[:4]) - sum(before[:4]), took


def findings(report: Report) -> str:
    """Return what was found, without times and places."""
    found = [
        (each.id, each.status, [(one.status, one.command, one.detail) for one in each.troubles])
        for each in report.results
    ]
    return re.sub(r"\d+ ms|murli-check-\w+", "", repr(found))


def main() -> int:
    """Print the table; return 1 when a limit is exceeded."""
    figures = []
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "hundred.py"
        script.write_text(TOOL.format(count=COMMANDS))
        cases = [
            Case("riffle", [sys.executable, "-m", "riffle"], load(RIFFLE), 8.0),
            Case(f"{COMMANDS} commands", [sys.executable, str(script)], Profile(), 60.0),
        ]
        for case in cases:
            one, alone, slow = checked(case, 1)
            two, beside, took = checked(case, CORES)
            same = findings(one) == findings(two)
            note = f"{two.processes} processes; clock {took:.1f} s, one job {slow:.1f} s"
            note += "" if same else "; THE REPORTS DIFFER"
            seconds = beside / CORES
            figures += [
                Figure(
                    f"check of {case.name}, on two cores", seconds, case.limit, unit="s", note=note
                ),
                # What two jobs cost more than one: homes and their setup.
                Figure(f"check of {case.name}, CPU", beside / alone, 1.25, baseline="one job"),
                Figure(f"check of {case.name}, reports that differ", float(not same), 0.0, unit=""),
            ]
    return report_figures(figures)


if __name__ == "__main__":
    sys.exit(main())
