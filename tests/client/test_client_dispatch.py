"""A tool is offered to a model, and its calls are made by the rules of the client."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from client_documents import DESCRIBE
from client_fakes import HASTY, Answer, Client, fake, lines, murli_error, murli_ok, spec_ok
from harness import golden, tool
from murli.client import Done, Escalate, Policy, Stop

pytestmark = pytest.mark.usefixtures("own_places")

DESCRIBED = Answer(lines(DESCRIBE))


def answered(response: Any) -> dict[str, Any]:
    """Return what a model is told of *response*."""
    found: dict[str, Any] = json.loads(response.for_model())
    return found


@pytest.mark.parametrize(
    "contract",
    [
        "murli",
        "agent-spec-2",
        pytest.param("response", marks=pytest.mark.slow),
        pytest.param("agent-spec-1.6", marks=pytest.mark.slow),
    ],
)
def test_definitions_and_calls(
    client: Client, contract: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever contract a tool keeps, its definitions are the same, and a model can call it."""
    monkeypatch.setenv("MURLI_CONTRACT", contract)
    tasks = client(tool("tasks_click"))
    for form in ("anthropic", "openapi"):
        wanted = json.loads(golden(f"exports/{form}.json"))
        assert tasks._get("definitions", form) == wanted
    made = tasks._get("dispatch", "tasks_task_create", {"title": "-x", "weight": 1, "tag": ["a"]})
    assert made.decisions[-1].reason == "The change must be confirmed by who asked for it."
    assert answered(made)["what_to_do"].startswith("Pass confirm: true if the user wants")
    given = {"title": "-x", "weight": "1.5", "tag": ["a"], "confirm": True, "status": None}
    made = tasks._get("dispatch", "tasks_task_create", given)
    assert (made.ok, made.data["title"], made.data["weight"]) == (True, "-x", 1.5)
    plan = tasks._get("dispatch", "tasks_task_create", {**given, "dry_run": True})
    assert (plan.state, answered(plan)["note"]) == ("plan", "It is a plan: nothing was done.")
    gone = tasks._get("dispatch", "tasks_task_delete", {"id": 3, "confirm": True})
    assert (gone.ok, gone.data["id"]) == (True, 3)


def test_rules_of_the_client(client: Client, tmp_path: Path) -> None:
    """A call for a model is tried again where that is safe."""
    busy = murli_error(8, "rate_limited", retry_after_ms=1)
    shop = fake(tmp_path, DESCRIBED, busy, murli_ok({"n": 1}))
    response = client(shop, policy=HASTY)._get("dispatch", "tool_query", {"text": "x"})
    assert (response.data, len(response.decisions)) == ({"n": 1}, 2)
    assert shop.calls == [["describe"], ["query", "x"], ["query", "x"]]
    assert answered(response) == {"ok": True, "state": "ok", "result": {"n": 1}}


def test_wrong_calls_start_nothing(client: Client, tmp_path: Path) -> None:
    """What a model gets wrong is answered with what to change, and no process is started for it."""
    shop = fake(tmp_path, DESCRIBED, murli_ok(None))
    tool_of = client(shop)
    wrong: list[tuple[tuple[Any, ...], str]] = [
        (("tool_qery", {}), "Did you mean tool_query?"),
        (("tool_query", {"text": "x", "sort": "age"}), "Pass one of name, size."),
        (("tool_query", {}), "Pass text."),
        (("tool_query", "{'text': 1}"), "Pass one JSON object."),
        (("tool_query", [1]), "Pass one JSON object."),
        (({"input": {}},), "Pass a name, or a call of a model."),
        (("tool_query", {"text": "a\0b"}), "No program can be given one."),
    ]
    for words, advice in wrong:
        response = tool_of._get("dispatch", *words)
        assert isinstance(response.decisions[-1], Stop)
        found = answered(response)
        assert (found["ok"], found["error"], found["what_to_do"]) == (
            False,
            "INVALID_ARGUMENTS",
            advice,
        )
    assert shop.calls == [["describe"]]


def test_calls_as_vendors_have_them(client: Client, tmp_path: Path) -> None:
    """A call can be passed as a vendor's library has it, or as the JSON of it."""
    given, text = {"text": "x", "top": 2}, '{"text": "x", "top": 2}'
    calls = [
        SimpleNamespace(type="tool_use", id="1", name="tool_query", input=given),
        {"type": "tool_use", "name": "tool_query", "input": given},
        SimpleNamespace(type="function_call", name="tool_query", arguments=text),
        {"id": "1", "function": {"name": "tool_query", "arguments": text}},
        {"name": "tool_query", "arguments": given},
    ]
    shop = fake(tmp_path, DESCRIBED, murli_ok(1))
    tool_of = client(shop)
    for call in calls:
        assert isinstance(tool_of._get("dispatch", call).decisions[-1], Done)
    assert shop.calls[1:] == [["query", "--top=2", "x"]] * len(calls)


def test_confirming(client: Client, tmp_path: Path) -> None:
    """A change is confirmed by the flag that the command lists, where the arguments say so."""
    flags = {"wipe": {"type": "boolean"}, "sure": {"type": "boolean"}}
    entry = {"description": "Drop", "danger_level": "destructive", "confirm_flag": "--sure"}
    manifest = {
        "schema_version": "3.0",
        "commands": {"drop": {**entry, "flags": flags, "exit_codes": {}}},
    }
    shop = fake(tmp_path, spec_ok(manifest, command="shop manifest"), spec_ok({"done": True}))
    tool_of = client(shop, contract="agent-spec-2")
    (drop,) = tool_of._get("definitions", "mcp")
    assert list(drop["inputSchema"]["properties"]) == ["wipe", "confirm"]
    tool_of._get("dispatch", drop["name"], {"wipe": True})
    tool_of._get("dispatch", drop["name"], {"wipe": True, "confirm": False})
    tool_of._get("dispatch", drop["name"], {"wipe": True, "confirm": True})
    made = [call for call in shop.calls if call[0] == "drop"]
    assert made == [["drop", "--wipe"], ["drop", "--wipe"], ["drop", "--wipe", "--sure"]]


def test_asked_for_confirmation(client: Client, tmp_path: Path) -> None:
    """By itself the client confirms only what its policy allows, for a model as for anybody."""
    asks = murli_error(1, "confirmation_required", suggestion="Pass --yes.")
    for policy, kind, calls in ((Policy(), Escalate, 2), (Policy(confirm=True), Done, 3)):
        shop = fake(tmp_path, DESCRIBED, asks, murli_ok(1))
        given = {"id": 1, "role": "r", "team": "t"}
        response = client(shop, policy=policy)._get("dispatch", "tool_user_add", given)
        assert isinstance(response.decisions[-1], kind)
        assert len(shop.calls) == calls


def test_nothing_to_offer(client: Client, tmp_path: Path) -> None:
    """A tool that does not describe itself has no definitions; an unknown format is a mistake."""
    silent = fake(tmp_path, Answer(b"hello\n"))
    with pytest.raises(ValueError, match="does not describe its commands"):
        client(silent)._get("definitions", "mcp")
    with pytest.raises(ValueError, match="one of anthropic, openai"):
        client(silent)._get("definitions", "gemini")
    response = client(silent)._get("dispatch", "hello", {})
    assert answered(response)["what_to_do"] == "Call one of the tools offered."


def test_what_a_model_is_told(client: Client, tmp_path: Path) -> None:
    """A part of an answer says that it is one, and how to go on; a failure says what to do."""
    page = murli_ok([1, 2], page={"returned": 2, "total": 9, "next_cursor": "c2"})
    failed = murli_error(5, "no_index", suggestion="Run `tool index build`.", field="text")
    shop = fake(tmp_path, DESCRIBED, page, failed)
    tool_of = client(shop)
    found = answered(tool_of._get("dispatch", "tool_query", {"text": "x"}))
    assert (found["result"], found["is_whole"], found["cursor"]) == ([1, 2], False, "c2")
    assert answered(tool_of._get("dispatch", "tool_query", {"text": "x"})) == {
        "ok": False,
        "state": "failed",
        "error": "no_index",
        "message": "It is no_index.",
        "what_to_do": "Run `tool index build`.",
        "field": "text",
    }
