"""Whether data is valid by a JSON Schema, with jsonschema (the extra ``conformance``)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ..judging import NotVerified

_LONGEST = 200


def misfit(data: Any, schema: Mapping[str, Any]) -> str:
    """Return where *data* is not valid by *schema*, ``""`` if it is.

    Raises `NotVerified` without jsonschema, or if the schema refers to another document, which is
    never fetched.
    """
    try:
        from jsonschema import Draft7Validator
        from jsonschema.exceptions import SchemaError, best_match
        from referencing import Registry
        from referencing.exceptions import Unresolvable
    except ImportError:
        raise NotVerified("jsonschema is not installed: murli[conformance] brings it") from None
    try:
        Draft7Validator.check_schema(schema)
        registry: Any = Registry()
        error = best_match(Draft7Validator(schema, registry=registry).iter_errors(data))
    except SchemaError as wrong:
        return f"its output schema is none: {wrong.message[:_LONGEST]}"
    except Unresolvable:
        raise NotVerified("an output schema refers to what is not in it") from None
    except (RecursionError, re.error, OverflowError):
        raise NotVerified("an output schema cannot be applied") from None
    if error is None:
        return ""
    return f"{error.json_path} does not fit: {error.message[:_LONGEST]}"
