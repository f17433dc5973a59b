"""What is encoded quickly is what the slow way writes, byte for byte, or is left to that."""

from __future__ import annotations

import dataclasses
import enum
import json
import math
import subprocess
import sys
from collections import OrderedDict, namedtuple
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import run, script
from murli.errors import EncodingError
from murli.formats import _write_json, quick
from murli.formats.plainer import Plainer
from properties import examples

pytestmark = pytest.mark.warm

pytest.importorskip("_json")

# Control characters, escapes of terminals, directions, half a surrogate pair, and plain letters.
TEXTS = st.text(
    st.sampled_from(
        'ab"\\/ \n\r\t\0\x07\x1b[m\x7f\x85\x90\x9b\x9cé漢\u200b\u202e\u2067\ud800\U0001f600'
    )
)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | TEXTS
VALUES = st.recursive(
    SCALARS, lambda each: st.lists(each) | st.dictionaries(TEXTS, each), max_leaves=30
)
CLEAN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(categories=("L", "N", "P", "S"))),
    lambda each: st.lists(each) | st.dictionaries(st.text('abc"\\é'), each),
    max_leaves=40,
)
ENGINES = [
    pytest.param(name, id=name)
    for name in ("_encoded_in_c", "_encoded_by_orjson")
    if name == "_encoded_in_c" or quick._encoded is quick._encoded_by_orjson
]


def slow(value: Any, *, pretty: bool = False) -> str | None:
    """Return what the writer in Python makes of *value*; ``None`` where it refuses."""
    parts: list[str] = []
    try:
        _write_json(Plainer("result").convert(value, 0), parts.append, "\n" if pretty else "")
    except (EncodingError, RecursionError):
        return None
    return "".join(parts)


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    name: str = request.param
    monkeypatch.setattr(quick, "_encoded", getattr(quick, name))
    return name


@pytest.mark.parametrize("name", ENGINES)
@examples(150)
@given(value=VALUES)
def test_whatever_is_encoded_quickly_is_what_the_slow_way_writes(name: str, value: Any) -> None:
    """Text with escapes, numbers of any size and nested values come out byte for byte alike."""
    encoded = getattr(quick, name)(value)
    if encoded is not None and quick._is_clean(encoded):
        assert encoded == slow(value)


@pytest.mark.parametrize("name", ENGINES)
@examples(100)
@given(value=CLEAN)
def test_clean_data_is_encoded_quickly(name: str, value: Any) -> None:
    """Data that needs no cleaning takes the quick way, and comes out as the slow one writes it."""
    encoded = getattr(quick, name)(value)
    assert encoded is not None
    assert encoded == slow(value)


@examples(150)
@given(value=CLEAN)
def test_pretty_documents_are_written_quickly_as_the_slow_way_writes_them(value: Any) -> None:
    """Rows, nested lists and empty objects have the same lines and margins."""
    document = {"status": "ok", "result": value, "rows": [{"a": value}, {"b": 1, "c": "x"}]}
    assert quick.dumps(document, pretty=True) == slow(document, pretty=True)
    assert quick.dumps(document, pretty=False) == slow(document)


class Colour(enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    HIGH = 3


class Word(str):
    __slots__ = ()


@dataclasses.dataclass
class Row:
    id: int


Point = namedtuple("Point", "x y")
LOOP: list[Any] = []
LOOP.append({"again": LOOP, "once more": LOOP})


def nested(depth: int) -> Any:
    value: Any = 1
    for number in range(depth):
        value = [value] if number % 2 else {"deeper": value}
    return value


@pytest.mark.parametrize(
    "value",
    [
        {"a": math.nan},
        {"a": [math.inf]},
        {"a": -math.inf},
        {"a": 10**5000},
        {"a": (1, 2)},
        {"a": Point(1, 2)},
        {"a": Colour.RED},
        {"a": Level.HIGH},
        {"a": Word("x")},
        {Word("a"): 1},
        {"a": OrderedDict(b=1)},
        {"a": Row(1)},
        {"a": b"x"},
        {1: "a"},
        {"a": {None: 1}},
        {"a": {1, 2}},
        {"a": "\x1b[31mred"},
        {"a": "one\r\ntwo"},
        {"a": "\0"},
        {"\x9bm": 1},
        {"a": "\u202eback"},
        {"a": "\ud800"},
        LOOP,
        nested(242),
    ],
)
def test_what_is_not_plain_as_it_stands_is_left_to_the_slow_way(engine: str, value: Any) -> None:
    """Derived types, odd keys, unclean text, cycles, NaN and too many digits or levels."""
    assert quick.one_line(value) is None


@pytest.mark.parametrize(
    "number",
    [0.0, -0.0, 1e16, 1e-5, 1.5e300, 5e-324, 123456789.125, 0.1, 1e15, 1e-4, 2**64, -(2**70)],
)
def test_numbers_are_spelled_as_python_spells_them(engine: str, number: float) -> None:
    """Exponents, negative zero and integers of more than 64 bits look the same from each engine."""
    assert quick.one_line({"a": [number]}) == f'{{"a":[{number!r}]}}'


def test_the_deepest_value_that_is_allowed_is_encoded_quickly(engine: str) -> None:
    """The quick way has the limit of the slow one."""
    value = nested(241)
    assert quick.one_line(value) == slow(value)
    assert slow(value) is not None


ROWS = """
import json, sys
if "--slow" in sys.argv:
    sys.argv.remove("--slow")
    import murli.formats.quick as quick
    quick._encoded = lambda value: None
    quick.dumps = lambda data, *, pretty: None
    quick.with_rows = lambda value: value
if "--no-orjson" in sys.argv:
    sys.argv.remove("--no-orjson")
    sys.modules["orjson"] = None
import click, murli, dataclasses, pydantic, attrs
from datetime import date
from pathlib import Path

@dataclasses.dataclass
class Data:
    id: int
    name: str
    when: date

class Model(pydantic.BaseModel):
    id: int
    name: str
    when: date = date(2026, 1, 2)
    inner: list[Path] = []

@attrs.define
class Single:
    name: str

@click.command()
@click.argument("kind")
def tool(kind):
    plain = [{"id": n, "name": f"item {n}", "of": {"deep": [n / 7]}} for n in range(200)]
    if kind == "rows":
        return plain
    if kind == "flat":
        return {"items": [{"id": n, "name": None} for n in range(200)], "none": [], "no": {}}
    if kind == "unclean":
        return [*plain, {"id": 1, "name": "\\x1b[31mred\\r\\n"}]
    if kind == "data":
        return [Data(n, f"item {n}", date(2026, 1, 1 + n % 9)) for n in range(200)]
    if kind == "models":
        return {"models": [Model(id=n, name="x", inner=["/tmp"]) for n in range(200)]}
    if kind == "single":
        return [Single(f"item {n}") for n in range(200)]
    if kind == "mixed":
        return [Data(1, "a", date(2026, 1, 1)), Model(id=2, name="b")] * 50
    if kind == "printed":
        print(json.dumps(plain))
    if kind == "words":
        print(json.dumps({"text": ["\\x1b[1m \\u202e" + str(n) for n in range(200)]}))
murli.enable(tool)
tool()
"""
KINDS = ("rows", "flat", "unclean", "data", "models", "single", "mixed", "printed", "words")


# Line by line, what is in a row matters less; the long run tries all.
FORMS = [
    *((kind, "json") for kind in KINDS),
    *((kind, "ndjson") for kind in ("rows", "unclean", "models")),
    *(
        pytest.param(kind, "ndjson", marks=pytest.mark.slow)
        for kind in KINDS
        if kind not in ("rows", "unclean", "models")
    ),
]


@pytest.mark.parametrize(("kind", "form"), FORMS)
def test_a_large_answer_is_the_same_however_it_is_encoded(
    tmp_path: Any, kind: str, form: str
) -> None:
    """Rows, models, dataclasses and printed JSON: the quick way, orjson and the slow way agree."""
    argv = [*script(tmp_path, ROWS), kind, "--output", form]
    answers = {run([*argv, *more]).out for more in ((), ("--slow",), ("--no-orjson",))}
    assert len(answers) == 1
    document = json.loads(answers.pop())
    assert document["status"] == "ok"
    assert document["result"]


def test_no_accelerator_is_loaded_for_a_small_answer(tmp_path: Any) -> None:
    """A tool that answers with little loads neither orjson nor the encoder of Python."""
    tool = (
        "import argparse, sys, murli\n"
        "parser = argparse.ArgumentParser()\n"
        "murli.enable(parser)\n"
        "args, writer = murli.parse(parser)\n"
        "writer.write_success('', {'hello': ['world']})\n"
        "print({'orjson', '_json', 'murli.formats.quick'} & set(sys.modules), file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, *script(tmp_path, tool)[1:]], capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout)["result"] == {"hello": ["world"]}
    assert done.stderr.strip() == "set()"


CHANGING = """
import argparse, sys, murli
parser = argparse.ArgumentParser()
murli.enable(parser)
args, writer = murli.parse(parser)
row = {f"field {n}": n for n in range(100)}
writer.write_event(row)
row["field 0"] = "\\x1b[31mchanged"
writer.write_event(row)
row["field 0"] = "once more"
try:
    writer.write_success("", {"rows": row, "odd": object()})
except ValueError:
    pass
row["field 0"] = "at last"
writer.write_success("", row)
"""


def test_what_changes_between_two_answers_is_written_as_it_is_now(tmp_path: Any) -> None:
    """An object that is written several times is encoded anew each time."""
    lines = [json.loads(line) for line in run(script(tmp_path, CHANGING)).out.splitlines()]
    found = [line.get("result", line)["field 0"] for line in lines]
    assert found == [0, "changed", "at last"]


OWN_CODE = """
import argparse, enum, sys, murli
if sys.argv.pop() == "json":
    sys.modules["orjson"] = None
class Once(dict):
    def __init__(self):
        super().__init__(a=0)
        self.left = iter([("k", 1)])
    def items(self):
        return self.left
class Leaving(dict):
    def items(self):
        raise SystemExit(5)
class Named(enum.Enum):
    ONE = 1
    @property
    def value(self):
        print("asked", file=sys.stderr)
        return "one"
parser = argparse.ArgumentParser()
murli.enable(parser)
args, writer = murli.parse(parser)
writer.write_event({"row": Once()})
writer.write_event({"name": Named.ONE})
try:
    writer.write_event({"row": Leaving(a=1)})
except ValueError as error:
    print(type(error).__name__, file=sys.stderr)
writer.write_success("", {"numbers": list(range(40)), "row": Once()})
"""


@pytest.mark.parametrize("encoder", ["json", "orjson"])
def test_the_code_of_a_tools_types_runs_once(tmp_path: Any, encoder: str) -> None:
    """A record whose fields can be read once is written whole, and nothing of its own escapes."""
    done = run(script(tmp_path, OWN_CODE), encoder)
    lines = [json.loads(line) for line in done.out.splitlines()]
    assert lines[:2] == [{"row": {"k": 1}}, {"name": "one"}]
    assert lines[-1]["result"]["row"] == {"k": 1}
    assert done.err.split() == ["asked", "EncodingError"]


def test_what_contains_itself_many_times_is_refused_at_once(engine: str) -> None:
    """Neither the number of ways to a container nor its depth is a reason to look at it again."""
    wide: list[Any] = []
    wide += [wide, {"wide": wide}] * 50
    assert quick.one_line(wide) is None
