"""What is known of a tool is fetched once and kept: its commands, and where they have moved."""

from __future__ import annotations

import json
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from client_documents import DESCRIBE, kinds
from client_fakes import (
    HASTY,
    Answer,
    Client,
    fake,
    lines,
    murli_ok,
    spec_error,
    spec_ok,
)
from murli.client import (
    Done,
    Escalate,
    Policy,
    RetryAfter,
    Stop,
)
from murli.client.calling import build
from murli.client.redirect_memory import RedirectMemory, applied, rule_of
from murli.wire.listing import from_manifest

pytestmark = pytest.mark.usefixtures("own_places")


def manifest(etag: str, **commands: Any) -> Answer:
    entries = {name: {"description": "", "danger_level": "safe", "flags": {}, **more}
               for name, more in commands.items()}  # fmt: skip
    document = {"schema_version": "3.0", "etag": etag, "exit_codes": {}, "commands": entries}
    return spec_ok(document, command="tool manifest")


# -- what is known of a tool ----------------------------------------------------------------------


def test_commands_are_fetched_once_and_kept(client: Client, tmp_path: Path) -> None:
    """A tool is asked what it can do once; another session knows it, until the tool changes."""
    one = fake(tmp_path, Answer(lines(DESCRIBE)))
    first = client(one)
    assert list(first.commands) == ["query", "user", "user add", "user list"]
    assert first.commands["user add"].mutating and not first.commands["query"].mutating
    assert list(client(one).commands) == list(first.commands)
    assert one.calls == [["describe"]]
    os.utime(one.path, (1, 1))
    assert client(one).commands and len(one.calls) == 2
    folder = tmp_path / "state" / "catalogues"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert [stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()] == [0o600]


def test_a_manifest_is_kept_by_its_etag(client: Client, tmp_path: Path) -> None:
    """Where a program may have changed unseen, it is asked whether it has."""
    same = spec_ok(None, not_modified=True)
    one = fake(tmp_path, manifest("e1", find={}), same)
    words = ["env", "sh", str(one.path)]
    for _ in range(2):
        assert list(client(words, contract="agent-spec-2").commands) == ["find"]
    assert one.calls == [["manifest"], ["manifest", "--etag", "e1"]]


def test_a_tool_that_may_not_know_the_word_is_not_asked(client: Client, tmp_path: Path) -> None:
    """``touch describe`` would make a file: what keeps no contract is only asked when told to."""
    plain = client(["touch"], cwd=tmp_path)
    plain.call("a", nonsense=None)
    assert sorted(os.listdir(tmp_path)) == ["a"]
    spoken = fake(tmp_path, murli_ok(1), Answer(lines(DESCRIBE)), murli_ok(2))
    known = client(spoken)
    known.call("query", "x")
    known.call("query", "x")
    assert spoken.calls == [["query", "x"], ["describe"], ["query", "x"]]
    unchecked = fake(tmp_path, murli_ok(1))
    for _ in range(2):
        client(unchecked, check=False, contract="murli").call("query", topp=1)
    assert unchecked.calls == [["query", "--topp=1"]] * 2


def test_a_catalogue_that_turns_out_old_is_fetched_again(client: Client, tmp_path: Path) -> None:
    """Before a call is refused the tool is asked whether that is still so."""
    newer = json.loads(json.dumps(DESCRIBE))
    newer["commands"][0]["flags"].append({"name": "newest", "type": "bool"})
    one = fake(tmp_path, Answer(lines(DESCRIBE)), Answer(lines(newer)), Answer(b"{}"), murli_ok(1))
    checked = client(one, contract="murli")
    assert "newest" not in checked.commands["query"].flags
    assert checked.call("query", "x", newest=True).data == 1
    assert one.calls[-1] == ["query", "--newest", "x"]


def test_what_a_command_declares_beats_the_table(client: Client, tmp_path: Path) -> None:
    """A timeout is repeated when the command says that it has no side effects."""
    codes = {"10": {"name": "TIMEOUT", "retryable": True, "side_effects": "none"}}
    late = spec_error(10, "TIMEOUT")
    one = fake(tmp_path, manifest("e", find={"exit_codes": codes}), late, spec_ok(1))
    found = client(one, contract="agent-spec-2", policy=HASTY).call("find")
    assert (found.data, kinds(found)) == (1, [RetryAfter, Done])
    other = fake(tmp_path, manifest("e", find={}), late, spec_ok(1))
    assert kinds(client(other, contract="agent-spec-2").call("find")) == [Stop]


def test_what_needs_a_person_is_not_started(client: Client, tmp_path: Path) -> None:
    """A command that only a person may run is handed to one, whatever the policy says."""
    one = fake(tmp_path, manifest("e", login={"requires_person": True}))
    policy = Policy(confirm=True)
    found = client(one, contract="agent-spec-2", policy=policy).call("login")
    assert (kinds(found), found.executed) == ([Escalate], False)
    assert one.calls == [["manifest"]]


def test_a_manifest_of_the_first_shape_leaves_arguments_alone() -> None:
    """Where a manifest has no place for arguments, they are not checked."""
    document = {"schema_version": "1.0", "commands": {"find": {"danger_level": "safe"}}}
    known = from_manifest(document, "agent-spec-1.6", "tool")
    assert build(["find", "a", "b"], {}, known) == ("find", "a", "b")
    assert known.commands["find"].positionals is None


# -- redirects that are remembered ----------------------------------------------------------------


def test_what_became_of_a_command_is_learnt_not_of_a_call() -> None:
    """The words two calls have in common are the caller's; what is left is the command."""
    assert rule_of(("query", "a", "--b=c"), ("search", "a", "--b=c")) == (("query",), ("search",))
    assert rule_of(("list",), ("task", "list")) == (("list",), ("task", "list"))
    assert rule_of(("task", "rm", "5"), ("task", "drop", "5")) == (("task", "rm"), ("task", "drop"))
    # A group by now: what else is below it has not moved.
    assert rule_of(("stock", "a"), ("stock", "list", "a")) == (
        ("stock", "a"),
        ("stock", "list", "a"),
    )
    assert rule_of(("a", "--old=1"), ("a", "--new=1")) is None
    assert rule_of(("a", "--key=1"), ("a", "b", "--key=1")) is None
    rules: dict[tuple[str, ...], tuple[str, ...]] = {
        ("a",): ("b",),
        ("b",): ("c", "d"),
        ("x",): ("y",),
        ("y",): ("x",),
        ("s",): ("s", "t"),
    }
    assert applied(rules, ("a", "1")) == ("c", "d", "1")
    assert applied(rules, ("x",)) == ("x",)
    assert (applied(rules, ("s",)), applied(rules, ("s", "u"))) == (("s", "t"), ("s", "u"))


def test_a_corrupt_memory_is_set_aside(tmp_path: Path) -> None:
    """What was not written by the client is kept beside the file, and counts for nothing."""
    for text in ("{", "[]", '{"tools": {"t": [{"from": [1], "to": []}]}}'):
        folder = tmp_path / str(len(text))
        folder.mkdir()
        (folder / "redirects.json").write_text(text)
        memory = RedirectMemory(str(folder / "redirects.json"))
        assert memory.rules("t") == {}
        assert memory.remember("t", ("a",), ("b",))
        assert RedirectMemory(str(folder / "redirects.json")).rules("t") == {("a",): ("b",)}
        (kept,) = (file for file in folder.iterdir() if "corrupt" in file.name)
        assert kept.read_text() == text


def test_a_memory_that_cannot_be_written_stops_nothing(tmp_path: Path) -> None:
    """Without a place to keep it a redirect holds for the session."""
    (tmp_path / "file").write_text("")
    memory = RedirectMemory(str(tmp_path / "file" / "redirects.json"))
    assert not memory.remember("t", ("a",), ("b",))
    assert memory.rules("t") == {("a",): ("b",)}


def test_no_redirect_is_lost_between_writers(tmp_path: Path) -> None:
    """Many clients remember at once, and every redirect is in the file."""
    path = str(tmp_path / "deep" / "redirects.json")

    def add(number: int) -> bool:
        return RedirectMemory(path).remember("t", (f"old{number}",), (f"new{number}",))

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(add, range(40)))
    assert len(RedirectMemory(path).rules("t")) == 40
