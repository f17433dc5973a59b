"""Where the profiles of a tool are kept, and a store that is not as we wrote it."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from harness import ADAPTERS
from profile_home import RAN, RUN, SHOW, Home, program

pytestmark = [pytest.mark.adapters("argparse", "click"), pytest.mark.warm]

# -- a store that is not as we wrote it -----------------------------------------------------------


@pytest.mark.adapters("argparse")
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


# -- where the store is ---------------------------------------------------------------------------


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
