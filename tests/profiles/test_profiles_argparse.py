"""Saved values enter an argparse parse as if they were typed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from profile_home import Home, program

pytestmark = [pytest.mark.adapters("argparse", "click"), pytest.mark.warm]

ARGPARSE = """
import argparse, murli
parser = argparse.ArgumentParser(prog="t")
parser.add_argument("--region", default="eu")
parser.add_argument("--need", type=int, required=True)
NOTES = {key: murli.FlagAnnotation(profileable=True) for key in ("region", "need")}
murli.annotate(parser, murli.Metadata(flag_annotations=NOTES))
"""
WAYS = {
    "parse": """
args, writer = murli.parse(parser)
writer.write_success("", vars(args))
""",
    "session": """
with murli.session(parser) as (args, writer):
    writer.write_success("", vars(args))
""",
    "parse_args": """
murli.enable(parser)
given = vars(parser.parse_args())
murli.get_writer().write_success("", given)
""",
    "printing": """
import json
murli.enable(parser)
print(json.dumps(vars(parser.parse_args())))
""",
    "parse_known_args": """
murli.enable(parser)
args, rest = parser.parse_known_args()
assert rest == []
murli.get_writer().write_success("", vars(args))
""",
    "parse_intermixed_args": """
murli.enable(parser)
given = vars(parser.parse_intermixed_args())
murli.get_writer().write_success("", given)
""",
    "twice": """
murli.enable(parser)
first, second = parser.parse_args(), parser.parse_args()
assert first == second and parser.parse_args(["--need", "9"]).need == 9
murli.get_writer().write_success("", vars(second))
""",
}


@pytest.mark.parametrize("way", WAYS)
def test_every_way_of_parsing(tmp_path: Path, way: str) -> None:
    """A profile applies, satisfies a required option and is refused however the tool parses."""
    home = program(tmp_path, ARGPARSE + WAYS[way])
    home.hold("p", p={"region": "us", "need": "3"}, q={"need": "4"}, bad={"need": "x"})
    assert home.result() == {"region": "us", "need": 3}
    assert home.result("--need", "5") == {"region": "us", "need": 5}
    if way == "parse_known_args":  # what it does not know may be meant for another program
        return
    assert home.result("--profile", "q") == {"region": "eu", "need": 4}
    assert 'profile "bad"' in home.refusal("--profile", "bad")["message"]
    assert home.refusal("--profile", "nobody")["code"] == 5


def test_what_is_not_known_passes_through(tmp_path: Path) -> None:
    """A tool that keeps unknown words gets them all, with the values of the default profile."""
    source = "murli.enable(parser)\nargs, rest = parser.parse_known_args()\n"
    source += 'murli.get_writer().write_success("", [vars(args), rest])\n'
    home = program(tmp_path, ARGPARSE + source)
    home.hold("p", p={"region": "us", "need": "3"})
    given = {"region": "us", "need": 3}
    assert home.result("--other", "x") == [given, ["--other", "x"]]
    assert home.result("--profile", "q") == [given, ["--profile", "q"]]


def test_the_parser_is_left_as_it_was(tmp_path: Path) -> None:
    """After a parse with profile values the parser's options are required and work as before."""
    source = """
murli.enable(parser)
WATCHED = ("_get_values", "_get_option_tuples", "_parse_known_args")
before = [vars(parser).get(name) for name in WATCHED]
args = parser.parse_args()
need = next(a for a in parser._actions if a.dest == "need")
same = [vars(parser).get(name) for name in WATCHED] == before
murli.get_writer().write_success("", [need.required, same])
"""
    home = program(tmp_path, ARGPARSE + source)
    home.hold("p", p={"need": "3"})
    assert home.result() == [True, True]


ODD = """
import argparse, murli
def doubled(text):
    return text + text
class Noting(argparse.Action):
    def __call__(self, parser, namespace, values, option_string=None):
        setattr(namespace, self.dest, [option_string, values])
parser = argparse.ArgumentParser(prog="t")
add = parser.add_argument
add("-v", "--verbose", action="count", default=0)
add("--color", action=argparse.BooleanOptionalAction)
add("--pair", action="append", nargs=2, type=int)
add("--many", nargs="+", type=int)
add("--any", nargs="*")
add("--two", nargs=2, type=int)
add("--maybe", nargs="?", const="C", default="D")
add("--custom", action=Noting)
add("--const", action="store_const", const=7)
add("--no-net", dest="net", action="store_false")
add("--doubled", type=doubled)
add("--default", type=doubled, default="ab")
add("--extend", action="extend", nargs="+", type=int)
add("--append", action="append", default=["x"])
add("--kind", action="append_const", const="k")
add("--choice", type=int, choices=[1, 2, 3])
add("-q", dest="quick", type=int)
add("--snake_case")
LONG = [[n for n in a.option_strings if n[:2] == "--"] or a.option_strings for a in parser._actions]
NOTES = {names[0]: murli.FlagAnnotation(profileable=True) for names in LONG}
murli.annotate(parser, murli.Metadata(flag_annotations=NOTES))
murli.enable(parser)
given = vars(parser.parse_args())
murli.get_writer().write_success("", given)
"""
ODD_DEFAULTS = {"verbose": 0, "maybe": "D", "net": True, "default": "abab", "append": ["x"]}


@pytest.fixture
def odd(tmp_path: Path) -> Home:
    return program(tmp_path, ODD)


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        (
            {
                "verbose": "3",
                "color": "true",
                "pair": "[[1, 2], [3, 4]]",
                "many": "[1, 2]",
                "any": "[]",
                "two": "[1, 2]",
                "maybe": "z",
                "custom": "z",
                "const": "true",
                "no-net": "true",
                "doubled": "ab",
                "default": "cd",
                "extend": "[1, 2]",
                "append": '["y", "z"]',
                "kind": "true",
                "choice": "2",
                "q": "4",
                "snake-case": "s",
            },
            {
                "verbose": 3,
                "color": True,
                "pair": [[1, 2], [3, 4]],
                "many": [1, 2],
                "any": [],
                "two": [1, 2],
                "maybe": "z",
                "custom": ["--custom", "z"],
                "const": 7,
                "net": False,
                "doubled": "abab",
                "default": "cdcd",
                "extend": [1, 2],
                "append": ["x", "y", "z"],
                "kind": ["k"],
                "choice": 2,
                "quick": 4,
                "snake_case": "s",
            },
        ),
        (
            {
                "verbose": 2,
                "color": "false",
                "many": "5",
                "any": '["a b", "c"]',
                "maybe": "",
                "custom": "[1]",
                "const": "false",
                "no-net": "false",
                "extend": "7",
                "append": "y",
            },
            {
                "verbose": 2,
                "color": False,
                "many": [5],
                "any": ["a b", "c"],
                "maybe": "",
                "custom": ["--custom", "[1]"],
                "extend": [7],
                "append": ["x", "y"],
            },
        ),
        ({"verbose": "0", "pair": "[1, 2]"}, {"pair": [[1, 2]]}),
        ({"verbose": "true"}, {"verbose": 1}),
    ],
)
def test_argparse_actions(odd: Home, flags: Any, expected: dict[str, Any]) -> None:
    """A stored value does what the same words on the command line would do."""
    odd.hold("p", p=flags)
    given = {key: value for key, value in odd.result().items() if value is not None}
    assert given == {**ODD_DEFAULTS, **expected}


@pytest.mark.parametrize(
    ("flags", "accepted"),
    [
        ({"verbose": "x"}, "expected an integer"),
        ({"color": "red"}, "expected true or false"),
        ({"many": '[1, "x"]'}, "expected an integer"),
        ({"choice": "9"}, ""),
        ({"const": "7"}, "expected true or false"),
        ({"two": "[1, 2, 3]"}, "2"),
        ({"two": "1"}, "2"),
        ({"pair": "[1, 2, 3]"}, "2"),
        ({"pair": "[[1, 2], [3]]"}, "2"),
        ({"many": "[]"}, ""),
    ],
)
def test_argparse_refuses_what_it_would_not_take(
    odd: Home, flags: dict[str, str], accepted: str
) -> None:
    """A stored value the option would not take, in kind or in number, is a flag_error."""
    odd.hold("p", p=flags)
    (flag,) = flags
    refusal = odd.refusal()
    assert (refusal["error"], refusal["field"]) == ("flag_error", flag)
    assert 'profile "p"' in refusal["message"] and accepted in refusal["message"]


ODD_WORDS = [
    (["-v"], {"verbose": 1}),
    (["-vvv"], {"verbose": 3}),
    (["--verbose", "--verbose"], {"verbose": 2}),
    (["--no-color"], {"color": False}),
    (["--color"], {"color": True}),
    (["--two", "1", "2"], {"two": [1, 2]}),
    (["--pair", "1", "2", "--pair", "3", "4"], {"pair": [[1, 2], [3, 4]]}),
    (["-q", "4"], {"quick": 4}),
    (["-q4"], {"quick": 4}),
    (["--no-net"], {"net": False}),
    (["--doubled", "ab"], {"doubled": "abab"}),
    (["--custom", "a=b"], {"custom": ["--custom", "a=b"]}),
]


@pytest.mark.parametrize(("words", "expected"), ODD_WORDS)
def test_what_argparse_takes_can_be_saved(
    odd: Home, words: list[str], expected: dict[str, Any]
) -> None:
    """What the parser takes before the word profile is saved, and means the same later."""
    assert odd.run(*words, "profile", "save", "p").code == 0
    result = odd.result("--profile", "p")
    assert {key: result[key] for key in expected} == expected


@pytest.mark.parametrize(("words", "expected"), ODD_WORDS)
def test_what_argparse_takes_can_be_saved_behind_the_verb(
    odd: Home, words: list[str], expected: dict[str, Any]
) -> None:
    """The same words behind the name are saved as well."""
    assert odd.run("profile", "save", "p", *words).code == 0
    result = odd.result("--profile", "p")
    assert {key: result[key] for key in expected} == expected


EITHER = """
import argparse, murli
parser = argparse.ArgumentParser(prog="t")
group = parser.add_mutually_exclusive_group(required=True)
group.add_argument("--file")
group.add_argument("--url")
group.add_argument("--stdin", action="store_true")
NOTES = {"file": murli.FlagAnnotation(profileable=True),
         "url": murli.FlagAnnotation(profileable=True, env="T_URL")}
murli.annotate(parser, murli.Metadata(flag_annotations=NOTES))
murli.enable(parser)
given = vars(parser.parse_args())
murli.get_writer().write_success("", given)
"""
NEITHER = {"file": None, "url": None, "stdin": False}


@pytest.mark.parametrize(
    ("flags", "words", "expected"),
    [
        ({"file": "f"}, [], {"file": "f"}),
        ({"file": "f"}, ["--file", "g"], {"file": "g"}),
        ({"file": "f"}, ["--url", "u"], {"url": "u"}),
        ({"file": "f"}, ["--stdin"], {"stdin": True}),
        ({"file": "f", "url": "u"}, ["--stdin"], {"stdin": True}),
    ],
)
def test_a_required_group(
    tmp_path: Path, flags: dict[str, str], words: list[str], expected: dict[str, Any]
) -> None:
    """A stored value satisfies a required group, and gives way to another member of it."""
    home = program(tmp_path, EITHER)
    home.hold("p", p=flags)
    assert home.result(*words) == {**NEITHER, **expected}
    home.hold(p={})
    assert home.refusal()["error"] == "flag_error"


def test_a_group_takes_one_source(tmp_path: Path) -> None:
    """A variable beats the default profile's value for another option of its group."""
    home = program(tmp_path, EITHER)
    home.hold("p", p={"file": "f"})
    assert home.result(T_URL="u") == {**NEITHER, "url": "u"}
    assert home.result("--profile", "p", T_URL="u") == {**NEITHER, "file": "f"}


def test_a_profile_that_fills_a_group_twice_is_refused(tmp_path: Path) -> None:
    """Two stored values that exclude each other are an error that names the profile."""
    home = program(tmp_path, EITHER)
    home.hold("p", p={"file": "f", "url": "u"})
    refusal = home.refusal()
    assert (refusal["error"], 'profile "p"' in refusal["message"]) == ("flag_error", True)


PARENTS = """
import argparse, murli
common = argparse.ArgumentParser(add_help=False)
common.add_argument("--region", default="eu")
common.add_argument("--size", type=int)
parser = argparse.ArgumentParser(prog="t", parents=[common])
look = parser.add_subparsers(dest="command", required=True).add_parser("look", parents=[common])
notes = murli.Metadata(flag_annotations={
    name: murli.FlagAnnotation(profileable=True, env=f"T_{name.upper()}")
    for name in ("region", "size")
})
for each in (ANNOTATED):
    murli.annotate(each, notes)
murli.enable(parser)
given = vars(parser.parse_args())
murli.get_writer().write_success("", given)
"""


@pytest.mark.parametrize("annotated", ["parser, look", "look,", "parser,"])
def test_the_same_option_above_and_below(tmp_path: Path, annotated: str) -> None:
    """Where root and command share a destination, a word on the command line still wins."""
    home = program(tmp_path, PARENTS.replace("ANNOTATED", annotated))
    home.hold("p", p={"region": "us", "size": "3"})
    assert home.result("look") == {"region": "us", "size": 3, "command": "look"}
    assert home.result("look", "--region", "asia") == {
        "region": "asia",
        "size": 3,
        "command": "look",
    }
