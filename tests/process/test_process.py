"""Whatever ends the program, one document says so, and the exit code agrees."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from harness import Run, environment, run, run_at_terminal, script

pytestmark = pytest.mark.warm

# A tool nobody rewrote: it calls its own parse_args(), and one line enables murli.
UNTOUCHED = """
import argparse, atexit, json, os, subprocess, sys, threading, time
import murli

def main():
    parser = argparse.ArgumentParser(prog="legacy")
    parser.add_argument("what")
    murli.enable(parser)
    args = parser.parse_args()
    return globals()["do_" + args.what]()

def do_nothing(): pass
def do_print(): print("hello"); print("world")
def do_json(): print(json.dumps({"a": [1, 2]}))
def do_version(): print("1.10")
def do_nan(): print('{"a": NaN}')
def do_return_zero(): print("x"); return 0
def do_return_three(): print("found 3 problems"); return 3
def do_exit_four(): sys.exit(4)
def do_exit_text(): sys.exit("no such host")
def do_raise_exit(): raise SystemExit(5)
def do_exit_none(): print("fine"); raise SystemExit
def do_caught():
    try: sys.exit(7)
    except SystemExit: print("went on")
def do_bug(): print("before"); raise ValueError("boom")
def do_missing_file(): open("/no/such/file")
def do_interrupt(): raise KeyboardInterrupt
def do_child(): subprocess.run([sys.executable, "-c", "print('from a child')"], check=True)
def do_descriptor(): os.write(1, b"from below\\n")
def do_thread():
    def late(): time.sleep(0.05); print("from a thread")
    threading.Thread(target=late).start()
def do_atexit(): atexit.register(lambda: print("at the end")); print("in time")
def do_large(): sys.stdout.write("x" * 5_000_000)
def do_bytes(): sys.stdout.buffer.write(b"caf\\xc3\\xa9 \\xff")
def do_swallow():
    try: murli.get_writer().write_success("x", float("inf"))
    except Exception: pass
def do_success_then_bug():
    murli.get_writer().write_success("saved", 1)
    raise ValueError("after")
def do_twice():
    murli.get_writer().write_success("one", 1)
    murli.get_writer().write_success("two", 2)
def do_hard_exit(): murli.get_writer().write_success("out", 1); os._exit(0)
def do_colour(): print("\\x1b[31mred\\x1b[0m")
def do_fork():
    print("parent"); sys.stdout.flush()
    if os.fork() == 0:
        print("child"); sys.exit(3)
    os.wait()
def do_forks():
    for number in range(2):
        if os.fork() == 0:
            print(number); sys.exit(0)
        os.wait()
def do_fork_beside_thread():
    late = threading.Thread(target=time.sleep, args=(0.5,)); late.start()
    if os.fork() == 0: sys.exit(0)
    os.wait()

if __name__ == "__main__":
    sys.exit(main())
"""


@pytest.fixture(scope="module")
def legacy(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    return script(tmp_path_factory.mktemp("legacy"), UNTOUCHED)


@pytest.mark.parametrize(
    ("what", "result"),
    [
        ("nothing", None),
        ("print", "hello\nworld"),
        ("json", {"a": [1, 2]}),
        ("version", "1.10"),
        ("nan", '{"a": NaN}'),
        ("return_zero", "x"),
        ("exit_none", "fine"),
        ("caught", "went on"),
        ("child", "from a child"),
        ("descriptor", "from below"),
        ("thread", "from a thread"),
        ("atexit", "in time\nat the end"),
        ("large", "x" * 5_000_000),
        (
            "bytes",
            {"type": "binary", "encoding": "base64", "value": "Y2Fmw6kg/w==", "size_bytes": 7},
        ),
        ("colour", "red"),
        ("fork", "parent\nchild"),
        ("forks", "0\n1"),
    ],
)
def test_what_is_printed_is_the_result(legacy: list[str], what: str, result: object) -> None:
    """What an untouched tool prints, by whatever means, is the result of one document."""
    done = run(legacy, what)
    assert (done.code, done.err) == (0, "")
    assert done.document == {
        "status": "ok",
        "schema_version": "1.0",
        "tool_version": "",
        "message": "",
        "result": result,
    }


def test_python_warns_of_a_fork_beside_threads_of_the_tool_alone(legacy: list[str]) -> None:
    """From 3.12 on a fork beside a thread of the tool's own is warned of as without murli."""
    done = run(legacy, "fork_beside_thread")
    assert done.code == 0
    assert ("is multi-threaded" in done.err) == (sys.version_info >= (3, 12))


@pytest.mark.parametrize(
    ("what", "code", "error", "message", "result"),
    [
        (
            "return_three",
            3,
            "execution_error",
            "The command ended with exit status 3.",
            "found 3 problems",
        ),
        ("exit_four", 4, "execution_error", "The command ended with exit status 4.", None),
        ("exit_text", 1, "execution_error", "no such host", None),
        ("raise_exit", 5, "execution_error", "The command ended with exit status 5.", None),
        ("bug", 2, "execution_error", "boom", "before"),
        ("missing_file", 5, "not_found", "No such file or directory: '/no/such/file'", None),
        ("interrupt", 9, "cancelled", "The command was cancelled.", None),
    ],
)
def test_a_bad_end_is_an_error_document(
    legacy: list[str], what: str, code: int, error: str, message: str, result: object
) -> None:
    """Every bad end is one error document on stderr, with the exit code in it."""
    done = run(legacy, what, "--output", "ndjson")
    assert (done.code, done.out) == (code, "")
    assert done.err.count("\n") == 1
    document = done.error
    assert (document["code"], document["error"], document["message"]) == (code, error, message)
    assert document.get("result") == result


@pytest.mark.parametrize("what", ["bug", "missing_file", "exit_four", "raise_exit"])
def test_people_get_the_same_exit_code(legacy: list[str], what: str) -> None:
    """The same failure has the same exit code at a terminal, and no traceback."""
    done = run_at_terminal(legacy, what)
    assert done.code == run(legacy, what).code
    assert "Traceback" not in done.err
    if what in ("bug", "missing_file"):
        assert done.err.startswith("Error: ")


def test_people_end_a_tool_by_an_interrupt(legacy: list[str]) -> None:
    """Ctrl-C at a terminal ends the process by SIGINT, with one word instead of a traceback."""
    done = run_at_terminal(legacy, "interrupt")
    assert (done.out, done.err, done.code) == ("", "Aborted!\n", -2)


def test_people_see_what_they_saw(legacy: list[str]) -> None:
    """At a terminal a tool that prints prints, and exits with its own text and status."""
    assert run_at_terminal(legacy, "print").out == "hello\nworld\n"
    done = run_at_terminal(legacy, "exit_text")
    assert (done.err, done.code) == ("no such host\n", 1)


def test_the_traceback_can_be_had(legacy: list[str]) -> None:
    """MURLI_DEBUG=1 shows the traceback on stderr, before the document."""
    done = run(legacy, "bug", env=environment(MURLI_DEBUG="1"))
    assert done.err.startswith("Traceback")
    assert done.error["message"] == "boom"
    assert "Traceback" not in run(legacy, "bug").err


def test_a_swallowed_refusal_is_not_a_success(legacy: list[str]) -> None:
    """A handler that swallows our refusal of its payload does not look successful."""
    done = run(legacy, "swallow")
    assert (done.code, done.out) == (2, "")
    assert "infinity" in done.error["message"]


def test_failing_after_the_answer(legacy: list[str]) -> None:
    """An exception after the answer leaves the answer alone and is told on stderr."""
    done = run(legacy, "success_then_bug")
    assert (done.code, done.document["message"], done.error["message"]) == (2, "saved", "after")


def test_a_second_answer_is_an_error(legacy: list[str]) -> None:
    """Answering twice is told to the author; stdout holds one document."""
    done = run(legacy, "twice")
    assert (done.code, done.document["message"]) == (2, "one")
    assert "write_event" in done.error["message"]


def test_an_answer_is_out_at_once(legacy: list[str]) -> None:
    """An answer survives os._exit: it was written when it was given."""
    assert run(legacy, "hard_exit").document["message"] == "out"


def _run_with_stdout(argv: list[str], *args: str, stdout: object) -> Run:
    done = subprocess.run(
        [*argv, *args],
        stdin=subprocess.DEVNULL,
        stdout=stdout,  # type: ignore[call-overload]
        stderr=subprocess.PIPE,
        env=environment(),
        timeout=30,
        check=False,
    )
    return Run(b"", done.stderr, done.returncode)


@pytest.mark.parametrize("what", ["print", "json", "nothing"])
def test_a_full_disk_is_an_error(legacy: list[str], what: str) -> None:
    """An answer that does not fit on the disk is an error on stderr, not silence."""
    with open("/dev/full", "wb") as full:
        done = _run_with_stdout(legacy, what, stdout=full)
    assert (done.code, done.error["error"]) == (2, "output_failed")
    assert "No space left" in done.error["message"]


@pytest.mark.parametrize("contract", ["murli", "response", "agent-spec-1.6", "agent-spec-2"])
def test_a_closed_stdout_is_an_error(legacy: list[str], contract: str) -> None:
    """With stdout closed the answer is an error on stderr in every contract."""
    line = f'exec "$@" >&- --contract {contract}'
    done = run(["sh", "-c", line, "sh", *legacy, "print"])
    assert done.out == ""
    assert "could not be written" in done.err
    assert json.loads(done.err)
    assert done.code == (2 if contract == "murli" else 1)


def test_a_reader_that_goes_away_is_no_error(legacy: list[str]) -> None:
    """A reader that goes away ends the tool quietly."""
    reader, writer = os.pipe()
    os.close(reader)
    done = _run_with_stdout(legacy, "large", stdout=writer)
    os.close(writer)
    assert (done.code, done.err) == (0, "")


def test_both_streams_closed(legacy: list[str]) -> None:
    """With stdout and stderr closed the exit code still tells."""
    done = run(["sh", "-c", 'exec "$@" >&- 2>&-', "sh", *legacy, "bug"])
    assert (done.code, done.out, done.err) == (2, "", "")


GOES_INTO_THE_BACKGROUND = """
import os, time
def work():
    print("started", flush=True)
    if os.fork(): {end}
    os.setsid()
    if os.fork(): os._exit(0)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2): os.dup2(nowhere, descriptor)
    time.sleep(8)
    os._exit(0)
"""
RUNS_IT = {
    "argparse": "import argparse, murli\np = argparse.ArgumentParser()\nmurli.enable(p)\n"
    "p.parse_args()\nwork()\n",
    "click": "import click, murli\ntool = click.Command('tool', callback=work)\n"
    "murli.enable(tool)\ntool()\n",
}


@pytest.mark.parametrize("adapter", RUNS_IT)
@pytest.mark.parametrize("end", ["return", "os._exit(0)"])
def test_a_tool_that_goes_into_the_background(tmp_path: Path, adapter: str, end: str) -> None:
    """What stays in the background holds no stdout: the caller has the answer and its end."""
    source = GOES_INTO_THE_BACKGROUND.replace("{end}", end) + RUNS_IT[adapter]
    begun = time.monotonic()
    done = run(script(tmp_path, source))
    assert (done.code, done.document["result"]) == (0, "started")
    assert time.monotonic() - begun < 6


def _run_unfed(argv: list[str], after: float, text: bytes) -> Run:
    """Run a program whose stdin is a pipe that gets *text* so many seconds after its start."""
    process = subprocess.Popen(
        argv,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    )
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(after)
    out, err = process.communicate(text, 20)
    return Run(out, err, process.returncode)


def test_a_caller_may_write_a_second_later(tmp_path: Path) -> None:
    """A read from stdin waits for a caller who holds the pipe and writes after the start."""
    source = "import argparse, murli, sys\np = argparse.ArgumentParser()\nmurli.enable(p)\n"
    tool = script(tmp_path, f"{source}p.parse_args()\nprint(sys.stdin.read().upper())\n")
    done = _run_unfed(tool, 1.2, b"late")
    assert (done.code, done.document["result"]) == (0, "LATE")


def test_a_dialogue_that_takes_no_end_for_an_end_is_ended(tmp_path: Path) -> None:
    """A program that reads again whenever nobody answers is ended with `input_required`."""
    source = """
import argparse, murli
p = argparse.ArgumentParser()
murli.enable(p)
p.parse_args()
while True:
    try: input(">>> ")
    except Exception: print("again")
"""
    done = _run_unfed(script(tmp_path, source), 20, b"")
    assert (done.code, done.out, done.error["error"]) == (1, "", "input_required")
    assert done.error["result"].startswith("again\nagain")


def test_nothing_is_left_behind(legacy: list[str], tmp_path: Path) -> None:
    """No temporary file stays behind."""
    assert run(legacy, "print", env=environment(TMPDIR=str(tmp_path))).code == 0
    assert list(tmp_path.iterdir()) == []


def test_an_unusable_temporary_folder_does_not_matter(legacy: list[str]) -> None:
    """A TMPDIR that does not exist does not keep a tool from answering."""
    done = run(legacy, "print", env=environment(TMPDIR="/no/such/folder"))
    assert done.document["result"] == "hello\nworld"


def test_text_printed_before_parsing_does_not_spoil_the_document(tmp_path: Path) -> None:
    """A banner printed before parse_args is part of the result, not beside the document."""
    argv = script(
        tmp_path,
        "import argparse, murli\n"
        "print('banner')\n"
        "p = argparse.ArgumentParser(); murli.enable(p); p.parse_args()\n"
        "print('body')\n",
    )
    assert run(argv).document["result"] == "banner\nbody"


def test_a_tool_without_subcommands_describes_itself(tmp_path: Path) -> None:
    """A parser with required options answers describe, and -- makes the word a value again."""
    argv = script(
        tmp_path,
        "import argparse, murli\n"
        "p = argparse.ArgumentParser(prog='grepper', description='Find text.')\n"
        "p.add_argument('text'); p.add_argument('--env', required=True)\n"
        "murli.enable(p); a = p.parse_args(); print(a.env, a.text)\n",
    )
    document = run(argv, "describe").document
    assert document["name"] == "grepper"
    assert [flag["name"] for flag in document["flags"]] == ["env"]
    assert [argument["name"] for argument in document["arguments"]] == ["text"]
    assert run(argv, "--env", "describe", "x").document["result"] == "describe x"
    assert run(argv, "--env", "e", "--", "describe").document["result"] == "e describe"
    assert "# AGENTS.md" in run(argv, "describe", "--agents-md").out


def test_mounting_can_be_turned_off(tmp_path: Path) -> None:
    """With mount=False the word is the tool's own."""
    argv = script(
        tmp_path,
        "import argparse, murli\n"
        "p = argparse.ArgumentParser(); p.add_argument('text')\n"
        "murli.enable(p, mount=False); print(p.parse_args().text)\n",
    )
    assert run(argv, "describe").document["result"] == "describe"


def test_the_interpreter_is_left_as_it_was(tmp_path: Path) -> None:
    """After the end sys.exit and stdout are the interpreter's own again."""
    argv = script(
        tmp_path,
        "import argparse, atexit, sys, murli\n"
        "own = sys.exit\n"
        "atexit.register(lambda: print(sys.exit is own, file=sys.stderr))\n"
        "p = argparse.ArgumentParser(); murli.enable(p); p.parse_args()\n"
        # Where Python itself tells what ends the program, it is not ours in between either.
        "assert (sys.exit is own) is hasattr(sys, 'monitoring')\n",
    )
    done = run(argv)
    assert (done.err, done.code) == ("True\n", 0)


@pytest.mark.parametrize("contract", ["murli", "agent-spec-2"])
def test_a_program_that_goes_on_is_left_as_it_was(tmp_path: Path, contract: str) -> None:
    """After each of several sessions nothing of ours is left on the streams and on the parser."""
    argv = script(
        tmp_path,
        "import argparse, json, sys, murli\n"
        "p = argparse.ArgumentParser(); p.add_argument('--token')\n"
        "p.add_argument('--force', action='store_true')\n"
        "notes = {'token': murli.FlagAnnotation(sensitive=True)}\n"
        "murli.annotate(p, murli.Metadata(mutating=False, flag_annotations=notes))\n"
        "murli.enable(p)\n"
        "def state():\n"
        "    names = ('_get_values', '_get_option_tuples')\n"
        "    streams = (sys.stdout.buffer, sys.stderr.buffer)\n"
        "    ours = [name for name in names if name in vars(p)]\n"
        "    return ours + [each.name for each in streams if 'write' in vars(each)]\n"
        "left = []\n"
        "for number in range(3):\n"
        "    with murli.session(p, ['--token', f'secret-{number}']):\n"
        "        print('said', file=sys.stderr)\n"
        "    left += state()\n"
        "print(left, file=sys.stderr)\n",
    )
    env = environment(MURLI_CONTRACT=contract, MY_API_TOKEN="abcdefghijklmnop")
    assert run(argv, env=env).err.splitlines()[-1] == "[]"


def test_started_with_dash_c() -> None:
    """A tool run with -c answers like any other."""
    source = (
        "import argparse, sys, murli\n"
        "p = argparse.ArgumentParser(prog='t'); murli.enable(p); p.parse_args()\n"
        "print('hi'); sys.exit(0)\n"
    )
    assert run([sys.executable, "-c", source]).document["result"] == "hi"
