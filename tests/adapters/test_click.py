"""The click adapter: whatever an author does with a command still works."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

import murli
from harness import environment, run, run_at_terminal, script, tool

pytestmark = pytest.mark.warm

QUICKSTART = """
import click
import murli

@click.group()
def cli(): pass

murli.enable(cli)  # adds --agent, --schema, --force, --dry-run, --output, --profile
                   # mounts describe, doctor, profile subcommands

@cli.command()
@click.argument("text")
@murli.pass_writer
def query(writer, text):
    writer.log("searching...")
    results = [{"path": "/docs/woodworking", "score": 0.95}]
    writer.write_success("Found 1 result", results)

if __name__ == "__main__":
    cli()
"""

HEAD = "import asyncio, click, json, os, sys\nimport murli\n"


def program(tmp_path: Path, *lines: str) -> list[str]:
    return script(tmp_path, HEAD + "\n".join(lines) + "\n")


def test_the_click_quickstart(tmp_path: Path) -> None:
    """The published quickstart answers an agent and a person."""
    argv = script(tmp_path, QUICKSTART, "mytool.py")
    done = run(argv, "query", "woodworking")
    assert done.document["result"] == [{"path": "/docs/woodworking", "score": 0.95}]
    assert done.logs[0]["msg"] == "searching..."
    assert run_at_terminal(argv, "query", "woodworking").out == "Found 1 result\n"
    assert run(argv, "describe").document["name"] == "mytool"


def test_enable_before_or_after_and_twice() -> None:
    """Enable gives the same tool before or after the commands, once or twice."""
    described = []
    for order in ("before", "after", "twice"):
        group = click.Group("t", help="Do things.")
        if order != "after":
            murli.enable(group, name="t")
        group.command("x", help="Do x")(click.option("--n", type=int)(lambda n: None))
        if order != "before":
            murli.enable(group, name="other" if order == "twice" else "t")
        described.append(CliRunner().invoke(group, ["describe"]).stdout)
    assert described[0] == described[1] == described[2]
    assert json.loads(described[0])["commands"][0]["flags"][0]["name"] == "n"


def test_a_single_command_is_a_tool(tmp_path: Path) -> None:
    """A plain command as root runs, describes itself and refuses a bad flag."""
    argv = program(
        tmp_path,
        "@click.command()",
        "@click.argument('text')",
        "def cli(text): click.echo(text)",
        "murli.enable(cli, name='t'); cli()",
    )
    assert run(argv, "hello").document["result"] == "hello"
    assert run(argv, "describe").document["arguments"][0]["name"] == "text"
    assert run(argv, "--", "describe").document["result"] == "describe"
    assert run(argv, "x", "--bad").error["error"] == "flag_error"


@pytest.mark.parametrize(
    ("body", "code", "result", "error"),
    [
        ("click.echo('printed')", 0, "printed", None),
        ("return {'a': [1]}", 0, {"a": [1]}, None),
        ("print('shown'); return {'a': 1}", 0, {"a": 1}, None),
        ("print('shown'); return 0", 0, "shown", None),
        ("print('shown'); return object()", 0, "shown", None),
        ("os.system('echo child')", 0, "child", None),
        ("ctx.exit(3)", 3, None, "execution_error"),
        ("sys.exit(4)", 4, None, "execution_error"),
        ("ctx.exit(0)", 0, None, None),
        ("raise click.exceptions.Exit(5)", 5, None, "execution_error"),
        ("raise click.Abort", 9, None, "cancelled"),
        ("raise KeyboardInterrupt", 9, None, "cancelled"),
        ("raise click.ClickException('bad')", 1, None, "execution_error"),
        ("raise click.UsageError('bad')", 1, None, "flag_error"),
        ("raise ValueError('bad')", 2, None, "execution_error"),
        ("raise FileNotFoundError(2, 'No', 'x')", 5, None, "not_found"),
        ("raise murli.AgentError.conflict('bad')", 7, None, "conflict"),
    ],
)
def test_every_way_a_handler_ends(
    tmp_path: Path, body: str, code: int, result: Any, error: str | None
) -> None:
    """Returned, printed, exited or raised: one document; people get the framework's statuses."""
    argv = program(
        tmp_path,
        "@click.group()",
        "def cli(): pass",
        "murli.enable(cli)",
        "@cli.command()",
        "@click.pass_context",
        f"def go(ctx):\n    {body}",
        "cli()",
    )
    done = run(argv, "go")
    assert done.code == code
    if error is None:
        assert done.document["result"] == result
    else:
        assert (done.out, done.error["error"], done.error["code"]) == ("", error, code)
    shown = run_at_terminal(argv, "go")
    own = {"cancelled": -2 if "Interrupt" in body else 1, "flag_error": 2}
    assert shown.code == own.get(error or "", code)
    assert "Traceback" not in shown.err


def test_people_are_shown_what_is_only_returned(tmp_path: Path) -> None:
    """A returned value is shown to people unless the handler has printed; a number never is."""
    argv = program(
        tmp_path,
        "@click.command()",
        "@click.argument('what')",
        "def cli(what):",
        "    if what == 'rows': return [{'id': 1, 'title': 'Saw'}, {'id': 22, 'title': 'Plane'}]",
        "    if what == 'both': print('shown'); return {'a': 1}",
        "    if what == 'text': return 'just text'",
        "    return 3",
        "murli.enable(cli); cli()",
    )
    rows = run_at_terminal(argv, "rows").out
    assert "Saw" in rows
    assert "22" in rows
    assert "{" not in rows
    assert run_at_terminal(argv, "both").out == "shown\n"
    assert run_at_terminal(argv, "text").out == "just text\n"
    assert run_at_terminal(argv, "number").out == ""
    plain = run(argv, "rows", "--output", "text").out.splitlines()
    assert [line.split() for line in plain][-1] == ["22", "Plane"]


def test_async_handlers(tmp_path: Path) -> None:
    """Async functions of commands and groups are run to their end, in their context."""
    argv = program(
        tmp_path,
        "@click.group()",
        "async def cli(): await asyncio.sleep(0); print('group', flush=True)",
        "murli.enable(cli)",
        "@cli.command()",
        "async def go():",
        "    await asyncio.sleep(0)",
        "    return {'at': click.get_current_context().info_name}",
        "cli()",
    )
    done = run(argv, "go")
    assert (done.document["result"], done.err) == ({"at": "go"}, "group\n")


def test_the_object_is_the_authors() -> None:
    """ctx.obj holds what the author put there, and nothing else."""
    seen: list[Any] = []
    group = click.Group("t")

    @group.command()
    @click.pass_context
    def go(ctx: click.Context) -> None:
        seen.append(ctx.obj)

    murli.enable(group)
    assert CliRunner().invoke(group, ["go", "--agent"], obj="mine").exit_code == 0
    assert CliRunner().invoke(group, ["go"]).exit_code == 0
    assert seen == ["mine", None]


def test_the_test_runner() -> None:
    """Click's own runner sees the document, the exit code and the streams."""
    group = click.Group("t")

    @group.command()
    @click.argument("n", type=int)
    def go(n: int) -> None:
        click.echo(f"went {n}")

    murli.enable(group)
    result = CliRunner().invoke(group, ["go", "3"])
    assert (result.exit_code, json.loads(result.stdout)["result"]) == (0, "went 3")
    result = CliRunner().invoke(group, ["go", "x"])
    assert (result.exit_code, json.loads(result.stderr)["field"]) == (1, "n")
    result = CliRunner().invoke(group, ["go", "3", "--output", "text"])
    assert result.stdout == "went 3\n"


def test_non_standalone_mode_raises_and_returns() -> None:
    """Called as a function, a command returns its value, and exceptions stay exceptions."""
    group = click.Group("t")

    @group.command()
    @click.option("--n", type=int)
    def go(n: int) -> int:
        return n + 1

    murli.annotate(go, murli.Metadata(mutating=True))
    murli.enable(group)
    assert group.main(["go", "--n", "1", "--yes"], standalone_mode=False) == 2
    with pytest.raises(click.UsageError):
        group.main(["go", "--n", "x"], standalone_mode=False)
    with pytest.raises(murli.AgentError, match="confirmation"):
        group.main(["go", "--n", "1"], standalone_mode=False)


def test_chained_commands(tmp_path: Path) -> None:
    """A chain runs each command, takes our flags anywhere, and answers once."""
    argv = program(
        tmp_path,
        "@click.group(chain=True)",
        "def cli(): pass",
        "@cli.command()",
        "@click.option('--n', type=int)",
        "def one(n): click.echo(f'one {n}')",
        "@cli.command()",
        "@click.option('--output')",
        "def two(output): click.echo(f'two {output}')",
        "murli.annotate(two, murli.Metadata(mutating=True)); murli.enable(cli); cli()",
    )
    done = run(argv, "one", "--n", "1", "--yes", "two", "--output", "json")
    assert done.document["result"] == "one 1\ntwo json"
    refused = run(argv, "one", "two").error
    assert (refused["error"], refused["result"]) == ("confirmation_required", "one None")


def test_lazy_groups_stay_lazy(tmp_path: Path) -> None:
    """A plain call loads the one command it calls; describe loads all; unknown loads none."""
    argv = program(
        tmp_path,
        "class Lazy(click.Group):",
        "    def list_commands(self, ctx): return ['a', 'b']",
        "    def get_command(self, ctx, name):",
        "        if name not in ('a', 'b'): return None",
        "        open('loaded', 'a').write(name)",
        "        return click.Command(name, callback=lambda: click.echo(name), help='Do ' + name)",
        "cli = Lazy('cli'); murli.enable(cli); cli()",
    )
    loaded = tmp_path / "loaded"
    assert run(argv, "a", cwd=tmp_path).document["result"] == "a"
    assert loaded.read_text() == "a"
    loaded.unlink()
    assert run(argv, "c", cwd=tmp_path).error["valid_values"] == ["a", "b"]
    assert not loaded.exists()
    names = [c["name"] for c in run(argv, "describe", cwd=tmp_path).document["commands"]]
    assert names == ["a", "b"]


def test_shell_completion_still_works(tmp_path: Path) -> None:
    """Completion scripts and completions come out as before."""
    lines = [
        "@click.group()",
        "def cli(): pass",
        "@cli.command()",
        "def build(): pass",
        "cli(prog_name='t')",
    ]
    plain = program(tmp_path, *lines)
    env = environment(_T_COMPLETE="bash_complete", COMP_WORDS="t bu", COMP_CWORD="1")
    before = run(plain, env=env)
    argv = program(tmp_path, *lines[:-1], "murli.enable(cli)", lines[-1])
    after = run(argv, env=env)
    assert "build" in before.out
    assert (after.out, after.code) == (before.out, before.code)


def test_help_for_people_is_unchanged(tmp_path: Path) -> None:
    """At a terminal an unannotated tool's help and version are byte for byte what they were."""
    lines = [
        "@click.group(epilog='The end.')",
        "@click.version_option('1.2')",
        "@click.option('--n', type=int, help='number')",
        "def cli(n): 'Do things.'",
        "@cli.command()",
        "@click.argument('y')",
        "def x(y): 'Do x.'; click.echo(y)",
    ]
    for words in (["--help"], ["x", "--help"], ["--version"], ["x", "z"]):
        before = run_at_terminal(program(tmp_path, *lines, "cli()"), *words)
        after = run_at_terminal(program(tmp_path, *lines, "murli.enable(cli); cli()"), *words)
        assert (after.out, after.err, after.code) == (before.out, before.err, before.code), words
        assert before.out


def test_facts_about_parameters() -> None:
    """Types, ranges, two-name switches, counts, environment, secrets and defaults are told."""
    group = click.Group("t")

    @group.command(deprecated=True, help="Old.")
    @click.option("--port", type=click.IntRange(1, 10), default=3)
    @click.option("--ratio", type=click.FloatRange(min=0), envvar="RATIO")
    @click.option("--color/--no-color", default=True)
    @click.option("-v", "--verbose", count=True)
    @click.option("--point", nargs=2, type=float)
    @click.option("--password", prompt=True, hide_input=True, default="hunter2")
    @click.option("--when", type=click.DateTime(), default=lambda: "now")
    @click.option("--secret-plan", hidden=True)
    @click.argument("files", nargs=-1, type=click.Path())
    def go(**given: Any) -> dict[str, int]:
        return {}

    murli.enable(group, name="t")
    document = json.loads(CliRunner().invoke(group, ["go", "--schema"]).stdout)
    flags = {flag.pop("name"): flag for flag in document["flags"]}
    assert flags == {
        "port": {"type": "int", "default": 3, "minimum": 1, "maximum": 10},
        "ratio": {"type": "float64", "env": "RATIO", "minimum": 0},
        "color": {"type": "bool", "default": True, "negation": "no-color"},
        "verbose": {"type": "int", "default": 0, "short": "v", "values": 0},
        "point": {"type": "[]float64", "values": 2},
        "password": {"type": "string", "default": "[REDACTED]", "sensitive": True},
        "when": {"type": "string"},
    }
    assert document["arguments"] == [{"name": "files", "type": "[]string"}]
    assert document["deprecated"] is True
    assert document["returns"]["output_schema"]["type"] == "object"


def test_annotated_facts_are_kept() -> None:
    """Enum, pattern, exclusion and environment of an annotation are enforced."""
    group = click.Group("t")

    @group.command()
    @click.option("--size")
    @click.option("--tag", multiple=True)
    @click.option("--all", "everything", is_flag=True)
    def go(size: str, tag: tuple[str, ...], everything: bool) -> dict[str, Any]:
        return {"size": size, "tag": tag}

    murli.annotate(
        go,
        murli.Metadata(
            flag_annotations={
                "size": murli.FlagAnnotation(enum=["s", "l"], env="T_SIZE"),
                "tag": murli.FlagAnnotation(pattern="^[a-z]+$", mutually_exclusive_with=["all"]),
            }
        ),
    )
    murli.enable(group)

    def call(*words: str, **env: str) -> Any:
        result = CliRunner().invoke(group, ["go", *words], env=env)
        return json.loads(result.stdout or result.stderr)

    assert call("--size", "m")["valid_values"] == ["s", "l"]
    assert call(T_SIZE="m")["field"] == "size"
    assert call(T_SIZE="s")["result"]["size"] == "s"
    assert call("--size", "l", T_SIZE="s")["result"]["size"] == "l"
    assert call("--tag", "a", "--tag", "B")["message"] == (
        'Invalid value "B" for --tag: must match ^[a-z]+$.'
    )
    assert call("--tag", "a", "--all")["message"] == "Options --tag and --all cannot be combined."


def test_a_console_script(tmp_path: Path) -> None:
    """An entry point that calls the command is agent-native, with its package's version."""
    package = tmp_path / "mypkg"
    package.mkdir()
    (package / "__init__.py").write_text("__version__ = '9.8.7'\n")
    (package / "cli.py").write_text(
        "import click, murli\n"
        "@click.group()\ndef cli(): pass\n"
        "murli.enable(cli)\n"
        "@cli.command()\ndef go(): click.echo('went')\n"
    )
    argv = script(tmp_path, "import sys\nfrom mypkg.cli import cli\nsys.exit(cli())\n", "mytool")
    done = run(argv, "go", env=environment(PYTHONPATH=str(tmp_path)))
    assert (done.document["result"], done.document["tool_version"]) == ("went", "9.8.7")
    described = run(argv, "describe", env=environment(PYTHONPATH=str(tmp_path))).document
    assert described["name"] == "mytool"


def test_describe_stays_small(tmp_path: Path) -> None:
    """--depth names what it does not spell out, and a command's own part can be had alone."""
    argv = tool("tasks_click")
    shallow = run(argv, "describe", "--depth", "1").document
    assert shallow["commands"][0] == {"name": "report", "summary": "Report on tasks"}
    deeper = run(argv, "describe", "--depth=2").document["commands"][-1]
    created = {"name": "create", "path": "task create", "summary": "Create a task"}
    assert deeper["subcommands"][0] == created
    alone = run(argv, "describe", "task", "create").document
    assert alone == run(argv, "task", "create", "--schema").document
    assert run(argv, "describe", "tsk").error["suggestion"].startswith("Did you mean task?")
    assert run(argv, "describe", "--depth", "0").error["field"] == "depth"


# -- found by attacking the adapter ------------------------------------------------------------


def test_a_call_inside_a_call(tmp_path: Path) -> None:
    """A command that calls its own tool keeps its own ending, writer and guard."""
    argv = program(
        tmp_path,
        "@click.group()",
        "def cli(): pass",
        "@cli.command()",
        "@click.pass_context",
        "def inner(ctx): ctx.exit(3)",
        "@cli.command()",
        "def outer():",
        "    code = cli.main(['inner'], standalone_mode=False)",
        "    murli.get_writer().write_success('done', code)",
        "murli.enable(cli); cli()",
    )
    done = run(argv, "outer")
    assert (done.code, done.document["result"], done.err) == (0, 3, "")


@pytest.mark.parametrize(
    ("line", "code", "out"),
    [("os.execvp('echo', ['echo', 'after'])", 0, "before\nafter\n"), ("os._exit(3)", 3, "")],
)
def test_abrupt_endings_lose_nothing(tmp_path: Path, line: str, code: int, out: str) -> None:
    """Exec and os._exit in a handler lose neither text nor status."""
    argv = program(
        tmp_path,
        "@click.command()",
        f"def cli(): print('before', flush=True); {line}",
        "murli.enable(cli); cli()",
    )
    done = run(argv)
    assert (done.code, done.out) == (code, out)
    if code:
        assert (done.error["code"], done.error["result"]) == (code, "before")


def test_exit_texts_reach_people(tmp_path: Path) -> None:
    """sys.exit("text") shows its text at a terminal, and is the message for agents."""
    argv = program(
        tmp_path,
        "@click.command()",
        "def cli(): sys.exit('fatal: no config')",
        "murli.enable(cli); cli()",
    )
    shown = run_at_terminal(argv)
    assert (shown.err, shown.code) == ("fatal: no config\n", 1)
    assert run(argv).error["message"] == "fatal: no config"


@pytest.mark.parametrize(
    "signature",
    [
        "def main(self, *args, **kw): return super().main(*args, standalone_mode=False, **kw)",
        "def main(self, args=None, **kw): return super().main(args, **kw)",
    ],
)
def test_an_authors_main_is_kept(tmp_path: Path, signature: str) -> None:
    """A group class with a main of its own works, whatever that takes."""
    argv = program(
        tmp_path,
        f"class G(click.Group):\n    {signature}",
        "@click.group(cls=G)",
        "def cli(): pass",
        "@cli.command()",
        "def go(): click.echo('went')",
        "murli.enable(cli); cli()",
    )
    assert run(argv, "go").document["result"] == "went"
    assert run_at_terminal(argv, "go").out == "went\n"
    assert run(argv, "go", "--bad").error["error"] == "flag_error"


def test_help_and_version_are_text(tmp_path: Path) -> None:
    """--help and --version are text on a pipe too, whatever they are called."""
    argv = program(
        tmp_path,
        "@click.group(context_settings={'help_option_names': ['-h', '--hilfe']})",
        "@click.version_option('3.1', '--ver', prog_name='t')",
        "def cli(): 'Do things.'",
        "@cli.command()",
        "def go(): 'Go.'",
        "murli.enable(cli); cli()",
    )
    assert run(argv, "--hilfe").out.startswith("Usage:")
    assert run(argv, "go", "-h").out.startswith("Usage:")
    assert run(argv, "--ver").out == "t, version 3.1\n"
    assert "flags" not in run(argv, "--schema").document


def test_a_bare_call(tmp_path: Path) -> None:
    """Called bare, a group shows people its help as before, and tells agents what is missing."""
    lines = [
        "@click.group()",
        "def cli(): 'Do things.'",
        "@cli.command(no_args_is_help=True)",
        "@click.argument('x')",
        "def go(x): 'Go.'",
    ]
    for words in ([], ["go"]):
        before = run_at_terminal(program(tmp_path, *lines, "cli()"), *words)
        argv = program(tmp_path, *lines, "murli.enable(cli); cli()")
        after = run_at_terminal(argv, *words)
        assert (after.out, after.err, after.code) == (before.out, before.err, before.code)
        assert run(argv, *words).error["error"] == "command_error"


def test_streams_a_tool_keeps_stay_open(tmp_path: Path) -> None:
    """A log handler that keeps sys.stdout works until the very end, at a terminal too."""
    argv = program(
        tmp_path,
        "import atexit, logging",
        "@click.command()",
        "def cli():",
        "    logging.basicConfig(stream=sys.stdout, level='INFO', format='%(message)s')",
        "    logging.info('during')",
        "atexit.register(lambda: logging.info('at the end'))",
        "murli.enable(cli); cli()",
    )
    shown = run_at_terminal(argv)
    assert (shown.out, shown.err) == ("during\nat the end\n", "")
    done = run(argv)
    assert (done.document["result"], done.err) == ("during", "at the end\n")


def test_broken_commands_do_not_hide_the_others(tmp_path: Path) -> None:
    """A plugin that cannot be loaded, or a group inside itself, is described around."""
    argv = program(
        tmp_path,
        "class Plugins(click.Group):",
        "    def list_commands(self, ctx): return ['good', 'broken', 'again']",
        "    def get_command(self, ctx, name):",
        "        if name == 'broken': raise ImportError('no module')",
        "        if name == 'again': return self",
        "        return click.Command(name, callback=lambda: click.echo('ok'))",
        "cli = Plugins('cli'); murli.enable(cli); cli()",
    )
    commands = run(argv, "describe").document["commands"]
    assert [command["name"] for command in commands] == ["good", "broken"]
    assert commands[1]["summary"] == "Cannot be loaded: no module"
    assert run(argv, "broken", "--agent").error["message"] == "no module"
    assert run(argv, "good", "--agent").document["result"] == "ok"


@pytest.mark.parametrize(
    ("words", "result"),
    [
        (["commit", "-m", "--force"], "--force"),
        (["COMMIT", "-m", "x", "--OUTPUT", "f.txt"], "x f.txt"),
        (["run", "kubectl", "--output", "json", "--agent"], "kubectl --output json --agent"),
    ],
)
def test_values_and_words_stay_the_tools(tmp_path: Path, words: list[str], result: str) -> None:
    """Values with dashes, other spellings and forwarded words are the tool's."""
    argv = program(
        tmp_path,
        "@click.group(context_settings={'token_normalize_func': str.lower})",
        "def cli(): pass",
        "@cli.command()",
        "@click.option('-m')",
        "@click.option('--output')",
        "def commit(m, output): click.echo(' '.join(filter(None, (m, output))))",
        "@cli.command(context_settings={'ignore_unknown_options': True})",
        "@click.argument('words', nargs=-1, type=click.UNPROCESSED)",
        "def run(words): click.echo(' '.join(words))",
        "murli.enable(cli); cli()",
    )
    assert run(argv, *words).document["result"] == result


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--a", "go"], "--a requires --b"),
        (["go", "--n", "x"], "config file is bad"),
        (["short"], "Missing required option -n."),
        (["short", "-n", "x"], 'Invalid value "x" for -n: expected an integer.'),
    ],
)
def test_a_tools_own_words_are_kept(tmp_path: Path, words: list[str], message: str) -> None:
    """What the tool itself objects to is told in its words; names are the ones callers use."""
    argv = program(
        tmp_path,
        "def refuse(ctx, param, value):",
        "    if value: raise click.UsageError('config file is bad')",
        "@click.group()",
        "@click.option('--a', is_flag=True)",
        "@click.pass_context",
        "def cli(ctx, a):",
        "    if a: ctx.fail('--a requires --b')",
        "@cli.command()",
        "@click.option('--n', callback=refuse)",
        "def go(n): pass",
        "@cli.command()",
        "@click.option('-n', type=int, required=True)",
        "def short(n): pass",
        "murli.enable(cli); cli()",
    )
    assert run(argv, *words).error["message"] == message


def test_shared_commands_do_not_pile_up_hooks() -> None:
    """A command of two enabled tools can be called alternately for ever."""
    shared = click.Command("go", callback=lambda: click.echo("went"))
    groups = [click.Group("a", commands=[shared]), click.Group("b", commands=[shared])]
    for group in groups:
        murli.enable(group)
    for _ in range(300):
        for group in groups:
            assert CliRunner().invoke(group, ["go"]).exit_code == 0


def test_a_failed_call_leaves_no_trace() -> None:
    """After a refusal in non-standalone mode the command is callable as before."""
    group = click.Group("t")

    @group.command()
    def go() -> int:
        return 7

    murli.annotate(go, murli.Metadata(mutating=True))
    murli.enable(group)
    with pytest.raises(murli.AgentError):
        group.main(["go", "--output", "bad"], standalone_mode=False)
    assert go.main([], standalone_mode=False) == 7


def test_binary_output_under_the_test_runner() -> None:
    """Bytes written in a test are collected like text."""

    @click.command()
    def go() -> None:
        click.echo(b"raw")
        sys.stdout.buffer.write(b"er\n")

    murli.enable(go)
    assert json.loads(CliRunner().invoke(go, []).stdout)["result"] == "raw\ner"


def test_a_group_that_finds_commands_its_own_way(tmp_path: Path) -> None:
    """A group that invokes what get_command gives is guarded all the same."""
    argv = program(
        tmp_path,
        "class G(click.Group):",
        "    def invoke(self, ctx):",
        "        words = [*ctx._protected_args, *ctx.args] if hasattr(ctx, '_protected_args')"
        " else [*ctx.protected_args, *ctx.args]",
        "        command = self.get_command(ctx, words[0])",
        "        with command.make_context(words[0], words[1:], parent=ctx) as sub:",
        "            return command.invoke(sub)",
        "@click.group(cls=G)",
        "def cli(): pass",
        "@cli.command()",
        "def delete(): click.echo('DELETED')",
        "murli.annotate(delete, murli.Metadata(mutating=True)); murli.enable(cli); cli()",
    )
    assert run(argv, "delete").error["error"] == "confirmation_required"
    assert run(argv, "delete", "--yes").document["result"] == "DELETED"
