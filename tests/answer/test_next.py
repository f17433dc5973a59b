"""Calls that an answer names: what usually follows, and what looks at the state."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import murli
from harness import ADAPTERS, Run, environment, run, run_at_terminal, script
from murli.line.next_calls import filled, text_of
from properties import examples

pytestmark = [pytest.mark.adapters("argparse", "click"), pytest.mark.warm]

CORE = """
import json, time, murli
from murli import Metadata

def act(verb, order, fail, name):
    if fail == "crash":
        raise RuntimeError("disk on fire")
    if fail == "late":
        raise TimeoutError("late")
    if fail == "slow":
        time.sleep(9)
    if fail == "blocked":
        import signal
        signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 32))
        signal.signal(signal.SIGALRM, signal.SIG_IGN)
        time.sleep(9)
    if fail == "absent":
        raise murli.AgentError.not_found("no such order")
    if fail == "advised":
        raise murli.AgentError.conflict("it changed", "Fetch it.")
    if fail == "half":
        murli.get_writer().write_partial("half", {"done": 1})
    return {"id": name, "order": {"id": 4, "none": None}, "list": [{"id": "é e"}], "order_no": 1}

NEXT = [
    "shop orders show {id}",
    "shop orders show {order.id} --verbose",
    "shop orders show {list.0.id}",
    "shop orders show --name={name}",
    "shop orders show {order.none}",
    "shop orders show {absent}",
    "shop orders show {token}",
    "shop orders show {list}",
]
FACTS = {
    "add": Metadata(danger_level="mutating", next=NEXT, state="shop orders show {order}"),
    "cancel": Metadata(danger_level="mutating"),
    "wrong": Metadata(danger_level="mutating", state="shop orders cancel {order}"),
    "show": Metadata(danger_level="safe"),
    "list": Metadata(danger_level="safe"),
    "rows": Metadata(lists=True, next=["shop orders show {0.id}"], danger_level="safe"),
}
ROWS = [{"id": number, "what": "x" * 20} for number in range(40)]
"""
TOOLS = {
    "argparse": """
import argparse
parser = argparse.ArgumentParser("shop")
top = parser.add_subparsers(dest="group", required=True)
orders = top.add_parser("orders").add_subparsers(dest="verb", required=True)
for verb, facts in FACTS.items():
    child = orders.add_parser(verb)
    if verb not in ("list", "rows"):
        child.add_argument("order")
    child.add_argument("--fail", default="")
    child.add_argument("--name", default="n")
    child.add_argument("--token")
    if verb == "show":
        child.add_argument("--verbose", action="store_true")
    murli.annotate(child, facts)
murli.enable(parser)
given = parser.parse_args()
result = ROWS if given.verb == "rows" else act(
    given.verb, getattr(given, "order", ""), given.fail, given.name)
murli.get_writer().write_success("", result)
""",
    "click": """
import click
shop, orders = click.Group("shop"), click.Group("orders")
shop.add_command(orders)
def command(verb, facts):
    @orders.command(verb)
    @click.option("--fail", default="")
    @click.option("--name", default="n")
    @click.option("--token")
    def run(fail, name, token=None, order="", verbose=False):
        return ROWS if verb == "rows" else act(verb, order, fail, name)
    if verb not in ("list", "rows"):
        run = click.argument("order")(run)
    if verb == "show":
        run = click.option("--verbose", is_flag=True)(run)
    murli.annotate(run, facts)
for verb, facts in FACTS.items():
    command(verb, facts)
murli.enable(shop)
shop(prog_name="shop")
""",
    "typer": """
import typer
shop, orders = typer.Typer(), typer.Typer()
shop.add_typer(orders, name="orders")
for verb, facts in FACTS.items():
    def run(order: str, fail: str = "", name: str = "n", token: str = "", verb=typer.Option(
            verb, hidden=True), verbose: bool = False):
        return act(verb, order, fail, name)
    def listed(fail: str = "", name: str = "n", verb=typer.Option(verb, hidden=True)):
        return ROWS if verb == "rows" else act(verb, "", fail, name)
    handler = listed if verb in ("list", "rows") else run
    murli.annotate(handler, facts)
    orders.command(verb)(handler)
murli.enable(shop)
shop(prog_name="shop")
""",
}
SHOW = "shop orders show"


@pytest.fixture(params=ADAPTERS)
def shop(request: pytest.FixtureRequest, tmp_path: Path) -> list[str]:
    """The argv of the shop, on each framework."""
    return script(tmp_path, CORE + TOOLS[request.param], "shop.py")


@pytest.fixture
def click_shop(tmp_path: Path) -> list[str]:
    """The argv of the shop, on click."""
    return script(tmp_path, CORE + TOOLS["click"], "shop.py")


def call(argv: list[str], words: str, *more: str) -> Run:
    """Run a program with *words*, and some more."""
    return run(argv, *words.split(), *more)


def test_a_success_names_what_follows(shop: list[str]) -> None:
    """Before the result stand the calls that can be filled, from the result and the arguments."""
    done = run(shop, "orders", "add", "7", "--yes", "--token", "s3cr3tly").document
    assert list(done) == ["status", "schema_version", "tool_version", "message", "next", "result"]
    assert done["next"] == [
        f"{SHOW} n",
        f"{SHOW} 4 --verbose",
        f"{SHOW} 'é e'",
        f"{SHOW} --name=n",
    ]


def test_every_contract_has_a_place_for_what_follows(click_shop: list[str]) -> None:
    """An envelope names what follows in its meta, a cut list behind its page."""
    for contract in ("response", "agent-spec-1.6", "agent-spec-2"):
        meta = call(click_shop, "orders add 7 --yes --contract", contract).document["meta"]
        assert meta["next"][0] == f"{SHOW} n"
    page = call(click_shop, "orders rows --limit 2 --fields what").document
    assert list(page)[3:] == ["message", "page", "next", "result"]
    assert page["next"] == [f"{SHOW} 0"]
    plain = run(click_shop, "orders", "show", "7").document
    assert "next" not in plain


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("x --yes", "'x --yes'"),
        ("$(reboot); `x`", "'$(reboot); `x`'"),
        ("it's", "'it'\"'\"'s'"),
        ("--yes", "-- --yes"),
        ("-7", "-- -7"),
    ],
)
def test_a_value_is_one_word_and_no_option(click_shop: list[str], value: str, told: str) -> None:
    """Whatever a result holds, it adds neither words nor options to the call that is named."""
    done = run(click_shop, "orders", "add", "7", "--yes", f"--name={value}").document
    assert done["next"][0] == f"{SHOW} {told}"
    assert done["next"][-1] == shlex.join([*SHOW.split(), f"--name={value}"])
    shown = run(click_shop, *shlex.split(done["next"][0])[1:]).document
    assert shown["status"] == "ok"


def test_what_is_no_word_is_left_out(click_shop: list[str]) -> None:
    """A value that is empty, long, no scalar, or holds what a terminal acts on fills no call."""
    for value in ("", "a\nb", "x" * 300):
        done = run(click_shop, "orders", "add", "7", "--yes", f"--name={value}").document
        assert done["next"] == [f"{SHOW} 4 --verbose", f"{SHOW} 'é e'"], value
    for wrong in (
        "a\x1b[31m",
        "\u202eabc",
        "\udcff",
        "a\0",
        None,
        True,
        [1],
        {"a": 1},
        float("nan"),
    ):
        assert text_of(wrong) == "", wrong
    assert (text_of(Path("a b")), text_of(7), text_of(0.5)) == ("a b", "7", "0.5")


def test_a_secret_is_in_no_call(click_shop: list[str]) -> None:
    """A value that is known to be secret fills no call, also where the result shows it."""
    env = environment(SHOP_PASSWORD="hunter22x")
    done = run(click_shop, "orders", "add", "7", "--yes", "--name", "hunter22x", env=env)
    assert done.document["next"] == [f"{SHOW} 4 --verbose", f"{SHOW} 'é e'"]
    assert "hunter22x" not in done.out


WORDS = st.text(st.sampled_from("ab -='\"$;\\{}"), min_size=1, max_size=6)


@examples(200)
@example(";", "--")
@given(WORDS, WORDS)
def test_no_value_becomes_an_option(one: str, two: str) -> None:
    """Of what is filled in, nothing stands where a parser would take it for an option."""
    words = filled(["show", "{a}", "--to", "{b}"], {"a": one, "b": two})
    if "--" in (one, two):
        assert words is None  # no parser passes it on as a value
        return
    if one[0] == "-":
        assert words is None  # the option behind it could not be one any more
    else:
        assert words in (["show", one, "--to", two], ["show", one, f"--to={two}"])
    words = filled(["show", "--to", "{b}", "{a}", "{b}"], {"a": one, "b": two})
    assert words is not None
    parser = argparse.ArgumentParser(exit_on_error=False)
    for name in ("verb", "one", "two"):
        parser.add_argument(name)
    parser.add_argument("--to")
    found = parser.parse_args(words)
    assert (found.to, found.one, found.two) == (two, one, two)


def test_a_person_sees_nothing_of_it(click_shop: list[str]) -> None:
    """At a terminal a command that declares what follows shows what it showed."""
    shown = run_at_terminal(click_shop, "orders", "show", "7")
    declared = run_at_terminal(click_shop, "orders", "add", "7", "--yes")
    assert (declared.out, declared.err, declared.code) == (shown.out, shown.err, shown.code)


def test_a_failure_names_what_looks_at_the_state(shop: list[str]) -> None:
    """A failure that may have left traces names the declared call, in words and for a program."""
    late = call(shop, "orders add 7 --yes --fail late").error
    assert late["next"] == [f"{SHOW} 7"]
    told = f"Something may have changed: run `{SHOW} 7` before trying again."
    assert late["suggestion"] == told
    crash = call(shop, "orders add 7 --yes --fail crash").error
    assert crash["next"] == [f"{SHOW} 7"]
    # The author's own words stay.
    advised = call(shop, "orders add 7 --yes --fail advised").error
    assert (advised["suggestion"], advised["next"]) == ("Fetch it.", [f"{SHOW} 7"])
    half = call(shop, "orders add 7 --yes --fail half").document
    assert (half["status"], half["next"]) == ("partial", [f"{SHOW} 7"])
    refused = run(shop, "orders", "add", "7").error
    assert "next" not in refused


def test_where_nobody_declared_it_one_command_beside_is_an_example(shop: list[str]) -> None:
    """Only the one safe command of the group that needs no more than this call has is named."""
    late = call(shop, "orders cancel 7 --yes --fail late").error
    assert late["next"] == [f"{SHOW} 7"]
    assert f"look at the state, for example with `{SHOW} 7`," in late["suggestion"]
    absent = call(shop, "orders show 7 --fail absent").error
    assert absent["next"] == ["shop orders list"]
    assert absent["suggestion"] == "Look at what there is: `shop orders list`."
    reading = call(shop, "orders show 7 --fail crash").error
    assert "next" not in reading


def test_no_call_that_changes_something_looks_at_the_state(click_shop: list[str]) -> None:
    """A declared look that is itself declared to change something is never named."""
    error = call(click_shop, "orders wrong 7 --yes --fail late").error
    assert "next" not in error
    assert error["suggestion"].endswith("look at the state before trying again.")


@pytest.mark.parametrize("fail", ["slow", "blocked"])
def test_a_call_that_is_ended_names_it_too(click_shop: list[str], fail: str) -> None:
    """A call that took too long names the look, also where it had to be ended from outside."""
    done = call(click_shop, "orders add 7 --yes --timeout 0.2 --fail", fail)
    assert done.error["next"] == [f"{SHOW} 7"]
    for contract in ("response", "agent-spec-2"):
        meta = call(click_shop, "orders add 7 --yes --fail late --contract", contract).document[
            "meta"
        ]
        assert meta["next"] == [f"{SHOW} 7"]


def test_descriptions_show_what_was_declared(click_shop: list[str]) -> None:
    """``--schema`` shows the templates of a command, and nothing where there are none."""
    add = run(click_shop, "orders", "add", "--schema").document
    assert add["next"][0] == f"{SHOW} {{id}}"
    assert add["state"] == f"{SHOW} {{order}}"
    show = run(click_shop, "orders", "show", "--schema").document
    assert not {"next", "state"} & set(show)


@pytest.mark.parametrize(
    "wrong",
    [
        "shop show 'x",
        "",
        "shop show {",
        "shop show {}",
        "shop show {a b}",
        "shop show <id>",
        "shop show {id} | wc",
        "shop list && shop show {id}",
        "shop delete {id} --yes",
        "{tool} show",
        "shop show --{name}",
    ],
)
def test_a_malformed_template_is_refused_where_it_is_declared(wrong: str) -> None:
    """What is not one call, or takes a decision that is the caller's, is a `ValueError` at once."""
    with pytest.raises(ValueError, match="next holds"):
        murli.Metadata(next=[wrong])
    with pytest.raises(ValueError, match="state"):
        murli.Metadata(state=wrong or "shop show {order.id}")


def test_doctor_finds_calls_that_lead_nowhere(tmp_path: Path) -> None:
    """An unknown command or option in a template is a finding, as is a look that changes."""
    tool = """
import click, murli
shop = click.Group("shop")
@shop.command()
def add(): ...
@shop.command()
@click.argument("sku")
@click.option("--full", is_flag=True)
def show(sku, full): ...
murli.annotate(add, murli.Metadata(danger_level="mutating", state="shop add",
    next=["shop shwo {id}", "shop show {id} --ful", "shop show {id} --full --limit 3"]))
murli.enable(shop)
shop(prog_name="shop")
"""
    found = run(script(tmp_path, tool), "doctor").out
    assert 'next names \\"shwo\\"; did you mean show' in found
    assert 'next names \\"--ful\\"; did you mean --full' in found
    assert 'state leads to \\"add\\", which changes something' in found
    assert "--limit" not in found


def test_the_client_reads_what_follows(click_shop: list[str]) -> None:
    """`Response.next` has the calls, under every contract; nothing runs them."""
    from murli.wire.reading import read

    for contract in ("murli", "agent-spec-2"):
        done = call(click_shop, "orders add 7 --yes --contract", contract)
        found: Any = read(done.stdout, done.stderr, done.code)
        assert found.next[0] == f"{SHOW} n"
        wrong = call(click_shop, "orders show --contract", contract)
        problem = read(wrong.stdout, wrong.stderr, wrong.code).problem
        assert problem is not None
        assert problem.usage.startswith("shop orders show ORDER [")
