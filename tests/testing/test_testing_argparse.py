"""The test kit runs programs that parse with argparse, in all their forms."""

from __future__ import annotations

import sys

import pytest

import murli
from adding import _parser, _that_has_a_session, _that_has_a_writer, _that_prints
from murli.testing import (
    Missing,
    run,
)


def test_the_rest_of_a_program_is_its_handler() -> None:
    """A program that calls its own parse_args is answered for when its main function ends."""
    assert run(_that_prints, "1", "2").data == "3"
    failed = run(_that_prints, "-5", "1")
    assert (failed.exit_code, failed.document["code"], failed.document["result"]) == (3, 3, "-4")
    wrong = run(_that_prints, "one")
    assert (wrong.exit_code, wrong.error.field) == (1, "numbers")
    assert run(_that_prints, "1", "2", mode="person").stdout == "3\n"


def test_a_program_with_a_writer_is_run() -> None:
    """murli.parse and murli.session answer as they do in a process, and so does what they raise."""
    for main in (_that_has_a_writer, _that_has_a_session):
        assert run(main, "1", "2").data == {"sum": 3}
        assert run(main, "x", contract="response").error.kind == "user_error"
    missing = run(_that_has_a_writer, "0")
    assert missing.error.kind == "not_found"
    assert isinstance(missing.exception, murli.AgentError)
    assert run(_that_has_a_writer, "0", mode="person").stderr == "Error: There is no nought.\n"


def test_a_parser_alone_only_parses() -> None:
    """Of a parser there is what it says itself: usage errors, its schema, an empty result."""
    assert run(_parser(), "one").error.field == "numbers"
    assert run(_parser(), "--schema").document["name"] == "add"
    assert run(_parser(), "1").data is None


def test_a_program_without_murli_is_run() -> None:
    """A program that is not enabled gives its text and its status; asking for a document fails."""

    def plain() -> None:
        print("hello")
        sys.exit("goodbye")

    result = run(plain)
    assert (result.stdout, result.stderr, result.exit_code) == ("hello\n", "goodbye\n", 1)
    with pytest.raises(Missing, match=r"(?s)There is no document.*stdout: hello"):
        _ = result.document
    with pytest.raises(TypeError, match=r"the words that start one, not builtins\.int"):
        run(3)
