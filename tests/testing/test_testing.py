"""The test kit for authors: an app runs, here or as a process, and what it wrote is judged."""

from __future__ import annotations

import gc
import json
import os
import shutil
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest
import typer

import murli
from adding import _parser, _that_has_a_session, _that_has_a_writer, _that_prints
from harness import TOOLS, script
from harness import run as run_script
from murli.answer import Writer
from murli.call.ending import ProgramAsHandler
from murli.testing import (
    CONTRACTS,
    InvalidDocument,
    Missing,
    Runner,
    TimedOut,
    run,
    watch,
)

FAMILY = CONTRACTS[1:]


@pytest.fixture
def task_list(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The task list of the other tests, by its framework."""
    monkeypatch.syspath_prepend(str(TOOLS))
    import tasks_argparse
    import tasks_click

    return {"click": tasks_click.cli, "argparse": tasks_argparse.main}


# -- a tool to run --------------------------------------------------------------------------------


@click.group()
def shop() -> None:
    pass


@shop.command()
@click.argument("what")
@murli.pass_writer
def do(writer: murli.Writer, what: str) -> Any:
    return DEEDS[what](writer)


murli.enable(shop, name="shop", tool_version="1.0")


def _negative_delay(writer: murli.Writer) -> None:
    raise murli.AgentError.user_error("Not so fast.", retry_after_ms=-1)


def _answer_and_fail(writer: murli.Writer) -> None:
    writer.write_success("Done", {"done": True})
    raise ValueError("after all")


def _tell_all(writer: murli.Writer) -> None:
    writer.log("looking")
    writer.warn("OLD_PRICE", "The price is of yesterday.")
    writer.write_event({"item": 1})
    writer.write_progress(murli.ProgressEvent("read", 1, 2))
    writer.write_event({"item": 2})
    writer.write_success("Two items", {"count": 2})


def _print_beneath_python(writer: murli.Writer) -> None:
    os.write(1, b"from beneath\n")
    os.spawnlp(os.P_WAIT, "echo", "echo", "from a child")


def _meddle(writer: murli.Writer) -> None:
    os.environ["MEDDLED"] = "1"
    os.environ.pop("PATH", None)
    os.chdir("/")
    sys.argv.append("meddled")
    sys.excepthook = lambda *error: None
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    murli.set_tool_version("9.9")


def _places(writer: murli.Writer) -> None:
    names = ("HOME", "MURLI_TEST", "GIVEN", "TAKEN", "PYTHONUSERBASE")
    places = {name: os.environ.get(name) for name in names}
    writer.write_success("", {**places, "cwd": os.getcwd(), "argv": sys.argv[1:]})


def _ask(writer: murli.Writer) -> None:
    name, pin = click.prompt("Name"), click.prompt("Pin", hide_input=True)
    click.echo(f"{name}, {pin}")


def _write(writer: murli.Writer) -> None:
    Path("made").mkdir()
    Path("made/it.txt").write_text("x")


DEEDS: dict[str, Callable[[murli.Writer], Any]] = {
    "negative-delay": _negative_delay,
    "answer-and-fail": _answer_and_fail,
    "tell-all": _tell_all,
    "print": _print_beneath_python,
    "meddle": _meddle,
    "places": _places,
    "measure": lambda writer: print(shutil.get_terminal_size().columns, os.environ["TERM"]),
    "crash": lambda writer: vars(writer)["nothing"],
    "read": lambda writer: {"read": sys.stdin.read()},
    "ask": _ask,
    "interrupt": lambda writer: os.kill(os.getpid(), signal.SIGINT),
    "write": _write,
    "half": lambda writer: writer.write_partial("Half of it", {"done": 1}),
    "exit": lambda writer: sys.exit(4),
}

# -- in this process, and as a process ------------------------------------------------------------


@pytest.mark.parametrize("framework", ["click", "argparse"])
def test_a_run_here_writes_what_a_process_writes(task_list: dict[str, Any], framework: str) -> None:
    """In this process a tool writes byte for byte what it writes as one of its own."""
    process = [sys.executable, str(TOOLS / f"tasks_{framework}.py")]
    for words in (["report"], ["report", "missing"], ["task", "create", "x", "--dry-run"]):
        here = run(task_list[framework], *words, name="tasks")
        there = run(process, *words)
        assert (here.stdout, here.stderr, here.exit_code) == (
            there.stdout,
            there.stderr,
            there.exit_code,
        )
        assert here.held_to == there.held_to == ("invariants of murli", "schema of murli")


def test_a_typer_app_is_run() -> None:
    """A Typer is run in this process like a click group, and leaves no hook of its own."""
    app = typer.Typer()

    @app.command()
    def hello(name: str) -> dict[str, str]:
        return {"hello": name}

    murli.enable(app, name="hello")
    hook = sys.excepthook
    assert run(app, "you").data == {"hello": "you"}
    assert run(app).error.field == "name"
    assert sys.excepthook is hook


@pytest.mark.parametrize("contract", CONTRACTS)
def test_one_test_fits_every_contract(task_list: dict[str, Any], contract: str) -> None:
    """What a result tells is the same in every contract; its document is the contract's own."""
    cli = task_list["click"]
    found = run(cli, "report", contract=contract)
    assert (found.contract, found.ok, found.data) == (contract, True, {"what": "all"})
    missing = run(cli, "report", "missing", contract=contract)
    assert (missing.error.kind, missing.exit_code) == ("not_found", 5)
    assert missing.error.suggestion == "Run `tasks index build`."
    words = ("task", "create", "Saw", "--weight", "1", "--dry-run")
    planned = run(cli, *words, contract=contract)
    assert planned.plan == {"id": 7, "title": "Saw", "weight": 1.0}
    assert not planned.ok
    assert ("ok" in found.document) == (contract != "murli")


@pytest.mark.parametrize("contract", CONTRACTS)
def test_a_partial_success_has_data_and_an_error(contract: str) -> None:
    """What worked is the data, and that not all did is the error, where the contract has both."""
    half = run(shop, "do", "half", contract=contract)
    assert (half.ok, half.error.kind) == (False, "partial")
    if contract in ("murli", "agent-spec-2"):
        assert half.data == {"done": 1}


def test_describe_is_a_document_without_an_envelope(task_list: dict[str, Any]) -> None:
    """What is JSON and no envelope, such as describe, is the document and the data."""
    result = run(task_list["click"], "describe")
    assert result.document["name"] == "tasks"
    assert (result.data, result.contract, result.held_to) == (result.document, "", ())


def test_a_stream_is_taken_apart() -> None:
    """Items, progress, logs and warnings each have their place, whatever stream they are on."""
    result = run(shop, "do", "tell-all")
    assert result.items == [{"item": 1}, {"item": 2}]
    assert [each["stage"] for each in result.progress] == ["read"]
    assert result.logs[0]["msg"] == "looking"
    assert (result.data, result.message) == ({"count": 2}, "Two items")
    assert len(result.documents) == 4
    warned = run(shop, "do", "tell-all", contract="agent-spec-2")
    assert [(each.code, each.message) for each in warned.warnings] == [
        ("OLD_PRICE", "The price is of yesterday.")
    ]


@pytest.mark.parametrize("contract", ["murli", "response"])
def test_items_may_be_numbers(contract: str) -> None:
    """A stream of plain values is valid, and its items are these."""

    @click.command()
    def count() -> Any:
        yield from (1, {"two": 2}, "three")

    murli.enable(count, name="count")
    murli.annotate(count, murli.Metadata(returns=list[Any]))
    assert run(count, "--stream", contract=contract).items == [1, {"two": 2}, "three"]


# -- nothing is left behind -----------------------------------------------------------------------


def _state() -> dict[str, Any]:
    signals = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGALRM)
    return {
        "environ": dict(os.environ),
        "streams": (sys.stdin, sys.stdout, sys.stderr, sys.excepthook),
        "argv": list(sys.argv),
        "cwd": os.getcwd(),
        "signals": [signal.getsignal(each) for each in signals],
        "descriptors": {
            name: os.stat(f"/proc/self/fd/{name}").st_ino
            for name in os.listdir("/proc/self/fd")
            if os.path.exists(f"/proc/self/fd/{name}")
        },
        "threads": threading.enumerate(),
        "invocation": murli.get_writer()._invocation,
        "finders": list(sys.meta_path),
        "functions": (sys.exit, os._exit, os.execv, Writer._answer),
    }


@pytest.mark.parametrize("mode", ["agent", "person"])
def test_a_run_leaves_the_process_as_it_was(mode: str) -> None:
    """Whatever a tool does to its process is undone: variables, folder, signals, hooks, files."""
    run(shop, "do", "places", mode=mode)  # what is loaded once stays loaded
    run(_that_has_a_writer, "1", "--timeout", "9", mode=mode)
    before = _state()
    for what in ("meddle", "crash", "exit", "print", "negative-delay"):
        run(shop, "do", what, mode=mode, check=False)
    run(_that_has_a_writer, "1", "--timeout", "9", mode=mode)
    run(_that_prints, "0", mode=mode)
    run(_that_has_a_session, "1", mode=mode)
    run(lambda: _parser().parse_args(["7"]), mode=mode)  # words that are not the program's
    assert _state() == before
    assert run(shop, "do", "crash").document["tool_version"] == "1.0"


def test_runs_do_not_pile_up() -> None:
    """Nothing keeps what a program that was answered for has left in memory."""
    for _ in range(3):
        run(_that_prints, "1")
    gc.collect()
    assert not [each for each in gc.get_objects() if type(each) is ProgramAsHandler]


def test_a_tool_has_its_own_surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Home is empty, MURLI variables of the caller are not handed on, and env has the last word."""
    monkeypatch.setenv("MURLI_TEST", "1")
    monkeypatch.setenv("TAKEN", "away")
    monkeypatch.delenv("PYTHONUSERBASE", raising=False)
    result = run(shop, "do", "places", cwd=tmp_path, env={"GIVEN": "yes", "TAKEN": None})
    home = result.data.pop("HOME")
    assert home != os.environ["HOME"]
    assert not Path(home).exists()
    assert result.data == {
        "MURLI_TEST": None,
        "GIVEN": "yes",
        "TAKEN": None,
        "PYTHONUSERBASE": os.path.expanduser("~/.local"),  # what is installed there is found
        "cwd": str(tmp_path),
        "argv": ["do", "places"],
    }
    assert run(shop, "do", "places", home=tmp_path).data["HOME"] == str(tmp_path)


def test_what_is_printed_beneath_python_is_collected() -> None:
    """What a child or a C library prints is in the result, as it would be on a pipe."""
    assert run(shop, "do", "print").data == "from beneath\nfrom a child"


@pytest.mark.parametrize("fixture", ["capsys", "capfd"])
def test_a_run_is_not_mixed_with_what_the_test_prints(
    request: pytest.FixtureRequest, fixture: str
) -> None:
    """The capture of pytest keeps what the test prints, and sees nothing of the tool."""
    capture = request.getfixturevalue(fixture)
    print("before")
    result = run(shop, "do", "print")
    print("after")
    assert capture.readouterr().out == "before\nafter\n"
    assert "before" not in result.stdout


def test_input_is_read() -> None:
    """What is given as input is on stdin, here and in a process; without it there is nothing."""
    assert run(shop, "do", "read", input="a\nb").data == {"read": "a\nb"}
    assert run(shop, "do", "read").data == {"read": ""}
    echo = [sys.executable, "-c", "import sys; print(sys.stdin.read().upper())"]
    assert run(echo, input="shout").stdout == "SHOUT\n"


def test_a_real_interrupt_is_not_swallowed() -> None:
    """Ctrl-C during a run ends the tool, and goes on to whoever runs the tests."""
    with pytest.raises(KeyboardInterrupt):
        run(shop, "do", "interrupt")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


FORKING = """
import argparse, os
import click, murli
from murli.testing import run

@click.command()
def twice():
    os.fork()
    print("in", "the child" if os.getpid() != parent else "the parent")

parent = os.getpid()
murli.enable(twice, name="twice")
print(run(twice, check=False).exit_code, "once")

def main():
    parser = argparse.ArgumentParser(prog="say")
    parser.add_subparsers(required=True).add_parser("word").add_argument("word")
    murli.enable(parser)
    word = parser.parse_args().word
    if word == "no":
        raise murli.AgentError.not_found("There is no such word.")
    print(word)

batch = '{"_cmd": "word", "word": "yes"}\\n{"_cmd": "word", "word": "no"}\\n'
result = run(main, "exec", contract="agent-spec-2", input=batch)
print([each["ok"] for each in result.items], result.documents[1]["error"]["code"], result.faults)
"""


def test_a_fork_of_the_tool_does_not_go_on_as_the_test(tmp_path: Path) -> None:
    """A child that comes out of a handler ends there, answered for if it is a call of many."""
    done = run_script(script(tmp_path, FORKING))
    assert (done.out, done.code) == ("0 once\n[True, False] NOT_FOUND ()\n", 0), done.err


AT_EXIT = """
import argparse, murli
from murli.testing import run

def main():
    parser = argparse.ArgumentParser(prog="late")
    murli.enable(parser)
    parser.parse_args()
    print("the tool")

assert run(main).data == "the tool"
print("the test")
"""


def test_nothing_is_answered_when_the_tests_end(tmp_path: Path) -> None:
    """A tool that is answered for at the end of its process was answered for in its run."""
    done = run_script(script(tmp_path, AT_EXIT))
    assert (done.out, done.err, done.code) == ("the test\n", "", 0)


# -- as a person ----------------------------------------------------------------------------------


def test_a_person_is_asked() -> None:
    """In person mode questions are answered from the input, those without echo too."""
    result = run(shop, "do", "ask", mode="person", input="Ada\n1234\n")
    assert result.stdout.startswith("Name: ")
    assert result.stdout.endswith("Ada, 1234\n")
    assert run(shop, "do", "ask").error.code == "input_required"


def test_the_screen_is_always_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a person sees does not depend on the terminal the tests run at."""
    monkeypatch.setenv("COLUMNS", "33")
    monkeypatch.setenv("TERM", "dumb")
    assert run(shop, "do", "measure", mode="person").stdout == "80 xterm-256color\n"


def test_a_process_gets_a_real_terminal(tmp_path: Path) -> None:
    """At a terminal a process sees one of a known size, and what is typed; streams stay apart."""
    argv = script(
        tmp_path,
        "import os, sys, shutil\n"
        "print(sys.stdin.isatty(), os.isatty(1), os.isatty(2), *os.get_terminal_size(1))\n"
        "print('typed', input(), sys.stdin.read().split())\n"
        "print('\\x1b[1mbold\\x1b[0m', file=sys.stderr)\n",
    )
    result = run(argv, mode="person", input="one\ntwo\nthree\n")
    assert result.stdout == "True True True 80 24\ntyped one ['two', 'three']\n"
    assert result.stderr == "\x1b[1mbold\x1b[0m\n"
    assert (result.exit_code, result.faults) == (0, ())


# -- processes ------------------------------------------------------------------------------------


def test_a_console_script_is_found_beside_python() -> None:
    """A name is a program beside the running Python; one that is nowhere is told."""
    result = run("murli", "describe", env={"PATH": None})
    assert result.document["name"] == "murli"
    with pytest.raises(FileNotFoundError, match="there is no program 'no-such-tool'"):
        run("no-such-tool")
    with pytest.raises(FileNotFoundError, match="no/such/tool: No such file"):
        run(["no/such/tool"])


@pytest.mark.parametrize("mode", ["agent", "person"])
def test_a_process_that_hangs_is_ended(tmp_path: Path, mode: str) -> None:
    """After the timeout a process is killed with its children, and the test fails with its text."""
    source = "echo started; sleep 60 & echo $! >child; wait"
    with pytest.raises(TimedOut, match=r"(?s)did not end within 0.6 s.*started"):
        run(["sh", "-c", source], mode=mode, timeout=0.6, cwd=tmp_path)
    child = Path("/proc", (tmp_path / "child").read_text().strip(), "stat")
    # The dead stay until the first process of the system notices.
    assert not child.exists() or child.read_text().split()[2] == "Z"


def test_a_signal_ends_a_process() -> None:
    """The exit code of a process that a signal ended is its number, negative."""
    assert run(["sh", "-c", "kill -9 $$"]).exit_code == -9


GO = {
    "ok": ('{"result": {"a": 1}, "schema_version": "1.0", "status": "ok"}', "", 0),
    "plan": ('{"result": {"a": 1}, "schema_version": "1.0", "status": "plan"}', "", 0),
    "failed": (
        "",
        '{"code": 5, "error": "not_found", "message": "m", "recoverable": false, '
        '"schema_version": "1.0"}',
        5,
    ),
}


def _say(stdout: str, stderr: str, code: int) -> list[str]:
    """Give a process that says this, in no language in particular."""
    source = 'printf "%s\\n" "$1"; printf "%s\\n" "$2" >&2; exit "$3"'
    return ["sh", "-c", source, "say", stdout, stderr, str(code)]


@pytest.mark.parametrize("state", GO)
def test_the_go_wire_is_accepted(state: str) -> None:
    """A process may answer as murli's Go library writes, and is held to less, which is told."""
    result = run(_say(*GO[state]), contract="murli")
    assert (result.response.state, result.wire) == (state, "go")
    assert result.held_to == ("invariants of Go's wire",)


# -- what is wrong is told ------------------------------------------------------------------------

OK = {"status": "ok", "schema_version": "1.0", "tool_version": "", "message": "", "result": 1}
ERROR = {
    "status": "error",
    "code": 5,
    "error": "not_found",
    "message": "m",
    "recoverable": False,
    "schema_version": "1.0",
    "tool_version": "",
}
ENVELOPE = {"ok": True, "data": {}, "error": None, "warnings": [], "meta": {"duration_ms": 1}}
SECOND = {**ENVELOPE, "meta": {"duration_ms": 1, "exit_code": 0}}


def _but(document: dict[str, Any], **changes: Any) -> str:
    return json.dumps({**document, **changes})


@pytest.mark.parametrize(
    ("stdout", "stderr", "code", "contract", "fault"),
    [
        (_but(OK), "", 1, "", "the document says ok, the process 1"),
        ("", _but(ERROR), 4, "", "the document says 5, the process 4"),
        (f"{_but(OK)}\n{_but(OK)}", "", 0, "", "more than one envelope on stdout"),
        (f"hello\n{_but(OK)}", "", 0, "", "1 lines on stdout are not JSON"),
        (f"\x1b[1mhello\n{_but(OK)}", "", 0, "", "escape sequences"),
        (_but(ERROR), "", 5, "", "an error goes to stderr"),
        (_but(OK, more=1), "", 0, "", "at the top: Additional properties"),
        (_but(OK, tool_version=1), "", 0, "", "at tool_version: 1 is not of type 'string'"),
        (_but(OK), "", 0, "response", "it was asked for response, and answered in murli"),
        (_but(ENVELOPE), "", 0, "murli", "it was asked for murli, and answered in"),
        ("", _but(ENVELOPE, ok=False, data=None, error={"code": "X", "message": "m"}), 1, "",
         "belongs on stdout"),
        (_but(ENVELOPE, data=None), "", 0, "response", "data and error are not both null"),
        (_but(ENVELOPE, meta=[]), "", 0, "response", "meta is not an object"),
        (_but(SECOND, meta={"duration_ms": 1, "exit_code": 3}), "", 0, "agent-spec-2",
         "meta.exit_code is 3, the exit code 0"),
        (_but(SECOND, warnings=["w"]), "", 0, "agent-spec-2", "at warnings[0]:"),
        ('{"result": 1, "status": "ok", "schema_version": ""}', "", 0, "", "and not empty"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told(
    stdout: str, stderr: str, code: int, contract: str, fault: str
) -> None:
    """An answer that breaks its contract is raised, in words, with the call and what it wrote."""
    with pytest.raises(InvalidDocument) as raised:
        run(_say(stdout, stderr, code), contract=contract)
    assert fault in str(raised.value)
    assert f"exit code {code}" in str(raised.value)
    assert run(_say(stdout, stderr, code), contract=contract, check=False).faults


@pytest.mark.parametrize("contract", FAMILY)
def test_a_valid_envelope_is_valid_without_a_contract(contract: str) -> None:
    """Where nobody says which contract it is, an envelope that fits one of the family is valid."""
    written = run(shop, "do", "places", contract=contract).stdout.strip()
    result = run(_say(written, "", 0))
    assert (result.ok, result.faults) == (True, ())
    backwards = dict(reversed(json.loads(written).items()))
    assert run(_say(json.dumps(backwards), "", 0), contract=contract).ok


def test_a_bare_summary_ends_a_stream() -> None:
    """A stream ends with its summary alone, which is no success where the process failed."""
    lines = '{"a": 1}\n{"event": "item", "data": {"heartbeat": true}}\n'
    result = run(_say(lines + '{"_summary": true, "_count": 2}', "", 0))
    assert (result.items, result.faults) == ([{"a": 1}, {"heartbeat": True}], ())
    with pytest.raises(InvalidDocument, match="a stream that failed ends with an envelope"):
        run(_say('{"a": 1}\n{"_summary": true, "_count": 1}', "", 1))


@pytest.mark.parametrize("contract", CONTRACTS)
def test_a_stream_that_fails_is_valid(contract: str) -> None:
    """The error that ends a stream is valid where the contract puts it, once or twice."""

    @click.command()
    def count() -> Any:
        yield {"one": 1}
        raise ValueError("no more")

    murli.enable(count, name="count")
    result = run(count, "--stream", contract=contract)
    assert (len(result.items), result.error.message) == (1, "no more")
    assert (contract == "murli") == ("no more" in result.stderr)


def test_every_fault_is_told_once() -> None:
    """What is wrong with the answer and what is wrong with the result are told together."""

    @click.command()
    @murli.pass_writer
    def price(writer: murli.Writer) -> dict[str, int]:
        writer.write_success("", {"price": "much"})
        raise ValueError("after all")

    murli.enable(price, name="price")
    assert run(price, mode="person", check=False).faults == ()
    assert run(price, "--validate-only", contract="agent-spec-2").plan is not None
    late, declared = run(price, check=False).faults
    assert "stdout reports a success" in late
    assert "the result is not what is declared" in declared


def test_invalid_documents_in_this_process_are_told() -> None:
    """An author's mistake that makes a document invalid is raised; unchecked, it can be seen."""
    with pytest.raises(InvalidDocument, match="at retry_after_ms: -1 is less than"):
        run(shop, "do", "negative-delay")
    unchecked = run(shop, "do", "negative-delay", check=False)
    assert unchecked.document["retry_after_ms"] == -1
    assert all(each.startswith("at retry_after_ms") for each in unchecked.faults)
    for contract in CONTRACTS:
        with pytest.raises(InvalidDocument, match="stdout reports a success"):
            run(shop, "do", "answer-and-fail", contract=contract)


def test_a_result_is_held_to_what_is_declared(tmp_path: Path) -> None:
    """A result that is not what its command declares is raised; of a process on request."""

    @click.command()
    @click.option("--bad", is_flag=True)
    def price(bad: bool) -> dict[str, int]:
        return {"price": "much" if bad else 30}  # type: ignore[dict-item]

    murli.enable(price, name="price")
    assert "declared returns" in run(price).held_to
    assert run(price, "--bad", mode="person").faults == ()
    for contract in CONTRACTS:
        with pytest.raises(InvalidDocument, match="at price: 'much' is not of type 'integer'"):
            run(price, "--bad", contract=contract)
    schema = run(price, "--schema").data["returns"]["output_schema"]
    process = run(_say(_but(OK, result={"price": "much"}), "", 0))
    with pytest.raises(InvalidDocument, match="at price: 'much' is not"):
        process.check(returns=schema)
    assert process.check(returns={"type": "object"}) is process


WITHOUT_SCHEMAS = """
import sys
sys.modules["jsonschema"] = None
import click, murli
from murli.testing import run

hello = click.Command("hello", callback=lambda: {"hello": "you"})
murli.enable(hello)
result = run(hello)
print(result.held_to)
print(run(["sh", "-c", 'echo "$1"; exit 1', "say", result.stdout], check=False).faults)
try:
    result.check(returns={})
except RuntimeError as error:
    print(error)
"""


def test_without_jsonschema_nothing_more_is_claimed(tmp_path: Path) -> None:
    """Without jsonschema the invariants are looked at, and held_to names no schema."""
    held_to, faults, told = run_script(script(tmp_path, WITHOUT_SCHEMAS)).out.splitlines()
    assert held_to == "('invariants of murli',)"
    assert "it breaks the rule: the exit code fits the status" in faults
    assert told == "A JSON Schema needs jsonschema: install murli[conformance]."


# -- what a test asks for -------------------------------------------------------------------------


def test_asking_for_what_is_not_there_tells_what_is() -> None:
    """data, plan and error fail the test where there is none, with the reason and the output."""
    failed, worked = run(shop, "do", "crash"), run(shop, "do", "places")
    with pytest.raises(Missing, match=r"(?s)There is no result: tool_error.*\$ shop do crash"):
        _ = failed.data
    with pytest.raises(Missing, match="There is no plan"):
        _ = worked.plan
    with pytest.raises(Missing, match=r"(?s)There is no error\n.*exit code 0"):
        _ = worked.error
    assert repr(worked) == "<Result of 'shop do places': exit code 0>"


def test_what_a_handler_raised_is_there() -> None:
    """The exception behind an answer is kept; with catch=False it is raised, all taken back."""
    result = run(shop, "do", "crash")
    assert (result.exit_code, type(result.exception)) == (2, KeyError)
    stdout = sys.stdout
    with pytest.raises(KeyError, match="nothing"):
        run(shop, "do", "crash", catch=False)
    assert sys.stdout is stdout

    def plain() -> None:
        raise LookupError("gone")

    assert run(plain).exit_code == 1
    assert "LookupError: gone" in run(plain).stderr
    with pytest.raises(LookupError):
        run(plain, catch=False)


def test_traces_are_seen(tmp_path: Path) -> None:
    """A result tells which files below the folder and the home a run made, changed or removed."""
    (tmp_path / "there.txt").write_text("x")
    assert run(shop, "do", "write", cwd=tmp_path).changed == ("made/it.txt",)
    assert run(shop, "do", "places", cwd=tmp_path).changed == ()
    removed = run(["rm", "there.txt"], cwd=tmp_path)
    assert removed.changed == ("there.txt",)
    assert run(["mkdir", "empty"], cwd=tmp_path).changed == ("empty",)
    (tmp_path / "module.py").write_text("")
    importing = [sys.executable, "-c", "import module"]
    loaded = run(importing, cwd=tmp_path, env={"PYTHONDONTWRITEBYTECODE": None})
    assert (loaded.changed, (tmp_path / "__pycache__").exists()) == ((), True)


def test_a_runner_keeps_its_home(tmp_path: Path) -> None:
    """What one call of a runner saves, the next one finds."""
    app = click.Command("reg", params=[click.Option(["--region"])], callback=lambda region: region)
    note = murli.FlagAnnotation(profileable=True)
    murli.annotate(app, murli.Metadata(flag_annotations={"region": note}))
    murli.enable(app, name="reg")
    runner = Runner(tmp_path)
    saved = runner(app, "--region", "eu", "profile", "save", "main")
    assert "~/.reg/profiles.json" in saved.changed
    assert runner(app, "--profile", "main").data == "eu"
    assert run(app, "--profile", "main").error.kind == "not_found"


def test_wrong_options_are_refused() -> None:
    """A contract or a mode that does not exist is told at once."""
    with pytest.raises(ValueError, match="contract is one of murli, response"):
        run(shop, contract="v2")
    with pytest.raises(ValueError, match="mode is agent or person"):
        run(shop, mode="robot")


# -- watching -------------------------------------------------------------------------------------


def test_what_others_run_is_watched(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever runs an app, its documents are judged; refused ones (MURLI_TEST) are told too."""
    from click.testing import CliRunner

    with watch() as verdict:
        assert CliRunner().invoke(shop, ["do", "places"]).exit_code == 0
        assert verdict.faults == []
        CliRunner().invoke(shop, ["do", "negative-delay"])
        assert "in the murli document (error): at retry_after_ms" in verdict.faults[0]
        CliRunner().invoke(shop, ["do", "answer-and-fail", "--contract", "response"])
        assert "belongs on stdout" in verdict.faults[-1]
    CliRunner().invoke(shop, ["do", "negative-delay"])
    assert len(verdict.faults) == 3

    from murli.contracts import Answer, checks

    with watch() as verdict, pytest.raises(InvalidDocument):
        checks.check("murli", Answer({"status": "lost"}))
    assert "refused" in verdict.faults[0]


def test_who_looks_is_not_failed_for_it() -> None:
    """What a run inside of a watch is made to look at is told there, and not outside."""
    with watch() as verdict:
        assert run(shop, "do", "negative-delay", check=False).faults
    assert verdict.faults == []
