"""One line makes tools nobody here wrote agent-native, and leaves people what they had."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from jsonschema import Draft202012Validator

import murli
from harness import Run
from tests_real.conftest import Real, each_of
from tests_real.tools import DESCRIBED, PROGRAMS, TOOLS, tool_called
from tests_real.varying import difference, is_same

Path = tuple[str, ...]

COLOUR = re.compile(r"\x1b\[[0-9;]*m|\x1b\]8;[^\x1b]*\x1b\\")
HINT = re.compile(rb"(?:(?<=\n)\r?\n)?Hint:  Did you mean [^\n]*\n\Z")
TRACEBACK = re.compile(
    rb"(\x1b\[[0-9;]*m|[^\x00-\x7f]| )*Traceback (\x1b\[[0-9;]*m)*\(most recent call last\)"
)
#: what an agent reads behind the help of a tool, up to its end
CARD = re.compile(r"^(?:Commands \(.*[;)]:|Flags, anywhere: )[^\0]*\Z", re.MULTILINE)
OPTION = re.compile(r"(?<![\w-])--?[A-Za-z0-9?][\w.-]*")
#: options that are the framework's, and in no description
THE_FRAMEWORKS = {
    "-h",
    "--help",
    "--version",
    "--install-completion",
    "--show-completion",
}


def commands_of(document: dict[str, Any], path: Path = ()) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Return every command of a describe document by its path, the root first."""
    yield path, document
    for below in (*document.get("commands", ()), *document.get("subcommands", ())):
        yield from commands_of(below, (*path, below["name"]))


def spellings_of(flag: dict[str, Any]) -> set[str]:
    """Return every spelling of a described option that an agent can know."""
    single = {flag[key] for key in ("name", "short", "spelling", "negation") if key in flag}
    several = (*flag.get("aliases", ()), *flag.get("negation_aliases", ()))
    return {name.lstrip("-") for name in (*single, *several)}


def assert_lists(flags: list[dict[str, Any]], options: list[list[str]]) -> None:
    """Check that *flags* are the framework's *options*, each once."""
    known = [{name.lstrip("-") for name in names} for names in options]
    unlisted = [names for names in known if not any(names & spellings_of(flag) for flag in flags)]
    assert unlisted == []
    assert len(flags) == len(known)


def spelled_in(text: str) -> set[str]:
    """Return the options that a help text explains: those that begin a line, or a row of a box."""
    found = set()
    for line in COLOUR.sub("", text).splitlines():
        spelled = set()
        for cell in re.split(r"\s{2,}|\s(?=--)", line.strip(" \t│|*")):
            if not OPTION.match(cell):
                break
            spelled |= {each.rstrip(".,") for each in OPTION.findall(cell)}
        if not spelled & THE_FRAMEWORKS:
            found |= spelled
    return found


def text_in(result: Any) -> str | None:
    """Return the text that a tool printed, from the result of an answer; no other value."""
    if isinstance(result, dict) and list(result) == ["lines"]:
        return "\n".join(result["lines"])
    return result if isinstance(result, str) else None


def error_of(done: Run) -> dict[str, Any]:
    """Return the error document of a call that failed, after checking how it was told."""
    assert done.out == ""
    error: dict[str, Any] = done.error
    assert error["status"] == "error"
    assert error["code"] == done.code != 0
    return error


@each_of([*TOOLS, *PROGRAMS])
def test_person_sees_the_tools_own(real: Real) -> None:
    """At a terminal a tool prints what it printed, byte for byte, and ends with the same status.

    The one addition is a line that suggests a name where the framework has suggested none. An
    exception that nobody handles is one line and the place of its traceback.
    """
    calls = {"help": ("--help",), **real.tool.calls}
    if real.tool.has_commands and real.tool.framework != "program":
        calls["help below"] = (*real.tool.command(real.commands[-1]["path"]), "--help")
    wrong = {}
    for call, words in calls.items():
        plain, plain_code = real.at_terminal(*words, mode="plain")
        shown, code = real.at_terminal(*words)

        def again(words: Path = words) -> bytes:
            return real.at_terminal(*words, mode="plain")[0]

        is_right = code == plain_code and is_same(plain, HINT.sub(b"", shown), again)
        crash = TRACEBACK.search(plain)
        if crash and not is_right:
            rest = shown.removeprefix(plain[: crash.start()])
            is_right = rest.lstrip().startswith(b"Error: ") and b"The traceback is in" in rest
        if not is_right:
            wrong[call] = f"{words} {plain_code} -> {code}: {difference(plain, shown)}"
    assert wrong == {}


@each_of([*TOOLS, *DESCRIBED])
def test_describe_has_every_command(real: Real) -> None:
    """Describe is valid, and has the visible commands and options of the framework, no others."""
    expected = {tuple(each["path"]): each["options"] for each in real.commands}
    done = real.piped("describe")
    # Some tools warn whoever loads them.
    assert (done.code, done.err) == (0, real.piped("--help", mode="plain").err)
    complaints = Draft202012Validator(murli.load_schema("describe")).iter_errors(done.document)
    assert [each.message[:300] for each in complaints] == []
    described = dict(commands_of(done.document))
    assert set(described) == set(expected)
    for path, document in described.items():
        assert_lists(document.get("flags", []), expected[path])


@each_of(TOOLS)
def test_describe_spells_what_help_does(real: Real) -> None:
    """What the help of a command explains, an agent can spell from describe; and the reverse."""
    described = dict(commands_of(real.piped("describe").document))
    left_out = (*real.tool.bypassed, *real.tool.helpless)
    asked = [path for path in described if path not in left_out]
    calls = [(*real.tool.command(path), "--help") for path in asked]
    helps = dict(zip(asked, real.all_calls(calls, mode="plain"), strict=True))
    assert {path: done for path, done in helps.items() if not done.out} == {}
    wrong = {}
    for path, done in helps.items():
        # Options of a group may be explained by, and be taken behind, the commands below it.
        above = [described[path[:depth]] for depth in range(len(path) + 1)]
        known = {
            name for each in above for flag in each.get("flags", ()) for name in spellings_of(flag)
        }
        below = "".join(each.out for at, each in helps.items() if at[: len(path)] == path)
        unknown = {
            each
            for each in spelled_in(done.out) - set(real.tool.own_options)
            if each.lstrip("-") not in known
        }
        unseen = {
            flag["name"]
            for flag in described[path].get("flags", ())
            if not any(re.search(rf"-{re.escape(name)}\b", below) for name in spellings_of(flag))
        }
        if unknown or unseen:
            wrong[path] = {"in help only": unknown, "in describe only": unseen}
    assert wrong == {}


@each_of([*TOOLS, *DESCRIBED])
def test_schema_of_every_command(real: Real) -> None:
    """--schema answers on every command with the command's name and all its options."""
    own = {tuple(each["path"]) for each in real.commands if ["--schema"] in each["options"]}
    # In front of a name it may be that of the command which is called without its name.
    theirs = {each[:-1] for each in real.tool.defaults if each in own}
    left_out = {*real.tool.bypassed, *theirs, *(own if () in theirs else ())}
    asked = [each for each in real.commands if tuple(each["path"]) not in left_out]
    # A command may have a --schema of its own; ours is then asked for in front of it.
    calls = [
        ("--schema", *words) if tuple(path) in own else (*words, "--schema")
        for path in (each["path"] for each in asked)
        for words in [real.tool.command(path)]
    ]
    valid = Draft202012Validator(murli.load_schema("command"))
    for each, done in zip(asked, real.all_calls(calls), strict=True):
        assert (done.code, done.err) == (0, ""), each
        schema = done.document
        assert [complaint.message[:300] for complaint in valid.iter_errors(schema)] == []
        assert schema["name"] == [real.tool.name, *each["path"]][-1]
        assert_lists(schema.get("flags", []), each["options"])


@each_of([*TOOLS, *PROGRAMS])
def test_good_call(real: Real) -> None:
    """A call that works gives one document with what it printed, and exit code 0."""
    plain = real.piped(*real.tool.good, mode="plain")
    done = real.piped(*real.tool.good)
    assert (plain.code, done.code) == (0, 0), (plain, done)
    assert plain.out.strip()
    if real.tool.good == ("--version",):
        assert done == plain  # the same for everybody
        return
    assert done.document["status"] == "ok"
    result = done.document["result"]
    text = text_in(result)

    # A table that a well-known library draws arrives as its rows.
    is_table = text is None and plain.out[0] not in "[{"

    def printed(plain: Run) -> bytes:
        if text is not None:
            return COLOUR.sub("", plain.out).rstrip("\n").encode()
        if is_table:
            return " ".join(plain.out.split()).encode()
        return json.dumps(json.loads(plain.out)).encode()

    answer = text.rstrip("\n") if text is not None else json.dumps(result)
    if is_table:
        answer = " ".join([*result[0], *(str(cell) for row in result for cell in row.values())])
    assert is_same(
        printed(plain),
        answer.encode(),
        lambda: printed(real.piped(*real.tool.good, mode="plain", again=True)),
    )


@each_of(TOOLS)
def test_bad_flag(real: Real) -> None:
    """A flag the tool does not know gives the error document on stderr, and its code."""
    error = error_of(real.piped(*real.tool.bad))
    assert real.tool.refuses_itself or error["error"] == "flag_error"
    assert "no-such-flag" in json.dumps(error)


@each_of(TOOLS)
def test_missing_argument(real: Real) -> None:
    """A call that lacks something gives the error document on stderr, and its code."""
    error_of(real.piped(*real.tool.missing))


@each_of(TOOLS)
def test_unknown_word(real: Real) -> None:
    """A word that means nothing to the tool gives the error document on stderr, and its code."""
    error = error_of(real.piped(*real.tool.unknown))
    is_command = real.tool.has_commands and real.tool.unknown == ("no-such-command",)
    if is_command and not real.tool.refuses_itself:
        assert error["error"] == "command_error"


@each_of([*TOOLS, *PROGRAMS])
def test_failing_call(real: Real) -> None:
    """A well-formed call that fails ends stderr with the error document, and with its code."""
    plain = real.piped(*real.tool.fails, mode="plain")
    assert plain.code != 0
    error_of(real.piped(*real.tool.fails))


@each_of(TOOLS)
def test_help_on_a_pipe(real: Real) -> None:
    """--help exits with 0 and prints the tool's own help, with our card and nothing else."""
    plain = real.piped("--help", mode="plain")
    done = real.piped("--help")
    assert (done.code, done.err) == (plain.code, plain.err) == (0, "")
    assert "--schema" in done.out

    def own_part(done: Run) -> bytes:
        # A tool that prints its help by itself has a document for it.
        text = text_in(done.document["result"]) if done.out.startswith("{") else done.out
        assert text is not None
        lines = CARD.sub("", text).splitlines()
        return "\n".join(line for line in lines if line.strip()).encode()

    assert is_same(
        own_part(plain),
        own_part(done),
        lambda: own_part(real.piped("--help", mode="plain", again=True)),
    )


@each_of([*TOOLS, *PROGRAMS])
def test_pipe_stays_text(real: Real) -> None:
    """With agents="flag" a pipe gets what it got before, byte for byte, with the same status."""
    wrong = {}
    for call, words in {"help": ("--help",), **real.tool.calls}.items():
        plain, done = (real.piped(*words, mode=mode) for mode in ("plain", "flag"))

        def both(done: Run) -> bytes:
            return done.stdout + b"\0" + done.stderr

        def again(words: Path = words) -> bytes:
            return both(real.piped(*words, mode="plain", again=True))

        if plain.code != done.code or not is_same(both(plain), both(done), again):
            changed = difference(both(plain), both(done))
            wrong[call] = f"{words} {plain.code} -> {done.code}: {changed}"
    assert wrong == {}


@each_of([tool_called("flask")])
def test_commands_of_a_named_application(real: Real) -> None:
    """The commands that flask's --app brings are described, and have a schema."""
    done = real.piped("--app", "app", "describe")
    assert "greet" in [command["name"] for command in done.document["commands"]]
    assert real.piped("--app", "app", "greet", "--schema").document["name"] == "greet"


@each_of([tool_called("flask")])
def test_application_that_does_not_load(real: Real) -> None:
    """Flask complains about an application without murli, and with it no more often."""
    plain, done = (
        real.at_terminal("--help", mode=mode, FLASK_APP="served") for mode in ("plain", "pipe")
    )
    assert b"Failed to find Flask application" in plain[0]
    assert done == plain
