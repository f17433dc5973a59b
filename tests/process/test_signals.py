"""Signals give an answer, wherever they find the program."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path
from textwrap import dedent

import pytest

from harness import environment, run, script
from starting import Starter, ends_soon

pytestmark = pytest.mark.adapters("argparse", "click")

SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


@pytest.mark.adapters("argparse", "click", "typer")
@pytest.mark.parametrize("number", SIGNALS, ids=lambda each: each.name)
def test_a_signal_is_answered(faults: list[str], start: Starter, number: int) -> None:
    """A signal runs the handler's cleanup and gives the cancelled document, exit code 9."""
    running = start(faults, "do", "sleep")
    running.wait_for(b"ready")
    running.send(number)
    done = running.end()
    assert (done.out, done.code) == ("", 9)
    assert done.error["error"] == "cancelled"
    assert done.err.index("cleaned") < done.err.index("{")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("contract", ["response", "agent-spec-1.6", "agent-spec-2"])
def test_a_signal_in_the_other_contracts(
    faults: list[str], start: Starter, number: int, code: int, contract: str
) -> None:
    """Under the ResponseEnvelope contracts the document is on stdout, the code the signal's."""
    running = start(faults, "do", "sleep", env=environment(MURLI_CONTRACT=contract))
    running.wait_for(b"ready")
    running.send(number)
    done = running.end()
    assert done.code == code
    assert done.document["error"]["code"] == "CANCELLED"


@pytest.mark.parametrize("number", SIGNALS, ids=lambda each: each.name)
def test_two_signals_in_a_row(faults: list[str], start: Starter, number: int) -> None:
    """A second signal at once changes nothing: one document, the same code."""
    running = start(faults, "do", "sleep")
    running.wait_for(b"ready")
    running.send(number)
    running.send(number)
    done = running.end()
    assert done.code == 9
    assert done.err.count('"cancelled"') == 1


def test_a_second_sigterm_does_not_cut_the_cleanup_short(faults: list[str], start: Starter) -> None:
    """What a handler does in its finally block is done, though SIGTERM comes again."""
    running = start(faults, "do", "slow_cleanup")
    running.wait_for(b"ready")
    running.send(signal.SIGTERM)
    time.sleep(0.1)
    running.send(signal.SIGTERM)
    done = running.end()
    assert "cleaned" in done.err
    assert done.error["error"] == "cancelled"


def test_a_signal_reaches_the_children(faults: list[str], start: Starter) -> None:
    """A program the handler started does not outlive it."""
    running = start(faults, "do", "child")
    child = int(running.wait_for(b"child").split()[1])
    running.send(signal.SIGTERM)
    assert running.end().code == 9
    assert ends_soon(child)


def test_a_signal_reaches_the_children_of_children(faults: list[str], start: Starter) -> None:
    """What a child has started is ended too, though the handler kills that child at once."""
    running = start(faults, "do", "grandchild")
    below = int(running.wait_for(b"child").split()[1])
    running.send(signal.SIGTERM)
    assert running.end().code == 9
    assert ends_soon(below)


@pytest.mark.parametrize("contract", ["murli", "response", "agent-spec-1.6", "agent-spec-2"])
@pytest.mark.parametrize("what", ["cleanup_fails", "other_failure"])
def test_a_handler_that_fails_when_it_is_interrupted(
    faults: list[str], start: Starter, what: str, contract: str
) -> None:
    """SIGTERM cancels a call with its own exit code, also where the handler fails because of it."""
    running = start(faults, "do", what, env=environment(MURLI_CONTRACT=contract))
    running.wait_for(b"ready")
    running.send(signal.SIGTERM)
    done = running.end()
    if contract == "murli":
        assert (done.code, done.error["error"]) == (9, "cancelled")
    else:
        assert (done.code, done.document["error"]["code"].lower()) == (143, "cancelled")


def test_a_signal_in_an_event_loop(faults: list[str], start: Starter) -> None:
    """A coroutine is cancelled and cleans up; the answer is the same."""
    for number in (signal.SIGINT, signal.SIGTERM):
        running = start(faults, "do", "loop")
        running.wait_for(b"ready")
        running.send(number)
        done = running.end()
        assert "cleaned" in done.err
        assert (done.code, done.error["error"]) == (9, "cancelled")


def test_a_signal_in_mid_stream(faults: list[str], start: Starter) -> None:
    """A stream ends with the cancelled envelope, and no event before it looks like an end."""
    running = start(faults, "do", "events")
    running.wait_for(b"ready")
    running.send(signal.SIGINT)
    done = running.end()
    *events, last = done.lines
    assert last["error"] == "cancelled"
    assert done.code == 9
    assert not any("schema_version" in event for event in events)
    assert events[1]["data"]["status"] == "ok"


def test_a_handler_that_swallows_it_has_not_done_its_work(
    faults: list[str], start: Starter
) -> None:
    """A handler that makes SIGTERM an exit with 0 is still reported as cancelled."""
    running = start(faults, "do", "graceful")
    running.wait_for(b"ready")
    running.send(signal.SIGTERM)
    done = running.end()
    assert (done.code, done.error["error"]) == (9, "cancelled")


def test_a_tools_own_handler_is_its_own(faults: list[str], start: Starter) -> None:
    """A tool that handles SIGTERM itself handles it as it would without murli."""
    running = start(faults, "do", "own_handler")
    running.wait_for(b"ready")
    running.send(signal.SIGTERM)
    done = running.end()
    assert (done.code, done.document["result"]) == (0, "mine")


def test_a_fork_dies_of_its_signal(faults: list[str]) -> None:
    """A forked child that is terminated dies as it would without murli."""
    done = run(faults, "do", "fork")
    assert done.document["result"] == "-15"


def test_an_ignored_signal_stays_ignored(faults: list[str], start: Starter) -> None:
    """Under nohup a hangup does not end the command."""
    ignoring = [sys.executable, "-c", "import os, signal, sys\n"
                "signal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
                "os.execv(sys.argv[1], sys.argv[1:])"]  # fmt: skip
    running = start([*ignoring, *faults], "do", "sleep", "--seconds", "0.5")
    running.wait_for(b"ready")
    running.send(signal.SIGHUP)
    done = running.end()
    assert (done.code, done.document["result"]) == (0, "slept")


@pytest.mark.adapters("argparse", "click", "typer")
@pytest.mark.parametrize("framework", ["argparse", "click", "typer"])
def test_an_interrupt_while_the_tool_is_importing(
    framework: str, start: Starter, tmp_path: Path
) -> None:
    """An interrupt between enable() and the call gives the cancelled document too."""
    made = {
        "argparse": "import argparse; app = argparse.ArgumentParser()",
        "click": "import click; app = click.Command('x')",
        "typer": "import typer; app = typer.Typer()",
    }[framework]
    source = f"{made}\nimport murli, os, time\nmurli.enable(app)\n" \
             "os.write(2, b'ready\\n'); time.sleep(60)\n"  # fmt: skip
    running = start(script(tmp_path, source))
    running.wait_for(b"ready")
    running.send(signal.SIGINT)
    done = running.end()
    assert (done.code, done.error["error"], done.out) == (9, "cancelled", "")


def test_a_signal_at_any_moment(start: Starter, tmp_path: Path) -> None:
    """Before murli can act a signal kills; from then on there is a document with its exit code."""
    source = "import click, murli\n@click.command()\ndef x(): print('hi')\nmurli.enable(x)\nx()\n"
    argv = script(tmp_path, source)
    for step in range(12):
        running = start(argv)
        time.sleep(step * 0.015)
        running.send(signal.SIGTERM)
        done = running.end()
        assert done.code in (0, 9, -signal.SIGTERM), done
        if done.code == 9:
            assert done.error["error"] == "cancelled"
        if done.code == 0:
            assert json.loads(done.out)["result"] == "hi"
        if done.code < 0:
            assert done.out == ""


def test_an_interrupt_in_the_middle_of_an_import_error(tmp_path: Path) -> None:
    """A signal that Python loses while it writes the message of an ImportError is answered."""
    source = """
        import _thread, argparse, murli, operator, sys, types
        class Module(types.ModuleType):
            # Which C code looks up between the failed import and its message.
            __name__ = property(operator.methodcaller("interrupt", 15))
        p = argparse.ArgumentParser(prog="t")
        murli.enable(p)
        p.parse_args()
        sys.modules["m"] = m = Module("m")
        m.interrupt = _thread.interrupt_main
        try:
            from m import missing
        except ImportError:
            print("went on")
    """
    done = run(script(tmp_path, dedent(source)))
    assert (done.code, done.error["error"]) == (9, "cancelled")


def test_an_interrupt_while_the_encoder_is_loaded(tmp_path: Path) -> None:
    """A signal that comes while orjson begins, in C, is answered once that has ended."""
    source = """
        import argparse, murli, os, sys, time
        p = argparse.ArgumentParser(prog="t")
        murli.enable(p)
        p.parse_args()
        sent = []
        def hook(event, args):
            begun = "orjson" in sys.modules and args[0] != "orjson.orjson"
            if event == "import" and begun and not sent:
                sent.append(args[0])
                os.kill(os.getpid(), 15)
        sys.addaudithook(hook)
        murli.get_writer().write_event({"sent": True})
        time.sleep(30)
    """
    done = run(script(tmp_path, dedent(source)))
    assert (done.code, json.loads(done.out.splitlines()[-1])["error"]) == (9, "cancelled")


def test_nothing_of_ours_stays_behind(tmp_path: Path) -> None:
    """After a call in the author's own process, signals, environment and stdin are as before."""
    source = (
        "import click, murli, os, signal, sys\n"
        "@click.command()\n"
        "def x(): click.echo('hi')\n"
        "murli.enable(x)\n"
        "def state(): return ([signal.getsignal(n) for n in (1, 2, 14, 15)], dict(os.environ),\n"
        "    list(sys.meta_path), os._exit, os.execv, vars(sys.stdin.buffer.raw),\n"
        "    vars(sys.stdout.buffer), sorted(os.listdir('/proc/self/fd')))\n"
        "before = state()\n"
        "for words in ([], ['--bad'], ['--timeout', '5']):\n"
        "    try: x(words)\n"
        "    except SystemExit: pass\n"
        "assert state() == before, (state(), before)\n"
        "os.write(2, b'same')\n"
    )
    reader, writer = os.pipe()
    try:
        done = run(script(tmp_path, source), stdin=b"")
    finally:
        os.close(reader)
        os.close(writer)
    assert done.err.endswith("same"), done.err


SLOW_TO_LOAD = """
import importlib, importlib.machinery, os, sys, threading, time
import click
import murli


def slow(module):
    os.write(2, b"ready\\n")
    time.sleep(0.5)
    load(module)


class Slow(importlib.machinery.PathFinder):
    def find_spec(name, path=None, target=None):
        global load
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if name == "murli.call.ending":
            load, spec.loader.exec_module = spec.loader.exec_module, slow
        return spec


@click.command()
def tool():
    threading.Thread(target=importlib.import_module, args=("murli.call.ending",)).start()
    time.sleep(60)


sys.meta_path.insert(0, Slow)
murli.enable(tool)
tool()
"""


def test_a_signal_while_its_own_modules_are_loaded(start: Starter, tmp_path: Path) -> None:
    """An interrupt is answered as one while what will answer it is being loaded."""
    running = start(script(tmp_path, SLOW_TO_LOAD))
    running.wait_for(b"ready")
    running.send(signal.SIGINT)
    done = running.end()
    assert (done.code, done.error["error"]) == (9, "cancelled")


def test_a_signal_does_not_come_between_the_parts_of_a_document(
    tmp_path: Path, start: Starter
) -> None:
    """A document that is being written when Ctrl-C comes is written to its end."""
    source = (
        "import argparse, murli\np = argparse.ArgumentParser(prog='t')\nmurli.enable(p)\n"
        "p.parse_args()\nmurli.get_writer().write_success('', ['y' * 100] * 20_000)\n"
    )
    running = start(script(tmp_path, source), bufsize=0)
    assert running.process.stdout is not None
    first = running.process.stdout.read(1000)
    running.send(signal.SIGINT)
    rest, _ = running.process.communicate(timeout=20)
    assert len(json.loads(first + rest)["result"]) == 20_000


INTERRUPTED_BEHIND = """
import argparse, murli
parser = argparse.ArgumentParser(prog="tool")
murli.enable(parser)
with murli.session(parser) as (args, writer):
    writer.write_success("done", {"n": 1})
raise KeyboardInterrupt
"""


@pytest.mark.parametrize("contract", ["murli", "response"])
def test_an_interrupt_behind_the_answer(tmp_path: Path, contract: str) -> None:
    """Who is interrupted when a session has been answered says no more, and keeps its code."""
    tool = script(tmp_path, INTERRUPTED_BEHIND)
    done = run(tool, env=environment(MURLI_CONTRACT=contract))
    assert (done.code, done.err) == (0, "")
    assert done.document["result" if contract == "murli" else "data"] == {"n": 1}


INTERRUPTED_IN_CLICK = """
import click, murli, os, signal
@click.command()
@murli.pass_writer
def tool(writer):
    click.get_current_context().call_on_close(lambda: os.kill(os.getpid(), signal.SIGINT))
    answer("done", {"n": 1})
murli.enable(tool)
tool()
"""


@pytest.mark.parametrize("answered", [True, False])
@pytest.mark.parametrize("contract", ["murli", "response"])
def test_a_signal_that_finds_the_framework(
    tmp_path: Path, contract: str, *, answered: bool
) -> None:
    """Behind the handler, while click closes its context, the answer stands if there is one."""
    source = INTERRUPTED_IN_CLICK.replace("answer(", "writer.write_success(" if answered else "(")
    done = run(script(tmp_path, source), env=environment(MURLI_CONTRACT=contract))
    if answered:
        assert (done.code, done.err) == (0, "")
        assert done.document["result" if contract == "murli" else "data"] == {"n": 1}
    else:
        assert done.code == (9 if contract == "murli" else 130)
        failure = json.loads(done.err or done.out)
        assert "cancelled" in json.dumps(failure).lower()


EXITS_WHEN_INTERRUPTED = """
import click, murli, os, signal
@click.command()
@click.argument("status", type=int)
def tool(status):
    try:
        os.kill(os.getpid(), signal.SIGINT)
    except KeyboardInterrupt:
        click.get_current_context().exit(status)
murli.enable(tool)
tool()
"""


@pytest.mark.parametrize("status", ["0", "3"])
def test_an_exit_of_the_framework_behind_a_signal(tmp_path: Path, status: str) -> None:
    """A handler that exits by its framework when it is interrupted is cancelled; nothing failed."""
    done = run(script(tmp_path, EXITS_WHEN_INTERRUPTED), status)
    assert (done.code, done.error["message"]) == (9, "The command was cancelled.")


INSIDE_A_RUNNER = """
import click, murli, os, subprocess, sys, time
from click.testing import CliRunner
@click.command()
def tool():
    global own
    own = subprocess.Popen(["sleep", "100"])
    raise KeyboardInterrupt
murli.enable(tool)
others = subprocess.Popen(["sleep", "100"])
time.sleep(0.05)
CliRunner().invoke(tool, [])
print(others.poll(), os.path.exists(f"/proc/{own.pid}"))
others.kill()
"""


def test_only_what_the_handler_started_is_ended(tmp_path: Path) -> None:
    """An interrupted call inside another program leaves that program's own children alone."""
    done = run(script(tmp_path, INSIDE_A_RUNNER))
    assert done.out == "None False\n"


STUBBORN = [
    *("blocked_finally", "stubborn", "sigwait", "thread", "system", "deaf_child", "join"),
    *("own_sigwait", "blocked_signals", "stubborn_loop"),
]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=lambda each: each.name)
def test_a_signal_ends_whatever_the_handler_does(
    faults: list[str], start: Starter, number: int
) -> None:
    """A signal ends a call within a bounded time, with its children, and with one document.

    What the handler had printed by then is in it.
    """
    all_running = [start(faults, "do", what) for what in STUBBORN]
    for running in all_running:
        running.wait_for(b"ready")
    time.sleep(0.1)  # until those who wait for a child do so
    began = time.monotonic()
    for running in all_running:
        running.send(number)
    for what, running in zip(STUBBORN, all_running, strict=True):
        done = running.end()
        told = (done.code, done.err.count('"cancelled"'), done.out, "Traceback" in done.err)
        assert told == (9, 1, "", False), what
        printed = "so far" if what in ("blocked_signals", "stubborn_loop") else None
        assert done.error.get("result") == printed, what
    assert time.monotonic() - began < 8


@pytest.mark.adapters("argparse", "click", "typer")
@pytest.mark.parametrize("number", SIGNALS, ids=lambda each: each.name)
def test_signals_that_are_swallowed_mean_the_same(
    faults: list[str], start: Starter, number: int
) -> None:
    """A handler that is interrupted and returns has not done its work, whichever signal it was."""
    running = start(faults, "do", "swallow")
    running.wait_for(b"ready")
    running.send(number)
    done = running.end()
    assert (done.code, done.error["error"]) == (9, "cancelled")


@pytest.mark.parametrize("contract", ["murli", "response"])
def test_a_burst_of_signals_is_one(faults: list[str], start: Starter, contract: str) -> None:
    """SIGINT three times in a row gives one document and its code, and no traceback beside it."""
    for what, pause in (("sleep", 0.0), ("loop", 0.0001), ("swallow", 0.001), ("child", 0.0001)):
        running = start(faults, "do", what, env=environment(MURLI_CONTRACT=contract))
        running.wait_for(b"child" if what == "child" else b"ready")
        for _ in range(3):
            running.send(signal.SIGINT)
            time.sleep(pause)
        done = running.end()
        assert done.code == (9 if contract == "murli" else 130)
        assert (done.out + done.err).lower().count('"cancelled"') == 1
        assert "Traceback" not in done.err
