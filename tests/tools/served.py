"""A tool whose commands show what a server makes of calls: state, progress, failures, changes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from typing import TypedDict

import click

import murli


class Echo(TypedDict):
    text: str
    count: int


COUNTS: dict[str, int] = {"calls": 0}


@click.group()
def cli() -> None:
    """Show what a server makes of calls."""


@cli.command()
@click.argument("text")
@click.option("--count", type=int, default=1, help="how often")
@murli.about(mutating=False, idempotent=True, examples=[murli.Example("served echo hi", "Say hi")])
def echo(text: str, count: int) -> Echo:
    """Return a text."""
    return {"text": text * count, "count": count}


@cli.command()
@murli.about(mutating=False)
def state() -> dict[str, object]:
    """Return what the process of a call looks like, and spoil it."""
    COUNTS["calls"] += 1
    found: dict[str, object] = {
        "calls": COUNTS["calls"],
        "cwd": os.getcwd(),
        "leaked": os.environ.get("LEAKED", ""),
        "threads": threading.active_count(),
        "signal": signal.getsignal(signal.SIGUSR1) is signal.SIG_DFL,
        "stdin": sys.stdin.read(),
        "files": sorted(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else [],
    }
    os.chdir("/")
    os.environ["LEAKED"] = "yes"
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    os.write(1, b"straight to the descriptor\n")
    print("printed")
    threading.Thread(target=time.sleep, args=(0.05,), daemon=True).start()
    return found


@cli.command()
@click.argument("mark")
@click.option("--seconds", type=float, default=0.0)
@murli.about(mutating=False)
def work(mark: str, seconds: float) -> dict[str, int]:
    """Work for a while, and say how far it has come."""
    writer = murli.get_writer()
    writer.log("begun")
    try:
        open(mark, "w").close()
        for number in range(1, 5):
            writer.write_progress(murli.ProgressEvent(stage="work", current=number, total=4))
            time.sleep(seconds / 4)
    finally:
        os.unlink(mark)
    return {"done": 4}


@cli.command()
@click.argument("what", type=click.Choice(["busy", "denied", "crash", "exit", "killed"]))
@murli.about(mutating=False)
def fail(what: str) -> None:
    """Fail."""
    if what == "busy":
        raise murli.AgentError.rate_limited("Too many calls.", retry_after_ms=1500)
    if what == "denied":
        raise murli.AgentError.permission_denied("Not yours.", "Ask the owner.")
    if what == "exit":
        os._exit(7)
    if what == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    raise ValueError("something is wrong")


@cli.command()
@click.argument("path")
@murli.about(destructive=True, plan=lambda path: {"would_remove": path})
def wipe(path: str) -> dict[str, str]:
    """Remove a file."""
    os.unlink(path)
    return {"removed": path}


@cli.command()
@click.argument("path")
def touch(path: str) -> dict[str, str]:
    """Make a file; nobody has declared that."""
    open(path, "w").close()
    return {"made": path}


@cli.command()
@click.argument("size", type=int)
@murli.about(mutating=False)
def big(size: int) -> dict[str, str]:
    """Return much."""
    return {"text": "x" * size}


@cli.command()
@murli.about(mutating=False)
def ask() -> str:
    """Ask somebody who is not there."""
    return input("Who? ")


@cli.command()
@click.argument("mark")
@murli.about(mutating=False)
def leave(mark: str) -> dict[str, int]:
    """Leave a process behind, in the same session."""
    code = "import sys, time; open(sys.argv[1], 'w').close(); time.sleep(60)"
    child = subprocess.Popen([sys.executable, "-c", code, mark], stdout=subprocess.DEVNULL)
    while not os.path.exists(mark):
        time.sleep(0.01)
    return {"process": child.pid}


if __name__ == "__main__":
    murli.enable(cli, name="served", tool_version="1.2.3")
    cli()
