"""Saved profiles: what is saved, what it gives to a call, and what it can never do."""

from __future__ import annotations

import json
import re
import stat
import subprocess
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from harness import ADAPTERS, environment, tool
from murli.schemas import load_schema
from profile_home import RUN, SHOW, Home

pytestmark = [pytest.mark.adapters("argparse", "click"), pytest.mark.warm]

CONTRACTS = ["murli", "response", "agent-spec-1.6", "agent-spec-2"]
SAVEABLE = ["color", "depth", "label", "mode", "region", "replicas", "token", "verbose"]
VERBS = ["save", "use", "list", "show", "delete"]
ENVELOPE = {"schema_version": "1.0", "tool_version": "1.0"}


def without_time(text: str) -> str:
    return re.sub(r'"(ts|request_id|timestamp)": ?"[^"]*"|"duration_ms": ?\d+', "", text)


# -- saving ---------------------------------------------------------------------------------------


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


@pytest.mark.adapters("argparse")
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


# -- answers --------------------------------------------------------------------------------------


@pytest.mark.adapters("argparse")
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


@pytest.mark.adapters("argparse")
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


@pytest.mark.adapters("argparse")
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


@pytest.mark.adapters("argparse")
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


# -- descriptions ---------------------------------------------------------------------------------


@pytest.mark.adapters("argparse")
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


# -- one voice ------------------------------------------------------------------------------------

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
