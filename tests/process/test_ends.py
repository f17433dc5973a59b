"""How a program can come to its end, and that there is one answer all the same."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from harness import environment, run, script, tool
from starting import Starter

pytestmark = pytest.mark.warm

CLICK = (
    "import click, murli, os, sys, time\n@click.command()\ndef x():\n    {}\nmurli.enable(x)\nx()\n"
)
SESSION = (
    "import argparse, murli, os, sys\np = argparse.ArgumentParser(prog='t')\n"
    "with murli.session(p) as (args, writer):\n    {}\n"
)


@pytest.mark.parametrize("frame", [CLICK, SESSION], ids=["click", "session"])
@pytest.mark.parametrize(
    "end", ["sys.exit(0)", "raise ValueError('child')", "os.kill(os.getpid(), 2)"]
)
def test_a_fork_does_not_answer(tmp_path: Path, frame: str, end: str) -> None:
    """A forked child that comes out of the handler leaves the answer to its parent."""
    body = f"if os.fork() == 0: {end}\n    os.wait(); print('parent')"
    done = run(script(tmp_path, frame.format(body)))
    assert (done.code, done.document["result"]) == (0, "parent")
    assert '"status"' not in done.err


@pytest.mark.parametrize("frame", [CLICK, SESSION], ids=["click", "session"])
def test_a_fork_without_a_descriptor_to_spare(tmp_path: Path, frame: str) -> None:
    """A program that can open nothing any more may still fork, with no word about it on stderr."""
    body = (
        "import resource; n = os.dup(0); os.close(n)\n"
        "    resource.setrlimit(resource.RLIMIT_NOFILE, (n, n))\n"
        "    if os.fork() == 0: os._exit(0)\n    os.wait(); print('parent')"
    )
    done = run(script(tmp_path, frame.format(body)))
    assert (done.code, done.document["result"], done.err) == (0, "parent", "")


@pytest.mark.parametrize("spare", [2, 3, 4])
def test_a_failed_child_where_descriptors_are_few(tmp_path: Path, spare: int) -> None:
    """A program with few descriptors left that fails behind a child has its document."""
    source = (
        "import argparse, murli, os, resource\n"
        "p = argparse.ArgumentParser(prog='t')\nmurli.enable(p)\np.parse_args()\n"
        f"n = os.dup(0) + {spare}; os.close(n - {spare})\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (n, n))\n"
        "os.posix_spawn('/bin/true', ['true'], {}); os.wait()\nraise ValueError('behind it')\n"
    )
    done = run(script(tmp_path, source))
    assert (done.code, done.error["message"]) == (2, "behind it")
    assert "Traceback" not in done.err


@pytest.mark.parametrize("contract", ["murli", "response"])
def test_odd_failures_are_answered(contract: str) -> None:
    """An error of a kind that does not exist, and a value that interrupts, have their document."""
    env = environment(MURLI_CONTRACT=contract)
    for what, kind in (("own_kind", "rate_limited"), ("interrupting_value", "cancelled")):
        done = run(tool("faults_typer"), "do", what, env=env)
        assert "Traceback" not in done.err
        if contract == "response":
            assert (done.document["ok"], done.code) == (False, 11 if kind != "cancelled" else 130)
        else:
            assert (done.error["code"], done.code) == (done.code, 8 if kind != "cancelled" else 9)


def test_a_session_is_in_custody(tmp_path: Path) -> None:
    """A hard exit, another program and a prompt inside a session are dealt with too."""
    cut = run(script(tmp_path, SESSION.format("print('by then'); os._exit(3)")))
    assert (cut.code, cut.error["result"]) == (3, "by then")
    other = run(script(tmp_path, SESSION.format("os.execv('/bin/echo', ['echo', 'hi'])")))
    assert (other.code, other.out) == (0, "hi\n")
    asked = run(script(tmp_path, SESSION.format("input('Name? ')")))
    assert asked.error["error"] == "input_required"


def test_a_failure_that_stderr_does_not_take(tmp_path: Path) -> None:
    """With stderr full or without a reader a failure is on stdout; its exit code stays."""
    argv = script(tmp_path, CLICK.format("raise murli.AgentError.not_found('x')"))
    reader, unread = os.pipe()
    os.close(reader)
    with open("/dev/full", "wb") as full, open(unread, "wb") as unread_file:
        for stderr in (full, unread_file):
            done = subprocess.run(
                argv, stdout=subprocess.PIPE, stderr=stderr, env=environment(), check=False
            )
            assert (done.returncode, json.loads(done.stdout)["error"]) == (5, "not_found")
        done = subprocess.run(argv, stdout=full, stderr=full, env=environment(), check=False)
    assert done.returncode == 5


@pytest.mark.parametrize("contract", ["response", "agent-spec-1.6", "agent-spec-2"])
def test_a_failure_whose_reader_is_gone_keeps_its_code(tmp_path: Path, contract: str) -> None:
    """Under the ResponseEnvelope contracts a reader that left does not make it another failure."""
    argv = script(tmp_path, CLICK.format("print('x' * 200_000); sys.exit(3)"))
    env = environment(MURLI_CONTRACT=contract)
    tool = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env)
    assert tool.stdout is not None
    assert tool.stderr is not None
    tool.stdout.close()
    with tool.stderr:
        told = tool.stderr.read()
    assert (tool.wait(20), told) == (1, b"")


def test_one_error_for_a_stream_without_a_reader(tmp_path: Path) -> None:
    """A stream onto a closed stdout is one error on stderr, not two."""
    closing = [sys.executable, "-c", "import os, sys; os.close(1); os.execv(sys.argv[1], sys.argv[1:])"]  # fmt: skip  # noqa: E501
    argv = script(tmp_path, CLICK.format("murli.get_writer().write_event({'a': 1})"))
    done = run([*closing, *argv])
    assert done.code == 2
    assert json.loads(done.err)["error"] == "output_failed"


def test_a_signal_while_the_program_ends(tmp_path: Path, start: Starter) -> None:
    """A signal between the end of main and the answer does not swallow the answer."""
    source = (
        "import argparse, atexit, os, sys, time, murli\n"
        "atexit.register(lambda: (os.write(2, b'ready\\n'), time.sleep(0.5)))\n"
        "p = argparse.ArgumentParser(prog='t')\nmurli.enable(p)\n"
        "def main(): p.parse_args(); print('printed'); return 3\n"
        "sys.exit(main())\n"
    )
    for number in (signal.SIGINT, signal.SIGTERM):
        running = start(script(tmp_path, source))
        running.wait_for(b"ready")
        running.send(number)
        done = running.end()
        assert done.code in (3, 9)
        assert done.err.count('"status": "error"') == 1, done.err


@pytest.mark.parametrize("ending", ["", "; sys.exit(256)"], ids=["returns", "exit 256, which is 0"])
@pytest.mark.parametrize("frame", [CLICK, SESSION], ids=["click", "session"])
def test_no_room_for_what_is_printed(tmp_path: Path, frame: str, ending: str) -> None:
    """When there is no room to keep what is printed, that is an error and not an empty success."""
    # A limit on the size of files does what a full disk does, without rights to mount one.
    limiting = (
        "import os, resource, sys\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))\n"
        "os.execv(sys.argv[1], sys.argv[1:])"
    )
    argv = script(tmp_path, frame.format(f"print('the result'){ending}"))
    done = run([sys.executable, "-c", limiting, *argv])
    assert (done.code, done.out) == (2, "")
    assert done.error["error"] == "output_failed"


def test_a_full_stderr_behind_a_session(tmp_path: Path) -> None:
    """What a full stderr did not take does not change the exit code of a session's program."""
    body = "import logging; logging.error('aside'); writer.write_success('', 1)"
    argv = script(tmp_path, SESSION.format(body))
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            argv, stdout=subprocess.PIPE, stderr=full, env=environment(), timeout=30, check=False
        )
    assert json.loads(done.stdout)["status"] == "ok"
    assert done.returncode == 0


@pytest.mark.parametrize(
    "wait",
    [
        "subprocess.run(['sh', '-c', deaf.format(0.15)])",  # which kills the shell 0.25 s later
        "subprocess.Popen(['sh', '-c', deaf.format(0.6)]); time.sleep(60)",
    ],
    ids=["killed-by-handler", "left-alone"],
)
def test_what_a_deaf_child_starts_later_is_ended(tmp_path: Path, wait: str) -> None:
    """A child that ignores signals and starts another one afterwards leaves none behind."""
    marker = f"61.{os.getpid()}{len(wait)}"
    body = (
        f'import subprocess; deaf = \'trap "" INT TERM HUP; : >{tmp_path}/began; '
        f"sleep {{}}; sleep {marker}; :'\n    {wait}"
    )
    argv = script(tmp_path, CLICK.format(body))
    with subprocess.Popen(argv, stderr=subprocess.PIPE, text=True, env=environment()) as process:
        while not (tmp_path / "began").exists():
            assert process.poll() is None
            time.sleep(0.005)
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=30)
    assert (process.returncode, json.loads(err)["error"]) == (9, "cancelled")
    assert _running(marker) == []


def _running(word: str) -> list[str]:
    found = []
    for each in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            text = each.read_bytes().replace(b"\0", b" ").decode()
        except OSError:  # it has ended
            continue
        if f"sleep {word}" in text and "trap" not in text:
            found.append(text)
    return found


def test_exit_functions_look_at_sys(tmp_path: Path) -> None:
    """`dir(sys)` works behind an uncaught exception, and files left open are written."""
    tool = script(
        tmp_path,
        f"""
import argparse, atexit, sys
import murli

parser = argparse.ArgumentParser()
murli.enable(parser)
parser.parse_args()
atexit.register(lambda: print("argv" in dir(sys), file=sys.stderr))

class Cycle:
    pass

cycle = Cycle()
cycle.itself, cycle.file = cycle, open({str(tmp_path / "left")!r}, "w")
cycle.file.write("written")
open({str(tmp_path / "missing")!r})
""",
    )
    done = run(tool)
    assert done.code == 5
    assert done.err.endswith("}\nTrue\n")
    assert (tmp_path / "left").read_text() == "written"
