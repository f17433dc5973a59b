"""What is the tool's own stays its own: options, words, exceptions, the way it is called."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness import environment, run, run_at_terminal, script

pytestmark = pytest.mark.warm

OPTIONS = ["--yes", "--dry-run", "--timeout=5", "--limit=3", "--output=a", "--profile=p", "--debug"]

BELOW_AN_ARGUMENT = {
    "click": """
import click, murli, os
@click.group()
@click.argument("table")
@click.argument("pair", nargs=2)
def tool(table, pair): pass
@tool.command()
@click.option("--yes", is_flag=True)
@click.option("--dry-run", is_flag=True)
@click.option("--timeout", default=0)
@click.option("--limit", default=0)
@click.option("--output", default="")
@click.option("--profile", default="")
@click.option("--debug", is_flag=True)
def delete(**named): print(sorted(named.items()))
@tool.command()
def plain(): print("plain")
if not os.environ.get("PLAIN"): murli.enable(tool)
tool()
""",
    "typer": """
import typer, murli, os
app = typer.Typer()
@app.callback()
def tool(table: str, pair: tuple[str, str]): pass
@app.command()
def delete(yes: bool = False, dry_run: bool = False, timeout: int = 0, limit: int = 0,
           output: str = "", profile: str = "", debug: bool = False):
    print(sorted(locals().items()))
@app.command()
def plain(): print("plain")
if not os.environ.get("PLAIN"): murli.enable(app)
app()
""",
}

# The group finds its commands by what was parsed for it, and counts how often it is asked.
BY_WHAT_WAS_PARSED = """
import click, murli, os, sys
class Tables(click.Group):
    def get_command(self, ctx, name):
        table = ctx.params["table"]
        print("looked up", file=sys.stderr)
        @click.command(name)
        @click.option("--yes", is_flag=True)
        @click.option("--limit", default=0)
        @click.option("--output", default="")
        def delete(**named): print(table, sorted(named.items()))
        @click.command(name)
        def plain(): print("plain")
        return plain if name == "plain" else delete
@click.group()
def tool(): pass
@tool.group(cls=Tables)
@click.option("--table", default="t")
def on(table): print("on", file=sys.stderr)
if not os.environ.get("PLAIN"): murli.enable(tool)
tool()
"""


@pytest.mark.parametrize("framework", BELOW_AN_ARGUMENT)
def test_options_below_a_group_with_arguments(tmp_path: Path, framework: str) -> None:
    """A command below a group with arguments has its options, on a pipe and at a terminal."""
    tool, words = script(tmp_path, BELOW_AN_ARGUMENT[framework]), ("x", "1", "2", "delete")
    plain = run(tool, *words, *OPTIONS, env=environment(PLAIN="1"))
    assert "('limit', 3)" in plain.out
    assert run(tool, *words, *OPTIONS).document["result"] == plain.out.rstrip("\n")
    assert run_at_terminal(tool, *words, *OPTIONS).stdout == plain.stdout
    # Behind the first argument of a group everything is a word, whatever it looks like.
    odd = run(tool, "describe", "--limit=9", "--yes", *words[3:], *OPTIONS)
    assert odd.document["result"] == plain.out.rstrip("\n")
    # Those it does not have are ours.
    assert run(tool, *words[:3], "plain", "--schema").document["name"] == "plain"
    assert run(tool, *words[:3], "plain", "--output", "text").out == "plain\n"


@pytest.mark.parametrize("contract", ["murli", "agent-spec-2"])
def test_options_of_a_command_that_only_a_parse_finds(tmp_path: Path, contract: str) -> None:
    """Where only the framework finds the command, it does so once, and the options are its own."""
    tool, words = script(tmp_path, BY_WHAT_WAS_PARSED), ("on", "--table=u", "delete")
    env = environment(MURLI_CONTRACT=contract)
    options = ("--yes", "--limit=3", "--output=a")
    plain = run(tool, *words, *options, env=environment(PLAIN="1"))
    done = run(tool, *words, *options, env=env)
    result = done.document["result" if contract == "murli" else "data"]
    assert (result if contract == "murli" else result["text"]) == plain.out.rstrip("\n")
    assert done.err.count("looked up") == plain.err.count("looked up") == 1
    assert run_at_terminal(tool, *words, *options).stdout == plain.stdout


BY_WHAT_RUNS = {
    "what a callback leaves": """
class Found(click.Group):
    def get_command(self, ctx, name): return delete if ctx.obj else None
@click.group()
@click.option("--app")
@click.pass_context
def tool(ctx, app): ctx.obj = app
@tool.group(cls=Found)
def on(): pass
""",
    "a default command": """
class Default(click.Group):
    def resolve_command(self, ctx, args):
        return super().resolve_command(ctx, args if args[0] in self.commands else ["it", *args])
@click.group(cls=Default, context_settings={"ignore_unknown_options": True})
def tool(): pass
tool.add_command(delete, "it")
""",
    "words that are added": """
class Default(click.Group):
    def parse_args(self, ctx, args):
        return super().parse_args(ctx, args if args[:1] == ["it"] else ["it", *args])
@click.group(cls=Default, context_settings={"ignore_unknown_options": True})
def tool(): pass
tool.add_command(delete, "it")
""",
    "words that are added to options": """
class Default(click.Group):
    def parse_args(self, ctx, args):
        return super().parse_args(ctx, args if args[:1] == ["it"] else ["it", *args])
@click.group(cls=Default)
def tool(): pass
tool.add_command(delete, "it")
""",
}
DELETE = """
import click, murli, os
@click.command()
@click.argument("word", required=False)
@click.option("--yes", is_flag=True)
@click.option("--limit", default=0)
@click.option("--schema", default="")
@click.option("--output", default="")
@click.option("--contract", default="")
def delete(**named): print(sorted(named.items()))
"""


def test_a_group_without_a_default_leaves_our_flags_to_us(tmp_path: Path) -> None:
    """A group that parses in a way of its own, and adds no name, may be asked for its --schema."""
    group = """
class Careful(click.Group):
    def parse_args(self, *args, **named):
        return super().parse_args(*args, **named)
@click.group(cls=Careful)
@click.option("--verbose", is_flag=True)
def tool(verbose): pass
@tool.command()
def ls(): print('[{"a": 1}, {"a": 2}]')
tool.add_command(delete)
murli.enable(tool, name="tool"); tool()
"""
    tool = script(tmp_path, DELETE + group)
    for words in (["--schema"], ["--verbose", "--schema"]):
        described = run(tool, *words).document
        assert (described["name"], described["flags"][0]["name"]) == ("tool", "verbose")
        assert [each["name"] for each in described["subcommands"]] == ["ls", "delete"]
    assert run(tool, "--limit", "1", "ls").document["result"] == [{"a": 1}]
    assert run(tool, "delete", "--limit", "1").document["result"].startswith("[('contract', '')")
    assert run(tool, "--nope").error["message"] == "Unknown option --nope."


@pytest.mark.parametrize("way", BY_WHAT_RUNS)
def test_options_of_a_command_that_only_a_run_finds(tmp_path: Path, way: str) -> None:
    """A command that a callback or a default finds has its own options, --schema too."""
    enabled = 'if not os.environ.get("PLAIN"): murli.enable(tool)\ntool()\n'
    tool = script(tmp_path, DELETE + BY_WHAT_RUNS[way] + enabled)
    options = ("--schema=s", "--limit=3", "--yes", "--output=json", "--contract=c")
    calls: list[tuple[str, ...]] = [("--app=x", "on", "delete", *options)]
    if "callback" not in way:  # then they may stand first
        calls = [("word", *options), (*options, "word"), ("--limit", "3"), ("--output", "json")]
    for words in calls:
        plain = run(tool, *words, env=environment(PLAIN="1"))
        assert plain.code == 0, plain
        assert run(tool, *words).document["result"] == plain.out.rstrip("\n")
        assert run_at_terminal(tool, *words).stdout == plain.stdout


def test_our_flags_before_a_command_that_is_named(tmp_path: Path) -> None:
    """Flags of ours before a command's name are ours, also where a group may add such names."""
    way = BY_WHAT_RUNS["words that are added to options"]
    tool = script(tmp_path, f"{DELETE}{way}murli.enable(tool)\ntool()\n")
    done = run(tool, "--output", "json", "it", "word")
    assert (done.code, "('output', '')" in done.document["result"]) == (0, True)


def test_our_flags_before_a_default_command_that_has_none(tmp_path: Path) -> None:
    """A flag of ours that another command has, but the default one has not, is ours at the root."""
    group = """
class Default(click.Group):
    def get_command(self, ctx, name):
        return super().get_command(ctx, name if name in self.commands else "it")
@click.group(cls=Default, context_settings={"ignore_unknown_options": True})
def tool(): pass
tool.add_command(delete, "delete")
@tool.command()
@click.argument("words", nargs=-1)
def it(words): print(words)
murli.enable(tool, name="tool"); tool()
"""
    tool = script(tmp_path, DELETE + group)
    described = run(tool, "--schema").document
    assert [each["name"] for each in (described, *described["subcommands"])] == [
        *("tool", "delete", "it")
    ]
    assert run(tool, "--output", "text", "it", "x").out == "('x',)\n"


def test_an_option_that_stands_too_late_is_not_suggested(tmp_path: Path) -> None:
    """An option that a group refuses behind its command is not the one that was meant instead."""
    tool = script(
        tmp_path,
        "import click, murli\n"
        "@click.group(context_settings={'allow_interspersed_args': True})\n"
        "@click.argument('x')\ndef tool(x): pass\n"
        "@tool.command()\n@click.option('--yes', is_flag=True)\ndef delete(yes): pass\n"
        "murli.enable(tool)\ntool()\n",
    )
    error = run(tool, "x", "delete", "--yes").error
    assert (error["message"], error.get("valid_values")) == ("Unknown option --yes.", None)


def test_our_flags_on_a_command_that_only_a_parse_finds(tmp_path: Path) -> None:
    """Flags of ours behind such a command work; those that are too late are said to be."""
    tool, plain = script(tmp_path, BY_WHAT_WAS_PARSED), ("on", "plain")
    schema = run(tool, *plain, "--schema")
    assert (schema.document["name"], "on\n" in schema.err) == ("plain", False)
    assert run(tool, *plain, "--output", "json", "--agent").document["result"] == "plain"
    assert run(tool, *plain, "--timeout", "x").error["field"] == "timeout"
    late = run(tool, *plain, "--output", "text")
    assert (late.code, late.error["message"]) == (
        1,
        '--output must stand before "plain" in this call.',
    )
    assert run(tool, "--output", "text", *plain).out == "plain\n"


NOISY = """
import click, murli
class Noisy(click.Group):
    def list_commands(self, ctx):
        print("listing")
        return ["go"]
    def get_command(self, ctx, name):
        print("loading")
        return click.Command(name, callback=lambda: print("ran"))
tool = Noisy("tool")
murli.enable(tool)
tool()
"""


def test_what_loading_prints_stands_beside_no_document(tmp_path: Path) -> None:
    """What a group prints while it is asked for its commands is part of no description."""
    tool = script(tmp_path, NOISY)
    assert run(tool, "describe").document["commands"][0]["name"] == "go"
    for words in (("go", "--schema"), ("--schema", "go")):
        done = run(tool, *words)
        assert (done.document["name"], "loading" in done.err) == ("go", True)
    assert run(tool, "go", "--output", "json").document["result"].endswith("loading\nran")


OWNED_ABOVE = {
    "click": """
import click, murli
@click.group()
@click.option("--output", default="")
def tool(output): pass
@tool.command()
def show(): print("shown")
@tool.command()
def profile(): print("own")
murli.enable(tool)
tool()
""",
    "argparse": """
import argparse, murli
p = argparse.ArgumentParser()
p.add_argument("--output")
commands = p.add_subparsers(dest="command")
commands.add_parser("show")
commands.add_parser("profile")
murli.enable(p)
print("shown" if p.parse_args().command == "show" else "own")
""",
}


@pytest.mark.parametrize("framework", OWNED_ABOVE)
def test_a_flag_of_a_level_above_is_not_ours_below(tmp_path: Path, framework: str) -> None:
    """A flag that the tool has further up, or a command of that name, is never ours below."""
    tool = script(tmp_path, OWNED_ABOVE[framework])
    for flag in ("--output", "--profile"):
        done = run(tool, "show", flag, "json")
        assert (done.code, done.error["error"]) == (1, "flag_error"), done
        assert flag in done.error["message"]
    assert run(tool, "show").document["result"] == "shown"
    assert run(tool, "profile").document["result"] == "own"


TAKES_A_FILE = {
    "click": "@click.command()\n@click.argument('file')\ndef tool(file): print('read', file)\n"
    "murli.enable(tool)\ntool()\n",
    "argparse": "p = argparse.ArgumentParser()\np.add_argument('file')\nmurli.enable(p)\n"
    "print('read', p.parse_args().file)\n",
}


@pytest.mark.parametrize("framework", TAKES_A_FILE)
def test_a_file_of_that_name_is_no_command_of_ours(tmp_path: Path, framework: str) -> None:
    """A tool that takes a file gets one that is called describe; without the file it is ours."""
    tool = script(tmp_path, f"import click, argparse, murli\n{TAKES_A_FILE[framework]}")
    assert run(tool, "describe", cwd=tmp_path).document["name"] == "tool"
    (tmp_path / "describe").touch()
    assert run(tool, "describe", cwd=tmp_path).document["result"] == "read describe"


AROUND = """
import sys, click, typer, murli
class Spent(Exception): pass
def body(what):
    print("working")
    if what == "spent": raise Spent("quota is spent")
    if what == "swallowed": raise KeyError("k")
    raise ValueError("odd")
{tool}
try:
    tool()
except Spent as error:
    print("sorry:", error)
    print("ask for more", file=sys.stderr)
    sys.exit(42)
except KeyError:
    print("never mind")
"""
HANDLED = {
    "click": "@click.command()\n@click.argument('what')\ndef tool(what): body(what)\n"
    "murli.enable(tool)",
    "own __call__": "class Own(click.Command):\n"
    "    def __call__(self, *args, **named): return super().__call__(*args, **named)\n"
    "@click.command(cls=Own)\n@click.argument('what')\ndef tool(what): body(what)\n"
    "murli.enable(tool)",
    "typer": "tool = typer.Typer()\n@tool.command()\ndef go(what: str): body(what)\n"
    "murli.enable(tool)",
    "not standalone": "@click.command()\n@click.argument('what')\ndef own(what): body(what)\n"
    "murli.enable(own)\ndef tool(): return own(standalone_mode=False)",
}


@pytest.mark.parametrize("form", HANDLED)
def test_exceptions_reach_the_handlers_of_the_tool(tmp_path: Path, form: str) -> None:
    """What the tool does about an exception around its call is the answer, on a pipe too."""
    tool = script(tmp_path, AROUND.format(tool=HANDLED[form]))
    done = run(tool, "spent")
    assert (done.out, done.code, done.error["code"]) == ("", 42, 42)
    assert done.error["message"] == "ask for more"
    assert done.error["result"] == "working\nsorry: quota is spent"
    swallowed = run(tool, "swallowed")
    assert (swallowed.code, swallowed.document["result"]) == (0, "working\nnever mind")
    nobodys = run(tool, "other")
    assert (nobodys.code, nobodys.error["message"]) == (2, "odd")
    assert nobodys.error["result"] == "working"


NOT_STANDALONE = """
import click, murli
@click.group()
def tool(): pass
@tool.command()
@click.option("--n", type=int)
def count(n):
    print("n", n)
    return n
murli.enable(tool)
print("returned", tool(standalone_mode=False))
"""


def test_a_call_that_is_not_standalone(tmp_path: Path) -> None:
    """A program that calls its tool with standalone_mode=False is answered for to its end."""
    tool = script(tmp_path, NOT_STANDALONE)
    assert run(tool, "count", "--n", "3").document["result"] == "n 3\nreturned 3"
    assert run(tool, "count", "--output", "text").out == "n None\nreturned None\n"
    wrong = run(tool, "count", "--n", "x")
    assert (wrong.code, wrong.error["error"], wrong.error["field"]) == (1, "flag_error", "n")
    assert run(tool, "count", "--schema").document["name"] == "count"
    assert run(tool, "count", "--help").out.startswith("Usage: tool.py count")
    assert run_at_terminal(tool, "count").out == "n None\nreturned None\n"


SHOWS_ITSELF = """
import sys, click, murli
@click.command()
@click.option("--n", type=int)
def tool(n):
    if n == 7: raise click.ClickException("not seven")
    print("n", n)
murli.enable(tool)
def main():
    try:
        tool(standalone_mode=False)
    except click.UsageError as error:
        error.show()
        return 0 if "on" in sys.argv else error.exit_code
    except click.ClickException as error:
        error.show()
        return 11
sys.exit(main())
"""


def test_a_usage_error_that_the_program_shows_itself(tmp_path: Path) -> None:
    """A usage error that a program handles is one, with the status that the program chooses."""
    tool = script(tmp_path, SHOWS_ITSELF)
    wrong = run(tool, "--n", "x")
    assert (wrong.code, wrong.error["code"]) == (2, 2)
    assert (wrong.error["error"], wrong.error["field"]) == ("flag_error", "n")
    assert run(tool, "--nope").error["message"] == "Unknown option --nope."
    own = run(tool, "--n", "7")
    assert (own.code, own.error["code"], own.error["error"]) == (11, 11, "execution_error")
    assert (run(tool, "on").code, run(tool, "on").document["status"]) == (0, "ok")
    assert run_at_terminal(tool, "--n", "x").code == 2


CAUGHT = """
import sys, click, typer, murli
def body(what):
    print("working")
    if what == "answers": murli.get_writer().write_success("", {{"n": 1}})
    if what == "exits": sys.exit(3)
    if what == "refuses": raise murli.AgentError.not_found("no such thing")
    if what == "fails": raise click.ClickException("no luck")
{tool}
try:
    tool()
except SystemExit as end:
    sys.exit(32 if end.code else 30)
"""


@pytest.mark.parametrize("form", ["click", pytest.param("typer", marks=pytest.mark.slow)])
def test_the_code_of_the_document_is_that_of_the_process(tmp_path: Path, form: str) -> None:
    """A program that catches the exit of its tool and ends with another status is believed."""
    tool = script(tmp_path, CAUGHT.format(tool=HANDLED[form]))
    for words, status, message in (
        (("exits",), 32, "The command ended with exit status 32."),
        (("refuses",), 32, "no such thing"),
        (("fails",), 32, "no luck"),
        (("fails", "--no-such"), 32, "Unknown option --no-such."),
        (("works",), 30, "The command ended with exit status 30."),
    ):
        done = run(tool, *words)
        assert (done.out, done.code, done.error["code"]) == ("", status, status), words
        assert done.error["message"] == message
    # What has been answered stands.
    done = run(tool, "answers")
    assert (done.code, done.document["result"]) == (0, {"n": 1})


FORWARDS = """
import click, murli
@click.group()
def tool(): pass
@tool.command(context_settings={"ignore_unknown_options": True})
@click.argument("words", nargs=-1)
def forward(words): print(*words)
murli.enable(tool)
tool()
"""


def test_a_format_for_another_program_is_passed_on(tmp_path: Path) -> None:
    """Behind a command that passes options on, --output is the other program's."""
    tool = script(tmp_path, FORWARDS)
    assert run(tool, "forward", "--output", "json").document["result"] == "--output json"
    assert run(tool, "--output", "text", "forward", "--output", "json").out == "--output json\n"


OTHER_ARGUMENTS = """
import click, murli, os, sys
class Own(click.Group):
    def main(self, argv=None, loud=False):
        if loud: print("loud")
        return super().main(args=argv, prog_name="own")
    def get_command(self, ctx, cmd_name, tries=1):
        return super().get_command(ctx, cmd_name)
    def resolve_command(self, ctx, args, tries=1):
        command = self.get_command(ctx, args[0], tries=tries + 1)
        if command is None: ctx.fail("nothing like " + args[0])
        return command.name, command, args[1:]
    def get_help(self, ctx, short=False):
        return "short" if short else super().get_help(ctx)
    def invoke(self, ctx, again=False):
        return super().invoke(ctx) if again else self.invoke(ctx, again=True)
@click.group(cls=Own)
def tool(): pass
@tool.command()
@click.option("--n", default=0)
@click.pass_context
def go(ctx, n): print(n, tool.get_help(ctx.parent, short=True))
if not os.environ.get("PLAIN"): murli.enable(tool)
if os.environ.get("LOUD"): tool.main(loud=True)
elif os.environ.get("LIST"): tool.main(sys.argv[1:], True)
else: tool()
"""


@pytest.mark.parametrize("way", ["", "LOUD", "LIST"])
def test_methods_with_arguments_of_their_own(tmp_path: Path, way: str) -> None:
    """Methods that a subclass calls with more than the framework does get all of it."""
    tool = script(tmp_path, OTHER_ARGUMENTS)
    chosen = {way: "1"} if way else {}
    plain = run(tool, "go", "--n=3", env=environment(PLAIN="1", **chosen))
    assert plain.out.endswith("3 short\n")
    done = run(tool, "go", "--n=3", "--timeout=9", env=environment(**chosen))
    assert plain.out.endswith(done.document["result"] + "\n")
    for words in (("go", "--n=3"), ("--help",), ("nope",), ("go", "--nope")):
        env = environment(PLAIN="1", **chosen)
        at_first, then = (
            run_at_terminal(tool, *words, env=each) for each in (env, environment(**chosen))
        )
        assert (then.stdout, then.stderr, then.code) == (
            at_first.stdout,
            at_first.stderr,
            at_first.code,
        )


BEHIND_A_WORD = {
    "argparse": """
import argparse, murli
tool = argparse.ArgumentParser()
tool.add_argument("db")
below = tool.add_subparsers(dest="command")
delete = below.add_parser("delete")
delete.add_argument("--limit", type=int)
delete.add_argument("--schema")
for number in range(90):
    below.add_parser(f"other{number}").add_argument("--option", help="text " * 40)
murli.enable(tool)
tool.parse_args()
""",
    "click": """
import click, murli
@click.group()
@click.argument("db")
def tool(db): pass
@tool.command()
@click.option("--limit", type=int)
@click.option("--schema")
def delete(**named): pass
for number in range(90):
    option = click.Option(["--option"], help="text " * 40)
    tool.add_command(click.Command(f"other{number}", params=[option]))
murli.enable(tool)
tool()
""",
}


@pytest.mark.parametrize("adapter", BEHIND_A_WORD)
def test_no_advice_calls_a_command(tmp_path: Path, adapter: str) -> None:
    """Where a word before a command is the tool's, nobody is told to describe it by its name."""
    tool = script(tmp_path, BEHIND_A_WORD[adapter], "store")
    advice = run(tool, "x.db", "delete", "--limit", "x").error["suggestion"]
    assert "`store describe`" in advice
    assert "--depth 1" in run(tool, "describe").document["hint"]
    for told in (run(tool, "describe").document["hint"], run(tool, "--help").out):
        assert "describe COMMAND" not in told
