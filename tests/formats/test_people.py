"""Plain data for people: what it looks like, and what it never does to a terminal."""

from __future__ import annotations

import io
import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from murli.formats.people import render, show, table_lines
from properties import examples

TASKS = [
    {"id": 1, "title": "Saw", "done": True, "tags": ["a", "b"]},
    {"id": 20, "title": "Sand the table", "done": False, "owner": None},
]


def _wide(text: str) -> int:
    zero = ("Mn", "Me", "Cf")
    return sum(
        0
        if unicodedata.category(char) in zero and char != "\xad"
        else 1 + (unicodedata.east_asian_width(char) in "WF")
        for char in text
    )


def test_table() -> None:
    """A list of objects is a table in first-seen order, with numbers to the right."""
    assert render(TASKS).split("\n") == [
        "id  title           done  tags       owner",
        ' 1  Saw             yes   ["a","b"]',
        "20  Sand the table  no",
    ]


def test_object() -> None:
    """An object is aligned lines, with what is nested indented below its key."""
    value = {
        "id": 7,
        "title": "Saw",
        "note": "first\nsecond",
        "tags": ["a", "b"],
        "owner": {"name": "Ada", "mail": None},
        "none": [],
        "steps": [{"n": 1}, {"n": 10}],
    }
    assert render(value).split("\n") == [
        "id     7",
        "title  Saw",
        "note   first",
        "       second",
        "tags   a, b",
        "owner",
        "  name  Ada",
        "  mail",
        "none   (none)",
        "steps",
        "   n",
        "   1",
        "  10",
    ]


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        ("text\nmore", "text\nmore"),
        (3, "3"),
        (1.5, "1.5"),
        (True, "yes"),
        (False, "no"),
        (None, ""),
        ([], "(none)"),
        ({}, "(none)"),
        ([1, "a", None, True], "1\na\n\nyes"),
        ([{"a": 1}, 2], '{"a":1}\n2'),
        ([{}], "{}"),
        ([[1, 2], []], "[1,2]\n[]"),
    ],
)
def test_other_values(value: Any, wanted: str) -> None:
    """Scalars are their text, and lists without a common shape are one item per line."""
    assert render(value) == wanted


def test_long_list_of_scalars() -> None:
    """A list of scalars that does not fit beside its key goes below it, one per line."""
    words = ["word" * 3] * 9
    assert render({"words": words}).split("\n") == ["words"] + ["  " + words[0]] * 9


def test_wide_characters() -> None:
    """Characters that take two cells keep the columns aligned."""
    lines = render([{"a": "木工", "b": "x"}, {"a": "wood", "b": "y"}]).split("\n")
    assert lines == ["a     b", "木工  x", "wood  y"]


def test_line_breaks_in_a_table() -> None:
    """A text of several lines stays in its row."""
    assert render([{"a": "one\ntwo\tthree\u2028four", "b": 1}]).split("\n")[1:] == [
        "one two three four  1"
    ]


def test_long_cells() -> None:
    """The widest texts are shortened until the table fits, and short ones are left alone."""
    lines = render([{"id": 123456789, "a": "x" * 90, "b": "short"}], 40).split("\n")
    assert lines[1] == "123456789  " + "x" * 21 + "…  short"
    assert len(lines[1]) == 40


def test_numbers_are_never_shortened() -> None:
    """A number is shown whole, in blocks when a table has no room for it."""
    assert render([{"a": 10**30, "b": 1}, {"a": 2}], 20) == f"a  {10**30}\nb  1\n\na  2"


def test_too_many_columns() -> None:
    """A table that cannot fit becomes blocks of fields with a blank line between them."""
    row = {f"n{index}": "value-123" for index in range(9)}
    block = "\n".join(f"n{index}  value-123" for index in range(9))
    assert table_lines([row, row], 80) is None
    assert render([row, row]) == f"{block}\n\n{block}"


def test_terminal_control() -> None:
    """No escape, bell or direction override in a value or a key reaches the terminal."""
    hostile = "\x1b]0;title\x07\x1b[31mred\x9b2J\u202e\x07"
    for value in (hostile, [hostile], {hostile: hostile}, [{hostile: [hostile], "b": hostile}]):
        text = render(value)
        assert "red" in text
        assert not any(char in text for char in "\x1b\x07\x9b\u202e")


def test_deep_nesting() -> None:
    """Deep nesting turns to JSON before the indent eats the line."""
    value: Any = 1
    for _ in range(200):
        value = {"a": value}
    lines = render(value).split("\n")
    assert len(lines) < 40
    assert lines[-1].endswith("}")


def test_show_off_a_terminal() -> None:
    """A stream that is no terminal gets the plain text and one line break."""
    stream = io.StringIO()
    show(TASKS, stream)
    assert stream.getvalue() == render(TASKS) + "\n"


hostile_text = st.text(
    alphabet=st.one_of(
        st.characters(),
        st.characters(categories=["Cs"]),
        st.sampled_from("\0\x1b\x9b\r\n\x07\x7f\u202e\u2028\ufeff[]0;m\\木"),
    )
)
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    hostile_text,
)
plain_data = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(hostile_text, inner, max_size=4),
    max_leaves=20,
)


@examples(100)
@given(value=plain_data, columns=st.integers(0, 200))
def test_any_data(value: Any, columns: int) -> None:
    """Any plain data can be shown, and none of it puts a control character on the terminal."""
    text = render(value, columns)
    text.encode()
    assert not any(unicodedata.category(char) == "Cc" for char in text.replace("\n", ""))


@examples(100)
@given(
    rows=st.lists(
        st.dictionaries(hostile_text, plain_data, min_size=1, max_size=5), min_size=1, max_size=5
    ),
    columns=st.integers(1, 120),
)
def test_any_table(rows: list[dict[str, Any]], columns: int) -> None:
    """A table has one line per row and a header, and none is wider than the terminal."""
    lines = table_lines(rows, columns)
    if lines is None:
        return
    assert render(rows, columns) == "\n".join(lines)
    assert len(lines) == len(rows) + 1
    assert all("\n" not in line and _wide(line) <= columns for line in lines)
