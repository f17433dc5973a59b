"""Why a program exited: what it was raised from, what it said, and a number that is its own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness import Run, environment, run, run_at_terminal, script
from murli.process.last_words import reason_in

pytestmark = pytest.mark.warm

CONTRACTS = ["murli", "response", "agent-spec-1.6", "agent-spec-2"]
SECRET = "hunter2-hunter2"

# How a handler ends, by framework; each is reached while an OSError is handled.
CAUSED = {
    "click": {
        "exception": "raise click.ClickException('cannot load') from error",
        "subclass": "raise Mine('cannot load') from error",
        "in-place": "raise click.ClickException('cannot load')",
        "usage": "raise click.UsageError('cannot load') from error",
        "parameter": "raise click.BadParameter('cannot load') from error",
        "failing": "click.get_current_context().fail('cannot load')",
        "words": "sys.exit('cannot load')",
        "system-exit": "raise SystemExit('cannot load') from error",
        "printed": "click.echo('cannot load', err=True); raise SystemExit(1)",
    },
    "typer": {
        "exit": "typer.echo('cannot load', err=True); raise typer.Exit(1) from error",
        "parameter": "raise typer.BadParameter('cannot load') from error",
        "words": "sys.exit('cannot load')",
    },
    "argparse": {
        "error": "p.error('cannot load')",
        "exit": "p.exit(1, 'cannot load\\n')",
        "words": "sys.exit('cannot load')",
        "printed": "print('cannot load', file=sys.stderr); sys.exit(1)",
    },
}
# What is no reason: it was over, or somebody else's.
UNRELATED = {
    "suppressed": "raise click.ClickException('cannot load') from None",
    "elsewhere": "fetch()",
    "foreign": "raise click.ClickException('cannot load') from ValueError('odd')",
}
WORDS = {
    "click": "click.echo('no such \\x1b[1mthing\\x1b[0m', err=True); sys.exit(1)",
    "print": "print('no such thing', file=sys.stderr); sys.exit(1)",
    "hard": "print('no such thing', file=sys.stderr, flush=True); os._exit(1)",
    "bytes": "sys.stderr.buffer.write(b'no such thing'); sys.exit(1)",
    "unfinished": "sys.stderr.write('no such thing'); sys.exit(1)",
    "logging": "import logging; logging.basicConfig(level=20); logging.info('busy'); "
    "logging.error('no such thing'); sys.exit(1)",
    "rich": "from rich.console import Console; "
    "Console(stderr=True).print('[red]no such thing[/red]'); sys.exit(1)",
    "raised": "traced(ValueError('no such thing')); sys.exit(1)",
    "noise": "[print(f'\\r{n}%', end='', file=sys.stderr, flush=True) for n in range(9)]; "
    "print('\\nLoading\\n\\nno such thing', file=sys.stderr); sys.exit(1)",
    "asked": "click.prompt('Name', default='x', err=True); "
    "click.echo('no such thing', err=True); sys.exit(1)",
    "thread": "import threading as t; "
    "one = t.Thread(target=print, args=('no such thing',), kwargs={'file': sys.stderr}); "
    "one.start(); one.join(); sys.exit(1)",
}
START = """
import argparse, os, sys, traceback
import murli
def traced(error):
    try: raise error
    except ValueError: traceback.print_exc()
def fetch(): raise click.ClickException('cannot load')
"""


def click_tool(tmp_path: Path, bodies: dict[str, str], *, handling: bool = False) -> list[str]:
    """Give a click tool with a command for each of *bodies*."""
    source = f"{START}import click\nclass Mine(click.ClickException): pass\n@click.group()\n"
    source += "def cli(): pass\n"
    for name, body in bodies.items():
        source += f"@cli.command('{name}')\ndef _():\n{_body(body, handling)}"
    return script(tmp_path, source + "murli.enable(cli); cli()\n", "click_tool.py")


def typer_tool(tmp_path: Path, bodies: dict[str, str], *, handling: bool = False) -> list[str]:
    """Give a typer tool with a command for each of *bodies*."""
    source = f"{START}import typer\napp = typer.Typer()\n@app.callback()\ndef main(): pass\n"
    for name, body in bodies.items():
        source += f"@app.command('{name}')\ndef _():\n{_body(body, handling)}"
    return script(tmp_path, source + "murli.enable(app); app()\n", "typer_tool.py")


def argparse_tool(tmp_path: Path, bodies: dict[str, str], *, handling: bool = False) -> list[str]:
    """Give a tool that parses, and then does one of *bodies*."""
    source = f"{START}p = argparse.ArgumentParser()\np.add_argument('what')\nmurli.enable(p)\n"
    source += "what = p.parse_args().what\n"
    for name, body in bodies.items():
        source += f"if what == '{name}':\n{_body(body, handling)}"
    return script(tmp_path, source, "argparse_tool.py")


def _body(body: str, handling: bool) -> str:
    if not handling:
        return f"    {body}\n"
    return f"    try: open('/nowhere/x')\n    except OSError as error:\n        {body}\n"


TOOLS = {"click": click_tool, "typer": typer_tool, "argparse": argparse_tool}


def error_of(done: Run, contract: str) -> dict[str, Any]:
    """Give the error that a process ended with."""
    return dict(done.error if contract == "murli" else done.document["error"])


@pytest.mark.parametrize("adapter", CAUSED)
def test_the_cause_decides_the_kind(tmp_path: Path, adapter: str) -> None:
    """What an exit was raised from says what it means; the author's words are its message."""
    argv = TOOLS[adapter](tmp_path, CAUSED[adapter], handling=True)
    for name in CAUSED[adapter]:
        done = run(argv, name)
        assert (done.code, done.error["error"]) == (5, "not_found"), name
        assert done.error["message"] == "cannot load", name
    name = next(iter(CAUSED[adapter]))
    newest = run(argv, name, env=environment(MURLI_CONTRACT="agent-spec-2"))
    assert (newest.code, newest.document["error"]["code"]) == (5, "NOT_FOUND")


def test_what_is_no_cause_decides_nothing(tmp_path: Path) -> None:
    """A cause that was dropped, was handled by other code, or is unknown leaves a plain failure."""
    argv = click_tool(tmp_path, UNRELATED, handling=True)
    for name in UNRELATED:
        done = run(argv, name)
        assert (done.code, done.error["error"]) == (1, "execution_error"), name
        assert done.error["message"] == "cannot load", name


def test_a_usage_error_of_the_framework_stays_one(tmp_path: Path) -> None:
    """A file that a click type could not open is a wrong value, whatever it was raised from."""
    argv = script(
        tmp_path,
        "import click, murli\n"
        "@click.command()\n"
        "@click.argument('file', type=click.File())\n"
        "def cli(file): pass\n"
        "murli.enable(cli); cli()\n",
    )
    assert run(argv, "/nowhere/x").error["error"] == "flag_error"


def test_a_cause_does_not_invite_to_repeat_a_change(tmp_path: Path) -> None:
    """A connection that was lost under an author's words is no reason to run it all again."""
    body = "raise click.ClickException('sync failed') from ConnectionResetError(104, 'reset')"
    argv = click_tool(tmp_path, {"sync": body, "list": body})
    unknown, reads = run(argv, "sync").error, run(argv, "list").error
    assert (unknown["error"], unknown["recoverable"]) == ("unavailable", False)
    assert (reads["error"], reads["recoverable"]) == ("unavailable", True)
    assert unknown["message"] == reads["message"] == "sync failed"


def test_the_reason_on_stderr_is_the_message(tmp_path: Path) -> None:
    """However a handler writes there, its last words are told, and are still on stderr."""
    argv = click_tool(tmp_path, WORDS)
    for name in WORDS:
        done = run(argv, name, stdin=b"\n")
        assert done.code == 1, name
        message = done.error["message"]
        assert message.rpartition(":")[2].strip() == "no such thing", name
        assert "no such" in done.err.partition('{\n  "status"')[0], name


@pytest.mark.parametrize("contract", CONTRACTS)
def test_every_adapter_and_contract_tells_it(tmp_path: Path, contract: str) -> None:
    """The reason is in the document of every contract, without the secrets that are known."""
    env = environment(MURLI_CONTRACT=contract, LAB_API_TOKEN=SECRET)
    body = "print('no such thing for', os.environ['LAB_API_TOKEN'], file=sys.stderr); sys.exit(3)"
    for adapter, make in TOOLS.items():
        if adapter == "typer" and contract in ("response", "agent-spec-1.6"):
            continue  # typer runs on what click does
        done = run(make(tmp_path, {"go": body}), "go", env=env)
        error = error_of(done, contract)
        assert error["message"] == "no such thing for [REDACTED]", adapter
        assert SECRET not in done.out + done.err
        if contract == "murli":
            assert (done.code, error["error"]) == (3, "execution_error")
        else:
            assert (done.code, error["retryable"]) == (1, False)


def test_a_main_that_returns_its_status(tmp_path: Path) -> None:
    """``print(..., file=sys.stderr); return 1`` with ``sys.exit(main())`` has its reason too."""
    argv = script(
        tmp_path,
        "import argparse, sys, murli\n"
        "p = argparse.ArgumentParser()\n"
        "murli.enable(p)\n"
        "def main():\n"
        "    p.parse_args()\n"
        "    print('x exists, use --overwrite', file=sys.stderr)\n"
        "    return 1\n"
        "sys.exit(main())\n",
    )
    assert run(argv).error["message"] == "x exists, use --overwrite"
    session = script(
        tmp_path,
        "import argparse, sys, murli\n"
        "p = argparse.ArgumentParser()\n"
        "murli.enable(p)\n"
        "with murli.session(p) as (args, writer):\n"
        "    print('no such thing', file=sys.stderr)\n"
        "    sys.exit(1)\n",
        "session.py",
    )
    assert run(session).error["message"] == "no such thing"


def test_the_stream_stays_what_it_is(tmp_path: Path) -> None:
    """While it is watched, stderr has its descriptor, encoding and buffer, and is its own after."""
    argv = script(
        tmp_path,
        "import click, json, sys, murli\n"
        "@click.command()\n"
        "def cli():\n"
        "    import faulthandler; faulthandler.enable()\n"
        "    assert sys.stderr is sys.__stderr__\n"
        "    return [sys.stderr.fileno(), sys.stderr.isatty(), sys.stderr.encoding]\n"
        "murli.enable(cli)\n"
        "try: cli(['x'][:0])\n"
        "except SystemExit: pass\n"
        "assert 'write' not in sys.stderr.buffer.__dict__\n",
    )
    done = run(argv)
    assert (done.code, done.err) == (0, "")
    assert done.document["result"] == [2, False, "utf-8"]


def test_a_person_is_not_told_twice(tmp_path: Path) -> None:
    """At a terminal what was printed is all there is, and the status is the tool's."""
    done = run_at_terminal(click_tool(tmp_path, {"go": WORDS["print"]}), "go")
    assert (done.code, done.out, done.err) == (1, "", "no such thing\n")


def test_a_reason_may_end_like_a_question(tmp_path: Path) -> None:
    """A printed line that ends in a bracket or a question mark is a reason; a prompt is none."""
    lines = ["unknown key [x]", "no such host <db>", "is it on?", "these are missing:"]
    bodies = {
        f"go{n}": f"print({line!r}, file=sys.stderr); sys.exit(1)" for n, line in enumerate(lines)
    }
    bodies["asks"] = (
        "sys.stderr.write('Name: '); sys.stderr.flush(); sys.stderr.write('\\n'); sys.exit(1)"
    )
    argv = argparse_tool(tmp_path, bodies)
    for number, line in enumerate(lines):
        assert run(argv, f"go{number}").error["message"] == line
    assert run(argv, "asks").error["message"] == "The command ended with exit status 1."


@pytest.mark.parametrize("status", [2, 3, 4, 8, 9, 42])
def test_a_status_of_the_tools_own_means_nothing(tmp_path: Path, status: int) -> None:
    """A foreign exit status keeps its number, and is not read as a kind of failure."""
    done = run(argparse_tool(tmp_path, {"go": f"sys.exit({status})"}), "go")
    error = done.error
    assert (done.code, error["code"], error["error"]) == (status, status, "execution_error")
    assert error["message"] == f"The command ended with exit status {status}."
    assert error["recoverable"] is False
    assert not error.keys() & {"retry_after_ms", "suggestion"}


def test_an_own_hook_does_not_hide_the_exception(tmp_path: Path) -> None:
    """An exception that a tool's own hook has printed is answered as what it is."""
    argv = script(
        tmp_path,
        "import argparse, sys, murli\n"
        "p = argparse.ArgumentParser()\n"
        "murli.enable(p)\n"
        "p.parse_args()\n"
        "sys.excepthook = lambda kind, error, traceback: print('oh', file=sys.stderr)\n"
        "open('/nowhere/x')\n",
    )
    done = run(argv)
    assert (done.code, done.error["error"]) == (5, "not_found")
    assert "'/nowhere/x'" in done.error["message"]


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        (["Password: ", "denied\n"], "denied"),
        (["one\ntwo\n\nthree\nfour\n"], "three\nfour"),
        (["busy\nError: no\n  in line 3\n"], "Error: no\n  in line 3"),
        (["x.py:3: UserWarning: old\n  warn()\nno\n"], "no"),
        ([" 50%|█████     | 5/10\n", "no\n"], "no"),
        (['{"ts":"2026","level":"info","msg":"x"}\n', "no\n"], "no"),
        (["╭─ Error ─────╮\n│ no such x  │\n╰────────────╯\n"], "no such x"),
        (["http://me:pass@host/ is gone\n"], "http://[REDACTED]@host/ is gone"),
        (["a\0b\x07\n"], "a\ufffdb"),
        (["x" * 5000], "…" + "x" * 999),
        (["\n \n"], ""),
    ],
)
def test_what_counts_as_the_reason(written: list[str], reason: str) -> None:
    """Of what was written, the last words that are about the failure, cleaned and bounded."""
    assert reason_in([part.encode() for part in written]) == reason


def test_a_secret_is_taken_out_of_the_reason_before_that_is_cut() -> None:
    """Cut first, what is left of the secret would not be known any more."""
    reason = reason_in(["Error: hunter2", "x" * 995], lambda text: text.replace("hunter2", "***"))
    assert reason == "…" + ("Error: ***" + "x" * 995)[-999:]


# A hook that shows the tool's own exceptions, and ends the program with a status of theirs.
HOOK = """
import sys
import murli

class Spent(Exception):
    pass

def hook(kind, error, traceback):
    print("the quota is spent", file=sys.stderr)
    sys.exit(int(str(error)))

sys.excepthook = hook

def work(status):
    print("begun")
    raise Spent(status)
"""
HOOKED = {
    "argparse": """
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("status")
murli.enable(parser)
work(parser.parse_args().status)
""",
    "behind the parse": """
import argparse
sys.excepthook = sys.__excepthook__
parser = argparse.ArgumentParser()
parser.add_argument("status")
murli.enable(parser)
status = parser.parse_args().status
sys.excepthook = hook
work(status)
""",
    "click": """
import click
tool = click.Command("tool", callback=work, params=[click.Argument(["status"])])
murli.enable(tool)
tool()
""",
}


@pytest.mark.parametrize("adapter", HOOKED)
def test_a_hook_that_ends_the_program_is_the_tools_handler(tmp_path: Path, adapter: str) -> None:
    """What an author's excepthook prints on stderr, and exits with, is the failure."""
    tool = script(tmp_path, HOOK + HOOKED[adapter])
    failed = run(tool, "18")
    assert (failed.out, failed.code) == ("", 18)
    words, _, document = failed.err.partition("\n")
    assert words == "the quota is spent"
    error = json.loads(document)
    assert (error["code"], error["message"], error["result"]) == (18, words, "begun")
    assert run(tool, "0").document["result"] == "begun"
    assert run_at_terminal(tool, "18").code == 18
