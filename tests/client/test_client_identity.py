"""What is known of a tool belongs to that tool alone, and what it says can hurt nobody."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from client_fakes import Answer, Client, fake, lines, murli_error, murli_ok, spec_error, spec_ok
from harness import environment
from murli.client import Done, Escalate, Policy, RunInstead, Stop, Tool, ToolFailed
from murli.client.cache import ClientCache
from murli.client.stubs import module
from murli.wire.listing import from_description, from_manifest

pytestmark = pytest.mark.usefixtures("own_places")

# One program with several names, like a shim or busybox: what it does depends on how it is called.
_MANY = """#!/bin/sh
name=$(basename "$0"); here=$(dirname "$0")
echo "$name $*" >> "$here/ran"
case "$name $1" in
*" describe")
  printf '{"name": "%s", "schema_version": "1.0", "capabilities": {}, ' "$name"
  printf '"commands": [{"name": "only-of-%s"}]}\\n' "$name";;
"alpha list")
  printf '{"ok": false, "data": null, "error": {"code": "MOVED", "message": "m", "redirect": '
  printf '{"command": "alpha purge", "permanent": true}}, "warnings": [], "meta": {}}\\n'
  exit 13;;
*) echo '{"ok": true, "data": {}, "error": null, "warnings": [], "meta": {}}';;
esac
"""
_SCRIPT = """
import json, sys
moved = {away!r} and sys.argv[1:] == ["list"]
away = {{"command": "tool purge", "permanent": True}}
error = {{"code": "MOVED", "message": "m", "redirect": away}}
print(json.dumps({{"ok": not moved, "data": None if moved else sys.argv[1:],
                  "error": error if moved else None, "warnings": [], "meta": {{}}}}))
sys.exit(13 if moved else 0)
"""


def test_two_names_of_one_program_are_two_tools(client: Client, tmp_path: Path) -> None:
    """A redirect and a catalogue of one name are not those of the other, in any session."""
    program = tmp_path / "program"
    program.write_text(_MANY)
    program.chmod(0o755)
    for name in ("alpha", "beta"):
        (tmp_path / name).symlink_to(program)
    alpha, beta = str(tmp_path / "alpha"), str(tmp_path / "beta")
    assert client([alpha]).run("list").ok
    assert client([beta]).run("list").ok
    assert client([alpha]).run("list").ok
    ran = (tmp_path / "ran").read_text().splitlines()
    assert ran == ["alpha list", "alpha purge", "beta list", "alpha purge"]
    assert list(client([alpha]).commands) == ["only-of-alpha"]
    assert list(client([beta]).commands) == ["only-of-beta"]
    # A link to a program of another name may lead elsewhere tomorrow: it is asked again.
    assert list(client([alpha]).commands) == ["only-of-alpha"]
    assert (tmp_path / "ran").read_text().splitlines().count("alpha describe") == 2
    # Found along the path it is the same tool.
    assert client(["alpha"], env={"PATH": f"{tmp_path}:/bin:/usr/bin"}).run("list").ok
    assert (tmp_path / "ran").read_text().splitlines()[-1] == "alpha purge"


def test_one_script_name_in_two_folders_is_two_tools(client: Client, tmp_path: Path) -> None:
    """A script, or a module, is looked up in the folder where the tool runs."""
    for name, away in (("a", True), ("b", False)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "tool.py").write_text(_SCRIPT.format(away=away))
    python = [sys.executable, "-SE"]
    for words in ([*python, "tool.py"], [sys.executable, "-S", "-m", "tool"]):
        for folder, expected in (("a", ["purge"]), ("b", ["list"]), ("a", ["purge"])):
            found = client(words, cwd=tmp_path / folder).run("list")
            assert (words, folder, found.data) == (words, folder, expected)
    plain = [sys.executable, "-S", "-m", "tool"]
    for folder, expected in (("a", ["purge"]), ("b", ["list"])):
        env = environment(PYTHONPATH=str(tmp_path / folder))
        assert client(plain, cwd=tmp_path, env=env).run("list").data == expected


def shelf(words: list[str], folder: Path, cwd: Path | None = None, **env: str) -> ClientCache:
    place = None if cwd is None else str(cwd)
    return ClientCache(
        words, {"PATH": "/bin:/usr/bin", **env}, place, folder / "m.json", folder / "c"
    )


def test_what_a_tool_is_known_by(tmp_path: Path) -> None:
    """The program as it is called, and the folder where a further word may be looked up there."""
    for name in ("one", "two"):
        (tmp_path / name / "bin").mkdir(parents=True)
        (tmp_path / name / "bin" / "python").symlink_to(sys.executable)
        shutil.copy(sys.executable, tmp_path / name / "tool")
    first, second = tmp_path / "one", tmp_path / "two"

    def are_one(a: ClientCache, b: ClientCache) -> bool:
        a.remember(("old",), ("new",))
        same = b.recall() == {("old",): ("new",)}
        (tmp_path / "m.json").unlink()
        return same

    python = [str(first / "bin" / "python"), "-m", "t"]
    assert are_one(shelf(python, tmp_path, first), shelf(python, tmp_path, first))
    other = [str(second / "bin" / "python"), "-m", "t"]
    assert not are_one(shelf(python, tmp_path, first), shelf(other, tmp_path, first))
    assert not are_one(shelf(python, tmp_path, first), shelf(python, tmp_path, second))
    for words in (["./tool"], ["bin/../tool"]):
        assert not are_one(shelf(words, tmp_path, first), shelf(words, tmp_path, second))
        whole = shelf([str(first / "tool")], tmp_path)
        assert are_one(shelf(words, tmp_path, first), whole)
    # A program by its whole path, or found along the path, is the same in every folder.
    for words in ([str(first / "tool")], ["sh"], ["sh", "/tmp/script"]):
        assert are_one(shelf(words, tmp_path, first), shelf(words, tmp_path, second))
    here = shelf(["sh"], tmp_path)
    there = shelf(["sh"], tmp_path, PATH=str(first))
    (first / "sh").symlink_to("/bin/sh")
    assert not are_one(here, there)


def test_a_program_that_changes_behind_its_link_is_asked_again(
    client: Client, tmp_path: Path
) -> None:
    """What counts is the file that a link leads to, and which one that is."""
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        program = tmp_path / name / "tool"
        document = json.dumps({**DESCRIBE, "commands": [{"name": name}]})
        program.write_text(f"#!/bin/sh\necho {name} >> {tmp_path}/asked\necho '{document}'\n")
        program.chmod(0o755)
        os.utime(program, (1, 1))
    link = tmp_path / "tool"
    for name in ("first", "second"):
        link.unlink(missing_ok=True)
        link.symlink_to(tmp_path / name / "tool")
        for _ in range(2):
            assert list(client([str(link)]).commands) == [name]
    assert (tmp_path / "asked").read_text().split() == ["first", "second"]


# -- what cannot be run ------------------------------------------------------------------------

DESCRIBE: dict[str, Any] = {
    "name": "tool",
    "schema_version": "1.0",
    "capabilities": {},
    "commands": [{"name": "query"}],
}
UNRUNNABLE = [
    *(
        "",
        " ",
        "tool query \ud800",
        "tool \udc80",
        "tool a\0b",
        "tool 'open",
        "other query",
    ),
    *("tool " + "x" * 200_000, "tool $(date)", "tool; rm x", "'' query"),
]


@pytest.mark.parametrize("command", UNRUNNABLE)
def test_a_call_that_cannot_be_made_is_neither_made_nor_remembered(
    client: Client, tmp_path: Path, command: str
) -> None:
    """A redirect, a fix, a continuation or a cursor like that raises nothing, today or tomorrow."""
    away = {"command": command, "permanent": True}
    answers = [
        spec_error(13, "MOVED", redirect=away),
        spec_error(4, "BROKEN", retryable=False, fix_command=command),
        spec_error(14, "INCOMPLETE", {"continue_command": command}),
        murli_error(1, "command_renamed", redirect=away),
    ]
    for answer in answers:
        one = fake(tmp_path, answer)
        for _ in range(2):
            found = client(one, check=False).call("query")
            assert type(found.decisions[-1]) in (Escalate, Stop)
            assert one.calls.count(["query"]) == len(one.calls)
    assert not (tmp_path / "state" / "redirects.json").exists()
    cursor = command or "\ud800"
    page = {"has_more": True, "next_cursor": cursor, "total": 5, "returned": 1}
    pages, _ = client(fake(tmp_path, spec_ok([1], pagination=page))).pages("list")
    assert len(pages) >= 1


def test_a_redirect_that_does_not_start_is_not_remembered(tmp_path: Path) -> None:
    """Words that are too long for a process are found out when it is started."""
    away = {"command": "tool " + "x " * 40 + "y" * 99_000, "permanent": True}
    one = fake(tmp_path, spec_error(13, "MOVED", redirect=away), spec_ok(1))
    memory = tmp_path / "redirects.json"
    small = environment(FILLER="x" * 100_000)
    Tool([str(one.path)], memory=memory, cache=False, env=small).call("query")
    if len(one.calls) == 1:
        assert not memory.exists()


def test_what_an_earlier_session_should_not_have_remembered_is_ignored(
    client: Client, tmp_path: Path
) -> None:
    """A rule that cannot be followed is as if it were not there; the others still hold."""
    away = {"command": "tool search", "permanent": True}
    one = fake(tmp_path, spec_error(13, "MOVED", redirect=away), spec_ok(1))
    assert client(one).call("query").ok
    memory = tmp_path / "state" / "redirects.json"
    document = json.loads(memory.read_text())
    (rules,) = document["tools"].values()
    rules.append({"from": ["list"], "to": ["x\ud800"], "at": ""})
    rules.append({"from": ["show"], "to": ["x\0"], "at": ""})
    memory.write_text(json.dumps(document))
    for word, made in (("list", "list"), ("show", "show"), ("query", "search")):
        assert client(one).call(word).ok
        assert one.calls[-1] == [made]


# -- what a tool says about itself -------------------------------------------------------------


def _deep(levels: int) -> Any:
    value: Any = {"name": "x"}
    for _ in range(levels):
        value = {"name": "x", "subcommands": [value]}
    return value


HOSTILE: list[Any] = [
    {"type": "[]" * 5000, "name": "a"},
    {"type": "Slice" * 5000, "name": "a"},
    {"type": "Array" * 5000 + "[]" * 50, "name": "a\ud800"},
    {"type": 5, "name": ["a"], "enum": {"a": 1}, "short": 7, "env": [], "default": [[[]]]},
    {"type": None, "name": "", "enum": [None, {}, [], 1e999, True], "required": "yes"},
    {"type": "int", "name": "--", "negation": 3, "description": {"a": 1}, "profileable": 1},
]


@pytest.mark.parametrize("flag", HOSTILE, ids=range(len(HOSTILE)))
def test_nothing_a_tool_lists_makes_the_client_raise(
    client: Client, tmp_path: Path, flag: Any
) -> None:
    """Types, names and values of any kind: the commands are read, called and written as stubs."""
    command = {"name": "query", "flags": [flag, 5, None], "arguments": [flag, "x"], "safety": []}
    document = {**DESCRIBE, "commands": [command, _deep(40), 7, {"name": 5}, {"subcommands": 1}]}
    entry = {"flags": {"a": flag, "b": 1}, "positionals": [flag, 2], "exit_codes": {"x": 1, "9": 2}}
    examples = {"examples": [{"command": " "}, 3], "description": "Call: ", "aliases": [{}, "q"]}
    manifest = {"schema_version": 3, "commands": {"query": {**entry, **examples}, "": 4, "a.b": []}}
    for catalogue in (from_description(document), from_manifest(manifest, "agent-spec-2")):
        assert "query" in catalogue.commands
        compile(module(catalogue, ["tool"], with_async=True), "stubs", "exec")
    for answers in ([Answer(lines(document))], [Answer(b"x", b"", 2), spec_ok(manifest)]):
        one = fake(tmp_path, *answers, murli_ok(1))
        assert "query" in client(one).commands
        client(one, check=True).run("query")


@pytest.mark.parametrize("levels", [200, 20_000])
def test_what_is_nested_too_deeply_is_not_known(
    client: Client, tmp_path: Path, levels: int
) -> None:
    """A description that no tool has is none, and the tool can still be called."""
    text = '{"name": "x", "subcommands": [' * levels + "{}" + "]}" * levels
    document = json.dumps({**DESCRIBE, "commands": ["@"]}).replace('"@"', text)
    one = fake(tmp_path, Answer(document.encode() + b"\n"), Answer(b""), Answer(b""), murli_ok(1))
    tool = client(one)
    assert dict(tool.commands) == {}
    tool.call("query")


# -- confirming --------------------------------------------------------------------------------


def drops(*flags: Any, **facts: Any) -> Answer:
    command = {"name": "drop", "mutating": True, "flags": list(flags), **facts}
    return Answer(lines({**DESCRIBE, "commands": [command]}))


YES = {"name": "yes", "type": "bool"}
FORCE = {"name": "force", "type": "bool"}
STANDARD = {**YES, "standard": True}


@pytest.mark.parametrize(
    ("flags", "added"),
    [
        ([], "--yes"),
        ([FORCE], "--yes"),
        ([STANDARD], "--yes"),
        ([STANDARD, FORCE], "--yes"),
        ([YES], "--force"),
        ([YES, FORCE], ""),
    ],
)
def test_a_change_is_confirmed_by_a_flag_that_does_nothing_else(
    client: Client, tmp_path: Path, flags: list[Any], added: str
) -> None:
    """A command's own ``--force`` or ``--yes`` may mean anything, so it is never passed."""
    asks = murli_error(1, "confirmation_required", suggestion="Pass --force or --yes.")
    one = fake(tmp_path, asks, drops(*flags), murli_ok("done"))
    found = client(one, policy=Policy(confirm=True)).call("drop")
    if added:
        assert one.calls == [["drop"], ["describe"], ["drop", added]] and found.ok
    else:
        assert one.calls == [["drop"], ["describe"]]
        assert isinstance(found.decisions[-1], Escalate)
        assert "of its own" in found.decisions[-1].reason


def test_a_preview_that_asks_for_confirmation_is_confirmed(client: Client, tmp_path: Path) -> None:
    """Where a command has a flag of its own for that, the call without it is a preview."""
    entry = {"description": "", "danger_level": "destructive", "confirm_flag": "sure", "flags": {}}
    document = {"schema_version": "3.0", "exit_codes": {}, "commands": {"drop": entry}}
    listing, preview = spec_ok(document, command="tool manifest"), spec_ok({}, dry_run=True)
    meant = Policy(confirm=True)
    one = fake(tmp_path, listing, preview, spec_ok("done"))
    found = client(one, contract="agent-spec-2", policy=meant).call("drop")
    assert (found.data, one.calls[1:]) == ("done", [["drop"], ["drop", "--sure"]])
    for policy, flags in ((Policy(), {}), (meant, {"dry_run": True})):
        one = fake(tmp_path, listing, preview, spec_ok("done"))
        found = client(one, contract="agent-spec-2", policy=policy).call("drop", **flags)
        assert found.decisions == (Done("plan"),) and len(one.calls) == 2


@pytest.mark.parametrize(
    ("words", "is_run"),
    [
        ("drop -f", False),
        ("drop -r", True),
        ("drop -rf", False),
        ("drop -ofile", True),
        ("drop -rof", True),
        ("drop -y", False),
        ("drop --fo=1", False),
        ("drop --l=3", True),
        ("drop --sur", False),
        ("drop -5", True),
    ],
)
def test_the_catalogue_tells_which_options_confirm(
    client: Client, tmp_path: Path, words: str, is_run: bool
) -> None:
    """What the target lists as something else is that; all that could confirm is not run."""
    listed = [
        {"name": "force", "type": "bool", "short": "f"},
        {"name": "recursive", "type": "bool", "short": "r"},
        {"name": "out", "type": "string", "short": "o"},
        {"name": "l", "type": "int"},
    ]
    entries = {
        "drop": {"description": "", "danger_level": "mutating", "confirm_flag": "sure",
                 "flags": {each["name"]: each for each in listed}},
        "old": {"description": "", "flags": {}},
    }  # fmt: skip
    document = {"schema_version": "3.0", "exit_codes": {}, "commands": entries}
    moved = spec_error(13, "MOVED", redirect={"command": f"tool {words}", "permanent": False})
    one = fake(tmp_path, spec_ok(document, command="tool manifest"), moved, spec_ok("done"))
    found = client(one, contract="agent-spec-2").call("old")
    assert (type(found.decisions[0]) is RunInstead, found.ok) == (is_run, is_run)


# -- streams -----------------------------------------------------------------------------------

ITEMS: list[Any] = [
    {"current": 3, "total": 9},
    {"stage": "s", "current": 1},
    {"heartbeat": True, "n": 1},
    {"event": "progress", "n": 1},
    {"event": "item", "data": {"event": "item", "data": {"heartbeat": True}}},
    {"ok": True, "meta": {}},
    {"ok": False, "data": 1},
    {"_summary": True, "_count": 5},
    {"data": 1, "error": None, "meta": {}},
    {"code": 1, "error": "e", "message": "m", "schema_version": "1.0"},
    {"status": "ok", "schema_version": "1.0"},
    {"event": "item", "data": 1},
    {"count": 7},
    {"value": 3},
    {"value": {"value": 3}},
    {"_seq": 9, "a": 1},
    3,
    [1],
    None,
]
_STREAMS = """
import json, sys, click, murli

ITEMS = json.loads(sys.stdin.read())

@click.command()
def stream():
    yield from ITEMS

murli.annotate(stream, murli.Metadata(idempotent=True, streams=True))
murli.enable(stream, name="stream")
stream()
"""


@pytest.mark.parametrize("contract", ["murli", "response", "agent-spec-1.6", "agent-spec-2"])
def test_an_item_is_an_item_whatever_its_keys(tmp_path: Path, contract: str) -> None:
    """What murli streams its client gives out: nothing is taken for progress or for the end."""
    script = tmp_path / "stream.py"
    script.write_text(_STREAMS)
    tool = Client(contract == "murli", tmp_path / "state")(
        [sys.executable, str(script)], env=environment(MURLI_CONTRACT=contract), check=False
    )
    items, stream = tool.stream(stdin=json.dumps(ITEMS).encode(), stream=True)
    assert items == ITEMS
    assert [*tool.call(stdin=json.dumps(ITEMS).encode(), stream=True).items] == ITEMS
    assert stream.response.is_usable, stream.response.oddities


@pytest.mark.parametrize(
    ("answer", "usable"),
    [
        (murli_ok({"count": 2}, {"a": 1}, {"a": 2}), True),
        (murli_ok({"count": 3}, {"a": 1}, {"a": 2}), False),
        (murli_ok({"count": 1}, {"a": 1}, {"a": 2}), False),
        (murli_ok({"count": 3}), False),
        (murli_ok({"count": 9, "more": 1}, {"a": 1}), True),
        (murli_ok({"total": 9}, {"_seq": 7}), True),
        (spec_ok({}, {"_seq": 1}, {"_seq": 2}, items_emitted=2), True),
        (spec_ok({}, {"_seq": 2}, {"_seq": 3}), False),
        (spec_ok({}, {"_seq": 1}, items_emitted=0), False),
        (Answer(lines({"a": 1}, {"_summary": True, "_count": 1, "more": 2})), True),
        (Answer(lines({"a": 1}, {"_summary": True, "_count": 4})), False),
    ],
)
def test_the_count_of_a_stream_is_compared(
    client: Client, tmp_path: Path, answer: Answer, usable: bool
) -> None:
    """Items that are missing, or too many, make a stream that nobody should rely on."""
    _, stream = client(fake(tmp_path, answer)).stream()
    assert (stream.response.ok, stream.response.is_usable) == (True, usable)
    assert usable or isinstance(stream.response.decisions[-1], Stop)


@pytest.mark.parametrize(
    "answer",
    [
        murli_error(5, "not_found"),
        Answer(lines({"a": 1}), murli_error(2, "tool_error").stderr, 2),
        spec_error(5, "NOT_FOUND"),
        Answer(lines({"a": 1})),
        Answer(lines({"a": 1}, {"a": 2}) + spec_ok(1).stdout * 2),
        Answer(b'{"a": 1, "a": 2}\n' + murli_ok(1).stdout),
    ],
)
def test_a_stream_that_failed_is_not_an_empty_loop(
    client: Client, tmp_path: Path, answer: Answer
) -> None:
    """Behind its last item it raises what failed, unless the caller wants to look by himself."""
    one = fake(tmp_path, answer)
    with pytest.raises(ToolFailed) as caught:
        client(one).stream("watch", raises=True)
    assert caught.value.response.problem is not None
    _, stream = client(one).stream("watch", raises=False)
    assert stream.response.problem == caught.value.response.problem


def test_a_batch_can_be_streamed(client: Client, tmp_path: Path) -> None:
    """Each call of a batch is an item, and all of them have worked or not."""

    def line(number: int, *, ok: bool = True) -> dict[str, Any]:
        meta = {"exit_code": 0 if ok else 5, "duration_ms": 1, "_line": number}
        error = None if ok else {"code": "NOT_FOUND", "message": "m"}
        return {"ok": ok, "data": {} if ok else None, "error": error, "warnings": [], "meta": meta}

    items, stream = client(fake(tmp_path, Answer(lines(line(1), line(2))))).stream("exec")
    assert (len(items), stream.response.ok) == (2, True)
    broken = fake(tmp_path, Answer(lines(line(1), line(2, ok=False)), b"", 5))
    items, stream = client(broken).stream("exec")
    assert (len(items), stream.response.state) == (2, "partial")
    assert len(broken.calls) == 1
