"""A tool is called by its rules: what it is given, what is done about its answers, what is kept."""

from __future__ import annotations

import asyncio
import json
import pickle
import stat
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import murli.client
from client_documents import DESCRIBE, kinds
from client_fakes import (
    HASTY,
    QUICK,
    Answer,
    Client,
    children,
    fake,
    lines,
    murli_error,
    murli_ok,
    spec_error,
    spec_ok,
)
from harness import environment, run, script, tool
from murli.client import (
    ArgumentMistake,
    Done,
    Escalate,
    FetchNextPage,
    Policy,
    RefreshCredentials,
    RetryAfter,
    RunInstead,
    Stop,
    Tool,
    ToolFailed,
)
from murli.client.calling import build
from murli.wire.listing import from_description, from_manifest

CONTRACTS = ["murli", "response", "agent-spec-1.6", "agent-spec-2"]
pytestmark = pytest.mark.usefixtures("own_places")


# -- words ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "flags", "expected"),
    [
        (["query", "tea"], {"top": 5}, "query tea --top=5"),
        (["query", "tea"], {"dry_run": True, "off": False, "no": None}, "query tea --dry-run"),
        (["query", "-x", "y"], {"top": 5}, "query --top=5 -- -x y"),
        (["query", "-"], {}, "query -"),
        (["add"], {"tag": ["a", "b c"]}, "add --tag=a '--tag=b c'"),
        (["add", "x"], {"point": (1, 2)}, "add x --point 1 2"),
        (["add", "-x"], {"point": (1, 2)}, "add --point 1 2 -- -x"),
        (["add"], {"n": 5, "q": True}, "add -n 5 -q"),
        (["add"], {"from_": "x", "as_type_": "y"}, "add --from=x --as-type=y"),
        (["add", 5, 2.5, Path("a/b")], {"data": {"a": [1]}}, 'add 5 2.5 a/b --data={"a":[1]}'),
    ],
)
def test_a_call_is_written_as_words(words: list[Any], flags: dict[str, Any], expected: str) -> None:
    """Words stay words, keywords become options, and no value can be taken for an option."""
    import shlex

    parts = expected.split(" ") if "{" in expected else shlex.split(expected)
    assert list(build(words, flags)) == parts


def test_a_call_is_written_as_the_tool_lists_it() -> None:
    """What is known of a tool decides where an option stands and how it is spelled."""
    known = from_description(DESCRIBE)
    assert build(["query", "tea"], {"s": "size"}, known) == ("query", "--sort=size", "tea")
    assert build(["query", "tea"], {"colour": False}, known) == ("query", "--no-colour", "tea")
    assert build(["query", "tea"], {"dry_count": 1}, known)[1] == "--dry_count=1"
    call = build(["user", "list", 1, 2], {"region": "eu", "limit": 3}, known)
    assert call == ("user", "--region=eu", "list", "--limit=3", "1", "2")
    # What is not listed may have moved: the tool will tell.
    assert build(["find", "tea"], {"topp": 1}, known) == ("find", "tea", "--topp=1")


@pytest.mark.parametrize(
    ("words", "flags", "told"),
    [
        (["query", "x"], {"topp": 1}, "tool query has no flag --topp. Did you mean --top?"),
        (["query", "x"], {"top": "many"}, "--top is a whole number, not 'many'."),
        (["query", "x"], {"near": "far"}, "--near is a number, not 'far'."),
        (["query", "x"], {"sort": "colour"}, "--sort cannot be 'colour'; it is one of name, size."),
        (["query", "x"], {"sort": True}, "--sort needs a value."),
        (["query", "x"], {"sort": ["name"]}, "--sort takes one value, not a list."),
        (["query", "x"], {"colour": "red"}, "--colour takes no value. Give True or False."),
        (["query"], {}, "The argument TEXT is missing."),
        (["query", "x", "y"], {}, "The argument 'y' is one too many."),
        (["user", "add", "x"], {"role": "a"}, "ID is a whole number, not 'x'."),
        (["user", "add", 1], {}, "--role is required."),
        (["user", "list", "x"], {}, "IDS is a whole number, not 'x'."),
        (["query", "\0"], {}, "a word holds a NUL. No program can be given one."),
    ],
)
def test_a_mistake_is_found_before_a_process_is(
    words: list[Any], flags: dict[str, Any], told: str
) -> None:
    """What the tool would refuse is refused here, with what it accepts."""
    with pytest.raises(ArgumentMistake) as caught:
        build(words, flags, from_description(DESCRIBE))
    assert str(caught.value) == told


def test_what_may_come_from_elsewhere_is_not_missed() -> None:
    """A required flag may be in the environment or in a profile; then the tool knows better."""
    known = from_description(DESCRIBE)
    build(["user", "add", 1], {}, known, {"ROLE": "admin"})
    build(["user", "add", 1], {"profile": "production"}, known)
    build(["user", "add"], {"help": True}, known)


def test_nothing_is_started_for_a_mistake(client: Client, tmp_path: Path) -> None:
    """A call that cannot work costs no process; the caller is told what to change."""
    one = fake(tmp_path, Answer(lines(DESCRIBE)))
    checked = client(one, contract="murli")
    with pytest.raises(ArgumentMistake) as caught:
        checked.call("query", "x", topp=1)
    assert (caught.value.field, caught.value.suggestion) == ("topp", "Did you mean --top?")
    # Asked what it is, and again in case that was old; never called.
    assert one.calls == [["describe"], ["describe"], ["--schema"]]


# -- answers --------------------------------------------------------------------------------------


def test_an_answer_tells_how_it_came_about(client: Client, tmp_path: Path) -> None:
    """The answer knows its call, and every decision that led to it."""
    told: list[Any] = []
    one = fake(tmp_path, murli_error(8, "rate_limited", retry_after_ms=1), murli_ok({"n": 1}))
    calling = client(
        one, policy=HASTY, on_decision=lambda decision, response: told.append(decision)
    )
    found = calling.call("go", n=3)
    assert (found.contract, found.state, found.data, found.exit_code) == (
        "murli",
        "ok",
        {"n": 1},
        0,
    )
    assert found.argv == ("tool", "go", "-n", "3") and found.duration_ms > 0
    assert kinds(found) == [RetryAfter, Done] and list(found.decisions) == told
    assert one.calls == [["go", "-n", "3"]] * 2
    assert calling.contract == "murli"


def test_what_would_be_done_can_be_asked(client: Client, tmp_path: Path) -> None:
    """A call that is not followed up runs the tool once, and tells what the next step would be."""
    one = fake(tmp_path, murli_error(8, "rate_limited", retry_after_ms=1))
    found = client(one).run("go", "-n", "3", follow=False)
    assert (kinds(found), one.calls) == ([RetryAfter], [["go", "-n", "3"]])


def test_a_failure_is_an_answer_too(client: Client, tmp_path: Path) -> None:
    """Nothing is raised for what a tool does, unless the caller wants that."""
    found = client(fake(tmp_path, murli_error(5, "not_found", suggestion="Look."))).call(
        "show", "x"
    )
    assert (found.ok, found.is_usable, found.exit_code) == (False, False, 5)
    with pytest.raises(ToolFailed) as caught:
        found.raise_for_failure()
    assert str(caught.value) == "tool: not_found. It is not_found. Look."
    assert caught.value.response is found and isinstance(caught.value.decision, Stop)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    fine = client(fake(tmp_path, murli_ok(1))).call()
    assert fine.raise_for_failure() is fine


def test_what_a_tool_says_cannot_move_a_cursor(tmp_path: Path) -> None:
    """The words of a tool end up at terminals, so control characters are taken out of them."""
    evil = murli_error(5, "not_found", message="\x1b[2Jgone\x07")
    with pytest.raises(ToolFailed) as caught:
        Tool(fake(tmp_path, evil).path, memory=False).call().raise_for_failure()
    assert str(caught.value) == "tool: not_found. gone"


def test_a_part_is_not_taken_for_the_whole(client: Client, tmp_path: Path) -> None:
    """A call gives the first page as it is, and says that it is not all."""
    one = fake(tmp_path, murli_ok([1], page={"next_cursor": "c", "returned": 1, "total": 2}))
    found = client(one).call("list")
    assert (found.ok, found.is_usable, found.data) == (True, False, [1])
    assert kinds(found) == [FetchNextPage] and len(one.calls) == 1


def test_plain_tools_can_be_called_too(client: Client) -> None:
    """A tool that keeps no contract gives its text, or its JSON, and its status."""
    assert client(["echo"]).call("hello").data == "hello\n"
    assert client(["echo"]).call('{"a": 1}').data == {"a": 1}
    ndjson = client(["printf", "%s\n"], contract="plain").call('{"a": 1}', '{"b": 2}')
    assert (ndjson.state, ndjson.data) == ("plain", '{"a": 1}\n{"b": 2}\n')
    failed = client(["sh", "-c", "echo broken >&2; exit 3"]).call()
    assert failed.problem is not None
    assert (failed.state, failed.exit_code, failed.problem.message) == ("plain", 3, "broken")
    items, stream = client(["printf", "%s\n"], contract="plain").stream("a", "b")
    assert (items, stream.response.ok) == (["a", "b"], True)


@dataclass
class Item:
    name: str
    size: int = 0


def test_data_comes_as_the_type_that_is_asked_for(client: Client, tmp_path: Path) -> None:
    """A dataclass is made of the data; data that is none is an answer not to be acted on."""
    one = fake(tmp_path, murli_ok([{"name": "tea", "size": 3, "new": 1}]), murli_ok([{"size": 3}]))
    found = client(one).call(as_type=list[Item])
    assert found.data == [Item("tea", 3)]
    wrong = client(one).call(as_type=list[Item])
    assert (wrong.state, wrong.ok) == ("malformed", False)


# -- what is done about them ----------------------------------------------------------------------


def test_a_retry_waits_and_has_an_end(client: Client, tmp_path: Path) -> None:
    """The same error is met four times at most, with the pauses that were decided."""
    one = fake(tmp_path, spec_error(12, "UNAVAILABLE", retryable=True))
    found = client(one, policy=HASTY).call("go")
    assert kinds(found) == [RetryAfter] * 3 + [Stop]
    assert [each.delay_ms for each in found.decisions[:3]] == [10, 20, 40]
    assert len(one.calls) == 4


def test_a_temporary_redirect_is_for_this_call(client: Client, tmp_path: Path) -> None:
    """The tool's other command is run in place of the call, and forgotten."""
    away = {"command": "tool search tea --top=5", "permanent": False, "reason": "renamed"}
    moved = spec_error(13, "MOVED", redirect=away)
    one = fake(tmp_path, moved, spec_ok([1]), moved, spec_ok([2]))
    for expected in ([1], [2]):
        found = client(one).call("query", "tea", top=5)
        assert (found.data, kinds(found)) == (expected, [RunInstead, Done])
    old, new = ["query", "tea", "--top=5"], ["search", "tea", "--top=5"]
    assert one.calls == [old, new, old, new]
    assert not (tmp_path / "state" / "redirects.json").exists()


def test_a_permanent_redirect_is_remembered(client: Client, tmp_path: Path) -> None:
    """A command that is gone for good is called by its new name from then on, in any session."""
    away = {"command": "tool search tea --top=5", "permanent": True, "reason": "renamed"}
    one = fake(tmp_path, spec_error(13, "MOVED", redirect=away), spec_ok([1]))
    client(one).call("query", "tea", top=5)
    found = client(one).call("query", "coffee")
    assert found.argv == ("tool", "search", "coffee") and kinds(found) == [Done]
    assert one.calls[2:] == [["search", "coffee"]]
    kept = tmp_path / "state" / "redirects.json"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert stat.S_IMODE(kept.parent.stat().st_mode) == 0o700
    (rules,) = json.loads(kept.read_text())["tools"].values()
    assert (rules[0]["from"], rules[0]["to"]) == (["query"], ["search"])


def test_a_secret_is_put_back(client: Client, tmp_path: Path) -> None:
    """A tool shows no secret in the call to make instead; the caller has it, and it is not kept."""
    shown = "tool search '--token=[REDACTED]' tea '[REDACTED]'"
    away = {"command": shown, "permanent": True, "reason": "renamed"}
    moved = spec_error(13, "MOVED", redirect=away)
    one = fake(tmp_path, moved, spec_ok(1))
    client(one).run("query", "--token=s3cret", "tea", "hush")
    assert one.calls[1] == ["search", "--token=s3cret", "tea", "hush"]
    assert "s3cret" not in (tmp_path / "state" / "redirects.json").read_text()
    for words in (["query", "tea"], ["query", "--token=s3cret", "coffee", "hush"]):
        lost = fake(tmp_path, moved)
        assert kinds(client(lost).run(*words)) == [Escalate]


@pytest.mark.parametrize(
    "command",
    [
        "rm -rf /",
        "tool search; rm x",
        "tool search > /etc/passwd",
        'tool search "$(id)"',
        "tool build ~/notes",
        "sh -c 'tool search'",
        "tool 'open",
        "tool purge --force",
        "",
    ],
)
def test_only_plain_calls_of_the_same_tool_are_run(tmp_path: Path, command: str) -> None:
    """Another program, a shell's signs or a yes that nobody said: not run, but handed to people."""
    away = {"command": command, "permanent": True, "reason": "renamed"}
    for answer in (
        spec_error(13, "MOVED", redirect=away),
        spec_error(4, "NO_INDEX", fix_command=command, retryable=False),
    ):
        one = fake(tmp_path, answer, spec_ok(1))
        found = Tool(one.path, memory=False, limits=QUICK, check=False).call("go")
        assert isinstance(found.decisions[-1], (Escalate, Stop)) and not found.ok
        assert one.calls == [["go"]]


def test_a_tool_goes_by_its_own_name(client: Client, tmp_path: Path) -> None:
    """A tool that is run by an interpreter is the one its manifest and its answers name."""
    away = {"command": "shop find tea", "permanent": False, "reason": "typo_corrected"}
    redirected = lines({**json.loads(spec_error(13, "MOVED", redirect=away).stdout)})
    document = json.loads(redirected)
    document["meta"]["command"] = "shop fnd"
    one = fake(tmp_path, Answer(lines(document), b"", 13), spec_ok([1]))
    found = client(["sh", str(one.path)]).call("fnd", "tea")
    assert found.data == [1] and one.calls == [["fnd", "tea"], ["find", "tea"]]


def test_credentials_are_renewed_once(client: Client, tmp_path: Path) -> None:
    """An expired token is renewed by the caller's hook, and the call made once more."""
    expired = spec_error(8, "TOKEN_EXPIRED")
    seen: list[str] = []
    one = fake(tmp_path, expired, spec_ok(1))
    found = client(one, refresh=lambda response: seen.append(response.problem.code)).call()
    assert (found.data, kinds(found), seen) == (1, [RefreshCredentials, Done], ["TOKEN_EXPIRED"])
    again = fake(tmp_path, expired)
    found = client(again, refresh=lambda response: True).call()
    assert (kinds(found), len(again.calls)) == ([RefreshCredentials, Escalate], 2)
    never = fake(tmp_path, expired)
    found = client(never, refresh=lambda response: False).call()
    assert (kinds(found), len(never.calls)) == ([RefreshCredentials, Escalate], 1)
    assert kinds(client(fake(tmp_path, expired)).call()) == [Escalate]


def test_a_refresh_hook_may_be_awaited(tmp_path: Path) -> None:
    """The async client awaits a hook that is a coroutine function."""
    import asyncio

    from murli.client import AsyncTool

    async def renew(response: Any) -> bool:
        await asyncio.sleep(0)
        return True

    one = fake(tmp_path, spec_error(8, "TOKEN_EXPIRED"), spec_ok(1))
    found = asyncio.run(AsyncTool(one.path, memory=False, refresh=renew).call())
    assert found.data == 1


def test_a_fix_is_run_once(client: Client, tmp_path: Path) -> None:
    """What a tool declares as its fix is run, and the call made again; if either fails, no more."""
    broken = spec_error(4, "NO_INDEX", retryable=False, fix_command="tool index build")
    one = fake(tmp_path, broken, spec_ok("built"), spec_ok([1]))
    found = client(one).call("query")
    assert (found.data, kinds(found)) == ([1], [RunInstead, Done])
    assert one.calls == [["query"], ["index", "build"], ["query"]]
    useless = fake(tmp_path, broken, spec_ok("built"), broken)
    found = client(useless).call("query")
    assert (kinds(found), len(useless.calls)) == ([RunInstead, Stop], 3)
    failing = fake(tmp_path, broken, spec_error(1, "GENERAL_ERROR"))
    found = client(failing).call("query")
    assert (kinds(found), found.problem.code) == ([RunInstead, Stop], "NO_INDEX")
    assert len(failing.calls) == 2


def test_nothing_is_confirmed_by_itself(client: Client, tmp_path: Path) -> None:
    """The client adds no yes of its own; told to, it puts it where it counts."""
    asks = murli_error(1, "confirmation_required", suggestion="Pass --force.")
    one = fake(tmp_path, asks, murli_ok("done"))
    found = client(one).call("drop", "-x")
    assert (kinds(found), one.calls) == ([Escalate], [["drop", "--", "-x"]])
    meant = client(fake(tmp_path, asks, murli_ok("done")), policy=Policy(confirm=True))
    found = meant.call("drop", "-x")
    assert found.argv[1:] == ("drop", "--yes", "--", "-x")
    assert (found.data, kinds(found)) == ("done", [RunInstead, Done])


def unfinished(done: int) -> Answer:
    data = {
        "progress": {"done": done},
        "continue_command": "tool resume 7",
        "cancel_command": "tool cancel 7",
    }
    return spec_error(14, "INCOMPLETE", data)


def test_unfinished_work_is_continued(client: Client, tmp_path: Path) -> None:
    """Work that did not fit into its time goes on until it is done."""
    one = fake(tmp_path, unfinished(1), unfinished(2), spec_ok("all"))
    found = client(one).call("import")
    assert (found.data, one.calls) == ("all", [["import"], ["resume", "7"], ["resume", "7"]])


def test_work_that_does_not_get_on_is_cancelled(client: Client, tmp_path: Path) -> None:
    """Three continuations without progress: the tool is told to cancel, and people are told."""
    one = fake(tmp_path, unfinished(1))
    found = client(one).call("import")
    assert isinstance(found.decisions[-1], Escalate)
    assert one.calls == [["import"], *[["resume", "7"]] * 3, ["cancel", "7"]]


def test_a_tool_with_a_new_excuse_every_time_is_given_up(client: Client, tmp_path: Path) -> None:
    """The budget is for each error code, and there is one for all of them together."""
    excuses = (spec_error(12, f"EXCUSE_{n}", retryable=True) for n in range(20))
    one = fake(tmp_path, *excuses)
    found = client(one, policy=Policy(first_delay_ms=0)).call()
    assert len(one.calls) == 10 and isinstance(found.decisions[-1], Stop)


# -- pages ----------------------------------------------------------------------------------------


def page(items: list[int], cursor: str | None) -> Answer:
    facts = {"total": 5, "returned": len(items), "truncated": cursor is not None}
    return spec_ok(
        items, pagination={**facts, "has_more": cursor is not None, "next_cursor": cursor}
    )


def test_pages_follow_their_cursors(client: Client, tmp_path: Path) -> None:
    """Every page is a call of its own with the cursor of the one before, until there is none."""
    one = fake(tmp_path, page([1, 2], "a"), page([3, 4], "b"), page([5], None))
    pages, iteration = client(one).pages("list", "-x", limit=2)
    assert [each.data for each in pages] == [[1, 2], [3, 4], [5]]
    assert iteration.decision == Done()
    assert one.calls == [
        ["list", "--limit=2", "--", "-x"],
        ["list", "--limit=2", "--cursor=a", "--", "-x"],
        ["list", "--limit=2", "--cursor=b", "--", "-x"],
    ]


def test_pages_do_not_go_round_in_circles(client: Client, tmp_path: Path) -> None:
    """A cursor that comes again ends the pages, and so does their number."""
    one = fake(tmp_path, page([1], "a"), page([2], "b"), page([3], "a"))
    pages, iteration = client(one).pages("list")
    assert len(pages) == 3 and isinstance(iteration.decision, Stop)
    counting = fake(tmp_path, *(page([n], f"c{n}") for n in range(9)))
    from dataclasses import replace

    pages, iteration = client(counting, limits=replace(QUICK, pages=4)).pages("list")
    assert len(pages) == 4 and isinstance(iteration.decision, Stop)


def test_a_page_that_fails_is_the_last(client: Client, tmp_path: Path) -> None:
    """A failure between pages is given like a page, so that nobody takes the rest for all."""
    one = fake(tmp_path, page([1], "a"), spec_error(5, "NOT_FOUND"))
    pages, iteration = client(one).pages("list")
    assert [each.ok for each in pages] == [True, False]
    assert isinstance(iteration.decision, Stop)


# -- streams --------------------------------------------------------------------------------------


def test_a_stream_gives_items_and_then_its_end(client: Client, tmp_path: Path) -> None:
    """Items come without what is said beside them; the last line is the answer."""
    beside: list[Any] = [{"event": "progress", "current": 1}, {"heartbeat": True}]
    one = fake(
        tmp_path,
        spec_ok({"_summary": True}, {"_seq": 1}, *beside, {"_seq": 2, "a": 1}, items_emitted=2),
    )
    items, stream = client(one).stream("watch")
    assert items == [{}, {"a": 1}]
    assert (stream.response.ok, stream.response.is_usable) == (True, True)
    assert stream.progress == {"heartbeat": True}


@pytest.mark.parametrize(
    ("answer", "state", "told"),
    [
        (Answer(lines({"a": 1}, {"a": 2})), "malformed", "the stream has no terminal line"),
        (Answer(lines({"a": 1}), b"", 3), "malformed", "the stream has no terminal line"),
        (spec_ok({}, {"_seq": 1}, items_emitted=3), "ok", "3 items were sent, 1 arrived"),
        (spec_ok({}, {"_seq": 1}, {"_seq": 4}, items_emitted=4), "ok", "items 2 to 3 are missing"),
        (
            Answer(spec_ok({}).stdout + lines({"a": 1})),
            "malformed",
            "items came behind an envelope",
        ),
        (
            Answer(spec_ok({}).stdout + lines({"a": 1}) + spec_ok({}).stdout),
            "malformed",
            "there is more than one envelope on stdout",
        ),
        (Answer(b"oops\n" + spec_ok({}, {"a": 1}).stdout), "ok", "1 lines on stdout are not JSON"),
        (Answer(lines({"a": 1}, {"_summary": True, "_count": 1})), "ok", ""),
    ],
)
def test_how_a_stream_ends_is_checked(
    client: Client, tmp_path: Path, answer: Answer, state: str, told: str
) -> None:
    """A stream without a last line is not to be trusted, and lines that are missing are told."""
    _, stream = client(fake(tmp_path, answer)).stream()
    assert stream.response.state == state
    assert told in "; ".join(stream.response.oddities)
    if "were sent" in told:
        assert not stream.response.is_usable


def test_an_error_ends_a_stream(client: Client, tmp_path: Path) -> None:
    """What goes wrong in the midst of a stream is told at its end, on either stream."""
    failure = murli_error(5, "not_found")
    one = fake(tmp_path, Answer(lines({"a": 1}), failure.stderr, 5))
    items, stream = client(one).stream()
    assert (items, stream.response.problem.kind) == ([{"a": 1}], "not_found")


def test_a_stream_is_repeated_only_before_its_first_item(client: Client, tmp_path: Path) -> None:
    """Until an item is given out the rules are those of a call; then nothing is done again."""
    busy = spec_error(12, "UNAVAILABLE", retryable=True)
    one = fake(tmp_path, busy, spec_ok({}, {"a": 1}))
    items, stream = client(one, policy=HASTY).stream()
    assert (items, kinds(stream.response)) == ([{"a": 1}], [RetryAfter, Done])
    broken = Answer(lines({"a": 1}) + busy.stdout, b"", 12)
    late = fake(tmp_path, broken)
    items, stream = client(late, policy=HASTY).stream()
    assert (items, kinds(stream.response), len(late.calls)) == ([{"a": 1}], [Stop], 1)


# -- real tools -----------------------------------------------------------------------------------


@pytest.mark.adapters("argparse", "typer")
@pytest.mark.parametrize("contract", CONTRACTS)
@pytest.mark.parametrize("adapter", ["argparse", "click"])
def test_a_session_with_a_real_tool(tmp_path: Path, adapter: str, contract: str) -> None:
    """Discover, check, call, preview, be refused, confirm, stream: under every contract."""
    one = Client(contract.endswith("2"), tmp_path)(
        tool(f"tasks_{adapter}"), env=environment(MURLI_CONTRACT=contract)
    )
    known = one.commands
    assert known["task create"].mutating and known["task create"].flags["weight"].required
    with pytest.raises(ArgumentMistake, match="--weight is required"):
        one.call("task", "create", "x")
    planned = one.call("task", "create", "-x", weight=1, dry_run=True)
    assert (planned.state, planned.executed, planned.data["title"]) == ("plan", False, "-x")
    refused = one.call("task", "delete", 1)
    assert kinds(refused) == [Escalate]
    done = one.call("task", "delete", 1, yes=True, region="us")
    assert (done.contract, done.data["id"], done.data["region"]) == (contract, 1, "us")
    items, stream = one.stream("report", "stream")
    assert [item["index"] for item in items] == [0, 1]
    assert stream.response.data == {"total": 2} and stream.progress["stage"] == "read"
    lost = one.call("report", "missing")
    assert lost.problem is not None and lost.problem.kind == "not_found"


@pytest.mark.parametrize("contract", CONTRACTS)
def test_a_session_with_riffle(tmp_path: Path, contract: str) -> None:
    """Discover, call, page, stream, be redirected, run out of time, call off: every contract."""
    notes = tmp_path / "notes"
    notes.mkdir()
    for number in range(6):
        (notes / f"{number}.txt").write_text(f"woodworking, saws and wood, number {number}")
    env = environment(
        MURLI_CONTRACT=contract, HOME=str(tmp_path), RIFFLE_INDEX=str(tmp_path / "i.db")
    )
    make = Client(contract in ("response", "agent-spec-2"), tmp_path / "state")
    riffle = make([sys.executable, "-m", "riffle"], env=env)
    assert riffle.commands["query"].flags["top"].kind == "integer"
    assert riffle.call("index", "build", notes, yes=True).data["files"] == 6
    with pytest.raises(ArgumentMistake, match="Did you mean --top"):
        riffle.call("query", "wood", topp=3)
    found = riffle.call("query", "wood", top=4)
    assert found.is_usable and len(found.data) == 4
    pages, iteration = riffle.pages("query", "wood", top=4, limit=3)
    assert [len(each.data) for each in pages] == [3, 1]
    assert [each.is_usable for each in pages] == [False, True] and iteration.decision == Done()
    items, stream = riffle.stream("query", "wood", top=4, stream=True)
    assert len(items) == 4 and stream.response.ok
    mistyped = riffle.call("qury", "wood")
    assert kinds(mistyped) == ([Stop] if contract == "murli" else [RunInstead, Done])
    hurried = make(
        [sys.executable, "-m", "riffle"],
        env=env,
        check=False,
        limits=murli.client.Limits(seconds=0.01),
    )
    late = hurried.call("query", "wood")
    assert late.problem is not None and late.problem.code == "CLIENT_TIMEOUT"
    tool = murli.client.AsyncTool([sys.executable, "-m", "riffle"], env=env, check=False)
    asyncio.run(_called_off(tool))
    assert children() == set()


async def _called_off(tool: murli.client.AsyncTool) -> None:
    """Call off a call whose process has just begun."""
    calling = asyncio.ensure_future(tool.call("query", "wood"))
    while not children():
        await asyncio.sleep(0)
    calling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await calling


def test_the_wire_of_go_is_understood(client: Client, tmp_path: Path) -> None:
    """Tools of other languages sort their keys, and mark neither errors nor progress."""
    good = (
        b'{\n  "result": {\n    "count": 1\n  },\n  "schema_version": "1.0",\n  "status": "ok"\n}\n'
    )
    error = {"code": 1, "error": "invalid_input", "message": "m", "recoverable": True}
    bad = json.dumps({**error, "schema_version": "1.0"}, indent=2).encode()
    progress = lines({"stage": "read", "current": 1, "total": 3})
    one = fake(
        tmp_path, Answer(good), Answer(b"", bad, 1), Answer(lines({"a": 1}) + progress + good)
    )
    calling = client(one, check=False)
    assert calling.call().data == {"count": 1}
    failed = calling.call()
    assert failed.problem is not None and failed.problem.code == "invalid_input"
    items, stream = calling.stream()
    assert (items, stream.response.data) == ([{"a": 1}], {"count": 1})


# -- the names ------------------------------------------------------------------------------------


def test_the_public_names_are_these() -> None:
    """What others may use is listed, and all of it is there."""
    assert murli.client.__all__ == [
        "ArgumentMistake", "AsyncPages", "AsyncStream", "AsyncTool", "Catalogue", "Command",
        "Decision", "Done", "Escalate", "FetchNextPage", "Flag", "Limits", "Memory", "Pages",
        "Part", "Policy", "Positional", "Problem", "RefreshCredentials", "Replacement", "Response",
        "RetryAfter", "RunInstead", "Stop", "Stream", "Tool", "ToolFailed", "Warned", "decide",
        "read",
    ]  # fmt: skip
    for name in murli.client.__all__:
        assert getattr(murli.client, name) is not None
    with pytest.raises(AttributeError):
        _ = murli.client.nothing


def test_a_tool_does_not_load_the_client(tmp_path: Path) -> None:
    """Who writes a tool pays nothing for who calls it."""
    source = "import murli, sys; murli.Writer; print([n for n in sys.modules if 'client' in n])"
    assert run(script(tmp_path, source)).out == "[]\n"


def test_a_tool_needs_a_name() -> None:
    """Words that run nothing are a mistake of the caller."""
    wrongs: tuple[Any, ...] = ("", [])
    for wrong in wrongs:
        with pytest.raises(ValueError, match="the name of a program"):
            Tool(wrong)


def test_a_manifest_with_a_command_of_the_tools_own_name() -> None:
    """The tool itself is then listed without a name, and neither is taken for the other."""
    entry = {"description": "", "danger_level": "safe", "flags": {}, "exit_codes": {}}
    flags = {"region": {"type": "string", "required": False, "description": ""}}
    codes = {"9" * 5000: {"retryable": True, "side_effects": "none", "description": "x"}}
    commands = {"": {**entry, "subcommands": ["tool"]}, "tool": {**entry, "flags": flags}}
    document = {"schema_version": "3.0", "commands": commands, "exit_codes": codes}
    found = from_manifest(document, "agent-spec-2", "tool")
    assert set(found.commands) == {"", "tool"} and found.commands[""].is_group
    assert set(found.commands["tool"].flags) == {"region"}
    assert found.commands["tool"].retryable == {}


def test_what_a_description_does_not_say_is_not_known() -> None:
    """Neither safe nor dangerous, neither repeatable nor not: nobody said so."""
    command = {"name": "show", "flags": [{"name": "colour", "type": "bool", "default": True}]}
    found = from_description({"name": "t", "schema_version": "1.0", "commands": [command]})
    assert (found.commands["show"].mutating, found.commands["show"].idempotent) == (None, None)
    assert build(("show",), {"colour": False}, found) == ("show", "--colour=false")
