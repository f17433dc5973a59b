"""The typer adapter: one line enables an app, whichever click typer brings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

import murli
from harness import run, run_at_terminal, script

pytestmark = pytest.mark.warm

QUICKSTART = """
import typer
import murli

app = typer.Typer()
murli.enable(app)

@app.command()
def query(ctx: typer.Context, text: str):
    writer = murli.get_writer(ctx)
    writer.log("searching...")
    results = [{"path": "/docs/woodworking", "score": 0.95}]
    writer.write_success("Found 1 result", results)

if __name__ == "__main__":
    app()
"""

HEAD = "import typer, sys\nimport murli\napp = typer.Typer()\n"


def program(tmp_path: Path, *lines: str) -> list[str]:
    return script(tmp_path, HEAD + "\n".join(lines) + "\n")


@pytest.mark.parametrize("words", [["query", "woodworking"], ["woodworking"]])
def test_the_typer_quickstart(tmp_path: Path, words: list[str]) -> None:
    """The published quickstart answers in both call forms, with and without the name."""
    argv = script(tmp_path, QUICKSTART, "mytool.py")
    assert run(argv, *words).document["result"] == [{"path": "/docs/woodworking", "score": 0.95}]
    assert run_at_terminal(argv, *words).out == "Found 1 result\n"


def test_a_word_that_is_the_name_may_still_be_an_argument(tmp_path: Path) -> None:
    """In a tool of one command its name alone is the argument that is required."""
    argv = program(
        tmp_path,
        "@app.command()",
        "def query(text: str): print(text)",
        "murli.enable(app); app()",
    )
    assert run(argv, "query").document["result"] == "query"
    assert run(argv, "query", "query").document["result"] == "query"


def test_enable_before_or_after_and_twice() -> None:
    """An app is the same tool, enabled before or after its commands, once or twice."""
    described = []
    for order in ("before", "after", "twice"):
        app = typer.Typer(help="Do things.")
        sub = typer.Typer(help="More things.")
        if order != "after":
            murli.enable(app, name="t")
        app.command("x", help="Do x")(_take_number)
        sub.command("y", help="Do y")(_take_number)
        app.add_typer(sub, name="sub")
        if order != "before":
            murli.enable(app, name="other" if order == "twice" else "t")
        described.append(CliRunner().invoke(app, ["describe"]).stdout)
    assert described[0] == described[1] == described[2]
    names = [command["name"] for command in json.loads(described[0])["commands"]]
    assert names == ["x", "sub"]


def _take_number(n: int = 1) -> None:
    pass


@pytest.mark.parametrize(
    ("body", "code", "result", "error"),
    [
        ("typer.echo('printed')", 0, "printed", None),
        ("return {'a': [1]}", 0, {"a": [1]}, None),
        ("raise typer.Exit(3)", 3, None, "execution_error"),
        ("raise typer.Exit()", 0, None, None),
        ("sys.exit(4)", 4, None, "execution_error"),
        ("raise typer.Abort()", 9, None, "cancelled"),
        ("raise KeyboardInterrupt", 9, None, "cancelled"),
        ("raise typer.BadParameter('bad')", 1, None, "flag_error"),
        ("raise ValueError('bad')", 2, None, "execution_error"),
        ("raise murli.AgentError.conflict('bad')", 7, None, "conflict"),
    ],
)
def test_every_way_a_handler_ends(
    tmp_path: Path, body: str, code: int, result: Any, error: str | None
) -> None:
    """However a typer handler ends: one document; people get typer's statuses."""
    argv = program(
        tmp_path,
        "murli.enable(app)",
        "@app.callback()",
        "def root(): pass",
        "@app.command()",
        f"def go():\n    {body}",
        "app()",
    )
    done = run(argv, "go")
    assert done.code == code
    if error is None:
        assert done.document["result"] == result
    else:
        assert (done.out, done.error["error"], done.error["code"]) == ("", error, code)
    own = {"cancelled": -2 if "Interrupt" in body else 1, "flag_error": 2}
    assert run_at_terminal(argv, "go").code == own.get(error or "", code)


def test_async_handlers(tmp_path: Path) -> None:
    """An async handler is run to its end."""
    argv = program(
        tmp_path,
        "@app.command()",
        "async def go(n: int = 1):",
        "    import asyncio",
        "    await asyncio.sleep(0)",
        "    return {'n': n}",
        "murli.enable(app); app()",
    )
    assert run(argv, "--n", "2").document["result"] == {"n": 2}


def test_the_test_runner_and_the_object() -> None:
    """Typer's own runner sees the document; ctx.obj is the author's."""
    app = typer.Typer()
    seen: list[Any] = []

    @app.callback()
    def root(ctx: typer.Context) -> None:
        ctx.obj = {"mine": True}

    @app.command()
    def go(ctx: typer.Context, n: int) -> None:
        seen.append(ctx.obj)
        typer.echo(f"went {n}")

    murli.enable(app)
    result = CliRunner().invoke(app, ["go", "3", "--agent"])
    assert (result.exit_code, json.loads(result.stdout)["result"]) == (0, "went 3")
    result = CliRunner().invoke(app, ["go", "x"])
    assert (result.exit_code, json.loads(result.stderr)["field"]) == (1, "n")
    assert seen == [{"mine": True}]


def test_annotations_on_functions_apps_and_sub_apps() -> None:
    """What is declared on a function, an app or a sub-app stands where it belongs."""
    app, sub = typer.Typer(), typer.Typer()

    @sub.command()
    def wipe() -> None:
        pass

    @sub.command()
    def look() -> None:
        pass

    app.add_typer(sub, name="disk")
    murli.annotate(wipe, murli.Metadata(mutating=True))
    murli.annotate(sub, murli.Metadata(agent_description="Works with disks."))
    murli.annotate(app, murli.Metadata(when_to_use="Use with care."))
    murli.enable(app, name="t")
    described = json.loads(CliRunner().invoke(app, ["describe"]).stdout)
    disk = described["commands"][0]
    assert disk["agent_description"] == "Works with disks."
    safety = [command["safety"].get("read_only") for command in disk["subcommands"]]
    assert safety == [False, None]
    root = json.loads(CliRunner().invoke(app, ["--schema"]).stdout)
    assert root["when_to_use"] == "Use with care."
    assert CliRunner().invoke(app, ["disk", "wipe"]).exit_code == 1
    assert CliRunner().invoke(app, ["disk", "wipe", "--force"]).exit_code == 0


def test_an_app_of_one_command_takes_the_apps_annotation() -> None:
    """What is declared on an app of one command guards that command."""
    app = typer.Typer()

    @app.command()
    def wipe() -> None:
        typer.echo("wiped")

    murli.annotate(app, murli.Metadata(mutating=True))
    murli.enable(app)
    assert CliRunner().invoke(app, []).exit_code == 1
    assert json.loads(CliRunner().invoke(app, ["--yes"]).stdout)["result"] == "wiped"


def test_help_for_people_is_unchanged(tmp_path: Path) -> None:
    """At a terminal an unannotated app's help is byte for byte what it was."""
    lines = [
        "@app.callback()",
        "def root(n: int = 3): 'Do things.'",
        "@app.command()",
        "def x(y: str, z: bool = False): 'Do x.'; typer.echo(y)",
    ]
    for words in (["--help"], ["x", "--help"], ["x", "q"]):
        before = run_at_terminal(program(tmp_path, *lines, "app()"), *words)
        after = run_at_terminal(program(tmp_path, *lines, "murli.enable(app); app()"), *words)
        assert (after.out, after.err, after.code) == (before.out, before.err, before.code), words
        assert before.out


def test_typer_still_shows_its_completion(tmp_path: Path) -> None:
    """The options typer adds for completion work, and are not listed in schemas."""
    argv = program(tmp_path, "@app.command()", "def go(): pass", "murli.enable(app); app()")
    assert "completion" in run_at_terminal(argv, "--help").out
    assert "flags" not in run(argv, "--schema").document


@pytest.mark.parametrize(
    "lines",
    [
        [
            "from typer.core import TyperGroup",
            "class G(TyperGroup): pass",
            "@app.callback(cls=G)",
            "def root(): pass",
            "@app.command()",
            "def delete(): print('DELETED')",
        ],
        [
            "other = typer.Typer()",
            "@other.command()",
            "def delete(): print('DELETED')",
            "app.registered_commands += other.registered_commands",
        ],
    ],
    ids=["callback-class", "merged-commands"],
)
@pytest.mark.parametrize("first", [True, False])
def test_no_way_to_build_an_app_escapes(tmp_path: Path, lines: list[str], first: bool) -> None:
    """However an app is put together, its commands are guarded and answered for."""
    enable = ["murli.enable(app)"]
    argv = program(
        tmp_path,
        *(enable if first else []),
        *lines,
        *([] if first else enable),
        "murli.annotate(delete, murli.Metadata(mutating=True))",
        "app()",
    )
    assert run(argv, "delete").error["error"] == "confirmation_required"
    assert run(argv, "delete", "--yes").document["result"] == "DELETED"
