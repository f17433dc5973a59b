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
from harness import environment, run, run_at_terminal, script

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
        ("return object()", 0, None, None),
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
    """Returned, printed, exited or raised: one document, and the same code for people."""
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
    assert shown.code == code
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
    for flag in flags.values():
        assert flag.pop("description") == ""
    assert flags == {
        "port": {"type": "int", "default": 3, "minimum": 1, "maximum": 10},
        "ratio": {"type": "float64", "default": None, "env": "RATIO", "minimum": 0},
        "color": {"type": "bool", "default": True, "negation": "no-color"},
        "verbose": {"type": "int", "default": 0, "short": "v", "minimum": 0},
        "point": {"type": "[]float64", "default": None},
        "password": {"type": "string", "default": "[REDACTED]", "sensitive": True},
        "when": {"type": "string", "default": None},
    }
    assert document["arguments"] == [
        {"name": "files", "type": "[]string", "required": False, "description": ""}
    ]
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
    argv = [sys.executable, str(Path(__file__).parent / "tools" / "tasks_click.py")]
    shallow = run(argv, "describe", "--depth", "1").document
    assert shallow["commands"][0] == {"name": "report", "summary": "Report on tasks"}
    deeper = run(argv, "describe", "--depth=2").document["commands"][-1]
    assert deeper["subcommands"][0] == {"name": "create", "summary": "Create a task"}
    alone = run(argv, "describe", "task", "create").document
    assert alone == run(argv, "task", "create", "--schema").document
    assert run(argv, "describe", "tsk").error["suggestion"].startswith("Did you mean task?")
    assert run(argv, "describe", "--depth", "0").error["field"] == "depth"
