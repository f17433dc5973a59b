"""Failures by name: what each constructor means, and what an exception becomes."""

from __future__ import annotations

import asyncio
import concurrent.futures
import copy
import pickle
import subprocess
from typing import Any

import pytest

import murli
from murli.errors import KINDS
from murli.failures.exceptions import as_agent_error


def test_exit_constants_are_zero_to_nine() -> None:
    """The ten EXIT constants have the values 0 to 9."""
    names = "OK USER_ERROR TOOL_ERROR PARTIAL TIMEOUT NOT_FOUND PERMISSION CONFLICT RATE_LIMITED"
    constants = [getattr(murli, f"EXIT_{name}") for name in [*names.split(), "CANCELLED"]]
    assert constants == list(range(10))


@pytest.mark.parametrize(
    ("error", "code", "error_type", "recoverable"),
    [
        (murli.AgentError.user_error("m", "s"), 1, "user_error", True),
        (murli.AgentError.user_error("m"), 1, "user_error", True),
        (murli.AgentError.tool_error("m"), 2, "tool_error", False),
        (murli.AgentError.partial("m"), 3, "partial", True),
        (murli.AgentError.timeout("m"), 4, "timeout", True),
        (murli.AgentError.not_found("m"), 5, "not_found", False),
        (murli.AgentError.not_found("m", "s"), 5, "not_found", True),
        (murli.AgentError.not_found("m", "s", recoverable=False), 5, "not_found", False),
        (murli.AgentError.permission_denied("m"), 6, "permission_denied", False),
        (murli.AgentError.auth_required(), 6, "auth_required", False),
        (murli.AgentError.payment_required(), 6, "payment_required", False),
        (murli.AgentError.conflict("m"), 7, "conflict", False),
        (murli.AgentError.conflict_error("m", "s"), 7, "conflict", False),
        (murli.AgentError.rate_limited("m", retry_after_ms=5), 8, "rate_limited", True),
        (murli.AgentError.cancelled(), 9, "cancelled", False),
        (murli.AgentError.precondition("m"), 1, "precondition", True),
        (murli.AgentError.unavailable("m"), 2, "unavailable", True),
        (murli.AgentError.redirected("m", "tool b"), 1, "redirected", True),
        (murli.AgentError.incomplete("m"), 3, "incomplete", True),
    ],
)
def test_constructors(
    error: murli.AgentError, code: int, error_type: str, recoverable: bool
) -> None:
    """Each constructor gives its murli code, its category and whether trying again helps."""
    assert (error.code, error.error_type, error.recoverable) == (code, error_type, recoverable)


@pytest.mark.parametrize("kind", sorted(set(KINDS) - {"redirected"}))
def test_every_constructor_takes_every_keyword(kind: str) -> None:
    """Every constructor passes suggestion, field, valid_values, doc_url and recoverable on."""
    error = getattr(murli.AgentError, kind)(
        "m",
        suggestion="s",
        field="f",
        valid_values=["a", 1],
        doc_url="https://example.com",
        recoverable=True,
        error_type="own",
    )
    assert (error.suggestion, error.field, error.valid_values) == ("s", "f", ["a", "1"])
    assert (error.doc_url, error.recoverable, error.error_type) == (
        "https://example.com",
        True,
        "own",
    )


def test_an_error_is_an_exception_that_reads_as_its_message() -> None:
    """An AgentError can be raised, and reads as its message."""
    with pytest.raises(murli.AgentError, match=r"^no such task$"):
        raise murli.AgentError(code=5, error_type="task_missing", message="no such task")


@pytest.mark.parametrize("code", [0, -1, 256])
def test_an_error_cannot_mean_success(code: int) -> None:
    """An exit code that is no failure is refused."""
    with pytest.raises(ValueError, match="1 to 255"):
        murli.AgentError(code, "x", "m")


def test_a_wrong_reason_is_refused() -> None:
    """A reason outside the contract's list is the author's mistake, told at once."""
    with pytest.raises(ValueError, match="missing, invalid, expired"):
        murli.AgentError.auth_required(reason="lost")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="renamed"):
        murli.AgentError.redirected("m", "tool b", reason="moved")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="exact command"):
        murli.AgentError.redirected("m", "")


@pytest.mark.parametrize("rebuild", [copy.copy, lambda error: pickle.loads(pickle.dumps(error))])
def test_an_error_survives_copy_and_pickle(rebuild: Any) -> None:
    """An error crosses process boundaries with all its fields."""
    error = murli.AgentError.not_found("m", "s", field="f", context={"a": 1})
    assert vars(rebuild(error)) == vars(error)
    assert str(rebuild(error)) == "m"


@pytest.mark.parametrize(
    ("error", "kind", "message"),
    [
        (KeyboardInterrupt(), "cancelled", "The command was cancelled."),
        (asyncio.CancelledError(), "cancelled", "The command was cancelled."),
        (concurrent.futures.CancelledError(), "cancelled", "The command was cancelled."),
        (TimeoutError("too slow"), "timeout", "too slow"),
        (asyncio.TimeoutError("too slow"), "timeout", "too slow"),
        (concurrent.futures.TimeoutError(), "timeout", "TimeoutError"),
        (
            subprocess.TimeoutExpired("make", 3),
            "timeout",
            "Command 'make' timed out after 3 seconds",
        ),
        (FileNotFoundError(2, "No such file", "x"), "not_found", "No such file: 'x'"),
        (PermissionError(13, "Denied", "x"), "permission_denied", "Denied: 'x'"),
        (FileExistsError(17, "Exists", "x", None, "y"), "conflict", "Exists: 'x' -> 'y'"),
        (ConnectionRefusedError(111, "Refused"), "unavailable", "Refused"),
    ],
)
def test_ordinary_exceptions_have_a_kind(error: BaseException, kind: str, message: str) -> None:
    """What Python raises for well-known reasons becomes the failure that means the same."""
    found = as_agent_error(error)
    assert (found.kind, found.message) == (kind, message)


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (ValueError("boom"), "boom"),
        (KeyError("x"), "KeyError: 'x'"),
        (RuntimeError(), "RuntimeError"),
    ],
)
def test_other_exceptions_are_execution_errors(error: Exception, message: str) -> None:
    """Any other exception is an execution_error with code 2 that trying again does not help."""
    found = as_agent_error(error)
    assert (found.code, found.error_type, found.recoverable) == (2, "execution_error", False)
    assert found.message == message


def _raised(outer: BaseException, cause: BaseException | None, context: BaseException) -> Any:
    try:
        try:
            raise context
        except BaseException:
            raise outer from cause
    except BaseException as error:
        return error


def test_causes_are_followed() -> None:
    """A timeout, a cancellation or an AgentError deep in the chain says what happened."""
    inner = TimeoutError("slow")
    middle = RuntimeError("middle")
    middle.__cause__ = inner
    assert as_agent_error(_raised(RuntimeError("outer"), middle, ValueError())).kind == "timeout"
    own = murli.AgentError.conflict("c")
    assert as_agent_error(_raised(RuntimeError(), own, ValueError())) is own


def test_the_outer_text_is_kept() -> None:
    """The message is the one of the exception that reached us, not of its cause."""
    error = _raised(RuntimeError("upload failed"), TimeoutError("slow"), ValueError())
    assert as_agent_error(error).message == "upload failed"


def test_a_context_counts_unless_it_is_suppressed() -> None:
    """An implicit timeout counts; `from None` hides it."""
    error = RuntimeError("outer")
    error.__context__ = TimeoutError()
    assert as_agent_error(error).kind == "timeout"
    error.__suppress_context__ = True
    assert as_agent_error(error).kind == "tool_error"


def test_a_bug_while_handling_a_missing_file_is_not_a_missing_file() -> None:
    """An ordinary exception only speaks for what was deliberately raised from it."""
    error = ValueError("bug")
    error.__context__ = FileNotFoundError(2, "No such file", "cache")
    assert as_agent_error(error).error_type == "execution_error"
    error.__cause__ = FileNotFoundError(2, "No such file", "config")
    assert as_agent_error(error).kind == "not_found"


def test_a_chain_that_bites_its_tail_ends() -> None:
    """A cycle of causes does not hang."""
    one, two = ValueError("one"), ValueError("two")
    one.__cause__, two.__cause__ = two, one
    assert as_agent_error(one).message == "one"


def test_an_exception_that_cannot_be_shown_is_named() -> None:
    """An exception whose text raises is told by its class."""

    class Mute(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no words")

    assert as_agent_error(Mute()).message == "Mute"


def test_what_exists_already_is_a_conflict_that_shows_it() -> None:
    """already_exists carries what is there; it may be all the caller wanted."""
    error = murli.AgentError.already_exists(
        "The bucket exists.", {"id": 7}, context={"region": "eu"}
    )
    assert (error.kind, error.error_type, error.code) == ("conflict", "already_exists", 7)
    assert error.context == {"region": "eu", "existing": {"id": 7}}
    plain = murli.AgentError.already_exists("It exists.", suggestion="Choose another name.")
    assert (plain.context, plain.suggestion) == ({}, "Choose another name.")


@pytest.mark.parametrize("command", ["tool use <name>", "a > b", "a $HOME", "a\nb", "a\rb"])
def test_a_fix_command_is_complete(command: str) -> None:
    """A command that is to be run as it stands has nothing to fill in, and needs no shell."""
    with pytest.raises(ValueError, match="a fix_command is run as it stands"):
        murli.AgentError.precondition("no index", fix_command=command)
    assert murli.AgentError.precondition("m", fix_command="tool index build --all").fix_command
