"""A command that takes one thing, called for many: ``Metadata(batch=…)``."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from harness import Run, environment, run, run_at_terminal, script
from murli import AgentError, FlagAnnotation, Metadata, Traits, load_schema
from murli.client import Tool

pytestmark = pytest.mark.warm

CLICK = """
import click, murli, os, time

@click.group()
@click.option("--region", default="eu")
@click.pass_context
def cli(ctx, region):
    ctx.ensure_object(dict)["region"] = region

@cli.group()
def stock(): pass

@stock.command()
@click.argument("sku")
@click.option("--slow", type=float, default=0)
@click.pass_context
def show(ctx, sku, slow):
    if sku == "bad":
        raise murli.AgentError.not_found("no such sku", "look again")
    if sku == "dead":
        os._exit(7)
    time.sleep(slow if sku == "slow" else 0)
    return {"sku": sku, "region": ctx.obj["region"]}

@stock.command()
@click.option("-s", "--sku", type=int, required=True)
@click.option("-v", "--verbose", is_flag=True)
@click.argument("note", required=False)
def drop(sku, verbose, note):
    with open("dropped", "a") as file:
        file.write(f"{sku}\\n")
    return {"dropped": sku, "verbose": verbose, "note": note}

@stock.command("list")
@click.argument("sku")
def list_stock(sku):
    return [{"sku": sku, "n": n} for n in range(30)]

@stock.command()
@click.argument("place")
@click.argument("sku")
@click.argument("note", required=False)
def move(place, sku, note):
    return [place, sku, note]

@stock.command()
@click.argument("skus", nargs=-1)
def many(skus): return list(skus)

@stock.command()
@click.argument("sku")
def other(sku): return sku

READS = murli.Metadata(danger_level="safe", batch="sku")
murli.annotate(show, READS)
murli.annotate(list_stock, READS.merged_with(murli.Metadata(lists=True)))
murli.annotate(move, READS)
DROPS = murli.Metadata(danger_level="destructive", batch="sku", plan=lambda sku, **_: sku)
murli.annotate(drop, DROPS)
murli.annotate(many, murli.Metadata(batch="skus"))
murli.annotate(other, murli.Metadata(batch="skuu"))
murli.enable(cli, name="shop")
if __name__ == "__main__":
    cli()
"""
TYPER = """
import murli, typer
app = typer.Typer()
stock = typer.Typer()
app.add_typer(stock, name="stock")

@stock.command()
def show(sku: str):
    if sku == "bad":
        raise murli.AgentError.not_found("no such sku", "look again")
    return {"sku": sku}

@stock.command()
def price(sku: str = typer.Option(...), currency: str = "eur"):
    return [sku, currency]

for command in (show, price):
    murli.annotate(command, murli.Metadata(danger_level="safe", batch="sku"))
murli.enable(app, name="shop")
app()
"""
ARGPARSE = """
import argparse, json, murli
parser = argparse.ArgumentParser(prog="shop")
levels = parser.add_subparsers(dest="group", required=True)
stock = levels.add_parser("stock").add_subparsers(dest="command", required=True)
show = stock.add_parser("show")
show.add_argument("sku")
price = stock.add_parser("price")
price.add_argument("--sku", required=True)
price.add_argument("--currency", default="eur")
for command in (show, price):
    murli.annotate(command, murli.Metadata(danger_level="safe", batch="sku"))

def work(args):
    if args.sku == "bad":
        raise murli.AgentError.not_found("no such sku", "look again")
    return {"sku": args.sku} if args.command == "show" else [args.sku, args.currency]

"""
PRINTING = f"""{ARGPARSE}
murli.enable(parser)
print(json.dumps(work(parser.parse_args())))
"""
SESSION = f"""{ARGPARSE}
with murli.session(parser) as (args, writer):
    writer.write_success("", work(args))
"""
SPEC_2 = environment(MURLI_CONTRACT="agent-spec-2")


@pytest.fixture
def shop(tmp_path: Path) -> list[str]:
    return script(tmp_path, CLICK)


def results(done: Run) -> list[Any]:
    document = done.document
    payload = document.get("result") or document.get("data") or document["plan"]
    return list(payload["results"])


@pytest.mark.parametrize("source", [CLICK, TYPER, PRINTING, SESSION])
def test_an_argument_takes_several(tmp_path: Path, source: str) -> None:
    """Each value has an item, a failure its own error; some that failed make the answer partial."""
    argv = script(tmp_path, source)
    done = run(argv, "stock", "show", "A", "bad", "C")
    assert (done.code, done.err, done.document["status"]) == (3, "", "partial")
    assert done.document["message"] == "2 of 3 items done."
    assert done.document["result"]["summary"] == {"total": 3, "succeeded": 2, "failed": 1}
    first, failed, last = results(done)
    assert (first["ok"], first["item"], first["result"]["sku"]) == (True, "A", "A")
    assert (last["ok"], last["item"], last["result"]["sku"]) == (True, "C", "C")
    assert (failed["ok"], failed["item"]) == (False, "bad")
    assert (failed["error"]["error"], failed["error"]["suggestion"]) == ("not_found", "look again")
    # One value is answered as ever.
    assert run(argv, "stock", "show", "A").document["result"]["sku"] == "A"
    assert run(argv, "stock", "show", "bad").code == 5


@pytest.mark.parametrize("source", [TYPER, PRINTING, SESSION])
def test_an_option_takes_several(tmp_path: Path, source: str) -> None:
    """An option that is given several times means as many calls, whatever else was given."""
    argv = script(tmp_path, source)
    done = run(argv, "stock", "price", "--sku", "A", "--currency=usd", "--sku=B")
    assert (done.code, [each["item"] for each in results(done)]) == (0, ["A", "B"])
    assert [each["result"] for each in results(done)] == [["A", "usd"], ["B", "usd"]]


@pytest.mark.parametrize("source", [CLICK, PRINTING])
def test_in_other_formats(tmp_path: Path, source: str) -> None:
    """Text and TOON are formats of the answer for all values, and have every item."""
    argv = script(tmp_path, source)
    done = run(argv, "stock", "show", "A", "bad", "--output", "text")
    assert (done.code, done.err) == (3, "")
    assert done.out.startswith("1 of 2 items done.\n")
    assert {"A", "bad"} <= set(done.out.split()) and "no such sku" in done.out
    done = run(argv, "--output", "toon", "stock", "show", "A", "C")
    assert (done.code, done.err) == (0, "")
    assert "results[2]" in done.out and "message: 2 of 2 items done." in done.out


def test_values_and_what_stands_beside_them(shop: list[str]) -> None:
    """Other arguments keep their words; values behind -- may have dashes, those before it not."""
    move = ("stock", "move", "here")
    assert run(shop, *move, "A", "note").document["result"] == ["here", "A", "note"]
    done = run(shop, "--region", "us", *move, "A", "B", "note", "--output", "ndjson")
    assert [each["result"] for each in results(done)] == [
        ["here", "A", "note"],
        ["here", "B", "note"],
    ]
    done = run(shop, "--region=us", "stock", "show", "--", "-A", "-B")
    assert [each["result"]["sku"] for each in results(done)] == ["-A", "-B"]
    assert {each["result"]["region"] for each in results(done)} == {"us"}
    assert run(shop, "stock", "show", "A", "-B").error["error"] == "flag_error"


def test_nothing_runs_unless_all_may(shop: list[str], tmp_path: Path) -> None:
    """One confirmation is for all values; a wrong value, or none, refuses the call as a whole."""
    drop = ("stock", "drop", "--sku", "1", "-s2", "-s", "3")
    refused = run(shop, *drop, cwd=tmp_path)
    assert (refused.code, refused.out) == (1, "")
    assert refused.error["error"] == "confirmation_required"
    wrong = run(shop, *drop, "--sku", "x", "--yes", cwd=tmp_path)
    assert (wrong.code, wrong.error["field"]) == (1, "sku")
    planned = run(shop, *drop, "--dry-run", cwd=tmp_path)
    assert planned.document["status"] == "plan"
    assert [each["result"] for each in results(planned)] == [1, 2, 3]
    assert not (tmp_path / "dropped").exists()
    for unclear in ("-vs4", "-vs"):
        done = run(shop, *drop, unclear, *(["4"] if unclear == "-vs" else []), "--yes")
        assert (done.code, done.error["field"]) == (1, "sku")
    done = run(shop, *drop, "-v", "why", "--yes", cwd=tmp_path)
    assert [each["result"]["note"] for each in results(done)] == ["why"] * 3
    assert (tmp_path / "dropped").read_text().split() == ["1", "2", "3"]
    assert run(shop, "stock", "show", *map(str, range(1001))).error["field"] == "sku"


@pytest.mark.parametrize("contract", ["response", "agent-spec-2"])
def test_in_an_envelope(shop: list[str], contract: str, tmp_path: Path) -> None:
    """An envelope holds the items, with errors of its own; a payload has the values in a list."""
    env = environment(MURLI_CONTRACT=contract)
    done = run(shop, "stock", "show", "A", "B", env=env)
    assert (done.code, [each["item"] for each in results(done)]) == (0, ["A", "B"])
    done = run(shop, "stock", "show", "A", "bad", env=env)
    error = done.document["error"]
    assert (done.code, error["code"]) == (2 if contract == "response" else 3, "PARTIAL_FAILURE")
    items = results(done) if contract == "agent-spec-2" else json.loads(error["detail"])["results"]
    assert items[1]["error"]["code"] == "NOT_FOUND"
    payload = json.dumps({"sku": [7, 8], "note": "x"})
    drop = ("stock", "drop", "--yes", "--raw-payload", payload)
    done = run(shop, *drop, env=env, cwd=tmp_path)
    assert [each["result"]["dropped"] for each in results(done)] == [7, 8]
    key = ("--idempotency-key", "k")
    home = environment(MURLI_CONTRACT=contract, XDG_STATE_HOME=str(tmp_path))
    for _ in range(2):
        done = run(shop, *drop, *key, env=home, cwd=tmp_path)
        assert done.code == 0
    assert (tmp_path / "dropped").read_text().split() == ["7", "8", "7", "8"]


def test_lists_and_limits(shop: list[str]) -> None:
    """What shapes an answer shapes each item; a cursor, which is of one answer, is refused."""
    show = ("stock", "list", "A", "B")
    done = run(shop, *show, "--limit", "2", "--fields", "n")
    assert [each["result"] for each in results(done)] == [[{"n": 0}, {"n": 1}]] * 2
    page = results(done)[1]["page"]
    assert page["total"] == 30
    assert "stock list B " in page["rest"]
    assert run(shop, *show, "--cursor", "x").error["field"] == "cursor"
    small = run(shop, *show, "--limit", "0", "--max-bytes", "1200")
    assert all(each["page"]["returned"] < 30 for each in results(small))


def test_items_come_as_lines(shop: list[str]) -> None:
    """With --stream each item is a line as soon as its call is over, and the last line counts."""
    done = run(shop, "stock", "show", "A", "bad", "--stream")
    *items, last = done.lines
    # What looks like an answer stands in a wrapper, as items of every stream do.
    assert [each.get("data", each)["item"] for each in items] == ["A", "bad"]
    assert (done.code, last["status"]) == (3, "partial")
    assert last["result"] == {"summary": {"total": 2, "succeeded": 1, "failed": 1}}


def test_a_call_that_dies_is_an_item(shop: list[str]) -> None:
    """A call that ends its process is a failure of its item; the others are not touched."""
    done = run(shop, "stock", "show", "A", "dead", "C")
    assert [each["ok"] for each in results(done)] == [True, False, True]


def test_ends_before_all_are_done(shop: list[str]) -> None:
    """A deadline is for all calls, a signal ends them; what was done by then is in the failure."""
    late = run(shop, "stock", "show", "A", "slow", "C", "--slow", "30", "--timeout", "2.5")
    assert (late.code, late.error["error"]) == (4, "timeout")
    assert late.error["result"]["results"][0] == {
        "ok": True,
        "item": "A",
        "result": {"sku": "A", "region": "eu"},
    }
    assert late.error["result"]["summary"]["not_run"] == 1
    words = ("stock", "show", "A", "slow", "C", "--slow", "30", "--stream")
    with subprocess.Popen(
        [*shop, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()
    ) as process:
        assert process.stdout is not None
        assert json.loads(process.stdout.readline())["item"] == "A"
        time.sleep(0.1)
        os.kill(process.pid, signal.SIGTERM)
        out, err = process.communicate(timeout=20)
    assert process.returncode == 9
    assert json.loads(err)["error"] == "cancelled"
    assert json.loads(out.splitlines()[0])["data"]["item"] == "slow"


ONE = """
import click, murli
@click.command()
@click.argument("sku")
def cli(sku):
    return sku
murli.annotate(cli, murli.Metadata(danger_level="safe", batch="sku"))
murli.enable(cli)
cli()
"""
CHAIN = """
import click, murli
@click.group(chain=True)
def cli(): pass
@cli.command()
@click.argument("what")
def add(what):
    open("added", "a").write(what)
@cli.command()
@click.argument("sku")
def show(sku):
    return sku
murli.annotate(show, murli.Metadata(danger_level="safe", batch="sku"))
murli.enable(cli)
cli()
"""


LAZY = """
import click, murli
class Lazy(click.Group):
    def list_commands(self, ctx): return ["show"]
    def get_command(self, ctx, name):
        @click.command("show")
        @click.option("--sku")
        def show(sku): return sku
        murli.annotate(show, murli.Metadata(danger_level="safe", batch="sku"))
        return show if name == "show" else None
cli = Lazy()
murli.enable(cli)
cli()
"""


def test_a_command_that_is_loaded_late(tmp_path: Path) -> None:
    """Declared when the call has begun, several values are refused, and none of them is dropped."""
    lazy = script(tmp_path, LAZY)
    assert run(lazy, "show", "--sku", "A").document["result"] == "A"
    done = run(lazy, "show", "--sku", "A", "--sku", "B")
    assert (done.code, done.error["suggestion"]) == (1, "Make a call for each value.")


def test_where_it_stands(tmp_path: Path) -> None:
    """A tool of one command takes several values; behind other commands of a chain there is one."""
    one = script(tmp_path, ONE, "one.py")
    assert [each["result"] for each in results(run(one, "A", "B"))] == ["A", "B"]
    chain = script(tmp_path, CHAIN, "chain.py")
    done = run(chain, "add", "x", "show", "A", "B", cwd=tmp_path)
    assert (done.code, done.error["error"]) == (1, "command_error")
    assert not (tmp_path / "added").exists()


def test_people_are_told_what_they_were(shop: list[str]) -> None:
    """At a terminal a second value is the framework's usage error, as without a declaration."""
    done = run_at_terminal(shop, "stock", "show", "A", "B")
    assert "Got unexpected extra argument" in done.out + done.err
    assert done.code == 2


def test_described_as_many(shop: list[str]) -> None:
    """describe, --schema and the manifest say that the parameter takes several values."""
    jsonschema = pytest.importorskip("jsonschema")
    schema = run(shop, "stock", "show", "--schema").document
    (sku,) = schema["arguments"]
    assert (sku["type"], sku["batch"], sku["required"]) == ("[]string", True, True)
    jsonschema.validate(schema, load_schema("command"))
    jsonschema.validate(run(shop, "describe").document, load_schema("describe"))
    flags = {
        each["name"]: each for each in run(shop, "stock", "drop", "--schema").document["flags"]
    }
    assert (flags["sku"]["type"], flags["sku"]["batch"]) == ("[]int", True)
    manifest = run(shop, "manifest", env=SPEC_2).document["data"]["commands"]
    assert manifest["stock.show"]["positionals"][0]["variadic"] is True
    assert manifest["stock.drop"]["flags"]["sku"]["type"] == "array"
    jsonschema.validate(
        run(shop, "manifest", env=SPEC_2).document["data"], load_schema("manifest-3")
    )


def test_a_wrong_declaration(shop: list[str]) -> None:
    """What cannot be called for several values is an author's mistake: calls and doctor say so."""
    for command in ("many", "other"):
        done = run(shop, "stock", command, "A")
        assert (done.code, done.error["error"]) == (2, "invalid_declaration")
    assert "skuu" in done.error["message"]
    assert "skuu" in run(shop, "doctor").out
    for wrong, kind in (
        ({"batch": ["a"]}, TypeError),
        ({"batch": "a", "traits": Traits(stdin={"mode": "buffered"})}, ValueError),
        ({"batch": "a", "flag_annotations": {"a": FlagAnnotation(profileable=True)}}, ValueError),
    ):
        with pytest.raises(kind, match="batch"):
            Metadata(**wrong)
    assert Metadata(batch="--the_sku").batch == "the-sku"
    assert issubclass(AgentError, Exception)


def test_within_exec_and_from_the_client(shop: list[str], tmp_path: Path) -> None:
    """A request of exec, and the client, pass several values as a list."""
    request = json.dumps({"_cmd": "stock.show", "sku": ["A", "bad"]}).encode()
    done = run(shop, "exec", stdin=request)
    assert (done.lines[0]["_line"], done.lines[0]["status"]) == (1, "partial")
    assert [each["item"] for each in done.lines[0]["result"]["results"]] == ["A", "bad"]
    tool = Tool(shop, cwd=str(tmp_path), memory=False, cache=False)
    response = tool.call("stock", "drop", sku=[1, 2], dry_run=True)
    assert [each["result"] for each in response.data["results"]] == [1, 2]
    response = tool.call("stock", "show", "A", "B")
    assert [each["result"]["sku"] for each in response.data["results"]] == ["A", "B"]


CHANGES = """
import os, time
import click, murli
@click.command()
@click.argument("how")
def change(how):
    if how == "closed":
        os.close(1)
        time.sleep(20)
    return how
murli.annotate(change, murli.Metadata(danger_level="mutating", batch="how"))
murli.enable(change, name="change")
change()
"""


def test_no_repetition_is_advised_of_what_has_changed(tmp_path: Path) -> None:
    """Values that are late are ended in time, and what was changed is not to be tried again."""
    done = run(script(tmp_path, CHANGES), "ok", "closed", "z", "--yes", "--timeout", "1.5")
    assert (done.code, done.error["error"], done.error["recoverable"]) == (4, "timeout", False)
    assert done.error["suggestion"].startswith("It may have changed something")
    assert done.error["result"]["results"][0] == {"ok": True, "item": "ok", "result": "ok"}


def test_an_item_is_named_without_control_characters(tmp_path: Path) -> None:
    """An item has its value as other text has it in an answer."""
    done = run(script(tmp_path, CHANGES), "a\x1b[1m", "b", "--yes")
    assert [each["item"] for each in done.document["result"]["results"]] == ["a", "b"]
