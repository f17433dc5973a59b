"""One line makes tools nobody here wrote agent-native, and leaves people what they had."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests_real.conftest import Real, tools
from tests_real.tools import TOOLS

Path = tuple[str, ...]

COLOUR = re.compile(r"\x1b\[[0-9;]*m")
HINT = re.compile(rb"(Hint:  Did you mean [^\n]*\n)?")
# rich gives every link a number by chance.
LINK = re.compile(rb"(?<=\x1b]8;)id=\d+")


def commands_of(document: dict[str, Any], path: Path = ()) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Give every command of a describe document by its path, the root first."""
    yield path, document
    for below in (*document.get("commands", ()), *document.get("subcommands", ())):
        yield from commands_of(below, (*path, below["name"]))


def assert_lists(flags: list[dict[str, Any]], options: list[list[str]]) -> None:
    """Check that *flags* are the framework's *options*, each once."""
    known = [{name.lstrip("-") for name in names} for names in options]
    unlisted = [names for names in known if not any(flag["name"] in names for flag in flags)]
    assert unlisted == []
    assert len(flags) == len(known)


@tools()
def test_describe_lists_every_command(real: Real) -> None:
    """Describe has every visible command the framework knows, with its options, and no other."""
    expected = {tuple(each["path"]): each["options"] for each in real.walk()}
    done = real.piped("describe")
    assert (done.code, done.err) == (0, "")
    described = dict(commands_of(done.document))
    assert set(described) == set(expected)
    for path, document in described.items():
        if path or not real.tool.has_commands:
            assert_lists(document.get("flags", []), expected[path])


@tools()
def test_schema_answers_on_every_command(real: Real) -> None:
    """--schema answers on every command with the command's name and all its options."""
    expected = [each for each in real.walk() if tuple(each["path"]) not in real.tool.bypassed]

    def ask(command: dict[str, Any]) -> Any:
        # A command may have a --schema of its own; ours is then asked for in front of it.
        is_theirs = ["--schema"] in command["options"]
        words = ("--schema", *command["path"]) if is_theirs else (*command["path"], "--schema")
        done = real.piped(*words)
        assert (done.code, done.err) == (0, ""), words
        return done.document

    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(ask, expected))
    for each, schema in zip(expected, answers, strict=True):
        assert schema["name"] == [real.tool.name, *each["path"]][-1]
        assert_lists(schema.get("flags", []), each["options"])


@tools()
def test_a_bad_flag_is_an_error_document(real: Real) -> None:
    """A flag the tool does not know gives the error document on stderr and exit code 1."""
    done = real.piped("--no-such-flag")
    assert (done.out, done.code) == ("", 1)
    error = json.loads(done.stderr)
    assert (error["status"], error["code"], error["error"]) == ("error", 1, "flag_error")
    assert "--no-such-flag" in error["message"]


@tools(lambda tool: tool.has_commands)
def test_an_unknown_command_is_an_error_document(real: Real) -> None:
    """A word that is no command gives the error document on stderr and exit code 1."""
    done = real.piped("no-such-command")
    assert (done.out, done.code) == ("", 1)
    error = json.loads(done.stderr)
    assert (error["status"], error["code"], error["error"]) == ("error", 1, "command_error")


@tools(lambda tool: tool.read)
def test_a_read_only_command_answers_with_one_document(real: Real) -> None:
    """A command that only reads gives one document with what it printed, and exit code 0."""
    plain = real.piped(*real.tool.read, mode="plain")
    done = real.piped(*real.tool.read)
    assert (plain.code, done.code) == (0, 0)
    assert plain.out.strip()
    assert done.document["status"] == "ok"
    result = done.document["result"]
    if not isinstance(result, str):
        assert result == json.loads(plain.out)
    else:
        assert result == COLOUR.sub("", plain.out).rstrip("\n")


@tools(lambda tool: tool.fails)
def test_a_failure_is_an_error_document(real: Real) -> None:
    """A well-formed call that fails ends stderr with the error document, and with its code."""
    plain = real.piped(*real.tool.fails, mode="plain")
    done = real.piped(*real.tool.fails)
    assert plain.code != 0
    assert done.out == ""
    assert done.error["status"] == "error"
    assert done.error["code"] == done.code != 0


@tools()
def test_help_is_the_tools_own(real: Real) -> None:
    """--help exits with 0 and begins with the tool's own help, our flags behind it."""
    plain = real.piped("--help", mode="plain")
    done = real.piped("--help")
    assert (done.code, done.err) == (plain.code, plain.err) == (0, "")
    assert done.out.startswith(plain.out.rstrip())
    assert "--schema" in done.out


@pytest.mark.parametrize(
    ("real", "call"),
    [pytest.param(tool, call, id=f"{tool.name}-{call}") for tool in TOOLS for call in tool.calls],
    indirect=["real"],
)
def test_a_terminal_stays_the_tools_own(real: Real, call: str) -> None:
    """At a terminal a tool prints what it printed, byte for byte, and ends with the same status.

    The one addition is a line that suggests a name where the framework has suggested none.
    """
    words = real.tool.calls[call]
    plain, done = (real.at_terminal(*words, mode=mode) for mode in ("plain", "murli"))
    assert LINK.sub(b"", done.stdout) == LINK.sub(b"", plain.stdout)
    assert done.stderr.startswith(plain.stderr)
    assert HINT.fullmatch(done.stderr.removeprefix(plain.stderr))
    assert done.code == plain.code


@tools()
def test_a_pipe_stays_text(real: Real) -> None:
    """With agents="flag" a pipe gets what it got before, byte for byte, with the same status."""
    for call in real.tool.calls.values():
        plain, done = (real.piped(*call, mode=mode) for mode in ("plain", "flag"))
        assert done == plain, call


@tools(lambda tool: tool.name == "flask")
def test_commands_of_a_named_application(real: Real) -> None:
    """The commands that flask's --app brings are described, and have a schema."""
    (real.folder / "app.py").rename(real.folder / "shop.py")
    done = real.piped("--app", "shop", "describe")
    assert "greet" in [command["name"] for command in done.document["commands"]]
    assert real.piped("--app", "shop", "greet", "--schema").document["name"] == "greet"
