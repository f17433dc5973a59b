"""What an envelope contract limits though nobody has asked for that, and what it never cuts."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness import environment, run, script
from in_process import FAMILY

pytestmark = pytest.mark.warm

TOOL = """
import os
import click, murli

@click.group()
def cli(): pass

@cli.command()
@click.option("--name", help="Whom to greet.")
def scalar(name): return {"name": name, "count": 1, "ratio": 0.5, "gone": None}

@cli.command()
@murli.pass_writer
def message(writer): writer.write_success("line of a report. " * 100_000)

@cli.command()
def keys(): return {f"{number}-{'k' * 40_000}": number for number in range(40)}

@cli.command()
def late():
    os.environ["MURLI_MAX_OUTPUT_BYTES"] = "300"
    os.environ["MURLI_MAX_OUTPUT_TOKENS"] = "50"
    os.environ["MURLI_TOKENIZER"] = "/gone/tokenizer.json"
    return [{"id": number, "name": "n" * 40} for number in range(10)]

murli.enable(cli, contract="{contract}")
cli()
"""


@pytest.fixture(scope="module", params=FAMILY)
def limited(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder: Path = tmp_path_factory.mktemp("limited")
    return script(folder, TOOL.replace("{contract}", request.param))


def test_a_schema_is_whole_whatever_limits_answers(limited: list[str]) -> None:
    """--schema is neither cut nor shaped, by no variable and by no flag for parts of a result."""
    whole = run(limited, "scalar", "--schema").document["data"]
    assert whole["flags"]
    for words in (("--limit", "x"), ("--fields", "nonsense"), ("--max-bytes", "10")):
        assert run(limited, "scalar", "--schema", *words).document["data"] == whole
    env = environment(MURLI_MAX_OUTPUT_BYTES="300", MURLI_MAX_OUTPUT_TOKENS="50")
    assert run(limited, "scalar", "--schema", env=env).document["data"] == whole


@pytest.mark.parametrize("command", ["message", "keys"])
def test_nothing_is_longer_than_the_contract_allows(limited: list[str], command: str) -> None:
    """A message, or the names of few values, are cut where they are more than a contract allows."""
    done = run(limited, command)
    assert done.code == 0 and len(done.stdout) < 1 << 20


def test_a_few_short_values_are_answered_as_they_are(limited: list[str]) -> None:
    """An answer of a few values is whole, and says nothing of parts."""
    document = run(limited, "scalar", "--name", "you").document
    assert document["data"] == {"name": "you", "count": 1, "ratio": 0.5, "gone": None}
    assert document["warnings"] == [] and "truncated" not in document["meta"]


def test_a_limit_counts_from_the_start_of_a_call(limited: list[str]) -> None:
    """A variable that a handler sets limits no answer, and refuses nothing that has been done."""
    done = run(limited, "late")
    assert done.code == 0 and len(done.document["data"]) == 10
