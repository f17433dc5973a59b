"""What an answer holds: its fields, its size in bytes, and whether the caller has it already."""

from __future__ import annotations

import json
import shlex
import time
from typing import Any

import click
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

import murli
from in_process import CONTRACTS, FAMILY, GIVEN, ask, make_tool
from murli.formats import plain
from properties import examples

pytestmark = pytest.mark.warm


TOOLS = {contract: make_tool(contract) for contract in CONTRACTS}
PAYLOAD = {"murli": "result"} | dict.fromkeys(FAMILY, "data")


def facts_of(document: dict[str, Any]) -> dict[str, Any]:
    """Give what *document* says about the part it is, in one set of words."""
    if "page" in document or "meta" not in document:
        page: dict[str, Any] = document.get("page", {})
        return page
    meta = document["meta"]
    return {
        "total": meta.get("total_count"),
        "returned": meta.get("returned_count"),
        "next_cursor": meta.get("cursor") or meta.get("pagination", {}).get("next_cursor"),
        "rest": meta.get("truncation_hint"),
    }


# -- fields ------------------------------------------------------------------------------------


@pytest.mark.parametrize("contract", CONTRACTS)
def test_fields_of_an_object_or_of_every_item(contract: str) -> None:
    """--fields keeps these keys in the order they were asked for, dots for what is nested."""
    item = {"id": 1, "name": "a", "owner": {"name": "o", "mail": "m"}, "a.b": 2}
    for result, selected in (
        (item, {"name": "a", "id": 1}),
        ([item, {"id": 2}, 7], [{"name": "a", "id": 1}, {"id": 2}, 7]),
    ):
        GIVEN["result"] = result
        done = ask(TOOLS[contract], "give", "--fields", "name, id,nonsense")
        assert done.document[PAYLOAD[contract]] == selected
        kept = done.document[PAYLOAD[contract]]
        assert list(kept[0] if isinstance(kept, list) else kept) == ["name", "id"]
    GIVEN["result"] = {"items": [item], "total": 1}
    done = ask(TOOLS[contract], "give", "--fields", "items.owner.name,items.a.b")
    nested = {"items": [{"owner": {"name": "o"}, "a.b": 2}]}
    assert done.document[PAYLOAD[contract]] == nested


def test_fields_that_nobody_has_are_told() -> None:
    """A warning lists what there is when none of the fields exists, or nothing has fields."""
    tool = TOOLS["agent-spec-2"]
    GIVEN["result"] = [{"id": 1}]
    done = ask(tool, "give", "--fields", "nmae").document
    assert done["data"] == [{}]
    assert done["warnings"][0]["code"] == "FIELD_UNKNOWN"
    assert done["warnings"][0]["context"] == {"fields": ["nmae"], "known": ["id"]}
    GIVEN["result"] = "text"
    done = ask(tool, "give", "--fields", "a", "--limit", "1", "--cursor", "").document
    assert done["error"]["code"] == "INVALID_CURSOR"
    done = ask(tool, "give", "--fields", "a", "--limit", "1").document
    assert (done["data"], done["ok"]) == ({"text": "text"}, True)
    assert [each["code"] for each in done["warnings"]] == ["PAGING_NOT_APPLIED"] * 2
    assert ask(TOOLS["murli"], "give", "--fields", " , ").error["error"] == "flag_error"


def test_flags_of_ours_mean_nothing_to_describe() -> None:
    """A mounted command refuses what chooses a part of an answer."""
    done = ask(TOOLS["murli"], "describe", "--limit", "3")
    assert (done.code, done.error["message"]) == (1, "Unknown option --limit.")


# -- bytes -------------------------------------------------------------------------------------


@pytest.mark.parametrize("contract", CONTRACTS)
def test_a_list_ends_before_it_is_too_long(contract: str) -> None:
    """Whole items up to the cap, the counts, and the call that goes on; walked, all of it."""
    GIVEN["result"] = [{"id": number, "name": "é" * 20} for number in range(120)]
    words, items, calls = ["give", "--limit", "0", "--max-bytes", "3000"], [], 0
    while words:
        calls += 1
        done = ask(TOOLS[contract], *words)
        assert len(done.stdout) <= 3000
        facts = facts_of(done.document)
        items += done.document[PAYLOAD[contract]]
        if facts.get("rest"):
            assert facts["total"] == 120
            assert len(done.stdout) > 2500  # as many as fit
        words = shlex.split(facts.get("rest") or "")[1:]
    assert items == GIVEN["result"]
    assert calls < 12


@pytest.mark.parametrize("contract", CONTRACTS)
def test_a_text_ends_at_the_end_of_a_line(contract: str) -> None:
    """What was printed is given by whole lines; joined, they are the text."""
    GIVEN["result"] = "\n".join(f'line {number} \\ "é"' for number in range(200))
    words, texts = ["give", "--max-bytes", "2000", "--limit", "3"], []
    while words:
        done = ask(TOOLS[contract], *words)
        assert len(done.stdout) <= 2000
        payload = done.document[PAYLOAD[contract]]
        texts.append(payload if contract == "murli" else payload["text"])
        facts = facts_of(done.document)
        if facts.get("rest"):
            assert (facts["total"], facts["returned"]) == (200, texts[-1].count("\n") + 1)
        words = shlex.split(facts.get("rest") or "")[1:]
    assert "\n".join(texts) == GIVEN["result"]
    assert len(texts) > 2


@pytest.mark.parametrize("contract", CONTRACTS)
def test_a_value_is_there_or_it_is_not(contract: str) -> None:
    """The largest value that cannot be divided is null, named, and had with the call that is told.

    Its neighbours stay.
    """
    GIVEN["result"] = {"a": 1, "deep": {"blob": "x" * 5000, "b": 2}, "text": "y\n" * 100}
    done = ask(TOOLS[contract], "give", "--max-bytes", "2000")
    assert len(done.stdout) <= 2000
    payload = done.document[PAYLOAD[contract]]
    assert payload == {"a": 1, "deep": {"blob": None, "b": 2}, "text": "y\n" * 100}
    facts = facts_of(done.document)
    assert (facts["total"], facts["returned"]) == (3, 2)
    assert facts["rest"] == "tool give --max-bytes 0"
    whole = ask(TOOLS[contract], *shlex.split(facts["rest"])[1:]).document
    assert whole[PAYLOAD[contract]] == GIVEN["result"]
    if contract == "murli":
        assert facts["left_out"] == ["deep.blob"]
    elif contract == "agent-spec-2":
        warning = done.document["warnings"][0]
        assert warning["code"] == "FIELD_TRUNCATED"
        assert {"field": "deep.blob", "returned_bytes": 0, "original_bytes": 5002}.items() <= (
            warning["context"].items()
        )
        assert done.document["meta"]["truncated"] is True
    else:
        assert "deep.blob (5,002 bytes)" in done.document["warnings"][0]


def test_an_item_too_large_does_not_stop_the_walk() -> None:
    """It comes without what is too large in it; the warning has the call for it alone."""
    tool = TOOLS["agent-spec-2"]
    GIVEN["result"] = [{"id": 0}, {"id": 1, "blob": "x" * 9000}, {"id": 2}]
    first = ask(tool, "give", "--max-bytes", "1500").document
    assert first["data"] == [{"id": 0}]
    words = shlex.split(first["meta"]["truncation_hint"])[1:]
    second = ask(tool, *words).document
    assert second["data"] == [{"id": 1, "blob": None}]
    assert second["warnings"][0]["context"]["field"] == "[1].blob"
    alone = shlex.split(second["warnings"][0]["context"]["rest"])[1:]
    assert ask(tool, *alone).document["data"] == GIVEN["result"][1:2]
    words = shlex.split(second["meta"]["truncation_hint"])[1:]
    assert ask(tool, *words).document["data"] == [{"id": 2}]


def test_a_line_too_long_does_not_stop_the_walk() -> None:
    """A text without a line that fits says null, and goes on behind it."""
    tool = TOOLS["agent-spec-2"]
    GIVEN["result"] = "x" * 9000 + "\nend"
    done = ask(tool, "give", "--max-bytes", "1500").document
    assert done["data"] == {"text": None}
    rest = shlex.split(done["meta"]["truncation_hint"])[1:]
    assert ask(tool, *rest).document["data"] == {"text": "end"}
    whole = shlex.split(done["warnings"][0]["context"]["rest"])[1:]
    assert ask(tool, *whole).document["data"] == {"text": GIVEN["result"]}
    GIVEN["result"] = "x" * 9000
    done = ask(TOOLS["murli"], "give", "--max-bytes", "500").document
    assert (done["result"], done["page"]["total"], done["page"]["returned"]) == (None, 1, 0)
    assert done["page"]["left_out"] == ["result"]


def test_with_no_room_at_all_the_way_to_the_whole_is_told() -> None:
    """Where not even the envelope fits, nothing is given and nothing is skipped."""
    GIVEN["result"] = [{"id": number, "name": "x" * 100} for number in range(9)]
    done = ask(TOOLS["agent-spec-2"], "give", "--max-bytes", "10").document
    assert (done["data"], done["meta"]["pagination"]["has_more"]) == ([], True)
    whole = shlex.split(done["meta"]["truncation_hint"])[1:]
    assert ask(TOOLS["agent-spec-2"], *whole).document["data"] == GIVEN["result"]
    GIVEN["result"] = {}
    assert ask(TOOLS["agent-spec-2"], "give", "--max-bytes", "10").document["warnings"] == []


def test_a_list_beside_something_large() -> None:
    """In an object with one list both what is beside it and the list are made to fit."""
    GIVEN["result"] = {"note": "x" * 4000, "of": "y", "rows": [{"id": n} for n in range(200)]}
    tool, rows = TOOLS["agent-spec-2"], []
    words = ["give", "--max-bytes", "2500"]
    while words:
        done = ask(tool, *words)
        assert len(done.stdout) <= 2500
        assert list(done.document["data"]) == ["note", "of", "rows"]
        assert (done.document["data"]["note"], done.document["data"]["of"]) == (None, "y")
        rows += done.document["data"]["rows"]
        facts = facts_of(done.document)
        words = shlex.split(facts["rest"])[1:] if facts["next_cursor"] else []
    assert rows == GIVEN["result"]["rows"]
    GIVEN["result"] = {"tags": ["a", "b"], "blob": "x" * 4000}
    done = ask(tool, "give", "--max-bytes", "2500").document
    assert done["data"] == {"tags": ["a", "b"], "blob": None}
    assert done["meta"]["truncation_hint"] == "tool give --max-bytes 0"


def test_a_long_message_counts_as_well() -> None:
    """The sentence for people is left out when it is no sentence."""
    group = click.Group("tool")

    @group.command()
    def say() -> None:
        murli.get_writer().write_success("x" * 5000, GIVEN["result"])

    murli.enable(group, name="tool")
    GIVEN["result"] = {"id": 1}
    done = ask(group, "say", "--max-bytes", "1000").document
    assert (done["message"], done["result"]) == ("", {"id": 1})
    assert done["page"]["left_out"] == ["message"]
    GIVEN["result"] = list(range(9000))
    done = ask(group, "say", "--max-bytes", "1000").document
    assert (done["message"], 10 < len(done["result"]) < 200) == ("", True)


@pytest.mark.parametrize(
    "variable", ["TOOL_MAX_OUTPUT_BYTES", "MURLI_MAX_OUTPUT_BYTES", "MY_SHOP_MAX_OUTPUT_BYTES"]
)
@pytest.mark.parametrize("contract", ["murli", "agent-spec-2"])
def test_the_environment_says_how_long_an_answer_may_be(contract: str, variable: str) -> None:
    """A variable of the tool's, or of all tools, is a cap; --max-bytes outranks it."""
    group = click.Group("my-shop")
    group.add_command(make_tool(contract).commands["give"])
    murli.enable(group, name="my-shop", contract=contract)  # type: ignore[arg-type]
    GIVEN["result"] = [{"name": "x" * 90}] * 15
    done = ask(group, "give", **{variable: "1400"})
    assert len(done.stdout) <= 1400 < len(ask(group, "give").stdout)
    assert len(ask(group, "give", "--max-bytes=0", **{variable: "1400"}).stdout) > 1400
    done = ask(group, "give", **{variable: "many"})
    assert len(done.document[PAYLOAD[contract]]) == 15
    assert f"{variable} is not a number" in done.out + done.err


def test_the_family_has_a_cap_of_its_own() -> None:
    """An answer has at most 1,048,576 bytes under the family, and any number under murli."""
    GIVEN["result"] = ["x" * 1000] * 1200
    started = time.monotonic()
    done = ask(TOOLS["agent-spec-2"], "give", "--limit", "0")
    assert 1_000_000 < len(done.stdout) <= 1_048_576
    assert time.monotonic() - started < 20
    assert len(ask(TOOLS["murli"], "give").document["result"]) == 1200


def test_an_answer_that_cannot_be_asked_for_again_is_not_capped_unasked() -> None:
    """What a mutation did is told whole; made to fit, it offers no call that would do it again.

    It offers the call that reads what is kept, if it is.
    """
    GIVEN["result"] = ["x" * 1000] * 1200
    tool = make_tool("agent-spec-2", mutating=True)
    assert len(ask(tool, "give", "--yes").document["data"]) == 1200
    done = ask(tool, "give", "--yes", "--max-bytes", "5000")
    assert len(done.stdout) <= 5000
    meta = done.document["meta"]
    assert (meta["truncated"], meta["total_count"]) == (True, 1200)
    assert meta["truncation_hint"] == meta["kept"]["call"]
    assert " get " in meta["truncation_hint"] and "give" not in meta["truncation_hint"]
    assert meta["pagination"]["next_cursor"] is None
    done = ask(tool, "give", "--yes", "--max-bytes", "5000", MURLI_KEEP_SECONDS="0")
    meta = done.document["meta"]
    assert "truncation_hint" not in meta and meta["pagination"]["next_cursor"] is None


@pytest.mark.parametrize("contract", CONTRACTS)
def test_a_plan_is_whole_unless_it_is_too_long(contract: str) -> None:
    """A dry run is cut by no number that nobody gave; made to fit, it is walked like a list."""
    group = click.Group("tool")

    @group.command()
    def drop() -> None:
        murli.get_writer().write_plan("Would drop.", GIVEN["result"])

    murli.annotate(drop, murli.Metadata(mutating=True, dry_runnable=True))
    murli.enable(group, name="tool", contract=contract)  # type: ignore[arg-type]
    GIVEN["result"] = [{"id": number} for number in range(60)]
    payload = {"murli": "plan"}.get(contract, "data")
    assert ask(group, "drop", "--dry-run").document[payload] == GIVEN["result"]
    words, items = ["drop", "--dry-run", "--max-bytes", "1500"], list[Any]()
    while words:
        done = ask(group, *words)
        assert len(done.stdout) <= 1500
        items += done.document[payload]
        words = shlex.split(facts_of(done.document).get("rest") or "")[1:]
    assert items == GIVEN["result"]


def test_where_our_flag_is_the_commands_own_the_environment_says_it() -> None:
    """The call for the whole is one that the tool understands, whatever options it has."""
    group = click.Group("tool")

    @group.command()
    @click.option("--max-bytes", type=int)
    def give(max_bytes: int | None) -> Any:
        return GIVEN["result"]

    murli.enable(group, name="tool", contract="agent-spec-2")
    GIVEN["result"] = {"blob": "x" * 5000}
    document = ask(group, "give", TOOL_MAX_OUTPUT_BYTES="2000").document
    rest = shlex.split(document["meta"]["truncation_hint"])
    assert rest == ["tool", "--max-bytes", "0", "give"]
    assert ask(group, *rest[1:], TOOL_MAX_OUTPUT_BYTES="2000").document["data"] == GIVEN["result"]
    group.params.append(click.Option(["--max-bytes"]))
    document = ask(group, "give", TOOL_MAX_OUTPUT_BYTES="2000").document
    assert document["meta"]["truncation_hint"] == "env TOOL_MAX_OUTPUT_BYTES=0 tool give"


@pytest.mark.parametrize("contract", CONTRACTS)
def test_a_failure_tells_the_end_of_what_was_printed(contract: str) -> None:
    """A failed command's output is cut at whole lines, from the front; the error stays."""
    group = click.Group("tool")

    @group.command()
    def fail() -> None:
        click.echo("\n".join(f"line {number}" for number in range(2000)))
        raise murli.AgentError.not_found("It is gone.")

    murli.enable(group, name="tool", contract=contract)  # type: ignore[arg-type]
    done = ask(group, "fail", "--max-bytes", "3000")
    written = done.stderr if contract == "murli" else done.stdout
    assert (done.code, len(written) <= 3000) == (5, True)
    assert "It is gone." in written.decode() and "line 1999" in written.decode()
    assert "omitted_characters" in written.decode()


leaves = st.one_of(st.booleans(), st.integers(), st.text(max_size=60), st.floats(-9, 9))
values = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("abc"), inner, max_size=4),
    max_leaves=12,
)


@examples(40, suppress_health_check=[HealthCheck.too_slow])
@given(
    contract=st.sampled_from(CONTRACTS),
    items=st.lists(values, max_size=25),
    cap=st.integers(0, 5000),
    limit=st.none() | st.integers(0, 9),
)
def test_nothing_is_lost(contract: str, items: list[Any], cap: int, limit: int | None) -> None:
    """Whatever the list, the limit and the cap, the calls that are told give every item once."""
    GIVEN["result"] = items
    words = ["give", "--max-bytes", str(cap)]
    words += [] if limit is None else ["--limit", str(limit)]
    found: list[Any] = []
    lighter, calls = False, 0
    while words:
        calls += 1
        assert calls < 60
        done = ask(TOOLS[contract], *words)
        given, facts = done.document[PAYLOAD[contract]], facts_of(done.document)
        most = int(words[words.index("--max-bytes") + 1])
        assert not most or len(done.stdout) <= most or given == []
        lighter |= bool(given and (facts.get("left_out") or done.document.get("warnings")))
        found += given
        if facts.get("rest"):
            assert (facts["total"], facts["returned"]) == (len(items), len(given))
        going_on = facts.get("next_cursor") or not given
        words = shlex.split(facts.get("rest") or "")[1:] if going_on else []
    assert len(found) == len(items)
    assert lighter or found == plain(items)


# -- etags and marks ---------------------------------------------------------------------------


@pytest.mark.parametrize("contract", CONTRACTS)
def test_who_has_an_answer_is_told_so(contract: str) -> None:
    """With --etag an answer says what it is known by; asked with that, it has no data."""
    tool, result = TOOLS[contract], {"id": 1}

    def etag_in(document: dict[str, Any]) -> str:
        return str((document if contract == "murli" else document["meta"]).get("etag"))

    GIVEN["result"] = result
    assert "etag" not in ask(tool, "give").out
    first = ask(tool, "give", "--etag", "").document
    assert first[PAYLOAD[contract]] == result
    again = ask(tool, "give", "--etag", etag_in(first)).document
    said = again if contract == "murli" else again["meta"]
    assert (again[PAYLOAD[contract]], said["not_modified"]) == (None, True)
    assert etag_in(again) == etag_in(first)
    GIVEN["result"] = {"id": 2}
    changed = ask(tool, "give", "--etag", etag_in(first)).document
    assert (changed[PAYLOAD[contract]], etag_in(changed) == etag_in(first)) == ({"id": 2}, False)
    tool = make_tool(contract, mutating=True)
    assert "etag" not in ask(tool, "give", "--yes", "--etag", etag_in(changed)).out


def test_what_was_declared_about_a_result_is_in_it() -> None:
    """The effect of a success and the mark of outside data are added, under the family alone."""
    GIVEN["result"] = {"id": 1}
    facts: dict[str, Any] = {"mutating": True, "effect": "created"}
    data = ask(make_tool("agent-spec-2", **facts), "give", "--yes", "--fields", "x").document
    assert data["data"] == {"effect": "created"}
    assert ask(make_tool("murli", **facts), "give", "--yes").document["result"] == {"id": 1}
    GIVEN["result"] = list(range(30))
    tool = make_tool("agent-spec-2", external=True)
    data = ask(tool, "give", "--limit", "2").document
    assert data["data"] == {"_source": "external", "_trusted": False, "content": [0, 1]}
    assert data["meta"]["pagination"]["total"] == 30
    rest = shlex.split(data["meta"]["truncation_hint"])[1:]
    assert ask(tool, *rest).document["data"]["content"] == [2, 3]


def test_a_secret_is_not_in_the_call_for_the_rest() -> None:
    """What was given as a secret is masked in it, quotation marks or not."""
    group = click.Group("tool")

    @group.command()
    @click.option("--token")
    def give(token: str) -> list[str]:
        return [token] * 3000

    note = murli.FlagAnnotation(sensitive=True)
    murli.annotate(give, murli.Metadata(flag_annotations={"token": note}))
    murli.enable(group, name="tool", contract="agent-spec-2")
    done = ask(group, "give", "--token", "it's secret")
    assert "secret" not in done.out
    assert "[REDACTED]" in json.loads(done.out)["meta"]["truncation_hint"]
    # A mask may be longer than what it hides.
    done = ask(group, "give", "--token", "abcd", "--limit", "0", "--max-bytes", "9000")
    assert len(done.stdout) <= 9000
    assert len(done.document["data"]) > 300
