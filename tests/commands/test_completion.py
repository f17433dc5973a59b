"""What a shell completes of a tool's profiles, and that it completes the rest as before."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness import TOOLS, Run, environment, lay_out, run, script

pytestmark = [pytest.mark.adapters("argparse", "click"), pytest.mark.warm]

# A call of typer takes longer than one of the others: its details are `make test-real`'s.
FRAMEWORKS = ("click", pytest.param("typer", marks=pytest.mark.slow), "argparse")
SHELLS = ("bash", "zsh", "fish")
VERBS = ["save", "use", "list", "show", "delete"]
NAMES = ["dev", "preview", "prod"]

# How a tool is started in these tests; with BARE it is what its author wrote before murli came.
START = """
import os, sys
sys.path.insert(0, {tools!r})
import murli
if "BARE" in os.environ:
    murli.enable = lambda *given, **named: None
"""

ON_ARGPARSE = """
import argparse, argcomplete
import deploy_core
parser = argparse.ArgumentParser(prog="deploy", description="Deploy things.")
if "EARLY" in os.environ:
    murli.enable(parser, tool_version="1.0")
parser.add_argument("--region", default="eu", choices=["eu", "us"], help="where")
parser.add_argument("--token", help="who asks")
commands = parser.add_subparsers(dest="command", required=True)
run = commands.add_parser("run", help="Deploy")
run.add_argument("--replicas", type=int, required=True, help="how many")
run.add_argument("--label", nargs="*", help="labels")
run.add_argument("--mode", choices=["fast", "safe"], default="safe", help="how")
leak = commands.add_parser("leak", help="Be careless")
leak.add_argument("how", choices=["print", "log"])
murli.annotate(parser, deploy_core.ROOT)
murli.annotate(run, deploy_core.RUN)
murli.enable(parser, tool_version="1.0")
argcomplete.autocomplete(parser)
print(vars(parser.parse_args()))
"""


@dataclass(frozen=True)
class Tool:
    """A program, and how the shells' scripts ask it for completions."""

    framework: str
    argv: list[str]
    home: Path

    def run(self, *words: str) -> Run:
        """Call the tool itself."""
        return run(self.argv, *words, env=environment(HOME=str(self.home)))

    def ask(self, line: str, shell: str = "bash", **changes: str | None) -> Run:
        """Give what the tool says to *shell* when the cursor is at the end of *line*."""
        env: dict[str, str | None] = {"HOME": str(self.home), **changes}
        words = line.split(" ")
        if self.framework == "argparse":
            return self._ask_argcomplete(line, shell, env)
        if self.framework == "click":
            env |= {"_DEPLOY_COMPLETE": f"{shell}_complete", "COMP_WORDS": line}
            env["COMP_CWORD"] = words[-1] if shell == "fish" else str(len(words) - 1)
        elif shell == "bash":
            env |= {"_DEPLOY_COMPLETE": "complete_bash", "COMP_WORDS": line}
            env["COMP_CWORD"] = str(len(words) - 1)
        else:
            env |= {"_DEPLOY_COMPLETE": f"complete_{shell}", "_TYPER_COMPLETE_ARGS": line}
            env["_TYPER_COMPLETE_FISH_ACTION"] = "get-args"
        return run(self.argv, env=environment(**env))

    def _ask_argcomplete(self, line: str, shell: str, env: dict[str, str | None]) -> Run:
        env |= {"_ARGCOMPLETE": "1", "_ARGCOMPLETE_SHELL": shell}
        env |= {"COMP_LINE": line, "COMP_POINT": str(len(line))}
        env |= {"_ARGCOMPLETE_IFS": "\n", "_ARGCOMPLETE_SUPPRESS_SPACE": "1"}
        env |= {"_ARGCOMPLETE_COMP_WORDBREAKS": "" if shell == "bash" else None}
        env |= {"_ARGCOMPLETE_DFS": "\t" if shell == "fish" else None}
        if shell != "zsh":
            # Answers come from 8; what is said on stdout and stderr is shown to the test as stderr.
            muted = ["bash", "-c", 'exec "$@" 8>&1 1>&2', "bash"]
            return run([*muted, *self.argv], env=environment(**env))
        answers = self.home / "answers"
        done = run(self.argv, env=environment(_ARGCOMPLETE_STDOUT_FILENAME=str(answers), **env))
        text = answers.read_bytes()
        answers.unlink()
        return Run(text, done.stdout + done.stderr, done.code)

    def words(self, line: str, shell: str = "bash", **changes: str | None) -> list[str]:
        """Give the words that are offered, and nothing must go wrong."""
        done = self.ask(line, shell, **changes)
        assert (done.err, done.code) == ("", 0)
        lines = done.out.splitlines()
        if self.framework == "click":
            lines = lines[1::3] if shell == "zsh" else [each.partition(",")[2] for each in lines]
        elif self.framework == "typer" and shell == "zsh":
            return re.findall(r'(?:^|\()"([^"]*)"', done.out, re.MULTILINE)
        elif shell == "zsh":
            lines = [each.partition(":")[0] for each in lines]
        return [word for each in lines if (word := each.partition("\t")[0])]


def program(framework: str, home: Path, source: str) -> Tool:
    """Write a program called ``deploy``."""
    path = home / "bin" / "deploy"
    lay_out(home, {"bin/deploy": START.format(tools=str(TOOLS)) + source})
    return Tool(framework, [sys.executable, str(path)], home)


def deploy(framework: str, home: Path) -> Tool:
    """Give the deployment tool, with nothing saved."""
    if framework == "argparse":
        return program(framework, home, ON_ARGPARSE)
    path = TOOLS / f"deploy_{framework}.py"
    return program(framework, home, f"exec(compile({path.read_text()!r}, {str(path)!r}, 'exec'))")


def save(tool: Tool, *names: str) -> Tool:
    """Save profiles under *names*."""
    for name in names:
        assert tool.run("profile", "save", name, "region=us").code == 0
    return tool


@pytest.fixture(scope="module", params=FRAMEWORKS)
def tool(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Tool:
    """The deployment tool with three profiles, for tests that only ask."""
    home = tmp_path_factory.mktemp(request.param)
    return save(deploy(request.param, home), "prod", "preview", "dev")


def moved(tool: Tool, home: Path) -> Tool:
    """Give a copy of *tool* that lives elsewhere, with its profiles."""
    shutil.copytree(tool.home, home)
    return Tool(tool.framework, [sys.executable, str(home / "bin" / "deploy")], home)


@pytest.mark.parametrize("shell", SHELLS)
def test_every_shell_is_answered(tool: Tool, shell: str) -> None:
    """The option, its values, the command, its verbs and their names reach every shell."""
    assert tool.words("deploy run --pro", shell) == ["--profile"]
    assert tool.words("deploy run --profile pr", shell) == ["preview", "prod"]
    assert tool.words("deploy pro", shell) == ["profile"]
    assert tool.words("deploy profile ", shell) == VERBS
    assert tool.words("deploy profile use ", shell) == NAMES
    # argcomplete completes the word, the others what is behind the equals sign.
    start = "--profile=" if tool.framework == "argparse" else ""
    joined = tool.words("deploy run --profile=pr", shell)
    assert joined == [f"{start}preview", f"{start}prod"]


def test_the_value_of_profile_is_completed(tool: Tool) -> None:
    """Behind --profile come the names that were saved, before a command and behind it."""
    for line in ("deploy --profile ", "deploy run --profile ", "deploy --region us --profile "):
        assert tool.words(line) == NAMES
    assert tool.words("deploy --profile x") == []


def test_profile_is_completed_itself(tool: Tool) -> None:
    """The option is offered on the commands whose flags a profile sets, and below them."""
    for line in ("deploy --pro", "deploy run --pro", "deploy leak --pro"):
        assert tool.words(line) == ["--profile"]


def test_the_profile_command_is_completed(tool: Tool) -> None:
    """The command is offered as the first word, then its verbs, then the names they take."""
    assert tool.words("deploy --region us pro") == ["profile"]
    assert tool.words("deploy run pro") == []
    assert tool.words("deploy --region us profile s") == ["save", "show"]
    for verb in ("set-default", "show", "delete"):
        assert tool.words(f"deploy profile {verb} ") == NAMES
    assert tool.words("deploy profile show --reveal pr") == ["preview", "prod"]
    assert tool.words("deploy profile show prod ") == []
    for verb in ("save", "set", "list", "nothing"):
        assert tool.words(f"deploy profile {verb} ") == []


def test_words_behind_a_profile_are_completed(tool: Tool) -> None:
    """What stands behind --profile NAME is completed as if that did not."""
    assert tool.words("deploy --profile prod run --re") == ["--replicas"]
    assert tool.words("deploy --profile=prod run --profile dev --mode ") == ["fast", "safe"]


def test_names_come_with_their_meaning(tool: Tool) -> None:
    """A shell that shows what words mean is told that of ours."""
    said = tool.ask("deploy profile u", "fish").out
    assert said.rstrip("\n").endswith("use\tApply a profile to every call")
    assert "Save flag values under a name" in tool.ask("deploy pro", "fish").out
    assert "Use the flag values saved" in tool.ask("deploy --pro", "zsh").out


def test_what_the_tool_completes_stays_the_same(tool: Tool) -> None:
    """Without our additions a tool's completions are byte for byte what they were."""
    lines = ("", "r", "--", "-- r", "--token x r", "--nonsense ru", "nonsense --mo", "leak ",
             "run -", "run --mode f", "run --mode fast --mode=s", "run --label ",
             "run --label a --help --mo")  # fmt: skip
    for line in lines:
        bare, enabled = both(tool, line)
        kept = re.sub(r"(?m)^(plain,)?(--)?profile\t.*\n|\n(--)?profile\t.*\Z", "", enabled.out)
        assert (kept, enabled.err, enabled.code) == (bare.out, bare.err, bare.code), line


def both(tool: Tool, line: str, shell: str = "fish") -> list[Run]:
    """Give what the tool says to a shell without murli, and with it."""
    # argcomplete names files in the order of a set.
    return [
        tool.ask(f"deploy {line}", shell, BARE=bare, PYTHONHASHSEED="0") for bare in ("1", None)
    ]


@pytest.mark.parametrize("trouble", ["missing", "no home", "corrupt", "folder", "pipe", "lax"])
def test_a_store_is_only_looked_at(tool: Tool, tmp_path: Path, trouble: str) -> None:
    """Whatever is wrong with the store, completing tells nobody and leaves it as it is."""
    tool = moved(tool, tmp_path / "home")
    store = tool.home / ".deploy" / "profiles.json"
    if trouble == "lax":
        store.chmod(0o644)
        store.parent.chmod(0o755)
    elif trouble == "missing":
        shutil.rmtree(store.parent)
    else:
        store.unlink()
    if trouble == "corrupt":
        store.write_text('{"profiles": {"prod": {')
    elif trouble == "folder":
        store.mkdir()
    elif trouble == "pipe":
        os.mkfifo(store)
    before = _snapshot(tool.home)
    home = None if trouble == "no home" else str(tool.home)
    names = NAMES if trouble == "lax" else []
    assert tool.words("deploy run --profile ", HOME=home) == names
    assert tool.words("deploy profile use ", HOME=home) == names
    assert tool.words("deploy run --profile x --re", HOME=home) == ["--replicas"]
    assert _snapshot(tool.home) == before


def _snapshot(folder: Path) -> list[object]:
    paths = [folder, *sorted(folder.rglob("*"))]
    states = [(path, path.lstat()) for path in paths if path.name not in ("__pycache__", "bin")]
    return [(str(path), state.st_mode, state.st_size, state.st_ino) for path, state in states]


def test_names_come_from_where_the_tool_keeps_them(tool: Tool, tmp_path: Path) -> None:
    """Completing looks where a call looks: the place one chose, and the one of earlier days."""
    tool = moved(tool, tmp_path / "home")
    elsewhere = lay_out(tool.home, {
        "else/p.json": json.dumps({"profiles": {"there": {"flags": {}}, "-bad": {}}}),
        "config/deploy/profiles.json": json.dumps({"profiles": {"older": {}}}),
    })  # fmt: skip
    chosen = str(elsewhere / "else/p.json")
    assert tool.words("deploy --profile ", MURLI_PROFILE_PATH=chosen) == ["there"]
    (tool.home / ".deploy" / "profiles.json").unlink()
    config = str(elsewhere / "config")
    assert tool.words("deploy --profile ", XDG_CONFIG_HOME=config) == ["older"]


def test_completing_calls_nothing(tool: Tool) -> None:
    """A command of ours that is being completed is not run."""
    for line in ("deploy profile delete prod --force ", "deploy describe ", "deploy run --schema "):
        assert tool.words(line) is not None
    assert tool.run("profile", "list").document["result"]["profiles"] == NAMES


@pytest.mark.fresh
def test_nothing_is_loaded_for_a_call(tool: Tool, tmp_path: Path) -> None:
    """What completes is on disk until a shell asks."""
    tool = moved(tool, tmp_path / "home")
    path = Path(tool.argv[-1])
    tell = "import atexit; atexit.register(lambda: print(*sys.modules, file=sys.stderr))\n"
    path.write_text(tell.replace("import", "import sys,", 1) + path.read_text())
    loaded = tool.run("run", "--replicas", "1", "--profile", "prod").err.split()
    assert "murli.adapters" in loaded
    assert not [name for name in loaded if name.startswith("murli") and "completion" in name]


# -- tools that have their own idea ------------------------------------------------------------

ON_CLICK = """
import click
save = murli.Metadata(flag_annotations={"size": murli.FlagAnnotation(profileable=True)})
""".lstrip()

OWN = {
    "click": ON_CLICK
    + """
names = lambda ctx, param, start: [n for n in ("mine", "more") if n.startswith(start)]
@click.group()
@click.option("--size")
def cli(size): pass
@cli.command()
@click.option("--profile", shell_complete=names)
def run(profile): pass
@cli.command()
@click.argument("profile", shell_complete=names)
@click.option("--seen", shell_complete=lambda ctx, param, start: sorted(ctx.params))
def named(profile, seen): pass
@cli.command(context_settings={"ignore_unknown_options": True})
@click.argument("words", nargs=-1, shell_complete=names)
def unknown(words): pass
@cli.command(context_settings={"allow_interspersed_args": False})
@click.argument("words", nargs=-1, shell_complete=names)
def behind(words): pass
murli.annotate(cli, save)
murli.enable(cli, name="deploy")
cli()
""",
    "typer": """
import typer
from typing import List
save = murli.Metadata(flag_annotations={"size": murli.FlagAnnotation(profileable=True)})
def names(incomplete: str):
    return [n for n in ("mine", "more") if n.startswith(incomplete)]
app = typer.Typer(name="deploy")
@app.callback()
def main(size: str = ""): pass
@app.command()
def run(profile: str = typer.Option("", autocompletion=names)): pass
@app.command()
def named(
    profile: str = typer.Argument(autocompletion=names),
    seen: str = typer.Option("", autocompletion=lambda ctx: sorted(ctx.params)),
): pass
@app.command(context_settings={"ignore_unknown_options": True})
def unknown(words: List[str] = typer.Argument(autocompletion=names)): pass
@app.command(context_settings={"allow_interspersed_args": False})
def behind(words: List[str] = typer.Argument(autocompletion=names)): pass
murli.annotate(app, save)
murli.enable(app, name="deploy")
app()
""",
    "argparse": """
import argparse, argcomplete
save = murli.Metadata(flag_annotations={"size": murli.FlagAnnotation(profileable=True)})
parser = argparse.ArgumentParser(prog="deploy")
parser.add_argument("--size")
commands = parser.add_subparsers()
commands.add_parser("run").add_argument("--profile", choices=["mine", "more"])
named = commands.add_parser("named")
named.add_argument("profile", choices=["mine", "more"])
named.add_argument("--seen").completer = lambda parsed_args, **asked: sorted(vars(parsed_args))
commands.add_parser("unknown").add_argument("--profile-name", choices=["mine", "more"])
behind = commands.add_parser("behind")
behind.add_argument("words", nargs="...", choices=["mine", "more"])
murli.annotate(parser, save)
murli.enable(parser)
argcomplete.autocomplete(parser)
parser.parse_args()
""",
}


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_an_option_of_the_tools_own_is_left_alone(framework: str, tmp_path: Path) -> None:
    """Where --profile is the command's, or goes to another program, it completes as before."""
    tool = save_size(program(framework, tmp_path, OWN[framework]))
    lines = ["run --profile ", "run --profile=m", "run --profi", "unknown --profile ",
             "behind words --profile ", "behind words --profile m"]  # fmt: skip
    for line in lines:
        bare, enabled = both(tool, line)
        assert enabled == bare, line
    assert "mine" in tool.words("deploy run --profile ")
    assert tool.words("deploy --profile ") == ["ours"]


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_an_argument_called_profile_is_completed(framework: str, tmp_path: Path) -> None:
    """An argument of that name keeps its completions, and --profile beside it has ours."""
    tool = save_size(program(framework, tmp_path, OWN[framework]))
    assert {"mine", "more"} <= set(tool.words("deploy named "))
    assert tool.words("deploy named --profile ") == ["ours"]
    assert {"mine", "more"} <= set(tool.words("deploy named --profile ours m"))
    # A completer of the tool's sees the values it always saw.
    bare, enabled = both(tool, "named --seen ")
    assert "profile" in bare.out
    assert enabled == bare


def save_size(tool: Tool) -> Tool:
    """Save a profile with the name that is ours in these tests."""
    assert tool.run("profile", "save", "ours", "size=1").code == 0
    return tool


OWN_COMMAND = {
    "click": ON_CLICK
    + """
@click.group()
@click.option("--size")
def cli(size): pass
@cli.group()
def profile(): pass
@profile.command()
def use_theirs(): pass
murli.annotate(cli, save)
murli.enable(cli, name="deploy")
cli()
""",
    "typer": """
import typer
save = murli.Metadata(flag_annotations={"size": murli.FlagAnnotation(profileable=True)})
app, profile = typer.Typer(), typer.Typer()
@app.callback()
def main(size: str = ""): pass
app.add_typer(profile, name="profile")
@profile.command()
def use_theirs(): pass
@profile.command()
def another(): pass
murli.annotate(app, save)
murli.enable(app, name="deploy")
app()
""",
    "argparse": """
import argparse, argcomplete
save = murli.Metadata(flag_annotations={"size": murli.FlagAnnotation(profileable=True)})
parser = argparse.ArgumentParser(prog="deploy")
parser.add_argument("--size")
below = parser.add_subparsers().add_parser("profile").add_subparsers()
below.add_parser("use-theirs")
murli.annotate(parser, save)
murli.enable(parser)
argcomplete.autocomplete(parser)
parser.parse_args()
""",
}


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_a_command_of_the_tools_own_is_left_alone(framework: str, tmp_path: Path) -> None:
    """A tool that has a profile command completes as it did, in everything."""
    tool = program(framework, tmp_path, OWN_COMMAND[framework])
    for line in ("", "pro", "--", "--profile ", "profile ", "profile use", "profile use-theirs --"):
        bare, enabled = both(tool, line)
        assert enabled == bare, line
    assert "use-theirs" in tool.words("deploy profile ")


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_who_saves_nothing_is_offered_nothing(framework: str, tmp_path: Path) -> None:
    """A tool without flags to save, or without our commands, completes as it did."""
    source = OWN[framework].replace("profileable=True", "env='SIZE'")
    without_flags = program(framework, tmp_path / "flags", source)
    source = re.sub(r"murli.enable\((\w+)", r"murli.enable(\1, mount=False", OWN[framework])
    without_mount = program(framework, tmp_path / "mount", source)
    for tool in (without_flags, without_mount):
        for line in ("", "pro", "--", "named --pro"):
            bare, enabled = both(tool, line)
            assert enabled == bare, line


ONE_COMMAND = {
    "click": ON_CLICK
    + """
@click.command()
@click.option("--size")
def cli(**given): pass
if "ARGUMENT" in os.environ:
    click.argument("what", type=click.Choice(["profit", "loss"]))(cli)
murli.annotate(cli, save)
murli.enable(cli, name="deploy")
cli()
""",
    "typer": """
import typer
save = murli.Metadata(flag_annotations={"size": murli.FlagAnnotation(profileable=True)})
app = typer.Typer()
names = lambda: ["profit", "loss"]
if "ARGUMENT" in os.environ:
    @app.command()
    def main(what: str = typer.Argument(autocompletion=names), size: str = ""): pass
else:
    @app.command()
    def main(size: str = ""): pass
murli.annotate(main, save)
murli.enable(app, name="deploy")
app()
""",
    "argparse": """
import argparse, argcomplete
save = murli.Metadata(flag_annotations={"size": murli.FlagAnnotation(profileable=True)})
parser = argparse.ArgumentParser(prog="deploy")
parser.add_argument("--size")
if "ARGUMENT" in os.environ:
    parser.add_argument("what", choices=["profit", "loss"])
murli.annotate(parser, save)
murli.enable(parser)
argcomplete.autocomplete(parser)
parser.parse_args()
""",
}


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_a_tool_of_one_command_has_profiles(framework: str, tmp_path: Path) -> None:
    """A tool without commands completes profile and --profile as well."""
    tool = save_size(program(framework, tmp_path, ONE_COMMAND[framework]))
    assert tool.words("deploy pro") == ["profile"]
    for argument in (None, "1"):
        assert tool.words("deploy profile ", ARGUMENT=argument) == VERBS
        assert tool.words("deploy profile use ", ARGUMENT=argument) == ["ours"]
        assert tool.words("deploy --profile ", ARGUMENT=argument) == ["ours"]
        assert tool.words("deploy --pro", ARGUMENT=argument) == ["--profile"]
    assert "profit" in tool.words("deploy pro", ARGUMENT="1")


# -- what only one of them has -----------------------------------------------------------------


@pytest.mark.parametrize("early", [None, "1"])
def test_a_parser_may_be_enabled_before_it_is_defined(early: str | None, tmp_path: Path) -> None:
    """Argcomplete finds ours in subparsers whether they were added before enable or after."""
    tool = save(deploy("argparse", tmp_path), "prod")
    assert tool.words("deploy run --profile ", EARLY=early) == ["prod"]
    assert tool.words("deploy run --pro", EARLY=early) == ["--profile"]
    assert tool.words("deploy pro", EARLY=early) == ["profile"]


def test_a_parser_without_argcomplete_is_called_as_ever(tmp_path: Path) -> None:
    """A tool that another one calls while it completes answers as it always does."""
    source = ON_ARGPARSE.replace("argcomplete.autocomplete(parser)", "")
    source = source.replace("parse_args()", "parse_known_args(sys.argv[1:])")
    tool = program("argparse", tmp_path, source)
    env = environment(HOME=str(tmp_path), _ARGCOMPLETE="1", COMP_LINE="other ", COMP_POINT="6")
    assert run(tool.argv, "describe", env=env).document["name"] == "deploy"


def test_an_abbreviation_still_completes(tmp_path: Path) -> None:
    """An option the parser takes in short does not become ambiguous because of ours."""
    source = ON_ARGPARSE.replace('"--mode"', '"--prospect"').replace("mode=", "prospect=")
    tool = program("argparse", tmp_path, source)
    for line in ("deploy run --pro ", "deploy run --pro f", "deploy run --pro fast --repl"):
        assert tool.words(line) == tool.words(line, BARE="1") != []


def test_a_chain_has_profile_only_in_front(tmp_path: Path) -> None:
    """In a chain of commands ours is offered where it is ours: as the first word."""
    source = (
        ON_CLICK
        + """
@click.group(chain=True)
@click.option("--size")
def cli(size): pass
@cli.command()
def one(): pass
@cli.command()
def two(): pass
murli.annotate(cli, save)
murli.enable(cli, name="deploy")
cli()
"""
    )
    tool = save_size(program("click", tmp_path, source))
    assert tool.words("deploy ") == ["one", "two", "profile"]
    assert tool.words("deploy one ") == tool.words("deploy one ", BARE="1")
    assert tool.words("deploy one two --profile ") == ["ours"]


def test_commands_are_left_as_they_were(tmp_path: Path) -> None:
    """Once a completion is answered, nothing of it is left in the commands."""
    source = (
        ON_CLICK
        + """
@click.group()
@click.option("--size")
def cli(size): pass
@cli.command()
def run(): pass
murli.annotate(cli, save)
murli.enable(cli, name="deploy")
HOOKED = {"get_params", "shell_complete"}
before = [set(each.__dict__) & HOOKED for each in (cli, run)]
try:
    cli()
except SystemExit:
    if "_DEPLOY_COMPLETE" in os.environ:
        assert [set(each.__dict__) & HOOKED for each in (cli, run)] == before
"""
    )
    tool = save_size(program("click", tmp_path, source))
    assert tool.words("deploy run --profile ") == ["ours"]
    assert tool.words("deploy ") == ["run", "profile"]


def test_a_run_that_looks_like_a_completion_is_a_run(tmp_path: Path) -> None:
    """A variable that the framework does not look at changes nothing about a call."""
    tool = program("click", tmp_path, OWN["click"].replace('name="deploy"', 'name="other"'))
    for words in (["profile", "list"], ["named", "x", "--profile", "y"]):
        asked, plain = (
            run(tool.argv, *words, env=environment(_OTHER_COMPLETE=value))
            for value in ("bash_complete", None)
        )
        assert asked == plain
        assert asked.out + asked.err


SHOWING = """
import typer, murli
app = typer.Typer()
@app.command()
def go(): pass
@app.command()
def stop(): pass
murli.enable(app, name="show")
app()
"""


@pytest.mark.parametrize("contract", ["murli", "response", "agent-spec-1.6", "agent-spec-2"])
def test_the_script_for_a_shell_is_no_document(tmp_path: Path, contract: str) -> None:
    """Typer's --show-completion prints the script on a pipe, --install-completion its own words."""
    argv = script(tmp_path, SHOWING, "show")
    env = environment(
        MURLI_CONTRACT=contract,
        HOME=str(tmp_path),
        _TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1",
    )
    done = run(argv, "--show-completion", "bash", env=env)
    assert (done.code, done.err) == (0, "")
    assert "complete -o default -F _show_completion show" in done.out
    assert not done.out.startswith("{")
    done = run(argv, "--install-completion", "bash", env=env)
    assert (done.code, "Completion will take effect" in done.out) == (0, True)
