"""What must hold of any declaration, checked where it is made: an author reads it at once."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

DANGER_LEVELS = ("safe", "mutating", "destructive")
VALUE_KINDS = ("id", "path", "json")
# What a value of a well-known form looks like, from its first character to its last.
PATTERN_TYPES = {
    "alphanumeric_id": r"[A-Za-z0-9](?:[A-Za-z0-9_-]*[A-Za-z0-9])?",
    "uuid": r"[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}",
    "semver": r"(?:0|[1-9]\d*)(?:\.(?:0|[1-9]\d*)){2}"
    r"(?:-[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?",
    "filepath": r"[^\x00-\x1f\x7f]+",
    "url": r"[A-Za-z][A-Za-z0-9+.-]*://[^\s/?#]+[^\s]*",
}


def check_value_facts(kind: str, pattern: str, pattern_type: str, max_bytes: int) -> None:
    """Raise when what is declared of a flag's or an argument's values makes no sense."""
    if kind:
        require_one_of("kind", kind, VALUE_KINDS)
    if pattern_type:
        require_one_of("pattern_type", pattern_type, tuple(PATTERN_TYPES))
    if pattern and pattern_type:
        raise ValueError("pattern and pattern_type say the same thing twice; give one of them")
    if max_bytes < 0:
        raise ValueError(f"max_bytes is how long a value may be, not {max_bytes}")


def names_in(value: Sequence[str] | str | None) -> tuple[str, ...]:
    """Return names as a tuple; one text is one name, not its letters."""
    return (value,) if isinstance(value, str) else tuple(value or ())


def require_one_of(field: str, value: object, accepted: Sequence[str]) -> None:
    """Raise a `ValueError` unless *value* is one of those *field* takes."""
    if value not in accepted:
        raise ValueError(f"{field} is one of {', '.join(accepted)}, not {value!r}")


def require_screaming(name: str, what: str) -> None:
    """Raise a `ValueError` unless *name* is written like QUOTA_EXCEEDED."""
    fine = name.isascii() and name.replace("_", "a").isalnum() and name == name.upper()
    if not fine or len(name) < 2 or not name[0].isalpha():
        raise ValueError(f"{what} is in capitals, like QUOTA_EXCEEDED, not {name!r}")


def meant_by_level(given: dict[str, Any]) -> tuple[bool, bool]:
    """Return what a danger level means for mutating and destructive; they may not contradict it."""
    level, mutating = given["danger_level"], given.get("mutating")
    destructive = given.get("destructive")
    require_one_of("danger_level", level, DANGER_LEVELS)
    meant = (level != "safe", level == "destructive")
    if mutating not in (None, meant[0]) or destructive not in (None, meant[1]):
        raise ValueError(
            f'danger_level="{level}" contradicts mutating={mutating}, destructive={destructive}; '
            "the level alone says it all"
        )
    return meant
