"""The tool describes itself, from one tree."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

import murli
from harness import environment, golden, run, run_at_terminal

pytestmark = [pytest.mark.adapters("argparse", "click"), pytest.mark.warm]

# Of the command that has it, up to where its other names stand.
LISTED = '"path": "task list",\n          "summary": "List tasks",\n          '


def flags_of(tasks: list[str], *path: str) -> dict[str, Any]:
    document = run(tasks, *path, "--schema").document
    return {flag["name"]: flag for flag in document["flags"]}


@pytest.mark.adapters("argparse", "click", "typer")
@pytest.mark.parametrize(
    ("words", "name"),
    [
        (["describe"], "describe.json"),
        (["task", "create", "--schema"], "schema-create.json"),
        (["--schema"], "schema-root.json"),
        (["describe", "--agents-md"], "agents.md"),
    ],
)
def test_golden(tasks: list[str], words: list[str], name: str) -> None:
    """describe, --schema and AGENTS.md are the golden files, byte for byte, in every mode."""
    wanted = golden(name).replace("@MURLI@", murli.__version__)
    if "argparse" in tasks[1]:  # the one of the three that has another name for a command
        told = '"aliases": [\n            "ls"\n          ],\n'
        wanted = wanted.replace(LISTED, f"{LISTED}{told}          ")
    done = run(tasks, *words)
    assert (done.out, done.err, done.code) == (wanted, "", 0)
    assert run_at_terminal(tasks, *words).out == wanted


def test_describe_keys_in_order(tasks: list[str]) -> None:
    """Describe has its keys in the documented order and the tool's own name."""
    document = run(tasks, "describe").document
    assert list(document) == [
        "name",
        "summary",
        "schema_version",
        "tool_version",
        "capabilities",
        "profiles",
        "flags",
        "commands",
        "murli",
    ]
    assert (document["name"], document["tool_version"]) == ("tasks", "2.1.0")


def test_describe_on_one_line(tasks: list[str]) -> None:
    """Describe --output ndjson is one minified line."""
    done = run(tasks, "describe", "--output", "ndjson")
    assert done.out == json.dumps(done.document, separators=(",", ":")) + "\n"


def test_capabilities_tell_the_truth(tasks: list[str]) -> None:
    """Capabilities list the formats, and dry_run is true because a command can preview."""
    capabilities = run(tasks, "describe").document["capabilities"]
    assert capabilities["output_formats"] == ["json", "ndjson", "text"]
    assert (capabilities["dry_run"], capabilities["streaming"]) == (True, True)
    assert capabilities["protocol_version"] == "0.2"


def test_profileable_flags_are_sorted(tasks: list[str]) -> None:
    """profiles.profileable_flags holds every profileable flag of the tree, sorted."""
    assert run(tasks, "describe").document["profiles"] == {"profileable_flags": ["tag", "token"]}


def test_nested_commands_are_complete(tasks: list[str]) -> None:
    """Nested commands stand under `subcommands` with everything --schema would tell."""
    document = run(tasks, "describe").document
    task = next(command for command in document["commands"] if command["name"] == "task")
    create = next(command for command in task["subcommands"] if command["name"] == "create")
    assert create == run(tasks, "task", "create", "--schema").document


def test_hidden_commands_and_aliases_are_left_out(tasks: list[str]) -> None:
    """Hidden commands, aliases and mounted commands are not listed."""
    document = run(tasks, "describe").document
    task = document["commands"][-1]
    assert [command["name"] for command in task["subcommands"]] == [
        "create",
        "list",
        "delete",
        "purge",
    ]
    assert [command["name"] for command in document["commands"]] == ["report", "run", "task"]


@pytest.mark.parametrize("words", [["--output", "xml"], ["--profile", "none"], ["--bad"]])
def test_schema_needs_nothing_else_to_be_right(tasks: list[str], words: list[str]) -> None:
    """--schema answers although arguments and options are missing or wrong."""
    done = run(tasks, "task", "create", *words, "--schema")
    assert (done.code, done.document["name"]) == (0, "create")


def test_schema_names_subcommands_briefly(tasks: list[str]) -> None:
    """--schema of a group lists name, path and summary of its commands, no more."""
    first = run(tasks, "task", "--schema").document["subcommands"][0]
    assert first == {"name": "create", "path": "task create", "summary": "Create a task"}


def test_infrastructure_is_not_listed(tasks: list[str]) -> None:
    """Our flags, help and version are absent from `flags`, but for those a command declares."""
    create = {"status", "count", "weight", "tag", "token", "yes", "dry-run"}
    assert set(flags_of(tasks, "task", "create")) == create
    # A command's own --output is there.
    assert set(flags_of(tasks, "task", "list")) == {"output"}
    assert set(flags_of(tasks)) == {"region"}
    assert run(tasks, "describe").document["flags"] == [flags_of(tasks)["region"]]


def test_types_and_defaults(tasks: list[str]) -> None:
    """Numbers are numbers, unset defaults are left out, choices fill enum."""
    flags = flags_of(tasks, "task", "create")
    assert {
        name: (flag["type"], flag.get("default", ...))
        for name, flag in flags.items()
        if "standard" not in flag
    } == {
        "status": ("string", "todo"),
        "count": ("int", 1),
        "weight": ("float64", ...),
        "tag": ("[]string", ...),
        "token": ("string", "[REDACTED]"),
    }
    assert flags["status"]["enum"] == ["todo", "doing", "done"]
    assert (flags["count"]["short"], flags["weight"]["required"]) == ("n", True)


def test_annotations_are_told(tasks: list[str]) -> None:
    """What an author says about a flag stands in its schema; a secret default does not."""
    flags = flags_of(tasks, "task", "create")
    assert flags["token"]["env"] == "TASKS_TOKEN"
    assert (flags["token"]["sensitive"], flags["token"]["profileable"]) == (True, True)
    assert flags["tag"]["pattern"] == "^[a-z]+$"
    assert flags["count"]["mutually_exclusive_with"] == ["tag"]
    assert "s3cr3t" not in run(tasks, "describe").out


def test_safety_is_always_told(tasks: list[str]) -> None:
    """Safety is always there: as it is declared, as what is below a group, or as undeclared."""
    assert run(tasks, "task", "delete", "--schema").document["safety"] == {
        "read_only": False,
        "idempotent": False,
        "destructive": True,
    }
    assert run(tasks, "report", "--schema").document["safety"] == {"declared": False}
    assert run(tasks, "task", "--schema").document["safety"] == {
        "read_only": False,
        "idempotent": False,
        "destructive": True,
    }
    assert run(tasks, "task", "create", "--schema").document["safety"]["dry_run_supported"]


def test_agents_md_is_checked(tmp_path: Path, tasks: list[str]) -> None:
    """--check accepts what --agents-md wrote with an author's text around it, and shows a drift."""
    kept = tmp_path / "AGENTS.md"
    written = run(tasks, "describe", "--agents-md").out
    kept.write_bytes(f"# Ours\n\n{written}\n## Notes\n".replace("\n", "\r\n").encode())
    done = run(tasks, "describe", "--agents-md", "--check", str(kept))
    assert (done.code, done.document["message"]) == (0, f"{kept} is up to date.")

    old = written.replace("TITLE --weight FLOAT", "TITLE").replace(
        "### task purge", "### task wipe"
    )
    kept.write_text(old)
    done = run(tasks, "describe", "--check", "AGENTS.md", cwd=tmp_path)
    assert (done.code, done.out, done.error["error"]) == (1, "", "agents_md_drifted")
    assert "tasks describe --agents-md" in done.error["suggestion"]
    first, *difference = done.error["message"].splitlines()
    assert first == "AGENTS.md differs from the tool (- file, + tool):"
    assert [line.partition(" [")[0] for line in difference] == [
        "### task create",
        "- tasks task create TITLE",
        "+ tasks task create TITLE --weight FLOAT",
        "### task delete",
        "- ### task wipe",
        "+ ### task purge",
    ]
    shown = run_at_terminal(tasks, "describe", "--check", str(kept))
    assert shown.code == 1 and "+ ### task purge" in shown.err


@pytest.mark.parametrize(
    ("content", "error", "code"),
    [
        (None, "not_found", 5),
        (b"# Another tool\n", "agents_md_drifted", 1),
        (b"\xff\xfe", "user_error", 1),
    ],
)
def test_what_is_no_agents_md_is_no_success(
    tmp_path: Path, tasks: list[str], content: bytes | None, error: str, code: int
) -> None:
    """A file that is not there, that another tool wrote, or that is not text fails the check."""
    kept = tmp_path / "AGENTS.md"
    if content is not None:
        kept.write_bytes(content)
    done = run(tasks, "describe", "--check", str(kept))
    assert (done.code, done.error["error"]) == (code, error)
    assert str(kept) in done.error["message"]


def test_agents_md_without_commands() -> None:
    """AGENTS.md has no Commands section without commands, and no summary line without one."""
    text = murli.format_agents_md({"name": "t", "summary": "", "schema_version": "1.0"})
    assert "## Commands" not in text
    assert "## Tool: t\n\n## Introspection\n" in text
    assert text.endswith(
        "`1.0`\n\n<!-- End of what `t describe --agents-md` wrote. Your own text may follow. -->\n"
    )


def test_doctor(tasks: list[str]) -> None:
    """Doctor runs its checks, warns, and is listed nowhere."""
    done = run(tasks, "doctor")
    assert (done.code, done.document["status"]) == (0, "ok")
    assert done.document["result"] == {
        "checks": [
            {"name": "schema_version", "status": "pass"},
            {"name": "output_formats", "status": "pass"},
            {"name": "command_metadata", "status": "pass"},
        ],
        "passed": 3,
        "warnings": 0,
        "failed": 0,
    }
    assert "doctor" not in run(tasks, "--help").out
    assert "doctor" not in run(tasks, "describe").out
    explained = run(tasks, "doctor", "--help")
    assert (explained.code, explained.err) == (0, "") and "--strict" in explained.out


def test_doctor_reports_failures_as_a_plan() -> None:
    """A failed check makes the status `plan`; the report is the result all the same."""
    report = murli.run_doctor(
        {
            "schema_version": "0.9",
            "capabilities": {"output_formats": []},
            "commands": [
                {"name": "index", "subcommands": [{"name": "fetch"}]},
                {"name": "other", "summary": "", "flags": [{"name": "format"}]},
            ],
        }
    )
    assert [check["status"] for check in report["checks"]] == ["fail", "fail", "warn", "warn"]
    assert report["checks"][0]["message"] == 'schema_version is "0.9", want "1.0"'
    assert report["checks"][2]["message"] == (
        "commands missing description: [index index.fetch other]"
    )
    from murli.commands.doctor import answer_report

    out = io.StringIO()
    answer_report(murli.Writer(out, agent_mode=True, validate=True), report)
    document = json.loads(out.getvalue())
    assert (document["status"], document["message"]) == ("plan", "2 check(s) failed")
    assert document["result"] == report


def test_doctor_for_people(tasks: list[str]) -> None:
    """People read one line a check, a blank line and the counts."""
    done = run_at_terminal(tasks, "doctor")
    assert done.out == (
        "✓ schema_version\n✓ output_formats\n✓ command_metadata\n\n3 passed, 0 warnings, 0 failed\n"
    )
    stream = io.StringIO()
    murli.write_doctor_tty(
        stream,
        {
            "checks": [
                {"name": "a", "status": "fail", "message": "x"},
                {"name": "b", "status": "warn", "message": "y"},
            ],
            "passed": 0,
            "warnings": 1,
            "failed": 1,
        },
    )
    assert stream.getvalue() == "✗ a: x\n⚠ b: y\n\n0 passed, 1 warnings, 1 failed\n"


@pytest.mark.parametrize("words", [["doctor", "--bad"], ["doctor", "x"], ["describe", "--strict"]])
def test_mounted_commands_refuse_what_they_do_not_know(tasks: list[str], words: list[str]) -> None:
    """A mounted command with an unknown word is a usage error like any other."""
    done = run(tasks, *words)
    assert (done.code, done.error["code"], done.out) == (1, 1, "")


def test_conventions() -> None:
    """Every unconventional name is told in one line, and counted."""
    found = "fetch info retrieve show-all ls enumerate remove rm add new make edit modify set"
    flags = "skip-confirmations no-confirm silent no-output preview what-if format output-format"
    stream = io.StringIO()
    count = murli.check_conventions([*found.split(), "get"], [*flags.split(), "output"], stream)
    lines = stream.getvalue().splitlines()
    assert (count, len(lines)) == (22, 22)
    assert lines[0] == ('[murli advisory] command "fetch": prefer "get" (conventional vocabulary)')
    assert "[murli advisory] flag --format: prefer --output (conventional vocabulary)" in lines


def test_conventions_never_raise() -> None:
    """Advice that cannot be written is not worth a failure."""
    stream = io.StringIO()
    stream.close()
    assert murli.check_conventions(["fetch"], [], stream) == 1


def test_advice_is_for_authors_at_a_terminal() -> None:
    """Naming advice appears under MURLI_DEV at a terminal, and never for an agent."""
    source = (
        "import argparse, murli\n"
        "p = argparse.ArgumentParser(prog='t'); s = p.add_subparsers()\n"
        "s.add_parser('fetch'); murli.enable(p); p.parse_args()\n"
    )
    import sys

    argv = [sys.executable, "-c", source, "fetch"]
    dev = environment(MURLI_DEV="1")
    assert "[murli advisory]" in run_at_terminal(argv, env=dev).err
    assert run_at_terminal(argv).err == ""
    assert "[murli advisory]" not in run(argv, env=dev).err
