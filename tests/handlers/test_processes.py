"""Programs are run as lists, heard to the end, and never left behind."""

from __future__ import annotations

import json
import os
import pickle
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import murli
from harness import environment, run, script
from murli import AgentError, Completed
from murli.failures.exceptions import as_agent_error
from murli.handlers.processes import ShellStringProhibited
from starting import Starter, ends_soon, is_running

pytestmark = pytest.mark.warm

PYTHON = sys.executable


def failure(*argvs: list[Any], **options: Any) -> AgentError:
    with pytest.raises(AgentError) as caught:
        murli.pipeline(*argvs, **options)
    return caught.value


# -- what is run -------------------------------------------------------------------------------


def test_words_reach_the_program_as_they_are(tmp_path: Path) -> None:
    """Spaces, globs, quotes and what a shell would obey are letters like any other."""
    (tmp_path / "a.txt").touch()
    words = ["a b", "*", "$HOME", "`id`", "; rm -rf /", '"', "", "~", "é", "--", "-n"]
    show = "import sys, json; print(json.dumps(sys.argv[1:]))"
    done = murli.run([PYTHON, "-c", show, *words], cwd=tmp_path)
    assert done.stdout == f"{json.dumps(words)}\n"
    assert (done.argv, done.status, done.stderr) == ((PYTHON, "-c", show, *words), 0, "")


def test_paths_are_words_too(tmp_path: Path) -> None:
    """A path needs no str() around it."""
    (tmp_path / "a.txt").write_text("text")
    assert murli.run(["cat", tmp_path / "a.txt"]).stdout == "text"
    assert murli.run(("cat", "a.txt"), cwd=tmp_path).stdout == "text"


@pytest.mark.parametrize("command", ["ls -l", b"ls"])
def test_a_string_is_refused(command: Any) -> None:
    """A command line as one text is a mistake of the author, told as a TypeError."""
    with pytest.raises(TypeError, match="a command is a list") as caught:
        murli.run(command)
    found = as_agent_error(caught.value)
    assert (found.kind, found.error_type) == ("tool_error", "shell_string_prohibited")


def test_a_shell_is_refused() -> None:
    """There is no shell to be had; the message says what to do instead."""
    with pytest.raises(ShellStringProhibited, match="as a list"):
        murli.run(["ls"], shell=True)


@pytest.mark.parametrize(
    ("argv", "kind", "words"),
    [
        ([], ValueError, "name of the program"),
        ([""], ValueError, "name of the program"),
        (["sleep", 1], TypeError, "not int"),
        (["cat", b"x"], TypeError, "not bytes"),
        ({"ls"}, TypeError, "not set"),
    ],
)
def test_what_is_no_command(argv: Any, kind: type[Exception], words: str) -> None:
    """A mistake of the author's is told as one."""
    with pytest.raises(kind, match=words):
        murli.run(argv)


def test_a_pipeline_of_nothing_is_refused() -> None:
    """A pipeline has at least one stage."""
    with pytest.raises(TypeError, match="at least one"):
        murli.pipeline()


@pytest.mark.parametrize("unsafe", ["a\nb", "a\rb", "a\0b", "\n"])
def test_line_breaks_and_nul_are_refused(unsafe: str) -> None:
    """An argument that could end a line or a word is the caller's mistake; nothing is run."""
    found = failure(["touch", "x", unsafe])
    assert (found.kind, found.error_type) == ("user_error", "argument_unsafe")
    assert found.message == "Argument 2 of touch holds a line break or a NUL."


# -- how it is run -----------------------------------------------------------------------------


def test_the_locale_is_c(monkeypatch: pytest.MonkeyPatch) -> None:
    """Messages come in one language unless the tool wants the caller's."""
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    show = ["sh", "-c", "echo $LC_ALL"]
    assert murli.run(show).stdout == "C\n"
    assert murli.run(show, env={**os.environ, "LC_ALL": "de_DE"}).stdout == "C\n"
    assert murli.run(show, preserve_locale=True).stdout == "C.UTF-8\n"


def test_an_environment_takes_the_place_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    """With env nothing else is inherited, and ours is not changed."""
    monkeypatch.setenv("OURS", "1")
    shown = murli.run(["env"], env={"PATH": os.environ["PATH"], "THEIRS": "2"}).stdout
    assert "THEIRS=2" in shown
    assert "OURS" not in shown
    assert "THEIRS" not in os.environ


def test_nothing_is_inherited(tmp_path: Path) -> None:
    """A program has no descriptor of ours, no stdin, no terminal, and a group of its own."""
    with open(tmp_path / "open", "w") as file:
        os.set_inheritable(file.fileno(), True)
        source = (
            "import os, sys\n"
            f"try: os.fstat({file.fileno()})\n"
            "except OSError: print('closed')\n"
            "print(repr(sys.stdin.read()), os.getpgrp() == os.getpid() == os.getsid(0))\n"
            "try: os.open('/dev/tty', os.O_RDWR)\n"
            "except OSError: print('no terminal')\n"
        )
        done = murli.run(script(tmp_path, source))
    assert done.stdout == "closed\n'' True\nno terminal\n"


def test_output_is_text() -> None:
    """Both outputs are UTF-8 with their line ends; what is not is replaced."""
    source = r"import os; os.write(1, b'\xc3\xa9\r\n\xff'); os.write(2, b'oh\n')"
    done = murli.run([PYTHON, "-c", source])
    assert (done.stdout, done.stderr) == ("é\r\n\ufffd", "oh\n")


@pytest.mark.parametrize("given", ["é\n", "é\n".encode()])
def test_input_is_read(given: Any) -> None:
    """Text and bytes are fed to the program."""
    assert murli.run(["cat"], input=given).stdout == "é\n"
    assert murli.run(["cat"], input="").stdout == ""


def test_large_input_and_output() -> None:
    """More than pipes hold goes in and comes out on both sides, without anybody waiting."""
    source = "import sys; t = sys.stdin.read(); sys.stderr.write(t); sys.stdout.write(t)"
    given = "x" * 3_000_000
    done = murli.run([PYTHON, "-c", source], input=given, timeout=20)
    assert (done.stdout, done.stderr) == (given, given)


def test_input_that_is_not_read() -> None:
    """A program need not read what it is given."""
    assert murli.run(["true"], input="x" * 1_000_000).status == 0


def test_a_background_program_is_not_waited_for(tmp_path: Path) -> None:
    """What a program leaves behind with its output is ended, instead of waited for."""
    began = time.monotonic()
    done = murli.run(["sh", "-c", "sleep 60 & echo $!"], timeout=20)
    assert time.monotonic() - began < 5
    assert ends_soon(int(done.stdout))


def test_completed_is_a_value() -> None:
    """What run gives is immutable, comparable and picklable."""
    done = Completed(["a"], 1, "o", "e")
    assert pickle.loads(pickle.dumps(done)) == done
    assert done.argv == ("a",)
    with pytest.raises(AttributeError):
        done.status = 0  # type: ignore[misc]


# -- what can go wrong -------------------------------------------------------------------------


def test_a_program_that_fails_speaks_for_itself() -> None:
    """The message ends with the last line it complained in; the context has the rest."""
    found = failure(["sh", "-c", "echo one >&2; echo two >&2; exit 3"])
    assert (found.kind, found.error_type) == ("tool_error", "command_failed")
    assert found.message == "sh ended with status 3: two"
    assert found.context["status"] == 3
    assert found.context["argv"][0] == "sh"
    assert found.context["stderr"] == "one\ntwo"
    assert found.context["_trusted"] is False


def test_advice_is_not_taken_for_the_complaint() -> None:
    """A program that says what is wrong, and then how to use it, is quoted with the former."""
    found = failure(["sh", "-c", "echo 'fatal: no such thing' >&2; echo 'usage: x' >&2; exit 1"])
    assert found.message == "sh ended with status 1: fatal: no such thing"


def test_a_program_that_fails_in_silence() -> None:
    """Without a complaint the status is what is known."""
    assert failure(["false"]).message == "false ended with status 1."
    found = failure(["sh", "-c", "kill -KILL $$"])
    assert found.message == "sh was ended by SIGKILL."
    assert found.context["status"] == -9


def test_long_complaints_are_cut() -> None:
    """A failure holds the end of what was said, not a log of megabytes."""
    found = failure([PYTHON, "-c", "import sys; sys.exit('x' * 100_000)"])
    assert len(found.message) < 600
    assert len(found.context["stderr"]) == 2000


def test_a_failure_may_be_looked_at() -> None:
    """Without check the status is the tool's business."""
    done = murli.run(["sh", "-c", "echo out; exit 4"], check=False)
    assert (done.status, done.stdout) == (4, "out\n")


def test_a_program_that_is_not_there() -> None:
    """A missing program is a precondition, and named."""
    found = failure(["no-such-program", "-x"])
    assert (found.kind, found.error_type) == ("precondition", "tool_missing")
    assert found.suggestion == "Install no-such-program, or put its directory on PATH."


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    """A missing cwd is told as that, not as a missing program."""
    with pytest.raises(FileNotFoundError) as caught:
        murli.run(["ls"], cwd=tmp_path / "gone")
    assert as_agent_error(caught.value).kind == "not_found"


def test_secrets_are_not_told() -> None:
    """What options, headers and URLs say are secrets is not in the failure."""
    words = ["--token=hush", "--api-key", "hush", "-H", "Authorization: Bearer hush"]
    words += ["DB_PASSWORD=hush", "https://me:hush@host/x", "--url=ftp://me:hush@host", "--verbose"]
    complain = "echo 'fatal: https://me:hush@host/' >&2; exit 1"
    found = failure(["sh", "-c", complain, "x", *words])
    assert "hush" not in f"{found.message} {found.context}"
    assert found.context["argv"][-1] == "--verbose"
    assert "https://[REDACTED]@host/x" in found.context["argv"]


def test_a_timeout_ends_the_program(tmp_path: Path) -> None:
    """When the time is up the program has ended, with what it started."""
    began = time.monotonic()
    found = failure(
        ["sh", "-c", "sleep 60 & echo $! > child; echo $$ > self; wait"], cwd=tmp_path, timeout=0.5
    )
    assert (found.kind, found.message) == ("timeout", "sh did not finish within 0.5 s.")
    assert found.context["timeout_ms"] == 500
    assert time.monotonic() - began < 5
    for name in ("self", "child"):
        assert ends_soon(int((tmp_path / name).read_text()))


def test_a_program_that_will_not_end_is_killed(tmp_path: Path) -> None:
    """One that ignores SIGTERM gets a moment, and no more."""
    source = (
        "import os, signal, time; signal.signal(15, signal.SIG_IGN)\n"
        "open('pid', 'w').write(str(os.getpid())); time.sleep(60)"
    )
    failure(script(tmp_path, source), cwd=tmp_path, timeout=1.0)
    assert not is_running(int((tmp_path / "pid").read_text()))


def test_a_program_may_clean_up(tmp_path: Path) -> None:
    """One that is told to end gets the time to do so properly."""
    source = (
        "import signal, sys, time\n"
        "def end(*_): time.sleep(0.2); open('cleaned', 'w'); sys.exit(0)\n"
        "signal.signal(15, end); print('ready', flush=True); time.sleep(60)"
    )
    failure(script(tmp_path, source), cwd=tmp_path, timeout=1.0)
    assert (tmp_path / "cleaned").exists()


# -- pipelines ---------------------------------------------------------------------------------


def test_a_pipeline() -> None:
    """Each stage reads what the one before it writes."""
    done = murli.pipeline(["cat"], ["sort"], ["head", "-n", "1"], input="b\na\n")
    assert (done.stdout, done.status, done.argv) == ("a\n", 0, ("head", "-n", "1"))


def test_large_pipelines() -> None:
    """Megabytes pass through several stages."""
    given = "x" * 3_000_000
    done = murli.pipeline(["cat"], ["tr", "x", "y"], ["cat"], input=given, timeout=20)
    assert done.stdout == given.replace("x", "y")


def test_the_first_stage_that_fails_is_the_failure() -> None:
    """A failure in front is not hidden by a success behind it."""
    found = failure(["sh", "-c", "echo lost >&2; exit 5"], ["cat"], ["false"])
    assert found.message == "sh ended with status 5: lost"
    done = murli.pipeline(["sh", "-c", "echo a; exit 5"], ["cat"], check=False)
    assert (done.status, done.stdout, done.argv[0]) == (5, "a\n", "sh")


def test_what_every_stage_complains_of_is_kept() -> None:
    """The complaints of all stages are there, in their order."""
    done = murli.pipeline(["sh", "-c", "echo 1 >&2"], ["sh", "-c", "sleep 0.1; echo 2 >&2"])
    assert done.stderr == "1\n2\n"


def test_a_stage_that_nobody_listens_to_has_not_failed() -> None:
    """Who is ended by SIGPIPE because a later stage had enough has done its work."""
    assert murli.pipeline(["yes"], ["head", "-n", "1"], timeout=20).stdout == "y\n"
    in_a_shell = ["sh", "-c", "yes; exit $?"]
    assert murli.pipeline(in_a_shell, ["head", "-n", "1"], timeout=20).stdout == "y\n"
    found = failure(["yes"], ["sh", "-c", "exit 3"], timeout=20)
    assert found.message == "sh ended with status 3."
    assert failure(["sh", "-c", "kill -PIPE $$"]).message == "sh was ended by SIGPIPE."


def test_a_missing_stage_ends_the_others(tmp_path: Path) -> None:
    """Stages that run already do not outlive the one that cannot."""
    found = failure(["sh", "-c", "echo $$ > pid; exec sleep 60"], ["no-such-program"], cwd=tmp_path)
    assert found.error_type == "tool_missing"
    path = tmp_path / "pid"
    assert not path.exists() or ends_soon(int(path.read_text() or 0))


# -- in a tool ---------------------------------------------------------------------------------

TOOL = """
import argparse, os, sys, threading, time
import murli
parser = argparse.ArgumentParser()
parser.add_argument("what")
murli.enable(parser)
what = parser.parse_args().what
child = ["sh", "-c", "echo child $$ >> pid; exec sleep 60"]
def ran():
    try:
        murli.run(child)
    except murli.AgentError as error:
        with open("told", "w") as file:
            file.write(str(error))

if what == "thread":
    threading.Thread(target=ran, daemon=True).start()
    while not os.path.exists("pid"):
        time.sleep(0.01)
elif what == "stubborn":
    threading.Thread(target=ran, daemon=True).start()
    while True:
        try:
            time.sleep(60)
        except BaseException:
            pass
elif what == "wait":
    murli.run(child)
elif what == "fail":
    murli.run(["sh", "-c", "echo why >&2; exit 2"])
elif what == "string":
    murli.run("ls -l")
elif what == "unsafe":
    murli.run(["ls", "a\\nb"])
else:
    print(murli.run(["echo", "--token", "hush", "fine"]).stdout)
"""


@pytest.fixture
def tool(tmp_path: Path) -> list[str]:
    """The argv of a tool that runs other programs."""
    return script(tmp_path, TOOL)


def child_in(folder: Path) -> int:
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        words = (folder / "pid").read_text().split() if (folder / "pid").exists() else []
        if len(words) == 2:
            return int(words[1])
        time.sleep(0.01)
    raise AssertionError("the child did not start")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("mode", ["agent", "human"])
def test_a_signal_ends_the_child_first(
    tool: list[str], start: Starter, tmp_path: Path, number: int, mode: str
) -> None:
    """A signal that ends the tool ends what it runs, before anything is answered."""
    env = environment(MURLI_MODE=mode)
    running = start(tool, "wait", cwd=tmp_path, env=env)
    child = child_in(tmp_path)
    running.send(number)
    done = running.end()
    assert not is_running(child)
    if mode == "agent":
        assert (done.code, done.error["error"]) == (9, "cancelled")
    else:
        assert done.code in (-number, 9)


@pytest.mark.parametrize("what", ["wait", "stubborn"])
def test_a_deadline_ends_the_child(tool: list[str], tmp_path: Path, what: str) -> None:
    """A deadline ends what the tool runs, also when the tool itself will not end."""
    done = run(tool, what, "--timeout", "1", cwd=tmp_path)
    assert (done.code, done.error["error"]) == (4, "timeout")
    assert ends_soon(child_in(tmp_path))


def test_the_end_of_the_call_ends_what_a_thread_runs(tool: list[str], tmp_path: Path) -> None:
    """A program that a thread still waits for does not outlive the call."""
    done = run(tool, "thread", cwd=tmp_path)
    assert done.code == 0
    assert ends_soon(child_in(tmp_path))


def test_failures_are_answers(tool: list[str]) -> None:
    """What goes wrong with a program is an error document like any other."""
    done = run(tool, "fail")
    assert (done.code, done.error["error"]) == (2, "command_failed")
    assert done.error["message"] == "sh ended with status 2: why"
    assert run(tool, "string").error["error"] == "shell_string_prohibited"
    assert run(tool, "unsafe").error["error"] == "argument_unsafe"


def test_who_debugs_sees_what_is_run(tool: list[str]) -> None:
    """With --debug each command is logged as JSON, without its secrets; otherwise none is."""
    quiet = run(tool, "echo")
    assert (quiet.document["result"], quiet.err) == ("--token hush fine", "")
    (logged,) = run(tool, "echo", "--debug").logs
    assert logged["msg"] == 'run: ["echo","--token","[REDACTED]","fine"]'


def test_programs_run_side_by_side() -> None:
    """Threads may run programs at the same time."""
    heard: list[str] = []
    threads = [
        threading.Thread(
            target=lambda: heard.append(murli.run(["cat"], input="x" * 200_000).stdout)
        )
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert heard == ["x" * 200_000] * 8
