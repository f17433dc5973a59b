"""Commands that have moved, and names that were mistyped: the answer is the call to make."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import murli
from harness import ADAPTERS, Run, environment, run, run_at_terminal, script
from murli.call.redirects import distance_of, nearest_one, replaced

pytestmark = [pytest.mark.adapters("argparse", "click"), pytest.mark.warm]

CONTRACTS = ["murli", "response", "agent-spec-1.6", "agent-spec-2"]
# Typer's commands are looked up as click's are; a long table need not be read a third time.
two_adapters = pytest.mark.parametrize("people", ADAPTERS[:2], indirect=True)

# What the three tools have in common; the first redirects stand before enable().
_RULES = """
murli.redirect(app, "user create", "users add")
murli.redirect(app, "person new", "user create", permanent=False)
murli.enable(app, name="people")
murli.redirect(app, "import", "users add --kind robot", reason="restructured")
murli.redirect(app, "user", "users", message="Users have a place of their own.")
murli.redirect(app, "legacy", "users list", reason="deprecated")
murli.redirect(app, "deploy", "deploy run", reason="restructured")
SECRET = murli.Metadata(flag_annotations={"token": murli.FlagAnnotation(sensitive=True)})
DESTROYS = murli.Metadata(destructive=True)
"""
_TOOLS = {
    "argparse": f"""
import argparse, murli
app = argparse.ArgumentParser(prog="people")
app.add_argument("-r", "--region", default="eu")
{_RULES}
top = app.add_subparsers(dest="top", required=True)
users = top.add_parser("users").add_subparsers(dest="below", required=True)
add = users.add_parser("add")
add.add_argument("--kind", default="person")
add.add_argument("-t", "--token", default="")
add.add_argument("names", nargs="*")
users.add_parser("list")
users.add_parser("lost")
users.add_parser("secret", help=argparse.SUPPRESS)
remove = users.add_parser("remove")
remove.add_argument("id", nargs="?")
top.add_parser("legacy")
deploy = top.add_parser("deploy").add_subparsers(dest="below", required=True)
deploy.add_parser("run").add_argument("names", nargs="*")
deploy.add_parser("status")
murli.annotate(add, SECRET)
murli.annotate(remove, DESTROYS)
args, writer = murli.parse(app)
writer.write_success("Done", {{**vars(args), "token": None}})
""",
    "click": f"""
import click, murli
@click.group()
@click.option("-r", "--region", default="eu")
@click.pass_context
def app(ctx, region): ctx.obj = region
{_RULES}
@app.group()
def users(): pass
@app.group()
def deploy(): pass
@users.command()
@click.option("--kind", default="person")
@click.option("-t", "--token", default="")
@click.argument("names", nargs=-1)
@click.pass_obj
def add(region, kind, token, names): return dict(region=region, kind=kind, names=names, below="add")
@users.command("list")
def listing(): return {{"below": "list"}}
@users.command()
def lost(): return {{"below": "lost"}}
@users.command(hidden=True)
def secret(): pass
@users.command()
@click.argument("id", required=False)
def remove(id): pass
@app.command()
def legacy(): return {{"below": "legacy"}}
@deploy.command()
@click.argument("names", nargs=-1)
def run(names): return {{"below": "run", "names": names}}
@deploy.command()
def status(): return {{"below": "status"}}
murli.annotate(add, SECRET)
murli.annotate(remove, DESTROYS)
app()
""",
    "typer": f"""
import typer, murli
from typing import List, Optional
app, users, deploy = typer.Typer(), typer.Typer(), typer.Typer()
{_RULES}
app.add_typer(users, name="users")
app.add_typer(deploy, name="deploy")
told = {{}}
@app.callback()
def root(region: str = typer.Option("eu", "-r", "--region")): told["region"] = region
@users.command()
def add(
    names: Optional[List[str]] = typer.Argument(None),
    kind: str = "person",
    token: str = typer.Option("", "-t", "--token"),
):
    return dict(told, kind=kind, names=list(names or ()), below="add")
@users.command("list")
def listing(): return {{"below": "list"}}
@users.command()
def lost(): return {{"below": "lost"}}
@users.command(hidden=True)
def secret(): pass
@users.command()
def remove(id: str = typer.Argument("")): pass
@app.command()
def legacy(): return {{"below": "legacy"}}
@deploy.command()
def run(names: Optional[List[str]] = typer.Argument(None)):
    return {{"below": "run", "names": list(names or ())}}
@deploy.command()
def status(): return {{"below": "status"}}
murli.annotate(add, SECRET)
murli.annotate(remove, DESTROYS)
app()
""",
}
NASTY = ["a b", "it's", '"q"', "$(x)`y`", "two\nlines", "über 😀", "", "*", "a\\b", "#", "~", "!1"]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Folders that hold the tool ``people``, on each framework."""
    found = {}
    for adapter, source in _TOOLS.items():
        found[adapter] = tmp_path_factory.mktemp(adapter)
        program = found[adapter] / "people"
        program.write_text(f"#!{sys.executable}\n{source}")
        program.chmod(0o755)
    return found


class People:
    """The tool, as a caller has it on the path."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def env(self, contract: str = "agent-spec-2") -> dict[str, str]:
        path = f"{self.folder}{os.pathsep}{os.environ['PATH']}"
        return environment(MURLI_CONTRACT=contract, PATH=path)

    def call(self, *words: str, contract: str = "agent-spec-2") -> Run:
        return run([str(self.folder / "people")], *words, env=self.env(contract))

    def verbatim(self, command: str, contract: str = "agent-spec-2") -> Run:
        """Run *command* as it stands, in a shell."""
        return run(["sh", "-c", command], env=self.env(contract))

    def redirect(self, *words: str) -> Any:
        done = self.call(*words)
        assert done.code == 13, done.out
        return done.document["error"]["redirect"]


@pytest.fixture(params=ADAPTERS)
def people(request: pytest.FixtureRequest, folders: dict[str, Path]) -> People:
    """The tool on each framework in turn."""
    return People(folders[request.param])


def _command_in(done: Run, contract: str) -> str:
    """Give the call to make instead, where *contract* has it."""
    if contract == "murli":
        advice = done.error["suggestion"]
        return str(advice.removeprefix("Run `").removesuffix("` instead."))
    return str(done.document["error"]["redirect"]["command"])


def _result(done: Run, contract: str) -> Any:
    assert done.code == 0, (done.out, done.err)
    return done.document["result" if contract == "murli" else "data"]


# -- registered ------------------------------------------------------------------------------


@pytest.mark.parametrize("contract", CONTRACTS)
def test_a_moved_command_gives_the_call_to_make(people: People, contract: str) -> None:
    """A call of the old name fails with the new call, which is run as it stands and works."""
    values = [*NASTY, "--", "-x", "--output"]
    words = ["--region", "e u", "user", "create", "--kind", "x=y z", *values]
    done = people.call(*words, contract=contract)
    assert done.code == (1 if contract == "murli" else 13)
    command = _command_in(done, contract)
    assert shlex.split(command) == ["people", *words[:2], "users", "add", *words[4:]]
    result = _result(people.verbatim(command, contract), contract)
    assert result["names"] == [*NASTY, "-x", "--output"]
    assert (result["region"], result["kind"], result["below"]) == ("e u", "x=y z", "add")


def test_the_answer_says_what_to_remember(people: People) -> None:
    """The code, the sentence and the redirect tell what happened, and whether it is for good."""
    error = people.call("user", "create", "bob").document["error"]
    assert error["code"] == "COMMAND_RENAMED"
    assert error["message"] == '"people user create" was renamed to "people users add".'
    assert error["redirect"] == {
        "command": "people users add bob",
        "permanent": True,
        "reason": "renamed",
    }
    assert (error["phase"], error["retryable"]) == ("validation", False)
    assert error["fix_required"] == "Run `people users add bob` instead."
    first = people.call("user", "create", contract="response").document["error"]
    assert (first["retryable"], first["redirect"]["command"]) == (True, "people users add")


def test_people_are_told_in_words(people: People) -> None:
    """At a terminal the same call is an error with the new call in its hint, and exit code 1."""
    done = run_at_terminal([str(people.folder / "people")], "user", "create", "bob jr")
    assert (done.code, done.out) == (1, "")
    assert done.err == (
        'Error: "people user create" was renamed to "people users add".\n'
        "Hint:  Run `people users add 'bob jr'` instead.\n"
    )


@two_adapters
@pytest.mark.parametrize(
    ("words", "command"),
    [
        # Options of the tool, with their values, and flags of ours stand wherever they like.
        ("-r us user create bob", "-r us users add bob"),
        ("--region=us user --x create bob", "--region=us users --x add bob"),
        ("--format json user --timeout 3 create", "--format json users --timeout 3 add"),
        ("user create --contract response b", "users add --contract response b"),
        # A longer name counts more, a shorter one takes along what is below it.
        ("user list", "users list"),
        # One leads to the next.
        ("person new bob", "users add bob"),
        # What the new name brings stands behind it.
        ("import bob --flag x", "users add --kind robot bob --flag x"),
        # The command still exists, and is not run.
        ("legacy", "users list"),
        # It has become a group.
        ("deploy prod", "deploy run prod"),
        ("deploy --x prod", "deploy run --x prod"),
        # Its schema is where it is now.
        ("user create --schema", "users add --schema"),
    ],
)
def test_what_is_carried_over(people: People, words: str, command: str) -> None:
    """Everything that was said beside the old name is said beside the new one, in its order."""
    assert people.redirect(*words.split())["command"] == f"people {command}"


def test_what_is_not_redirected(people: People) -> None:
    """New names, values that look like old ones, and commands beside the new one are left alone."""
    for words, below in (
        ("users add import", "add"),
        ("--region user users list", "list"),
        ("deploy run prod", "run"),
        ("deploy status", "status"),
    ):
        assert _result(people.call(*words.split()), "agent-spec-2")["below"] == below


def test_permanence_reason_and_message(people: People) -> None:
    """A chain is permanent when all of it is; the reason and the message are the first one's."""
    done = people.call("person", "new", "bob")
    error = done.document["error"]
    assert error["redirect"]["permanent"] is False
    assert error["message"] == '"people person new" was renamed to "people users add".'
    error = people.call("user", "list").document["error"]
    assert error["message"] == "Users have a place of their own."
    error = people.call("import").document["error"]
    assert (error["code"], error["redirect"]["reason"]) == ("COMMAND_RESTRUCTURED", "restructured")
    error = people.call("legacy").document["error"]
    assert (error["code"], error["redirect"]["reason"]) == ("COMMAND_DEPRECATED", "deprecated")


@pytest.mark.parametrize("contract", ["murli", "response"])
@pytest.mark.parametrize("form", ["--token", "--token=", "-t"])
def test_secrets_are_not_echoed(people: People, contract: str, form: str) -> None:
    """A secret in the call is masked in the call to make, however it is quoted."""
    secret = "it's s3cr3t"
    given_so = [f"{form}{secret}"] if form.endswith("=") else [form, secret]
    done = people.call("user", "create", *given_so, "bob", contract=contract)
    assert "s3cr3t" not in done.out + done.err
    assert "[REDACTED]" in _command_in(done, contract)
    if contract != "murli":
        assert "secrets" in done.document["error"]["detail"]


def test_what_cannot_be_shown_is_told(people: People) -> None:
    """A call with characters that no document holds is redirected, and said to lack them."""
    error = people.call("user", "create", "\x1b[31mred").document["error"]
    assert error["redirect"]["command"] == "people users add 'red'"
    assert "characters" in error["detail"]


def test_a_caller_who_wants_exceptions_gets_one(tmp_path: Path) -> None:
    """Without standalone mode a moved command raises, with everything that the answer has."""
    click = pytest.importorskip("click")
    group = click.Group("people")
    murli.enable(group, name="people")
    murli.redirect(group, "old", "new thing")
    with pytest.raises(murli.AgentError) as caught:
        group.main(["old", "x"], standalone_mode=False)
    assert (caught.value.kind, caught.value.redirect_to) == ("redirected", "people new thing x")
    assert caught.value.permanent


def test_arguments_before_the_command(tmp_path: Path) -> None:
    """Where argparse takes arguments of the tool first, the command stands behind them."""
    source = (
        "import argparse, murli\np = argparse.ArgumentParser(prog='t'); p.add_argument('file')\n"
        "commands = p.add_subparsers(dest='c', required=True); commands.add_parser('show')\n"
        "murli.enable(p, contract='agent-spec-2'); murli.redirect(p, 'view', 'show')\n"
        "p.parse_args(); murli.get_writer().write_success('', {})\n"
    )
    argv = script(tmp_path, source)
    for word in ("view", "shwo"):
        redirect = run(argv, "view", word, "--quiet").document["error"]["redirect"]
        assert redirect["command"] == "t view show --quiet"


def test_redirects_cost_nothing_until_one_may_be_meant(tmp_path: Path) -> None:
    """A call in which no old name stands does not load what follows redirects."""
    source = (
        "import argparse, sys, murli\np = argparse.ArgumentParser(); p.add_argument('what')\n"
        "murli.enable(p); murli.redirect(p, 'old thing', 'new thing'); p.parse_args()\n"
        "loaded = 'murli.call.redirects' in sys.modules\n"
        "murli.get_writer().write_success('', loaded)\n"
    )
    argv = script(tmp_path, source)
    assert run(argv, "thing").document["result"] is False
    assert run(argv, "old").document["result"] is True


# -- what may be registered -------------------------------------------------------------------


def test_what_makes_no_sense_is_refused_at_once() -> None:
    """A redirect that is none, or that goes round in circles, is an error where it is written."""
    app = argparse.ArgumentParser()
    murli.redirect(app, "a", "b")
    murli.redirect(app, "a", "b")  # said twice is said once
    murli.redirect(app, "b x", "c")
    for old, new, complaint in (
        ("b", "a", "leads back"),
        ("c", "b x y", "leads back"),
        ("a", "z", "already"),
        ("q", "q", "to itself"),
        ("", "z", "such as"),
        ("q", "--flag", "such as"),
        ("q --flag", "z", "without options"),
    ):
        with pytest.raises(ValueError, match=complaint):
            murli.redirect(app, old, new)
    with pytest.raises(ValueError, match="renamed, restructured"):
        murli.redirect(app, "q", "z", reason="moved")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"not builtins\.dict"):
        murli.redirect({}, "q", "z")


def test_quotes_in_a_new_call_are_understood() -> None:
    """The new call may hold options whose values have spaces."""
    app = argparse.ArgumentParser()
    murli.redirect(app, "old", "new --title 'two words'")
    rule = vars(app)["_murli_redirects"]["old",]
    assert (rule.new, rule.fixed) == (("new",), ("--title", "two words"))


# -- mistyped ---------------------------------------------------------------------------------


@pytest.mark.parametrize("contract", CONTRACTS[1:])
def test_a_mistyped_command_is_corrected(people: People, contract: str) -> None:
    """One name that is nearly what was typed is a redirect for this once, and works verbatim."""
    done = people.call("-r", "u s", "usres", "add", "it's", "--", "-x", contract=contract)
    error = done.document["error"]
    assert (done.code, error["code"]) == (13, "TYPO_CORRECTED")
    assert error["message"] == 'Unknown command "usres".'
    assert (error["redirect"]["permanent"], error["redirect"]["reason"]) == (
        False,
        "typo_corrected",
    )
    done = people.verbatim(error["redirect"]["command"], contract)
    assert _result(done, contract)["names"] == ["it's", "-x"]
    assert _result(done, contract)["region"] == "u s"


@two_adapters
@pytest.mark.parametrize(
    ("words", "command"),
    [
        ("users aad bob", "users add bob"),
        ("Users add", "users add"),
        ("users --quiet ad", "users --quiet add"),
        ("descirbe --depth 1", "describe --depth 1"),
        ("manfest", "manifest"),
        ("profile lsit", "profile list"),
        ("describe usres", "describe users"),
        # Two are as near; the one that is destroys something; it is hidden; it is not near enough.
        ("users lust", None),
        ("users remvoe 7", None),
        ("users secrt", None),
        ("profile delte x", None),
        ("profiel delete x", None),
        ("users ax", None),
        ("usesr remove 7", None),
    ],
)
def test_only_what_must_have_been_meant(people: People, words: str, command: str | None) -> None:
    """Names are corrected on every level, our own too, unless something could go wrong by it."""
    done = people.call(*words.split())
    if command is None:
        assert (done.code, done.document["error"]["code"]) == (2, "COMMAND_ERROR")
        assert "redirect" not in done.document["error"]
    else:
        assert done.document["error"]["redirect"]["command"] == f"people {command}"


def test_murli_keeps_its_command_error(people: People) -> None:
    """Under murli, and for people, a mistyped command is an error that suggests the nearest."""
    done = people.call("usres", "add", contract="murli")
    assert (done.code, done.error["error"]) == (1, "command_error")
    assert done.error["suggestion"].startswith("Did you mean users?")
    done = run_at_terminal([str(people.folder / "people")], "usres", "add")
    assert "usage: people" in murli.strip_ansi(done.err).lower()
    assert "Did you mean" in murli.strip_ansi(done.err)
    assert done.code == 2


# -- the parts --------------------------------------------------------------------------------

_WORDS = st.lists(st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0")))


@given(_WORDS, _WORDS, _WORDS, st.integers(1, 3), st.integers(1, 3))
def test_nothing_else_is_touched(
    before: list[str], between: list[str], after: list[str], old: int, new: int
) -> None:
    """Whatever stands around the old name comes out of the shell as it went in."""
    argv, places = [*before], []
    for index in range(old):
        argv += between if index else []
        places.append(len(argv))
        argv.append(f"old{index}")
    argv += after
    path = [f"new{index}" for index in range(new)]
    found = replaced(argv, places, path, ["--fixed", "1"])
    assert shlex.split(shlex.join(["people", *found])) == ["people", *found]
    assert found[: len(before)] == before
    assert found[len(found) - len(after) :] == after
    kept = [word for place, word in enumerate(argv) if place not in places]
    assert sorted([*kept, *path, "--fixed", "1"]) == sorted(found)
    last = found.index(path[-1], len(before))
    assert found[last + 1 : last + 3] == ["--fixed", "1"]


@given(st.text("abc", max_size=6), st.text("abc", max_size=6))
def test_distance(word: str, name: str) -> None:
    """The distance is nothing for equals only, the same both ways, and 1 for one slip."""
    assert (distance_of(word, name) == 0) == (word == name)
    assert distance_of(word, name, 9) == distance_of(name, word, 9)
    for place in range(len(word)):
        assert distance_of(word, word[:place] + word[place + 1 :]) == 1
        assert distance_of(word, word[:place] + "x" + word[place:]) == 1
        assert distance_of(word, word[:place] + "x" + word[place + 1 :]) == 1
        swapped = word[:place] + word[place : place + 2][::-1] + word[place + 2 :]
        assert distance_of(word, swapped) == (word != swapped)


def test_how_near_is_near() -> None:
    """A name may be one slip away from three letters on, two from six on; never a shorter one."""
    assert nearest_one("ad", ["add"]) == "add"
    assert nearest_one("l", ["ls"]) is None
    assert nearest_one("lsit", ["list"]) == "list"
    assert nearest_one("tils", ["list"]) is None
    assert nearest_one("descbrie", ["describe"]) == "describe"
    assert nearest_one("dscbrie", ["describe"]) is None
    assert nearest_one("lust", ["list", "lost"]) is None
    assert nearest_one("list", ["lists", "lisp", "list"]) == "list"
