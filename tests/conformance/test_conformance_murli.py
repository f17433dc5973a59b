"""The checks of the murli contract: each fails for its own reason and no other, and is missed."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from harness import TOOLS
from murli.conformance import check
from murli.conformance.calls.documents import error_of, strictness_of_stream
from murli.conformance.calls.making import Target
from murli.conformance.checking import checks_for, results_of
from murli.conformance.examining import detect, opened
from murli.conformance.judging import Check, finding
from murli.conformance.probing import Prober
from murli.conformance.profile import Profile, ProfileProbe
from murli.conformance.results import Evidence, Finding, Result
from murli.conformance.scratch import Scratch
from murli.conformance.shapes.kinds import misfits
from murli.conformance.shapes.murli import ERROR, SUCCESS
from properties import examples

FAKES = TOOLS / "conformance"
PYTHON = [sys.executable, "-S", "-E", str(FAKES / "murli_fake.py")]
SHELL = ["sh", str(FAKES / "murli_fake.sh")]
CHECKS = checks_for("murli")
PROFILE = Profile(
    timeout=20.0,
    probes=(
        ProfileProbe(("find", "murli-check", "--stream"), "stream"),
        ProfileProbe(("find", "missing"), exit_code=5),
    ),
)
WITH_SLOW = replace(PROFILE, probes=(*PROFILE.probes, ProfileProbe(("find", "slow"), "slow")))
#: what is not wrong, but not right either
WARNINGS = {
    "murli.answer.indented",
    "murli.answer.literal",
    "murli.answer.wire",
    "murli.describe.descriptions",
    "murli.describe.dry-run",
    "murli.describe.own-flags",
    "murli.describe.safety-honest",
    "murli.dry-run.plans/confirm",
    "murli.error.omits-empty",
    "murli.mistake.names",
}


def breakable(tool: list[str]) -> list[str]:
    """Give what a fake can break: a check, or ``/`` a check in one more way."""
    text = Path(tool[-1]).read_text()
    ids = "|".join(re.escape(each.id) for each in CHECKS)
    return sorted(set(re.findall(rf'(?:{ids})(?:/[a-z]+)?(?=["\s;)])', text)))


BROKEN = breakable(PYTHON)


def rarely(names: list[str], kept: Sequence[str]) -> list[Any]:
    """Give *names* as parameters, all but *kept* for the long run only."""
    return [each if each in kept else pytest.param(each, marks=pytest.mark.slow) for each in names]


def sees_nothing(target: Target) -> Iterator[Finding]:
    """A check that was put out of action."""
    yield finding("")


def assert_breaks(broken: str, results: list[Result]) -> None:
    """Only the check that was broken complains."""
    status = "warn" if broken in WARNINGS else "fail"
    found = {each.id: each.status for each in results if each.status in ("fail", "warn")}
    assert found == {broken.partition("/")[0]: status}


def assert_only_asked(target: Target) -> None:
    """Nothing was confirmed, and nothing was run that is called like a change."""
    for evidence in target.prober.seen:
        words = evidence.argv[len(target.prober.tool) :]
        assert not {"--yes", "--force", "--confirm-destructive"} & {*words}
        assert words[0] != "purge" or words[1:] in (("--help",), ("--schema",))


def examine(tool: list[str], broken: str) -> None:
    """Break one rule, see it found, and see that it is missed without its check."""
    profile = WITH_SLOW if ".deadline." in broken else PROFILE
    if broken == "process.stdin-silent":
        profile = replace(profile, timeout=3.0)  # it never ends
    with opened(tool, profile, "", {"BREAK": broken}) as subject:
        assert_breaks(broken, list(results_of(subject.target, CHECKS)))
        assert_only_asked(subject.target)
        own = broken.partition("/")[0]
        blind: list[Check] = [
            replace(each, look=sees_nothing) if each.id == own else each for each in CHECKS
        ]
        with pytest.raises(AssertionError):
            assert_breaks(broken, list(results_of(subject.target, blind)))


@pytest.mark.parametrize("broken", rarely(BROKEN, [each for each in BROKEN if "/" not in each]))
def test_a_broken_shell_tool_fails_its_check_and_no_other(broken: str) -> None:
    """A shell program that breaks one rule fails that check only, and it alone finds it."""
    examine(SHELL, broken)


@pytest.mark.parametrize(
    "broken",
    rarely(BROKEN, ["murli.error.stream", "murli.guard.text", "murli.stream.interrupt"]),
)
def test_a_broken_python_tool_fails_its_check_and_no_other(broken: str) -> None:
    """A Python program that breaks one rule fails that check only, and it alone finds it."""
    examine(PYTHON, broken)


def test_every_check_has_a_tool_that_breaks_it() -> None:
    """No check is without a broken tool, in Python and in shell alike."""
    assert breakable(SHELL) == BROKEN
    assert {each.partition("/")[0] for each in BROKEN} == {each.id for each in CHECKS}


@pytest.mark.parametrize("tool", [SHELL, PYTHON], ids=["shell", "python"])
def test_a_tool_that_keeps_the_contract_passes_every_check(tool: list[str]) -> None:
    """A tool that breaks nothing passes everything, and reaches the highest level."""
    report = check(tool, profile=WITH_SLOW)
    assert {each.id: each.status for each in report.results if each.status != "pass"} == {}
    assert (report.contract, report.wire, report.level, report.score) == ("murli", "docs", 3, 100)


def test_what_nobody_vouches_for_is_not_claimed() -> None:
    """Without a profile streams are not verified, and the level of streams is not reached."""
    report = check(SHELL)
    assert (report.ok, report.level) == (True, 2)
    unverified = {each.id for each in report.results if each.status == "not_verified"}
    assert unverified == {"murli.stream.lines", "murli.stream.interrupt"}


def states(profile: Profile, broken: str = "") -> dict[str, str]:
    """Tell how the checks of the shell tool end, and see that nothing was confirmed."""
    with opened(SHELL, profile, "", {"BREAK": broken}) as subject:
        results = list(results_of(subject.target, CHECKS))
        assert_only_asked(subject.target)
    return {each.id: each.status for each in results}


@pytest.mark.parametrize("word", ["--force", "--yes=true", "-f"])
def test_words_that_would_confirm_are_not_said(word: str) -> None:
    """A command whose arguments in the profile would confirm it is not called at all."""
    found = states(replace(PROFILE, arguments={"store wipe": ("one", word)}))
    names = ("guard.refuses", "guard.text", "guard.schema", "dry-run.plans", "dry-run.no-trace")
    assert {found[f"murli.{each}"] for each in names} == {"not_verified"}


def test_a_call_that_fails_for_another_reason_says_nothing_about_a_value() -> None:
    """Where a command does not work anyway, it is not asked for the values of its options."""
    broken, missing = "murli.mistake.valid-values", {"find": ("missing",)}
    assert states(PROFILE, broken)[broken] == "fail"
    found = states(replace(PROFILE, arguments=missing), broken)
    assert (found[broken], found["murli.mistake.text"]) == ("not_verified", "not_verified")


def test_what_writes_events_is_not_one_document() -> None:
    """A command that writes line by line anyway is not asked for a single document."""
    found = states(replace(PROFILE, arguments={"find": ("murli-check", "--stream")}))
    assert (found["murli.output.json"], found["murli.answer.indented"]) == ("not_applicable",) * 2


# -- the wire of Go --------------------------------------------------------------------------------

GOLDEN = {
    "success": '{\n  "result": {\n    "count": 1,\n    "key": "value"\n  },\n'
    '  "schema_version": "1.0",\n  "status": "ok"\n}\n',
    "plan": '{\n  "result": {\n    "count": 3,\n    "files": [\n      "a",\n      "b",\n'
    '      "c"\n    ]\n  },\n  "schema_version": "1.0",\n  "status": "plan"\n}\n',
    "error": '{\n  "code": 1,\n  "error": "invalid_input",\n'
    '  "message": "the --region flag is required",\n'
    '  "suggestion": "Pass --region us-east-1",\n  "recoverable": true,\n'
    '  "schema_version": "1.0"\n}\n',
}


def test_documents_of_the_go_wire_are_whole() -> None:
    """The three documents Go's own tests compare with are found, and nothing is missing in them."""
    assert list(misfits(json.loads(GOLDEN["success"]), SUCCESS)) == []
    assert list(misfits(json.loads(GOLDEN["plan"]), SUCCESS)) == []
    error = error_of(Evidence(("tool",), stderr=GOLDEN["error"].encode(), exit_code=1))
    assert error is not None
    assert error == json.loads(GOLDEN["error"])
    assert list(misfits(error, ERROR)) == []
    assert [strictness_of_stream(each.encode()) for each in GOLDEN.values()] == ["", "", ""]


def test_a_tool_of_the_go_wire_reaches_the_highest_level() -> None:
    """Errors without status and answers without message break nothing where both are so."""
    profile = replace(PROFILE, arguments={"store wipe": ("nothing",)})
    report = check(SHELL, profile=profile, env={"WIRE": "go"})
    assert (report.wire, report.level, report.count("fail"), report.count("warn")) == (
        "go",
        3,
        0,
        0,
    )


def test_a_guard_that_go_leaves_open_is_not_tried_unasked() -> None:
    """On the Go wire nothing that changes something is called for text or unseen by anybody."""
    with opened(SHELL, PROFILE, "", {"WIRE": "go", "BREAK": "murli.guard.text"}) as subject:
        results = {each.id: each.status for each in results_of(subject.target, CHECKS)}
        calls = [" ".join(each.argv[2:]) for each in subject.target.prober.seen]
        assert not [each for each in subject.target.prober.seen if each.changed]
    assert "store wipe murli-check" in calls
    assert "store wipe murli-check --output text" not in calls
    assert results["murli.guard.text"] == results["murli.guard.null-device"] == "not_verified"


# -- what no tool should print ---------------------------------------------------------------------

_NAMES = """
    status code error message recoverable schema_version tool_version result plan suggestion field
    valid_values name summary capabilities output_formats profiles profileable_flags commands flags
    arguments subcommands safety read_only idempotent mutating dry_run_supported destructive default
    type required enum sensitive description event current total ts level msg returns examples
""".split()  # noqa: SIM905
_LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 12),
    st.floats(),
    st.sampled_from(["1.0", "ok", "plan", "partial", "error", "int", "text", "json", "--yes", ""]),
    st.text(max_size=4),
)
_VALUES = st.recursive(
    _LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(_NAMES), inner),
    max_leaves=12,
)
_OBJECTS = st.dictionaries(st.sampled_from(_NAMES), _VALUES, max_size=12)
_COMMANDS = st.fixed_dictionaries(
    {"name": st.sampled_from(["find", "show", "wipe", "x y", "-"])}, optional={"flags": _VALUES}
).flatmap(lambda known: _OBJECTS.map(lambda more: {**more, **known}))
_DESCRIPTIONS = _OBJECTS.flatmap(
    lambda more: st.lists(_COMMANDS, max_size=3).map(
        lambda listed: {**more, "name": "x", "schema_version": "1.0", "commands": listed}
    )
)
_STREAMS = st.one_of(
    st.just(b""),
    st.binary(max_size=12),
    st.lists(_OBJECTS, max_size=3).map(
        lambda each: b"".join(json.dumps(one).encode() + b"\n" for one in each)
    ),
    _OBJECTS.map(lambda each: json.dumps(each, indent=2).encode()),
)
_ENDS = st.sampled_from([0, 0, 0, 1, 1, 2, 3, 9, 70, -2, None])


class Scripted(Prober):
    """Every call is answered by what was drawn for it: no process is quick enough for this."""

    def __init__(self, scratch: Scratch, description: bytes, drawn: list[Any]) -> None:
        super().__init__(("tool",), scratch, {}, 1.0)
        self._description = description
        self._drawn = drawn

    def _run(self, call: Any) -> Evidence:
        argv = ("tool", *call.words)
        out, err, code = self._drawn[len(" ".join(call.words)) % len(self._drawn)]
        if call.words[:1] == ("describe",):
            out, code = self._description, 0
        return Evidence(argv, stdout=out, stderr=err, exit_code=code, timed_out=code is None)


def assert_all_end(target: Target) -> None:
    """Every check comes to a result, and none by failing itself."""
    results = list(results_of(target, CHECKS))
    assert len(results) == len(CHECKS)
    assert not [each.reason for each in results if "itself failed" in each.reason]


@examples(20, suppress_health_check=list(HealthCheck))
@given(_DESCRIPTIONS, st.lists(st.tuples(_STREAMS, _STREAMS, _ENDS), min_size=1, max_size=4))
def test_no_check_fails_over_what_a_tool_prints(description: Any, drawn: list[Any]) -> None:
    """Whatever stands in the documents of a tool, every check comes to an end."""
    with Scratch() as scratch:
        prober = Scripted(scratch, json.dumps(description).encode(), drawn)
        found = detect(prober)
        target = Target(
            prober, PROFILE, "murli", found.contract, found.wire, found.catalogue, found.description
        )
        assert_all_end(target)


def test_flags_of_its_own_promise_nothing() -> None:
    """What only reads may mean anything by ``--dry-run`` and ``--stream``."""
    flags = [{"name": each, "type": "bool"} for each in ("dry-run", "stream")]
    safety = {"read_only": True, "idempotent": True, "dry_run_supported": True}
    show = {"name": "show", "summary": "Show", "flags": flags, "safety": safety}
    described = {"name": "x", "schema_version": "1.0", "commands": [show]}
    answer = b'{"status":"ok","schema_version":"1.0","message":"It is","result":1}\n'
    with Scratch() as scratch:
        prober = Scripted(scratch, json.dumps(described).encode(), [(answer, b"", 0)])
        found = detect(prober)
        target = Target(
            prober, Profile(), "murli", "murli", "docs", found.catalogue, found.description
        )
        results = {each.id: each.status for each in results_of(target, CHECKS)}
    assert (results["murli.dry-run.plans"], results["murli.stream.lines"]) == (
        "not_applicable",
        "not_verified",
    )


@pytest.mark.parametrize(
    "printed",
    [
        b"[" * 200_000,
        b'{"a":' * 50_000,
        b'{"name":"x","name":"y","schema_version":"1.0","commands":[{"name":"f"}]}',
        b'{"status":"ok","schema_version":"1.0","result":NaN}',
        b'{"status":"ok","schema_version":"1.0","result":"' + b"x" * 4_000_000 + b'"}',
        b'{"n":' + b"9" * 10_000 + b"}",
        b"\xff\xfe{}\n\x00",
        b'{"\xff":1}\n' * 5_000,
        b"{\n" * 100_000,
    ],
    ids=lambda each: f"{each[:12]!r}-{len(each)}",
)
def test_no_check_fails_over_output_that_is_meant_to_hurt(printed: bytes) -> None:
    """Depth, length, doubled keys and bytes that are no text end in findings, and soon."""
    with Scratch() as scratch:
        description = b'{"name":"x","schema_version":"1.0","commands":[{"name":"find"}]}'
        for described in (printed, description):
            prober = Scripted(scratch, described, [(printed, printed, 0), (b"", printed, 1)])
            found = detect(prober)
            target = Target(prober, PROFILE, "murli", found.contract, found.wire, found.catalogue)
            assert_all_end(target)
