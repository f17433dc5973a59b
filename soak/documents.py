"""Reads what a process wrote: which documents stand where, and whether they keep their contract."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

import jsonschema

import murli
from murli.contracts import CONTRACT_NAMES
from murli.contracts.control_lines import envelope_of

_VALIDATORS = {
    name: jsonschema.Draft202012Validator(murli.load_schema(name)) for name in CONTRACT_NAMES
}
_RAW = {
    name: jsonschema.Draft202012Validator(murli.load_schema(name))
    for name in ("describe", "command", "commands")
}
# Not at the start of a line only: a prompt may stand before it.
_START = re.compile(r'(?:\{\n  |\{)"(?:status": ?"error"|ok": ?false)')

# kind -> exit code in murli, response, agent-spec-1.6, agent-spec-2; as the README has it.
CODES = {
    "user_error": (1, 3, 2, 2),
    "tool_error": (2, 1, 1, 1),
    "partial": (3, 2, 3, 3),
    "timeout": (4, 10, 10, 10),
    "not_found": (5, 5, 5, 5),
    "permission_denied": (6, 7, 7, 7),
    "conflict": (7, 6, 6, 6),
    "rate_limited": (8, 11, 11, 11),
    "cancelled": (9, 130, 130, 130),
    "terminated": (9, 143, 143, 143),
    "precondition": (1, 4, 4, 4),
    "unavailable": (2, 12, 12, 12),
}


class Unreadable(Exception):
    """What stands where a document should does not read as one."""


@dataclass
class Document:
    """One document, and the exit code it claims; ``None`` where its contract has no such claim."""

    content: dict[str, Any]
    code: int | None
    failed: bool

    @property
    def error(self) -> str:
        """The category of a failure, in the words of the murli contract."""
        found = self.content.get("error")
        return str(found["code"] if isinstance(found, dict) else found or "").lower()

    @property
    def result(self) -> Any:
        """What was answered, without the wrapping that some contracts need."""
        if "ok" not in self.content:
            return self.content.get("result", self.content.get("plan"))
        data = self.content["data"]
        if isinstance(data, dict) and len(data) == 1:
            return data.get("text", data.get("value", data))
        return None if data == {} else data


def code_of(kind: str, contract: str) -> int:
    """Return the exit code of a failure of *kind*."""
    return CODES[kind][CONTRACT_NAMES.index(contract)]


def read_stdout(data: bytes, contract: str) -> tuple[list[Any], Document | None]:
    """Return the lines that were streamed, and the answer behind them."""
    text = _decoded(data)
    if not text:
        return [], None
    try:
        return [], checked(_parsed(text), contract)
    except Unreadable:
        *lines, last = text.removesuffix("\n").split("\n")
        if not lines or not text.endswith("\n"):
            raise
    items = [_parsed(line) for line in lines]
    return items, _ending(_parsed(last), len(items), contract)


def _ending(last: Any, count: int, contract: str) -> Document:
    """Return the last line of a stream as a document: a success of the family ends in a summary."""
    if contract == "murli" or not isinstance(last, dict) or "_summary" not in last:
        return checked(last, contract)
    if last["_summary"] is not True or last.get("_count") != count:
        raise Unreadable(f"the summary counts {last.get('_count')} of {count} items")
    return Document(envelope_of(last), 0, False)


def read_lines(data: bytes) -> list[Any]:
    """Return the lines of a stream that nobody answered behind; the last may be torn."""
    *lines, _ = _decoded(data, torn=True).split("\n")
    return [_parsed(line) for line in lines]


def read_stderr(data: bytes, contract: str) -> list[Document]:
    """Return the error documents among whatever else is on stderr."""
    text = data.decode("utf-8", "replace")
    found = []
    for start in _START.finditer(text):
        try:
            content, _ = json.JSONDecoder().raw_decode(text, start.start())
        except ValueError as error:
            raise Unreadable(f"stderr has a document that does not read: {error}") from error
        found.append(checked(content, contract))
    return found


def is_raw(data: bytes) -> bool:
    """Return whether *data* is an answer that is no envelope: a description, help, an AGENTS.md."""
    text = data.decode("utf-8", "replace")
    if text.lower().startswith(("usage:", "# agents.md")) or re.match(r"\s*usage:", text.lower()):
        return True
    try:
        content = _parsed(text)
    except Unreadable:
        return False
    return any(validator.is_valid(content) for validator in _RAW.values())


def checked(content: Any, contract: str) -> Document:
    """Return *content* as a document; `Unreadable` when it breaks its contract."""
    problem = next(_VALIDATORS[contract].iter_errors(content), None)
    if problem is not None:
        raise Unreadable(f"not a document of {contract}: {problem.message[:300]}")
    if contract != "murli":
        return Document(content, content["meta"].get("exit_code"), not content["ok"])
    status = content["status"]
    code = content["code"] if status == "error" else {"partial": 3}.get(status, 0)
    return Document(content, code, status in ("error", "partial"))


def _decoded(data: bytes, *, torn: bool = False) -> str:
    try:
        return data.decode("utf-8", "ignore" if torn else "strict")
    except UnicodeDecodeError as error:
        raise Unreadable(f"stdout is not UTF-8: {error}") from error


def _parsed(text: str) -> Any:
    def refuse(name: str) -> None:
        raise Unreadable(f"{name} is not JSON")

    try:
        return json.loads(text, parse_constant=refuse)
    except ValueError as error:
        raise Unreadable(f"stdout is not one document: {error}") from error
