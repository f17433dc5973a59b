"""Tools of every kind behind a server: of every contract, without murli, and without Python."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import mcp_client
from harness import environment, run, script
from mcp_client import Caller

MURLI = [sys.executable, "-m", "murli"]
RIFFLE = [sys.executable, "-m", "riffle"]
CONTRACTS = ["murli", "response", "agent-spec-1.6", "agent-spec-2"]
PLAIN = """
import argparse, time
parser = argparse.ArgumentParser(prog="plain", description="Keep a few words.")
commands = parser.add_subparsers(dest="command", required=True)
add = commands.add_parser("add", help="Add words")
add.add_argument("words", nargs="+")
add.add_argument("--times", type=int, default=1)
delete = commands.add_parser("delete", help="Delete a word")
delete.add_argument("word")
wait = commands.add_parser("wait", help="Wait")
args = parser.parse_args()
if args.command == "add":
    print("\\n".join(args.words * args.times))
elif args.command == "delete":
    raise SystemExit(f"there is no {args.word}")
"""


def drive(argv: list[str], scenario: Any, **options: Any) -> None:
    env = options.pop("env", environment())

    async def connect() -> None:
        async with mcp_client.over_stdio(argv, env=env, **options) as caller:
            await scenario(caller)

    mcp_client.run(connect)


@pytest.mark.parametrize(
    "contract", [pytest.param(each, marks=pytest.mark.slow) for each in CONTRACTS[1:3]]
    + [CONTRACTS[0], CONTRACTS[3]],
)  # fmt: skip
def test_riffle_serves_itself_in_every_contract(contract: str, tmp_path: Path) -> None:
    """Whichever contract a tool has, its results, plans, refusals and failures are the same."""
    notes = tmp_path / "notes"
    notes.mkdir()
    for number in range(30):
        (notes / f"{number}.txt").write_text(f"tea and number {number}")
    index = str(tmp_path / "index.db")

    async def scenario(caller: Caller) -> None:
        build = {"folder": str(notes), "index": index}
        refused = await caller.data("riffle_index_build", **build)
        assert refused["error"]["code"].lower() == "confirmation_required"
        plan = await caller.data("riffle_index_build", **build, dry_run=True)
        assert (plan["status"], plan["plan"]["added"]) == ("plan", 30)
        missing = await caller.call("riffle_query", text="tea", index=index)
        assert missing["isError"]
        assert missing["structuredContent"]["error"]["kind"] == "not_found"
        done = await caller.data("riffle_index_build", **build, confirm=True)
        assert (done["status"], done["result"]["files"]) == ("ok", 30)
        assert caller.progress[-1][0] == caller.progress[-1][1]
        found = await caller.data("riffle_query", text="tea", index=index, top=3)
        assert len(found["result"]) == 3
        for name, each in (await caller.tools()).items():
            Draft202012Validator.check_schema(each["inputSchema"])
            assert name.startswith("riffle_")

    drive([*RIFFLE, "mcp", "serve"], scenario, env=environment(MURLI_CONTRACT=contract))


def test_a_tool_without_murli_is_served(tmp_path: Path) -> None:
    """`murli mcp` serves a plain tool, claims nothing it does not say, and guards by names."""
    path = tmp_path / "plain.py"
    path.write_text(PLAIN)

    async def scenario(caller: Caller) -> None:
        tools = await caller.tools()
        assert sorted(tools) == ["plain_add", "plain_delete", "plain_wait"]
        assert all("annotations" not in each for each in tools.values())
        assert "inferred" in tools["plain_delete"]["description"]
        assert tools["plain_add"]["inputSchema"]["properties"]["times"]["type"] == "integer"
        done = await caller.call("plain_add", words=["a", "--b"], times=2)
        assert done["content"][0]["text"] == "a\n--b\na\n--b"
        refused = await caller.data("plain_delete", word="x")
        assert refused["error"]["code"] == "confirmation_required"
        failed = await caller.data("plain_delete", word="x", confirm=True)
        assert "there is no x" in failed["error"]["message"]

    drive([*MURLI, "mcp", str(path)], scenario)


def test_a_program_that_is_not_pythons_is_served(tmp_path: Path) -> None:
    """`murli mcp` serves any program by its help, a process for each call."""
    program = tmp_path / "greet"
    program.write_text(
        "#!/bin/sh\n"
        'case "$1" in --help) printf "usage: greet [options] NAME\\n\\nGreet somebody.\\n\\n'
        'options:\\n  --loud  shout\\n  --help  show this\\n"; exit;; esac\n'
        'echo "hello $*"\n'
    )
    program.chmod(0o755)

    async def scenario(caller: Caller) -> None:
        (name, each), *others = (await caller.tools()).items()
        assert (name, others) == ("greet", [])
        assert "loud" in each["inputSchema"]["properties"]
        done = await caller.call("greet", NAME="you", loud=True)
        assert done["content"][0]["text"].strip() in ("hello --loud you", "hello you --loud")

    drive([*MURLI, "mcp", str(program)], scenario, env=environment(HOME=str(tmp_path)))


# An option that is made in full when it is first asked for, as those of newer typers are.
LATE_OPTION = """
import os, sys, click, murli
class Late(click.Option):
    def get_runtime_param(self):
        with open(sys.argv[0] + ".made", "a") as file:
            print(os.getpid(), self.name, file=file)
@click.group()
def cli(): pass
@cli.command()
@click.option("--word", cls=Late)
@murli.about(mutating=False)
def show(word): return {"process": os.getpid()}
@cli.command()
@click.option("--other", cls=Late)
def hide(other): pass
murli.enable(cli, name="late")
cli()
"""


def test_what_the_first_call_makes_is_there_for_the_next(tmp_path: Path) -> None:
    """What a framework makes when it first parses is made once, in the process that is forked."""
    path = script(tmp_path, LATE_OPTION)[1]

    async def scenario(caller: Caller) -> None:
        calls = [(await caller.data("late_show", word="x"))["result"] for _ in range(4)]
        made = Path(f"{path}.made").read_text().split()
        assert made[1:] == ["word"]
        assert int(made[0]) not in [each["process"] for each in calls]

    drive([sys.executable, path, "mcp", "serve"], scenario)


def test_what_cannot_be_served_is_an_answer(tmp_path: Path) -> None:
    """A tool that is not there, and options that make no sense, are failures with advice."""
    missing = run([*MURLI, "mcp", "no-such-tool-anywhere"])
    assert missing.code == 5 and missing.error["suggestion"]
    wrong = run([*MURLI, "mcp", "--http", "x", "ls"])
    assert wrong.code == 1 and "port" in wrong.error["message"]
    helped = run([*MURLI, "mcp", "--help"])
    assert helped.code == 0 and "--http" in helped.out
