"""What a call brings along: parameters as JSON, secrets kept elsewhere, a file to read."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from documents import FAMILY
from harness import ADAPTERS, Run, environment, run, run_at_terminal, script, tool
from murli import AgentError
from murli.adapters.argparse import tree as argparse_tree
from murli.adapters.click import declared
from murli.adapters.click import tree as clicklike_tree
from murli.adapters.click.levels import CommandLevel
from murli.declare.tree import Argument, Command, Flag
from murli.line.payload import words_along, words_for
from properties import examples

pytestmark = [pytest.mark.adapters("argparse", "click"), pytest.mark.warm]

SPEC_2 = environment(MURLI_CONTRACT="agent-spec-2")
ARG_ERROR = {"response": 3, "agent-spec-1.6": 2, "agent-spec-2": 2}
# Every adapter and every contract once: what they have to do with each other is tested elsewhere.
DIAGONAL = list(zip(ADAPTERS, FAMILY, strict=True))

COMMAND = Command(
    ("tool", "send"),
    arguments=[Argument("to"), Argument("files", "[]string", False, values=-1)],
    flags=[
        Flag("subject"),
        Flag("dry_wood", "bool", values=0),
        Flag("color", "bool", True, values=0, negation="no-color"),
        Flag("verbose", "int", short="v", values=0),
        Flag("label", "[]string"),
        Flag("size", "[]int", values=2),
        Flag("cc", "[]string", values=-1),
        Flag("q", "string", spelling="-q"),
        Flag("checked", "bool"),
        Flag("token"),
    ],
)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({}, []),
        ({"to": "you"}, ["you"]),
        ({"to": "-you", "subject": "--force"}, ["--subject=--force", "--", "-you"]),
        ({"to": "-", "files": ["a", "b c"]}, ["-", "a", "b c"]),
        ({"files": "a", "to": "you"}, ["you", "a"]),
        ({"dry-wood": True, "dry_wood": True}, ["--dry_wood"]),
        ({"color": False, "dry_wood": False}, ["--no-color"]),
        ({"verbose": 3}, ["--verbose"] * 3),
        ({"v": True}, ["--verbose"]),
        ({"label": ["a", "-b"]}, ["--label=a", "--label=-b"]),
        ({"label": "a"}, ["--label=a"]),
        ({"size": [1, -2]}, ["--size", "1", "-2"]),
        ({"size": [[1, 2], [3, 4]]}, ["--size", "1", "2", "--size", "3", "4"]),
        ({"cc": ["a", "b"], "to": "you"}, ["--cc", "a", "b", "--", "you"]),
        ({"cc": ["a"], "q": "b", "to": "you"}, ["--cc", "a", "-q", "b", "you"]),
        ({"q": "-x"}, ["-q-x"]),
        ({"q": ""}, ["-q", ""]),
        ({"checked": False}, ["--checked=false"]),
        ({"subject": None}, []),
        ({"subject": 1.5}, ["--subject=1.5"]),
        ({"subject": {"a": [1]}}, ['--subject={"a":[1]}']),
        ({"token_from_env": "T"}, ["--token-from-env=T"]),
    ],
)
def test_values_become_words(values: dict[str, Any], words: list[str]) -> None:
    """Every value becomes the words a careful caller would have typed."""
    assert words_for(COMMAND, values) == words


@pytest.mark.parametrize(
    ("values", "fields"),
    [
        ({"sbject": "x"}, ["sbject"]),
        ({"dry_wood": "yes", "subject": ["a"], "nope": 1}, ["nope", "subject", "dry_wood"]),
        ({"subject": True}, ["subject"]),
        ({"verbose": "3"}, ["verbose"]),
        ({"verbose": 1000}, ["verbose"]),
        ({"size": [1]}, ["size"]),
        ({"cc": ["--force"]}, ["cc"]),
        ({"to": ["a", "b"]}, ["to"]),
        ({"files": ["a"]}, ["to"]),
        ({"subject-from-env": "T"}, ["subject-from-env"]),
    ],
)
def test_what_fits_no_word_is_refused(values: dict[str, Any], fields: list[str]) -> None:
    """What a command does not take is refused, all of it at once, and no value is repeated."""
    with pytest.raises(AgentError) as refused:
        words_for(COMMAND, values)
    told = refused.value.context.get("errors") or [{"field": refused.value.field}]
    assert [each["field"] for each in told] == fields
    assert refused.value.kind == "user_error"


def test_each_command_on_the_way_takes_its_own() -> None:
    """Options go to the innermost command that has them, and stand behind its name."""
    root = Command(("tool",), flags=[Flag("region"), Flag("subject")])
    values = {"region": "eu", "subject": "s", "to": "you"}
    words = words_along([root, COMMAND], values, {"label": "x"}, first=["--yes"])
    assert words == ["--region=eu", "send", "--yes", "--subject=s", "--label=x", "you"]
    with pytest.raises(AgentError, match="no parameter"):
        words_along([root, COMMAND], {}, {"to": "you"})


PARSER = argparse.ArgumentParser(prog="t", exit_on_error=False)
PARSER.add_argument("to")
PARSER.add_argument("files", nargs="*")
PARSER.add_argument("--subject")
PARSER.add_argument("-q")
PARSER.add_argument("--label", action="append")
PARSER.add_argument("--pair", nargs=2)
PARSER.add_argument("--cc", nargs="+")
PARSER.add_argument("--wood", action="store_true")
PARSER.add_argument("-v", action="count", default=0)
PARSER.add_argument("--color", action=argparse.BooleanOptionalAction, default=True)


@click.command
@click.argument("to")
@click.argument("files", nargs=-1)
@click.option("--subject")
@click.option("-q")
@click.option("--label", multiple=True)
@click.option("--pair", nargs=2)
@click.option("--wood", is_flag=True)
@click.option("-v", count=True)
@click.option("--color/--no-color", default=True)
def mail(**given: Any) -> dict[str, Any]:
    return given


_TEXT = st.text(max_size=5) | st.sampled_from(
    ["-x", "--subject", "--", "-", "-1", "-1.5", "=", "a=b", "--no-color", "-q", "-qx", "-v=", ""]
)
_VALUES = st.fixed_dictionaries(
    {"to": _TEXT},
    optional={
        "files": st.lists(_TEXT, max_size=3),
        "subject": _TEXT,
        "q": _TEXT,
        "label": st.lists(_TEXT, min_size=1, max_size=2),
        "pair": st.lists(_TEXT, min_size=2, max_size=2),
        "wood": st.booleans(),
        "v": st.integers(0, 3),
        "color": st.booleans(),
    },
)


@examples(80)
@given(values=_VALUES, cc=st.lists(_TEXT, min_size=1, max_size=2))
def test_a_parser_reads_the_same_values(values: dict[str, Any], cc: list[str]) -> None:
    """Whatever the values are, a parser gets exactly them, or they are refused before it runs."""
    parsers: list[tuple[Command, dict[str, Any], Any]] = [
        (argparse_tree.walk(PARSER, ("t",)), {**values, "cc": cc}, PARSER.parse_args),
        (
            clicklike_tree.walk(CommandLevel(mail, "t"), ("t",), declared),
            values,
            lambda words: mail.main(words, standalone_mode=False),
        ),
    ]
    for command, given_values, parse in parsers:
        try:
            words = words_for(command, given_values)
        except AgentError as error:
            assert "dash" in str(error)
            continue
        parsed = parse(words)
        found = parsed if isinstance(parsed, dict) else vars(parsed)
        for name, value in given_values.items():
            got = list(found[name]) if isinstance(found[name], tuple) else found[name]
            assert got == value, words


# -- in a running tool -------------------------------------------------------------------------

CREATE = {"title": "-Saw", "weight": 1.5, "tag": ["a", "b"], "count": None}


@pytest.mark.parametrize(("adapter", "contract"), DIAGONAL)
def test_a_raw_payload(adapter: str, contract: str) -> None:
    """--raw-payload gives all parameters of a command as one JSON object."""
    tasks, env = tool(f"tasks_{adapter}"), environment(MURLI_CONTRACT=contract)
    done = run(tasks, "task", "create", "--raw-payload", json.dumps(CREATE), "--yes", env=env)
    assert (done.code, done.document["data"]["title"]) == (0, "-Saw")
    done = run(tasks, "task", "create", "--raw-payload", "{", "--yes", env=env)
    assert (done.code, done.document["error"]["phase"]) == (ARG_ERROR[contract], "validation")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["create", "Saw"], "not combined"),
        (["create", "--weight", "1"], "not combined"),
        (["create", "--raw-payload=[]"], "different values"),
        (["list"], "for commands that change something"),
        (["nowhere"], "Unknown command"),
    ],
)
def test_a_raw_payload_stands_alone(tmp_path: Path, words: list[str], message: str) -> None:
    """It is not combined with the parameters it stands for, and is for commands that change."""
    done = run(_notes(tmp_path, "argparse"), *words, "--raw-payload", '{"title": "x"}', env=SPEC_2)
    assert done.code == 2
    assert message in done.document["error"]["message"]


def test_a_raw_payload_that_is_nearly_json(tmp_path: Path) -> None:
    """A payload is understood as it is meant, and what is wrong in it is told at once."""
    notes = _notes(tmp_path, "click")
    done = run(notes, "create", "--raw-payload", "{title: 'x', weight: 2,}", env=SPEC_2)
    assert done.document["data"] == {"title": "x", "weight": 2, "token": None}
    done = run(notes, "create", "--raw-payload", '{"titel": 1, "weigth": 2}', env=SPEC_2)
    assert [each["field"] for each in done.document["error"]["errors"]] == [
        "titel",
        "weigth",
    ]


def test_a_payload_at_a_terminal(tmp_path: Path) -> None:
    """A person has no such flag: there it is an option that nobody knows."""
    words = ("create", "--raw-payload", '{"title": "x"}')
    done = run_at_terminal(_notes(tmp_path, "click"), *words, env=SPEC_2)
    assert "No such option" in done.err
    assert ("--raw-payload" in done.err, done.code) == (True, 2)


NOTES = """
import sys
from typing import Any
import murli
SAFE = murli.Metadata(danger_level="safe")
READS = murli.Metadata(traits=murli.Traits(stdin={"mode": "buffered"}))
def create(title: str, weight: int, token: Any) -> Any:
    return {"title": title, "weight": weight, "token": token}
def read() -> Any:
    return {"read": len(sys.stdin.read())}
"""
FRONT = {
    "argparse": """
import argparse
parser = argparse.ArgumentParser(prog="notes")
parser.add_argument("--password")
commands = parser.add_subparsers(dest="command", required=True)
new = commands.add_parser("create")
new.add_argument("title")
new.add_argument("--weight", type=int, default=1)
new.add_argument("--token")
new.add_argument("--key-from-env")
murli.annotate(commands.add_parser("list"), SAFE)
murli.annotate(commands.add_parser("read"), READS)
murli.enable(parser)
args = vars(parser.parse_args())
if args["command"] == "create":
    done = create(args["title"], args["weight"], args["token"])
else:
    done = read() if args["command"] == "read" else {"password": args["password"]}
murli.get_writer().write_success("", done)
""",
    "click": """
import click
@click.group()
@click.option("--password")
@click.pass_context
def cli(context, password): context.obj = password
@cli.command("create")
@click.argument("title")
@click.option("--weight", type=int, default=1)
@click.option("--token")
@click.option("--key-from-env")
def new(title, weight, token, key_from_env): return create(title, weight, token)
@cli.command("list")
@click.pass_obj
def show(obj): return {"password": obj}
@cli.command("read")
def take(): return read()
murli.annotate(show, SAFE)
murli.annotate(take, READS)
murli.enable(cli, name="notes")
if __name__ == "__main__":
    cli()
""",
    "typer": """
import typer
app = typer.Typer()
@app.callback()
def main(context: typer.Context, password: str = ""): context.obj = password
@app.command("create")
def new(title: str, weight: int = 1, token: str = "", key_from_env: str = ""):
    return create(title, weight, token)
@app.command("list")
def show(context: typer.Context): return {"password": context.obj}
@app.command("read")
def take(): return read()
murli.annotate(show, SAFE)
murli.annotate(take, READS)
murli.enable(app, name="notes")
if __name__ == "__main__":
    app()
""",
}


def _notes(tmp_path: Path, adapter: str) -> list[str]:
    return script(tmp_path, NOTES + FRONT[adapter])


@pytest.fixture(params=ADAPTERS)
def notes(request: pytest.FixtureRequest, tmp_path: Path) -> list[str]:
    return _notes(tmp_path, request.param)


SECRET = "hunter2-hunter2"


def secretive(**changes: str) -> dict[str, str]:
    return environment(MURLI_CONTRACT="agent-spec-2", WHERE=SECRET, **changes)


def test_a_secret_from_a_variable_or_a_file(notes: list[str], tmp_path: Path) -> None:
    """--X-from-env and --X-from-file give a secret that is on no command line, nor in an answer."""
    (tmp_path / "secret").write_text(f"{SECRET}\n")
    for words in (
        ["create", "x", "--token-from-env", "WHERE"],
        ["create", "--token-from-env=WHERE", "x"],
        ["create", "x", "--token-from-file", str(tmp_path / "secret")],
    ):
        done = run(notes, *words, env=secretive())
        assert done.document["data"] == {"title": "x", "weight": 1, "token": "[REDACTED]"}
        assert SECRET.encode() not in done.stdout + done.stderr
    # Also before the command's name, where it is the tool's own.
    done = run(notes, "--password-from-env", "WHERE", "list", env=secretive())
    assert done.document["data"] == {"password": "[REDACTED]"}
    assert done.document["meta"]["command"] == "notes list"


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["--token-from-env", "NOWHERE"], "SECRET_MISSING"),
        (["--token-from-file", "nowhere"], "SECRET_MISSING"),
        (["--token-from-env"], "FLAG_ERROR"),
        (["--token-from-env", "WHERE", "--token", "x"], "FLAG_ERROR"),
        (["--weight-from-env", "WHERE"], "FLAG_ERROR"),
    ],
)
def test_a_secret_that_is_not_there(tmp_path: Path, words: list[str], code: str) -> None:
    """A place without a secret, or a flag that holds none, is an argument error."""
    done = run(_notes(tmp_path, "click"), "create", "x", *words, env=secretive())
    assert (done.code, done.document["error"]["code"]) == (2, code)
    assert SECRET not in done.out


def test_a_secret_in_the_place_of_its_variable_is_not_quoted(tmp_path: Path) -> None:
    """Who gives the secret itself instead of the variable's name does not read it again."""
    done = run(_notes(tmp_path, "click"), "create", "x", "--token-from-env", SECRET, env=SPEC_2)
    assert done.document["error"]["message"] == "The variable [REDACTED] is not set."
    assert SECRET not in done.out + done.err


def test_options_of_the_tool_stay_its_own(notes: list[str]) -> None:
    """An option that is only called like that, and words behind --, are left alone."""
    assert run(notes, "create", "x", "--key-from-env", "WHERE", env=secretive()).code == 0
    done = run(notes, "create", "--", "--token-from-env", env=secretive())
    assert done.document["data"]["title"] == "--token-from-env"
    # The default contract has no such flags.
    assert run(notes, "create", "x", "--token-from-env", "WHERE").code == 1


def test_a_secret_in_a_request(notes: list[str]) -> None:
    """A request says where a secret is as a command line does."""
    request = {"_cmd": "create", "title": "x", "token_from_env": "WHERE"}
    done = run(notes, "exec", stdin=json.dumps(request).encode(), env=secretive())
    assert done.lines[0]["data"]["token"] == "[REDACTED]"


def test_an_input_file(notes: list[str], tmp_path: Path) -> None:
    """--input-file is read in the place of stdin, whatever its size; - is stdin itself."""
    (tmp_path / "input").write_text("x" * 70_000)
    done = run(notes, "read", "--input-file", "input", cwd=tmp_path, env=SPEC_2)
    assert done.document["data"] == {"read": 70_000}
    done = run(notes, "read", "--input-file", "-", stdin=b"abc", env=SPEC_2)
    assert done.document["data"] == {"read": 3}
    done = run(notes, "read", "--input-file", "nowhere", env=SPEC_2)
    assert (done.code, done.document["error"]["code"]) == (2, "INPUT_FILE_MISSING")


@pytest.mark.parametrize(("adapter", "contract"), DIAGONAL)
def test_stdin_is_bounded(tmp_path: Path, adapter: str, contract: str) -> None:
    """A command that reads all of stdin first is refused more than it is meant to take."""
    notes, env = _notes(tmp_path, adapter), environment(MURLI_CONTRACT=contract)
    done = run(notes, "read", stdin=b"x" * 65_537, env=env)
    assert (done.code, done.document["error"]["code"]) == (ARG_ERROR[contract], "STDIN_TOO_LARGE")
    assert "--input-file" in done.document["error"]["suggestion"]
    assert run(notes, "read", stdin=b"x" * 65_536, env=env).document["data"] == {"read": 65_536}


def test_the_bound_can_be_moved(tmp_path: Path) -> None:
    """Two variables move the bound, the tool's own first; a file of any kind is measured."""
    notes = _notes(tmp_path, "click")

    def answer(size: int, **changes: str) -> Run:
        env = environment(MURLI_CONTRACT="agent-spec-2", **changes)
        return run(notes, "read", stdin=b"x" * size, env=env)

    assert answer(5, TOOL_MAX_STDIN_BYTES="4").code == 2
    assert answer(5, TOOL_MAX_STDIN_BYTES="4", NOTES_MAX_STDIN_BYTES="5").code == 0
    assert answer(0).document["data"] == {"read": 0}
    assert run(notes, "read", env=SPEC_2).document["data"] == {"read": 0}
    big = tmp_path / "big"
    big.write_bytes(b"x" * 65_537)
    with big.open("rb") as file:
        done = run(notes, "read", env=SPEC_2, stdin=file.read())
    assert done.document["error"]["code"] == "STDIN_TOO_LARGE"
