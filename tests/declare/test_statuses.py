"""What the exit statuses of a tool itself mean: those of success, those of failure, and others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import murli
from harness import ADAPTERS, Run, environment, run, run_at_terminal, script
from murli import ExitCode, Metadata
from murli.client import Tool
from murli.contracts import CONTRACT_NAMES

pytestmark = pytest.mark.warm


# Ends with the status it is given, having printed its findings.
LINT = {
    "argparse": """
import argparse, os, sys, murli
p = argparse.ArgumentParser(prog="tool")
below = p.add_subparsers(dest="command")
lint = below.add_parser("lint")
lint.add_argument("status", type=int)
lint.add_argument("--how", default="exit")
below.add_parser("other")
murli.annotate(lint, murli.Metadata(ok_codes={1: "found something"}))
murli.enable(p, exit_codes=CODES)
given = p.parse_args()
print('[{"line": 3}]')
if given.how == "cause":
    try:
        raise TimeoutError("too slow")
    except TimeoutError:
        sys.exit(given.status)
if given.how == "truth":
    sys.exit(bool(given.status))
if given.how == "events":
    murli.get_writer().write_event({"event": "found", "line": 3})
if given.how == "at once":
    os._exit(given.status)
if given.how == "text":
    sys.exit("found nothing to look at")
if given.how == "crash":
    raise RuntimeError("crashed")
sys.exit(given.status)
""",
    "click": """
import click, murli
@click.group()
def cli(): pass
@cli.command()
@click.argument("status", type=int)
@click.option("--how", default="exit")
@click.pass_context
def lint(ctx, status, how):
    print('[{"line": 3}]')
    if how == "crash":
        raise RuntimeError("crashed")
    if how == "text":
        raise click.ClickException("found nothing to look at")
    ctx.exit(status)
@cli.command()
def other(): pass
murli.annotate(lint, murli.Metadata(ok_codes={1: "found something"}))
murli.enable(cli, exit_codes=CODES)
cli()
""",
    "typer": """
import typer, murli
app = typer.Typer()
@app.command()
def lint(status: int, how: str = "exit"):
    print('[{"line": 3}]')
    if how == "crash":
        raise RuntimeError("crashed")
    if how == "text":
        raise SystemExit("found nothing to look at")
    raise typer.Exit(status)
@app.command()
def other(): pass
murli.annotate(lint, murli.Metadata(ok_codes={1: "found something"}))
murli.enable(app, exit_codes=CODES)
app()
""",
}
CODES = '{3: "fixed all of it", 5: "unavailable", 32: murli.ExitCode.ARG_ERROR}'
FINDINGS = [{"line": 3}]
# What typer shares with click is tried with click.
FEW = ["argparse", "click", pytest.param("typer", marks=pytest.mark.slow)]


def lint(tmp_path: Path, adapter: str) -> list[str]:
    return script(tmp_path, LINT[adapter].replace("CODES", CODES))


def told(done: Run, contract: str) -> tuple[Any, Any, Any]:
    """Give the result of a success, the status it tells of, and what that means."""
    if contract == "murli":
        answer = done.document
        assert answer["status"] == "ok"
        return answer["result"], answer.get("exit_status"), answer["message"]
    answer = done.document
    assert answer["ok"] is True
    return answer["data"], answer["meta"].get("exit_status"), answer["meta"].get("message", "")


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_a_declared_status_is_a_success_with_its_result_on_stdout(
    tmp_path: Path, adapter: str
) -> None:
    """A status declared to be no failure, by the command or the tool, says what it means."""
    argv = lint(tmp_path, adapter)
    for contract in ("murli", "agent-spec-2"):
        env = environment(MURLI_CONTRACT=contract)
        for status, meaning in ((1, "found something"), (3, "fixed all of it")):
            done = run(argv, "lint", str(status), env=env)
            assert told(done, contract) == (FINDINGS, status, meaning)
            assert (done.code, done.err) == (0, "")
        assert told(run(argv, "lint", "0", env=env), contract) == (FINDINGS, None, "")
    shown = run_at_terminal(argv, "lint", "1")
    assert (shown.out, shown.err, shown.code) == ('[{"line": 3}]\n', "", 1)
    assert run(argv, "lint", "1", "--output", "text").code == 1


@pytest.mark.slow
@pytest.mark.parametrize("contract", CONTRACT_NAMES)
@pytest.mark.parametrize("adapter", FEW)
def test_a_declared_status_is_a_success_in_every_contract(
    tmp_path: Path, adapter: str, contract: str
) -> None:
    """The meaning of a status is told in all contracts, and on one line where that is asked for."""
    argv, env = lint(tmp_path, adapter), environment(MURLI_CONTRACT=contract)
    lines = ["--format", "jsonl"] if contract == "agent-spec-2" else ["--output", "ndjson"]
    for words in ([], lines):
        done = run(argv, "lint", "1", *words, env=env)
        assert told(done, contract) == (FINDINGS, 1, "found something") and done.code == 0
    plain = run(argv, "lint", "1", env=environment(MURLI_MODE="human", MURLI_CONTRACT=contract))
    assert (plain.out, plain.code) == ('[{"line": 3}]\n', 1)


def test_a_declared_status_counts_however_the_program_ends(tmp_path: Path) -> None:
    """Truth, ``os._exit`` and an exit while an exception is handled are declared statuses too."""
    argv = lint(tmp_path, "argparse")
    ended = run(argv, "lint", "1", "--how", "events")
    assert ended.lines[-1]["exit_status"] == 1 and ended.code == 0
    for how in ("cause", "at once", "truth"):
        done = run(argv, "lint", "1", "--how", how)
        assert told(done, "murli") == (FINDINGS, 1, "found something") and done.code == 0


@pytest.mark.parametrize("adapter", FEW)
def test_what_failed_is_no_declared_success(tmp_path: Path, adapter: str) -> None:
    """A crash, a usage error and an exit with words fail, though Python's status is declared."""
    argv = lint(tmp_path, adapter)
    for words in (["1", "--how", "crash"], ["1", "--how", "text"], ["one"]):
        done = run(argv, "lint", *words)
        assert done.stdout == b"" and done.error["code"] == done.code != 0


@pytest.mark.parametrize("adapter", FEW)
def test_a_declared_failure_has_the_number_of_its_kind(tmp_path: Path, adapter: str) -> None:
    """A status that is declared a failure of a kind is answered as that kind."""
    argv = lint(tmp_path, adapter)
    for status, kind, code, other in ((5, "unavailable", 2, 12), (32, "user_error", 1, 2)):
        done = run(argv, "lint", str(status))
        assert (done.error["error"], done.error["code"], done.code) == (kind, code, code)
        # Nobody declared that the command may be repeated.
        assert done.error["recoverable"] is (kind == "user_error")
        assert (
            run(argv, "lint", str(status), env=environment(MURLI_CONTRACT="agent-spec-2")).code
            == other
        )
    assert run_at_terminal(argv, "lint", "32").code == 32


@pytest.mark.parametrize("adapter", FEW)
def test_an_undeclared_status_means_nothing(tmp_path: Path, adapter: str) -> None:
    """A tool's own 4 is no timeout and its 8 no rate limit, neither in documents nor to clients."""
    argv = lint(tmp_path, adapter)
    for status in (4, 8):
        done = run(argv, "lint", str(status))
        assert (done.error["error"], done.code) == ("execution_error", status)
        assert done.error["recoverable"] is False and "retry_after_ms" not in done.error
        response = Tool(argv, env=environment(), cache=False, memory=False).call(
            "lint", str(status)
        )
        assert response.problem is not None and response.problem.kind == "tool_error"
        assert [type(each).__name__ for each in response.decisions] == ["Stop"]


def test_a_cause_is_not_overruled_by_a_number(tmp_path: Path) -> None:
    """What an exit was raised from is its kind, whatever its number means in the contract."""
    argv = lint(tmp_path, "argparse")
    done = run(argv, "lint", "8", "--how", "cause")
    assert (done.error["error"], done.error["code"], done.code) == ("timeout", 4, 4)
    assert "retry_after_ms" not in done.error
    response = Tool(argv, env=environment(), cache=False, memory=False).call(
        "lint", "8", how="cause"
    )
    assert response.problem is not None and response.problem.kind == "timeout"
    assert [type(each).__name__ for each in response.decisions] == ["Stop"]


@pytest.mark.parametrize("adapter", FEW)
def test_declared_statuses_are_described(tmp_path: Path, adapter: str) -> None:
    """describe, --schema, AGENTS.md and the manifest tell what the statuses mean."""
    argv = lint(tmp_path, adapter)
    document = run(argv, "describe").document
    Draft202012Validator(murli.load_schema("describe")).validate(document)
    assert document["exit_statuses"] == [
        {"status": 3, "ok": True, "meaning": "fixed all of it"},
        {"status": 5, "ok": False, "meaning": "unavailable"},
        {"status": 32, "ok": False, "meaning": "user_error"},
    ]
    found = [{"status": 1, "ok": True, "meaning": "found something"}]
    commands = {command["name"]: command for command in document["commands"]}
    assert commands["lint"]["exit_statuses"] == found and "exit_statuses" not in commands["other"]
    schema = run(argv, "lint", "--schema").document
    Draft202012Validator(murli.load_schema("command")).validate(schema)
    assert schema["exit_statuses"] == found
    text = run(argv, "describe", "--agents-md").out
    assert "**Exit statuses:** 1 is a success (found something)" in text
    manifest = run(argv, "manifest", env=environment(MURLI_CONTRACT="agent-spec-2")).document
    told = json.dumps(manifest["data"]["commands"]["lint"])
    assert "exit_status 1 in meta is a success: found something" in told
    assert "exit_status 3 in meta is a success: fixed all of it" in told


@pytest.mark.parametrize(
    "codes",
    [{0: "fine"}, {True: "fine"}, {"1": "fine"}, {126: "fine"}, {1: ""}, {1: "failed"}, {1: 2},
     {1: "x" * 121}, [1], {1: ExitCode.SUCCESS}, {1: "success"}],
)  # fmt: skip
def test_declarations_that_say_nothing_are_refused(codes: Any) -> None:
    """A status is 1 to 125, and what is said of it is worth reading."""
    import argparse

    with pytest.raises((ValueError, TypeError)):
        murli.enable(argparse.ArgumentParser(), exit_codes=codes)
    with pytest.raises((ValueError, TypeError)):
        Metadata(ok_codes=codes)


def test_a_success_cannot_be_a_failure() -> None:
    """``ok_codes`` takes words; the kind of a failure is none of them."""
    for meaning in ("timeout", "NOT_FOUND", ExitCode.TIMEOUT):
        with pytest.raises(ValueError, match="success"):
            Metadata(ok_codes={4: meaning})  # type: ignore[dict-item]
    merged = Metadata(ok_codes={1: "found it"}).merged_with(Metadata(ok_codes={2: "found two"}))
    assert merged.ok_codes == {2: "found two"}
