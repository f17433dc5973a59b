"""One worker of the soak: ``python -m soak.worker PART SEED FIRST STEP LAST STOP_AT FOLDER``.

Runs every STEP-th case from FIRST until LAST, one after the other, and tells each on stdout as a
line of JSON. STOP_AT is the time, in seconds since the epoch, at which no other one is begun. PART
is ``processes``, ``calls``, or ``again`` to show one process to a person.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import time
from pathlib import Path
from typing import NoReturn

from soak.cases import ADAPTERS, Case, make
from soak.oracle import judge
from soak.process import adopt, as_facts, command, environment, run

# Enough for the folders of a case; small enough to be filled in no time.
DISK = "size=256k,nr_inodes=64"


def main() -> None:
    """Work."""
    part, *figures, folder = sys.argv[1:]
    seed, first, step, last = map(int, figures[:4])
    stop_at = float(figures[4])
    numbers = range(first, last, step)
    if part == "calls":
        from soak.inside import calls

        calls(seed, numbers, stop_at)
        return
    adopt()
    disk = Path(folder) / "disk"
    disk.mkdir(parents=True)
    has_disk = _mount(disk)
    if not has_disk:
        tell({"note": "skipped 'disk is full': this machine lets us mount no small file system"})
    if part == "again":
        again(make(seed, first), Path(folder), disk)
    warm(Path(folder))
    for number in numbers:
        case = make(seed, number)
        full = case.fault == "disk is full"
        if time.time() > stop_at:
            break
        if has_disk or not full:
            tell(_one(case, disk if full else Path(folder) / str(number)))


def again(case: Case, folder: Path, disk: Path) -> NoReturn:
    """Do one case once more, and show everything about it."""
    print(case)
    print(shlex.join(command(case)).encode("ascii", "backslashreplace").decode())
    evidence = run(case, disk if case.fault == "disk is full" else folder / "again")
    for name, value in as_facts(evidence).items():
        print(f"{name}: {value!a}")
    verdict = judge(case, evidence)
    print(verdict)
    sys.exit(int(bool(verdict.findings)))


def _one(case: Case, folder: Path) -> dict[str, object]:
    before = set(os.listdir("/proc/self/fd"))
    evidence = run(case, folder)
    verdict = judge(case, evidence)
    if set(os.listdir("/proc/self/fd")) != before:
        raise RuntimeError("the worker itself leaks descriptors")
    told: dict[str, object] = {
        "number": case.number,
        "adapter": case.adapter,
        "contract": case.contract,
        "deed": case.deed,
        "fault": case.fault,
        "outcome": verdict.outcome,
        "took": evidence.took,
        "bytes": len(evidence.stdout) + len(evidence.stderr),
    }
    if verdict.findings:
        told["findings"] = verdict.findings
        told["argv"] = command(case)
        told["case"] = {
            "signals": [(round(delay, 4), int(number)) for delay, number in case.signals],
            "limit": case.limit,
            "stdin": case.stdin,
            "session": case.session,
            "unbuffered": case.unbuffered,
        }
        told["facts"] = as_facts(evidence)
    return told


def warm(folder: Path) -> None:
    """Have the bytecode of the tools written before processes are killed that would write it."""
    for adapter in ADAPTERS:
        for words in (["do", "asks"], ["describe"], ["change"], ["slow", "--output", "ndjson"]):
            case = Case(0, adapter, "response", "asks", "none", words)
            settings = environment(case, folder)
            del settings["PYTHONDONTWRITEBYTECODE"]
            subprocess.run(
                command(case),
                env=settings,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=60,
                check=False,
            )


def _mount(disk: Path) -> bool:
    """Put a small file system at *disk*; seen by this process and its children only."""
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", DISK, "soak", str(disk)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    return done.returncode == 0 and os.path.ismount(disk)


def tell(what: dict[str, object]) -> None:
    """Report to the program that started us."""
    print(json.dumps(what), flush=True)


if __name__ == "__main__":
    main()
