"""riffle as its callers meet it: people at a terminal, agents on a pipe."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from harness import Run, environment, lay_out, run, run_at_terminal

FRONT_ENDS = {"argparse": "riffle", "click": "riffle.cli_click", "typer": "riffle.cli_typer"}


@pytest.fixture(params=["argparse", "click", pytest.param("typer", marks=pytest.mark.slow)])
def riffle(request: pytest.FixtureRequest) -> list[str]:
    return [sys.executable, "-m", FRONT_ENDS[request.param]]


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    return lay_out(
        folder,
        {
            "woodworking/joints.md": "Dovetail joints in woodworking: saw, woodworking glue.",
            "woodworking/tools.md": "Planes and saws for woodworking.",
            "cooking/soup.md": "Onions, stock, patience.",
            "travel/rome.md": "Trains, and a carved wooden door.",
        },
    )


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return environment(RIFFLE_INDEX=str(tmp_path / "home" / "index.db"))


@pytest.fixture
def indexed(docs: Path, env: dict[str, str]) -> dict[str, str]:
    assert (
        run([sys.executable, "-m", "riffle"], "index", "build", str(docs), "--yes", env=env).code
        == 0
    )
    return env


def test_a_query_is_the_seed_envelope(
    riffle: list[str], docs: Path, indexed: dict[str, str]
) -> None:
    """`riffle query woodworking`, piped, prints the documented envelope: ranked path and score."""
    done = run(riffle, "query", "woodworking", "--top", "1", env=indexed)
    document = done.document
    assert list(document) == ["status", "schema_version", "tool_version", "message", "result"]
    assert (document["status"], document["tool_version"]) == ("ok", "1.0.2")
    assert document["message"] == "Found 1 result"
    (match,) = document["result"]
    assert list(match) == ["path", "score"]
    assert match["path"] == str(docs / "woodworking")
    assert 0.9 <= match["score"] <= 1
    assert done.err == ""


def test_a_person_reads_a_list(riffle: list[str], indexed: dict[str, str]) -> None:
    """At a terminal the same query is a ranked list that fits the screen, folders with a slash."""
    done = run_at_terminal(riffle, "query", "woodworking", env=indexed)
    lines = done.out.splitlines()
    assert lines[0].endswith('for "woodworking"')
    assert lines[2].split()[1].endswith("docs/woodworking/")
    assert "{" not in done.out
    assert max(map(len, lines)) <= 100


def test_no_index_says_how_to_build_one(riffle: list[str], env: dict[str, str]) -> None:
    """Without an index the error is not_found and names the command that builds it."""
    for words in (["query", "x"], ["show", "x"], ["index", "status"], ["index", "delete", "--yes"]):
        done = run(riffle, *words, env=env)
        assert (done.code, done.error["error"], done.error["recoverable"]) == (5, "not_found", True)
        assert done.error["suggestion"] == "Run `riffle index build PATH` to create the index."
        assert done.out == ""


def test_building_needs_intent(riffle: list[str], docs: Path, env: dict[str, str]) -> None:
    """An agent's build is refused without --yes, planned with --dry-run; neither leaves a trace."""
    refused = run(riffle, "index", "build", str(docs), env=env)
    assert refused.error["error"] == "confirmation_required"
    planned = run(riffle, "index", "build", str(docs), "--dry-run", env=env)
    assert (planned.document["status"], planned.document["plan"]["files"]) == ("plan", 4)
    assert not Path(env["RIFFLE_INDEX"]).exists()


def test_building_streams_progress(riffle: list[str], docs: Path, env: dict[str, str]) -> None:
    """A build tells its progress line by line and ends with one answer."""
    done = run(riffle, "index", "build", str(docs), "--yes", env=env)
    *progress, end = done.lines
    assert {line["stage"] for line in progress} == {"scan", "index"}
    assert all(line["event"] == "progress" for line in progress)
    assert (end["message"], end["result"]["added"]) == ("Indexed 4 files", 4)


def test_status(riffle: list[str], docs: Path, indexed: dict[str, str]) -> None:
    """Status tells what the index holds, to both audiences."""
    result = run(riffle, "index", "status", env=indexed).document["result"]
    assert (result["files"], result["roots"]) == (4, [str(docs)])
    assert "4 files in" in run_at_terminal(riffle, "index", "status", env=indexed).out


def test_deleting(riffle: list[str], indexed: dict[str, str]) -> None:
    """Deleting is refused, planned, and done when it is confirmed."""
    index = Path(indexed["RIFFLE_INDEX"])
    refused = run(riffle, "index", "delete", env=indexed)
    assert refused.error["error"] == "confirmation_required"
    plan = run(riffle, "index", "delete", "--dry-run", env=indexed).document["plan"]
    assert plan["would_delete"] == [str(index)]
    assert index.exists()
    assert run(riffle, "index", "delete", "--yes", env=indexed).code == 0
    assert not index.exists()


@pytest.mark.parametrize(("keys", "gone"), [(b"y\n", True), (b"n\n", False), (b"\n", False)])
def test_a_person_is_asked(
    riffle: list[str], indexed: dict[str, str], keys: bytes, gone: bool
) -> None:
    """A person is asked before the index is deleted, and may change his mind."""
    done = run_at_terminal(riffle, "index", "delete", env=indexed, keys=keys)
    assert "[y/N]" in done.out + done.err  # where readline is missing, Python asks on stderr
    assert Path(indexed["RIFFLE_INDEX"]).exists() != gone
    assert done.code == (0 if gone else 9)


def test_show(riffle: list[str], docs: Path, indexed: dict[str, str]) -> None:
    """Show gives a file's text, a folder's files, and near names for what is not indexed."""
    file = str(docs / "cooking" / "soup.md")
    document = run(riffle, "show", file, env=indexed).document["result"]
    assert document["text"] == "Onions, stock, patience."
    assert run_at_terminal(riffle, "show", file, env=indexed).out == "Onions, stock, patience.\n"
    folder = run(riffle, "show", str(docs / "woodworking"), env=indexed).document["result"]
    assert len(folder["files"]) == 2
    missing = run(riffle, "show", "soop.md", env=indexed)
    assert (missing.code, missing.error["valid_values"][0]) == (5, file)


@pytest.mark.parametrize(
    ("words", "field"),
    [
        (["query", "!!"], "text"),
        (["query", "x", "--top", "0"], "top"),
        (["query", "x", "--top", "many"], "top"),
        (["query"], "text"),
    ],
)
def test_bad_input_is_told(
    riffle: list[str], indexed: dict[str, str], words: list[str], field: str
) -> None:
    """Bad input is an error with its field, and changes nothing."""
    done = run(riffle, *words, env=indexed)
    assert (done.code, done.error["field"]) == (1, field)


def test_other_failures_are_told(riffle: list[str], docs: Path, indexed: dict[str, str]) -> None:
    """A folder that is not there, and a file that is no index, are errors with a way on."""
    assert run(riffle, "index", "build", "/no/such", "--yes", env=indexed).code == 5
    foreign = docs / "cooking" / "soup.md"
    done = run(riffle, "query", "x", "--index", str(foreign), env=indexed)
    assert (done.code, done.error["error"]) == (2, "tool_error")
    done = run(riffle, "index", "delete", "--yes", "--index", str(foreign), env=indexed)
    assert done.code == 2
    assert foreign.exists()


@pytest.mark.parametrize("contract", ["response", "agent-spec-1.6", "agent-spec-2"])
def test_other_contracts(riffle: list[str], indexed: dict[str, str], contract: str) -> None:
    """The same tool answers in the other contracts, chosen by the environment alone."""
    env = {**indexed, "MURLI_CONTRACT": contract}
    found: Run = run(riffle, "query", "woodworking", "--top", "1", env=env)
    assert (found.document["ok"], len(found.document["data"])) == (True, 1)
    refused = run(riffle, "index", "delete", env=env)
    assert json.loads(refused.out)["error"]["code"] == "CONFIRMATION_REQUIRED"
    assert (refused.code, refused.err) == (3 if contract == "response" else 2, "")


def test_describe(riffle: list[str], env: dict[str, str]) -> None:
    """describe tells what each command changes."""
    document = run(riffle, "describe", env=env).document
    assert [command["name"] for command in document["commands"]] == ["query", "show", "index"]
    safety = {
        command["name"]: command["safety"] for command in document["commands"][-1]["subcommands"]
    }
    assert safety["status"] == {"read_only": True, "idempotent": True}
    assert safety["delete"]["destructive"]
    assert safety["build"]["dry_run_supported"]


_USUAL = [
    ["describe"],
    ["query", "--schema"],
    ["query", "woodworking"],
    ["query", "woodworking", "--output", "ndjson", "--top", "2"],
    ["query", "woodworking", "--top", "x"],
    ["qery", "x"],
    ["index", "delete"],
    ["--version"],
]
_OTHER = [
    ["describe", "--agents-md"],
    ["--schema"],
    ["index", "--schema"],
    ["index", "build", "--schema"],
    ["query", "woodworking", "--output", "text"],
    ["query"],
    ["query", "x", "--tpo", "3"],
    ["index"],
    ["index", "delete", "--dry-run"],
    ["index", "status", "extra"],
    ["show", "nothing"],
    ["doctor"],
]


@pytest.mark.parametrize(
    "words", [*_USUAL, *(pytest.param(each, marks=pytest.mark.slow) for each in _OTHER)]
)
def test_three_front_ends_print_the_same_bytes(indexed: dict[str, str], words: list[str]) -> None:
    """Whichever framework parses, the bytes and the exit code are the same."""
    runs = [
        run([sys.executable, "-m", module], *words, env=indexed) for module in FRONT_ENDS.values()
    ]
    assert runs[0] == runs[1] == runs[2]
    assert runs[0].stdout or runs[0].stderr
