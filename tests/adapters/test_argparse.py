"""The argparse adapter: whatever an author does with a parser still works."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import pytest

import murli
from harness import environment, run, run_at_terminal, script, tool
from in_process import listening, make

pytestmark = pytest.mark.warm


def test_enable_before_or_after_the_definitions() -> None:
    """Enable gives the same tool whether it stands before or after the definitions."""
    described = []
    for first in (True, False):
        parser = argparse.ArgumentParser(prog="t")
        if first:
            murli.enable(parser)
        parser.add_subparsers().add_parser("x", help="Do x").add_argument("--n", type=int)
        if not first:
            murli.enable(parser)
        with listening() as said:
            parser.parse_args(["describe"])
        described.append(said.out.getvalue())
    assert described[0] == described[1]
    assert '"name": "n"' in described[0]


def test_enabling_twice_changes_nothing() -> None:
    """A second enable leaves the parser as the first one made it."""
    parser = make(name="first")
    hooked = parser.parse_args
    murli.enable(parser, name="second")
    assert parser.parse_args is hooked
    with listening() as said:
        parser.parse_args(["describe"])
    assert said.document["name"] == "first"


def test_the_namespace_holds_only_the_tools_own() -> None:
    """Our flags leave no attribute in the namespace."""
    parser = make()
    parser.add_argument("--top", type=int)
    with listening() as said:
        args, writer = murli.parse(
            parser, ["--agent", "--top", "3", "--yes", "--output=json", "--protocol-version", "0.2"]
        )
    assert (vars(args), said.code) == ({"top": 3}, 0)
    assert (writer.is_forced(), writer.format()) == (True, "json")


def test_an_abbreviation_that_worked_still_works() -> None:
    """--output short for --output-file is still that, unless the value is a format of ours."""
    parser = make()
    parser.add_argument("--output-file")
    with listening():
        assert parser.parse_args(["--output", "notes.txt"]).output_file == "notes.txt"
        assert parser.parse_args(["--output", "json"]).output_file is None


def test_values_are_not_commands() -> None:
    """A value that looks like a command, mounted or not, stays a value."""
    parser = make()
    parser.add_argument("--env")
    parser.add_argument("--many", nargs="*")
    parser.add_subparsers(dest="command").add_parser("go")
    with listening():
        args = parser.parse_args(["--env", "describe", "go", "--agent"])
        assert (args.env, args.command) == ("describe", "go")
        args = parser.parse_args(["--many", "describe", "go"])
        assert (args.many, args.command) == (["describe", "go"], None)


def test_own_parse_methods_are_kept() -> None:
    """A parser class that extends parse_args keeps its extension."""

    class Strict(argparse.ArgumentParser):
        def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
            parsed = super().parse_args(args, namespace)
            parsed.checked = True
            return parsed

    parser = Strict(prog="t")
    parser.add_argument("--n", type=int)
    murli.enable(parser)
    with listening():
        assert vars(parser.parse_args(["--n", "1", "--agent"])) == {"n": 1, "checked": True}


def test_other_ways_to_parse() -> None:
    """parse_known_args and parse_intermixed_args are agent-native too."""
    parser = make()
    parser.add_argument("words", nargs="*")
    parser.add_argument("--n", type=int)
    with listening():
        args, rest = parser.parse_known_args(["a", "--other", "--agent", "--n", "1"])
        assert (args.words, args.n, rest) == (["a"], 1, ["--other"])
        args = parser.parse_intermixed_args(["a", "--n", "1", "--agent", "b"])
        assert (args.words, args.n) == (["a", "b"], 1)
    with listening() as said:
        parser.parse_intermixed_args(["a", "--n", "x"])
    assert (said.code, said.error["field"]) == (1, "n")


def test_errors_of_the_tool_itself() -> None:
    """parser.error() called by the tool, before or after parsing, keeps its words."""
    parser = make()
    with listening() as said:
        parser.parse_args([])
        parser.error("give one or the other")
    assert (said.code, said.error["message"]) == (1, "give one or the other")


def test_exit_on_error_is_respected() -> None:
    """A parser that raises its errors raises them, for the tool to handle."""
    parser = argparse.ArgumentParser(prog="t", exit_on_error=False)
    parser.add_argument("--n", type=int)
    murli.enable(parser)
    with listening(), pytest.raises(argparse.ArgumentError):
        parser.parse_args(["--n", "x"])


def test_custom_errors_are_kept_for_people(tmp_path: Path) -> None:
    """An author's own error() still speaks to people; agents get the document."""
    argv = script(
        tmp_path,
        "import argparse, sys, murli\n"
        "class Parser(argparse.ArgumentParser):\n"
        "    def error(self, message):\n"
        "        sys.stderr.write('oops\\n'); sys.exit(64)\n"
        "p = Parser(); murli.enable(p); p.parse_args()\n",
    )
    done = run_at_terminal(argv, "--bad")
    assert (done.err, done.code) == ("oops\n", 64)
    assert run(argv, "--bad").error["error"] == "flag_error"


def test_help_for_people_is_unchanged() -> None:
    """At a terminal an unannotated command's help is byte for byte what it was."""
    source = (
        "import argparse, sys\n"
        "p = argparse.ArgumentParser(prog='t', description='D', epilog='E')\n"
        "p.add_argument('--n', type=int, help='number'); s = p.add_subparsers()\n"
        "s.add_parser('x', help='do x').add_argument('y')\n"
    )
    plain = [sys.executable, "-c", source + "p.parse_args()"]
    ours = [sys.executable, "-c", source + "import murli; murli.enable(p); p.parse_args()"]
    for words in (["--help"], ["x", "--help"], ["x", "-h"]):
        before, after = run_at_terminal(plain, *words), run_at_terminal(ours, *words)
        assert (before.out, before.err, before.code) == (after.out, after.err, after.code)
        assert before.out.startswith("usage: t")


def test_session_answers_what_the_block_says() -> None:
    """A session answers with what its block returned, printed or raised, and then is over."""
    parser = make()
    with listening() as said, murli.session(parser, []) as (_, writer):
        print("stray")
        writer.write_success("Done", 1)
    assert (said.document["result"], said.err.getvalue()) == (1, "stray\n")
    with listening() as said, murli.session(parser, []):
        print("printed")
    assert said.document["result"] == "printed"
    with listening() as said, murli.session(parser, []):
        raise FileExistsError(17, "Exists", "x")
    assert (said.code, said.error["error"]) == (7, "conflict")
    with listening() as said, murli.session(parser, []):
        sys.exit(3)
    assert (said.code, said.error["code"]) == (3, 3)
    with listening() as said, murli.session(parser, []):
        sys.exit(0)
    assert (said.code, said.document["result"]) == (0, None)
    with listening() as said, murli.session(parser, ["--bad"]):
        pytest.fail("the block ran")
    assert said.code == 1


def test_a_session_leaves_no_trace() -> None:
    """After a session stdout is what it was, and get_writer no longer gives its writer."""
    parser = make()
    with listening() as said:
        own = sys.stdout
        with murli.session(parser, []) as (_, writer):
            assert murli.get_writer() is writer
        assert sys.stdout is own
        assert murli.get_writer() is not writer
    assert said.document["status"] == "ok"


def test_a_session_in_a_real_process(tmp_path: Path) -> None:
    """In a process a session collects what children print, and prints afterwards go to stdout."""
    argv = script(
        tmp_path,
        "import argparse, os, sys, murli\n"
        "p = argparse.ArgumentParser(prog='t'); murli.enable(p)\n"
        "with murli.session(p) as (args, writer):\n"
        "    os.system('echo child')\n"
        "sys.stderr.write(str(os.fstat(1).st_mode) + '\\n')\n",
    )
    done = run(argv)
    assert done.document["result"] == "child"


def test_get_writer_without_an_invocation() -> None:
    """Outside an invocation get_writer gives a writer for whoever is there."""
    with listening() as said:
        murli.get_writer().write_success("hi", {"a": 1})
    assert said.document["result"] == {"a": 1}


def test_a_test_keeps_its_process() -> None:
    """Parsing given words in a process that captures stdout installs nothing in it."""
    hook, leave = sys.excepthook, sys.exit
    parser = make()
    with listening():
        parser.parse_args([])
    assert (sys.excepthook, sys.exit) == (hook, leave)


@pytest.mark.parametrize("contract", ["murli", "response", "agent-spec-1.6", "agent-spec-2"])
@pytest.mark.parametrize("way", ["enable", "environment", "flag"])
def test_the_contract_is_chosen(tmp_path: Path, contract: str, way: str) -> None:
    """A contract is chosen in enable, in the environment or on one call."""
    given = f"contract={contract!r}" if way == "enable" else ""
    argv = script(
        tmp_path,
        "import argparse, murli\n"
        f"p = argparse.ArgumentParser(prog='t'); murli.enable(p, {given})\n"
        "args, writer = murli.parse(p); writer.write_success('ok', {'a': 1})\n",
    )
    env = environment(MURLI_CONTRACT=contract if way == "environment" else None)
    flag = ["--contract", contract] if way == "flag" else []
    document = run(argv, *flag, env=env).document
    assert document.get("result" if contract == "murli" else "data") == {"a": 1}
    assert ("exit_code" in document.get("meta", {})) == (contract == "agent-spec-2")
    failed = run(argv, "--bad", *flag, env=env)
    number = {"murli": 1, "response": 3}.get(contract, 2)
    assert failed.code == number
    if contract == "murli":
        assert (failed.out, failed.error["code"]) == ("", number)
    else:
        assert failed.err == ""
        assert failed.document["error"]["phase"] == "validation"


def test_choices_in_a_set_are_always_told_in_the_same_order() -> None:
    """A description is the same in every process, whatever order Python keeps a set in."""
    found = [
        run(tool("shop_argparse"), "describe", env=environment(PYTHONHASHSEED=seed)).out
        for seed in ("1", "2", "3")
    ]
    assert found[0] == found[1] == found[2]
