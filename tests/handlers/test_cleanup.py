"""What a handler leaves to be undone is undone, however the call ends."""

from __future__ import annotations

import io
import signal
import time
from pathlib import Path
from typing import Any

import pytest

import murli
from harness import environment, run, run_at_terminal, script
from murli.answer import Writer
from murli.handlers.cleanup import Cleanups
from starting import Starter

pytestmark = pytest.mark.warm

HANDLER = """
import os, signal, sys, threading, time

def undo(name):
    os.write(2, f"undo {name}\\n".encode())

def fail():
    raise OSError(28, "No space left on device")

def work(what):
    murli.on_cleanup(undo, "first")
    murli.on_cleanup(undo, "second")
    if what == "print":
        print("printed")
    if what == "answer":
        murli.get_writer().write_success("done", {"x": 1})
    if what == "raise":
        raise FileNotFoundError(2, "No such file or directory", "x")
    if what == "exit":
        sys.exit(3)
    if what == "cut":
        os._exit(3)
    if what == "fails":
        murli.on_cleanup(fail)
        print("printed")
    if what == "late":
        murli.on_cleanup(fail)
        murli.get_writer().write_success("done", {"x": 1})
    if what == "exits":
        murli.on_cleanup(sys.exit, 5)
        print("printed")
    if what == "adds":
        murli.on_cleanup(lambda: murli.on_cleanup(undo, "added"))
    if what == "slow":
        murli.on_cleanup(time.sleep, 0.3)
        os.write(2, b"ready\\n")
        time.sleep(30)
    if what == "sleep":
        os.write(2, b"ready\\n")
        time.sleep(30)
    if what == "hangs":
        murli.on_cleanup(time.sleep, 30)
        os.write(2, b"ready\\n")
    if what == "stubborn":
        while True:
            try:
                time.sleep(30)
            except BaseException:
                pass
    if what == "fork":
        if os.fork() == 0:
            sys.exit(0)
        os.wait()
"""
ARGPARSE = f"""
import argparse
import murli
{HANDLER}
parser = argparse.ArgumentParser()
parser.add_argument("what")
murli.enable(parser)
work(parser.parse_args().what)
"""
CLICK = f"""
import click
import murli
{HANDLER}
@click.command()
@click.argument("what")
def tool(what):
    work(what)

murli.enable(tool)
tool()
"""
SESSION = f"""
import argparse
import murli
{HANDLER}
parser = argparse.ArgumentParser()
parser.add_argument("what")
with murli.session(parser) as (args, writer):
    work(args.what)
"""
UNDONE = "undo second\nundo first\n"


@pytest.fixture(params=[ARGPARSE, CLICK, SESSION], ids=["argparse", "click", "session"])
def careless(request: pytest.FixtureRequest, tmp_path: Path) -> list[str]:
    """The argv of a tool that cleans up, on each way to run a handler."""
    return script(tmp_path, request.param)


@pytest.mark.parametrize(
    ("what", "code"), [("print", 0), ("answer", 0), ("raise", 5), ("exit", 3), ("cut", 3)]
)
def test_every_end_cleans_up(careless: list[str], what: str, code: int) -> None:
    """After a return, an answer, an exception, an exit or a hard exit: once, the last one first."""
    done = run(careless, what)
    assert done.code == code
    assert done.err.startswith(UNDONE)
    assert done.err.count("undo") == 2


def test_cleaning_up_comes_before_the_answer(tmp_path: Path) -> None:
    """Who reads the answer finds everything undone already."""
    argv = script(tmp_path, ARGPARSE)
    done = run(argv, "raise")
    assert done.err.index("undo first") < done.err.index('"not_found"')


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_cleans_up(careless: list[str], start: Starter, number: int) -> None:
    """A signal ends the handler, what it left is undone, and the answer is as always."""
    running = start(careless, "sleep")
    running.wait_for(b"ready")
    running.send(number)
    done = running.end()
    assert (done.code, done.error["error"]) == (9, "cancelled")
    assert UNDONE in done.err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_second_signal_does_not_cut_it_short(tmp_path: Path, start: Starter, number: int) -> None:
    """A cleanup that takes its time is finished, though the signal comes again."""
    running = start(script(tmp_path, ARGPARSE), "slow")
    running.wait_for(b"ready")
    running.send(number)
    time.sleep(0.1)
    running.send(number)
    done = running.end()
    assert (done.code, UNDONE in done.err) == (9, True)
    assert "cleanup" not in done.err


def test_a_cleanup_that_hangs_can_be_interrupted(careless: list[str], start: Starter) -> None:
    """A signal that finds a cleanup hanging ends it; the others run, and the call is cancelled."""
    running = start(careless, "hangs")
    running.wait_for(b"ready")
    time.sleep(0.2)
    running.send(signal.SIGTERM)
    done = running.end()
    assert (done.code, UNDONE in done.err) == (9, True)
    assert "The cleanup sleep failed" in done.err


@pytest.mark.parametrize("what", ["sleep", "stubborn", "hangs"])
def test_a_deadline_cleans_up(tmp_path: Path, what: str) -> None:
    """A deadline cleans up, also for a handler that does not let go, or a cleanup that hangs."""
    began = time.monotonic()
    done = run(script(tmp_path, ARGPARSE), what, "--timeout", "0.3")
    assert (done.code, done.error["error"]) == (4, "timeout")
    assert UNDONE in done.err
    assert time.monotonic() - began < 6


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_person_s_tool_cleans_up_and_ends_as_before(
    tmp_path: Path, start: Starter, number: int
) -> None:
    """For a person a signal still ends the process by itself, after what is due."""
    running = start(
        script(tmp_path, ARGPARSE), "sleep", env=environment(MURLI_MODE="human", MURLI_TEST=None)
    )
    running.wait_for(b"ready")
    running.send(number)
    done = running.end()
    assert done.code == -number
    assert UNDONE in done.err


def test_a_person_s_tool_cleans_up_at_its_end(tmp_path: Path) -> None:
    """At a terminal a return, and an exception, clean up too."""
    argv = script(tmp_path, ARGPARSE)
    for what in ("print", "raise"):
        assert UNDONE in run_at_terminal(argv, what).err


@pytest.mark.parametrize("what", ["fails", "exits"])
def test_a_cleanup_that_fails_changes_nothing(careless: list[str], what: str) -> None:
    """The others run, the answer is what it was, and a warning says which one failed."""
    done = run(careless, what)
    assert (done.code, done.document["result"]) == (0, "printed")
    assert UNDONE in done.err
    (logged,) = done.logs
    assert logged["msg"].startswith("warning: The cleanup ")


def test_the_warning_is_in_the_answer(tmp_path: Path) -> None:
    """Where the contract has a place for warnings, a failed cleanup is one of them."""
    done = run(script(tmp_path, ARGPARSE), "fails", "--contract", "agent-spec-2")
    (warning,) = done.document["warnings"]
    assert warning["code"] == "CLEANUP_FAILED"
    assert warning["message"] == "The cleanup fail failed: No space left on device"
    assert warning["context"] == {"cleanup": "fail"}


def test_a_warning_after_the_answer_is_logged(tmp_path: Path) -> None:
    """A handler that has answered leaves no place for the warning but the log."""
    done = run(script(tmp_path, ARGPARSE), "late", "--contract", "agent-spec-2")
    assert (done.code, done.document["warnings"]) == (0, [])
    assert "The cleanup fail failed" in done.err


def test_a_cleanup_may_register_another(tmp_path: Path) -> None:
    """What is added while cleaning up runs too."""
    assert run(script(tmp_path, SESSION), "adds").err.startswith("undo added\nundo second")


def test_a_fork_leaves_it_to_the_program(careless: list[str]) -> None:
    """A fork that ends does not undo what the program still uses."""
    done = run(careless, "fork")
    assert done.code == 0
    assert done.err.count("undo first") == 1


@pytest.mark.parametrize("mode", ["agent", "human"])
def test_a_program_that_replaces_itself_keeps_what_it_made(tmp_path: Path, mode: str) -> None:
    """Before os.exec nothing is undone, for people and agents alike: the other may need it."""
    source = ARGPARSE + "os.execvp('echo', ['echo', 'other'])\n"
    done = run(script(tmp_path, source), "nothing", env=environment(MURLI_MODE=mode))
    assert (done.out, done.err) == ("other\n", "")


def test_click_without_its_own_ending(tmp_path: Path) -> None:
    """A click tool called with standalone_mode=False cleans up when the call returns."""
    source = CLICK.replace("\ntool()\n", "\ntool(standalone_mode=False)\nundo('after')\n")
    done = run(script(tmp_path, source), "print")
    assert done.err == UNDONE + "undo after\n"


def test_outside_of_a_call_it_runs_at_exit(tmp_path: Path) -> None:
    """Without an invocation the functions run when the interpreter exits, the last one first."""
    source = f"import murli\n{HANDLER}\nwork('fails')\nprint('end')\n"
    done = run(script(tmp_path, source))
    assert (done.code, done.out) == (0, "printed\nend\n")
    assert done.err.index("The cleanup fail failed") < done.err.index(UNDONE)


def test_outside_of_a_call_a_fork_leaves_it_too(tmp_path: Path) -> None:
    """Without an invocation, too, only the program itself undoes what it did."""
    source = f"import murli\n{HANDLER}\nwork('fork')\n"
    assert run(script(tmp_path, source)).err == UNDONE


def test_what_is_registered_before_the_call_runs_too(tmp_path: Path) -> None:
    """What is registered while the tool is still starting up runs once, at exit."""
    source = ARGPARSE.replace("(parser)\n", "(parser)\nmurli.on_cleanup(undo, 0)\n")
    for what, code in (("print", 0), ("exit", 3), ("raise", 5)):
        done = run(script(tmp_path, source), what)
        assert done.code == code
        assert done.err.count("undo 0") == 1


def test_it_may_stand_above_a_function() -> None:
    """on_cleanup gives the function back, and refuses what cannot be called."""

    def undo() -> None: ...

    cleanups = Cleanups(Writer(io.StringIO(), io.StringIO()))
    assert cleanups.add(undo).name.endswith("undo")
    with pytest.raises(TypeError, match="a function to call, not 3"):
        murli.on_cleanup(3)  # type: ignore[type-var]


def test_each_runs_once() -> None:
    """Running twice calls nothing twice, and what was dropped is not called at all."""
    called: list[Any] = []
    cleanups = Cleanups(Writer(io.StringIO(), io.StringIO()))
    cleanups.add(called.append, 1)
    dropped = cleanups.add(called.append, 2)
    cleanups.drop(dropped)
    cleanups.drop(dropped)
    cleanups.run()
    cleanups.run()
    assert called == [1]


def test_signals_are_given_back() -> None:
    """Once everything is done, SIGTERM is what it was."""
    before = signal.getsignal(signal.SIGTERM)
    cleanups = Cleanups(Writer(io.StringIO(), io.StringIO()))
    cleanups.hook_signals()
    cleanups.run()
    assert signal.getsignal(signal.SIGTERM) == before
