"""``make bench``: what hiding secrets costs a tool that prints 100 MB.

Processor time of a piped call with secrets in its environment, against the same call without any.
Ends with 1 when a limit is exceeded. ``--json PATH`` writes the figures.
"""

from __future__ import annotations

import base64
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from .figures import Figure, report_figures

MEGABYTES = 100
LIMIT = 1.3
ROUNDS = 3

PRINTING = """
import argparse, sys, murli
parser = argparse.ArgumentParser(prog="print")
parser.add_argument("megabytes", type=int)
murli.enable(parser)
line = "2026-01-01 12:00:00 INFO request handled in 17 ms by worker-3 path=/api/items/10003 x=1\\n"
for _ in range(parser.parse_args().megabytes):
    sys.stdout.write(line * (1_000_000 // len(line)))
"""


def _generated(size: int) -> str:
    return base64.b64encode(os.urandom(size)).decode()


def _key(lines: int) -> str:
    body = [_generated(48) for _ in range(lines - 2)]
    return "\n".join(["-----BEGIN PRIVATE KEY-----", *body, "-----END PRIVATE KEY-----\n"])


CASES = {
    "a key of 52 lines": {"TLS_PRIVATE_KEY": _key(52)},
    "a key of 1500 lines": {"TLS_PRIVATE_KEY": _key(1500)},
    "10 tokens": {f"SERVICE_{number}_TOKEN": _generated(24) for number in range(10)},
    "100 tokens": {f"SERVICE_{number}_TOKEN": _generated(24) for number in range(100)},
}


def seconds(tool: Path, secrets: dict[str, str]) -> float:
    """Return the least processor time of a few calls."""
    plain = {"PATH": os.environ["PATH"], "MURLI_MAX_PRINTED": str(MEGABYTES * 2_000_000)}
    times = []
    for _ in range(ROUNDS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            [sys.executable, str(tool), str(MEGABYTES)],
            env={**plain, **secrets},
            stdout=subprocess.DEVNULL,
            check=True,
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(times)


def main() -> int:
    """Print the table; return 1 when secrets cost more than their limit."""
    figures = []
    with tempfile.TemporaryDirectory() as folder:
        tool = Path(folder) / "print.py"
        tool.write_text(PRINTING)
        for name, secrets in CASES.items():
            without, took = seconds(tool, {}), seconds(tool, secrets)
            measure = f"{MEGABYTES} MB printed, {name}"
            note = f"{without:.2f}, {took:.2f} s"
            figures.append(Figure(measure, took / without, LIMIT, "without secrets", note=note))
    return report_figures(figures)


if __name__ == "__main__":
    sys.exit(main())
