"""Saved values enter a parse of click or typer as if they were typed."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

import murli
from profile_home import Home, program

pytestmark = [pytest.mark.adapters("argparse", "click"), pytest.mark.warm]

CLICK = """
import click, murli
def even(ctx, param, value):
    if value is not None and value % 2:
        raise click.BadParameter("not an even number")
    return value
@click.command()
@click.option("--upper", "case", flag_value="upper")
@click.option("--lower", "case", flag_value="lower", default="lower")
@click.option("-v", "--verbose", count=True)
@click.option("--two", nargs=2, type=int)
@click.option("--pairs", nargs=2, multiple=True, type=int)
@click.option("--mixed", type=(str, int))
@click.option("--even", type=int, callback=even)
@click.option("--loud/--quiet", "-l/-q", default=None)
@click.option("--range", type=click.IntRange(1, 5))
@click.option("--many", multiple=True, type=int)
@click.option("--optional", is_flag=False, flag_value="flagged", default="d")
@click.option("--path", type=click.Path(exists=True))
@click.option("--color", type=click.Choice(["Red", "Blue"], case_sensitive=False))
@click.option("--truth", type=bool)
def t(**given):
    murli.get_writer().write_success("", given)
KEYS = [param.opts[-1] for param in t.params] + ["loud"]
NOTES = {key: murli.FlagAnnotation(profileable=True) for key in KEYS}
murli.annotate(t, murli.Metadata(flag_annotations=NOTES))
murli.enable(t, name="t")
t()
"""
CLICK_DEFAULTS = {"case": "lower", "verbose": 0, "pairs": [], "many": [], "optional": "d"}


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        (
            {
                "upper": "true",
                "verbose": "3",
                "two": "[1, 2]",
                "pairs": "[[1, 2], [3, 4]]",
                "mixed": '["a", 1]',
                "even": "2",
                "loud": "true",
                "range": "3",
                "many": "[1, 2]",
                "optional": "val",
                "path": "/",
                "color": "red",
                "truth": "yes",
            },
            {
                "case": "upper",
                "verbose": 3,
                "two": [1, 2],
                "pairs": [[1, 2], [3, 4]],
                "mixed": ["a", 1],
                "even": 2,
                "loud": True,
                "range": 3,
                "many": [1, 2],
                "optional": "val",
                "path": "/",
                "color": "Red",
                "truth": True,
            },
        ),
        (
            {"upper": "false", "loud": "no", "many": 7, "truth": False, "verbose": 0},
            {"loud": False, "many": [7], "truth": False},
        ),
        ({"lower": "true", "many": "[]"}, {}),
    ],
)
def test_click_parameters(tmp_path: Path, flags: Any, expected: dict[str, Any]) -> None:
    """A stored value is converted as the same words on the command line would be."""
    home = program(tmp_path, CLICK)
    home.hold("p", p=flags)
    given = {key: value for key, value in home.result().items() if value is not None}
    assert given == {**CLICK_DEFAULTS, **expected}


@pytest.mark.parametrize(
    ("flags", "accepted"),
    [
        ({"upper": "upper"}, "expected true or false"),
        ({"verbose": "x"}, "integer"),
        ({"two": "[1]"}, "2"),
        ({"two": "1"}, "2"),
        ({"two": "[1, 2, 3]"}, "2"),
        ({"two": '[1, "x"]'}, "expected an integer"),
        ({"pairs": "[1, 2]"}, ""),
        ({"mixed": '["a", "b"]'}, "integer"),
        ({"even": "3"}, "not an even number"),
        ({"range": "9"}, "from 1 to 5"),
        ({"path": "/none/such"}, "does not exist"),
        ({"color": "green"}, ""),
        ({"truth": "perhaps"}, "true"),
    ],
)
def test_click_refuses_what_it_would_not_take(
    tmp_path: Path, flags: dict[str, str], accepted: str
) -> None:
    """Types, counts of values, ranges and callbacks judge a stored value, in their own words."""
    home = program(tmp_path, CLICK)
    home.hold("p", p=flags)
    (flag,) = flags
    refusal = home.refusal()
    assert (refusal["error"], refusal["field"]) == ("flag_error", flag)
    assert 'profile "p"' in refusal["message"]
    assert accepted in refusal["message"].replace('"1"', "").replace('"1 2 3"', "")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--upper"], {"case": "upper"}),
        (["-v"], {"verbose": 1}),
        (["-vv"], {"verbose": 2}),
        (["--verbose", "--verbose"], {"verbose": 2}),
        (["--two", "1", "2"], {"two": [1, 2]}),
        (["--pairs", "1", "2", "--pairs", "3", "4"], {"pairs": [[1, 2], [3, 4]]}),
        (["--many", "1", "--many", "2"], {"many": [1, 2]}),
        (["--loud"], {"loud": True}),
        (["--quiet"], {"loud": False}),
        (["-q"], {"loud": False}),
        (["--optional=x"], {"optional": "x"}),
    ],
)
@pytest.mark.parametrize("side", ["before", "behind"])
def test_what_click_takes_can_be_saved(
    tmp_path: Path, words: list[str], expected: dict[str, Any], side: str
) -> None:
    """What click takes, before the word profile or behind the name, means the same when saved."""
    home = program(tmp_path, CLICK)
    save = ["profile", "save", "p"]
    home.run(*([*words, *save] if side == "before" else [*save, *words]))
    result = home.result("--profile", "p")
    assert {key: result[key] for key in expected} == expected


TYPER = """
import datetime, enum, pathlib, uuid
from typing import Annotated, List, Optional, Tuple
import typer, murli
class Color(str, enum.Enum):
    red = "r"
    blue = "b"
app = typer.Typer()
def even(value: Optional[int]):
    if value is not None and value % 2:
        raise typer.BadParameter("not an even number")
    return value
@app.command()
def t(
    color: Optional[Color] = None,
    colors: Annotated[Optional[List[Color]], typer.Option()] = None,
    when: Optional[datetime.datetime] = None,
    path: Annotated[Optional[pathlib.Path], typer.Option(exists=True)] = None,
    identity: Optional[uuid.UUID] = None,
    two: Annotated[Optional[Tuple[int, str]], typer.Option()] = None,
    verbose: Annotated[int, typer.Option("-v", "--verbose", count=True)] = 0,
    loud: Annotated[bool, typer.Option()] = False,
    top: Annotated[Optional[int], typer.Option(min=1, max=5)] = None,
    ratio: float = 1.5,
    even: Annotated[Optional[int], typer.Option(callback=even)] = None,
    many: Annotated[Optional[List[int]], typer.Option()] = None,
):
    given = dict(locals())
    murli.get_writer().write_success("", {k: repr(v) for k, v in given.items() if v})
KEYS = "color colors when path identity two verbose loud top ratio even many".split()
NOTES = {key: murli.FlagAnnotation(profileable=True) for key in KEYS}
murli.annotate(t, murli.Metadata(flag_annotations=NOTES))
murli.enable(app, name="t")
app()
"""


def test_typer_parameters(tmp_path: Path) -> None:
    """Enums, dates, paths, tuples and lists come from a profile as the types that are declared."""
    home = program(tmp_path, TYPER)
    home.hold(
        "p",
        p={
            "color": "r",
            "colors": '["r", "b"]',
            "when": "2024-01-02",
            "path": "/",
            "identity": "12345678-1234-5678-1234-567812345678",
            "two": '[1, "b"]',
            "verbose": "2",
            "loud": "yes",
            "top": "3",
            "ratio": "2",
            "even": "4",
            "many": "[1, 2]",
        },
    )
    assert home.result() == {
        "color": "<Color.red: 'r'>",
        "colors": "[<Color.red: 'r'>, <Color.blue: 'b'>]",
        "when": "datetime.datetime(2024, 1, 2, 0, 0)",
        "path": "PosixPath('/')",
        "identity": "UUID('12345678-1234-5678-1234-567812345678')",
        "two": "(1, 'b')",
        "verbose": "2",
        "loud": "True",
        "top": "3",
        "ratio": "2.0",
        "even": "4",
        "many": "[1, 2]",
    }


@pytest.mark.parametrize(
    ("flags", "accepted"),
    [
        ({"color": "green"}, ["r", "b"]),
        ({"colors": '["r", "x"]'}, ["r", "b"]),
        ({"when": "never"}, None),
        ({"path": "/none/such"}, None),
        ({"two": "[1]"}, None),
        ({"loud": "x"}, None),
        ({"top": "9"}, None),
        ({"even": "3"}, "not an even number"),
    ],
)
def test_typer_refuses_what_it_would_not_take(
    tmp_path: Path, flags: dict[str, str], accepted: Any
) -> None:
    """Typer's own validation judges a stored value, and the error names flag and profile."""
    home = program(tmp_path, TYPER)
    home.hold("p", p=flags)
    (flag,) = flags
    refusal = home.refusal()
    assert (refusal["error"], refusal["field"]) == ("flag_error", flag)
    assert 'profile "p"' in refusal["message"]
    if isinstance(accepted, list):
        assert refusal["valid_values"] == accepted
    else:
        assert (accepted or "") in refusal["message"]


PROMPTING = {
    "click": """
import click, murli
@click.command()
@click.option("--name", prompt=True)
@click.option("--password", prompt=True, hide_input=True)
def t(name, password):
    murli.get_writer().write_success(f"Hello {name}", {"name": name, "length": len(password)})
target = t
""",
    "typer": """
import typer, murli
app = target = typer.Typer()
@app.command()
def t(name: str = typer.Option(..., prompt=True),
      password: str = typer.Option(..., prompt=True, hide_input=True)):
    murli.get_writer().write_success(f"Hello {name}", {"name": name, "length": len(password)})
""",
}
PROMPTING_TAIL = """
NOTES = {key: murli.FlagAnnotation(profileable=True) for key in ("name", "password")}
murli.annotate(t, murli.Metadata(flag_annotations=NOTES))
murli.enable(target, name="t")
target()
"""


@pytest.mark.parametrize("adapter", PROMPTING)
def test_nobody_is_asked_for_what_is_saved(tmp_path: Path, adapter: str) -> None:
    """An option that prompts takes a stored value without asking, for people and agents."""
    home = program(tmp_path, PROMPTING[adapter] + PROMPTING_TAIL)
    home.hold("p", p={"name": "Ada", "password": "hunter22"})
    assert home.result() == {"name": "Ada", "length": 8}
    assert home.at_terminal().out == "Hello Ada\n"
    assert home.run("profile", "show", "p").document["result"]["flags"]["password"] == "[REDACTED]"
    home.hold()
    assert home.run().code != 0


@pytest.fixture
def counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> click.Command:
    """A click command in this process, with a home of its own and a profile that is the default."""

    @click.command("t")
    @click.option("--top", type=int, required=True)
    def command(top: int) -> int:
        click.echo(f"top {top}")
        return top * 10

    notes = {"top": murli.FlagAnnotation(profileable=True)}
    murli.annotate(command, murli.Metadata(flag_annotations=notes))
    murli.enable(command, name="t")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("MURLI_PROFILE_PATH", raising=False)
    Home([], tmp_path, "t").hold("p", p={"top": "5"}, q={"top": "6"}, bad={"top": "x"})
    return command


def test_a_host_that_wants_values_gets_them(counted: click.Command) -> None:
    """With standalone_mode=False the value is returned, and what is wrong is raised."""
    main: Any = counted.main  # mypy believes that it never returns
    call = partial(main, standalone_mode=False)
    assert call([]) == 50
    assert call(["--profile", "q"]) == 60
    assert call(["--top", "7"]) == 70
    with pytest.raises(murli.AgentError) as caught:
        call(["--profile", "nobody"])
    assert caught.value.code == 5
    with pytest.raises(click.BadParameter):
        call(["--profile", "bad"])
    assert call([]) == 50


def test_the_test_runner_of_click(counted: click.Command) -> None:
    """CliRunner sees the same: saved values, the commands, and errors."""
    invoke = CliRunner().invoke
    assert "top 5" in invoke(counted, []).output
    assert invoke(counted, ["--profile", "nobody"]).exit_code == 5
    saved = json.loads(invoke(counted, ["profile", "save", "new", "top=8"]).stdout)
    assert saved["result"] == {"profile": "new", "flags": {"top": "8"}}
    assert "top 8" in invoke(counted, ["--profile", "new"]).output
    bad = invoke(counted, ["--profile", "bad"])
    assert (bad.exit_code, 'profile \\"bad\\"' in bad.stderr) == (1, True)
