"""``--max-tokens``: answers cut at the edges of items, by an estimate or by a model's tokenizer."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from harness import ADAPTERS, environment, run, script
from in_process import CONTRACTS, FAMILY, GIVEN, SHOPS, ask, make_tool
from murli.compact.tokens import estimated
from murli.contracts import contract_named
from properties import examples

pytestmark = [pytest.mark.adapters("argparse", "click"), pytest.mark.warm]

TOOLS = {contract: make_tool(contract) for contract in CONTRACTS}
PAYLOAD = {"murli": "result"} | dict.fromkeys(FAMILY, "data")


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tokenizer of pairs of bytes, trained on a little JSON, in a file as models have it."""
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=400, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False
    )
    made.train_from_iterator([json.dumps([{"id": 1, "name": "item 1"}] * 9, indent=2)], trainer)
    path = tmp_path_factory.mktemp("tokenizer") / "tokenizer.json"
    made.save(str(path))
    return path


def facts_of(document: dict[str, Any]) -> tuple[str, str]:
    """Return the call for the rest, and that of the kept answer."""
    meta = document.get("meta", {})
    rest = document.get("page", {}).get("rest") or meta.get("truncation_hint") or ""
    kept = document.get("kept") or meta.get("kept") or {}
    return rest, kept.get("call", "")


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_whole_items_and_the_call_for_the_others(tmp_path: Path, adapter: str) -> None:
    """An answer has no more tokens than the caller takes; its calls return every item once."""
    argv = script(tmp_path, SHOPS[adapter])
    done = run(argv, "items", "--max-tokens", "900")
    items, calls = list(done.document["result"]), 1
    while rest := facts_of(done.document)[0]:
        assert 500 < estimated(done.out) <= 900
        done, calls = run(argv, *shlex.split(rest)[1:]), calls + 1
        items += done.document["result"]
    assert [item["id"] for item in items] == list(range(45))
    assert 2 < calls < 12


@pytest.mark.fresh
def test_tokens_are_those_of_the_tokenizer_that_is_named(tmp_path: Path, tokenizer: Path) -> None:
    """With MURLI_TOKENIZER an answer has exactly as many tokens as fit, whatever was estimated."""
    argv, count = script(tmp_path, SHOPS["click"]), Tokenizer.from_file(str(tokenizer)).encode
    env = environment(MURLI_TOKENIZER=str(tokenizer))
    done = run(argv, "items", "--max-tokens", "1400", "--output", "ndjson", env=env)
    size = len(count(done.out).ids)
    one = len(count(json.dumps(done.document["result"][0])).ids)
    assert 1400 - 2 * one < size <= 1400
    by_estimate = run(argv, "items", "--max-tokens", "1400", "--output", "ndjson")
    assert len(by_estimate.document["result"]) != len(done.document["result"])
    for text, reason in ((str(tmp_path / "none.json"), "names no tokenizer"), (str(argv[1]), "no")):
        wrong = run(argv, "items", "--max-tokens", "9", env=environment(MURLI_TOKENIZER=text))
        assert (wrong.error["error"], reason in wrong.error["message"]) == ("invalid_setting", True)
        assert run(argv, "items", env=environment(MURLI_TOKENIZER=text)).code == 0
    blocked = f"import sys\nsys.modules['tokenizers'] = None\n{SHOPS['click']}"
    missing = run(script(tmp_path, blocked, "b.py"), "items", "--max-tokens", "9", env=env)
    assert missing.error["suggestion"] == "Install it: pip install 'murli[tokens]'"


@pytest.mark.parametrize("contract", CONTRACTS)
def test_both_limits_hold(contract: str) -> None:
    """With bytes and tokens the scarcer of both decides, by flags or by variables; 0 is any."""
    GIVEN["result"] = [{"id": number, "name": "x" * 30} for number in range(200)]
    key = PAYLOAD[contract]
    sizes = {}
    for limits in (("4000", "0"), ("0", "1500"), ("4000", "1500"), ("0", "0")):
        words = ["--limit", "0", "--max-bytes", limits[0], "--max-tokens", limits[1]]
        done = ask(TOOLS[contract], "give", *words)
        assert len(done.stdout) <= (int(limits[0]) or 10**6)
        assert estimated(done.out) <= (int(limits[1]) or 10**6)
        sizes[limits] = len(done.document[key])
    assert sizes["0", "0"] == 200
    # Of two limits the answer also says more, when it names the calls.
    assert 0 < sizes["4000", "1500"] <= min(sizes["4000", "0"], sizes["0", "1500"])
    by_variable = ask(
        TOOLS[contract], "give", "--limit", "0", TOOL_MAX_OUTPUT_TOKENS="1500", HOME="/nowhere"
    )
    assert estimated(by_variable.out) <= 1500
    rest = shlex.split(facts_of(by_variable.document)[0])
    assert rest[0] == "tool" and "--cursor" in rest
    wrong = ask(TOOLS[contract], "give", "--max-tokens", "many")
    assert "expected a whole number from 0 on" in wrong.out + wrong.err


def test_a_value_a_failure_and_a_stream() -> None:
    """What is too large by itself is named, what a failure had printed is shortened, lines end."""
    GIVEN.clear()
    GIVEN["result"] = {"a": 1, "blob": "lorem " * 900}
    done = ask(TOOLS["agent-spec-2"], "give", "--max-tokens", "700")
    assert done.document["data"] == {"a": 1, "blob": None}
    warning = done.document["warnings"][0]
    assert warning["message"].startswith("blob (5,402 bytes) was left out of an answer of at most")
    assert "700 tokens" in warning["message"]
    assert facts_of(done.document)[0] == "tool give --max-bytes 0 --max-tokens 0"
    whole = ask(TOOLS["agent-spec-2"], "give", "--max-bytes", "0", "--max-tokens", "0")
    assert whole.document["data"] == GIVEN["result"]
    GIVEN["end"] = 500
    lines = ask(TOOLS["murli"], "count", "--stream", "--max-tokens", "100").lines
    assert lines[-1]["page"]["returned"] == len(lines) - 1 == 100 // estimated('{"n":0}\n')
    # A generator is not asked for more items than there is room for.
    part = ask(TOOLS["murli"], "count", "--max-tokens", "600", "--output", "ndjson").document
    assert part["result"] and GIVEN["made"] < 200


TEXTS = st.text(st.sampled_from('ab"\\{}[],: \n\té😀0'), max_size=40)
ITEMS = st.lists(
    st.dictionaries(st.sampled_from(["id", "text", "more"]), TEXTS | st.integers(0, 10**6))
    | TEXTS
    | st.lists(st.integers(), max_size=4),
    max_size=40,
)
ABOVE = [HealthCheck.too_slow]


@given(
    ITEMS,
    st.sampled_from(CONTRACTS),
    st.sampled_from(["json", "ndjson", "toon"]),
    st.integers(400, 1500),
    st.booleans(),
)
@examples(60, suppress_health_check=ABOVE)
def test_continuing_calls_lose_and_repeat_nothing(
    items: list[Any], contract: str, form: str, cap: int, by_bytes: bool
) -> None:
    """Walked by the calls that answers name, a list is whole: nothing is missing, nothing twice."""
    import toon_format

    GIVEN["result"] = items
    flag = contract_named(contract).format_flag
    shown = {"ndjson": "jsonl"}.get(form, form) if flag == "--format" else form
    limit = ["--max-bytes", str(cap * 3)] if by_bytes else ["--max-tokens", str(cap)]
    words = ["give", "--limit", "0", *limit, flag, shown]
    found: list[Any] = []
    for _ in range(200):
        done = ask(TOOLS[contract], *words, HOME="/nowhere")
        document = toon_format.loads(done.out) if form == "toon" else done.document
        rest, _ = facts_of(document)
        part = document[PAYLOAD[contract]]
        found += part
        if not rest or not part:
            break
        words = shlex.split(rest)[1:]
    assert found == items
