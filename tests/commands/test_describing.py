"""Describing a tool reads nothing, runs nothing, reveals nothing, and spells every option."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import click
import pytest
from jsonschema import Draft202012Validator

import murli
from harness import ADAPTERS, environment, run, run_at_terminal, script
from murli.adapters.click import declared
from murli.adapters.click.levels import CommandLevel
from murli.adapters.click.tree import walk
from murli.contracts import CONTRACT_NAMES
from murli.declare.plain_values import shown, shown_choices
from murli.secrets.shapes import value_without_secrets, without_secrets

pytestmark = pytest.mark.warm


# Whatever looks at one of these values ends the process, waits, or leaves a trace on stderr.
HOSTILE = """
import argparse, datetime, enum, itertools, os, pathlib, sys

class Hostile:
    def alarm(self, *_):
        print("LOOKED AT", file=sys.stderr, flush=True)
        os._exit(99)
    __str__ = __repr__ = __iter__ = __len__ = __eq__ = __json__ = __contains__ = alarm
    __hash__ = None
    def __bool__(self):  # what click asks of every default
        return True

def generated():
    Hostile().alarm()
    yield 1

def asked():
    Hostile().alarm()

class Colour(enum.Enum):
    RED = "red"

DEFAULTS = {
    "stdin": sys.stdin, "bytes-in": sys.stdin.buffer, "opened": open(__file__),
    "hostile": Hostile(), "many": [Hostile()], "generated": generated(), "asked": asked,
    "counted": itertools.count(), "long": range(10**12), "environ": os.environ,
    "colour": Colour.RED, "day": datetime.date(2020, 1, 2), "path": pathlib.Path("x"),
    "mapped": {"a": [1]},
}
"""
DEFINED = {
    "argparse": """
import murli
p = argparse.ArgumentParser(prog="tool")
for name, default in DEFAULTS.items():
    p.add_argument(f"--{name}", default=default, help="it is %(default)s")
p.add_argument("--file", type=argparse.FileType(), default=sys.stdin, help="or %(default)s")
for name, choices in {"endless": itertools.count(), "lazy": generated(), "own": Hostile()}.items():
    p.add_argument(f"--{name}", choices=choices, metavar="N", help="one of %(choices)s")
murli.enable(p)
p.parse_args()
""",
    "click": """
import click, murli

class Looked(click.Choice):
    name = "looked up"
    def __init__(self): pass
    choices = property(asked)

def tool(**given): pass
params = [click.Option([f"--{name}"], default=default) for name, default in DEFAULTS.items()]
params.append(click.Option(["--file"], type=click.File(), default=sys.stdin))
params.append(click.Option(["--looked"], type=Looked(), metavar="N"))
cli = click.Command("tool", callback=tool, params=params)
murli.enable(cli)
cli()
""",
    "typer": """
import typer, murli
from typing import Annotated
app = typer.Typer()
@app.command()
def tool(
    file: Annotated[typer.FileText, typer.Option()] = sys.stdin,
    asked: Annotated[str, typer.Option(default_factory=asked)] = ...,
    completed: Annotated[str, typer.Option(autocompletion=asked)] = "z",
    colour: Colour = Colour.RED,
    path: pathlib.Path = pathlib.Path("x"),
): pass
murli.enable(app)
app()
""",
}
# Secrets that no option is named for, and where an author may have put them.
SECRETS = {
    "MY_API_KEY": "sk-98765-abc",
    "DB_URL": "postgres://u:pw-77@h/db",
    "PIN_TOKEN": "hunter2",
}
LEAKED = ("sk-98765-abc", "pw-77", "hunter2", "ghp_abcdef123456", "eyJhbGciOi")
LEAKING = {
    "argparse": """
import argparse, os, sys, murli
env = os.environ
p = argparse.ArgumentParser(prog="tool", description=f"With {env['DB_URL']}.")
p.add_argument("--key-of-things", default=env["MY_API_KEY"], help="a key (%(default)s)")
p.add_argument("-k", dest="api_key", default="hunter2", help="not %(default)r")
p.add_argument("--db", default=env["DB_URL"], help="where (default: %(default)s)")
p.add_argument("--number", type=int, default=1)
p.add_argument("--header", nargs="*", default=["Authorization: Bearer hunter2", "a"])
p.add_argument("--options", default={"password": "hunter2", "deep": {"token": "hunter2"}})
p.add_argument("--kind", choices=["eyJhbGciOi.eyJzdWIi.c2ln", "other"], help="one of %(choices)s")
p.add_argument("--fail", action="store_true")
murli.annotate(p, murli.Metadata(
    agent_description="Use ghp_abcdef123456.",
    examples=[murli.Example(f"tool --db {env['DB_URL']}", "As hunter2.")],
))
murli.enable(p)
given = p.parse_args()
if given.fail:
    raise RuntimeError(f"no answer from {given.db}")
""",
    "click": """
import os, click, murli
env = os.environ
@click.command(help=f"With {env['DB_URL']}.")
@click.option("--key-of-things", default=env["MY_API_KEY"], show_default=True, help="a key")
@click.option("--plain", envvar="PIN_TOKEN", default="hunter2", show_default=True)
@click.option("--db", default=env["DB_URL"], show_default=True, help=f"not {env['DB_URL']}")
@click.option("--header", multiple=True, default=["X-Api-Key: hunter2"])
@click.option("--number", type=int, default=1)
@click.option("--fail", is_flag=True)
def tool(fail, db, **given):
    if fail:
        raise RuntimeError(f"no answer from {db}")
murli.annotate(tool, murli.Metadata(
    agent_description="Use ghp_abcdef123456.",
    examples=[murli.Example(f"tool --db {env['DB_URL']}")],
))
murli.enable(tool)
tool()
""",
}
SPELLED = {
    "argparse": """
import argparse, murli
p = argparse.ArgumentParser(prog="tool", prefix_chars="-+")
p.add_argument("-m", action="store_true")
p.add_argument("-c", "--conversation", "--cid", "-con")
p.add_argument("--paint", action=argparse.BooleanOptionalAction)
p.add_argument("+x", action="store_true")
p.add_argument("-x", dest="other", action="store_true")
p.add_argument("++deep", "+d")
group = p.add_mutually_exclusive_group(required=True)
group.add_argument("files", nargs="*", default=[])
group.add_argument("-", dest="from_stdin", action="store_true")
murli.enable(p)
print(vars(p.parse_args()))
""",
    "click": """
import click, murli
@click.command()
@click.option("-m", is_flag=True)
@click.option("-c", "--conversation", "--cid", "-con")
@click.option("--paint/--no-paint", "-p/-P")
@click.option("-y/-n", "agreed")
@click.option("+x", "other", is_flag=True)
@click.option("/win;/no-win")
def tool(**given): print(given)
murli.enable(tool)
tool()
""",
    "typer": """
import typer, murli
from typing import Annotated
app = typer.Typer()
@app.command()
def tool(
    m: Annotated[bool, typer.Option("-m")] = False,
    conversation: Annotated[str, typer.Option("-c", "--conversation", "--cid", "-con")] = "",
    paint: Annotated[bool, typer.Option("--paint/--no-paint", "-p/-P")] = False,
    agreed: Annotated[bool, typer.Option("-y/-n")] = False,
): pass
murli.enable(app)
app()
""",
}


def describe(argv: list[str], *words: str, env: dict[str, str], timeout: float = 10) -> str:
    """Run *argv* with a stdin that stays open and silent; give what it wrote."""
    with subprocess.Popen(
        [*argv, *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=env,
        text=True,
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        try:
            out = process.stdout.read()
            assert process.wait(timeout) == 0, out + process.stderr.read()
        finally:
            process.kill()
    return out


def flags_in(document: dict[str, Any]) -> dict[str, Any]:
    return {flag["name"]: flag for flag in document["flags"]}


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_describing_consumes_and_calls_no_default(tmp_path: Path, adapter: str) -> None:
    """What is no plain data is left out of a description, and never looked at; stdin is ``-``."""
    argv = script(tmp_path, HOSTILE + DEFINED[adapter])
    flags = flags_in(json.loads(describe(argv, "describe", env=environment())))
    told = {name: flag["default"] for name, flag in flags.items() if "default" in flag}
    plain: dict[str, Any] = {"colour": "red", "path": "x"}
    if adapter != "typer":
        plain |= {"day": "2020-01-02", "mapped": {"a": [1]}}
    else:
        plain |= {"completed": "z"}
    assert told == {**plain, "file": "-"}
    assert "enum" not in json.dumps(list(flags.values())) or adapter == "typer"


@pytest.mark.slow
@pytest.mark.parametrize("contract", CONTRACT_NAMES)
@pytest.mark.parametrize("adapter", ADAPTERS)
def test_no_document_about_a_tool_consumes_a_default(
    tmp_path: Path, adapter: str, contract: str
) -> None:
    """describe, --schema and manifest end in every contract, whatever the defaults are."""
    argv = script(tmp_path, HOSTILE + DEFINED[adapter])
    for words in (["describe"], ["--schema"], ["manifest"], ["describe", "--agents-md"]):
        if words != ["manifest"] or contract != "murli":
            assert describe(argv, *words, env=environment(MURLI_CONTRACT=contract))


def test_options_before_describe_run_nothing(tmp_path: Path) -> None:
    """What stands before ``describe`` is parsed only for a group that finds commands by it."""
    source = """
import sys, click, murli
def asked(*_):
    print("CALLED", file=sys.stderr)
class Finds(click.Group):
    def list_commands(self, ctx):
        return [ctx.params.get("mode") or "none"]
    def get_command(self, ctx, name):
        return click.Command(name)
@click.group(cls=Finds if "--finds" in sys.argv else click.Group)
@click.option("--finds", is_flag=True)
@click.option("--mode", callback=lambda ctx, param, value: asked() or value)
@click.option("--other", default=asked)
def cli(**given): pass
@cli.command()
def go(): pass
murli.enable(cli)
cli()
"""
    argv = script(tmp_path, source)
    done = run(argv, "--mode", "x", "describe")
    assert ([each["name"] for each in done.document["commands"]], done.err) == (["go"], "")
    found = run(argv, "--finds", "--mode", "x", "describe").document["commands"]
    assert [each["name"] for each in found] == ["x"]


@pytest.mark.parametrize("adapter", ["argparse", "click"])
def test_a_description_reveals_no_secret(tmp_path: Path, adapter: str) -> None:
    """Secrets in defaults, help and examples are masked, known by name, by value or by shape."""
    argv, env = script(tmp_path, LEAKING[adapter]), environment(**SECRETS)
    written = ""
    for words in (["describe"], ["--schema"], ["describe", "--agents-md"], ["--help"], ["doctor"]):
        done = run(argv, *words, env=env)
        written += done.out + done.err
    for words in (
        ["manifest"],
        ["--schema"],
        ["--help"],
        ["--db", "", "--number", "postgres://u:pw-77@h"],
    ):
        done = run(argv, *words, env={**env, "MURLI_CONTRACT": "agent-spec-2"})
        written += done.out + done.err
    written += run(argv, "--fail", env=env).err
    written += run_at_terminal(argv, "describe", env=env).out
    for secret in LEAKED:
        assert secret not in written
    described = flags_in(run(argv, "describe", env=env).document)
    assert described["db"]["default"] == "postgres://u:[REDACTED]@h/db"
    assert described["key-of-things"]["default"] == "[REDACTED]"


def test_a_tree_is_looked_at_by_the_class_of_its_values() -> None:
    """Subclasses of built-in types are read as these, cycles and long lists are left out."""

    class Loud(list):  # type: ignore[type-arg]
        def __iter__(self) -> Any:
            raise AssertionError("iterated over")

    endless: list[Any] = []
    endless.append(endless)
    assert shown(Loud([1, "a"])) == [1, "a"]
    assert shown(endless) is None
    assert shown(list(range(1000))) is None
    assert shown(float("nan")) is None
    assert shown(iter([1])) is None
    assert shown_choices({"b", "a"}) == ["a", "b"]
    assert shown_choices(range(3)) == ["0", "1", "2"]
    assert shown_choices(range(10**30)) == []
    assert shown_choices(iter("ab")) == []


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("postgres://u:pw@h/db", "postgres://u:[REDACTED]@h/db"),
        ("postgres://u:p@ss@h/db?x=a@b", "postgres://u:[REDACTED]@h/db?x=a@b"),
        ("postgres://u:p/w@h/db", "postgres://u:[REDACTED]@h/db"),
        ("redis://:pw@h:6379/0", "redis://:[REDACTED]@h:6379/0"),
        ("https://h/p?api_key=abc&x=1", "https://h/p?api_key=[REDACTED]&x=1"),
        ("host=h user=u password=pw dbname=d", "host=h user=u password=[REDACTED] dbname=d"),
        ("Server=h;User Id=sa;Password=pw;", "Server=h;User Id=sa;Password=[REDACTED];"),
        ("use sk-12345 here", "use [REDACTED] here"),
        ("AKIAIOSFODNN7EXAMPLE", "[REDACTED]"),
        ("xoxb-123456-abcdef", "[REDACTED]"),
        ("send Bearer abc123def456 with it", "send Bearer [REDACTED] with it"),
        ("-----BEGIN RSA PRIVATE KEY-----\nab\n-----END RSA PRIVATE KEY-----", "[REDACTED]"),
        # What holds no secret, or only says where one would stand.
        ("https://host:8080/p?x=a@b", "https://host:8080/p?x=a@b"),
        ("https://user@host/x", "https://user@host/x"),
        ("postgres://USER:PASSWORD@HOST/DB", "postgres://USER:PASSWORD@HOST/DB"),
        ("http://u:<password>@h", "http://u:<password>@h"),
        ("Use Bearer authentication with sk-learn", "Use Bearer authentication with sk-learn"),
        ("git@github.com:x/y.git", "git@github.com:x/y.git"),
        ("key = value, password = PASSWORD", "key = value, password = PASSWORD"),
    ],
)
def test_secrets_are_known_by_their_shape(text: str, masked: str) -> None:
    """Tokens, keys and passwords in addresses are masked; placeholders and other text stay."""
    assert without_secrets(text) == masked


def test_a_value_as_a_whole_may_be_a_header_or_a_setting() -> None:
    """In lists and objects a secret is known by the name beside it too."""
    given = {
        "password": "x1",
        "list": ["TOKEN=abc", "Authorization: Basic x", "mode: auto"],
        "n": 1,
    }
    assert value_without_secrets(given) == {
        "password": "[REDACTED]",
        "list": ["TOKEN=[REDACTED]", "Authorization: Basic [REDACTED]", "mode: auto"],
        "n": 1,
    }


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_every_spelling_of_an_option_is_described(tmp_path: Path, adapter: str) -> None:
    """Short-only options, other prefixes, second spellings and negations can be typed as told."""
    argv = script(tmp_path, SPELLED[adapter])
    document = run(argv, "describe").document
    flags = flags_in(document)
    assert flags["m"] | {"short": "m", "spelling": "-m"} == flags["m"]
    talk = flags["conversation"]
    assert talk["short"] == "c" and talk["aliases"] == ["--cid", "-con"]
    assert flags["paint"]["negation"] == "no-paint"
    if adapter != "argparse":
        assert flags["paint"]["negation_aliases"] == ["-P"]
        assert flags["y"]["negation_aliases"] == ["-n"]
    if adapter == "click":
        assert flags["x"]["spelling"] == "+x" and flags["win"]["spelling"] == "/win"
    if adapter == "argparse":
        assert (flags["x"]["spelling"], flags["x-2"]["spelling"]) == ("+x", "-x")
        assert flags["deep"] | {"spelling": "++deep", "aliases": ["+d"]} == flags["deep"]
        assert flags["from-stdin"]["spelling"] == "-"
        assert document["requires_one_of"] == [["files", "from-stdin"]]
        assert document["arguments"][0]["mutually_exclusive_with"] == ["from-stdin"]
    Draft202012Validator(murli.load_schema("describe")).validate(document)
    schema = run(argv, "--schema").document
    Draft202012Validator(murli.load_schema("command")).validate(schema)
    for contract, name in (("agent-spec-1.6", "manifest-1"), ("agent-spec-2", "manifest-3")):
        answer = run(argv, "manifest", env=environment(MURLI_CONTRACT=contract)).document
        Draft202012Validator(murli.load_schema(name)).validate(answer["data"])
        told = json.dumps(answer)
        assert "written -m" in told and "also --cid, -con" in told


def test_a_client_types_options_as_they_are_spelled(tmp_path: Path) -> None:
    """A call by the name of a flag is written with its spelling, from either description."""
    from murli.client import Tool

    argv = script(tmp_path, SPELLED["argparse"])
    for contract in ("murli", "agent-spec-2"):
        tool = Tool(argv, env=environment(MURLI_CONTRACT=contract), cache=False)
        assert tool.commands
        given = str(tool.call(from_stdin=True, x=True, deep="d", cid="i").data)
        assert "'from_stdin': True" in given and "'x': True" in given
        assert "'deep': 'd'" in given and "'conversation': 'i'" in given


def test_a_saved_address_is_shown_without_its_password(tmp_path: Path) -> None:
    """Profiles, and errors that list what is accepted, mask what looks like a secret."""
    source = """
import click, murli
@click.group()
def cli(): pass
@cli.command()
@click.option("--db")
@click.option("--kind", type=click.Choice(["ghp_abcdef123456", "none"]))
def go(**given): pass
note = murli.FlagAnnotation(profileable=True)
murli.annotate(go, murli.Metadata(flag_annotations={"db": note}))
murli.enable(cli, name="tool")
cli()
"""
    argv = script(tmp_path, source)
    env = environment(MURLI_PROFILE_PATH=str(tmp_path / "profiles.json"))
    saved = run(argv, "profile", "set", "a", "db=postgres://u:pw-77@h/db", env=env)
    shown = run(argv, "profile", "show", "a", env=env)
    assert shown.document["result"]["flags"] == {"db": "postgres://u:[REDACTED]@h/db"}
    refused = run(argv, "go", "--kind", "nnoe", env=env)
    assert refused.error["valid_values"] == ["[REDACTED]", "none"]
    for secret in LEAKED:
        assert secret not in saved.out + shown.out + refused.err


BEFORE_COMMANDS = {
    "argparse": """
import argparse, murli
tool = argparse.ArgumentParser()
tool.add_argument("-A", "--app", help="the application\\nand more", metavar="NAME")
tool.add_argument("-b")
below = tool.add_subparsers().add_parser("on")
below.add_argument("--region")
below.add_subparsers().add_parser("purge")
murli.enable(tool)
tool.parse_args()
""",
    "click": """
import click, murli
@click.group()
@click.option("-A", "--app", help="the application\\nand more", metavar="NAME")
@click.option("-b")
def tool(**named): pass
@tool.group()
@click.option("--region")
def on(region): pass
@on.command()
def purge(): pass
murli.enable(tool)
tool()
""",
    "typer": """
import typer, murli
tool, on = typer.Typer(), typer.Typer()
@tool.callback()
def root(
    app: str = typer.Option("", "-A", "--app", help="the application\\nand more", metavar="NAME"),
    b: str = typer.Option("", "-b"),
): pass
@on.callback()
def group(region: str = ""): pass
@on.command()
def purge(): pass
tool.add_typer(on, name="on")
murli.enable(tool)
tool()
""",
}


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_options_before_the_command_are_described(tmp_path: Path, adapter: str) -> None:
    """The options of the tool itself, and of a group, are described, in an overview in brief."""
    argv = script(tmp_path, BEFORE_COMMANDS[adapter])
    whole, brief = (run(argv, "describe", *more).document for more in ([], ["--depth", "1"]))
    for document in (whole, brief):
        flags = flags_in(document)
        assert [(name, flag["short"]) for name, flag in flags.items()] == [("app", "A"), ("b", "b")]
        assert flags["b"]["spelling"] == "-b"
        Draft202012Validator(murli.load_schema("describe")).validate(document)
    assert flags_in(whole)["app"]["metavar"] == "NAME"
    assert flags_in(brief)["app"]["description"] == "the application"
    assert [*flags_in(whole["commands"][0])] == ["region"]
    assert brief["commands"] == [{"name": "on"}]


def test_marks_of_click_are_no_words(tmp_path: Path) -> None:
    """The mark before lines that click must not wrap is no part of a summary or a description."""
    argv = script(
        tmp_path,
        "import click, murli\n"
        "@click.command()\n@click.option('--x', help='\\b\\none\\ntwo')\n"
        "def tool(x):\n    '''\\b\n    Art\n    Art\n    '''\n"
        "murli.enable(tool)\ntool()\n",
    )
    document = run(argv, "describe").document
    assert (document["summary"], flags_in(document)["x"]["description"]) == ("Art", "one\ntwo")


TAKES_MANY = {
    "click": """
import click, murli
@click.group(invoke_without_command=True)
@click.option("--near", nargs=2, type=int)
@click.option("-v", "--verbose", count=True)
@click.option("--tag", multiple=True)
def cli(**given): "Look."
@cli.command()
def show(): "Show."
murli.enable(cli, name="look")
cli()
""",
    "argparse": """
import argparse, murli
def look(args): "Look."
p = argparse.ArgumentParser("look", description="Look.")
p.add_argument("--near", nargs=2, type=int)
p.add_argument("-v", "--verbose", action="count")
p.add_argument("--tag", action="append")
p.set_defaults(func=look)
p.add_subparsers().add_parser("show", help="Show.").set_defaults(func=look)
murli.enable(p, name="look")
murli.parse(p).func
""",
}


@pytest.mark.parametrize("adapter", ["click", "argparse"])
def test_what_takes_several_words(tmp_path: Path, adapter: str) -> None:
    """`values` says how many words an option takes, and which is counted, where no type does."""
    document = run(script(tmp_path, TAKES_MANY[adapter]), "describe").document
    flags = {each["name"]: each.get("values") for each in document["flags"]}
    assert flags == {"near": 2, "verbose": 0, "tag": None}
    # Whether a parser of argparse does anything without a command, nobody knows.
    assert document.get("runs") == (True if adapter == "click" else None)


def test_one_command_says_when_to_use_it(tmp_path: Path) -> None:
    """A tool that is one command is described with all that was declared about it."""
    words = script(
        tmp_path,
        "import click, murli\n@click.command()\n@murli.about(when_to_use='Now.', "
        "agent_description='Looks.', mutating=False)\ndef cli(): 'Look.'\n"
        "murli.enable(cli, name='look')\ncli()\n",
    )
    document = run(words, "describe").document
    assert (document["when_to_use"], document["agent_description"]) == ("Now.", "Looks.")
    (tool,) = run(words, "describe", "--export", "mcp").document
    assert tool["name"] == "look"
    assert tool["description"] == "Looks.\nWhen to use: Now.\nEffects: only reads."


# Attributes of options and arguments by which descriptions differ, each with two values.
VARIED: list[dict[str, Any]] = [
    *({"required": value} for value in (True, False)),
    *({"nargs": value} for value in (1, 2)),
    *({"multiple": value} for value in (True, False)),
    *({"default": value} for value in (1, True, 1.0, "1", None)),
    *({"metavar": value} for value in ("THIS", "THAT")),
    *({"envvar": value} for value in ("ONE", ["ONE", "TWO"])),
    *({"help": value} for value in ("One.", "Other.")),
    *({"is_flag": value} for value in (True, False)),
    *({"count": value} for value in (True, False)),
    *({"hide_input": value} for value in (True, False)),
    {"allow_from_autoenv": False},
    *({"type": click.Choice([value])} for value in ("a", "b")),
    *({"type": click.IntRange(0, value)} for value in (3, 4)),
    *({"type": click.DateTime([value])} for value in ("%Y", "%H")),
    *({"type": value} for value in (int, str, float, click.Path(), click.UUID)),
    {"type": (int, str), "nargs": 2},
]


def test_parameters_are_described_alike_only_where_they_are() -> None:
    """A parameter is described among many that differ in one thing as it is described alone."""
    made = [*({**each} for each in VARIED), {}]
    params: list[click.Parameter] = [click.Option(["--value"], **each) for each in made]
    known = ("required", "nargs", "metavar", "envvar", "type")
    params += [click.Argument(["value"], **each) for each in made if each.keys() <= {*known}]
    commands = [click.Command(f"c{at}", params=[each]) for at, each in enumerate(params)]
    group = click.Group("all", commands, context_settings={"auto_envvar_prefix": "ALL"})
    whole = walk(CommandLevel(group, "all"), ("all",), declared)
    assert len(whole.commands) == len(commands)
    for command, together in zip(commands, whole.commands, strict=True):
        alone = click.Group("all", [command], context_settings={"auto_envvar_prefix": "ALL"})
        (only,) = walk(CommandLevel(alone, "all"), ("all",), declared).commands
        assert (only.flags, only.arguments) == (together.flags, together.arguments)


def test_what_is_added_to_choices_on_the_way_is_described() -> None:
    """Commands that share choices are described with those that there are when they are read."""
    choices = click.Choice(["json"])

    class Plugins(click.Group):
        def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
            if name == "plugin":
                choices.choices = (*choices.choices, "yaml")
            return super().get_command(ctx, name)

    names = ("before", "plugin", "after")
    made = [click.Command(each, params=[click.Option(["--as"], type=choices)]) for each in names]
    group = Plugins("tool", made)
    found = walk(CommandLevel(group, "tool"), ("tool",), declared).commands
    read = [list(each.flags[0].choices) for each in found]
    assert read == [["json"], ["json", "yaml"], ["json", "yaml"]]


def test_a_computed_default_of_an_argument_is_not_read() -> None:
    """What an argument's class computes is not asked for by who describes it."""

    class Lazy(click.Argument):
        @property
        def default(self) -> Any:
            raise RuntimeError("no network")

        @default.setter
        def default(self, value: Any) -> None:
            pass

    command = click.Command("lazy", params=[Lazy(["what"], required=True)])
    assert walk(CommandLevel(command, "lazy"), ("lazy",), declared).arguments[0].name == "what"
