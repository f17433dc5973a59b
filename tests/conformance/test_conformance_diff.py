"""Two saved descriptions of a tool are compared: what breaks its callers is told as such."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diff_documents import TOOL, described, ending, flagged, go, listed, said
from diff_facts import SWITCHES
from diff_rules import RULES
from harness import GOLDEN, environment, golden, run
from murli.conformance.diffing import NotADescription, compare, document, load, text
from properties import examples


def having(key: str, value: Any) -> Any:
    """A manifest with one command that says so."""
    facts: dict[str, Any] = {key: value}
    return listed(**facts)


def told(old: Any, new: Any) -> list[str]:
    """What is told of a change, in one line each."""
    return [
        " ".join(filter(None, (each.severity, each.kind, each.command, each.subject)))
        for each in compare(old, new)
    ]


@pytest.mark.parametrize("name", RULES)
def test_rule(name: str) -> None:
    """Each rule finds its own change and no other, in both directions."""
    old, new, forward, backward = RULES[name]
    assert told(old, new) == ([forward] if isinstance(forward, str) else forward)
    assert told(new, old) == ([backward] if isinstance(backward, str) else backward)
    for each in (*compare(old, new), *compare(new, old)):
        assert each.before is None is each.after or each.before != each.after
        assert each.detail.endswith(".")


@pytest.mark.parametrize("key", SWITCHES)
def test_switch(key: str) -> None:
    """What a command does besides its work is judged by what its callers can bear."""
    on, off = SWITCHES[key]
    assert told(listed(), having(key, True)) == [f"{on} {key}_changed go {key}"]
    assert told(having(key, True), having(key, False)) == [f"{off} {key}_changed go {key}"]
    assert told(listed(), having(key, False)) == []


@pytest.mark.parametrize("key", ["mcp", "headless_supported"])
def test_denial(key: str) -> None:
    """What holds unless it is denied is lost by the denial only."""
    assert told(listed(), having(key, False)) == [f"breaking {key}_changed go {key}"]
    assert told(having(key, False), listed()) == [f"compatible {key}_changed go {key}"]
    assert told(listed(), having(key, True)) == []


WIDER = [("int", "float64"), ("int", "string"), ("float32", "string"), ("duration", "string")]
WIDER += [("string", "[]string"), ("int32", "int64"), ("uint8", "int16"), ("uint8", "uint16")]
WIDER += [("int", "integer"), ("object", "string"), ("int", "[]float64")]
OTHER = [("bool", "string"), ("bool", "int"), ("int", "duration"), ("count", "int")]
OTHER += [("ip", "ipNet"), ("stringSlice", "stringArray"), ("object", "int"), ("int8", "uint8")]
SAME = [("string", "path"), ("int", "int64"), ("stringSlice", "[]string"), ("float32", "float64")]
SAME += [("bool", "boolean"), ("intSlice", "[]int64"), ("string", "choice")]


@pytest.mark.parametrize(("narrow", "wide"), WIDER)
def test_type_that_takes_more(narrow: str, wide: str) -> None:
    """What takes all values of before is compatible; the way back breaks calls."""
    old, new = flagged(type=narrow), flagged(type=wide)
    assert told(old, new) == ["compatible flag_type_widened go --top"]
    assert told(new, old) == ["breaking flag_type_changed go --top"]


@pytest.mark.parametrize(("one", "other"), OTHER)
def test_type_that_takes_others(one: str, other: str) -> None:
    """Types of which neither takes all that the other takes break calls both ways."""
    old, new = flagged(type=one), flagged(type=other)
    assert told(old, new) == told(new, old) == ["breaking flag_type_changed go --top"]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_type_by_another_name(one: str, other: str) -> None:
    """One type has several names."""
    assert told(flagged(type=one), flagged(type=other)) == []


def test_type_that_is_not_told() -> None:
    """A type that only one document tells is a note."""
    assert told(flagged(type=None), flagged(type="int")) == ["note flag_type_changed go --top"]


def test_letter_that_means_another_flag() -> None:
    """Where a short option went is part of what is told."""
    old = described(go(flags=[{"name": "a", "short": "x"}, {"name": "b"}]))
    new = described(go(flags=[{"name": "a"}, {"name": "b", "short": "x"}]))
    assert [each.detail for each in compare(old, new) if each.severity == "breaking"] == [
        "--a can no longer be written -x, which is --b now."
    ]


def details(old: Any, new: Any) -> list[str]:
    """What is said of a change."""
    return [each.detail for each in compare(old, new)]


def test_words() -> None:
    """What is said names what is meant, before and after."""
    one, other = listed(aliases=["run", "walk"]), listed()
    other["commands"]["run"] = other["commands"]["go"]
    assert details(one, other) == [
        "run is run now.",
        "The alias walk was removed.",
        "The command run was added.",
    ]
    spelled = said("How many (written +top)")
    assert details(spelled, said("How many")) == ["--top is written --top now."]
    assert details(said("How many"), spelled) == ["--top is written +top now."]
    assert details(ending(_5={"error_codes": ["A"]}), ending(_5={"error_codes": ["B"]})) == [
        "Exit code 5 has the error code A no more.",
        "Exit code 5 has the error code B too.",
    ]
    told_now = described(go(), capabilities={"protocol_version": "0.2"})
    assert details(described(go()), told_now) == ['The protocol version is "0.2" now, not nothing.']
    assert details(listed(), listed(platform=["linux"])) == [
        'It runs on "linux" now, not on every system.'
    ]
    assert details(listed(option_placement="strict"), listed()) == [
        'option_placement is "any" now, not "strict".'
    ]
    assert details(flagged(enum=["a"] * 2), flagged(enum=["x" * 99])) == [
        '--top no longer takes "a".',
    ]
    assert details(flagged(default="x" * 58), flagged(default="x" * 59)) == [
        f'--top has the default "{"x" * 58}… now, not "{"x" * 58}".',
    ]


def test_confirmation_of_nothing() -> None:
    """Where nothing is left to confirm, nobody misses the flag for it."""
    assert told(listed(confirm_flag="really"), listed(danger_level="safe")) == [
        "compatible danger_lowered go command",
        "compatible confirm_flag_changed go confirm_flag",
    ]


def test_name_of_the_tool_shown_by_one_manifest_only() -> None:
    """A tool that is one command stays the same, whether its manifest shows its name or not."""
    entry = {"danger_level": "safe", "flags": {}, "exit_codes": {}}
    shows = {**entry, "examples": [{"command": "tool x", "description": ""}]}
    old, new = ({"schema_version": "3.0", "commands": {"tool": each}} for each in (entry, shows))
    assert told(old, new) == told(new, old) == []


# -- order and words -----------------------------------------------------------------------------


def shuffled(value: Any) -> Any:
    """The same JSON with every key in another place."""
    if isinstance(value, dict):
        return {key: shuffled(value[key]) for key in reversed(value)}
    return [shuffled(each) for each in value] if isinstance(value, list) else value


@pytest.mark.parametrize("name", RULES)
def test_nothing_changed(name: str) -> None:
    """Documents that say the same have no changes, in whatever order their keys are."""
    for each in RULES[name][:2]:
        assert compare(each, deepcopy(each)) == compare(each, shuffled(each)) == ()


def test_words_for_people_are_nothing() -> None:
    """Summaries, descriptions, examples and versions may change."""
    old = described(go(summary="a", when_to_use="b", examples=[{"command": "x"}]), tool_version="1")
    new = described(
        go(summary="c", agent_description="d"), tool_version="2", murli={"version": "3"}
    )
    assert told(old, new) == []


def test_order_of_changes() -> None:
    """The worst comes first, then what stands first in the tree of commands."""
    old = described(go(name="b", flags=[{"name": "x", "default": 1}]), go(name="a"), go(name="a2"))
    new = described(go(name="b", flags=[{"name": "x", "default": 2}]), go(name="c"))
    assert told(old, new) == [
        "breaking command_removed a command",
        "breaking command_removed a2 command",
        "note flag_default_changed b --x",
        "compatible command_added c command",
    ]


# -- what was saved ------------------------------------------------------------------------------


@pytest.mark.parametrize("found", [described(go()), listed(), {**listed(), "status": "x"}])
@pytest.mark.parametrize(
    "wrap",
    [
        lambda found: found,
        lambda found: {"ok": True, "data": found, "error": None, "warnings": [], "meta": {}},
        lambda found: {"status": "ok", "schema_version": "1.0", "message": "", "result": found},
        lambda found: {"result": found, "schema_version": "1.0", "status": "ok"},
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "text", "mark"])
def test_load(found: Any, wrap: Any, encoding: str) -> None:
    """A document is found bare and in every envelope, in every encoding of JSON."""
    written = json.dumps(wrap(found), indent=2) + "\n"
    saved = {"text": written, "mark": f"\ufeff{written}"}.get(encoding)
    assert load(saved if saved is not None else written.encode(encoding)) == found


REFUSED = {
    "": "not one JSON document",
    "# tool\n": "not one JSON document",
    '{"name": NaN}': "NaN is not JSON",
    "[" * 100_000: "nested too deeply",
    "\udcff": "not one JSON document",
    "[1]": "holds no JSON object",
    "{}": "neither a description nor a manifest",
    '{"ok": false, "data": null, "error": {}}': "a call that failed",
    '{"status": "error", "code": 1}': "a call that failed",
    '{"code": 1, "error": "x", "message": "y", "schema_version": "1.0"}': "a call that failed",
    '{"code": 1, "error": "x", "message": "y"}': "a call that failed",
    '{"ok": true, "data": null, "meta": {"not_modified": true}}': "without `--etag`",
    '{"status": "ok", "result": null, "not_modified": true}': "without `--etag`",
    '{"ok": true, "data": "# tool"}': "such as an AGENTS.md",
    '{"ok": true, "data": [1]}': "holds no JSON object",
    '{"name": "go", "summary": "", "safety": {}}': "one command only",
    '{"ok": true, "data": {"name": "go", "input_schema": {}}}': "one command only",
    json.dumps(described({"name": "go", "summary": ""})): "without `--depth`",
    json.dumps(described(go(subcommands=[{"name": "x", "summary": ""}]))): "without `--depth`",
}


@pytest.mark.parametrize("saved", REFUSED)
def test_refused(saved: str) -> None:
    """What is no whole description is refused with words that say what to save instead."""
    with pytest.raises(NotADescription, match=REFUSED[saved]) as caught:
        load(saved.encode("utf-8", "surrogateescape"))
    assert "Save what `TOOL " in str(caught.value)
    assert str(caught.value).isprintable()


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (described(go()), listed(), "a describe, the new one a manifest 3"),
        (listed("1.0"), listed("3.0"), "a manifest 1, the new one a manifest 3"),
        (listed("1.0"), {"commands": {}}, "a manifest without version"),
        (listed("1.0"), {"commands": {}, "schema_version": 1}, "a manifest without version"),
        (listed("1.0"), listed("\x1b[31m"), r"a manifest \\x1b\[31m"),
        (described(go()), described({"name": "go", "summary": ""}), "without `--depth`"),
    ],
)
def test_not_comparable(old: Any, new: Any, words: str) -> None:
    """Documents of different kinds say different things, and are not compared."""
    with pytest.raises(NotADescription, match=words):
        compare(old, new)


# -- what is shown -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["go", "manifest"])
def test_golden(name: str) -> None:
    """Two versions of a tool written in Go, and of one that has a manifest, compared."""
    old, new = (load((GOLDEN / f"diff/{name}-{age}.json").read_bytes()) for age in ("old", "new"))
    found = compare(old, new)
    assert text(found) + "\n" == golden(f"diff/{name}.txt")
    assert json.dumps(document(found), indent=2, ensure_ascii=False) + "\n" == golden(
        f"diff/{name}.json"
    )


def test_no_golden_file_is_forgotten() -> None:
    """Every golden file on disk is one of those compared above."""
    ends = ("-old.json", "-new.json", ".txt", ".json")
    wanted = {f"{name}{end}" for name in ("go", "manifest") for end in ends}
    assert {each.name for each in (GOLDEN / "diff").iterdir()} == wanted


def test_nothing_to_show() -> None:
    """No changes are told in words, and counted."""
    assert text(()) == "No changes."
    assert document(()) == {"breaking": 0, "notes": 0, "compatible": 0, "changes": []}


def test_a_terminal_obeys_nothing_that_is_shown() -> None:
    """What a document smuggles into names and values is spelled out."""
    evil = "\x1b[2J\u202e\n"
    flag = {"name": evil, "type": evil, "default": evil, "enum": [evil], "env": evil}
    old = described(go(name=evil, flags=[flag], aliases=[evil + "a"]), go(name="b"))
    new = described(go(name="b", subcommands=[go(name=evil)]), name=evil, moon=evil)
    for one, other in ((old, new), (new, old)):
        shown = text(compare(one, other))
        assert all(line.isprintable() for line in shown.split("\n"))
        assert "\\x1b[2J" in shown


# -- real documents ------------------------------------------------------------------------------

CALLS = {"murli": "describe", "response": "manifest", "agent-spec-2": "manifest"}


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """What riffle says of itself, by contract."""
    home = str(tmp_path_factory.mktemp("home"))

    def ask(contract: str) -> dict[str, Any]:
        where = environment(MURLI_CONTRACT=contract, HOME=home)
        return load(run([sys.executable, "-m", "riffle", CALLS[contract]], env=where).stdout)

    with ThreadPoolExecutor(2) as pool:
        return dict(zip(CALLS, pool.map(ask, CALLS), strict=True))


def entries(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every command of a document, and what stands behind the tool's name."""
    if isinstance(document["commands"], dict):
        for key, entry in document["commands"].items():
            yield key.replace(".", " "), entry
        return
    waiting = [("", each) for each in document["commands"]]
    for above, entry in waiting:
        words = f"{above} {entry['name']}".strip()
        yield words, entry
        waiting += [(words, each) for each in entry.get("subcommands", [])]


@pytest.mark.parametrize("contract", CALLS)
def test_real_document_without_one_flag(real: Any, contract: str) -> None:
    """Without any one of its flags, a real tool breaks those who use that flag, and nobody else."""
    old, count = real[contract], 0
    for command, entry in entries(old):
        shared = old.get("flags", {}) if isinstance(old["commands"], dict) else {}
        flags = entry.get("flags", {})
        for place in list(flags) if isinstance(flags, dict) else range(len(flags)):
            new = deepcopy(old)
            del dict(entries(new))[command]["flags"][place]
            name = place if isinstance(flags, dict) else flags[place]["name"]
            kind = "dry_run_lost" if name == "dry-run" else "flag_removed"
            is_shared = name in shared or (isinstance(flags, list) and "standard" in flags[place])
            expected = [] if is_shared else [f"breaking {kind} {command} --{name}"]
            assert told(old, new) == expected
            count += 1
    assert count > 5


@pytest.mark.parametrize("contract", CALLS)
def test_real_document_without_one_command(real: Any, contract: str) -> None:
    """Without any one of its commands, a real tool breaks those who call it or what is below it."""
    old = real[contract]
    if contract == "murli":
        new = {**old, "commands": old["commands"][:-1]}
        lost = [words for words, _ in entries(old) if words.startswith("index")]
    else:
        new = {**old, "commands": {**old["commands"]}}
        del new["commands"]["query"]
        lost = ["query"]
    lost.sort(key=str.split)
    assert told(old, new) == [f"breaking command_removed {each} command" for each in lost]
    assert told(new, old) == [f"compatible command_added {each} command" for each in lost]


def test_real_document_where_an_argument_is_told_in_words(real: Any) -> None:
    """A manifest that has no place for arguments still shows that one more is needed."""
    old = real["response"]
    new = deepcopy(old)
    new["commands"]["show"]["description"] += " MORE"
    assert told(old, new) == ["breaking required_argument_added show argument more"]


@pytest.mark.parametrize("contract", CALLS)
def test_real_document_is_what_it_is(real: Any, contract: str) -> None:
    """A real document has not changed, whatever order its keys are in."""
    assert compare(real[contract], shuffled(real[contract])) == ()


# -- documents of any kind -----------------------------------------------------------------------

WORDS = st.sampled_from(
    ["go", "top", "5", "a", "string", "int", "json", "1.0", "", "\x1b", "Call: t go X"]
)
ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=6,
)


def keyed(keys: list[str], known: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Objects with some of *keys*, and in them what belongs there or anything else."""
    return st.dictionaries(st.sampled_from(keys), known | ANY, max_size=6)


def keys_in(*parts: Any) -> list[str]:
    """Every key that stands somewhere in the rules' documents."""
    found: set[str] = set()
    waiting = list(parts)
    while waiting:
        each = waiting.pop()
        if isinstance(each, dict):
            found |= each.keys()
            waiting += each.values()
        elif isinstance(each, (list, tuple)):
            waiting += each
    return sorted(found)


KEYS = keys_in([each[:2] for each in RULES.values()], dict.fromkeys(SWITCHES, 1))
SCHEMAS = st.recursive(
    ANY,
    lambda inner: st.dictionaries(
        st.sampled_from(
            [*("type", "properties", "items", "anyOf", "allOf", "$ref", "enum", "required", "a")]
        ),
        inner | st.lists(inner, max_size=2) | st.sampled_from(["#", "#/items", "object", "array"]),
        max_size=4,
    ),
    max_leaves=8,
)
PARTS = keyed(KEYS, SCHEMAS)
ENTRIES = keyed(KEYS, st.lists(PARTS, max_size=2) | st.dictionaries(WORDS, PARTS, max_size=2))
DESCRIPTIONS = st.builds(
    lambda commands, rest: {**rest, **TOOL, "commands": commands},
    st.lists(ENTRIES | ANY, max_size=3),
    ENTRIES,
)
MANIFESTS = st.builds(
    lambda commands, rest: {**rest, "schema_version": "3.0", "commands": commands},
    st.dictionaries(WORDS | st.sampled_from(KEYS), ENTRIES | ANY, max_size=3),
    ENTRIES,
)


def compared(old: Any, new: Any) -> tuple[Any, ...] | None:
    """What is found, shown in both ways; None for what is refused."""
    try:
        found = compare(old, new)
    except NotADescription:
        return None
    assert text(found)
    json.dumps(document(found))
    return found


@examples(25)
@given(DESCRIPTIONS | MANIFESTS)
def test_any_document_is_itself(found: Any) -> None:
    """Whatever stands in a document, it has not changed from itself."""
    assert compared(found, deepcopy(found)) in ((), None)
    assert compared(found, shuffled(found)) in ((), None)


@examples(35)
@given(DESCRIPTIONS | MANIFESTS | ANY, DESCRIPTIONS | MANIFESTS | ANY)
def test_any_two_documents(old: Any, new: Any) -> None:
    """Whatever stands in two documents, they are compared or refused."""
    compared(old, new)


@examples(40)
@given(st.binary(max_size=60) | st.text(max_size=60))
def test_any_file(saved: bytes | str) -> None:
    """Whatever was saved, it is a description or refused."""
    try:
        assert isinstance(load(saved), dict)
    except NotADescription as error:
        assert str(error)


def test_documents_too_deep_to_compare() -> None:
    """What is nested too deeply is refused, not crashed over."""
    deep: dict[str, Any] = {}
    for _ in range(5000):
        deep = {"items": deep}
    old, new = listed(output_schema=deep), listed(output_schema={"items": {"items": 1}})
    with pytest.raises(NotADescription, match="nested too deeply"):
        compare(old, new)
