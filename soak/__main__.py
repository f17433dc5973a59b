"""``make soak``: thousands of calls, each with something going wrong, and an oracle for each.

Part A runs real processes of tools that misbehave, under signals, bad readers, full disks, closed
streams and hostile words (`soak.cases`); part B makes calls inside one process (`soak.inside`).
Every case comes from the seed and its number: ``--only NUMBER`` does one of part A again and shows
it. Ends with 1 when murli's word was not kept (`soak.oracle` says what that is).
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from soak.report import Tally, show
from soak.workers import command, work

# What part A may take of the time, so that there is some left for part B.
SHARE = 0.8


def main() -> int:
    """Soak, print the table, give 1 when something was found."""
    parser = argparse.ArgumentParser(prog="python -m soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=25.0, help="stop by then (25)")
    parser.add_argument("--processes", type=int, default=10_000, help="of part A (10,000)")
    parser.add_argument("--calls", type=int, default=100_000, help="of part B (100,000)")
    parser.add_argument("--first", type=int, default=0, help="number of the first process (0)")
    parser.add_argument("--seed", type=int, help="to do the same again")
    parser.add_argument("--jobs", type=int, default=2, help="workers at a time (2)")
    parser.add_argument("--only", type=int, metavar="NUMBER", help="one process of part A")
    args = parser.parse_args()
    if not Path("/proc/self/fd").is_dir():
        print("make soak needs Linux: it looks at processes through /proc.", file=sys.stderr)
        return 2
    seed = random.SystemRandom().randrange(1_000_000) if args.seed is None else args.seed
    seconds = args.minutes * 60
    tally, began = Tally(seed), time.time()
    with tempfile.TemporaryDirectory(prefix="murli-soak-") as place:
        folder = Path(place)
        if args.only is not None:
            again = command("again", seed, args.only, 1, args.only + 1, began + seconds, folder)
            return subprocess.run(again, check=False).returncode
        print(f"seed {seed}", flush=True)
        for part, first, count, stop_at in (
            ("processes", args.first, args.processes, began + seconds * SHARE),
            ("calls", 0, args.calls, began + seconds),
        ):
            if count:
                work(part, range(first, first + count), args.jobs, stop_at, tally, folder)
    show(tally)
    return int(bool(tally.findings or tally.failures))


if __name__ == "__main__":
    sys.exit(main())
