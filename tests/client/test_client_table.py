"""Every pair of contract, exit code and shape of an error, against a second opinion.

The oracle below is written from the text of the contracts, in another form than the client: numbers
in tables, and one question after the other.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from client_documents import CALL, READS
from murli.client import Decision, Memory, Policy, RunInstead, decide, read

SECOND, MINUTE = 1000, 60_000

#: what a number means: the first revision, the later ones, murli
MEANINGS = {
    "response": {
        1: "general", 2: "partial", 3: "wrong call", 4: "precondition", 5: "not found",
        6: "conflict", 7: "forbidden", 8: "credentials", 9: "payment", 10: "timeout",
        11: "rate limit", 12: "unavailable", 13: "redirect",
    },
    "agent-spec-1.6": {
        1: "general", 2: "wrong call", 3: "partial", 4: "precondition", 5: "not found",
        6: "conflict", 7: "forbidden", 8: "credentials", 9: "payment", 10: "timeout",
        11: "rate limit", 12: "unavailable", 13: "redirect",
    },
    "murli": {
        1: "wrong call", 2: "general", 3: "partial", 4: "timeout", 5: "not found",
        6: "forbidden", 7: "conflict", 8: "rate limit", 9: "stopped",
    },
    "": {},
}  # fmt: skip
MEANINGS["agent-spec-2"] = {**MEANINGS["agent-spec-1.6"], 14: "unfinished"}
#: what may be repeated when the tool does not say, of a command that only reads
REPEATABLE = {
    "response": {"wrong call", "timeout", "rate limit", "unavailable", "temporary"},
    "agent-spec-1.6": {"rate limit", "unavailable", "temporary"},
    "agent-spec-2": {"rate limit", "unavailable", "temporary"},
    "murli": {"rate limit", "temporary"},
    "": set(),
}
CODES = [
    *range(16), 20, 63, 64, 65, 66, 69, 70, 74, 75, 77, 78, 79, 125, 126, 127, 128, 129, 130, 137,
    143, 159, 160, 255, 256, -2, -9, -15,
]  # fmt: skip


@dataclass(frozen=True)
class Shape:
    """An error as a tool may write it: what it says of itself, and what contradicts it."""

    name: str
    facts: dict[str, Any] = field(default_factory=dict)
    ok: str = "agrees"  # or "contradicts"
    said: str = "agrees"  # or "missing", "zero", "other": what the document gives as exit code
    missing: tuple[str, ...] = ()
    data: Any = None
    is_error: bool = True


REDIRECT = {"command": "tool search tea", "permanent": True, "reason": "renamed"}
SHAPES = [
    Shape("no error, with data", data={"n": 1}, is_error=False),
    Shape("no error, no data", is_error=False),
    Shape("code only"),
    Shape("retryable", {"retryable": True}),
    Shape("not retryable", {"retryable": False}),
    Shape("with a delay", {"retryable": True, "delay": 7}),
    Shape("with a delay, not retryable", {"retryable": False, "delay": 7}),
    Shape("with a delay only", {"delay": 7}),
    Shape("with a fix", {"retryable": False, "fix_command": "tool build"}),
    Shape("with a fix, retryable", {"retryable": True, "fix_command": "tool build"}),
    Shape("with a redirect", {"redirect": REDIRECT}),
    Shape("with a redirect, retryable", {"retryable": True, "redirect": REDIRECT}),
    Shape("with a payload", {"retryable": False}, data={"rest": 1}),
    Shape("without the key error", missing=("error",), data={"n": 1}),
    Shape("without the key data", {"retryable": True}, missing=("data",)),
    Shape("without warnings and meta", {"retryable": True}, missing=("warnings", "meta")),
    Shape("ok contradicts", {"retryable": True}, ok="contradicts"),
    Shape("ok contradicts, with data", ok="contradicts", data={"n": 1}, is_error=False),
    Shape("the document says nothing", said="missing"),
    Shape("the document says 0", {"retryable": True}, said="zero"),
    Shape("the document says another", {"retryable": None}, said="other"),
    Shape("the document says another, with data", said="other", data={"n": 1}, is_error=False),
]


# -- what is written ---------------------------------------------------------------------------


def said_by(shape: Shape, exit_code: int) -> int | None:
    """Give the exit code that stands in the document."""
    return {"agrees": exit_code, "missing": None, "zero": 0, "other": 5}[shape.said]


def family_document(contract: str, exit_code: int, shape: Shape) -> tuple[bytes, bytes]:
    error = None
    if shape.is_error:
        facts = dict(shape.facts)
        if "delay" in facts:
            key = "retry_after" if contract == "response" else "retry_after_ms"
            facts[key] = facts.pop("delay")
        error = {"code": "SOMETHING", "message": "m", **facts}
    said = said_by(shape, exit_code)
    meta: dict[str, Any] = {"duration_ms": 1}
    if contract == "agent-spec-2" and said is not None:
        meta["exit_code"] = said
    ok = (exit_code == 0) == (shape.ok == "agrees")
    document = {"ok": ok, "data": shape.data, "error": error, "warnings": [], "meta": meta}
    kept = {key: value for key, value in document.items() if key not in shape.missing}
    return json.dumps(kept).encode(), b""


def murli_document(exit_code: int, shape: Shape) -> tuple[bytes, bytes]:
    if not shape.is_error:
        document = {"status": "ok", "schema_version": "1.0", "result": shape.data}
        return json.dumps(document).encode(), b""
    facts = dict(shape.facts)
    document = {"status": "error", "code": said_by(shape, exit_code), "error": "something"}
    if "delay" in facts:
        document["retry_after_ms"] = facts.pop("delay")
    if "retryable" in facts:
        document["recoverable"] = facts.pop("retryable")
    document |= {"message": "m", **facts, "schema_version": "1.0"}
    if shape.missing:
        document.pop("error", None)
    return b"", json.dumps(document).encode()


# -- the second opinion ------------------------------------------------------------------------


def meaning(contract: str, number: int) -> str:
    """Give what a number means, by its table or by its range."""
    if number in MEANINGS[contract]:
        return MEANINGS[contract][number]
    if number < 0 or 129 <= number <= 159:
        return "stopped"
    if number in (126, 127):
        return "never ran"
    if number == 75:
        return "temporary"
    return "refused" if number in (64, 65, 66, 77, 78) else "other"


def family_verdict(contract: str, exit_code: int, shape: Shape, reads: bool) -> str:
    """Say what is to be done, in the order of the rules."""
    first = contract == "response"
    said = said_by(shape, exit_code) if contract == "agent-spec-2" else None
    if "meta" in shape.missing:
        said = None
    ok = (exit_code == 0) == (shape.ok == "agrees")
    bad = exit_code != 0
    if not first:
        bad = bad or not ok or said not in (None, exit_code)
    if "error" in shape.missing:
        return "escalate"
    if not shape.is_error and shape.data is None and (bad or first):
        return "escalate"
    if not bad:
        return "done"
    number = exit_code or said or 0
    what = meaning(contract, number)
    facts = shape.facts if shape.is_error else {}
    promised = facts.get("retryable") is True or (shape.is_error and what == "rate limit")
    return repeat_or_not(contract, what, facts, reads, promised)


def murli_verdict(exit_code: int, shape: Shape, reads: bool) -> str:
    if not shape.is_error:
        if exit_code == 0:
            return "done"
        return repeat_or_not("murli", meaning("murli", exit_code), {}, reads, promised=False)
    number = exit_code or said_by(shape, exit_code) or 0
    what = meaning("murli", number)
    facts = {key: value for key, value in shape.facts.items() if key in ("retryable", "delay")}
    if facts.get("retryable") is True and "delay" not in facts:
        # It can be recovered from; by waiting only where waiting helps.
        facts["retryable"] = what in ("timeout", "rate limit")
    # What can be recovered from may have been done; nothing but a rate limit says that it was not.
    promised = what == "rate limit" and not shape.missing
    if what == "wrong call" and "redirect" in shape.facts:
        return "redirect"
    return repeat_or_not("murli", what, facts, reads, promised)


def plain_verdict(exit_code: int, reads: bool) -> str:
    if exit_code == 0:
        return "done"
    return repeat_or_not("", meaning("", exit_code), {}, reads, promised=False)


def repeat_or_not(
    contract: str, what: str, facts: dict[str, Any], reads: bool, promised: bool
) -> str:
    """Say what is to be done about a failure that means *what*.

    *reads* tells that the command changes nothing, *promised* that this call has changed nothing.
    """
    retryable = facts.get("retryable")
    if what in ("credentials", "payment", "never ran"):
        return "escalate"
    if what == "redirect":
        return "redirect" if "redirect" in facts else "stop"
    if what in ("partial", "stopped"):
        return "stop"
    if "fix_command" in facts and retryable is not True:
        # Behind the fix comes the call again, which may have done a part of its work.
        vague = what in ("general", "unavailable", "temporary", "other") and not reads
        return "stop" if vague or what in ("timeout", "unfinished") else "fix"
    if retryable is False or not (reads or promised):
        return "stop"
    if retryable is None and what not in REPEATABLE[contract]:
        return "stop"
    if "delay" in facts:
        return f"retry {facts['delay'] * (SECOND if contract == 'response' else 1)}"
    if what == "rate limit":
        return f"retry {MINUTE}"
    if contract == "response" and what == "wrong call":
        return "retry 0"
    return f"retry {SECOND}"


# -- the table ---------------------------------------------------------------------------------


def in_words(decision: Decision) -> str:
    """Give the client's decision in the words of the oracle."""
    name = type(decision).__name__
    if isinstance(decision, RunInstead):
        return decision.why
    if name == "RetryAfter":
        return f"retry {decision.delay_ms}"  # type: ignore[union-attr]
    return name.lower()


def test_every_contract_exit_code_and_error_shape() -> None:
    """For each pair the client decides what the contracts say, and the reader what they mean."""
    seen: Counter[str] = Counter()
    wrong: list[str] = []
    for contract in MEANINGS:
        for exit_code in CODES:
            for shape, reads in product(SHAPES, (False, True)):
                if contract == "murli":
                    written = murli_document(exit_code, shape)
                    expected = murli_verdict(exit_code, shape, reads)
                elif contract:
                    written = family_document(contract, exit_code, shape)
                    expected = family_verdict(contract, exit_code, shape, reads)
                else:
                    written = (f"{shape.name}\n".encode(), b"oh\n")
                    expected = plain_verdict(exit_code, reads)
                response = read(*written, exit_code, contract or "plain").with_call(CALL, 1)
                known = READS if reads else None
                found = in_words(decide(Policy(), Memory(), response, known))
                seen[found.partition(" ")[0]] += 1
                if found != expected:
                    wrong.append(f"{contract} {exit_code} {shape.name}: {found}, not {expected}")
                if exit_code and response.is_usable:
                    wrong.append(f"{contract} {exit_code} {shape.name}: usable")
    assert not wrong, f"{len(wrong)} of {seen.total()}\n" + "\n".join(wrong[:40])
    assert seen.keys() == {"done", "retry", "redirect", "fix", "stop", "escalate"}, seen
    assert seen.total() == 2 * len(MEANINGS) * len(CODES) * len(SHAPES) > 8000
