"""A report as JSON types, for an agent or a program.

Agents have little room, so the usual document lists only problems and counts the rest; the full
one leaves out nothing but the end of very long output.
"""

from __future__ import annotations

from base64 import b64encode
from collections import Counter
from typing import Any

from ..results import STATUSES, Evidence, Finding, Report, Result
from .wording import by_urgency, bytes_of, decoded, excerpt, fix_of, reference_of

# How much is kept of one stream, and how many findings of one check.
_MOST_BYTES = 1000
_MOST_BYTES_IN_FULL = 65536
_MOST_FINDINGS = 20
# Texts of a report about the tool.
_ABOUT = ("name", "version", "contract", "measured", "wire")


def document(report: Report, *, full: bool = False) -> dict[str, Any]:
    """Return the report as JSON types; with *full* every finding and its output.

    Failed checks come first, each with how to fix it.
    Otherwise a check lists only problems, up to a limit, and ``left_out`` counts the rest by
    status. Output is a string if it is complete and UTF-8, else an object with its ``encoding``,
    its ``value``, and the number of missing bytes as ``truncated``.
    """
    return {
        "tool": [_exact(word) for word in report.tool],
        **{name: _string(getattr(report, name)) for name in _ABOUT},
        "ok": report.ok,
        "level": report.level,
        "levels": {str(level): state for level, state in report.levels.items()},
        "score": report.score,
        "summary": {status: report.count(status) for status in STATUSES},
        "checks": [_check(each, full) for each in by_urgency(report.results)],
        "nodes": [
            {name: _string(getattr(each, name)) for name in ("path", "summary", "danger")}
            for each in report.nodes
        ],
        "notes": [_string(each) for each in report.notes],
        "processes": report.processes,
        "duration_ms": report.duration_ms,
    }


def _check(result: Result, full: bool) -> dict[str, Any]:
    found: dict[str, Any] = {
        "id": _string(result.id),
        "title": _string(result.title),
        "status": result.status,
        "level": result.level,
        "requirements": [_string(each) for each in result.requirements],
    }
    if result.reason:
        found["reason"] = _string(result.reason)
    if result.troubles and fix_of(result):
        found["fix"] = fix_of(result)
        found["reference"] = reference_of(result)
    shown = result.findings if full else result.troubles[:_MOST_FINDINGS]
    found["findings"] = [_finding(each, full) for each in shown]
    rest = Counter(each.status for each in result.findings)
    rest.subtract(each.status for each in shown)
    if left_out := {status: number for status, number in rest.items() if number}:
        found["left_out"] = left_out
    return found


def _finding(finding: Finding, full: bool) -> dict[str, Any]:
    found: dict[str, Any] = {
        "status": finding.status,
        "command": _string(finding.command),
        "detail": _string(finding.detail),
    }
    if finding.evidence is not None:
        found["evidence"] = _evidence(finding.evidence, full)
    return found


def _evidence(evidence: Evidence, full: bool) -> dict[str, Any]:
    most = _MOST_BYTES_IN_FULL if full else _MOST_BYTES
    return {
        "argv": [_exact(word) for word in evidence.argv],
        "stdin": evidence.stdin,
        **({"given": evidence.given} if evidence.given else {}),
        "env": {_string(name): _exact(value) for name, value in evidence.env.items()},
        "event": _string(evidence.event),
        "exit_code": evidence.exit_code,
        "timed_out": evidence.timed_out,
        "duration_ms": evidence.duration_ms,
        "changed": [_exact(name) for name in evidence.changed],
        "stdout": _bytes(evidence.stdout, most),
        "stderr": _bytes(evidence.stderr, most),
    }


def _bytes(data: bytes, most: int) -> str | dict[str, Any]:
    """Return bytes in a form that can be reversed, as a string if possible."""
    more = 0
    if len(data) > most:
        _, more = excerpt(data, most)
        data = data[: len(data) - more]
    try:
        found: dict[str, Any] = {"encoding": "utf-8", "value": data.decode()}
    except UnicodeDecodeError:
        found = {"encoding": "base64", "value": b64encode(data).decode()}
    if more:
        return {**found, "truncated": more}
    return decoded(data) if found["encoding"] == "utf-8" else found


def _exact(word: str) -> str | dict[str, Any]:
    data = bytes_of(word)
    return _bytes(data, len(data))


def _string(text: str) -> str:
    """Return *text* without lone surrogates, which JSON cannot hold."""
    return text.encode("utf-8", "backslashreplace").decode()
