"""The ground the checks stand on: processes, the scratch folder, profiles, detection, reports."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from harness import COMPILED, script, tool
from murli.conformance import (
    BadProfile,
    Evidence,
    Finding,
    NotRunnable,
    Profile,
    Report,
    Result,
    check,
    load,
)
from murli.conformance.calls.making import Target
from murli.conformance.checking import checks_for
from murli.conformance.checks.table import ANY
from murli.conformance.examining import Detected, detect, opened
from murli.conformance.judging import Check, NotApplicable, NotVerified, finding
from murli.conformance.probing import TRAPPED, Prober
from murli.conformance.processes import run
from murli.conformance.profile import ProfileProbe, from_table
from murli.conformance.results import CONTRACTS as ALL
from murli.conformance.results import worst
from murli.conformance.scratch import Scratch, absolute
from murli.wire.listing import from_description
from starting import ends_soon

CONTRACTS = ["murli", "response", "agent-spec-1.6", "agent-spec-2"]


def shell(text: str, *words: str) -> list[str]:
    """Give a tool that is a few lines of shell."""
    return ["sh", "-c", text, "tool", *words]


def ran(
    argv: Sequence[str],
    *,
    stdin: str = "null",
    text: bytes = b"",
    event: str = "",
    seconds: float = 5,
) -> Evidence:
    """Run a program here, with the environment of the tests."""
    return run(argv, env=os.environ, cwd="/", seconds=seconds, stdin=stdin, text=text, event=event)


# -- processes ---------------------------------------------------------------------------------


def test_how_a_process_ended() -> None:
    """Both streams, the exit code, and the signal as a negative number."""
    ended = ran(shell("echo out; echo err >&2; exit 7"))
    assert (ended.stdout, ended.stderr, ended.exit_code) == (b"out\n", b"err\n", 7)
    assert ran(shell("kill -TERM $$")).exit_code == -signal.SIGTERM
    missing = ran(["/no/such/program"])
    assert missing.exit_code is None and b"No such file" in missing.stderr


def test_what_stdin_is() -> None:
    """Nothing to read, no stdin at all, text, or a pipe that nobody feeds."""
    has_stdin = [sys.executable, "-S", "-c", "import os; os.fstat(0); print(os.read(0, 9))"]
    assert ran(has_stdin).stdout == b"b''\n"
    assert b"Bad file descriptor" in ran(has_stdin, stdin="closed").stderr
    assert ran(has_stdin, stdin="text", text=b"hello").stdout == b"b'hello'\n"
    assert ran(["sleep", "0"], stdin="text", text=b"x" * 1_000_000).exit_code == 0
    silent = ran(has_stdin, stdin="silent", seconds=0.3)
    assert silent.timed_out and silent.exit_code is None


def test_a_deadline_ends_the_whole_group(tmp_path: Path) -> None:
    """What hangs is killed with all it started, and quickly."""
    note = tmp_path / "child"
    before = time.monotonic()
    ended = ran(shell('trap "" TERM INT; sleep 100 & echo $! > "$1"; wait', str(note)), seconds=0.3)
    assert ended.timed_out and time.monotonic() - before < 3
    assert ends_soon(int(note.read_text()))


def test_a_tool_that_leaves_a_child_behind(tmp_path: Path) -> None:
    """Who has ended is not waited for because a child holds its output; the child is ended."""
    note = tmp_path / "child"
    before = time.monotonic()
    ended = ran(shell('sleep 100 & echo $! > "$1"; echo done', str(note)), seconds=30)
    assert (ended.stdout, ended.exit_code, ended.timed_out) == (b"done\n", 0, False)
    assert time.monotonic() - before < 5 and ends_soon(int(note.read_text()))


def test_a_tool_that_writes_without_end() -> None:
    """What never stops writing is stopped, and only its beginning is kept."""
    ended = ran(["yes"], seconds=20)
    assert ended.timed_out and len(ended.stdout) <= 16 << 20


def test_a_tool_that_closes_its_streams_and_goes_on() -> None:
    """Silence is no end."""
    assert ran(shell("exec >&- 2>&-; sleep 100"), seconds=0.3).timed_out


def test_what_may_happen_to_a_process() -> None:
    """A reader that is gone, the null device, and an interrupt in the middle."""
    assert ran(["yes"], event="reader-gone").exit_code == -signal.SIGPIPE
    assert ran(shell("echo out"), event="null-device").stdout == b""
    flood = shell('trap "echo caught; exit 9" INT; while :; do echo line; done')
    ended = ran(flood, event="interrupt")
    assert ended.exit_code == 9 and ended.stdout.endswith(b"caught\n")
    at_work = ran(shell('trap "exit 9" INT; sleep 100'), event="interrupt-at-work")
    assert at_work.exit_code == 9


# -- the scratch folder --------------------------------------------------------------------------


def test_a_tool_runs_where_it_harms_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """Home, folder and temporary files are empty and our own; what changes there is seen."""
    monkeypatch.setenv("XDG_CONFIG_HOME", "/somewhere/else")
    monkeypatch.setenv("FORCE_COLOR", "1")
    with Scratch() as scratch:
        teller = ("sh", "-c", 'echo "$HOME $PWD $TMPDIR ${XDG_CONFIG_HOME-} ${FORCE_COLOR-}"; $0')
        env = scratch.environment({}, teller)
        prober = Prober(teller, scratch, env, 5)
        seen = prober.run("true").stdout.decode().split()
        assert [os.path.commonpath([each, scratch.root]) for each in seen] == [scratch.root] * 3
        made = Prober(("touch",), scratch, env, 5)
        assert made.run("new").changed == ("work/new",)
        assert made.run("new", "newer").changed == ("work/new", "work/newer")
        assert Prober(("mv",), scratch, env, 5).run("new", "old").changed == (
            "work/new",
            "work/old",
        )
        root = scratch.root
    assert not os.path.exists(root)


def test_a_pager_is_a_trap() -> None:
    """A tool that starts a pager, an editor or a browser is found out."""
    with Scratch() as scratch:
        env = scratch.environment({}, ())
        prober = Prober(("sh", "-c"), scratch, env, 5)
        assert prober.run('"$PAGER" < /dev/null').event == TRAPPED
        assert prober.run("true").event == ""


def test_fixtures_stay_inside() -> None:
    """A profile cannot write outside of the folder where the tool runs."""
    with Scratch() as scratch:
        scratch.write("deep/down/file", "text")
        assert Path(scratch.work, "deep/down/file").read_text() == "text"
        for name in ("../outside", "/etc/murli-check", ""):
            with pytest.raises(ValueError, match="outside"):
                scratch.write(name, "text")


def test_a_tool_is_found_from_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A path or script beside the caller is made absolute, options and names are not."""
    (tmp_path / "tool.py").touch()
    (tmp_path / "sh").touch()
    monkeypatch.chdir(tmp_path)
    here = str(tmp_path / "tool.py")
    assert absolute(("./tool.py", "-v")) == (here, "-v")
    assert absolute(("sh", "tool.py"))[1] == here
    assert os.path.isabs(absolute(("sh",))[0]) and absolute(("sh",))[0] != str(tmp_path / "sh")
    assert absolute(("no-such-program",)) == ("no-such-program",)
    (tmp_path / "package").mkdir()
    assert absolute(("sh", "-m", "package"))[1:] == ("-m", "package")
    assert absolute(("sh", "-m", "tool.py"))[1:] == ("-m", "tool.py")


def test_nothing_is_left_behind(tmp_path: Path) -> None:
    """Neither a process that left its group, nor a folder that may not be written to."""
    note = tmp_path / "child"
    leave = 'mkdir locked; touch locked/file; chmod 500 locked; setsid sleep 100 & echo $! > "$0"'
    with Scratch() as scratch:
        prober = Prober(("sh", "-c", leave), scratch, scratch.environment({}, ()), 5)
        assert prober.run(str(note)).exit_code == 0
        root = scratch.root
    assert not os.path.exists(root) and ends_soon(int(note.read_text()))


def test_only_the_choice_of_a_contract_is_handed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings of the caller's own tools do not reach the tool, but for the contract."""
    monkeypatch.setenv("MURLI_TIMEOUT", "1")
    monkeypatch.setenv("MURLI_CONTRACT", "response")
    with Scratch() as scratch:
        env = scratch.environment({}, ())
        assert "MURLI_TIMEOUT" not in env and env["MURLI_CONTRACT"] == "response"


def test_a_call_is_made_once() -> None:
    """The same call is remembered, another environment is another call."""
    with Scratch() as scratch:
        prober = Prober(("sh", "-c"), scratch, scratch.environment({}, ()), 5)
        first = prober.run("echo $$ $A")
        assert prober.run("echo $$ $A") is first
        assert prober.run("echo $$ $A", env={"A": "1"}) is not first
        assert len(prober.seen) == 2


# -- profiles ------------------------------------------------------------------------------------


def test_a_profile_is_read(tmp_path: Path) -> None:
    """Everything a profile may say, in TOML where that can be read, and in JSON."""
    table = tmp_path / "profile.json"
    table.write_text(
        '{"contract": "murli", "timeout": 3, "env": {"A": "1"}, "files": {"a": "b"},'
        ' "setup": [["init", "--yes"]], "arguments": {"show": ["1"]}, "safe": ["build"],'
        ' "exclude": ["serve"], "skip": {"process.help": "none"}, "keep_home": true,'
        ' "probe": [{"words": ["list"], "kind": "stream", "exit_code": 3, "stdin": "x"}]}'
    )
    read = load(table)
    assert read == Profile(
        "murli",
        3.0,
        {"A": "1"},
        {"a": "b"},
        (("init", "--yes"),),
        {"show": ("1",)},
        (ProfileProbe(("list",), "stream", 3, "x"),),
        ("build",),
        ("serve",),
        {"process.help": "none"},
        True,
    )
    other = tmp_path / "profile.toml"
    other.write_text('timeout = 3\n[[probe]]\nwords = ["list"]\n')
    if sys.version_info >= (3, 11):
        assert load(other) == Profile(timeout=3.0, probes=(ProfileProbe(("list",)),))


@pytest.mark.parametrize(
    ("table", "told"),
    [
        ([], "a table"),
        ({"tiemout": 3}, "no setting 'tiemout': use arguments, contract"),
        ({"timeout": 0}, "seconds"),
        ({"timeout": True}, "seconds"),
        ({"env": {"A": 1}}, "env.A is a text"),
        ({"files": []}, "files is a table"),
        ({"setup": ["init"]}, "each call of setup is a list"),
        ({"safe": "build"}, "safe is a list"),
        ({"arguments": {"show": [1]}}, "each word of arguments.show is a text"),
        ({"keep_home": "yes"}, "true or false"),
        ({"contract": "murly"}, "contract is one of murli, response"),
        ({"arguments": {"delete": ["1", "--yes"]}}, "nothing is confirmed"),
        ({"probe": {}}, r"\[\[probe\]\]"),
        ({"probe": [{}]}, "a probe has words"),
        ({"probe": [{"words": [], "kindd": 1}]}, "no 'kindd'"),
        ({"probe": [{"words": [], "kind": "fast"}]}, "call, stream, slow"),
        ({"probe": [{"words": [], "exit_code": 256}]}, "0 to 255"),
    ],
)
def test_a_wrong_profile_is_refused(table: object, told: str) -> None:
    """What is wrong in a profile is said, with what may stand there."""
    with pytest.raises(BadProfile, match=told):
        from_table(table)


def test_a_profile_that_cannot_be_read(tmp_path: Path) -> None:
    """No file, no JSON, no TOML: the file is named."""
    with pytest.raises(BadProfile, match=r"missing\.toml cannot be read"):
        load(tmp_path / "missing.toml")
    for name, kind in (("a.json", "JSON"), ("a.toml", "TOML")):
        path = tmp_path / name
        path.write_text("= =")
        with pytest.raises(BadProfile, match=f"{name}.*{kind}"):
            load(path)


# -- detection -------------------------------------------------------------------------------------


def detected(argv: Sequence[str], **env: str) -> Detected:
    """Find out what the tool that *argv* runs speaks."""
    with Scratch() as scratch:
        variables = scratch.environment(env, tuple(argv))
        return detect(Prober(tuple(argv), scratch, variables, 5))


ONE_COMMAND = """
import argparse, os, murli
parser = argparse.ArgumentParser(prog="nuke")
parser.add_argument("what", nargs="?")
murli.enable(parser)
parser.parse_args()
open(os.environ["LOG"], "a").write("ran")
"""


@pytest.mark.parametrize("contract", ["murli", "response", "agent-spec-2"])
def test_a_tool_that_is_one_command_is_not_run(contract: str, tmp_path: Path) -> None:
    """What nobody declared to be safe is not run, whatever its file is called."""
    log = tmp_path / "log"
    only = ["family.bare", "family.mistake", "murli.mistake", "process.stdin", "process.promises"]
    argv = script(tmp_path, ONE_COMMAND)
    report = check(argv, contract=contract, env=COMPILED | {"LOG": str(log)}, only=only)
    assert report.contract == contract and not log.exists()
    assert report.level == 0 and any("No command of the tool" in each for each in report.notes)


@pytest.mark.parametrize("contract", CONTRACTS)
def test_a_contract_is_recognised(contract: str) -> None:
    """Each contract is told from the others, and its commands are known."""
    found = detected(tool("tasks_argparse"), MURLI_CONTRACT=contract)
    assert (found.contract, found.wire) == (contract, "docs" if contract == "murli" else "")
    assert found.catalogue is not None and "task create" in found.catalogue.commands


GO = """
case "$1" in
describe) echo '{"capabilities":{"output_formats":["json"]},"name":"t","schema_version":"1.0"}' ;;
*) echo '{"code":1,"error":"e","message":"m","recoverable":true,"schema_version":"1.0"}' >&2
   exit 1 ;;
esac
"""


def test_the_wire_of_go_is_recognised() -> None:
    """An error without a status is Go's; where describe is broken the error alone tells murli."""
    found = detected(shell(GO))
    assert (found.contract, found.wire) == ("murli", "go")
    without = detected(shell(GO.replace("describe)", "describes)")))
    assert (without.contract, without.wire, without.catalogue) == ("murli", "go", None)


@pytest.mark.parametrize(
    "text",
    ["exit 0", "echo hello", "echo '{}'", "echo '[1]'; exit 1", 'echo "$@" >&2; exit 2', "kill $$"],
)
def test_a_plain_program_speaks_nothing(text: str) -> None:
    """Text, foreign JSON, silence and a crash are no contract."""
    assert detected(shell(text)) == Detected("none")


# -- results ---------------------------------------------------------------------------------------


def made(look: object, profile: Profile | None = None, speaks: str = "murli") -> Result:
    """Make one check of a tool that does nothing."""
    each = Check("x.y", "Title", 1, ALL, (), look)  # type: ignore[arg-type]
    with opened(shell(":"), profile or Profile(), "murli", {}) as subject:
        subject.target.speaks = speaks
        return each.made_on(subject.target)


def test_what_becomes_of_a_check() -> None:
    """The worst finding counts; nothing found, nothing run and nothing to run are no pass."""

    def not_applicable(_: object) -> list[Finding]:
        raise NotApplicable("no flags")

    def not_verified(_: object) -> list[Finding]:
        raise NotVerified("no call")

    def broken(_: object) -> list[Finding]:
        raise KeyError("x")

    good, poor, bad = finding(""), finding("so-so", warn=True), finding("wrong")
    assert made(lambda _: [good]).status == "pass"
    assert made(lambda _: [good, poor]).status == "warn"
    assert made(lambda _: [poor, bad, good]).status == "fail"
    assert made(lambda _: [poor, bad, good]).troubles == (bad, poor)
    assert (made(lambda _: []).status, made(lambda _: []).reason) == (
        "not_verified",
        "there was nothing to look at",
    )
    assert (made(not_applicable).status, made(not_applicable).reason) == (
        "not_applicable",
        "no flags",
    )
    assert (made(not_verified).status, made(not_verified).reason) == ("not_verified", "no call")
    assert (made(broken).status, "KeyError" in made(broken).reason) == ("not_verified", True)
    skipped = made(lambda _: [good], Profile(skip={"x.y": "later"}))
    assert (skipped.status, skipped.reason) == ("not_verified", "left out by the profile: later")
    assert made(lambda _: [good], speaks="none").status == "not_verified"
    assert worst([]) == "not_verified"


def results(**statuses: str) -> tuple[Result, ...]:
    """Give a result for each level and status: ``one="pass"`` is at level 1."""
    levels = {"one": 1, "two": 2, "three": 3}
    return tuple(
        Result(f"{name}.{at}", "", levels[name], (), status)
        for name, all_of_them in statuses.items()
        for at, status in enumerate(all_of_them.split())
    )


@pytest.mark.parametrize(
    ("statuses", "levels", "score"),
    [
        ({"one": "pass", "two": "pass", "three": "pass"}, "pass pass pass", 100),
        (
            {"one": "pass", "two": "pass not_verified", "three": "pass"},
            "pass incomplete incomplete",
            75,
        ),
        ({"one": "pass", "two": "fail not_verified", "three": "pass"}, "pass fail fail", 50),
        ({"one": "pass", "two": "pass warn", "three": "pass"}, "pass pass pass", 87),
        (
            {"one": "pass", "two": "not_applicable", "three": "pass"},
            "pass incomplete incomplete",
            100,
        ),
        ({"one": "fail", "two": "pass", "three": "pass"}, "fail fail fail", 66),
    ],
)
def test_levels_and_score(statuses: dict[str, str], levels: str, score: int) -> None:
    """A level needs all below it; what could not be verified leaves it open, and scores nothing."""
    report = Report(("t",), "t", "murli", "murli", results=results(**statuses))
    assert list(report.levels.values()) == levels.split()
    assert report.level == levels.split().count("pass")
    assert report.score == score
    assert replace(report, contract="none").level == 0


def test_evidence_tells_how_it_ended() -> None:
    """Exit code, signal, hang or no start, in words."""
    assert Evidence(("t",), exit_code=3).ended == "exit 3"
    assert Evidence(("t",), exit_code=-2).ended == "signal 2"
    assert Evidence(("t",), exit_code=None).ended == "never ran"
    assert "within 1.5 s" in Evidence(("t",), timed_out=True, duration_ms=1500).ended


def test_checks_are_ordered_and_named() -> None:
    """Ids are unique and say what they are about; those in hindsight come last."""
    for contract in CONTRACTS:
        found = checks_for(contract)
        assert len({each.id for each in found}) == len(found)
        assert [each.in_hindsight for each in found] == sorted(each.in_hindsight for each in found)
        assert all("." in each.id and each.title and each.level in (1, 2, 3) for each in found)
    assert {each.id for each in checks_for("murli") if "none" in each.contracts}
    assert set(ALL) < set(ANY)


# -- safety ------------------------------------------------------------------------------------

RECORDS = """
import argparse, os, murli
parser = argparse.ArgumentParser(prog="records")
commands = parser.add_subparsers(dest="command", required=True)
facts = {
    "show": murli.Metadata(danger_level="safe"),
    "delete": murli.Metadata(destructive=True, mutating=True),
    "tidy": murli.Metadata(mutating=True),
    "publish": murli.Metadata(danger_level="safe"),
    "process": murli.Metadata(),
}
for name, declared in facts.items():
    murli.annotate(commands.add_parser(name), declared)
commands.choices["show"].add_argument("what")
murli.enable(parser)
args = parser.parse_args()
if args.command != "show":
    with open(os.environ["LOG"], "a") as log:
        log.write(args.command)
"""


@pytest.mark.parametrize(
    "contract", ["murli", pytest.param("agent-spec-2", marks=pytest.mark.slow)]
)
def test_nothing_that_changes_is_run(contract: str, tmp_path: Path) -> None:
    """Commands that change something, or are called like it, are asked to refuse, never run."""
    log = tmp_path / "log"
    log.touch()
    report = check(script(tmp_path, RECORDS), contract=contract, env=COMPILED | {"LOG": str(log)})
    assert report.contract == contract and log.read_text() == ""
    calls = [
        each.evidence.argv
        for result in report.results
        for each in result.findings
        if each.evidence is not None
    ]
    assert not any({"--yes", "--force", "--confirm-destructive"} & set(argv) for argv in calls)
    assert any("delete" in argv for argv in calls)
    assert ("show", "murli-check") in {argv[2:] for argv in calls}


def test_no_made_up_word_confirms_anything() -> None:
    """Neither a flag that is said to be required, nor a value, nor a name can force a change."""
    described = {
        "name": "t",
        "schema_version": "1.0",
        "commands": [
            {
                "name": "show",
                "idempotent": True,
                "safety": {"read_only": True},
                "arguments": [
                    {"name": "how", "type": "string", "required": True, "enum": ["--yes", "slow"]},
                    {"name": "n", "type": "int", "required": True},
                ],
                "flags": [
                    {"name": "force", "type": "bool", "required": True},
                    {"name": "kind", "type": "string", "required": True, "enum": ["--force"]},
                    {"name": "each", "type": "[]int", "required": True},
                ],
            },
            *({"name": name, "safety": {"read_only": True}} for name in ("--yes", "a b", "x\0")),
        ],
    }
    with opened(shell(":"), Profile(), "murli", {}) as subject:
        known = from_description(described)
        target = Target(subject.target.prober, Profile(), "murli", "murli", "docs", known)
        assert [each.path for each in target.commands] == [("show",)]
        words = ("show", "slow", "1", "--kind", "murli-check", "--each", "1", "--more")
        assert target.words(target.commands[0], "--more") == words


def test_nothing_of_the_caller_is_touched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tool that writes wherever it is run leaves nothing in the caller's home and folder."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    report = check(shell('echo x > here; echo y > "$HOME/there"; echo z > "$TMPDIR/t"'))
    assert report.contract == "none" and list(tmp_path.iterdir()) == []


def test_setup_and_vouched_calls(tmp_path: Path) -> None:
    """A profile's setup is run first; one that fails is told about."""
    profile = Profile(setup=(("false",), ("true",)), files={"a/b": "c"})
    report = check(["env"], profile=profile)
    assert report.notes == ("The call `false` of the profile's setup: exit 1.",)
    assert report.processes >= 2


def test_a_program_that_is_not_there() -> None:
    """What cannot be started is no tool that could be checked."""
    with pytest.raises(NotRunnable, match="No such file"):
        check(["/no/such/tool"])
    with pytest.raises(ValueError, match="begins with a program"):
        check([])
    with pytest.raises(ValueError, match="contract is one of"):
        check(["true"], contract="nonsense")
    with pytest.raises(BadProfile, match="outside"):
        check(["true"], profile=Profile(files={"../x": ""}))
