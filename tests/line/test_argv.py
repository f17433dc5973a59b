"""The scanner takes our flags and nothing else."""

from __future__ import annotations

import argparse
from collections import Counter
from itertools import pairwise

from hypothesis import example, given
from hypothesis import strategies as st

from murli.adapters.argparse.levels import ParserLevel
from murli.core import SEPARATOR
from murli.line.command_line import CommandLine
from murli.line.flags import flags_in
from murli.line.scanning import flag_value, scan

OURS = list(flags_in())
VALUED = [name for name, flag in flags_in().items() if flag.takes_value]


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


@example(["-v", "describe"])
@given(st.lists(tokens, max_size=8))
def test_nothing_of_the_tools_is_lost(argv: list[str]) -> None:
    """What is left is the command line in its order, less flags of ours and their values."""
    call = scan(argv, ParserLevel(make()), ("describe",))
    left = iter(argv)
    assert all(word in left for word in call.rest), "no word was added or reordered"
    kept = [*call.before, *call.rest, *([call.mounted] if call.mounted else [])]
    removed = Counter(argv) - Counter(kept)
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


@given(st.lists(tokens, max_size=8))
def test_every_word_is_tokenised_once(argv: list[str]) -> None:
    """A thorough scan has each word of the command line in its place, ours marked as ours."""
    call = scan(argv, ParserLevel(make()), ("describe",), thorough=True)
    assert [word.text for word in call.words] == argv
    assert [word.position for word in call.words] == list(range(len(argv)))
    ours = {place for _, start, count in call.taken for place in range(start, start + count)}
    assert {word.position for word in call.words if word.owner == "ours"} == ours


@given(
    st.lists(tokens, max_size=8),
    st.sampled_from([{"--limit": "5", "--cursor": "c"}, {"--max-bytes": "0"}, {"--stream": None}]),
)
def test_an_edited_call_is_the_same_call(argv: list[str], flags: dict[str, str | None]) -> None:
    """With other flags of ours the tool gets the same words, and we get those flags."""
    call = scan(argv, ParserLevel(make()), ("describe",), thorough=True)
    words = CommandLine(call).with_flags(flags)
    if words is None or call.mistake is not None:
        return
    again = scan(words, ParserLevel(make()), ("describe",), thorough=True)
    assert again.mistake is None
    assert (again.mounted, again.level.path) == (call.mounted, call.level.path)
    left, before = ([w for w in each.rest if w != SEPARATOR] for each in (again, call))
    assert left == before
    assert {
        name: flag_value(again, again.flags[name].destination) or None for name in flags
    } == flags
