"""Has a part of the soak done by several workers, and listens to them."""

from __future__ import annotations

import functools
import json
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path
from queue import Empty, Queue
from typing import Any

from soak.process import ROOT
from soak.report import Tally

# How often progress is shown, in seconds.
OFTEN = 15.0


def command(part: str, *numbers: float | Path) -> list[str]:
    """Return the command line of a worker, see `soak.worker`."""
    worker = [sys.executable, "-m", "soak.worker", part, *map(str, numbers)]
    return worker if part == "calls" else [*_apart(), *worker]


@functools.cache
def _apart() -> tuple[str, ...]:
    """Return what starts a worker in a mount namespace of its own, where that is possible."""
    unshare = shutil.which("unshare")
    if unshare is None:
        return ()
    apart = (unshare, "--map-root-user", "--mount")
    tried = subprocess.run([*apart, "true"], capture_output=True, check=False)
    return apart if tried.returncode == 0 else ()


def work(part: str, numbers: range, jobs: int, stop_at: float, tally: Tally, folder: Path) -> None:
    """Have the cases *numbers* of *part* done, and counted in *tally*."""
    count = len(numbers)
    told: Queue[dict[str, Any]] = Queue()
    started = shown = time.monotonic()
    workers = []
    for number in range(jobs):
        own = folder / f"{part}-{number}"
        own.mkdir()
        words = command(part, tally.seed, numbers.start + number, jobs, numbers.stop, stop_at, own)
        workers.append(threading.Thread(target=_listen, args=(words, told)))
    for worker in workers:
        worker.start()
    while any(worker.is_alive() for worker in workers) or not told.empty():
        try:
            tally.take(told.get(timeout=0.5))
        except Empty:
            pass
        if time.monotonic() - shown > OFTEN:
            shown = time.monotonic()
            print(f"  {tally.progress(part, count, shown - started)}", flush=True)
    tally.took[part] = time.monotonic() - started
    if (done := tally.count(part)) < count:
        tally.notes.add(f"{done:,} of {count:,} {part} were done: the time was up, or some skipped")


def _listen(words: list[str], told: Queue[dict[str, Any]]) -> None:
    with subprocess.Popen(
        words, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True
    ) as process:
        for line in process.stdout or ():
            told.put(json.loads(line))
    if process.returncode:
        told.put({"failure": f"a worker ended with {process.returncode}: {words[-7:]}"})
