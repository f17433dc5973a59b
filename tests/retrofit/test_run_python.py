"""`murli run` on Python tools: their own interpreter, their own environment, every framework."""

from __future__ import annotations

import json
import sys
import zipapp
from pathlib import Path

import pytest

from harness import environment, run, run_at_terminal
from retrofit_tools import MURLI, TOOLS, bare_python, install, on_path, plain, served


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An interpreter without murli."""
    made = bare_python(tmp_path_factory.mktemp("bare"))
    done = run([str(made)], "-c", "import click, typer, murli")
    assert "No module named 'murli'" in done.err
    return made


@pytest.fixture(scope="module", params=sorted(TOOLS))
def books(request: pytest.FixtureRequest, python: Path) -> Path:
    """The same tool in each framework."""
    return install(python, f"books-{request.param}", TOOLS[request.param])


def test_a_tool_answers_as_if_it_had_enabled_murli(books: Path) -> None:
    """A result, a failure, a description, a schema and a prompt that fails: all by the contract."""
    done = served(books, "show", "emma")
    assert (done.code, done.err, done.document["result"]) == (0, "", "book emma")
    assert served(books, "shwo").error["error"] == "command_error"
    described = served(books, "describe").document
    assert {each["name"] for each in described["commands"]} >= {"show", "delete", "ask"}
    assert served(books, "show", "--schema").document["arguments"][0]["name"] == "name"
    assert served(books, "ask").error["error"] == "input_required"
    answer = served(books, "show", "emma", options=("--contract", "agent-spec-2"))
    assert (answer.document["ok"], answer.document["data"]) == (True, {"text": "book emma"})


def test_a_command_named_like_one_that_destroys_is_guarded(books: Path) -> None:
    """Nobody has declared anything, so that names decide, unless the caller knows better."""
    refused = served(books, "delete", "emma")
    assert (refused.code, refused.error["error"]) == (1, "confirmation_required")
    assert refused.stdout == b""
    assert served(books, "delete", "emma", "--yes").document["result"] == "deleted emma"
    before = served(books, "delete", "emma", options=("--yes",))
    assert before.document["result"] == "deleted emma"
    trusted = served(books, "delete", "emma", options=("--trust",))
    assert trusted.document["result"] == "deleted emma"


@pytest.mark.parametrize("words", [("show", "emma"), ("--help",), ("nope",), ("--version",), ()])
def test_a_person_sees_the_same_bytes(books: Path, words: tuple[str, ...]) -> None:
    """At a terminal the tool runs as it is: the same bytes and the same status."""
    before = run_at_terminal([str(books)], *words)
    after = run_at_terminal([*MURLI, str(books)], *words)
    assert (after.stdout, after.stderr, after.code) == (before.stdout, before.stderr, before.code)


def test_a_tool_is_found_however_it_is_called(python: Path, tmp_path: Path) -> None:
    """By its name on PATH, as a module, as a file, as a folder, as a zip file, by a link."""
    books = install(python, "books", TOOLS["click"])
    package = tmp_path / "package" / "library"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "__main__.py").write_text(TOOLS["click"])
    (package.parent / "__main__.py").write_text("from library import __main__ as m; m.cli()")
    zipapp.create_archive(package.parent, tmp_path / "books.pyz", str(python))
    (tmp_path / "books.pyz").chmod(0o755)
    (tmp_path / "link").symlink_to(books)
    calls: list[list[str]] = [
        ["books"],
        [str(python), "-m", "library"],
        [str(python), str(books)],
        [str(python), "-u", str(package.parent)],
        [str(tmp_path / "books.pyz")],
        [str(tmp_path / "link")],
    ]
    env = environment(PATH=on_path(python.parent))
    for call in calls:
        done = run([*MURLI, *call], "show", "emma", env=env, cwd=package.parent)
        assert done.document["result"] == "book emma", call
        assert done.document["tool_version"] == "3.2.1", call


def test_scripts_that_only_lead_to_an_interpreter_are_followed(
    python: Path, tmp_path: Path
) -> None:
    """What pip and uv write for long paths, and a script that runs another one."""
    books = install(python, "books", TOOLS["argparse"])
    trampolines = {
        "pip": f"#!/bin/sh\n'''exec' {python} \"$0\" \"$@\"\n' '''\n",
        "uv": '#!/bin/sh\n\'\'\'exec\' "$(dirname -- "$(realpath -- "$0")")"/\'python\' "$0" "$@"\n'
        "' '''\n",
        "env": "#!/usr/bin/env -S python3 -u\n",
    }
    for name, first in trampolines.items():
        path = python.parent / f"by-{name}"
        path.write_text(first + TOOLS["argparse"])
        path.chmod(0o755)
        done = served(path, "show", "emma", PATH=on_path(python.parent))
        assert done.document["result"] == "book emma", name
    leading = tmp_path / "leading"
    leading.write_text(f'#!/bin/sh\n# nothing else\nexec "{books}" "$@"\n')
    leading.chmod(0o755)
    assert served(leading, "show", "emma").document["result"] == "book emma"
    execs = install(
        python, "execs", f"import os, sys; os.execv({str(books)!r}, ['books', *sys.argv[1:]])"
    )
    assert served(execs, "show", "emma").document["result"] == "book emma"


LOOKS = """
import argparse, json, os, subprocess, sys
parser = argparse.ArgumentParser(prog="looks")
parser.add_argument("--deep", action="store_true")
args = parser.parse_args()
seen = [sys.argv, sys.path, sys.orig_argv[1:], sys.flags.isolated, __name__, __file__]
seen.append({name: len(value) for name, value in os.environ.items()})
if not args.deep:
    child = subprocess.run([sys.argv[0], "--deep"], capture_output=True, text=True)
    seen.append(child.stdout)
print(json.dumps(seen))
"""


# What every handler under murli sees, because nobody watches.
HEADLESS = {
    *("PAGER", "GIT_PAGER", "MANPAGER", "LESS", "MORE", "EDITOR", "VISUAL", "NO_COLOR"),
    "GIT_TERMINAL_PROMPT",
}


@pytest.mark.parametrize("option", ["", " -I"])
def test_nothing_else_is_added_to_the_process(python: Path, option: str) -> None:
    """Words, search path, variables and children of the tool are those it has without us."""
    path = install(python, "looks", LOOKS)
    path.write_text(path.read_text().replace(f"{python}\n", f"{python}{option}\n", 1))
    before, after = plain(path), served(path)
    *expected, own_variables, own_child = json.loads(before.out)
    *found, variables, child = after.document["result"]
    assert found == expected
    assert variables.keys() ^ own_variables.keys() <= HEADLESS
    for name in variables.keys() & own_variables.keys() - HEADLESS:
        assert variables[name] == own_variables[name], name
    # A child of it is no tool of ours: it prints as it does.
    assert json.loads(child)[:-1] == json.loads(own_child)[:-1]


FRAMEWORKS = {
    "typer.run": 'import typer\ndef f(name: str): print("book", name)\ntyper.run(f)',
    "click without group": (
        'import click\n@click.command()\n@click.argument("name")\n'
        'def f(name): click.echo(f"book {name}")\nf.main()'
    ),
    "a main of its own": (
        "import click, sys\nclass Own(click.Command):\n"
        "    def main(self, *args, **named):\n        return super().main(*args, **named)\n"
        '@click.command(cls=Own)\n@click.argument("name")\n'
        'def f(name): click.echo(f"book {name}")\nf.main()'
    ),
    "arguments of its own": (
        "import argparse\nclass Own(argparse.ArgumentParser):\n"
        "    def parse_args(self, env, args=None, namespace=None):\n"
        "        found = super().parse_args(args, namespace); found.env = env; return found\n"
        'p = Own(prog="own")\np.add_argument("name")\nfound = p.parse_args("here")\n'
        'assert found.env == "here"\nprint("book", found.name)'
    ),
    "a parser that looks ahead": (
        "import argparse\nfirst = argparse.ArgumentParser(add_help=False)\n"
        'first.add_argument("--config")\nfound, rest = first.parse_known_args()\n'
        'p = argparse.ArgumentParser(prog="two", parents=[first])\np.add_argument("name")\n'
        'print("book", p.parse_args().name)'
    ),
    "a parser that sorts words": (
        "import argparse, sys\nfirst = argparse.ArgumentParser(add_help=False)\n"
        'first.add_argument("--help", "-h", action="store_true")\n'
        "_, sys.argv[1:] = first.parse_known_args()\n"
        'p = argparse.ArgumentParser(prog="two")\np.add_argument("name")\n'
        'print("book", p.parse_args().name)'
    ),
    "a parser before which a word is put": (
        "import argparse, sys\nif 'emma' not in sys.argv: sys.argv.insert(1, 'show')\n"
        "p = argparse.ArgumentParser(prog='puts')\n"
        "p.add_argument('name')\nprint('book', p.parse_args(sys.argv[1:]).name)"
    ),
    "a parse that may fail": (
        "import argparse, contextlib\nfirst = argparse.ArgumentParser()\n"
        'first.add_argument("--config")\nwith contextlib.suppress(SystemExit):\n'
        "    first.parse_known_args()\n"
        'p = argparse.ArgumentParser(prog="two")\np.add_argument("name")\n'
        'print("book", p.parse_args().name)'
    ),
    "a parser of part of the words": (
        "import argparse, sys\ndef show(words):\n    p = argparse.ArgumentParser(prog='part')\n"
        "    p.add_argument('name')\n    print('book', p.parse_args(words).name)\n"
        "p = argparse.ArgumentParser(prog='whole', add_help=True)\np.add_argument('--deep')\n"
        "p.add_argument('name', nargs=argparse.REMAINDER)\nshow(p.parse_args(sys.argv[1:]).name)"
    ),
}


@pytest.mark.parametrize("source", FRAMEWORKS.values(), ids=list(FRAMEWORKS))
def test_the_app_that_matters_is_served(python: Path, source: str) -> None:
    """Whatever parses first, and however its methods are called, there is one document."""
    path = install(python, "app", source)
    done = served(path, "emma")
    assert (done.code, done.err, done.document["result"]) == (0, "", "book emma")
    described = served(path, "describe").document
    assert described["arguments"][0]["name"] == "name"


def test_what_is_printed_before_the_app_begins_is_beside_the_answer(python: Path) -> None:
    """It goes to stderr, where a description is asked for as where a command runs."""
    path = install(python, "early", "print('loading')\n" + TOOLS["argparse"])
    for words in (("show", "emma"), ("show", "--schema"), ("show", "emma", "--output", "json")):
        done = served(path, *words)
        assert (done.err, done.document is not None) == ("loading\n", True), words


BY_HAND = """
import sys
if sys.argv[1:] == ["ask"]:
    print("hello", input("Name: "))
elif sys.argv[1:] == ["fail"]:
    print("no such host", file=sys.stderr); sys.exit(3)
elif sys.argv[1:] == ["crash"]:
    raise ValueError("boom")
else:
    print("words", sys.argv[1:])
"""


def test_a_tool_without_a_parser_answers_too(python: Path) -> None:
    """What it prints is the result, how it ends the failure, and a question does not hang."""
    path = install(python, "hand", BY_HAND)
    assert served(path, "a", "--b").document["result"] == "words ['a', '--b']"
    failed = served(path, "fail")
    assert (failed.code, failed.error["message"]) == (3, "no such host")
    assert served(path, "crash").error["message"] == "boom"
    assert served(path, "ask").error["error"] == "input_required"


OPTPARSE = """
import optparse, sys
parser = optparse.OptionParser(usage="%prog COMMAND [options]")
parser.add_option("--deep", action="store_true", help="all of it")
options, words = parser.parse_args()
if words == ["misfit"]:
    class DocoptExit(SystemExit):
        pass
    raise DocoptExit("Usage: hand NAME")
print("did", *words)
"""


def test_a_tool_of_another_framework_is_guarded_and_judged_as_any_program(python: Path) -> None:
    """A name that destroys is guarded without a parser too; what reads like misuse is one."""
    path = install(python, "hand", OPTPARSE)
    module = [str(python), "-m", "hand"]
    install(python, "hand.py", OPTPARSE)
    for argv in ([str(path)], module):
        done = run([*MURLI, *argv], "purge", "all", env=environment(PYTHONPATH=str(python.parent)))
        assert (done.stdout, done.error["error"]) == (b"", "confirmation_required"), argv
    assert served(path, "purge", "all", options=("--yes",)).document["result"] == "did purge all"
    assert served(path, "purge", options=("--trust",)).document["result"] == "did purge"
    assert served(path, "keep").document["result"] == "did keep"
    wrong = served(path, "--no-such")
    assert (wrong.code, wrong.error["error"]) == (1, "flag_error")
    assert wrong.error["message"].endswith("no such option: --no-such")
    assert served(path, "misfit").error["error"] == "command_error"


def test_a_tool_that_speaks_a_contract_is_left_alone(tmp_path: Path) -> None:
    """One that enables murli itself answers as it does without `murli run`."""
    source = f"#!{sys.executable}\n" + TOOLS["click"].replace(
        "if __name__", 'import murli; murli.enable(cli, contract="response")\nif __name__'
    )
    path = tmp_path / "native"
    path.write_text(source)
    path.chmod(0o755)
    for words in (["show", "emma"], ["delete", "emma"], ["describe"], ["nope"]):
        before, after = plain(path, *words), served(path, *words)
        assert after.code == before.code
        assert without_time(after.stdout) == without_time(before.stdout)
        assert without_time(after.stderr) == without_time(before.stderr)


def without_time(text: bytes) -> list[str]:
    varying = ("duration_ms", "request_id")
    lines = text.decode().splitlines()
    return [line for line in lines if not any(map(line.__contains__, varying))]


def test_a_tool_that_is_not_there_is_not_found(tmp_path: Path) -> None:
    """The failure names it, and so does one about a file that cannot be executed."""
    missing = run([*MURLI, "no-such-tool-anywhere"])
    assert (missing.code, missing.error["error"]) == (5, "not_found")
    assert "no-such-tool-anywhere" in missing.error["message"]
    (tmp_path / "text").write_text("hello")
    assert "cannot be executed" in run([*MURLI, str(tmp_path / "text")]).error["message"]
    assert run([*MURLI]).error["error"] == "command_error"
    for option, value in (("--contract", "none"), ("--timeout", "soon"), ("--timeout", "-1")):
        wrong = run([*MURLI, option, value, "true"])
        assert (wrong.code, wrong.error["field"]) == (1, option.lstrip("-"))


def test_a_tool_that_takes_too_long_is_ended(python: Path) -> None:
    """A deadline of ours holds for a tool that has none, typed before it or among its words."""
    source = "import argparse, time\nargparse.ArgumentParser().parse_args()\ntime.sleep(30)"
    path = install(python, "waits", source)
    for done in (
        served(path, "--timeout", "0.8"),
        served(path, options=("--timeout", "0.8")),
    ):
        assert (done.stdout, done.error["error"]) == (b"", "timeout")
