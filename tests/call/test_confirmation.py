"""What comes before a change: a preview in the refusal, a check without a run, a key to repeat."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from documents import FAMILY
from harness import ADAPTERS, environment, run, run_at_terminal, script, tool

pytestmark = [pytest.mark.adapters("argparse", "click"), pytest.mark.warm]

SPEC_2 = environment(MURLI_CONTRACT="agent-spec-2")
ARG_ERROR = {"response": 3, "agent-spec-1.6": 2, "agent-spec-2": 2}
# Every adapter and every contract once: what they have to do with each other is tested elsewhere.
DIAGONAL = list(zip(ADAPTERS, FAMILY, strict=True))

CORE = """
import pathlib, sys, time
import murli

WIPE = murli.Metadata(destructive=True)
LOOK = murli.Metadata(danger_level="safe")
ADD = murli.Metadata(mutating=True, dry_runnable=True)

def drop(name, how="plan"):
    pathlib.Path("dropped").write_text(name)
    murli.get_writer().write_success("Dropped", {"name": name})

def plan_drop(name, how="plan"):
    writer = murli.get_writer()
    if how == "fail":
        raise murli.AgentError.not_found("no such thing")
    if how == "crash":
        raise ValueError("no preview today")
    if how == "print":
        return print("would drop", name)
    if how == "exit":
        writer.write_plan("Would drop", {"name": name})
        sys.exit(0)
    if how == "nothing":
        return None
    if how == "affects":
        return writer.write_plan("Would drop", {"would_affect": [name]})
    return {"name": name}

def wipe():
    pathlib.Path("wiped").touch()

def add(name, seconds=0.0, token=""):
    if murli.get_writer().is_dry_run():
        return murli.get_writer().write_plan("Would add", [name])
    if name == "bad":
        raise murli.AgentError.unavailable("not now")
    with pathlib.Path("added").open("a") as file:
        file.write(name + "\\n")
    time.sleep(seconds)
    murli.get_writer().write_success("Added", [name] if name == "list" else {"name": name})
"""
FRONT = {
    "argparse": """
import argparse
DROP = murli.Metadata(
    destructive=True, plan=lambda args: plan_drop(args.name, args.how), effect="deleted"
)
parser = argparse.ArgumentParser(prog="store")
commands = parser.add_subparsers(dest="command", required=True)
one = commands.add_parser("drop")
one.add_argument("name")
one.add_argument("--how", default="plan")
two = commands.add_parser("add")
two.add_argument("name")
two.add_argument("--seconds", type=float, default=0.0)
two.add_argument("--token", default="")
for parser_, facts in ((one, DROP), (two, ADD), (commands.add_parser("wipe"), WIPE),
                       (commands.add_parser("look"), LOOK)):
    murli.annotate(parser_, facts)
murli.enable(parser)

def main():
    args = vars(parser.parse_args())
    command = args.pop("command")
    if command != "look":
        globals()[command](**args)

if __name__ == "__main__":
    sys.exit(main())
""",
    "click": """
import click
DROP = murli.Metadata(destructive=True, plan=plan_drop, effect="deleted")
@click.group()
def cli(): pass
@cli.command("drop")
@click.argument("name")
@click.option("--how", default="plan")
def one(**given): return drop(**given)
@cli.command("add")
@click.argument("name")
@click.option("--seconds", type=float, default=0.0)
@click.option("--token", default="")
def two(**given): return add(**given)
@cli.command("wipe")
def three(): wipe()
@cli.command("look")
def four(): pass
for command, facts in ((one, DROP), (two, ADD), (three, WIPE), (four, LOOK)):
    murli.annotate(command, facts)
murli.enable(cli, name="store")
if __name__ == "__main__":
    cli()
""",
    "typer": """
import typer
DROP = murli.Metadata(destructive=True, plan=plan_drop, effect="deleted")
app = typer.Typer()
@app.command("drop")
def one(name: str, how: str = "plan"): return drop(name, how)
@app.command("add")
def two(name: str, seconds: float = 0.0, token: str = ""): return add(name, seconds, token)
@app.command("wipe")
def three(): wipe()
@app.command("look")
def four(): pass
for command, facts in ((one, DROP), (two, ADD), (three, WIPE), (four, LOOK)):
    murli.annotate(command, facts)
murli.enable(app, name="store")
if __name__ == "__main__":
    app()
""",
}


def _store(tmp_path: Path, adapter: str) -> list[str]:
    return script(tmp_path, CORE + FRONT[adapter])


@pytest.fixture(params=ADAPTERS)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> list[str]:
    return _store(tmp_path, request.param)


# -- the refusal -------------------------------------------------------------------------------


@pytest.mark.parametrize(("adapter", "contract"), DIAGONAL)
def test_a_refusal_shows_what_it_refuses(tmp_path: Path, adapter: str, contract: str) -> None:
    """A destructive call that nobody confirmed does nothing, and tells what it would have done."""
    store, env = _store(tmp_path, adapter), environment(MURLI_CONTRACT=contract)
    done = run(store, "drop", "x", cwd=tmp_path, env=env)
    error = done.document["error"]
    assert (done.code, done.err) == (ARG_ERROR[contract], "")
    assert (error["code"], error["phase"]) == ("CONFIRMATION_REQUIRED", "validation")
    assert "--confirm-destructive" in error["suggestion"]
    assert "fix_command" not in error
    shown = error["context"] if contract != "response" else json.loads(error["detail"])
    assert shown["would_affect"]["name"] == "x"
    assert done.document["data"] is None
    assert not (tmp_path / "dropped").exists()


@pytest.mark.parametrize(
    ("how", "shown"),
    [
        ("affects", ["x"]),
        ("print", "would drop x"),
        ("exit", {"name": "x"}),
        ("nothing", None),
        ("fail", None),
        ("crash", None),
    ],
)
@pytest.mark.parametrize("adapter", ["argparse", "click"])
def test_a_preview_cannot_change_the_refusal(
    tmp_path: Path, adapter: str, how: str, shown: Any
) -> None:
    """Whatever a plan function does, the call is refused; a failed one shows nothing."""
    argv = _store(tmp_path, adapter)
    done = run(argv, "drop", "x", "--how", how, cwd=tmp_path, env=SPEC_2)
    error = done.document["error"]
    assert (done.code, error["code"]) == (2, "CONFIRMATION_REQUIRED")
    assert (error.get("context") or {}).get("would_affect") == shown
    assert error["phase"] == "validation"


def test_what_cannot_preview_is_only_refused(store: list[str], tmp_path: Path) -> None:
    """A destructive command without a preview is refused as it is, and so is its dry run."""
    done = run(store, "wipe", cwd=tmp_path, env=SPEC_2)
    assert (done.code, done.document["error"]["code"]) == (2, "CONFIRMATION_REQUIRED")
    assert "context" not in done.document["error"]
    assert run(store, "wipe", "--dry-run", cwd=tmp_path, env=SPEC_2).code == 2
    assert not (tmp_path / "wiped").exists()
    assert run(store, "wipe", "--confirm-destructive", cwd=tmp_path, env=SPEC_2).code == 0
    assert (tmp_path / "wiped").exists()


def test_our_own_commands_preview_as_well(tmp_path: Path) -> None:
    """A profile is deleted only when that was confirmed; the refusal names it."""
    env = environment(MURLI_CONTRACT="agent-spec-2", MURLI_PROFILE_PATH=str(tmp_path / "p.json"))
    deploy = tool("deploy_argparse")
    run(deploy, "profile", "save", "p", "region=eu", env=env)
    done = run(deploy, "profile", "delete", "p", env=env)
    assert (done.code, done.document["error"]["code"]) == (2, "CONFIRMATION_REQUIRED")
    assert done.document["error"]["context"]["would_affect"] == {"delete": "p"}
    assert run(deploy, "profile", "show", "p", env=env).code == 0


def test_the_default_contract_has_no_preview(store: list[str], tmp_path: Path) -> None:
    """Under murli a refusal is what it was."""
    done = run(store, "drop", "x", cwd=tmp_path)
    assert (done.code, done.out) == (1, "")
    advice = (
        "Pass --force or --yes to proceed without a TTY. Pass --dry-run to see what it would do."
    )
    assert done.error["suggestion"] == advice


@pytest.mark.parametrize(
    ("adapter", "flag"),
    list(zip(ADAPTERS, ["--confirm-destructive", "--yes", "--force"], strict=True)),
)
def test_a_confirmation(tmp_path: Path, adapter: str, flag: str) -> None:
    """Each of the flags confirms; the one made for it is also told."""
    done = run(_store(tmp_path, adapter), "drop", "x", flag, cwd=tmp_path, env=SPEC_2)
    assert (tmp_path / "dropped").read_text() == "x"
    assert done.document["meta"].get("confirmed") == (flag == "--confirm-destructive" or None)


def test_a_dry_run(store: list[str], tmp_path: Path) -> None:
    """--dry-run needs no confirmation, and gives the plan as the answer."""
    done = run(store, "drop", "x", "--dry-run", cwd=tmp_path, env=SPEC_2)
    assert (done.code, done.document["meta"]["dry_run"]) == (0, True)
    assert done.document["data"]["name"] == "x"
    assert not (tmp_path / "dropped").exists()


OWN = """
import argparse, pathlib, murli
parser = argparse.ArgumentParser(prog="own")
{root}
one = parser.add_subparsers(dest="command").add_parser("drop")
{leaf}
murli.annotate(one, murli.Metadata(destructive=True, dry_runnable=True))
murli.enable(parser, contract="agent-spec-2"{more})
args = parser.parse_args()
if not getattr(args, "dry_run", False):
    pathlib.Path("dropped").touch()
"""


@pytest.mark.parametrize(
    ("place", "more"),
    [("root", ""), ("leaf", ""), ("", ", guard_dry_run=True")],
)
def test_a_preview_that_is_not_ours(tmp_path: Path, place: str, more: str) -> None:
    """A command whose --dry-run is its own, or its group's, is not run to find out."""
    parts = {
        "root": 'parser.add_argument("--dry-run", action="store_true")' if place == "root" else "",
        "leaf": 'one.add_argument("--dry-run", action="store_true")' if place == "leaf" else "",
    }
    argv = script(tmp_path, OWN.format(**parts, more=more))
    done = run(argv, "drop", cwd=tmp_path)
    assert (done.code, done.document["error"]["code"]) == (2, "CONFIRMATION_REQUIRED")
    assert not (tmp_path / "dropped").exists()


def test_a_preview_that_is_interrupted(tmp_path: Path) -> None:
    """A signal before the handler has asked for a dry run cancels the call."""
    source = (
        "import argparse, murli, os\np = argparse.ArgumentParser(prog='t')\n"
        "murli.about(p, mutating=True, dry_runnable=True)\nmurli.enable(p)\n"
        "with murli.session(p) as (args, writer):\n    os.kill(os.getpid(), 15)\n"
        "    if writer.is_dry_run(): writer.write_plan('Would change', {})\n"
    )
    done = run(script(tmp_path, source), env=SPEC_2)
    assert (done.code, done.document["error"]["code"]) == (143, "CANCELLED")


def test_a_person_is_asked_as_before(tmp_path: Path) -> None:
    """At a terminal nothing is previewed: the handler runs."""
    argv = _store(tmp_path, "click")
    path = tmp_path / "dropped"
    done = run_at_terminal(["sh", "-c", f'cd {tmp_path} && exec "$@"', "sh", *argv], "drop", "x",
                           env=SPEC_2)  # fmt: skip
    assert (done.out, path.read_text()) == ("Dropped\n", "x")


ASKING = """
import click, murli
@click.command()
@click.option("--name", prompt=True)
@click.option("--yes", is_flag=True)
def cli(name, yes):
    if not yes:
        click.confirm("Really?", abort=True)
    return {"name": name}
murli.enable(cli, contract="agent-spec-2", name="asking")
cli()
"""


def test_questions_are_not_asked(tmp_path: Path) -> None:
    """A prompt that nobody answers ends the call with what to pass instead, at once."""
    argv = script(tmp_path, ASKING)
    for words in ([], ["--non-interactive"], ["--name", "x", "--non-interactive"]):
        done = run(argv, *words)
        assert (done.code, done.document["error"]["code"]) == (4, "INPUT_REQUIRED")
    assert run(argv, "--name", "x", "--yes").document["data"] == {"name": "x"}


# -- validate only -----------------------------------------------------------------------------


@pytest.mark.parametrize(("adapter", "contract"), DIAGONAL)
def test_a_call_is_only_checked(tmp_path: Path, adapter: str, contract: str) -> None:
    """--validate-only goes as far as the guard, says that the call is valid, and runs nothing."""
    store, env = _store(tmp_path, adapter), environment(MURLI_CONTRACT=contract)
    done = run(store, "--validate-only", "drop", "x", "--yes", cwd=tmp_path, env=env)
    assert (done.code, done.document["data"]) == (0, {"valid": True})
    assert done.document["meta"]["validation_only"] is True
    assert not (tmp_path / "dropped").exists()
    done = run(store, "drop", "--validate-only", cwd=tmp_path, env=env)
    assert (done.code, done.document["error"]["phase"]) == (ARG_ERROR[contract], "validation")
    # What would be refused is refused, and then nothing is run for a preview either.
    done = run(store, "drop", "x", "--validate-only", "--how", "crash", cwd=tmp_path, env=env)
    assert done.document["error"]["code"] == "CONFIRMATION_REQUIRED"


def test_a_person_has_no_such_flags(tmp_path: Path) -> None:
    """At a terminal these are options that nobody knows, and so nothing runs either."""
    argv = _store(tmp_path, "argparse")
    for words in (["drop", "x", "--validate-only"], ["add", "x", "--idempotency-key", "k"]):
        done = run_at_terminal(argv, *words, env=SPEC_2)
        assert (done.out, done.code) == ("", 2)
        assert f"unrecognized arguments: {words[2]}" in done.err


def test_a_flag_given_twice(store: list[str], tmp_path: Path) -> None:
    """Our flags may stand anywhere and twice, but not with two values."""
    words = ["look", "--timeout", "5"]
    assert run(store, "--timeout", "5", *words, env=SPEC_2).code == 0
    done = run(store, "--timeout", "6", *words, env=SPEC_2)
    assert (done.code, done.document["error"]["context"]["field"]) == (2, "timeout")


# -- a key -------------------------------------------------------------------------------------


def _keyed(tmp_path: Path, contract: str = "agent-spec-2", **changes: str) -> dict[str, str]:
    return environment(MURLI_CONTRACT=contract, XDG_STATE_HOME=str(tmp_path / "state"), **changes)


@pytest.mark.parametrize(("adapter", "contract"), DIAGONAL)
def test_a_repeated_call_is_not_made_again(tmp_path: Path, adapter: str, contract: str) -> None:
    """A call with the key of one that succeeded gives its data again, with the effect noop."""
    store, env = _store(tmp_path, adapter), _keyed(tmp_path, contract)
    words = ("add", "one", "--yes", "--idempotency-key", "k1")
    first = run(store, *words, cwd=tmp_path, env=env)
    again = run(store, *words, cwd=tmp_path, env=env)
    assert "replayed" not in first.document["meta"]
    assert (again.code, again.document["data"]) == (0, {"name": "one", "effect": "noop"})
    assert again.document["meta"]["replayed"] is True
    assert (tmp_path / "added").read_text() == "one\n"
    # Another key is another call; the same one with other words is a mistake.
    run(store, "add", "one", "--yes", "--idempotency-key", "k2", cwd=tmp_path, env=env)
    assert (tmp_path / "added").read_text() == "one\none\n"
    done = run(store, "add", "two", "--yes", "--idempotency-key", "k1", cwd=tmp_path, env=env)
    assert (done.code, done.document["error"]["code"]) == (6, "IDEMPOTENCY_KEY_REUSED")
    assert "two" not in (tmp_path / "added").read_text()


def test_only_what_was_done_is_kept(tmp_path: Path) -> None:
    """A failure, a dry run and a refusal leave nothing behind; a list is given again as it was."""
    store, env = _store(tmp_path, "click"), _keyed(tmp_path)

    def add(name: str, *words: str, key: str) -> Any:
        call = ("add", name, *words, "--idempotency-key", key)
        return run(store, *call, cwd=tmp_path, env=env)

    assert add("bad", "--yes", key="a").code == add("bad", "--yes", key="a").code == 12
    assert add("x", "--dry-run", key="b").document["meta"]["dry_run"] is True
    assert add("x", key="b").code == 2
    assert "replayed" not in add("x", "--yes", key="b").document["meta"]
    add("list", "--yes", key="c")
    again = add("list", "--yes", key="c").document
    assert (again["data"], again["meta"]["replayed"]) == (["list"], True)
    # Not even for who renews his credentials in between.
    assert add("t", "--yes", "--token", "secret-one", key="d").code == 0
    assert add("", "--yes", key="x" * 2000).code == 2


def test_a_key_is_for_commands_that_change_something(tmp_path: Path) -> None:
    """A command that is declared safe takes no key."""
    store, env = _store(tmp_path, "argparse"), _keyed(tmp_path)
    done = run(store, "look", "--idempotency-key", "k", env=env)
    assert (done.code, done.document["error"]["context"]["field"]) == (2, "idempotency-key")


def test_two_calls_with_one_key_at_once(tmp_path: Path) -> None:
    """While a call runs, another with its key is told to wait."""
    store, env = _store(tmp_path, "argparse"), _keyed(tmp_path)
    words = ["add", "one", "--yes", "--idempotency-key", "k", "--seconds", "5"]
    first = subprocess.Popen([*store, *words], cwd=tmp_path, env=env, stdout=subprocess.DEVNULL)
    try:
        while not (tmp_path / "added").exists():
            assert first.poll() is None
        done = run(store, *words, cwd=tmp_path, env=env)
    finally:
        first.terminate()
        first.wait()
    error = done.document["error"]
    assert (error["code"], error["retryable"]) == ("LOCK_HELD", True)
    assert (tmp_path / "added").read_text() == "one\n"


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    """Where nothing can be kept, a call with a key is refused before it runs."""
    store = _store(tmp_path, "argparse")
    (tmp_path / "state").write_text("a file")
    words = ("add", "one", "--yes", "--idempotency-key", "k")
    done = run(store, *words, cwd=tmp_path, env=_keyed(tmp_path))
    assert (done.code, done.document["error"]["code"]) == (4, "STATE_UNAVAILABLE")
    assert not (tmp_path / "added").exists()


# -- a flag of the command's own ---------------------------------------------------------------

APPLY = """
import pathlib
import murli

def facts(previews):
    traits = murli.Traits(confirm_flag="apply")
    return murli.Metadata(mutating=True, dry_runnable=previews, traits=traits)

def migrate():
    writer = murli.get_writer()
    if writer.is_dry_run():
        return writer.write_plan("Would migrate", {"steps": 2})
    pathlib.Path("migrated").touch()
    writer.write_success("Migrated", {"steps": 2})
"""
APPLY_ON = {
    "click": """
import click
cli = click.Group()
for name in ("migrate", "force"):
    params = [click.Option(["--apply"], is_flag=True)]
    one = click.Command(name, callback=lambda apply: migrate(), params=params)
    murli.annotate(one, facts(name == "migrate"))
    cli.add_command(one)
murli.enable(cli, name="store")
cli()
""",
    "typer": """
import typer
app = typer.Typer()
def first(apply: bool = False): migrate()
def second(apply: bool = False): migrate()
for name, one in (("migrate", first), ("force", second)):
    app.command(name)(one)
    murli.annotate(one, facts(name == "migrate"))
murli.enable(app, name="store")
app()
""",
    "argparse": """
import argparse
parser = argparse.ArgumentParser(prog="store")
commands = parser.add_subparsers(dest="command", required=True)
for name in ("migrate", "force"):
    one = commands.add_parser(name)
    one.add_argument("--apply", action="store_true")
    murli.annotate(one, facts(name == "migrate"))
murli.enable(parser)
parser.parse_args()
migrate()
""",
}


@pytest.mark.parametrize(("adapter", "contract"), DIAGONAL)
def test_without_its_flag_a_command_previews(tmp_path: Path, adapter: str, contract: str) -> None:
    """A command with a confirm_flag previews and succeeds without it; --dry-run wins over it."""
    argv = script(tmp_path, APPLY + APPLY_ON[adapter])
    env, done = environment(MURLI_CONTRACT=contract), tmp_path / "migrated"
    for words in ([], ["--apply", "--dry-run"]):
        answer = run(argv, "migrate", *words, cwd=tmp_path, env=env)
        assert (answer.code, answer.document["data"]) == (0, {"steps": 2})
        assert answer.document["meta"]["dry_run"] is True
        assert "confirmed" not in answer.document["meta"]
    # What cannot preview is refused.
    refused = run(argv, "force", cwd=tmp_path, env=env)
    assert refused.document["error"]["code"] == "CONFIRMATION_REQUIRED"
    assert refused.code == ARG_ERROR[contract]
    assert "--apply" in refused.document["error"]["suggestion"]
    assert run(argv, "migrate", cwd=tmp_path).error["error"] == "confirmation_required"
    assert not done.exists()
    for command in ("migrate", "force"):
        meta = run(argv, command, "--apply", cwd=tmp_path, env=env).document["meta"]
        assert (meta["confirmed"], meta["dry_run"]) == (True, False)
        done.unlink()
