"""A tool that serves itself over stdio, driven by the client of the official SDK."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.from_thread import start_blocking_portal
from jsonschema import Draft202012Validator

import mcp_client
from harness import environment, run, script, tool
from mcp_client import Caller

SERVE = [*tool("served"), "mcp", "serve"]
ENV = environment()


@pytest.fixture(scope="module")
def shared() -> Iterator[Any]:
    """Run scenarios with one client of one server, which never asks its user."""
    with start_blocking_portal() as portal:
        connecting = mcp_client.over_stdio(SERVE, env=ENV)
        with portal.wrap_async_context_manager(connecting) as caller:

            def drive_shared(scenario: Any) -> None:
                for noted in (caller.progress, caller.logs, caller.asked):
                    noted.clear()
                portal.call(scenario, caller)

            yield drive_shared


def drive(scenario: Any, *words: str, argv: list[str] = SERVE, **options: Any) -> Any:
    """Run *scenario* with the client of a server that is started for it."""

    async def connect() -> Any:
        async with mcp_client.over_stdio([*argv, *words], env=ENV, **options) as caller:
            return await scenario(caller)

    return mcp_client.run(connect)


def wait_for(path: Path) -> None:
    until = time.monotonic() + 20
    while not path.exists():
        assert time.monotonic() < until
        time.sleep(0.02)


def test_commands_are_tools(shared: Any, tmp_path: Path) -> None:
    """Commands have schemas, which their results keep, and only the hints that are declared."""

    async def scenario(caller: Caller) -> None:
        tools = await caller.tools()
        echo = tools["served_echo"]
        assert echo["annotations"] == {"readOnlyHint": True, "idempotentHint": True}
        assert echo["inputSchema"]["required"] == ["text"]
        assert tools["served_wipe"]["annotations"]["destructiveHint"] is True
        assert "annotations" not in tools["served_touch"]
        assert "not declared" in tools["served_touch"]["description"]
        found = await caller.call("served_echo", text="a", count=3)
        Draft202012Validator(echo["outputSchema"]).validate(found["structuredContent"])
        assert found["structuredContent"]["result"] == {"text": "aaa", "count": 3}
        assert json.loads(found["content"][0]["text"]) == found["structuredContent"]
        wrong = await caller.data("served_echo", text="a", number=3)
        assert wrong["error"]["kind"] == "user_error"
        assert wrong["error"]["field"] == "number"
        busy = await caller.call("served_fail", what="busy")
        assert busy["isError"]
        error = busy["structuredContent"]["error"]
        assert (error["kind"], error["retryable"]) == ("rate_limited", True)
        assert error["retry_after_ms"] == 1500
        with pytest.raises(Exception, match="no tool"):
            await caller.call("served_nothing")

    shared(scenario)


def test_calls_leave_nothing_behind(shared: Any, tmp_path: Path) -> None:
    """No state, directory, variable, signal handler or process of a call reaches another."""

    async def scenario(caller: Caller) -> None:
        first = await caller.data("served_state")
        assert (first["result"]["calls"], first["result"]["leaked"]) == (1, "")
        assert first["result"]["stdin"] == ""
        for what, code in (("exit", 7), ("killed", -9), ("crash", 2)):
            failed = await caller.data("served_fail", what=what)
            assert failed["error"]["exit_code"] == code
        asked = await caller.data("served_ask")
        assert asked["error"]["code"] == "input_required"
        left = (await caller.data("served_leave", mark=str(tmp_path / "left")))["result"]
        many = await asyncio.gather(*(caller.data("served_state") for _ in range(5)))
        assert [each["result"] for each in many] == [first["result"]] * 5
        until = time.monotonic() + 10
        while time.monotonic() < until:
            try:
                os.kill(left["process"], 0)
            except ProcessLookupError:
                return
            await anyio.sleep(0.05)
        raise AssertionError("what a call had started is still there")

    shared(scenario)


def test_a_change_is_confirmed_by_an_argument(shared: Any, tmp_path: Path) -> None:
    """Without `confirm` a guarded command is refused with that advice; `dry_run` previews it."""
    target = tmp_path / "file"
    target.touch()

    async def scenario(caller: Caller) -> None:
        schema = (await caller.tools())["served_wipe"]["inputSchema"]["properties"]
        assert "destroys" in schema["confirm"]["description"]
        refused = await caller.data("served_wipe", path=str(target))
        assert refused["error"]["code"] == "confirmation_required"
        assert "confirm: true" in refused["error"]["suggestion"]
        plan = await caller.data("served_wipe", path=str(target), dry_run=True)
        assert plan == {"status": "plan", "plan": {"would_remove": str(target)}}
        assert target.exists()
        done = await caller.data("served_wipe", path=str(target), confirm=True)
        assert done["result"] == {"removed": str(target)}
        assert not target.exists()

    shared(scenario)


def test_a_client_that_can_ask_its_user_does(tmp_path: Path) -> None:
    """Where the client can ask, the user decides, and only a yes runs the command."""
    target = tmp_path / "file"
    target.touch()
    answers: list[dict[str, Any]] = [
        {"action": "decline"},
        {"action": "cancel"},
        {"action": "accept", "content": {"confirm": False}},
        {"action": "accept", "content": {"confirm": True}},
    ]

    async def scenario(caller: Caller) -> None:
        for _ in range(3):
            refused = await caller.data("served_wipe", path=str(target))
            assert refused["error"]["kind"] == "cancelled"
            assert target.exists()
        assert (await caller.data("served_wipe", path=str(target)))["status"] == "ok"
        assert not target.exists()
        assert len(caller.asked) == 4
        assert str(target) in caller.asked[0] and "served wipe" in caller.asked[0]

    drive(scenario, answer=lambda _: answers.pop(0))


def test_progress_and_logs_arrive_while_a_call_runs(shared: Any, tmp_path: Path) -> None:
    """Progress grows up to its total, and what the tool logs arrives at its level."""

    async def scenario(caller: Caller) -> None:
        done = await caller.data("served_work", mark=str(tmp_path / "mark"), seconds=0.6)
        assert done["result"] == {"done": 4}
        values = [value for value, _, _ in caller.progress]
        assert values == sorted(set(values)) and len(values) > 1
        assert caller.progress[-1] == (4, 4, "work")
        assert caller.logs == [("info", "begun")]
        caller.logs.clear()
        await caller.set_level("error")
        await caller.data("served_work", mark=str(tmp_path / "mark"))
        assert caller.logs == []
        await caller.set_level("info")

    shared(scenario)


def test_a_cancelled_call_ends(shared: Any, tmp_path: Path) -> None:
    """A call that its client gives up is ended, its cleanup included; others go on."""
    mark = tmp_path / "mark"

    async def scenario(caller: Caller) -> None:
        with anyio.move_on_after(20) as waiting:
            async with anyio.create_task_group() as group:

                async def call() -> None:
                    await caller.call("served_work", mark=str(mark), seconds=60)

                group.start_soon(call)
                while not mark.exists():
                    await anyio.sleep(0.02)
                # The second generation says so by itself; the first leaves that to its user.
                await caller.cancel_last()
                group.cancel_scope.cancel()
        assert not waiting.cancelled_caught
        with anyio.fail_after(20):
            while mark.exists():
                await anyio.sleep(0.02)
        assert (await caller.data("served_echo", text="a"))["status"] == "ok"

    shared(scenario)


@pytest.mark.parametrize(
    "number", [signal.SIGTERM, pytest.param(signal.SIGKILL, marks=pytest.mark.slow), 0]
)
def test_nothing_survives_the_server(tmp_path: Path, number: int) -> None:
    """However the server ends, by a signal or with its input, the calls that run end with it."""
    mark = tmp_path / "mark"
    call = {"name": "served_work", "arguments": {"mark": str(mark), "seconds": 60}}
    pipe = subprocess.PIPE
    with subprocess.Popen(SERVE, env=ENV, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        assert process.stdin is not None
        process.stdin.write(handshake({"method": "tools/call", "id": 2, "params": call}))
        process.stdin.flush()
        wait_for(mark)
        if number:
            process.send_signal(number)
        # What they wrote to is read to its end: nobody holds it open any more.
        _, errors = process.communicate(timeout=30)
    assert process.returncode == {signal.SIGTERM: 143, signal.SIGKILL: -9, 0: 0}[number]
    assert not mark.exists()  # the calls had the time to clean up
    assert b"Traceback" not in errors


def handshake(*requests: dict[str, Any]) -> bytes:
    """Return the messages of a client that connects, and then sends *requests*."""
    client = {"name": "test", "version": "1"}
    params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
    messages: list[dict[str, Any]] = [
        {"method": "initialize", "id": 1, "params": params},
        {"method": "notifications/initialized"},
        *requests,
    ]
    return b"".join(json.dumps({"jsonrpc": "2.0", **each}).encode() + b"\n" for each in messages)


def test_hostile_requests_are_answered(shared: Any, tmp_path: Path) -> None:
    """Wrong types, huge arguments, and what is no message are refused; the server goes on."""

    async def scenario(caller: Caller) -> None:
        for arguments in (
            {"text": {"a": 1}},
            {"text": "a", "count": "many"},
            {"text": "a" * 10_000_000},
            {"text": "a\0b"},
            {"text": None},
            {"count": 1},
        ):
            failed = await caller.call("served_echo", **arguments)
            assert failed["isError"], arguments
            assert failed["structuredContent"]["error"]["kind"] == "user_error"
        assert (await caller.data("served_echo", text="--yes"))["result"]["text"] == "--yes"
        assert (await caller.data("served_echo", text="; id"))["result"]["text"] == "; id"

    shared(scenario)
    echo = {"name": "served_echo", "arguments": {"text": "still here"}}
    given = handshake() + b"no message\n{\n[]\n\xff\n" + b'{"jsonrpc":"2.0","id":5}\n'
    given += json.dumps(
        {"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": echo}
    ).encode()
    done = subprocess.run(
        SERVE, input=given + b"\n", capture_output=True, env=ENV, timeout=40, check=True
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert any(each.get("id") == 9 and "still here" in str(each["result"]) for each in answers)


def test_texts_and_examples_are_offered(shared: Any) -> None:
    """The card and AGENTS.md are resources, the examples of the commands are prompts."""

    async def scenario(caller: Caller) -> None:
        resources = mcp_client.wire(await caller.session.list_resources())["resources"]
        uris = [each["uri"] for each in resources]
        assert uris == ["murli://served/card", "murli://served/AGENTS.md"]
        card = mcp_client.wire(await caller.session.read_resource(uris[0]))["contents"][0]
        assert "wipe PATH" in card["text"]
        prompts = mcp_client.wire(await caller.session.list_prompts())["prompts"]
        assert [each["name"] for each in prompts] == ["served_echo-1"]
        prompt = mcp_client.wire(await caller.session.get_prompt("served_echo-1"))
        assert "served echo hi" in prompt["messages"][0]["content"]["text"]
        for wrong in (
            caller.session.read_resource("murli://served/../../etc/passwd"),
            caller.session.get_prompt("none"),
        ):
            with pytest.raises(Exception, match="There is no"):
                await wrong

    shared(scenario)


def test_many_commands_are_searched() -> None:
    """With more commands than wanted, two tools find and call them by the same rules."""

    async def scenario(caller: Caller) -> None:
        assert list(await caller.tools()) == ["search_commands", "call_command"]
        found = (await caller.data("search_commands", query="remove a file"))["commands"]
        assert found[0]["name"] == "served_wipe"
        assert found[0]["annotations"]["destructiveHint"] is True
        arguments = {"text": "a", "count": 2}
        done = await caller.data("call_command", name="served_echo", arguments=arguments)
        assert done["result"] == {"text": "aa", "count": 2}
        refused = await caller.data("call_command", name="served_wipe", arguments={"path": "x"})
        assert refused["error"]["code"] == "confirmation_required"
        unknown = await caller.data("call_command", name="served_none")
        assert "search_commands" in unknown["error"]["suggestion"]

    drive(scenario, "--most-tools", "5")


def test_a_part_of_the_commands_is_offered() -> None:
    """`--only` and `--depth` choose what is offered; a command that is not there is an error."""

    async def scenario(caller: Caller) -> None:
        assert list(await caller.tools()) == ["served_echo", "served_big"]

    drive(scenario, "--only", "echo", "--only", "big", "--depth", "1")
    wrong = run(SERVE, "--only", "nothing", env=ENV)
    assert wrong.code == 1 and "no command 'nothing'" in wrong.err and wrong.out == ""


def test_a_limit_ends_a_call_in_time(tmp_path: Path) -> None:
    """A call that takes longer than it may is ended, and the failure says so."""

    async def scenario(caller: Caller) -> None:
        mark = tmp_path / "mark"
        late = await caller.data("served_work", mark=str(mark), seconds=60)
        assert late["error"]["kind"] == "timeout"
        assert not mark.exists()
        assert (await caller.data("served_echo", text="a"))["status"] == "ok"

    drive(scenario, "--timeout", "1.5")


def test_without_the_sdk_the_answer_says_what_to_install(tmp_path: Path) -> None:
    """`mcp serve` without the SDK is an error that names the extra."""
    argv = script(
        tmp_path,
        "import importlib.util as u, sys\n"
        "own = u.find_spec\n"
        "u.find_spec = lambda name, *a: None if name == 'mcp' else own(name, *a)\n"
        f"sys.path.insert(0, {str(Path(SERVE[1]).parent)!r})\n"
        "import murli, served\n"
        "murli.enable(served.cli)\n"
        "served.cli()\n",
    )
    for words in (["mcp", "serve"], ["mcp", "serve", "--http", "0"]):
        failed = run(argv, *words)
        assert failed.code != 0
        assert "pip install 'murli[mcp]'" in failed.error["suggestion"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "what to do"),
        (("serv",), "serv"),
        (("serve", "--http", "many"), "port"),
        (("serve", "--depth", "0"), "from 1 on"),
        (("calls", "99"), "murli mcp"),
    ],
)
def test_wrong_words_are_refused(words: tuple[str, ...], message: str) -> None:
    """What `mcp` does not understand is an error with what to call instead."""
    failed = run([*tool("served"), "mcp"], *words)
    assert failed.code == 1
    assert message in failed.error["message"] + failed.error.get("suggestion", "")


def test_a_tools_own_command_and_argument_win(tmp_path: Path) -> None:
    """A command of the tool called `mcp`, and an argument with that value, stay the tool's."""
    own = """
    import click, murli
    @click.group()
    def cli(): ...
    @cli.command()
    def mcp():
        return {"own": True}
    murli.enable(cli)
    cli()
    """
    argument = """
    import click, murli
    @click.command()
    @click.argument("word")
    def cli(word):
        return {"word": word}
    murli.enable(cli)
    cli()
    """
    import textwrap

    argv = script(tmp_path, textwrap.dedent(own))
    assert run(argv, "mcp").document["result"] == {"own": True}
    argv = script(tmp_path, textwrap.dedent(argument))
    assert run(argv, "mcp").document["result"] == {"word": "mcp"}


def test_the_process_of_the_tool_loads_no_sdk() -> None:
    """The SDK is in the server's process alone, whose modules the tool's folder cannot replace."""
    code = "import sys, served; sys.argv[1:] = ['mcp', 'serve']; served.cli"
    loaded = subprocess.run(
        [sys.executable, "-c", f"{code}; print([n for n in sys.modules if 'mcp' in n])"],
        capture_output=True,
        cwd=Path(SERVE[1]).parent,
        env=ENV,
        check=True,
    )
    assert loaded.stdout.strip() == b"[]"
