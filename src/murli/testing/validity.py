"""Whether documents keep their contracts, in words: the invariants, and the packaged schemas.

Pure. The invariants are plain Python and always looked at; the schemas where ``jsonschema`` is
installed. A `Verdict` says what was looked at, so that nobody claims more.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import Any

from ..contracts import Answer
from ..contracts.checks import InvalidDocument, check
from ..schemas import load_schema
from ..wire.dialects import dialect_of, is_envelope
from ..wire.documents import documents_in, error_in, is_terminal, terminal_of
from ..wire.envelopes import revision_of
from ..wire.reading import read
from ..wire.values import object_in

_KEYS = ("ok", "data", "error", "warnings", "meta")
# How many faults of one document are reported, and how much of each.
_MOST_FAULTS = 5
_MOST_SHOWN = 300


@dataclass(slots=True)
class Verdict:
    """What is wrong with what a tool wrote, and what that was held to."""

    faults: list[str] = field(default_factory=list)
    held_to: set[str] = field(default_factory=set)

    def add(self, other: Verdict) -> None:
        """Take over what *other* found; the same fault is reported once."""
        self.faults += [each for each in other.faults if each not in self.faults]
        self.held_to |= other.held_to


# -- everything a process wrote ------------------------------------------------------------------


def judge_output(
    stdout: bytes, stderr: bytes, exit_code: int, contract: str = "", *, strict: bool = False
) -> Verdict:
    """Judge what a tool wrote for an agent; *contract* is the one it was asked for, if any.

    With *strict* only the documented wire of murli will do, otherwise Go's as well.
    """
    verdict = Verdict()
    terminal, stream = terminal_of(stdout, stderr, exit_code)
    if (terminal is not None or contract) and b"\x1b" in stdout:
        verdict.faults.append("stdout holds escape sequences of a terminal")
    if terminal is None:
        return verdict
    spoken = spoken_by(terminal, exit_code, contract)
    asked = contract or spoken
    if is_envelope(asked) != is_envelope(spoken):
        verdict.faults.append(f"it was asked for {asked}, and answered in {spoken}")
    verdict.faults += read(_with_objects(stdout), stderr, exit_code, spoken).oddities
    documents, _ = documents_in(stdout)
    envelopes = [each for each in documents if is_terminal(each)]
    if any("_line" in object_in(each.get("meta")) for each in envelopes):
        for each in envelopes:  # of a batch: none of them speaks for the process
            verdict.add(judge(each, spoken, _own_code(each), "stdout", strict=strict))
        return verdict
    if stream == "stdout" and _fails(terminal) and len(documents) > 1:
        # A stream is read line by line, so its error stands there as well.
        stream = "stderr" if error_in(stderr.decode("utf-8", "replace")) == terminal else stream
    verdict.add(judge(terminal, spoken, exit_code, stream, strict=strict))
    return verdict


def lines_of(stdout: bytes) -> list[Any] | None:
    """Return the JSON values of a stream, the one that ends it last; ``None`` for anything else."""
    lines = stdout.splitlines()
    try:
        values = [json.loads(line) for line in lines] if len(lines) > 1 else []
    except (ValueError, RecursionError):
        return None
    ends = bool(values) and isinstance(values[-1], dict) and is_terminal(values[-1])
    return values if ends else None


def _with_objects(stdout: bytes) -> bytes:
    """Return a stream with objects for items: a client takes a number, or a text, for noise."""
    values = lines_of(stdout)
    if values is None or all(isinstance(each, dict) for each in values):
        return stdout
    objects = (each if isinstance(each, dict) else {"value": each} for each in values)
    return "".join(f"{json.dumps(each)}\n" for each in objects).encode()


def spoken_by(document: Mapping[str, Any], exit_code: int, contract: str = "") -> str:
    """Return which contract *document* is in; of the family the one asked for, or what it shows."""
    if "ok" not in document and "schema_version" in document and not is_summary(document):
        return "murli"
    return contract if is_envelope(contract) else revision_of(document, exit_code)


def is_summary(document: Mapping[str, Any]) -> bool:
    """Return whether *document* is the bare line that ends a stream of the family."""
    return document.get("_summary") is True and "ok" not in document


def wire_of(document: Mapping[str, Any]) -> str:
    """Distinguish the wires of murli: ``docs``, which we write, and ``go``, which others do."""
    return "docs" if document.keys() >= {"status", "message"} else "go"


def _own_code(document: Mapping[str, Any]) -> int:
    code = object_in(document.get("meta")).get("exit_code")
    return code if isinstance(code, int) else int(document.get("ok") is not True)


def _fails(document: Mapping[str, Any]) -> bool:
    fails = document.get("status", "error") == "error" and "ok" not in document
    return fails and not is_summary(document)


# -- one document --------------------------------------------------------------------------------


def judge(
    document: Mapping[str, Any], contract: str, exit_code: int, stream: str, *, strict: bool
) -> Verdict:
    """Judge one document that ends an answer of *contract*: itself, its code, where it stands."""
    verdict = Verdict()
    is_enveloped = dialect_of(contract).is_enveloped
    if not is_enveloped and not strict and wire_of(document) == "go":
        verdict.held_to.add("invariants of Go's wire")
        verdict.faults += _go_faults(document, exit_code, stream)
        return verdict
    verdict.held_to.add(f"invariants of {contract}")
    verdict.faults += _broken_invariants(document, contract, exit_code, stream)
    if is_summary(document):
        return verdict  # which is as open as an item
    validator = _validator(contract, "" if is_enveloped else _branch_of(document))
    if validator is not None:
        verdict.held_to.add(f"schema of {contract}")
        verdict.faults += _violations(validator, document)
    return verdict


def _broken_invariants(
    document: Mapping[str, Any], contract: str, exit_code: int, stream: str
) -> list[str]:
    is_enveloped = dialect_of(contract).is_enveloped
    if is_enveloped and stream == "stderr":
        return ["an envelope of the family is on stderr, and belongs on stdout"]
    if is_enveloped and not is_summary(document):
        if not isinstance(document.get("meta"), dict):
            return ["meta is not an object"]
        if not isinstance(document.get("error"), (dict, type(None))):
            return ["error is not an object or null"]
        # Other languages write the keys in an order of their own.
        known = {key: document[key] for key in _KEYS if key in document}
        document = {**known, **document}
    try:
        check(contract, Answer(dict(document), exit_code, stream))
    except InvalidDocument as broken:
        rule = str(broken).partition(": ")[2]
        return [f"it breaks the rule: {rule} (the exit code is {exit_code})"]
    return []


def _go_faults(document: Mapping[str, Any], exit_code: int, stream: str) -> list[str]:
    """Hold a document to what every language's murli keeps."""
    if _fails(document):
        rules = {
            "code is the exit code, and not 0": document.get("code") == exit_code != 0,
            "an error goes to stderr": stream == "stderr",
            "error and message are texts": all(
                isinstance(document.get(key), str) for key in ("error", "message")
            ),
            "recoverable is true or false": isinstance(document.get("recoverable"), bool),
        }
    else:
        rules = {
            "a success ends with 0": exit_code == 0,
            "result is present": "result" in document or "plan" in document,
        }
    version = document.get("schema_version")
    rules["schema_version is a text, and not empty"] = isinstance(version, str) and bool(version)
    status = f" (the exit code is {exit_code})"
    return [f"it breaks the rule: {rule}{status}" for rule, kept in rules.items() if not kept]


# -- schemas -------------------------------------------------------------------------------------


def _jsonschema() -> Any:
    """Return the library, ``None`` where it is not installed."""
    try:
        return import_module("jsonschema")
    except ImportError:
        return None


@cache
def _validator(name: str, branch: str) -> Any:
    """Return a validator of a packaged schema, or one *branch*; ``None`` without jsonschema."""
    library = _jsonschema()
    if library is None:
        return None
    schema = load_schema(name)
    if branch:
        # The one that is meant: "none of five fits" would help nobody.
        schema = {"$ref": f"#/$defs/{branch}", "$defs": schema["$defs"]}
    return library.Draft202012Validator(schema)


def _branch_of(document: Mapping[str, Any]) -> str:
    status = document.get("status")
    if status == "plan":
        return "plan" if "plan" in document else "report"
    return {"ok": "success", "partial": "partial"}.get(str(status), "error")


def _violations(validator: Any, value: Any) -> list[str]:
    best_match = import_module("jsonschema.exceptions").best_match
    found = [best_match(iter([each])) for each in validator.iter_errors(value)]
    messages = [f"at {_place(each.absolute_path)}: {each.message[:_MOST_SHOWN]}" for each in found]
    rest = len(messages) - _MOST_FAULTS
    return messages[:_MOST_FAULTS] + ([f"and {rest} more like that"] if rest > 0 else [])


def _place(path: Iterable[Any]) -> str:
    parts = [f"[{each}]" if isinstance(each, int) else f".{each}" for each in path]
    return "".join(parts).lstrip(".") or "the top"


def judge_returned(data: Any, schema: Mapping[str, Any]) -> Verdict | None:
    """Hold *data* to the schema a command declares; ``None`` where jsonschema is not installed."""
    library = _jsonschema()
    if library is None:
        return None
    validator = library.validators.validator_for(schema, library.Draft202012Validator)(schema)
    found = _violations(validator, data)
    faults = [f"the result is not what is declared, {each}" for each in found]
    return Verdict(faults, {"declared returns"})
