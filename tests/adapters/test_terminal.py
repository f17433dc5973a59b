"""A person's terminal with and without murli: what differs is what the documentation names."""

from __future__ import annotations

import os
import pty
import re
import select
import sys
import time
from pathlib import Path

import pytest

from harness import DEADLINE, Run, environment, run, run_at_terminal, script
from murli.formats.screen import split

pytestmark = pytest.mark.warm

HEAD = """
import atexit, os, sys, time, murli
class Boom(Exception): pass
PLAIN = "PLAIN" in os.environ
"""
TAIL = """
atexit.register(print, "at exit")
if "CATCH" in os.environ:
    try:
        main()
    except Boom as error:
        print("handled", error)
        sys.exit(42)
main()
"""
CLICK = f"""{HEAD}
import click
@click.group()
@click.version_option("1.0")
def cli(): "A tool."
@cli.command()
@click.option("--count", type=int, default=1)
def hello(count): "Greet."; click.secho("Hello " * count, fg="green")
@cli.command()
def boom(): "Fail."; raise Boom("no luck")
@cli.command()
def known(): "Fail, known."; raise FileNotFoundError(2, "No such file", "/nope")
@cli.command()
def broken(): "Fail as click does."; raise click.ClickException("broken")
@cli.command()
def ask(): "Ask."; click.confirm("Sure?", abort=True); click.echo("done")
@cli.command()
def slow(): "Wait."; click.echo("begun"); time.sleep(60)
@cli.command()
def bar():
    "Work."
    with click.progressbar(range(2), label="Work") as items: list(items)
    click.echo("done")
@cli.command()
def status(): "Exit."; sys.exit(7)
if not PLAIN: murli.enable(cli, **eval(os.environ.get("CHOICES", "{{}}")))
main = cli
{TAIL}"""
TYPER = f"""{HEAD}
import typer
app = typer.Typer(help="A tool.")
@app.callback()
def root(): pass
@app.command()
def hello(count: int = 1): typer.secho("Hello " * count, fg="green")
@app.command()
def boom(): raise Boom("no luck")
@app.command()
def known(): raise FileNotFoundError(2, "No such file", "/nope")
@app.command()
def broken(): raise typer.Exit(3)
@app.command()
def ask(): typer.confirm("Sure?", abort=True); typer.echo("done")
@app.command()
def slow(): typer.echo("begun"); time.sleep(60)
@app.command()
def bar():
    from rich.progress import track
    list(track(range(1)))
    typer.echo("done")
@app.command()
def status(): sys.exit(7)
if not PLAIN: murli.enable(app, **eval(os.environ.get("CHOICES", "{{}}")))
main = app
{TAIL}"""
ARGPARSE = f"""{HEAD}
import argparse
parser = argparse.ArgumentParser(description="A tool.")
commands = parser.add_subparsers(dest="command", required=True)
commands.add_parser("hello").add_argument("--count", type=int, default=1)
for name in ("boom", "known", "broken", "ask", "slow", "bar", "status"):
    commands.add_parser(name)
if not PLAIN: murli.enable(parser, **eval(os.environ.get("CHOICES", "{{}}")))
def main():
    args = parser.parse_args()
    if args.command == "hello": print("Hello " * args.count)
    if args.command == "boom": raise Boom("no luck")
    if args.command == "known": raise FileNotFoundError(2, "No such file", "/nope")
    if args.command == "broken": parser.error("broken")
    if args.command == "ask": print("yes" if input("Sure? ") == "y" else "no")
    if args.command == "slow": print("begun", flush=True); time.sleep(60)
    if args.command == "bar": print("\\r50%", end="", flush=True); print("\\r100%\\ndone")
    if args.command == "status": sys.exit(7)
    sys.exit(0)
{TAIL}"""
SOURCES = {"argparse": ARGPARSE, "click": CLICK, "typer": TYPER}
# What is the same to the last byte, and with which keys typed.
SAME = [
    (["--help"], b""),
    (["hello", "--help"], b""),
    ([], b""),
    (["hello", "2"], b""),
    (["hello", "--count", "2"], b""),
    (["hello", "--count", "two"], b""),
    (["hello"], b""),
    (["xyzzy"], b""),
    (["broken"], b""),
    (["ask"], b"n\n"),
    (["ask"], b"y\n"),
    (["ask"], b"\x04"),
    (["bar"], b""),
    (["status"], b""),
]


@pytest.fixture(params=SOURCES)
def tool(tmp_path: Path, request: pytest.FixtureRequest) -> list[str]:
    return script(tmp_path, SOURCES[request.param])


def both(tool: list[str], *words: str, keys: bytes = b"", **env: str | None) -> tuple[Run, Run]:
    """Return how a call went without murli, and with it."""
    plain = run_at_terminal(tool, *words, keys=keys, env=environment(PLAIN="1", **env))
    return plain, run_at_terminal(tool, *words, keys=keys, env=environment(**env))


@pytest.mark.adapters("argparse", "click")
def test_what_stays(tool: list[str]) -> None:
    """Help, usage errors, aborts, prompts, progress and statuses are the framework's own."""
    for words, keys in SAME:
        plain, enabled = both(tool, *words, keys=keys)
        if words == ["ask"] and keys == b"\x04" and "Traceback" in plain.err:
            continue  # an uncaught EOFError, of which the next test tells
        ours = "\nProfiles:" if "--help" in words or not words else "\0"
        assert enabled.out.partition(ours)[0].rstrip() == plain.out.rstrip(), words
        assert (enabled.err, enabled.code) == (plain.err, plain.code), words


def test_a_hint_is_one_more_line(tool: list[str]) -> None:
    """A mistyped name gets the nearest one, once, also where the framework suggests none."""
    for words in (["helo"], ["hello", "--coutn", "2"]):
        plain, enabled = both(tool, *words)
        assert (enabled.out, enabled.code) == (plain.out, 2)
        assert enabled.err.startswith(plain.err)
        added = enabled.err.removeprefix(plain.err)
        assert "hello" in enabled.err
        suggests = any(word in plain.err for word in ("Did you mean", "Possible options"))
        assert added.count("\n") == (not suggests)
        if added:
            assert added in ("Hint:  Did you mean hello?\n", "Hint:  Did you mean --count?\n")


def test_an_author_chooses_the_status_of_usage_errors(tool: list[str]) -> None:
    """usage_exit_code is the status of a usage error for people too."""
    done = run_at_terminal(tool, "xyzzy", env=environment(CHOICES="{'usage_exit_code': 64}"))
    assert done.code == 64


def test_an_exception_nobody_handles(tool: list[str]) -> None:
    """An uncaught exception is one line and a file, with the contract's code; --debug shows it."""
    done = run_at_terminal(tool, "boom")
    assert (done.out, done.code) == ("at exit\n", 2)
    line, hint = done.err.splitlines()
    assert line == "Error: no luck"
    assert "Traceback" in Path(hint.split(" is in ")[1].partition(";")[0]).read_text()
    shown = run_at_terminal(tool, "boom", "--debug")
    assert "Traceback (most recent call last)" in shown.err
    assert (shown.err.splitlines()[-1], shown.code) == ("Error: no luck", 2)
    known = run_at_terminal(tool, "known")
    assert known.code == run(tool, "known").code == 5
    _, hint = known.err.splitlines()
    assert "Traceback" in Path(hint.split(" is in ")[1].partition(";")[0]).read_text()


def test_exceptions_reach_the_handlers_of_the_tool(tool: list[str]) -> None:
    """What the tool handles around its own call is handled there, with the tool's own status."""
    plain, enabled = both(tool, "boom", CATCH="1")
    assert (enabled.out, enabled.err, enabled.code) == (plain.out, plain.err, plain.code)
    assert (enabled.out, enabled.code) == ("handled no luck\nat exit\n", 42)


def test_a_hint_names_no_flag_of_another(tmp_path: Path) -> None:
    """A tool with a --debug of its own is told of the variable that shows the traceback."""
    source = (
        "import click, murli\n"
        "@click.command()\n@click.option('--debug', is_flag=True)\n"
        "def cli(debug): raise KeyError(debug)\n"
        "murli.enable(cli)\ncli()\n"
    )
    argv = script(tmp_path, source)
    done = run_at_terminal(argv, "--debug")
    assert "Error: True" in done.err
    assert done.err.endswith("; MURLI_DEBUG=1 shows it.\n")
    assert "Traceback" in run_at_terminal(argv, env=environment(MURLI_DEBUG="1")).err


def test_prompts_of_click_in_other_tools(tmp_path: Path) -> None:
    """A question of click's that nobody answers is an abort in an argparse tool too."""
    source = (
        "import argparse, click, murli\n"
        "parser = argparse.ArgumentParser()\nmurli.enable(parser)\nparser.parse_args()\n"
        "click.confirm('Sure?', abort=True)\n"
    )
    for keys in (b"n\n", b"\x04"):
        done = run_at_terminal(script(tmp_path, source), keys=keys)
        assert (done.err.splitlines()[-1].removeprefix("Sure? [y/N]: "), done.code) == (
            "Aborted!",
            1,
        )


def test_a_later_exception_is_not_ours(tmp_path: Path) -> None:
    """What is raised behind a handled exception of a call is shown as Python shows it."""
    source = CLICK.partition("atexit.register")[0] + (
        "try:\n    cli()\nexcept Boom:\n    raise KeyError('later') from None\n"
    )
    done = run_at_terminal(script(tmp_path, source), "boom")
    assert done.code == 1
    assert done.err.endswith("KeyError: 'later'\n")


def test_a_hook_of_the_tool_shows_a_crash(tmp_path: Path) -> None:
    """An excepthook that the author has set learns of a crash, once."""
    source = CLICK.replace("main = cli", "main = cli\nsys.excepthook = lambda *e: print('mine')")
    done = run_at_terminal(script(tmp_path, source), "boom")
    assert (done.out, done.err, done.code) == ("mine\nat exit\n", "", 2)


def in_a_loop(argv: list[str], env: dict[str, str]) -> str:
    """Run *argv* three times in a shell at a terminal; press Ctrl-C in the first run.

    Returns what is shown, and with which status that shell ends. Another one outlives it: what is
    on its way to a terminal may be lost when that hangs up.
    """
    line = f"for i in 1 2 3; do {' '.join(argv)} slow; echo next $?; done"
    pid, screen = pty.fork()
    if pid == 0:
        outer = 'trap : INT; bash --norc -c "$0"; echo ended $?; read'
        os.execvpe("bash", ["bash", "--norc", "-c", outer, line], env)
    shown, pressed, deadline = b"", False, time.monotonic() + DEADLINE
    while time.monotonic() < deadline:
        if not select.select([screen], [], [], 0.1)[0]:
            continue
        try:
            part = os.read(screen, 4096)
        except OSError:  # the other side of the terminal is closed
            break
        shown += part
        if b"begun" in shown and not pressed:
            pressed = True
            os.write(screen, b"\x03")
        if b"next" in shown or re.search(rb"ended \d+\r\n", shown):
            break
    os.close(screen)  # hangs up, which ends whatever is still running there
    os.waitpid(pid, 0)
    return shown.decode()


def test_ctrl_c_ends_a_loop(tool: list[str]) -> None:
    """Ctrl-C ends the process by SIGINT after its cleanup, so that a shell loop ends as well."""
    shown = in_a_loop(tool, environment())
    assert "next" not in shown
    assert "ended 130" in shown
    assert shown.count("begun") == 1
    assert "at exit" in shown
    assert "Traceback" not in shown
    assert ("Aborted!" in shown) == ("typer" not in Path(tool[1]).read_text())
    module = [sys.executable, "-m", "tool"]
    assert "ended 130" in in_a_loop(module, environment(PYTHONPATH=str(Path(tool[1]).parent)))


def test_ctrl_c_in_a_program_ends_a_loop(tmp_path: Path) -> None:
    """A program without a parser dies of Ctrl-C too, with the traceback that Python shows."""
    source = (
        "import sys, time, murli\n"
        "with murli.program('tool', description='Waits.'):\n"
        "    print('begun', flush=True)\n    time.sleep(60)\n"
    )
    shown = in_a_loop(script(tmp_path, source), environment())
    assert "next" not in shown
    assert "ended 130" in shown
    assert "KeyboardInterrupt" in shown


VALUES = """
import sys, time, click, murli
@click.group()
def cli(): pass
ROWS = [{"id": number} for number in range(4)]
@cli.command()
def plain(): return ROWS
@cli.command()
def bar():
    with click.progressbar(range(2), label="Work") as items: list(items)
    return ROWS
@cli.command()
def rich():
    from rich.progress import track
    from rich.console import Console
    with Console().status("Thinking"): pass
    list(track(range(1), description="Work"))
    return ROWS
@cli.command()
def spinner():
    for frame in "-/": print(f"\\r{frame} Work", end="", flush=True)
    print("\\r", end="")
    return ROWS
@cli.command()
def aside(): print("Work", file=sys.stderr); return ROWS
@cli.command()
def printed(): print("my own table"); return ROWS
@cli.command()
def unfinished(): print("no line end", end=""); return ROWS
@cli.command()
@murli.pass_writer
def written(writer): writer.write_success("Four rows", ROWS, show=True)
@cli.command()
def named():
    with click.progressbar(range(2), label="Work") as items: list(items)
    from rich.progress import track
    list(track(range(1), description="Work"))
    print("\\r50%\\r100%\\nHello", click.prompt("Name"), input("And? "))
murli.annotate(plain, murli.Metadata(lists=murli.Paging(limit=2)))
murli.enable(cli)
cli()
"""


def test_a_returned_value_is_shown_behind_progress(tmp_path: Path) -> None:
    """Progress that is drawn over, or on stderr, is no result; printed lines are one."""
    argv = script(tmp_path, VALUES)
    for name in ("plain", "bar", "rich", "spinner", "aside"):
        shown = run_at_terminal(argv, name).out.split()
        assert shown[-6:] == ["\x1b[1mid\x1b[0m", "──", "0", "1", "2", "3"], name
    assert run_at_terminal(argv, "printed").out == "my own table\n"
    assert run_at_terminal(argv, "unfinished").out == "no line end"


def test_lists_are_never_cut_for_people(tmp_path: Path) -> None:
    """A page size that is declared is for agents; people see all rows, and no hint."""
    argv = script(tmp_path, VALUES)
    assert len(run(argv, "plain").document["result"]) == 2
    for words in ([], ["--output", "text"]):
        done = run_at_terminal(argv, "plain", *words)
        assert ("3" in done.out, done.err) == (True, "")


def test_a_writer_shows_its_rows(tmp_path: Path) -> None:
    """write_success(…, show=True) shows people the table below the text; agents get the rows."""
    argparse_tool = (
        "import argparse, murli\n"
        "parser = argparse.ArgumentParser()\n"
        "args, writer = murli.parse(parser)\n"
        "writer.write_success('Four rows', [{'id': n} for n in range(4)], show=True)\n"
    )
    for argv in (
        script(tmp_path, argparse_tool, "other.py"),
        [*script(tmp_path, VALUES), "written"],
    ):
        shown = run_at_terminal(argv).out
        assert shown.startswith("Four rows\n")
        assert shown.split()[-4:] == ["0", "1", "2", "3"]
        assert run(argv).document["result"] == [{"id": number} for number in range(4)]


@pytest.mark.parametrize(
    ("printed", "text"),
    [
        ("\r0%\r50%\r100%\nvalue\n", "value\n"),
        ("\r- Work\r/ Work\rvalue\n", "value\n"),
        ("\r- Work\r      \r42\n", "42\n"),
        ("\r| 1/3 1it/s\r| 3/3 2kit/s\nvalue\n", "value\n"),
        ("\x1b[?25l\rWork\n\x1b[?25hvalue\n", "value\n"),
        ("\x1b[2Kbar 1\n\x1b[1A\x1b[2Kbar 2\n", "bar 1\n"),
        ("\x1b[2J\x1b[Hvalue\n", "value\n"),
        ("a,b\r\n1,2\r\n", "a,b\r\n1,2\r\n"),
        ("\x1b[31m\x1b[Kred\x1b[m\x1b[K\n", "\x1b[31m\x1b[Kred\x1b[m\x1b[K\n"),
        ("N\bNO\bO\n", "NO\n"),
        ("Work |\b/\b-\b, done\n", "Work , done\n"),
    ],
)
def test_what_stays_on_a_screen(printed: str, text: str) -> None:
    """What was drawn over is progress; what stays behind it, and coloured text, is text."""
    assert split(printed)[0] == text


def test_questions_and_progress_are_no_result(tmp_path: Path) -> None:
    """An agent's result holds neither the prompts that stdin answered nor a progress bar."""
    done = run(script(tmp_path, VALUES), "named", stdin=b"Ada\nBob\n")
    assert (done.document["result"], done.code) == ("Hello Ada Bob", 0)
