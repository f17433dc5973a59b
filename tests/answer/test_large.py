"""Much printed text, which is written piece by piece, stands in its document as any text does."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import run, script
from murli.answer import large
from murli.formats import _write_json, cleaned
from properties import examples

pytestmark = pytest.mark.warm

TEXTS = st.text(st.sampled_from('ab,"\\/ \n\t\x01\x1f\x7f\x80\x9bé漢\u202e\U0001f600'))


def in_json(text: str) -> str:
    parts: list[str] = []
    _write_json(text, parts.append, "")
    return "".join(parts)[1:-1]


@pytest.mark.parametrize("between", ["\\n", '",\n      "'])
@examples(200)
@given(text=TEXTS | st.text(st.characters(max_codepoint=127, exclude_characters="\r")))
def test_a_piece_of_text_is_written_as_the_encoder_writes_it(between: str, text: str) -> None:
    """Quotes, backslashes, control characters and letters beyond ASCII, in lines or as a text."""
    piece = large._text([text.encode()])
    expected = between.join(in_json(cleaned(line)) for line in text.split("\n"))
    assert large._in_json(piece, between) == expected.encode()


@examples(200)
@given(pieces=st.lists(st.text(st.sampled_from("a\né"), min_size=1)))
def test_only_the_line_ends_behind_the_last_line_are_left_out(pieces: list[str]) -> None:
    """Line feeds at the end of a piece are kept if text follows in another one."""
    for keeps_end in (False, True):
        taken = (large._text([each.encode()]) for each in pieces)
        parts = large._trimmed(taken, keeps_end=keeps_end)
        found = b"".join(large._in_json(part, "\n") for part in parts).decode()
        whole = "".join(pieces)
        assert found == (whole if keeps_end else whole.rstrip("\n"))


TOOL = """
import argparse, sys, murli
parser = argparse.ArgumentParser()
parser.add_argument("kind")
murli.enable(parser)
args = parser.parse_args()
odd = {"plain": "x", "quoted": 'say "hello"\\\\n\\tand go on', "foreign": "Grüße, 漢字"}[args.kind]
for n in range(120_000):
    print(f"{n} of many lines that a tool prints here: {odd if n % 50_000 == 7 else 'usual'}")
print("the last one", end="\\n\\n\\n")
"""


@pytest.mark.parametrize("form", ["json", "ndjson"])
@pytest.mark.parametrize("kind", ["plain", "quoted", "foreign"])
def test_much_text_is_a_document_of_its_lines(tmp_path: Path, kind: str, form: str) -> None:
    """Lines that need no escape and lines that do are in one document, in their order."""
    done = run(script(tmp_path, TOOL), kind, "--output", form)
    lines = json.loads(done.out)["result"]["lines"]
    odd = {"plain": "x", "quoted": 'say "hello"\\n\tand go on', "foreign": "Grüße, 漢字"}[kind]
    assert len(lines) == 120_001
    assert lines[7] == f"7 of many lines that a tool prints here: {odd}"
    assert lines[100_007] == f"100007 of many lines that a tool prints here: {odd}"
    assert lines[8] == "8 of many lines that a tool prints here: usual"
    assert lines[-1] == "the last one"
