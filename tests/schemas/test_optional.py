"""With the field's own libraries: pydantic, msgspec and attrs describe, rich draws."""

from __future__ import annotations

import datetime as dt
import decimal
import os
import pty
import re
from typing import Annotated, Any

import attrs
import jsonschema
import msgspec
import pydantic
import pytest
import rich
from typing_extensions import NotRequired, Required, TypeAliasType, TypedDict

from murli.formats import DescriptorStream, plain
from murli.formats.people import render, show
from murli.schemas.derive import schema_of


class Part(pydantic.BaseModel):
    """A part of something."""

    count: int = pydantic.Field(alias="howMany", ge=0)
    took: dt.timedelta
    price: decimal.Decimal
    data: bytes


class Tree(pydantic.BaseModel):
    part: Part
    spare: Part | None = None
    children: list[Tree] = []
    anything: Any = None

    @pydantic.field_serializer("anything", when_used="json")
    def as_text(self, value: Any) -> str:
        return str(value)

    @pydantic.computed_field  # type: ignore[prop-decorator]
    @property
    def size(self) -> int:
        return 1 + len(self.children)


class Aliased(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(serialize_by_alias=True)
    count: int = pydantic.Field(alias="howMany")


class Struct(msgspec.Struct, rename="camel", tag="struct"):
    long_name: Annotated[int, msgspec.Meta(description="how long")]
    took: dt.timedelta
    inner: Struct | None = None


@attrs.define
class Attributes:
    _private: int
    parts: list[Part]
    struct: Struct
    untyped: Any = attrs.field(default=3, type=None)


class Keys(TypedDict, total=False):
    always: Required[int]
    seldom: NotRequired[str]
    perhaps: bool


Json = TypeAliasType("Json", "dict[str, Json] | list[Json] | str | None")


PART = Part(howMany=2, took=dt.timedelta(minutes=1), price=decimal.Decimal("1E+5"), data=b"\xff")
STRUCT = Struct(1, dt.timedelta(1), Struct(2, dt.timedelta(0)))


@pytest.mark.parametrize(
    "value",
    [
        PART,
        Tree(part=PART, children=[Tree(part=PART, spare=PART, anything=[1])], anything={"a": 1}),
        Aliased(howMany=1),
        STRUCT,
        Attributes(1, [PART], STRUCT),
    ],
)
def test_schema_describes_what_is_written(value: object) -> None:
    """The schema of a model is that of what the encoder writes, down to names and units."""
    schema = schema_of(type(value))
    assert schema is not None
    jsonschema.Draft202012Validator.check_schema(schema)
    written = plain(value)
    jsonschema.validate(written, schema)
    target = schema["$defs"][schema["$ref"][8:]] if "$ref" in schema else schema
    assert set(target["required"]) <= set(written) == set(target["properties"])


def test_model_keeps_its_own_words() -> None:
    """A pydantic model's constraints and description are in its schema."""
    schema = schema_of(list[Part])
    assert schema is not None
    assert schema["items"]["description"] == "A part of something."
    assert schema["items"]["properties"]["count"]["minimum"] == 0
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate([{**plain(PART), "count": -1}], schema)


def test_models_share_definitions() -> None:
    """A model met directly and inside another is defined once."""
    schema = schema_of(tuple[Part, Tree, Attributes])
    assert schema is not None
    assert sorted(schema["$defs"]) == ["Part", "Struct", "Tree"]


def test_struct_description() -> None:
    """What msgspec's Meta says of a field is its description."""
    schema = schema_of(Struct)
    assert schema is not None
    described = schema["$defs"]["Struct"]["properties"]["long_name"]
    assert described == {"type": "integer", "description": "how long"}


def test_required_keys() -> None:
    """The keys of a TypedDict are required as its qualifiers say, in string annotations too."""
    schema = schema_of(Keys)
    assert schema is not None
    assert schema["required"] == ["always"]
    assert list(schema["properties"]) == ["always", "seldom", "perhaps"]


def test_recursive_alias() -> None:
    """A type alias is looked through, and one that cannot be resolved says nothing."""
    numbers = TypeAliasType("numbers", list[int])
    assert schema_of(numbers) == {"type": "array", "items": {"type": "integer"}}
    assert schema_of(Json) is None


def test_model_that_cannot_be_described() -> None:
    """A model with a field that has no schema is open there, and described elsewhere."""

    class Odd(pydantic.BaseModel):
        model_config = pydantic.ConfigDict(arbitrary_types_allowed=True)
        stream: DescriptorStream
        count: int

    schema = schema_of(Odd)
    assert schema is not None
    assert schema["properties"]["count"]["type"] == "integer"


def _on_a_terminal(value: Any) -> str:
    ours, theirs = pty.openpty()
    try:
        show(value, DescriptorStream(theirs))
        os.set_blocking(ours, False)
        return os.read(ours, 65536).decode().replace("\r\n", "\n")
    finally:
        os.close(ours)
        os.close(theirs)


@pytest.mark.parametrize(
    "value",
    [
        [{"id": 1, "title": "[red]Saw[/red] \x1b]0;x\x07", "done": True}, {"id": 20}],
        {"id": 1, "title": "[b]Saw \x1b[2J", "tags": ["a"], "owner": {"name": "Ada"}},
    ],
)
def test_rich_on_a_terminal(value: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal rich draws tables and fields, and markup in a value is only text."""
    assert rich.__file__
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.delenv("NO_COLOR", raising=False)
    drawn = _on_a_terminal(value)
    assert "\x1b[1m" in drawn
    assert "\x07" not in drawn
    assert "\x1b[2J" not in drawn
    bare = re.sub(r"\x1b\[[\d;]*m", "", drawn)
    assert bare != render(value) + "\n"
    assert all(len(line) <= 60 for line in bare.split("\n"))
    words = ["[red]Saw[/red]", "yes", "20"] if isinstance(value, list) else ["[b]Saw", "Ada"]
    assert all(word in bare for word in words)


@pytest.mark.parametrize("value", [[1, 2], "text", [], {}])
def test_plain_on_a_terminal(value: Any) -> None:
    """What is neither a table nor an object is plain text on a terminal too."""
    assert _on_a_terminal(value) == render(value) + "\n"
