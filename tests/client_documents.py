"""Answers of every contract, as a test writes them down, and what the client makes of them."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from murli.client import (
    Catalogue,
    Decision,
    Limits,
    Memory,
    Policy,
    Response,
    RetryAfter,
    decide,
    read,
)
from murli.wire.listing import from_description
from murli.wire.running import ProcessResult, run

FAMILY = ("response", "agent-spec-1.6", "agent-spec-2")
CONTRACTS = ("murli", *FAMILY)
#: the call that every answer is about
CALL = ("tool", "query", "tea")
#: what a tool lists that declares that the call only reads
READS = from_description(
    {"name": "tool", "commands": [{"name": "query", "safety": {"read_only": True}}]}
)


def envelope(
    data: Any = None,
    error: Mapping[str, Any] | None = None,
    *,
    ok: bool | None = None,
    without: Sequence[str] = (),
    warnings: Sequence[Any] = (),
    meta: Mapping[str, Any] | None = None,
) -> bytes:
    """Give an envelope of the family as a line; *ok* follows from *error* unless it is given."""
    document = {
        "ok": error is None if ok is None else ok,
        "data": data,
        "error": error,
        "warnings": list(warnings),
        "meta": {"duration_ms": 1, **(meta or {})},
    }
    kept = {key: value for key, value in document.items() if key not in without}
    return json.dumps(kept).encode() + b"\n"


def refusal(code: str = "SOMETHING", **facts: Any) -> dict[str, Any]:
    """Give an error of the family."""
    return {"code": code, "message": f"It is {code}.", **facts}


def failed(contract: str, exit_code: int, code: str = "SOMETHING", **facts: Any) -> Response[Any]:
    """Understand a failure of the family that does not contradict itself."""
    meta = {"exit_code": exit_code} if contract == "agent-spec-2" else {}
    data = facts.pop("data", None)
    return understood(envelope(data, refusal(code, **facts), meta=meta), exit_code, contract)


def murli_answer(status: str, payload: Any = None, key: str = "result", **facts: Any) -> bytes:
    """Give a document of murli that is no error."""
    stamps = {"status": status, "schema_version": "1.0", "tool_version": "1.0.2"}
    return json.dumps({**stamps, "message": "", key: payload, **facts}).encode() + b"\n"


def murli_error(code: int, error: str = "something", **facts: Any) -> bytes:
    """Give an error of murli; *recoverable* is left out unless it is given."""
    document = {"status": "error", "code": code, "error": error, "message": f"It is {error}."}
    return json.dumps({**document, **facts, "schema_version": "1.0"}).encode() + b"\n"


def understood(
    stdout: bytes,
    exit_code: int | None = 0,
    contract: str = "",
    *,
    stderr: bytes = b"",
    argv: tuple[str, ...] = CALL,
) -> Response[Any]:
    """Understand what a call has written: a real one, where a process can end like that."""
    small = len(stdout) + len(stderr) < 500_000
    if exit_code is not None and -64 < exit_code < 256 and small:
        ran = _said(stdout, stderr, exit_code)
        assert (ran.stdout, ran.stderr, ran.exit_code) == (stdout, stderr, exit_code)
        stdout, stderr, exit_code = ran.stdout, ran.stderr, ran.exit_code
    return read(stdout, stderr, exit_code, contract).with_call(argv, 1)


# A tool that says what it is given, and ends as it is told, by a signal if need be.
_TOOL = 'cat "$1"; cat "$2" >&2; case $3 in -*) kill "$3" $$;; esac; exit "$3"'


def _said(stdout: bytes, stderr: bytes, exit_code: int) -> ProcessResult:
    with tempfile.TemporaryDirectory() as folder:
        out, err = Path(folder, "out"), Path(folder, "err")
        out.write_bytes(stdout)
        err.write_bytes(stderr)
        return run(["sh", "-c", _TOOL, "sh", str(out), str(err), str(exit_code)], Limits())


def decided(
    response: Response[Any],
    policy: Policy | None = None,
    memory: Memory | None = None,
    catalogue: Catalogue | None = None,
) -> Decision:
    """Decide about *response*, the first of its call unless there is a *memory*."""
    return decide(policy or Policy(), memory or Memory(), response, catalogue)


def course(
    response: Response[Any], policy: Policy | None = None, catalogue: Catalogue | None = None
) -> list[Decision]:
    """Decide again and again about the same answer, until nothing more is to be done."""
    policy, memory = policy or Policy(), Memory()
    decisions: list[Decision] = []
    while not decisions or type(decisions[-1]).__name__ in (
        "RetryAfter",
        "RunInstead",
        "RefreshCredentials",
    ):
        decisions.append(decide(policy, memory, response, catalogue))
        memory = memory.after(response, decisions[-1])
        assert len(decisions) < 1000, "there is no end to it"
    return decisions


LATER = ("agent-spec-1.6", "agent-spec-2")
STEADY = Policy(jitter=0.0)


def delays(decisions: Sequence[Any]) -> list[int]:
    """Give how long is waited before each repetition."""
    return [each.delay_ms for each in decisions if isinstance(each, RetryAfter)]


def unfinished(done: float, **facts: Any) -> dict[str, Any]:
    """Give the data of work that did not fit into its time."""
    commands = {"continue_command": "tool resume 7", "cancel_command": "tool cancel 7"}
    return {"progress": {"done": done}, **commands, **facts}


def moved(contract: str, command: str, exit_code: int = 13, **facts: Any) -> Any:
    """Give an answer that names another call."""
    redirect = {"permanent": False, "reason": "renamed", **facts, "command": command}
    return failed(contract, exit_code, "COMMAND_RENAMED", retryable=True, redirect=redirect)


def kinds(response: Any) -> list[type]:
    return [type(decision) for decision in response.decisions]


#: a tool with a few commands, as it describes itself
DESCRIBE = {
    "name": "tool",
    "schema_version": "1.0",
    "capabilities": {},
    "commands": [
        {
            "name": "query",
            "summary": "Find things",
            "arguments": [{"name": "text", "type": "string", "required": True}],
            "flags": [
                {"name": "top", "type": "int", "default": 5},
                {"name": "near", "type": "float64", "default": None},
                {"name": "colour", "type": "bool", "default": True, "negation": "no-colour"},
                {"name": "sort", "type": "string", "enum": ["name", "size"], "short": "s"},
                {"name": "tag", "type": "[]string"},
                {"name": "dry_count", "type": "int"},
            ],
            "safety": {"read_only": True},
        },
        {
            "name": "user",
            "flags": [{"name": "region", "type": "string"}],
            "subcommands": [
                {
                    "name": "add",
                    "arguments": [{"name": "id", "type": "int", "required": True}],
                    "flags": [
                        {"name": "role", "type": "string", "required": True, "env": "ROLE"},
                        {"name": "team", "type": "string", "required": True, "profileable": True},
                    ],
                    "mutating": True,
                },
                {"name": "list", "arguments": [{"name": "ids", "type": "[]int"}]},
            ],
        },
    ],
}
