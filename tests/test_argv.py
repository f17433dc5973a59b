"""The scanner takes our flags and nothing else."""

from __future__ import annotations

import argparse
from collections import Counter
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from murli.adapters.argparse_levels import ParserLevel
from murli.runtime import SWITCHES, VALUED
from murli.runtime.argv import scan

OURS = [*SWITCHES, *VALUED]


def make() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser()
    parser.add_argument("--env")
    parser.add_argument("-v", action="count")
    commands = parser.add_subparsers()
    leaf = commands.add_parser("leaf")
    leaf.add_argument("--output")
    leaf.add_argument("--force", action="store_true")
    leaf.add_argument("words", nargs="*")
    commands.add_parser("run").add_argument("program", nargs=argparse.REMAINDER)
    return parser


tokens = st.one_of(
    st.sampled_from([*OURS, "--", "-", "", "-v", "--env", "leaf", "run", "describe", "x", "--x=1"]),
    st.sampled_from(OURS).map(lambda flag: f"{flag}=json"),
    st.text(max_size=5),
)


@given(st.lists(tokens, max_size=8))
def test_nothing_of_the_tools_is_lost(argv: list[str]) -> None:
    """What is left is the command line in its order, less flags of ours and their values."""
    call = scan(argv, ParserLevel(make()), ("describe",))
    left = iter(argv)
    assert all(word in left for word in call.rest), "no word was added or reordered"
    removed = Counter(argv) - Counter([*call.rest, *([call.mounted] if call.mounted else [])])
    values = {value for flag, value in pairwise(argv) if flag in VALUED}
    for word in removed:
        assert word.partition("=")[0] in OURS or word in values, word


@given(st.lists(tokens, max_size=6), st.lists(tokens, max_size=6))
def test_behind_two_dashes_everything_is_the_tools(before: list[str], behind: list[str]) -> None:
    """Whatever follows the first -- is left as it is."""
    head = [word for word in before if word != "--"]
    call = scan([*head, "--", *behind], ParserLevel(make()))
    assert call.rest[-len(behind) - 1 :] == ["--", *behind] or _swallowed(head)


def _swallowed(head: list[str]) -> bool:
    # `run` passes everything on, the -- included.
    return "run" in head


@given(st.lists(st.sampled_from(["a", "b", "-v", "--env", "c"]), max_size=6))
def test_a_line_without_our_flags_is_untouched(argv: list[str]) -> None:
    """A command line that has none of our flags reaches the tool as it was."""
    assert scan(argv, ParserLevel(make()), ("describe",)).rest == argv


def test_the_last_value_wins_and_switches_add_up() -> None:
    """Given twice, the later value counts; a switch given anywhere is on."""
    call = scan(["--output", "json", "--agent", "x", "--output=text", "--yes"], ParserLevel(make()))
    assert (call.output, call.agent, call.force, call.rest) == ("text", True, True, ["x"])


def test_a_flag_is_no_value() -> None:
    """A flag that follows a flag which needs a value is not taken for it."""
    call = scan(["--output", "--agent"], ParserLevel(make()))
    assert call.agent
    assert call.mistake is not None
    assert call.mistake.message == "Option --output needs a value."
