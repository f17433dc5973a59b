"""A call is made again only where nothing was done, or where a second run is declared harmless."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from client_fakes import QUICK, Answer, Client, murli_error, spec_error
from harness import environment
from murli.client import Limits, Policy, RetryAfter, Stop

pytestmark = pytest.mark.usefixtures("own_places")

CONTRACTS = ["murli", "response", "agent-spec-1.6", "agent-spec-2"]
HASTY = Policy(first_delay_ms=1, rate_limit_delay_ms=1, longest_delay_ms=50)

# Changes something, by a line in a file, before it fails as it is told; tells what it is like.
_TOOL = """#!/bin/sh
cd "$(dirname "$0")" || exit 99
case $1 in
describe|manifest)
  echo "$1" >> asked
  [ -f "$1.json" ] || exit 2
  cat "$1.json"
  exit 0;;
esac
echo "$@" >> ran
cat items 2>/dev/null
cat out
cat err >&2
[ -f hangs ] && exec sleep 60
[ -f dies ] && kill -9 $$
exit "$(cat code)"
"""


class Changing:
    """A tool whose command ``sync`` has changed something when it fails with *answer*."""

    def __init__(self, folder: Path, answer: Answer, **documents: Any) -> None:
        self.folder = folder
        folder.mkdir(parents=True)
        (folder / "out").write_bytes(answer.stdout)
        (folder / "err").write_bytes(answer.stderr)
        (folder / "code").write_text(str(answer.code))
        for name, document in documents.items():
            (folder / f"{name}.json").write_text(json.dumps(document))
        self.path = folder / "tool"
        self.path.write_text(_TOOL)
        self.path.chmod(0o755)

    @property
    def runs(self) -> int:
        """How often it has changed something."""
        path = self.folder / "ran"
        return len(path.read_text().splitlines()) if path.exists() else 0

    @property
    def asked(self) -> list[str]:
        """What it was asked about itself."""
        path = self.folder / "asked"
        return path.read_text().split() if path.exists() else []


def described(**facts: Any) -> dict[str, Any]:
    return {
        "name": "tool",
        "schema_version": "1.0",
        "capabilities": {},
        "commands": [{"name": "sync", **facts}, {"name": "delete", **facts}],
    }


def listed(**facts: Any) -> dict[str, Any]:
    entries = {name: {"description": "", "flags": {}, **facts} for name in ("sync", "delete")}
    data = {"schema_version": "3.0", "etag": "e", "exit_codes": {}, "commands": entries}
    meta = {"exit_code": 0, "duration_ms": 1, "command": "tool manifest"}
    return {"ok": True, "data": data, "error": None, "warnings": [], "meta": meta}


UNKNOWN: list[dict[str, Any]] = [
    {},
    {"describe": described(), "manifest": listed()},
    {"describe": described(safety={"declared": False}, idempotent=False)},
    {"describe": described(safety={"declared": False, "read_only": True})},
    {"describe": described(mutating=True, safety={"read_only": False})},
    {"manifest": listed(danger_level="mutating"), "describe": described(mutating=True)},
    {"describe": {"commands": []}, "manifest": {"ok": True}},
]
HARMLESS: list[dict[str, Any]] = [
    {
        "describe": described(safety={"read_only": True, "idempotent": True}, idempotent=True),
        "manifest": listed(danger_level="safe", idempotent=True),
    },
    {
        "describe": described(mutating=True, safety={"read_only": False}, idempotent=True),
        "manifest": listed(danger_level="mutating", idempotent=True),
    },
]


def failures(contract: str) -> dict[str, Answer]:
    """Give failures that may have done something, by what they are called."""
    if contract == "murli":
        return {
            "unavailable": murli_error(2, "unavailable"),
            "timeout": murli_error(4, "timeout"),
            "with a delay": murli_error(2, "tool_error", retry_after_ms=1),
            "its own status": murli_error(8, "execution_error", retry_after_ms=0),
        }
    found = {
        "unavailable": spec_error(12, "UNAVAILABLE"),
        "timeout": spec_error(10, "TIMEOUT"),
        "with a delay": spec_error(12, "UNAVAILABLE", retry_after_ms=1, retry_after=0),
        "temporary": spec_error(75, "TEMPORARY"),
    }
    if contract == "agent-spec-2":
        return found
    return {name: _older(answer) for name, answer in found.items()}


def _older(answer: Answer) -> Answer:
    """Give the same answer without what only the newest revision has."""
    document = json.loads(answer.stdout)
    del document["meta"]["exit_code"]
    return Answer(json.dumps(document).encode() + b"\n", b"", answer.code)


@pytest.mark.parametrize("contract", CONTRACTS)
def test_what_may_have_changed_something_is_not_repeated(
    client: Client, tmp_path: Path, contract: str
) -> None:
    """Undeclared is unknown: whatever the failure and the call, the change is made once."""
    for number, documents in enumerate(UNKNOWN):
        for name, answer in failures(contract).items():
            one = Changing(tmp_path / f"{number}-{name}", answer, **documents)
            tool = client([str(one.path)], policy=HASTY, contract=contract, check=number % 2 == 0)
            found = tool.call("sync")
            assert (one.runs, type(found.decisions[-1])) == (1, Stop), (name, documents)
            assert "may have" in found.decisions[-1].reason
            # What the tool is like is asked once, before it is called or before it is repeated.
            assert len(one.asked) == len(set(one.asked))
    one = Changing(tmp_path / "each", failures(contract)["unavailable"])
    tool = client([str(one.path)], policy=HASTY, contract=contract)
    tool.call("sync")
    tool.run("sync")
    tool.pages("sync")
    tool.stream("sync")
    assert one.runs == 4


@pytest.mark.parametrize("contract", CONTRACTS)
def test_what_is_declared_harmless_is_repeated(
    client: Client, tmp_path: Path, contract: str
) -> None:
    """A command that declares that it reads, or is idempotent, is called again, three times."""
    for number, documents in enumerate(HARMLESS):
        one = Changing(tmp_path / str(number), failures(contract)["unavailable"], **documents)
        # The contract shows in the first answer; only then can the tool be asked.
        found = client([str(one.path)], policy=HASTY).call("sync")
        if contract == "murli":
            recoverable = [RetryAfter] * 3 + [Stop]
            assert [type(each) for each in found.decisions] == recoverable
        assert (one.runs, len(one.asked)) == (4, 1)
        hidden = Changing(
            tmp_path / f"{number}-hidden", failures(contract)["unavailable"], **documents
        )
        client([str(hidden.path)], policy=HASTY).call("unlisted")
        assert hidden.runs == 1


def test_a_name_outweighs_the_read_only_of_the_first_murli(client: Client, tmp_path: Path) -> None:
    """There every command nobody declared is read-only: a ``delete`` is not believed to be."""
    documents = {"describe": described(safety={"read_only": True}, idempotent=False)}
    for command, runs in (("sync", 1), ("delete", 1), ("fetch", 4)):
        documents["describe"]["commands"][0]["name"] = "fetch"
        documents["describe"]["commands"].append(
            {**documents["describe"]["commands"][1], "name": "sync"}
        )
        one = Changing(tmp_path / command, murli_error(2, "unavailable"), **documents)
        client([str(one.path)], policy=HASTY).call(command)
        assert (command, one.runs) == (command, runs)


def test_an_idempotency_key_makes_a_call_repeatable(client: Client, tmp_path: Path) -> None:
    """With a key the tool does a thing once, however often it is asked; an empty one is none."""
    for words, runs in (
        (["--idempotency-key", "k1"], 4),
        (["--idempotency-key=k1"], 4),
        (["--idempotency-key="], 1),
        (["--", "--idempotency-key=k1"], 1),
    ):
        one = Changing(tmp_path / " ".join(words), spec_error(12, "UNAVAILABLE"))
        client([str(one.path)], policy=HASTY).run("sync", *words)
        assert (words, one.runs) == (words, runs)


def test_a_promise_that_nothing_was_done_is_believed(client: Client, tmp_path: Path) -> None:
    """``retryable`` of an envelope, a rate limit, a refusal: the catalogue need not be asked."""
    promises = [
        spec_error(12, "UNAVAILABLE", retryable=True),
        spec_error(10, "TIMEOUT", retryable=True),
        spec_error(11, "RATE_LIMITED"),
        spec_error(12, "UNAVAILABLE", phase="validation"),
        murli_error(8, "rate_limited", retry_after_ms=1),
    ]
    for number, answer in enumerate(promises):
        one = Changing(tmp_path / str(number), answer)
        client([str(one.path)], policy=HASTY).call("sync")
        assert (one.runs, one.asked) == (4, [])
    # The caller's own word counts as well.
    one = Changing(tmp_path / "caller", spec_error(12, "UNAVAILABLE"))
    allowed = Policy(first_delay_ms=1, longest_delay_ms=50, retryable={12: True})
    client([str(one.path)], policy=allowed).call("sync")
    assert one.runs == 4


def test_a_bare_number_promises_nothing(client: Client, tmp_path: Path) -> None:
    """A success whose process ends with the number of a rate limit has done its work."""
    done = b'{"status": "ok", "schema_version": "1.0", "message": "", "result": 1}\n'
    envelope = b'{"ok": true, "data": 1, "error": null, "warnings": [], "meta": {}}\n'
    for number, (stdout, code) in enumerate(((done, 8), (envelope, 11), (b"text\n", 75))):
        one = Changing(tmp_path / str(number), Answer(stdout, b"", code))
        client([str(one.path)], policy=HASTY).call("sync")
        assert one.runs == 1


@pytest.mark.parametrize("contract", CONTRACTS)
def test_a_process_that_died_or_took_too_long_is_not_repeated(
    client: Client, tmp_path: Path, contract: str
) -> None:
    """Nobody knows how far it had come, also where an answer had begun."""
    documents = {"describe": described(), "manifest": listed()}
    for how in ("dies", "hangs"):
        for stdout in (b"", b'{"a": 1}\n'):
            one = Changing(tmp_path / f"{how}{len(stdout)}", Answer(stdout), **documents)
            (one.folder / how).touch()
            limits = Limits(seconds=0.15, grace_seconds=0.1) if how == "hangs" else QUICK
            found = client([str(one.path)], limits=limits, policy=HASTY, contract=contract)
            assert not found.call("sync").ok
            assert one.runs == 1


def test_a_fix_is_not_followed_by_a_second_change(client: Client, tmp_path: Path) -> None:
    """Behind a fix the call is made again, so a failure that may have done something has none."""
    broken = spec_error(1, "GENERAL_ERROR", retryable=False, fix_command="tool mend")
    one = Changing(tmp_path / "unknown", broken, describe=described())
    found = client([str(one.path)]).call("sync")
    assert (one.runs, type(found.decisions[-1])) == (1, Stop)
    assert found.decisions[-1].advice == "tool mend"
    refused = spec_error(1, "X", retryable=False, fix_command="tool mend", phase="validation")
    one = Changing(tmp_path / "refused", refused)
    client([str(one.path)]).call("sync")
    assert one.runs == 2  # the call, and the fix, which fails as well


def test_options_before_the_command_do_not_hide_what_it_is(client: Client, tmp_path: Path) -> None:
    """An option that may take the next word makes the command unknown, and others do not."""
    documents = {
        "describe": {
            **described(),
            "flags": [{"name": "quiet", "type": "bool"}, {"name": "verbose", "type": "count"}],
            "commands": [
                {"name": "fetch", "safety": {"read_only": True}},
                {"name": "delete", "mutating": True},
            ],
        }
    }
    for words, runs in (
        (["--region=eu", "--quiet", "fetch"], 4),
        (["--region", "eu", "fetch"], 1),
        (["--verbose", "delete", "fetch"], 1),
        (["-v", "delete", "fetch"], 1),
        (["fetch", "delete"], 1),  # both are run where commands can be chained
        (["fetch", "x", "--y"], 4),
    ):
        one = Changing(tmp_path / "-".join(words), murli_error(2, "unavailable"), **documents)
        client([str(one.path)], policy=HASTY).run(*words)
        assert (words, one.runs) == (words, runs)


REAL = """
import argparse, os, sys, murli

parser = argparse.ArgumentParser("till")
commands = parser.add_subparsers(dest="command", required=True)
for name in ("undeclared", "pay", "repeatable"):
    commands.add_parser(name)
murli.annotate(commands.choices["pay"], murli.Metadata(mutating=True))
murli.annotate(commands.choices["repeatable"], murli.Metadata(mutating=True, idempotent=True))
murli.enable(parser, name="till")
with murli.session(parser) as (args, writer):
    with open(os.environ["RAN"], "a") as file:
        file.write(args.command + "\\n")
    raise ConnectionResetError("connection lost")
"""


@pytest.mark.parametrize("contract", CONTRACTS)
def test_a_real_tool_that_loses_its_connection_is_called_once(
    tmp_path: Path, contract: str
) -> None:
    """What murli says of its command decides: only an idempotent one is called again."""
    script, ran = tmp_path / "pay.py", tmp_path / "ran"
    script.write_text(REAL)
    tool = Client(contract == "agent-spec-2", tmp_path / "state")(
        [sys.executable, str(script)],
        env={**environment(MURLI_CONTRACT=contract), "RAN": str(ran)},
        policy=HASTY,
    )
    for command in ("undeclared", "pay", "repeatable"):
        tool.call(command, yes=True if command != "undeclared" else None)
    runs = ran.read_text().split()
    assert [runs.count(each) for each in ("undeclared", "pay", "repeatable")] == [1, 1, 4]
    assert os.path.exists(script)
