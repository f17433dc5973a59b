"""What an author's editor and `help` know: parameters, words, and examples."""

from __future__ import annotations

import inspect
import pydoc
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any, get_args

import pytest

import murli
from murli import adapters, contracts, errors, type_checking
from murli.declare import checks, declarations, exit_codes
from murli.formats import OUTPUT_FORMATS


def _help(thing: object) -> str:
    return pydoc.plain(pydoc.render_doc(thing))


@pytest.mark.parametrize(
    "thing",
    [
        murli.enable,
        murli.Writer,
        murli.about,
        murli.Metadata,
        murli.FlagAnnotation,
        murli.pass_writer,
    ],
)
def test_help_opens_with_an_example(thing: Any) -> None:
    """The help of what authors write most has an example in its first paragraphs."""
    told = inspect.getdoc(thing) or ""
    assert "::" in told.split("\n\n")[1]
    assert "murli." in told.split("\n\n")[2]
    assert "murli.enable(parser)" in (murli.__doc__ or "").split("\n\n")[3]


@pytest.mark.parametrize(
    "thing", [murli.enable, murli.Writer, murli.Metadata, murli.FlagAnnotation]
)
def test_help_explains_every_parameter(thing: Any) -> None:
    """Each parameter is named in the docstring, and `help` shows them all."""
    told = inspect.getdoc(thing) or ""
    shown = _help(thing)
    for name in inspect.signature(thing).parameters:
        assert f"*{name}*" in told, name
        assert name in shown


def test_help_lists_the_public_names() -> None:
    """`help(murli)` shows the names that tools are made with, and no other."""
    shown = _help(murli)
    assert "class Metadata" in shown
    assert "ProfileStore" not in shown


def test_words_are_typed_as_they_are_checked() -> None:
    """The words that type checkers accept are those that are accepted when the tool runs."""
    typed = {name: set(get_args(kind)) for name, kind in vars(type_checking).items()}
    assert typed["ContractName"] == set(contracts.CONTRACT_NAMES)
    assert typed["OutputFormat"] == {"", "tsv", *OUTPUT_FORMATS}
    assert typed["Kind"] == set(errors.KINDS)
    assert typed["AuthReason"] == set(errors.AUTH_REASONS)
    assert typed["RedirectReason"] == set(errors.REDIRECT_REASONS)
    assert typed["DangerLevel"] == set(checks.DANGER_LEVELS)
    assert typed["ValueKind"] == {"", *checks.VALUE_KINDS}
    assert typed["PatternType"] == {"", *checks.PATTERN_TYPES}
    assert typed["Effect"] == set(declarations.EFFECTS)
    assert typed["SideEffects"] == set(exit_codes.SIDE_EFFECTS)
    source = inspect.getsource(adapters.enable)
    for name in ("AgentsMode", "GuardMode", "ProgressStream"):
        words = [f'"{word}"' for word in get_args(getattr(type_checking, name))]
        assert f"not in ({', '.join(words)})" in source


def test_details_are_the_keywords_of_an_error() -> None:
    """What type checkers take for the details of a failure is what its constructor takes."""
    parameters = set(inspect.signature(murli.AgentError).parameters)
    details = set(type_checking.Details.__annotations__)
    assert details == parameters - {"code", "kind", "message", "suggestion"}


@pytest.mark.parametrize("kind", ["not_found", "rate_limited", "already_exists", "cancelled"])
def test_a_misspelled_detail_names_the_nearest(kind: str) -> None:
    """A keyword that an error does not take is a TypeError with the one that was meant."""
    with pytest.raises(TypeError, match=r"argument 'sugestion'; did you mean 'suggestion'\?"):
        getattr(murli.AgentError, kind)("x", sugestion="y")
    with pytest.raises(TypeError, match=r"argument 'doc_ulr'; did you mean 'doc_url'\?"):
        getattr(murli.AgentError, kind)("x", doc_ulr="y")


_TYPED = """
import click
import murli

@click.command()
@click.option("--name")
@murli.pass_writer
def add(writer: murli.Writer, name: str) -> None:
    writer.write_success(name)
    raise murli.AgentError.not_found("x", suggestion="y", doc_url="z")

@murli.about(destructive=True, steps=["a"], returns=int)
@murli.pass_writer
def size(writer: murli.Writer, name: str) -> int:
    return len(name)

murli.enable(add, contract="murli", agents="flag")
murli.Metadata(danger_level="safe", steps=["a"], flag_annotations={"x": murli.FlagAnnotation("E")})
count: int = size("x")
"""
_WRONG = """
murli.AgentError.not_found("x", sugestion="y")  # call-arg
murli.enable(add, contract="v3")  # arg-type
murli.Metadata(danger_level="dire")  # arg-type
murli.about(destructiv=True)  # call-arg
murli.about(add, danger_level="dire")  # arg-type
murli.FlagAnnotation(sensitiv=True)  # call-arg
murli.map_exception(ValueError, "lost")  # arg-type
size(1)  # arg-type
murli.Metadata(mutating=True).mutating = False  # misc
"""


def test_type_checkers_find_an_authors_mistakes(tmp_path: Path) -> None:
    """Mypy accepts a tool as documented, and finds every misspelled word and keyword in another."""
    program = tmp_path / "tool.py"
    program.write_text(_TYPED + _WRONG)
    argv = [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--no-incremental"]
    done = subprocess.run(
        [*argv, str(program)],
        capture_output=True,
        text=True,
        timeout=300,
        cwd=tmp_path,
        check=False,
    )
    first = _TYPED.count("\n") + 1
    expected = {
        number: line.rpartition("# ")[2]
        for number, line in enumerate(_WRONG.splitlines(), first)
        if line
    }
    found = {}
    for line in done.stdout.splitlines():
        if ": error:" in line:
            found[int(line.split(":")[1])] = line.rpartition("[")[2].rstrip("]")
    assert found == expected, done.stdout


def test_pass_writer_reads_no_signature_until_it_is_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Decorating a handler inspects nothing; whoever asks then sees it without the writer."""
    asked: list[object] = []
    signature = inspect.signature

    def counted(function: Any) -> inspect.Signature:
        asked.append(function)
        return signature(function)

    monkeypatch.setattr(inspect, "signature", counted)

    @murli.pass_writer
    def add(writer: murli.Writer, name: str, count: int = 1) -> None:
        """Add it."""

    assert not asked
    assert str(signature(add)) == "(name: 'str', count: 'int' = 1) -> 'None'"
    assert asked == [add.__wrapped__]  # type: ignore[attr-defined]
    assert (add.__name__, add.__doc__, add.__module__) == ("add", "Add it.", __name__)


def test_pass_writer_takes_whatever_can_be_called() -> None:
    """An object that can be called, and has no name, gets the writer too."""
    seen = murli.pass_writer(partial(lambda writer, more, name: (type(writer), more, name), more=1))
    assert seen(name="x") == (murli.Writer, 1, "x")
    assert list(inspect.signature(seen).parameters) == ["more", "name"]
