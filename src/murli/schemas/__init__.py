"""JSON Schemas (draft 2020-12) of every document the library writes, one file each.

They are for readers of our output without our code; `murli.contracts.checks` holds the same
rules for the moment of writing.
"""

from __future__ import annotations

from ..contracts import CONTRACT_NAMES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SCHEMA_NAMES = (
    *CONTRACT_NAMES,
    *("describe", "command", "commands", "manifest-1", "manifest-3", "event-lines", "sidecar"),
)


def load_schema(name: str) -> dict[str, Any]:
    """Return the schema called *name*; `ValueError` for a name that is not among `SCHEMA_NAMES`.

    Those of the four contracts bear the contract's name, so the schema of an answer is
    ``load_schema(contract)``.
    """
    if name not in SCHEMA_NAMES:
        raise ValueError(f"schema is one of {', '.join(SCHEMA_NAMES)}, not {name!r}")
    import json
    import os

    path = os.path.join(os.path.dirname(__file__), f"{name}.json")
    with open(path, encoding="utf-8") as file:
        schema: dict[str, Any] = json.load(file)
    return schema
