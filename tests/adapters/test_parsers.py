"""Parsers as other authors write them: subclasses, several in one process, caught exits."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from harness import ADAPTERS, Run, environment, run, run_at_terminal, script

pytestmark = pytest.mark.warm

# Subclasses with methods of other arguments than argparse's own; PLAIN=1 leaves murli out.
SUBCLASSES = """
import argparse, os, sys

class Parser(argparse.ArgumentParser):
    def parse_args(self, env, args=None, namespace=None):  # as httpie has it
        known, extras = super().parse_known_args(args, namespace)
        if extras:
            self.error("unrecognized: " + " ".join(extras))
        return env, known

class Keywords(argparse.ArgumentParser):
    def parse_args(self, *, conf, args=None):
        return conf, super().parse_args(args)

class NoWords(argparse.ArgumentParser):
    def parse_args(self, conf):
        return conf, super().parse_args(["--n", "9", *sys.argv[1:]])

class Wrapped(argparse.ArgumentParser):
    def parse_args(self, *args, **kwargs):
        return "wrapped", super().parse_args(*args, **kwargs)

class OtherNames(argparse.ArgumentParser):
    def parse_known_args(self, argv=None, ns=None):
        return super().parse_known_args(argv, ns)
    def print_help(self, file=None, verbose=True):
        (file or sys.stdout).write(self.format_help(verbose))
    def format_help(self, verbose=False):
        return "verbose\\n" * verbose + super().format_help()

class Twice(argparse.ArgumentParser):
    def parse_args(self, args=None, namespace=None):
        return self.parse_known_args(args)[0], super().parse_args(args, namespace)

class Soft(argparse.ArgumentParser):
    def exit(self, status=0, message=None, reason=""):
        sys.stderr.write(f"[{status}] {message}")

class Status(argparse.ArgumentParser):
    def error(self, problem, *, status=3):
        self.print_usage(sys.stderr)
        self.exit(status, f"E: {problem}\\n")

kind = sys.argv.pop(1)
parser = globals()[kind](prog="tool")
parser.add_argument("--n", type=int)
parser.add_argument("word", nargs="?")
if not os.environ.get("PLAIN"):
    import murli
    murli.enable(parser)
if kind == "Parser":
    print(parser.parse_args(args=sys.argv[1:], env="E"))
elif kind == "Keywords":
    print(parser.parse_args(conf="C", args=sys.argv[1:]))
elif kind == "NoWords":
    print(parser.parse_args("C"))
elif kind == "Wrapped":
    print(parser.parse_args(sys.argv[1:], namespace=argparse.Namespace(a=1)))
else:
    print(parser.parse_args())
"""

PARSED = "Namespace(n=3, word='x')"


@pytest.fixture(scope="module")
def subclasses(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    return script(tmp_path_factory.mktemp("subclasses"), SUBCLASSES)


@pytest.mark.parametrize(
    ("kind", "result"),
    [
        ("Parser", f"('E', {PARSED})"),
        ("Keywords", f"('C', {PARSED})"),
        ("NoWords", f"('C', {PARSED})"),
        ("Wrapped", "('wrapped', Namespace(a=1, n=3, word='x'))"),
        ("OtherNames", PARSED),
        ("Twice", f"({PARSED}, {PARSED})"),
    ],
)
def test_arguments_are_handed_through_as_they_came(
    subclasses: list[str], kind: str, result: str
) -> None:
    """A subclass gets the arguments it is called with, and the words without ours among them."""
    done = run(subclasses, kind, "x", "--output", "ndjson", "--n", "3")
    assert (done.code, done.err) == (0, "")
    assert done.lines[0]["result"] == result


def _compare_at_terminal(argv: list[str], *words: str) -> None:
    plain = run_at_terminal(argv, *words, env=environment(PLAIN="1"))
    shown = run_at_terminal(argv, *words)
    err = "".join(line for line in shown.err.splitlines(True) if not line.startswith("Hint:  "))
    assert (shown.out, err, shown.code) == (plain.out, plain.err, plain.code)


@pytest.mark.parametrize(("kind", "word"), [("Parser", "--nope"), ("OtherNames", "--help")])
def test_a_person_sees_what_a_subclass_shows(subclasses: list[str], kind: str, word: str) -> None:
    """At a terminal a subclass with other arguments shows what it showed, and ends alike."""
    _compare_at_terminal(subclasses, kind, word)


@pytest.mark.slow
@pytest.mark.parametrize("words", [["x"], ["--nope"], ["--help"], ["--n", "z"]])
@pytest.mark.parametrize(
    "kind",
    ["Parser", "Keywords", "NoWords", "Wrapped", "OtherNames", "Twice", "Soft", "Status"],
)
def test_every_subclass_is_shown_as_it_was(
    subclasses: list[str], kind: str, words: list[str]
) -> None:
    """At a terminal no call of any subclass differs by a byte, nor in its status."""
    _compare_at_terminal(subclasses, kind, *words)


def test_a_parser_that_goes_on_behind_an_error_goes_on(subclasses: list[str]) -> None:
    """Where exit() returns, the tool goes on with what it has, and what it prints is the result."""
    done = run(subclasses, "Soft", "--nope")
    assert (done.code, done.document["result"]) == (0, "Namespace(n=None, word=None)")
    assert "[2] tool: error: unrecognized arguments: --nope" in done.err


def test_an_error_with_other_arguments_is_a_usage_error(subclasses: list[str]) -> None:
    """An error() of other arguments, and a status of its own, is one document with our words."""
    done = run(subclasses, "Status", "--nope", "--output", "ndjson")
    assert (done.code, done.out, done.err.count("\n")) == (1, "", 1)
    assert done.error["message"] == "Unknown option --nope."


# An error() that raises, handled around the call, as dvc has it.
RAISING = """
import argparse, os, sys
import murli

class Wrong(Exception): pass

class Parser(argparse.ArgumentParser):
    def error(self, message, command=None):
        sys.stderr.write(f"ERROR: {message}\\n")
        raise Wrong
    def parse_args(self, args=None, namespace=None):
        args, extras = self.parse_known_args(args, namespace)
        if extras:
            self.error("unrecognized arguments: " + " ".join(extras), args.command)
        return args

parser = Parser(prog="tool")
commands = parser.add_subparsers(dest="command", parser_class=Parser)
commands.add_parser("status").add_argument("--deep", type=int)
murli.enable(parser)
try:
    print(parser.parse_args())
except Wrong:
    if os.environ.get("UNHANDLED"):
        raise
    sys.exit(254)
"""


def test_help_that_is_shown_behind_a_wrong_call_is_no_reason(tmp_path: Path) -> None:
    """A tool that catches its parser's exit and exits with its help is told what was wrong."""
    source = """
import argparse, murli, sys
parser = argparse.ArgumentParser()
parser.add_argument("--n", type=int)
parser.add_argument("--version", action="version", version="%(prog)s [version 4.3.0]")
murli.enable(parser)
try:
    parser.parse_args()
except SystemExit as end:
    parser.exit(7, parser.format_help())
"""
    done = run(script(tmp_path, source), "--n", "x")
    assert (done.code, done.error["code"], done.error["error"]) == (7, 7, "flag_error")
    assert done.error["message"] == 'Invalid value "x" for --n: expected an integer.'
    assert done.error["tool_version"] == "4.3.0"
    assert "usage:" in done.err


def test_an_error_that_raises_reaches_the_tool(tmp_path: Path) -> None:
    """What error() raises is handled by the tool; the document has its status, and the reason."""
    argv = script(tmp_path, RAISING)
    done = run(argv, "status", "--nope")
    assert (done.code, done.error["code"], done.error["error"]) == (254, 254, "flag_error")
    assert done.error["message"] == "unrecognized arguments: --nope"
    assert run(argv, "status", "--deep", "x").error["field"] == "deep"
    left = run(argv, "status", "--nope", env=environment(UNHANDLED="1"))
    assert (left.code, left.error["code"], left.error["error"]) == (1, 1, "flag_error")


# What a tool may do with the exit of its parser.
CATCHING = """
import argparse, atexit, os, sys
import murli
parser = argparse.ArgumentParser(prog="tool")
parser.add_argument("--n", type=int)
murli.enable(parser)
way = os.environ["WAY"]

def main():
    if way == "finally":
        try: parser.parse_args()
        finally: sys.exit(3)
    if way == "at exit":
        atexit.register(lambda: os._exit(6))
        parser.parse_args()
    try:
        parser.parse_args()
    except SystemExit as end:
        if way == "other status": raise SystemExit(32)
        if way == "its status": return end.code
        if way == "hard": os._exit(5)
        if way == "went on":
            # From 3.12 on it is Python's own class.
            assert (type(end) is SystemExit) is hasattr(sys, "monitoring")
            print("default", type(end).__name__, type(end), repr(end)); return None
        raise ValueError("wrapped")
    try:
        murli.get_writer().write_error(murli.AgentError.not_found("x"))
    except SystemExit:
        sys.exit(7)

sys.exit(main())
"""


@pytest.fixture(scope="module")
def catching(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    return script(tmp_path_factory.mktemp("catching"), CATCHING)


@pytest.mark.parametrize(
    ("way", "code"),
    [("finally", 3), ("at exit", 1), ("other status", 32), ("its status", 1), ("hard", 5)],
)
def test_the_code_of_a_wrong_call_is_the_exit_code(
    catching: list[str], way: str, code: int
) -> None:
    """Whatever the tool makes of the parser's exit, the document tells the status it ends with."""
    done = run(catching, "--nope", env=environment(WAY=way))
    assert (done.code, done.error["code"], done.out) == (code, code, "")
    assert done.error["message"] == "Unknown option --nope."
    assert done.err.count('"status": "error"') == 1


def test_an_exit_that_is_caught_for_good_is_none(catching: list[str]) -> None:
    """A tool that goes on behind a wrong call is answered for by what it does."""
    done = run(catching, "--nope", env=environment(WAY="went on"))
    assert (done.code, done.err) == (0, "")
    shown = "default SystemExit <class 'SystemExit'> SystemExit(2)"
    assert done.document["result"] == shown


def test_an_answer_that_is_out_keeps_its_code(catching: list[str]) -> None:
    """A status that comes behind a document changes nothing: neither a failure, nor describe."""
    done = run(catching, env=environment(WAY="none"))
    assert (done.code, done.error["code"]) == (5, 5)
    for way in ("other status", "hard", "wrap"):
        done = run(catching, "--schema", env=environment(WAY=way))
        assert (done.code, done.document["name"], done.err) == (0, "tool", "")


# Its configuration is parsed first, and its parser's exit means 32, as pylint has it.
CONFIGURED = """
import argparse, sys
import murli
parser = argparse.ArgumentParser(prog="lint")
parser.add_argument("--disable")
parser.add_argument("files", nargs="*")
murli.enable(parser)
parser.parse_known_args(["--disable", "all"])
try:
    args, extras = parser.parse_known_args(sys.argv[1:])
    if extras:
        parser.error("Unrecognized option found: " + extras[0])
except SystemExit:
    sys.exit(32)
print(parser.parse_args([]).disable, args)
"""


def test_a_parser_that_parses_its_configuration_first(tmp_path: Path) -> None:
    """There is one document, of the words the program was called with."""
    argv = script(tmp_path, CONFIGURED)
    assert run(argv, "describe").document["name"] == "lint"
    done = run(argv, "--schema", "a.py")
    assert (done.code, done.document["name"], done.err) == (0, "lint", "")
    done = run(argv, "a.py", "--output", "ndjson")
    assert done.lines[0]["result"] == "None Namespace(disable=None, files=['a.py'])"
    done = run(argv, "--nope")
    assert (done.code, done.error["code"]) == (32, 32)
    assert done.error["message"] == "Unrecognized option found: --nope"


# Options are read before the real parser is there; its own errors are suppressed, as in tox.
AHEAD = """
import argparse, contextlib, sys
import murli
first = argparse.ArgumentParser(prog="tool", add_help=False)
first.add_argument("--config")
first.add_argument("--jobs", type=int)
murli.enable(first)
rest = None
with contextlib.suppress(SystemExit):
    known, rest = first.parse_known_args()
print("banner")
parser = argparse.ArgumentParser(prog="tool", description="The real one.", parents=[first])
parser.add_argument("what")
murli.enable(parser)
print(parser.parse_args(rest))
"""


def test_a_parser_that_reads_ahead_is_not_the_tool(tmp_path: Path) -> None:
    """A description is given by the parser that knows the words, in one document."""
    argv = script(tmp_path, AHEAD)
    for words in (["--config", "c", "describe"], ["--schema", "--config", "c"]):
        done = run(argv, *words)
        assert (done.code, done.document["summary"]) == (0, "The real one.")
        assert done.err == "banner\n"
    done = run(argv, "x", "--output", "ndjson")
    assert done.lines[0]["result"] == "banner\nNamespace(config=None, jobs=None, what='x')"
    done = run(argv, "x", "--jobs", "many")
    assert (done.code, done.error["code"], done.error["field"]) == (1, 1, "jobs")
    assert done.err.count('"status": "error"') == 1


# A parser for each command behind a REMAINDER, all of them enabled, as twine could have it.
DISPATCHING = """
import argparse, sys
import murli
root = argparse.ArgumentParser(prog="tool")
root.add_argument("--version", action="version", version="tool 1.2")
root.add_argument("--password")
root.add_argument("command", choices=["upload"])
root.add_argument("args", nargs=argparse.REMAINDER)
murli.enable(root)
args = root.parse_args(sys.argv[1:])
parser = argparse.ArgumentParser(prog="tool upload")
parser.add_argument("dists", nargs="+")
murli.enable(parser)
print(parser.parse_args(args.args), args.password)
"""


def test_a_parser_for_each_command(tmp_path: Path) -> None:
    """What is said to the first parser counts for the second; there is one document of both."""
    argv = script(tmp_path, DISPATCHING)
    done = run(argv, "--output", "ndjson", "--password", "hunter22", "upload", "describe")
    answer = done.lines[0]
    assert (len(done.lines), answer["tool_version"]) == (1, "1.2")
    assert answer["result"] == "Namespace(dists=['describe']) [REDACTED]"
    done = run(argv, "upload", "--schema")
    assert [each["name"] for each in done.document["arguments"]] == ["dists"]
    done = run(argv, "upload", "x", "--nope")
    assert (done.code, done.out, done.error["field"]) == (1, "", "nope")
    done = run(argv, "upload", env=environment(MURLI_CONTRACT="agent-spec-2"))
    assert (done.code, done.document["error"]["code"]) == (2, "COMMAND_ERROR")
    assert "describe'" not in run(argv, "upload", "--help").out
    assert "describe'" in run(argv, "--help").out


# Commands that are typed one after the other, parsed by the parser of the call.
DIALOGUE = """
import argparse, sys
import murli
parser = argparse.ArgumentParser(prog="shell")
parser.add_argument("--token")
commands = parser.add_subparsers(dest="command")
commands.add_parser("list")
drop = commands.add_parser("drop")
murli.annotate(drop, murli.Metadata(mutating=True))
murli.enable(parser)
parser.parse_args()
for line in ("list", "nope", "list --token tok-4711-secret", "drop --yes", "drop"):
    try: print(parser.parse_args(line.split()).command)
    except SystemExit as end: print("exit", end.code)
print("tok-4711-secret")
"""


def test_a_dialogue_is_one_call(tmp_path: Path) -> None:
    """Lines that a tool parses by itself are guarded, keep their secrets, and end no call."""
    argv = script(tmp_path, DIALOGUE)
    done = run(argv, "--force")
    assert done.code == 0
    shown = ["list", "exit 2", "exit 2", "drop", "drop", "[REDACTED]"]
    assert done.document["result"].split("\n") == shown


SESSION = """
import argparse, os, sys
import murli

class Spent(Exception): pass

parser = argparse.ArgumentParser(prog="tool")
murli.enable(parser)
way = os.environ["WAY"]
try:
    with murli.session(parser) as (args, writer):
        print("begun")
        if way == "own": raise Spent("quota is spent")
        if way == "ours": raise murli.AgentError.not_found("no such thing")
        sys.exit(4)
except Spent as problem:
    print("handled:", problem, file=sys.stderr)
    sys.exit(42)
except SystemExit:
    sys.exit(32)
"""


def _in_session(argv: list[str], way: str) -> Run:
    return run(argv, env=environment(WAY=way))


def test_exceptions_reach_the_handler_around_a_session(tmp_path: Path) -> None:
    """On a pipe too the tool handles what its block raises; what murli answers stays answered."""
    argv = script(tmp_path, SESSION)
    done = _in_session(argv, "own")
    assert (done.code, done.error["code"], done.error["message"]) == (
        42,
        42,
        "handled: quota is spent",
    )
    done = _in_session(argv, "exit")
    assert (done.code, done.error["code"], done.error["result"]) == (32, 32, "begun")
    done = _in_session(argv, "ours")
    assert (done.code, done.error["code"], done.error["error"]) == (5, 5, "not_found")


def test_exec_behind_a_parser_that_reads_ahead(tmp_path: Path) -> None:
    """Many calls in one process are answered each, also where a parser has parsed before."""
    argv = script(
        tmp_path,
        "import argparse, murli\n"
        "first = argparse.ArgumentParser(add_help=False); first.add_argument('--config')\n"
        "murli.enable(first); rest = first.parse_known_args()[1]\n"
        "p = argparse.ArgumentParser(prog='tool')\n"
        "p.add_subparsers(dest='c').add_parser('add').add_argument('x', type=int)\n"
        "murli.enable(p, contract='agent-spec-2'); print(p.parse_args(rest).x + 1)\n",
    )
    lines = b'{"_cmd": "add", "x": 1}\n{"_cmd": "add", "x": "z"}\n'
    env = environment(MURLI_CONTRACT="agent-spec-2")
    done = run(argv, "exec", "--ignore-errors", stdin=lines, env=env)
    assert [line["ok"] for line in done.lines] == [True, False]
    assert done.lines[0]["data"] == {"text": "2"}


@pytest.mark.parametrize("contract", ["response", "agent-spec-1.6", "agent-spec-2"])
def test_the_other_contracts_agree_with_the_exit_code(catching: list[str], contract: str) -> None:
    """In the other contracts the code of a wrong call stands, whatever the tool exits with."""
    env = environment(WAY="other status", MURLI_CONTRACT=contract)
    done = run(catching, "--nope", env=env)
    document = json.loads(done.out)
    assert (document["ok"], document["error"]["code"]) == (False, "FLAG_ERROR")
    assert done.code == (3 if contract == "response" else 2)
    assert document["meta"].get("exit_code", done.code) == done.code


def test_a_parser_below_an_enabled_one_may_be_enabled_too(tmp_path: Path) -> None:
    """A subparser that is enabled by itself is a command of the call all the same."""
    argv = script(
        tmp_path,
        "import argparse, murli\n"
        "p = argparse.ArgumentParser(prog='tool'); murli.enable(p)\n"
        "c = p.add_subparsers(dest='c').add_parser('run'); c.add_argument('--n', type=int)\n"
        "murli.enable(c); print(p.parse_args())\n",
    )
    assert run(argv, "run", "--n", "2").document["result"] == "Namespace(c='run', n=2)"
    assert run(argv, "run", "--schema").document["name"] == "run"
    assert run(argv, "run", "--n", "x").error["field"] == "n"


def test_what_another_program_may_mean_is_passed_on(tmp_path: Path) -> None:
    """Behind an option that a parser keeps for another program, describe may be its value."""
    argv = script(
        tmp_path,
        "import argparse, murli\n"
        "p = argparse.ArgumentParser(prog='tool'); p.add_argument('--n', type=int)\n"
        "murli.enable(p); print(p.parse_known_args())\n",
    )
    assert "['--foo', 'describe']" in run(argv, "--foo", "describe", "--agent").out
    assert run(argv, "describe").document["name"] == "tool"


def test_a_persons_traceback_has_no_frame_of_ours(catching: list[str]) -> None:
    """Neither what left a program nor what it was raised from shows that murli is there."""
    done = run(catching, "--nope", env=environment(WAY="wrap", MURLI_MODE="human"))
    assert (done.code, "SystemExit: 2" in done.err, "ValueError: wrapped" in done.err) == (
        1,
        True,
        True,
    )
    assert "murli" not in done.err


def test_the_tests_of_a_tool_keep_their_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Inside a test a wrong call is answered at once, and nothing is installed in the process."""
    import argparse

    import murli

    parser = argparse.ArgumentParser(prog="tool")
    murli.enable(parser)
    monkeypatch.setattr(sys, "argv", ["tool"])
    with pytest.raises(SystemExit):
        parser.parse_args(["--nope"])
    assert "murli" not in str(sys.exit)


WITH_WORDS_OF_ITS_OWN = {
    "argparse": """
import argparse, murli, sys
tool = argparse.ArgumentParser()
tool.add_argument("--n", type=int)
murli.enable(tool)
print(tool.parse_args(["--n", "9", *sys.argv[1:]]).n)
""",
    "click": """
import click, murli, sys
@click.command()
@click.option("--n", type=int)
def tool(n): print(n)
murli.enable(tool)
tool(["--n", "9", *sys.argv[1:]])
""",
    "typer": """
import typer, murli, sys
tool = typer.Typer()
@tool.command()
def main(n: int = 0): print(n)
murli.enable(tool)
tool(["--n", "9", *sys.argv[1:]])
""",
}


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_words_that_a_tool_adds_are_not_the_callers(tmp_path: Path, adapter: str) -> None:
    """Only who gives an option twice is refused, not who gives one that the tool adds as well."""
    argv = script(tmp_path, WITH_WORDS_OF_ITS_OWN[adapter])
    env = environment(MURLI_CONTRACT="agent-spec-2")
    assert run(argv, "--n", "2", env=env).document["data"] == {"text": "2"}
    twice = run(argv, "--n", "2", "--n=3", env=env).document["error"]["message"]
    assert twice == "Option --n was given more than once, with different values."
