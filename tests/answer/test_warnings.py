"""What is no failure and worth telling, and how much of it a caller wants to hear."""

from __future__ import annotations

import io
import sys
import warnings
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest

import murli
from harness import ADAPTERS, Run, environment, run, run_at_terminal, script
from murli.answer.python_warnings import code_of

pytestmark = [pytest.mark.adapters("argparse", "click"), pytest.mark.warm]

CONTRACTS = ["murli", "response", "agent-spec-1.6", "agent-spec-2"]
NEWEST = "agent-spec-2"

# One tool on each framework; what its commands do is the same.
_CORE = """
import os, subprocess, sys, warnings
import murli

def work(what):
    writer = murli.get_writer()
    if what == "warn":
        writer.warn("DISK_NEARLY_FULL", "The disk is nearly full.", percent=97)
        writer.warn("DISK_NEARLY_FULL", "The disk is nearly full.", percent=97)
    if what == "python":
        for _ in range(2):
            warnings.warn("mind the gap", UserWarning)
        warnings.warn("use beta()", DeprecationWarning)
        warnings.warn("alpha() is deprecated", PendingDeprecationWarning)  # ignored by default
    if what == "stray":
        print("stray text")
        subprocess.run(["echo", "from a child"])
    if what == "move":
        os.chdir("/")
    if what == "noise":
        writer.log("log line"); writer.progress("progress line"); print("stray line")
        print("own line", file=sys.stderr); os.system("echo child line >&2")
        warnings.warn("warned line")
    if what == "fail":
        warnings.warn("mind the gap")
        raise murli.AgentError.not_found("no such thing")
    return {"did": what}

OLD = murli.Metadata(deprecated=murli.Deprecation("work", since="2.0"))
FLAG = murli.Metadata(flag_annotations={
    "fast": murli.FlagAnnotation(deprecated=murli.Deprecation("--speed", "2.1")),
    "slow": murli.FlagAnnotation(deprecated=murli.Deprecation(message="It has no effect.")),
})
"""
_TOOLS = {
    "argparse": f"""{_CORE}
import argparse
app = argparse.ArgumentParser(prog="tool")
commands = app.add_subparsers(dest="command", required=True)
main = commands.add_parser("work")
main.add_argument("what")
main.add_argument("--fast", action="store_true")
main.add_argument("--slow", action="store_true")
old = commands.add_parser("old")
groups = commands.add_parser("group")
groups.add_subparsers(dest="below", required=True).add_parser("inner")
murli.annotate(main, FLAG)
murli.annotate(old, OLD)
murli.annotate(groups, OLD)
murli.enable(app)
args, writer = murli.parse(app)
result = work(getattr(args, "what", args.command))
writer.write_success("Done", result)
""",
    "click": f"""{_CORE}
import click
@click.group()
def app(): pass
murli.enable(app, name="tool")
@app.command("work")
@click.argument("what")
@click.option("--fast", is_flag=True)
@click.option("--slow", is_flag=True)
def main(what, fast, slow): return work(what)
@app.command()
def old(): return work("old")
@app.group()
def group(): pass
@group.command()
def inner(): return work("inner")
murli.annotate(main, FLAG)
murli.annotate(old, OLD)
murli.annotate(group, OLD)
app()
""",
    "typer": f"""{_CORE}
import typer
app, group = typer.Typer(), typer.Typer()
app.add_typer(group, name="group")
murli.enable(app, name="tool")
@app.command("work")
def main(what: str, fast: bool = False, slow: bool = False): return work(what)
@app.command()
def old(): return work("old")
@group.command()
def inner(): return work("inner")
@group.command()
def other(): pass
murli.annotate(main, FLAG)
murli.annotate(old, OLD)
murli.annotate(group, OLD)
app()
""",
}


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """The argv of the tool, by framework."""
    folder = tmp_path_factory.mktemp("tools")
    return {name: script(folder, source, f"{name}_tool.py") for name, source in _TOOLS.items()}


@pytest.fixture(params=ADAPTERS)
def tool(request: pytest.FixtureRequest, tools: dict[str, list[str]]) -> list[str]:
    """The argv of the tool, on each framework in turn."""
    return tools[request.param]


def _call(tool: list[str], *words: str, contract: str = NEWEST, **changes: str) -> Run:
    return run(tool, *words, env=environment(MURLI_CONTRACT=contract, **changes))


def _warnings(done: Run) -> dict[str, Any]:
    """Give the warnings of an answer by their codes."""
    return {each["code"]: each for each in done.document["warnings"]}


# -- the author's and Python's -----------------------------------------------------------------


@pytest.mark.parametrize("contract", CONTRACTS)
def test_a_warning_is_what_the_contract_calls_one(tool: list[str], contract: str) -> None:
    """writer.warn() gives an object, a text, or a log line, as the contract has it, and once."""
    done = _call(tool, "work", "warn", contract=contract)
    message = "The disk is nearly full."
    if contract == "murli":
        assert done.document.keys() >= {"status", "result"}
        assert [entry["msg"] for entry in done.logs] == [f"warning: {message}"]
    elif contract == NEWEST:
        expected = {"code": "DISK_NEARLY_FULL", "message": message, "context": {"percent": 97}}
        assert done.document["warnings"] == [expected]
    else:
        assert done.document["warnings"] == [message]


def test_what_python_shows_is_in_the_answer(tool: list[str]) -> None:
    """What `warnings` shows is a warning of the answer and no text; what it ignores is nothing."""
    done = _call(tool, "work", "python")
    assert done.err == ""
    assert done.document["warnings"] == [
        {"code": "USER_WARNING", "message": "mind the gap", "context": {"category": "UserWarning"}},
        {
            "code": "DEPRECATED",
            "message": "Deprecated: use beta()",
            "context": {"category": "DeprecationWarning"},
        },
    ]
    done = _call(tool, "work", "fail")
    assert (done.code, [each["code"] for each in done.document["warnings"]]) == (
        5,
        ["USER_WARNING"],
    )


def test_pythons_warnings_stay_text_elsewhere(tools: dict[str, list[str]]) -> None:
    """Under murli, and for people, Python's warnings are on stderr as they always were."""
    done = _call(tools["click"], "work", "python", contract="murli")
    assert "UserWarning: mind the gap" in done.err
    done = run_at_terminal(tools["click"], "work", "python")
    assert "UserWarning: mind the gap" in done.err


def test_a_warning_that_is_an_error_stays_one(tools: dict[str, list[str]]) -> None:
    """With -W error a warning is raised, and fails the command."""
    done = _call(tools["click"], "work", "python", PYTHONWARNINGS="error::UserWarning")
    assert (done.code, done.document["ok"]) == (1, False)
    assert "mind the gap" in done.document["error"]["message"]


def test_codes_of_categories() -> None:
    """A category's code is its name in capitals; what announces an end is DEPRECATED."""

    class HTTPProxyWarning(UserWarning):
        pass

    class Late_Warning(FutureWarning):  # noqa: N801
        pass

    assert code_of(UserWarning) == "USER_WARNING"
    assert code_of(HTTPProxyWarning) == "HTTP_PROXY_WARNING"
    for category in (DeprecationWarning, PendingDeprecationWarning, Late_Warning):
        assert code_of(category) == "DEPRECATED"


def _in_process(body: Any, *words: str) -> Run:
    """Run a click tool inside this process."""
    click = pytest.importorskip("click")
    command = click.Command("tool", callback=body)
    murli.enable(command, name="tool", contract=NEWEST)  # type: ignore[arg-type]
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as ended:
        command.main(list(words))
    return Run(out.getvalue().encode(), err.getvalue().encode(), int(ended.value.code or 0))


def test_the_process_is_left_as_it_was() -> None:
    """After a call in a process of others their showwarning and their stderr are theirs again."""
    before = warnings.showwarning, sys.stderr

    def body() -> dict[str, bool]:
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.warn("mind the gap", stacklevel=1)
        sys.stderr.write("loud")
        return {"ours": warnings.showwarning is not before[0]}

    done = _in_process(body, "--quiet")
    assert (done.document["data"], done.err) == ({"ours": True}, "")
    assert list(_warnings(done)) == ["USER_WARNING"]
    assert (warnings.showwarning, sys.stderr) == before
    assert _in_process(body).err == "loud"


# -- deprecations ------------------------------------------------------------------------------


@pytest.mark.parametrize("contract", CONTRACTS)
def test_declared_deprecations_are_told(tool: list[str], contract: str) -> None:
    """A deprecated command or flag works, and says once what to use instead, and since when."""
    done = _call(tool, "old", contract=contract)
    flagged = _call(tool, "work", "x", "--fast", "--slow", contract=contract)
    command = 'The command "old" is deprecated since 2.0; use work instead.'
    flags = [
        "--fast is deprecated since 2.1; use --speed instead.",
        "--slow is deprecated: It has no effect.",
    ]
    assert (done.code, flagged.code) == (0, 0)
    if contract == "murli":
        assert [entry["msg"] for entry in done.logs] == [f"warning: {command}"]
        assert [entry["msg"] for entry in flagged.logs] == [f"warning: {flag}" for flag in flags]
    elif contract == NEWEST:
        assert done.document["warnings"] == [
            {
                "code": "DEPRECATED_COMMAND",
                "message": command,
                "context": {"name": "old", "replacement": "work", "since": "2.0"},
            }
        ]
        assert [each["message"] for each in flagged.document["warnings"]] == flags
        assert flagged.document["warnings"][0]["code"] == "DEPRECATED_FLAG"
        assert flagged.document["warnings"][0]["context"] == {
            "name": "--fast",
            "replacement": "--speed",
            "since": "2.1",
        }
    else:
        assert done.document["warnings"] == [command]
        assert flagged.document["warnings"] == flags


def test_a_deprecated_group_is_told_of_what_is_below_it(tool: list[str]) -> None:
    """A command in a deprecated group says that the group is deprecated."""
    done = _call(tool, "group", "inner")
    assert [each["context"]["name"] for each in done.document["warnings"]] == ["group"]


def test_what_is_not_used_is_not_told(tool: list[str]) -> None:
    """Nobody hears of deprecated flags and commands that were not used."""
    done = _call(tool, "work", "x")
    assert (done.document["warnings"], done.err) == ([], "")


def test_people_read_one_line(tool: list[str]) -> None:
    """At a terminal a declared deprecation is one line on stderr."""
    done = run_at_terminal(tool, "old")
    assert done.err == 'warning: The command "old" is deprecated since 2.0; use work instead.\n'


_CLICKS_OWN = """
import click, murli
@click.group()
def app(): pass
murli.enable(app, name="tool")
@app.command(deprecated=True)
def old(): return {"did": "old"}
known = {"deprecated": "Use --speed."} if hasattr(click.Option(["--x"]), "deprecated") else {}
@app.command()
@click.option("--fast", **known)
def work(fast): return {"did": fast}
murli.annotate(old, murli.Metadata(idempotent=True))
app()
"""
_TYPERS_OWN = """
import typer, murli
app = typer.Typer()
murli.enable(app, name="tool")
@app.command(deprecated=True)
def old(): return {"did": "old"}
@app.command()
def work(): pass
app()
"""


@pytest.mark.parametrize("source", [_CLICKS_OWN, _TYPERS_OWN], ids=["click", "typer"])
def test_a_frameworks_own_deprecations(tmp_path: Path, source: str) -> None:
    """What click tells on stderr is told in the answer instead, and stays there elsewhere."""
    argv = script(tmp_path, source)
    done = _call(argv, "old")
    assert done.err == ""
    assert done.document["warnings"] == [
        {
            "code": "DEPRECATED_COMMAND",
            "message": 'The command "old" is deprecated.',
            "context": {"name": "old"},
        }
    ]
    done = _call(argv, "old", contract="murli")
    assert done.err.count("deprecated") == 1
    assert done.err.startswith("DeprecationWarning")


def test_clicks_own_deprecated_options(tmp_path: Path) -> None:
    """An option that click knows to be deprecated is told in the answer, with its reason."""
    click = pytest.importorskip("click")
    if not hasattr(click.Option(["--x"]), "deprecated"):
        pytest.skip("this click has no deprecated options")
    argv = script(tmp_path, _CLICKS_OWN)
    done = _call(argv, "work", "--fast", "1")
    assert done.err == ""
    assert [(each["code"], each["message"]) for each in done.document["warnings"]] == [
        ("DEPRECATED_FLAG", "--fast is deprecated. Use --speed.")
    ]
    assert _call(argv, "work").document["warnings"] == []
    assert "deprecated" in _call(argv, "work", "--fast", "1", contract="murli").err


@pytest.mark.skipif(sys.version_info < (3, 13), reason="argparse has no deprecations yet")
def test_argparses_own_deprecations(tmp_path: Path) -> None:
    """What argparse tells on stderr is told in the answer instead, and stays there elsewhere."""
    source = """
import argparse, murli
app = argparse.ArgumentParser(prog="tool")
commands = app.add_subparsers(dest="command", required=True)
old = commands.add_parser("old", deprecated=True)
old.add_argument("--fast", deprecated=True)
old.add_argument("where", nargs="?", deprecated=True)
old.add_argument("--both", deprecated=True)
murli.annotate(old, murli.Metadata(flag_annotations={
    "both": murli.FlagAnnotation(deprecated="--new")}))
murli.enable(app)
args, writer = murli.parse(app)
writer.write_success("Done", vars(args))
"""
    argv = script(tmp_path, source)
    done = _call(argv, "old", "--fast", "1", "--both", "2", "here")
    assert done.err == ""
    assert [(each["code"], each["context"]) for each in done.document["warnings"]] == [
        ("DEPRECATED_COMMAND", {"name": "old"}),
        ("DEPRECATED_FLAG", {"name": "--fast"}),
        ("DEPRECATED_ARGUMENT", {"name": "where"}),
        ("DEPRECATED_FLAG", {"name": "--both", "replacement": "--new"}),
    ]
    assert "command 'old' is deprecated" in _call(argv, "old", contract="murli").err


@pytest.mark.parametrize("count", [3, 100])
def test_a_warning_is_what_it_was_when_it_was_given(tmp_path: Path, count: int) -> None:
    """What a tool changes in the context of a warning, however large, is not in its answer."""
    source = (
        "import argparse, sys, murli\n"
        "parser = argparse.ArgumentParser(); parser.add_argument('count', type=int)\n"
        "murli.enable(parser); args, writer = murli.parse(parser)\n"
        "skipped = list(range(args.count))\n"
        "writer.warn('SKIPPED', 'Some were skipped.', files=skipped)\n"
        "skipped += [{1, 2}, float('nan'), '\\x1b[31m', object()]\n"
        "writer.write_success('done', {})\n"
    )
    done = _call(script(tmp_path, source), str(count))
    assert _warnings(done)["SKIPPED"]["context"] == {"files": list(range(count))}


# -- what a handler leaves ---------------------------------------------------------------------


def test_stray_text_is_told_and_kept(tool: list[str]) -> None:
    """Text beside a result, a child's too, is on stderr, and a warning says how much it was."""
    done = _call(tool, "work", "stray")
    assert done.document["data"] == {"did": "stray"}
    assert sorted(done.err.splitlines()) == ["from a child", "stray text"]
    assert _warnings(done)["THIRD_PARTY_STDOUT"]["context"] == {"bytes": len(done.stderr)}
    assert "bytes" in _call(tool, "work", "stray", contract="response").document["warnings"][0]


def test_text_that_is_the_result_is_not_stray(tmp_path: Path) -> None:
    """What a command prints and is its answer, or belongs to its failure, is no stray text."""
    source = (
        "import argparse, sys, murli\n"
        "p = argparse.ArgumentParser(); p.add_argument('code', type=int)\n"
        "murli.enable(p); code = p.parse_args().code\nprint('all there is'); sys.exit(code)\n"
    )
    argv = script(tmp_path, source)
    for code in ("0", "3"):
        assert _call(argv, code).document["warnings"] == []


def test_a_working_directory_that_was_left(tool: list[str], tmp_path: Path) -> None:
    """A command that changes the working directory is told of; meta says where it started."""
    done = run(tool, "work", "move", env=environment(MURLI_CONTRACT=NEWEST), cwd=tmp_path)
    told = _warnings(done)["CWD_CHANGED"]
    assert told["context"] == {"from": str(tmp_path), "to": "/"}
    assert done.document["meta"]["cwd"] == str(tmp_path)


# -- how much is heard -------------------------------------------------------------------------


@pytest.mark.parametrize("contract", CONTRACTS[1:])
def test_quiet_is_quiet(tool: list[str], contract: str) -> None:
    """With --quiet not a byte is on stderr, whoever would have written it, and all is answered."""
    done = _call(tool, "work", "noise", "--quiet", contract=contract)
    assert (done.code, done.stderr) == (0, b"")
    assert done.document["data"] == {"did": "noise"}
    assert len(done.document["warnings"]) == 2  # what python warned of, and the stray line


def test_quiet_also_when_nothing_runs(tool: list[str]) -> None:
    """Help, a mistake and a command of ours are as quiet."""
    for words in (["--help"], ["work"], ["--nope"], ["describe", "--help"], []):
        assert _call(tool, "--quiet", *words).stderr == b""


def test_default_and_verbose_tell_everything(tool: list[str]) -> None:
    """Logs, progress and strays are on stderr; --verbose, which asks for them, changes nothing."""
    for words in ([], ["--verbose"]):
        told = _call(tool, "work", "noise", *words).err
        for line in ("log line", "progress line", "stray line", "own line", "child line"):
            assert line in told


@pytest.mark.parametrize(
    "pair", [("--quiet", "--verbose"), ("--debug", "--quiet"), ("--verbose", "--debug")]
)
def test_only_one_loudness(tools: dict[str, list[str]], pair: tuple[str, str]) -> None:
    """--quiet, --verbose and --debug exclude each other."""
    done = _call(tools["argparse"], "work", "x", *pair)
    assert done.code == 2
    assert done.document["error"]["message"].endswith("cannot be combined.")
    assert all(flag in done.document["error"]["message"] for flag in pair)


def test_a_tools_own_quiet_is_its_own(tmp_path: Path) -> None:
    """A tool that has a --quiet decides itself what that means."""
    source = (
        "import argparse, sys, murli\np = argparse.ArgumentParser()\n"
        "p.add_argument('--quiet', action='store_true'); murli.enable(p); a = p.parse_args()\n"
        "print('still here', file=sys.stderr); murli.get_writer().write_success('', vars(a))\n"
    )
    done = _call(script(tmp_path, source), "--quiet", "--verbose")
    assert (done.document["data"], done.err) == ({"quiet": True}, "still here\n")


def test_flags_that_change_nothing_are_taken(tool: list[str]) -> None:
    """--non-interactive and --no-update-check are accepted: nothing asks or updates anyway."""
    done = _call(tool, "work", "--non-interactive", "x", "--no-update-check")
    assert (done.code, done.document["data"]) == (0, {"did": "x"})


def test_a_prompt_fails_under_non_interactive(tmp_path: Path) -> None:
    """A command that asks fails with the code for an unmet precondition, and names the flag."""
    pytest.importorskip("click")
    source = (
        "import click, murli\n@click.command()\n@click.option('--name', prompt='Your name')\n"
        "def app(name): return name\nmurli.enable(app, name='tool')\napp()\n"
    )
    done = _call(script(tmp_path, source), "--non-interactive")
    assert (done.code, done.document["error"]["code"]) == (4, "INPUT_REQUIRED")
    assert done.document["error"]["suggestion"] == "Pass --name."
