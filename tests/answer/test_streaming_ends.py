"""How a stream ends, whatever ends it: a signal, a failure, a deadline, a reader that leaves."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from harness import ADAPTERS, DEADLINE, environment, run, run_at_terminal, script
from starting import Started, Starter
from streams import CONTRACTS, FAMILY, end_of, program, spoken

pytestmark = [pytest.mark.adapters("argparse", "click"), pytest.mark.warm]


def first_item(running: Started) -> bytes:
    stdout = running.process.stdout
    assert stdout is not None
    return stdout.readline()


def ended(running: Started, first: bytes) -> tuple[list[Any], Any, int, str]:
    done = running.end()
    items, end = end_of((first + done.stdout).decode())
    return items, end, done.code, done.err


def interrupted(
    start: Starter, argv: list[str], contract: str, *numbers: int, words: str = "count --pause 0.02"
) -> tuple[list[Any], Any, int, str]:
    """Send these signals in the middle of a stream; give what it wrote."""
    running = start(
        argv, *words.split(), "--n=100000000", "--stream", env=spoken(contract), bufsize=0
    )
    first = first_item(running)
    for number in numbers:
        running.send(number)
    return ended(running, first)


SIGNALS = [[signal.SIGINT], [signal.SIGTERM], [signal.SIGHUP], [signal.SIGINT, signal.SIGTERM]]
# Every contract with one framework, and every framework with one contract.
CELLS = [("click", each) for each in CONTRACTS] + [(each, "agent-spec-2") for each in ADAPTERS]

# -- how it ends ----------------------------------------------------------------------------------


@pytest.mark.parametrize("numbers", SIGNALS, ids=lambda each: "-".join(one.name for one in each))
@pytest.mark.parametrize(("adapter", "contract"), sorted(set(CELLS)))
def test_a_signal_in_mid_stream(
    tools: dict[str, list[str]], start: Starter, adapter: str, contract: str, numbers: list[int]
) -> None:
    """A signal, or two, closes what is iterated over; one cancelled envelope, the signal's code."""
    items, end, code, err = interrupted(start, tools[adapter], contract, *numbers)
    # Another signal at once may cut short what the generator itself does about the first.
    assert err.startswith("closed\n") or len(numbers) > 1
    assert "Traceback" not in err
    if contract == "murli":
        assert (code, end["error"]) == (9, "cancelled")
        return
    # Of two signals at once, either may be the first.
    codes = {130 if number == signal.SIGINT else 143 for number in numbers}
    assert (code in codes, end["error"]["code"]) == (True, "CANCELLED")
    assert end["meta"]["items_emitted"] == len(items)
    assert end["data"] == ({"partial": True} if contract == "agent-spec-2" else None)
    if contract == "agent-spec-2":
        assert end["meta"]["exit_code"] == code
        assert end["error"]["context"]["signal"] in {signal.Signals(each).name for each in numbers}


@pytest.mark.parametrize("command", ["count", "slowly"])
def test_the_count_is_exact(tools: dict[str, list[str]], start: Starter, command: str) -> None:
    """However fast items come, an interruption leaves whole lines and counts exactly those."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        items, end, _, _ = interrupted(
            start, tools["typer"], "agent-spec-2", number, words=f"{command} --pause 0"
        )
        assert [line["_seq"] for line in items] == list(range(1, len(items) + 1))
        assert end["meta"]["items_emitted"] == len(items)


def test_a_long_line_is_finished(tmp_path: Path, start: Starter) -> None:
    """A line that a slow reader has half of is whole before the end is told."""
    argv = program(
        tmp_path,
        "@click.command()",
        "def cli():",
        "    while True: yield 'x' * 300_000",
        "murli.enable(cli); cli()",
    )
    running = start(argv, "--stream", env=spoken("agent-spec-2"), bufsize=0)
    stdout = running.process.stdout
    assert stdout is not None
    began = stdout.read(1000)  # the rest is stuck in the pipe
    time.sleep(0.2)
    running.send(signal.SIGTERM)
    items, end, code, _ = ended(running, began)
    assert {len(line["value"]) for line in items} == {300_000}
    assert (code, end["meta"]["items_emitted"]) == (143, len(items))


@pytest.mark.parametrize("contract", CONTRACTS)
def test_a_failure_in_mid_stream(tools: dict[str, list[str]], contract: str) -> None:
    """What a generator raises is the last line, with the items that were out."""
    adapter = ADAPTERS[CONTRACTS.index(contract) % 3]
    done = run(tools[adapter], "count", "--stream", "--bad", "yes", env=spoken(contract))
    items, end = end_of(done.out)
    assert (len(items), done.code) == (3, 5)
    if contract == "murli":
        assert end["error"] == "not_found"
        assert json.loads(done.err.splitlines()[-1]) == end
    else:
        assert end["meta"]["items_emitted"] == 3
        assert done.err == "closed\n"


@pytest.mark.parametrize("contract", CONTRACTS)
def test_a_deadline_in_mid_stream(tools: dict[str, list[str]], contract: str) -> None:
    """When the time is up the generator is closed, and the last line is the timeout."""
    adapter = ADAPTERS[CONTRACTS.index(contract) % 3]
    words = ["count", "--stream", "--n=99999", "--pause=0.05", "--timeout=1.5"]
    done = run(tools[adapter], *words, env=spoken(contract))
    items, end = end_of(done.out)
    assert done.err.startswith("closed\n")
    if contract == "murli":
        assert (done.code, end["error"]) == (4, "timeout")
    else:
        assert (done.code, end["error"]["code"]) == (10, "TIMEOUT")
        assert end["meta"]["items_emitted"] == len(items)


@pytest.mark.parametrize("contract", ["murli", "agent-spec-2"])
def test_a_generator_that_does_not_let_go(tools: dict[str, list[str]], contract: str) -> None:
    """A generator that swallows the deadline is ended, and the stream still has its last line."""
    words = ["count", "--stream", "--bad=stubborn", "--timeout=0.3"]
    done = run(tools["click"], *words, env=spoken(contract))
    items, end = end_of(done.out)
    assert len(items) == 3
    assert done.code == (4 if contract == "murli" else 10)
    assert contract == "murli" or end["meta"]["items_emitted"] == 3


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_a_reader_that_goes_away(tools: dict[str, list[str]], start: Starter, adapter: str) -> None:
    """When nobody reads any more the generator is closed, quietly, with exit code 0."""
    running = start(
        tools[adapter],
        *("count", "--stream", "--n=99999", "--pause=0.01"),
        env=spoken("agent-spec-2"),
        bufsize=0,
    )
    first_item(running)
    stdout, stderr = running.process.stdout, running.process.stderr
    assert stdout is not None
    assert stderr is not None
    stdout.close()
    assert stderr.read() == b"closed\n"
    assert running.process.wait(DEADLINE) == 0


def interrupted_after(start: Starter, argv: list[str]) -> tuple[list[Any], Any, int, str]:
    running = start(argv, "--stream", env=spoken("agent-spec-2"), bufsize=0)
    first = first_item(running)
    running.send(signal.SIGTERM)
    return ended(running, first)


def test_a_cleanup_that_fails(tmp_path: Path, start: Starter) -> None:
    """What goes wrong while a stream is closed is a warning; what ended the stream is the error."""
    argv = program(
        tmp_path,
        "class Items:",
        "    def __iter__(self): return self",
        "    def __next__(self): return 'x' * 5_000",
        "    def close(self): raise ValueError('it is stuck')",
        "@click.command()",
        "def cli() -> list: return Items()",
        "murli.enable(cli); cli()",
    )
    _, end, code, _ = interrupted_after(start, argv)
    assert (code, end["error"]["code"]) == (143, "CANCELLED")
    assert end["warnings"][0]["code"] == "CLEANUP_FAILED"
    assert "it is stuck" in end["warnings"][0]["message"]
    limited = run(argv, "--stream", "--limit", "1", env=spoken("agent-spec-2"))
    assert (limited.code, limited.lines[-1]["meta"]["items_emitted"]) == (1, 1)


# -- handlers that are awaited --------------------------------------------------------------------


def test_an_asynchronous_stream(tools: dict[str, list[str]], start: Starter) -> None:
    """An asynchronous generator streams, is a list, and is closed by a signal, like any other."""
    env = spoken("agent-spec-2")
    assert len(run(tools["typer"], "slowly", "--stream", env=env).lines) == 4
    assert len(run(tools["typer"], "slowly", env=env).document["data"]) == 3
    limited = run(tools["typer"], "slowly", "--stream", "--limit=1", env=env)
    assert (len(limited.lines), limited.err) == (2, "closed\n")
    for number, wanted in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
        _, end, code, err = interrupted(
            start, tools["typer"], "agent-spec-2", number, number, words="slowly --pause=0.01"
        )
        assert (code, end["error"]["code"], err) == (wanted, "CANCELLED", "closed\n")


@pytest.mark.parametrize("contract", ["murli", "agent-spec-2"])
def test_tasks_that_nobody_awaits(tmp_path: Path, contract: str) -> None:
    """Tasks left at the end of an async handler are cancelled, and the answer says so."""
    argv = program(
        tmp_path,
        "async def forgotten():",
        "    try: await asyncio.sleep(60)",
        "    finally: os.write(2, b'cancelled\\n')",
        "async def brief(): pass",
        "kept = []",
        "@click.command()",
        "async def cli():",
        "    kept.extend(map(asyncio.ensure_future, (forgotten(), brief())))",
        "    await asyncio.sleep(0)",
        "    return {'a': 1}",
        "murli.enable(cli); cli()",
    )
    done = run(argv, env=spoken(contract))
    assert done.code == 0
    assert "cancelled\n" in done.err
    if contract == "murli":
        assert "forgotten" in done.logs[0]["msg"]
    else:
        (warning,) = done.document["warnings"]
        assert warning["code"] == "TASKS_NOT_AWAITED"
        assert warning["context"] == {"tasks": ["forgotten"]}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_coroutine_that_is_interrupted(tmp_path: Path, start: Starter, number: int) -> None:
    """A coroutine cleans up to its end, also when it awaits something for that."""
    argv = program(
        tmp_path,
        "@click.command()",
        "async def cli():",
        "    try:",
        "        os.write(2, b'ready\\n')",
        "        while True: await asyncio.sleep(0)",
        "    finally:",
        "        await asyncio.sleep(0.1)",
        "        os.write(2, b'cleaned\\n')",
        "murli.enable(cli); cli()",
    )
    running = start(argv, env=spoken("agent-spec-2"))
    running.wait_for(b"ready")
    running.send(number)
    running.send(number)
    done = running.end()
    assert "cleaned" in done.err
    assert done.document["data"] == {"partial": True}
    assert done.code == (130 if number == signal.SIGINT else 143)


TIMED = [
    "@click.group()",
    "def cli(): pass",
    "murli.enable(cli, name='my-tool', timeout=float(os.environ.get('ENABLED', 0)))",
    "@cli.command()",
    "def plain(): return {}",
    "@cli.command()",
    "def declared(): return {}",
    "@cli.command()",
    "def endless(): return {}",
    "@cli.command()",
    "def reads(): time.sleep(60)",
    "@cli.command()",
    "def writes(): time.sleep(60)",
    "@cli.command()",
    "def alarmed():",
    "    signal.setitimer(signal.ITIMER_REAL, 0.05)",
    "    time.sleep(0.3)",
    "    return {'alarms': alarms}",
    "import signal",
    "alarms = []",
    "signal.signal(signal.SIGALRM, lambda *_: alarms.append(1))",
    "murli.annotate(declared, murli.Metadata(timeout=7))",
    "murli.annotate(endless, murli.Metadata(timeout=0))",
    "murli.annotate(reads, murli.Metadata(danger_level='safe'))",
    "murli.annotate(writes, murli.Metadata(mutating=True))",
    "cli()",
]

# -- time -----------------------------------------------------------------------------------------


def test_every_command_has_a_time_limit(tmp_path: Path) -> None:
    """Under the family a call may take five minutes unless somebody says otherwise."""
    argv = program(tmp_path, *TIMED)

    def told(*words: str, **changes: str) -> Any:
        meta = run(argv, *words, env=spoken("agent-spec-2", **changes)).document["meta"]
        return meta.get("timeout_ms")

    assert told("plain") == 300_000
    assert told("declared") == 7_000
    assert told("endless") is None
    assert told("plain", ENABLED="9") == 9_000
    assert told("declared", "--timeout", "2m") == 120_000
    assert told("plain", MURLI_TIMEOUT="11") == 11_000
    assert told("plain", MY_TOOL_TIMEOUT="12") == 12_000
    assert told("declared", "--timeout", "0") == 0
    assert told("plain", MY_TOOL_TIMEOUT="0") == 0


def test_nobody_else_has_one(tmp_path: Path) -> None:
    """Neither the murli contract nor a person has a limit that nobody set, nor a thread for it."""
    argv = script(
        tmp_path,
        "import argparse, murli, os\n"
        "p = argparse.ArgumentParser()\n"
        "murli.enable(p)\n"
        "with murli.session(p) as (args, writer):\n"
        "    os.write(2, str(len(os.listdir('/proc/self/task'))).encode())\n",
    )
    assert run(argv).err == "1"
    assert run(argv, env=spoken("agent-spec-2")).err == "2"
    assert run_at_terminal(argv, env=spoken("agent-spec-2")).err == "1"


@pytest.mark.parametrize("contract", FAMILY)
def test_a_timeout_tells_what_a_caller_may_do(tmp_path: Path, contract: str) -> None:
    """A timeout tells the time that passed, and whether to allow more of it or to look first.

    The first revisions call it retryable where nothing can be written, the newest only where its
    author does.
    """
    argv = program(tmp_path, *TIMED)
    passes = contract != "agent-spec-2"
    for command, retryable, force in (("reads", passes, []), ("writes", False, ["--yes"])):
        done = run(argv, command, "--timeout=0.3", *force, env=spoken(contract))
        error, meta = done.document["error"], done.document["meta"]
        assert (done.code, error["code"], error["retryable"]) == (10, "TIMEOUT", retryable)
        assert meta["duration_ms"] >= 300
        if contract != "response":
            assert error["context"]["timeout_ms"] == meta["timeout_ms"] == 300
            assert 300 <= error["context"]["elapsed_ms"] <= meta["duration_ms"]
        more = "Pass a larger --timeout than 0.3."
        wanted = more if command == "reads" and contract == "agent-spec-2" else None
        assert error.get("fix_required") == wanted


def test_an_alarm_of_the_tools_own(tmp_path: Path) -> None:
    """A tool that uses alarms itself gets them while a limit is in force."""
    done = run(program(tmp_path, *TIMED), "alarmed", env=spoken("agent-spec-2"))
    assert done.document["data"] == {"alarms": [1]}


def test_a_limit_nobody_set_is_not_the_readers(tmp_path: Path) -> None:
    """With the answer on its way, the limit that is only assumed is over."""
    source = (
        "import argparse, murli, os\n"
        "from murli.contracts.agent_spec import Revision\n"
        "Revision.default_timeout = 0.3\n"
        "p = argparse.ArgumentParser()\n"
        "murli.enable(p, contract='agent-spec-2')\n"
        "with murli.session(p) as (args, writer):\n"
        "    writer.write_success('', 'x' * 500_000)\n"
    )
    process = subprocess.Popen(
        script(tmp_path, source), stdout=subprocess.PIPE, env=environment(), bufsize=0
    )
    time.sleep(1.0)
    out, _ = process.communicate(timeout=DEADLINE)
    assert (process.returncode, len(json.loads(out)["data"]["text"])) == (0, 500_000)


def test_children_do_not_hold_back_what_they_print(tmp_path: Path) -> None:
    """A Python that a handler starts is told not to buffer."""
    argv = program(
        tmp_path,
        "@click.command()",
        "def cli(): return os.environ.get('PYTHONUNBUFFERED')",
        "murli.enable(cli); cli()",
    )
    assert run(argv, env=spoken("agent-spec-2")).document["data"] == {"text": "1"}
