"""The one encoder: every type it promises, every value it refuses."""

from __future__ import annotations

import array
import collections
import dataclasses
import datetime as dt
import decimal
import enum
import json
import pathlib
import types
import uuid
from typing import Any, ClassVar, NamedTuple

import pytest

import murli
from murli.formats import dumps, plain
from murli.formats.text import clean, clean_line


class Colour(enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    HIGH = 3


class Point(NamedTuple):
    x: int
    y: int


@dataclasses.dataclass
class Task:
    kind: ClassVar[str] = "task"
    title: str
    due: dt.date
    tags: set[str]


class Model:
    """Looks like a pydantic model."""

    def model_dump(self) -> dict[str, Any]:
        return {"id": uuid.UUID(int=7), "inner": [Colour.RED]}


class Structure:
    """Looks like a msgspec struct."""

    __struct_fields__ = ("a", "b")
    a = 1
    b = "two"


class Attributes:
    """Looks like an attrs class."""

    __attrs_attrs__ = (types.SimpleNamespace(name="a"),)
    a = Level.HIGH


class Shouting(str):
    def __str__(self) -> str:
        return "SHOUT"


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        (None, None),
        (True, True),
        (2**64, 2**64),
        (-0.5, -0.5),
        ("naïve <b>&</b> 木工", "naïve <b>&</b> 木工"),
        ((1, [2], {"a": ()}), [1, [2], {"a": []}]),
        ({3, 1, 10, 2}, [1, 2, 3, 10]),
        (frozenset({"b", "a"}), ["a", "b"]),
        ({1, "a", None}, ["a", 1, None]),
        (Colour.RED, "red"),
        (Level.HIGH, 3),
        (dt.date(2026, 11, 15), "2026-11-15"),
        (dt.datetime(2026, 11, 15, 9, 30, tzinfo=dt.timezone.utc), "2026-11-15T09:30:00+00:00"),
        (dt.time(9, 30), "09:30:00"),
        (dt.timedelta(minutes=1.5), 90.0),
        (decimal.Decimal("1.10"), "1.10"),
        (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (pathlib.Path("/tmp/x"), "/tmp/x"),
        (pathlib.PurePosixPath("a/b"), "a/b"),
        (
            b"\xff\x00",
            {"type": "binary", "encoding": "base64", "value": "/wA=", "size_bytes": 2},
        ),
        (
            bytearray(b"hi"),
            {"type": "binary", "encoding": "base64", "value": "aGk=", "size_bytes": 2},
        ),
        (Point(1, 2), {"x": 1, "y": 2}),
        (
            Task("Saw", dt.date(2026, 1, 2), {"b", "a"}),
            {"title": "Saw", "due": "2026-01-02", "tags": ["a", "b"]},
        ),
        (
            Model(),
            {"id": "00000000-0000-0000-0000-000000000007", "inner": ["red"]},
        ),
        (Structure(), {"a": 1, "b": "two"}),
        (Attributes(), {"a": 3}),
        (Shouting("quiet"), "quiet"),
        (range(3), [0, 1, 2]),
        (iter([1, 2]), [1, 2]),
        ((n for n in (1, 2)), [1, 2]),
        ({"a": 1}.keys(), ["a"]),
        (collections.deque([1]), [1]),
        (array.array("i", [1, 2]), [1, 2]),
        (collections.OrderedDict(b=1, a=2), {"b": 1, "a": 2}),
        (types.MappingProxyType({"a": 1}), {"a": 1}),
        (
            {1: "a", None: "b", True and 2.5: "c", Colour.RED: "d", dt.date(2026, 1, 1): "e"},
            {"1": "a", "null": "b", "2.5": "c", "red": "d", "2026-01-01": "e"},
        ),
    ],
)
def test_known_types(value: object, wanted: object) -> None:
    """Every documented type has its JSON form."""
    found = plain(value)
    assert found == wanted
    assert json.loads(dumps(found)) == wanted


def test_key_order_is_the_callers() -> None:
    """Keys stay in the order the caller gave them."""
    assert dumps({"zebra": 1, "apple": {"z": 1, "a": 2}}, pretty=False) == (
        '{"zebra":1,"apple":{"z":1,"a":2}}'
    )


@pytest.mark.parametrize("pretty", [True, False])
@pytest.mark.parametrize(
    "value",
    [
        {},
        [],
        [[]],
        {"a": {}},
        {"a": [], "b": [{}, [1, {"c": None}]], "é": '"\\\n\t/<>&\x7f'},
        [True, False, None, 0, -1, 1.5, 1e300, "x"],
        "text",
    ],
)
def test_layout_is_pythons(value: object, pretty: bool) -> None:
    """Pretty and minified text are what json.dumps gives, with non-ASCII literal."""
    layout: dict[str, Any] = {"indent": 2} if pretty else {"separators": (",", ":")}
    assert dumps(value, pretty=pretty) == json.dumps(value, ensure_ascii=False, **layout)


def _cycle() -> list[Any]:
    values: list[Any] = [1]
    values.append({"again": values})
    return values


def _deep(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels):
        value = [value]
    return value


class Raising:
    def model_dump(self) -> dict[str, Any]:
        raise OSError("disk")


class Endless:
    def model_dump(self) -> object:
        return Endless()


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ({"rows": [1, float("nan")]}, r"\$\.rows\[1\] is NaN"),
        ({"a": float("-inf")}, r"\$\.a is infinity"),
        (decimal.Decimal("NaN"), r"\$ is NaN"),
        ({"a": object()}, r"\$\.a is a object, which has no JSON form"),
        ({"f": print}, r"\$\.f is a builtin_function_or_method"),
        ({"t": int}, r"\$\.t is a type"),
        (1j, r"\$ is a complex"),
        (_cycle(), r"\$\[1\]\.again contains itself"),
        (_deep(300), r"nested deeper than 240 levels"),
        ({(1, 2): 3}, r"key of type tuple"),
        ({"1": "a", 1: "b"}, r"\$\.1 is a key that occurs twice"),
        ({"a\x1b[1m": 1, "a": 2}, r"\$\.a is a key that occurs twice"),
        ([10**4400], r"\$\[0\] is an integer of more than 4300 digits"),
        ({"m": Raising()}, r"\$\.m \(Raising\) raised OSError"),
        (Endless(), r"nested deeper"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_has_no_json_form_is_refused(value: object, told: str) -> None:
    """A value without a JSON form is refused with its place and the reason."""
    with pytest.raises(murli.EncodingError, match=told):
        plain(value)


def test_shared_values_are_not_cycles() -> None:
    """A value that occurs twice side by side is written twice."""
    shared = {"a": 1}
    assert plain([shared, shared]) == [{"a": 1}, {"a": 1}]


def test_the_largest_values_that_fit() -> None:
    """An integer and a depth at the limit are written and read back."""
    value = {"n": 10**4290, "deep": _deep(230)}
    assert json.loads(dumps(plain(value))) == value


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("plain", "plain"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b[38;5;208mx\x1b[?25l", "x"),
        ("\x1b]0;title\x07x", "x"),
        ("\x1b]8;;http://a\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x9b31mred", "red"),
        ("\x1b7\x1b8\x1b(Bx\x1bcy", "xy"),
        ("\x1bP1$r\x1b\\x", "x"),
        ("\x1b]unterminated text", "unterminated text"),
        ("lonely \x1b", "lonely "),
        ("\x1b\x1b[0m[31m", "[31m"),
    ],
)
def test_ansi_is_removed(text: str, wanted: str) -> None:
    """Colours, links, titles and single escapes disappear; the text stays."""
    assert murli.strip_ansi(text) == wanted
    assert "\x1b" not in clean(text)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("one\r\ntwo\rthree\n", "one\ntwothree\n"),
        ("nul\0", "nul\ufffd"),
        ("\ud800x", "\ufffdx"),
        ("\udcff\udcc3\udca9", "\ufffdé"),
        ("\ud83d\ude00", "\U0001f600"),
        ("tab\tbell\x07", "tab\tbell\x07"),
    ],
)
def test_clean_text(text: str, wanted: str) -> None:
    """Carriage returns go, NUL and broken Unicode become U+FFFD, undecoded UTF-8 is decoded."""
    assert clean(text) == wanted
    wanted.encode()


def test_clean_lines_cannot_move_the_cursor() -> None:
    """Text for a person's terminal keeps line breaks and tabs and no other control character."""
    assert clean_line("a\x07\x08b\x7f\x85\tc\nd\x1b[2J") == "ab\tc\nd"
