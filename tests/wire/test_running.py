"""Whatever a tool does, its caller survives it: bounded memory, bounded time, nothing left over."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from client_fakes import QUICK, Client, Gauge, children, descriptors, lines, murli_ok
from murli.client import AsyncTool, Escalate, Limits, Stop, Tool
from murli.client.streaming import Items
from murli.wire.collecting import HeadAndTail, WholeOutput
from murli.wire.lifecycle import ProcessLifecycle
from murli.wire.limits import MIB
from murli.wire.running import run
from properties import examples
from starting import ends_soon, is_running

OK = '{"status":"ok","schema_version":"1.0","result":1}'
# What reading a megabyte may cost beyond it: buffers, and what the interpreter keeps for later.
SLACK_MIB = 12.0


def shell(text: str) -> list[str]:
    """Give a tool that is a few lines of shell."""
    return ["sh", "-c", text]


pytestmark = pytest.mark.usefixtures("own_places")


# -- too much, too long, too late --------------------------------------------------------------


def test_a_tool_that_prints_for_ever_is_ended_at_the_limit(client: Client) -> None:
    """Of endless output no more is read than allowed, and none of it is acted on."""
    with Gauge() as gauge:
        found = client(["yes"], limits=replace(QUICK, stdout_bytes=4 * MIB)).call()
    assert found.state == "malformed" and not found.is_usable and found.data is None
    assert found.oddities == ("it wrote more than 4 MiB",)
    assert isinstance(found.decisions[-1], Escalate)
    assert gauge.mib < 4 + SLACK_MIB and gauge.seconds < 3


def test_a_line_of_a_gigabyte_is_ended_at_the_limit(client: Client) -> None:
    """A line without an end is given up long before memory is."""
    tool = client(["head", "-c", "1000000000", "/dev/zero"], limits=replace(QUICK, line_bytes=MIB))
    with Gauge() as gauge:
        found = tool.call()
        items, stream = tool.stream()
    assert found.oddities == ("it wrote a line longer than 1 MiB",)
    assert (items, stream.response.state) == ([], "malformed")
    assert gauge.mib < 2 + SLACK_MIB and gauge.seconds < 3


def test_a_tool_that_says_nothing_for_ever_is_ended_in_time(client: Client) -> None:
    """A tool that hangs is a timeout that is not repeated: nobody knows what it has done."""
    with Gauge() as gauge:
        found = client(["sleep", "600"], limits=replace(QUICK, seconds=0.3)).call()
    assert found.problem is not None
    assert (found.problem.kind, found.problem.code) == ("timeout", "CLIENT_TIMEOUT")
    assert len(found.decisions) == 1 and isinstance(found.decisions[0], Stop)
    assert 0.3 <= gauge.seconds < 2.5


def test_a_stream_that_gives_nothing_is_ended_in_time(client: Client) -> None:
    """Noise is no sign of life, and with signs of life alone a stream does not go on for ever."""
    limits = replace(QUICK, seconds=0.2)
    with Gauge() as gauge:
        items, stream = client(["yes"], limits=limits).stream()
    assert (items, stream.response.problem.code) == ([], "CLIENT_TIMEOUT")
    assert gauge.seconds < 2
    beat = "while :; do echo '{\"heartbeat\":true}'; sleep 0.02; done"
    with Gauge() as gauge:
        items, stream = client(shell(beat), limits=replace(QUICK, seconds=0.25)).stream()
    assert (items, stream.response.problem.code) == ([], "CLIENT_TIMEOUT")
    assert 2.4 < gauge.seconds < 6


def test_a_tool_that_will_not_end_is_killed(client: Client) -> None:
    """Who ignores the request to end is killed after the grace it was given."""
    tool = shell("trap '' TERM; echo $$ >&2; while :; do sleep 0.05; done")
    found = client(tool, limits=replace(QUICK, seconds=0.3)).call()
    assert (found.state, found.exit_code) == ("failed", -signal.SIGKILL)
    assert ends_soon(int(found.stderr))


def test_an_answer_in_the_time_of_grace_counts(client: Client) -> None:
    """A tool that is ended may still say how far it came, and one that was done is done."""
    work = "sleep 600 & wait"
    polite = shell(f"trap 'echo \"$1\"; exit 0' TERM; {work}")
    found = client([*polite, "tool", OK], limits=replace(QUICK, seconds=0.3)).call()
    assert (found.state, found.data) == ("ok", 1)
    told = shell(f"trap 'echo stopped >&2; exit 9' TERM; {work}")
    found = client(told, limits=replace(QUICK, seconds=0.3)).call()
    assert (found.state, found.exit_code, found.stderr) == ("failed", 9, "stopped\n")


def test_what_is_said_on_the_side_is_bounded_too(client: Client) -> None:
    """Of a flood on stderr the beginning and the end are kept; the answer is not spoilt by it."""
    flood = "echo first >&2; head -c 30000000 /dev/zero >&2; echo last >&2"
    with Gauge() as gauge:
        found = client([*shell(f'{flood}; echo "$1"'), "tool", OK]).call()
    assert (found.state, found.data) == ("ok", 1)
    assert found.stderr.endswith("last\n") and len(found.stderr) <= 65536
    assert gauge.mib < 4 + SLACK_MIB


def test_a_hostile_document_is_read_quickly(client: Client, tmp_path: Path) -> None:
    """Lines that look like documents without being any cost seconds at most, not minutes."""
    (tmp_path / "braces").write_bytes(b"{\n" * 500_000 + b"}")
    (tmp_path / "nested").write_bytes(b'{"a":[\n' * 100_000)
    for name in ("braces", "nested"):
        with Gauge() as gauge:
            found = client(shell(f"cat {name}; cat {name} >&2"), cwd=tmp_path).call()
        assert (found.state, gauge.seconds < 5) == ("plain", True)


# -- what is left over -------------------------------------------------------------------------


def test_children_that_hold_the_output_open_are_not_waited_for(client: Client) -> None:
    """When the tool has ended its answer counts, and who still holds its pipe is ended."""
    tool = [*shell('sleep 600 & echo $! >&2; echo "$1"'), "tool", OK]
    with Gauge() as gauge:
        found = client(tool).call()
    assert (found.state, found.data) == ("ok", 1)
    assert gauge.seconds < 2.5
    assert ends_soon(int(found.stderr))


def test_children_that_hide_are_ended_too(client: Client) -> None:
    """Whoever is left of the process group goes with the tool, unless the caller lets them live."""
    tool = [*shell('sleep 600 >/dev/null 2>&1 & echo $! >&2; echo "$1"'), "tool", OK]
    assert ends_soon(int(client(tool).call().stderr))
    left = int(client(tool, limits=replace(QUICK, leave_children=True)).call().stderr)
    assert is_running(left)
    os.kill(left, signal.SIGKILL)


def test_children_that_flood_behind_a_tool_are_ended(client: Client) -> None:
    """A writer that outlives the tool cannot keep its caller reading."""
    with Gauge() as gauge:
        found = client(shell("yes & echo $! >&2"), limits=replace(QUICK, stdout_bytes=MIB)).call()
    assert found.state == "malformed" and gauge.seconds < 2.5
    assert ends_soon(int(found.stderr))


def test_nothing_is_left_of_a_call(client: Client) -> None:
    """No descriptor and no dead process stays behind, however the call ends."""
    tools = [client(["true"]), client(["no-such-tool"])]
    tools.append(client(["yes"], limits=replace(QUICK, seconds=0.1, stdout_bytes=4096)))
    tools.append(client(["cat"], limits=replace(QUICK, seconds=5)))
    for tool in tools:  # whatever is loaded when it is first needed
        tool.call()
    before = descriptors()
    for tool in tools:
        tool.call(stdin=b"x" * 200_000)
        tool.stream(most=1)
    assert descriptors() == before
    assert children() == set()


def test_an_interrupted_call_leaves_nothing_running(tmp_path: Path) -> None:
    """Ctrl-C during a call ends the tool, which would not hear of it otherwise."""
    tool = Tool(shell("echo $$ > pid; sleep 600 & wait"), cwd=tmp_path, limits=QUICK, memory=False)
    threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        tool.call()
    assert ends_soon(int((tmp_path / "pid").read_text()))


@pytest.mark.parametrize("twice", [False, True])
def test_a_cancelled_call_leaves_nothing_running(tmp_path: Path, twice: bool) -> None:
    """A cancelled call waits for the end of its tool; cancelled again it kills it."""
    stubborn = "trap '' TERM; echo $$ > pid; while :; do sleep 0.05; done"
    limits = replace(QUICK, grace_seconds=30.0 if twice else 0.3)

    async def scene() -> None:
        tool = AsyncTool(shell(stubborn), cwd=tmp_path, limits=limits, memory=False)
        task = asyncio.create_task(tool.call())
        while not (tmp_path / "pid").exists():
            await asyncio.sleep(0.01)
        for _ in range(2 if twice else 1):
            task.cancel()
            await asyncio.sleep(0.05)
        with pytest.raises(asyncio.CancelledError):
            await task

    started = time.monotonic()
    asyncio.run(scene())
    assert time.monotonic() - started < 5
    assert ends_soon(int((tmp_path / "pid").read_text()))


def test_a_stream_that_is_left_early_is_ended(client: Client, tmp_path: Path) -> None:
    """Who has seen enough of a stream leaves it, and the tool ends."""
    tool = shell("echo $$ > pid; while :; do echo '{\"a\":1}'; sleep 0.01; done")
    items, stream = client(tool, cwd=tmp_path).stream(most=3)
    assert items == [{"a": 1}] * 3
    assert ends_soon(int((tmp_path / "pid").read_text()))
    with pytest.raises(RuntimeError, match="has not ended"):
        _ = stream.response


def test_many_calls_run_at_once(tmp_path: Path) -> None:
    """Calls of one async tool do not wait for each other, nor hold the loop."""

    async def scene() -> list[Any]:
        tool = AsyncTool(shell('sleep 0.5; echo "$0"'), memory=False, limits=QUICK)
        return list(await asyncio.gather(*(tool.call(f"word{n}") for n in range(8))))

    with Gauge() as gauge:
        found = asyncio.run(scene())
    assert [each.data for each in found] == [f"word{n}\n" for n in range(8)]
    assert gauge.seconds < 3


# -- how it is run -----------------------------------------------------------------------------


def test_words_are_never_obeyed(client: Client, tmp_path: Path) -> None:
    """There is no shell: what a shell would obey reaches the tool as it is."""
    words = ["a b", "*", "$HOME", "`id`", "; rm -rf /", "'", '"', "", "~", "é\n", "| cat"]
    show = "import sys, json; print(json.dumps(sys.argv[1:]))"
    found = client([sys.executable, "-c", show], cwd=tmp_path).call(*words)
    assert found.data == words


def test_a_tool_that_cannot_be_started_is_an_answer(client: Client, tmp_path: Path) -> None:
    """A missing or broken program is told like any other failure, and is for people to repair."""
    (tmp_path / "text").write_text("no program")
    missing = client(["no-such-tool"]).call("x")
    broken = client([str(tmp_path / "text")], contract="murli").call("x")
    assert (missing.exit_code, broken.exit_code) == (127, 126)
    for found in (missing, broken):
        assert found.problem is not None
        assert (found.state, found.problem.kind) == ("failed", "never_ran")
        assert not found.executed
        assert isinstance(found.decisions[-1], Escalate)


def test_a_tool_reads_what_it_is_given(client: Client) -> None:
    """Bytes for stdin are fed as fast as the tool takes them; without any there is nothing."""
    big = b"x" * 1_000_000
    assert client(["cat"]).call(stdin=big).data == big.decode()
    assert client(["head", "-c", "3"]).call(stdin=big).data == "xxx"
    assert client(["cat"]).call().data == ""


def test_a_tool_has_no_terminal(client: Client) -> None:
    """A tool leads a session of its own: it cannot ask at the terminal of its caller."""
    show = "import os; print(os.getsid(0) == os.getpid(), os.isatty(0))"
    assert client([sys.executable, "-c", show]).call().data == "True False\n"


def test_a_death_by_signal_is_told(client: Client) -> None:
    """The number of a signal is a negative exit code, and no answer of a contract."""
    for contract in ("", "murli"):
        found = client(shell("kill -SEGV $$"), contract=contract, check=False).call()
        assert found.problem is not None
        assert (found.exit_code, found.problem.kind) == (-signal.SIGSEGV, "cancelled")


def test_a_closed_stdout_is_not_the_end(client: Client) -> None:
    """A tool that closes its output goes on until it has ended."""
    assert client(shell("exec >&- 2>&-; sleep 0.2; exit 5")).call().exit_code == 5


def test_where_processes_have_no_descriptor(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On systems that cannot tell the end of a process by itself, it is looked for."""
    monkeypatch.delattr(os, "pidfd_open", raising=False)
    monkeypatch.delattr(os, "waitid", raising=False)
    assert client(shell("sleep 0.1; exit 5")).call().exit_code == 5
    found = client(shell("sleep 600 & exit 6")).call()
    assert found.exit_code == 6 and found.duration_ms < 2000
    found = client(["sleep", "600"], limits=replace(QUICK, seconds=0.2)).call()
    assert found.exit_code == -signal.SIGTERM


def test_a_reader_is_never_overtaken(client: Client) -> None:
    """A stream is read no faster than its items are taken, and a slow reader is no silence."""
    line = json.dumps({"pad": "x" * 1000})
    tool = shell(f"n=0; while [ $n -lt 3000 ]; do echo '{line}'; n=$((n+1)); done; echo '{OK}'")
    limits = replace(QUICK, seconds=0.5)
    slow = Tool(tool, limits=limits, memory=False)
    with Gauge() as gauge, slow.stream() as stream:
        assert next(stream)["pad"]
        time.sleep(0.8)
        assert len(list(stream)) == 2999
    assert stream.response.ok and gauge.mib < 2 + SLACK_MIB
    items, ended = client(tool, limits=limits).stream()
    assert len(items) == 3000 and ended.response.ok


@pytest.mark.slow
def test_a_stream_of_ten_gigabytes_takes_no_memory() -> None:
    """However long a stream is, only what is not taken yet is kept."""
    source = (
        "import sys\n"
        "line = b'{\"pad\":\"' + b'x' * 1048000 + b'\"}\\n'\n"
        "for _ in range(10_000):\n    sys.stdout.buffer.write(line)\n"
        f"print('{OK}')\n"
    )
    count = 0
    with Gauge() as gauge, Tool([sys.executable, "-c", source], memory=False).stream() as stream:
        for _ in stream:
            count += 1
    assert (count, stream.response.state) == (10_000, "ok")
    assert gauge.mib < 8 + SLACK_MIB


def test_ten_gigabytes_at_once_are_refused() -> None:
    """A tool that prints ten gigabytes as its answer is ended within the default limits."""
    with Gauge() as gauge:
        found = Tool(["head", "-c", "10000000000", "/dev/zero"], memory=False).call()
        many = Tool(shell("yes | head -c 10000000000"), memory=False).call()
    assert found.oddities == ("it wrote a line longer than 8 MiB",)
    assert many.oddities == ("it wrote more than 16 MiB",)
    assert gauge.mib < 40 and gauge.seconds < 10


# -- the pure parts ----------------------------------------------------------------------------


@examples(40)
@given(st.data())
def test_how_the_bytes_arrive_makes_no_difference(data: st.DataObject) -> None:
    """The same bytes in other pieces give the same items, the same end, the same trouble."""
    parts = [
        b'{"a":1}',
        b"noise",
        b"",
        b'{"event":"progress","current":1}',
        b'{"_seq":9}',
        b"{",
        b"}",
    ]
    envelope = murli_ok({"n": 1}).stdout.strip()
    chosen = data.draw(st.lists(st.sampled_from([*parts, envelope, b"x" * 90]), max_size=12))
    whole = b"\n".join(chosen) + data.draw(st.sampled_from([b"", b"\n"]))
    limits = Limits(line_bytes=80)

    def outcome(pieces: list[bytes]) -> tuple[Any, ...]:
        items, found = Items(limits), []
        for piece in pieces:
            items.feed(piece)
            found += items.take()
        items.end()
        found += items.take()
        if items.trouble:
            return ("trouble",)
        return found, items.terminal, items.progress, items.count, items.oddities

    cuts = sorted(data.draw(st.sets(st.integers(0, len(whole)), max_size=8)))
    pieces = [whole[a:b] for a, b in zip([0, *cuts], [*cuts, len(whole)], strict=True)]
    assert outcome(pieces) == outcome([whole])


@examples(40)
@given(st.lists(st.binary(max_size=40), max_size=20), st.integers(1, 60))
def test_the_whole_is_kept_or_nothing(pieces: list[bytes], most: int) -> None:
    """An answer within its limits is kept as it is; of one beyond them nothing is."""
    kept = WholeOutput(Limits(stdout_bytes=most, line_bytes=20))
    for piece in pieces:
        kept.feed(piece)
    whole = b"".join(pieces)
    fits = len(whole) <= most and all(len(line) <= 20 for line in whole.split(b"\n"))
    assert (kept.data() == whole) if fits else (kept.trouble and kept.data() == b"")


@examples(40)
@given(st.lists(st.binary(max_size=40), max_size=20), st.integers(0, 30), st.integers(1, 30))
def test_both_ends_are_kept(pieces: list[bytes], head: int, tail: int) -> None:
    """What is too long loses its middle, and the reader is told how much."""
    ends = HeadAndTail(head, tail)
    for piece in pieces:
        ends.feed(piece)
    whole = b"".join(pieces)
    if len(whole) <= head + tail:
        assert ends.data() == whole
    else:
        gap = b"\n[%d bytes left out]\n" % (len(whole) - head - tail)
        assert ends.data() == whole[:head] + gap + whole[-tail:]


def _ended(course: ProcessLifecycle, happens: Callable[[float], None]) -> list[int]:
    """Let time pass for *course*; give the signals it sends until it is over."""
    sent: list[int] = []
    now = 0.0
    for _ in range(100_000):
        if course.phase == 5:
            return sent
        now += max(course.wait(now), 0.001)
        happens(now)
        if number := course.due(now):
            sent.append(number)
    raise AssertionError("it never ends")


def test_every_course_ends() -> None:
    """Whatever a process does, or never does, there is an end to waiting for it."""
    limits = Limits(seconds=1, grace_seconds=1, linger_seconds=1)
    both = [signal.SIGTERM, signal.SIGKILL]
    assert _ended(ProcessLifecycle(limits, 0.0), lambda now: None) == both
    exits = ProcessLifecycle(limits, 0.0)
    assert _ended(exits, exits.exited) == [signal.SIGKILL]
    chatty = ProcessLifecycle(limits, 0.0)
    assert _ended(chatty, chatty.saw_output) == both
    assert chatty.reason == "time"


def test_without_grace_a_process_is_killed_at_once(tmp_path: Path) -> None:
    """No grace means no SIGTERM; a process that ends by itself still has its exit code."""
    limits = Limits(seconds=0.5, grace_seconds=0)
    assert _ended(ProcessLifecycle(limits, 0.0), lambda now: None) == [signal.SIGKILL]
    assert run(["sh", "-c", "exit 3"], limits).exit_code == 3
    note = tmp_path / "asked"
    stubborn = f"trap 'touch {note}' TERM; while :; do sleep 0.1; done"
    ran = run(["sh", "-c", stubborn], limits)
    assert (ran.exit_code, ran.reason, note.exists()) == (-signal.SIGKILL, "time", False)


def test_the_last_line_of_a_stream_may_be_spread_out() -> None:
    """Some tools write the envelope that ends a stream over several lines."""
    items = Items(Limits())
    pretty = json.dumps(json.loads(murli_ok({"n": 1}).stdout), indent=2).encode()
    items.feed(lines({"a": 1}) + pretty)
    items.end()
    assert items.take() == [{"a": 1}]
    assert items.terminal is not None and items.terminal["result"] == {"n": 1}
