"""``murli check``: the command over the checks."""

from __future__ import annotations

import json
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from harness import environment, run, run_at_terminal, tool
from murli.cli import make_parser
from murli.cli.check import _OURS, options_first
from murli.conformance import Profile, load

CHECK = [sys.executable, "-m", "murli", "check"]
#: a quick look: one check, of a tool that is quick to start
QUICK = ["--only", "process.version"]
PLAIN = ["sh", "-c", "echo tool 1.0"]


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return environment(HOME=str(tmp_path))


def test_the_report_is_an_envelope(env: dict[str, str]) -> None:
    """On a pipe the answer is one document with the whole report in it."""
    done = run(CHECK, *QUICK, "--", *PLAIN, env=env)
    assert done.code == 0
    report = done.document["result"]
    assert (report["contract"], report["measured"], report["level"]) == ("none", "murli", 0)
    assert [each["id"] for each in report["checks"]] == ["process.version"]
    assert report["tool"] == PLAIN


def test_the_report_for_people(env: dict[str, str]) -> None:
    """At a terminal it is a table."""
    done = run_at_terminal(CHECK, *QUICK, "--full", "--", *PLAIN, env=env)
    assert done.code == 0 and "process.version" in done.out and "{" not in done.out


def test_what_fails_is_partial_success(env: dict[str, str]) -> None:
    """A failed check, or a level that is not reached, is exit code 3, with the report on stdout."""
    silent = ["sh", "-c", ":"]
    failed = run(CHECK, *QUICK, "--", *silent, env=env)
    assert (failed.code, failed.document["status"]) == (3, "partial")
    check = failed.document["result"]["checks"][0]
    assert check["findings"][0]["evidence"]["argv"][-1] == "--version"
    assert run(CHECK, *QUICK, "--level", "1", "--", *PLAIN, env=env).code == 3


def test_the_module_is_the_same(env: dict[str, str]) -> None:
    """``python -m murli.conformance -- TOOL`` is ``murli check TOOL``."""
    module = [sys.executable, "-m", "murli.conformance"]
    done = run(module, *QUICK, "--", *PLAIN, env=env)
    assert done.code == 0 and done.document["result"]["tool"] == PLAIN


def test_reports_are_written(tmp_path: Path, env: dict[str, str]) -> None:
    """Files in other formats are written beside the answer, all that are asked for."""
    paths = {each: tmp_path / each for each in ("html", "junit", "markdown")}
    words = [word for name, path in paths.items() for word in (f"--{name}", str(path))]
    assert run(CHECK, *QUICK, *words, "--", *PLAIN, env=env).code == 0
    assert paths["html"].read_text().startswith("<!doctype html>")
    assert ET.parse(paths["junit"]).getroot().tag == "testsuites"
    assert paths["markdown"].read_text().startswith("#")


def test_a_profile_to_fill_in(tmp_path: Path, env: dict[str, str]) -> None:
    """``--init FILE`` writes a profile with what the tool needs, and never over another file."""
    made = tmp_path / "check.toml"
    done = run(CHECK, "--init", str(made), *tool("shop_argparse"), env=env)
    assert (done.code, done.document["result"]) == (0, {"file": str(made)})
    assert load(made) == Profile(contract="murli")
    filled = made.read_text()
    for line in ('"stock add" = ["NAME"]', '"plain",'):
        assert f"# {line}" in filled
        filled = filled.replace(f"# {line}", line.replace("NAME", "tea"))
    made.write_text(filled)
    found = load(made)
    assert (found.safe, found.arguments) == (("plain",), {"stock add": ("tea",)})
    again = run(CHECK, "--init", str(made), *tool("shop_argparse"), env=env)
    assert (again.code, again.error["error"], made.read_text()) == (7, "already_exists", filled)
    assert run(CHECK, "--init", str(tmp_path / "no" / "x"), "true", env=env).code == 1


def test_the_checks_are_listed(env: dict[str, str]) -> None:
    """``--list`` tells which checks there are, and makes none."""
    listed = run(CHECK, "--list", "--contract", "response", env=env).document["result"]
    assert {"id", "level", "title", "requirements"} == set(listed[0])
    assert any(each["id"].startswith("family.") for each in listed)


@pytest.mark.parametrize(
    ("words", "error", "told"),
    [
        ([], "user_error", "no tool"),
        (["--init", "x.toml", "/no/such/tool"], "not_found", "cannot be started"),
        (["/no/such/tool"], "not_found", "cannot be started"),
        ([*QUICK, "--profile", "/no/such.toml", "sh"], "user_error", "cannot be read"),
        (["--only", "nothing", "true"], "user_error", "No check begins with nothing"),
        (["--env", "A", "true"], "user_error", "NAME=VALUE"),
        (["--html", "/no/such/folder/x", "true"], "user_error", "cannot be written"),
        (["--nosuch", "true"], "flag_error", "--nosuch"),
        (["--diff", "/no/such", "/file"], "user_error", "cannot be read"),
    ],
)
def test_mistakes_are_told(words: list[str], error: str, told: str, env: dict[str, str]) -> None:
    """What is wrong with the call is an error document, not a report."""
    done = run(CHECK, *words, env=env)
    assert (done.error["error"], told in done.error["message"]) == (error, True), done.error


def test_a_variable_is_for_the_tool(env: dict[str, str]) -> None:
    """``--env`` reaches the tool, and a contract is asked for by its name."""
    riffle = tool("tasks_argparse")
    words = ["--only", "process.version", "--env", "MURLI_CONTRACT=response"]
    assert run(CHECK, *words, *riffle, env=env).document["result"]["contract"] == "response"
    asked = run(CHECK, *QUICK, "--contract", "agent-spec-2", *riffle, env=env)
    assert asked.document["result"]["contract"] == "agent-spec-2"


def described(**changes: Any) -> dict[str, Any]:
    """Give a description of a small tool."""
    command = {"name": "show", "summary": "", "idempotent": True, "safety": {"read_only": True}}
    return {
        "name": "t",
        "summary": "",
        "schema_version": "1.0",
        "capabilities": {"output_formats": ["json"]},
        "commands": [{**command, **changes}],
    }


def test_a_breaking_change_fails(tmp_path: Path, env: dict[str, str]) -> None:
    """``--diff`` tells what changed, and fails on what breaks callers."""
    old, new = tmp_path / "old.json", tmp_path / "new.json"
    old.write_text(json.dumps(described()))
    new.write_text(json.dumps(described(name="display")))
    broken = run(CHECK, "--diff", str(old), str(new), env=env)
    assert (broken.code, broken.document["result"]["breaking"]) == (3, 1)
    same = run(CHECK, "--diff", str(old), str(old), env=env)
    assert (same.code, same.document["result"]["changes"]) == (0, [])
    new.write_text("{}")
    assert "new.json" in run(CHECK, "--diff", str(old), str(new), env=env).error["message"]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("riffle", "-- riffle"),
        ("riffle --html x", "--html x -- riffle"),
        ("--level 2 python -m riffle --full", "--level 2 --full -- python -m riffle"),
        ("-- riffle --html x", "-- riffle --html x"),
        ("--full -- riffle", "--full -- riffle"),
        ("riffle -- --html x", "-- riffle -- --html x"),
        ("--diff a b", "--diff a b"),
        ("--only=x riffle", "--only=x -- riffle"),
        ("riffle --only", "--only -- riffle"),
        ("-h", "-h"),
        ("--nosuch riffle", "--nosuch -- riffle"),
        ("", ""),
    ],
)
def test_our_options_may_stand_behind_the_tool(words: str, expected: str) -> None:
    """Up to ``--`` our own options are ours wherever they stand, everything else is the tool's."""
    assert options_first(words.split()) == expected.split()


def test_every_option_is_known() -> None:
    """No option of the parser is taken for a word of the tool."""
    usage = make_parser().parse_args(["check"])
    options = {f"--{name}" for name in vars(usage)} - {"--tool", "--words", "--command"}
    assert options - {"--handler"} == set(_OURS) - {"--agent", "--help", "-h", "--output"}
