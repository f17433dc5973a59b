"""The running tool keeps the ResponseEnvelope contract: what no other test proves of it.

Which requirement each test proves is told in ``docs/reference/agent-spec-coverage.md``.
"""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from documents import FAMILY, hold_to_schema
from harness import ADAPTERS, Run, environment, run, run_at_terminal, script, tool

pytestmark = [pytest.mark.adapters("argparse", "click"), pytest.mark.warm]

NEWEST = "agent-spec-2"
CONTRACTS = ["murli", *FAMILY]
# Every adapter and every contract at least once.
PAIRS = [*zip(ADAPTERS, FAMILY, strict=True), ("argparse", NEWEST)]
ARG_ERROR = {"response": 3, "agent-spec-1.6": 2, NEWEST: 2}

# A tool whose commands do what their caller writes, in Python.
_CORE = """
import os, pathlib, socket, subprocess, sys, time
import murli
from murli import AgentError, ExitCode, ExitCodeEntry, FlagAnnotation, Metadata, Rule, Traits

def do(code):
    names = dict(globals())
    exec(code, names)
    return names.get("result")

ENTRY = ExitCodeEntry
FACTS = {
    "see": Metadata(danger_level="safe"),
    "do": Metadata(),
    "make": Metadata(
        danger_level="mutating",
        exit_codes={
            ExitCode.SUCCESS: ENTRY("It is made.", side_effects="complete"),
            ExitCode.ARG_ERROR: ENTRY("A flag is wrong; nothing is made."),
            ExitCode.CONFLICT: ENTRY("Somebody else is making it.", retryable=True),
        },
        flag_annotations={
            "name": FlagAnnotation(pattern="^[a-z]+$"), "kind": FlagAnnotation(enum=["a", "b"]),
        },
        requires=[Rule("kind", "a", then_required=["name"])],
    ),
    "told": Metadata(
        danger_level="mutating", effect="created", steps=["one", "two", "three"],
        schema_version="2.1",
    ),
    "net": Metadata(danger_level="safe", traits=Traits(has_network_io=True, connect_timeout=0.2)),
    "strict": Metadata(danger_level="safe", traits=Traits(option_placement="strict")),
    "login": Metadata(danger_level="safe", traits=Traits(token_env_vars=["LAB_LOGIN_TOKEN"])),
    "serve": Metadata(danger_level="safe", traits=Traits(protocol="echo")),
    "check": Metadata(danger_level="safe", traits=Traits(
        required_tools={"sh": "*"},
        dependencies=[
            {"name": "python", "check_command": "python3 --version", "min_version": "3.1"},
            {"name": "future", "check_command": "python3 --version", "min_version": "99",
             "fix_command": "install future"},
            {"name": "absent", "check_command": "no-such-program --version", "min_version": "1"},
        ],
    )),
}
"""
_FRONTS = {
    "argparse": """
import argparse
parser = argparse.ArgumentParser(prog="lab")
parser.add_argument("--version", action="version", version="lab 1.2.3")
commands = parser.add_subparsers(dest="command", required=True)
for each, facts in FACTS.items():
    command = commands.add_parser(each)
    command.add_argument("code")
    command.add_argument("--num", type=int)
    command.add_argument("--name")
    command.add_argument("--kind")
    command.add_argument("--token")
    murli.annotate(command, facts)
murli.enable(parser)

def main():
    given, writer = murli.parse(parser)
    result = do(given.code)
    if not writer._reply.answered:
        writer.write_success("", result)
""",
    "click": """
import click

@click.group()
@click.version_option("1.2.3", prog_name="lab")
def main():
    pass

def add(each, facts):
    @main.command(each)
    @click.argument("code")
    @click.option("--num", type=int)
    @click.option("--name")
    @click.option("--kind")
    @click.option("--token")
    def command(code, num, name, kind, token):
        return do(code)
    murli.annotate(command, facts)

for each, facts in FACTS.items():
    add(each, facts)

murli.enable(main, name="lab")
""",
    "typer": """
import typer
main = typer.Typer()

def add(each, facts):
    @main.command(each)
    def command(code: str, num: int = 0, name: str = "", kind: str = "", token: str = ""):
        return do(code)
    murli.annotate(command, facts)

for each, facts in FACTS.items():
    add(each, facts)

murli.enable(main, name="lab", tool_version="1.2.3")
""",
}
_CALL = """
if __name__ == "__main__":
    main()
"""


@pytest.fixture(scope="module")
def labs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """The argv of the tool, by framework."""
    folder = tmp_path_factory.mktemp("labs")
    return {
        name: script(folder, _CORE + front + _CALL, f"lab_{name}.py")
        for name, front in _FRONTS.items()
    }


@pytest.fixture(params=ADAPTERS)
def lab(request: pytest.FixtureRequest, labs: dict[str, list[str]]) -> list[str]:
    """The argv of the tool, on each framework in turn."""
    return labs[request.param]


def call(
    lab: list[str], *words: str, contract: str = NEWEST, cwd: Path | None = None, **changes: Any
) -> Run:
    return run(lab, *words, env=environment(MURLI_CONTRACT=contract, **changes), cwd=cwd)


# -- every end is an envelope, and a number ----------------------------------------------------

# kind -> the exit code under murli, response, agent-spec-1.6, agent-spec-2
_NUMBERS = {
    "user_error": (1, 3, 2, 2),
    "tool_error": (2, 1, 1, 1),
    "partial": (3, 2, 3, 3),
    "incomplete": (3, 2, 3, 14),
    "precondition": (1, 4, 4, 4),
    "not_found": (5, 5, 5, 5),
    "conflict": (7, 6, 6, 6),
    "permission_denied": (6, 7, 7, 7),
    "auth_required": (6, 8, 8, 8),
    "payment_required": (6, 9, 9, 9),
    "timeout": (4, 10, 10, 10),
    "rate_limited": (8, 11, 11, 11),
    "unavailable": (2, 12, 12, 12),
    "redirected": (1, 13, 13, 13),
    "cancelled": (9, 130, 130, 130),
    "success": (0, 0, 0, 0),
}
_RAISING = "raise AgentError.of_kind('{}', 'It failed.', redirect_to='lab see x')"


@pytest.mark.parametrize(
    ("adapter", "contract"),
    [*(("argparse", contract) for contract in CONTRACTS), ("click", "murli"), ("click", NEWEST)],
)
def test_each_kind_reaches_the_system(
    labs: dict[str, list[str]], adapter: str, contract: str
) -> None:
    """Every kind of failure ends the process with the contract's number, and one document."""
    raising = {kind: _RAISING.format(kind) for kind in _NUMBERS} | {"success": "result = {}"}
    calls = [["lab", "see", code] for code in raising.values()]
    env = environment(MURLI_CONTRACT=contract, PYTHONPATH=str(Path(labs[adapter][1]).parent))
    stdin = json.dumps(calls).encode()
    done = run(tool("each_call"), f"lab_{adapter}", "main", env=env, stdin=stdin)
    at = CONTRACTS.index(contract)
    for (kind, numbers), (status, out, err) in zip(_NUMBERS.items(), done.document, strict=True):
        assert status == numbers[at], kind
        hold_to_schema((out or err).encode(), [], env)
        document = json.loads(out or err)
        if contract == "murli":
            assert document.get("code", 0) == numbers[0]
            continue
        assert list(document) == ["ok", "data", "error", "warnings", "meta"]
        assert document["ok"] is (numbers[at] == 0)
        assert document["meta"]["duration_ms"] >= 0
        assert document["meta"].get("exit_code", numbers[at]) == numbers[at]
        if kind != "success":
            _check_error(document["error"], kind, contract)


def _check_error(error: dict[str, Any], kind: str, contract: str) -> None:
    assert re.fullmatch("[A-Z][A-Z0-9_]+", error["code"])
    assert error["message"] == "It failed."
    assert isinstance(error["retryable"], bool)
    assert error["phase"] == ("validation" if kind == "user_error" else "execution")
    assert ("redirect" in error) is (kind == "redirected")
    if contract != "response":
        waits = {"retry_after_ms", "retry_strategy"} & error.keys()
        assert bool(waits) is error["retryable"]
        assert ("fix_required" in error) <= (not error["retryable"])


@pytest.mark.parametrize(("adapter", "contract"), PAIRS[:3])
def test_a_refused_call_has_done_nothing(
    labs: dict[str, list[str]], tmp_path: Path, adapter: str, contract: str
) -> None:
    """ARG_ERROR comes before the handler: what it would make is not there, until it is right."""
    lab, trace = labs[adapter], tmp_path / "made"
    code = "pathlib.Path('made').touch(); result = {'effect': 'created'}"
    for words in (
        ("make", code, "--num", "many", "--yes"),
        ("make", code, "--name", "A", "--yes"),
        ("make", code, "--kind", "a", "--yes"),
        ("make", code),
        ("make", code, "--limit", "no", "--yes"),
    ):
        done = call(lab, *words, contract=contract, cwd=tmp_path)
        error = done.document["error"]
        assert (done.code, error["phase"]) == (ARG_ERROR[contract], "validation"), words
        assert error["retryable"] is (contract == "response")
        assert ("fix_required" in error) is (contract != "response")
        assert not trace.exists()
    assert call(lab, "make", code, "--yes", contract=contract, cwd=tmp_path).code == 0
    assert trace.exists()


def test_what_is_wrong_is_told_at_once(lab: list[str]) -> None:
    """A parser stops at the first mistake; the answer names all that are certain, in `errors`."""
    words = ("--num", "x", "--bad", "--name", "A", "--kind", "z", "--worse")
    error = call(lab, "make", "pass", *words).document["error"]
    assert {each["field"] for each in error["errors"]} == {"num", "bad", "name", "kind", "worse"}
    assert error["errors"][0]["message"] == error["message"]
    assert 'Invalid value "x" for --num' in json.dumps(error["errors"]).replace("\\", "")
    # What is right, or not for us to judge, is not complained of.
    error = call(lab, "make", "pass", "--num", "x", "--name", "a", "--", "--word").document["error"]
    assert "errors" not in error


def test_a_late_complaint_is_no_wrong_call(lab: list[str]) -> None:
    """A usage error of a handler that may have changed something is no ARG_ERROR any more."""
    code = "parser.error('late')"
    if "argparse" not in lab[-1]:
        code = "import click; raise click.UsageError('late')"
    late = call(lab, "do", code)
    assert (late.code, late.document["error"]["phase"]) == (1, "execution")
    harmless = call(lab, "see", code)
    assert (harmless.code, harmless.document["error"]["phase"]) == (2, "validation")


# -- what a handler does, and what becomes of it -----------------------------------------------

_SNIPPETS = {
    "object": "result = {'a': 1}",
    "list": "result = [1, 2]",
    "nothing": "pass",
    "text": "result = 'text'",
    "failure": "raise AgentError.not_found('no such thing')",
    "odd": """
import datetime, decimal
result = {
    "red": "\\x1b[31mred\\x1b[0m\\r\\x1b]8;;http://x\\x07link", "lone": "\\ud800", "nul": "a\\0b",
    "bytes": b"\\0\\xff", "float": 1234567.5, "yes": True, "null": None, "empty": [], "blank": "",
    "day": datetime.datetime(2020, 1, 2), "money": decimal.Decimal("1.10"), "long": "x " * 200,
}""",
    "environment": """
names = "PAGER GIT_PAGER LESS MORE MANPAGER EDITOR VISUAL NO_COLOR CI NO_UPDATE_NOTIFIER"
names += " HOMEBREW_NO_AUTO_UPDATE PIP_DISABLE_PIP_VERSION_CHECK PYTHONUNBUFFERED TOOL_TRACE_ID"
given = murli.run(["env"]).stdout.splitlines()
result = {name: told for name, _, told in (each.partition("=") for each in given)
          if name in names.split()}""",
    "asked": "input('What name? ')",
    "edited": "import click; click.edit('text')",
    "browsed": "import webbrowser; webbrowser.open('http://x/'); result = {'a': 1}",
    "opened": "import click; click.launch('file:///tmp/x'); result = 'see there'",
    "listed": "import webbrowser; webbrowser.open('http://x/'); result = [1]",
    "status": "sys.exit(77)",
    "slow": "raise TimeoutError('too slow')",
    "wrong": "raise AgentError.user_error('No such colour.')",
    "expired": "raise AgentError.auth_required(reason='expired', context="
    "{'expires_at': '2020-01-01T00:00:00Z', 'refresh_command': 'lab login'})",
    "denied": "raise AgentError.permission_denied('no', context={'required_permission': 'admin'})",
    "exists": "raise AgentError.already_exists('It is there.', {'id': 1})",
    "interrupted": "os.kill(os.getpid(), 2); time.sleep(9)",
    "terminated": "os.kill(os.getpid(), 15); time.sleep(9)",
    "logged": "murli.get_writer().log('sent with token=abcdefgh, Authorization: Bearer zyxwvu')",
    "stray": "print('Cookie: session=abcdef'); result = {}",
}


class Answers:
    """The answers of one tool to all of the snippets."""

    def __init__(self, done: Run, contract: str) -> None:
        self.contract = contract
        self.run = done
        self.by_name: dict[str, Any] = dict(zip(_SNIPPETS, done.lines, strict=True))

    def __getitem__(self, name: str) -> Any:
        return self.by_name[name]

    @property
    def newest(self) -> bool:
        return self.contract == NEWEST


@pytest.fixture(scope="module", params=PAIRS, ids="-".join)
def answers(request: pytest.FixtureRequest, labs: dict[str, list[str]]) -> Answers:
    """What the tool answers: one process, a call of its own for each snippet."""
    adapter, contract = request.param
    requests = [json.dumps({"_cmd": "see", "code": code}) for code in _SNIPPETS.values()]
    env = environment(
        MURLI_CONTRACT=contract, LC_ALL="de_DE.UTF-8", COLUMNS="20", TOOL_TRACE_ID="trace-1"
    )
    lines = "\n".join(requests).encode()
    return Answers(run(labs[adapter], "exec", "--ignore-errors", stdin=lines, env=env), contract)


def test_one_shape_for_every_answer(answers: Answers) -> None:
    """One, many, none and a failure have the same five keys; `data` has its own shape in them."""
    assert answers["object"]["data"] == {"a": 1}
    assert answers["list"]["data"] == [1, 2]
    assert answers["nothing"]["data"] == {}
    assert answers["text"]["data"] == {"text": "text"}
    failed = answers["failure"]
    assert (failed["ok"], failed["data"], failed["error"]["code"]) == (False, None, "NOT_FOUND")
    for answer in answers.by_name.values():
        assert list(answer) == ["ok", "data", "error", "warnings", "meta"]
        assert isinstance(answer["warnings"], list)
        assert answer["meta"]["duration_ms"] >= 0
    assert b"\r" not in answers.run.stdout


def test_values_are_the_same_everywhere(answers: Answers) -> None:
    """Neither locale nor width nor what a string holds shows in a document."""
    data = answers["odd"]["data"]
    assert (data["red"], data["lone"], data["nul"]) == ("redlink", "\ufffd", "a\ufffdb")
    assert data["bytes"] == {
        "type": "binary",
        "encoding": "base64",
        "value": "AP8=",
        "size_bytes": 2,
    }
    assert (data["float"], data["yes"], data["day"]) == (1234567.5, True, "2020-01-02T00:00:00")
    assert [data[name] for name in ("null", "empty", "blank")] == [None, [], ""]
    assert data["long"] == "x " * 200
    assert b"\x1b" not in answers.run.stdout
    assert b'"float":1234567.5' in answers.run.stdout


def test_children_know_that_nobody_is_there(answers: Answers) -> None:
    """Programs that the handler starts neither page, ask, colour nor look for updates."""
    wanted = {"PAGER": "cat", "GIT_PAGER": "cat", "MANPAGER": "cat", "LESS": "-FRX", "MORE": ""}
    wanted |= {"EDITOR": "true", "VISUAL": "true", "NO_COLOR": "1", "CI": "1"}
    wanted |= {"NO_UPDATE_NOTIFIER": "1", "HOMEBREW_NO_AUTO_UPDATE": "1"}
    wanted |= {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PYTHONUNBUFFERED": "1"}
    assert answers["environment"]["data"] == {**wanted, "TOOL_TRACE_ID": "trace-1"}


def test_what_meta_tells(answers: Answers) -> None:
    """Each revision knows who called what, when, where and how; secrets are told nowhere."""
    meta = answers["object"]["meta"]
    assert (meta["schema_version"], meta["request_id"][:4]) == ("1.0", "req_")
    assert meta["request_id"] != answers["list"]["meta"]["request_id"]
    if answers.contract == "response":
        assert not {"exit_code", "trace_id", "cwd", "timestamp"} & meta.keys()
        return
    assert (meta["command"], meta["trace_id"], meta["tool_version"]) == (
        "lab see",
        "trace-1",
        "1.2.3",
    )
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", meta["timestamp"])
    assert os.path.isabs(meta["cwd"])
    assert (meta["config_sources"], meta["timeout_ms"]) == ([], 300_000)
    assert "update_available" not in meta
    assert ("exit_code" in meta) is answers.newest


def test_a_question_is_answered_with_the_flag(answers: Answers) -> None:
    """A prompt and an editor fail at once, and tell what to pass instead."""
    asked, edited = answers["asked"]["error"], answers["edited"]["error"]
    assert (asked["code"], asked["suggestion"]) == ("INPUT_REQUIRED", "Pass --name.")
    assert edited["code"] == "INTERACTIVE_BLOCKED"
    if answers.contract != "response":
        assert edited["alternatives"] == ["--num", "--name", "--kind", "--token"]
    assert answers["asked"]["meta"].get("exit_code", 4) == 4


def test_what_a_desktop_would_open_is_told(answers: Answers) -> None:
    """A URL or a file to open is in the answer, and the command goes on."""
    assert answers["browsed"]["data"] == {"a": 1, "open_url": "http://x/"}
    # A session has answered with nothing before what is printed could be the answer.
    assert answers["opened"]["data"] == {"text": "see there", "open_path": "/tmp/x"}
    listed = answers["listed"]
    assert (listed["data"], listed["meta"]["headless"]) == ([1], True)
    if answers.contract != "response":
        assert listed["meta"]["open_url"] == "http://x/"


def test_a_status_that_means_nothing_is_told(answers: Answers) -> None:
    """An exit with a number nobody declared is a general error with a code of its own."""
    error = answers["status"]["error"]
    assert error["code"] == "UNDECLARED_EXIT_CODE"
    assert answers["status"]["meta"].get("exit_code", 1) == 1
    if answers.contract != "response":
        assert error["context"] == {"exit_status": 77}


def test_what_a_code_promises_is_true(answers: Answers) -> None:
    """ARG_ERROR is of the phase it promises; a timeout says whether to repeat or to allow more."""
    assert answers["wrong"]["error"]["phase"] == "validation"
    slow = answers["slow"]["error"]
    assert (slow["code"], slow["retryable"]) == ("TIMEOUT", not answers.newest)
    if answers.newest:
        assert "larger --timeout" in slow["fix_required"]
    elif answers.contract != "response":
        assert slow["retry_strategy"] == "linear_backoff"


def test_a_failure_gives_what_it_has(answers: Answers) -> None:
    """The newest revision has a place for what is there already, and for work that was cut off."""
    exists, signals = answers["exists"], {"interrupted": "SIGINT", "terminated": "SIGTERM"}
    assert exists["error"]["code"] == "ALREADY_EXISTS"
    assert exists["data"] == ({"id": 1} if answers.newest else None)
    for name, signal in signals.items():
        assert answers[name]["error"]["code"] == "CANCELLED"
        assert answers[name]["data"] == ({"partial": True} if answers.newest else None)
        if answers.contract != "response":
            assert answers[name]["error"]["context"]["signal"] == signal


def test_credentials_say_what_is_wrong_with_them(answers: Answers) -> None:
    """Expired and denied are told apart, with how to refresh and what is missing."""
    expired, denied = answers["expired"]["error"], answers["denied"]["error"]
    assert (expired["code"], denied["code"]) == ("TOKEN_EXPIRED", "PERMISSION_DENIED")
    if answers.contract != "response":
        assert expired["refresh_command"] == "lab login"
        assert (expired["expires_at"][:4], denied["required_permission"]) == ("2020", "admin")


def test_stderr_holds_no_secrets(answers: Answers) -> None:
    """What is called a token, or is a header of such a kind, is masked in logs and stray text."""
    err = answers.run.err
    assert "token=[REDACTED]" in err
    assert "Authorization: [REDACTED]" in err
    assert "Cookie: [REDACTED]" in err
    assert not [secret for secret in ("abcdefgh", "zyxwvu", "session=") if secret in err]
    (entry,) = [each for each in answers.run.logs if "sent with" in each["msg"]]
    assert entry["trace_id"] == "trace-1"


# -- secrets, settings, time -------------------------------------------------------------------


def test_an_option_named_like_a_secret_is_one(lab: list[str]) -> None:
    """Nobody has to declare --token, nor API_KEY: neither value gets out, under --debug either."""
    code = (
        "print({'token': sys.argv[-1]}, sys.argv, os.environ['LAB_KEY'], file=sys.stderr)\n"
        "print({'token': sys.argv[-1]})\n"
        "raise ValueError(sys.argv[-1])"
    )
    key = "sk-0123456789abcdef"
    done = call(lab, "see", "--debug", code, "--token", "s3cr3t-value", LAB_KEY=key)
    assert done.code == 1
    assert "[REDACTED]" in done.out
    assert "[REDACTED]" in done.err
    assert "Traceback" in done.err
    assert "[REDACTED]]" not in done.out + done.err
    for secret in ("s3cr3t-value", key):
        assert secret not in done.out + done.err


def test_settings_that_applied_are_named(tmp_path: Path) -> None:
    """Values of a profile are told by the file they came from, and a hash of what applied."""
    deploy = tool("deploy_click")
    store = str(tmp_path / "profiles.json")
    env = environment(MURLI_CONTRACT=NEWEST, MURLI_PROFILE_PATH=store)
    hashes = []
    for replicas in ("3", "4", "3"):
        words = ("profile", "save", "fast", f"replicas={replicas}")
        assert run(deploy, *words, env=env).code == 0
        meta = run(deploy, "run", "--profile", "fast", env=env).document["meta"]
        assert meta["config_sources"] == [store]
        hashes.append(meta["effective_config_hash"])
    assert hashes[0] == hashes[2] != hashes[1]
    plain = run(deploy, "run", "--replicas", "1", env=env).document["meta"]
    assert plain["config_sources"] == []
    assert "effective_config_hash" not in plain


def test_how_long_a_call_may_take_is_told(labs: dict[str, list[str]]) -> None:
    """`timeout_ms` is what is in force: the caller's word, the tool's variable, 0 for none."""
    told = []
    for words, variable in ((("--timeout", "1.5"), None), (("--timeout", "0"), "9"), ((), "9")):
        done = call(labs["argparse"], "see", "pass", *words, LAB_TIMEOUT=variable)
        told.append(done.document["meta"]["timeout_ms"])
    assert told == [1500, 0, 9000]


def test_what_is_volatile_is_in_meta(labs: dict[str, list[str]]) -> None:
    """Two equal calls give the same data, whatever the seed of the hashes."""
    for words in (["manifest"], ["describe"], ["see", "result = [3, 1, 2]"]):
        first, second = (
            call(labs["argparse"], *words, PYTHONHASHSEED=seed).document for seed in "12"
        )
        data = [each.get("data", each) for each in (first, second)]
        assert data[0] == data[1]


def test_asking_changes_nothing(lab: list[str], tmp_path: Path) -> None:
    """Help, version and a bare call succeed, write no file, and tell where the schema is."""
    for words in (["--help"], [], ["see", "--help"]):
        done = call(lab, *words, cwd=tmp_path, HOME=str(tmp_path))
        document = done.document
        assert (done.code, document["data"], document["meta"]["help"]) == (0, None, True)
        asked = " ".join(["lab", *[word for word in words if word != "--help"]])
        assert document["meta"]["schema_ref"] == f"{asked} --schema"
        assert "usage" in done.err.lower()
    # The typer tool defines no --version; murli knows it.
    version = call(lab, "--version", cwd=tmp_path, HOME=str(tmp_path))
    assert (version.code, version.document["data"]["version"]) == (0, "1.2.3")
    assert version.document["meta"]["tool_version"] == "1.2.3"
    assert list(tmp_path.iterdir()) == []


# -- what authors declare ----------------------------------------------------------------------


def test_declared_ends_and_effects_are_checked(labs: dict[str, list[str]]) -> None:
    """In development an end, or an effect, that was not declared is a warning; else it is none."""
    lab = labs["click"]
    for code, told in (
        ("raise AgentError.not_found('no')", "UNDECLARED_EXIT_CODE"),
        ("result = {'id': 1}", "EFFECT_MISSING"),
        ("result = {'effect': 'melted'}", "EFFECT_MISSING"),
        ("result = {'effect': ['created']}", "EFFECT_MISSING"),
    ):
        warned = call(lab, "make", code, "--yes", MURLI_DEV="1").document["warnings"]
        assert [each["code"] for each in warned] == [told]
    assert call(lab, "make", "result = {'id': 1}", "--yes").document["warnings"] == []


def test_an_author_promises_that_trying_again_is_safe(labs: dict[str, list[str]]) -> None:
    """What the exit codes of a command call retryable is retryable, and says how to wait."""
    error = call(labs["click"], "make", "raise AgentError.conflict('busy')", "--yes").document[
        "error"
    ]
    assert (error["retryable"], error["retry_strategy"]) == (True, "exponential_backoff")
    error = call(labs["click"], "do", "raise AgentError.conflict('busy')").document["error"]
    assert error["retryable"] is False


def test_a_success_tells_its_steps_and_its_effect(lab: list[str]) -> None:
    """The steps that were taken are in meta, the effect is in data whatever the result is."""
    code = "\nwith murli.step('one'):\n    result = 'done'"
    answer = call(lab, "told", code, "--yes").document
    assert answer["data"] == {"effect": "created", "text": "done"}
    steps = (answer["meta"]["completed_steps"], answer["meta"]["skipped_steps"])
    assert steps == (["one"], ["two", "three"])
    assert answer["meta"]["schema_version"] == "2.1"


def test_options_where_a_command_wants_them(lab: list[str]) -> None:
    """With strict placement an option behind an argument is refused; ours may stand anywhere."""
    done = call(lab, "strict", "result = {}", "--num", "1")
    assert (done.code, done.document["error"]["context"]["field"]) == (2, "num")
    assert call(lab, "strict", "--num", "1", "result = {}", "--limit", "3").code == 0


def test_a_connection_has_its_own_time(lab: list[str]) -> None:
    """A command that talks to the network waits for a connection as long as was said."""
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        connecting = f"[socket.create_connection(('127.0.0.1', {full.getsockname()[1]}), 5)"
        code = f"result = {connecting} for _ in range(9)]"
        started = time.monotonic()
        done = call(lab, "net", code, "--connect-timeout", "300ms")
        assert time.monotonic() - started < 4
    assert (done.code, done.document["error"]["code"]) == (10, "TIMEOUT")
    assert done.document["meta"]["connect_timeout_ms"] == 300
    assert "network_context" in done.document["error"]


def test_a_connection_time_is_for_the_network(labs: dict[str, list[str]]) -> None:
    """The author's time holds unless the caller's does; other commands have no such flag."""
    lab = labs["argparse"]
    assert call(lab, "net", "pass").document["meta"]["connect_timeout_ms"] == 200
    off = call(lab, "net", "pass", "--connect-timeout", "0").document
    assert off["meta"]["connect_timeout_ms"] == 0
    done = call(lab, "see", "pass", "--connect-timeout", "1")
    assert (done.code, done.document["error"]["context"]["field"]) == (2, "connect-timeout")
    flags = call(lab, "manifest", "net").document["data"]["commands"]["net"]["flags"]
    assert flags["connect-timeout"]["default"] == "0.2"


def test_credentials_come_from_the_named_variable(lab: list[str]) -> None:
    """--token-env-var says where the token is; without one a headless login is a precondition."""
    code = "result = {'length': len(os.environ['LAB_LOGIN_TOKEN'])}"
    done = call(lab, "login", code, "--headless")
    assert (done.code, done.document["error"]["code"]) == (4, "TOKEN_MISSING")
    assert done.document["error"]["context"]["token_env_vars"] == ["LAB_LOGIN_TOKEN"]
    done = call(lab, "login", code, "--token-env-var", "OTHER", OTHER="abcdefghijkl")
    assert done.document["data"] == {"length": 12}
    done = call(lab, "login", code, "--token-env-var", "OTHER")
    assert (done.code, done.document["error"]["suggestion"]) == (4, "Set OTHER.")


def test_a_protocol_has_stdout_to_itself(lab: list[str]) -> None:
    """A command that speaks a protocol is heard at once; only its failure is told, on stderr."""
    code = "for line in sys.stdin:\n  assert line != 'stop\\n', 'told to stop'\n"
    code += "  print('heard', line, end='', flush=True)"
    for end, wanted in ((b"", 0), (b"stop\n", 1)):
        process = subprocess.Popen(
            [*lab, "serve", code],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(MURLI_CONTRACT=NEWEST),
        )
        assert process.stdin and process.stdout
        process.stdin.write(b"one\n")
        process.stdin.flush()
        assert process.stdout.readline() == b"heard one\n"
        out, err = process.communicate(end, timeout=20)
        assert (process.returncode, out) == (wanted, b"")
        if wanted:
            assert json.loads(err.splitlines()[-1])["error"]["message"] == "told to stop"
        else:
            assert err == b""


def test_doctor_asks_for_what_commands_need(lab: list[str]) -> None:
    """Programs that are missing or too old fail the check, with what was found and how to mend."""
    done = call(lab, "doctor")
    assert (done.code, done.document["error"]["code"]) == (4, "DOCTOR_CHECKS_FAILED")
    checks = {check["name"]: check for check in done.document["data"]["checks"]}
    wanted = {"name", "ok", "version", "required", "error", "fix"}
    assert all(check.keys() >= wanted for check in checks.values())
    assert (checks["python"]["ok"], checks["python"]["required"]) == (True, "3.1")
    assert checks["python"]["version"].startswith("3.")
    future = checks["future"]
    assert (future["ok"], future["fix"]) == (False, "install future")
    assert future["error"].endswith("is older than 99")
    assert (checks["absent"]["ok"], checks["absent"]["version"]) == (False, None)
    assert checks["sh"]["ok"]
    assert "lab do" in checks["danger_level"]["message"]
    assert "lab see --token" in checks["secrets"]["message"]


@pytest.mark.parametrize("contract", FAMILY[:2])
def test_a_failed_check_in_the_older_revisions(labs: dict[str, list[str]], contract: str) -> None:
    """Before revision 2 a failed check is a general error."""
    done = call(labs["argparse"], "doctor", contract=contract)
    assert (done.code, done.document["error"]["code"]) == (1, "DOCTOR_CHECKS_FAILED")


def test_nobody_is_shown_a_colour(labs: dict[str, list[str]]) -> None:
    """At a terminal, too, murli adds weight but no colour, whatever the environment says."""
    for variable in ("NO_COLOR", "CI", "LAB_NOTHING"):
        env = environment(MURLI_CONTRACT=NEWEST, **{variable: "1"})
        done = run_at_terminal(labs["click"], "see", "result = [{'id': 1}]", env=env)
        assert "id" in done.out
        assert not re.search(r"\x1b\[[0-9;]*(3[0-9]|4[0-9]|9[0-7])m", done.out)


OWN_HELP = """
import argparse, sys, murli
parser = argparse.ArgumentParser(prog="t", description="A tool.")
parser.add_subparsers(dest="command").add_parser("go")
murli.enable(parser)
"""


@pytest.mark.parametrize("contract", FAMILY)
def test_a_bare_call_of_a_tool_that_prints_its_help_itself(tmp_path: Path, contract: str) -> None:
    """Where argparse tools print their help, before parsing or behind it, is the same envelope."""
    env = environment(MURLI_CONTRACT=contract)
    for number, (condition, show, status) in enumerate(
        [
            ("len(sys.argv) == 1", "parser.print_help()", "sys.exit(1)"),
            ("len(sys.argv) == 1", "parser.print_usage(sys.stderr)", "sys.exit(2)"),
            ("len(sys.argv) == 1", "parser.print_help()", "sys.exit()"),
            ("parser.parse_args().command is None", "parser.print_help()", "sys.exit(1)"),
            ("parser.parse_args().command is None", "parser.print_help()", "pass"),
        ]
    ):
        source = f"{OWN_HELP}if {condition}:\n    {show}; {status}\nelse:\n    print('went')\n"
        argv = script(tmp_path, source, f"tool{number}.py")
        done = run(argv, env=env)
        assert (done.code, done.document["meta"]["help"]) == (0, True), source
        assert "usage: t" in done.err
        assert set(done.document["data"] or ()) <= {"card"}
        if "sys.argv" not in condition:
            assert run(argv, "go", env=env).document["data"] == {"text": "went"}
            assert run(argv, "--agent", env=env).document["meta"]["help"] is True
        # People, and the murli contract, see what the tool printed, and its own status.
        shown = run_at_terminal(argv, env=env)
        assert "usage: t" in shown.out + shown.err
        assert (shown.code != 0) == (status in ("sys.exit(1)", "sys.exit(2)"))
