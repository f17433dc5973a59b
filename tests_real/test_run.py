"""`murli run` in front of tools that nobody here wrote, and that nobody enabled."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness import Run, environment
from murli.retrofit.help_texts import parsed
from tests_real.conftest import MURLI_RUN, Real
from tests_real.release import NEWEST, Release
from tests_real.scene import lay_out, settings
from tests_real.terminal import run_at_terminal
from tests_real.test_real import commands_of, spelled_in, spellings_of
from tests_real.tools import OUTSIDE, PROGRAMS, TOOLS
from tests_real.varying import is_same

Words = tuple[str, ...]

#: what of the commands and options that help shows a description has to have
OF_PYTHON, OF_OTHERS = 0.98, 0.90
#: seconds for one call
LIMIT = 180
#: how many commands of a tool are asked for their schema
MOST_SCHEMAS = 60
#: tools that no help can be had of, in a folder with nothing in it
HELPLESS = ("aws", "jupyter")
#: a frame of what turns while a program takes its time, as often as there was time for it
SPINNER = re.compile(rb"\xe2[\xa0-\xa3][\x80-\xbf]\x1b\[1G\x1b\[0K")
#: calls of programs that are not Python's: one that works, one that does not, one that would ask
CALLS: dict[str, tuple[Words, Words, Words]] = {
    "git": (("version",), ("log", "--no-such-flag"), ("commit",)),
    "curl": (("--version",), ("--no-such-flag",), ("-K", "-")),
    "jq": (("-n", "1"), ("--no-such-flag", "."), (".",)),
    "rg": (("--version",), ("--no-such-flag",), ("x",)),
    "docker": (("--version",), ("ps", "--no-such-flag"), ("rm", "x")),
    "podman": (("--version",), ("ps", "--no-such-flag"), ("rm", "x")),
    "kubectl": (("config", "view"), ("get", "--no-such-flag"), ("delete", "pod", "x")),
    "npm": (("--version",), ("no-such-command",), ("uninstall", "x")),
    "go": (("version",), ("no-such-command",), ("mod", "tidy")),
    "cargo": (("--version",), ("no-such-command",), ("uninstall", "x")),
    "grep": (("--version",), ("--no-such-flag",), ("x",)),
}
run_by = pytest.mark.parametrize(
    "real",
    [Release(tool, NEWEST) for tool in [*TOOLS, *PROGRAMS, *OUTSIDE]],
    ids=str,
    indirect=True,
)


def share(found: set[Any], wanted: set[Any]) -> float:
    """Return how many of *wanted* were *found*."""
    return len(found & wanted) / len(wanted) if wanted else 1.0


@run_by
def test_describe_covers_the_help(real: Real) -> None:
    """Describe has the commands and the options that the help of every command shows."""
    if real.tool.name in HELPLESS:
        pytest.skip("its help is a manual page, or that of other programs")
    done = real.piped("describe", mode="run")
    assert done.code == 0, done.err
    described = dict(commands_of(done.document))
    calls = [(*real.tool.command(path), "--help") for path in described]
    wanted, found = set(), set()
    for path, shown in zip(described, real.all_calls(calls, mode="plain"), strict=True):
        if path in real.tool.helpless:
            continue
        above = [described[path[:depth]] for depth in range(len(path) + 1)]
        known = {
            name for each in above for flag in each.get("flags", ()) for name in spellings_of(flag)
        }
        options = spelled_in(shown.out) - set(real.tool.own_options)
        wanted |= {(path, option) for option in options}
        found |= {(path, option) for option in options if option.lstrip("-") in known}
        below = {each["name"] for each in parsed(shown.out, real.tool.name)["commands"]}
        # Whose words are parsed behind the parser that has them as choices.
        below -= {
            each for one in described[path].get("arguments", ()) for each in one.get("enum", ())
        }
        wanted |= {(path, name) for name in below}
        found |= {(path, name) for name in below if (*path, name) in described}
    assert share(found, wanted) >= OF_PYTHON, sorted(map(str, wanted - found))[:40]


@run_by
def test_every_schema_answers(real: Real) -> None:
    """--schema describes every command, and runs none."""
    if real.tool.name in HELPLESS:
        pytest.skip("its help is a manual page, or that of other programs")
    described = commands_of(real.piped("describe", mode="run").document)
    for path, command in list(described)[:MOST_SCHEMAS]:
        # A group may pass its words on to a command of it.
        both = (command, *command.get("subcommands", ()))
        flags = [flag for each in both for flag in each.get("flags", ())]
        own = any("schema" in spellings_of(flag) for flag in flags)
        if path and not own and path not in real.tool.bypassed:
            done = real.piped(*real.tool.command(path), "--schema", mode="run")
            assert (done.code, done.document["name"]) == (0, path[-1]), path


@run_by
def test_calls_have_one_document(real: Real) -> None:
    """One that works has a result; one that does not has a failure, and neither hangs."""
    plain = real.piped(*real.tool.good, mode="plain")
    good = real.piped(*real.tool.good, mode="run")
    assert (good.code, good.code) == (plain.code, 0), good.err
    assert good == plain or good.document["status"] == "ok"
    calls = [real.tool.bad, real.tool.missing]
    if real.tool.framework != "program":
        # Without a parser a tool whose environment has murli is left to begin by itself.
        calls.append(real.tool.fails)
    for words in calls:
        done = real.piped(*words, mode="run")
        assert done.code == 0 or (done.out == "" and done.error["status"] == "error"), words


@run_by
def test_a_person_sees_the_same_bytes(real: Real) -> None:
    """At a terminal nothing is added, and nothing is different."""
    for words in (("--help",), real.tool.good, real.tool.bad):
        plain, code = real.at_terminal(*words, mode="plain")
        shown, code_behind = real.at_terminal(*words, mode="run")

        def again(words: Words = words) -> bytes:
            return real.at_terminal(*words, mode="plain")[0]

        assert code_behind == code
        assert is_same(plain, shown, again), words


@pytest.fixture
def program(request: pytest.FixtureRequest) -> str:
    """A program of this machine that is not Python's."""
    name = str(request.param)
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed here")
    return name


def variables(folder: Path) -> dict[str, str]:
    """Return the variables of a call; what chooses among compilers finds those there are."""
    home = Path.home()
    rust = {"RUSTUP_HOME": str(home / ".rustup"), "CARGO_HOME": str(home / ".cargo")}
    return environment(**settings(folder), **rust, MURLI_STDIN_TIMEOUT="1")


def called(folder: Path, *argv: str) -> Run:
    """Run a program as an agent does, with nobody who feeds it."""
    unfed, feeder = os.pipe()
    try:
        done = subprocess.run(
            argv,
            stdin=unfed,
            capture_output=True,
            cwd=lay_out(folder),
            env=variables(folder),
            timeout=LIMIT,
            check=False,
        )
    finally:
        os.close(unfed)
        os.close(feeder)
    return Run(done.stdout, done.stderr, done.returncode)


def crawled(folder: Path, program: str, path: Words = ()) -> Iterator[tuple[Words, Run]]:
    """Yield the help of every command that help leads to."""
    shown = called(folder, program, *path, "--help")
    yield path, shown
    for each in parsed(shown.out, program)["commands"] if len(path) < 2 else ():
        if each["name"] not in (*path, "help"):
            yield from crawled(folder, program, (*path, each["name"]))


@pytest.mark.parametrize("program", CALLS, indirect=True)
def test_describe_of_a_program_covers_its_help(program: str, tmp_path: Path) -> None:
    """Commands and options that begin a line of its help are described, and marked as such."""
    folder = tmp_path / "scene"
    done = called(folder, sys.executable, "-m", "murli", "describe", program)
    assert (done.code, done.document["source"]) == (0, "help"), done.err
    described = dict(commands_of(done.document))
    wanted, found = set(), set()
    for path, shown in crawled(folder, program):
        options = {each.lstrip("-") for each in spelled_in(shown.out)}
        known = {
            name for flag in described.get(path, {}).get("flags", ()) for name in spellings_of(flag)
        }
        wanted |= {(path, option) for option in options} | {(path, "")}
        found |= {(path, option) for option in options & known}
        found |= {(path, "")} if path in described else set()
    assert share(found, wanted) >= OF_OTHERS, sorted(map(str, wanted - found))[:40]


@pytest.mark.parametrize("program", CALLS, indirect=True)
def test_calls_of_a_program_have_one_document(program: str, tmp_path: Path) -> None:
    """A good call, a bad one, and one that would ask, wait or destroy."""
    folder = tmp_path / "scene"
    good, bad, asks = CALLS[program]
    done = called(folder, *MURLI_RUN, program, *good)
    assert (done.code, json.loads(done.out)["status"]) == (0, "ok"), done.err
    for words in (bad, asks):
        done = called(folder, *MURLI_RUN, program, *words)
        assert (done.out, done.error["status"]) == ("", "error"), words
        assert done.code != 0
    path = shutil.which(program)
    assert path is not None
    for words in (good, bad):

        def shown(*before: str, words: Words = words) -> tuple[bytes, int]:
            argv = [*before, str(path), *words]
            seen, code = run_at_terminal(argv, lay_out(folder), variables(folder))
            return SPINNER.sub(b"", seen), code

        plain, code = shown()
        behind, code_behind = shown(*MURLI_RUN)
        assert code_behind == code
        assert is_same(plain, behind, lambda: shown()[0]), words
