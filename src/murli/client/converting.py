"""Data as the caller's type: dataclasses, and what checks itself (pydantic, msgspec)."""

from __future__ import annotations

import dataclasses
import types
from typing import Any, Union, get_args, get_origin, get_type_hints

from ..wire.response import Problem
from .response import Response


def converted(response: Response[Any], kind: Any) -> Response[Any]:
    """Return *response* with its data as *kind*; malformed, when it is not.

    What is not a dataclass (a `TypedDict` say) is taken at its word.
    """
    if not response.ok or response.data is None:
        return response
    try:
        return dataclasses.replace(response, data=_as(kind, response.data))
    except Exception as error:  # whatever a constructor raises
        name = getattr(kind, "__name__", str(kind))
        problem = Problem("malformed", "MALFORMED", f"The data is no {name}: {error}"[:2000])
        return dataclasses.replace(response, state="malformed", problem=problem)


def _as(kind: Any, data: Any) -> Any:
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        if data is None and type(None) in arguments:
            return None
        choices = [each for each in arguments if each is not type(None)]
        return _as(choices[0], data) if len(choices) == 1 else data
    if origin in (list, tuple) and isinstance(data, list) and arguments:
        return origin(_as(arguments[0], each) for each in data)
    if origin is dict and isinstance(data, dict) and arguments:
        return {key: _as(arguments[1], each) for key, each in data.items()}
    if not isinstance(kind, type):
        return data
    if dataclasses.is_dataclass(kind):
        return _constructed(kind, data)
    if hasattr(kind, "model_validate"):
        return kind.model_validate(data)
    if hasattr(kind, "__struct_fields__"):
        import msgspec

        return msgspec.convert(data, kind)
    return data


def _constructed(kind: type, data: Any) -> Any:
    """Return a dataclass made of *data*; fields it does not know are left out."""
    if not isinstance(data, dict):
        raise TypeError(f"it is a {type(data).__name__}")
    hints = get_type_hints(kind)
    fields = {field.name for field in dataclasses.fields(kind) if field.init}
    given = {name: _as(hints[name], value) for name, value in data.items() if name in fields}
    return kind(**given)
