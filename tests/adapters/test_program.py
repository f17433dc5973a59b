"""`murli.program`: a program without a parser, or with a dispatch of its own, answers too."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

import murli
from harness import environment, run, run_at_terminal, script

pytestmark = pytest.mark.warm

# It reads sys.argv by hand; PLAIN=1 leaves murli out.
BY_HAND = """
import contextlib, os, sys, time

def main():
    words = sys.argv[1:]
    if words[:1] == ["greet"]: print("hello", *words[1:]); return 0
    if words[:1] == ["data"]: print('{"a": [1, 2]}'); return 0
    if words[:1] == ["fail"]: print("error: no such host", file=sys.stderr); return 3
    if words[:1] == ["crash"]: raise ValueError("boom")
    if words[:1] == ["wait"]: print("begun", flush=True); time.sleep(30)
    print(f"unknown command {words}", file=sys.stderr)
    return 64

if os.environ.get("PLAIN"):
    around = contextlib.nullcontext()
else:
    import murli
    around = murli.program("greeter", description="Greets people.", tool_version="2.1",
                           agents=os.environ.get("AGENTS", "pipe"))
with around:
    sys.exit(main())
"""


@pytest.fixture(scope="module")
def by_hand(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    return script(tmp_path_factory.mktemp("by_hand"), BY_HAND)


def test_a_program_without_a_parser_answers(by_hand: list[str]) -> None:
    """What it prints is the result of one document; flags of ours are not among its words."""
    done = run(by_hand, "greet", "--agent", "bob", "--output", "ndjson", "--force", "--limit", "3")
    assert (done.code, done.err, len(done.lines)) == (0, "", 1)
    answer = done.lines[0]
    assert (answer["tool_version"], answer["result"]) == ("2.1", "hello bob --force --limit 3")
    assert run(by_hand, "data").document["result"] == {"a": [1, 2]}
    done = run(by_hand, "data", "--contract", "response")
    assert (done.document["ok"], done.document["data"]) == (True, {"a": [1, 2]})


@pytest.mark.parametrize(
    ("word", "code", "message"),
    [
        ("fail", 3, "error: no such host"),
        ("crash", 2, "boom"),
        ("nope", 64, "unknown command ['nope']"),
    ],
)
def test_a_bad_end_is_the_failure(by_hand: list[str], word: str, code: int, message: str) -> None:
    """A status, an exception and a word that it does not know are one document each."""
    done = run(by_hand, word)
    assert (done.code, done.out) == (code, "")
    assert (done.error["code"], done.error["message"]) == (code, message)


def test_it_describes_itself(by_hand: list[str]) -> None:
    """It answers describe and --schema with what is known, and runs nothing for it."""
    document = run(by_hand, "describe").document
    assert (document["name"], document["summary"]) == ("greeter", "Greets people.")
    done = run(by_hand, "crash", "--schema")
    assert (done.code, done.document["name"], done.err) == (0, "greeter", "")
    # Behind an option it may be a value.
    assert "unknown command" in run(by_hand, "--name", "describe").error["message"]


def test_it_is_interrupted_like_any_other(by_hand: list[str]) -> None:
    """A signal, and a deadline, are the cancelled and the timeout document."""
    process = subprocess.Popen(
        [*by_hand, "wait", "--contract", "agent-spec-2"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(PYTHONUNBUFFERED="1"),
    )
    with process:
        late = run(by_hand, "wait", env=environment(MURLI_TIMEOUT="700ms"))
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=30)
    assert (process.returncode, b'"CANCELLED"' in out, b'"detail": "begun"' in out) == (
        130,
        True,
        True,
    )
    assert (late.code, late.error["error"], late.error["result"]) == (4, "timeout", "begun")


@pytest.mark.parametrize("words", [["greet", "bob"], ["crash"], ["fail"]])
def test_a_person_does_not_notice(by_hand: list[str], words: list[str]) -> None:
    """At a terminal every byte and every status is the program's own."""
    shown = run_at_terminal(by_hand, *words)
    assert shown == run_at_terminal(by_hand, *words, env=environment(PLAIN="1"))


def test_a_pipe_may_be_a_persons(by_hand: list[str]) -> None:
    """With agents="flag" only who asks is answered with a document."""
    env = environment(AGENTS="flag")
    crash = run(by_hand, "crash", env=env)
    assert crash == run(by_hand, "crash", env=environment(PLAIN="1"))
    assert run(by_hand, "greet", "x", env=env).out == "hello x\n"
    assert run(by_hand, "greet", "x", "--agent", env=env).document["result"] == "hello x"


# A dispatch of its own before argparse, as scrapy has it; ENABLED=1 enables the parsers too.
DISPATCH = """
import argparse, os, sys
import click
import murli

def crawl_parser():
    parser = argparse.ArgumentParser(prog="spider crawl", description="Run a spider.")
    parser.add_argument("name")
    parser.add_argument("--output", metavar="FILE")
    parser.add_argument("--depth", type=int)
    if os.environ.get("ENABLED"):
        murli.enable(parser)
    return parser

def drop_parser():
    parser = argparse.ArgumentParser(prog="spider drop")
    murli.annotate(parser, murli.Metadata(mutating=True))
    return parser

def broken():
    raise ImportError("no module named nothing")

@click.command()
@click.argument("url")
def fetch(url):
    "Fetch one page."
    click.echo(f"fetched {url}")

wipe = argparse.ArgumentParser(prog="spider wipe", description="Delete the cache.")
murli.annotate(wipe, murli.Metadata(mutating=True))
if os.environ.get("ENABLED"):
    murli.enable(fetch)
own = argparse.ArgumentParser(add_help=False)
own.add_argument("--timeout", metavar="SECONDS", help="for every page")
PARSERS = {"": own, "crawl": crawl_parser, "fetch": fetch, "wipe": wipe, "shell": "Open a shell.",
           "broken": broken, "drop": drop_parser}

def main():
    name, *rest = sys.argv[1:] or [""]
    if name == "crawl": print(crawl_parser().parse_args(rest))
    elif name == "fetch": sys.argv[1:2] = []; fetch(prog_name="spider fetch")
    elif name == "wipe": wipe.parse_args(rest); print("wiped")
    elif name == "drop": drop_parser().parse_args(rest); print("dropped")
    else: print("Unknown command:", sys.argv[1:]); sys.exit(2)

with murli.program("spider", parsers=PARSERS):
    main()
"""


@pytest.fixture(scope="module")
def dispatch(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    return script(tmp_path_factory.mktemp("dispatch"), DISPATCH)


def test_describe_is_fed_from_several_parsers(dispatch: list[str]) -> None:
    """Parsers, click commands, functions that make one and text are the commands it lists."""
    document = run(dispatch, "describe").document
    commands = {each["name"]: each for each in document["commands"]}
    assert {name: each.get("summary", "") for name, each in commands.items()} == {
        "crawl": "Run a spider.",
        "fetch": "Fetch one page.",
        "wipe": "Delete the cache.",
        "shell": "Open a shell.",
        "broken": "Cannot be loaded: no module named nothing",
        "drop": "",
    }
    assert [flag["name"] for flag in commands["crawl"]["flags"]] == ["output", "depth"]
    schema = run(dispatch, "crawl", "--schema").document
    assert (schema["name"], schema["flags"][0]["name"]) == ("crawl", "output")
    assert run(dispatch, "fetch", "--schema").document["arguments"][0]["name"] == "url"


@pytest.mark.parametrize("enabled", ["", "1"])
def test_the_program_is_the_owner(dispatch: list[str], enabled: str) -> None:
    """With enabled parsers inside, and without, there is one document in the format asked for."""
    env = environment(ENABLED=enabled)
    done = run(dispatch, "--output", "ndjson", "crawl", "x", "--output", "json", env=env)
    assert (done.code, len(done.lines)) == (0, 1)
    assert done.lines[0]["result"] == "Namespace(name='x', output='json', depth=None)"
    done = run(dispatch, "fetch", "u", "--output", "ndjson", env=env)
    assert (done.code, len(done.lines), done.lines[0]["result"]) == (0, 1, "fetched u")
    wrong = run(dispatch, "crawl", "x", "--nope", env=env)
    expected = (1, "flag_error") if enabled else (2, "execution_error")
    assert (wrong.code, wrong.error["error"]) == expected
    assert "--nope" in wrong.error["message"]


def test_what_is_the_programs_own_stays_its_own(dispatch: list[str]) -> None:
    """An option that is listed for the program is not ours; a declared danger is guarded."""
    own = run(dispatch, "--timeout", "5", "x")
    assert own.error["result"] == "Unknown command: ['--timeout', '5', 'x']"
    for word, done in (("wipe", "wiped"), ("drop", "dropped")):
        refused = run(dispatch, word)
        assert (refused.code, refused.error["error"]) == (1, "confirmation_required")
        assert run(dispatch, word, "--yes").document["result"] == done


def test_a_block_in_a_test_is_a_call(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where the process is somebody else's, the end of the block answers, and leaves no trace."""
    words = ["greeter", "greet", "--output", "ndjson"]
    monkeypatch.setattr(sys, "argv", list(words))
    with murli.program("greeter"):
        print("hello", *sys.argv[1:])
    assert '"result":"hello greet"' in capsys.readouterr().out
    assert sys.argv == words


def test_what_is_no_parser_is_refused() -> None:
    """A command that is neither a parser nor text is told where the program is made."""
    with pytest.raises(TypeError, match=r"'crawl' is builtins\.int"):
        murli.program("spider", parsers={"crawl": 3})
    with pytest.raises(ValueError, match="contract is one of"):
        murli.program("spider", contract="nope")
