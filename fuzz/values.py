"""Python values out of bytes: every kind the encoder meets, the hostile ones included."""

from __future__ import annotations

import collections
import dataclasses
import datetime
import decimal
import enum
import pathlib
import struct
import uuid
from collections.abc import Iterator
from typing import Any, ClassVar, NamedTuple

_SPECIAL = ("NaN", "sNaN", "Infinity", "-0", "1E+999", "-1e-30", "0", "1.10")


class Source:
    """Bytes that are used up; zeros when there are none left."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._position = 0

    @property
    def is_empty(self) -> bool:
        """Whether all has been used."""
        return self._position >= len(self._data)

    def take(self, count: int) -> bytes:
        """Return the next *count* bytes."""
        part = self._data[self._position : self._position + count]
        self._position += count
        return part.ljust(count, b"\0")

    def byte(self) -> int:
        """Return the next byte as a number."""
        return self.take(1)[0]

    def text(self) -> str:
        """Return a text of up to 255 bytes, of any kind."""
        kind, size = self.byte(), self.byte()
        data = self.take(size)
        if kind % 4 == 0:
            return data.decode("latin-1")
        if kind % 4 == 1 and not size % 2:
            return data.decode("utf-16-le", "surrogatepass")
        return data.decode("utf-8", "surrogateescape")


class Text(str):
    """Text with an opinion of its own."""

    def __str__(self) -> str:
        raise RuntimeError("no text today")

    __repr__ = __str__


class Number(int):
    """A number that shows itself in words."""

    def __repr__(self) -> str:
        return "many"

    __str__ = __repr__


class Colour(enum.Enum):
    """Members whose values are of several kinds."""

    RED = "red\x1b[0m"
    NOT = float("nan")
    NESTED = (1, ("a", None))


@dataclasses.dataclass
class Record:
    """Fields, and something that is none."""

    name: Any
    value: Any
    kind: ClassVar[str] = "class"


class Pair(NamedTuple):
    """A tuple with names."""

    left: Any
    right: Any


class Model:
    """What a validation library makes."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def model_dump(self) -> Any:
        """Return what is in it."""
        return self.value


class Bag:
    """A mapping that is no dict."""

    def __init__(self, items: dict[Any, Any]) -> None:
        self.items_ = items

    def keys(self) -> Any:
        """Return the keys."""
        return self.items_.keys()

    def __getitem__(self, key: Any) -> Any:
        return self.items_[key]


class Trap:
    """Raises *error* whatever is asked of it."""

    def __init__(self, error: BaseException) -> None:
        object.__setattr__(self, "error", error)

    def __getattribute__(self, name: str) -> Any:
        raise object.__getattribute__(self, "error")


class Endless:
    """A model of a model of a model."""

    def model_dump(self) -> Any:
        """Return one more of its kind."""
        return Endless()


class Loud(dict[Any, Any]):
    """A dict whose items cannot be had."""

    def items(self) -> Any:
        """Raise."""
        raise KeyError("items")


def value_from(source: Source, depth: int = 0) -> Any:
    """Build the value that the bytes of *source* stand for."""
    if source.is_empty or depth > 40:
        return None
    makers = _MAKERS
    return makers[source.byte() % len(makers)](source, depth + 1)


def _items(source: Source, depth: int) -> list[Any]:
    return [value_from(source, depth) for _ in range(source.byte() % 8)]


def _key(source: Source, depth: int) -> Any:
    key = value_from(source, depth)
    try:
        hash(key)
    except Exception:  # a list, or somebody who does not want to be hashed
        return "unhashable"
    return key


def _dict(source: Source, depth: int) -> dict[Any, Any]:
    return {_key(source, depth): value_from(source, depth) for _ in range(source.byte() % 8)}


def _float(source: Source, depth: int) -> float:
    found: float = struct.unpack("<d", source.take(8))[0]
    return found


def _integer(source: Source, depth: int) -> int:
    return int.from_bytes(source.take(source.byte() % 24), "little", signed=True)


def _loop(source: Source, depth: int) -> Any:
    items = _items(source, depth)
    items.append({"again": items})
    return items


def _buried(source: Source, depth: int) -> Any:
    value = value_from(source, depth)
    for _ in range(source.byte() + 45):
        value = [value]
    return value


def _failing(source: Source, depth: int) -> Iterator[Any]:
    yield from _items(source, depth)
    raise _error(source)


def _error(source: Source) -> Exception:
    kinds = (ValueError, RecursionError, OSError, StopIteration, UnicodeError, MemoryError)
    return kinds[source.byte() % len(kinds)](source.text())


def _when(source: Source, depth: int) -> Any:
    seconds = int.from_bytes(source.take(4), "little")
    kind = source.byte() % 4
    moment = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=seconds)
    parts = (moment, moment.date(), moment.time(), datetime.timedelta(seconds=seconds))
    return parts[kind]


def _decimal(source: Source, depth: int) -> decimal.Decimal:
    special = source.byte()
    if special < len(_SPECIAL):
        return decimal.Decimal(_SPECIAL[special])
    return decimal.Decimal(int.from_bytes(source.take(8), "little")).scaleb(special - 128)


_MAKERS: tuple[Any, ...] = (
    lambda source, depth: source.text(),
    _integer,
    _float,
    _items,
    _dict,
    lambda source, depth: bool(source.byte() % 2),
    lambda source, depth: tuple(_items(source, depth)),
    lambda source, depth: source.take(source.byte()),
    lambda source, depth: bytearray(source.take(source.byte())),
    lambda source, depth: {_key(source, depth) for _ in range(source.byte() % 6)},
    lambda source, depth: iter(_items(source, depth)),
    lambda source, depth: collections.deque(_items(source, depth)),
    lambda source, depth: collections.OrderedDict(_dict(source, depth)),
    lambda source, depth: Record(value_from(source, depth), value_from(source, depth)),
    lambda source, depth: Pair(value_from(source, depth), value_from(source, depth)),
    lambda source, depth: Model(value_from(source, depth)),
    lambda source, depth: Bag(_dict(source, depth)),
    lambda source, depth: tuple(Colour)[source.byte() % len(Colour)],
    lambda source, depth: Text(source.text()),
    lambda source, depth: Number(_integer(source, depth)),
    lambda source, depth: 1 << (source.byte() * 64),
    lambda source, depth: Trap(_error(source)),
    lambda source, depth: Endless(),
    lambda source, depth: Loud(_dict(source, depth)),
    lambda source, depth: pathlib.PurePosixPath(source.text().replace("\0", "")),
    lambda source, depth: uuid.UUID(bytes=source.take(16)),
    lambda source, depth: range(source.byte()),
    lambda source, depth: complex(_float(source, depth), _float(source, depth)),
    lambda source, depth: object(),
    lambda source, depth: int,
    _loop,
    _buried,
    _failing,
    _when,
    _decimal,
)
