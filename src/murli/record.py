"""The base of every small value that crosses a room's door.

``dataclasses`` would do this too, but importing it costs a hello-world tool as much as argparse.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from typing_extensions import Self


class Record:
    """An immutable value made of its ``__slots__``: comparable, printable, copyable, picklable."""

    __slots__ = ()

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable; use replace({name}=...)")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable; use replace({name}=...)")

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self._values() == other._values()

    __hash__ = None  # type: ignore[assignment]  # the payload of an outcome may be unhashable

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value!r}" for name, value in self._values().items())
        return f"{type(self).__name__}({shown})"

    def __reduce__(self) -> tuple[object, ...]:
        return _restore, (type(self), self._values())

    def _values(self) -> dict[str, Any]:
        names: tuple[str, ...] = self.__slots__
        return {name: getattr(self, name) for name in names}

    def replace(self, **changes: Any) -> Self:
        """Give a copy with *changes* applied."""
        unknown = set(changes) - set(self.__slots__)
        if unknown:
            raise TypeError(f"{type(self).__name__} has no {', '.join(sorted(unknown))}")
        copied: Self = _restore(type(self), {**self._values(), **changes})
        return copied


def fill(record: Record, **values: object) -> None:
    """Set the slots of a record that is being built; nothing else may."""
    for name, value in values.items():
        object.__setattr__(record, name, value)


def _restore(kind: Any, values: dict[str, Any]) -> Any:
    record = kind.__new__(kind)
    fill(record, **values)
    return record
