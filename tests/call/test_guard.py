"""What may run: whichever way a command is reached, and whatever a call seems to confirm."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness import environment, run, run_at_terminal, script

pytestmark = pytest.mark.warm


REFUSED = "confirmation_required"

ON_CLICK = """
import os, pathlib, sys
import click, murli
KIND = os.environ.get("KIND", "")
CHANGES = murli.Metadata(destructive=True)

def mark(name):
    pathlib.Path("ran-" + name).touch()
    return {"ran": name}

class Direct(click.Group):
    def invoke(self, ctx):
        name, *rest = self._words(ctx)
        command = self.commands[name]
        with command.make_context(name, rest, parent=ctx) as below:
            return command.invoke(below)
    def _words(self, ctx):
        return [*(getattr(ctx, "_protected_args", None) or ctx.protected_args), *ctx.args]

class Late(Direct):
    def invoke(self, ctx):
        if self._words(ctx)[0] not in self.commands:
            return click.Command.invoke(self, ctx)
        return click.Group.invoke(self, ctx)

class Prefix(click.Group):
    def get_command(self, ctx, name):
        return next((self.commands[n] for n in self.commands if n.startswith(name)), None)

class Elsewhere(Direct):
    def invoke(self, ctx):
        return globals()[self._words(ctx)[0]].callback()

@click.group(cls=globals().get(KIND, click.Group), chain=KIND == "chain")
@click.option("--pin", prompt="ASKS" in os.environ)
def cli(pin):
    mark("group")

@cli.command()
@click.argument("name", default="")
def delete(name, **more):
    return mark("delete")

@cli.command()
@click.option("--dry-run", "mode", flag_value="dry")
@click.option("--fast", "mode", flag_value="fast")
def wipe(mode):
    return mark("wipe")

@cli.command()
@click.option("-f", "--force", "how", flag_value="force", envvar="HOW")
@click.option("--soft", "how", flag_value="soft")
def purge(how):
    return mark("purge")

@cli.command()
@click.option("--force/--no-force", default=True)
@click.option("--yes", type=int)
def drop(force, yes):
    return mark("drop")

@cli.command()
@click.option("--name", prompt=True)
@click.password_option()
@click.confirmation_option(prompt="Sure?")
def create(name, password):
    return mark("create")

for command in (delete, wipe, purge, drop, create):
    murli.annotate(command, CHANGES)

@cli.command()
@click.option("--yes", is_flag=True)
def owny(yes):
    return None

@cli.command()
@click.option("--yes", is_flag=True)
@click.option("--by", default="invoke")
@click.pass_context
def through(ctx, yes, by):
    if by == "main":
        return delete.main(["x"], standalone_mode=False)
    if by == "callback":
        return delete.callback(name="x")
    return getattr(ctx, by)(delete, name="x")

if KIND != "chain":
    @cli.group()
    def admin(): pass
    @admin.command()
    def status(): return mark("status")
    @admin.command()
    def look(): pass
    murli.annotate(admin, murli.Metadata(mutating=True))
    murli.annotate(look, murli.Metadata(danger_level="safe"))
if "ROOT" in os.environ:
    murli.annotate(cli, murli.Metadata(mutating=True))
murli.enable(cli, name="tool", guard=os.environ.get("GUARD", "declared"))
if __name__ == "__main__":
    cli()
"""


@pytest.fixture
def clicked(tmp_path: Path) -> list[str]:
    return script(tmp_path, ON_CLICK, "ship.py")


def refused(argv: list[str], words: str, at: Path, name: str, **changes: str) -> str:
    """Run a call that must be refused before *name* runs; give the advice."""
    done = run(argv, *words.split(), cwd=at, env=environment(**changes))
    assert not (at / f"ran-{name}").exists(), words
    if changes.get("MURLI_CONTRACT", "murli") == "murli":
        assert done.error["error"] == REFUSED
        return str(done.error["suggestion"])
    assert done.document["error"]["code"] == REFUSED.upper()
    return str(done.document["error"]["suggestion"])


# -- what is typed -----------------------------------------------------------------------------


def test_only_the_option_itself_confirms_on_click(clicked: list[str], tmp_path: Path) -> None:
    """No switch that shares a parameter, default or variable confirms, or stands for a preview."""
    for words, name in (
        ("wipe --fast", "wipe"),
        ("purge --soft", "purge"),
        ("purge --force --soft", "purge"),
        ("drop", "drop"),
        ("drop --no-force", "drop"),
    ):
        refused(clicked, words, tmp_path, name, HOW="force")
    for words, name in (
        ("purge -f", "purge"),
        ("wipe --dry-run", "wipe"),
        ("drop --force", "drop"),
    ):
        assert run(clicked, *words.split(), cwd=tmp_path).code == 0
        assert (tmp_path / f"ran-{name}").exists()


def test_a_neighbour_in_a_chain_confirms_nothing(clicked: list[str], tmp_path: Path) -> None:
    """In a chain the --yes of one command is not that of the next; ours is for all of them."""
    refused(clicked, "owny --yes delete x", tmp_path, "delete", KIND="chain")
    env = environment(KIND="chain")
    for words in ("owny --yes delete --yes x", "--yes owny delete x"):
        assert run(clicked, *words.split(), cwd=tmp_path, env=env).code == 0
        (tmp_path / "ran-delete").unlink()


ON_ARGPARSE = """
import argparse, os, pathlib, murli
class Own(argparse._SubParsersAction):
    def __call__(self, parser, namespace, values, option_string=None):
        setattr(namespace, self.dest, values[0])
        dict(self.choices)[values[0]].parse_args(values[1:], namespace)

parser = argparse.ArgumentParser(prog="tool")
kind = {"action": Own} if "OWN" in os.environ else {}
commands = parser.add_subparsers(dest="command", **kind)
delete = commands.add_parser("delete")
erase = commands.add_parser("erase")
erase.add_argument("--yes", dest="sure", action="store_true")
erase.add_argument("--quick", dest="sure", action="store_true")
rm = commands.add_parser("rm")
rm.add_argument("-f", "--force", action=argparse.BooleanOptionalAction,
                default=bool(os.environ.get("FORCE")))
for each in (delete, erase, rm):
    murli.annotate(each, murli.Metadata(destructive=True))
scrap = commands.add_parser("scrap")
scrap.add_argument("--scrap-all", action="store_true")
murli.annotate(scrap, murli.Metadata(
    destructive=True, traits=murli.Traits(confirm_flag="scrap-all")))
commands.add_parser("purge")
murli.enable(parser, guard=os.environ.get("GUARD", "declared"))
if os.environ.get("HOW") == "session":
    with murli.session(parser) as (args, writer):
        pathlib.Path("ran-" + args.command).touch()
else:
    args = parser.parse_args()
    pathlib.Path("ran-" + args.command).touch()
"""


def test_only_the_option_itself_confirms_on_argparse(tmp_path: Path) -> None:
    """No shared destination, default, negation or abbreviation confirms."""
    argv = script(tmp_path, ON_ARGPARSE)
    for words, name in (
        ("erase --quick", "erase"),
        ("rm", "rm"),
        ("rm --no-force", "rm"),
        ("rm --forc", "rm"),
        ("scrap --scrap", "scrap"),
    ):
        refused(argv, words, tmp_path, name, FORCE="1")
    for words in ("erase --yes", "rm -f", "rm --force", "scrap --scrap-all", "rm --yes"):
        assert run(argv, *words.split(), cwd=tmp_path).code == 0
        (tmp_path / f"ran-{words.split()[0]}").unlink()


@pytest.mark.parametrize("how", ["bare", "session"])
def test_an_own_subparsers_action_is_guarded(tmp_path: Path, how: str) -> None:
    """A command that the author's own action looks up and lets parse is guarded like any other."""
    argv = script(tmp_path, ON_ARGPARSE)
    refused(argv, "delete", tmp_path, "delete", OWN="1", HOW=how, _ARGCOMPLETE="1")
    refused(argv, "purge", tmp_path, "purge", OWN="1", HOW=how, GUARD="inferred")
    assert run(argv, "delete", "--yes", cwd=tmp_path, env=environment(OWN="1")).code == 0


# -- who attends -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "changes"),
    [
        (["--output", "text"], {"MURLI_MODE": "agent"}),
        (["--agent", "--output", "text"], {}),
        (["--output=text"], {"CLAUDECODE": "1", "MURLI_DETECT_AGENTS": "1"}),
        (["--agent", "--format", "table"], {"MURLI_CONTRACT": "agent-spec-2"}),
        ([], {"MURLI_CONTRACT": "agent-spec-2", "MURLI_MODE": "agent", "TOOL_FORMAT": "plain"}),
    ],
)
def test_no_format_makes_a_person_of_an_agent(
    clicked: list[str], tmp_path: Path, words: list[str], changes: dict[str, str]
) -> None:
    """At a terminal too a declared agent is refused, however it wants to read the answer."""
    at = ["sh", "-c", f'cd {tmp_path} && exec "$@"', "sh", *clicked]
    done = run_at_terminal(at, "delete", "x", *words, env=environment(**changes))
    assert done.code != 0
    assert "requires explicit confirmation" in done.err + done.out
    assert not (tmp_path / "ran-delete").exists()


PERSON = """
import argparse, murli, pathlib
parser = argparse.ArgumentParser(prog="tool")
murli.annotate(parser, murli.Metadata(traits=murli.Traits(requires_person=True)))
murli.enable(parser)
parser.parse_args()
pathlib.Path("ran-tool").touch()
"""


def test_an_agent_cannot_attest_to_be_a_person(tmp_path: Path) -> None:
    """What only a person may run is refused to a declared agent at a terminal, in any format."""
    at = ["sh", "-c", f'cd {tmp_path} && exec "$@"', "sh", *script(tmp_path, PERSON)]
    env = environment(MURLI_MODE="agent")
    done = run_at_terminal(at, "--output", "text", env=env, keys=b"yes\n")
    assert (done.code, "Only a person" in done.err) == (1, True)
    assert not (tmp_path / "ran-tool").exists()
    assert run_at_terminal(at, keys=b"yes\n").code == 0


# -- ways to a command -------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["invoke", "forward", "main", "callback"])
def test_what_a_handler_calls_is_guarded(clicked: list[str], tmp_path: Path, way: str) -> None:
    """A handler cannot run an unconfirmed change either; once confirmed itself, it may."""
    refused(clicked, f"through --by {way}", tmp_path, "delete")
    done = run(clicked, "through", "--by", way, "--yes", cwd=tmp_path)
    assert (done.code, done.document["result"]) == (0, {"ran": "delete"})


def test_groups_that_find_commands_themselves(clicked: list[str], tmp_path: Path) -> None:
    """A group may look its commands up, complete their names, or run itself with extra words."""
    refused(clicked, "foo bar", tmp_path, "group", KIND="Late", ROOT="1")
    refused(clicked, "delete x", tmp_path, "delete", KIND="Direct")
    refused(clicked, "del x", tmp_path, "delete", KIND="Prefix")
    for kind, words in (("Direct", "delete x"), ("Prefix", "del x"), ("Late", "foo bar")):
        env = environment(KIND=kind, ROOT="1")
        assert run(clicked, *words.split(), "--yes", cwd=tmp_path, env=env).code == 0


def test_doctor_fails_what_cannot_be_guarded(clicked: list[str], tmp_path: Path) -> None:
    """A declared group above undeclared commands, and a group nobody can follow, fail doctor."""
    for kind, expected in (("", ["safety"]), ("Elsewhere", ["safety", "guard"])):
        done = run(clicked, "doctor", "--strict", cwd=tmp_path, env=environment(KIND=kind))
        failed = [each for each in done.document["result"]["checks"] if each["status"] == "fail"]
        assert [each["name"] for each in failed] == expected
        told = 'group "admin" is declared mutating, which says nothing about admin status'
        assert told in failed[0]["message"]
        assert done.code == 1
    assert "tool runs its commands" in failed[1]["message"]


ON_TYPER = """
import pathlib, typer, murli
from typing import Annotated
class Prefix(typer.core.TyperGroup):
    def get_command(self, ctx, name):
        found = [each for each in self.list_commands(ctx) if each.startswith(name)]
        return super().get_command(ctx, found[0]) if found else None
app = typer.Typer(cls=Prefix)
wipe = typer.Typer(invoke_without_command=True)
@wipe.callback()
def all_of_it(): pathlib.Path("ran-wipe").touch()
app.add_typer(wipe, name="wipe")
@app.command()
def create(name: Annotated[str, typer.Option(prompt=True)]): pathlib.Path("ran-create").touch()
for each in (wipe, create):
    murli.annotate(each, murli.Metadata(destructive=True))
murli.enable(app, name="tool")
app()
"""


def test_typer_is_guarded_in_the_same_ways(tmp_path: Path) -> None:
    """A sub-app reached by a prefix, a prompt, and a variable for completion open nothing."""
    argv = script(tmp_path, ON_TYPER, "ship.py")
    refused(argv, "wip", tmp_path, "wipe")
    names = ("_SHIP_COMPLETE", "_SHIP_PY_COMPLETE", "_SHIP.PY_COMPLETE", "_TOOL_COMPLETE")
    refused(argv, "create", tmp_path, "create", **dict.fromkeys(names, "x"))
    asked = {"_SHIP.PY_COMPLETE": "complete_bash", "COMP_WORDS": "ship.py cr", "COMP_CWORD": "1"}
    done = run(argv, cwd=tmp_path, env=environment(**asked))
    assert (done.out, done.err, done.code) == ("create\n", "", 0)
    assert run(argv, "wip", "--yes", cwd=tmp_path).code == 0


# -- before the guard --------------------------------------------------------------------------


@pytest.mark.parametrize("contract", ["murli", "response", "agent-spec-1.6", "agent-spec-2"])
def test_nothing_is_asked_before_the_guard(
    clicked: list[str], tmp_path: Path, contract: str
) -> None:
    """An unconfirmed change that would prompt is refused instead; a confirmed one asks."""
    refused(clicked, "delete x", tmp_path, "group", MURLI_CONTRACT=contract, ASKS="1")
    refused(clicked, "create", tmp_path, "create", MURLI_CONTRACT=contract)
    done = run(clicked, "create", "--yes", cwd=tmp_path, env=environment(MURLI_CONTRACT=contract))
    assert "nobody is there to answer" in done.out + done.err


def test_a_refusal_names_what_confirms(clicked: list[str], tmp_path: Path) -> None:
    """An option of the command's own is not advised as if it only confirmed; a preview is."""
    both = "Pass --force or --yes to proceed without a TTY."
    assert refused(clicked, "delete", tmp_path, "delete") == both
    assert refused(clicked, "purge", tmp_path, "purge") == "Pass --yes to proceed without a TTY."
    assert refused(clicked, "drop", tmp_path, "drop") == "Pass --force to proceed without a TTY."
    preview = f"{both} Pass --dry-run to see what it would do."
    assert refused(clicked, "wipe", tmp_path, "wipe") == preview
    advice = refused(clicked, "delete", tmp_path, "delete", MURLI_CONTRACT="agent-spec-2")
    assert advice == f"{both} --confirm-destructive confirms as well."


# -- names -------------------------------------------------------------------------------------

NAMED = """
import click, murli, os, pathlib
class Lazy(click.Group):
    def list_commands(self, ctx):
        return ["purge-all", "list", "declared-purge"]
    def get_command(self, ctx, name):
        found = [each for each in self.list_commands(ctx) if each.startswith(name)]
        if not found:
            return None
        def run():
            pathlib.Path("ran-" + found[0]).touch()
        command = click.Command(found[0], callback=run)
        if found[0] == "declared-purge":
            murli.annotate(command, murli.Metadata(mutating=False))
        return command
cli = Lazy("tool")
if "ONE" in os.environ:
    cli = click.Command("purge", callback=lambda: pathlib.Path("ran-one").touch())
murli.enable(cli, guard="inferred")
cli()
"""


def test_names_guard_where_that_is_chosen(tmp_path: Path) -> None:
    """With guard="inferred" an undeclared command named like one that destroys is confirmed too."""
    argv = script(tmp_path, NAMED)
    for words, name in (("purge-all", "purge-all"), ("pur", "purge-all")):
        refused(argv, words, tmp_path, name)
    refused(argv, "", tmp_path, "one", ONE="1")
    for words in ("list", "declared-purge", "pur --yes"):
        assert run(argv, *words.split(), cwd=tmp_path).code == 0
    message = run(argv, "pur", cwd=tmp_path).error["message"]
    assert "mutates" not in message  # nobody has said so
    schema = run(argv, "purge-all", "--schema", cwd=tmp_path).document
    assert [flag["name"] for flag in schema["flags"]] == ["yes"]
    with pytest.raises(ValueError, match="guard is declared or inferred"):
        import argparse

        import murli

        murli.enable(argparse.ArgumentParser(), guard="all")  # type: ignore[arg-type]


# -- the environment ---------------------------------------------------------------------------


def test_no_variable_switches_the_guard_off(clicked: list[str], tmp_path: Path) -> None:
    """A variable for completion that the framework does not complete by changes nothing."""
    package = tmp_path / "shipped"
    package.mkdir()
    (package / "__main__.py").write_text(ON_CLICK)
    module = [clicked[0], "-m", "shipped"]
    for argv, names in (
        (clicked, ["_SHIP_COMPLETE", "_SHIP_PY_COMPLETE", "_SHIP.PY_COMPLETE", "_TOOL_COMPLETE"]),
        (module, ["_SHIPPED_COMPLETE", "_TOOL_COMPLETE", "_PYTHON _M SHIPPED_COMPLETE"]),
    ):
        for value in ("x", "bash_nonsense"):
            everything = dict.fromkeys(names, value)
            refused(argv, "delete x", tmp_path, "delete", _ARGCOMPLETE="1", **everything)
    env = environment(_SHIP_PY_COMPLETE="x")
    assert run(clicked, "owny", cwd=tmp_path, env=env).document["status"] == "ok"


def test_completing_runs_nothing(clicked: list[str], tmp_path: Path) -> None:
    """What click completes by, it completes, for a script's own name too, and no command runs."""
    asked = {"COMP_WORDS": "ship.py del", "COMP_CWORD": "1"}
    for variable in ("_SHIP_PY_COMPLETE", "_SHIP.PY_COMPLETE"):
        env = environment(**{variable: "bash_complete"}, **asked)
        done = run(clicked, cwd=tmp_path, env=env)
        if done.out == "plain,delete\n":
            break
    assert (done.out, done.err, done.code) == ("plain,delete\n", "", 0)
    # One that click cannot answer is not taken for a call.
    for value, words in (("nu_complete", asked), ("nu_source", {})):
        done = run(clicked, cwd=tmp_path, env=environment(**{variable: value}, **words))
        assert (done.out, done.code) == ("", 1)
    assert not list(tmp_path.glob("ran-*"))


# -- parsers behind the parser -----------------------------------------------------------------

TWO_STAGES = """
import argparse, os, pathlib, murli
root = argparse.ArgumentParser(prog="tool")
root.add_argument("command")
if os.environ.get("HOW") in ("parse", "session"):
    root.add_argument("rest", nargs=argparse.REMAINDER)
delete = argparse.ArgumentParser(prog="tool delete")
delete.add_argument("name")
delete.add_argument("--token")
if "OWN" in os.environ:
    delete.add_argument("--yes", choices=["no"])
murli.annotate(delete, murli.Metadata(
    destructive=True,
    plan=lambda args: {"would_delete": args.name},
    flag_annotations={"token": murli.FlagAnnotation(sensitive=True)},
))
murli.enable(root)
def go(rest):
    how = delete.parse_intermixed_args if os.environ.get("HOW") == "mixed" else delete.parse_args
    args = how(rest)
    pathlib.Path("ran-delete").touch()
    print("deleted", args.name, args.token)
if os.environ.get("HOW") == "session":
    with murli.session(root) as (args, writer):
        go(args.rest)
elif os.environ.get("HOW") == "parse":
    go(murli.parse(root)[0].rest)
else:
    go(root.parse_known_args()[1])
"""


@pytest.mark.parametrize("how", ["known", "mixed", "parse", "session"])
def test_a_parser_behind_the_enabled_one_is_guarded(tmp_path: Path, how: str) -> None:
    """An annotated parser that parses what the enabled one left is a command of the tool."""
    argv = script(tmp_path, TWO_STAGES)
    env = environment(HOW=how)
    advice = refused(argv, "delete x --token s3cr3t-value", tmp_path, "delete", HOW=how)
    assert "--yes" in advice and "--dry-run" in advice
    refused(argv, "delete x --yes no", tmp_path, "delete", HOW=how, OWN="1")
    planned = run(argv, "delete", "x", "--dry-run", cwd=tmp_path, env=env)
    assert planned.document["plan"] == {"would_delete": "x"}
    assert not (tmp_path / "ran-delete").exists()
    words = ("delete", "x", "--token", "s3cr3t-value", "--yes")
    done = run(argv, *words, cwd=tmp_path, env=env)
    assert done.code == 0 and (tmp_path / "ran-delete").exists()
    assert "deleted x" in done.document["result"] and "s3cr3t" not in done.out + done.err


def test_a_parser_behind_the_enabled_one_answers_in_every_contract(tmp_path: Path) -> None:
    """Its refusal comes before the handler and holds the plan; the contract's own flag confirms."""
    argv = script(tmp_path, TWO_STAGES)
    env = environment(MURLI_CONTRACT="agent-spec-2")
    error = run(argv, "delete", "x", cwd=tmp_path, env=env).document["error"]
    assert (error["code"], error["phase"]) == ("CONFIRMATION_REQUIRED", "validation")
    assert error["context"]["would_affect"] == {"would_delete": "x"}
    error = run(argv, "delete", "x", "--force=no", cwd=tmp_path, env=env).document["error"]
    assert (error["code"], error["phase"]) == ("FLAG_ERROR", "validation")
    assert not (tmp_path / "ran-delete").exists()
    assert run(argv, "delete", "x", "--confirm-destructive", cwd=tmp_path, env=env).code == 0
