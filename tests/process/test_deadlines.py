"""A deadline holds, whatever the handler does."""

from __future__ import annotations

import contextlib
import os
import subprocess
import time
from pathlib import Path

import pytest

from harness import environment, run, run_at_terminal, tool
from starting import Starter

pytestmark = [pytest.mark.adapters("argparse", "click"), pytest.mark.warm]


@pytest.mark.adapters("argparse", "click", "typer")
@pytest.mark.parametrize("what", ["sleep", "graceful", "loop", "stubborn"])
def test_a_handler_that_takes_too_long_is_ended(faults: list[str], what: str) -> None:
    """A handler that blocks, exits politely, awaits or swallows everything is answered for."""
    began = time.monotonic()
    done = run(faults, "do", what, "--timeout", "0.4")
    assert (done.code, done.out) == (4, "")
    assert done.error["message"] == "The command did not finish within 0.4 s."
    assert time.monotonic() - began < 15


@pytest.mark.parametrize("contract", ["murli", "agent-spec-2"])
@pytest.mark.parametrize("what", ["cleanup_fails", "other_failure"])
def test_a_handler_that_fails_when_it_is_ended(faults: list[str], what: str, contract: str) -> None:
    """A handler that raises something else when its time is up was late, whatever it raises."""
    done = run(faults, "do", what, "--timeout", "1", env=environment(MURLI_CONTRACT=contract))
    if contract == "murli":
        assert (done.code, done.error["error"], done.error["recoverable"]) == (4, "timeout", False)
        message = done.error["message"]
    else:
        assert (done.code, done.document["error"]["code"]) == (10, "TIMEOUT")
        message = done.document["error"]["message"]
    reason = "cannot clean up" if what == "cleanup_fails" else "no lock"
    assert message.startswith("The command did not finish within 1 s. Ending it failed: ")
    assert reason in message


def test_a_handler_that_says_how_it_was_ended(faults: list[str]) -> None:
    """What an author says about the end of a call, with an error of ours, is its answer."""
    done = run(faults, "do", "own_end", "--timeout", "1")
    assert (done.code, done.error["message"]) == (7, "Half of it is done.")


def test_cleanup_runs_before_the_answer(faults: list[str]) -> None:
    """The finally blocks of the handler have run when the answer is written."""
    done = run(faults, "do", "sleep", "--timeout", "1200ms")
    assert done.err.index("cleaned") < done.err.index('"timeout"')


@pytest.mark.parametrize("contract", ["response", "agent-spec-1.6", "agent-spec-2"])
def test_the_other_contracts_have_another_code(faults: list[str], contract: str) -> None:
    """Under the ResponseEnvelope contracts a timeout is exit code 10, on stdout."""
    # One that has to be ended by force is enough: that takes its time.
    what = "stubborn" if contract == "agent-spec-2" else "sleep"
    done = run(faults, "do", what, "--timeout", "0.3", env=environment(MURLI_CONTRACT=contract))
    assert (done.code, done.document["error"]["code"]) == (10, "TIMEOUT")


def test_a_quick_handler_never_notices(faults: list[str]) -> None:
    """A command that is done in time answers as always."""
    done = run(faults, "do", "nothing", "--timeout", "20")
    assert (done.code, done.document["result"], done.err) == (0, "done", "")


def test_a_command_may_declare_its_time(faults: list[str]) -> None:
    """Metadata(timeout=…) is enforced for agents, and the caller's own --timeout beats it."""
    assert run(faults, "quick").code == 4
    longer = run(faults, "quick", "--timeout", "0.8")
    assert longer.error["message"] == "The command did not finish within 0.8 s."


def test_the_environment_may_say_it(faults: list[str]) -> None:
    """MURLI_TIMEOUT is the time for every call; the flag beats it."""
    env = environment(MURLI_TIMEOUT="0.3")
    assert run(faults, "do", "sleep", env=env).code == 4
    assert run(faults, "do", "sleep", "--seconds", "0.5", "--timeout", "20", env=env).code == 0


def test_a_person_may_set_one_too(faults: list[str]) -> None:
    """At a terminal --timeout works, and says so in words."""
    shown = run_at_terminal(faults, "do", "sleep", "--timeout", "0.4")
    assert shown.code == 4
    assert "Error: The command did not finish within 0.4 s." in shown.err


@pytest.mark.parametrize("value", ["soon", "", "-1", "1d"])
def test_a_time_that_is_none(faults: list[str], value: str) -> None:
    """A --timeout that makes no sense is refused before anything runs."""
    done = run(faults, "do", "nothing", f"--timeout={value}")
    assert done.code == (0 if value == "" else 1)
    if value:
        assert done.error["error"] == "invalid_timeout"


def test_a_change_that_may_have_happened_is_not_repeated_lightly(
    faults: list[str], start: Starter
) -> None:
    """A mutating command whose answer nobody reads in time says that it has run."""
    running = start(faults, "mutate", "--yes", "--timeout", "0.5")
    running.process.wait(20)
    done = running.end()
    assert done.code == 2
    assert done.error["error"] == "output_failed"


@pytest.mark.parametrize(
    ("adapter", "what", "contract"),
    [
        ("argparse", "regex", "murli"),
        ("click", "foreign_code", "agent-spec-2"),
        ("argparse", "hash", "murli"),
        ("typer", "hash", "agent-spec-2"),
    ],
)
def test_c_code_that_holds_the_interpreter_is_ended(adapter: str, what: str, contract: str) -> None:
    """C code that lets neither threads nor signals in is ended soon after the deadline."""
    env = environment(MURLI_CONTRACT=contract)
    began = time.monotonic()
    done = run(tool(f"faults_{adapter}"), "do", what, "--timeout", "0.5", env=env)
    assert time.monotonic() - began < 6
    if contract == "murli":
        assert (done.code, done.out, done.error["error"]) == (4, "", "timeout")
    else:
        assert (done.code, done.document["error"]["code"]) == (10, "TIMEOUT")
        assert done.document["error"]["context"]["elapsed_ms"] >= 500


@pytest.mark.parametrize("contract", ["murli", "agent-spec-2"])
def test_c_code_in_mid_stream(contract: str) -> None:
    """A stream whose handler is stuck in C code ends with the timeout, in a line of its own."""
    env = environment(MURLI_CONTRACT=contract)
    done = run(tool("faults_click"), "do", "regex_in_stream", "--timeout", "0.5", env=env)
    assert [line.get("status", line.get("ok")) for line in done.lines][1:] == (
        ["error"] if contract == "murli" else [False]
    )


def test_c_code_with_nobody_who_reads(tmp_path: Path) -> None:
    """The end of stuck C code is told on the stream that takes it; files are added to."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(writer, b"x" * 4096)
    os.set_blocking(writer, True)
    argv = [*tool("faults_click"), "do", "regex", "--timeout", "0.3"]
    env = environment(MURLI_CONTRACT="agent-spec-2")
    full = subprocess.run(argv, stdout=writer, stderr=subprocess.PIPE, env=env, check=False)
    os.close(reader)
    os.close(writer)
    assert (full.returncode, b"TIMEOUT" in full.stderr) == (10, True)
    with open("/dev/full", "wb") as device:
        full = subprocess.run(argv, stdout=device, stderr=subprocess.PIPE, env=env, check=False)
        assert (full.returncode, b"TIMEOUT" in full.stderr) == (10, True)
        silent = [*tool("faults_click"), "do", "hash", "--timeout", "0.3"]
        full = subprocess.run(silent, stdout=subprocess.PIPE, stderr=device, check=False)
    assert (full.returncode, b'"timeout"' in full.stdout) == (4, True)
    log = tmp_path / "log"
    log.write_text("before\n")
    with log.open("r+") as file:
        file.seek(0, os.SEEK_END)
        subprocess.run(argv, stdout=file, stderr=file, env=env, check=False)
    assert log.read_text().startswith("before\nready\n{")


def test_a_value_that_hangs_is_late(faults: list[str]) -> None:
    """A result whose own code hangs is a timeout, not an answer that nobody read."""
    done = run(faults, "do", "hanging_value", "--timeout", "0.3")
    assert (done.code, done.error["error"]) == (4, "timeout")


def test_a_deadline_leaves_nobody_behind(faults: list[str], start: Starter) -> None:
    """Children and threads that do not care end with the call, and hold no stream of its caller."""
    deeds = ("join", "thread", "deaf_child", "regex_at_exit")
    began = time.monotonic()
    all_running = [start(faults, "do", what, "--timeout", "0.8") for what in deeds]
    for what, running in zip(deeds, all_running, strict=True):
        done = running.end()
        assert (done.code, done.err.count('"timeout"')) == (4, 1), (what, done.err)
    assert time.monotonic() - began < 15
