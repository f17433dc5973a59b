"""The card: an agent knows every command of a tool from one call of its help."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness import ADAPTERS, environment, golden, run, run_at_terminal, script, tool

pytestmark = pytest.mark.warm

FIRST = "Commands ("


def card_in(text: str) -> str:
    """Give the card at the end of a help text."""
    return text[text.index(FIRST) :]


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_the_card_is_the_same_whatever_the_framework(adapter: str) -> None:
    """Help ends with the golden card, which describe --card prints on a pipe and at a terminal."""
    tasks = tool(f"tasks_{adapter}")
    wanted = golden("card-tasks.txt")
    shown = run(tasks, "--help", env=environment(COLUMNS="80"))

    assert shown.out.lower().lstrip().startswith("usage:")
    assert card_in(shown.out).rstrip("\n") + "\n" == wanted
    assert run(tasks, "describe", "--card").out == wanted
    assert run_at_terminal(tasks, "describe", "--card").out == wanted


def test_the_card_spells_out_all_that_is_declared() -> None:
    """Rules, exclusions, ranges, dangers, pages and new names stand on the line of the command."""
    shop = tool("shop_click")
    assert card_in(run(shop, "--help").out) == golden("card-shop.txt")
    assert "s3cr3t" not in run(shop, "--help").out


def test_a_group_has_its_own_part_and_a_command_what_was_declared() -> None:
    """A group's help has the lines of its commands; a command's what its author declared."""
    shop = tool("shop_click")
    group = card_in(run(shop, "--region", "eu", "stock", "--help").out).splitlines()
    assert [line.split()[:2] for line in group[1:]] == [
        ["stock", "count"],
        ["stock", "add"],
        ["stock", "purge"],
    ]
    added = run(shop, "--region", "eu", "stock", "add", "--help").out
    assert added.endswith(
        "This command: changes, needs --yes, --mode remote needs --host, needs one of --host "
        "--size\n"
        "Exit 0 SUCCESS: The item is in stock.\n"
        "Exit 7 CONFLICT: It is there already. (IN_STOCK)\n"
        "Exit 81 SHELF_FULL: No shelf has room for it.\n"
    )
    made = run(tool("tasks_argparse"), "describe", "--card", "task", "create").out.splitlines()
    assert made[0].startswith(
        "Call: task create TITLE --weight FLOAT [--status {todo|doing|done}=todo]"
    )
    assert made[1:] == [
        "Creates a task in the list.",
        "When to use: Use when work must be remembered.",
        'Returns: {"id":"int","title":"string"}  # The task',
        "Examples:",
        "  tasks task create Saw --weight 1 --yes  # Remember to saw",
        "  tasks task create  # Forget the title (exit code 1)",
    ]
    found = run(shop, "--region", "eu", "find", "--help").out
    assert "This command: reads, pages of 20\nReturns: [{name: string, size: integer}]\n" in found


@pytest.mark.parametrize("contract", ["response", "agent-spec-2"])
def test_the_card_is_in_the_envelope(contract: str) -> None:
    """Where help is answered with an envelope, that has the card; stderr the framework's help."""
    env = environment(MURLI_CONTRACT=contract)
    done = run(tool("shop_click"), "--help", env=env)
    document = done.document
    card = (document["data"] or document["meta"])["card"]
    assert card[0].startswith(FIRST) and any(line.startswith("  stock add NAME") for line in card)
    assert "Usage: shop" in done.err and FIRST not in done.err
    assert any(line.startswith("Exit codes: 0 ok, 1 tool_error") for line in card)
    assert any(line.startswith("Also: ") and "manifest [COMMAND...]" in line for line in card)


def test_people_read_what_they_read_before(tmp_path: Path) -> None:
    """A terminal has no card, nor has a pipe that the tool takes for a person's."""
    source = """
import click, sys
@click.group()
def cli(): "T."
@cli.command()
def go(): "Go."
if (agents := sys.argv.pop(1)) != "none":
    import murli
    murli.enable(cli, name="t", agents=agents)
cli(prog_name="t")
"""
    argv = script(tmp_path, source)
    for words in (["--help"], ["go", "--help"]):
        plain = run(argv, "none", *words)
        assert run(argv, "flag", *words) == plain
        assert run(argv, "detect", *words) == plain
        assert run_at_terminal(argv, "pipe", *words).out == plain.out
    assert FIRST in run(argv, "flag", "--agent", "--help").out


LARGE = """
import click, murli
@click.group()
def cli(): "T."
for number in range(GROUPS):
    @cli.group(f"g{number}")
    def group(): "Work with a part."
    for each in range(300 // GROUPS):
        @group.command(f"c{each}")
        @click.option("--size", type=int, required=True)
        @click.option("--mode", type=click.Choice(["local", "remote"]), default="local")
        def one(size, mode): "Do one of very many things with a part."
        if GROUPS == 1:
            cli.add_command(one)
murli.enable(cli, name="t")
cli(prog_name="t")
"""


def test_a_large_tree_stays_within_the_limit(tmp_path: Path) -> None:
    """Of 300 commands the first level is named in full; the card says which call shows the rest."""
    argv = script(tmp_path, LARGE.replace("GROUPS", "10"))
    shown = run(argv, "--help").out
    card = card_in(shown)
    assert 7_000 < len(card.encode()) <= 8_000
    assert all(f"  g{number} " in card for number in range(10))
    assert "'t COMMAND --help'" in card and "Work with a part" in card
    part = card_in(run(argv, "g3", "--help").out)
    lines = [line for line in part.splitlines() if line.startswith("  g3 c")]
    wanted = "  g3 c7 --size INT [--mode {local|remote}=local]  # Do one of very many things with"
    assert len(lines) == 30 and lines[7].startswith(wanted)
    env = environment(MURLI_CARD_BYTES="0")
    assert card_in(run(argv, "--help", env=env).out).count("--size INT") == 300
    env = environment(MURLI_CARD_BYTES="2000")
    small = card_in(run(argv, "--help", env=env).out)
    assert len(small.encode()) <= 2_000 and "--size" not in small and "describe --depth 1" in small
    tiny = card_in(run(argv, "--help", env=environment(MURLI_CARD_BYTES="600")).out)
    assert len(tiny.encode()) <= 600 and "g0, g1" in tiny and "describe --depth 1" in tiny


def test_a_flat_tree_without_end_is_named_as_far_as_it_goes(tmp_path: Path) -> None:
    """Of 300 commands on one level all are named; where that is too much, how many are not."""
    argv = script(tmp_path, LARGE.replace("GROUPS", "1"))
    names = card_in(run(argv, "--help", env=environment(MURLI_CARD_BYTES="4000")).out)
    assert "g0, c0, c1, c2" in names and "c299" in names
    cut = card_in(run(argv, "--help", env=environment(MURLI_CARD_BYTES="1500")).out)
    assert len(cut.encode()) <= 1_500 and "c299" not in cut and " more" in cut


LAZY = """
import sys, click, murli
class Lazy(click.Group):
    def list_commands(self, ctx):
        return ["good", "bad"]
    def get_command(self, ctx, name):
        print("loading", name)
        if name == "bad" and "--ruin" in sys.argv:
            raise SystemExit("it is gone")
        if name == "bad":
            raise ImportError("no module named x")
        return click.Command(name, help="Works.", short_help="Works.")
    def format_commands(self, ctx, formatter):
        pass
cli = Lazy("t", params=[click.Option(["--ruin"], is_flag=True)])
murli.enable(cli, name="t")
cli(prog_name="t")
"""


def test_what_cannot_be_loaded_does_not_break_help(tmp_path: Path) -> None:
    """A command that does not load is named with the reason; help stays, whatever happens."""
    argv = script(tmp_path, LAZY)
    done = run(argv, "--help")
    assert done.code == 0 and done.out.startswith("Usage: t")
    assert "  good  # Works" in done.out
    assert "  bad  # Cannot be loaded: no module named x" in done.out
    assert "loading" not in done.out
    ruined = run(argv, "--ruin", "--help")
    assert ruined.code == 0 and ruined.out.startswith("Usage: t")
    assert "The commands cannot be listed: SystemExit: it is gone" in ruined.out


ONE = """
import argparse, murli
parser = argparse.ArgumentParser(prog="t", description="Count.")
parser.add_argument("path")
parser.add_argument("-n", metavar="N", type=int, default=3)
parser.add_argument("-v", action="count")
which = parser.add_mutually_exclusive_group(required=True)
which.add_argument("--all", action="store_true")
which.add_argument("--name", action="append")
parser.add_argument("--api-key", default="AKIAABCDEFGHIJKLMNOP")
murli.annotate(parser, murli.Metadata(danger_level="safe", ok_codes={1: "found nothing"}))
murli.enable(parser)
parser.parse_args()
"""


def test_one_command_is_not_repeated_below_its_own_help(tmp_path: Path) -> None:
    """Help that shows the options already gets marks, flags and codes; describe --card the call."""
    argv = script(tmp_path, ONE)
    added = run(argv, "--help").out.partition("This command: ")[2]
    assert added.startswith("reads, exit 1: found nothing\nFlags, anywhere: --output {json|")
    assert "--name" not in added and len(added) < 600
    card = run(argv, "describe", "--card").out
    assert card.startswith(
        "Call: t PATH (--all | [--name TEXT]...) [-n INT=3] [-v]... [--api-key TEXT]"
    )
    assert "AKIA" not in card


def test_renamed_commands_show_their_new_names(tmp_path: Path) -> None:
    """What is called otherwise now says so, whether the old command is still there or not."""
    source = """
import click, murli
@click.group()
def cli(): "T."
@cli.command()
def old(): "Still here."
@cli.command()
def wipe(): "Wipe it."
murli.redirect(cli, "old", "wipe")
murli.redirect(cli, "gone", "old")
murli.enable(cli, name="t")
cli(prog_name="t")
"""
    card = card_in(run(script(tmp_path, source), "--help").out)
    assert "  old  # Still here (renamed -> wipe)\n" in card
    assert "Renamed: gone -> wipe\n" in card
    assert "  wipe  # Wipe it (destroys?)\n" in card
    assert "? is inferred from the name or the code, not declared" in card


ASKING = """
import click, murli
@click.group()
def cli(): pass
@cli.command(NAME)
def command():
    click.confirm("Really?", abort=True)
    print("done")
murli.enable(cli, name="t")
cli(prog_name="t")
"""


@pytest.mark.parametrize(
    ("name", "metadata", "flag"),
    [
        ("rename", "", "--yes (where a command asks)"),
        ("show", "", "--yes (where a command asks)"),
        ("rename", "danger_level='safe'", "--yes (where a command asks)"),
        ("rename", "danger_level='mutating'", "--yes"),
    ],
)
def test_what_answers_a_question_is_named(
    tmp_path: Path, name: str, metadata: str, flag: str
) -> None:
    """The flags have --yes where it confirms a change; the line of a command, that it may ask."""
    declared = f"murli.annotate(command, murli.Metadata({metadata}))\n" if metadata else ""
    source = ASKING.replace("NAME", repr(name)).replace("murli.enable", f"{declared}murli.enable")
    argv = script(tmp_path, source)
    card = card_in(run(argv, "--help").out)
    (line,) = [each for each in card.splitlines() if each.startswith("Flags, ")]
    assert ("asks?" in card) == ("mutating" not in metadata)
    listed = [each for each in line.split(", ") if each.startswith("--yes")]
    assert listed == [flag]
    silent = script(tmp_path, source.replace('click.confirm("Really?", abort=True)', "pass"))
    quiet = card_in(run(silent, "--help").out)
    assert "asks?" not in quiet
    assert ("--yes" in quiet) == (name == "rename" and "safe" not in metadata)
    # What waits for a value is for commands that only read.
    assert ("--until " in line) == (name == "show" or "safe" in metadata)
    assert run(argv, name, "--yes").document["result"] == "done"


OWN_HELP = """
import click, murli
def show(ctx, param, value):
    if value and not ctx.resilient_parsing:
        print(ctx.get_help() if ctx.info_name == "rm" else "My own help.")
        print("That is all.")
        ctx.exit()
own_help = click.option("--help", is_flag=True, is_eager=True, expose_value=False, callback=show)
@click.group(add_help_option=False)
@own_help
def tool(): pass
@tool.command(add_help_option=False)
@own_help
def ls(): "List."
@tool.command(add_help_option=False)
@own_help
def rm(): "Remove."
murli.enable(tool, name="tool")
tool()
"""


def test_a_help_that_the_tool_prints_itself_has_the_card(tmp_path: Path) -> None:
    """Help by an option of the tool's own ends with the card for an agent, and only for one."""
    tool = script(tmp_path, OWN_HELP)
    done = run(tool, "--help")
    assert (done.code, done.out.startswith("My own help.\nThat is all.\n\nCommands (")) == (0, True)
    assert "\n  ls  # List\n" in done.out
    for words in (("ls", "--help"), ("rm", "--help")):
        assert "That is all.\n\nAgent options:\n" in run(tool, *words).out
    as_envelope = run(tool, "--help", env=environment(MURLI_CONTRACT="agent-spec-2"))
    assert as_envelope.document["meta"]["card"][1] == "  ls  # List"
    assert run_at_terminal(tool, "--help").out == "My own help.\nThat is all.\n"
