"""A dry run tells what would be done: through a plan function, or a handler that asks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from documents import FAMILY
from harness import environment, run, run_at_terminal, script
from murli import Metadata

pytestmark = [pytest.mark.adapters("argparse", "click"), pytest.mark.warm]

CORE = """
import asyncio, os, pathlib, sys
import murli
WRITER = os.environ.get("WRITER", "")

def ran(name):
    pathlib.Path("ran").write_text(name)

def plan(name):
    if WRITER == "print":
        return print("would drop", name)
    if WRITER == "plan":
        return murli.get_writer().write_plan("Would drop it", [name])
    if WRITER == "success":
        return murli.get_writer().write_success("Would drop it", [name])
    return {"would_drop": name}

async def later(name):
    await asyncio.sleep(0)
    return [name]

def forget():
    ran("forget")
    writer = murli.get_writer()
    if WRITER == "asks":
        getattr(writer, "is_" + "dry_run")()  # so that its code does not name it
    if WRITER == "print":
        print("forgotten")
    elif WRITER == "exit":
        sys.exit(0)
    elif WRITER == "exit 1":
        sys.exit(1)
    elif WRITER == "raise":
        raise ConnectionError("the line broke")
    elif WRITER == "fail":
        raise murli.AgentError.unavailable("the line broke", "Try again later.", retry_after_ms=50)
    elif WRITER == "error":
        writer.write_error(murli.AgentError.not_found("the line broke", "Mend the line."))
    elif WRITER == "events":
        writer.write_event({"n": 1})
    elif WRITER == "partial":
        writer.write_partial("half", [1])
    elif WRITER == "swallow":
        try:
            writer.write_success("done", {"n": 1})
        except Exception:
            pass
    elif WRITER != "none":
        writer.write_success("done", {"n": 1})

FORGETS = murli.Metadata(destructive=True, dry_runnable=True)
"""
FRONT = {
    "argparse": """
import argparse
parser = argparse.ArgumentParser(prog="tool")
commands = parser.add_subparsers(dest="command")
drop = commands.add_parser("drop")
late = commands.add_parser("late")
for each in (drop, late):
    each.add_argument("name")
    each.add_argument("--count", type=int, default=3)
murli.annotate(drop, murli.Metadata(destructive=True, plan=lambda args: plan(args.name)))
murli.annotate(late, murli.Metadata(mutating=True, plan=lambda args: later(args.name)))
murli.annotate(commands.add_parser("forget"), FORGETS)
murli.enable(parser)
def go(command):
    forget() if command == "forget" else ran(command)
if WAY == "session":
    with murli.session(parser) as (args, writer):
        go(args.command)
else:
    args = parser.parse_args() if WAY == "bare" else murli.parse(parser)[0]
    go(args.command)
""",
    "click": """
import click
@click.group()
def cli(): pass
@cli.command()
@click.argument("name")
@click.option("--count", type=int, default=3)
@murli.pass_writer
@click.pass_context
def drop(ctx, writer, name, count): ran("drop")
@cli.command()
@click.argument("name")
@click.option("--count", type=int, default=3)
async def late(name, count): ran("late")
@cli.command("forget")
def forgetting(): forget()
@cli.command()
@click.pass_context
def through(ctx):
    if murli.get_writer().is_dry_run():
        return ctx.invoke(drop, name="deep")
murli.annotate(drop, murli.Metadata(destructive=True, plan=plan))
murli.annotate(late, murli.Metadata(mutating=True, plan=later))
murli.annotate(forgetting, FORGETS)
murli.annotate(through, FORGETS)
murli.enable(cli, name="tool")
cli()
""",
    "typer": """
import enum, typer
app = typer.Typer()
class Kind(str, enum.Enum):
    x = "x"
def typed(ctx: typer.Context, name: Kind):
    assert isinstance(name, Kind) and ctx.info_name == "drop"
    return plan(name.value)
@app.command()
def drop(ctx: typer.Context, name: Kind, count: int = 3): ran("drop")
@app.command()
async def late(name: str, count: int = 3): ran("late")
@app.command("forget")
def forgetting(): forget()
murli.annotate(drop, murli.Metadata(destructive=True, plan=typed))
murli.annotate(late, murli.Metadata(mutating=True, plan=later))
murli.annotate(forgetting, FORGETS)
murli.enable(app, name="tool")
app()
""",
}


def _tool(at: Path, adapter: str, way: str = "bare") -> list[str]:
    return script(at, f"{CORE}\nWAY = {way!r}\n{FRONT[adapter]}")


def _dry(argv: list[str], at: Path, *words: str, **changes: str) -> Any:
    return run(argv, *words, "--dry-run", cwd=at, env=environment(**changes))


WAYS = [("argparse", "session"), ("click", "bare"), ("argparse", "bare"), ("argparse", "parse"),
        ("typer", "bare")]  # fmt: skip


def _crossed(contracts: Sequence[str]) -> list[Any]:
    """Give every way with every contract; each of both once, the others for `make test-real`."""
    return [
        pytest.param(*way, contract, marks=() if number == place % 3 else pytest.mark.slow)
        for place, contract in enumerate(contracts)
        for number, way in enumerate(WAYS)
    ]


@pytest.mark.parametrize(("adapter", "way"), WAYS)
def test_a_plan_function_runs_in_place_of_the_handler(
    tmp_path: Path, adapter: str, way: str
) -> None:
    """--dry-run calls the plan function with the handler's arguments, and never the handler."""
    argv = _tool(tmp_path, adapter, way)
    for writer, expected in (
        ("", {"would_drop": "x"}),
        ("print", "would drop x"),
        ("plan", ["x"]),
        ("success", ["x"]),
    ):
        done = _dry(argv, tmp_path, "drop", "x", WRITER=writer)
        document = done.document
        assert (done.code, document["status"], document["plan"]) == (0, "plan", expected)
    assert _dry(argv, tmp_path, "late", "x").document["plan"] == ["x"]
    assert not (tmp_path / "ran").exists()
    # Nothing else has changed: confirmed, the handler runs.
    assert run(argv, "drop", "x", "--yes", cwd=tmp_path).code == 0
    assert (tmp_path / "ran").read_text() == "drop"


@pytest.mark.parametrize(("adapter", "way", "contract"), _crossed(FAMILY))
def test_an_unconfirmed_call_shows_the_plan(
    tmp_path: Path, adapter: str, way: str, contract: str
) -> None:
    """Under the envelope contracts a refusal holds the plan; what never asks is not run for it."""
    argv, env = _tool(tmp_path, adapter, way), environment(MURLI_CONTRACT=contract)
    done = run(argv, "drop", "x", cwd=tmp_path, env=env)
    error = done.document["error"]
    assert (error["code"], error["phase"]) == ("CONFIRMATION_REQUIRED", "validation")
    assert done.code == (3 if contract == "response" else 2)
    assert "would_drop" in str(error)
    done = run(argv, "forget", cwd=tmp_path, env=env)
    assert done.document["error"]["phase"] == "validation"
    assert done.document["error"]["suggestion"].endswith("Pass --dry-run to see what it would do.")
    dry = _dry(argv, tmp_path, "drop", "x", MURLI_CONTRACT=contract).document
    assert (dry["data"], dry["meta"]["dry_run"]) == ({"would_drop": "x"}, True)
    assert not (tmp_path / "ran").exists()


ASKING = """
import pathlib, murli
def work(name):
    if name != "lies" and murli.get_writer().is_dry_run():
        return murli.get_writer().write_plan("Would", {"would_affect": [name]})
    pathlib.Path("ran").write_text(name)
PLANS = murli.Metadata(destructive=True, dry_runnable=True)
"""
ASKING_FRONT = {
    "argparse": """
import argparse
parser = argparse.ArgumentParser(prog="tool")
command = parser.add_subparsers().add_parser("drop")
command.add_argument("name")
command.set_defaults(func=lambda args: work(args.name))
murli.annotate(command, PLANS)
murli.enable(parser)
args = parser.parse_args()
args.func(args)
""",
    "program": """
import argparse
parser = argparse.ArgumentParser(prog="tool")
command = parser.add_subparsers(dest="command").add_parser("drop")
command.add_argument("name")
murli.annotate(command, PLANS)
murli.enable(parser)
def main():
    args = parser.parse_args()
    if args.command == "drop":
        work(args.name)
main()
""",
    "click": """
import click
@click.group()
def cli(): pass
@cli.command()
@click.argument("name")
def drop(name): work(name)
murli.annotate(drop, PLANS)
murli.enable(cli)
cli()
""",
}


@pytest.mark.parametrize("front", ASKING_FRONT)
def test_a_handler_whose_code_asks_is_previewed(tmp_path: Path, front: str) -> None:
    """Its plan is in the refusal; one that did not ask after all ran, and the answer says so."""
    argv = script(tmp_path, ASKING + ASKING_FRONT[front])
    env = environment(MURLI_CONTRACT="agent-spec-2")
    error = run(argv, "drop", "x", cwd=tmp_path, env=env).document["error"]
    assert (error["code"], error["phase"]) == ("CONFIRMATION_REQUIRED", "validation")
    assert error["context"]["would_affect"] == ["x"]
    assert not (tmp_path / "ran").exists()
    error = run(argv, "drop", "lies", cwd=tmp_path, env=env).document["error"]
    assert error["phase"] == "execution" and "ran for real" in error["message"]
    assert (tmp_path / "ran").read_text() == "lies"


@pytest.mark.parametrize(("adapter", "way", "contract"), _crossed(["murli", *FAMILY]))
def test_a_handler_that_forgets_to_ask_has_run(
    tmp_path: Path, adapter: str, way: str, contract: str
) -> None:
    """A dry run whose handler never asked, and gave no plan, fails and says that it ran."""
    argv = _tool(tmp_path, adapter, way)
    for writer in ("", "print", "none", "exit", "partial", "swallow", "events"):
        done = _dry(argv, tmp_path, "forget", WRITER=writer, MURLI_CONTRACT=contract)
        text = (done.out if contract != "murli" else done.err).splitlines()
        assert "ran for real" in "".join(text[-25:]), writer
        assert done.code == (2 if contract == "murli" else 1), writer
        if contract != "murli" and writer != "events":
            error = done.document["error"]
            assert (error["phase"], error["retryable"]) == ("execution", False)
    asked = _dry(argv, tmp_path, "forget", WRITER="asks", MURLI_CONTRACT=contract)
    assert asked.code == 0


@pytest.mark.parametrize(("adapter", "way", "contract"), _crossed(["murli", *FAMILY]))
def test_a_handler_that_forgets_to_ask_and_fails_has_run(
    tmp_path: Path, adapter: str, way: str, contract: str
) -> None:
    """A failure of such a handler is told as it is, with the words that the command ran."""
    argv = _tool(tmp_path, adapter, way)
    for writer in ("raise", "exit 1", "fail", "error"):
        env = {"WRITER": writer, "MURLI_CONTRACT": contract}
        real = run(argv, "forget", "--yes", cwd=tmp_path, env=environment(**env))
        done = _dry(argv, tmp_path, "forget", **env)
        before, error = (
            each.error if contract == "murli" else each.document["error"] for each in (real, done)
        )
        name, again = ("error", "recoverable") if contract == "murli" else ("code", "retryable")
        assert (done.code, error[name]) == (real.code, before[name]), writer
        assert error["message"].startswith(before["message"].rstrip(".")), writer
        assert "ran for real" in error["message"] and not error.get(again), writer
        assert "Try again" not in str(error) and not error.get("retry_after_ms"), writer


def test_a_person_is_told_as_well(tmp_path: Path) -> None:
    """At a terminal a plan is shown, and a handler that forgot to ask is a failure."""
    argv = ["sh", "-c", f'cd {tmp_path} && exec "$@"', "sh", *_tool(tmp_path, "click")]
    shown = run_at_terminal(argv, "drop", "x", "--dry-run")
    assert (shown.code, "would_drop" in shown.out) == (0, True)
    for writer, code in (("", 2), ("none", 2), ("exit", 2), ("exit 1", 1)):
        done = run_at_terminal(argv, "forget", "--dry-run", env=environment(WRITER=writer))
        assert (done.code, "ran for real" in done.err) == (code, True), writer


def test_a_command_that_a_dry_run_calls_is_planned_too(tmp_path: Path) -> None:
    """In a dry run ctx.invoke calls the plan function of a command, not its handler."""
    done = _dry(_tool(tmp_path, "click"), tmp_path, "through")
    assert (done.code, done.document["result"]) == (0, {"would_drop": "deep"})
    assert not (tmp_path / "ran").exists()


def test_each_command_of_a_chain_is_previewed_by_itself(tmp_path: Path) -> None:
    """A plan of one command does not stand for the next, nor does a question that it asked."""
    chained = FRONT["click"].replace("@click.group()", "@click.group(chain=True)")
    argv = script(tmp_path, f"{CORE}\n{chained}")
    done = _dry(argv, tmp_path, "drop", "x", "forget", WRITER="none")
    assert "ran for real" in done.err
    done = _dry(argv, tmp_path, "forget", "drop", "x", WRITER="none")
    assert "ran for real" in done.err
    done = _dry(argv, tmp_path, "drop", "x", "late", "y")
    assert done.document["plan"] == [{"would_drop": "x"}, ["y"]]


OWN = """
import click, murli, pathlib
@click.group()
def cli(): pass
@cli.command()
@click.option("--dry-run", is_flag=True)
def drop(dry_run):
    if not dry_run:
        pathlib.Path("ran").touch()
murli.annotate(drop, murli.Metadata(destructive=True, dry_runnable=True))
murli.enable(cli, name="tool")
cli()
"""


def test_an_option_of_the_command_stays_its_own(tmp_path: Path) -> None:
    """A command's own --dry-run previews; one that was typed where it is ours is refused."""
    argv = script(tmp_path, OWN)
    assert run(argv, "drop", "--dry-run", cwd=tmp_path).code == 0
    done = run(argv, "--dry-run", "drop", cwd=tmp_path)
    assert (done.error["error"], done.error["field"]) == ("flag_error", "dry-run")
    assert done.error["suggestion"] == "Pass --dry-run behind the command's name."
    assert not (tmp_path / "ran").exists()


PLANNED = """
import murli, os, pathlib
ABOUT = {"destructive": True} if "GUARDED" in os.environ else {}
def ran(*args, **named): pathlib.Path("ran").touch()
"""
PLANNED_FRONT = {
    "argparse": """
import argparse
parser = argparse.ArgumentParser(prog="tool")
drop = parser.add_subparsers().add_parser("drop")
drop.add_argument("name")
drop.add_argument("-n", "--dry-run", action="store_true")
drop.add_argument("--quick", dest="dry_run", action="store_true")
murli.annotate(drop, murli.Metadata(plan=lambda args: [args.name, args.dry_run], **ABOUT))
murli.enable(parser)
parser.parse_args()
ran()
""",
    "click": """
import click
@click.group()
def cli(): pass
@cli.command()
@click.argument("name")
@click.option("-n", "--dry-run", is_flag=True)
@click.option("--quick", "dry_run", is_flag=True)
def drop(name, dry_run): ran()
murli.annotate(drop, murli.Metadata(plan=lambda name, dry_run: [name, dry_run], **ABOUT))
murli.enable(cli, name="tool")
cli()
""",
    "typer": """
import typer
app = typer.Typer()
@app.callback()
def main(): pass
@app.command()
def drop(name: str, dry_run: bool = typer.Option(False, "--dry-run", "-n"), quick: bool = False):
    ran()
murli.annotate(drop, murli.Metadata(plan=lambda name, dry_run: [name, dry_run], **ABOUT))
murli.enable(app, name="tool")
app()
""",
}


@pytest.mark.adapters("argparse", "click", "typer")
@pytest.mark.parametrize("front", PLANNED_FRONT)
def test_an_option_of_the_command_runs_the_plan(tmp_path: Path, front: str) -> None:
    """With a plan function a command's own --dry-run calls it too, and never the handler."""
    argv = script(tmp_path, PLANNED + PLANNED_FRONT[front])
    for guarded in ({}, {"GUARDED": "1"}):
        for word in ("--dry-run", "-n"):
            done = run(argv, "drop", "x", word, cwd=tmp_path, env=environment(**guarded))
            assert (done.code, done.document["plan"]) == (0, ["x", True])
            assert not (tmp_path / "ran").exists()
    env = environment(MURLI_CONTRACT="agent-spec-2", GUARDED="1")
    done = run(argv, "drop", "x", "--dry-run", cwd=tmp_path, env=env).document
    assert (done["data"], done["meta"]["dry_run"]) == (["x", True], True)
    assert not (tmp_path / "ran").exists()
    assert run(argv, "drop", "x", "--quick", cwd=tmp_path).code == 0
    assert (tmp_path / "ran").exists()


DECORATED = """
import click, functools, murli, pathlib
def around(function):
    @functools.wraps(function)
    def run(*args, **named):
        pathlib.Path("around").touch()
        return function(*args, **named)
    return run
@click.command()
@click.argument("name")
@around
def drop(name): pathlib.Path("ran").touch()
murli.annotate(drop, murli.Metadata(destructive=True, plan=lambda name: [name]))
murli.enable(drop, name="drop")
drop()
"""


def test_decorators_run_around_the_plan(tmp_path: Path) -> None:
    """What a decorator does around the handler it does around the plan function too."""
    done = _dry(script(tmp_path, DECORATED), tmp_path, "x")
    assert done.document["plan"] == ["x"] and (tmp_path / "around").exists()
    assert not (tmp_path / "ran").exists()


def test_a_plan_is_a_function_of_a_command_with_a_dry_run() -> None:
    """plan= implies dry_runnable, and what contradicts it is refused where it is declared."""
    assert Metadata(plan=print).dry_runnable
    assert Metadata(mutating=True).merged_with(Metadata(plan=print)).dry_runnable
    with pytest.raises(ValueError, match="needs dry_runnable"):
        Metadata(plan=print, dry_runnable=False)
    with pytest.raises(TypeError, match="plan is a function"):
        Metadata(plan="delete")  # type: ignore[arg-type]
