"""A value that has no JSON form is a failure that says where it is, wherever a tool gives it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness import Run, environment, run, run_at_terminal, script

pytestmark = pytest.mark.warm


CONTRACTS = ["murli", "response", "agent-spec-1.6", "agent-spec-2"]

# What is returned, and what the failure says of it.
VALUES = {
    "nan": ("{'rows': [{'a': 1.0}, {'a': float('nan')}], 'total': 2}", "result.rows[1].a is NaN"),
    "infinity": ("{'a': [float('-inf')]}", "result.a[0] is infinity"),
    "decimal": ("{'a': decimal.Decimal('NaN')}", "result.a is NaN"),
    "decimal-infinity": ("[decimal.Decimal('-Infinity')]", "result[0] is infinity"),
    "cycle": ("cycle()", "result.again contains itself"),
    "object": ("{'good': 1, 'bad': object()}", "result.bad is a object"),
    "complex": ("[1, 2j]", "result[1] is a complex"),
    "twice": ("{1: 'a', '1': 'b'}", "result.1 is a key that occurs twice"),
    "tuple-key": ("{'a': 1, (1, 2): 3}", "result has a key of type tuple"),
    "deep": ("deep()", "is nested deeper than 240 levels"),
    "huge": ("{'n': 10**5000}", "result.n is an integer of more than 4300 digits"),
    "generator": ("(each for each in (1, float('nan')))", "result[1] is NaN"),
    "inner": ("{'rows': ({'a': a} for a in (1, float('nan')))}", "result.rows[1].a is NaN"),
    "raises": ("{'a': Bad(OSError('no'))}", "result.a (Bad) raised OSError"),
    "is-bad": ("Bad(SystemExit(0))", "result (Bad) raised SystemExit"),
    "list-exits": ("Exiting([1])", "(Exiting) raised SystemExit"),
    "exits": ("{'a': Bad(SystemExit(0))}", "result.a (Bad) raised SystemExit"),
}
PREPARED = """
import decimal, sys
def cycle():
    found = {}
    found['again'] = found
    return found
def deep():
    found = []
    for _ in range(100_000):
        found = [found]
    return found
class Bad:
    def __init__(self, error): self.error = error
    def __getattr__(self, name): raise self.error
class Exiting(list):
    def __iter__(self): sys.exit()
async def later(value): yield 1; yield value
"""


def lab(tmp_path: Path, framework: str) -> list[str]:
    """Give a tool whose commands return, or write, each of the values."""
    returns = [
        f"@app.command('{kind}-{name}')\n"
        f"def _():\n"
        f"    {'return ' if kind == 'return' else 'murli.get_writer().write_success('}{value}"
        f"{'' if kind == 'return' else ')'}\n".replace("write_success(", "write_success('', ")
        for name, (value, _) in VALUES.items()
        for kind in ("return", "write")
    ]
    more = """
nan = {'rows': [1, float('nan')]}
def add(name, body, **facts):
    body.__name__ = name
    app.command(name)(body)
    murli.annotate(body, murli.Metadata(**facts))
def plan(): murli.get_writer().write_plan('', nan)
def partial(): murli.get_writer().write_partial('', nan)
def event(): murli.get_writer().write_event(nan)
def marked(): return murli.untrusted(nan)
def swallow():
    try: murli.get_writer().write_success('', nan)
    except ValueError: pass
def asynchronous(): return later({'a': float('nan')})
add('plan', plan); add('partial', partial); add('event', event); add('marked', marked)
add('swallow', swallow); add('asynchronous', asynchronous, mutating=False)
add('streamed', lambda: (x for x in ({'a': 1}, {'a': float('nan')})), streams=True)
add('pay', lambda: nan, mutating=True)
add('sync', lambda: nan)
add('show', lambda: nan)
add('check', lambda: nan, danger_level='safe')
@app.command('printed')
def _(): print('the answer'); return object()
@app.command('printed-data')
def _(): print('the answer'); return nan
"""
    start = {
        "click": "import click, murli\n@click.group()\ndef app(): pass\n",
        "typer": "import typer, murli\napp = typer.Typer()\n",
    }[framework]
    source = start + PREPARED + "\n".join(returns) + more + "\nmurli.enable(app)\napp()\n"
    return script(tmp_path, source, f"{framework}_lab.py")


def failure_of(done: Run, contract: str) -> dict[str, Any]:
    """Give the error that a process ended with."""
    if contract == "murli":
        assert done.out == ""
        return dict(done.error)
    return dict(json.loads(done.out.splitlines()[-1] if "\n{" in done.out else done.out)["error"])


def spoken(contract: str) -> dict[str, str]:
    """Give an environment in which tools speak *contract*."""
    return environment(MURLI_CONTRACT=contract)


@pytest.mark.parametrize("name", VALUES)
def test_a_returned_value_fails_like_a_written_one(tmp_path: Path, name: str) -> None:
    """What is returned without a JSON form gives the document that writing it gives."""
    argv = lab(tmp_path, "click")
    returned, written = run(argv, f"return-{name}"), run(argv, f"write-{name}")
    assert VALUES[name][1] in returned.error["message"]
    assert (returned.code, returned.error) == (written.code, written.error)
    assert (returned.code, returned.out) == (2, "")
    assert returned.error["recoverable"] is False


@pytest.mark.parametrize("contract", CONTRACTS[1:])
def test_every_contract_says_where_it_is(tmp_path: Path, contract: str) -> None:
    """Under every contract, in every format for programs, the failure says where it is."""
    argv = lab(tmp_path, "click")
    for words in (["return-nan"], ["return-nan", "--format", "tsv"]):
        done = run(argv, *words, env=spoken(contract))
        assert done.code == 1
        assert "result.rows[1].a is NaN" in failure_of(done, contract)["message"]


@pytest.mark.slow
@pytest.mark.parametrize("contract", CONTRACTS)
@pytest.mark.parametrize("name", VALUES)
def test_typer_fails_for_it_too(tmp_path: Path, name: str, contract: str) -> None:
    """What a typer command returns is held to the same rule."""
    done = run(lab(tmp_path, "typer"), f"return-{name}", env=spoken(contract))
    assert done.code == (2 if contract == "murli" else 1)
    assert VALUES[name][1] in failure_of(done, contract)["message"]


def test_wherever_a_value_is_taken(tmp_path: Path) -> None:
    """Plans, partial answers, events, items of streams and marked results are held to it."""
    argv = lab(tmp_path, "click")
    for command, place in (
        ("plan", "The plan cannot be written as JSON: plan.rows[1] is NaN"),
        ("partial", "result.rows[1] is NaN"),
        ("event", "event.rows[1] is NaN"),
        ("marked", "rows[1] is NaN"),
        ("swallow", "result.rows[1] is NaN"),
        ("asynchronous", "result[1].a is NaN"),
        ("streamed", "result[1].a is NaN"),
    ):
        done = run(argv, command)
        assert done.code == 2, command
        assert place in done.error["message"], command
    calls = b'{"_cmd": "return-nan"}\n{"_cmd": "printed"}\n'
    each = run(argv, "exec", "--ignore-errors", stdin=calls, env=spoken("agent-spec-2")).lines
    assert "result.rows[1].a is NaN" in each[0]["error"]["message"]
    assert each[1]["data"] == {"text": "the answer"}


def test_it_says_whether_the_command_has_done_something(tmp_path: Path) -> None:
    """A change is made, whatever became of its answer; of an unknown command it is possible."""
    argv = lab(tmp_path, "click")
    ran = "The command itself had run: "
    for command, words, told in (
        ("pay", ["--yes"], f"{ran}what it changes is changed."),
        ("sync", [], f"{ran}it may have changed something."),
        ("show", [], ""),
        ("check", [], ""),
    ):
        error = run(argv, command, *words).error
        assert "result.rows[1] is NaN" in error["message"]
        assert error["message"].endswith(told or "Return null or text instead.")
        advice = "Look at the state before you run it again." if told else None
        assert error.get("suggestion") == advice


def test_a_printed_answer_is_the_answer(tmp_path: Path) -> None:
    """Where the handler printed, an object it returns is ignored, and data is warned of."""
    argv = lab(tmp_path, "click")
    assert run(argv, "printed").document["result"] == "the answer"
    data = run(argv, "printed-data")
    assert data.document["result"] == "the answer"
    assert "result.rows[1] is NaN" in data.logs[0]["msg"]
    warned = run(argv, "printed-data", env=spoken("agent-spec-2")).document["warnings"]
    assert [each["code"] for each in warned] == ["RESULT_NOT_ENCODED"]


def test_a_person_sees_what_there_is(tmp_path: Path) -> None:
    """A person's call does not fail for it: what can be shown is shown, the rest as text."""
    argv = lab(tmp_path, "click")
    for command, shown in (("return-nan", "nan"), ("return-cycle", "…"), ("return-deep", "")):
        done = run_at_terminal(argv, command)
        assert (done.code, done.err) == (0, "")
        assert shown in done.out


def test_a_delay_that_is_no_number_is_none(tmp_path: Path) -> None:
    """NaN, infinity or words as the time to wait give a document without one, and no crash."""
    argv = script(
        tmp_path,
        "import click, murli\n"
        "@click.command()\n"
        "@click.argument('delay')\n"
        "def cli(delay):\n"
        "    delay = delay if delay == 'soon' else float(delay)\n"
        "    raise murli.AgentError.rate_limited('slow down', retry_after_ms=delay)\n"
        "murli.enable(cli); cli()\n",
    )
    for delay in ("nan", "inf", "soon"):
        assert run(argv, delay).error["retry_after_ms"] == 0
    family = run(argv, "nan", env=spoken("agent-spec-2"))
    assert (family.code, family.document["error"]["retryable"]) == (11, True)


def test_an_error_with_impossible_parts_is_told(tmp_path: Path) -> None:
    """Whatever an author sets on an error later, it is a document, and never a success."""
    argv = script(
        tmp_path,
        "import click, math, murli\n"
        "@click.command()\n"
        "@click.argument('name')\n"
        "@click.argument('value')\n"
        "def cli(name, value):\n"
        "    error = murli.AgentError.not_found('gone')\n"
        "    setattr(error, name, eval(value))\n"
        "    raise error\n"
        "murli.enable(cli); cli()\n",
    )
    for name, value in (
        ("code", "math.nan"),
        ("code", "None"),
        ("code", "0"),
        ("code", "256"),
        ("kind", "[]"),
        ("context", "None"),
        ("context", "[1]"),
        ("field", "[]"),
    ):
        done = run(argv, name, value)
        assert (done.code, done.error["message"]) == (5, "gone"), (name, value)
        family = run(argv, name, value, env=spoken("agent-spec-2"))
        assert family.document["error"]["message"] == "gone", (name, value)


def test_a_value_that_exits_makes_no_error_a_success(tmp_path: Path) -> None:
    """What exits while an error is made of it does not end the command as a success."""
    argv = script(
        tmp_path,
        "import click, murli, sys\n"
        "class Bad:\n"
        "    def __getattr__(self, name): sys.exit()\n"
        "@click.command()\n"
        "def cli():\n"
        "    raise murli.AgentError.not_found('gone', context=Bad())\n"
        "murli.enable(cli); cli()\n",
    )
    assert run(argv).code == 2
