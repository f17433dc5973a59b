"""The checks of the ResponseEnvelope family: each fails for its own reason, and no other does."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import murli.conformance
from harness import REPOSITORY, TOOLS
from murli.conformance import Evidence, Profile, Report, Result
from murli.conformance.calls.documents import has_lines
from murli.conformance.calls.making import Target, confirms
from murli.conformance.checking import checks_for, results_of
from murli.conformance.examining import opened
from murli.conformance.judging import Check, finding
from murli.conformance.profile import ProfileProbe
from murli.conformance.target import ENVELOPES as FAMILY
from murli.wire.catalogue import Command, Flag

FAKES = TOOLS / "conformance"
IN_PYTHON = [sys.executable, "-S", "-E", str(FAKES / "family_fake.py")]
IN_SHELL = ["sh", str(FAKES / "family_fake.sh")]
NEWEST = FAMILY[2]
FULL = Profile(
    timeout=5.0,
    files={"state.txt": "here"},
    setup=(("save",),),
    arguments={"remove": ("one",)},
    probes=(ProfileProbe(("list", "--from", "nowhere"), exit_code=4),),
)
#: one command, where a rule has nothing to do with the others
LEAN = replace(FULL, setup=(), probes=(), exclude=("manifest", "save", "remove", "exec"))
SLOW = (*FULL.probes, ProfileProbe(("wait",), "slow"))
#: what is no failure, but worth a look
WARNINGS = ("family.danger.honest", "process.version")
# What a rule is about that has to do with more than one command.
_ABOUT_OTHERS = ("danger", "dry-run", "effect", "manifest", "exec", "schema", "promises")
# A shell has written all it will write before its reader can be gone.
_TOO_QUICK = ("process.reader-gone",)
#: rules that another revision has in other words
REVISED = (
    "family.envelope.types",
    "family.envelope.outcome",
    "family.envelope.outcome/nothing",
    "family.error.shape/name",
    "family.error.retry",
    "family.error.instructive",
    "family.mistake.unknown-flag",
    "family.mistake.phase",
    "family.mistake.format",
    "family.manifest.shape",
    "family.exit-code.declared",
    "family.paging.continues",
)
#: more than one way to break a rule
VARIANTS = (
    "family.answer.newline/return",
    "family.answer.one-document/on stderr",
    "family.answer.strict-json/twice",
    "family.danger.refused/name",
    "family.envelope.keys/more",
    "family.envelope.outcome/nothing",
    "family.error.redirect/half",
    "family.error.retry/untold",
    "family.error.shape/name",
    "family.help.envelope/untold",
    "family.manifest.exit-codes/vague",
    "family.meta.duration/too long",
    "family.meta.truthful/version",
    "family.stream.contract/gap",
    "family.stream.contract/envelope",
)


def ids_for(contract: str) -> list[str]:
    return [each.id for each in checks_for(contract)]


def profile_for(rule: str) -> Profile:
    about = rule.partition("/")[0].split(".")[1]
    profile = FULL if about in _ABOUT_OTHERS else LEAN
    if rule == "process.stdin-silent":  # it is waited for
        profile = replace(profile, timeout=2.0)
    return replace(profile, probes=SLOW) if about == "deadline" else profile


@contextmanager
def examined(
    tool: Sequence[str], rule: str, contract: str, profile: Profile | None = None
) -> Iterator[tuple[Target, list[Result]]]:
    profile = profile or profile_for(rule)
    with opened(tool, profile, contract, {"BREAK": rule}) as subject:
        yield subject.target, list(results_of(subject.target, checks_for(contract)))


def judge(results: list[Result], rule: str) -> None:
    """Exactly the check for *rule* found something, and says what."""
    failed = {each.id for each in results if each.status == "fail"}
    warned = {each.id for each in results if each.status == "warn"}
    own = rule.partition("/")[0]
    expected = (set(), {own}) if own in WARNINGS else ({own}, set())
    assert (failed, warned) == expected, troubles_in(results)
    found = next(each for each in results if each.id == own)
    assert all(each.detail for each in found.troubles)


def judge_without(check: Check, target: Target, results: list[Result], rule: str) -> None:
    """Judge the same tool with *check* looking away: it sees nothing wrong any more."""
    blind = replace(check, look=lambda target: [finding("")])
    judge([blind.made_on(target) if each.id == check.id else each for each in results], rule)


def troubles_in(results: list[Result]) -> str:
    return "\n".join(
        f"{each.id}: {finding.command} {finding.detail} {finding.evidence}"
        for each in results
        for finding in each.troubles[:2]
    )


def break_and_judge(tool: Sequence[str], rule: str, contract: str, **how: Any) -> None:
    own = rule.partition("/")[0]
    check = next(each for each in checks_for(contract) if each.id == own)
    with examined(tool, rule, contract, **how) as (target, results):
        judge(results, rule)
        with pytest.raises(AssertionError):
            judge_without(check, target, results, rule)


# -- healthy tools -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tool", "contract"),
    [(IN_SHELL, NEWEST), *((IN_PYTHON, each) for each in FAMILY)],
    ids=["shell", *FAMILY],
)
def test_a_tool_that_keeps_every_rule(tool: list[str], contract: str) -> None:
    """A tool that keeps every rule passes every check, in every revision."""
    probes = SLOW if tool is IN_SHELL else FULL.probes
    report = murli.conformance.check(tool, contract=contract, profile=replace(FULL, probes=probes))
    left_out = {"family.deadline.time", "family.deadline.interrupt"} if probes != SLOW else set()
    assert {each.id for each in report.results if each.status != "pass"} == left_out
    assert report.contract == contract
    assert (report.level, report.score, report.notes) == (3, 100, ())


# -- broken tools --------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", ids_for(NEWEST))
def test_each_rule_has_a_check_of_its_own(rule: str) -> None:
    """A tool that breaks one rule fails one check; with that check disabled it would not."""
    break_and_judge(IN_PYTHON if rule in _TOO_QUICK else IN_SHELL, rule, NEWEST)


@pytest.mark.parametrize("at", range(len(REVISED)), ids=REVISED)
def test_each_revision_has_its_own_words(at: int) -> None:
    """A rule that a revision has in its own words is checked by them."""
    break_and_judge(IN_PYTHON, REVISED[at], FAMILY[at % 2])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("contract", "rule"),
    [
        (contract, rule)
        for contract in FAMILY
        for rule in (*ids_for(contract), *VARIANTS)
        if rule.partition("/")[0] in ids_for(contract)
        # What is not told is not asked for in the first revision.
        and (contract, rule) != ("response", "family.error.retry/untold")
        and (contract, rule) != ("response", "family.meta.truthful/version")
    ],
)
def test_each_rule_in_every_revision(contract: str, rule: str) -> None:
    """In every revision every rule has a check of its own, with all commands there."""
    timeout = 2.0 if rule == "process.stdin-silent" else FULL.timeout
    probes = SLOW if "deadline" in rule else FULL.probes
    profile = replace(FULL, timeout=timeout, probes=probes)
    break_and_judge(IN_PYTHON, rule, contract, profile=profile)


def test_every_check_is_one_of_the_family_or_of_any_program() -> None:
    """The checks of the family are called so, and each is in the newest revision too."""
    for contract in FAMILY:
        ids = ids_for(contract)
        assert set(ids) <= set(ids_for(NEWEST))
        assert {each.partition(".")[0] for each in ids} == {"family", "process"}


# -- safety --------------------------------------------------------------------------------------


def test_what_changes_something_is_never_run() -> None:
    """What changes something is called for nothing but help, a schema, a refusal or a dry run."""
    with examined(IN_SHELL, "", NEWEST, FULL) as (target, _):
        calls = [each.argv[len(target.prober.tool) :] for each in target.prober.seen]
    changing = {each for each in calls if {"save", "remove", "exec"} & set(each)}
    assert changing == {
        ("save",),  # the profile's own
        *((name, flag) for name in ("save", "remove", "exec") for flag in ("--help", "--schema")),
        ("remove", "one"),
        ("remove", "one", "--dry-run"),
        ("remove", "--murli-check-no-such-flag"),
        ("exec", "--dry-run"),
    }


def test_an_open_guard_is_not_tried_any_further() -> None:
    """What does not refuse to run unconfirmed is called no second time."""
    with examined(IN_SHELL, "family.danger.refused", NEWEST, FULL) as (target, _):
        calls = [each.argv[len(target.prober.tool) :] for each in target.prober.seen]
    assert [each for each in calls if "remove" in each and "--help" not in each] == [
        ("remove", "one"),
        ("remove", "--schema"),
    ]


def test_what_would_confirm_is_never_said() -> None:
    """A command whose made-up words would confirm it is not called at all."""
    profile = replace(FULL, arguments={"remove": ("one", "--confirm-destructive")})
    with examined(IN_SHELL, "", NEWEST, profile) as (target, results):
        assert not any("--confirm-destructive" in each.argv for each in target.prober.seen)
        refused = next(each for each in results if each.id == "family.danger.refused")
    assert refused.status == "not_verified"


GUARDS = (
    "family.danger.refused",
    "family.danger.preview",
    "family.dry-run.effect",
    "family.dry-run.no-trace",
)


def calls_of_two(wipe: str = "") -> tuple[dict[str, str], list[tuple[str, ...]]]:
    """Examine the tool whose ``wipe`` does *wipe*: how its checks end, and what was called."""
    tool, profile = ["sh", str(FAKES / "family_two.sh")], Profile(timeout=1.0)
    with examined(tool, wipe, FAMILY[1], profile) as (target, results):
        calls = [each.argv[len(target.prober.tool) :] for each in target.prober.seen]
    return {each.id: each.status for each in results}, calls


@pytest.mark.parametrize("wipe", ["fails", "is not understood", "crashes", "hangs"])
def test_one_guard_that_was_not_seen_is_not_verified(wipe: str) -> None:
    """Where one of two commands was not seen to refuse, none of their checks passes."""
    states, calls = calls_of_two(wipe)
    assert {states[each] for each in GUARDS} == {"not_verified"}
    assert [each for each in calls if each[:1] == ("wipe",) and "--help" not in each] == [("wipe",)]


def test_guards_that_were_all_seen_are_verified() -> None:
    """Where both commands refuse, and can be rehearsed, all their checks pass."""
    states, _ = calls_of_two()
    assert {states[each] for each in GUARDS} == {"pass"}


def test_what_is_not_known_to_be_a_group_is_not_called_alone() -> None:
    """A tool that may be a command itself is not called with nothing, nor with a wrong word."""
    states, calls = calls_of_two()
    assert () not in calls
    assert not {("murli-check-no-such-command",), ("sho",)} & {*calls}
    wrong = ("family.bare.envelope", "family.mistake.unknown-command")
    assert [states[each] for each in wrong] == ["not_applicable"] * 2


def test_a_schema_that_is_ignored_is_not_asked_of_what_changes() -> None:
    """What gives its usual data for ``--schema`` does not heed it, and a change would be made."""
    _, calls = calls_of_two("fails")
    asked = {each[0] for each in calls if "--schema" in each}
    assert {"show"} <= asked <= {"show", "erase"}


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("--yes", True),
        ("--force=true", True),
        ("--conf", True),
        ("--sure", True),
        ("-y", True),
        ("-vf", True),
        ("--", False),
        ("--year", False),
        ("-s", False),
        ("yes", False),
        ("--fo", False),
    ],
)
def test_words_that_would_confirm(word: str, expected: bool) -> None:
    """A word confirms that is a confirming flag, begins like one, or is short for it."""
    flags = {"fo": Flag("fo", short="s"), "sure": Flag("sure")}
    command = Command(("remove",), flags=flags, confirm_flag="sure")
    assert confirms(command, ("remove", "one", word)) is expected


def test_what_is_a_stream() -> None:
    """Several lines are a stream, unless they are one document."""
    printed = {b"": False, b'{"a":1}\n': False, b'{\n"a":1}\n': False, b'{"a":1}\n{"a":2}\n': True}
    assert {each: has_lines(Evidence(("tool",), stdout=each)) for each in printed} == printed


# -- hostile tools -------------------------------------------------------------------------------

_COMMANDS = '"commands":{"list":{"danger_level":"safe","flags":{"limit":7,"n":{"type":[]}}}'
HOSTILE = {
    "nothing": b"",
    "no text": b"\xff\xfe\x00{",
    "not a number": b'{"ok":NaN,"data":Infinity,"error":{},"warnings":NaN,"meta":{"_line":1e999}}',
    "keys twice": b'{"ok":true,"ok":false,"data":1,"data":2,"error":3,"warnings":4,"meta":5}',
    "deep": b'{"ok":true,"data":' + b"[" * 50_000 + b"]" * 50_000 + b"}",
    "long": b'{"ok":true,"data":"' + b"x" * 10_000_000 + b'"}\n',
    "digits": b'{"ok":true,"data":' + b"9" * 5000 + b',"error":null,"warnings":[],"meta":{}}',
    "no envelope": b"[1, 2, 3]\n",
    "wrong types": b'{"ok":[],"data":"x","error":[1],"warnings":{"a":1},"meta":[{}]}\n',
    "wrong types within": (
        b'{"ok":false,"data":null,"error":{"code":{},"message":[],"phase":{},"redirect":[],'
        b'"retryable":"x","retry_after":{},"context":1},"warnings":[null,{}],"meta":{"exit_code":'
        b'[],"duration_ms":-1,"timestamp":{},"request_id":[],"pagination":{"total":{}}}}\n'
    ),
    "a hostile manifest": f'{{"ok":true,"data":{{{_COMMANDS},"":1,"a..b":[],"x":{{"exit_codes":'
    '[],"subcommands":{"a":1},"examples":7}}},"error":null,"warnings":[],"meta":{}}\n'.encode(),
    "no folder": b'{"ok":true,"data":{},"error":null,"warnings":[],"meta":{"cwd":"a\\u0000b"}}',
    "half a letter": b'{"ok":true,"data":{},"error":null,"warnings":[],"meta":{"cwd":"\\ud800"}}',
    "a stream of noise": b'{"_seq":[]}\n{"_summary":true,"_count":{}}\nnoise\n' * 50,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_nothing_a_tool_prints_stops_a_check(name: str, tmp_path: Path) -> None:
    """Whatever a tool prints, every check comes to a result, and it keeps no contract."""
    output, tool = tmp_path / "output", tmp_path / "tool.sh"
    output.write_bytes(HOSTILE[name])
    tool.write_text(f"cat {output}\nexit 3\n")
    for contract in FAMILY[:1] if len(HOSTILE[name]) > 10_000 else FAMILY:
        with opened(["sh", str(tool)], Profile(timeout=5.0), contract, {}) as subject:
            subject.target.speaks = contract  # else most of the checks would not be made
            results = list(results_of(subject.target, checks_for(contract)))
        assert not [each.reason for each in results if "itself failed" in each.reason]
        assert len(results) == len(checks_for(contract))
        failed = {each.id for each in results if each.status == "fail"}
        assert failed - {"process.help"}


# -- the real thing ------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("contract", FAMILY)
@pytest.mark.parametrize("front", ["riffle", "riffle.cli_click", "riffle.cli_typer"])
def test_riffle_reaches_the_highest_level(front: str, contract: str) -> None:
    """All front ends of riffle keep every rule of every revision."""
    profile = murli.conformance.load(REPOSITORY / "examples" / "riffle" / "check.toml")
    report: Report = murli.conformance.check(
        [sys.executable, "-m", front], contract=contract, profile=profile
    )
    assert report.ok and not report.count("warn"), troubles_in(list(report.results))
    assert report.level == 3
