"""An extension of griffe: what it cannot read from the source of murli.

Literal blocks of docstrings (``::``) are blocks of code, and the fields of a record are the
parameters of its constructor.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from importlib import import_module
from typing import Any

from griffe import Class, Extension, Function, Object, Parameter, ParameterKind, Parameters

_BLOCK = re.compile(r"^(?P<text>.*?)::\n\n(?P<code>(?:(?: {4}.*)?\n)*(?: {4}.*)\n?)", re.MULTILINE)


class ForTheSite(Extension):
    """Changes what griffe has read."""

    def on_object(self, *, obj: Object, **kwargs: Any) -> None:
        """Change an object that was loaded."""
        if obj.docstring is not None:
            obj.docstring.value = _BLOCK.sub(_fenced, obj.docstring.value)
        if isinstance(obj, Class) and any(str(base) == "Record" for base in obj.bases):
            _show_fields(obj)


def _fenced(found: re.Match[str]) -> str:
    text = found["text"] and f"{found['text']}:\n\n"
    return f"{text}```python\n{textwrap.dedent(found['code']).strip()}\n```\n"


def _show_fields(record: Class) -> None:
    """Let the constructor of *record* take its fields, as it does when it is called."""
    if "__init__" in record.members:
        return
    real = getattr(import_module(record.module.path), record.name)
    constructor = Function("__init__", parameters=Parameters(Parameter("self")), parent=record)
    for name, each in inspect.signature(real).parameters.items():
        known = record.members.get(name)
        constructor.parameters.add(
            Parameter(
                name,
                annotation=getattr(known, "annotation", None),
                kind=ParameterKind.keyword_only
                if each.kind is each.KEYWORD_ONLY
                else ParameterKind.positional_or_keyword,
                default=None if each.default is each.empty else repr(each.default),
            )
        )
    record.members["__init__"] = constructor
