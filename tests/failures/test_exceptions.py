"""Exceptions become instructions: what to do is told from what was raised, for real libraries."""

from __future__ import annotations

import contextlib
import errno
import importlib
import importlib.util
import json
import os
import socket
import sqlite3
import subprocess
import sys
import urllib.error
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import murli
import murli.failures as mapping
from harness import environment, run, script
from murli import AgentError
from murli.contracts import CONTRACT_NAMES, Facts, respond_in
from murli.contracts.checks import check
from murli.errors import KINDS
from murli.failures import exceptions
from murli.failures import http as http_failures
from murli.failures import table as exception_table
from murli.failures.exceptions import READERS, as_agent_error
from murli.outcome import Failure
from raising import foreign, raised


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget afterwards what a test says about exceptions."""
    monkeypatch.setattr(mapping, "_mapped", {})


# -- the system --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("number", "kind", "recoverable"),
    [
        (errno.ENOSPC, "tool_error", True),
        (errno.EDQUOT, "tool_error", True),
        (errno.EROFS, "permission_denied", False),
        (errno.EMFILE, "tool_error", False),
        (errno.ENAMETOOLONG, "user_error", True),
        (errno.ELOOP, "user_error", True),
        (errno.EISDIR, "user_error", True),
        (errno.ENOTDIR, "user_error", True),
        (errno.ENOTEMPTY, "conflict", False),
        (errno.EBUSY, "unavailable", True),
        (errno.EAGAIN, "unavailable", True),
        (errno.ETIMEDOUT, "timeout", True),
        (errno.ECONNREFUSED, "unavailable", True),
        (errno.ECONNRESET, "unavailable", True),
        (errno.EHOSTUNREACH, "unavailable", True),
        (errno.ENETUNREACH, "unavailable", True),
        (errno.EADDRINUSE, "conflict", False),
        (errno.EIO, "tool_error", False),
    ],
)
def test_numbers_of_the_system(number: int, kind: str, recoverable: bool) -> None:
    """Each number of the system has its kind and a suggestion."""
    found = as_agent_error(OSError(number, os.strerror(number), "x"))
    assert (found.kind, found.recoverable) == (kind, recoverable)
    assert found.suggestion
    assert found.message == f"{os.strerror(number)}: 'x'"


def test_what_the_system_really_raises(tmp_path: Path) -> None:
    """Failures of files, directories, devices and ports are told from each other."""
    (tmp_path / "file").touch()
    (tmp_path / "loop").symlink_to("loop")
    with open("/dev/full", "w") as full, socket.create_server(("127.0.0.1", 0)) as taken:
        calls: dict[str, Callable[[], object]] = {
            "disk_full": lambda: os.write(full.fileno(), b"x"),
            "Give a shorter name.": (tmp_path / ("x" * 300)).read_bytes,
            "Give a path without links that lead in a circle.": (tmp_path / "loop").read_bytes,
            "Give a file, not a directory.": (tmp_path).read_bytes,
            "Give a directory; part of the path is a file.": (tmp_path / "file" / "x").read_bytes,
            "Empty the directory first.": tmp_path.rmdir,
            "Choose another port, or stop what listens there.": lambda: socket.create_server(
                taken.getsockname()
            ),
            "Check the path, or create what is missing.": (tmp_path / "none").read_bytes,
            "Choose another name, or remove what is there first.": (tmp_path / "file").mkdir,
        }
        for expected, call in calls.items():
            found = raised(call)
            assert expected in (found.suggestion, found.error_type), expected


def test_a_number_that_says_nothing_is_no_rule() -> None:
    """What the system says that no rule knows stays an execution error, with its text."""
    found = as_agent_error(OSError(errno.EINVAL, "Invalid argument"))
    assert (found.error_type, found.message) == ("execution_error", "Invalid argument")


def test_a_child_that_fails_speaks_for_itself() -> None:
    """The last line a child wrote on stderr is in the message, where it was collected."""
    child = [sys.executable, "-c", "import sys; sys.exit('\\nfirst\\nfatal: no repository\\n')"]
    for text in (True, False):
        found = raised(subprocess.run, child, check=True, stderr=subprocess.PIPE, text=text)
        assert (found.kind, found.error_type) == ("tool_error", "subprocess_failed")
        assert found.message.endswith("exit status 1: fatal: no repository")
        assert len(found.message) <= 500
    silent = raised(subprocess.run, ["false"], check=True)
    assert silent.message == "Command '['false']' returned non-zero exit status 1."
    assert "by itself" in silent.suggestion
    slow = raised(subprocess.run, ["sleep", "9"], timeout=0.01, check=True)
    assert slow.kind == "timeout"


def test_a_program_that_is_missing(tmp_path: Path) -> None:
    """A program that cannot be started is not a file that cannot be opened, nor a directory."""
    found = raised(subprocess.run, ["no-such-program-here"], check=True)
    assert (found.kind, found.error_type) == ("not_found", "program_missing")
    assert "PATH" in found.suggestion
    found = raised(subprocess.run, ["ls"], cwd=tmp_path / "none", check=True)
    assert (found.kind, found.error_type) == ("not_found", "not_found")
    (tmp_path / "plain").touch(0o600)
    found = raised(subprocess.run, [tmp_path / "plain"], check=True)
    assert (found.kind, found.error_type) == ("permission_denied", "program_denied")


def test_a_database_that_fails(tmp_path: Path) -> None:
    """What SQLite refuses is told as a lock, a conflict, something missing, or a bad file."""
    path = tmp_path / "db"
    with contextlib.closing(sqlite3.connect(path, timeout=0)) as one:
        one.executescript(
            "pragma foreign_keys = on; create table t (k primary key, v not null);"
            "create table u (k references t (k)); insert into t values (1, 1)"
        )
        one.execute("begin exclusive")
        with contextlib.closing(sqlite3.connect(path, timeout=0)) as other:
            found = raised(other.execute, "select * from t")
            assert (found.kind, found.error_type) == ("precondition", "lock_held")
            assert (found.explicit_recoverable, found.message) == (True, "database is locked")
        one.rollback()
        calls: dict[str, tuple[str, str]] = {
            "insert into t values (1, 1)": ("conflict", "another key"),
            "insert into t values (2, null)": ("conflict", "allows"),
            "insert into u values (9)": ("conflict", "refers to"),
            "select * from nowhere": ("not_found", "Create the table"),
            "selec": ("tool_error", "MURLI_DEBUG"),
        }
        for line, (kind, words) in calls.items():
            found = raised(one.execute, line)
            assert (found.kind, words in found.suggestion) == (kind, True), line


def test_a_database_file_that_is_no_good(tmp_path: Path) -> None:
    """A database that is read-only, missing, torn, or none at all, is told as that."""
    path = tmp_path / "db"
    with contextlib.closing(sqlite3.connect(path)) as made:
        made.execute("create table t (k)")

    def do(place: str, line: str) -> None:
        with contextlib.closing(sqlite3.connect(f"file:{place}", uri=True)) as database:
            database.execute(line)

    (tmp_path / "text").write_text("this is certainly not a database\n" * 100)
    assert raised(do, f"{path}?mode=ro", "insert into t values (3)").kind == "permission_denied"
    assert raised(do, f"{tmp_path}/none/db", "select 1").kind == "not_found"
    assert raised(do, f"{tmp_path}/text", "select * from t").kind == "user_error"
    data = bytearray(path.read_bytes())
    data[100:4096] = b"\xff" * 3996
    path.write_bytes(data)
    assert raised(do, str(path), "select * from t").error_type == "database_corrupt"


@pytest.mark.parametrize(
    ("call", "kind", "error_type", "words"),
    [
        (lambda: json.loads('{"a":\n x}'), "user_error", "invalid_json", "line 2, column 2"),
        (b"caf\xe9".decode, "user_error", "invalid_encoding", "utf-8; byte 3"),
        (lambda: "é".encode("ascii"), "tool_error", "invalid_encoding", "PYTHONUTF8"),
        (lambda: importlib.import_module("no_such.x"), "tool_error", "dependency_missing", "no_su"),
        (lambda: socket.create_connection(("127.0.0.1", 1)), "unavailable", "unavailable", "port"),
    ],
)
def test_what_the_language_raises(
    call: Callable[[], object], kind: str, error_type: str, words: str
) -> None:
    """Exceptions of Python itself say what to give, to install or to change."""
    found = raised(call)
    assert (found.kind, found.error_type) == (kind, error_type)
    assert words in found.suggestion


@pytest.mark.parametrize(
    ("error", "kind", "error_type"),
    [
        (MemoryError(), "tool_error", "out_of_memory"),
        (RecursionError("too deep"), "tool_error", "nested_too_deeply"),
        (NotImplementedError(), "tool_error", "not_implemented"),
        (EOFError("Ran out of input"), "tool_error", "unexpected_end"),
        (EOFError("EOF when reading a line"), "precondition", "input_required"),
        (socket.gaierror(socket.EAI_NONAME, "unknown"), "unavailable", "host_unknown"),
        (socket.gaierror(socket.EAI_AGAIN, "not now"), "unavailable", "unavailable"),
        (socket.herror(1, "unknown"), "unavailable", "host_unknown"),
        (foreign("yaml.error.YAMLError")("bad"), "user_error", "invalid_yaml"),
    ],
)
def test_what_is_hard_to_bring_about(error: Exception, kind: str, error_type: str) -> None:
    """Exhaustion, ends of input and names that cannot be looked up have their kinds."""
    found = as_agent_error(error)
    assert (found.kind, found.error_type, bool(found.suggestion)) == (kind, error_type, True)


def test_a_long_text_is_cut() -> None:
    """What a rule knows says one line; what none knows keeps its lines; neither is endless."""
    known = as_agent_error(FileNotFoundError("x" * 9999))
    assert len(known.message) == 500
    assert as_agent_error(PermissionError("\n  first\nsecond")).message == "first"
    assert as_agent_error(PermissionError("these failed:\na\nb")).message == "these failed: a"
    assert as_agent_error(ValueError("first\nsecond")).message == "first\nsecond"
    assert len(as_agent_error(ValueError("x\n" * 9999)).message) == 2000


# -- chains and groups -------------------------------------------------------------------------


def test_an_exception_that_is_handed_on_speaks() -> None:
    """`raise AppError(error)` is as deliberate as `raise AppError from error`."""

    class AppError(Exception):
        pass

    assert as_agent_error(AppError("no", PermissionError(13, "Denied"))).kind == "permission_denied"
    error = AppError(ValueError("bug"))
    error.__context__ = TimeoutError()
    assert as_agent_error(error).kind == "timeout"


def test_a_vague_exception_gives_way_to_its_reason() -> None:
    """An unspecific network failure means what it was raised from, if that is known."""
    error = urllib.error.URLError(FileNotFoundError(2, "No such file", "x"))
    assert as_agent_error(error).kind == "not_found"
    assert as_agent_error(urllib.error.URLError("no host given")).kind == "unavailable"


def group(*members: BaseException) -> BaseException:
    if sys.version_info >= (3, 11):
        return BaseExceptionGroup("several", members)  # noqa: F821
    own = foreign("exceptiongroup.BaseExceptionGroup", exceptions=members)
    error: BaseException = own("several")
    return error


def test_a_group_of_one_is_that_one() -> None:
    """The only member of a group means and says what it would without the group."""
    found = as_agent_error(group(group(FileNotFoundError(2, "No such file", "x"))))
    assert (found.kind, found.message) == ("not_found", "No such file: 'x'")
    own = AgentError.conflict("c")
    assert as_agent_error(group(own)) is own
    assert as_agent_error(group(ValueError("boom"))).message == "boom"


def test_a_group_means_what_its_members_agree_on() -> None:
    """Members of one kind are that kind together; others make an execution error of all."""
    found = as_agent_error(group(TimeoutError("a"), TimeoutError("b"), TimeoutError("a")))
    assert (found.kind, found.message) == ("timeout", "a; b")
    found = as_agent_error(group(TimeoutError("slow"), ValueError("bug")))
    assert (found.error_type, found.message) == ("execution_error", "slow; bug")
    assert as_agent_error(group(ValueError("bug"), KeyboardInterrupt())).kind == "cancelled"
    error = RuntimeError("upload failed")
    error.__cause__ = group(TimeoutError("a"), TimeoutError("b"))
    found = as_agent_error(error)
    assert (found.kind, found.message) == ("timeout", "upload failed")


def test_a_member_that_is_raised_again_is_followed_once() -> None:
    """A member whose context is its own group does not lead in a circle."""
    member = ValueError("bug")
    member.__context__ = group(member, KeyboardInterrupt())
    assert as_agent_error(member).kind == "cancelled"


def test_a_group_in_passing_is_not_the_reason() -> None:
    """A group that was being handled counts only for what is decisive anywhere."""
    error = ValueError("bug")
    error.__context__ = group(FileNotFoundError(2, "No such file"))
    assert as_agent_error(error).error_type == "execution_error"
    error.__context__ = group(TimeoutError())
    assert as_agent_error(error).kind == "timeout"


# -- what authors say --------------------------------------------------------------------------


class CardError(Exception):
    pass


class DeclinedError(CardError):
    pass


@pytest.mark.usefixtures("said")
def test_an_author_says_what_an_exception_means() -> None:
    """One call gives a class, and what derives from it, a kind, advice and a category."""
    for _ in range(2):
        murli.map_exception(
            CardError,
            "payment_required",
            "Use another card.",
            recoverable=True,
            retry_after_ms=5,
            error_type="card",
        )
    found = as_agent_error(DeclinedError("declined\nby the bank"))
    assert (found.kind, found.error_type, found.message) == (
        "payment_required",
        "card",
        "declined\nby the bank",
    )
    assert (found.suggestion, found.recoverable, found.retry_after_ms) == (
        "Use another card.",
        True,
        5,
    )


@pytest.mark.usefixtures("said")
def test_the_most_derived_class_counts() -> None:
    """What is said of a class beats what is said of its base, whatever came first."""
    murli.map_exception(DeclinedError, "conflict")
    murli.map_exception(CardError, "unavailable")
    murli.map_exception(Exception, "user_error")
    assert as_agent_error(DeclinedError()).kind == "conflict"
    assert as_agent_error(CardError()).kind == "unavailable"
    assert as_agent_error(ValueError()).kind == "user_error"


@pytest.mark.usefixtures("said")
def test_an_author_knows_better_than_murli() -> None:
    """What an author says comes before the table, also of a base class."""
    murli.map_exception(OSError, "unavailable", "Mount the share.")
    found = as_agent_error(FileNotFoundError(2, "No such file", "x"))
    assert (found.kind, found.suggestion) == ("unavailable", "Mount the share.")
    assert (found.message, found.context) == ("No such file: 'x'", {})
    own = AgentError.conflict("c")
    murli.map_exception(Exception, "user_error")
    assert as_agent_error(own) is own
    assert as_agent_error(group(own)) is own


@pytest.mark.usefixtures("said")
@pytest.mark.parametrize(
    "name",
    ["stripe._error.CardError", "stripe.error.CardError", "stripe.CardError", "stripe.Base"],
)
def test_a_class_by_its_name(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A dotted name means the class wherever its library shows it, and imports nothing."""
    base = foreign("stripe._error.Base")
    card = foreign("stripe._error.CardError", base)
    for module in ("stripe", "stripe.error"):
        library = type(sys)(module)
        vars(library).update(CardError=card, Base=base)
        monkeypatch.setitem(sys.modules, module, library)
    murli.map_exception(name, "payment_required")
    assert as_agent_error(card("c")).kind == "payment_required"
    assert as_agent_error(ValueError("c")).kind == "tool_error"


@pytest.mark.usefixtures("said")
def test_a_builtin_needs_no_module() -> None:
    """A name without a dot is one of Python's own."""
    murli.map_exception("LookupError", "not_found", "List them first.")
    found = as_agent_error(KeyError("x"))
    assert (found.kind, found.recoverable, found.message) == ("not_found", True, "KeyError: 'x'")


@pytest.mark.usefixtures("said")
def test_a_function_may_decide() -> None:
    """A function gives the failure or leaves it to the next rule; one that fails leaves it too."""
    murli.map_exception(CardError, "payment_required")
    murli.map_exception(
        DeclinedError, lambda error: AgentError.conflict("own") if error.args else None
    )
    assert as_agent_error(DeclinedError("x")).message == "own"
    assert as_agent_error(DeclinedError()).kind == "payment_required"
    murli.map_exception(DeclinedError, lambda error: 1 / 0)  # type: ignore[arg-type,return-value]
    assert as_agent_error(DeclinedError("x")).kind == "payment_required"
    murli.map_exception(DeclinedError, AgentError.not_found)
    found = as_agent_error(DeclinedError("no such card"))
    assert (found.kind, found.message) == ("not_found", "no such card")


@pytest.mark.usefixtures("said")
def test_what_was_merely_being_handled_is_not_meant() -> None:
    """A class an author speaks of counts for what was deliberately raised from it."""
    murli.map_exception(CardError, "payment_required")
    error = ValueError("bug")
    error.__context__ = CardError()
    assert as_agent_error(error).error_type == "execution_error"
    error.__cause__ = CardError()
    assert as_agent_error(error).kind == "payment_required"


def test_mistakes_of_authors_are_told() -> None:
    """A kind that does not exist, details beside a function, and no exception are refused."""
    with pytest.raises(ValueError, match=r"one of user_error, .*, cancelled, or a function, not"):
        murli.map_exception(CardError, "no_such_kind")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="not 'redirected'"):
        murli.map_exception(CardError, "redirected")
    with pytest.raises(ValueError, match="whole AgentError"):
        murli.map_exception(CardError, AgentError.conflict, "Do this.")
    for wrong in (int, 3, ""):
        with pytest.raises(TypeError, match="class or its dotted name"):
            murli.map_exception(wrong, "conflict")  # type: ignore[arg-type]


def test_speaking_costs_a_tool_little(tmp_path: Path) -> None:
    """A tool that maps an exception loads no table until something fails; then it counts."""
    argv = script(
        tmp_path,
        "import argparse, sys, murli\n"
        "class Mine(Exception): pass\n"
        "murli.map_exception(Mine, 'conflict', 'Wait.')\n"
        "assert not [m for m in sys.modules if m.startswith('murli.failures.')], sys.modules\n"
        "p = argparse.ArgumentParser(); murli.enable(p); p.parse_args(); raise Mine('taken')\n",
    )
    done = run(argv, env=environment())
    assert (done.code, done.error["error"], done.error["suggestion"]) == (7, "conflict", "Wait.")


# -- the table itself --------------------------------------------------------------------------

MEANINGS = [
    *exception_table.CLASSES.values(),
    *exception_table.ERRNOS.values(),
    *exception_table.SQLITE.values(),
    *http_failures._STATUSES.values(),
    *http_failures._AWS.values(),
]


def test_every_rule_is_a_short_instruction() -> None:
    """Each rule has a kind that exists, and one short sentence that tells what to do."""
    silent = {"cancelled", "flag_error", "output_failed"}
    for meaning in MEANINGS:
        assert meaning.kind in KINDS, meaning
        if not {meaning.kind, meaning.error_type} & silent:
            assert meaning.suggestion.endswith("."), meaning
            assert len(meaning.suggestion) <= 90, meaning


@pytest.mark.parametrize("contract", CONTRACT_NAMES)
def test_every_rule_can_be_said(contract: str) -> None:
    """Each rule makes a document that its contract allows."""
    for meaning in MEANINGS:
        error = exceptions._failure(meaning, ValueError("m"))
        check(contract, respond_in(contract)(Failure(error, "execution"), Facts()))


def test_every_class_exists_where_its_library_does() -> None:
    """No name in the tables is misspelled, as far as its library is installed."""
    checked = 0
    for name in {*exception_table.CLASSES, *READERS}:
        module, _, own = name.rpartition(".")
        top = module.partition(".")[0]
        # httpcore has fewer classes than httpx.
        if top.startswith("httpcore") or importlib.util.find_spec(top) is None:
            continue
        assert issubclass(getattr(importlib.import_module(module), own), BaseException), name
        checked += 1
    assert checked > 80


# -- hostility ---------------------------------------------------------------------------------

ATTRIBUTES = ["__str__", "__cause__", "__context__", "__suppress_context__", "__traceback__"]
ATTRIBUTES += ["args", "errno", "strerror", "filename", "name", "encoding", "lineno", "stderr"]
ATTRIBUTES += ["code", "status", "response", "resp", "request", "headers", "details", "exceptions"]
NAMES = sorted({*exception_table.CLASSES, *READERS, *exception_table.GROUPS, "app.Error"})


class Nasty:
    """A value that answers everything with an exception."""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def refuse(self, *args: object) -> Any:
        raise self.error

    __getattr__ = __str__ = __repr__ = __len__ = __iter__ = __bool__ = __hash__ = refuse


def _property(value: object) -> property:
    def give(self: object) -> Any:
        if isinstance(value, BaseException):
            raise value
        return value

    return property(give)


@given(
    name=st.sampled_from(NAMES),
    base=st.sampled_from([Exception, OSError, KeyError, BaseException, KeyboardInterrupt]),
    attributes=st.dictionaries(
        st.sampled_from(ATTRIBUTES),
        st.one_of(
            st.none(),
            st.integers(),
            st.text(),
            st.binary(),
            st.dictionaries(st.text(), st.integers()),
            st.sampled_from([SystemExit(3), ValueError("v"), RecursionError(), AttributeError()]),
            st.builds(Nasty, st.sampled_from([ValueError("v"), SystemExit(4)])),
            st.lists(st.builds(ValueError, st.text())),
        ),
    ),
    args=st.lists(st.one_of(st.integers(), st.text(), st.builds(Nasty, st.just(OSError("o"))))),
)
def test_nothing_an_exception_does_keeps_us_from_an_answer(
    name: str, base: type, attributes: dict[str, Any], args: list[Any]
) -> None:
    """Whatever the attributes of an exception are or raise, it becomes a failure with a text."""
    own = foreign(name, base, **{key: _property(value) for key, value in attributes.items()})
    found = as_agent_error(own(*args))
    assert isinstance(found, AgentError)
    assert isinstance(found.message, str)
    assert found.message
    assert len(found.message) <= 2000


def test_a_chain_without_end_has_one() -> None:
    """An exception that makes its causes as they are asked for does not hang."""

    class Endless(Exception):
        @property
        def __cause__(self) -> BaseException:
            return Endless()

        @__cause__.setter
        def __cause__(self, value: object) -> None:
            pass

    assert as_agent_error(Endless("x")).message == "x"
