"""One call tells how to call every command, and what may come of it."""

from __future__ import annotations

import copy
import json
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import murli
from harness import ADAPTERS, environment, run, run_at_terminal, script, tool
from murli.commands.manifest import versions
from murli.schemas import load_schema

pytestmark = [pytest.mark.adapters("argparse", "click"), pytest.mark.warm]

REVISIONS = ["response", "agent-spec-1.6", "agent-spec-2"]
OURS = {"describe", "doctor", "exec", "manifest", "profile", "profile.delete", "profile.list"}
OURS |= {"profile.save", "profile.show", "profile.use"}
ARG_ERROR = {"response": 3, "agent-spec-1.6": 2, "agent-spec-2": 2}
TOOLS = {f"shop-{adapter}": tool(f"shop_{adapter}") for adapter in ADAPTERS} | {
    f"riffle-{name}": [sys.executable, "-m", module]
    for name, module in (
        ("argparse", "riffle"),
        ("click", "riffle.cli_click"),
        ("typer", "riffle.cli_typer"),
    )
}
NEWEST = {"MURLI_CONTRACT": "agent-spec-2"}
# Every framework, and every revision, without every pair of them.
PAIRS = [(f"shop-{adapter}", "agent-spec-2") for adapter in ADAPTERS]
PAIRS += [("shop-click", contract) for contract in REVISIONS[:2]]


def ask(argv: list[str], *words: str, contract: str = "agent-spec-2", **changes: str) -> Any:
    """Give the envelope that answers a call in *contract*."""
    return run(argv, *words, env=environment(MURLI_CONTRACT=contract, **changes)).document


@cache
def manifest_of(name: str, contract: str = "agent-spec-2") -> Any:
    """Give the manifest of one of the tools; nobody may change it."""
    return ask(TOOLS[name], "manifest", contract=contract)["data"]


@pytest.fixture(params=ADAPTERS)
def shop(request: pytest.FixtureRequest) -> str:
    """The name of the shop, on each framework in turn."""
    return f"shop-{request.param}"


# -- the document ------------------------------------------------------------------------------


@pytest.mark.parametrize("contract", REVISIONS)
@pytest.mark.parametrize("name", TOOLS)
def test_a_manifest_fits_its_schema(name: str, contract: str) -> None:
    """Every manifest has the closed shape of its revision."""
    version = "3" if contract == "agent-spec-2" else "1"
    schema = Draft202012Validator(load_schema(f"manifest-{version}"))
    document = manifest_of(name, contract)
    assert [error.message for error in schema.iter_errors(document)] == []
    if version == "1":
        assert document["schema_version"] == "1.0"


@pytest.mark.parametrize("contract", REVISIONS)
def test_a_schema_is_closed(contract: str) -> None:
    """A key that a revision does not know is refused, wherever it stands."""
    schema = Draft202012Validator(
        load_schema("manifest-3" if contract == "agent-spec-2" else "manifest-1")
    )
    places = ["", "commands/find", "commands/find/flags/sort", "commands/find/examples/0"]
    places += ["commands/stock.add/exit_codes/81"]
    places += ["commands/move/positionals/0", "flags/format"] if contract[-1] == "2" else []
    for place in places:
        document = copy.deepcopy(manifest_of("shop-click", contract))
        found: Any = document
        for step in filter(None, place.split("/")):
            found = found[int(step)] if isinstance(found, list) else found[step]
        found["extra"] = 1
        assert not schema.is_valid(document), place


@pytest.mark.parametrize("contract", REVISIONS)
def test_every_command_is_in_it(shop: str, contract: str) -> None:
    """Groups, ours and the tool itself are entries by path; what is hidden is not there at all."""
    commands = manifest_of(shop, contract)["commands"]
    own = {"shop", "find", "move", "plain"}
    own |= {"stock", "stock.count", "stock.add", "stock.purge"}
    assert commands.keys() == own | OURS
    assert commands["stock"]["subcommands"] == ["stock.add", "stock.count", "stock.purge"]
    assert commands["shop"]["subcommands"] == ["find", "move", "plain", "stock"]
    assert "secret" not in json.dumps([*commands, commands["shop"]])


def test_a_tool_without_commands_has_its_own_name(tmp_path: Path) -> None:
    """A tool that is one command is one entry under its name, beside those of ours."""
    source = (
        "import argparse, murli\n"
        "p = argparse.ArgumentParser(prog='greet', description='Greet somebody.')\n"
        "p.add_argument('who'); p.add_argument('--timeout', type=int, default=7)\n"
        "murli.enable(p); p.parse_args()\n"
    )
    argv = script(tmp_path, source, "greet.py")
    document = ask(argv, "manifest")["data"]
    assert document["commands"].keys() == {"greet", "describe", "doctor", "manifest"}
    assert document["framework_version"] == murli.__version__
    assert ask(argv, "manifest", contract="response")["data"]["commands"]["greet"] == {
        "description": "Greet somebody. Call: greet WHO",
        "danger_level": "mutating",
        # Its own, though it has the name of one of ours.
        "flags": {
            "timeout": {"type": "integer", "required": False, "description": "", "default": 7}
        },
        "exit_codes": ask(argv, "--schema", contract="response")["data"]["exit_codes"],
    }


def test_a_command_with_the_name_of_its_tool(tmp_path: Path) -> None:
    """Where a command is called like its tool, that key is the command's."""
    source = (
        "import argparse, murli\n"
        "p = argparse.ArgumentParser(prog='deploy'); p.add_argument('--all', action='store_true')\n"
        "p.add_subparsers().add_parser('deploy', help='Deploy'); murli.enable(p); p.parse_args()\n"
    )
    commands = ask(script(tmp_path, source), "manifest")["data"]["commands"]
    assert commands["deploy"]["description"] == "Deploy"
    assert "all" in commands[""]["flags"]


def test_danger_is_never_taken_lightly(shop: str) -> None:
    """The declared level stands; nobody's word is mutating, a group by itself harmless."""
    commands = manifest_of(shop)["commands"]
    found = {key: entry["danger_level"] for key, entry in commands.items()}
    assert {key: found[key] for key in ("find", "stock", "plain", "stock.add", "stock.purge")} == {
        "find": "safe",
        "stock": "safe",
        "plain": "mutating",
        "stock.add": "mutating",
        "stock.purge": "destructive",
    }
    assert {key for key in OURS if found[key] != "safe"} == {
        "exec",
        "profile.delete",
        "profile.save",
        "profile.use",
    }
    builtin = {key for key, entry in commands.items() if entry.get("builtin")}
    assert (builtin, commands["find"]["idempotent"]) == (OURS, True)


@pytest.mark.parametrize("contract", REVISIONS)
def test_flags_are_told_in_full(shop: str, contract: str) -> None:
    """Type, default, accepted values, letter and range of a flag are there, a secret is not."""
    flags = manifest_of(shop, contract)["commands"]["find"]["flags"]
    assert {key: flags[key]["type"] for key in ("ratio", "tag", "near", "color", "loud", "x")} == {
        "ratio": "number",
        "tag": "array",
        "near": "array",
        "color": "boolean",
        "loud": "boolean",
        "x": "boolean",
    }
    assert (flags["ratio"]["default"], flags["color"]["default"]) == (0.5, True)
    assert not any("default" in flags[key] for key in ("tag", "loud", "token", "level"))
    assert (flags["sort"]["type"], flags["sort"]["default"]) == ("enum", "name")
    assert flags["level"]["required"]
    assert [str(value) for value in flags["level"]["enum_values"][:2]] == ["1", "2"]
    assert (flags["loud"]["short"], flags["x"]["short"]) == ("l", "x")
    assert flags["x"]["description"] == "only so (written -x)"
    assert flags["no-color"]["description"] == "turn --color off"
    assert "--order is deprecated since 3.0; use --sort instead" in flags["order"]["description"]
    assert "s3cr3t" not in json.dumps(manifest_of(shop, contract))


@pytest.mark.parametrize("contract", REVISIONS)
def test_the_default_limit_is_visible(shop: str, contract: str) -> None:
    """A command that lists takes --limit and --cursor, and says how many it gives by itself."""
    document = manifest_of(shop, contract)
    find, move = (document["commands"][name]["flags"] for name in ("find", "move"))
    if contract == "agent-spec-2":
        # Every command takes them, so they are told once.
        assert document["flags"]["limit"]["default"] == 20
        assert {"limit", "cursor"}.isdisjoint(find)
        env = environment(MURLI_CONTRACT=contract)
        schema = run(TOOLS[shop], "find", "--schema", env=env).document["data"]
        assert schema["flags"] == find
        find = schema["root_flags"]
    assert (find["limit"]["default"], "cursor" in find) == (20, True)
    assert "limit" not in move


@pytest.mark.parametrize("contract", REVISIONS)
def test_our_flags_are_where_they_mean_something(shop: str, contract: str) -> None:
    """What changes something takes a key, what destroys takes a confirmation and a dry run."""
    commands = manifest_of(shop, contract)["commands"]
    assert commands["stock.purge"]["flags"].keys() >= {"dry-run", "confirm-destructive"}
    assert "idempotency-key" in commands["stock.add"]["flags"]
    assert "idempotency-key" not in commands["find"]["flags"]
    assert commands["find"]["flags"].keys() >= {"token-from-env", "token-from-file", "stream"}


def test_what_every_command_takes_is_told_once(shop: str) -> None:
    """The newest shape has the global flags, the variables and the secrets at its root."""
    document = manifest_of(shop)
    assert document["flags"]["format"]["enum_values"][:2] == ["json", "jsonl"]
    assert document["flags"].keys() >= {"fields", "timeout", "schema", "output-schema", "quiet"}
    assert document["secret_env_vars"] == ["SHOP_TOKEN"]
    assert document["dependencies"][0]["name"] == "git"
    variables = {variable["name"] for variable in document["env_vars"]}
    assert variables >= {"MURLI_CONTRACT", "SHOP_FORMAT", "SHOP_TIMEOUT"}
    find = document["commands"]["find"]
    assert find["flags"]["token"]["env_vars"] == [{"name": "SHOP_TOKEN"}]
    assert "format" not in find["flags"]


def test_conditions_and_needs_are_told(shop: str) -> None:
    """Rules, exclusions, scopes, steps and traits stand in the entry of their command."""
    commands = manifest_of(shop)["commands"]
    assert {"if_flag": "ratio", "prohibited": ["near"]} in commands["find"]["requires"]
    add = commands["stock.add"]
    assert add["requires"] == [
        {"if_flag": "mode", "if_value": "remote", "then_required": ["host"]},
        {"any_of": ["host", "size"]},
    ]
    assert (add["steps"], add["required_scopes"]) == (["reserve", "write"], ["stock:write"])
    assert (add["has_network_io"], add["idempotent"]) == (True, False)
    assert commands["find"]["required_scopes"] == []
    assert commands["shop"]["option_placement"] == "strict"
    assert commands["find"]["flags"]["tag"]["pattern"] == "^[a-z]+$"
    assert (
        "not with --near"
        in (manifest_of(shop, "response")["commands"]["find"]["flags"]["ratio"]["description"])
    )


def test_positional_arguments_are_told(shop: str) -> None:
    """Arguments have their order, types and numbers; the first shape writes them out."""
    where, point, times = manifest_of(shop)["commands"]["move"]["positionals"]
    assert (where["type"], where["enum_values"]) == ("enum", ["shelf", "bin"])
    assert (point["type"], point["variadic"], point["description"][-10:]) == (
        "integer",
        True,
        "(2 values)",
    )
    assert (times["required"], "variadic" in times) == (False, False)
    old = manifest_of(shop, "agent-spec-1.6")["commands"]
    assert old["move"]["description"] == (
        "Move a thing. Call: shop move {shelf,bin} POINT POINT [TIMES]"
    )
    assert old["stock.count"]["description"] == "Count the stock. Call: shop stock count"


def test_aliases_are_told() -> None:
    """The other names of a command stand in its entry, and find it."""
    shop = TOOLS["shop-argparse"]
    assert manifest_of("shop-argparse")["commands"]["move"]["aliases"] == ["shift"]
    assert [*ask(shop, "manifest", "shift")["data"]["commands"]] == ["shop", "move"]


def test_examples_can_be_run(shop: str) -> None:
    """Examples are calls to imitate: one that is meant to fail is left out."""
    assert manifest_of(shop)["commands"]["find"]["examples"] == [
        {"description": "Find tea", "command": "shop --region eu find tea --level 1"}
    ]


def test_a_deprecated_command_says_so(shop: str) -> None:
    """What should no longer be called says what to call instead, and is still there."""
    found = manifest_of(shop, "response")["commands"]["stock.purge"]["description"]
    assert found == (
        "Empty the stock. It is deprecated since 2.0; use shop stock add instead. "
        "Call: shop stock purge"
    )


# -- how commands end --------------------------------------------------------------------------


def codes_of(document: Any, key: str) -> dict[str, Any]:
    """Give all exit codes of a command, as a reader puts them together."""
    return {**document.get("exit_codes", {}), **document["commands"][key]["exit_codes"]}


@pytest.mark.parametrize("contract", REVISIONS)
def test_exit_codes_have_the_numbers_of_their_revision(shop: str, contract: str) -> None:
    """Declared codes, a command's own among them, appear under the contract's numbers."""
    document = manifest_of(shop, contract)
    add = codes_of(document, "stock.add")
    assert add["0"]["description"] == "The item is in stock."
    assert (add["81"]["name"], add["6"]["side_effects"]) == ("SHELF_FULL", "none")
    assert "nothing was done" in add[str(ARG_ERROR[contract])]["description"]
    assert ("error_codes" in add["6"]) == (contract == "agent-spec-2")
    assert codes_of(document, "find")["10"]["retryable"] is (contract != "agent-spec-2")
    assert codes_of(document, "find")["10"]["side_effects"] == "none"
    assert codes_of(document, "plain")["10"]["retryable"] is False
    assert add[str(ARG_ERROR[contract])]["retryable"] is (contract == "response")


def test_what_is_shared_is_told_once(shop: str) -> None:
    """The newest shape has one table, signals included; commands only say what is otherwise."""
    document = manifest_of(shop)
    table = document["exit_codes"]
    assert table.keys() >= {"0", "1", "2", "130", "143"}
    assert (table["130"]["retryable"], table["143"]["side_effects"]) == (False, "partial")
    commands = document["commands"]
    assert commands["stock"]["exit_codes"] == commands["manifest"]["exit_codes"] == {}
    assert commands["stock.add"]["exit_codes"].keys() == {"0", "6", "81"}
    for entry in commands.values():
        assert not any(table.get(code) == own for code, own in entry["exit_codes"].items())


@pytest.mark.parametrize("contract", REVISIONS[:2])
def test_the_first_shape_says_it_for_each(shop: str, contract: str) -> None:
    """Without a shared table each command has a map of its own that knows a success."""
    for entry in manifest_of(shop, contract)["commands"].values():
        assert entry["exit_codes"].keys() >= {"0", str(ARG_ERROR[contract])}


# -- calling from it ---------------------------------------------------------------------------


def words_for(document: Any, key: str, *, every_flag: bool = False) -> Iterator[str]:
    """Give the words of a call, made from the manifest and nothing else."""
    commands = document["commands"]
    names = [] if key == "shop" else key.split(".")
    for depth in range(len(names) + 1):
        path = ".".join(names[:depth]) or "shop"
        if depth:
            yield names[depth - 1]
        if path in commands:
            yield from flags_for(commands[path], every=every_flag and path == key)
    yield from arguments_for(commands[key])


def flags_for(entry: Any, *, every: bool) -> Iterator[str]:
    left_out = {name for rule in entry.get("requires", ()) for name in rule.get("prohibited", ())}
    left_out |= {"cursor", "stream", "token", "token-from-file", "until"}
    for name, flag in entry["flags"].items():
        noted = re.search(r"not with (.*?)\)", flag["description"])
        left_out |= {other.lstrip("-") for other in noted.group(1).split(", ")} if noted else set()
        if not flag["required"] and (not every or name in left_out):
            continue
        yield f"-{flag['short']}" if "written -" in flag["description"] else f"--{name}"
        if flag["type"] == "boolean":
            continue
        several = re.search(r"takes (\d+) values", flag["description"])
        for _ in range(int(several.group(1)) if several else 1):
            yield value_for(flag)


def value_for(entry: Any) -> str:
    if "enum_values" in entry:
        return str(entry["enum_values"][-1])
    if entry["type"] == "array":
        told = entry.get("schema", {}).get("items", {}).get("type") or entry["description"]
        return "7" if "integer" in told else "word"
    return {"integer": "7", "number": "0.25", "string": "word"}[entry["type"]]


def arguments_for(entry: Any) -> Iterator[str]:
    if "positionals" not in entry:
        _, _, call = entry["description"].partition("Call: ")
        for word in re.findall(r"\[.*?\]|\{.*?\}|[A-Z]+", call):
            if word.startswith("{"):
                yield word.strip("{}").split(",")[0]
            elif not word.startswith("["):
                yield "7"
    for argument in entry.get("positionals", ()):
        if argument["required"]:
            several = re.search(r"\((\d+) values\)", argument["description"])
            for _ in range(int(several.group(1)) if several else 1):
                yield value_for(argument)


@pytest.mark.adapters("argparse")
@pytest.mark.parametrize(
    ("name", "contract"),
    [*PAIRS, *((name, "agent-spec-2") for name in TOOLS if name.startswith("riffle"))],
)
def test_read_only_commands_can_be_called(name: str, contract: str, tmp_path: Path) -> None:
    """Who knows nothing but the manifest can call every read-only command of the tool, and ours."""
    document = manifest_of(name, contract)
    for key, entry in document["commands"].items():
        if entry["danger_level"] != "safe" or "subcommands" in entry or key == "profile.show":
            continue
        words = [*words_for(document, key)]
        done = run(
            TOOLS[name], *words, env=environment(MURLI_CONTRACT=contract, HOME=str(tmp_path))
        )
        assert done.code != ARG_ERROR[contract], (words, done.out)


@pytest.mark.parametrize(("shop", "contract"), PAIRS)
def test_every_flag_can_be_given(shop: str, contract: str) -> None:
    """A call with every flag of the manifest that goes together is understood."""
    words = [*words_for(manifest_of(shop, contract), "find", every_flag=True)]
    done = run(TOOLS[shop], *words, env=environment(MURLI_CONTRACT=contract, word="t0k3n"))
    assert (done.code, done.document["ok"]) == (0, True), (words, done.out)
    assert {"--no-color", "-x", "--near", "--tag"} - {*words} <= {"--near"}


def test_no_command_repeats_a_flag_of_the_root(tmp_path: Path) -> None:
    """A flag stands at the root or on commands; a tool's own option takes its name off the root."""
    for name in TOOLS:
        document = manifest_of(name)
        for key, entry in document["commands"].items():
            assert document["flags"].keys().isdisjoint(entry["flags"]), (name, key)
    argv = script(
        tmp_path,
        "import argparse, murli\n"
        "p = argparse.ArgumentParser(prog='t')\n"
        "c = p.add_subparsers(dest='c', required=True)\n"
        "c.add_parser('top').add_argument('--limit', help='how hot')\n"
        "c.add_parser('ls')\n"
        "murli.enable(p); p.parse_args()\n",
    )
    env = environment(MURLI_CONTRACT="agent-spec-2")
    document = run(argv, "manifest", env=env).document["data"]
    assert ("limit" in document["flags"], "cursor" in document["flags"]) == (False, True)
    flags = {key: entry["flags"] for key, entry in document["commands"].items()}
    assert flags["top"]["limit"]["description"] == "how hot"
    assert flags["ls"]["limit"]["type"] == "integer"


SINCE = [
    *((versions.ROOT[name], {name: []}) for name in versions.ROOT),
    *(
        (minor, {"commands": {"c": {name: {} if name == "stdin" else "x"}}})
        for name, minor in versions.COMMAND.items()
    ),
    *(
        (minor, {place: {"x": {"flags": {"f": flag}}} if place == "commands" else {"f": flag}})
        for place in ("commands", "flags")
        for minor, flag in [
            *((minor, {name: {}}) for name, minor in versions.FLAG.items()),
            *((minor, {"type": kind}) for kind, minor in versions.FLAG_TYPES.items()),
            (versions.INTEGER_VALUES, {"type": "integer", "enum_values": [1]}),
            (0, {"type": "enum", "enum_values": ["1"]}),
        ]
    ),
    *(
        (minor, {"commands": {"c": {"requires": [{name: ["a", "b"]}]}}})
        for name, minor in versions.RULE.items()
    ),
    *(
        (minor, {"commands": {"c": {"output_file": kind}}})
        for kind, minor in versions.OUTPUT_FILES.items()
    ),
    *(
        (minor, {"commands": {"c": {"filesystem_side_effects": [{"path": "x", "type": kind}]}}})
        for kind, minor in versions.SIDE_EFFECTS.items()
    ),
    (19, {"exit_codes": {"2": {"error_codes": []}}}),
    (19, {"commands": {"c": {"exit_codes": {"2": {"error_codes": []}}}}}),
    (18, {"commands": {"c": {"positionals": [{"type": "integer", "enum_values": [1]}]}}}),
    (0, {"flags": {}, "exit_codes": {}, "commands": {"c": {"flags": {}, "positionals": []}}}),
]


@pytest.mark.parametrize(("minor", "document"), SINCE)
def test_a_manifest_says_the_lowest_version(minor: int, document: dict[str, Any]) -> None:
    """The version is that of the newest field in use, and no later one."""
    assert versions.lowest_version(document) == f"3.{minor}"


def test_the_version_of_a_tool(shop: str) -> None:
    """What a tool declares decides on the version its manifest has."""
    document = manifest_of(shop)
    assert document["schema_version"] == versions.lowest_version(document) == "3.19"


# -- the etag ----------------------------------------------------------------------------------


def test_the_etag_is_that_of_the_registrations(tmp_path: Path) -> None:
    """Another process, directory and environment give the same etag; another command does not."""
    argv = TOOLS["shop-argparse"]
    first = ask(argv, "manifest", PYTHONHASHSEED="1")["data"]
    env = environment(MURLI_CONTRACT="agent-spec-2", PYTHONHASHSEED="2", SHOP_TOKEN="t" * 20)
    second = run(argv, "manifest", env=env, cwd=tmp_path).document["data"]
    assert first["etag"] == second["etag"]
    source = (
        "import argparse, murli, os\n"
        "p = argparse.ArgumentParser(prog='t'); p.add_argument('--at', default=os.getcwd())\n"
        "s = p.add_subparsers(); s.add_parser('one'){more}\n"
        "murli.enable(p, tool_version='{version}'); p.parse_args()\n"
    )

    def etag(more: str = "", version: str = "1", cwd: Path | None = None) -> Any:
        argv = script(tmp_path, source.format(more=more, version=version))
        return run(argv, "manifest", env=environment(**NEWEST), cwd=cwd).document["data"]["etag"]

    assert etag() == etag(version="2", cwd=tmp_path)
    assert len({etag(), etag("; s.add_parser('two')"), etag(".add_argument('--x')")}) == 3


@pytest.mark.parametrize("contract", REVISIONS)
def test_a_manifest_that_is_known_is_not_sent_again(contract: str) -> None:
    """With the etag that holds there is no data, only the word that it does."""
    argv, etag = TOOLS["shop-click"], manifest_of("shop-click", contract)["etag"]
    document = ask(argv, "manifest", "--etag", etag, contract=contract)
    assert (document["ok"], document["data"], document["error"]) == (True, None, None)
    assert document["meta"]["not_modified"] is True
    other = ask(argv, "manifest", "--etag", "other", contract=contract)
    assert (other["data"]["etag"], "not_modified" in other["meta"]) == (etag, False)


# -- a part of it ------------------------------------------------------------------------------


@pytest.mark.parametrize("path", [["stock"], ["stock", "add"], ["stock.add"], ["profile"]])
def test_a_path_narrows_it(path: list[str]) -> None:
    """A path, with spaces or dots, gives that command and those below, and what they need."""
    shop = "shop-click"
    commands = ask(TOOLS[shop], "manifest", *path)["data"]["commands"]
    key = ".".join(path)
    wanted = {each for each in manifest_of(shop)["commands"] if f"{each}.".startswith(f"{key}.")}
    # Without its required flag nothing below the tool can be called.
    assert commands.keys() == wanted | {"shop"}


@pytest.mark.parametrize("words", [["none"], ["stock", "none"], ["secret"], ["--none"]])
def test_what_is_not_there_is_refused(words: list[str]) -> None:
    """A command or option that does not exist is a mistake of the caller."""
    done = run(TOOLS["shop-click"], "manifest", *words, env=environment(**NEWEST))
    assert (done.code, done.document["error"]["phase"]) == (2, "validation")


def test_help_tells_how_to_ask() -> None:
    """Manifest --help is text on stderr, and names the etag."""
    done = run(TOOLS["shop-click"], "manifest", "--help", env=environment(**NEWEST))
    assert (done.code, done.document["meta"]["help"]) == (0, True)
    assert "--etag ETAG" in done.err


def test_a_person_can_read_it() -> None:
    """At a terminal the manifest is indented JSON."""
    done = run_at_terminal(TOOLS["shop-click"], "manifest", "stock", env=environment(**NEWEST))
    assert json.loads(done.out)["commands"].keys() >= {"stock", "stock.add"}


def test_a_person_can_read_the_schema_of_the_output() -> None:
    """At a terminal --output-schema is the schema itself."""
    words = ["stock", "count", "--output-schema"]
    done = run_at_terminal(TOOLS["shop-click"], *words, env=environment(**NEWEST))
    assert json.loads(done.out)["required"] == ["value"]


def test_it_belongs_to_the_family() -> None:
    """Under the murli contract there is no such command."""
    assert run(TOOLS["shop-click"], "manifest").code == 1


# -- one command -------------------------------------------------------------------------------


@pytest.mark.parametrize(("shop", "contract"), PAIRS)
def test_a_schema_is_the_entry_and_more(shop: str, contract: str) -> None:
    """CMD --schema gives the entry of the manifest, all exit codes, and both JSON Schemas."""
    document = manifest_of(shop, contract)
    data = ask(TOOLS[shop], "stock", "add", "--schema", contract=contract)["data"]
    entry = document["commands"]["stock.add"]
    assert {**data, **entry} == {**data, "exit_codes": entry["exit_codes"]}
    assert (data["name"], data["command"]) == ("add", "shop stock add")
    assert data["exit_codes"].keys() >= {"0", "6", "81", str(ARG_ERROR[contract])}
    assert data["required_scopes"] == ["stock:write"]
    assert [each["name"] for each in data["positionals"]] == ["name"]
    schema = data["input_schema"]
    Draft202012Validator.check_schema(schema)
    valid = Draft202012Validator(schema).is_valid
    assert valid({"name": "tea", "mode": "local", "size": 1})
    assert not any(map(valid, ({}, {"name": "x", "mode": "y"}, {"name": "x", "size": "y"})))
    assert "effect" in data["output_schema"]["properties"]


def test_a_schema_tells_of_deprecation() -> None:
    """Since when a command is deprecated, and what to call instead, stands in its schema."""
    data = ask(TOOLS["shop-click"], "stock", "purge", "--schema")["data"]
    assert (data["deprecated"], data["deprecated_in"]) == (True, "2.0")
    assert data["replacement"] == "shop stock add"


def test_a_secret_is_in_no_schema(shop: str) -> None:
    """The input schema knows a secret flag and not its default."""
    document = ask(TOOLS[shop], "find", "--schema")
    assert document["data"]["input_schema"]["properties"]["token"]["writeOnly"] is True
    assert "s3cr3t" not in json.dumps(document)


@pytest.mark.parametrize(("shop", "contract"), PAIRS)
def test_the_schema_of_the_output(shop: str, contract: str) -> None:
    """--output-schema gives the schema of `data`, also where nothing else of the call is right."""

    def output(*words: str) -> Any:
        return ask(TOOLS[shop], *words, "--output-schema", contract=contract)["data"]

    find = output("find", "--level", "none", "--nonsense")
    assert (find["type"], find["items"]["required"]) == ("array", ["name", "size"])
    # What is neither an object nor an array is held by one in an envelope.
    assert output("move")["properties"] == {"text": {"type": "string"}}
    assert output("stock", "count")["properties"] == {"value": {"type": "integer"}}
    assert output("plain") == {}


def test_the_schema_of_ours() -> None:
    """--schema, --print-schema too, behind a command of ours describes that command."""
    found = [
        ask(TOOLS["shop-click"], *words, "--print-schema")["data"]["command"]
        for words in (["manifest"], ["profile", "set"])
    ]
    assert found == ["shop manifest", "shop profile save"]


def test_agents_md_is_stamped() -> None:
    """AGENTS.md starts with the version it was made from."""
    text = ask(TOOLS["shop-click"], "describe", "--agents-md")["data"]["text"]
    assert text.startswith("<!-- cli-version: 3.1.4 -->\n# AGENTS.md\n")
