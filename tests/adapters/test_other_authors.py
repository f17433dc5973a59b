"""Tools built on the libraries of other authors, in small: they work as they did without murli."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness import environment, run, run_at_terminal, script

pytestmark = pytest.mark.warm

# A parser that is its own namespace, as those of typed-argument-parser are: all it has that is
# neither private nor a method is a value.
ITS_OWN_NAMESPACE = """
import argparse, sys, types
import murli

class Tap(argparse.ArgumentParser):
    def parse_args(self, args=None):
        super().parse_args(args, self)
        return self

    def as_dict(self):
        known = vars(argparse.ArgumentParser())
        return {name: value for name, value in sorted(vars(self).items())
                if not (name in known or name[0] == "_" or isinstance(value, types.MethodType))}

parser = Tap(prog="tap")
parser.add_argument("--name", required=True)
parser.add_argument("--size", type=int, default=3)
murli.enable(parser, agents=sys.argv.pop(1))
print(parser.parse_args().as_dict())
"""


@pytest.mark.parametrize("agents", ["pipe", "flag"])
def test_a_parser_that_is_its_own_namespace_has_its_own_values_alone(
    tmp_path: Path, agents: str
) -> None:
    """What stands in for a parser's methods is no value of a parser that holds the values."""
    values = "{'name': 'x', 'size': 4}"

    answer = run(script(tmp_path, ITS_OWN_NAMESPACE), agents, "--name", "x", "--size", "4")

    assert (answer.document["result"] if agents == "pipe" else answer.out.strip()) == values


COPIED = """
import argparse, copy, sys
import murli

parser = argparse.ArgumentParser(prog="copied")
parser.add_argument("--size", type=int)
commands = parser.add_subparsers(dest="command")
commands.add_parser("send").add_argument("what")
murli.enable(parser, agents=sys.argv.pop(1))
tool = copy.deepcopy(parser)
tool.add_argument("--deep", action="store_true")
print(sorted(vars(tool.parse_args()).items()))
"""


def test_a_deep_copy_of_a_parser_parses_for_itself(tmp_path: Path) -> None:
    """A copy of an enabled parser has options of its own, errors of its own, and is enabled too."""
    tool = script(tmp_path, COPIED)
    values = "[('command', 'send'), ('deep', True), ('size', None), ('what', 'x')]"

    assert run(tool, "flag", "--deep", "send", "x").out.strip() == values
    assert run(tool, "pipe", "--deep", "send", "x").document["result"] == values
    refused = run_at_terminal(tool, "pipe", "--size", "x")
    assert refused.code == 2 and "[--deep]" in refused.err
    described = run(tool, "pipe", "describe").document
    assert [flag["name"] for flag in described["flags"]] == ["size", "deep"]


# A parser that adds its options when it parses, as those of simple_parsing do.
FILLED_LATE = """
import argparse, sys
import murli

class Late(argparse.ArgumentParser):
    filled = False

    def _preprocessing(self, args=(), namespace=None):
        if not self.filled:
            early = argparse.ArgumentParser(add_help=False)
            early.add_argument("--kind", choices=["a", "b"], default="a")
            kind = early.parse_known_args(args)[0].kind
            self.add_argument("--kind", choices=["a", "b"], default="a", help="<__TEMP__>")
            if kind == "b":
                self.add_argument("--output", default="o")
            self.add_argument("--limit", type=int, default=0)
            self.filled = True

    def parse_known_args(self, args=None, namespace=None):
        self._preprocessing(sys.argv[1:] if args is None else args)
        return super().parse_known_args(args, namespace)

parser = Late(prog="late")
agents = sys.argv.pop(1)
if agents != "none":
    murli.enable(parser, agents=agents)
print(sorted(vars(parser.parse_args()).items()))
"""


def test_options_that_a_parser_adds_when_it_parses_are_its_own(tmp_path: Path) -> None:
    """An option that is only known when the tool parses is neither taken nor left undescribed."""
    tool = script(tmp_path, FILLED_LATE)
    words = ("--kind", "b", "--output", "q", "--limit", "3")

    plain = run(tool, "none", *words)
    assert plain.out == "[('kind', 'b'), ('limit', 3), ('output', 'q')]\n"
    assert run(tool, "flag", *words) == plain
    assert run(tool, "pipe", *words).document["result"] == plain.out.strip()
    flags = run(tool, "pipe", "--kind", "b", "--schema").document["flags"]
    assert [flag["name"] for flag in flags] == ["kind", "output", "limit"]
    assert "TEMP" not in str(flags)
    wrong = ("--kind", "z")
    assert run_at_terminal(tool, "pipe", *wrong) == run_at_terminal(tool, "none", *wrong)


def test_help_shows_no_default_of_flags_of_ours(tmp_path: Path) -> None:
    """A formatter that shows defaults finds none to show beside murli's own flags."""
    source = """
import argparse
import murli

formatter = argparse.ArgumentDefaultsHelpFormatter
parser = argparse.ArgumentParser(prog="shown", formatter_class=formatter)
parser.add_argument("--size", default=3, help="how many")
murli.enable(parser)
parser.parse_args()
"""
    shown = run(script(tmp_path, source), "--help", env=environment()).out

    assert "how many (default: 3)" in shown and "default: None" not in shown


# An option that finds the tool on the stack, as that of click-extra does.
FINDS_THE_TOOL = """
import inspect
import click

def package(frame):
    return frame.f_globals["__name__"].split(".")[0]

class VersionOption(click.Option):
    @staticmethod
    def cli_frame():
        known = ("click", "click_extra", "functools")
        frames = (each.frame for each in inspect.stack(0))
        return next(each for each in frames if package(each) not in known)

    def show(self, ctx, param, value):
        if value:
            print(self.cli_frame().f_globals["__version__"])
            ctx.exit()

    def __init__(self):
        super().__init__(["--version"], is_flag=True, callback=self.show, expose_value=False)
"""


@pytest.mark.parametrize("agents", ["pipe", "flag"])
def test_an_option_finds_the_tool_on_the_stack(tmp_path: Path, agents: str) -> None:
    """What looks for the module of the tool among the callers finds the tool's, not murli's."""
    (tmp_path / "click_extra.py").write_text(FINDS_THE_TOOL)
    source = f"""
import click_extra, click, murli
__version__ = "4.5.6"
tool = click.Command("tool", params=[click_extra.VersionOption()], callback=lambda: None)
murli.enable(tool, agents={agents!r})
tool()
"""
    assert run(script(tmp_path, source), "--version").out == "4.5.6\n"


LOADS_AND_GREETS = """
import argparse, atexit, sys
import click, murli

class Lazy(click.Group):
    def list_commands(self, ctx):
        return ["load"]

    def get_command(self, ctx, name):
        print("loading", file=sys.stderr)
        return click.Command("load", callback=lambda: print("loaded"))

if sys.argv.pop(1) == "click":
    tool = Lazy("tool")
else:
    tool = argparse.ArgumentParser()
murli.enable(tool, agents=sys.argv.pop(1))
print("Welcome!")
atexit.register(print, "Good-bye!")
tool() if isinstance(tool, Lazy) else tool.parse_args()
"""


@pytest.mark.parametrize("framework", ["click", "argparse"])
def test_what_is_printed_around_the_call_is_no_part_of_a_description(
    tmp_path: Path, framework: str
) -> None:
    """What a tool prints before it parses, and at exit, is not lost, and does not stand in JSON."""
    tool = script(tmp_path, LOADS_AND_GREETS)

    for words in ("pipe describe", "pipe --schema", "pipe doctor", "flag describe"):
        answer = run(tool, framework, *words.split())
        assert isinstance(answer.document, dict)
        assert "Welcome!\n" in answer.err and "Good-bye!\n" in answer.err
    assert run_at_terminal(tool, framework, "pipe", "describe").out.startswith("Welcome!\n{")


def test_describing_asks_a_group_once_for_each_command(tmp_path: Path) -> None:
    """A group that makes its commands when it is asked makes each one once to describe it."""
    described = run(script(tmp_path, LOADS_AND_GREETS), "click", "pipe", "describe")

    assert [command["name"] for command in described.document["commands"]] == ["load"]
    assert described.err.count("loading") == 1


def test_a_command_that_would_have_to_be_awaited_is_refused(tmp_path: Path) -> None:
    """`enable` refuses a tool of asyncclick, which would do nothing, and names `murli.program`."""
    source = """
import click, murli

class Async(click.Command):
    async def main(self, *args, **named):
        print("awaited")

murli.enable(Async("tool"))
"""
    refused = run_at_terminal(script(tmp_path, source))

    assert refused.code == 1
    assert "TypeError: __main__.Async has an async main()" in refused.err
    assert "murli.program()" in refused.err


@pytest.mark.parametrize("agents", ["flag", "detect"])
def test_a_pipe_of_people_shows_what_the_tool_prints(tmp_path: Path, agents: str) -> None:
    """Where a pipe is no agent's, an option that is only named like a secret is printed as ever."""
    source = f"""
import click, murli

@click.command()
@click.option("--token", default="tok-123456")
def tool(token):
    print(token)

murli.enable(tool, agents={agents!r})
tool()
"""
    argv = script(tmp_path, source)

    assert run(argv).out == run_at_terminal(argv).out == "tok-123456\n"
    assert run(argv, "--token", "hunter2hunter2").out == "hunter2hunter2\n"
    for words in (["--agent"], ["--agent", "--output", "text"]):
        assert "tok-123456" not in run(argv, *words).out
