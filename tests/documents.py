"""Every document a test sees is held to the schema of its contract, whatever the test is about."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator

from murli.contracts import CONTRACT_NAMES
from murli.schemas import load_schema

FAMILY = CONTRACT_NAMES[1:]


def hold_to_schema(written: bytes, argv: Sequence[str], env: Mapping[str, str]) -> None:
    """Fail unless every envelope in *written* is valid in the contract that was in force."""
    for document in _documents(written):
        names = _schemas_for(document, argv, env)
        complaints = {name: _complaints(name, document) for name in names}
        if names and all(complaints.values()):
            raise AssertionError(f"{complaints} in {json.dumps(document)[:2000]}")


def _documents(written: bytes) -> Iterator[dict[str, Any]]:
    """Give the JSON objects in *written*: the whole of it, or those that fill a line."""
    for text in ([written], written.splitlines()):
        found = [document for document in map(_parsed, text) if document is not None]
        if found:
            yield from found
            return


def _parsed(text: bytes) -> dict[str, Any] | None:
    if not text.lstrip().startswith(b"{"):
        return None
    try:
        document = json.loads(text)
    except ValueError:
        return None
    return document if isinstance(document, dict) else None


def _schemas_for(
    document: dict[str, Any], argv: Sequence[str], env: Mapping[str, str]
) -> list[str]:
    """Give the schemas of which *document* must satisfy one; none when it is no envelope."""
    if document.keys() >= {"status", "schema_version", "tool_version"} and "name" not in document:
        return ["murli"]
    if not document.keys() >= {"ok", "meta"}:
        return []
    chosen = next((word for word in argv if word in FAMILY), env.get("MURLI_CONTRACT", ""))
    return [chosen] if chosen in FAMILY else list(FAMILY)


@cache
def _validator(name: str) -> Draft202012Validator:
    return Draft202012Validator(load_schema(name))


def _complaints(name: str, document: Any) -> list[str]:
    return [error.message[:300] for error in _validator(name).iter_errors(document)]
