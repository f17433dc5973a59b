"""Murli's own flags are the entries of one table, and everything that knows them follows it."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import pytest

import murli
from harness import environment, run, run_at_terminal, script
from murli import core
from murli.adapters.argparse.levels import ParserLevel
from murli.client import own_calls
from murli.client.decisions import _CONFIRM_FLAGS
from murli.conformance.confirming import CONFIRMING, CONFIRMING_FLAGS
from murli.contracts import CONTRACT_NAMES, contract_named
from murli.line.flags import OWN_FLAGS, OwnFlag, flags_in, names_where
from murli.line.scanning import flag_value, scan
from murli.wire.catalogue import AGENT_FLAG

pytestmark = pytest.mark.warm


GROUPS = [
    "caller",
    "describe",
    "format",
    "input",
    "messages",
    "network",
    "part",
    "profile",
    "safety",
    "time",
    "wait",
]
VIEWS = {"help", "describe", "manifest", "command"}

# A tool whose commands between them declare everything that makes one of our flags apply.
SOURCE = """
import argparse
import murli

parser = argparse.ArgumentParser(prog="all")
parser.add_argument("--region")
commands = parser.add_subparsers(dest="command")
network = murli.Traits(
    has_network_io=True, connect_timeout=5, token_env_vars=["ALL_TOKEN"], safe_default=True,
    stdin={"mode": "buffered"},
)
facts = {
    "list": murli.Metadata(lists=True, danger_level="safe"),
    "follow": murli.Metadata(streams=True, danger_level="safe"),
    "change": murli.Metadata(mutating=True, dry_runnable=True, traits=network),
    "drop": murli.Metadata(mutating=True, destructive=True, danger_level="destructive"),
}
for name, metadata in facts.items():
    murli.annotate(commands.add_parser(name), metadata)
notes = {"region": murli.FlagAnnotation(profileable=True)}
murli.annotate(parser, murli.Metadata(flag_annotations=notes))
murli.enable(parser, agents="flag")
"""
COMMANDS = ("list", "follow", "change", "drop")
RUNS = """
parser.parse_args()
murli.get_writer().write_success("Done", {"done": True})
"""


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """A tool on whose commands every flag of ours means something."""
    return script(tmp_path_factory.mktemp("table"), SOURCE + RUNS)


def flags_of(document: Any) -> dict[str, str]:
    """Return the flags that any part of *document* lists, with their descriptions."""
    found: dict[str, str] = {}
    if isinstance(document, dict):
        flags = document.get("flags", {})
        each = flags.items() if isinstance(flags, dict) else ((f["name"], f) for f in flags)
        found.update((name, flag.get("description", "")) for name, flag in each)
        document = list(document.values())
    if isinstance(document, list):
        for part in document:
            found |= flags_of(part)
    return found


def test_every_entry_is_complete() -> None:
    """Names are unique, and each flag has a group, a plain sentence and views that exist."""
    names = [name for flag in OWN_FLAGS for name in flag.names]
    assert len(names) == len(set(names))
    known = {"names", "group", "help", "views", "applies", "type", *vars(OwnFlag)}
    for flag in OWN_FLAGS:
        assert vars(flag).keys() <= known, flag
        assert flag.group in GROUPS, flag
        assert flag.help[0].isupper() and flag.help[-1] != ".", flag
        assert set(flag.views) <= VIEWS, flag
        assert flag.intent <= bool(flag.effect), flag
        assert isinstance(getattr(core.Call(), flag.destination, None), bool | None), flag


def test_the_names_in_core_are_those_of_the_table() -> None:
    """What tells without the table that a word may be ours names exactly the flags of murli."""
    assert set(flags_in()) == core.FLAG_NAMES
    assert names_where(lambda flag: flag.intent) == core.INTENT
    assert all(
        len(flags_in(contract_named(contract))) == len(flags_in(contract_named("response")))
        for contract in CONTRACT_NAMES[1:]
    )


@pytest.mark.parametrize("name", [name for flag in OWN_FLAGS for name in flag.names])
def test_every_flag_is_parsed(name: str) -> None:
    """Each flag is taken where its contract is in force, and left to the tool where it is not."""
    for contract in CONTRACT_NAMES:
        flags = flags_in(contract_named(contract))
        value = ["1"] if name in flags and flags[name].takes_value else []
        call = scan([name, *value, "word"], ParserLevel(argparse.ArgumentParser()), (), flags)
        assert (name in call.rest) == (name not in flags)
        if name in flags:
            assert call.rest == ["word"]
            assert flag_value(call, flags[name].destination) == (value[0] if value else True)


def test_every_flag_is_in_the_views_that_it_names(everything: list[str]) -> None:
    """Help, describe and the manifest list each flag that says so, in the words of the table."""
    newest = environment(MURLI_CONTRACT="agent-spec-2", MURLI_MODE="agent")
    usual = environment(MURLI_MODE="agent")
    helps = [
        run(everything, *words, "--help", env=env)
        for words in ([], ["list"], ["change"])
        for env in (newest, usual)
    ]
    texts = [" ".join(f"{done.out} {done.err}".split()) for done in helps]
    manifest = run(everything, "manifest", "--max-bytes", "0", env=newest).document["data"]
    shown = {
        "describe": flags_of(run(everything, "describe", env=usual).document),
        "manifest": flags_of({"flags": manifest["flags"]}),
        "command": flags_of([manifest["commands"][name] for name in COMMANDS]),
    }
    one_place = {**shown["manifest"], **shown["command"]}
    for flag in OWN_FLAGS:
        label = ", ".join(flag.names) + (f" {flag.metavar}" if flag.metavar else "")
        if "help" in flag.views:
            assert any(f"{label} {flag.help}" in text for text in texts), flag
        for view in ("describe", "manifest"):
            if view in flag.views:
                assert shown[view].get(flag.key) == flag.help, (view, flag)
        if "command" in flag.views:  # what every command has stands at the root alone
            assert one_place.get(flag.key) == flag.help, flag


def test_people_are_shown_what_they_can_use(everything: list[str]) -> None:
    """At a terminal help lists what is safe and what is saved, and nothing that agents need."""
    text = run_at_terminal(everything, "change", "--help").out
    assert "--force, --yes" in text and "--dry-run" in text
    for flag in OWN_FLAGS:
        if flag.group not in ("safety", "profile"):
            assert flag.names[0] not in text, flag


def test_no_intent_can_be_saved() -> None:
    """A flag that is meant for one call is never one that a profile may hold."""
    from murli.call.settable import settable_flags
    from murli.declare.tree import Command, Flag

    intents = [flag.key for flag in OWN_FLAGS if flag.intent]
    notes = {key: murli.FlagAnnotation(profileable=True) for key in (*intents, "region")}
    flags = tuple(Flag(key) for key in notes)
    command = Command(("t",), flags=flags, metadata=murli.Metadata(flag_annotations=notes))
    assert list(settable_flags(command)) == ["region"]


def test_the_reading_side_knows_what_confirms_and_previews() -> None:
    """Client and checks are as wary of each flag as the table says."""
    confirming = {name for flag in OWN_FLAGS if flag.effect == "confirms" for name in flag.names}
    assert confirming == CONFIRMING_FLAGS
    assert {name[2:] for name in confirming} <= CONFIRMING & own_calls.CONFIRMING
    assert {f"--{name}" for name in _CONFIRM_FLAGS} <= confirming
    assert {flag.names[0] for flag in OWN_FLAGS if flag.effect == "previews"} == own_calls.PREVIEWS
    for name in confirming:
        assert own_calls.may_confirm(name)
    assert AGENT_FLAG in core.FLAG_NAMES


def test_one_entry_is_enough(tmp_path: Path) -> None:
    """A flag that is added to the table is parsed, listed in help, manifest and schema."""
    added = """
from murli.line import flags
flags.OWN_FLAGS += (
    flags.OwnFlag("--colour", "format", "Choose the colour", metavar="NAME",
                  views="help manifest command", applies=lambda facts: True),
)
"""
    argv = script(tmp_path, added + SOURCE + RUNS)
    env = environment(MURLI_CONTRACT="agent-spec-2", MURLI_MODE="agent")
    assert "--colour NAME" in run(argv, "list", "--help", env=env).err
    assert run(argv, "list", "--colour", "red", env=env).document["data"] == {"done": True}
    manifest = run(argv, "manifest", "--max-bytes", "0", env=env).document["data"]
    assert manifest["flags"]["colour"]["description"] == "Choose the colour"
    assert run(argv, "list", "--colour", env=env).document["error"]["code"] == "FLAG_ERROR"
