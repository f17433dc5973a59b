"""What leaves the process, and through which door."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time

import pytest

from harness import environment, run
from starting import Starter

pytestmark = [pytest.mark.adapters("argparse", "click"), pytest.mark.warm]


@pytest.mark.adapters("argparse", "click", "typer")
def test_noise_never_stands_beside_the_answer(faults: list[str]) -> None:
    """Threads, children and logging write what they like; stdout holds one document."""
    done = run(faults, "do", "noise")
    assert done.document["result"] == {"n": 1}
    assert done.err.count("thread") == 200
    assert done.err.count("child") == 2
    assert "logged" in done.err


@pytest.mark.parametrize("what", ["late_thread", "atexit"])
def test_what_is_printed_late_is_not_lost_and_not_beside(faults: list[str], what: str) -> None:
    """What a thread or an exit function prints at the very end is in the result or on stderr."""
    done = run(faults, "do", what)
    late = "late" if what == "late_thread" else "at exit"
    assert late in done.document["result"] + done.err
    assert done.code == 0


@pytest.mark.parametrize("what", ["big", "big_child"])
def test_much_output_is_captured_whole(faults: list[str], what: str) -> None:
    """Megabytes, printed or from a child, arrive whole and without a deadlock."""
    assert len(run(faults, "do", what).document["result"]) == 3_000_000


def test_an_endless_printer_is_stopped(faults: list[str]) -> None:
    """A command that prints without end is told to stop, and the caller how to read it."""
    done = run(faults, "do", "forever", env=environment(MURLI_MAX_PRINTED="2000000"))
    assert (done.code, done.error["error"]) == (2, "output_too_large")
    assert "--output text" in done.error["suggestion"]
    assert len(done.err) < 100_000


def test_an_endless_printer_whose_reader_goes_ends_quietly(
    faults: list[str], start: Starter
) -> None:
    """When the reader of stdout is gone, printing fails as it does without murli: quietly, 0."""
    reader, writer = os.pipe()
    env = environment(MURLI_MAX_PRINTED="100000000000")
    running = start(faults, "do", "forever", stdout=writer, env=env)
    os.close(writer)
    os.close(reader)
    assert running.process.wait(20) == 0
    assert running.process.stderr is not None
    assert running.process.stderr.read() == b""


def test_text_output_can_be_cut_by_head(faults: list[str]) -> None:
    """`--output text | head` works as without murli."""
    tool = subprocess.Popen(
        [*faults, "do", "forever", "--output", "text"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(),
    )  # fmt: skip
    head = subprocess.run(["head", "-n", "2"], stdin=tool.stdout, capture_output=True, check=True)
    assert tool.stdout is not None
    tool.stdout.close()
    assert tool.wait(20) == 0
    assert head.stdout == b"y" * 200 + b"\n" + b"y" * 200 + b"\n"
    assert tool.stderr is not None
    with tool.stderr:
        assert tool.stderr.read() == b""


@pytest.mark.parametrize("contract", ["murli", "response"])
def test_a_full_disk_is_an_error(faults: list[str], contract: str) -> None:
    """An answer that does not fit is an error on stderr, not silence."""
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [*faults, "do", "nothing"], stdout=full, stderr=subprocess.PIPE,
            env=environment(MURLI_CONTRACT=contract), timeout=30, check=False,
        )  # fmt: skip
    assert done.returncode != 0
    assert b"output_failed" in done.stderr.lower() or b"OUTPUT_FAILED" in done.stderr
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("contract", "words"),
    [("murli", ["describe"]), ("response", ["describe"]), ("response", ["do", "--timeout", "x"])],
    ids=["a raw document", "a document", "a refusal"],
)
def test_what_we_answer_ourselves_can_be_lost_too(
    faults: list[str], contract: str, words: list[str]
) -> None:
    """A command of ours, and a refusal, whose answer does not fit is an error as any other."""
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [*faults, *words], stdout=full, stderr=subprocess.PIPE,
            env=environment(MURLI_CONTRACT=contract), timeout=30, check=False,
        )  # fmt: skip
    assert done.returncode == (1 if contract == "response" else 2)
    assert b"output_failed" in done.stderr.lower()
    assert b"Traceback" not in done.stderr


def test_a_change_whose_answer_is_lost_is_told(faults: list[str]) -> None:
    """When the command has changed something and the answer is lost, stderr says so."""
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [*faults, "mutate", "--yes"], stdout=full, stderr=subprocess.PIPE,
            env=environment(), timeout=30, check=False,
        )  # fmt: skip
    error = json.loads(done.stderr)
    assert (done.returncode, error["error"]) == (2, "output_failed")
    assert "what it changes is changed" in error["message"]
    assert error["recoverable"] is False


def test_a_closed_stdout_is_an_error(faults: list[str]) -> None:
    """With descriptor 1 closed there is an error on stderr, and no traceback."""
    source = "import os, sys; os.close(1); os.execv(sys.argv[1], sys.argv[1:])"
    closing = [sys.executable, "-c", source]
    done = run([*closing, *faults], "do", "nothing")
    assert done.code == 2
    assert done.error["error"] == "output_failed"


def test_a_reader_that_stops_reading(faults: list[str], start: Starter) -> None:
    """A reader that is there and does not read is not waited for for ever."""
    env = environment(MURLI_WRITE_TIMEOUT="1")
    running = start(faults, "do", "big", env=env)
    assert running.process.wait(20) == 2
    assert running.process.stderr is not None
    error = json.loads(running.process.stderr.read())
    assert error["error"] == "output_failed"
    assert "nobody reads it" in error["message"]


def test_a_slow_reader_gets_everything(faults: list[str], start: Starter) -> None:
    """A reader that takes its time is waited for."""
    running = start(faults, "do", "big", env=environment(MURLI_WRITE_TIMEOUT="5"))
    stdout = running.process.stdout
    assert stdout is not None
    read = bytearray()
    while part := os.read(stdout.fileno(), 400_000):
        read += part
        time.sleep(0.01)
    assert len(json.loads(bytes(read))["result"]) == 3_000_000
    assert running.process.wait(10) == 0


def test_log_lines_are_whole(faults: list[str]) -> None:
    """Lines logged by several threads at once are each one JSON document."""
    done = run(faults, "do", "logs")
    lines = [json.loads(line) for line in done.err.splitlines()]
    assert len(lines) == 200
    assert all(line["msg"].startswith("thread ") for line in lines)


def test_children_neither_page_nor_ask_nor_colour(faults: list[str]) -> None:
    """Programs the handler starts are told that nobody is there."""
    told = run(faults, "do", "environment").document["result"]
    assert "'PAGER': 'cat'" in told
    assert "'EDITOR': 'true'" in told
    assert "'NO_COLOR': '1'" in told
    assert "'GIT_TERMINAL_PROMPT': '0'" in told


def test_the_handler_runs_on_the_main_thread(faults: list[str]) -> None:
    """A handler has the main thread and its own signal handlers."""
    assert run(faults, "do", "main_thread").document["result"] == "signalled\nTrue"


def test_no_descriptor_and_no_file_is_left(faults: list[str], tmp_path: object) -> None:
    """A call leaves nothing in its temporary directory or home."""
    folder = str(tmp_path)
    env = environment(TMPDIR=folder, HOME=folder)
    for what in ("nothing", "big_child", "noise", "ask"):
        run(faults, "do", what, env=env)
    assert os.listdir(folder) == []


@pytest.mark.adapters("argparse", "click", "typer")
def test_a_crash_keeps_its_traceback(faults: list[str], tmp_path: object) -> None:
    """The traceback of a crash is in a private file that the answer names; --debug shows it."""
    env = environment(HOME=str(tmp_path), XDG_STATE_HOME=None)
    done = run(faults, "do", "crash", env=env)
    path = done.error["suggestion"].split()[4].rstrip(";")
    with open(path, encoding="utf-8") as kept:
        assert "ValueError: no good" in kept.read()
    assert os.stat(path).st_mode & 0o777 == 0o600
    assert "Traceback" not in done.err
    shown = run(faults, "do", "crash", "--debug", env=env)
    assert "Traceback" in shown.err
    assert shown.error["message"] == "no good"
