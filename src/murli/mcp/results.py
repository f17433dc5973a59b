"""An answer as a model sees it: structured, and the same as text. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ..client.mistakes import ArgumentMistake
from ..client.response import Response
from ..errors import AgentError
from ..wire.response import Part, Problem, WireResponse
from ..wire.tables import retryable_by_default

# What is said of a warning, of a part of a list, and of a failure, where there is something to say.
_WARNED = ("message", "code", "replacement", "field")
_PART = ("has_more", "truncated", "next_cursor", "total", "returned")
_PROBLEM = (
    *("kind", "code", "message", "retryable", "retry_after_ms", "retry_strategy", "phase"),
    *("suggestion", "fix_required", "fix_command", "field", "valid_values", "context", "usage"),
)
# What a schema may point at only from where it stands.
_NAMED_PARTS = ("$defs", "definitions")
_OWN_ROOT = ("$schema", "$id", "$anchor")


def output_schema(result: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the schema of structured results whose ``result`` has the schema *result*.

    ``None`` where nothing is declared, or where *result* points at itself as a whole.
    """
    if not result or not _can_move(result):
        return None
    inner = {key: value for key, value in result.items() if key not in _OWN_ROOT}
    named = {key: inner.pop(key) for key in _NAMED_PARTS if key in inner}
    return {
        "type": "object",
        "properties": {
            "status": {"enum": ["ok", "plan"]},
            "result": inner,
            "plan": {"description": "what would be done"},
            "message": {"type": "string"},
            "warnings": {"type": "array", "items": {"type": "object"}},
            "page": {"type": "object", "description": "which part of a list the result is"},
            "next": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["status"],
        **named,
    }


def _can_move(schema: Any) -> bool:
    if isinstance(schema, Mapping):
        target = schema.get("$ref")
        if isinstance(target, str) and not target.startswith(("#/$defs/", "#/definitions/")):
            return False
        return all(map(_can_move, schema.values()))
    return not isinstance(schema, list) or all(map(_can_move, schema))


def result_of(response: Response[Any], schema: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return *response* as the result of a tool call; *schema* is what was promised of it."""
    if response.problem is not None:
        return failed(_error(response, response.problem), _payload(response))
    key = "plan" if response.state == "plan" else "result"
    more = {
        "message": response.message,
        "warnings": [_kept(each, _WARNED) for each in response.warnings],
        "page": _kept(response.part, _PART) if response.part != Part() else None,
        "next": list(response.next),
    }
    document: dict[str, Any] = {"status": "plan" if key == "plan" else "ok"}
    document[key] = _payload(response)
    document |= {name: value for name, value in more.items() if value}
    mismatch = _mismatch(document, schema) if schema is not None else ""
    if mismatch:
        error = {
            "kind": "malformed",
            "message": f"The command ran. Its result is not what it declares: {mismatch}.",
            "retryable": False,
        }
        return failed(error, document[key])
    return _result(document, _printed(response))


def failed(error: Mapping[str, Any], payload: Any = None) -> dict[str, Any]:
    """Return a failed call as the result of a tool call."""
    document: dict[str, Any] = {"status": "error", "error": dict(error)}
    if payload is not None:
        document["result"] = payload
    return {**_result(document), "isError": True}


def mistaken(mistake: AgentError | ArgumentMistake) -> dict[str, Any]:
    """Return a call that was not made, because its arguments are wrong."""
    error = {
        "kind": getattr(mistake, "kind", "user_error"),
        "message": mistake.message,
        "retryable": False,
        "phase": "validation",
        "suggestion": mistake.suggestion,
        "field": mistake.field,
        "valid_values": list(mistake.valid_values or ()),
    }
    return failed({key: value for key, value in error.items() if value not in ("", [])})


def _error(response: WireResponse[Any], problem: Problem) -> dict[str, Any]:
    error = _kept(problem, _PROBLEM)
    if problem.retryable is None and response.contract:
        error["retryable"] = retryable_by_default(
            response.contract, problem.kind, response.exit_code
        )
    if response.exit_code is not None:
        error["exit_code"] = response.exit_code
    if response.state == "plain" and response.stderr.strip():
        error["stderr"] = response.stderr.strip()
    redirect = problem.redirect
    if redirect is not None:
        error["redirect"] = {"command": redirect.command, "permanent": redirect.permanent}
    return error


def _payload(response: WireResponse[Any]) -> Any:
    """Return the result: the items of a stream, or else the data."""
    return list(response.items) if response.items else response.data


def _printed(response: WireResponse[Any]) -> str | None:
    """Return the text that the command printed, where that is all of its result."""
    data = response.data
    is_text = isinstance(data, str) or (isinstance(data, dict) and len(data) == 1)
    return response.text if is_text and response.state != "plan" else None


def _kept(record: Any, names: tuple[str, ...]) -> dict[str, Any]:
    """Return the attributes of *record* that say something."""
    found = {name: getattr(record, name) for name in names}
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in found.items()
        if value is not None and value not in ("", (), {})
    }


def _result(document: dict[str, Any], text: str | None = None) -> dict[str, Any]:
    """Return *document* as structured content, and as text.

    A *text* that a command printed is easier to read as it is.
    """
    if text is None or document.keys() != {"status", "result"}:
        text = json.dumps(document, ensure_ascii=False, separators=(",", ":"), default=str)
    # What is no text (half a character, which JSON can escape) would end the connection.
    text = text.encode("utf-8", "replace").decode()
    return {"content": [{"type": "text", "text": text}], "structuredContent": _sound(document)}


def _sound(value: Any) -> Any:
    """Return *value* without what cannot be written in JSON as UTF-8."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, Mapping):
        return {_sound(str(key)): _sound(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_sound(each) for each in value]
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return str(value)
    return value


def _mismatch(document: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    """Return in which way *document* breaks *schema*, ``""`` where it does not."""
    from jsonschema import Draft202012Validator  # the SDK brings it along
    from jsonschema.exceptions import SchemaError, best_match

    try:
        found = best_match(Draft202012Validator(schema).iter_errors(document))
    except SchemaError:
        return ""
    if found is None:
        return ""
    place = "/".join(map(str, found.absolute_path))
    return f"{place}: {found.message}"[:500]
