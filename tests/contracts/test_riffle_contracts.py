"""riffle's three front ends under all four contracts, chosen by the environment alone."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from documents import FAMILY, hold_to_schema
from harness import Run, environment, lay_out, run, tool

FRONT_ENDS = {
    "argparse": ("riffle.cli", "main"),
    "click": ("riffle.cli_click", "main"),
    "typer": ("riffle.cli_typer", "app"),
}
CONTRACTS = ["murli", *FAMILY]
FILES = 25

# name -> the words of a call; "{docs}" is the folder that is indexed. They are made in this order.
CALLS = {
    "bare": [],
    "help": ["--help"],
    "help of one": ["query", "--help"],
    "version": ["--version"],
    "no index": ["query", "wood"],
    "refused": ["index", "build", "{docs}"],
    "planned": ["index", "build", "{docs}", "--dry-run"],
    "built": ["index", "build", "{docs}", "--yes"],
    "status": ["index", "status"],
    "found": ["query", "wood", "--top", "3"],
    "all found": ["query", "wood", "--top", "24"],
    "page": ["query", "wood", "--top", "24", "--limit", "10"],
    "stream": ["query", "wood", "--top", "4", "--stream"],
    "missing": ["show", "nothing"],
    "bad query": ["query", "!!"],
    "bad value": ["query", "wood", "--top", "many"],
    "bad flag": ["query", "wood", "--tpo", "3"],
    "unknown": ["zzzz"],
    "typo": ["qurey", "wood"],
    "group": ["index"],
    "schema": ["query", "--schema"],
    "output schema": ["query", "wood", "--output-schema"],
    "manifest": ["manifest"],
    "describe": ["describe"],
    "doctor": ["doctor"],
    "timeout": ["index", "build", "{library}", "--yes", "--timeout", "1ms"],
    "not confirmed": ["index", "delete"],
    "delete planned": ["index", "delete", "--dry-run"],
    "deleted": ["index", "delete", "--yes"],
    "gone": ["index", "status"],
}
# What only the family has.
NEW = {"manifest", "output schema"}
# The texts of frameworks; what is beside them is compared all the same.
TEXTS = {"bare", "help", "help of one"}
# Where they are interrupted is a matter of chance.
CHANCE = {"timeout"}


class Answers:
    """What the three front ends answered under one contract."""

    def __init__(self, contract: str, runs: dict[str, dict[str, Run]]) -> None:
        self.contract = contract
        self.runs = runs

    def __getitem__(self, name: str) -> Run:
        return self.runs["argparse"][name]

    def document(self, name: str) -> Any:
        """Give the last document of a call, wherever this contract writes it."""
        done = self[name]
        text = done.out or done.err
        return json.loads(text.splitlines()[-1] if _is_lines(text) else text)

    @property
    def family(self) -> bool:
        return self.contract != "murli"

    def number(self, murli: int, response: int, later: int) -> int:
        return {"murli": murli, "response": response}.get(self.contract, later)


# The checks of conformance try the others on every change; here they are left to the long run.
@pytest.mark.parametrize(
    "contract",
    [pytest.param(each, marks=[pytest.mark.slow] * (each != "murli")) for each in CONTRACTS],
)
def test_riffle_keeps_every_contract(tmp_path: Path, contract: str) -> None:
    """Every call of every front end is answered as the contract says, and as by the others."""
    runs = {name: _runs(tmp_path / name, contract, *FRONT_ENDS[name]) for name in FRONT_ENDS}
    answers = Answers(contract, runs)
    # One test, because all of them look at the same calls.
    check_every_answer_is_one_envelope(answers)
    check_the_front_ends_agree(answers)
    check_asking_for_help(answers)
    check_building_and_deleting(answers)
    check_a_refusal_shows_what_it_refuses(answers)
    check_finding(answers)
    check_a_stream(answers)
    check_failing(answers)
    check_describing_itself(answers)


def _runs(folder: Path, contract: str, module: str, function: str) -> dict[str, Run]:
    """Make all of the calls of one front end, with an index of its own."""
    files = {f"wood{number:02}/saw.md": f"wood number {number}" for number in range(FILES)}
    docs = lay_out(folder / "docs", files)
    # So much that no build of it is over before its deadline is noticed.
    pages = {f"saw{number}.md": "wood and saws\n" * 10_000 for number in range(5)}
    folders = {"docs": docs, "library": lay_out(folder / "library", pages)}
    calls = [["riffle", *(word.format(**folders) for word in words)] for words in CALLS.values()]
    index = str(folder / "index.db")
    env = environment(MURLI_CONTRACT=contract, RIFFLE_INDEX=index, HOME=str(folder))
    stdin = json.dumps(calls).encode()
    done = run(tool("each_call"), module, function, env=env, stdin=stdin, cwd=folder)
    return {
        name: Run(_same(out, folder, words, env), _same(err, folder, words, env), code)
        for name, words, (code, out, err) in zip(CALLS, calls, done.document, strict=True)
    }


def _same(text: str, folder: Path, words: list[str], env: dict[str, str]) -> bytes:
    """Give what is valid in its contract, without what differs between equal calls."""
    hold_to_schema(text.encode(), words, env)
    told = text.replace(str(folder), "/folder")
    for name in ("request_id", "timestamp", "updated", "next_cursor", "cursor", "etag"):
        told = re.sub(rf'("{name}": ?)"[^"]*"', r'\1"…"', told)
    for name in ("duration_ms", "seconds", "elapsed_ms", "size_bytes", "bytes"):
        told = re.sub(rf'("{name}": ?)[0-9.]+', r"\g<1>0", told)
    # Which of them has a deadline already when it refuses is nobody's business.
    told = re.sub(r'"timeout_ms": ?\d+,\s*', "", told)
    return re.sub(r"--cursor [\w=-]+", "--cursor …", told).encode()


def _is_lines(text: str) -> bool:
    return len(text.splitlines()) > 1 and not text.startswith("{\n")


def check_every_answer_is_one_envelope(answers: Answers) -> None:
    """Stdout is exactly one document under the family, and the exit code is the document's."""
    for front_end, runs in answers.runs.items():
        for name, done in runs.items():
            if not answers.family:
                assert done.out or done.err, (front_end, name)
                continue
            if name == "stream":
                assert (done.code, done.lines[-1]["_summary"]) == (0, True), front_end
                continue
            last = done.document
            assert list(last) == ["ok", "data", "error", "warnings", "meta"], (front_end, name)
            assert last["ok"] is (done.code == 0)
            assert (last["error"] is None) is last["ok"]
            assert last["meta"].get("exit_code", done.code) == done.code
            # Progress and help are for whoever watches.
            assert not done.err or name in {*TEXTS, "built", "timeout"}, (front_end, name)


def check_the_front_ends_agree(answers: Answers) -> None:
    """Whichever framework parses, the answer and the exit code are the same."""
    for name in CALLS:
        runs = [runs[name] for runs in answers.runs.values()]
        assert len({done.code for done in runs}) == 1, name
        if name in CHANCE or (name in (NEW | TEXTS) and not answers.family):
            continue
        assert runs[0].out == runs[1].out == runs[2].out, name
        if name not in TEXTS:
            assert runs[0].err == runs[1].err == runs[2].err, name


def check_asking_for_help(answers: Answers) -> None:
    """Help and a bare call succeed and tell where the schema is; murli has text, and no answer."""
    if not answers.family:
        assert (answers["help"].code, answers["bare"].code) == (0, 1)
        return
    for name, told in (("bare", "riffle"), ("help", "riffle"), ("help of one", "riffle query")):
        document = answers[name].document
        of_response = answers.contract == "response"
        assert list(document["data"] or ()) == (["card"] if of_response else [])
        first = document["data" if of_response else "meta"]["card"][0]
        assert first.startswith("This command: reads" if name == "help of one" else "Commands")
        assert document["meta"]["schema_ref"] == f"{told} --schema"
        assert "usage" in answers[name].err.lower()
    assert answers["version"].document["data"]["version"] == "1.0.2"


def check_building_and_deleting(answers: Answers) -> None:
    """Nothing is built or deleted unconfirmed, a dry run plans, and a confirmed call does it."""
    payload = "data" if answers.family else "result"
    refused = answers.number(1, 3, 2)
    for name in ("refused", "not confirmed"):
        assert answers[name].code == refused
        error = answers.document(name)["error"]
        assert (error["code"] if answers.family else error).lower() == "confirmation_required"
    plan = answers.document("planned")["data" if answers.family else "plan"]
    assert plan["files"] == FILES
    assert answers.document("built")[payload]["added"] == FILES
    assert answers.document("status")[payload]["files"] == FILES
    assert answers.document("deleted")[payload]["deleted"]
    assert (answers["no index"].code, answers["gone"].code) == (5, 5)
    if answers.family:
        assert answers.document("delete planned")["meta"]["dry_run"] is True


def check_a_refusal_shows_what_it_refuses(answers: Answers) -> None:
    """Where the contract has a place for it, a refusal holds what would have been done."""
    if answers.contract in ("agent-spec-1.6", "agent-spec-2"):
        error = answers.document("not confirmed")["error"]
        assert error["context"]["would_affect"]["would_delete"] == ["/folder/index.db"]


def check_finding(answers: Answers) -> None:
    """A query gives what was asked for; a long one says how much there is and how to go on."""
    payload = "data" if answers.family else "result"
    assert [len(answers.document(name)[payload]) for name in ("found", "page")] == [3, 10]
    assert len(answers.document("all found")[payload]) == (20 if answers.family else 24)
    page = answers.document("page")
    rest = "riffle query wood --top 24 --limit 10 --cursor …"
    if answers.contract == "murli":
        assert (page["page"]["total"], page["page"]["rest"]) == (24, rest)
        return
    assert (page["meta"]["total_count"], page["meta"]["truncation_hint"]) == (24, rest)
    if answers.contract == "agent-spec-2":
        assert page["meta"]["pagination"]["has_more"] is True
        assert answers.document("found")["meta"]["pagination"]["has_more"] is False


def check_a_stream(answers: Answers) -> None:
    """Each match is a line, and one line ends the stream with how many there were."""
    *items, end = answers["stream"].lines
    assert len(items) == 4
    assert all("path" in item for item in items)
    if answers.family:
        assert (end["_summary"], end["_count"], end["total"]) == (True, 4, 4)
        numbered = answers.contract == "agent-spec-2"
        assert [item.get("_seq") for item in items] == ([1, 2, 3, 4] if numbered else [None] * 4)
    else:
        assert end["result"] == {"count": 4}


def check_failing(answers: Answers) -> None:
    """Mistakes of the caller, and what is not there, have the contract's numbers and words."""
    wrong = answers.number(1, 3, 2)
    for name in ("bad query", "bad value", "bad flag", "unknown", "group"):
        assert answers[name].code == wrong, name
    assert answers["missing"].code == 5
    assert answers["timeout"].code == answers.number(4, 10, 10)
    typo = answers.document("typo")
    assert answers["typo"].code == answers.number(1, 13, 13)
    if answers.family:
        wanted = {"command": "riffle query wood", "permanent": False, "reason": "typo_corrected"}
        assert typo["error"]["redirect"] == wanted
        assert answers.document("unknown")["error"]["code"] == "COMMAND_ERROR"
    else:
        assert "query" in typo["suggestion"]


def check_describing_itself(answers: Answers) -> None:
    """The manifest has every command, and describe and --schema agree with it."""
    described = answers.document("describe")
    if not answers.family:
        assert [each["name"] for each in described["commands"]] == ["query", "show", "index"]
        return
    commands = answers.document("manifest")["data"]["commands"]
    assert {"query", "show", "index", "index.build", "index.status", "index.delete"} <= set(
        commands
    )
    assert {"manifest", "describe", "doctor", "exec"} <= set(commands)
    levels = {name: entry["danger_level"] for name, entry in commands.items()}
    assert (levels["query"], levels["index.build"]) == ("safe", "mutating")
    assert levels["index.delete"] == "destructive"
    schema = answers.document("schema")["data"]
    assert schema["flags"] == commands["query"]["flags"]
    assert answers.document("output schema")["data"]["type"] == "array"
