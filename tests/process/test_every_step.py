"""A signal is answered wherever it finds murli's own code, line by line."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from harness import environment, run, script

pytestmark = [pytest.mark.warm, pytest.mark.adapters("argparse", "click")]

# The tool signals itself when so many lines have run behind the end of its handler.
COUNTING = """
import os, signal, sys
import murli

left = int(os.environ["STEPS_LEFT"])

def trace(frame, event, arg):
    global left
    left -= event == "line"
    if left <= 0:
        sys.settrace(None)
        os.kill(os.getpid(), signal.SIGTERM)
    return trace

def handle(what):
    if what == "answers":
        murli.get_writer().write_success("done", {"n": 1})
    sys.settrace(trace)
    frame = sys._getframe(1)
    while frame is not None:
        frame.f_trace, frame = trace, frame.f_back
    if what == "fails":
        raise murli.AgentError.not_found("gone", "look elsewhere")
    if what == "prints":
        print("printed")
"""
FRONTS = {
    "argparse": """
import argparse
parser = argparse.ArgumentParser(prog="tool")
parser.add_argument("what")
murli.enable(parser)
handle(parser.parse_args().what)
""",
    "session": """
import argparse
parser = argparse.ArgumentParser(prog="tool")
parser.add_argument("what")
murli.enable(parser)
with murli.session(parser) as (args, _):
    handle(args.what)
""",
    "click": """
import click
@click.command()
@click.argument("what")
def tool(what):
    handle(what)
murli.enable(tool)
tool()
""",
    "typer": """
import typer
app = typer.Typer(add_completion=False)
@app.command()
def tool(what: str):
    handle(what)
murli.enable(app)
app()
""",
}
CODES = {"answers": 0, "fails": 5, "prints": 0}
# Some of the lines, more of them where the handler has just ended.
STEPS = (*range(1, 160, 20), *range(180, 850, 110))


@pytest.mark.parametrize("what", list(CODES))
@pytest.mark.parametrize("front", list(FRONTS))
def test_a_signal_at_any_line_behind_the_handler(front: str, what: str, tmp_path: Path) -> None:
    """Behind its handler a call that is signalled ends with one document for its exit code."""
    tool = script(tmp_path, COUNTING + FRONTS[front])
    for left in STEPS:
        settings = environment(STEPS_LEFT=str(left), MURLI_CONTRACT="agent-spec-2")
        done = run(tool, what, env=settings)
        # There is nothing beside the answers; the one on stderr is the last.
        last = [json.loads(text) for text in (done.out, done.err) if text][-1]
        told = last["meta"]["exit_code"]
        assert told in (CODES[what], 143), (left, done)
        # Behind the answer of a session, signals are the program's own again.
        if front != "session" or done.code != -signal.SIGTERM or told == 143:
            assert done.code == told, (left, done)
