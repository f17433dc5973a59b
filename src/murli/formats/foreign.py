"""Values that are not plain data and have a JSON form all the same; loaded when one is met."""

from __future__ import annotations

from . import dumps
from .text import PlainObject, Printed, clean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from ..errors import EncodingError
    from .plainer import Plainer


# What is an object, a list or a scalar whatever fields its type has.
_BUILT_IN = (str, int, float, dict, list, tuple, range, set, frozenset, bytes, bytearray)


def converted(plainer: Plainer, value: Any, depth: int) -> Any:
    """Return *value*, which is not of a plain type, as plain data.

    What its own code raises becomes an `EncodingError`.
    """
    try:
        return _convert(plainer, value, depth)
    except KeyboardInterrupt:  # the caller ends the program
        raise
    except BaseException as error:  # the value's own code, which may raise anything
        from ..errors import EncodingError

        if isinstance(error, EncodingError):
            raise
        what = f"{type(error).__name__} while it was read"
        raise trouble(plainer, f"({_name_of(value)}) raised {what}", "") from error


def trouble(plainer: Plainer, what: str, advice: str) -> EncodingError:
    """Return the error that says where the trouble is."""
    where = "".join(
        f"[{step}]" if isinstance(step, int) else f".{step}"
        for step in plainer.way[:12]
        if step != ""
    )
    if len(plainer.way) > 12:
        where += "…"
    from ..errors import EncodingError

    noun = plainer.name.partition("[")[0].replace("$", "result")
    message = f"The {noun} cannot be written as JSON: {plainer.name}{where} {what}. {advice}"
    return EncodingError(message.strip())


def _name_of(value: object) -> str:
    return type(value).__qualname__


def _convert(plainer: Plainer, value: Any, depth: int) -> Any:
    from enum import Enum  # loaded by re, hence by argparse, already

    if isinstance(value, Enum):
        return plainer.convert(value.value, depth + 1)
    if isinstance(value, str):
        return value if isinstance(value, Printed) else clean(str.__str__(value))
    if isinstance(value, int):
        return plainer.integer(int.__int__(value))
    if isinstance(value, float):
        return plainer.number(float.__float__(value))
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return plainer.object(value._asdict(), depth)
    if isinstance(value, PlainObject):
        return value
    if isinstance(value, dict):
        return plainer.object(value, depth)
    if isinstance(value, (list, tuple, range)):
        return plainer.array(value, depth)
    if isinstance(value, (set, frozenset)):
        return _stable(plainer.array(value, depth))
    if isinstance(value, (bytes, bytearray, memoryview)):
        return binary(bytes(value))
    names = _field_names(value)
    if names is not None:
        return plainer.object({name: getattr(value, name) for name in names}, depth)
    if callable(getattr(value, "model_dump", None)) and not isinstance(value, type):
        return plainer.convert(value.model_dump(), depth + 1)
    text = _text_of(value)
    if text is not None:
        return plainer.convert(text, depth + 1)
    if hasattr(value, "tolist") and hasattr(value, "dtype"):
        return plainer.convert(value.tolist(), depth + 1)
    if callable(getattr(value, "keys", None)) and hasattr(value, "__getitem__"):
        return plainer.object({name: value[name] for name in list(value.keys())}, depth)
    if hasattr(type(value), "__next__") or _is_plain_collection(value):
        return plainer.array(value, depth)
    raise plainer.trouble(
        f"is a {_name_of(value)}, which has no JSON form",
        "Return a dict, a list, text, a number, a dataclass or an object with model_dump().",
    )


def rows_of(values: list[Any]) -> list[Any] | None:
    """Return *values*, all of one type that has fields, as objects; ``None`` for any others.

    What a field holds is not looked at.
    """
    from enum import Enum

    kind = type(values[0])
    if {kind} != set(map(type, values)) or issubclass(kind, (Enum, *_BUILT_IN)):
        return None
    import gc

    # Nothing made here is garbage: who looks for some among it only takes time.
    pauses = gc.isenabled()
    gc.disable()
    try:
        names = _field_names(values[0])
        if names:
            from operator import attrgetter

            first, *rest = names
            if not rest:
                return [{first: getattr(each, first)} for each in values]
            fields_of = attrgetter(first, *rest)
            return [dict(zip(names, fields_of(each))) for each in values]  # noqa: B905
        if names is None and callable(getattr(kind, "model_dump", None)):
            return [each.model_dump() for each in values]
    except Exception:  # it is reported where they are looked at one by one
        pass
    finally:
        if pauses:
            gc.enable()
    return None


def _field_names(value: Any) -> Iterable[str] | None:
    kind = type(value)
    for marker in ("__dataclass_fields__", "__struct_fields__"):
        names = getattr(kind, marker, None)
        if names is not None:
            # A dataclass also lists its ClassVar pseudo-fields; those carry another marker.
            return [
                name
                for name in names
                if not isinstance(names, dict)
                or getattr(names[name], "_field_type", None) is None
                or names[name]._field_type.name == "_FIELD"
            ]
    attributes = getattr(kind, "__attrs_attrs__", None)
    return None if attributes is None else [attribute.name for attribute in attributes]


def text_of_key(plainer: Plainer, name: Any) -> Any:
    """Return the text of a key that is neither text nor a number; a list when it has none."""
    try:
        from enum import Enum

        if isinstance(name, Enum) or _text_of(name) is not None:
            return plainer.convert(name, 0)
    except KeyboardInterrupt:  # the caller ends the program
        raise
    except BaseException as error:  # the key's own code, which may raise anything
        what = f"has a key that raised {type(error).__name__} while it was read"
        raise plainer.trouble(what, "Use text keys.") from error
    return []


def _text_of(value: Any) -> str | float | None:
    """Return the text of a date, a path, a UUID or a Decimal without importing their modules."""
    for base in type(value).__mro__:
        place = f"{base.__module__}.{base.__qualname__}"
        if place in ("datetime.datetime", "datetime.date", "datetime.time"):
            return str(value.isoformat())
        if place == "datetime.timedelta":
            return float(value.total_seconds())
        if place == "uuid.UUID":
            return str(value)
        if place in ("decimal.Decimal", "_pydecimal.Decimal"):
            if value.is_infinite():
                return float("inf")
            return str(value) if value.is_finite() else float("nan")
    if hasattr(type(value), "__fspath__"):
        import os

        return os.fsdecode(os.fspath(value))
    return None


def _is_plain_collection(value: Any) -> bool:
    place = type(value).__module__
    return place in ("builtins", "collections", "array") and hasattr(value, "__iter__")


def binary(data: bytes) -> dict[str, object]:
    """Return *data* as plain data."""
    from binascii import b2a_base64

    value = b2a_base64(data, newline=False).decode("ascii")
    return {"type": "binary", "encoding": "base64", "value": value, "size_bytes": len(data)}


def _stable(items: list[Any]) -> list[Any]:
    try:
        return sorted(items)
    except TypeError:  # values of several kinds have no order of their own; their text has
        return sorted(items, key=lambda item: dumps(item, pretty=False))
