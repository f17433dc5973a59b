"""What was printed or answered is neither lost nor told twice, nor put where it has no place."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from harness import DEADLINE, environment, run, run_at_terminal, script
from starting import Starter

pytestmark = [pytest.mark.adapters("argparse", "click"), pytest.mark.warm]


@pytest.mark.parametrize(
    ("who", "lines"),
    [
        *(("shell", "abcdd"), ("system", "ab"), ("fork", "ab"), ("handler", "abcd")),
        *(("back again", "ab"), ("truncated", "a")),
    ],
)
def test_nobody_truncates_what_was_printed(faults: list[str], who: str, lines: str) -> None:
    """Who opens /dev/stdout anew, a child or the handler itself, adds to what was printed."""
    done = run(faults, "do", "truncate", "--name", who)
    assert done.document["result"].split("\n") == ["record 1", "record 2", *lines, "record 3"]


@pytest.mark.parametrize("at_terminal", [False, True])
def test_files_that_are_left_open_are_written(
    faults: list[str], tmp_path: Path, *, at_terminal: bool
) -> None:
    """What a handler that crashes has written to files, and left to Python, is in them, once."""
    place = tmp_path / "file"
    words = ("do", "open_file", "--name", str(place))
    done = run_at_terminal(faults, *words) if at_terminal else run(faults, *words)
    assert (done.code, "in the middle" in done.err) == (2, True)
    assert place.read_text() == "of the frame"
    assert Path(f"{place}.module").read_text() == "of the module"


def test_files_of_an_interrupted_handler_are_written(
    faults: list[str], start: Starter, tmp_path: Path
) -> None:
    """What an interrupted handler has written to files that it left open is in them."""
    place = tmp_path / "file"
    running = start(faults, "do", "open_file", "--yes", "--name", str(place))
    running.wait_for(b"ready")
    running.send(signal.SIGINT)
    done = running.end()
    assert (done.code, done.error["error"]) == (9, "cancelled")
    assert place.read_text() == "of the frame"
    assert Path(f"{place}.module").read_text() == "of the module"


def test_a_child_that_stays_may_go_on_printing(faults: list[str], start: Starter) -> None:
    """A program the handler leaves running is not killed by its next line of output."""
    running = start(faults, "do", "leave_child", stdin=subprocess.PIPE)
    out = running.process.stdout
    assert out is not None
    assert json.loads(out.read())["result"] == "left"
    assert running.process.stdin is not None
    running.process.stdin.write(b"go\n")
    running.process.stdin.flush()
    running.wait_for(b"still there")


def test_a_tool_in_the_background_lets_its_caller_go(faults: list[str]) -> None:
    """Who waits for the end of stdout does not wait for a daemon the tool has become."""
    began = time.monotonic()
    done = run(faults, "do", "daemon", "--timeout", "20")
    assert done.document["result"] == "in the background"
    assert time.monotonic() - began < 15


def test_a_child_hears_what_it_is_sent_at_once(faults: list[str]) -> None:
    """A fork that is ended when it has hardly begun ends: no signal is lost on the way."""
    for _ in range(3):
        done = run(faults, "do", "early_end")
        assert done.document["result"] == "left"


def test_what_was_printed_before_stdout_was_put_aside(faults: list[str]) -> None:
    """A handler that replaces sys.stdout loses nothing of what it printed before."""
    done = run(faults, "do", "put_aside")
    assert (done.document["result"], done.err) == ("printed", "")


@pytest.mark.parametrize("contract", ["murli", "response"])
def test_no_file_of_the_tool_gets_the_answer(
    faults: list[str], contract: str, tmp_path: Path
) -> None:
    """A tool that closes all descriptors and opens files finds no answer in them."""
    env = environment(MURLI_CONTRACT=contract)
    done = run(faults, "do", "close_all", "--name", str(tmp_path / "file"), env=env)
    assert (done.code, done.out) == (2 if contract == "murli" else 1, "")
    assert "output_failed" in done.err.lower()
    nowhere = run(faults, "do", "close_all", "--name", str(tmp_path / "all"), "--yes", env=env)
    assert (nowhere.code, nowhere.out, nowhere.err) == (done.code, "", "")
    assert [path.read_text() for path in tmp_path.iterdir()] == [""] * 8


def test_a_tool_that_closes_its_stdout_has_printed_all_the_same(faults: list[str]) -> None:
    """What is in the buffer of a stdout that the handler closes is the result, without secrets."""
    done = run(faults, "do", "close_stdout", env=environment(A_TOKEN="hunter2-Zq_9x"))
    assert (done.document["result"], done.err) == ("printed [REDACTED]", "")


@pytest.mark.adapters("argparse", "click", "typer")
@pytest.mark.parametrize("what", ["answers", "fails", "streams"])
def test_a_fork_says_nothing(faults: list[str], what: str) -> None:
    """A forked child that answers, fails or streams leaves the one answer to its parent."""
    done = run(faults, "do", "fork_away", "--name", what)
    assert (done.code, done.document["result"]) == (0, {"parent": 1})
    assert "status" not in done.err


@pytest.mark.parametrize(
    "settings",
    [
        {"LC_ALL": "C", "PYTHONIOENCODING": "ascii"},
        {"LC_ALL": "C", "PYTHONIOENCODING": "latin-1", "PYTHONUTF8": "0"},
        {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    ],
    ids=["ascii", "latin-1", "no locale"],
)
def test_text_arrives_whatever_the_locale(faults: list[str], settings: dict[str, str]) -> None:
    """What is printed beyond ASCII is in the result, whatever the locale says.

    By Python programs the handler starts as well, where only a variable is in the way.
    """
    done = run(faults, "do", "umlauts", env=environment(**settings))
    child = ["漢漢"] if "PYTHONIOENCODING" in settings else []
    assert done.document["result"].split("\n") == ["é ü 漢", *child]
    text = run(faults, "do", "umlauts", "--output", "text", env=environment(**settings))
    assert (text.code, text.out.split("\n")[0]) == (0, "é ü 漢")


@pytest.mark.parametrize("words", [("do", "fails"), ("do", "--nope")], ids=["handler", "usage"])
def test_a_failure_without_stderr_is_on_stdout(faults: list[str], words: tuple[str, ...]) -> None:
    """With stderr closed the error document goes to stdout rather than nowhere."""
    source = "import os, sys; os.close(2); os.execv(sys.argv[1], sys.argv[1:])"
    done = subprocess.run(
        [sys.executable, "-c", source, *faults, *words],
        stdout=subprocess.PIPE, env=environment(), timeout=DEADLINE, check=False,
    )  # fmt: skip
    document = json.loads(done.stdout)
    assert (document["status"], document["code"]) == ("error", done.returncode)


def test_a_call_that_is_over_is_answered_once(faults: list[str], start: Starter) -> None:
    """What takes its time behind the answer, beyond the deadline, does not change it."""
    all_running = [
        (start(faults, "do", what, "--timeout", "1.8", env=environment(MURLI_CONTRACT=name)), key)
        for what in ("slow_exit", "slow_thread")
        for name, key in (("murli", "result"), ("agent-spec-2", "data"))
    ]
    for running, key in all_running:
        done = running.end()
        assert (done.code, done.document[key]) == (0, {"n": 1})
        assert done.err in ("", "flushed\n")


@pytest.mark.parametrize("contract", ["murli", "agent-spec-2"])
def test_c_code_behind_an_answer_adds_none(tmp_path: Path, contract: str) -> None:
    """C code that a tool runs at its end, beyond the deadline, does not change its answer."""
    source = """
import argparse, atexit, ctypes, murli
parser = argparse.ArgumentParser()
murli.enable(parser)
args, writer = murli.parse(parser)
atexit.register(lambda: ctypes.PyDLL(None).sleep(2))
writer.write_success("", {"n": 1})
"""
    env = environment(MURLI_CONTRACT=contract)
    done = run(script(tmp_path, source), "--timeout", "0.4", env=env)
    assert (done.code, done.err) == (0, "")
    assert done.document["result" if contract == "murli" else "data"] == {"n": 1}


def test_items_before_an_exit_are_the_result(tmp_path: Path) -> None:
    """A generator that exits with success has given what it yielded by then."""
    source = """
import click, murli, sys
@click.command()
def cli():
    yield 1
    sys.exit()
murli.enable(cli); cli()
"""
    assert run(script(tmp_path, source)).document["result"] == [1]


def test_the_exit_of_a_thread_is_silent(tmp_path: Path) -> None:
    """A thread that calls sys.exit() in an argparse tool ends without a traceback, as always."""
    source = """
import argparse, murli, sys, threading
parser = argparse.ArgumentParser()
murli.enable(parser)
parser.parse_args()
thread = threading.Thread(target=sys.exit, args=(3,))
thread.start()
thread.join()
print("done")
"""
    done = run(script(tmp_path, source))
    assert (done.code, done.document["result"], done.err) == (0, "done", "")


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("MURLI_TIMEOUT", "9" * 400),
        ("MURLI_WRITE_TIMEOUT", "9" * 30),
        ("MURLI_STDIN_TIMEOUT", "9" * 30),
    ],
)
@pytest.mark.parametrize(
    "contract", ["murli", pytest.param("agent-spec-2", marks=pytest.mark.slow)]
)
def test_no_time_is_too_long(faults: list[str], variable: str, value: str, contract: str) -> None:
    """A time beyond what the system can count is a long one, and no failure."""
    env = environment(MURLI_CONTRACT=contract, **{variable: value})
    done = run(faults, "do", "big" if "WRITE" in variable else "read", env=env, stdin=b"abc")
    assert (done.code, done.err) == (0, "")
    flagged = run(faults, "do", "nothing", f"--timeout={value}", env=environment())
    assert (flagged.code, flagged.err) == (0, "")
