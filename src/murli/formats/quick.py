"""The quick way to JSON: data that is plain as it stands is encoded in C, and then looked at.

`one_line` returns what ``dumps(plain(value), pretty=False)`` does, or ``None`` where only that can
show: other types, text that has to be cleaned, numbers that JSON cannot hold. Loaded for the
lines of a stream and for what is large. Where `orjson` is installed (the extra ``fast``), it
encodes what it spells as Python does.
"""

from __future__ import annotations

from itertools import chain

from . import MAX_DEPTH, defer_signals

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

SCALARS = frozenset((str, int, float, bool, type(None)))
_PLAIN = SCALARS | {dict, list}
_TEXT = frozenset((str,))
_NO_FLOATS = SCALARS - {float}
# What `text.clean` changes: in ASCII as it is escaped in JSON, and beyond.
_UNCLEAN = ("\\u001b", "\\u0000", "\\r")
_UNCLEAN_BEYOND = "[\x90\x98\x9b-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
# An integer that is refused has more digits than this; of a long text as many are looked at.
_MANY_DIGITS = 4000
_STEP = _MANY_DIGITS // 2
# So many containers of a level are not worth finding those that are the same.
_FEW = 32
# Beyond these, orjson spells the exponent of a float in another way than Python.
_LEAST, _MOST, _INFINITY = 1e-4, 1e16, float("inf")


def one_line(value: Any) -> str | None:
    """Return *value* in one line if it is plain and clean data already, else ``None``."""
    text = _encoded(value)
    if text is None or (text.isascii() and "\\" not in text and len(text) < _MANY_DIGITS):
        return text
    return text if _is_clean(text) else None


# What was `prepared` last, and its text.
kept: tuple[Any, str] | None = None


def prepared(value: Any, *, afresh: bool = False) -> Any:
    """Return *value*, with objects of authors' types as `with_rows` has them.

    What `one_line` makes of it is `kept`, if it takes it: for who prepares just that next, unless
    *afresh*. Until then nobody may change it.
    """
    global kept
    if afresh or kept is None or kept[0] is not value:
        value = with_rows(value)
        text = one_line(value)
        kept = None if text is None else (value, text)
    return value


def with_rows(value: Any) -> Any:
    """Return *value*, an object or a list, with the objects of authors' types in it as `dict`s.

    Those of a list alone, which all are of one type.
    """
    if type(value) is dict:
        return {key: with_rows(each) if type(each) is list else each for key, each in value.items()}
    if not value or type(value) is not list or type(value[0]) in _PLAIN:
        return value
    from .foreign import rows_of

    return rows_of(value) or value


# An encoder calls methods of derived types, an enum's `value` say; so what is plain is found first.


def _encoded_in_c(value: Any) -> str | None:
    try:
        # Most events are objects of nothing but scalars.
        if type(value) is dict and SCALARS.issuperset(map(type, value.values())):
            if not _TEXT.issuperset(map(type, value)):
                return None
        elif not _is_plain(value):
            return None
        return "".join(_encode(value, 0))
    except Exception:  # what it is, and where, `Plainer` says
        return None


def _encoded_by_orjson(value: Any) -> str | None:
    floats: list[float] = []
    try:
        flat = type(value) is dict and _NO_FLOATS.issuperset(map(type, value.values()))
        if not (flat or _is_plain(value, floats)):
            return None
        text: str = _dumps(value, None, _options).decode()
    except Exception:  # also an integer of more than 64 bits
        return _encoded_in_c(value)
    sizes = list(map(abs, filter(None, floats)))
    # Where one is not finite, their sum is not either.
    if sizes and not (min(sizes) >= _LEAST and max(sizes) < _MOST and sum(sizes) < _INFINITY):
        return _encoded_in_c(value)
    return text


def _is_plain(value: Any, floats: list[float] | None = None) -> bool:
    """Return whether *value* is made of plain types, none of them derived, and not too deep.

    What floats there are, are added to *floats*, if that is for orjson, which itself refuses keys
    that are no text, or of a derived type.
    """
    if type(value) is list and _are_rows(value):  # as most lists are
        if floats is None:
            return _TEXT.issuperset(map(type, chain.from_iterable(value)))
        floats += [each for each in _in_all(value, ()) if type(each) is float]
        return True
    level: Any = (value,)
    kinds: set[Any] = {type(value)}
    for _ in range(MAX_DEPTH + 2):
        if floats is not None and float in kinds:
            floats += [each for each in level if type(each) is float]
        if kinds <= SCALARS:
            return True
        if not kinds <= _PLAIN:
            return False
        dicts, lists = _once(_those(dict, level)), _once(_those(list, level))
        if not _TEXT.issuperset(map(type, chain.from_iterable(dicts))):
            return False
        kinds = set(map(type, _in_all(dicts, lists)))
        # Most levels end here, and are not copied.
        level = _in_all(dicts, lists) if kinds <= SCALARS else list(_in_all(dicts, lists))
    return False


def _those(kind: type, values: Any) -> list[Any]:
    return [each for each in values if type(each) is kind]


def _once(containers: Any) -> Any:
    """Return each of *containers* once; what is shared, or contains itself, may be in it often."""
    if len(containers) <= _FEW:
        return containers
    return dict(zip(map(id, containers), containers, strict=False)).values()


def _in_all(dicts: Any, lists: Any) -> Iterator[Any]:
    """Return what is in these containers, by C code alone."""
    return chain(chain.from_iterable(map(dict.values, dicts)), chain.from_iterable(lists))


def _is_clean(text: str) -> bool:
    """Return whether nothing in *text*, which is JSON, has to be cleaned or refused."""
    if "\\" in text and any(each in text for each in _UNCLEAN):
        return False
    if not (text.isascii() or text.isprintable()):
        import re

        if re.search(_UNCLEAN_BEYOND, text):
            return False
    return len(text) < _MANY_DIGITS or not any(
        text[at : at + _STEP].isdigit() for at in range(0, len(text), _STEP)
    )


def _refuse(value: object) -> None:
    raise TypeError(type(value))


def _encoder(colon: str, comma: str) -> Callable[[Any, int], Any]:
    encode: Callable[[Any, int], Any] = make_encoder(
        None, _refuse, encode_basestring, None, colon, comma, False, False, False
    )
    return encode


def dumps(data: Any, *, pretty: bool) -> str | None:
    """Return plain *data* as `murli.formats.dumps` does, or ``None`` where that has to do it."""
    try:
        if not pretty:
            return "".join(_encode(data, 0))
        parts: list[str] = []
        _write_pretty(data, parts.append, "\n")
        return "".join(parts)
    except Exception:  # no plain data, or more than the stack holds
        return None


_pretty_encoders: dict[str, Callable[[Any, int], Any]] = {}


def _pretty_encoder(inner: str) -> Callable[[Any, int], Any]:
    """Return what puts the line break *inner* between the items of flat data."""
    encode = _pretty_encoders.get(inner)
    if encode is None:
        encode = _pretty_encoders[inner] = _encoder(": ", f",{inner}")
    return encode


def _are_rows(values: list[Any]) -> bool:
    """Return whether *values* are objects of nothing but scalars, none of them empty."""
    if not {dict}.issuperset(map(type, values)) or not all(values):
        return False
    return SCALARS.issuperset(map(type, chain.from_iterable(map(dict.values, values))))


def _write_rows(rows: list[dict[str, Any]], write: Callable[[str], object], margin: str) -> None:
    """Write *rows* as `_write_pretty` does, in one go."""
    inner = margin + "  "
    field = inner + "  "
    text = "".join(_pretty_encoder(field)(rows, 0))[2:-2]
    # No text in JSON has a line break in it.
    text = text.replace(f"}},{field}{{", f"{inner}}},{inner}{{{field}")
    write(f"[{inner}{{{field}")
    write(text)
    write(f"{inner}}}{margin}]")


def _write_pretty(value: Any, write: Callable[[str], object], margin: str) -> None:
    """Write plain data in parts; *margin* is the line break before what ends it."""
    inner = margin + "  "
    encode = _pretty_encoder(inner)
    if not value or not isinstance(value, (dict, list)):
        write("".join(encode(value, 0)))
    elif SCALARS.issuperset(map(type, value.values() if isinstance(value, dict) else value)):
        body = "".join(encode(value, 0))
        write(f"{body[0]}{inner}{body[1:-1]}{margin}{body[-1]}")
    elif isinstance(value, dict):
        mark = "{"
        for key, item in value.items():
            write(f"{mark}{inner}{encode_basestring(key)}: ")
            if type(item) in SCALARS:
                write("".join(encode(item, 0)))
            else:
                _write_pretty(item, write, inner)
            mark = ","
        write(margin + "}")
    elif _are_rows(value):
        _write_rows(value, write, margin)
    else:
        mark = "["
        for item in value:
            write(mark + inner)
            _write_pretty(item, write, inner)
            mark = ","
        write(margin + "]")


def with_value(document: dict[str, Any], value: Any, text: str) -> str | None:
    """Return *document* in one line; *text* is that of *value*, which is one of its values."""
    parts: list[str] = []
    is_in = False
    for key, item in document.items():
        is_in = is_in or item is value
        written = text if item is value else dumps(item, pretty=False)
        if written is None:
            return None
        parts += ("," if parts else "{", encode_basestring(key), ":", written)
    return "".join((*parts, "}")) if is_in else None


def _encoded_by_nobody(value: Any) -> str | None:
    return None


try:
    from _json import encode_basestring, make_encoder

    _encode = _encoder(":", ",")
    _encoded = _encoded_in_c
except ImportError:  # an interpreter without the accelerator
    _encoded = _encoded_by_nobody
else:
    # Its C code does not expect that a handler of signals raises while it begins.
    _resume = defer_signals()
    try:
        import orjson
    except ImportError:
        pass
    else:
        _dumps = orjson.dumps
        _options = (
            orjson.OPT_PASSTHROUGH_SUBCLASS
            | orjson.OPT_PASSTHROUGH_DATACLASS
            | orjson.OPT_PASSTHROUGH_DATETIME
        )
        _encoded = _encoded_by_orjson
    finally:
        _resume()
