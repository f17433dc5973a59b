"""Advice to try again is given only where trying again does no harm."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness import ADAPTERS, Run, environment, run, script

pytestmark = [pytest.mark.adapters("argparse", "click"), pytest.mark.warm]

CONTRACTS = ["murli", "response", "agent-spec-1.6", "agent-spec-2"]
LOOK = "Something may have changed: look at the state before trying again."

# Exceptions by which a service, a program or a lock says that it may work later.
RAISED = {
    "reset": "ConnectionResetError(104, 'reset')",
    "timeout": "TimeoutError('read timed out')",
    "url": "urllib.error.URLError(TimeoutError('timed out'))",
    "bad-gateway": "urllib.error.HTTPError('http://x/', 502, 'Bad', None, None)",
    "gateway-timeout": "urllib.error.HTTPError('http://x/', 504, 'Late', None, None)",
    "throttled": "urllib.error.HTTPError('http://x/', 429, 'Slow', {'Retry-After': '2'}, None)",
    "child": "subprocess.TimeoutExpired(['x'], 1)",
    "locked": "sqlite3.OperationalError('database is locked')",
    "full": "OSError(28, 'No space left on device')",
    "wrapped": "cause(RuntimeError('sync failed'), ConnectionResetError(104, 'reset'))",
    "own": "Busy('later')",
}
HANDLER = """
import argparse, sqlite3, subprocess, sys, urllib.error
import murli
from murli import ExitCode, ExitCodeEntry, Metadata
class Busy(Exception): pass
class Sure(Exception): pass
murli.map_exception(Busy, 'unavailable', 'Call the office.')
murli.map_exception(Sure, 'unavailable', 'Wait for it.', recoverable=True)
def cause(error, reason):
    error.__cause__ = reason
    return error
DONE = {ExitCode.SUCCESS: ExitCodeEntry('All of it is done.', side_effects='complete')}
PROMISED = ExitCodeEntry('Nothing was sent to the service.', retryable=True)
FACTS = {
    'pay': Metadata(destructive=True),
    'sync': None,
    'list': None,
    'read': Metadata(danger_level='safe'),
    'put': Metadata(mutating=True, idempotent=True),
    'promise': Metadata(mutating=True, exit_codes={**DONE, ExitCode.UNAVAILABLE: PROMISED}),
    'streamed': Metadata(mutating=True, streams=True),
}
def fail(name):
    if name == 'late-child': murli.run(['sleep', '9'], timeout=0.1)
    if name == 'said': raise murli.AgentError.unavailable('busy', 'Wait.', retry_after_ms=500)
    if name == 'sure': raise Sure('busy')
    if name == 'written': murli.get_writer().write_error(ConnectionResetError(104, 'reset'))
    raise eval(RAISED[name])
"""
TOOLS = {
    "argparse": """
p = argparse.ArgumentParser(prog='lab')
each = p.add_subparsers(dest='command', required=True)
for name, facts in FACTS.items():
    below = each.add_parser(name)
    below.add_argument('what')
    if facts: murli.annotate(below, facts)
murli.enable(p)
fail(p.parse_args().what)
""",
    "click": """
import click
@click.group()
def cli(): pass
def add(name, facts):
    @cli.command(name)
    @click.argument('what')
    def command(what): fail(what)
    if facts: murli.annotate(command, facts)
for name, facts in FACTS.items(): add(name, facts)
murli.enable(cli); cli()
""",
    "typer": """
import typer
app = typer.Typer()
def add(name, facts):
    @app.command(name)
    def command(what: str): fail(what)
    if facts: murli.annotate(command, facts)
for name, facts in FACTS.items(): add(name, facts)
murli.enable(app); app()
""",
}


def lab(tmp_path: Path, adapter: str) -> list[str]:
    """Give a tool whose every command raises what it is told to."""
    return script(tmp_path, f"RAISED = {RAISED!r}\n{HANDLER}{TOOLS[adapter]}", f"{adapter}_lab.py")


def error_of(done: Run, contract: str) -> dict[str, Any]:
    """Give the error that a process ended with."""
    return dict(done.error if contract == "murli" else done.document["error"])


@pytest.mark.parametrize("name", RAISED)
def test_what_may_have_changed_something_is_not_repeated(tmp_path: Path, name: str) -> None:
    """Once a handler that may change something has begun, no exception invites to run it again."""
    argv = lab(tmp_path, "click")
    for words in (["pay", name, "--yes"], ["sync", name]):
        error = run(argv, *words).error
        assert error["recoverable"] is False
        assert error["suggestion"].endswith(LOOK)
        assert "try again" not in error["suggestion"].replace(LOOK, "").lower()
        assert error.get("retry_after_ms", 0) == 0
    for words in (["read", name], ["list", name], ["put", name, "--yes"]):
        error = run(argv, *words).error
        assert error["recoverable"] is True
        assert LOOK not in error["suggestion"]


def everywhere(adapters: list[str], contracts: list[str]) -> list[Any]:
    """Give each adapter with each contract; the breadth of it is for the long run."""
    quick = {("argparse", "agent-spec-2"), ("typer", "murli"), ("click", "response")}
    return [
        pytest.param(
            adapter,
            contract,
            marks=() if (adapter, contract) in quick else pytest.mark.slow,
        )
        for adapter in adapters
        for contract in contracts
    ]


@pytest.mark.parametrize(("adapter", "contract"), everywhere(ADAPTERS, CONTRACTS))
def test_every_contract_has_the_same_advice(tmp_path: Path, adapter: str, contract: str) -> None:
    """In each contract's own words: retryable, or not, with no delay and no strategy."""
    argv = lab(tmp_path, adapter)
    told = "recoverable" if contract == "murli" else "retryable"
    env = environment(MURLI_CONTRACT=contract)
    for command, words, repeated in (
        ("pay", ["reset", "--yes"], False),
        ("sync", ["throttled"], False),
        ("sync", ["written"], False),
        ("sync", ["late-child"], False),
        ("list", ["reset"], True),
        ("read", ["throttled"], True),
        ("put", ["reset", "--yes"], True),
        ("pay", ["said", "--yes"], True),
        ("pay", ["sure", "--yes"], True),
        ("promise", ["reset", "--yes"], True),
        ("streamed", ["reset", "--yes"], False),
    ):
        error = error_of(run(argv, command, *words, env=env), contract)
        assert error[told] is repeated, (command, words)
        if not repeated:
            assert error["suggestion"] == LOOK
            assert "retry_strategy" not in error
            assert not error.get("retry_after_ms")
            assert "retry_after" not in error


def test_before_the_handler_nothing_has_happened(tmp_path: Path) -> None:
    """What fails while the words are read may be tried again, whatever the command is."""
    argv = script(
        tmp_path,
        "import click, murli\n"
        "def load(ctx, param, value): raise ConnectionResetError(104, 'reset')\n"
        "@click.command('pay')\n"
        "@click.option('--at', default='x', callback=load)\n"
        "def pay(at): pass\n"
        "murli.annotate(pay, murli.Metadata(destructive=True))\n"
        "murli.enable(pay); pay()\n",
    )
    error = run(argv, "--yes").error
    assert (error["recoverable"], error["suggestion"]) == (
        True,
        "Try again; the connection was lost.",
    )


def test_a_chain_is_as_safe_as_its_least_safe_command(tmp_path: Path) -> None:
    """What reads behind what changes something is not repeated: the change would be, too."""
    argv = script(
        tmp_path,
        "import click, murli\n"
        "@click.group(chain=True)\n"
        "def cli(): pass\n"
        "@cli.command()\n"
        "def pay(): pass\n"
        "@cli.command('list')\n"
        "def ls(): raise ConnectionResetError(104, 'reset')\n"
        "murli.enable(cli); cli()\n",
    )
    assert run(argv, "list").error["recoverable"] is True
    assert run(argv, "pay", "list").error["recoverable"] is False


def test_a_deadline_says_the_same(tmp_path: Path) -> None:
    """A command that ran out of time is only repeated, with more of it, where that does no harm."""
    argv = script(
        tmp_path,
        "import click, time, murli\n"
        "@click.group()\n"
        "def cli(): pass\n"
        "@cli.command()\n"
        "def sync(): time.sleep(30)\n"
        "@cli.command()\n"
        "def show(): time.sleep(30)\n"
        "murli.enable(cli); cli()\n",
    )
    unknown, reads = (run(argv, each, "--timeout", "1.5").error for each in ("sync", "show"))
    assert (unknown["code"], unknown["recoverable"]) == (4, False)
    assert "look at the state" in unknown["suggestion"]
    assert (reads["code"], reads["recoverable"]) == (4, True)
    assert reads["suggestion"] == "Try again with a longer --timeout than 1.5."
