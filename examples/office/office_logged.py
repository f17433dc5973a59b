"""Runs the entry point that OFFICE_ENTRY names, and logs each call to the file OFFICE_LOG.

A line of the log has the words of the call, its exit code, and the bytes of stdout and stderr. Both
are pipes for the tool, as they are for an agent, and stdin is the caller's.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import BinaryIO


def passed_on(source: BinaryIO, target: BinaryIO, sizes: list[int]) -> None:
    """Write what comes from *source* to *target*, and its sizes to *sizes*."""
    while part := os.read(source.fileno(), 1 << 16):
        sizes.append(len(part))
        try:
            target.write(part)
            target.flush()
        except BrokenPipeError:  # `| head` has read enough
            pass


def main() -> int:
    """Make one call; return its exit code."""
    entry = Path(__file__).with_name(os.environ.get("OFFICE_ENTRY", "office_plain.py"))
    began = time.time()
    tool = subprocess.Popen(
        [sys.executable, str(entry), *sys.argv[1:]], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert tool.stdout is not None and tool.stderr is not None
    out: list[int] = []
    err: list[int] = []
    streams = [(tool.stdout, sys.stdout.buffer, out), (tool.stderr, sys.stderr.buffer, err)]
    threads = [threading.Thread(target=passed_on, args=each) for each in streams]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    code = tool.wait()
    call = {"argv": sys.argv[1:], "code": code, "stdout": sum(out), "stderr": sum(err)}
    if "OFFICE_LOG" in os.environ:
        with open(os.environ["OFFICE_LOG"], "a") as log:
            log.write(json.dumps({**call, "seconds": round(time.time() - began, 3)}) + "\n")
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    os._exit(main())
