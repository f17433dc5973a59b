"""A call that is forked before its script begins is what a call in a fresh interpreter is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import harness
import warm
from harness import Run, run, run_at_terminal, script

PROBE = """
import click
import atexit, json, os, signal, sys

main = sys.modules["__main__"]
depth, frame = 0, sys._getframe()
while frame:
    depth, frame = depth + 1, frame.f_back

def facts(stream):
    raw = stream.buffer.raw
    return [
        stream.name, stream.mode, stream.encoding, stream.errors, stream.line_buffering,
        stream.write_through, stream.newlines, stream.seekable(), type(stream.buffer).__name__,
        raw.name, raw.mode, raw.closefd,
    ]

print(json.dumps({
    "streams": [facts(each) for each in (sys.stdin, sys.stdout, sys.stderr)],
    "main": {name: str(each) for name, each in vars(main).items() if name in sys.argv[2:]},
    "words": [sys.argv, sys.orig_argv, sys.path, sys.executable, str(sys.flags)],
    "modules": sorted(set(sys.modules) - {"sitecustomize"}),
    "place": [os.getcwd(), dict(os.environ), os.getpgrp(), os.umask(0)],
    "descriptors": sorted(os.listdir("/proc/self/fd")),
    "signals": [str(signal.getsignal(each)) for each in range(1, 32)],
    "hooks": [str(sys.excepthook), str(sys.gettrace())],
    "depth": depth,
    "read": sys.stdin.read(),
}))
atexit.register(lambda: print("the end of", sys.modules["__main__"] is main))
exec(sys.argv[1])
"""
ENDS = {
    "nothing": ("pass", 0),
    "raised": ("1/0", 1),
    "words": ("sys.exit('words')", 1),
    "interrupt": ("raise KeyboardInterrupt", -2),
    "signal": ("os.kill(os.getpid(), 9)", -9),
    "lost": ("os.close(1)", 120),
}
NAMES = ["__name__", "__doc__", "__package__", "__spec__", "__file__", "__cached__"]


@pytest.mark.parametrize("end", ENDS)
def test_a_forked_call_is_like_a_fresh_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    """Streams, words, modules, frames, signals, descriptors, tracebacks and ends are the same."""
    argv, (source, code) = script(tmp_path, PROBE), ENDS[end]
    for stdin in (None, b"typed"):
        runs: list[Run] = []
        for is_warm in (False, True):
            monkeypatch.setattr(harness, "IS_WARM", is_warm)
            runs.append(run(argv, source, *NAMES, stdin=stdin, cwd=tmp_path))
        fresh, forked = map(_taken_apart, runs)
        assert forked == fresh
        assert fresh[-1] == code
    assert warm.servers(), "it was forked"


def test_a_forked_call_at_a_terminal_is_like_a_fresh_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At a terminal as well it has the same streams, words and modules, and its own session."""
    argv, runs = script(tmp_path, PROBE), []
    for is_warm in (False, True):
        monkeypatch.setattr(harness, "IS_WARM", is_warm)
        done = run_at_terminal(argv, "assert os.getsid(0) == os.getpid()", *NAMES, keys=b"\x04")
        found = _taken_apart(done)
        found[0]["place"].pop(2)  # the group, which is its own
        runs.append(found)
    assert runs[0] == runs[1]
    assert runs[0][2:] == ("", 0)


def _taken_apart(done: Run) -> tuple[Any, str, str, int]:
    document, _, rest = done.out.partition("\n")
    return json.loads(document) if document else None, rest, done.err, done.code


def test_what_a_start_depends_on_starts_an_interpreter(tmp_path: Path) -> None:
    """A variable that an interpreter reads when it starts, or another program, is never forked."""
    usual = harness.environment()
    argv = [*script(tmp_path, PROBE), "pass"]
    assert warm.framework_for(argv, usual, usual) == "click"
    for name in ("PYTHONUTF8", "LC_ALL", "NO_COLOR", "TERM"):
        assert warm.framework_for(argv, {**usual, name: "other"}, usual) == ""
    assert warm.framework_for(["sh", argv[1]], usual, usual) == ""
    assert warm.framework_for([argv[0], "-m", "murli"], usual, usual) == ""
    assert warm.framework_for([argv[0], Path(argv[1]).name], usual, usual) == ""
