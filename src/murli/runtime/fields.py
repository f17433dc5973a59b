"""``--fields``: the keys a caller wants of an object, or of every object in a list."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# What tells a reader how to take the rest is kept whatever was asked for.
_KEPT = ("_source", "_trusted")


class Fields:
    """The fields that were asked for, dots for what is nested: ``id,owner.name``."""

    def __init__(self, asked: str) -> None:
        self.names = [name.strip() for name in asked.split(",") if name.strip()]
        # Whether one of them was there, whether there was an object at all, and what it had.
        self.found = False
        self.applied = False
        self.known: dict[str, None] = {}

    def select(self, result: Any) -> Any:
        """Give *result* with these fields alone; what is no object stays as it is."""
        if isinstance(result, list):
            return [self._select(item, self.names) for item in result]
        return self._select(result, self.names)

    def _select(self, value: Any, names: list[str]) -> Any:
        if isinstance(value, list):
            return [self._select(item, names) for item in value]
        if not isinstance(value, dict):
            return value
        self.applied = True
        if names is self.names and len(self.known) < 40:
            self.known.update(dict.fromkeys(value))
        kept = {name: value[name] for name in _KEPT if name in value}
        below: dict[str, list[str]] = {}
        for name in names:
            if name in value:
                kept[name] = value[name]
                self.found = True
                continue
            first, dot, rest = name.partition(".")
            if dot and isinstance(value.get(first), (dict, list)):
                below.setdefault(first, []).append(rest)
                kept.setdefault(first, None)  # its place is where it was asked for first
        for first, rests in below.items():
            if first not in names:
                kept[first] = self._select(value[first], rests)
        return kept
