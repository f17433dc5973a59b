"""What became of a call, as an answer of our own: for tools that gave none to be handed on."""

from __future__ import annotations

from typing import Any

from ..errors import KINDS, AgentError, EncodingError
from ..formats import cleaned, plain
from ..wire.running import ProcessResult
from .response import Response
from .waiting import CODES

# How much of the output of a failed tool is shown.
_MOST_SHOWN = 1 << 16


def is_the_tools(response: Response[Any], ran: ProcessResult | None) -> bool:
    """Return whether the answer is the tool's own word, and one that can be trusted to be."""
    if ran is None or ran.reason == "start" or response.state in ("plain", "malformed"):
        return False
    problem = response.problem
    if problem is not None and problem.code in CODES:
        return False
    return ran.reason != "time" or problem is None or problem.code != "CLIENT_TIMEOUT"


def failure_of(response: Response[Any]) -> AgentError | None:
    """Return the failure that *response* is, ``None`` for a success."""
    problem = response.problem
    if problem is None:
        return None
    code = response.exit_code
    if response.state == "plain" or problem.code == "NEVER_RAN":
        status = 128 - code if code is not None and code < 0 else code
        name = "never_ran" if problem.kind == "never_ran" else "plain_failure"
        return AgentError(
            status if status and 0 < status < 256 else KINDS["tool_error"][0],
            name,
            problem.message,
            "Repair its installation." if name == "never_ran" else "",
            False,
            kind="tool_error",
        )
    kind = problem.kind if problem.kind in KINDS else "tool_error"
    advice = getattr(response.decisions[-1], "advice", "") if response.decisions else ""
    return AgentError.of_kind(
        kind,
        problem.message,
        advice,
        error_type=(problem.code or problem.kind).lower(),
        recoverable=False,
    )


def payload_of(response: Response[Any], ran: ProcessResult | None) -> dict[str, Any] | None:
    """Return what the tool wrote, as its JSON or as text; ``None`` when it was not run."""
    if ran is None or ran.reason == "start":
        return None
    most = None if response.problem is None else _MOST_SHOWN
    payload = _data(response) or _text("stdout", ran.stdout, most)
    if ran.stderr:
        payload.update(_text("stderr", ran.stderr, most))
    return {"exit_code": response.exit_code, **payload}


def _data(response: Response[Any]) -> dict[str, Any]:
    """Return the JSON of a tool without a contract; nothing where that is not certain."""
    if response.state != "plain" or not isinstance(response.data, (dict, list)):
        return {}
    try:
        return {"data": plain(response.data)}
    except EncodingError:
        return {}


def _text(name: str, written: bytes, most: int | None) -> dict[str, Any]:
    """Return what was written, the end of it when that is more than *most*."""
    omitted = 0 if most is None else max(len(written) - most, 0)
    kept: dict[str, Any] = {name: cleaned(written[omitted:].decode("utf-8", "replace"))}
    return {**kept, f"{name}_omitted_bytes": omitted} if omitted else kept
