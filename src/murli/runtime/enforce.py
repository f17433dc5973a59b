"""What authors say about flags is kept, not only told: enum, pattern, exclusion."""

from __future__ import annotations

from ..metadata import flag_key
from . import usage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from ..errors import AgentError
    from ..metadata import FlagAnnotation, Metadata
    from .invocation import Invocation


def enforce(
    invocation: Invocation, metadata: Metadata, values: Mapping[str, tuple[Any, bool]]
) -> None:
    """Refuse a call that breaks what *metadata* says about the flags in *values*.

    A value comes with whether the caller gave it; defaults are the author's own business.
    """
    known = {flag_key(name): given for name, given in values.items()}
    for name, note in metadata.flag_annotations.items():
        value, given = known.get(name, (None, False))
        if given and value is not None:
            problem = _broken_by(name, note, value, known)
            if problem is not None:
                invocation.refuse(problem)


def excluded_by(key: str, notes: Mapping[str, FlagAnnotation]) -> set[str]:
    """Give the flags that cannot be combined with *key*, whichever of the two says so."""
    own = notes[key].mutually_exclusive_with if key in notes else ()
    others = (
        name
        for name, note in notes.items()
        if key in (flag_key(other) for other in note.mutually_exclusive_with)
    )
    return {flag_key(other) for other in own} | set(others)


def _broken_by(
    name: str, note: FlagAnnotation, value: Any, known: Mapping[str, tuple[Any, bool]]
) -> AgentError | None:
    option = f"--{name}"
    for text in _texts(value):
        problem = problem_with(option, text, note)
        if problem is not None:
            return problem
    for other in note.mutually_exclusive_with:
        if known.get(flag_key(other), (None, False))[1]:
            return usage.exclusive(option, f"--{flag_key(other)}")
    return None


def problem_with(option: str, text: str, note: FlagAnnotation) -> AgentError | None:
    """Give what *note* has against *text* as a value of *option*."""
    if note.enum and text not in note.enum:
        return usage.bad_choice(option, text, note.enum)
    if note.pattern and not _matches(note.pattern, text):
        return usage.bad_value(option, text, f"must match {note.pattern}")
    return None


def _texts(value: Any) -> Iterator[str]:
    many = value if isinstance(value, (list, tuple, set)) else (value,)
    for each in many:
        yield str(getattr(each, "value", each))


def _matches(pattern: str, text: str) -> bool:
    import re

    return re.search(pattern, text) is not None
