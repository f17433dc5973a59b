"""Saved profiles: what is saved, what it gives to a call, and what it can never do."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
from functools import partial
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator

import murli
from harness import ADAPTERS, Run, environment, run, run_at_terminal, script, tool
from murli.schemas import load_schema

CONTRACTS = ["murli", "response", "agent-spec-1.6", "agent-spec-2"]
SAVEABLE = ["color", "depth", "label", "mode", "region", "replicas", "token", "verbose"]
VERBS = ["save", "use", "list", "show", "delete"]
ENVELOPE = {"schema_version": "1.0", "tool_version": "1.0"}
RUN = ("run", "--replicas", "1")
SHOW = ("site", "show")
LOOKED_AT = {
    "color": False,
    "depth": 1,
    "region": "eu",
    "token": None,
    "trace": False,
    "verbose": False,
}
RAN = {
    "force": False,
    "label": None,
    "mode": "safe",
    "plain": False,
    "region": "eu",
    "replicas": 1,
    "token": None,
    "trace": False,
    "verbose": False,
}


class Home:
    """A home directory, and a tool that keeps its profiles there."""

    def __init__(self, argv: list[str], folder: Path, name: str = "deploy") -> None:
        self.argv = argv
        self.folder = folder
        self.folder.mkdir(exist_ok=True)
        self.store = folder / f".{name}" / "profiles.json"

    def run(self, *words: str, **variables: str | None) -> Run:
        return run(self.argv, *words, env=environment(**{"HOME": str(self.folder), **variables}))

    def at_terminal(self, *words: str, **variables: str | None) -> Run:
        variables = {"HOME": str(self.folder), **variables}
        return run_at_terminal(self.argv, *words, env=environment(**variables))

    def result(self, *words: str, **variables: str | None) -> Any:
        """Give the result of a call that works and has nothing to complain of."""
        done = self.run(*words, **variables)
        assert (done.code, done.err) == (0, ""), done
        return done.document["result"]

    def refusal(self, *words: str, **variables: str | None) -> Any:
        """Give the error of a call that does nothing."""
        done = self.run(*words, **variables)
        assert done.out == "" and "Traceback" not in done.err, done
        assert done.error["code"] == done.code
        return done.error

    def write(self, content: Any) -> None:
        """Write the store by hand: bytes, or a document."""
        self.store.parent.mkdir(exist_ok=True)
        if not isinstance(content, bytes):
            content = json.dumps(content).encode()
        self.store.write_bytes(content)

    def hold(self, default: str = "", /, **profiles: Any) -> None:
        """Write a store with *profiles*: their flags."""
        saved = {name: {"flags": flags} for name, flags in profiles.items()}
        self.write({"default": default, "profiles": saved} if default else {"profiles": saved})

    @property
    def saved(self) -> Any:
        """The flags of every saved profile."""
        if not self.store.exists():
            return {}
        document = json.loads(self.store.read_text())
        return {name: entry["flags"] for name, entry in document["profiles"].items()}


@pytest.fixture
def home(deploy: list[str], tmp_path: Path) -> Home:
    return Home(deploy, tmp_path / "home")


@pytest.fixture
def one(tmp_path: Path) -> Home:
    """One adapter, where all that is tried lies behind them."""
    return Home(tool("deploy_argparse"), tmp_path / "home")


def program(tmp_path: Path, source: str, name: str = "t") -> Home:
    """Give a tool of its own with a home of its own."""
    return Home(script(tmp_path, source), tmp_path / "home", name)


def without_time(text: str) -> str:
    return re.sub(r'"(ts|request_id|timestamp)": ?"[^"]*"|"duration_ms": ?\d+', "", text)


# -- saving ------------------------------------------------------------------------------------


def test_flags_before_the_word_profile_are_saved(home: Home) -> None:
    """Save keeps the flags given before it, and the file is as documented."""
    done = home.run("--region", "us", "--verbose", "profile", "save", "prod")
    assert (done.code, done.err) == (0, "")
    assert done.document == {
        "status": "ok",
        **ENVELOPE,
        "message": 'Profile "prod" saved.',
        "result": {"profile": "prod", "flags": {"region": "us", "verbose": "true"}},
    }
    assert home.store.read_text() == (
        "{\n"
        '  "profiles": {\n'
        '    "prod": {\n'
        '      "flags": {\n'
        '        "region": "us",\n'
        '        "verbose": "true"\n'
        "      }\n"
        "    }\n"
        "  }\n"
        "}\n"
    )


@pytest.mark.parametrize(
    ("words", "flags"),
    [
        (["region=us"], {"region": "us"}),
        (["--region", "us"], {"region": "us"}),
        (["--region=us"], {"region": "us"}),
        (["-r", "us"], {"region": "us"}),
        (["region=us", "region=asia"], {"region": "asia"}),
        (["replicas=3", "--mode", "fast"], {"replicas": "3", "mode": "fast"}),
        (["--replicas=-3"], {"replicas": "-3"}),
        (["--verbose"], {"verbose": "true"}),
        (["--verbose=off"], {"verbose": "off"}),
        (["verbose=true", "depth=2"], {"verbose": "true", "depth": "2"}),
        (["--color"], {"color": "true"}),
        (["--no-color"], {"color": "false"}),
        (["-d", "7"], {"depth": "7"}),
        (["--label", "a"], {"label": "a"}),
        (["--label", "a", "label=b"], {"label": '["a", "b"]'}),
        (['label=["a", "b"]'], {"label": '["a", "b"]'}),
        (["label=[a"], {"label": '["[a"]'}),
        (["label=k=v"], {"label": "k=v"}),
        (["--label", "--x"], {"label": "--x"}),
        (["label="], {"label": ""}),
    ],
)
def test_values_are_given_in_any_spelling(
    one: Home, words: list[str], flags: dict[str, str]
) -> None:
    """Set takes pairs, long and short options, switches and lists, before or behind the name."""
    assert one.result("profile", "set", "p", *words) == {"profile": "p", "flags": flags}
    assert one.result("profile", "save", *words, "p") == {"profile": "p", "flags": flags}
    assert one.saved == {"p": flags}


@pytest.mark.parametrize(
    ("words", "flags"),
    [
        (["-r", "us"], {"region": "us"}),
        (["--region=us", "--verbose"], {"region": "us", "verbose": "true"}),
        (["--trace", "--region", "us"], {"region": "us"}),
        (["--region", "profile", "--region", "us"], {"region": "us"}),
    ],
)
def test_only_profileable_flags_are_saved(
    home: Home, words: list[str], flags: dict[str, str]
) -> None:
    """Of the flags that stand before the word profile, those that are profileable are saved."""
    assert home.result(*words, "profile", "save", "p")["flags"] == flags


def test_both_sides_are_saved_and_the_last_word_counts(home: Home) -> None:
    """Flags before and behind are saved together; given twice, the later one counts."""
    words = ("--region", "us", "--verbose", "profile", "save", "p", "region=asia", "depth=2")
    flags = {"region": "asia", "verbose": "true", "depth": "2"}
    assert home.result(*words)["flags"] == flags


def test_saving_again_replaces_and_merging_keeps(one: Home) -> None:
    """A second save replaces the profile; with --merge what is not given stays."""
    one.result("profile", "save", "p", "region=us", "depth=2")
    one.result("profile", "use", "p")
    merged = one.result("profile", "save", "p", "--merge", "depth=3", "--verbose")
    assert merged["flags"] == {"region": "us", "depth": "3", "verbose": "true"}
    assert one.result("profile", "save", "p", "depth=4")["flags"] == {"depth": "4"}
    assert one.result("profile", "save", "--merge", "new", "depth=4")["flags"] == {"depth": "4"}
    assert one.saved == {"p": {"depth": "4"}, "new": {"depth": "4"}}
    assert one.result("profile", "list")["default"] == "p"


def test_the_aliases_are_the_same_commands(one: Home) -> None:
    """Set and set-default answer byte for byte as save and use do."""
    pairs = [
        ("save", "set", ["p", "region=us"]),
        ("use", "set-default", ["p"]),
        ("save", "set", ["p", "region=mars"]),
        ("save", "set", []),
        ("use", "set-default", ["nobody"]),
        ("use", "set-default", []),
        ("save", "set", ["--schema"]),
        ("use", "set-default", ["--schema"]),
    ]
    for verb, alias, words in pairs:
        assert one.run("profile", verb, *words) == one.run("profile", alias, *words)


@pytest.mark.parametrize(
    ("words", "error", "field"),
    [
        ([], "command_error", "command"),
        (["remove", "p"], "command_error", "command"),
        (["Save", "p"], "command_error", "command"),
        (["save"], "command_error", "name"),
        (["save", "region=us"], "command_error", "name"),
        (["use"], "command_error", "name"),
        (["show"], "command_error", "name"),
        (["delete", "--yes"], "command_error", "name"),
        (["use", "a", "b"], "command_error", None),
        (["list", "a"], "command_error", None),
        (["show", "a", "region=us"], "command_error", None),
        (["list", "--all"], "flag_error", "all"),
        (["use", "a", "--merge"], "flag_error", "merge"),
        (["save", "a", "region=us", "--reveal"], "user_error", "reveal"),
        (["save", "a", "--replicas"], "flag_error", "replicas"),
        (["save", "a", "--merge=yes", "region=us"], "user_error", "merge"),
    ],
)
def test_a_wrong_call_is_refused(
    one: Home, words: list[str], error: str, field: str | None
) -> None:
    """A missing name or verb, an unknown one, and words too many are usage errors."""
    refusal = one.refusal("profile", *words)
    assert (refusal["code"], refusal["error"], refusal.get("field")) == (1, error, field)
    if field == "command":
        assert refusal["valid_values"] == VERBS
    assert not one.store.parent.exists()


@pytest.mark.parametrize(
    "name", ["../x", "a/b", "a\\b", "", ".", "..", " a", "a ", "a\nb", "a\x1bb", "x" * 65]
)
def test_a_bad_name_is_refused(one: Home, name: str) -> None:
    """A name that is a path, nothing, or cannot be shown is refused, and nothing is made."""
    refusal = one.refusal("profile", "save", name, "region=us")
    assert (refusal["error"], refusal["code"], refusal["field"]) == ("user_error", 1, "name")
    assert list(one.folder.iterdir()) == []


@pytest.mark.parametrize("words", [["-x", "region=us"], ["region=us", "--", "-x"]])
def test_a_name_is_no_option(home: Home, words: list[str]) -> None:
    """A name that begins with a dash is refused, also behind a double dash."""
    assert home.refusal("profile", "save", *words)["error"] == "user_error"
    assert list(home.folder.iterdir()) == []


@pytest.mark.parametrize("name", ["prod", "a.b", "a b", "ünï", "save", "x" * 64, "a=b"])
def test_an_ordinary_name_is_a_name(one: Home, name: str) -> None:
    """Names with dots, spaces, letters of any script, or of a verb are names."""
    words = ("region=us", "--", name) if "=" in name else (name, "region=us")
    one.result("profile", "save", *words)
    one.result("profile", "use", name)
    assert one.result("profile", "list") == {"profiles": [name], "default": name}
    assert one.result("--profile", name, *SHOW)["region"] == "us"


def test_nothing_to_save(home: Home) -> None:
    """Without a profileable flag there is nothing to save, and the error names those there are."""
    for words in (["profile", "save", "p"], ["--trace", "profile", "save", "p"]):
        refusal = home.refusal(*words)
        assert (refusal["code"], refusal["error"]) == (1, "user_error")
        assert refusal["valid_values"] == SAVEABLE
    assert not home.store.exists()


@pytest.mark.parametrize(
    "word",
    [
        "plain=true",
        "--plain",
        "trace=1",
        "--trace",
        "nonsense=1",
        "how=x",
        "force=true",
        "yes=true",
        "dry-run=true",
        "dry_run=true",
        "output=text",
        "agent=true",
        "schema=true",
        "profile=q",
        "contract=response",
        "protocol-version=0.2",
        "merge=true",
        "help=true",
        "=x",
    ],
)
def test_only_profileable_flags_can_be_saved(one: Home, word: str) -> None:
    """A flag that is not profileable, intent and murli's own flags included, is refused."""
    refusal = one.refusal("profile", "save", "p", "region=us", word)
    assert (refusal["code"], refusal["error"]) == (1, "user_error")
    assert refusal["valid_values"] == SAVEABLE
    assert one.saved == {}


def test_intent_is_not_saved(home: Home) -> None:
    """Force, yes and dry-run beside a save belong to that call and are not saved."""
    flags = home.result("profile", "save", "p", "region=us", "--force", "--yes")["flags"]
    assert flags == {"region": "us"}
    assert home.saved == {"p": flags}


@pytest.mark.parametrize(
    ("word", "reason", "values"),
    [
        ("region=mars", 'Invalid value "mars" for --region.', ["eu", "us", "asia"]),
        ("mode=slow", 'Invalid value "slow" for --mode.', ["fast", "safe"]),
        ("replicas=x", 'Invalid value "x" for --replicas: expected an integer.', None),
        ("depth=1.5", 'Invalid value "1.5" for --depth: expected an integer.', None),
        ("verbose=perhaps", 'Invalid value "perhaps" for --verbose: expected true or false.', None),
        ("color=", 'Invalid value "" for --color: expected true or false.', None),
    ],
)
def test_a_value_is_checked_when_it_is_saved(
    one: Home, word: str, reason: str, values: list[str] | None
) -> None:
    """A value that the flag would not take is refused, and nothing of the call is saved."""
    one.result("profile", "save", "p", "region=us")
    refusal = one.refusal("profile", "save", "p", "label=a", word)
    assert (refusal["code"], refusal["error"]) == (1, "flag_error")
    assert (refusal["message"], refusal.get("valid_values")) == (reason, values)
    assert one.saved == {"p": {"region": "us"}}


def test_saves_at_once_are_all_kept(home: Home) -> None:
    """Of saves that run at the same time none is lost."""
    env = environment(HOME=str(home.folder))
    begin = partial(subprocess.Popen, stdout=subprocess.DEVNULL, env=env)
    names = [f"p{number}" for number in range(8)]
    saving = [begin([*home.argv, "profile", "save", name, "region=us"]) for name in names]
    assert [each.wait(30) for each in saving] == [0] * 8
    assert sorted(home.saved) == names


@pytest.mark.parametrize("umask", ["000", "022", "077", "277"])
def test_every_operation_leaves_the_store_private(one: Home, umask: str) -> None:
    """After each operation the folder is 0700 and every file in it 0600, whatever the umask."""
    shell = ["sh", "-c", f'umask {umask}; exec "$@"', "sh", *one.argv]
    private = Home(shell, one.folder)
    calls = ["save p region=us", "save q token=hunter22 --allow-plaintext", "use p", "list"]
    for call in [*calls, "show q", "delete p --yes"]:
        assert private.run("profile", *call.split()).code == 0
        assert stat.S_IMODE(one.store.parent.stat().st_mode) == 0o700
        files = list(one.store.parent.iterdir())
        assert {stat.S_IMODE(each.stat().st_mode) for each in files} == {0o600}


def test_a_lax_store_is_made_private_when_it_is_used(one: Home) -> None:
    """A plain call repairs the modes of a store that others could read."""
    one.hold("p", p={"region": "us"})
    one.store.chmod(0o644)
    one.store.parent.chmod(0o755)
    assert one.result(*SHOW)["region"] == "us"
    assert stat.S_IMODE(one.store.stat().st_mode) == 0o600
    assert stat.S_IMODE(one.store.parent.stat().st_mode) == 0o700


# -- answers -----------------------------------------------------------------------------------


def test_what_each_command_answers(home: Home) -> None:
    """List, use, show and delete answer as documented, and deleting the default clears it."""
    assert home.run("profile", "list").document == {
        "status": "ok",
        **ENVELOPE,
        "message": "0 profiles saved.",
        "result": {"profiles": []},
    }
    home.hold(b={"region": "us"}, a={"region": "asia", "label": '["x"]'})
    assert home.result("profile", "list") == {"profiles": ["a", "b"]}
    done = home.run("profile", "use", "b")
    assert done.document["message"] == 'Profile "b" is now the default.'
    assert done.document["result"] == {"default": "b"}
    assert home.result("profile", "list") == {"profiles": ["a", "b"], "default": "b"}
    done = home.run("profile", "show", "a")
    assert done.document["message"] == 'Profile "a" holds 2 values.'
    shown = {"name": "a", "flags": {"region": "asia", "label": '["x"]'}}
    assert done.document["result"] == shown
    assert home.run("profile", "show", "b").document["message"] == 'Profile "b" holds 1 value.'
    done = home.run("profile", "delete", "b", "--yes")
    assert done.document["message"] == 'Profile "b" deleted.'
    assert done.document["result"] == {"deleted": "b"}
    assert home.run("profile", "list").document["message"] == "1 profile saved."
    assert home.result("profile", "list") == {"profiles": ["a"]}
    assert json.loads(home.store.read_text()) == {
        "profiles": {"a": {"flags": {"region": "asia", "label": '["x"]'}}}
    }


def test_deleting_another_profile_keeps_the_default(home: Home) -> None:
    """The default stays the default when another profile is deleted."""
    home.hold("a", a={"region": "us"}, b={"region": "eu"})
    home.result("profile", "delete", "b", "--force")
    assert home.result("profile", "list") == {"profiles": ["a"], "default": "a"}


def test_what_a_person_sees(home: Home) -> None:
    """At a terminal every answer is a line or a list, and an error is two lines on stderr."""
    told = [
        ("list", 0, "(no profiles saved)\n", ""),
        ("save a region=us depth=2 --verbose", 0, 'Profile "a" saved.\n', ""),
        ("save b token=hunter22 --allow-plaintext", 0, 'Profile "b" saved.\n', ""),
        ("use a", 0, 'Profile "a" is now the default.\n', ""),
        ("list", 0, "  a *\n  b\n", ""),
        ("show a", 0, "a\n  depth = 2\n  region = us\n  verbose = true\n", ""),
        ("show b", 0, "b\n  token = [REDACTED]\n", ""),
        ("show b --reveal", 0, "b\n  token = hunter22\n", ""),
        (
            "show c",
            5,
            "",
            'Error: profile "c" not found\n'
            "Hint:  Run 'profile list' to see available profiles.\n",
        ),
        ("delete a --dry-run", 0, 'Would delete profile "a".\n', ""),
        ("delete a", 0, 'Profile "a" deleted.\n', ""),
        ("list", 0, "  b\n", ""),
    ]
    for words, code, out, err in told:
        done = home.at_terminal("profile", *words.split())
        assert (words, done.code, done.out, done.err) == (words, code, out, err)


def test_help_is_there_for_people_and_agents(home: Home) -> None:
    """Help names the verbs, their aliases and the flags; a bare call shows it to a person only."""
    shown = home.at_terminal("profile")
    assert (shown.code, shown.err) == (0, "")
    words = shown.out.replace(",", " ").replace("[", " ").replace("]", " ").split()
    assert {*VERBS, "set", "set-default", "--merge", "--reveal", "--allow-plaintext"} <= {*words}
    assert ", ".join(SAVEABLE) in shown.out
    assert home.run("profile", "--help").out == shown.out
    assert home.run("profile", "save", "-h").out == shown.out
    assert home.run("profile").code == 1


@pytest.mark.parametrize(
    ("contract", "form"),
    [
        # Each of both, and the contract that calls its formats otherwise.
        pytest.param(contract, form, marks=[pytest.mark.slow] * (place in (1, 2) and form != ""))
        for place, contract in enumerate(CONTRACTS)
        for form in ("", "json", "ndjson", "text")
    ],
)
def test_every_answer_in_every_contract_and_form(one: Home, contract: str, form: str) -> None:
    """Each verb answers in the contract and form that is asked for."""
    output = ("--output", form) if form else ()
    if form and contract == "agent-spec-2":  # where --output is for paths
        output = ("--format", {"ndjson": "jsonl", "text": "plain"}.get(form, form))
    calls: list[tuple[str, str, Any]] = [
        ("save p region=us", 'Profile "p" saved.', {"profile": "p", "flags": {"region": "us"}}),
        ("use p", 'Profile "p" is now the default.', {"default": "p"}),
        ("list", "  p *", {"profiles": ["p"], "default": "p"}),
        ("show p", "p\n  region = us", {"name": "p", "flags": {"region": "us"}}),
        ("delete p --yes", 'Profile "p" deleted.', {"deleted": "p"}),
    ]
    for words, text, payload in calls:
        done = one.run("profile", *words.split(), *output, MURLI_CONTRACT=contract)
        assert (done.code, done.err) == (0, "")
        if form == "text":
            assert done.out == f"{text}\n"
            continue
        assert done.out.count("\n") == 1 if form == "ndjson" else done.out.startswith("{\n  ")
        key = "result" if contract == "murli" else "data"
        assert done.document[key] == payload
        if contract != "murli":
            assert (done.document["ok"], done.document["warnings"]) == (True, [])


@pytest.mark.parametrize("contract", CONTRACTS[1:])
def test_errors_in_the_response_contracts(one: Home, contract: str) -> None:
    """Errors have the contract's code and stand on stdout; a plan is marked as one."""
    one.hold(p={"region": "mars"})
    wrong = 3 if contract == "response" else 2
    calls = [
        (["profile", "show", "q"], 5, "NOT_FOUND"),
        (["--profile", "q", *RUN], 5, "NOT_FOUND"),
        (["profile", "save", "p"], wrong, "ARG_ERROR"),
        (["profile", "save", "p", "plain=1"], wrong, "ARG_ERROR"),
        (["profile", "delete", "p"], wrong, "CONFIRMATION_REQUIRED"),
        (["--profile", "p", *RUN], wrong, "FLAG_ERROR"),
    ]
    for words, code, name in calls:
        done = one.run(*words, MURLI_CONTRACT=contract)
        assert (done.code, done.err, done.document["ok"]) == (code, "", False)
        assert done.document["error"]["code"] == name
        assert done.document["error"]["phase"] == "validation"
    plan = one.run("profile", "delete", "p", "--dry-run", MURLI_CONTRACT=contract)
    assert (plan.code, plan.document["ok"]) == (0, True)
    assert '"delete": "p"' in plan.out and one.saved


@pytest.mark.parametrize(
    "words",
    [
        "profile show x",
        "profile use x",
        "profile delete x",
        "profile delete x --yes",
        "site show --profile x",
        "--profile=x purge",
    ],
)
def test_an_unknown_profile_is_not_found(home: Home, words: str) -> None:
    """An unknown name ends a call with not_found, exit code 5, and the names there are."""
    home.hold("b", b={"region": "us"}, a={"region": "eu"})
    refusal = home.refusal(*words.split())
    assert (refusal["code"], refusal["error"]) == (5, "not_found")
    assert refusal["message"] == 'profile "x" not found'
    assert refusal["valid_values"] == ["a", "b"]
    assert refusal["suggestion"] == "Run 'profile list' to see available profiles."


def test_deleting_needs_intent(home: Home) -> None:
    """An agent deletes with --yes or --force only; a dry run tells the plan and deletes nothing."""
    home.hold(p={"region": "us"}, q={"region": "us"})
    for words in (["p"], ["p", "--output", "text"], ["p", "--agent"]):
        refused = home.run("profile", "delete", *words)
        assert (refused.code, refused.out) == (1, "")
        assert "requires explicit confirmation" in refused.err
    plan = home.run("profile", "delete", "p", "--dry-run")
    assert (plan.code, plan.document["status"]) == (0, "plan")
    assert plan.document["plan"] == {"delete": "p"}
    assert list(home.saved) == ["p", "q"]
    home.result("--yes", "profile", "delete", "p")
    home.result("profile", "delete", "q", "--force")
    assert home.saved == {}


def test_agent_mode_at_a_terminal_is_guarded(home: Home) -> None:
    """A person who asks for agent mode has to confirm as an agent does."""
    home.hold(p={"region": "us"})
    done = home.at_terminal("profile", "delete", "p", "--agent")
    assert (done.code, list(home.saved)) == (1, ["p"])
    assert "confirmation_required" in done.err


def test_profile_commands_apply_no_profile(home: Home) -> None:
    """Neither a broken default profile nor an unknown --profile is in the way of these commands."""
    home.hold("p", p={"region": "mars", "replicas": "x"})
    assert home.result("profile", "list", "--profile", "nobody")["profiles"] == ["p"]
    assert home.result("--profile", "p", "profile", "save", "q", "region=us")["profile"] == "q"
    assert home.result("profile", "show", "p")["flags"] == {"region": "mars", "replicas": "x"}


@pytest.mark.parametrize("words", [["run", "--schema"], ["describe"], ["--schema"]])
def test_no_profile_is_in_the_way_of_a_question(home: Home, words: list[str]) -> None:
    """Schema and describe are answered whatever --profile names and the default holds."""
    home.hold("p", p={"region": "mars", "replicas": "x"})
    for profile in ("nobody", "p"):
        assert home.run(*words, "--profile", profile).code == 0


# -- descriptions ------------------------------------------------------------------------------


def test_describe_tells_the_profiles(home: Home) -> None:
    """Describe names the saved profiles, the default, and the flags they can hold."""
    assert home.run("describe").document["profiles"] == {"profileable_flags": SAVEABLE}
    home.hold(b={"region": "us"}, a={})
    told = home.run("describe").document
    assert told["capabilities"]["profiles"] is True
    assert told["profiles"] == {"available": ["a", "b"], "profileable_flags": SAVEABLE}
    home.result("profile", "use", "b")
    assert home.run("describe").document["profiles"] == {
        "available": ["a", "b"],
        "default": "b",
        "profileable_flags": SAVEABLE,
    }


def test_a_flag_is_profileable_in_the_schema_exactly_when_it_can_be_saved(home: Home) -> None:
    """No schema calls a flag profileable that save refuses, such as a command's own --force."""

    def marked(command: Any) -> set[str]:
        below = [marked(child) for child in command.get("subcommands", ())]
        own = {flag["name"] for flag in command.get("flags", ()) if flag.get("profileable")}
        return own.union(*below)

    document = home.run("describe").document
    found = set().union(*map(marked, document["commands"]), marked(home.run("--schema").document))
    assert sorted(found) == document["profiles"]["profileable_flags"]


def test_the_commands_describe_themselves_honestly(one: Home) -> None:
    """Save, use and delete are not called read-only, and delete is called destructive."""
    group = one.run("describe", "profile").document
    assert group["name"] == "profile"
    commands = {command["name"]: command for command in group["subcommands"]}
    assert list(commands) == VERBS
    assert {name: command["safety"] for name, command in commands.items()} == {
        "save": {"read_only": False, "idempotent": True},
        "use": {"read_only": False, "idempotent": True},
        "list": {"read_only": True, "idempotent": True},
        "show": {"read_only": True, "idempotent": True},
        "delete": {
            "read_only": False,
            "idempotent": False,
            "destructive": True,
            "dry_run_supported": True,
        },
    }
    schema = Draft202012Validator(load_schema("command"))
    for verb in VERBS:
        told = one.run("profile", verb, "--schema")
        assert (told.code, told.err) == (0, "")
        assert told.document == commands[verb]
        assert not list(schema.iter_errors(told.document))
        assert one.run("describe", "profile", verb).document == commands[verb]
    assert [each["name"] for each in one.run("profile", "--schema").document["subcommands"]] == (
        VERBS
    )


def test_the_describe_document_keeps_to_its_schema(one: Home) -> None:
    """Describe of a tool with saved profiles is valid against the schema that is shipped."""
    one.hold("p", p={"region": "us"})
    schema = Draft202012Validator(load_schema("describe"))
    assert not list(schema.iter_errors(one.run("describe").document))


# -- who wins ----------------------------------------------------------------------------------


@pytest.mark.parametrize("command_line", [False, True])
@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("variable", [False, True])
@pytest.mark.parametrize("default", [False, True])
def test_precedence(
    home: Home, command_line: bool, named: bool, variable: bool, default: bool
) -> None:
    """The command line beats --profile, that the environment, that the default profile."""
    home.hold("usual" if default else "", usual={"depth": "5"}, named={"depth": "3"})
    words = [*SHOW, *(["--depth", "2"] if command_line else [])]
    words += ["--profile", "named"] if named else []
    expected = 2 if command_line else 3 if named else 4 if variable else 5 if default else 1
    result = home.result(*words, DEPLOY_DEPTH="4" if variable else None)
    assert result == {**LOOKED_AT, "depth": expected}


def test_a_named_profile_stands_instead_of_the_default(home: Home) -> None:
    """With --profile nothing of the default profile is applied, for that call."""
    home.hold("a", a={"region": "asia", "depth": "5"}, b={"region": "us"})
    assert home.result(*SHOW, "--profile", "b") == {**LOOKED_AT, "region": "us"}
    assert home.result(*SHOW, "--profile", "b", DEPLOY_DEPTH="4")["depth"] == 4
    assert home.result(*SHOW) == {**LOOKED_AT, "region": "asia", "depth": 5}


def test_an_empty_variable_is_none(home: Home) -> None:
    """A variable that is set to nothing does not beat the default profile."""
    home.hold("a", a={"depth": "5"})
    assert home.result(*SHOW, DEPLOY_DEPTH="")["depth"] == 5


@pytest.mark.parametrize("position", [0, 1, 2])
def test_profile_may_stand_anywhere(home: Home, position: int) -> None:
    """The flag --profile works before, between and behind the words of a command."""
    home.hold(p={"depth": "5", "region": "us"})
    words = list(SHOW)
    words[position:position] = ["--profile", "p"]
    assert home.result(*words) == {**LOOKED_AT, "region": "us", "depth": 5}


def test_the_values_have_their_types(home: Home) -> None:
    """Integers, choices, lists, switches and a required option come from a profile as given."""
    flags = ["replicas=3", "mode=fast", "--label", "a", "--label", "b", "--verbose", "region=us"]
    home.result("profile", "save", "p", *flags, "depth=2", "--color")
    home.result("profile", "use", "p")
    ran = {**RAN, "replicas": 3, "mode": "fast", "label": ["a", "b"], "verbose": True}
    assert home.result("run") == {**ran, "region": "us"}
    looked_at = {**LOOKED_AT, "verbose": True, "region": "us", "depth": 2, "color": True}
    assert home.result(*SHOW) == looked_at


def test_a_required_option_is_still_required(home: Home) -> None:
    """Without a value in the profile a required option is missing, as it was."""
    home.hold("p", p={"region": "us"})
    refusal = home.refusal("run")
    assert refusal["message"] == "Missing required option --replicas."


@pytest.mark.parametrize(
    ("flags", "words", "expected"),
    [
        ({"label": '["a", "b"]'}, ["--label", "z"], {"label": ["z"]}),
        ({"verbose": "false"}, [], {"verbose": False}),
        ({"replicas": "7"}, [], {"replicas": 1}),
        ({"mode": "fast"}, ["--mode", "safe"], {"mode": "safe"}),
        ({"label": "one"}, [], {"label": ["one"]}),
        ({"label": "[1, true]"}, [], {"label": ["1", "true"]}),
        ({"label": ["a", 1]}, [], {"label": ["a", "1"]}),
        ({"label": "[a"}, [], {"label": ["[a"]}),
        ({"label": '{"a": 1}'}, [], {"label": ['{"a": 1}']}),
        ({"label": "[]"}, [], {"label": None}),
        ({"replicas": 5, "verbose": True}, [], {"verbose": True}),
    ],
)
def test_what_a_call_is_given(
    home: Home, flags: Any, words: list[str], expected: dict[str, Any]
) -> None:
    """Lists are replaced, not extended; switches can be off; one text is a list of one."""
    home.hold("p", p=flags)
    assert home.result(*RUN, *words) == {**RAN, **expected}


@pytest.mark.parametrize("state", ["true", "TRUE", "1", "yes", "on", True, 1])
def test_words_for_on(one: Home, state: Any) -> None:
    """A switch is on by any of the usual words, in any case."""
    one.hold("p", p={"verbose": state, "color": state})
    assert one.result(*SHOW) == {**LOOKED_AT, "verbose": True, "color": True}


@pytest.mark.parametrize("adapter", ADAPTERS)
@pytest.mark.parametrize("state", ["true", "false"])
def test_a_switch_on_the_command_line_wins(tmp_path: Path, adapter: str, state: str) -> None:
    """A switch and its negation beat what the profile says, either way."""
    home = Home(tool(f"deploy_{adapter}"), tmp_path / "home")
    home.hold("p", p={"color": state, "verbose": state})
    assert home.result(*SHOW)["color"] is (state == "true")
    assert home.result(*SHOW, "--no-color")["color"] is False
    assert home.result("--verbose", *SHOW, "--color") == {
        **LOOKED_AT,
        "color": True,
        "verbose": True,
    }


def test_what_the_command_line_rules_out_steps_back(home: Home) -> None:
    """A saved value that cannot go with a flag on the command line is not applied."""
    home.hold("p", p={"mode": "fast"})
    assert home.result(*RUN)["mode"] == "fast"
    for words in ([], ["--profile", "p"]):
        assert home.result(*RUN, "--plain", *words) == {**RAN, "plain": True}
    refusal = home.refusal(*RUN, "--plain", "--mode", "fast")
    assert refusal["message"] == "Options --mode and --plain cannot be combined."


@pytest.mark.parametrize(
    ("flag", "value", "words", "accepted"),
    [
        ("replicas", "x", ["run"], "expected an integer"),
        ("replicas", "", ["run"], "expected an integer"),
        ("replicas", [1, 2], ["run"], "expected an integer"),
        ("region", "mars", RUN, ["eu", "us", "asia"]),
        ("region", 5, RUN, ["eu", "us", "asia"]),
        ("mode", "slow", RUN, ["fast", "safe"]),
        ("verbose", "perhaps", RUN, "expected true or false"),
        ("verbose", "", RUN, "expected true or false"),
        ("color", "2", SHOW, "expected true or false"),
        ("depth", "two", SHOW, "expected an integer"),
    ],
)
def test_a_bad_stored_value_is_an_error(
    home: Home, flag: str, value: Any, words: tuple[str, ...], accepted: str | list[str]
) -> None:
    """A stored value the option refuses is a flag_error with profile, flag and what is accepted."""
    home.hold("p", p={flag: value})
    default = home.refusal(*words)
    assert (default["code"], default["error"], default["field"]) == (1, "flag_error", flag)
    assert f"for --{flag}" in default["message"]
    assert 'profile "p"' in default["message"]
    assert f"profile set p --merge {flag}=" in default["suggestion"]
    if isinstance(accepted, str):
        assert accepted in default["message"]
    else:
        assert default["valid_values"] == accepted


def test_a_bad_value_of_a_named_profile_is_the_same_error(home: Home) -> None:
    """Whether a profile is the default or named, its bad value is told in the same words."""
    home.hold("p", p={"region": "mars"})
    assert home.refusal(*RUN, "--profile", "p") == home.refusal(*RUN)


def test_a_bad_stored_value_does_no_harm_where_it_is_not_used(home: Home) -> None:
    """A value that the command line replaces, or another command has, is not looked at."""
    home.hold("p", p={"replicas": "x", "depth": "y", "color": "z"})
    assert home.result(*RUN) == RAN
    assert home.result(*SHOW, "--depth", "2", "--color")["depth"] == 2


def test_an_error_about_something_else_does_not_blame_the_profile(home: Home) -> None:
    """A mistake on the command line is told as such, though a profile has a value of that name."""
    home.hold("p", p={"region": "us"})
    refusal = home.refusal(*RUN, "--region", "eu")
    assert refusal["message"] == "Unknown option --region."
    refusal = home.refusal("--region", "mars", *RUN)
    assert refusal["message"] == 'Invalid value "mars" for --region.'


def test_a_person_is_told_about_a_bad_stored_value(home: Home) -> None:
    """At a terminal the error names the profile and the way out."""
    home.hold("p", p={"region": "mars"})
    done = home.at_terminal(*RUN)
    assert (done.code, done.out) == (1, "")
    assert done.err == (
        'Error: Invalid value "mars" for --region. The value comes from profile "p".\n'
        "Hint:  Correct it with 'profile set p --merge region=VALUE', or pass --region.\n"
    )
    home.result("profile", "set", "p", "--merge", "region=us")
    assert home.result(*RUN)["region"] == "us"


def test_the_fix_that_is_suggested_works_for_any_name(home: Home) -> None:
    """The suggested command can be pasted, also when the profile's name has a space."""
    home.hold("my prod", **{"my prod": {"region": "mars"}})
    suggestion = home.refusal(*RUN)["suggestion"]
    command = suggestion.partition("'")[2].rpartition("'")[0].replace("VALUE", "us")
    shell = ["sh", "-c", f'"$0" "$1" {command}', *home.argv]
    assert run(shell, env=environment(HOME=str(home.folder))).code == 0
    assert home.result(*RUN)["region"] == "us"


# -- what a profile can never do ---------------------------------------------------------------

INTENT = {"force": "true", "yes": "true", "dry-run": "true", "dry_run": "true"}

CAREFUL = {
    "argparse": """
import argparse, pathlib, murli
parser = argparse.ArgumentParser(prog="t")
for name in ("--force", "--yes", "--dry-run"):
    parser.add_argument(name, action="store_true")
murli.annotate(parser, NOTES)
murli.enable(parser)
given = vars(parser.parse_args())
answer(given)
""",
    "click": """
import click, murli
@click.command()
@click.option("--force", is_flag=True)
@click.option("--yes", is_flag=True)
@click.option("--dry-run", is_flag=True)
def t(**given):
    answer(given)
murli.annotate(t, NOTES)
murli.enable(t, name="t")
t()
""",
    "typer": """
import typer, murli
app = typer.Typer()
@app.command()
def t(force: bool = typer.Option(False, "--force"), yes: bool = typer.Option(False, "--yes"),
      dry_run: bool = typer.Option(False, "--dry-run")):
    answer({"force": force, "yes": yes, "dry_run": dry_run})
murli.annotate(t, NOTES)
murli.enable(app, name="t")
app()
""",
}
CAREFUL_HEAD = """
import murli
NOTES = murli.Metadata(mutating=True, flag_annotations={
    "force": murli.FlagAnnotation(profileable=True, env="T_FORCE"),
    "yes": murli.FlagAnnotation(profileable=True, env="T_YES"),
    "dry-run": murli.FlagAnnotation(profileable=True, env="T_DRY_RUN"),
})
def answer(given):
    writer = murli.get_writer()
    writer.write_success("ran", {**given, "forced": writer.is_forced()})
"""


def test_a_profile_cannot_confirm(home: Home) -> None:
    """Whatever is in the store, a mutating command asks for confirmation."""
    home.hold("p", p={**INTENT, "region": "us"})
    for words in (["purge"], ["purge", "--profile", "p"], ["purge", "--output", "text"]):
        refused = home.run(*words)
        assert (refused.code, refused.out) == (1, "")
    assert home.result("purge", "--yes")["region"] == "us"
    assert home.result(*RUN) == {**RAN, "region": "us"}  # its own --force is marked profileable


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_intent_comes_from_the_command_line_alone(tmp_path: Path, adapter: str) -> None:
    """A tool's own switches for intent, though annotated, are set by no profile or variable."""
    home = program(tmp_path, CAREFUL_HEAD + CAREFUL[adapter])
    home.hold("p", p=INTENT)
    variables = {"T_FORCE": "1", "T_YES": "1", "T_DRY_RUN": "1"}
    for words in ([], ["--profile", "p"]):
        assert home.refusal(*words, **variables)["error"] == "confirmation_required"
    off = {"force": False, "yes": False, "dry_run": False}
    assert home.result("--force", **variables) == {**off, "force": True, "forced": True}
    assert home.refusal("profile", "save", "q", "force=1")["error"] == "user_error"
    assert home.run("describe").document["profiles"]["profileable_flags"] == []


def test_infrastructure_is_never_set_by_a_profile(home: Home) -> None:
    """Keys of murli's own flags, unknown ones and unmarked flags in the store change nothing."""
    own = ["agent", "schema", "output", "profile", "contract", "protocol-version", "help"]
    flags = {**dict.fromkeys(own, "text"), "plain": "true", "trace": "true", "how": "x", "": "y"}
    home.hold("p", p={**flags, "--region": "us", "Region": "us", "command": "leak"})
    plain = home.run(*RUN)
    assert (plain.code, plain.document["result"]) == (0, RAN)
    assert home.run(*RUN, "--profile", "p").document["result"] == RAN


def test_what_is_ignored_is_told(one: Home) -> None:
    """Show and use tell which keys are ignored, and show hides what it does not know."""
    one.hold(p={"region": "us", "tokn": "hunter22", "output": "text"})
    done = one.run("profile", "show", "p")
    assert done.document["result"] == {
        "name": "p",
        "flags": {"region": "us", "tokn": "[REDACTED]", "output": "[REDACTED]"},
        "ignored": ["output", "tokn"],
    }
    for told in (done, one.run("profile", "use", "p")):
        messages = sorted(entry["msg"] for entry in told.logs)
        assert [message.split(",")[0] for message in messages] == [
            'warning: Profile "p" holds "output"',
            'warning: Profile "p" holds "tokn"',
        ]
        assert b"hunter22" not in told.stdout + told.stderr
    assert one.saved["p"]["tokn"] == "hunter22"


# -- a store that is not as we wrote it --------------------------------------------------------


def test_a_default_that_is_gone_is_ignored(home: Home) -> None:
    """A default that names no profile is as if there were none, without a word."""
    home.hold("gone", p={"region": "us"})
    assert home.result(*RUN) == RAN
    assert home.result("profile", "list") == {"profiles": ["p"]}
    assert "default" not in home.run("describe").document["profiles"]


@pytest.mark.parametrize(
    ("document", "expected", "warnings"),
    [
        ({"default": "p", "profiles": {"p": {"flags": {"region": None}}}}, RAN, 1),
        ({"default": "p", "profiles": {"p": {"flags": {"region": {"a": 1}}}}}, RAN, 1),
        ({"default": "p", "profiles": {"p": {"flags": {"label": [["a"]]}}}}, RAN, 1),
        ({"default": "p", "profiles": {"p": {"flags": ["region"]}}}, RAN, 1),
        ({"default": "p", "profiles": {"p": "region=us"}}, RAN, 1),
        ({"default": "p", "profiles": {"../p": {"flags": {}}}}, RAN, 1),
        ({"default": ["p"], "profiles": {"p": {"flags": {"region": "us"}}}}, RAN, 1),
        ({"default": "p", "profiles": {"p": {}}}, RAN, 0),
        ({"default": "p"}, RAN, 0),
        ({}, RAN, 0),
        ({"profiles": None}, RAN, 0),
        ({"default": "p", "x": 1, "profiles": {"p": {"y": 2, "flags": {"region": "us"}}}},
         {**RAN, "region": "us"}, 0),
    ],
)  # fmt: skip
def test_a_store_edited_by_hand(
    one: Home, document: Any, expected: dict[str, Any], warnings: int
) -> None:
    """What makes no sense is left out with a warning; the rest is used, and a save keeps it all."""
    one.write(document)
    done = one.run(*RUN)
    assert (done.code, done.document["result"], len(done.logs)) == (0, expected, warnings)
    assert all(entry["msg"].startswith("warning: ") for entry in done.logs)
    assert one.run("profile", "save", "new", "region=us").code == 0
    after = json.loads(one.store.read_text())
    assert after["profiles"].pop("new") == {"flags": {"region": "us"}}
    was = {**document, "profiles": document.get("profiles") or {}}
    assert {"profiles": {}, **after} == was or after == {**was, "profiles": after["profiles"]}


CORRUPT = b'{"profiles": {"prod": {"flags": {"region": "us", "tok'


def left_over(home: Home) -> list[bytes]:
    """Give what corrupt files hold that were kept."""
    kept = sorted(home.store.parent.glob("profiles.json.corrupt-*"))
    return [path.read_bytes() for path in kept]


@pytest.mark.parametrize(
    "content",
    [CORRUPT, b"", b"[]", b"null", b'"x"', b"\xff\xfe", b'{"profiles": [1]}', b"[" * 5000],
)
def test_a_corrupt_store_is_kept_and_told_once(one: Home, content: bytes) -> None:
    """A file that is no store is kept aside with one warning, and the tool goes on without."""
    one.write(content)
    done = one.run(*RUN)
    assert (done.code, done.document["result"]) == (0, RAN)
    assert [entry["msg"].startswith("warning: profiles.json ") for entry in done.logs] == [True]
    assert left_over(one) == [content]
    assert one.result(*RUN) == RAN
    one.result("profile", "save", "p", "region=us")
    assert (one.saved, left_over(one)) == ({"p": {"region": "us"}}, [content])


def told_by(home: Home, words: list[str], contract: str) -> list[int]:
    """Count what is said of a corrupt store by the call that meets it, and by the next one."""
    home.write(CORRUPT)
    first = home.run(*words, MURLI_CONTRACT=contract)
    met = first if left_over(home) else home.run(*RUN, MURLI_CONTRACT=contract)
    later = home.run(*RUN, MURLI_CONTRACT=contract)
    assert left_over(home) == [CORRUPT]
    return [(done.out + done.err).count("profiles.json.corrupt-") for done in (met, later)]


@pytest.mark.parametrize("contract", ["murli", "response"])
@pytest.mark.parametrize(
    "words", ["--help", "run --help", "nonsense", "leak raise", "leak exit"], ids=str
)
def test_any_call_tells_about_a_corrupt_store(home: Home, words: str, contract: str) -> None:
    """The call that sets a corrupt store aside says so, however it ends; later ones do not."""
    assert told_by(home, words.split(), contract) == [1, 0]


@pytest.mark.parametrize(
    "contract", ["murli", pytest.param("response", marks=pytest.mark.slow), "agent-spec-2"]
)
@pytest.mark.parametrize(
    "words",
    [
        "profile list",
        "profile show prod",
        "profile use prod",
        "profile delete prod --yes",
        "profile save p region=us",
        "run --replicas 1 --profile prod",
        "describe",
    ],
)
def test_any_command_of_ours_tells_about_a_corrupt_store(
    one: Home, words: str, contract: str
) -> None:
    """The command that sets a corrupt store aside says so, in every contract; later ones do not."""
    assert told_by(one, words.split(), contract) == [1, 0]


def test_a_warning_is_in_the_envelope_of_the_response_contracts(home: Home) -> None:
    """The response contracts have the warning among `warnings`, and nothing on stderr."""
    home.write(CORRUPT)
    done = home.run(*RUN, MURLI_CONTRACT="response")
    assert (done.code, done.err) == (0, "")
    assert ["is not JSON; it is kept as" in each for each in done.document["warnings"]] == [True]
    home.write(CORRUPT)
    done = home.run(*RUN, MURLI_CONTRACT="agent-spec-2")
    assert [each["code"] for each in done.document["warnings"]] == ["PROFILES_CORRUPT"]


def test_every_corrupt_store_is_kept(one: Home) -> None:
    """A second corrupt store does not take the place of the first."""
    for content in (b"{one", b"{two", b"{three"):
        one.write(content)
        one.run("profile", "save", "p", "region=us")
    assert sorted(left_over(one)) == [b"{one", b"{three", b"{two"]
    assert one.saved == {"p": {"region": "us"}}


def test_a_person_is_told_about_a_corrupt_store(home: Home) -> None:
    """At a terminal the warning is one line on stderr, and the answer follows."""
    home.write(CORRUPT)
    done = home.at_terminal(*RUN)
    assert (done.code, done.out) == (0, "Deployed.\n")
    assert done.err.startswith("warning: profiles.json is not JSON; it is kept as ")
    assert done.err.count("\n") == 1


@pytest.mark.parametrize("place", [None, "", "here", "."])
def test_without_a_home_profiles_are_off(
    one: Home, place: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With HOME unset, empty or relative a call works, with one warning, and saves nowhere."""
    monkeypatch.chdir(one.folder)
    (one.folder / "here").mkdir()
    for folder in (one.folder, one.folder / "here"):
        Home(one.argv, folder).hold("evil", evil={"region": "us", "replicas": "9"})
    done = one.run(*RUN, HOME=place)
    assert (done.code, done.document["result"]) == (0, RAN)
    assert [entry["msg"] for entry in done.logs] == [
        "warning: Profiles are off: there is no home directory. "
        "Set HOME to an absolute path, or MURLI_PROFILE_PATH to a file."
    ]
    told = one.run(*RUN, HOME=place, MURLI_CONTRACT="response")
    assert (len(told.document["warnings"]), told.err) == (1, "")
    assert one.run("profile", "list", HOME=place).document["result"] == {"profiles": []}
    for words in ("save p region=us", "use evil", "show evil", "delete evil --yes"):
        refusal = one.refusal("profile", *words.split(), HOME=place)
        assert (refusal["code"], refusal["error"]) == (2, "tool_error")
        assert refusal["message"] == "Profiles are off: there is no home directory."
    assert one.refusal(*RUN, "--profile", "evil", HOME=place)["error"] == "tool_error"


def test_no_framework_needs_a_home(home: Home) -> None:
    """Without a home every adapter runs the command, with one warning."""
    done = home.run(*RUN, HOME=None)
    assert (done.code, done.document["result"], len(done.logs)) == (0, RAN, 1)


# -- where the store is ------------------------------------------------------------------------


def test_the_environment_names_the_file(one: Home) -> None:
    """MURLI_PROFILE_PATH names the file, also without a home, and beats the tool's own place."""
    elsewhere = one.folder / "some" / "where.json"
    one.hold("p", p={"region": "us"})
    there = {"MURLI_PROFILE_PATH": str(elsewhere), "HOME": None}
    one.result("profile", "save", "q", "region=asia", **there)
    one.result("profile", "use", "q", **there)
    assert one.result(*SHOW, **there)["region"] == "asia"
    assert one.result(*SHOW)["region"] == "us"
    assert json.loads(elsewhere.read_text())["default"] == "q"
    assert stat.S_IMODE(elsewhere.stat().st_mode) == 0o600


def test_an_older_place_is_read_and_not_written(one: Home) -> None:
    """A store in the configuration folder is used until the tool saves one of its own."""
    older = one.folder / ".config" / "deploy" / "profiles.json"
    older.parent.mkdir(parents=True)
    content = json.dumps({"default": "p", "profiles": {"p": {"flags": {"region": "us"}}}})
    older.write_text(content)
    assert one.result(*SHOW, XDG_CONFIG_HOME=None)["region"] == "us"
    one.result("profile", "save", "q", "region=asia", XDG_CONFIG_HOME=None)
    assert older.read_text() == content
    assert one.saved == {"p": {"region": "us"}, "q": {"region": "asia"}}


ONE_COMMAND = {
    "argparse": """
import argparse, murli
parser = argparse.ArgumentParser(prog="t")
parser.add_argument("word", nargs="?")
parser.add_argument("--top", type=int, default=1)
murli.annotate(parser, murli.Metadata(flag_annotations=NOTES))
murli.enable(parser, profile_path=PATH)
answer(**vars(parser.parse_args()))
""",
    "click": """
import click, murli
@click.command()
@click.argument("word", required=False)
@click.option("--top", type=int, default=1)
def t(**given):
    answer(**given)
murli.annotate(t, murli.Metadata(flag_annotations=NOTES))
murli.enable(t, name="t", profile_path=PATH)
t()
""",
    "typer": """
import typer, murli
app = typer.Typer()
@app.command()
def t(word: str = typer.Argument(None), top: int = 1):
    answer(word=word, top=top)
murli.annotate(t, murli.Metadata(flag_annotations=NOTES))
murli.enable(app, name="t", profile_path=PATH)
app()
""",
}
ONE_HEAD = """
import murli
PATH, NOTES = {path!r}, {notes}
def answer(**given):
    murli.get_writer().write_success("ran", given)
"""
MARKED = '{"top": murli.FlagAnnotation(profileable=True)}'


def one_command(tmp_path: Path, adapter: str, notes: str = MARKED, path: str = "") -> Home:
    return program(tmp_path, ONE_HEAD.format(path=path, notes=notes) + ONE_COMMAND[adapter])


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_an_author_names_the_file(tmp_path: Path, adapter: str) -> None:
    """The path given to enable is where profiles are, whatever the environment says."""
    own = tmp_path / "own.json"
    home = one_command(tmp_path, adapter, path=str(own))
    other = str(tmp_path / "other.json")
    home.result("profile", "save", "p", "top=5", MURLI_PROFILE_PATH=other)
    assert json.loads(own.read_text()) == {"profiles": {"p": {"flags": {"top": "5"}}}}
    assert home.result("--profile", "p") == {"word": None, "top": 5}
    assert not os.path.exists(other) and not home.store.exists()


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_the_word_profile_belongs_to_a_command_that_has_nothing_to_save(
    tmp_path: Path, adapter: str
) -> None:
    """A tool of one command keeps the word profile as its argument, unless flags can be saved."""
    home = one_command(tmp_path, adapter, notes="{}")
    assert home.result("profile") == {"word": "profile", "top": 1}
    home = one_command(tmp_path, adapter)
    assert home.result("profile", "list") == {"profiles": []}
    assert home.result("--", "profile") == {"word": "profile", "top": 1}


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_a_tool_of_one_command_has_profiles(tmp_path: Path, adapter: str) -> None:
    """Flags of the one command are saved before or behind the word profile, and applied."""
    home = one_command(tmp_path, adapter)
    assert home.result("--top", "4", "profile", "save", "a")["flags"] == {"top": "4"}
    home.result("profile", "save", "b", "--top", "5")
    home.result("profile", "use", "b")
    assert home.result("x") == {"word": "x", "top": 5}
    assert home.result("x", "--profile", "a") == {"word": "x", "top": 4}
    assert home.result("--top", "6") == {"word": None, "top": 6}


OWN = {
    "argparse": """
import argparse, murli
parser = argparse.ArgumentParser(prog="t")
parser.add_argument("--profile", default="mine")
commands = parser.add_subparsers(dest="command", required=True)
commands.add_parser("profile").add_argument("verb")
commands.add_parser("look").add_argument("--top", type=int, default=1)
murli.annotate(commands.choices["look"], NOTES)
murli.enable(parser)
given = vars(parser.parse_args())
murli.get_writer().write_success("ran", given)
""",
    "click": """
import click, murli
@click.group()
@click.option("--profile", default="mine")
@click.pass_context
def t(ctx, profile):
    ctx.obj = profile
@t.command()
@click.argument("verb")
@click.pass_obj
def profile(obj, verb):
    murli.get_writer().write_success("ran", {"profile": obj, "command": "profile", "verb": verb})
@t.command()
@click.option("--top", type=int, default=1)
@click.pass_obj
def look(obj, top):
    murli.get_writer().write_success("ran", {"profile": obj, "command": "look", "top": top})
murli.annotate(look, NOTES)
murli.enable(t, name="t")
t()
""",
    "typer": """
import typer, murli
app = typer.Typer()
@app.callback()
def main(ctx: typer.Context, profile: str = "mine"):
    ctx.obj = profile
@app.command()
def profile(ctx: typer.Context, verb: str):
    murli.get_writer().write_success("ran", {"profile": ctx.obj, "command": "profile",
                                             "verb": verb})
@app.command()
def look(ctx: typer.Context, top: int = 1):
    murli.get_writer().write_success("ran", {"profile": ctx.obj, "command": "look", "top": top})
murli.annotate(look, NOTES)
murli.enable(app, name="t")
app()
""",
}
OWN_HEAD = """
import murli
NOTES = murli.Metadata(flag_annotations={"top": murli.FlagAnnotation(profileable=True)})
"""


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_a_tools_own_names_stay_its_own(tmp_path: Path, adapter: str) -> None:
    """A tool's own profile command and --profile option are what they were."""
    home = program(tmp_path, OWN_HEAD + OWN[adapter])
    home.hold("p", p={"top": "5"})
    looked = {"profile": "mine", "command": "look", "top": 5}
    assert home.result("look") == looked
    assert home.result("--profile", "x", "look") == {**looked, "profile": "x"}
    ran = {"profile": "mine", "command": "profile", "verb": "list"}
    assert home.result("profile", "list") == ran
    document = home.run("describe").document
    assert document["capabilities"]["profiles"] is False
    assert "profile" in [command["name"] for command in document["commands"]]
    # Nor is it murli's behind a command that has none.
    assert home.run("look", "--profile", "p").error["field"] == "profile"


# -- argparse ----------------------------------------------------------------------------------

ARGPARSE = """
import argparse, murli
parser = argparse.ArgumentParser(prog="t")
parser.add_argument("--region", default="eu")
parser.add_argument("--need", type=int, required=True)
NOTES = {key: murli.FlagAnnotation(profileable=True) for key in ("region", "need")}
murli.annotate(parser, murli.Metadata(flag_annotations=NOTES))
"""
WAYS = {
    "parse": """
args, writer = murli.parse(parser)
writer.write_success("", vars(args))
""",
    "session": """
with murli.session(parser) as (args, writer):
    writer.write_success("", vars(args))
""",
    "parse_args": """
murli.enable(parser)
given = vars(parser.parse_args())
murli.get_writer().write_success("", given)
""",
    "printing": """
import json
murli.enable(parser)
print(json.dumps(vars(parser.parse_args())))
""",
    "parse_known_args": """
murli.enable(parser)
args, rest = parser.parse_known_args()
assert rest == []
murli.get_writer().write_success("", vars(args))
""",
    "parse_intermixed_args": """
murli.enable(parser)
given = vars(parser.parse_intermixed_args())
murli.get_writer().write_success("", given)
""",
    "twice": """
murli.enable(parser)
first, second = parser.parse_args(), parser.parse_args()
assert first == second and parser.parse_args(["--need", "9"]).need == 9
murli.get_writer().write_success("", vars(second))
""",
}


@pytest.mark.parametrize("way", WAYS)
def test_every_way_of_parsing(tmp_path: Path, way: str) -> None:
    """A profile applies, satisfies a required option and is refused however the tool parses."""
    home = program(tmp_path, ARGPARSE + WAYS[way])
    home.hold("p", p={"region": "us", "need": "3"}, q={"need": "4"}, bad={"need": "x"})
    assert home.result() == {"region": "us", "need": 3}
    assert home.result("--need", "5") == {"region": "us", "need": 5}
    if way == "parse_known_args":  # what it does not know may be meant for another program
        return
    assert home.result("--profile", "q") == {"region": "eu", "need": 4}
    assert 'profile "bad"' in home.refusal("--profile", "bad")["message"]
    assert home.refusal("--profile", "nobody")["code"] == 5


def test_what_is_not_known_passes_through(tmp_path: Path) -> None:
    """A tool that keeps unknown words gets them all, with the values of the default profile."""
    source = "murli.enable(parser)\nargs, rest = parser.parse_known_args()\n"
    source += 'murli.get_writer().write_success("", [vars(args), rest])\n'
    home = program(tmp_path, ARGPARSE + source)
    home.hold("p", p={"region": "us", "need": "3"})
    given = {"region": "us", "need": 3}
    assert home.result("--other", "x") == [given, ["--other", "x"]]
    assert home.result("--profile", "q") == [given, ["--profile", "q"]]


def test_the_parser_is_left_as_it_was(tmp_path: Path) -> None:
    """After a parse with profile values the parser's options are required and work as before."""
    source = """
murli.enable(parser)
WATCHED = ("_get_values", "_get_option_tuples", "_parse_known_args")
before = [vars(parser).get(name) for name in WATCHED]
args = parser.parse_args()
need = next(a for a in parser._actions if a.dest == "need")
same = [vars(parser).get(name) for name in WATCHED] == before
murli.get_writer().write_success("", [need.required, same])
"""
    home = program(tmp_path, ARGPARSE + source)
    home.hold("p", p={"need": "3"})
    assert home.result() == [True, True]


ODD = """
import argparse, murli
def doubled(text):
    return text + text
class Noting(argparse.Action):
    def __call__(self, parser, namespace, values, option_string=None):
        setattr(namespace, self.dest, [option_string, values])
parser = argparse.ArgumentParser(prog="t")
add = parser.add_argument
add("-v", "--verbose", action="count", default=0)
add("--color", action=argparse.BooleanOptionalAction)
add("--pair", action="append", nargs=2, type=int)
add("--many", nargs="+", type=int)
add("--any", nargs="*")
add("--two", nargs=2, type=int)
add("--maybe", nargs="?", const="C", default="D")
add("--custom", action=Noting)
add("--const", action="store_const", const=7)
add("--no-net", dest="net", action="store_false")
add("--doubled", type=doubled)
add("--default", type=doubled, default="ab")
add("--extend", action="extend", nargs="+", type=int)
add("--append", action="append", default=["x"])
add("--kind", action="append_const", const="k")
add("--choice", type=int, choices=[1, 2, 3])
add("-q", dest="quick", type=int)
add("--snake_case")
LONG = [[n for n in a.option_strings if n[:2] == "--"] or a.option_strings for a in parser._actions]
NOTES = {names[0]: murli.FlagAnnotation(profileable=True) for names in LONG}
murli.annotate(parser, murli.Metadata(flag_annotations=NOTES))
murli.enable(parser)
given = vars(parser.parse_args())
murli.get_writer().write_success("", given)
"""
ODD_DEFAULTS = {"verbose": 0, "maybe": "D", "net": True, "default": "abab", "append": ["x"]}


@pytest.fixture
def odd(tmp_path: Path) -> Home:
    return program(tmp_path, ODD)


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        (
            {
                "verbose": "3",
                "color": "true",
                "pair": "[[1, 2], [3, 4]]",
                "many": "[1, 2]",
                "any": "[]",
                "two": "[1, 2]",
                "maybe": "z",
                "custom": "z",
                "const": "true",
                "no-net": "true",
                "doubled": "ab",
                "default": "cd",
                "extend": "[1, 2]",
                "append": '["y", "z"]',
                "kind": "true",
                "choice": "2",
                "q": "4",
                "snake-case": "s",
            },
            {
                "verbose": 3,
                "color": True,
                "pair": [[1, 2], [3, 4]],
                "many": [1, 2],
                "any": [],
                "two": [1, 2],
                "maybe": "z",
                "custom": ["--custom", "z"],
                "const": 7,
                "net": False,
                "doubled": "abab",
                "default": "cdcd",
                "extend": [1, 2],
                "append": ["x", "y", "z"],
                "kind": ["k"],
                "choice": 2,
                "quick": 4,
                "snake_case": "s",
            },
        ),
        (
            {
                "verbose": 2,
                "color": "false",
                "many": "5",
                "any": '["a b", "c"]',
                "maybe": "",
                "custom": "[1]",
                "const": "false",
                "no-net": "false",
                "extend": "7",
                "append": "y",
            },
            {
                "verbose": 2,
                "color": False,
                "many": [5],
                "any": ["a b", "c"],
                "maybe": "",
                "custom": ["--custom", "[1]"],
                "extend": [7],
                "append": ["x", "y"],
            },
        ),
        ({"verbose": "0", "pair": "[1, 2]"}, {"pair": [[1, 2]]}),
        ({"verbose": "true"}, {"verbose": 1}),
    ],
)
def test_argparse_actions(odd: Home, flags: Any, expected: dict[str, Any]) -> None:
    """A stored value does what the same words on the command line would do."""
    odd.hold("p", p=flags)
    given = {key: value for key, value in odd.result().items() if value is not None}
    assert given == {**ODD_DEFAULTS, **expected}


@pytest.mark.parametrize(
    ("flags", "accepted"),
    [
        ({"verbose": "x"}, "expected an integer"),
        ({"color": "red"}, "expected true or false"),
        ({"many": '[1, "x"]'}, "expected an integer"),
        ({"choice": "9"}, ""),
        ({"const": "7"}, "expected true or false"),
        ({"two": "[1, 2, 3]"}, "2"),
        ({"two": "1"}, "2"),
        ({"pair": "[1, 2, 3]"}, "2"),
        ({"pair": "[[1, 2], [3]]"}, "2"),
        ({"many": "[]"}, ""),
    ],
)
def test_argparse_refuses_what_it_would_not_take(
    odd: Home, flags: dict[str, str], accepted: str
) -> None:
    """A stored value the option would not take, in kind or in number, is a flag_error."""
    odd.hold("p", p=flags)
    (flag,) = flags
    refusal = odd.refusal()
    assert (refusal["error"], refusal["field"]) == ("flag_error", flag)
    assert 'profile "p"' in refusal["message"] and accepted in refusal["message"]


ODD_WORDS = [
    (["-v"], {"verbose": 1}),
    (["-vvv"], {"verbose": 3}),
    (["--verbose", "--verbose"], {"verbose": 2}),
    (["--no-color"], {"color": False}),
    (["--color"], {"color": True}),
    (["--two", "1", "2"], {"two": [1, 2]}),
    (["--pair", "1", "2", "--pair", "3", "4"], {"pair": [[1, 2], [3, 4]]}),
    (["-q", "4"], {"quick": 4}),
    (["-q4"], {"quick": 4}),
    (["--no-net"], {"net": False}),
    (["--doubled", "ab"], {"doubled": "abab"}),
    (["--custom", "a=b"], {"custom": ["--custom", "a=b"]}),
]


@pytest.mark.parametrize(("words", "expected"), ODD_WORDS)
def test_what_argparse_takes_can_be_saved(
    odd: Home, words: list[str], expected: dict[str, Any]
) -> None:
    """What the parser takes before the word profile is saved, and means the same later."""
    assert odd.run(*words, "profile", "save", "p").code == 0
    result = odd.result("--profile", "p")
    assert {key: result[key] for key in expected} == expected


@pytest.mark.parametrize(("words", "expected"), ODD_WORDS)
def test_what_argparse_takes_can_be_saved_behind_the_verb(
    odd: Home, words: list[str], expected: dict[str, Any]
) -> None:
    """The same words behind the name are saved as well."""
    assert odd.run("profile", "save", "p", *words).code == 0
    result = odd.result("--profile", "p")
    assert {key: result[key] for key in expected} == expected


EITHER = """
import argparse, murli
parser = argparse.ArgumentParser(prog="t")
group = parser.add_mutually_exclusive_group(required=True)
group.add_argument("--file")
group.add_argument("--url")
group.add_argument("--stdin", action="store_true")
NOTES = {"file": murli.FlagAnnotation(profileable=True),
         "url": murli.FlagAnnotation(profileable=True, env="T_URL")}
murli.annotate(parser, murli.Metadata(flag_annotations=NOTES))
murli.enable(parser)
given = vars(parser.parse_args())
murli.get_writer().write_success("", given)
"""
NEITHER = {"file": None, "url": None, "stdin": False}


@pytest.mark.parametrize(
    ("flags", "words", "expected"),
    [
        ({"file": "f"}, [], {"file": "f"}),
        ({"file": "f"}, ["--file", "g"], {"file": "g"}),
        ({"file": "f"}, ["--url", "u"], {"url": "u"}),
        ({"file": "f"}, ["--stdin"], {"stdin": True}),
        ({"file": "f", "url": "u"}, ["--stdin"], {"stdin": True}),
    ],
)
def test_a_required_group(
    tmp_path: Path, flags: dict[str, str], words: list[str], expected: dict[str, Any]
) -> None:
    """A stored value satisfies a required group, and gives way to another member of it."""
    home = program(tmp_path, EITHER)
    home.hold("p", p=flags)
    assert home.result(*words) == {**NEITHER, **expected}
    home.hold(p={})
    assert home.refusal()["error"] == "flag_error"


def test_a_group_takes_one_source(tmp_path: Path) -> None:
    """A variable beats the default profile's value for another option of its group."""
    home = program(tmp_path, EITHER)
    home.hold("p", p={"file": "f"})
    assert home.result(T_URL="u") == {**NEITHER, "url": "u"}
    assert home.result("--profile", "p", T_URL="u") == {**NEITHER, "file": "f"}


def test_a_profile_that_fills_a_group_twice_is_refused(tmp_path: Path) -> None:
    """Two stored values that exclude each other are an error that names the profile."""
    home = program(tmp_path, EITHER)
    home.hold("p", p={"file": "f", "url": "u"})
    refusal = home.refusal()
    assert (refusal["error"], 'profile "p"' in refusal["message"]) == ("flag_error", True)


PARENTS = """
import argparse, murli
common = argparse.ArgumentParser(add_help=False)
common.add_argument("--region", default="eu")
common.add_argument("--size", type=int)
parser = argparse.ArgumentParser(prog="t", parents=[common])
look = parser.add_subparsers(dest="command", required=True).add_parser("look", parents=[common])
notes = murli.Metadata(flag_annotations={
    name: murli.FlagAnnotation(profileable=True, env=f"T_{name.upper()}")
    for name in ("region", "size")
})
for each in (ANNOTATED):
    murli.annotate(each, notes)
murli.enable(parser)
given = vars(parser.parse_args())
murli.get_writer().write_success("", given)
"""


@pytest.mark.parametrize("annotated", ["parser, look", "look,", "parser,"])
def test_the_same_option_above_and_below(tmp_path: Path, annotated: str) -> None:
    """Where root and command share a destination, a word on the command line still wins."""
    home = program(tmp_path, PARENTS.replace("ANNOTATED", annotated))
    home.hold("p", p={"region": "us", "size": "3"})
    assert home.result("look") == {"region": "us", "size": 3, "command": "look"}
    assert home.result("look", "--region", "asia") == {
        "region": "asia",
        "size": 3,
        "command": "look",
    }


# -- click and typer ---------------------------------------------------------------------------

CLICK = """
import click, murli
def even(ctx, param, value):
    if value is not None and value % 2:
        raise click.BadParameter("not an even number")
    return value
@click.command()
@click.option("--upper", "case", flag_value="upper")
@click.option("--lower", "case", flag_value="lower", default="lower")
@click.option("-v", "--verbose", count=True)
@click.option("--two", nargs=2, type=int)
@click.option("--pairs", nargs=2, multiple=True, type=int)
@click.option("--mixed", type=(str, int))
@click.option("--even", type=int, callback=even)
@click.option("--loud/--quiet", "-l/-q", default=None)
@click.option("--range", type=click.IntRange(1, 5))
@click.option("--many", multiple=True, type=int)
@click.option("--optional", is_flag=False, flag_value="flagged", default="d")
@click.option("--path", type=click.Path(exists=True))
@click.option("--color", type=click.Choice(["Red", "Blue"], case_sensitive=False))
@click.option("--truth", type=bool)
def t(**given):
    murli.get_writer().write_success("", given)
KEYS = [param.opts[-1] for param in t.params] + ["loud"]
NOTES = {key: murli.FlagAnnotation(profileable=True) for key in KEYS}
murli.annotate(t, murli.Metadata(flag_annotations=NOTES))
murli.enable(t, name="t")
t()
"""
CLICK_DEFAULTS = {"case": "lower", "verbose": 0, "pairs": [], "many": [], "optional": "d"}


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        (
            {
                "upper": "true",
                "verbose": "3",
                "two": "[1, 2]",
                "pairs": "[[1, 2], [3, 4]]",
                "mixed": '["a", 1]',
                "even": "2",
                "loud": "true",
                "range": "3",
                "many": "[1, 2]",
                "optional": "val",
                "path": "/",
                "color": "red",
                "truth": "yes",
            },
            {
                "case": "upper",
                "verbose": 3,
                "two": [1, 2],
                "pairs": [[1, 2], [3, 4]],
                "mixed": ["a", 1],
                "even": 2,
                "loud": True,
                "range": 3,
                "many": [1, 2],
                "optional": "val",
                "path": "/",
                "color": "Red",
                "truth": True,
            },
        ),
        (
            {"upper": "false", "loud": "no", "many": 7, "truth": False, "verbose": 0},
            {"loud": False, "many": [7], "truth": False},
        ),
        ({"lower": "true", "many": "[]"}, {}),
    ],
)
def test_click_parameters(tmp_path: Path, flags: Any, expected: dict[str, Any]) -> None:
    """A stored value is converted as the same words on the command line would be."""
    home = program(tmp_path, CLICK)
    home.hold("p", p=flags)
    given = {key: value for key, value in home.result().items() if value is not None}
    assert given == {**CLICK_DEFAULTS, **expected}


@pytest.mark.parametrize(
    ("flags", "accepted"),
    [
        ({"upper": "upper"}, "expected true or false"),
        ({"verbose": "x"}, "integer"),
        ({"two": "[1]"}, "2"),
        ({"two": "1"}, "2"),
        ({"two": "[1, 2, 3]"}, "2"),
        ({"two": '[1, "x"]'}, "expected an integer"),
        ({"pairs": "[1, 2]"}, ""),
        ({"mixed": '["a", "b"]'}, "integer"),
        ({"even": "3"}, "not an even number"),
        ({"range": "9"}, "from 1 to 5"),
        ({"path": "/none/such"}, "does not exist"),
        ({"color": "green"}, ""),
        ({"truth": "perhaps"}, "true"),
    ],
)
def test_click_refuses_what_it_would_not_take(
    tmp_path: Path, flags: dict[str, str], accepted: str
) -> None:
    """Types, counts of values, ranges and callbacks judge a stored value, in their own words."""
    home = program(tmp_path, CLICK)
    home.hold("p", p=flags)
    (flag,) = flags
    refusal = home.refusal()
    assert (refusal["error"], refusal["field"]) == ("flag_error", flag)
    assert 'profile "p"' in refusal["message"]
    assert accepted in refusal["message"].replace('"1"', "").replace('"1 2 3"', "")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--upper"], {"case": "upper"}),
        (["-v"], {"verbose": 1}),
        (["-vv"], {"verbose": 2}),
        (["--verbose", "--verbose"], {"verbose": 2}),
        (["--two", "1", "2"], {"two": [1, 2]}),
        (["--pairs", "1", "2", "--pairs", "3", "4"], {"pairs": [[1, 2], [3, 4]]}),
        (["--many", "1", "--many", "2"], {"many": [1, 2]}),
        (["--loud"], {"loud": True}),
        (["--quiet"], {"loud": False}),
        (["-q"], {"loud": False}),
        (["--optional=x"], {"optional": "x"}),
    ],
)
@pytest.mark.parametrize("side", ["before", "behind"])
def test_what_click_takes_can_be_saved(
    tmp_path: Path, words: list[str], expected: dict[str, Any], side: str
) -> None:
    """What click takes, before the word profile or behind the name, means the same when saved."""
    home = program(tmp_path, CLICK)
    save = ["profile", "save", "p"]
    home.run(*([*words, *save] if side == "before" else [*save, *words]))
    result = home.result("--profile", "p")
    assert {key: result[key] for key in expected} == expected


TYPER = """
import datetime, enum, pathlib, uuid
from typing import Annotated, List, Optional, Tuple
import typer, murli
class Color(str, enum.Enum):
    red = "r"
    blue = "b"
app = typer.Typer()
def even(value: Optional[int]):
    if value is not None and value % 2:
        raise typer.BadParameter("not an even number")
    return value
@app.command()
def t(
    color: Optional[Color] = None,
    colors: Annotated[Optional[List[Color]], typer.Option()] = None,
    when: Optional[datetime.datetime] = None,
    path: Annotated[Optional[pathlib.Path], typer.Option(exists=True)] = None,
    identity: Optional[uuid.UUID] = None,
    two: Annotated[Optional[Tuple[int, str]], typer.Option()] = None,
    verbose: Annotated[int, typer.Option("-v", "--verbose", count=True)] = 0,
    loud: Annotated[bool, typer.Option()] = False,
    top: Annotated[Optional[int], typer.Option(min=1, max=5)] = None,
    ratio: float = 1.5,
    even: Annotated[Optional[int], typer.Option(callback=even)] = None,
    many: Annotated[Optional[List[int]], typer.Option()] = None,
):
    given = dict(locals())
    murli.get_writer().write_success("", {k: repr(v) for k, v in given.items() if v})
KEYS = "color colors when path identity two verbose loud top ratio even many".split()
NOTES = {key: murli.FlagAnnotation(profileable=True) for key in KEYS}
murli.annotate(t, murli.Metadata(flag_annotations=NOTES))
murli.enable(app, name="t")
app()
"""


def test_typer_parameters(tmp_path: Path) -> None:
    """Enums, dates, paths, tuples and lists come from a profile as the types that are declared."""
    home = program(tmp_path, TYPER)
    home.hold(
        "p",
        p={
            "color": "r",
            "colors": '["r", "b"]',
            "when": "2024-01-02",
            "path": "/",
            "identity": "12345678-1234-5678-1234-567812345678",
            "two": '[1, "b"]',
            "verbose": "2",
            "loud": "yes",
            "top": "3",
            "ratio": "2",
            "even": "4",
            "many": "[1, 2]",
        },
    )
    assert home.result() == {
        "color": "<Color.red: 'r'>",
        "colors": "[<Color.red: 'r'>, <Color.blue: 'b'>]",
        "when": "datetime.datetime(2024, 1, 2, 0, 0)",
        "path": "PosixPath('/')",
        "identity": "UUID('12345678-1234-5678-1234-567812345678')",
        "two": "(1, 'b')",
        "verbose": "2",
        "loud": "True",
        "top": "3",
        "ratio": "2.0",
        "even": "4",
        "many": "[1, 2]",
    }


@pytest.mark.parametrize(
    ("flags", "accepted"),
    [
        ({"color": "green"}, ["r", "b"]),
        ({"colors": '["r", "x"]'}, ["r", "b"]),
        ({"when": "never"}, None),
        ({"path": "/none/such"}, None),
        ({"two": "[1]"}, None),
        ({"loud": "x"}, None),
        ({"top": "9"}, None),
        ({"even": "3"}, "not an even number"),
    ],
)
def test_typer_refuses_what_it_would_not_take(
    tmp_path: Path, flags: dict[str, str], accepted: Any
) -> None:
    """Typer's own validation judges a stored value, and the error names flag and profile."""
    home = program(tmp_path, TYPER)
    home.hold("p", p=flags)
    (flag,) = flags
    refusal = home.refusal()
    assert (refusal["error"], refusal["field"]) == ("flag_error", flag)
    assert 'profile "p"' in refusal["message"]
    if isinstance(accepted, list):
        assert refusal["valid_values"] == accepted
    else:
        assert (accepted or "") in refusal["message"]


PROMPTING = {
    "click": """
import click, murli
@click.command()
@click.option("--name", prompt=True)
@click.option("--password", prompt=True, hide_input=True)
def t(name, password):
    murli.get_writer().write_success(f"Hello {name}", {"name": name, "length": len(password)})
target = t
""",
    "typer": """
import typer, murli
app = target = typer.Typer()
@app.command()
def t(name: str = typer.Option(..., prompt=True),
      password: str = typer.Option(..., prompt=True, hide_input=True)):
    murli.get_writer().write_success(f"Hello {name}", {"name": name, "length": len(password)})
""",
}
PROMPTING_TAIL = """
NOTES = {key: murli.FlagAnnotation(profileable=True) for key in ("name", "password")}
murli.annotate(t, murli.Metadata(flag_annotations=NOTES))
murli.enable(target, name="t")
target()
"""


@pytest.mark.parametrize("adapter", PROMPTING)
def test_nobody_is_asked_for_what_is_saved(tmp_path: Path, adapter: str) -> None:
    """An option that prompts takes a stored value without asking, for people and agents."""
    home = program(tmp_path, PROMPTING[adapter] + PROMPTING_TAIL)
    home.hold("p", p={"name": "Ada", "password": "hunter22"})
    assert home.result() == {"name": "Ada", "length": 8}
    assert home.at_terminal().out == "Hello Ada\n"
    assert home.run("profile", "show", "p").document["result"]["flags"]["password"] == "[REDACTED]"
    home.hold()
    assert home.run().code != 0


@pytest.fixture
def counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> click.Command:
    """A click command in this process, with a home of its own and a profile that is the default."""

    @click.command("t")
    @click.option("--top", type=int, required=True)
    def command(top: int) -> int:
        click.echo(f"top {top}")
        return top * 10

    notes = {"top": murli.FlagAnnotation(profileable=True)}
    murli.annotate(command, murli.Metadata(flag_annotations=notes))
    murli.enable(command, name="t")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("MURLI_PROFILE_PATH", raising=False)
    Home([], tmp_path, "t").hold("p", p={"top": "5"}, q={"top": "6"}, bad={"top": "x"})
    return command


def test_a_host_that_wants_values_gets_them(counted: click.Command) -> None:
    """With standalone_mode=False the value is returned, and what is wrong is raised."""
    main: Any = counted.main  # mypy believes that it never returns
    call = partial(main, standalone_mode=False)
    assert call([]) == 50
    assert call(["--profile", "q"]) == 60
    assert call(["--top", "7"]) == 70
    with pytest.raises(murli.AgentError) as caught:
        call(["--profile", "nobody"])
    assert caught.value.code == 5
    with pytest.raises(click.BadParameter):
        call(["--profile", "bad"])
    assert call([]) == 50


def test_the_test_runner_of_click(counted: click.Command) -> None:
    """CliRunner sees the same: saved values, the commands, and errors."""
    invoke = CliRunner().invoke
    assert "top 5" in invoke(counted, []).output
    assert invoke(counted, ["--profile", "nobody"]).exit_code == 5
    saved = json.loads(invoke(counted, ["profile", "save", "new", "top=8"]).stdout)
    assert saved["result"] == {"profile": "new", "flags": {"top": "8"}}
    assert "top 8" in invoke(counted, ["--profile", "new"]).output
    bad = invoke(counted, ["--profile", "bad"])
    assert (bad.exit_code, 'profile \\"bad\\"' in bad.stderr) == (1, True)


# -- exclusion and several commands ------------------------------------------------------------

EXCLUSIVE = {
    "argparse": """
import argparse, murli
parser = argparse.ArgumentParser(prog="t")
parser.add_argument("--fast")
parser.add_argument("--slow")
murli.annotate(parser, NOTES)
murli.enable(parser)
given = vars(parser.parse_args())
murli.get_writer().write_success("", given)
""",
    "click": """
import click, murli
@click.command()
@click.option("--fast")
@click.option("--slow")
def t(**given):
    murli.get_writer().write_success("", given)
murli.annotate(t, NOTES)
murli.enable(t, name="t")
t()
""",
    "typer": """
import typer, murli
app = typer.Typer()
@app.command()
def t(fast: str = typer.Option(None), slow: str = typer.Option(None)):
    murli.get_writer().write_success("", {"fast": fast, "slow": slow})
murli.annotate(t, NOTES)
murli.enable(app, name="t")
app()
""",
}
EXCLUSIVE_HEAD = """
import murli
NOTES = murli.Metadata(flag_annotations={
    "fast": murli.FlagAnnotation(profileable=True, mutually_exclusive_with=["slow"]),
    "slow": murli.FlagAnnotation(profileable=True, env="T_SLOW"),
})
"""


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_either_side_of_an_exclusion_steps_back(tmp_path: Path, adapter: str) -> None:
    """A stored value gives way to what excludes it, whichever of the two was annotated."""
    home = program(tmp_path, EXCLUSIVE_HEAD + EXCLUSIVE[adapter])
    home.hold(f={"fast": "1"}, s={"slow": "1"}, both={"fast": "1", "slow": "1"})
    assert home.result("--profile", "f", "--slow", "2") == {"fast": None, "slow": "2"}
    assert home.result("--profile", "s", "--fast", "2") == {"fast": "2", "slow": None}
    assert home.result("--profile", "both", "--fast", "2") == {"fast": "2", "slow": None}
    refusal = home.refusal("--profile", "both")
    assert (refusal["error"], "--fast and --slow" in refusal["message"]) == ("flag_error", True)
    assert 'profile "both"' in refusal["message"]


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_an_exclusion_follows_the_precedence(tmp_path: Path, adapter: str) -> None:
    """A variable beats what the default profile holds for a flag that it excludes."""
    home = program(tmp_path, EXCLUSIVE_HEAD + EXCLUSIVE[adapter])
    home.hold("f", f={"fast": "1"})
    assert home.result(T_SLOW="3") == {"fast": None, "slow": "3"}
    assert home.result("--profile", "f", T_SLOW="3") == {"fast": "1", "slow": None}


# -- one voice ---------------------------------------------------------------------------------

SCENES = [
    "profile list",
    "-r us --verbose profile save a",
    "profile save b region=asia replicas=3 --label x --label y --no-color",
    "profile save c token=hunter22 --allow-plaintext",
    "profile save d token=env:DEPLOY_SECRET",
    "profile save e token=hunter22",
    "profile list",
    "profile show b",
    "profile show c",
    "profile show d",
    "profile show c --reveal",
    "profile use b",
    "run",
    "run --profile a",
    "run --profile c --replicas 2",
    "run --profile d --replicas 2",
    "run --profile nobody",
    "run --plain",
    "site show",
    "site show --color --depth 3",
    "purge",
    "purge --yes",
    "profile",
    "profile nonsense",
    "profile save",
    "profile save ../x region=eu",
    "profile save a",
    "profile save a plain=1",
    "profile save a region=mars",
    "profile save a --replicas",
    "profile delete b",
    "profile delete b --dry-run",
    "profile delete b --yes",
    "profile delete b --yes",
    "profile show a --output ndjson",
    "profile list --output text",
    "profile list --contract response",
    "profile --help",
    "profile save --schema",
    "describe profile",
    "describe",
    "--schema",
]


@pytest.mark.slow
def test_the_adapters_speak_with_one_voice(tmp_path: Path) -> None:
    """The same calls give the same bytes, exit codes and store on all three frameworks."""
    told = {}
    for adapter in ADAPTERS:
        home = Home(tool(f"deploy_{adapter}"), tmp_path / adapter)
        home.folder.mkdir(exist_ok=True)
        scenes = []
        for words in SCENES:
            done = home.run(*words.split())
            scenes.append((words, done.code, without_time(done.out), without_time(done.err)))
        told[adapter] = [*scenes, (home.store.read_text(),)]
    for adapter in ADAPTERS[1:]:
        for ours, theirs in zip(told["argparse"], told[adapter], strict=True):
            assert theirs == ours
