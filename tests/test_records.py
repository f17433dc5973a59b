"""Records: immutable values whose fields are written once."""

from __future__ import annotations

import copy
import inspect
import pickle
from typing import TYPE_CHECKING, Any

import pytest

from murli.outcome import Record, field, fill

if TYPE_CHECKING:
    from collections.abc import Sequence
    from dataclasses import KW_ONLY

    from murli.type_checking import Given, Several


def _doubled(pair: Pair) -> int:
    return pair.left * 2


class Pair(Record):
    left: int
    right: int = 0
    names: Several[str] = field(default=(), convert=tuple)
    _: KW_ONLY
    doubled: Given[int | None, int] = field(default=None, read=_doubled)
    note: str = ""
    given: frozenset[str] = field(init=False)

    is_pair = True

    def _check(self, given: dict[str, Any]) -> None:
        if given.get("doubled") is not None:
            fill(self, left=given["doubled"] // 2)
        if self.right < 0:
            raise ValueError("right is 0 or more")
        fill(self, given=frozenset(given))


class Triple(Pair):
    third: int = 3


def test_fields_are_what_is_annotated() -> None:
    """Fields take positions, keywords and defaults; what has no annotation is no field."""
    pair = Pair(1, names=["a"])
    assert (pair.left, pair.right, pair.names, pair.note) == (1, 0, ("a",), "")
    assert pair.given == {"left", "names"}
    shown = "Pair(left=1, right=0, names=('a',), note='', given=frozenset("
    assert repr(pair).startswith(shown)
    assert pair.is_pair


def test_an_argument_that_is_not_stored_is_read_from_the_others() -> None:
    """A field with `read` is an argument for the check and a property of the record."""
    assert Pair(4).doubled == 8
    assert Pair(0, doubled=6).left == 3
    assert "doubled" not in repr(Pair(4))


def test_a_subclass_adds_fields_behind_the_others() -> None:
    """What a record inherits comes first, and is checked as before."""
    assert Triple(1, 2, (), 4).third == 4
    assert Triple(1).third == 3
    with pytest.raises(ValueError, match="0 or more"):
        Triple(1, -2)


def test_a_record_is_a_value() -> None:
    """Records compare, copy and pickle by their fields, and cannot be changed."""
    pair = Pair(1, 2)
    for copied in (copy.copy(pair), copy.deepcopy(pair), pickle.loads(pickle.dumps(pair))):
        assert copied == pair
    assert pair != Pair(1, 3)
    assert pair != (1, 2)
    assert pair.replace(right=3).right == 3
    with pytest.raises(AttributeError, match=r"use replace\(left=\.\.\.\)"):
        pair.left = 2  # type: ignore[misc]
    with pytest.raises(TypeError, match="has no middle"):
        pair.replace(middle=1)


@pytest.mark.parametrize(
    ("args", "named", "message"),
    [
        ((), {}, r"Pair\(\) missing required argument: 'left'"),
        ((1,), {"rihgt": 2}, r"unexpected keyword argument 'rihgt'; did you mean 'right'\?"),
        ((1,), {"zebra": 2}, r"unexpected keyword argument 'zebra'$"),
        ((1,), {"left": 2}, r"multiple values for argument 'left'"),
        ((1, 2, (), 4), {}, r"takes at most 3 positional arguments, got 4"),
        ((1,), {"given": ()}, r"unexpected keyword argument 'given'"),
    ],
)
def test_wrong_arguments_are_named(
    args: Sequence[Any], named: dict[str, Any], message: str
) -> None:
    """Arguments a record does not take, or lacks, are a TypeError that names them."""
    with pytest.raises(TypeError, match=message):
        Pair(*args, **named)


def test_the_signature_is_that_of_the_fields() -> None:
    """`help` and consoles see the parameters, not ``*args``."""
    assert str(inspect.signature(Pair)) == "(left, right=0, names=(), *, doubled=None, note='')"
