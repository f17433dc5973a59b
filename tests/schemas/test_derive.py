"""Schemas from types: what they say, and that the encoder keeps to them."""

from __future__ import annotations

import collections
import collections.abc as abc
import dataclasses
import datetime as dt
import decimal
import enum
import functools
import inspect
import pathlib
import subprocess
import sys
import typing
import uuid
from typing import Annotated, Any, ClassVar, Generic, Literal, NamedTuple, TypedDict, TypeVar

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

import murli
from murli.formats import plain
from murli.schemas.derive import return_schema_of, schema_of
from properties import examples

T = TypeVar("T")
TaskId = typing.NewType("TaskId", int)

if typing.TYPE_CHECKING:
    from nowhere import Missing  # type: ignore[import-not-found]


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 3


class Rights(enum.Flag):
    READ = 1
    WRITE = 2


@dataclasses.dataclass
class Task:
    """A thing to do.

    And more about it that a schema need not say.
    """

    kind: ClassVar[str] = "task"
    title: str
    due: dt.date | None = None
    init: dataclasses.InitVar[int] = 0


@dataclasses.dataclass
class Node:
    name: str
    children: list[Node]


@dataclasses.dataclass
class Broken:
    good: int
    bad: Missing


@dataclasses.dataclass
class Page(Generic[T]):
    items: list[T]
    after: str | None


class Point(NamedTuple):
    x: int
    y: float = 0.0


class Base(TypedDict):
    id: int


class Options(Base, total=False):
    verbose: bool


class Note:
    """Looks like ``typing_extensions.Doc``."""

    documentation = "in metres"


class Hostile(type):
    def __getattribute__(cls, name: str) -> Any:
        raise RuntimeError(name)


STRING = {"type": "string"}
INTEGER = {"type": "integer"}
NULL = {"type": "null"}
TASK = {
    "type": "object",
    "description": "A thing to do.",
    "properties": {"title": STRING, "due": {"type": ["string", "null"], "format": "date"}},
    "required": ["title", "due"],
}


@pytest.mark.parametrize(
    ("kind", "wanted"),
    [
        (str, STRING),
        (int, INTEGER),
        (float, {"type": "number"}),
        (bool, {"type": "boolean"}),
        (type(None), NULL),
        (dt.datetime, {"type": "string", "format": "date-time"}),
        (dt.date, {"type": "string", "format": "date"}),
        (dt.time, STRING),
        (dt.timedelta, {"type": "number", "description": "seconds"}),
        (uuid.UUID, {"type": "string", "format": "uuid"}),
        (pathlib.Path, STRING),
        (decimal.Decimal, STRING),
        (Colour, {"type": "string", "enum": ["red", "blue"]}),
        (Level, {"enum": [1, 3]}),
        (Rights, INTEGER),
        (Literal["a"], {"const": "a"}),
        (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}),
        (Literal[1, None, Colour.RED], {"enum": [1, None, "red"]}),
        (list, {"type": "array"}),
        (list[int], {"type": "array", "items": INTEGER}),
        (list[Any], {"type": "array"}),
        (set[str], {"type": "array", "items": STRING}),
        (frozenset[str], {"type": "array", "items": STRING}),
        (collections.deque[int], {"type": "array", "items": INTEGER}),
        (abc.Sequence[int], {"type": "array", "items": INTEGER}),
        (abc.Iterable[int], {"type": "array", "items": INTEGER}),
        (abc.Iterator[int], {"type": "array", "items": INTEGER}),
        (abc.Generator[int, None, str], {"type": "array", "items": INTEGER}),
        (typing.List[int], {"type": "array", "items": INTEGER}),  # noqa: UP006
        (tuple[int, ...], {"type": "array", "items": INTEGER}),
        (
            tuple[int, str],
            {"type": "array", "prefixItems": [INTEGER, STRING], "minItems": 2, "maxItems": 2},
        ),
        (tuple[()], {"type": "array"}),
        (dict, {"type": "object"}),
        (dict[str, int], {"type": "object", "additionalProperties": INTEGER}),
        (
            abc.Mapping[str, list[int]],
            {"type": "object", "additionalProperties": {"type": "array", "items": INTEGER}},
        ),
        (collections.Counter[str], {"type": "object", "additionalProperties": INTEGER}),
        (typing.Optional[int], {"type": ["integer", "null"]}),  # noqa: UP045
        (int | str | None, {"type": ["integer", "string", "null"]}),
        (dt.date | str, {"anyOf": [{"type": "string", "format": "date"}, STRING]}),
        (Colour | None, {"anyOf": [{"type": "string", "enum": ["red", "blue"]}, NULL]}),
        (Annotated[int, Note()], {"type": "integer", "description": "in metres"}),
        (Annotated[int, 3], INTEGER),
        (TaskId, INTEGER),
        (abc.Awaitable[int], INTEGER),
        (abc.Coroutine[Any, Any, int], INTEGER),
        (Task, TASK),
        (list[Task], {"type": "array", "items": TASK}),
        (
            Page[Colour],
            {
                "type": "object",
                "properties": {
                    "items": {
                        "type": "array",
                        "items": {"type": "string", "enum": ["red", "blue"]},
                    },
                    "after": {"type": ["string", "null"]},
                },
                "required": ["items", "after"],
            },
        ),
        (
            Point,
            {
                "type": "object",
                "properties": {"x": INTEGER, "y": {"type": "number"}},
                "required": ["x", "y"],
            },
        ),
        (
            collections.namedtuple("Pair", "a b"),
            {"type": "object", "properties": {"a": {}, "b": {}}, "required": ["a", "b"]},
        ),
        (
            Options,
            {
                "type": "object",
                "properties": {"id": INTEGER, "verbose": {"type": "boolean"}},
                "required": ["id"],
            },
        ),
        (
            Broken,
            {
                "type": "object",
                "properties": {"good": INTEGER, "bad": {}},
                "required": ["good", "bad"],
            },
        ),
    ],
)
def test_known_types(kind: object, wanted: object) -> None:
    """Every documented type has its schema, and the schema is a valid one."""
    found = schema_of(kind)
    assert found is not None
    assert found == wanted
    jsonschema.Draft202012Validator.check_schema(found)


@pytest.mark.parametrize(
    "kind",
    [
        None,
        Any,
        object,
        inspect.Signature.empty,
        typing.NoReturn,
        typing.ForwardRef("Missing"),
        "Missing",
        T,
        typing.Optional[Any],  # noqa: UP045
        murli.Writer,
        abc.Coroutine,
        abc.Callable,
        abc.AsyncIterator[int],
        type,
        complex,
        3,
        [],
        Hostile,
        ...,
        enum.Enum,
    ],
)
def test_says_nothing(kind: object) -> None:
    """What says nothing about its values, or is no type at all, has no schema."""
    assert schema_of(kind) is None


def test_hostile_class() -> None:
    """A class that raises at every look has no schema, and raises nothing here."""
    evil = Hostile("Evil", (), {})
    assert schema_of(evil) is None
    assert return_schema_of(evil) is None


def test_recursive_type() -> None:
    """A type that holds itself refers to its own definition."""
    found = schema_of(Node)
    assert found is not None
    assert found["$ref"] == "#/$defs/Node"
    assert found["$defs"]["Node"]["properties"]["children"]["items"] == {"$ref": "#/$defs/Node"}
    jsonschema.validate(plain(Node("a", [Node("b", [])])), found)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"name": "a", "children": [{"name": 1, "children": []}]}, found)


def test_type_used_twice() -> None:
    """A type that occurs twice is written once, and two types of one name stay apart."""
    other = dataclasses.make_dataclass("Task", [("n", int)])
    found = schema_of(tuple[Task, Task, other, other])  # type: ignore[valid-type]
    assert found is not None
    first, again, third, fourth = (item["$ref"] for item in found["prefixItems"])
    assert first == again != third == fourth
    assert found["$defs"][first.removeprefix("#/$defs/")] == TASK


def test_endless_type() -> None:
    """A generic type that grows with every step is left open instead of being followed forever."""
    grown = schema_of(Growing[int])
    assert grown is not None
    jsonschema.Draft202012Validator.check_schema(grown)


@dataclasses.dataclass
class Growing(Generic[T]):
    value: T
    more: Growing[list[T]] | None


def test_result_is_the_callers_own() -> None:
    """Changing a schema does not change the next one."""
    first = schema_of(bytes)
    assert first is not None
    first["properties"].clear()
    assert schema_of(bytes) != first


def _typed(broken: Missing) -> list[Task]:
    raise NotImplementedError


@functools.wraps(_typed)
def _wrapper(*args: Any) -> Any:
    raise NotImplementedError


class Handler:
    def __call__(self) -> int:
        return 1

    def method(self) -> str:
        return ""


async def _later() -> int:
    return 1


def _none() -> None:
    """Return nothing."""


def _silent(a, b):  # type: ignore[no-untyped-def]
    return a, b


def _missing() -> Missing:
    raise NotImplementedError


@pytest.mark.parametrize(
    ("function", "wanted"),
    [
        (_typed, {"type": "array", "items": TASK}),
        (_wrapper, {"type": "array", "items": TASK}),
        (functools.partial(functools.partial(_typed), 1), {"type": "array", "items": TASK}),
        (Handler(), INTEGER),
        (Handler().method, STRING),
        (Task, TASK),
        (_later, INTEGER),
        (_none, None),
        (_silent, None),
        (_missing, None),
        (len, None),
        (3, None),
        (None, None),
    ],
)
def test_return_schema(function: object, wanted: object) -> None:
    """The schema of a call is that of its return annotation, through wrappers and partials."""
    assert return_schema_of(function) == wanted


def test_not_loaded_at_start() -> None:
    """Importing murli does not load the derivation, which is for describing only."""
    code = "import murli, sys; sys.exit('murli.schemas.derive' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


Case = tuple[Any, st.SearchStrategy[Any]]
words = st.text(max_size=5)
LEAVES: list[Case] = [
    (str, st.text()),
    (int, st.integers(-(2**70), 2**70)),
    (float, st.floats(allow_nan=False, allow_infinity=False)),
    (bool, st.booleans()),
    (type(None), st.none()),
    (bytes, st.binary()),
    (dt.datetime, st.datetimes()),
    (dt.date, st.dates()),
    (dt.time, st.times()),
    (dt.timedelta, st.timedeltas()),
    (uuid.UUID, st.uuids()),
    (pathlib.PurePosixPath, words.map(pathlib.PurePosixPath)),
    (decimal.Decimal, st.decimals(allow_nan=False, allow_infinity=False)),
    (Colour, st.sampled_from(Colour)),
    (Rights, st.sampled_from([Rights.READ, Rights.READ | Rights.WRITE])),
    (Literal[1, "a\x1b[m"], st.sampled_from([1, "a\x1b[m"])),
    (Any, st.integers()),
]


def _of(form: Any, *kinds: Any) -> Any:
    """Give ``form[kinds]`` for types that are only known when the test runs."""
    return form[kinds if len(kinds) > 1 else kinds[0]]


def _listed(case: Case) -> Case:
    return _of(list, case[0]), st.lists(case[1], max_size=3)


def _mapped(case: Case) -> Case:
    return _of(dict, str, case[0]), st.dictionaries(st.uuids().map(str), case[1], max_size=3)


def _either(one: Case, other: Case) -> Case:
    return _of(typing.Union, one[0], other[0]), one[1] | other[1]


def _paired(one: Case, other: Case) -> Case:
    return _of(tuple, one[0], other[0]), st.tuples(one[1], other[1])


def _with_fields(cases: list[Case], make: Any) -> Case:
    made = make("Made", [(f"f{index}", kind) for index, (kind, _) in enumerate(cases)])
    return made, st.tuples(*(values for _, values in cases)).map(lambda row: made(*row))


def _grown(cases: st.SearchStrategy[Case]) -> st.SearchStrategy[Case]:
    """Build containers and classes of fields around the types of *cases*."""
    makers = st.sampled_from([dataclasses.make_dataclass, typing.NamedTuple])
    return st.one_of(
        cases.map(_listed),
        cases.map(_mapped),
        st.builds(_either, cases, cases),
        st.builds(_paired, cases, cases),
        st.builds(_with_fields, st.lists(cases, max_size=4), makers),
    )


@examples(100)
@given(case=st.recursive(st.sampled_from(LEAVES), _grown, max_leaves=8), data=st.data())
def test_encoder_keeps_to_the_schema(case: Case, data: st.DataObject) -> None:
    """What the encoder makes of a value validates against the schema of the value's type."""
    kind, values = case
    schema = schema_of(kind)
    if schema is not None:
        jsonschema.Draft202012Validator.check_schema(schema)
        jsonschema.validate(plain(data.draw(values)), schema)
