"""Values to plain data, one by one; loaded for what is more than a text."""

from __future__ import annotations

from . import MAX_DEPTH, cleaned, scalar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from ..errors import EncodingError

# Python's own readers refuse integers of more than 4300 digits.
MAX_INT_BITS = 14_280

_INFINITY = float("inf")


class Plainer:
    """One conversion: remembers the way to the current value and the containers on it."""

    __slots__ = ("name", "open", "way")

    def __init__(self, name: str) -> None:
        self.name = name
        self.way: list[str | int] = []
        self.open: set[int] = set()

    def convert(self, value: Any, depth: int) -> Any:
        """Return *value* as plain data."""
        kind = type(value)
        if kind is str:
            return value if value.isprintable() else cleaned(value)
        if kind is bool or value is None:
            return value
        if kind is int:
            return self.integer(value)
        if kind is float:
            return self.number(value)
        if depth > MAX_DEPTH:
            raise self.trouble(f"is nested deeper than {MAX_DEPTH} levels", "Flatten it.")
        if id(value) in self.open:
            raise self.trouble("contains itself", "Return a copy without the cycle.")
        self.open.add(id(value))
        try:
            if kind is dict:
                return self.object(value, depth)
            if kind is list or kind is tuple:
                return self.array(value, depth)
            from .foreign import converted

            return converted(self, value, depth)
        finally:
            self.open.discard(id(value))

    def integer(self, value: int) -> int:
        """Return an integer that readers can take."""
        if value.bit_length() > MAX_INT_BITS:
            raise self.trouble("is an integer of more than 4300 digits", "Return it as text.")
        return value

    def number(self, value: float) -> float:
        """Return a number that JSON can hold."""
        if value != value or value in (_INFINITY, -_INFINITY):
            name = "NaN" if value != value else "infinity"
            raise self.trouble(f"is {name}, which JSON cannot hold", "Return null or text instead.")
        return value

    def array(self, values: Iterable[Any], depth: int) -> list[Any]:
        """Return the items as a list."""
        items: list[Any] = []
        way = self.way
        way.append(0)
        for index, value in enumerate(values):
            way[-1] = index
            items.append(self.convert(value, depth + 1))
        way.pop()
        return items

    def object(self, mapping: Any, depth: int) -> dict[str, Any]:
        """Return a mapping as an object in its own order."""
        fields: dict[str, Any] = {}
        way = self.way
        way.append("")
        for name, value in mapping.items():
            if type(name) is str and name.isprintable():
                key = name
            else:
                way[-1] = ""  # what is wrong with a key is about the whole object
                key = self.key(name)
            way[-1] = key
            if key in fields:
                raise self.trouble("is a key that occurs twice once written as JSON text", "")
            fields[key] = self.convert(value, depth + 1)
        way.pop()
        return fields

    def key(self, name: Any) -> str:
        """Return the text that stands for a key."""
        if name is None or name is True or name is False:
            return {None: "null", True: "true", False: "false"}[name]
        text: Any = None
        if issubclass(type(name), (str, int, float)):  # isinstance() would ask the key itself
            text = self.convert(name, 0)
        else:
            from .foreign import text_of_key

            text = text_of_key(self, name)
        if isinstance(text, (dict, list)):
            raise self.trouble(f"has a key of type {type(name).__name__}", "Use text keys.")
        return text if isinstance(text, str) else scalar(text)

    def trouble(self, what: str, advice: str) -> EncodingError:
        """Return the error that says where the trouble is."""
        from .foreign import trouble

        return trouble(self, what, advice)
