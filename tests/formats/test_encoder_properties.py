"""Any payload, however hostile, gives exactly one valid document."""

from __future__ import annotations

import contextlib
import io
import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import murli
from properties import examples

CONTRACTS = ["murli", "response", "agent-spec-1.6", "agent-spec-2"]

hostile_text = st.text(
    alphabet=st.one_of(
        st.characters(),
        st.characters(categories=["Cs"]),
        st.sampled_from("\0\x1b\x9b\r\n\x07\x7f\u202e\u2028\ufeff[]0;m\\"),
    )
)
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(min_value=10**4000, max_value=10**4500),
    st.floats(),
    hostile_text,
    st.binary(max_size=20),
    st.decimals(),
    st.uuids(),
    st.datetimes(),
    st.complex_numbers(),
    st.builds(object),
)
keys = st.one_of(hostile_text, st.integers(), st.booleans(), st.none(), st.floats(), st.binary())


def _nested(children: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(
        st.lists(children, max_size=4),
        st.tuples(children, children),
        st.dictionaries(keys, children, max_size=4),
        children.map(_in_itself),
        st.tuples(children, st.integers(200, 400)).map(_buried),
    )


def _in_itself(value: Any) -> list[Any]:
    loop = [value]
    loop.append(loop)
    return loop


def _buried(what: tuple[Any, int]) -> Any:
    value, levels = what
    for _ in range(levels):
        value = [value]
    return value


payloads = st.recursive(scalars, _nested, max_leaves=12)


def _strict(text: str) -> Any:
    def refuse(name: str) -> None:
        raise AssertionError(f"{name} is not JSON")

    return json.loads(text, parse_constant=refuse)


@examples(120)
@given(payload=payloads, message=hostile_text, contract=st.sampled_from(CONTRACTS))
def test_one_document(payload: Any, message: str, contract: str) -> None:
    """Any payload gives one valid document, or is refused and gives one valid error document."""
    import argparse

    parser = argparse.ArgumentParser(prog="t")
    murli.enable(parser, contract=contract)  # type: ignore[arg-type]
    out, err, code = io.StringIO(), io.StringIO(), 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            with murli.session(parser, []) as (_, writer):
                writer.write_success(message, payload)
        except SystemExit as end:
            code = int(str(end.code))
    texts = [stream.getvalue() for stream in (out, err) if stream.getvalue()]
    assert len(texts) == 1, "exactly one document"
    assert "\x1b" not in texts[0]
    texts[0].encode()
    document = _strict(texts[0])
    succeeded = document["status"] == "ok" if contract == "murli" else document["ok"]
    assert succeeded == (code == 0)
    assert texts[0].endswith("}\n")
    assert (texts[0] == err.getvalue()) == (contract == "murli" and code != 0)


@examples(80)
@given(
    payload=st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.text("abc")
        | st.floats(allow_nan=False, allow_infinity=False),
        lambda c: st.lists(c) | st.dictionaries(st.text("abc"), c),
    )
)
def test_plain_json_comes_back_unchanged(payload: Any) -> None:
    """What JSON can say is read back as it was, from both layouts."""
    from murli.formats import dumps, plain

    for pretty in (True, False):
        text = dumps(plain(payload), pretty=pretty)
        assert json.loads(text) == payload
        assert text == dumps(plain(payload), pretty=pretty), "the bytes are stable"


@given(text=hostile_text)
def test_cleaning_is_final(text: str) -> None:
    """Cleaning clean text changes nothing, and clean text is Unicode without escapes."""
    from murli.formats.text import clean

    once = clean(text)
    assert clean(once) == once
    assert not set(once) & set("\x1b\x9b\r\0")
    once.encode()


@given(value=st.floats())
def test_numbers_are_numbers_or_refused(value: float) -> None:
    """A float is written exactly or refused, never changed."""
    from murli.formats import dumps, plain

    if math.isfinite(value):
        assert float(dumps(plain(value))) == value
    else:
        with pytest.raises(murli.EncodingError):
            plain(value)
